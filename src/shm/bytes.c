/* Which bytes of its allocation does an element have? (shared-memory.md 6.2) The layouts of shared memory are one to one, so views of
 * one allocation are compared by their boxes; bytes are for what two allocations share, and for people. */
#include "shm/walk.h"
#include <string.h>

typedef enum { UNREAD, SWIZZLED, PANELS } kind;
/* Of the last `rank` dimensions of the storage; those before are slots. */
typedef struct layout { kind kind; int rank, fast, slow, outer; int64_t vec, per_phase, max_phase, panel; } layout;

/* The text behind `key`, up to the end. */
static bool behind(pr_str s, const char *key, pr_str *rest)
{
    size_t n = strlen(key);
    for (size_t i = 0; i + n <= s.n; i++) {
        if (memcmp(s.s + i, key, n)) continue;
        *rest = (pr_str){ s.s + i + n, s.n - i - n };
        return true;
    }
    return false;
}

static int64_t number_behind(pr_str s, const char *key)
{
    pr_str r;
    int64_t v = 0;
    if (!behind(s, key, &r) || !r.n || r.s[0] < '0' || r.s[0] > '9') return -1;
    for (size_t i = 0; i < r.n && r.s[i] >= '0' && r.s[i] <= '9' && v < 1 << 20; i++) v = 10 * v + (r.s[i] - '0');
    return v;
}

static bool power_of_two(int64_t v) { return v > 0 && !(v & (v - 1)); }

static layout layout_of(const pr_shm_alloc *a)
{
    pr_str t = a->op->results[0]->type->text, s;
    layout l = { 0 };
    if (a->memory != PR_SHM_SMEM || a->elem_bits % 8 || a->rank < 1) return l;
    for (int i = 0; i < a->rank; i++)
        if (!power_of_two(a->shape[i]) && i) return l;
    if (behind(t, "#ttg.swizzled_shared<{", &s)) {
        pr_str o;
        int order[PR_SHM_RANK];
        l = (layout){ .vec = number_behind(s, "vec = "), .per_phase = number_behind(s, "perPhase = "), .max_phase = number_behind(s, "maxPhase = ") };
        if (!power_of_two(l.vec) || !power_of_two(l.per_phase) || !power_of_two(l.max_phase) || !behind(s, "order = [", &o)) return (layout){ 0 };
        for (size_t i = 0; i < o.n && o.s[i] != ']'; i++) {
            if (o.s[i] == ' ' || o.s[i] == ',') continue;
            if (o.s[i] < '0' || o.s[i] > '9' || l.rank == PR_SHM_RANK) return (layout){ 0 };
            order[l.rank++] = o.s[i] - '0';
        }
        if (l.rank < 1 || l.rank > 2 || l.rank > a->rank || (l.rank == 2 && order[0] + order[1] != 1) || (l.rank == 1 && order[0])) return (layout){ 0 };
        l.outer = a->rank - l.rank;
        l.fast = l.outer + order[0];
        l.slow = l.rank == 2 ? l.outer + order[1] : -1;
        l.kind = SWIZZLED;
    } else if (behind(t, "#ttg.nvmma_shared<{", &s)) {
        int64_t width = number_behind(s, "swizzlingByteWidth = "), bits = number_behind(s, "elementBitWidth = ");
        pr_str unused;
        if (a->rank < 2 || bits != a->elem_bits || behind(s, "fp4Padded = true", &unused) || behind(s, "rank = ", &unused)) return l;
        if (width != 0 && width != 32 && width != 64 && width != 128) return l;
        bool turned = behind(s, "transposed = true", &unused);
        l = (layout){ .kind = PANELS, .rank = 2, .outer = a->rank - 2, .vec = 128 / bits };
        l.fast = l.outer + !turned;
        l.slow = l.outer + turned;
        int64_t across = a->shape[l.fast];
        l.per_phase = width ? 128 / width : 1;
        l.max_phase = width ? width / 16 : 1;
        l.panel = width ? width * 8 / bits : across;
        if (!power_of_two(a->shape[l.outer]) || (width ? across < l.panel || a->shape[l.slow] < 8 : across > 256)) return (layout){ 0 };
    } else return l;
    if (!power_of_two(a->shape[l.fast])) return (layout){ 0 };
    return l;
}

static int64_t element(const pr_shm_alloc *a, const layout *l, const int64_t *at)
{
    int64_t tile = 0, size = 1, across = a->shape[l->fast], down = l->slow < 0 ? 1 : a->shape[l->slow], x = at[l->fast], y = l->slow < 0 ? 0 : at[l->slow];
    for (int i = 0; i < l->outer; i++) tile = tile * a->shape[i] + at[i];
    for (int i = l->outer; i < a->rank; i++) size *= a->shape[i];
    int64_t turn = l->vec * (y / l->per_phase % l->max_phase);
    if (l->kind == SWIZZLED) return tile * size + y * across + (x ^ turn % across);
    return tile * size + x / l->panel * (down * l->panel) + y * l->panel + ((x % l->panel) ^ turn);
}

int64_t pr_shm_first_byte(const pr_shm_alloc *a, const int64_t *at)
{
    layout l = layout_of(a);
    return l.kind == UNREAD ? -1 : element(a, &l, at) * (a->elem_bits / 8);
}

static bool box_of(pr_shm_prog *p, const pr_shm_view *v, int64_t *lo, int64_t *hi)
{
    const pr_shm_alloc *a = &p->allocs.data[v->alloc];
    for (int i = 0; i < a->rank; i++) {
        pr_i128 n = v->lo[i];
        if (v->indexed[i] && (pr_term_none(v->index[i]) || !pr_term_const(p->T, v->index[i], &n))) return false;
        lo[i] = (int64_t)n;
        hi[i] = v->indexed[i] ? (int64_t)n + 1 : v->hi[i];
        if (n < 0 || lo[i] >= hi[i] || hi[i] > a->shape[i]) return false;
    }
    return true;
}

bool pr_shm_byte_range(pr_shm_prog *p, const pr_shm_view *v, int64_t *first, int64_t *end)
{
    const pr_shm_alloc *a = &p->allocs.data[v->alloc];
    int64_t lo[PR_SHM_RANK], hi[PR_SHM_RANK], inner = a->elem_bits;
    *first = *end = -1;
    if (p->n_ctas != 1 || !box_of(p, v, lo, hi)) return false;
    for (int i = 1; i < a->rank; i++) {
        inner *= a->shape[i];
        if (lo[i] || hi[i] != a->shape[i]) return false;
    }
    if (!v->indexed[0] && (lo[0] || hi[0] != a->shape[0])) {     /* rows of a tile follow one another in some layouts  */
        layout l = layout_of(a);
        bool rows = l.kind != UNREAD && (l.outer > 0 || a->rank == 1 || (l.slow == 0 && (l.kind == SWIZZLED || l.panel == a->shape[l.fast])));
        if (!rows) return false;
    }
    *first = lo[0] * inner / 8;
    *end = hi[0] * inner / 8;
    return true;
}

/* Marks the elements of a box, or asks whether one of them is marked. Bits are bytes from `base`. */
static bool sweep(const pr_shm_alloc *a, const layout *l, const int64_t *lo, const int64_t *hi, uint64_t *bits, int64_t base, int64_t n, bool mark)
{
    int64_t at[PR_SHM_RANK];
    memcpy(at, lo, sizeof at);
    for (;;) {
        int64_t from = a->offset + element(a, l, at) * (a->elem_bits / 8) - base;
        for (int64_t i = from; i < from + a->elem_bits / 8; i++) {
            if (i < 0 || i >= n) continue;
            if (!mark && (bits[i >> 6] >> (i & 63) & 1)) return true;
            if (mark) bits[i >> 6] |= (uint64_t)1 << (i & 63);
        }
        int d = a->rank - 1;
        for (; d >= 0 && ++at[d] == hi[d]; d--) at[d] = lo[d];
        if (d < 0) return false;
    }
}

enum { MOST_BYTES = 1 << 20 };

pr_tri pr_shm_bytes_meet(pr_shm_prog *p, const pr_shm_view *x, const pr_shm_view *y)
{
    const pr_shm_alloc *a = &p->allocs.data[x->alloc], *b = &p->allocs.data[y->alloc];
    int64_t la, ha, lb, hb, lo[2][PR_SHM_RANK], hi[2][PR_SHM_RANK], size[2];
    bool whole_a = pr_shm_byte_range(p, x, &la, &ha), whole_b = pr_shm_byte_range(p, y, &lb, &hb);
    if (a->memory != b->memory || p->n_ctas != 1 || a->offset < 0 || b->offset < 0) return PR_MAYBE;
    if (whole_a && whole_b) return a->offset + la < b->offset + hb && b->offset + lb < a->offset + ha ? PR_YES : PR_NO;
    if (!box_of(p, x, lo[0], hi[0]) || !box_of(p, y, lo[1], hi[1])) return PR_MAYBE;
    for (int k = 0; k < 2; k++) {
        const pr_shm_alloc *s = k ? b : a;
        size[k] = s->elem_bits;
        for (int i = 0; i < s->rank; i++) size[k] *= s->shape[i];
        size[k] = (size[k] + 7) / 8;
    }
    if (a->offset >= b->offset + size[1] || b->offset >= a->offset + size[0]) return PR_NO;
    layout m = layout_of(a), n = layout_of(b);
    if (m.kind == UNREAD || n.kind == UNREAD || size[0] > MOST_BYTES || size[1] > MOST_BYTES) return PR_MAYBE;
    pr_arena *own = pr_arena_new(0, pr_arena_oom(p->arena));
    uint64_t *bits = PR_NEW_N(own, uint64_t, size[0] / 64 + 1);
    sweep(a, &m, lo[0], hi[0], bits, a->offset, size[0], true);
    bool meet = sweep(b, &n, lo[1], hi[1], bits, a->offset, size[0], false);
    pr_arena_free(own);
    return meet ? PR_YES : PR_NO;
}
