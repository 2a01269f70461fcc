/* scf.while as a loop that counts: where its condition is computed from carried scalars with closed forms, and holds up to some iteration
 * and no longer, that iteration is the trip count. The condition is looked at once more than the body. */
#include "shm/walk.h"

enum { DEPTH = 20 };

/* How many iterations the condition holds from the first one on; NONE: that does not show. */
static pr_term holds_until(pr_walk *w, pr_term c, pr_var counter, int depth)
{
    pr_terms *T = w->T;
    if (pr_term_none(c) || depth > DEPTH) return PR_TERM_NONE;
    switch (pr_term_op_of(T, c)) {
    case PR_TERM_OP_FALSE: return PR_TERM_ZERO;
    case PR_TERM_OP_LE0: case PR_TERM_OP_EQ0: {
        bool begins = false;
        pr_term n = pr_shm_prefix(T, c, counter, &begins);
        return begins ? n : PR_TERM_NONE;
    }
    case PR_TERM_OP_AND: {
        pr_term least = PR_TERM_NONE;
        for (int i = 0; i < pr_term_arity(T, c); i++) {
            pr_term n = holds_until(w, pr_term_child(T, c, i), counter, depth + 1);
            if (pr_term_none(n)) return n;
            least = i ? pr_min(T, least, n) : n;
        }
        return least;
    }
    default: return PR_TERM_NONE;
    }
}

static bool scalar(const pr_value *v)
{
    return v->type && (v->type->kind == PR_TYPE_INT || v->type->kind == PR_TYPE_INDEX);
}

/* Reads the condition where the carried values are `with`: what it passes on is set in `to`, the condition is returned. */
static pr_sv condition(pr_walk *w, const pr_block *before, const pr_sv *with, pr_value *const *to, int n_to)
{
    const pr_op *end = pr_block_terminator(before);
    for (int i = 0; i < before->n_args; i++) pr_walk_set(w, before->args[i], with[i]);
    w->looks++;
    pr_walk_block(w, before);
    w->looks--;
    for (int i = 0; i < n_to; i++) pr_walk_set(w, to[i], pr_walk_get(w, end->operands[1 + i]));
    return pr_walk_get(w, end->operands[0]);
}

static bool usable(const pr_op *op, const pr_block **before, const pr_block **after)
{
    if (op->n_regions != 2) return false;
    *before = pr_region_block(op->regions[0]);
    *after = pr_region_block(op->regions[1]);
    if (!*before || !*after || op->regions[0]->n_blocks != 1 || op->regions[1]->n_blocks != 1 || !(*before)->n_args || (*before)->n_args != op->n_operands) return false;
    const pr_op *end = pr_block_terminator(*before), *yield = pr_block_terminator(*after);
    return end && yield && end->n_operands == 1 + (*after)->n_args && op->n_results == (*after)->n_args && yield->n_operands == (*before)->n_args;
}

static bool run_while(pr_walk *w, const pr_op *op, const pr_block *before, const pr_block *after, int number)
{
    int n = before->n_args, m = after->n_args, at = w->n_loops;
    pr_sv *carried = PR_NEW_N(w->arena, pr_sv, n);
    const pr_op *yield = pr_block_terminator(after);
    int64_t k = 0, *total = number < 64 ? &w->trace->total[number] : NULL;
    for (int i = 0; i < n; i++) carried[i] = pr_walk_get(w, op->operands[i]);
    for (;; k++) {
        pr_sv c = condition(w, before, carried, after->args, m);
        bool goes_on = c.kind == PR_SV_TERM && pr_term_is(c.t, PR_TERM_TRUE), known = goes_on || (c.kind == PR_SV_TERM && pr_term_is(c.t, PR_TERM_FALSE));
        if (!known && !k) return false;
        if (!known) w->trace->assumed = true;
        if (!goes_on || w->n_steps >= PR_SHM_RUN_STEPS || w->n_events > w->limit) break;
        w->n_steps++;
        if (at < PR_SHM_LOOPS) {
            w->loop[at] = number;
            w->n_loops = at + 1;
            w->iteration[at] = k;
            w->flat[at] = total ? (*total)++ : -1;
        }
        pr_walk_block(w, after);
        for (int i = 0; i < n; i++) carried[i] = pr_walk_get(w, yield->operands[i]);
        w->n_loops = at;
    }
    for (int i = 0; i < m; i++) pr_walk_set(w, op->results[i], pr_walk_get(w, after->args[i]));
    if (number < 64) {
        if (number >= w->trace->n_trips) w->trace->n_trips = number + 1;
        if (k > w->trace->trips[number]) w->trace->trips[number] = k;
    }
    return true;
}

/* The carried values as closed forms at iteration k; what has none is not followed. */
static void put_forms(pr_walk *w, const pr_shm_carried *c, const pr_sv *init, int n, pr_var counter, pr_term at, pr_sv *out)
{
    for (int i = 0; i < n; i++) {
        out[i] = pr_walk_opaque();
        if (init[i].kind != PR_SV_TERM || pr_term_none(c[i].form)) continue;
        pr_term f = pr_shm_replace(w->arena, w->T, pr_shm_refit(w->arena, w->T, c[i].form, counter), counter, at);
        if (!pr_term_none(f)) out[i] = pr_walk_term(pr_term_is_bool(w->T, init[i].t) ? pr_eq(w->T, f, pr_const(w->T, 1)) : f);
    }
}

bool pr_walk_while(pr_walk *w, const pr_op *op)
{
    const pr_block *before, *after;
    if (!usable(op, &before, &after)) return false;
    int number = pr_walk_loop_number(w, op), n = before->n_args, m = after->n_args, at = w->n_loops, path = w->path.n;
    if (w->concrete) return run_while(w, op, before, after, number);
    if (at >= PR_SHM_LOOPS) return false;
    pr_terms *T = w->T;
    pr_var counter = w->p->loops.data[number].counter;
    pr_term k = pr_var_term(T, counter);
    pr_sv *init = PR_NEW_N(w->arena, pr_sv, n), *now = PR_NEW_N(w->arena, pr_sv, n);
    pr_shm_carried *c = PR_NEW_N(w->arena, pr_shm_carried, n);
    const pr_op *yield = pr_block_terminator(after);
    bool emit = w->emit;
    for (int i = 0; i < n; i++) {                    /* 1. the body with unknown state, silently, for the updates */
        init[i] = now[i] = pr_walk_get(w, op->operands[i]);
        c[i] = (pr_shm_carried){ .state = pr_walk_state(w), .init = PR_TERM_NONE, .update = PR_TERM_NONE, .form = PR_TERM_NONE };
        if (init[i].kind != PR_SV_TERM || !scalar(before->args[i])) init[i] = now[i] = pr_walk_opaque();
        if (init[i].kind != PR_SV_TERM) continue;
        bool boolean = pr_term_is_bool(T, init[i].t);
        c[i].init = boolean ? pr_bool_to_int(T, init[i].t) : init[i].t;
        now[i] = pr_walk_term(boolean ? pr_int_to_bool(T, pr_var_term(T, c[i].state)) : pr_var_term(T, c[i].state));
    }
    w->emit = false;
    w->loop[w->n_loops++] = number;
    pr_vec_push(w->arena, &w->path, pr_le(T, PR_TERM_ZERO, k));
    condition(w, before, now, after->args, m);
    pr_walk_block(w, after);
    for (int i = 0; i < n; i++) {
        pr_sv next = pr_walk_get(w, yield->operands[i]);
        if (init[i].kind != PR_SV_TERM || next.kind != PR_SV_TERM || pr_term_is_bool(T, next.t) != pr_term_is_bool(T, init[i].t)) continue;
        c[i].update = pr_term_is_bool(T, next.t) ? pr_bool_to_int(T, next.t) : next.t;
    }
    pr_shm_recover(w->arena, T, counter, c, n);
    put_forms(w, c, init, n, counter, k, now);
    pr_sv holds = condition(w, before, now, after->args, m);
    pr_term trips = holds.kind == PR_SV_TERM && pr_term_is_bool(T, holds.t) && !pr_shm_is_unknown(w->p, holds.t) ? holds_until(w, holds.t, counter, 0) : PR_TERM_NONE;
    w->emit = emit;
    w->n_loops = at;
    w->path.n = path;
    if (pr_term_none(trips)) return false;
    w->p->loops.data[number].trips = trips;
    w->loop[w->n_loops++] = number;                  /* 2. the body with closed forms */
    pr_vec_push(w->arena, &w->path, pr_le(T, PR_TERM_ZERO, k));
    pr_vec_push(w->arena, &w->path, pr_lt(T, k, trips));
    condition(w, before, now, after->args, m);
    pr_walk_block(w, after);
    w->n_loops = at;
    w->path.n = path;
    put_forms(w, c, init, n, counter, trips, now);   /* 3. the last look at the condition, and the values behind the loop */
    condition(w, before, now, (pr_value *const *)op->results, m);
    return true;
}
