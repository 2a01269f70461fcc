/* Cells of racing programs, from a set of racing pairs; src/poly only. */
#ifndef PR_POLY_RACE_MAP_H
#define PR_POLY_RACE_MAP_H
#include <isl/set.h>
#include "isl_wrap.h"
#include "term/race_set.h"

/* pairs: { [x_0 .. x_n-1, x'_0 .. x'_n-1] }, within one program { [x_0 .. x_n-1] }. What is asked is in m. */
void pr_isl_race_map(isl_ctx *ctx, __isl_keep isl_set *pairs, bool intra, int64_t max_ops, pr_arena *arena, pr_race_map *m);
#endif
