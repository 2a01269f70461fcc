/* Region allocator, see arena.h. Chunks are powers of two and double in size up to 1 MiB; a larger request gets
 * a chunk of its own. */
#define _DEFAULT_SOURCE /* madvise */
#include "util/arena.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef struct chunk {
    struct chunk *prev;
    size_t size, used;
    _Alignas(16) unsigned char data[];
} chunk;

struct pr_arena {
    pr_guard guard;
    chunk *top, *spare; /* spare: the largest chunk that a release gave back */
    size_t cap, total, next;
    pr_oom *oom;
};

enum { LEAST_CHUNK = 4096, MOST_KEPT = 8 << 20, BLOCK = 2 << 20 };

/* Bin of a chunk of this size: 4 KiB, 8 KiB, ... 1 MiB; -1: not kept. */
static int bin_of(size_t size)
{
    for (int i = 0; i < PR_CHUNK_BINS; i++)
        if (size == (size_t)LEAST_CHUNK << i) return i;
    return -1;
}

/* ---- the first chunks of an owner --------------------------------------------------------------- */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined __SANITIZE_ADDRESS__ || __has_feature(address_sanitizer)
enum { WITH_BLOCK = false }; /* it finds what runs over the end of a chunk only between allocations */
#else
enum { WITH_BLOCK = true };
#endif

static bool in_block(const pr_oom *oom, const chunk *c)
{ return oom->block && (uintptr_t)c - (uintptr_t)oom->block < BLOCK; }

/* The next bytes of the block, which is one large page where the system has them; null: there are none left. */
static chunk *from_block(pr_oom *oom, size_t size)
{
    if (!oom->block && oom->wants_block && WITH_BLOCK) {
        oom->block = aligned_alloc(BLOCK, BLOCK);
        oom->wants_block = false;
#ifdef MADV_HUGEPAGE
        if (oom->block) (void)madvise(oom->block, BLOCK, MADV_HUGEPAGE);
#endif
    }
    if (!oom->block || BLOCK - oom->block_used < sizeof(chunk) + size) return NULL;
    chunk *c = (void *)(oom->block + oom->block_used);
    oom->block_used += sizeof *c + size;
    return c;
}

static void chunk_free(pr_oom *oom, chunk *c)
{
    if (c && oom) oom->bytes -= c->size;
    int bin = c ? bin_of(c->size) : -1;
    if (bin < 0 || !oom || (oom->n_kept + c->size > MOST_KEPT && !in_block(oom, c))) {
        free(c);
        return;
    }
    c->prev = oom->kept[bin];
    oom->kept[bin] = c;
    oom->n_kept += c->size;
}

static chunk *chunk_new(pr_oom *oom, size_t size)
{
    if (oom && oom->limit && (size > oom->limit || oom->bytes > oom->limit - size)) {
        oom->over = true;
        return NULL;
    }
    int bin = oom ? bin_of(size) : -1;
    chunk *c = bin < 0 ? NULL : oom->kept[bin];
    if (c) {
        oom->kept[bin] = c->prev;
        oom->n_kept -= c->size;
    } else if ((bin >= 0 && (c = from_block(oom, size))) || (size <= SIZE_MAX - sizeof *c && (c = malloc(sizeof *c + size)))) {
        c->size = size;
    }
    if (c && oom) oom->bytes += size;
    return c;
}

void pr_oom_drop(pr_oom *oom)
{
    for (int i = 0; i < PR_CHUNK_BINS; i++)
        for (chunk *c = oom->kept[i], *next; c; c = next) {
            next = c->prev;
            if (!in_block(oom, c)) free(c);
        }
    memset(oom->kept, 0, sizeof oom->kept);
    oom->n_kept = 0;
    free(oom->block);
    oom->block = NULL;
    oom->block_used = 0;
}

/* ---- when memory runs out ------------------------------------------------------------------- */
struct pr_within {
    jmp_buf point;
    struct pr_within *outer;
    pr_guard *floor;
};

static _Noreturn void exhausted(pr_oom *oom)
{
    if (!oom) {
        fputs("polyrace: out of memory\n", stderr);
        abort();
    }
    struct pr_within *w = oom->over ? oom->within : NULL;
    while (oom->guards != (w ? w->floor : NULL)) pr_guard_end(oom->guards);
    if (w) longjmp(w->point, 1);
    oom->within = NULL;
    longjmp(oom->point, 1);
}

void pr_arena_exhausted(const pr_arena *a)
{ exhausted(a->oom); }

bool pr_oom_within(pr_oom *oom, void (*f)(void *user), void *user)
{
    struct pr_within w = { .outer = oom->within, .floor = oom->guards };
    oom->within = &w;
    oom->over = false;
    if (setjmp(w.point)) {
        oom->within = w.outer;
        oom->over = false;
        return false;
    }
    f(user);
    oom->within = w.outer;
    return true;
}

static void guard(pr_oom *oom, pr_guard *g, void (*release)(void *what), void *what)
{
    *g = (pr_guard){ .prev = oom ? oom->guards : NULL, .oom = oom, .release = release, .what = what };
    if (!oom) return;
    if (g->prev) g->prev->next = g;
    oom->guards = g;
}

void pr_guard_set(const pr_arena *a, pr_guard *g, void (*release)(void *what), void *what)
{ guard(a->oom, g, release, what); }

void pr_guard_drop(pr_guard *g)
{
    g->release = NULL;
    if (!g->oom) return;
    if (g->next) g->next->prev = g->prev;
    else g->oom->guards = g->prev;
    if (g->prev) g->prev->next = g->next;
    g->oom = NULL;
}

void pr_guard_end(pr_guard *g)
{
    void (*release)(void *what) = g->release;
    void *what = g->what;
    pr_guard_drop(g);
    if (release) release(what);
}

void *pr_temp_new(const pr_arena *a, pr_temp *t, size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);
    if (!p) exhausted(a->oom);
    pr_guard_set(a, &t->guard, free, p);
    return p;
}

void pr_temp_end(pr_temp *t)
{ pr_guard_end(&t->guard); }

/* ---- arenas --------------------------------------------------------------------------------- */
static void arena_end(void *what)
{
    pr_arena *a = what;
    while (a->top) {
        chunk *c = a->top;
        a->top = c->prev;
        chunk_free(a->oom, c);
    }
    chunk_free(a->oom, a->spare);
    free(a);
}

pr_arena *pr_arena_new(size_t cap_bytes, pr_oom *oom)
{
    pr_arena *a = calloc(1, sizeof *a);
    if (!a) {
        if (oom) exhausted(oom);
        return NULL;
    }
    a->cap = cap_bytes;
    a->next = LEAST_CHUNK;
    a->oom = oom;
    guard(oom, &a->guard, arena_end, a);
    return a;
}

void pr_arena_keep(pr_arena *a)
{ pr_guard_drop(&a->guard); }

void pr_arena_free(pr_arena *a)
{
    if (!a) return;
    pr_guard_drop(&a->guard);
    arena_end(a);
}

void *pr_arena_raw(pr_arena *a, size_t bytes)
{
    if (bytes > SIZE_MAX - 64) exhausted(a->oom);
    size_t n = (bytes + 15) & ~(size_t)15;
    if (n == 0) n = 16;
    if (a->cap && a->total + n > a->cap) exhausted(a->oom);
    if (!a->top || a->top->size - a->top->used < n) {
        if (a->oom && a->oom->stop && *a->oom->stop) {
            a->oom->stopped = true;
            exhausted(a->oom);
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
            while (!c && size > LEAST_CHUNK && size / 2 >= n) c = chunk_new(a->oom, size /= 2);
            if (!c) exhausted(a->oom);
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
    pr_u128 *p = pr_arena_raw(a, bytes);
    size_t n = bytes ? (bytes + 15) / 16 : 1;
    if (n > 8) return memset(p, 0, n * 16);
    for (size_t i = 0; i < n; i++) p[i] = 0;     /* most are a few words */
    return p;
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
