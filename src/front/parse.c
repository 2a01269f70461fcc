/* How is the text of a module turned into operations, regions and blocks? (ttir-front.md 1.2, 1.10)
 *
 * Recursive descent with one token of lookahead. This file knows the generic form and the shape
 * shared by all operations; grammar of single operations is in parse_ops.c and parse_tt.c. */
#include "front/parse.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Bounds the C stack whatever limits a caller asks for. */
enum { HARD_NESTING = 1000, FALLBACK_NESTING = 200, FALLBACK_LOC_NESTING = 128 };

/* ---- failure and tokens ---------------------------------------------------------------------- */
_Noreturn void pr_parse_fail(pr_parser *p, pr_status kind, int line, int col, const char *format,
                             ...)
{
    char message[sizeof p->err->message];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    pr_fail(p->err, kind, p->file, line, col, "%s", message);
    longjmp(*p->out, 1);
}

_Noreturn void pr_parse_undefined(pr_parser *p, const pr_token *use, const char *what)
{
    if (p->cut_in.n)
        pr_parse_fail(p, PR_ERR_INPUT, p->end_line, p->end_col, "the text ends inside function '" PR_STR_FMT "' (it is cut off: %s '" PR_STR_FMT
                      "' of line %d is not defined either)", PR_STR_ARG(p->cut_in), what, PR_STR_ARG(use->text), use->line);
    bool last = p->end_line > use->line;               /* definitions stand behind the module, too */
    pr_parse_fail(p, PR_ERR_INPUT, use->line, use->col, "%s '" PR_STR_FMT "' is not defined%s", what, PR_STR_ARG(use->text),
                  last && use->kind == PR_TOK_HASH ? " up to the end of the text; is it cut off?" : "");
}

_Noreturn void pr_parse_expected(pr_parser *p, const char *what)
{
    const pr_token *t = &p->tok;
    if (t->kind == PR_TOK_BAD && t->wrong)
        pr_parse_fail(p, PR_ERR_INPUT, t->line, t->col, "%s", t->wrong);
    if (t->kind == PR_TOK_EOF && p->cut_in.n)
        pr_parse_fail(p, PR_ERR_INPUT, t->line, t->col, "expected %s, got end of input: the text ends inside function '" PR_STR_FMT "'", what,
                      PR_STR_ARG(p->cut_in));
    if (t->kind == PR_TOK_EOF)
        pr_parse_fail(p, PR_ERR_INPUT, t->line, t->col, "expected %s, got end of input", what);
    int n = t->text.n > 40 ? 40 : (int)t->text.n;
    pr_parse_fail(p, PR_ERR_INPUT, t->line, t->col, "expected %s, got '%.*s%s'", what, n, t->text.s,
                  t->text.n > 40 ? "..." : "");
}

void pr_parse_next(pr_parser *p)
{
    p->previous_end = p->tok.text.s + p->tok.text.n;
    p->tok = pr_lexer_next(&p->lex);
}

void pr_parse_goto(pr_parser *p, pr_lexer at)
{
    p->previous_end = at.at;
    p->lex = at;
    p->tok = pr_lexer_next(&p->lex);
}

pr_lexer pr_parse_here(const pr_parser *p)
{
    pr_lexer at = p->lex;
    at.at = p->tok.text.s;
    at.line = p->tok.line;
    at.line_start = p->tok.text.s - (p->tok.col - 1);
    return at;
}

pr_token pr_parse_peek(const pr_parser *p)
{
    pr_lexer ahead = p->lex;
    return pr_lexer_next(&ahead);
}

bool pr_parse_is_word(const pr_parser *p, const char *w)
{
    return p->tok.kind == PR_TOK_BARE && pr_str_is(p->tok.text, w);
}

bool pr_parse_accept(pr_parser *p, pr_tok kind)
{
    if (p->tok.kind != kind) return false;
    pr_parse_next(p);
    return true;
}

bool pr_parse_accept_word(pr_parser *p, const char *w)
{
    if (!pr_parse_is_word(p, w)) return false;
    pr_parse_next(p);
    return true;
}

void pr_parse_expect(pr_parser *p, pr_tok kind, const char *where)
{
    if (pr_parse_accept(p, kind)) return;
    char what[120];
    snprintf(what, sizeof what, "%s %s", pr_tok_name(kind), where);
    pr_parse_expected(p, what);
}

void pr_parse_expect_word(pr_parser *p, const char *w)
{
    if (pr_parse_accept_word(p, w)) return;
    char what[60];
    snprintf(what, sizeof what, "'%s'", w);
    pr_parse_expected(p, what);
}

int pr_parse_int(pr_parser *p, const char *what)
{
    pr_i128 v;
    if (!pr_parse_is(p, PR_TOK_INT)) pr_parse_expected(p, what);
    if (!pr_i128_parse(p->tok.text, &v) || v > INT32_MAX)
        pr_parse_fail(p, PR_ERR_INPUT, p->tok.line, p->tok.col, "%s is too large", what);
    pr_parse_next(p);
    return (int)v;
}

/* ---- pieces of an operation ------------------------------------------------------------------ */
pr_use pr_parse_use(pr_parser *p)
{
    if (!pr_parse_is(p, PR_TOK_VALUE)) pr_parse_expected(p, "value name");
    pr_use u = { pr_name_intern(p, p->tok.text), 0, p->tok.line, p->tok.col };
    pr_parse_next(p);
    if (!pr_parse_is(p, PR_TOK_HASH) || !p->tok.glued) return u;
    pr_i128 n;
    pr_str digits = { p->tok.text.s + 1, p->tok.text.n - 1 };
    if (!pr_i128_parse(digits, &n) || n < 0 || n > INT32_MAX)
        pr_parse_expected(p, "result number after '#'");
    u.result = (int)n;
    pr_parse_next(p);
    return u;
}

void pr_parse_operand(pr_parser *p, pr_draft *d)
{
    pr_use u = pr_parse_use(p);
    pr_vec_push(p->arena, &d->uses, u);
}

int pr_parse_operands(pr_parser *p, pr_draft *d)
{
    int before = d->uses.n;
    if (!pr_parse_is(p, PR_TOK_VALUE)) return 0;
    do pr_parse_operand(p, d);
    while (pr_parse_accept(p, PR_TOK_COMMA));
    return d->uses.n - before;
}

int pr_parse_bracketed(pr_parser *p, pr_draft *d, const char *where)
{
    pr_parse_expect(p, PR_TOK_LSQUARE, where);
    int n = pr_parse_operands(p, d);
    pr_parse_expect(p, PR_TOK_RSQUARE, where);
    return n;
}

void pr_parse_state(pr_parser *p, pr_draft *d, int operand, const pr_type *t)
{
    while (d->stated.n <= operand) pr_vec_push(p->arena, &d->stated, NULL);
    d->stated.data[operand] = t;
}

void pr_parse_prop(pr_parser *p, pr_draft *d, const char *key, pr_attr *value)
{
    pr_attr_entry e = { pr_str_of(key), value };
    pr_vec_push(p->arena, &d->props, e);
}

void pr_parse_attr_entry(pr_parser *p, pr_draft *d, pr_attr_entry e)
{
    pr_vec_push(p->arena, &d->attrs, e);
}

void pr_parse_attr_dict(pr_parser *p, pr_draft *d)
{
    if (!pr_parse_is(p, PR_TOK_LBRACE)) return;
    const pr_attr *dict = pr_parse_dict(p);
    for (int i = 0; i < dict->n_entries; i++) pr_parse_attr_entry(p, d, dict->entries[i]);
}

void pr_parse_segments(pr_parser *p, pr_draft *d, int n, const int *sizes)
{
    pr_parse_prop(p, d, "operandSegmentSizes", pr_attr_new_ints(p, 32, n, sizes));
}

static pr_successor successor_block(pr_parser *p)
{
    if (!pr_parse_is(p, PR_TOK_BLOCK)) pr_parse_expected(p, "block label");
    pr_successor s = { .block = pr_scope_block(p, p->tok)->block };
    pr_parse_next(p);
    return s;
}

int pr_parse_successor(pr_parser *p, pr_draft *d)
{
    pr_successor s = successor_block(p);
    s.first = d->uses.n;
    if (pr_parse_accept(p, PR_TOK_LPAREN)) {
        s.n = pr_parse_operands(p, d);
        if (s.n) {
            pr_types types = { 0 };
            int line = p->tok.line, col = p->tok.col;
            pr_parse_expect(p, PR_TOK_COLON, "before types of block arguments");
            pr_parse_type_list(p, &types);
            if (types.n != s.n)
                pr_parse_fail(p, PR_ERR_INPUT, line, col, "%d block arguments but %d types", s.n,
                              types.n);
            for (int i = 0; i < s.n; i++) pr_parse_state(p, d, s.first + i, types.data[i]);
        }
        pr_parse_expect(p, PR_TOK_RPAREN, "after block arguments");
    }
    pr_vec_push(p->arena, &d->succ, s);
    return s.n;
}

/* ---- blocks and regions ---------------------------------------------------------------------- */
typedef struct region_draft {
    pr_region *region;
    PR_VEC(pr_block *) blocks;
    pr_block *current;
    PR_VEC(pr_op *) ops;        /* of current                                                  */
} region_draft;

static void close_block(region_draft *r)
{
    if (!r->current) return;
    r->current->ops = r->ops.data;
    r->current->n_ops = r->ops.n;
    r->current = NULL;
}

static void open_block(pr_parser *p, region_draft *r, pr_block *b)
{
    close_block(r);
    b->region = r->region;
    b->index = r->blocks.n;
    pr_vec_push(p->arena, &r->blocks, b);
    r->current = b;
    r->ops.data = NULL;
    r->ops.n = r->ops.cap = 0;
}

static void append(pr_parser *p, region_draft *r, pr_op *op)
{
    op->block = r->current;
    pr_vec_push(p->arena, &r->ops, op);
}

static void block_args(pr_parser *p, pr_block *b, const pr_args *args)
{
    b->n_args = args->n;
    b->args = PR_NEW_N(p->arena, pr_value *, args->n);
    for (int i = 0; i < args->n; i++) {
        const pr_arg *a = &args->data[i];
        pr_value *v = pr_value_new(p, a->type, (pr_str){ a->name.s + 1, a->name.n - 1 });
        v->block = b;
        v->index = i;
        v->attrs = a->attrs;
        v->loc = a->loc;
        b->args[i] = v;
        pr_scope_define(p, pr_name_intern(p, a->name), &b->args[i], 1, a->line, a->col);
    }
}

/* '^label' ('(' %a: T loc?, ... ')')? ':' */
static void block_header(pr_parser *p, region_draft *r)
{
    pr_token label = p->tok;
    pr_binding *b = pr_scope_block(p, label);
    if (b->defined)
        pr_parse_fail(p, PR_ERR_INPUT, label.line, label.col,
                      "block '" PR_STR_FMT "' is defined twice", PR_STR_ARG(label.text));
    b->defined = true;
    pr_parse_next(p);
    pr_args args = { 0 };
    if (pr_parse_accept(p, PR_TOK_LPAREN)) {
        while (!pr_parse_is(p, PR_TOK_RPAREN)) {
            if (args.n) pr_parse_expect(p, PR_TOK_COMMA, "between block arguments");
            if (!pr_parse_is(p, PR_TOK_VALUE)) pr_parse_expected(p, "block argument");
            pr_arg a = { .name = p->tok.text, .line = p->tok.line, .col = p->tok.col };
            pr_parse_next(p);
            pr_parse_expect(p, PR_TOK_COLON, "after block argument");
            a.type = pr_parse_type(p);
            a.loc = pr_parse_optional_loc(p);
            pr_vec_push(p->arena, &args, a);
        }
        pr_parse_next(p);
    }
    pr_parse_expect(p, PR_TOK_COLON, "after block label");
    open_block(p, r, b->block);
    block_args(p, b->block, &args);
}

static pr_op *implicit_yield(pr_parser *p)
{
    pr_op *y = PR_NEW(p->arena, pr_op);
    y->name = pr_str_of("scf.yield");
    y->opcode = PR_OP_SCF_YIELD;
    y->id = p->n_ops++;
    y->line = p->tok.line;
    y->col = p->tok.col;
    return y;
}

void pr_parse_add_region(pr_parser *p, pr_draft *d, pr_region *r)
{
    r->op = d->op;
    pr_vec_push(p->arena, &d->regions, r);
}

pr_region *pr_parse_empty_region(pr_parser *p, pr_draft *d)
{
    pr_region *r = PR_NEW(p->arena, pr_region);
    pr_parse_add_region(p, d, r);
    return r;
}

pr_region *pr_parse_region(pr_parser *p, pr_draft *d, const pr_args *args, int flags)
{
    if (p->region_depth >= p->limits.max_nesting)
        pr_parse_fail(p, PR_ERR_LIMIT, p->tok.line, p->tok.col, "regions nest deeper than %d",
                      p->limits.max_nesting);
    p->region_depth++;
    pr_parse_expect(p, PR_TOK_LBRACE, "before region");
    region_draft r = { .region = PR_NEW(p->arena, pr_region) };
    pr_scope scope;
    pr_scope_push(p, &scope, (flags & PR_REGION_ISOLATED) != 0);
    bool named = args && args->n;
    bool labelled = pr_parse_is(p, PR_TOK_BLOCK) && !named;
    bool empty = pr_parse_is(p, PR_TOK_RBRACE) && !named && !(flags & PR_REGION_ENTRY);
    if (!labelled && !empty) {
        open_block(p, &r, PR_NEW(p->arena, pr_block));
        if (args) block_args(p, r.current, args);
    }
    while (!pr_parse_is(p, PR_TOK_RBRACE)) {
        if (pr_parse_is(p, PR_TOK_BLOCK)) block_header(p, &r);
        else append(p, &r, pr_parse_op(p));
    }
    if ((flags & PR_REGION_YIELD) && r.blocks.n == 1
        && (r.ops.n == 0 || r.ops.data[r.ops.n - 1]->opcode != PR_OP_SCF_YIELD))
        append(p, &r, implicit_yield(p));
    close_block(&r);
    pr_scope_pop(p);
    pr_parse_next(p);
    p->region_depth--;
    r.region->blocks = r.blocks.data;
    r.region->n_blocks = r.blocks.n;
    pr_parse_add_region(p, d, r.region);
    return r.region;
}

/* ---- generic form ---------------------------------------------------------------------------- */
/* Takes arg_attrs off a tt.func and gives each dictionary to its entry argument. */
static void distribute_arg_attrs(pr_draft *d)
{
    if (!d->regions.n || !d->regions.data[0]->n_blocks) return;
    pr_block *entry = d->regions.data[0]->blocks[0];
    for (int part = 0; part < 2; part++) {
        pr_attr_entry *list = part ? d->attrs.data : d->props.data;
        int *n = part ? &d->attrs.n : &d->props.n;
        for (int i = 0; i < *n; i++) {
            const pr_attr *a = list[i].value;
            if (!pr_str_is(list[i].name, "arg_attrs") || a->kind != PR_ATTR_ARRAY
                || a->n_items != entry->n_args) continue;
            bool dicts = true;
            for (int k = 0; k < a->n_items; k++) dicts &= a->items[k]->kind == PR_ATTR_DICT;
            if (!dicts) continue;
            for (int k = 0; k < a->n_items; k++)
                entry->args[k]->attrs = a->items[k]->n_entries ? a->items[k] : NULL;
            memmove(list + i, list + i + 1, sizeof *list * (size_t)(*n - i - 1));
            --*n;
            return;
        }
    }
}

/* Operations printed without segment sizes because their groups are equally long get them here. */
static void add_equal_segments(pr_parser *p, pr_draft *d)
{
    bool block = d->op->opcode == PR_OP_TT_MAKE_TENSOR_PTR;
    if (!block && d->op->opcode != PR_OP_TT_MAKE_TENSOR_DESCRIPTOR) return;
    int groups = block ? 3 : 2, k = (d->uses.n - 1) / groups;
    for (int i = 0; i < d->props.n; i++)
        if (pr_str_is(d->props.data[i].name, "operandSegmentSizes")) return;
    for (int i = 0; i < d->attrs.n; i++)
        if (pr_str_is(d->attrs.data[i].name, "operandSegmentSizes")) return;
    if (d->uses.n < 1 || (d->uses.n - 1) % groups) return; /* the verifier complains */
    pr_parse_segments(p, d, groups + 1, (int[]){ 1, k, k, k });
}

/* Only these can have been skipped token by token; for all others the mark is an ordinary
 * attribute. */
static bool may_be_unknown_form(int opcode)
{
    return !pr_custom_find(opcode) && opcode != PR_OP_TT_REDUCE && opcode != PR_OP_TT_SCAN
           && opcode != PR_OP_TT_MAP_ELEMENTWISE;
}

/* "name"(uses)[successors]<{props}>({regions}){attrs} : (T...) -> T */
static void generic(pr_parser *p, pr_draft *d)
{
    pr_token open = p->tok;
    pr_parse_expect(p, PR_TOK_LPAREN, "before operand list");
    pr_parse_operands(p, d);
    pr_parse_expect(p, PR_TOK_RPAREN, "after operand list");
    if (pr_parse_accept(p, PR_TOK_LSQUARE)) {
        do {
            pr_successor s = successor_block(p);
            pr_vec_push(p->arena, &d->succ, s);
        } while (pr_parse_accept(p, PR_TOK_COMMA));
        pr_parse_expect(p, PR_TOK_RSQUARE, "after successors");
    }
    if (pr_parse_accept(p, PR_TOK_LESS)) {
        const pr_attr *dict = pr_parse_dict(p);
        for (int i = 0; i < dict->n_entries; i++)
            pr_vec_push(p->arena, &d->props, dict->entries[i]);
        pr_parse_expect(p, PR_TOK_GREATER, "after properties");
    }
    int opcode = d->op->opcode;
    if (pr_parse_accept(p, PR_TOK_LPAREN)) {
        int flags = 0;
        if (opcode == PR_OP_TT_FUNC) flags = PR_REGION_ISOLATED;
        if (opcode == PR_OP_BUILTIN_MODULE) flags = PR_REGION_ISOLATED | PR_REGION_ENTRY;
        do
            pr_parse_region(p, d, NULL,
                            opcode == PR_OP_TTG_WARP_SPECIALIZE && d->regions.n ? PR_REGION_ISOLATED
                                                                                : flags);
        while (pr_parse_accept(p, PR_TOK_COMMA));
        pr_parse_expect(p, PR_TOK_RPAREN, "after regions");
    }
    pr_parse_attr_dict(p, d);
    pr_parse_expect(p, PR_TOK_COLON, "before type of generic operation");
    pr_types in = { 0 };
    pr_parse_type_parens(p, &in);
    pr_parse_expect(p, PR_TOK_ARROW, "in type of generic operation");
    pr_parse_arrow_types(p, &d->results);
    if (in.n != d->uses.n)
        pr_parse_fail(p, PR_ERR_INPUT, open.line, open.col,
                      "operation has %d operands but %d operand types", d->uses.n, in.n);
    d->stated = in;
    if (opcode == PR_OP_TT_FUNC) distribute_arg_attrs(d);
    add_equal_segments(p, d);
    if (d->attrs.n && may_be_unknown_form(opcode)
        && pr_str_is(d->attrs.data[d->attrs.n - 1].name, PR_UNKNOWN_FORM_KEY)) {
        d->attrs.n--;
        d->op->is_unknown_form = true;
    }
}

/* ---- any operation --------------------------------------------------------------------------- */
typedef struct bound { pr_str name; int n, line, col; } bound;
typedef PR_VEC(bound) bounds;

/* %a, %b:2 = */
static int result_names(pr_parser *p, bounds *out)
{
    if (!pr_parse_is(p, PR_TOK_VALUE)) return -1;
    int64_t total = 0;
    do {
        if (!pr_parse_is(p, PR_TOK_VALUE)) pr_parse_expected(p, "result name");
        bound b = { p->tok.text, 1, p->tok.line, p->tok.col };
        pr_parse_next(p);
        if (pr_parse_accept(p, PR_TOK_COLON)) b.n = pr_parse_int(p, "result count");
        if (b.n < 1) pr_parse_fail(p, PR_ERR_INPUT, b.line, b.col, "result count must be positive");
        total += b.n;
        if (total > INT32_MAX) pr_parse_fail(p, PR_ERR_INPUT, b.line, b.col, "too many results");
        pr_vec_push(p->arena, out, b);
    } while (pr_parse_accept(p, PR_TOK_COMMA));
    pr_parse_expect(p, PR_TOK_EQUAL, "after result names");
    return (int)total;
}

static void finish_attrs(pr_parser *p, pr_draft *d)
{
    pr_op *op = d->op;
    op->n_props = d->props.n;
    op->n_attrs = d->props.n + d->attrs.n;
    op->attrs = PR_NEW_N(p->arena, pr_attr_entry, op->n_attrs);
    if (d->props.n) memcpy(op->attrs, d->props.data, sizeof *op->attrs * (size_t)d->props.n);
    if (d->attrs.n)
        memcpy(op->attrs + d->props.n, d->attrs.data, sizeof *op->attrs * (size_t)d->attrs.n);
}

/* Operand ranges of a generic branch, from its segments. The verifier checks them. */
static void finish_successors(pr_op *op)
{
    int seg[3];
    if (op->opcode == PR_OP_CF_BR && op->n_succ == 1) {
        op->succ[0].first = 0;
        op->succ[0].n = op->n_operands;
    } else if (op->opcode == PR_OP_CF_COND_BR && op->n_succ == 2 && pr_op_segments(op, 3, seg)) {
        op->succ[0].first = seg[0];
        op->succ[0].n = seg[1];
        op->succ[1].first = seg[0] + seg[1];
        op->succ[1].n = seg[2];
    } else if (op->opcode == PR_OP_CF_SWITCH && op->n_succ > 0 && pr_op_segments(op, 3, seg)) {
        const pr_attr *cases = pr_op_attr(op, "case_operand_segments");
        op->succ[0].first = seg[0];
        op->succ[0].n = seg[1];
        int at = seg[0] + seg[1];
        if (!cases || cases->kind != PR_ATTR_DENSE_ARRAY || cases->n_ints != op->n_succ - 1) return;
        for (int i = 1; i < op->n_succ; i++) {
            pr_i128 n = cases->ints[i - 1];
            op->succ[i].first = at;
            op->succ[i].n = n < 0 || n > op->n_operands - at ? -1 : (int)n;
            if (op->succ[i].n > 0) at += op->succ[i].n;
        }
    }
}

static void finish_results(pr_parser *p, pr_draft *d, const bounds *names)
{
    pr_op *op = d->op;
    if (d->n_bound >= 0 && d->results.n != d->n_bound)
        pr_parse_fail(p, PR_ERR_INPUT, names->data[0].line, names->data[0].col,
                      "operation has %d results but %d are named", d->results.n, d->n_bound);
    op->n_results = d->results.n;
    op->results = PR_NEW_N(p->arena, pr_value *, d->results.n);
    int group = 0, left = names->n ? names->data[0].n : 0;
    for (int i = 0; i < d->results.n; i++) {
        if (names->n && left == 0) left = names->data[++group].n;
        pr_str name = { 0 };
        if (names->n)
            name = (pr_str){ names->data[group].name.s + 1, names->data[group].name.n - 1 };
        left--;
        pr_value *v = pr_value_new(p, d->results.data[i], name);
        v->def = op;
        v->index = i;
        op->results[i] = v;
    }
    int at = 0;
    for (int g = 0; g < names->n; g++) {
        const bound *b = &names->data[g];
        pr_scope_define(p, pr_name_intern(p, b->name), op->results + at, b->n, b->line, b->col);
        at += b->n;
    }
}

static pr_op *op_with(pr_parser *p, pr_draft *d, const bounds *names)
{
    pr_op *op = d->op = PR_NEW(p->arena, pr_op);
    op->id = p->n_ops++;
    op->line = p->tok.line;
    op->col = p->tok.col;
    if (pr_parse_is(p, PR_TOK_STRING)) {
        op->name = pr_parse_string(p, "operation name");
        op->opcode = pr_opcode_find(op->name);
        generic(p, d);
    } else if (pr_parse_is(p, PR_TOK_BARE)) {
        op->name = p->tok.text;
        if (pr_str_is(op->name, "module")) op->name = pr_str_of("builtin.module");
        op->opcode = pr_opcode_find(op->name);
        pr_custom_reader read = pr_custom_find(op->opcode);
        pr_parse_next(p);
        if (read) {
            read(p, d);
        } else {
            op->is_unknown_form = true;
            pr_parse_unknown(p, d);
        }
    } else {
        pr_parse_expected(p, names->n ? "operation name" : "operation or '}'");
    }
    op->loc = pr_parse_optional_loc(p);
    op->n_operands = d->uses.n;
    op->operands = PR_NEW_N(p->arena, pr_value *, d->uses.n);
    op->regions = d->regions.data;
    op->n_regions = d->regions.n;
    op->succ = d->succ.data;
    op->n_succ = d->succ.n;
    finish_attrs(p, d);
    for (int i = 0; i < d->uses.n; i++)
        pr_scope_use(p, op, i, &d->uses.data[i], i < d->stated.n ? d->stated.data[i] : NULL);
    finish_successors(op);
    finish_results(p, d, names);
    return op;
}

pr_op *pr_parse_op(pr_parser *p)
{
    pr_draft d = { 0 };
    bounds names = { 0 };
    d.n_bound = result_names(p, &names);
    return op_with(p, &d, &names);
}

/* ---- module and entry ------------------------------------------------------------------------ */
static void alias_definition(pr_parser *p)
{
    pr_token t = p->tok;
    pr_alias *a = pr_alias_find(p, t.text);
    pr_parse_next(p);
    if (!a || !pr_parse_is(p, PR_TOK_EQUAL)) pr_parse_expected(p, "'=' after alias name");
    pr_alias_resolve(p, a, &t);
    pr_parse_goto(p, a->after);
}

static bool at_alias(const pr_parser *p)
{
    return pr_parse_is(p, PR_TOK_HASH) || pr_parse_is(p, PR_TOK_BANG);
}

static bool at_module(const pr_parser *p)
{
    return pr_parse_is_word(p, "module") || pr_parse_is_word(p, "builtin.module")
           || (pr_parse_is(p, PR_TOK_STRING) && pr_str_is(p->tok.text, "\"builtin.module\""));
}

static pr_op *bare_module(pr_parser *p)
{
    pr_draft d = { 0 };
    pr_op *op = d.op = PR_NEW(p->arena, pr_op);
    op->name = pr_str_of("builtin.module");
    op->opcode = PR_OP_BUILTIN_MODULE;
    op->id = p->n_ops++;
    op->line = p->tok.line;
    op->col = p->tok.col;
    region_draft r = { .region = PR_NEW(p->arena, pr_region) };
    p->region_depth++;
    open_block(p, &r, PR_NEW(p->arena, pr_block));
    while (!pr_parse_is(p, PR_TOK_EOF)) {
        if (at_alias(p)) alias_definition(p);
        else append(p, &r, pr_parse_op(p));
    }
    if (r.ops.n == 0) pr_parse_expected(p, "module or function");
    close_block(&r);
    p->region_depth--;
    r.region->blocks = r.blocks.data;
    r.region->n_blocks = r.blocks.n;
    pr_parse_add_region(p, &d, r.region);
    op->regions = d.regions.data;
    op->n_regions = 1;
    return op;
}

static pr_op *file(pr_parser *p)
{
    while (at_alias(p)) alias_definition(p);
    pr_scope top;
    pr_scope_push(p, &top, true);
    pr_op *module;
    if (at_module(p)) {
        module = pr_parse_op(p);
        while (at_alias(p)) alias_definition(p);
        if (!pr_parse_is(p, PR_TOK_EOF)) pr_parse_expected(p, "end of input after module");
    } else {
        module = bare_module(p);
    }
    pr_scope_pop(p);
    return module;
}

void pr_read_limits_default(pr_read_limits *l)
{
    *l = (pr_read_limits){ .max_nesting = FALLBACK_NESTING, .max_rank = PR_TYPE_RANK_MAX,
                           .max_loc_nesting = FALLBACK_LOC_NESTING, .max_bytes = (size_t)64 << 20 };
}

static pr_read_limits usable(const pr_read_limits *given)
{
    pr_read_limits l;
    pr_read_limits_default(&l);
    if (given) l = *given;
    if (l.max_nesting > HARD_NESTING) l.max_nesting = HARD_NESTING;
    if (l.max_loc_nesting > HARD_NESTING) l.max_loc_nesting = HARD_NESTING;
    if (l.max_rank > PR_TYPE_RANK_MAX) l.max_rank = PR_TYPE_RANK_MAX;
    if (l.max_bytes > INT32_MAX) l.max_bytes = INT32_MAX; /* columns and counts are int */
    return l;
}

pr_ir *pr_ir_parse(pr_arena *arena, const char *text, size_t length, const char *name,
                   const pr_read_limits *limits, pr_error *err)
{
    pr_error unwanted = { 0 };
    pr_parser *p = PR_NEW(arena, pr_parser);
    pr_ir *ir = PR_NEW(arena, pr_ir);
    jmp_buf out;
    p->arena = arena;
    p->file = name ? pr_arena_strndup(arena, name, strlen(name)) : "";
    p->err = err ? err : &unwanted;
    p->out = &out;
    p->limits = usable(limits);
    if (length > p->limits.max_bytes) {
        pr_fail(p->err, PR_ERR_LIMIT, p->file, 0, 0, "text has %zu bytes, the limit is %zu", length,
                p->limits.max_bytes);
        return NULL;
    }
    p->budget = length * 64 + ((size_t)1 << 20);
    if (setjmp(out)) return NULL;
    const char *own = pr_arena_strndup(arena, text, length);
    pr_alias_collect(p, own, length);
    pr_lexer start;
    pr_lexer_init(&start, own, length);
    pr_parse_goto(p, start);
    ir->arena = arena;
    ir->name = pr_str_of(p->file);
    ir->text = (pr_str){ own, length };
    ir->module = file(p);
    ir->n_ops = p->n_ops;
    ir->n_values = p->n_values;
    ir->has_deep = p->has_deep;
    return pr_verify(ir, arena, p->err) ? ir : NULL;
}
