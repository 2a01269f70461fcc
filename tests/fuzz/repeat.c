/* Does a second run of a launch on the same buffers leave the same bytes? By execution, with a memory of its own. */
#include "repeat.h"
#include "gen.h"

enum { CELLS = 1 << 15 };            /* bytes that one launch may touch                                */

typedef struct byte { uint64_t addr; uint8_t now, first; bool used, known, first_known, written; } byte;
typedef struct memory {
    const pr_interp_setup *setup;
    const pr_replay_storage *storage;
    uint64_t seed;
    bool small, outside;
    const pr_again_arg *choose;          /* contents by pr_again_choice, not by seed */
    int pattern;
    bool down;                           /* the last program first */
    int used;
    byte *cell;
} memory;

/* The argument whose contents hold addr, and the storage of some argument. */
static bool inside(const memory *m, uint64_t addr)
{
    for (int i = 0; i < m->setup->n_args; i++)
        if (m->storage[i].known && addr >= m->storage[i].lo && addr < m->storage[i].hi) return true;
    return false;
}

static uint8_t initial(const memory *m, uint64_t addr)
{
    int width = 4;
    uint64_t from = 0;
    int owner = -1;
    for (int i = 0; i < m->setup->n_args; i++) {
        const pr_interp_arg *a = &m->setup->args[i];
        uint64_t at = (uint64_t)a->value;
        if (a->kind != PR_INTERP_ARG_POINTER || addr < m->storage[i].lo || addr >= m->storage[i].hi) continue;
        width = a->elem_bytes ? a->elem_bytes : m->choose && m->choose[i].elem_bytes ? m->choose[i].elem_bytes : 1;
        from = at;
        if (owner < 0) owner = i;
        if (a->values && addr >= at && addr < at + (uint64_t)a->n_values * (uint64_t)width)
            return (uint8_t)((uint64_t)a->values[(addr - at) / (uint64_t)width] >> (8 * ((addr - at) % (uint64_t)width)));
    }
    if (m->choose && owner >= 0) {       /* of the first storage that holds it */
        uint64_t w = (uint64_t)m->choose[owner].elem_bytes;
        return (uint8_t)((uint64_t)pr_again_choice(&m->choose[owner], m->pattern, addr - addr % w) >> (8 * (addr % w)));
    }
    uint64_t state = m->seed ^ (addr * 0x9E3779B97F4A7C15u);
    uint64_t x = gen_rng_next(&state) >> 24;
    if (!m->small) return (uint8_t)x;
    return (addr - from) % (uint64_t)width == 0 ? (uint8_t)(x % 8) : 0;
}

static byte *find(memory *m, uint64_t addr)
{
    uint64_t h = (addr * 0x9E3779B97F4A7C15u) >> 40;
    byte *b = &m->cell[h % CELLS];
    while (b->used && b->addr != addr) b = &m->cell[++h % CELLS];
    if (b->used) return b;
    if (m->used > CELLS / 2 || !inside(m, addr)) {
        m->outside = true;
        return NULL;
    }
    m->used++;
    *b = (byte){ .addr = addr, .used = true, .known = true, .now = initial(m, addr), .first_known = true };
    b->first = b->now;
    return b;
}

/* What an atomic leaves; false when that is not known. */
static bool combine(int op, uint64_t a, uint64_t b, int bits, uint64_t *out)
{
    uint64_t mask = bits >= 64 ? ~0ull : (1ull << bits) - 1;
    int64_t x = (int64_t)(a << (64 - bits)) >> (64 - bits), y = (int64_t)(b << (64 - bits)) >> (64 - bits);
    a &= mask;
    b &= mask;
    switch (op) {
    case 1: *out = a & b; return true;
    case 2: *out = a | b; return true;
    case 3: *out = a ^ b; return true;
    case 4: *out = (a + b) & mask; return true;
    case 6: *out = x > y ? a : b; return true;
    case 7: *out = x < y ? a : b; return true;
    case 8: *out = a > b ? a : b; return true;
    case 9: *out = a < b ? a : b; return true;
    case 10: *out = b; return true;
    default: return false;
    }
}

static bool touch(void *user, const pr_interp_event *e, pr_interp_touch *t)
{
    memory *m = user;
    byte *at[16];
    int w = e->width, bits = 8 * w;
    if (w > 16) return false;
    t->old = 0;
    t->old_known = w <= 8;
    for (int i = 0; i < w; i++) {
        if (!(at[i] = find(m, t->addr + (uint64_t)i))) return false;
        if (!at[i]->known) t->old_known = false;
        else if (i < 8) t->old |= (uint64_t)at[i]->now << (8 * i);
    }
    uint64_t mask = bits >= 64 ? ~0ull : (1ull << bits) - 1, fresh = 0;
    bool writes = false, known = false;
    switch (e->kind) {
    case PR_INTERP_LOAD: case PR_INTERP_ATOMIC_LOAD: return true;
    case PR_INTERP_STORE: case PR_INTERP_ATOMIC_STORE:
        writes = true;
        fresh = t->data[0];
        known = t->data_known[0];
        break;
    case PR_INTERP_RMW: {
        int op = (int)pr_op_attr_int(e->op, "atomic_rmw_op", 0);
        writes = true;
        known = bits <= 64 && t->data_known[0] && (t->old_known || op == 10) && combine(op, t->old, t->data[0], bits, &fresh);
        break;
    }
    case PR_INTERP_CAS:
        if (!t->old_known || !t->data_known[0]) return false;
        writes = ((t->old ^ t->data[0]) & mask) == 0;
        fresh = t->data[1];
        known = t->data_known[1];
        break;
    case PR_INTERP_POLL: return false;
    }
    for (int i = 0; writes && i < w; i++) {
        at[i]->written = true;
        at[i]->known = known && i < 8;
        at[i]->now = i < 8 ? (uint8_t)(fresh >> (8 * i)) : 0;
    }
    return true;
}

static void ignore(void *user, const pr_interp_event *e) { (void)user, (void)e; }

static repeat_result run(pr_arena *arena, const pr_interp_setup *setup, memory *w)
{
    repeat_result r = { 0 };
    pr_interp_setup s = *setup;
    w->cell = PR_NEW_N(arena, byte, CELLS);
    s.touch = touch;
    s.touch_user = w;
    pr_machine *machine = pr_machine_new(arena, &s);
    int64_t n = s.grid[0] * s.grid[1] * s.grid[2];
    for (int time = 0; time < 2; time++) {
        for (int64_t k = 0; k < n; k++) {
            int64_t p = w->down ? n - 1 - k : k;
            int64_t pid[3] = { p % s.grid[0], p / s.grid[0] % s.grid[1], p / s.grid[0] / s.grid[1] };
            if (pr_machine_run(machine, pid, ignore, NULL) != PR_INTERP_DONE || w->outside || pr_machine_ub(machine)) return r;
        }
        for (int i = 0; i < CELLS; i++) {
            byte *b = &w->cell[i];
            if (time == 0) b->first = b->now, b->first_known = b->known;
            if (time == 0 || !b->written) continue;
            r.bytes++;
            if (!b->known || !b->first_known) continue;
            r.known++;
            if (b->now != b->first && !r.differs) r.differs = b->addr;
        }
    }
    r.followed = true;
    return r;
}

repeat_result repeat_launch(pr_arena *arena, const pr_interp_setup *setup, const pr_replay_storage *storage, uint64_t seed, bool small)
{
    memory m = { .setup = setup, .storage = storage, .seed = seed, .small = small };
    return run(arena, setup, &m);
}

pr_tri repeat_at(pr_arena *arena, const pr_interp_setup *setup, const pr_replay_storage *storage, const pr_again_arg *choose, int pattern,
                 uint64_t addr, int width, bool down)
{
    memory m = { .setup = setup, .storage = storage, .choose = choose, .pattern = pattern, .down = down };
    bool differs = false;
    if (!run(arena, setup, &m).followed) return PR_MAYBE;
    for (int i = 0; i < width; i++) {
        const byte *b = find(&m, addr + (uint64_t)i);
        if (!b || !b->known || !b->first_known) return PR_MAYBE;
        differs = differs || b->now != b->first;
    }
    return differs ? PR_YES : PR_NO;
}
