/* Threads of tensor core accumulators (front/thread_map.c) against Triton's own LinearLayout of each: tests/shm/layout_bases.py --threads prints the table.
 * A line: the layout, the shape, the number of warps, and where each bit of register, lane and warp moves. */
#include "check.h"
#include "front/thread_map.h"
#include <stdlib.h>
#include <string.h>

static const struct { const char *layout; int64_t shape[2]; int warps; const char *bases[3]; } TABLE[] = {
    { "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>", { 64, 64 }, 4, { "0,1 8,0 0,8 0,16 0,32", "0,2 0,4 1,0 2,0 4,0", "16,0 32,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>", { 128, 32 }, 4, { "0,1 8,0 0,8 0,16 64,0", "0,2 0,4 1,0 2,0 4,0", "16,0 32,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>", { 16, 8 }, 4, { "0,1 8,0", "0,2 0,4 1,0 2,0 4,0", "0,0 0,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>", { 256, 128 }, 4, { "0,1 8,0 0,8 0,16 0,32 0,64 64,0 128,0", "0,2 0,4 1,0 2,0 4,0", "16,0 32,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>", { 64, 64 }, 4, { "0,1 8,0 0,16 0,32 32,0", "0,2 0,4 1,0 2,0 4,0", "0,8 16,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>", { 128, 32 }, 4, { "0,1 8,0 0,16 32,0 64,0", "0,2 0,4 1,0 2,0 4,0", "0,8 16,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>", { 16, 8 }, 4, { "0,1 8,0", "0,2 0,4 1,0 2,0 4,0", "0,0 0,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>", { 256, 128 }, 4, { "0,1 8,0 0,16 0,32 0,64 32,0 64,0 128,0", "0,2 0,4 1,0 2,0 4,0", "0,8 16,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 4], instrShape = [16, 8]}>", { 64, 64 }, 4, { "0,1 8,0 0,32 16,0 32,0", "0,2 0,4 1,0 2,0 4,0", "0,8 0,16" } },
    { "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 4], instrShape = [16, 8]}>", { 128, 32 }, 4, { "0,1 8,0 16,0 32,0 64,0", "0,2 0,4 1,0 2,0 4,0", "0,8 0,16" } },
    { "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 4], instrShape = [16, 8]}>", { 16, 8 }, 4, { "0,1 8,0", "0,2 0,4 1,0 2,0 4,0", "0,0 0,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 4], instrShape = [16, 8]}>", { 256, 128 }, 4, { "0,1 8,0 0,32 0,64 16,0 32,0 64,0 128,0", "0,2 0,4 1,0 2,0 4,0", "0,8 0,16" } },
    { "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 8]}>", { 64, 64 }, 8, { "0,1 8,0 0,8 0,16 0,32", "0,2 0,4 1,0 2,0 4,0", "16,0 32,0 0,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 8]}>", { 128, 32 }, 8, { "0,1 8,0 0,8 0,16", "0,2 0,4 1,0 2,0 4,0", "16,0 32,0 64,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 8]}>", { 16, 8 }, 8, { "0,1 8,0", "0,2 0,4 1,0 2,0 4,0", "0,0 0,0 0,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 8]}>", { 256, 128 }, 8, { "0,1 8,0 0,8 0,16 0,32 0,64 128,0", "0,2 0,4 1,0 2,0 4,0", "16,0 32,0 64,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>", { 64, 64 }, 1, { "0,1 8,0 0,8 0,16 0,32 16,0 32,0", "0,2 0,4 1,0 2,0 4,0", "" } },
    { "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>", { 128, 32 }, 1, { "0,1 8,0 0,8 0,16 16,0 32,0 64,0", "0,2 0,4 1,0 2,0 4,0", "" } },
    { "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>", { 16, 8 }, 1, { "0,1 8,0", "0,2 0,4 1,0 2,0 4,0", "" } },
    { "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>", { 256, 128 }, 1, { "0,1 8,0 0,8 0,16 0,32 0,64 16,0 32,0 64,0 128,0", "0,2 0,4 1,0 2,0 4,0", "" } },
    { "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>", { 64, 64 }, 4, { "0,1 8,0 0,8 0,16 0,32", "0,2 0,4 1,0 2,0 4,0", "16,0 32,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>", { 128, 128 }, 4, { "0,1 8,0 0,8 0,16 0,32 0,64 64,0", "0,2 0,4 1,0 2,0 4,0", "16,0 32,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>", { 256, 64 }, 4, { "0,1 8,0 0,8 0,16 0,32 64,0 128,0", "0,2 0,4 1,0 2,0 4,0", "16,0 32,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>", { 64, 64 }, 4, { "0,1 8,0 0,8 0,16 0,32 0,0", "0,2 0,4 1,0 2,0 4,0", "16,0 32,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>", { 128, 128 }, 4, { "0,1 8,0 0,8 0,16 0,32 0,64 64,0", "0,2 0,4 1,0 2,0 4,0", "16,0 32,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>", { 256, 64 }, 4, { "0,1 8,0 0,8 0,16 0,32 0,0 64,0 128,0", "0,2 0,4 1,0 2,0 4,0", "16,0 32,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 16, 16]}>", { 64, 64 }, 4, { "0,1 8,0 0,8 0,16 0,32", "0,2 0,4 1,0 2,0 4,0", "16,0 32,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 16, 16]}>", { 128, 128 }, 4, { "0,1 8,0 0,8 0,16 0,32 0,64 64,0", "0,2 0,4 1,0 2,0 4,0", "16,0 32,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 16, 16]}>", { 256, 64 }, 4, { "0,1 8,0 0,8 0,16 0,32 64,0 128,0", "0,2 0,4 1,0 2,0 4,0", "16,0 32,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>", { 64, 64 }, 8, { "0,1 8,0 0,8 0,16 0,32", "0,2 0,4 1,0 2,0 4,0", "16,0 32,0 0,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>", { 128, 128 }, 8, { "0,1 8,0 0,8 0,16 0,32 0,64", "0,2 0,4 1,0 2,0 4,0", "16,0 32,0 64,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>", { 256, 64 }, 8, { "0,1 8,0 0,8 0,16 0,32 128,0", "0,2 0,4 1,0 2,0 4,0", "16,0 32,0 64,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 128, 16]}>", { 64, 64 }, 8, { "0,1 8,0 0,8 0,16 0,32 0,0", "0,2 0,4 1,0 2,0 4,0", "16,0 32,0 0,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 128, 16]}>", { 128, 128 }, 8, { "0,1 8,0 0,8 0,16 0,32 0,64", "0,2 0,4 1,0 2,0 4,0", "16,0 32,0 64,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 128, 16]}>", { 256, 64 }, 8, { "0,1 8,0 0,8 0,16 0,32 0,0 128,0", "0,2 0,4 1,0 2,0 4,0", "16,0 32,0 64,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 16, 16]}>", { 64, 64 }, 8, { "0,1 8,0 0,8 0,16 0,32", "0,2 0,4 1,0 2,0 4,0", "16,0 32,0 0,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 16, 16]}>", { 128, 128 }, 8, { "0,1 8,0 0,8 0,16 0,32 0,64", "0,2 0,4 1,0 2,0 4,0", "16,0 32,0 64,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 16, 16]}>", { 256, 64 }, 8, { "0,1 8,0 0,8 0,16 0,32 128,0", "0,2 0,4 1,0 2,0 4,0", "16,0 32,0 64,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 2], instrShape = [16, 64, 16]}>", { 64, 64 }, 8, { "0,1 8,0 0,8 0,16 0,32", "0,2 0,4 1,0 2,0 4,0", "16,0 32,0 0,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 2], instrShape = [16, 64, 16]}>", { 128, 128 }, 8, { "0,1 8,0 0,8 0,16 0,32 64,0", "0,2 0,4 1,0 2,0 4,0", "16,0 32,0 0,64" } },
    { "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 2], instrShape = [16, 64, 16]}>", { 256, 64 }, 8, { "0,1 8,0 0,8 0,16 0,32 64,0 128,0", "0,2 0,4 1,0 2,0 4,0", "16,0 32,0 0,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 2], instrShape = [16, 128, 16]}>", { 64, 64 }, 8, { "0,1 8,0 0,8 0,16 0,32 0,0", "0,2 0,4 1,0 2,0 4,0", "16,0 32,0 0,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 2], instrShape = [16, 128, 16]}>", { 128, 128 }, 8, { "0,1 8,0 0,8 0,16 0,32 0,64 64,0", "0,2 0,4 1,0 2,0 4,0", "16,0 32,0 0,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 2], instrShape = [16, 128, 16]}>", { 256, 64 }, 8, { "0,1 8,0 0,8 0,16 0,32 0,0 64,0 128,0", "0,2 0,4 1,0 2,0 4,0", "16,0 32,0 0,0" } },
    { "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 2], instrShape = [16, 16, 16]}>", { 64, 64 }, 8, { "0,1 8,0 0,8 0,32", "0,2 0,4 1,0 2,0 4,0", "16,0 32,0 0,16" } },
    { "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 2], instrShape = [16, 16, 16]}>", { 128, 128 }, 8, { "0,1 8,0 0,8 0,32 0,64 64,0", "0,2 0,4 1,0 2,0 4,0", "16,0 32,0 0,16" } },
    { "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 2], instrShape = [16, 16, 16]}>", { 256, 64 }, 8, { "0,1 8,0 0,8 0,32 64,0 128,0", "0,2 0,4 1,0 2,0 4,0", "16,0 32,0 0,16" } },
};

typedef struct moves { int n; int64_t at[32][2]; } moves;

static moves read(const char *s)
{
    moves m = { 0 };
    for (char *end = NULL; *s; m.n++) {
        m.at[m.n][0] = strtol(s, &end, 10);
        m.at[m.n][1] = strtol(end + 1, &end, 10);
        for (s = end; *s == ' ';) s++;
    }
    return m;
}

int main(void)
{
    int known = 0, wrong = 0, replicated = 0;
    for (size_t i = 0; i < PR_LEN(TABLE); i++) {
        int64_t bit[8][32];
        pr_str text = { TABLE[i].layout, strlen(TABLE[i].layout) };
        moves part[3];
        bool copies = false;
        for (int k = 0; k < 3; k++) {
            part[k] = read(TABLE[i].bases[k]);
            for (int b = 0; b < part[k].n; b++) copies = copies || (!part[k].at[b][0] && !part[k].at[b][1]);
        }
        bool is = pr_layout_is_injective(text, 2, TABLE[i].shape, TABLE[i].warps, 32);
        replicated += copies;
        CHECK(!is || !copies);
        if (!is || !pr_layout_threads(text, 2, TABLE[i].shape, TABLE[i].warps, 32, bit)) continue;
        known++;
        CHECK(part[1].n == 5 && 1 << part[2].n == TABLE[i].warps);
        int n = part[0].n + part[1].n + part[2].n;
        CHECK(INT64_C(1) << n == TABLE[i].shape[0] * TABLE[i].shape[1]);
        for (int64_t e = 0; e < INT64_C(1) << n; e++) {
            int64_t at[2] = { 0, 0 }, left = e, thread = 0;
            for (int k = 0; k < 3; k++) {
                for (int b = 0; b < part[k].n; b++, left >>= 1) {
                    if (!(left & 1)) continue;
                    at[0] ^= part[k].at[b][0];
                    at[1] ^= part[k].at[b][1];
                    thread |= k ? INT64_C(1) << (k == 1 ? b : 5 + b) : 0;
                }
            }
            for (int d = 0; d < 2; d++)
                for (int k = 0; at[d] >> k; k++)
                    if (at[d] >> k & 1) thread ^= bit[d][k];
            wrong += thread != 0;
        }
    }
    printf("%d accumulators of %d, %d with copies\n", known, (int)PR_LEN(TABLE), replicated);
    CHECK(!wrong);
    CHECK(known >= 25 && replicated >= 5);
    static const char *const unread[] = { "#ttg.nvidia_mma<{versionMajor = 1, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 16]}>",
                                          "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>",
                                          "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 1], instrShape = [16, 8]}>",
                                          "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], CGALayout = [[1, 0]], instrShape = [16, 64, 16]}>" };
    for (size_t i = 0; i < PR_LEN(unread); i++)
        CHECK(!pr_layout_is_injective((pr_str){ unread[i], strlen(unread[i]) }, 2, (int64_t[]){ 128, 128 }, 4, 32));
    return check_done();
}
