/* decision-engine.md 6.1: rows after substitution in simple solvers with either arithmetic and in one for QF_LIA
 * with a push, the rows as they were built, and the whole formula. */
#include "z3_rows.h"
#include "smt/z3_wrap.h"
#include <string.h>
#include <time.h>

typedef struct config { const char *name; unsigned arith, flags; bool logic, formula; } config;
static const config configs[] = {
    { "rows, simple solver, arith 2", 2, PR_ROWS_NO_SPLIT, false, false },
    { "rows, simple solver, arith 6", 6, PR_ROWS_NO_SPLIT, false, false },
    { "rows, QF_LIA and push", 0, PR_ROWS_NO_SPLIT, true, false },
    { "rows as built, simple solver, arith 2", 2, PR_ROWS_NO_PREPARE, false, false },
    { "rows as built, QF_LIA and push", 0, PR_ROWS_NO_PREPARE, true, false },
    { "formula", 0, 0, false, true },
};

typedef struct job {
    Z3_context z;
    const config *how;
    const pr_limits *limits;
    int64_t ns;
    uint64_t work;
    int asked;
} job;

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static Z3_solver solver_for(const job *j)
{
    if (!j->how->logic) return pr_z3_solver_new(j->z, j->how->arith, j->limits->z3_rlimit);
    Z3_solver s = Z3_mk_solver_for_logic(j->z, Z3_mk_string_symbol(j->z, "QF_LIA"));
    if (!s) return NULL;
    Z3_solver_inc_ref(j->z, s);
    Z3_params p = Z3_mk_params(j->z);
    Z3_params_inc_ref(j->z, p);
    Z3_params_set_uint(j->z, p, Z3_mk_string_symbol(j->z, "rlimit"), (unsigned)j->limits->z3_rlimit);
    Z3_solver_set_params(j->z, s, p);
    Z3_params_dec_ref(j->z, p);
    Z3_solver_push(j->z, s);
    return s;
}

static Z3_ast sum(Z3_context z, const pr_row *r, const Z3_ast *x, int n, pr_arena *scratch)
{
    Z3_ast *part = PR_NEW_N(scratch, Z3_ast, n + 1);
    unsigned parts = 0;
    for (int i = 0; i < n; i++) {
        if (r->c[i] == 0) continue;
        Z3_ast both[2] = { pr_z3_int(z, r->c[i]), x[i] };
        part[parts++] = r->c[i] == 1 ? x[i] : Z3_mk_mul(z, 2, both);
    }
    part[parts++] = pr_z3_int(z, r->k);
    return parts == 1 ? part[0] : Z3_mk_add(z, parts, part);
}

static pr_answer decide_leaf(void *user, const pr_leaf *leaf, pr_i128 *value, pr_refusal_kind *why)
{
    job *j = user;
    Z3_context z = j->z;
    pr_arena *own = pr_arena_new(0, NULL);
    pr_answer answer = PR_ANSWER_UNKNOWN;
    *why = PR_REFUSAL_UNKNOWN;
    pr_z3_clear();
    j->asked++;
    Z3_solver s = solver_for(j);
    Z3_ast *x = PR_NEW_N(own, Z3_ast, leaf->n_cols + 1), zero = pr_z3_int(z, 0);
    uint64_t before = s ? pr_z3_resources(z, s) : 0;
    int64_t from = now_ns();
    for (int i = 0; i < leaf->n_cols && s; i++) {
        x[i] = Z3_mk_const(z, Z3_mk_int_symbol(z, i), Z3_mk_int_sort(z));
        if (leaf->lo[i] > -PR_INF) Z3_solver_assert(z, s, Z3_mk_ge(z, x[i], pr_z3_int(z, leaf->lo[i])));
        if (leaf->hi[i] < PR_INF) Z3_solver_assert(z, s, Z3_mk_le(z, x[i], pr_z3_int(z, leaf->hi[i])));
    }
    for (int i = 0; i < leaf->n_rows && s; i++) {
        Z3_ast t = sum(z, &leaf->rows[i], x, leaf->n_cols, own);
        Z3_solver_assert(z, s, leaf->rows[i].equality ? Z3_mk_eq(z, t, zero) : Z3_mk_ge(z, t, zero));
    }
    if (s && !pr_z3_failed()) {
        pr_watch *w = pr_z3_watch(z, j->limits->t_wall_ms, NULL);
        Z3_lbool r = Z3_solver_check(z, s);
        pr_watch_end(w);
        if (r == Z3_L_FALSE) answer = PR_ANSWER_EMPTY;
        if (r == Z3_L_TRUE) {
            Z3_model m = Z3_solver_get_model(z, s);
            answer = PR_ANSWER_WITNESS;
            if (m) Z3_model_inc_ref(z, m);
            for (int i = 0; i < leaf->n_cols; i++) {
                Z3_ast v = NULL;
                if (!m || !Z3_model_eval(z, m, x[i], true, &v) || !pr_z3_i128(z, v, &value[i])) answer = PR_ANSWER_UNKNOWN;
            }
            if (m) Z3_model_dec_ref(z, m);
        }
    }
    j->ns += now_ns() - from;
    if (s) {
        uint64_t after = pr_z3_resources(z, s);
        if (after > before) j->work += after - before;
    }
    if (pr_z3_failed()) answer = PR_ANSWER_UNKNOWN;
    pr_z3_solver_free(z, s);
    pr_arena_free(own);
    return answer;
}

/* One configuration once. */
static pr_answer once(const config *how, const pr_query *q, const pr_limits *limits, pr_arena *scratch, job *j)
{
    pr_outcome o = { 0 };
    *j = (job){ .how = how, .limits = limits };
    if (how->formula) {
        const pr_engine *e = pr_engine_z3();
        pr_engine_ctx *ctx = e->open(scratch);
        pr_query nothing = { .terms = q->terms, .pair = -1 };
        e->decide(ctx, &nothing, limits, scratch, &o);      /* the library starts */
        int64_t from = now_ns();
        e->decide(ctx, q, limits, scratch, &o);
        j->ns = now_ns() - from;
        j->work = o.cost;
        j->asked = 1;
        e->close(ctx);
        return o.answer;
    }
    j->z = pr_z3_context_new();
    pr_rows_decide(q, limits, how->flags, scratch, decide_leaf, j, "z3 rows", &o);
    Z3_del_context(j->z);
    return o.answer;
}

void z3_rows_measure(const pr_query *q, const pr_limits *limits, int repeat, pr_arena *scratch, z3_best *best)
{
    *best = (z3_best){ .answer = PR_ANSWER_UNKNOWN, .us = 1e12, .config = "none" };
    bool settled = false;
    pr_answer by_rows = PR_ANSWER_UNKNOWN;
    for (size_t i = 0; i < PR_LEN(configs); i++) {
        for (int k = 0; k < repeat; k++) {
            job j;
            pr_arena_pos pos = pr_arena_mark(scratch);
            pr_answer answer = once(&configs[i], q, limits, scratch, &j);
            pr_arena_release(scratch, pos);
            if (answer == PR_ANSWER_UNKNOWN) break;
            if (!j.asked) {
                settled = true;
                by_rows = answer;
                break;
            }
            double us = (double)j.ns / 1e3;
            if (us < best->us) *best = (z3_best){ answer, us, configs[i].name, j.work };
            if (us > 20000) break;
        }
    }
    if (best->answer == PR_ANSWER_UNKNOWN) {
        best->us = 0;
        if (settled) *best = (z3_best){ .answer = by_rows, .config = "rows settle it" };
    }
}
