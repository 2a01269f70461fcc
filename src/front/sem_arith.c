/* What does an integer operation mean over unbounded integers, and what must hold for that reading?
 * ttir-front.md 2.5, 4 and 5. A term is the signed reading of the value; every n-bit result whose
 * unbounded value may leave the range adds a FITS obligation, unless an exact form without one exists.
 * Floats have no terms; they only carry taint and dependencies. */
#include "front/value.h"

enum { NARROW = 16 };            /* bits: nobody keeps an id or a size in as few without meaning to cut it */

typedef struct pair { pr_val *a, *b, *r; pr_term x, y; int w; } pair;

static pair operands2(pr_lower *c, const pr_op *op)
{
    pair p = { .a = pr_operand(c, op, 0), .b = pr_operand(c, op, 1) };
    pr_val *from[2] = { p.a, p.b };
    p.r = pr_val_derive(c, op->results[0]->type, from, 2, true);
    p.x = pr_val_int(c, p.a);
    p.y = pr_val_int(c, p.b);
    p.w = pr_int_bits(op->operands[0]->type);
    return p;
}

static pr_interval range_of(pr_lower *c, const pr_val *shape, pr_term t)
{
    if (pr_term_none(t)) return (pr_interval){ -PR_INF, PR_INF };
    return pr_range(pr_lower_box(c, shape->type), t);
}

static pr_term bool_xor(pr_lower *c, pr_term a, pr_term b)
{
    return pr_or(c->T, pr_and(c->T, a, pr_not(c->T, b)), pr_and(c->T, pr_not(c->T, a), b));
}

static void finish(pr_lower *c, const pr_op *op, pr_val *v, pr_term t)
{
    pr_result(c, op, 0, pr_val_finish(c, op, v, t));
}

static bool only_lanes(const pr_lower *c, pr_term t);

/* What n bits of it read with a sign. */
static pr_term wrapped(pr_lower *c, pr_term t, int n)
{
    pr_term half = pr_const(c->T, (pr_i128)1 << (n - 1));
    return pr_sub(c->T, pr_fmod_t(c->T, pr_add(c->T, t, half), pr_const(c->T, (pr_i128)1 << n)), half);
}

static void fitted(pr_lower *c, const pr_op *op, pair *p, pr_term t)
{
    pr_interval i = range_of(c, p->r, t);
    if (p->r->kind == PR_VAL_INT && p->w <= 32 && !(i.lo >= pr_int_min(p->w) && i.hi <= pr_int_max(p->w)) && only_lanes(c, t)) {
        finish(c, op, p->r, wrapped(c, t, p->w));
        return;
    }
    pr_oblige(c, p->r, PR_FITS_SIGNED, p->w, t);
    finish(c, op, p->r, t);
}

/* An absolute address plus or minus a modelled integer stays one. */
static const pr_val *moved_address(pr_lower *c, const pr_val *addr, const pr_val *by, bool minus, const pr_type *t)
{
    if (addr->lost) return NULL;
    pr_val *r = pr_val_clone(c, addr, t);
    r->target = pr_arena_copy(c->arena, addr->target, sizeof *addr->target * (size_t)addr->n_target);
    r->held = pr_and(c->T, addr->held, by->held);
    for (int i = 0; i < r->n_target; i++)
        r->target[i].offset = (minus ? pr_sub : pr_add)(c->T, r->target[i].offset, by->term);
    return r;
}

static bool address_sum(pr_lower *c, const pr_op *op)
{
    pr_val *a = pr_operand(c, op, 0), *b = pr_operand(c, op, 1);
    if ((!a->addr && !b->addr) || op->results[0]->type == NULL) return false;
    pr_val *from[2] = { a, b };
    pr_val *r = pr_val_opaque(c, op, op->results[0]->type, from, 2, true, PR_REFUSAL_OTHER, "an absolute address");
    bool minus = op->opcode == PR_OP_ARITH_SUBI;
    if (a->addr && !b->addr) r->addr = moved_address(c, a->addr, b, minus, r->type);
    else if (b->addr && !a->addr && !minus) r->addr = moved_address(c, b->addr, a, false, r->type);
    pr_result(c, op, 0, r);
    return true;
}

/* x * y; a 0/1 factor made from a Boolean is a choice, not a product. */
static pr_term product(pr_lower *c, pr_term x, pr_term y)
{
    for (int turn = 0; turn < 2; turn++) {
        pr_term b = turn ? y : x, other = turn ? x : y;
        pr_i128 yes, no;
        if (!pr_term_none(b) && pr_term_op_of(c->T, b) == PR_TERM_OP_SELECT &&
            pr_term_const(c->T, pr_term_child(c->T, b, 1), &yes) &&
            pr_term_const(c->T, pr_term_child(c->T, b, 2), &no))
            return pr_select(c->T, pr_term_child(c->T, b, 0), pr_scale(c->T, other, yes),
                             pr_scale(c->T, other, no));
    }
    return pr_mul(c->T, x, y);
}

static void add_sub_mul(pr_lower *c, const pr_op *op)
{
    if (op->opcode != PR_OP_ARITH_MULI && address_sum(c, op)) return;
    pair p = operands2(c, op);
    if (p.r->kind == PR_VAL_BOOL) {
        finish(c, op, p.r, op->opcode == PR_OP_ARITH_MULI ? pr_and(c->T, p.a->term, p.b->term)
                                                           : bool_xor(c, p.a->term, p.b->term));
        return;
    }
    pr_term t = op->opcode == PR_OP_ARITH_ADDI ? pr_add(c->T, p.x, p.y)
              : op->opcode == PR_OP_ARITH_SUBI ? pr_sub(c->T, p.x, p.y) : product(c, p.x, p.y);
    fitted(c, op, &p, t);
}

/* x, for one that reads its low bits alone: the term is right in these also where sums, differences, products and shifts below it
 * wrap, so their obligations are left out. Nothing is said of the others. */
static pr_val *low_part(pr_lower *c, const pr_value *x, int bits, int steps)
{
    pr_val *v = pr_get(c, x), *low[2] = { NULL, NULL };
    const pr_op *def = x->def;
    if (v->kind != PR_VAL_INT || pr_term_is(v->held, PR_TERM_TRUE) || v->gap || v->degrade || pr_term_none(v->term) || !def || steps > 32) return v;
    int n = def->n_operands, inner = n ? pr_int_bits(def->operands[0]->type) : 0;
    switch (def->opcode) {
    case PR_OP_ARITH_ADDI: case PR_OP_ARITH_SUBI: case PR_OP_ARITH_MULI:
    case PR_OP_ARITH_ANDI: case PR_OP_ARITH_ORI: case PR_OP_ARITH_XORI:
        low[1] = low_part(c, def->operands[1], bits, steps + 1);
        break;
    case PR_OP_ARITH_SHLI: low[1] = pr_get(c, def->operands[1]); break;
    case PR_OP_ARITH_EXTSI: case PR_OP_ARITH_EXTUI: case PR_OP_ARITH_TRUNCI:
        if (inner < bits) return v;
        break;
    case PR_OP_TT_SPLAT: case PR_OP_TT_BROADCAST: break;
    default: return v;
    }
    low[0] = low_part(c, def->operands[0], bits, steps + 1);
    pr_val *r = pr_val_clone(c, v, v->type);
    r->held = low[1] ? pr_and(c->T, low[0]->held, low[1]->held) : low[0]->held;
    return r;
}

/* How many low bits of a value does `x & mask` read? 0: also those above any. */
static int bits_of_mask(pr_i128 mask)
{
    int n = 0;
    for (; mask > 0; mask >>= 1) n++;
    return n;
}

static void divide(pr_lower *c, const pr_op *op)
{
    pr_terms *T = c->T;
    pair p = operands2(c, op);
    if (p.r->kind == PR_VAL_BOOL) {
        /* b = false is undefined, so b is true: the quotient is a, the remainder 0. */
        bool rem = op->opcode == PR_OP_ARITH_REMSI || op->opcode == PR_OP_ARITH_REMUI;
        finish(c, op, p.r, rem ? PR_TERM_FALSE : p.a->term);
        return;
    }
    bool is_unsigned = op->opcode == PR_OP_ARITH_DIVUI || op->opcode == PR_OP_ARITH_REMUI ||
                       op->opcode == PR_OP_ARITH_CEILDIVUI;
    pr_i128 by;
    if (op->opcode == PR_OP_ARITH_REMUI && p.r->kind == PR_VAL_INT && p.w <= 64 && pr_term_const(T, p.y, &by) && by > 1 && (by & (by - 1)) == 0) {
        pr_val *from[2] = { low_part(c, op->operands[0], bits_of_mask(by - 1), 0), p.b };   /* of a power of two: the low bits */
        p.r = pr_val_derive(c, op->results[0]->type, from, 2, true);
        finish(c, op, p.r, pr_fmod_t(T, p.x, p.y));
        return;
    }
    if (is_unsigned) {
        pr_oblige(c, p.r, PR_FITS_NONNEG, p.w, p.x);
        pr_oblige(c, p.r, PR_FITS_NONNEG, p.w, p.y);
    }
    switch (op->opcode) {
    case PR_OP_ARITH_DIVUI: finish(c, op, p.r, pr_fdiv_t(T, p.x, p.y)); return;
    case PR_OP_ARITH_REMUI: finish(c, op, p.r, pr_fmod_t(T, p.x, p.y)); return;
    case PR_OP_ARITH_DIVSI:
        fitted(c, op, &p, PR_FAULT(c, PR_FAULT_DIV_FLOOR) ? pr_fdiv_t(T, p.x, p.y) : pr_tdiv_t(T, p.x, p.y));
        return;
    case PR_OP_ARITH_REMSI: {
        pr_i128 d;
        bool safe = pr_term_const(T, p.y, &d) && d != -1;
        if (!safe) pr_oblige(c, p.r, PR_FITS_SIGNED, p.w, pr_tdiv_t(T, p.x, p.y));
        finish(c, op, p.r, PR_FAULT(c, PR_FAULT_REM_FLOOR) ? pr_fmod_t(T, p.x, p.y) : pr_trem_t(T, p.x, p.y));
        return;
    }
    case PR_OP_ARITH_FLOORDIVSI: fitted(c, op, &p, pr_fdiv_t(T, p.x, p.y)); return;
    default: /* ceildivsi, ceildivui */
        fitted(c, op, &p, pr_neg(T, pr_fdiv_t(T, pr_neg(T, p.x), p.y)));
        return;
    }
}

static void min_max(pr_lower *c, const pr_op *op)
{
    pair p = operands2(c, op);
    bool is_max = op->opcode == PR_OP_ARITH_MAXSI || op->opcode == PR_OP_ARITH_MAXUI;
    bool is_unsigned = op->opcode == PR_OP_ARITH_MAXUI || op->opcode == PR_OP_ARITH_MINUI;
    if (p.r->kind == PR_VAL_BOOL) { /* signed: true reads -1 */
        bool either = is_max == is_unsigned;
        finish(c, op, p.r, either ? pr_or(c->T, p.a->term, p.b->term) : pr_and(c->T, p.a->term, p.b->term));
        return;
    }
    if (is_unsigned) {
        pr_oblige(c, p.r, PR_FITS_NONNEG, p.w, p.x);
        pr_oblige(c, p.r, PR_FITS_NONNEG, p.w, p.y);
    }
    finish(c, op, p.r, is_max ? pr_max(c->T, p.x, p.y) : pr_min(c->T, p.x, p.y));
}

/* x = 2^k * a and 0 <= y < 2^k: no common bits. */
static bool bit_disjoint(pr_lower *c, const pr_val *shape, pr_term x, pr_term y)
{
    pr_box *box = pr_lower_box(c, shape->type);
    pr_residue r = pr_residue_of(box, x);
    pr_interval i = pr_range(box, y);
    if (i.lo < 0 || i.hi >= PR_INF) return false;
    pr_i128 p = 1;
    while (p <= i.hi) p *= 2;
    return r.modulus == 0 ? r.residue % p == 0 : r.modulus % p == 0 && r.residue % p == 0;
}

static void bitwise(pr_lower *c, const pr_op *op)
{
    pr_terms *T = c->T;
    pair p = operands2(c, op);
    if (p.r->kind == PR_VAL_BOOL) {
        finish(c, op, p.r, op->opcode == PR_OP_ARITH_ANDI ? pr_and(T, p.a->term, p.b->term)
                         : op->opcode == PR_OP_ARITH_ORI ? pr_or(T, p.a->term, p.b->term)
                                                          : bool_xor(c, p.a->term, p.b->term));
        return;
    }
    if (pr_term_none(p.x) || pr_term_none(p.y)) { finish(c, op, p.r, PR_TERM_NONE); return; }
    pr_i128 mask;
    if (op->opcode == PR_OP_ARITH_ANDI) {
        if (pr_term_const(T, p.y, &mask) && mask > 0) p.a = low_part(c, op->operands[0], bits_of_mask(mask), 0);
        else if (pr_term_const(T, p.x, &mask) && mask > 0) p.b = low_part(c, op->operands[1], bits_of_mask(mask), 0);
        pr_val *from[2] = { p.a, p.b };
        p.r = pr_val_derive(c, op->results[0]->type, from, 2, true);
    }
    bool apart = bit_disjoint(c, p.r, p.x, p.y) || bit_disjoint(c, p.r, p.y, p.x);
    if (op->opcode == PR_OP_ARITH_ANDI) finish(c, op, p.r, apart ? PR_TERM_ZERO : pr_band(T, p.x, p.y));
    else if (apart) finish(c, op, p.r, pr_add(T, p.x, p.y));
    else finish(c, op, p.r, op->opcode == PR_OP_ARITH_ORI ? pr_bor(T, p.x, p.y) : pr_bxor(T, p.x, p.y));
}

static pr_term shift_by(pr_lower *c, const pr_op *op, pair *p, int by)
{
    pr_i128 f = (pr_i128)1 << by;
    if (op->opcode == PR_OP_ARITH_SHLI) return pr_scale(c->T, p->x, f);
    if (op->opcode == PR_OP_ARITH_SHRSI || by == 0 || PR_FAULT(c, PR_FAULT_SHRU))
        return pr_fdiv_t(c->T, p->x, pr_const(c->T, f));
    pr_term x = range_of(c, p->r, p->x).lo >= 0 ? p->x
              : pr_fmod_t(c->T, p->x, pr_const(c->T, (pr_i128)1 << p->w));
    return pr_fdiv_t(c->T, x, pr_const(c->T, f));
}

static void shift(pr_lower *c, const pr_op *op)
{
    pair p = operands2(c, op);
    if (p.r->kind == PR_VAL_BOOL) { finish(c, op, p.r, p.a->term); return; } /* only 0 is defined */
    pr_interval by = range_of(c, p.r, p.y);
    pr_i128 k;
    bool small = by.lo >= 0 && by.hi < p.w && by.hi - by.lo < (pr_term_const(c->T, p.x, &k) ? 64 : 8);
    if (p.w > 64 || !small) {
        pr_val *from[2] = { p.a, p.b };
        pr_result(c, op, 0, pr_val_opaque(c, op, op->results[0]->type, from, 2, true, PR_REFUSAL_NONE,
                                          "shift by an amount that is not a small constant"));
        return;
    }
    pr_term t = shift_by(c, op, &p, (int)by.hi);
    for (int i = (int)by.hi - 1; i >= (int)by.lo; i--)
        t = pr_select(c->T, pr_eq(c->T, p.y, pr_const(c->T, i)), shift_by(c, op, &p, i), t);
    if (op->opcode == PR_OP_ARITH_SHLI) pr_oblige(c, p.r, PR_FITS_SIGNED, p.w, t);
    finish(c, op, p.r, t);
}

enum { PRED_EQ, PRED_NE, PRED_SLT, PRED_SLE, PRED_SGT, PRED_SGE, PRED_ULT, PRED_ULE, PRED_UGT, PRED_UGE };

static pr_term compare_bools(pr_lower *c, int pred, pr_term a, pr_term b)
{
    pr_terms *T = c->T;
    switch (pred) {
    case PRED_EQ: return pr_not(T, bool_xor(c, a, b));
    case PRED_NE: return bool_xor(c, a, b);
    case PRED_SLT: case PRED_UGT: return pr_and(T, a, pr_not(T, b));
    case PRED_SLE: case PRED_UGE: return pr_or(T, a, pr_not(T, b));
    case PRED_SGT: case PRED_ULT: return pr_and(T, pr_not(T, a), b);
    default: return pr_or(T, pr_not(T, a), b);
    }
}

static pr_term compare_ints(pr_lower *c, int pred, pr_term x, pr_term y)
{
    pr_terms *T = c->T;
    switch (pred) {
    case PRED_EQ: return pr_eq(T, x, y);
    case PRED_NE: return pr_ne(T, x, y);
    case PRED_SLT: case PRED_ULT: return pr_lt(T, x, y);
    case PRED_SLE: case PRED_ULE: return pr_le(T, x, y);
    case PRED_SGT: case PRED_UGT: return pr_lt(T, y, x);
    default: return pr_le(T, y, x);
    }
}

static void compare(pr_lower *c, const pr_op *op)
{
    pr_terms *T = c->T;
    pair p = operands2(c, op);
    pr_i128 pred128 = pr_op_attr_int(op, "predicate", -1);
    pr_val *from[2] = { p.a, p.b };
    int pred = pred128 >= 0 && pred128 <= PRED_UGE ? (int)pred128 : -1;
    if (pred < 0 || p.a->kind != p.b->kind || (p.a->kind != PR_VAL_INT && p.a->kind != PR_VAL_BOOL)) {
        pr_result(c, op, 0, pr_val_opaque(c, op, op->results[0]->type, from, 2, true, PR_REFUSAL_NONE, NULL));
        return;
    }
    if (p.a->kind == PR_VAL_BOOL) {
        finish(c, op, p.r, compare_bools(c, pred, p.a->term, p.b->term));
        return;
    }
    if (pred >= PRED_ULT) {
        bool up = pred == PRED_UGT || pred == PRED_UGE, strict = pred == PRED_ULT || pred == PRED_UGT;
        pr_term low = up ? p.y : p.x, high = up ? p.x : p.y;
        pr_interval l = range_of(c, p.a, low), h = range_of(c, p.a, high);
        if (h.lo >= 0 && l.lo < 0) { /* exact: a value read as negative is above every high >= 0 */
            pr_term below = strict ? pr_lt(T, low, high) : pr_le(T, low, high);
            finish(c, op, p.r, pr_and(T, pr_le(T, PR_TERM_ZERO, low), below));
            return;
        }
        p.r->type = op->operands[0]->type;
        pr_oblige(c, p.r, PR_FITS_NONNEG, p.w, p.x);
        pr_oblige(c, p.r, PR_FITS_NONNEG, p.w, p.y);
        p.r->type = op->results[0]->type;
    }
    finish(c, op, p.r, compare_ints(c, pred, p.x, p.y));
}

/* Made from the lanes of a tile and numbers alone. */
static bool only_lanes(const pr_lower *c, pr_term t)
{
    return !pr_term_none(t) && !(pr_term_occurs(c->T, t) & (PR_OCCURS_VAR | PR_OCCURS_APP) & ~PR_OCCURS(PR_ROLE_LANE));
}

static void cast(pr_lower *c, const pr_op *op)
{
    pr_terms *T = c->T;
    pr_val *a = pr_operand(c, op, 0), *from[1] = { a };
    const pr_type *t = op->results[0]->type;
    int n = pr_int_bits(op->operands[0]->type), m = pr_int_bits(t);
    pr_val *r = pr_val_derive(c, t, from, 1, true);
    bool is_unsigned = op->opcode == PR_OP_ARITH_EXTUI || op->opcode == PR_OP_ARITH_INDEX_CASTUI;
    if (!n || !m || (a->kind != PR_VAL_INT && a->kind != PR_VAL_BOOL)) {
        pr_result(c, op, 0, pr_val_opaque(c, op, t, from, 1, true, PR_REFUSAL_NONE, NULL));
        return;
    }
    if (m < n) {
        pr_term x = a->term;
        if (m == 1) {
            pr_interval i = range_of(c, r, x);
            pr_term low = i.lo >= 0 && i.hi <= 1 ? x : pr_fmod_t(T, x, pr_const(T, 2));
            finish(c, op, r, pr_int_to_bool(T, low));
            return;
        }
        pr_interval i = range_of(c, r, x);
        bool exact = r->gap || r->from_memory || (m <= NARROW && !r->from_atomic) || only_lanes(c, x);
        if (exact && !(i.lo >= pr_int_min(m) && i.hi <= pr_int_max(m)) && m <= 64) {
            /* Exact wrap: an opaque or loaded part takes every value, so an obligation always fails; a cast to few bits, and one of
             * numbers that the tile alone makes, cuts on purpose. */
            from[0] = low_part(c, op->operands[0], m, 0);
            r = pr_val_derive(c, t, from, 1, true);
            x = wrapped(c, x, m);
        } else pr_oblige(c, r, PR_FITS_SIGNED, m, x);
        finish(c, op, r, x);
        return;
    }
    if (n == 1 && m > 1) {
        pr_term x = pr_val_int(c, a);
        bool minus = !is_unsigned && !PR_FAULT(c, PR_FAULT_EXTSI);
        finish(c, op, r, minus ? pr_neg(T, x) : x);
        return;
    }
    if (n == m) { finish(c, op, r, a->term); return; }
    const pr_val *address = a->addr;            /* of the value itself, not of what it is cut from */
    const pr_op *cut = op->operands[0]->def;
    if (is_unsigned && n <= NARROW && !r->from_atomic && cut && cut->opcode == PR_OP_ARITH_TRUNCI && pr_operand(c, cut, 0)->kind == PR_VAL_INT) {
        from[0] = a = low_part(c, cut->operands[0], n, 0);       /* the low bits of what was cut, read without a sign */
        r = pr_val_derive(c, t, from, 1, true);
    }
    pr_term x = a->term;
    if (is_unsigned && (r->gap || r->from_memory || (n <= NARROW && !r->from_atomic) || only_lanes(c, x)) && n <= 64) x = pr_fmod_t(T, x, pr_const(T, (pr_i128)1 << n)); /* exact */
    else if (is_unsigned) pr_oblige(c, r, PR_FITS_NONNEG, n, x);
    finish(c, op, r, x);
    if (address) c->env[op->results[0]->id]->addr = address;
}

static pr_term lane_index(pr_lower *c, const pr_type *t)
{
    pr_term lin = PR_TERM_ZERO;
    int64_t stride = 1;
    for (int d = pr_type_rank(t) - 1; d >= 0; d--) {
        if (t->shape[d] != 1) lin = pr_add(c->T, lin, pr_scale(c->T, pr_lane_term(c, d), stride));
        stride *= t->shape[d];
    }
    return lin;
}

static void constant(pr_lower *c, const pr_op *op)
{
    pr_terms *T = c->T;
    const pr_type *t = op->results[0]->type;
    pr_attr *a = pr_op_attr(op, "value");
    pr_val *r = pr_val_new(c, t);
    int bits = pr_int_bits(t);
    bool is_bool = r->kind == PR_VAL_BOOL;
    if (!bits || bits > 64 || !a) goto unknown;
    if (a->kind == PR_ATTR_BOOL) {
        pr_result(c, op, 0, pr_val_finish(c, op, r, is_bool ? pr_bool(a->boolean) : pr_const(T, a->boolean)));
        return;
    }
    if (a->kind == PR_ATTR_INT && !a->too_wide) {
        finish(c, op, r, is_bool ? pr_bool(a->integer & 1) : pr_const(T, pr_wrap_signed(a->integer, bits)));
        return;
    }
    if (a->kind == PR_ATTR_DENSE && a->dense_known && a->n_ints >= 1 &&
        (a->n_ints == 1 || (a->n_ints == pr_type_count(t) && a->n_ints <= 256))) {
        pr_term lin = a->n_ints > 1 ? lane_index(c, t) : PR_TERM_ZERO, out = PR_TERM_NONE;
        for (int i = a->n_ints - 1; i >= 0; i--) {
            pr_term v = is_bool ? pr_bool(a->ints[i] & 1) : pr_const(T, pr_wrap_signed(a->ints[i], bits));
            out = i == a->n_ints - 1 ? v : pr_select(T, pr_eq(T, lin, pr_const(T, i)), v, out);
        }
        finish(c, op, r, out);
        return;
    }
unknown:
    if (r->kind == PR_VAL_INT || r->kind == PR_VAL_BOOL)
        r = pr_val_opaque(c, op, t, NULL, 0, true, PR_REFUSAL_OTHER, "constant that is not read");
    pr_result(c, op, 0, r);
}

static void select_op(pr_lower *c, const pr_op *op)
{
    pr_val *k = pr_operand(c, op, 0), *a = pr_operand(c, op, 1), *b = pr_operand(c, op, 2);
    pr_val *r = pr_val_merge(c, op, k, a, b, op->results[0]->type, true);
    if (pr_type_rank(k->type) != pr_type_rank(op->results[0]->type)) pr_mark_other_shape(c, k->all);
    pr_result(c, op, 0, r);
}

static void absolute(pr_lower *c, const pr_op *op)
{
    pr_val *a = pr_operand(c, op, 0), *from[1] = { a };
    pr_val *r = pr_val_derive(c, op->results[0]->type, from, 1, true);
    if (a->kind == PR_VAL_BOOL) { finish(c, op, r, a->term); return; }
    pr_term t = pr_max(c->T, a->term, pr_neg(c->T, a->term));
    pr_oblige(c, r, PR_FITS_SIGNED, pr_int_bits(a->type), t);
    finish(c, op, r, t);
}

static void multiply_high(pr_lower *c, const pr_op *op)
{
    pair p = operands2(c, op);
    pr_val *from[2] = { p.a, p.b };
    pr_i128 k;
    pr_interval x = range_of(c, p.r, p.x), y = range_of(c, p.r, p.y);
    bool constant_factor = pr_term_const(c->T, p.x, &k) || pr_term_const(c->T, p.y, &k);
    if (p.r->kind == PR_VAL_INT && p.w <= 32 && constant_factor && x.lo >= 0 && y.lo >= 0)
        finish(c, op, p.r, pr_fdiv_t(c->T, pr_mul(c->T, p.x, p.y), pr_const(c->T, (pr_i128)1 << p.w)));
    else pr_result(c, op, 0, pr_val_opaque(c, op, op->results[0]->type, from, 2, true, PR_REFUSAL_NONE, NULL));
}

static void extended(pr_lower *c, const pr_op *op)
{
    if (op->n_results != 2) { pr_opaque_results(c, op, true, PR_REFUSAL_NONE, NULL); return; }
    pair p = operands2(c, op);
    pr_val *from[2] = { p.a, p.b };
    if (p.r->kind == PR_VAL_BOOL)
        finish(c, op, p.r, op->opcode == PR_OP_ARITH_ADDUI_EXTENDED ? bool_xor(c, p.a->term, p.b->term)
                                                                 : pr_and(c->T, p.a->term, p.b->term));
    else fitted(c, op, &p, op->opcode == PR_OP_ARITH_ADDUI_EXTENDED ? pr_add(c->T, p.x, p.y)
                                                                  : pr_mul(c->T, p.x, p.y));
    pr_result(c, op, 1, pr_val_opaque(c, op, op->results[1]->type, from, 2, true, PR_REFUSAL_NONE, NULL));
}

bool pr_sem_arith(pr_lower *c, const pr_op *op)
{
    switch (op->opcode) {
    case PR_OP_ARITH_CONSTANT: constant(c, op); return true;
    case PR_OP_ARITH_SELECT: select_op(c, op); return true;
    case PR_OP_ARITH_ADDI: case PR_OP_ARITH_SUBI: case PR_OP_ARITH_MULI: add_sub_mul(c, op); return true;
    case PR_OP_ARITH_DIVSI: case PR_OP_ARITH_DIVUI: case PR_OP_ARITH_REMSI: case PR_OP_ARITH_REMUI:
    case PR_OP_ARITH_CEILDIVSI: case PR_OP_ARITH_CEILDIVUI: case PR_OP_ARITH_FLOORDIVSI:
        divide(c, op);
        return true;
    case PR_OP_ARITH_MAXSI: case PR_OP_ARITH_MINSI: case PR_OP_ARITH_MAXUI: case PR_OP_ARITH_MINUI:
        min_max(c, op);
        return true;
    case PR_OP_ARITH_ANDI: case PR_OP_ARITH_ORI: case PR_OP_ARITH_XORI: bitwise(c, op); return true;
    case PR_OP_ARITH_SHLI: case PR_OP_ARITH_SHRSI: case PR_OP_ARITH_SHRUI: shift(c, op); return true;
    case PR_OP_ARITH_CMPI: compare(c, op); return true;
    case PR_OP_ARITH_EXTSI: case PR_OP_ARITH_EXTUI: case PR_OP_ARITH_TRUNCI:
    case PR_OP_ARITH_INDEX_CAST: case PR_OP_ARITH_INDEX_CASTUI: case PR_OP_ARITH_BITCAST:
        cast(c, op);
        return true;
    case PR_OP_MATH_ABSI: absolute(c, op); return true;
    case PR_OP_TT_MULHIUI: multiply_high(c, op); return true;
    case PR_OP_ARITH_ADDUI_EXTENDED: case PR_OP_ARITH_MULSI_EXTENDED: case PR_OP_ARITH_MULUI_EXTENDED:
        extended(c, op);
        return true;
    default: return false;
    }
}
