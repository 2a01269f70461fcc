/* Checked exact integers, see num.h. */
#include "util/num.h"

pr_i128 pr_gcd(pr_i128 a, pr_i128 b)
{
    if (a < 0) a = -a;
    if (b < 0) b = -b;
    while (b && !pr_one_word(a, b)) {
        pr_i128 r = a % b;
        a = b;
        b = r;
    }
    if (!b) return a;
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    while (y) {
        uint64_t r = x % y;
        x = y;
        y = r;
    }
    return x;
}

bool pr_i128_parse(pr_str t, pr_i128 *out)
{
    size_t i = 0;
    bool negative = false;
    if (i < t.n && t.s[i] == '-') {
        negative = true;
        i++;
    }
    int base = 10;
    if (i + 2 < t.n && t.s[i] == '0' && (t.s[i + 1] == 'x' || t.s[i + 1] == 'X')) {
        base = 16;
        i += 2;
    }
    if (i >= t.n) return false;
    pr_i128 v = 0;
    for (; i < t.n; i++) {
        char c = t.s[i];
        int d = c >= '0' && c <= '9' ? c - '0'
              : c >= 'a' && c <= 'f' ? c - 'a' + 10
              : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
        if (d >= base) return false;
        if (!pr_mul_ok(v, base, &v) || !pr_sub_ok(v, d, &v)) return false;
    }
    if (!negative) {
        if (v == PR_I128_MIN) return false;
        v = -v;
    }
    *out = v;
    return true;
}

pr_i128 pr_wrap_signed(pr_i128 v, int bits)
{
    pr_u128 mask = bits >= 128 ? ~(pr_u128)0 : (((pr_u128)1 << bits) - 1);
    pr_u128 u = (pr_u128)v & mask;
    if (bits < 128 && (u >> (bits - 1)) & 1) return (pr_i128)(u - ((pr_u128)1 << (bits - 1)) - ((pr_u128)1 << (bits - 1)));
    return (pr_i128)u;
}
