/* What does a loop carry, and how often does it run? ttir-front.md 3.5, 6.3, 6.4, 6.5.
 *
 * A loop with carried values is lowered twice. The first pass (a probe, which emits nothing) binds every
 * carried value to placeholder symbols over its own lanes and looks at what is yielded: the value itself,
 * a loop-invariant step away from it, a rotation of others, a function of the previous iteration, or, for
 * a small constant trip count, whatever the iterations give one by one. The second pass runs the body with
 * the solution as a term in the iteration number. What has no solution is an opaque symbol an iteration. */
#include "front/loop_probe.h"

typedef pr_loop_probe probe;
typedef pr_solution solution;

/* ---- running the body once -------------------------------------------------------------------- */
static bool run_body(pr_lower *c, const probe *p, pr_term k, pr_val **vals, pr_val **yields)
{
    if (p->iv) {
        pr_val *iv = pr_val_derive(c, p->iv->type, p->iv_from, 2, false);
        iv->held = PR_TERM_TRUE;
        iv->term = pr_add(c->T, p->iv_lower, pr_mul(c->T, k, p->iv_step));
        pr_bind(c, p->iv, pr_val_finish(c, p->op, iv, iv->term));
    }
    for (int i = 0; i < p->n && p->pre; i++) pr_bind(c, p->pre->args[i], vals[i]);
    for (int i = 0; i < p->n_pass; i++) pr_bind(c, p->body->args[p->first_arg + i], vals[p->pass ? p->pass[i] : i]);
    if (p->pre) pr_lower_block(c, p->pre);
    const pr_op *t = pr_lower_block(c, p->body);
    if (!t || t->opcode != PR_OP_SCF_YIELD || t->n_operands < p->n) return false;
    for (int i = 0; i < p->n; i++) yields[i] = pr_operand(c, t, i);
    return true;
}

/* ---- placeholders ----------------------------------------------------------------------------- */
static pr_val *replace_comps(pr_lower *c, const pr_val *v, pr_refusal_kind kind, const char *why,
                             probe *owner, int slot)
{
    pr_term list[PR_COMPS_MAX];
    bool guard[PR_COMPS_MAX];
    int n = pr_val_comps(v, list, guard), bits = v->kind == PR_VAL_INT ? pr_int_bits(v->type) : 64;
    for (int i = 0; i < n; i++) {
        if (guard[i]) continue;
        pr_sym_info info = { .kind = PR_SYM_OPAQUE, .is_bool = v->kind == PR_VAL_BOOL,
                             .bits = bits > 120 ? 120 : bits, .access = -1, .from_memory = v->from_memory,
                             .from_atomic = v->from_atomic, .refusal = kind, .reason = why,
                             .op_id = -1 };
        list[i] = pr_symbol(c, info, v->type);
        pr_placeholder h = { pr_syms_count(c->T) - 1, owner, slot, i };
        if (owner) pr_vec_push(c->arena, &c->holders, h);
    }
    pr_val *r = pr_val_with_comps(c, v, list);
    r->held = PR_TERM_TRUE;
    r->pos = r->carried = (pr_ids){ NULL, 0 };
    return r;
}

static pr_val *make_holder(pr_lower *c, probe *p, int i)
{
    int n_iter = c->n_iter;
    c->n_iter = 0;
    pr_val *h = replace_comps(c, p->init[i], PR_REFUSAL_LOOP_VARIANT_ADVANCE, "carried value", p, i);
    c->n_iter = n_iter;
    h->from_memory = h->from_atomic = false;
    h->gap = PR_REFUSAL_NONE;
    h->all = h->pos = pr_ids_one(c, -(p->marker + i));
    return h;
}

static bool is_of_loop(void *user, const pr_terms *T, pr_term t)
{
    const probe *p = user;
    if (pr_term_op_of(T, t) == PR_TERM_OP_APP) return pr_term_sym(T, t).id >= p->mark;
    return pr_term_op_of(T, t) == PR_TERM_OP_VAR && pr_term_var(T, t).id == p->k.id;
}

bool pr_loop_invariant(pr_lower *c, probe *p, pr_term t)
{
    return !pr_term_none(t) && !pr_term_any(c->T, t, is_of_loop, p);
}

static const pr_placeholder *holder_of(const pr_lower *c, uint32_t sym)
{
    int lo = 0, hi = c->holders.n;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (c->holders.data[mid].sym < sym) lo = mid + 1;
        else hi = mid;
    }
    return lo < c->holders.n && c->holders.data[lo].sym == sym ? &c->holders.data[lo] : NULL;
}

/* ---- values at an iteration --------------------------------------------------------------------- */
static pr_val *value_at(pr_lower *c, probe *p, int i, pr_term k);

static pr_val *condition(pr_lower *c, pr_term t)
{
    static const pr_type i1 = { .kind = PR_TYPE_INT, .bits = 1 };
    pr_val *v = pr_val_new(c, &i1);
    v->term = t;
    return v;
}

static int comp_bits(const pr_val *v, int comp)
{
    if (v->kind == PR_VAL_INT) return pr_int_bits(v->type);
    bool offset = v->view && comp >= 2 * v->n_target && (comp - 2 * v->n_target) % 3 == 2;
    return v->kind == PR_VAL_BPTR && offset ? 32 : 0;
}

static pr_term affine_comp(pr_lower *c, const solution *s, const pr_term *init, int i, pr_term k)
{
    return pr_add(c->T, init[i], pr_mul(c->T, k, s->step[i]));
}

typedef struct holder_map { pr_lower *c; probe *p; pr_val **vals; pr_subst *lanes; } holder_map;

static pr_term replace_holder(void *user, pr_terms *T, pr_term t)
{
    holder_map *m = user;
    const pr_placeholder *h = holder_of(m->c, pr_term_sym(T, t).id);
    if (!h || h->probe != m->p || !m->vals[h->slot]) return t;
    pr_term list[PR_COMPS_MAX], map[PR_MAX_RANK] = { { 0 } };
    bool guard[PR_COMPS_MAX];
    pr_val_comps(m->vals[h->slot], list, guard);
    int rank = pr_term_arity(T, t);
    uint32_t top = 0;
    bool moved = false;
    for (int d = 0; d < rank && d < PR_MAX_RANK; d++) {
        map[d] = pr_term_child(T, t, d);
        moved |= !pr_term_is(map[d], pr_lane_term(m->c, d)) && m->vals[h->slot]->type->shape[d] != 1;
        if (m->c->out->lane[d].id > top) top = m->c->out->lane[d].id;
    }
    if (!moved) return list[h->comp];
    pr_term *vars = PR_NEW_N(m->c->arena, pr_term, top + 1);
    for (int d = 0; d < rank && d < PR_MAX_RANK; d++) vars[m->c->out->lane[d].id] = map[d];
    pr_subst s = { .T = T, .var_map = vars, .n_var_map = top + 1 };
    return pr_subst_apply(&s, list[h->comp]);
}

typedef struct slot_test { const pr_lower *c; const probe *p; int slot; } slot_test;

static bool is_of_slot(void *user, const pr_terms *T, pr_term t)
{
    const slot_test *s = user;
    if (pr_term_op_of(T, t) != PR_TERM_OP_APP) return false;
    const pr_placeholder *h = holder_of(s->c, pr_term_sym(T, t).id);
    return h && h->probe == s->p && h->slot == s->slot;
}

static bool uses_slot(pr_lower *c, probe *p, const pr_val *v, int slot)
{
    pr_term list[PR_COMPS_MAX];
    bool guard[PR_COMPS_MAX];
    slot_test s = { c, p, slot };
    int n = pr_val_comps(v, list, guard);
    for (int i = 0; i < n; i++)
        if (pr_term_any(c->T, list[i], is_of_slot, &s)) return true;
    return pr_term_any(c->T, v->held, is_of_slot, &s);
}

/* v (made in the probe) at iteration k: the probe's iteration variable and placeholders replaced. */
static pr_val *replay(pr_lower *c, probe *p, const pr_val *v, pr_term k)
{
    pr_val **vals = PR_NEW_N(c->arena, pr_val *, p->n + 1);
    pr_term held = PR_TERM_TRUE;
    for (int j = 0; j < p->n; j++) {
        if (!uses_slot(c, p, v, j)) continue;
        vals[j] = value_at(c, p, j, k);
        held = pr_and(c->T, held, vals[j]->held);
    }
    holder_map m = { c, p, vals, NULL };
    pr_term *vars = PR_NEW_N(c->arena, pr_term, p->k.id + 1);
    vars[p->k.id] = k;
    pr_subst s = { .T = c->T, .var_map = vars, .n_var_map = p->k.id + 1, .app = replace_holder, .user = &m };
    pr_term list[PR_COMPS_MAX];
    bool guard[PR_COMPS_MAX];
    int n = pr_val_comps(v, list, guard);
    for (int i = 0; i < n; i++) list[i] = pr_subst_apply(&s, list[i]);
    pr_val *r = pr_val_with_comps(c, v, list);
    r->held = pr_and(c->T, held, pr_subst_apply(&s, v->held));
    return r;
}

static bool same_form(const pr_val *a, const pr_val *b)
{
    pr_term x[PR_COMPS_MAX], y[PR_COMPS_MAX];
    bool g[PR_COMPS_MAX];
    if (a->kind != b->kind || a->lost || b->lost || a->n_target != b->n_target) return false;
    if (!a->view != !b->view || (a->view && (a->view->rank != b->view->rank ||
                                             a->view->elem_bytes != b->view->elem_bytes))) return false;
    int n = pr_val_comps(a, x, g);
    if (n != pr_val_comps(b, y, g)) return false;
    for (int i = 0; i < n; i++)
        if (g[i] && !pr_term_is(x[i], y[i])) return false;
    for (int i = 0; i < a->n_target; i++)
        if (a->target[i].base != b->target[i].base) return false;
    return true;
}

static pr_val *affine_at(pr_lower *c, probe *p, int i, pr_term k)
{
    pr_terms *T = c->T;
    const solution *s = &p->sol[i];
    const pr_val *v0 = p->init[i];
    pr_term init[PR_COMPS_MAX], list[PR_COMPS_MAX];
    bool guard[PR_COMPS_MAX];
    int n = pr_val_comps(v0, init, guard);
    pr_term held = pr_and(T, v0->held, s->kept);
    for (int j = 0; j < n; j++) {
        list[j] = guard[j] ? init[j] : affine_comp(c, s, init, j, k);
        if (!guard[j] && comp_bits(v0, j))
            held = pr_and(T, held, pr_fits_here(c, v0->type, PR_FITS_SIGNED, comp_bits(v0, j), list[j]));
    }
    for (int f = 0; f < s->later.n; f++) { /* monotone in k: the first and the latest step suffice */
        pr_term ends[2] = { PR_TERM_ZERO, pr_sub(T, k, pr_const(T, 1)) }, both = PR_TERM_TRUE;
        for (int e = 0; e < 2; e++) {
            pr_val *at = pr_val_with_comps(c, v0, init);
            pr_term now[PR_COMPS_MAX];
            for (int j = 0; j < n; j++) now[j] = guard[j] ? init[j] : affine_comp(c, s, init, j, ends[e]);
            at = pr_val_with_comps(c, at, now);
            pr_val **vals = PR_NEW_N(c->arena, pr_val *, p->n + 1);
            vals[i] = at;
            holder_map m = { c, p, vals, NULL };
            pr_subst sub = { .T = T, .app = replace_holder, .user = &m };
            both = pr_and(T, both, pr_subst_apply(&sub, s->later.data[f]));
        }
        held = pr_and(T, held, pr_implies(T, pr_le(T, pr_const(T, 1), k), both));
    }
    pr_val *r = pr_val_with_comps(c, v0, list);
    r->held = held;
    return r;
}

static pr_val *chain_at(pr_lower *c, probe *p, int i, pr_term k)
{
    const solution *s = &p->sol[i];
    pr_i128 at;
    if (pr_term_const(c->T, k, &at) && at >= 0 && at <= p->trip) return s->chain[(int)at];
    pr_val *v = s->chain[(int)p->trip - 1];
    for (int j = (int)p->trip - 2; j >= 0; j--)
        v = pr_val_merge(c, p->op, condition(c, pr_eq(c->T, k, pr_const(c->T, j))), s->chain[j], v,
                         p->init[i]->type, false);
    return v;
}

static pr_val *rotation_at(pr_lower *c, probe *p, int i, pr_term k)
{
    int period = p->sol[i].period, slot = i, order[PR_MAX_RANK];
    for (int r = 0; r < period; r++, slot = p->sol[slot].next) order[r] = slot;
    pr_term turn = pr_fmod_t(c->T, k, pr_const(c->T, period));
    pr_val *v = p->init[order[period - 1]];
    for (int r = period - 2; r >= 0; r--)
        v = pr_val_merge(c, p->op, condition(c, pr_eq(c->T, turn, pr_const(c->T, r))), p->init[order[r]], v,
                         p->init[i]->type, false);
    return v;
}

static pr_val *opaque_at(pr_lower *c, probe *p, int i)
{
    const solution *s = &p->sol[i];
    static const char why[] = "a value carried through a loop that is not affine in the iteration";
    pr_val *v = pr_val_clone(c, p->init[i], p->init[i]->type);
    v->from_memory = s->from_memory;
    v->from_atomic = s->from_atomic;
    v->from_address = s->from_address;
    if (same_form(v, p->yield[i]) && pr_val_kind_of(v->type) != PR_VAL_DESC)
        v = replace_comps(c, v, PR_REFUSAL_LOOP_VARIANT_ADVANCE, why, NULL, 0);
    else {
        v->lost = PR_REFUSAL_LOOP_VARIANT_ADVANCE;
        v->lost_why = why;
        v->n_target = 0;
        v->view = NULL;
        v->held = PR_TERM_TRUE;
    }
    v->gap = PR_REFUSAL_LOOP_VARIANT_ADVANCE;
    v->why = why;
    return v;
}

static pr_val *value_at(pr_lower *c, probe *p, int i, pr_term k)
{
    const solution *s = &p->sol[i];
    pr_val *v = NULL;
    switch (s->kind) {
    case SOL_INVARIANT: return p->init[i];
    case SOL_PLAIN: v = pr_val_clone(c, p->init[i], p->init[i]->type); break;
    case SOL_LOST:
        v = pr_val_clone(c, p->init[i]->lost ? p->init[i] : p->yield[i], p->init[i]->type);
        v->view = NULL;
        v->n_target = 0;
        v->held = PR_TERM_TRUE;
        break;
    case SOL_AFFINE: v = affine_at(c, p, i, k); break;
    case SOL_ROTATION: v = rotation_at(c, p, i, k); break;
    case SOL_LAG: {
        pr_val *before = replay(c, p, p->yield[i], pr_sub(c->T, k, pr_const(c->T, 1)));
        v = pr_val_merge(c, p->op, condition(c, pr_eq(c->T, k, PR_TERM_ZERO)), p->init[i], before,
                         p->init[i]->type, false);
        break;
    }
    case SOL_CHAIN: v = chain_at(c, p, i, k); break;
    case SOL_NONE: case SOL_OPAQUE: v = opaque_at(c, p, i); break;
    }
    v = pr_val_clone(c, v, v->type);
    v->pos = v->carried = (pr_ids){ NULL, 0 };
    v->all = s->all;
    v->from_memory = s->from_memory;
    v->from_atomic = s->from_atomic;
    v->from_address = s->from_address;
    return v;
}

/* ---- solving ------------------------------------------------------------------------------------- */
static bool solve_affine(pr_lower *c, probe *p, int i)
{
    pr_terms *T = c->T;
    const pr_val *h = p->holder[i], *y = p->yield[i];
    solution *s = &p->sol[i];
    pr_term from[PR_COMPS_MAX], to[PR_COMPS_MAX];
    bool guard[PR_COMPS_MAX];
    if (!same_form(h, y)) return false;
    int n = pr_val_comps(h, from, guard);
    pr_val_comps(y, to, guard);
    for (int j = 0; j < n; j++) {
        if (guard[j]) continue;
        if (h->kind == PR_VAL_BOOL) return false;
        s->step[j] = pr_sub(T, to[j], from[j]);
        if (!pr_loop_invariant(c, p, s->step[j])) return false;
    }
    pr_term_vec parts = { 0 };
    pr_conjuncts(T, y->held, &parts, c->arena);
    s->kept = PR_TERM_TRUE;
    s->later = (pr_term_vec){ 0 };
    for (int q = 0; q < parts.n; q++) {
        pr_term f = parts.data[q];
        if (pr_loop_invariant(c, p, f)) {
            s->kept = pr_and(T, s->kept, f);
            continue;
        }
        if (pr_term_op_of(T, f) != PR_TERM_OP_FITS) return false;
        int at = -1;
        for (int j = 0; j < n && at < 0; j++)
            if (!guard[j] && pr_loop_invariant(c, p, pr_sub(T, pr_term_child(T, f, 0), from[j]))) at = j;
        if (at < 0) return false;
        /* A sum of the same width may wrap and come back: only the running value has to fit. */
        if (pr_term_fits_kind(T, f) == PR_FITS_SIGNED && pr_term_bits(T, f) == comp_bits(h, at)) continue;
        pr_vec_push(c->arena, &s->later, f);
    }
    s->kind = SOL_AFFINE;
    return true;
}

static void solve_rotations(pr_lower *c, probe *p)
{
    for (int i = 0; i < p->n; i++) {
        p->sol[i].next = -1;
        if (p->sol[i].kind != SOL_NONE) continue;
        for (int j = 0; j < p->n && p->sol[i].next < 0; j++)
            if (p->sol[j].kind == SOL_NONE && pr_type_eq(p->init[i]->type, p->init[j]->type) &&
                pr_val_same(p->yield[i], p->holder[j]) && pr_term_is(p->yield[i]->held, PR_TERM_TRUE))
                p->sol[i].next = j;
    }
    for (int i = 0; i < p->n; i++) {
        int steps = 1, j = p->sol[i].next;
        while (j >= 0 && j != i && steps <= PR_MAX_RANK) {
            j = p->sol[j].next;
            steps++;
        }
        if (j == i && steps <= PR_MAX_RANK) p->sol[i].period = steps;
    }
    for (int i = 0; i < p->n; i++)
        if (p->sol[i].period) p->sol[i].kind = SOL_ROTATION;
}

typedef struct lag_test { pr_lower *c; probe *p; } lag_test;

static bool blocks_lag(void *user, const pr_terms *T, pr_term t)
{
    lag_test *l = user;
    if (pr_term_op_of(T, t) != PR_TERM_OP_APP || pr_term_sym(T, t).id < l->p->mark) return false;
    /* what the body loads, or an atomic returns there, is named by the symbol's arguments: the iteration */
    pr_sym_kind kind = pr_sym_get(T, pr_term_sym(T, t))->kind;
    if (kind == PR_SYM_LOADED || kind == PR_SYM_OBSERVED) return false;
    const pr_placeholder *h = holder_of(l->c, pr_term_sym(T, t).id);
    if (!h || h->probe != l->p) return true;
    pr_sol_kind k = l->p->sol[h->slot].kind;
    return k != SOL_INVARIANT && k != SOL_AFFINE && k != SOL_ROTATION && k != SOL_LAG;
}

static bool solve_lag(pr_lower *c, probe *p, int i)
{
    pr_term list[PR_COMPS_MAX];
    bool guard[PR_COMPS_MAX];
    const pr_val *y = p->yield[i];
    lag_test l = { c, p };
    if (y->lost || p->init[i]->lost || y->kind == PR_VAL_BPTR || y->kind == PR_VAL_DESC) return false;
    int n = pr_val_comps(y, list, guard);
    for (int j = 0; j < n; j++)
        if (pr_term_none(list[j]) || pr_term_any(c->T, list[j], blocks_lag, &l)) return false;
    if (pr_term_none(y->held) || pr_term_any(c->T, y->held, blocks_lag, &l)) return false;
    p->sol[i].kind = SOL_LAG;
    return true;
}

/* Made by this iteration and not a function of it: a loaded value is one, named by its symbol's arguments. */
static bool of_iteration(void *user, const pr_terms *T, pr_term t)
{
    if (pr_term_op_of(T, t) == PR_TERM_OP_APP && pr_sym_get(T, pr_term_sym(T, t))->kind == PR_SYM_LOADED) return false;
    return is_of_loop(user, T, t);
}

static bool is_known_link(pr_lower *c, probe *p, pr_term t)
{
    return !pr_term_none(t) && !pr_term_any(c->T, t, of_iteration, p);
}

/* Follows a constant number of iterations one by one for what has no closed form. */
static void solve_chains(pr_lower *c, probe *p)
{
    int trip = (int)p->trip;
    bool wanted = false;
    for (int i = 0; i < p->n; i++) wanted |= p->sol[i].kind == SOL_NONE;
    if (!wanted) return;
    pr_val **now = PR_NEW_N(c->arena, pr_val *, p->n + 1), **next = PR_NEW_N(c->arena, pr_val *, p->n + 1);
    uint32_t mark = p->mark;
    p->mark = pr_syms_count(c->T);
    for (int i = 0; i < p->n; i++) {
        now[i] = p->init[i];
        p->sol[i].chain = PR_NEW_N(c->arena, pr_val *, trip + 1);
    }
    for (int k = 0; k <= trip; k++) {
        for (int i = 0; i < p->n; i++) p->sol[i].chain[k] = now[i];
        if (k == trip) break;
        c->iter[c->n_iter - 1] = pr_const(c->T, k);
        if (!run_body(c, p, pr_const(c->T, k), now, next)) break;
        for (int i = 0; i < p->n; i++) {
            pr_term list[PR_COMPS_MAX];
            bool guard[PR_COMPS_MAX], fine = !next[i]->lost && next[i]->kind == p->init[i]->kind;
            int n = pr_val_comps(next[i], list, guard);
            for (int j = 0; j < n && fine; j++) fine = is_known_link(c, p, list[j]);
            fine = fine && is_known_link(c, p, next[i]->held);
            now[i] = next[i];
            if (!fine && p->sol[i].kind == SOL_NONE) p->sol[i].kind = SOL_OPAQUE;
        }
    }
    p->mark = mark;
    for (int i = 0; i < p->n; i++)
        if (p->sol[i].kind == SOL_NONE && !c->exhausted) p->sol[i].kind = SOL_CHAIN;
}

static void close_dependencies(pr_lower *c, probe *p)
{
    for (int i = 0; i < p->n; i++) {
        solution *s = &p->sol[i];
        s->all = pr_ids_union(c, p->init[i]->all, p->yield[i]->all);
        s->from_memory = p->init[i]->from_memory || p->yield[i]->from_memory;
        s->from_atomic = p->init[i]->from_atomic || p->yield[i]->from_atomic;
        s->from_address = p->init[i]->from_address || p->yield[i]->from_address;
    }
    bool more = true;
    for (int round = 0; round < p->n && more; round++) {
        more = false;
        for (int i = 0; i < p->n; i++) {
            solution *s = &p->sol[i], was = *s;
            pr_ids all = s->all;
            for (int m = 0; m < all.n; m++) {
                int j = -all.v[m] - p->marker;
                if (all.v[m] >= 0 || j < 0 || j >= p->n || j == i) continue;
                s->all = pr_ids_union(c, s->all, p->sol[j].all);
                s->from_memory |= p->sol[j].from_memory;
                s->from_atomic |= p->sol[j].from_atomic;
                s->from_address |= p->sol[j].from_address;
            }
            more = more || s->all.n != was.all.n || s->from_memory != was.from_memory || s->from_atomic != was.from_atomic
                || s->from_address != was.from_address;
        }
    }
    for (int i = 0; i < p->n; i++) {
        int *kept = PR_NEW_N(c->arena, int, p->sol[i].all.n + 1), n = 0;
        for (int m = 0; m < p->sol[i].all.n; m++) {
            int id = p->sol[i].all.v[m];
            if (id < 0 && -id >= p->marker && -id < p->marker + p->n) continue;
            kept[n++] = id;
        }
        p->sol[i].all = (pr_ids){ kept, n };
    }
}

static pr_var iteration(pr_lower *c, const probe *p, int *number)
{
    *number = c->dry ? (1 << 20) + c->dry_loops++ : c->out->n_loops++;
    return pr_var_new(c->T, (pr_var_info){ .role = PR_ROLE_ITER, .index = *number, .copy = PR_COPY_NONE,
                                           .lo = 0, .hi = p->k_most,
                                           .name = pr_arena_printf(c->arena, "k%d", *number) });
}

/* First pass: binds placeholders, runs the body, keeps what it yields. */
bool pr_loop_probe_body(pr_lower *c, probe *p)
{
    int number;
    bool fine = true;
    p->mark = pr_syms_count(c->T);
    p->marker = 1 + c->n_probes;
    c->n_probes += p->n;
    p->holder = PR_NEW_N(c->arena, pr_val *, p->n + 1);
    p->yield = PR_NEW_N(c->arena, pr_val *, p->n + 1);
    p->sol = PR_NEW_N(c->arena, solution, p->n + 1);
    for (int i = 0; i < p->n; i++) p->holder[i] = make_holder(c, p, i);
    if (c->dry >= PR_PROBE_DEPTH_MAX) pr_exhaust(c, p->op, "loops with carried values are nested too deeply");
    c->dry++;
    p->k = iteration(c, p, &number);
    c->iter[c->n_iter++] = pr_var_term(c->T, p->k);
    fine = run_body(c, p, pr_var_term(c->T, p->k), p->holder, p->yield);
    c->n_iter--;
    c->dry--;
    return fine;
}

static bool has(pr_ids s, int id)
{
    for (int i = 0; i < s.n; i++)
        if (s.v[i] == id) return true;
    return false;
}

static pr_ids others(pr_lower *c, pr_ids s, pr_ids without)
{
    int *kept = PR_NEW_N(c->arena, int, s.n + 1), n = 0;
    for (int i = 0; i < s.n; i++)
        if (!has(without, s.v[i])) kept[n++] = s.v[i];
    return (pr_ids){ kept, n };
}

static void solve(pr_lower *c, probe *p)
{
    close_dependencies(c, p);
    for (int i = 0; i < p->n; i++) {
        solution *s = &p->sol[i];
        const pr_val *h = p->holder[i], *y = p->yield[i];
        if (h->kind == PR_VAL_FLOAT || h->kind == PR_VAL_OTHER) s->kind = SOL_PLAIN;
        else if (h->lost || y->lost) s->kind = SOL_LOST;
        else if (pr_val_same(h, y) && pr_term_is(y->held, PR_TERM_TRUE)) s->kind = SOL_INVARIANT;
        else solve_affine(c, p, i);
        if (s->kind != SOL_INVARIANT) pr_mark_other_shape(c, others(c, y->all, y->pos));
    }
    solve_rotations(c, p);
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < p->n; i++)
            if (p->sol[i].kind == SOL_NONE && solve_lag(c, p, i)) more = true;
    }
    if (p->trip >= 0 && p->trip <= c->o.max_unroll) {
        c->dry++;
        c->n_iter++;
        solve_chains(c, p);
        c->n_iter--;
        c->dry--;
    }
    for (int i = 0; i < p->n; i++)
        if (p->sol[i].kind == SOL_NONE || c->exhausted)
            p->sol[i].kind = p->sol[i].kind == SOL_PLAIN ? SOL_PLAIN : p->sol[i].kind == SOL_LOST ? SOL_LOST : SOL_OPAQUE;
}

/* ---- the loop ------------------------------------------------------------------------------------ */
pr_term pr_loop_trip(pr_lower *c, const probe *p)
{
    pr_terms *T = c->T;
    if (p->trip >= 0) return pr_const(T, p->trip);
    pr_term span = pr_sub(T, p->upper, p->lower);
    pr_term up = pr_add(T, span, pr_sub(T, p->step, pr_const(T, 1)));
    return pr_max(T, PR_TERM_ZERO, pr_fdiv_t(T, up, p->step));
}

/* What the trip count rests on: the bounds, a counter that ends without wrapping, a step that is positive
 * (an access in the loop is refused by the encoder when it is not; a result of the loop is not an access). */
static pr_term counted_held(pr_lower *c, const probe *p)
{
    pr_terms *T = c->T;
    int bits = p->iv ? pr_int_bits(p->iv->type) : 64;
    pr_term ends = pr_implies(T, pr_lt(T, p->lower, p->upper), p->increment_held);
    pr_term moves = pr_fits_here(c, NULL, PR_FITS_NONNEG, bits, pr_sub(T, p->step, pr_const(T, 1)));
    return pr_and(T, p->bounds_held, pr_and(T, ends, moves));
}

static void set_results(pr_lower *c, const pr_op *op, probe *p, pr_val **v)
{
    for (int i = 0; i < p->n_pass && i < op->n_results; i++) pr_result(c, op, i, v[p->pass ? p->pass[i] : i]);
}

pr_frame *pr_loop_push(pr_lower *c, const probe *p)
{
    pr_frame *f = PR_NEW(c->arena, pr_frame);
    *f = (pr_frame){ .outer = c->frame, .kind = PR_FRAME_LOOP, .depth = c->frame ? c->frame->depth + 1 : 1,
                     .loc = pr_loc_of(p->op), .cond = PR_TERM_TRUE, .held = PR_TERM_TRUE,
                     .lower = p->lower, .upper = p->upper, .step = p->step,
                     .bounds_held = p->bounds_held, .increment_held = p->increment_held };
    f->k = iteration(c, p, &f->loop);
    c->frame = f;
    c->control = pr_ids_union(c, c->control, p->bound_ids);
    for (int i = 0; i < p->bound_ids.n; i++)
        if (p->bound_ids.v[i] >= 0) c->access.data[p->bound_ids.v[i]].path = true;
    c->iter[c->n_iter++] = pr_var_term(c->T, f->k);
    return f;
}

void pr_loop_refuse(pr_lower *c, const pr_op *op, const char *why)
{
    pr_refuse(c, op, PR_REFUSAL_CONTROL_FLOW, "%s", why);
    pr_opaque_results(c, op, false, PR_REFUSAL_NONE, NULL);
}

/* Is each value of slot i made lane by lane from the one before? */
static bool accumulates(const probe *p, int i) { return has(p->yield[i]->pos, -(p->marker + i)); }

static void hand_on(pr_lower *c, pr_ids ids, pr_carried_kind kind, const pr_frame *f, pr_term when, pr_val *v)
{
    for (int i = 0; i < ids.n; i++) {
        if (ids.v[i] >= 0) pr_hand_on(c, v, (pr_carried){ ids.v[i], kind, f, when });
        else pr_hand_on_perhaps(c, v, pr_ids_one(c, ids.v[i]), f);   /* of a loop around this one, which is probed */
    }
}

/* Adds what slot j may be made from, also through other slots; seen: slots that were looked at. */
static pr_ids all_of_slot(pr_lower *c, const probe *p, int j, bool *seen, pr_ids all)
{
    if (seen[j]) return all;
    seen[j] = true;
    const pr_val *of[] = { p->init[j], p->yield[j] };
    for (int k = 0; k < 2; k++) {
        pr_ids from = pr_ids_union(c, of[k]->pos, pr_ids_named(c, of[k]->carried));
        for (int m = 0; m < from.n; m++) {
            int slot = -from.v[m] - p->marker;
            if (from.v[m] < 0 && slot >= 0 && slot < p->n) all = all_of_slot(c, p, slot, seen, all);
            else all = pr_ids_union(c, all, pr_ids_one(c, from.v[m]));
        }
    }
    return all;
}

/* What slot i may be made from in other ways than those that carry_dependencies and result_dependencies give: loads before the loop,
 * once an iteration has ended (`ended`), exactly; through other slots and branches in some iterations only, which makes no order and no
 * certain race. */
static void other_ways(pr_lower *c, const probe *p, int i, pr_ids known, const pr_frame *f, pr_term ended, pr_val *v)
{
    const pr_val *y = p->yield[i];
    pr_ids open = { NULL, 0 }, named = pr_ids_named(c, y->carried), from = pr_ids_union(c, y->pos, named);
    bool *seen = PR_NEW_N(c->arena, bool, p->n + 1);
    if (!accumulates(p, i)) open = pr_ids_named(c, p->init[i]->carried);
    for (int m = 0; m < from.n; m++) {
        int slot = -from.v[m] - p->marker;
        if (from.v[m] >= 0 && !has(named, from.v[m])) {
            if (!has(known, from.v[m])) pr_hand_on(c, v, (pr_carried){ from.v[m], PR_CARRIED_WHEN, NULL, ended });
        } else if (from.v[m] >= 0 || slot < 0 || slot >= p->n) {
            open = pr_ids_union(c, open, pr_ids_one(c, from.v[m]));
        } else if (slot != i || has(named, from.v[m])) {
            open = all_of_slot(c, p, slot, seen, open);
        }
    }
    for (int m = 0; m < open.n; m++)
        if (!has(known, open.v[m]) || has(named, open.v[m])) pr_hand_on_perhaps(c, v, pr_ids_one(c, open.v[m]), f);
}

/* What the value of slot i in an iteration of loop f is made from. */
static void carry_dependencies(pr_lower *c, const probe *p, int i, const pr_frame *f, pr_val *v)
{
    pr_ids inside = pr_ids_inside(c, p->yield[i]->pos, p->op, -1);
    pr_term ended = pr_lt(c->T, PR_TERM_ZERO, pr_var_term(c->T, f->k));
    if (accumulates(p, i)) {
        v->pos = p->init[i]->pos;
        v->carried = p->init[i]->carried;
        hand_on(c, inside, PR_CARRIED_EARLIER, f, PR_TERM_TRUE, v);
        other_ways(c, p, i, pr_ids_union(c, inside, v->pos), f, ended, v);
    } else {
        hand_on(c, p->init[i]->pos, PR_CARRIED_FIRST, f, PR_TERM_TRUE, v);
        hand_on(c, inside, PR_CARRIED_BEFORE, f, PR_TERM_TRUE, v);
        other_ways(c, p, i, inside, f, ended, v);
    }
}

/* The same behind the loop: an accumulator is made from what it started with and all that the iterations read. */
static void result_dependencies(pr_lower *c, const probe *p, int i, const pr_frame *f, pr_val *v)
{
    pr_ids inside = pr_ids_inside(c, p->yield[i]->pos, p->op, -1);
    pr_term never = pr_and(c->T, p->bounds_held, pr_le(c->T, p->upper, p->lower));
    pr_term ended = p->n_more ? PR_TERM_NONE : pr_and(c->T, p->bounds_held, pr_lt(c->T, p->lower, p->upper));
    if (accumulates(p, i)) {
        v->pos = pr_ids_union(c, p->init[i]->pos, inside);
        v->carried = p->init[i]->carried;
        other_ways(c, p, i, v->pos, f, ended, v);
    } else if (p->n_more) {        /* which turn is the last one, and whether there is one, is not known */
        hand_on(c, inside, PR_CARRIED_WHEN, NULL, PR_TERM_NONE, v);
        hand_on(c, p->init[i]->pos, PR_CARRIED_WHEN, NULL, PR_TERM_NONE, v);
        other_ways(c, p, i, inside, f, ended, v);
    } else {
        hand_on(c, inside, PR_CARRIED_FINAL, f, PR_TERM_TRUE, v);
        hand_on(c, p->init[i]->pos, PR_CARRIED_WHEN, NULL, never, v);
        other_ways(c, p, i, inside, f, ended, v);
    }
}

/* The conditions beside the counting one, at turn k, and that the turns before were run. */
static void push_more(pr_lower *c, const pr_op *op, probe *p, pr_term k)
{
    static const pr_type i1 = { .kind = PR_TYPE_INT, .bits = 1 };
    pr_val *ran = pr_val_opaque(c, op, &i1, NULL, 0, false, PR_REFUSAL_NONE, "turns before this one were run");
    pr_term all = ran->term, held = PR_TERM_TRUE;
    pr_ids ids = { NULL, 0 };
    for (int i = 0; i < p->n_more; i++) {
        pr_val *v = replay(c, p, p->more[i], k);
        all = pr_and(c->T, all, v->term);
        held = pr_and(c->T, held, v->held);
        ids = pr_ids_union(c, ids, p->more[i]->all);
    }
    const pr_frame *outer = c->frame;
    pr_push_cond(c, op, all, held, ids);
    if (p->drawn && c->frame != outer) ((pr_frame *)c->frame)->turn = true;
}

/* p: bounds set, probed when it carries anything. */
void pr_loop_finish(pr_lower *c, const pr_op *op, probe *p)
{
    pr_val **vals = PR_NEW_N(c->arena, pr_val *, p->n + 1), **yields = PR_NEW_N(c->arena, pr_val *, p->n + 1);
    if (p->trip == 0) { set_results(c, op, p, p->init); return; }
    if (p->n_more) p->trip = -1;
    const pr_frame *frame = c->frame;
    pr_ids control = c->control;
    if (p->trip == 1) { /* the loop stays in the records: a witness has one count per loop of the text */
        pr_loop_push(c, p);
        c->iter[c->n_iter - 1] = PR_TERM_ZERO; /* results outlive the loop */
        bool fine = run_body(c, p, PR_TERM_ZERO, p->init, yields);
        c->n_iter--;
        c->frame = frame;
        c->control = control;
        if (!fine) { pr_loop_refuse(c, op, "a loop body is not understood"); return; }
        pr_term once = counted_held(c, p);
        for (int i = 0; i < p->n && !pr_term_is(once, PR_TERM_TRUE); i++) {
            yields[i] = pr_val_clone(c, yields[i], yields[i]->type);
            yields[i]->held = pr_and(c->T, yields[i]->held, once);
        }
        set_results(c, op, p, yields);
        return;
    }
    if (p->n) solve(c, p);
    pr_frame *f = pr_loop_push(c, p);
    for (int i = 0; i < p->n; i++) {
        vals[i] = value_at(c, p, i, pr_var_term(c->T, f->k));
        if (p->sol[i].kind != SOL_INVARIANT) carry_dependencies(c, p, i, f, vals[i]);
    }
    if (p->n_more) push_more(c, op, p, pr_var_term(c->T, f->k));
    bool fine = run_body(c, p, pr_var_term(c->T, f->k), vals, yields);
    c->n_iter--;
    c->frame = frame;
    c->control = control;
    if (!fine) { pr_loop_refuse(c, op, "a loop body is not understood"); return; }
    pr_term n = pr_loop_trip(c, p), counted = counted_held(c, p);
    for (int i = 0; i < p->n; i++) {
        vals[i] = pr_term_none(n) || (p->n_more && p->sol[i].kind != SOL_INVARIANT && p->sol[i].kind != SOL_PLAIN) ? opaque_at(c, p, i) : value_at(c, p, i, n);
        if (p->sol[i].kind == SOL_INVARIANT) continue;
        vals[i] = pr_val_clone(c, vals[i], vals[i]->type);
        result_dependencies(c, p, i, f, vals[i]);
        if (p->sol[i].kind != SOL_PLAIN && p->sol[i].kind != SOL_OPAQUE)
            vals[i]->held = pr_and(c->T, vals[i]->held, counted);
        vals[i]->all = pr_ids_union(c, vals[i]->all, p->bound_ids);
    }
    set_results(c, op, p, vals);
}

void pr_loop_set_trip(pr_lower *c, probe *p)
{
    pr_terms *T = c->T;
    pr_i128 lo, hi, st;
    p->trip = -1;
    pr_box *box = pr_lower_box(c, NULL);
    pr_interval l = pr_range(box, p->lower), u = pr_range(box, p->upper), s = pr_range(box, p->step);
    pr_i128 least = s.lo > 1 ? s.lo : 1, most = ((pr_i128)1 << 64) - 1;
    p->k_most = u.hi >= PR_INF || l.lo <= -PR_INF ? most : u.hi <= l.lo ? 0 : (u.hi - l.lo - 1) / least;
    if (p->k_most > most) p->k_most = most;
    if (!pr_term_is(p->bounds_held, PR_TERM_TRUE)) return;   /* constant only while nothing wraps */
    if (!pr_term_const(T, p->lower, &lo) || !pr_term_const(T, p->upper, &hi) || !pr_term_const(T, p->step, &st))
        return;
    if (st > 0) p->trip = hi > lo ? (hi - lo + st - 1) / st : 0;
}

/* The value of the counter when the loop ends (or where it starts, when it does not run) fits. */
pr_term pr_loop_last_value_fits(pr_lower *c, const probe *p, pr_fits_kind kind, pr_term lower, pr_term step, int bits)
{
    pr_terms *T = c->T;
    pr_term n = p->trip >= 0 ? pr_const(T, p->trip)
              : pr_fdiv_t(T, pr_add(T, pr_sub(T, p->upper, p->lower), pr_sub(T, p->step, pr_const(T, 1))), p->step);
    return pr_fits_here(c, NULL, kind, bits, pr_add(T, lower, pr_mul(T, n, step)));
}

/* The value after the last one the loop runs with (before + step) fits bits. */
pr_term pr_loop_increment_fits(pr_lower *c, const probe *p, pr_term lower, pr_term step, int bits)
{
    pr_terms *T = c->T;
    pr_term rough = pr_add(T, p->upper, pr_sub(T, p->step, pr_const(T, 1)));
    pr_i128 s;
    bool up = pr_term_is(lower, p->lower), fixed = pr_term_const(T, p->step, &s);
    if (fixed && s == 1) return PR_TERM_TRUE;
    if (up && (!fixed || pr_term_is(pr_fits_here(c, NULL, PR_FITS_SIGNED, bits, rough), PR_TERM_TRUE)))
        return pr_fits_here(c, NULL, PR_FITS_SIGNED, bits, rough);
    return pr_loop_last_value_fits(c, p, PR_FITS_SIGNED, lower, step, bits);
}

void pr_sem_for(pr_lower *c, const pr_op *op)
{
    pr_terms *T = c->T;
    pr_val *lb = pr_operand(c, op, 0), *ub = pr_operand(c, op, 1), *st = pr_operand(c, op, 2);
    const pr_region *r = op->n_regions == 1 ? op->regions[0] : NULL;
    const pr_block *body = r && r->n_blocks == 1 ? r->blocks[0] : NULL;
    probe *p = PR_NEW(c->arena, probe);
    p->n = p->n_pass = op->n_operands - 3;
    if (!body || body->n_args != p->n + 1 || op->n_results != p->n || lb->kind != PR_VAL_INT ||
        ub->kind != PR_VAL_INT || st->kind != PR_VAL_INT || c->n_iter + 1 >= PR_LOOP_DEPTH_MAX) {
        pr_loop_refuse(c, op, "a loop of a form that is not followed");
        return;
    }
    p->op = op;
    p->body = body;
    p->iv = body->args[0];
    p->first_arg = 1;
    p->iv_lower = p->lower = lb->term;
    p->upper = PR_FAULT(c, PR_FAULT_TRIP) ? pr_sub(T, ub->term, st->term) : ub->term;
    p->iv_step = p->step = st->term;
    p->iv_from[0] = lb;
    p->iv_from[1] = st;
    p->bounds_held = pr_and(T, lb->held, pr_and(T, ub->held, st->held));
    p->bound_ids = pr_ids_union(c, lb->all, pr_ids_union(c, ub->all, st->all));
    int bits = pr_int_bits(lb->type);
    if (pr_op_attr(op, "unsignedCmp")) {
        pr_val *const part[3] = { lb, ub, st };
        for (int i = 0; i < 3; i++)
            p->bounds_held = pr_and(T, p->bounds_held, pr_fits_here(c, NULL, PR_FITS_NONNEG, bits, part[i]->term));
    }
    p->init = PR_NEW_N(c->arena, pr_val *, p->n + 1);
    for (int i = 0; i < p->n; i++) p->init[i] = pr_operand(c, op, 3 + i);
    pr_loop_set_trip(c, p);
    p->increment_held = pr_loop_increment_fits(c, p, p->iv_lower, p->iv_step, bits);
    if (p->n && (p->trip < 0 || p->trip > 1) && !pr_loop_probe_body(c, p)) {
        pr_loop_refuse(c, op, "a loop body is not understood");
        return;
    }
    pr_loop_finish(c, op, p);
}
