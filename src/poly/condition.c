/* For which parameters and grids does nothing race? See term/race_set.h and decision-engine.md 8.3.
 *
 * The race sets of all pairs are projected to the parameters; the complement within what is known of the
 * parameters is then made as large and as short as possible. The caller asks every query again with it. */
#include "aff.h"
#include "term/race_set.h"
#include <isl/constraint.h>
#include <isl/space.h>
#include <isl/union_set.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DISJUNCTS = 4 };

typedef struct job {
    isl_ctx *ctx;
    pr_terms *T;
    pr_arena *arena;
    const pr_var *params; int n_params;
} job;

static bool disjoint(__isl_keep isl_set *a, __isl_keep isl_set *b) { return pr_isl_tri(isl_set_is_disjoint(a, b)) == PR_YES; }

/* --- as terms -------------------------------------------------------------------------------- */

static bool integer(__isl_take isl_val *v, pr_i128 *out)
{
    bool ok = v && pr_isl_i128(v, out);
    isl_val_free(v);
    return ok;
}

static void end_aff(void *aff) { isl_aff_free(aff); }
static void end_list(void *list) { isl_basic_set_list_free(list); }
static void end_rows(void *list) { isl_constraint_list_free(list); }

static bool aff_term(job *j, __isl_keep isl_aff *a, pr_term *out);

/* floor of division d of a */
static bool div_term(job *j, __isl_keep isl_aff *a, int d, pr_term *out)
{
    pr_guard own;
    isl_aff *inner = isl_aff_get_div(a, d);
    isl_val *den = isl_aff_get_denominator_val(inner);
    pr_i128 m = 0;
    pr_term x;
    bool ok = integer(isl_val_copy(den), &m) && m > 0;
    inner = isl_aff_scale_val(inner, den);
    pr_guard_set(j->arena, &own, end_aff, inner);
    ok = ok && inner && aff_term(j, inner, &x);
    pr_guard_end(&own);
    if (ok) *out = pr_fdiv_t(j->T, x, pr_const(j->T, m));
    return ok;
}

static bool aff_term(job *j, __isl_keep isl_aff *a, pr_term *out)
{
    pr_i128 k = 0;
    if (!integer(isl_aff_get_constant_val(a), &k)) return false;
    pr_term sum = pr_const(j->T, k), x;
    for (int i = 0; i < j->n_params; i++) {
        if (!integer(isl_aff_get_coefficient_val(a, isl_dim_param, i), &k)) return false;
        if (k) sum = pr_add(j->T, sum, pr_scale(j->T, pr_var_term(j->T, j->params[i]), k));
    }
    int n = (int)isl_aff_dim(a, isl_dim_div);
    for (int d = 0; d < n; d++) {
        if (!integer(isl_aff_get_coefficient_val(a, isl_dim_div, d), &k)) return false;
        if (!k) continue;
        if (!div_term(j, a, d, &x)) return false;
        sum = pr_add(j->T, sum, pr_scale(j->T, x, k));
    }
    *out = sum;
    return !pr_term_none(sum);
}

/* The rows are taken from a list, not by a callback of isl: building a term may end the call. */
static pr_term basic_term(job *j, __isl_take isl_basic_set *b)
{
    pr_guard own_rows, own_aff;
    isl_constraint_list *rows = isl_basic_set_get_constraint_list(b);
    isl_basic_set_free(b);
    pr_guard_set(j->arena, &own_rows, end_rows, rows);
    int n = rows ? (int)isl_constraint_list_n_constraint(rows) : 0;
    bool ok = rows != NULL;
    pr_term t = PR_TERM_TRUE, v, zero = pr_const(j->T, 0);
    for (int i = 0; i < n && ok; i++) {
        isl_constraint *c = isl_constraint_list_get_constraint(rows, i);
        isl_aff *a = isl_constraint_get_aff(c);
        bool equality = isl_constraint_is_equality(c) == isl_bool_true;
        isl_constraint_free(c);
        pr_guard_set(j->arena, &own_aff, end_aff, a);
        ok = a && aff_term(j, a, &v);
        pr_guard_end(&own_aff);
        if (ok) t = pr_and(j->T, t, equality ? pr_eq(j->T, v, zero) : pr_le(j->T, zero, v));
    }
    pr_guard_end(&own_rows);
    return ok ? t : PR_TERM_NONE;
}

static pr_term set_term(job *j, __isl_keep isl_set *s)
{
    pr_guard own;
    s = isl_set_compute_divs(isl_set_copy(s));
    isl_basic_set_list *list = isl_set_get_basic_set_list(s);
    isl_set_free(s);
    pr_guard_set(j->arena, &own, end_list, list);
    pr_term t = list ? PR_TERM_FALSE : PR_TERM_NONE;
    for (int i = 0; list && i < (int)isl_basic_set_list_n_basic_set(list) && !pr_term_none(t); i++) {
        pr_term one = basic_term(j, isl_basic_set_list_get_basic_set(list, i));
        t = pr_term_none(one) ? PR_TERM_NONE : pr_or(j->T, t, one);
    }
    pr_guard_end(&own);
    return t;
}

pr_term pr_isl_set_term(isl_ctx *ctx, pr_terms *T, pr_arena *arena, const pr_var *params, int n_params, __isl_keep isl_set *s)
{
    job j = { .ctx = ctx, .T = T, .arena = arena, .params = params, .n_params = n_params };
    return set_term(&j, s);
}

/* --- the largest, shortest condition ------------------------------------------------------------ */

typedef struct constraints { isl_constraint *c[64]; int n; } constraints;

static isl_stat collect(__isl_take isl_constraint *c, void *user)
{
    constraints *x = user;
    if (x->n == (int)PR_LEN(x->c)) {
        isl_constraint_free(c);
        return isl_stat_error;
    }
    x->c[x->n++] = c;
    return isl_stat_ok;
}

/* The disjunct without each constraint that it can miss while it stays clear of the race set. */
static __isl_give isl_set *enlarge(__isl_take isl_basic_set *b, __isl_keep isl_set *race)
{
    constraints cs = { .n = 0 };
    b = isl_basic_set_remove_redundancies(b);
    bool ok = b && isl_basic_set_dim(b, isl_dim_div) == 0 &&
              isl_basic_set_foreach_constraint(b, collect, &cs) == isl_stat_ok;
    isl_set *out = NULL;
    if (ok) {
        bool dropped[PR_LEN(cs.c)] = { false };
        for (int i = 0; i < cs.n; i++) {
            isl_set *less = isl_set_universe(isl_basic_set_get_space(b));
            for (int k = 0; k < cs.n; k++)
                if (k != i && !dropped[k]) less = isl_set_add_constraint(less, isl_constraint_copy(cs.c[k]));
            dropped[i] = disjoint(less, race);
            isl_set_free(less);
        }
        out = isl_set_universe(isl_basic_set_get_space(b));
        for (int k = 0; k < cs.n; k++)
            if (!dropped[k]) out = isl_set_add_constraint(out, isl_constraint_copy(cs.c[k]));
    } else {
        out = isl_set_from_basic_set(isl_basic_set_copy(b));
    }
    for (int k = 0; k < cs.n; k++) isl_constraint_free(cs.c[k]);
    isl_basic_set_free(b);
    return out;
}

/* free, enlarged disjunct by disjunct, without those that the others cover within the context */
static __isl_give isl_set *widest(__isl_take isl_set *free_set, __isl_keep isl_set *race, __isl_keep isl_set *context)
{
    isl_basic_set_list *list = isl_set_get_basic_set_list(free_set);
    int n = list ? (int)isl_basic_set_list_n_basic_set(list) : 0;
    if (n < 1 || n > 32) {
        isl_basic_set_list_free(list);
        return free_set;
    }
    isl_set *part[32];
    for (int i = 0; i < n; i++) part[i] = enlarge(isl_basic_set_list_get_basic_set(list, i), race);
    isl_basic_set_list_free(list);
    for (int i = 0; i < n; i++) {
        isl_set *others = isl_set_empty(isl_set_get_space(free_set));
        for (int k = 0; k < n; k++)
            if (k != i && part[k]) others = isl_set_union(others, isl_set_copy(part[k]));
        isl_set *here = isl_set_intersect(isl_set_copy(part[i]), isl_set_copy(context));
        if (pr_isl_tri(isl_set_is_subset(here, others)) == PR_YES) part[i] = isl_set_free(part[i]);
        isl_set_free(here);
        isl_set_free(others);
    }
    isl_set *out = isl_set_empty(isl_set_get_space(free_set));
    for (int i = 0; i < n; i++)
        if (part[i]) out = isl_set_union(out, part[i]);
    isl_set_free(free_set);
    return out;
}

/* Text between ":" and "}" of an isl set of parameters. */
static const char *condition_text(job *j, __isl_keep isl_set *s)
{
    char *text = isl_set_to_str(s);
    if (!text) return NULL;
    pr_guard own;
    pr_isl_hold_text(j->arena, &own, text);
    char *from = strchr(text, ':'), *to = strrchr(text, '}');
    const char *out = NULL;
    if (from && to && from < to) {
        from++;
        while (*from == ' ') from++;
        while (to > from && to[-1] == ' ') to--;
        out = pr_arena_printf(j->arena, "%.*s", (int)(to - from), from);
    }
    pr_guard_end(&own);
    return out;
}

static __isl_give isl_set *race_params(job *j, const pr_query *q, isl_set **context, const char **why)
{
    pr_term overlap[2];
    int n = pr_query_overlap(q, pr_query_box(q), overlap), n_dims = 0;
    pr_var *dims = PR_NEW_N(j->arena, pr_var, q->n_vars + 1);
    for (int i = 0; i < q->n_vars; i++) {
        bool param = false;
        for (int k = 0; k < j->n_params; k++) param = param || j->params[k].id == q->vars[i].id;
        if (!param) dims[n_dims++] = q->vars[i];
    }
    pr_aff a;
    pr_aff_init(&a, j->ctx, j->T, j->arena, j->params, j->n_params, dims, NULL, n_dims, NULL);
    pr_aff_ready(&a, q->premises, q->n_premises);
    if (!*context) {
        *context = isl_set_params(pr_aff_bounds(&a));
        for (int i = 0; i < q->n_premises; i++)
            *context = isl_set_intersect(*context, isl_set_params(pr_aff_set(&a, q->premises[i])));
    }
    isl_set *s = isl_set_coalesce(isl_set_params(pr_isl_conflicts(&a, q, overlap, n)));
    if (!s) *why = a.why ? a.why : pr_isl_error(j->ctx) == PR_REFUSAL_BUDGET ? "the isl operation limit is used up"
                                                                            : "isl reported an error";
    pr_aff_fini(&a);
    return s;
}

void pr_isl_race_free(const pr_race_free_in *in, int64_t max_ops, pr_arena *arena, pr_race_free *out)
{
    *out = (pr_race_free){ .free = PR_TERM_NONE };
    job j = { NULL, in->terms, arena, in->params, in->n_params };
    enum { RACE, CONTEXT, SIMPLE, SAFE, INSIDE, SETS };
    isl_set *set[SETS] = { NULL };
    pr_guard own, own_set[SETS];
    j.ctx = pr_isl_ctx_new(arena, &own);
    for (int i = 0; i < SETS; i++) pr_isl_hold_set(arena, &own_set[i], &set[i]);
    pr_isl_quota(j.ctx, max_ops);
    out->why = NULL;
    for (int i = 0; i < in->n_queries && !out->why; i++) {
        isl_set *one = race_params(&j, in->queries[i], &set[CONTEXT], &out->why);
        set[RACE] = set[RACE] ? isl_set_coalesce(isl_set_union(set[RACE], one)) : one;
    }
    isl_set *race = set[RACE], *context = set[CONTEXT];
    set[SIMPLE] = isl_set_coalesce(isl_set_gist_params(isl_set_copy(race), isl_set_copy(context)));
    isl_set *safe = isl_set_intersect(isl_set_complement(isl_set_copy(set[SIMPLE])), isl_set_copy(context));
    safe = isl_set_gist_params(isl_set_coalesce(safe), isl_set_copy(context));
    set[INSIDE] = isl_set_intersect(isl_set_copy(race), isl_set_copy(context));
    set[SAFE] = safe = isl_set_coalesce(widest(safe, set[INSIDE], context));
    if (!out->why && (!safe || pr_isl_error(j.ctx) != PR_REFUSAL_NONE)) out->why = "the isl operation limit is used up";
    if (!out->why) {
        out->disjuncts = (int)isl_set_n_basic_set(safe);
        isl_set *here = isl_set_intersect(isl_set_copy(safe), isl_set_copy(context));
        out->never = pr_isl_tri(isl_set_is_empty(here)) == PR_YES;
        out->always = pr_isl_tri(isl_set_is_empty(set[INSIDE])) == PR_YES;
        isl_set_free(here);
        out->text = out->never ? "never" : out->always ? "always" : condition_text(&j, safe);
        out->free = set_term(&j, safe);
        if (out->disjuncts > MAX_DISJUNCTS) out->why = "the condition has too many cases to be read";
    }
    for (int i = SETS; i-- > 0;) pr_guard_end(&own_set[i]);
    pr_isl_alloc_check(j.ctx, arena);
    pr_guard_end(&own);
}
