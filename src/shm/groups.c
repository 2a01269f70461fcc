/* How many groups (commits of cp.async, WGMMA, TMA stores) an agent has formed before an event, as a term over the
 * event's loop counters (shared-memory.md 4.7). A wait for all but the last N then covers what is N groups behind it:
 * one comparison a pair, where chains of N compositions would be needed otherwise. */
#include "shm/prover.h"

static bool same_threads(const pr_shm_event *a, const pr_shm_event *b)
{
    return a->agent == b->agent && (!a->agent || a->ws == b->ws);
}

/* It happens in every iteration of the loops around it. */
static bool unconditional(prover *q, const pr_shm_event *g)
{
    pr_terms *T = q->T;
    pr_term all = PR_TERM_TRUE;
    for (int i = 0; i < g->n_loops; i++) {
        const pr_shm_loop *l = &q->p->loops.data[g->loop[i]];
        pr_term k = pr_var_term(T, l->counter);
        if (l->flat || pr_term_none(l->trips)) return false;
        all = pr_and(T, pr_and(T, all, pr_le(T, PR_TERM_ZERO, k)), pr_lt(T, k, l->trips));
    }
    return g->when.id == all.id;
}

/* How often g has happened before e; NONE when that is no simple term. */
static pr_term before(prover *q, const pr_shm_event *g, const pr_shm_event *e)
{
    pr_terms *T = q->T;
    pr_term n = PR_TERM_ZERO;                        /* finished iterations of the common loops                  */
    pr_i128 inner = 1, v = 1;
    int common = 0;
    while (common < g->n_loops && common < e->n_loops && e->loop[common] == g->loop[common]) common++;
    for (int i = 0; i < g->n_loops; i++) {
        const pr_shm_loop *l = &q->p->loops.data[g->loop[i]];
        if (i && (!pr_term_const(T, l->trips, &v) || v > 1 << 20 || inner > 1 << 20)) return PR_TERM_NONE;
        if (i < common) n = pr_add(T, i ? pr_scale(T, n, v) : n, pr_var_term(T, l->counter));
        else if (i) inner *= v;
    }
    bool earlier = g->seq < e->seq;
    if (!common && g->n_loops) return earlier ? pr_scale(T, q->p->loops.data[g->loop[0]].trips, inner) : PR_TERM_ZERO;
    return pr_scale(T, earlier ? pr_add(T, n, pr_const(T, 1)) : n, inner);
}

pr_term pr_prove_groups_before(prover *q, const pr_shm_event *e, pr_shm_event_kind group)
{
    pr_term sum = PR_TERM_ZERO;
    for (int i = 0; i < q->n; i++) {
        const pr_shm_event *g = &q->ev[i];
        if (g->kind != group || !same_threads(g, e) || g->may) continue;
        pr_term n = unconditional(q, g) ? before(q, g, e) : PR_TERM_NONE;
        if (pr_term_none(n)) return n;
        sum = pr_add(q->T, sum, n);
    }
    return sum;
}
