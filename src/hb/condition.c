/* Conditions on parameters under which a pair is empty at T0: "strides of y do not overlap" (happens-before.md
 * 5.7, 7.3).
 *
 * The closure names a condition and has shown that nothing is left where it holds. For a certificate, under
 * --cross-check, and with a condition of another pair the query is asked again with it among the premises, and
 * only that answer counts. With a launch the condition must hold there, so a condition is discharged before it is used; then it is printed as a qualifier of the claim for other parameters. Without
 * one it must be satisfiable together with the other premises, and leave executions of the two accesses. What one pair of different programs needed is
 * asked first for the next one on the same argument: the claim names it already. */
#include "hb/ladder.h"

/* The integers that the launch passes; null without a launch. */
const pr_env *pr_condition_env(pr_run *run)
{
    const pr_records *R = run->R;
    if (!run->L) return NULL;
#ifdef PR_FAULTS
    if (run->o->fault == 15) return NULL; /* a condition that nobody discharges */
#endif
    uint32_t n = pr_vars_count(R->terms);
    pr_i128 *value = PR_NEW_N(run->arena, pr_i128, n);
    bool *known = PR_NEW_N(run->arena, bool, n);
    for (int i = 0; i < R->n_args && i < run->L->n_args; i++) {
        if (!R->args[i].param.id || run->L->args[i].kind != PR_ARG_INT) continue;
        value[R->args[i].param.id] = run->L->args[i].value;
        known[R->args[i].param.id] = true;
    }
    pr_env *env = PR_NEW(run->arena, pr_env);
    *env = (pr_env){ value, known, n };
    return env;
}

static bool beside_parameters(const pr_terms *T, pr_term t)
{
    return pr_term_occurs(T, t) & ((PR_OCCURS_VAR | PR_OCCURS_APP) & ~PR_OCCURS(PR_ROLE_PARAM));
}

enum { MISSES = 4 /* in a row, and it is not asked first any more */ };

typedef struct pr_condition_found { pr_term condition; int misses; } pr_condition_found;

static pr_condition_found *found_for(pr_run *run, const pr_pair *p)
{
    int base = run->R->records.data[p->a].base;
    if (!run->found) run->found = PR_NEW_N(run->arena, pr_condition_found, run->R->n_args + 1);
    return &run->found[base < 0 ? run->R->n_args : base];
}

bool pr_condition_holds(pr_run *run, const pr_pair *p, pr_term condition)
{
    pr_i128 v;
    if (!run->hint || beside_parameters(run->R->terms, condition) || !pr_eval(run->R->terms, condition, run->hint, &v) || !v)
        return false;
    if (!p->intra) found_for(run, p)->condition = condition;
    return true;
}

enum { ORDINARY = 32767 };         /* less than the axes of a grid reach: a condition that only larger sizes meet comes from their caps    */

typedef struct parameters { pr_run *run; pr_term small; } parameters;
static void note_parameter(void *user, pr_term t)
{
    parameters *x = user;
    pr_terms *T = x->run->R->terms;
    if (pr_term_op_of(T, t) == PR_TERM_OP_VAR) x->small = pr_and(T, x->small, pr_le(T, t, pr_const(T, ORDINARY)));
}

/* Without a launch: is there nothing left of the two accesses where the condition holds, for parameters of ordinary size? A claim for such
 * parameters would speak of nothing (n <= 0 under a mask i < n), or of no real launch. */
static bool leaves_nothing(pr_run *run, const pr_pair *p, pr_term condition)
{
    if (run->L) return false;
    pr_query q = *p->query;
    pr_outcome got;
    parameters x = { run, PR_TERM_TRUE };
    pr_term_visit(run->R->terms, condition, note_parameter, &x);
    pr_condition_premise(run, &q, pr_and(run->R->terms, condition, x.small));
    q.n_core = q.n_core_a + q.n_core_b;
    q.distinct = NULL;
    q.n_distinct = 0;
    q.addr[0] = q.addr[1] = PR_TERM_NONE;
    q.suggest = q.is_pair = false;
    pr_decide(&run->d, &q, false, &got, NULL);
    return got.answer == PR_ANSWER_EMPTY;
}

bool pr_condition_try(pr_run *run, pr_pair *p, pr_term condition, const char *under, pr_outcome *o)
{
    pr_terms *T = run->R->terms;
    pr_i128 v;
    if (pr_term_none(condition) || beside_parameters(T, condition)) return false;
#ifdef PR_FAULTS
    if (run->o->fault != 15)
#endif
    if (run->L && (!p->query->hint || !pr_eval(T, condition, p->query->hint, &v) || !v)) return false;
    pr_outcome got;
    if (under && !run->o->claim && !run->o->cross_check) {
        got = (pr_outcome){ .answer = PR_ANSWER_EMPTY, .evidence = under, .same_lanes = o->same_lanes };
        run->out->counts.queries++;
        run->out->counts.pretest++;
    } else {
        pr_query q = *p->query;
        pr_condition_premise(run, &q, condition);
        q.suggest = false;
        pr_decide(&run->d, &q, false, &got, NULL);
    }
    if (got.answer != PR_ANSWER_EMPTY || leaves_nothing(run, p, condition)) return false;
    p->condition = condition;
    *o = got;
    if (!p->intra) found_for(run, p)->condition = condition;
    return true;
}

pr_term pr_condition_known(pr_run *run, const pr_pair *p)
{
    const pr_condition_found *f = found_for(run, p);
    return p->intra || f->misses > MISSES ? PR_TERM_NONE : f->condition;
}

bool pr_condition_again(pr_run *run, pr_pair *p, pr_outcome *o)
{
    pr_condition_found *f = found_for(run, p);
    if (pr_term_none(pr_condition_known(run, p))) return false;
    bool held = pr_condition_try(run, p, f->condition, NULL, o);
    f->misses = held ? 0 : f->misses + 1;
    return held;
}

void pr_condition_premise(pr_run *run, pr_query *q, pr_term condition)
{
    pr_term_vec all = { 0 };
    if (pr_term_none(condition)) return;
    for (int i = 0; i < q->n_premises; i++) pr_vec_push(run->arena, &all, q->premises[i]);
    pr_conjuncts(run->R->terms, condition, &all, run->arena);
    q->premises = all.data;
    q->n_premises = all.n;
}

/* --- text ------------------------------------------------------------------------------------------ */

typedef struct monomial { pr_i128 coef; pr_term factor[16]; int n; bool used; } monomial;

static void atom(pr_buf *b, pr_terms *T, pr_term t);

static void factors(const pr_terms *T, pr_term t, monomial *m)
{
    if (pr_term_op_of(T, t) == PR_TERM_OP_MUL && m->n < 14) {
        factors(T, pr_term_child(T, t, 0), m);
        factors(T, pr_term_child(T, t, 1), m);
    } else if (m->n < 16) {
        m->factor[m->n++] = t;
    }
}

/* m is l without its factor number i. */
static bool is_without(const monomial *l, int i, const monomial *m)
{
    bool taken[16] = { false };
    if (m->n != l->n - 1) return false;
    taken[i] = true;
    for (int j = 0; j < m->n; j++) {
        int k = 0;
        while (k < l->n && (taken[k] || !pr_term_is(l->factor[k], m->factor[j]))) k++;
        if (k == l->n) return false;
        taken[k] = true;
    }
    return true;
}

static void product(pr_buf *b, pr_terms *T, pr_i128 coef, const monomial *m, int less_one)
{
    bool first = true;
    if (coef != 1 || m->n == 0) {
        pr_buf_i128(b, coef);
        first = false;
    }
    for (int i = 0; i < m->n; i++) { /* (N - 1)*stride */
        int at = less_one < 0 ? i : i == 0 ? less_one : i <= less_one ? i - 1 : i;
        if (!first) pr_buf_puts(b, "*");
        first = false;
        if (at == less_one) pr_buf_puts(b, "(");
        atom(b, T, m->factor[at]);
        if (at == less_one) pr_buf_puts(b, " - 1)");
    }
}

/* One side: the monomials of this sign, then the constant when it is positive. */
static bool side(pr_buf *b, pr_terms *T, monomial *m, int n, int sign, pr_i128 k)
{
    bool any = false;
    for (int i = 0; i < n; i++) {
        if (m[i].used || (m[i].coef > 0) != (sign > 0)) continue;
        int less_one = -1;
        for (int f = 0; f < m[i].n && less_one < 0 && m[i].n > 1; f++)
            for (int j = 0; j < n && less_one < 0; j++)
                if (!m[j].used && m[j].coef == -m[i].coef && is_without(&m[i], f, &m[j])) {
                    m[j].used = true;
                    less_one = f;
                }
        m[i].used = true;
        if (any) pr_buf_puts(b, " + ");
        product(b, T, sign * m[i].coef, &m[i], less_one);
        any = true;
    }
    if (k > 0 || !any) {
        if (any) pr_buf_puts(b, " + ");
        pr_buf_i128(b, k > 0 ? k : 0);
    }
    return any;
}

enum { MONOMIALS = 64 };

static int monomials(pr_terms *T, pr_term t, monomial *m)
{
    bool sum = pr_term_op_of(T, t) == PR_TERM_OP_SUM;
    int n = sum ? pr_term_arity(T, t) : 1;
    if (n > MONOMIALS) return -1;
    for (int i = 0; i < n; i++) {
        m[i] = (monomial){ .coef = sum ? pr_term_coef(T, t, i) : 1 };
        factors(T, sum ? pr_term_child(T, t, i) : t, &m[i]);
    }
    return n;
}

static void binary(pr_buf *b, pr_terms *T, pr_term t, const char *open, const char *between)
{
    pr_buf_puts(b, open);
    atom(b, T, pr_term_child(T, t, 0));
    pr_buf_puts(b, between);
    atom(b, T, pr_term_child(T, t, 1));
    pr_buf_puts(b, ")");
}

static void atom(pr_buf *b, pr_terms *T, pr_term t)
{
    monomial m[MONOMIALS];
    switch (pr_term_op_of(T, t)) {
    case PR_TERM_OP_SUM: {
        int n = monomials(T, t, m);
        pr_i128 k = pr_term_value(T, t);
        if (n < 0) break;
        pr_buf_puts(b, "(");
        for (int i = 0; i < n; i++) {
            if (i || m[i].coef < 0) pr_buf_puts(b, m[i].coef < 0 ? " - " : " + ");
            product(b, T, m[i].coef < 0 ? -m[i].coef : m[i].coef, &m[i], -1);
        }
        if (k) pr_buf_puts(b, k < 0 ? " - " : " + ");
        if (k) pr_buf_i128(b, k < 0 ? -k : k);
        pr_buf_puts(b, ")");
        return;
    }
    case PR_TERM_OP_MUL:
        m[0] = (monomial){ .coef = 1 };
        factors(T, t, m);
        product(b, T, 1, m, -1);
        return;
    case PR_TERM_OP_FDIV: binary(b, T, t, "(", " // "); return;
    case PR_TERM_OP_FMOD: binary(b, T, t, "(", " % "); return;
    case PR_TERM_OP_TDIV: binary(b, T, t, "trunc(", " / "); return;
    case PR_TERM_OP_TREM: binary(b, T, t, "remainder(", ", "); return;
    case PR_TERM_OP_MIN: binary(b, T, t, "min(", ", "); return;
    case PR_TERM_OP_MAX: binary(b, T, t, "max(", ", "); return;
    default: break;
    }
    pr_term_print(b, T, t);
}

static void print_one(pr_buf *b, pr_terms *T, pr_term t)
{
    monomial m[MONOMIALS];
    bool equation = pr_term_op_of(T, t) == PR_TERM_OP_EQ0;
    int n = equation || pr_term_op_of(T, t) == PR_TERM_OP_LE0 ? monomials(T, pr_term_child(T, t, 0), m) : -1;
    if (n < 0) {
        pr_term_print(b, T, t);
        return;
    }
    pr_term x = pr_term_child(T, t, 0);
    pr_i128 k = pr_term_op_of(T, x) == PR_TERM_OP_SUM ? pr_term_value(T, x) : 0;
    if (equation) {
        side(b, T, m, n, 1, k > 0 ? k : 0);
        pr_buf_puts(b, " == ");
        side(b, T, m, n, -1, k < 0 ? -k : 0);
        return;
    }
    bool positive = false;
    for (int i = 0; i < n; i++) positive = positive || m[i].coef > 0;
    if (!positive) { /* k <= sum */
        side(b, T, m, n, -1, 0);
        pr_buf_puts(b, " >= ");
        pr_buf_i128(b, k);
        return;
    }
    bool strict = k == 1;
    side(b, T, m, n, 1, strict ? 0 : k);
    pr_buf_puts(b, strict ? " < " : " <= ");
    side(b, T, m, n, -1, strict ? 0 : -k);
}

const char *pr_condition_text(pr_arena *arena, pr_terms *T, pr_term t)
{
    pr_term_vec parts = { 0 };
    pr_buf b;
    pr_buf_init(&b, arena);
    pr_conjuncts(T, t, &parts, arena);
    for (int i = 0; i < parts.n; i++) {
        if (i) pr_buf_puts(&b, " and ");
        print_one(&b, T, parts.data[i]);
    }
    return b.data;
}

/* --- qualifiers ------------------------------------------------------------------------------------ */

/* x <= 0 beside what is there: dropped when y <= 0 with y = x + (a constant >= 0) is there, and it replaces a
 * weaker one. */
static void add_condition(pr_run *run, pr_term_vec *out, pr_term t)
{
    pr_terms *T = run->R->terms;
    for (int k = 0; k < out->n; k++) {
        pr_i128 d;
        if (pr_term_is(out->data[k], t)) return;
        if (pr_term_op_of(T, t) != PR_TERM_OP_LE0 || pr_term_op_of(T, out->data[k]) != PR_TERM_OP_LE0) continue;
        pr_term more = pr_sub(T, pr_term_child(T, t, 0), pr_term_child(T, out->data[k], 0));
        if (pr_term_none(more) || !pr_term_const(T, more, &d)) continue;
        if (d > 0) out->data[k] = t;
        return;
    }
    pr_vec_push(run->arena, out, t);
}

/* The conditions of the pairs on one argument. */
static void collect(pr_run *run, int base, pr_term_vec *out)
{
    for (int i = 0; i < run->pairs.n; i++) {
        const pr_pair *p = &run->pairs.data[i];
        pr_term_vec parts = { 0 };
        if (p->state != PR_PAIR_EMPTY || pr_term_none(p->condition)) continue;
        if (base >= 0 && run->R->records.data[p->a].base != base) continue;
        pr_conjuncts(run->R->terms, p->condition, &parts, run->arena);
        for (int j = 0; j < parts.n; j++) add_condition(run, out, parts.data[j]);
    }
}

void pr_condition_all(pr_run *run, pr_term_vec *out) { collect(run, -1, out); }

void pr_condition_qualify(pr_run *run)
{
    pr_condition_all(run, &run->out->conditions);
    for (int base = 0; base < run->R->n_args; base++) {
        pr_term_vec parts = { 0 };
        pr_buf b;
        collect(run, base, &parts);
        if (!parts.n) continue;
        pr_buf_init(&b, run->arena);
        pr_buf_printf(&b, "assumes strides of " PR_STR_FMT " do not overlap: ",
                      PR_STR_ARG(run->R->args[base].name));
        for (int i = 0; i < parts.n; i++) {
            if (i) pr_buf_puts(&b, " and ");
            print_one(&b, run->R->terms, parts.data[i]);
        }
        pr_add_qualifier(run, b.data);
    }
}
