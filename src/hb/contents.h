/* Values that a kernel loads, as terms: the launch's contents where they may be used, one shared function
 * where nobody writes the tensor, nothing otherwise (happens-before.md 6, 8.6). */
#ifndef PR_HB_CONTENTS_H
#define PR_HB_CONTENTS_H
#include "hb/encode.h"

/* Why the contents of an argument cannot be used as a table, in words for a refusal; null when they can.
 * *kind, when given: the refusal of an address that needs them. */
const char *pr_contents_why_not(const pr_records *R, const pr_launch *L, int arg, pr_refusal_kind *kind);
/* Does some load of the kernel read contents that can be used? */
bool pr_contents_readable(const pr_records *R, const pr_launch *L);
/* Value of a loaded APP (its arguments belong to the side's copy); NONE: it has no better meaning than a free
 * variable of the copy. What the value rests on is added to the side's premises. */
pr_term pr_contents_value(pr_encoding *e, pr_side *s, pr_term app);
/* Turns the premises collected so far into conjuncts: reads that happen stay inside their table. */
void pr_contents_premises(pr_encoding *e, pr_side *s, void (*activate)(pr_encoding *, pr_side *, pr_term));
/* "the address depends on ...", with the reason why there are no contents. */
const char *pr_contents_explain(const pr_encoding *e, pr_sym sym, pr_refusal_kind *kind);
/* Names of the arguments that unknown functions of this encoding stand for, "a, b". */
const char *pr_contents_assumed(const pr_encoding *e);
#endif
