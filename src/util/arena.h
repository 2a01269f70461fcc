/* Region allocator: everything of one check lives in arenas and dies with them.
 *
 * Memory is zeroed (but for pr_arena_raw). Nothing is freed one by one; pr_arena_mark/release give back everything
 * allocated after the mark. When the system has no memory, the arena's byte cap or the memory budget of the
 * owner is reached, control jumps to the owner's pr_oom point (set once by src/polyrace_memory.c), so no caller
 * tests for null. Whatever is held across an allocation and does not live in an arena (isl, Z3 and jansson
 * objects, files, malloc'ed arrays) stands in a guard: guards are released, the latest first, before the jump,
 * while the frames that hold them are still there. Arenas are guarded themselves. */
#ifndef PR_UTIL_ARENA_H
#define PR_UTIL_ARENA_H
#include <setjmp.h>
#include "util/base.h"

typedef struct pr_arena pr_arena;
/* Zero-initialised by its owner. Also keeps chunks of arenas that ended, for those that follow: fresh memory costs
 * a page fault for every 4 KiB, more than most queries. */
enum { PR_CHUNK_BINS = 9 };

/* Something to be released when memory runs out. Lies in the frame or the struct that holds it; no memory is needed
 * to set one. */
typedef struct pr_guard {
    struct pr_guard *prev, *next;
    struct pr_oom *oom;                /* null: not set, or nobody to jump to */
    void (*release)(void *what);
    void *what;
} pr_guard;

typedef struct pr_oom {
    jmp_buf point;                     /* of the running call of the public library */
    struct pr_within *within;          /* the innermost pr_oom_within, null outside */
    pr_guard *guards;                  /* the latest */
    size_t bytes, limit;               /* chunks of all arenas; their budget, 0 = none */
    bool over;                         /* the budget, not the system, ended the last call */
    /* Set while something is built: when *stop is not 0, the next chunk jumps as well, with `stopped`. So every
     * loop that builds something ends soon, without a test of its own. */
    const pr_flag *stop;
    bool stopped;
    void *kept[PR_CHUNK_BINS];
    size_t n_kept;
    /* Set by an owner that calls pr_oom_drop at its end: the first chunks share one block, so that fresh memory costs one
     * page fault instead of hundreds. */
    bool wants_block;
    unsigned char *block;
    size_t block_used;
} pr_oom;
typedef struct pr_arena_pos { void *chunk; size_t used; size_t total; } pr_arena_pos;

/* cap_bytes 0 = no cap. oom null: exhaustion calls abort(), and null is returned when the first malloc fails.
 * With an oom the arena is guarded and never null. */
pr_arena *pr_arena_new(size_t cap_bytes, pr_oom *oom);
void pr_arena_free(pr_arena *a);                 /* null is fine */
void *pr_arena_alloc(pr_arena *a, size_t bytes); /* zeroed, 16-byte aligned */
void *pr_arena_raw(pr_arena *a, size_t bytes);   /* the same, not zeroed: for large working memory */
void *pr_arena_copy(pr_arena *a, const void *from, size_t bytes);
char *pr_arena_strndup(pr_arena *a, const char *s, size_t n); /* terminated copy */
char *pr_arena_printf(pr_arena *a, const char *format, ...) PR_PRINTF(2, 3);
pr_arena_pos pr_arena_mark(const pr_arena *a);
void pr_arena_release(pr_arena *a, pr_arena_pos pos);
pr_oom *pr_arena_oom(const pr_arena *a);         /* where exhaustion jumps to, for a second arena */
void pr_arena_keep(pr_arena *a);                 /* no longer guarded: its owner frees it whatever happens */
_Noreturn void pr_arena_exhausted(const pr_arena *a); /* for an allocation that failed elsewhere */
void pr_oom_drop(pr_oom *oom);                   /* frees the kept chunks; when no arena is left */

void pr_guard_set(const pr_arena *a, pr_guard *g, void (*release)(void *what), void *what);
void pr_guard_drop(pr_guard *g);                 /* what is no longer ours; fine when it was not set */
void pr_guard_end(pr_guard *g);                  /* released now */

/* Working memory outside the arena, not zeroed; jumps like the arena when there is none. */
typedef struct pr_temp { pr_guard guard; } pr_temp;
void *pr_temp_new(const pr_arena *a, pr_temp *t, size_t bytes);
void pr_temp_end(pr_temp *t);

/* Runs f; false when it was ended by the budget (oom->limit). Guards that f set are released then, what it
 * allocated in older arenas is not. Memory that the system does not have still ends the whole call. */
bool pr_oom_within(pr_oom *oom, void (*f)(void *user), void *user);
size_t pr_arena_bytes(const pr_arena *a);        /* bytes handed out so far */

#define PR_NEW(arena, T) ((T *)pr_arena_alloc((arena), sizeof(T)))
#define PR_NEW_N(arena, T, n) ((T *)pr_arena_alloc((arena), sizeof(T) * (size_t)(n)))
#endif
