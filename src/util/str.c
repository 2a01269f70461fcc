/* String slices and a text builder, see str.h. */
#include "util/str.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

pr_str pr_str_of(const char *t) { return (pr_str){ t, t ? strlen(t) : 0 }; }

bool pr_str_eq(pr_str a, pr_str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.s, b.s, a.n) == 0);
}

bool pr_str_starts(pr_str a, const char *t)
{
    size_t n = strlen(t);
    return a.n >= n && memcmp(a.s, t, n) == 0;
}

/* Multiply and shift, eight bytes a step; quality is enough for tables that compare contents on every hit. */
uint64_t pr_hash_bytes(const void *p, size_t n, uint64_t seed)
{
    const unsigned char *c = p;
    uint64_t h = seed ^ 0xcbf29ce484222325u ^ n, w;
    for (; n >= sizeof w; n -= sizeof w, c += sizeof w) {
        memcpy(&w, c, sizeof w);
        h = (h ^ w) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    w = 0;
    if (n) memcpy(&w, c, n);
    h = (h ^ w) * 0x9e3779b97f4a7c15u;
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93u;
    return h ^ (h >> 29);
}

void pr_buf_init(pr_buf *b, pr_arena *arena)
{
    b->arena = arena;
    b->cap = 256;
    b->n = 0;
    b->data = pr_arena_alloc(arena, b->cap);
}

static void need(pr_buf *b, size_t more)
{
    if (b->n + more + 1 <= b->cap) return;
    size_t cap = b->cap * 2;
    while (cap < b->n + more + 1) cap *= 2;
    char *p = pr_arena_alloc(b->arena, cap);
    memcpy(p, b->data, b->n);
    b->data = p;
    b->cap = cap;
}

void pr_buf_add(pr_buf *b, const char *s, size_t n)
{
    need(b, n);
    if (n) memcpy(b->data + b->n, s, n);
    b->n += n;
    b->data[b->n] = 0;
}

void pr_buf_puts(pr_buf *b, const char *t) { pr_buf_add(b, t, strlen(t)); }
void pr_buf_putc(pr_buf *b, char c) { pr_buf_add(b, &c, 1); }

void pr_buf_printf(pr_buf *b, const char *format, ...)
{
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    int n = vsnprintf(b->data + b->n, b->cap - b->n, format, list); /* mostly there is room */
    va_end(list);
    if (n < 0) {
        b->data[b->n] = 0;
    } else if ((size_t)n < b->cap - b->n) {
        b->n += (size_t)n;
    } else {
        need(b, (size_t)n);
        vsnprintf(b->data + b->n, (size_t)n + 1, format, again);
        b->n += (size_t)n;
    }
    va_end(again);
}

void pr_buf_i128(pr_buf *b, pr_i128 v)
{
    char text[48];
    int i = sizeof text;
    pr_u128 u = v < 0 ? -(pr_u128)v : (pr_u128)v;
    for (; u > UINT64_MAX; u /= 10) text[--i] = (char)('0' + (int)(u % 10));
    uint64_t low = (uint64_t)u; /* the rest without the long division of the compiler's library */
    do {
        text[--i] = (char)('0' + (int)(low % 10));
        low /= 10;
    } while (low);
    if (v < 0) text[--i] = '-';
    pr_buf_add(b, text + i, sizeof text - (size_t)i);
}

void pr_buf_quote(pr_buf *b, pr_str s, bool json)
{
    pr_buf_putc(b, '"');
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.s[i];
        if (c == '"' || c == '\\') {
            pr_buf_putc(b, '\\');
            pr_buf_putc(b, (char)c);
        } else if (c < 0x20 || c == 0x7f) {
            pr_buf_printf(b, json ? "\\u%04x" : "\\%02X", c);
        } else {
            pr_buf_putc(b, (char)c);
        }
    }
    pr_buf_putc(b, '"');
}
