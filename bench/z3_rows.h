/* Z3 on the rows that isl gets: the fastest of its configurations on one query. */
#ifndef PR_BENCH_Z3_ROWS_H
#define PR_BENCH_Z3_ROWS_H
#include "term/engine.h"
#include "term/rows.h"

typedef struct z3_best {
    pr_answer answer;       /* UNKNOWN: no configuration decides                        */
    double us;              /* of the solver: assertions, check and model                  */
    const char *config;     /* "rows settle it" when no leaf is left for a solver: then us is 0 */
    uint64_t work;          /* resource units */
} z3_best;

void z3_rows_measure(const pr_query *q, const pr_limits *limits, int repeat, pr_arena *scratch, z3_best *best);
#endif
