/* Typed growable array in an arena: PR_VEC(int) v = {0}; pr_vec_push(arena, &v, 3); v.data[i]. */
#ifndef PR_UTIL_VEC_H
#define PR_UTIL_VEC_H
#include <string.h>
#include "util/arena.h"

#define PR_VEC(T) struct { T *data; int n, cap; }

static inline void *pr_vec_grow_(pr_arena *a, void *data, int n, int *cap, int wider, size_t size)
{
    void *p = pr_arena_raw(a, size * (size_t)wider);      /* an element is written before it is read */
    if (n) memcpy(p, data, size * (size_t)n);
    *cap = wider;
    return p;
}

#define pr_vec_push(arena, v, x)                                                              \
    do {                                                                                      \
        if ((v)->n == (v)->cap)                                                               \
            (v)->data = pr_vec_grow_((arena), (v)->data, (v)->n, &(v)->cap,                   \
                                     (v)->cap ? (v)->cap * 2 : sizeof *(v)->data < 256 ? 8 : 1, sizeof *(v)->data);                                      \
        (v)->data[(v)->n++] = (x);                                                            \
    } while (0)
/* Room for `want` elements in all. */
#define pr_vec_reserve(arena, v, want)                                                        \
    do {                                                                                      \
        if ((v)->cap < (want))                                                                \
            (v)->data = pr_vec_grow_((arena), (v)->data, (v)->n, &(v)->cap, (want),           \
                                     sizeof *(v)->data);                                      \
    } while (0)
#endif
