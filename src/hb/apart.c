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

static bool beyond_parameters(void *user, const pr_terms *T, pr_term t)
{
    (void)user;
    switch (pr_term_op_of(T, t)) {
    case PR_TERM_OP_VAR: return pr_var_get(T, pr_term_var(T, t))->role != PR_ROLE_PARAM;
    case PR_TERM_OP_APP: return true;
    default: return false;
    }
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
        if (!pr_term_is(pr_term_child(T, t, i), s->pid[f->axis]) || pr_term_any(T, other, beyond_parameters, NULL)) continue;
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
    if (!pr_term_any(e->terms, t, beyond_parameters, NULL)) {
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

/* --- one record, one program ---------------------------------------------------------------------------- */

static bool is_own(void *user, const pr_terms *T, pr_term t)
{
    (void)user;
    if (pr_term_op_of(T, t) == PR_TERM_OP_APP || pr_term_op_of(T, t) == PR_TERM_OP_TABLE) return true;
    if (pr_term_op_of(T, t) != PR_TERM_OP_VAR) return false;
    pr_var_role role = pr_var_get(T, pr_term_var(T, t))->role;
    return role != PR_ROLE_PARAM && role != PR_ROLE_PID && role != PR_ROLE_GRID;
}

typedef struct digit { pr_i128 c, span; } digit;      /* |coefficient|, largest value - smallest (PR_INF: no bound) */
enum { DIGITS = 16 };

/* Sums of the digits that are closer together than the width are sums of equal digits. */
static bool is_injective(digit *x, int n, pr_i128 width)
{
    pr_i128 reach = width - 1;
    for (int i = 0; i < n; i++)
        for (int j = i; j > 0 && x[j - 1].c > x[j].c; j--) {
            digit t = x[j];
            x[j] = x[j - 1], x[j - 1] = t;
        }
    for (int i = 0; i < n; i++) {
        if (x[i].c <= reach) return false;
        if (i + 1 < n && (x[i].span >= (pr_i128)1 << 40 || x[i].c >= (pr_i128)1 << 60)) return false;
        reach += i + 1 < n ? x[i].c * x[i].span : 0;
    }
    return true;
}

static bool has_digit(pr_encoding *e, pr_term sum, pr_term t)
{
    if (pr_term_op_of(e->terms, sum) != PR_TERM_OP_SUM) return pr_term_is(sum, t);
    for (int i = 0; i < pr_term_arity(e->terms, sum); i++)
        if (pr_term_is(pr_term_child(e->terms, sum, i), t)) return true;
    return false;
}

/* "radix: k0 lane1", the digits in the order of the identity. */
static const char *radix_text(pr_encoding *e, const pr_side *s)
{
    size_t n = 7;
    for (int i = 0; i < s->n_loops; i++) n += strlen(pr_var_get(e->terms, pr_term_var(e->terms, s->iter[i]))->name);
    char *text = pr_arena_raw(e->arena, n + PR_RANK_MAX * 8), *to = text;
    memcpy(to, "radix:", 6);
    to += 6;
    for (int i = 0; i < s->n_loops + s->record->rank; i++) {
        pr_term t = i < s->n_loops ? s->iter[i] : s->lane[i - s->n_loops];
        if (pr_term_op_of(e->terms, t) != PR_TERM_OP_VAR || !has_digit(e, s->addr, t)) continue;
        const char *name = pr_var_get(e->terms, pr_term_var(e->terms, t))->name + 2;      /* without "A." */
        size_t m = strlen(name);
        *to++ = ' ';
        memcpy(to, name, m);
        to += m;
    }
    *to = 0;
    return text;
}

/* Two executions of one access in one program that differ in a lane (O1; of a descriptor: or in an iteration) differ in
 * a digit of the address: it is what the program's executions share plus a mixed-radix number of lanes and iterations. */
static const char *radix_why(pr_encoding *e, const pr_side *s)
{
    const pr_terms *T = e->terms;
    const pr_record *r = s->record;
    digit x[DIGITS];
    int n = 0, lanes = 0;
    if (s->refused || s->dead || s->unknown_address || pr_term_none(s->addr)) return NULL;
    bool sum = pr_term_op_of(T, s->addr) == PR_TERM_OP_SUM;
    for (int i = 0; i < (sum ? pr_term_arity(T, s->addr) : 1); i++) {
        pr_term t = sum ? pr_term_child(T, s->addr, i) : s->addr;
        pr_i128 c = sum ? pr_term_coef(T, s->addr, i) : 1;
        if (pr_term_op_of(T, t) != PR_TERM_OP_VAR || !is_own(NULL, T, t)) {
#ifdef PR_FAULTS
            if (e->options->fault == 24) continue;
#endif
            if (pr_term_any(T, t, is_own, NULL)) return NULL;
            continue;
        }
        const pr_var_info *v = pr_var_get(T, pr_term_var(T, t));
        if (v->copy != PR_COPY_A || (v->role != PR_ROLE_LANE && v->role != PR_ROLE_ITER) || n == DIGITS) return NULL;
        bool bounded = v->lo > -PR_INF && v->hi < PR_INF;
        x[n++] = (digit){ c < 0 ? -c : c, bounded ? v->hi - v->lo : PR_INF };
    }
    for (int d = 0; d < r->rank; d++) {
        if (r->shape[d] <= 1) continue;
        lanes++;
#ifdef PR_FAULTS
        if (e->options->fault == 22) continue;
#endif
        if (!has_digit(e, s->addr, s->lane[d])) return NULL;
    }
    for (int i = 0; i < s->n_loops && r->via_desc; i++)
        if (!has_digit(e, s->addr, s->iter[i])) return NULL;
    int width = r->width;
#ifdef PR_FAULTS
    if (e->options->fault == 23) width = 1;
#endif
    return lanes && is_injective(x, n, width) ? radix_text(e, s) : NULL;
}

const char *pr_apart_why(pr_encoding *e, int a, int b, bool intra, pr_term condition)
{
    /* copy A of both: a copy's facts name no variable that the other copy has under another name */
    const pr_side *x = pr_encoding_side(e, a, PR_SIDE_A), *y = pr_encoding_side(e, b, PR_SIDE_A);
    if (a == b && intra) return radix_why(e, x);
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
