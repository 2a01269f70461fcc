/* The Z3 engine: the whole query as one formula, two solver configurations.
 *
 * Limits are resource units (deterministic); a watchdog thread exists only when a wall-clock limit
 * or an interrupt flag was given. A solver is dropped after one check. A model counts only after
 * the query's own terms were evaluated at its values. */
#include "lower_smt.h"
#include "dump.h"
#include <string.h>

struct pr_engine_ctx {
    pr_guard own;
    Z3_context z;               /* started by the first decide */
};

/* Configurations in the order they are tried; measured for the library versions at hand. */
static const struct { unsigned arith; const char *evidence; } tried[] = {
    { 2, "z3 arith2" },
    { 6, "z3 arith6" },
};

static pr_refusal_kind reason(Z3_context z, Z3_solver s, bool fired, bool spent, const char **text)
{
    const char *why = Z3_solver_get_reason_unknown(z, s);
    *text = "Z3 gave up";
    if (fired) {
        *text = "the wall-clock limit of one query is used up";
        return PR_REFUSAL_TIMEOUT;
    }
    if (why && strstr(why, "memo")) {
        *text = "Z3 takes more memory than --max-memory allows";
        return PR_REFUSAL_BUDGET;
    }
    if (spent || (why && (strstr(why, "resource") || strstr(why, "canceled")))) {
        *text = "the Z3 resource limit is used up";
        return PR_REFUSAL_BUDGET;
    }
    return PR_REFUSAL_UNKNOWN;
}

static void read_model(pr_smt *s, Z3_solver solver, pr_arena *scratch, pr_outcome *out,
                       const char *evidence)
{
    Z3_context z = s->z;
    const pr_query *q = s->q;
    Z3_model m = Z3_solver_get_model(z, solver);
    out->why = PR_REFUSAL_UNKNOWN;
    out->message = "Z3's model has no exact values";
    if (!m) return;
    Z3_model_inc_ref(z, m);
    pr_point p = { PR_NEW_N(scratch, pr_i128, q->n_vars), q->n_vars };
    bool ok = true;
    for (int i = 0; i < q->n_vars && ok; i++) {
        Z3_ast v = NULL;
        ok = Z3_model_eval(z, m, s->var[q->vars[i].id], true, &v) && pr_z3_i128(z, v, &p.value[i]);
    }
    Z3_model_dec_ref(z, m);
    if (!ok || pr_z3_failed()) return;
    pr_tri holds = pr_query_holds(q, &p);
    if (holds == PR_YES) {
        out->answer = PR_ANSWER_WITNESS;
        out->why = PR_REFUSAL_NONE;
        out->message = NULL;
        out->point = p;
        out->evidence = evidence;
    } else if (s->relaxed) {
        bool table = pr_term_op_of(q->terms, s->relaxed_term) == PR_TERM_OP_TABLE;
        out->message = table ? "the answer rests on the contents of a table that are too many to spell out for Z3"
                             : "the answer rests on a value that has no translation for Z3";
    } else if (holds == PR_MAYBE) {
        out->message = "the witness cannot be evaluated exactly";
    } else {
        out->why = PR_REFUSAL_INTERNAL;
        out->message = "the witness does not satisfy the query";
    }
}

/* What a unit of Z3 costs, and how many are of use, grow with the formula: the limit is for one of this many terms and
 * quotients (each an unknown of its own, and cuts over all of them), and shrinks with the square beyond. */
enum { LIMIT_NODES = 600, LIMIT_DIVISIONS = 24 };

static int64_t scaled(int64_t rlimit, int64_t n, int64_t most)
{
    if (rlimit <= 0 || n <= most) return rlimit;
    int64_t less = (int64_t)((pr_i128)rlimit * most / n * most / n);
    return less > 0 ? less : 1;
}

/* One configuration; true when it settled the query or retrying is pointless. */
static bool attempt(pr_smt *s, int config, const pr_limits *limits, pr_arena *scratch,
                    pr_outcome *out)
{
    Z3_context z = s->z;
    int64_t rlimit = scaled(scaled(limits->z3_rlimit, s->n_nodes, LIMIT_NODES), s->n_divisions, LIMIT_DIVISIONS);
    Z3_solver solver = pr_z3_solver_new(z, tried[config].arith, rlimit);
    if (!solver || pr_z3_failed()) return false;
    uint64_t before = pr_z3_resources(z, solver);
    for (int i = 0; i < s->asserted.n; i++) Z3_solver_assert(z, solver, s->asserted.data[i]);
    bool done = false;
    if (!pr_z3_failed()) {
        pr_watch *w = pr_z3_watch(z, limits->t_wall_ms, limits->interrupt);
        pr_z3_memory(limits->max_memory > 0 ? limits->max_memory : PR_SMT_MEMORY);
        Z3_lbool r = Z3_solver_check(z, solver);
        pr_z3_memory(0);
        bool fired = pr_watch_end(w);
        uint64_t after = pr_z3_resources(z, solver);
        if (after > before) out->cost += after - before;
        if (pr_z3_failed()) {
            out->why = PR_REFUSAL_INTERNAL;
            out->message = "Z3 reported an error";
        } else if (r == Z3_L_FALSE) {
            out->answer = PR_ANSWER_EMPTY;
            out->why = PR_REFUSAL_NONE;
            out->message = NULL;
            out->evidence = tried[config].evidence;
            done = true;
        } else if (r == Z3_L_TRUE) {
            read_model(s, solver, scratch, out, tried[config].evidence);
            done = true;
        } else {
            bool spent = rlimit > 0 && after >= before + (uint64_t)rlimit;
            out->why = reason(z, solver, fired, spent, &out->message);
            done = fired;
        }
    }
    pr_z3_solver_free(z, solver);
    return done;
}

static void end_context(void *z) { Z3_del_context(z); }

static void decide(pr_engine_ctx *engine, const pr_query *q, const pr_limits *limits,
                   pr_arena *scratch, pr_outcome *out)
{
    *out = (pr_outcome){ .answer = PR_ANSWER_UNKNOWN, .why = PR_REFUSAL_INTERNAL,
                         .message = "Z3 does not start" };
    for (int i = 0; i < q->n_vars; i++) {
        const pr_var_info *v = pr_var_get(q->terms, q->vars[i]);
        if (v->lo > v->hi) {
            *out = (pr_outcome){ .answer = PR_ANSWER_EMPTY, .evidence = "rows" };
            return;
        }
    }
    const char *absent = pr_z3_load();
    if (absent) {
        out->why = PR_REFUSAL_NEEDS_SMT;
        out->message = absent;
        return;
    }
    pr_z3_clear();
    if (!engine->z) {
        engine->z = pr_z3_context_new();
        if (!engine->z) return;
        pr_guard_set(scratch, &engine->own, end_context, engine->z);
    }
    pr_smt s;
    out->message = "Z3 reported an error";
    if (!pr_smt_lower(&s, engine->z, q, limits->z3_rlimit > 0, scratch)) {
        if (s.too_large) {
            out->why = PR_REFUSAL_BUDGET;
            out->message = "the question is too large for Z3";
        } else if (!pr_z3_failed()) {
            out->why = PR_REFUSAL_UNKNOWN;
            out->message = "a constant leaves the exact integer range";
        }
        return;
    }
    for (size_t i = 0; i < PR_LEN(tried); i++) {
        if (limits->interrupt && *limits->interrupt) {
            out->why = PR_REFUSAL_TIMEOUT;
            out->message = "interrupted";
            return;
        }
        pr_z3_clear();
        if (attempt(&s, (int)i, limits, scratch, out)) return;
    }
}

static pr_engine_ctx *open_engine(pr_arena *arena) { return PR_NEW(arena, pr_engine_ctx); }

static void close_engine(pr_engine_ctx *engine)
{
    if (engine && engine->z) pr_guard_end(&engine->own);
    if (engine) engine->z = NULL;
}

static const char *version(void) { return pr_z3_load() ? NULL : Z3_get_full_version(); }

const pr_engine *pr_engine_z3(void)
{
    static const pr_engine engine = {
        .name = "z3",
        .accepts = PR_CLASS_PRESBURGER | PR_CLASS_RADIX | PR_CLASS_TABLE | PR_CLASS_POLY
                 | PR_CLASS_BITS | PR_CLASS_SYNC | PR_CLASS_WIDE_DIVISOR,
        .decide = decide,
        .open = open_engine,
        .close = close_engine,
        .dump = pr_smt_dump,
        .version = version,
    };
    return &engine;
}
