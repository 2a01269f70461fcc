/* Quota injection: every query at isl quotas 1, 98, 195, ... (further apart from the sixth on, 24 at most) gives the right answer or
 * UNKNOWN for its budget, leaves a context that still answers, and nothing behind when the context is freed.
 *
 *   test_quota [--every] [ROUNDS [SEED]]   random queries against enumeration
 *   test_quota [--every] --queries         queries on standard input, in the text of dump --stage=query
 *
 * --every: steps of 97 up to what the query costs, none left out. */
#include "check.h"
#include "random_query.h"
#include "poly/poly.h"
#include "term/engine.h"
#include "term/rows.h"
#include <stdlib.h>
#include <string.h>

enum { FIRST = 1, STEP = 97, MOST_QUOTAS = 24 };
static const pr_limits limits = { .max_ops = 20000, .first_ops = 700, .max_leaves = 256 };
static long asked, given_up, decided;
static bool every;

static void show(const pr_query *q, pr_arena *arena, int64_t ops)
{
    pr_buf text;
    pr_buf_init(&text, arena);
    pr_query_print(&text, q);
    fprintf(stderr, "at quota %lld\n%s", (long long)ops, text.data);
}

/* right: known answer, or UNKNOWN to take the one without a tight quota. */
static void inject(pr_engine_ctx *ctx, const pr_query *q, pr_answer right, pr_arena *arena)
{
    const pr_engine *e = pr_engine_isl();
    pr_outcome o;
    e->decide(ctx, q, &limits, arena, &o);
    pr_answer full = o.answer;
    pr_refusal_kind full_why = o.why;
    if (right == PR_ANSWER_UNKNOWN) right = full;
    CHECK(full == PR_ANSWER_UNKNOWN || full == right);
    uint64_t cost = o.cost;
    int quotas = 0;
    for (int64_t ops = FIRST; quotas == 0 || (ops < (int64_t)cost + 2 * STEP && (every || quotas < MOST_QUOTAS));
         ops += STEP + (quotas > 4 && !every ? ops / 3 : 0), quotas++) {
        int before = check_failures;
        pr_limits l = limits;
        l.max_ops = ops;
        l.first_ops = ops % 2 ? limits.first_ops : ops;
        e->decide(ctx, q, &l, arena, &o);
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
    e->decide(ctx, q, &limits, arena, &o);          /* the context still answers as before */
    CHECK(o.answer == full && o.why == full_why);
}

static void from_input(pr_engine_ctx *ctx)
{
    size_t n = 0, cap = 1 << 16;
    char *text = malloc(cap);
    for (size_t got; text && (got = fread(text + n, 1, cap - n, stdin)) > 0;) {
        n += got;
        if (n == cap) text = realloc(text, cap *= 2);
    }
    if (!text) abort();
    int queries = 0;
    for (char *at = text, *end; n && (at = memchr(at, '(', (size_t)(text + n - at))); at = end) {
        end = memchr(at, '#', (size_t)(text + n - at));
        if (!end) end = text + n;
        pr_arena *arena = pr_arena_new(0, NULL);
        const char *why = "";
        size_t length = (size_t)(end - at);
        while (length && (at[length - 1] == '\n' || at[length - 1] == ' ')) length--;
        pr_query *q = pr_query_parse(pr_terms_new(arena), arena, (pr_str){ at, length }, &why);
        CHECK(q != NULL);
        if (q) inject(ctx, q, PR_ANSWER_UNKNOWN, arena);
        else fprintf(stderr, "%s\n%.*s\n", why, (int)length, at);
        queries++;
        pr_arena_free(arena);
    }
    free(text);
    CHECK(queries > 0);
    printf("%d queries, ", queries);
}

static void at_random(pr_engine_ctx *ctx, long rounds, uint64_t seed)
{
    rng g = { seed };
    long made = 0;
    for (long i = 0; i < rounds && !check_failures; i++) {
        pr_arena *arena = pr_arena_new(0, NULL);
        pr_terms *T = pr_terms_new(arena);
        random_query r;
        random_query_make(&r, T, &g, i % 2 ? RT_ALL : RT_DIV | RT_CHOICE);
        if (random_query_ok(&r)) {
            inject(ctx, &r.q, brute_force(&r.q), arena);
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
    fflush(stderr);
    FILE *f = freopen("isl-quota-stderr.txt", "w+", stderr);   /* isl_ctx_free complains there */
    CHECK(f != NULL);
    pr_arena *keep = pr_arena_new(0, NULL);
    pr_engine_ctx *ctx = pr_engine_isl()->open(keep);
    if (queries) from_input(ctx);
    else at_random(ctx, argc > 1 ? atol(argv[1]) : 20000, argc > 2 ? (uint64_t)atoll(argv[2]) : 88172645463325252u);
    pr_engine_isl()->close(ctx);
    pr_arena_free(keep);
    printf("%ld quotas: %ld gave up, %ld decided\n", asked, given_up, decided);
    CHECK(given_up > 0 && decided > 0);
    fflush(stderr);
    rewind(stderr);
    char line[512];
    bool any = false;
    while (f && fgets(line, sizeof line, f)) {
        any = true;
        fputs(line, stdout);
    }
    CHECK(!any);
    return check_failures != 0;
}
