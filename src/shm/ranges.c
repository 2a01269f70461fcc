/* Where views are: does every slot index stay in its array, do two views meet, have allocations common bytes? */
#include "shm/prover.h"

bool pr_prove_ranges(prover *q)
{
    pr_terms *T = q->T;
    for (int e = 0; e < q->n; e++) {
        const pr_shm_event *x = &q->ev[e];
        pr_term wrong = PR_TERM_FALSE;
        for (int i = 0; i < x->n_acc + x->n_bar; i++) {
            const pr_shm_view *v = i < x->n_acc ? &x->acc[i].view : &x->bar[i - x->n_acc];
            for (int d = 0; d < PR_SHM_RANK; d++) {
                if (!v->indexed[d]) continue;
                if (pr_term_none(v->index[d])) {
                    pr_prove_give_up(q, PR_REFUSAL_DATA_DEPENDENT_SYNC, x->op,
                            "the slot of this access depends on data or on a value carried around an outer loop");
                    return false;
                }
                pr_term in = pr_and(T, pr_le(T, PR_TERM_ZERO, v->index[d]),
                                    pr_lt(T, v->index[d], pr_const(T, q->p->allocs.data[v->alloc].shape[d])));
                pr_term out = pr_not(T, in);
                if (i < x->n_acc && !pr_term_none(x->acc[i].guard)) out = pr_and(T, out, x->acc[i].guard);
                wrong = pr_or(T, wrong, out);
            }
        }
        if (pr_term_is(wrong, PR_TERM_FALSE)) continue;
        pr_rel bad = pr_prove_pair(q, e, e, wrong);
        if (!pr_prove_holds(q, pr_rel_is_empty(q->R, bad), bad, PR_REFUSAL_POTENTIAL_RACE, x->op,
                   "a slot index can leave the array"))
            return false;
    }
    return true;
}

/* The two views of one allocation have common bytes; b's counters are the other ones. */
pr_term pr_prove_meets(prover *q, const pr_shm_view *a, const pr_shm_view *b)
{
    pr_terms *T = q->T;
    pr_term t = PR_TERM_TRUE;
    for (int d = 0; d < q->p->allocs.data[a->alloc].rank; d++) {
        pr_term i = a->indexed[d] ? a->index[d] : PR_TERM_NONE, j = b->indexed[d] ? pr_prove_renamed(q, b->index[d]) : PR_TERM_NONE;
        if ((a->indexed[d] && pr_term_none(i)) || (b->indexed[d] && pr_term_none(j))) continue;
        if (a->indexed[d] && b->indexed[d]) t = pr_and(T, t, pr_eq(T, i, j));
        else if (a->indexed[d])
            t = pr_and(T, t, pr_and(T, pr_le(T, pr_const(T, b->lo[d]), i), pr_lt(T, i, pr_const(T, b->hi[d]))));
        else if (b->indexed[d])
            t = pr_and(T, t, pr_and(T, pr_le(T, pr_const(T, a->lo[d]), j), pr_lt(T, j, pr_const(T, a->hi[d]))));
        else if (a->lo[d] >= b->hi[d] || b->lo[d] >= a->hi[d]) return PR_TERM_FALSE;
    }
    return t;
}

/* M2: what is in use at once has no common bytes. A text from after allocation may say otherwise. */
bool pr_prove_placed(prover *q)
{
    const pr_shm_prog *p = q->p;
    for (int a = 0; a < p->allocs.n; a++) {
        for (int b = 0; b < a; b++) {
            if (p->allocs.data[a].copy != p->allocs.data[b].copy || !pr_shm_misplaced(&p->allocs.data[a], &p->allocs.data[b])) continue;
            pr_prove_give_up(q, PR_REFUSAL_REUSE, p->allocs.data[a].op, "this allocation has common bytes with another one that is in use at the same time");
            return false;
        }
    }
    return true;
}
