/* src/term/query.c, rows.c, lower.c, prepare.c without an engine: overlap, what the rows settle alone,
 * pitfalls that must not be proved, limits and reasons. */
#include "check.h"
#include "random_term.h"
#include "suite.h"
#include "term/rows.h"
#include <string.h>

static pr_arena *arena, *results;
static pr_terms *T;
static pr_var vars[16];
static int n_vars;
static const pr_limits limits = { .max_leaves = 256 };

static void fresh(void)
{
    T = pr_terms_new(arena);
    n_vars = 0;
}

static pr_term var(const char *name, pr_copy copy, pr_i128 lo, pr_i128 hi)
{
    vars[n_vars] = pr_var_new(T, (pr_var_info){ .role = PR_ROLE_OTHER, .index = n_vars, .copy = copy,
                                                .lo = lo, .hi = hi, .name = name });
    return pr_var_term(T, vars[n_vars++]);
}

static pr_term c(pr_i128 v) { return pr_const(T, v); }

/* One or two conjuncts over vars, decided by the rows alone. */
static pr_outcome rows(const pr_term *core, int n, int max_leaves)
{
    pr_query q = { .terms = T, .vars = vars, .n_vars = n_vars, .core = core, .n_core = n, .pair = -1 };
    pr_limits l = limits;
    l.max_leaves = max_leaves;
    pr_outcome o;
    memset(&o, 0, sizeof o);
    pr_rows_decide(&q, &l, 0, results, NULL, NULL, "none", &o);
    return o;
}

static pr_answer answer(pr_term conjunct) { return rows(&conjunct, 1, 256).answer; }

static int overlap(pr_term a, int wa, pr_term b, int wb, pr_term out[2])
{
    pr_query q = { .terms = T, .addr = { a, b }, .width = { wa, wb } };
    return pr_query_overlap(&q, pr_query_box(&q), out);
}

/* decision-engine.md 1.3: an equality only where the residue is shown. */
static void overlaps(void)
{
    pr_term out[2];
    fresh();
    pr_term i = var("i", PR_COPY_A, 0, 1000), j = var("j", PR_COPY_B, 0, 1000);
    pr_term base = var("base", PR_COPY_SHARED, 0, PR_INF);
    CHECK(overlap(pr_scale(T, i, 4), 4, pr_scale(T, j, 4), 4, out) == 1);
    CHECK(pr_term_is(out[0], pr_eq(T, i, j)));
    CHECK(overlap(pr_add(T, base, pr_scale(T, i, 4)), 4, pr_add(T, base, pr_scale(T, j, 4)), 4, out) == 1);
    CHECK(overlap(pr_scale(T, i, 2), 4, pr_scale(T, j, 2), 4, out) == 2);        /* f32 at stride 2 */
    CHECK(overlap(pr_scale(T, i, 4), 4, pr_add(T, pr_scale(T, j, 4), c(2)), 4, out) == 2);
    CHECK(overlap(pr_scale(T, i, 8), 4, pr_scale(T, j, 8), 8, out) == 2);
    CHECK(overlap(c(22), 8, c(15), 8, out) == 2);                               /* [22,30) meets [15,23) */
    CHECK(pr_term_is(pr_and(T, out[0], out[1]), PR_TERM_TRUE));
    CHECK(overlap(c(23), 8, c(15), 8, out) == 1 && pr_term_is(out[0], PR_TERM_FALSE));
    CHECK(overlap(i, 1, j, 1, out) == 1);
    CHECK(overlap(PR_TERM_NONE, 4, j, 4, out) == 0);
}

/* Facts that the rows settle without an engine. */
static void settled(void)
{
    fresh();
    pr_term x = var("x", PR_COPY_NONE, -1000, 1000), y = var("y", PR_COPY_NONE, -1000, 1000);
    pr_term z = var("z", PR_COPY_NONE, 0, 7), e = var("e", PR_COPY_NONE, 0, 7);
    CHECK(answer(pr_eq(T, pr_scale(T, x, 6), pr_add(T, pr_scale(T, y, 4), c(3)))) == PR_ANSWER_EMPTY);
    pr_term q = pr_fdiv_t(T, x, c(4)), r = pr_fmod_t(T, x, c(4));
    CHECK(answer(pr_ne(T, pr_add(T, pr_scale(T, q, 4), r), x)) == PR_ANSWER_EMPTY);
    /* Equal digits of both kinds; equal numbers. */
    pr_term qy = pr_fdiv_t(T, y, c(4)), ry = pr_fmod_t(T, y, c(4));
    pr_term digits = pr_and(T, pr_eq(T, q, qy), pr_eq(T, r, ry));
    CHECK(answer(pr_and(T, digits, pr_ne(T, x, y))) == PR_ANSWER_EMPTY);
    /* p105: a truncating quotient with a floor remainder does not determine x. */
    pr_term tq = pr_tdiv_t(T, x, c(4)), tqy = pr_tdiv_t(T, y, c(4));
    CHECK(answer(pr_and(T, pr_and(T, pr_eq(T, tq, tqy), pr_eq(T, r, ry)), pr_ne(T, x, y)))
          != PR_ANSWER_EMPTY);
    /* ... but a truncating one does. */
    pr_term tr = pr_trem_t(T, x, c(4)), try = pr_trem_t(T, y, c(4));
    CHECK(answer(pr_and(T, pr_and(T, pr_eq(T, tq, tqy), pr_eq(T, tr, try)), pr_ne(T, x, y)))
          == PR_ANSWER_EMPTY);
    /* Splitting with a tail bound from a mask: 8x + z + e with z + e <= 7. */
    pr_term z2 = var("z2", PR_COPY_NONE, 0, 7), e2 = var("e2", PR_COPY_NONE, 0, 7);
    pr_term a = pr_add(T, pr_scale(T, x, 8), pr_add(T, z, e));
    pr_term b = pr_add(T, pr_scale(T, y, 8), pr_add(T, z2, e2));
    pr_term both = pr_and(T, pr_eq(T, a, b), pr_ne(T, x, y));
    CHECK(answer(both) != PR_ANSWER_EMPTY);
    pr_term mask = pr_and(T, pr_le(T, pr_add(T, z, e), c(7)), pr_le(T, pr_add(T, z2, e2), c(7)));
    CHECK(answer(pr_and(T, mask, both)) == PR_ANSWER_EMPTY);
    mask = pr_and(T, pr_le(T, pr_add(T, z, e), c(8)), pr_le(T, pr_add(T, z2, e2), c(7)));
    CHECK(answer(pr_and(T, mask, both)) != PR_ANSWER_EMPTY);
    /* Bits of small operands, small divisors including 0. */
    CHECK(answer(pr_lt(T, pr_add(T, z, e), pr_bor(T, z, e))) == PR_ANSWER_EMPTY);
    CHECK(answer(pr_ne(T, pr_add(T, pr_mul(T, z, pr_fdiv_t(T, x, z)), pr_fmod_t(T, x, z)), x))
          != PR_ANSWER_WITNESS);
    pr_term one = pr_and(T, pr_eq(T, z, c(0)), pr_ne(T, pr_fdiv_t(T, x, z), c(0)));
    CHECK(answer(one) == PR_ANSWER_EMPTY);
    one = pr_and(T, pr_eq(T, z, c(0)), pr_ne(T, pr_fmod_t(T, x, z), x));
    CHECK(answer(one) == PR_ANSWER_EMPTY);
    /* A premise that needs a case: |x| <= 3 from max(x, -x) <= 3. */
    pr_term abs = pr_max(T, x, pr_neg(T, x));
    CHECK(answer(pr_and(T, pr_le(T, abs, c(3)), pr_lt(T, c(3), x))) == PR_ANSWER_EMPTY);
    CHECK(answer(pr_and(T, pr_le(T, abs, c(3)), pr_eq(T, x, c(3)))) == PR_ANSWER_WITNESS);
    /* fits, positive and negative */
    pr_term f = pr_fits(T, PR_FITS_SIGNED, 8, x);
    CHECK(answer(pr_and(T, f, pr_lt(T, c(127), x))) == PR_ANSWER_EMPTY);
    CHECK(answer(pr_and(T, pr_not(T, f), pr_and(T, pr_le(T, x, c(127)), pr_le(T, c(-128), x))))
          == PR_ANSWER_EMPTY);
    CHECK(answer(PR_TERM_TRUE) == PR_ANSWER_WITNESS);
    CHECK(answer(PR_TERM_FALSE) == PR_ANSWER_EMPTY);
}

/* Unknown with its reason, never EMPTY. */
static void unknowns(void)
{
    fresh();
    pr_term x = var("x", PR_COPY_NONE, -PR_INF, PR_INF), y = var("y", PR_COPY_NONE, 1, PR_INF);
    pr_term t = pr_eq(T, pr_mul(T, x, y), c(6));
    pr_outcome o = rows(&t, 1, 256);
    CHECK(o.answer == PR_ANSWER_UNKNOWN && o.why == PR_REFUSAL_NEEDS_SMT);
    CHECK(o.message && strstr(o.message, "(* x y)"));
    t = pr_eq(T, pr_fmod_t(T, x, y), c(6));
    o = rows(&t, 1, 256);
    CHECK(o.answer == PR_ANSWER_UNKNOWN && o.why == PR_REFUSAL_NEEDS_SMT);
    t = pr_and(T, pr_eq(T, pr_bxor(T, x, y), c(6)), pr_lt(T, x, c(3)));
    o = rows(&t, 1, 256);
    CHECK(o.answer == PR_ANSWER_UNKNOWN && o.why == PR_REFUSAL_NEEDS_SMT);
    /* An over-approximated term still proves when it does not matter. */
    t = pr_and(T, pr_eq(T, pr_mul(T, x, y), c(6)), pr_and(T, pr_lt(T, x, y), pr_lt(T, y, x)));
    CHECK(rows(&t, 1, 256).answer == PR_ANSWER_EMPTY);
    t = PR_TERM_NONE;
    o = rows(&t, 1, 256);
    CHECK(o.answer == PR_ANSWER_UNKNOWN && o.why != PR_REFUSAL_NONE && o.message);
    /* Coefficients whose combination leaves 128 bits: the raw rows go to the engine; without one, unknown. */
    pr_i128 big = ((pr_i128)1 << 119) - 1;
    pr_term z = var("z", PR_COPY_NONE, -PR_INF, PR_INF);
    pr_term two[2] = { pr_eq(T, pr_add(T, pr_scale(T, x, big), y), pr_scale(T, z, 3)),
                       pr_eq(T, pr_add(T, x, pr_scale(T, y, big - 2)), pr_scale(T, z, big - 8)) };
    o = rows(two, 2, 256);
    CHECK(o.answer != PR_ANSWER_EMPTY);
}

/* Ten independent disjunctions: the cap stops the enumeration; the core decides first. */
static void leaf_cap(void)
{
    fresh();
    static const char *const name[] = { "z0", "z1", "z2", "z3", "z4", "z5", "z6", "z7", "z8", "z9" };
    pr_term x = var("x", PR_COPY_NONE, 0, 1000000), y = var("y", PR_COPY_NONE, 0, 1000000);
    pr_term masks = PR_TERM_TRUE, sum = x;
    for (int i = 0; i < 10; i++) {
        pr_term z = var(name[i], PR_COPY_NONE, 0, 9);
        masks = pr_and(T, masks, pr_ne(T, z, c(i % 5 + 2)));
        sum = pr_add(T, sum, pr_scale(T, z, i + 7));
    }
    pr_term hard = pr_and(T, masks, pr_eq(T, pr_scale(T, sum, 3), pr_add(T, pr_scale(T, y, 5), c(1))));
    pr_outcome o = rows(&hard, 1, 8);
    CHECK(o.answer == PR_ANSWER_UNKNOWN && o.why == PR_REFUSAL_BUDGET && o.leaves <= 9);
    pr_term core = pr_and(T, masks, pr_and(T, pr_lt(T, pr_add(T, x, y), c(10)), pr_lt(T, c(10), x)));
    o = rows(&core, 1, 8);
    CHECK(o.answer == PR_ANSWER_EMPTY && o.leaves == 0);
}

/* Every safe kernel of the suite but the swizzle closes without an engine. */
static void safe_kernels(void)
{
    for (int i = 0; i < (int)PR_LEN(suite); i++) {
        for (int symbolic = 0; symbolic < 2; symbolic++) {
            pr_arena *a = pr_arena_new(0, NULL), *scratch = pr_arena_new(0, NULL);
            pr_terms *store = pr_terms_new(a);
            pr_query q = suite_query(store, a, i, false, symbolic);
            pr_outcome o;
            memset(&o, 0, sizeof o);
            pr_rows_decide(&q, &limits, 0, scratch, NULL, NULL, "none", &o);
            bool settles = suite[i].linear[symbolic] && strcmp(suite[i].name, "d swizzle") != 0;
            CHECK(o.answer == (settles ? PR_ANSWER_EMPTY : o.answer));
            CHECK(o.answer != PR_ANSWER_WITNESS);
            if (settles && o.answer != PR_ANSWER_EMPTY) fprintf(stderr, "  %s %d\n", suite[i].name, symbolic);
            pr_arena_free(scratch);
            pr_arena_free(a);
        }
    }
}

/* ---- nested disjunctions against brute force ---------------------------------------------------------------- */

enum { BOX_VARS = 4, BOX_TOP = 4, BOX_ROUNDS = 4000 };

static pr_i128 in_leaf(const pr_leaf *l, const pr_row *r, const pr_i128 *x)
{
    pr_i128 sum = r->k;
    for (int j = 0; j < l->n_cols; j++) sum += r->c[j] * x[j];
    return sum;
}

/* An engine for leaves of few points: tries them all. */
static pr_answer try_all(void *user, const pr_leaf *l, pr_i128 *x, pr_refusal_kind *why)
{
    (void)user, (void)why;
    double points = 1;
    for (int j = 0; j < l->n_cols; j++) {
        if (l->lo[j] > l->hi[j]) return PR_ANSWER_EMPTY;
        points *= (double)(l->hi[j] - l->lo[j] + 1);
        x[j] = l->lo[j];
    }
    if (points > 1e6) return PR_ANSWER_UNKNOWN;
    for (;;) {
        bool all = true;
        for (int i = 0; i < l->n_rows && all; i++) {
            pr_i128 v = in_leaf(l, &l->rows[i], x);
            all = l->rows[i].equality ? v == 0 : v >= 0;
        }
        if (all) return PR_ANSWER_WITNESS;
        int j = l->n_cols - 1;
        for (; j >= 0 && x[j] == l->hi[j]; j--) x[j] = l->lo[j];
        if (j < 0) return PR_ANSWER_EMPTY;
        x[j]++;
    }
}

static pr_term some_formula(rng *g, const pr_term *v, int depth)
{
    if (depth == 0 || rnd_in(g, 0, 5) == 0) {
        pr_term t = c(rnd_in(g, -8, 8));
        for (int i = 0; i < BOX_VARS; i++)
            if (rnd_in(g, 0, 1)) t = pr_add(T, t, pr_scale(T, v[i], rnd_in(g, -3, 3)));
        if (rnd_in(g, 0, 7) == 0) t = pr_add(T, t, pr_min(T, v[rnd_in(g, 0, BOX_VARS - 1)], v[rnd_in(g, 0, BOX_VARS - 1)]));
        if (rnd_in(g, 0, 7) == 0) t = pr_sub(T, t, pr_fdiv_t(T, v[rnd_in(g, 0, BOX_VARS - 1)], c(2)));
        return rnd_in(g, 0, 3) ? pr_le(T, t, c(0)) : pr_eq(T, t, c(0));
    }
    pr_term a = some_formula(g, v, depth - 1), b = some_formula(g, v, depth - 1);
    int kind = (int)rnd_in(g, 0, 5);
    return kind == 0 ? pr_not(T, pr_and(T, a, b)) : kind < 3 ? pr_and(T, a, b) : pr_or(T, a, b);
}

/* Alternatives that exclude each other, bounds learnt along a branch and truth read off bounds lose no point and
 * add none: every answer is that of brute force. */
static void formulas(void)
{
    static const char *const name[] = { "a", "b", "c", "d" };
    rng g = { 20260607 };
    int empty = 0, witness = 0, unknown = 0;
    for (int round = 0; round < BOX_ROUNDS; round++) {
        pr_arena_pos mark = pr_arena_mark(arena), other = pr_arena_mark(results);
        fresh();
        pr_term v[BOX_VARS], core[8];
        for (int i = 0; i < BOX_VARS; i++) v[i] = var(name[i], PR_COPY_NONE, 0, BOX_TOP);
        int n = (int)rnd_in(&g, 2, 7);
        for (int i = 0; i < n; i++) core[i] = some_formula(&g, v, (int)rnd_in(&g, 1, 3));
        pr_query q = { .terms = T, .vars = vars, .n_vars = n_vars, .core = core, .n_core = n, .pair = -1 };
        pr_i128 x[BOX_VARS] = { 0 };
        bool any = false;
        for (int64_t p = 0; p < 625 && !any; p++) {
            int64_t rest = p;
            for (int i = 0; i < BOX_VARS; i++, rest /= BOX_TOP + 1) x[i] = rest % (BOX_TOP + 1);
            any = pr_query_holds(&q, &(pr_point){ x, BOX_VARS }) == PR_YES;
        }
        pr_outcome o;
        memset(&o, 0, sizeof o);
        pr_rows_decide(&q, &limits, 0, results, try_all, NULL, "all points", &o);
        if (o.answer == PR_ANSWER_UNKNOWN) unknown++;
        else CHECK(o.answer == (any ? PR_ANSWER_WITNESS : PR_ANSWER_EMPTY));
        empty += o.answer == PR_ANSWER_EMPTY;
        witness += o.answer == PR_ANSWER_WITNESS;
        pr_arena_release(results, other);
        pr_arena_release(arena, mark);
    }
    CHECK(empty > BOX_ROUNDS / 10 && witness > BOX_ROUNDS / 10 && unknown < BOX_ROUNDS / 50);
}

/* --- distances as columns ------------------------------------------------------------------------- */

enum { SYSTEM_COLS = 6, SYSTEM_ROWS = 4, P = 0, A, B, QA, QB, R };
typedef struct small_system { int n, lo[SYSTEM_COLS], hi[SYSTEM_COLS], c[SYSTEM_ROWS][SYSTEM_COLS], k[SYSTEM_ROWS]; bool equality[SYSTEM_ROWS]; } small_system;

/* p + a and p + b taken apart into quotient and one remainder, a and b in an order, and at times a row more. */
static void make_system(small_system *s, rng *g)
{
    *s = (small_system){ .n = 3 + rnd(g) % 2 };
    int d = rnd_in(g, 2, 4), step = rnd_in(g, 1, 3);
    const int most[SYSTEM_COLS] = { 5, 3, 3, 4, 4, 2 };
    for (int j = 0; j < SYSTEM_COLS; j++) {
        s->lo[j] = rnd(g) % 4 ? 0 : rnd_in(g, -1, 1);
        s->hi[j] = s->lo[j] + rnd_in(g, 1, most[j]);
    }
    s->c[0][A] = rnd(g) % 2 ? 1 : -1, s->c[0][B] = -s->c[0][A], s->k[0] = -rnd_in(g, 0, 2);
    s->equality[1] = s->equality[2] = true;
    s->c[1][P] = s->c[2][P] = -step, s->c[1][A] = s->c[2][B] = -1, s->c[1][QA] = s->c[2][QB] = d, s->c[1][R] = s->c[2][R] = 1;
    s->k[1] = rnd_in(g, -1, 1), s->k[2] = rnd(g) % 3 ? s->k[1] : rnd_in(g, -1, 1);
    if (rnd(g) % 4 == 0) s->c[2][rnd_in(g, 0, R)] += rnd_in(g, -1, 1);
    s->equality[3] = rnd(g) % 3 == 0;
    for (int j = 0; j < SYSTEM_COLS; j++) s->c[3][j] = rnd(g) % 2 ? rnd_in(g, -2, 2) : 0;
    s->k[3] = rnd_in(g, -2, 4);
}

static bool has_point(const small_system *s)
{
    int at[SYSTEM_COLS];
    memcpy(at, s->lo, sizeof at);
    for (;;) {
        bool holds = true;
        for (int i = 0; i < s->n && holds; i++) {
            int sum = s->k[i];
            for (int j = 0; j < SYSTEM_COLS; j++) sum += s->c[i][j] * at[j];
            holds = s->equality[i] ? sum == 0 : sum >= 0;
        }
        if (holds) return true;
        int j = 0;
        while (j < SYSTEM_COLS && at[j] == s->hi[j]) at[j] = s->lo[j], j++;
        if (j == SYSTEM_COLS) return false;
        at[j]++;
    }
}

static pr_system *system_with(const small_system *s, pr_arena *scratch)
{
    pr_system *x = pr_system_new(scratch, SYSTEM_COLS, s->n);
    for (int j = 0; j < SYSTEM_COLS; j++) x->lo[j] = s->lo[j], x->hi[j] = s->hi[j];
    for (int i = 0; i < s->n; i++) {
        pr_system_row(x);
        for (int j = 0; j < SYSTEM_COLS; j++)
            if (s->c[i][j]) pr_system_put(x, i, j, s->c[i][j]);
        x->k[i] = s->k[i];
        x->kind[i] = s->equality[i] ? PR_ROW_EQ : PR_ROW_GE;
    }
    return x;
}

/* What they show empty has no point, and they show more of it than the rows alone. */
static void distances(void)
{
    rng g = { 20261130u };
    int empty = 0, shown = 0, plain = 0;
    for (int round = 0; round < 6000; round++) {
        pr_arena *scratch = pr_arena_new(0, NULL);
        small_system s;
        make_system(&s, &g);
        pr_system *x = system_with(&s, scratch);
        bool alone = pr_system_prepare(system_with(&s, scratch), 0) == PR_PREPARED_EMPTY;
        bool with = pr_system_distances(x) && pr_system_prepare(x, 0) == PR_PREPARED_EMPTY, none = !has_point(&s);
        CHECK(!with || none);
        CHECK(!alone || none);
        empty += none;
        shown += with && !alone;
        plain += alone;
        pr_arena_free(scratch);
    }
    CHECK(empty > 1000 && shown >= 1);
    printf("distances: %d empty, %d shown by the rows, %d more by distances\n", empty, plain, shown);
}

int main(void)
{
    arena = pr_arena_new(0, NULL);
    results = pr_arena_new(0, NULL);
    overlaps();
    settled();
    unknowns();
    leaf_cap();
    formulas();
    safe_kernels();
    distances();
    pr_arena_free(results);
    pr_arena_free(arena);
    return check_done();
}
