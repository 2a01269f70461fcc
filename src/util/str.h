/* String slices and a text builder. */
#ifndef PR_UTIL_STR_H
#define PR_UTIL_STR_H
#include <string.h>
#include "util/arena.h"

pr_str pr_str_of(const char *terminated);            /* null gives the empty slice */
bool pr_str_eq(pr_str a, pr_str b);
static inline bool pr_str_is(pr_str a, const char *terminated) /* here: the length of a literal is known */
{ return a.n == strlen(terminated) && (a.n == 0 || memcmp(a.s, terminated, a.n) == 0); }
bool pr_str_starts(pr_str a, const char *terminated);
uint64_t pr_hash_bytes(const void *p, size_t n, uint64_t seed); /* content hash, same on every run */

/* Growing text in an arena; always terminated at data[n]. */
typedef struct pr_buf { pr_arena *arena; char *data; size_t n, cap; } pr_buf;

void pr_buf_init(pr_buf *b, pr_arena *arena);
void pr_buf_add(pr_buf *b, const char *s, size_t n);
void pr_buf_puts(pr_buf *b, const char *terminated);
void pr_buf_putc(pr_buf *b, char c);
void pr_buf_printf(pr_buf *b, const char *format, ...) PR_PRINTF(2, 3);
void pr_buf_i128(pr_buf *b, pr_i128 v);              /* decimal */
/* JSON/MLIR style quoted string: escapes " \ and control bytes (json: \u00XX, else \XX). */
void pr_buf_quote(pr_buf *b, pr_str s, bool json);

#define PR_STR_FMT "%.*s"
#define PR_STR_ARG(x) (int)(x).n, (x).s ? (x).s : ""
#endif
