/* What is known of a float? An interval, for the questions that ask for it (pr_interp_setup.floats).
 *
 * The hardware may contract a product and a sum, flush what is subnormal, divide approximately. So a value is two ends between
 * which every such result lies: equal ends where the result is exact in its type, else moved apart by several units in the last
 * place. They are packed into the 64 bits of an element, as two 32-bit floats that are finite. f16, bf16 and f32 only; sums over
 * an axis have no order of their own and stay unknown (interp_tile.c). */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include "front/interp_core.h"

typedef struct span { double lo, hi; } span;
typedef struct format { int digits; double least, most; } format;   /* of the significand; normal and finite values */

static bool format_of(const pr_type *t, format *f)
{
    const pr_type *s = t ? pr_type_scalar(t) : NULL;
    if (!s || s->kind != PR_TYPE_FLOAT) return false;
    if (s->text.n < 3 || s->text.n > 4) return false;
    if (pr_str_is(s->text, "f32")) *f = (format){ 24, FLT_MIN, FLT_MAX };
    else if (pr_str_is(s->text, "f16")) *f = (format){ 11, 0x1p-14, 65504 };
    else if (pr_str_is(s->text, "bf16")) *f = (format){ 8, FLT_MIN, 0x1.FEp127 };
    else return false;
    return true;
}

bool pr_float_type(const pr_type *t)
{
    format f;
    return format_of(t, &f);
}

static uint64_t bits(float x)
{
    uint32_t u;
    x += 0.0f;                       /* no negative zero */
    memcpy(&u, &x, sizeof u);
    return u;
}

static span unpack(uint64_t x)
{
    uint32_t u[2] = { (uint32_t)x, (uint32_t)(x >> 32) };
    float f[2];
    memcpy(f, u, sizeof f);
    return (span){ f[0], f[1] };
}

void pr_float_ends(uint64_t x, double *lo, double *hi)
{
    span s = unpack(x);
    *lo = s.lo;
    *hi = s.hi;
}

/* Is it a value of the format, and not a subnormal one? */
static bool representable(const format *f, double x)
{
    int e;
    if (x == 0) return true;
    if (!isfinite(x) || fabs(x) < f->least || fabs(x) > f->most) return false;
    double m = ldexp(frexp(x, &e), f->digits);
    return m == floor(m);
}

/* The bits for a result between the two real numbers; exact: equal ends are no rounded ones. */
static bool settle(const format *f, span s, bool exact, uint64_t *r)
{
    if (!(s.lo <= s.hi)) return false;
    if (!exact || s.lo != s.hi || !representable(f, s.lo)) {
        double off = fmax(fabs(s.lo), fabs(s.hi)) * ldexp(8, -f->digits) + 2 * f->least;
        s.lo -= off;
        s.hi += off;
    }
    if (!(fabs(s.lo) < f->most) || !(fabs(s.hi) < f->most)) return false;
    float lo = (float)s.lo, hi = (float)s.hi;
    if (lo > s.lo) lo = nextafterf(lo, -INFINITY);
    if (hi < s.hi) hi = nextafterf(hi, INFINITY);
    *r = bits(lo) | bits(hi) << 32;
    return isfinite(lo) && isfinite(hi);
}

static bool exact_sum(double a, double b)       /* the error of the rounded sum is zero */
{
    double s = a + b, c = s - a;
    return (a - (s - c)) + (b - c) == 0;
}

static span hull(double a, double b, double c, double d)
{
    return (span){ fmin(fmin(a, b), fmin(c, d)), fmax(fmax(a, b), fmax(c, d)) };
}

/* a < b; MAYBE: the two overlap */
static pr_tri less(span a, span b) { return a.hi < b.lo ? PR_YES : a.lo >= b.hi ? PR_NO : PR_MAYBE; }

static pr_tri compare(int predicate, span a, span b)       /* none of them is a NaN */
{
    pr_tri same = a.lo == a.hi && b.lo == b.hi && a.lo == b.lo ? PR_YES : a.hi < b.lo || b.hi < a.lo ? PR_NO : PR_MAYBE;
    switch (predicate) {
    case 0: case 14: return PR_NO;
    case 7: case 15: return PR_YES;
    case 1: case 8: return same;
    case 2: case 9: return less(b, a);
    case 3: case 10: return less(a, b) == PR_MAYBE ? PR_MAYBE : less(a, b) == PR_YES ? PR_NO : PR_YES;
    case 4: case 11: return less(a, b);
    case 5: case 12: return less(b, a) == PR_MAYBE ? PR_MAYBE : less(b, a) == PR_YES ? PR_NO : PR_YES;
    case 6: case 13: return same == PR_MAYBE ? PR_MAYBE : same == PR_YES ? PR_NO : PR_YES;
    default: return PR_MAYBE;
    }
}

/* One element; false: not known, or another operation. */
static bool element(const pr_op *op, const uint64_t *x, uint64_t *r)
{
    const pr_type *rt = op->results[0]->type, *ot = op->operands[0]->type;
    format f = { 0 };
    int from = pr_bits_of(ot), to = pr_bits_of(rt);
    bool floats = format_of(ot, &f);
    for (int i = 1; i < op->n_operands; i++) floats = floats && pr_float_type(op->operands[i]->type);
    if (op->opcode == PR_OP_ARITH_SITOFP || op->opcode == PR_OP_ARITH_UITOFP) {
        if (from < 2 || !format_of(rt, &f)) return false;
        int64_t v = op->opcode == PR_OP_ARITH_SITOFP ? pr_bits_signed(x[0], from) : (int64_t)x[0];
        if (v < -((int64_t)1 << 52) || v > (int64_t)1 << 52) return false;
        return settle(&f, (span){ (double)v, (double)v }, true, r);
    }
    if (!floats) return false;
    span a = unpack(x[0]), b = op->n_operands > 1 ? unpack(x[1]) : a;
    bool points = a.lo == a.hi && b.lo == b.hi;
    switch (op->opcode) {
    case PR_OP_ARITH_CMPF: {
        pr_tri c = compare((int)pr_op_attr_int(op, "predicate", -1), a, b);
        *r = c == PR_YES;
        return c != PR_MAYBE;
    }
    case PR_OP_ARITH_FPTOSI: case PR_OP_ARITH_FPTOUI: {
        double v = trunc(a.lo), most = ldexp(1, to - (op->opcode == PR_OP_ARITH_FPTOSI));
        if (to < 2 || !points || v >= most || v < (op->opcode == PR_OP_ARITH_FPTOSI ? -most : 0) || fabs(v) > 0x1p52) return false;
        *r = (uint64_t)(int64_t)v & pr_bits_mask(to);
        return true;
    }
    default: break;
    }
    if (!format_of(rt, &f)) return false;
    switch (op->opcode) {
    case PR_OP_ARITH_NEGF: return settle(&f, (span){ -a.hi, -a.lo }, true, r);
    case PR_OP_MATH_ABSF:
        return settle(&f, (span){ a.lo > 0 ? a.lo : a.hi < 0 ? -a.hi : 0, fmax(fabs(a.lo), fabs(a.hi)) }, true, r);
    case PR_OP_ARITH_EXTF: case PR_OP_ARITH_TRUNCF: case PR_OP_TT_FP_TO_FP: return settle(&f, a, true, r);
    case PR_OP_ARITH_MAXNUMF: case PR_OP_ARITH_MAXIMUMF: return settle(&f, (span){ fmax(a.lo, b.lo), fmax(a.hi, b.hi) }, true, r);
    case PR_OP_ARITH_MINNUMF: case PR_OP_ARITH_MINIMUMF: return settle(&f, (span){ fmin(a.lo, b.lo), fmin(a.hi, b.hi) }, true, r);
    case PR_OP_ARITH_ADDF: return settle(&f, (span){ a.lo + b.lo, a.hi + b.hi }, points && exact_sum(a.lo, b.lo), r);
    case PR_OP_ARITH_SUBF: return settle(&f, (span){ a.lo - b.hi, a.hi - b.lo }, points && exact_sum(a.lo, -b.hi), r);
    case PR_OP_ARITH_MULF: return settle(&f, hull(a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi), points, r);
    case PR_OP_ARITH_DIVF: case PR_OP_TT_PRECISE_DIVF:
        if (b.lo <= 0 && b.hi >= 0) return false;
        return settle(&f, hull(a.lo / b.lo, a.lo / b.hi, a.hi / b.lo, a.hi / b.hi), false, r);
    default: return false;
    }
}

pr_ival pr_float_constant(const pr_op *op)
{
    const pr_attr *a = pr_op_attr(op, "value");
    char text[64], *end;
    format f;
    uint64_t r;
    if (!a || (a->kind != PR_ATTR_FLOAT && a->kind != PR_ATTR_DENSE) || !format_of(op->results[0]->type, &f)) return pr_ival_unknown();
    if (!a->text.n || a->text.n >= sizeof text || memchr(a->text.s, 'x', a->text.n)) return pr_ival_unknown();
    memcpy(text, a->text.s, a->text.n);
    text[a->text.n] = 0;
    double v = f.digits == 24 ? strtof(text, &end) : strtod(text, &end);
    if (*end || end == text) return pr_ival_unknown();       /* a list of elements, or the locale's point is another */
    return settle(&f, (span){ v, v }, true, &r) ? pr_ival_const(r) : pr_ival_unknown();
}

bool pr_float_add(const pr_type *t, uint64_t x, uint64_t y, uint64_t *r)
{
    format f;
    span a = unpack(x), b = unpack(y);
    return format_of(t, &f) && settle(&f, (span){ a.lo + b.lo, a.hi + b.hi }, a.lo == a.hi && b.lo == b.hi && exact_sum(a.lo, b.lo), r);
}

bool pr_float_value(const pr_type *t, int64_t v, uint64_t *r)
{
    format f;
    return format_of(t, &f) && settle(&f, (span){ (double)v, (double)v }, true, r);
}

pr_ival pr_im_float(pr_machine *m, const pr_op *op)
{
    const pr_type *rt = op->results[0]->type;
    int64_t n = pr_type_count(rt);
    const pr_ival *in[3];
    uint64_t x[3] = { 0 }, r = 0;
    bool tile = false;
    unsigned dims = 0;
    if (op->n_operands < 1 || op->n_operands > 3 || op->n_results != 1) return pr_ival_unknown();
    for (int i = 0; i < op->n_operands; i++) {
        in[i] = pr_im_get(m, op->operands[i]);
        if (in[i]->form == PR_IVAL_UNKNOWN || pr_type_count(op->operands[i]->type) != n) return pr_ival_unknown();
        tile = tile || in[i]->form == PR_IVAL_TILE;
        dims |= in[i]->dims;
    }
    if (!tile) {
        for (int i = 0; i < op->n_operands; i++) x[i] = in[i]->x;
        return element(op, x, &r) ? pr_ival_const(r) : pr_ival_unknown();
    }
    if (!pr_im_spend(m, 4 * n)) return pr_ival_unknown();
    pr_itile *t = pr_itile_new(m, n, false);
    for (int64_t k = 0; k < n; k++) {
        bool known = true;
        for (int i = 0; i < op->n_operands; i++) known &= pr_ival_at(in[i], k, &x[i]);
        t->x[k] = 0;
        t->known[k] = known && element(op, x, &t->x[k]);
        if (!t->known[k]) t->x[k] = 0;
    }
    return pr_ival_of_tile(m, t, -1, dims, pr_bits_of(rt) == 1);
}

bool pr_op_is_float(const pr_op *op)
{
    if (op->opcode == PR_OP_ARITH_SELECT || op->n_results != 1 || op->n_operands < 1) return false;
    return pr_float_type(op->results[0]->type) || pr_float_type(op->operands[0]->type);
}
