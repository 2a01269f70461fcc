/* One query through the engine table: cheapest first, each answer checked before it leaves.
 *
 * The table has a row a tier; the pre-test tiers of decision-engine.md 3 will stand before isl. UNKNOWN
 * always carries a reason and is never folded into EMPTY. --cross-check asks every engine that accepts the
 * query; two that decide and differ are an internal error. */
#include "hb/decide.h"
#include <assert.h>
#include <time.h>

int64_t pr_clock_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

unsigned pr_query_class(const pr_query *q, pr_box *box)
{
    unsigned c = 0;
    pr_term over[2];
    int n = pr_query_overlap(q, box, over);
    for (int i = 0; i < q->n_core; i++) c |= pr_class_of(box, q->core[i]);
    for (int i = 0; i < q->n_distinct; i++) c |= pr_class_of(box, q->distinct[i]);
    for (int i = 0; i < q->n_premises; i++) c |= pr_class_of(box, q->premises[i]);
    for (int i = 0; i < n; i++) c |= pr_class_of(box, over[i]);
    return c;
}

static const char *reason_of(unsigned c)
{
    if (c & PR_CLASS_BITS) return "bits";
    if (c & PR_CLASS_WIDE_DIVISOR) return "division";
    if (c & (PR_CLASS_POLY | PR_CLASS_RADIX)) return "nonlinear";
    if (c & PR_CLASS_TABLE) return "snapshot";
    if (c & PR_CLASS_SYNC) return "synchronisation";
    return "isl-budget";
}

static void unknown(pr_outcome *o, pr_refusal_kind why, const char *message)
{
    *o = (pr_outcome){ .answer = PR_ANSWER_UNKNOWN, .why = why, .message = message };
}

static bool interrupted(pr_decider *d)
{
    if (d->options->limits.interrupt && *d->options->limits.interrupt) d->interrupted = true;
    return d->interrupted;
}

static void run(pr_decider *d, const pr_engine *engine, pr_engine_ctx **ctx, const pr_query *q, pr_outcome *out)
{
    if (!*ctx) *ctx = engine->open(d->arena);
    if (!*ctx) {
        unknown(out, PR_REFUSAL_UNKNOWN, "the engine could not be started");
        return;
    }
    pr_arena_pos pos = pr_arena_mark(d->scratch);
    pr_limits limits = d->options->limits;
    limits.t_wall_ms = d->limits_ms;
    engine->decide(*ctx, q, &limits, d->scratch, out);
    if (out->answer == PR_ANSWER_UNKNOWN && out->why == PR_REFUSAL_TIMEOUT) d->late = true;
    if (out->answer == PR_ANSWER_WITNESS) {
        out->point.value = pr_arena_copy(d->arena, out->point.value, sizeof(pr_i128) * (size_t)out->point.n);
        if (out->point.n != q->n_vars || pr_query_holds(q, &out->point) != PR_YES) {
            pr_fail(d->err, PR_ERR_INTERNAL, "", 0, 0, "%s gave a witness that does not satisfy query %d",
                    engine->name, q->pair);
            d->failed = true;
            unknown(out, PR_REFUSAL_INTERNAL, "witness does not satisfy the query");
        }
    }
    if (out->message) out->message = pr_arena_strndup(d->arena, out->message, strlen(out->message));
    if (out->answer == PR_ANSWER_UNKNOWN && !out->why) out->why = PR_REFUSAL_UNKNOWN;
    pr_arena_release(d->scratch, pos);
}

void pr_decide(pr_decider *d, const pr_query *q, bool may_use_z3, pr_outcome *out, const char **z3_reason)
{
    const pr_options *o = d->options;
    unknown(out, PR_REFUSAL_NEEDS_SMT, "no engine in use takes this query");
    if (z3_reason) *z3_reason = NULL;
    if (interrupted(d)) {
        unknown(out, PR_REFUSAL_TIMEOUT, "interrupted");
        return;
    }
    if (d->deadline_us && pr_clock_us() > d->deadline_us) {
        d->late = true;
        unknown(out, PR_REFUSAL_BUDGET, "the --budget of this launch is used up");
        return;
    }
    d->counts->queries++;
    if (o->engine != PR_ENGINE_Z3) {
        run(d, d->isl_engine, &d->isl, q, out);
        d->counts->isl_ops += out->cost;
        d->counts->leaves += out->leaves;
        if (out->answer != PR_ANSWER_UNKNOWN) d->counts->isl++;
    }
    bool z3_wanted = o->engine == PR_ENGINE_Z3 || (o->engine == PR_ENGINE_AUTO && may_use_z3 &&
                                                  out->answer == PR_ANSWER_UNKNOWN) || o->cross_check;
    if (!z3_wanted || !d->z3_engine || d->failed) {
        if (o->engine == PR_ENGINE_Z3 && !d->z3_engine) out->message = "this build has no Z3";
        return;
    }
    pr_outcome second;
    if (z3_reason && o->engine == PR_ENGINE_AUTO && out->answer == PR_ANSWER_UNKNOWN)
        *z3_reason = reason_of(pr_query_class(q, pr_query_box(q)));
    run(d, d->z3_engine, &d->z3, q, &second);
    d->counts->z3_units += second.cost;
    if (o->cross_check && out->answer != PR_ANSWER_UNKNOWN && second.answer != PR_ANSWER_UNKNOWN &&
        out->answer != second.answer) {
        pr_fail(d->err, PR_ERR_INTERNAL, "", 0, 0, "isl and z3 disagree on query %d: %s against %s", q->pair,
                out->answer == PR_ANSWER_EMPTY ? "empty" : "witness",
                second.answer == PR_ANSWER_EMPTY ? "empty" : "witness");
        d->failed = true;
        unknown(out, PR_REFUSAL_INTERNAL, "engines disagree");
        return;
    }
    if (out->answer == PR_ANSWER_UNKNOWN) {
        if (second.answer != PR_ANSWER_UNKNOWN) d->counts->z3++;
        *out = second;
    }
}

void pr_decider_close(pr_decider *d)
{
    if (d->isl) d->isl_engine->close(d->isl);
    if (d->z3) d->z3_engine->close(d->z3);
    d->isl = d->z3 = NULL;
}
