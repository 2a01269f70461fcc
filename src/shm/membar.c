/* Threads of one partition; see membar.h. */
#include "shm/membar.h"
#include <string.h>
#include "front/ops.h"
#include "front/thread_map.h"

bool pr_shm_orders_shared(const pr_op *op)
{
    if (op->opcode == PR_OP_GPU_BARRIER) return !pr_op_attr(op, "address_spaces");
    if (op->opcode == PR_OP_TTG_BARRIER) return (int)pr_op_attr_int(op, "addrSpace", 0) & 1;
    return pr_str_is(op->name, "ttg.local_barrier");
}

bool pr_shm_orders_tensor(const pr_op *op)
{
    enum { LOCAL = 1, TENSOR = 8 | 16 };
    if (op->opcode == PR_OP_TTG_BARRIER) return (int)pr_op_attr_int(op, "addrSpace", 0) & (LOCAL | TENSOR);
    return pr_shm_orders_shared(op);
}

bool pr_shm_meets_tensor(const pr_shm_event *e) { return e->kind == PR_SHM_EV_MEET || pr_shm_meets(e); }

bool pr_shm_on_tensor_memory(const pr_shm_prog *p, const pr_shm_access *a)
{
    return p->allocs.data[a->view.alloc].memory == PR_SHM_TMEM && a->unit == PR_SHM_SYNC;
}

bool pr_shm_meets(const pr_shm_event *e)
{
    switch (e->kind) {
    case PR_SHM_EV_MEET: return !e->count;
    case PR_SHM_EV_DOT_WAIT: return e->warps > 4 && !e->bare && !pr_op_attr(e->op, "warpGroupLocal");
    case PR_SHM_EV_ENTRY: case PR_SHM_EV_JOIN: case PR_SHM_EV_BEGIN: case PR_SHM_EV_END: return true;
    default: return false;
    }
}

bool pr_shm_waits_alone(const pr_shm_event *e)
{
    return e->kind == PR_SHM_EV_CP_WAIT || e->kind == PR_SHM_EV_STORE_WAIT
           || (e->kind == PR_SHM_EV_DOT_WAIT && e->warps > 4 && (e->bare || pr_op_attr(e->op, "warpGroupLocal")));
}

bool pr_shm_signals_all(const pr_shm_event *e)
{
    return (e->kind == PR_SHM_EV_ARRIVE && !e->bare) || e->kind == PR_SHM_EV_CP_ARRIVE;
}

/* One thread of the agent, always the same. */
static bool elected(const pr_shm_access *a)
{
    return a->unit == PR_SHM_TMA_LOAD || a->unit == PR_SHM_TMA_STORE || a->unit == PR_SHM_TC;
}

static bool injective(pr_shm_prog *p, const pr_shm_event *e, const pr_type *t)
{
    return t && t->kind == PR_TYPE_TENSOR && pr_layout_is_injective(t->encoding, t->rank, t->shape, e->warps, p->threads_per_warp);
}

/* An operand layout of a tensor core instruction whose elements several warps hold. */
static bool replicated(const pr_type *t)
{
    static const char head[] = "#ttg.dot_op<{opIdx = ", warps[] = "warpsPerCTA = [";
    if (!t || t->kind != PR_TYPE_TENSOR || !pr_str_starts(t->encoding, head) || t->encoding.n <= sizeof head) return false;
    int operand = t->encoding.s[sizeof head - 1] - '0', n = 0;
    int64_t v[8] = { 0 };
    for (size_t i = sizeof head; i + sizeof warps - 1 < t->encoding.n; i++) {
        if (memcmp(t->encoding.s + i, warps, sizeof warps - 1)) continue;
        for (i += sizeof warps - 1; i < t->encoding.n && t->encoding.s[i] != ']'; i++) {
            char c = t->encoding.s[i];
            if (c >= '0' && c <= '9' && v[n] < 1000) v[n] = v[n] * 10 + (c - '0');
            else if (c == ',' && ++n == 8) return false;
        }
        n++;
        break;
    }
    return n >= 2 && (operand == 0 ? v[n - 1] > 1 : operand == 1 && v[n - 2] > 1);
}

enum { MOST_ELEMENTS = 1 << 16, BITS = 32 };
typedef struct owners { int64_t bit[PR_MAX_RANK][BITS]; } owners;

static int64_t owner(const owners *o, const pr_shm_access *a, const int64_t *at)
{
    int64_t thread = 0;
    for (int i = 0; i < a->view.rank; i++) {
        int64_t x = at[a->view.dim[i]] - a->view.lo[a->view.dim[i]];
        for (int k = 0; k < BITS && x >> k; k++)
            if (x >> k & 1) thread ^= o->bit[i][k];
    }
    return thread;
}

static bool framed(const pr_shm_access *a)
{
    if (a->view.blurred || a->view.rank != a->held->rank) return false;
    for (int i = 0; i < a->view.rank; i++)
        if (a->view.dim[i] < 0) return false;
    return true;
}

/* Of views that begin at one element: owners are sums of what single bits of the coordinates give, so they are equal when those are. MAYBE: other views. */
static pr_tri by_bits(const owners *s, const pr_shm_access *a, const owners *t, const pr_shm_access *b, const int64_t *lo, const int64_t *hi)
{
    if (a->view.rank != b->view.rank) return PR_MAYBE;
    bool equal = true;
    for (int i = 0; i < a->view.rank; i++) {
        int d = a->view.dim[i], j = 0;
        while (j < b->view.rank && b->view.dim[j] != d) j++;
        if (j == b->view.rank || a->view.lo[d] != b->view.lo[d]) return PR_MAYBE;
        for (int k = 0; k < BITS && (int64_t)1 << k < hi[d] - lo[d]; k++) equal = equal && s->bit[i][k] == t->bit[j][k];
    }
    return equal ? PR_NO : PR_YES;
}

/* Both accesses give each element to one thread: is it the same one in both? */
static pr_tri compare(pr_shm_prog *p, const pr_shm_event *x, const pr_shm_access *a, const pr_shm_event *y, const pr_shm_access *b)
{
    owners s, t;
    int rank = p->allocs.data[a->view.alloc].rank;
    int64_t at[PR_SHM_RANK] = { 0 }, lo[PR_SHM_RANK], hi[PR_SHM_RANK], n = 1;
    if (a->view.alloc != b->view.alloc || !framed(a) || !framed(b)) return PR_MAYBE;
    if (!pr_layout_threads(a->held->encoding, a->held->rank, a->held->shape, x->warps, p->threads_per_warp, s.bit)) return PR_MAYBE;
    if (!pr_layout_threads(b->held->encoding, b->held->rank, b->held->shape, y->warps, p->threads_per_warp, t.bit)) return PR_MAYBE;
    for (int d = 0; d < rank; d++) {
        if (a->view.indexed[d] != b->view.indexed[d]) return PR_MAYBE;
        lo[d] = hi[d] = 0;
        if (a->view.indexed[d]) continue;
        lo[d] = a->view.lo[d] > b->view.lo[d] ? a->view.lo[d] : b->view.lo[d];
        hi[d] = a->view.hi[d] < b->view.hi[d] ? a->view.hi[d] : b->view.hi[d];
        if (hi[d] <= lo[d]) return PR_NO;
        at[d] = lo[d];
        n *= hi[d] - lo[d];
    }
    pr_tri short_cut = by_bits(&s, a, &t, b, lo, hi);
    if (short_cut != PR_MAYBE) return short_cut;
    if (n > MOST_ELEMENTS) return PR_MAYBE;
    for (int64_t i = 0; i < n; i++) {
        if (owner(&s, a, at) != owner(&t, b, at)) return PR_YES;
        for (int d = rank - 1; d >= 0; d--) {
            if (hi[d] == lo[d]) continue;
            if (++at[d] < hi[d]) break;
            at[d] = lo[d];
        }
    }
    return PR_NO;
}

pr_tri pr_shm_two_threads(pr_shm_prog *p, const pr_shm_event *x, const pr_shm_access *a, const pr_shm_event *y, const pr_shm_access *b)
{
    if (elected(a) && elected(b)) return PR_NO;
    if (a->unit == PR_SHM_WGMMA && b->unit == PR_SHM_WGMMA) return PR_YES;
    for (int side = 0; side < 2; side++) {           /* one thread or all warps, and the threads of a tile */
        const pr_shm_access *one = side ? b : a, *tile = side ? a : b;
        const pr_shm_event *e = side ? x : y;
        if (!elected(one) && one->unit != PR_SHM_WGMMA) continue;
        if (tile->unit != PR_SHM_SYNC && tile->unit != PR_SHM_CP) return (side ? y : x)->warps > 4 ? PR_YES : PR_NO;
        /* every thread reads some element; a store may leave out copies */
        if (tile->held && !tile->write && e->warps > 0) return PR_YES;
        return injective(p, e, tile->held) ? PR_YES : PR_MAYBE;
    }
    if (!a->held || !b->held) return PR_MAYBE;
    if (injective(p, x, a->held) && !b->write && replicated(b->held)) return PR_YES;
    if (injective(p, y, b->held) && !a->write && replicated(a->held)) return PR_YES;
    if (!injective(p, x, a->held) || !injective(p, y, b->held)) return PR_MAYBE;
    return compare(p, x, a, y, b);
}

bool pr_shm_scratch_meets(const pr_shm_prog *p, const pr_shm_event *scratch, int64_t lo, int64_t hi)
{
    if (!scratch->scratch_hi) return !p->allocated;  /* after allocation: no offset, no scratch memory */
    return !hi || (scratch->scratch_lo < hi && lo < scratch->scratch_hi);
}
