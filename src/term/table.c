/* The table store and what is computed from entries: ranges by blocks, distances by sorting, runs. */
#include "term/table.h"
#include "term/store.h"
#include <assert.h>
#include <stdlib.h>

enum { BLOCK = 64, SLICES = 8 };

typedef struct slice { pr_i128 lo, hi; pr_tab_facts facts; } slice;
struct pr_table {
    pr_tab_info info;
    pr_interval *block;            /* range of entries BLOCK*k .. BLOCK*k + BLOCK-1               */
    pr_tab_piece *piece; int n_pieces; bool pieces_made;
    slice memo[SLICES]; int n_memo, next_memo;
};

static struct pr_table *table_of(const pr_terms *T, pr_tab t)
{
    assert(t.id && t.id < T->n_tabs);
    return T->tabs[t.id];
}

pr_tab pr_tab_new(pr_terms *T, pr_tab_info info)
{
    if (T->n_tabs == T->cap_tabs) {
        uint32_t cap = T->cap_tabs ? T->cap_tabs * 2 : 8;
        struct pr_table **wider = PR_NEW_N(T->arena, struct pr_table *, cap);
        if (T->n_tabs) memcpy(wider, T->tabs, sizeof *wider * T->n_tabs);
        T->tabs = wider;
        T->cap_tabs = cap;
    }
    if (!T->n_tabs) T->n_tabs = 1;
    struct pr_table *x = PR_NEW(T->arena, struct pr_table);
    assert(!info.values || info.n >= 1);
    if (!info.name) info.name = "table";
    x->info = info;
    T->tabs[T->n_tabs] = x;
    return (pr_tab){ T->n_tabs++ };
}

const pr_tab_info *pr_tab_get(const pr_terms *T, pr_tab t) { return &table_of(T, t)->info; }
uint32_t pr_tabs_count(const pr_terms *T) { return T->n_tabs ? T->n_tabs : 1; }

static int64_t clamped(const struct pr_table *x, pr_i128 i)
{
    return i <= 0 ? 0 : i >= x->info.n ? x->info.n - 1 : (int64_t)i;
}

pr_i128 pr_tab_at(const pr_terms *T, pr_tab t, pr_i128 index)
{
    const struct pr_table *x = table_of(T, t);
    assert(x->info.values);
    return x->info.values[clamped(x, index)];
}

static void widen(pr_interval *r, pr_i128 v)
{
    if (v < r->lo) r->lo = v;
    if (v > r->hi) r->hi = v;
}

static pr_interval scan(const pr_i128 *v, int64_t lo, int64_t hi)
{
    pr_interval r = { v[lo], v[lo] };
    for (int64_t i = lo + 1; i <= hi; i++) widen(&r, v[i]);
    return r;
}

static void make_blocks(const pr_terms *T, struct pr_table *x)
{
    int64_t n = (x->info.n + BLOCK - 1) / BLOCK;
    x->block = PR_NEW_N(T->arena, pr_interval, n);
    for (int64_t k = 0; k < n; k++) {
        int64_t last = k * BLOCK + BLOCK - 1;
        x->block[k] = scan(x->info.values, k * BLOCK, last < x->info.n ? last : x->info.n - 1);
    }
}

pr_interval pr_tab_range(const pr_terms *T, pr_tab t, pr_interval index)
{
    struct pr_table *x = table_of(T, t);
    if (!x->info.values) return (pr_interval){ x->info.lo, x->info.hi };
    int64_t lo = clamped(x, index.lo), hi = clamped(x, index.hi);
    if (hi < lo) hi = lo;          /* no index at all: any answer holds */
    if (hi - lo < 2 * BLOCK) return scan(x->info.values, lo, hi);
    if (!x->block) make_blocks(T, x);
    int64_t from = lo / BLOCK + 1, to = hi / BLOCK;
    pr_interval r = scan(x->info.values, lo, from * BLOCK - 1), end = scan(x->info.values, to * BLOCK, hi);
    widen(&r, end.lo);
    widen(&r, end.hi);
    for (int64_t k = from; k < to; k++) {
        widen(&r, x->block[k].lo);
        widen(&r, x->block[k].hi);
    }
    return r;
}

static int by_value(const void *a, const void *b)
{
    pr_i128 x = *(const pr_i128 *)a, y = *(const pr_i128 *)b;
    return x < y ? -1 : x > y;
}

static pr_tab_facts measure(const pr_arena *arena, const struct pr_table *x, pr_i128 lo, pr_i128 hi)
{
    pr_tab_facts f = { .spread = PR_INF, .nondecreasing = true };
    int64_t from = clamped(x, lo), to = clamped(x, hi);
    const pr_i128 *v = x->info.values;
    bool sorted = true;
    for (int64_t i = from + 1; i <= to; i++)
        if (v[i] < v[i - 1]) sorted = false;
    f.nondecreasing = sorted;
    if (lo < 0 || hi >= x->info.n) {   /* two indices with one clamp */
        f.spread = 0;
        return f;
    }
    if (to <= from) return f;
    const pr_i128 *s = v + from;
    pr_temp hold = { 0 };
    int64_t n = to - from + 1;
    if (!sorted) {
        pr_i128 *copy = pr_temp_new(arena, &hold, sizeof *copy * (size_t)n);
        memcpy(copy, s, sizeof *copy * (size_t)n);
        qsort(copy, (size_t)n, sizeof *copy, by_value);
        s = copy;
    }
    for (int64_t i = 1; i < n; i++)
        if (s[i] - s[i - 1] < f.spread) f.spread = s[i] - s[i - 1];
    pr_temp_end(&hold);
    return f;
}

pr_tab_facts pr_tab_facts_of(const pr_terms *T, pr_tab t, pr_interval index)
{
    struct pr_table *x = table_of(T, t);
    if (!x->info.values)
        return (pr_tab_facts){ .spread = x->info.injective, .nondecreasing = x->info.nondecreasing };
    if (index.hi < index.lo) return (pr_tab_facts){ .spread = 0 };
    for (int i = 0; i < x->n_memo; i++)
        if (x->memo[i].lo == index.lo && x->memo[i].hi == index.hi) return x->memo[i].facts;
    slice s = { index.lo, index.hi, measure(T->arena, x, index.lo, index.hi) };
    x->memo[x->next_memo] = s;
    x->next_memo = (x->next_memo + 1) % SLICES;
    if (x->n_memo < SLICES) x->n_memo++;
    return s.facts;
}

const pr_tab_piece *pr_tab_pieces(const pr_terms *T, pr_tab t, int *n)
{
    struct pr_table *x = table_of(T, t);
    *n = 0;
    if (!x->info.values) return NULL;
    if (!x->pieces_made) {
        pr_tab_piece run[PR_TAB_PIECES];
        int count = 0;
        x->pieces_made = true;
        const pr_i128 *v = x->info.values;
        for (int64_t i = 0; i < x->info.n && count <= PR_TAB_PIECES;) {
            int64_t last = i;
            pr_i128 a = 0, b = v[i], part;
            if (i + 1 < x->info.n) a = v[i + 1] - v[i];
            while (last + 1 < x->info.n && v[last + 1] - v[last] == a) last++;
            if (last == i) a = 0;
            if (count == PR_TAB_PIECES || !pr_mul_ok(a, i, &part) || !pr_sub_ok(b, part, &b)) {
                count = PR_TAB_PIECES + 1;
                break;
            }
            run[count++] = (pr_tab_piece){ i, last, a, b };
            i = last + 1;
        }
        if (count <= PR_TAB_PIECES) {
            x->piece = pr_arena_copy(T->arena, run, sizeof *run * (size_t)count);
            x->n_pieces = count;
        }
    }
    *n = x->n_pieces;
    return x->piece;
}
