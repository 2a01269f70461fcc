/* How do tile operations move lanes? A tile's term speaks about its own lanes, so a shape operation is
 * a substitution of lanes (ttir-front.md 2.1), also in obligations and pointer guards. Reductions and
 * scans are exact only where the order and the elements do not matter; program ids and ranges are here
 * too. */
#include "front/value.h"

static void identity_map(pr_lower *c, pr_term *map)
{
    for (int d = 0; d < PR_MAX_RANK; d++) map[d] = pr_lane_term(c, d);
}

/* A value of one element stays at its one position, whatever the rank: what is made of it waits for what it was read from. */
static void moved(pr_lower *c, const pr_op *op, int result, const pr_val *v, const pr_term *map)
{
    const pr_type *to = op->results[result]->type;
    bool one = op->opcode != PR_OP_TT_REDUCE && v->type && pr_type_count(v->type) == 1 && pr_type_count(to) == 1;
    pr_result(c, op, result, pr_val_relane(c, v, to, map, one));
}

static void opaque(pr_lower *c, const pr_op *op, const char *why)
{
    pr_opaque_results(c, op, false, PR_REFUSAL_NONE, why);
}

static void program_axis(pr_lower *c, const pr_op *op)
{
    pr_i128 a = pr_op_attr_int(op, "axis", -1);
    if (a < 0 || a > 2) {
        pr_refuse(c, op, PR_REFUSAL_OUT_OF_VOCABULARY, "unknown grid axis");
        opaque(c, op, NULL);
        return;
    }
    pr_val *r = pr_val_new(c, op->results[0]->type);
    pr_var v = op->opcode == PR_OP_TT_GET_PROGRAM_ID ? c->out->pid[(int)a] : c->out->grid[(int)a];
    pr_result(c, op, 0, pr_val_finish(c, op, r, pr_var_term(c->T, v)));
}

static void make_range(pr_lower *c, const pr_op *op)
{
    const pr_type *t = op->results[0]->type;
    pr_i128 s = pr_op_attr_int(op, "start", 0), e = pr_op_attr_int(op, "end", 0);
    s = pr_wrap_signed(s, 32);
    e = pr_wrap_signed(e, 32);
    pr_val *r = pr_val_new(c, t);
    if (pr_type_rank(t) != 1 || e - s != t->shape[0] || r->kind != PR_VAL_INT) {
        pr_refuse(c, op, PR_REFUSAL_OTHER, "a range whose length is not its extent");
        opaque(c, op, NULL);
        return;
    }
    pr_term lane = t->shape[0] == 1 ? PR_TERM_ZERO : pr_lane_term(c, 0);
    pr_result(c, op, 0, pr_val_finish(c, op, r, pr_add(c->T, lane, pr_const(c->T, s))));
}

static void expand_dims(pr_lower *c, const pr_op *op)
{
    pr_i128 axis = pr_op_attr_int(op, "axis", -1);
    pr_val *v = pr_operand(c, op, 0);
    int rank = pr_type_rank(v->type);
    if (axis < 0 || axis > rank || rank + 1 > PR_MAX_RANK) { opaque(c, op, "expand_dims with an odd axis"); return; }
    pr_term map[PR_MAX_RANK];
    identity_map(c, map);
    for (int d = (int)axis; d < rank && !PR_FAULT(c, PR_FAULT_EXPAND); d++) map[d] = pr_lane_term(c, d + 1);
    moved(c, op, 0, v, map);
}

static void broadcast(pr_lower *c, const pr_op *op)
{
    pr_val *v = pr_operand(c, op, 0);
    const pr_type *t = op->results[0]->type;
    int rank = pr_type_rank(v->type);
    if (rank != pr_type_rank(t)) { opaque(c, op, "broadcast that changes the rank"); return; }
    pr_term map[PR_MAX_RANK];
    identity_map(c, map);
    bool grows = false;
    for (int d = 0; d < rank; d++)
        if (v->type->shape[d] != t->shape[d]) {
            map[d] = PR_TERM_ZERO;
            grows = true;
        }
    pr_result(c, op, 0, pr_val_relane(c, v, t, map, !grows));
}

static bool grouped(const pr_type *s, const pr_type *t, int *i, int *j, int *i_end, int *j_end)
{
    if (*i >= s->rank && *j >= t->rank) return false;
    int64_t p = 1, q = 1;
    *i_end = *i;
    *j_end = *j;
    if (*i_end < s->rank) p = s->shape[(*i_end)++];
    if (*j_end < t->rank) q = t->shape[(*j_end)++];
    while (p != q) {
        if (p < q && *i_end < s->rank) p *= s->shape[(*i_end)++];
        else if (q < p && *j_end < t->rank) q *= t->shape[(*j_end)++];
        else return false;
    }
    while (*i_end < s->rank && s->shape[*i_end] == 1) (*i_end)++;
    while (*j_end < t->rank && t->shape[*j_end] == 1) (*j_end)++;
    return true;
}

/* Row-major renumbering, group by group of dimensions with equal products, so that dimensions of
 * extent 1 come and go by renaming alone. */
static bool reshape_map(pr_lower *c, const pr_type *s, const pr_type *t, pr_term *map)
{
    pr_terms *T = c->T;
    int i = 0, j = 0, ie, je;
    while (grouped(s, t, &i, &j, &ie, &je)) {
        pr_term lin = PR_TERM_ZERO;
        int64_t stride = 1;
        for (int d = je - 1; d >= j; d--) {
            if (t->shape[d] != 1) lin = pr_add(T, lin, pr_scale(T, pr_lane_term(c, d), stride));
            stride *= t->shape[d];
        }
        int wide = 0;
        for (int d = i; d < ie; d++) wide += s->shape[d] != 1;
        stride = 1;
        for (int d = ie - 1; d >= i; d--) {
            if (s->shape[d] == 1) map[d] = PR_TERM_ZERO;
            else if (wide == 1) map[d] = lin;
            else {
                pr_term q = pr_fdiv_t(T, lin, pr_const(T, stride));
                bool outermost = true;
                for (int e = i; e < d; e++) outermost &= s->shape[e] == 1;
                map[d] = outermost ? q : pr_fmod_t(T, q, pr_const(T, s->shape[d]));
            }
            stride *= s->shape[d];
        }
        i = ie;
        j = je;
    }
    return i == s->rank && j == t->rank;
}

bool pr_op_reorders(const pr_op *op)
{
    const pr_attr *a = pr_op_attr(op, "allow_reorder");
    return a && !(a->kind == PR_ATTR_BOOL && !a->boolean);
}

static void reshape(pr_lower *c, const pr_op *op)
{
    pr_val *v = pr_operand(c, op, 0);
    const pr_type *t = op->results[0]->type;
    pr_term map[PR_MAX_RANK];
    identity_map(c, map);
    if (pr_op_reorders(op)) {
        opaque(c, op, "reshape that may reorder elements");
        return;
    }
    if (!v->type || v->type->kind != PR_TYPE_TENSOR || t->kind != PR_TYPE_TENSOR ||
        !reshape_map(c, v->type, t, map)) {
        opaque(c, op, "reshape between different sizes");
        return;
    }
    moved(c, op, 0, v, map);
}

static void trans(pr_lower *c, const pr_op *op)
{
    pr_val *v = pr_operand(c, op, 0);
    pr_attr *order = pr_op_attr(op, "order");
    int rank = pr_type_rank(v->type);
    unsigned used = 0;
    pr_term map[PR_MAX_RANK];
    identity_map(c, map);
    bool fine = order && order->n_ints == rank;
    for (int k = 0; fine && k < rank; k++) {
        pr_i128 s = order->ints[k];
        fine = s >= 0 && s < rank && !(used >> (int)s & 1);
        if (!fine) break;
        used |= 1u << (int)s;
        map[(int)s] = pr_lane_term(c, k);
    }
    if (!fine) { opaque(c, op, "transposition with an odd order"); return; }
    moved(c, op, 0, v, map);
}

static void join(pr_lower *c, const pr_op *op)
{
    const pr_type *t = op->results[0]->type;
    int rank = pr_type_rank(t);
    pr_val *a = pr_operand(c, op, 0), *b = pr_operand(c, op, 1);
    if (rank < 1 || t->shape[rank - 1] != 2) { opaque(c, op, NULL); return; }
    pr_term map[PR_MAX_RANK];
    identity_map(c, map);
    a = pr_val_relane(c, a, t, map, false);
    b = pr_val_relane(c, b, t, map, false);
    static const pr_type i1 = { .kind = PR_TYPE_INT, .bits = 1 };
    pr_val *first = pr_val_new(c, &i1);
    first->term = pr_eq(c->T, pr_lane_term(c, rank - 1), PR_TERM_ZERO);
    pr_result(c, op, 0, pr_val_merge(c, op, first, a, b, t, true));
}

static void split(pr_lower *c, const pr_op *op)
{
    pr_val *v = pr_operand(c, op, 0);
    int rank = pr_type_rank(v->type);
    if (rank < 1 || v->type->shape[rank - 1] != 2 || op->n_results != 2) { opaque(c, op, NULL); return; }
    pr_term map[PR_MAX_RANK];
    for (int k = 0; k < 2; k++) {
        identity_map(c, map);
        map[rank - 1] = pr_const(c->T, k);
        moved(c, op, k, v, map);
    }
}

static void unsplat(pr_lower *c, const pr_op *op)
{
    pr_term map[PR_MAX_RANK];
    for (int d = 0; d < PR_MAX_RANK; d++) map[d] = PR_TERM_ZERO;
    moved(c, op, 0, pr_operand(c, op, 0), map);
}

static void gather(pr_lower *c, const pr_op *op)
{
    pr_val *src = pr_operand(c, op, 0), *idx = pr_operand(c, op, 1);
    pr_i128 axis = pr_op_attr_int(op, "axis", -1);
    int rank = pr_type_rank(src->type);
    if (axis < 0 || axis >= rank || pr_type_rank(idx->type) != rank || idx->kind != PR_VAL_INT) {
        opaque(c, op, NULL);
        return;
    }
    pr_terms *T = c->T;
    pr_term map[PR_MAX_RANK], last = pr_const(T, src->type->shape[(int)axis] - 1);
    pr_interval at = pr_term_none(idx->term) ? (pr_interval){ -PR_INF, PR_INF } : pr_range(pr_lower_box(c, idx->type), idx->term);
    bool inside = at.lo >= 0 && at.hi < src->type->shape[(int)axis];
    bool number = src->kind == PR_VAL_INT || src->kind == PR_VAL_BOOL;
    if (!inside && !number && src->kind != PR_VAL_FLOAT) {
        opaque(c, op, NULL);
        return;
    }
    identity_map(c, map);
    map[(int)axis] = inside ? idx->term : pr_max(T, PR_TERM_ZERO, pr_min(T, idx->term, last));
    pr_val *r = pr_val_relane(c, src, op->results[0]->type, map, false);
    if (!inside && number) { /* behind the end it is anything; no element is named that is not there */
        pr_sym_info info = { .kind = PR_SYM_OPAQUE, .is_bool = src->kind == PR_VAL_BOOL, .bits = pr_int_bits(op->results[0]->type), .access = -1,
                             .refusal = PR_REFUSAL_OTHER, .reason = "an element past the end of what is gathered from", .op_id = op->id };
        pr_term in = pr_and(T, pr_le(T, PR_TERM_ZERO, idx->term), pr_le(T, idx->term, last));
        r = pr_val_finish(c, op, r, pr_select(T, in, r->term, pr_symbol(c, info, op->results[0]->type)));
    }
    r->held = pr_and(c->T, r->held, idx->held);
    r->all = pr_ids_union(c, r->all, idx->all);
    r->from_memory |= idx->from_memory;
    r->from_atomic |= idx->from_atomic;
    if (idx->gap && !r->gap) { r->gap = idx->gap; r->why = idx->why; }
    pr_mark_other_shape(c, idx->all);
    pr_result(c, op, 0, r);
}

/* ---- reductions ---------------------------------------------------------------------------- */
/* The one operation a combiner region applies to its two arguments; PR_OP_UNKNOWN otherwise. */
static int combiner_of(const pr_op *op)
{
    const pr_region *r = op->n_regions == 1 ? op->regions[0] : NULL;
    if (!r || r->n_blocks != 1 || op->n_results != 1) return PR_OP_UNKNOWN;
    const pr_block *b = r->blocks[0];
    if (b->n_args != 2 || b->n_ops != 2) return PR_OP_UNKNOWN;
    const pr_op *f = b->ops[0], *ret = b->ops[1];
    if (f->n_operands != 2 || f->n_results != 1 || ret->n_operands != 1 || ret->operands[0] != f->results[0])
        return PR_OP_UNKNOWN;
    bool straight = f->operands[0] == b->args[0] && f->operands[1] == b->args[1];
    bool crossed = f->operands[0] == b->args[1] && f->operands[1] == b->args[0];
    return straight || crossed ? f->opcode : PR_OP_UNKNOWN;
}

static bool is_idempotent(int f)
{
    return f == PR_OP_ARITH_MAXSI || f == PR_OP_ARITH_MINSI || f == PR_OP_ARITH_MAXUI ||
           f == PR_OP_ARITH_MINUI || f == PR_OP_ARITH_ANDI || f == PR_OP_ARITH_ORI;
}

static bool mentions_lane(pr_lower *c, const pr_val *v, int d)
{
    return pr_term_mentions(c->T, v->term, c->out->lane[d]) || pr_term_mentions(c->T, v->held, c->out->lane[d]);
}

/* Coefficient of lane d when t is coef * lane_d + (something without it); 0 otherwise. */
static pr_i128 lane_slope(pr_lower *c, pr_term t, int d)
{
    pr_term lane = pr_lane_term(c, d);
    if (pr_term_is(t, lane)) return 1;
    if (pr_term_op_of(c->T, t) != PR_TERM_OP_SUM) return 0;
    pr_i128 slope = 0;
    for (int i = 0; i < pr_term_arity(c->T, t); i++) {
        pr_term x = pr_term_child(c->T, t, i);
        if (pr_term_is(x, lane)) slope = pr_term_coef(c->T, t, i);
        else if (pr_term_mentions(c->T, x, c->out->lane[d])) return 0;
    }
    return slope;
}

static void drop_axis(pr_lower *c, int axis, int rank, pr_term at, pr_term *map)
{
    identity_map(c, map);
    map[axis] = at;
    for (int d = axis + 1; d < rank; d++) map[d] = pr_lane_term(c, d - 1);
}

static bool check_region(pr_lower *c, const pr_op *op)
{
    for (int k = 0; k < op->n_regions; k++)
        if (pr_region_touches_memory(c->ir, op->regions[k])) {
            pr_refuse(c, op, PR_REFUSAL_OUT_OF_VOCABULARY, "memory operation inside the region of `" PR_STR_FMT "`",
                      PR_STR_ARG(op->name));
            opaque(c, op, NULL);
            return false;
        }
    return true;
}

/* What is reduced: where all of it is, by an operation for which the order does not matter, the value before a reshape that
 * may reorder it. */
static pr_val *reduced(pr_lower *c, const pr_op *op)
{
    const pr_op *def = op->operands[0]->def;
    int f = combiner_of(op);
    bool any_order = is_idempotent(f) || f == PR_OP_ARITH_ADDI || f == PR_OP_ARITH_MULI || f == PR_OP_ARITH_XORI;
    pr_val *v = pr_operand(c, op, 0);
    if (!any_order || !def || def->opcode != PR_OP_TT_RESHAPE || !pr_op_reorders(def) || pr_type_rank(v->type) != 1) return v;
    pr_val *before = pr_operand(c, def, 0);
    pr_term map[PR_MAX_RANK];
    identity_map(c, map);
    if (!before->type || before->type->kind != PR_TYPE_TENSOR || !reshape_map(c, before->type, v->type, map)) return v;
    return pr_val_relane(c, before, v->type, map, false);
}

/* Is x one of the two elements of operand k that a combiner was given, whichever? */
static bool hands_on(const pr_op *op, const pr_block *b, const pr_value *x, int k, int steps)
{
    const pr_op *def = x->def;
    if (x == b->args[k] || x == b->args[op->n_operands + k]) return true;
    if (!def || steps > 16) return false;
    int first = def->opcode == PR_OP_ARITH_SELECT;
    if (!first && def->opcode != PR_OP_ARITH_MAXSI && def->opcode != PR_OP_ARITH_MINSI && def->opcode != PR_OP_ARITH_MAXUI && def->opcode != PR_OP_ARITH_MINUI)
        return false;
    return hands_on(op, b, def->operands[first], k, steps + 1) && hands_on(op, b, def->operands[first + 1], k, steps + 1);
}

/* A maximum, the place of one, or whatever else picks among elements gives an element, so it keeps their bounds (condition: the elements' term
 * rests on nothing that may wrap). Null: it does not pick, or there are no bounds. */
static pr_val *picked(pr_lower *c, const pr_op *op, int k)
{
    const pr_region *g = op->n_regions == 1 ? op->regions[0] : NULL;
    const pr_block *b = g && g->n_blocks == 1 ? g->blocks[0] : NULL;
    const pr_op *end = b && b->n_ops ? b->ops[b->n_ops - 1] : NULL;
    if (!end || b->n_args != 2 * op->n_operands || end->n_operands != op->n_operands || op->n_results != op->n_operands) return NULL;
    pr_val *v = pr_operand(c, op, k);
    const pr_type *t = op->results[k]->type;
    int bits = pr_int_bits(t);
    if (v->kind != PR_VAL_INT || bits < 2 || bits > 64 || pr_int_bits(v->type) != bits || v->degrade || pr_term_none(v->term) || !pr_term_is(v->held, PR_TERM_TRUE) ||
        !hands_on(op, b, end->operands[k], k, 0))
        return NULL;
    pr_interval i = pr_val_range(c, v);
    if (i.lo < pr_int_min(bits) || i.hi > pr_int_max(bits) || (i.lo == pr_int_min(bits) && i.hi == pr_int_max(bits))) return NULL;
    pr_val **from = PR_NEW_N(c->arena, pr_val *, op->n_operands + 1);
    for (int j = 0; j < op->n_operands; j++) from[j] = pr_operand(c, op, j);
    pr_val *r = pr_val_derive(c, t, from, op->n_operands, false);
    pr_sym_info info = { .kind = PR_SYM_OPAQUE, .bits = bits, .access = -1, .from_memory = r->from_memory, .from_atomic = r->from_atomic,
                         .refusal = r->gap == PR_REFUSAL_LOOP_VARIANT_ADVANCE ? r->gap : r->from_memory || r->from_atomic ? PR_REFUSAL_INDIRECT_ADDRESS
                                  : r->gap ? r->gap : PR_REFUSAL_OTHER,
                         .reason = pr_arena_printf(c->arena, "result of " PR_STR_FMT, PR_STR_ARG(op->name)), .op_id = op->id,
                         .bounded = true, .lo = i.lo, .hi = i.hi };
    info.loose = c->uneven;
    for (int j = 0; j < op->n_operands; j++) info.loose |= !pr_all_defined(c, op->operands[j]);
    r->held = PR_TERM_TRUE;
    r->gap = PR_REFUSAL_NONE;
    r->why = NULL;
    r->term = pr_symbol(c, info, t);
    return r;
}

/* Nothing is known of the results but what picking says. */
static void picked_or_opaque(pr_lower *c, const pr_op *op)
{
    pr_val **r = PR_NEW_N(c->arena, pr_val *, op->n_results + 1);
    for (int k = 0; k < op->n_results; k++) r[k] = picked(c, op, k);
    opaque(c, op, NULL);
    for (int k = 0; k < op->n_results; k++)
        if (r[k]) pr_result(c, op, k, r[k]);
}

/* Does the combiner give one result for (x, y) and (y, x)? Threads fold the elements in different orders: each combines its own with
 * what another has. Of a place with a maximum that is not known: NaN, and ties. */
static bool is_symmetric(const pr_op *op)
{
    if (op->n_operands != 1) return false;
    switch (combiner_of(op)) {
    case PR_OP_ARITH_ADDI: case PR_OP_ARITH_MULI: case PR_OP_ARITH_ANDI: case PR_OP_ARITH_ORI: case PR_OP_ARITH_XORI:
    case PR_OP_ARITH_MAXSI: case PR_OP_ARITH_MINSI: case PR_OP_ARITH_MAXUI: case PR_OP_ARITH_MINUI:
    case PR_OP_ARITH_ADDF: case PR_OP_ARITH_MULF: case PR_OP_ARITH_MAXNUMF: case PR_OP_ARITH_MINNUMF:
    case PR_OP_ARITH_MAXIMUMF: case PR_OP_ARITH_MINIMUMF: return true;
    default: return false;
    }
}

static void folded(pr_lower *c, const pr_op *op);

/* What an asymmetric combiner gives is no one value for the threads of a program; nor is what is made of it (as of an atomic's result). */
static void reduce(pr_lower *c, const pr_op *op)
{
    if (!check_region(c, op)) return;
    c->uneven = !is_symmetric(op);
    folded(c, op);
    for (int k = 0; k < op->n_results && c->uneven; k++) c->env[op->results[k]->id]->from_atomic = true;
    c->uneven = false;
}

static void folded(pr_lower *c, const pr_op *op)
{
    pr_i128 axis128 = pr_op_attr_int(op, "axis", -1);
    pr_val *v = op->n_operands ? reduced(c, op) : NULL;
    int rank = v ? pr_type_rank(v->type) : 0, axis = (int)axis128;
    if (!v || axis128 < 0 || axis128 >= rank) { opaque(c, op, NULL); return; }
    int64_t extent = v->type->shape[axis];
    pr_term map[PR_MAX_RANK];
    drop_axis(c, axis, rank, PR_TERM_ZERO, map);
    if (extent == 1 && op->n_results == op->n_operands) {
        c->uneven = false;             /* nothing is combined */
        for (int i = 0; i < op->n_results; i++) moved(c, op, i, pr_operand(c, op, i), map);
        return;
    }
    int f = combiner_of(op);
    if (op->n_operands != 1 || (v->kind != PR_VAL_INT && v->kind != PR_VAL_BOOL)) { picked_or_opaque(c, op); return; }
    bool fixed = !mentions_lane(c, v, axis);
    if (fixed && (is_idempotent(f))) { moved(c, op, 0, v, map); return; }
    if (fixed && f == PR_OP_ARITH_ADDI && v->kind == PR_VAL_INT) {
        pr_val *r = pr_val_relane(c, v, op->results[0]->type, map, false);
        pr_term t = pr_scale(c->T, r->term, extent);
        pr_oblige(c, r, PR_FITS_SIGNED, pr_int_bits(v->type), t);
        pr_result(c, op, 0, pr_val_finish(c, op, r, t));
        return;
    }
    if (v->kind == PR_VAL_INT && (f == PR_OP_ARITH_MAXSI || f == PR_OP_ARITH_MINSI)) {
        pr_i128 slope = lane_slope(c, v->term, axis);
        if (slope && !pr_term_mentions(c->T, v->held, c->out->lane[axis])) {
            bool last = (slope > 0) == (f == PR_OP_ARITH_MAXSI);
            drop_axis(c, axis, rank, pr_const(c->T, last ? extent - 1 : 0), map);
            moved(c, op, 0, v, map);
            return;
        }
    }
    pr_val *sum = f == PR_OP_ARITH_ADDI && op->n_operands == 1 ? pr_sum_value(c, op, v, axis, true, false) : NULL;
    if (sum) pr_result(c, op, 0, sum);
    else picked_or_opaque(c, op);
}

static bool is_reverse(const pr_op *op)
{
    const pr_attr *a = pr_op_attr(op, "reverse");
    return a && !(a->kind == PR_ATTR_BOOL && !a->boolean);
}

static void scan_op(pr_lower *c, const pr_op *op)
{
    if (!check_region(c, op)) return;
    pr_i128 axis128 = pr_op_attr_int(op, "axis", -1);
    pr_val *v = op->n_operands == 1 ? pr_operand(c, op, 0) : NULL;
    int f = combiner_of(op), axis = (int)axis128;
    if (!v || axis128 < 0 || axis128 >= pr_type_rank(v->type) ||
        (v->kind != PR_VAL_INT && v->kind != PR_VAL_BOOL) || mentions_lane(c, v, axis)) {
        bool sums = v && axis128 >= 0 && axis128 < pr_type_rank(v->type) && f == PR_OP_ARITH_ADDI;
        pr_val *sum = sums ? pr_sum_value(c, op, v, axis, false, is_reverse(op)) : NULL;
        if (sum) pr_result(c, op, 0, sum);
        else opaque(c, op, NULL);
        return;
    }
    pr_val *from[1] = { v };
    pr_val *r = pr_val_derive(c, op->results[0]->type, from, 1, false);
    if (is_idempotent(f)) { pr_result(c, op, 0, pr_val_finish(c, op, r, v->term)); return; }
    if (f != PR_OP_ARITH_ADDI || v->kind != PR_VAL_INT) { opaque(c, op, NULL); return; }
    pr_term n = v->type->shape[axis] == 1 ? pr_const(c->T, 1)
              : is_reverse(op)
                  ? pr_sub(c->T, pr_const(c->T, v->type->shape[axis]), pr_lane_term(c, axis))
                  : pr_add(c->T, pr_lane_term(c, axis), pr_const(c->T, 1));
    pr_term t = pr_mul(c->T, v->term, n);
    pr_oblige(c, r, PR_FITS_SIGNED, pr_int_bits(v->type), t);
    pr_result(c, op, 0, pr_val_finish(c, op, r, t));
}

static void splat(pr_lower *c, const pr_op *op)
{
    pr_term map[PR_MAX_RANK];
    identity_map(c, map);
    moved(c, op, 0, pr_operand(c, op, 0), map);
}

bool pr_sem_shape(pr_lower *c, const pr_op *op)
{
    switch (op->opcode) {
    case PR_OP_TT_GET_PROGRAM_ID: case PR_OP_TT_GET_NUM_PROGRAMS: program_axis(c, op); return true;
    case PR_OP_TT_MAKE_RANGE: make_range(c, op); return true;
    case PR_OP_TT_SPLAT: splat(c, op); return true;
    case PR_OP_TT_UNSPLAT: unsplat(c, op); return true;
    case PR_OP_TT_EXPAND_DIMS: expand_dims(c, op); return true;
    case PR_OP_TT_BROADCAST: broadcast(c, op); return true;
    case PR_OP_TT_RESHAPE: reshape(c, op); return true;
    case PR_OP_TT_TRANS: trans(c, op); return true;
    case PR_OP_TT_JOIN: join(c, op); return true;
    case PR_OP_TT_SPLIT: split(c, op); return true;
    case PR_OP_TT_GATHER: gather(c, op); return true;
    case PR_OP_TT_REDUCE: reduce(c, op); return true;
    case PR_OP_TT_SCAN: scan_op(c, op); return true;
    case PR_OP_TT_CAT: opaque(c, op, "concatenation, whose order is not defined"); return true;
    case PR_OP_TT_MAP_ELEMENTWISE:
        if (check_region(c, op)) opaque(c, op, NULL);
        return true;
    case PR_OP_TT_HISTOGRAM: case PR_OP_TT_DOT: case PR_OP_TT_DOT_SCALED: opaque(c, op, NULL); return true;
    default: return false;
    }
}
