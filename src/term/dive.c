/* A first point of a leaf without an engine: columns in order, each at its least value that bounds propagation
 * and the divisors of equalities leave open, with a step back where a value turns out impossible.
 *
 * No value is passed over that these have not refuted, so what is found is the lexicographic minimum, the
 * point that an engine would have found too. Where that fails, the part of the leaf whose wide columns are not negative
 * is searched in the same way. Nothing else follows: a search that ends without a point, or
 * runs out of work, says nothing (a wrong refutation costs a point, never gives a proof). */
#include "term/rows.h"

enum { WORK = 24000, LEAST = 5 /* halvings of it */, CREEP = 8 /* part of it where bounds creep */, ROUNDS = 6, MOST_COLS = 64 };
/* Numbers within these keep every sum below 2^122. */
static const pr_i128 FAR = (pr_i128)1 << 20, BOUND = (pr_i128)1 << 70, COEF = (pr_i128)1 << 44, CONST = (pr_i128)1 << 120;

typedef struct part { int col; int64_t c; } part;
typedef struct line { const part *at; int n; pr_i128 k; bool equality; } line;
typedef struct box { pr_i128 lo[MOST_COLS], hi[MOST_COLS]; } box;   /* hi = BOUND: open */

typedef struct dive { const line *rows; int n_rows, n_cols, work; bool moving; } dive;   /* moving: the last rounds ended with bounds that still moved */

/* sum sign*c*x + sign*k >= 0 read as bounds of each column, in machine words. PR_MAYBE: it does not fit them; PR_NO: no value is left. */
static pr_tri narrow_words(box *b, const line *r, int sign, bool *changed)
{
    int64_t top, v;
    int open = -1;
    if (r->k != (int64_t)r->k || (int64_t)r->k == INT64_MIN) return PR_MAYBE;
    top = sign * (int64_t)r->k;
    for (int i = 0; i < r->n; i++) {
        int64_t c = r->at[i].c * sign;
        pr_i128 edge = c > 0 ? b->hi[r->at[i].col] : b->lo[r->at[i].col];
        if (edge != (int64_t)edge) {
            if (c < 0 || edge < BOUND) return PR_MAYBE;
            if (open >= 0) return PR_YES;
            open = i;
        } else if (__builtin_mul_overflow(c, (int64_t)edge, &v) || __builtin_add_overflow(top, v, &top)) {
            return PR_MAYBE;
        }
    }
    if (open < 0 && top < 0) return PR_NO;
    for (int i = open < 0 ? 0 : open; i < (open < 0 ? r->n : open + 1); i++) {
        int j = r->at[i].col;
        int64_t c = r->at[i].c * sign, rest = top;
        if (open < 0 && (__builtin_mul_overflow(c, (int64_t)(c > 0 ? b->hi[j] : b->lo[j]), &v) || __builtin_sub_overflow(top, v, &rest))) return PR_MAYBE;
        /* the other end of the column keeps the row: nothing to learn */
        pr_i128 far = c > 0 ? b->lo[j] : b->hi[j];
        if (far == (int64_t)far && !__builtin_mul_overflow(c, (int64_t)far, &v) && !__builtin_add_overflow(rest, v, &v) && v >= 0) continue;
        if (rest == INT64_MIN) return PR_MAYBE;
        pr_i128 at = c == 1 ? -rest : c == -1 ? rest : c > 0 ? -pr_fdiv(rest, c) : pr_fdiv(rest, -c);   /* c*x >= -rest */
        if (c > 0 && at > b->lo[j]) {
            if (at > b->hi[j]) return PR_NO;
            b->lo[j] = at;
            *changed = true;
        } else if (c < 0 && at < b->hi[j]) {
            if (at < b->lo[j]) return PR_NO;
            b->hi[j] = at;
            *changed = true;
        }
    }
    return PR_YES;
}

/* The same with any numbers; false: no value is left. */
static bool narrow(dive *d, box *b, const line *r, int sign, bool *changed)
{
    d->work -= r->n;
    pr_tri small = narrow_words(b, r, sign, changed);
    if (small != PR_MAYBE) return small == PR_YES;
    pr_i128 top = r->k * sign;
    int open = -1, n_open = 0;
    for (int i = 0; i < r->n; i++) {
        int64_t c = r->at[i].c * sign;
        pr_i128 edge = c > 0 ? b->hi[r->at[i].col] : b->lo[r->at[i].col];
        if (c > 0 && edge >= BOUND) n_open++, open = i;
        else top += c * edge;
    }
    if (n_open > 1) return true;
    if (!n_open && top < 0) return false;
    for (int i = 0; i < r->n; i++) {
        if (n_open && i != open) continue;
        int j = r->at[i].col;
        int64_t c = r->at[i].c * sign;
        pr_i128 rest = n_open ? top : top - c * (c > 0 ? b->hi[j] : b->lo[j]);
        pr_i128 v = c == 1 ? -rest : c == -1 ? rest : c > 0 ? -pr_fdiv(rest, c) : pr_fdiv(rest, -(pr_i128)c);   /* c*x >= -rest */
        if (c > 0 && v > b->lo[j]) {
            if (v > b->hi[j] || v >= BOUND) return false;
            b->lo[j] = v;
            *changed = true;
        } else if (c < 0 && v < b->hi[j]) {
            if (v < b->lo[j]) return false;
            b->hi[j] = v;
            *changed = true;
        }
    }
    return true;
}

static bool propagate(dive *d, box *b)
{
    bool changed = true;
    for (int round = 0; changed && round < ROUNDS && d->work > 0; round++) {
        changed = false;
        for (int i = 0; i < d->n_rows; i++) {
            const line *r = &d->rows[i];
            if (!narrow(d, b, r, 1, &changed)) return false;
            if (r->equality && !narrow(d, b, r, -1, &changed)) return false;
        }
    }
    d->moving = changed;
    return true;
}

/* x with a*x = 1 mod m, for coprime a and m, 0 <= a < m. */
static pr_i128 inverse(pr_i128 a, pr_i128 m)
{
    pr_i128 r0 = m, r1 = a, t0 = 0, t1 = 1;
    while (r1) {
        pr_i128 q = r0 / r1, r = r0 - q * r1, t = t0 - q * t1;
        r0 = r1, r1 = r, t0 = t1, t1 = t;
    }
    return pr_fmod(t0, m);
}

/* Least value of column j, from its lower bound on, that the divisors of its equalities admit. */
static bool lift(dive *d, box *b, int j)
{
    for (int i = 0; i < d->n_rows; i++) {
        const line *r = &d->rows[i];
        if (!r->equality) continue;
        pr_i128 g = 0, c = 0, sum = r->k;
        for (int p = 0; p < r->n; p++) {
            int col = r->at[p].col;
            if (col == j) c = r->at[p].c;
            else if (b->lo[col] == b->hi[col]) sum += r->at[p].c * b->lo[col];
            else g = pr_gcd(g, r->at[p].c);
        }
        d->work -= r->n;
        if (!c || g < 2) continue;
        pr_i128 h = pr_gcd(g, c), m = g / h;
        if (sum % h != 0) return false;
        if (m < 2) continue;
        pr_i128 want = pr_fmod(pr_fmod(-sum / h, m) * inverse(pr_fmod(c / h, m), m), m);
        pr_i128 up = b->lo[j] + pr_fmod(want - b->lo[j], m);
        if (up > b->hi[j] || up >= BOUND) return false;
        b->lo[j] = up;
    }
    return true;
}

static bool holds(const dive *d, const box *b)
{
    for (int i = 0; i < d->n_rows; i++) {
        pr_i128 sum = d->rows[i].k;
        for (int j = 0; j < d->rows[i].n; j++) sum += d->rows[i].at[j].c * b->lo[d->rows[i].at[j].col];
        if (d->rows[i].equality ? sum != 0 : sum < 0) return false;
    }
    return true;
}

/* The leaf with sparse rows of 64-bit numbers; false when they do not fit. */
static bool read_leaf(const pr_leaf *leaf, pr_arena *arena, dive *d, box *b)
{
    if (leaf->n_cols > MOST_COLS || !leaf->bounded_below) return false;
    for (int j = 0; j < leaf->n_cols; j++) {
        if (leaf->lo[j] <= -BOUND || leaf->lo[j] >= BOUND || leaf->hi[j] <= -BOUND) return false;
        b->lo[j] = leaf->lo[j];
        b->hi[j] = leaf->hi[j] >= BOUND ? BOUND : leaf->hi[j];
        if (b->lo[j] > b->hi[j]) return false;
    }
    line *rows = PR_NEW_N(arena, line, leaf->n_rows + 1);
    for (int i = 0; i < leaf->n_rows; i++) {
        const pr_row *r = &leaf->rows[i];
        if (r->k >= CONST || r->k <= -CONST) return false;
        part *at = PR_NEW_N(arena, part, leaf->n_cols + 1);
        int n = 0;
        for (int j = 0; j < leaf->n_cols; j++) {
            if (!r->c[j]) continue;
            if (r->c[j] >= COEF || r->c[j] <= -COEF) return false;
            at[n++] = (part){ j, (int64_t)r->c[j] };
        }
        rows[i] = (line){ at, n, r->k, r->equality };
    }
    *d = (dive){ .rows = rows, .n_rows = leaf->n_rows, .n_cols = leaf->n_cols, .work = WORK };
    return true;
}

/* Columns that reach far below 0 (contents of memory, products of parameters) from 0 on: a part of the leaf in which
 * small values are met first. False when there is none. */
static bool from_zero(const dive *d, box *b)
{
    bool any = false;
    for (int j = 0; j < d->n_cols; j++) {
        if (b->lo[j] > -FAR || b->hi[j] < 0) continue;
        b->lo[j] = 0;
        any = true;
    }
    return any;
}

static bool search(dive d, box *at, pr_i128 *value)
{
    if (!propagate(&d, &at[0])) return false;
    if (d.moving) d.work /= CREEP;      /* two rows drive a bound up step by step: mostly nothing is there */
    int j = 0;
    while (j < d.n_cols) {
        if (d.work <= 0) return false;
        bool possible = lift(&d, &at[j], j);
        at[j + 1] = at[j];
        at[j + 1].hi[j] = at[j].lo[j];
        if (possible && propagate(&d, &at[j + 1])) {
            j++;
            continue;
        }
        for (;;) {                                          /* the next value of column j, or of one before it */
            if (possible && at[j].lo[j] < at[j].hi[j]) {
                at[j].lo[j]++;
                if (propagate(&d, &at[j])) break;
            }
            if (j-- == 0) return false;
            possible = true;
        }
    }
    if (!holds(&d, &at[j])) return false;
    for (int i = 0; i < d.n_cols; i++) value[i] = at[j].lo[i];
    return true;
}

bool pr_leaf_dive(const pr_leaf *leaf, pr_arena *arena, int failed, pr_i128 *value)
{
    dive d;
    box *at = pr_arena_raw(arena, sizeof *at * (size_t)(leaf->n_cols + 2));       /* at[j]: columns before j have one value */
    if (!read_leaf(leaf, arena, &d, &at[0])) return false;
    d.work = WORK >> (failed < LEAST ? failed : LEAST);
    box whole = at[0];
    if (search(d, at, value)) return true;
    at[0] = whole;
    return from_zero(&d, &at[0]) && search(d, at, value);
}
