/* What `polyrace explain` says beyond the verdict: race relations at any grid, and the weakest condition under
 * which nothing races (happens-before.md 8.1, 8.2). */
#ifndef PR_HB_EXPLAIN_H
#define PR_HB_EXPLAIN_H
#include "hb/check.h"
#include "util/str.h"

/* One rung. T0 speaks about parameters and grid, T1 about the grid with this launch's parameters. */
typedef struct pr_rung_explanation {
    pr_rung rung;
    bool asked;                    /* the rung could be asked: else why                             */
    const char *why;               /* no condition, and why; null when there is one                  */
    pr_race_free free;             /* text null when there is none                                 */
    bool verified;                 /* every query has no solution under it                          */
    bool weakest;                  /* where it fails some query that is no over-approximation has one    */
    bool holds_here;               /* with a launch: it holds there                               */
    bool held_known;
    PR_VEC(const char *) needs;    /* sufficient conditions from the closure, when free.text is null     */
    int64_t pinned[3];             /* extent of an axis that the kernel does not read; 0 = any extent      */
} pr_rung_explanation;

typedef struct pr_pair_explanation {
    int pair, a, b; bool intra;
    const pr_race_set *set;        /* at any grid, this launch's parameters                         */
} pr_pair_explanation;

/* A barrier without which the verdict is the same proof. */
typedef struct pr_spare_barrier { pr_loc loc; int queries; } pr_spare_barrier;

typedef struct pr_explanation {
    pr_rung_explanation rungs[2];  /* T0, T1                                                    */
    PR_VEC(pr_pair_explanation) pairs;   /* pairs that race at some grid, in ledger order; with a launch  */
    PR_VEC(pr_spare_barrier) spare_barriers;
} pr_explanation;

/* out lives in arena. launch may be null. */
pr_status pr_explain_config(pr_arena *arena, pr_records *r, const pr_launch *launch, const pr_options *o,
                            pr_explanation *out, pr_error *err);
/* Where the verdict proves a rung for all parameters or grids by other means (waits, atomics), its condition is "always". */
void pr_explain_settle(pr_explanation *x, const pr_config_verdict *v);
/* Checks a proved configuration again without each of its barriers; a proof that assumes more does not count. */
pr_status pr_explain_barriers(pr_arena *arena, pr_records *r, const pr_launch *launch, const pr_options *o, const pr_config_verdict *proved,
                              pr_explanation *out, pr_error *err);
/* Which programs of the grid race, for races of a verdict of this configuration: the grid in cells, and the neighbours
 * of the witness where a cell stands for several programs (else cells of maps[i][1] null and why null). */
pr_status pr_explain_maps(pr_arena *arena, pr_records *r, const pr_launch *launch, const pr_options *o,
                          const pr_race *const *races, int n, pr_race_map (*maps)[2], pr_error *err);

/* Why a pair is disjoint or ordered: what answered its last empty query, and what that rests on. */
typedef struct pr_pair_proof {
    int pair;
    PR_VEC(const char *) facts;    /* of the closure, each follows from the query and those before it     */
    int more_facts;                /* left out                                                   */
    const char *set;               /* the set of conflicts in isl's notation, which is empty; null: too long, or no form */
} pr_pair_proof;
typedef struct pr_proofs { PR_VEC(pr_pair_proof) of; pr_config_verdict again; } pr_proofs;
/* Decides the configuration again, with reasons: the ledger (of a verdict that may have been recalled without one) and
 * a proof for each pair that some query proved. */
pr_status pr_explain_proofs(pr_arena *arena, pr_records *r, const pr_launch *launch, const pr_options *o,
                            const pr_confirmer *confirm, pr_proofs *out, pr_error *err);
/* "accesses" and "pairs": the ledger with its proofs. */
void pr_explain_pairs_json(pr_buf *b, const pr_records *R, const pr_proofs *p);
/* v: the verdict of the same configuration. */
void pr_explain_text(pr_buf *b, const pr_records *R, const pr_explanation *x, const pr_config_verdict *v);
void pr_explain_json(pr_buf *b, const pr_records *R, const pr_explanation *x);
#endif
