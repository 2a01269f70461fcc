/* What sums along a dimension of a tile say of a query (sums.c). */
#ifndef PR_HB_SUMS_H
#define PR_HB_SUMS_H
#include "hb/encode.h"

/* Is app a sum of which something is known, as the record of s names it? */
bool pr_sums_admit(pr_encoding *e, const pr_side *s, pr_term app);
/* Conjuncts about the sums that the addresses and masks of the accesses name; z null: of x's
 * alone, in a query that need not say that it is performed. intra: of one program. */
void pr_sums_facts(pr_encoding *e, const pr_side *x, const pr_side *z, bool intra, pr_term_vec *out);
#endif
