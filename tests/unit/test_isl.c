/* src/poly and src/term/rows.c, lower.c, prepare.c: random queries against brute force, quota injection,
 * large coefficients, the splitter on and off. */
#include "check.h"
#include "random_query.h"
#include "poly/poly.h"
#include "term/rows.h"
#include <stdlib.h>

static const pr_limits limits = { .max_ops = 20000, .first_ops = 700, .max_leaves = 256 };

static void show(const pr_query *q, pr_arena *arena)
{
    pr_buf text;
    pr_buf_init(&text, arena);
    pr_query_print(&text, q);
    fputs(text.data, stderr);
}

/* Unknown, or what enumeration says. */
static void random_against_enumeration(int rounds, uint64_t seed)
{
    rng g = { seed };
    int count[3] = { 0 }, unknown = 0, rows_only = 0;
    const pr_engine *e = pr_engine_isl();
    pr_arena *keep = pr_arena_new(0, NULL);
    pr_engine_ctx *ctx = e->open(keep);
    for (int i = 0; i < rounds; i++) {
        pr_arena *arena = pr_arena_new(0, NULL), *scratch = pr_arena_new(0, NULL);
        pr_terms *T = pr_terms_new(arena);
        random_query r;
        random_query_make(&r, T, &g, i % 2 ? RT_ALL : RT_DIV | RT_CHOICE);
        if (random_query_ok(&r)) {
            pr_answer want = brute_force(&r.q);
            count[want]++;
            pr_outcome o;
            e->decide(ctx, &r.q, &limits, scratch, &o);
            CHECK(o.answer == PR_ANSWER_UNKNOWN || o.answer == want || want == PR_ANSWER_UNKNOWN);
            CHECK(o.answer != PR_ANSWER_UNKNOWN || (o.why != PR_REFUSAL_NONE && o.message));
            CHECK(o.answer != PR_ANSWER_UNKNOWN || o.why != PR_REFUSAL_INTERNAL);
            CHECK(o.answer == PR_ANSWER_UNKNOWN || o.evidence);
            if (o.answer == PR_ANSWER_WITNESS) CHECK(pr_query_holds(&r.q, &o.point) == PR_YES);
            unknown += o.answer == PR_ANSWER_UNKNOWN;
            rows_only += o.answer == PR_ANSWER_EMPTY && o.evidence && o.evidence[0] == 'r';
            for (unsigned flags = 0; flags < 4; flags++) {
                pr_outcome p = { 0 };
                pr_rows_decide(&r.q, &limits, flags, scratch, NULL, NULL, "none", &p);
                CHECK(p.answer == PR_ANSWER_UNKNOWN || p.answer == want || want == PR_ANSWER_UNKNOWN);
            }
            if (check_failures) {
                fprintf(stderr, "round %d: want %d got %d (%s) %s\n", i, want, o.answer,
                        o.evidence ? o.evidence : "", o.message ? o.message : "");
                show(&r.q, scratch);
                exit(1);
            }
        }
        pr_arena_free(scratch);
        pr_arena_free(arena);
    }
    e->close(ctx);
    pr_arena_free(keep);
    printf("%d queries: %d empty (%d by rows), %d with witness, %d not enumerable, %d unknown\n", rounds,
           count[PR_ANSWER_EMPTY], rows_only, count[PR_ANSWER_WITNESS], count[PR_ANSWER_UNKNOWN],
           unknown);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 3000;
    random_against_enumeration(rounds, argc > 2 ? (uint64_t)atoll(argv[2]) : 88172645463325252u);
    return check_done();
}
