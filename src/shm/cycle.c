/* Barrier phases that wait for each other, where agents run loops of tiles with flat loops inside.
 *
 * The proof's happens-before leaves out what depends on where one execution of a flat loop ends: it may only be too
 * small. A cycle check needs the opposite, so here every phase of a barrier that a flat loop uses carries the number of
 * the execution its reference arrival is in, and every edge between flat and outer loops is kept. Executions are only
 * known to come in order, so the relation is too large, and what has no cycle here has none. */
#include "shm/prover.h"

int pr_prove_flat_at(const prover *q, const pr_shm_event *x)
{
    for (int i = 0; i < x->n_loops; i++)
        if (q->p->loops.data[x->loop[i]].flat) return i;
    return -1;
}

bool pr_prove_coupled(const prover *q, const pr_shm_event *flat, const pr_shm_event *other)
{
    int at = pr_prove_flat_at(q, flat);
    if (at < 0 || flat->exact) return false;
    bool outer = false, same = false;
    for (int i = 0; i < other->n_loops; i++) {
        outer = outer || other->loop[i] == q->p->loops.data[flat->loop[at]].outer;
        same = same || other->loop[i] == flat->loop[at];
    }
    return outer && !same;
}

pr_term pr_prove_in_order(prover *q, const pr_shm_event *x, const pr_shm_event *y)
{
    int i = pr_prove_flat_at(q, x), j = pr_prove_flat_at(q, y);
    pr_terms *T = q->T;
    if (i < 0 || j < 0) return PR_TERM_TRUE;
    const pr_shm_loop *a = &q->p->loops.data[x->loop[i]], *b = &q->p->loops.data[y->loop[j]];
    if (a->nest != b->nest) return PR_TERM_TRUE;
    pr_term t = pr_var_term(T, a->counter), u = pr_var_term(T, q->second[y->loop[j]]);
    pr_term e = pr_var_term(T, q->p->loops.data[a->outer].counter), f = pr_var_term(T, q->second[b->outer]);
    return pr_or(T, pr_and(T, pr_eq(T, t, u), pr_eq(T, e, f)),
                 pr_or(T, pr_and(T, pr_lt(T, t, u), pr_le(T, e, f)), pr_and(T, pr_lt(T, u, t), pr_le(T, f, e))));
}

/* The first arrival in a flat loop at barriers of the allocation, -1 when there is none. */
static int reference(const prover *q, int alloc, int *bar)
{
    for (int e = 0; e < q->n; e++) {
        const pr_shm_event *x = &q->ev[e];
        if (!pr_prove_arrives(x) || pr_prove_flat_at(q, x) < 0) continue;
        for (*bar = 0; *bar < x->n_bar; ++*bar)
            if (x->bar[*bar].alloc == alloc) return e;
    }
    return -1;
}

static pr_var fresh(prover *q, int index)
{
    pr_var_info info = { .role = PR_ROLE_OTHER, .index = 7100000 + index, .copy = PR_COPY_NONE, .lo = -PR_INF, .hi = PR_INF,
                         .name = pr_arena_printf(q->arena, "g%d", index) };
    return pr_var_new(q->T, info);
}

/* { event -> G[outer iterations, slot, number, execution] } */
static pr_rel to_node(prover *q, int e, int bar)
{
    const pr_shm_event *x = &q->ev[e];
    pr_terms *T = q->T;
    int where[PR_SHM_LOOPS], alloc = x->bar[bar].alloc, depth = pr_prove_coordinates(q, alloc, where), n = 0, rb = 0, r = reference(q, alloc, &rb);
    pr_var in[PR_SHM_LOOPS], out[PR_SHM_LOOPS + 3], other[PR_SHM_LOOPS];
    pr_term conj[2 * PR_SHM_LOOPS + 12];
    int n_in = pr_prove_counters(q, x, false, in), n_out = depth + 3;
    pr_term number = q->phase[e * PR_SHM_BARS + bar];
    const char *to = pr_arena_printf(q->arena, "G%d", alloc), *from = pr_prove_tuple(q, e);
    if (n_in < pr_prove_depth(q, alloc)) return pr_rel_make(q->R, "E", NULL, 0, "E", NULL, 0, NULL, 0, (pr_term[]){ PR_TERM_NONE }, 1);
    for (int i = 0; i < n_out; i++) out[i] = fresh(q, i);
    for (int i = 0; i < depth; i++) conj[n++] = pr_eq(T, pr_var_term(T, out[i]), pr_var_term(T, in[where[i]]));
    pr_term slot = pr_var_term(T, out[depth]), phase = pr_var_term(T, out[depth + 1]), tile = pr_var_term(T, out[depth + 2]);
    conj[n++] = pr_eq(T, slot, pr_prove_slot(q, &x->bar[bar]));
    conj[n++] = pr_eq(T, phase, number);
    conj[n++] = pr_le(T, PR_TERM_ZERO, number);
    conj[n++] = x->when;
    conj[n++] = x->bar_pred[bar];
    if (r < 0) {
        conj[n++] = pr_eq(T, tile, PR_TERM_ZERO);
        return pr_rel_make(q->R, from, in, n_in, to, out, n_out, NULL, 0, conj, n);
    }
    conj[n++] = pr_le(T, PR_TERM_ZERO, tile);
    pr_rel any = pr_rel_make(q->R, from, in, n_in, to, out, n_out, NULL, 0, conj, n);
    int at = pr_prove_flat_at(q, x), ref_at = pr_prove_flat_at(q, &q->ev[r]);
    /* Numbered by the reference: the execution it is in, as far as this event's own says which that can be. */
    const pr_shm_event *y = &q->ev[r];
    int n_ref = pr_prove_counters(q, y, true, other);
    for (int i = 0; i < depth; i++) conj[n++] = pr_eq(T, pr_var_term(T, out[i]), pr_var_term(T, other[where[i] < n_ref ? where[i] : 0]));
    conj[n++] = pr_eq(T, slot, pr_prove_renamed(q, pr_prove_slot(q, &y->bar[rb])));
    conj[n++] = pr_eq(T, phase, pr_prove_renamed(q, q->phase[r * PR_SHM_BARS + rb]));
    conj[n++] = pr_prove_renamed(q, y->when);
    conj[n++] = pr_eq(T, tile, pr_var_term(T, other[ref_at - 1]));
    pr_rel referred = pr_rel_make(q->R, from, in, n_in, to, out, n_out, other, n_ref, conj, n);
    if (at < 0) return any;
    pr_term in_order = pr_prove_in_order(q, x, y);
    conj[n] = in_order;
    pr_rel exact = pr_rel_make(q->R, from, in, n_in, to, out, n_out, other, n_ref, conj, n + 1);
    /* What the reference never reaches may be in any execution. */
    pr_rel reached = pr_rel_domain(q->R, referred);
    return pr_rel_union(q->R, exact, pr_rel_then(q->R, pr_rel_minus(q->R, pr_rel_domain(q->R, any), reached), any));
}

static pr_rel node(prover *q, int e)
{
    pr_rel r = pr_rel_none(q->R);
    for (int b = 0; b < q->ev[e].n_bar; b++)
        if (!pr_term_none(q->phase[e * PR_SHM_BARS + b])) r = pr_rel_union(q->R, r, to_node(q, e, b));
    return r;
}

pr_tri pr_prove_acyclic(prover *q, pr_rel *cycle)
{
    bool needed = false, fixed;
    for (int w = 0; w < q->n; w++)
        for (int a = 0; a < q->n; a++)
            needed = needed || (q->ev[w].kind == PR_SHM_EV_WAIT && pr_prove_arrives(&q->ev[a]) && q->ev[w].agent == q->ev[a].agent
                                && (pr_prove_coupled(q, &q->ev[w], &q->ev[a]) || pr_prove_coupled(q, &q->ev[a], &q->ev[w])));
    if (!needed) return PR_YES;
    pr_rel step = pr_rel_none(q->R), *nodes = PR_NEW_N(q->arena, pr_rel, q->n + 1);
    for (int e = 0; e < q->n; e++)
        if (q->ev[e].n_bar && (q->ev[e].kind == PR_SHM_EV_WAIT || pr_prove_arrives(&q->ev[e]))) nodes[e] = node(q, e);
    for (int w = 0; w < q->n; w++) {
        if (q->ev[w].kind != PR_SHM_EV_WAIT) continue;
        for (int a = 0; a < q->n; a++) {
            if (!pr_prove_arrives(&q->ev[a])) continue;
            pr_rel way = pr_prove_pair(q, w, a, pr_and(q->T, pr_prove_before(q, &q->ev[w], &q->ev[a]), pr_prove_in_order(q, &q->ev[w], &q->ev[a])));
            if (pr_rel_is_empty(q->R, way) == PR_YES) continue;
            step = pr_rel_union(q->R, step, pr_rel_then(q->R, pr_rel_then(q->R, pr_rel_back(q->R, nodes[w]), way), nodes[a]));
        }
    }
    pr_rel closure = pr_rel_closure(q->R, step, 8, &fixed);
    *cycle = closure;
    if (!closure.id || !fixed) return PR_MAYBE;
    pr_tri somewhere = pr_rel_is_reflexive_somewhere(q->R, closure);
    return somewhere == PR_NO ? PR_YES : somewhere == PR_YES ? PR_NO : PR_MAYBE;
}
