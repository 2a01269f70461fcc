/* Schedules of ConSan's machine; see emulate.h.
 *
 * ConSan's part of an operation is one critical section before the operation; a wait has two, one on either side.
 * The hardware's part follows at once, except what completes later: the bytes of TMA loads, the tensor core. */
#include "shm/emulate.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "front/ops.h"

typedef struct hardware { bool live; int64_t init, pending, tx, done; } hardware;
typedef struct flight {          /* a completion that is due                                        */
    int bar;                     /* -1: none                                                       */
    int64_t count, tx;
    int agent;                   /* tensor core: in order of issue; -1 otherwise                      */
} flight;

typedef struct machine {
    const pr_consan *c;
    pr_arena *scratch;
    pr_cs *cs;
    hardware *bar;
    PR_VEC(flight) due;
    int at[PR_SHM_AGENTS];
    bool asked[PR_SHM_AGENTS];   /* the first half of the wait is done                               */
    bool entered[PR_SHM_AGENTS]; /* by partition: the region it is in was entered                     */
    int ws, ended;               /* the running warp_specialize, -1; partitions that ended            */
    uint64_t random;
    unsigned weight[PR_SHM_AGENTS], weight_due;
    bool strange;                /* a wait on bytes that hold no barrier passes: what the hardware does is not known */
    pr_consan_outcome *out;
} machine;

static uint64_t next_random(machine *m)
{
    m->random ^= m->random << 13;
    m->random ^= m->random >> 7;
    m->random ^= m->random << 17;
    return m->random * 2685821657736338717u;
}

static int64_t value(const machine *m, pr_term t)
{
    pr_i128 v;
    return !pr_term_none(t) && pr_term_const(m->c->p->T, t, &v) ? (int64_t)v : 0;
}

/* ---- reports ------------------------------------------------------------------------------------------------ */
static bool report(machine *m, pr_cs_message what, const pr_shm_event *e, const pr_shm_access *a)
{
    if (what == PR_CS_NOTHING) return false;
    const char *text = pr_cs_text(m->c->epoch, what, m->cs->kind);
    char operand = a && a->role && strncmp(a->role, "operand ", 8) == 0 ? a->role[8] : 0;
    if (operand && (what == PR_CS_WRITES || what == PR_CS_READS))
        text = pr_arena_printf(m->c->arena, "%s%s Operand: %c", text, what == PR_CS_READS ? "." : "", operand);
    *m->out = (pr_consan_outcome){ .kind = PR_CONSAN_REPORT, .message = what, .text = text };
    m->out->at = (pr_shm_instance){ .op = e->op, .loc = e->loc, .agent = e->agent, .n_loops = e->n_loops };
    memcpy(m->out->at.iteration, e->iteration, sizeof e->iteration);
    return true;
}

/* ---- the hardware's barriers ---------------------------------------------------------------------------------- */
static void settle(hardware *b)
{
    if (b->pending > 0 || b->tx) return;
    b->done++;
    b->pending = b->init;
}
static void hardware_arrive(machine *m, int bar, int64_t count, int64_t tx)
{
    if (bar < 0) return;
    m->bar[bar].pending -= count;
    m->bar[bar].tx += tx;
    settle(&m->bar[bar]);
}
static void later(machine *m, int bar, int64_t count, int64_t tx, int agent)
{
    flight f = { bar, count, tx, agent };
    if (bar >= 0) pr_vec_push(m->scratch, &m->due, f);
}

/* ---- ConSan's part of an operation; true: it stops the kernel ----------------------------------------------------- */
/* Do these bytes hold a live barrier? */
static bool holds_barrier(const pr_consan *c, const pr_consan_lanes *l, const pr_cs *cs)
{
    for (int b = 0; b < c->n_bars; b++) {
        for (int i = 0; cs->bar[b].live && i < l->n; i++)
            for (int k = 0; k < c->bar_bytes[b].n; k++)
                if (c->bar_bytes[b].id[k] == l->id[i]) return true;
    }
    return false;
}

static bool check(machine *m, const pr_shm_event *e, const pr_shm_access *a, const pr_consan_lanes *l, int t)
{
    pr_cs *cs = m->cs;
    bool shared = m->c->p->allocs.data[a->view.alloc].memory == PR_SHM_SMEM;
    if (cs->epoch == PR_CS_CURRENT && holds_barrier(m->c, l, cs) && report(m, PR_CS_LIVE_REUSE, e, a)) return true;
    if (report(m, pr_cs_check_write(cs, l->id, l->n, t), e, a)) return true;
    if (shared && report(m, pr_cs_check_commits(cs, l->id, l->n, PR_CS_CP), e, a)) return true;
    if (a->write) {
        if (report(m, pr_cs_check_reads(cs, l->id, l->n, t), e, a)) return true;
        if (shared && report(m, pr_cs_check_commits(cs, l->id, l->n, PR_CS_WGMMA), e, a)) return true;
        if (shared && report(m, pr_cs_check_commits(cs, l->id, l->n, PR_CS_TMA_STORE), e, a)) return true;
    }
    return a->async_proxy && report(m, pr_cs_check_fence(cs, l->id, l->n, e->agent), e, a);
}

/* Threads of one access, and how it is followed. */
static bool touch(machine *m, const pr_consan_step *s, int k)
{
    const pr_shm_event *e = s->e;
    const pr_shm_access *a = &e->acc[k];
    const pr_consan_lanes *l = &s->acc[k];
    int p = e->agent, t = p;
    bool synchronous_dot = a->unit == PR_SHM_SYNC && e->op->opcode == PR_OP_TTNG_WARP_GROUP_DOT;
    if (synchronous_dot && m->c->epoch == PR_CS_OLDER) return false;
    bool request = e->op->opcode == PR_OP_TTNG_CLC_TRY_CANCEL;      /* a class of its own, in order                 */
    if (a->unit == PR_SHM_TMA_LOAD || a->unit == PR_SHM_TMA_STORE) t = p + (request ? PR_CS_CLC : PR_CS_TMA);
    if (a->unit == PR_SHM_TC) t = p + PR_CS_TC;
    if (check(m, e, a, l, t)) return true;
    switch (a->unit) {
    case PR_SHM_CP: pr_cs_stage(m->cs, l->id, l->n, PR_CS_CP, p); break;
    case PR_SHM_WGMMA: pr_cs_stage(m->cs, l->id, l->n, PR_CS_WGMMA, p); break;
    case PR_SHM_TMA_STORE: pr_cs_stage(m->cs, l->id, l->n, PR_CS_TMA_STORE, p); break;
    case PR_SHM_SYNC: case PR_SHM_TMA_LOAD: case PR_SHM_TC:
        if (m->c->epoch == PR_CS_OLDER && !m->c->n_bars) break;      /* no barrier: nothing is recorded */
        if (a->write) pr_cs_write(m->cs, l->id, l->n, t, a->unit == PR_SHM_TMA_LOAD && !request);
        else pr_cs_read(m->cs, l->id, l->n, t);
        break;
    }
    bool shared = m->c->p->allocs.data[a->view.alloc].memory == PR_SHM_SMEM;
    if (shared && !a->async_proxy) pr_cs_generic(m->cs, l->id, l->n, p);
    return false;
}

/* A completion that is due reads the barrier's bytes until a wait for it (current). */
static void deferred(machine *m, const pr_consan_step *s, int k, int t)
{
    if (m->c->epoch == PR_CS_OLDER || s->bar[k] < 0) return;
    pr_cs_read(m->cs, s->bar_bytes[k].id, s->bar_bytes[k].n, t);
    pr_cs_track_reads(m->cs, s->bar[k], s->bar_bytes[k].id, s->bar_bytes[k].n, t);
}

static bool arrive(machine *m, const pr_consan_step *s, int k, int64_t count, int64_t tx)
{
    int b = s->bar[k];
    if (report(m, pr_cs_arrive_check(m->cs, b, count, tx), s->e, NULL)) return true;
    pr_cs_arrive(m->cs, b, count, tx);
    return false;
}

static bool lifecycle(machine *m, const pr_consan_step *s, bool init)
{
    const pr_shm_event *e = s->e;
    const pr_consan_lanes *l = &s->bar_bytes[0];
    pr_cs *cs = m->cs;
    int b = s->bar[0];
    if (cs->epoch == PR_CS_CURRENT) {                /* a write of the barrier's bytes by the threads */
        if (init && cs->bar[b].live && report(m, PR_CS_REINIT, e, NULL)) return true;
        if (!init && report(m, pr_cs_live(cs, b), e, NULL)) return true;
        if (report(m, pr_cs_check_write(cs, l->id, l->n, e->agent), e, NULL)) return true;
        if (report(m, pr_cs_check_commits(cs, l->id, l->n, PR_CS_CP), e, NULL)) return true;
        if (report(m, pr_cs_check_reads(cs, l->id, l->n, e->agent), e, NULL)) return true;
        if (report(m, pr_cs_check_commits(cs, l->id, l->n, PR_CS_WGMMA), e, NULL)) return true;
        if (report(m, pr_cs_check_commits(cs, l->id, l->n, PR_CS_TMA_STORE), e, NULL)) return true;
        pr_cs_write(cs, l->id, l->n, e->agent, false);
    }
    return report(m, init ? pr_cs_init(cs, b, e->count) : pr_cs_inval(cs, b), e, NULL);
}

static int partitions(const pr_shm_event *e) { return e->op->n_regions; }

/* Triton fills up the warps of all partitions to whole groups of four with empty partitions, which never wait; the
 * older check counts them as active. */
static int padding(const pr_shm_event *e)
{
    const pr_attr *w = pr_op_attr(e->op, "partitionNumWarps");
    int warps = 0, n = 0;
    for (int i = 0; w && w->kind == PR_ATTR_DENSE_ARRAY && i < w->n_ints; i++) warps += (int)w->ints[i];
    for (int rest = (4 - warps % 4) % 4; rest; rest &= rest - 1) n++;
    return n;
}

static bool tensor_core(machine *m, const pr_consan_step *s)
{
    const pr_shm_event *e = s->e;
    bool old = m->c->epoch == PR_CS_OLDER;
    for (int k = 0; k < e->n_bar; k++) {
        if (pr_term_is(e->bar_pred[k], PR_TERM_FALSE) || s->bar[k] < 0) continue;
        if (!old && report(m, pr_cs_live(m->cs, s->bar[k]), e, NULL)) return true;
        deferred(m, s, k, e->agent + PR_CS_TC);
        pr_cs_track_tensor(m->cs, s->bar[k], e->agent + PR_CS_TC);
        if (!old) pr_cs_track_proxy(m->cs, s->bar[k], e->agent, s->acc[0].id, 0);
        if (arrive(m, s, k, 1, 0)) return true;
        later(m, s->bar[k], 1, 0, e->agent);
    }
    return false;
}

/* One operation but a wait. */
static bool execute(machine *m, const pr_consan_step *s)
{
    const pr_shm_event *e = s->e;
    pr_cs *cs = m->cs;
    int p = e->agent;
    bool old = m->c->epoch == PR_CS_OLDER, outside = e->n_bar && s->bar[0] < 0;
    for (int k = 0; k < e->n_acc && e->kind != PR_SHM_EV_DEALLOC; k++)
        if (touch(m, s, k)) return true;
    if (outside) return false;
    switch (e->kind) {
    case PR_SHM_EV_INIT:
        if (lifecycle(m, s, true)) return true;
        m->bar[s->bar[0]] = (hardware){ .live = true, .init = e->count, .pending = e->count };
        break;
    case PR_SHM_EV_INVAL: return lifecycle(m, s, false);
    case PR_SHM_EV_ARRIVE:
        if (!old && report(m, pr_cs_live(cs, s->bar[0]), e, NULL)) return true;
        pr_cs_track(cs, s->bar[0], p);
        pr_cs_track_proxy(cs, s->bar[0], p, NULL, 0);
        if (arrive(m, s, 0, e->count, 0)) return true;
        hardware_arrive(m, s->bar[0], e->count, 0);
        break;
    case PR_SHM_EV_EXPECT:
        if (!old) {
            if (report(m, pr_cs_live(cs, s->bar[0]), e, NULL)) return true;
            pr_cs_track(cs, s->bar[0], p);
            pr_cs_track_proxy(cs, s->bar[0], p, NULL, 0);
            if (arrive(m, s, 0, 1, e->bytes)) return true;
        }
        hardware_arrive(m, s->bar[0], 1, e->bytes);
        break;
    case PR_SHM_EV_TMA_LOAD:
        if (old) {
            pr_cs_track(cs, s->bar[0], p + PR_CS_TMA);
            if (arrive(m, s, 0, 1, 0)) return true;
        } else {
            if (report(m, pr_cs_live(cs, s->bar[0]), e, NULL)) return true;
            deferred(m, s, 0, p + (e->op->opcode == PR_OP_TTNG_CLC_TRY_CANCEL ? PR_CS_CLC : PR_CS_TMA));
            pr_cs_track_writes(cs, s->bar[0], s->acc[0].id, s->acc[0].n);
            pr_cs_track_proxy(cs, s->bar[0], p, s->acc[0].id, s->acc[0].n);
            if (arrive(m, s, 0, 0, -e->bytes)) return true;
        }
        later(m, s->bar[0], 0, -e->bytes, -1);
        break;
    case PR_SHM_EV_TC: case PR_SHM_EV_TC_COMMIT: return tensor_core(m, s);
    case PR_SHM_EV_CP_ARRIVE:                        /* no arrival in either epoch */
        if (!old && report(m, pr_cs_live(cs, s->bar[0]), e, NULL)) return true;
        later(m, s->bar[0], e->count, 0, -1);
        break;
    case PR_SHM_EV_CP_COMMIT: pr_cs_commit_group(cs, PR_CS_CP, p); break;
    case PR_SHM_EV_CP_WAIT: pr_cs_commit_wait(cs, PR_CS_CP, p, e->count); break;
    case PR_SHM_EV_DOT: pr_cs_commit_group(cs, PR_CS_WGMMA, p); break;
    case PR_SHM_EV_DOT_WAIT: pr_cs_commit_wait(cs, PR_CS_WGMMA, p, e->count); break;
    case PR_SHM_EV_STORE: pr_cs_commit_group(cs, PR_CS_TMA_STORE, p); break;
    case PR_SHM_EV_STORE_WAIT: pr_cs_commit_wait(cs, PR_CS_TMA_STORE, p, e->count); break;
    case PR_SHM_EV_FENCE: pr_cs_fence(cs, p); break;
    case PR_SHM_EV_BEGIN:
        if (p) break;
        m->ws = e->ws;
        m->ended = 0;
        pr_cs_enter(cs, partitions(e));
        cs->active = ((uint32_t)1 << (partitions(e) + (old ? padding(e) : 0))) - 1;
        break;
    case PR_SHM_EV_END:
        if (p) {
            m->ended++;
            if (!old) cs->active &= ~((uint32_t)1 << p);
            return !old && report(m, pr_cs_deadlock(cs), e, NULL);
        }
        m->ws = -1;
        pr_cs_join(cs, partitions(e));
        cs->active = 1;
        break;
    case PR_SHM_EV_ACCESS: case PR_SHM_EV_CP: case PR_SHM_EV_SCRATCH: case PR_SHM_EV_DEALLOC: case PR_SHM_EV_MEET: case PR_SHM_EV_ENTRY:
    case PR_SHM_EV_JOIN: case PR_SHM_EV_WAIT: break;
    }
    return false;
}

/* ---- schedules -------------------------------------------------------------------------------------------------------- */
static const pr_consan_step *head(const machine *m, int a)
{
    return m->at[a] < m->c->t->agents[a].n ? &m->c->steps[a][m->at[a]] : NULL;
}

static bool passes(const machine *m, const pr_consan_step *s)
{
    if (s->bar[0] < 0) return m->strange;
    const hardware *b = &m->bar[s->bar[0]];
    return b->live ? (b->done & 1) != (value(m, s->e->phase) & 1) : m->strange;
}

static bool runnable(const machine *m, int a)
{
    const pr_consan_step *s = head(m, a);
    if (!s) return false;
    if (s->e->kind == PR_SHM_EV_WAIT) return !m->asked[a] || passes(m, s);
    if (s->e->kind == PR_SHM_EV_BEGIN && a) return m->ws == s->e->ws;
    if (s->e->kind == PR_SHM_EV_END && !a) return !m->asked[a] || m->ended == partitions(s->e) - 1;
    return true;
}

/* Either half of a wait, or of the end of the default region. */
static bool halves(machine *m, int a, const pr_consan_step *s)
{
    const pr_shm_event *e = s->e;
    pr_cs *cs = m->cs;
    bool old = m->c->epoch == PR_CS_OLDER;
    int phase = (int)(value(m, e->phase) & 1);
    if (e->kind == PR_SHM_EV_END) {
        if (m->asked[a]) return execute(m, s);
        if (!old) cs->active &= ~(uint32_t)1;
        return !old && report(m, pr_cs_deadlock(cs), e, NULL);
    }
    if (s->bar[0] < 0) return false;
    if (!m->asked[a]) {
        if (!old && report(m, pr_cs_live(cs, s->bar[0]), e, NULL)) return true;
        pr_cs_set_waiting(cs, s->bar[0], a, phase);
        return report(m, pr_cs_deadlock(cs), e, NULL);
    }
    pr_cs_transfer(cs, s->bar[0], a, phase);
    if (!old) pr_cs_transfer_proxy(cs, s->bar[0], a);
    pr_cs_clear_waiting(cs, s->bar[0], a);
    return false;
}

static bool first_of_agent(const machine *m, int i)
{
    for (int k = 0; m->due.data[i].agent >= 0 && k < i; k++)
        if (m->due.data[k].agent == m->due.data[i].agent) return false;
    return true;
}

/* An agent, or -2 - i for completion i; -1: nothing can happen. */
static int choose(machine *m)
{
    unsigned total = 0;
    for (int a = 0; a < m->c->t->n_agents; a++) total += runnable(m, a) ? m->weight[a] : 0;
    for (int i = 0; i < m->due.n; i++) total += first_of_agent(m, i) ? m->weight_due : 0;
    if (!total) return -1;
    unsigned pick = (unsigned)((next_random(m) >> 32) % total);
    for (int a = 0; a < m->c->t->n_agents; a++) {
        unsigned w = runnable(m, a) ? m->weight[a] : 0;
        if (pick < w) return a;
        pick -= w;
    }
    for (int i = 0; i < m->due.n; i++) {
        unsigned w = first_of_agent(m, i) ? m->weight_due : 0;
        if (pick < w) return -2 - i;
        pick -= w;
    }
    return -1;
}

/* ---- the tables as text ---------------------------------------------------------------------------------------------------- */
static void set_text(pr_buf *b, uint64_t set)
{
    static const char *const class[] = { "", "tma", "tc", "clc" };
    const char *comma = "";
    pr_buf_puts(b, "{");
    for (int t = 0; t < PR_CS_THREADS; t++) {
        if (!(set >> t & 1)) continue;
        pr_buf_printf(b, "%s%s%d", comma, class[t / 16], t % 16);
        comma = ",";
    }
    pr_buf_puts(b, "}");
}

static void lane_text(const machine *m, int l, pr_buf *b)
{
    static const char *const kinds[] = { "cp.async", "wgmma", "tma-store" };
    const pr_cs *cs = m->cs;
    pr_buf_printf(b, "    %s: ", m->c->lane_name[l] ? m->c->lane_name[l] : pr_arena_printf(m->scratch, "lane %d", l));
    if (cs->written[l]) {
        pr_buf_puts(b, cs->wv[l] ? "write seen by " : "write in flight");
        if (cs->wv[l]) set_text(b, cs->wv[l]);
    } else pr_buf_puts(b, "no write");
    for (int t = 0; t < PR_CS_THREADS; t++) {
        if (!cs->rv[l * PR_CS_THREADS + t]) continue;
        pr_buf_puts(b, "; reads known to ");
        set_text(b, (uint64_t)1 << t);
        pr_buf_puts(b, " ");
        set_text(b, cs->rv[l * PR_CS_THREADS + t]);
    }
    for (int k = 0; k < cs->n_bars; k++) {
        for (int bank = 0; bank < 2; bank++) {
            int i = (l * cs->n_bars + k) * 2 + bank;
            if (!cs->wt[i] && !cs->rt[i]) continue;
            pr_buf_printf(b, "; %s phase %d carries%s", m->c->bar_name[k] ? m->c->bar_name[k] : "?", bank, cs->wt[i] ? " the write" : "");
            if (cs->rt[i]) pr_buf_puts(b, " reads "), set_text(b, cs->rt[i]);
        }
    }
    for (int k = 0; k < PR_CS_KINDS; k++)
        for (int p = 0; p < PR_CS_BASE; p++) {
            int v = cs->commits[(k * cs->n_lanes + l) * PR_CS_BASE + p];
            if (v) pr_buf_printf(b, "; %s of %d %s %d", kinds[k], p, v < 0 ? "staged" : "newer groups", v < 0 ? 0 : v - 1);
        }
    for (int p = 0; p < PR_CS_BASE; p++) {
        if (!cs->seen[l * PR_CS_BASE + p]) continue;
        pr_buf_printf(b, "; generic seen by %d ", p);
        set_text(b, cs->seen[l * PR_CS_BASE + p]);
        pr_buf_puts(b, " fenced ");
        set_text(b, cs->fenced[l * PR_CS_BASE + p]);
    }
    pr_buf_puts(b, "\n");
}

static void bar_text(const machine *m, int k, pr_buf *b)
{
    const pr_cs_barrier *x = &m->cs->bar[k];
    pr_buf_printf(b, "    %s: ", m->c->bar_name[k] ? m->c->bar_name[k] : "?");
    if (!x->live) pr_buf_puts(b, "not live");
    else pr_buf_printf(b, "phase %d, %" PRId64 " of %" PRId64 " arrivals pending, %" PRId64 " bytes", x->phase, x->count, x->init, x->tx);
    if (m->cs->waiting[k]) pr_buf_puts(b, "; waiting "), set_text(b, m->cs->waiting[k]);
    pr_buf_puts(b, "\n");
}

/* Rows that differ from the last time. */
static void show(const machine *m, const char **last, pr_buf *out)
{
    for (int i = 0; i < m->c->n_lanes + m->c->n_bars; i++) {
        pr_buf b;
        pr_buf_init(&b, m->scratch);
        if (i < m->c->n_lanes) lane_text(m, i, &b);
        else bar_text(m, i - m->c->n_lanes, &b);
        if (last[i] && strcmp(last[i], b.data) == 0) continue;
        if (last[i]) pr_buf_puts(out, b.data);
        last[i] = b.data;
    }
}

static void step_text(const pr_shm_event *e, const char *part, pr_buf *out)
{
    pr_buf_printf(out, "%d %s%s", e->agent, pr_shm_event_name(e->kind), part);
    for (int i = 0; i < e->n_loops; i++) pr_buf_printf(out, "%s%" PRId64, i ? "," : " iteration ", e->iteration[i]);
    if (e->loc.line) pr_buf_printf(out, " (" PR_STR_FMT ":%d)", PR_STR_ARG(e->loc.file), e->loc.line);
    pr_buf_puts(out, "\n");
}

void pr_consan_schedule(const pr_consan *c, uint64_t seed, int64_t number, pr_arena *scratch, pr_consan_outcome *out,
                        pr_buf *tables)
{
    machine m = { .c = c, .scratch = scratch, .cs = pr_cs_new(scratch, c->epoch, c->n_lanes, c->n_bars),
                  .bar = PR_NEW_N(scratch, hardware, c->n_bars + 1), .ws = -1, .out = out };
    const char **last = PR_NEW_N(scratch, const char *, c->n_lanes + c->n_bars + 1);
    m.random = (seed + 1) * 6364136223846793005u ^ ((uint64_t)number + 1) * 1442695040888963407u;
    if (!m.random) m.random = 1;
    for (int i = 0; i < 4; i++) next_random(&m);
    for (int a = 0; a < c->t->n_agents; a++) m.weight[a] = 1u << (3 * (next_random(&m) >> 62));
    m.weight_due = 1u << (3 * (next_random(&m) >> 62));
    m.strange = next_random(&m) >> 63;
    *out = (pr_consan_outcome){ .kind = PR_CONSAN_CLEAN };
    if (tables) show(&m, last, tables);
    for (int a; (a = choose(&m)) != -1;) {
        if (a < -1) {
            flight f = m.due.data[-2 - a];
            for (int i = -2 - a; i + 1 < m.due.n; i++) m.due.data[i] = m.due.data[i + 1];
            m.due.n--;
            hardware_arrive(&m, f.bar, f.count, f.tx);
            continue;
        }
        const pr_consan_step *s = head(&m, a);
        bool two = s->e->kind == PR_SHM_EV_WAIT || (s->e->kind == PR_SHM_EV_END && !a), begins = two && !m.asked[a];
        bool stop = two ? halves(&m, a, s) : execute(&m, s);
        if (tables) {
            step_text(s->e, s->e->kind != PR_SHM_EV_WAIT ? "" : begins ? " begins" : " passes", tables);
            show(&m, last, tables);
        }
        m.asked[a] = begins;
        if (!begins) m.at[a]++;
        if (stop) {
            if (tables) pr_buf_printf(tables, "%s\n", out->text);
            return;
        }
    }
    for (int a = 0; a < c->t->n_agents && out->kind == PR_CONSAN_CLEAN; a++) {
        const pr_consan_step *s = head(&m, a);
        if (!s || s->e->kind != PR_SHM_EV_WAIT) continue;
        out->kind = PR_CONSAN_HANG;
        out->at = (pr_shm_instance){ .op = s->e->op, .loc = s->e->loc, .agent = a, .n_loops = s->e->n_loops };
        memcpy(out->at.iteration, s->e->iteration, sizeof s->e->iteration);
    }
    if (tables) pr_buf_puts(tables, out->kind == PR_CONSAN_HANG ? "hangs without a report\n" : "ends without a report\n");
}

/* ---- all schedules of a launch ------------------------------------------------------------------------------------------------- */
static bool same(const pr_consan_outcome *a, const pr_consan_outcome *b)
{
    return a->kind == b->kind && a->at.op == b->at.op && a->at.agent == b->at.agent
           && (a->text ? b->text && strcmp(a->text, b->text) == 0 : !b->text);
}

static void values(const pr_shm_prog *p, const pr_consan_options *o, int64_t *value, int n, pr_consan_result *out)
{
    const pr_block *entry = pr_region_block(p->func->regions[0]);
    for (int i = 0; i < n; i++) {
        const pr_shm_param *q = &p->params.data[i];
        pr_consan_value v = { .name = q->name, .value = o->max_trips };
        if (pr_str_starts(q->name, "pid_")) {
            v.value = 0;
            v.given = true;
        } else if (pr_str_starts(q->name, "programs_")) {
            v.given = o->launch && o->launch->grid_known;
            v.value = v.given ? o->launch->grid[q->name.s[q->name.n - 1] - 'x'] : 1;
        } else if (q->leaf && !q->from_memory) {
            for (int a = 0; o->launch && a < entry->n_args && a < o->launch->n_args; a++) {
                if (!pr_str_eq(entry->args[a]->name, q->name) || o->launch->args[a].kind != PR_ARG_INT) continue;
                v.value = (int64_t)o->launch->args[a].value;
                v.given = true;
            }
        }
        value[i] = v.value;
        if (q->leaf) pr_vec_push(p->arena, &out->values, v);
    }
}

static const char *trip_counts(const pr_shm_prog *p, const pr_shm_trace *t)
{
    pr_buf b;
    pr_buf_init(&b, p->arena);
    for (int i = 0; i < t->n_trips; i++) {
        pr_loc at = pr_shm_loc(p->loops.data[i].op);
        pr_buf_printf(&b, "%sloop at line %d: %" PRId64, b.n ? ", " : "", at.line ? at.line : at.text_line, t->trips[i]);
    }
    return b.n ? b.data : "";
}

static int by_count(const void *a, const void *b)
{
    const pr_consan_outcome *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return (x->first > y->first) - (x->first < y->first);
}

void pr_consan_emulate(pr_arena *arena, const pr_ir *ir, const pr_consan_options *o, pr_consan_result *out,
                       pr_buf *tables)
{
    enum { MAX_EVENTS = 20000, MAX_VALUES = 256 };
    pr_shm_prog *p = pr_shm_read(arena, ir, o->func);
    pr_shm_model model;
    pr_shm_trace trace;
    int64_t value[MAX_VALUES] = { 0 };
    *out = (pr_consan_result){ 0 };
    if (p->refusals.n) {
        out->refusals = p->refusals;
        return;
    }
    pr_shm_symbolic(p, &model);                      /* for the parameters */
    int n = p->params.n < MAX_VALUES ? p->params.n : MAX_VALUES;
    values(p, o, value, n, out);
    pr_shm_run(p, arena, value, n, MAX_EVENTS, &trace);
    out->assumed = trace.assumed;
    out->trip_counts = trip_counts(p, &trace);
    pr_consan c;
    pr_consan_read(&c, p, &trace, o->epoch, arena);
    out->hull = c.hull;
    const char *why = trace.too_long ? "more operations than one emulation holds: use smaller launch values"
                      : trace.excluded ? "an assumption of the text does not hold at these launch values" : c.refused;
    if (why) {
        pr_refusal r = { .kind = PR_REFUSAL_BUDGET, .loc = pr_shm_loc(o->func), .message = why };
        pr_vec_push(arena, &out->refusals, r);
        return;
    }
    for (int a = 0; a < trace.n_agents; a++) out->events += trace.agents[a].n;
    for (int64_t i = 0; i < (tables ? 1 : o->schedules) && !(o->interrupt && *o->interrupt); i++) {
        pr_consan_outcome one;
        pr_arena *scratch = pr_arena_new(0, pr_arena_oom(arena));
        pr_consan_schedule(&c, (uint64_t)o->seed, i, scratch, &one, tables);
        pr_arena_free(scratch);
        one.first = i;
        int k = 0;
        while (k < out->outcomes.n && !same(&out->outcomes.data[k], &one)) k++;
        if (k == out->outcomes.n) pr_vec_push(arena, &out->outcomes, one);
        out->outcomes.data[k].count++;
        out->schedules++;
    }
    if (out->outcomes.n) qsort(out->outcomes.data, (size_t)out->outcomes.n, sizeof *out->outcomes.data, by_count);
}
