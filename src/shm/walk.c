/* The walk over the operation tree: control flow, loop-carried values, agents. See events.h and walk.h. */
#include "shm/walk.h"
#include "term/range.h"
#include <assert.h>
#include <string.h>

pr_sv pr_walk_get(pr_walk *w, const pr_value *v)
{
    return v ? w->env[v->id] : pr_walk_opaque();
}
void pr_walk_set(pr_walk *w, const pr_value *v, pr_sv s)
{
    if (s.kind == PR_SV_TERM && pr_term_none(s.t)) s = pr_walk_opaque();
    w->env[v->id] = s;
}
pr_sv pr_walk_term(pr_term t) { return (pr_sv){ .kind = PR_SV_TERM, .t = t }; }
pr_sv pr_walk_opaque(void) { return (pr_sv){ .kind = PR_SV_OPAQUE }; }

pr_term pr_walk_when(pr_walk *w)
{
    pr_term t = PR_TERM_TRUE;
    for (int i = 0; i < w->path.n; i++) t = pr_and(w->T, t, w->path.data[i]);
    return t;
}

enum { ROLE_GRID = 1000000, ROLE_OP = 2000000, ROLE_COPY = 20000000, ROLE_FRESH = 10000000 };
static pr_sv leaf(pr_walk *w, int role, bool exact, pr_str text, const pr_value *v, bool from_memory)
{
    pr_shm_prog *p = w->p;
    int index = -1;
    for (int i = 0; i < p->params.n && index < 0; i++) {
        const pr_shm_param *q = &p->params.data[i];
        int at = pr_var_get(w->T, q->var)->index;
        if (q->leaf && (exact ? at == role : at >= role && at < ROLE_OP) && pr_str_eq(q->name, text)) index = i;
    }
    if (index < 0) {
        bool argument = !exact && !role;
        bool grid = role == ROLE_GRID, programs = grid && pr_str_starts(text, "programs_");
        bool flag = argument && v->type && v->type->bits == 1 && v->type->kind == PR_TYPE_INT;
        bool not_negative = flag || grid || (argument && p->arguments_not_negative);
        pr_var_info info = { .role = PR_ROLE_OTHER, .copy = PR_COPY_NONE, .lo = programs ? 1 : not_negative ? 0 : -PR_INF, .hi = flag ? 1 : PR_INF,
                             .index = exact ? role : role + 100000 + p->params.n,
                             .name = pr_arena_strndup(p->arena, text.s ? text.s : "v", text.s ? text.n : 1) };
        pr_shm_param q = { .var = pr_var_new(w->T, info), .name = text, .leaf = true, .from_memory = from_memory, .flag = flag, .multiple = 1 };
        const pr_attr *d = v && v->attrs ? pr_dict_get(v->attrs, "tt.divisibility") : NULL;
        if (d && d->kind == PR_ATTR_INT && d->integer > 1 && d->integer <= 1024) q.multiple = (int64_t)d->integer;
        index = p->params.n;
        pr_vec_push(p->arena, &p->params, q);
    }
    if (!w->concrete) return pr_walk_term(pr_var_term(w->T, p->params.data[index].var));
    if (from_memory) w->trace->assumed = true;
    return pr_walk_term(pr_const(w->T, index < w->n_values ? w->value[index] : 1));
}

pr_sv pr_walk_leaf(pr_walk *w, const pr_op *op, const pr_value *v, const char *name, bool from_memory)
{
    int role = op ? ROLE_OP + w->copy * ROLE_COPY + op->id : name ? ROLE_GRID : 0;
    return leaf(w, role, op != NULL, name ? pr_str_of(name) : v->name, v, from_memory);
}

pr_sv pr_walk_fresh(pr_walk *w, const pr_value *v)
{
    return leaf(w, ROLE_OP + w->copy * ROLE_COPY + ROLE_FRESH + v->id, true, v->name, v, true);
}

static bool is_effect(const pr_op *op)
{
    return pr_str_starts(op->name, "ttg.") || pr_str_starts(op->name, "ttng.");
}
static const pr_op *first_effect(const pr_region *r)
{
    for (int b = 0; r && b < r->n_blocks; b++) {
        for (int i = 0; i < r->blocks[b]->n_ops; i++) {
            const pr_op *op = r->blocks[b]->ops[i];
            if (is_effect(op) && op->opcode != PR_OP_TTG_CONVERT_LAYOUT && !pr_shm_is_view(op->opcode)) return op;
            for (int k = 0; k < op->n_regions; k++) {
                const pr_op *e = first_effect(op->regions[k]);
                if (e) return e;
            }
        }
    }
    return NULL;
}

/* ---- loops ---------------------------------------------------------------------------------------------- */
int pr_walk_loop_number(pr_walk *w, const pr_op *op)
{
    pr_shm_prog *p = w->p;
    int place = pr_shm_place(p, w->copy, op), n = p->loop_of_op[place];
    if (n >= 0) return n;
    n = p->loop_of_op[place] = p->loops.n;
    pr_var_info info = { .role = PR_ROLE_ITER, .index = n, .copy = PR_COPY_NONE, .lo = 0, .hi = PR_INF,
                         .name = pr_arena_printf(p->arena, "k%d", n) };
    pr_shm_loop l = { .span = PR_TERM_NONE, .op = op, .counter = pr_var_new(w->T, info), .name = pr_region_block(op->regions[0])->args[0]->name };
    pr_vec_push(p->arena, &p->loops, l);
    return n;
}

static bool scalar_of(pr_walk *w, const pr_value *v, pr_term *t)
{
    pr_sv s = pr_walk_get(w, v);
    *t = s.t;
    return s.kind == PR_SV_TERM && !pr_term_is_bool(w->T, s.t) && !pr_shm_is_unknown(w->p, s.t);
}

/* The bounds of a loop; `scf.for unsigned` compares them as numbers without a sign. */
static bool bounds_of(pr_walk *w, const pr_op *op, pr_term *lb, pr_term *ub, pr_term *step)
{
    pr_term *to[3] = { lb, ub, step };
    bool known = true;
    for (int i = 0; i < 3; i++) known = scalar_of(w, op->operands[i], to[i]) && known;
    const pr_type *t = op->operands[0]->type;
    for (int i = 0; known && t && i < 3 && pr_op_attr(op, "unsignedCmp"); i++)
        *to[i] = pr_walk_unsigned(w, *to[i], t->kind == PR_TYPE_INDEX ? 64 : t->bits);
    return known;
}

/* Values carried around the loop body by block arguments, set before each iteration. */
static void concrete_loop(pr_walk *w, const pr_op *op, const pr_block *body)
{
    pr_term lb, ub, st;
    pr_i128 from = 0, to = 2, step = 1;
    bool numbers = bounds_of(w, op, &lb, &ub, &st) && pr_term_const(w->T, lb, &from) && pr_term_const(w->T, ub, &to) && pr_term_const(w->T, st, &step);
    if (numbers && step <= 0) {                      /* no such loop: its step is positive (scf.for)          */
        w->trace->excluded = true;
        from = to;
        step = 1;
    } else if (!numbers) {
        w->trace->assumed = true;
        from = 0, to = 2, step = 1;
    }
    int number = pr_walk_loop_number(w, op), at = w->n_loops, n = op->n_results;
    pr_sv *carried = PR_NEW_N(w->arena, pr_sv, n);
    for (int i = 0; i < n; i++) carried[i] = pr_walk_get(w, op->operands[3 + i]);
    if (at < PR_SHM_LOOPS) {
        w->loop[at] = number;
        w->n_loops++;
    }
    int64_t k = 0, *total = number < 64 ? &w->trace->total[number] : NULL;
    for (pr_i128 iv = from; iv < to && w->n_steps < PR_SHM_RUN_STEPS && w->n_events <= w->limit; iv += step, k++) {
        if (at < PR_SHM_LOOPS) {
            w->iteration[at] = k;
            w->flat[at] = total ? (*total)++ : -1;
        }
        pr_walk_set(w, body->args[0], pr_walk_term(pr_const(w->T, iv)));
        for (int i = 0; i < n; i++) pr_walk_set(w, body->args[1 + i], carried[i]);
        pr_walk_block(w, body);
        const pr_op *yield = pr_block_terminator(body);
        for (int i = 0; i < n; i++) carried[i] = pr_walk_get(w, yield->operands[i]);
    }
    w->n_loops = at;
    for (int i = 0; i < n; i++) pr_walk_set(w, op->results[i], carried[i]);
    if (number < 64) {
        if (number >= w->trace->n_trips) w->trace->n_trips = number + 1;
        if (k > w->trace->trips[number]) w->trace->trips[number] = k;
    }
}

pr_var pr_walk_state(pr_walk *w)
{
    pr_var_info info = { .role = PR_ROLE_OTHER, .index = PR_SHM_STATES + w->n_states, .copy = PR_COPY_NONE, .lo = -PR_INF,
                         .hi = PR_INF, .name = pr_arena_printf(w->arena, "x%d", w->n_states) };
    w->n_states++;
    return pr_var_new(w->T, info);
}

static pr_term int_of(pr_walk *w, pr_term t)
{
    return !pr_term_none(t) && pr_term_is_bool(w->T, t) ? pr_bool_to_int(w->T, t) : t;
}

static int parts(const pr_sv *s)
{
    int n = 0;
    if (s->kind == PR_SV_TERM || s->kind == PR_SV_VIEWS) return 1;
    for (int d = 0; s->kind == PR_SV_VIEW && d < PR_SHM_RANK; d++) n += s->v.indexed[d];
    return n;
}
static pr_term *part(pr_sv *s, int i)
{
    if (s->kind == PR_SV_TERM || s->kind == PR_SV_VIEWS) return &s->t;
    for (int d = 0; d < PR_SHM_RANK; d++)
        if (s->v.indexed[d] && i-- == 0) return &s->v.index[d];
    return NULL;
}

/* Number of iterations. A step that may be zero or less is taken to be positive where the loop does something (touches). */
static pr_term trip_count(pr_walk *w, pr_term lb, pr_term ub, pr_term st, bool touches)
{
    pr_terms *T = w->T;
    pr_i128 step;
    if (pr_term_const(T, st, &step)) {
        if (step <= 0) return PR_TERM_NONE;
        pr_term span = pr_sub(T, ub, lb);
        if (step > 1) span = pr_fdiv_t(T, pr_add(T, span, pr_const(T, step - 1)), st);
        return pr_max(T, PR_TERM_ZERO, span);
    }
    bool may_be_none = pr_range_own(T, st).lo < 1;
    if (w->n_loops || (may_be_none && (!touches || w->path.n || w->may))) return PR_TERM_NONE;   /* a loop that is not reached says nothing of its step */
    if (may_be_none) w->p->assumes_steps = true;
    for (int i = 0; i < w->cuts.n; i++) {
        const pr_cut *c = &w->cuts.data[i];
        if (c->opcode == PR_OP_SCF_FOR && c->a.id == lb.id && c->b.id == ub.id && c->c.id == st.id) return c->value;
    }
    /* with a step of at least 1: the quotient, which conditions ask for too, below 0 as well */
    pr_var_info info = { .role = PR_ROLE_OTHER, .index = 1000 + w->cuts.n, .copy = PR_COPY_NONE, .lo = -PR_INF,
                         .hi = PR_INF, .name = pr_arena_printf(w->arena, "trips%d", w->cuts.n) };
    pr_shm_param param = { .var = pr_var_new(T, info), .name = pr_str_of(info.name) };
    pr_vec_push(w->p->arena, &w->p->params, param);
    pr_cut c = { PR_OP_SCF_FOR, lb, ub, st, pr_max(T, PR_TERM_ZERO, pr_var_term(T, param.var)), param.var };
    pr_vec_push(w->arena, &w->cuts, c);
    pr_term q = pr_var_term(T, c.quotient), span = pr_sub(T, ub, lb);
    pr_term is = pr_and(T, pr_le(T, span, pr_mul(T, q, st)), pr_lt(T, pr_mul(T, pr_sub(T, q, pr_const(T, 1)), st), span));
    pr_shm_def def = { .is = pr_and(T, is, pr_le(T, pr_const(T, 1), st)) };
    if (!pr_term_none(is)) pr_vec_push(w->p->arena, &w->p->defs, def);
    return c.value;
}

/* Iterations of all executions instead of those of one. */
static void flatten(pr_walk *w, pr_flat *f, int number, pr_var *counter, pr_term *trips)
{
    pr_shm_loop *l = &w->p->loops.data[number];
    pr_term total;
    int nest = pr_flat_nest_of(w, f, &total);
    if (nest < 0) return;
    int outer = w->p->loop_of_op[pr_shm_place(w->p, w->copy, f->outer)];
    pr_i128 each = 0;
    pr_term tiles = w->p->loops.data[outer].trips;
    if (!pr_term_none(tiles) && pr_term_const(w->T, f->trips, &each) && each > 0 && each < INT32_MAX) total = pr_scale(w->T, tiles, each);
    else each = 0;
    *l = (pr_shm_loop){ .op = l->op, .name = l->name, .counter = f->counter, .trips = total, .flat = true, .nest = nest,
                        .outer = outer, .each = (int64_t)each, .local = l->flat ? l->local : l->counter, .span = f->product && !each ? f->span : PR_TERM_NONE };
    *counter = f->counter;
    *trips = total;
}

/* The forms of the members inside the inner loop, over the counter of all iterations. */
static void flat_forms(pr_walk *w, const pr_flat *f, pr_shm_carried *c, const int *first)
{
    bool known = w->p->loops.data[w->p->loop_of_op[pr_shm_place(w->p, w->copy, f->inner)]].flat;
    for (int i = 0; i < f->n; i++) c[first[f->inner_arg[i]]].form = known ? f->form[i] : PR_TERM_NONE;
}

/* Which loops inside op need the counter of all iterations; op's own forms where executions are equally long. */
static void activate(pr_walk *w, const pr_op *op, pr_shm_carried *c, const int *first, pr_var counter)
{
    for (int i = 0; i < w->flats.n; i++) {
        pr_flat *f = &w->flats.data[i];
        pr_i128 v;
        bool equal = !pr_term_none(f->trips) && pr_term_const(w->T, f->trips, &v);
        for (int j = 0; f->outer == op && j < f->n; j++) {
            if (pr_term_none(f->form[j])) continue;
            /* equal executions: one way of counting for all agents, also where this one could do without */
            bool counts = equal && pr_term_mentions(w->T, f->form[j], f->counter);
            f->active = f->active || counts || pr_term_none(c[first[f->outer_arg[j]]].form);
        }
        f->active = f->active || (f->outer == op && f->product && !pr_term_none(f->span));
        if (f->outer != op || !f->active || !equal) continue;
        pr_term before = pr_scale(w->T, pr_var_term(w->T, counter), v);
        for (int j = 0; j < f->n; j++)
            if (!pr_term_none(f->form[j])) c[first[f->outer_arg[j]]].form = pr_shm_replace(w->arena, w->T, f->form[j], f->counter, before);
    }
}

/* What a value that op carries through a flat loop is in the end. */
static pr_term flat_end(pr_walk *w, const pr_op *op, int result)
{
    for (int i = 0; i < w->flats.n; i++) {
        const pr_flat *f = &w->flats.data[i];
        int number = w->p->loop_of_op[pr_shm_place(w->p, w->copy, f->inner)];
        if (f->outer != op || number < 0 || !w->p->loops.data[number].flat) continue;
        for (int j = 0; j < f->n; j++)
            if (f->outer_arg[j] == result && !pr_term_none(f->form[j]))
                return pr_shm_replace(w->arena, w->T, f->form[j], f->counter, w->p->loops.data[number].trips);
    }
    return PR_TERM_NONE;
}

/* What a loop carries, behind it. */
static void leave(pr_walk *w, const pr_shm_carried *c, pr_term value, pr_var counter, pr_term trips)
{
    bool on = !pr_term_none(c->orbit) && c->at.id == counter.id;
    pr_walk_end e = { .value = value, .form = on ? c->orbit : c->form, .steps = on ? pr_add(w->T, c->steps, trips) : trips, .at = counter };
    if (!pr_term_none(e.form) && pr_term_mentions(w->T, e.form, counter)) pr_vec_push(w->arena, &w->ends, e);
}

static void symbolic_loop(pr_walk *w, const pr_op *op, const pr_block *body)
{
    pr_terms *T = w->T;
    pr_term lb, ub, st, trips = PR_TERM_NONE, iv = PR_TERM_NONE;
    bool known = bounds_of(w, op, &lb, &ub, &st);
    int number = pr_walk_loop_number(w, op), at = w->n_loops, n = op->n_results;
    pr_var counter = w->p->loops.data[number].counter, numbering = counter;
    pr_term k = pr_var_term(T, counter);
    pr_flat *flat = pr_flat_of(w, op);
    pr_i128 step;
    if (known) pr_walk_scale(w, pr_walk_content(w, st));
    if (known) trips = trip_count(w, lb, ub, st, first_effect(op->regions[0]) != NULL);
    if (known) iv = pr_term_const(T, st, &step) ? pr_add(T, lb, pr_scale(T, k, step))
                                                : pr_add(T, lb, pr_mul(T, k, st));
    if (flat) flat->trips = trips;
    if (flat && known && pr_term_const(T, st, &step) && step > 0) {
        flat->span = pr_fdiv_t(T, pr_add(T, pr_sub(T, ub, lb), pr_const(T, step - 1)), st);
        if (!pr_walk_invariant(w, flat->span)) flat->span = PR_TERM_NONE;
    }
    if (flat && flat->active && !pr_term_none(trips)) flatten(w, flat, number, &numbering, &trips);
    w->p->loops.data[number].trips = trips;
    k = pr_var_term(T, numbering);
    bool was_unbounded = w->unbounded, was_deep = w->deep, emit = w->emit;
    int path = w->path.n;
    if (at < PR_SHM_LOOPS) w->loop[w->n_loops++] = number;
    else w->deep = true;
    if (pr_term_none(trips)) w->unbounded = true;
    pr_vec_push(w->arena, &w->path, pr_le(T, PR_TERM_ZERO, k));
    if (!pr_term_none(trips)) pr_vec_push(w->arena, &w->path, pr_lt(T, k, trips));

    /* 1. The body with unknown state, silently, for the updates. */
    pr_sv *init = PR_NEW_N(w->arena, pr_sv, n), *state = PR_NEW_N(w->arena, pr_sv, n);
    PR_VEC(pr_shm_carried) c = { 0 };
    int *first = PR_NEW_N(w->arena, int, n);
    int *n_rotated = PR_NEW_N(w->arena, int, n);     /* buffers that the loop may hand around: which one is a number   */
    for (int i = 0; i < n; i++) init[i] = pr_walk_get(w, op->operands[3 + i]);
    for (int i = 0; i < n; i++) n_rotated[i] = pr_walk_rotated(w, init, n, i, op, &state[i]);
    for (int i = 0; i < n; i++) {
        int member = flat && flat->active ? pr_flat_member(flat, i) : -1;
        if (n_rotated[i] > 1) init[i] = state[i];
        else init[i] = state[i] = member < 0 ? pr_walk_get(w, op->operands[3 + i]) : pr_walk_term(flat->init[member]);
        first[i] = c.n;
        bool boolean = init[i].kind == PR_SV_TERM && pr_term_is_bool(T, init[i].t);
        for (int j = 0; j < parts(&init[i]); j++) {
            /* a member begins each execution with what the last one left: its form comes from all executions, and what depends on it has none */
            pr_shm_carried one = { .state = pr_walk_state(w), .init = member < 0 ? int_of(w, *part(&init[i], j)) : PR_TERM_NONE };
            pr_term x = pr_var_term(T, one.state);
            for (int e = 0; e < w->ends.n && !pr_term_none(one.init); e++) {
                if (w->ends.data[e].value.id != one.init.id) continue;
                one.orbit = w->ends.data[e].form;
                one.steps = w->ends.data[e].steps;
                one.at = w->ends.data[e].at;
            }
            *part(&state[i], j) = boolean ? pr_int_to_bool(T, x) : x;
            pr_vec_push(w->arena, &c, one);
        }
        pr_walk_set(w, body->args[1 + i], state[i]);
    }
    if (!at) pr_flat_find(w, op, body, init);
    const pr_op *yield = pr_block_terminator(body);
    for (bool again = true; again;) {                /* once more without a memdesc that turns out to be another one: others may be it next   */
        again = false;
        pr_walk_set(w, body->args[0], pr_walk_term(iv));
        for (int i = 0; i < n; i++) pr_walk_set(w, body->args[1 + i], state[i]);
        w->emit = false;
        pr_walk_block(w, body);
        w->emit = emit;
        for (int i = 0; i < n; i++) {
            pr_sv next = pr_walk_get(w, yield->operands[i]);
            if (n_rotated[i] > 1 && state[i].kind == PR_SV_VIEWS) next = (pr_sv){ .kind = PR_SV_VIEWS, .t = pr_walk_number(w, &next, state[i].views, n_rotated[i]), .n_views = n_rotated[i], .views = state[i].views };
            bool same = next.kind == state[i].kind && (next.kind != PR_SV_VIEWS || n_rotated[i] > 1)
                        && (next.kind != PR_SV_VIEW || pr_walk_same_frame(&next.v, &state[i].v));
            for (int j = 0; j < parts(&state[i]); j++)
                c.data[first[i] + j].update = same ? int_of(w, *part(&next, j)) : PR_TERM_NONE;
            bool memdesc = state[i].kind == PR_SV_VIEW || state[i].kind == PR_SV_VIEWS;
            if (!memdesc || (same && !(n_rotated[i] > 1 && pr_term_none(next.t)))) continue;
            state[i] = pr_walk_opaque();
            again = true;
        }
    }
    pr_shm_recover(w->arena, T, counter, c.data, c.n);
    if (flat) pr_flat_recover(w, flat, init, c.data, first);
    if (flat && flat->active) flat_forms(w, flat, c.data, first);
    if (!at) activate(w, op, c.data, first, counter);

    /* 2. The body with closed forms, and the values behind the loop. */
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < n; i++) {
            pr_sv s = state[i];
            bool boolean = init[i].kind == PR_SV_TERM && pr_term_is_bool(T, init[i].t);
            for (int j = 0; j < parts(&state[i]); j++) {
                pr_term f = c.data[first[i] + j].form;
                if (!pr_term_none(f)) f = pr_shm_refit(w->arena, T, f, counter);
                if (pass && !pr_term_none(f))
                    f = pr_term_none(trips) || w->p->loops.data[number].flat ? PR_TERM_NONE
                                                                        : pr_shm_replace(w->arena, T, f, counter, trips);
                if (pass && !pr_term_none(f)) leave(w, &c.data[first[i] + j], f, counter, trips);
                if (pass && pr_term_none(f)) f = flat_end(w, op, i);
                if (pr_term_none(f) && !at && emit && !w->concrete && !pr_term_none(trips))
                    f = pr_walk_unknown_value(w, pass ? -1 : number, c.data, c.n, first[i] + j, s.kind == PR_SV_TERM);
                if (pr_term_none(f)) {
                    if (s.kind == PR_SV_TERM) s = pr_walk_opaque();
                    else *part(&s, j) = PR_TERM_NONE;
                    if (s.kind == PR_SV_OPAQUE) break;
                } else {
                    *part(&s, j) = boolean ? pr_eq(T, f, pr_const(T, 1)) : f;
                }
            }
            if (s.kind == PR_SV_NONE) s = pr_walk_opaque();
            if (s.kind == PR_SV_VIEWS) s = pr_walk_one_of(w, s.views, s.n_views, s.t);
            if (pass) pr_walk_set(w, op->results[i], s);
            else pr_walk_set(w, body->args[1 + i], s);
        }
        if (pass) break;
        pr_walk_set(w, body->args[0], pr_walk_term(iv));
        pr_walk_block(w, body);
        w->n_loops = at;
        w->path.n = path;
        w->unbounded = was_unbounded;
        w->deep = was_deep;
    }
}

/* ---- branches ------------------------------------------------------------------------------------------- */
static pr_sv joined(pr_walk *w, pr_term c, const pr_sv *a, const pr_sv *b)
{
    if (a->kind != PR_SV_TERM || b->kind != PR_SV_TERM) return pr_walk_either(w, c, a, b);
    if (pr_term_none(c) || pr_term_is_bool(w->T, a->t) != pr_term_is_bool(w->T, b->t)) return pr_walk_opaque();
    return pr_walk_term(pr_select(w->T, c, a->t, b->t));
}

static void branch(pr_walk *w, const pr_op *op)
{
    pr_sv cond = pr_walk_get(w, op->operands[0]);
    int n = op->n_results;
    if (cond.kind == PR_SV_TERM) cond.t = pr_flat_whole(w, cond.t);
    bool opaque = cond.kind != PR_SV_TERM || !pr_term_is_bool(w->T, cond.t) || pr_flat_local(w, cond.t, true), unknown = !opaque && pr_shm_is_unknown(w->p, cond.t);
    if (opaque) cond.t = PR_TERM_NONE;
    opaque = opaque || unknown;
    pr_sv *result[2] = { PR_NEW_N(w->arena, pr_sv, n), PR_NEW_N(w->arena, pr_sv, n) };
    bool never[2] = { !opaque && pr_term_is(cond.t, PR_TERM_FALSE), !opaque && pr_term_is(cond.t, PR_TERM_TRUE) };
    if (w->concrete && opaque) {
        w->trace->assumed = true;
        never[1] = true;
    }
    for (int side = 0; side < 2; side++) {
        const pr_block *b = op->n_regions > side ? pr_region_block(op->regions[side]) : NULL;
        int path = w->path.n, given = w->given.n;
        if (never[side] || !b) continue;
        if (unknown) pr_vec_push(w->arena, &w->given, side ? pr_not(w->T, cond.t) : cond.t);
        int outer = w->branch, outer_loops = w->branch_loops;
        if (opaque) {
            w->may++;
            w->branch = ++w->n_branches;
            w->branch_loops = w->n_loops;
        } else if (!w->concrete) pr_vec_push(w->arena, &w->path, side ? pr_not(w->T, cond.t) : cond.t);
        pr_walk_block(w, b);
        if (opaque) w->may--;
        w->branch = outer;
        w->branch_loops = outer_loops;
        w->path.n = path;
        w->given.n = given;
        const pr_op *yield = pr_block_terminator(b);
        for (int i = 0; i < n && yield && i < yield->n_operands; i++)
            result[side][i] = pr_walk_get(w, yield->operands[i]);
    }
    for (int i = 0; i < n; i++) {
        pr_sv r = pr_walk_opaque();
        if (never[0]) r = result[1][i];
        else if (never[1]) r = result[0][i];
        else r = joined(w, cond.t, &result[0][i], &result[1][i]);
        pr_walk_set(w, op->results[i], r);
    }
}

/* ---- warp specialisation ----------------------------------------------------------------------------------- */
static void mark(pr_walk *w, pr_shm_event_kind kind, const pr_op *op)
{
    pr_shm_event e = { .kind = kind, .op = op };
    pr_walk_emit(w, e, pr_walk_term(PR_TERM_TRUE));
}

static void specialize(pr_walk *w, const pr_op *op)
{
    int outer = w->ws;
    if (op->n_operands && !w->p->membar) mark(w, PR_SHM_EV_SCRATCH, op);  /* through which the captures go              */
    mark(w, PR_SHM_EV_ENTRY, op);
    w->ws = w->n_ws++;
    mark(w, PR_SHM_EV_BEGIN, op);
    for (int r = 0; r < op->n_regions && r < PR_SHM_AGENTS; r++) {
        const pr_block *b = pr_region_block(op->regions[r]);
        if (!b) continue;
        const pr_attr *warps = pr_op_attr(op, "partitionNumWarps");
        w->agent = r;
        w->warps = !r ? w->p->num_warps
                   : warps && warps->kind == PR_ATTR_DENSE_ARRAY && r <= warps->n_ints ? (int)warps->ints[r - 1] : 0;
        if (r) {
            mark(w, PR_SHM_EV_BEGIN, op);
            for (int i = 0; i < b->n_args && i < op->n_operands; i++)
                pr_walk_set(w, b->args[i], pr_walk_get(w, op->operands[i]));
        }
        pr_walk_block(w, b);
        const pr_op *end = pr_block_terminator(b);
        for (int i = 0; !r && end && i < op->n_results && i < end->n_operands; i++)
            pr_walk_set(w, op->results[i], pr_walk_get(w, end->operands[i]));
        if (r) mark(w, PR_SHM_EV_END, op);
    }
    w->agent = 0;
    w->warps = w->p->num_warps;
    mark(w, PR_SHM_EV_END, op);
    w->ws = outer;
    mark(w, PR_SHM_EV_JOIN, op);
}

/* ---- operations ---------------------------------------------------------------------------------------------- */
/* A symbolic walk reads the body of a loop twice: 2^n times at depth n. Past the limit nothing is read any more. */
static bool used_up(pr_walk *w, const pr_op *op)
{
    if (w->concrete || ++w->n_steps < PR_SHM_SYMBOLIC_STEPS) return false;
    if (w->n_steps == PR_SHM_SYMBOLIC_STEPS)
        pr_shm_refuse(w->p, &w->model->refusals, PR_REFUSAL_BUDGET, op, "too many nested loops and operations to follow");
    return true;
}

static void step(pr_walk *w, const pr_op *op)
{
    if (used_up(w, op)) return;
    if (w->concrete) w->n_steps++;
    switch (op->opcode) {
    case PR_OP_SCF_FOR:
        if (pr_walk_isolate(w, op)) return;
        if (w->concrete) concrete_loop(w, op, pr_region_block(op->regions[0]));
        else symbolic_loop(w, op, pr_region_block(op->regions[0]));
        return;
    case PR_OP_SCF_WHILE:
        if (pr_walk_isolate(w, op) || pr_walk_while(w, op)) return;
        break;
    case PR_OP_SCF_IF: branch(w, op); return;
    case PR_OP_TTG_WARP_SPECIALIZE: specialize(w, op); return;
    default: break;
    }
    for (int i = 0; i < op->n_results; i++) pr_walk_set(w, op->results[i], pr_walk_opaque());
    if (w->concrete && op->opcode == PR_OP_LLVM_INTR_ASSUME) {
        pr_sv c = pr_walk_get(w, op->operands[0]);
        if (c.kind == PR_SV_TERM && pr_term_is(c.t, PR_TERM_FALSE)) w->trace->excluded = true;
    }
    if (pr_walk_effect(w, op) || pr_walk_scalar(w, op)) return;
    for (int r = 0; r < op->n_regions; r++) {
        const pr_op *e = first_effect(op->regions[r]);
        if (!e) pr_walk_hidden(w, op->regions[r]);
        if (!e) continue;
        if (w->concrete) w->trace->assumed = true;
        else if (w->emit)
            pr_shm_refuse(w->p, &w->model->refusals, PR_REFUSAL_DATA_DEPENDENT_SYNC, e,
                          pr_arena_printf(w->arena, "`" PR_STR_FMT "` inside `" PR_STR_FMT "`",
                                          PR_STR_ARG(e->name), PR_STR_ARG(op->name)));
    }
    const pr_type *t = op->n_results == 1 ? op->results[0]->type : NULL;
    bool integer = t && (t->kind == PR_TYPE_INT || t->kind == PR_TYPE_INDEX);
    /* assembly, and the number of a warp, may be another value in each thread of a partition: it stays unknown */
    bool assembly = op->opcode == PR_OP_TT_ELEMENTWISE_INLINE_ASM || op->opcode == PR_OP_TT_EXTERN_ELEMENTWISE
                    || pr_str_is(op->name, "ttg.warp_id");
    if (op->opcode == PR_OP_TT_EXTERN_ELEMENTWISE && pr_op_attr_int(op, "pure", 0)) {
        assembly = false;                            /* of one value for all threads, one value            */
        for (int i = 0; i < op->n_operands; i++) assembly = assembly || pr_walk_get(w, op->operands[i]).kind != PR_SV_TERM;
    }
    if (integer && t->bits > 1 && !w->n_loops && !w->looks && !w->may && !assembly)
        pr_walk_set(w, op->results[0], pr_walk_leaf(w, op, op->results[0], NULL, true));
}

void pr_walk_block(pr_walk *w, const pr_block *b)
{
    for (int i = 0; i < b->n_ops; i++) step(w, b->ops[i]);
}

static void begin(pr_walk *w, pr_shm_prog *p, pr_arena *arena, bool concrete)
{
    *w = (pr_walk){ .p = p, .T = p->T, .arena = arena, .concrete = concrete, .emit = true, .ws = -1, .warps = p->num_warps,
                    .env = PR_NEW_N(arena, pr_sv, p->ir->n_values + 1) };
}

static void arguments(pr_walk *w)
{
    const pr_block *entry = pr_region_block(w->p->func->regions[0]);
    for (int i = 0; i < entry->n_args; i++) {
        const pr_type *t = entry->args[i]->type;
        bool whole = t && (t->kind == PR_TYPE_INT || t->kind == PR_TYPE_INDEX), integer = whole && t->bits > 1;
        const pr_shm_binding *b = w->p->bound;
        if (b && whole && i < b->n_args && b->known[i]) {
            pr_walk_set(w, entry->args[i], pr_walk_term(integer ? pr_const(w->T, b->value[i]) : pr_bool(b->value[i] & 1)));
            continue;
        }
        pr_sv s = whole ? pr_walk_leaf(w, NULL, entry->args[i], NULL, false) : pr_walk_opaque();
        if (whole && !integer) s = pr_walk_term(pr_eq(w->T, s.t, pr_const(w->T, 1)));
        pr_walk_set(w, entry->args[i], s);
    }
}

void pr_shm_run(pr_shm_prog *p, pr_arena *scratch, const int64_t *value, int n_values, int limit,
                pr_shm_trace *out)
{
    pr_walk w;
    memset(out, 0, sizeof *out);
    begin(&w, p, scratch, true);
    w.value = value;
    w.n_values = n_values;
    w.trace = out;
    w.limit = limit;
    arguments(&w);
    pr_walk_function(&w);
    out->n_agents = p->n_agents;
    out->n_ws = w.n_ws;
    out->too_long = w.n_events > limit || w.n_steps >= PR_SHM_RUN_STEPS;
    out->steps = w.n_steps;
}

void pr_shm_symbolic(pr_shm_prog *p, pr_shm_model *out)
{
    pr_walk w;
    memset(out, 0, sizeof *out);
    begin(&w, p, p->arena, false);
    w.model = out;
    arguments(&w);
    pr_walk_function(&w);
    for (int i = 0; i < out->events.n; i++) {        /* those before the loop as well */
        pr_shm_event *e = &out->events.data[i];
        e->when = pr_walk_in_steps(&w, e->when);
        for (int b = 0; b < e->n_bar; b++) e->bar_pred[b] = pr_walk_in_steps(&w, e->bar_pred[b]);
    }
    out->n_ws = w.n_ws;
    pr_shm_split_lives(p, out);
}
