/* One query at a time under every tier: time, answer, and the work that does not depend on the machine.
 *
 *   bench_queries --suite [OPTIONS]    the kernels of tests/unit/suite.h
 *   bench_queries --read  [OPTIONS]    pair queries on standard input, in the text of dump --stage=query;
 *                                      `# name: TEXT` names what follows
 *   --repeat=N    batches a measurement (9)        --no-z3    leave Z3 out
 *   --only=TIER   this tier alone, --name=TEXT  queries whose name begins so: for a profiler
 *   --counters    each tier once and no times: what must not depend on the machine
 *
 * Prints one JSON object a query. Times are processor time of this thread, the least of N batches; "auto" asks
 * the tiers in their order until one answers. Z3 gets the same prepared rows as isl, in three configurations,
 * and the whole formula; the fastest that decides counts, the solver's own time without that of the rows. */
#include "z3_rows.h"
#include "pre/pre.h"
#include "../tests/unit/suite.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PRETEST, CLOSURE, SWEEP, ISL, ENUM, TIERS, Z3 = TIERS };
static pr_limits limits = { .max_ops = 20000, .first_ops = 700, .z3_rlimit = 500000, .max_leaves = 256, .t_wall_ms = 2000, .alone = true };
static const char *const tier_name[] = { "pretest", "closure", "sweep", "isl", "enum", "z3" };
static pr_engine_ctx *ctx[TIERS + 1];
static int repeat = 9;
static const char *only, *wanted = "";
static bool with_z3 = true, counters;
static pr_arena *scratch;

static const pr_engine *tier(int i)
{
    switch (i) {
    case PRETEST: return pr_engine_pretest();
    case CLOSURE: return pr_engine_closure();
    case SWEEP: return pr_engine_sweep();
    case ISL: return pr_engine_isl();
    case ENUM: return pr_engine_enum();
    default: return pr_engine_z3();
    }
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static const char *word(pr_answer a) { return a == PR_ANSWER_EMPTY ? "empty" : a == PR_ANSWER_WITNESS ? "witness" : "unknown"; }

typedef struct timing { pr_answer answer; double us; uint64_t work; int leaves; } timing;

/* Batches of at least 20 us, so that the clock costs nothing. */
static timing measure(void (*once)(const pr_query *, int, pr_outcome *), const pr_query *q, int which)
{
    enum { SHORTEST_NS = 20000 };
    timing t = { .us = 1e12 };
    long batch = 1;
    for (int i = 0; i < repeat; i++) {
        pr_outcome o;
        int64_t from = now_ns();
        for (long k = 0; k < batch; k++) {
            pr_arena_pos pos = pr_arena_mark(scratch);
            once(q, which, &o);
            pr_arena_release(scratch, pos);
        }
        int64_t took = now_ns() - from;
        double us = (double)took / 1e3 / (double)batch;
        if (us < t.us) t.us = us;
        t.answer = o.answer, t.work = o.cost, t.leaves = o.leaves;
        if (counters) break;
        if (took < SHORTEST_NS) batch = batch * 4, i--;
        else if (took > 50000000 && i >= 1) break;
    }
    return t;
}

static void ask(const pr_query *q, int i, pr_outcome *o) { tier(i)->decide(ctx[i], q, &limits, scratch, o); }

static int answered_by;
static void ask_all(const pr_query *q, int unused, pr_outcome *o)
{
    (void)unused;
    answered_by = -1;
    for (int i = 0; i <= (with_z3 ? Z3 : ENUM); i++) {
        ask(q, i, o);
        if (o->answer == PR_ANSWER_UNKNOWN) continue;
        answered_by = i;
        return;
    }
}

static void text(const char *s)
{
    putchar('"');
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') putchar('\\');
        if ((unsigned char)*s >= ' ') putchar(*s);
    }
    putchar('"');
}

static void print_timing(const char *name, const timing *t)
{
    printf("\"%s\":{\"answer\":\"%s\",", name, word(t->answer));
    if (!counters) printf("\"us\":%.3f,", t->us);
    printf("\"work\":%llu,\"leaves\":%d}", (unsigned long long)t->work, t->leaves);
}

static void report(const pr_query *q, const char *name, const char *form, const char *version)
{
    if (strncmp(name, wanted, strlen(wanted)) != 0) return;
    printf("{\"name\":");
    text(name);
    printf(",\"form\":\"%s\",\"version\":\"%s\",\"vars\":%d,\"tiers\":{", form, version, q->n_vars);
    for (int i = 0; i < (with_z3 && counters ? Z3 + 1 : TIERS); i++) {
        if (only && strcmp(only, tier_name[i]) != 0) continue;
        timing t = measure(ask, q, i);
        if (i && !only) putchar(',');
        print_timing(tier_name[i], &t);
    }
    if (only) {
        printf("}}\n");
        return;
    }
    timing all = measure(ask_all, q, 0);
    printf("},");
    print_timing("auto", &all);
    printf(",\"by\":\"%s\"", answered_by < 0 ? "none" : tier_name[answered_by]);
    if (with_z3 && !counters) {
        z3_best best;
        z3_rows_measure(q, &limits, repeat, scratch, &best);
        printf(",\"z3\":{\"answer\":\"%s\",\"us\":%.3f,\"config\":\"%s\",\"work\":%llu}", word(best.answer), best.us,
               best.config, (unsigned long long)best.work);
    }
    printf("}\n");
    fflush(stdout);
}

static void built_in(void)
{
    for (int i = 0; i < (int)PR_LEN(suite); i++)
        for (int variant = 0; variant < 4; variant++) {
            pr_arena *arena = pr_arena_new(0, NULL);
            bool symbolic = variant >= 2, race = variant & 1;
            pr_query q = suite_query(pr_terms_new(arena), arena, i, race, symbolic);
            suite_complete(&q, arena, strcmp(suite[i].name, "f neighbour") != 0);
            report(&q, suite[i].name, symbolic ? "symbolic" : "concrete", race ? "race" : "safe");
            pr_arena_free(arena);
        }
}

static void read_in(void)
{
    static char line[1 << 16];
    pr_arena *keep = pr_arena_new(0, NULL);
    pr_buf buf;
    char name[256] = "";
    pr_buf_init(&buf, keep);
    while (fgets(line, sizeof line, stdin)) {
        if (strncmp(line, "# name: ", 8) == 0) {
            snprintf(name, sizeof name, "%.*s", (int)strcspn(line + 8, "\n"), line + 8);
            continue;
        }
        if (line[0] != '(' && buf.n == 0) continue;
        pr_buf_puts(&buf, line);
        if (line[0] != ')') continue;
        pr_arena *arena = pr_arena_new(0, NULL);
        const char *why = NULL;
        pr_query *q = pr_query_parse(pr_terms_new(arena), arena, (pr_str){ buf.data, buf.n }, &why);
        if (!q) fprintf(stderr, "%s: %s\n", name, why);
        else report(q, name, "read", "read");
        buf.n = 0;
        pr_arena_free(arena);
    }
    pr_arena_free(keep);
}

int main(int argc, char **argv)
{
    bool read = false, ok = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--suite") == 0) ok = true;
        else if (strcmp(argv[i], "--read") == 0) ok = read = true;
        else if (strncmp(argv[i], "--repeat=", 9) == 0) repeat = atoi(argv[i] + 9) > 0 ? atoi(argv[i] + 9) : 1;
        else if (strcmp(argv[i], "--no-z3") == 0) with_z3 = false;
        else if (strncmp(argv[i], "--only=", 7) == 0) only = argv[i] + 7;
        else if (strncmp(argv[i], "--name=", 7) == 0) wanted = argv[i] + 7;
        else if (strcmp(argv[i], "--counters") == 0) counters = true;
        else ok = false;
    }
    if (!ok) {
        fprintf(stderr, "bench_queries --suite|--read [--repeat=N] [--no-z3] [--only=TIER] [--name=TEXT] [--counters]\n");
        return 2;
    }
    if (!pr_engine_z3()) with_z3 = false;
    if (counters) limits.t_wall_ms = 0, limits.z3_rlimit = 50000;   /* nothing that a clock decides */
    scratch = pr_arena_new(0, NULL);
    pr_arena *keep = pr_arena_new(0, NULL);
    for (int i = 0; i <= (with_z3 ? Z3 : ENUM); i++) ctx[i] = tier(i)->open(keep);
    if (read) read_in();
    else built_in();
    for (int i = 0; i <= (with_z3 ? Z3 : ENUM); i++) tier(i)->close(ctx[i]);
    pr_arena_free(keep);
    pr_arena_free(scratch);
    return 0;
}
