/* Random terms over a few small variables, for comparing constructors, engines and enumeration. */
#ifndef PR_TESTS_RANDOM_TERM_H
#define PR_TESTS_RANDOM_TERM_H
#include "term/term.h"

/* A stream from a seed. Where there are bytes, these come first, two a number: a fuzzer changes one choice at a time. */
typedef struct rng { uint64_t s; const uint8_t *bytes; size_t n; } rng;
static inline uint32_t rnd(rng *r)
{
    if (r->n >= 2) {
        r->bytes += 2;
        r->n -= 2;
        return (uint32_t)r->bytes[-2] | (uint32_t)r->bytes[-1] << 8;
    }
    r->s ^= r->s << 13;
    r->s ^= r->s >> 7;
    r->s ^= r->s << 17;
    return (uint32_t)(r->s >> 20);
}
static inline int rnd_in(rng *r, int lo, int hi) { return lo + (int)(rnd(r) % (uint32_t)(hi - lo + 1)); }

/* What may appear. */
enum { RT_DIV = 1, RT_CHOICE = 2, RT_BITS = 4, RT_VARDIV = 8, RT_MUL = 16, RT_ALL = 31 };

static inline pr_term random_bool(pr_terms *T, rng *r, const pr_term *v, int n, int depth, int what);

static inline pr_term random_int(pr_terms *T, rng *r, const pr_term *v, int n, int depth, int what)
{
    if (depth <= 0 || rnd(r) % 6 == 0)
        return rnd(r) % 4 ? v[rnd(r) % (uint32_t)n] : pr_const(T, rnd_in(r, -9, 9));
    pr_term a = random_int(T, r, v, n, depth - 1, what);
    pr_term b = random_int(T, r, v, n, depth - 1, what);
    pr_term k = pr_const(T, rnd_in(r, 1, 9) * (rnd(r) % 8 ? 1 : -1));
    switch (rnd(r) % 16) {
    case 0: case 1: case 2: return pr_add(T, a, b);
    case 3: return pr_sub(T, a, b);
    case 4: case 5: return pr_scale(T, a, rnd_in(r, -7, 12));
    case 6: return what & RT_DIV ? pr_fdiv_t(T, a, k) : pr_add(T, a, b);
    case 7: return what & RT_DIV ? pr_fmod_t(T, a, k) : pr_sub(T, b, a);
    case 8: return what & RT_DIV ? pr_tdiv_t(T, a, k) : pr_add(T, a, k);
    case 9: return what & RT_DIV ? pr_trem_t(T, a, k) : pr_scale(T, a, 3);
    case 10: return what & RT_CHOICE ? pr_min(T, a, b) : pr_add(T, a, b);
    case 11: return what & RT_CHOICE ? pr_max(T, a, b) : pr_add(T, a, b);
    case 12:
        if (!(what & RT_CHOICE)) return pr_sub(T, a, b);
        return pr_select(T, random_bool(T, r, v, n, depth - 2, what), a, b);
    case 13:
        if (!(what & RT_BITS)) return pr_add(T, a, b);
        if (rnd(r) % 3) b = pr_const(T, rnd_in(r, -40, 70));
        switch (rnd(r) % 3) {
        case 0: return pr_band(T, a, b);
        case 1: return pr_bor(T, a, b);
        default: return pr_bxor(T, a, b);
        }
    case 14:
        if (!(what & RT_VARDIV)) return pr_add(T, a, b);
        switch (rnd(r) % 4) {
        case 0: return pr_fdiv_t(T, a, b);
        case 1: return pr_fmod_t(T, a, b);
        case 2: return pr_tdiv_t(T, a, b);
        default: return pr_trem_t(T, a, b);
        }
    default: return what & RT_MUL ? pr_mul(T, a, b) : pr_sub(T, a, b);
    }
}

static inline pr_term random_bool(pr_terms *T, rng *r, const pr_term *v, int n, int depth, int what)
{
    if (depth > 1 && rnd(r) % 3 == 0) {
        pr_term a = random_bool(T, r, v, n, depth - 1, what);
        pr_term b = random_bool(T, r, v, n, depth - 1, what);
        switch (rnd(r) % 4) {
        case 0: return pr_and(T, a, b);
        case 1: return pr_or(T, a, b);
        case 2: return pr_not(T, a);
        default: return pr_select(T, random_bool(T, r, v, n, depth - 2, what), a, b);
        }
    }
    pr_term a = random_int(T, r, v, n, depth, what), b = random_int(T, r, v, n, depth - 1, what);
    switch (rnd(r) % 4) {
    case 0: return pr_le(T, a, b);
    case 1: return pr_lt(T, a, b);
    case 2: return pr_eq(T, a, b);
    default: return pr_ne(T, a, b);
    }
}
#endif
