/* Terms to linear forms over columns, inside one leaf.
 *
 * A node's value is memoised per leaf. Division by a constant makes (or finds) a pair of columns
 * with x = d*q + r, 0 <= r < d; a node that needs a decision reports a choice and is tried again
 * after one alternative was taken (its row then decides the bounds that were open). What has no
 * linear form, and whatever overflows, becomes a free column within the node's interval: the leaf
 * is then only an over-approximation, and is counted as relaxed. Facts used: own intervals of
 * terms, bounds of columns, rows already in this leaf. */
#include "term/leaf.h"
#include "term/table.h"
#include <assert.h>
#include <stdlib.h>

enum { NARROW = 64, UNDO_MEMO = 0, UNDO_TRUTH, UNDO_DONE };

#define LIMIT ((pr_i128)1 << 125)     /* of coefficients; more counts as overflow */

/* --- linear forms -------------------------------------------------------------------------- */

static pr_lin lin_const(pr_i128 k) { return (pr_lin){ 0, 0, k }; }

static pr_lin lin_col(pr_builder *b, int col)
{
    pr_lin l = { b->pool.n, 1, 0 };
    pr_vec_push(b->arena, &b->pool, ((pr_lin_term){ col, 1 }));
    return l;
}

/* x*p + y*q + k; false on overflow. */
static bool lin_combine(pr_builder *b, pr_lin x, pr_i128 p, pr_lin y, pr_i128 q, pr_i128 k,
                        pr_lin *out)
{
    pr_lin r = { b->pool.n, 0, k };
    pr_i128 v, w;
    if (!pr_mul_ok(x.k, p, &v) || !pr_add_ok(r.k, v, &r.k) || !pr_mul_ok(y.k, q, &v)
        || !pr_add_ok(r.k, v, &r.k))
        return false;
    for (int i = 0, j = 0; i < x.n || j < y.n;) {
        int ci = i < x.n ? b->pool.data[x.first + i].col : INT32_MAX;
        int cj = j < y.n ? b->pool.data[y.first + j].col : INT32_MAX;
        int col = ci < cj ? ci : cj;
        v = w = 0;
        if (ci == col && !pr_mul_ok(b->pool.data[x.first + i++].c, p, &v)) return false;
        if (cj == col && !pr_mul_ok(b->pool.data[y.first + j++].c, q, &w)) return false;
        if (!pr_add_ok(v, w, &v) || v > LIMIT || v < -LIMIT) return false;
        if (v == 0) continue;
        pr_vec_push(b->arena, &b->pool, ((pr_lin_term){ col, v }));
        r.n++;
    }
    *out = r;
    return true;
}

static bool lin_scale(pr_builder *b, pr_lin x, pr_i128 p, pr_i128 k, pr_lin *out)
{
    return lin_combine(b, x, p, lin_const(0), 0, k, out);
}

static bool lin_same_form(const pr_builder *b, pr_lin x, pr_lin y)
{
    if (x.n != y.n) return false;
    for (int i = 0; i < x.n; i++) {
        const pr_lin_term *u = &b->pool.data[x.first + i], *v = &b->pool.data[y.first + i];
        if (u->col != v->col || u->c != v->c) return false;
    }
    return true;
}

/* Bounds from the columns alone. */
static pr_interval lin_box(const pr_builder *b, pr_lin x)
{
    pr_i128 lo = x.k, hi = x.k, v;
    bool open_l = false, open_h = false;
    for (int i = 0; i < x.n; i++) {
        const pr_lin_term *t = &b->pool.data[x.first + i];
        pr_interval c = b->cols.data[t->col];
        pr_i128 p = t->c > 0 ? c.lo : c.hi, q = t->c > 0 ? c.hi : c.lo;
        if (p <= -PR_INF || p >= PR_INF || !pr_mul_ok(t->c, p, &v) || !pr_add_ok(lo, v, &lo))
            open_l = true;
        if (q <= -PR_INF || q >= PR_INF || !pr_mul_ok(t->c, q, &v) || !pr_add_ok(hi, v, &hi))
            open_h = true;
        if (open_l) lo = 0;
        if (open_h) hi = 0;
    }
    pr_interval r = { open_l || lo < -PR_INF ? -PR_INF : lo, open_h || hi > PR_INF ? PR_INF : hi };
    if (r.lo > PR_INF - 1) r.lo = PR_INF - 1;
    if (r.hi < -PR_INF + 1) r.hi = -PR_INF + 1;
    return r;
}

/* Bounds from the columns and from rows of this leaf with proportional coefficients. */
static pr_interval lin_bounds(const pr_builder *b, pr_lin x)
{
    pr_interval r = lin_box(b, x);
    if (x.n == 0) return r;
    pr_i128 u0 = b->pool.data[x.first].c;
    for (int i = 0; i < b->rows.n; i++) {
        const pr_built *row = &b->rows.data[i];
        if (row->lin.n != x.n) continue;
        pr_i128 v0 = b->pool.data[row->lin.first].c, p, q;
        bool fits = true;
        for (int j = 0; j < x.n && fits; j++) {
            const pr_lin_term *u = &b->pool.data[x.first + j];
            const pr_lin_term *v = &b->pool.data[row->lin.first + j];
            fits = u->col == v->col && pr_mul_ok(u->c, v0, &p) && pr_mul_ok(v->c, u0, &q) && p == q;
        }
        if (!fits) continue;
        /* x - x.k = (u0/v0) * form, form >= -row.k (or equal). */
        pr_i128 up = u0 < 0 ? -u0 : u0, down = v0 < 0 ? -v0 : v0, t;
        bool same = (u0 > 0) == (v0 > 0);
        if (!pr_mul_ok(row->lin.k, up, &t)) continue;
        if (same || row->equality) {
            pr_i128 lo = same ? -pr_fdiv(t, down) : -pr_fdiv(-t, down);   /* ceil */
            if (pr_add_ok(lo, x.k, &lo) && lo > r.lo) r.lo = lo;
        }
        if (!same || row->equality) {
            pr_i128 hi = same ? pr_fdiv(-t, down) : pr_fdiv(t, down);
            if (pr_add_ok(hi, x.k, &hi) && hi < r.hi) r.hi = hi;
        }
    }
    return r;
}

/* --- rows and columns ---------------------------------------------------------------------- */

static void relax(pr_builder *b, uint32_t term)
{
    if (b->relaxed++ == 0) b->relaxed_term = term;
}

/* lin >= 0 or lin == 0. */
static void add_row(pr_builder *b, pr_lin x, bool equality)
{
    pr_interval r = lin_box(b, x);
    if (equality ? r.lo > 0 || r.hi < 0 : r.hi < 0) {
        b->contradiction = true;
        return;
    }
    if (equality ? r.lo == 0 && r.hi == 0 : r.lo >= 0) return;
    pr_i128 g = 0;
    for (int i = 0; i < x.n && g != 1; i++) g = pr_gcd(g, b->pool.data[x.first + i].c);
    if (g > 1) {
        if (equality && x.k % g != 0) {
            b->contradiction = true;
            return;
        }
        pr_lin y = { b->pool.n, x.n, pr_fdiv(x.k, g) };
        for (int i = 0; i < x.n; i++) {
            pr_lin_term t = b->pool.data[x.first + i];
            t.c /= g;
            pr_vec_push(b->arena, &b->pool, t);
        }
        x = y;
    }
    pr_vec_push(b->arena, &b->rows, ((pr_built){ x, equality }));
}

/* scale*x + k as a row; dropped (and the leaf relaxed) on overflow. */
static void row_or_relax(pr_builder *b, pr_lin x, pr_i128 scale, pr_i128 k, bool equality)
{
    pr_lin y;
    if (lin_scale(b, x, scale, k, &y)) add_row(b, y, equality);
    else relax(b, 0);
}

static int new_col(pr_builder *b, pr_i128 lo, pr_i128 hi)
{
    pr_vec_push(b->arena, &b->cols, ((pr_interval){ lo, hi }));
    return b->cols.n - 1;
}

static void set_memo(pr_builder *b, uint32_t id, pr_lin x)
{
    int local = pr_local(b, id);
    pr_vec_push(b->arena, &b->lins, x);
    pr_vec_push(b->arena, &b->trail, ((pr_undo){ UNDO_MEMO, (uint32_t)local, b->memo[local] }));
    b->memo[local] = b->lins.n - 1;
}

static void set_free(pr_builder *b, uint32_t id, pr_interval within)
{
    relax(b, id);
    set_memo(b, id, lin_col(b, new_col(b, within.lo, within.hi)));
}

void pr_lower_undo(pr_builder *b, int trail)
{
    while (b->trail.n > trail) {
        pr_undo u = b->trail.data[--b->trail.n];
        if (u.kind == UNDO_MEMO) b->memo[u.at] = u.old;
        else if (u.kind == UNDO_TRUTH) b->truth[u.at] = (uint8_t)u.old;
        else b->items.data[u.at].done = false;
    }
}

static pr_interval meet(pr_interval a, pr_interval c)
{
    return (pr_interval){ a.lo > c.lo ? a.lo : c.lo, a.hi < c.hi ? a.hi : c.hi };
}

/* --- division ------------------------------------------------------------------------------ */

/* Quotient and remainder forms of x by d > 1 (floor); false on overflow, or when too much was looked at. */
static bool floor_pair(pr_builder *b, pr_lin x, pr_i128 d, pr_lin *quotient, pr_lin *remainder)
{
    b->work += 1 + (b->rows.n + b->pairs.n) / 4;
    if (b->work > b->most_work) return false;
    /* x = d*whole + rest: the coefficients that d divides (as in D3), the constant by floor. */
    pr_lin whole = { b->pool.n, 0, pr_fdiv(x.k, d) };
    for (int i = 0; i < x.n; i++) {
        pr_lin_term t = b->pool.data[x.first + i];
        if (t.c % d != 0) continue;
        t.c /= d;
        pr_vec_push(b->arena, &b->pool, t);
        whole.n++;
    }
    pr_lin rest;
    if (!lin_combine(b, x, 1, whole, -d, 0, &rest)) return false;
    pr_interval r = lin_bounds(b, rest);
    bool closed = r.lo > -PR_INF && r.hi < PR_INF;
    if (closed && pr_fdiv(r.lo, d) == pr_fdiv(r.hi, d)) {
        pr_i128 q = pr_fdiv(r.lo, d), back;
        return pr_mul_ok(q, -d, &back) && lin_scale(b, whole, 1, q, quotient)
            && lin_scale(b, rest, 1, back, remainder);
    }
    int q = -1, m = -1;
    for (int i = 0; i < b->pairs.n && q < 0; i++) {
        const pr_pair *p = &b->pairs.data[i];
        if (p->d != d || p->x.k != rest.k || !lin_same_form(b, p->x, rest)) continue;
        q = p->q;
        m = p->r;
    }
    if (q < 0) {
        q = new_col(b, r.lo <= -PR_INF ? -PR_INF : pr_fdiv(r.lo, d),
                    r.hi >= PR_INF ? PR_INF : pr_fdiv(r.hi, d));
        m = new_col(b, 0, d - 1);
        pr_lin row, both = { b->pool.n, 2, 0 };
        pr_vec_push(b->arena, &b->pool, ((pr_lin_term){ q, d }));
        pr_vec_push(b->arena, &b->pool, ((pr_lin_term){ m, 1 }));
        if (!lin_combine(b, rest, 1, both, -1, 0, &row)) return false;
        add_row(b, row, true);
        pr_vec_push(b->arena, &b->pairs, ((pr_pair){ rest, d, q, m }));
    }
    pr_lin col = lin_col(b, q);
    *remainder = lin_col(b, m);
    return lin_combine(b, whole, 1, col, 1, 0, quotient);
}

/* Value of a division node with dividend x and constant divisor d. Answers: 1 done, 0 a choice is
 * needed, -1 overflow. */
static int divide_const(pr_builder *b, pr_term_op op, pr_lin x, pr_i128 d, pr_lin *out,
                        pr_choice *c)
{
    bool floor = op == PR_TERM_OP_FDIV || op == PR_TERM_OP_FMOD;
    bool quotient = op == PR_TERM_OP_FDIV || op == PR_TERM_OP_TDIV;
    pr_lin q, r, y = x;
    if (d == 0) {
        *out = quotient ? lin_const(0) : x;
        return 1;
    }
    if (d == PR_I128_MIN) return -1;
    pr_i128 e = d < 0 ? -d : d;
    /* The value is sign * (y op e), by the identities of term.h. */
    int flip = 1;
    if (floor && d < 0) {
        if (!lin_scale(b, x, -1, 0, &y)) return -1;
        flip = quotient ? 1 : -1;
    }
    if (!floor) {
        if (d < 0 && quotient) flip = -1;
        pr_interval s = lin_bounds(b, x);
        if (s.lo < 0 && s.hi > 0) {
            *c = (pr_choice){ .kind = PR_CHOICE_SIGN, .n = 2 };
            return lin_scale(b, x, 1, 1, &c->lin) ? 0 : -1;     /* x + 1 <= 0 or x + 1 >= 1 */
        }
        if (s.lo < 0) {
            if (!lin_scale(b, x, -1, 0, &y)) return -1;
            flip = -flip;
        }
    }
    if (e == 1) {
        q = y;
        r = lin_const(0);
    } else if (!floor_pair(b, y, e, &q, &r)) {
        return -1;
    }
    return lin_scale(b, quotient ? q : r, flip, 0, out) ? 1 : -1;
}

/* --- bits ---------------------------------------------------------------------------------- */

/* x band c for c >= 0: sum over runs of ones of 2^lo * ((x fdiv 2^lo) fmod 2^(hi-lo)). */
static bool mask_runs(pr_builder *b, pr_lin x, pr_i128 c, pr_lin *out)
{
    *out = lin_const(0);
    int runs = 0;
    for (int lo = 0; lo < 100 && c >> lo != 0;) {
        if (!((c >> lo) & 1)) {
            lo++;
            continue;
        }
        int hi = lo;
        while ((c >> hi) & 1) hi++;
        pr_lin high = x, junk, part;
        if (++runs > PR_MASK_RUNS) return false;
        if (lo > 0 && !floor_pair(b, x, (pr_i128)1 << lo, &high, &junk)) return false;
        if (!floor_pair(b, high, (pr_i128)1 << (hi - lo), &junk, &part)) return false;
        if (!lin_combine(b, *out, 1, part, (pr_i128)1 << lo, 0, out)) return false;
        lo = hi;
    }
    return true;
}

static bool bits_const(pr_builder *b, pr_term_op op, pr_lin x, pr_i128 c, pr_lin *out)
{
    pr_lin m;
    if (c >= PR_MASK_LIMIT || c < -PR_MASK_LIMIT || !mask_runs(b, x, c < 0 ? ~c : c, &m)) return false;
    if (c < 0 && !lin_combine(b, x, 1, m, -1, 0, &m)) return false;
    if (op == PR_TERM_OP_BAND) {
        *out = m;
        return true;
    }
    return lin_combine(b, x, 1, m, op == PR_TERM_OP_BOR ? -1 : -2, c, out);
}

/* --- tables -------------------------------------------------------------------------------- */

/* Runs of a table that an index in [lo, hi] can meet, what lies outside it counted as runs of one value.
 * Returns their number (0: too many runs); the one numbered want goes to *out. */
static int table_runs(const pr_terms *T, pr_tab tab, pr_i128 lo, pr_i128 hi, int want, pr_tab_piece *out,
                      bool *below, bool *above)
{
    int n, met = 0;
    const pr_tab_piece *p = pr_tab_pieces(T, tab, &n);
    const pr_tab_info *x = pr_tab_get(T, tab);
    *below = *above = false;
    if (!n) return 0;
    if (lo < 0 && met++ == want) {
        *out = (pr_tab_piece){ 0, 0, 0, x->values[0] };
        *below = true;
    }
    for (int i = 0; i < n; i++)
        if (p[i].first <= hi && p[i].last >= lo && met++ == want) *out = p[i];
    if (hi >= x->n && met++ == want) {
        *out = (pr_tab_piece){ x->n - 1, x->n - 1, 0, x->values[x->n - 1] };
        *above = true;
    }
    return met;
}

/* --- integer nodes ------------------------------------------------------------------------- */

static bool memo_of(const pr_builder *b, uint32_t id, pr_lin *out)
{
    int at = b->memo[pr_local(b, id)];
    if (at < 0) return false;
    *out = b->lins.data[at];
    return true;
}

enum { TRUTH_OPEN, ASSERTED_TRUE, ASSERTED_FALSE, IMPLIED_TRUE, IMPLIED_FALSE };

static pr_tri truth_word(uint8_t t)
{
    return t == ASSERTED_TRUE || t == IMPLIED_TRUE ? PR_YES : PR_NO;
}

/* Range of an integer term that has no value here yet, from those of its operands; nothing is added to the leaf. */
static pr_interval range_of(const pr_builder *b, uint32_t id)
{
    const node *x = &b->T->nodes[id];
    pr_lin v;
    if (memo_of(b, id, &v)) return lin_bounds(b, v);
    if (x->op == PR_TERM_OP_VAR && x->aux < b->T->n_vars && b->var_col[x->aux] >= 0) return b->cols.data[b->var_col[x->aux]];
    if (x->op != PR_TERM_OP_SUM) return x->own;
    pr_i128 lo = x->value, hi = x->value, p, q;
    bool low = true, high = true;
    for (uint32_t i = 0; i < x->n && (low || high); i++) {
        uint32_t k = b->T->kids[x->first + i];
        pr_interval r = memo_of(b, k, &v) ? lin_box(b, v) : b->T->nodes[k].op == PR_TERM_OP_SUM ? b->T->nodes[k].own : range_of(b, k);
        pr_i128 c = b->T->coefs[x->coef + i], from = c > 0 ? r.lo : r.hi, to = c > 0 ? r.hi : r.lo;
        low = low && from > -PR_INF && from < PR_INF && pr_mul_ok(c, from, &p) && pr_add_ok(lo, p, &lo);
        high = high && to > -PR_INF && to < PR_INF && pr_mul_ok(c, to, &q) && pr_add_ok(hi, q, &hi);
    }
    pr_interval r = x->own;
    if (low && lo > r.lo && lo < PR_INF) r.lo = lo;
    if (high && hi < r.hi && hi > -PR_INF) r.hi = hi;
    return r;
}

static pr_tri truth_of(const pr_builder *b, uint32_t id)
{
    uint8_t t = b->truth[pr_local(b, id)];
    if (t) return truth_word(t);
    pr_interval own = b->T->nodes[id].own;
    if (own.lo == 1) return PR_YES;
    if (own.hi == 0) return PR_NO;
    const node *x = &b->T->nodes[id];
    if (x->op == PR_TERM_OP_NOT) {
        t = b->truth[pr_local(b, b->T->kids[x->first])];
        if (t) return truth_word(t) == PR_YES ? PR_NO : PR_YES;
    }
    if (x->op == PR_TERM_OP_LE0 || x->op == PR_TERM_OP_EQ0) {
        pr_interval r = range_of(b, b->T->kids[x->first]);
        if (x->op == PR_TERM_OP_LE0) return r.hi <= 0 ? PR_YES : r.lo > 0 ? PR_NO : PR_MAYBE;
        return r.lo > 0 || r.hi < 0 ? PR_NO : r.lo == 0 && r.hi == 0 ? PR_YES : PR_MAYBE;
    }
    return PR_MAYBE;
}

/* The values a node can take when they are few: *lo..*hi, and whether <= -1 remains besides. */
static bool few_values(const pr_builder *b, uint32_t id, pr_lin x, bool divisor, pr_choice *c)
{
    pr_interval r = meet(lin_bounds(b, x), b->T->nodes[id].own);
    c->kind = PR_CHOICE_VALUE;
    c->term = id;
    c->rest = false;
    c->lo = r.lo;
    c->hi = r.hi;
    if (r.lo > -PR_INF && r.hi < PR_INF && r.hi - r.lo < NARROW + divisor) {
        c->n = r.hi < r.lo ? 1 : r.hi - r.lo + 1;
        return true;
    }
    if (!divisor || r.hi < 1 || r.hi > NARROW || r.lo > -1) return false;
    c->lo = 0;
    c->rest = true;
    c->n = r.hi + 2;
    return true;
}

/* A value that all products share is split once; else the one with fewer values. */
static bool better_split(const pr_terms *T, uint32_t id, const pr_choice *c, uint32_t other, const pr_choice *d)
{
    bool once = T->nodes[id].shared, other_once = T->nodes[other].shared;
    return once != other_once ? once : c->n < d->n;
}

/* One integer node whose children have values. True when its memo is set. */
static bool value_step(pr_builder *b, uint32_t id, pr_choice *c)
{
    pr_terms *T = b->T;
    const node *x = &T->nodes[id];
    const uint32_t *k = T->kids + x->first;
    pr_lin u = { 0 }, v = { 0 }, r = { 0 };
    bool ok = true;
    if (x->n >= 1 && x->op != PR_TERM_OP_SELECT) memo_of(b, k[0], &u);
    if (x->n >= 2 && x->op != PR_TERM_OP_SELECT) memo_of(b, k[1], &v);
    switch ((pr_term_op)x->op) {
    case PR_TERM_OP_CONST: r = lin_const(x->value); break;
    case PR_TERM_OP_VAR: {
        int col = x->aux < T->n_vars ? b->var_col[x->aux] : -1;
        ok = col >= 0;                       /* a variable outside the query's list is free */
        if (ok) r = lin_col(b, col);
        break;
    }
    case PR_TERM_OP_SUM:
        r = lin_const(x->value);
        for (uint32_t i = 0; i < x->n && ok; i++) {
            memo_of(b, k[i], &u);
            ok = lin_combine(b, r, 1, u, T->coefs[x->coef + i], 0, &r);
        }
        break;
    case PR_TERM_OP_MUL: {
        if (u.n == 0 || v.n == 0) {
            ok = u.n == 0 ? lin_scale(b, v, u.k, 0, &r) : lin_scale(b, u, v.k, 0, &r);
            break;
        }
        pr_choice other;
        bool a = few_values(b, k[0], u, false, c), d = few_values(b, k[1], v, false, &other);
        if (d && (!a || better_split(T, k[1], &other, k[0], c))) *c = other;
        if (a || d) return false;
        ok = false;
        break;
    }
    case PR_TERM_OP_FDIV: case PR_TERM_OP_FMOD: case PR_TERM_OP_TDIV: case PR_TERM_OP_TREM: {
        if (v.n > 0) {
            if (few_values(b, k[1], v, true, c)) return false;
            ok = false;
            break;
        }
        int done = divide_const(b, (pr_term_op)x->op, u, v.k, &r, c);
        if (done == 0) return false;
        ok = done > 0;
        break;
    }
    case PR_TERM_OP_MIN: case PR_TERM_OP_MAX: {
        pr_lin d;
        ok = lin_combine(b, u, 1, v, -1, 0, &d);
        if (!ok) break;
        pr_interval s = lin_bounds(b, d);
        if (s.lo <= 0 && s.hi > 0 && !(s.lo == 0)) {
            *c = (pr_choice){ .kind = PR_CHOICE_SIGN, .lin = d, .n = 2 };
            return false;
        }
        bool first = s.hi <= 0;              /* u <= v */
        r = first == (x->op == PR_TERM_OP_MIN) ? u : v;
        break;
    }
    case PR_TERM_OP_BAND: case PR_TERM_OP_BOR: case PR_TERM_OP_BXOR: {
        if (u.n == 0 || v.n == 0) {
            ok = u.n == 0 ? bits_const(b, (pr_term_op)x->op, v, u.k, &r)
                          : bits_const(b, (pr_term_op)x->op, u, v.k, &r);
            break;
        }
        pr_choice other;
        bool a = few_values(b, k[0], u, false, c), d = few_values(b, k[1], v, false, &other);
        if (d && (!a || other.n < c->n)) *c = other;
        if (a || d) return false;
        ok = false;
        break;
    }
    case PR_TERM_OP_TABLE: {
        pr_tab tab = { x->aux };
        pr_interval at = meet(lin_bounds(b, u), T->nodes[k[0]].own), few = pr_tab_range(T, tab, at);
        pr_tab_piece p = { 0 };
        bool below, above, values = pr_tab_get(T, tab)->values != NULL;
        if (values && few.lo == few.hi) {
            r = lin_const(few.lo);
            break;
        }
        int n = values ? table_runs(T, tab, at.lo, at.hi, 0, &p, &below, &above) : 0;
        if (n == 1) {
            ok = lin_scale(b, u, p.a, p.b, &r);
            break;
        }
        if (n > 1) {
            *c = (pr_choice){ .kind = PR_CHOICE_PIECE, .lin = u, .term = id, .lo = at.lo, .hi = at.hi, .n = n };
            return false;
        }
        if (values && few_values(b, k[0], u, false, c)) return false;
        set_free(b, id, meet(few, x->own));
        return true;
    }
    case PR_TERM_OP_APP: case PR_TERM_OP_NONE: case PR_TERM_OP_SELECT:
    case PR_TERM_OP_FALSE: case PR_TERM_OP_TRUE: case PR_TERM_OP_LE0: case PR_TERM_OP_EQ0:
    case PR_TERM_OP_NOT: case PR_TERM_OP_AND: case PR_TERM_OP_OR: case PR_TERM_OP_FITS:
        ok = false;
        break;
    }
    if (ok) set_memo(b, id, r);
    else set_free(b, id, x->own);
    return true;
}

/* Value of an integer term; false with *c when a choice comes first. */
static bool value_of(pr_builder *b, uint32_t root, pr_lin *out, pr_choice *c)
{
    pr_terms *T = b->T;
    b->stack.n = 0;
    pr_vec_push(b->arena, &b->stack, root);
    while (b->stack.n) {
        b->work++;
        uint32_t id = b->stack.data[b->stack.n - 1];
        const node *x = &T->nodes[id];
        if (b->memo[pr_local(b, id)] >= 0) {
            b->stack.n--;
            continue;
        }
        if (x->op == PR_TERM_OP_SELECT) {
            uint32_t cond = T->kids[x->first];
            pr_tri t = truth_of(b, cond);
            if (t == PR_MAYBE) {
                *c = (pr_choice){ .kind = PR_CHOICE_TRUTH, .term = cond, .n = 2 };
                return false;
            }
            uint32_t arm = T->kids[x->first + (t == PR_YES ? 1 : 2)];
            pr_lin v;
            if (memo_of(b, arm, &v)) set_memo(b, id, v);
            else pr_vec_push(b->arena, &b->stack, arm);
            continue;
        }
        int before = b->stack.n;
        if (x->op != PR_TERM_OP_APP) {
            for (uint32_t i = 0; i < x->n; i++) {
                uint32_t child = T->kids[x->first + i];
                if (b->memo[pr_local(b, child)] < 0) pr_vec_push(b->arena, &b->stack, child);
            }
        }
        if (b->stack.n == before && !value_step(b, id, c)) return false;
    }
    memo_of(b, root, out);
    return true;
}

/* --- Boolean items ------------------------------------------------------------------------- */

static void mark_truth(pr_builder *b, uint32_t id, uint8_t truth)
{
    int local = pr_local(b, id);
    pr_vec_push(b->arena, &b->trail, ((pr_undo){ UNDO_TRUTH, (uint32_t)local, b->truth[local] }));
    b->truth[local] = truth;
}

/* Notes that a term has a truth value; false when it is asserted already (or contradicts). The
 * negation's value follows, but is not an assertion of its own: somebody may still have to assert
 * it. */
static bool set_truth(pr_builder *b, uint32_t id, bool positive)
{
    uint8_t old = b->truth[pr_local(b, id)], want = positive ? ASSERTED_TRUE : ASSERTED_FALSE;
    if (old == want) return false;
    if (old && truth_word(old) != (positive ? PR_YES : PR_NO)) {
        b->contradiction = true;
        return false;
    }
    mark_truth(b, id, want);
    uint32_t other = b->T->nodes[id].negation;
    if (other && other / 64 < b->n_words && (b->reach[other / 64] >> (other % 64) & 1)
        && !b->truth[pr_local(b, other)])
        mark_truth(b, other, positive ? IMPLIED_FALSE : IMPLIED_TRUE);
    return true;
}

void pr_lower_push(pr_builder *b, uint32_t term, bool positive)
{
    if (set_truth(b, term, positive))
        pr_vec_push(b->arena, &b->items, ((pr_item){ term, positive, false }));
}

/* lo <= child <= hi, or its negation. */
static bool fits_item(pr_builder *b, const node *x, bool positive, pr_lin v, pr_choice *c)
{
    pr_i128 lo = 0, hi = x->kind == PR_FITS_NONNEG ? PR_INF : 1;
    if (x->kind == PR_FITS_SIGNED) {
        lo = x->aux > 120 ? -PR_INF : pr_int_min((int)x->aux);
        hi = x->aux > 120 ? PR_INF : pr_int_max((int)x->aux);
    }
    pr_lin above, below;                       /* v - lo >= 0, hi - v >= 0 */
    bool ok = lin_scale(b, v, 1, -lo, &above) && lin_scale(b, v, -1, hi, &below);
    if (!ok) {
        relax(b, (uint32_t)(x - b->T->nodes));
        return true;
    }
    if (positive) {
        if (lo > -PR_INF) add_row(b, above, false);
        if (hi < PR_INF) add_row(b, below, false);
        return true;
    }
    pr_interval r = lin_bounds(b, v);
    bool can_low = lo > -PR_INF && r.lo < lo, can_high = hi < PR_INF && r.hi > hi;
    if (can_low && can_high && r.hi >= lo) {
        *c = (pr_choice){ .kind = PR_CHOICE_SIGN, .lin = below, .n = 2 };
        return false; /* hi - v <= 0 (then v = hi is excluded below) or v < hi */
    }
    if (can_low && !can_high) {
        row_or_relax(b, v, -1, lo - 1, false); /* v <= lo - 1 */
    } else if (can_high && !can_low) {
        row_or_relax(b, v, 1, -hi - 1, false); /* v >= hi + 1 */
    } else if (!can_low && !can_high) {
        b->contradiction = true;
    }
    return true;
}

/* A linear form without any choice: of variables, and of what has a value here. */
static bool is_linear(const pr_builder *b, uint32_t id)
{
    const node *x = &b->T->nodes[id];
    pr_lin v;
    if (memo_of(b, id, &v)) return true;
    if (x->op == PR_TERM_OP_VAR) return x->aux < b->T->n_vars && b->var_col[x->aux] >= 0;
    bool all = x->op == PR_TERM_OP_SUM;
    for (uint32_t i = 0; i < x->n && all; i++) {
        uint32_t k = b->T->kids[x->first + i];
        all = b->T->nodes[k].op != PR_TERM_OP_SUM && is_linear(b, k);
    }
    return all;
}

/* Is the term with this truth value a conjunction of rows, without any choice? */
static bool is_rows(const pr_builder *b, uint32_t id, bool positive, int depth)
{
    const node *x = &b->T->nodes[id];
    const uint32_t *k = b->T->kids + x->first;
    switch ((pr_term_op)x->op) {
    case PR_TERM_OP_LE0: return is_linear(b, k[0]);
    case PR_TERM_OP_EQ0: return positive && is_linear(b, k[0]);
    case PR_TERM_OP_NOT: return depth > 0 && is_rows(b, k[0], !positive, depth - 1);
    case PR_TERM_OP_AND: case PR_TERM_OP_OR:
        return depth > 0 && positive == (x->op == PR_TERM_OP_AND) && is_rows(b, k[0], positive, depth - 1) &&
               is_rows(b, k[1], positive, depth - 1);
    default: return false;
    }
}

static bool junction_item(pr_builder *b, const node *x, uint32_t id, bool positive, pr_choice *c)
{
    uint32_t p = b->T->kids[x->first], q = b->T->kids[x->first + 1];
    if (positive == (x->op == PR_TERM_OP_AND)) {
        pr_lower_push(b, p, positive);
        if (!b->contradiction) pr_lower_push(b, q, positive);
        return true;
    }
    /* One of the children must have the polarity. */
    pr_tri want = positive ? PR_YES : PR_NO, tp = truth_of(b, p), tq = truth_of(b, q);
    if (tp == want || tq == want) return true;
    if (tp != PR_MAYBE && tq != PR_MAYBE) {
        b->contradiction = true;
        return true;
    }
    if (tp != PR_MAYBE || tq != PR_MAYBE) {
        pr_lower_push(b, tp != PR_MAYBE ? q : p, positive);
        return true;
    }
    enum { DEEP = 6 };
    bool second = !is_rows(b, p, !positive, DEEP) && is_rows(b, q, !positive, DEEP);
    *c = (pr_choice){ .kind = PR_CHOICE_EITHER, .term = id, .positive = positive, .lo = second, .n = 2,
                      .rest = second || is_rows(b, p, !positive, DEEP) };
    return false;
}

static bool item_rows(pr_builder *b, pr_item it, pr_choice *c)
{
    const node *x = &b->T->nodes[it.term];
    uint32_t child = x->n ? b->T->kids[x->first] : 0;
    pr_lin v;
    switch ((pr_term_op)x->op) {
    case PR_TERM_OP_FALSE: case PR_TERM_OP_TRUE:
        if ((x->op == PR_TERM_OP_TRUE) != it.positive) b->contradiction = true;
        return true;
    case PR_TERM_OP_LE0:
        if (!value_of(b, child, &v, c)) return false;
        row_or_relax(b, v, it.positive ? -1 : 1, it.positive ? 0 : -1, false);
        return true;
    case PR_TERM_OP_EQ0: {
        if (!value_of(b, child, &v, c)) return false;
        if (it.positive) {
            add_row(b, v, true);
            return true;
        }
        pr_interval r = lin_bounds(b, v);
        if (r.lo > 0 || r.hi < 0) return true;
        if (r.lo < 0 && r.hi > 0) {
            *c = (pr_choice){ .kind = PR_CHOICE_NE, .lin = v, .n = 2 };
            return false;
        }
        if (r.lo == 0 && r.hi == 0) b->contradiction = true;
        else row_or_relax(b, v, r.lo >= 0 ? 1 : -1, -1, false);
        return true;
    }
    case PR_TERM_OP_NOT: pr_lower_push(b, child, !it.positive); return true;
    case PR_TERM_OP_AND: case PR_TERM_OP_OR: return junction_item(b, x, it.term, it.positive, c);
    case PR_TERM_OP_FITS:
        if (!value_of(b, child, &v, c)) return false;
        return fits_item(b, x, it.positive, v, c);
    case PR_TERM_OP_NONE: case PR_TERM_OP_APP: case PR_TERM_OP_CONST: case PR_TERM_OP_VAR:
    case PR_TERM_OP_SUM: case PR_TERM_OP_MUL: case PR_TERM_OP_FDIV: case PR_TERM_OP_FMOD:
    case PR_TERM_OP_TDIV: case PR_TERM_OP_TREM: case PR_TERM_OP_MIN: case PR_TERM_OP_MAX:
    case PR_TERM_OP_SELECT: case PR_TERM_OP_BAND: case PR_TERM_OP_BOR: case PR_TERM_OP_BXOR:
    case PR_TERM_OP_TABLE:
        relax(b, it.term);
        return true;
    }
    return true;
}

bool pr_lower_item(pr_builder *b, int item, pr_choice *c)
{
    if (!item_rows(b, b->items.data[item], c)) return false;
    b->items.data[item].done = true;
    pr_vec_push(b->arena, &b->trail, ((pr_undo){ UNDO_DONE, (uint32_t)item, 0 }));
    return true;
}

/* --- alternatives -------------------------------------------------------------------------- */

void pr_lower_take(pr_builder *b, const pr_choice *c, pr_i128 at)
{
    pr_lin v = { 0 };
    switch (c->kind) {
    case PR_CHOICE_NONE: case PR_CHOICE_DISTINCT: return;
    case PR_CHOICE_SIGN: row_or_relax(b, c->lin, at == 0 ? -1 : 1, at == 0 ? 0 : -1, false); return;
    case PR_CHOICE_NE: row_or_relax(b, c->lin, at == 0 ? -1 : 1, -1, false); return;
    case PR_CHOICE_VALUE:
        if (!memo_of(b, c->term, &v)) assert(!"the node of a value choice has a value");
        if (c->rest && at == c->n - 1) {
            row_or_relax(b, v, -1, -1, false);         /* v <= -1 */
            return;
        }
        row_or_relax(b, v, 1, -(c->lo + at), true);
        set_memo(b, c->term, lin_const(c->lo + at));
        return;
    case PR_CHOICE_PIECE: {
        pr_tab_piece p = { 0 };
        bool below, above;
        pr_tab tab = { b->T->nodes[c->term].aux };
        table_runs(b->T, tab, c->lo, c->hi, (int)at, &p, &below, &above);
        if (!below) row_or_relax(b, c->lin, 1, -(pr_i128)p.first - (above ? 1 : 0), false);
        if (!above) row_or_relax(b, c->lin, -1, (pr_i128)p.last - (below ? 1 : 0), false);
        if (lin_scale(b, c->lin, p.a, p.b, &v)) set_memo(b, c->term, v);
        else set_free(b, c->term, b->T->nodes[c->term].own);
        return;
    }
    case PR_CHOICE_TRUTH: pr_lower_push(b, c->term, at == 0); return;
    case PR_CHOICE_EITHER: {
        uint32_t first = b->T->kids[b->T->nodes[c->term].first + (c->lo ? 1 : 0)];
        uint32_t other = b->T->kids[b->T->nodes[c->term].first + (c->lo ? 0 : 1)];
        pr_lower_push(b, at == 0 ? first : other, c->positive);
        /* what both children allow was looked at before */
        if (at == 1 && c->rest && !b->contradiction) pr_lower_push(b, first, !c->positive);
        return;
    }
    }
}
