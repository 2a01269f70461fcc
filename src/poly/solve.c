/* The isl engine: leaves from term/rows, each decided by lexmin and then by sampling.
 *
 * lexmin comes first with a small quota (it is faster on tile-shaped systems and its point is the
 * readable one), sampling second with what is left of the query's quota. Both need no second call
 * for the witness. Any isl error, null or exhausted quota is UNKNOWN with its reason. */
#include "poly.h"
#include "aff.h"
#include "lower.h"
#include "dump.h"
#include <isl/ilp.h>
#include <isl/version.h>
#include <assert.h>

struct pr_engine_ctx {
    pr_guard own;
    isl_ctx *ctx;               /* started by the first leaf that needs it */
    uint64_t total;             /* operations since open */
};

typedef struct leaf_job {
    pr_engine_ctx *engine;
    const pr_limits *limits;
    uint64_t spent;             /* operations of this query */
    const pr_arena *arena;
} leaf_job;

/* Most queries end in rows, and need no isl. */
static isl_ctx *started(leaf_job *job)
{
    if (!job->engine->ctx) job->engine->ctx = pr_isl_ctx_new(job->arena, &job->engine->own);
    return job->engine->ctx;
}

/* Coordinates of a point; UNKNOWN when one of them is not a pr_i128. */
static pr_answer read_point(__isl_take isl_point *p, int n, pr_i128 *value)
{
    pr_answer answer = PR_ANSWER_UNKNOWN;
    switch (pr_isl_tri(isl_point_is_void(p))) {
    case PR_YES: answer = PR_ANSWER_EMPTY; break;
    case PR_MAYBE: break;
    case PR_NO:
        answer = PR_ANSWER_WITNESS;
        for (int j = 0; j < n; j++) {
            isl_val *v = isl_point_get_coordinate_val(p, isl_dim_set, j);
            if (!pr_isl_i128(v, &value[j])) answer = PR_ANSWER_UNKNOWN;
            isl_val_free(v);
        }
        break;
    }
    isl_point_free(p);
    return answer;
}

static pr_answer ask_lexmin(isl_ctx *ctx, __isl_keep isl_basic_set *leaf, int n, pr_i128 *value)
{
    isl_set *low = isl_basic_set_lexmin(isl_basic_set_copy(leaf));
    pr_answer answer = PR_ANSWER_UNKNOWN;
    switch (low ? pr_isl_tri(isl_set_plain_is_empty(low)) : PR_MAYBE) {
    case PR_YES: answer = PR_ANSWER_EMPTY; break;
    case PR_NO:
        answer = read_point(isl_set_sample_point(isl_set_copy(low)), n, value);
        /* A lexmin that is not void must not turn empty by sampling it. */
        if (answer == PR_ANSWER_EMPTY) answer = PR_ANSWER_UNKNOWN;
        break;
    case PR_MAYBE: break;
    }
    isl_set_free(low);
    if (answer == PR_ANSWER_EMPTY && pr_isl_error(ctx) != PR_REFUSAL_NONE)
        answer = PR_ANSWER_UNKNOWN;
    return answer;
}

static pr_answer ask_sample(isl_ctx *ctx, __isl_keep isl_basic_set *leaf, int n, pr_i128 *value)
{
    pr_answer answer = read_point(isl_basic_set_sample_point(isl_basic_set_copy(leaf)), n, value);
    if (answer == PR_ANSWER_EMPTY && pr_isl_error(ctx) != PR_REFUSAL_NONE)
        answer = PR_ANSWER_UNKNOWN;
    return answer;
}

static pr_answer decide_leaf(void *user, const pr_leaf *leaf, pr_i128 *value, pr_refusal_kind *why)
{
    leaf_job *job = user;
    isl_ctx *ctx = started(job);
    int64_t max = job->limits->max_ops, first = job->limits->first_ops;
    int64_t left = max > 0 ? max - (int64_t)job->spent : 0;
    if (max > 0 && left < 1) left = 1;
    if (max > 0 && first > max) first = max;
    if (job->limits->only_empty) first = (first + 1) / 2;   /* what is empty shows early, or not at all */

    pr_isl_quota(ctx, 0);
    isl_basic_set *set = pr_isl_leaf(ctx, leaf);
    pr_answer answer = PR_ANSWER_UNKNOWN;
    *why = PR_REFUSAL_INTERNAL;
    bool failed = !set && isl_ctx_last_error(ctx) == isl_error_alloc;
    if (set) {
        pr_watch *watch = pr_isl_watch(ctx, max, leaf->n_cols, job->limits->interrupt);
        if (leaf->bounded_below) {
            pr_isl_quota(ctx, first);
            answer = ask_lexmin(ctx, set, leaf->n_cols, value);
            failed = isl_ctx_last_error(ctx) == isl_error_alloc;
            job->spent += pr_isl_used(ctx);
        }
        if (answer == PR_ANSWER_UNKNOWN && leaf->bounded_below && job->limits->only_empty) {
            *why = PR_REFUSAL_BUDGET;
        } else if (answer == PR_ANSWER_UNKNOWN) {
            if (leaf->bounded_below && max > 0) {
                left = max - (int64_t)job->spent;
                if (left < 1) left = 1;
            }
            pr_isl_quota(ctx, left);
            answer = ask_sample(ctx, set, leaf->n_cols, value);
            *why = pr_isl_error(ctx);
            failed |= isl_ctx_last_error(ctx) == isl_error_alloc;
            if (*why == PR_REFUSAL_NONE) *why = PR_REFUSAL_UNKNOWN;
            job->spent += pr_isl_used(ctx);
        }
        pr_watch_end(watch);
    }
    isl_basic_set_free(set);
    if (failed) pr_arena_exhausted(job->arena);
    pr_isl_quota(ctx, 0);
    return answer;
}

/* More leaves than the cap: the whole query as one isl set, which meets many small disjunctions
 * piece by piece as it is built. Only a clear answer replaces the outcome. */
static void decide_as_set(leaf_job *job, const pr_query *q, pr_arena *scratch, pr_outcome *out)
{
    isl_ctx *ctx = started(job);
    pr_term overlap[2];
    int n = pr_query_overlap(q, pr_query_box(q), overlap);
    for (int i = 0; i < n; i++) {
        if (pr_term_none(overlap[i])) return;
    }
    int64_t left = job->limits->max_ops > 0 ? job->limits->max_ops - (int64_t)job->spent : 0;
    if (job->limits->max_ops > 0 && left < 1) return;
    pr_isl_quota(ctx, left);
    pr_point p = { PR_NEW_N(scratch, pr_i128, q->n_vars), q->n_vars };
    pr_aff a;
    pr_aff_init(&a, ctx, q->terms, scratch, NULL, 0, q->vars, NULL, q->n_vars, NULL);
    isl_set *set = pr_isl_conflicts(&a, q, overlap, n);
    pr_answer answer = PR_ANSWER_UNKNOWN;
    pr_watch *watch = set ? pr_isl_watch(ctx, left, q->n_vars, job->limits->interrupt) : NULL;
    if (set) answer = read_point(isl_set_sample_point(set), q->n_vars, p.value);
    pr_watch_end(watch);
    if (a.why || pr_isl_error(ctx) != PR_REFUSAL_NONE) answer = PR_ANSWER_UNKNOWN;
    pr_aff_fini(&a);
    pr_isl_alloc_check(ctx, scratch);
    job->spent += pr_isl_used(ctx);
    pr_isl_quota(ctx, 0);
    if (answer == PR_ANSWER_WITNESS && pr_query_holds(q, &p) != PR_YES) answer = PR_ANSWER_UNKNOWN;
    if (answer == PR_ANSWER_UNKNOWN) return;
    out->answer = answer;
    out->why = PR_REFUSAL_NONE;
    out->message = NULL;
    out->evidence = "isl set";
    if (answer == PR_ANSWER_WITNESS) out->point = p;
}

static void decide(pr_engine_ctx *engine, const pr_query *q, const pr_limits *limits,
                   pr_arena *scratch, pr_outcome *out)
{
    *out = (pr_outcome){ .answer = PR_ANSWER_UNKNOWN, .why = PR_REFUSAL_INTERNAL };
    leaf_job job = { .engine = engine, .limits = limits, .arena = scratch };
    pr_rows_decide(q, limits, 0, scratch, decide_leaf, &job, "isl", out);
    if (out->answer == PR_ANSWER_UNKNOWN && out->why == PR_REFUSAL_BUDGET && limits->max_leaves > 0
        && out->leaves >= limits->max_leaves)
        decide_as_set(&job, q, scratch, out);
    if (engine->ctx && isl_ctx_aborted(engine->ctx)) {       /* the next query gets another one */
        isl_ctx_free(engine->ctx);
        engine->ctx = NULL;
    }
    out->cost = job.spent;
    engine->total += job.spent;
}

static pr_engine_ctx *open_engine(pr_arena *arena) { return PR_NEW(arena, pr_engine_ctx); }

static void close_engine(pr_engine_ctx *engine)
{
    if (engine && engine->ctx) pr_guard_end(&engine->own);
    if (engine) engine->ctx = NULL;
}

uint64_t pr_isl_operations(const pr_engine_ctx *engine) { return engine->total; }

static const char *version(void) { return isl_version(); }

const pr_engine *pr_engine_isl(void)
{
    static const pr_engine engine = {
        .name = "isl",
        .accepts = PR_CLASS_PRESBURGER,
        .decide = decide,
        .open = open_engine,
        .close = close_engine,
        .dump = pr_isl_dump,
        .version = version,
    };
    return &engine;
}
