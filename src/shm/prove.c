/* Proof that no wait, access or barrier operation can go wrong at any trip count; see prove.h. */
#include "shm/prover.h"
#include <assert.h>
#include <string.h>
#include "shm/strict.h"

/* ---- refusals --------------------------------------------------------------------------------------------- */
void pr_prove_give_up(prover *q, pr_refusal_kind kind, const pr_op *op, const char *why)
{
    q->failed = true;
    pr_shm_refuse(q->p, &q->out->refusals, kind, op, why);
}

/* Yes, or a refusal. unproved: some launch values are worth a run. */
bool pr_prove_holds(prover *q, pr_tri yes, pr_rel counter, pr_refusal_kind kind, const pr_op *op, const char *why)
{
    if (yes == PR_YES) return true;
    if (yes == PR_NO && pr_prove_impossible(q, counter)) return true;
    if (yes == PR_MAYBE) {
        const char *text;
        pr_refusal_kind k = pr_rels_why(q->R, &text);
        pr_prove_give_up(q, k == PR_REFUSAL_NONE ? PR_REFUSAL_UNKNOWN : k, op, text ? text : "undecided");
        return false;
    }
    pr_i128 *v = PR_NEW_N(q->arena, pr_i128, q->p->params.n + 1);
    if (counter.id && q->out->candidates.n < 16 && pr_rel_sample(q->R, counter, v))
        pr_vec_push(q->arena, &q->out->candidates, v);
    pr_prove_give_up(q, kind, op, why);
    return false;
}

/* ---- building relations ------------------------------------------------------------------------------------ */
const char *pr_prove_tuple(prover *q, int e) { return pr_arena_printf(q->arena, "E%d", e); }
static const char *phase_tuple(prover *q, int alloc) { return pr_arena_printf(q->arena, "P%d", alloc); }

int pr_prove_counters(prover *q, const pr_shm_event *e, bool other, pr_var *v)
{
    for (int i = 0; i < e->n_loops; i++)
        v[i] = other ? q->second[e->loop[i]] : q->p->loops.data[e->loop[i]].counter;
    return e->n_loops;
}
pr_term pr_prove_renamed(prover *q, pr_term t) { return pr_term_none(t) ? t : pr_subst_apply(&q->subst, t); }

/* Program order of x before y as a condition over x's counters and y's renamed ones; FALSE when never. */
pr_term pr_prove_before(prover *q, const pr_shm_event *x, const pr_shm_event *y)
{
    pr_terms *T = q->T;
    if (x->agent != y->agent) {
        bool sides = x->ws == y->ws && x->ws >= 0;
        return !sides && x->seq < y->seq ? PR_TERM_TRUE : PR_TERM_FALSE;
    }
    pr_term any = PR_TERM_FALSE, equal = PR_TERM_TRUE;
    for (int i = 0; i < x->n_loops && i < y->n_loops && x->loop[i] == y->loop[i]; i++) {
        int next = i + 1;                            /* the counter of a flat loop says it for both */
        if (next < x->n_loops && next < y->n_loops && x->loop[next] == y->loop[next] && q->p->loops.data[x->loop[next]].flat) continue;
        pr_term a = pr_var_term(T, q->p->loops.data[x->loop[i]].counter), b = pr_var_term(T, q->second[x->loop[i]]);
        any = pr_or(T, any, pr_and(T, equal, pr_lt(T, a, b)));
        equal = pr_and(T, equal, pr_eq(T, a, b));
    }
    if (x->seq < y->seq) any = pr_or(T, any, equal);
    return any;
}

pr_rel pr_prove_pair(prover *q, int x, int y, pr_term condition)
{
    pr_var a[PR_SHM_LOOPS], b[PR_SHM_LOOPS];
    const pr_shm_event *ex = &q->ev[x], *ey = &q->ev[y];
    int na = pr_prove_counters(q, ex, false, a), nb = pr_prove_counters(q, ey, true, b);
    if (pr_term_is(condition, PR_TERM_FALSE)) return pr_rel_none(q->R);
    pr_term conj[4] = { ex->when, pr_prove_renamed(q, ey->when), condition };
    if (!pr_shm_is_unknown(q->p, condition)) return pr_rel_make(q->R, pr_prove_tuple(q, x), a, na, pr_prove_tuple(q, y), b, nb, NULL, 0, conj, 3);
    /* Values that are not known: of one iteration the same ones, else any two. They are carried by the outermost loop. */
    int n = q->p->unknowns.n, m = 0;
    pr_var *some = PR_NEW_N(q->arena, pr_var, 2 * n);
    pr_term *one = PR_NEW_N(q->arena, pr_term, q->n_map), range = PR_TERM_TRUE, same = PR_TERM_FALSE;
    for (int i = 0; i < 2 * n; i++) {
        pr_var v = i % 2 ? q->p->unknowns.data[i / 2].second : q->p->unknowns.data[i / 2].var;
        const pr_var_info *info = pr_var_get(q->T, v);
        if (i % 2) one[v.id] = pr_var_term(q->T, q->p->unknowns.data[i / 2].var);
        some[m++] = v;
        if (info->lo > -PR_INF) range = pr_and(q->T, range, pr_le(q->T, pr_const(q->T, info->lo), pr_var_term(q->T, v)));
        if (info->hi < PR_INF) range = pr_and(q->T, range, pr_le(q->T, pr_var_term(q->T, v), pr_const(q->T, info->hi)));
    }
    conj[3] = range;
    if (na && nb && ex->loop[0] == ey->loop[0]) same = pr_eq(q->T, pr_var_term(q->T, a[0]), pr_var_term(q->T, b[0]));
    pr_subst merge = { .T = q->T, .var_map = one, .n_var_map = q->n_map };
    pr_term merged[5] = { conj[0], conj[1], pr_subst_apply(&merge, condition), range, same }, apart[5] = { conj[0], conj[1], condition, range, pr_not(q->T, same) };
    pr_rel r = pr_rel_make(q->R, pr_prove_tuple(q, x), a, na, pr_prove_tuple(q, y), b, nb, some, m, apart, 5);
    return pr_term_is(same, PR_TERM_FALSE) ? r : pr_rel_union(q->R, r, pr_rel_make(q->R, pr_prove_tuple(q, x), a, na, pr_prove_tuple(q, y), b, nb, some, m, merged, 5));
}

static pr_rel ord(prover *q, int x, int y)
{
    pr_rel *r = &q->ord[x * q->n + y];
    if (!r->id) *r = pr_prove_pair(q, x, y, pr_prove_before(q, &q->ev[x], &q->ev[y]));
    return *r;
}

/* The same where one of the two is in the middle of a chain of happens-before: it must exist whatever the executions
 * of flat loops are, which is so when its place in its flat loop is all that is asked of it. */
static pr_rel ord_to(prover *q, int x, int middle)
{
    return pr_prove_coupled(q, &q->ev[middle], &q->ev[x]) ? pr_rel_none(q->R) : ord(q, x, middle);
}
static pr_rel ord_from(prover *q, int middle, int y)
{
    return pr_prove_coupled(q, &q->ev[middle], &q->ev[y]) ? pr_rel_none(q->R) : ord(q, middle, y);
}
static pr_rel ord_between(prover *q, int x, int y)
{
    return pr_prove_coupled(q, &q->ev[x], &q->ev[y]) ? pr_rel_none(q->R) : ord_to(q, x, y);
}

/* Index of the barrier in its allocation. */
pr_term pr_prove_slot(prover *q, const pr_shm_view *v)
{
    const pr_shm_alloc *a = &q->p->allocs.data[v->alloc];
    pr_term t = PR_TERM_ZERO;
    for (int d = 0; d < a->rank; d++)
        t = pr_add(q->T, pr_scale(q->T, t, a->shape[d]), v->indexed[d] ? v->index[d] : pr_const(q->T, v->lo[d]));
    return t;
}

/* How many loops an initialisation of the allocation's barriers is in: a barrier of each iteration. */
int pr_prove_depth(prover *q, int alloc)
{
    for (int i = 0; i < q->n; i++)
        if (q->ev[i].kind == PR_SHM_EV_INIT && q->ev[i].bar[0].alloc == alloc) return q->ev[i].n_loops;
    return 0;
}

int pr_prove_coordinates(prover *q, int alloc, int *at)
{
    int n = 0;
    for (int e = 0; e < q->n; e++) {
        const pr_shm_event *x = &q->ev[e];
        if (x->kind != PR_SHM_EV_INIT || x->bar[0].alloc != alloc) continue;
        for (int i = 0; i < x->n_loops; i++)
            if (i + 1 == x->n_loops || !q->p->loops.data[x->loop[i + 1]].flat) at[n++] = i;
        break;
    }
    return n;
}

/* { event -> P[outer iterations, slot, number] } with number a term; keep: further condition. */
static pr_rel to_phase(prover *q, int e, int bar, pr_term number, pr_term keep)
{
    const pr_shm_event *x = &q->ev[e];
    const pr_shm_view *v = &x->bar[bar];
    int at[PR_SHM_LOOPS], depth = pr_prove_coordinates(q, v->alloc, at), n_out = 0;
    pr_var in[PR_SHM_LOOPS], out[PR_SHM_LOOPS + 2];
    int n_in = pr_prove_counters(q, x, false, in);
    pr_term conj[PR_SHM_LOOPS + 6];
    int n = 0;
    for (int i = 0; i < depth + 2; i++) {
        pr_var_info info = { .role = PR_ROLE_OTHER, .index = 7000000 + i, .copy = PR_COPY_NONE, .lo = -PR_INF,
                             .hi = PR_INF, .name = pr_arena_printf(q->arena, "ph%d", i) };
        out[n_out++] = pr_var_new(q->T, info);
        pr_term is = i < depth ? pr_var_term(q->T, in[at[i] < n_in ? at[i] : 0])
                     : i == depth ? pr_prove_slot(q, v) : number;
        conj[n++] = pr_term_none(is) ? is : pr_eq(q->T, pr_var_term(q->T, out[i]), is);
    }
    conj[n++] = x->when;
    conj[n++] = x->bar_pred[bar];
    conj[n++] = keep;
    if (n_in < pr_prove_depth(q, v->alloc)) return pr_rel_make(q->R, "E", NULL, 0, "E", NULL, 0, NULL, 0, (pr_term[]){ PR_TERM_NONE }, 1);
    return pr_rel_make(q->R, pr_prove_tuple(q, e), in, n_in, phase_tuple(q, v->alloc), out, n_out, NULL, 0, conj, n);
}

/* As to_phase, of numbers >= 0, without the outer counters of flat loops: an iteration of a flat loop is one, whichever
 * execution it is in. */
pr_rel pr_prove_alone(prover *q, int e, int bar, pr_term number)
{
    const pr_shm_event *x = &q->ev[e];
    int at = pr_prove_flat_at(q, x), n_in = 0;
    int where[PR_SHM_LOOPS], depth = pr_prove_coordinates(q, x->bar[bar].alloc, where);
    pr_var all[PR_SHM_LOOPS], in[PR_SHM_LOOPS], out[PR_SHM_LOOPS + 2];
    int n = pr_prove_counters(q, x, false, all);
    for (int i = 0; i < n; i++)
        if (i != at - 1) in[n_in++] = all[i];
    pr_term conj[PR_SHM_LOOPS + 5];
    for (int i = 0; i < depth + 2; i++) {
        pr_var_info info = { .role = PR_ROLE_OTHER, .index = 7000000 + i, .copy = PR_COPY_NONE, .lo = -PR_INF,
                             .hi = PR_INF, .name = pr_arena_printf(q->arena, "ph%d", i) };
        out[i] = pr_var_new(q->T, info);
        pr_term is = i < depth ? pr_var_term(q->T, all[where[i] < n ? where[i] : 0]) : i == depth ? pr_prove_slot(q, &x->bar[bar]) : number;
        conj[i] = pr_eq(q->T, pr_var_term(q->T, out[i]), is);
    }
    conj[depth + 2] = x->when;
    conj[depth + 3] = x->bar_pred[bar];
    conj[depth + 4] = pr_le(q->T, PR_TERM_ZERO, number);
    return pr_rel_make(q->R, "A", in, n_in, "B", out, depth + 2, &all[at - 1], 1, conj, depth + 5);
}

/* ---- local completion ------------------------------------------------------------------------------------------ */
static pr_shm_unit unit_of(const pr_shm_event *e)
{
    switch (e->kind) {
    case PR_SHM_EV_CP: return PR_SHM_CP;
    case PR_SHM_EV_DOT: return PR_SHM_WGMMA;
    case PR_SHM_EV_STORE: return PR_SHM_TMA_STORE;
    case PR_SHM_EV_TMA_LOAD: return PR_SHM_TMA_LOAD;
    case PR_SHM_EV_TC: return PR_SHM_TC;
    default: return PR_SHM_SYNC;
    }
}

/* The same threads: an agent of one warp_specialize, or agent 0 anywhere. */
static bool same_threads(const pr_shm_event *a, const pr_shm_event *b)
{
    return a->agent == b->agent && (!a->agent || a->ws == b->ws);
}

/* ord inside one execution of a branch that may be missing: with one of the two there is the other. */
static pr_rel ord_together(prover *q, int x, int w)
{
    const pr_shm_event *a = &q->ev[x], *b = &q->ev[w];
    if (!b->branch || a->branch != b->branch) return pr_rel_none(q->R);
    pr_term same = pr_prove_before(q, a, b);
    for (int i = 0; i < b->branch_loops; i++)
        same = pr_and(q->T, same, pr_eq(q->T, pr_var_term(q->T, q->p->loops.data[b->loop[i]].counter),
                                        pr_var_term(q->T, q->second[b->loop[i]])));
    return pr_prove_pair(q, x, w, same);
}

/* Union of r;ord(y, z) over z of one kind in the agent of e; r ends in events of kind `from`. */
static pr_rel follow(prover *q, pr_rel r, const pr_shm_event *e, pr_shm_event_kind from, pr_shm_event_kind to)
{
    pr_rel all = pr_rel_none(q->R);
    for (int y = 0; y < q->n; y++) {
        if (!same_threads(&q->ev[y], e) || q->ev[y].kind != from) continue;
        for (int z = 0; z < q->n; z++)
            if (same_threads(&q->ev[z], e) && q->ev[z].kind == to && !q->ev[z].may) all = pr_rel_union(q->R, all, ord_between(q, y, z));
    }
    return pr_rel_then(q->R, r, all);
}

/* x -> waits that cover its completion by counting groups. At least N whole groups after x's own. */
static pr_rel counted(prover *q, int x)
{
    const pr_shm_event *e = &q->ev[x];
    pr_shm_unit u = unit_of(e);
    pr_shm_event_kind group = u == PR_SHM_CP ? PR_SHM_EV_CP_COMMIT : u == PR_SHM_WGMMA ? PR_SHM_EV_DOT : PR_SHM_EV_STORE;
    pr_shm_event_kind wait = u == PR_SHM_CP ? PR_SHM_EV_CP_WAIT : u == PR_SHM_WGMMA ? PR_SHM_EV_DOT_WAIT : PR_SHM_EV_STORE_WAIT;
    pr_rel all = pr_rel_none(q->R);
    /* chain[g]: x -> its g-th or a later group boundary; a WGMMA or store is its own boundary. */
    pr_rel chain = pr_rel_none(q->R);
    int length = 0;
    for (int w = 0; w < q->n; w++) {
        if (!same_threads(&q->ev[w], e) || q->ev[w].kind != wait) continue;
        int64_t need = q->ev[w].count + (u == PR_SHM_CP ? 1 : 0);
        if (need > 64) continue;
        if (need == 0) {
            all = pr_rel_union(q->R, all, q->ev[w].may ? ord_together(q, x, w) : ord_to(q, x, w));
            continue;
        }
        if (q->ev[w].may) continue;
        pr_term between = pr_prove_groups_between(q, e, &q->ev[w], group);
        if (!pr_term_none(between)) {
            pr_term enough = pr_le(q->T, pr_const(q->T, need + (e->kind == group && !e->may)), between);
            all = pr_rel_union(q->R, all, pr_prove_pair(q, x, w, pr_and(q->T, enough, pr_prove_before(q, e, &q->ev[w]))));
            continue;
        }
        if (length > need) length = 0;
        if (length == 0) {
            chain = pr_rel_none(q->R);
            for (int g = 0; g < q->n; g++)
                if (same_threads(&q->ev[g], e) && q->ev[g].kind == group && !q->ev[g].may) chain = pr_rel_union(q->R, chain, ord_to(q, x, g));
            length = 1;
        }
        for (; length < need; length++) chain = follow(q, chain, e, group, group);
        pr_rel last = pr_rel_none(q->R);
        for (int g = 0; g < q->n; g++)
            if (same_threads(&q->ev[g], e) && q->ev[g].kind == group && !q->ev[g].may) last = pr_rel_union(q->R, last, ord_between(q, g, w));
        all = pr_rel_union(q->R, all, pr_rel_then(q->R, chain, last));
    }
    return all;
}

static pr_rel local_done(prover *q, int x)
{
    if (!q->done[x].id) q->done[x] = counted(q, x);
    return q->done[x];
}

static bool is_counted_wait(const pr_shm_event *w, pr_shm_unit u)
{
    switch (u) {
    case PR_SHM_CP: return w->kind == PR_SHM_EV_CP_WAIT;
    case PR_SHM_WGMMA: return w->kind == PR_SHM_EV_DOT_WAIT;
    case PR_SHM_TMA_STORE: return w->kind == PR_SHM_EV_STORE_WAIT;
    default: return false;
    }
}

static bool same_loops(const pr_shm_event *a, const pr_shm_event *b)
{
    return a->n_loops == b->n_loops && memcmp(a->loop, b->loop, sizeof *a->loop * (size_t)a->n_loops) == 0;
}

/* A wait in the iteration of x that covers x whatever comes later: x is complete where the iteration goes on behind it. It has the
 * counters of x, also where these say which execution of a flat loop it is. The condition that it is there and before y. */
static pr_term behind(prover *q, int x, int w, int y)
{
    const pr_shm_event *a = &q->ev[x], *b = &q->ev[w];
    bool covers = same_loops(a, b) && a->seq < b->seq && b->count == 0 && (!b->may || (b->branch && a->branch == b->branch));
    if (!covers) return PR_TERM_FALSE;
    pr_term whole = unit_of(a) == PR_SHM_CP ? PR_TERM_FALSE : PR_TERM_TRUE;
    for (int c = 0; c < q->n && unit_of(a) == PR_SHM_CP; c++) {
        const pr_shm_event *g = &q->ev[c];
        bool between = g->kind == PR_SHM_EV_CP_COMMIT && same_threads(g, a) && !g->may && a->seq < g->seq && g->seq < b->seq;
        if (between && same_loops(g, a)) whole = pr_or(q->T, whole, g->when);
    }
    return pr_and(q->T, pr_and(q->T, whole, b->when), pr_prove_before(q, b, &q->ev[y]));
}

/* x's completion before y's issue, without barriers. */
static pr_rel local(prover *q, int x, int y)
{
    pr_shm_unit u = unit_of(&q->ev[x]);
    if (u == PR_SHM_SYNC) return ord(q, x, y);
    if (u == PR_SHM_TMA_LOAD || u == PR_SHM_TC) return pr_rel_none(q->R);
    pr_rel r = local_done(q, x), waits = pr_rel_none(q->R);
    pr_shm_event_kind kind = u == PR_SHM_CP ? PR_SHM_EV_CP_WAIT : u == PR_SHM_WGMMA ? PR_SHM_EV_DOT_WAIT : PR_SHM_EV_STORE_WAIT;
    pr_rel with_y = pr_rel_none(q->R);               /* a wait that is there because y is */
    for (int w = 0; w < q->n; w++) {
        const pr_shm_event *e = &q->ev[w];
        if (e->kind != kind || !same_threads(e, &q->ev[x])) continue;
        waits = pr_rel_union(q->R, waits, ord_from(q, w, y));
        if (pr_prove_coupled(q, e, &q->ev[y])) with_y = pr_rel_union(q->R, with_y, pr_prove_pair(q, x, y, behind(q, x, w, y)));
        if (!e->may || e->count || u == PR_SHM_CP || e->branch != q->ev[y].branch) continue;
        with_y = pr_rel_union(q->R, with_y, pr_rel_then(q->R, ord_to(q, x, w), ord_together(q, w, y)));
    }
    return pr_rel_union(q->R, pr_rel_then(q->R, r, waits), with_y);
}

/* The same where y is in the middle of a chain. */
static pr_rel local_to(prover *q, int x, int y)
{
    if (pr_prove_coupled(q, &q->ev[y], &q->ev[x])) return pr_rel_none(q->R);
    if (unit_of(&q->ev[x]) == PR_SHM_SYNC || pr_prove_flat_at(q, &q->ev[y]) < 0) return local(q, x, y);
    pr_rel r = pr_rel_none(q->R);                    /* the wait before y is in the middle too */
    for (int w = 0; w < q->n; w++)
        if (is_counted_wait(&q->ev[w], unit_of(&q->ev[x])) && same_threads(&q->ev[w], &q->ev[x]))
            r = pr_rel_union(q->R, r, ord_between(q, w, y));
    return pr_rel_then(q->R, local_done(q, x), r);
}

/* ---- happens-before through phases ----------------------------------------------------------------------------- */
bool pr_prove_arrives(const pr_shm_event *e)
{
    return e->n_bar && e->kind != PR_SHM_EV_WAIT && e->kind != PR_SHM_EV_INIT && e->kind != PR_SHM_EV_INVAL;
}

static pr_rel arrival(prover *q, int a)
{
    pr_rel r = pr_rel_none(q->R);
    for (int b = 0; b < q->ev[a].n_bar; b++) r = pr_rel_union(q->R, r, q->arr[a * PR_SHM_BARS + b]);
    return r;
}

/* One thread issues a TMA load, and no other warp of its partition comes to meet it there, as all do at an arrival: its bytes
 * say nothing of what those warps did before. */
static bool speaks_for(const pr_shm_event *a, const pr_shm_event *x)
{
    bool by_all = x->kind == PR_SHM_EV_ACCESS || x->kind == PR_SHM_EV_WAIT || x->kind == PR_SHM_EV_FENCE || x->kind == PR_SHM_EV_CP || x->kind == PR_SHM_EV_DOT;
    return a->kind != PR_SHM_EV_TMA_LOAD || a->warps == 1 || !by_all || !same_threads(a, x) || a->ws != x->ws;
}

/* x's completion -> the phases that carry it first. */
static pr_rel to_phi(prover *q, int x)
{
    if (q->to_phi[x].id) return q->to_phi[x];
    pr_shm_unit u = unit_of(&q->ev[x]);
    pr_rel r = pr_rel_none(q->R);
    for (int a = 0; a < q->n; a++) {
        const pr_shm_event *e = &q->ev[a];
        if (!pr_prove_arrives(e) || !speaks_for(e, &q->ev[x])) continue;
        bool commits = e->kind == PR_SHM_EV_TC || e->kind == PR_SHM_EV_TC_COMMIT;
        if (u == PR_SHM_TMA_LOAD || (u == PR_SHM_TC && !(commits && same_threads(e, &q->ev[x])))) {
            if (a == x) r = pr_rel_union(q->R, r, arrival(q, a));
            continue;
        }
        if (a == x && (u == PR_SHM_TC || u == PR_SHM_SYNC)) r = pr_rel_union(q->R, r, arrival(q, a));
        pr_rel way = u == PR_SHM_TC ? ord_to(q, x, a) : local_to(q, x, a);
        if (u == PR_SHM_CP && e->kind == PR_SHM_EV_CP_ARRIVE && same_threads(e, &q->ev[x]))
            way = pr_rel_union(q->R, way, ord_to(q, x, a));
        r = pr_rel_union(q->R, r, pr_rel_then(q->R, way, arrival(q, a)));
    }
    return q->to_phi[x] = r;
}

static pr_rel to_phi_all(prover *q, int x)
{
    if (!q->to_phi_all[x].id) {
        pr_rel r = to_phi(q, x);
        q->to_phi_all[x] = pr_rel_union(q->R, r, pr_rel_then(q->R, r, q->closure));
    }
    return q->to_phi_all[x];
}

static pr_rel from_phi(prover *q, int y)
{
    if (q->from_phi[y].id) return q->from_phi[y];
    pr_rel r = pr_rel_none(q->R);
    for (int w = 0; w < q->n; w++)
        if (q->ev[w].kind == PR_SHM_EV_WAIT)
            r = pr_rel_union(q->R, r, pr_rel_then(q->R, pr_rel_back(q->R, q->arr[w * PR_SHM_BARS]), ord_from(q, w, y)));
    return q->from_phi[y] = r;
}

/* Completion of x before the issue of y. */
static pr_rel hb(prover *q, int x, int y)
{
    return pr_rel_union(q->R, local(q, x, y), pr_rel_then(q->R, to_phi_all(q, x), from_phi(q, y)));
}

/* What is left of a relation x -> y when the pairs ordered either way are taken out, cheapest order first. */
static pr_rel unordered(prover *q, int x, int y, pr_rel left)
{
    for (int step = 0; step < 4 && pr_rel_is_empty(q->R, left) == PR_NO; step++) {
        pr_rel order = step == 0   ? local(q, x, y)
                       : step == 1 ? pr_rel_back(q->R, local(q, y, x))
                       : step == 2 ? pr_rel_then(q->R, to_phi_all(q, x), from_phi(q, y))
                                   : pr_rel_back(q->R, pr_rel_then(q->R, to_phi_all(q, y), from_phi(q, x)));
        left = pr_rel_minus(q->R, left, order);
    }
    return left;
}

/* ---- attributions ------------------------------------------------------------------------------------------------ */
static bool attribute(prover *q, const pr_shm_evidences *evidence)
{
    pr_terms *T = q->T;
    for (int e = 0; e < q->n; e++) {
        const pr_shm_event *x = &q->ev[e];
        if (x->kind == PR_SHM_EV_INIT || x->kind == PR_SHM_EV_INVAL) continue;
        for (int b = 0; b < x->n_bar; b++) {
            pr_term n = pr_shm_fit_phase(q->p, x, b, evidence);
            if (pr_term_none(n)) {
                /* Never executed in any run: fine when it cannot happen. */
                pr_rel never = pr_prove_pair(q, e, e, PR_TERM_TRUE);
                if (pr_rel_is_empty(q->R, never) == PR_YES) {
                    q->arr[e * PR_SHM_BARS + b] = pr_rel_none(q->R);
                    q->phase[e * PR_SHM_BARS + b] = PR_TERM_ZERO;
                    continue;
                }
                pr_prove_give_up(q, PR_REFUSAL_ARRIVAL_QUOTA, x->op,
                        "the barrier phase of this operation is no simple function of the loop counters");
                return false;
            }
            int at = pr_prove_flat_at(q, x), depth = pr_prove_depth(q, x->bar[b].alloc);
            if (at > 0 && !x->exact && (pr_term_mentions(T, n, q->p->loops.data[x->loop[at - 1]].counter) || (depth && depth <= at))) {
                pr_prove_give_up(q, PR_REFUSAL_ARRIVAL_QUOTA, x->op,
                        "the barrier phase of this operation depends on which execution of the inner loop it is in");
                return false;
            }
            q->phase[e * PR_SHM_BARS + b] = n;
            q->arr[e * PR_SHM_BARS + b] = to_phase(q, e, b, n, pr_le(T, PR_TERM_ZERO, n));
            pr_term wrong = pr_lt(T, n, pr_const(T, x->kind == PR_SHM_EV_WAIT ? -1 : 0));
            if (x->kind == PR_SHM_EV_WAIT)
                wrong = pr_or(T, wrong, pr_ne(T, pr_fmod_t(T, pr_sub(T, n, x->phase), pr_const(T, 2)), PR_TERM_ZERO));
            pr_rel bad = to_phase(q, e, b, n, wrong);
            if (!pr_prove_holds(q, pr_rel_is_empty(q->R, bad), bad, PR_REFUSAL_ARRIVAL_QUOTA, x->op,
                       "the parity of this wait does not fit the phase it takes part in at every trip count"))
                return false;
        }
    }
    return true;
}

static bool signals(const pr_shm_event *a, int alloc)
{
    for (int b = 0; b < a->n_bar; b++)
        if (a->bar[b].alloc == alloc) return true;
    return false;
}

static bool close_phases(prover *q)
{
    pr_rel step = pr_rel_none(q->R);
    /* One agent: its waits come after what arrives for them, or a step leads from a phase to itself. Then the first wait of
     * a chain comes before its last event, and a chain through several phases says no more than one through the first:
     * steps between phases of different arrays are not needed. */
    bool one = q->p->n_agents == 1 && !q->out->explain;
    for (int i = 0; i < q->p->loops.n; i++) one = one && !q->p->loops.data[i].flat;
    for (int w = 0; w < q->n; w++) {
        if (q->ev[w].kind != PR_SHM_EV_WAIT) continue;
        pr_rel back = pr_rel_back(q->R, q->arr[w * PR_SHM_BARS]);
        for (int a = 0; a < q->n; a++) {
            if (!pr_prove_arrives(&q->ev[a]) || (one && !signals(&q->ev[a], q->ev[w].bar[0].alloc))) continue;
            pr_rel way = ord_between(q, w, a);
            if (pr_rel_is_empty(q->R, way) == PR_YES) continue;
            step = pr_rel_union(q->R, step, pr_rel_then(q->R, pr_rel_then(q->R, back, way), arrival(q, a)));
        }
    }
    bool fixed = true;
    q->step = step;
    q->closure = one ? step : pr_rel_closure(q->R, step, 8, &fixed);
    if (!q->closure.id) return pr_prove_holds(q, PR_MAYBE, step, PR_REFUSAL_UNKNOWN, q->p->func, "");
    if (!fixed) {
        pr_prove_give_up(q, PR_REFUSAL_HB_DEPTH, q->p->func, "happens-before between barrier phases has no fixpoint after 8 compositions");
        return false;
    }
    pr_tri loops = pr_rel_is_reflexive_somewhere(q->R, q->closure);
    if (loops == PR_NO) {
        pr_rel cycle = step;
        pr_tri none = pr_prove_acyclic(q, &cycle);
        if (none != PR_YES) return pr_prove_holds(q, none, cycle, PR_REFUSAL_POTENTIAL_RACE, q->p->func,
                                         "barrier phases may wait for each other in a cycle around an inner and an outer loop");
    }
    return pr_prove_holds(q, loops == PR_NO ? PR_YES : loops == PR_YES ? PR_NO : PR_MAYBE, q->closure, PR_REFUSAL_POTENTIAL_RACE,
                 q->p->func, "barrier phases wait for each other in a cycle (deadlock) at some trip count")
           && (!one || (q->closure = pr_rel_none(q->R)).id);
}

/* ---- obligations --------------------------------------------------------------------------------------------------- */
static bool on_tensor_core(const pr_shm_event *e) { return e->kind == PR_SHM_EV_TC || e->kind == PR_SHM_EV_TC_COMMIT; }

/* { a -> e }: what a signals has been counted before e (where e signals too, before that). */
static pr_rel counted_before(prover *q, int a, int e)
{
    const pr_shm_event *x = &q->ev[a], *y = &q->ev[e];
    if (x->kind == PR_SHM_EV_TMA_LOAD || x->kind == PR_SHM_EV_CP_ARRIVE) return pr_rel_none(q->R);
    if (!on_tensor_core(x)) return hb(q, a, e);
    pr_rel r = on_tensor_core(y) && same_threads(x, y) ? ord(q, a, e) : pr_rel_none(q->R);
    for (int c = 0; c < q->n; c++) {                  /* completed in the order of issue */
        if (!on_tensor_core(&q->ev[c]) || !q->ev[c].n_bar || !same_threads(x, &q->ev[c])) continue;
        pr_rel phi = pr_rel_then(q->R, ord_to(q, a, c), arrival(q, c));
        r = pr_rel_union(q->R, r, pr_rel_then(q->R, pr_rel_union(q->R, phi, pr_rel_then(q->R, phi, q->closure)), from_phi(q, e)));
    }
    return r;
}

/* Of pairs (phase, e) those where some arrival of the phase may be counted after e. A phase is complete when all are. */
static pr_rel some_after(prover *q, int alloc, int e, pr_rel pairs)
{
    pr_rel left = pr_rel_none(q->R);
    for (int a = 0; a < q->n; a++)
        for (int b = 0; pr_prove_arrives(&q->ev[a]) && b < q->ev[a].n_bar; b++) {
            if (q->ev[a].bar[b].alloc != alloc) continue;
            pr_rel to = q->arr[a * PR_SHM_BARS + b], some = pr_rel_then(q->R, to, pairs);
            if (pr_rel_is_empty(q->R, some) == PR_YES) continue;
            some = pr_rel_minus(q->R, some, counted_before(q, a, e));
            left = pr_rel_union(q->R, left, pr_rel_then(q->R, pr_rel_back(q->R, to), some));
        }
    return left;
}

static bool obligations(prover *q)
{
    for (int e = 0; e < q->n; e++) {
        const pr_shm_event *x = &q->ev[e];
        bool waits = x->kind == PR_SHM_EV_WAIT;
        if (!waits && !pr_prove_arrives(x)) continue;
        for (int b = 0; b < x->n_bar; b++) {
            pr_rel r = q->arr[e * PR_SHM_BARS + b], shift = pr_prove_shift_back(q, x->bar[b].alloc);
            pr_rel previous = pr_rel_back(q->R, pr_rel_then(q->R, r, shift));
            pr_rel known = from_phi(q, e), bad = pr_rel_minus(q->R, previous, known);
            if (pr_rel_is_empty(q->R, bad) != PR_YES)
                bad = pr_rel_minus(q->R, bad, pr_rel_then(q->R, q->closure, known));
            if (pr_rel_is_empty(q->R, bad) == PR_NO) bad = some_after(q, x->bar[b].alloc, e, bad);
            if (!pr_prove_holds(q, pr_rel_is_empty(q->R, bad), bad, PR_REFUSAL_POTENTIAL_RACE, x->op,
                       waits ? "this wait can pass on an older phase (W1)"
                             : "this arrival can be counted in an earlier phase (A1)"))
                return false;
            if (x->kind == PR_SHM_EV_CP_ARRIVE && !x->count) {
                pr_rel after = pr_rel_none(q->R);        /* the phase must need an arrival behind this one */
                for (int a = 0; a < q->n; a++)
                    if (pr_prove_arrives(&q->ev[a]) && pr_prove_weight(&q->ev[a]) > 0)
                        after = pr_rel_union(q->R, after, pr_rel_then(q->R, ord_to(q, e, a), arrival(q, a)));
                bad = pr_rel_minus(q->R, r, after);
                if (!pr_prove_holds(q, pr_rel_is_empty(q->R, bad), bad, PR_REFUSAL_ARRIVAL_QUOTA, x->op,
                           "the phase can complete before these copies are counted in it"))
                    return false;
            }
            if (!waits) continue;
            pr_term n = pr_add(q->T, q->phase[e * PR_SHM_BARS], pr_const(q->T, 1));
            pr_rel next = to_phase(q, e, 0, n, pr_le(q->T, PR_TERM_ZERO, n));
            pr_rel all = pr_rel_none(q->R);
            for (int a = 0; a < q->n; a++)
                for (int o = 0; pr_prove_arrives(&q->ev[a]) && o < q->ev[a].n_bar; o++)
                    if (q->ev[a].bar[o].alloc == x->bar[0].alloc)
                        all = pr_rel_union(q->R, all, pr_rel_range(q->R, q->arr[a * PR_SHM_BARS + o]));
            bad = pr_rel_minus(q->R, pr_rel_then(q->R, next, all), to_phi_all(q, e));
            if (!pr_prove_holds(q, pr_rel_is_empty(q->R, bad), bad, PR_REFUSAL_POTENTIAL_RACE, x->op,
                       "the barrier can be two phases ahead of this wait (W2)"))
                return false;
        }
    }
    return true;
}

/* ---- lifecycle ------------------------------------------------------------------------------------------------------ */
/* { e -> i }: the arrival of e that completes on its own time is counted before i: its phase is known to be over, or a later one of
 * the tensor core. */
static pr_rel surely_counted(prover *q, int e, int bar, int i)
{
    pr_rel phi = q->arr[e * PR_SHM_BARS + bar];
    phi = pr_rel_union(q->R, phi, pr_rel_then(q->R, phi, q->closure));
    return pr_rel_union(q->R, counted_before(q, e, i), pr_rel_then(q->R, phi, from_phi(q, i)));
}

static bool lifecycle(prover *q)
{
    for (int e = 0; e < q->n; e++) {
        const pr_shm_event *x = &q->ev[e];
        for (int b = 0; b < x->n_bar; b++) {
            int alloc = x->bar[b].alloc, depth = pr_prove_depth(q, alloc);
            if (q->p->allocs.data[alloc].payload) {
                pr_prove_give_up(q, PR_REFUSAL_REUSE, x->op, "the storage of this barrier also holds data");
                return false;
            }
            bool same = x->n_loops >= depth;
            for (int i = 0; i < q->n && same; i++) {
                const pr_shm_event *y = &q->ev[i];
                if (y->kind != PR_SHM_EV_INIT || y->bar[0].alloc != alloc) continue;
                same = y->n_loops == depth;
                for (int l = 0; l < depth && same; l++) same = y->loop[l] == x->loop[l];
            }
            if (!same) {
                pr_prove_give_up(q, PR_REFUSAL_ARRIVAL_QUOTA, x->op, "the barrier is initialised in a loop that this use is not in");
                return false;
            }
            pr_rel mine = to_phase(q, e, b, PR_TERM_ZERO, PR_TERM_TRUE), ready = pr_rel_none(q->R);
            for (int i = 0; i < q->n; i++) {
                const pr_shm_event *y = &q->ev[i];
                if (!y->n_bar || y->bar[0].alloc != alloc || i == e) continue;
                bool init = y->kind == PR_SHM_EV_INIT, inval = y->kind == PR_SHM_EV_INVAL;
                if (!init && !inval) continue;
                pr_rel with = pr_rel_then(q->R, mine, pr_rel_back(q->R, to_phase(q, i, 0, PR_TERM_ZERO, PR_TERM_TRUE)));
                if (init && x->kind == PR_SHM_EV_INIT) {
                    if (!pr_prove_holds(q, pr_rel_is_empty(q->R, with), with, PR_REFUSAL_ARRIVAL_QUOTA, x->op,
                               "a barrier that is initialised more than once"))
                        return false;
                } else if (init) {
                    ready = pr_rel_union(q->R, ready, pr_rel_meet(q->R, with, pr_rel_back(q->R, ord(q, i, e))));
                } else if (inval && x->kind != PR_SHM_EV_INIT) {
                    bool due = x->kind == PR_SHM_EV_TC || x->kind == PR_SHM_EV_TC_COMMIT || x->kind == PR_SHM_EV_INVAL;
                    bool late = (on_tensor_core(x) || x->kind == PR_SHM_EV_CP_ARRIVE) && pr_prove_made_again(q, alloc);
                    pr_rel bad = pr_rel_minus(q->R, with, late ? surely_counted(q, e, b, i) : due ? pr_rel_union(q->R, ord(q, e, i), pr_rel_back(q->R, ord(q, i, e)))
                                                              : hb(q, e, i));
                    if (x->kind == PR_SHM_EV_INVAL) bad = with;
                    if (!pr_prove_holds(q, pr_rel_is_empty(q->R, bad), bad, PR_REFUSAL_POTENTIAL_RACE, x->op,
                               "this use of a barrier is not complete before its invalidation"))
                        return false;
                }
            }
            if (x->kind == PR_SHM_EV_INIT && (depth || q->p->allocs.data[alloc].copy)) {   /* one iteration's barrier ends before the next */
                pr_rel ended = pr_rel_none(q->R), open;
                for (int i = 0; i < q->n; i++)
                    if (q->ev[i].kind == PR_SHM_EV_INVAL && q->ev[i].bar[0].alloc == alloc)
                        ended = pr_rel_union(q->R, ended, pr_rel_range(q->R, to_phase(q, i, 0, PR_TERM_ZERO, PR_TERM_TRUE)));
                open = pr_rel_minus(q->R, pr_rel_range(q->R, mine), ended);
                if (!pr_prove_holds(q, pr_rel_is_empty(q->R, open), open, PR_REFUSAL_ARRIVAL_QUOTA, x->op,
                           "a barrier that a loop initialises again without invalidating it"))
                    return false;
            }
            if (x->kind == PR_SHM_EV_INIT) {
                pr_rel once = pr_prove_flat_at(q, x) < 0 ? mine : pr_prove_alone(q, e, b, PR_TERM_ZERO);
                if (!pr_prove_holds(q, pr_rel_is_injective(q->R, once), mine, PR_REFUSAL_ARRIVAL_QUOTA, x->op,
                           "a barrier that is initialised more than once"))
                    return false;
                continue;
            }
            pr_rel early = pr_rel_minus(q->R, pr_rel_domain(q->R, mine), pr_rel_domain(q->R, ready));
            if (!pr_prove_holds(q, pr_rel_is_empty(q->R, early), early, PR_REFUSAL_POTENTIAL_RACE, x->op,
                       "this use of a barrier is not preceded by its initialisation"))
                return false;
        }
    }
    return true;
}

/* ---- accesses ----------------------------------------------------------------------------------------------------------- */
static pr_term other_instance(prover *q, const pr_shm_event *e)
{
    pr_term same = PR_TERM_TRUE;
    for (int i = 0; i < e->n_loops; i++)
        same = pr_and(q->T, same, pr_eq(q->T, pr_var_term(q->T, q->p->loops.data[e->loop[i]].counter),
                                        pr_var_term(q->T, q->second[e->loop[i]])));
    return pr_not(q->T, same);
}

/* Can the two accesses meet? FALSE: never. *reuse: they are different allocations that may share storage. */
/* c, where each of the two happens, and is the view that it may be. */
static pr_term both(prover *q, pr_term c, const pr_shm_event *x, const pr_shm_access *a, const pr_shm_event *y, const pr_shm_access *b)
{
    if (!pr_term_none(x->given)) c = pr_and(q->T, c, x->given);
    if (!pr_term_none(y->given)) c = pr_and(q->T, c, pr_prove_renamed(q, y->given));
    if (!pr_term_none(a->guard)) c = pr_and(q->T, c, a->guard);
    return pr_term_none(b->guard) ? c : pr_and(q->T, c, pr_prove_renamed(q, b->guard));
}

static pr_term conflict(prover *q, int x, const pr_shm_access *a, int y, const pr_shm_access *b, bool *reuse)
{
    const pr_shm_alloc *s = &q->p->allocs.data[a->view.alloc], *t = &q->p->allocs.data[b->view.alloc];
    *reuse = false;
    if (!a->write && !b->write) return PR_TERM_FALSE;
    if (a->atomic && b->atomic && pr_str_eq(a->atomic_kind, b->atomic_kind)) return PR_TERM_FALSE;
    if (s->op == t->op) {
        pr_term c = both(q, pr_prove_meets(q, &a->view, &b->view), &q->ev[x], a, &q->ev[y], b);
        return x == y ? pr_and(q->T, c, other_instance(q, &q->ev[x])) : c;
    }
    if (pr_shm_apart(s, t)) return PR_TERM_FALSE;
    *reuse = true;
    return both(q, PR_TERM_TRUE, &q->ev[x], a, &q->ev[y], b);
}

/* Bytes of a barrier and of data: what accesses the data must be ordered with the barrier's life. */
static bool barrier_bytes(prover *q)
{
    for (int x = 0; x < q->n; x++) {
        const pr_shm_event *e = &q->ev[x];
        for (int y = 0; y < q->n; y++) {
            const pr_shm_event *f = &q->ev[y];
            bool may = false, together = false;
            if (f->kind != PR_SHM_EV_INIT && f->kind != PR_SHM_EV_INVAL) continue;
            const pr_shm_alloc *b = &q->p->allocs.data[f->bar[0].alloc];
            for (int i = 0; i < e->n_acc && e->kind != PR_SHM_EV_DEALLOC; i++) {
                const pr_shm_alloc *a = &q->p->allocs.data[e->acc[i].view.alloc];
                if (a == b || pr_shm_apart(a, b)) continue;
                may = true;
                together = together || pr_shm_alloc_disjoint(a, b);
            }
            if (!may) continue;
            pr_rel left = unordered(q, x, y, pr_prove_pair(q, x, y, PR_TERM_TRUE));
            if (together) {
                pr_prove_give_up(q, PR_REFUSAL_REUSE, e->op, "data in the bytes of a barrier");
                return false;
            }
            if (!pr_prove_holds(q, pr_rel_is_empty(q->R, left), left, PR_REFUSAL_REUSE, f->op,
                       "the bytes of this barrier may be storage that another access still uses"))
                return false;
        }
    }
    return true;
}

/* What arrives at a barrier on its own time is counted before its bytes are used for something else: another barrier, or data. What was
 * issued earlier is complete when the barrier is made (barrier_bytes). */
static bool late_arrivals(prover *q)
{
    for (int f = 0; f < q->n; f++) {
        const pr_shm_event *x = &q->ev[f];
        for (int b = 0; b < x->n_bar && (on_tensor_core(x) || x->kind == PR_SHM_EV_CP_ARRIVE); b++) {
            const pr_shm_alloc *a = &q->p->allocs.data[x->bar[b].alloc];
            for (int e = 0; e < q->n; e++) {
                const pr_shm_event *y = &q->ev[e];
                bool uses = false;
                for (int i = 0; i < y->n_acc + 1 && y->kind != PR_SHM_EV_DEALLOC; i++) {
                    if (i == y->n_acc && y->kind != PR_SHM_EV_INIT) continue;
                    const pr_shm_alloc *t = &q->p->allocs.data[i < y->n_acc ? y->acc[i].view.alloc : y->bar[0].alloc];
                    uses = uses || (t->op != a->op && t->live_from > a->live_from && !pr_shm_apart(a, t));
                }
                if (!uses) continue;
                pr_rel bad = pr_rel_minus(q->R, pr_prove_pair(q, f, e, PR_TERM_TRUE), pr_rel_union(q->R, surely_counted(q, f, b, e), pr_rel_back(q->R, ord(q, e, f))));
                if (!pr_prove_holds(q, pr_rel_is_empty(q->R, bad), bad, PR_REFUSAL_REUSE, y->op, "something may still arrive at an earlier barrier whose bytes this may use"))
                    return false;
            }
        }
    }
    return true;
}

/* x, then the fence f, then y. A fence in a flat loop counts with waits and arrivals of that loop only. */
static pr_rel through(prover *q, int x, int f, int y)
{
    if (pr_prove_flat_at(q, &q->ev[f]) < 0) return pr_rel_then(q->R, hb(q, x, f), hb(q, f, y));
    pr_rel in = pr_rel_none(q->R), out = pr_prove_coupled(q, &q->ev[f], &q->ev[y]) ? in : local(q, f, y), all = in;
    for (int w = 0; w < q->n; w++)
        if (q->ev[w].kind == PR_SHM_EV_WAIT)
            in = pr_rel_union(q->R, in, pr_rel_then(q->R, pr_rel_back(q->R, q->arr[w * PR_SHM_BARS]), ord_between(q, w, f)));
    in = pr_rel_union(q->R, local_to(q, x, f), pr_rel_then(q->R, to_phi_all(q, x), in));
    for (int a = 0; a < q->n; a++)
        if (pr_prove_arrives(&q->ev[a]) && speaks_for(&q->ev[a], &q->ev[f])) all = pr_rel_union(q->R, all, pr_rel_then(q->R, ord_between(q, f, a), arrival(q, a)));
    all = pr_rel_union(q->R, all, pr_rel_then(q->R, all, q->closure));
    out = pr_rel_union(q->R, out, pr_rel_then(q->R, all, from_phi(q, y)));
    return pr_rel_then(q->R, in, out);
}

/* x, the fence that the compiler puts before the access z through the async proxy because the same partition has touched bytes of z
 * in x by its threads (M1), then y. */
static pr_rel inserted(prover *q, int x, int z, int y)
{
    const pr_shm_event *a = &q->ev[x], *b = &q->ev[z];
    pr_rel all = pr_rel_none(q->R);
    pr_term meet = PR_TERM_FALSE;
    if (q->p->membar || b->may || !same_threads(a, b) || a->ws != b->ws || pr_prove_coupled(q, b, a)) return all;
    for (int i = 0; i < a->n_acc; i++) {
        for (int j = 0; j < b->n_acc && a->acc[i].unit == PR_SHM_SYNC; j++) {
            bool reuse, generic = !a->acc[i].async_proxy && b->acc[j].async_proxy && q->p->allocs.data[a->acc[i].view.alloc].memory == PR_SHM_SMEM;
            pr_term c = generic && !a->acc[i].view.partial && !b->acc[j].view.partial ? conflict(q, x, &a->acc[i], z, &b->acc[j], &reuse) : PR_TERM_FALSE;
            if (!pr_term_is(c, PR_TERM_FALSE) && !reuse && !pr_shm_is_unknown(q->p, c)) meet = pr_or(q->T, meet, c);   /* they surely do            */
        }
    }
    if (pr_term_is(meet, PR_TERM_FALSE)) return all;
    for (int c = 0; c < q->n; c++)
        if (pr_prove_arrives(&q->ev[c]) && (q->ev[c].kind != PR_SHM_EV_TMA_LOAD || q->ev[c].warps == 1))
            all = pr_rel_union(q->R, all, pr_rel_then(q->R, ord_between(q, z, c), arrival(q, c)));
    all = pr_rel_union(q->R, all, pr_rel_then(q->R, all, q->closure));
    pr_rel after = pr_rel_union(q->R, ord_from(q, z, y), pr_rel_then(q->R, all, from_phi(q, y)));
    return pr_rel_then(q->R, pr_prove_pair(q, x, z, pr_and(q->T, meet, pr_prove_before(q, a, b))), after);
}

static bool fences(prover *q, int x, int y, pr_rel conf)
{
    pr_rel ordered = pr_rel_meet(q->R, conf, hb(q, x, y)), good = pr_rel_none(q->R);
    pr_tri none = pr_rel_is_empty(q->R, ordered);
    if (none == PR_YES) return true;
    for (int f = 0; f < q->n; f++)
        if (q->ev[f].kind == PR_SHM_EV_FENCE && !q->ev[f].may) good = pr_rel_union(q->R, good, through(q, x, f, y));
    pr_rel bad = pr_rel_minus(q->R, ordered, good);
    for (int z = 0; z < q->n && pr_rel_is_empty(q->R, bad) == PR_NO; z++) bad = pr_rel_minus(q->R, bad, inserted(q, x, z, y));
    return pr_prove_holds(q, pr_rel_is_empty(q->R, bad), bad, PR_REFUSAL_POTENTIAL_RACE, q->ev[y].op,
                 "an access through the async proxy follows a generic access of another partition without fence_async_shared");
}

enum { MAX_TEXT = 400 };

static bool accesses(prover *q)
{
    for (int x = 0; x < q->n; x++) {
        for (int y = x; y < q->n; y++) {
            const pr_shm_event *ex = &q->ev[x], *ey = &q->ev[y];
            bool same_agent = ex->agent == ey->agent;
            if (ex->kind == PR_SHM_EV_DEALLOC || ey->kind == PR_SHM_EV_DEALLOC) continue;
            pr_term all = PR_TERM_FALSE, proxy[2] = { PR_TERM_FALSE, PR_TERM_FALSE };
            bool reuse = false, any_reuse = false;
            for (int i = 0; i < ex->n_acc; i++) {
                for (int j = 0; j < ey->n_acc; j++) {
                    const pr_shm_access *a = &ex->acc[i], *b = &ey->acc[j];
                    if (same_agent && a->unit == PR_SHM_SYNC && b->unit == PR_SHM_SYNC) continue;
                    if (same_threads(ex, ey) && a->unit == PR_SHM_TC && b->unit == PR_SHM_TC) continue;
                    pr_term c = conflict(q, x, a, y, b, &reuse);
                    if (pr_term_is(c, PR_TERM_FALSE)) continue;
                    q->out->n_pairs++;
                    any_reuse = any_reuse || reuse;
                    all = pr_or(q->T, all, c);
                    bool smem = q->p->allocs.data[a->view.alloc].memory == PR_SHM_SMEM;
                    if (!same_agent && smem && !a->async_proxy && b->async_proxy) proxy[0] = pr_or(q->T, proxy[0], c);
                    if (!same_agent && smem && !b->async_proxy && a->async_proxy) proxy[1] = pr_or(q->T, proxy[1], c);
                }
            }
            if (pr_term_is(all, PR_TERM_FALSE)) continue;
            pr_term met = pr_and(q->T, all, pr_prove_in_order(q, ex, ey));
            pr_rel conf = pr_prove_pair(q, x, y, met);
            if (!conf.id && pr_prove_never_together(q, x, y, met)) continue;
            pr_rel left = unordered(q, x, y, conf);
            if (q->out->explain && conf.id && pr_rel_is_empty(q->R, conf) != PR_YES) {
                pr_shm_explained one = { x, y, pr_rel_text(q->R, q->p->arena, conf), pr_rel_text(q->R, q->p->arena, left), pr_rel_is_empty(q->R, left) };
                pr_vec_push(q->p->arena, &q->out->explained, one);
                if (one.ordered == PR_NO) continue;   /* the others too */
            }
            if (pr_shm_requests_in_order(ex, ey) && pr_rel_is_empty(q->R, left) == PR_NO) {
                q->p->requests_in_order = true;       /* a premise: the verdict says so                     */
                continue;
            }
            if (!pr_prove_holds(q, pr_rel_is_empty(q->R, left), left, any_reuse ? PR_REFUSAL_REUSE : PR_REFUSAL_POTENTIAL_RACE, ey->op,
                       any_reuse ? "storage of an earlier allocation may be used again while an asynchronous access to it is pending"
                                 : pr_arena_printf(q->p->arena, "not ordered with `" PR_STR_FMT "` at line %d",
                                                   PR_STR_ARG(ex->op->name), ex->loc.line ? ex->loc.line : ex->loc.text_line)))
                return false;
            conflicting one = { x, y, conf };
            pr_vec_push(q->arena, &q->pairs, one);
            for (int side = 0; side < 2; side++) {
                if (pr_term_is(proxy[side], PR_TERM_FALSE)) continue;
                pr_rel c = pr_prove_pair(q, x, y, pr_and(q->T, proxy[side], pr_prove_in_order(q, ex, ey)));
                if (!fences(q, side ? y : x, side ? x : y, side ? pr_rel_back(q->R, c) : c)) return false;
            }
        }
    }
    return true;
}

/* Hidden shared memory of layout conversions and reductions: may be the storage of any allocation whose life
 * does not include the operation. */
static bool scratch(prover *q)
{
    for (int s = 0; s < q->n; s++) {
        if (q->ev[s].kind != PR_SHM_EV_SCRATCH) continue;
        for (int x = 0; x < q->n; x++) {
            const pr_shm_event *e = &q->ev[x];
            bool may = false;
            for (int i = 0; i < e->n_acc && e->kind != PR_SHM_EV_DEALLOC; i++) {
                const pr_shm_alloc *a = &q->p->allocs.data[e->acc[i].view.alloc];
                bool live = (a->live_from <= q->ev[s].op->id && q->ev[s].op->id <= a->live_to) || pr_shm_runs_beside(a, q->ev[s].op);
                bool sync = e->acc[i].unit == PR_SHM_SYNC && e->agent == q->ev[s].agent;
                may = may || (a->memory == PR_SHM_SMEM && !live && !sync);
            }
            if (!may) continue;
            pr_rel left = unordered(q, x, s, pr_prove_pair(q, x, s, PR_TERM_TRUE));
            if (!pr_prove_holds(q, pr_rel_is_empty(q->R, left), left, PR_REFUSAL_REUSE, q->ev[s].op,
                       pr_arena_printf(q->p->arena, "scratch memory of this operation may be storage that an asynchronous access (`" PR_STR_FMT
                                       "` at line %d) still uses", PR_STR_ARG(e->op->name), e->loc.line ? e->loc.line : e->loc.text_line)))
                return false;
        }
    }
    return true;
}

/* ---- CTA barriers ---------------------------------------------------------------------------------------------------------- */
static pr_rel lent_order(void *of, int x, int y, bool middle)
{
    return middle ? ord_between(of, x, y) : ord(of, x, y);
}
static pr_rel lent_meeting(void *of, int x, const pr_shm_access *a, int y, const pr_shm_access *b)
{
    bool reuse;
    return pr_prove_pair(of, x, y, conflict(of, x, a, y, b, &reuse));
}
static bool lent_none(void *of, pr_rel left, const pr_op *op, const char *why)
{
    prover *q = of;
    return pr_prove_holds(q, pr_rel_is_empty(q->R, left), left, PR_REFUSAL_POTENTIAL_RACE, op, why);
}

static bool strictly(prover *q)
{
    pr_shm_lent l = { .p = q->p, .R = q->R, .ev = q->ev, .n = q->n, .prover = q, .order = lent_order, .meeting = lent_meeting, .none = lent_none };
    return !q->p->membar || pr_shm_prove_strictly(&l);
}

void pr_shm_prove(pr_shm_prog *p, const pr_shm_model *m, const pr_shm_evidences *evidence, int64_t max_ops,
                  const pr_flag *interrupt, bool explain, pr_shm_proof *out)
{
    memset(out, 0, sizeof *out);
    out->explain = explain;
    prover q = { .p = p, .m = m, .T = p->T, .out = out, .ev = m->events.data, .n = m->events.n,
                 .arena = pr_arena_new(0, pr_arena_oom(p->arena)) };
    if (m->refusals.n) {
        out->refusals = m->refusals;
        pr_arena_free(q.arena);
        return;
    }
    pr_var *params = PR_NEW_N(p->arena, pr_var, p->params.n + 1);
    for (int i = 0; i < p->params.n; i++) params[i] = p->params.data[i].var;
    q.second = PR_NEW_N(q.arena, pr_var, p->loops.n + 1);
    for (int i = 0; i < p->loops.n; i++) {
        pr_var_info info = *pr_var_get(p->T, p->loops.data[i].counter);
        info.copy = PR_COPY_B;
        info.name = pr_arena_printf(p->arena, "j%d", i);
        q.second[i] = pr_var_new(p->T, info);
    }
    q.n_map = pr_vars_count(p->T);
    q.map = PR_NEW_N(q.arena, pr_term, q.n_map);
    for (int i = 0; i < p->loops.n; i++) q.map[p->loops.data[i].counter.id] = pr_var_term(p->T, q.second[i]);
    for (int i = 0; i < p->unknowns.n; i++) q.map[p->unknowns.data[i].var.id] = pr_var_term(p->T, p->unknowns.data[i].second);
    q.subst = (pr_subst){ .T = p->T, .var_map = q.map, .n_var_map = q.n_map };
    q.R = pr_rels_new(q.arena, p->T, params, p->params.n, max_ops, interrupt);
    size_t n = (size_t)q.n;
    q.ord = PR_NEW_N(q.arena, pr_rel, n * n + 1);
    q.done = PR_NEW_N(q.arena, pr_rel, n + 1);
    q.to_phi = PR_NEW_N(q.arena, pr_rel, n + 1);
    q.to_phi_all = PR_NEW_N(q.arena, pr_rel, n + 1);
    q.from_phi = PR_NEW_N(q.arena, pr_rel, n + 1);
    q.phase = PR_NEW_N(q.arena, pr_term, n * PR_SHM_BARS + 1);
    q.arr = PR_NEW_N(q.arena, pr_rel, n * PR_SHM_BARS + 1);

    bool ok = pr_prove_placed(&q) && pr_prove_ranges(&q) && attribute(&q, evidence) && close_phases(&q);
    for (int a = 0; a < p->allocs.n && ok; a++) {
        if (!p->allocs.data[a].barrier) continue;
        out->n_barriers++;
        ok = pr_prove_quotas(&q, a);
    }
    ok = ok && lifecycle(&q) && obligations(&q);
    out->settled = ok;
    ok = (ok || (explain && q.closure.id)) && accesses(&q) && ok && barrier_bytes(&q) && late_arrivals(&q) && scratch(&q) && strictly(&q);
    out->proved = ok && !q.failed && !explain;
    if (explain && q.closure.id) {
        out->direct = pr_rel_text(q.R, p->arena, q.step);
        out->closure = pr_rel_text(q.R, p->arena, q.closure);
    }
    if (p->certify && out->proved) {
        pr_term *phases = PR_NEW_N(p->arena, pr_term, n * PR_SHM_BARS + 1);
        memcpy(phases, q.phase, n * PR_SHM_BARS * sizeof *phases);
        out->phases = phases;
        out->closure = pr_rel_text(q.R, p->arena, q.closure);
        for (int i = 0; i < q.pairs.n; i++) {
            pr_shm_meeting one = { q.pairs.data[i].x, q.pairs.data[i].y, pr_rel_text(q.R, p->arena, q.pairs.data[i].conflicts) };
            pr_vec_push(p->arena, &out->meetings, one);
        }
    }
    out->isl_ops = pr_rels_operations(q.R);
    for (int i = 0; i < q.pairs.n && out->proved; i++) {      /* after the verdict: texts cannot change it        */
        const conflicting *c = &q.pairs.data[i];
        const char *text = pr_rel_text(q.R, p->arena, c->conflicts);
        pr_shm_ordered o = { &q.ev[c->x], &q.ev[c->y], text && strlen(text) <= MAX_TEXT ? text : NULL };
        pr_vec_push(p->arena, &out->ordered, o);
    }
    pr_rels_free(q.R);
    pr_arena_free(q.arena);
}
