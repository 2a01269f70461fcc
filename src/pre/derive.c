/* Backwards from values of terms to values of variables: which program and lane have these digits?
 *
 * Terms are taken from the greatest id down, so whatever speaks about a dividend has spoken before the
 * dividend itself is taken. A quotient or remainder leaves a digit at its dividend: floor(x/a) mod m = v.
 * The digits of one dividend are put together from the lowest up, and a sum is decoded like a number in
 * mixed radix, largest coefficient first. This is a guess, right for hierarchical indices; the caller
 * evaluates every point. */
#include "pre/derive.h"
#include "pre/space.h"

typedef struct digit { pr_term base; pr_i128 a, m, v; } digit; /* m = 0: the whole quotient */
typedef struct derivation {
    const pr_query *q;
    const pr_terms *T;
    pr_i128 *at;
    bool *set;
    pr_target todo[PR_DERIVE_TERMS];
    bool known[PR_DERIVE_TERMS]; /* false: only digits so far */
    int n;
    digit digits[PR_DERIVE_DIGITS];
    int n_digits;
} derivation;

/* Entry of a term, made when it has none; -1 when full. */
static int entry(derivation *x, pr_term t)
{
    for (int i = 0; i < x->n; i++)
        if (pr_term_is(x->todo[i].term, t)) return i;
    if (x->n == PR_DERIVE_TERMS) return -1;
    x->todo[x->n] = (pr_target){ .term = t };
    x->known[x->n] = false;
    return x->n++;
}

static bool want(derivation *x, pr_term t, pr_i128 v)
{
    pr_i128 c;
    if (pr_term_const(x->T, t, &c)) return c == v;
    int i = entry(x, t);
    if (i < 0 || (x->known[i] && x->todo[i].value != v)) return false;
    x->todo[i].value = v;
    x->known[i] = true;
    return true;
}

static int position(const pr_query *q, pr_var v)
{
    for (int i = 0; i < q->n_vars; i++)
        if (q->vars[i].id == v.id) return i;
    return -1;
}

/* Value that a term already has in this derivation. */
static bool valued(const derivation *x, pr_term t, pr_i128 *v)
{
    if (pr_term_op_of(x->T, t) == PR_TERM_OP_VAR) {
        int i = position(x->q, pr_term_var(x->T, t));
        if (i >= 0 && x->set[i]) {
            *v = x->at[i];
            return true;
        }
    }
    for (int i = 0; i < x->n; i++)
        if (pr_term_is(x->todo[i].term, t) && x->known[i]) {
            *v = x->todo[i].value;
            return true;
        }
    return false;
}

static bool variable(derivation *x, pr_term t, pr_i128 v)
{
    pr_var var = pr_term_var(x->T, t);
    int i = position(x->q, var);
    const pr_var_info *info = pr_var_get(x->T, var);
    if (i < 0 || (x->set[i] && x->at[i] != v)) return false;
    if ((!pr_is_inf(info->lo) && v < info->lo) || (!pr_is_inf(info->hi) && v > info->hi)) return false;
    x->at[i] = v;
    x->set[i] = true;
    return true;
}

static pr_i128 size(pr_i128 v) { return v < 0 ? -v : v; }

/* sum c*t + k = v, the operands without a value chosen largest coefficient first. */
static bool decode(derivation *x, pr_term t, pr_i128 v)
{
    pr_term open[PR_PRE_ATOMS];
    pr_i128 c[PR_PRE_ATOMS], lo[PR_PRE_ATOMS], hi[PR_PRE_ATOMS], part, least = 0, most = 0;
    int n = 0;
    if (!pr_sub_ok(v, pr_term_value(x->T, t), &v)) return false;
    for (int i = 0; i < pr_term_arity(x->T, t); i++) {
        pr_term k = pr_term_child(x->T, t, i);
        pr_i128 f = pr_term_coef(x->T, t, i), has;
        if (valued(x, k, &has)) {
            if (!pr_mul_ok(f, has, &part) || !pr_sub_ok(v, part, &v)) return false;
            continue;
        }
        if (n == PR_PRE_ATOMS) return false;
        int j = n++;
        for (; j > 0 && size(c[j - 1]) < size(f); j--) {
            open[j] = open[j - 1];
            c[j] = c[j - 1];
        }
        open[j] = k;
        c[j] = f;
    }
    for (int i = 0; i < n; i++) {
        pr_interval own = pr_range_own(x->T, open[i]);
        lo[i] = own.lo;
        hi[i] = own.hi;
        least = pr_sat_down(least, pr_sat_mul(c[i], c[i] > 0 ? lo[i] : hi[i]));
        most = pr_sat_up(most, pr_sat_mul(c[i], c[i] > 0 ? hi[i] : lo[i]));
    }
    for (int i = 0; i < n; i++) {
        /* what the later operands can still reach */
        pr_i128 rest_lo = 0, rest_hi = 0;
        for (int j = i + 1; j < n; j++) {
            rest_lo = pr_sat_down(rest_lo, pr_sat_mul(c[j], c[j] > 0 ? lo[j] : hi[j]));
            rest_hi = pr_sat_up(rest_hi, pr_sat_mul(c[j], c[j] > 0 ? hi[j] : lo[j]));
        }
        pr_i128 from = pr_is_inf(rest_hi) ? -PR_INF : v - rest_hi, to = pr_is_inf(rest_lo) ? PR_INF : v - rest_lo;
        pr_i128 l = c[i] > 0 ? from : -to, h = c[i] > 0 ? to : -from, d = size(c[i]);
        l = pr_is_inf(l) ? -PR_INF : -pr_fdiv(-l, d);
        h = pr_is_inf(h) ? PR_INF : pr_fdiv(h, d);
        if (l < lo[i]) l = lo[i];
        if (h > hi[i]) h = hi[i];
        if (l > h) return false;
        pr_i128 choice = !pr_is_inf(l) ? l : !pr_is_inf(h) ? h : 0;
        if (!want(x, open[i], choice) || !pr_mul_ok(c[i], choice, &part) || !pr_sub_ok(v, part, &v)) return false;
    }
    return v == 0;
}

static bool add_digit(derivation *x, pr_term base, pr_i128 a, pr_i128 m, pr_i128 v)
{
    if (x->n_digits == PR_DERIVE_DIGITS || entry(x, base) < 0) return false;
    int j = x->n_digits++;
    /* ascending divisors, whole quotients last */
    for (; j > 0; j--) {
        const digit *p = &x->digits[j - 1];
        if ((p->m != 0) == (m != 0) ? p->a <= a : m == 0) break;
        x->digits[j] = *p;
    }
    x->digits[j] = (digit){ base, a, m, v };
    return true;
}

/* The least number above 0 with the digits of this dividend. */
static bool from_digits(derivation *x, pr_term base, pr_i128 *out)
{
    pr_i128 v = 0, step;
    bool any = false;
    for (int i = 0; i < x->n_digits; i++) {
        const digit *d = &x->digits[i];
        if (!pr_term_is(d->base, base)) continue;
        any = true;
        pr_i128 more = d->v - pr_fdiv(v, d->a);
        if (d->m) more = pr_fmod(more, d->m);
        if (!pr_mul_ok(more, d->a, &step) || !pr_add_ok(v, step, &v)) return false;
    }
    *out = v;
    return any;
}

static bool is_quotient(pr_term_op op) { return op == PR_TERM_OP_FDIV || op == PR_TERM_OP_TDIV; }
static bool is_remainder(pr_term_op op) { return op == PR_TERM_OP_FMOD || op == PR_TERM_OP_TREM; }

/* A quotient of this dividend is among the targets: what is known of the dividend comes together there. */
static bool has_quotient(const derivation *x, pr_term base)
{
    for (int i = 0; i < x->n; i++)
        if (is_quotient(pr_term_op_of(x->T, x->todo[i].term)) && pr_term_is(pr_term_child(x->T, x->todo[i].term, 0), base)) return true;
    return false;
}

static bool take(derivation *x, int i)
{
    pr_term t = x->todo[i].term;
    pr_term_op op = pr_term_op_of(x->T, t);
    pr_i128 v = x->todo[i].value, d, a;
    if (!x->known[i] && !from_digits(x, t, &v)) return true;
    x->todo[i].value = v;
    x->known[i] = true;
    if (op == PR_TERM_OP_VAR) return variable(x, t, v);
    if (op == PR_TERM_OP_SUM) return decode(x, t, v);
    if (!is_quotient(op) && !is_remainder(op)) return true;
    pr_term base = pr_term_child(x->T, t, 0);
    if (!pr_term_const(x->T, pr_term_child(x->T, t, 1), &d) || d < 1) return true;
    if (is_quotient(op)) return add_digit(x, base, d, 0, v);
    a = 1;
    if (is_quotient(pr_term_op_of(x->T, base)) && pr_term_const(x->T, pr_term_child(x->T, base, 1), &a) && a >= 1) {
        pr_i128 whole;
        if (!valued(x, base, &whole) && !has_quotient(x, base)) base = pr_term_child(x->T, base, 0);
        else a = 1;
    } else {
        a = 1;
    }
    return add_digit(x, base, a, d, v);
}

bool pr_derive(const pr_query *q, const pr_target *target, int n, pr_i128 *at, bool *set)
{
    derivation x;             /* its tables are filled as they grow */
    x.q = q, x.T = q->terms, x.at = at, x.set = set;
    x.n = x.n_digits = 0;
    for (int i = 0; i < n; i++)
        if (!want(&x, target[i].term, target[i].value)) return false;
    for (uint32_t below = UINT32_MAX;;) {
        int next = -1;
        for (int i = 0; i < x.n; i++)
            if (x.todo[i].term.id < below && (next < 0 || x.todo[i].term.id > x.todo[next].term.id)) next = i;
        if (next < 0) return true;
        below = x.todo[next].term.id;
        if (!take(&x, next)) return false;
    }
}
