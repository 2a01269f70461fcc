/* The order of the atomics at one cell, where the grid is known (sync.h: cell order).
 *
 * The executions that may touch the cell are listed program by program: every record that can write it, evaluated at every
 * program id. Each runs at most once, so a search over (value of the cell, what has run) finds every order there can be, and
 * with it which results two atomics can have together and in which order. Nothing says that an execution must happen, except
 * what stands before another of its own program on the same path, or runs whatever memory holds. Executions of one program
 * keep their order (G6), so a wait holds up what stands behind it: turns, whoever waits, gives back or resets. Programs that
 * do the same are counted, not told apart; where there are too many states, the other programs' order is left out.
 *
 * Operands may be results of atomics: their values are the least fixed point over all cells, starting with the initial
 * contents. That is what "no value out of thin air" says: a result is what a chain of writes left, each of whose operands
 * was read before in a relation without circles. Nothing that depends on program order is used for it. */
#include "hb/decide.h"
#include "hb/ladder.h"
#include "hb/order.h"
#include "hb/sync.h"
#include <stddef.h>
#include <stdlib.h>

enum { MOST_PROGRAMS = 1 << 12, MOST_STEPS = 1 << 12, MOST_KINDS = 8, MOST_SLOTS = 48, MOST_STATES = 1 << 13, FIRST_SLOTS = 1 << 10, MOST_SEARCHED = 1 << 19,
       MOST_PAIRS = 256, MOST_OBSERVED = 3, MOST_TUPLES = 256 };

/* One record in one program. */
typedef struct step {
    int record, event, program, seq, kind, class;
    bool sure;                     /* runs when its program comes there, whatever memory holds                */
    bool floats;                   /* a wait inside loops: it reads at any time                        */
    bool keeps;                    /* it leaves the cell as it is, whatever it finds                    */
    pr_i128 addr;
    const pr_vset *value, *cmp;
    unsigned next[PR_VSET_MAX];    /* by value of the cell: what it may leave, as a set of values          */
    unsigned exits;                /* values that it can have seen: all, or those for which a wait ends    */
} step;

typedef struct cell { int from, to; pr_vset init, values; bool open, loose; } cell;

typedef struct cells {
    pr_encoding *e; pr_sync *y; pr_arena *scratch;
    step *s; int n;
    cell *cell; int n_cells;
    pr_i128 *value; bool *known; pr_env env;
    pr_term *obs;                  /* by event                                                  */
    bool *usable;                  /* by event: all its cells are followed                            */
    pr_vset *seen;                 /* by event                                                  */
    int64_t left;                  /* states that may still be looked at                            */
} cells;

static const pr_record *record(const cells *c, int i) { return &c->e->records->records.data[i]; }
static pr_term apply(const pr_side *s, pr_term t) { return pr_term_none(t) ? t : pr_subst_apply((pr_subst *)&s->subst, t); }

static int event_of(const pr_sync *y, int record)
{
    for (int i = 0; i < y->events.n; i++)
        if (y->events.data[i].record == record) return i;
    return -1;
}

static void set_program(cells *c, const pr_side *s, int64_t p)
{
    const int64_t *n = c->e->extent, id[3] = { p % n[0], p / n[0] % n[1], p / n[0] / n[1] };
    for (int i = 0; i < 3; i++) {
        if (pr_term_op_of(c->e->terms, s->pid[i]) != PR_TERM_OP_VAR) continue;
        pr_var v = pr_term_var(c->e->terms, s->pid[i]);
        c->value[v.id] = id[i];
        c->known[v.id] = true;
    }
}

/* ---- what may run where ----------------------------------------------------------------------- */

static bool at_most_once(const cells *c, int i)
{
    const pr_record *r = record(c, i);
    for (int d = 0; d < r->rank; d++)
        if (r->shape[d] > 1) return false;
    return pr_order_outside_loops(r) || c->e->options->fault == 43;
}

/* Every writer of the event's location runs at most once a program, or leaves the value as it is. */
static bool followed(cells *c, const pr_sync_event *v)
{
    if (!v->closed || v->but_for_plain) return false;
    for (int i = 0; i < v->n_writers; i++)
        if (!at_most_once(c, v->writers[i]) && !pr_sync_identity(c->e, v->writers[i])) return false;
    return true;
}

/* The record's executions, one a program. False: some address is not known. */
static bool list_steps(cells *c, int r, int64_t programs)
{
    const pr_side *s = pr_encoding_side(c->e, r, PR_SIDE_A);
    int event = event_of(c->y, r);
    if (s->dead) return true;
    if (s->refused) return false;
    bool keeps = pr_sync_identity(c->e, r);
    for (int64_t p = 0; p < programs; p++) {
        set_program(c, s, p);
        bool active = true, sure = true;    /* what cannot be evaluated may run */
        pr_i128 x, addr;
        for (int i = 0; i < s->active.n && active; i++) {
            bool known = pr_eval(c->e->terms, s->active.data[i], &c->env, &x);
            active = !known || x;
            sure = sure && known;
        }
        if (!active) continue;
        if (!pr_eval(c->e->terms, s->addr, &c->env, &addr) || c->n == MOST_STEPS) return false;
        c->s[c->n++] = (step){ .record = r, .event = event, .program = (int)p, .seq = record(c, r)->seq, .addr = addr, .sure = sure, .keeps = keeps,
                               .floats = event >= 0 && c->y->events.data[event].in_loop };
    }
    return true;
}

static int by_place(const void *a, const void *b)
{
    const step *x = a, *y = b;
    if (x->addr != y->addr) return x->addr < y->addr ? -1 : 1;
    if (x->program != y->program) return x->program - y->program;
    if (x->seq != y->seq) return x->seq - y->seq;
    return x->record - y->record;
}

static bool list_all(cells *c)
{
    int64_t programs = 1;
    for (int i = 0; i < 3; i++) {
        if (!c->e->fixed[i] || c->e->extent[i] > MOST_PROGRAMS) return false;
        programs *= c->e->extent[i];
        if (programs > MOST_PROGRAMS) return false;
    }
    int n = c->e->records->records.n;
    bool *listed = PR_NEW_N(c->scratch, bool, n + 1), *bad = PR_NEW_N(c->scratch, bool, n + 1);
    for (int i = 0; i < c->y->events.n; i++) {
        const pr_sync_event *v = &c->y->events.data[i];
        c->usable[i] = followed(c, v);
        for (int k = -1; k < v->n_writers && c->usable[i]; k++) {
            int r = k < 0 ? v->record : v->writers[k];
            if (k >= 0 && pr_sync_identity(c->e, r)) continue;
            if (!listed[r]) bad[r] = !list_steps(c, r, programs);
            listed[r] = true;
            if (bad[r]) c->usable[i] = false;
        }
    }
    qsort(c->s, (size_t)c->n, sizeof *c->s, by_place);
    int places = 0;
    for (int i = 0; i < c->n; i++) places += !i || c->s[i].addr != c->s[i - 1].addr;
    c->cell = PR_NEW_N(c->scratch, cell, places + 1);
    for (int i = 0; i < c->n; i++) {
        if (!i || c->s[i].addr != c->s[i - 1].addr) {
            cell *x = &c->cell[c->n_cells++];
            x->from = i;
            x->init = pr_vset_initial_at(c->e, record(c, c->s[i].record), c->s[i].addr);
        }
        c->cell[c->n_cells - 1].to = i + 1;
    }
    return true;
}

/* ---- values ------------------------------------------------------------------------------------ */

typedef struct unknowns { cells *c; int event[MOST_OBSERVED], n; bool other; } unknowns;
static void note_unknown(void *user, pr_term t)
{
    unknowns *u = user;
    cells *c = u->c;
    if (pr_term_op_of(c->e->terms, t) != PR_TERM_OP_VAR) return;
    uint32_t id = pr_term_var(c->e->terms, t).id;
    if (id < c->env.n && c->known[id]) return;
    for (int i = 0; i < u->n; i++)
        if (pr_term_is(c->obs[u->event[i]], t)) return;
    for (int i = 0; i < c->y->events.n; i++) {
        if (!pr_term_is(c->obs[i], t) || c->seen[i].any || u->n == MOST_OBSERVED) continue;
        if (!pr_term_is(record(c, c->y->events.data[i].record)->mask, PR_TERM_TRUE)) continue;  /* masked off: anything */
        u->event[u->n++] = i;
        return;
    }
    u->other = true;
}

/* The unknowns of two terms, as results of events whose values are known; false when there are others. */
static bool find_unknowns(cells *c, pr_term a, pr_term b, unknowns *u)
{
    *u = (unknowns){ .c = c };
    pr_term roots[2] = { a, b };
    pr_term_visit_all(c->e->terms, roots, 2, note_unknown, u);
    int64_t tuples = 1;
    for (int i = 0; i < u->n; i++) tuples *= c->seen[u->event[i]].n;
    return !u->other && tuples <= MOST_TUPLES;
}

/* Gives the unknowns their k-th values; false behind the last. */
static bool assign(cells *c, const unknowns *u, int64_t k)
{
    for (int i = 0; i < u->n; i++) {
        const pr_vset *s = &c->seen[u->event[i]];
        pr_var v = pr_term_var(c->e->terms, c->obs[u->event[i]]);
        if (!s->n) return false;
        c->value[v.id] = s->v[k % s->n];
        c->known[v.id] = true;
        k /= s->n;
    }
    return k == 0;
}

static void forget(cells *c, const unknowns *u)
{
    for (int i = 0; i < u->n; i++) c->known[pr_term_var(c->e->terms, c->obs[u->event[i]]).id] = false;
}

/* Values of an operand in a program. */
static pr_vset operand(cells *c, const pr_side *s, int program, pr_term value, pr_term held)
{
    const pr_vset any = { .any = true };
    pr_term t = apply(s, value), h = apply(s, held);
    unknowns u;
    pr_vset out = { 0 };
    pr_i128 one;
    if (pr_term_const(c->e->terms, t, &one) && pr_term_is(h, PR_TERM_TRUE)) return (pr_vset){ .n = 1, .v = { one } };
    set_program(c, s, program);
    if (pr_term_none(t) || pr_term_none(h) || !find_unknowns(c, t, h, &u)) return any;
    for (int64_t k = 0; assign(c, &u, k) && !out.any; k++) {
        pr_i128 x, ok;
        if (!pr_eval(c->e->terms, h, &c->env, &ok) || !ok || !pr_eval(c->e->terms, t, &c->env, &x)) out = any;
        else pr_vset_add(&out, x);
    }
    forget(c, &u);
    return out;
}

/* The set as one that is there already, or as a copy of its own. */
static const pr_vset *kept(cells *c, const pr_vset *was, const pr_vset **last, const pr_vset *now)
{
    if (*last && pr_vset_same(*last, now)) return *last;
    return *last = was && pr_vset_same(was, now) ? was : pr_arena_copy(c->scratch, now, sizeof *now);
}

/* The operands of every execution under the values seen so far. */
static void set_operands(cells *c)
{
    typedef struct last { const pr_vset *value, *cmp; } last;      /* of the record before: mostly the same again */
    last *of = PR_NEW_N(c->scratch, last, c->e->records->records.n + 1);
    for (int i = 0; i < c->n; i++) {
        step *x = &c->s[i];
        const pr_record *r = record(c, x->record);
        const pr_side *s = pr_encoding_side(c->e, x->record, PR_SIDE_A);
        pr_vset value = { 0 }, cmp = { 0 };
        if (!x->keeps) value = operand(c, s, x->program, r->value, r->value_held);
        if (!x->keeps && r->kind == PR_RECORD_CAS) cmp = operand(c, s, x->program, r->cmp, r->value_held);
        x->value = kept(c, x->value, &of[x->record].value, &value);
        x->cmp = kept(c, x->cmp, &of[x->record].cmp, &cmp);
    }
}

static bool moves(const step *x) { return !x->keeps; }

/* Numbers the movers of a cell by what they do; 0 when there are too many kinds. */
static int number_kinds(cells *c, const cell *x, int *count)
{
    int n = 0, first[MOST_KINDS];
    for (int i = x->from; i < x->to; i++) {
        c->s[i].kind = -1;
        if (!moves(&c->s[i])) continue;
        const pr_record *r = record(c, c->s[i].record);
        int k = 0;
        for (; k < n; k++) {
            const step *o = &c->s[first[k]];
            const pr_record *q = record(c, o->record);
            if (q->kind == r->kind && q->rmw_op == r->rmw_op && pr_vset_same(o->value, c->s[i].value) && pr_vset_same(o->cmp, c->s[i].cmp)) break;
        }
        if (k == n) {
            if (n == MOST_KINDS) return 0;
            first[n] = i;
            count[n++] = 0;
        }
        c->s[i].kind = k;
        count[k]++;
    }
    return n;
}

typedef struct state { unsigned char v, pos[2], got[2], first; unsigned short run[MOST_SLOTS]; } state;
typedef struct states { state *list; int n; int *slot, *at; size_t used, cap; pr_arena *arena; } states;   /* at: a state's slot; used: bytes of it that are in use */

static states states_new(pr_arena *a)
{
    return (states){ .list = pr_arena_raw(a, sizeof(state) * MOST_STATES), .slot = PR_NEW_N(a, int, FIRST_SLOTS),
                     .at = pr_arena_raw(a, sizeof(int) * MOST_STATES), .cap = FIRST_SLOTS, .arena = a };
}

/* The state's slot, or the free one where it belongs. */
static size_t slot_of(const states *t, const state *s)
{
    const unsigned char *b = (const unsigned char *)s;
    uint64_t h = 1469598103934665603u;
    for (size_t i = 0; i < t->used; i++) h = (h ^ b[i]) * 1099511628211u;
    size_t k = (size_t)(h >> 20) & (t->cap - 1);
    while (t->slot[k] && memcmp(&t->list[t->slot[k] - 1], s, t->used)) k = (k + 1) & (t->cap - 1);
    return k;
}

/* False when there are too many. */
static bool states_add(states *t, const state *s)
{
    size_t k = slot_of(t, s);
    if (t->slot[k]) return true;
    if (t->n == MOST_STATES) return false;
    t->at[t->n] = (int)k;
    t->list[t->n++] = *s;
    t->slot[k] = t->n;
    if (4 * (size_t)t->n < t->cap) return true;
    t->cap *= 4;
    t->slot = PR_NEW_N(t->arena, int, t->cap);
    for (int i = 0; i < t->n; i++) {
        t->at[i] = (int)(k = slot_of(t, &t->list[i]));
        t->slot[k] = i + 1;
    }
    return true;
}

static void states_clear(states *t, int slots)
{
    for (int i = 0; i < t->n; i++) t->slot[t->at[i]] = 0;
    t->n = 0;
    t->used = offsetof(state, run) + sizeof(unsigned short) * (size_t)slots;
}

/* One state for each of the n values the cell can start with. */
static void states_start(states *t, int slots, int n)
{
    states_clear(t, slots);
    for (int i = 0; i < n; i++) {
        state s;
        memset(&s, 0, sizeof s);
        s.v = (unsigned char)i;
        states_add(t, &s);
    }
}

static int index_of(const pr_vset *s, pr_i128 v)
{
    for (int i = 0; i < s->n; i++)
        if (s->v[i] == v) return i;
    return -1;
}

/* Values that the cell can hold, and what each event can see there. False: they are not known. */
static bool cell_values(cells *c, cell *x, states *t)
{
    int count[MOST_KINDS] = { 0 };
    int n = number_kinds(c, x, count);
    unsigned before[MOST_KINDS] = { 0 };       /* values that one more of this kind can meet */
    bool some = false;
    x->values = x->init;
    if (x->values.any) return false;
    for (int i = x->from; i < x->to; i++) {
        some = some || moves(&c->s[i]);
        if (moves(&c->s[i]) && (c->s[i].value->any || c->s[i].cmp->any)) return false;
    }
    if (some && !n) return false;
    states_start(t, n, x->init.n);
    for (int i = 0; i < t->n; i++) {
        if (--c->left < 0) return false;
        for (int k = 0; k < n; k++) {
            state s = t->list[i];
            if (s.run[k] == count[k]) continue;
            before[k] |= 1u << s.v;
            s.run[k]++;
            const step *m = NULL;
            for (int j = x->from; j < x->to && !m; j++)
                if (c->s[j].kind == k) m = &c->s[j];
            pr_vset old = { .n = 1, .v = { x->values.v[s.v] } };
            pr_vset left = pr_vset_left(record(c, m->record), &old, m->value, m->cmp);
            if (left.any) return false;
            for (int j = 0; j < left.n; j++) {
                pr_vset_add(&x->values, left.v[j]);
                if (x->values.any) return false;
                s.v = (unsigned char)index_of(&x->values, left.v[j]);
                if (!states_add(t, &s)) return false;
            }
        }
    }
    for (int i = x->from; i < x->to; i++) {
        const step *s = &c->s[i];
        if (s->event < 0) continue;
        for (int j = 0; j < x->values.n; j++)
            if (s->kind < 0 || (before[s->kind] >> j & 1)) pr_vset_add(&c->seen[s->event], x->values.v[j]);
    }
    return true;
}

/* The least fixed point; false when some event had to be given up (then it starts again without it). */
static bool fixed_point(cells *c, states *t)
{
    for (int i = 0; i < c->y->events.n; i++) c->seen[i] = c->usable[i] ? (pr_vset){ 0 } : c->y->events.data[i].all;
    for (int i = 0; i < c->n_cells; i++)          /* every result may be the initial value */
        for (int k = c->cell[i].from; k < c->cell[i].to; k++) {
            int v = c->s[k].event;
            for (int j = 0; v >= 0 && c->usable[v] && j < c->cell[i].init.n; j++) pr_vset_add(&c->seen[v], c->cell[i].init.v[j]);
        }
    for (bool grew = true; grew;) {
        grew = false;
        set_operands(c);
        for (int i = 0; i < c->n_cells; i++) {
            cell *x = &c->cell[i];
            if (x->open) continue;
            int before = 0, after = 0;
            for (int k = 0; k < c->y->events.n; k++) before += c->seen[k].n;
            x->open = !cell_values(c, x, t);
            for (int k = 0; k < c->y->events.n; k++) {
                after += c->seen[k].n;
                if (c->usable[k] && c->seen[k].any) x->open = true;
            }
            if (x->open) return false;
            grew = grew || after > before;
            if (c->e->options->fault == 42) grew = false;          /* operands of the first round are all there are */
        }
    }
    return true;
}

/* ---- orders ------------------------------------------------------------------------------------ */

/* Does x run, before y, in every execution of the program in which y runs? */
static bool certain(const cells *c, const step *x, const step *y)
{
    const pr_record *a = record(c, x->record), *b = record(c, y->record);
    if (c->e->options->fault == 41) return a->seq < b->seq;     /* what stands before has run */
    bool runs = x->sure || (pr_sync_within(b->frame, a->frame) && pr_term_is(a->mask, PR_TERM_TRUE));
    return a->seq < b->seq && runs && !x->floats && !y->floats;
}

/* Values of the cell for which a wait can end in the program that is set. */
static unsigned exits(cells *c, const step *x, const pr_vset *values)
{
    const pr_record *r = record(c, x->record);
    const pr_side *s = pr_encoding_side(c->e, x->record, PR_SIDE_A);
    unsigned all = (1u << values->n) - 1, out = 0;
    if (x->event < 0 || !r->is_await || pr_term_none(r->exit_pred)) return all;
    pr_term t = apply(s, r->exit_pred), h = apply(s, r->exit_held);
    if (pr_term_none(t) || !pr_term_is(h, PR_TERM_TRUE) || pr_term_op_of(c->e->terms, c->obs[x->event]) != PR_TERM_OP_VAR) return all;
    pr_var own = pr_term_var(c->e->terms, c->obs[x->event]);
    for (int i = 0; i < values->n; i++) {
        unknowns u;
        pr_i128 ok;
        c->value[own.id] = values->v[i];
        c->known[own.id] = true;
        if (!find_unknowns(c, t, h, &u)) {
            out = all;
        } else {
            for (int64_t k = 0; assign(c, &u, k); k++)
                if (!pr_eval(c->e->terms, t, &c->env, &ok) || ok) out |= 1u << i;
            forget(c, &u);
        }
        c->known[own.id] = false;
    }
    return out;
}

static void set_moves(cells *c, cell *x)
{
    for (int i = x->from; i < x->to; i++) {
        step *s = &c->s[i];
        set_program(c, pr_encoding_side(c->e, s->record, PR_SIDE_A), s->program);
        s->exits = exits(c, s, &x->values);
        for (int v = 0; v < x->values.n; v++) {
            s->next[v] = 1u << v;
            if (!moves(s)) continue;
            pr_vset old = { .n = 1, .v = { x->values.v[v] } }, left = pr_vset_left(record(c, s->record), &old, s->value, s->cmp);
            s->next[v] = 0;
            for (int j = 0; j < left.n; j++) {
                int at = index_of(&x->values, left.v[j]);
                if (at >= 0) s->next[v] |= 1u << at;   /* others need more executions than there are */
            }
        }
    }
}

static bool same_moves(const step *a, const step *b, int n)
{
    if (a->exits != b->exits) return false;
    for (int v = 0; v < n; v++)
        if (a->next[v] != b->next[v]) return false;
    return true;
}

static int end_of(const cells *c, const cell *x, int from)
{
    int to = from;
    while (to < x->to && c->s[to].program == c->s[from].program) to++;
    return to;
}

/* Programs that do the same at the cell get one class, the position of the first of them. */
static void set_classes(cells *c, cell *x)
{
    for (int i = x->from; i < x->to; i = end_of(c, x, i)) {
        int to = end_of(c, x, i), like = i;
        for (int k = x->from; k < i && like == i; k = end_of(c, x, k)) {
            if (c->s[k].class != k || end_of(c, x, k) - k != to - i) continue;
            bool same = true;
            for (int m = 0; m < to - i && same; m++)
                same = c->s[k + m].record == c->s[i + m].record && c->s[k + m].sure == c->s[i + m].sure &&
                       (c->e->options->fault == 50 || same_moves(&c->s[k + m], &c->s[i + m], x->values.n));
            if (same) like = k;
        }
        for (int k = i; k < to; k++) c->s[k].class = like;
    }
}

/* The search for one pair of events in one or two programs. */
typedef struct search {
    cells *c; const cell *x;
    int from[2], to[2], target[2]; /* the programs' executions; the executions that are asked about           */
    bool own;                      /* both in the first program                                       */
    bool alone;                    /* only the first execution is asked about                              */
    const step *rest[MOST_KINDS]; int n_rest[MOST_KINDS], kinds;
    bool strict;                   /* the other programs keep their order too: by class and place              */
    struct { int from, len, programs, slot; } class[MOST_SLOTS]; int classes, slots;
} search;

/* The movers of all other programs, by kind. False: too many kinds. */
static bool find_rest(search *q)
{
    cells *c = q->c;
    q->kinds = 0;
    for (int i = q->x->from; i < q->x->to; i++) {
        if (!moves(&c->s[i]) || (i >= q->from[0] && i < q->to[0]) || (!q->own && i >= q->from[1] && i < q->to[1])) continue;
        int k = 0;
        while (k < q->kinds && !same_moves(q->rest[k], &c->s[i], q->x->values.n)) k++;
        if (k == q->kinds) {
            if (k == MOST_KINDS) return false;
            q->rest[k] = &c->s[i];
            q->n_rest[k] = 0;
            q->kinds++;
        }
        q->n_rest[k]++;
    }
    return true;
}

/* May the step change what others see, or does it hold up its program? */
static bool counts(const cells *c, const step *x) { return moves(x) || (record(c, x->record)->is_await && !x->floats); }

/* The other programs by what they do, each with a slot for every place it may have come to. False: too many. */
static bool find_classes(search *q)
{
    const cells *c = q->c;
    q->classes = q->slots = 0;
    for (int i = q->x->from; i < q->x->to; i = end_of(c, q->x, i)) {
        int to = end_of(c, q->x, i), k = 0;
        bool writes = false;
        for (int m = i; m < to; m++) writes = writes || moves(&c->s[m]);
        if (!writes || i == q->from[0] || (!q->own && i == q->from[1])) continue;
        while (k < q->classes && q->class[k].from != c->s[i].class) k++;
        if (k == q->classes) {
            if (q->slots + to - i > MOST_SLOTS) return false;
            q->class[k].from = c->s[i].class;
            q->class[k].len = to - i;
            q->class[k].programs = 0;
            q->class[k].slot = q->slots;
            q->slots += to - i;
            q->classes++;
        }
        q->class[k].programs++;
    }
    return true;
}

/* Is a step between two places of a program one that has run whenever x runs? */
static bool skips(const cells *c, int from, int to)
{
    for (int k = from; k < to; k++)
        if (counts(c, &c->s[k]) && certain(c, &c->s[k], &c->s[to])) return true;
    return false;
}

/* One more step of some other program, at every place that one of them stands at. */
static bool run_classes(const search *q, states *t, const state *s)
{
    const cells *c = q->c;
    for (int k = 0; k < q->classes; k++) {
        int from = q->class[k].from, len = q->class[k].len, slot = q->class[k].slot, fresh = q->class[k].programs;
        for (int p = 0; p < len; p++) fresh -= s->run[slot + p];
        for (int p = 0; p < len; p++) {               /* p: steps that are behind it */
            if (!(p ? s->run[slot + p - 1] : fresh)) continue;
            for (int m = p; m < len; m++) {
                const step *x = &c->s[from + m];
                if (!counts(c, x) || x->floats || !(x->exits >> s->v & 1) || skips(c, from + p, from + m)) continue;
                for (int j = 0; j < q->x->values.n; j++) {
                    state next = *s;
                    if (!(x->next[s->v] >> j & 1)) continue;
                    if (p) next.run[slot + p - 1]--;
                    next.run[slot + m]++;
                    next.v = (unsigned char)j;
                    if (!states_add(t, &next)) return false;
                }
            }
        }
    }
    return true;
}

typedef struct pairs { pr_seen_pair p[MOST_PAIRS]; int n; bool full; } pairs;
static void note_pair(pairs *out, pr_i128 a, pr_i128 b, bool before)
{
    int i = 0;
    while (i < out->n && (out->p[i].a != a || out->p[i].b != b)) i++;
    if (i == MOST_PAIRS) {
        out->full = true;
        return;
    }
    if (i == out->n) out->p[out->n++] = (pr_seen_pair){ .a = a, .b = b };
    if (before) out->p[i].before = true;
    else out->p[i].after = true;
}

/* Adds what follows when step m of program w runs in s. */
static bool run_step(const search *q, states *t, state s, int w, int m, pairs *out)
{
    const cells *c = q->c;
    const step *x = &c->s[m];
    unsigned v = s.v;
    if (!(x->exits >> v & 1)) return true;
    for (int k = 0; k < 2; k++)
        if (m == q->target[k] && (q->own || k == w)) {
            if (s.got[k]) return true;
            s.got[k] = (unsigned char)(v + 1);
            if (!s.first) s.first = (unsigned char)(k + 1);
            if (q->alone) {
                note_pair(out, q->x->values.v[v], 0, true);
                return true;
            }
        }
    if (!x->floats) s.pos[w] = (unsigned char)(m - q->from[w] + 1);
    if (s.got[0] && s.got[1]) {
        note_pair(out, q->x->values.v[s.got[0] - 1], q->x->values.v[s.got[1] - 1], s.first == 1);
        return true;
    }
    for (int j = 0; j < q->x->values.n; j++) {
        if (!(x->next[v] >> j & 1)) continue;
        s.v = (unsigned char)j;
        if (!states_add(t, &s)) return false;
    }
    return true;
}

static bool run_search(search *q, states *t, pairs *out)
{
    cells *c = q->c;
    if ((q->strict ? !find_classes(q) : !find_rest(q)) || q->to[0] - q->from[0] > 200 || q->to[1] - q->from[1] > 200) return false;
    if (c->e->options->fault == 40) q->kinds = q->classes = 0;     /* nobody else writes the cell */
    states_start(t, q->strict ? q->slots : q->kinds, q->x->init.n);
    for (int i = 0; i < t->n; i++) {
        if (--c->left < 0) return false;
        const state s = t->list[i];
        for (int w = 0; w < (q->own ? 1 : 2); w++)
            for (int m = q->from[w]; m < q->to[w]; m++) {
                const step *x = &c->s[m];
                bool asked = m == q->target[w] || (q->own && m == q->target[1]);
                if (!asked && !counts(c, x)) continue;
                if (!x->floats && (m < q->from[w] + s.pos[w] || skips(c, q->from[w] + s.pos[w], m))) continue;
                if (!run_step(q, t, s, w, m, out)) return false;
            }
        if (q->strict && !run_classes(q, t, &s)) return false;
        for (int k = 0; k < q->kinds && !q->strict; k++) {
            const step *x = q->rest[k];
            if (s.run[k] == q->n_rest[k] || !(x->exits >> s.v & 1)) continue;
            for (int j = 0; j < q->x->values.n; j++) {
                state next = s;
                if (!(x->next[s.v] >> j & 1)) continue;
                next.run[k]++;
                next.v = (unsigned char)j;
                if (!states_add(t, &next)) return false;
            }
        }
    }
    return !out->full;
}

/* With the order of all programs; where that is too much, with that of the two alone. */
static bool run_both(search *q, cell *x, states *t, pairs *out)
{
    q->strict = true;
    if (!x->loose && run_search(q, t, out)) return true;
    x->loose = true;
    q->strict = false;
    return run_search(q, t, out);
}

static int step_of(const cells *c, int from, int to, int event)
{
    for (int i = from; i < to; i++)
        if (c->s[i].event == event) return i;
    return -1;
}

/* All cells, all programs: what events i and j can see together. */
static bool find_pairs(cells *c, int i, int j, bool own, states *t, pairs *out)
{
    for (int k = 0; k < c->n_cells; k++) {
        cell *x = &c->cell[k];
        for (int a = x->from; a < x->to; a = end_of(c, x, a)) {
            int a_to = end_of(c, x, a), at = step_of(c, a, a_to, i);
            if (at < 0 || c->s[a].class != a) continue;
            if (own) {
                int then = step_of(c, a, a_to, j);
                search q = { .c = c, .x = x, .from = { a, a }, .to = { a_to, a_to }, .target = { at, then }, .own = true };
                if (then >= 0 && !run_both(&q, x, t, out)) return false;
                continue;
            }
            bool done_same = false;
            for (int b = x->from; b < x->to; b = end_of(c, x, b)) {
                int b_to = end_of(c, x, b), bt = step_of(c, b, b_to, j);
                if (bt < 0 || b == a) continue;
                if (c->s[b].class == a) {             /* another one like a: one of them is enough */
                    if (done_same) continue;
                    done_same = true;
                } else if (c->s[b].class != b) {
                    continue;
                }
                search q = { .c = c, .x = x, .from = { a, b }, .to = { a_to, b_to }, .target = { at, bt } };
                if (!run_both(&q, x, t, out)) return false;
            }
        }
    }
    return true;
}

/* What a program can see with an event, where that is less than what some program can. */
static void find_seen(cells *c, states *t)
{
    pr_sync *y = c->y;
    pairs *out = PR_NEW(c->scratch, pairs);
    if (c->e->extent[0] * c->e->extent[1] * c->e->extent[2] > PR_VSET_MAX) return;
    for (int k = 0; k < c->n_cells; k++) {
        cell *x = &c->cell[k];
        for (int a = x->from; a < x->to; a = end_of(c, x, a))
            for (int at = a; at < end_of(c, x, a); at++) {
                int i = c->s[at].event;
                if (i < 0 || !c->usable[i] || c->s[at].floats) continue;
                pr_program_sees p = { .event = i, .program = c->s[at].program };
                search q = { .c = c, .x = x, .from = { a, a }, .to = { end_of(c, x, a), a }, .target = { at, -1 }, .own = true, .alone = true };
                out->n = 0;
                out->full = false;
                if (!run_both(&q, x, t, out)) continue;
                if (!out->n && c->s[at].sure && record(c, c->s[at].record)->is_await) y->never_ends = true;
                for (int m = 0; m < out->n; m++) pr_vset_add(&p.values, out->p[m].a);
                if (!p.values.any && p.values.n < y->events.data[i].all.n) pr_vec_push(c->e->arena, &y->sees, p);
            }
    }
}

static void find_orders(cells *c, states *t)
{
    pr_sync *y = c->y;
    pairs *out = PR_NEW(c->scratch, pairs);
    for (int i = 0; i < y->events.n; i++)
        for (int j = 0; j < y->events.n; j++)
            for (int own = 0; own < 2; own++) {
                const pr_sync_event *u = &y->events.data[i], *v = &y->events.data[j];
                const pr_record *r = record(c, u->record), *s = record(c, v->record);
                if (!c->usable[i] || !c->usable[j] || r->width != s->width || c->e->component[r->base] != c->e->component[s->base]) continue;
                if (own && (r->seq >= s->seq || u->in_loop || v->in_loop)) continue;
                out->n = 0;
                out->full = false;
                if (!find_pairs(c, i, j, own, t, out)) continue;
                pr_cell_order o = { i, j, own, pr_arena_copy(c->e->arena, out->p, sizeof *out->p * (size_t)(out->n + 1)), out->n,
                                    !u->all.any && !v->all.any && out->n == u->all.n * v->all.n };
                pr_vec_push(c->e->arena, &y->orders, o);
            }
}

const pr_cell_order *pr_cell_order_of(const pr_sync *y, int i, int j, bool own)
{
    for (int k = 0; k < y->orders.n; k++)
        if (y->orders.data[k].i == i && y->orders.data[k].j == j && y->orders.data[k].own == own) return &y->orders.data[k];
    return NULL;
}

void pr_sync_find_orders(pr_encoding *e, pr_sync *y)
{
    int n = y->events.n;
    cells c = { .e = e, .y = y, .scratch = e->decider->scratch, .left = MOST_SEARCHED };
    if (!n) return;
    c.obs = PR_NEW_N(e->arena, pr_term, n);
    for (int i = 0; i < n; i++) c.obs[i] = apply(pr_encoding_side(e, y->events.data[i].record, PR_SIDE_A), y->events.data[i].app);
    for (int i = 0; i < n; i++)                   /* the variables of all that is looked at */
        for (int k = 0; k < y->events.data[i].n_writers; k++) pr_encoding_side(e, y->events.data[i].writers[k], PR_SIDE_A);
    pr_arena_pos pos = pr_arena_mark(c.scratch);
    uint32_t n_vars = pr_vars_count(e->terms);
    c.value = PR_NEW_N(c.scratch, pr_i128, n_vars);
    c.known = PR_NEW_N(c.scratch, bool, n_vars);
    c.env = (pr_env){ c.value, c.known, n_vars };
    c.s = pr_arena_raw(c.scratch, sizeof(step) * MOST_STEPS);
    c.usable = PR_NEW_N(c.scratch, bool, n);
    c.seen = PR_NEW_N(c.scratch, pr_vset, n);
    states t = states_new(c.scratch);
    bool any = list_all(&c);
    while (any && !fixed_point(&c, &t)) {         /* without the events of a cell that cannot be followed */
        if (c.left < 0) break;
        for (int i = 0; i < c.n_cells; i++)
            for (int k = c.cell[i].from; k < c.cell[i].to; k++)
                if (c.cell[i].open && c.s[k].event >= 0) c.usable[c.s[k].event] = false;
    }
    if (any && c.left >= 0) {
        for (int i = 0; i < n; i++)
            if (c.usable[i]) y->events.data[i].all = c.seen[i];
        for (int i = 0; i < c.n_cells; i++) {
            cell *x = &c.cell[i];
            if (x->open) x->to = x->from;
            set_moves(&c, x);
            set_classes(&c, x);
        }
        find_orders(&c, &t);
        find_seen(&c, &t);
    }
    pr_arena_release(c.scratch, pos);
}
