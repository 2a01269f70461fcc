/* Region allocator: everything of one check lives in arenas and dies with them.
 *
 * Memory is zeroed (but for pr_arena_raw). Nothing is freed one by one; pr_arena_mark/release give back everything
 * allocated after the mark. When the system has no memory, or the arena's byte cap is reached,
 * control jumps to the owner's pr_oom point (set once by src/polyrace.c), so no caller tests for
 * null. Code that holds isl, Z3 or jansson objects across an allocation may leak them then, and
 * only then. */
#ifndef PR_UTIL_ARENA_H
#define PR_UTIL_ARENA_H
#include <setjmp.h>
#include "util/base.h"

typedef struct pr_arena pr_arena;
/* Zero-initialised by its owner. Also keeps chunks of arenas that ended, for those that follow: fresh memory costs
 * a page fault for every 4 KiB, more than most queries. */
enum { PR_CHUNK_BINS = 9 };
typedef struct pr_oom {
    jmp_buf point;
    void *kept[PR_CHUNK_BINS];
    size_t n_kept;
    /* Set only while no isl, Z3 or jansson object is held: when *stop is not 0, the next chunk jumps as well, with
     * `stopped`. So every loop that builds something ends soon, without a test of its own. */
    const volatile int *stop;
    bool stopped;
    /* Called before a jump, when set: ends what may not go on behind it (a thread). One owner at a time. */
    void (*unwind)(void *user);
    void *unwind_user;
} pr_oom;
typedef struct pr_arena_pos { void *chunk; size_t used; size_t total; } pr_arena_pos;

/* cap_bytes 0 = no cap. oom null: exhaustion calls abort(). Returns null only when the first
 * malloc fails and oom is null-checked by the caller. */
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
void pr_oom_drop(pr_oom *oom);                   /* frees the kept chunks; when no arena is left */
size_t pr_arena_bytes(const pr_arena *a);        /* bytes handed out so far */

#define PR_NEW(arena, T) ((T *)pr_arena_alloc((arena), sizeof(T)))
#define PR_NEW_N(arena, T, n) ((T *)pr_arena_alloc((arena), sizeof(T) * (size_t)(n)))
#endif
