/* One access with itself, from one copy: can two of its executions that differ in the program (or, in one program, in
 * the lane) reach one byte? Seen before the second copy and a query are made.
 *
 * The address is uniform + S*(sum c*v) + (sum c*v): the v are lanes, iterations and, for different programs, program
 * ids, each with an interval of its own; S is one parameter; `uniform` is the same in both executions. With g the gcd
 * of the strided c, H = sum (c/g)*v of the strided part, R the other sum and w the width,
 *
 *   P  sup R - inf R + w <= g*S: an overlap is |g*S*dH + dR| < w with |dR| <= sup R - inf R, so dH = 0 and |dR| < w.
 *      R is bounded by intervals and by rows of the access's own conjuncts, which hold in both executions with one
 *      value of each parameter. Where parameters bound it, the inequality is a condition on them.
 *   M  a sum whose values are further apart than the width (1 for H) whenever a v differs, because every coefficient
 *      is larger than what the smaller ones reach: its v are equal.
 *
 * What distinguishes the two executions (every id that is not fixed; every lane of extent > 1, of a descriptor every
 * iteration too) must be among the v that M shows to be equal. All else is left to the query, and so is a bound that
 * the closure (src/pre) may know without a condition. */
#include "hb/ladder.h"
#include "hb/linear.h"

enum { DIGITS = 16, STEPS = 24, MOST_EXTENT = 1 << 24 /* as in src/pre/stride.c: a larger constant is a machine width */ };
static const pr_i128 WIDE = (pr_i128)1 << 60;

typedef struct digit { pr_term v; pr_i128 c, span; } digit;      /* span: largest value - smallest, PR_INF: no bound */
typedef struct number { digit at[DIGITS]; int n; bool injective; } number;
typedef struct address { number strided, plain; pr_term stride; } address;

static bool beyond_parameters(void *user, const pr_terms *T, pr_term t)
{
    (void)user;
    if (pr_term_op_of(T, t) == PR_TERM_OP_APP || pr_term_op_of(T, t) == PR_TERM_OP_TABLE) return true;
    return pr_term_op_of(T, t) == PR_TERM_OP_VAR && pr_var_get(T, pr_term_var(T, t))->role != PR_ROLE_PARAM;
}

static bool is_param_only(const pr_terms *T, pr_term t) { return !pr_term_any(T, t, beyond_parameters, NULL); }

/* May the term have two values in the two executions? */
static bool is_own(void *user, const pr_terms *T, pr_term t)
{
    bool intra = *(const bool *)user;
    if (!beyond_parameters(NULL, T, t)) return false;
    if (pr_term_op_of(T, t) != PR_TERM_OP_VAR) return true;
    pr_var_role role = pr_var_get(T, pr_term_var(T, t))->role;
    return !(role == PR_ROLE_GRID || (role == PR_ROLE_PID && intra));
}

static bool add_digit(const pr_terms *T, number *x, pr_term t, pr_i128 c)
{
    if (pr_term_op_of(T, t) != PR_TERM_OP_VAR || x->n == DIGITS || c <= 0 || c >= WIDE) return false;
    const pr_var_info *v = pr_var_get(T, pr_term_var(T, t));
    if (v->copy != PR_COPY_A || v->lo != 0 || v->hi < 0) return false;
    if (v->role != PR_ROLE_LANE && v->role != PR_ROLE_ITER && v->role != PR_ROLE_PID) return false;
    for (int i = 0; i < x->n; i++)
        if (pr_term_is(x->at[i].v, t)) return false;
    x->at[x->n++] = (digit){ t, c, v->hi < PR_INF ? v->hi : PR_INF };
    return true;
}

static bool split(const pr_encoding *e, const pr_side *s, bool intra, address *out)
{
    const pr_terms *T = e->terms;
    bool sum = pr_term_op_of(T, s->addr) == PR_TERM_OP_SUM;
    out->strided.n = out->plain.n = 0;
    out->stride = PR_TERM_NONE;
    for (int i = 0; i < (sum ? pr_term_arity(T, s->addr) : 1); i++) {
        pr_term t = sum ? pr_term_child(T, s->addr, i) : s->addr;
        pr_i128 c = sum ? pr_term_coef(T, s->addr, i) : 1;
#ifdef PR_FAULTS
        if (e->options->fault == 24 && pr_term_op_of(T, t) != PR_TERM_OP_VAR && pr_term_op_of(T, t) != PR_TERM_OP_MUL) continue;
#endif
        if (!pr_term_any(T, t, is_own, &intra)) continue;
        if (pr_term_op_of(T, t) != PR_TERM_OP_MUL) {
            if (!add_digit(T, &out->plain, t, c)) return false;
            continue;
        }
        pr_term a = pr_term_child(T, t, 0), b = pr_term_child(T, t, 1);
        pr_term stride = is_param_only(T, a) ? a : b, v = is_param_only(T, a) ? b : a;
        if (pr_term_op_of(T, stride) != PR_TERM_OP_VAR || !is_param_only(T, stride)) return false;
        if (!pr_term_none(out->stride) && !pr_term_is(out->stride, stride)) return false;
        out->stride = stride;
        if (!add_digit(T, &out->strided, v, c)) return false;
    }
    return true;
}

/* Rule M; x is sorted by coefficient afterwards. */
static bool is_injective(const pr_encoding *e, number *x, pr_i128 width)
{
    pr_i128 reach = width - 1;
    (void)e;
    for (int i = 1; i < x->n; i++)
        for (int j = i; j > 0 && x->at[j - 1].c > x->at[j].c; j--) {
            digit t = x->at[j];
            x->at[j] = x->at[j - 1], x->at[j - 1] = t;
        }
    for (int i = 0; i < x->n; i++) {
        if (x->at[i].c <= reach) return false;
        if (i + 1 < x->n && (x->at[i].span >= (pr_i128)1 << 40 || x->at[i].c >= WIDE)) return false;
#ifdef PR_FAULTS
        if (e->options->fault == 23) continue;
#endif
        reach += i + 1 < x->n ? x->at[i].c * x->at[i].span : 0;
    }
    return true;
}

static bool holds_digit(const number *x, pr_term v)
{
    for (int i = 0; i < x->n; i++)
        if (pr_term_is(x->at[i].v, v)) return true;
    return false;
}

static bool is_equal(const address *x, pr_term v)
{
    return (x->plain.injective && holds_digit(&x->plain, v)) || (x->strided.injective && holds_digit(&x->strided, v));
}

/* What distinguishes the two executions is equal in both. */
static bool settles(const pr_encoding *e, const pr_side *s, bool intra, const address *x)
{
    const pr_terms *T = e->terms;
    int asked = 0;
    for (int d = 0; d < 3 && !intra; d++) {
        if (pr_term_op_of(T, s->pid[d]) == PR_TERM_OP_CONST) continue;
        asked++;
#ifdef PR_FAULTS
        if (e->options->fault == 25 && asked > 1) continue;
#endif
        if (!is_equal(x, s->pid[d])) return false;
    }
    for (int d = 0; d < s->record->rank && intra; d++) {
        if (s->record->shape[d] <= 1) continue;
        asked++;
#ifdef PR_FAULTS
        if (e->options->fault == 22) continue;
#endif
        if (!is_equal(x, s->lane[d])) return false;
    }
    for (int i = 0; i < s->n_loops && intra && s->record->via_desc; i++)
        if (!is_equal(x, s->iter[i])) return false;
    return asked > 0;
}

/* --- the bound of R -------------------------------------------------------------------------------------- */

static int place_of(const pr_linear *x, pr_term t)
{
    int i = 0;
    while (i < x->n && !pr_term_is(x->at[i], t)) i++;
    return i < x->n ? i : -1;
}

/* How many parts of x does mu*row take away, if it brings no others but parameters? -1: it does. */
static int covers(const pr_terms *T, const pr_linear *x, const pr_linear *row, pr_i128 mu, bool *symbolic)
{
    int covered = 0;
    *symbolic = false;
    for (int j = 0; j < row->n; j++) {
        int i = place_of(x, row->at[j]);
        pr_i128 v;
        if (is_param_only(T, row->at[j])) {
            *symbolic = true;
            continue;
        }
        if (i < 0 || !pr_mul_ok(mu, row->c[j], &v) || v != x->c[i]) return -1;
        covered++;
    }
    return covered;
}

/* x is replaced by an upper bound in parameters, by the rows that take most of it away, then by intervals. */
static bool in_parameters(const pr_encoding *e, const number *r, const pr_linear_rows *rows, pr_linear *x)
{
    const pr_terms *T = e->terms;
    for (int step = 0; step < STEPS; step++) {
        int pivot = 0, best = 0, by = -1;
        pr_i128 ratio = 0, v;
        while (pivot < x->n && is_param_only(T, x->at[pivot])) pivot++;
        if (pivot == x->n) return true;
        for (int k = 0; k < rows->n; k++) {
            const pr_linear *row = &rows->row[k];
            if (row->k < -MOST_EXTENT) continue;
            for (int j = 0; j < row->n; j++) {
                int i = place_of(x, row->at[j]);
                bool symbolic;
                if (i < 0 || is_param_only(T, row->at[j]) || (x->c[i] > 0) != (row->c[j] > 0)) continue;
                int n = x->c[i] % row->c[j] ? -1 : covers(T, x, row, x->c[i] / row->c[j], &symbolic);
                if (n < 0) return false;            /* the closure may do better with it */
                n = n * 2 + (symbolic ? 1000 : 0);
                if (n > best) best = n, by = k, ratio = x->c[i] / row->c[j];
            }
        }
        if (by >= 0) {
            const pr_linear *row = &rows->row[by];
            if (!pr_mul_ok(ratio, row->k, &v) || !pr_sub_ok(x->k, v, &x->k)) return false;
            for (int j = 0; j < row->n; j++)
                if (!pr_mul_ok(-ratio, row->c[j], &v) || !pr_linear_add(T, x, row->at[j], v)) return false;
            continue;
        }
        int i = 0;
        while (i < r->n && !pr_term_is(r->at[i].v, x->at[pivot])) i++;
        if (i == r->n || x->c[pivot] <= 0 || r->at[i].span > MOST_EXTENT) return false;
        if (!pr_mul_ok(x->c[pivot], r->at[i].span, &v) || !pr_add_ok(x->k, v, &x->k)) return false;
        x->n--;
        x->at[pivot] = x->at[x->n];
        x->c[pivot] = x->c[x->n];
    }
    return false;
}

/* Rule P as a condition on parameters; TRUE: it holds in any case, NONE: not shown, or better left to the closure. */
static pr_term fits(pr_encoding *e, const pr_side *s, const address *a, pr_i128 g)
{
    pr_terms *T = e->terms;
    pr_linear x;
    pr_linear_rows rows = { .n = 0 };
    if (e->premises.n) return PR_TERM_NONE;
    for (int i = 0; i < s->active.n; i++) {
        if (pr_term_op_of(T, s->active.data[i]) == PR_TERM_OP_AND) continue;        /* a width */
        if (is_param_only(T, s->active.data[i])) return PR_TERM_NONE;
        pr_linear_rows_of(T, s->active.data[i], &rows);
    }
    if (rows.n == PR_LINEAR_ROWS) return PR_TERM_NONE;
    pr_linear_zero(&x);
    for (int i = 0; i < a->plain.n; i++)
        if (!pr_linear_add(T, &x, a->plain.at[i].v, a->plain.at[i].c)) return PR_TERM_NONE;
#ifdef PR_FAULTS
    if (e->options->fault == 26 && x.n > 1) x.n--;
#endif
    if (!in_parameters(e, &a->plain, &rows, &x)) return PR_TERM_NONE;
    x.k += s->record->width;
#ifdef PR_FAULTS
    if (e->options->fault == 27) x.k -= s->record->width;
#endif
    pr_i128 most;
    if (!pr_mul_ok(MOST_EXTENT, g, &most) || x.k > most || !pr_linear_add(T, &x, a->stride, -g)) return PR_TERM_NONE;
    pr_term sum = pr_const(T, x.k);
    for (int i = 0; i < x.n; i++) sum = pr_add(T, sum, pr_scale(T, x.at[i], x.c[i]));
    return pr_le(T, sum, PR_TERM_ZERO);
}

/* "radix: k0 lane1": what is equal, in the order of the identity. */
static const char *evidence(const pr_encoding *e, const pr_side *s, const char *rule, bool intra, const address *x)
{
    pr_buf b;
    pr_buf_init(&b, e->arena);
    pr_buf_puts(&b, rule);
    for (int i = intra ? 3 : 0; i < 3 + s->n_loops + s->record->rank; i++) {
        pr_term t = i < 3 ? s->pid[i] : i < 3 + s->n_loops ? s->iter[i - 3] : s->lane[i - 3 - s->n_loops];
        if (pr_term_op_of(e->terms, t) != PR_TERM_OP_VAR || !is_equal(x, t)) continue;
        pr_buf_puts(&b, " ");
        pr_buf_puts(&b, pr_var_get(e->terms, pr_term_var(e->terms, t))->name + 2);       /* without "A." */
    }
    return b.data;
}

const char *pr_itself_why(pr_encoding *e, int record, bool intra, pr_term *condition)
{
    const pr_side *s = pr_encoding_side(e, record, PR_SIDE_A);
    address x;
    pr_i128 g = 0;
    *condition = PR_TERM_TRUE;
    if (s->refused || s->dead || s->unknown_address || pr_term_none(s->addr) || !split(e, s, intra, &x)) return NULL;
    int width = s->record->width;
#ifdef PR_FAULTS
    if (e->options->fault == 29) width = 1;
#endif
    for (int i = 0; i < x.strided.n; i++) g = pr_gcd(g, x.strided.at[i].c);
    for (int i = 0; i < x.strided.n; i++) x.strided.at[i].c /= g;
    x.plain.injective = is_injective(e, &x.plain, width);
    x.strided.injective = is_injective(e, &x.strided, 1);
#ifdef PR_FAULTS
    if (e->options->fault == 28) x.strided.injective = true;
#endif
    if (!settles(e, s, intra, &x)) return NULL;
    if (x.strided.n) *condition = fits(e, s, &x, g);
    if (pr_term_none(*condition) || pr_term_is(*condition, PR_TERM_FALSE)) return NULL;
    return evidence(e, s, x.strided.n ? "window:" : "radix:", intra, &x);
}
