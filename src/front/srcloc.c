/* Where does an operation come from? (ttir-front.md 1.7)
 *
 * A location is read into the frame of its site and the chain of callers. Frames are shared between
 * locations; concatenating two chains copies the inner one and charges the copies. raw is the
 * canonical text without aliases. */
#include "front/parse.h"
#include <string.h>

static const pr_srcloc *location(pr_parser *p);

bool pr_parse_at_loc(const pr_parser *p)
{
    return pr_parse_is_word(p, "loc") && pr_parse_peek(p).kind == PR_TOK_LPAREN;
}

static pr_srcloc *with_raw(pr_parser *p, const pr_srcloc *from, pr_buf *raw)
{
    pr_srcloc *l = PR_NEW(p->arena, pr_srcloc);
    if (from) *l = *from;
    l->raw = (pr_str){ raw->data, raw->n };
    pr_parse_charge(p, raw->n);
    return l;
}

static void add_raw(pr_buf *b, const pr_srcloc *l)
{
    pr_buf_add(b, l->raw.s, l->raw.n);
}

static void add_number(pr_buf *b, int n)
{
    pr_buf_putc(b, ':');
    pr_buf_i128(b, n);
}

/* "file":line:col, with an optional " to ..." range whose start counts. */
static const pr_srcloc *file(pr_parser *p, pr_str name, pr_buf *raw)
{
    pr_srcloc site = { .file = name };
    pr_buf_quote(raw, name, false);
    pr_parse_expect(p, PR_TOK_COLON, "after file name");
    site.line = pr_parse_int(p, "line number");
    add_number(raw, site.line);
    if (pr_parse_accept(p, PR_TOK_COLON)) {
        site.col = pr_parse_int(p, "column number");
        add_number(raw, site.col);
    }
    if (pr_parse_accept_word(p, "to")) {
        pr_buf_puts(raw, " to ");
        if (pr_parse_is(p, PR_TOK_INT)) pr_buf_printf(raw, "%d", pr_parse_int(p, "line number"));
        pr_parse_expect(p, PR_TOK_COLON, "in location range");
        pr_buf_printf(raw, ":%d", pr_parse_int(p, "column number"));
    }
    return with_raw(p, &site, raw);
}

static const pr_srcloc *named(pr_parser *p)
{
    pr_buf raw;
    pr_buf_init(&raw, p->arena);
    pr_str name = pr_parse_string(p, "location name");
    if (pr_parse_is(p, PR_TOK_COLON)) return file(p, name, &raw);
    pr_buf_quote(&raw, name, false);
    const pr_srcloc *inner = NULL;
    if (pr_parse_accept(p, PR_TOK_LPAREN)) {
        inner = location(p);
        pr_parse_expect(p, PR_TOK_RPAREN, "after named location");
        pr_buf_putc(&raw, '(');
        add_raw(&raw, inner);
        pr_buf_putc(&raw, ')');
    }
    pr_srcloc *l = with_raw(p, inner, &raw);
    /* A variable that is assigned a parameter wraps its name, and so do the parts of one: "d.shape.0"("d"(...)). */
    if (!l->label.n || (name.n > l->label.n && memcmp(name.s, l->label.s, l->label.n) == 0 && name.s[l->label.n] == '.')) l->label = name;
    return l;
}

/* The chain of callee followed by the chain of caller. */
static const pr_srcloc *callsite(pr_parser *p)
{
    pr_buf raw;
    pr_buf_init(&raw, p->arena);
    pr_parse_expect(p, PR_TOK_LPAREN, "after 'callsite'");
    const pr_srcloc *callee = location(p);
    pr_parse_expect_word(p, "at");
    const pr_srcloc *caller = location(p);
    pr_parse_expect(p, PR_TOK_RPAREN, "after call site");
    pr_buf_puts(&raw, "callsite(");
    add_raw(&raw, callee);
    pr_buf_puts(&raw, " at ");
    add_raw(&raw, caller);
    pr_buf_putc(&raw, ')');
    pr_srcloc *head = with_raw(p, callee, &raw), *last = head;
    for (const pr_srcloc *f = callee->caller; f; f = f->caller) {
        pr_parse_charge(p, 64);
        pr_srcloc *copy = pr_arena_copy(p->arena, f, sizeof *f);
        last->caller = copy;
        last = copy;
    }
    last->caller = caller;
    return head;
}

static const pr_srcloc *fused(pr_parser *p)
{
    pr_buf raw;
    pr_buf_init(&raw, p->arena);
    pr_buf_puts(&raw, "fused");
    if (pr_parse_accept(p, PR_TOK_LESS)) {
        pr_attr *meta = pr_parse_attr(p);
        pr_parse_expect(p, PR_TOK_GREATER, "after location metadata");
        pr_buf_putc(&raw, '<');
        pr_attr_print(&raw, meta);
        pr_buf_putc(&raw, '>');
    }
    pr_parse_expect(p, PR_TOK_LSQUARE, "after 'fused'");
    pr_buf_putc(&raw, '[');
    const pr_srcloc *site = NULL, *first = NULL;
    if (!pr_parse_is(p, PR_TOK_RSQUARE)) {
        do {
            const pr_srcloc *l = location(p);
            if (first) pr_buf_puts(&raw, ", ");
            add_raw(&raw, l);
            if (!first) first = l;
            if (!site && l->line) site = l;
        } while (pr_parse_accept(p, PR_TOK_COMMA));
    }
    pr_parse_expect(p, PR_TOK_RSQUARE, "after fused locations");
    pr_buf_putc(&raw, ']');
    return with_raw(p, site ? site : first, &raw);
}

static const pr_srcloc *alias(pr_parser *p)
{
    pr_token use = p->tok;
    pr_alias *a = pr_alias_find(p, use.text);
    if (!a)
        pr_parse_undefined(p, &use, "location alias");
    pr_parse_next(p);
    pr_alias_resolve(p, a, &use);
    if (!a->loc)
        pr_parse_fail(p, PR_ERR_INPUT, use.line, use.col, "alias '" PR_STR_FMT "' is no location",
                      PR_STR_ARG(use.text));
    return a->loc;
}

static const pr_srcloc *location(pr_parser *p)
{
    if (pr_parse_is(p, PR_TOK_HASH)) return alias(p);
    if (++p->loc_depth > p->limits.max_loc_nesting)
        pr_parse_fail(p, PR_ERR_LIMIT, p->tok.line, p->tok.col, "locations nest deeper than %d",
                      p->limits.max_loc_nesting);
    if (p->loc_depth > p->loc_peak) p->loc_peak = p->loc_depth;
    const pr_srcloc *l = NULL;
    if (pr_parse_is(p, PR_TOK_STRING)) {
        l = named(p);
    } else if (pr_parse_accept_word(p, "callsite")) {
        l = callsite(p);
    } else if (pr_parse_accept_word(p, "fused")) {
        l = fused(p);
    } else if (pr_parse_accept_word(p, "unknown")) {
        pr_srcloc *u = PR_NEW(p->arena, pr_srcloc);
        u->raw = pr_str_of("unknown");
        l = u;
    } else if (pr_parse_at_loc(p)) { /* loc(callsite(loc("f":1:2) at loc(...))) of old printers */
        l = pr_parse_loc(p);
    } else {
        pr_parse_expected(p, "location");
    }
    p->loc_depth--;
    return l;
}

const pr_srcloc *pr_parse_loc(pr_parser *p)
{
    pr_parse_expect_word(p, "loc");
    pr_parse_expect(p, PR_TOK_LPAREN, "after 'loc'");
    const pr_srcloc *l = location(p);
    pr_parse_expect(p, PR_TOK_RPAREN, "after location");
    return l;
}

const pr_srcloc *pr_parse_optional_loc(pr_parser *p)
{
    return pr_parse_at_loc(p) ? pr_parse_loc(p) : NULL;
}

/* Files of Triton's own language package, whatever directory it is installed in. */
static bool is_triton_file(pr_str f)
{
    static const char part[] = "triton/language/";
    size_t n = sizeof part - 1;
    for (size_t i = 0; i + n <= f.n; i++)
        if ((i == 0 || f.s[i - 1] == '/') && memcmp(f.s + i, part, n) == 0) return true;
    return false;
}

const pr_srcloc *pr_srcloc_user(const pr_srcloc *l)
{
    for (const pr_srcloc *f = l; f; f = f->caller)
        if (f->line && !is_triton_file(f->file)) return f;
    return l;
}
