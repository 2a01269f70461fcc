/* Divisions and bit operations: normal forms that are exact for every integer.
 *
 * Constant divisors are made positive, parts divisible by the divisor leave the dividend, and a
 * truncating kind becomes the floor kind only when the sign of the dividend is shown. Quotient and
 * remainder of one (x, d) are always rewritten alike, so that they keep sharing their dividend.
 *
 * Rules
 *  D1  divisor 0: quotient 0, remainder the dividend; divisor 1, -1; constants folded
 *  D2  x fdiv -d = (-x) fdiv d, x fmod -d = -((-x) fmod d);
 *      x tdiv -d = -(x tdiv d), x trem -d = x trem d
 *  D3  (c*d*y + r) fdiv d = c*y + r fdiv d, fmod likewise r fmod d; constants by floor.
 *      Coefficients that d does not divide stay whole: x = 256*pid + lane must remain one dividend
 *      through a chain of divisions, or the digits of two copies no longer match
 *  D4  coefficients and divisor with a common gcd g: divided by it
 *  D5  own interval within one block [d*q, d*q + d): quotient q, remainder x - d*q
 *  D6  (x fmod a) fmod b = x fmod b when b divides a
 *  D7  tdiv/trem with dividend shown >= 0 and divisor shown >= 0 become fdiv/fmod; dividend shown
 *      <= 0 and constant divisor > 0: through -x
 *  D8  x tdiv d = x/d when the known trailing zeros or coefficients show d divides x
 *  N1  bit operations on constants, equal operands, 0 and -1
 *  N2  x band c with at most 4 runs of ones in c (or in ~c when c < 0): quotients and remainders
 *  N3  x bor c = x + c - (x band c), x bxor c = x + c - 2*(x band c) when N2 applies
 *  N4  operands without a common bit (2^k divides x, 0 <= y < 2^k): bor, bxor = sum, band = 0 */
#include "term/store.h"
#include <assert.h>

enum { MAX_RUNS = 4 };

static pr_interval own(const pr_terms *T, pr_term t) { return node_of(T, t)->own; }
static bool is_finite(pr_i128 v) { return v > -PR_INF && v < PR_INF; }

/* --- floor kinds with a constant divisor ----------------------------------------------------- */

/* x = d*whole + rest with rest the part whose coefficients d does not divide (rule D3). */
static void split_by(pr_terms *T, pr_term x, pr_i128 d, pr_term *whole, pr_term *rest)
{
    *whole = PR_TERM_ZERO;
    *rest = x;
    const node *s = node_of(T, x);
    if (s->op != PR_TERM_OP_SUM) return;
    pr_term *child = PR_NEW_N(T->arena, pr_term, s->n);
    pr_i128 *quotient = PR_NEW_N(T->arena, pr_i128, s->n);
    pr_i128 *left = PR_NEW_N(T->arena, pr_i128, s->n);
    for (uint32_t i = 0; i < s->n; i++) {
        pr_i128 c = T->coefs[s->coef + i];
        child[i] = kid(T, s, i);
        quotient[i] = c % d == 0 ? c / d : 0;
        left[i] = c % d == 0 ? 0 : c;
    }
    pr_i128 k = s->value;
    int n = (int)s->n;
    *whole = pr_sum(T, child, quotient, n, pr_fdiv(k, d));
    *rest = pr_sum(T, child, left, n, pr_fmod(k, d));
}

/* gcd of d and the coefficients of x. */
static pr_i128 common(const pr_terms *T, pr_term x, pr_i128 d)
{
    const node *s = node_of(T, x);
    if (s->op != PR_TERM_OP_SUM) return 1;
    pr_i128 g = d;
    for (uint32_t i = 0; i < s->n && g > 1; i++) {
        pr_i128 c = T->coefs[s->coef + i];
        g = pr_gcd(g, c % g);
    }
    return g;
}

typedef struct parts { pr_term quotient, remainder; } parts;

/* Quotient and remainder of x by d > 1, both normalised. */
static parts floor_parts(pr_terms *T, pr_term x, pr_i128 d)
{
    const parts none = { PR_TERM_NONE, PR_TERM_NONE };
    pr_term whole, rest;
    split_by(T, x, d, &whole, &rest);
    if (pr_term_none(whole) || pr_term_none(rest)) return none;
    pr_i128 v;
    if (pr_term_const(T, rest, &v))
        return (parts){ pr_add(T, whole, pr_const(T, pr_fdiv(v, d))), pr_const(T, pr_fmod(v, d)) };

    pr_interval r = own(T, rest);
    if (is_finite(r.lo) && is_finite(r.hi) && pr_fdiv(r.lo, d) == pr_fdiv(r.hi, d)) {      /* D5 */
        pr_i128 q = pr_fdiv(r.lo, d), back;
        if (!pr_mul_ok(q, d, &back)) return none;
        return (parts){ pr_add(T, whole, pr_const(T, q)),
                        pr_sub(T, rest, pr_const(T, back)) };
    }
    pr_i128 g = common(T, rest, d);
    if (g > 1) {                                                                     /* D4 */
        const node *s = node_of(T, rest);
        pr_i128 k = s->value;
        pr_term *child = PR_NEW_N(T->arena, pr_term, s->n);
        pr_i128 *coef = PR_NEW_N(T->arena, pr_i128, s->n);
        for (uint32_t i = 0; i < s->n; i++) {
            child[i] = kid(T, s, i);
            coef[i] = T->coefs[s->coef + i] / g;
        }
        pr_term y = pr_sum(T, child, coef, (int)s->n, pr_fdiv(k, g));
        parts p = { y, PR_TERM_ZERO };
        if (pr_term_none(y)) return none;
        if (d / g > 1) p = floor_parts(T, y, d / g);
        return (parts){ pr_add(T, whole, p.quotient),
                        pr_add(T, pr_scale(T, p.remainder, g), pr_const(T, pr_fmod(k, g))) };
    }
    pr_term child[2] = { rest, pr_const(T, d) };
    parts p;
    p.quotient = pr_add(T, whole, pr_intern(T, PR_TERM_OP_FDIV, 0, 0, child, 2));
    const node *m = node_of(T, rest);
    pr_i128 a;
    while (m->op == PR_TERM_OP_FMOD && pr_term_const(T, kid(T, m, 1), &a) && a % d == 0) { /* D6 */
        child[0] = kid(T, m, 0);
        m = node_of(T, child[0]);
    }
    if (pr_term_is(child[0], rest))
        p.remainder = pr_intern(T, PR_TERM_OP_FMOD, 0, 0, child, 2);
    else
        p.remainder = floor_parts(T, child[0], d).remainder;
    return p;
}

/* D1 and D2 for the floor kinds; the general node otherwise. */
static pr_term floor_kind(pr_terms *T, pr_term a, pr_term b, bool quotient)
{
    if (pr_term_none(a) || pr_term_none(b)) return PR_TERM_NONE;
    assert(!pr_term_is_bool(T, a) && !pr_term_is_bool(T, b));
    pr_i128 d;
    if (pr_term_const(T, a, &d) && d == 0) return a;
    if (!pr_term_const(T, b, &d)) {
        pr_term child[2] = { a, b };
        pr_interval x = own(T, a), y = own(T, b);
        if (x.lo >= 0 && x.hi < y.lo) return quotient ? PR_TERM_ZERO : a;            /* D5 */
        return pr_intern(T, quotient ? PR_TERM_OP_FDIV : PR_TERM_OP_FMOD, 0, 0, child, 2);
    }
    if (d == 0) return quotient ? PR_TERM_ZERO : a;
    if (d == PR_I128_MIN) return PR_TERM_NONE;
    if (d < 0) {
        pr_term m = pr_neg(T, a);
        if (quotient) return floor_kind(T, m, pr_const(T, -d), true);
        return pr_neg(T, floor_kind(T, m, pr_const(T, -d), false));
    }
    if (d == 1) return quotient ? a : PR_TERM_ZERO;
    parts p = floor_parts(T, a, d);
    return quotient ? p.quotient : p.remainder;
}

pr_term pr_fdiv_t(pr_terms *T, pr_term a, pr_term b) { return floor_kind(T, a, b, true); }
pr_term pr_fmod_t(pr_terms *T, pr_term a, pr_term b) { return floor_kind(T, a, b, false); }

/* --- truncating kinds ---------------------------------------------------------------------- */

/* Is every value of a a multiple of d > 0, visibly? */
static bool divides(const pr_terms *T, pr_term a, pr_i128 d)
{
    const node *x = node_of(T, a);
    if (x->zeros < 127 && x->zeros < 120 && ((pr_i128)1 << x->zeros) % d == 0) return true;
    if (x->op != PR_TERM_OP_SUM || x->value % d != 0) return false;
    for (uint32_t i = 0; i < x->n; i++) {
        if (T->coefs[x->coef + i] % d != 0) return false;
    }
    return true;
}

static pr_term trunc_kind(pr_terms *T, pr_term a, pr_term b, bool quotient)
{
    if (pr_term_none(a) || pr_term_none(b)) return PR_TERM_NONE;
    assert(!pr_term_is_bool(T, a) && !pr_term_is_bool(T, b));
    pr_interval x = own(T, a);
    pr_i128 d, v;
    if (pr_term_const(T, b, &d)) {
        if (d == PR_I128_MIN) return PR_TERM_NONE;
        if (d == 0) return quotient ? PR_TERM_ZERO : a;
        if (d < 0) {
            pr_term r = trunc_kind(T, a, pr_const(T, -d), quotient);
            return quotient ? pr_neg(T, r) : r;
        }
        if (d == 1) return quotient ? a : PR_TERM_ZERO;
        if (pr_term_const(T, a, &v)) return pr_const(T, quotient ? v / d : v % d);
        if (divides(T, a, d)) return floor_kind(T, a, b, quotient);                  /* D8 */
        if (x.lo >= 0) return floor_kind(T, a, b, quotient);                         /* D7 */
        if (x.hi <= 0) return pr_neg(T, floor_kind(T, pr_neg(T, a), b, quotient));
        if (x.lo > -d && x.hi < d) return quotient ? PR_TERM_ZERO : a;
    } else if (x.lo >= 0 && own(T, b).lo >= 0) {
        return floor_kind(T, a, b, quotient);                                        /* D7 */
    }
    pr_term child[2] = { a, b };
    return pr_intern(T, quotient ? PR_TERM_OP_TDIV : PR_TERM_OP_TREM, 0, 0, child, 2);
}

pr_term pr_tdiv_t(pr_terms *T, pr_term a, pr_term b) { return trunc_kind(T, a, b, true); }
pr_term pr_trem_t(pr_terms *T, pr_term a, pr_term b) { return trunc_kind(T, a, b, false); }

/* --- bit operations ------------------------------------------------------------------------ */

static int runs_of_ones(pr_i128 c)
{
    int n = 0;
    bool before = false;
    for (int i = 0; i < 126 && (c >> i) != 0; i++) {
        bool bit = (c >> i) & 1;
        n += bit && !before;
        before = bit;
    }
    return n;
}

/* x band c for c >= 0 with few runs [lo, hi): sum of 2^lo * ((x fdiv 2^lo) fmod 2^(hi-lo)). */
static pr_term mask_runs(pr_terms *T, pr_term x, pr_i128 c)
{
    pr_term sum = PR_TERM_ZERO;
    for (int lo = 0; c >> lo != 0;) {
        if (!((c >> lo) & 1)) {
            lo++;
            continue;
        }
        int hi = lo;
        while ((c >> hi) & 1) hi++;
        pr_i128 unit = (pr_i128)1 << lo, size = (pr_i128)1 << (hi - lo);
        pr_term part = pr_fmod_t(T, pr_fdiv_t(T, x, pr_const(T, unit)), pr_const(T, size));
        sum = pr_add(T, sum, pr_scale(T, part, unit));
        lo = hi;
    }
    return sum;
}

/* Rule N2; PR_TERM_NONE with *fits false when it does not apply. */
static pr_term mask_const(pr_terms *T, pr_term x, pr_i128 c, bool *applies)
{
    const pr_i128 limit = (pr_i128)1 << 120;
    *applies = c < limit && c >= -limit && runs_of_ones(c < 0 ? ~c : c) <= MAX_RUNS;
    if (!*applies) return PR_TERM_NONE;
    if (c >= 0) return mask_runs(T, x, c);
    return pr_sub(T, x, mask_runs(T, x, ~c));
}

/* Rule N4: 2^k divides one operand and the other lies in [0, 2^k). */
static bool bit_disjoint(const pr_terms *T, pr_term a, pr_term b)
{
    for (int swap = 0; swap < 2; swap++) {
        const node *x = node_of(T, swap ? b : a);
        pr_interval y = own(T, swap ? a : b);
        int k = x->zeros < 119 ? x->zeros : 119;
        if (y.lo >= 0 && y.hi < (pr_i128)1 << k) return true;
    }
    return false;
}

static pr_i128 bit_fold(pr_term_op op, pr_i128 a, pr_i128 b)
{
    return op == PR_TERM_OP_BAND ? (a & b) : op == PR_TERM_OP_BOR ? (a | b) : (a ^ b);
}

static pr_term bit_kind(pr_terms *T, pr_term_op op, pr_term a, pr_term b)
{
    if (pr_term_none(a) || pr_term_none(b)) return PR_TERM_NONE;
    assert(!pr_term_is_bool(T, a) && !pr_term_is_bool(T, b));
    pr_i128 u, v;
    if (pr_term_is(a, b)) return op == PR_TERM_OP_BXOR ? PR_TERM_ZERO : a;           /* N1 */
    if (pr_term_const(T, a, &u) && pr_term_const(T, b, &v)) return pr_const(T, bit_fold(op, u, v));
    if (pr_term_const(T, a, &u)) {
        pr_term s = a;
        a = b;
        b = s;
    }
    if (pr_term_const(T, b, &u)) {
        if (u == 0) return op == PR_TERM_OP_BAND ? b : a;
        if (u == -1) {
            if (op == PR_TERM_OP_BAND) return a;
            return op == PR_TERM_OP_BOR ? b : pr_sub(T, b, a);
        }
        bool applies;
        pr_term m = mask_const(T, a, u, &applies);                                   /* N2 */
        if (applies) {
            if (op == PR_TERM_OP_BAND) return m;
            pr_term both = pr_add(T, a, b);                                          /* N3 */
            return pr_sub(T, both, op == PR_TERM_OP_BOR ? m : pr_scale(T, m, 2));
        }
    }
    if (bit_disjoint(T, a, b)) return op == PR_TERM_OP_BAND ? PR_TERM_ZERO : pr_add(T, a, b);
    pr_term child[2] = { a, b };
    if (a.id > b.id) child[0] = b, child[1] = a;
    return pr_intern(T, op, 0, 0, child, 2);
}

pr_term pr_band(pr_terms *T, pr_term a, pr_term b) { return bit_kind(T, PR_TERM_OP_BAND, a, b); }
pr_term pr_bor(pr_terms *T, pr_term a, pr_term b) { return bit_kind(T, PR_TERM_OP_BOR, a, b); }
pr_term pr_bxor(pr_terms *T, pr_term a, pr_term b) { return bit_kind(T, PR_TERM_OP_BXOR, a, b); }
