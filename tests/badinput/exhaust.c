/* Memory that runs out, at every allocation.
 *
 *   exhaust memory STEP LAUNCH...     the n-th allocation of our code fails, for n = 1, 1 + STEP, ...
 *   exhaust budget STEP LAUNCH...     --max-memory is n KiB, for n = 4, 4 + STEP, ...
 *   exhaust cli STEP ARGUMENTS...     as memory, of the whole program, in a process each: ARGUMENTS are command lines, one an argument
 *
 * LAUNCH is a launch file or a .ttgir text; a word before it says what is done: "check:" (the default), "bare:"
 * (check by isl alone), "z3:" (check by Z3 alone), "explain:", "replay:", "consan:", "isl:" and "smt2:" (dumps). Every run ends with the output of a run that has enough, or with the error "out of memory"
 * (with a budget: a refusal of that name); never in a crash, a hang or another verdict, and nothing stays behind:
 * this program is malloc for all libraries, so it counts the blocks that are left when the context is gone.
 *
 * Only allocations that the program itself asks for are made to fail (our code is linked statically, jansson is
 * told to ask us): isl, GMP and Z3 end the process when theirs fail. "all" before STEP fails those of the libraries
 * too, each in a process of its own, and prints how the runs ended. */
#define _GNU_SOURCE
#include <jansson.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "polyrace/polyrace.h"

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);
extern char __executable_start, etext;

static atomic_long live, asked, fails_at; /* fails_at 0: never */
static bool lasting, everywhere;          /* everything after it fails as well; libraries too */
static const char *running = "";

static bool refuse(const void *caller)
{
    const char *from = caller;
    if (!everywhere && (from < &__executable_start || from >= &etext)) return false;
    long n = atomic_fetch_add(&asked, 1) + 1, at = fails_at;
    return at && (lasting ? n >= at : n == at);
}

void *malloc(size_t n)
{
    void *p = refuse(__builtin_return_address(0)) ? NULL : __libc_malloc(n);
    live += p != NULL;
    return p;
}
void *calloc(size_t n, size_t m)
{
    void *p = refuse(__builtin_return_address(0)) ? NULL : __libc_calloc(n, m);
    live += p != NULL;
    return p;
}
void *realloc(void *old, size_t n)
{
    void *p = refuse(__builtin_return_address(0)) ? NULL : __libc_realloc(old, n);
    if (p && !old) live++;
    else if (!p && old && !n) live--;
    return p;
}
void free(void *p)
{
    live -= p != NULL;
    __libc_free(p);
}
void *memalign(size_t a, size_t n)
{
    void *p = __libc_memalign(a, n);
    live += p != NULL;
    return p;
}
/* No block for the first chunks (util/arena.c): each of them is an allocation that can fail. */
void *aligned_alloc(size_t a, size_t n) { return a == 2 << 20 ? NULL : memalign(a, n); }
int posix_memalign(void **out, size_t a, size_t n) { return (*out = memalign(a, n)) ? 0 : 12; }

static void *json_malloc(size_t n)
{
    void *volatile p = malloc(n); /* no tail call: the caller is here */
    return p;
}
static void json_free(void *p) { free(p); }

/* ---- one run -------------------------------------------------------------------------------- */
typedef struct text { char *s; size_t n, cap; } text;

static void put(void *user, const char *s, size_t n) /* into memory reserved before */
{
    text *t = user;
    if (t->n + n > t->cap) abort();
    memcpy(t->s + t->n, s, n);
    t->n += n;
}

typedef enum { CHECK, BARE, Z3, EXPLAIN, REPLAY, CONSAN, ISL, SMT2 } what;
static const char *const words[] = { "check", "bare", "z3", "explain", "replay", "consan", "isl", "smt2" };

typedef struct input { what what; const char *path; char dir[512], *s; size_t n; bool gpu; } input;
typedef struct ended { polyrace_error err; bool budget; } ended;

/* Appends what is written to out. */
static void run(const input *in, int64_t max_memory, text *out, ended *end)
{
    *end = (ended){ 0 };
    out->n = 0;
    polyrace_error *err = &end->err;
    polyrace_sink sink = { put, out };
    polyrace_context *c = polyrace_context_new();
    if (!c) {
        err->kind = POLYRACE_MEMORY;
        return;
    }
    polyrace_options o;
    polyrace_options_init(&o);
    o.max_memory = max_memory;
    polyrace_launch *l = NULL;
    polyrace_module *m = NULL;
    if (in->gpu) m = polyrace_module_parse_ttgir(c, in->s, in->n, in->path, &o, err);
    else l = polyrace_launch_parse_named(c, in->s, in->n, in->path, in->dir, 0, err);
    if (l || m) {
        polyrace_replay_result replay;
        polyrace_consan_result consan;
        polyrace_consan_options how = { .epoch = POLYRACE_CONSAN_CURRENT, .schedules = 20, .seed = 1, .max_trips = 4, .format = POLYRACE_FORMAT_TEXT };
        polyrace_verdict *v = NULL;
        switch (in->what) {
        case BARE:
        case Z3:
            o.no_pretest = 1;
            o.engine = in->what == Z3 ? POLYRACE_ENGINE_Z3 : POLYRACE_ENGINE_ISL; /* fall through */
        case CHECK:
            v = polyrace_check(c, m, l, &o, err);
            for (size_t i = 0; v && i < polyrace_verdict_refusal_count(v); i++) {
                polyrace_refusal f = { 0 };
                if (polyrace_verdict_refusal(v, i, &f) != POLYRACE_OK) err->kind = POLYRACE_MEMORY;
                else if (strcmp(f.kind, "budget") == 0 && strstr(f.message, "--max-memory")) end->budget = true;
            }
            if (v && err->kind == POLYRACE_OK) polyrace_verdict_write(v, POLYRACE_FORMAT_TEXT, &sink, err);
            polyrace_verdict_free(v);
            break;
        case EXPLAIN: polyrace_explain(c, m, l, &o, POLYRACE_FORMAT_TEXT, &sink, NULL, err); break;
        case REPLAY: polyrace_replay(c, m, l, &o, POLYRACE_REPLAY_FOOTPRINTS, &sink, &replay, err); break;
        case CONSAN: polyrace_consan(c, m, l, &o, &how, &sink, &consan, err); break;
        case ISL: polyrace_dump(c, m, l, &o, POLYRACE_STAGE_ISL, &sink, err); break;
        case SMT2: polyrace_dump(c, m, l, &o, POLYRACE_STAGE_SMT2, &sink, err); break;
        }
    }
    polyrace_launch_free(l);
    polyrace_module_free(m);
    polyrace_context_free(c);
}

/* ---- sweeps --------------------------------------------------------------------------------- */
static int failures;

static void fail(const char *path, long n, const char *how, const char *detail)
{
    if (++failures <= 20) printf("FAIL %s, %s %ld: %s %s\n", path, running, n, how, detail);
}

static void crashed(int signal_number)
{
    char line[200];
    int n = snprintf(line, sizeof line, "FAIL: signal %d at %s %ld of the input above\n", signal_number, running, (long)fails_at);
    if (write(1, line, (size_t)n) < 0) _exit(3);
    _exit(1);
}

static bool same(const text *a, const text *b) { return a->n == b->n && memcmp(a->s, b->s, a->n) == 0; }

/* Blocks that a run left behind; libraries may keep some once (a table that grows), a leak comes again. */
static long left_by(const input *in, int64_t max_memory, long n, text *out, ended *end)
{
    long left = 0;
    for (int again = 0; again < 2; again++) {
        long before = live;
        asked = 0;
        fails_at = n;
        run(in, max_memory, out, end);
        fails_at = 0;
        left = live - before;
        if (!left) break;
    }
    return left;
}

static void sweep_memory(const input *in, long step, const text *want, text *got)
{
    ended end;
    long n_whole = 0, n_error = 0, left = 0;
    for (int kind = 0; kind < 2; kind++) { /* one failure; a failure that lasts */
        lasting = kind;
        bool reached = true;
        for (long n = 1; reached; n += step) {
            left = left_by(in, 0, n, got, &end);
            reached = asked >= n;
            if (end.err.kind == POLYRACE_OK) {
                n_whole++;
                if (!same(want, got)) fail(in->path, n, "another output:", got->n < got->cap ? (got->s[got->n] = 0, got->s) : "");
            } else {
                n_error++;
                if (end.err.kind != POLYRACE_MEMORY || (end.err.message[0] && strcmp(end.err.message, "out of memory") != 0))
                    fail(in->path, n, "another error:", end.err.message);
                if (got->n) fail(in->path, n, "an output beside the error", "");
            }
            if (left) {
                char number[40];
                snprintf(number, sizeof number, "%ld", left);
                fail(in->path, n, "blocks left behind:", number);
            }
        }
    }
    printf("%s %s: %ld runs with the right output, %ld out of memory\n", words[in->what], in->path, n_whole, n_error);
    if (!n_error) fail(in->path, 0, "no allocation failed", "");
}

static void sweep_budget(const input *in, long step, const text *want, text *got, text *again)
{
    ended end, second;
    long n_whole = 0, n_less = 0, in_a_row = 0;
    for (long n = 4; in_a_row < 8; n += step) {
        if (left_by(in, n * 1024, 0, got, &end)) fail(in->path, n, "blocks left behind", "");
        run(in, n * 1024, again, &second);
        if (!same(got, again) || end.err.kind != second.err.kind || end.budget != second.budget) fail(in->path, n, "not the same twice", "");
        bool whole = end.err.kind == POLYRACE_OK && same(want, got);
        n_whole += whole;
        n_less += !whole;
        in_a_row = whole ? in_a_row + 1 : 0;
        if (whole) continue;
        if (end.err.kind != POLYRACE_OK && (in->what <= Z3 || end.err.kind != POLYRACE_LIMIT)) fail(in->path, n, "another error:", end.err.message);
        else if (end.err.kind == POLYRACE_OK && in->what <= Z3 && !end.budget) fail(in->path, n, "another verdict without a refusal", "");
    }
    printf("%s %s: enough in %ld runs, refused in %ld\n", words[in->what], in->path, n_whole, n_less);
    if (!n_less) fail(in->path, 0, "the budget never mattered", "");
}

/* Every allocation of the process, libraries too: what becomes of it is printed, not judged. */
static void sweep_all(const input *in, long step, const text *want, text *got)
{
    long right = 0, error = 0, refused = 0, stopped = 0, wrong = 0;
    everywhere = true;
    for (long n = 1;; n += step) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            struct ended end;
            signal(SIGSEGV, SIG_DFL);
            signal(SIGABRT, SIG_DFL);
            fclose(stderr);
            alarm(20);
            asked = 0;
            fails_at = n;
            run(in, 0, got, &end);
            long seen = asked;
            fails_at = 0;
            if (seen < n) _exit(9);
            if (end.err.kind != POLYRACE_OK) _exit(end.err.kind == POLYRACE_MEMORY ? 1 : 2);
            got->s[got->n] = 0;
            _exit(same(want, got) ? 0 : strstr(got->s, "not decided") ? 3 : 4);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 9) break;
        if (!WIFEXITED(status)) stopped++;
        else if (WEXITSTATUS(status) == 0) right++;
        else if (WEXITSTATUS(status) == 1) error++;
        else if (WEXITSTATUS(status) == 3) refused++;
        else wrong++, printf("  %ld: exit %d\n", n, WEXITSTATUS(status));
    }
    everywhere = false;
    printf("%s %s: right %ld, out of memory %ld, refused %ld, process ended by a library %ld, other %ld\n", words[in->what], in->path, right,
           error, refused, stopped, wrong);
}

/* ---- the program ------------------------------------------------------------------------------ */
extern int polyrace_main(int argc, char **argv); /* main of src/cli, under another name */

enum { OUTPUT = 1 << 20 };
typedef struct said { char out[OUTPUT], err[OUTPUT]; size_t n_out, n_err; long asked; int status; } said;

static size_t slurp(FILE *f, char *to)
{
    rewind(f);
    size_t n = fread(to, 1, OUTPUT - 1, f);
    to[n] = 0;
    fclose(f);
    return n;
}

/* One command line in a process of its own; folder: what stands for "DIR" in it, new each time. */
static void program(char *line, long n, said *s)
{
    static int number;
    char folder[] = "/tmp/exhaustXXXXXX", certs[64], *argv[32], copy[1024], *save = NULL;
    int argc = 0, ends[2];
    FILE *out = tmpfile(), *err = tmpfile();
    if (!out || !err || !mkdtemp(folder) || pipe(ends)) exit(2);
    snprintf(certs, sizeof certs, "%s/%d", folder, number++);
    snprintf(copy, sizeof copy, "polyrace %s", line);
    for (char *w = strtok_r(copy, " ", &save); w && argc < 31; w = strtok_r(NULL, " ", &save)) argv[argc++] = strcmp(w, "DIR") == 0 ? certs : w;
    argv[argc] = NULL;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        signal(SIGABRT, SIG_DFL);
        alarm(60);
        dup2(fileno(out), 1);
        dup2(fileno(err), 2);
        asked = 0;
        fails_at = n;
        int status = polyrace_main(argc, argv);
        fails_at = 0;
        fflush(NULL);
        long seen = asked;
        if (write(ends[1], &seen, sizeof seen) < 0) _exit(2);
        _exit(status);
    }
    close(ends[1]);
    s->asked = -1;                                    /* it ended in the middle: the failure came */
    waitpid(child, &s->status, 0);
    if (read(ends[0], &s->asked, sizeof s->asked) < 0) s->asked = -1;
    close(ends[0]);
    s->n_out = slurp(out, s->out);
    s->n_err = slurp(err, s->err);
    char clean[128];
    snprintf(clean, sizeof clean, "rm -rf %s", folder);
    if (system(clean)) exit(2);
}

/* The output of a run with enough memory and its exit status, or status 4 and "out of memory"; never another verdict, a signal
 * or, of one document, a part. */
static void sweep_cli(char *line, long step)
{
    static said want, got;
    long n_whole = 0, n_error = 0;
    program(line, 0, &want);
    if (!WIFEXITED(want.status) || !want.n_out) fail(line, 0, "does not work", want.err);
    for (int kind = 0; kind < 2; kind++) {
        lasting = kind;
        for (long n = 1;; n += step) {
            program(line, n, &got);
            if (got.asked >= 0 && got.asked < n) break;
            bool same_output = got.n_out == want.n_out && memcmp(got.out, want.out, want.n_out) == 0;
            if (!WIFEXITED(got.status)) fail(line, n, "ended by a signal", got.err);
            else if (same_output && got.status == want.status) n_whole++;
            else if (WEXITSTATUS(got.status) == 4 && strstr(got.err, "out of memory") && !got.n_out) n_error++;
            else fail(line, n, "another end:", got.n_err ? got.err : got.out);
        }
    }
    printf("cli %s: %ld runs with the right output, %ld out of memory\n", line, n_whole, n_error);
    if (!n_error) fail(line, 0, "no allocation failed", "");
}

static bool load(input *in, const char *spelled)
{
    *in = (input){ .path = spelled };
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        size_t n = strlen(words[k]);
        if (strncmp(spelled, words[k], n) == 0 && spelled[n] == ':') in->what = (what)k, in->path = spelled + n + 1;
    }
    const char *slash = strrchr(in->path, '/'), *dot = strrchr(in->path, '.');
    snprintf(in->dir, sizeof in->dir, "%.*s", slash ? (int)(slash - in->path) : 1, slash ? in->path : ".");
    in->gpu = dot && strcmp(dot, ".ttgir") == 0;
    FILE *f = fopen(in->path, "rb");
    if (!f) return perror(in->path), false;
    in->s = malloc(1 << 22);
    in->n = in->s ? fread(in->s, 1, 1 << 22, f) : 0;
    fclose(f);
    return in->n > 0;
}

int main(int argc, char **argv)
{
    if (argc < 4) return 2;
    running = argv[1];
    long step = strtol(argv[2], NULL, 0);
    json_set_alloc_funcs(json_malloc, json_free);
    text want = { malloc(1 << 24), 0, (1 << 24) - 1 }, got = { malloc(1 << 24), 0, (1 << 24) - 1 }, again = { malloc(1 << 24), 0, (1 << 24) - 1 };
    setvbuf(stdout, malloc(1 << 16), _IOLBF, 1 << 16);
    signal(SIGSEGV, crashed);
    signal(SIGABRT, crashed);
    for (int k = 3; k < argc; k++) {
        input in;
        ended end;
        if (strcmp(running, "cli") == 0 && step > 0) {
            sweep_cli(argv[k], step);
            continue;
        }
        if (step < 1 || !load(&in, argv[k])) return 2;
        for (int warm = 0; warm < 3; warm++) run(&in, 0, &want, &end); /* libraries keep some of their own */
        if (end.err.kind != POLYRACE_OK || !want.n) return printf("%s: %s\n", in.path, end.err.message), 2;
        alarm(1800);
        if (strcmp(running, "memory") == 0) sweep_memory(&in, step, &want, &got);
        else if (strcmp(running, "budget") == 0) sweep_budget(&in, step, &want, &got, &again);
        else if (strcmp(running, "all") == 0) sweep_all(&in, step, &want, &got);
        else return 2;
        free(in.s);
    }
    free(want.s);
    free(got.s);
    free(again.s);
    printf("%d failures\n", failures);
    return failures ? 1 : 0;
}
