/* Runs programs twice on one memory and compares what they left.
 *
 * The memory holds elements: all accesses of one storage must have one type and alignment, else the search ends. Two programs may
 * meet only in atomics of one operation that commutes: what one run leaves is then the same in every order. */
#include <stdio.h>
#include "front/again.h"
#include "front/interp_core.h"

enum { NOBODY = -1, SEVERAL = -2, FEW = 1 << 10, MOST = 1 << 16, MOST_PROGRAMS = 256, TRIES = PR_AGAIN_TRIES };
enum { AND = 1, OR, XOR, ADD, FADD, MAX, MIN, UMAX, UMIN, XCHG };      /* as the text numbers them */

typedef struct cell {
    uint64_t addr, now, first;
    const pr_op *op;
    const int *calls; int n_calls;
    int region, reader, writer, adder, rmw, n_rmw;   /* programs of this run; operation of its atomics */
    bool used, known, first_known, written;
} cell;

typedef struct region { int width; bool is_float; const pr_type *type; } region;

typedef struct memory {
    pr_arena *arena;
    const pr_interp_setup *setup;
    const pr_again_arg *args;
    region *regions;
    cell *cells; int n, size;
    int pattern, program;
    bool chosen;
    bool stale;                  /* ask only whether elements are stored before they are read (reader: by whom they were read too early) */
    bool alone;                  /* the second run of some programs: what they did not touch before, others may have written */
} memory;

static uint64_t hash(uint64_t x)
{
    x = (x ^ x >> 31) * 0x9E3779B97F4A7C15u;
    return x ^ x >> 29;
}

/* Storage of all bytes of the access, -1: none, or another one holds a part of it */
static int region_of(const memory *m, uint64_t addr, int width)
{
    for (int i = 0; i < m->setup->n_args; i++) {
        const pr_again_arg *a = &m->args[i];
        if (!a->tensor || addr >= a->hi || addr + (uint64_t)width <= a->lo) continue;
        return addr >= a->lo && addr + (uint64_t)width <= a->hi ? i : -1;
    }
    return -1;
}

int64_t pr_again_choice(const pr_again_arg *a, int pattern, uint64_t addr)
{
    int64_t v = (int64_t)(hash(addr / (uint64_t)a->elem_bytes + 1) % 7);      /* 0 .. 6 */
    if (a->is_bool) return v & 1;
    return pattern == 0 ? v + 1 : a->is_unsigned ? v : v - 3;
}

/* What the element holds before the launch; false: not known. */
static bool initial(memory *m, const region *r, int at, uint64_t addr, uint64_t *out)
{
    const pr_again_arg *a = &m->args[at];
    uint64_t mask = pr_bits_mask(8 * r->width);
    for (int i = 0; i < m->setup->n_args; i++) {
        const pr_interp_arg *g = &m->setup->args[i];
        uint64_t from = (uint64_t)g->value;
        if (g->kind != PR_INTERP_ARG_POINTER || !g->values || !m->args[i].tensor) continue;
        if (addr + (uint64_t)r->width <= from || addr >= from + (uint64_t)g->n_values * (uint64_t)g->elem_bytes) continue;
        if (r->is_float || g->elem_bytes != r->width || (addr - from) % (uint64_t)r->width) return false;
        *out = (uint64_t)g->values[(addr - from) / (uint64_t)r->width] & mask;
        return true;
    }
    m->chosen = true;
    if (a->elem_bytes != r->width) return false;       /* bytes of another type than the tensor's */
    int64_t v = pr_again_choice(a, m->pattern, addr);
    if (r->is_float) return pr_float_value(r->type, v, out);
    *out = (uint64_t)v & mask;
    return true;
}

/* Does the launch give what the byte holds? */
static bool given(const memory *m, uint64_t addr)
{
    for (int i = 0; i < m->setup->n_args; i++) {
        const pr_interp_arg *g = &m->setup->args[i];
        uint64_t from = (uint64_t)g->value;
        if (g->kind == PR_INTERP_ARG_POINTER && g->values && addr >= from && addr < from + (uint64_t)g->n_values * (uint64_t)g->elem_bytes) return true;
    }
    return false;
}

static bool grow(memory *m)
{
    int size = m->size ? 4 * m->size : FEW;
    cell *old = m->cells;
    if (size > MOST) return false;
    m->cells = PR_NEW_N(m->arena, cell, size);
    for (int i = 0; i < m->size; i++) {
        if (!old[i].used) continue;
        uint64_t h = hash(old[i].addr);
        while (m->cells[h & (uint64_t)(size - 1)].used) h++;
        m->cells[h & (uint64_t)(size - 1)] = old[i];
    }
    m->size = size;
    return true;
}

static cell *find(memory *m, uint64_t addr, int width, const pr_type *type)
{
    if (2 * m->n >= m->size && !grow(m)) return NULL;
    uint64_t h = hash(addr), mask = (uint64_t)(m->size - 1);
    while (m->cells[h & mask].used && m->cells[h & mask].addr != addr) h++;
    cell *c = &m->cells[h & mask];
    int at = c->used ? c->region : region_of(m, addr, width);
    if (at < 0) return NULL;
    region *r = &m->regions[at];
    if (!r->width) *r = (region){ width, pr_float_type(type), type };
    if (r->width != width) return NULL;
    if (r->type != type && (r->is_float || pr_float_type(type)) && !pr_str_eq(r->type->text, type->text)) return NULL;
    if (c->used) return c;
    if (addr % (uint64_t)width) return NULL;
    *c = (cell){ .addr = addr, .region = at, .reader = NOBODY, .writer = NOBODY, .adder = NOBODY, .rmw = NOBODY, .used = true };
    c->known = !m->alone && (!m->stale || given(m, addr)) && initial(m, r, at, addr, &c->now);
    m->n++;
    return c;
}

/* What an atomic leaves. */
static bool combine(int op, uint64_t x, uint64_t y, int bits, uint64_t *out)
{
    int64_t a = pr_bits_signed(x, bits), b = pr_bits_signed(y, bits);
    switch (op) {
    case AND: *out = x & y; return true;
    case OR: *out = x | y; return true;
    case XOR: *out = x ^ y; return true;
    case ADD: *out = (x + y) & pr_bits_mask(bits); return true;
    case MAX: *out = a > b ? x : y; return true;
    case MIN: *out = a < b ? x : y; return true;
    case UMAX: *out = x > y ? x : y; return true;
    case UMIN: *out = x < y ? x : y; return true;
    default: return false;
    }
}

static bool other(int who, int me) { return who != NOBODY && who != me; }

static bool atomic(memory *m, cell *c, const pr_interp_event *e, const pr_interp_touch *t)
{
    int op = (int)pr_op_attr_int(e->op, "atomic_rmw_op", 0);
    const region *r = &m->regions[c->region];
    if (other(c->reader, m->program) || other(c->writer, m->program) || (c->rmw != NOBODY && c->rmw != op)) return false;
    if (op == XCHG && c->n_rmw) return false;      /* the last one stays: which is that? */
    bool known = t->data_known[0];
    if (op == XCHG) c->now = t->data[0];
    else if (op == FADD) known = known && c->known && !c->n_rmw && r->is_float && pr_float_add(r->type, c->now, t->data[0], &c->now);
    else known = known && c->known && !r->is_float && combine(op, c->now, t->data[0], 8 * e->width, &c->now);
    c->known = known;
    c->rmw = op;
    c->n_rmw++;
    c->adder = other(c->adder, m->program) ? SEVERAL : m->program;
    return true;
}

static bool touch(void *user, const pr_interp_event *e, pr_interp_touch *t)
{
    memory *m = user;
    bool load = e->kind == PR_INTERP_LOAD;
    if ((!load && e->kind != PR_INTERP_STORE && e->kind != PR_INTERP_RMW) || e->width < 1 || e->width > 8) return false;
    const pr_type *type = load ? (e->op->n_results ? e->op->results[0]->type : NULL) : e->op->n_operands > 1 ? e->op->operands[1]->type : NULL;
    cell *c = type ? find(m, t->addr, e->width, pr_type_scalar(type)) : NULL;
    if (!c) return false;
    t->old = c->now;
    t->old_known = c->known && load;         /* what an atomic returns may depend on the order */
    if (e->kind == PR_INTERP_RMW) {
        if (!atomic(m, c, e, t)) return false;
    } else if (load) {
        if (other(c->writer, m->program) || other(c->adder, m->program)) return false;
        c->reader = other(c->reader, m->program) ? SEVERAL : m->program;
        return true;
    } else {
        if (other(c->reader, m->program) || other(c->writer, m->program) || other(c->adder, m->program)) return false;
        c->writer = m->program;
        c->now = t->data[0];
        c->known = t->data_known[0];
        if (!m->regions[c->region].is_float) c->now &= pr_bits_mask(8 * e->width);
    }
    c->written = true;
    c->op = e->op;
    if (e->n_calls != c->n_calls || (e->n_calls && memcmp(e->calls, c->calls, sizeof *e->calls * (size_t)e->n_calls))) {
        int *calls = PR_NEW_N(m->arena, int, e->n_calls + 1);
        if (e->n_calls) memcpy(calls, e->calls, sizeof *calls * (size_t)e->n_calls);
        c->calls = calls;
        c->n_calls = e->n_calls;
    }
    return true;
}

/* The same for pr_again_settles. */
static bool touch_stale(void *user, const pr_interp_event *e, pr_interp_touch *t)
{
    memory *m = user;
    bool load = e->kind == PR_INTERP_LOAD;
    if ((!load && e->kind != PR_INTERP_STORE) || e->width < 1 || e->width > 8) return false;
    const pr_type *type = load ? (e->op->n_results ? e->op->results[0]->type : NULL) : e->op->n_operands > 1 ? e->op->operands[1]->type : NULL;
    cell *c = type ? find(m, t->addr, e->width, pr_type_scalar(type)) : NULL;
    if (!c) return false;
    t->old = c->now;
    t->old_known = c->known;
    if (load && c->writer != m->program) c->reader = m->program;
    if (!load) {
        c->known = false;
        c->written = true;
        c->writer = m->program;
    }
    return !(c->written && c->reader != NOBODY);
}

static void ignore(void *user, const pr_interp_event *e) { (void)user, (void)e; }

/* False: nothing is known of this run. */
static bool run_once(memory *m, pr_machine *machine, int64_t first, int64_t n)
{
    const int64_t *g = m->setup->grid;
    for (int i = 0; i < m->size; i++) {
        cell *c = &m->cells[i];
        c->reader = c->writer = c->adder = c->rmw = NOBODY;
        c->n_rmw = 0;
    }
    for (int64_t p = first; p < first + n; p++) {
        int64_t pid[3] = { p % g[0], p / g[0] % g[1], p / g[0] / g[1] };
        const pr_interp_note *notes;
        m->program = (int)(p - first);
        if (pr_machine_run(machine, pid, ignore, NULL) != PR_INTERP_DONE || pr_machine_ub(machine)) return false;
        if (pr_machine_notes(machine, &notes)) return false;
    }
    return true;
}

/* Do the two values certainly differ? */
static bool apart(const region *r, uint64_t x, uint64_t y)
{
    double a, b, c, d;
    if (!r->is_float) return x != y;
    pr_float_ends(x, &a, &b);
    pr_float_ends(y, &c, &d);
    return b < c || d < a;
}

static void spell(const region *r, const pr_again_arg *a, uint64_t x, char *out, size_t n)
{
    double lo, hi;
    if (!r->is_float && (a->is_unsigned || a->is_bool)) {
        snprintf(out, n, "%llu", (unsigned long long)x);
    } else if (!r->is_float) {
        snprintf(out, n, "%lld", (long long)pr_bits_signed(x, 8 * r->width));
    } else {
        pr_float_ends(x, &lo, &hi);
        snprintf(out, n, lo == hi ? "%.9g" : "about %.5g", lo + (hi - lo) / 2);
    }
}

static void compare(const memory *m, pr_again_result *out)
{
    const cell *best = NULL;
    bool written = false;
    for (int i = 0; i < m->size; i++) {
        const cell *c = &m->cells[i];
        written = written || (c->used && c->written);
        if (c->used && c->written && c->known && c->first_known) out->hopeless = false;
        if (!c->used || !c->written || !c->known || !c->first_known || !apart(&m->regions[c->region], c->first, c->now)) continue;
        if (!best || c->addr < best->addr) best = c;
    }
    if (!written) out->hopeless = false;         /* this program has nothing to do */
    if (!best) return;
    const region *r = &m->regions[best->region];
    *out = (pr_again_result){ .differs = true, .chosen = m->chosen, .pattern = m->pattern, .arg = best->region, .addr = best->addr, .width = r->width, .op = best->op,
                              .calls = best->calls, .n_calls = best->n_calls };
    spell(r, &m->args[best->region], best->first, out->once, sizeof out->once);
    spell(r, &m->args[best->region], best->now, out->twice, sizeof out->twice);
}

/* Programs first .. first + n - 1, twice. */
static void run_twice(memory *m, pr_machine *machine, int64_t first, int64_t n, pr_again_result *out)
{
    m->chosen = false;
    m->n = 0;
    memset(m->regions, 0, sizeof *m->regions * (size_t)m->setup->n_args);
    if (m->size) memset(m->cells, 0, sizeof *m->cells * (size_t)m->size);
    out->hopeless = true;
    if (!run_once(m, machine, first, n)) return;
    for (int i = 0; i < m->size; i++) {
        m->cells[i].first = m->cells[i].now;
        m->cells[i].first_known = m->cells[i].known;
    }
    m->alone = n < m->setup->grid[0] * m->setup->grid[1] * m->setup->grid[2];
    bool done = run_once(m, machine, first, n);
    m->alone = false;
    if (done) compare(m, out);
}

/* 0: too many */
static int64_t count_programs(const pr_interp_setup *s)
{
    int64_t n = 1;
    for (int i = 0; i < 3; i++)
        if (s->grid[i] < 1 || s->grid[i] > INT32_MAX || (n *= s->grid[i]) > INT32_MAX) return 0;
    return n;
}

pr_again_result pr_again_run(pr_arena *arena, const pr_interp_setup *setup, const pr_again_arg *args, bool all, int from, int to, int64_t work)
{
    pr_again_result out = { 0 };
    pr_interp_setup s = *setup;
    memory m = { .arena = arena, .setup = setup, .args = args, .regions = PR_NEW_N(arena, region, setup->n_args + 1) };
    int64_t programs = count_programs(setup);
    if (!programs || (all && programs > MOST_PROGRAMS)) return out;
    s.touch = touch;
    s.touch_user = &m;
    s.floats = true;
    s.max_work = work;
    pr_machine *machine = pr_machine_new(arena, &s);
    pr_machine_set_shared_work(machine);
    const int64_t tried[TRIES] = { 0, 0, programs - 1, programs / 2 };
    for (int i = from; i < to && !out.differs && !out.hopeless; i++) {
        m.pattern = i == 1 || i == 3;
        if (i > 1 && (all || tried[i] == 0 || (i == 3 && tried[i] == tried[2]))) continue;
        if (all) run_twice(&m, machine, 0, programs, &out);
        else run_twice(&m, machine, tried[i], 1, &out);
    }
    return out;
}

bool pr_again_settles(pr_arena *arena, const pr_interp_setup *setup, const pr_again_arg *args, int64_t work)
{
    pr_interp_setup s = *setup;
    memory m = { .arena = arena, .setup = setup, .args = args, .regions = PR_NEW_N(arena, region, setup->n_args + 1), .stale = true };
    int64_t programs = count_programs(setup);
    if (!programs) return false;
    s.touch = touch_stale;
    s.touch_user = &m;
    s.max_work = work;
    pr_machine *machine = pr_machine_new(arena, &s);
    pr_machine_set_shared_work(machine);
    return run_once(&m, machine, 0, programs);
}
