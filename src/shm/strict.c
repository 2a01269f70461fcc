/* Threads of one partition, at every trip count; see strict.h. Each obligation has the form "when x comes before y, a
 * barrier (or a fence) comes between", which needs no phases: it is local to one partition. */
#include "shm/strict.h"
#include "shm/membar.h"

typedef bool (*is_link)(const pr_shm_event *e);

static bool fences(const pr_shm_event *e) { return e->kind == PR_SHM_EV_FENCE; }

/* Instances of x and y with a link of their agent between. */
static pr_rel through(const pr_shm_lent *l, int x, int y, is_link link)
{
    pr_rel all = pr_rel_none(l->R);
    for (int r = 0; r < l->n; r++) {
        if (!link(&l->ev[r]) || l->ev[r].may || l->ev[r].agent != l->ev[x].agent) continue;
        all = pr_rel_union(l->R, all, pr_rel_then(l->R, l->order(l->prover, x, r, true), l->order(l->prover, r, y, true)));
    }
    return all;
}

static bool between(const pr_shm_lent *l, int x, int y, pr_rel of, is_link link, const char *why)
{
    pr_tri empty = pr_rel_is_empty(l->R, of);
    if (empty == PR_YES) return true;
    return l->none(l->prover, pr_rel_minus(l->R, of, through(l, x, y, link)), l->ev[y].op, why);
}

static bool in_order(const pr_shm_lent *l, int x, int y, is_link link, const char *why)
{
    return between(l, x, y, l->order(l->prover, x, y, false), link, why);
}

static pr_shm_event_kind wait_for(pr_shm_unit u)
{
    return u == PR_SHM_CP ? PR_SHM_EV_CP_WAIT : u == PR_SHM_WGMMA ? PR_SHM_EV_DOT_WAIT : PR_SHM_EV_STORE_WAIT;
}

/* Every wait for operations like x that comes before y, with a link between it and y. */
static bool waited(const pr_shm_lent *l, int x, pr_shm_unit u, int y, is_link link, const char *why)
{
    for (int w = 0; w < l->n; w++) {
        const pr_shm_event *e = &l->ev[w];
        bool own = e->agent == l->ev[x].agent && (link == fences || pr_shm_waits_alone(e));
        if (e->kind == wait_for(u) && own && !in_order(l, w, y, link, why)) return false;
    }
    return true;
}

static bool counted(pr_shm_unit u) { return u == PR_SHM_CP || u == PR_SHM_WGMMA || u == PR_SHM_TMA_STORE; }

/* x before y in one agent, both with an access to common bytes. */
static bool pair(const pr_shm_lent *l, int x, const pr_shm_access *a, int y, const pr_shm_access *b)
{
    pr_rel meet = l->meeting(l->prover, x, a, y, b);
    if (pr_rel_is_empty(l->R, meet) == PR_YES) return true;
    pr_rel of = pr_rel_meet(l->R, meet, l->order(l->prover, x, y, false));
    if (pr_rel_is_empty(l->R, of) == PR_YES) return true;
    bool threads = pr_shm_two_threads(l->p, &l->ev[x], a, &l->ev[y], b) != PR_NO;
    static const char *const barrier = "no CTA barrier between threads of one partition that access the same bytes";
    static const char *const after = "no CTA barrier between a wait for copies and what other threads do with their bytes";
    static const char *const fence = "no fence_async_shared between an access by threads and one through the async proxy";
    if (threads && a->unit == PR_SHM_SYNC && !between(l, x, y, of, pr_shm_meets, barrier)) return false;
    if (threads && counted(a->unit) && !waited(l, x, a->unit, y, pr_shm_meets, after)) return false;
    if (a->async_proxy || !b->async_proxy) return true;
    if (a->unit == PR_SHM_CP) return waited(l, x, a->unit, y, fences, fence);
    return between(l, x, y, of, fences, fence);
}

/* An access that another partition meets: the signals of its agent tell of it. */
static bool published(const pr_shm_lent *l, int x, const pr_shm_access *a)
{
    static const char *const why = "no CTA barrier between an access and the signal that publishes it";
    for (int s = 0; s < l->n; s++) {
        const pr_shm_event *e = &l->ev[s];
        bool signals = e->n_bar && e->kind != PR_SHM_EV_WAIT && e->kind != PR_SHM_EV_INIT && e->kind != PR_SHM_EV_INVAL;
        if (!signals || pr_shm_signals_all(e) || e->agent != l->ev[x].agent) continue;
        if (a->unit == PR_SHM_SYNC && !in_order(l, x, s, pr_shm_meets, why)) return false;
        if (counted(a->unit) && !waited(l, x, a->unit, s, pr_shm_meets, why)) return false;
    }
    return true;
}

static bool data(const pr_shm_lent *l, const pr_shm_event *e, const pr_shm_access *a)
{
    return e->kind != PR_SHM_EV_DEALLOC && l->p->allocs.data[a->view.alloc].memory == PR_SHM_SMEM;
}

/* Loads and stores of tensor memory by threads of one agent. */
static bool tensor_pair(const pr_shm_lent *l, int x, const pr_shm_access *a, int y, const pr_shm_access *b)
{
    pr_rel of = pr_rel_meet(l->R, l->meeting(l->prover, x, a, y, b), l->order(l->prover, x, y, false));
    if (pr_rel_is_empty(l->R, of) == PR_YES || pr_shm_two_threads(l->p, &l->ev[x], a, &l->ev[y], b) == PR_NO) return true;
    return between(l, x, y, of, pr_shm_meets_tensor, "no CTA barrier between threads of one partition that access the same tensor memory");
}

static void bytes_of(const pr_shm_lent *l, const pr_shm_access *a, int64_t *lo, int64_t *hi)
{
    const pr_shm_alloc *s = &l->p->allocs.data[a->view.alloc];
    int64_t bits = s->elem_bits;
    for (int i = 0; i < s->rank; i++) bits *= s->shape[i];
    *lo = s->offset < 0 ? 0 : s->offset;
    *hi = s->offset < 0 ? 0 : s->offset + (bits + 7) / 8;
}

/* Scratch memory of x against y, which is scratch memory too or an access. */
static bool scratch(const pr_shm_lent *l, int x, int y)
{
    static const char *const why = "no CTA barrier between an access and scratch memory that may have the same bytes";
    const pr_shm_event *s = &l->ev[x], *e = &l->ev[y];
    if (e->kind == PR_SHM_EV_SCRATCH) {
        bool both = pr_shm_scratch_meets(l->p, s, e->scratch_lo, e->scratch_hi) && pr_shm_scratch_meets(l->p, e, 0, 0);
        return !both || in_order(l, x, y, pr_shm_meets, why);
    }
    for (int i = 0; i < e->n_acc; i++) {
        int64_t lo, hi;
        const pr_shm_alloc *a = &l->p->allocs.data[e->acc[i].view.alloc];
        bytes_of(l, &e->acc[i], &lo, &hi);
        bool live = a->offset < 0 && a->live_from <= s->op->id && s->op->id <= a->live_to;
        if (!data(l, e, &e->acc[i]) || live || !pr_shm_scratch_meets(l->p, s, lo, hi)) continue;
        pr_shm_unit u = e->acc[i].unit;
        if (!in_order(l, x, y, pr_shm_meets, why)) return false;
        if (u == PR_SHM_SYNC && !in_order(l, y, x, pr_shm_meets, why)) return false;
        if (counted(u) && !waited(l, y, u, x, pr_shm_meets, why)) return false;
    }
    return true;
}

bool pr_shm_prove_strictly(const pr_shm_lent *l)
{
    for (int x = 0; x < l->n; x++) {
        const pr_shm_event *ex = &l->ev[x];
        bool shared[PR_SHM_ACCESSES] = { false };
        for (int y = 0; y < l->n; y++) {
            const pr_shm_event *ey = &l->ev[y];
            if (ex->kind == PR_SHM_EV_SCRATCH && ex->agent == ey->agent && !scratch(l, x, y)) return false;
            for (int i = 0; i < ex->n_acc; i++) {
                for (int j = 0; j < ey->n_acc; j++) {
                    bool tensor = pr_shm_on_tensor_memory(l->p, &ex->acc[i]) && pr_shm_on_tensor_memory(l->p, &ey->acc[j]) && ex->kind != PR_SHM_EV_DEALLOC
                                  && ey->kind != PR_SHM_EV_DEALLOC && ex->agent == ey->agent;
                    if (tensor && !tensor_pair(l, x, &ex->acc[i], y, &ey->acc[j])) return false;
                    if (!data(l, ex, &ex->acc[i]) || !data(l, ey, &ey->acc[j])) continue;
                    if (ex->agent == ey->agent && !pair(l, x, &ex->acc[i], y, &ey->acc[j])) return false;
                    if (ex->agent == ey->agent || shared[i]) continue;
                    pr_rel meet = l->meeting(l->prover, x, &ex->acc[i], y, &ey->acc[j]);
                    shared[i] = pr_rel_is_empty(l->R, meet) != PR_YES;
                    if (shared[i] && !published(l, x, &ex->acc[i])) return false;
                }
            }
        }
    }
    return true;
}
