/* Reads an affine condition on parameters; recursive descent over at most MAX_DEPTH parentheses. */
#include "hb/assume.h"
#include <ctype.h>

enum { MAX_DEPTH = 64 };

typedef struct reader { pr_records *R; const char *text; size_t at; int depth; pr_error *err; bool bad; } reader;

static pr_term fail(reader *r, const char *what)
{
    if (!r->bad) pr_fail(r->err, PR_ERR_USAGE, "", 0, (int)r->at + 1, "assumption '%.80s': %s", r->text, what);
    r->bad = true;
    return PR_TERM_ZERO;
}

static char skip(reader *r)
{
    while (isspace((unsigned char)r->text[r->at])) r->at++;
    return r->text[r->at];
}

static bool eat(reader *r, const char *word)
{
    skip(r);
    size_t n = strlen(word);
    if (strncmp(r->text + r->at, word, n) != 0) return false;
    if (isalpha((unsigned char)word[0]) && (isalnum((unsigned char)r->text[r->at + n]) || r->text[r->at + n] == '_')) return false;
    r->at += n;
    return true;
}

static pr_term sum(reader *r);

static pr_term name(reader *r)
{
    size_t from = r->at;
    while (isalnum((unsigned char)r->text[r->at]) || r->text[r->at] == '_' || r->text[r->at] == '.') r->at++;
    pr_str n = { r->text + from, r->at - from };
    for (int i = 0; i < r->R->n_args; i++)
        if (r->R->args[i].param.id && pr_str_eq(r->R->args[i].name, n)) return pr_var_term(r->R->terms, r->R->args[i].param);
    for (int i = 0; i < 3; i++) {
        char grid[] = { 'g', 'r', 'i', 'd', (char)('0' + i), 0 };
        if (pr_str_is(n, grid)) return pr_var_term(r->R->terms, r->R->grid[i]);
    }
    r->at = from;
    return fail(r, "expected an integer argument of the kernel or grid0, grid1, grid2");
}

static pr_term atom(reader *r)
{
    char c = skip(r);
    if (++r->depth > MAX_DEPTH) return fail(r, "nested too deeply");
    pr_term t;
    if (c == '-') {
        r->at++;
        t = pr_neg(r->R->terms, atom(r));
    } else if (c == '(') {
        r->at++;
        t = sum(r);
        if (!eat(r, ")")) t = fail(r, "expected ')'");
    } else if (isdigit((unsigned char)c)) {
        size_t from = r->at;
        pr_i128 v = 0;
        while (isalnum((unsigned char)r->text[r->at])) r->at++;
        if (!pr_i128_parse((pr_str){ r->text + from, r->at - from }, &v)) t = fail(r, "malformed number");
        else t = pr_const(r->R->terms, v);
    } else {
        t = name(r);
    }
    r->depth--;
    return t;
}

static pr_term product(reader *r)
{
    pr_term t = atom(r);
    while (!r->bad) {
        if (eat(r, "*")) t = pr_mul(r->R->terms, t, atom(r));
        else if (eat(r, "%")) t = pr_fmod_t(r->R->terms, t, atom(r));
        else break;
    }
    return t;
}

static pr_term sum(reader *r)
{
    pr_term t = product(r);
    while (!r->bad) {
        if (eat(r, "+")) t = pr_add(r->R->terms, t, product(r));
        else if (eat(r, "-")) t = pr_sub(r->R->terms, t, product(r));
        else break;
    }
    return t;
}

static pr_term test(reader *r)
{
    pr_terms *T = r->R->terms;
    pr_term left = sum(r), all = PR_TERM_TRUE;
    bool any = false;
    while (!r->bad) {
        int op = eat(r, "<=") ? 0 : eat(r, ">=") ? 1 : eat(r, "==") ? 2 : eat(r, "!=") ? 3 : eat(r, "<") ? 4 : eat(r, ">") ? 5 : -1;
        if (op < 0) break;
        pr_term right = sum(r), c = PR_TERM_TRUE;
        if (r->bad) break;
        switch (op) {
        case 0: c = pr_le(T, left, right); break;
        case 1: c = pr_le(T, right, left); break;
        case 2: c = pr_eq(T, left, right); break;
        case 3: c = pr_ne(T, left, right); break;
        case 4: c = pr_lt(T, left, right); break;
        case 5: c = pr_lt(T, right, left); break;
        }
        all = pr_and(T, all, c);
        left = right;
        any = true;
    }
    if (!any && !r->bad) return fail(r, "expected a comparison");
    return all;
}

pr_status pr_assume_parse(pr_records *R, const char *text, pr_term *out, pr_error *err)
{
    reader r = { .R = R, .text = text, .err = err };
    pr_term all = test(&r);
    while (!r.bad && (eat(&r, "and") || eat(&r, "&&"))) all = pr_and(R->terms, all, test(&r));
    if (!r.bad && skip(&r)) fail(&r, "unexpected text after the condition");
    if (!r.bad && pr_term_none(all)) fail(&r, "the numbers are too large");
    *out = all;
    return r.bad ? PR_ERR_USAGE : PR_OK;
}
