/* The verdict rule; see verdict.c. */
#ifndef PR_HB_VERDICT_RULE_H
#define PR_HB_VERDICT_RULE_H
#include "hb/ladder.h"

/* Sets status and rung of run->out from its races, refusals and ledger. rung: the claim the ledger was
 * made for, NONE when no rung finished. */
void pr_verdict_settle(pr_run *run, pr_rung rung, bool feasible);
#endif
