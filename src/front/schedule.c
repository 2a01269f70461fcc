/* Interleavings with a memory: see schedule.h. */
#include "front/schedule.h"
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include "front/interp_core.h"
#include "front/schedule_spare.h"

enum { MOST_PROGRAMS = 4096, MOST_ATOMICS = 1 << 14, MOST_LANES = 1 << 16, MOST_CELLS = 1 << 20, MOST_ORDERS = 8, FEW_PROGRAMS = 64, MOST_BETWEEN = 6,
       NEAR = 8 /* programs before those of the witness that run with them */, JUDGE_WORK = 1 << 22,
       HELD_AT = 16, BOTH_HELD_AT = 6 /* atomics after which one, or each, of the two is held up */, HELD_WORK = 1 << 21 };

/* ---- memory, byte by byte ------------------------------------------------------------------- */
/* Eight bytes from a multiple of eight on; bit i of used and known speaks of byte i. */
typedef struct cell { uint64_t at, value; uint8_t used, known; } cell;
typedef struct memory { cell *c; int64_t cap, words, n; } memory;   /* n: bytes in use */

typedef struct reading { uint64_t old; bool known; } reading;

/* An atomic that ran. */
typedef struct sync_event {
    int program, number;
    const pr_op *op;
    uint64_t addr;
    int width;
    bool releases, acquires, device, scalar, wrote, whole;   /* whole: read-modify-write                  */
    int64_t epoch;
    int dep_first, n_deps;
} sync_event;

/* A lane of one of the two accesses asked for. */
typedef struct seen {
    int which, site, program, number, event;
    int64_t epoch, lane;
    uint64_t addr; int width;
    bool wrote, reads, atomic, device, async;
    int dep_first, n_deps;
} seen;
typedef struct seen_event { pr_schedule_access at; int64_t shape[PR_MAX_RANK]; } seen_event;

typedef PR_VEC(bool *) after_list;

typedef struct waiting { int number, first, n; } waiting;

typedef struct program {
    int64_t pid[3];
    PR_VEC(reading) log;           /* what its accesses read so far                                  */
    int at;                        /* position in the log of the current run                          */
    int events;                    /* events of earlier runs                                         */
    int atomics;                   /* that it performed                                               */
    bool done, blocked;
    const pr_op *last_poll; uint64_t last_addr, last_value; bool last_pure; int last_number;
} program;

typedef struct world {
    pr_arena *arena;
    const pr_interp_setup *setup;
    const pr_schedule_ask *ask;
    memory mem;
    program *p; int n;
    int now;                       /* program that runs                                             */
    bool waits;                    /* ... ended because it would wait, or because its turn is over          */
    bool by_step;                  /* a turn is one atomic, of every program or of program slow alone   */
    int slow;
    int held[2], held_at[2];       /* programs that stop before an atomic until nobody else can go on, then go on one after the other; -1 = none   */
    int steps;                     /* atomics of this turn                                         */
    PR_VEC(sync_event) sync;
    PR_VEC(seen) seen;
    PR_VEC(seen_event) seen_event;
    bool listed;                   /* the event whose lanes are touched is the last of them               */
    after_list after;              /* by seen_event, null = not asked yet; while one order is judged       */
    PR_VEC(int) deps;
    PR_VEC(waiting) waiting;       /* what every event of the asked program waits for; intra only               */
    int64_t epoch; int number;     /* of the event whose lanes are touched                             */
    int event_deps, n_event_deps;
    bool *atomic_base;             /* by argument: some atomic accesses it                              */
    const char *why;
    bool undefined;                /* an operation had undefined behaviour: no execution to speak of        */
} world;

static uint64_t hash(uint64_t a) { return (a * 0x9E3779B97F4A7C15u) >> 17; }

static bool initial(const world *w, uint64_t addr, uint8_t *value)
{
    for (int i = 0; i < w->setup->n_args; i++) {
        const pr_interp_arg *a = &w->setup->args[i];
        uint64_t base = (uint64_t)a->value;
        if (a->kind != PR_INTERP_ARG_POINTER || !a->values || a->elem_bytes <= 0 || addr < base) continue;
        uint64_t off = addr - base, e = off / (uint64_t)a->elem_bytes;
        if (e >= (uint64_t)a->n_values) continue;
        *value = (uint8_t)((pr_u128)a->values[e] >> (8 * (off % (uint64_t)a->elem_bytes)));
        return true;
    }
    return false;
}

/* No byte of [addr, addr + width) has an initial value. */
static bool never_given(const world *w, uint64_t addr, int width)
{
    for (int i = 0; i < w->setup->n_args; i++) {
        const pr_interp_arg *a = &w->setup->args[i];
        if (a->kind != PR_INTERP_ARG_POINTER || !a->values || a->elem_bytes <= 0) continue;
        if (addr + (uint64_t)width - (uint64_t)a->value < (uint64_t)a->n_values * (uint64_t)a->elem_bytes + (uint64_t)width) return false;
    }
    return true;
}

/* The cell of a byte's word, or where it would stand. */
static cell *slot_of(const memory *m, uint64_t at)
{
    uint64_t h = hash(at) & (uint64_t)(m->cap - 1);
    while (m->c[h].used && m->c[h].at != at) h = (h + 1) & (uint64_t)(m->cap - 1);
    return &m->c[h];
}

/* The word around addr, null when no byte of it was written. */
static const cell *word_of(const world *w, uint64_t addr)
{
    if (!w->mem.cap) return NULL;
    const cell *c = slot_of(&w->mem, addr & ~(uint64_t)7);
    return c->used ? c : NULL;
}

static cell *word_to_write(world *w, uint64_t addr)
{
    memory *m = &w->mem;
    if (2 * (m->words + 1) >= m->cap) {
        memory old = *m;
        m->cap = old.cap ? old.cap * 2 : 256;
        m->c = PR_NEW_N(w->arena, cell, m->cap);
        for (int64_t i = 0; i < old.cap; i++)
            if (old.c[i].used) *slot_of(m, old.c[i].at) = old.c[i];
    }
    cell *c = slot_of(m, addr & ~(uint64_t)7);
    if (!c->used) {
        c->at = addr & ~(uint64_t)7;
        m->words++;
    }
    return c;
}

static bool load_bits(world *w, uint64_t addr, int width, uint64_t *out)
{
    bool known = width <= 8;
    *out = 0;
    const cell *c = word_of(w, addr);
    if (!c && (addr & 7) + (uint64_t)width <= 8 && never_given(w, addr, width)) return false;
    for (int i = 0; i < width && i < 8; i++) {
        uint64_t at = addr + (uint64_t)i;
        int bit = (int)(at & 7);
        uint8_t value = 0;
        if (i && bit == 0) c = word_of(w, at);
        if (c && c->used >> bit & 1) {
            known = known && (c->known >> bit & 1);
            value = (uint8_t)(c->value >> (8 * bit));
        } else {
            known = initial(w, at, &value) && known;
        }
        *out |= (uint64_t)value << (8 * i);
    }
    return known;
}

static void store_bits(world *w, uint64_t addr, int width, uint64_t v, bool known)
{
    cell *c = NULL;
    if (!known && (addr & 7) + (uint64_t)width <= 8 && !word_of(w, addr) && never_given(w, addr, width)) return;
    for (int i = 0; i < width; i++) {
        uint64_t at = addr + (uint64_t)i;
        int bit = (int)(at & 7);
        uint8_t unused;
        if (!known) {
            const cell *there = word_of(w, at);
            if (!(there && there->used >> bit & 1) && !initial(w, at, &unused)) continue;
        }
        if (w->mem.n >= MOST_CELLS) {
            w->why = "the programs write too much";
            return;
        }
        if (!c || bit == 0 || c->at != (at & ~(uint64_t)7)) c = word_to_write(w, at);
        w->mem.n += !(c->used >> bit & 1);
        c->used |= (uint8_t)(1u << bit);
        c->known = (uint8_t)((c->known & ~(1u << bit)) | (unsigned)(known && i < 8) << bit);
        c->value = (c->value & ~((uint64_t)0xff << (8 * bit))) | (i < 8 ? (v >> (8 * i) & 0xff) : 0) << (8 * bit);
    }
}

/* ---- one lane ------------------------------------------------------------------------------- */
static bool read_modify_write(const pr_interp_event *e, const pr_interp_touch *t, uint64_t *out)
{
    int w = 8 * e->width;
    if (w > 64) return false;
    uint64_t a = t->old & pr_bits_mask(w), b = t->data[0] & pr_bits_mask(w);
    int64_t x = pr_bits_signed(a, w), y = pr_bits_signed(b, w);
    switch ((int)pr_op_attr_int(e->op, "atomic_rmw_op", 0)) {
    case 1: *out = a & b; return true;
    case 2: *out = a | b; return true;
    case 3: *out = a ^ b; return true;
    case 4: *out = (a + b) & pr_bits_mask(w); return true;
    case 6: *out = (x > y ? a : b); return true;
    case 7: *out = (x < y ? a : b); return true;
    case 8: *out = (a > b ? a : b); return true;
    case 9: *out = (a < b ? a : b); return true;
    case 10: *out = b; return true;
    default: return false;             /* floating point */
    }
}

static bool is_atomic(pr_interp_kind k) { return k >= PR_INTERP_RMW; }

static bool at_site(const pr_interp_event *e, const pr_schedule_site *s)
{
    if (e->op->id != s->op_id || e->n_calls != s->n_calls) return false;
    for (int i = 0; i < s->n_calls; i++)
        if (e->calls[i] != s->calls[i]) return false;
    return true;
}

static void note_seen(world *w, const pr_interp_event *e, const pr_interp_touch *t, bool wrote)
{
    for (int k = 0; k < 2; k++) {
        if (!at_site(e, &w->ask->site[k]) || w->seen.n >= MOST_LANES) continue;
        bool named = memcmp(e->pid, w->ask->pid[0], sizeof e->pid) == 0 || memcmp(e->pid, w->ask->pid[1], sizeof e->pid) == 0;
        if (!named && (w->ask->intra || w->n > FEW_PROGRAMS)) continue;   /* many programs: those of the witness */
        if (!w->listed) {
            seen_event v = {.at = {.n_iter = e->n_iter, .rank = e->rank}};
            memcpy(v.at.pid, e->pid, sizeof v.at.pid);
            memcpy(v.at.iter, e->iter, sizeof(int64_t) * (size_t)e->n_iter);
            for (int d = 0; d < e->rank; d++) v.shape[d] = e->shape[d];
            pr_vec_push(w->arena, &w->seen_event, v);
            w->listed = true;
        }
        seen s = {.which = k, .site = e->op->id, .program = w->now, .number = e->number, .event = w->seen_event.n - 1, .epoch = w->epoch, .wrote = wrote,
                  .lane = t->lane, .addr = t->addr, .width = e->width,
                  .reads = e->kind != PR_INTERP_STORE && e->kind != PR_INTERP_ATOMIC_STORE, .atomic = is_atomic(e->kind),
                  .device = e->scope == PR_INTERP_SCOPE_GPU || e->scope == PR_INTERP_SCOPE_SYS, .async = e->via_desc,
                  .dep_first = w->event_deps, .n_deps = w->n_event_deps};
        pr_vec_push(w->arena, &w->seen, s);
    }
}

/* The access of one lane; of the last one asked about in its event. */
static const pr_schedule_access *access_of(const world *w, const seen *s)
{
    seen_event *e = &w->seen_event.data[s->event];
    int64_t rest = s->lane;
    for (int d = e->at.rank - 1; d >= 0; d--) {
        e->at.lane[d] = rest % e->shape[d];
        rest /= e->shape[d];
    }
    e->at.addr = s->addr;
    e->at.width = s->width;
    e->at.reads = s->reads;
    e->at.writes = s->wrote;
    e->at.atomic = s->atomic;
    return &e->at;
}

static const int64_t *pid_of(const world *w, const seen *s) { return w->p[s->program].pid; }

static void note_sync(world *w, const pr_interp_event *e, const pr_interp_touch *t, bool wrote)
{
    if (w->sync.n >= MOST_ATOMICS) {
        w->why = "too many atomics";
        return;
    }
    bool writer = e->kind == PR_INTERP_RMW || e->kind == PR_INTERP_CAS;
    sync_event s = {.program = w->now, .number = e->number, .op = e->op, .addr = t->addr, .width = e->width, .wrote = wrote,
                    .whole = writer && !e->via_desc, .scalar = e->n_lanes == 1, .epoch = w->epoch,
                    .device = e->scope == PR_INTERP_SCOPE_GPU || e->scope == PR_INTERP_SCOPE_SYS,
                    .dep_first = w->event_deps, .n_deps = w->n_event_deps};
    s.releases = is_atomic(e->kind) && (e->sem == PR_INTERP_RELEASE || e->sem == PR_INTERP_ACQ_REL);
    s.acquires = is_atomic(e->kind) && (e->sem == PR_INTERP_ACQUIRE || e->sem == PR_INTERP_ACQ_REL) && e->kind != PR_INTERP_ATOMIC_STORE;
    pr_vec_push(w->arena, &w->sync, s);
}

/* A poll that found what it found the time before gives way. */
static bool would_wait(world *w, const pr_interp_event *e, const pr_interp_touch *t, bool changes)
{
    program *p = &w->p[w->now];
    bool again = p->last_poll == e->op && p->last_pure && p->last_addr == t->addr && t->old_known && p->last_value == t->old &&
                 !changes && e->n_iter > 0 && p->last_number == e->number - 1;
    if (again) return true;          /* the state stays: the next attempt is the same poll */
    p->last_poll = e->op;
    p->last_addr = t->addr;
    p->last_value = t->old;
    p->last_pure = !changes && t->old_known;
    p->last_number = e->number;
    return false;
}

static bool touch(void *user, const pr_interp_event *e, pr_interp_touch *t)
{
    world *w = user;
    program *p = &w->p[w->now];
    if (w->why) return false;                     /* this order is given up: nothing more of it is run */
    if (p->at < p->log.n) {                       /* it ran before */
        t->old = p->log.data[p->at].old;
        t->old_known = p->log.data[p->at++].known;
        return true;
    }
    if (w->by_step && (w->slow < 0 || w->slow == w->now) && is_atomic(e->kind) && t->lane == 0 && w->steps++) {
        w->waits = true;                          /* the next program goes on before this atomic */
        return false;
    }
    for (int i = 0; i < 2; i++)
        if (w->held[i] == w->now && is_atomic(e->kind) && t->lane == 0 && p->atomics >= w->held_at[i]) {
            w->waits = true;
            return false;
        }
    int bits = 8 * e->width;
    uint64_t fresh = 0;
    bool wrote = false, known = false;
    t->old_known = load_bits(w, t->addr, e->width, &t->old);
    switch (e->kind) {
    case PR_INTERP_LOAD: case PR_INTERP_ATOMIC_LOAD: break;
    case PR_INTERP_STORE: case PR_INTERP_ATOMIC_STORE:
        wrote = true;
        fresh = t->data[0];
        known = t->data_known[0];
        break;
    case PR_INTERP_RMW:
        wrote = true;
        known = t->data_known[0] && read_modify_write(e, t, &fresh) &&
                (t->old_known || (int)pr_op_attr_int(e->op, "atomic_rmw_op", 0) == 10);
        break;
    case PR_INTERP_CAS:
        if (!t->old_known || !t->data_known[0] || bits > 64) {
            w->why = "a compare-and-swap met a value that is not known";
            return false;
        }
        wrote = ((t->old ^ t->data[0]) & pr_bits_mask(bits)) == 0;
        fresh = t->data[1];
        known = t->data_known[1];
        break;
    case PR_INTERP_POLL:
        if (!t->old_known || !t->data_known[0] || bits > 64) {
            w->why = "a poll met a value that is not known";
            return false;
        }
        if ((t->old ^ t->data[0]) & pr_bits_mask(bits)) {
            w->waits = true;
            return false;
        }
        break;
    }
    bool changes = wrote && !(known && t->old_known && bits <= 64 && ((fresh ^ t->old) & pr_bits_mask(bits)) == 0);
    if (e->n_lanes == 1 && e->kind != PR_INTERP_POLL && would_wait(w, e, t, changes)) {
        w->waits = true;
        return false;
    }
    if (wrote) store_bits(w, t->addr, e->width, fresh, known);
    pr_vec_push(w->arena, &p->log, ((reading){t->old, t->old_known}));
    p->at++;
    p->atomics += is_atomic(e->kind) && t->lane == 0;
    note_seen(w, e, t, wrote);
    /* plain writes break the chain of read-modify-writes of a location; one that is not noticed lets the
     * chain, and so what is ordered, be over-estimated */
    int base = pr_interp_lane(e, t->lane).base;
    if (is_atomic(e->kind) && base >= 0) w->atomic_base[base] = true;
    if (is_atomic(e->kind) || (wrote && base >= 0 && w->atomic_base[base])) note_sync(w, e, t, wrote);
    return true;
}

/* Of many programs those of the witness are noted (note_seen); for the others the two accesses are like any other one. */
static bool look(void *user, const pr_interp_event *e)
{
    const world *w = user;
    return w->n <= FEW_PROGRAMS || memcmp(e->pid, w->ask->pid[0], sizeof e->pid) == 0 || memcmp(e->pid, w->ask->pid[1], sizeof e->pid) == 0;
}

static void event(void *user, const pr_interp_event *e)
{
    world *w = user;
    w->epoch = e->epoch.n;
    w->number = e->number;
    w->listed = false;
    w->event_deps = w->deps.n;
    w->n_event_deps = e->n_deps;
    for (int i = 0; i < e->n_deps; i++) pr_vec_push(w->arena, &w->deps, e->deps[i]);
    if (w->ask->intra && e->n_deps && memcmp(e->pid, w->ask->pid[0], sizeof e->pid) == 0)
        pr_vec_push(w->arena, &w->waiting, ((waiting){e->number, w->event_deps, e->n_deps}));
}

/* ---- order ---------------------------------------------------------------------------------- */
static bool depends_on(const world *w, int first, int n, int number)
{
    for (int i = 0; i < n; i++)
        if (w->deps.data[first + i] == number) return true;
    return false;
}

static bool into(const world *w, const seen *x, const sync_event *s)      /* x before s, one program */
{
    if (s->program != x->program) return false;
    if (s->number == x->number || x->epoch < s->epoch) return true;
    if (w->ask->pre && s->scalar && s->releases && x->number < s->number) return true;
    return depends_on(w, s->dep_first, s->n_deps, x->number);
}

static bool out_of(const world *w, const sync_event *s, const seen *y)
{
    if (s->program != y->program) return false;
    if (s->number == y->number || s->epoch < y->epoch) return true;
    if (w->ask->post && s->scalar && s->acquires && s->number < y->number) return true;
    return depends_on(w, y->dep_first, y->n_deps, s->number);
}

/* What comes after x: forward over releases, what they reach, and the acquires there; over-estimated. By number of sync event.
 * Each write is passed once: a release sequence that comes to one that was passed goes on as the earlier one did. */
static bool *after(world *w, const seen *x, int64_t *budget)
{
    int n = w->sync.n;
    bool *out = PR_NEW_N(w->arena, bool, n + 1);
    pr_arena_pos pos = pr_arena_mark(w->arena);
    bool *passed = PR_NEW_N(w->arena, bool, n + 1);
    int *from = PR_NEW_N(w->arena, int, w->n + 1);   /* by program: what is behind an acquire that is after x        */
    for (int p = 0; p < w->n; p++) from[p] = INT_MAX;
    for (int i = 0; i < n; i++) {
        const sync_event *s = &w->sync.data[i];
        bool reached = s->device && (into(w, x, s) || from[s->program] <= s->number);
        if (out[i] && s->number < from[s->program]) from[s->program] = s->number;
        if (!reached || !s->releases || !s->wrote || passed[i]) continue;
        const sync_event *last = s;
        passed[i] = true;
        for (int j = i + 1; j < n; j++, --*budget) { /* the release sequence: each hop reads the write before it */
            const sync_event *r = &w->sync.data[j];
            bool overlap = r->addr < s->addr + (uint64_t)s->width && s->addr < r->addr + (uint64_t)r->width;
            if (!overlap) continue;
            bool hop = r->addr == s->addr && r->width == s->width && ((last->device && r->device) || last->program == r->program);
            if (hop && r->acquires && r->device) out[j] = true;
            if (r->wrote && (!hop || !r->whole || passed[j])) break;
            if (r->wrote) passed[j] = true, last = r;
        }
    }
    pr_arena_release(w->arena, pos);
    return out;
}

/* Is x before y? One answer of after() serves all lanes of an operation and everything that it is compared with. */
static bool ordered(world *w, const seen *x, const seen *y, int64_t *budget)
{
    int n = w->sync.n;
    if (!w->after.data[x->event]) {
        *budget -= 8 * n;
        w->after.data[x->event] = after(w, x, budget);
    }
    const bool *reached = w->after.data[x->event];
    *budget -= n;
    for (int i = 0; i < n; i++)
        if (reached[i] && out_of(w, &w->sync.data[i], y)) return true;
    return false;
}

static bool conflict(const world *w, const seen *x, const seen *y)
{
    if (x->which == y->which || (!x->wrote && !y->wrote)) return false;
    bool overlap = x->addr < y->addr + (uint64_t)y->width && y->addr < x->addr + (uint64_t)x->width;
    if (!overlap) return false;
    bool same_program = x->program == y->program;
    if (same_program != w->ask->intra) return false;
    bool mutual = x->atomic && y->atomic && x->async == y->async && x->addr == y->addr && x->width == y->width &&
                  (same_program || (x->device && y->device));
    return !mutual;
}

static bool is_wanted(const world *w, int k, const seen *s)
{
    const pr_schedule_ask *a = w->ask;
    if (memcmp(pid_of(w, s), a->pid[k], sizeof a->pid[k]) != 0) return false;
    const pr_schedule_access *at = access_of(w, s);
    if (at->rank != a->rank[k] || at->n_iter != a->n_iter[k]) return false;
    for (int d = 0; d < at->rank; d++)
        if (at->lane[d] != a->lane[k][d]) return false;
    for (int i = 0; i < at->n_iter; i++)
        if (at->iter[i] != a->iter[k][i]) return false;
    return true;
}

/* Does event second of the asked program wait for event first, through whatever lies between? Lanes and masks of those do not
 * count: over-estimated. */
static bool waits_for(const world *w, int second, int first, int depth)
{
    for (int i = 0; i < w->waiting.n; i++) {
        const waiting *x = &w->waiting.data[i];
        if (x->number != second) continue;
        for (int k = 0; k < x->n; k++) {
            int m = w->deps.data[x->first + k];
            if (m == first || (m > first && depth > 0 && waits_for(w, m, first, depth - 1))) return true;
        }
        return false;               /* a later run of the program repeats it */
    }
    return false;
}

/* Orders inside a program that the records do not see (another barrier ran) take the race away. */
static bool unordered_inside(const world *w, const seen *x, const seen *y)
{
    if (x->epoch != y->epoch) return false;
    if (x->number == y->number) return true;
    const seen *first = x->number < y->number ? x : y, *second = first == x ? y : x;
    if (waits_for(w, second->number, first->number, MOST_BETWEEN)) {
        pr_schedule_access a = *access_of(w, first), b = *access_of(w, second);
        bool same = a.rank == b.rank;
        for (int d = 0; d < a.rank && same; d++) same = a.lane[d] == b.lane[d];
        if (same) return false;
    }
    for (int i = 0; i < w->sync.n && (w->ask->pre || w->ask->post); i++) {
        const sync_event *s = &w->sync.data[i];
        if (s->program != x->program || !s->scalar) continue;
        bool before = w->ask->pre && s->releases && first->number < s->number && s->number <= second->number;
        bool behind = w->ask->post && s->acquires && first->number <= s->number && s->number < second->number;
        if (before || behind) return false;
    }
    return true;
}

/* Lanes that the witness does not name. One lane of one operation belongs to one thread in every iteration; what orders an
 * access through a descriptor is not known. */
static bool two_threads(const seen *x, const seen *y)
{
    return !x->async && !y->async && (x->site != y->site || x->lane != y->lane);
}

/* Answers of the last pair of operations: their lanes come one after the other. */
typedef struct answer { int x[2], y[2]; bool valid, ordered; } answer;

static bool ordered_either_way(world *w, const seen *x, const seen *y, answer *last, int64_t *budget)
{
    if (!last->valid || last->x[0] != x->program || last->x[1] != x->number || last->y[0] != y->program || last->y[1] != y->number) {
        *last = (answer){{x->program, x->number}, {y->program, y->number}, true, ordered(w, x, y, budget) || ordered(w, y, x, budget)};
    }
    return last->ordered;
}

/* The lanes of the second access by address. */
typedef struct placed { uint64_t addr; int index; } placed;

static int by_address(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    if (x->addr != y->addr) return x->addr < y->addr ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* The first that ends behind addr: none is wider than most. */
static int first_behind(const placed *p, int n, uint64_t addr, uint64_t most)
{
    int lo = 0, hi = n;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (p[mid].addr + most > addr) hi = mid;
        else lo = mid + 1;
    }
    return lo;
}

static bool judge(world *w, pr_schedule_result *r)
{
    int64_t budget = JUDGE_WORK;
    answer last = {0};
    pr_arena_pos pos = pr_arena_mark(w->arena);
    w->after = (after_list){0};
    for (int i = 0; i < w->seen_event.n; i++) pr_vec_push(w->arena, &w->after, NULL);
    placed *second = PR_NEW_N(w->arena, placed, w->seen.n + 1);
    int n = 0;
    uint64_t most = 1;
    for (int j = 0; j < w->seen.n; j++) {
        const seen *y = &w->seen.data[j];
        if (y->which != 1) continue;
        second[n++] = (placed){y->addr, j};
        if ((uint64_t)y->width > most) most = (uint64_t)y->width;
    }
    qsort(second, (size_t)n, sizeof *second, by_address);
    for (int pass = 0; pass < 2 && !r->found; pass++)           /* the witness's own programs first */
        for (int i = 0; i < w->seen.n && !r->found; i++) {
            const seen *x = &w->seen.data[i];
            if (x->which != 0) continue;
            if (pass == 0 && memcmp(pid_of(w, x), w->ask->pid[0], sizeof w->ask->pid[0]) != 0) continue;
            if (w->ask->intra && pass == 0 && !is_wanted(w, 0, x)) continue;
            for (int k = first_behind(second, n, x->addr, most); k < n && second[k].addr < x->addr + (uint64_t)x->width && !r->found; k++) {
                const seen *y = &w->seen.data[second[k].index];
                if (--budget < 0) {
                    pr_arena_release(w->arena, pos);
                    return false;
                }
                if (!conflict(w, x, y)) continue;
                if (pass == 0 && memcmp(pid_of(w, y), w->ask->pid[1], sizeof w->ask->pid[1]) != 0) continue;
                if (w->ask->intra ? (pass == 0 ? !is_wanted(w, 1, y) : !two_threads(x, y)) || !unordered_inside(w, x, y)
                                  : ordered_either_way(w, x, y, &last, &budget))
                    continue;
                r->found = true;
                r->at[0] = *access_of(w, x);
                r->at[1] = *access_of(w, y);
            }
        }
    pr_arena_release(w->arena, pos);
    return r->found;
}

/* ---- runs ----------------------------------------------------------------------------------- */
static bool same_pid(const int64_t a[3], const int64_t b[3]) { return a[0] == b[0] && a[1] == b[1] && a[2] == b[2]; }

/* Program numbers in the order of one schedule; false when there are no more. */
static bool order_of(world *w, int k, int *order)
{
    int n = 0, a = -1, b = -1;
    for (int i = 0; i < w->n; i++) {
        if (same_pid(w->p[i].pid, w->ask->pid[0])) a = i;
        if (same_pid(w->p[i].pid, w->ask->pid[1])) b = i;
    }
    /* many programs: those orders first that soon have run the two (see run_order) */
    static const int soon[MOST_ORDERS + 2] = {4, 8, 9, 2, 3, 7, 5, 6, 0, 1};
    bool many = w->n > FEW_PROGRAMS;
    w->held[0] = w->held[1] = -1;
    if (a < 0 || b < 0) return false;
    int extra = k - (2 * MOST_ORDERS + 2);
    if (!many && extra >= 0) {       /* the others run past one of the two, or past each in turn */
        int singles = 4 * HELD_AT, s = extra - singles;
        if (s >= 2 * BOTH_HELD_AT * BOTH_HELD_AT || (a == b && s >= 0)) return false;
        w->by_step = s < 0 && (extra & 2);
        w->slow = -1;
        w->held[0] = (s < 0 ? extra & 1 : s & 1) ? a : b;
        w->held_at[0] = s < 0 ? 1 + extra / 4 : 1 + s / 2 % BOTH_HELD_AT;
        if (s >= 0) w->held[1] = w->held[0] == a ? b : a;
        w->held_at[1] = 1 + s / 2 / BOTH_HELD_AT;
        for (int i = 0; i < w->n; i++) order[n++] = i;
        return true;
    }
    if (k >= (many ? MOST_ORDERS + 2 : 2 * MOST_ORDERS + 2)) return false;
    w->by_step = !many && k >= MOST_ORDERS;
    w->slow = -1;
    if (!many && k >= 2 * MOST_ORDERS) {     /* one of the two goes first and atomic by atomic, the others run ahead */
        w->slow = k == 2 * MOST_ORDERS ? a : b;
        k = k == 2 * MOST_ORDERS ? 2 : 3;
    } else {
        k = many ? soon[k] : k % MOST_ORDERS;
    }
    if (k == 9) {                    /* each of the two behind its neighbours, which may hand something over */
        for (int i = a > NEAR ? a - NEAR : 0; i <= a; i++)
            if (i != b || a == b) order[n++] = i;
        for (int i = b > NEAR ? b - NEAR : 0; i <= b && b != a; i++)
            if (i < a - NEAR || i > a) order[n++] = i;
        if (b < a && b >= a - NEAR) order[n++] = b;
        for (int i = 0; i < w->n; i++)
            if ((i < a - NEAR || i > a) && (i < b - NEAR || i > b)) order[n++] = i;
        return n == w->n;
    }
    if (k == 8) order[n++] = b;
    if (k == 8 && a != b) order[n++] = a;
    bool first[2] = {k == 2 || k == 4, k == 3 || k == 4};       /* programs a, b at the front */
    bool last[2] = {k == 5 || k == 7, k == 6 || k == 7};        /* ... at the end               */
    if (first[0]) order[n++] = a;
    if (first[1] && b != a) order[n++] = b;
    for (int i = 0; i < w->n; i++) {
        int p = k == 1 ? w->n - 1 - i : i;
        if ((p == a && (first[0] || last[0] || k == 8)) || (p == b && (first[1] || last[1] || k == 8))) continue;
        order[n++] = p;
    }
    if (last[1] && b != a) order[n++] = b;
    if (last[0]) order[n++] = a;
    return n == w->n;
}

static bool is_named(const world *w, int i)
{ return same_pid(w->p[i].pid, w->ask->pid[0]) || same_pid(w->p[i].pid, w->ask->pid[1]); }

/* Of many programs only the two of the witness are looked at (note_seen). When both have ended, what the others
 * would do comes later than either access and orders neither. */
static bool seen_enough(const world *w)
{
    if (w->n <= FEW_PROGRAMS) return false;
    for (int i = 0; i < w->n; i++)
        if (!w->p[i].done && is_named(w, i)) return false;
    return true;
}

/* One turn of a program: to its end, or until it would wait. */
static const char *run_program(world *w, pr_machine *m, int which)
{
    program *p = &w->p[which];
    w->now = which;
    w->waits = false;
    w->steps = 0;
    w->why = NULL;
    p->at = 0;
    pr_interp_status s = pr_machine_run(m, p->pid, event, w);
    if (w->why) return w->why;
    if (pr_machine_ub(m)) {
        w->undefined = true;
        return "the execution has undefined behaviour";
    }
    if (s == PR_INTERP_LIMIT) return "the work limit is reached";
    if (s == PR_INTERP_STOPPED && !w->waits) return pr_machine_why(m);
    p->done = s == PR_INTERP_DONE;
    return NULL;
}

static const char *run_order(world *w, pr_machine *m, const int *order, bool *stuck)
{
    for (int i = 0; i < w->n; i++) {
        program *p = &w->p[i];
        int64_t pid[3] = {p->pid[0], p->pid[1], p->pid[2]};
        *p = (program){.last_poll = NULL};
        memcpy(p->pid, pid, sizeof pid);
    }
    w->sync.n = w->seen.n = w->seen_event.n = w->deps.n = w->waiting.n = 0;
    w->mem = (memory){0};
    int left = w->n;
    *stuck = false;
    for (bool moved = true, enough = false; moved && left && !enough;) {
        moved = false;
        for (int i = 0; i < w->n && !enough; i++) {
            /* of many programs, those of the witness that wait go on as soon as another one has ended */
            int turn[3] = {order[i], -1, -1}, n_turns = 1;
            for (int j = 0; j < n_turns && !enough; j++) {
                program *p = &w->p[turn[j]];
                if (p->done) continue;
                int before = p->log.n;
                const char *why = run_program(w, m, turn[j]);
                if (why) return why;
                if (p->done) {
                    left--;
                    enough = seen_enough(w);
                }
                moved = moved || p->done || p->log.n > before;
                for (int o = 0; o < i && p->done && j == 0 && w->n > FEW_PROGRAMS; o++)
                    if (!w->p[order[o]].done && is_named(w, order[o]) && n_turns < 3) turn[n_turns++] = order[o];
            }
        }
        if (enough) left = 0;
        for (int i = 0; i < 2 && !moved; i++) {
            moved = w->held[i] >= 0;
            w->held[i] = -1;
        }
    }
    *stuck = left > 0;
    return NULL;
}

pr_schedule_result pr_schedule_race(pr_arena *arena, const pr_interp_setup *setup, const pr_schedule_ask *ask)
{
    pr_schedule_result r = {.why = "no order of the programs that was tried shows it"};
    pr_interp_setup s = *setup;
    int64_t n = 1;
    for (int i = 0; i < 3; i++) {
        if (s.grid[i] <= 0 || s.grid[i] > MOST_PROGRAMS || (n *= s.grid[i]) > MOST_PROGRAMS) {
            r.why = "the launch has too many programs to run them all";
            return r;
        }
    }
    world w = {.arena = arena, .setup = setup, .ask = ask, .n = (int)n};
    s.touch = touch;
    s.touch_user = &w;
    s.look = look;
    s.track_deps = true;
    s.max_work = ask->max_work > 0 ? ask->max_work : (int64_t)1 << 26;
    s.spare = pr_schedule_spare(arena, &s, ask);
    w.p = PR_NEW_N(arena, program, w.n);
    w.atomic_base = PR_NEW_N(arena, bool, s.n_args + 1);
    for (int i = 0; i < w.n; i++) {
        w.p[i].pid[0] = i % s.grid[0];
        w.p[i].pid[1] = i / s.grid[0] % s.grid[1];
        w.p[i].pid[2] = i / s.grid[0] / s.grid[1];
    }
    pr_machine *m = pr_machine_new(arena, &s);
    pr_machine_set_shared_work(m);
    int *order = PR_NEW_N(arena, int, w.n + 1);
    int64_t before = -1;                                       /* the work of all other orders */
    for (int k = 0; !r.found && order_of(&w, k, order); k++) {
        bool stuck;
        if (w.held[0] >= 0 && before < 0) before = m->work;
        if (before >= 0 && m->work - before > HELD_WORK) break;
        const char *why = run_order(&w, m, order, &stuck);
        r.stuck = r.stuck || stuck;
        if (w.undefined) {
            r.why = why;
            break;
        }
        if (judge(&w, &r)) {           /* also a prefix is an execution */
            r.why = NULL;
        } else if (why) {
            r.why = why;
            break;
        }
    }
    return r;
}
