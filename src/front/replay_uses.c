/* Does the value of a load stay with its lanes, or does every thread's copy of it matter?
 *
 * A scalar load is performed by every thread of the program. When its value decides a branch, a bound
 * or a mask, or is used at another shape, the copies may differ, and the load does not order what
 * depends on it (happens-before.md 1.5, the strict rule). A value that feeds another access counts as
 * used wherever that access's result is. Static, ignoring the calling context. */
#include "front/replay_core.h"

typedef struct pr_spread {
    pr_arena *arena;
    const pr_ir *ir;
    const pr_type *shape;
    uint8_t *seen;               /* by value id                                                */
    PR_VEC(const pr_value *) work;
    bool spread;
} pr_spread;

static bool same_shape(const pr_type *a, const pr_type *b)
{
    int ra = a && a->kind == PR_TYPE_TENSOR ? a->rank : 0, rb = b && b->kind == PR_TYPE_TENSOR ? b->rank : 0;
    if (pr_type_count(a) == 1 && pr_type_count(b) == 1) return true;   /* one element has one position, whatever the rank */
    if (ra != rb) return false;
    for (int d = 0; d < ra; d++)
        if (a->shape[d] != b->shape[d]) return false;
    return true;
}

static void flow(pr_spread *s, const pr_value *v)
{
    if (!v || s->seen[v->id]) return;
    s->seen[v->id] = 1;
    if (!same_shape(v->type, s->shape)) s->spread = true;
    pr_vec_push(s->arena, &s->work, v);
}

static void flow_arg(pr_spread *s, const pr_region *r, int i)
{
    const pr_block *b = pr_region_block(r);
    if (b && i >= 0 && i < b->n_args) flow(s, b->args[i]);
}

static void flow_result(pr_spread *s, const pr_op *op, int i)
{
    if (i >= 0 && i < op->n_results) flow(s, op->results[i]);
}

static void flow_calls(pr_spread *s, const pr_op *op, const pr_op *func, int result);

static bool is_mask(const pr_op *op, int i)
{
    int part[3];
    switch (op->opcode) {
    case PR_OP_TT_LOAD: return i == 1 && (!pr_op_segments(op, 3, part) || part[1]);
    case PR_OP_TT_STORE: case PR_OP_TT_ATOMIC_RMW: case PR_OP_TT_ATOMIC_STORE: return i == 2;
    case PR_OP_TT_ATOMIC_LOAD: return i == 1;
    default: return false;
    }
}

/* Operand i of op carries the value. */
static void use(pr_spread *s, const pr_op *op, int i)
{
    const pr_op *parent = op->block ? op->block->region->op : NULL;
    switch (op->opcode) {
    case PR_OP_TT_LOAD: case PR_OP_TT_STORE: case PR_OP_TT_ATOMIC_RMW: case PR_OP_TT_ATOMIC_CAS:
    case PR_OP_TT_ATOMIC_POLL: case PR_OP_TT_ATOMIC_LOAD: case PR_OP_TT_ATOMIC_STORE:
        if (is_mask(op, i)) s->spread = true;
        break; /* otherwise a use at the lane; its shape was tested when the value was reached */
    case PR_OP_TT_PRINT: case PR_OP_TT_ASSERT: case PR_OP_CF_ASSERT: case PR_OP_LLVM_INTR_ASSUME: return;
    case PR_OP_SCF_IF: case PR_OP_SCF_INDEX_SWITCH: s->spread = true; return;
    case PR_OP_SCF_FOR:
        if (i < 3) s->spread = true;
        else {
            flow_arg(s, op->regions[0], i - 2);
            flow_result(s, op, i - 3);
        }
        return;
    case PR_OP_SCF_WHILE: flow_arg(s, op->regions[0], i); return;
    case PR_OP_SCF_CONDITION:
        if (i == 0) s->spread = true;
        else if (parent) {
            flow_result(s, parent, i - 1);
            if (parent->n_regions > 1) flow_arg(s, parent->regions[1], i - 1);
        }
        return;
    case PR_OP_SCF_YIELD:
        if (!parent) return;
        if (parent->opcode == PR_OP_SCF_WHILE) flow_arg(s, parent->regions[0], i);
        else flow_result(s, parent, i);
        if (parent->opcode == PR_OP_SCF_FOR) flow_arg(s, parent->regions[0], i + 1);
        return;
    case PR_OP_CF_COND_BR: case PR_OP_CF_SWITCH:
        if (i == 0) {
            s->spread = true;
            return;
        }
        break;
    case PR_OP_TT_CALL: case PR_OP_TT_RETURN: flow_calls(s, op, parent, i); return;
    default: break;
    }
    if (op->n_succ) {
        for (int k = 0; k < op->n_succ; k++) {
            const pr_successor *e = &op->succ[k];
            if (i >= e->first && i < e->first + e->n && i - e->first < e->block->n_args)
                flow(s, e->block->args[i - e->first]);
        }
        return;
    }
    if (op->n_regions || op->opcode == PR_OP_UNKNOWN) s->spread = true;
    for (int k = 0; k < op->n_results; k++) flow(s, op->results[k]);
}

static void each_op(pr_spread *s, const pr_op *op, void (*visit)(pr_spread *, const pr_op *, const void *, int),
                    const void *x, int i)
{
    visit(s, op, x, i);
    for (int r = 0; r < op->n_regions; r++)
        for (int b = 0; b < op->regions[r]->n_blocks; b++)
            for (int k = 0; k < op->regions[r]->blocks[b]->n_ops; k++)
                each_op(s, op->regions[r]->blocks[b]->ops[k], visit, x, i);
}

static const pr_op *callee(const pr_spread *s, const pr_op *call)
{
    const pr_attr *a = pr_op_attr(call, "callee");
    return a ? pr_ir_func(s->ir, a->text) : NULL;
}

static void visit_return(pr_spread *s, const pr_op *op, const void *func, int i)
{
    if (op->opcode == PR_OP_TT_CALL && callee(s, op) == func) flow_result(s, op, i);
}

static void flow_calls(pr_spread *s, const pr_op *op, const pr_op *func, int i)
{
    if (op->opcode == PR_OP_TT_RETURN) {
        each_op(s, s->ir->module, visit_return, func, i);
        return;
    }
    const pr_op *f = callee(s, op);
    if (f && f->n_regions) flow_arg(s, f->regions[0], i);
    else s->spread = true;
}

static void visit_use(pr_spread *s, const pr_op *op, const void *value, int unused)
{
    (void)unused;
    for (int i = 0; i < op->n_operands; i++)
        if (op->operands[i] == value) use(s, op, i);
}

bool pr_load_is_spread(pr_arena *arena, const pr_ir *ir, const pr_op *load)
{
    pr_spread s = {.arena = arena, .ir = ir};
    if (load->n_results < 1) return false;
    s.shape = load->results[0]->type;
    s.seen = pr_arena_alloc(arena, (size_t)ir->n_values + 1);
    flow(&s, load->results[0]);
    while (s.work.n && !s.spread) {
        const pr_value *v = s.work.data[--s.work.n];
        each_op(&s, ir->module, visit_use, v, 0);
    }
    return s.spread;
}
