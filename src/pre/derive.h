/* Instances that give chosen terms chosen values, read off backwards. */
#ifndef PR_PRE_DERIVE_H
#define PR_PRE_DERIVE_H
#include "pre/pre.h"

typedef struct pr_target { pr_term term; pr_i128 value; } pr_target;

enum { PR_DERIVE_TERMS = 96, PR_DERIVE_DIGITS = 96 };

/* Sets at[i] and set[i] (by position in q->vars) of variables that are not set yet so that the targets take
 * their values, as far as sums, quotients and remainders by constants allow it. False when some variable
 * would leave its interval, would need two values, or a cap is reached. True promises nothing: the caller
 * evaluates the point. */
bool pr_derive(const pr_query *q, const pr_target *target, int n, pr_i128 *at, bool *set);
#endif
