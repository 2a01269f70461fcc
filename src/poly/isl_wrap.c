/* Exact integers, tri-states, quota and errors across the isl boundary. */
#include "isl_wrap.h"
#include <isl/options.h>
#include <isl/space.h>
#include <limits.h>
#include <stdlib.h>

static void end_ctx(void *ctx) { isl_ctx_free(ctx); }

isl_ctx *pr_isl_ctx_new(const pr_arena *arena, pr_guard *g)
{
    isl_ctx *ctx = isl_ctx_alloc();
    if (!ctx) pr_arena_exhausted(arena);
    pr_guard_set(arena, g, end_ctx, ctx);
    isl_options_set_on_error(ctx, ISL_ON_ERROR_CONTINUE);
    return ctx;
}

static void end_set(void *at)
{
    isl_set **set = at;
    *set = isl_set_free(*set);
}

void pr_isl_hold_set(const pr_arena *arena, pr_guard *g, isl_set **at) { pr_guard_set(arena, g, end_set, at); }

void pr_isl_hold_text(const pr_arena *arena, pr_guard *g, char *text) { pr_guard_set(arena, g, free, text); }

void pr_isl_alloc_check(isl_ctx *ctx, const pr_arena *arena)
{
    if (isl_ctx_last_error(ctx) == isl_error_alloc) pr_arena_exhausted(arena);
}

void pr_isl_quota(isl_ctx *ctx, int64_t operations)
{
    if (!isl_ctx_aborted(ctx)) isl_ctx_reset_error(ctx);
    isl_ctx_reset_operations(ctx);
    isl_ctx_set_max_operations(ctx, operations > 0 ? (unsigned long)operations : 0);
}

enum { FEW_OPERATIONS = 50000, FEW_COLUMNS = 32 };  /* some ten milliseconds: shorter than a thread is worth */

static void abort_isl(void *ctx) { isl_ctx_abort(ctx); }

pr_watch *pr_isl_watch(isl_ctx *ctx, int64_t operations, int columns, const pr_flag *interrupt)
{
    bool brief = operations > 0 && operations <= FEW_OPERATIONS && columns <= FEW_COLUMNS;
    return brief ? NULL : pr_watch_start(0, interrupt, abort_isl, ctx);
}

/* isl has no getter for its operation counter. Making a number counts as one operation and fails
 * when the counter has reached the limit, so the counter is found by bisection over the limit;
 * every number that was made added one. */
static bool below(isl_ctx *ctx, uint64_t limit)
{
    isl_ctx_set_max_operations(ctx, limit);
    isl_val *v = isl_val_zero(ctx);
    bool made = v != NULL;
    isl_val_free(v);
    return made;
}

uint64_t pr_isl_used(isl_ctx *ctx)
{
    enum isl_error error = isl_ctx_last_error(ctx);
    if (isl_ctx_aborted(ctx)) return 0;              /* nothing can be made any more */
    uint64_t lo = 0, hi = 64, made = 0;              /* lo <= operations before the search */
    while (!below(ctx, hi + made)) {
        lo = hi;
        if (hi >= (uint64_t)1 << 40) break;
        hi *= 4;
    }
    made++;
    while (lo + 1 < hi) {
        uint64_t mid = lo + (hi - lo) / 2;
        if (below(ctx, mid + made)) {
            hi = mid;
            made++;
        } else {
            lo = mid;
        }
    }
    isl_ctx_set_max_operations(ctx, 0);
    isl_ctx_reset_error(ctx);
    if (error == isl_error_quota) below(ctx, 1);     /* leave the error as it was */
    isl_ctx_set_max_operations(ctx, 0);
    return lo;
}

pr_refusal_kind pr_isl_error(isl_ctx *ctx)
{
    switch (isl_ctx_last_error(ctx)) {
    case isl_error_none: return PR_REFUSAL_NONE;
    case isl_error_quota: return PR_REFUSAL_BUDGET;
    case isl_error_abort: return PR_REFUSAL_TIMEOUT;
    case isl_error_alloc: case isl_error_unknown: case isl_error_internal: case isl_error_invalid:
    case isl_error_unsupported: return PR_REFUSAL_INTERNAL;
    }
    return PR_REFUSAL_INTERNAL;
}

pr_tri pr_isl_tri(isl_bool b)
{
    switch (b) {
    case isl_bool_true: return PR_YES;
    case isl_bool_false: return PR_NO;
    case isl_bool_error: return PR_MAYBE;
    }
    return PR_MAYBE;
}

__isl_give isl_val *pr_isl_val(isl_ctx *ctx, pr_i128 v)
{
    if (v >= LONG_MIN && v <= LONG_MAX) return isl_val_int_from_si(ctx, (long)v);
    pr_u128 u = v < 0 ? -(pr_u128)v : (pr_u128)v;
    uint64_t chunk[2] = { (uint64_t)u, (uint64_t)(u >> 64) };
    isl_val *r = isl_val_int_from_chunks(ctx, 2, sizeof chunk[0], chunk);
    return v < 0 ? isl_val_neg(r) : r;
}

bool pr_isl_i128(__isl_keep isl_val *v, pr_i128 *out)
{
    if (!v || pr_isl_tri(isl_val_is_int(v)) != PR_YES) return false;
    isl_size n = isl_val_n_abs_num_chunks(v, sizeof(uint64_t));
    uint64_t chunk[2] = { 0, 0 };
    if (n < 0 || n > 2 || isl_val_get_abs_num_chunks(v, sizeof(uint64_t), chunk) < 0) return false;
    pr_u128 u = (pr_u128)chunk[1] << 64 | chunk[0];
    if (u > (pr_u128)PR_I128_MAX) return false;
    *out = isl_val_sgn(v) < 0 ? -(pr_i128)u : (pr_i128)u;
    return true;
}

__isl_give isl_mat *pr_isl_mat_set(__isl_take isl_mat *m, int row, int col, pr_i128 v)
{
    if (v >= INT_MIN && v <= INT_MAX) return isl_mat_set_element_si(m, row, col, (int)v);
    isl_ctx *ctx = m ? isl_mat_get_ctx(m) : NULL;
    if (!ctx) return isl_mat_free(m);
    return isl_mat_set_element_val(m, row, col, pr_isl_val(ctx, v));
}
