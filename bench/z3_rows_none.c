/* A build without Z3. */
#include "z3_rows.h"

void z3_rows_measure(const pr_query *q, const pr_limits *limits, int repeat, pr_arena *scratch, z3_best *best)
{
    (void)q, (void)limits, (void)repeat, (void)scratch;
    *best = (z3_best){ .answer = PR_ANSWER_UNKNOWN, .config = "no Z3 in this build" };
}
