/* Region allocator, see arena.h. Chunks are powers of two and double in size up to 1 MiB; a larger request gets
 * a chunk of its own. */
#include "util/arena.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct chunk {
    struct chunk *prev;
    size_t size, used;
    _Alignas(16) unsigned char data[];
} chunk;

struct pr_arena {
    chunk *top, *spare; /* spare: the largest chunk that a release gave back */
    size_t cap, total, next;
    pr_oom *oom;
};

enum { LEAST_CHUNK = 4096, MOST_KEPT = 8 << 20 };

/* Bin of a chunk of this size: 4 KiB, 8 KiB, ... 1 MiB; -1: not kept. */
static int bin_of(size_t size)
{
    for (int i = 0; i < PR_CHUNK_BINS; i++)
        if (size == (size_t)LEAST_CHUNK << i) return i;
    return -1;
}

static void chunk_free(pr_oom *oom, chunk *c)
{
    int bin = c ? bin_of(c->size) : -1;
    if (bin < 0 || !oom || oom->n_kept + c->size > MOST_KEPT) {
        free(c);
        return;
    }
    c->prev = oom->kept[bin];
    oom->kept[bin] = c;
    oom->n_kept += c->size;
}

static chunk *chunk_new(pr_oom *oom, size_t size)
{
    int bin = oom ? bin_of(size) : -1;
    chunk *c = bin < 0 ? NULL : oom->kept[bin];
    if (c) {
        oom->kept[bin] = c->prev;
        oom->n_kept -= c->size;
        return c;
    }
    c = malloc(sizeof *c + size);
    if (c) c->size = size;
    return c;
}

void pr_oom_drop(pr_oom *oom)
{
    for (int i = 0; i < PR_CHUNK_BINS; i++)
        for (chunk *c = oom->kept[i], *next; c; c = next) {
            next = c->prev;
            free(c);
        }
    memset(oom->kept, 0, sizeof oom->kept);
    oom->n_kept = 0;
}

static void exhausted(const pr_arena *a)
{
    if (a && a->oom) {
        void (*unwind)(void *) = a->oom->unwind;
        a->oom->unwind = NULL;
        if (unwind) unwind(a->oom->unwind_user);
        longjmp(a->oom->point, 1);
    }
    fputs("polyrace: out of memory\n", stderr);
    abort();
}

pr_arena *pr_arena_new(size_t cap_bytes, pr_oom *oom)
{
    pr_arena *a = calloc(1, sizeof *a);
    if (!a) return NULL;
    a->cap = cap_bytes;
    a->next = LEAST_CHUNK;
    a->oom = oom;
    return a;
}

void pr_arena_free(pr_arena *a)
{
    if (!a) return;
    while (a->top) {
        chunk *c = a->top;
        a->top = c->prev;
        chunk_free(a->oom, c);
    }
    chunk_free(a->oom, a->spare);
    free(a);
}

void *pr_arena_raw(pr_arena *a, size_t bytes)
{
    if (bytes > SIZE_MAX - 64) exhausted(a);
    size_t n = (bytes + 15) & ~(size_t)15;
    if (n == 0) n = 16;
    if (a->cap && a->total + n > a->cap) exhausted(a);
    if (!a->top || a->top->size - a->top->used < n) {
        if (a->oom && a->oom->stop && *a->oom->stop) {
            a->oom->stopped = true;
            exhausted(a);
        }
        size_t size = a->next;
        while (size < n && size < (1u << 20)) size *= 2;
        if (size < n) size = n;
        if (a->next < (1u << 20)) a->next *= 2;
        chunk *c = a->spare;
        if (c && c->size >= n) {
            a->spare = NULL;
        } else {
            c = chunk_new(a->oom, size);
            if (!c) exhausted(a);
        }
        c->prev = a->top;
        c->used = 0;
        a->top = c;
    }
    void *p = a->top->data + a->top->used;
    a->top->used += n;
    a->total += n;
    return p;
}

void *pr_arena_alloc(pr_arena *a, size_t bytes)
{
    void *p = pr_arena_raw(a, bytes);
    return memset(p, 0, bytes ? (bytes + 15) & ~(size_t)15 : 16);
}

void *pr_arena_copy(pr_arena *a, const void *from, size_t bytes)
{
    void *p = pr_arena_alloc(a, bytes);
    if (bytes) memcpy(p, from, bytes);
    return p;
}

char *pr_arena_strndup(pr_arena *a, const char *s, size_t n)
{
    char *p = pr_arena_alloc(a, n + 1);
    if (n) memcpy(p, s, n);
    return p;
}

char *pr_arena_printf(pr_arena *a, const char *format, ...)
{
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    int n = vsnprintf(NULL, 0, format, list);
    va_end(list);
    char *p = pr_arena_alloc(a, (size_t)(n > 0 ? n : 0) + 1);
    if (n > 0) vsnprintf(p, (size_t)n + 1, format, again);
    va_end(again);
    return p;
}

pr_arena_pos pr_arena_mark(const pr_arena *a)
{
    return (pr_arena_pos){ a->top, a->top ? a->top->used : 0, a->total };
}

void pr_arena_release(pr_arena *a, pr_arena_pos pos)
{
    while (a->top && a->top != pos.chunk) {
        chunk *c = a->top;
        a->top = c->prev;
        chunk *keep = a->spare && a->spare->size >= c->size ? a->spare : c;
        chunk_free(a->oom, keep == c ? a->spare : c);
        a->spare = keep;
    }
    if (a->top) a->top->used = pos.used;
    a->total = pos.total;
}

size_t pr_arena_bytes(const pr_arena *a) { return a->total; }

pr_oom *pr_arena_oom(const pr_arena *a) { return a->oom; }
