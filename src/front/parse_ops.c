/* What is the custom assembly of arith, math, scf, cf and the small dialects? (ttir-front.md 1.8)
 *
 * One reader for each shape of assembly and one table row for each operation. A reader starts
 * behind the operation's name and stops in front of the trailing location. */
#include "front/parse.h"
#include <stdio.h>

/* ---- shared pieces --------------------------------------------------------------------------- */
pr_attr *pr_parse_keyword(pr_parser *p, const char *const *words, int n, int bits, const char *what)
{
    if (!pr_parse_is(p, PR_TOK_BARE)) pr_parse_expected(p, what);
    pr_str w = p->tok.text;
    pr_parse_next(p);
    for (int i = 0; i < n; i++)
        if (words[i] && pr_str_is(w, words[i])) return pr_attr_new_int(p, i, bits);
    return pr_attr_new_string(p, w);
}

static void operands_exactly(pr_parser *p, pr_draft *d, int n)
{
    for (int i = 0; i < n; i++) {
        if (i) pr_parse_expect(p, PR_TOK_COMMA, "between operands");
        pr_parse_operand(p, d);
    }
}

static void result(pr_parser *p, pr_draft *d, const pr_type *t)
{
    pr_vec_push(p->arena, &d->results, t);
}

static void state_all(pr_parser *p, pr_draft *d, const pr_type *t)
{
    for (int i = 0; i < d->uses.n; i++) pr_parse_state(p, d, i, t);
}

/* uses ':' types with as many types as uses; nothing when there are no uses. */
static void typed_operands(pr_parser *p, pr_draft *d)
{
    int first = d->uses.n, n = pr_parse_operands(p, d);
    if (n == 0) return;
    pr_types types = { 0 };
    pr_parse_attr_dict(p, d);                        /* of tt.reduce.return between operands and types */
    pr_parse_expect(p, PR_TOK_COLON, "after operand list");
    int line = p->tok.line, col = p->tok.col;
    pr_parse_type_list(p, &types);
    if (types.n != n)
        pr_parse_fail(p, PR_ERR_INPUT, line, col, "%d operands but %d types", n, types.n);
    for (int i = 0; i < n; i++) pr_parse_state(p, d, first + i, types.data[i]);
}

/* overflow<nsw>, fastmath<contract>, exact, nneg, a rounding mode; in any order. */
static void flags(pr_parser *p, pr_draft *d)
{
    static const char *const words[] = { "overflow", "fastmath", "exact", "nneg", "to_nearest_even",
                                         "to_nearest_away", "downward", "upward", "toward_zero" };
    while (pr_parse_is(p, PR_TOK_BARE)) {
        pr_str w = p->tok.text;
        size_t i = 0;
        while (i < PR_LEN(words) && !pr_str_is(w, words[i])) i++;
        if (i == PR_LEN(words)) break;
        pr_parse_next(p);
        bool overflow = pr_str_is(w, "overflow");
        if (overflow || pr_str_is(w, "fastmath")) {
            pr_buf b;
            pr_buf_init(&b, p->arena);
            pr_buf_puts(&b, overflow ? "#arith.overflow" : "#arith.fastmath");
            pr_parse_raw_angle(p, &b);
            pr_parse_prop(p, d, overflow ? "overflowFlags" : "fastmath",
                          pr_attr_new_raw(p, (pr_str){ b.data, b.n }));
        } else if (pr_str_is(w, "exact")) {
            pr_parse_prop(p, d, "isExact", pr_attr_new_unit(p));
        } else if (pr_str_is(w, "nneg")) {
            pr_parse_prop(p, d, "nonNeg", pr_attr_new_unit(p));
        } else {
            pr_parse_prop(p, d, "roundingmode", pr_attr_new_string(p, w));
        }
    }
}

/* ---- arith, math ----------------------------------------------------------------------------- */
/* %a, ... flags attr-dict : T, all of one type. */
static const pr_type *uniform(pr_parser *p, pr_draft *d)
{
    int least, most;
    pr_opcode_arity(d->op->opcode, &least, &most);
    operands_exactly(p, d, least);
    flags(p, d);
    pr_parse_attr_dict(p, d);
    pr_parse_expect(p, PR_TOK_COLON, "before operand type");
    const pr_type *t = pr_parse_type(p);
    state_all(p, d, t);
    return t;
}

static void same_type(pr_parser *p, pr_draft *d) { result(p, d, uniform(p, d)); }

static void two_of_type(pr_parser *p, pr_draft *d)
{
    const pr_type *t = uniform(p, d);
    result(p, d, t);
    result(p, d, t);
}

static void predicate_of_type(pr_parser *p, pr_draft *d)
{
    result(p, d, pr_type_with_elem(p, uniform(p, d), pr_type_int(p, 1)));
}

/* arith.addui_extended %a, %b : T, i1-like */
static void add_extended(pr_parser *p, pr_draft *d)
{
    result(p, d, uniform(p, d));
    pr_parse_expect(p, PR_TOK_COMMA, "before overflow type");
    result(p, d, pr_parse_type(p));
}

/* math.fpowi %a, %b : T, U */
static void power(pr_parser *p, pr_draft *d)
{
    result(p, d, uniform(p, d));
    pr_parse_expect(p, PR_TOK_COMMA, "before exponent type");
    pr_parse_state(p, d, 1, pr_parse_type(p));
}

static void compare(pr_parser *p, pr_draft *d)
{
    static const char *const ints[] = { "eq",  "ne",  "slt", "sle", "sgt",
                                        "sge", "ult", "ule", "ugt", "uge" };
    static const char *const floats[] = { "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
                                          "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true" };
    bool is_int = d->op->opcode == PR_OP_ARITH_CMPI;
    pr_parse_prop(p, d, "predicate",
                  is_int ? pr_parse_keyword(p, ints, PR_LEN(ints), 64, "comparison predicate")
                         : pr_parse_keyword(p, floats, PR_LEN(floats), 64, "comparison predicate"));
    pr_parse_expect(p, PR_TOK_COMMA, "after predicate");
    predicate_of_type(p, d);
}

/* arith.select %c, %a, %b : T  (scalar condition)  or  : Tcond, T */
static void select(pr_parser *p, pr_draft *d)
{
    operands_exactly(p, d, 3);
    flags(p, d);
    pr_parse_attr_dict(p, d);
    pr_parse_expect(p, PR_TOK_COLON, "before operand type");
    const pr_type *c = pr_type_int(p, 1), *t = pr_parse_type(p);
    if (pr_parse_accept(p, PR_TOK_COMMA)) {
        c = t;
        t = pr_parse_type(p);
    }
    pr_parse_state(p, d, 0, c);
    pr_parse_state(p, d, 1, t);
    pr_parse_state(p, d, 2, t);
    result(p, d, t);
}

static void cast(pr_parser *p, pr_draft *d)
{
    pr_parse_operand(p, d);
    flags(p, d);
    pr_parse_attr_dict(p, d);
    pr_parse_expect(p, PR_TOK_COLON, "before operand type");
    pr_parse_state(p, d, 0, pr_parse_type(p));
    pr_parse_expect_word(p, "to");
    result(p, d, pr_parse_type(p));
}

static void constant(pr_parser *p, pr_draft *d)
{
    pr_parse_attr_dict(p, d);
    int line = p->tok.line, col = p->tok.col;
    pr_attr *v = pr_parse_attr(p);
    if (v->kind == PR_ATTR_INT && !v->type) v->type = pr_type_int(p, 64);
    const pr_type *t = v->kind == PR_ATTR_BOOL ? pr_type_int(p, 1) : v->type;
    if (!t || v->kind == PR_ATTR_TYPE)
        pr_parse_fail(p, PR_ERR_INPUT, line, col, "constant without a type");
    pr_parse_prop(p, d, "value", v);
    result(p, d, t);
}

/* builtin.unrealized_conversion_cast %a : T to U */
static void conversion(pr_parser *p, pr_draft *d)
{
    typed_operands(p, d);
    pr_parse_expect_word(p, "to");
    pr_parse_type_list(p, &d->results);
    pr_parse_attr_dict(p, d);
}

/* ---- barriers, poison, assume ---------------------------------------------------------------- */
static void gpu_barrier(pr_parser *p, pr_draft *d)
{
    if (pr_parse_accept_word(p, "memfence")) {
        pr_buf b;
        pr_buf_init(&b, p->arena);
        pr_buf_puts(&b, "[");
        pr_parse_expect(p, PR_TOK_LSQUARE, "after 'memfence'");
        pr_parse_raw(p, &b, false);
        pr_parse_expect(p, PR_TOK_RSQUARE, "after address spaces");
        pr_buf_puts(&b, "]");
        pr_parse_prop(p, d, "address_spaces", pr_attr_new_string(p, (pr_str){ b.data, b.n }));
    }
    pr_parse_attr_dict(p, d);
}

/* ttg.barrier all | local|global_read|... : a bit set; an unknown keyword keeps the text. */
static void ttg_barrier(pr_parser *p, pr_draft *d)
{
    static const struct { const char *word; int bits; } spaces[] = {
        { "none", 0 }, { "local", 1 }, { "global_read", 2 }, { "global_write", 4 },
        { "tensor_read", 8 }, { "tensor_write", 16 }, { "all", 31 },
    };
    int bits = 0;
    bool known = true;
    pr_buf b;
    pr_buf_init(&b, p->arena);
    do {
        if (!pr_parse_is(p, PR_TOK_BARE) || p->tok.newline)
            pr_parse_expected(p, "address space of the barrier");
        size_t i = 0;
        while (i < PR_LEN(spaces) && !pr_str_is(p->tok.text, spaces[i].word)) i++;
        if (i < PR_LEN(spaces)) bits |= spaces[i].bits;
        else known = false;
        if (b.n) pr_buf_putc(&b, '|');
        pr_buf_add(&b, p->tok.text.s, p->tok.text.n);
        pr_parse_next(p);
    } while (pr_parse_accept(p, PR_TOK_PIPE));
    pr_parse_prop(p, d, "addrSpace",
                  known ? pr_attr_new_int(p, bits, 32)
                        : pr_attr_new_string(p, (pr_str){ b.data, b.n }));
    pr_parse_attr_dict(p, d);
}

static void poison(pr_parser *p, pr_draft *d)
{
    if (pr_parse_is(p, PR_TOK_LESS)) {
        pr_buf b;
        pr_buf_init(&b, p->arena);
        pr_buf_puts(&b, "#ub.poison");
        pr_parse_raw_angle(p, &b);
        pr_parse_prop(p, d, "value", pr_attr_new_raw(p, (pr_str){ b.data, b.n }));
    }
    pr_parse_attr_dict(p, d);
    pr_parse_expect(p, PR_TOK_COLON, "before result type");
    result(p, d, pr_parse_type(p));
}

/* llvm.intr.assume %c (["align"(%p, %n : T, U), ...])? : i1 */
static void assume(pr_parser *p, pr_draft *d)
{
    pr_parse_operand(p, d);
    if (pr_parse_accept(p, PR_TOK_LSQUARE)) {
        PR_VEC(pr_attr *) tags = { 0 };
        PR_VEC(int) sizes = { 0 };
        while (!pr_parse_is(p, PR_TOK_RSQUARE)) {
            if (tags.n) pr_parse_expect(p, PR_TOK_COMMA, "between operand bundles");
            pr_attr *tag = pr_attr_new_string(p, pr_parse_string(p, "operand bundle tag"));
            pr_vec_push(p->arena, &tags, tag);
            int before = d->uses.n;
            pr_parse_expect(p, PR_TOK_LPAREN, "after bundle tag");
            typed_operands(p, d);
            pr_parse_expect(p, PR_TOK_RPAREN, "after bundle operands");
            pr_vec_push(p->arena, &sizes, d->uses.n - before);
        }
        pr_parse_next(p);
        pr_attr *list = PR_NEW(p->arena, pr_attr);
        list->kind = PR_ATTR_ARRAY;
        list->items = tags.data;
        list->n_items = tags.n;
        pr_parse_prop(p, d, "op_bundle_sizes", pr_attr_new_ints(p, 32, sizes.n, sizes.data));
        pr_parse_prop(p, d, "op_bundle_tags", list);
    }
    pr_parse_attr_dict(p, d);
    pr_parse_expect(p, PR_TOK_COLON, "before condition type");
    pr_parse_state(p, d, 0, pr_parse_type(p));
}

/* ---- cf -------------------------------------------------------------------------------------- */
static void cf_br(pr_parser *p, pr_draft *d)
{
    pr_parse_successor(p, d);
    pr_parse_attr_dict(p, d);
}

static void cf_cond_br(pr_parser *p, pr_draft *d)
{
    pr_parse_operand(p, d);
    pr_parse_state(p, d, 0, pr_type_int(p, 1));
    if (pr_parse_accept_word(p, "weights")) {
        pr_parse_expect(p, PR_TOK_LPAREN, "after 'weights'");
        pr_parse_prop(p, d, "branch_weights", pr_parse_attr(p));
        pr_parse_expect(p, PR_TOK_RPAREN, "after branch weights");
    }
    int seg[3] = { 1, 0, 0 };
    for (int i = 1; i <= 2; i++) {
        pr_parse_expect(p, PR_TOK_COMMA, "before branch target");
        seg[i] = pr_parse_successor(p, d);
    }
    pr_parse_segments(p, d, 3, seg);
    pr_parse_attr_dict(p, d);
}

static void case_values(pr_parser *p, pr_draft *d, int n, pr_i128 *values, const pr_type *elem)
{
    pr_buf b;
    pr_buf_init(&b, p->arena);
    for (int i = 0; i < n; i++) {
        pr_buf_puts(&b, i ? ", " : "[");
        pr_buf_i128(&b, values[i]);
    }
    pr_buf_puts(&b, "]");
    pr_type *t = PR_NEW(p->arena, pr_type);
    t->kind = PR_TYPE_TENSOR;
    t->rank = 1;
    t->shape[0] = n;
    t->elem = elem;
    pr_attr *a = PR_NEW(p->arena, pr_attr);
    a->kind = PR_ATTR_DENSE;
    a->text = (pr_str){ b.data, b.n };
    a->type = t;
    a->dense_known = true;
    a->ints = values;
    a->n_ints = n;
    pr_parse_prop(p, d, "case_values", a);
}

/* cf.switch %v : i32, [ default: ^bb1(%a : T), 42: ^bb2 ] */
static void cf_switch(pr_parser *p, pr_draft *d)
{
    pr_parse_operand(p, d);
    pr_parse_expect(p, PR_TOK_COLON, "before flag type");
    int line = p->tok.line, col = p->tok.col;
    const pr_type *t = pr_parse_type(p);
    if (!pr_type_is(t, PR_TYPE_INT))
        pr_parse_fail(p, PR_ERR_INPUT, line, col, "the flag of a switch must be an integer");
    pr_parse_state(p, d, 0, t);
    pr_parse_expect(p, PR_TOK_COMMA, "before cases");
    pr_parse_expect(p, PR_TOK_LSQUARE, "before cases");
    pr_parse_expect_word(p, "default");
    pr_parse_expect(p, PR_TOK_COLON, "after 'default'");
    int seg[3] = { 1, pr_parse_successor(p, d), 0 };
    PR_VEC(pr_i128) values = { 0 };
    PR_VEC(int) sizes = { 0 };
    while (pr_parse_accept(p, PR_TOK_COMMA)) {
        bool negative = pr_parse_accept(p, PR_TOK_MINUS);
        pr_i128 v;
        if (!pr_parse_is(p, PR_TOK_INT) || !pr_i128_parse(p->tok.text, &v))
            pr_parse_expected(p, "case value");
        pr_parse_next(p);
        pr_vec_push(p->arena, &values, negative ? -v : v);
        pr_parse_expect(p, PR_TOK_COLON, "after case value");
        int n = pr_parse_successor(p, d);
        pr_vec_push(p->arena, &sizes, n);
        seg[2] += n;
    }
    pr_parse_expect(p, PR_TOK_RSQUARE, "after cases");
    pr_parse_prop(p, d, "case_operand_segments", pr_attr_new_ints(p, 32, sizes.n, sizes.data));
    if (values.n) case_values(p, d, values.n, values.data, t);
    pr_parse_segments(p, d, 3, seg);
    pr_parse_attr_dict(p, d);
}

static void cf_assert(pr_parser *p, pr_draft *d)
{
    pr_parse_operand(p, d);
    pr_parse_state(p, d, 0, pr_type_int(p, 1));
    pr_parse_expect(p, PR_TOK_COMMA, "before message");
    pr_parse_prop(p, d, "msg", pr_attr_new_string(p, pr_parse_string(p, "message")));
    pr_parse_attr_dict(p, d);
}

/* ---- scf ------------------------------------------------------------------------------------- */
static pr_arg argument(pr_parser *p)
{
    if (!pr_parse_is(p, PR_TOK_VALUE)) pr_parse_expected(p, "region argument");
    pr_arg a = { .name = p->tok.text, .line = p->tok.line, .col = p->tok.col };
    pr_parse_next(p);
    return a;
}

/* '(' %a = %x, ... ')' */
static void initialised(pr_parser *p, pr_draft *d, pr_args *args)
{
    int first = args->n;
    pr_parse_expect(p, PR_TOK_LPAREN, "before carried values");
    while (!pr_parse_is(p, PR_TOK_RPAREN)) {
        if (args->n > first && !pr_parse_accept(p, PR_TOK_COMMA))
            pr_parse_expected(p, "',' or ')' after carried value");
        pr_arg a = argument(p);
        pr_vec_push(p->arena, args, a);
        pr_parse_expect(p, PR_TOK_EQUAL, "after carried value");
        pr_parse_operand(p, d);
    }
    pr_parse_next(p);
}

static void type_args(pr_parser *p, pr_args *args, int first, const pr_types *types, pr_token at)
{
    if (args->n - first != types->n)
        pr_parse_fail(p, PR_ERR_INPUT, at.line, at.col, "%d carried values but %d types",
                      args->n - first, types->n);
    for (int i = 0; i < types->n; i++) args->data[first + i].type = types->data[i];
}

static void scf_for(pr_parser *p, pr_draft *d)
{
    if (pr_parse_accept_word(p, "unsigned"))
        pr_parse_prop(p, d, "unsignedCmp", pr_attr_new_unit(p));
    pr_args args = { 0 };
    pr_arg iv = argument(p);
    pr_parse_expect(p, PR_TOK_EQUAL, "after induction variable");
    pr_parse_operand(p, d);
    pr_parse_expect_word(p, "to");
    pr_parse_operand(p, d);
    pr_parse_expect_word(p, "step");
    pr_parse_operand(p, d);
    pr_vec_push(p->arena, &args, iv);
    if (pr_parse_accept_word(p, "iter_args")) {
        initialised(p, d, &args);
        pr_parse_expect(p, PR_TOK_ARROW, "after carried values");
        pr_token at = p->tok;
        pr_parse_arrow_types(p, &d->results);
        type_args(p, &args, 1, &d->results, at);
    }
    const pr_type *t = NULL;
    if (pr_parse_accept(p, PR_TOK_COLON)) {
        t = pr_parse_type(p);
    } else {
        pr_type *index = PR_NEW(p->arena, pr_type);
        index->kind = PR_TYPE_INDEX;
        index->bits = 64;
        t = index;
    }
    args.data[0].type = t;
    for (int i = 0; i < 3; i++) pr_parse_state(p, d, i, t);
    for (int i = 0; i < d->results.n; i++) pr_parse_state(p, d, 3 + i, d->results.data[i]);
    pr_parse_region(p, d, &args, PR_REGION_ENTRY | PR_REGION_YIELD);
    pr_parse_attr_dict(p, d);
}

static void scf_if(pr_parser *p, pr_draft *d)
{
    pr_parse_operand(p, d);
    pr_parse_state(p, d, 0, pr_type_int(p, 1));
    if (pr_parse_accept(p, PR_TOK_ARROW)) pr_parse_arrow_types(p, &d->results);
    pr_parse_region(p, d, NULL, PR_REGION_ENTRY | PR_REGION_YIELD);
    if (pr_parse_accept_word(p, "else"))
        pr_parse_region(p, d, NULL, PR_REGION_ENTRY | PR_REGION_YIELD);
    else pr_parse_empty_region(p, d);
    pr_parse_attr_dict(p, d);
}

static void scf_while(pr_parser *p, pr_draft *d)
{
    pr_args args = { 0 };
    pr_types in = { 0 };
    if (pr_parse_is(p, PR_TOK_LPAREN)) initialised(p, d, &args);
    pr_parse_expect(p, PR_TOK_COLON, "before loop type");
    pr_token at = p->tok;
    pr_parse_type_parens(p, &in);
    pr_parse_expect(p, PR_TOK_ARROW, "in loop type");
    pr_parse_arrow_types(p, &d->results);
    type_args(p, &args, 0, &in, at);
    for (int i = 0; i < in.n; i++) pr_parse_state(p, d, i, in.data[i]);
    pr_parse_region(p, d, &args, PR_REGION_ENTRY);
    pr_parse_expect_word(p, "do");
    pr_parse_region(p, d, NULL, PR_REGION_ENTRY);
    if (pr_parse_accept_word(p, "attributes")) pr_parse_attr_dict(p, d);
}

static void scf_condition(pr_parser *p, pr_draft *d)
{
    pr_parse_expect(p, PR_TOK_LPAREN, "before condition");
    pr_parse_operand(p, d);
    pr_parse_state(p, d, 0, pr_type_int(p, 1));
    pr_parse_expect(p, PR_TOK_RPAREN, "after condition");
    pr_parse_attr_dict(p, d);
    typed_operands(p, d);
}

static void terminator(pr_parser *p, pr_draft *d)
{
    pr_parse_attr_dict(p, d);
    typed_operands(p, d);
}

static void scf_execute_region(pr_parser *p, pr_draft *d)
{
    if (pr_parse_accept_word(p, "no_inline")) pr_parse_prop(p, d, "no_inline", pr_attr_new_unit(p));
    if (pr_parse_accept(p, PR_TOK_ARROW)) pr_parse_arrow_types(p, &d->results);
    pr_parse_region(p, d, NULL, PR_REGION_ENTRY | PR_REGION_YIELD);
    pr_parse_attr_dict(p, d);
}

/* Regions in the order of the generic form: default first. */
static void scf_index_switch(pr_parser *p, pr_draft *d)
{
    pr_parse_operand(p, d);
    pr_parse_attr_dict(p, d);
    if (pr_parse_accept(p, PR_TOK_ARROW)) pr_parse_arrow_types(p, &d->results);
    PR_VEC(int) cases = { 0 };
    while (pr_parse_accept_word(p, "case")) {
        bool negative = pr_parse_accept(p, PR_TOK_MINUS);
        int v = pr_parse_int(p, "case value");
        pr_vec_push(p->arena, &cases, negative ? -v : v);
        pr_parse_region(p, d, NULL, PR_REGION_ENTRY | PR_REGION_YIELD);
    }
    pr_parse_expect_word(p, "default");
    pr_region *last = pr_parse_region(p, d, NULL, PR_REGION_ENTRY | PR_REGION_YIELD);
    for (int i = d->regions.n - 1; i > 0; i--) d->regions.data[i] = d->regions.data[i - 1];
    d->regions.data[0] = last;
    pr_parse_prop(p, d, "cases", pr_attr_new_ints(p, 64, cases.n, cases.data));
}

/* module @name attributes {...} { ops } */
static void module(pr_parser *p, pr_draft *d)
{
    if (pr_parse_is(p, PR_TOK_SYMBOL))
        pr_parse_prop(p, d, "sym_name", pr_attr_new_string(p, pr_parse_symbol(p)));
    if (pr_parse_accept_word(p, "attributes")) pr_parse_attr_dict(p, d);
    pr_parse_region(p, d, NULL, PR_REGION_ENTRY | PR_REGION_ISOLATED);
}

static const pr_custom_reader readers[PR_OP_COUNT] = {
    [PR_OP_ARITH_ADDF] = same_type,
    [PR_OP_ARITH_ADDI] = same_type,
    [PR_OP_ARITH_ANDI] = same_type,
    [PR_OP_ARITH_CEILDIVSI] = same_type,
    [PR_OP_ARITH_CEILDIVUI] = same_type,
    [PR_OP_ARITH_DIVF] = same_type,
    [PR_OP_ARITH_DIVSI] = same_type,
    [PR_OP_ARITH_DIVUI] = same_type,
    [PR_OP_ARITH_FLOORDIVSI] = same_type,
    [PR_OP_ARITH_MAXIMUMF] = same_type,
    [PR_OP_ARITH_MAXNUMF] = same_type,
    [PR_OP_ARITH_MAXSI] = same_type,
    [PR_OP_ARITH_MAXUI] = same_type,
    [PR_OP_ARITH_MINIMUMF] = same_type,
    [PR_OP_ARITH_MINNUMF] = same_type,
    [PR_OP_ARITH_MINSI] = same_type,
    [PR_OP_ARITH_MINUI] = same_type,
    [PR_OP_ARITH_MULF] = same_type,
    [PR_OP_ARITH_MULI] = same_type,
    [PR_OP_ARITH_NEGF] = same_type,
    [PR_OP_ARITH_ORI] = same_type,
    [PR_OP_ARITH_REMF] = same_type,
    [PR_OP_ARITH_REMSI] = same_type,
    [PR_OP_ARITH_REMUI] = same_type,
    [PR_OP_ARITH_SHLI] = same_type,
    [PR_OP_ARITH_SHRSI] = same_type,
    [PR_OP_ARITH_SHRUI] = same_type,
    [PR_OP_ARITH_SUBF] = same_type,
    [PR_OP_ARITH_SUBI] = same_type,
    [PR_OP_ARITH_XORI] = same_type,
    [PR_OP_ARITH_ADDUI_EXTENDED] = add_extended,
    [PR_OP_ARITH_MULSI_EXTENDED] = two_of_type,
    [PR_OP_ARITH_MULUI_EXTENDED] = two_of_type,
    [PR_OP_ARITH_CMPF] = compare,
    [PR_OP_ARITH_CMPI] = compare,
    [PR_OP_ARITH_CONSTANT] = constant,
    [PR_OP_ARITH_SELECT] = select,
    [PR_OP_ARITH_BITCAST] = cast,
    [PR_OP_ARITH_EXTF] = cast,
    [PR_OP_ARITH_EXTSI] = cast,
    [PR_OP_ARITH_EXTUI] = cast,
    [PR_OP_ARITH_FPTOSI] = cast,
    [PR_OP_ARITH_FPTOUI] = cast,
    [PR_OP_ARITH_INDEX_CAST] = cast,
    [PR_OP_ARITH_INDEX_CASTUI] = cast,
    [PR_OP_ARITH_SITOFP] = cast,
    [PR_OP_ARITH_TRUNCF] = cast,
    [PR_OP_ARITH_TRUNCI] = cast,
    [PR_OP_ARITH_UITOFP] = cast,
    [PR_OP_BUILTIN_MODULE] = module,
    [PR_OP_BUILTIN_UNREALIZED_CONVERSION_CAST] = conversion,
    [PR_OP_CF_ASSERT] = cf_assert,
    [PR_OP_CF_BR] = cf_br,
    [PR_OP_CF_COND_BR] = cf_cond_br,
    [PR_OP_CF_SWITCH] = cf_switch,
    [PR_OP_GPU_BARRIER] = gpu_barrier,
    [PR_OP_LLVM_INTR_ASSUME] = assume,
    [PR_OP_MATH_ABSF] = same_type,
    [PR_OP_MATH_ABSI] = same_type,
    [PR_OP_MATH_ACOS] = same_type,
    [PR_OP_MATH_ACOSH] = same_type,
    [PR_OP_MATH_ASIN] = same_type,
    [PR_OP_MATH_ASINH] = same_type,
    [PR_OP_MATH_ATAN] = same_type,
    [PR_OP_MATH_ATANH] = same_type,
    [PR_OP_MATH_ATAN2] = same_type,
    [PR_OP_MATH_CBRT] = same_type,
    [PR_OP_MATH_CEIL] = same_type,
    [PR_OP_MATH_COPYSIGN] = same_type,
    [PR_OP_MATH_COS] = same_type,
    [PR_OP_MATH_COSH] = same_type,
    [PR_OP_MATH_CTLZ] = same_type,
    [PR_OP_MATH_CTPOP] = same_type,
    [PR_OP_MATH_CTTZ] = same_type,
    [PR_OP_MATH_ERF] = same_type,
    [PR_OP_MATH_ERFC] = same_type,
    [PR_OP_MATH_EXP] = same_type,
    [PR_OP_MATH_EXP2] = same_type,
    [PR_OP_MATH_EXPM1] = same_type,
    [PR_OP_MATH_FLOOR] = same_type,
    [PR_OP_MATH_FMA] = same_type,
    [PR_OP_MATH_FPOWI] = power,
    [PR_OP_MATH_IPOWI] = same_type,
    [PR_OP_MATH_ISFINITE] = predicate_of_type,
    [PR_OP_MATH_ISINF] = predicate_of_type,
    [PR_OP_MATH_ISNAN] = predicate_of_type,
    [PR_OP_MATH_ISNORMAL] = predicate_of_type,
    [PR_OP_MATH_LOG] = same_type,
    [PR_OP_MATH_LOG10] = same_type,
    [PR_OP_MATH_LOG1P] = same_type,
    [PR_OP_MATH_LOG2] = same_type,
    [PR_OP_MATH_POWF] = same_type,
    [PR_OP_MATH_ROUND] = same_type,
    [PR_OP_MATH_ROUNDEVEN] = same_type,
    [PR_OP_MATH_RSQRT] = same_type,
    [PR_OP_MATH_SIN] = same_type,
    [PR_OP_MATH_SINCOS] = two_of_type,
    [PR_OP_MATH_SINH] = same_type,
    [PR_OP_MATH_SQRT] = same_type,
    [PR_OP_MATH_TAN] = same_type,
    [PR_OP_MATH_TANH] = same_type,
    [PR_OP_MATH_TRUNC] = same_type,
    [PR_OP_SCF_CONDITION] = scf_condition,
    [PR_OP_SCF_EXECUTE_REGION] = scf_execute_region,
    [PR_OP_SCF_FOR] = scf_for,
    [PR_OP_SCF_IF] = scf_if,
    [PR_OP_SCF_INDEX_SWITCH] = scf_index_switch,
    [PR_OP_SCF_WHILE] = scf_while,
    [PR_OP_SCF_YIELD] = terminator,
    [PR_OP_TT_MAP_ELEMENTWISE_RETURN] = terminator,
    [PR_OP_TT_REDUCE_RETURN] = terminator,
    [PR_OP_TT_RETURN] = terminator,
    [PR_OP_TT_SCAN_RETURN] = terminator,
    [PR_OP_TT_APPROX_DIVF] = same_type,
    [PR_OP_TT_MULHIUI] = same_type,
    [PR_OP_TT_PRECISE_DIVF] = same_type,
    [PR_OP_TT_PRECISE_SQRT] = same_type,
    [PR_OP_TTG_BARRIER] = ttg_barrier,
    [PR_OP_TTG_WARP_SPECIALIZE] = pr_parse_warp_specialize,
    [PR_OP_UB_POISON] = poison,
};

pr_custom_reader pr_custom_find(int opcode)
{
    if (readers[opcode]) return readers[opcode];
    pr_custom_reader tt = pr_custom_find_tt(opcode);
    return tt ? tt : pr_custom_find_ttg(opcode);
}
