/* isl texts: one access as a set and a map, one query as the set of its conflicts.
 *
 * Built through aff.c in a context of its own, under an operation limit; shared variables become
 * isl parameters, all others set dimensions. The texts are read back by isl unchanged. */
#include "dump.h"
#include "aff.h"
#include "poly.h"
#include <isl/map.h>
#include <isl/space.h>
#include <stdlib.h>

enum { EXPLAIN_FACTOR = 5 };        /* texts may cost more than deciding */

static const char *error_text(isl_ctx *ctx)
{
    return pr_isl_error(ctx) == PR_REFUSAL_BUDGET ? "the isl operation limit is used up"
                                                  : "isl reported an error";
}

static bool put(pr_buf *b, __isl_take char *text)
{
    if (!text) return false;
    pr_guard hold;
    pr_isl_hold_text(b->arena, &hold, text);
    pr_buf_puts(b, text);
    pr_buf_putc(b, '\n');
    pr_guard_end(&hold);
    return true;
}

static void end_map(void *at)
{
    isl_map **map = at;
    *map = isl_map_free(*map);
}

bool pr_isl_access_text(pr_terms *T, const pr_isl_access *in, int64_t max_ops, pr_arena *arena,
                        pr_buf *domain, pr_buf *access, const char **why)
{
    pr_guard own, own_set, own_map;
    isl_ctx *ctx = pr_isl_ctx_new(arena, &own);
    isl_set *set = NULL;
    isl_map *map = NULL;
    pr_isl_quota(ctx, max_ops * EXPLAIN_FACTOR);
    pr_aff a;
    pr_aff_init(&a, ctx, T, arena, in->params, in->n_params, in->dims, in->dim_names, in->n_dims,
                in->name);
    pr_isl_hold_set(arena, &own_set, &set);
    pr_guard_set(arena, &own_map, end_map, &map);
    char *name = pr_aff_name(arena, in->arg);
    pr_aff_ready(&a, in->domain, in->n_domain);
    pr_aff_ready(&a, &in->offset, 1);
    set = pr_aff_bounds(&a);
    for (int i = 0; i < in->n_domain; i++)
        set = isl_set_intersect(set, pr_aff_set(&a, in->domain[i]));
    set = isl_set_coalesce(set);
    map = isl_map_from_pw_aff(pr_aff_value(&a, in->offset));
    map = isl_map_set_tuple_name(map, isl_dim_out, name);
    map = isl_map_set_dim_name(map, isl_dim_out, 0, "byte");
    map = isl_map_coalesce(isl_map_intersect_domain(map, isl_set_copy(set)));
    bool ok = put(domain, isl_set_to_str(set)) && put(access, isl_map_to_str(map));
    *why = ok ? NULL : a.why ? a.why : error_text(ctx);
    pr_guard_end(&own_map);
    pr_guard_end(&own_set);
    pr_aff_fini(&a);
    if (!ok) pr_isl_alloc_check(ctx, arena);
    pr_guard_end(&own);
    return ok;
}

__isl_give isl_set *pr_isl_conflicts(pr_aff *a, const pr_query *q, const pr_term *overlap, int n)
{
    bool ready = pr_aff_ready(a, q->core, q->n_core) && pr_aff_ready(a, q->premises, q->n_premises)
              && pr_aff_ready(a, overlap, n) && pr_aff_ready(a, q->distinct, q->n_distinct);
    if (!ready) return NULL;
    isl_set *set = pr_aff_bounds(a);
    for (int i = 0; i < q->n_core; i++) set = isl_set_intersect(set, pr_aff_set(a, q->core[i]));
    for (int i = 0; i < q->n_premises; i++)
        set = isl_set_intersect(set, pr_aff_set(a, q->premises[i]));
    for (int i = 0; i < n; i++) set = isl_set_intersect(set, pr_aff_set(a, overlap[i]));
    if (q->n_distinct) {
        isl_set *some = pr_aff_set(a, q->distinct[0]);
        for (int i = 1; i < q->n_distinct; i++)
            some = isl_set_union(some, pr_aff_set(a, q->distinct[i]));
        set = isl_set_intersect(set, some);
    }
    return set;
}

bool pr_isl_dump(const pr_query *q, const pr_limits *limits, pr_buf *out, const char **why)
{
    pr_terms *T = q->terms;
    pr_arena *arena = out->arena;
    pr_term overlap[2];
    int n = pr_query_overlap(q, pr_query_box(q), overlap), n_params = 0, n_dims = 0;
    pr_var *params = PR_NEW_N(arena, pr_var, q->n_vars), *dims = PR_NEW_N(arena, pr_var, q->n_vars);
    for (int i = 0; i < q->n_vars; i++) {
        if (pr_var_get(T, q->vars[i])->copy == PR_COPY_SHARED) params[n_params++] = q->vars[i];
        else dims[n_dims++] = q->vars[i];
    }
    pr_guard own, own_set;
    isl_ctx *ctx = pr_isl_ctx_new(arena, &own);
    pr_isl_quota(ctx, limits->max_ops * EXPLAIN_FACTOR);
    pr_aff a;
    pr_aff_init(&a, ctx, T, arena, params, n_params, dims, NULL, n_dims, "conflict");
    isl_set *set = isl_set_coalesce(pr_isl_conflicts(&a, q, overlap, n));
    pr_isl_hold_set(arena, &own_set, &set);
    if (q->pair >= 0) pr_buf_printf(out, "# pair %d\n", q->pair);
    bool ok = put(out, isl_set_to_str(set));
    *why = ok ? NULL : a.why ? a.why : error_text(ctx);
    pr_guard_end(&own_set);
    pr_aff_fini(&a);
    if (!ok) pr_isl_alloc_check(ctx, arena);
    pr_guard_end(&own);
    return ok;
}
