/* What can be kept of an operation whose custom assembly is not known? (ttir-front.md 1.10, rule 3)
 *
 * Its text is skipped token by token with brackets balanced. Every value use becomes an operand,
 * regions are read as regions, attribute dictionaries as attributes, and the last ':' or '->'
 * outside brackets is tried as the result type. The operation ends at the first line break
 * outside brackets unless the next token continues it. Nothing here guesses a meaning: such an
 * operation is refused later unless it is harmless. */
#include "front/parse.h"
#include <string.h>

/* A name that is no visible value and stands before ':' or '=' declares an argument of the next
 * region: partition0(%a: T), iter_args(%x = %y). Until a region follows it is only a candidate. */
typedef struct unknown {
    pr_args declared;
    PR_VEC(char) open;          /* closers wanted, innermost last                              */
    bool has_types;
    pr_lexer types;             /* behind the last ':' or '->' outside brackets                */
    bool arrow;
} unknown;

static bool continues(const pr_parser *p)
{
    static const char *const words[] = { "else", "do", "attributes" };
    for (size_t i = 0; i < PR_LEN(words); i++)
        if (pr_parse_is_word(p, words[i])) return true;
    return pr_parse_is(p, PR_TOK_COLON) || pr_parse_is(p, PR_TOK_ARROW)
           || pr_parse_is(p, PR_TOK_COMMA) || pr_parse_is(p, PR_TOK_LBRACE);
}

/* tok is '{': does a region follow, or an attribute dictionary? */
static bool opens_region(pr_parser *p)
{
    pr_lexer ahead = p->lex;
    pr_token a = pr_lexer_next(&ahead), b = pr_lexer_next(&ahead);
    switch (a.kind) {
    case PR_TOK_BLOCK:
    case PR_TOK_VALUE:
    case PR_TOK_RBRACE: return true;
    case PR_TOK_STRING: return b.kind == PR_TOK_LPAREN;
    case PR_TOK_BARE:
        return b.kind != PR_TOK_EQUAL && b.kind != PR_TOK_COMMA
               && !(b.kind == PR_TOK_RBRACE && !memchr(a.text.s, '.', a.text.n));
    default: return false;
    }
}

static bool is_dict(pr_parser *p)
{
    pr_lexer ahead = p->lex;
    pr_token a = pr_lexer_next(&ahead);
    return a.kind == PR_TOK_STRING || a.kind == PR_TOK_BARE || a.kind == PR_TOK_RBRACE;
}

/* Fills declared arguments in as uses when no region takes them. */
static void flush(pr_parser *p, pr_draft *d, unknown *u)
{
    for (int i = 0; i < u->declared.n; i++) {
        const pr_arg *a = &u->declared.data[i];
        pr_use use = { pr_name_intern(p, a->name), 0, a->line, a->col };
        pr_vec_push(p->arena, &d->uses, use);
    }
    u->declared.n = 0;
}

static void value(pr_parser *p, pr_draft *d, unknown *u)
{
    pr_token t = p->tok;
    pr_tok after = pr_parse_peek(p).kind;
    bool visible = pr_scope_lookup(p, pr_name_intern(p, t.text)) != NULL;
    if (visible || (after != PR_TOK_COLON && after != PR_TOK_EQUAL)) {
        pr_parse_operand(p, d);
        return;
    }
    pr_arg a = { .name = t.text, .line = t.line, .col = t.col };
    pr_parse_next(p);
    if (pr_parse_accept(p, PR_TOK_COLON) && u->open.n && pr_parse_at_type(p))
        a.type = pr_parse_type(p);
    pr_vec_push(p->arena, &u->declared, a);
}

/* Result types from the text between the last ':' or '->' and the end, when it reads as types.
 * Works on a copy of the parser's position; a mismatch leaves the results without types. */
static void result_types(pr_parser *p, pr_draft *d, const unknown *u)
{
    pr_types found = { 0 };
    const char *end = p->previous_end;
    pr_parser saved = *p;
    jmp_buf out;
    pr_error ignored = { 0 };
    if (u->has_types && d->n_bound > 0) {
        p->out = &out;
        p->err = &ignored;
        if (setjmp(out) == 0) {
            pr_parse_goto(p, u->types);
            pr_types list = { 0 };
            if (u->arrow) pr_parse_arrow_types(p, &list);
            else pr_parse_type_list(p, &list);
            if (pr_parse_accept_word(p, "to")) {
                list.n = 0;
                pr_parse_type_list(p, &list);
            }
            if (p->previous_end == end) found = list;
        } else if (p->open_aliases != saved.open_aliases || ignored.kind == PR_ERR_LIMIT) {
            p->out = saved.out; /* a broken alias or a limit is not a matter of guessing */
            p->err = saved.err;
            pr_fail(p->err, ignored.kind, p->file, ignored.line, ignored.col, "%s",
                    ignored.message);
            longjmp(*p->out, 1);
        }
        p->out = saved.out;
        p->err = saved.err;
        p->depth = saved.depth;
        p->loc_depth = saved.loc_depth;
        p->lex = saved.lex;
        p->tok = saved.tok;
        p->previous_end = saved.previous_end;
    }
    if (found.n != d->n_bound) found.n = 0;
    for (int i = 0; i < d->n_bound; i++) {
        const pr_type *t = found.n ? found.data[i] : NULL;
        pr_vec_push(p->arena, &d->results, t);
    }
}

static bool closes(const pr_parser *p)
{
    return pr_parse_is(p, PR_TOK_RPAREN) || pr_parse_is(p, PR_TOK_RBRACE)
           || pr_parse_is(p, PR_TOK_RSQUARE) || pr_parse_is(p, PR_TOK_GREATER);
}

static void bracket(pr_parser *p, unknown *u)
{
    char c = p->tok.text.s[0];
    if (!closes(p)) {
        pr_vec_push(p->arena, &u->open,
                    (char)(c == '('   ? ')'
                           : c == '{' ? '}'
                           : c == '[' ? ']'
                                      : '>'));
    } else if (u->open.data[u->open.n - 1] == c) {
        u->open.n--;
    } else if (c != '>') {
        char what[] = "'?'";
        what[1] = u->open.data[u->open.n - 1];
        pr_parse_expected(p, what);
    }
    pr_parse_next(p);
}

/* ttg.warp_specialize(uses) attributes {..} default {..} partition0(%a: T) num_warps(4) {..} ...
 * : type Regions: default first, then the partitions, whose names are isolated from the outside. */
void pr_parse_warp_specialize(pr_parser *p, pr_draft *d)
{
    PR_VEC(int) warps = { 0 };
    if (pr_parse_accept(p, PR_TOK_LPAREN)) {
        pr_parse_operands(p, d);
        pr_parse_expect(p, PR_TOK_RPAREN, "after captured values");
    }
    if (pr_parse_accept_word(p, "attributes")) pr_parse_attr_dict(p, d);
    pr_parse_expect_word(p, "default");
    pr_parse_region(p, d, NULL, PR_REGION_ENTRY);
    while (pr_parse_is(p, PR_TOK_BARE) && pr_str_starts(p->tok.text, "partition")) {
        pr_parse_next(p);
        pr_args args = { 0 };
        pr_parse_expect(p, PR_TOK_LPAREN, "after partition");
        while (!pr_parse_is(p, PR_TOK_RPAREN)) {
            if (args.n) pr_parse_expect(p, PR_TOK_COMMA, "between partition arguments");
            if (!pr_parse_is(p, PR_TOK_VALUE)) pr_parse_expected(p, "partition argument");
            pr_arg a = { .name = p->tok.text, .line = p->tok.line, .col = p->tok.col };
            pr_parse_next(p);
            pr_parse_expect(p, PR_TOK_COLON, "after partition argument");
            a.type = pr_parse_type(p);
            a.loc = pr_parse_optional_loc(p);
            pr_vec_push(p->arena, &args, a);
        }
        pr_parse_next(p);
        pr_parse_expect_word(p, "num_warps");
        pr_parse_expect(p, PR_TOK_LPAREN, "after 'num_warps'");
        int n = pr_parse_int(p, "warp count");
        pr_vec_push(p->arena, &warps, n);
        pr_parse_expect(p, PR_TOK_RPAREN, "after warp count");
        pr_parse_region(p, d, &args, PR_REGION_ENTRY | PR_REGION_ISOLATED);
    }
    pr_parse_prop(p, d, "partitionNumWarps", pr_attr_new_ints(p, 32, warps.n, warps.data));
    pr_parse_expect(p, PR_TOK_COLON, "before type of partitions");
    pr_types in = { 0 };
    int line = p->tok.line, col = p->tok.col;
    pr_parse_type_parens(p, &in);
    pr_parse_expect(p, PR_TOK_ARROW, "in type of partitions");
    pr_parse_arrow_types(p, &d->results);
    if (in.n != d->uses.n)
        pr_parse_fail(p, PR_ERR_INPUT, line, col, "operation has %d operands but %d operand types",
                      d->uses.n, in.n);
    d->stated = in;
}

static bool names_operation(pr_str s)
{
    static const char *const dialects[] = { "tt.", "ttg.",  "ttng.", "scf.",
                                            "cf.", "llvm.", "nvvm.", "amdg." };
    for (size_t i = 0; i < PR_LEN(dialects); i++)
        if (pr_str_starts(s, dialects[i])) return true;
    return pr_opcode_find(s) != PR_OP_UNKNOWN;
}

/* No operation may disappear inside the text of an unknown one: its name in a place where no
 * attribute key or value stands, a result list, or a '<' left open at the end of a line is an
 * error. */
static void reject_swallowed(pr_parser *p, const unknown *u)
{
    const pr_token *t = &p->tok;
    pr_tok after = pr_parse_peek(p).kind;
    bool key = after == PR_TOK_EQUAL || after == PR_TOK_COMMA || after == PR_TOK_RBRACE
               || after == PR_TOK_GREATER || after == PR_TOK_RPAREN || after == PR_TOK_RSQUARE;
    if (t->newline && u->open.n && u->open.data[u->open.n - 1] == '>') pr_parse_expected(p, "'>'");
    if (t->newline && u->open.n && t->kind == PR_TOK_VALUE && after == PR_TOK_EQUAL)
        pr_parse_expected(p, "closing bracket");
    pr_str name = t->text;
    if (t->kind == PR_TOK_STRING) name = (pr_str){ name.s + 1, name.n - 2 };
    bool quoted = t->kind == PR_TOK_STRING && after == PR_TOK_LPAREN;
    if ((quoted || (t->kind == PR_TOK_BARE && !key)) && names_operation(name))
        pr_parse_expected(p, "end of the operation");
}

void pr_parse_unknown(pr_parser *p, pr_draft *d)
{
    unknown u = { 0 };
    int opcode = d->op->opcode;
    if (opcode == PR_OP_TT_REDUCE || opcode == PR_OP_TT_SCAN || opcode == PR_OP_TT_MAP_ELEMENTWISE)
        pr_parse_expected(p, "the generic form of this operation");
    for (;;) {
        pr_tok k = p->tok.kind;
        bool outside = u.open.n == 0;
        if (k == PR_TOK_EOF || k == PR_TOK_BAD) {
            if (k == PR_TOK_BAD || !outside) pr_parse_expected(p, "closing bracket");
            break;
        }
        if (outside && (closes(p) || pr_parse_at_loc(p))) break;
        if (outside && p->tok.newline && !continues(p)) break;
        reject_swallowed(p, &u);
        if (outside && k == PR_TOK_LBRACE && opens_region(p)) {
            pr_parse_region(p, d, &u.declared, 0);
            u.declared = (pr_args){ 0 };
            u.has_types = false;
        } else if (outside && k == PR_TOK_LBRACE && is_dict(p)) {
            pr_parse_attr_dict(p, d);
        } else if (k == PR_TOK_VALUE) {
            value(p, d, &u);
        } else if (k == PR_TOK_BLOCK) {
            pr_successor s = { .block = pr_scope_block(p, p->tok)->block };
            pr_vec_push(p->arena, &d->succ, s);
            pr_parse_next(p);
        } else if (outside && (k == PR_TOK_COLON || k == PR_TOK_ARROW)) {
            pr_parse_next(p);
            u.has_types = true;
            u.arrow = k == PR_TOK_ARROW;
            u.types = pr_parse_here(p);
        } else if (closes(p) || k == PR_TOK_LPAREN || k == PR_TOK_LBRACE || k == PR_TOK_LSQUARE
                   || k == PR_TOK_LESS) {
            bracket(p, &u);
        } else {
            pr_parse_next(p);
        }
    }
    d->attrs.n = pr_parse_first_of_each(p, d->attrs.data, d->attrs.n);      /* two dictionaries may share a name */
    flush(p, d, &u);
    result_types(p, d, &u);
}
