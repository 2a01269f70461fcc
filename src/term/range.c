/* Intervals of terms: the transfer function of every operation, and boxes that memoise it.
 *
 * Bounds are saturating: -PR_INF and PR_INF mean unbounded, and every finite result beyond them is
 * rounded outwards. An interval always contains every value of the term under the box; when unsure
 * it is wider. residue.c holds congruences and fragment classes. */
#include "term/store.h"
#include "term/box.h"
#include "term/table.h"
#include <assert.h>

static const pr_interval whole = { -PR_INF, PR_INF };

/* Outwards: a lower bound never exceeds PR_INF - 1, an upper one is never below -PR_INF + 1. */
static pr_interval clamp(pr_i128 lo, pr_i128 hi)
{
    if (lo < -PR_INF) lo = -PR_INF;
    if (lo > PR_INF - 1) lo = PR_INF - 1;
    if (hi > PR_INF) hi = PR_INF;
    if (hi < -PR_INF + 1) hi = -PR_INF + 1;
    return (pr_interval){ lo, hi };
}

static pr_interval hull(pr_interval a, pr_interval b)
{
    return (pr_interval){ a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi };
}

static bool infinite(pr_i128 v) { return v <= -PR_INF || v >= PR_INF; }

/* Product of two bounds, saturating; 0 times infinity is 0 (the corner of a bounded side). */
static pr_i128 times(pr_i128 a, pr_i128 b)
{
    pr_i128 r;
    if (a == 0 || b == 0) return 0;
    if (pr_is_small(a) && pr_is_small(b)) return (pr_i128)(int64_t)a * (int64_t)b;
    bool negative = (a < 0) != (b < 0);
    if (infinite(a) || infinite(b) || !pr_mul_ok(a, b, &r)) return negative ? -PR_INF : PR_INF;
    return r;
}

static pr_interval corners(pr_i128 a, pr_i128 b, pr_i128 c, pr_i128 d)
{
    pr_i128 lo = a, hi = a;
    if (b < lo) lo = b;
    if (b > hi) hi = b;
    if (c < lo) lo = c;
    if (c > hi) hi = c;
    if (d < lo) lo = d;
    if (d > hi) hi = d;
    return clamp(lo, hi);
}

static pr_interval negated(pr_interval a) { return clamp(-a.hi, -a.lo); }

static pr_interval range_sum(const pr_terms *T, const node *x, const pr_interval *c)
{
    pr_i128 lo = x->value, hi = x->value;
    bool low = true, high = true;      /* still bounded */
    if (infinite(lo)) return whole;
    for (uint32_t i = 0; i < x->n; i++) {
        pr_i128 k = T->coefs[x->coef + i];
        pr_i128 a = times(k, k > 0 ? c[i].lo : c[i].hi), b = times(k, k > 0 ? c[i].hi : c[i].lo);
        if (infinite(a) || !pr_add_ok(lo, a, &lo)) low = false;
        if (infinite(b) || !pr_add_ok(hi, b, &hi)) high = false;
        if (!low) lo = 0;
        if (!high) hi = 0;
    }
    return clamp(low ? lo : -PR_INF, high ? hi : PR_INF);
}

/* The same where every number fits one machine word. */
static bool linear_in_words(const pr_terms *T, const pr_term *at, const pr_i128 *coef, int n, pr_i128 constant, pr_interval *out)
{
    int64_t lo = (int64_t)constant, hi = lo, a, b;
    if (!pr_is_small(constant)) return false;
    for (int i = 0; i < n; i++) {
        const pr_interval *c = &T->nodes[at[i].id].own;
        if (!pr_is_small(coef[i]) || !pr_is_small(c->lo) || !pr_is_small(c->hi)) return false;
        int64_t k = (int64_t)coef[i], from = (int64_t)(k > 0 ? c->lo : c->hi), to = (int64_t)(k > 0 ? c->hi : c->lo);
        if (__builtin_mul_overflow(k, from, &a) || __builtin_mul_overflow(k, to, &b)) return false;
        if (__builtin_add_overflow(lo, a, &lo) || __builtin_add_overflow(hi, b, &hi)) return false;
    }
    *out = (pr_interval){ lo, hi };
    return true;
}

pr_interval pr_range_linear(const pr_terms *T, const pr_term *at, const pr_i128 *coef, int n, pr_i128 constant)
{
    pr_interval r;
    if (linear_in_words(T, at, coef, n, constant, &r)) return r;
    pr_i128 lo = constant, hi = constant;
    bool low = true, high = true;
    if (infinite(lo)) return whole;
    for (int i = 0; i < n; i++) {
        const pr_interval *c = &T->nodes[at[i].id].own;
        pr_i128 k = coef[i];
        pr_i128 a = times(k, k > 0 ? c->lo : c->hi), b = times(k, k > 0 ? c->hi : c->lo);
        if (infinite(a) || !pr_add_ok(lo, a, &lo)) low = false;
        if (infinite(b) || !pr_add_ok(hi, b, &hi)) high = false;
        if (!low) lo = 0;
        if (!high) hi = 0;
    }
    return clamp(low ? lo : -PR_INF, high ? hi : PR_INF);
}

/* Quotient for divisors in [b.lo, b.hi], b.lo >= 1: monotone in both arguments for a fixed sign of
 * the other, so the extremes are at the corners. */
static pr_i128 quotient(pr_i128 a, pr_i128 b, bool floor)
{
    if (infinite(a)) return a;
    return floor ? pr_fdiv(a, b) : a / b;
}

static pr_interval div_positive(pr_interval a, pr_interval b, bool floor)
{
    return corners(quotient(a.lo, b.lo, floor), quotient(a.lo, b.hi, floor),
                   quotient(a.hi, b.lo, floor), quotient(a.hi, b.hi, floor));
}

static pr_interval mod_positive(pr_interval a, pr_interval b, bool floor)
{
    pr_i128 top = b.hi == PR_INF ? PR_INF : b.hi - 1;
    if (a.lo >= 0 && a.hi < b.lo) return a;
    if (b.lo == b.hi && !infinite(a.lo) && !infinite(a.hi)
        && quotient(a.lo, b.lo, floor) == quotient(a.hi, b.lo, floor)
        && (floor || a.lo >= 0 || a.hi <= 0))
        return floor ? clamp(pr_fmod(a.lo, b.lo), pr_fmod(a.hi, b.lo))
                     : clamp(a.lo % b.lo, a.hi % b.lo);
    if (floor) return clamp(0, a.lo >= 0 && a.hi < top ? a.hi : top);
    pr_i128 lo = a.lo >= 0 ? 0 : a.lo > -top ? a.lo : -top;
    pr_i128 hi = a.hi <= 0 ? 0 : a.hi < top ? a.hi : top;
    return clamp(lo, hi);
}

/* Division and remainder with any divisor: parts by the sign of the divisor. */
static pr_interval range_division(pr_term_op op, pr_interval a, pr_interval b)
{
    bool floor = op == PR_TERM_OP_FDIV || op == PR_TERM_OP_FMOD;
    bool div = op == PR_TERM_OP_FDIV || op == PR_TERM_OP_TDIV;
    pr_interval r = { 0, 0 };
    bool any = false;
    if (b.hi >= 1) {
        pr_interval d = { b.lo >= 1 ? b.lo : 1, b.hi };
        r = div ? div_positive(a, d, floor) : mod_positive(a, d, floor);
        any = true;
    }
    if (b.lo <= -1) {
        pr_interval d = negated((pr_interval){ b.lo, b.hi <= -1 ? b.hi : -1 });
        pr_interval s;
        if (floor) {                     /* a / -d = -a / d; a mod -d = -(-a mod d) */
            pr_interval m = negated(a);
            s = div ? div_positive(m, d, true) : negated(mod_positive(m, d, true));
        } else {                         /* a / -d = -(a / d); a rem -d = a rem d */
            s = div ? negated(div_positive(a, d, false)) : mod_positive(a, d, false);
        }
        r = any ? hull(r, s) : s;
        any = true;
    }
    if (b.lo <= 0 && b.hi >= 0) {
        pr_interval z = div ? (pr_interval){ 0, 0 } : a;
        r = any ? hull(r, z) : z;
    }
    return r;
}

/* Least 2^k - 1 >= v, for v >= 0. */
static pr_i128 ones_above(pr_i128 v)
{
    pr_i128 m = 0;
    while (m < v) m = m * 2 + 1;
    return m;
}

static pr_interval range_bits(pr_term_op op, pr_interval a, pr_interval b)
{
    bool pa = a.lo >= 0, pb = b.lo >= 0;
    if (op == PR_TERM_OP_BAND && (pa || pb)) {
        pr_i128 hi = pa && pb ? (a.hi < b.hi ? a.hi : b.hi) : pa ? a.hi : b.hi;
        return clamp(0, hi);
    }
    if (infinite(a.lo) || infinite(b.lo) || infinite(a.hi) || infinite(b.hi)) {
        if (!pa || !pb) return whole;
        return clamp(op == PR_TERM_OP_BOR ? (a.lo > b.lo ? a.lo : b.lo) : 0, PR_INF);
    }
    pr_i128 most = 0;
    pr_i128 ends[4] = { a.lo, a.hi, b.lo, b.hi };
    for (int i = 0; i < 4; i++) {
        pr_i128 m = ends[i] < 0 ? ~ends[i] : ends[i];
        if (m > most) most = m;
    }
    most = ones_above(most);
    if (pa && pb) return clamp(op == PR_TERM_OP_BOR ? (a.lo > b.lo ? a.lo : b.lo) : 0, most);
    return clamp(-most - 1, most);
}

static pr_interval truth(bool can_be_false, bool can_be_true)
{
    return (pr_interval){ !can_be_false, can_be_true };
}

pr_interval pr_range_step(const pr_terms *T, const node *x, const pr_interval *c, pr_interval var)
{
    switch ((pr_term_op)x->op) {
    case PR_TERM_OP_NONE: return whole;
    case PR_TERM_OP_FALSE: return truth(true, false);
    case PR_TERM_OP_TRUE: return truth(false, true);
    case PR_TERM_OP_CONST: return clamp(x->value, x->value);
    case PR_TERM_OP_VAR: return clamp(var.lo, var.hi);
    case PR_TERM_OP_APP: {
        const pr_sym_info *s = &T->syms[x->aux];
        if (s->is_bool) return truth(true, true);
        if (s->bounded) return clamp(s->lo, s->hi);
        if (s->bits < 1 || s->bits > 120) return whole;
        return clamp(pr_int_min(s->bits), pr_int_max(s->bits));
    }
    case PR_TERM_OP_SUM: return range_sum(T, x, c);
    case PR_TERM_OP_MUL: {
        pr_interval r = corners(times(c[0].lo, c[1].lo), times(c[0].lo, c[1].hi),
                                times(c[0].hi, c[1].lo), times(c[0].hi, c[1].hi));
        if (T->kids[x->first] == T->kids[x->first + 1] && r.lo < 0) r.lo = 0;
        return r;
    }
    case PR_TERM_OP_FDIV: case PR_TERM_OP_FMOD:
    case PR_TERM_OP_TDIV: case PR_TERM_OP_TREM:
        return range_division((pr_term_op)x->op, c[0], c[1]);
    case PR_TERM_OP_MIN:
        return clamp(c[0].lo < c[1].lo ? c[0].lo : c[1].lo, c[0].hi < c[1].hi ? c[0].hi : c[1].hi);
    case PR_TERM_OP_MAX:
        return clamp(c[0].lo > c[1].lo ? c[0].lo : c[1].lo, c[0].hi > c[1].hi ? c[0].hi : c[1].hi);
    case PR_TERM_OP_SELECT:
        if (c[0].lo == 1) return c[1];
        if (c[0].hi == 0) return c[2];
        return hull(c[1], c[2]);
    case PR_TERM_OP_BAND: case PR_TERM_OP_BOR: case PR_TERM_OP_BXOR:
        return range_bits((pr_term_op)x->op, c[0], c[1]);
    case PR_TERM_OP_LE0: return truth(c[0].hi > 0, c[0].lo <= 0);
    case PR_TERM_OP_EQ0:
        return truth(c[0].lo != 0 || c[0].hi != 0, c[0].lo <= 0 && c[0].hi >= 0);
    case PR_TERM_OP_NOT: return truth(c[0].hi == 1, c[0].lo == 0);
    case PR_TERM_OP_AND: return truth(c[0].lo == 0 || c[1].lo == 0, c[0].hi == 1 && c[1].hi == 1);
    case PR_TERM_OP_OR: return truth(c[0].lo == 0 && c[1].lo == 0, c[0].hi == 1 || c[1].hi == 1);
    case PR_TERM_OP_TABLE: {
        pr_interval r = pr_tab_range(T, (pr_tab){ x->aux }, c[0]);
        return clamp(r.lo, r.hi);
    }
    case PR_TERM_OP_FITS: {
        pr_i128 lo = 0, hi = 1;
        if (x->kind == PR_FITS_NONNEG) hi = PR_INF;
        if (x->kind == PR_FITS_SIGNED) {
            lo = x->aux > 120 ? -PR_INF : pr_int_min((int)x->aux);
            hi = x->aux > 120 ? PR_INF : pr_int_max((int)x->aux);
        }
        return truth(c[0].lo < lo || c[0].hi > hi, c[0].hi >= lo && c[0].lo <= hi);
    }
    }
    return whole;
}

pr_interval pr_range_own(const pr_terms *T, pr_term t) { return pr_term_none(t) ? whole : node_of(T, t)->own; }

pr_interval pr_range_op(const pr_terms *T, pr_term t, const pr_interval *child)
{
    assert(pr_term_op_of(T, t) != PR_TERM_OP_VAR);
    return pr_range_step(T, node_of(T, t), child, whole);
}

/* --- boxes --------------------------------------------------------------------------------- */

pr_box *pr_box_new(pr_terms *T)
{
    pr_box *b = PR_NEW(T->arena, pr_box);
    b->T = T;
    return b;
}

void pr_box_set(pr_box *b, pr_var v, pr_i128 lo, pr_i128 hi)
{
    pr_terms *T = b->T;
    assert(v.id && v.id < T->n_vars);
    if (v.id >= b->n_bounds) {
        uint32_t n = T->n_vars > 2 * b->n_bounds ? T->n_vars : 2 * b->n_bounds;
        pr_interval *wider = pr_arena_raw(T->arena, sizeof *wider * n);
        for (uint32_t i = 0; i < n; i++)
            wider[i] = i < b->n_bounds ? b->bounds[i] : whole;
        b->bounds = wider;
        b->n_bounds = n;
    }
    b->bounds[v.id] = clamp(lo, hi);
    b->changed = true;
    b->stamp++;
}

static pr_interval var_interval(const pr_box *b, uint32_t v)
{
    const pr_var_info *i = &b->T->vars[v];
    pr_interval r = { i->lo, i->hi };
    if (v < b->n_bounds) {
        if (b->bounds[v].lo > r.lo) r.lo = b->bounds[v].lo;
        if (b->bounds[v].hi < r.hi) r.hi = b->bounds[v].hi;
        if (r.lo > r.hi) r = b->bounds[v];       /* nothing satisfies the box */
        if (r.lo > r.hi) r.hi = r.lo;
    }
    return r;
}

/* Calls fill for every node below t (t included) that has no fact yet, children first. */
void pr_box_fill(pr_box *b, pr_term t, pr_box_memo *m, size_t size,
                 void (*fill)(pr_box *b, uint32_t id))
{
    pr_terms *T = b->T;
    if (m->cap <= t.id) {
        uint32_t cap = m->cap ? m->cap : 128;
        while (cap <= t.id) cap *= 2;
        void *facts = pr_arena_raw(T->arena, size * cap);        /* read where the stamp says so */
        uint32_t *stamp = PR_NEW_N(T->arena, uint32_t, cap);
        if (m->cap) {
            memcpy(facts, m->facts, size * m->cap);
            memcpy(stamp, m->stamp, sizeof *stamp * m->cap);
        }
        m->facts = facts;
        m->stamp = stamp;
        m->cap = cap;
    }
    uint32_t now = b->stamp + 1;
    if (m->stamp[t.id] == now) return;
    b->stack.n = 0;
    pr_vec_push(T->arena, &b->stack, t.id);
    while (b->stack.n) {
        uint32_t id = b->stack.data[b->stack.n - 1];
        const node *x = &T->nodes[id];
        bool ready = m->stamp[id] == now;
        if (!ready) {
            ready = true;
            for (uint32_t i = 0; i < x->n; i++) {
                uint32_t k = T->kids[x->first + i];
                if (m->stamp[k] == now) continue;
                pr_vec_push(T->arena, &b->stack, k);
                ready = false;
            }
            if (!ready) continue;
            fill(b, id);
            m->stamp[id] = now;
        }
        b->stack.n--;
    }
}

static void fill_interval(pr_box *b, uint32_t id)
{
    const pr_terms *T = b->T;
    const node *x = &T->nodes[id];
    pr_interval *facts = b->interval.facts;
    pr_interval few[16], *c = few;
    if (x->n > 16) c = PR_NEW_N(T->arena, pr_interval, x->n);
    for (uint32_t i = 0; i < x->n; i++) c[i] = facts[T->kids[x->first + i]];
    pr_interval var = whole;
    if (x->op == PR_TERM_OP_VAR) var = var_interval(b, x->aux);
    facts[id] = pr_range_step(T, x, c, var);
}

pr_interval pr_range(pr_box *b, pr_term t)
{
    if (pr_term_none(t)) return whole;
    if (!b->changed) return node_of(b->T, t)->own;
    pr_box_fill(b, t, &b->interval, sizeof(pr_interval), fill_interval);
    return ((pr_interval *)b->interval.facts)[t.id];
}

pr_tri pr_range_bool(pr_box *b, pr_term t)
{
    if (pr_term_none(t)) return PR_MAYBE;
    pr_interval r = pr_range(b, t);
    assert(pr_term_is_bool(b->T, t));
    if (r.lo == 1) return PR_YES;
    return r.hi == 0 ? PR_NO : PR_MAYBE;
}
