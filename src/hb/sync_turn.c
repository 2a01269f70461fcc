/* Turns: a location that counts up by one, each step made by the one program whose turn it is (happens-before.md 8.5).
 *
 * Shape: wait until L holds t, (section), release t + 1 at L by exchange, or 1 more by addition; t is the program's own
 * number (its id, a ticket). Conditions: nothing else writes L; wait and release stand on one path at one address; the
 * exit is equality with t, and t does not wrap; two programs at one location have different turns. The writes of L are
 * then first, first + 1, ... in this order, and the step from t to t + 1 is the release of the program whose turn t is: a
 * program that saw t' with first <= t < t' comes after it. */
#include "hb/sync.h"
#include "hb/decide.h"
#include "hb/ladder.h"
#include "hb/order.h"

static const pr_record *record(const pr_encoding *e, const pr_sync *y, int event)
{
    return &e->records->records.data[y->events.data[event].record];
}

/* t of an exit `observation = t`, NONE when it has another form. */
static pr_term wanted(pr_encoding *e, pr_term exit, pr_term observation)
{
    pr_terms *T = e->terms;
    if (pr_term_none(exit) || pr_term_op_of(T, exit) != PR_TERM_OP_EQ0) return PR_TERM_NONE;
    pr_term sum = pr_term_child(T, exit, 0);
    if (pr_term_is(sum, observation)) return PR_TERM_ZERO;
    if (pr_term_op_of(T, sum) != PR_TERM_OP_SUM) return PR_TERM_NONE;
    for (int i = 0; i < pr_term_arity(T, sum); i++) {
        pr_i128 k = pr_term_coef(T, sum, i);
        if (!pr_term_is(pr_term_child(T, sum, i), observation) || (k != 1 && k != -1)) continue;
        pr_term rest = pr_sub(T, sum, pr_scale(T, observation, k));
        return k == 1 ? pr_neg(T, rest) : rest;
    }
    return PR_TERM_NONE;
}

static bool one_more(pr_encoding *e, const pr_record *w, pr_term t)
{
    pr_i128 v;
    if (w->kind != PR_RECORD_RMW || pr_term_none(w->value)) return false;
    if (w->rmw_op == PR_RMW_ADD) return pr_term_const(e->terms, w->value, &v) && v == 1;
    return w->rmw_op == PR_RMW_XCHG && pr_term_is(w->value, pr_add(e->terms, t, pr_const(e->terms, 1)));
}

/* Can two programs at one location have one turn? */
static bool shared(pr_encoding *e, const pr_sync *y, const pr_sync_turn *x)
{
    pr_terms *T = e->terms;
    const pr_side *a = pr_encoding_side(e, record(e, y, x->wait)->id, PR_SIDE_A);
    const pr_side *b = pr_encoding_side(e, record(e, y, x->wait)->id, PR_SIDE_B);
    pr_term_vec core = { 0 };
    pr_term differ = PR_TERM_FALSE;
    if (a->dead || b->dead) return false;
    if (a->refused || b->refused) return true;
    for (int i = 0; i < a->active.n; i++) pr_vec_push(e->arena, &core, a->active.data[i]);
    for (int i = 0; i < b->active.n; i++) pr_vec_push(e->arena, &core, b->active.data[i]);
    for (int i = 0; i < 3; i++) differ = pr_or(T, differ, pr_ne(T, a->pid[i], b->pid[i]));
    pr_vec_push(e->arena, &core, differ);
    pr_vec_push(e->arena, &core, pr_eq(T, a->addr, b->addr));
    pr_vec_push(e->arena, &core, pr_eq(T, pr_subst_apply((pr_subst *)&a->subst, x->turn), pr_subst_apply((pr_subst *)&b->subst, x->turn)));
    pr_sync_counter_facts(e, y, &core);
    return pr_sync_possible(e, &core);
}

void pr_sync_find_turns(pr_encoding *e, pr_sync *y)
{
    for (int i = 0; i < y->events.n; i++) {
        const pr_sync_event *x = &y->events.data[i];
        const pr_record *a = record(e, y, i);
        if (x->in_loop || !a->is_await || !x->closed || x->init.any || x->init.n != 1 || !pr_term_is(a->mask, PR_TERM_TRUE) || !pr_record_acquires(a) ||
            !(pr_sync_identity(e, x->record) || !x->writes) || !pr_term_is(a->exit_held, PR_TERM_TRUE)) continue;
        pr_term t = wanted(e, a->exit_pred, x->app);
        if (pr_term_none(t)) continue;
        for (int j = 0; j < y->events.n; j++) {
            const pr_record *w = record(e, y, j);
            if (j == i || y->events.data[j].in_loop || w->base != a->base || !pr_term_is(w->offset, a->offset) || w->width != a->width || w->frame != a->frame ||
                !pr_term_is(w->mask, PR_TERM_TRUE) || w->seq <= a->seq || !pr_record_releases(w) || !one_more(e, w, t)) continue;
            bool only = true;
            for (int k = 0; k < x->n_writers; k++)
                only = only && (x->writers[k] == w->id || pr_sync_identity(e, x->writers[k]));
            pr_sync_turn turn = { .wait = i, .release = j, .turn = t, .first = x->init.v[0] };
            if (only && !shared(e, y, &turn)) pr_vec_push(e->arena, &y->turns, turn);
        }
    }
}

/* No program of the launch can begin: nobody's turn is the initial value, though some program waits. */
bool pr_sync_turn_stuck(pr_encoding *e, const pr_sync *y, const pr_sync_turn *x)
{
    const pr_side *a = pr_encoding_side(e, record(e, y, x->wait)->id, PR_SIDE_A);
    pr_terms *T = e->terms;
    pr_outcome o = { .answer = PR_ANSWER_UNKNOWN };
    if (a->dead || a->refused) return false;
    for (int begins = 0; begins < 2; begins++) {
        pr_term_vec core = { 0 };
        pr_query q;
        for (int i = 0; i < a->active.n; i++) pr_vec_push(e->arena, &core, a->active.data[i]);
        pr_sync_counter_facts(e, y, &core);
        if (begins)
            pr_vec_push(e->arena, &core, pr_eq(T, pr_subst_apply((pr_subst *)&a->subst, x->turn), pr_const(T, x->first)));
        for (int i = 0; i < core.n; i++) {
            if (pr_term_none(core.data[i])) return false;
            core.data[i] = pr_encode_simplify(e, core.data[i]);
            if (pr_term_is(core.data[i], PR_TERM_FALSE)) return begins;
        }
        pr_encode_single(e, core.data, core.n, &q);
        pr_decide(e->decider, &q, true, &o, NULL);
        if (!begins && o.answer != PR_ANSWER_WITNESS) return false;
    }
    return o.answer == PR_ANSWER_EMPTY;
}
