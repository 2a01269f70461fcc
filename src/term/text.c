/* Terms as S-expressions, and back.
 *
 * Printing walks the tree with an explicit stack; a term whose tree is huge (heavy sharing) is cut
 * off with "..." unless its shared nodes were named before (query.c prints them as definitions).
 * Reading builds with the normalising constructors, so read(print(t)) equals t in the same store.
 */
#include "term/text.h"
#include "term/store.h"
#include "term/table.h"
#include <assert.h>
#include <stdlib.h>

enum { MAX_TEXT = 1 << 20, MAX_DEPTH = 100000 };

static const char *const head[] = {
    [PR_TERM_OP_SUM] = "+", [PR_TERM_OP_MUL] = "*", [PR_TERM_OP_FDIV] = "fdiv",
    [PR_TERM_OP_FMOD] = "fmod", [PR_TERM_OP_TDIV] = "tdiv", [PR_TERM_OP_TREM] = "trem",
    [PR_TERM_OP_MIN] = "min", [PR_TERM_OP_MAX] = "max", [PR_TERM_OP_SELECT] = "select",
    [PR_TERM_OP_BAND] = "band", [PR_TERM_OP_BOR] = "bor", [PR_TERM_OP_BXOR] = "bxor",
    [PR_TERM_OP_LE0] = "<=", [PR_TERM_OP_EQ0] = "=", [PR_TERM_OP_NOT] = "not",
    [PR_TERM_OP_AND] = "and", [PR_TERM_OP_OR] = "or", [PR_TERM_OP_FITS] = "fits",
};
static const char *const sym_word[] = {
    [PR_SYM_LOADED] = "load", [PR_SYM_OBSERVED] = "obs", [PR_SYM_OPAQUE] = "opaque",
    [PR_SYM_CONDITION] = "cond",
};

/* --- printing ------------------------------------------------------------------------------ */

/* What is left to print: a term, a fixed text, or a number. */
typedef struct todo { const char *text; pr_term t; pr_i128 number; bool is_number; } todo;
typedef struct printer { pr_buf *b; PR_VEC(todo) stack; } printer;

static void later_text(printer *p, const char *s)
{
    pr_vec_push(p->b->arena, &p->stack, ((todo){ .text = s }));
}

static void later_term(printer *p, pr_term t)
{
    pr_vec_push(p->b->arena, &p->stack, ((todo){ .t = t }));
}

static void later_number(printer *p, pr_i128 v)
{
    pr_vec_push(p->b->arena, &p->stack, ((todo){ .number = v, .is_number = true }));
}

/* Prints the opening of a node and pushes the rest in reverse. */
static void print_node(printer *p, const pr_terms *T, pr_term t)
{
    const node *x = node_of(T, t);
    switch ((pr_term_op)x->op) {
    case PR_TERM_OP_NONE: pr_buf_puts(p->b, "none"); return;
    case PR_TERM_OP_FALSE: pr_buf_puts(p->b, "false"); return;
    case PR_TERM_OP_TRUE: pr_buf_puts(p->b, "true"); return;
    case PR_TERM_OP_CONST: pr_buf_i128(p->b, x->value); return;
    case PR_TERM_OP_VAR: pr_buf_puts(p->b, T->vars[x->aux].name); return;
    case PR_TERM_OP_APP: {
        const pr_sym_info *s = &T->syms[x->aux];
        pr_buf_printf(p->b, "(%s#%u", sym_word[s->kind], x->aux);
        break;
    }
    case PR_TERM_OP_FITS: {
        static const char *const kinds[] = { "i", "u", "b" };
        pr_buf_printf(p->b, "(fits %s%u", kinds[x->kind], x->aux);
        break;
    }
    case PR_TERM_OP_TABLE: pr_buf_printf(p->b, "(table#%u", x->aux); break;
    default: pr_buf_printf(p->b, "(%s", head[x->op]); break;
    }
    later_text(p, ")");
    if (x->op == PR_TERM_OP_LE0 || x->op == PR_TERM_OP_EQ0) later_text(p, " 0");
    for (uint32_t i = x->n; i-- > 0;) {
        pr_i128 c = x->op == PR_TERM_OP_SUM ? T->coefs[x->coef + i] : 1;
        if (c != 1) later_text(p, ")");
        later_term(p, kid(T, x, i));
        later_text(p, " ");
        if (c != 1) {
            later_number(p, c);
            later_text(p, " (* ");
        }
    }
    if (x->op == PR_TERM_OP_SUM && x->value != 0) {
        later_number(p, x->value);
        later_text(p, " ");
    }
}

void pr_term_print_named(pr_buf *b, const pr_terms *T, pr_term t, const uint32_t *name,
                         uint32_t n_name)
{
    printer p = { .b = b };
    size_t start = b->n;
    later_term(&p, t);
    while (p.stack.n) {
        todo d = p.stack.data[--p.stack.n];
        if (b->n - start > MAX_TEXT) {
            pr_buf_puts(b, " ...");
            return;
        }
        if (d.text) pr_buf_puts(b, d.text);
        else if (d.is_number) pr_buf_i128(b, d.number);
        else if (d.t.id < n_name && name[d.t.id]) pr_buf_printf(b, "%%%u", name[d.t.id]);
        else print_node(&p, T, d.t);
    }
}

void pr_term_print(pr_buf *b, const pr_terms *T, pr_term t)
{
    pr_term_print_named(b, T, t, NULL, 0);
}

enum { LARGE = 256 };               /* nodes of a term that is worth a name                        */

pr_term_names pr_term_print_shared(pr_buf *b, const pr_terms *T, const pr_term *root, int n_roots)
{
    pr_temp hold;
    uint32_t *ids, n = pr_term_below(T, root, n_roots, &hold, &ids), count = 0;
    uint32_t *uses = PR_NEW_N(b->arena, uint32_t, T->n_nodes), *size = PR_NEW_N(b->arena, uint32_t, T->n_nodes);
    uint32_t *name = PR_NEW_N(b->arena, uint32_t, T->n_nodes);
    for (int i = 0; i < n_roots; i++) uses[root[i].id]++;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < T->nodes[ids[i]].n; k++) uses[T->kids[T->nodes[ids[i]].first + k]]++;
    for (uint32_t i = 0; i < n; i++) {               /* children come first                            */
        const node *x = &T->nodes[ids[i]];
        uint64_t all = 1;
        for (uint32_t k = 0; k < x->n; k++) all += name[T->kids[x->first + k]] ? 1 : size[T->kids[x->first + k]];
        size[ids[i]] = all > UINT32_MAX ? UINT32_MAX : (uint32_t)all;
        if (uses[ids[i]] < 2 || all < LARGE) continue;
        pr_buf_printf(b, "(def %%%u ", ++count);
        pr_term_print_named(b, T, (pr_term){ ids[i] }, name, T->n_nodes);
        pr_buf_puts(b, ")\n");
        name[ids[i]] = count;
    }
    pr_temp_end(&hold);
    return (pr_term_names){ name, T->n_nodes };
}

void pr_term_print_with(pr_buf *b, const pr_terms *T, pr_term t, const pr_term_names *names)
{
    pr_term_print_named(b, T, t, names->name, names->n);
}

/* --- reading ------------------------------------------------------------------------------- */

static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

pr_str pr_text_token(pr_str *in)
{
    while (in->n) {
        if (is_space(*in->s)) {
            in->s++;
            in->n--;
        } else if (*in->s == ';') {
            while (in->n && *in->s != '\n') in->s++, in->n--;
        } else {
            break;
        }
    }
    pr_str t = { in->s, 0 };
    while (t.n < in->n && !is_space(in->s[t.n]) && in->s[t.n] != '(' && in->s[t.n] != ')') t.n++;
    if (t.n == 0 && in->n) t.n = 1;
    in->s += t.n;
    in->n -= t.n;
    return t;
}

/* One open parenthesis: its head and the operands read so far. */
typedef struct open_form { pr_str head; int first; } open_form;
typedef struct parser {
    pr_terms *T;
    const pr_text_names *names;
    pr_arena *arena;
    PR_VEC(pr_term) args;
    PR_VEC(open_form) open;
    const char *why;
} parser;

static pr_term fail(parser *p, const char *why)
{
    if (!p->why) p->why = why;
    return PR_TERM_NONE;
}

static pr_term read_atom(parser *p, pr_str s)
{
    pr_terms *T = p->T;
    pr_i128 v;
    if (pr_i128_parse(s, &v)) return pr_const(T, v);
    if (pr_str_is(s, "true")) return PR_TERM_TRUE;
    if (pr_str_is(s, "false")) return PR_TERM_FALSE;
    if (p->names && s.n > 1 && s.s[0] == '%' && pr_i128_parse((pr_str){ s.s + 1, s.n - 1 }, &v)
        && v >= 0 && v < p->names->n && !pr_term_none(p->names->term[(int)v]))
        return p->names->term[(int)v];
    for (uint32_t i = 1; i < T->n_vars; i++) {
        if (pr_str_is(s, T->vars[i].name)) return pr_var_term(T, (pr_var){ i });
    }
    return fail(p, "unknown name");
}

static bool sorts(const pr_terms *T, const pr_term *a, int n, bool is_bool)
{
    for (int i = 0; i < n; i++) {
        if (pr_term_none(a[i]) || pr_term_is_bool(T, a[i]) != is_bool) return false;
    }
    return true;
}

/* A table by its number in the store, or by the number that the query's own list gives it. */
static pr_term read_table(parser *p, pr_str number, const pr_term *a, int n)
{
    pr_i128 v;
    if (!pr_i128_parse(number, &v) || n != 1 || !sorts(p->T, a, 1, false)) return fail(p, "not a table entry");
    for (int i = 0; p->names && i < p->names->n_tabs; i++)
        if (p->names->tab_number[i] == v) return pr_table(p->T, p->names->tab[i], a[0]);
    if (v < 1 || v >= pr_tabs_count(p->T)) return fail(p, "unknown table");
    return pr_table(p->T, (pr_tab){ (uint32_t)v }, a[0]);
}

static pr_term read_symbol(parser *p, pr_str h, const pr_term *a, int n)
{
    pr_terms *T = p->T;
    size_t mark = 0;
    while (mark < h.n && h.s[mark] != '#') mark++;
    pr_i128 v;
    if (pr_str_is((pr_str){ h.s, mark }, "table")) return read_table(p, (pr_str){ h.s + mark + 1, h.n - mark - 1 }, a, n);
    if (mark == h.n || !pr_i128_parse((pr_str){ h.s + mark + 1, h.n - mark - 1 }, &v) || v < 1
        || v >= T->n_syms || !pr_str_is((pr_str){ h.s, mark }, sym_word[T->syms[(int)v].kind]))
        return fail(p, "unknown operation");
    if (!sorts(T, a, n, false)) return fail(p, "operand of the wrong sort");
    return pr_app(T, (pr_sym){ (uint32_t)v }, a, n);
}

/* The two-operand integer operations by their word. */
static const struct {
    const char *word;
    pr_term (*make)(pr_terms *, pr_term, pr_term);
} binary[] = {
    { "*", pr_mul }, { "fdiv", pr_fdiv_t }, { "fmod", pr_fmod_t }, { "tdiv", pr_tdiv_t },
    { "trem", pr_trem_t }, { "min", pr_min }, { "max", pr_max }, { "band", pr_band },
    { "bor", pr_bor }, { "bxor", pr_bxor }, { "<=", pr_le }, { "=", pr_eq },
};

static pr_term read_form(parser *p, pr_str h, const pr_term *a, int n)
{
    pr_terms *T = p->T;
    bool integers = sorts(T, a, n, false), booleans = sorts(T, a, n, true);
    if (pr_str_is(h, "+") && integers && n > 0) {
        pr_i128 *one = PR_NEW_N(p->arena, pr_i128, n);
        for (int i = 0; i < n; i++) one[i] = 1;
        return pr_sum(T, a, one, n, 0);
    }
    for (size_t i = 0; i < PR_LEN(binary); i++) {
        if (pr_str_is(h, binary[i].word) && n == 2 && integers)
            return binary[i].make(T, a[0], a[1]);
    }
    if (pr_str_is(h, "not") && n == 1 && booleans) return pr_not(T, a[0]);
    bool is_and = pr_str_is(h, "and");
    if ((is_and || pr_str_is(h, "or")) && booleans) {
        pr_term r = pr_bool(is_and);
        for (int i = 0; i < n; i++) r = is_and ? pr_and(T, r, a[i]) : pr_or(T, r, a[i]);
        return r;
    }
    if (pr_str_is(h, "select") && n == 3 && sorts(T, a, 1, true)
        && (sorts(T, a + 1, 2, true) || sorts(T, a + 1, 2, false)))
        return pr_select(T, a[0], a[1], a[2]);
    if (h.n > 5 && pr_str_starts(h, "fits ") && n == 1 && integers) {
        pr_i128 bits;
        char k = h.s[5];
        pr_fits_kind kind = k == 'i' ? PR_FITS_SIGNED : k == 'u' ? PR_FITS_NONNEG : PR_FITS_BIT;
        if ((k != 'i' && k != 'u' && k != 'b')
            || !pr_i128_parse((pr_str){ h.s + 6, h.n - 6 }, &bits) || bits < 0 || bits > 4096
            || (kind == PR_FITS_SIGNED && bits < 1))
            return fail(p, "unknown width");
        return pr_fits(T, kind, (int)bits, a[0]);
    }
    for (size_t i = 0; i < h.n; i++) {
        if (h.s[i] == '#') return read_symbol(p, h, a, n);
    }
    return fail(p, integers || booleans ? "unknown operation or operand count"
                                        : "operand of the wrong sort");
}

static bool closed(parser *p, pr_term t)
{
    if (pr_term_none(t)) {
        fail(p, "a constant leaves the exact integer range");
        return false;
    }
    pr_vec_push(p->arena, &p->args, t);
    return true;
}

bool pr_text_term(pr_terms *T, pr_str *in, const pr_text_names *names, pr_arena *arena,
                  pr_term *out, const char **why)
{
    parser p = { .T = T, .names = names, .arena = arena };
    bool ok = true;
    do {
        pr_str t = pr_text_token(in);
        if (t.n == 0) {
            fail(&p, "text ends inside a term");
            ok = false;
        } else if (t.s[0] == '(') {
            pr_str h = pr_text_token(in);
            if (pr_str_is(h, "fits")) {
                pr_str kind = pr_text_token(in);
                h.s = pr_arena_printf(arena, "fits " PR_STR_FMT, PR_STR_ARG(kind));
                h.n = kind.n + 5;
            }
            if (p.open.n >= MAX_DEPTH) {
                fail(&p, "term is nested too deeply");
                ok = false;
                break;
            }
            pr_vec_push(arena, &p.open, ((open_form){ h, p.args.n }));
        } else if (t.s[0] == ')') {
            if (p.open.n == 0) {
                fail(&p, "unmatched )");
                ok = false;
                break;
            }
            open_form f = p.open.data[--p.open.n];
            pr_term r = read_form(&p, f.head, p.args.data + f.first, p.args.n - f.first);
            p.args.n = f.first;
            ok = closed(&p, r);
        } else {
            ok = closed(&p, read_atom(&p, t));
        }
    } while (ok && p.open.n);
    if (!ok || p.args.n != 1) {
        *why = p.why ? p.why : "not a term";
        return false;
    }
    *out = p.args.data[0];
    return true;
}

bool pr_term_parse(pr_terms *T, pr_str text, pr_term *out, const char **why)
{
    if (!pr_text_term(T, &text, NULL, T->arena, out, why)) return false;
    if (pr_text_token(&text).n == 0) return true;
    *why = "text after the term";
    return false;
}
