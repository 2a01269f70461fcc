/* A thread that watches a flag and a clock while a library call runs that can only be stopped from outside. */
#ifndef PR_UTIL_WATCH_H
#define PR_UTIL_WATCH_H
#include "util/base.h"

typedef struct pr_watch pr_watch;
/* Calls stop(user), again and again until the end, after limit_ms (0 = no limit) or when *interrupt becomes non-zero (null =
 * never). Null without either, and when no thread can be started. */
pr_watch *pr_watch_start(int64_t limit_ms, const pr_flag *interrupt, void (*stop)(void *user), void *user);
bool pr_watch_end(pr_watch *w);                  /* was stop called? null is fine */
#endif
