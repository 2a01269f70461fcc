/* BLAKE2b of RFC 7693, unkeyed, 32 bytes. Lengths below 2^64. */
#include "util/digest.h"
#include <string.h>

static const uint64_t start[8] = { 0x6a09e667f3bcc908u, 0xbb67ae8584caa73bu, 0x3c6ef372fe94f82bu, 0xa54ff53a5f1d36f1u,
                                   0x510e527fade682d1u, 0x9b05688c2b3e6c1fu, 0x1f83d9abfb41bd6bu, 0x5be0cd19137e2179u };
static const uint8_t sigma[10][16] = {
    { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 }, { 14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3 },
    { 11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4 }, { 7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8 },
    { 9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13 }, { 2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9 },
    { 12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11 }, { 13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10 },
    { 6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5 }, { 10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0 },
};

static uint64_t turn(uint64_t v, int by) { return v >> by | v << (64 - by); }

static uint64_t word(const unsigned char *p)
{
    uint64_t v = 0;
    for (int i = 7; i >= 0; i--) v = v << 8 | p[i];
    return v;
}

#define MIX(a, b, c, d, x, y)                                                                 \
    do {                                                                                      \
        v[a] += v[b] + (x);                                                                   \
        v[d] = turn(v[d] ^ v[a], 32);                                                         \
        v[c] += v[d];                                                                         \
        v[b] = turn(v[b] ^ v[c], 24);                                                         \
        v[a] += v[b] + (y);                                                                   \
        v[d] = turn(v[d] ^ v[a], 16);                                                         \
        v[c] += v[d];                                                                         \
        v[b] = turn(v[b] ^ v[c], 63);                                                         \
    } while (0)

static void compress(uint64_t h[8], const unsigned char *block, uint64_t count, int last)
{
    uint64_t v[16], m[16];
    for (int i = 0; i < 16; i++) m[i] = word(block + 8 * i);
    for (int i = 0; i < 8; i++) v[i] = h[i], v[i + 8] = start[i];
    v[12] ^= count;
    if (last) v[14] = ~v[14];
    for (int round = 0; round < 12; round++) {
        const uint8_t *s = sigma[round % 10];
        MIX(0, 4, 8, 12, m[s[0]], m[s[1]]);
        MIX(1, 5, 9, 13, m[s[2]], m[s[3]]);
        MIX(2, 6, 10, 14, m[s[4]], m[s[5]]);
        MIX(3, 7, 11, 15, m[s[6]], m[s[7]]);
        MIX(0, 5, 10, 15, m[s[8]], m[s[9]]);
        MIX(1, 6, 11, 12, m[s[10]], m[s[11]]);
        MIX(2, 7, 8, 13, m[s[12]], m[s[13]]);
        MIX(3, 4, 9, 14, m[s[14]], m[s[15]]);
    }
    for (int i = 0; i < 8; i++) h[i] ^= v[i] ^ v[i + 8];
}

void pr_digest_init(pr_digest *d)
{
    memset(d, 0, sizeof *d);
    memcpy(d->h, start, sizeof d->h);
    d->h[0] ^= 0x01010000u ^ PR_DIGEST_BYTES;
}

void pr_digest_add(pr_digest *d, const void *data, size_t n)
{
    const unsigned char *p = data;
    while (n) {
        if (d->n == sizeof d->block) { /* kept until more follows: the last block is marked */
            d->count += d->n;
            compress(d->h, d->block, d->count, 0);
            d->n = 0;
        }
        size_t part = sizeof d->block - d->n < n ? sizeof d->block - d->n : n;
        memcpy(d->block + d->n, p, part);
        d->n += part;
        p += part;
        n -= part;
    }
}

void pr_digest_now(const pr_digest *d, unsigned char out[PR_DIGEST_BYTES])
{
    uint64_t h[8];
    unsigned char block[128] = { 0 };
    memcpy(h, d->h, sizeof h);
    memcpy(block, d->block, d->n);
    compress(h, block, d->count + d->n, 1);
    for (int i = 0; i < PR_DIGEST_BYTES; i++) out[i] = (unsigned char)(h[i / 8] >> 8 * (i % 8));
}
