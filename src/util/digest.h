/* Content digest: BLAKE2b (RFC 7693) with 32 bytes. Equal digests stand for equal contents. */
#ifndef PR_UTIL_DIGEST_H
#define PR_UTIL_DIGEST_H
#include <stddef.h>
#include <stdint.h>

enum { PR_DIGEST_BYTES = 32 };
typedef struct pr_digest {
    uint64_t h[8], count;
    unsigned char block[128];
    size_t n; /* bytes in the block */
} pr_digest;

void pr_digest_init(pr_digest *d);
void pr_digest_add(pr_digest *d, const void *data, size_t n);
/* The digest of what was added so far; more may follow. */
void pr_digest_now(const pr_digest *d, unsigned char out[PR_DIGEST_BYTES]);
#endif
