/* The proof for all trip counts (shared-memory.md 4.5 to 4.8).
 *
 * Input: the symbolic events, and the attributions of waits and arrivals to barrier phases that bounded runs
 * showed. The attributions are guesses: quotient forms are fitted to them and everything they must satisfy
 * (parity, quotas, bytes, W1, W2, A1, no cycle, no starvation) is proved about the fitted forms, so a wrong
 * guess can lose the proof and nothing else. Happens-before is only ever under-approximated; a cycle check
 * needs its fixpoint. */
#ifndef PR_SHM_PROVE_H
#define PR_SHM_PROVE_H
#include "shm/bounded.h"

/* What one bounded run showed. */
typedef struct pr_shm_evidence {
    pr_shm_attributions attributions;
    int64_t trips[64], total[64]; int n_trips;
} pr_shm_evidence;
typedef PR_VEC(pr_shm_evidence) pr_shm_evidences;

/* Two operations that touch common bytes and are ordered in every execution. */
typedef struct pr_shm_ordered { const pr_shm_event *first, *second; const char *conflicts; /* null: too long */ } pr_shm_ordered;

/* Two operations that touch common bytes at some instances, with relations in isl's notation. */
typedef struct pr_shm_explained { int first, second; /* events */ const char *conflicts, *race; /* what nothing orders */ pr_tri ordered; } pr_shm_explained;

typedef struct pr_shm_meeting { int x, y; const char *conflicts; } pr_shm_meeting;

typedef struct pr_shm_proof {
    bool proved;
    bool explain;                /* asked for: what follows, also for a kernel that is not proved        */
    bool settled;                /* phases, arrivals and W1, W2, A1 are proved: the relations are exact    */
    const char *direct, *closure;/* happens-before between barrier phases, null: not found                */
    PR_VEC(pr_shm_explained) explained;
    PR_VEC(pr_shm_ordered) ordered;   /* proved: every pair of operations with a conflict                */
    const pr_term *phases;       /* p->certify: by event * PR_SHM_BARS, the phase of its barrier           */
    PR_VEC(pr_shm_meeting) meetings; /* p->certify: all of `ordered`, by event                          */
    pr_refusal_vec refusals;     /* why not, when not                                            */
    /* Launch values (by parameter number) at which something was not proved, to be run. */
    PR_VEC(pr_i128 *) candidates;
    uint64_t isl_ops, z3_units;
    int n_z3;                    /* questions to Z3                                              */
    bool by_definition;          /* some obligation rests on what values are (pr_shm_prog.defs)           */
    int n_pairs, n_barriers;     /* what was checked                                             */
} pr_shm_proof;

void pr_shm_prove(pr_shm_prog *p, const pr_shm_model *m, const pr_shm_evidences *evidence, int64_t max_ops,
                  const pr_flag *interrupt, bool explain, pr_shm_proof *out);

/* Inside (prove.c, phasefit.c): term for a phase number over the counters of e and trip counts. */
pr_term pr_shm_fit_phase(pr_shm_prog *p, const pr_shm_event *e, int bar, const pr_shm_evidences *evidence);
#endif
