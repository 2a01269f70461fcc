/* Which pairs of executions of a small launch race? Sorts every touched byte range and compares. */
#include "front/replay_gates.h"

/* Accesses of one site to one address, one after the other in the sorted list. */
typedef struct pr_rgroup { int64_t first, n; uint64_t addr; int site; bool maybe, sure; /* some access is certain */ } pr_rgroup;

/* What a program could publish or learn through atomics (synchronisation between programs). */
typedef struct pr_rsync { bool releases, acquires; int64_t release_hi, acquire_lo; } pr_rsync;

typedef struct pr_pairs {
    pr_rlog *l;
    pr_rev *ev; int64_t n;           /* sorted                                                 */
    pr_rgroup *group; int64_t n_groups;
    pr_rsync *sync;                  /* by program                                              */
    bool any_release, any_acquire;
    int *class_of;                   /* [site a][site b][intra][doubtful], index + 1              */
    PR_VEC(pr_replay_race) races;
    int64_t budget;
    bool tired, used_dependency;
} pr_pairs;

/* ---- sorting -------------------------------------------------------------------------------- */
static int compare_events(const pr_rlog *l, const pr_rev *a, const pr_rev *b)
{
    if (a->addr != b->addr) return a->addr < b->addr ? -1 : 1;
    const pr_rdyn *x = &l->dyns.data[a->dyn], *y = &l->dyns.data[b->dyn];
    if (x->site != y->site) return l->sites.data[x->site].order < l->sites.data[y->site].order ? -1 : 1;
    if (x->program != y->program) return x->program < y->program ? -1 : 1;
    uint32_t p = a->lane & PR_EV_LANE, q = b->lane & PR_EV_LANE;
    if (p != q) return p < q ? -1 : 1;
    return a->dyn < b->dyn ? -1 : a->dyn > b->dyn;
}

static void sort_events(const pr_rlog *l, pr_rev *a, pr_rev *b, int64_t n)
{
    for (int64_t width = 1; width < n; width *= 2) { /* merge sort from below; ends in a */
        for (int64_t lo = 0; lo < n; lo += 2 * width) {
            int64_t mid = lo + width < n ? lo + width : n, hi = lo + 2 * width < n ? lo + 2 * width : n;
            int64_t i = lo, j = mid, k = lo;
            while (i < mid && j < hi) b[k++] = compare_events(l, &a[j], &a[i]) < 0 ? a[j++] : a[i++];
            while (i < mid) b[k++] = a[i++];
            while (j < hi) b[k++] = a[j++];
        }
        memcpy(a, b, sizeof *a * (size_t)n);
    }
}

/* ---- order inside one program --------------------------------------------------------------- */
static const pr_rdyn *dyn_of(const pr_pairs *p, const pr_rev *e) { return &p->l->dyns.data[e->dyn]; }
static const pr_rsite *site_of(const pr_pairs *p, const pr_rev *e)
{
    return &p->l->sites.data[dyn_of(p, e)->site];
}

/* Did execution dyn run at this lane? */
static pr_tri ran_at(const pr_rlog *l, const pr_rdyn *d, uint32_t lane)
{
    int64_t lo = d->first, hi = d->first + d->n;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        uint32_t x = l->events.data[mid].lane & PR_EV_LANE;
        if (x == lane) return l->events.data[mid].lane & PR_EV_MAYBE ? PR_MAYBE : PR_YES;
        if (x < lane) lo = mid + 1;
        else hi = mid;
    }
    return PR_NO;
}

/* O3: is what y uses at this lane computed from what x read at this lane? MAYBE: through a read that may be off. */
static pr_tri depends(const pr_rlog *l, int y, int x, uint32_t lane, int *steps)
{
    const pr_rdyn *d = &l->dyns.data[y];
    int first = l->first_dyn.data[d->program];
    pr_tri found = PR_NO;
    for (int i = 0; i < d->n_deps; i++) {
        int a = first + l->deps.data[d->deps + i];
        if (a < x) continue;
        if (++*steps > 4096) return PR_MAYBE;
        const pr_rsite *s = &l->sites.data[l->dyns.data[a].site];
        if (s->replicated || !s->has_position || s->via_desc) continue;
        if (a == x) return PR_YES;
        pr_tri ran = ran_at(l, &l->dyns.data[a], lane), rest = ran == PR_NO ? PR_NO : depends(l, a, x, lane, steps);
        if (ran == PR_YES && rest == PR_YES) return PR_YES;
        if (rest != PR_NO) found = PR_MAYBE;
    }
    return found;
}

static pr_tri before_by_barrier(const pr_interp_epoch *a, const pr_interp_epoch *b)
{
    if (a->gen == b->gen) return a->n < b->n ? PR_YES : PR_NO;
    if (a->hi < b->lo) return PR_YES;
    return a->lo < b->hi ? PR_MAYBE : PR_NO;
}

/* Do the two stand in different arms of one execution of a branch? */
static bool exclude(const pr_rlog *l, const pr_rdyn *x, const pr_rdyn *y)
{
    if (!x->n_arms || !y->n_arms) return false;
    const pr_interp_arm *a = l->arms.data + x->arms, *b = l->arms.data + y->arms;
    for (int i = 0; i < x->n_arms && i < y->n_arms && a[i].id == b[i].id; i++)
        if (a[i].arm != b[i].arm) return true;
    return false;
}

/* False: the two executions of one program are unordered. doubts collects what it could not know. */
static bool ordered_in_program(pr_pairs *p, const pr_rev *a, const pr_rev *b, unsigned *doubts)
{
    const pr_rdyn *x = dyn_of(p, a), *y = dyn_of(p, b);
    const pr_rsite *s = site_of(p, a), *t = site_of(p, b);
    if (exclude(p->l, x, y)) return true;
    if (s->via_desc || t->via_desc) {
        *doubts |= PR_REPLAY_ASYNC;
        return false;
    }
    pr_tri o2 = before_by_barrier(&x->epoch, &y->epoch), o2r = before_by_barrier(&y->epoch, &x->epoch);
    if (o2 == PR_YES || o2r == PR_YES) return true;
    bool same_lane = (a->lane & PR_EV_LANE) == (b->lane & PR_EV_LANE);
    if (same_lane && x->site == y->site && a->dyn != b->dyn && s->has_position) return true;
    if (same_lane && s->has_position && t->has_position) {
        int steps = 0;
        pr_tri o3 = a->dyn < b->dyn ? depends(p->l, (int)b->dyn, (int)a->dyn, b->lane & PR_EV_LANE, &steps)
                                    : depends(p->l, (int)a->dyn, (int)b->dyn, a->lane & PR_EV_LANE, &steps);
        if (o3 == PR_YES) {
            p->used_dependency = true;
            return true;
        }
        if (o3 == PR_MAYBE) *doubts |= PR_REPLAY_MAYBE_BARRIER;
    }
    if (o2 == PR_MAYBE || o2r == PR_MAYBE) *doubts |= PR_REPLAY_MAYBE_BARRIER;
    return false;
}

/* ---- order between programs ------------------------------------------------------------------ */
static bool releases(const pr_rsite *s)
{
    return pr_rsite_atomic(s) && !s->via_desc && s->scope != PR_INTERP_SCOPE_CTA &&
           (s->sem == PR_INTERP_RELEASE || s->sem == PR_INTERP_ACQ_REL);
}

static bool acquires(const pr_rsite *s)
{
    return pr_rsite_atomic(s) && !s->via_desc && s->scope != PR_INTERP_SCOPE_CTA &&
           (s->sem == PR_INTERP_ACQUIRE || s->sem == PR_INTERP_ACQ_REL);
}

static void collect_sync(pr_pairs *p)
{
    pr_rlog *l = p->l;
    p->sync = PR_NEW_N(l->arena, pr_rsync, l->first_dyn.n + 1);
    for (int i = 0; i < l->dyns.n; i++) {
        const pr_rdyn *d = &l->dyns.data[i];
        const pr_rsite *s = &l->sites.data[d->site];
        pr_rsync *y = &p->sync[d->program];
        if (!d->n) continue;
        if (releases(s)) {
            if (!y->releases || d->epoch.hi > y->release_hi) y->release_hi = d->epoch.hi;
            y->releases = p->any_release = true;
        }
        if (acquires(s)) {
            if (!y->acquires || d->epoch.lo < y->acquire_lo) y->acquire_lo = d->epoch.lo;
            y->acquires = p->any_acquire = true;
        }
    }
}

/* Could a chain of atomics put a before b? Legs only: a barrier, the atomic itself, a dependency. */
static bool may_be_synchronised(const pr_pairs *p, const pr_rev *a, const pr_rev *b)
{
    if (!p->any_release || !p->any_acquire) return false;
    const pr_rdyn *x = dyn_of(p, a), *y = dyn_of(p, b);
    const pr_rsite *s = site_of(p, a), *t = site_of(p, b);
    const pr_rsync *from = &p->sync[x->program], *to = &p->sync[y->program];
    bool pre = from->releases &&
               (releases(s) || from->release_hi > x->epoch.lo || (pr_rsite_writes(s) == PR_NO));
    bool post = to->acquires && (acquires(t) || to->acquire_lo < y->epoch.hi || y->n_deps > 0);
    return pre && post;
}

/* ---- races ---------------------------------------------------------------------------------- */
static bool mutual(const pr_rsite *s, const pr_rsite *t, bool same_address, bool intra)
{
    if (!pr_rsite_atomic(s) || !pr_rsite_atomic(t) || s->via_desc != t->via_desc) return false;
    if (s->width != t->width || !same_address) return false;
    if (intra) return true;
    return (s->scope == PR_INTERP_SCOPE_GPU || s->scope == PR_INTERP_SCOPE_SYS) &&
           (t->scope == PR_INTERP_SCOPE_GPU || t->scope == PR_INTERP_SCOPE_SYS);
}

/* Type of a race whose first access is of site s; false when neither writes. */
static bool race_type(const pr_rsite *s, const pr_rsite *t, pr_replay_type *type, unsigned *doubts)
{
    pr_tri a = pr_rsite_writes(s), b = pr_rsite_writes(t);
    if (a == PR_NO && b == PR_NO) return false;
    if (a == PR_YES && b == PR_YES) *type = PR_REPLAY_WAW;
    else if (a == PR_YES) *type = PR_REPLAY_RAW;
    else if (b == PR_YES) *type = PR_REPLAY_WAR;
    else {
        *type = a != PR_NO && b != PR_NO ? PR_REPLAY_WAW : a != PR_NO ? PR_REPLAY_RAW : PR_REPLAY_WAR;
        *doubts |= PR_REPLAY_MAYBE_WRITES;
    }
    return true;
}

static pr_replay_race *race_class(pr_pairs *p, const pr_rev *a, const pr_rev *b, bool intra,
                                  pr_replay_type type, unsigned doubts)
{
    int n = p->l->sites.n, s = dyn_of(p, a)->site, t = dyn_of(p, b)->site;
    int *slot = &p->class_of[(((int64_t)s * n + t) * 2 + intra) * 2 + (doubts != 0)];
    if (!*slot) {
        pr_replay_race r = {.first = pr_rlog_access(p->l, a), .second = pr_rlog_access(p->l, b),
                            .byte = a->addr > b->addr ? a->addr : b->addr, .intra = intra,
                            .type = type, .doubts = doubts, .count_exact = true};
        pr_vec_push(p->l->arena, &p->races, r);
        *slot = p->races.n;
    }
    pr_replay_race *r = &p->races.data[*slot - 1];
    r->doubts |= doubts;
    return r;
}

/* Puts the pair in the order of its report: text order, then program, iteration, lane. */
static void canonical(const pr_pairs *p, const pr_rev **a, const pr_rev **b)
{
    int s = site_of(p, *a)->order, t = site_of(p, *b)->order;
    bool swap = s > t;
    if (s == t && (*a)->dyn != (*b)->dyn) swap = (*a)->dyn > (*b)->dyn;
    else if (s == t) swap = ((*a)->lane & PR_EV_LANE) > ((*b)->lane & PR_EV_LANE);
    if (!swap) return;
    const pr_rev *x = *a;
    *a = *b;
    *b = x;
}

/* Counts the pair when it races; true when it does for certain. */
static bool test_pair(pr_pairs *p, const pr_rev *a, const pr_rev *b, bool intra)
{
    unsigned doubts = 0;
    pr_replay_type type;
    if (--p->budget < 0 || (p->l->setup->interrupt && *p->l->setup->interrupt)) {
        p->tired = true;
        return true;
    }
    canonical(p, &a, &b);
    if (!race_type(site_of(p, a), site_of(p, b), &type, &doubts)) return false;
    if (p->l->gates && (pr_gates_never(p->l->gates, (int)a->dyn) || pr_gates_never(p->l->gates, (int)b->dyn))) return false;
    if (!intra && p->l->gates && pr_gates_exclude(p->l->gates, (int)a->dyn, (int)b->dyn)) return false;
    if (intra) {
        if (ordered_in_program(p, a, b, &doubts)) return false;
        int x = (int)(a->dyn < b->dyn ? a->dyn : b->dyn), y = (int)(a->dyn < b->dyn ? b->dyn : a->dyn);
        if (p->l->gates && pr_gates_inside(p->l->gates, x, y)) return false;
    } else if (p->l->gates && (pr_gates_before(p->l->gates, (int)a->dyn, (int)b->dyn) || pr_gates_before(p->l->gates, (int)b->dyn, (int)a->dyn))) {
        return false;
    } else if (may_be_synchronised(p, a, b) || may_be_synchronised(p, b, a)) {
        doubts |= PR_REPLAY_MAYBE_SYNC;
    }
    if ((a->lane | b->lane) & PR_EV_MAYBE) doubts |= PR_REPLAY_MAYBE_ACTIVE;
    race_class(p, a, b, intra, type, doubts)->count++;
    return doubts == 0;
}

static int64_t run_end(const pr_pairs *p, const pr_rgroup *g, int64_t from)
{
    int program = dyn_of(p, &p->ev[from])->program;
    while (from < g->first + g->n && dyn_of(p, &p->ev[from])->program == program) from++;
    return from;
}

#define PR_ENOUGH 4096 /* pairs tested at one place once a certain race is known there */

static void mark_inexact(pr_pairs *p, const pr_rgroup *g, const pr_rgroup *h, bool intra)
{
    int n = p->l->sites.n;
    for (int k = 0; k < 4; k++) {
        int s = k & 1 ? h->site : g->site, t = k & 1 ? g->site : h->site;
        int slot = p->class_of[(((int64_t)s * n + t) * 2 + intra) * 2 + (k >> 1)];
        if (slot) p->races.data[slot - 1].count_exact = false;
    }
}

/* All pairs of one run of g and one of h, both of one program. */
static void pairs_in_program(pr_pairs *p, const pr_rgroup *g, int64_t a0, int64_t a1, const pr_rgroup *h,
                             int64_t b0, int64_t b1)
{
    bool sure = false;
    int64_t tested = 0;
    const pr_rsite *s = &p->l->sites.data[g->site];
    for (int64_t i = a0; i < a1; i++)
        for (int64_t j = g == h ? i + 1 : b0; j < b1; j++) {
            /* O1 is most of the pairs of an access in a loop: skip it here */
            if (g->site == h->site && s->has_position && !s->via_desc &&
                ((p->ev[i].lane ^ p->ev[j].lane) & PR_EV_LANE) == 0) {
                if (g == h && ((p->ev[b1 - 1].lane ^ p->ev[i].lane) & PR_EV_LANE) == 0) break;
                continue;
            }
            sure |= test_pair(p, &p->ev[i], &p->ev[j], true);
            if (p->tired) return;
            if (++tested > PR_ENOUGH && sure) {
                mark_inexact(p, g, h, true);
                return;
            }
        }
}

static void intra_pairs(pr_pairs *p, const pr_rgroup *g, const pr_rgroup *h)
{
    int64_t i = g->first, j = h->first;
    while (i < g->first + g->n && j < h->first + h->n && !p->tired) {
        int x = dyn_of(p, &p->ev[i])->program, y = dyn_of(p, &p->ev[j])->program;
        if (x < y) i = run_end(p, g, i);
        else if (y < x) j = run_end(p, h, j);
        else {
            int64_t i1 = run_end(p, g, i), j1 = run_end(p, h, j);
            pairs_in_program(p, g, i, i1, h, j, j1);
            i = i1;
            j = j1;
        }
    }
}

/* Accesses of two programs at one place, of one operation each: unless waits or atomics may order them, what a pair is rests on the two
 * operations and on which of the two accesses are certain. Where nobody counts, one pair of each kind is enough. */
static void inter_pairs(pr_pairs *p, const pr_rgroup *g, const pr_rgroup *h)
{
    bool gates = p->l->gates && (pr_gates_waits(p->l->gates) > 0 || pr_gates_guards(p->l->gates));
    bool few = p->l->o.classes_only && !gates && !(p->any_release && p->any_acquire);
    unsigned seen = 0, kinds = 0;   /* bit 2*(first is possible) + (second is possible) */
    for (int k = 0; k < 4; k++)
        if ((k & 2 ? g->maybe : g->sure) && (k & 1 ? h->maybe : h->sure)) kinds |= 1u << k;
    bool sure = false, plain = !g->maybe && !h->maybe && !(p->any_release && p->any_acquire);
    int64_t tested = 0;
    for (int64_t i = g->first; i < g->first + g->n; i++) {
        int x = dyn_of(p, &p->ev[i])->program;
        if (few && !(kinds & ~seen & (p->ev[i].lane & PR_EV_MAYBE ? 12u : 3u))) continue;   /* nothing new in this row */
        for (int64_t j = g == h ? i + 1 : h->first; j < h->first + h->n; j++) {
            if (dyn_of(p, &p->ev[j])->program == x) {
                if (--p->budget < 0) p->tired = true;
            } else {
                int k = (p->ev[i].lane & PR_EV_MAYBE ? 2 : 0) + (p->ev[j].lane & PR_EV_MAYBE ? 1 : 0);
                seen |= g == h && (k == 1 || k == 2) ? 6u : 1u << k;
                sure |= test_pair(p, &p->ev[i], &p->ev[j], false);
            }
            if (p->tired) return;
            if ((few && (seen & kinds) == kinds) || (++tested > PR_ENOUGH && sure)) {
                mark_inexact(p, g, h, false);
                return;
            }
        }
        if (plain && p->budget < 0) return;
    }
}

static void group_pair(pr_pairs *p, const pr_rgroup *g, const pr_rgroup *h)
{
    const pr_rsite *s = &p->l->sites.data[g->site], *t = &p->l->sites.data[h->site];
    if (pr_rsite_writes(s) == PR_NO && pr_rsite_writes(t) == PR_NO) return;
    bool same = g->addr == h->addr;
    if (!mutual(s, t, same, true)) intra_pairs(p, g, h);
    if (!p->tired && !mutual(s, t, same, false)) inter_pairs(p, g, h);
}

static void make_groups(pr_pairs *p)
{
    p->group = PR_NEW_N(p->l->arena, pr_rgroup, p->n + 1);
    for (int64_t i = 0; i < p->n; i++) {
        const pr_rev *e = &p->ev[i];
        pr_rgroup *g = p->n_groups ? &p->group[p->n_groups - 1] : NULL;
        int site = dyn_of(p, e)->site;
        if (!g || g->addr != e->addr || g->site != site) {
            g = &p->group[p->n_groups++];
            *g = (pr_rgroup){.first = i, .addr = e->addr, .site = site};
        }
        g->n++;
        if (e->lane & PR_EV_MAYBE) g->maybe = true;
        else g->sure = true;
    }
}

static void all_pairs(pr_pairs *p)
{
    for (int64_t i = 0; i < p->n_groups && !p->tired; i++) {
        const pr_rgroup *g = &p->group[i];
        uint64_t width = (uint64_t)p->l->sites.data[g->site].width;
        for (int64_t j = i; j < p->n_groups && p->group[j].addr - g->addr < width && !p->tired; j++)
            group_pair(p, g, &p->group[j]);
    }
    if (p->l->setup->interrupt && *p->l->setup->interrupt) pr_rlog_reason(p->l, NULL, "interrupted");
    else if (p->tired) pr_rlog_reason(p->l, NULL, "more pairs at shared addresses than max_pairs");
}

/* ---- what could not be known ----------------------------------------------------------------- */
static bool written_in(const pr_pairs *p, uint64_t lo, uint64_t hi)
{
    for (int64_t i = 0; i < p->n_groups; i++) {
        const pr_rsite *s = &p->l->sites.data[p->group[i].site];
        if (pr_rsite_writes(s) != PR_NO && p->group[i].addr < hi && p->group[i].addr + (uint64_t)s->width > lo)
            return true;
    }
    return false;
}

/* Does any access write through one of these arguments, or into their storage? */
static bool any_written(const pr_pairs *p, uint64_t bases)
{
    const pr_rlog *l = p->l;
    for (int i = 0; i < l->sites.n; i++) {
        const pr_rsite *s = &l->sites.data[i];
        if (pr_rsite_writes(s) == PR_NO || !s->bases) continue;
        if ((s->bases & bases) || (s->bases | bases) >> 63) return true;
    }
    for (int b = 0; b < 63 && b < l->setup->n_args && l->o.storage; b++)
        if ((bases >> b & 1) && l->o.storage[b].known &&
            written_in(p, l->o.storage[b].lo, l->o.storage[b].hi)) return true;
    return false;
}

static bool stands_in(const pr_rsite *s, const pr_op *region_op, const pr_rlog *l)
{
    (void)l;
    for (const pr_op *op = s->op; op; op = op->block ? op->block->region->op : NULL)
        if (op == region_op) return true;
    return s->n_calls > 0; /* the call may stand in it */
}

static void collect_doubts(pr_pairs *p)
{
    pr_rlog *l = p->l;
    const pr_interp_note *note;
    int n = pr_machine_notes(l->machine, &note);
    for (int i = 0; i < l->sites.n; i++) {
        const pr_rsite *s = &l->sites.data[i];
        if (!s->unknown_address) continue;
        if (pr_rsite_writes(s) != PR_NO) pr_rlog_reason(l, s->op, "an address that is written is not known");
        else if (any_written(p, s->unknown_bases))
            pr_rlog_reason(l, s->op, "an address that is read is not known, in a tensor that is written");
    }
    for (int i = 0; i < n; i++) {
        bool matters = note[i].op->opcode != PR_OP_SCF_FOR;
        for (int k = 0; k < l->sites.n && !matters; k++)
            matters = stands_in(&l->sites.data[k], note[i].op, l) &&
                      (pr_rsite_writes(&l->sites.data[k]) != PR_NO || any_written(p, l->sites.data[k].bases));
        if (matters) pr_rlog_reason(l, note[i].op, note[i].what);
    }
    for (int i = 0; i < l->setup->n_args; i++) {
        const pr_interp_arg *a = &l->setup->args[i];
        if (!pr_machine_read_contents(l->machine, i)) continue;
        uint64_t lo = (uint64_t)a->value, hi = lo + (uint64_t)a->n_values * (uint64_t)a->elem_bytes;
        if (written_in(p, lo, hi)) pr_rlog_reason(l, NULL, "contents that decide an access are written by the kernel");
    }
}

static void replication(pr_rlog *l)
{
    for (int i = 0; i < l->sites.n; i++) {
        pr_rsite *s = &l->sites.data[i];
        if (s->kind != PR_INTERP_LOAD || s->n_lanes >= (int64_t)l->o.num_warps * 32) continue;
        if (s->n_lanes == 1 || !s->has_position || l->o.dep_strict)
            s->replicated = pr_load_is_spread(l->arena, l->setup->ir, s->op);
    }
}

static void collect_outside(pr_rlog *l, pr_replay_result *r)
{
    pr_replay_outside *out = PR_NEW_N(l->arena, pr_replay_outside, l->sites.n + 1), *sorted;
    sorted = PR_NEW_N(l->arena, pr_replay_outside, l->sites.n + 1);
    for (int i = 0; i < l->events.n; i++) {
        const pr_rev *e = &l->events.data[i];
        if (!(e->lane & (PR_EV_OUTSIDE | PR_EV_ACROSS))) continue;
        pr_replay_outside *o = &out[l->sites.data[l->dyns.data[e->dyn].site].order];
        if (!o->count || (o->example.active == PR_MAYBE && !(e->lane & PR_EV_MAYBE)))
            o->example = pr_rlog_access(l, e);
        o->count++;
    }
    for (int i = 0; i < l->sites.n; i++)
        if (out[i].count) sorted[r->n_outside++] = out[i];
    r->outside = sorted;
}

static int compare_races(const pr_rlog *l, const pr_replay_race *a, const pr_replay_race *b)
{
    (void)l;
    const pr_replay_access *x[2] = {&a->first, &a->second}, *y[2] = {&b->first, &b->second};
    for (int k = 0; k < 2; k++) {
        if (x[k]->op->id != y[k]->op->id) return x[k]->op->id < y[k]->op->id ? -1 : 1;
        for (int i = 0; i < x[k]->n_calls && i < y[k]->n_calls; i++)
            if (x[k]->calls[i] != y[k]->calls[i]) return x[k]->calls[i] < y[k]->calls[i] ? -1 : 1;
        if (x[k]->n_calls != y[k]->n_calls) return x[k]->n_calls < y[k]->n_calls ? -1 : 1;
    }
    return (int)a->intra - (int)b->intra;
}

static void share_out(pr_pairs *p, pr_replay_result *r)
{
    int n = p->races.n;
    pr_replay_race *sure = PR_NEW_N(p->l->arena, pr_replay_race, n + 1);
    pr_replay_race *doubtful = PR_NEW_N(p->l->arena, pr_replay_race, n + 1);
    for (int i = 1; i < n; i++) /* insertion sort: few classes */
        for (int k = i; k > 0 && compare_races(p->l, &p->races.data[k - 1], &p->races.data[k]) > 0; k--) {
            pr_replay_race x = p->races.data[k];
            p->races.data[k] = p->races.data[k - 1];
            p->races.data[k - 1] = x;
        }
    for (int i = 0; i < n; i++) {
        if (p->races.data[i].doubts) doubtful[r->n_possible++] = p->races.data[i];
        else sure[r->n_races++] = p->races.data[i];
    }
    r->races = sure;
    r->possible = doubtful;
}

pr_replay_result pr_replay_run(pr_arena *arena, const pr_interp_setup *setup, const pr_replay_options *o)
{
    pr_replay_result r = {0};
    pr_rlog *l = PR_NEW(arena, pr_rlog);
    pr_rlog_collect(l, arena, setup, o, true);
    if (!l->refused && l->sites.n > 1024) l->refused = "more access operations than the replay counts";
    r.refused = l->refused;
    if (r.refused) return r;
    replication(l);
    pr_pairs p = {.l = l, .budget = l->o.max_pairs};
    p.ev = PR_NEW_N(arena, pr_rev, l->events.n + 1);
    for (int i = 0; i < l->events.n; i++)
        if (!(l->events.data[i].lane & (PR_EV_OUTSIDE | PR_EV_NOWHERE))) p.ev[p.n++] = l->events.data[i];
    sort_events(l, p.ev, PR_NEW_N(arena, pr_rev, p.n + 1), p.n);
    p.class_of = PR_NEW_N(arena, int, (int64_t)l->sites.n * l->sites.n * 4 + 1);
    make_groups(&p);
    collect_sync(&p);
    if (l->gates) {
        r.refused = pr_gates_close(l->gates, p.ev, p.n);
        r.waited = pr_gates_waits(l->gates) > 0;
        if (pr_gates_endless(l->gates)) {
            collect_doubts(&p);
            r.endless = !l->reasons.n && !l->ub.n;
        }
        if (r.refused) return r;
    }
    all_pairs(&p);
    collect_doubts(&p);
    share_out(&p, &r);
    collect_outside(l, &r);
    r.inconclusive = l->reasons.data;
    r.n_inconclusive = l->reasons.n;
    r.ub = l->ub.data;
    r.n_ub = l->ub.n;
    for (int i = 0; i < setup->n_args; i++) r.read_contents = r.read_contents || pr_machine_read_contents(l->machine, i);
    const bool gated = l->gates && (r.waited || pr_gates_guards(l->gates));
    if (l->o.journal) pr_rlog_journal(l, l->o.journal);
    if (gated) r.read_contents = true;      /* what locations start with */
    r.used_dependency = p.used_dependency;
    for (int i = 0; i < l->sites.n; i++)
        if (l->sites.data[i].unknown_address) r.loose |= l->sites.data[i].unknown_bases;
    r.n_programs = l->first_dyn.n;
    r.n_events = l->events.n;
    r.n_dynamic = l->dyns.n;
    return r;
}

const char *pr_replay_type_name(pr_replay_type t)
{
    static const char *const name[] = {"WAW", "RAW", "WAR"};
    return name[t];
}
