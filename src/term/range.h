/* Interval, residue and fragment-class facts of terms under a box of variable bounds.
 *
 * A pr_box holds one interval per variable (default: the variable's own). Facts are memoised per
 * box; change a box only through pr_box_set, which forgets them. Bounds are saturating (PR_INF).
 * decision-engine.md 1.1, 1.3 and 4. Only unconditional bounds belong in a box: never masks, paths,
 * disjunction arms (happens-before.md p39). */
#ifndef PR_TERM_RANGE_H
#define PR_TERM_RANGE_H
#include "term/term.h"

typedef struct pr_box pr_box;
pr_box *pr_box_new(pr_terms *T);                       /* in T's arena */
void pr_box_set(pr_box *b, pr_var v, pr_i128 lo, pr_i128 hi);
typedef struct pr_interval { pr_i128 lo, hi; } pr_interval;
/* Sound interval of an integer term (APP: its symbol's signed range; Boolean term: [0,1], [1,1]
 * when always true, [0,0] when never). */
pr_interval pr_range(pr_box *b, pr_term t);
pr_tri pr_range_bool(pr_box *b, pr_term t);            /* YES/NO when the box decides it */
/* Interval under the variables' own intervals, remembered in the store. */
pr_interval pr_range_own(const pr_terms *T, pr_term t);
/* Interval of t from given intervals of its children (t is no VAR). */
pr_interval pr_range_op(const pr_terms *T, pr_term t, const pr_interval *child);
/* Every value of t is congruent to residue modulo modulus; modulus 0: t is the constant residue;
 * modulus 1: nothing known. 0 <= residue < modulus for modulus > 0. */
typedef struct pr_residue { pr_i128 modulus, residue; } pr_residue;
pr_residue pr_residue_of(pr_box *b, pr_term t);

/* Fragment classes, bit set (decision-engine.md 4). */
enum {
    PR_CLASS_LINEAR = 1 << 0, PR_CLASS_QUASI = 1 << 1, PR_CLASS_SMALL_DIVISOR = 1 << 2,
    PR_CLASS_SMALL_FACTOR = 1 << 3, PR_CLASS_RADIX = 1 << 4, PR_CLASS_TABLE = 1 << 5,
    PR_CLASS_POLY = 1 << 6, PR_CLASS_BITS = 1 << 7, PR_CLASS_OPAQUE = 1 << 8,
    PR_CLASS_SYNC = 1 << 9,
    PR_CLASS_WIDE_DIVISOR = 1 << 10
};
#define PR_CLASS_PRESBURGER                                                                  \
    (PR_CLASS_LINEAR | PR_CLASS_QUASI | PR_CLASS_SMALL_DIVISOR | PR_CLASS_SMALL_FACTOR)
unsigned pr_class_of(pr_box *b, pr_term t);            /* union over all nodes below t */
#endif
