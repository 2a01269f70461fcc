/* Stand-alone driver of a fuzz target, for compilers without libFuzzer.
 *
 *   TARGET [--runs=N] [--seed=N] [--max-size=N] [--keep=FILE] FILE...
 *
 * Replays every file, then changes them at random N times. The run depends on the seed and the files alone.
 * --keep writes each input before it is tried, so that the one that crashes is left behind. */
#include <string.h>
#include "fuzz.h"

typedef struct input { uint8_t *data; size_t n; } input;
static input *inputs;
static size_t n_inputs;
static uint64_t state;

static uint32_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 20);
}
static size_t below(size_t n) { return n ? next() % n : 0; }

static void load(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(2);
    }
    size_t cap = 1 << 20;
    uint8_t *data = malloc(cap);
    if (!data) exit(2);
    size_t n = fread(data, 1, cap, f);
    fclose(f);
    inputs = realloc(inputs, sizeof *inputs * (n_inputs + 1));
    if (!inputs) exit(2);
    inputs[n_inputs++] = (input){ data, n };
}

/* One change of buf[0..n), which has room for cap bytes; the new length. */
static size_t change(uint8_t *buf, size_t n, size_t cap)
{
    static const char likely[] = "(){}<>[]:,=%@#\"!^ \n0123456789-xi";
    size_t at = below(n + 1), length = 1 + below(next() % 4 ? 8 : 200);
    switch (next() % 7) {
    case 0: if (n) buf[below(n)] = (uint8_t)next(); return n;
    case 1: if (n) buf[below(n)] = (uint8_t)likely[below(sizeof likely - 1)]; return n;
    case 2: if (n) buf[below(n)] ^= (uint8_t)(1u << next() % 8); return n;
    case 3: /* cut a piece out */
        if (length > n - at) length = n - at;
        memmove(buf + at, buf + at + length, n - at - length);
        return n - length;
    case 4: /* the end is missing */
        return next() % 8 ? n : at;
    default: { /* a piece of some input, often this one, goes in */
        const input *from = &inputs[below(n_inputs)];
        size_t start = below(from->n + 1);
        if (length > from->n - start) length = from->n - start;
        if (length > cap - n) length = cap - n;
        memmove(buf + at + length, buf + at, n - at);
        memcpy(buf + at, from->data + start, length);
        return n + length;
    }
    }
}

int main(int argc, char **argv)
{
    uint64_t runs = 0, seed = 1;
    size_t max_size = 4096;
    const char *keep = NULL;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--runs=", 7) == 0) runs = strtoull(argv[i] + 7, NULL, 0);
        else if (strncmp(argv[i], "--seed=", 7) == 0) seed = strtoull(argv[i] + 7, NULL, 0);
        else if (strncmp(argv[i], "--max-size=", 11) == 0) max_size = strtoull(argv[i] + 11, NULL, 0);
        else if (strncmp(argv[i], "--keep=", 7) == 0) keep = argv[i] + 7;
        else load(argv[i]);
    }
    if (!n_inputs) {
        fprintf(stderr, "%s: no inputs\n", argv[0]);
        return 2;
    }
    state = seed * 0x9e3779b97f4a7c15u + 88172645463325252u;
    for (size_t i = 0; i < n_inputs; i++) LLVMFuzzerTestOneInput(inputs[i].data, inputs[i].n);
    uint8_t *work = malloc(max_size + 1);
    if (!work) return 2;
    for (uint64_t k = 0; k < runs; k++) {
        const input *from = &inputs[below(n_inputs)];
        size_t n = from->n < max_size ? from->n : max_size;
        memcpy(work, from->data, n);
        for (unsigned t = 1 + next() % 4; t; t--) n = change(work, n, max_size);
        if (keep) {
            FILE *f = fopen(keep, "wb");
            if (f) {
                fwrite(work, 1, n, f);
                fclose(f);
            }
        }
        uint8_t *exact = malloc(n ? n : 1); /* its own block: a read past the end is seen */
        if (!exact) return 2;
        memcpy(exact, work, n);
        LLVMFuzzerTestOneInput(exact, n);
        free(exact);
    }
    printf("%zu inputs replayed, %llu changed ones, seed %llu\n", n_inputs, (unsigned long long)runs, (unsigned long long)seed);
    for (size_t i = 0; i < n_inputs; i++) free(inputs[i].data);
    free(inputs);
    free(work);
    return 0;
}
