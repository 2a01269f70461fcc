/* Equality closure: which terms have equal values in both copies in every solution? The main prover.
 *
 * Start: the difference of the addresses lies within the widths, epochs that must be equal are equal. A form
 * is a sum of such differences with bounds. Rules (decision-engine.md 3.4), applied until nothing changes:
 *  C  an operation on terms with known equal values has equal values
 *  L  one pair left in a form: its difference is the multiple that fits, if there is only one
 *  S  H + R: the range of R leaves one multiple of the gcd of H; R keeps the bounds
 *  P  s*H + R with s >= 1 one value in both copies: the same with gcd * s, by numbers or by rows (stride.c)
 *  X  t*x + c*(x mod d) = t*d*(x div d) + (t + c)*(x mod d), division of one kind
 *  D  quotient and remainder of one kind (or x >= 0, d >= 1) by an equal divisor: x is equal
 *  A  x = d*(x div d) + x mod d, and so on down to its digits, shortened by forms of two digits
 *  T, G, J  entries of tables (table.c)
 *  E  one number is left in each copy: their difference
 * Then empty.c decides what that means for the query. */
#include "pre/space.h"
#include "pre/table.h"
#include <stdio.h>

enum { ROUNDS = 16, ASSUMED = 12 /* conditions on parameters of one query */ };

typedef struct closure {
    pr_space space;
    pr_arena *scratch;
    int n;
    pr_form form[PR_PRE_FORMS];
    bool looked[PR_PRE_FORMS]; /* splits were tried since the form last changed */
    int split_at[PR_PRE_FORMS]; /* the ranges (space.narrowed) that the splits by numbers saw, -1: none yet */
    bool changed, contradiction;
} closure;

static pr_i128 ceil_div(pr_i128 a, pr_i128 b) { return -pr_fdiv(-a, b); }

static bool same_form(const pr_form *a, const pr_form *b)
{
    if (a->n != b->n || a->k != b->k || a->lo != b->lo || a->hi != b->hi) return false;
    for (int i = 0; i < a->n; i++) {
        int j = 0;
        while (j < b->n && b->at[j].node != a->at[i].node) j++;
        if (j == b->n || b->at[j].a != a->at[i].a || b->at[j].b != a->at[i].b) return false;
    }
    return true;
}

static void add_form(closure *x, pr_form *f)
{
    if (!pr_space_reduce(&x->space, f)) return;
    if (f->n == 0) {
        if (f->k < f->lo || f->k > f->hi) x->contradiction = true;
        return;
    }
    for (int i = 0; i < x->n; i++)
        if (same_form(&x->form[i], f)) return;
    if (x->n == PR_PRE_FORMS) return;
    pr_trace_form(&x->space, f);
    pr_form_copy(&x->form[x->n], f);
    x->split_at[x->n] = -1;
    x->looked[x->n++] = false;
    x->changed = true;
}

static void learn(closure *x, int node, pr_i128 delta)
{
    pr_space_node *v = &x->space.node[node];
    if (v->known) {
        if (v->delta != delta) x->contradiction = true;
        return;
    }
    v->known = true;
    v->delta = delta;
    x->changed = true;
    pr_trace_delta(&x->space, node);
    if (v->op != PR_TERM_OP_SUM) return;
    pr_form f;
    f.n = 0;
    f.k = 0;
    f.lo = f.hi = delta;
    if (pr_space_pairs(&x->space, node, 1, &f)) add_form(x, &f);
}

/* --- S and L ------------------------------------------------------------------------------------- */

static void part_of(const pr_form *f, const bool *which, bool wanted, pr_form *out)
{
    out->n = 0;
    out->k = wanted ? 0 : f->k;
    for (int i = 0; i < f->n; i++)
        if (which[i] == wanted) out->at[out->n++] = f->at[i];
}

static pr_i128 size(pr_i128 v) { return v < 0 ? -v : v; }

/* H = which (pairs only), R = the rest with the constant. */
static bool split(closure *x, const pr_form *f, const bool *which)
{
    pr_i128 g = 0;
    bool rest[PR_PRE_ATOMS];
    for (int i = 0; i < f->n; i++) {
        rest[i] = !which[i];
        if (!which[i]) continue;
        if (PR_PRE_DROPS(PR_DROP_GCD)) g = size(f->at[i].a) > g ? size(f->at[i].a) : g;
        else g = pr_gcd(g, f->at[i].a);
    }
    for (int rows = 0; rows < 2; rows++) {
        pr_interval r = pr_space_range(&x->space, f, rest, rows);
        if (pr_is_inf(r.lo) || pr_is_inf(r.hi)) continue;
        pr_i128 from = ceil_div(f->lo - r.hi, g), to = pr_fdiv(f->hi - r.lo, g), m;
        if (from > to) {
            x->contradiction = true;
            return true;
        }
        if (from != to || !pr_mul_ok(from, g, &m)) continue;
        pr_form h, low;
        part_of(f, which, true, &h);
        part_of(f, which, false, &low);
        h.lo = h.hi = m;
        low.lo = f->lo - m;
        low.hi = f->hi - m;
        if (PR_PRE_DROPS(PR_DROP_SLACK)) low.lo = low.hi = 0;
        add_form(x, &h);
        add_form(x, &low);
        return true;
    }
    return false;
}


static void splits(closure *x, const pr_form *f)
{
    int order[PR_PRE_ATOMS], pairs = 0;
    bool which[PR_PRE_ATOMS] = { false };
    for (int i = 0; i < f->n; i++) {
        if (f->at[i].a != f->at[i].b || pr_is_inf(f->at[i].a)) continue;
        int j = pairs++;
        for (; j > 0 && size(f->at[order[j - 1]].a) < size(f->at[i].a); j--)
            order[j] = order[j - 1];
        order[j] = i;
    }
    for (int i = 0; i < pairs && !x->contradiction; i++) { /* the i+1 largest coefficients */
        which[order[i]] = true;
        if (f->n > 1) split(x, f, which);
    }
    for (int i = 1; i < pairs && !x->contradiction; i++) { /* all multiples of one of them */
        pr_i128 c = f->at[order[i]].a;
        bool other = false;
        for (int j = 0; j < f->n; j++) which[j] = false;
        for (int j = 0; j < pairs; j++) {
            which[order[j]] = f->at[order[j]].a % c == 0;
            if (which[order[j]] != (j <= i)) other = true;
        }
        if (other) split(x, f, which);
    }
}

/* --- P --------------------------------------------------------------------------------------------- */

static bool is_factor(const pr_space *s, int node, int factor)
{
    return node == factor || (PR_PRE_DROPS(PR_DROP_EXTENT) && s->node[node].shared && s->node[node].op == PR_TERM_OP_VAR);
}

/* Is sup(parts in copy c) + constant <= g*s? Both inequalities together show s >= 1: their sum is
 * 2*g*s >= 2 + (two ranges and the slack, none of them negative where both copies have an instance).
 * Bounds: numbers, with least a proved minimum of s; one row R <= e*s + f; rows times factors. */
static bool below(closure *x, int c, const pr_part *r, int n, int s, pr_i128 g, pr_i128 least,
                  pr_i128 constant)
{
    pr_space *sp = &x->space;
    pr_i128 top = pr_sat_up(pr_space_sup(sp, c, r, n, true), constant);
    if (least >= 1 && top < PR_INF && ceil_div(top, g) <= least) return true;
    if (n < PR_PRE_ATOMS) {
        pr_part with[PR_PRE_ATOMS];
        for (int k = 0; k < n; k++) with[k] = r[k];
        with[n] = (pr_part){ s, -g };
        if (pr_stride_sup(sp, c, with, n + 1, constant) <= 0) return true;
    }
    if (least < 1) return false;
    for (int i = 0; i < sp->n_rows[c]; i++) {
        const pr_bound_row *row = &sp->row[c][i];
        pr_i128 e = 0, bound = -row->k, mu = 0, v;
        pr_part rest[PR_PRE_ATOMS];
        int n_rest = 0;
        bool used[PR_PRE_ATOMS] = { false };
        for (int j = 0; j < row->n; j++)
            if (is_factor(sp, sp->part[row->first + j].node, s)) e = -sp->part[row->first + j].coef;
        if (e <= 0) continue;
        for (int j = 0; j < row->n; j++) {
            pr_part y = sp->part[row->first + j];
            if (is_factor(sp, y.node, s)) continue;
            int k = 0;
            while (k < n && r[k].node != y.node) k++;
            if (k < n && r[k].coef % y.coef == 0 && r[k].coef / y.coef >= 1 &&
                (mu == 0 || mu == r[k].coef / y.coef)) {
                mu = r[k].coef / y.coef;
                used[k] = true;
                continue;
            }
            pr_part minus = { y.node, -y.coef };
            bound = pr_sat_up(bound, pr_space_sup(sp, c, &minus, 1, false));
        }
        if (mu == 0 || bound >= PR_INF || !pr_mul_ok(mu, e, &e) || e > g) continue;
        for (int k = 0; k < n; k++)
            if (!used[k]) rest[n_rest++] = r[k];
        v = pr_sat_up(pr_sat_up(pr_sat_mul(mu, bound), pr_space_sup(sp, c, rest, n_rest, true)),
                      constant);
        if (v < PR_INF && v <= pr_sat_mul(g - e, least)) return true;
    }
    return false;
}

static int parts_of(const pr_form *f, const bool *which, int c, int sign, pr_part *out)
{
    int n = 0;
    for (int i = 0; i < f->n; i++) {
        pr_i128 v = c ? f->at[i].b : f->at[i].a;
        if (which[i] && v) out[n++] = (pr_part){ f->at[i].node, sign * v };
    }
    return n;
}

static bool alike(const pr_part *a, int n, const pr_part *b, int m)
{
    for (int i = 0; i < n && n == m; i++)
        if (a[i].node != b[i].node || a[i].coef != b[i].coef) return false;
    return n == m;
}

static void split_by(closure *x, const pr_form *f, int s)
{
    pr_space *sp = &x->space;
    pr_form h, low;
    bool which[PR_PRE_ATOMS], rest[PR_PRE_ATOMS];
    pr_i128 g;
    if (!pr_stride_head(sp, f, s, which, &h, &g)) return;
    for (int i = 0; i < f->n; i++) rest[i] = !which[i];
    pr_i128 least =
        sp->node[s].iv[0].lo > sp->node[s].iv[1].lo ? sp->node[s].iv[0].lo : sp->node[s].iv[1].lo;
    if (PR_PRE_DROPS(PR_DROP_P_SIGN) && least < 1) least = 1;
    pr_i128 lo = f->lo, hi = f->hi;
    if (PR_PRE_DROPS(PR_DROP_P_SLACK)) lo = hi = 0;
    pr_part up[2][PR_PRE_ATOMS], down[2][PR_PRE_ATOMS];
    pr_i128 inf[2];
    int n[2];
    for (int c = 0; c < 2; c++) {
        int copy = PR_PRE_DROPS(PR_DROP_HULL) ? 0 : c;
        n[c] = parts_of(f, rest, c, 1, up[c]);
        parts_of(f, rest, c, -1, down[c]);
        bool again = c && !PR_PRE_DROPS(PR_DROP_HULL) && alike(down[0], n[0], down[1], n[1]) && pr_space_mirror(sp);
        inf[c] = again ? inf[0] : -pr_space_sup(sp, copy, down[c], n[c], true);
        if (PR_PRE_DROPS(PR_DROP_LOWER) && inf[c] < 0) inf[c] = 0;
    }
    /* sup A - inf B + k - lo <= g*s - 1 and sup B - inf A - k + hi <= g*s - 1 */
    pr_i128 k = PR_PRE_DROPS(PR_DROP_START) ? 0 : f->k;
    pr_i128 one = pr_sat_up(-inf[1], k - lo + 1), two = pr_sat_up(-inf[0], hi - k + 1);
    bool fits = !pr_is_inf(one) && !pr_is_inf(two);
    if (!fits) return;
    if (!below(x, 0, up[0], n[0], s, g, least, one) || !below(x, 1, up[1], n[1], s, g, least, two))
        return;
    part_of(f, which, false, &low);
    low.lo = f->lo;
    low.hi = f->hi;
    if (PR_PRE_DROPS(PR_DROP_SLACK)) low.lo = low.hi = 0;
    pr_trace_product(sp, s, &h, g);
    add_form(x, &h);
    add_form(x, &low);
    pr_trace_product(sp, s, NULL, 1);
}

static void parametric_splits(closure *x, const pr_form *f)
{
    int tried[PR_PRE_ATOMS], n = 0;
    pr_space *sp = &x->space;
    for (int i = 0; i < f->n; i++) {
        const pr_space_node *v = &sp->node[f->at[i].node];
        if (v->op != PR_TERM_OP_MUL || f->at[i].a != f->at[i].b) continue;
        for (int j = 0; j < v->n && !sp->full && !x->contradiction; j++) {
            int s = sp->kid[v->first + j], k = 0;
            if (!sp->node[s].shared && !(PR_PRE_DROPS(PR_DROP_P_FACTOR))) continue;
            while (k < n && tried[k] != s) k++;
            if (k < n || n == PR_PRE_ATOMS) continue;
            tried[n++] = s;
            split_by(x, f, s);
            v = &sp->node[f->at[i].node];
        }
    }
}

/* --- X --------------------------------------------------------------------------------------------- */

static int at_of(const pr_form *f, int node)
{
    int i = 0;
    while (i < f->n && f->at[i].node != node) i++;
    return i < f->n && f->at[i].a == f->at[i].b ? i : -1;
}

/* The form holds t*x beside c*(x mod d): with x = d*q + r it becomes t*d*q + (t + c)*r, which splits. */
static void digits(closure *x, const pr_form *f)
{
    pr_space *s = &x->space;
    for (int j = 0; j < f->n; j++) {
        const pr_space_node *r = &s->node[f->at[j].node];
        if ((r->op != PR_TERM_OP_FMOD && r->op != PR_TERM_OP_TREM) || f->at[j].a != f->at[j].b) continue;
        int dividend = s->kid[r->first], divisor = s->kid[r->first + 1];
        const pr_space_node *v = &s->node[dividend];
        if (s->node[divisor].op != PR_TERM_OP_CONST || s->node[divisor].value < 1) continue;
        bool sum = v->op == PR_TERM_OP_SUM, gone[PR_PRE_ATOMS] = { false }, all = true;
        int parts = sum ? v->n : 1;
        pr_i128 t = 0, d = s->node[divisor].value, td, tr;
        for (int i = 0; i < parts && all; i++) {
            pr_i128 c = sum ? s->coef[v->first + i] : 1;
            int part = sum ? s->kid[v->first + i] : dividend, at = at_of(f, part);
            if (s->node[part].known && s->node[part].delta == 0) continue; /* not in the form */
            all = at >= 0 && f->at[at].a % c == 0 && (t == 0 || f->at[at].a / c == t || PR_PRE_DROPS(PR_DROP_X_RATIO));
            if (!all) break;
            t = f->at[at].a / c;
            gone[at] = true;
        }
        if (!all || t == 0 || !pr_mul_ok(t, d, &td) || !pr_add_ok(t, f->at[j].a, &tr)) continue;
        bool floors = r->op == PR_TERM_OP_FMOD;
        int remainder = f->at[j].node;
        int q = pr_space_quotient(s, floors ? PR_TERM_OP_FDIV : PR_TERM_OP_TDIV, dividend, divisor);
        if (q < 0) return;
        pr_form g;
        g.n = 0;
        g.k = f->k, g.lo = f->lo, g.hi = f->hi;
        for (int i = 0; i < f->n; i++)
            if (!gone[i] && i != j) g.at[g.n++] = f->at[i];
        if (g.n + 2 > PR_PRE_ATOMS) return;
        g.at[g.n++] = (pr_item){ q, td, td };
        if (tr) g.at[g.n++] = (pr_item){ remainder, tr, tr };
        if (!pr_is_inf(td) && !pr_is_inf(tr)) add_form(x, &g);
    }
}

/* The form as it is now. A product alone stays in it when its difference is known: rule P has more to say. */
static bool now(const closure *x, int i, pr_form *f)
{
    const pr_form *was = &x->form[i];
    pr_form_copy(f, was);
    if (!pr_space_reduce(&x->space, f)) return false;
    if (f->n == 0 && was->n == 1 && was->at[0].a == was->at[0].b && x->space.node[was->at[0].node].op == PR_TERM_OP_MUL) pr_form_copy(f, was);
    return true;
}

/* --- A --------------------------------------------------------------------------------------------- */

/* A node with this operation, dividend and constant divisor; -1: none. */
static int division_of(const pr_space *s, int op, int dividend, pr_i128 divisor)
{
    for (int i = 0; i < s->n; i++) {
        const pr_space_node *v = &s->node[i];
        if (v->op != op || s->kid[v->first] != dividend) continue;
        const pr_space_node *d = &s->node[s->kid[v->first + 1]];
        if (d->op == PR_TERM_OP_CONST && d->value == divisor) return i;
    }
    return -1;
}

/* A remainder of t by a constant >= 1; -1: none. */
static int remainder_of(const pr_space *s, int t)
{
    for (int i = 0; i < s->n; i++) {
        const pr_space_node *v = &s->node[i];
        if ((v->op != PR_TERM_OP_FMOD && v->op != PR_TERM_OP_TREM) || s->kid[v->first] != t) continue;
        const pr_space_node *d = &s->node[s->kid[v->first + 1]];
        if (d->op == PR_TERM_OP_CONST && d->value >= 1) return i;
    }
    return -1;
}

/* The quotient that belongs to a remainder: (y div e) div d is y div (e*d). */
static int quotient_of(pr_space *s, int remainder)
{
    int op = s->node[remainder].op == PR_TERM_OP_FMOD ? PR_TERM_OP_FDIV : PR_TERM_OP_TDIV;
    int t = s->kid[s->node[remainder].first], divisor = s->kid[s->node[remainder].first + 1], q;
    pr_i128 d = s->node[divisor].value, ed;
    if ((q = division_of(s, op, t, d)) >= 0) return q;
    if (s->node[t].op == op) {
        const pr_space_node *e = &s->node[s->kid[s->node[t].first + 1]];
        if (e->op == PR_TERM_OP_CONST && e->value >= 1 && pr_mul_ok(e->value, d, &ed)
            && (q = division_of(s, op, s->kid[s->node[t].first], ed)) >= 0) return q;
    }
    return pr_space_quotient(s, (uint8_t)op, t, divisor);
}

/* t minus its digits is 0: t = d*q + r, q taken apart in the same way. False: t has no digits, or no room. */
static bool in_digits(pr_space *s, int t, pr_form *f)
{
    pr_i128 c = -1;
    int r = remainder_of(s, t), at = t;
    f->n = 0;
    f->k = f->lo = f->hi = 0;
    if (r < 0 || s->node[t].shared || !pr_space_pairs(s, t, 1, f)) return false;
    for (; r >= 0; r = remainder_of(s, at)) {
        pr_i128 d = s->node[s->kid[s->node[r].first + 1]].value;
        if (f->n + 2 > PR_PRE_ATOMS || (at = quotient_of(s, r)) < 0) return false;
        f->at[f->n++] = (pr_item){ r, c, c };
        if (!pr_mul_ok(c, d, &c) || pr_is_inf(c)) return false;
    }
    f->at[f->n++] = (pr_item){ at, c, c };
    return true;
}

/* f with the item of the smaller coefficient of f replaced through g, which has two items and one value. */
static bool replace(pr_form *f, const pr_form *g)
{
    pr_i128 unit, part;
    if (g->n != 2 || (g->lo != g->hi && !PR_PRE_DROPS(PR_DROP_SUM))) return false;
    int at[2] = { at_of(f, g->at[0].node), at_of(f, g->at[1].node) };
    if (at[0] < 0 || at[1] < 0 || g->at[0].a != g->at[0].b || g->at[1].a != g->at[1].b) return false;
    int out = size(f->at[at[0]].a) < size(f->at[at[1]].a) ? 0 : 1;
    pr_i128 all = pr_gcd(g->at[0].a, g->at[1].a), to = PR_PRE_DROPS(PR_DROP_SUM) ? 0 : g->lo - g->k;  /* sum g = to */
    unit = g->at[out].a / all;
    if ((unit != 1 && unit != -1) || to % all != 0) return false;
    to /= all;
    pr_i128 times = -f->at[at[out]].a * unit;
    if (!pr_mul_ok(times, g->at[!out].a / all, &part) || !pr_add_ok(f->at[at[!out]].a, part, &part) || pr_is_inf(part)) return false;
    f->at[at[!out]].a = f->at[at[!out]].b = part;
    if (!pr_mul_ok(times, to, &part) || !pr_sub_ok(f->k, part, &f->k) || pr_is_inf(f->k)) return false;
    f->at[at[out]] = f->at[--f->n];
    return true;
}

/* Dividends as sums of their digits, shortened by what is known of two digits. */
static void put_together(closure *x)
{
    for (int i = 0, n = x->space.n; i < n && !x->space.full; i++) {
        pr_form f;
        const pr_space_node *v = &x->space.node[i];
        if (v->op != PR_TERM_OP_SUM || v->known || !in_digits(&x->space, i, &f) || !pr_space_reduce(&x->space, &f)) continue;
        bool shorter = false;
        for (int k = 0; k < x->n; k++) {
            pr_form g;
            if (!now(x, k, &g) || !replace(&f, &g)) continue;
            shorter = true;
            k = -1;
        }
        if (shorter) add_form(x, &f);
    }
}

/* --- one form ------------------------------------------------------------------------------------ */

static void look(closure *x, int i)
{
    pr_form f;
    int before = x->form[i].n;
    if (!now(x, i, &f)) return;
    if (f.n != before) x->looked[i] = false, x->split_at[i] = -1;
    pr_form_copy(&x->form[i], &f);
    if (x->looked[i]) return;
    x->looked[i] = true;
    if (f.n == 0) {
        if (f.k < f.lo || f.k > f.hi) x->contradiction = true;
        return;
    }
    bool last = f.n == 1 || PR_PRE_DROPS(PR_DROP_L_LAST);
    if (last && f.at[0].a == f.at[0].b && !pr_is_inf(f.at[0].a)) { /* L */
        pr_i128 c = f.at[0].a, lo = f.lo - f.k, hi = f.hi - f.k;
        pr_i128 from = c > 0 ? ceil_div(lo, c) : ceil_div(-hi, -c),
                to = c > 0 ? pr_fdiv(hi, c) : pr_fdiv(-lo, -c);
        if (from > to) x->contradiction = true;
        else if (from == to) learn(x, f.at[0].node, from);
        bool product = x->space.node[f.at[0].node].op == PR_TERM_OP_MUL;
        if (from >= to && !product) return;
    }
    if (x->split_at[i] != x->space.narrowed) {       /* rows times factors mean nothing to numbers */
        x->split_at[i] = x->space.narrowed;
        splits(x, &f);
    }
    if (!x->contradiction) parametric_splits(x, &f);
    if (!x->contradiction && f.n > 1) digits(x, &f);
}

/* --- C and D ------------------------------------------------------------------------------------- */

static void congruences(closure *x)
{
    pr_space *s = &x->space;
    for (int i = 0; i < s->n; i++) {
        const pr_space_node *v = &s->node[i];
        if (v->known) continue;
        bool one[2] = { v->iv[0].lo == v->iv[0].hi, v->iv[1].lo == v->iv[1].hi };
        if (one[0] && (one[1] || PR_PRE_DROPS(PR_DROP_POINT))) { /* E */
            learn(x, i, v->iv[0].lo - v->iv[1].lo);
            continue;
        }
        if (v->n == 0) continue;
        pr_i128 delta = 0, part;
        bool known = true;
        for (int j = 0; j < v->n && known; j++) {
            const pr_space_node *k = &s->node[s->kid[v->first + j]];
            known = k->known && (k->delta == 0 || v->op == PR_TERM_OP_SUM || PR_PRE_DROPS(PR_DROP_C_EQUAL));
            if (known && k->delta != 0)
                known = pr_mul_ok(s->coef[v->first + j], k->delta, &part) &&
                        pr_add_ok(delta, part, &delta);
        }
        if (PR_PRE_DROPS(PR_DROP_C_EQUAL) && v->op != PR_TERM_OP_SUM) delta = 0;
        if (known) learn(x, i, delta);
    }
}

static bool is_quotient(int op) { return op == PR_TERM_OP_FDIV || op == PR_TERM_OP_TDIV; }
static bool is_remainder(int op) { return op == PR_TERM_OP_FMOD || op == PR_TERM_OP_TREM; }

static void divisions(closure *x)
{
    pr_space *s = &x->space;
    for (int i = 0; i < s->n; i++) {
        const pr_space_node *q = &s->node[i];
        if (!is_quotient(q->op) || !q->known || q->delta != 0) continue;
        int dividend = s->kid[q->first], divisor = s->kid[q->first + 1];
        const pr_space_node *t = &s->node[dividend], *d = &s->node[divisor];
        if (t->known || ((!d->known || d->delta != 0) && !PR_PRE_DROPS(PR_DROP_D_DIVISOR))) continue;
        bool one_kind =
            t->iv[0].lo >= 0 && t->iv[1].lo >= 0 && d->iv[0].lo >= 1 && d->iv[1].lo >= 1;
        for (int j = 0; j < s->n; j++) {
            const pr_space_node *r = &s->node[j];
            if (!is_remainder(r->op) || !r->known || r->delta != 0) continue;
            if (s->kid[r->first] != dividend) continue;
            if (s->kid[r->first + 1] != divisor && !PR_PRE_DROPS(PR_DROP_D_SAME)) continue;
            bool same = (q->op == PR_TERM_OP_FDIV) == (r->op == PR_TERM_OP_FMOD);
            if (!same && !one_kind && !PR_PRE_DROPS(PR_DROP_D_KIND)) continue;
            learn(x, dividend, 0);
            break;
        }
    }
}

/* Equal epochs and the like: a conjunct x - y = 0 over both copies. */
static void equalities(closure *x)
{
    const pr_query *q = x->space.q;
    const pr_terms *T = q->terms;
    for (int i = q->n_core_a + q->n_core_b; i < q->n_core; i++) {
        if (pr_term_op_of(T, q->core[i]) != PR_TERM_OP_EQ0
            && !(PR_PRE_DROPS(PR_DROP_E_EQUAL) && pr_term_op_of(T, q->core[i]) == PR_TERM_OP_LE0)) continue;
        pr_form f;
        if (pr_space_two_sided(&x->space, pr_term_child(T, q->core[i], 0), &f)) add_form(x, &f);
    }
}

/* A query over one copy: some conjunct is false under what the others bound. */
static void one_copy(pr_space *s, pr_outcome *out)
{
    const pr_query *q = s->q;
    pr_space_domain(s);
    for (int i = 0; i < q->n_core + q->n_premises && !s->void_domain && !s->full; i++) {
        pr_term t = i < q->n_core ? q->core[i] : q->premises[i - q->n_core];
        if (pr_pre_truth(s, t, true) == PR_NO) s->void_domain = true;
    }
    if (s->void_domain) pr_pre_contradiction("closure: no instance", out);
}

static void learn_entry(void *user, int node, pr_i128 delta) { learn(user, node, delta); }

static void saturate(closure *x)
{
    for (int round = 0; round < ROUNDS && !x->contradiction; round++) {
        x->changed = false;
        for (int i = 0; i < x->n && !x->contradiction; i++) look(x, i);
        congruences(x);
        divisions(x);
        if (pr_table_any(&x->space)) {
            for (int i = 0; i < x->n && !x->contradiction; i++) pr_table_rules(&x->space, &x->form[i], learn_entry, x);
            if (!x->changed && !x->contradiction) pr_table_determine(&x->space, x->scratch, learn_entry, x);
        }
        if (!x->changed) break;
    }
}

/* A condition that would let rule P go on, true at the launch where there is one. */
static pr_term wanted(closure *x)
{
    const pr_query *q = x->space.q;
    for (int i = 0; i < x->n; i++) {
        pr_form f;
        if (x->space.full || !now(x, i, &f) || f.n == 0) continue;
        pr_term t = pr_stride_wanted(&x->space, &f);
        pr_i128 v;
        if (pr_term_none(t) || pr_term_is(t, PR_TERM_FALSE)) continue;
        if (!q->hint || (pr_eval(q->terms, t, q->hint, &v) && v)) return t;
    }
    return PR_TERM_NONE;
}

/* Is every lane equal in both copies? Only where nothing but the copies' own conjuncts and the premises was used. Of more twins than the space
 * has room for, the last are two variables each, which nothing compares. */
static bool are_lanes_equal(const pr_space *s)
{
    const pr_query *q = s->q;
    if (q->n_core != q->n_core_a + q->n_core_b || q->n_twins > PR_SPACE_TWINS) return false;
    for (int i = 0; i < q->n_twins; i++) {
        bool equal = pr_var_get(q->terms, q->twins[i][0])->role != PR_ROLE_LANE;
        for (int j = 0; j < s->n && !equal; j++)
            equal = s->node[j].op == PR_TERM_OP_VAR && s->node[j].value == q->twins[i][0].id && !s->node[j].shared && s->node[j].known && s->node[j].delta == 0;
        if (!equal) return false;
    }
    return true;
}

static void prove(closure *x, const pr_query *q, pr_arena *scratch, pr_outcome *out)
{
    pr_form f;
    pr_space *s = &x->space;
    pr_space_begin(s, q);
    if (!q->is_pair) {
        if (pr_term_none(q->addr[0]) && !q->n_distinct) one_copy(s, out);
        return;
    }
    if (!pr_space_overlap(s, &f)) return;
    pr_space_domain(s);
    if (s->void_domain) {
        pr_pre_contradiction("closure: no instance", out);
        return;
    }
    add_form(x, &f);
    equalities(x);
    pr_term assumed = PR_TERM_TRUE;
    bool lifted = false, together = false;
    for (int more = 0;;) {
        saturate(x);
        if (x->contradiction || s->void_domain) {
            pr_pre_contradiction("closure: no common byte", out);
            break;
        }
        if (pr_pre_empty(s, "closure", scratch, out)) {
            out->same_lanes = are_lanes_equal(s);
            break;
        }
        if (!together) {
            together = true;
            x->changed = false;
            put_together(x);
            if (x->changed) continue;
        }
        if (!lifted && pr_stride_rows(s)) { /* not before they are needed */
            lifted = true;
            for (int i = 0; i < x->n; i++) x->looked[i] = false;
            continue;
        }
        if (!q->suggest || more++ == ASSUMED) return;
        pr_term t = wanted(x);
        if (pr_term_none(t)) return;
        assumed = PR_PRE_DROPS(PR_DROP_ALL_ASSUMED) ? t : pr_and(q->terms, assumed, t);
        pr_space_assume(s, t);
        for (int i = 0; i < x->n; i++) x->looked[i] = false;
    }
    if (pr_term_is(assumed, PR_TERM_TRUE) || PR_PRE_DROPS(PR_DROP_ASSUMED)) return;
    const pr_outcome shown = *out;
    pr_pre_unknown("empty under a condition on the parameters", out);
    out->needs = assumed;
    out->under = shown.evidence;
    out->same_lanes = shown.same_lanes;
}

static void decide(pr_engine_ctx *ctx, const pr_query *q, const pr_limits *limits,
                   pr_arena *scratch, pr_outcome *out)
{
    closure *x = pr_pre_context(ctx, sizeof *x);
    (void)limits;
    pr_pre_unknown("the closure does not settle the query", out);
    if (!x) return;
    x->n = 0;
    x->contradiction = false;
    x->scratch = scratch;
    prove(x, q, scratch, out);
    out->cost = (uint64_t)x->n;
}

const pr_engine *pr_engine_closure(void)
{
    static const pr_engine engine = {
        .name = "closure",
        .accepts = ~0u,
        .decide = decide,
        .open = pr_pre_open,
        .close = pr_pre_close,
        .dump = pr_pre_dump,
        .version = pr_pre_version,
    };
    return &engine;
}
