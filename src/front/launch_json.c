/* JSON texts through jansson, also when memory runs out.
 *
 * jansson 2.14 ignores that the buffer of a token did not grow: the token is cut short without an error, or read
 * past its end. So its allocation functions are wrapped (once, by functions that do the same) and an allocation
 * that fails while we read or print leaves jansson by a jump; the blocks it made since are listed and given back. */
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include "front/launch_doc.h"

typedef struct inside {
    jmp_buf out;
    void **block;
    size_t n, cap;
} inside;

static json_malloc_t under_malloc;
static json_free_t under_free;
static _Thread_local inside *now; /* null: whatever happens is not ours */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool listed(void *p)
{
    if (now->n == now->cap) {
        size_t cap = now->cap ? now->cap * 2 : 256;
        void **wider = realloc(now->block, cap * sizeof *wider);
        if (!wider) return false;
        now->block = wider;
        now->cap = cap;
    }
    now->block[now->n++] = p;
    return true;
}

static void *our_malloc(size_t n)
{
    void *p = under_malloc(n);
    if (!now || (p && listed(p))) return p;
    if (p) under_free(p);
    longjmp(now->out, 1);
}

static void our_free(void *p)
{
    for (size_t k = now && p ? now->n : 0; k-- > 0;)
        if (now->block[k] == p) {
            now->block[k] = now->block[--now->n];
            break;
        }
    under_free(p);
}

static void wrap(void)
{
    json_get_alloc_funcs(&under_malloc, &under_free);
    json_set_alloc_funcs(our_malloc, our_free);
}

static _Noreturn void give_back(const pr_arena *arena)
{
    inside *end = now;
    now = NULL;
    while (end->n) under_free(end->block[--end->n]);
    free(end->block);
    pr_arena_exhausted(arena);
}

json_t *pr_json_load(const pr_arena *arena, const char *text, size_t length, json_error_t *err)
{
    inside here = { .n = 0 };
    pthread_once(&once, wrap);
    now = &here;
    if (setjmp(here.out)) give_back(arena);
    json_t *v = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, err);
    now = NULL;
    free(here.block);
    return v;
}

static size_t print(const pr_arena *arena, const json_t *v, char *text, size_t size)
{
    inside here = { .n = 0 };
    pthread_once(&once, wrap);
    now = &here;
    if (setjmp(here.out)) give_back(arena);
    size_t n = json_dumpb(v, text, size, JSON_COMPACT);
    now = NULL;
    free(here.block);
    return n;
}

const char *pr_json_text(pr_arena *arena, const json_t *v)
{
    size_t n = print(arena, v, NULL, 0);
    char *text = pr_arena_alloc(arena, n + 1);
    print(arena, v, text, n);
    return text;
}
