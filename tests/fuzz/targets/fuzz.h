/* One fuzz target: bytes in, properties checked. Linked with driver.c (any compiler) or, with clang and
 * -Dfuzzer=true, with libFuzzer. */
#ifndef PR_FUZZ_H
#define PR_FUZZ_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A violated property ends the process, as a crash does. */
#define FUZZ_CHECK(condition, ...)                                                           \
    do {                                                                                     \
        if (!(condition)) {                                                                  \
            fprintf(stderr, "%s:%d: property violated: %s: ", __FILE__, __LINE__, #condition); \
            fprintf(stderr, __VA_ARGS__);                                                    \
            fputc('\n', stderr);                                                             \
            abort();                                                                         \
        }                                                                                    \
    } while (0)
#endif
