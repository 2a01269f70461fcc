/* Which rows of ConSan's tables is an access? (shared-memory.md 2.5)
 *
 * current: atoms. Along each dimension of an allocation the ends of all boxes cut it; the cells are the lanes, so
 * that each view is a set of whole lanes. Allocations whose printed offsets overlap share lanes: intervals of bytes.
 * older: Triton 3.6 compares base addresses: one lane a distinct address, and views at other addresses never meet. */
#include <inttypes.h>
#include <stdlib.h>
#include "shm/emulate.h"

enum { MAX_LANES = 4096, MAX_CUTS = 512 };
typedef struct cuts { int64_t at[MAX_CUTS]; int n; } cuts;
typedef struct box { int64_t lo[PR_SHM_RANK], hi[PR_SHM_RANK]; bool outside; } box;
typedef struct space {           /* of one allocation                                              */
    int group;                   /* allocations of one group share bytes; -1: alone                    */
    cuts cut[PR_SHM_RANK];
    int first;                   /* its first lane                                                 */
} space;
typedef struct reader {
    pr_consan *c;
    space *of;                   /* by allocation                                                  */
    cuts *bytes;                 /* by group                                                       */
    int *first;                  /* by group                                                       */
    int n_groups;
    PR_VEC(int64_t) address;     /* older: by lane                                                 */
} reader;

static int64_t index_of(const pr_shm_prog *p, pr_term t)
{
    pr_i128 v;
    return !pr_term_none(t) && pr_term_const(p->T, t, &v) ? (int64_t)v : INT64_MIN;
}

static void box_of(const pr_shm_prog *p, const pr_shm_view *v, box *b)
{
    const pr_shm_alloc *a = &p->allocs.data[v->alloc];
    *b = (box){ 0 };
    for (int d = 0; d < a->rank; d++) {
        int64_t i = v->indexed[d] ? index_of(p, v->index[d]) : 0;
        b->lo[d] = v->lo[d];
        b->hi[d] = v->hi[d];
        if (v->indexed[d] && i != INT64_MIN) b->lo[d] = i, b->hi[d] = i + 1;
        if (b->lo[d] < 0 || b->hi[d] > a->shape[d]) b->outside = true;
    }
}

static int64_t element_bits(const pr_shm_alloc *a, int from)
{
    int64_t n = a->elem_bits;
    for (int d = from; d < a->rank; d++) n *= a->shape[d];
    return n;
}

/* First byte and the byte behind the last, row major, within the allocation. */
static void bytes_of(const pr_shm_alloc *a, const box *b, int64_t *lo, int64_t *hi, bool *whole)
{
    int64_t first = 0, last = 0, n = a->elem_bits;
    for (int d = 0; d < a->rank; d++) {
        int64_t unit = element_bits(a, d + 1);
        first += b->lo[d] * unit;
        last += (b->hi[d] - 1) * unit;
        n *= b->hi[d] - b->lo[d];
    }
    *lo = first / 8;
    *hi = (last + a->elem_bits + 7) / 8;
    if (*hi <= *lo) *hi = *lo + 1;
    if (whole) *whole = last + a->elem_bits - first == n;
}

static void cut(cuts *c, int64_t at)
{
    int i = 0;
    while (i < c->n && c->at[i] < at) i++;
    if ((i < c->n && c->at[i] == at) || c->n == MAX_CUTS) return;
    for (int k = c->n++; k > i; k--) c->at[k] = c->at[k - 1];
    c->at[i] = at;
}
static int cell(const cuts *c, int64_t at)
{
    int i = 0;
    while (i + 1 < c->n && c->at[i + 1] <= at) i++;
    return i;
}

static bool placed(const pr_shm_alloc *a) { return a->offset >= 0 && a->memory == PR_SHM_SMEM; }

/* Allocations whose bytes meet get a common group. */
static void groups(reader *r)
{
    const pr_shm_prog *p = r->c->p;
    int n = p->allocs.n, *group = PR_NEW_N(r->c->arena, int, n + 1);
    for (int i = 0; i < n; i++) group[i] = i;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            const pr_shm_alloc *a = &p->allocs.data[i], *b = &p->allocs.data[j];
            int64_t la = element_bits(a, 0) / 8, lb = element_bits(b, 0) / 8;
            bool meet = placed(a) && placed(b) && a->offset < b->offset + lb && b->offset < a->offset + la;
            int from = group[i], to = group[j];
            for (int k = 0; meet && k < n; k++)
                if (group[k] == from) group[k] = to;
        }
    }
    r->bytes = PR_NEW_N(r->c->arena, cuts, n + 1);
    r->first = PR_NEW_N(r->c->arena, int, n + 1);
    for (int i = 0; i < n; i++) {
        int members = 0;
        for (int k = 0; k < n; k++) members += group[k] == group[i];
        r->of[i].group = members > 1 ? group[i] : -1;
    }
    r->n_groups = n;
}

static void meet_view(reader *r, const pr_shm_view *v)
{
    const pr_shm_prog *p = r->c->p;
    const pr_shm_alloc *a = &p->allocs.data[v->alloc];
    space *s = &r->of[v->alloc];
    box b;
    box_of(p, v, &b);
    if (b.outside) return;
    int64_t lo, hi;
    bool whole;
    bytes_of(a, &b, &lo, &hi, &whole);
    if (r->c->epoch == PR_CS_OLDER) {
        int64_t at = lo + (placed(a) ? a->offset : ((int64_t)v->alloc + 1) << 32);
        for (int i = 0; i < r->address.n; i++)
            if (r->address.data[i] == at) return;
        pr_vec_push(r->c->arena, &r->address, at);
    } else if (s->group >= 0) {
        if (!whole) r->c->hull = true;
        cut(&r->bytes[s->group], a->offset + lo);
        cut(&r->bytes[s->group], a->offset + hi);
    } else {
        for (int d = 0; d < a->rank; d++) {
            cut(&s->cut[d], b.lo[d]);
            cut(&s->cut[d], b.hi[d]);
        }
    }
}

static void add_lane(pr_consan_lanes *to, int *n, int id) { to->id[(*n)++] = id; }

static const char *slot_name(reader *r, int alloc, const box *b)
{
    const pr_shm_alloc *a = &r->c->p->allocs.data[alloc];
    pr_buf t;
    pr_buf_init(&t, r->c->arena);
    pr_buf_add(&t, a->name.s, a->name.n);
    for (int d = 0; d < a->rank; d++) {
        if (b->lo[d] == 0 && b->hi[d] == a->shape[d]) continue;
        if (b->hi[d] == b->lo[d] + 1) pr_buf_printf(&t, "[%" PRId64 "]", b->lo[d]);
        else pr_buf_printf(&t, "[%" PRId64 ":%" PRId64 "]", b->lo[d], b->hi[d]);
    }
    return t.data ? t.data : "";
}

/* Lanes of a view; each lane gets the name of the first view that is just it. */
static void lanes_of(reader *r, const pr_shm_view *v, pr_consan_lanes *out)
{
    pr_consan *c = r->c;
    const pr_shm_prog *p = c->p;
    const pr_shm_alloc *a = &p->allocs.data[v->alloc];
    space *s = &r->of[v->alloc];
    box b;
    *out = (pr_consan_lanes){ 0 };
    box_of(p, v, &b);
    if (b.outside) return;
    int64_t lo, hi;
    int n = 0;
    bytes_of(a, &b, &lo, &hi, NULL);
    if (c->epoch == PR_CS_OLDER) {
        int64_t at = lo + (placed(a) ? a->offset : ((int64_t)v->alloc + 1) << 32);
        out->id = PR_NEW_N(c->arena, int, 1);
        for (int i = 0; i < r->address.n; i++)
            if (r->address.data[i] == at) add_lane(out, &n, i);
    } else if (s->group >= 0) {
        const cuts *k = &r->bytes[s->group];
        int from = cell(k, a->offset + lo), to = cell(k, a->offset + hi);
        out->id = PR_NEW_N(c->arena, int, to - from + 1);
        for (int i = from; i < to; i++) add_lane(out, &n, r->first[s->group] + i);
    } else {
        int from[PR_SHM_RANK] = { 0 }, to[PR_SHM_RANK], at[PR_SHM_RANK], total = 1;
        for (int d = 0; d < a->rank; d++) {
            from[d] = at[d] = cell(&s->cut[d], b.lo[d]);
            to[d] = cell(&s->cut[d], b.hi[d]);
            total *= to[d] > from[d] ? to[d] - from[d] : 0;
        }
        out->id = PR_NEW_N(c->arena, int, total + 1);
        while (n < total) {
            int id = 0, d;
            for (d = 0; d < a->rank; d++) id = id * (s->cut[d].n - 1) + at[d];
            add_lane(out, &n, s->first + id);
            for (d = a->rank - 1; d >= 0 && ++at[d] == to[d]; d--) at[d] = from[d];
        }
    }
    out->n = n;
    if (n == 1 && !c->lane_name[out->id[0]]) c->lane_name[out->id[0]] = slot_name(r, v->alloc, &b);
}

static int64_t number_lanes(reader *r)
{
    const pr_shm_prog *p = r->c->p;
    int64_t n = 0;
    if (r->c->epoch == PR_CS_OLDER) return r->address.n;
    for (int g = 0; g < r->n_groups; g++) {
        r->first[g] = (int)n;
        if (r->bytes[g].n) n += r->bytes[g].n - 1;
    }
    for (int a = 0; a < p->allocs.n && n <= MAX_LANES; a++) {
        space *s = &r->of[a];
        int64_t cells = s->group < 0;
        for (int d = 0; d < p->allocs.data[a].rank && cells <= MAX_LANES; d++) cells *= s->cut[d].n ? s->cut[d].n - 1 : 0;
        s->first = (int)n;
        n += cells;
    }
    return n;
}

void pr_consan_read(pr_consan *c, pr_shm_prog *p, const pr_shm_trace *t, pr_cs_epoch epoch, pr_arena *arena)
{
    *c = (pr_consan){ .p = p, .t = t, .arena = arena, .epoch = epoch };
    reader r = { .c = c, .of = PR_NEW_N(arena, space, p->allocs.n + 1) };
    int *first_bar = PR_NEW_N(arena, int, p->allocs.n + 1);
    groups(&r);
    for (int a = 0; a < t->n_agents; a++) {
        for (int i = 0; i < t->agents[a].n; i++) {
            const pr_shm_event *e = &t->agents[a].data[i];
            for (int k = 0; k < e->n_acc && e->kind != PR_SHM_EV_DEALLOC; k++) meet_view(&r, &e->acc[k].view);
            for (int k = 0; k < e->n_bar && epoch == PR_CS_CURRENT; k++) meet_view(&r, &e->bar[k]);
        }
    }
    bool *barrier = PR_NEW_N(arena, bool, p->allocs.n + 1);
    for (int a = 0; a < p->allocs.n; a++) barrier[a] = p->allocs.data[a].barrier;
    for (int a = 0; a < t->n_agents && epoch == PR_CS_CURRENT; a++)  /* also those never initialised */
        for (int i = 0; i < t->agents[a].n; i++)
            for (int k = 0; k < t->agents[a].data[i].n_bar; k++) barrier[t->agents[a].data[i].bar[k].alloc] = true;
    int64_t lanes = number_lanes(&r);
    for (int a = 0; a < p->allocs.n; a++) {
        if (r.bytes[a].n == MAX_CUTS) lanes = MAX_LANES + 1;
        for (int d = 0; d < PR_SHM_RANK; d++)
            if (r.of[a].cut[d].n == MAX_CUTS) lanes = MAX_LANES + 1;
    }
    for (int a = 0; a < p->allocs.n; a++) {
        int64_t n = barrier[a];
        for (int d = 0; d < p->allocs.data[a].rank && n <= MAX_LANES; d++) n *= p->allocs.data[a].shape[d];
        first_bar[a] = c->n_bars;
        c->n_bars += n <= MAX_LANES ? (int)n : MAX_LANES;
    }
    if (lanes > MAX_LANES || c->n_bars > MAX_LANES || lanes * (c->n_bars + 1) > 1 << 20) {
        c->refused = "more buffers and barriers than the tables hold";
        return;
    }
    c->n_lanes = (int)lanes;
    c->lane_name = PR_NEW_N(arena, const char *, c->n_lanes + 1);
    c->bar_name = PR_NEW_N(arena, const char *, c->n_bars + 1);
    c->bar_bytes = PR_NEW_N(arena, pr_consan_lanes, c->n_bars + 1);
    for (int a = 0; a < t->n_agents; a++) {
        c->steps[a] = PR_NEW_N(arena, pr_consan_step, t->agents[a].n + 1);
        for (int i = 0; i < t->agents[a].n; i++) {
            const pr_shm_event *e = &t->agents[a].data[i];
            pr_consan_step *s = &c->steps[a][i];
            s->e = e;
            for (int k = 0; k < e->n_acc && e->kind != PR_SHM_EV_DEALLOC; k++) lanes_of(&r, &e->acc[k].view, &s->acc[k]);
            for (int k = 0; k < e->n_bar; k++) {
                box b;
                box_of(p, &e->bar[k], &b);
                int64_t at = 0;
                for (int d = 0; d < p->allocs.data[e->bar[k].alloc].rank; d++)
                    at = at * p->allocs.data[e->bar[k].alloc].shape[d] + b.lo[d];
                s->bar[k] = b.outside || !barrier[e->bar[k].alloc] ? -1 : first_bar[e->bar[k].alloc] + (int)at;
                if (s->bar[k] >= 0 && !c->bar_name[s->bar[k]]) c->bar_name[s->bar[k]] = slot_name(&r, e->bar[k].alloc, &b);
                if (epoch == PR_CS_CURRENT) lanes_of(&r, &e->bar[k], &s->bar_bytes[k]);
                if (s->bar[k] >= 0) c->bar_bytes[s->bar[k]] = s->bar_bytes[k];
            }
        }
    }
}

const char *pr_shm_event_name(pr_shm_event_kind k)
{
    static const char *const names[] = {
        [PR_SHM_EV_ACCESS] = "access", [PR_SHM_EV_INIT] = "init", [PR_SHM_EV_INVAL] = "inval", [PR_SHM_EV_WAIT] = "wait",
        [PR_SHM_EV_ARRIVE] = "arrive", [PR_SHM_EV_EXPECT] = "expect", [PR_SHM_EV_TMA_LOAD] = "TMA load",
        [PR_SHM_EV_TC] = "tensor core", [PR_SHM_EV_TC_COMMIT] = "tensor core commit", [PR_SHM_EV_CP] = "cp.async",
        [PR_SHM_EV_CP_COMMIT] = "cp.async commit", [PR_SHM_EV_CP_WAIT] = "cp.async wait",
        [PR_SHM_EV_CP_ARRIVE] = "cp.async arrive", [PR_SHM_EV_DOT] = "WGMMA", [PR_SHM_EV_DOT_WAIT] = "WGMMA wait",
        [PR_SHM_EV_STORE] = "TMA store", [PR_SHM_EV_STORE_WAIT] = "TMA store wait", [PR_SHM_EV_FENCE] = "proxy fence",
        [PR_SHM_EV_SCRATCH] = "scratch", [PR_SHM_EV_DEALLOC] = "dealloc", [PR_SHM_EV_MEET] = "CTA barrier", [PR_SHM_EV_ENTRY] = "entry",
        [PR_SHM_EV_JOIN] = "join", [PR_SHM_EV_BEGIN] = "begin", [PR_SHM_EV_END] = "end",
    };
    return names[k];
}
