/* One query through the engines in use, under budgets that count work (decision-engine.md 2, 7). */
#ifndef PR_HB_DECIDE_H
#define PR_HB_DECIDE_H
#include "hb/check.h"
#include "hb/memo.h"

enum { PR_TIERS = 7 };

typedef struct pr_decider {
    pr_arena *arena, *scratch;     /* results live in arena; scratch is released after each query      */
    const pr_options *options;
    pr_engine_ctx *ctx[PR_TIERS];  /* by row of the engine table, opened on first use               */
    const pr_engine *isl_engine, *z3_engine;   /* z3 null when built without it                      */
    pr_counts *counts;
    int64_t deadline_us;           /* 0 = none; --budget                                         */
    int64_t limits_ms;             /* wall-clock backstop of one query                            */
    int z3_share;                  /* this part of --z3-rlimit is spent: 1 = all, 10 where a weaker rung follows */
    bool late, interrupted;
    bool cheaply;                  /* the next query gets the two provers of src/pre and nothing more       */
    bool cheap_pass;               /* only the cheap rows now; put_off says that dearer ones are to come     */
    bool put_off;
    bool only_empty;               /* a witness of the next query would say nothing                        */
    bool meets;                    /* the next query has a solution: no prover is asked                    */
    int missed;                    /* probes that found nothing since the rung began                       */
    int64_t share_ops, share_z3;   /* this query's share of what the launch may spend, 0 = the options' limits */
    const char *gave_up;           /* the last question that ended with a budget: who gave up           */
    pr_memo *memo;                 /* made by the first query                                     */
    pr_error *err;
    bool failed;                   /* err is set: engines disagree or a witness does not hold          */
} pr_decider;

/* z3_reason (may be null) is set to the slug of interface.md 3 when Z3 was asked under `auto`. */
void pr_decide(pr_decider *d, const pr_query *q, bool may_use_z3, pr_outcome *out, const char **z3_reason);
void pr_decider_close(pr_decider *d);
/* Fragment classes of the whole query. */
unsigned pr_query_class(const pr_query *q, pr_box *box);
int64_t pr_clock_us(void);
#endif
