/* Which attribute stands here? (ttir-front.md 1.5, 1.6)
 *
 * Builtin attributes are decoded; a dialect attribute is kept as its balanced text with the file's
 * aliases put in, so that the tree does not depend on them. */
#include "front/parse.h"
#include <string.h>

static pr_attr *attr_new(pr_parser *p, pr_attr_kind kind)
{
    pr_attr *a = PR_NEW(p->arena, pr_attr);
    a->kind = kind;
    return a;
}

pr_attr *pr_attr_new_unit(pr_parser *p) { return attr_new(p, PR_ATTR_UNIT); }

pr_attr *pr_attr_new_int(pr_parser *p, pr_i128 v, int bits)
{
    pr_attr *a = attr_new(p, PR_ATTR_INT);
    a->integer = v;
    a->type = pr_type_int(p, bits);
    return a;
}

pr_attr *pr_attr_new_string(pr_parser *p, pr_str s)
{
    pr_attr *a = attr_new(p, PR_ATTR_STRING);
    a->text = s;
    return a;
}

pr_attr *pr_attr_new_raw(pr_parser *p, pr_str s)
{
    pr_attr *a = attr_new(p, PR_ATTR_RAW);
    a->text = s;
    return a;
}

pr_attr *pr_attr_new_ints(pr_parser *p, int bits, int n, const int *values)
{
    pr_attr *a = attr_new(p, PR_ATTR_DENSE_ARRAY);
    a->type = pr_type_int(p, bits);
    a->ints = PR_NEW_N(p->arena, pr_i128, n);
    a->n_ints = n;
    for (int i = 0; i < n; i++) a->ints[i] = values[i];
    return a;
}

/* ---- raw text -------------------------------------------------------------------------------- */
static bool has_dot(pr_str s) { return s.n && memchr(s.s, '.', s.n) != NULL; }

/* Alias meant by tok inside raw text, or null when tok is the name of a dialect's attribute. */
static pr_alias *raw_alias(pr_parser *p)
{
    if (!pr_parse_is(p, PR_TOK_HASH) && !pr_parse_is(p, PR_TOK_BANG)) return NULL;
    pr_alias *a = pr_alias_find(p, p->tok.text);
    bool digits = p->tok.text.s[1] >= '0' && p->tok.text.s[1] <= '9';
    if (!a && !digits && !has_dot(p->tok.text) && pr_parse_peek(p).kind != PR_TOK_LESS)
        pr_parse_undefined(p, &p->tok, "alias");
    return a;
}

static char closer_of(pr_tok k)
{
    return k == PR_TOK_LPAREN ? ')' : k == PR_TOK_LBRACE ? '}' : k == PR_TOK_LSQUARE ? ']'
         : k == PR_TOK_LESS ? '>' : '\0';
}

static bool is_closer(pr_tok k)
{
    return k == PR_TOK_RPAREN || k == PR_TOK_RBRACE || k == PR_TOK_RSQUARE || k == PR_TOK_GREATER;
}

/* Expanded text must not run into its neighbours: "f16#a" is two tokens, and stays two. */
static void separate(pr_buf *b)
{
    char c = b->n ? b->data[b->n - 1] : ' ';
    if (c == '_' || c == '$' || c == '.' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')) pr_buf_putc(b, ' ');
}

void pr_parse_raw(pr_parser *p, pr_buf *b, bool stop_comma)
{
    PR_VEC(char) open = { 0 };
    bool first = true;
    for (;; first = false) {
        pr_tok k = p->tok.kind;
        if (k == PR_TOK_EOF || k == PR_TOK_BAD) pr_parse_expected(p, "closing bracket");
        if (open.n == 0 && (is_closer(k) || (stop_comma && k == PR_TOK_COMMA))) return;
        if (closer_of(k)) pr_vec_push(p->arena, &open, closer_of(k));
        if (is_closer(k)) {
            char c = p->tok.text.s[0];
            if (open.data[open.n - 1] == c) open.n--;
            else if (c != '>') /* '>' elsewhere is a comparison */
                pr_parse_fail(p, PR_ERR_INPUT, p->tok.line, p->tok.col, "expected '%c', got '%c'",
                              open.data[open.n - 1], c);
        }
        if (!first && !p->tok.glued) pr_buf_putc(b, ' ');
        pr_alias *a = raw_alias(p);
        if (a) {
            pr_alias_resolve(p, a, &p->tok);
            pr_str text = pr_alias_text(p, a);
            separate(b);
            pr_buf_add(b, text.s, text.n);
            pr_parse_next(p);
            if (p->tok.glued && !is_closer(p->tok.kind) && !pr_parse_is(p, PR_TOK_COMMA))
                separate(b);
            continue;
        }
        pr_buf_add(b, p->tok.text.s, p->tok.text.n);
        pr_parse_next(p);
    }
}

void pr_parse_raw_angle(pr_parser *p, pr_buf *b)
{
    pr_parse_expect(p, PR_TOK_LESS, "before bracketed text");
    pr_buf_putc(b, '<');
    pr_parse_raw(p, b, false);
    pr_parse_expect(p, PR_TOK_GREATER, "after bracketed text");
    pr_buf_putc(b, '>');
}

/* ---- strings and symbols --------------------------------------------------------------------- */
static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Text between the quotes of q, escapes replaced; from is the offset of the opening quote in
 * tok. */
static pr_str unquote(pr_parser *p, pr_str q, int from)
{
    const char *s = q.s + 1;
    size_t n = q.n - 2;
    if (!memchr(s, '\\', n)) return (pr_str){ s, n };
    char *out = pr_arena_alloc(p->arena, n + 1);
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i] != '\\') {
            out[k++] = s[i];
            continue;
        }
        char c = i + 1 < n ? s[i + 1] : '\0';
        int hi = hex_digit(c), lo = i + 2 < n ? hex_digit(s[i + 2]) : -1;
        if (c == 'n' || c == 't' || c == '"' || c == '\\') {
            out[k++] = c == 'n' ? '\n' : c == 't' ? '\t' : c;
            i += 1;
        } else if (hi >= 0 && lo >= 0) {
            out[k++] = (char)(hi * 16 + lo);
            i += 2;
        } else {
            pr_parse_fail(p, PR_ERR_INPUT, p->tok.line, p->tok.col + from + 1 + (int)i,
                          "unknown escape in string");
        }
    }
    return (pr_str){ out, k };
}

pr_str pr_parse_string(pr_parser *p, const char *what)
{
    if (!pr_parse_is(p, PR_TOK_STRING)) pr_parse_expected(p, what);
    pr_str s = unquote(p, p->tok.text, 0);
    pr_parse_next(p);
    return s;
}

static pr_str symbol_part(pr_parser *p)
{
    if (!pr_parse_is(p, PR_TOK_SYMBOL)) pr_parse_expected(p, "symbol name");
    pr_str s = { p->tok.text.s + 1, p->tok.text.n - 1 };
    if (s.n && s.s[0] == '"') s = unquote(p, s, 1);
    pr_parse_next(p);
    return s;
}

pr_str pr_parse_symbol(pr_parser *p)
{
    pr_str s = symbol_part(p);
    if (!pr_parse_is(p, PR_TOK_COLONCOLON)) return s;
    pr_buf b;
    pr_buf_init(&b, p->arena);
    pr_buf_add(&b, s.s, s.n);
    while (pr_parse_accept(p, PR_TOK_COLONCOLON)) {
        s = symbol_part(p);
        pr_buf_puts(&b, "::");
        pr_buf_add(&b, s.s, s.n);
    }
    return (pr_str){ b.data, b.n };
}

/* ---- dictionaries ---------------------------------------------------------------------------- */
/* Entries by name, in a table; `n` of them are asked for. Gives the number of an earlier entry of the same name, else -1. */
typedef struct names { int *slots; unsigned mask; } names;      /* entry number + 1 */

static names names_new(pr_parser *p, int n)
{
    int size = 8;
    while (size < n * 2) size *= 2;
    return (names){ PR_NEW_N(p->arena, int, size), (unsigned)size - 1 };
}

static int earlier(names *t, const pr_attr_entry *e, int i)
{
    unsigned k = (unsigned)pr_hash_bytes(e[i].name.s, e[i].name.n, 0) & t->mask;
    for (; t->slots[k]; k = (k + 1) & t->mask)
        if (pr_str_eq(e[t->slots[k] - 1].name, e[i].name)) return t->slots[k] - 1;
    t->slots[k] = i + 1;
    return -1;
}

static void check_unique(pr_parser *p, const pr_attr_entry *e, int n, pr_token at)
{
    if (n < 2) return;
    names t = names_new(p, n);
    for (int i = 0; i < n; i++)
        if (earlier(&t, e, i) >= 0)
            pr_parse_fail(p, PR_ERR_INPUT, at.line, at.col,
                          "attribute '" PR_STR_FMT "' is given twice", PR_STR_ARG(e[i].name));
}

int pr_parse_first_of_each(pr_parser *p, pr_attr_entry *e, int n)
{
    if (n < 2) return n;
    names t = names_new(p, n);
    int kept = 0;
    for (int i = 0; i < n; i++) {
        e[kept] = e[i];
        if (earlier(&t, e, kept) < 0) kept++;
    }
    return kept;
}

pr_attr *pr_parse_dict(pr_parser *p)
{
    pr_token open = p->tok;
    pr_parse_expect(p, PR_TOK_LBRACE, "before attributes");
    PR_VEC(pr_attr_entry) list = { 0 };
    while (!pr_parse_is(p, PR_TOK_RBRACE)) {
        if (list.n && !pr_parse_accept(p, PR_TOK_COMMA))
            pr_parse_expected(p, "',' or '}' after attribute");
        pr_attr_entry e = { 0 };
        if (pr_parse_is(p, PR_TOK_STRING)) {
            e.name = pr_parse_string(p, "attribute name");
        } else if (pr_parse_is(p, PR_TOK_BARE)) {
            e.name = p->tok.text;
            pr_parse_next(p);
        } else {
            pr_parse_expected(p, "attribute name");
        }
        e.value = pr_parse_accept(p, PR_TOK_EQUAL) ? pr_parse_attr(p) : pr_attr_new_unit(p);
        pr_vec_push(p->arena, &list, e);
    }
    pr_parse_next(p);
    check_unique(p, list.data, list.n, open);
    pr_attr *a = attr_new(p, PR_ATTR_DICT);
    a->entries = list.data;
    a->n_entries = list.n;
    return a;
}

/* ---- numbers --------------------------------------------------------------------------------- */
/* Literal with its sign, as one slice. */
static pr_str number_text(pr_parser *p)
{
    pr_str s = p->tok.text;
    if (pr_parse_accept(p, PR_TOK_MINUS)) {
        if (!pr_parse_is(p, PR_TOK_INT) && !pr_parse_is(p, PR_TOK_FLOAT))
            pr_parse_expected(p, "number after '-'");
        char *joined = pr_arena_alloc(p->arena, p->tok.text.n + 2);
        joined[0] = '-';
        memcpy(joined + 1, p->tok.text.s, p->tok.text.n);
        s = (pr_str){ joined, p->tok.text.n + 1 };
    }
    pr_parse_next(p);
    return s;
}

static pr_attr *number(pr_parser *p)
{
    bool is_float = pr_parse_is(p, PR_TOK_FLOAT)
                    || (pr_parse_is(p, PR_TOK_MINUS) && pr_parse_peek(p).kind == PR_TOK_FLOAT);
    int line = p->tok.line, col = p->tok.col;
    pr_attr *a = attr_new(p, is_float ? PR_ATTR_FLOAT : PR_ATTR_INT);
    a->text = number_text(p);
    if (pr_parse_accept(p, PR_TOK_COLON)) a->type = pr_parse_type(p);
    if (pr_type_is(a->type, PR_TYPE_FLOAT)) a->kind = PR_ATTR_FLOAT;
    else if (is_float && a->type)
        pr_parse_fail(p, PR_ERR_INPUT, line, col, "floating-point value of a type that is none");
    if (a->kind == PR_ATTR_INT) {
        a->too_wide = !pr_i128_parse(a->text, &a->integer);
        if (a->too_wide) a->integer = 0;
        else a->text = (pr_str){ 0 };
    }
    return a;
}

/* ---- dense ----------------------------------------------------------------------------------- */
typedef struct literal {
    int64_t shape[PR_MAX_RANK];
    int rank;                   /* -1 until the first element                                  */
    bool is_float, unknown;     /* some element is a float; is no plain number                 */
    bool is_word;               /* some element is true or false                               */
    PR_VEC(pr_i128) ints;
} literal;

static void literal_element(pr_parser *p, literal *l)
{
    pr_i128 v = 0;
    if (pr_parse_is_word(p, "true") || pr_parse_is_word(p, "false")) {
        v = pr_parse_is_word(p, "true");
        l->is_word = true;
        pr_parse_next(p);
    } else if (pr_parse_is(p, PR_TOK_LPAREN)) {
        pr_buf skipped;
        pr_buf_init(&skipped, p->arena);
        pr_parse_next(p);
        pr_parse_raw(p, &skipped, false);
        pr_parse_expect(p, PR_TOK_RPAREN, "after complex element");
        l->unknown = true;
    } else if (pr_parse_is(p, PR_TOK_INT) || pr_parse_is(p, PR_TOK_FLOAT)
               || pr_parse_is(p, PR_TOK_MINUS)) {
        bool is_float = pr_parse_is(p, PR_TOK_FLOAT)
                        || (pr_parse_is(p, PR_TOK_MINUS) && pr_parse_peek(p).kind == PR_TOK_FLOAT);
        pr_str s = number_text(p);
        l->is_float |= is_float;
        if (!is_float && !pr_i128_parse(s, &v)) l->unknown = true;
    } else {
        pr_parse_expected(p, "element of a dense constant");
    }
    pr_vec_push(p->arena, &l->ints, v);
}

/* Nested list at the given depth (at most PR_MAX_RANK). Every list of one depth has one length. */
static void literal_list(pr_parser *p, literal *l, int depth)
{
    pr_token start = p->tok;
    if (!pr_parse_is(p, PR_TOK_LSQUARE)) {
        if (l->rank < 0) l->rank = depth;
        if (l->rank != depth)
            pr_parse_fail(p, PR_ERR_INPUT, start.line, start.col,
                          "dense constant is not rectangular");
        literal_element(p, l);
        return;
    }
    if (depth >= PR_MAX_RANK)
        pr_parse_fail(p, PR_ERR_LIMIT, start.line, start.col, "dense constant nests deeper than %d",
                      PR_MAX_RANK);
    pr_parse_next(p);
    int64_t n = 0;
    if (!pr_parse_is(p, PR_TOK_RSQUARE)) {
        do {
            literal_list(p, l, depth + 1);
            n++;
        } while (pr_parse_accept(p, PR_TOK_COMMA));
    }
    pr_parse_expect(p, PR_TOK_RSQUARE, "after dense elements");
    if (n == 0 && l->rank < 0) l->rank = depth + 1;
    if (l->shape[depth] == 0) l->shape[depth] = n + 1; /* one more, 0 = not seen */
    if (l->shape[depth] != n + 1)
        pr_parse_fail(p, PR_ERR_INPUT, start.line, start.col, "dense constant is not rectangular");
}

static void check_shape(pr_parser *p, const literal *l, const pr_type *t, pr_token at)
{
    if (!pr_type_is(t, PR_TYPE_TENSOR) || l->rank <= 0) return;
    bool same = l->rank == t->rank;
    for (int i = 0; same && i < l->rank; i++) same = l->shape[i] - 1 == t->shape[i];
    if (!same)
        pr_parse_fail(p, PR_ERR_INPUT, at.line, at.col,
                      "shape of the dense constant differs from its type");
}

/* "0x..." : raw little-endian elements. */
static void blob(pr_parser *p, pr_attr *a, pr_str hex, pr_token at)
{
    bool well_formed =
        hex.n >= 2 && hex.s[0] == '0' && (hex.s[1] == 'x' || hex.s[1] == 'X') && hex.n % 2 == 0;
    for (size_t i = 2; well_formed && i < hex.n; i++) well_formed = hex_digit(hex.s[i]) >= 0;
    if (!well_formed)
        pr_parse_fail(p, PR_ERR_INPUT, at.line, at.col, "malformed hexadecimal constant");
    size_t n = hex.n / 2 - 1;
    if (!pr_type_is(a->type, PR_TYPE_TENSOR)) return;
    const pr_type *e = a->type->elem;
    size_t size = (size_t)pr_type_bytes(e);
    bool one_bit = e->kind == PR_TYPE_INT && e->bits == 1;
    if (size == 0 || (one_bit && n != 1)) return;
    size_t count = n / size;
    if (n % size != 0 || (count != 1 && (int64_t)count != pr_type_count(a->type)))
        pr_parse_fail(p, PR_ERR_INPUT, at.line, at.col,
                      "hexadecimal constant has %zu bytes, not %zu per element", n, size);
    if (e->kind != PR_TYPE_INT && e->kind != PR_TYPE_INDEX) return;
    a->dense_known = true;
    a->n_ints = (int)count;
    a->ints = PR_NEW_N(p->arena, pr_i128, count);
    for (size_t i = 0; i < count; i++) {
        pr_u128 v = 0;
        for (size_t k = size; k-- > 0;) {
            const char *d = hex.s + 2 + 2 * (i * size + k);
            v = v << 8 | (unsigned)(hex_digit(d[0]) * 16 + hex_digit(d[1]));
        }
        a->ints[i] = one_bit ? v != 0 : (pr_i128)v;
    }
}

static pr_attr *dense(pr_parser *p)
{
    pr_attr *a = attr_new(p, PR_ATTR_DENSE);
    pr_parse_expect(p, PR_TOK_LESS, "after 'dense'");
    pr_token start = p->tok;
    literal l = { .rank = -1 };
    pr_str hex = { 0 };
    if (pr_parse_is(p, PR_TOK_STRING)) hex = pr_parse_string(p, "constant");
    else if (!pr_parse_is(p, PR_TOK_GREATER)) literal_list(p, &l, 0);
    a->text = (pr_str){ start.text.s, (size_t)(p->previous_end - start.text.s) };
    if (pr_parse_is(p, PR_TOK_GREATER) && p->tok.text.s == start.text.s) a->text = (pr_str){ 0 };
    pr_parse_expect(p, PR_TOK_GREATER, "after dense elements");
    pr_parse_expect(p, PR_TOK_COLON, "before type of dense constant");
    a->type = pr_parse_type(p);
    if (hex.s) {
        blob(p, a, hex, start);
        return a;
    }
    check_shape(p, &l, a->type, start);
    const pr_type *e = pr_type_scalar(a->type);
    bool integers =
        pr_type_is(a->type, PR_TYPE_TENSOR) && (e->kind == PR_TYPE_INT || e->kind == PR_TYPE_INDEX);
    if (integers && (l.is_float || (l.is_word && e->bits != 1)))
        pr_parse_fail(p, PR_ERR_INPUT, start.line, start.col,
                      "dense elements do not match the element type");
    if (integers && l.rank < 0 && pr_type_count(a->type) != 0)
        pr_parse_fail(p, PR_ERR_INPUT, start.line, start.col, "dense constant has no elements");
    if (!integers || l.unknown) return a;
    a->dense_known = true;
    a->ints = l.ints.data;
    a->n_ints = l.ints.n;
    return a;
}

/* ---- the rest -------------------------------------------------------------------------------- */
static pr_attr *word_raw(pr_parser *p, pr_str word)
{
    pr_buf b;
    pr_buf_init(&b, p->arena);
    pr_buf_add(&b, word.s, word.n);
    pr_attr *a = attr_new(p, PR_ATTR_RAW);
    if (pr_parse_accept(p, PR_TOK_LSQUARE)) { /* distinct[0]<...> */
        pr_buf_putc(&b, '[');
        pr_parse_raw(p, &b, false);
        pr_parse_expect(p, PR_TOK_RSQUARE, "in attribute");
        pr_buf_putc(&b, ']');
    }
    pr_parse_raw_angle(p, &b);
    if (pr_parse_accept(p, PR_TOK_COLON)) {
        a->type = pr_parse_type(p);
        pr_buf_puts(&b, " : ");
        pr_type_print(&b, a->type);
    }
    a->text = (pr_str){ b.data, b.n };
    return a;
}

/* array<i32: 0, 1>; element types other than integers are kept as text. */
static pr_attr *typed_array(pr_parser *p, pr_str word)
{
    pr_lexer at = pr_parse_here(p);
    pr_parse_expect(p, PR_TOK_LESS, "after 'array'");
    pr_attr *a = attr_new(p, PR_ATTR_DENSE_ARRAY);
    a->type = pr_parse_type(p);
    if (!pr_type_is(a->type, PR_TYPE_INT)) {
        pr_parse_goto(p, at);
        return word_raw(p, word);
    }
    PR_VEC(pr_i128) ints = { 0 };
    if (pr_parse_accept(p, PR_TOK_COLON)) {
        do {
            pr_i128 v;
            int line = p->tok.line, col = p->tok.col;
            if (pr_parse_is_word(p, "true") || pr_parse_is_word(p, "false")) {
                v = pr_parse_is_word(p, "true");
                pr_parse_next(p);
            } else if (!pr_parse_is(p, PR_TOK_INT) && !pr_parse_is(p, PR_TOK_MINUS)) {
                pr_parse_expected(p, "array element");
            } else if (!pr_i128_parse(number_text(p), &v)) {
                pr_parse_fail(p, PR_ERR_INPUT, line, col,
                              "array element is no integer of 128 bits");
            }
            pr_vec_push(p->arena, &ints, v);
        } while (pr_parse_accept(p, PR_TOK_COMMA));
    }
    pr_parse_expect(p, PR_TOK_GREATER, "after array elements");
    a->ints = ints.data;
    a->n_ints = ints.n;
    return a;
}

static pr_attr *array(pr_parser *p)
{
    PR_VEC(pr_attr *) items = { 0 };
    pr_parse_next(p);
    if (!pr_parse_is(p, PR_TOK_RSQUARE)) {
        do {
            pr_attr *item = pr_parse_attr(p);
            pr_vec_push(p->arena, &items, item);
        } while (pr_parse_accept(p, PR_TOK_COMMA));
    }
    pr_parse_expect(p, PR_TOK_RSQUARE, "after array elements");
    pr_attr *a = attr_new(p, PR_ATTR_ARRAY);
    a->items = items.data;
    a->n_items = items.n;
    return a;
}

static pr_attr *location(pr_parser *p, const pr_srcloc *l)
{
    pr_buf b;
    pr_buf_init(&b, p->arena);
    pr_buf_puts(&b, "loc(");
    pr_buf_add(&b, l->raw.s, l->raw.n);
    pr_buf_putc(&b, ')');
    return pr_attr_new_raw(p, (pr_str){ b.data, b.n });
}

static pr_attr *hash(pr_parser *p)
{
    pr_token use = p->tok;
    pr_alias *a = pr_alias_find(p, use.text);
    pr_parse_next(p);
    if (a) {
        pr_alias_resolve(p, a, &use);
        return a->attr ? a->attr : location(p, a->loc);
    }
    bool bracket = pr_parse_is(p, PR_TOK_LESS) && p->tok.glued;
    if (!bracket && !has_dot(use.text))
        pr_parse_undefined(p, &use, "attribute alias");
    pr_buf b;
    pr_buf_init(&b, p->arena);
    pr_buf_add(&b, use.text.s, use.text.n);
    if (bracket) pr_parse_raw_angle(p, &b);
    return pr_attr_new_raw(p, (pr_str){ b.data, b.n });
}

static const char *const raw_words[] = {
    "affine_map", "affine_set", "dense_resource", "sparse", "strided", "distinct", "opaque",
};

static pr_attr *word(pr_parser *p)
{
    pr_str w = p->tok.text;
    pr_tok after = pr_parse_peek(p).kind;
    if (pr_str_is(w, "true") || pr_str_is(w, "false")) {
        pr_attr *a = attr_new(p, PR_ATTR_BOOL);
        a->boolean = w.s[0] == 't';
        pr_parse_next(p);
        return a;
    }
    if (pr_str_is(w, "unit")) {
        pr_parse_next(p);
        return pr_attr_new_unit(p);
    }
    if (pr_parse_at_loc(p)) return location(p, pr_parse_loc(p));
    if (pr_str_is(w, "array") && after == PR_TOK_LESS) {
        pr_parse_next(p);
        return typed_array(p, w);
    }
    if (pr_str_is(w, "dense") && after == PR_TOK_LESS) {
        pr_parse_next(p);
        return dense(p);
    }
    for (size_t i = 0; i < PR_LEN(raw_words); i++)
        if (pr_str_is(w, raw_words[i]) && (after == PR_TOK_LESS || after == PR_TOK_LSQUARE)) {
            pr_parse_next(p);
            return word_raw(p, w);
        }
    if (!pr_parse_at_type(p)) pr_parse_expected(p, "attribute");
    pr_attr *a = attr_new(p, PR_ATTR_TYPE);
    a->type = pr_parse_type(p);
    return a;
}

pr_attr *pr_parse_attr(pr_parser *p)
{
    pr_parse_enter(p);
    pr_attr *a = NULL;
    switch (p->tok.kind) {
    case PR_TOK_INT:
    case PR_TOK_FLOAT:
    case PR_TOK_MINUS: a = number(p); break;
    case PR_TOK_STRING:
        a = attr_new(p, PR_ATTR_STRING);
        a->text = pr_parse_string(p, "string");
        if (pr_parse_accept(p, PR_TOK_COLON)) a->type = pr_parse_type(p);
        break;
    case PR_TOK_LSQUARE: a = array(p); break;
    case PR_TOK_LBRACE: a = pr_parse_dict(p); break;
    case PR_TOK_SYMBOL:
        a = attr_new(p, PR_ATTR_SYMBOL);
        a->text = pr_parse_symbol(p);
        break;
    case PR_TOK_HASH: a = hash(p); break;
    case PR_TOK_BARE: a = word(p); break;
    case PR_TOK_BANG:
    case PR_TOK_LPAREN:
        a = attr_new(p, PR_ATTR_TYPE);
        a->type = pr_parse_type(p);
        break;
    default: pr_parse_expected(p, "attribute");
    }
    pr_parse_leave(p);
    return a;
}
