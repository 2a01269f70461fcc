/* Checked exact integers on pr_i128. Every function that can leave the range says so; nothing
 * wraps. Floor division and modulus are the mathematical ones (remainder in [0, b) for b > 0). */
#ifndef PR_UTIL_NUM_H
#define PR_UTIL_NUM_H
#include "util/str.h"

static inline bool pr_add_ok(pr_i128 a, pr_i128 b, pr_i128 *r) { return !__builtin_add_overflow(a, b, r); }
static inline bool pr_sub_ok(pr_i128 a, pr_i128 b, pr_i128 *r) { return !__builtin_sub_overflow(a, b, r); }

/* Does v fit 64 bits? Division of 128 bits is a call; most values are small. */
static inline bool pr_is_small(pr_i128 v) { return v == (int64_t)v; }
static inline bool pr_mul_ok(pr_i128 a, pr_i128 b, pr_i128 *r)
{
    if (pr_is_small(a) && pr_is_small(b)) {
        *r = (pr_i128)(int64_t)a * (int64_t)b;
        return true;
    }
    return !__builtin_mul_overflow(a, b, r);
}
/* floor(a / b) and a - b*floor(a / b); b != 0. */
/* Both in one machine word (and their quotient too): most are, and a division of two words takes many times longer. */
static inline bool pr_one_word(pr_i128 a, pr_i128 b) { return a == (int64_t)a && b == (int64_t)b && a != INT64_MIN; }
static inline pr_i128 pr_fdiv(pr_i128 a, pr_i128 b)
{
    if (pr_one_word(a, b)) {
        int64_t x = (int64_t)a, y = (int64_t)b, q = x / y;
        return q - (q * y != x && ((x < 0) != (y < 0)));
    }
    pr_i128 q = a / b;
    return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}
static inline pr_i128 pr_fmod(pr_i128 a, pr_i128 b)
{
    if (pr_one_word(a, b)) {
        int64_t y = (int64_t)b, r = (int64_t)a % y;
        return r != 0 && ((r < 0) != (y < 0)) ? r + y : r;
    }
    pr_i128 r = a % b;
    return (r != 0 && ((r < 0) != (b < 0))) ? r + b : r;
}
pr_i128 pr_gcd(pr_i128 a, pr_i128 b);                /* >= 0; gcd(0,0) = 0 */
/* Decimal or 0x text to a number; false when malformed or outside pr_i128. */
bool pr_i128_parse(pr_str text, pr_i128 *out);
/* Least and greatest value of an n-bit two's complement number, 1 <= bits <= 127. */
static inline pr_i128 pr_int_min(int bits) { return -((pr_i128)1 << (bits - 1)); }
static inline pr_i128 pr_int_max(int bits) { return ((pr_i128)1 << (bits - 1)) - 1; }
/* The signed reading S_n(v) of ttir-front.md 0: v mod 2^bits in [-2^(bits-1), 2^(bits-1)). */
pr_i128 pr_wrap_signed(pr_i128 v, int bits);
#endif
