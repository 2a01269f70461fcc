/* Does every slot index stay in its array? */
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
