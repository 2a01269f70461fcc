/* Relations between named tuples as isl union maps; see relation.h. */
#include "poly/relation.h"
#include <assert.h>
#include <isl/map.h>
#include <isl/space.h>
#include <isl/union_map.h>
#include <isl/union_set.h>
#include <stdlib.h>
#include "aff.h"

struct pr_rels {
    pr_guard own_ctx, own_maps, own_watch;
    isl_ctx *ctx;
    pr_arena *arena;
    pr_terms *T;
    const pr_var *params;
    int n_params;
    isl_union_map **map;
    int n, cap;
    pr_refusal_kind kind;
    const char *why;
    pr_watch *watch;
};

static void end_watch(void *user)
{
    pr_rels *R = user;
    pr_watch_end(R->watch);
    R->watch = NULL;
}

static void end_maps(void *what)
{
    pr_rels *R = what;
    for (int i = 1; i < R->n; i++) isl_union_map_free(R->map[i]);
    free(R->map);
}

static void end_set(void *set) { isl_set_free(set); }

pr_rels *pr_rels_new(pr_arena *arena, pr_terms *T, const pr_var *params, int n_params, int64_t max_ops,
                     const pr_flag *interrupt)
{
    pr_rels *R = PR_NEW(arena, pr_rels);
    *R = (pr_rels){ .arena = arena, .T = T, .params = params, .n_params = n_params, .n = 1 };
    R->ctx = pr_isl_ctx_new(arena, &R->own_ctx);
    pr_guard_set(arena, &R->own_maps, end_maps, R);
    pr_isl_quota(R->ctx, max_ops);
    R->watch = pr_isl_watch(R->ctx, max_ops, n_params, interrupt);
    pr_guard_set(arena, &R->own_watch, end_watch, R);
    return R;
}

void pr_rels_free(pr_rels *R)
{
    if (!R) return;
    pr_guard_end(&R->own_watch);
    pr_guard_end(&R->own_maps);
    pr_guard_end(&R->own_ctx);
}

uint64_t pr_rels_operations(pr_rels *R) { return pr_isl_used(R->ctx); }

pr_refusal_kind pr_rels_why(const pr_rels *R, const char **text)
{
    *text = R->why;
    return R->kind;
}

static pr_rel fail(pr_rels *R, pr_refusal_kind kind, const char *why)
{
    if (R->kind == PR_REFUSAL_NONE) {
        R->kind = kind;
        R->why = why;
    }
    return (pr_rel){ 0 };
}

static pr_rel keep(pr_rels *R, __isl_take isl_union_map *m)
{
    if (!m) {
        pr_isl_alloc_check(R->ctx, R->arena);
        pr_refusal_kind k = pr_isl_error(R->ctx);
        return fail(R, k == PR_REFUSAL_NONE ? PR_REFUSAL_INTERNAL : k,
                    k == PR_REFUSAL_BUDGET ? "the isl operations of this kernel are used up"
                                           : "isl could not compute a relation");
    }
    if (R->n >= R->cap) {
        int cap = R->cap ? R->cap * 2 : 256;
        isl_union_map **wider = realloc(R->map, sizeof *wider * (size_t)cap);
        if (!wider) {
            isl_union_map_free(m);
            pr_arena_exhausted(R->arena);
        }
        R->map = wider;
        R->cap = cap;
    }
    R->map[R->n] = m;
    return (pr_rel){ R->n++ };
}

static __isl_give isl_union_map *copy(pr_rels *R, pr_rel a)
{
    return a.id ? isl_union_map_copy(R->map[a.id]) : NULL;
}

pr_rel pr_rel_none(pr_rels *R)
{
    return keep(R, isl_union_map_empty(isl_space_params_alloc(R->ctx, 0)));
}

pr_rel pr_rel_make(pr_rels *R, const char *in, const pr_var *iv, int n_in, const char *out, const pr_var *ov,
                   int n_out, const pr_var *ex, int n_ex, const pr_term *conj, int n_conj)
{
    int n = n_in + n_out + n_ex;
    pr_var *dims = PR_NEW_N(R->arena, pr_var, n + 1);
    const char **names = PR_NEW_N(R->arena, const char *, n + 1);
    for (int i = 0; i < n; i++) {
        dims[i] = i < n_in ? iv[i] : i < n_in + n_out ? ov[i - n_in] : ex[i - n_in - n_out];
        names[i] = pr_arena_printf(R->arena, "d%d", i);
    }
    const char *tuple[2] = { pr_aff_name(R->arena, in), pr_aff_name(R->arena, out) };
    pr_aff a;
    pr_aff_init(&a, R->ctx, R->T, R->arena, R->params, R->n_params, dims, names, n, NULL);
    for (int i = 0; i < n_conj && !pr_term_none(conj[i]); i++) pr_aff_ready(&a, &conj[i], 1);
    isl_set *s = pr_aff_bounds(&a); /* terms may rely on the intervals of their variables */
    for (int i = 0; i < n_conj && s; i++) {
        if (pr_term_none(conj[i])) {
            a.why = "a value that has no term";
            s = isl_set_free(s);
            break;
        }
        s = isl_set_intersect(s, pr_aff_set(&a, conj[i]));
    }
    const char *why = a.why;
    pr_aff_fini(&a);
    if (!s) {
        pr_refusal_kind k = pr_isl_error(R->ctx);
        pr_isl_alloc_check(R->ctx, R->arena);
        if (k == PR_REFUSAL_BUDGET) return fail(R, k, "the isl operations of this kernel are used up");
        return fail(R, PR_REFUSAL_NEEDS_SMT, why ? why : "a value outside Presburger arithmetic");
    }
    if (n_ex) s = isl_set_project_out(s, isl_dim_set, (unsigned)(n_in + n_out), (unsigned)n_ex);
    s = isl_set_coalesce(s);
    isl_map *m = isl_map_from_range(s);
    m = isl_map_move_dims(m, isl_dim_in, 0, isl_dim_out, 0, (unsigned)n_in);
    m = isl_map_set_tuple_name(m, isl_dim_in, tuple[0]);
    m = isl_map_set_tuple_name(m, isl_dim_out, tuple[1]);
    return keep(R, isl_union_map_from_map(m));
}

pr_rel pr_rel_union(pr_rels *R, pr_rel a, pr_rel b)
{
    return keep(R, isl_union_map_coalesce(isl_union_map_union(copy(R, a), copy(R, b))));
}
pr_rel pr_rel_minus(pr_rels *R, pr_rel a, pr_rel b)
{
    return keep(R, isl_union_map_subtract(copy(R, a), copy(R, b)));
}
pr_rel pr_rel_meet(pr_rels *R, pr_rel a, pr_rel b)
{
    return keep(R, isl_union_map_intersect(copy(R, a), copy(R, b)));
}
pr_rel pr_rel_then(pr_rels *R, pr_rel a, pr_rel b)
{
    return keep(R, isl_union_map_coalesce(isl_union_map_apply_range(copy(R, a), copy(R, b))));
}
pr_rel pr_rel_back(pr_rels *R, pr_rel a)
{
    return keep(R, isl_union_map_reverse(copy(R, a)));
}
pr_rel pr_rel_domain(pr_rels *R, pr_rel a)
{
    return keep(R, isl_union_set_identity(isl_union_map_domain(copy(R, a))));
}
pr_rel pr_rel_range(pr_rels *R, pr_rel a)
{
    return keep(R, isl_union_set_identity(isl_union_map_range(copy(R, a))));
}
pr_rel pr_rel_same(pr_rels *R, pr_rel a)
{
    isl_union_set *d = isl_union_map_domain(copy(R, a)), *r = isl_union_map_range(copy(R, a));
    return keep(R, isl_union_set_identity(isl_union_set_coalesce(isl_union_set_union(d, r))));
}

pr_rel pr_rel_closure(pr_rels *R, pr_rel a, int depth, bool *fixed)
{
    pr_rel all = a, step = a;
    *fixed = false;
    for (int i = 0; i < depth && all.id; i++) {
        pr_rel longer = pr_rel_then(R, step, a), more = pr_rel_minus(R, longer, all);
        pr_tri empty = pr_rel_is_empty(R, more);
        if (empty == PR_YES) {
            *fixed = true;
            break;
        }
        if (empty == PR_MAYBE) return (pr_rel){ 0 };
        step = pr_rel_union(R, more, pr_rel_none(R));
        all = pr_rel_union(R, all, more);
    }
    return all;
}

static pr_tri answer(pr_rels *R, isl_bool b)
{
    if (b == isl_bool_error) {
        isl_union_map *none = NULL;
        keep(R, none);
    }
    return pr_isl_tri(b);
}

pr_tri pr_rel_is_empty(pr_rels *R, pr_rel a)
{
    return a.id ? answer(R, isl_union_map_is_empty(R->map[a.id])) : PR_MAYBE;
}
pr_tri pr_rel_is_within(pr_rels *R, pr_rel a, pr_rel b)
{
    return a.id && b.id ? answer(R, isl_union_map_is_subset(R->map[a.id], R->map[b.id])) : PR_MAYBE;
}
pr_tri pr_rel_is_function(pr_rels *R, pr_rel a)
{
    return a.id ? answer(R, isl_union_map_is_single_valued(R->map[a.id])) : PR_MAYBE;
}
pr_tri pr_rel_is_injective(pr_rels *R, pr_rel a)
{
    return a.id ? answer(R, isl_union_map_is_injective(R->map[a.id])) : PR_MAYBE;
}
pr_tri pr_rel_is_reflexive_somewhere(pr_rels *R, pr_rel a)
{
    if (!a.id) return PR_MAYBE;
    pr_rel loops = pr_rel_meet(R, a, pr_rel_same(R, a));
    pr_tri empty = pr_rel_is_empty(R, loops);
    return empty == PR_MAYBE ? PR_MAYBE : empty == PR_YES ? PR_NO : PR_YES;
}

const char *pr_rel_text(pr_rels *R, pr_arena *arena, pr_rel a)
{
    char *s = a.id ? isl_union_map_to_str(R->map[a.id]) : NULL;
    pr_guard hold;
    pr_isl_hold_text(arena, &hold, s);
    const char *r = s ? pr_arena_strndup(arena, s, strlen(s)) : "?";
    pr_guard_end(&hold);
    return r;
}

/* Of the parameters, in their order, as isl has them. */
static const char *const *names_of(const pr_rels *R)
{
    const char **names = PR_NEW_N(R->arena, const char *, R->n_params + 1), **raw = PR_NEW_N(R->arena, const char *, R->n_params + 1);
    for (int i = 0; i < R->n_params; i++) raw[i] = pr_var_get(R->T, R->params[i])->name;
    pr_aff_names(R->arena, raw, R->n_params, names);
    return names;
}

pr_term pr_rel_params(pr_rels *R, pr_arena *arena, pr_rel a)
{
    pr_guard own;
    if (!a.id) return PR_TERM_NONE;
    const char *const *names = names_of(R);
    isl_set *p = isl_union_map_params(copy(R, a));
    isl_space *order = isl_space_params_alloc(R->ctx, (unsigned)R->n_params);
    for (int i = 0; i < R->n_params; i++) order = isl_space_set_dim_name(order, isl_dim_param, (unsigned)i, names[i]);
    p = isl_set_align_params(p, order);
    pr_guard_set(arena, &own, end_set, p);
    bool same = p && (int)isl_set_dim(p, isl_dim_param) == R->n_params;
    pr_term t = same ? pr_isl_set_term(R->ctx, R->T, arena, R->params, R->n_params, p) : PR_TERM_NONE;
    pr_guard_end(&own);
    return t;
}

bool pr_rel_sample(pr_rels *R, pr_rel a, pr_i128 *params)
{
    if (!a.id) return false;
    const char *const *names = names_of(R);
    isl_set *p = isl_union_map_params(copy(R, a));
    for (int i = 0; i < R->n_params; i++) {
        const char *name = names[i];
        if (isl_set_find_dim_by_name(p, isl_dim_param, name) < 0) {
            unsigned at = (unsigned)isl_set_dim(p, isl_dim_param);
            p = isl_set_add_dims(p, isl_dim_param, 1);
            p = isl_set_set_dim_name(p, isl_dim_param, at, name);
        }
    }
    isl_point *point = isl_set_sample_point(p);
    bool ok = point && pr_isl_tri(isl_point_is_void(point)) == PR_NO;
    isl_set *one = ok ? isl_set_from_point(isl_point_copy(point)) : NULL;
    for (int i = 0; i < R->n_params && ok; i++) {
        const char *name = names[i];
        int at = isl_set_find_dim_by_name(one, isl_dim_param, name);
        isl_val *v = at >= 0 ? isl_point_get_coordinate_val(point, isl_dim_param, at) : NULL;
        ok = v && pr_isl_i128(v, &params[i]);
        isl_val_free(v);
    }
    isl_set_free(one);
    isl_point_free(point);
    return ok;
}
