/* Parser of user premises, see assume.h. Recursive descent; nesting is limited. */
#include "front/assume.h"
#include <string.h>

#define NESTING 100

typedef struct reader {
    pr_records *r;
    pr_terms *T;
    const char *p;
    int depth;
    const char *why;
} reader;

typedef struct value {
    pr_term t;
    bool boolean;
} value;

static value fail(reader *c, const char *why)
{
    if (!c->why) c->why = why;
    return (value){ PR_TERM_NONE, false };
}

static void blanks(reader *c)
{
    while (*c->p == ' ' || *c->p == '\t' || *c->p == '\n') c->p++;
}

static bool word_char(char ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
           ch == '_' || ch == '.';
}

/* Takes an operator or a whole word. */
static bool take(reader *c, const char *what)
{
    size_t n = strlen(what);
    blanks(c);
    if (strncmp(c->p, what, n) != 0) return false;
    if (word_char(what[0]) && word_char(c->p[n])) return false;
    c->p += n;
    return true;
}

static value disjunction(reader *c);

static value name(reader *c)
{
    size_t n = 0;
    while (word_char(c->p[n])) n++;
    pr_str s = { c->p, n };
    c->p += n;
    for (int k = 0; k < c->r->n_args; k++) {
        if (!pr_str_eq(c->r->args[k].name, s)) continue;
        if (!c->r->args[k].is_int || c->r->args[k].param.id == 0)
            return fail(c,
                        pr_arena_printf(pr_terms_arena(c->T),
                                        PR_STR_FMT " is not an integer parameter", PR_STR_ARG(s)));
        return (value){ pr_var_term(c->T, c->r->args[k].param), false };
    }
    return fail(c, pr_arena_printf(pr_terms_arena(c->T), "the kernel has no parameter " PR_STR_FMT,
                                   PR_STR_ARG(s)));
}

static value atom(reader *c)
{
    if (take(c, "(")) {
        if (++c->depth > NESTING) return fail(c, "nested too deeply");
        value v = disjunction(c);
        c->depth--;
        if (!c->why && !take(c, ")")) return fail(c, "expected ')'");
        return v;
    }
    if (take(c, "-")) {
        if (++c->depth > NESTING) return fail(c, "nested too deeply");
        value v = atom(c);
        c->depth--;
        if (v.boolean) return fail(c, "'-' needs an integer");
        return c->why ? v : (value){ pr_neg(c->T, v.t), false };
    }
    if (take(c, "True")) return (value){ PR_TERM_TRUE, true };
    if (take(c, "False")) return (value){ PR_TERM_FALSE, true };
    blanks(c);
    if (*c->p >= '0' && *c->p <= '9') {
        size_t n = 0;
        while (word_char(c->p[n])) n++;
        pr_i128 v;
        if (!pr_i128_parse((pr_str){ c->p, n }, &v) || v > (pr_i128)UINT64_MAX)
            return fail(c, "malformed number");
        c->p += n;
        return (value){ pr_const(c->T, v), false };
    }
    if (word_char(*c->p)) return name(c);
    return fail(c, *c->p ? pr_arena_printf(pr_terms_arena(c->T), "unexpected '%c'", *c->p)
                         : "unexpected end");
}

static value product(reader *c)
{
    value a = atom(c);
    while (!c->why) {
        char op = take(c, "*") ? '*' : take(c, "//") ? '/' : take(c, "%") ? '%' : 0;
        if (!op) return a;
        value b = atom(c);
        if (c->why) return a;
        if (a.boolean || b.boolean) return fail(c, "arithmetic needs integers");
        pr_i128 k;
        if (op == '*' && pr_term_const(c->T, b.t, &k)) a.t = pr_scale(c->T, a.t, k);
        else if (op == '*' && pr_term_const(c->T, a.t, &k)) a.t = pr_scale(c->T, b.t, k);
        else if (op == '*') return fail(c, "a product needs a constant factor");
        else if (!pr_term_const(c->T, b.t, &k) || k <= 0)
            return fail(c, "the divisor must be a positive constant");
        else a.t = op == '/' ? pr_fdiv_t(c->T, a.t, b.t) : pr_fmod_t(c->T, a.t, b.t);
    }
    return a;
}

static value sum(reader *c)
{
    value a = product(c);
    while (!c->why) {
        char op = take(c, "+") ? '+' : take(c, "-") ? '-' : 0;
        if (!op) return a;
        value b = product(c);
        if (c->why) return a;
        if (a.boolean || b.boolean) return fail(c, "arithmetic needs integers");
        a.t = op == '+' ? pr_add(c->T, a.t, b.t) : pr_sub(c->T, a.t, b.t);
    }
    return a;
}

static value comparison(reader *c)
{
    static const char *const ops[] = { "<=", ">=", "==", "!=", "<", ">" };
    value left = sum(c), all = left;
    bool any = false;
    while (!c->why) {
        size_t op = 0;
        while (op < PR_LEN(ops) && !take(c, ops[op])) op++;
        if (op == PR_LEN(ops)) return all;
        value right = sum(c);
        if (c->why) return all;
        if (left.boolean || right.boolean) return fail(c, "a comparison needs integers");
        pr_terms *T = c->T;
        pr_term t = op == 0   ? pr_le(T, left.t, right.t)
                    : op == 1 ? pr_le(T, right.t, left.t)
                    : op == 2 ? pr_eq(T, left.t, right.t)
                    : op == 3 ? pr_ne(T, left.t, right.t)
                    : op == 4 ? pr_lt(T, left.t, right.t)
                              : pr_lt(T, right.t, left.t);
        all = (value){ any ? pr_and(T, all.t, t) : t, true };
        any = true;
        left = right;
    }
    return all;
}

static value negation(reader *c)
{
    blanks(c);
    if (!take(c, "not") && !(c->p[0] == '!' && c->p[1] != '=' && take(c, "!")))
        return comparison(c);
    if (++c->depth > NESTING) return fail(c, "nested too deeply");
    value v = negation(c);
    c->depth--;
    if (!c->why && !v.boolean) return fail(c, "'not' needs a condition");
    return c->why ? v : (value){ pr_not(c->T, v.t), true };
}

static value conjunction(reader *c)
{
    value a = negation(c);
    while (!c->why && (take(c, "and") || take(c, "&&"))) {
        value b = negation(c);
        if (!c->why && (!a.boolean || !b.boolean)) return fail(c, "'and' needs conditions");
        if (!c->why) a.t = pr_and(c->T, a.t, b.t);
    }
    return a;
}

static value disjunction(reader *c)
{
    value a = conjunction(c);
    while (!c->why && (take(c, "or") || take(c, "||"))) {
        value b = conjunction(c);
        if (!c->why && (!a.boolean || !b.boolean)) return fail(c, "'or' needs conditions");
        if (!c->why) a.t = pr_or(c->T, a.t, b.t);
    }
    return a;
}

bool pr_assume_parse(pr_records *r, const char *text, pr_term *out, const char **why)
{
    reader c = { .r = r, .T = r->terms, .p = text };
    value v = disjunction(&c);
    blanks(&c);
    if (!c.why && *c.p) fail(&c, "unexpected text after the condition");
    if (!c.why && !v.boolean) fail(&c, "not a condition");
    if (!c.why && pr_term_none(v.t)) fail(&c, "a constant is too large");
    *why = c.why;
    *out = v.t;
    return !c.why;
}
