/* Pair queries: the bytes are the choices of the random generators of tests/unit, the truth is an enumeration of
 * all instances.
 *
 * Every row of the engine table is asked: what says EMPTY has no instance, a WITNESS is one, and a condition that a
 * row names makes the query empty once it is a premise. The isl rows, that is the lowering of terms to isl, are among
 * them, and the printed query reads as the same bytes twice. */
#include <string.h>
#include "fuzz.h"
#include "pre/pre.h"
#include "random_query.h"
#include "random_shape.h"

static const pr_limits limits = { .max_ops = 4000, .first_ops = 700, .max_leaves = 64 };
enum { ENGINES = 5 };
static pr_arena *arena, *scratch;
static pr_engine_ctx *ctx[ENGINES];
static const pr_engine *engine(int i)
{
    const pr_engine *const e[ENGINES] = { pr_engine_pretest(), pr_engine_closure(), pr_engine_sweep(), pr_engine_enum(), pr_engine_isl() };
    return e[i];
}

static const char *text_of(const pr_query *q)
{
    pr_buf text;
    pr_buf_init(&text, scratch);
    pr_query_print(&text, q);
    return text.data;
}

typedef pr_answer (*oracle)(const void *what, pr_terms *T);
static pr_answer by_instances(const void *what, pr_terms *T) { return random_pair_oracle(what, T); }
static pr_answer by_points(const void *what, pr_terms *T)
{
    (void)T;
    return brute_force(&((const random_query *)what)->q);
}

static void examine(pr_query *q, pr_terms *T, oracle ask, const void *what)
{
    bool asked = false;
    pr_answer truth = PR_ANSWER_UNKNOWN;
    for (int i = 0; i < ENGINES; i++) {
        pr_query mine = *q;
        pr_outcome o;
        engine(i)->decide(ctx[i], &mine, &limits, scratch, &o);
        if (o.answer == PR_ANSWER_UNKNOWN && !pr_term_none(o.needs)) {
            pr_term_vec all = { 0 };
            for (int k = 0; k < q->n_premises; k++) pr_vec_push(scratch, &all, q->premises[k]);
            pr_conjuncts(T, o.needs, &all, scratch);
            const pr_term *kept = q->premises;
            int n_kept = q->n_premises;
            bool kept_suggest = q->suggest;
            q->premises = all.data;                 /* the oracle reads the query's premises */
            q->n_premises = all.n;
            q->suggest = false;
            mine = *q;
            engine(i)->decide(ctx[i], &mine, &limits, scratch, &o);
            if (o.answer == PR_ANSWER_EMPTY)
                FUZZ_CHECK(ask(what, T) != PR_ANSWER_WITNESS, "%s proves under its condition what has an instance (%s)\n%s", engine(i)->name,
                           o.evidence ? o.evidence : "", text_of(q));
            q->premises = kept;
            q->n_premises = n_kept;
            q->suggest = kept_suggest;
            continue;
        }
        if (o.answer == PR_ANSWER_UNKNOWN) continue;
        if (!asked) truth = ask(what, T);
        asked = true;
        if (truth != PR_ANSWER_UNKNOWN)
            FUZZ_CHECK(o.answer == truth, "%s says %s (%s), enumeration %s\n%s", engine(i)->name, o.answer == PR_ANSWER_EMPTY ? "empty" : "witness",
                       o.evidence ? o.evidence : "", truth == PR_ANSWER_EMPTY ? "empty" : "witness", text_of(q));
        if (o.answer == PR_ANSWER_WITNESS)
            FUZZ_CHECK(pr_query_holds(&mine, &o.point) == PR_YES, "the witness of %s does not hold\n%s", engine(i)->name, text_of(q));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!arena) {
        pr_arena *keep = pr_arena_new(0, NULL);
        arena = pr_arena_new(0, NULL);
        scratch = pr_arena_new(0, NULL);
        for (int i = 0; i < ENGINES; i++) ctx[i] = engine(i)->open(keep);
    }
    if (!size) return 0;
    pr_arena_pos a = pr_arena_mark(arena), b = pr_arena_mark(scratch);
    pr_terms *T = pr_terms_new(arena);
    rng g = { 88172645463325252u + size, data + 1, size - 1 };
    int kind = data[0] % (RP_DIGITS + 2);
    if (kind > RP_DIGITS) {
        random_query r = { 0 };
        random_query_make(&r, T, &g, RT_ALL);
        if (random_query_ok(&r)) examine(&r.q, T, by_points, &r);
    } else {
        random_pair r = { 0 };
        random_pair_shaped(&r, T, arena, &g, (rp_shape)kind);
        r.q.suggest = data[0] & 0x80;
        if (r.ok) examine(&r.q, T, by_instances, &r);
    }
    pr_arena_release(scratch, b);
    pr_arena_release(arena, a);
    return 0;
}
