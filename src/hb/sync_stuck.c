/* Waits that nobody comes through (happens-before.md 4.6 and 8.5, vacuous).
 *
 * Take the first program that comes through a wait. Before that nothing behind the wait was performed by any program, and the
 * wait's own polls changed nothing (a poll that changes something is its last one). So the location holds a value that the
 * other writers make out of the initial one. When the wait ends for none of these values, there is no first program: what
 * stands behind the wait is never performed, and a program that surely reaches the wait never ends. */
#include "hb/sync.h"
#include "hb/decide.h"
#include "hb/ladder.h"
#include "hb/order.h"

static bool any_value(void *user, const pr_terms *T, pr_term t)
{
    (void)user;
    return pr_term_op_of(T, t) == PR_TERM_OP_APP;
}

static pr_answer ask(pr_encoding *e, pr_term_vec *core)
{
    pr_query q;
    pr_outcome o;
    for (int i = 0; i < core->n; i++) {
        if (pr_term_none(core->data[i])) return PR_ANSWER_UNKNOWN;
        core->data[i] = pr_encode_simplify(e, core->data[i]);
        if (pr_term_is(core->data[i], PR_TERM_FALSE)) return PR_ANSWER_EMPTY;
    }
    pr_encode_single(e, core->data, core->n, &q);
    pr_decide(e->decider, &q, true, &o, NULL);
    return o.answer;
}

/* Can some program be the first one through this wait? false only when that is shown. */
static bool may_be_first(pr_encoding *e, const pr_sync_event *v)
{
    const pr_record *r = &e->records->records.data[v->record];
    const pr_side *s = pr_encoding_side(e, v->record, PR_SIDE_A);
    pr_terms *T = e->terms;
    pr_term_vec core = { 0 };
    pr_vset before = pr_sync_before_first(e, v);
    if (before.any || s->refused || pr_term_none(r->exit_pred)) return true;
    pr_term seen = pr_subst_apply((pr_subst *)&s->subst, v->app), held = PR_TERM_FALSE;
    for (int i = 0; i < before.n; i++) held = pr_or(T, held, pr_eq(T, seen, pr_const(T, before.v[i])));
    for (int i = 0; i < s->active.n; i++) pr_vec_push(e->arena, &core, s->active.data[i]);
    pr_vec_push(e->arena, &core, held);
    pr_vec_push(e->arena, &core, pr_subst_apply((pr_subst *)&s->subst, r->exit_pred));
    pr_sync_facts(e, false, &core);
    return ask(e, &core) != PR_ANSWER_EMPTY;
}

/* Does some program reach the wait in every execution? */
static bool surely_reached(pr_encoding *e, const pr_sync_event *v)
{
    const pr_side *s = pr_encoding_side(e, v->record, PR_SIDE_A);
    pr_term_vec core = { 0 };
    if (s->dead || s->refused || s->uncertain) return false;
    for (int i = 0; i < s->active.n; i++) {
        if (pr_term_none(s->active.data[i]) || pr_term_any(e->terms, s->active.data[i], any_value, NULL)) return false;
        pr_vec_push(e->arena, &core, s->active.data[i]);
    }
    return ask(e, &core) == PR_ANSWER_WITNESS;
}

bool pr_sync_stuck(pr_encoding *e, bool *stuck)
{
    const pr_sync *y = pr_sync_of(e);
    bool never = false;
    for (int i = 0; y && i < y->events.n && !e->records->refusals.n; i++) {
        const pr_sync_event *v = &y->events.data[i];
        const pr_record *r = &e->records->records.data[v->record];
        if (v->in_loop || !r->is_await || !pr_term_is(r->mask, PR_TERM_TRUE) || !pr_term_is(r->exit_held, PR_TERM_TRUE) ||
            may_be_first(e, v)) continue;
        for (int k = 0; stuck && k < e->records->records.n; k++) stuck[k] = stuck[k] || pr_sync_behind(e, k, r);
        never = never || surely_reached(e, v);
    }
    return never;
}
