/* Conditions over bounds: see interp_cond.h. */
#include "front/interp_cond.h"

typedef struct bounds { uint64_t lo, hi, ones, zeros; } bounds;   /* zeros, ones: bits that are certain                 */

static uint64_t mask_of(int w) { return w >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << w) - 1; }

/* What the interval says of the bits, and the bits of the interval. */
static bounds tidy(bounds v, int w)
{
    uint64_t m = mask_of(w), differ = v.lo ^ v.hi, known;
    for (int s = 1; s < 64; s *= 2) differ |= differ >> s;
    known = ~differ & m;
    v.ones |= v.lo & known;
    v.zeros |= ~v.lo & known;
    if (v.lo < v.ones) v.lo = v.ones;
    if (v.hi > (~v.zeros & m)) v.hi = ~v.zeros & m;
    return v;
}

static bounds between(uint64_t lo, uint64_t hi, int w) { return tidy((bounds){lo, hi, 0, 0}, w); }
static bounds anything(int w) { return (bounds){0, mask_of(w), 0, 0}; }
static bounds of_bits(uint64_t ones, uint64_t zeros, int w) { return tidy((bounds){0, mask_of(w), ones, zeros & mask_of(w)}, w); }

static bool same_sign(const bounds *v, int w) { return (v->lo >> (w - 1)) == (v->hi >> (w - 1)); }
static bool not_negative(const bounds *v, int w) { return !(v->hi >> (w - 1)); }

/* Certainly true 1, certainly false 0, else 2. */
static int less(uint64_t alo, uint64_t ahi, uint64_t blo, uint64_t bhi, bool or_equal)
{
    if (or_equal ? ahi <= blo : ahi < blo) return 1;
    return (or_equal ? alo > bhi : alo >= bhi) ? 0 : 2;
}

static int compare(int predicate, bounds a, bounds b, int w)
{
    int r = 2;
    if (predicate < 2) {
        bool apart = a.hi < b.lo || b.hi < a.lo || (a.ones & b.zeros) || (a.zeros & b.ones);
        if (apart) r = predicate == 1;
        else if (a.lo == a.hi && b.lo == b.hi) r = predicate == 0;
        return r;
    }
    if (predicate < 6) {             /* with a sign: the same order once the sign is turned                     */
        uint64_t sign = (uint64_t)1 << (w - 1);
        if (!same_sign(&a, w)) a.lo = 0, a.hi = mask_of(w);
        else a.lo ^= sign, a.hi ^= sign;
        if (!same_sign(&b, w)) b.lo = 0, b.hi = mask_of(w);
        else b.lo ^= sign, b.hi ^= sign;
        predicate += 4;
    }
    switch (predicate) {
    case 6: return less(a.lo, a.hi, b.lo, b.hi, false);
    case 7: return less(a.lo, a.hi, b.lo, b.hi, true);
    case 8: return less(b.lo, b.hi, a.lo, a.hi, false);
    case 9: return less(b.lo, b.hi, a.lo, a.hi, true);
    default: return 2;
    }
}

static bounds quotient(const pr_wait_node *n, bounds a, bounds b)
{
    bool sign = n->op == PR_OP_ARITH_DIVSI || n->op == PR_OP_ARITH_REMSI || n->op == PR_OP_ARITH_FLOORDIVSI;
    if (b.lo != b.hi || !b.lo || (sign && (!not_negative(&a, n->w) || !not_negative(&b, n->w)))) return anything(n->w);
    if (n->op != PR_OP_ARITH_REMSI && n->op != PR_OP_ARITH_REMUI) return between(a.lo / b.lo, a.hi / b.lo, n->w);
    if (a.lo / b.lo == a.hi / b.lo) return between(a.lo % b.lo, a.hi % b.lo, n->w);
    return between(0, b.lo - 1, n->w);
}

static bounds apply(const pr_wait_node *n, bounds a, bounds b)
{
    uint64_t m = mask_of(n->w);
    switch (n->op) {
    case PR_OP_ARITH_ANDI: return of_bits(a.ones & b.ones, a.zeros | b.zeros, n->w);
    case PR_OP_ARITH_ORI: return of_bits(a.ones | b.ones, a.zeros & b.zeros, n->w);
    case PR_OP_ARITH_XORI: return of_bits((a.ones & b.zeros) | (a.zeros & b.ones), (a.zeros & b.zeros) | (a.ones & b.ones), n->w);
    case PR_OP_ARITH_ADDI:
        if ((pr_i128)a.hi + (pr_i128)b.hi <= (pr_i128)m) return between(a.lo + b.lo, a.hi + b.hi, n->w);
        if ((pr_i128)a.lo + (pr_i128)b.lo > (pr_i128)m) return between((a.lo + b.lo) & m, (a.hi + b.hi) & m, n->w);
        break;
    case PR_OP_ARITH_SUBI:
        if (a.lo >= b.hi) return between(a.lo - b.hi, a.hi - b.lo, n->w);
        if (a.hi < b.lo) return between((a.lo - b.hi) & m, (a.hi - b.lo) & m, n->w);
        break;
    case PR_OP_ARITH_MULI:
        if (!b.hi || a.hi <= m / b.hi) return between(a.lo * b.lo, a.hi * b.hi, n->w);
        break;
    case PR_OP_ARITH_DIVSI: case PR_OP_ARITH_DIVUI: case PR_OP_ARITH_FLOORDIVSI: case PR_OP_ARITH_REMSI: case PR_OP_ARITH_REMUI:
        return quotient(n, a, b);
    case PR_OP_ARITH_SHRUI:
        if (b.lo == b.hi && b.lo < (uint64_t)n->w) return between(a.lo >> b.lo, a.hi >> b.lo, n->w);
        break;
    case PR_OP_ARITH_EXTUI: return tidy((bounds){a.lo, a.hi, a.ones, a.zeros | (m & ~mask_of(n->from))}, n->w);
    case PR_OP_ARITH_EXTSI:
        if (not_negative(&a, n->from)) return between(a.lo, a.hi, n->w);
        break;
    case PR_OP_ARITH_TRUNCI:
        if (a.hi <= m) return between(a.lo, a.hi, n->w);
        return of_bits(a.ones & m, a.zeros & m, n->w);
    case PR_OP_ARITH_CMPI: {
        int r = compare(n->c, a, b, n->from);
        return r == 2 ? anything(1) : between((uint64_t)r, (uint64_t)r, 1);
    }
    default: break;
    }
    return anything(n->w);
}

static bool may_be(const pr_wait_expr *e, const bounds *leaf, bool want)
{
    bounds v[PR_WAIT_NODES];
    for (int i = 0; i < e->n; i++) {
        const pr_wait_node *n = &e->node[i];
        switch (n->op) {
        case PR_WAIT_CONST: v[i] = between(n->x & mask_of(n->w), n->x & mask_of(n->w), n->w); break;
        case PR_WAIT_LEAF: v[i] = leaf[n->a]; break;
        case PR_WAIT_OPAQUE: v[i] = anything(n->w); break;
        default: v[i] = apply(n, v[n->a], n->b >= 0 ? v[n->b] : anything(n->w)); break;
        }
    }
    return want ? v[e->n - 1].hi == 1 : v[e->n - 1].lo == 0;
}

/* The at most two intervals of unsigned readings that a span is modulo 2^w. */
static int pieces(pr_span s, int w, bounds out[2])
{
    pr_i128 size = (pr_i128)1 << w, base = s.lo % size;
    if (s.hi < s.lo || s.hi - s.lo >= size) {
        out[0] = anything(w);
        return 1;
    }
    if (base < 0) base += size;
    pr_i128 end = base + (s.hi - s.lo);
    if (end < size) {
        out[0] = between((uint64_t)base, (uint64_t)end, w);
        return 1;
    }
    out[0] = between((uint64_t)base, mask_of(w), w);
    out[1] = between(0, (uint64_t)(end - size), w);
    return 2;
}

bool pr_wait_may_be(const pr_wait_expr *e, const pr_span *span, bool want)
{
    bounds all[PR_WAIT_LEAVES][2], leaf[PR_WAIT_LEAVES];
    int n[PR_WAIT_LEAVES], ways = 1;
    for (int i = 0; i < e->n_leaves; i++) ways *= n[i] = pieces(span[i], e->width[i], all[i]);
    for (int k = 0; k < ways; k++) {
        for (int i = 0, r = k; i < e->n_leaves; r /= n[i++]) leaf[i] = all[i][r % n[i]];
        if (may_be(e, leaf, want)) return true;
    }
    return false;
}
