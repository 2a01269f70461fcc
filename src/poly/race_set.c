/* Race relations between programs, and the sentence that says one. See term/race_set.h.
 *
 * A sentence is never read off the constraints: shapes are proposed from a few numbers of the relation
 * (smallest and largest distance, bounding box), one an axis, and their product must equal the relation. */
#include "aff.h"
#include "race_map.h"
#include "term/race_set.h"
#include <isl/constraint.h>
#include <isl/ilp.h>
#include <isl/map.h>
#include <isl/space.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PIECES = 4, MAX_TEXT = 300, COUNT_OPS = 20000, MAX_LEAVES = 64, MAX_IDS = 1 << 20, MAP_FACTOR = 2, WORD_OPS = 100000, MAX_PERIODS = 4, MAX_PARTS = 3 };

typedef struct job {
    isl_ctx *ctx;
    pr_arena *arena;
    const pr_race_set_in *in;
    int n;                         /* axes */
    bool symmetric;                /* set holds (x, x') and (x', x): a record with itself                */
    isl_set *set;                  /* [params] -> { [x.., x'..] }                                    */
    isl_set *limits;               /* intervals of the variables                                      */
    isl_set *domain;               /* pairs of programs of the grid that the query distinguishes          */
} job;

static bool equal(__isl_keep isl_set *a, __isl_keep isl_set *b) { return pr_isl_tri(isl_set_is_equal(a, b)) == PR_YES; }

/* --- constraints on [x_0 .. x_n-1, x'_0 .. x'_n-1] ----------------------------------------------- */

/* sum of c * dimension + k >= 0 (or = 0) intersected with s */
static __isl_give isl_set *with_row(__isl_take isl_set *s, int d1, int64_t c1, int d2, int64_t c2, int64_t k, bool eq)
{
    isl_local_space *ls = isl_local_space_from_space(isl_set_get_space(s));
    isl_constraint *c = eq ? isl_constraint_alloc_equality(ls) : isl_constraint_alloc_inequality(ls);
    isl_ctx *ctx = isl_set_get_ctx(s);
    if (d1 >= 0) c = isl_constraint_set_coefficient_val(c, isl_dim_set, d1, isl_val_int_from_si(ctx, c1));
    if (d2 >= 0) c = isl_constraint_set_coefficient_val(c, isl_dim_set, d2, isl_val_int_from_si(ctx, c2));
    c = isl_constraint_set_constant_val(c, isl_val_int_from_si(ctx, k));
    return isl_set_add_constraint(s, c);
}

static __isl_give isl_pw_aff *coordinate(__isl_keep isl_set *like, int d)
{
    return isl_pw_aff_var_on_domain(isl_local_space_from_space(isl_set_get_space(like)), isl_dim_set, (unsigned)d);
}

/* Dimensions d and e (of n each) related by the shape; a universe set of the space of like otherwise. */
static __isl_give isl_set *shape_set(__isl_keep isl_set *like, const pr_axis_relation *r, int d, int e)
{
    isl_set *s = isl_set_universe(isl_set_get_space(like));
    isl_ctx *ctx = isl_set_get_ctx(like);
    switch (r->shape) {
    case PR_AXIS_ANY: case PR_AXIS_NONE: break;
    case PR_AXIS_SAME: s = with_row(s, e, 1, d, -1, 0, true); break;
    case PR_AXIS_EXACT: s = with_row(s, e, 1, d, -1, -r->c, true); break;
    case PR_AXIS_WITHIN:
        s = with_row(s, e, 1, d, -1, -r->lo, false);
        s = with_row(s, e, -1, d, 1, r->hi, false);
        break;
    case PR_AXIS_MULTIPLE: {
        isl_pw_aff *x = isl_pw_aff_sub(coordinate(like, e), coordinate(like, d));
        s = isl_set_intersect(s, isl_pw_aff_zero_set(isl_pw_aff_mod_val(x, isl_val_int_from_si(ctx, r->c))));
        break;
    }
    case PR_AXIS_GROUP: {
        isl_pw_aff *x = isl_pw_aff_floor(isl_pw_aff_scale_down_val(coordinate(like, d), isl_val_int_from_si(ctx, r->c)));
        isl_pw_aff *y = isl_pw_aff_floor(isl_pw_aff_scale_down_val(coordinate(like, e), isl_val_int_from_si(ctx, r->c)));
        s = isl_set_intersect(s, isl_pw_aff_eq_set(x, y));
        break;
    }
    case PR_AXIS_SUM:
        s = with_row(s, e, 1, d, 1, -r->lo, false);
        s = with_row(s, e, -1, d, -1, r->hi, false);
        break;
    }
    if (r->boxed) {
        if (r->mod > 1) {
            isl_set *in = isl_set_universe(isl_set_get_space(like)), *bound = isl_set_copy(in);
            isl_pw_aff *x = isl_pw_aff_mod_val(coordinate(like, d), isl_val_int_from_si(ctx, r->mod));
            isl_pw_aff *lo = isl_pw_aff_val_on_domain(isl_set_copy(in), isl_val_int_from_si(ctx, r->m_lo));
            isl_pw_aff *hi = isl_pw_aff_val_on_domain(in, isl_val_int_from_si(ctx, r->m_hi));
            bound = isl_set_intersect(bound, isl_pw_aff_ge_set(isl_pw_aff_copy(x), lo));
            bound = isl_set_intersect(bound, isl_pw_aff_le_set(x, hi));
            s = r->m_not ? isl_set_subtract(s, bound) : isl_set_intersect(s, bound);
        }
        if (r->a_step > 1) {
            isl_pw_aff *x = isl_pw_aff_mod_val(coordinate(like, d), isl_val_int_from_si(ctx, r->a_step));
            isl_val *v = isl_val_int_from_si(ctx, (r->a_lo % r->a_step + r->a_step) % r->a_step);
            s = isl_set_intersect(s, isl_pw_aff_eq_set(x, isl_pw_aff_val_on_domain(isl_set_universe(isl_set_get_space(like)), v)));
        }
        s = with_row(s, d, 1, -1, 0, -r->a_lo, false);
        s = with_row(s, d, -1, -1, 0, r->a_hi, false);
        s = with_row(s, e, 1, -1, 0, -r->b_lo, false);
        s = with_row(s, e, -1, -1, 0, r->b_hi, false);
    }
    return s;
}

/* Symmetric relations hold an exact distance both ways. */
static __isl_give isl_set *axis_set(const job *j, __isl_keep isl_set *like, const pr_axis_relation *r, int d, int e)
{
    isl_set *s = shape_set(like, r, d, e);
    if (j->symmetric && r->shape == PR_AXIS_EXACT) {
        pr_axis_relation back = *r;
        back.c = -r->c;
        s = isl_set_union(s, shape_set(like, &back, d, e));
    }
    return s;
}

/* --- proposals ------------------------------------------------------------------------------- */

static bool small(__isl_take isl_val *v, int64_t *out)
{
    bool ok = v && isl_val_is_int(v) == isl_bool_true;
    pr_i128 x = 0;
    ok = ok && pr_isl_i128(v, &x) && x < (pr_i128)1 << 40 && x > -((pr_i128)1 << 40);
    isl_val_free(v);
    if (ok) *out = (int64_t)x;
    return ok;
}
static bool least(__isl_keep isl_set *s, int d, int64_t *out) { return small(isl_set_dim_min_val(isl_set_copy(s), d), out); }
static bool most(__isl_keep isl_set *s, int d, int64_t *out) { return small(isl_set_dim_max_val(isl_set_copy(s), d), out); }

/* { [x' - x] } of the dimensions d and e */
static __isl_give isl_set *distances(__isl_keep isl_set *s, int d, int e)
{
    isl_aff *x = isl_aff_var_on_domain(isl_local_space_from_space(isl_set_get_space(s)), isl_dim_set, (unsigned)d);
    isl_aff *y = isl_aff_var_on_domain(isl_local_space_from_space(isl_set_get_space(s)), isl_dim_set, (unsigned)e);
    return isl_set_apply(isl_set_copy(s), isl_map_from_aff(isl_aff_sub(y, x)));
}

/* { [x' + x] } of the dimensions d and e */
static __isl_give isl_set *sums(__isl_keep isl_set *s, int d, int e)
{
    isl_aff *x = isl_aff_var_on_domain(isl_local_space_from_space(isl_set_get_space(s)), isl_dim_set, (unsigned)d);
    isl_aff *y = isl_aff_var_on_domain(isl_local_space_from_space(isl_set_get_space(s)), isl_dim_set, (unsigned)e);
    return isl_set_apply(isl_set_copy(s), isl_map_from_aff(isl_aff_add(y, x)));
}

/* Numbers that something in the constraints of s is divided by: periods, perhaps. */
typedef struct periods { int64_t m[MAX_PERIODS]; int n; } periods;

static isl_stat add_periods(__isl_take isl_basic_set *b, void *user)
{
    periods *p = user;
    int n = (int)isl_basic_set_dim(b, isl_dim_div);
    for (int i = 0; i < n && p->n < MAX_PERIODS; i++) {
        isl_aff *div = isl_basic_set_get_div(b, i);
        int64_t m = 0;
        bool known = small(isl_aff_get_denominator_val(div), &m) && m > 1;
        for (int k = 0; k < p->n; k++) known = known && p->m[k] != m;
        if (known) p->m[p->n++] = m;
        isl_aff_free(div);
    }
    isl_basic_set_free(b);
    return isl_stat_ok;
}

/* Smallest and largest of the ids modulo m; false: there is none. */
static bool residues(__isl_keep isl_set *ids, int64_t m, int64_t *lo, int64_t *hi)
{
    isl_pw_aff *x = isl_pw_aff_mod_val(coordinate(ids, 0), isl_val_int_from_si(isl_set_get_ctx(ids), m));
    isl_set *r = isl_set_apply(isl_set_copy(ids), isl_map_from_pw_aff(x));
    bool ok = pr_isl_tri(isl_set_is_empty(r)) == PR_NO && least(r, 0, lo) && most(r, 0, hi);
    isl_set_free(r);
    return ok;
}

/* In a box, which ids are there modulo their k-th period, or which are not? False: there is no such period. Whether it says
 * enough is for the caller to see. k: two for each period. */
static bool modular(__isl_keep isl_set *ids, const periods *p, int k, pr_axis_relation *r)
{
    if (k >= 2 * p->n) return false;
    r->mod = p->m[k / 2];
    r->m_not = k % 2;
    isl_set *of = isl_set_copy(ids);
    if (r->m_not) {
        isl_set *box = isl_set_universe(isl_set_get_space(ids));
        box = with_row(box, 0, 1, -1, 0, -r->a_lo, false);
        of = isl_set_subtract(with_row(box, 0, -1, -1, 0, r->a_hi, false), of);
    }
    if (!residues(of, r->mod, &r->m_lo, &r->m_hi)) r->mod = 0;
    isl_set_free(of);
    return true;
}

/* Only dimensions d and e of s. */
static __isl_give isl_set *only(__isl_keep isl_set *s, int d, int e)
{
    isl_set *two = isl_set_copy(s);
    for (int i = (int)isl_set_dim(s, isl_dim_set) - 1; i >= 0; i--)
        if (i != d && i != e) two = isl_set_project_out(two, isl_dim_set, (unsigned)i, 1);
    return two;
}

/* Does the shape, on all pairs of ids of the axis, give exactly these? Equal ids are left out of the comparison
 * when they are all missing: different programs may have to differ in this axis. */
static bool fits(const job *j, __isl_keep isl_set *two, __isl_keep isl_set *grid, const pr_axis_relation *r)
{
    isl_set *full = isl_set_intersect(axis_set(j, two, r, 0, 1), isl_set_copy(grid));
    bool same = equal(full, two);
    if (!same) {
        pr_axis_relation diagonal = { .shape = PR_AXIS_SAME };
        isl_set *on = shape_set(two, &diagonal, 0, 1);
        isl_set *meet = isl_set_intersect(isl_set_copy(two), isl_set_copy(on));
        if (pr_isl_tri(isl_set_is_empty(meet)) == PR_YES) {
            isl_set *off = isl_set_subtract(isl_set_copy(full), isl_set_copy(on));
            same = equal(off, two);
            isl_set_free(off);
        }
        isl_set_free(meet);
        isl_set_free(on);
    }
    isl_set_free(full);
    return same;
}

/* Fills r with the first shape, in order of how easily it is read, that says what axis i of the relation says. */
static bool propose(const job *j, int i, pr_axis_relation *r)
{
    isl_set *two = only(j->set, i, j->n + i), *grid = only(j->domain, i, j->n + i);
    isl_set *gap = distances(two, 0, 1);
    int64_t lo = 0, hi = 0, step = 0, other = 0;
    bool bounded = least(gap, 0, &lo) && most(gap, 0, &hi);
    isl_set *ahead = with_row(isl_set_copy(gap), 0, 1, -1, 0, -1, false);
    bool have_step = least(ahead, 0, &step);
    isl_set *back = with_row(isl_set_copy(gap), 0, -1, -1, 0, -1, false);
    have_step = (most(back, 0, &other) && (!have_step || -other < step)) ? (step = -other, true) : have_step;
    pr_axis_relation box = { 0 };
    bool boxed = least(two, 0, &box.a_lo) && most(two, 0, &box.a_hi) && least(two, 1, &box.b_lo) && most(two, 1, &box.b_hi);
    bool sym = j->symmetric, found = false;
    isl_set *added = sums(two, 0, 1), *first = isl_set_project_out(isl_set_copy(two), isl_dim_set, 1, 1);
    int64_t sum_lo = 0, sum_hi = 0;
    bool summed = least(added, 0, &sum_lo) && most(added, 0, &sum_hi);
    periods p = { .n = 0 };
    isl_set_foreach_basic_set(first, add_periods, &p);
    for (int pass = 0; pass < (sym ? 2 : 3 + 2 * p.n) && !found; pass++) {
        if (pass && !boxed) break;
        pr_axis_relation base = box;
        base.boxed = pass > 0;
        if (pass == 2) {                                       /* first ids in steps                    */
            isl_set *later = with_row(isl_set_copy(two), 0, 1, -1, 0, -box.a_lo - 1, false);
            int64_t second;
            base.a_step = least(later, 0, &second) ? second - box.a_lo : 0;
            isl_set_free(later);
            if (base.a_step < 2) continue;
        }
        if (pass > 2 && (!modular(first, &p, pass - 3, &base) || !base.mod)) continue;
        for (int shape = PR_AXIS_ANY; shape < PR_AXIS_NONE && !found; shape++) {
            *r = base;
            r->shape = (pr_axis_shape)shape;
            switch (r->shape) {
            case PR_AXIS_EXACT:
                if (sym ? !have_step || !bounded || hi != step : !bounded || lo != hi) continue;
                r->c = hi;
                break;
            case PR_AXIS_WITHIN:
                if (!bounded) continue;
                r->lo = lo, r->hi = hi;
                if (sym) {
                    r->hi = hi > -lo ? hi : -lo;
                    r->lo = -r->hi;
                }
                break;
            case PR_AXIS_MULTIPLE:
                if (!have_step || step < 2) continue;
                r->c = step;
                break;
            case PR_AXIS_GROUP:
                if (!bounded) continue;
                r->c = (hi > -lo ? hi : -lo) + 1;
                if (r->c < 2) continue;
                break;
            case PR_AXIS_SUM:
                if (!summed) continue;
                r->lo = sum_lo, r->hi = sum_hi;
                break;
            default: break;
            }
            found = fits(j, two, grid, r);
        }
    }
    isl_set_free(two);
    isl_set_free(grid);
    isl_set_free(gap);
    isl_set_free(ahead);
    isl_set_free(back);
    isl_set_free(added);
    isl_set_free(first);
    if (!found) *r = (pr_axis_relation){ .shape = PR_AXIS_NONE };
    return found;
}

/* --- sentence -------------------------------------------------------------------------------- */

static void modulo_words(pr_buf *b, const char *axis, const pr_axis_relation *r)
{
    if (r->mod < 2) return;
    pr_buf_printf(b, " where %s modulo %lld is %s", axis, (long long)r->mod, r->m_not ? "not " : "");
    if (r->m_lo == r->m_hi) pr_buf_printf(b, "%lld", (long long)r->m_lo);
    else pr_buf_printf(b, "from %lld to %lld", (long long)r->m_lo, (long long)r->m_hi);
}

static void range_words(pr_buf *b, const char *with, const char *axis, int64_t lo, int64_t hi, int64_t step)
{
    if (lo == hi) pr_buf_printf(b, " %s %s = %lld", with, axis, (long long)lo);
    else pr_buf_printf(b, " %s %s from %lld to %lld", with, axis, (long long)lo, (long long)hi);
    if (lo != hi && step > 1) pr_buf_printf(b, " in steps of %lld", (long long)step);
}

static void box_words(pr_buf *b, const char *axis, const pr_axis_relation *r, bool sym)
{
    if (!r->boxed) return;
    if (sym || (r->a_lo == r->b_lo && r->a_hi == r->b_hi && r->a_step < 2 && r->mod < 2)) {
        pr_buf_puts(b, ", both");
        range_words(b, "with", axis, r->a_lo, r->a_hi, 0);
        return;
    }
    pr_buf_puts(b, ", the first");
    range_words(b, "with", axis, r->a_lo, r->a_hi, r->a_step);
    modulo_words(b, axis, r);
    pr_buf_puts(b, " and the second");
    range_words(b, "with", axis, r->b_lo, r->b_hi, 0);
}

static void away(pr_buf *b, int64_t d, const char *axis)
{
    if (d == 0) pr_buf_printf(b, "the same %s", axis);
    else pr_buf_printf(b, "%lld %s it along %s", (long long)(d < 0 ? -d : d), d < 0 ? "before" : "after", axis);
}

static void conditions(pr_buf *b, const job *j, const pr_race_set *out, bool sym)
{
    bool some = false;
    for (int i = 0; i < j->n; i++) {
        if (out->axis[i].shape != PR_AXIS_SAME) continue;
        pr_buf_printf(b, "%s%s", some ? " and " : sym ? " that have the same " : " that has the same ", j->in->axis[i]);
        some = true;
    }
    for (int i = 0; i < j->n; i++) {
        const pr_axis_relation *r = &out->axis[i];
        const char *x = j->in->axis[i];
        if (r->shape == PR_AXIS_ANY || r->shape == PR_AXIS_NONE || r->shape == PR_AXIS_SAME) continue;
        pr_buf_puts(b, some ? " and " : " that ");
        some = true;
        switch (r->shape) {
        case PR_AXIS_EXACT:
            if (sym) pr_buf_printf(b, "are exactly %lld apart along %s", (long long)r->c, x);
            else pr_buf_puts(b, "is "), away(b, r->c, x);
            break;
        case PR_AXIS_WITHIN:
            if (sym) pr_buf_printf(b, "are at most %lld apart along %s", (long long)r->hi, x);
            else {
                pr_buf_puts(b, "lies between ");
                away(b, r->lo, x);
                pr_buf_puts(b, " and ");
                away(b, r->hi, x);
            }
            break;
        case PR_AXIS_MULTIPLE:
            pr_buf_printf(b, sym ? "are a multiple of %lld apart along %s" : "is a multiple of %lld away from it along %s",
                          (long long)r->c, x);
            break;
        case PR_AXIS_GROUP:
            pr_buf_printf(b, sym ? "lie in one group of %lld along %s" : "lies in its group of %lld along %s", (long long)r->c, x);
            break;
        case PR_AXIS_SUM:
            pr_buf_printf(b, sym ? "have %s values that add up to " : "has an %s that adds up to ", x);
            if (r->lo == r->hi) pr_buf_printf(b, "%lld", (long long)r->lo);
            else pr_buf_printf(b, "between %lld and %lld", (long long)r->lo, (long long)r->hi);
            if (!sym) pr_buf_printf(b, " with the %s of the first", x);
            break;
        default: break;
        }
    }
    for (int i = 0; i < j->n; i++) box_words(b, j->in->axis[i], &out->axis[i], sym);
}

static const char *say(const job *j, const pr_race_set *out)
{
    pr_buf b;
    pr_buf_init(&b, j->arena);
    bool sym = j->symmetric;
    if (j->in->query->intra) {
        int boxes = 0;
        pr_buf_puts(&b, "threads of one program race, in every program");
        if (out->same_axes) pr_buf_printf(&b, " whose %s and %s are the same", j->in->axis[0], j->in->axis[1]);
        for (int i = 0; i < j->n; i++) {
            const pr_axis_relation *r = &out->axis[i];
            if (r->boxed) range_words(&b, boxes++ ? "and" : "with", j->in->axis[i], r->a_lo, r->a_hi, r->a_step), modulo_words(&b, j->in->axis[i], r);
        }
        return b.data;
    }
    int exact = -1, others = 0;
    for (int i = 0; i < j->n; i++) {
        if (out->axis[i].shape == PR_AXIS_EXACT && exact < 0) exact = i;
        else if (out->axis[i].shape != PR_AXIS_SAME) others++;
    }
    if (sym && exact >= 0 && !others && out->axis[exact].c) {
        const pr_axis_relation *r = &out->axis[exact];
        pr_buf_puts(&b, "each program races with ");
        if (r->c == 1) pr_buf_printf(&b, "the next one along %s", j->in->axis[exact]);
        else pr_buf_printf(&b, "the one %lld after it along %s", (long long)r->c, j->in->axis[exact]);
        for (int i = 0; i < j->n; i++) box_words(&b, j->in->axis[i], &out->axis[i], true);
    } else if (sym) {
        pr_buf_puts(&b, "any two programs race");
        conditions(&b, j, out, true);
    } else {
        pr_buf_puts(&b, j->in->query->same_record ? "a program races with any other program" :
                    "the first access of a program races with the second access of any other program");
        conditions(&b, j, out, false);
    }
    return b.data;
}

/* --- one query ------------------------------------------------------------------------------- */

/* { [x, x'] } as { [x] -> [x'] } */
static __isl_give isl_map *as_map(__isl_take isl_set *s, int n)
{
    return isl_map_move_dims(isl_map_from_domain(s), isl_dim_out, 0, isl_dim_in, (unsigned)n, (unsigned)n);
}

static __isl_give isl_set *swapped(__isl_keep isl_set *s, int n)
{
    return isl_set_flatten(isl_map_wrap(isl_map_reverse(as_map(isl_set_copy(s), n))));
}

/* [x, x'] of different programs (or [x] within one) inside the grid */
static __isl_give isl_set *grid_domain(const job *j, pr_aff *a, __isl_keep isl_set *like)
{
    const pr_race_set_in *in = j->in;
    isl_set *s = isl_set_universe(isl_set_get_space(like));
    int copies = in->query->intra ? 1 : 2;
    for (int i = 0; i < j->n; i++)
        for (int c = 0; c < copies; c++) {
            int d = c * j->n + i;
            s = with_row(s, d, 1, -1, 0, 0, false);
            if (in->extent[i]) s = with_row(s, d, -1, -1, 0, in->extent[i] - 1, false);
            else if (a->pos[in->grid[i].id] >= 0) {
                isl_constraint *k = isl_constraint_alloc_inequality(isl_local_space_from_space(isl_set_get_space(s)));
                k = isl_constraint_set_coefficient_si(k, isl_dim_set, d, -1);
                k = isl_constraint_set_coefficient_si(k, isl_dim_param, a->pos[in->grid[i].id], 1);
                k = isl_constraint_set_constant_si(k, -1);
                s = isl_set_add_constraint(s, k);
            }
        }
    if (copies == 2) {
        isl_set *same = isl_set_universe(isl_set_get_space(like));
        for (int i = 0; i < j->n; i++) same = with_row(same, i, 1, j->n + i, -1, 0, true);
        s = isl_set_subtract(s, same);
    }
    return isl_set_intersect_params(s, isl_set_params(isl_set_copy(j->limits)));
}

static void describe(job *j, pr_race_set *out)
{
    bool all = true;
    isl_set *product = isl_set_copy(j->domain);
    for (int i = 0; i < j->n && all; i++) {
        if (j->in->query->intra) {
            pr_axis_relation *r = &out->axis[i];
            *r = (pr_axis_relation){ .shape = PR_AXIS_ANY };
            isl_set *one = only(j->set, i, i), *grid = only(j->domain, i, i);
            if (!equal(one, grid)) {
                r->boxed = least(one, 0, &r->a_lo) && most(one, 0, &r->a_hi);
                r->b_lo = r->a_lo, r->b_hi = r->a_hi;
                isl_set *later = with_row(isl_set_copy(one), 0, 1, -1, 0, -r->a_lo - 1, false);
                int64_t second;
                r->a_step = r->boxed && least(later, 0, &second) ? second - r->a_lo : 0;
                isl_set_free(later);
                all = all && r->boxed;
                isl_set *shaped = axis_set(j, one, r, 0, 0);
                bool same = equal(shaped, one);
                isl_set_free(shaped);
                periods p = { .n = 0 };
                isl_set_foreach_basic_set(one, add_periods, &p);
                pr_axis_relation other = *r;
                other.a_step = 0;
                for (int k = 0; r->boxed && !same && modular(one, &p, k, &other); k++) {
                    shaped = axis_set(j, one, &other, 0, 0);
                    same = other.mod && equal(shaped, one);
                    if (same) *r = other;
                    isl_set_free(shaped);
                }
            }
            isl_set_free(one);
            isl_set_free(grid);
            product = isl_set_intersect(product, axis_set(j, product, r, i, i));
        } else {
            all = propose(j, i, &out->axis[i]) && all;
            product = isl_set_intersect(product, axis_set(j, product, &out->axis[i], i, j->n + i));
        }
    }
    out->described = all && equal(product, j->set);
    if (all && !out->described && j->in->query->intra && j->n >= 2) {       /* the diagonal of two axes */
        product = with_row(product, 0, 1, 1, -1, 0, true);
        out->same_axes = equal(product, j->set);
        if (out->same_axes) out->sentence = say(j, out);
    }
    isl_set_free(product);
    if (out->described) out->sentence = say(j, out);
}

/* Two programs with two axes exchanged and the rest alike: a transposition in place. */
static void describe_exchange(job *j, pr_race_set *out)
{
    for (int d = 0; d < j->n && !out->sentence && !j->in->query->intra; d++)
        for (int e = d + 1; e < j->n && !out->sentence; e++) {
            isl_set *s = isl_set_copy(j->domain);
            for (int i = 0; i < j->n; i++) s = with_row(s, i, 1, j->n + (i == d ? e : i == e ? d : i), -1, 0, true);
            if (equal(s, j->set))
                out->sentence = pr_arena_printf(j->arena, "%s %s and %s exchanged", j->symmetric ? "any two programs race that have" :
                                                "the first access of a program races with the second access of any other program that has",
                                                j->in->axis[d], j->in->axis[e]);
            isl_set_free(s);
        }
}

typedef struct parts { isl_set *part[MAX_PARTS]; int n; } parts;

static isl_stat add_part(__isl_take isl_basic_set *b, void *user)
{
    parts *p = user;
    if (p->n < MAX_PARTS) p->part[p->n++] = isl_set_from_basic_set(b);
    else isl_basic_set_free(b);
    return isl_stat_ok;
}

/* A relation of a few parts that each have a sentence. Two parts between two programs, or in one. */
static void describe_parts(job *j, pr_race_set *out)
{
    parts p = { .n = 0 };
    if (isl_set_n_basic_set(j->set) > MAX_PARTS) return;
    isl_set_foreach_basic_set(j->set, add_part, &p);
    pr_buf b;
    pr_buf_init(&b, j->arena);
    bool all = p.n > 1;
    for (int i = 0; i < p.n; i++) {
        job one = *j;
        pr_race_set said = { .symmetric = out->symmetric };
        one.set = p.part[i];
        if (all) describe(&one, &said);
        all = all && said.sentence;
        if (all) pr_buf_printf(&b, "%s%s", i ? "; and " : "", said.sentence);
        isl_set_free(one.set);
    }
    if (all) out->sentence = b.data;
}

static void print(job *j, __isl_keep isl_set *set, pr_race_set *out)
{
    /* the machine limits of the grid say nothing to a reader */
    const char *second[3] = { NULL };
    for (int i = 0; i < j->n; i++) second[i] = pr_arena_printf(j->arena, "%s'", j->in->axis[i]);
    isl_set *s = isl_set_gist_params(isl_set_copy(set), isl_set_params(isl_set_copy(j->limits)));
    out->pieces = (int)isl_set_n_basic_set(s);
    for (int i = 0; i < j->n; i++) {
        s = isl_set_set_dim_name(s, isl_dim_set, (unsigned)i, j->in->axis[i]);
        if (!j->in->query->intra)
            s = isl_set_set_dim_name(s, isl_dim_set, (unsigned)(j->n + i), second[i]);
    }
    char *text;
    if (j->in->query->intra) {
        text = isl_set_to_str(s);
        isl_set_free(s);
    } else {
        isl_map *m = as_map(s, j->n);
        text = isl_map_to_str(m);
        isl_map_free(m);
    }
    pr_guard own;
    pr_isl_hold_text(j->arena, &own, text);
    if (text && strlen(text) <= MAX_TEXT && out->pieces <= MAX_PIECES) out->relation = pr_arena_printf(j->arena, "%s", text);
    else if (text) out->why = "the relation has too many pieces to be read";
    pr_guard_end(&own);
}

/* --- how many -------------------------------------------------------------------------------- */

static bool chosen(const pr_axis_relation *r, int64_t x)
{
    int64_t rest = r->mod > 1 ? (x % r->mod + r->mod) % r->mod : 0;
    return r->mod < 2 || (r->m_lo <= rest && rest <= r->m_hi) != r->m_not;
}

static int64_t clip(int64_t lo, int64_t hi) { return hi < lo ? 0 : hi - lo + 1; }

/* Second ids that belong to the first id x, in [lo, hi]. */
static int64_t partners(const pr_axis_relation *r, bool sym, int64_t x, int64_t lo, int64_t hi)
{
    switch (r->shape) {
    case PR_AXIS_SAME: return x >= lo && x <= hi;
    case PR_AXIS_EXACT: {
        int64_t n = x + r->c >= lo && x + r->c <= hi;
        return n + (sym && r->c && x - r->c >= lo && x - r->c <= hi);
    }
    case PR_AXIS_SUM: return clip(r->lo - x > lo ? r->lo - x : lo, r->hi - x < hi ? r->hi - x : hi);
    case PR_AXIS_WITHIN: return clip(x + r->lo > lo ? x + r->lo : lo, x + r->hi < hi ? x + r->hi : hi);
    case PR_AXIS_MULTIPLE: {
        int64_t first = lo + ((x - lo) % r->c + r->c) % r->c;
        return first > hi ? 0 : (hi - first) / r->c + 1;
    }
    case PR_AXIS_GROUP: {
        int64_t from = x / r->c * r->c;
        return clip(from > lo ? from : lo, from + r->c - 1 < hi ? from + r->c - 1 : hi);
    }
    default: return clip(lo, hi);
    }
}

/* Ordered pairs of ids of one axis, and those of equal ids among them. */
static bool axis_count(const job *j, int i, const pr_axis_relation *r, pr_i128 *all, pr_i128 *same)
{
    int64_t n = j->in->extent[i], x_lo = 0, x_hi = n - 1, y_lo = 0, y_hi = n - 1;
    if (r->boxed) {
        x_lo = r->a_lo > 0 ? r->a_lo : 0;
        x_hi = r->a_hi < n - 1 ? r->a_hi : n - 1;
        y_lo = r->b_lo > 0 ? r->b_lo : 0;
        y_hi = r->b_hi < n - 1 ? r->b_hi : n - 1;
    }
    if (x_hi - x_lo >= MAX_IDS) return false;
    bool sym = j->symmetric;
    *all = *same = 0;
    for (int64_t x = x_lo; x <= x_hi; x += r->a_step > 1 ? r->a_step : 1) {
        if (!chosen(r, x)) continue;
        *all += partners(r, sym, x, y_lo, y_hi);
        *same += x >= y_lo && x <= y_hi && partners(r, sym, x, x, x) > 0;
    }
    return true;
}

/* The number of racing pairs: from the shapes where they say everything, else by visiting the points. */
static void count(job *j, __isl_keep isl_set *set, pr_race_set *out)
{
    for (int i = 0; i < j->n; i++)
        if (!j->in->extent[i]) return;
    if (out->described) {
        pr_i128 all = 1, same = 1, a, s;
        out->counted = true;
        for (int i = 0; i < j->n && out->counted; i++) {
            if (j->in->query->intra) {
                const pr_axis_relation *r = &out->axis[i];
                a = s = !r->boxed ? j->in->extent[i] : (r->a_hi - r->a_lo) / (r->a_step > 1 ? r->a_step : 1) + 1;
                if (r->boxed && r->mod > 1 && r->a_hi - r->a_lo >= MAX_IDS) out->counted = false;
                for (int64_t x = r->a_lo; out->counted && r->boxed && r->mod > 1 && x <= r->a_hi; x++) a = s = a - !chosen(r, x);
            } else if (!axis_count(j, i, &out->axis[i], &a, &s)) {
                out->counted = false;
                break;
            }
            all *= a;
            same *= s;
        }
        if (!j->in->query->intra) all = (all - same) / (j->symmetric ? 2 : 1);
        out->pairs = all;
        return;
    }
    pr_isl_quota(j->ctx, COUNT_OPS);
    isl_val *v = isl_set_count_val(set);
    out->counted = v && isl_val_is_int(v) == isl_bool_true && pr_isl_i128(v, &out->pairs);
    if (pr_isl_error(j->ctx) != PR_REFUSAL_NONE) out->counted = false;
    isl_val_free(v);
}

void pr_isl_race_set(const pr_race_set_in *in, int64_t max_ops, pr_arena *arena, pr_race_set *out)
{
    const pr_query *q = in->query;
    pr_terms *T = q->terms;
    *out = (pr_race_set){ .symmetric = q->same_record };
    for (int i = 0; i < in->n_maps; i++) in->maps[i].cell = NULL, in->maps[i].why = NULL;
    job j = { .arena = arena, .in = in, .n = in->n_axes };
    isl_set *set = NULL, **const held[] = { &set, &j.set, &j.domain, &j.limits };
    pr_guard own, own_set[PR_LEN(held)];
    j.ctx = pr_isl_ctx_new(arena, &own);
    for (size_t i = 0; i < PR_LEN(held); i++) pr_isl_hold_set(arena, &own_set[i], held[i]);
    pr_isl_quota(j.ctx, max_ops);
    pr_term overlap[2];
    int n = pr_query_overlap(q, pr_query_box(q), overlap), n_params = 0, n_dims = 0, copies = q->intra ? 1 : 2;
    pr_arena *work = pr_arena_new(0, pr_arena_oom(arena));      /* a table of all terms a query: not for the verdict to keep */
    if (!work) pr_arena_exhausted(arena);
    pr_var *params = PR_NEW_N(work, pr_var, q->n_vars + 4), *dims = PR_NEW_N(work, pr_var, q->n_vars + 7);
    for (int c = 0; c < copies; c++)
        for (int i = 0; i < in->n_axes; i++) dims[n_dims++] = c ? in->b[i] : in->a[i];
    for (int i = 0; i < q->n_vars; i++) {
        bool placed = false;
        for (int d = 0; d < copies * in->n_axes; d++) placed = placed || dims[d].id == q->vars[i].id;
        if (placed) continue;
        pr_var_role role = pr_var_get(T, q->vars[i])->role;
        if (role == PR_ROLE_PARAM || role == PR_ROLE_GRID) params[n_params++] = q->vars[i];
        else dims[n_dims++] = q->vars[i];
    }
    pr_aff a;
    pr_aff_init(&a, j.ctx, T, work, params, n_params, dims, NULL, n_dims, NULL);
    set = pr_isl_conflicts(&a, q, overlap, n);
    unsigned keep = (unsigned)(copies * in->n_axes);
    if (set && isl_set_n_basic_set(set) > MAX_LEAVES) a.why = "the overlap falls into too many cases";
    set = isl_set_project_out(set, isl_dim_set, keep, (unsigned)n_dims - keep);
    set = isl_set_detect_equalities(isl_set_coalesce(set));
    if (!set || a.why || pr_isl_error(j.ctx) != PR_REFUSAL_NONE) {
        out->why = a.why ? a.why : pr_isl_error(j.ctx) == PR_REFUSAL_BUDGET ? "the isl operation limit is used up"
                                                                            : "isl reported an error";
    } else {
        out->why = NULL;
        for (int i = 0; i < in->n_maps; i++) pr_isl_race_map(j.ctx, set, q->intra, max_ops * MAP_FACTOR, arena, &in->maps[i]);
    }
    if (!out->why && !in->n_maps) {
        int64_t words = max_ops < WORD_OPS ? max_ops : WORD_OPS;   /* a limit of their own: what has a short sentence has it soon */
        pr_isl_quota(j.ctx, words);
        j.set = isl_set_copy(set);
        j.symmetric = q->same_record && !q->intra;
        j.limits = pr_aff_bounds(&a);
        j.domain = grid_domain(&j, &a, set);
        if (j.symmetric) {
            j.set = isl_set_coalesce(isl_set_union(j.set, swapped(set, j.n)));
            describe(&j, out);
            if (!out->described) describe_exchange(&j, out);
            if (!out->sentence) {                  /* as it stands: the program with the smaller id first */
                isl_set_free(j.set);
                j.set = isl_set_copy(set);
                j.symmetric = false;
            }
        }
        if (!out->sentence) describe(&j, out);
        if (!out->sentence) describe_exchange(&j, out);
        if (!out->sentence) describe_parts(&j, out);
        if (pr_isl_error(j.ctx) != PR_REFUSAL_NONE) {
            out->described = false;
            out->sentence = NULL;
        }
        pr_isl_quota(j.ctx, words);
        print(&j, set, out);
        if (!out->sentence && !out->why) out->why = "no short sentence says this relation";
        count(&j, set, out);
    }
    for (int i = 0; i < in->n_maps; i++)
        if (!in->maps[i].cell && !in->maps[i].why) in->maps[i].why = out->why ? out->why : "isl reported an error";
    pr_aff_fini(&a);
    pr_arena_free(work);
    for (size_t i = PR_LEN(held); i-- > 0;) pr_guard_end(&own_set[i]);
    pr_isl_alloc_check(j.ctx, arena);
    pr_guard_end(&own);
}
