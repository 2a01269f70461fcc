/* Questions that were asked already: equal queries are solved once, and a query that was put off goes on where
 * it stopped. Keyed on the query's whole content; terms of one store are equal exactly when their numbers are. */
#ifndef PR_HB_MEMO_H
#define PR_HB_MEMO_H
#include "hb/verdict.h"

typedef struct pr_memo pr_memo;

/* How far one query came. */
typedef struct pr_asked {
    int next_row;                  /* rows of the engine table below this one were asked             */
    int by;                        /* row that decided, -1 = none                                 */
    int short_row;                 /* first row that ran into its limits, 0 = none                    */
    pr_outcome out;                /* the answer, or the last reason of a row that has reasons          */
    const char *engine;            /* whose reason it is, null = none                              */
    pr_term needs;                 /* with the evidence of a proof under it                            */
    const char *under;
    bool under_same_lanes;
    const char *z3_reason;
    int64_t max_ops, z3_rlimit, wall_ms; /* under which limits a row gave up                          */
    bool only_empty;
    bool put_off;                  /* dearer rows are still to come                                */
} pr_asked;

pr_memo *pr_memo_new(pr_arena *arena);
/* The query's entry; null when there is none. *hash is for pr_memo_add. */
pr_asked *pr_memo_find(pr_memo *m, const pr_query *q, uint64_t *hash);
/* A query that is not in the memo; nothing happens when the memo is full. */
void pr_memo_add(pr_memo *m, const pr_query *q, uint64_t hash, const pr_asked *asked);
#endif
