/* One schedule of concrete event lists; see bounded.h.
 *
 * A clock holds, for each agent, the latest of its events known to have happened, and a set of numbers for
 * what completes asynchronously: one number an asynchronous event, one a barrier phase. `fence` and `fenced`
 * are the same for generic accesses that a proxy fence has covered. */
#include "shm/bounded.h"
#include "shm/machine.h"
#include "shm/membar.h"
#include <assert.h>
#include <inttypes.h>

/* ---- clocks ---------------------------------------------------------------------------------------------- */
static void clock_init(machine *m, clock *c)
{
    *c = (clock){ .bits = PR_NEW_N(m->scratch, uint64_t, m->words), .fenced = PR_NEW_N(m->scratch, uint64_t, m->words) };
}
static void join(const machine *m, clock *to, const clock *from)
{
    for (int i = 0; i < AGENTS; i++) {
        if (from->of[i] > to->of[i]) to->of[i] = from->of[i];
        if (from->fence[i] > to->fence[i]) to->fence[i] = from->fence[i];
    }
    for (int i = 0; i < m->words; i++) {
        to->bits[i] |= from->bits[i];
        to->fenced[i] |= from->fenced[i];
    }
}
static void add(clock *c, int id) { c->bits[id >> 6] |= (uint64_t)1 << (id & 63); }
static bool has(const clock *c, int id) { return c->bits[id >> 6] >> (id & 63) & 1; }
/* Is phase `id`, published by `phi`, known to have completed: by a wait, or because everything it needed is known? */
static bool knows_phase(const machine *m, clock *now, const clock *phi, int id)
{
    if (has(now, id)) return true;
    for (int i = 0; i < AGENTS; i++)
        if (phi->of[i] > now->of[i]) return false;
    for (int i = 0; i < m->words; i++) {
        uint64_t need = phi->bits[i] & ~now->bits[i];
        if (i == id >> 6) need &= ~((uint64_t)1 << (id & 63));
        if (need) return false;
    }
    add(now, id);
    return true;
}

static int new_id(machine *m)
{
    assert(m->n_ids < m->max_ids);
    return m->n_ids++;
}

/* ---- findings --------------------------------------------------------------------------------------------- */
static pr_shm_instance instance(const pr_shm_event *e)
{
    pr_shm_instance r = { .op = e->op, .loc = e->loc, .agent = e->agent, .n_loops = e->n_loops };
    for (int i = 0; i < e->n_loops; i++) r.iteration[i] = e->iteration[i];
    return r;
}

static const char *agent_name(machine *m, int number)
{
    if (m->n_agents < 2) return "the kernel";
    return number ? pr_arena_printf(m->p->arena, "partition%d", number - 1) : "the default partition";
}

static const char *who(machine *m, const pr_shm_event *e)
{
    const char *a = agent_name(m, e->agent);
    if (!e->n_loops) return a;
    pr_buf b;
    pr_buf_init(&b, m->p->arena);
    pr_buf_printf(&b, "%s iteration ", a);
    for (int i = 0; i < e->n_loops; i++) pr_buf_printf(&b, i ? ", %" PRId64 : "%" PRId64, e->iteration[i]);
    return b.data;
}

static int64_t number(machine *m, pr_term t)
{
    pr_i128 v;
    return !pr_term_none(t) && pr_term_const(m->p->T, t, &v) ? (int64_t)v : INT64_MIN;
}

static int64_t slot_of(machine *m, const pr_shm_view *v)
{
    return v->indexed[0] ? number(m, v->index[0]) : -1;
}

static const char *place(machine *m, const pr_shm_view *v)
{
    const pr_shm_alloc *a = &m->p->allocs.data[v->alloc];
    int64_t slot = slot_of(m, v);
    if (slot < 0) return pr_arena_printf(m->p->arena, "\"" PR_STR_FMT "\"", PR_STR_ARG(a->name));
    return pr_arena_printf(m->p->arena, "slot %" PRId64 " of \"" PR_STR_FMT "\"", slot, PR_STR_ARG(a->name));
}

enum { BEFORE = 7, HEAD = 13, TAIL = 19 };

static pr_shm_step step_of(machine *m, const pr_shm_event *e, int64_t number_, int64_t phase)
{
    pr_shm_step s = { .event = e, .at = instance(e), .number = number_, .barrier = -1, .slot = -1, .phase = phase };
    if (e->n_bar && e->kind != PR_SHM_EV_INIT && e->kind != PR_SHM_EV_INVAL) {
        s.barrier = e->bar[0].alloc;
        s.slot = slot_of(m, &e->bar[0]);
        s.waits = e->kind == PR_SHM_EV_WAIT;
    }
    for (int i = 0; i < e->n_acc; i++) {
        s.acc[s.n_acc].alloc = e->acc[i].view.alloc;
        s.acc[s.n_acc].slot = slot_of(m, &e->acc[i].view);
        s.acc[s.n_acc++].write = e->acc[i].write;
    }
    return s;
}

/* The schedule from shortly before the first of the two to now; of a long one its two ends. */
static void take_steps(machine *m, const pr_shm_event *first, const pr_shm_event *second, pr_shm_finding *f)
{
    int from = m->steps.n - 1;
    f->first_step = f->second_step = -1;
    for (int i = 0; i < m->steps.n; i++)
        if ((m->steps.data[i].e == first || m->steps.data[i].e == second) && i < from) from = i;
    from = from > BEFORE ? from - BEFORE : 0;
    for (int i = from; i < m->steps.n; i++) {
        const done *d = &m->steps.data[i];
        bool marked = d->e == first || d->e == second;
        if (!marked && i >= from + HEAD && i < m->steps.n - TAIL) continue;
        pr_vec_push(m->p->arena, &f->steps, step_of(m, d->e, i, d->phase));
    }
    for (int a = 0; a < m->n_agents && m->stuck; a++) {
        const agent *g = &m->agents[a];
        if (g->at < g->list->n) pr_vec_push(m->p->arena, &f->steps, step_of(m, &g->list->data[g->at], -1, INT64_MIN));
    }
    for (int i = 0; i < f->steps.n; i++) {
        if (f->steps.data[i].event == first) f->first_step = i;
        if (f->steps.data[i].event == second) f->second_step = i;
        f->steps.data[i].event = NULL;               /* the trace does not live as long               */
    }
}

static void report(machine *m, pr_shm_finding_id id, const pr_shm_event *first, const pr_shm_event *second,
                   const pr_shm_view *v, int64_t phase, const char *what, const char *missing)
{
    pr_shm_finding f = { .id = id, .alloc = v ? v->alloc : -1, .slot = v ? slot_of(m, v) : -1, .phase = phase,
                         .byte_lo = -1, .byte_hi = -1, .what = what, .missing = missing, .trip_counts = m->trips, .run = m->run,
                         .assumed = m->t->assumed || m->uncertain };
    if (first) f.first = instance(first);
    if (second) f.second = instance(second);
    if (v) pr_shm_byte_range(m->p, v, &f.byte_lo, &f.byte_hi);
    if (f.slot < -1) f.slot = -1;
    for (int i = 0; i < m->findings->n; i++) {
        const pr_shm_finding *g = &m->findings->data[i];
        if (g->id == id && g->first.op == f.first.op && g->second.op == f.second.op) return;
    }
    take_steps(m, first, second, &f);
    pr_vec_push(m->p->arena, m->findings, f);
}

/* ---- overlap ----------------------------------------------------------------------------------------------- */
static bool is_whole(const pr_shm_alloc *a, const pr_shm_view *v)
{
    for (int i = 0; i < a->rank; i++)
        if ((v->indexed[i] && a->shape[i] > 1) || (!v->indexed[i] && (v->lo[i] || v->hi[i] != a->shape[i]))) return false;
    return !v->partial;
}

/* Is it open whether the two, which may have common bytes, have them? Data may say which slot a view is; of one memdesc value in one iteration
 * it says the same. */
static bool vague(machine *m, const pr_shm_event *e, const pr_shm_access *a, const pr_shm_event *f, const pr_shm_access *b)
{
    bool same = a->of && a->of == b->of && e->agent == f->agent && e->copy == f->copy && e->n_loops == f->n_loops;
    for (int i = 0; i < e->n_loops && same; i++) same = e->loop[i] == f->loop[i] && e->iteration[i] == f->iteration[i];
    for (int i = 0; i < m->p->allocs.data[a->view.alloc].rank && !same && a->view.alloc == b->view.alloc; i++) {
        const pr_shm_view *v[2] = { &a->view, &b->view };
        for (int k = 0; k < 2; k++) {
            const pr_shm_view *x = v[k], *y = v[!k];
            bool whole = !y->indexed[i] && !y->lo[i] && y->hi[i] == m->p->allocs.data[x->alloc].shape[i];
            if (x->indexed[i] && !whole && number(m, x->index[i]) == INT64_MIN) return true;
        }
    }
    return a->view.partial || b->view.partial;
}

/* Of two concrete views: may they have common bytes? That they surely have them is said where neither is vague. */
static bool overlaps(machine *m, const pr_shm_view *a, const pr_shm_view *b)
{
    const pr_shm_alloc *x = &m->p->allocs.data[a->alloc], *y = &m->p->allocs.data[b->alloc];
    if (a->alloc != b->alloc) {
        if (x->memory != y->memory || !pr_shm_placed(x) || !pr_shm_placed(y)) return false;
        if (x->memory == PR_SHM_TMEM) return is_whole(x, a) && is_whole(y, b) && !pr_shm_apart(x, y);
        return pr_shm_bytes_meet(m->p, a, b) == PR_YES;
    }
    for (int i = 0; i < x->rank; i++) {
        int64_t la = a->lo[i], ha = a->hi[i], lb = b->lo[i], hb = b->hi[i];
        if (a->indexed[i]) la = number(m, a->index[i]), ha = la + 1;
        if (b->indexed[i]) lb = number(m, b->index[i]), hb = lb + 1;
        if (la == INT64_MIN || lb == INT64_MIN) continue;
        if (la >= hb || lb >= ha) return false;
    }
    return true;
}

static bool covers(machine *m, const pr_shm_view *a, const pr_shm_view *b)
{
    if (a->alloc != b->alloc || a->blurred || b->blurred) return false;
    for (int i = 0; i < m->p->allocs.data[a->alloc].rank; i++) {
        int64_t la = a->lo[i], ha = a->hi[i], lb = b->lo[i], hb = b->hi[i];
        if (a->indexed[i]) la = number(m, a->index[i]), ha = la + 1;
        if (b->indexed[i]) lb = number(m, b->index[i]), hb = lb + 1;
        if (la == INT64_MIN || lb == INT64_MIN || la > lb || ha < hb) return false;
    }
    return true;
}

/* ---- accesses ------------------------------------------------------------------------------------------------ */
static bool ordered(const machine *m, const clock *now, const past *x, const pr_shm_access *y, const pr_shm_event *by)
{
    const bool tensor = m->p->allocs.data[x->a->view.alloc].memory == PR_SHM_TMEM;
    if (m->strict && x->id < 0 && x->e->agent == by->agent) return (tensor ? m->agents[by->agent].met_tensor : m->agents[by->agent].met) >= x->time;
    if (x->id < 0) return now->of[x->e->agent] >= x->time;
    if (has(now, x->id)) return true;
    return x->a->unit == PR_SHM_TC && y->unit == PR_SHM_TC && x->e->agent == by->agent
           && (!by->agent || x->e->ws == by->ws);
}

static int line_of(const pr_shm_event *e) { return e->loc.line ? e->loc.line : e->loc.text_line; }

/* The barrier the agent of x signals first after x, for the text. */
static const pr_shm_event *release_of(machine *m, const past *x)
{
    const pr_shm_events *list = m->agents[x->e->agent].list;
    for (int i = (int)(x->e - list->data); i < list->n; i++) {
        const pr_shm_event *e = &list->data[i];
        bool signals = e->kind == PR_SHM_EV_ARRIVE || e->kind == PR_SHM_EV_TC_COMMIT || e->kind == PR_SHM_EV_EXPECT
                       || (e->n_bar && (e->kind == PR_SHM_EV_TMA_LOAD || e->kind == PR_SHM_EV_TC));
        if (signals && e->n_bar) return e;
    }
    return NULL;
}

/* Has the code before the partitions written this place? Then the n-th write by a partition follows the n-th read. */
static int64_t filled(machine *m, const pr_shm_event *x, const pr_shm_event *y, const pr_shm_view *v)
{
    for (int i = 0; x->ws >= 0 && y->ws >= 0 && i < m->first_contents.n; i++)
        if (overlaps(m, &m->first_contents.data[i].a->view, v)) return 1;
    return 0;
}

static void race(machine *m, const past *x, const pr_shm_event *y, const pr_shm_access *b, int64_t visit)
{
    bool known_issue = m->agents[y->agent].now.of[x->e->agent] >= x->time;
    pr_shm_finding_id id;
    const char *missing, *verb;
    static const char *const waits[] = { [PR_SHM_CP] = "async_wait", [PR_SHM_WGMMA] = "warp_group_dot_wait",
                                         [PR_SHM_TMA_STORE] = "async_tma_store_wait" };
    bool counted = x->a->unit == PR_SHM_CP || x->a->unit == PR_SHM_WGMMA || x->a->unit == PR_SHM_TMA_STORE;
    const pr_shm_event *first = x->e, *second = y;
    /* Which one the protocol meant to come first: the n-th write of a slot before its n-th read. */
    bool mixed = x->a->write != b->write && x->e->agent != y->agent;
    int64_t written = filled(m, x->e, y, &b->view);
    bool swap = mixed && (x->a->write ? visit < x->visit + written : visit + written <= x->visit);
    bool read_first = mixed ? x->a->write == swap : !x->a->write;
    if (counted && known_issue) {
        swap = false;
        id = x->a->unit == PR_SHM_CP ? PR_SHM_F_PEND_CP
             : x->a->unit == PR_SHM_WGMMA ? PR_SHM_F_PEND_WGMMA : PR_SHM_F_PEND_TMAST;
        missing = pr_arena_printf(m->p->arena, "no %s that covers the first operation stands before the second",
                                  waits[x->a->unit]);
    } else {
        id = x->a->write && b->write ? PR_SHM_F_SHM_WAW : read_first ? PR_SHM_F_SHM_WAR : PR_SHM_F_SHM_RAW;
        const pr_shm_event *r = release_of(m, x);
        past later = { .e = y };
        if (swap) r = release_of(m, &later);
        if (known_issue && x->a->unit == PR_SHM_TMA_LOAD)
            missing = "no wait for the barrier of the load stands before the second operation";
        else if (known_issue && x->a->unit == PR_SHM_TC)
            missing = "no wait for a barrier that the tensor core signals after the first operation stands before the second";
        else if (r)
            missing = pr_arena_printf(m->p->arena, "no wait on \"" PR_STR_FMT "\" (signalled at line %d) orders them",
                                      PR_STR_ARG(m->p->allocs.data[r->bar[0].alloc].name),
                                      line_of(r));
        else missing = "no barrier orders them";
    }
    if (swap) first = y, second = x->e;
    verb = id == PR_SHM_F_PEND_CP ? (b->write ? "overwrites" : "reads")
           : id == PR_SHM_F_SHM_RAW ? "reads" : "overwrites";
    const char *state = id == PR_SHM_F_PEND_CP      ? "before the cp.async copy of"
                        : id == PR_SHM_F_PEND_WGMMA ? "while the WGMMA of"
                        : id == PR_SHM_F_PEND_TMAST ? "while the TMA store of"
                        : id == PR_SHM_F_SHM_WAR    ? "while"
                                                    : "before the write of";
    const char *end = id == PR_SHM_F_SHM_WAR ? "may still read it"
                      : id == PR_SHM_F_PEND_WGMMA || id == PR_SHM_F_PEND_TMAST ? "may be pending"
                                                                              : "is complete";
    const char *what = pr_arena_printf(m->p->arena, "%s %s %s %s %s %s", who(m, second), verb, place(m, &b->view), state,
                                       who(m, first), end);
    report(m, id, first, second, &b->view, -2, what, missing);
}

/* Not ordered although the run without CTA barriers in view orders them. */
static void unmet(machine *m, const past *x, const pr_shm_event *y, const pr_shm_access *b)
{
    const pr_shm_memory memory = m->p->allocs.data[b->view.alloc].memory;
    bool own = x->e->agent == y->agent;
    pr_tri two = own ? pr_shm_two_threads(m->p, x->e, x->a, y, b) : PR_YES;
    if ((memory != PR_SHM_SMEM && !(own && pr_shm_on_tensor_memory(m->p, x->a) && pr_shm_on_tensor_memory(m->p, b))) || two == PR_NO) return;
    bool waited = x->id >= 0 && x->a->unit != PR_SHM_TC && x->a->unit != PR_SHM_TMA_LOAD;
    const char *what = pr_arena_printf(m->p->arena, "%s %s %s, which another thread of %s %s%s", who(m, y), b->write ? "overwrites" : "reads",
                                       place(m, &b->view), agent_name(m, x->e->agent), x->a->write ? "writes" : "reads",
                                       two == PR_MAYBE ? " (their layouts are not read)" : "");
    report(m, PR_SHM_F_MEMBAR, x->e, y, &b->view, -2, what,
           waited ? "no CTA barrier stands between the wait for the first operation and the second"
           : own  ? "no CTA barrier stands between the two operations"
                  : "no CTA barrier stands between the first operation and the signal that publishes it");
    if (two == PR_MAYBE && m->findings->n) {
        pr_shm_finding *f = &m->findings->data[m->findings->n - 1];
        if (f->first.op == x->e->op && f->second.op == y->op) f->assumed = true;
    }
}

static void proxy(machine *m, const past *x, const pr_shm_event *y, const pr_shm_access *b)
{
    const clock *now = &m->agents[y->agent].now;
    if (x->a->async_proxy || !b->async_proxy || (x->e->agent == y->agent && !m->strict)) return;
    if (m->p->allocs.data[x->a->view.alloc].memory != PR_SHM_SMEM) return;
    bool fenced = x->id < 0 ? now->fence[x->e->agent] >= x->time : now->fenced[x->id >> 6] >> (x->id & 63) & 1;
    if (fenced) return;
    report(m, PR_SHM_F_PROXY_FENCE, x->e, y, &b->view, -2,
           pr_arena_printf(m->p->arena, "%s accesses %s through the async proxy after a generic %s by %s", who(m, y),
                           place(m, &b->view), x->a->write ? "write" : "read", who(m, x->e)),
           "no fence_async_shared stands between the generic access and the hand-over");
}

static void fence(machine *m, agent *g)
{
    for (int i = 0; i < AGENTS; i++) g->now.fence[i] = g->now.of[i];
    for (int i = 0; i < m->words; i++) g->now.fenced[i] |= g->now.bits[i];
}

/* The fence that the compiler puts before an access through the async proxy to bytes that threads of the same partition have touched
 * (M1). It covers what the partition knows, not only these bytes. */
static void fence_inserted(machine *m, const pr_shm_event *e, const pr_shm_access *b)
{
    agent *g = &m->agents[e->agent];
    if (m->strict || !b->async_proxy || b->view.partial || m->p->allocs.data[b->view.alloc].memory != PR_SHM_SMEM) return;
    for (int i = 0; i < m->history[b->view.alloc].n; i++) {
        const past *x = &m->history[b->view.alloc].data[i];
        bool own = x->id < 0 && x->e->agent == e->agent && x->e->ws == e->ws && !x->a->async_proxy && !x->a->view.partial;
        if (!own || g->now.fence[e->agent] >= x->time || (!x->a->write && !b->write) || !overlaps(m, &x->a->view, &b->view)) continue;
        fence(m, g);
        return;
    }
}

/* Data in the bytes of a live barrier. */
static void live_reuse(machine *m, const pr_shm_event *e, const pr_shm_access *b)
{
    for (int a = 0; a < m->p->allocs.n; a++) {
        for (int i = 0; m->barriers[a] && i < m->n_slots[a]; i++) {
            const barrier *x = &m->barriers[a][i];
            pr_shm_access own = { .view = x->place };
            if (!x->live || !overlaps(m, &x->place, &b->view)) continue;
            m->uncertain = vague(m, e, &own, e, b);
            report(m, PR_SHM_F_BAR_LIVE_REUSE, e, NULL, &b->view, -2,
                   pr_arena_printf(m->p->arena, "%s accesses %s, whose bytes hold the live barrier %s", who(m, e), place(m, &b->view),
                                   place(m, &x->place)),
                   "inval_barrier must come before its bytes are used for data");
            m->uncertain = false;
            return;
        }
    }
}

/* A read of what the same agent wrote, and then wrote over by way of another allocation that is in use at the same time:
 * the places in the text are wrong. */
static void replaced(machine *m, const pr_shm_event *e, const pr_shm_access *b)
{
    const pr_shm_alloc *mine = &m->p->allocs.data[b->view.alloc];
    const past *last = NULL, *over = NULL;
    for (int a = 0; pr_shm_placed(mine) && a < m->p->allocs.n; a++) {
        const pr_shm_alloc *other = &m->p->allocs.data[a];
        if (a != b->view.alloc && !pr_shm_misplaced(mine, other)) continue;
        for (int i = 0; i < m->history[a].n; i++) {
            const past *x = &m->history[a].data[i];
            if (!x->a->write || x->e->agent != e->agent || vague(m, x->e, x->a, e, b) || !overlaps(m, &x->a->view, &b->view)) continue;
            const past **to = a == b->view.alloc ? &last : &over;
            if (!*to || (*to)->step < x->step) *to = x;
        }
    }
    if (!last || !over || over->step < last->step) return;
    report(m, PR_SHM_F_SHM_RAW, over->e, e, &b->view, -2,
           pr_arena_printf(m->p->arena, "%s reads %s, whose bytes the write of %s to %s has replaced", who(m, e), place(m, &b->view),
                           who(m, over->e), place(m, &over->a->view)),
           "the two allocations are in use at the same time, and the places that the text gives them have common bytes");
}

static void access(machine *m, const pr_shm_event *e, const pr_shm_access *b, int64_t time, int id)
{
    agent *g = &m->agents[e->agent];
    const pr_shm_alloc *alloc = &m->p->allocs.data[b->view.alloc];
    for (int d = 0; d < alloc->rank; d++) {
        int64_t v = b->view.indexed[d] ? number(m, b->view.index[d]) : 0;
        if (v == INT64_MIN || (v >= 0 && v < alloc->shape[d])) continue;
        report(m, PR_SHM_F_SLOT_RANGE, e, NULL, &b->view, -2,
               pr_arena_printf(m->p->arena, "%s uses index %" PRId64 " of \"" PR_STR_FMT "\", which has %" PRId64, who(m, e),
                               v, PR_STR_ARG(alloc->name), alloc->shape[d]),
               "the index must stay below the number of slots");
        return;
    }
    int64_t visit = -1, slot = slot_of(m, &b->view);
    for (int i = 0; i < m->visits.n && visit < 0; i++)
        if (m->visits.data[i].op == e->op->id && m->visits.data[i].slot == slot) visit = m->visits.data[i].n++;
    if (visit < 0) {
        tally first = { e->op->id, slot, 1 };
        pr_vec_push(m->scratch, &m->visits, first);
        visit = 0;
    }
    bool written = false;
    fence_inserted(m, e, b);
    for (int other = 0; other < m->p->allocs.n; other++) {
        if (other != b->view.alloc && (!pr_shm_placed(alloc) || !pr_shm_placed(&m->p->allocs.data[other]))) continue;
        int kept = 0;
        for (int i = 0; i < m->history[other].n; i++) {
            past x = m->history[other].data[i];
            bool meet = x.e != e && overlaps(m, &x.a->view, &b->view);
            written = written || (meet && x.a->write);
            bool conflict = meet && (x.a->write || b->write) && !pr_shm_requests_in_order(x.e, e)
                            && !(x.a->atomic && b->atomic && pr_str_eq(x.a->atomic_kind, b->atomic_kind));
            bool before = ordered(m, &g->now, &x, b, e);
            m->uncertain = vague(m, x.e, x.a, e, b);
            if (conflict && (before || m->strict)) proxy(m, &x, e, b);
            if (conflict && !before && !m->strict) race(m, &x, e, b, visit);
            if (conflict && !before && m->strict) unmet(m, &x, e, b);
            m->uncertain = false;
            bool superseded = meet && before && b->write && x.e->op != e->op && covers(m, &b->view, &x.a->view)
                              && x.a->async_proxy == b->async_proxy;
            if (!superseded) m->history[other].data[kept++] = x;
        }
        m->history[other].n = kept;
    }
    if (!b->write && !m->t->assumed) m->p->reads[e->op->id] |= written ? 1 : 2;
    if (!b->write) replaced(m, e, b);
    past p = { e, b, m->steps.n, time, visit, id };
    pr_vec_push(m->scratch, &m->history[b->view.alloc], p);
    if (b->write && e->ws < 0) pr_vec_push(m->scratch, &m->first_contents, p);
}

/* ---- barriers ------------------------------------------------------------------------------------------------- */
static barrier *barrier_of(machine *m, const pr_shm_event *e, const pr_shm_view *v)
{
    const pr_shm_alloc *a = &m->p->allocs.data[v->alloc];
    int64_t slot = 0;
    for (int d = 0; d < a->rank; d++) {
        int64_t i = v->indexed[d] ? number(m, v->index[d]) : v->lo[d];
        if (i < 0 || i >= a->shape[d]) {
            report(m, PR_SHM_F_SLOT_RANGE, e, NULL, v, -2,
                   pr_arena_printf(m->p->arena, "%s uses barrier %" PRId64 " of \"" PR_STR_FMT "\", which has %" PRId64,
                                   who(m, e), i, PR_STR_ARG(a->name), a->shape[d]),
                   "the index must stay below the number of barriers");
            m->stop = true;
            return NULL;
        }
        slot = slot * a->shape[d] + i;
    }
    if (!m->barriers[v->alloc]) {
        int64_t n = 1;
        for (int d = 0; d < a->rank; d++) n *= a->shape[d];
        m->n_slots[v->alloc] = n > 4096 ? 4096 : (int)n;
        m->barriers[v->alloc] = PR_NEW_N(m->scratch, barrier, m->n_slots[v->alloc]);
    }
    return slot < m->n_slots[v->alloc] ? &m->barriers[v->alloc][slot] : NULL;
}

static barrier *live_barrier(machine *m, const pr_shm_event *e, const pr_shm_view *v)
{
    barrier *b = barrier_of(m, e, v);
    if (!b || b->live) return b;
    report(m, PR_SHM_F_BAR_UNINIT, e, NULL, v, -2,
           pr_arena_printf(m->p->arena, "%s uses %s %s", who(m, e), place(m, v),
                           b->ever ? "after its invalidation" : "before its initialisation"),
           "init_barrier must happen before every other use");
    m->stop = true;
    return NULL;
}

static void attribute(machine *m, const pr_shm_event *e, int bar, int64_t phase)
{
    if (!bar && m->steps.n && m->steps.data[m->steps.n - 1].e == e) m->steps.data[m->steps.n - 1].phase = phase;
    if (!m->attributions) return;
    pr_shm_attribution a = { .op = e->op->id, .copy = e->copy, .bar = bar, .n_loops = e->n_loops, .flat = e->flat, .phase = phase };
    for (int i = 0; i < e->n_loops; i++) a.iteration[i] = e->iteration[i];
    pr_vec_push(m->p->arena, m->attributions, a);
}

static void complete(machine *m, barrier *b, const pr_shm_view *v)
{
    if (b->pending || b->tx) return;
    if (b->n_phi == b->cap_phi) {
        int cap = b->cap_phi ? b->cap_phi * 2 : 4;
        clock *wider = PR_NEW_N(m->scratch, clock, cap);
        int *ids = PR_NEW_N(m->scratch, int, cap);
        for (int i = 0; i < b->n_phi; i++) wider[i] = b->phi[i], ids[i] = b->phi_id[i];
        b->phi = wider;
        b->phi_id = ids;
        b->cap_phi = cap;
    }
    int id = new_id(m);
    add(&b->next, id);
    b->phi[b->n_phi] = b->next;
    b->phi_id[b->n_phi++] = id;
    for (int i = 0; i < b->waits.n; i++) {
        const waiting *w = &b->waits.data[i];
        if (w->phase != b->done - 1 || b->next.of[w->agent] >= w->time) continue;
        report(m, PR_SHM_F_PHASE_LAP, w->e, b->last, v, w->phase,
               pr_arena_printf(m->p->arena, "%s can complete phase %" PRId64 " while %s still waits for phase %" PRId64,
                               place(m, v), b->done, who(m, w->e), w->phase),
               "nothing makes the next phase wait for this wait");
    }
    b->done++;
    b->pending = b->init;
    clock_init(m, &b->next);
}

static int64_t arrivals_of(machine *m, const pr_shm_event *e, const pr_shm_view *v)
{
    bool one = e->kind == PR_SHM_EV_EXPECT || e->kind == PR_SHM_EV_TC || e->kind == PR_SHM_EV_TC_COMMIT;
    for (int b = 0; b < e->n_bar && (one || e->kind == PR_SHM_EV_ARRIVE); b++)
        if (e->bar[b].alloc == v->alloc && slot_of(m, &e->bar[b]) == slot_of(m, v)) return one ? 1 : e->count;
    return 0;
}

/* What an arrival that runs ahead lacks: the wait before it; or, when it is the first of its partition and the first ones of all
 * are more than the count, the count is too small. */
static const char *ahead(machine *m, const agent *g, const pr_shm_event *e, const pr_shm_view *v, int64_t init)
{
    int64_t sum = 0;
    bool first = true;
    for (int i = 0; i < g->at && first; i++) first = &g->list->data[i] == e || !arrivals_of(m, &g->list->data[i], v);
    for (int a = 0; a < m->n_agents; a++) {
        const pr_shm_events *l = m->agents[a].list;
        int64_t n = 0;
        for (int i = 0; i < l->n && !n; i++) n = arrivals_of(m, &l->data[i], v);
        sum += n;
    }
    if (!first || sum <= init || !arrivals_of(m, e, v)) return "a wait for the previous phase must come before this arrival";
    return pr_arena_printf(m->p->arena, "the count of the barrier is %" PRId64 ", but the partitions arrive %" PRId64 " times before any of them arrives again: "
                           "a greater count, or a wait for the previous phase before this arrival", init, sum);
}

/* Arrivals by e with what `c` knows; the completion numbers of ids[0..n) come with it. */
static void arrive(machine *m, const pr_shm_event *e, int bar, int64_t count, int64_t tx, const int *ids, int n)
{
    const pr_shm_view *v = &e->bar[bar];
    agent *g = &m->agents[e->agent];
    barrier *b = live_barrier(m, e, v);
    if (!b) return;
    b->last = e;
    attribute(m, e, bar, b->done);
    if (b->done >= 1 && !knows_phase(m, &g->now, &b->phi[b->done - 1], b->phi_id[b->done - 1]))
        report(m, PR_SHM_F_ARRIVE_AHEAD, e, NULL, v, b->done,
               pr_arena_printf(m->p->arena, "%s arrives for phase %" PRId64 " of %s without knowing that phase %" PRId64
                               " is complete; it can be counted there", who(m, e), b->done, place(m, v), b->done - 1),
               ahead(m, g, e, v, b->init));
    if (count > b->pending) {
        report(m, PR_SHM_F_BAR_UNDERFLOW, e, NULL, v, b->done,
               pr_arena_printf(m->p->arena, "%s arrives %" PRId64 " times at %s, which has %" PRId64 " pending", who(m, e), count,
                               place(m, v), b->pending),
               "the count of init_barrier must be the arrivals of one phase");
        m->stop = true;
        return;
    }
    b->pending -= count;
    b->tx += tx;
    clock told = g->now;
    if (m->strict && !pr_shm_signals_all(e)) told.of[e->agent] = g->met;
    else if (e->kind == PR_SHM_EV_TMA_LOAD && e->warps != 1) told.of[e->agent] = g->told;
    join(m, &b->next, &told);
    for (int i = 0; i < g->alone.n && pr_shm_signals_all(e); i++) add(&b->next, g->alone.data[i]);
    for (int i = 0; i < n; i++) add(&b->next, ids[i]);
    complete(m, b, v);
}

/* The same on their own time: when the operations ids are complete. `counted` is the number of the arrival itself. */
static void arrive_later(machine *m, const pr_shm_event *e, int bar, int64_t count, const numbers *of, int counted)
{
    int *all = PR_NEW_N(m->scratch, int, of->n + 1);
    for (int i = 0; i < of->n; i++) all[i] = of->data[i];
    all[of->n] = counted;
    barrier *b = barrier_of(m, e, &e->bar[bar]);
    if (b && b->live) {
        pr_vec_push(m->scratch, &b->due, counted);
        pr_vec_push(m->scratch, &b->due_by, e);
    }
    arrive(m, e, bar, count, 0, all, of->n + 1);
}

/* Would the wait pass now? */
static bool passes(machine *m, const pr_shm_event *e, int64_t *phase)
{
    barrier *b = barrier_of(m, e, &e->bar[0]);
    int64_t parity = number(m, e->phase) & 1;
    *phase = b ? b->done - 1 : -1;
    return !b || !b->live || (b->done & 1) != parity;
}

static void wait(machine *m, const pr_shm_event *e, int64_t time)
{
    agent *g = &m->agents[e->agent];
    barrier *b = live_barrier(m, e, &e->bar[0]);
    if (!b) return;
    int64_t n = b->done - 1;
    attribute(m, e, 0, n);
    if (n >= 1 && !knows_phase(m, &g->now, &b->phi[n - 1], b->phi_id[n - 1]))
        report(m, PR_SHM_F_PHASE_EARLY, e, NULL, &e->bar[0], n,
               pr_arena_printf(m->p->arena, "%s waits for phase %" PRId64 " of %s without knowing that phase %" PRId64
                               " is complete; it can pass on phase %" PRId64, who(m, e), n, place(m, &e->bar[0]), n - 1, n - 2),
               "a wait for the previous phase must come first");
    waiting w = { e, e->agent, time, n };
    pr_vec_push(m->scratch, &b->waits, w);
    if (n >= 0) join(m, &g->now, &b->phi[n]);
}

/* Initialisation and invalidation write the barrier's bytes. */
static void lifecycle_write(machine *m, const pr_shm_event *e, int64_t time)
{
    pr_shm_access *a = PR_NEW(m->scratch, pr_shm_access);
    *a = (pr_shm_access){ .view = e->bar[0], .write = true, .unit = PR_SHM_SYNC, .role = "barrier" };
    if (m->p->allocs.data[e->bar[0].alloc].offset >= 0) access(m, e, a, time, -1);
}

/* Another partition that waits at this barrier now, or whose wait the invalidation does not know to be over. */
static const pr_shm_event *waiter_of(machine *m, const agent *by, const pr_shm_event *e, const barrier *b)
{
    for (int i = 0; i < b->waits.n; i++) {
        const waiting *w = &b->waits.data[i];
        if (w->agent != e->agent && by->now.of[w->agent] < w->time) return w->e;
    }
    for (int a = 0; a < m->n_agents; a++) {
        const agent *g = &m->agents[a];
        const pr_shm_event *f = a != e->agent && g->at < g->list->n ? &g->list->data[g->at] : NULL;
        bool started = f && (!a || f->ws < 0 || m->has_entered[f->ws]);
        if (started && f->kind == PR_SHM_EV_WAIT && f->bar[0].alloc == e->bar[0].alloc && slot_of(m, &f->bar[0]) == slot_of(m, &e->bar[0]))
            return f;
    }
    return NULL;
}

/* What an earlier life of the barrier has not counted yet would be counted in this one. Where no other life follows it is no fault: Triton's own
 * kernels leave such arrivals behind. */
static void made_again(machine *m, const agent *by, const pr_shm_event *e, const barrier *b)
{
    for (int i = 0; i < b->due.n; i++) {
        const pr_shm_event *x = b->due_by.data[i];
        if (x->kind == PR_SHM_EV_TMA_LOAD || has(&by->now, b->due.data[i])) continue;
        report(m, PR_SHM_F_BAR_INVAL_PENDING, e, x, &e->bar[0], -2,
               pr_arena_printf(m->p->arena, "%s initialises %s again while an arrival of %s that %s signals for its earlier life may still come", who(m, e),
                               place(m, &e->bar[0]), who(m, x), x->kind == PR_SHM_EV_CP_ARRIVE ? "cp.async" : "the tensor core"),
               "a wait for the phase that counts it must come before inval_barrier");
        return;
    }
}

/* ---- one event -------------------------------------------------------------------------------------------------- */
static void counted_wait(machine *m, agent *g, const pr_shm_event *e, const int *ids, int n, int64_t pendings)
{
    for (int i = 0; i < n - pendings; i++) {
        if (m->strict && pr_shm_waits_alone(e)) pr_vec_push(m->scratch, &g->alone, ids[i]);
        else add(&g->now, ids[i]);
    }
}

/* Scratch memory whose place the text gives: its first byte at least is written. What the threads of the agent did themselves the
 * compiler orders (M1). */
static void scratch(machine *m, const pr_shm_event *e)
{
    const pr_attr *place = pr_op_attr(e->op, "allocation.offset");
    if (!place || place->kind != PR_ATTR_INT || place->integer < 0 || place->integer > INT32_MAX || m->strict) return;
    int64_t from = (int64_t)place->integer, to = e->scratch_hi > from ? e->scratch_hi : from + 1, lo, hi;
    for (int a = 0; a < m->p->allocs.n; a++) {
        const pr_shm_alloc *alloc = &m->p->allocs.data[a];
        for (int i = 0; alloc->memory == PR_SHM_SMEM && alloc->offset >= 0 && i < m->history[a].n; i++) {
            const past *x = &m->history[a].data[i];
            pr_shm_access b = { .view = x->a->view, .write = true, .unit = PR_SHM_SYNC, .role = "scratch memory" };
            if (!pr_shm_byte_range(m->p, &x->a->view, &lo, &hi) || from >= alloc->offset + hi || alloc->offset + lo >= to) continue;
            if ((x->id < 0 && x->e->agent == e->agent) || ordered(m, &m->agents[e->agent].now, x, &b, e)) continue;
            m->uncertain = x->a->view.partial;
            race(m, x, e, &b, 0);
            m->uncertain = false;
        }
    }
}

/* All threads of the agent at one place. Scratch memory that is used is taken to be such a place: what depends on it is
 * left to the proof. */
static void meet(machine *m, agent *g, const pr_shm_event *e, int64_t time)
{
    if (m->strict && (pr_shm_meets_tensor(e) || e->kind == PR_SHM_EV_SCRATCH)) g->met_tensor = time;
    if (!m->strict || !(pr_shm_meets(e) || e->kind == PR_SHM_EV_SCRATCH)) return;
    g->met = time;
    for (int i = 0; i < g->alone.n; i++) add(&g->now, g->alone.data[i]);
    g->alone.n = 0;
}

static bool may_share(const machine *m, uint64_t set, int alloc)
{
    for (int i = 0; i < m->p->allocs.n; i++)
        if (set >> (i & 63) & 1 && !pr_shm_alloc_disjoint(&m->p->allocs.data[i], &m->p->allocs.data[alloc])) return true;
    return false;
}

/* After which of its operations have all threads of the agent surely met, so that a TMA load that one of them issues speaks for
 * all? The compiler makes them meet where one access may touch what another did, and where something is signalled. */
static void meet_before_loads(const machine *m, agent *g, const pr_shm_event *e, int64_t time)
{
    bool issues = e->kind == PR_SHM_EV_TMA_LOAD || e->kind == PR_SHM_EV_CP || e->kind == PR_SHM_EV_DOT || e->kind == PR_SHM_EV_STORE
                  || (e->kind == PR_SHM_EV_TC && !e->n_bar);
    if (e->kind == PR_SHM_EV_ACCESS || issues) {
        bool meets = e->kind == PR_SHM_EV_ACCESS;
        for (int i = 0; i < e->n_acc; i++) meets = meets || may_share(m, g->since, e->acc[i].view.alloc);
        if (meets) g->told = time - 1, g->since = 0;
        for (int i = 0; i < e->n_acc; i++) g->since |= (uint64_t)1 << (e->acc[i].view.alloc & 63);
    } else if (e->kind != PR_SHM_EV_WAIT && e->kind != PR_SHM_EV_FENCE && e->kind != PR_SHM_EV_CP_COMMIT && e->kind != PR_SHM_EV_DEALLOC) {
        g->told = time;
        g->since = 0;
    }
}

static void execute(machine *m, agent *g, const pr_shm_event *e)
{
    int64_t time = ++g->now.of[e->agent];
    done step = { e, INT64_MIN };
    pr_vec_push(m->scratch, &m->steps, step);
    bool async = e->kind == PR_SHM_EV_CP || e->kind == PR_SHM_EV_DOT || e->kind == PR_SHM_EV_TMA_LOAD
                 || e->kind == PR_SHM_EV_STORE || e->kind == PR_SHM_EV_TC;
    bool arrives_later = (e->kind == PR_SHM_EV_TC && e->n_bar) || e->kind == PR_SHM_EV_TC_COMMIT || e->kind == PR_SHM_EV_CP_ARRIVE;
    int id = async ? new_id(m) : -1, counted = arrives_later ? new_id(m) : -1;
    meet(m, g, e, time);
    meet_before_loads(m, g, e, time);
    for (int i = 0; i < e->n_acc && e->kind != PR_SHM_EV_DEALLOC; i++) {
        live_reuse(m, e, &e->acc[i]);
        access(m, e, &e->acc[i], time, id);
    }
    switch (e->kind) {
    case PR_SHM_EV_INIT: {
        barrier *b = barrier_of(m, e, &e->bar[0]);
        if (!b) break;
        lifecycle_write(m, e, time);
        if (b->live)
            report(m, PR_SHM_F_BAR_REINIT, e, NULL, &e->bar[0], -2,
                   pr_arena_printf(m->p->arena, "%s initialises %s, which is live", who(m, e), place(m, &e->bar[0])),
                   "inval_barrier must come first");
        made_again(m, g, e, b);
        *b = (barrier){ .live = true, .ever = true, .init = e->count, .pending = e->count, .place = e->bar[0] };
        clock_init(m, &b->next);
        break;
    }
    case PR_SHM_EV_INVAL: {
        barrier *b = live_barrier(m, e, &e->bar[0]);
        if (!b) break;
        for (int i = 0; i < b->due.n; i++) {
            if (has(&g->now, b->due.data[i])) continue;
            if (b->due_by.data[i]->kind != PR_SHM_EV_TMA_LOAD) continue;
            report(m, PR_SHM_F_BAR_INVAL_PENDING, e, NULL, &e->bar[0], -2,
                   pr_arena_printf(m->p->arena, "%s invalidates %s while a TMA load that signals it may be in flight", who(m, e), place(m, &e->bar[0])),
                   "a wait for the last load of the barrier must come before inval_barrier");
            break;
        }
        const pr_shm_event *waits = waiter_of(m, g, e, b);
        if (waits)
            report(m, PR_SHM_F_BAR_INVAL_WAITER, e, waits, &e->bar[0], -2,
                   pr_arena_printf(m->p->arena, "%s invalidates %s while %s may still wait on it", who(m, e), place(m, &e->bar[0]), who(m, waits)),
                   "something that comes after the wait must come before inval_barrier");
        b->live = false;
        lifecycle_write(m, e, time);
        break;
    }
    case PR_SHM_EV_WAIT: wait(m, e, time); break;
    case PR_SHM_EV_ARRIVE: arrive(m, e, 0, e->count, 0, NULL, 0); break;
    case PR_SHM_EV_EXPECT: arrive(m, e, 0, 1, e->bytes, NULL, 0); break;
    case PR_SHM_EV_TMA_LOAD: {
        barrier *b = barrier_of(m, e, &e->bar[0]);
        if (b) {
            pr_vec_push(m->scratch, &b->due, id);
            pr_vec_push(m->scratch, &b->due_by, e);
        }
        arrive(m, e, 0, 0, -e->bytes, &id, 1);
        break;
    }
    case PR_SHM_EV_TC: case PR_SHM_EV_TC_COMMIT:
        if (id >= 0) pr_vec_push(m->scratch, &g->tc, id);
        for (int i = 0; i < e->n_bar && !m->stop; i++)
            if (!pr_term_is(e->bar_pred[i], PR_TERM_FALSE)) arrive_later(m, e, i, 1, &g->tc, counted);
        if (counted >= 0) pr_vec_push(m->scratch, &g->tc, counted);   /* before what later ones signal                 */
        break;
    case PR_SHM_EV_CP: pr_vec_push(m->scratch, &g->cp, id); break;
    case PR_SHM_EV_CP_COMMIT: pr_vec_push(m->scratch, &g->cp_group, g->cp.n); break;
    case PR_SHM_EV_CP_WAIT: {
        int64_t n = g->cp_group.n - e->count;
        if (n > 0) counted_wait(m, g, e, g->cp.data, g->cp_group.data[n - 1], 0);
        break;
    }
    case PR_SHM_EV_CP_ARRIVE: arrive_later(m, e, 0, e->count, &g->cp, counted); break;
    case PR_SHM_EV_DOT: pr_vec_push(m->scratch, &g->dots, id); break;
    case PR_SHM_EV_DOT_WAIT: counted_wait(m, g, e, g->dots.data, g->dots.n, e->count); break;
    case PR_SHM_EV_STORE: pr_vec_push(m->scratch, &g->stores, id); break;
    case PR_SHM_EV_STORE_WAIT: counted_wait(m, g, e, g->stores.data, g->stores.n, e->count); break;
    case PR_SHM_EV_FENCE:
        fence(m, g);
        break;
    case PR_SHM_EV_BEGIN:
        if (!e->agent) {
            m->entered[e->ws] = g->now;
            clock_init(m, &m->entered[e->ws]);
            join(m, &m->entered[e->ws], &g->now);
            clock_init(m, &m->ended[e->ws]);
            m->has_entered[e->ws] = true;
        } else {                                     /* other threads: no groups of an earlier region */
            join(m, &g->now, &m->entered[e->ws]);
            g->cp.n = g->dots.n = g->stores.n = g->tc.n = g->cp_group.n = 0;
        }
        break;
    case PR_SHM_EV_END:
        if (e->agent) {
            join(m, &m->ended[e->ws], &g->now);
            m->n_ended[e->ws]++;
        } else {
            join(m, &g->now, &m->ended[e->ws]);
        }
        break;
    case PR_SHM_EV_SCRATCH: scratch(m, e); break;
    case PR_SHM_EV_ACCESS: case PR_SHM_EV_DEALLOC: case PR_SHM_EV_ENTRY: case PR_SHM_EV_JOIN:
    case PR_SHM_EV_MEET:
        break;
    }
}

static bool runnable(machine *m, const agent *g)
{
    int64_t phase;
    if (g->at >= g->list->n) return false;
    const pr_shm_event *e = &g->list->data[g->at];
    if (e->kind == PR_SHM_EV_WAIT) return passes(m, e, &phase);
    if (e->kind == PR_SHM_EV_BEGIN && e->agent) return m->has_entered[e->ws];
    if (e->kind == PR_SHM_EV_END && !e->agent) return m->n_ended[e->ws] == m->n_parts[e->ws];
    return true;
}

/* ---- nobody can go on --------------------------------------------------------------------------------------------- */
/* An event of some agent's future that would arrive at the barrier of e. */
static const pr_shm_event *arrival_after(machine *m, const pr_shm_event *e)
{
    for (int a = 0; a < m->n_agents; a++) {
        const agent *g = &m->agents[a];
        for (int i = g->at; i < g->list->n; i++) {
            const pr_shm_event *f = &g->list->data[i];
            if (f->kind == PR_SHM_EV_WAIT || f->kind == PR_SHM_EV_INIT || f->kind == PR_SHM_EV_INVAL) continue;
            for (int b = 0; b < f->n_bar; b++)
                if (f->bar[b].alloc == e->bar[0].alloc && slot_of(m, &f->bar[b]) == slot_of(m, &e->bar[0])) return f;
        }
    }
    return NULL;
}

/* Has the agent waited at this barrier before? */
static bool waited_before(machine *m, const agent *g)
{
    const pr_shm_event *e = &g->list->data[g->at];
    for (int i = 0; i < g->at; i++) {
        const pr_shm_event *f = &g->list->data[i];
        if (f->kind == PR_SHM_EV_WAIT && f->bar[0].alloc == e->bar[0].alloc && slot_of(m, &f->bar[0]) == slot_of(m, &e->bar[0])) return true;
    }
    return false;
}

static void stuck(machine *m)
{
    int blocked = 0, finished = 0;
    m->stuck = true;
    for (int a = 0; a < m->n_agents; a++) {
        const agent *g = &m->agents[a];
        bool waits = g->at < g->list->n && g->list->data[g->at].kind == PR_SHM_EV_WAIT;
        blocked += waits;
        finished += g->at >= g->list->n && g->list->n > 0;
    }
    for (int k = 0; k < 2 * m->n_agents; k++) {      /* first the waits for plain arrivals: they explain more */
        const agent *g = &m->agents[k % m->n_agents];
        if (g->at >= g->list->n || g->list->data[g->at].kind != PR_SHM_EV_WAIT) continue;
        const pr_shm_event *e = &g->list->data[g->at], *next = arrival_after(m, e);
        bool plain = next && next->kind != PR_SHM_EV_EXPECT && next->kind != PR_SHM_EV_TMA_LOAD;
        if (plain != (k < m->n_agents)) continue;
        barrier *b = barrier_of(m, e, &e->bar[0]);
        if (!b) continue;
        pr_shm_finding_id id = finished ? PR_SHM_F_BAR_STUCK : PR_SHM_F_BAR_DEADLOCK;
        const char *why;
        if (!b->pending && b->tx) {
            id = PR_SHM_F_BAR_TX;
            why = pr_arena_printf(m->p->arena, "its arrivals are complete, but %" PRId64 " bytes %s", b->tx > 0 ? b->tx : -b->tx,
                                  b->tx > 0 ? "that barrier_expect announced never come" : "come that no barrier_expect announced");
        } else if (next) {
            const agent *h = &m->agents[next->agent];
            const pr_shm_event *at = &h->list->data[h->at];
            why = pr_arena_printf(m->p->arena, "it has %" PRId64 " of %" PRId64 " arrivals; the next would come from %s (line %d), which "
                                  "is blocked at line %d", b->init - b->pending, b->init, who(m, next),
                                  line_of(next), line_of(at));
        } else {
            why = pr_arena_printf(m->p->arena, "it has %" PRId64 " of %" PRId64 " arrivals and nobody arrives any more",
                                  b->init - b->pending, b->init);
        }
        const char *hint = "the arrivals of this phase are missing";
        if (next && next->agent != e->agent && waited_before(m, g))
            hint = pr_arena_printf(m->p->arena, "the arrival must not need what comes after this wait: it comes too late (the wait before it is at line %d), or the ring has "
                                   "too few slots", line_of(&m->agents[next->agent].list->data[m->agents[next->agent].at]));
        else if (next && next->agent == e->agent) hint = "the arrival stands behind the wait that needs it";
        else if (next && b->done == 0 && !(number(m, e->phase) & 1)) hint = "if this wait is meant to pass at the start, its first phase must be 1";
        report(m, id, e, next, &e->bar[0], b->done,
               pr_arena_printf(m->p->arena, "%s waits for phase %" PRId64 " of %s: %s", who(m, e), b->done, place(m, &e->bar[0]), why),
               hint);
    }
    (void)blocked;
}

static int choose(machine *m)
{
    int best = -1, n = 0;
    for (int a = 0; a < m->n_agents; a++) {
        if (!runnable(m, &m->agents[a])) continue;
        n++;
        if (m->random) {
            m->random = m->random * 6364136223846793005u + 1442695040888963407u;
            if ((m->random >> 33) % (uint64_t)n == 0) best = a;
        } else if (best < 0 || m->agents[a].executed < m->agents[best].executed) {
            best = a;
        }
    }
    return best;
}

static bool schedule(pr_shm_prog *p, const pr_shm_trace *t, unsigned seed, int run, const char *trip_counts, bool strict,
                     pr_arena *scratch, pr_shm_findings *findings, pr_shm_attributions *attributions)
{
    machine m = { .p = p, .strict = strict, .t = t, .scratch = scratch, .n_agents = t->n_agents, .findings = findings,
                  .attributions = attributions, .trips = trip_counts, .run = run, .random = seed ? seed * 2654435761u + 1 : 0 };
    int events = 0, left;
    for (int a = 0; a < t->n_agents; a++) events += t->agents[a].n;
    m.max_ids = 6 * events + 64;
    m.words = (m.max_ids + 63) / 64;
    m.barriers = PR_NEW_N(scratch, barrier *, p->allocs.n + 1);
    m.n_slots = PR_NEW_N(scratch, int, p->allocs.n + 1);
    m.history = pr_arena_alloc(scratch, sizeof *m.history * (size_t)(p->allocs.n + 1));
    m.entered = PR_NEW_N(scratch, clock, t->n_ws + 1);
    m.ended = PR_NEW_N(scratch, clock, t->n_ws + 1);
    m.has_entered = PR_NEW_N(scratch, bool, t->n_ws + 1);
    m.n_ended = PR_NEW_N(scratch, int, t->n_ws + 1);
    m.n_parts = PR_NEW_N(scratch, int, t->n_ws + 1);
    for (int a = 0; a < t->n_agents; a++) {
        m.agents[a].list = &t->agents[a];
        clock_init(&m, &m.agents[a].now);
        for (int i = 0; a && i < t->agents[a].n; i++)
            if (t->agents[a].data[i].kind == PR_SHM_EV_BEGIN) m.n_parts[t->agents[a].data[i].ws]++;
    }
    for (;;) {
        int a = choose(&m);
        if (a < 0) break;
        agent *g = &m.agents[a];
        execute(&m, g, &g->list->data[g->at++]);
        g->executed++;
        if (m.stop) return false;
    }
    left = 0;
    for (int a = 0; a < t->n_agents; a++) left += m.agents[a].at < m.agents[a].list->n;
    if (left) stuck(&m);
    return !left;
}

bool pr_shm_schedule(pr_shm_prog *p, const pr_shm_trace *t, unsigned seed, int run, const char *trip_counts,
                     pr_arena *scratch, pr_shm_findings *findings, pr_shm_attributions *attributions)
{
    return schedule(p, t, seed, run, trip_counts, false, scratch, findings, attributions);
}

/* What is no matter of threads was looked at before. */
bool pr_shm_schedule_strictly(pr_shm_prog *p, const pr_shm_trace *t, int run, const char *trip_counts, pr_arena *scratch,
                              pr_shm_findings *findings)
{
    pr_shm_findings all = { 0 };
    bool ended = schedule(p, t, 0, run, trip_counts, true, scratch, &all, NULL);
    for (int i = 0; i < all.n; i++) {
        bool known = false;
        for (int k = 0; k < findings->n && !known; k++)
            known = findings->data[k].id == all.data[i].id && findings->data[k].first.op == all.data[i].first.op
                    && findings->data[k].second.op == all.data[i].second.op;
        bool asked = all.data[i].id == PR_SHM_F_MEMBAR || all.data[i].id == PR_SHM_F_PROXY_FENCE;
        all.data[i].assumed = all.data[i].assumed || p->beside;      /* what PTX does not show may be there all the same    */
        if (asked && !known) pr_vec_push(p->arena, findings, all.data[i]);
    }
    return ended;
}
