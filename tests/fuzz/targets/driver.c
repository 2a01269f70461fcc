/* Stand-alone driver of a fuzz target, for compilers without libFuzzer.
 *
 *   TARGET [--runs=N] [--seed=N] [--max-size=N] [--text=0|1|2] [--keep=FILE] FILE-OR-FOLDER...
 *
 * Replays every file, then changes them at random N times: bytes, or with --text words, numbers and lines (2: always,
 * 1: in half of the inputs). The run depends on the seed and the files alone.
 * --keep writes each input before it is tried, so that the one that crashes is left behind. */
#include <dirent.h>
#include <stdbool.h>
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

static int visible(const struct dirent *e) { return e->d_name[0] != '.'; }
static void load(const char *path)
{
    struct dirent **names;
    int count = scandir(path, &names, visible, alphasort);
    if (count >= 0) { /* a folder */
        for (int i = 0; i < count; i++) {
            char inside[4096];
            snprintf(inside, sizeof inside, "%s/%s", path, names[i]->d_name);
            load(inside);
            free(names[i]);
        }
        free(names);
        return;
    }
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

static bool in_word(uint8_t c) { return c == '_' || c == '.' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
/* The word or number at or behind a random place of data[0..n): *length is 0 when there is none. */
static size_t word(const uint8_t *data, size_t n, size_t *length)
{
    size_t from = below(n + 1), to;
    while (from < n && !in_word(data[from])) from++;
    while (from > 0 && from < n && in_word(data[from - 1])) from--;
    for (to = from; to < n && in_word(data[to]); to++) {}
    *length = to - from;
    return from;
}
/* buf[at..at+length) becomes with[0..k). */
static size_t splice(uint8_t *buf, size_t n, size_t cap, size_t at, size_t length, const void *with, size_t k)
{
    if (k > cap - (n - length)) k = cap - (n - length);
    memmove(buf + at + k, buf + at + length, n - at - length);
    memcpy(buf + at, with, k);
    return n - length + k;
}
static bool is_number(const uint8_t *data, size_t at, size_t length)
{
    for (size_t i = at; i < at + length; i++)
        if (data[i] < '0' || data[i] > '9') return false;
    return length > 0;
}
/* A value that is used, not defined: %x without a = behind it. */
static bool is_operand(const uint8_t *data, size_t n, size_t at, size_t length)
{
    return length && at && data[at - 1] == '%' && !(at + length + 1 < n && data[at + length + 1] == '=');
}
/* Changes that often leave a text that is still read: words, numbers and lines. */
static size_t change_text(uint8_t *buf, size_t n, size_t cap)
{
    static const char *const numbers[] = { "0", "1", "2", "3", "4", "7", "8", "16", "31", "32", "64", "127", "128", "1024", "-1", "2147483647", "4294967296" };
    size_t length, at = word(buf, n, &length), k;
    unsigned how = next() % 16;
    if (how < 6) { /* a number */
        for (int tries = 0; tries < 32 && !is_number(buf, at, length); tries++) at = word(buf, n, &length);
        const char *x = numbers[below(sizeof numbers / sizeof *numbers)];
        return splice(buf, n, cap, at, length, x, strlen(x));
    }
    if (how < 14) { /* a word: one of this input, or of another one; mostly a value in place of a value */
        bool value = how < 12;
        const input *from = &inputs[below(n_inputs)];
        const uint8_t *other = value || next() % 4 ? buf : from->data;
        size_t other_n = other == buf ? n : from->n, start = word(other, other_n, &k);
        for (int tries = 0; value && tries < 32 && !is_operand(buf, n, at, length); tries++) at = word(buf, n, &length);
        for (int tries = 0; value && tries < 32 && (!start || other[start - 1] != '%'); tries++) start = word(other, other_n, &k);
        uint8_t copy[64];
        if (k > sizeof copy) k = sizeof copy;
        memcpy(copy, other + start, k);
        return splice(buf, n, cap, at, length, copy, k);
    }
    size_t start = at, end = at; /* a line goes, or comes again */
    while (start > 0 && buf[start - 1] != '\n') start--;
    while (end < n && buf[end++] != '\n') {}
    if (next() % 2) return splice(buf, n, cap, start, end - start, "", 0);
    uint8_t line[512];
    k = end - start < sizeof line ? end - start : sizeof line;
    memcpy(line, buf + start, k);
    size_t to = below(n + 1);
    while (to > 0 && buf[to - 1] != '\n') to--;
    return splice(buf, n, cap, to, 0, line, k);
}

/* One change of buf[0..n), which has room for cap bytes; the new length. */
static size_t change(uint8_t *buf, size_t n, size_t cap, bool is_text)
{
    static const char likely[] = "(){}<>[]:,=%@#\"!^ \n0123456789-xi";
    size_t at = below(n + 1), length = 1 + below(next() % 4 ? 8 : 200);
    if (is_text) return change_text(buf, n, cap);
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
    int text = 0; /* 2: words and lines are changed, 1: in half of the inputs, 0: bytes only */
    const char *keep = NULL;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--runs=", 7) == 0) runs = strtoull(argv[i] + 7, NULL, 0);
        else if (strncmp(argv[i], "--seed=", 7) == 0) seed = strtoull(argv[i] + 7, NULL, 0);
        else if (strncmp(argv[i], "--max-size=", 11) == 0) max_size = strtoull(argv[i] + 11, NULL, 0);
        else if (strncmp(argv[i], "--text=", 7) == 0) text = atoi(argv[i] + 7);
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
        bool words = text == 2 || (text == 1 && next() % 2);
        for (unsigned t = 1 + next() % (words ? 2 : 4); t; t--) n = change(work, n, max_size, words);
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
