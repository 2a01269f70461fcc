/* Congruences and fragment classes of terms under a box.
 *
 * A residue (m, r) says every value is r modulo m; m = 0 says the value is the constant r. Whatever
 * overflows or is not understood becomes m = 1. A class is the union over all nodes below a term of
 * what an engine must be able to handle (decision-engine.md 4). */
#include "term/box.h"
#include <assert.h>

static const pr_residue any = { 1, 0 };

static pr_residue make(pr_i128 modulus, pr_i128 residue)
{
    if (modulus < 0) modulus = -modulus;
    if (modulus == 0) return (pr_residue){ 0, residue };
    return (pr_residue){ modulus, pr_fmod(residue, modulus) };
}

/* Bounds that keep all products below in pr_i128 simple to reason about. */
static bool small(pr_i128 v) { return v > -((pr_i128)1 << 125) && v < (pr_i128)1 << 125; }

static pr_residue scaled(pr_residue a, pr_i128 k)
{
    pr_i128 m, r;
    if (!pr_mul_ok(a.modulus, k, &m) || !pr_mul_ok(a.residue, k, &r) || !small(m) || !small(r))
        return small(k) ? make(k, 0) : any;        /* k*t is a multiple of k */
    return make(m, r);
}

static pr_residue added(pr_residue a, pr_residue b)
{
    pr_i128 r;
    if (!pr_add_ok(a.residue, b.residue, &r) || !small(r)) return any;
    return make(pr_gcd(a.modulus, b.modulus), r);
}

/* Congruence that both satisfy. */
static pr_residue joined(pr_residue a, pr_residue b)
{
    pr_i128 d;
    if (!pr_sub_ok(a.residue, b.residue, &d) || !small(d)) return any;
    pr_i128 m = pr_gcd(pr_gcd(a.modulus, b.modulus), d);
    return make(m, a.residue);
}

static pr_residue product(pr_residue a, pr_residue b)
{
    pr_i128 mm, ar, br, r;
    if (!pr_mul_ok(a.modulus, b.modulus, &mm) || !pr_mul_ok(a.modulus, b.residue, &ar)
        || !pr_mul_ok(b.modulus, a.residue, &br) || !pr_mul_ok(a.residue, b.residue, &r)
        || !small(mm) || !small(ar) || !small(br) || !small(r))
        return any;
    return make(pr_gcd(mm, pr_gcd(ar, br)), r);
}

static pr_residue division(const pr_terms *T, const node *x, pr_residue a)
{
    pr_i128 d;
    if (!pr_term_const(T, kid(T, x, 1), &d) || d == 0 || !small(d)) return any;
    if (x->op == PR_TERM_OP_TDIV) return any;
    if (x->op == PR_TERM_OP_FDIV) {
        if (a.modulus == 0 || a.modulus % d != 0) return any;
        return make(a.modulus / d, pr_fdiv(a.residue, d));
    }
    /* The remainder is congruent to x modulo d. */
    return make(pr_gcd(a.modulus, d), a.residue);
}

static void fill_residue(pr_box *b, uint32_t id)
{
    const pr_terms *T = b->T;
    const node *x = &T->nodes[id];
    pr_residue *facts = b->residue.facts, r = any;
    pr_interval range = pr_range_of(b, id);
    const uint32_t *k = T->kids + x->first;
    if (range.lo == range.hi && small(range.lo) && range.lo > -PR_INF && range.hi < PR_INF) {
        facts[id] = (pr_residue){ 0, range.lo };
        return;
    }
    switch ((pr_term_op)x->op) {
    case PR_TERM_OP_SUM:
        r = small(x->value) ? (pr_residue){ 0, x->value } : any;
        for (uint32_t i = 0; i < x->n; i++)
            r = added(r, scaled(facts[k[i]], T->coefs[x->coef + i]));
        break;
    case PR_TERM_OP_MUL: r = product(facts[k[0]], facts[k[1]]); break;
    case PR_TERM_OP_FDIV: case PR_TERM_OP_FMOD:
    case PR_TERM_OP_TDIV: case PR_TERM_OP_TREM: r = division(T, x, facts[k[0]]); break;
    case PR_TERM_OP_MIN: case PR_TERM_OP_MAX: r = joined(facts[k[0]], facts[k[1]]); break;
    case PR_TERM_OP_SELECT: r = joined(facts[k[1]], facts[k[2]]); break;
    case PR_TERM_OP_BAND: case PR_TERM_OP_BOR: case PR_TERM_OP_BXOR:
        if (x->zeros < 120) r = make((pr_i128)1 << x->zeros, 0);
        break;
    case PR_TERM_OP_CONST: r = small(x->value) ? (pr_residue){ 0, x->value } : any; break;
    case PR_TERM_OP_NONE: case PR_TERM_OP_FALSE: case PR_TERM_OP_TRUE: case PR_TERM_OP_VAR:
    case PR_TERM_OP_APP: case PR_TERM_OP_LE0: case PR_TERM_OP_EQ0: case PR_TERM_OP_NOT:
    case PR_TERM_OP_AND: case PR_TERM_OP_OR: case PR_TERM_OP_FITS: case PR_TERM_OP_TABLE: break;
    }
    facts[id] = r;
}

pr_residue pr_residue_of(pr_box *b, pr_term t)
{
    if (pr_term_none(t)) return any;
    pr_range(b, t);                     /* fills the intervals that fill_residue reads */
    pr_box_fill(b, t, &b->residue, sizeof(pr_residue), fill_residue);
    return ((pr_residue *)b->residue.facts)[t.id];
}

/* --- classes ------------------------------------------------------------------------------- */

enum { SMALL_WIDTH = 64 };

static bool narrow(pr_box *b, uint32_t id)
{
    pr_interval r = pr_range_of(b, id);
    return r.lo > -PR_INF && r.hi < PR_INF && r.hi - r.lo < SMALL_WIDTH;
}

/* A constant whose bits become quotients and remainders. */
static bool mask_constant(const pr_terms *T, uint32_t id)
{
    pr_i128 v;
    if (!pr_term_const(T, (pr_term){ id }, &v) || v >= PR_MASK_LIMIT || v < -PR_MASK_LIMIT) return false;
    if (v < 0) v = ~v;
    int runs = 0;
    for (pr_i128 low = 0; v; low = v & 1, v >>= 1) runs += (v & 1) && !low;
    return runs <= PR_MASK_RUNS;
}

/* Does a choice between few constants and narrow values give the term? Then a leaf knows which. */
static bool few_pieces(pr_box *b, uint32_t id)
{
    const pr_terms *T = b->T;
    uint32_t todo[SMALL_WIDTH];
    int n = 0, pieces = 0;
    todo[n++] = id;
    while (n) {
        uint32_t t = todo[--n];
        const node *x = &T->nodes[t];
        pr_interval r = pr_range_of(b, t);
        if (narrow(b, t)) {
            pieces += (int)(r.hi - r.lo + 1);
            if (pieces > SMALL_WIDTH) return false;
            continue;
        }
        bool choice = x->op == PR_TERM_OP_SELECT || x->op == PR_TERM_OP_MIN || x->op == PR_TERM_OP_MAX;
        if (!choice || n + 2 > SMALL_WIDTH) return false;
        todo[n++] = T->kids[x->first + x->n - 1];
        todo[n++] = T->kids[x->first + x->n - 2];
    }
    return true;
}

static void fill_class(pr_box *b, uint32_t id)
{
    const pr_terms *T = b->T;
    const node *x = &T->nodes[id];
    unsigned *facts = b->classes.facts, c = 0;
    const uint32_t *k = T->kids + x->first;
    for (uint32_t i = 0; i < x->n; i++) c |= facts[k[i]];
    switch ((pr_term_op)x->op) {
    case PR_TERM_OP_CONST: case PR_TERM_OP_VAR: case PR_TERM_OP_SUM: case PR_TERM_OP_FALSE:
    case PR_TERM_OP_TRUE: case PR_TERM_OP_LE0: case PR_TERM_OP_AND: case PR_TERM_OP_FITS:
    case PR_TERM_OP_NONE: c |= PR_CLASS_LINEAR; break;
    case PR_TERM_OP_EQ0: case PR_TERM_OP_NOT: case PR_TERM_OP_OR:
    case PR_TERM_OP_MIN: case PR_TERM_OP_MAX: case PR_TERM_OP_SELECT: c |= PR_CLASS_QUASI; break;
    case PR_TERM_OP_FDIV: case PR_TERM_OP_FMOD:
    case PR_TERM_OP_TDIV: case PR_TERM_OP_TREM:
        if (pr_term_const(T, (pr_term){ k[1] }, NULL)) c |= PR_CLASS_QUASI;
        else c |= few_pieces(b, k[1]) ? PR_CLASS_SMALL_DIVISOR : PR_CLASS_WIDE_DIVISOR;
        break;
    case PR_TERM_OP_MUL:
        if (few_pieces(b, k[0]) || few_pieces(b, k[1])) c |= PR_CLASS_SMALL_FACTOR;
        else c |= T->nodes[k[0]].shared || T->nodes[k[1]].shared ? PR_CLASS_RADIX : PR_CLASS_POLY;
        break;
    case PR_TERM_OP_BAND: case PR_TERM_OP_BOR: case PR_TERM_OP_BXOR:   /* lower.c: runs of ones; values split */
        if (mask_constant(T, k[0]) || mask_constant(T, k[1])) c |= PR_CLASS_QUASI;
        else if (T->nodes[k[0]].op == PR_TERM_OP_CONST || T->nodes[k[1]].op == PR_TERM_OP_CONST) c |= PR_CLASS_BITS;
        else c |= narrow(b, k[0]) || narrow(b, k[1]) ? PR_CLASS_SMALL_FACTOR : PR_CLASS_BITS;
        break;
    case PR_TERM_OP_APP: c |= PR_CLASS_OPAQUE; break;
    case PR_TERM_OP_TABLE: c |= PR_CLASS_TABLE; break;
    }
    facts[id] = c;
}

unsigned pr_class_of(pr_box *b, pr_term t)
{
    if (pr_term_none(t)) return PR_CLASS_OPAQUE;
    pr_range(b, t);
    pr_box_fill(b, t, &b->classes, sizeof(unsigned), fill_class);
    return ((unsigned *)b->classes.facts)[t.id];
}
