/* How many groups (commits of cp.async, WGMMA, TMA stores) an agent forms between two events, as a term over their loop
 * counters (shared-memory.md 4.7). A wait for all but the last N covers what is N groups behind it: one comparison a
 * pair, where chains of N compositions would be needed otherwise. */
#include "shm/prover.h"

static bool same_threads(const pr_shm_event *a, const pr_shm_event *b)
{
    return a->agent == b->agent && (!a->agent || a->ws == b->ws);
}

/* It happens in every iteration of the loops around it, once its copy is reached. */
static bool unconditional(prover *q, const pr_shm_event *g)
{
    pr_terms *T = q->T;
    pr_term all = q->p->copies[g->copy].when;
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

/* Groups that are surely formed between x and w, w's counters renamed. Of a copy that neither of the two is in, none. */
pr_term pr_prove_groups_between(prover *q, const pr_shm_event *x, const pr_shm_event *w, pr_shm_event_kind group)
{
    pr_term sum = PR_TERM_ZERO;
    if (pr_prove_flat_at(q, x) >= 0 || pr_prove_flat_at(q, w) >= 0) return PR_TERM_NONE;
    for (int i = 0; i < q->n; i++) {
        const pr_shm_event *g = &q->ev[i];
        if (g->kind != group || !same_threads(g, w) || g->may) continue;
        pr_term a = unconditional(q, g) ? before(q, g, x) : PR_TERM_NONE, b = pr_term_none(a) ? a : before(q, g, w);
        if (pr_term_none(b)) return b;
        if (!pr_shm_copy_within(q->p, x->copy, g->copy) && !pr_shm_copy_within(q->p, w->copy, g->copy)) continue;
        sum = pr_add(q->T, sum, pr_sub(q->T, pr_prove_renamed(q, b), a));
    }
    return sum;
}
