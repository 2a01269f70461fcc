/* See value_slice.h. */
#include "front/value_slice.h"
#include "front/ops.h"

typedef struct slicer {
    pr_arena *arena;
    const pr_op *func;
    const pr_block *entry;
    unsigned char *seen;           /* by value id                                                */
    PR_VEC(const pr_value *) work;
    pr_value_slice *out;
} slicer;

static void want(slicer *s, const pr_value *v)
{
    if (s->seen[v->id]) return;
    s->seen[v->id] = 1;
    pr_vec_push(s->arena, &s->work, v);
}

static void want_operands(slicer *s, const pr_op *op)
{
    for (int i = 0; i < op->n_operands; i++) want(s, op->operands[i]);
}

static const pr_op *ender(const pr_op *op, int region)
{
    const pr_region *r = region < op->n_regions ? op->regions[region] : NULL;
    return r && r->n_blocks == 1 ? pr_block_terminator(r->blocks[0]) : NULL;
}

/* Operand i of what ends the region. */
static bool want_yield(slicer *s, const pr_op *op, int region, int i)
{
    const pr_op *end = ender(op, region);
    if (!end || i >= end->n_operands) return false;
    want(s, end->operands[i]);
    return true;
}

/* Value i that a for loop carries: where it starts, what a turn makes of it, how often. */
static bool carried(slicer *s, const pr_op *loop, int i)
{
    for (int k = 0; k < 3; k++) want(s, loop->operands[k]);
    if (3 + i >= loop->n_operands) return false;
    want(s, loop->operands[3 + i]);
    return want_yield(s, loop, 0, i);
}

static bool whole_while(slicer *s, const pr_op *loop)
{
    const pr_op *a = ender(loop, 0), *b = ender(loop, 1);
    if (!a || !b) return false;
    want_operands(s, loop);
    want_operands(s, a);
    want_operands(s, b);
    return true;
}

static bool argument(slicer *s, const pr_value *v)
{
    const pr_op *owner = v->block && v->block->region ? v->block->region->op : NULL;
    if (v->block == s->entry) {
        if (v->index < s->out->n_args) s->out->args[v->index] = true;
        return v->index < s->out->n_args;
    }
    switch (owner ? owner->opcode : PR_OP_UNKNOWN) {
    case PR_OP_SCF_FOR:
        if (v->index > 0) return carried(s, owner, v->index - 1);
        for (int k = 0; k < 3; k++) want(s, owner->operands[k]);
        return true;
    case PR_OP_SCF_WHILE: return whole_while(s, owner);
    case PR_OP_TT_REDUCE: case PR_OP_TT_SCAN:
        want_operands(s, owner);
        return true;
    default: return false;         /* a block of unstructured control                              */
    }
}

static bool result(slicer *s, const pr_value *v)
{
    const pr_op *op = v->def;
    switch (op->opcode) {
    case PR_OP_TT_GET_PROGRAM_ID: {
        pr_i128 axis = pr_op_attr_int(op, "axis", -1);
        if (axis < 0 || axis > 2) return false;
        s->out->axes |= 1u << axis;
        return true;
    }
    case PR_OP_TT_LOAD:
        if (op->n_operands == 2) return false;     /* masked, without a value for the lanes that are off   */
        if (pr_op_attr(op, "boundaryCheck") && !pr_op_attr(op, "padding")) return false;
        break;
    case PR_OP_SCF_FOR: return carried(s, op, v->index);
    case PR_OP_SCF_WHILE: return whole_while(s, op);
    case PR_OP_SCF_IF:
        want_operands(s, op);
        return want_yield(s, op, 0, v->index) && want_yield(s, op, 1, v->index);
    case PR_OP_TT_REDUCE: case PR_OP_TT_SCAN: {
        const pr_op *end = ender(op, 0);
        if (!end) return false;
        want_operands(s, end);
        break;
    }
    case PR_OP_TT_GET_NUM_PROGRAMS: case PR_OP_TT_MAKE_RANGE: case PR_OP_TT_ADDPTR: case PR_OP_TT_ADVANCE: case PR_OP_TT_APPROX_DIVF:
    case PR_OP_TT_BITCAST: case PR_OP_TT_BROADCAST: case PR_OP_TT_CAT: case PR_OP_TT_CLAMPF: case PR_OP_TT_DOT: case PR_OP_TT_DOT_SCALED:
    case PR_OP_TT_EXPAND_DIMS: case PR_OP_TT_FP_TO_FP: case PR_OP_TT_GATHER: case PR_OP_TT_HISTOGRAM: case PR_OP_TT_JOIN:
    case PR_OP_TT_MAKE_TENSOR_PTR: case PR_OP_TT_MULHIUI: case PR_OP_TT_PRECISE_DIVF: case PR_OP_TT_PRECISE_SQRT: case PR_OP_TT_RESHAPE:
    case PR_OP_TT_SPLAT: case PR_OP_TT_SPLIT: case PR_OP_TT_TRANS: case PR_OP_TT_UNSPLAT:
        break;
    default:
        if (!pr_str_starts(op->name, "arith.") && !pr_str_starts(op->name, "math.")) return false;
        if (op->opcode == PR_OP_UNKNOWN) return false;
        break;
    }
    want_operands(s, op);
    return true;
}

static const pr_op *find(const pr_op *in, int id)
{
    for (int r = 0; r < in->n_regions; r++)
        for (int b = 0; b < in->regions[r]->n_blocks; b++)
            for (int i = 0; i < in->regions[r]->blocks[b]->n_ops; i++) {
                const pr_op *op = in->regions[r]->blocks[b]->ops[i], *inner = op->id == id ? op : find(op, id);
                if (inner) return inner;
            }
    return NULL;
}

pr_value_slice pr_value_slice_of(pr_arena *arena, const pr_ir *ir, const pr_op *func, int store_id)
{
    pr_value_slice out = { 0 };
    const pr_op *store = find(func, store_id);
    if (!store || store->opcode != PR_OP_TT_STORE || store->n_operands < 2 || func->n_regions != 1 || !func->regions[0]->n_blocks) return out;
    slicer s = { .arena = arena, .func = func, .entry = func->regions[0]->blocks[0], .out = &out };
    s.seen = PR_NEW_N(arena, unsigned char, ir->n_values + 1);
    out.n_args = s.entry->n_args;
    out.args = PR_NEW_N(arena, bool, out.n_args + 1);
    out.known = true;
    want(&s, store->operands[1]);
    while (s.work.n && out.known) {
        const pr_value *v = s.work.data[--s.work.n];
        out.known = v->def ? result(&s, v) : argument(&s, v);
    }
    return out;
}
