/* Small things every file needs: exact integer type, string slice, tri-state.
 *
 * pr_i128 is the exact integer of the whole program. Every machine value has at most 64 bits, so
 * the unbounded result of one operation (sum, product, shift) on machine values fits; anything
 * longer is computed with the checked helpers of util/num.h and "does not fit" becomes an unknown,
 * never a wrapped value. */
#ifndef PR_UTIL_BASE_H
#define PR_UTIL_BASE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

__extension__ typedef __int128 pr_i128;
__extension__ typedef unsigned __int128 pr_u128;

#define PR_I128_MAX ((pr_i128)(~(pr_u128)0 >> 1))
#define PR_I128_MIN (-PR_I128_MAX - 1)

/* A slice of text, not necessarily terminated. s may be null only when n is 0. */
typedef struct pr_str { const char *s; size_t n; } pr_str;

typedef enum { PR_NO = 0, PR_YES = 1, PR_MAYBE = 2 } pr_tri;

/* Set from a signal handler or another thread, read by whoever works. */
typedef _Atomic int pr_flag;

#define PR_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define PR_PRINTF(f, a) __attribute__((format(printf, f, a)))
#endif
