/* Errors of bad input. One struct filled by one function; the first error wins.
 *
 * An error means the input could not be read; a kernel outside what we prove is a pr_refusal
 * (term/refusal.h); a mistake of ours is an assert or PR_ERR_INTERNAL. */
#ifndef PR_UTIL_ERR_H
#define PR_UTIL_ERR_H
#include "util/base.h"

typedef enum {
    PR_OK = 0,
    PR_ERR_INPUT,       /* text is not the accepted grammar, launch file ill-typed           */
    PR_ERR_LIMIT,       /* a reader limit was exceeded (nesting, size, rank): refusal `other` */
    PR_ERR_USAGE,       /* wrong call or option                                               */
    PR_ERR_IO,          /* file cannot be read                                                */
    PR_ERR_MEMORY,
    PR_ERR_INTERRUPTED,
    PR_ERR_INTERNAL     /* our own mistake; never a verdict                                   */
} pr_status;

typedef struct pr_error {
    pr_status kind;     /* PR_OK iff nothing went wrong                        */
    char file[160];     /* name of the input, "" when unknown                  */
    int line, col;      /* 1-based, 0 = unknown                                */
    char message[240];  /* one line, no trailing full stop                     */
} pr_error;

/* Fills *e unless it already holds an error (e may be null) and returns kind. */
pr_status pr_fail(pr_error *e, pr_status kind, const char *file, int line, int col,
                  const char *format, ...) __attribute__((format(printf, 6, 7)));
#endif
