/* Two contexts in two threads: the same verdicts, byte for byte, as one after the other, and no lock between them (a context
 * works while another one is inside a question that does not end). Race free under ThreadSanitizer (docs/testing.md).
 *
 * usage: test_threads PATTERN (of launch files) */
#undef NDEBUG
#define _POSIX_C_SOURCE 200809L
#include <assert.h>
#include <glob.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "polyrace/polyrace.h"

typedef struct text { char *data; size_t n; } text;

static void collect(void *user, const char *s, size_t n)
{
    text *t = user;
    t->data = realloc(t->data, t->n + n + 1);
    assert(t->data);
    memcpy(t->data + t->n, s, n);
    t->data[t->n += n] = 0;
}

static text file(const char *path)
{
    text t = { 0 };
    char part[65536];
    FILE *f = fopen(path, "rb");
    assert(f);
    for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;) collect(&t, part, n);
    fclose(f);
    return t;
}

/* ---- the same bytes --------------------------------------------------------------------------- */
enum { MOST = 4096 };
typedef struct worker {
    char **path;
    int n, first, step;              /* order of the files: the threads meet different ones            */
    const char *engine;
    text answer[MOST];
} worker;

static void decide(worker *w, polyrace_context *c, int i)
{
    polyrace_error e = { 0 };
    polyrace_options o;
    polyrace_sink sink = { collect, &w->answer[i] };
    text t = file(w->path[i]);
    char dir[4096];
    snprintf(dir, sizeof dir, "%s", w->path[i]);
    char *slash = strrchr(dir, '/');
    if (slash) *slash = 0;
    polyrace_launch *l = polyrace_launch_parse_json(c, t.data, t.n, slash ? dir : "", &e);
    assert(l);
    polyrace_options_init(&o);
    if (w->engine) assert(polyrace_options_set(&o, "engine", w->engine, &e) == POLYRACE_OK);
    polyrace_verdict *v = polyrace_check(c, NULL, l, &o, &e);
    assert(v);
    assert(polyrace_verdict_write(v, POLYRACE_FORMAT_TEXT, &sink, &e) == POLYRACE_OK);
    polyrace_verdict_free(v);
    polyrace_launch_free(l);
    free(t.data);
}

static void *work(void *user)
{
    worker *w = user;
    polyrace_context *c = polyrace_context_new();
    assert(c);
    for (int k = 0; k < w->n; k++) decide(w, c, (w->first + k * w->step) % w->n);
    polyrace_context_free(c);
    return NULL;
}

static void same_bytes(char **path, int n, const char *engine)
{
    worker *w = calloc(3, sizeof *w);
    pthread_t t[2];
    assert(w && n > 0 && n <= MOST);
    for (int k = 0; k < 3; k++) w[k] = (worker){ .path = path, .n = n, .first = k == 1 ? n - 1 : 0, .step = k == 1 ? n - 1 : 1, .engine = engine };
    for (int k = 0; k < 2; k++) assert(pthread_create(&t[k], NULL, work, &w[k]) == 0);
    for (int k = 0; k < 2; k++) pthread_join(t[k], NULL);
    work(&w[2]);
    for (int i = 0; i < n; i++) {
        assert(w[2].answer[i].n > 0);
        for (int k = 0; k < 2; k++)
            assert(w[k].answer[i].n == w[2].answer[i].n && memcmp(w[k].answer[i].data, w[2].answer[i].data, w[2].answer[i].n) == 0);
        for (int k = 0; k < 3; k++) free(w[k].answer[i].data);
    }
    free(w);
}

/* ---- no lock ---------------------------------------------------------------------------------- */
/* A store under linear equations over the indices of 20 nested loops: no engine ends on it soon. */
static void endless(text *t)
{
    enum { LOOPS = 20, ROWS = 3, EXTENT = 5 };
    char line[256];
    unsigned x = 7;
    int sum[ROWS] = { 0 };
#define PUT(...) (snprintf(line, sizeof line, __VA_ARGS__), collect(t, line, strlen(line)))
    PUT("module {\ntt.func public @k(%%p: !tt.ptr<i32>) {\n%%pid = tt.get_program_id x : i32\n");
    for (int v = 0; v <= EXTENT; v++) PUT("%%c%d = arith.constant %d : i32\n", v, v);
    for (int j = 0; j < LOOPS; j++) PUT("scf.for %%x%d = %%c0 to %%c%d step %%c1 : i32 {\n", j, EXTENT);
    for (int r = 0; r < ROWS; r++) {
        for (int j = 0; j < LOOPS; j++) {
            int k = 1 + (int)((x = x * 1103515245u + 12345u) >> 16) % 1000;
            sum[r] += k;
            PUT("%%k%d_%d = arith.constant %d : i32\n%%m%d_%d = arith.muli %%x%d, %%k%d_%d : i32\n", r, j, k, r, j, j, r, j);
            if (j) PUT("%%s%d_%d = arith.addi %%%s%d_%d, %%m%d_%d : i32\n", r, j, j > 1 ? "s" : "m", r, j - 1, r, j);
        }
        PUT("%%d%d = arith.constant %d : i32\n%%e%d = arith.cmpi eq, %%s%d_%d, %%d%d : i32\n", r, sum[r] * (EXTENT - 1) / 2, r, r,
            LOOPS - 1, r);
        if (r) PUT("%%b%d = arith.andi %%%s%d, %%e%d : i1\n", r, r > 1 ? "b" : "e", r - 1, r);
    }
    PUT("scf.if %%b%d {\ntt.store %%p, %%pid : !tt.ptr<i32>\n}\n", ROWS - 1);
    for (int j = 0; j < LOOPS; j++) PUT("}\n");
    PUT("tt.return\n}\n}\n");
#undef PUT
}

typedef struct captive {
    polyrace_context *c;
    const char *engine;
    atomic_int ended;
    bool inside;
} captive;

static void *busy(void *user)
{
    captive *k = user;
    text t = { 0 };
    polyrace_error e = { 0 };
    polyrace_options o;
    int64_t shape[1] = { 64 };
    endless(&t);
    polyrace_module *m = polyrace_module_parse(k->c, t.data, t.n, "endless", &e);
    assert(m);
    polyrace_launch *l = polyrace_launch_new(k->c, "k", &e);
    assert(l && polyrace_launch_set_grid(l, 4, 1, 1, &e) == POLYRACE_OK);
    polyrace_tensor p = { .dtype = "int32", .ptr = 4096, .rank = 1, .shape = shape };
    assert(polyrace_launch_add_tensor(l, "p", &p, &e) == POLYRACE_OK);
    polyrace_options_init(&o);
    assert(polyrace_options_set(&o, "engine", k->engine, &e) == POLYRACE_OK);
    o.no_pretest = 1;
    assert(polyrace_options_set(&o, "max-ops", "1000000000", &e) == POLYRACE_OK);
    assert(polyrace_options_set(&o, "first-ops", "1000000000", &e) == POLYRACE_OK);
    assert(polyrace_options_set(&o, "z3-rlimit", "1000000000", &e) == POLYRACE_OK);
    polyrace_verdict *v = polyrace_check(k->c, m, l, &o, &e);
    k->inside = !v && e.kind == POLYRACE_INTERRUPTED;
    atomic_store(&k->ended, 1);
    free(t.data);
    return NULL;
}

static void no_lock(char **path, int n, const char *engine, const char *other)
{
    captive k = { .c = polyrace_context_new(), .engine = engine };
    pthread_t t;
    assert(k.c && pthread_create(&t, NULL, busy, &k) == 0);
    nanosleep(&(struct timespec){ .tv_nsec = 300000000 }, NULL);
    worker *w = calloc(1, sizeof *w);
    assert(w);
    *w = (worker){ .path = path, .n = n, .step = 1, .engine = other };
    work(w);                         /* ends although the other context is at work */
    assert(!atomic_load(&k.ended));
    for (int i = 0; i < w->n; i++) free(w->answer[i].data);
    free(w);
    polyrace_interrupt(k.c);
    pthread_join(t, NULL);
    assert(k.inside);
    polyrace_context_free(k.c);
}

int main(int argc, char **argv)
{
    enum { EVERY = 3, FEW = 40 };
    bool z3 = polyrace_engine_version("z3") != NULL;
    glob_t found;
    char *path[MOST];
    int n = 0;
    assert(argc == 2 && glob(argv[1], 0, NULL, &found) == 0);
    for (size_t i = 0; i < found.gl_pathc && n < MOST; i += EVERY) path[n++] = found.gl_pathv[i];
    same_bytes(path, n, NULL);
    no_lock(path, n < FEW ? n : FEW, "isl", NULL);
    if (z3) {
        same_bytes(path, n < FEW ? n : FEW, "z3");
        no_lock(path, n < FEW ? n : FEW, "z3", NULL);
        no_lock(path, n < FEW ? n : FEW, "isl", "z3");
    }
    globfree(&found);
    return 0;
}
