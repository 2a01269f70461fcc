/* Which atomics can be reasoned about: events, the writers of their locations, counters. hb/sync.h.
 *
 * Questions about overlap go through the engines; an undecided one counts as "may overlap". */
#include "hb/sync.h"
#include "hb/decide.h"
#include "hb/ladder.h"
#include "hb/order.h"
#include <assert.h>

enum { MOST_EVENTS = 24, MOST_PROGRAMS = 1 << 16 };

static const pr_record *record(const pr_encoding *e, int i) { return &e->records->records.data[i]; }

bool pr_sync_scalar(const pr_record *r)
{
    for (int d = 0; d < r->rank; d++)
        if (r->shape[d] > 1) return false;
    return true;
}

bool pr_sync_device(const pr_record *r) { return r->scope == PR_SCOPE_GPU || r->scope == PR_SCOPE_SYS; }
static bool whole_rmw(const pr_record *r)
{
    return (r->kind == PR_RECORD_RMW || r->kind == PR_RECORD_CAS) && !r->via_desc && pr_sync_device(r);
}

/* A plain store that may give a counter back once its last arrival is seen (after_the_last). */
static bool plain_write(const pr_record *u)
{
    return u->kind == PR_RECORD_STORE && !u->via_desc && pr_sync_scalar(u) && pr_order_outside_loops(u);
}

/* The symbol of the access's result where it runs at most once; NONE when it is not modelled. A wait is lowered twice:
 * the records are of the last time. */
static pr_term observation(const pr_encoding *e, const pr_record *r)
{
    pr_terms *T = e->terms;
    pr_term last = PR_TERM_NONE;
    for (uint32_t i = 1; i < pr_syms_count(T); i++) {
        const pr_sym_info *s = pr_sym_get(T, (pr_sym){ i });
        if (s->kind == PR_SYM_OBSERVED && s->access == r->access && !s->is_bool && s->bits == 8 * r->width)
            last = pr_app(T, (pr_sym){ i }, NULL, 0);
    }
    return last;
}

static bool is_event(const pr_record *r)
{
    return r->kind >= PR_RECORD_RMW && r->kind != PR_RECORD_ATOMIC_STORE && pr_sync_scalar(r) && !r->via_desc && pr_sync_device(r) &&
           !r->is_pre_exit && !r->refused.kind && r->base >= 0 && (pr_order_outside_loops(r) || r->is_await);
}

/* The result of a wait inside loops as its exit names it, NONE when the exit does not. */
typedef struct named { const pr_terms *T; int access; pr_term app; } named;
static void note_observation(void *user, pr_term t)
{
    named *n = user;
    if (pr_term_op_of(n->T, t) != PR_TERM_OP_APP || pr_term_arity(n->T, t) == 0) return;
    const pr_sym_info *s = pr_sym_get(n->T, pr_term_sym(n->T, t));
    if (s->kind == PR_SYM_OBSERVED && s->access == n->access && !s->is_bool) n->app = t;
}

static pr_term observation_in_loop(const pr_encoding *e, const pr_record *r)
{
    named n = { e->terms, r->access, PR_TERM_NONE };
    if (!pr_term_none(r->exit_pred)) pr_term_visit(e->terms, r->exit_pred, note_observation, &n);
    return n.app;
}

bool pr_sync_within(const pr_frame *inner, const pr_frame *outer)
{
    if (!outer) return true;
    for (; inner; inner = inner->outer)
        if (inner == outer) return true;
    return false;
}

/* ---- who writes the location ---------------------------------------------------------------- */

bool pr_sync_possible(pr_encoding *e, pr_term_vec *core)
{
    pr_query q;
    pr_outcome o;
    for (int i = 0; i < core->n; i++) {
        if (pr_term_none(core->data[i])) return true;
        core->data[i] = pr_encode_simplify(e, core->data[i]);
        if (pr_term_is(core->data[i], PR_TERM_FALSE)) return false;
    }
    pr_encode_single(e, core->data, core->n, &q);
    pr_decide(e->decider, &q, true, &o, NULL);
    return o.answer != PR_ANSWER_EMPTY;
}

bool pr_sync_meet(pr_encoding *e, const pr_side *x, const pr_side *y, bool other, bool torn)
{
    pr_terms *T = e->terms;
    pr_term_vec core = { 0 };
    if (x->dead || y->dead) return false;
    if (x->refused || y->refused) return true;
    for (int i = 0; i < x->active.n; i++) pr_vec_push(e->arena, &core, x->active.data[i]);
    for (int i = 0; i < y->active.n; i++) pr_vec_push(e->arena, &core, y->active.data[i]);
    if (other) {
        pr_term differ = PR_TERM_FALSE;
        for (int i = 0; i < 3; i++) differ = pr_or(T, differ, pr_ne(T, x->pid[i], y->pid[i]));
        pr_vec_push(e->arena, &core, differ);
    }
    if ((other || e->options->fault == 51) && e->sync->tickets) pr_sync_ticket_facts(e, e->sync, &core);    /* two programs have two tickets */
    if (torn) pr_vec_push(e->arena, &core, pr_ne(T, x->addr, y->addr));
    pr_vec_push(e->arena, &core, pr_lt(T, x->addr, pr_add(T, y->addr, pr_const(T, y->record->width))));
    pr_vec_push(e->arena, &core, pr_lt(T, y->addr, pr_add(T, x->addr, pr_const(T, x->record->width))));
    return pr_sync_possible(e, &core);
}

bool pr_sync_aligned(pr_encoding *e, const pr_side *s)
{
    pr_residue r = pr_residue_of(e->box, s->addr);
    return r.modulus % s->record->width == 0 && r.residue % s->record->width == 0;
}

bool pr_sync_behind(const pr_encoding *e, int i, const pr_record *wait)
{
    const pr_record *r = record(e, i);
    return r->seq > wait->seq && pr_sync_within(r->frame, wait->frame);
}

void pr_sync_find_writers(pr_encoding *e, pr_sync_event *v, bool first_through)
{
    const pr_side *x = pr_encoding_side(e, v->record, PR_SIDE_A);
    PR_VEC(int) w = { 0 };
    bool plain = false;
    v->closed = !x->refused && !e->records->refusals.n;
    for (int i = 0; i < e->records->records.n && v->closed; i++) {
        const pr_record *u = record(e, i);
        if (!pr_record_writes(u) || u->is_pre_exit) continue;
        if (first_through && (i == v->record || pr_sync_behind(e, i, x->record))) continue;
        if (u->base < 0 || u->refused.kind) {
            v->closed = false;
            break;
        }
        if (e->component[u->base] != e->component[x->record->base]) continue;
        const pr_side *y = pr_encoding_side(e, i, PR_SIDE_B);
        bool self = i == v->record && !v->tile;   /* a tile's other lanes may write the cell too */
        bool meets = pr_sync_meet(e, x, y, self, false);
        if (self) v->own_again = meets || v->in_loop;
        if (!meets && !self) continue;
        bool exact = u->width == x->record->width && (pr_sync_aligned(e, x) && pr_sync_aligned(e, y));
        if (exact && plain_write(u)) plain = true;
        else if (!whole_rmw(u) || u->width != x->record->width || (!exact && pr_sync_meet(e, x, y, self, true))) v->closed = false;
        pr_vec_push(e->arena, &w, i);
    }
    v->but_for_plain = v->closed && plain;
    v->closed = v->closed && !plain;
    v->writers = w.data;
    v->n_writers = w.n;
}

pr_vset pr_sync_before_first(pr_encoding *e, const pr_sync_event *wait)
{
    pr_sync_event v = { .record = wait->record };
    pr_sync_find_writers(e, &v, true);
    if (!v.closed) return (pr_vset){ .any = true };
    return pr_vset_closure(e, pr_vset_initial(e, pr_encoding_side(e, v.record, PR_SIDE_A)), v.writers, v.n_writers);
}

static void find_values(pr_encoding *e, pr_sync_event *v)
{
    v->init = v->all = v->others = (pr_vset){ .any = true };
    if (!v->closed) return;
    v->init = pr_vset_initial(e, pr_encoding_side(e, v->record, PR_SIDE_A));
    v->all = pr_vset_closure(e, v->init, v->writers, v->n_writers);
    int *rest = PR_NEW_N(e->arena, int, v->n_writers + 1), n = 0;
    for (int i = 0; i < v->n_writers; i++)
        if (v->writers[i] != v->record || v->own_again) rest[n++] = v->writers[i];
    v->others = pr_vset_closure(e, v->init, rest, n);
}

/* ---- counters ------------------------------------------------------------------------------- */

typedef struct slot { pr_i128 addr; int64_t n; } slot;

/* Most programs of the launch that meet at one address; 0 when that is not computed. */
static int64_t most_arrivals(pr_encoding *e, const pr_side *s)
{
    pr_terms *T = e->terms;
    int64_t total = 1;
    for (int i = 0; i < 3; i++) {
        if (!e->fixed[i] || e->extent[i] > MOST_PROGRAMS) return 0;
        total *= e->extent[i];
        if (total > MOST_PROGRAMS) return 0;
    }
    uint32_t n = pr_vars_count(T);
    pr_arena_pos pos = pr_arena_mark(e->decider->scratch);
    pr_i128 *value = PR_NEW_N(e->decider->scratch, pr_i128, n);
    bool *known = PR_NEW_N(e->decider->scratch, bool, n);
    int64_t cap = 16, most = 0;
    while (cap < 2 * total) cap *= 2;
    slot *table = PR_NEW_N(e->decider->scratch, slot, cap);
    pr_env env = { value, known, n };
    for (int64_t p = 0; p < total && most >= 0; p++) {
        int64_t id[3] = { p % e->extent[0], p / e->extent[0] % e->extent[1], p / e->extent[0] / e->extent[1] };
        for (int i = 0; i < 3; i++) {
            if (pr_term_op_of(T, s->pid[i]) != PR_TERM_OP_VAR) continue;
            pr_var v = pr_term_var(T, s->pid[i]);
            value[v.id] = id[i];
            known[v.id] = true;
        }
        bool active = true;                 /* what cannot be evaluated counts as active */
        for (int i = 0; i < s->active.n && active; i++) {
            pr_i128 x;
            if (pr_eval(T, s->active.data[i], &env, &x) && !x) active = false;
        }
        pr_i128 addr;
        if (!active) continue;
        if (!pr_eval(T, s->addr, &env, &addr)) {
            most = -1;
            break;
        }
        uint64_t h = ((uint64_t)addr * 0x9E3779B97F4A7C15u) >> 20;
        while (table[h & (uint64_t)(cap - 1)].n && table[h & (uint64_t)(cap - 1)].addr != addr) h++;
        slot *at = &table[h & (uint64_t)(cap - 1)];
        at->addr = addr;
        if (++at->n > most) most = at->n;
    }
    pr_arena_release(e->decider->scratch, pos);
    return most > 0 ? most : 0;
}

/* Number of programs of the grid; NONE when two extents are open. *axis: the open one, *most: a bound. */
static pr_term programs(pr_encoding *e, int *axis, pr_i128 *most)
{
    static const pr_i128 cap[3] = { 2147483647, 65535, 65535 };
    pr_term n = pr_const(e->terms, 1);
    *axis = -1;
    *most = 1;
    for (int i = 0; i < 3; i++) {
        if (e->fixed[i]) {
            n = pr_scale(e->terms, n, e->extent[i]);
            *most *= e->extent[i];
            continue;
        }
        if (*axis >= 0) return PR_TERM_NONE;
        *axis = i;
        *most *= cap[i];
        n = pr_mul(e->terms, n, pr_var_term(e->terms, e->records->grid[i]));
    }
    return n;
}

/* A write after the counter's last arrival: u runs only where its own program's addition returned the last
 * value, so every addition is done. A plain store may be u, too: it stands behind the read that its path depends on, and what was added
 * cannot come after it. Whether others' additions are ordered with it, that a pair's query asks. */
static bool after_the_last(pr_encoding *e, const pr_sync_event *c, int u, pr_term last)
{
    const pr_record *r = record(e, c->record), *w = record(e, u);
    const pr_side *s = pr_encoding_side(e, u, PR_SIDE_A), *x = pr_encoding_side(e, c->record, PR_SIDE_A);
    if (!pr_sync_scalar(w) || !pr_order_outside_loops(w) || r->seq >= w->seq || !pr_sync_within(w->frame, r->frame) ||
        !pr_term_is(r->mask, PR_TERM_TRUE) || s->refused || s->dead) return s->dead;
    pr_term_vec core = { 0 };
    pr_query q;
    pr_outcome o;
    for (int i = 0; i < s->active.n; i++) pr_vec_push(e->arena, &core, s->active.data[i]);
    pr_term o_c = pr_subst_apply((pr_subst *)&x->subst, c->app);
    pr_vec_push(e->arena, &core, pr_or(e->terms, pr_ne(e->terms, o_c, last), pr_ne(e->terms, s->addr, x->addr)));
    pr_encode_single(e, core.data, core.n, &q);
    pr_decide(e->decider, &q, true, &o, NULL);
    return o.answer == PR_ANSWER_EMPTY;
}

static void find_counter(pr_encoding *e, pr_sync *y, pr_sync_event *v)
{
    const pr_record *r = record(e, v->record);
    const pr_side *s = pr_encoding_side(e, v->record, PR_SIDE_A);
    pr_terms *T = e->terms;
    if (v->in_loop || !(v->closed || v->but_for_plain) || r->kind != PR_RECORD_RMW || r->rmw_op != PR_RMW_ADD) return;
    if (v->but_for_plain) v->init = pr_vset_initial(e, s);
    if (v->init.any || v->init.n != 1) return;
    pr_vset step = pr_vset_of(e, s, r->value, r->value_held);
    if (step.any || step.n != 1 || !step.v[0]) return;
    pr_i128 first = v->init.v[0], most;
    int axis;
    pr_term n = programs(e, &axis, &most);
    bool one_cell = pr_term_op_of(T, s->addr) == PR_TERM_OP_CONST;
    int64_t counted = most_arrivals(e, s);
    if (counted) {
        n = pr_const(T, counted);
        most = counted;
        axis = -1;
    } else if (!one_cell || pr_term_none(n)) {
        return;
    }
    pr_i128 end = first + step.v[0] * most;
    if (end > pr_int_max(8 * r->width) || end < pr_int_min(8 * r->width)) return;
    pr_term last = pr_add(T, pr_const(T, first - step.v[0]), pr_scale(T, n, step.v[0]));
    if (pr_term_none(last)) return;
    for (int i = 0; i < v->n_writers; i++) {
        int u = v->writers[i];
        if (u == v->record || pr_sync_identity(e, u)) continue;
        if (!after_the_last(e, v, u, last)) return;
    }
    v->counted = true;
    v->closed = true;
    v->first = first;
    v->step = step.v[0];
    v->arrivals = n;
    if (axis >= 0) y->axis = axis;
}

static bool is_result(void *user, const pr_terms *T, pr_term t)
{
    (void)user;
    return pr_term_op_of(T, t) == PR_TERM_OP_APP && pr_sym_get(T, pr_term_sym(T, t))->kind == PR_SYM_OBSERVED;
}

/* Some access of the record's memory is addressed by a result: what is said of it waits for the counters. */
static bool by_ticket(const pr_encoding *e, const pr_record *r)
{
    for (int i = 0; i < e->records->records.n; i++) {
        const pr_record *u = record(e, i);
        if (u->base < 0 || e->component[u->base] != e->component[r->base] || pr_term_none(u->offset)) continue;
        if (pr_term_any(e->terms, u->offset, is_result, NULL)) return true;
    }
    return false;
}

static void find_events(pr_encoding *e, pr_sync *y, bool tickets)
{
    int first = y->events.n;
    for (int i = 0; i < e->records->records.n && y->events.n < MOST_EVENTS; i++) {
        const pr_record *r = record(e, i);
        if (!is_event(r) || by_ticket(e, r) != tickets) continue;
        pr_sync_event v = { .record = i, .in_loop = !pr_order_outside_loops(r), .writes = pr_record_writes(r) };
        v.init = v.all = v.others = (pr_vset){ .any = true };
        v.app = v.in_loop ? observation_in_loop(e, r) : observation(e, r);
        if (v.in_loop && !pr_sync_identity(e, i)) continue;      /* its own success would be one more writer to follow */
        const pr_side *s = pr_encoding_side(e, i, PR_SIDE_A);
        if (pr_term_none(v.app) || s->refused || s->dead) continue;
        pr_vec_push(e->arena, &y->events, v);
    }
    for (int i = first; i < y->events.n; i++) {
        pr_sync_find_writers(e, &y->events.data[i], false);
        find_values(e, &y->events.data[i]);
        find_counter(e, y, &y->events.data[i]);
    }
}

pr_sync *pr_sync_of(pr_encoding *e)
{
    if (e->sync) return e->sync->building ? NULL : e->sync;
    if (e->rung == PR_RUNG_T0 || !e->launch || !e->decider || !e->records->has_atomics) return NULL;
    pr_sync *y = e->sync = PR_NEW(e->arena, pr_sync);
    y->building = true;
    y->axis = -1;
    find_events(e, y, false);
    pr_sync_find_draws(e, y);
    y->tickets = true;
    find_events(e, y, true);
    pr_sync_find_orders(e, y);
    pr_sync_find_tiles(e, y);
    pr_sync_find_locks(e, y);
    pr_sync_find_turns(e, y);
    y->building = false;
    return y;
}

bool pr_sync_admits(pr_encoding *e, int access)
{
    pr_sync *y = pr_sync_of(e);
    if (!y && e->sync && e->sync->tickets) y = e->sync;
    for (int i = 0; y && i < y->events.n; i++)
        if (y->events.data[i].counted && record(e, y->events.data[i].record)->access == access) return true;
    return false;
}
