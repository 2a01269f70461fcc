/* Which type stands here? (ttir-front.md 1.4)
 *
 * Dimension lists are read by character, because "x32xf16" is one token to the lexer. Types outside
 * the vocabulary become PR_TYPE_OPAQUE with their balanced text. */
#include "front/parse.h"
#include <string.h>

typedef struct float_row { const char *name; int bits; } float_row;
static const float_row float_rows[] = {
    { "f16", 16 }, { "bf16", 16 }, { "f32", 32 }, { "f64", 64 }, { "tf32", 32 }, { "f80", 80 },
    { "f128", 128 }, { "f8E4M3FN", 8 }, { "f8E5M2", 8 }, { "f8E4M3FNUZ", 8 }, { "f8E5M2FNUZ", 8 },
    { "f8E4M3B11FNUZ", 8 }, { "f8E8M0FNU", 8 }, { "f8E4M3", 8 }, { "f8E3M4", 8 },
    { "f4E2M1FN", 4 }, { "f6E2M3FN", 6 }, { "f6E3M2FN", 6 },
};

static pr_type *type_new(pr_parser *p, pr_type_kind kind)
{
    pr_type *t = PR_NEW(p->arena, pr_type);
    t->kind = kind;
    return t;
}

const pr_type *pr_type_int(pr_parser *p, int bits)
{
    if (p->int_types[bits]) return p->int_types[bits];
    pr_type *t = type_new(p, PR_TYPE_INT);
    t->bits = bits;
    return p->int_types[bits] = t;
}

const pr_type *pr_type_with_elem(pr_parser *p, const pr_type *shape, const pr_type *elem)
{
    if (!pr_type_is(shape, PR_TYPE_TENSOR)) return elem;
    pr_type *t = pr_arena_copy(p->arena, shape, sizeof *shape);
    t->elem = elem;
    return t;
}

static const pr_type *opaque(pr_parser *p, pr_buf *b)
{
    pr_type *t = type_new(p, PR_TYPE_OPAQUE);
    t->text = (pr_str){ b->data, b->n };
    return t;
}

/* Name, then a bracketed part if there is one, kept as text. */
static const pr_type *raw_type(pr_parser *p, pr_str name, bool bracket)
{
    pr_buf b;
    pr_buf_init(&b, p->arena);
    pr_buf_add(&b, name.s, name.n);
    if (bracket && pr_parse_is(p, PR_TOK_LESS)) pr_parse_raw_angle(p, &b);
    return opaque(p, &b);
}

/* Reads "64x32x" in front of tok; false (and nothing consumed) for '?' and '*' dimensions. */
static bool dims(pr_parser *p, pr_type *t)
{
    pr_lexer start = pr_parse_here(p), l = start;
    pr_token t0 = p->tok;
    l.at = t0.text.s;
    int64_t count = 1;
    for (;;) {
        while (l.at < l.end && *l.at == ' ') l.at++;
        if (l.at < l.end && (*l.at == '?' || *l.at == '*')) return false;
        if (l.at >= l.end || *l.at < '0' || *l.at > '9') break;
        int line = l.line, col = (int)(l.at - l.line_start) + 1;
        int64_t d = 0;
        while (l.at < l.end && *l.at >= '0' && *l.at <= '9') {
            if (__builtin_mul_overflow(d, (int64_t)10, &d)
                || __builtin_add_overflow(d, (int64_t)(*l.at - '0'), &d))
                pr_parse_fail(p, PR_ERR_LIMIT, line, col, "tensor dimension does not fit 64 bits");
            l.at++;
        }
        while (l.at < l.end && *l.at == ' ') l.at++;
        if (l.at >= l.end || *l.at != 'x')
            pr_parse_fail(p, PR_ERR_INPUT, l.line, (int)(l.at - l.line_start) + 1,
                          "expected 'x' after tensor dimension");
        l.at++;
        if (t->rank >= p->limits.max_rank)
            pr_parse_fail(p, PR_ERR_LIMIT, line, col, "tensor rank exceeds %d", p->limits.max_rank);
        if (__builtin_mul_overflow(count, d ? d : 1, &count))
            pr_parse_fail(p, PR_ERR_LIMIT, line, col, "tensor has too many elements");
        t->shape[t->rank++] = d;
        if (t->rank > PR_MAX_RANK) p->has_deep = true;
    }
    pr_parse_goto(p, l);
    return true;
}

/* ", encoding" up to the closing bracket, which is consumed. */
static pr_str encoding(pr_parser *p, const char *where)
{
    pr_buf b = { 0 };
    if (pr_parse_accept(p, PR_TOK_COMMA)) {
        pr_buf_init(&b, p->arena);
        if (pr_parse_is(p, PR_TOK_GREATER)) pr_parse_expected(p, "encoding");
        pr_parse_raw(p, &b, false);
    }
    pr_parse_expect(p, PR_TOK_GREATER, where);
    return (pr_str){ b.data, b.n };
}

static void need_element(pr_parser *p, const pr_type *t, int line, int col)
{
    if (!t || t->kind == PR_TYPE_TENSOR || t->kind == PR_TYPE_FUNCTION || t->kind == PR_TYPE_NONE
        || t->kind == PR_TYPE_MEMDESC || t->kind == PR_TYPE_DESC)
        pr_parse_fail(p, PR_ERR_INPUT, line, col, "invalid tensor element type");
}

/* tok is '<' behind "tensor". */
static const pr_type *tensor(pr_parser *p)
{
    pr_lexer at = pr_parse_here(p);
    pr_parse_expect(p, PR_TOK_LESS, "after 'tensor'");
    pr_type *t = type_new(p, PR_TYPE_TENSOR);
    if (!dims(p, t)) {
        pr_parse_goto(p, at);
        return raw_type(p, pr_str_of("tensor"), true);
    }
    int line = p->tok.line, col = p->tok.col;
    t->elem = pr_parse_type(p);
    need_element(p, t->elem, line, col);
    t->encoding = encoding(p, "after tensor type");
    return t;
}

/* Blocks that are accessed as a whole keep the smaller rank: t is null or the block at tok `at`. */
static void need_block(pr_parser *p, const pr_type *t, const pr_token *at)
{
    if (t && t->kind == PR_TYPE_TENSOR && t->rank > PR_MAX_RANK)
        pr_parse_fail(p, PR_ERR_LIMIT, at->line, at->col, "block rank exceeds %d", PR_MAX_RANK);
}

static const pr_type *pointer(pr_parser *p)
{
    pr_type *t = type_new(p, PR_TYPE_POINTER);
    pr_parse_expect(p, PR_TOK_LESS, "before pointee type");
    pr_token at = p->tok;
    t->elem = pr_parse_type(p);
    need_block(p, t->elem, &at);
    t->addr_space = 1;
    if (pr_parse_accept(p, PR_TOK_COMMA)) t->addr_space = pr_parse_int(p, "address space");
    pr_parse_expect(p, PR_TOK_GREATER, "after pointee type");
    return t;
}

/* Both spellings: tensordesc<tensor<64x32xf16>> and tensordesc<64x32xf16>. */
static const pr_type *descriptor(pr_parser *p)
{
    pr_type *t = type_new(p, PR_TYPE_DESC);
    pr_parse_expect(p, PR_TOK_LESS, "before descriptor block type");
    pr_token at = p->tok;
    if (pr_parse_is_word(p, "tensor") && pr_parse_peek(p).kind == PR_TOK_LESS) {
        pr_parse_next(p);
        const pr_type *block = tensor(p);
        if (block->kind != PR_TYPE_TENSOR) pr_parse_expected(p, "static descriptor block");
        need_block(p, block, &at);
        t->encoding = encoding(p, "after descriptor type");
        if (block->encoding.n && !t->encoding.n) {
            pr_type *plain = pr_arena_copy(p->arena, block, sizeof *block);
            t->encoding = block->encoding;
            plain->encoding = (pr_str){ 0 };
            block = plain;
        }
        t->elem = block;
        return t;
    }
    pr_type *block = type_new(p, PR_TYPE_TENSOR);
    if (!dims(p, block)) pr_parse_expected(p, "static descriptor dimension");
    need_block(p, block, &at);
    int line = p->tok.line, col = p->tok.col;
    block->elem = pr_parse_type(p);
    need_element(p, block->elem, line, col);
    t->elem = block;
    t->encoding = encoding(p, "after descriptor type");
    return t;
}

/* Shape and element are read when they have the usual form; the text is authoritative. */
static const pr_type *memdesc(pr_parser *p)
{
    pr_lexer at = pr_parse_here(p);
    pr_type *t = type_new(p, PR_TYPE_MEMDESC);
    pr_parse_expect(p, PR_TOK_LESS, "after 'memdesc'");
    if (!dims(p, t)) pr_parse_expected(p, "static dimension");
    t->elem = pr_parse_type(p);
    if (!pr_parse_is(p, PR_TOK_COMMA) && !pr_parse_is(p, PR_TOK_GREATER))
        pr_parse_expected(p, "',' or '>' after element type");
    pr_parse_goto(p, at);
    pr_buf b;
    pr_buf_init(&b, p->arena);
    pr_buf_puts(&b, "!ttg.memdesc");
    pr_parse_raw_angle(p, &b);
    t->text = (pr_str){ b.data, b.n };
    return t;
}

static const pr_type *function(pr_parser *p)
{
    pr_types in = { 0 }, out = { 0 };
    pr_parse_type_parens(p, &in);
    pr_parse_expect(p, PR_TOK_ARROW, "in function type");
    pr_parse_arrow_types(p, &out);
    pr_type *t = type_new(p, PR_TYPE_FUNCTION);
    t->inputs = in.data;
    t->n_inputs = in.n;
    t->results = out.data;
    t->n_results = out.n;
    return t;
}

static const pr_type *dialect_type(pr_parser *p)
{
    pr_token use = p->tok;
    pr_str name = { use.text.s + 1, use.text.n - 1 };
    pr_alias *a = pr_alias_find(p, use.text);
    pr_parse_next(p);
    if (a) {
        pr_alias_resolve(p, a, &use);
        return a->type;
    }
    if (pr_str_is(name, PR_UNKNOWN_TYPE_NAME)) return NULL;
    if (pr_str_is(name, "tt.ptr")) return pointer(p);
    if (pr_str_is(name, "tt.tensordesc")) return descriptor(p);
    if (pr_str_is(name, "ttg.memdesc") && pr_parse_is(p, PR_TOK_LESS)) return memdesc(p);
    bool dotted = memchr(name.s, '.', name.n) != NULL;
    if (!dotted && !pr_parse_is(p, PR_TOK_LESS))
        pr_parse_undefined(p, &use, "type alias");
    return raw_type(p, use.text, p->tok.glued);
}

/* i32, si32, ui32; null when the word is none of them. */
static const pr_type *integer(pr_parser *p, pr_str w)
{
    int sign = 0;
    size_t i = 0;
    if (w.n > 1 && (w.s[0] == 's' || w.s[0] == 'u')) {
        sign = w.s[0] == 's' ? 1 : 2;
        i = 1;
    }
    if (i + 1 >= w.n || w.s[i] != 'i' || w.s[i + 1] == '0') return NULL;
    int bits = 0;
    for (i++; i < w.n; i++) {
        if (w.s[i] < '0' || w.s[i] > '9') return NULL;
        if (bits < 100000) bits = bits * 10 + (w.s[i] - '0');
    }
    if (bits <= 128 && !sign) return pr_type_int(p, bits);
    pr_type *t = type_new(p, bits <= 128 ? PR_TYPE_INT : PR_TYPE_OPAQUE);
    t->text = w;
    if (bits > 128) return t;
    t->bits = bits;
    t->sign = (int8_t)sign;
    return t;
}

static const char *const bracketed_words[] = { "vector", "memref", "tuple", "complex" };

static const pr_type *word_type(pr_parser *p)
{
    pr_str w = p->tok.text;
    const pr_type *i = integer(p, w);
    if (i) {
        pr_parse_next(p);
        return i;
    }
    for (size_t k = 0; k < PR_LEN(float_rows); k++) {
        if (!pr_str_is(w, float_rows[k].name)) continue;
        pr_type *t = type_new(p, PR_TYPE_FLOAT);
        t->bits = float_rows[k].bits;
        t->text = w;
        pr_parse_next(p);
        return t;
    }
    if (pr_str_is(w, "index") || pr_str_is(w, "none")) {
        pr_type *t = type_new(p, w.s[0] == 'i' ? PR_TYPE_INDEX : PR_TYPE_NONE);
        t->bits = w.s[0] == 'i' ? 64 : 0;
        pr_parse_next(p);
        return t;
    }
    if (pr_str_is(w, "tensor") && pr_parse_peek(p).kind == PR_TOK_LESS) {
        pr_parse_next(p);
        return tensor(p);
    }
    for (size_t k = 0; k < PR_LEN(bracketed_words); k++)
        if (pr_str_is(w, bracketed_words[k]) && pr_parse_peek(p).kind == PR_TOK_LESS) {
            pr_parse_next(p);
            return raw_type(p, w, true);
        }
    pr_parse_expected(p, "type");
}

bool pr_parse_at_type(const pr_parser *p)
{
    if (pr_parse_is(p, PR_TOK_BANG) || pr_parse_is(p, PR_TOK_LPAREN)) return true;
    if (!pr_parse_is(p, PR_TOK_BARE)) return false;
    pr_str w = p->tok.text;
    for (size_t k = 0; k < PR_LEN(float_rows); k++)
        if (pr_str_is(w, float_rows[k].name)) return true;
    for (size_t k = 0; k < PR_LEN(bracketed_words); k++)
        if (pr_str_is(w, bracketed_words[k])) return true;
    if (pr_str_is(w, "index") || pr_str_is(w, "none") || pr_str_is(w, "tensor")) return true;
    size_t i = w.n > 1 && (w.s[0] == 's' || w.s[0] == 'u');
    return i + 1 < w.n && w.s[i] == 'i' && w.s[i + 1] >= '1' && w.s[i + 1] <= '9';
}

const pr_type *pr_parse_type(pr_parser *p)
{
    pr_parse_enter(p);
    const pr_type *t = NULL;
    if (pr_parse_is(p, PR_TOK_BARE)) t = word_type(p);
    else if (pr_parse_is(p, PR_TOK_BANG)) t = dialect_type(p);
    else if (pr_parse_is(p, PR_TOK_LPAREN)) t = function(p);
    else pr_parse_expected(p, "type");
    pr_parse_leave(p);
    return t;
}

const pr_type *pr_parse_ptr_type(pr_parser *p)
{
    if (!pr_parse_is(p, PR_TOK_LESS)) return pr_parse_type(p);
    pr_parse_enter(p);
    const pr_type *t = pointer(p);
    pr_parse_leave(p);
    return t;
}

const pr_type *pr_parse_desc_type(pr_parser *p)
{
    if (!pr_parse_is(p, PR_TOK_LESS)) return pr_parse_type(p);
    pr_parse_enter(p);
    const pr_type *t = descriptor(p);
    pr_parse_leave(p);
    return t;
}

void pr_parse_type_list(pr_parser *p, pr_types *out)
{
    do {
        const pr_type *t = pr_parse_type(p);
        pr_vec_push(p->arena, out, t);
    } while (pr_parse_accept(p, PR_TOK_COMMA));
}

void pr_parse_type_parens(pr_parser *p, pr_types *out)
{
    pr_parse_expect(p, PR_TOK_LPAREN, "before type list");
    if (!pr_parse_is(p, PR_TOK_RPAREN)) pr_parse_type_list(p, out);
    pr_parse_expect(p, PR_TOK_RPAREN, "after type list");
}

void pr_parse_arrow_types(pr_parser *p, pr_types *out)
{
    if (pr_parse_is(p, PR_TOK_LPAREN)) {
        pr_parse_type_parens(p, out);
        return;
    }
    const pr_type *t = pr_parse_type(p);
    pr_vec_push(p->arena, out, t);
}
