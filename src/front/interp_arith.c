/* What does one integer operation compute on the bits of one element?
 *
 * Results wrap to the width. Undefined cases get the value usual hardware leaves (quotient by zero 0,
 * remainder by zero the dividend, the most negative value over -1 itself) and set *ub. */
#include "front/interp_core.h"

int pr_bits_of(const pr_type *t)
{
    if (!t) return 0;
    const pr_type *s = pr_type_scalar(t);
    if (s->kind == PR_TYPE_INDEX) return 64;
    return s->kind == PR_TYPE_INT && s->bits >= 1 && s->bits <= 64 ? s->bits : 0;
}

/* floor, ceil or truncated signed quotient */
static uint64_t signed_quotient(int opcode, int w, int64_t a, int64_t b, bool *ub)
{
    if (b == 0) {
        *ub = true;
        return 0;
    }
    if (b == -1) { /* also keeps INT64_MIN / -1 out of the C division */
        if (a == pr_bits_signed((uint64_t)1 << (w - 1), w)) *ub = true;
        return (uint64_t)0 - (uint64_t)a;
    }
    int64_t q = a / b;
    bool inexact = a % b != 0, negative = (a < 0) != (b < 0);
    if (opcode == PR_OP_ARITH_FLOORDIVSI && inexact && negative) q--;
    if (opcode == PR_OP_ARITH_CEILDIVSI && inexact && !negative) q++;
    return (uint64_t)q;
}

bool pr_arith_binary(int opcode, int w, uint64_t a, uint64_t b, uint64_t *r, bool *ub)
{
    int64_t sa = pr_bits_signed(a, w), sb = pr_bits_signed(b, w);
    uint64_t v;
    switch (opcode) {
    case PR_OP_ARITH_ADDI: v = a + b; break;
    case PR_OP_ARITH_SUBI: v = a - b; break;
    case PR_OP_ARITH_MULI: v = a * b; break;
    case PR_OP_ARITH_DIVSI: case PR_OP_ARITH_FLOORDIVSI: case PR_OP_ARITH_CEILDIVSI:
        v = signed_quotient(opcode, w, sa, sb, ub);
        break;
    case PR_OP_ARITH_REMSI:
        if (sb == 0 || (sb == -1 && a == (uint64_t)1 << (w - 1))) *ub = true;
        v = sb == 0 ? a : sb == -1 ? 0 : (uint64_t)(sa % sb);
        break;
    case PR_OP_ARITH_DIVUI:
        if (b == 0) *ub = true;
        v = b == 0 ? 0 : a / b;
        break;
    case PR_OP_ARITH_REMUI:
        if (b == 0) *ub = true;
        v = b == 0 ? a : a % b;
        break;
    case PR_OP_ARITH_CEILDIVUI:
        if (b == 0) *ub = true;
        v = b == 0 ? 0 : a / b + (a % b != 0);
        break;
    case PR_OP_ARITH_MAXSI: v = sa > sb ? a : b; break;
    case PR_OP_ARITH_MINSI: v = sa < sb ? a : b; break;
    case PR_OP_ARITH_MAXUI: v = a > b ? a : b; break;
    case PR_OP_ARITH_MINUI: v = a < b ? a : b; break;
    case PR_OP_ARITH_ANDI: v = a & b; break;
    case PR_OP_ARITH_ORI: v = a | b; break;
    case PR_OP_ARITH_XORI: v = a ^ b; break;
    case PR_OP_ARITH_SHLI:
        if (b >= (uint64_t)w) *ub = true;
        v = b >= (uint64_t)w ? 0 : a << b;
        break;
    case PR_OP_ARITH_SHRUI:
        if (b >= (uint64_t)w) *ub = true;
        v = b >= (uint64_t)w ? 0 : a >> b;
        break;
    case PR_OP_ARITH_SHRSI: {
        if (b >= (uint64_t)w) *ub = true;
        int s = b >= (uint64_t)w ? 63 : (int)b;
        v = sa < 0 ? ~(~(uint64_t)sa >> s) : (uint64_t)sa >> s;
        break;
    }
    case PR_OP_TT_MULHIUI: v = (uint64_t)((pr_u128)a * b >> w); break;
    default: return false;
    }
    *r = v & pr_bits_mask(w);
    return true;
}

/* Does one known operand decide the result alone? */
bool pr_arith_absorbs(int opcode, int w, uint64_t known, uint64_t *r)
{
    switch (opcode) {
    case PR_OP_ARITH_ANDI: case PR_OP_ARITH_MULI: *r = 0; return known == 0;
    case PR_OP_ARITH_ORI: *r = pr_bits_mask(w); return known == *r;
    case PR_OP_ARITH_MAXUI: *r = pr_bits_mask(w); return known == *r;
    case PR_OP_ARITH_MINUI: *r = 0; return known == 0;
    default: return false;
    }
}

bool pr_arith_partial(int opcode)
{
    switch (opcode) {
    case PR_OP_ARITH_DIVSI: case PR_OP_ARITH_FLOORDIVSI: case PR_OP_ARITH_CEILDIVSI: case PR_OP_ARITH_REMSI:
    case PR_OP_ARITH_DIVUI: case PR_OP_ARITH_REMUI: case PR_OP_ARITH_CEILDIVUI:
    case PR_OP_ARITH_SHLI: case PR_OP_ARITH_SHRUI: case PR_OP_ARITH_SHRSI: return true;
    default: return false;
    }
}

bool pr_arith_total_with(int opcode, int w, uint64_t b)
{
    bool shift = opcode == PR_OP_ARITH_SHLI || opcode == PR_OP_ARITH_SHRUI || opcode == PR_OP_ARITH_SHRSI;
    return shift ? b < (uint64_t)w : b != 0 && b != pr_bits_mask(w);
}

static int leading_zeros(uint64_t x, int w)
{
    int n = 0;
    while (n < w && !(x >> (w - 1 - n) & 1)) n++;
    return n;
}

bool pr_arith_unary(int opcode, int from, int to, uint64_t a, uint64_t *r)
{
    uint64_t v;
    switch (opcode) {
    case PR_OP_ARITH_EXTSI: case PR_OP_ARITH_INDEX_CAST: v = (uint64_t)pr_bits_signed(a, from); break;
    case PR_OP_ARITH_EXTUI: case PR_OP_ARITH_TRUNCI: case PR_OP_ARITH_INDEX_CASTUI:
    case PR_OP_ARITH_BITCAST: case PR_OP_TT_BITCAST:
        v = a;
        break;
    case PR_OP_MATH_ABSI: v = pr_bits_signed(a, from) < 0 ? (uint64_t)0 - a : a; break;
    case PR_OP_MATH_CTLZ: v = (uint64_t)leading_zeros(a, from); break;
    case PR_OP_MATH_CTTZ: {
        int n = 0;
        while (n < from && !(a >> n & 1)) n++;
        v = (uint64_t)n;
        break;
    }
    case PR_OP_MATH_CTPOP: {
        v = 0;
        for (uint64_t x = a; x; x &= x - 1) v++;
        break;
    }
    default: return false;
    }
    *r = v & pr_bits_mask(to);
    return true;
}

bool pr_arith_compare(int predicate, int w, uint64_t a, uint64_t b)
{
    int64_t sa = pr_bits_signed(a, w), sb = pr_bits_signed(b, w);
    switch (predicate) {
    case 0: return a == b;
    case 1: return a != b;
    case 2: return sa < sb;
    case 3: return sa <= sb;
    case 4: return sa > sb;
    case 5: return sa >= sb;
    case 6: return a < b;
    case 7: return a <= b;
    case 8: return a > b;
    default: return a >= b;
    }
}
