/* Tables: immutable integer functions of one index, shared by everything in a store.
 *
 * A table holds the launch's contents of a tensor (or of every m-th element of it), which no access of the
 * kernel writes, so it is one function for both copies of a query. TABLE i is the value at i; an index outside
 * [0, n) is clamped to the nearer end, which keeps ranges and monotony unconditional. Nothing real rests on
 * that value: hb conjoins "the index is in range" wherever a read that happens is used.
 *
 * A table without values is a function nobody knows, equal for equal indices (happens-before.md 8.6). It has
 * no value at a point, so queries over one can only be shown EMPTY; injective and nondecreasing are premises
 * about it that the verdict must name. */
#ifndef PR_TERM_TABLE_H
#define PR_TERM_TABLE_H
#include "term/range.h"

typedef struct pr_tab_info {
    const char *name;              /* for dumps: "idx", "idx[2*i+1]"                             */
    const pr_i128 *values;         /* n entries, must outlive the store; null: unknown function   */
    int64_t n;                     /* >= 1 when values are given                                 */
    pr_i128 lo, hi;                /* of an unknown function: what the element width allows        */
    bool injective, nondecreasing; /* premises about an unknown function                          */
} pr_tab_info;

pr_tab pr_tab_new(pr_terms *T, pr_tab_info info);  /* always a new table */
const pr_tab_info *pr_tab_get(const pr_terms *T, pr_tab t);
uint32_t pr_tabs_count(const pr_terms *T);         /* ids 1..count-1 are valid */
/* Value at an index, clamped; the table must have values. */
pr_i128 pr_tab_at(const pr_terms *T, pr_tab t, pr_i128 index);
/* Least and greatest value at indices lo..hi (any interval). */
pr_interval pr_tab_range(const pr_terms *T, pr_tab t, pr_interval index);

/* What one pass over the entries at indices lo..hi tells (an index outside [0, n) counts as its clamp, so
 * spread is 0 then; an unknown function has its premises). */
typedef struct pr_tab_facts {
    pr_i128 spread;                /* least |T[i] - T[j]| over i != j: 0 = not injective             */
    bool nondecreasing;
} pr_tab_facts;
pr_tab_facts pr_tab_facts_of(const pr_terms *T, pr_tab t, pr_interval index);

/* Maximal runs of constant stride: value = a*i + b for first <= i <= last. The first and the last run reach
 * to the ends of the table; outside the value is clamped. Null when there are more than PR_TAB_PIECES. */
enum { PR_TAB_PIECES = 32 };
typedef struct pr_tab_piece { int64_t first, last; pr_i128 a, b; } pr_tab_piece;
const pr_tab_piece *pr_tab_pieces(const pr_terms *T, pr_tab t, int *n);
#endif
