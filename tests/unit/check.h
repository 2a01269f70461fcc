/* Assertions of the unit tests: print file:line, count, go on. A test program ends with
 * `return check_done();`. */
#ifndef PR_TESTS_CHECK_H
#define PR_TESTS_CHECK_H
#include <stdio.h>

static int check_failures, check_count;

#define CHECK(condition)                                                                      \
    do {                                                                                      \
        check_count++;                                                                        \
        if (!(condition)) {                                                                   \
            check_failures++;                                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                   \
        }                                                                                     \
    } while (0)

static inline int check_done(void)
{
    if (check_failures) fprintf(stderr, "%d of %d checks failed\n", check_failures, check_count);
    return check_failures ? 1 : 0;
}
#endif
