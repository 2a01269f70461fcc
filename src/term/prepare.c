/* One leaf made smaller: which rows are contradictory, and which columns are functions of others?
 *
 * Steps, repeated until nothing changes (all exact: same solutions)
 *  R1  rows divided by the gcd of their coefficients; an equality whose gcd does not divide is a
 *      contradiction; a row with one column becomes a bound
 *  R2  bound propagation over the rows that changed; crossing bounds are a contradiction
 *  R3  parallel inequalities: the stronger stays, opposite ones may contradict or become an
 *      equality; a narrow opposite pair becomes an equality with a small slack column
 *  R4  splitting: an equality head + tail = 0 where only one multiple of gcd(head) fits in the
 *      range of the tail is two equalities. The tail's range also uses inequality rows inside it
 *  R5  two equalities whose difference splits (or is a single pair of columns): one is
 *      replaced by it
 *  R6  substitution: x = y + k first; other equalities with a unit coefficient when nothing else
 *      helps, lowest column first, so that a skewed original gives way to its digits
 *
 * Arithmetic is checked; an overflow gives the leaf up (the caller then uses the raw rows). */
#include "term/rows.h"
#include <assert.h>
#include <stdlib.h>

enum { BOUNDS_ROUNDS = 4, MAX_STEPS = 400, SLACK_WIDTH = 256 };

typedef enum { STEP_NONE, STEP_CHANGED, STEP_EMPTY, STEP_OVERFLOW } step;

static pr_i128 *row(const pr_system *s, int i) { return s->c + (size_t)i * (size_t)s->stride; }
static uint64_t *cols(const pr_system *s, int i) { return s->mask + (size_t)i * (size_t)s->words; }

/* Rows are sparse: a coefficient is there (and not 0) where its bit is set, and nowhere else. */
static bool has(const uint64_t *m, int j) { return m[j / 64] >> (j % 64) & 1; }
static void set_bit(uint64_t *m, int j) { m[j / 64] |= (uint64_t)1 << (j % 64); }
static void drop_bit(uint64_t *m, int j) { m[j / 64] &= ~((uint64_t)1 << (j % 64)); }

/* Least column of the set from j on, -1: none. */
static inline int col_from(const pr_system *s, const uint64_t *m, int j)
{
    int w = j / 64;
    if (w >= s->words) return -1;
    uint64_t left = m[w] >> (j % 64);
    if (left) return j + __builtin_ctzll(left);
    while (++w < s->words)
        if (m[w]) return w * 64 + __builtin_ctzll(m[w]);
    return -1;
}

#define EACH_COL(s, m, j) for (int j = col_from((s), (m), 0); j >= 0; j = col_from((s), (m), j + 1))
static bool open_low(pr_i128 v) { return v <= -PR_INF; }
static bool open_high(pr_i128 v) { return v >= PR_INF; }

pr_system *pr_system_new(pr_arena *arena, int n_cols, int n_rows)
{
    pr_system *s = PR_NEW(arena, pr_system);
    s->arena = arena;
    s->n_cols = n_cols;
    s->stride = n_cols + 4;                /* room for slack columns */
    s->lo = PR_NEW_N(arena, pr_i128, s->stride);
    s->hi = PR_NEW_N(arena, pr_i128, s->stride);
    s->gone = PR_NEW_N(arena, uint8_t, s->stride);
    s->elim_col = PR_NEW_N(arena, int, s->stride);
    s->elim_c = PR_NEW_N(arena, const pr_i128 *, s->stride);
    s->elim_k = PR_NEW_N(arena, pr_i128, s->stride);
    s->used = pr_arena_raw(arena, sizeof *s->used * (size_t)s->stride);
    s->spare = pr_arena_raw(arena, sizeof *s->spare * (size_t)s->stride);
    s->words = s->stride / 64 + 1;
    s->cap_rows = n_rows * 2 + 3 * s->stride + 8;
    s->c = pr_arena_raw(arena, sizeof(pr_i128) * (size_t)s->cap_rows * (size_t)s->stride);
    s->mask = pr_arena_raw(arena, sizeof(uint64_t) * (size_t)s->cap_rows * (size_t)s->words);
    s->k = pr_arena_raw(arena, sizeof(pr_i128) * (size_t)s->cap_rows);
    s->kind = PR_NEW_N(arena, uint8_t, s->cap_rows);
    s->row_at = PR_NEW_N(arena, uint32_t, s->cap_rows);
    s->col_at = PR_NEW_N(arena, uint32_t, s->stride);
    return s;
}

/* A free row without columns; -1 when the system is full. */
int pr_system_row(pr_system *s)
{
    int i = 0;
    if (s->n_rows < s->cap_rows) {
        i = s->n_rows++;
    } else {
        while (i < s->n_rows && s->kind[i] != PR_ROW_DEAD) i++;
        if (i == s->n_rows) return -1;
    }
    memset(cols(s, i), 0, sizeof(uint64_t) * (size_t)s->words);
    s->k[i] = 0;
    s->row_at[i] = 0;
    return i;
}

void pr_system_put(pr_system *s, int i, int col, pr_i128 c)
{
    row(s, i)[col] = c;
    if (c) set_bit(cols(s, i), col);
    s->row_at[i] = 0;
}

static int count_cols(const pr_system *s, const uint64_t *m)
{
    int n = 0;
    for (int w = 0; w < s->words; w++) n += __builtin_popcountll(m[w]);
    return n;
}

/* --- R1 ------------------------------------------------------------------------------------ */

static step tighten(pr_system *s, int j, pr_i128 lo, pr_i128 hi)
{
    step r = STEP_NONE;
    if (lo > s->lo[j] && lo > -PR_INF && lo < PR_INF) s->lo[j] = lo, r = STEP_CHANGED;
    if (hi < s->hi[j] && hi < PR_INF && hi > -PR_INF) s->hi[j] = hi, r = STEP_CHANGED;
    if (r == STEP_CHANGED) s->col_at[j] = ++s->now;
    return s->lo[j] > s->hi[j] ? STEP_EMPTY : r;
}

/* Normalises row i; a constant or single-column row is absorbed and dies. */
static step normalise(pr_system *s, int i)
{
    pr_i128 *c = row(s, i), g = 0;
    const uint64_t *m = cols(s, i);
    int n = 0, last = 0;
    s->row_at[i] = 0;
    EACH_COL(s, m, j) {
        if (c[j] == PR_I128_MIN) return STEP_OVERFLOW;
        n++;
        last = j;
        if (g != 1) g = pr_gcd(g, c[j]);
    }
    bool eq = s->kind[i] == PR_ROW_EQ;
    if (n == 0) {
        s->kind[i] = PR_ROW_DEAD;
        return (eq ? s->k[i] != 0 : s->k[i] < 0) ? STEP_EMPTY : STEP_NONE;
    }
    if (g > 1) {
        if (eq && s->k[i] % g != 0) return STEP_EMPTY;
        EACH_COL(s, m, j) c[j] /= g;
        s->k[i] = pr_fdiv(s->k[i], g);
    }
    if (n > 1) return STEP_NONE;
    s->kind[i] = PR_ROW_DEAD;
    if (s->k[i] == PR_I128_MIN) return STEP_OVERFLOW;
    pr_i128 v = c[last] > 0 ? -s->k[i] : s->k[i];
    if (v <= -PR_INF || v >= PR_INF) return STEP_OVERFLOW;
    if (eq) return tighten(s, last, v, v);
    return c[last] > 0 ? tighten(s, last, v, PR_INF) : tighten(s, last, -PR_INF, v);
}

/* --- R2 ------------------------------------------------------------------------------------ */

/* Least and greatest value of sum c*x over the bounds; open sides and overflow are infinite. */
static void activity(const pr_system *s, const pr_i128 *c, const uint64_t *m, pr_i128 *lo, pr_i128 *hi)
{
    pr_i128 low = 0, high = 0;
    bool open_l = false, open_h = false;
    EACH_COL(s, m, j) {
        pr_i128 a = c[j] > 0 ? s->lo[j] : s->hi[j], b = c[j] > 0 ? s->hi[j] : s->lo[j], v;
        if (open_low(a) || open_high(a) || !pr_mul_ok(c[j], a, &v) || !pr_add_ok(low, v, &low))
            open_l = true;
        if (open_low(b) || open_high(b) || !pr_mul_ok(c[j], b, &v) || !pr_add_ok(high, v, &high))
            open_h = true;
        if (open_l) low = 0;
        if (open_h) high = 0;
    }
    *lo = open_l || low < -PR_INF ? -PR_INF : low;
    *hi = open_h || high > PR_INF ? PR_INF : high;
    if (*lo > PR_INF - 1) *lo = PR_INF - 1;
    if (*hi < -PR_INF + 1) *hi = -PR_INF + 1;
}

/* The same in machine words, where all of the row and its finite bounds fit them: most do. STEP_OVERFLOW: not this one. */
static step propagate_words(pr_system *s, const pr_i128 *c, const uint64_t *m, pr_i128 k, int sign)
{
    enum { MOST = INT32_MAX };
    int64_t top, v;
    int open = 0, open_col = -1;
    if (k != (int64_t)k || (int64_t)k == INT64_MIN) return STEP_OVERFLOW;
    top = sign > 0 ? (int64_t)k : -(int64_t)k;
    EACH_COL(s, m, j) {
        if (c[j] > MOST || c[j] < -MOST) return STEP_OVERFLOW;
        int64_t a = sign > 0 ? (int64_t)c[j] : -(int64_t)c[j];
        pr_i128 b = a > 0 ? s->hi[j] : s->lo[j];
        if (b != (int64_t)b) {
            if (!open_low(b) && !open_high(b)) return STEP_OVERFLOW;
            if (open++) return STEP_NONE;
            open_col = j;
        } else if (__builtin_mul_overflow(a, (int64_t)b, &v) || __builtin_add_overflow(top, v, &top)) {
            return STEP_OVERFLOW;
        }
    }
    if (open == 0 && top < 0) return STEP_EMPTY;
    step result = STEP_NONE;
    EACH_COL(s, m, j) {
        if (open == 1 && j != open_col) continue;
        int64_t a = sign > 0 ? (int64_t)c[j] : -(int64_t)c[j], rest = top;
        if (open == 0) {
            int64_t b = (int64_t)(a > 0 ? s->hi[j] : s->lo[j]);
            if (__builtin_mul_overflow(a, b, &v) || __builtin_sub_overflow(top, v, &rest)) continue;
            /* the other end of the column keeps the row: nothing to learn */
            pr_i128 far = a > 0 ? s->lo[j] : s->hi[j];
            if (far == (int64_t)far && !__builtin_mul_overflow(a, (int64_t)far, &v) && !__builtin_add_overflow(rest, v, &v) && v >= 0) continue;
        }
        if (rest == INT64_MIN) continue;
        step r = a > 0 ? tighten(s, j, a == 1 ? -rest : -pr_fdiv(rest, a), PR_INF)
                       : tighten(s, j, -PR_INF, a == -1 ? rest : pr_fdiv(rest, -a));
        if (r == STEP_EMPTY) return r;
        if (r == STEP_CHANGED) result = r;
    }
    return result;
}

/* sum c*x + k >= 0 read as bounds on each of its columns. */
static step propagate_ge(pr_system *s, const pr_i128 *c, const uint64_t *m, pr_i128 k, int sign)
{
    step small = propagate_words(s, c, m, k, sign);
    if (small != STEP_OVERFLOW) return small;
    pr_i128 top = 0;
    int open = 0, open_col = -1;
    bool overflow = k == PR_I128_MIN;
    EACH_COL(s, m, j) {
        bool positive = (c[j] > 0) == (sign > 0);
        pr_i128 b = positive ? s->hi[j] : s->lo[j], v;
        if (open_low(b) || open_high(b)) {
            if (open++) return STEP_NONE;
            open_col = j;
        } else if (!pr_mul_ok(c[j], b, &v) || v == PR_I128_MIN || !pr_add_ok(top, sign > 0 ? v : -v, &top)) {
            overflow = true;
        }
    }
    if (overflow || !pr_add_ok(top, sign > 0 ? k : -k, &top)) return STEP_NONE;
    if (open == 0 && top < 0) return STEP_EMPTY;
    step result = STEP_NONE;
    EACH_COL(s, m, j) {
        if (open == 1 && j != open_col) continue;
        if (c[j] == PR_I128_MIN) continue;
        pr_i128 a = sign > 0 ? c[j] : -c[j], rest = top, v;
        if (open == 0) {
            pr_i128 b = a > 0 ? s->hi[j] : s->lo[j];
            if (!pr_mul_ok(a, b, &v) || !pr_sub_ok(top, v, &rest)) continue;
            /* the other end of the column keeps the row: nothing to learn */
            pr_i128 far = a > 0 ? s->lo[j] : s->hi[j];
            if (!open_low(far) && !open_high(far) && pr_mul_ok(a, far, &v) && pr_add_ok(rest, v, &v) && v >= 0) continue;
        }
        /* a*x + rest >= 0 */
        if (rest <= -PR_INF || rest >= PR_INF) continue;
        step r = a > 0 ? tighten(s, j, -pr_fdiv(rest, a), PR_INF)
                       : tighten(s, j, -PR_INF, pr_fdiv(rest, -a));
        if (r == STEP_EMPTY) return r;
        if (r == STEP_CHANGED) {
            result = r;
            /* top was computed with the old bound: still valid, only weaker */
        }
    }
    return result;
}

/* Nothing of the row has changed since it was looked at last. */
static bool settled(const pr_system *s, int i)
{
    if (!s->row_at[i]) return false;
    EACH_COL(s, cols(s, i), j)
        if (s->col_at[j] > s->row_at[i]) return false;
    return true;
}

static step propagate_rounds(pr_system *s, int rounds)
{
    step any = STEP_NONE;
    for (int round = 0; round < rounds; round++) {
        bool changed = false;
        for (int i = 0; i < s->n_rows; i++) {
            if (s->kind[i] == PR_ROW_DEAD || settled(s, i)) continue;
            s->row_at[i] = ++s->now;
            step r = propagate_ge(s, row(s, i), cols(s, i), s->k[i], 1);
            if (r != STEP_EMPTY && s->kind[i] == PR_ROW_EQ) {
                step t = propagate_ge(s, row(s, i), cols(s, i), s->k[i], -1);
                if (t != STEP_NONE) r = t;
            }
            if (r == STEP_EMPTY) return r;
            changed |= r == STEP_CHANGED;
        }
        if (!changed) break;
        any = STEP_CHANGED;
    }
    return any;
}

/* Once over the rows that have changed: the steps after it change more, and it runs before each of them. */
static step propagate(pr_system *s) { return propagate_rounds(s, 1); }

/* --- R3 ------------------------------------------------------------------------------------ */

/* 1: same coefficients, -1: opposite ones, 0: neither. */
static int parallel(const pr_system *s, int x, int y)
{
    const pr_i128 *a = row(s, x), *b = row(s, y);
    int sign = 0;
    if (memcmp(cols(s, x), cols(s, y), sizeof(uint64_t) * (size_t)s->words) != 0) return 0;
    EACH_COL(s, cols(s, x), j) {
        int here = a[j] == b[j] ? 1 : a[j] == -b[j] ? -1 : 0;
        if (here == 0 || (sign && here != sign)) return 0;
        sign = here;
    }
    return sign;
}

static step pair_rows(pr_system *s)
{
    step result = STEP_NONE;
    uint64_t *key = PR_NEW_N(s->arena, uint64_t, s->n_rows);
    for (int i = 0; i < s->n_rows; i++) {
        if (s->kind[i] == PR_ROW_DEAD) continue;
        const pr_i128 *c = row(s, i);
        uint64_t h = 0;
        EACH_COL(s, cols(s, i), j) {
            pr_i128 v = c[j] < 0 ? -c[j] : c[j];
            h = (h ^ ((uint64_t)v + (uint64_t)j * 0x9e3779b97f4a7c15u)) * 0x100000001b3u;
        }
        key[i] = h;
    }
    for (int i = 0; i < s->n_rows; i++) {
        for (int j = 0; j < i && s->kind[i] != PR_ROW_DEAD; j++) {
            if (s->kind[j] == PR_ROW_DEAD || key[i] != key[j]) continue;
            int p = parallel(s, i, j);
            if (p == 0) continue;
            bool ei = s->kind[i] == PR_ROW_EQ, ej = s->kind[j] == PR_ROW_EQ;
            pr_i128 sum;
            if (p > 0 ? !pr_sub_ok(s->k[i], s->k[j], &sum) : !pr_add_ok(s->k[i], s->k[j], &sum))
                return STEP_OVERFLOW;
            if (ei && ej) {
                if (sum != 0) return STEP_EMPTY;
                s->kind[i] = PR_ROW_DEAD;
            } else if (ei || ej) {
                /* The equality fixes the form: the inequality holds or not. */
                int e = ei ? i : j, g = ei ? j : i;
                pr_i128 v;
                if (p > 0 ? !pr_sub_ok(s->k[g], s->k[e], &v) : !pr_add_ok(s->k[g], s->k[e], &v))
                    return STEP_OVERFLOW;
                if (v < 0) return STEP_EMPTY;
                s->kind[g] = PR_ROW_DEAD;
                result = STEP_CHANGED;
            } else if (p > 0) {
                if (s->k[i] < s->k[j]) s->k[j] = s->k[i], s->row_at[j] = 0;
                s->kind[i] = PR_ROW_DEAD;
            } else {
                if (sum < 0) return STEP_EMPTY;
                if (sum == 0) {
                    s->kind[j] = PR_ROW_EQ;
                    s->row_at[j] = 0;
                    s->kind[i] = PR_ROW_DEAD;
                    result = STEP_CHANGED;
                }
            }
        }
    }
    return result;
}

/* A narrow opposite pair 0 <= e + k_j <= w with several columns: e + k_j - slack = 0. */
static step slack_pairs(pr_system *s)
{
    step result = STEP_NONE;
    for (int i = 0; i < s->n_rows; i++) {
        if (s->kind[i] != PR_ROW_GE || count_cols(s, cols(s, i)) < 3) continue;
        for (int j = 0; j < i; j++) {
            if (s->kind[j] != PR_ROW_GE || parallel(s, i, j) != -1) continue;
            pr_i128 width = s->k[i] + s->k[j];
            if (width < 1 || width > SLACK_WIDTH || s->n_cols == s->stride) continue;
            int v = s->n_cols++;
            s->lo[v] = 0;
            s->hi[v] = width;
            pr_system_put(s, j, v, -1);
            s->kind[j] = PR_ROW_EQ;
            s->kind[i] = PR_ROW_DEAD;
            result = STEP_CHANGED;
            break;
        }
    }
    return result;
}

/* x - y >= k, both bounded: x - y - d = 0 with d in its own column. Once x and y give way to their digits, the
 * greatest distance would be a bound that no row has. */
bool pr_system_distances(pr_system *s)
{
    bool any = false;
    for (int i = 0, n = s->n_rows; i < n && s->n_cols < s->stride; i++) {
        if (s->kind[i] != PR_ROW_GE || count_cols(s, cols(s, i)) != 2) continue;
        const pr_i128 *c = row(s, i);
        int x = col_from(s, cols(s, i), 0), y = col_from(s, cols(s, i), x + 1);
        if (c[x] == -1 && c[y] == 1) {
            int t = x;
            x = y, y = t;
        }
        pr_i128 far;
        if (c[x] != 1 || c[y] != -1 || open_high(s->hi[x]) || open_low(s->lo[y]) || s->k[i] <= -PR_INF || s->k[i] >= PR_INF
            || !pr_sub_ok(s->hi[x], s->lo[y], &far) || open_high(far))
            continue;
        int d = s->n_cols++;
        s->lo[d] = -s->k[i];
        s->hi[d] = far;
        pr_system_put(s, i, d, -1);
        s->k[i] = 0;
        s->kind[i] = PR_ROW_EQ;
        any = true;
    }
    return any;
}

/* --- R4 ------------------------------------------------------------------------------------ */

/* Upper bound of sum c*x over the columns in `in` (a list): bounds, improved by rows whose columns
 * all lie in the list with coefficients in a common negative ratio (each column used once). sign -1
 * asks for the bound of -sum. */
static pr_i128 tail_max(pr_system *s, const pr_i128 *c, const int *in, int n, int sign,
                        const uint64_t *member)
{
    bool *used = s->used;
    pr_i128 total = 0, v;
    memset(used, 0, sizeof *used * (size_t)s->n_cols);
    for (int r = 0; r < s->n_rows; r++) {
        if (s->kind[r] != PR_ROW_GE) continue;
        const pr_i128 *a = row(s, r);
        const uint64_t *m = cols(s, r);
        int first = -1;
        bool fits = true;
        pr_i128 box = 0;
        bool open = false;
        for (int w = 0; w < s->words && fits; w++) fits = (m[w] & ~member[w]) == 0;
        for (int j = fits ? col_from(s, m, 0) : -1; j >= 0 && fits; j = col_from(s, m, j + 1)) {
            if (used[j]) {
                fits = false;
                break;
            }
            if (first < 0) first = j;
            pr_i128 x, y;
            fits = pr_mul_ok(c[j], a[first], &x) && pr_mul_ok(c[first], a[j], &y)
                && x == y && ((c[j] > 0) == (sign > 0)) == (a[j] < 0);
            pr_i128 b = (c[j] > 0) == (sign > 0) ? s->hi[j] : s->lo[j];
            if (open_low(b) || open_high(b) || !pr_mul_ok(c[j] * sign, b, &v)
                || !pr_add_ok(box, v, &box))
                open = true;
        }
        if (!fits || first < 0) continue;
        /* sum c*x*sign = ratio * (-sum a*x) <= ratio * k, ratio = |c|/|a| */
        pr_i128 up = c[first] > 0 ? c[first] : -c[first];
        pr_i128 down = a[first] > 0 ? a[first] : -a[first];
        if (!pr_mul_ok(up, s->k[r], &v)) continue;
        v = pr_fdiv(v, down);
        if (!open && v >= box) continue;
        if (!pr_add_ok(total, v, &total)) return PR_INF;
        EACH_COL(s, m, j) used[j] = true;
    }
    for (int i = 0; i < n; i++) {
        int j = in[i];
        if (used[j]) continue;
        pr_i128 b = (c[j] > 0) == (sign > 0) ? s->hi[j] : s->lo[j];
        if (open_low(b) || open_high(b) || !pr_mul_ok(c[j] * sign, b, &v)
            || !pr_add_ok(total, v, &total))
            return PR_INF;
    }
    return total < PR_INF ? total : PR_INF;
}

/* Finds a cut of sum c*x + k = 0 (columns m); the head becomes a row of its own, the tail stays in c. */
static step split_form(pr_system *s, pr_i128 *c, uint64_t *m, pr_i128 *k)
{
    int order[256], n = 0;
    EACH_COL(s, m, j) {
        if (n == 256) return STEP_NONE;
        pr_i128 v = c[j] < 0 ? -c[j] : c[j];
        int at = n++;
        while (at > 0) {
            pr_i128 w = c[order[at - 1]];
            if ((w < 0 ? -w : w) >= v) break;
            order[at] = order[at - 1];
            at--;
        }
        order[at] = j;
    }
    if (n < 2) return STEP_NONE;
    uint64_t *member = PR_NEW_N(s->arena, uint64_t, s->words);
    for (int i = 0; i < n; i++) set_bit(member, order[i]);
    pr_i128 g = 0;
    for (int cut = 1; cut < n; cut++) {
        pr_i128 v = c[order[cut - 1]], w = c[order[cut]];
        drop_bit(member, order[cut - 1]);
        g = pr_gcd(g, v);
        if (g == 1) return STEP_NONE;
        if ((v < 0 ? -v : v) == (w < 0 ? -w : w)) continue;
        pr_i128 hi = tail_max(s, c, order + cut, n - cut, 1, member);
        if (hi >= PR_INF) continue;
        pr_i128 lo = tail_max(s, c, order + cut, n - cut, -1, member);
        if (lo >= PR_INF) continue;
        lo = -lo;
        if (!pr_add_ok(lo, *k, &lo) || !pr_add_ok(hi, *k, &hi)) return STEP_OVERFLOW;
        /* The head is -(tail + k), a multiple of g in [-hi, -lo]. */
        pr_i128 first = -pr_fdiv(-lo, g), last = pr_fdiv(hi, g), head_k;
        if (first > last) return STEP_EMPTY;
        if (first != last) continue;
        if (!pr_mul_ok(first, g, &head_k)) return STEP_OVERFLOW;
        int h = pr_system_row(s);
        if (h < 0) return STEP_OVERFLOW;
        for (int i = 0; i < cut; i++) {
            pr_system_put(s, h, order[i], c[order[i]]);
            drop_bit(m, order[i]);
        }
        s->k[h] = head_k;
        s->kind[h] = PR_ROW_EQ;
        if (!pr_sub_ok(*k, head_k, k)) return STEP_OVERFLOW;
        step r = normalise(s, h);
        return r == STEP_NONE ? STEP_CHANGED : r;
    }
    return STEP_NONE;
}

static step split_rows(pr_system *s)
{
    step result = STEP_NONE;
    for (int i = 0; i < s->n_rows; i++) {
        if (s->kind[i] != PR_ROW_EQ) continue;
        step r = split_form(s, row(s, i), cols(s, i), &s->k[i]);
        if (r == STEP_EMPTY || r == STEP_OVERFLOW) return r;
        if (r == STEP_NONE) continue;
        r = normalise(s, i);
        if (r == STEP_EMPTY || r == STEP_OVERFLOW) return r;
        result = STEP_CHANGED;
        i = -1;                       /* new bounds may let other rows split: start over */
    }
    return result;
}

/* --- R5 ------------------------------------------------------------------------------------ */

static step difference_rows(pr_system *s)
{
    pr_i128 *d = s->spare;
    uint64_t *m = PR_NEW_N(s->arena, uint64_t, s->words);
    for (int i = 0; i < s->n_rows; i++) {
        if (s->kind[i] != PR_ROW_EQ) continue;
        for (int j = 0; j < i; j++) {
            if (s->kind[j] != PR_ROW_EQ) continue;
            const uint64_t *ma = cols(s, i), *mb = cols(s, j);
            int common = 0;
            for (int w = 0; w < s->words; w++) common += __builtin_popcountll(ma[w] & mb[w]);
            if (common < 2) continue;
            for (int sign = -1; sign <= 1; sign += 2) {
                const pr_i128 *a = row(s, i), *b = row(s, j);
                int cancelled = 0, left = 0;
                bool ok = true;
                pr_i128 k, v;
                for (int w = 0; w < s->words; w++) m[w] = ma[w] & mb[w];
                EACH_COL(s, m, c) cancelled += sign > 0 ? a[c] == -b[c] : a[c] == b[c];
                if (cancelled < 2) continue;
                for (int w = 0; w < s->words; w++) m[w] = ma[w] | mb[w];
                for (int c = col_from(s, m, 0); c >= 0 && ok; c = col_from(s, m, c + 1)) {
                    d[c] = has(ma, c) ? a[c] : 0;
                    if (has(mb, c)) ok = pr_mul_ok(b[c], sign, &v) && pr_add_ok(d[c], v, &d[c]);
                    if (d[c] == 0) drop_bit(m, c);
                    left += d[c] != 0;
                }
                if (!ok) continue;
                if (!pr_mul_ok(s->k[j], sign, &v) || !pr_add_ok(s->k[i], v, &k)) continue;
                step r = left <= 2 ? STEP_CHANGED : split_form(s, d, m, &k);
                if (r == STEP_EMPTY || r == STEP_OVERFLOW) return r;
                if (r != STEP_CHANGED) continue;
                memcpy(cols(s, i), m, sizeof *m * (size_t)s->words);
                EACH_COL(s, m, c) row(s, i)[c] = d[c];
                s->k[i] = k;
                r = normalise(s, i);
                return r == STEP_NONE ? STEP_CHANGED : r;
            }
        }
    }
    return STEP_NONE;
}

/* --- R6 ------------------------------------------------------------------------------------ */

/* Removes column v with the equality e (coefficient +1 or -1) everywhere. */
static step eliminate(pr_system *s, int e, int v)
{
    pr_i128 *def = PR_NEW_N(s->arena, pr_i128, s->stride);      /* dense: for pr_system_recover */
    uint64_t *of = pr_arena_copy(s->arena, cols(s, e), sizeof *of * (size_t)s->words);
    EACH_COL(s, of, j) def[j] = row(s, e)[j];
    pr_i128 def_k = s->k[e], unit = def[v];
    assert(unit == 1 || unit == -1);
    s->kind[e] = PR_ROW_DEAD;
    s->elim_col[s->n_elim] = v;
    s->elim_c[s->n_elim] = def;
    s->elim_k[s->n_elim++] = def_k;
    s->gone[v] = 1;

    for (int i = 0; i < s->n_rows; i++) {
        pr_i128 *c = row(s, i);
        uint64_t *m = cols(s, i);
        if (s->kind[i] == PR_ROW_DEAD || !has(m, v)) continue;
        pr_i128 f = -c[v] * unit, t;
        EACH_COL(s, of, j) {
            if (!has(m, j)) c[j] = 0;
            if (!pr_mul_ok(def[j], f, &t) || !pr_add_ok(c[j], t, &c[j])) return STEP_OVERFLOW;
            if (c[j]) set_bit(m, j);
            else drop_bit(m, j);
        }
        if (!pr_mul_ok(def_k, f, &t) || !pr_add_ok(s->k[i], t, &s->k[i])) return STEP_OVERFLOW;
        assert(!has(m, v));
        step r = normalise(s, i);
        if (r == STEP_EMPTY || r == STEP_OVERFLOW) return r;
    }
    /* The bounds of v become rows on the others: v = -unit*(rest + k). */
    pr_i128 lo = s->lo[v], hi = s->hi[v];
    for (int side = 0; side < 2; side++) {
        if (side ? open_high(hi) : open_low(lo)) continue;
        int i = pr_system_row(s);
        if (i < 0) return STEP_OVERFLOW;
        pr_i128 f = side ? unit : -unit, t;      /* side 0: v - lo >= 0, side 1: hi - v >= 0 */
        const pr_i128 *c = row(s, i);
        const uint64_t *m = cols(s, i);
        EACH_COL(s, of, j) {
            if (j != v) pr_system_put(s, i, j, def[j] * f);
        }
        if (!pr_mul_ok(def_k, f, &t)
            || !(side ? pr_add_ok(t, hi, &s->k[i]) : pr_sub_ok(t, lo, &s->k[i])))
            return STEP_OVERFLOW;
        s->kind[i] = PR_ROW_GE;
        pr_i128 low, high, least;
        activity(s, c, m, &low, &high);
        if (!open_low(low) && pr_add_ok(low, s->k[i], &least) && least >= 0) {
            s->kind[i] = PR_ROW_DEAD;            /* implied by the bounds of the others */
            continue;
        }
        step r = normalise(s, i);
        if (r == STEP_EMPTY || r == STEP_OVERFLOW) return r;
    }
    s->lo[v] = -PR_INF;
    s->hi[v] = PR_INF;
    return STEP_CHANGED;
}

static bool is_unit(pr_i128 v) { return v == 1 || v == -1; }

/* x = y + k, anywhere. */
static step substitute_pair(pr_system *s)
{
    for (int i = 0; i < s->n_rows; i++) {
        if (s->kind[i] != PR_ROW_EQ || count_cols(s, cols(s, i)) != 2) continue;
        const pr_i128 *c = row(s, i);
        int a = col_from(s, cols(s, i), 0), b = col_from(s, cols(s, i), a + 1);
        if (is_unit(c[a]) && is_unit(c[b])) return eliminate(s, i, a);
    }
    return STEP_NONE;
}

/* A column fixed by its bounds leaves all rows. */
static step substitute_fixed(pr_system *s)
{
    step result = STEP_NONE;
    for (int j = 0; j < s->n_cols; j++) {
        if (s->gone[j] || s->lo[j] != s->hi[j]) continue;
        for (int i = 0; i < s->n_rows; i++) {
            pr_i128 t;
            if (s->kind[i] == PR_ROW_DEAD || !has(cols(s, i), j)) continue;
            if (!pr_mul_ok(row(s, i)[j], s->lo[j], &t) || !pr_add_ok(s->k[i], t, &s->k[i]))
                return STEP_OVERFLOW;
            drop_bit(cols(s, i), j);
            step r = normalise(s, i);
            if (r == STEP_EMPTY || r == STEP_OVERFLOW) return r;
            result = STEP_CHANGED;
        }
    }
    return result;
}

static step substitute_unit(pr_system *s)
{
    int best_row = -1, best = s->n_cols;
    for (int i = 0; i < s->n_rows; i++) {
        if (s->kind[i] != PR_ROW_EQ) continue;
        const pr_i128 *c = row(s, i);
        for (int j = col_from(s, cols(s, i), 0); j >= 0 && j < best; j = col_from(s, cols(s, i), j + 1)) {
            if (is_unit(c[j])) {
                best = j;
                best_row = i;
            }
        }
    }
    return best_row < 0 ? STEP_NONE : eliminate(s, best_row, best);
}

/* --- all ----------------------------------------------------------------------------------- */

/* The cheap steps first; any change starts over. */
static step one_step(pr_system *s, unsigned flags)
{
    step (*const steps[])(pr_system *) = { propagate, substitute_fixed, pair_rows, substitute_pair,
                                           split_rows, difference_rows, substitute_unit };
    for (size_t i = 0; i < PR_LEN(steps); i++) {
        if ((flags & PR_ROWS_NO_SPLIT) && (steps[i] == split_rows || steps[i] == difference_rows))
            continue;
        step r = steps[i](s);
        if (r == STEP_EMPTY || r == STEP_OVERFLOW) return r;
        /* Tighter bounds alone help the later steps of this round; do not loop on them. */
        if (r == STEP_CHANGED && steps[i] != propagate) return r;
    }
    return STEP_NONE;
}

pr_prepared pr_system_bounds(pr_system *s)
{
    step r = STEP_NONE;
    for (int i = 0; i < s->n_rows; i++) {
        if (s->kind[i] == PR_ROW_DEAD) continue;
        r = normalise(s, i);
        if (r == STEP_EMPTY) return PR_PREPARED_EMPTY;
        if (r == STEP_OVERFLOW) return PR_PREPARED_OVERFLOW;
    }
    r = pair_rows(s);
    if (r != STEP_EMPTY && r != STEP_OVERFLOW) r = propagate_rounds(s, BOUNDS_ROUNDS);
    return r == STEP_EMPTY ? PR_PREPARED_EMPTY : r == STEP_OVERFLOW ? PR_PREPARED_OVERFLOW : PR_PREPARED_OPEN;
}

pr_prepared pr_system_prepare(pr_system *s, unsigned flags)
{
    step r = STEP_NONE;
    for (int j = 0; j < s->n_cols; j++) {
        if (s->lo[j] > s->hi[j]) return PR_PREPARED_EMPTY;
    }
    for (int i = 0; i < s->n_rows; i++) {
        if (s->kind[i] == PR_ROW_DEAD) continue;
        r = normalise(s, i);
        if (r == STEP_EMPTY) return PR_PREPARED_EMPTY;
        if (r == STEP_OVERFLOW) return PR_PREPARED_OVERFLOW;
    }
    if (!(flags & PR_ROWS_NO_SPLIT)) {
        r = pair_rows(s);
        if (r != STEP_EMPTY && r != STEP_OVERFLOW) slack_pairs(s);
    }
    for (int i = 0; i < MAX_STEPS && r != STEP_EMPTY && r != STEP_OVERFLOW; i++) {
        r = one_step(s, flags);
        if (r == STEP_NONE) break;
    }
    if (r == STEP_EMPTY) return PR_PREPARED_EMPTY;
    return r == STEP_OVERFLOW ? PR_PREPARED_OVERFLOW : PR_PREPARED_OPEN;
}

void pr_system_leaf(pr_system *s, pr_leaf *leaf)
{
    bool *used = PR_NEW_N(s->arena, bool, s->n_cols);
    int n_rows = 0;
    for (int i = 0; i < s->n_rows; i++) {
        if (s->kind[i] == PR_ROW_DEAD) continue;
        n_rows++;
        EACH_COL(s, cols(s, i), j) used[j] = true;
    }
    s->live = PR_NEW_N(s->arena, int, s->n_cols);
    s->n_live = 0;
    for (int j = 0; j < s->n_cols; j++) {
        if (used[j]) s->live[s->n_live++] = j;
    }
    leaf->n_cols = s->n_live;
    leaf->n_rows = 0;
    leaf->bounded_below = true;
    pr_i128 *lo = PR_NEW_N(s->arena, pr_i128, s->n_live);
    pr_i128 *hi = PR_NEW_N(s->arena, pr_i128, s->n_live);
    for (int i = 0; i < s->n_live; i++) {
        lo[i] = s->lo[s->live[i]];
        hi[i] = s->hi[s->live[i]];
        if (open_low(lo[i])) leaf->bounded_below = false;
    }
    leaf->lo = lo;
    leaf->hi = hi;
    pr_row *rows = PR_NEW_N(s->arena, pr_row, n_rows);
    for (int i = 0; i < s->n_rows; i++) {
        if (s->kind[i] == PR_ROW_DEAD) continue;
        pr_i128 *c = PR_NEW_N(s->arena, pr_i128, s->n_live);
        for (int j = 0; j < s->n_live; j++) c[j] = has(cols(s, i), s->live[j]) ? row(s, i)[s->live[j]] : 0;
        rows[leaf->n_rows++] = (pr_row){ c, s->k[i], s->kind[i] == PR_ROW_EQ };
    }
    leaf->rows = rows;
}

bool pr_system_recover(const pr_system *s, const pr_i128 *leaf_value, pr_i128 *value)
{
    for (int j = 0; j < s->n_cols; j++) {
        value[j] = !open_low(s->lo[j]) ? s->lo[j] : !open_high(s->hi[j]) ? s->hi[j] : 0;
        /* Zero is the readable choice where it is allowed. */
        if (s->lo[j] <= 0 && s->hi[j] >= 0) value[j] = 0;
    }
    for (int i = 0; i < s->n_live; i++) value[s->live[i]] = leaf_value[i];
    for (int e = s->n_elim; e-- > 0;) {
        int v = s->elim_col[e];
        const pr_i128 *c = s->elim_c[e];
        pr_i128 sum = s->elim_k[e], t;
        for (int j = 0; j < s->n_cols; j++) {
            if (j == v || c[j] == 0) continue;
            if (!pr_mul_ok(c[j], value[j], &t) || !pr_add_ok(sum, t, &sum)) return false;
        }
        if (!pr_mul_ok(sum, -c[v], &value[v])) return false;
    }
    return true;
}
