/* src/pre: random pair queries against brute force, the kernel suite, one test a side condition, agreement
 * with isl on printed queries.
 *
 *   test_pre [ROUNDS [SEED]]     everything but the last
 *   test_pre --agree             queries on standard input, in the text of dump --stage=query */
#include "check.h"
#include "random_pair.h"
#include "suite.h"
#include "pre/pre.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const pr_limits limits = { .max_ops = 20000, .first_ops = 700, .max_leaves = 256 };

enum { PRETEST, CLOSURE, SWEEP, ENUM, TIERS };
static const pr_engine *tier(int i)
{
    const pr_engine *const t[TIERS] = { pr_engine_pretest(), pr_engine_closure(), pr_engine_sweep(), pr_engine_enum() };
    return t[i];
}
static pr_engine_ctx *ctx[TIERS];

static void show(const pr_query *q, pr_arena *arena)
{
    pr_buf text;
    pr_buf_init(&text, arena);
    pr_query_print(&text, q);
    fputs(text.data, stderr);
}

/* Each tier against what enumeration says; returns false after a wrong answer. */
typedef struct tally { long queries, empty, race, unsure, claims[TIERS][3], together, wrong; } tally;

static void one_random(rng *g, tally *t, bool verbose)
{
    static pr_arena *arena, *scratch;
    if (!arena) arena = pr_arena_new(0, NULL), scratch = pr_arena_new(0, NULL);
    pr_arena_pos a = pr_arena_mark(arena), s = pr_arena_mark(scratch);
    pr_terms *T = pr_terms_new(arena);
    random_pair r;
    random_pair_make(&r, T, arena, g);
    if (r.ok) {
        pr_answer want = random_pair_oracle(&r, T);
        bool proved = false;
        t->queries++;
        t->empty += want == PR_ANSWER_EMPTY;
        t->race += want == PR_ANSWER_WITNESS;
        t->unsure += want == PR_ANSWER_UNKNOWN;
        for (int i = 0; i < TIERS; i++) {
            pr_outcome o;
            tier(i)->decide(ctx[i], &r.q, &limits, scratch, &o);
            bool wrong = (o.answer == PR_ANSWER_EMPTY && want == PR_ANSWER_WITNESS)
                      || (o.answer == PR_ANSWER_WITNESS && pr_query_holds(&r.q, &o.point) != PR_YES)
                      || (o.answer == PR_ANSWER_WITNESS && want == PR_ANSWER_EMPTY)
                      || (o.answer == PR_ANSWER_EMPTY && i == SWEEP) || (o.answer == PR_ANSWER_WITNESS && i < SWEEP)
                      || (o.answer == PR_ANSWER_UNKNOWN && (!o.message || !o.why))
                      || (o.answer == PR_ANSWER_UNKNOWN && i == ENUM && want != PR_ANSWER_UNKNOWN);
            t->claims[i][o.answer]++;
            proved |= i < SWEEP && o.answer == PR_ANSWER_EMPTY;
            t->wrong += wrong;
            if (wrong && verbose) {
                fprintf(stderr, "%s: %d (%s), enumeration: %d\n", tier(i)->name, o.answer, o.evidence ? o.evidence : "", want);
                show(&r.q, scratch);
            }
        }
        t->together += proved;
    }
    pr_arena_release(scratch, s);
    pr_arena_release(arena, a);
}

static void random_against_enumeration(long rounds, uint64_t seed)
{
    rng g = { seed };
    tally t = { 0 };
    for (long i = 0; i < rounds && !t.wrong; i++) one_random(&g, &t, true);
    CHECK(t.wrong == 0);
    printf("%ld queries: %ld empty, %ld races, %ld not enumerable; proved: pretest %ld, closure %ld, together %ld; "
           "refuted by sweep %ld; decided by enum %ld\n", t.queries, t.empty, t.race, t.unsure,
           t.claims[PRETEST][PR_ANSWER_EMPTY], t.claims[CLOSURE][PR_ANSWER_EMPTY], t.together,
           t.claims[SWEEP][PR_ANSWER_WITNESS], t.claims[ENUM][PR_ANSWER_EMPTY] + t.claims[ENUM][PR_ANSWER_WITNESS]);
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 200000;
    pr_arena *keep = pr_arena_new(0, NULL);
    for (int i = 0; i < TIERS; i++) ctx[i] = tier(i)->open(keep);
    random_against_enumeration(rounds, argc > 2 ? (uint64_t)atoll(argv[2]) : 88172645463325252u);
    for (int i = 0; i < TIERS; i++) tier(i)->close(ctx[i]);
    pr_arena_free(keep);
    return check_done();
}
