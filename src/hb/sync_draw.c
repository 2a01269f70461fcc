/* Draws: results of additions to one cell, in loops, by several operations, by the lanes of a tile (sync.h: counters).
 *
 * Conditions of a counter, all shown: the cell is one address; whoever writes its memory does so by whole additions of device scope
 * (or leaves it as it is, by one); its start value is known; what they add is one positive amount, or never negative; and however
 * often each runs, the cell does not leave its width. Then the additions form one chain whose values never decrease: two of them
 * return results that are at least the first one's amount apart.
 *
 * How often does one run? As often as its loops turn, in every program. A loop whose turns are drawn has no such number. It has one
 * by its own condition: turn k > 0 runs only where the draw of turn k - 1 returned less than some U. Say the cell would leave its
 * width, and look at the additions before that: each of this record is in a first turn, or follows a draw of its own with a smaller
 * result below U, each its own one; so they are at most E + Q (E: entries of the loop, Q: results below U), and U is chosen so that this many fit.
 *
 * A result is only spoken of where it certainly exists: where its mask holds, on the path of the access that names it, in the access's own turn, or (unmasked)
 * in the turn before of the innermost loop when that turn ran the addition whatever happened.
 *
 * An array of counters is drawn from where the address is not one cell: slots of experts, buckets, bins. All that may write any of its cells adds one
 * positive amount to a whole aligned cell, so two executions at equal cells return results that differ (that many times the amount fit the
 * width, wrapping or not), whatever the cells hold first. With known first contents a result lies between the least of them and
 * the largest and what all executions add; at a launch, below the first contents of its own cell and what those that name that cell add. */
#include "hb/decide.h"
#include "hb/ladder.h"
#include "hb/order.h"
#include "hb/sync.h"
#include "term/table.h"

enum { MOST_DRAWS = 16, MOST_LOOPS = 16, MOST_NAMED = 16, MOST_CELLS = 1 << 12, MOST_HITS = 1 << 16 };
#define MANY ((pr_i128)1 << 62)    /* more often than any launch lasts                                      */

static const pr_record *record(const pr_encoding *e, int i) { return &e->records->records.data[i]; }
static pr_term apply(const pr_side *s, pr_term t) { return pr_subst_apply((pr_subst *)&s->subst, t); }

static pr_i128 times(pr_i128 a, pr_i128 b) { return a && b > MANY / a ? MANY : a * b; }

/* Frames of the loops around r, outermost first; -1: too many. */
static int loops_of(const pr_record *r, const pr_frame **loop)
{
    int n = 0;
    for (const pr_frame *f = r->frame; f; f = f->outer) {
        if (f->kind != PR_FRAME_LOOP) continue;
        if (n == MOST_LOOPS) return -1;
        loop[n++] = f;
    }
    for (int i = 0; i < n / 2; i++) {
        const pr_frame *f = loop[i];
        loop[i] = loop[n - 1 - i];
        loop[n - 1 - i] = f;
    }
    return n;
}

static int wide_dims(const pr_record *r)
{
    int n = 0;
    for (int d = 0; d < r->rank; d++) n += r->shape[d] != 1;
    return n;
}

bool pr_sync_draws(const pr_record *r)
{
    if (r->kind != PR_RECORD_RMW || r->rmw_op != PR_RMW_ADD || r->via_desc || r->base < 0 || r->refused.kind || r->is_await || r->is_pre_exit)
        return false;
    return r->scope == PR_SCOPE_GPU || r->scope == PR_SCOPE_SYS;
}

/* Does r run in every turn of its innermost loop? */
static bool every_turn(const pr_record *r, const pr_frame *loop)
{
    bool turn = r->frame && r->frame->kind == PR_FRAME_COND && r->frame->turn && r->frame->outer == loop;
    return (r->frame == loop || turn) && pr_term_is(r->mask, PR_TERM_TRUE);
}

/* A term of r as it is in the execution that app, r's result, names: iterations and lanes by app's arguments. */
static pr_term of_execution(const pr_encoding *e, const pr_record *r, pr_term app, pr_term t)
{
    const pr_frame *loop[MOST_LOOPS];
    int n = loops_of(r, loop), first = n;
    uint32_t top = 0;
    for (int i = 0; i < n; i++) top = loop[i]->k.id > top ? loop[i]->k.id : top;
    for (int d = 0; d < r->rank; d++) top = e->records->lane[d].id > top ? e->records->lane[d].id : top;
    pr_term *map = PR_NEW_N(e->arena, pr_term, top + 1);
    for (int i = 0; i < n; i++) map[loop[i]->k.id] = pr_term_child(e->terms, app, i);
    for (int d = 0; d < r->rank; d++)
        map[e->records->lane[d].id] = r->shape[d] != 1 ? pr_term_child(e->terms, app, first++) : PR_TERM_ZERO;
    pr_subst to = { .T = e->terms, .var_map = map, .n_var_map = top + 1 };
    return pr_subst_apply(&to, t);
}

/* Where the masked r, named by app in record x, ran: its mask holds there, and there is such a lane (a wider x may gather past r's end). */
static pr_term ran(const pr_encoding *e, const pr_record *r, const pr_record *x, pr_term app, int first)
{
    pr_terms *T = e->terms;
    pr_term all = of_execution(e, r, app, pr_and(T, r->mask, r->mask_held));
    for (int d = 0; d < r->rank && !pr_term_none(all); d++) {
        if (r->shape[d] == 1) continue;
        pr_term lane = pr_term_child(T, app, first++);
        if (pr_term_is(lane, pr_var_term(T, e->records->lane[d])) && d < x->rank && x->shape[d] <= r->shape[d]) continue;
        all = pr_and(T, all, pr_and(T, pr_le(T, PR_TERM_ZERO, lane), pr_lt(T, lane, pr_const(T, r->shape[d]))));
    }
    return all;
}

/* app, named in a record under `at`, is the result of r in this turn (0), in the turn before (1), or anything (-1). Where r has a mask, of
 * this turn: it exists where the mask holds in the lane that app names. */
static int turn_of(const pr_encoding *e, const pr_record *r, pr_term app, const pr_frame *at)
{
    const pr_frame *loop[MOST_LOOPS];
    pr_terms *T = e->terms;
    int n = loops_of(r, loop), before = 0;
    const pr_sym_info *s = pr_sym_get(T, pr_term_sym(T, app));
    if (n < 0 || s->kind != PR_SYM_OBSERVED || s->is_bool || s->bits != 8 * r->width || s->access != r->access ||
        pr_term_arity(T, app) != n + wide_dims(r)) return -1;
    bool masked = !pr_term_is(r->mask, PR_TERM_TRUE);
    for (int i = 0; i < n; i++) {
        pr_term k = pr_var_term(T, loop[i]->k), arg = pr_term_child(T, app, i);
        if (pr_term_is(arg, k)) continue;
        if (i + 1 < n || !pr_term_is(arg, pr_sub(T, k, pr_const(T, 1)))) return -1;
        before = 1;
    }
    if (!before) return pr_sync_within(at, r->frame) ? 0 : -1;
    if (masked) return -1;
    return pr_sync_within(at, loop[n - 1]) && every_turn(r, loop[n - 1]) ? 1 : -1;
}

/* ---- how often ------------------------------------------------------------------------------- */

static pr_i128 programs_of(const pr_encoding *e)
{
    static const pr_i128 cap[3] = { 2147483647, 65535, 65535 };
    pr_i128 n = 1;
    for (int i = 0; i < 3; i++) n = times(n, e->fixed[i] ? e->extent[i] : cap[i]);
    return n;
}

/* Executions of r in all programs, at most; all: without its innermost loop. */
static pr_i128 executions(const pr_encoding *e, const pr_side *s, bool all)
{
    pr_i128 n = programs_of(e);
    for (int d = 0; d < s->record->rank; d++) n = times(n, s->record->shape[d]);
    for (int i = 0; i + (all ? 0 : 1) < s->n_loops; i++) {
        pr_i128 hi = MANY;
        if (pr_term_op_of(e->terms, s->iter[i]) == PR_TERM_OP_VAR) hi = pr_var_get(e->terms, pr_term_var(e->terms, s->iter[i]))->hi;
        n = times(n, hi >= MANY ? MANY : hi + 1);
    }
    return n;
}

typedef struct find_app { const pr_encoding *e; const pr_record *r; pr_term app; } find_app;
static void note_before(void *user, pr_term t)
{
    find_app *f = user;
    if (pr_term_op_of(f->e->terms, t) == PR_TERM_OP_APP && turn_of(f->e, f->r, t, f->r->frame) == 1) f->app = t;
}

/* Is turn k > 0 run only where r's draw of turn k - 1 returned less than `below`? */
static bool guarded(pr_encoding *e, const pr_side *s, pr_i128 below)
{
    const pr_record *r = s->record;
    const pr_frame *loop[MOST_LOOPS];
    int n = loops_of(r, loop);
    find_app f = { e, r, PR_TERM_NONE };
    pr_terms *T = e->terms;
    if (n < 1 || n != s->n_loops || wide_dims(r) || !every_turn(r, loop[n - 1]) || r->frame == loop[n - 1]) return false;
    pr_term_visit(T, r->frame->cond, note_before, &f);
    if (pr_term_none(f.app)) return false;
    pr_term_vec core = { 0 };
    for (int i = 0; i < s->active.n; i++) pr_vec_push(e->arena, &core, s->active.data[i]);
    pr_vec_push(e->arena, &core, pr_le(T, pr_const(T, 1), s->iter[n - 1]));
    pr_vec_push(e->arena, &core, pr_le(T, pr_const(T, below), apply(s, f.app)));
    return !pr_sync_possible(e, &core);
}

/* Fills most, total; false: the cell may leave its width. */
static bool bounded(pr_encoding *e, pr_sync_counter *c, const int *member, int n)
{
    pr_i128 max = pr_int_max(8 * c->width), sum = 0, entries = 0;
    int open[MOST_DRAWS], n_open = 0;
    c->most = 0;
    for (int i = 0; i < n; i++) {
        const pr_side *s = pr_encoding_side(e, member[i], PR_SIDE_A);
        pr_i128 k = executions(e, s, true);
        pr_interval a = pr_range(e->box, apply(s, s->record->value));
        if (k >= MANY) {
            if (!c->step || !s->n_loops) return false;
            entries += executions(e, s, false);
            open[n_open++] = member[i];
            continue;
        }
        c->most += k;
        sum += times(k, a.hi);
        if (c->most >= MANY || sum >= MANY) return false;
    }
    if (n_open) {
        pr_i128 room = (max - c->first) / c->step - c->most - entries;
        if (entries >= MANY || room / n_open < 1) return false;
        for (int i = 0; i < n_open; i++)
            if (e->options->fault != 55 && !guarded(e, pr_encoding_side(e, open[i], PR_SIDE_A), c->first + c->step * (room / n_open))) return false;
        c->most += entries + room / n_open * n_open;
        sum = times(c->most, c->step);
    }
    c->total = sum;
    return c->first + sum <= max;
}

/* ---- who draws -------------------------------------------------------------------------------- */

static bool one_of_access(const pr_encoding *e, const pr_record *r)
{
    for (int i = 0; i < e->records->records.n; i++)
        if (i != r->id && record(e, i)->access == r->access) return false;
    return true;
}

/* Everything that may write the cell of record r is a draw from it (in member), or leaves the value as it is. */
static bool closed(pr_encoding *e, const pr_record *r, pr_i128 addr, int *member, int *n)
{
    const pr_side *x = pr_encoding_side(e, r->id, PR_SIDE_A);
    for (int i = 0; i < e->records->records.n; i++) {
        const pr_record *u = record(e, i);
        pr_i128 at;
        if (!pr_record_writes(u) || u->is_pre_exit) continue;
        if (u->base < 0 || u->refused.kind) return false;
        if (e->component[u->base] != e->component[r->base]) continue;
        const pr_side *z = pr_encoding_side(e, i, PR_SIDE_B), *own = pr_encoding_side(e, i, PR_SIDE_A);
        if (!own->refused && own->dead) continue;
        bool here = !own->refused && pr_term_const(e->terms, own->addr, &at) && at == addr && u->width == r->width;
        if (!here && !pr_sync_meet(e, x, z, false, false)) continue;
        if (e->options->fault == 56 && !pr_sync_draws(u)) continue;
        bool whole = (u->kind == PR_RECORD_RMW || u->kind == PR_RECORD_CAS) && !u->via_desc && (u->scope == PR_SCOPE_GPU || u->scope == PR_SCOPE_SYS);
        if (!here || !whole) return false;
        if (pr_sync_identity(e, i)) continue;
        if (!pr_sync_draws(u) || !one_of_access(e, u) || *n == MOST_DRAWS) return false;
        member[(*n)++] = i;
    }
    return !e->records->refusals.n && *n > 0;
}

/* One positive amount, or amounts that are not negative; false: neither. */
static bool amounts(pr_encoding *e, pr_sync_counter *c, const int *member, int n)
{
    pr_i128 one = -1;
    bool same = true;
    for (int i = 0; i < n; i++) {
        const pr_side *s = pr_encoding_side(e, member[i], PR_SIDE_A);
        const pr_record *r = s->record;
        if (pr_term_none(r->value) || pr_term_none(r->value_held)) return false;
        pr_term held = apply(s, r->value_held), t = apply(s, r->value);
        if (pr_term_none(held) || pr_term_none(t) || !pr_term_is(pr_encode_simplify(e, held), PR_TERM_TRUE)) return false;
        pr_interval a = pr_range(e->box, t);
        if (a.lo < 0 || a.hi >= MANY) return false;
        same = same && a.lo == a.hi && (one < 0 || one == a.lo);
        one = a.lo;
    }
    c->step = same && one > 0 ? one : 0;
    return true;
}

/* ---- arrays of counters ----------------------------------------------------------------------- */

static bool is_private(void *user, const pr_terms *T, pr_term t)
{
    (void)user;
    if (pr_term_op_of(T, t) == PR_TERM_OP_APP) return true;
    if (pr_term_op_of(T, t) != PR_TERM_OP_VAR) return false;
    const pr_var_info *v = pr_var_get(T, pr_term_var(T, t));
    return v->role == PR_ROLE_FREE && v->copy != PR_COPY_SHARED;
}

/* The records that write any cell of record r, or of one of these: all of them draws of whole aligned cells. */
static bool closed_array(pr_encoding *e, const pr_record *r, int *member, int *n)
{
    member[(*n)++] = r->id;
    for (int m = 0; m < *n; m++) {
        const pr_side *x = pr_encoding_side(e, member[m], PR_SIDE_A);
        const pr_record *own = record(e, member[m]);
        if (x->refused || pr_term_none(x->addr) || own->width != r->width || !pr_sync_aligned(e, x) || !one_of_access(e, own)) return false;
        for (int i = 0; i < e->records->records.n; i++) {
            const pr_record *u = record(e, i);
            bool known = false;
            for (int k = 0; k < *n; k++) known = known || member[k] == i;
            if (known || !pr_record_writes(u) || u->is_pre_exit) continue;
            if (u->base < 0 || u->refused.kind) return false;
            if (e->component[u->base] != e->component[own->base]) continue;
            const pr_side *z = pr_encoding_side(e, i, PR_SIDE_B);
            if (!pr_sync_meet(e, x, z, false, false) || e->options->fault == 91) continue;
            if (!pr_sync_draws(u) || z->refused || *n == MOST_DRAWS) return false;
            member[(*n)++] = i;
        }
    }
    return !e->records->refusals.n;
}

/* All of them add one amount, which is not 0. */
static bool one_amount(pr_encoding *e, pr_sync_counter *c, const int *member, int n)
{
    for (int i = 0; i < n; i++) {
        pr_vset v = pr_vset_of(e, pr_encoding_side(e, member[i], PR_SIDE_A), record(e, member[i])->value, record(e, member[i])->value_held);
        if (v.any || v.n != 1 || (i && v.v[0] != c->step)) return false;
        c->step = v.v[0];
    }
    return c->step != 0;
}

/* What the cells hold at first, by the records that name them. False: it is known, and some cell may leave its width. */
static bool bounds_of_array(pr_encoding *e, pr_sync_counter *c, const int *member, int n)
{
    c->bounded = true;
    for (int i = 0; i < n && c->bounded; i++) {
        pr_vset init = pr_vset_initial(e, pr_encoding_side(e, member[i], PR_SIDE_A));
        if (init.any || !init.n) c->bounded = false;
        for (int k = 0; k < init.n && c->bounded; k++) {
            if ((!i && !k) || init.v[k] < c->first) c->first = init.v[k];
            if ((!i && !k) || init.v[k] > c->last) c->last = init.v[k];
        }
    }
    pr_i128 moved = c->step * c->most;
    return !c->bounded || (c->last + moved <= pr_int_max(8 * c->width) && c->first + moved >= pr_int_min(8 * c->width));
}

/* How often each cell is named in all programs, at most: what cannot be evaluated runs. False: some address is not known. */
static bool count_hits(pr_encoding *e, const pr_side *s, pr_i128 base, int width, int64_t *hits, int64_t n_cells)
{
    pr_terms *T = e->terms;
    const pr_record *r = s->record;
    uint32_t n = pr_vars_count(T);
    pr_i128 *value = PR_NEW_N(e->decider->scratch, pr_i128, n);
    bool *known = PR_NEW_N(e->decider->scratch, bool, n);
    pr_env env = { value, known, n };
    const pr_term *var[3 + PR_RANK_MAX];
    int64_t extent[3 + PR_RANK_MAX], total = 1;
    int axes = 0;
    if (s->n_loops || s->dead) return s->dead;
    for (int i = 0; i < 3; i++) var[axes] = &s->pid[i], extent[axes++] = e->extent[i];
    for (int d = 0; d < r->rank; d++) var[axes] = &s->lane[d], extent[axes++] = r->shape[d];
    for (int i = 0; i < axes; i++) {
        if (extent[i] < 1 || extent[i] > MOST_HITS || total > MOST_HITS / extent[i]) return false;
        total *= extent[i];
    }
    for (int64_t p = 0; p < total; p++) {
        int64_t rest = p;
        for (int i = 0; i < axes; i++) {
            if (pr_term_op_of(T, *var[i]) == PR_TERM_OP_VAR) {
                pr_var v = pr_term_var(T, *var[i]);
                value[v.id] = rest % extent[i];
                known[v.id] = true;
            }
            rest /= extent[i];
        }
        bool active = true;
        pr_i128 x, addr;
        for (int i = 0; i < s->active.n && active; i++) active = !pr_eval(T, s->active.data[i], &env, &x) || x;
        if (!active) continue;
        if (!pr_eval(T, s->addr, &env, &addr) || addr < base || addr >= base + (pr_i128)width * n_cells) return false;
        hits[(int64_t)((addr - base) / width)]++;
    }
    return true;
}

/* At a launch: between what numbers the results of each cell lie. */
static void bounds_by_cell(pr_encoding *e, pr_sync_counter *c, const int *member, int n)
{
    const pr_record *r = record(e, member[0]);
    const pr_tensor *t = r->base < e->launch->n_args ? e->launch->args[r->base].tensor : NULL;
    pr_terms *T = e->terms;
    if (!t || t->elem_bytes != c->width || t->numel < 1 || t->numel > MOST_CELLS || !e->fixed[0] || !e->fixed[1] || !e->fixed[2]) return;
    pr_arena_pos pos = pr_arena_mark(e->decider->scratch);
    int64_t *hits = PR_NEW_N(e->decider->scratch, int64_t, t->numel);
    pr_i128 *least = PR_NEW_N(pr_terms_arena(T), pr_i128, t->numel), *most = PR_NEW_N(pr_terms_arena(T), pr_i128, t->numel);
    bool all = true;
    for (int i = 0; i < n && all; i++) all = count_hits(e, pr_encoding_side(e, member[i], PR_SIDE_A), t->ptr, c->width, hits, t->numel);
    for (int64_t k = 0; k < t->numel && all; k++) {
        if (!hits[k]) {                                 /* nothing is asked of it: as the cell before */
            least[k] = k ? least[k - 1] : c->first;
            most[k] = k ? most[k - 1] : c->first;
            continue;
        }
        pr_vset init = pr_vset_initial_at(e, r, t->ptr + k * c->width);
        pr_i128 moved = c->step * ((e->options->fault == 92 ? 1 : hits[k]) - 1);
        if (init.any || init.n != 1) all = false;
        least[k] = init.v[0] + (moved < 0 ? moved : 0);
        most[k] = init.v[0] + (moved > 0 ? moved : 0);
        if (least[k] <= pr_int_min(8 * c->width) || most[k] >= pr_int_max(8 * c->width)) all = false;
    }
    pr_arena_release(e->decider->scratch, pos);
    if (!all) return;
    c->addr = t->ptr;
    c->least_of = pr_tab_new(T, (pr_tab_info){ .name = "atomics.least", .values = least, .n = t->numel });
    c->most_of = pr_tab_new(T, (pr_tab_info){ .name = "atomics.most", .values = most, .n = t->numel });
    c->by_cell = true;
}

static void find_array(pr_encoding *e, pr_sync *y, const pr_record *r)
{
    int member[MOST_DRAWS], n = 0;
    pr_sync_counter c = { .width = r->width, .array = true };
    if (!closed_array(e, r, member, &n) || y->draws.n + n > MOST_DRAWS || !one_amount(e, &c, member, n)) return;
    for (int i = 0; i < n; i++) {
        pr_i128 k = executions(e, pr_encoding_side(e, member[i], PR_SIDE_A), true);
        if (k >= MANY) return;
        c.most += k;
    }
    if (c.most >= MANY || c.most * (c.step < 0 ? -c.step : c.step) > (pr_i128)1 << (8 * c.width)) return;      /* k * step differ, modulo the width too (not `times`: its end is below 2^64) */
    if (!bounds_of_array(e, &c, member, n)) return;
    bounds_by_cell(e, &c, member, n);
    pr_vec_push(e->arena, &y->counters, c);
    for (int k = 0; k < n; k++) pr_vec_push(e->arena, &y->draws, ((pr_sync_draw){ member[k], y->counters.n - 1 }));
}

/* One counter, at the one cell that record r names. */
static bool find_cell(pr_encoding *e, pr_sync *y, const pr_record *r)
{
    int member[MOST_DRAWS], n = 0;
    pr_sync_counter c = { .width = r->width };
    if (!pr_term_const(e->terms, pr_encoding_side(e, r->id, PR_SIDE_A)->addr, &c.addr) || c.addr % r->width) return false;
    pr_vset init = pr_vset_initial_at(e, r, c.addr);
    if (init.any || init.n != 1) return false;
    c.first = init.v[0];
    if (!closed(e, r, c.addr, member, &n) || !amounts(e, &c, member, n) || !bounded(e, &c, member, n)) return false;
    pr_vec_push(e->arena, &y->counters, c);
    for (int k = 0; k < n; k++) pr_vec_push(e->arena, &y->draws, ((pr_sync_draw){ member[k], y->counters.n - 1 }));
    return true;
}

void pr_sync_find_draws(pr_encoding *e, pr_sync *y)
{
    for (int i = 0; i < e->records->records.n && y->draws.n < MOST_DRAWS; i++) {
        const pr_record *r = record(e, i);
        bool known = false;
        if (!pr_sync_draws(r) || pr_sync_identity(e, i)) continue;
        for (int k = 0; k < y->draws.n; k++) known = known || y->draws.data[k].record == i;
        for (int k = 0; k < y->events.n; k++) known = known || (y->events.data[k].record == i && y->events.data[k].counted);
        const pr_side *s = pr_encoding_side(e, i, PR_SIDE_A);
        if (known || s->refused || s->dead || pr_term_none(s->addr)) continue;
        if (!find_cell(e, y, r)) find_array(e, y, r);
    }
}

/* ---- results in queries ------------------------------------------------------------------------ */

/* A result that an access names: of draw `draw`, in the turn before or in this one; when: the draw ran; cell: in an array, its address. */
typedef struct named { int draw; pr_term app, value, amount, when, cell; pr_term arg[MOST_LOOPS + PR_RANK_MAX]; int n_args; } named;
typedef struct names { pr_encoding *e; const pr_sync *y; const pr_record *x; const pr_side *side; named of[MOST_NAMED]; int n; } names;

static int draw_named(const pr_encoding *e, const pr_sync *y, const pr_record *x, pr_term app, int *turn)
{
    for (int i = 0; i < y->draws.n; i++)
        if ((*turn = turn_of(e, record(e, y->draws.data[i].record), app, x->frame)) >= 0) return i;
    return -1;
}

bool pr_sync_names(pr_encoding *e, const pr_record *x, pr_term app)
{
    pr_sync *y = pr_sync_of(e);
    int turn;
    if (!y && e->sync && e->sync->tickets) y = e->sync;
    return y && draw_named(e, y, x, app, &turn) >= 0;
}

static void note_named(void *user, pr_term t)
{
    names *l = user;
    pr_terms *T = l->e->terms;
    int turn, d;
    if (pr_term_op_of(T, t) != PR_TERM_OP_APP || l->n == MOST_NAMED || (d = draw_named(l->e, l->y, l->x, t, &turn)) < 0) return;
    const pr_record *r = record(l->e, l->y->draws.data[d].record);
    named w = { .draw = d, .app = t, .value = apply(l->side, t), .when = PR_TERM_TRUE, .amount = PR_TERM_NONE,
                .cell = PR_TERM_NONE, .n_args = pr_term_arity(T, t) };
    if (pr_term_none(w.value)) return;
    for (int i = 0; i < w.n_args; i++) {
        w.arg[i] = apply(l->side, pr_term_child(T, t, i));
        if (pr_term_none(w.arg[i])) return;
    }
    w.when = turn == 0 ? ran(l->e, r, l->x, t, w.n_args - wide_dims(r)) : PR_TERM_TRUE;
    if (!pr_term_none(w.when)) w.when = apply(l->side, w.when);
    if (pr_term_none(w.when)) return;
    if (l->y->counters.data[l->y->draws.data[d].counter].array) {
        pr_term at = turn == 0 ? of_execution(l->e, r, t, r->offset) : PR_TERM_NONE;
        if (!pr_term_none(at)) at = apply(l->side, at);
        if (pr_term_none(at) || pr_term_any(T, at, is_private, NULL)) return;
        w.cell = pr_add(T, at, pr_const(T, l->e->launch->args[r->base].tensor->ptr));
        if (pr_term_none(w.cell)) return;
    }
    if (turn == 1) w.when = pr_le(T, PR_TERM_ZERO, w.arg[w.n_args - wide_dims(r) - 1]);
    if (turn == 0 && !wide_dims(r)) w.amount = apply(l->side, r->value);
    l->of[l->n++] = w;
}

static void find_names(pr_encoding *e, const pr_sync *y, const pr_side *s, names *l)
{
    enum { MOST_ROOTS = 64 };
    pr_term root[MOST_ROOTS];
    int n = 0;
    *l = (names){ .e = e, .y = y, .x = s->record, .side = s };
    root[n++] = s->record->mask;
    if (!pr_term_none(s->record->offset)) root[n++] = s->record->offset;
    for (const pr_frame *f = s->record->frame; f && n + 2 < MOST_ROOTS; f = f->outer) {
        root[n++] = f->kind == PR_FRAME_COND ? f->cond : f->upper;
        if (f->kind == PR_FRAME_LOOP) root[n++] = f->lower;
    }
    pr_term_visit_all(e->terms, root, n, note_named, l);
}

static void push(pr_encoding *e, pr_term_vec *out, pr_term t)
{
    if (pr_term_none(t)) return;           /* a fact that cannot be stated is left out */
    t = pr_encode_simplify(e, t);
    if (!pr_term_none(t) && !pr_term_is(t, PR_TERM_TRUE)) pr_vec_push(e->arena, out, t);
}

static void ranges(pr_encoding *e, const pr_sync *y, const names *l, pr_term_vec *out)
{
    pr_terms *T = e->terms;
    for (int i = 0; i < l->n; i++) {
        const named *w = &l->of[i];
        const pr_sync_counter *c = &y->counters.data[y->draws.data[w->draw].counter];
        pr_term from = pr_sub(T, w->value, pr_const(T, c->first)), in = pr_le(T, PR_TERM_ZERO, from);
        if (c->array) {
            const pr_tensor *t = e->launch->args[record(e, y->draws.data[w->draw].record)->base].tensor;
            push(e, out, pr_implies(T, w->when, pr_and(T, pr_le(T, pr_const(T, t->storage_lo), w->cell), pr_lt(T, w->cell, pr_const(T, t->storage_hi)))));
        }
        if (c->by_cell) {
            pr_term at = pr_fdiv_t(T, pr_sub(T, w->cell, pr_const(T, c->addr)), pr_const(T, c->width));
            in = pr_term_none(at) ? at : pr_and(T, pr_le(T, pr_table(T, c->least_of, at), w->value), pr_le(T, w->value, pr_table(T, c->most_of, at)));
        } else if (c->array) {
            if (!c->bounded) continue;
            pr_i128 moved = c->step * (c->most - 1);
            in = pr_and(T, pr_le(T, pr_const(T, c->first + (moved < 0 ? moved : 0)), w->value),
                        pr_le(T, w->value, pr_const(T, c->last + (moved > 0 ? moved : 0))));
        } else if (c->step) {
            in = pr_and(T, in, pr_le(T, from, pr_const(T, c->step * (c->most - 1))));
            in = pr_and(T, in, pr_eq(T, pr_fmod_t(T, from, pr_const(T, c->step)), PR_TERM_ZERO));
        } else {
            in = pr_and(T, in, pr_le(T, pr_term_none(w->amount) ? from : pr_add(T, from, w->amount), pr_const(T, c->total)));
        }
        push(e, out, pr_implies(T, w->when, in));
        bool known = false;
        for (int k = 0; k < y->drawn.n; k++) known = known || pr_term_is(y->drawn.data[k], w->value);
        if (!known) pr_vec_push(e->arena, &e->sync->drawn, w->value);
    }
}

/* Two results of one counter: of one execution they are equal, of two they are apart. same_program: by their turns and lanes. */
static void apart(pr_encoding *e, const pr_sync *y, const named *u, const named *v, bool same_program, pr_term_vec *out)
{
    pr_terms *T = e->terms;
    const pr_sync_draw *d = &y->draws.data[u->draw], *f = &y->draws.data[v->draw];
    const pr_sync_counter *c = &y->counters.data[d->counter];
    if (d->counter != f->counter) return;
    pr_term differ = PR_TERM_TRUE, both = pr_and(T, u->when, v->when), away;
    if (same_program && d->record == f->record) {
        differ = PR_TERM_FALSE;
        for (int i = 0; i < u->n_args; i++) differ = pr_or(T, differ, pr_ne(T, u->arg[i], v->arg[i]));
        if (pr_term_none(differ)) return;
        push(e, out, pr_implies(T, pr_and(T, both, pr_not(T, differ)), pr_eq(T, u->value, v->value)));
    }
    if (e->options->fault == 57) differ = PR_TERM_TRUE;
    if (c->array && e->options->fault != 93) differ = pr_and(T, differ, pr_eq(T, u->cell, v->cell));
    if (pr_term_none(differ)) return;
    if (c->step) away = pr_ne(T, u->value, v->value);
    else if (pr_term_none(u->amount) || pr_term_none(v->amount)) return;
    else away = pr_or(T, pr_le(T, pr_add(T, u->value, u->amount), v->value), pr_le(T, pr_add(T, v->value, v->amount), u->value));
    if (!pr_term_none(differ)) push(e, out, pr_implies(T, pr_and(T, both, differ), away));
}

void pr_sync_draw_facts(pr_encoding *e, const pr_side *x, const pr_side *z, bool intra, pr_term_vec *out)
{
    const pr_sync *y = pr_sync_of(e);
    names *a = PR_NEW(e->arena, names), *b = PR_NEW(e->arena, names);
    if (!y || !y->draws.n || x->refused || x->dead) return;
    find_names(e, y, x, a);
    ranges(e, y, a, out);
    if (!z || z->refused || z->dead) return;    /* (of one copy alone only what every single result is) */
    find_names(e, y, z, b);
    ranges(e, y, b, out);
    for (int i = 0; i < a->n; i++)
        for (int j = 0; j < i; j++) apart(e, y, &a->of[i], &a->of[j], true, out);
    for (int i = 0; i < b->n; i++)
        for (int j = 0; j < i; j++) apart(e, y, &b->of[i], &b->of[j], true, out);
    for (int i = 0; i < a->n; i++)
        for (int j = 0; j < b->n; j++) apart(e, y, &a->of[i], &b->of[j], intra, out);
}
