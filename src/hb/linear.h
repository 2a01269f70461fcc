/* Sums of terms with numbers in front, and the least bound of one that rows give: a row t <= 0 holds, so
 * f <= f - c*t for every c >= 0, which is less where it cancels a wide part of f (pid*1024 + lane < n). */
#ifndef PR_HB_LINEAR_H
#define PR_HB_LINEAR_H
#include "term/range.h"
#include "term/term.h"

enum { PR_LINEAR_PARTS = 24, PR_LINEAR_ROWS = 16 };
typedef struct pr_linear { pr_term at[PR_LINEAR_PARTS]; pr_i128 c[PR_LINEAR_PARTS], k; int n; } pr_linear;
typedef struct pr_linear_rows { pr_linear row[PR_LINEAR_ROWS]; int n; } pr_linear_rows;

/* f += c*t, flat; false: no room, or a number too large. f starts as pr_linear_zero. */
bool pr_linear_add(const pr_terms *T, pr_linear *f, pr_term t, pr_i128 c);
static inline void pr_linear_zero(pr_linear *f) { f->n = 0, f->k = 0; }
void pr_linear_copy(pr_linear *to, const pr_linear *from);
/* Parts and factors that have one value over the box as numbers: the sum keeps its value there. False: as in pr_linear_add, f is as
 * it was. */
bool pr_linear_numbers(const pr_terms *T, pr_box *box, pr_linear *f);
/* The conjuncts t <= 0 and t = 0 of a condition as rows; the others, and those without room, are left out. */
void pr_linear_rows_of(const pr_terms *T, pr_term condition, pr_linear_rows *rows);
/* An upper bound of f where the rows hold, over the box. The search ends at `enough`. PR_INF: none. */
pr_i128 pr_linear_sup(pr_box *box, const pr_linear *f, const pr_linear_rows *rows, pr_i128 enough);
#endif
