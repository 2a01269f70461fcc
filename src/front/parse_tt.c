/* What is the custom assembly of the tt dialect? (ttir-front.md 1.8, spellings of 3.4 to 3.9)
 *
 * Readers normalise: operands in the order of the generic form, enumerations as numbers, optional
 * operands described by operandSegmentSizes. */
#include "front/parse.h"

static const char *const cache_words[] = { NULL, "none", "ca", "cg", "wb", "cs", "wt", "cv" };
static const char *const evict_words[] = { NULL, "evict_normal", "evict_first", "evict_last" };
static const char *const sem_words[] = { NULL, "relaxed", "acquire", "release", "acq_rel" };
static const char *const scope_words[] = { NULL, "gpu", "cta", "sys" };
static const char *const rmw_words[] = { NULL, "and", "or", "xor", "add", "fadd", "max", "min",
                                         "umax", "umin", "exch" };
static const char *const kind_words[] = { NULL,  "add", "min", "max", "inc",
                                          "dec", "and", "or",  "xor" };
static const char *const axis_words[] = { "x", "y", "z" };
static const char *const precision_words[] = { "tf32", "tf32x3", "ieee", "bf16x3", "bf16x6" };
static const char *const scaled_words[] = {
    "e4m3", "e5m2", "e2m3", "e3m2", "e2m1", "bf16", "fp16"
};
static const char *const rounding_words[] = { "rtz", "rtne" };

#define KEYWORD(p, d, key, words, what) \
    pr_parse_prop((p), (d), (key), pr_parse_keyword((p), (words), PR_LEN(words), 32, (what)))

/* ---- shared pieces --------------------------------------------------------------------------- */
static void result(pr_parser *p, pr_draft *d, const pr_type *t)
{
    pr_vec_push(p->arena, &d->results, t);
}

static void colon(pr_parser *p) { pr_parse_expect(p, PR_TOK_COLON, "after operand list"); }
static void comma(pr_parser *p) { pr_parse_expect(p, PR_TOK_COMMA, "between operands"); }

/* One to most uses separated by commas; stops in front of a comma that no use follows. */
static int uses(pr_parser *p, pr_draft *d, int least, int most)
{
    int n = 0;
    do {
        pr_parse_operand(p, d);
        n++;
        if (n >= most || !pr_parse_is(p, PR_TOK_COMMA)) break;
        if (n >= least && pr_parse_peek(p).kind != PR_TOK_VALUE) break;
    } while (pr_parse_accept(p, PR_TOK_COMMA));
    if (n < least) comma(p);
    return n;
}

/* ':' '(' T, ... ')' '->' results, one type for each operand. */
static void functional(pr_parser *p, pr_draft *d)
{
    pr_types in = { 0 };
    colon(p);
    int line = p->tok.line, col = p->tok.col;
    pr_parse_type_parens(p, &in);
    pr_parse_expect(p, PR_TOK_ARROW, "in operation type");
    pr_parse_arrow_types(p, &d->results);
    if (in.n != d->uses.n)
        pr_parse_fail(p, PR_ERR_INPUT, line, col, "operation has %d operands but %d operand types",
                      d->uses.n, in.n);
    for (int i = 0; i < in.n; i++) pr_parse_state(p, d, i, in.data[i]);
}

/* cacheModifier = ca, evictionPolicy = evict_last, unit words; in any order. */
static void hints(pr_parser *p, pr_draft *d)
{
    while (pr_parse_is(p, PR_TOK_BARE)) {
        pr_str w = p->tok.text;
        pr_parse_next(p);
        if (pr_str_is(w, "cacheModifier")) {
            pr_parse_expect(p, PR_TOK_EQUAL, "after 'cacheModifier'");
            KEYWORD(p, d, "cache", cache_words, "cache modifier");
        } else if (pr_str_is(w, "evictionPolicy")) {
            pr_parse_expect(p, PR_TOK_EQUAL, "after 'evictionPolicy'");
            KEYWORD(p, d, "evict", evict_words, "eviction policy");
        } else if (pr_str_is(w, "ignore_cta")) {
            pr_parse_prop(p, d, "ignore_cta", pr_attr_new_unit(p));
        } else {
            pr_parse_fail(p, PR_ERR_INPUT, p->tok.line, p->tok.col,
                          "unknown keyword '" PR_STR_FMT "'", PR_STR_ARG(w));
        }
    }
}

/* sem, scope, */
static void order(pr_parser *p, pr_draft *d)
{
    KEYWORD(p, d, "sem", sem_words, "memory semantics");
    pr_parse_expect(p, PR_TOK_COMMA, "after memory semantics");
    KEYWORD(p, d, "scope", scope_words, "memory scope");
    pr_parse_expect(p, PR_TOK_COMMA, "after memory scope");
}

/* The type of a pointer's pointee, lifted to the pointer's shape: what a load of it gives. */
static const pr_type *loaded(pr_parser *p, const pr_type *pointer, int line, int col)
{
    const pr_type *s = pr_type_scalar(pointer);
    if (!pr_type_is(s, PR_TYPE_POINTER))
        pr_parse_fail(p, PR_ERR_INPUT, line, col, "expected pointer type");
    return pr_type_with_elem(p, pointer, s->elem);
}

/* ---- memory ---------------------------------------------------------------------------------- */
static void load(pr_parser *p, pr_draft *d)
{
    int n = uses(p, d, 1, 3);
    pr_parse_segments(p, d, 3, (int[]){ 1, n > 1, n > 2 });
    hints(p, d);
    pr_parse_attr_dict(p, d);
    colon(p);
    int line = p->tok.line, col = p->tok.col;
    const pr_type *t = pr_parse_ptr_type(p), *v = loaded(p, t, line, col);
    pr_parse_state(p, d, 0, t);
    if (n > 2) pr_parse_state(p, d, 2, v);
    result(p, d, v);
}

static void store(pr_parser *p, pr_draft *d)
{
    uses(p, d, 2, 3);
    hints(p, d);
    pr_parse_attr_dict(p, d);
    colon(p);
    int line = p->tok.line, col = p->tok.col;
    const pr_type *t = pr_parse_ptr_type(p);
    pr_parse_state(p, d, 0, t);
    pr_parse_state(p, d, 1, loaded(p, t, line, col));
}

static void atomic(pr_parser *p, pr_draft *d)
{
    bool rmw = d->op->opcode == PR_OP_TT_ATOMIC_RMW, load_ = d->op->opcode == PR_OP_TT_ATOMIC_LOAD;
    if (rmw) {
        KEYWORD(p, d, "atomic_rmw_op", rmw_words, "atomic operation");
        pr_parse_expect(p, PR_TOK_COMMA, "after atomic operation");
    }
    order(p, d);
    uses(p, d, load_ ? 1 : rmw ? 2 : 3, load_ ? 2 : 3);
    pr_parse_attr_dict(p, d);
    functional(p, d);
}

static void atomic_store(pr_parser *p, pr_draft *d)
{
    order(p, d);
    store(p, d);
}

/* sem, scope, %p, %expected (timeout %t)? : T, U -> i1 */
static void atomic_poll(pr_parser *p, pr_draft *d)
{
    order(p, d);
    uses(p, d, 2, 2);
    if (pr_parse_accept_word(p, "timeout")) pr_parse_operand(p, d);
    pr_parse_attr_dict(p, d);
    colon(p);
    pr_parse_state(p, d, 0, pr_parse_ptr_type(p));
    comma(p);
    pr_parse_state(p, d, 1, pr_parse_type(p));
    pr_parse_expect(p, PR_TOK_ARROW, "before result type");
    result(p, d, pr_parse_type(p));
}

/* ---- descriptors and block pointers ---------------------------------------------------------- */
static void make_descriptor(pr_parser *p, pr_draft *d)
{
    pr_parse_operand(p, d);
    int seg[3] = { 1, 0, 0 };
    for (int i = 1; i < 3; i++) {
        comma(p);
        seg[i] = pr_parse_bracketed(p, d, i == 1 ? "around shape" : "around strides");
    }
    pr_parse_segments(p, d, 3, seg);
    pr_parse_attr_dict(p, d);
    colon(p);
    pr_parse_state(p, d, 0, pr_parse_ptr_type(p));
    comma(p);
    result(p, d, pr_parse_desc_type(p));
}

static void make_block_pointer(pr_parser *p, pr_draft *d)
{
    pr_parse_operand(p, d);
    int seg[4] = { 1, 0, 0, 0 };
    for (int i = 1; i < 4; i++) {
        comma(p);
        seg[i] = pr_parse_bracketed(p, d,
                                    i == 1   ? "around shape"
                                    : i == 2 ? "around strides"
                                             : "around offsets");
    }
    pr_parse_segments(p, d, 4, seg);
    pr_parse_attr_dict(p, d);
    colon(p);
    result(p, d, pr_parse_ptr_type(p));
}

static void advance(pr_parser *p, pr_draft *d)
{
    pr_parse_operand(p, d);
    comma(p);
    pr_parse_bracketed(p, d, "around offsets");
    pr_parse_attr_dict(p, d);
    colon(p);
    const pr_type *t = pr_parse_ptr_type(p);
    pr_parse_state(p, d, 0, t);
    result(p, d, t);
}

static void descriptor_load(pr_parser *p, pr_draft *d)
{
    pr_parse_operand(p, d);
    pr_parse_bracketed(p, d, "around indices");
    hints(p, d);
    pr_parse_attr_dict(p, d);
    colon(p);
    pr_parse_state(p, d, 0, pr_parse_desc_type(p));
    pr_parse_expect(p, PR_TOK_ARROW, "before result type");
    result(p, d, pr_parse_type(p));
}

/* %d[%i...], %v : Td, T ; the value is the second operand of the generic form. */
static void descriptor_store(pr_parser *p, pr_draft *d)
{
    if (d->op->opcode == PR_OP_TT_DESCRIPTOR_REDUCE) {
        KEYWORD(p, d, "kind", kind_words, "reduction kind");
        pr_parse_expect(p, PR_TOK_COMMA, "after reduction kind");
    }
    pr_parse_operand(p, d);
    pr_parse_bracketed(p, d, "around indices");
    comma(p);
    pr_parse_operand(p, d);
    pr_use v = d->uses.data[d->uses.n - 1];
    for (int i = d->uses.n - 1; i > 1; i--) d->uses.data[i] = d->uses.data[i - 1];
    d->uses.data[1] = v;
    hints(p, d);
    pr_parse_attr_dict(p, d);
    colon(p);
    pr_parse_state(p, d, 0, pr_parse_desc_type(p));
    comma(p);
    pr_parse_state(p, d, 1, pr_parse_type(p));
}

static void descriptor_gather(pr_parser *p, pr_draft *d)
{
    pr_parse_operand(p, d);
    pr_parse_bracketed(p, d, "around offsets");
    pr_parse_attr_dict(p, d);
    functional(p, d);
}

static void descriptor_scatter(pr_parser *p, pr_draft *d)
{
    pr_parse_operand(p, d);
    pr_parse_bracketed(p, d, "around offsets");
    comma(p);
    pr_parse_operand(p, d);
    pr_parse_attr_dict(p, d);
    colon(p);
    pr_types types = { 0 };
    int line = p->tok.line, col = p->tok.col;
    pr_parse_type_list(p, &types);
    if (types.n != d->uses.n)
        pr_parse_fail(p, PR_ERR_INPUT, line, col, "%d operands but %d types", d->uses.n, types.n);
    for (int i = 0; i < types.n; i++) pr_parse_state(p, d, i, types.data[i]);
}

/* ---- shapes, casts, values ------------------------------------------------------------------- */
static void program(pr_parser *p, pr_draft *d)
{
    KEYWORD(p, d, "axis", axis_words, "axis");
    pr_parse_attr_dict(p, d);
    colon(p);
    result(p, d, pr_parse_type(p));
}

static void make_range(pr_parser *p, pr_draft *d)
{
    pr_parse_attr_dict(p, d);
    colon(p);
    result(p, d, pr_parse_type(p));
}

/* attr-dict : T -> U, T being the type of the first n operands. */
static void arrow(pr_parser *p, pr_draft *d, int n)
{
    pr_parse_attr_dict(p, d);
    colon(p);
    const pr_type *t = pr_parse_type(p);
    for (int i = 0; i < n; i++) pr_parse_state(p, d, i, t);
    pr_parse_expect(p, PR_TOK_ARROW, "before result type");
    result(p, d, pr_parse_type(p));
}

static void unary(pr_parser *p, pr_draft *d)
{
    pr_parse_operand(p, d);
    arrow(p, d, 1);
}

static void binary(pr_parser *p, pr_draft *d)
{
    uses(p, d, 2, 2);
    arrow(p, d, 2);
}

static void unsplat(pr_parser *p, pr_draft *d)
{
    pr_parse_operand(p, d);
    pr_parse_attr_dict(p, d);
    colon(p);
    const pr_type *t = pr_parse_type(p);
    pr_parse_state(p, d, 0, t);
    result(p, d, pr_parse_accept(p, PR_TOK_ARROW) ? pr_parse_type(p) : pr_type_scalar(t));
}

static void split(pr_parser *p, pr_draft *d)
{
    unary(p, d);
    result(p, d, d->results.data[0]);
}

static void reshape(pr_parser *p, pr_draft *d)
{
    pr_parse_operand(p, d);
    if (pr_parse_accept_word(p, "allow_reorder"))
        pr_parse_prop(p, d, "allow_reorder", pr_attr_new_unit(p));
    if (pr_parse_accept_word(p, "efficient_layout"))
        pr_parse_prop(p, d, "efficient_layout", pr_attr_new_unit(p));
    arrow(p, d, 1);
}

static void histogram(pr_parser *p, pr_draft *d)
{
    uses(p, d, 1, 2);
    arrow(p, d, 1);
}

static void gather(pr_parser *p, pr_draft *d)
{
    pr_parse_operand(p, d);
    pr_parse_bracketed(p, d, "around indices");
    pr_parse_attr_dict(p, d);
    functional(p, d);
}

static void addptr(pr_parser *p, pr_draft *d)
{
    uses(p, d, 2, 2);
    pr_parse_attr_dict(p, d);
    colon(p);
    const pr_type *t = pr_parse_type(p);
    pr_parse_state(p, d, 0, t);
    comma(p);
    pr_parse_state(p, d, 1, pr_parse_type(p));
    result(p, d, t);
}

/* %a attr-dict (, rounding = rtne)? : T -> U */
static void fp_to_fp(pr_parser *p, pr_draft *d)
{
    pr_parse_operand(p, d);
    pr_parse_attr_dict(p, d);
    if (pr_parse_accept(p, PR_TOK_COMMA)) {
        pr_parse_expect_word(p, "rounding");
        pr_parse_expect(p, PR_TOK_EQUAL, "after 'rounding'");
        KEYWORD(p, d, "rounding", rounding_words, "rounding mode");
    }
    arrow(p, d, 1);
}

static void clampf(pr_parser *p, pr_draft *d)
{
    uses(p, d, 3, 3);
    comma(p);
    pr_parse_expect_word(p, "propagateNan");
    pr_parse_expect(p, PR_TOK_EQUAL, "after 'propagateNan'");
    bool all = pr_parse_is_word(p, "all"), none = pr_parse_is_word(p, "none");
    pr_attr *mode = pr_parse_keyword(p, NULL, 0, 32, "NaN propagation");
    pr_parse_prop(p, d, "propagateNan",
                  all || none ? pr_attr_new_int(p, all ? 0xFFFF : 0, 32) : mode);
    pr_parse_attr_dict(p, d);
    colon(p);
    const pr_type *t = pr_parse_type(p);
    for (int i = 0; i < 3; i++) pr_parse_state(p, d, i, t);
    result(p, d, t);
}

static void dot(pr_parser *p, pr_draft *d)
{
    uses(p, d, 3, 3);
    if (pr_parse_accept(p, PR_TOK_COMMA)) {
        pr_parse_expect_word(p, "inputPrecision");
        pr_parse_expect(p, PR_TOK_EQUAL, "after 'inputPrecision'");
        KEYWORD(p, d, "inputPrecision", precision_words, "input precision");
    }
    pr_parse_attr_dict(p, d);
    colon(p);
    pr_parse_state(p, d, 0, pr_parse_type(p));
    pr_parse_expect(p, PR_TOK_STAR, "between operand types");
    pr_parse_state(p, d, 1, pr_parse_type(p));
    pr_parse_expect(p, PR_TOK_ARROW, "before result type");
    const pr_type *t = pr_parse_type(p);
    pr_parse_state(p, d, 2, t);
    result(p, d, t);
}

/* %a (scale %s)?, %b (scale %s)?, %c lhs = e4m3 rhs = e4m3 : T (, S)? * T (, S)? -> T
 * Generic operand order: a, b, c, a_scale, b_scale. */
static void dot_scaled(pr_parser *p, pr_draft *d)
{
    pr_use scale[2];
    int has[2] = { 0, 0 };
    for (int i = 0; i < 2; i++) {
        pr_parse_operand(p, d);
        if (pr_parse_accept_word(p, "scale")) {
            scale[i] = pr_parse_use(p);
            has[i] = 1;
        }
        comma(p);
    }
    pr_parse_operand(p, d);
    int at[2] = { 3, 3 + has[0] };
    for (int i = 0; i < 2; i++)
        if (has[i]) pr_vec_push(p->arena, &d->uses, scale[i]);
    static const char *const sides[2][2] = { { "lhs", "a_elem_type" }, { "rhs", "b_elem_type" } };
    for (int i = 0; i < 2; i++) {
        pr_parse_expect_word(p, sides[i][0]);
        pr_parse_expect(p, PR_TOK_EQUAL, "before element type");
        KEYWORD(p, d, sides[i][1], scaled_words, "element type");
    }
    pr_parse_segments(p, d, 5, (int[]){ 1, 1, 1, has[0], has[1] });
    pr_parse_attr_dict(p, d);
    colon(p);
    for (int i = 0; i < 2; i++) {
        pr_parse_state(p, d, i, pr_parse_type(p));
        if (has[i]) {
            comma(p);
            pr_parse_state(p, d, at[i], pr_parse_type(p));
        }
        if (i == 0) pr_parse_expect(p, PR_TOK_STAR, "between operand types");
    }
    pr_parse_expect(p, PR_TOK_ARROW, "before result type");
    const pr_type *t = pr_parse_type(p);
    pr_parse_state(p, d, 2, t);
    result(p, d, t);
}

/* ---- calls, text, assembly ------------------------------------------------------------------- */
static void call(pr_parser *p, pr_draft *d)
{
    pr_attr *callee = PR_NEW(p->arena, pr_attr);
    callee->kind = PR_ATTR_SYMBOL;
    callee->text = pr_parse_symbol(p);
    pr_parse_prop(p, d, "callee", callee);
    pr_parse_expect(p, PR_TOK_LPAREN, "before call arguments");
    pr_parse_operands(p, d);
    pr_parse_expect(p, PR_TOK_RPAREN, "after call arguments");
    pr_parse_attr_dict(p, d);
    functional(p, d);
}

static void print(pr_parser *p, pr_draft *d)
{
    pr_parse_prop(p, d, "prefix", pr_attr_new_string(p, pr_parse_string(p, "text to print")));
    pr_parse_attr_dict(p, d);
    if (!pr_parse_accept(p, PR_TOK_COLON)) return;
    pr_types types = { 0 };
    if (!pr_parse_operands(p, d)) pr_parse_expected(p, "value name");
    colon(p);
    int line = p->tok.line, col = p->tok.col;
    pr_parse_type_list(p, &types);
    if (types.n != d->uses.n)
        pr_parse_fail(p, PR_ERR_INPUT, line, col, "%d operands but %d types", d->uses.n, types.n);
    for (int i = 0; i < types.n; i++) pr_parse_state(p, d, i, types.data[i]);
}

static void tt_assert(pr_parser *p, pr_draft *d)
{
    pr_parse_operand(p, d);
    comma(p);
    pr_parse_prop(p, d, "message", pr_attr_new_string(p, pr_parse_string(p, "message")));
    pr_parse_attr_dict(p, d);
    colon(p);
    pr_parse_state(p, d, 0, pr_parse_type(p));
}

/* "text" attr-dict (%a, ... : T, ...)? -> T, ... */
static void inline_asm(pr_parser *p, pr_draft *d)
{
    pr_parse_prop(p, d, "asm_string", pr_attr_new_string(p, pr_parse_string(p, "assembly text")));
    pr_parse_attr_dict(p, d);
    bool parens = pr_parse_accept(p, PR_TOK_LPAREN);
    if (pr_parse_operands(p, d)) {
        pr_types types = { 0 };
        colon(p);
        int line = p->tok.line, col = p->tok.col;
        pr_parse_type_list(p, &types);
        if (types.n != d->uses.n)
            pr_parse_fail(p, PR_ERR_INPUT, line, col, "%d operands but %d types", d->uses.n,
                          types.n);
        for (int i = 0; i < types.n; i++) pr_parse_state(p, d, i, types.data[i]);
    }
    if (parens) pr_parse_expect(p, PR_TOK_RPAREN, "after operands");
    pr_parse_expect(p, PR_TOK_ARROW, "before result types");
    if (pr_parse_is(p, PR_TOK_LPAREN)) pr_parse_type_parens(p, &d->results);
    else pr_parse_type_list(p, &d->results);
}

static void extern_call(pr_parser *p, pr_draft *d)
{
    pr_parse_operands(p, d);
    pr_parse_attr_dict(p, d);
    functional(p, d);
}

static void plain(pr_parser *p, pr_draft *d) { pr_parse_attr_dict(p, d); }

/* ---- tt.func --------------------------------------------------------------------------------- */
static pr_attr *dict_array(pr_parser *p, int n, pr_attr **dicts)
{
    pr_attr *a = PR_NEW(p->arena, pr_attr);
    a->kind = PR_ATTR_ARRAY;
    a->n_items = n;
    a->items = PR_NEW_N(p->arena, pr_attr *, n);
    for (int i = 0; i < n; i++) {
        if (!dicts[i]) {
            dicts[i] = PR_NEW(p->arena, pr_attr);
            dicts[i]->kind = PR_ATTR_DICT;
        }
        a->items[i] = dicts[i];
    }
    return a;
}

/* T attr-dict?, ... up to ')' */
static void function_results(pr_parser *p, pr_draft *d, pr_types *out)
{
    if (!pr_parse_accept(p, PR_TOK_LPAREN)) {
        const pr_type *t = pr_parse_type(p);
        pr_vec_push(p->arena, out, t);
        return;
    }
    PR_VEC(pr_attr *) dicts = { 0 };
    bool any = false;
    while (!pr_parse_is(p, PR_TOK_RPAREN)) {
        if (out->n) pr_parse_expect(p, PR_TOK_COMMA, "between results");
        const pr_type *t = pr_parse_type(p);
        pr_vec_push(p->arena, out, t);
        pr_attr *a = pr_parse_is(p, PR_TOK_LBRACE) ? pr_parse_dict(p) : NULL;
        any |= a && a->n_entries;
        pr_vec_push(p->arena, &dicts, a);
    }
    pr_parse_next(p);
    if (any) pr_parse_prop(p, d, "res_attrs", dict_array(p, dicts.n, dicts.data));
}

static void function_args(pr_parser *p, pr_args *args, bool *named)
{
    pr_parse_expect(p, PR_TOK_LPAREN, "after function name");
    *named = pr_parse_is(p, PR_TOK_VALUE) || pr_parse_is(p, PR_TOK_RPAREN);
    while (!pr_parse_is(p, PR_TOK_RPAREN)) {
        if (args->n && !pr_parse_accept(p, PR_TOK_COMMA))
            pr_parse_expected(p, "',' or ')' after argument");
        pr_arg a = { .line = p->tok.line, .col = p->tok.col };
        if (*named) {
            if (!pr_parse_is(p, PR_TOK_VALUE)) pr_parse_expected(p, "argument name");
            a.name = p->tok.text;
            pr_parse_next(p);
            pr_parse_expect(p, PR_TOK_COLON, "after argument name");
        }
        a.type = pr_parse_type(p);
        if (pr_parse_is(p, PR_TOK_LBRACE)) a.attrs = pr_parse_dict(p);
        if (a.attrs && a.attrs->n_entries == 0) a.attrs = NULL;
        a.loc = pr_parse_optional_loc(p);
        pr_vec_push(p->arena, args, a);
    }
    pr_parse_next(p);
}

static void func(pr_parser *p, pr_draft *d)
{
    pr_attr *visibility = NULL;
    if (pr_parse_is_word(p, "public") || pr_parse_is_word(p, "private")
        || pr_parse_is_word(p, "nested")) {
        visibility = pr_attr_new_string(p, p->tok.text);
        pr_parse_next(p);
    }
    pr_attr *name = pr_attr_new_string(p, pr_parse_symbol(p));
    pr_args args = { 0 };
    pr_types results = { 0 };
    bool named;
    function_args(p, &args, &named);
    if (pr_parse_accept(p, PR_TOK_ARROW)) function_results(p, d, &results);
    pr_type *t = PR_NEW(p->arena, pr_type);
    t->kind = PR_TYPE_FUNCTION;
    t->n_inputs = args.n;
    t->inputs = PR_NEW_N(p->arena, const pr_type *, args.n);
    for (int i = 0; i < args.n; i++) t->inputs[i] = args.data[i].type;
    t->results = results.data;
    t->n_results = results.n;
    pr_attr *type = PR_NEW(p->arena, pr_attr);
    type->kind = PR_ATTR_TYPE;
    type->type = t;
    pr_parse_prop(p, d, "function_type", type);
    pr_parse_prop(p, d, "sym_name", name);
    if (visibility) pr_parse_prop(p, d, "sym_visibility", visibility);
    if (pr_parse_accept_word(p, "attributes")) {
        if (!pr_parse_is(p, PR_TOK_LBRACE)) pr_parse_expected(p, "'{' after 'attributes'");
        pr_parse_attr_dict(p, d);
    }
    if (pr_parse_is(p, PR_TOK_LBRACE)) {
        if (!named) pr_parse_expected(p, "no body for a function without argument names");
        pr_parse_region(p, d, &args, PR_REGION_ENTRY | PR_REGION_ISOLATED);
        return;
    }
    pr_parse_empty_region(p, d);
    PR_VEC(pr_attr *) dicts = { 0 };
    bool any = false;
    for (int i = 0; i < args.n; i++) {
        any |= args.data[i].attrs != NULL;
        pr_vec_push(p->arena, &dicts, args.data[i].attrs);
    }
    if (any) pr_parse_prop(p, d, "arg_attrs", dict_array(p, dicts.n, dicts.data));
}

static const pr_custom_reader readers[PR_OP_COUNT] = {
    [PR_OP_TT_ADDPTR] = addptr,
    [PR_OP_TT_ADVANCE] = advance,
    [PR_OP_TT_ASSERT] = tt_assert,
    [PR_OP_TT_ATOMIC_CAS] = atomic,
    [PR_OP_TT_ATOMIC_LOAD] = atomic,
    [PR_OP_TT_ATOMIC_POLL] = atomic_poll,
    [PR_OP_TT_ATOMIC_RMW] = atomic,
    [PR_OP_TT_ATOMIC_STORE] = atomic_store,
    [PR_OP_TT_BITCAST] = unary,
    [PR_OP_TT_BROADCAST] = unary,
    [PR_OP_TT_CALL] = call,
    [PR_OP_TT_CAT] = binary,
    [PR_OP_TT_CLAMPF] = clampf,
    [PR_OP_TT_DESCRIPTOR_GATHER] = descriptor_gather,
    [PR_OP_TT_DESCRIPTOR_LOAD] = descriptor_load,
    [PR_OP_TT_DESCRIPTOR_REDUCE] = descriptor_store,
    [PR_OP_TT_DESCRIPTOR_SCATTER] = descriptor_scatter,
    [PR_OP_TT_DESCRIPTOR_STORE] = descriptor_store,
    [PR_OP_TT_DOT] = dot,
    [PR_OP_TT_DOT_SCALED] = dot_scaled,
    [PR_OP_TT_ELEMENTWISE_INLINE_ASM] = inline_asm,
    [PR_OP_TT_EXPAND_DIMS] = unary,
    [PR_OP_TT_EXTERN_ELEMENTWISE] = extern_call,
    [PR_OP_TT_FP_TO_FP] = fp_to_fp,
    [PR_OP_TT_FUNC] = func,
    [PR_OP_TT_GATHER] = gather,
    [PR_OP_TT_GET_NUM_PROGRAMS] = program,
    [PR_OP_TT_GET_PROGRAM_ID] = program,
    [PR_OP_TT_GRID_DEPENDENCY_LAUNCH_DEPENDENTS] = plain,
    [PR_OP_TT_GRID_DEPENDENCY_WAIT] = plain,
    [PR_OP_TT_HISTOGRAM] = histogram,
    [PR_OP_TT_INT_TO_PTR] = unary,
    [PR_OP_TT_JOIN] = binary,
    [PR_OP_TT_LOAD] = load,
    [PR_OP_TT_MAKE_RANGE] = make_range,
    [PR_OP_TT_MAKE_TENSOR_DESCRIPTOR] = make_descriptor,
    [PR_OP_TT_MAKE_TENSOR_PTR] = make_block_pointer,
    [PR_OP_TT_PRINT] = print,
    [PR_OP_TT_PTR_TO_INT] = unary,
    [PR_OP_TT_RESHAPE] = reshape,
    [PR_OP_TT_SPLAT] = unary,
    [PR_OP_TT_SPLIT] = split,
    [PR_OP_TT_STORE] = store,
    [PR_OP_TT_TRANS] = unary,
    [PR_OP_TT_UNSPLAT] = unsplat,
};

pr_custom_reader pr_custom_find_tt(int opcode) { return readers[opcode]; }
