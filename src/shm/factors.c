/* What Z3 knows about launch values that no relation holds: products, quotients by launch values, bit operations. The relations
 * take such a value as one that may be anything. Where that alone leaves a counterexample, Z3 is asked whether some launch can have
 * its values. No launch: the obligation holds. Also whether two operations can meet at all, where their conditions or slots are such
 * terms themselves. Only "no solution" counts. */
#include "shm/prover.h"
#include <string.h>

static bool no_solution(prover *q, const pr_var *vars, int n_vars, const pr_term *conj, int n)
{
    const pr_shm_prog *p = q->p;
    if (!p->smt) return false;
    pr_term *core = PR_NEW_N(q->arena, pr_term, n + p->defs.n + 1);
    memcpy(core, conj, sizeof *conj * (size_t)n);
    for (int i = 0; i < p->defs.n; i++) {
        const pr_shm_def *d = &p->defs.data[i];
        core[n + i] = pr_term_none(d->value) ? d->is : pr_eq(q->T, d->value, d->is);
        if (!pr_term_none(d->divisor)) core[n + i] = pr_or(q->T, core[n + i], pr_eq(q->T, d->divisor, PR_TERM_ZERO));
    }
    for (int i = 0; i < n + p->defs.n; i++)
        if (pr_term_none(core[i])) return false;
    pr_arena *scratch = pr_arena_new(0, pr_arena_oom(q->arena));
    pr_query query = { .terms = q->T, .vars = vars, .n_vars = n_vars, .core = core, .n_core = n + p->defs.n, .pair = -1 };
    pr_limits limits = { .z3_rlimit = p->z3_rlimit, .interrupt = p->interrupt, .only_empty = true };
    pr_outcome out = { .answer = PR_ANSWER_UNKNOWN };
    pr_engine_ctx *ctx = p->smt->open(scratch);
    p->smt->decide(ctx, &query, &limits, scratch, &out);
    p->smt->close(ctx);
    bool none = out.answer == PR_ANSWER_EMPTY;
    q->out->z3_units += out.cost;
    q->out->n_z3++;
    pr_arena_free(scratch);
    return none;
}

bool pr_prove_impossible(prover *q, pr_rel counter)
{
    if (!q->p->smt || !q->p->defs.n || !counter.id) return false;
    pr_term t = pr_rel_params(q->R, q->arena, counter);
    pr_var *vars = PR_NEW_N(q->arena, pr_var, q->p->params.n + 1);
    for (int i = 0; i < q->p->params.n; i++) vars[i] = q->p->params.data[i].var;
    if (pr_term_none(t) || !no_solution(q, vars, q->p->params.n, &t, 1)) return false;
    return q->out->by_definition = true;
}

bool pr_prove_never_together(prover *q, int x, int y, pr_term condition)
{
    const pr_shm_event *a = &q->ev[x], *b = &q->ev[y];
    int n = q->p->params.n, m = 0;
    pr_var *vars = PR_NEW_N(q->arena, pr_var, n + 2 * PR_SHM_LOOPS);
    if (!q->p->smt || pr_shm_is_unknown(q->p, condition)) return false;
    for (int i = 0; i < n; i++) vars[m++] = q->p->params.data[i].var;
    m += pr_prove_counters(q, a, false, vars + m);
    m += pr_prove_counters(q, b, true, vars + m);
    pr_term conj[3] = { a->when, pr_prove_renamed(q, b->when), condition };
    return no_solution(q, vars, m, conj, 3);
}
