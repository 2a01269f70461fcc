/* Damaged inputs, many of them, through the public library.
 *
 *   mangle TTIR JSON [SEED [FLIPS]]
 *
 * The text and the launch are cut at every byte, then bytes are changed at random. A cut input is an error
 * with a line, or undecided; it is never `ok`. A changed input may mean something else and be decided, but
 * nothing may crash, hang (the harness has an alarm) or end in an internal error. Leaks are found by the
 * sanitizer build. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "polyrace/polyrace.h"

static int failures;
static long outcomes[6];

static char *slurp(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(2);
    }
    size_t cap = 1 << 22;
    char *s = malloc(cap);
    *n = s ? fread(s, 1, cap - 1, f) : 0;
    fclose(f);
    if (!s) exit(2);
    s[*n] = 0;
    return s;
}
static void fail(const char *what, size_t at, const char *detail)
{
    if (++failures <= 20) printf("FAIL %s, byte %zu: %s\n", what, at, detail);
}
/* -1: error, else the status. */
static int run(const char *what, size_t at, const char *text, size_t n, const char *json, size_t m)
{
    polyrace_error err = { 0 };
    polyrace_context *c = polyrace_context_new();
    polyrace_options o;
    polyrace_options_init(&o);
    o.t0_timeout_ms = 2000;
    o.t1_timeout_ms = 4000;
    o.budget_ms = 5000;
    o.max_ops = 4000;
    o.z3_rlimit = 50000;
    int status = -1;
    polyrace_module *mod = polyrace_module_parse(c, text, n, "damaged.ttir", &err);
    polyrace_launch *l = mod ? polyrace_launch_parse_json(c, json, m, ".", &err) : NULL;
    polyrace_verdict *v = l ? polyrace_check(c, mod, l, &o, &err) : NULL;
    if (v) {
        status = (int)polyrace_verdict_status(v);
        outcomes[status]++;
        if (polyrace_verdict_has_internal_error(v)) fail(what, at, "internal error in the verdict");
    } else {
        outcomes[4]++;
        if (err.kind == POLYRACE_OK) fail(what, at, "no verdict and no error");
        if (err.kind == POLYRACE_INTERNAL || err.kind == POLYRACE_MEMORY) fail(what, at, err.message);
        if (err.kind == POLYRACE_BAD_INPUT && err.message[0] == 0) fail(what, at, "an error without a message");
        if (err.kind == POLYRACE_BAD_INPUT && !mod && err.line < 1) fail(what, at, "an error without a line");
    }
    polyrace_context_free(c);
    return status;
}
static unsigned next(unsigned long long *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return (unsigned)(*s >> 20);
}

int main(int argc, char **argv)
{
    if (argc < 3) return 2;
    size_t n, m;
    char *text = slurp(argv[1], &n), *json = slurp(argv[2], &m);
    unsigned long long seed = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;
    long flips = argc > 4 ? strtol(argv[4], NULL, 0) : 3000;
    size_t end = n;
    while (end && (text[end - 1] == '\n' || text[end - 1] == ' ')) end--;
    alarm(1200);
    if (run("whole", 0, text, n, json, m) < 0) fail("whole", 0, "rejected");
    for (size_t i = 0; i < end; i++) {
        char *cut = malloc(i + 1);                 /* exact size: a read past the end is seen */
        if (!cut) return 2;
        memcpy(cut, text, i);
        if (run("cut text", i, cut, i, json, m) == POLYRACE_STATUS_OK) fail("cut text", i, "ok");
        free(cut);
    }
    size_t jend = m;
    while (jend && (json[jend - 1] == '\n' || json[jend - 1] == ' ')) jend--;
    for (size_t i = 0; i < jend; i++) {
        char *cut = malloc(i + 1);
        if (!cut) return 2;
        memcpy(cut, json, i);
        if (run("cut launch", i, text, n, cut, i) >= 0) fail("cut launch", i, "accepted");
        free(cut);
    }
    seed = seed * 0x9e3779b97f4a7c15u + 88172645463325252u;
    char *copy = malloc(n + 1);
    if (!copy) return 2;
    for (long k = 0; k < flips; k++) {
        memcpy(copy, text, n + 1);
        int times = 1 + (int)(next(&seed) % 3);
        size_t at = 0;
        for (int t = 0; t < times; t++) {
            at = next(&seed) % n;
            static const char likely[] = "(){}<>[]:,=%@#\"0123456789-x \n";
            copy[at] = next(&seed) % 3 ? likely[next(&seed) % (sizeof likely - 1)] : (char)next(&seed);
        }
        run("changed text", at, copy, n, json, m);
    }
    free(copy);
    copy = malloc(m + 1);
    if (!copy) return 2;
    for (long k = 0; k < flips / 2; k++) {
        memcpy(copy, json, m + 1);
        size_t at = next(&seed) % m;
        copy[at] = next(&seed) % 2 ? "0123456789-[]{}\",:null"[next(&seed) % 22] : (char)next(&seed);
        run("changed launch", at, text, n, copy, m);
    }
    free(copy);
    printf("%s: %zu + %zu bytes; ok %ld, races %ld, unsupported %ld, vacuous %ld, errors %ld; %d failures\n", argv[1], n, m,
           outcomes[0], outcomes[1], outcomes[2], outcomes[3], outcomes[4], failures);
    free(text);
    free(json);
    return failures ? 1 : 0;
}
