/* Leaves as isl sets; src/poly only. */
#ifndef PR_POLY_LOWER_H
#define PR_POLY_LOWER_H
#include "isl_wrap.h"
#include "term/rows.h"

/* The leaf's rows and bounds as one basic set; null on error. */
__isl_give isl_basic_set *pr_isl_leaf(isl_ctx *ctx, const pr_leaf *leaf);
#endif
