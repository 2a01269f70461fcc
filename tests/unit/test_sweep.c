/* src/pre/derive.c: races whose addresses differ in quotients and remainders are found among the first
 * instances, however far apart the programs are; their safe twins are not. */
#include "check.h"
#include "pre/pre.h"
#include "pre/tape.h"
#include "random_query.h"
#include "term/query.h"
#include <stdlib.h>
#include <string.h>

#define DIMS(programs, lanes)                                                                             \
    "(query (copies inter same 0 0) (var A.p pid 0 a 0 " programs ") (var B.p pid 0 b 0 " programs ") "     \
    "(var A.l lane 0 a 0 " lanes ") (var B.l lane 0 b 0 " lanes ") (twin A.p B.p) (twin A.l B.l) "
#define LESS "(distinct (<= (+ 1 A.p (* -1 B.p)) 0)) "
#define SAME_PROGRAM(programs, lanes)                                                                     \
    "(query (copies intra same 0 0) (var P pid 0 a 0 " programs ") (var A.l lane 0 a 0 " lanes ") "         \
    "(var B.l lane 0 b 0 " lanes ") (twin A.l B.l) (distinct (<= (+ 1 A.l (* -1 B.l)) 0)) "

static const struct { const char *name; bool race; const char *a, *b, *head, *address; } cases[] = {
    { "transposed, rows one short", true, "(+ (* 1024 A.p) A.l)", "(+ (* 1024 B.p) B.l)", DIMS("1079", "1023") LESS,
      "(+ (* 996 (fdiv %x 65000)) (* 16932 (fmod %x 260)) (* 4 (fmod (fdiv %x 260) 250)))" },
    { "transposed", false, "(+ (* 1024 A.p) A.l)", "(+ (* 1024 B.p) B.l)", DIMS("1079", "1023") LESS,
      "(+ (* 1000 (fdiv %x 65000)) (* 18000 (fmod %x 260)) (* 4 (fmod (fdiv %x 260) 250)))" },
    { "transposed, one program", true, "(+ (* 1024 P) A.l)", "(+ (* 1024 P) B.l)", SAME_PROGRAM("1079", "1023"),
      "(+ (* 996 (fdiv %x 65000)) (* 16932 (fmod %x 260)) (* 4 (fmod (fdiv %x 260) 250)))" },
    { "overlapping windows, nested quotients", true, "(+ (* 512 A.p) A.l)", "(+ (* 512 B.p) B.l)", DIMS("106", "511") LESS,
      "(+ (* 4 (fmod %x 89)) (* 364 (fmod (fdiv %x 89) 68)) (* 364 (fdiv (fdiv %x 6052) 3)) (* 4 (fmod (fdiv %x 6052) 3)))" },
    { "digits swapped, rows one short", true, "(+ (* 4096 A.p) A.l)", "(+ (* 4096 B.p) B.l)", DIMS("1048575", "4095") LESS,
      "(+ (* 4 (fdiv %x 1000)) (* 17179868 (fmod %x 1000)))" },
    { "digits swapped", false, "(+ (* 4096 A.p) A.l)", "(+ (* 4096 B.p) B.l)", DIMS("1048575", "4095") LESS,
      "(+ (* 4 (fdiv %x 1000)) (* 17179872 (fmod %x 1000)))" },
};

/* The query with copy A's and copy B's index put in for %x. */
static void put(char *out, const char *text, const char *x)
{
    for (; *text; text++) {
        if (text[0] == '%' && text[1] == 'x') {
            strcpy(out, x);
            out += strlen(x);
            text++;
        } else {
            *out++ = *text;
        }
    }
    *out = 0;
}

/* One tape over many points, each with a few variables changed since the one before, as the walks do: every value is
 * the term's own. Some points are beyond 64 bits, and after those the tape starts over. */
static void test_tape(int rounds)
{
    rng g = { 20261130 };
    for (int round = 0; round < rounds; round++) {
        pr_arena *arena = pr_arena_new(0, NULL);
        pr_terms *T = pr_terms_new(arena);
        random_query r = { 0 };
        random_query_make(&r, T, &g, rnd(&g) % 4);
        const pr_query *q = &r.q;
        pr_tape *x = pr_tape_new(arena, q);
        int slot[16], n = 0;
        pr_term root[16];
        for (int i = 0; i < q->n_core && n < 8; i++) root[n++] = q->core[i];
        for (int i = 0; i < q->n_distinct && n < 12; i++) root[n++] = q->distinct[i];
        for (int i = 0; i < 2; i++) root[n++] = q->addr[i];
        bool fits = true;
        for (int i = 0; i < n; i++) fits = (slot[i] = pr_tape_add(x, root[i])) >= 0 && fits;
        uint32_t vars = pr_vars_count(T);
        pr_i128 *at = PR_NEW_N(arena, pr_i128, q->n_vars + 1), *value = PR_NEW_N(arena, pr_i128, vars);
        bool *known = PR_NEW_N(arena, bool, vars);
        pr_env env = { value, known, vars };
        for (int point = 0; point < 40 && fits; point++) {
            for (int change = rnd_in(&g, 0, 2); change >= 0 && q->n_vars; change--) {
                int v = rnd_in(&g, 0, q->n_vars - 1);
                at[v] = rnd_in(&g, -9, 9);
                if (rnd(&g) % 16 == 0) at[v] *= (pr_i128)1 << rnd_in(&g, 30, 100);
            }
            for (int v = 0; v < q->n_vars; v++) {
                value[q->vars[v].id] = at[v];
                known[q->vars[v].id] = true;
            }
            pr_tape_run(x, at);
            for (int i = 0; i < n; i++) {
                pr_i128 is = 0, should = 0;
                bool has = pr_tape_value(x, slot[i], &is), ought = pr_eval(T, root[i], &env, &should);
                CHECK(has == ought && (!has || is == should));
            }
        }
        pr_arena_free(arena);
    }
}

static pr_tri all_of(const pr_terms *T, const pr_term *t, int n, const pr_env *env)
{
    pr_tri r = PR_YES;
    for (int i = 0; i < n; i++) {
        pr_i128 v;
        if (!pr_eval(T, t[i], env, &v)) r = PR_MAYBE;
        else if (!v) return PR_NO;
    }
    return r;
}

/* The three tapes of a pair over many points: what they say of each copy, of both and of the addresses is what the terms say,
 * also at the point after one where a condition was false and the rest was not looked at. */
static void test_trio(int rounds)
{
    enum { OWN = 3, BOTH = 2 };
    rng g = { 20261201 };
    int answers[3] = { 0 };
    for (int round = 0; round < rounds; round++) {
        pr_arena *arena = pr_arena_new(0, NULL);
        pr_terms *T = pr_terms_new(arena);
        random_query r = { 0 };
        random_query_make(&r, T, &g, RT_DIV | RT_CHOICE);
        pr_query q = r.q;
        pr_term core[2 * OWN + BOTH], v[RQ_VARS];
        for (int i = 0; i < RQ_VARS; i++) v[i] = pr_var_term(T, r.vars[i]);
        for (int c = 0; c < 2; c++)
            for (int i = 0; i < OWN; i++) core[c * OWN + i] = random_bool(T, &g, v + c * RQ_DIMS, RQ_DIMS, 3, RT_DIV | RT_CHOICE);
        for (int i = 0; i < BOTH; i++) core[2 * OWN + i] = random_bool(T, &g, v, RQ_VARS, 2, RT_DIV);
        q.core = core;
        q.n_core = 2 * OWN + BOTH;
        q.n_core_a = q.n_core_b = OWN;
        q.is_pair = true;
        pr_trio x;
        pr_i128 at[RQ_VARS] = { 0 }, value[64] = { 0 };
        bool known[64] = { false }, made = pr_trio_make(&x, &q, arena);
        pr_env env = { value, known, 64 };
        for (int point = 0; point < 60 && made; point++) {
            for (int change = rnd_in(&g, 0, 2); change >= 0; change--) {
                int i = rnd_in(&g, 0, RQ_VARS - 1);
                at[i] = rnd_in(&g, -9, 9);
                if (rnd(&g) % 24 == 0) at[i] *= (pr_i128)1 << rnd_in(&g, 30, 100);
            }
            for (int i = 0; i < RQ_VARS; i++) value[r.vars[i].id] = at[i], known[r.vars[i].id] = true;
            for (int c = 0; c < 2; c++) {
                if (rnd(&g) % 4 == 0) continue;           /* a tape that was not run at every point */
                pr_i128 address = 0, want = 0;
                pr_tri got = pr_trio_copy(&x, c, at, &address), expected = all_of(T, core + c * OWN, OWN, &env);
                if (expected != PR_NO && !pr_eval(T, q.addr[c], &env, &want)) expected = PR_MAYBE;
                CHECK(got == expected && (got != PR_YES || address == want));
                answers[got]++;
            }
            pr_tri expected = all_of(T, core + 2 * OWN, BOTH, &env), some = q.n_distinct ? PR_NO : PR_YES;
            for (int i = 0; i < q.n_distinct && some != PR_YES; i++) {
                pr_tri one = all_of(T, &q.distinct[i], 1, &env);
                if (one != PR_NO) some = one;
            }
            pr_tri got = pr_trio_both(&x, at);
            CHECK((got == PR_YES) == (expected == PR_YES && some == PR_YES) && (expected != PR_NO || got == PR_NO));
        }
        pr_arena_free(arena);
    }
    CHECK(answers[PR_YES] > rounds && answers[PR_NO] > rounds);
}

/* For all parameters, at a launch: its numbers refute, and only they are looked at. The stride is 64 or more, so rows of 64
 * lanes never meet; rows of 96 lanes meet under a stride of 80. */
static const struct { const char *name; pr_i128 stride; bool hint, race; const char *text; } launches[] = {
#define ROWS(lanes)                                                                                       \
    "(query (copies inter same 0 0) (var A.p pid 0 a 0 99) (var B.p pid 0 b 0 99) (var A.l lane 0 a 0 " lanes ") " \
    "(var B.l lane 0 b 0 " lanes ") (var S param 0 shared 64 2147483647) (twin A.p B.p) (twin A.l B.l) " LESS \
    "(addr 4 (+ (* 4 (* A.p S)) (* 4 A.l))) (addr 4 (+ (* 4 (* B.p S)) (* 4 B.l))))"
#define WRAPS(programs, most)                                                                             \
    "(query (var A.p pid 0 a 0 " programs ") (var A.k iter 0 a 0 7) (var S param 0 shared 0 " most ") "       \
    "(core (not (fits i32 (+ (* A.p S) (* -1 A.k))))) (core (<= A.k 3)))"
    { "rows that meet at the launch", 80, true, true, ROWS("95") },
    { "rows that meet elsewhere only", 96, true, false, ROWS("95") },
    { "products without numbers have no differences to look at", 0, false, false, ROWS("95") },
    { "rows that never meet", 64, true, false, ROWS("63") },
    { "an operation that may wrap", 1, true, true, WRAPS("65535", "65536") },
    { "one that does not", 1, true, false, WRAPS("32767", "65536") },
};

static void test_launches(pr_arena *arena)
{
    const pr_limits limits = { .max_ops = 20000, .first_ops = 700, .max_leaves = 256, .probe = true, .only_empty = true };
    const pr_engine *sweep = pr_engine_sweep();
    pr_engine_ctx *ctx = sweep->open(arena);
    for (size_t i = 0; i < PR_LEN(launches); i++) {
        const char *why = "";
        pr_outcome o;
        pr_terms *T = pr_terms_new(arena);
        pr_query *q = pr_query_parse(T, arena, (pr_str){ launches[i].text, strlen(launches[i].text) }, &why);
        CHECK(q != NULL);
        if (!q) {
            fprintf(stderr, "%s: %s\n", launches[i].name, why);
            continue;
        }
        uint32_t n = pr_vars_count(T);
        pr_i128 *value = PR_NEW_N(arena, pr_i128, n);
        bool *known = PR_NEW_N(arena, bool, n), met = false;
        for (uint32_t v = 1; v < n; v++)
            if (pr_var_get(T, (pr_var){ v })->role == PR_ROLE_PARAM) known[v] = true, value[v] = launches[i].stride;
        pr_env env = { value, known, n };
        if (launches[i].hint) q->hint = &env;
        sweep->decide(ctx, q, &limits, arena, &o);
        met = o.answer == PR_ANSWER_WITNESS;
        CHECK(met == launches[i].race && o.answer != PR_ANSWER_EMPTY);
        if (met) CHECK(pr_query_holds(q, &o.point) == PR_YES);
        for (int v = 0; v < q->n_vars && met && launches[i].hint && q->is_pair; v++)
            if (pr_var_get(T, q->vars[v])->role == PR_ROLE_PARAM) CHECK(o.point.value[v] == launches[i].stride);
        if (check_failures) fprintf(stderr, "  %s\n", launches[i].name);
    }
    sweep->close(ctx);
}

int main(void)
{
    test_tape(400);
    test_trio(400);
    static const pr_limits limits = { .max_ops = 20000, .first_ops = 700, .max_leaves = 256 };
    pr_arena *arena = pr_arena_new(0, NULL);
    const pr_engine *sweep = pr_engine_sweep();
    pr_engine_ctx *ctx = sweep->open(arena);
    for (size_t i = 0; i < PR_LEN(cases); i++) {
        char one[1024], two[1024], text[4096];
        const char *why = "";
        pr_outcome o;
        put(one, cases[i].address, cases[i].a);
        put(two, cases[i].address, cases[i].b);
        snprintf(text, sizeof text, "%s (addr 4 %s) (addr 4 %s))", cases[i].head, one, two);
        pr_query *q = pr_query_parse(pr_terms_new(arena), arena, (pr_str){ text, strlen(text) }, &why);
        CHECK(q != NULL);
        if (!q) {
            fprintf(stderr, "%s: %s\n", why, text);
            continue;
        }
        sweep->decide(ctx, q, &limits, arena, &o);
        CHECK(o.answer == (cases[i].race ? PR_ANSWER_WITNESS : PR_ANSWER_UNKNOWN));
        if (o.answer == PR_ANSWER_WITNESS) CHECK(pr_query_holds(q, &o.point) == PR_YES);
        if (check_failures) fprintf(stderr, "  %s\n", cases[i].name);
    }
    sweep->close(ctx);
    test_launches(arena);
    pr_arena_free(arena);
    return check_done();
}
