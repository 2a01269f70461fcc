/* Pairs whose addresses are apart, seen from the two accesses alone and before a query is made: what the first
 * tests of src/pre and rule P say, with the facts of each access gathered once and not once a pair. A kernel with n
 * accesses has n*n pairs.
 *
 * An address is split into `uniform` (only parameters below), program ids with constant factors, one product of a
 * program id and parameters, and a rest:  addr = uniform + sum factor[d]*pid[d] + times*(pid*stride) + rest.
 *
 *   threads of one program   the ids are one value; same uniform part, factors and product: the difference of the
 *                            addresses is that of the rests. Disjoint byte intervals never meet.
 *   different programs       one axis d has more than one program, both accesses have the same factor S there. Either
 *                            the hull of both rests, width included, is at most |S| long: an overlap forces equal ids
 *                            on d, and then the programs are the same. Or each access stays in the window of its
 *                            program, L <= rest and rest + width <= L + S wherever it is performed (its own conjuncts
 *                            and the premises as rows, linear.h): then S >= width >= 1, and programs k >= 1 apart are
 *                            S*k >= S apart, further than two windows reach. S may be times*stride.
 *
 * Everything else, orders included, is left to the query. */
#include "hb/ladder.h"
#include "hb/linear.h"

/* Is one value for all programs: tables of parameters too. */
static bool beyond_parameters(const pr_terms *T, pr_term t)
{
    return pr_term_occurs(T, t) & ((PR_OCCURS_VAR | PR_OCCURS_APP) & ~PR_OCCURS(PR_ROLE_PARAM));
}

static bool within(pr_interval x)
{
    const pr_i128 most = (pr_i128)1 << 100;
    return x.lo > -most && x.hi < most;
}

/* pid[axis] * stride with a stride of parameters alone. */
static bool is_moving(pr_encoding *e, const pr_side *s, pr_apart *f, pr_term t)
{
    const pr_terms *T = e->terms;
    if (f->axis < 0 || f->axis > 2 || !pr_term_none(f->moving) || pr_term_op_of(T, t) != PR_TERM_OP_MUL) return false;
    for (int i = 0; i < 2; i++) {
        pr_term other = pr_term_child(T, t, 1 - i);
        if (!pr_term_is(pr_term_child(T, t, i), s->pid[f->axis]) || beyond_parameters(T, other)) continue;
        f->moving = t;
        f->stride = other;
        return true;
    }
    return false;
}

/* One summand; false: no facts. */
static bool add_part(pr_encoding *e, const pr_side *s, pr_apart *f, pr_term t, pr_i128 c, pr_term *uniform, pr_i128 *coef, int *n)
{
    const pr_i128 most = (pr_i128)1 << 60, wide = (pr_i128)1 << 66;
    if (c >= most || c <= -most) return false;
    for (int d = 0; d < 3; d++)
        if (pr_term_is(t, s->pid[d])) {
            f->factor[d] = c;
            return true;
        }
    if (!beyond_parameters(e->terms, t)) {
        uniform[*n] = t;
        coef[(*n)++] = c;
        return true;
    }
    if (is_moving(e, s, f, t)) {
        f->times = c;
        return true;
    }
    if (f->rest && !pr_linear_add(e->terms, f->rest, t, c)) f->rest = NULL;
    pr_interval r = pr_range(e->box, t);
    pr_i128 lo = c > 0 ? r.lo : r.hi, hi = c > 0 ? r.hi : r.lo;
    f->lo = f->lo <= -PR_INF || lo <= -wide || lo >= wide ? -PR_INF : f->lo + c * lo;
    f->hi = f->hi >= PR_INF || hi <= -wide || hi >= wide ? PR_INF : f->hi + c * hi;
    return f->lo > -PR_INF || f->hi < PR_INF;
}

static const pr_apart *facts_of(pr_encoding *e, const pr_side *side)
{
    pr_side *s = (pr_side *)side;
    pr_terms *T = e->terms;
    if (s->apart) return s->apart;
    pr_apart *f = s->apart = PR_NEW(e->arena, pr_apart);
    if (s->refused || s->dead || s->unknown_address || pr_term_none(s->addr)) return f;
    bool sum = pr_term_op_of(T, s->addr) == PR_TERM_OP_SUM, constant = pr_term_op_of(T, s->addr) == PR_TERM_OP_CONST;
    int parts = sum ? pr_term_arity(T, s->addr) : constant ? 0 : 1, n = 0;
    pr_term *uniform = PR_NEW_N(e->arena, pr_term, parts + 1);
    pr_i128 *coef = PR_NEW_N(e->arena, pr_i128, parts + 1);
    f->axis = -1;
    for (int d = 0; d < 3; d++)
        if (pr_term_op_of(T, s->pid[d]) != PR_TERM_OP_CONST) f->axis = f->axis == -1 ? d : 3;
    f->lo = f->hi = sum || constant ? pr_term_value(T, s->addr) : 0;
    if (!within((pr_interval){ f->lo, f->hi })) return f;
    if (f->axis >= 0 && f->axis < 3) {
        f->rest = pr_arena_raw(e->arena, sizeof *f->rest);
        pr_linear_zero(f->rest);
        f->rest->k = f->lo;
    }
    for (int i = 0; i < parts; i++)
        if (!add_part(e, s, f, sum ? pr_term_child(T, s->addr, i) : s->addr, sum ? pr_term_coef(T, s->addr, i) : 1, uniform, coef, &n)) return f;
    f->uniform = pr_sum(T, uniform, coef, n, 0);
    f->known = !pr_term_none(f->uniform);
    return f;
}

/* How far rest + width - S reaches at most. */
static pr_i128 over(pr_encoding *e, const pr_side *s, pr_apart *f, int width, pr_term condition)
{
    pr_linear x;
    pr_linear_rows rows;
    if (pr_term_none(condition) ? f->over_done : pr_term_is(f->under, condition)) return pr_term_none(condition) ? f->over : f->over_under;
    pr_i128 best = PR_INF, enough = f->lo < 0 ? f->lo : 0;
    pr_linear_copy(&x, f->rest);
    x.k += width;
    rows.n = 0;
#ifdef PR_FAULTS
    if (e->options->fault == 21) x.k -= f->factor[f->axis];
#endif
    if (pr_term_none(f->moving)) x.k -= f->factor[f->axis];
    if (pr_term_none(f->moving) || pr_linear_add(e->terms, &x, f->stride, -f->times)) {
        for (int i = 0; i < s->active.n; i++) pr_linear_rows_of(e->terms, s->active.data[i], &rows);
        for (int i = 0; i < e->premises.n; i++) pr_linear_rows_of(e->terms, e->premises.data[i], &rows);
        pr_linear_rows_of(e->terms, condition, &rows);
        best = pr_linear_sup(e->box, &x, &rows, enough);
    }
    if (pr_term_none(condition)) f->over = best, f->over_done = true;
    else f->over_under = best, f->under = condition;
    return best;
}

/* Both accesses stay in the windows of their programs. */
static bool in_windows(pr_encoding *e, const pr_side *x, pr_apart *f, int wx, const pr_side *y, pr_apart *g, int wy, pr_term condition)
{
    int d = f->axis;
    if (!f->rest || !g->rest || f->lo <= -PR_INF || g->lo <= -PR_INF) return false;
    if (!pr_term_is(f->moving, g->moving) || f->times != g->times || f->factor[d] != g->factor[d]) return false;
    if (pr_term_none(f->moving) ? f->factor[d] <= 0 : f->factor[d] != 0 || f->times <= 0) return false;
    pr_i128 from = f->lo < g->lo ? f->lo : g->lo;
#ifdef PR_FAULTS
    if (e->options->fault == 20) return over(e, x, f, wx, condition) <= f->lo && over(e, y, g, wy, condition) <= g->lo;
#endif
    return over(e, x, f, wx, condition) <= from && over(e, y, g, wy, condition) <= from;
}

const char *pr_apart_why(pr_encoding *e, int a, int b, bool intra, pr_term condition)
{
    /* copy A of both: a copy's facts name no variable that the other copy has under another name */
    const pr_side *x = pr_encoding_side(e, a, PR_SIDE_A), *y = pr_encoding_side(e, b, PR_SIDE_A);
    const pr_apart *f = facts_of(e, x), *g = facts_of(e, y);
    if (!f->known || !g->known || !pr_term_is(f->uniform, g->uniform)) return NULL;
    int wx = x->record->width, wy = y->record->width;
#ifdef PR_FAULTS
    if (e->options->fault == 16) wx = wy = 1;
#endif
    if (intra) {
        for (int d = 0; d < 3; d++)
            if (f->factor[d] != g->factor[d]) return NULL;
        if (!pr_term_is(f->moving, g->moving) || f->times != g->times) return NULL;
        bool after = f->lo > -PR_INF && g->hi < PR_INF && f->lo >= g->hi + wy, before = g->lo > -PR_INF && f->hi < PR_INF && g->lo >= f->hi + wx;
        return after || before ? "intervals: no common byte" : NULL;
    }
    int d = f->axis;
#ifdef PR_FAULTS
    if (e->options->fault == 17 && d == 3) d = 0;
#endif
    if (d < 0 || d > 2) return NULL;
    pr_i128 lo = f->lo < g->lo ? f->lo : g->lo, hi = f->hi > g->hi ? f->hi : g->hi, stride = f->factor[d];
    bool bounded = lo > -PR_INF && hi < PR_INF && f->factor[d] == g->factor[d] && pr_term_none(f->moving) && pr_term_none(g->moving);
    if (bounded && hi - lo + (wx > wy ? wx : wy) - 1 < (stride < 0 ? -stride : stride)) return "window: equal program ids";
    return in_windows(e, x, (pr_apart *)f, wx, y, (pr_apart *)g, wy, condition) ? "window: equal program ids" : NULL;
}
