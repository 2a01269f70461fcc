/* Inside of the proof: what prove.c and cycle.c share. */
#ifndef PR_SHM_PROVER_H
#define PR_SHM_PROVER_H
#include "poly/relation.h"
#include "shm/prove.h"

typedef struct conflicting { int x, y; pr_rel conflicts; } conflicting;

typedef struct prover {
    pr_shm_prog *p;
    const pr_shm_model *m;
    pr_terms *T;
    pr_rels *R;
    pr_arena *arena;
    pr_shm_proof *out;
    const pr_shm_event *ev;
    int n;
    pr_var *second;              /* by loop: the counter of the other copy                          */
    pr_term *map; uint32_t n_map;
    pr_subst subst;
    PR_VEC(conflicting) pairs;   /* proved to be ordered                                          */
    pr_rel *ord;                 /* n x n, id 0 = not made yet                                     */
    pr_rel *done;                /* by event: completion known -> waits of its agent; 0 = not made     */
    pr_rel *to_phi, *to_phi_all, *from_phi;   /* by event                                        */
    pr_term *phase;              /* by event * PR_SHM_BARS: attribution                             */
    pr_rel *arr;                 /* by event * PR_SHM_BARS: event -> phase (n >= 0)                  */
    pr_rel step, closure, star;
    bool failed;
} prover;

/* factors.c. No launch has the values of these pairs; no instances of the two happen so that the condition (over the counters of x
 * and the other ones of y) holds. By Z3; false: not known. */
bool pr_prove_impossible(prover *q, pr_rel counter);
bool pr_prove_never_together(prover *q, int x, int y, pr_term condition);
/* Program order of x before y as a condition over x's counters and y's renamed ones; FALSE when never. */
pr_term pr_prove_before(prover *q, const pr_shm_event *x, const pr_shm_event *y);
/* An event in a flat loop, and one that the outer loop of the nest contains too, but not this flat loop: the order of
 * the two depends on which execution of the flat loop it is. */
bool pr_prove_coupled(const prover *q, const pr_shm_event *flat, const pr_shm_event *other);
/* What is always so between the counters of one event in a flat loop and the other copy of those of another in the
 * same nest: later iterations belong to the same or later executions. */
pr_term pr_prove_in_order(prover *q, const pr_shm_event *x, const pr_shm_event *y);
int pr_prove_flat_at(const prover *q, const pr_shm_event *x);   /* which of its loops is flat, -1 none */
bool pr_prove_arrives(const pr_shm_event *e);
pr_term pr_prove_slot(prover *q, const pr_shm_view *v);
int pr_prove_depth(prover *q, int alloc);
/* Which of the loops around an initialisation number the barriers of the allocation; the outer loop of a flat one does not. */
int pr_prove_coordinates(prover *q, int alloc, int *at);
pr_term pr_prove_renamed(prover *q, pr_term t);
/* { x -> y }, counters as in x and the other copy of y's. */
pr_rel pr_prove_pair(prover *q, int x, int y, pr_term condition);
const char *pr_prove_tuple(prover *q, int e);
int pr_prove_counters(prover *q, const pr_shm_event *e, bool other, pr_var *v);

/* Yes, or a refusal. counter: where it does not hold. */
bool pr_prove_holds(prover *q, pr_tri yes, pr_rel counter, pr_refusal_kind kind, const pr_op *op, const char *why);
void pr_prove_give_up(prover *q, pr_refusal_kind kind, const pr_op *op, const char *why);
/* { event -> P[outer iterations, slot, number] }, numbers >= 0, without the outer counters of flat loops: an iteration of a
 * flat loop is one, whichever execution it is in. */
pr_rel pr_prove_alone(prover *q, int e, int bar, pr_term number);
pr_rel pr_prove_shift_back(prover *q, int alloc);   /* P[.., s, n] -> P[.., s, n - 1], n >= 1 (quotas.c) */
/* ranges.c */
bool pr_prove_ranges(prover *q);
pr_term pr_prove_meets(prover *q, const pr_shm_view *a, const pr_shm_view *b);
bool pr_prove_placed(prover *q);
/* quotas.c */
bool pr_prove_quotas(prover *q, int alloc);
bool pr_prove_made_again(prover *q, int alloc);
int64_t pr_prove_weight(const pr_shm_event *e);     /* arrivals it counts for */

/* groups.c: at least how many groups of this kind are formed between x and w, for a pair where x comes first; over x's
 * counters and the renamed ones of w. NONE where that is no simple term (commits under conditions, loops of unknown or
 * changing lengths). */
pr_term pr_prove_groups_between(prover *q, const pr_shm_event *x, const pr_shm_event *w, pr_shm_event_kind group);

/* cycle.c: is there no cycle of barrier phases that wait for each other, in kernels with flat loops? */
pr_tri pr_prove_acyclic(prover *q, pr_rel *cycle);
#endif
