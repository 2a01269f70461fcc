/* What are the tokens of an MLIR text? (ttir-front.md 1.1)
 *
 * One function, one pass, no state beyond the position. '->' is taken before '-', '::' before ':',
 * and a suffix id may contain hyphens (%c-1_i32). Comments and the file's resource section {-# #-}
 * count as white space. */
#include "front/lex.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
static bool is_bare(char c)
{
    return is_letter(c) || is_digit(c) || c == '_' || c == '$' || c == '.';
}
static bool is_suffix(char c) { return is_bare(c) || c == '-'; }

void pr_lexer_init(pr_lexer *l, const char *text, size_t length)
{
    *l = (pr_lexer){ text, text + length, text, 1 };
}

const char *pr_tok_name(pr_tok kind)
{
    static const char *const names[] = {
#define TOKEN(id, text) text,
#include "front/tokens.def"
#undef TOKEN
    };
    return kind < PR_TOK_COUNT ? names[kind] : "?";
}

static char peek(const pr_lexer *l, size_t k)
{
    return (size_t)(l->end - l->at) > k ? l->at[k] : '\0';
}

static void newline(pr_lexer *l)
{
    l->at++;
    l->line++;
    l->line_start = l->at;
}

/* White space and comments; true when a line break was crossed. */
static bool skip_space(pr_lexer *l)
{
    bool crossed = false;
    while (l->at < l->end) {
        char c = *l->at;
        if (c == '\n') {
            newline(l);
            crossed = true;
        } else if (c == ' ' || c == '\t' || c == '\r') {
            l->at++;
        } else if (c == '/' && peek(l, 1) == '/') {
            while (l->at < l->end && *l->at != '\n') l->at++;
        } else if (c == '{' && peek(l, 1) == '-' && peek(l, 2) == '#') {
            pr_lexer start = *l;
            bool closed = false;
            while (l->at < l->end && !closed) {
                closed = *l->at == '#' && peek(l, 1) == '-' && peek(l, 2) == '}';
                if (*l->at == '\n') newline(l);
                else l->at += closed ? 3 : 1;
            }
            if (!closed) {
                *l = start;
                return crossed;
            }
            crossed = true;
        } else {
            break;
        }
    }
    return crossed;
}

/* Suffix id at l->at: digits, or a letter-like character and what follows. False when none. */
static bool suffix_id(pr_lexer *l)
{
    char c = peek(l, 0);
    if (is_digit(c)) {
        while (is_digit(peek(l, 0))) l->at++;
        return true;
    }
    if (!is_letter(c) && c != '_' && c != '$' && c != '.' && c != '-') return false;
    while (is_suffix(peek(l, 0))) l->at++;
    return true;
}

static bool string(pr_lexer *l, pr_token *t)
{
    l->at++;
    while (l->at < l->end && *l->at != '"' && *l->at != '\n') {
        if (*l->at == '\\' && l->at + 1 < l->end && l->at[1] != '\n') l->at++;
        l->at++;
    }
    if (l->at >= l->end || *l->at != '"') {
        t->wrong = "string without closing quote";
        return false;
    }
    l->at++;
    return true;
}

static pr_tok number(pr_lexer *l)
{
    if (peek(l, 0) == '0' && peek(l, 1) == 'x' && is_hex(peek(l, 2))) {
        l->at += 2;
        while (is_hex(peek(l, 0))) l->at++;
        return PR_TOK_INT;
    }
    while (is_digit(peek(l, 0))) l->at++;
    if (peek(l, 0) != '.') return PR_TOK_INT;
    l->at++;
    while (is_digit(peek(l, 0))) l->at++;
    if (peek(l, 0) == 'e' || peek(l, 0) == 'E') {
        size_t sign = peek(l, 1) == '+' || peek(l, 1) == '-';
        if (is_digit(peek(l, 1 + sign))) {
            l->at += 1 + sign;
            while (is_digit(peek(l, 0))) l->at++;
        }
    }
    return PR_TOK_FLOAT;
}

static pr_tok sigil(pr_lexer *l, pr_token *t, pr_tok kind)
{
    l->at++;
    if (kind == PR_TOK_SYMBOL && peek(l, 0) == '"') return string(l, t) ? kind : PR_TOK_BAD;
    if (suffix_id(l)) return kind;
    t->wrong = "name expected after '%', '^', '@', '#' or '!'";
    return PR_TOK_BAD;
}

static pr_tok punctuation(pr_lexer *l)
{
    char c = *l->at++;
    switch (c) {
    case '(': return PR_TOK_LPAREN;
    case ')': return PR_TOK_RPAREN;
    case '{': return PR_TOK_LBRACE;
    case '}': return PR_TOK_RBRACE;
    case '[': return PR_TOK_LSQUARE;
    case ']': return PR_TOK_RSQUARE;
    case '<': return PR_TOK_LESS;
    case '>': return PR_TOK_GREATER;
    case ',': return PR_TOK_COMMA;
    case '=': return PR_TOK_EQUAL;
    case '+': return PR_TOK_PLUS;
    case '*': return PR_TOK_STAR;
    case '?': return PR_TOK_QUESTION;
    case '|': return PR_TOK_PIPE;
    case ':':
        if (peek(l, 0) != ':') return PR_TOK_COLON;
        l->at++;
        return PR_TOK_COLONCOLON;
    case '-':
        if (peek(l, 0) != '>') return PR_TOK_MINUS;
        l->at++;
        return PR_TOK_ARROW;
    default: return PR_TOK_OTHER;
    }
}

pr_token pr_lexer_next(pr_lexer *l)
{
    pr_token t = { 0 };
    const char *before = l->at;
    t.newline = skip_space(l);
    t.glued = l->at == before;
    t.line = l->line;
    t.col = (int)(l->at - l->line_start) + 1;
    const char *start = l->at;
    if (l->at >= l->end) {
        t.text = (pr_str){ l->end, 0 };
        return t;
    }
    char c = *l->at;
    if (is_letter(c) || c == '_') {
        while (is_bare(peek(l, 0))) l->at++;
        t.kind = PR_TOK_BARE;
    } else if (is_digit(c)) {
        t.kind = number(l);
    } else if (c == '"') {
        t.kind = string(l, &t) ? PR_TOK_STRING : PR_TOK_BAD;
    } else if (c == '%') {
        t.kind = sigil(l, &t, PR_TOK_VALUE);
    } else if (c == '^') {
        t.kind = sigil(l, &t, PR_TOK_BLOCK);
    } else if (c == '@') {
        t.kind = sigil(l, &t, PR_TOK_SYMBOL);
    } else if (c == '#') {
        t.kind = sigil(l, &t, PR_TOK_HASH);
    } else if (c == '!') {
        t.kind = sigil(l, &t, PR_TOK_BANG);
    } else {
        t.kind = punctuation(l);
    }
    t.text = (pr_str){ start, (size_t)(l->at - start) };
    return t;
}
