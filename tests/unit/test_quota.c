/* Quota injection: every query at isl quotas 1, 98, 195, ... (further apart from the sixth on, 24 at most) gives the right answer or
 * UNKNOWN for its budget, leaves a context that still answers, and nothing behind when the context is freed.
 *
 *   test_quota [--every] [ROUNDS [SEED]]   random queries against enumeration
 *   test_quota [--every] --queries         queries on standard input, in the text of dump --stage=query
 *
 * --every: steps of 97 up to what the query costs, none left out. Each query has a context of its own: isl says on standard error
 * what is left in it, which is a failure of this query. */
#include "check.h"
#include "random_query.h"
#include "poly/poly.h"
#include "term/engine.h"
#include "term/rows.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST = 1, STEP = 97, MOST_QUOTAS = 24 };
/* The ways a query takes: as in a check; without a point looked for first; as one set of isl. */
static const pr_limits ways[] = { { .max_ops = 20000, .first_ops = 700, .max_leaves = 256 },
                                  { .max_ops = 20000, .first_ops = 700, .max_leaves = 256, .alone = true },
                                  { .max_ops = 20000, .first_ops = 700, .max_leaves = 1, .alone = true } };
static long asked, given_up, decided;
static bool every;

static void show(const pr_query *q, pr_arena *arena, int64_t ops)
{
    pr_buf text;
    pr_buf_init(&text, arena);
    pr_query_print(&text, q);
    fprintf(stderr, "at quota %lld\n%s", (long long)ops, text.data);
}

static pr_outcome decide(pr_engine_ctx *ctx, const pr_query *q, const pr_limits *l, pr_arena *scratch)
{
    pr_outcome o;
    pr_engine_isl()->decide(ctx, q, l, scratch, &o);
    return o;
}

static pr_arena *fresh(pr_arena *scratch)
{
    pr_arena_free(scratch);
    return pr_arena_new(0, NULL);
}

static pr_answer at_quotas(pr_engine_ctx *ctx, const pr_query *q, const pr_limits *limits, pr_answer right, pr_arena *arena)
{
    pr_arena *scratch = pr_arena_new(0, NULL);
    pr_outcome o = decide(ctx, q, limits, scratch);
    pr_answer full = o.answer;
    if (right == PR_ANSWER_UNKNOWN) right = full;
    CHECK(full == PR_ANSWER_UNKNOWN || full == right);
    uint64_t cost = o.cost;
    int quotas = 0;
    for (int64_t ops = FIRST; quotas == 0 || (ops < (int64_t)cost + 2 * STEP && (every || quotas < MOST_QUOTAS));
         ops += STEP + (quotas > 4 && !every ? ops / 3 : 0), quotas++) {
        int before = check_failures;
        pr_limits l = *limits;
        l.max_ops = ops;
        l.first_ops = ops % 2 ? limits->first_ops : ops;
        scratch = fresh(scratch);
        o = decide(ctx, q, &l, scratch);
        asked++;
        /* products of unknowns: a point of the relaxed rows may satisfy the query, or not */
        if (right == PR_ANSWER_UNKNOWN) right = o.answer;
        CHECK(o.answer == PR_ANSWER_UNKNOWN || o.answer == right);
        if (o.answer == PR_ANSWER_UNKNOWN) {
            given_up++;
            CHECK(o.why == PR_REFUSAL_BUDGET || o.why == PR_REFUSAL_NEEDS_SMT || full == PR_ANSWER_UNKNOWN);
            CHECK(o.message != NULL);
        } else {
            decided++;
            if (o.answer == PR_ANSWER_WITNESS) CHECK(pr_query_holds(q, &o.point) == PR_YES);
        }
        if (check_failures != before) show(q, arena, ops);
    }
    scratch = fresh(scratch);
    /* The context still answers as before; a block that isl kept from an earlier question costs it no operation. */
    pr_limits twice = *limits;
    twice.max_ops *= 2;
    o = decide(ctx, q, &twice, scratch);
    bool same = o.answer == full || (full == PR_ANSWER_UNKNOWN && (right == PR_ANSWER_UNKNOWN || o.answer == right));
    CHECK(same);
    if (!same) show(q, arena, twice.max_ops);
    pr_arena_free(scratch);
    return right;
}

/* right: known answer, or UNKNOWN to take the one without a tight quota. */
static void inject(const pr_query *q, pr_answer right, pr_arena *arena)
{
    pr_arena *keep = pr_arena_new(0, NULL);
    pr_engine_ctx *ctx = pr_engine_isl()->open(keep);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) right = at_quotas(ctx, q, &ways[i], right, arena);
    fflush(stderr);
    long before = ftell(stderr);
    pr_engine_isl()->close(ctx);
    fflush(stderr);
    bool clean = ftell(stderr) == before;
    CHECK(clean);                                   /* isl_ctx_free has nothing to say */
    if (!clean) show(q, arena, 0);
    pr_arena_free(keep);
}

/* A query begins with a line "(query" and ends with a line ")"; what stands between queries is left out. */
static void from_input(void)
{
    pr_arena *arena = NULL;
    pr_buf text;
    char *line = NULL;
    size_t cap = 0;
    long queries = 0;
    while (getline(&line, &cap, stdin) > 0) {
        if (!arena) {
            if (line[0] != '(') continue;
            arena = pr_arena_new(0, NULL);
            pr_buf_init(&text, arena);
        }
        pr_buf_puts(&text, line);
        if (line[0] != ')') continue;
        const char *why = "";
        pr_query *q = pr_query_parse(pr_terms_new(arena), arena, (pr_str){ text.data, text.n }, &why);
        CHECK(q != NULL);
        if (q) inject(q, PR_ANSWER_UNKNOWN, arena);
        else fprintf(stderr, "%s\n%.*s\n", why, (int)text.n, text.data);
        queries++;
        pr_arena_free(arena);
        arena = NULL;
    }
    free(line);
    CHECK(queries > 0 && !arena);
    printf("%ld queries, ", queries);
}

static void at_random(long rounds, uint64_t seed)
{
    rng g = { seed };
    long made = 0;
    for (long i = 0; i < rounds && !check_failures; i++) {
        pr_arena *arena = pr_arena_new(0, NULL);
        pr_terms *T = pr_terms_new(arena);
        random_query r;
        random_query_make(&r, T, &g, i % 2 ? RT_ALL : RT_DIV | RT_CHOICE);
        if (random_query_ok(&r)) {
            inject(&r.q, brute_force(&r.q), arena);
            made++;
        }
        pr_arena_free(arena);
    }
    printf("%ld queries, ", made);
}

int main(int argc, char **argv)
{
    every = argc > 1 && strcmp(argv[1], "--every") == 0;
    argc -= every, argv += every;
    bool queries = argc > 1 && strcmp(argv[1], "--queries") == 0;
    FILE *f = tmpfile();                            /* what isl_ctx_free complains about, and failures */
    if (!f || fflush(stderr) || dup2(fileno(f), STDERR_FILENO) < 0) return 1;
    if (queries) from_input();
    else at_random(argc > 1 ? atol(argv[1]) : 20000, argc > 2 ? (uint64_t)atoll(argv[2]) : 88172645463325252u);
    printf("%ld quotas: %ld gave up, %ld decided\n", asked, given_up, decided);
    CHECK(given_up > 0 && decided > 0);
    fflush(stderr);
    rewind(f);
    char line[512];
    bool any = false;
    while (fgets(line, sizeof line, f)) {
        any = true;
        fputs(line, stdout);
    }
    CHECK(!any);
    return check_failures != 0;
}
