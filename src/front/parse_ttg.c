/* What is the custom assembly of the ttg and ttng dialects? (shared-memory.md 1, spellings of 3.4 to 3.9)
 *
 * One small format a row drives one reader. Operands are kept in the order of the text and the
 * property textSegmentSizes says how many belong to each place of the format, so that a reader of
 * the tree never counts commas. The generic form of these operations has another operand order; it
 * has no such property and is refused by src/shm.
 *
 * Format letters, one segment each unless noted:
 *   o operand · a operand when there is one · * operands separated by commas, maybe none
 *   ? ", operand" when there is one · t "[token]" when there is one, the token may be missing
 *   T M X the keyword token, mask, other with one operand, when there · S D E the keyword tokens, deps,
 *   descs with operands, when there · B any number of ", operand[operand]" (bar and predicate alternate)
 *   no segment: , [ ] themselves · i integer, property "value" · w keyword, property "kind"
 *   I integers, property "offsets" · L skips words up to the next comma, colon, brace or line end */
#include "front/parse.h"
#include <string.h>

typedef enum {
    NO_RESULT,   /* results, when named, are tokens without a printed type  */
    AFTER_ARROW, /* types behind the last "->"; one more result is a token  */
    SAME         /* the types behind ':'                                    */
} result_rule;

typedef struct shape { int opcode; const char *format; result_rule results; } shape;

static const shape shapes[] = {
    { PR_OP_TTG_ASYNC_COMMIT_GROUP, "S", NO_RESULT },
    { PR_OP_TTG_ASYNC_COPY_GLOBAL_TO_LOCAL, "o,oMXL", NO_RESULT },
    { PR_OP_TTG_ASYNC_WAIT, "*", NO_RESULT },
    { PR_OP_TTG_CONVERT_LAYOUT, "o", AFTER_ARROW },
    { PR_OP_TTG_LOCAL_ALLOC, "a", AFTER_ARROW },
    { PR_OP_TTG_LOCAL_ATOMIC_SCATTER_RMW, "w,o[o],o?", AFTER_ARROW },
    { PR_OP_TTG_LOCAL_DEALLOC, "o", NO_RESULT },
    { PR_OP_TTG_LOCAL_GATHER, "o[o]", AFTER_ARROW },
    { PR_OP_TTG_LOCAL_LOAD, "oT", AFTER_ARROW },
    { PR_OP_TTG_LOCAL_SCATTER, "o[o],o", NO_RESULT },
    { PR_OP_TTG_LOCAL_STORE, "o,o", NO_RESULT },
    { PR_OP_TTG_MEMDESC_INDEX, "o[o]", AFTER_ARROW },
    { PR_OP_TTG_MEMDESC_REINTERPRET, "o", AFTER_ARROW },
    { PR_OP_TTG_MEMDESC_RESHAPE, "o", AFTER_ARROW },
    { PR_OP_TTG_MEMDESC_SUBSLICE, "o[I]", AFTER_ARROW },
    { PR_OP_TTG_MEMDESC_SUBVIEW, "o[*]", AFTER_ARROW },
    { PR_OP_TTG_MEMDESC_TRANS, "o", AFTER_ARROW },
    { PR_OP_TTNG_ARRIVE_BARRIER, "o,i?", NO_RESULT },
    { PR_OP_TTNG_ASYNC_COPY_MBARRIER_ARRIVE, "o", NO_RESULT },
    { PR_OP_TTNG_ASYNC_SHARED_STORE, "o,o,o", NO_RESULT },
    { PR_OP_TTNG_ASYNC_TMA_COPY_GLOBAL_TO_LOCAL, "o[*]Lo,o,oL", NO_RESULT },
    { PR_OP_TTNG_ASYNC_TMA_COPY_LOCAL_TO_GLOBAL, "o[*]o", NO_RESULT },
    { PR_OP_TTNG_ASYNC_TMA_GATHER, "o[o,o]o,o,oL", NO_RESULT },
    { PR_OP_TTNG_ASYNC_TMA_REDUCE, "w,o[*]o", NO_RESULT },
    { PR_OP_TTNG_ASYNC_TMA_SCATTER, "o[o,o]o", NO_RESULT },
    { PR_OP_TTNG_ASYNC_TMA_STORE_WAIT, "*", NO_RESULT },
    { PR_OP_TTNG_BARRIER_EXPECT, "o,i,o", NO_RESULT },
    { PR_OP_TTNG_CLC_LOAD_RESULT, "o", AFTER_ARROW },
    { PR_OP_TTNG_CLC_TRY_CANCEL, "o,o", NO_RESULT },
    { PR_OP_TTNG_FENCE_ASYNC_SHARED, "", NO_RESULT },
    { PR_OP_TTNG_INIT_BARRIER, "o,i", NO_RESULT },
    { PR_OP_TTNG_INVAL_BARRIER, "o", NO_RESULT },
    { PR_OP_TTNG_TC_GEN5_COMMIT, "o?E", NO_RESULT },
    { PR_OP_TTNG_TC_GEN5_MMA, "o,o,ot,o,oB", NO_RESULT },
    { PR_OP_TTNG_TC_GEN5_MMA_SCALED, "o,o,ot,o,o,o,oLB", NO_RESULT },
    { PR_OP_TTNG_TMEM_ALLOC, "a", AFTER_ARROW },
    { PR_OP_TTNG_TMEM_COPY, "o,o?", NO_RESULT },
    { PR_OP_TTNG_TMEM_LOAD, "ot", AFTER_ARROW },
    { PR_OP_TTNG_TMEM_STORE, "o,ot,o", NO_RESULT },
    { PR_OP_TTNG_TMEM_SUBSLICE, "o", AFTER_ARROW },
    { PR_OP_TTNG_WAIT_BARRIER, "o,o?D", NO_RESULT },
    { PR_OP_TTNG_WARP_GROUP_DOT, "o,o,o?", AFTER_ARROW },
    { PR_OP_TTNG_WARP_GROUP_DOT_WAIT, "*", SAME },
};

static int optional_word(pr_parser *p, pr_draft *d, const char *word, bool many)
{
    if (!pr_parse_is_word(p, word)) return 0;
    pr_parse_next(p);
    if (many) return pr_parse_operands(p, d);
    pr_parse_operand(p, d);
    return 1;
}

/* "[%t]" or "[]"; number of tokens. */
static int token(pr_parser *p, pr_draft *d)
{
    if (!pr_parse_accept(p, PR_TOK_LSQUARE)) return 0;
    int n = 0;
    if (pr_parse_is(p, PR_TOK_VALUE)) {
        pr_parse_operand(p, d);
        n = 1;
    }
    pr_parse_expect(p, PR_TOK_RSQUARE, "after token");
    return n;
}

static int completion_barriers(pr_parser *p, pr_draft *d)
{
    int n = 0;
    while (pr_parse_accept(p, PR_TOK_COMMA)) {
        pr_parse_operand(p, d);
        pr_parse_expect(p, PR_TOK_LSQUARE, "before the predicate of a barrier");
        pr_parse_operand(p, d);
        pr_parse_expect(p, PR_TOK_RSQUARE, "after the predicate of a barrier");
        n += 2;
    }
    return n;
}

static pr_attr *integer(pr_parser *p)
{
    if (!pr_parse_is(p, PR_TOK_INT)) pr_parse_expected(p, "integer");
    pr_i128 v = 0;
    if (!pr_i128_parse(p->tok.text, &v)) pr_parse_expected(p, "integer of at most 127 bits");
    pr_parse_next(p);
    return pr_attr_new_int(p, v, 32);
}

static void offsets(pr_parser *p, pr_draft *d)
{
    int v[PR_TYPE_RANK_MAX], n = 0;
    while (!pr_parse_is(p, PR_TOK_RSQUARE)) {
        if (n == PR_TYPE_RANK_MAX) pr_parse_expected(p, "']'");
        if (n) pr_parse_expect(p, PR_TOK_COMMA, "between offsets");
        v[n++] = pr_parse_int(p, "offset");
    }
    pr_parse_prop(p, d, "offsets", pr_attr_new_ints(p, 32, n, v));
}

/* Attribute words such as cacheModifier = ca, lhs = e4m3 rhs = e5m2, offsets = [..]. */
static void skip_words(pr_parser *p)
{
    while (pr_parse_is(p, PR_TOK_BARE) && !p->tok.newline && !pr_parse_at_loc(p)) {
        pr_parse_next(p);
        if (!pr_parse_accept(p, PR_TOK_EQUAL)) continue;
        if (pr_parse_is(p, PR_TOK_LSQUARE)) {
            while (!pr_parse_is(p, PR_TOK_RSQUARE) && !pr_parse_is(p, PR_TOK_EOF)) pr_parse_next(p);
        }
        pr_parse_next(p);
    }
}

static int place(pr_parser *p, pr_draft *d, char c)
{
    switch (c) {
    case 'o': pr_parse_operand(p, d); return 1;
    case 'a':
        if (!pr_parse_is(p, PR_TOK_VALUE)) return 0;
        pr_parse_operand(p, d);
        return 1;
    case '*': return pr_parse_is(p, PR_TOK_VALUE) && !p->tok.newline ? pr_parse_operands(p, d) : 0;
    case '?':
        if (!pr_parse_is(p, PR_TOK_COMMA)) return 0;
        pr_parse_next(p);
        pr_parse_operand(p, d);
        return 1;
    case 't': return token(p, d);
    case 'T': return optional_word(p, d, "token", false);
    case 'M': return optional_word(p, d, "mask", false);
    case 'X': return optional_word(p, d, "other", false);
    case 'S': return optional_word(p, d, "tokens", true);
    case 'D': return optional_word(p, d, "deps", true);
    case 'E': return optional_word(p, d, "descs", true);
    default: return completion_barriers(p, d);
    }
}

static void operands(pr_parser *p, pr_draft *d, const char *format)
{
    int segments[16], n = 0;
    for (; *format; format++) {
        switch (*format) {
        case ',':
            pr_parse_attr_dict(p, d);                /* barrier_expect has it before the predicate */
            pr_parse_expect(p, PR_TOK_COMMA, "between operands");
            break;
        case '[': pr_parse_expect(p, PR_TOK_LSQUARE, "before indices"); break;
        case ']': pr_parse_expect(p, PR_TOK_RSQUARE, "after indices"); break;
        case 'i': pr_parse_prop(p, d, "value", integer(p)); break;
        case 'I': offsets(p, d); break;
        case 'L': skip_words(p); break;
        case 'w':
            if (!pr_parse_is(p, PR_TOK_BARE)) pr_parse_expected(p, "kind of the operation");
            pr_parse_prop(p, d, "kind", pr_attr_new_string(p, p->tok.text));
            pr_parse_next(p);
            break;
        default: segments[n++] = place(p, d, *format);
        }
    }
    pr_parse_prop(p, d, "textSegmentSizes", pr_attr_new_ints(p, 32, n, segments));
}

static bool opens(const pr_parser *p)
{
    return pr_parse_is(p, PR_TOK_LPAREN) || pr_parse_is(p, PR_TOK_LSQUARE)
           || pr_parse_is(p, PR_TOK_LBRACE) || pr_parse_is(p, PR_TOK_LESS);
}
static bool closes(const pr_parser *p)
{
    return pr_parse_is(p, PR_TOK_RPAREN) || pr_parse_is(p, PR_TOK_RSQUARE)
           || pr_parse_is(p, PR_TOK_RBRACE) || pr_parse_is(p, PR_TOK_GREATER);
}

/* Behind ':': types that are not needed (operands have the types of their definitions) up to the
 * end of the operation; the position behind the last arrow outside brackets, when there is one. */
static bool skip_types(pr_parser *p, pr_lexer *arrow)
{
    int depth = 0;
    bool found = false;
    while (!pr_parse_is(p, PR_TOK_EOF) && !pr_parse_is(p, PR_TOK_BAD)) {
        if (!depth && (closes(p) || pr_parse_at_loc(p))) break;
        if (!depth && p->tok.newline && !pr_parse_is(p, PR_TOK_COMMA) && !pr_parse_is(p, PR_TOK_ARROW))
            break;
        if (pr_parse_is(p, PR_TOK_VALUE)) pr_parse_expected(p, "type");
        if (opens(p)) depth++;
        else if (closes(p)) depth--;
        bool is_arrow = !depth && pr_parse_is(p, PR_TOK_ARROW);
        pr_parse_next(p);
        if (is_arrow) {
            *arrow = pr_parse_here(p);
            found = true;
        }
    }
    if (depth) pr_parse_expected(p, "closing bracket");
    return found;
}

static void results(pr_parser *p, pr_draft *d, result_rule rule)
{
    pr_types list = { 0 };
    if (pr_parse_accept(p, PR_TOK_COLON)) {
        if (rule == SAME) {
            pr_parse_type_list(p, &list);
        } else {
            pr_lexer arrow;
            if (skip_types(p, &arrow) && rule == AFTER_ARROW) {
                pr_parse_goto(p, arrow);
                pr_parse_arrow_types(p, &list);
            }
        }
    }
    int n = d->n_bound > 0 ? d->n_bound : rule == AFTER_ARROW ? list.n : 0;
    for (int i = 0; i < n; i++) {
        const pr_type *t = i < list.n ? list.data[i] : NULL;
        pr_vec_push(p->arena, &d->results, t);
    }
}

static void read_shape(pr_parser *p, pr_draft *d)
{
    const shape *s = shapes;
    while (s->opcode != d->op->opcode) s++;
    operands(p, d, s->format);
    pr_parse_attr_dict(p, d);
    if (d->op->opcode == PR_OP_TTG_LOCAL_ALLOC || d->op->opcode == PR_OP_TTNG_TMEM_ALLOC
        || d->op->opcode == PR_OP_TTG_MEMDESC_REINTERPRET)
        pr_parse_attr_dict(p, d);
    results(p, d, s->results);
}

pr_custom_reader pr_custom_find_ttg(int opcode)
{
    for (size_t i = 0; i < PR_LEN(shapes); i++)
        if (shapes[i].opcode == opcode) return read_shape;
    return NULL;
}
