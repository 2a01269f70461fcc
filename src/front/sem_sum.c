/* Sums along a dimension whose values are not known, but never negative: what tl.cumsum and tl.sum of a mask return.
 *
 * Each becomes a symbol within fixed bounds, and an entry of pr_records.sums that says of what it is the sum; hb/sums.c draws
 * the conclusions. Conditions, all shown here: every value lies in 0..most whatever wraps and whatever memory holds (by the operations
 * that made it, or by its exact term), the number of lanes times most fits the width, and no order of elements is left to the compiler
 * (two uses of one value could then be two orders). An entry needs more: no lane of what is summed comes from a masked-off lane
 * of a load without `other` (two uses of one value could then be two values), unless the mask itself makes it false or not chosen. Two sums
 * are of the same values when they have one operand, or zero extensions of one value, in the same call and iteration, or equal exact
 * terms. What stands in a while loop, or is lowered again for another execution in the same iterations, has no entry. */
#include "front/value.h"

enum { MOST_SUMS = 256, MOST_STEPS = 32, MOST_UNDER = 16, MOST_DEFINED = 4096 };

static bool is_layout(int opcode)
{
    return opcode == PR_OP_TT_BROADCAST || opcode == PR_OP_TT_EXPAND_DIMS || opcode == PR_OP_TT_SPLAT || opcode == PR_OP_TT_TRANS ||
           opcode == PR_OP_TT_RESHAPE || opcode == PR_OP_TTG_CONVERT_LAYOUT;
}

/* Every element of x lies in 0..*most in every execution, also one in which something wraps. */
static bool most_of(pr_lower *c, const pr_value *x, int steps, pr_i128 *most)
{
    const pr_op *def = x->def;
    pr_i128 other;
    if (steps > MOST_STEPS) return false;
    if (def && is_layout(def->opcode) && def->n_operands == 1) return most_of(c, def->operands[0], steps + 1, most);
    if (def && def->opcode == PR_OP_ARITH_EXTUI && def->n_operands == 1) {
        int bits = pr_int_bits(def->operands[0]->type);
        if (most_of(c, def->operands[0], steps + 1, most)) return true;
        *most = ((pr_i128)1 << bits) - 1;
        return bits > 0 && bits < 62;
    }
    if (def && def->opcode == PR_OP_ARITH_SELECT && def->n_operands == 3) {
        if (!most_of(c, def->operands[1], steps + 1, most) || !most_of(c, def->operands[2], steps + 1, &other)) return false;
        if (other > *most) *most = other;
        return true;
    }
    const pr_val *v = pr_get(c, x);
    if (v->kind != PR_VAL_INT || v->degrade || pr_term_none(v->term) || !pr_term_is(v->held, PR_TERM_TRUE)) return false;
    pr_interval r = pr_val_range(c, v);
    *most = r.hi;
    return (r.lo >= 0 || PR_FAULT(c, PR_FAULT_SUM_SIGN)) && r.hi < (pr_i128)1 << 62;
}

/* ---- orders left to the compiler ---------------------------------------------------------------- */

typedef struct order_marks { bool *reordered; bool found; } order_marks;

static void mark(order_marks *m, const pr_region *r, bool uses)
{
    for (int b = 0; b < r->n_blocks; b++)
        for (int i = 0; i < r->blocks[b]->n_ops; i++) {
            const pr_op *op = r->blocks[b]->ops[i];
            if (op->opcode == PR_OP_TT_CAT) m->found = true;
            if (op->opcode == PR_OP_TT_RESHAPE && pr_op_reorders(op) && op->n_results == 1) m->reordered[op->results[0]->id] = true;
            for (int k = 0; uses && k < op->n_operands; k++)
                if (m->reordered[op->operands[k]->id] && (op->opcode != PR_OP_TT_REDUCE || op->n_operands != 1 || pr_type_rank(op->operands[k]->type) != 1)) m->found = true;
            for (int k = 0; k < op->n_regions; k++) mark(m, op->regions[k], uses);
        }
}

/* A reshape that may reorder is harmless where all of it is reduced (of one dimension: rows could be of other elements). */
static bool orders_left(pr_lower *c)
{
    if (c->reorders != PR_MAYBE || !c->ir->module) return c->reorders == PR_YES;
    order_marks m = { PR_NEW_N(c->arena, bool, c->ir->n_values + 1), false };
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < c->ir->module->n_regions; k++) mark(&m, c->ir->module->regions[k], pass == 1);
    c->reorders = m.found ? PR_YES : PR_NO;
    return m.found;
}

/* ---- lanes that nothing defines ------------------------------------------------------------------ */

/* A masked-off lane of a load without `other` may hold different things in different threads and copies of the load. */
typedef struct defined { pr_lower *c; bool *seen; int steps; } defined;
typedef struct under { const pr_value *of[MOST_UNDER]; int n; } under;   /* conditions that hold in the lane itself */

static bool is_defined(defined *d, const pr_value *x, const under *u);

static bool among(const under *u, const pr_value *x)
{
    for (int i = 0; i < u->n; i++)
        if (u->of[i] == x) return true;
    return x->def && x->def->opcode == PR_OP_ARITH_ANDI && among(u, x->def->operands[0]) && among(u, x->def->operands[1]);
}

static void suppose(under *u, const pr_value *x)
{
    if (u->n == MOST_UNDER) return;
    u->of[u->n++] = x;
    if (x->def && x->def->opcode == PR_OP_ARITH_ANDI)
        for (int i = 0; i < 2; i++) suppose(u, x->def->operands[i]);
}

/* A bit that is false where another one of its conjunction is: that one's lanes are enough. (A condition is never made of what it excuses.) */
static bool conjunct_defined(defined *d, const pr_value *x, const under *u)
{
    if (!x->def || x->def->opcode != PR_OP_ARITH_ANDI) return is_defined(d, x, u);
    return conjunct_defined(d, x->def->operands[0], u) && conjunct_defined(d, x->def->operands[1], u);
}

static bool is_elementwise(const pr_op *op)
{
    return !op->n_regions && (pr_str_starts(op->name, "arith.") || pr_str_starts(op->name, "math.") || op->opcode == PR_OP_TT_ADDPTR ||
                              op->opcode == PR_OP_TT_BITCAST || op->opcode == PR_OP_TT_FP_TO_FP);
}

/* What operation op (a loop, a choice) hands on as its number i at the end of region r. */
static bool yields_defined(defined *d, const pr_op *op, int r, int i)
{
    const under none = { .n = 0 };
    const pr_block *b = r < op->n_regions ? pr_region_block(op->regions[r]) : NULL;
    const pr_op *end = b ? pr_block_terminator(b) : NULL;
    return end && i < end->n_operands && is_defined(d, end->operands[i], &none);
}

static bool argument_defined(defined *d, const pr_value *x)
{
    const under none = { .n = 0 };
    const pr_region *r = x->block->region;
    const pr_op *op = r ? r->op : NULL;
    if (!op || x->block->index) return false;
    if (op->opcode == PR_OP_TT_FUNC) return d->c->n_calls == 0;
    if (op->opcode == PR_OP_SCF_FOR) {
        if (x->index == 0) return is_defined(d, op->operands[0], &none) && is_defined(d, op->operands[2], &none);
        return 2 + x->index < op->n_operands && is_defined(d, op->operands[2 + x->index], &none) && yields_defined(d, op, 0, x->index - 1);
    }
    if (op->opcode != PR_OP_SCF_WHILE || op->n_regions != 2) return false;
    if (r == op->regions[1]) return yields_defined(d, op, 0, 1 + x->index);
    return x->index < op->n_operands && is_defined(d, op->operands[x->index], &none) && yields_defined(d, op, 1, x->index);
}

static bool load_defined(defined *d, const pr_op *op, const under *u)
{
    int seg[3] = { 1, op->n_operands > 1, op->n_operands > 2 };
    const pr_value *p = op->operands[0], *mask;
    under in = *u;
    pr_op_segments(op, 3, seg);
    if (pr_type_scalar(p->type)->elem && pr_type_scalar(p->type)->elem->kind == PR_TYPE_TENSOR) return pr_op_attr(op, "padding") != NULL;
    if (!seg[1] || op->n_operands < 2) return is_defined(d, p, u);
    mask = op->operands[1];
    suppose(&in, mask);
    if (!is_defined(d, mask, u) || !is_defined(d, p, &in)) return false;
    return seg[2] && op->n_operands > 2 ? is_defined(d, op->operands[2], u) : among(u, mask);
}

/* Is every lane of x (in which u holds) something? */
static bool is_defined(defined *d, const pr_value *x, const under *u)
{
    const under none = { .n = 0 };
    const pr_op *op = x->def;
    if (!u->n && d->seen[x->id]) return true;      /* (one answer of no ends the question) */
    if (!u->n) d->seen[x->id] = true;
    if (d->steps++ > MOST_DEFINED) return false;
    if (!op) return argument_defined(d, x);
    under in = *u;
    switch (op->opcode) {
    case PR_OP_TT_LOAD: return load_defined(d, op, u);
    case PR_OP_ARITH_ANDI:
        suppose(&in, x);
        return conjunct_defined(d, x, &in);
    case PR_OP_ARITH_SELECT:
        suppose(&in, op->operands[0]);
        return is_defined(d, op->operands[0], u) && is_defined(d, op->operands[1], &in) && is_defined(d, op->operands[2], u);
    case PR_OP_SCF_IF: return is_defined(d, op->operands[0], &none) && yields_defined(d, op, 0, x->index) && yields_defined(d, op, 1, x->index);
    case PR_OP_SCF_FOR: return 3 + x->index < op->n_operands && is_defined(d, op->operands[3 + x->index], &none) && yields_defined(d, op, 0, x->index);
    case PR_OP_SCF_WHILE: return yields_defined(d, op, 0, 1 + x->index);
    case PR_OP_TT_REDUCE: case PR_OP_TT_SCAN: break;
    case PR_OP_TT_CALL: return false;
    default:
        if (op->n_regions) return false;
    }
    for (int i = 0; i < op->n_operands; i++) {
        const pr_type *t = op->operands[i]->type;
        if (!t || t->kind == PR_TYPE_MEMDESC) return false;
        if (!is_defined(d, op->operands[i], is_elementwise(op) ? u : &none)) return false;
    }
    return true;
}

bool pr_all_defined(pr_lower *c, const pr_value *x)
{
    defined d = { c, PR_NEW_N(c->arena, bool, c->ir->n_values + 1), 0 };
    const under none = { .n = 0 };
    return is_defined(&d, x, &none);
}

/* ---- entries ------------------------------------------------------------------------------------ */

static pr_sum_source source_of(pr_lower *c, const pr_op *op)
{
    const pr_value *x = op->operands[0];
    const pr_op *def = x->def;
    pr_sum_source s = { x, false, c->instance, op->id };
    if (def && def->opcode == PR_OP_TT_RESHAPE && pr_op_reorders(def)) {  /* (only reduced) of one dimension: the same elements */
        const pr_type *a = def->operands[0]->type, *b = x->type;
        s.root = a && a->kind == PR_TYPE_TENSOR && pr_type_rank(a) == 1 && pr_type_rank(b) == 1 && a->shape[0] == b->shape[0] ? def->operands[0] : NULL;
    }
    def = s.root ? s.root->def : NULL;
    if (def && def->opcode == PR_OP_ARITH_EXTUI && def->n_operands == 1) s.root = def->operands[0], s.zext = true;
    return s;
}

static bool same_place(const pr_sum_of *a, const pr_sum_of *b)
{
    if (a->rank != b->rank || a->n_loops != b->n_loops) return false;
    for (int d = 0; d < a->rank; d++)
        if (a->shape[d] != b->shape[d]) return false;
    for (int i = 0; i < a->n_loops; i++)
        if (!pr_term_is(a->loop[i], b->loop[i])) return false;
    return true;
}

static void note(pr_lower *c, const pr_op *op, pr_sum_of s)
{
    pr_sum_source from = source_of(c, op);
    pr_term *loop = PR_NEW_N(c->arena, pr_term, c->n_iter + 1);
    for (int i = 0; i < c->n_iter; i++) {
        pr_term_op k = pr_term_op_of(c->T, c->iter[i]);
        if (k != PR_TERM_OP_VAR && k != PR_TERM_OP_CONST) return;
        loop[i] = c->iter[i];
    }
    s.loop = loop;
    s.n_loops = c->n_iter;
    s.same = c->out->sums.n;
    for (int i = 0; i < c->out->sums.n; i++)   /* lowered again for another execution that has the same iterations: not told apart */
        if (c->sum_sources.data[i].op_id == op->id && c->sum_sources.data[i].instance == c->instance && same_place(&c->out->sums.data[i], &s)) return;
    for (int i = 0; i < c->out->sums.n; i++) {
        const pr_sum_of *o = &c->out->sums.data[i];
        const pr_sum_source *f = &c->sum_sources.data[i];
        bool one = from.root && f->root == from.root && f->zext == from.zext && f->instance == from.instance;
        bool exact = pr_term_is(o->value, s.value) && pr_term_is(o->held, PR_TERM_TRUE) && pr_term_is(s.held, PR_TERM_TRUE);
        if (!same_place(o, &s) || !(one || exact)) continue;
        s.same = o->same;
        break;
    }
    pr_vec_push(c->arena, &c->out->sums, s);
    pr_vec_push(c->arena, &c->sum_sources, from);
}

pr_val *pr_sum_value(pr_lower *c, const pr_op *op, const pr_val *v, int axis, bool total, bool reverse)
{
    pr_i128 most = 0, hi;
    const pr_type *t = op->results[0]->type;
    int bits = pr_int_bits(t), rank = pr_type_rank(v->type);
    const pr_value *x = op->operands[0];
    if (v->kind != PR_VAL_INT || pr_int_bits(v->type) != bits || bits < 2 || bits > 64 || rank > PR_RANK_MAX || v->degrade || pr_term_none(v->term))
        return NULL;
    if ((orders_left(c) && !PR_FAULT(c, PR_FAULT_SUM_ORDER)) || !most_of(c, x, 0, &most) || !pr_mul_ok(most, v->type->shape[axis], &hi)) return NULL;
    if (hi > pr_int_max(bits) && !PR_FAULT(c, PR_FAULT_SUM_WRAPS)) return NULL;
    pr_val *from[1] = { (pr_val *)v };
    pr_val *r = pr_val_derive(c, t, from, 1, false);
    pr_sum_of s = { .total = total, .reverse = reverse, .axis = axis, .rank = rank, .value = v->term, .held = v->held, .most = most };
    for (int d = 0; d < rank; d++) s.shape[d] = v->type->shape[d];
    pr_sym_info info = { .kind = PR_SYM_OPAQUE, .bits = bits, .access = -1, .from_memory = r->from_memory, .from_atomic = r->from_atomic,
                         .refusal = r->gap == PR_REFUSAL_LOOP_VARIANT_ADVANCE ? r->gap : r->from_memory || r->from_atomic ? PR_REFUSAL_INDIRECT_ADDRESS
                                  : r->gap ? r->gap : PR_REFUSAL_OTHER,
                         .reason = pr_arena_printf(c->arena, "result of " PR_STR_FMT, PR_STR_ARG(op->name)), .op_id = op->id,
                         .bounded = true, .lo = 0, .hi = hi, .loose = !pr_all_defined(c, x) };
    r->held = PR_TERM_TRUE;            /* the machine's sum, whatever the terms of its values rest on */
    r->gap = PR_REFUSAL_NONE;
    r->why = NULL;
    r->term = pr_symbol(c, info, t);
    s.sym = pr_term_sym(c->T, r->term);
    if (!c->dry && !c->in_while && c->out->sums.n < MOST_SUMS && (!info.loose || PR_FAULT(c, PR_FAULT_SUM_UNREAD))) note(c, op, s);
    return r;
}
