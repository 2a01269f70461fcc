/* The facts of hb/sync.h as conjuncts of a query.
 *
 * Every conjunct holds in every real execution (H3). An order is used only negatively: the two accesses race
 * only where none of the edges that would order them is there. */
#include "hb/sync.h"
#include "hb/decide.h"
#include "hb/ladder.h"
#include "hb/order.h"

enum { MOST_VALUE_PAIRS = 64 };

/* The events of one copy. side is null for the third program, whose terms are those of B renamed. */
typedef struct copy {
    const pr_side **side;
    pr_term *active, *obs, *addr;  /* by event; active NONE: not represented                          */
    pr_term *exits, *held;         /* waits                                                       */
    pr_term *turn;                 /* by turn                                                     */
    pr_term pid[3];
} copy;

static const pr_record *record(const pr_encoding *e, const pr_sync_event *v) { return &e->records->records.data[v->record]; }
static pr_term apply(const pr_side *s, pr_term t) { return pr_subst_apply((pr_subst *)&s->subst, t); }

/* Events in loops as they run in the iteration of `at` (null: in any one): its indices for those of the common loops. */
static void in_iteration(pr_encoding *e, const pr_side *s, const pr_side *at, copy *c, int i)
{
    pr_term *map = PR_NEW_N(e->arena, pr_term, pr_vars_count(e->terms));
    bool any = false;
    for (int k = 0; at && k < s->n_loops; k++)
        for (int m = 0; m < at->n_loops; m++)
            if (s->loop[k] == at->loop[m] && pr_term_op_of(e->terms, s->iter[k]) == PR_TERM_OP_VAR) {
                map[pr_term_var(e->terms, s->iter[k]).id] = at->iter[m];
                any = true;
            }
    if (!any) return;
    pr_subst to = { .T = e->terms, .var_map = map, .n_var_map = pr_vars_count(e->terms) };
    pr_term *t[] = { &c->active[i], &c->addr[i], &c->exits[i], &c->held[i] };
    for (size_t k = 0; k < PR_LEN(t); k++)
        if (!pr_term_none(*t[k])) *t[k] = pr_subst_apply(&to, *t[k]);
    if (pr_term_none(c->addr[i])) c->active[i] = PR_TERM_NONE;
}

static copy copy_of(pr_encoding *e, const pr_sync *y, int which, const pr_side *at)
{
    int n = y->events.n + 1;
    copy c = { PR_NEW_N(e->arena, const pr_side *, n) };
    pr_term **list[] = { &c.active, &c.obs, &c.addr, &c.exits, &c.held };
    for (size_t k = 0; k < PR_LEN(list); k++) *list[k] = PR_NEW_N(e->arena, pr_term, n);
    c.turn = PR_NEW_N(e->arena, pr_term, y->turns.n + 1);
    for (int i = 0; i < y->events.n; i++) {
        const pr_side *s = c.side[i] = pr_encoding_side(e, y->events.data[i].record, which);
        const pr_record *r = record(e, &y->events.data[i]);
        pr_term t = s->dead ? PR_TERM_FALSE : PR_TERM_TRUE;
        for (int j = 0; j < s->active.n; j++) t = pr_and(e->terms, t, s->active.data[j]);
        c.active[i] = s->refused ? PR_TERM_NONE : t;
        c.obs[i] = apply(s, y->events.data[i].app);
        c.addr[i] = s->addr;
        if (r->is_await) c.exits[i] = apply(s, r->exit_pred), c.held[i] = apply(s, r->exit_held);
        if (y->events.data[i].in_loop) in_iteration(e, s, at, &c, i);
        memcpy(c.pid, s->pid, sizeof c.pid);
    }
    for (int k = 0; k < y->turns.n; k++) c.turn[k] = apply(c.side[y->turns.data[k].wait], y->turns.data[k].turn);
    return c;
}

static void push(pr_encoding *e, pr_term_vec *out, pr_term t)
{
    if (pr_term_none(t)) return;           /* a fact that cannot be stated is left out */
    t = pr_encode_simplify(e, t);
    if (!pr_term_none(t) && !pr_term_is(t, PR_TERM_TRUE)) pr_vec_push(e->arena, out, t);
}

static pr_term one_of(pr_encoding *e, pr_term x, const pr_vset *s)
{
    pr_term t = PR_TERM_FALSE;
    pr_i128 lo = s->n ? s->v[0] : 0, hi = lo;
    for (int i = 1; i < s->n; i++) {
        if (s->v[i] < lo) lo = s->v[i];
        if (s->v[i] > hi) hi = s->v[i];
    }
    if (s->n > 1 && hi - lo == s->n - 1)      /* no gap: two bounds */
        return pr_and(e->terms, pr_le(e->terms, pr_const(e->terms, lo), x), pr_le(e->terms, x, pr_const(e->terms, hi)));
    for (int i = 0; i < s->n; i++) t = pr_or(e->terms, t, pr_eq(e->terms, x, pr_const(e->terms, s->v[i])));
    return t;
}

/* A condition over nothing but results whose values are known, as the tuples for which it holds; else as it is. */
typedef struct results { const pr_encoding *e; const pr_sync *y; const copy *c; int event[2], n; bool other; } results;
static void note_result(void *user, pr_term t)
{
    results *u = user;
    if (pr_term_op_of(u->e->terms, t) != PR_TERM_OP_VAR) return;
    for (int i = 0; i < u->n; i++)
        if (pr_term_is(u->c->obs[u->event[i]], t)) return;
    for (int i = 0; i < u->y->events.n && u->n < 2; i++)
        if (pr_term_is(u->c->obs[i], t) && !u->y->events.data[i].all.any && !pr_term_none(u->c->active[i])) {
            u->event[u->n++] = i;
            return;
        }
    u->other = true;
}

/* What the engines are slow to read (bits of two results at once) and no table stands for is left out: TRUE. */
static pr_term tabulated(pr_encoding *e, const pr_sync *y, const copy *c, pr_term t)
{
    pr_terms *T = e->terms;
    results u = { .e = e, .y = y, .c = c };
    if (pr_term_none(t)) return t;
    bool bits = pr_class_of(e->box, t) & PR_CLASS_BITS;
    pr_term plain = bits ? PR_TERM_TRUE : t;
    pr_term_visit(T, t, note_result, &u);
    if (u.other || !u.n || (u.n == 1 && !bits)) return plain;
    const pr_vset one = { .n = 1 }, *set[2] = { &one, &one };
    pr_term obs[2], ran = PR_TERM_TRUE, any = PR_TERM_FALSE;
    uint32_t id[2], n = 0;
    for (int i = 0; i < u.n; i++) {
        set[i] = &y->events.data[u.event[i]].all;
        obs[i] = c->obs[u.event[i]];
        id[i] = pr_term_var(T, obs[i]).id;
        if (id[i] >= n) n = id[i] + 1;
        ran = pr_and(T, ran, c->active[u.event[i]]);   /* a result of what did not run is anything */
    }
    if (set[0]->n * set[1]->n > MOST_VALUE_PAIRS) return plain;
    pr_i128 *value = PR_NEW_N(e->arena, pr_i128, n), ok;
    bool *known = PR_NEW_N(e->arena, bool, n);
    pr_env env = { value, known, n };
    for (int i = 0; i < set[0]->n; i++)
        for (int j = 0; j < set[1]->n; j++) {
            pr_term these = PR_TERM_TRUE;
            for (int k = 0; k < u.n; k++) {
                pr_i128 v = set[k]->v[k ? j : i];
                value[id[k]] = v;
                known[id[k]] = true;
                these = pr_and(T, these, pr_eq(T, obs[k], pr_const(T, v)));
            }
            if (!pr_eval(T, t, &env, &ok)) return plain;
            if (ok) any = pr_or(T, any, these);
        }
    return pr_and(T, pr_implies(T, ran, any), pr_or(T, ran, plain));
}

enum { ORDER_BEFORE = 1, ORDER_AFTER = 2 };

/* The two results are a pair of the order that can stand as asked: i before j, after it, or either. NONE: too many. */
static pr_term ordered(pr_encoding *e, const pr_cell_order *o, unsigned how, pr_term x, pr_term y)
{
    pr_terms *T = e->terms;
    pr_term any = PR_TERM_FALSE;
    if (o->n > MOST_VALUE_PAIRS) return PR_TERM_NONE;
    if (how == (ORDER_BEFORE | ORDER_AFTER) && o->every) return PR_TERM_TRUE;
    for (int i = 0; i < o->n; i++) {
        pr_term of_a = PR_TERM_FALSE;           /* a once, with all that go with it */
        bool first = true;
        for (int k = 0; k < i; k++) first = first && o->pair[k].a != o->pair[i].a;
        for (int k = i; k < o->n && first; k++) {
            const pr_seen_pair *p = &o->pair[k];
            if (p->a == o->pair[i].a && (((how & ORDER_BEFORE) && p->before) || ((how & ORDER_AFTER) && p->after)))
                of_a = pr_or(T, of_a, pr_eq(T, y, pr_const(T, p->b)));
        }
        if (first) any = pr_or(T, any, pr_and(T, pr_eq(T, x, pr_const(T, o->pair[i].a)), of_a));
    }
    return any;
}

/* i before j, shown by the results: no order has j first. Where every result of i allows it, j's alone says so. */
static pr_term after_only(pr_encoding *e, const pr_cell_order *o, pr_term x, pr_term y)
{
    pr_terms *T = e->terms;
    pr_term any = PR_TERM_FALSE;
    if (o->n > MOST_VALUE_PAIRS) return PR_TERM_NONE;
    for (int i = 0; i < o->n; i++) {
        pr_term of_b = PR_TERM_FALSE;
        bool first = true, always = true;
        for (int k = 0; k < i; k++) first = first && o->pair[k].b != o->pair[i].b;
        for (int k = i; k < o->n && first; k++) {
            if (o->pair[k].b != o->pair[i].b) continue;
            if (o->pair[k].after && !(e->options->fault == 47 && o->pair[k].before)) always = false;
            else of_b = pr_or(T, of_b, pr_eq(T, x, pr_const(T, o->pair[k].a)));
        }
        if (first) any = pr_or(T, any, pr_and(T, pr_eq(T, y, pr_const(T, o->pair[i].b)), always ? PR_TERM_TRUE : of_b));
    }
    return any;
}

/* Two results of one program at one cell: the later one sees what may follow. */
static void own_facts(pr_encoding *e, const pr_sync *y, const copy *c, pr_term_vec *out)
{
    pr_terms *T = e->terms;
    for (int k = 0; k < y->orders.n; k++) {
        const pr_cell_order *o = &y->orders.data[k];
        if (!o->own || pr_term_none(c->active[o->i]) || pr_term_none(c->active[o->j])) continue;
        pr_term meet = pr_and(T, pr_and(T, c->active[o->i], c->active[o->j]), pr_eq(T, c->addr[o->i], c->addr[o->j]));
        pr_term t = ordered(e, o, ORDER_BEFORE | ORDER_AFTER, c->obs[o->i], c->obs[o->j]);
        if (!pr_term_none(t)) push(e, out, pr_implies(T, meet, t));
    }
    for (int k = 0; k < y->sees.n; k++) {
        const pr_program_sees *p = &y->sees.data[k];
        const int64_t *n = e->extent, id[3] = { p->program % n[0], p->program / n[0] % n[1], p->program / n[0] / n[1] };
        if (pr_term_none(c->active[p->event])) continue;
        pr_term here = c->active[p->event];
        for (int a = 0; a < 3; a++) here = pr_and(T, here, pr_eq(T, c->pid[a], pr_const(T, id[a])));
        push(e, out, pr_implies(T, here, one_of(e, c->obs[p->event], &p->values)));
    }
}

/* The counter that alone changes v's location, null without one. */
static const pr_sync_event *counter_of(pr_encoding *e, const pr_sync *y, const pr_sync_event *v)
{
    const pr_sync_event *found = NULL;
    if (!v->closed) return NULL;
    for (int i = 0; i < v->n_writers; i++) {
        if (pr_sync_identity(e, v->writers[i])) continue;
        const pr_sync_event *w = NULL;
        for (int k = 0; k < y->events.n && !w; k++)
            if (y->events.data[k].record == v->writers[i] && y->events.data[k].counted) w = &y->events.data[k];
        const pr_side *s = pr_encoding_side(e, v->writers[i], PR_SIDE_A);
        if (!w || found || pr_term_op_of(e->terms, s->addr) != PR_TERM_OP_CONST) return NULL;
        found = w;
    }
    return found;
}

/* What is known of the results of one copy; ends: its waits end. */
static void result_facts(pr_encoding *e, const pr_sync *y, const copy *c, bool ends, pr_term_vec *out)
{
    pr_terms *T = e->terms;
    for (int i = 0; i < y->events.n; i++) {
        const pr_sync_event *v = &y->events.data[i];
        const pr_record *r = record(e, v);
        if (pr_term_none(c->active[i])) continue;
        if (v->closed && !v->all.any && !v->counted) push(e, out, pr_implies(T, c->active[i], one_of(e, c->obs[i], &v->all)));
        if (v->counted) {
            pr_term from = pr_sub(T, c->obs[i], pr_const(T, v->first));
            pr_i128 k = v->step < 0 ? -v->step : v->step;
            if (v->step < 0) from = pr_neg(T, from);
            pr_term rank = pr_fdiv_t(T, from, pr_const(T, k));
            pr_term ok = pr_and(T, pr_le(T, PR_TERM_ZERO, from), pr_lt(T, rank, v->arrivals));
            ok = pr_and(T, ok, pr_eq(T, pr_fmod_t(T, from, pr_const(T, k)), PR_TERM_ZERO));
            push(e, out, pr_implies(T, c->active[i], ok));
            for (int a = 0; a < 3; a++)       /* the extent that arrivals mention bounds the id */
                if (a == y->axis) {
                    push(e, out, pr_lt(T, c->pid[a], pr_var_term(T, e->records->grid[a])));
                    push(e, out, pr_le(T, pr_const(T, 1), pr_var_term(T, e->records->grid[a])));
                }
        }
        const pr_sync_event *w = counter_of(e, y, v);
        if (w && !v->counted) {               /* what the counter leaves is between its ends */
            pr_term from = pr_sub(T, c->obs[i], pr_const(T, w->first)), top = pr_scale(T, w->arrivals, w->step);
            pr_term lo = w->step > 0 ? PR_TERM_ZERO : top, hi = w->step > 0 ? top : PR_TERM_ZERO;
            pr_term here = pr_and(T, c->active[i], pr_eq(T, c->addr[i], pr_encoding_side(e, w->record, PR_SIDE_A)->addr));
            push(e, out, pr_implies(T, here, pr_and(T, pr_le(T, lo, from), pr_le(T, from, hi))));
        }
        if (ends && r->is_await && !pr_term_none(r->exit_pred)) {
            if (pr_term_none(c->held[i]) || pr_term_none(c->exits[i])) continue;
            push(e, out, pr_implies(T, pr_and(T, c->active[i], c->held[i]), tabulated(e, y, c, c->exits[i])));
        }
    }
    if (ends) own_facts(e, y, c, out);
}

static void value_facts(pr_encoding *e, const pr_sync *y, const copy *c, pr_term_vec *out) { result_facts(e, y, c, true, out); }

/* The turns of two programs that wait at one location differ. */
static void turn_facts(pr_encoding *e, const pr_sync *y, const copy *a, const copy *b, pr_term_vec *out)
{
    pr_terms *T = e->terms;
    for (int i = 0; i < y->turns.n; i++) {
        int k = y->turns.data[i].wait;
        if (pr_term_none(a->active[k]) || pr_term_none(b->active[k])) continue;
        pr_term meet = pr_and(T, pr_and(T, a->active[k], b->active[k]), pr_eq(T, a->addr[k], b->addr[k]));
        pr_term u = a->turn[i], v = b->turn[i];
        if (!pr_term_none(u) && !pr_term_none(v)) push(e, out, pr_implies(T, meet, pr_ne(T, u, v)));
    }
}

/* Two results at one location, of different programs: one comes first, the other sees what may follow it. */
static void pair_facts(pr_encoding *e, const pr_sync *y, const copy *a, const copy *b, pr_term_vec *out)
{
    pr_terms *T = e->terms;
    for (int i = 0; i < y->events.n; i++) {
        for (int j = 0; j < y->events.n; j++) {
            const pr_sync_event *u = &y->events.data[i], *v = &y->events.data[j];
            const pr_record *r = record(e, u), *s = record(e, v);
            if (!u->closed || !v->closed || pr_term_none(a->active[i]) || pr_term_none(b->active[j])) continue;
            if (e->component[r->base] != e->component[s->base] || r->width != s->width) continue;
            pr_term meet = pr_and(T, pr_and(T, a->active[i], b->active[j]), pr_eq(T, a->addr[i], b->addr[j]));
            if (pr_term_is(pr_encode_simplify(e, meet), PR_TERM_FALSE)) continue;
            if (i == j && u->counted) push(e, out, pr_implies(T, meet, pr_ne(T, a->obs[i], b->obs[j])));
            const pr_cell_order *o = pr_cell_order_of(y, i, j, false);
            pr_term pairs = o ? ordered(e, o, ORDER_BEFORE | ORDER_AFTER, a->obs[i], b->obs[j]) : PR_TERM_NONE;
            if (!pr_term_none(pairs)) {
                push(e, out, pr_implies(T, meet, pairs));
                continue;
            }
            if (u->all.any || v->all.any || u->all.n * v->all.n > MOST_VALUE_PAIRS) continue;
            for (int p = 0; p < u->all.n; p++)
                for (int q = 0; q < v->all.n; q++) {
                    pr_vset x = { .n = 1, .v = { u->all.v[p] } }, z = { .n = 1, .v = { v->all.v[q] } };
                    pr_vset after = x, before = z;
                    if (u->writes) after = pr_vset_written(e, u->record, &x);
                    if (v->writes) before = pr_vset_written(e, v->record, &z);
                    after = pr_vset_closure(e, after, u->writers, u->n_writers);
                    before = pr_vset_closure(e, before, u->writers, u->n_writers);
                    if (pr_vset_has(&after, v->all.v[q]) || pr_vset_has(&before, u->all.v[p])) continue;
                    pr_term both = pr_and(T, pr_eq(T, a->obs[i], pr_const(T, u->all.v[p])),
                                          pr_eq(T, b->obs[j], pr_const(T, v->all.v[q])));
                    push(e, out, pr_not(T, pr_and(T, meet, both)));
                }
        }
    }
}

/* Release i of one copy is before acquire j of the other: where the two are at one location and j's result shows
 * that it comes after i. FALSE when nothing shows it. */
static pr_term edge(pr_encoding *e, const pr_sync *y, const copy *a, int i, const copy *b, int j)
{
    pr_terms *T = e->terms;
    const pr_sync_event *w = &y->events.data[i], *r = &y->events.data[j];
    const pr_record *u = record(e, w), *v = record(e, r);
    if (w->in_loop || !w->closed || !w->writes || !pr_record_releases(u) || !pr_record_acquires(v) || u->width != v->width ||
        e->component[u->base] != e->component[v->base] || pr_term_none(a->active[i]) || pr_term_none(b->active[j]))
        return PR_TERM_FALSE;
    pr_term shown = PR_TERM_FALSE;
    if (!w->others.any) shown = pr_not(T, one_of(e, b->obs[j], &w->others));
    const pr_cell_order *o = pr_cell_order_of(y, i, j, false);
    pr_term after = PR_TERM_NONE;                 /* (what leaves the value as it is may be compiled to a load) */
    if (o && !pr_sync_identity(e, w->record)) after = after_only(e, o, a->obs[i], b->obs[j]);
    if (u->kind == PR_RECORD_CAS && !pr_term_none(after)) {      /* one that fails writes nothing, so nobody reads from it */
        pr_vset cmp = pr_vset_of(e, a->side[i], u->cmp, u->value_held);
        bool one = (!cmp.any && cmp.n == 1) || e->options->fault == 52;
        after = !one ? PR_TERM_FALSE : e->options->fault == 52 ? after : pr_and(T, after, pr_eq(T, a->obs[i], pr_const(T, cmp.v[0])));
    }
    if (!pr_term_none(after)) shown = pr_or(T, shown, after);
    if (w->counted)
        shown = pr_or(T, shown, w->step > 0 ? pr_lt(T, a->obs[i], b->obs[j]) : pr_lt(T, b->obs[j], a->obs[i]));
    for (int k = 0; k < y->turns.n; k++) {
        const pr_sync_turn *t = &y->turns.data[k];
        if (t->release != i || t->wait != j || pr_term_none(a->active[j])) continue;
        pr_term first = a->turn[k], later = b->turn[k];
        if (pr_term_none(first) || pr_term_none(later)) continue;
        pr_term before = pr_and(T, pr_le(T, pr_const(T, t->first), first), pr_lt(T, first, later));
        shown = pr_or(T, shown, pr_and(T, a->active[j], before));
    }
    if (pr_term_is(shown, PR_TERM_FALSE)) return PR_TERM_FALSE;
    pr_term meet = pr_and(T, pr_and(T, a->active[i], b->active[j]), pr_eq(T, a->addr[i], b->addr[j]));
    return pr_encode_simplify(e, pr_and(T, meet, shown));
}

/* Acquire j of a copy before y, an access of that copy. */
static pr_term acquired_before(pr_encoding *e, const pr_sync *s, const copy *c, int j, const pr_side *y)
{
    return s->events.data[j].in_loop ? pr_order_before_here(e, c->side[j], y) : pr_order_before(e, c->side[j], y);
}

/* x of one copy before y of the other, by one release and one acquire. */
static pr_term happens_before(pr_encoding *e, const pr_sync *s, const pr_side *x, const copy *a, const copy *b, const pr_side *y)
{
    pr_terms *T = e->terms;
    pr_term any = PR_TERM_FALSE;
    for (int i = 0; i < s->events.n; i++) {
        if (s->events.data[i].in_loop || !pr_record_releases(record(e, &s->events.data[i]))) continue;
        pr_term pre = pr_order_before(e, x, a->side[i]);
        if (pr_term_is(pre, PR_TERM_FALSE)) continue;
        for (int j = 0; j < s->events.n; j++) {
            if (!pr_record_acquires(record(e, &s->events.data[j]))) continue;
            pr_term post = acquired_before(e, s, b, j, y);
            if (pr_term_is(post, PR_TERM_FALSE)) continue;
            pr_term sw = edge(e, s, a, i, b, j);
            if (!pr_term_is(sw, PR_TERM_FALSE)) any = pr_or(T, any, pr_and(T, pr_and(T, pre, post), sw));
        }
    }
    return any;
}

/* A write that happens before an access of its cell precedes it there, and so does a read that happens before a write:
 * the results are those of that order (coherence). */
static void coherence_facts(pr_encoding *e, const pr_sync *y, const copy *a, const copy *b, bool swapped, pr_term_vec *out)
{
    pr_terms *T = e->terms;
    for (int k = 0; k < y->orders.n; k++) {
        const pr_cell_order *o = &y->orders.data[k];
        int i = swapped ? o->j : o->i, j = swapped ? o->i : o->j;      /* i of copy a happens before j of copy b */
        bool says = false;
        for (int m = 0; m < o->n; m++) says = says || !(swapped ? o->pair[m].after : o->pair[m].before);
        if (o->own || !says || o->n > MOST_VALUE_PAIRS || pr_term_none(a->active[i]) || pr_term_none(b->active[j])) continue;
        if (y->events.data[i].in_loop || y->events.data[j].in_loop) continue;
        pr_term hb = e->options->fault == 46 ? PR_TERM_TRUE : happens_before(e, y, a->side[i], a, b, b->side[j]);
        if (pr_term_none(hb) || pr_term_is(hb, PR_TERM_FALSE)) continue;
        pr_term meet = pr_and(T, pr_and(T, a->active[i], b->active[j]), pr_eq(T, a->addr[i], b->addr[j]));
        pr_term x = swapped ? b->obs[j] : a->obs[i], z = swapped ? a->obs[i] : b->obs[j];
        push(e, out, pr_implies(T, pr_and(T, meet, hb), ordered(e, o, swapped ? ORDER_AFTER : ORDER_BEFORE, x, z)));
    }
}

/* ---- a program between the two ---------------------------------------------------------------- */

enum { MOST_BETWEEN = 3 };

typedef struct rename { pr_encoding *e; pr_subst subst; pr_term *map; uint32_t n; } rename;

/* Terms of copy B as terms of another program. */
static rename renaming(pr_encoding *e)
{
    rename r = { .e = e, .n = pr_vars_count(e->terms) };
    r.map = PR_NEW_N(e->arena, pr_term, r.n);
    int index = (1 << 25) + (int)r.n;
    for (uint32_t v = 1; v < r.n; v++) {
        const pr_var_info *i = pr_var_get(e->terms, (pr_var){ v });
        if (i->copy != PR_COPY_B) continue;
        pr_var_info fresh = { .role = PR_ROLE_FREE, .index = index++, .copy = PR_COPY_SHARED, .lo = i->lo, .hi = i->hi,
                              .name = pr_arena_printf(e->arena, "C%d.%s", (int)r.n, i->name) };
        r.map[v] = pr_var_term(e->terms, pr_var_new(e->terms, fresh));
    }
    r.subst = (pr_subst){ .T = e->terms, .var_map = r.map, .n_var_map = r.n };
    return r;
}

static pr_term moved(rename *r, pr_term t) { return pr_term_none(t) ? t : pr_subst_apply(&r->subst, t); }

static copy renamed(pr_encoding *e, const pr_sync *y, const copy *b, rename *r)
{
    int n = y->events.n + 1;
    copy c = { .side = NULL };
    pr_term **to[] = { &c.active, &c.obs, &c.addr, &c.exits, &c.held };
    pr_term *const from[] = { b->active, b->obs, b->addr, b->exits, b->held };
    for (size_t k = 0; k < PR_LEN(to); k++) {
        *to[k] = PR_NEW_N(e->arena, pr_term, n);
        for (int i = 0; i < y->events.n; i++) (*to[k])[i] = moved(r, from[k][i]);
    }
    c.turn = PR_NEW_N(e->arena, pr_term, y->turns.n + 1);
    for (int i = 0; i < y->turns.n; i++) c.turn[i] = moved(r, b->turn[i]);
    for (int i = 0; i < 3; i++) c.pid[i] = moved(r, b->pid[i]);
    return c;
}

/* Orders of x (copy a) before y (copy z) through a third program. A result that the location cannot hold without record w
 * says that some program ran w there before: that program gets variables of its own, and what it waited for before w
 * may be what x's program released. b: any copy whose terms can be renamed. */
static pr_term through_third(pr_encoding *e, const pr_sync *s, const pr_side *x, const copy *a, const copy *b, const copy *z,
                             const pr_side *y, int *budget, pr_term_vec *out)
{
    pr_terms *T = e->terms;
    pr_term any = PR_TERM_FALSE;
    for (int j = 0; j < s->events.n; j++) {
        const pr_sync_event *r = &s->events.data[j];
        if (!r->closed || r->init.any || !pr_record_acquires(record(e, r)) || pr_term_none(z->active[j])) continue;
        pr_term post = acquired_before(e, s, z, j, y);
        if (pr_term_is(post, PR_TERM_FALSE)) continue;
        for (int i = 0; i < s->events.n && *budget > 0; i++) {
            const pr_sync_event *w = &s->events.data[i];
            const pr_record *u = record(e, w);
            if (w->in_loop || !pr_record_releases(u) || !w->writes || pr_term_none(b->active[i]) || u->width != record(e, r)->width) continue;
            int *rest = PR_NEW_N(e->arena, int, r->n_writers + 1), n = 0;
            bool writer = false;
            for (int k = 0; k < r->n_writers; k++) {
                if (r->writers[k] == w->record) writer = true;
                else rest[n++] = r->writers[k];
            }
            pr_vset without = pr_vset_closure(e, r->init, rest, n);
            if (!writer || without.any) continue;
            bool waits = false;               /* something the third program acquires before w */
            for (int k = 0; k < s->events.n; k++)
                waits = waits || (pr_record_acquires(record(e, &s->events.data[k])) &&
                                  !pr_term_is(acquired_before(e, s, b, k, b->side[i]), PR_TERM_FALSE));
            if (!waits) continue;
            --*budget;
            rename to = renaming(e);
            copy c = renamed(e, s, b, &to);
            pr_term cond = pr_and(T, z->active[j], pr_not(T, one_of(e, z->obs[j], &without)));
            push(e, out, pr_implies(T, cond, pr_and(T, c.active[i], pr_eq(T, c.addr[i], z->addr[j]))));
            value_facts(e, s, &c, out);
            pr_term link = PR_TERM_FALSE;
            for (int p = 0; p < s->events.n; p++) {
                if (s->events.data[p].in_loop || !pr_record_releases(record(e, &s->events.data[p]))) continue;
                pr_term pre = pr_order_before(e, x, a->side[p]);
                if (pr_term_is(pre, PR_TERM_FALSE)) continue;
                for (int k = 0; k < s->events.n; k++) {
                    if (!pr_record_acquires(record(e, &s->events.data[k]))) continue;
                    pr_term inner = acquired_before(e, s, b, k, b->side[i]);
                    if (pr_term_is(inner, PR_TERM_FALSE)) continue;
                    pr_term sw = edge(e, s, a, p, &c, k);
                    if (!pr_term_is(sw, PR_TERM_FALSE)) link = pr_or(T, link, pr_and(T, pr_and(T, pre, moved(&to, inner)), sw));
                }
            }
            pr_term t = pr_and(T, pr_and(T, cond, post), link);
            if (!pr_term_none(t)) any = pr_or(T, any, t);
        }
    }
    return any;
}

static pr_term writes(pr_encoding *e, const pr_sync *y, const copy *c, const pr_side *s)
{
    const pr_record *r = s->record;
    if (!pr_record_writes(r)) return PR_TERM_FALSE;
    if (r->kind != PR_RECORD_CAS) return PR_TERM_TRUE;
    for (int i = 0; i < y->events.n; i++) {
        if (y->events.data[i].record != r->id) continue;
        pr_vset v = pr_vset_of(e, s, r->cmp, r->value_held);
        if (!v.any && v.n == 1) return pr_eq(e->terms, c->obs[i], pr_const(e->terms, v.v[0]));
    }
    return PR_TERM_TRUE;
}

void pr_sync_ticket_facts(pr_encoding *e, const pr_sync *y, pr_term_vec *out)
{
    copy a = copy_of(e, y, PR_SIDE_A, NULL), b = copy_of(e, y, PR_SIDE_B, NULL);
    result_facts(e, y, &a, false, out);
    result_facts(e, y, &b, false, out);
    pair_facts(e, y, &a, &b, out);
}

void pr_sync_counter_facts(pr_encoding *e, const pr_sync *y, pr_term_vec *out)
{
    copy a = copy_of(e, y, PR_SIDE_A, NULL), b = copy_of(e, y, PR_SIDE_B, NULL);
    value_facts(e, y, &a, out);
    value_facts(e, y, &b, out);
    pair_facts(e, y, &a, &b, out);
}

bool pr_sync_knows(pr_encoding *e, pr_term t)
{
    const pr_sync *y = pr_sync_of(e);
    for (int i = 0; y && i < y->events.n; i++) {
        const pr_sync_event *v = &y->events.data[i];
        if (v->in_loop || !(v->counted || (v->closed && !v->all.any))) continue;
        pr_term own = pr_subst_apply((pr_subst *)&pr_encoding_side(e, v->record, PR_SIDE_A)->subst, v->app);
        if (pr_term_is(own, t)) return true;
    }
    for (int i = 0; y && i < y->drawn.n; i++)
        if (pr_term_is(y->drawn.data[i], t)) return true;
    return false;
}

void pr_sync_facts(pr_encoding *e, bool ends, pr_term_vec *out)
{
    const pr_sync *y = pr_sync_of(e);
    if (!y) return;
    copy a = copy_of(e, y, PR_SIDE_A, NULL);
    result_facts(e, y, &a, ends, out);
}

/* O4 in loops: an unmasked atomic m with a barrier of the compiler beside it, under frames that x and z, of one program, both stand under, runs
 * in the iteration of each of them. So x and z on one side of m are ordered when their iterations differ, and x before m is ordered with z
 * behind it, at one loop, unless z's iteration is the earlier one. */
static bool any_value(void *user, const pr_terms *T, pr_term t)
{
    (void)user;
    return pr_term_op_of(T, t) == PR_TERM_OP_APP;
}

static void barriers_in_loops(pr_encoding *e, const pr_side *x, const pr_side *z, pr_term_vec *out)
{
    pr_terms *T = e->terms;
    for (int i = 0; i < e->records->records.n && pr_order_cta(e); i++) {
        const pr_record *m = &e->records->records.data[i];
        if (m->is_pre_exit || !pr_term_is(m->mask, PR_TERM_TRUE) || x->record == m || z->record == m || x->record->via_desc || z->record->via_desc ||
            !(pr_order_barrier_before(e, m) || pr_order_barrier_behind(e, m)) || !pr_sync_within(x->record->frame, m->frame) ||
            !pr_sync_within(z->record->frame, m->frame)) continue;
        bool first = x->record->seq < m->seq, same = first == (z->record->seq < m->seq);
        pr_term equal = PR_TERM_TRUE, later = PR_TERM_TRUE;     /* later: what stands before m, in a later iteration than what is behind it */
        int loops = 0;
        bool uniform = true;                                    /* all threads take the way to m */
        for (const pr_frame *f = m->frame; f; f = f->outer) {
            int p = 0, q = 0;
            if (f->kind == PR_FRAME_COND && !f->turn && pr_term_any(T, f->cond, any_value, NULL)) uniform = false;
            if (f->kind != PR_FRAME_LOOP) continue;
            while (p < x->n_loops && x->loop[p] != f) p++;
            while (q < z->n_loops && z->loop[q] != f) q++;
            if (p == x->n_loops || q == z->n_loops) break;
            equal = pr_and(T, equal, pr_eq(T, x->iter[p], z->iter[q]));
            later = first ? pr_lt(T, z->iter[q], x->iter[p]) : pr_lt(T, x->iter[p], z->iter[q]);
            loops++;
        }
        if (!loops || !uniform || (!same && loops > 1)) continue;
        e->used_o4 = true;
        push(e, out, same ? equal : later);
    }
}

bool pr_sync_extend(pr_encoding *e, int a, int b, bool intra, pr_query *q)
{
    const pr_sync *y = pr_sync_of(e);
    pr_terms *T = e->terms;
    if (!y || (!y->events.n && !y->tiles.n && !y->draws.n && !y->locks.n)) return false;
    e->used_o4 = false;
    pr_term_vec out = { 0 };
    for (int i = 0; i < q->n_core; i++) pr_vec_push(e->arena, &out, q->core[i]);
    const pr_side *x = pr_encoding_side(e, a, PR_SIDE_A), *z = pr_encoding_side(e, b, intra ? PR_SIDE_B_INTRA : PR_SIDE_B);
    copy ca = copy_of(e, y, PR_SIDE_A, x);
    value_facts(e, y, &ca, &out);
    pr_sync_tile_facts(e, y, x, &out);
    pr_sync_tile_facts(e, y, z, &out);
    pr_sync_draw_facts(e, x, z, intra, &out);
    if (intra) {
        push(e, &out, pr_or(T, writes(e, y, &ca, x), writes(e, y, &ca, z)));
        barriers_in_loops(e, x, z, &out);
        for (int i = 0; i < y->events.n && pr_order_cta(e); i++) {   /* O4: through an atomic that is both */
            const pr_record *m = record(e, &y->events.data[i]);
            if (pr_term_none(ca.active[i]) || y->events.data[i].in_loop) continue;
            bool forward = x->record->seq < m->seq && m->seq < z->record->seq, back = z->record->seq < m->seq && m->seq < x->record->seq;
            pr_term pre = pr_order_before(e, forward ? x : z, ca.side[i]), post = pr_order_before(e, ca.side[i], forward ? z : x);
            if ((forward || back) && x->record != z->record)
                push(e, &out, pr_not(T, pr_and(T, ca.active[i], pr_and(T, pre, post))));
            if (x->record == m && m->seq < z->record->seq && pr_record_acquires(m)) push(e, &out, pr_not(T, pr_order_before(e, x, z)));
            if (z->record == m && x->record->seq < m->seq && pr_record_releases(m)) push(e, &out, pr_not(T, pr_order_before(e, x, z)));
            if (z->record == m && m->seq < x->record->seq && pr_record_acquires(m)) push(e, &out, pr_not(T, pr_order_before(e, z, x)));
            if (x->record == m && z->record->seq < m->seq && pr_record_releases(m)) push(e, &out, pr_not(T, pr_order_before(e, z, x)));
        }
    } else {
        copy cb = copy_of(e, y, PR_SIDE_B, z);
        value_facts(e, y, &cb, &out);
        pair_facts(e, y, &ca, &cb, &out);
        turn_facts(e, y, &ca, &cb, &out);
        coherence_facts(e, y, &ca, &cb, false, &out);
        coherence_facts(e, y, &cb, &ca, true, &out);
        push(e, &out, pr_or(T, writes(e, y, &ca, x), writes(e, y, &cb, z)));
        push(e, &out, pr_not(T, happens_before(e, y, x, &ca, &cb, z)));
        push(e, &out, pr_not(T, happens_before(e, y, z, &cb, &ca, x)));
        push(e, &out, pr_not(T, pr_sync_same_lock(e, y, x, PR_SIDE_A, z, PR_SIDE_B)));
        int budget = MOST_BETWEEN;
        push(e, &out, pr_not(T, through_third(e, y, x, &ca, &cb, &cb, z, &budget, &out)));
        push(e, &out, pr_not(T, through_third(e, y, z, &cb, &cb, &ca, x, &budget, &out)));
    }
    if (out.n == q->n_core) return false;
    q->core = out.data;
    q->n_core = out.n;
    pr_encode_finish_vars(e, q);
    return true;
}

/* Is the event performed by its program in every execution, whatever memory holds? */
static bool certain(const pr_encoding *e, const copy *c, int i)
{
    return !c->side[i]->dead && !c->side[i]->refused && !c->side[i]->uncertain && !pr_term_none(c->active[i]) &&
           !pr_term_any(e->terms, c->active[i], any_value, NULL);
}

/* Do the facts leave an execution in which program A performs i, program B performs j (j < 0: only A), and both end? first:
 * A's result is the first of its counter. EMPTY: no, though such programs exist. */
static pr_answer can_end(pr_encoding *e, const pr_sync *y, const copy *a, int i, const copy *b, int j, bool first, pr_outcome *why)
{
    pr_term_vec core = { 0 };
    pr_query q;
    pr_outcome o;
    *why = (pr_outcome){ .answer = PR_ANSWER_UNKNOWN, .why = PR_REFUSAL_UNKNOWN, .message = "a term is too large" };
    for (int facts = 0; facts < 2; facts++) {
        core.n = 0;
        pr_vec_push(e->arena, &core, a->active[i]);
        if (j >= 0) {
            pr_term other = PR_TERM_FALSE;
            pr_vec_push(e->arena, &core, b->active[j]);
            for (int k = 0; k < 3; k++) other = pr_or(e->terms, other, pr_ne(e->terms, a->side[i]->pid[k], b->side[j]->pid[k]));
            pr_vec_push(e->arena, &core, other);
        }
        if (facts) {
            value_facts(e, y, a, &core);
            if (j >= 0) {
                value_facts(e, y, b, &core);
                pair_facts(e, y, a, b, &core);
            }
            if (first) pr_vec_push(e->arena, &core, pr_eq(e->terms, a->obs[i], pr_const(e->terms, y->events.data[i].first)));
        }
        for (int k = 0; k < core.n; k++) {
            if (pr_term_none(core.data[k])) return PR_ANSWER_UNKNOWN;
            core.data[k] = pr_encode_simplify(e, core.data[k]);
            if (pr_term_is(core.data[k], PR_TERM_FALSE)) return facts ? PR_ANSWER_EMPTY : PR_ANSWER_WITNESS;
        }
        pr_encode_single(e, core.data, core.n, &q);
        pr_decide(e->decider, &q, true, &o, NULL);
        *why = o;
        if (!facts && o.answer != PR_ANSWER_WITNESS) return o.answer == PR_ANSWER_EMPTY ? PR_ANSWER_WITNESS : PR_ANSWER_UNKNOWN;
    }
    return o.answer;
}

pr_answer pr_sync_feasible(pr_encoding *e, pr_outcome *why)
{
    const pr_sync *y = pr_sync_of(e);
    pr_answer all = PR_ANSWER_WITNESS;
    pr_outcome o;
    bool waits = false;
    if (!y) return all;
    for (int i = 0; i < y->events.n; i++) waits = waits || record(e, &y->events.data[i])->is_await;
    if (!waits) return all;
    if (y->never_ends || pr_sync_stuck(e, NULL)) return PR_ANSWER_EMPTY;
    copy a = copy_of(e, y, PR_SIDE_A, NULL), b = copy_of(e, y, PR_SIDE_B, NULL);
    for (int i = 0; i < y->turns.n; i++)
        if (pr_sync_turn_stuck(e, y, &y->turns.data[i])) return PR_ANSWER_EMPTY;
    for (int i = 0; i < y->events.n; i++) {
        const pr_sync_event *v = &y->events.data[i];
        if (v->in_loop || !certain(e, &a, i)) continue;
        /* some program gets the first ticket, and it ends as well */
        pr_answer one = v->counted ? can_end(e, y, &a, i, &b, -1, true, &o) : PR_ANSWER_WITNESS;
        if (one == PR_ANSWER_EMPTY) return one;
        if (one == PR_ANSWER_UNKNOWN) all = one, *why = o;
        if (!record(e, v)->is_await) continue;
        for (int j = -1; j < y->events.n; j++) {
            const pr_sync_event *w = j >= 0 ? &y->events.data[j] : v;
            if (j >= 0 && (j < i || w->in_loop || !record(e, w)->is_await || !certain(e, &b, j))) continue;
            one = can_end(e, y, &a, i, &b, j, false, &o);
            if (one == PR_ANSWER_EMPTY) return one;
            if (one == PR_ANSWER_UNKNOWN) all = one, *why = o;
        }
    }
    return all;
}

static bool is_observation(void *user, const pr_terms *T, pr_term t)
{
    (void)user;
    return pr_term_op_of(T, t) == PR_TERM_OP_APP && pr_sym_get(T, pr_term_sym(T, t))->from_atomic;
}

static bool observes(const pr_encoding *e, const pr_record *r)
{
    const pr_terms *T = e->terms;
    if (r->kind == PR_RECORD_CAS || r->after_wait) return true;
    if (pr_term_any(T, r->mask, is_observation, NULL) || (!pr_term_none(r->offset) && pr_term_any(T, r->offset, is_observation, NULL)))
        return true;
    for (const pr_frame *f = r->frame; f; f = f->outer) {
        if (f->kind == PR_FRAME_COND && pr_term_any(T, f->cond, is_observation, NULL)) return true;
        if (f->kind == PR_FRAME_LOOP && (pr_term_any(T, f->lower, is_observation, NULL) || pr_term_any(T, f->upper, is_observation, NULL)))
            return true;
    }
    return false;
}

bool pr_sync_concerns(pr_encoding *e, int a, int b, bool intra)
{
    int w, r;
    if (!e->records->has_atomics) return false;
    if (observes(e, &e->records->records.data[a]) || observes(e, &e->records->records.data[b])) return true;
    return pr_order_maybe_synchronised(e, a, b, intra, &w, &r);
}
