/* Terms as isl_pw_aff and isl_set: the slow, readable way.
 *
 * Nodes are translated children first and memoised. A divisor, factor or bit operand of few values
 * is a sum over its values; anything else outside Presburger arithmetic ends the translation with a
 * reason. Null is sticky in isl, so only the reason is kept apart from it. */
#include "aff.h"
#include "term/table.h"
#include <isl/local_space.h>
#include <isl/space.h>
#include <assert.h>
#include <string.h>

enum { NARROW = 64, MAX_RUNS = 24 };

char *pr_aff_name(pr_arena *arena, const char *name)
{
    size_t n = strlen(name);
    char *s = pr_arena_alloc(arena, n + 2), *d = s;
    char first = name[0];
    if (!(first >= 'a' && first <= 'z') && !(first >= 'A' && first <= 'Z') && first != '_')
        *d++ = 'v';
    for (size_t i = 0; i < n; i++) {
        char c = name[i];
        bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
            || c == '_';
        *d++ = ok ? c : '_';
    }
    *d = 0;
    return s;
}

/* isl takes parameters of one name for one parameter, and names may be alike once what it does not take is replaced. */
void pr_aff_names(pr_arena *arena, const char *const *names, int n, const char **out)
{
    for (int i = 0; i < n; i++) {
        char *name = pr_aff_name(arena, names[i]);
        int again = 1;
        for (int k = 0; k < i; k++) {
            if (strcmp(out[k], name)) continue;
            name = pr_arena_printf(arena, "%s_%d", pr_aff_name(arena, names[i]), ++again);
            k = -1;
        }
        out[i] = name;
    }
}

static void end_aff(void *what)
{
    pr_aff *a = what;
    for (uint32_t i = 0; i < a->n; i++) {
        isl_pw_aff_free(a->value[i]);
        isl_set_free(a->set[i]);
    }
    isl_space_free(a->space);
}

void pr_aff_init(pr_aff *a, isl_ctx *ctx, pr_terms *T, pr_arena *arena, const pr_var *params,
                 int n_params, const pr_var *dims, const char *const *dim_names, int n_dims,
                 const char *tuple)
{
    *a = (pr_aff){ .ctx = ctx, .T = T, .arena = arena, .box = pr_box_new(T) };
    pr_guard_set(arena, &a->guard, end_aff, a);
    uint32_t n = pr_vars_count(T);
    a->pos = PR_NEW_N(arena, int, n);
    a->is_param = PR_NEW_N(arena, bool, n);
    for (uint32_t i = 0; i < n; i++) a->pos[i] = -1;
    a->space = isl_space_set_alloc(ctx, (unsigned)n_params, (unsigned)n_dims);
    if (tuple)
        a->space = isl_space_set_tuple_name(a->space, isl_dim_set, pr_aff_name(arena, tuple));
    const char **raw = PR_NEW_N(arena, const char *, n_params + n_dims + 1), **names = PR_NEW_N(arena, const char *, n_params + n_dims + 1);
    for (int i = 0; i < n_params; i++) raw[i] = pr_var_get(T, params[i])->name;
    for (int i = 0; i < n_dims; i++) raw[n_params + i] = dim_names ? dim_names[i] : pr_var_get(T, dims[i])->name;
    pr_aff_names(arena, raw, n_params + n_dims, names);
    for (int i = 0; i < n_params; i++) {
        a->pos[params[i].id] = i;
        a->is_param[params[i].id] = true;
        a->space = isl_space_set_dim_name(a->space, isl_dim_param, (unsigned)i, names[i]);
    }
    for (int i = 0; i < n_dims; i++) {
        a->pos[dims[i].id] = i;
        a->space = isl_space_set_dim_name(a->space, isl_dim_set, (unsigned)i, names[n_params + i]);
    }
    a->value = PR_NEW_N(arena, isl_pw_aff *, pr_terms_count(T));
    a->set = PR_NEW_N(arena, isl_set *, pr_terms_count(T));
    a->n = pr_terms_count(T);
}

void pr_aff_fini(pr_aff *a) { pr_guard_end(&a->guard); }

/* --- pieces -------------------------------------------------------------------------------- */

static __isl_give isl_set *everything(pr_aff *a)
{
    return isl_set_universe(isl_space_copy(a->space));
}

static __isl_give isl_pw_aff *number(pr_aff *a, pr_i128 v)
{
    return isl_pw_aff_val_on_domain(everything(a), pr_isl_val(a->ctx, v));
}

static __isl_give isl_pw_aff *variable(pr_aff *a, pr_var v)
{
    if (a->pos[v.id] < 0) {
        a->why = "a variable outside the set";
        return NULL;
    }
    isl_local_space *ls = isl_local_space_from_space(isl_space_copy(a->space));
    return isl_pw_aff_var_on_domain(ls, a->is_param[v.id] ? isl_dim_param : isl_dim_set,
                                    (unsigned)a->pos[v.id]);
}

static __isl_give isl_pw_aff *scaled(pr_aff *a, __isl_take isl_pw_aff *x, pr_i128 k)
{
    return isl_pw_aff_scale_val(x, pr_isl_val(a->ctx, k));
}

static __isl_give isl_pw_aff *floor_div(pr_aff *a, __isl_take isl_pw_aff *x, pr_i128 d)
{
    return isl_pw_aff_floor(isl_pw_aff_scale_down_val(x, pr_isl_val(a->ctx, d)));
}

/* arm on s, other elsewhere */
static __isl_give isl_pw_aff *choose(__isl_take isl_set *s, __isl_take isl_pw_aff *arm,
                                     __isl_take isl_pw_aff *other)
{
    arm = isl_pw_aff_intersect_domain(arm, isl_set_copy(s));
    other = isl_pw_aff_intersect_domain(other, isl_set_complement(s));
    return isl_pw_aff_union_add(arm, other);
}

static __isl_give isl_pw_aff *divided(pr_aff *a, pr_term_op op, __isl_take isl_pw_aff *x, pr_i128 d)
{
    bool quotient = op == PR_TERM_OP_FDIV || op == PR_TERM_OP_TDIV;
    bool floor = op == PR_TERM_OP_FDIV || op == PR_TERM_OP_FMOD;
    if (d == 0 && !quotient) return x;
    if (d == 0) {
        isl_pw_aff_free(x);
        return number(a, 0);
    }
    if (!floor) {
        isl_pw_aff *y = number(a, d);
        return quotient ? isl_pw_aff_tdiv_q(x, y) : isl_pw_aff_tdiv_r(x, y);
    }
    pr_i128 e = d < 0 ? -d : d;
    if (d < 0) x = isl_pw_aff_neg(x);
    if (quotient) return floor_div(a, x, e);
    x = isl_pw_aff_mod_val(x, pr_isl_val(a->ctx, e));
    return d < 0 ? isl_pw_aff_neg(x) : x;
}

/* x band c for c >= 0 by runs of ones. */
static __isl_give isl_pw_aff *masked(pr_aff *a, __isl_take isl_pw_aff *x, pr_i128 c)
{
    isl_pw_aff *sum = number(a, 0);
    int runs = 0;
    for (int lo = 0; lo < 100 && c >> lo != 0;) {
        if (!((c >> lo) & 1)) {
            lo++;
            continue;
        }
        int hi = lo;
        while ((c >> hi) & 1) hi++;
        if (++runs > MAX_RUNS) {
            a->why = "a bit mask with too many runs of ones";
            isl_pw_aff_free(x);
            return isl_pw_aff_free(sum);
        }
        isl_pw_aff *part = floor_div(a, isl_pw_aff_copy(x), (pr_i128)1 << lo);
        part = isl_pw_aff_mod_val(part, pr_isl_val(a->ctx, (pr_i128)1 << (hi - lo)));
        sum = isl_pw_aff_add(sum, scaled(a, part, (pr_i128)1 << lo));
        lo = hi;
    }
    isl_pw_aff_free(x);
    return sum;
}

static __isl_give isl_pw_aff *bits(pr_aff *a, pr_term_op op, __isl_take isl_pw_aff *x, pr_i128 c)
{
    isl_pw_aff *m = masked(a, isl_pw_aff_copy(x), c < 0 ? ~c : c);
    if (c < 0) m = isl_pw_aff_sub(isl_pw_aff_copy(x), m);
    if (op == PR_TERM_OP_BAND) {
        isl_pw_aff_free(x);
        return m;
    }
    x = isl_pw_aff_add(x, number(a, c));
    return isl_pw_aff_sub(x, op == PR_TERM_OP_BOR ? m : scaled(a, m, 2));
}

/* A binary operation with the constant v in place of its second operand. */
static __isl_give isl_pw_aff *with_constant(pr_aff *a, pr_term_op op, __isl_take isl_pw_aff *x,
                                            pr_i128 v)
{
    switch (op) {
    case PR_TERM_OP_MUL: return scaled(a, x, v);
    case PR_TERM_OP_FDIV: case PR_TERM_OP_FMOD:
    case PR_TERM_OP_TDIV: case PR_TERM_OP_TREM: return divided(a, op, x, v);
    default: return bits(a, op, x, v);
    }
}

static bool narrow(pr_aff *a, pr_term t, pr_interval *r)
{
    *r = pr_range(a->box, t);
    return r->lo > -PR_INF && r->hi < PR_INF && r->hi - r->lo <= NARROW;
}

/* Product, division or bit operation: one operand constant, or of few values. */
static __isl_give isl_pw_aff *binary(pr_aff *a, pr_term_op op, pr_term tx, pr_term ty)
{
    pr_i128 v;
    pr_interval r, other;
    bool commutes = op != PR_TERM_OP_FDIV && op != PR_TERM_OP_FMOD && op != PR_TERM_OP_TDIV
                 && op != PR_TERM_OP_TREM;
    if (commutes && !pr_term_const(a->T, ty, NULL)
        && (pr_term_const(a->T, tx, NULL)
            || (narrow(a, tx, &r) && (!narrow(a, ty, &other)
                                      || r.hi - r.lo < other.hi - other.lo)))) {
        pr_term s = tx;
        tx = ty;
        ty = s;
    }
    isl_pw_aff *x = a->value[tx.id];
    if (pr_term_const(a->T, ty, &v)) return with_constant(a, op, isl_pw_aff_copy(x), v);
    if (!narrow(a, ty, &r)) {
        a->why = commutes ? "a product or bit operation of two wide terms"
                          : "a divisor of many values";
        return NULL;
    }
    isl_pw_aff *sum = NULL;
    for (v = r.lo; v <= r.hi; v++) {
        isl_set *here = isl_pw_aff_eq_set(isl_pw_aff_copy(a->value[ty.id]), number(a, v));
        isl_pw_aff *part = with_constant(a, op, isl_pw_aff_copy(x), v);
        part = isl_pw_aff_intersect_domain(part, here);
        sum = v == r.lo ? part : isl_pw_aff_union_add(sum, part);
    }
    return sum;
}

static __isl_give isl_set *between(pr_aff *a, __isl_keep isl_pw_aff *x, pr_i128 lo, pr_i128 hi)
{
    isl_set *s = everything(a);
    if (lo > -PR_INF)
        s = isl_set_intersect(s, isl_pw_aff_ge_set(isl_pw_aff_copy(x), number(a, lo)));
    if (hi < PR_INF)
        s = isl_set_intersect(s, isl_pw_aff_le_set(isl_pw_aff_copy(x), number(a, hi)));
    return s;
}

static __isl_give isl_set *fits(pr_aff *a, pr_term t)
{
    pr_i128 lo = 0, hi = pr_term_fits_kind(a->T, t) == PR_FITS_BIT ? 1 : PR_INF;
    int n = pr_term_bits(a->T, t);
    if (pr_term_fits_kind(a->T, t) == PR_FITS_SIGNED) {
        lo = n > 120 ? -PR_INF : pr_int_min(n);
        hi = n > 120 ? PR_INF : pr_int_max(n);
    }
    return between(a, a->value[pr_term_child(a->T, t, 0).id], lo, hi);
}

/* --- tables -------------------------------------------------------------------------------- */

/* x times p plus q where first <= index <= last. */
static __isl_give isl_pw_aff *run(pr_aff *a, __isl_keep isl_pw_aff *index, pr_i128 first, pr_i128 last, pr_i128 p, pr_i128 q)
{
    isl_pw_aff *v = isl_pw_aff_add(scaled(a, isl_pw_aff_copy(index), p), number(a, q));
    return isl_pw_aff_intersect_domain(v, between(a, index, first, last));
}

static __isl_give isl_pw_aff *entry(pr_aff *a, pr_term t, __isl_keep isl_pw_aff *index)
{
    const pr_tab tab = pr_term_tab(a->T, t);
    const pr_tab_info *x = pr_tab_get(a->T, tab);
    int n;
    const pr_tab_piece *piece = pr_tab_pieces(a->T, tab, &n);
    if (!piece && (!x->values || x->n > NARROW)) {
        a->why = x->values ? "a table of many runs" : "a value loaded from memory";
        return NULL;
    }
    isl_pw_aff *sum = run(a, index, -PR_INF, -1, 0, x->values[0]);
    for (int i = 0; i < (piece ? n : (int)x->n); i++)
        sum = isl_pw_aff_union_add(sum, piece ? run(a, index, piece[i].first, piece[i].last, piece[i].a, piece[i].b)
                                              : run(a, index, i, i, 0, x->values[i]));
    return isl_pw_aff_union_add(sum, run(a, index, x->n, PR_INF, 0, x->values[x->n - 1]));
}

/* --- nodes --------------------------------------------------------------------------------- */

static void translate(void *user, pr_term t)
{
    pr_aff *a = user;
    const pr_terms *T = a->T;
    if (a->why || t.id >= a->n || a->value[t.id] || a->set[t.id]) return;
    pr_term c[3] = { { 0 } };
    for (int i = 0; i < pr_term_arity(T, t) && i < 3; i++) c[i] = pr_term_child(T, t, i);
    isl_pw_aff *x = c[0].id ? a->value[c[0].id] : NULL, *y = c[1].id ? a->value[c[1].id] : NULL;
    isl_set *p = c[0].id ? a->set[c[0].id] : NULL, *q = c[1].id ? a->set[c[1].id] : NULL;
    pr_term_op op = pr_term_op_of(T, t);
    isl_pw_aff *r = NULL;
    isl_set *s = NULL;
    switch (op) {
    case PR_TERM_OP_TABLE: r = entry(a, t, x); break;
    case PR_TERM_OP_NONE: case PR_TERM_OP_APP: a->why = "an unmodelled value"; return;
    case PR_TERM_OP_FALSE: s = isl_set_empty(isl_space_copy(a->space)); break;
    case PR_TERM_OP_TRUE: s = everything(a); break;
    case PR_TERM_OP_CONST: r = number(a, pr_term_value(T, t)); break;
    case PR_TERM_OP_VAR: r = variable(a, pr_term_var(T, t)); break;
    case PR_TERM_OP_SUM:
        r = number(a, pr_term_value(T, t));
        for (int i = 0; i < pr_term_arity(T, t); i++) {
            isl_pw_aff *part = isl_pw_aff_copy(a->value[pr_term_child(T, t, i).id]);
            r = isl_pw_aff_add(r, scaled(a, part, pr_term_coef(T, t, i)));
        }
        break;
    case PR_TERM_OP_MUL: case PR_TERM_OP_FDIV: case PR_TERM_OP_FMOD: case PR_TERM_OP_TDIV:
    case PR_TERM_OP_TREM: case PR_TERM_OP_BAND: case PR_TERM_OP_BOR: case PR_TERM_OP_BXOR:
        r = binary(a, op, c[0], c[1]);
        break;
    case PR_TERM_OP_MIN: r = isl_pw_aff_min(isl_pw_aff_copy(x), isl_pw_aff_copy(y)); break;
    case PR_TERM_OP_MAX: r = isl_pw_aff_max(isl_pw_aff_copy(x), isl_pw_aff_copy(y)); break;
    case PR_TERM_OP_SELECT:
        r = choose(isl_set_copy(p), isl_pw_aff_copy(y), isl_pw_aff_copy(a->value[c[2].id]));
        break;
    case PR_TERM_OP_LE0: s = between(a, x, -PR_INF, 0); break;
    case PR_TERM_OP_EQ0: s = isl_pw_aff_zero_set(isl_pw_aff_copy(x)); break;
    case PR_TERM_OP_NOT: s = isl_set_complement(isl_set_copy(p)); break;
    case PR_TERM_OP_AND: s = isl_set_intersect(isl_set_copy(p), isl_set_copy(q)); break;
    case PR_TERM_OP_OR: s = isl_set_union(isl_set_copy(p), isl_set_copy(q)); break;
    case PR_TERM_OP_FITS: s = fits(a, t); break;
    }
    if (!r && !s && !a->why) {
        a->why = pr_isl_error(a->ctx) == PR_REFUSAL_BUDGET ? "the isl operation limit is used up"
                                                           : "isl reported an error";
    }
    a->value[t.id] = r;
    a->set[t.id] = s;
}

static bool done(pr_aff *a, pr_term t)
{
    if (pr_term_none(t)) {
        a->why = "a constant leaves the exact integer range";
        return false;
    }
    assert(t.id < a->n);
    if (!a->why && !a->value[t.id] && !a->set[t.id]) pr_term_visit(a->T, t, translate, a);
    return !a->why;
}

bool pr_aff_ready(pr_aff *a, const pr_term *t, int n)
{
    bool all = true;
    for (int i = 0; i < n && all; i++) all = done(a, t[i]);
    return all;
}

__isl_give isl_set *pr_aff_set(pr_aff *a, pr_term t)
{
    return done(a, t) ? isl_set_copy(a->set[t.id]) : NULL;
}

__isl_give isl_pw_aff *pr_aff_value(pr_aff *a, pr_term t)
{
    return done(a, t) ? isl_pw_aff_copy(a->value[t.id]) : NULL;
}

__isl_give isl_set *pr_aff_bounds(pr_aff *a)
{
    isl_set *s = everything(a);
    for (uint32_t i = 1; i < pr_vars_count(a->T); i++) {
        pr_var v = { i };
        if (a->pos[i] < 0) continue;
        const pr_var_info *info = pr_var_get(a->T, v);
        isl_pw_aff *x = variable(a, v);
        s = isl_set_intersect(s, between(a, x, info->lo, info->hi));
        isl_pw_aff_free(x);
    }
    return s;
}
