/* Random soundness suites: every rule that proves, against brute force.
 *
 *   test_random SUITE [ROUNDS [SEED]]    SUITE: closure, deltas, window, lemmas, tables, splits, ranges
 *
 * Each suite first shows that it notices planted faults: a side condition of src/pre dropped (PR_FAULTS), or a
 * question that differs from the one enumerated by one misread operation. Then ROUNDS instances, none wrong.
 * The seed is printed with a failure; a run depends on nothing else. */
#include "check.h"
#include "random_shape.h"
#include "random_split.h"
#include "pre/pre.h"
#include <stdlib.h>
#include <string.h>

static const pr_limits limits = { .max_ops = 20000, .first_ops = 700, .max_leaves = 256 };

typedef struct tally { long instances, claims, conditions, wrong; } tally;

/* One instance. fault 0: none. Prints the instance when verbose and wrong. */
typedef struct suite {
    const char *name;
    void (*one)(const struct suite *s, rng *g, int fault, bool verbose, tally *t);
    int faults[9];          /* ended by 0                                        */
    int least;              /* claims among 1000 instances, so that it means something */
    rp_shape shapes[4];
    int n_shapes, tiers;    /* pairs: shapes taken in turn, rows of the engine table asked */
} suite;

static pr_arena *arena, *scratch;
static pr_engine_ctx *ctx[3];
static const pr_engine *engine(int i)
{
    const pr_engine *const e[] = { pr_engine_pretest(), pr_engine_closure(), pr_engine_isl() };
    return e[i];
}

static void show(const pr_query *q, const char *who, const pr_outcome *o)
{
    pr_buf text;
    pr_buf_init(&text, scratch);
    pr_query_print(&text, q);
    fprintf(stderr, "%s: %s (%s)\n%s", who, o->answer == PR_ANSWER_EMPTY ? "EMPTY" : "WITNESS", o->evidence ? o->evidence : "", text.data);
}

/* Pairs: whoever says EMPTY must be right; the oracle runs only then. */
static void one_pair(const suite *s, rng *g, int fault, bool verbose, tally *t)
{
    pr_terms *T = pr_terms_new(arena);
    random_pair r;
    random_pair_shaped(&r, T, arena, g, s->shapes[rnd(g) % (uint32_t)s->n_shapes]);
    if (!r.ok) return;
    r.q.suggest = rnd(g) % 2;
    t->instances++;
    bool asked = false;
    pr_answer want = PR_ANSWER_UNKNOWN;
    for (int i = 0; i < 2; i++) {
        if (!(s->tiers & 1 << i)) continue;
        pr_outcome o;
        pr_pre_dropped = (pr_pre_rule)fault;
        engine(i)->decide(ctx[i], &r.q, &limits, scratch, &o);
        pr_pre_dropped = PR_DROP_NONE;
        if (o.answer == PR_ANSWER_UNKNOWN && !pr_term_none(o.needs)) {     /* a condition: with it as a premise the query is empty */
            pr_term_vec all = { 0 };
            for (int k = 0; k < r.q.n_premises; k++) pr_vec_push(scratch, &all, r.q.premises[k]);
            pr_conjuncts(T, o.needs, &all, scratch);
            r.q.premises = all.data;
            r.q.n_premises = all.n;
            r.q.suggest = false;
            o = (pr_outcome){ .answer = PR_ANSWER_EMPTY, .evidence = o.under };
            t->conditions++;
        }
        if (o.answer == PR_ANSWER_UNKNOWN) continue;
        if (!asked) want = random_pair_oracle(&r, T);
        asked = true;
        if (o.answer == PR_ANSWER_WITNESS || want == PR_ANSWER_WITNESS) {
            t->wrong++;
            if (verbose) show(&r.q, engine(i)->name, &o);
        }
    }
    t->claims += asked;
}

/* Case splits: what the rows and isl say about one conjunction, against all points of its box. */
static void one_split(const suite *s, rng *g, int fault, bool verbose, tally *t)
{
    (void)s;
    pr_terms *T = pr_terms_new(arena);
    rng again = *g;
    random_split is, asked;
    random_split_make(&is, T, g, 0);
    random_split_make(&asked, T, &again, fault);
    if (!is.ok || !asked.ok) return;
    pr_outcome o;
    t->instances++;
    engine(2)->decide(ctx[2], &asked.q, &limits, scratch, &o);
    if (o.answer == PR_ANSWER_UNKNOWN) return;
    t->claims++;
    pr_answer want = random_split_oracle(&is);
    bool wrong = want != PR_ANSWER_UNKNOWN && want != o.answer;
    if (o.answer == PR_ANSWER_WITNESS) wrong |= pr_query_holds(&is.q, &o.point) != PR_YES;
    t->wrong += wrong;
    if (wrong && verbose) show(&is.q, "isl", &o);
}

/* Interval, congruence and truth value of a term, against its value at all points of its box. */
static void one_range(const suite *s, rng *g, int fault, bool verbose, tally *t)
{
    (void)s;
    pr_terms *T = pr_terms_new(arena);
    rng again = *g;
    random_split is, asked;
    random_split_make(&is, T, g, 0);
    random_split_make(&asked, T, &again, fault);
    if (!is.ok || !asked.ok) return;
    pr_box *box = pr_box_new(T);
    for (int i = 0; i < RS_VARS; i++) pr_box_set(box, is.vars[i], is.lo[i], is.hi[i]);
    pr_interval range = pr_range(box, asked.value);
    pr_residue residue = pr_residue_of(box, asked.value);
    pr_tri truth = pr_range_bool(box, asked.truth);
    t->instances++;
    t->claims += (range.lo > -PR_INF && range.hi < PR_INF) || residue.modulus != 1 || truth != PR_MAYBE;
    pr_i128 at[RS_VARS], value, holds;
    bool wrong = range.lo > range.hi;
    for (bool more = random_split_first(&is, at); more && !wrong; more = random_split_next(&is, at)) {
        if (random_split_eval(&is, is.value, at, &value)) {
            wrong |= value < range.lo || value > range.hi;
            wrong |= residue.modulus ? pr_fmod(value - residue.residue, residue.modulus) != 0 : value != residue.residue;
        }
        if (random_split_eval(&is, is.truth, at, &holds)) wrong |= truth != PR_MAYBE && (truth == PR_YES) != (holds != 0);
    }
    t->wrong += wrong;
    if (wrong && verbose) {
        pr_buf text;
        pr_buf_init(&text, scratch);
        pr_query_print(&text, &is.q);
        pr_buf_puts(&text, "term: ");
        pr_term_print(&text, T, is.value);
        fprintf(stderr, "%s\n", text.data);
    }
}

static const suite suites[] = {
    { "closure", one_pair, { PR_DROP_RESIDUE, PR_DROP_AXES, PR_DROP_ALTERNATIVE, PR_DROP_HULL, PR_DROP_SLACK, PR_DROP_P_SLACK, PR_DROP_MIRROR, 0 },
      150, { RP_ANY }, 1, 1 << 1 },
    { "deltas", one_pair, { PR_DROP_RESIDUE, PR_DROP_BOTH_WIDTHS, PR_DROP_AXES, PR_DROP_ABSENT, PR_DROP_W, 0 }, 150, { RP_BOX }, 1, 1 << 0 },
    { "window", one_pair, { PR_DROP_BOTH_WIDTHS, PR_DROP_HULL, 0 }, 50, { RP_WINDOW }, 1, 3 },
    { "lemmas", one_pair, { PR_DROP_P_SLACK, PR_DROP_P_SIGN, PR_DROP_P_FACTOR, PR_DROP_D_KIND, PR_DROP_SIGN, PR_DROP_LIFT_SIGN, PR_DROP_DIVISOR, PR_DROP_ALL_ASSUMED, 0 },
      50, { RP_STRIDE, RP_STRIDES, RP_GRID_STRIDE, RP_DIGITS }, 4, 1 << 1 },
    { "tables", one_pair, { PR_DROP_TABLE_RANGE, PR_DROP_MONOTONE, PR_DROP_BOTH_ORDERS, 0 }, 50, { RP_TABLE }, 1, 1 << 1 },
    { "splits", one_split, { 1, 2, 3, 4, 5, 6, 7, 8, 0 }, 500, { RP_ANY }, 1, 0 },
    { "ranges", one_range, { 1, 2, 3, 4, 5, 6, 7, 8, 0 }, 500, { RP_ANY }, 1, 0 },
};

static void run(const suite *s, int fault, long rounds, uint64_t seed, tally *t)
{
    rng g = { seed };
    *t = (tally){ 0 };
    for (long i = 0; t->instances < rounds && i < 4 * rounds && !t->wrong; i++) {
        pr_arena_pos a = pr_arena_mark(arena), b = pr_arena_mark(scratch);
        s->one(s, &g, fault, fault == 0, t);
        pr_arena_release(scratch, b);
        pr_arena_release(arena, a);
    }
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    long rounds = argc > 2 ? atol(argv[2]) : 100000;
    uint64_t seed = argc > 3 ? (uint64_t)atoll(argv[3]) : 88172645463325252u;
    arena = pr_arena_new(0, NULL), scratch = pr_arena_new(0, NULL);
    pr_arena *keep = pr_arena_new(0, NULL);
    for (int i = 0; i < 80; i++) {                /* one large chunk each, kept by the marks */
        pr_arena_alloc(arena, 8192);
        pr_arena_alloc(scratch, 8192);
    }
    for (int i = 0; i < 3; i++) ctx[i] = engine(i)->open(keep);
    const suite *s = NULL;
    for (size_t i = 0; i < PR_LEN(suites); i++)
        if (strcmp(suites[i].name, name) == 0) s = &suites[i];
    CHECK(s != NULL);
    for (int i = 0; s && s->faults[i]; i++) {
        tally t;
        run(s, s->faults[i], 100000, seed + (uint64_t)i + 1, &t);
        CHECK(t.wrong);
        printf("%s: planted fault %d %s after %ld instances\n", name, s->faults[i], t.wrong ? "noticed" : "NOT noticed", t.instances);
    }
    if (s) {
        tally t;
        run(s, 0, rounds, seed, &t);
        CHECK(t.wrong == 0);
        CHECK(t.instances >= rounds || t.wrong);
        CHECK(t.claims * 1000 >= t.instances * s->least);
        printf("%s: %ld instances, %ld with a claim (%ld under a named condition), %ld wrong (seed %llu)\n", name, t.instances, t.claims,
               t.conditions, t.wrong, (unsigned long long)seed);
    }
    for (int i = 0; i < 3; i++) engine(i)->close(ctx[i]);
    pr_arena_free(keep);
    pr_arena_free(scratch);
    pr_arena_free(arena);
    return check_done();
}
