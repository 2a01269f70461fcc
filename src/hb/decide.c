/* One query through the engine table: cheapest first, each answer checked before it leaves.
 *
 * The table has a row a tier: pre-tests, isl, enumeration, Z3 (decision-engine.md 2). UNKNOWN always carries
 * a reason with the tier that gave up, and is never folded into EMPTY. Equal queries are solved once (memo.c);
 * in a cheap pass the dear rows are put off, and the next pass goes on from there. --cross-check asks every
 * tier; two that decide and differ are an internal error. */
#include "hb/decide.h"
#include "pre/pre.h"
#include <assert.h>
#include <string.h>
#include <time.h>

/* PROBE is the first part of SWEEP: most pairs that meet do so at a difference, and need no prover. */
enum { ROW_PRETEST, ROW_PROBE, ROW_CLOSURE, ROW_SWEEP, ROW_ISL, ROW_ENUM, ROW_Z3 };
enum { CROSS_CHECK_INSTANCES = 1 << 14,    /* enumeration of queries that are decided already */
       MOST_MISSED = 1 };

int64_t pr_clock_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

unsigned pr_query_class(const pr_query *q, pr_box *box)
{
    unsigned c = 0, addresses = 0;
    for (int i = 0; i < q->n_core; i++) c |= pr_class_of(box, q->core[i]);
    for (int i = 0; i < q->n_distinct; i++) c |= pr_class_of(box, q->distinct[i]);
    for (int i = 0; i < q->n_premises; i++) c |= pr_class_of(box, q->premises[i]);
    for (int i = 0; i < 2 && !pr_term_none(q->addr[0]); i++) addresses |= pr_class_of(box, q->addr[i]);
    if (!(addresses & ~(unsigned)PR_CLASS_LINEAR)) return c | addresses;
    pr_term over[2];               /* what the addresses share may cancel in their difference */
    int n = pr_query_overlap(q, box, over);
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

typedef struct tier { const pr_engine *engine; pr_engine_ctx **ctx; int row; bool pretest; } tier;

/* Limits of this query: the options', or its share of what the launch may still spend. */
static pr_limits limits_of(const pr_decider *d)
{
    pr_limits l = d->options->limits;
    l.t_wall_ms = d->limits_ms;
    l.alone = d->options->no_pretest || d->options->cross_check;
    l.only_empty = d->only_empty && !d->options->cross_check;
    if (d->z3_share > 1) l.z3_rlimit = l.z3_rlimit / d->z3_share + 1;
    if (d->share_ops > 0 && l.max_ops > d->share_ops) l.max_ops = d->share_ops;
    if (d->share_z3 > 0 && l.z3_rlimit > d->share_z3) l.z3_rlimit = d->share_z3;
    return l;
}

static void run(pr_decider *d, const tier *t, const pr_query *q, bool known, pr_limits limits, pr_outcome *out)
{
    if (!*t->ctx) *t->ctx = t->engine->open(d->arena);
    if (!*t->ctx) {
        unknown(out, PR_REFUSAL_UNKNOWN, "the engine could not be started");
        return;
    }
    pr_arena_pos pos = pr_arena_mark(d->scratch);
    limits.probe = t->row == ROW_PROBE;
    *out = (pr_outcome){ .answer = PR_ANSWER_UNKNOWN };
    if (known && t->row == ROW_ENUM) limits.enumerate = CROSS_CHECK_INSTANCES;
    t->engine->decide(*t->ctx, q, &limits, d->scratch, out);
    if (out->answer == PR_ANSWER_UNKNOWN && out->why == PR_REFUSAL_TIMEOUT) d->late = true;
    if (out->answer == PR_ANSWER_WITNESS) {
        out->point.value = pr_arena_copy(d->arena, out->point.value, sizeof(pr_i128) * (size_t)out->point.n);
        bool sure = out->holds && !d->options->cross_check;
        if (out->point.n != q->n_vars || (!sure && pr_query_holds(q, &out->point) != PR_YES)) {
            pr_fail(d->err, PR_ERR_INTERNAL, "", 0, 0, "%s gave a witness that does not satisfy query %d",
                    t->engine->name, q->pair);
            d->failed = true;
            unknown(out, PR_REFUSAL_INTERNAL, "witness does not satisfy the query");
        }
    }
    const char **text[] = { &out->message, &out->evidence, &out->under };
    for (size_t i = 0; i < PR_LEN(text); i++)
        if (*text[i]) *text[i] = pr_arena_strndup(d->arena, *text[i], strlen(*text[i]));
    if (out->answer == PR_ANSWER_UNKNOWN && !out->why) out->why = PR_REFUSAL_UNKNOWN;
    pr_arena_release(d->scratch, pos);
}

/* The rows in use, cheapest first. */
static int tiers_in_use(pr_decider *d, bool may_use_z3, tier *out)
{
    const pr_options *o = d->options;
    const pr_engine *const row[PR_TIERS] = { pr_engine_pretest(), pr_engine_sweep(), pr_engine_closure(), pr_engine_sweep(),
                                             d->isl_engine, pr_engine_enum(), d->z3_engine };
    int n = 0;
    for (int i = 0; i < PR_TIERS; i++) {
        bool pretest = i != ROW_ISL && i != ROW_Z3, use;
        if (i == ROW_Z3) use = o->cross_check || o->engine == PR_ENGINE_Z3 || (o->engine == PR_ENGINE_AUTO && may_use_z3);
        else use = o->engine != PR_ENGINE_Z3 && !(pretest && o->no_pretest);
        if (d->cheaply && !o->cross_check && i > ROW_CLOSURE) use = false;
        if (i == ROW_PROBE && (o->cross_check || (d->cheaply && !d->only_empty))) use = false;   /* else the launch's numbers may meet */
        if (use && row[i]) out[n++] = (tier){ row[i], &d->ctx[i == ROW_PROBE || i == ROW_PRETEST ? ROW_SWEEP : i], i, pretest };
    }
    return n;
}

static void count(pr_decider *d, const tier *t, const pr_outcome *got)
{
    pr_counts *c = d->counts;
    if (t->row == ROW_ISL) {
        c->isl_ops += got->cost;
        c->leaves += got->leaves;
    }
    if (t->row == ROW_Z3) c->z3_units += got->cost;
}

static void count_answer(pr_decider *d, int row)
{
    pr_counts *c = d->counts;
    if (row == ROW_ISL) c->isl++;
    else if (row == ROW_Z3) c->z3++;
    else if (row == ROW_ENUM) c->enumerated++;
    else c->pretest++;
}

/* A row and its counts. isl is asked about the entries of unknown tables as variables: *some says that there is a
 * solution for some contents, which is no witness, but leaves nothing to prove. */
static void ask_row(pr_decider *d, const tier *t, const pr_query *q, bool known, pr_limits limits, pr_outcome *got, bool *some)
{
    pr_query unfolded;
    bool chosen = t->row == ROW_ISL && pr_query_unfold(q, d->arena, &unfolded);
    run(d, t, chosen ? &unfolded : q, known, limits, got);
    count(d, t, got);
    if (!chosen || got->answer != PR_ANSWER_WITNESS) return;
    pr_outcome was = *got;
    unknown(got, PR_REFUSAL_UNKNOWN, "there is a solution for some contents of a tensor, and they are not known");
    got->cost = was.cost;
    got->leaves = was.leaves;
    *some = true;
}

/* Asks every row; two that decide must agree. */
static void cross_check(pr_decider *d, const pr_query *q, const tier *tiers, int n, pr_limits limits, pr_asked *x)
{
    const char *by = NULL;
    bool some = false;             /* a solution for some contents: nobody may say EMPTY */
    for (int i = 0; i < n && !d->failed; i++) {
        const tier *t = &tiers[i];
        bool known = x->by >= 0;
        pr_outcome got;
        if (d->cheaply && t->row > ROW_CLOSURE && !known) break;   /* the others may only contradict */
        ask_row(d, t, q, known, limits, &got, &some);
        if (some && (got.answer == PR_ANSWER_EMPTY || (known && x->out.answer == PR_ANSWER_EMPTY))) {
            pr_fail(d->err, PR_ERR_INTERNAL, "", 0, 0, "query %d is empty for all contents, and isl has a solution for some", q->pair);
            d->failed = true;
            unknown(&x->out, PR_REFUSAL_INTERNAL, "engines disagree");
            return;
        }
        if (!pr_term_none(got.needs)) x->needs = got.needs, x->under = got.under, x->under_same_lanes = got.same_lanes;
        if (got.answer == PR_ANSWER_UNKNOWN) {
            if (!known && !t->pretest) x->out = got, x->engine = t->engine->name;
        } else if (!known) {
            x->out = got;
            x->by = t->row;
            by = t->engine->name;
        } else if (got.answer != x->out.answer) {
            pr_fail(d->err, PR_ERR_INTERNAL, "", 0, 0, "%s and %s disagree on query %d: %s against %s", by,
                    t->engine->name, q->pair, x->out.answer == PR_ANSWER_EMPTY ? "empty" : "witness",
                    got.answer == PR_ANSWER_EMPTY ? "empty" : "witness");
            d->failed = true;
            unknown(&x->out, PR_REFUSAL_INTERNAL, "engines disagree");
        }
    }
}

/* Asks the rows that this query has not been through, up to the first that decides. */
static void ask_rows(pr_decider *d, const pr_query *q, const tier *tiers, int n, pr_limits limits, pr_asked *x)
{
    /* other limits than those that a row ran into: ask it again, and those after it */
    if (x->by < 0 && x->short_row
        && (x->max_ops != limits.max_ops || x->z3_rlimit != limits.z3_rlimit || x->wall_ms != limits.t_wall_ms
            || x->only_empty != limits.only_empty)) {
        x->next_row = x->short_row;
        x->short_row = 0;
    }
    x->put_off = false;
    bool pretested = false;
    const tier *cut = NULL;        /* isl's row, when it gave up early for what Z3 may settle */
    for (int i = 0; i < n && x->by < 0 && !d->failed; i++) {
        const tier *t = &tiers[i];
        pr_outcome got;
        if (t->row < x->next_row) continue;
        if (t->row == ROW_PROBE && d->only_empty && q->is_pair && d->missed >= MOST_MISSED) continue;   /* likely a safe launch */
        if (t->row == ROW_CLOSURE && d->meets) continue;
        if (d->cheap_pass && t->row > ROW_SWEEP) {
            x->put_off = true;
            return;
        }
        if (t->row >= ROW_ISL) {
            x->max_ops = limits.max_ops;
            x->z3_rlimit = limits.z3_rlimit;
            x->wall_ms = limits.t_wall_ms;
            x->only_empty = limits.only_empty;
        }
        if (t->row == ROW_Z3 && d->options->engine == PR_ENGINE_AUTO)
            x->z3_reason = reason_of(pr_query_class(q, pr_query_box(q)));
        bool some = false;
        limits.resume = pretested && t->row == ROW_PROBE;
        limits.brief = t->row == ROW_ISL && i + 1 < n;
        ask_row(d, t, q, false, limits, &got, &some);
        if (limits.brief && !some && got.answer == PR_ANSWER_UNKNOWN && got.why == PR_REFUSAL_BUDGET && !got.leaves) cut = t;
        pretested = t->row == ROW_PRETEST;
        x->next_row = some ? PR_TIERS : t->row + 1;
        if (got.answer == PR_ANSWER_UNKNOWN && !some && !x->short_row && t->row >= ROW_ISL
            && (got.why == PR_REFUSAL_BUDGET || got.why == PR_REFUSAL_TIMEOUT || (limits.only_empty && t->row == ROW_ISL)))
            x->short_row = t->row;
        if (!pr_term_none(got.needs)) x->needs = got.needs, x->under = got.under, x->under_same_lanes = got.same_lanes;
        if (t->row == ROW_PROBE && q->is_pair && got.answer == PR_ANSWER_UNKNOWN) d->missed++;
        if (got.answer != PR_ANSWER_UNKNOWN) {
            x->out = got;
            x->by = t->row;
        } else if (!t->pretest) {   /* the last engine's reason; a pre-test has none of its own */
            x->out = got;
            x->engine = t->engine->name;
        }
    }
    if (cut && x->by < 0 && !d->failed) {      /* nobody settled it: isl to the end of its limits */
        pr_outcome got;
        bool some = false;
        limits.brief = false;
        ask_row(d, cut, q, false, limits, &got, &some);
        if (got.answer != PR_ANSWER_UNKNOWN) {
            x->out = got;
            x->by = cut->row;
        }
        if (some) x->next_row = PR_TIERS;
    }
}

/* The reason with the name of the tier that gave up, and its limit when that was reached. */
static const char *who_gave_up(pr_decider *d, const pr_asked *x, pr_limits limits)
{
    const char *why = x->out.message ? x->out.message : "undecided", *limit = "";
    if (!x->engine) return why;
    if (x->out.why == PR_REFUSAL_BUDGET && strcmp(x->engine, "isl") == 0)
        limit = pr_arena_printf(d->arena, " (limits: %lld operations, %d leaves)", (long long)limits.max_ops, limits.max_leaves);
    else if (x->out.why == PR_REFUSAL_BUDGET)
        limit = pr_arena_printf(d->arena, " (limit: %lld units)", (long long)limits.z3_rlimit);
    return pr_arena_printf(d->arena, "%s: %s%s", x->engine, why, limit);
}

void pr_decide(pr_decider *d, const pr_query *q, bool may_use_z3, pr_outcome *out, const char **z3_reason)
{
    const pr_options *o = d->options;
    pr_trace trace = { .arena = d->arena };
    pr_query traced;
    if (o->claim) {
        traced = *q;
        traced.trace = &trace;
        q = &traced;
    }
    tier tiers[PR_TIERS];
    unknown(out, PR_REFUSAL_NEEDS_SMT, "no engine in use takes this query");
    if (z3_reason) *z3_reason = NULL;
    d->put_off = false;
    if (interrupted(d)) {
        unknown(out, PR_REFUSAL_TIMEOUT, "interrupted");
        return;
    }
    if (d->deadline_us && pr_clock_us() > d->deadline_us) {
        d->late = true;
        unknown(out, PR_REFUSAL_BUDGET, "the --budget of this launch is used up");
        return;
    }
    if (!d->memo) d->memo = pr_memo_new(d->arena);
    bool remember = !o->cross_check && !o->claim;
    uint64_t hash = 0;
    pr_asked once = { .by = -1 }, *x = remember ? pr_memo_find(d->memo, q, &hash) : NULL;
    if (!x) x = &once;
    bool resumed = x->put_off;
    int n = tiers_in_use(d, may_use_z3, tiers);
    pr_limits limits = limits_of(d);
    if (x->next_row == 0 && x->by < 0) x->out = *out;
    if (o->engine == PR_ENGINE_Z3 && !d->z3_engine) x->out.message = "this build has no Z3";
    if (o->cross_check) cross_check(d, q, tiers, n, limits, x);
    else ask_rows(d, q, tiers, n, limits, x);
    /* what the first row settles is settled faster than remembered */
    if (remember && x == &once && once.by != ROW_PRETEST) pr_memo_add(d->memo, q, hash, &once);
    d->put_off = x->put_off;
    if (!resumed) d->counts->queries++;
    if (x->by >= 0) count_answer(d, x->by);
    *out = x->out;
    out->needs = x->needs;
    out->under = x->under;
    if (out->answer != PR_ANSWER_EMPTY) out->same_lanes = !pr_term_none(x->needs) && x->under_same_lanes;
    if (z3_reason && (x->by < 0 || x->by == ROW_Z3)) *z3_reason = x->z3_reason;
    if (out->answer == PR_ANSWER_UNKNOWN && !d->put_off) out->message = who_gave_up(d, x, limits);
    if (out->answer == PR_ANSWER_UNKNOWN && out->why == PR_REFUSAL_BUDGET && !d->cheaply && !d->only_empty) d->gave_up = out->message;
    if (o->claim && out->answer == PR_ANSWER_EMPTY) o->claim(o->claim_user, q, out);
}

void pr_decider_close(pr_decider *d)
{
    const pr_engine *const row[PR_TIERS] = { pr_engine_pretest(), pr_engine_sweep(), pr_engine_closure(), pr_engine_sweep(),
                                             d->isl_engine, pr_engine_enum(), d->z3_engine };
    for (int i = 0; i < PR_TIERS; i++) {
        if (d->ctx[i]) row[i]->close(d->ctx[i]);
        d->ctx[i] = NULL;
    }
}
