/* ConSan's tables; see tables.h. */
#include "shm/tables.h"

static uint64_t bit(int t) { return (uint64_t)1 << t; }
static uint64_t *rv(const pr_cs *c, int lane, int t) { return &c->rv[lane * PR_CS_THREADS + t]; }
static int entry(const pr_cs *c, int lane, int b, int bank) { return (lane * c->n_bars + b) * 2 + bank; }
static int *commits(const pr_cs *c, pr_cs_commit kind, int lane, int p)
{ return &c->commits[((int)kind * c->n_lanes + lane) * PR_CS_BASE + p]; }
static int row(int lane, int p) { return lane * PR_CS_BASE + p; }
static bool current(const pr_cs *c) { return c->epoch == PR_CS_CURRENT; }

const char *pr_cs_text(pr_cs_epoch e, pr_cs_message m, pr_cs_commit kind)
{
    static const char *const pending[] = {
        [PR_CS_CP] = "Accessing buffer with pending access. Pending access type: async_copy_global_to_shared",
        [PR_CS_WGMMA] = "Accessing buffer with pending access. Pending access type: warpgroup_mma operand read",
        [PR_CS_TMA_STORE] = "Accessing buffer with pending access. Pending access type: async_copy_shared_to_global",
    };
    switch (m) {
    case PR_CS_WRITES: return "Buffer being accessed has outstanding writes.";
    case PR_CS_READS: return "Buffer being accessed has outstanding reads";
    case PR_CS_PENDING: return pending[kind];
    case PR_CS_DEADLOCK: return e == PR_CS_OLDER ? "Deadlock detected: all active threads are waiting on mbarriers"
                                                 : "Deadlock detected: all unfinished threads are waiting on mbarriers";
    case PR_CS_UNDERFLOW: return e == PR_CS_OLDER
                                     ? "Barrier arrive underflow: current count would become negative"
                                     : "Barrier arrive underflow: current count or tx-count would become invalid";
    case PR_CS_UNINIT: return "Barrier used before initialization or after invalidation";
    case PR_CS_REINIT: return "Barrier re-initialized without prior invalidation";
    case PR_CS_LIVE_REUSE: return "Shared memory reused before barrier invalidation";
    case PR_CS_WAITER: return "Barrier invalidated while a thread is waiting";
    case PR_CS_FENCE: return "Async shared-memory access is missing fence_async_shared";
    default: return "";
    }
}

pr_cs *pr_cs_new(pr_arena *a, pr_cs_epoch e, int n_lanes, int n_bars)
{
    pr_cs *c = PR_NEW(a, pr_cs);
    int l = n_lanes + 1, b = n_bars + 1;
    *c = (pr_cs){ .epoch = e, .n_lanes = n_lanes, .n_bars = n_bars, .active = 1,
                  .written = PR_NEW_N(a, bool, l), .wv = PR_NEW_N(a, uint64_t, l), .writer = PR_NEW_N(a, int, l),
                  .rv = PR_NEW_N(a, uint64_t, l * PR_CS_THREADS), .wt = PR_NEW_N(a, bool, l * b * 2),
                  .rt = PR_NEW_N(a, uint64_t, l * b * 2), .commits = PR_NEW_N(a, int, l * PR_CS_BASE * PR_CS_KINDS),
                  .seen = PR_NEW_N(a, uint32_t, l * PR_CS_BASE), .fenced = PR_NEW_N(a, uint32_t, l * PR_CS_BASE),
                  .track_seen = PR_NEW_N(a, uint32_t, l * b), .track_fenced = PR_NEW_N(a, uint32_t, l * b),
                  .bar = PR_NEW_N(a, pr_cs_barrier, b), .waiting = PR_NEW_N(a, uint32_t, b),
                  .phase = PR_NEW_N(a, uint32_t, b) };
    return c;
}

uint64_t pr_cs_peers(int t)
{
    return t >= PR_CS_BASE ? bit(t) : bit(t) | bit(t + 16) | bit(t + 32) | bit(t + 48);
}

/* ---- accesses --------------------------------------------------------------------------------------------- */
pr_cs_message pr_cs_check_write(pr_cs *c, const int *lanes, int n, int t)
{
    for (int i = 0; i < n; i++)
        if (c->written[lanes[i]] && !(c->wv[lanes[i]] >> t & 1)) return PR_CS_WRITES;
    return PR_CS_NOTHING;
}

pr_cs_message pr_cs_check_reads(pr_cs *c, const int *lanes, int n, int t)
{
    for (int i = 0; i < n; i++) {
        uint64_t all = 0;
        for (int k = 0; k < PR_CS_THREADS; k++) all |= *rv(c, lanes[i], k);
        if ((*rv(c, lanes[i], t) & all) != all) return PR_CS_READS;
    }
    return PR_CS_NOTHING;
}

pr_cs_message pr_cs_check_commits(pr_cs *c, const int *lanes, int n, pr_cs_commit kind)
{
    for (int i = 0; i < n; i++) {
        for (int p = 0; p < PR_CS_BASE; p++) {
            if (!*commits(c, kind, lanes[i], p)) continue;
            c->kind = kind;
            return PR_CS_PENDING;
        }
    }
    return PR_CS_NOTHING;
}

static void new_read(pr_cs *c, int lane, int t)
{
    uint64_t peers = pr_cs_peers(t);
    for (int k = 0; k < PR_CS_THREADS; k++) {
        bool peer = peers >> k & 1;
        if (!current(c)) *rv(c, lane, k) |= peer ? peers : 0;
        else if (peer) *rv(c, lane, k) |= bit(t);
        else *rv(c, lane, k) &= ~bit(t);             /* they knew an older read of this thread */
    }
    for (int b = 0; current(c) && b < c->n_bars; b++)
        for (int bank = 0; bank < 2; bank++) c->rt[entry(c, lane, b, bank)] &= ~bit(t);
}

void pr_cs_read(pr_cs *c, const int *lanes, int n, int t)
{
    for (int i = 0; i < n; i++) new_read(c, lanes[i], t);
}

static void new_write(pr_cs *c, int lane, int t, uint64_t visible)
{
    c->written[lane] = true;
    c->wv[lane] = visible;
    c->writer[lane] = t;
    for (int k = 0; k < PR_CS_THREADS; k++) *rv(c, lane, k) = 0;
    for (int b = 0; b < c->n_bars; b++) {
        for (int bank = 0; bank < 2; bank++) {
            c->wt[entry(c, lane, b, bank)] = false;
            c->rt[entry(c, lane, b, bank)] = 0;
        }
    }
}

void pr_cs_write(pr_cs *c, const int *lanes, int n, int t, bool in_flight)
{
    for (int i = 0; i < n; i++) new_write(c, lanes[i], t, in_flight && current(c) ? 0 : pr_cs_peers(t));
}

/* ---- commit groups ------------------------------------------------------------------------------------------ */
void pr_cs_stage(pr_cs *c, const int *lanes, int n, pr_cs_commit kind, int p)
{
    for (int i = 0; i < n; i++) *commits(c, kind, lanes[i], p) = -1;
}

void pr_cs_commit_group(pr_cs *c, pr_cs_commit kind, int p)
{
    for (int l = 0; l < c->n_lanes; l++) {
        int *v = commits(c, kind, l, p);
        if (*v > 0) ++*v;
        if (*v < 0) *v = 1;
    }
}

void pr_cs_commit_wait(pr_cs *c, pr_cs_commit kind, int p, int64_t pendings)
{
    for (int l = 0; l < c->n_lanes; l++) {
        int *v = commits(c, kind, l, p);
        if (*v <= 0 || *v <= pendings) continue;
        *v = 0;
        if (kind == PR_CS_CP && current(c)) {
            new_write(c, l, p, pr_cs_peers(p));
        } else if (kind == PR_CS_CP) {               /* who saw the previous contents is believed to see these */
            c->written[l] = true;
            c->wv[l] |= pr_cs_peers(p);
        } else if (current(c)) {
            new_read(c, l, p);
        } else {                                     /* every thread is told */
            for (int k = 0; k < PR_CS_THREADS; k++) *rv(c, l, k) |= pr_cs_peers(p);
        }
    }
}

/* ---- barriers ------------------------------------------------------------------------------------------------- */
static void forget(pr_cs *c, int b, int bank)
{
    for (int l = 0; l < c->n_lanes; l++) {
        c->wt[entry(c, l, b, bank)] = false;
        c->rt[entry(c, l, b, bank)] = 0;
    }
}

pr_cs_message pr_cs_init(pr_cs *c, int b, int64_t count)
{
    if (current(c) && c->bar[b].live) return PR_CS_REINIT;
    c->bar[b] = (pr_cs_barrier){ .live = true, .init = count, .count = count };
    return PR_CS_NOTHING;
}

pr_cs_message pr_cs_live(const pr_cs *c, int b)
{
    return current(c) && !c->bar[b].live ? PR_CS_UNINIT : PR_CS_NOTHING;
}

pr_cs_message pr_cs_inval(pr_cs *c, int b)
{
    if (!current(c)) return PR_CS_NOTHING;
    if (!c->bar[b].live) return PR_CS_UNINIT;
    if (c->waiting[b]) return PR_CS_WAITER;
    c->bar[b] = (pr_cs_barrier){ 0 };
    forget(c, b, 0);
    forget(c, b, 1);
    for (int l = 0; l < c->n_lanes; l++) c->track_seen[l * c->n_bars + b] = c->track_fenced[l * c->n_bars + b] = 0;
    return PR_CS_NOTHING;
}

pr_cs_message pr_cs_arrive_check(const pr_cs *c, int b, int64_t count, int64_t tx)
{
    enum { TX = (1 << 20) - 1 };
    const pr_cs_barrier *x = &c->bar[b];
    if (pr_cs_live(c, b)) return PR_CS_UNINIT;
    bool range = !current(c) || (x->tx + tx <= TX && x->tx + tx >= -TX);
    return x->count - count < 0 || !range ? PR_CS_UNDERFLOW : PR_CS_NOTHING;
}

void pr_cs_arrive(pr_cs *c, int b, int64_t count, int64_t tx)
{
    pr_cs_barrier *x = &c->bar[b];
    x->count -= count;
    if (current(c)) x->tx += tx;
    if (x->count || x->tx) return;
    x->phase ^= 1;
    x->count = x->init;
    if (current(c)) forget(c, b, x->phase);          /* the bank is used again */
}

static int bank(const pr_cs *c, int phase) { return current(c) ? phase & 1 : 0; }

void pr_cs_track(pr_cs *c, int b, int t)
{
    int k = bank(c, c->bar[b].phase);
    for (int l = 0; l < c->n_lanes; l++) {
        if (c->written[l] && c->wv[l] >> t & 1) c->wt[entry(c, l, b, k)] = true;
        c->rt[entry(c, l, b, k)] |= *rv(c, l, t);
    }
}

void pr_cs_track_writes(pr_cs *c, int b, const int *lanes, int n)
{
    for (int i = 0; i < n; i++) c->wt[entry(c, lanes[i], b, bank(c, c->bar[b].phase))] = true;
}

void pr_cs_track_reads(pr_cs *c, int b, const int *lanes, int n, int t)
{
    for (int i = 0; i < n; i++) c->rt[entry(c, lanes[i], b, bank(c, c->bar[b].phase))] |= bit(t);
}

void pr_cs_track_tensor(pr_cs *c, int b, int t)
{
    if (!current(c)) {
        pr_cs_track(c, b, t);
        return;
    }
    int k = bank(c, c->bar[b].phase);
    for (int l = 0; l < c->n_lanes; l++) {
        bool read = *rv(c, l, t) >> t & 1;
        if (c->written[l] && c->wv[l] >> t & 1 && (c->writer[l] == t || read)) c->wt[entry(c, l, b, k)] = true;
        if (read) c->rt[entry(c, l, b, k)] |= bit(t);
    }
}

void pr_cs_transfer(pr_cs *c, int b, int t, int phase)
{
    uint64_t peers = pr_cs_peers(t);
    int k = bank(c, phase);
    for (int l = 0; l < c->n_lanes; l++) {
        if (c->wt[entry(c, l, b, k)]) c->wv[l] |= peers;
        uint64_t reads = c->rt[entry(c, l, b, k)];
        for (int i = 0; reads && i < PR_CS_THREADS; i++)
            if (peers >> i & 1) *rv(c, l, i) |= reads;
    }
}

/* ---- waiting ------------------------------------------------------------------------------------------------------ */
void pr_cs_set_waiting(pr_cs *c, int b, int p, int phase)
{
    c->waiting[b] |= (uint32_t)bit(p);
    c->phase[b] = (c->phase[b] & ~(uint32_t)bit(p)) | ((uint32_t)(phase & 1) << p);
}
void pr_cs_clear_waiting(pr_cs *c, int b, int p) { c->waiting[b] &= ~(uint32_t)bit(p); }

pr_cs_message pr_cs_deadlock(const pr_cs *c)
{
    uint32_t blocked = 0;
    for (int b = 0; b < c->n_bars; b++) blocked |= c->waiting[b] & (c->bar[b].phase ? c->phase[b] : ~c->phase[b]);
    return c->active && (blocked & c->active) == c->active ? PR_CS_DEADLOCK : PR_CS_NOTHING;
}

/* ---- warp_specialize -------------------------------------------------------------------------------------------------- */
void pr_cs_enter(pr_cs *c, int n)
{
    for (int l = 0; l < c->n_lanes; l++) {
        uint64_t reads = *rv(c, l, 0);
        for (int p = 0; p < n && p < PR_CS_BASE; p++) {
            uint64_t peers = pr_cs_peers(p);
            if (c->wv[l] & 1) c->wv[l] |= peers;
            for (int k = 0; k < PR_CS_THREADS; k++)
                if (peers >> k & 1) *rv(c, l, k) |= reads;
            c->seen[row(l, p)] |= c->seen[row(l, 0)];
            c->fenced[row(l, p)] |= c->fenced[row(l, 0)];
        }
    }
}

void pr_cs_join(pr_cs *c, int n)
{
    for (int l = 0; current(c) && l < c->n_lanes; l++) {
        for (int p = 1; p < n && p < PR_CS_BASE; p++) {
            if (c->wv[l] >> p & 1) c->wv[l] |= pr_cs_peers(0);
            for (int k = 0; k < PR_CS_THREADS; k++)
                if (pr_cs_peers(0) >> k & 1) *rv(c, l, k) |= *rv(c, l, p);
            c->seen[row(l, 0)] |= c->seen[row(l, p)];
            c->fenced[row(l, 0)] |= c->fenced[row(l, p)];
        }
    }
}

/* ---- proxies ------------------------------------------------------------------------------------------------------------ */
void pr_cs_generic(pr_cs *c, const int *lanes, int n, int p)
{
    for (int i = 0; current(c) && i < n; i++) {
        int l = lanes[i];
        uint32_t old = ~(uint32_t)bit(p);
        for (int q = 0; q < PR_CS_BASE; q++) {       /* what others know is an older access */
            c->seen[row(l, q)] &= old;
            c->fenced[row(l, q)] &= old;
        }
        for (int b = 0; b < c->n_bars; b++) {
            c->track_seen[l * c->n_bars + b] &= old;
            c->track_fenced[l * c->n_bars + b] &= old;
        }
        c->seen[row(l, p)] |= (uint32_t)bit(p);
    }
}

void pr_cs_fence(pr_cs *c, int p)
{
    for (int l = 0; l < c->n_lanes; l++) c->fenced[row(l, p)] = c->seen[row(l, p)];
}

pr_cs_message pr_cs_check_fence(pr_cs *c, const int *lanes, int n, int p)
{
    if (!current(c)) return PR_CS_NOTHING;
    for (int i = 0; i < n; i++) {
        uint32_t open = c->seen[row(lanes[i], p)] & ~c->fenced[row(lanes[i], p)];
        if (!(open & (uint32_t)bit(p))) continue;
        pr_cs_fence(c, p);
        break;
    }
    for (int i = 0; i < n; i++)
        if (c->seen[row(lanes[i], p)] & ~c->fenced[row(lanes[i], p)]) return PR_CS_FENCE;
    return PR_CS_NOTHING;
}

void pr_cs_track_proxy(pr_cs *c, int b, int p, const int *lanes, int n)
{
    for (int i = 0; current(c) && i < (lanes ? n : c->n_lanes); i++) {
        int l = lanes ? lanes[i] : i;
        c->track_seen[l * c->n_bars + b] |= c->seen[row(l, p)];
        c->track_fenced[l * c->n_bars + b] |= c->fenced[row(l, p)];
    }
}

void pr_cs_transfer_proxy(pr_cs *c, int b, int p)
{
    for (int l = 0; l < c->n_lanes; l++) {
        c->seen[row(l, p)] |= c->track_seen[l * c->n_bars + b];
        c->fenced[row(l, p)] |= c->track_fenced[l * c->n_bars + b];
    }
}
