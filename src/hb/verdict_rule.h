/* The verdict rule; see verdict.c. */
#ifndef PR_HB_VERDICT_RULE_H
#define PR_HB_VERDICT_RULE_H
#include "hb/ladder.h"

/* Sets status and rung of run->out from its races, refusals and ledger. rung: the claim the ledger was
 * made for, NONE when no rung finished. */
void pr_verdict_settle(pr_run *run, pr_rung rung, bool feasible);
/* The same for a verdict read back: number of ledger rows by bucket, and what it said. False when that does
 * not follow from the buckets, races and refusals. */
bool pr_verdict_recall(pr_config_verdict *v, const pr_records *r, const int64_t bucket[PR_BUCKETS],
                       pr_verdict_status status, pr_rung rung);
#endif
