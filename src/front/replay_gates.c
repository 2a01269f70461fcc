/* Orders between programs from what waits need: see replay_gates.h. */
#include "front/replay_gates.h"
#include "front/interp_cond.h"
#ifdef PR_FAULTS                   /* one side condition dropped: tests/gates must find it            */
#include <stdlib.h>
static int planted = -1;
static bool fault(int n)
{
    if (planted < 0) planted = getenv("POLYRACE_FAULT") ? atoi(getenv("POLYRACE_FAULT")) : 0;
    return planted == n;
}
#else
#define fault(n) false
#endif

enum { MOST_GATES = 1 << 16, MOST_STEPS = 1 << 26, MOST_KNOWN = 1 << 22, MOST_VALUES = 128, MOST_RUNS = 1 << 13 };


typedef enum { GATE_KEEPS, GATE_ADDS, GATE_SETS, GATE_ORS, GATE_XORS, GATE_ANDS, GATE_ODD, GATE_WAITS } gate_kind;

typedef struct gate {
    int dyn, cell;                  /* cell: number, -1 = none of which anything is known                 */
    uint64_t addr; int width;
    gate_kind kind;
    int64_t v;                      /* operand                                                     */
    bool sure, acquires, releases, wanted;
    int64_t given[2]; bool is_given[2], once;   /* operands as the operation has them; it ran once                     */
    bool single; int64_t lo, hi;    /* GATE_WAITS: pr_interp_wait                                    */
    const pr_wait_expr *goes_on; int leaf[PR_WAIT_LEAVES];   /* leaf: the gate that returned it, -1 = not known        */
    pr_i128 up, down;               /* additions that certainly come before it, summed by sign                */
} gate;

typedef struct cell {
    uint64_t addr; int width;
    bool usable, sum;               /* sum: nothing but additions                                     */
    bool wraps, followed;           /* the sum may leave its width; certain additions are looked for            */
    int64_t start;
    pr_i128 up, down;               /* sums of what has run so far                                     */
    pr_i128 least, most;            /* values after any set of all writes                                */
    pr_i128 lo, hi;                 /* values it was set to, and the first                               */
} cell;

/* For one place in a program, when the releases behind it are held back: by program, the first wait (gate) that cannot end; by
 * gate, what has run. */
typedef struct held { int program, dyn; const int *first; const bool *done; } held;

/* An execution happens only when the atomic returns a value between lo and hi; always: with each of them, whatever else is not known. */
typedef struct guard { int gate; int64_t lo, hi; int next; bool always; } guard;
typedef struct tried { int gate; int64_t lo, hi; } tried;   /* the program was run with each of these results           */

struct pr_gates {
    pr_rlog *l;
    pr_interp_gate hooks;
    PR_VEC(gate) gates;             /* in the order of dyns                                          */
    PR_VEC(cell) cells;
    int *from;                      /* by program: its first gate; one more at the end                     */
    PR_VEC(held) held;
    int *table; int table_size;     /* of held, by program and epoch                                    */
    bool *done;                     /* scratch of one run, by gate                                     */
    int *next;                      /* by program: what comes before it has run or can end, which more writes do not change */
    PR_VEC(guard) guards;
    PR_VEC(tried) tried;
    int *guard_of;                  /* by dyn: its first guard + 1                                     */
    int *latest;                    /* by op id: gate of its last execution + 1, 0 = none                       */
    const pr_wait_expr *copied;     /* the last condition of a wait                                      */
    bool probing;                   /* a run with one result given: the number of the atomic, its value         */
    int number; int64_t value;
    int at, end; bool strayed;      /* dyns of the program that it follows; it did something else             */
    uint8_t *seen;                  /* by dyn: it happened, 2 = surely                                */
    struct { int x, y; bool yes; } last, last_apart;   /* the last answers: before, exclude              */
    int64_t steps, known;
    int waits;
    bool endless;
    const char *why;
};

/* ---- while the programs run ------------------------------------------------------------------ */
static bool initial(void *user, uint64_t addr, int width, int64_t *value)
{
    pr_gates *g = user;
    for (int i = 0; i < g->l->setup->n_args; i++) {
        const pr_interp_arg *a = &g->l->setup->args[i];
        if (a->kind != PR_INTERP_ARG_POINTER || !a->values || a->elem_bytes != width || width > 8) continue;
        uint64_t off = addr - (uint64_t)a->value;
        if (off % (uint64_t)width || off / (uint64_t)width >= (uint64_t)a->n_values) continue;
        uint64_t x = (uint64_t)a->values[off / (uint64_t)width];
        *value = width == 8 ? (int64_t)x : (int64_t)(x << (64 - 8 * width)) >> (64 - 8 * width);
        return true;
    }
    return false;
}

static void add(pr_gates *g, gate x)
{
    if (g->gates.n >= MOST_GATES) g->why = "more atomics than are followed";
    else pr_vec_push(g->l->arena, &g->gates, x);
}

static int64_t reading(uint64_t x, int width)
{
    int w = 8 * width;
    if (w >= 64) return (int64_t)x;
    uint64_t sign = (uint64_t)1 << (w - 1);
    return (int64_t)(((x & ((sign << 1) - 1)) ^ sign) - sign);
}

static void atomic(void *user, const pr_interp_event *e, const pr_interp_touch *t)
{
    pr_gates *g = user;
    if (g->probing) return;
    pr_interp_lane_info lane = pr_interp_lane(e, 0);
    g->latest[e->op->id] = 0;
    if (lane.active == PR_NO || e->width > 8) return;
    gate x = {.dyn = g->l->dyns.n - 1, .cell = -1, .addr = lane.addr, .width = e->width, .kind = GATE_ODD,
              .sure = lane.active == PR_YES, .v = reading(t->data[0], e->width),
              .wanted = t->wanted && e->kind != PR_INTERP_POLL,         /* its result is not what the location held */
              .acquires = e->sem == PR_INTERP_ACQUIRE || e->sem == PR_INTERP_ACQ_REL || fault(60),
              .releases = e->sem == PR_INTERP_RELEASE || e->sem == PR_INTERP_ACQ_REL || fault(61)};
    bool known = t->data_known[0] || fault(62), once = true;
    for (int k = 0; k < e->n_iter; k++) once = once && e->iter[k] >= 0;
    x.once = once;
    for (int k = 0; k < 2; k++) {
        x.is_given[k] = t->data_known[k];
        x.given[k] = reading(t->data[k], e->width);
    }
    int rmw = (int)pr_op_attr_int(e->op, "atomic_rmw_op", 0);
    switch (e->kind) {
    case PR_INTERP_ATOMIC_LOAD: x.kind = GATE_KEEPS; break;
    case PR_INTERP_POLL:
        x.kind = known && e->op->n_operands < 3 ? GATE_WAITS : GATE_KEEPS;
        x.single = true;
        x.lo = x.hi = x.v;
        break;
    case PR_INTERP_CAS:             /* whether it writes is not known: it may */
        if (known && t->data_known[1] && reading(t->data[1], e->width) == x.v) x.kind = GATE_KEEPS;
        else if (t->data_known[1]) {
            x.kind = GATE_SETS;
            x.v = reading(t->data[1], e->width);
        }
        break;
    case PR_INTERP_RMW:
        if (!known) break;
        if (rmw == 4) x.kind = GATE_ADDS;
        else if (rmw == 6 || rmw == 7 || rmw == 10) x.kind = GATE_SETS;   /* max, min: between the operand and the old value */
        else if (x.v >= 0 && rmw >= 1 && rmw <= 3) x.kind = rmw == 1 ? GATE_ANDS : rmw == 2 ? GATE_ORS : GATE_XORS;
        if (rmw >= 2 && rmw <= 4 && x.v == 0) x.kind = GATE_KEEPS;
        break;
    default: break;                 /* an atomic store breaks the chain                                    */
    }
    if (fault(64) && lane.active == PR_MAYBE) x.kind = GATE_KEEPS;
    if (!once && x.kind != GATE_KEEPS) x.kind = GATE_ODD;             /* it stands for any number of turns */
    if (x.kind == GATE_KEEPS && !fault(70)) x.v = 0;                                 /* what a compare-and-swap compares with is nothing that it adds */
    if (x.kind == GATE_WAITS) g->waits++;
    add(g, x);
    g->latest[e->op->id] = g->gates.n;
}

/* The same text waits with the same condition again and again: one copy of those that follow each other. */
static const pr_wait_expr *copy_of(pr_gates *g, const pr_wait_expr *e)
{
    if (e && (!g->copied || memcmp(g->copied, e, sizeof *e))) g->copied = pr_arena_copy(g->l->arena, e, sizeof *e);
    return e ? g->copied : NULL;
}

static void waited(void *user, const pr_interp_wait *w)
{
    pr_gates *g = user;
    if (g->probing) return;
    int dyn = g->l->first_dyn.data[g->l->program] + w->poll->number;
    g->waits++;
    for (int i = g->gates.n - 1; i >= 0 && g->gates.data[i].dyn >= dyn; i--) {
        if (g->gates.data[i].dyn != dyn) continue;
        gate x = g->gates.data[i];
        x.kind = GATE_WAITS;
        x.wanted = false;
        g->gates.data[i].wanted = false;
        x.single = w->single;
        x.lo = w->lo;
        x.hi = w->hi;
        x.goes_on = copy_of(g, w->goes_on);
        for (int k = 0; x.goes_on && k < x.goes_on->n_leaves; k++) {
            int e = g->latest[x.goes_on->leaf[k]->id] - 1;
            x.leaf[k] = e >= 0 && g->gates.data[e].dyn >= g->l->first_dyn.data[g->l->program] && g->gates.data[e].sure ? e : -1;
        }
        add(g, x);
        return;
    }
    g->why = "a wait without its poll";
}

static bool result(void *user, const pr_interp_event *e, uint64_t *value)
{
    pr_gates *g = user;
    *value = (uint64_t)g->value;
    return g->probing && e->number == g->number;
}

pr_gates *pr_gates_new(pr_rlog *l, pr_interp_setup *setup)
{
    pr_gates *g = PR_NEW(l->arena, pr_gates);
    g->l = l;
    g->latest = PR_NEW_N(l->arena, int, setup->ir->n_ops + 1);
    g->hooks = (pr_interp_gate){g, initial, atomic, waited, result};
    setup->gate = &g->hooks;
    return g;
}

int pr_gates_waits(const pr_gates *g) { return g->waits; }
bool pr_gates_endless(const pr_gates *g) { return g->endless; }
bool pr_gates_guards(const pr_gates *g) { return g->guards.n > 0; }

/* ---- locations ------------------------------------------------------------------------------- */
static const pr_rsite *site_of(const pr_gates *g, int dyn) { return &g->l->sites.data[g->l->dyns.data[dyn].site]; }
static const pr_interp_epoch *epoch_of(const pr_gates *g, const gate *x) { return &g->l->dyns.data[x->dyn].epoch; }

static bool device(const pr_rsite *s) { return s->scope == PR_INTERP_SCOPE_GPU || s->scope == PR_INTERP_SCOPE_SYS; }

static int find_cell(const pr_gates *g, uint64_t addr)
{
    int lo = 0, hi = g->cells.n;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (g->cells.data[mid].addr < addr) lo = mid + 1;
        else hi = mid;
    }
    return lo < g->cells.n && g->cells.data[lo].addr == addr ? lo : -1;
}

static void insert_cell(pr_gates *g, const gate *x)
{
    if (find_cell(g, x->addr) >= 0) return;
    cell c = {.addr = x->addr, .width = x->width};
    c.usable = initial(g, x->addr, x->width, &c.start);
    if (fault(63)) c.start = 0;
    pr_vec_push(g->l->arena, &g->cells, c);
    for (int i = g->cells.n - 1; i > 0 && g->cells.data[i - 1].addr > c.addr; i--) {
        cell y = g->cells.data[i - 1];
        g->cells.data[i - 1] = g->cells.data[i];
        g->cells.data[i] = y;
    }
}

/* Whatever touches the location and may write it must be a gate of known effect on all of it. */
static void check_cell(pr_gates *g, cell *c, const pr_rev *ev, int64_t n, const uint8_t *effect)
{
    int64_t lo = 0, hi = n;
    uint64_t from = c->addr >= 64 ? c->addr - 64 : 0;
    while (lo < hi) {
        int64_t mid = (lo + hi) / 2;
        if (ev[mid].addr < from) lo = mid + 1;
        else hi = mid;
    }
    for (int64_t i = lo; i < n && ev[i].addr < c->addr + (uint64_t)c->width && c->usable; i++) {
        const pr_rsite *s = site_of(g, (int)ev[i].dyn);
        if (ev[i].addr + (uint64_t)s->width <= c->addr || pr_rsite_writes(s) == PR_NO) continue;
        c->usable = effect[ev[i].dyn] && ev[i].addr == c->addr && s->width == c->width && device(s) && !s->via_desc && s->n_lanes == 1;
    }
}

static void set_back(pr_gates *g)
{
    for (int i = 0; i < g->cells.n; i++) {
        cell *c = &g->cells.data[i];
        c->up = c->down = 0;
        c->lo = c->hi = c->start;
    }
}

static void perform(cell *c, const gate *x)
{
    pr_i128 v = x->v;
    switch (x->kind) {
    case GATE_ADDS:
        if (v > 0) c->up += v;
        else c->down += v;
        break;
    case GATE_XORS: if (c->lo > 0) c->lo = 0; c->up += v; break;      /* neither a ^ v nor a | v is more than a + v */
    case GATE_ORS: c->up += v; break;
    case GATE_ANDS: if (c->lo > 0) c->lo = 0; if (c->hi < v) c->hi = v; break;
    case GATE_SETS: if (c->lo > v) c->lo = v; if (c->hi < v) c->hi = v; break;
    default: break;
    }
}

/* The values that an atomic of the program of wait w, at or before it, can read of what has run. What comes before it at the location of w
 * comes before what w read there, too; of another location nothing has to have run (it need not acquire). */
static pr_span span_of(const pr_gates *g, const gate *w, int e)
{
    pr_span unknown = {1, 0};
    if (e < 0 || g->gates.data[e].cell < 0) return unknown;
    const gate *x = &g->gates.data[e];
    const cell *c = &g->cells.data[x->cell];
    if (!c->followed || (x->cell != w->cell && !fault(72))) return (pr_span){c->least, c->most};
    pr_i128 up = c->up, down = c->down;
    int end = g->from[g->l->dyns.data[x->dyn].program + 1];
    for (int i = e; i < end; i++) {
        const gate *y = &g->gates.data[i];
        if (y->cell != x->cell || y->kind != GATE_ADDS || !g->done[i]) continue;
        if (y->v > 0) up -= y->v;
        else down -= y->v;
    }
    if (fault(74)) return (pr_span){c->most - x->v, c->most - x->v};
    return (pr_span){c->start + x->up + down, c->start + up + x->down};
}

/* Is one of the numbers lo to hi, modulo the width, from a to b? */
static bool meets(const cell *c, pr_i128 lo, pr_i128 hi, pr_i128 a, pr_i128 b)
{
    if (a > b) return false;
    pr_i128 size = (pr_i128)1 << (8 * c->width), turns = c->wraps && !fault(71) ? (lo - b) / size * size : 0;
    for (int k = -1; k <= 2 && c->wraps && !fault(71); k++)
        if (lo <= b + turns + k * size && a + turns + k * size <= hi) return true;
    return lo <= b && a <= hi;
}

static bool can_end(pr_gates *g, const gate *w)
{
    const cell *c = &g->cells.data[w->cell];
    pr_i128 lo = c->lo + c->down, hi = c->hi + c->up, top = ((pr_i128)1 << (8 * c->width - 1)) - 1;
    if (fault(65) && hi <= w->hi + 1) return false;
    if (c->followed) {
        if (w->up > c->up || w->down < c->down) return false;         /* something that comes before it has not run      */
        lo += w->up;
        hi += w->down;
    }
    if (w->goes_on) {
        pr_span span[PR_WAIT_LEAVES] = {{lo, hi}};
        for (int k = 1; k < w->goes_on->n_leaves; k++) span[k] = span_of(g, w, w->leaf[k]);
        g->steps += w->goes_on->n;
        return pr_wait_may_be(w->goes_on, span, false);
    }
    if (w->single) return meets(c, lo, hi, w->lo, w->lo);
    if (!c->wraps) return lo < w->lo || hi > w->hi;
    return w->lo > w->hi || meets(c, lo, hi, -top - 1, w->lo - 1) || meets(c, lo, hi, w->hi + 1, top);
}

/* Bits are counted as numbers only of numbers that are never negative; no sum may leave the width. */
static void check_range(pr_gates *g)
{
    bool *bits = PR_NEW_N(g->l->arena, bool, g->cells.n + 1);
    set_back(g);
    for (int i = 0; i < g->cells.n; i++) g->cells.data[i].sum = true;
    for (int i = 0; i < g->gates.n; i++) {
        const gate *x = &g->gates.data[i];
        if (x->cell < 0) continue;
        if (x->goes_on) g->cells.data[x->cell].followed = true;
        if (x->kind != GATE_ADDS && x->kind != GATE_KEEPS && x->kind != GATE_WAITS) g->cells.data[x->cell].sum = false;
        perform(&g->cells.data[x->cell], x);
        if (x->kind == GATE_ORS || x->kind == GATE_XORS || x->kind == GATE_ANDS) bits[x->cell] = true;
    }
    for (int i = 0; i < g->cells.n; i++) {
        cell *c = &g->cells.data[i];
        pr_i128 top = ((pr_i128)1 << (8 * c->width - 1)) - 1, lo = c->lo + c->down, hi = c->hi + c->up;
        c->wraps = lo < -top - 1 || hi > top;
        if (c->wraps && !c->sum) c->usable = false;
        c->least = lo;
        c->most = hi;
        c->followed = c->sum && (c->followed || c->wraps);
        if (bits[i] && (c->lo < 0 || lo < 0)) c->usable = false;
    }
}

/* ---- runs with some releases held back ------------------------------------------------------- */
static bool surely_before(const pr_interp_epoch *a, const pr_interp_epoch *b)
{
    if (fault(66) && a->gen == b->gen && a->n == b->n) return true;
    return a->gen == b->gen ? a->n < b->n : a->hi < b->lo;
}

/* x before release r of its program, y behind an acquire w of its program: by a barrier, the compiler's own included. */
static bool into(const pr_gates *g, int x, const gate *r)
{ return surely_before(&g->l->dyns.data[x].epoch, epoch_of(g, r)) || (g->l->o.pre && r->releases && x < r->dyn); }

static bool out_of(const pr_gates *g, const gate *w, int y)
{ return surely_before(epoch_of(g, w), &g->l->dyns.data[y].epoch) || (g->l->o.post && w->acquires && w->dyn < y); }


/* The values that atomic e can return, of what has run: without itself and what its program does to the location later, and, other
 * not negative, without gate `other` and what its program does later. */
static void range_of(const pr_gates *g, const bool *done, int e, int other, pr_i128 *lo, pr_i128 *hi)
{
    const gate *x = &g->gates.data[e];
    cell c = g->cells.data[x->cell];
    int p = g->l->dyns.data[x->dyn].program, q = other >= 0 ? g->l->dyns.data[g->gates.data[other].dyn].program : -1;
    c.up = c.down = 0;
    c.lo = c.hi = c.start;
    for (int i = 0; i < g->gates.n; i++) {
        if (g->gates.data[i].cell != x->cell || (done && !done[i])) continue;
        int r = g->l->dyns.data[g->gates.data[i].dyn].program;
        if ((r == p && i >= e) || (r == q && i >= other)) continue;
        perform(&c, &g->gates.data[i]);
    }
    *lo = c.lo + c.down;
    *hi = c.hi + c.up;
}

/* Is the guard's value possible, when these writes have run? */
static bool possible(const pr_gates *g, const bool *done, const guard *k, int other)
{
    pr_i128 lo, hi;
    range_of(g, done, k->gate, other, &lo, &hi);
    if (fault(69)) hi--;
    return lo <= k->hi && hi >= k->lo;
}

/* Which wait or branch does its program surely come to? A wait that happens with all values between two bounds that an atomic before it returns, one
 * that acquires: whoever does not wait has got another value. Guard + 1; 0 = none. */
static int around(const pr_gates *g, const gate *w)
{
    for (int k = g->guard_of ? g->guard_of[w->dyn] : 0; k; k = g->guards.data[k - 1].next) {
        const guard *x = &g->guards.data[k - 1];
        if ((x->always || fault(75)) && (g->gates.data[x->gate].acquires || fault(76)) && x->lo <= x->hi) return k;
    }
    return 0;
}

/* Does the program of wait w not come through here yet? */
static bool holds_up(pr_gates *g, const gate *w)
{
    if (w->kind != GATE_WAITS || !w->acquires || w->cell < 0) return false;
    if (w->sure || fault(67)) return !can_end(g, w);
    int k = around(g, w);
    if (!k || can_end(g, w)) return false;
    const guard *x = &g->guards.data[k - 1];
    pr_i128 lo, hi;
    g->steps += g->gates.n / 16 + 1;
    range_of(g, g->done, x->gate, -1, &lo, &hi);
    return (lo >= x->lo && hi <= x->hi) || fault(77);
}

/* Does a barrier part y, or release r, from the wait and, when it may not happen, from the atomic that decides on it? */
static bool behind(const pr_gates *g, const gate *w, int y)
{
    if (!out_of(g, w, y)) return false;
    int k = w->sure ? 0 : around(g, w);
    return !k || out_of(g, &g->gates.data[g->guards.data[k - 1].gate], y);
}

static bool releases_behind(const pr_gates *g, const gate *w, const gate *r)
{
    if (!out_of(g, w, r->dyn) && !into(g, w->dyn, r)) return false;
    int k = w->sure ? 0 : around(g, w);
    const gate *e = k ? &g->gates.data[g->guards.data[k - 1].gate] : w;
    return !k || out_of(g, e, r->dyn) || into(g, e->dyn, r);
}

/* Does some atomic whose result decides whether dyn happens, a barrier before it, not return such a value yet? */
static bool guarded(pr_gates *g, const bool *done, int dyn)
{
    for (int k = g->guard_of ? g->guard_of[dyn] : 0; k; k = g->guards.data[k - 1].next) {
        const guard *x = &g->guards.data[k - 1];
        const gate *e = &g->gates.data[x->gate];
        if ((!e->acquires && !fault(68)) || !out_of(g, e, dyn)) continue;
        g->steps += g->gates.n / 16 + 1;
        if (!possible(g, done, x, -1)) return true;
    }
    return false;
}

/* Runs everything that can run; gate `self` is held back, too. first[program]: the first of its waits that cannot end, -1 = none. False: too long. */
static bool run_held(pr_gates *g, int program, int place, int self, int *first)
{
    int programs = g->l->first_dyn.n;
    bool moved = true;
    set_back(g);
    memset(g->done, 0, sizeof *g->done * (size_t)g->gates.n);
    memcpy(g->next, g->from, sizeof *g->next * (size_t)programs);
    while (moved) {
        moved = false;
        for (int p = 0; p < programs; p++) {
            first[p] = -1;
            bool past = true;
            for (int i = g->next[p]; i < g->from[p + 1]; i++) {
                gate *x = &g->gates.data[i];
                if (past) g->next[p] = i;
                if (x->kind == GATE_KEEPS || x->cell < 0) continue;
                if (++g->steps > MOST_STEPS) return false;
                if (x->kind == GATE_WAITS) {
                    if (first[p] < 0 && holds_up(g, x)) first[p] = i, past = false;
                    continue;
                }
                if (g->done[i]) continue;
                const gate *w = first[p] >= 0 ? &g->gates.data[first[p]] : NULL;
                if ((x->releases && w && releases_behind(g, w, x)) || i == self ||
                    (x->releases && p == program && into(g, place, x)) || (x->releases && guarded(g, g->done, x->dyn))) {
                    past = false;
                    continue;
                }
                g->done[i] = moved = true;
                perform(&g->cells.data[x->cell], x);
            }
            if (past) g->next[p] = g->from[p + 1];
        }
    }
    return true;
}

static bool same_place(const pr_gates *g, const held *h, int program, int dyn)
{
    if (g->l->o.pre) return h->dyn == dyn;
    const pr_interp_epoch *e = &g->l->dyns.data[dyn].epoch;
    const pr_interp_epoch *o = &g->l->dyns.data[h->dyn].epoch;
    return h->program == program && o->gen == e->gen && o->n == e->n && o->lo == e->lo && o->hi == e->hi;
}

static const held *held_at(pr_gates *g, int dyn)
{
    const pr_rdyn *d = &g->l->dyns.data[dyn];
    uint64_t h = ((uint64_t)d->program * 0x9E3779B97F4A7C15u ^ (uint64_t)d->epoch.n * 0xC2B2AE3D27D4EB4Fu) + (uint64_t)d->epoch.gen;
    int programs = g->l->first_dyn.n, at = (int)((h >> 20) % (uint64_t)g->table_size);
    for (; g->table[at]; at = (at + 1) % g->table_size)
        if (same_place(g, &g->held.data[g->table[at] - 1], d->program, dyn)) return &g->held.data[g->table[at] - 1];
    int kept = g->guards.n ? g->gates.n : 0;
    if (g->known + programs + kept > MOST_KNOWN || g->steps > MOST_STEPS || 2 * (g->held.n + 1) > g->table_size) return NULL;
    g->known += programs + kept;
    int *first = PR_NEW_N(g->l->arena, int, programs + 1);
    held x = {d->program, dyn, run_held(g, d->program, dyn, -1, first) ? first : NULL, NULL};
    if (kept) x.done = pr_arena_copy(g->l->arena, g->done, sizeof *g->done * (size_t)kept);
    pr_vec_push(g->l->arena, &g->held, x);
    g->table[at] = g->held.n;
    return &g->held.data[g->held.n - 1];
}

/* ---- additions that certainly come first -------------------------------------------------------- */
static void count_certain(gate *y, const gate *u)
{
    if (u->v > 0) y->up += u->v;
    else y->down += u->v;
}

/* What a program adds itself comes before what it reads of the same location later. */
static void count_own(pr_gates *g)
{
    pr_i128 *sum = PR_NEW_N(g->l->arena, pr_i128, 2 * g->cells.n + 1);
    for (int p = 0; p < g->l->first_dyn.n; p++) {
        memset(sum, 0, sizeof *sum * (size_t)(2 * g->cells.n));
        for (int i = g->from[p]; i < g->from[p + 1]; i++) {
            gate *x = &g->gates.data[i];
            if (x->cell < 0 || !g->cells.data[x->cell].followed) continue;
            x->up = sum[2 * x->cell];
            x->down = sum[2 * x->cell + 1];
            if (x->kind == GATE_ADDS && (x->sure || fault(73))) sum[2 * x->cell + (x->v > 0 ? 0 : 1)] += x->v;
        }
    }
}

/* Addition u does not run, nor does what its program releases a barrier behind it. Then a program cannot come through wait w: what that
 * program reads of the location of u a barrier behind w comes after u (what is under an unknown condition is left out until something
 * certain is found). since[program]: from which gate on it is counted, + 1. */
static bool count_one(pr_gates *g, int u, int *since, int *first, bool *more)
{
    const gate *x = &g->gates.data[u];
    int p = g->l->dyns.data[x->dyn].program;
    if (!run_held(g, p, x->dyn, u, first)) return false;
    for (int q = 0; q < g->l->first_dyn.n; q++) {
        if (q == p || first[q] < 0) continue;
        int end = since[q] ? since[q] - 1 : g->from[q + 1];
        for (int i = first[q] + 1, from = 0; i < end; i++) {
            gate *y = &g->gates.data[i];
            if (y->cell != x->cell || (!from && (!y->sure || !behind(g, &g->gates.data[first[q]], y->dyn)))) continue;
            if (!from) since[q] = from = i + 1;
            count_certain(y, x);
            *more = true;
        }
    }
    return true;
}

/* Until nothing more is found, the first additions of all programs before the second ones; what is found so far always holds. */
static void count_all(pr_gates *g, int *first)
{
    int programs = g->l->first_dyn.n, n = 0, most = 0;
    int *of = PR_NEW_N(g->l->arena, int, g->gates.n + 1);              /* by gate: its place among those of its program, + 1      */
    for (int p = 0; p < programs; p++)
        for (int i = g->from[p], k = 0; i < g->from[p + 1]; i++) {
            const gate *x = &g->gates.data[i];
            if (x->cell < 0 || !g->cells.data[x->cell].followed || x->kind != GATE_ADDS || !x->sure || !x->releases) continue;
            of[i] = ++k;
            n++;
            if (most < k) most = k;
        }
    if (!n) return;
    count_own(g);
    if ((int64_t)n * programs > MOST_KNOWN) return;
    int *at = PR_NEW_N(g->l->arena, int, n + 1), *since = PR_NEW_N(g->l->arena, int, n * programs + 1), m = 0;
    for (int k = 1; k <= most; k++)
        for (int p = 0; p < programs; p++)
            for (int i = g->from[p]; i < g->from[p + 1]; i++)
                if (of[i] == k) at[m++] = i;
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < n; i++)
            if (g->steps > MOST_STEPS / 2 || !count_one(g, at[i], since + (int64_t)i * programs, first, &more)) return;
    }
}

/* ---- guards ---------------------------------------------------------------------------------- */
/* A run with a result given does what the first run did, or leaves out what stands in a branch that is not taken. */
static void follow(void *user, const pr_interp_event *e)
{
    pr_gates *g = user;
    const pr_rlog *l = g->l;
    for (; g->at < g->end; g->at++) {
        const pr_rdyn *d = &l->dyns.data[g->at];
        const pr_rsite *s = &l->sites.data[d->site];
        if (s->op != e->op || s->n_calls != e->n_calls || memcmp(s->calls, e->calls, sizeof(int) * (size_t)e->n_calls)) continue;
        if (s->n_iter != e->n_iter) continue;
        if (e->n_iter && memcmp(l->iters.data + d->iter, e->iter, sizeof *e->iter * (size_t)e->n_iter)) continue;
        uint8_t active = e->n_lanes == 0;
        for (int64_t i = 0; i < e->n_lanes && !active; i++) active = pr_interp_lane(e, i).active != PR_NO;
        g->seen[g->at++] = active && e->n_lanes == 1 && pr_interp_lane(e, 0).active == PR_YES ? 2 : active;
        return;
    }
    g->strayed = true;
}

/* What happens only with some of the results of gate e, in its program? False: enough work was done. */
static bool find_guards(pr_gates *g, int e, int *runs, int64_t *least, int64_t *most, int *sure)
{
    pr_rlog *l = g->l;
    const gate *x = &g->gates.data[e];
    int p = l->dyns.data[x->dyn].program, from = l->first_dyn.data[p], to = p + 1 < l->first_dyn.n ? l->first_dyn.data[p + 1] : l->dyns.n;
    int64_t pid[3];
    pr_i128 lo, hi;
    range_of(g, NULL, e, -1, &lo, &hi);
    if (hi - lo >= MOST_VALUES) return true;
    if ((*runs += (int)(hi - lo) + 1) > MOST_RUNS) return false;
    pr_rlog_program(l, p, pid);
    for (int d = from; d < to; d++) least[d] = INT64_MAX, most[d] = INT64_MIN, sure[d] = 0;
    g->probing = true;
    g->number = x->dyn - from;
    g->strayed = false;
    bool whole = true;
    for (pr_i128 v = lo; v <= hi && whole && !g->strayed; v++) {
        g->value = (int64_t)v;
        memset(g->seen + from, 0, sizeof *g->seen * (size_t)(to - from));
        g->at = from;
        g->end = to;
        whole = pr_machine_run(l->machine, pid, follow, g) == PR_INTERP_DONE;
        for (int d = from; d < to; d++) {
            if (!g->seen[d]) continue;
            if (g->value < least[d]) least[d] = g->value;
            most[d] = g->value;
            sure[d] += g->seen[d] == 2;
        }
    }
    g->probing = false;
    tried all = {e, (int64_t)lo, (int64_t)hi};
    if (whole && !g->strayed) pr_vec_push(l->arena, &g->tried, all);
    for (int d = from; d < to && whole && !g->strayed; d++) {
        if (least[d] == (int64_t)lo && most[d] == (int64_t)hi) continue;
        guard k = {e, least[d], most[d], g->guard_of[d], sure[d] > 0 && sure[d] == most[d] - least[d] + 1};
        pr_vec_push(l->arena, &g->guards, k);
        g->guard_of[d] = g->guards.n;
    }
    return whole || g->strayed;
}

static void find_all_guards(pr_gates *g)
{
    pr_rlog *l = g->l;
    int runs = 0, n = l->dyns.n + 1;
    int64_t *least = NULL, *most = NULL;
    int *sure = NULL;
    for (int i = 0; i < g->gates.n; i++) {
        const gate *x = &g->gates.data[i];
        if (!x->wanted || !x->sure || x->cell < 0 || x->kind == GATE_WAITS || g->cells.data[x->cell].wraps) continue;
        if (!least) {
            least = PR_NEW_N(l->arena, int64_t, n);
            most = PR_NEW_N(l->arena, int64_t, n);
            sure = PR_NEW_N(l->arena, int, n);
            g->seen = PR_NEW_N(l->arena, uint8_t, n);
            g->guard_of = PR_NEW_N(l->arena, int, n);
        }
        if (!find_guards(g, i, &runs, least, most, sure)) return;
    }
}

const char *pr_gates_close(pr_gates *g, const pr_rev *ev, int64_t n)
{
    pr_rlog *l = g->l;
    int programs = l->first_dyn.n, k = 0;
    uint8_t *effect = PR_NEW_N(l->arena, uint8_t, l->dyns.n + 1);
    if (g->why) return g->why;
    for (int i = 0; i < g->gates.n; i++) {
        const gate *x = &g->gates.data[i];
        if (x->kind != GATE_ODD) effect[x->dyn] = 1;
        if (x->kind == GATE_WAITS || (x->wanted && x->sure)) insert_cell(g, x);
    }
    for (int i = 0; i < g->cells.n; i++) check_cell(g, &g->cells.data[i], ev, n, effect);
    for (int i = 0; i < g->gates.n; i++) {
        gate *x = &g->gates.data[i];
        int c = find_cell(g, x->addr);
        x->cell = c >= 0 && g->cells.data[c].usable && g->cells.data[c].width == x->width && device(site_of(g, x->dyn)) ? c : -1;
    }
    check_range(g);
    for (int i = 0; i < g->gates.n; i++)
        if (g->gates.data[i].cell >= 0 && !g->cells.data[g->gates.data[i].cell].usable) g->gates.data[i].cell = -1;
    g->from = PR_NEW_N(l->arena, int, programs + 2);
    for (int p = 0; p <= programs; p++) {
        int end = p < programs ? l->first_dyn.data[p] : l->dyns.n;
        while (k < g->gates.n && g->gates.data[k].dyn < end) k++;
        g->from[p] = k;
    }
    g->done = PR_NEW_N(l->arena, bool, g->gates.n + 1);
    g->next = PR_NEW_N(l->arena, int, programs + 1);
    g->table_size = 1 << 16;
    g->table = PR_NEW_N(l->arena, int, g->table_size);
    int *first = PR_NEW_N(l->arena, int, programs + 1);
    find_all_guards(g);
    count_all(g, first);
    g->last.x = g->last_apart.x = -1;
    if (!run_held(g, -1, 0, -1, first)) return "more atomics than are followed";
    for (int p = 0; p < programs; p++)
        if (first[p] >= 0) g->endless = true;
    return g->endless ? "a wait does not end, whatever the programs do" : NULL;
}

bool pr_gates_before(pr_gates *g, int x, int y)
{
    const pr_rdyn *b = &g->l->dyns.data[y];
    if ((!g->waits && !g->guards.n) || site_of(g, x)->via_desc || site_of(g, y)->via_desc) return false;
    if (g->last.x == x && g->last.y == y) return g->last.yes;
    const held *h = held_at(g, x);
    bool before = h && h->first && h->first[b->program] >= 0 && behind(g, &g->gates.data[h->first[b->program]], y);
    if (!before && h && h->first && h->done) before = guarded(g, h->done, y);
    g->last.x = x;
    g->last.y = y;
    g->last.yes = before;
    return before;
}

/* Can the atomic of a come before that of b in their location, each with a value of its guard? */
static bool in_order(const pr_gates *g, const guard *a, const guard *b)
{
    const gate *x = &g->gates.data[a->gate];
    pr_i128 lo, hi;
    if (!possible(g, NULL, a, b->gate)) return false;
    range_of(g, NULL, b->gate, -1, &lo, &hi);
    if (g->cells.data[x->cell].sum && x->v > 0) lo += x->v;       /* what a added is in the sum              */
    if (g->cells.data[x->cell].sum && x->v < 0) hi += x->v;
    return lo <= b->hi && hi >= b->lo;
}

bool pr_gates_inside(const pr_gates *g, int x, int y)
{
    int p = g->l->dyns.data[x].program;
    if ((!g->l->o.pre && !g->l->o.post) || site_of(g, x)->via_desc || site_of(g, y)->via_desc) return false;
    for (int i = g->from[p]; i < g->from[p + 1] && g->gates.data[i].dyn <= y; i++) {
        const gate *r = &g->gates.data[i];
        bool before = r->dyn > x && g->l->o.pre && r->releases, behind = r->dyn >= x && r->dyn < y && g->l->o.post && r->acquires &&
                      (r->wanted || r->kind == GATE_WAITS);      /* some releases have none behind an unused result */
        if (r->sure && (before || behind)) return true;
    }
    return false;
}

bool pr_gates_never(const pr_gates *g, int x)
{
    for (int k = g->guards.n ? g->guard_of[x] : 0; k; k = g->guards.data[k - 1].next)
        if (g->guards.data[k - 1].lo > g->guards.data[k - 1].hi) return true;      /* with no value that was tried */
    return false;
}

bool pr_gates_exclude(pr_gates *g, int x, int y)
{
    if (!g->guards.n || !g->guard_of[x] || !g->guard_of[y]) return false;
    if (g->last_apart.x == x && g->last_apart.y == y) return g->last_apart.yes;
    bool apart = false;
    for (int i = g->guard_of[x]; i && !apart; i = g->guards.data[i - 1].next)
        for (int j = g->guard_of[y]; j; j = g->guards.data[j - 1].next) {
            const guard *a = &g->guards.data[i - 1], *b = &g->guards.data[j - 1];
            if (g->gates.data[a->gate].cell != g->gates.data[b->gate].cell) continue;
            if ((g->steps += g->gates.n / 4 + 1) > MOST_STEPS) return false;
            if (!in_order(g, a, b) && !in_order(g, b, a)) apart = true;
        }
    g->last_apart.x = x;
    g->last_apart.y = y;
    g->last_apart.yes = apart;
    return apart;
}

/* ---- as text, for certificates --------------------------------------------------------------- */
static void print_condition(const pr_gates *g, pr_buf *b, const gate *x)
{
    const pr_wait_expr *e = x->goes_on;
    pr_buf_printf(b, "(while (leaves %d", e->width[0]);
    for (int i = 1; i < e->n_leaves; i++) {
        if (x->leaf[i] >= 0) pr_buf_printf(b, " (%d %d)", e->width[i], g->gates.data[x->leaf[i]].dyn);
        else pr_buf_printf(b, " (%d ?)", e->width[i]);
    }
    pr_buf_puts(b, ")");
    for (int i = 0; i < e->n; i++) {
        const pr_wait_node *n = &e->node[i];
        if (n->op == PR_WAIT_OPAQUE) pr_buf_printf(b, " (unknown %d)", n->w);
        else if (n->op == PR_WAIT_CONST) pr_buf_printf(b, " (value %d %llu)", n->w, (unsigned long long)n->x);
        else if (n->op == PR_WAIT_LEAF) pr_buf_printf(b, " (leaf %d %d)", n->w, n->a);
        else pr_buf_printf(b, " (%s %d %d %d %d %d)", pr_opcode_name(n->op), n->w, n->from, n->c, n->a, n->b);
    }
    pr_buf_putc(b, ')');
}

static void print_gate(const pr_gates *g, pr_buf *b, const gate *x)
{
    pr_buf_printf(b, "(atomic %d (once %s) (result %s) (given", x->dyn, x->once ? "yes" : "no", x->wanted ? "used" : "unused");
    for (int k = 0; k < 2; k++) {
        if (x->is_given[k]) pr_buf_printf(b, " %lld", (long long)x->given[k]);
        else pr_buf_puts(b, " ?");
    }
    pr_buf_puts(b, ")");
    if (x->kind == GATE_WAITS) {
        pr_buf_puts(b, " (waits ");
        if (x->goes_on) print_condition(g, b, x);
        else if (x->single) pr_buf_printf(b, "(for %lld)", (long long)x->lo);
        else pr_buf_printf(b, "(while-between %lld %lld)", (long long)x->lo, (long long)x->hi);
        pr_buf_putc(b, ')');
    }
    pr_buf_puts(b, ")\n");
}

void pr_gates_print(const pr_gates *g, pr_buf *b)
{
    if (g->l->o.pre || g->l->o.post) pr_buf_printf(b, "(compiler%s%s)\n", g->l->o.pre ? " release" : "", g->l->o.post ? " acquire" : "");
    for (int i = 0; i < g->gates.n; i++) {
        const gate *x = &g->gates.data[i];
        if (i + 1 < g->gates.n && g->gates.data[i + 1].dyn == x->dyn) continue;      /* the wait says the same of its poll */
        print_gate(g, b, x);
    }
    for (int i = 0; i < g->tried.n; i++)
        pr_buf_printf(b, "(tried %d %lld %lld)\n", g->gates.data[g->tried.data[i].gate].dyn, (long long)g->tried.data[i].lo, (long long)g->tried.data[i].hi);
    for (int d = 0; g->guard_of && d < g->l->dyns.n; d++)
        for (int k = g->guard_of[d]; k; k = g->guards.data[k - 1].next) {
            const guard *x = &g->guards.data[k - 1];
            pr_buf_printf(b, "(only %d %d %lld %lld%s)\n", d, g->gates.data[x->gate].dyn, (long long)x->lo, (long long)x->hi, x->always ? " always" : "");
        }
}
