/* The only doors between isl values and ours; included by files of src/poly only.
 *
 * isl_bool and isl_size never leave as C truth values; integers cross exactly at any size. */
#ifndef PR_POLY_ISL_WRAP_H
#define PR_POLY_ISL_WRAP_H
#include <isl/ctx.h>
#include <isl/mat.h>
#include <isl/point.h>
#include <isl/set.h>
#include <isl/val.h>
#include "term/query.h"
#include "util/watch.h"

/* A context that ends with the guard; what is in it must have been freed by then. Errors are recorded, never
 * printed or fatal. */
isl_ctx *pr_isl_ctx_new(const pr_arena *arena, pr_guard *g);
/* Ends the call as when the arena has no memory, if an allocation of isl failed. Call it when nothing of isl is
 * held outside guards. */
void pr_isl_alloc_check(isl_ctx *ctx, const pr_arena *arena);
/* Zeroes the operation counter and the last error and sets the quota (0 = none). */
void pr_isl_quota(isl_ctx *ctx, int64_t operations);
/* Aborts the context when *interrupt becomes non-zero, for calls that may take long with this quota and this many
 * columns; null when they cannot. What an abort leaves is pr_isl_error's TIMEOUT; the context is of no more use. */
pr_watch *pr_isl_watch(isl_ctx *ctx, int64_t operations, int columns, const pr_flag *interrupt);
/* Operations since pr_isl_quota. Afterwards there is no quota; the error stays when it was quota.
 */
uint64_t pr_isl_used(isl_ctx *ctx);
/* BUDGET when the quota was the last error, INTERNAL for any other error, else NONE. */
pr_refusal_kind pr_isl_error(isl_ctx *ctx);

/* Guards for what a variable points at (null is fine) while the arena is used: *at is freed. */
void pr_isl_hold_set(const pr_arena *arena, pr_guard *g, isl_set **at);
void pr_isl_hold_text(const pr_arena *arena, pr_guard *g, char *text);

pr_tri pr_isl_tri(isl_bool b);                     /* error is MAYBE */
__isl_give isl_val *pr_isl_val(isl_ctx *ctx, pr_i128 v);
bool pr_isl_i128(__isl_keep isl_val *v, pr_i128 *out);    /* false: not an integer of that size */
__isl_give isl_mat *pr_isl_mat_set(__isl_take isl_mat *m, int row, int col, pr_i128 v);
#endif
