/* What is a value of the lowering made of, and how are values combined? Sets of accesses, symbols,
 * obligations, guarded pointer sets, lane substitution, two-way merges. No operation is known here. */
#include "front/value.h"

/* ---- types ------------------------------------------------------------------------------- */
int pr_type_rank(const pr_type *t) { return t && t->kind == PR_TYPE_TENSOR ? t->rank : 0; }

pr_val_kind pr_val_kind_of(const pr_type *t)
{
    const pr_type *s = t ? pr_type_scalar(t) : NULL;
    if (!s) return PR_VAL_OTHER;
    if (pr_type_is_deep(t)) return PR_VAL_FLOAT; /* data only: no address is made of it */
    switch (s->kind) {
    case PR_TYPE_INT: return s->bits == 1 ? PR_VAL_BOOL : PR_VAL_INT;
    case PR_TYPE_INDEX: return PR_VAL_INT;
    case PR_TYPE_FLOAT: return PR_VAL_FLOAT;
    case PR_TYPE_POINTER:
        return s->elem && s->elem->kind == PR_TYPE_TENSOR ? PR_VAL_BPTR : PR_VAL_PTR;
    case PR_TYPE_DESC: return PR_VAL_DESC;
    default: return PR_VAL_OTHER;
    }
}

int pr_int_bits(const pr_type *t)
{
    const pr_type *s = t ? pr_type_scalar(t) : NULL;
    if (!s) return 0;
    if (s->kind == PR_TYPE_INDEX) return 64;
    return s->kind == PR_TYPE_INT ? s->bits : 0;
}

pr_box *pr_lower_box(pr_lower *c, const pr_type *t)
{
    int rank = pr_type_rank(t);
    for (int i = 0; i < c->boxes.n; i++) {
        const pr_cached_box *b = &c->boxes.data[i];
        if (b->rank == rank && (!rank || !memcmp(b->shape, t->shape, sizeof *t->shape * (size_t)rank)))
            return b->box;
    }
    pr_cached_box made = { .rank = rank, .box = pr_box_new(c->T) };
    for (int d = 0; d < rank; d++) {
        made.shape[d] = t->shape[d];
        pr_box_set(made.box, c->out->lane[d], 0, t->shape[d] > 0 ? t->shape[d] - 1 : 0);
    }
    pr_vec_push(c->arena, &c->boxes, made);
    return made.box;
}

/* ---- sets -------------------------------------------------------------------------------- */
pr_ids pr_ids_one(pr_lower *c, int id)
{
    int *v = PR_NEW_N(c->arena, int, 1);
    v[0] = id;
    return (pr_ids){ v, 1 };
}

static bool ids_contain(pr_ids a, pr_ids b)
{
    int i = 0;
    for (int j = 0; j < b.n; j++) {
        while (i < a.n && a.v[i] < b.v[j]) i++;
        if (i == a.n || a.v[i] != b.v[j]) return false;
    }
    return true;
}

pr_ids pr_ids_union(pr_lower *c, pr_ids a, pr_ids b)
{
    if (a.v == b.v && a.n == b.n) return a;
    if (a.n >= b.n && ids_contain(a, b)) return a;
    if (ids_contain(b, a)) return b;
    int *v = PR_NEW_N(c->arena, int, a.n + b.n), n = 0, i = 0, j = 0;
    while (i < a.n || j < b.n) {
        if (j == b.n || (i < a.n && a.v[i] < b.v[j])) v[n++] = a.v[i++];
        else {
            if (i < a.n && a.v[i] == b.v[j]) i++;
            v[n++] = b.v[j++];
        }
    }
    return (pr_ids){ v, n };
}

pr_ids pr_ids_meet(pr_lower *c, pr_ids a, pr_ids b)
{
    if (a.v == b.v && a.n == b.n) return a;
    if (!a.n || !b.n) return (pr_ids){ NULL, 0 };
    int *v = PR_NEW_N(c->arena, int, a.n < b.n ? a.n : b.n), n = 0;
    for (int i = 0, j = 0; i < a.n && j < b.n;) {
        if (a.v[i] < b.v[j]) i++;
        else if (a.v[i] > b.v[j]) j++;
        else { v[n++] = a.v[i++]; j++; }
    }
    return (pr_ids){ v, n };
}

/* Operations are numbered in the order of the text. */
static int last_number(const pr_region *r)
{
    for (int i = r->n_blocks - 1; i >= 0; i--) {
        const pr_block *b = r->blocks[i];
        if (!b->n_ops) continue;
        const pr_op *last = b->ops[b->n_ops - 1];
        int most = last->id;
        for (int k = 0; k < last->n_regions; k++) {
            int inner = last_number(last->regions[k]);
            if (inner > most) most = inner;
        }
        return most;
    }
    return -1;
}

pr_ids pr_ids_inside(pr_lower *c, pr_ids ids, const pr_op *op, int only)
{
    int *kept = PR_NEW_N(c->arena, int, ids.n + 1), n = 0;
    for (int i = 0; i < ids.n; i++) {
        if (ids.v[i] < 0) continue;
        const pr_access_info *a = &c->access.data[ids.v[i]];
        bool inside = false;
        for (int k = 0; k < op->n_regions && a->instance == c->instance; k++) {
            const pr_region *r = op->regions[k];
            if ((only >= 0 && k != only) || !r->n_blocks || !r->blocks[0]->n_ops) continue;
            inside = inside || (a->op_id >= r->blocks[0]->ops[0]->id && a->op_id <= last_number(r));
        }
        if (inside) kept[n++] = ids.v[i];
    }
    return (pr_ids){ kept, n };
}

void pr_mark_other_shape(pr_lower *c, pr_ids ids)
{
    for (int i = 0; i < ids.n; i++)
        if (ids.v[i] >= 0) c->access.data[ids.v[i]].other_shape = true;
}

/* ---- construction ------------------------------------------------------------------------ */
pr_val *pr_val_new(pr_lower *c, const pr_type *t)
{
    pr_val *v = PR_NEW(c->arena, pr_val);
    v->kind = pr_val_kind_of(t);
    v->type = t;
    v->held = PR_TERM_TRUE;
    return v;
}

pr_val *pr_val_clone(pr_lower *c, const pr_val *v, const pr_type *t)
{
    pr_val *r = pr_arena_copy(c->arena, v, sizeof *v);
    r->type = t;
    return r;
}

static bool same_shape(const pr_type *a, const pr_type *b)
{
    int rank = pr_type_rank(a);
    if (rank != pr_type_rank(b)) return false;
    for (int d = 0; d < rank; d++)
        if (a->shape[d] != b->shape[d]) return false;
    return true;
}

void pr_hand_on(pr_lower *c, pr_val *v, pr_carried how)
{
    enum { LOOK_BACK = 256 };      /* a way noted twice costs nothing but room */
    int i = c->carried.n > LOOK_BACK ? c->carried.n - LOOK_BACK : 0;
    for (; i < c->carried.n; i++) {
        const pr_carried *x = &c->carried.data[i];
        if (x->access == how.access && x->kind == how.kind && x->loop == how.loop && x->when.id == how.when.id) break;
    }
    if (i == c->carried.n) pr_vec_push(c->arena, &c->carried, how);
    v->carried = pr_ids_union(c, v->carried, pr_ids_one(c, i));
}

void pr_hand_on_perhaps(pr_lower *c, pr_val *v, pr_ids accesses, const pr_frame *loop)
{
    for (int i = 0; i < accesses.n; i++)
        pr_hand_on(c, v, (pr_carried){ accesses.v[i], PR_CARRIED_PERHAPS, loop, PR_TERM_NONE });
}

pr_ids pr_ids_named(pr_lower *c, pr_ids ways)
{
    pr_ids all = { NULL, 0 };
    for (int i = 0; i < ways.n; i++) all = pr_ids_union(c, all, pr_ids_one(c, c->carried.data[ways.v[i]].access));
    return all;
}

/* Ways that only one of two values has: which of them is taken is not followed. */
static void one_sided(pr_lower *c, pr_val *r, pr_ids of, pr_ids both)
{
    for (int i = 0, j = 0; i < of.n; i++) {
        while (j < both.n && both.v[j] < of.v[i]) j++;
        if (j < both.n && both.v[j] == of.v[i]) continue;
        pr_carried way = c->carried.data[of.v[i]];
        if (way.kind == PR_CARRIED_WHEN) way.kind = PR_CARRIED_PERHAPS;
        way.when = PR_TERM_NONE;
        pr_hand_on(c, r, way);
    }
}

static void inherit(pr_lower *c, pr_val *r, const pr_val *v, bool positional)
{
    r->from_memory |= v->from_memory;
    r->from_atomic |= v->from_atomic;
    r->from_address |= v->from_address || v->kind == PR_VAL_PTR || v->kind == PR_VAL_BPTR || v->kind == PR_VAL_DESC;
    if (v->gap && (!r->gap || v->gap == PR_REFUSAL_LOOP_VARIANT_ADVANCE)) {
        r->gap = v->gap;
        r->why = v->why;
    }
    r->all = pr_ids_union(c, r->all, v->all);
    if (positional && same_shape(r->type, v->type)) {
        r->pos = pr_ids_union(c, r->pos, v->pos);
        r->carried = pr_ids_union(c, r->carried, v->carried);
    }
    if (!positional || !same_shape(r->type, v->type)) pr_mark_other_shape(c, v->all);
}

pr_val *pr_val_derive(pr_lower *c, const pr_type *t, pr_val *const *from, int n, bool positional)
{
    pr_val *r = pr_val_new(c, t);
    for (int i = 0; i < n; i++) {
        inherit(c, r, from[i], positional);
        if (r->kind != PR_VAL_FLOAT) r->held = pr_and(c->T, r->held, from[i]->held);
    }
    return r;
}

pr_term pr_lane_term(pr_lower *c, int d) { return pr_var_term(c->T, c->out->lane[d]); }

pr_term pr_symbol(pr_lower *c, pr_sym_info info, const pr_type *t)
{
    pr_term args[PR_LOOP_DEPTH_MAX + PR_MAX_RANK];
    int n = 0, rank = pr_type_rank(t);
    for (int i = 0; i < c->n_iter; i++) args[n++] = c->iter[i];
    for (int d = 0; d < rank; d++) {
        if (t->shape[d] == 1 && info.kind == PR_SYM_OBSERVED) continue;   /* one lane: what one atomic returned, as of a scalar */
        args[n++] = t->shape[d] == 1 ? PR_TERM_ZERO : pr_lane_term(c, d);
    }
    return pr_app(c->T, pr_sym_new(c->T, info), args, n);
}

static pr_val *as_lost(pr_lower *c, pr_val *r, pr_refusal_kind kind, const char *why)
{
    r->target = NULL;
    r->n_target = 0;
    r->lost = kind;
    r->lost_why = why;
    return r;
}

static void as_opaque(pr_lower *c, const pr_op *op, pr_val *r, pr_refusal_kind kind, const char *why)
{
    if (!kind) kind = r->gap == PR_REFUSAL_LOOP_VARIANT_ADVANCE ? r->gap
                    : r->from_memory || r->from_atomic ? PR_REFUSAL_INDIRECT_ADDRESS
                    : r->gap ? r->gap : PR_REFUSAL_OTHER;
    r->held = PR_TERM_TRUE;
    r->addr = NULL;
    r->degrade = false;
    if (r->kind == PR_VAL_INT || r->kind == PR_VAL_BOOL) {
        int bits = pr_int_bits(r->type);
        pr_sym_info info = { .kind = PR_SYM_OPAQUE, .is_bool = r->kind == PR_VAL_BOOL,
                             .bits = bits > 120 ? 120 : bits, .access = -1,
                             .from_memory = r->from_memory, .from_atomic = r->from_atomic,
                             .refusal = kind, .reason = why, .op_id = op ? op->id : -1, .loose = c->uneven };
        r->term = pr_symbol(c, info, r->type);
        r->gap = kind;
        r->why = why;
    } else if (r->kind == PR_VAL_PTR || r->kind == PR_VAL_BPTR || r->kind == PR_VAL_DESC) {
        as_lost(c, r, kind, why);
        r->gap = kind;
        r->why = why;
    }
}

pr_val *pr_val_opaque(pr_lower *c, const pr_op *op, const pr_type *t, pr_val *const *from, int n,
                      bool positional, pr_refusal_kind kind, const char *why)
{
    pr_val *r = pr_val_new(c, t);
    for (int i = 0; i < n; i++) inherit(c, r, from[i], positional);
    if (!why) why = op ? pr_arena_printf(c->arena, "result of " PR_STR_FMT, PR_STR_ARG(op->name)) : "";
    as_opaque(c, op, r, kind, why);
    return r;
}

void pr_opaque_results(pr_lower *c, const pr_op *op, bool positional, pr_refusal_kind kind, const char *why)
{
    pr_val **from = PR_NEW_N(c->arena, pr_val *, op->n_operands + 1);
    for (int i = 0; i < op->n_operands; i++) from[i] = pr_operand(c, op, i);
    for (int i = 0; i < op->n_results; i++)
        pr_result(c, op, i, pr_val_opaque(c, op, op->results[i]->type, from, op->n_operands,
                                          positional, kind, why));
}

pr_val *pr_val_lost(pr_lower *c, const pr_type *t, pr_val *const *from, int n, pr_refusal_kind kind,
                    const char *why)
{
    pr_val *r = pr_val_derive(c, t, from, n, true);
    r->held = PR_TERM_TRUE;
    return as_lost(c, r, kind, why);
}

pr_term pr_fits_here(pr_lower *c, const pr_type *shape, pr_fits_kind kind, int bits, pr_term t)
{
    if (pr_term_none(t)) return PR_TERM_FALSE;
    if (PR_FAULT(c, PR_FAULT_FITS)) return PR_TERM_TRUE;
    pr_interval r = pr_range(pr_lower_box(c, shape), t);
    bool inside = kind == PR_FITS_NONNEG ? r.lo >= 0
                : kind == PR_FITS_BIT ? r.lo >= 0 && r.hi <= 1
                : bits > 120 || (r.lo >= pr_int_min(bits) && r.hi <= pr_int_max(bits));
    return inside ? PR_TERM_TRUE : pr_fits(c->T, kind, bits, t);
}

void pr_oblige(pr_lower *c, pr_val *v, pr_fits_kind kind, int bits, pr_term t)
{
    if (pr_term_none(t)) return;
    pr_term f = pr_fits_here(c, v->type, kind, bits, t);
    if (pr_term_is(f, PR_TERM_TRUE)) return;
    if (v->gap) v->degrade = true;
    v->held = pr_and(c->T, v->held, f);
}

pr_val *pr_val_finish(pr_lower *c, const pr_op *op, pr_val *v, pr_term t)
{
    if (pr_term_none(t)) as_opaque(c, op, v, PR_REFUSAL_NONE, "integer constant out of range");
    else if (v->degrade || (v->kind == PR_VAL_INT && pr_int_bits(v->type) > 64))
        as_opaque(c, op, v, PR_REFUSAL_NONE, v->why ? v->why : "integer wider than 64 bits");
    else v->term = t;
    return v;
}

pr_term pr_val_int(pr_lower *c, const pr_val *v)
{
    if (v->kind == PR_VAL_INT) return v->term;
    return v->kind == PR_VAL_BOOL ? pr_bool_to_int(c->T, v->term) : PR_TERM_NONE;
}

pr_term pr_val_bool(pr_lower *c, const pr_val *v)
{
    if (v->kind == PR_VAL_BOOL) return v->term;
    return v->kind == PR_VAL_INT ? pr_int_to_bool(c->T, v->term) : PR_TERM_NONE;
}

bool pr_val_const(pr_lower *c, const pr_val *v, pr_i128 *out)
{
    if (v->kind == PR_VAL_BOOL) {
        *out = pr_term_is(v->term, PR_TERM_TRUE);
        return *out || pr_term_is(v->term, PR_TERM_FALSE);
    }
    return v->kind == PR_VAL_INT && !pr_term_none(v->term) && pr_term_const(c->T, v->term, out);
}

pr_interval pr_val_range(pr_lower *c, const pr_val *v)
{
    pr_term t = pr_val_int(c, v);
    if (pr_term_none(t)) return (pr_interval){ -PR_INF, PR_INF };
    return pr_range(pr_lower_box(c, v->type), t);
}

/* ---- environment ------------------------------------------------------------------------- */
void pr_bind(pr_lower *c, const pr_value *v, pr_val *x) { c->env[v->id] = x; }

pr_val *pr_get(pr_lower *c, const pr_value *v)
{
    if (!c->env[v->id])
        c->env[v->id] = pr_val_opaque(c, v->def, v->type, NULL, 0, true, PR_REFUSAL_OTHER,
                                      "value of an operation that was not lowered");
    return c->env[v->id];
}

/* ---- components -------------------------------------------------------------------------- */
int pr_val_comps(const pr_val *v, pr_term *list, bool *guard)
{
    int n = 0;
    if (v->kind == PR_VAL_INT || v->kind == PR_VAL_BOOL) {
        guard[n] = false;
        list[n++] = v->term;
    }
    for (int i = 0; i < v->n_target; i++) {
        guard[n] = true;
        list[n++] = v->target[i].guard;
        guard[n] = false;
        list[n++] = v->target[i].offset;
    }
    for (int i = 0; v->view && i < 3 * v->view->rank; i++) {
        int d = i / 3;
        guard[n] = false;
        list[n++] = i % 3 == 0 ? v->view->shape[d] : i % 3 == 1 ? v->view->stride[d] : v->view->offset[d];
    }
    return n;
}

pr_val *pr_val_with_comps(pr_lower *c, const pr_val *v, const pr_term *list)
{
    pr_val *r = pr_val_clone(c, v, v->type);
    int n = 0;
    if (v->kind == PR_VAL_INT || v->kind == PR_VAL_BOOL) {
        r->term = list[n++];
        r->addr = NULL;
    }
    if (v->n_target) r->target = pr_arena_copy(c->arena, v->target, sizeof *v->target * (size_t)v->n_target);
    for (int i = 0; i < v->n_target; i++) {
        r->target[i].guard = list[n++];
        r->target[i].offset = list[n++];
    }
    if (v->view) {
        pr_view *w = pr_arena_copy(c->arena, v->view, sizeof *v->view);
        for (int d = 0; d < w->rank; d++) {
            w->shape[d] = list[n++];
            w->stride[d] = list[n++];
            w->offset[d] = list[n++];
        }
        r->view = w;
    }
    return r;
}

bool pr_val_same(const pr_val *a, const pr_val *b)
{
    pr_term x[PR_COMPS_MAX], y[PR_COMPS_MAX];
    bool g[PR_COMPS_MAX];
    if (a->kind != b->kind || a->lost || b->lost || a->n_target != b->n_target) return false;
    if (!a->view != !b->view || (a->view && (a->view->rank != b->view->rank ||
                                             a->view->elem_bytes != b->view->elem_bytes))) return false;
    int n = pr_val_comps(a, x, g);
    if (n != pr_val_comps(b, y, g)) return false;
    for (int i = 0; i < n; i++)
        if (!pr_term_is(x[i], y[i]) || pr_term_none(x[i])) return false;
    for (int i = 0; i < a->n_target; i++)
        if (a->target[i].base != b->target[i].base) return false;
    return true;
}

static pr_subst *lane_subst(pr_lower *c, const pr_term *map)
{
    for (int i = 0; i < c->substs.n; i++)
        if (!memcmp(c->substs.data[i]->map, map, sizeof *map * PR_MAX_RANK)) return &c->substs.data[i]->subst;
    pr_cached_subst *s = PR_NEW(c->arena, pr_cached_subst);
    uint32_t top = 0;
    for (int d = 0; d < PR_MAX_RANK; d++)
        if (c->out->lane[d].id > top) top = c->out->lane[d].id;
    pr_term *vars = PR_NEW_N(c->arena, pr_term, top + 1);
    for (int d = 0; d < PR_MAX_RANK; d++) {
        s->map[d] = map[d];
        vars[c->out->lane[d].id] = map[d];
    }
    s->subst = (pr_subst){ .T = c->T, .var_map = vars, .n_var_map = top + 1 };
    pr_vec_push(c->arena, &c->substs, s);
    return &s->subst;
}

pr_val *pr_val_relane(pr_lower *c, const pr_val *v, const pr_type *t, const pr_term *map, bool keep)
{
    pr_term full[PR_MAX_RANK] = { { 0 } }, list[PR_COMPS_MAX];
    bool guard[PR_COMPS_MAX];
    int rank = pr_type_rank(v->type), n = pr_val_comps(v, list, guard);
    for (int d = 0; d < rank; d++) full[d] = map[d];
    pr_subst *s = lane_subst(c, full);
    for (int i = 0; i < n; i++) list[i] = pr_subst_apply(s, list[i]);
    pr_val *r = pr_val_with_comps(c, v, list);
    r->type = t;
    r->held = pr_subst_apply(s, v->held);
    if (v->addr) r->addr = pr_val_relane(c, v->addr, t, map, keep);
    if (!keep) {
        r->pos = r->carried = (pr_ids){ NULL, 0 };
        pr_mark_other_shape(c, v->all);
    }
    return r;
}

/* ---- merge ------------------------------------------------------------------------------- */
static bool merge_targets(pr_lower *c, pr_val *r, pr_term cond, const pr_val *a, const pr_val *b)
{
    pr_terms *T = c->T;
    pr_target made[2 * PR_TARGETS_MAX];
    bool used[PR_TARGETS_MAX] = { false };
    int n = 0;
    for (int i = 0; i < a->n_target; i++) {
        const pr_target *x = &a->target[i];
        int twin = -1;
        for (int j = 0; j < b->n_target && twin < 0; j++)
            if (!used[j] && b->target[j].base == x->base) twin = j;
        if (twin < 0) {
            made[n++] = (pr_target){ pr_and(T, x->guard, cond), x->base, x->offset };
            continue;
        }
        const pr_target *y = &b->target[twin];
        used[twin] = true;
        made[n++] = (pr_target){ pr_select(T, cond, x->guard, y->guard), x->base,
                                 pr_select(T, cond, x->offset, y->offset) };
    }
    for (int j = 0; j < b->n_target; j++)
        if (!used[j])
            made[n++] = (pr_target){ pr_and(T, b->target[j].guard, pr_not(T, cond)),
                                     b->target[j].base, b->target[j].offset };
    if (n > PR_TARGETS_MAX) return false;
    r->target = pr_arena_copy(c->arena, made, sizeof *made * (size_t)n);
    r->n_target = n;
    return true;
}

static bool merge_views(pr_lower *c, pr_val *r, pr_term cond, const pr_val *a, const pr_val *b)
{
    if (!a->view || !b->view || a->view->rank != b->view->rank ||
        a->view->elem_bytes != b->view->elem_bytes) return false;
    pr_view *w = pr_arena_copy(c->arena, a->view, sizeof *a->view);
    for (int d = 0; d < w->rank; d++) {
        w->shape[d] = pr_select(c->T, cond, w->shape[d], b->view->shape[d]);
        w->stride[d] = pr_select(c->T, cond, w->stride[d], b->view->stride[d]);
        w->offset[d] = pr_select(c->T, cond, w->offset[d], b->view->offset[d]);
    }
    r->view = w;
    return true;
}

pr_val *pr_val_merge(pr_lower *c, const pr_op *op, const pr_val *cond, pr_val *a, pr_val *b,
                     const pr_type *t, bool strict)
{
    pr_terms *T = c->T;
    pr_term k = pr_val_bool(c, cond);
    if (pr_term_is(k, PR_TERM_TRUE) || pr_term_is(k, PR_TERM_FALSE)) {
        pr_val *arm = pr_term_is(k, PR_TERM_TRUE) ? a : b;
        if (pr_term_is(cond->held, PR_TERM_TRUE)) return arm;
        arm = pr_val_clone(c, arm, t);      /* which arm it is rests on the condition's obligations */
        arm->held = pr_and(T, arm->held, cond->held);
        return arm;
    }
    pr_val *r = pr_val_new(c, t);
    inherit(c, r, a, true);
    inherit(c, r, b, true);
    if (!strict) {
        r->pos = pr_ids_meet(c, a->pos, b->pos);
        r->carried = pr_ids_meet(c, a->carried, b->carried);
        pr_ids both = r->carried;
        one_sided(c, r, a->carried, both);
        one_sided(c, r, b->carried, both);
    }
    if (pr_val_same(a, b) && pr_term_is(a->held, b->held)) {
        pr_val *s = pr_val_clone(c, a, t);
        s->pos = r->pos;
        s->carried = r->carried;
        s->all = pr_ids_union(c, r->all, cond->all);
        return s;
    }
    pr_ids arms = r->pos, handed = r->carried;
    inherit(c, r, cond, true);
    if (!strict) {
        r->pos = arms;
        r->carried = handed;
    }
    if (pr_term_none(k)) {
        as_opaque(c, op, r, PR_REFUSAL_NONE, "select on a value that is not modelled");
        return r;
    }
    r->held = pr_and(T, cond->held, pr_and(T, pr_implies(T, k, a->held),
                                           pr_implies(T, pr_not(T, k), b->held)));
    switch (r->kind) {
    case PR_VAL_INT: return pr_val_finish(c, op, r, pr_select(T, k, pr_val_int(c, a), pr_val_int(c, b)));
    case PR_VAL_BOOL: return pr_val_finish(c, op, r, pr_select(T, k, pr_val_bool(c, a), pr_val_bool(c, b)));
    case PR_VAL_PTR: case PR_VAL_BPTR: case PR_VAL_DESC:
        if (a->lost || b->lost) return as_lost(c, r, a->lost ? a->lost : b->lost, a->lost ? a->lost_why : b->lost_why);
        if (!merge_targets(c, r, k, a, b))
            return as_lost(c, r, PR_REFUSAL_OTHER, "pointer that may start from more than 8 places");
        if (r->kind != PR_VAL_PTR && !merge_views(c, r, k, a, b))
            return as_lost(c, r, PR_REFUSAL_OTHER, "choice between block pointers of different form");
        return r;
    case PR_VAL_FLOAT: r->held = PR_TERM_TRUE; return r;
    default: return r;
    }
}

pr_val *pr_val_branch(pr_lower *c, const pr_op *op, pr_val *k)
{
    bool constant = pr_term_is(k->term, PR_TERM_TRUE) || pr_term_is(k->term, PR_TERM_FALSE);
    if (k->kind != PR_VAL_BOOL || !constant || pr_term_is(k->held, PR_TERM_TRUE)) return k;
    pr_val *v = pr_val_opaque(c, op, k->type, &k, 1, true, PR_REFUSAL_NONE, "a condition that an overflow would change");
    v->held = PR_TERM_TRUE;
    return v;
}
