/* src/hb/linear.c: a bound of a sum under rows is never below the greatest value that the sum has where the rows hold,
 * found by trying every point; and rows do lower it. test_linear [ROUNDS [SEED]] */
#include "check.h"
#include "hb/linear.h"
#include "random_term.h"
#include <stdlib.h>

enum { VARS = 4, ROWS = 4 };
static const int low[VARS] = { -3, 0, -2, 0 }, high[VARS] = { 3, 7, 1, 4 };

static pr_term some_sum(pr_terms *T, rng *r, const pr_term *x, int most)
{
    pr_i128 c[VARS];
    for (int i = 0; i < VARS; i++) c[i] = rnd(r) % 3 ? rnd_in(r, -most, most) : 0;
    return pr_sum(T, x, c, VARS, rnd_in(r, -12, 12));
}

static pr_i128 value(const pr_terms *T, pr_term t, const pr_i128 *at)
{
    bool known[VARS + 1] = { false, true, true, true, true };
    pr_i128 v = 0;
    pr_env env = { (pr_i128 *)at, known, VARS + 1 };
    CHECK(pr_eval(T, t, &env, &v));
    return v;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 20000, lowered = 0, met = 0;
    rng r = { argc > 2 ? (uint64_t)atoll(argv[2]) : 1 };
    for (int round = 0; round < rounds; round++) {
        pr_arena *arena = pr_arena_new(0, NULL);
        pr_terms *T = pr_terms_new(arena);
        pr_term x[VARS], row[ROWS], f, condition = PR_TERM_TRUE;
        for (int i = 0; i < VARS; i++)
            x[i] = pr_var_term(T, pr_var_new(T, (pr_var_info){ .role = PR_ROLE_OTHER, .index = i, .lo = low[i], .hi = high[i], .name = "x" }));
        int n = (int)(rnd(&r) % (ROWS + 1));
        pr_linear_rows rows = { .n = 0 }, none = { .n = 0 };
        for (int k = 0; k < n; k++) {
            row[k] = rnd(&r) % 5 ? pr_le(T, some_sum(T, &r, x, 3), PR_TERM_ZERO) : pr_eq(T, some_sum(T, &r, x, 2), PR_TERM_ZERO);
            if (rnd(&r) % 2) condition = pr_and(T, condition, row[k]);
            else pr_linear_rows_of(T, row[k], &rows);
        }
        pr_linear_rows_of(T, condition, &rows);
        f = some_sum(T, &r, x, 6);
        pr_linear form;
        pr_linear_zero(&form);
        CHECK(pr_linear_add(T, &form, f, 1));
        pr_box *box = pr_box_new(T);
        pr_i128 plain = pr_linear_sup(box, &form, &none, -PR_INF), under = pr_linear_sup(box, &form, &rows, -PR_INF);
        CHECK(under <= plain);
        lowered += under < plain;
        pr_i128 at[VARS + 1] = { 0 };
        bool any = false;
        for (int p = 0;; p++) {
            int rest = p;
            for (int i = 0; i < VARS; i++) {
                int size = high[i] - low[i] + 1;
                at[i + 1] = low[i] + rest % size;
                rest /= size;
            }
            if (rest) break;
            bool holds = true;
            for (int k = 0; k < n && holds; k++) holds = value(T, row[k], at) != 0;
            if (!holds) continue;
            any = true;
            pr_i128 v = value(T, f, at);
            if (v <= under) continue;
            printf("round %d: a value above the bound\n", round);
            return 1;
        }
        met += any;
        pr_arena_free(arena);
    }
    printf("%d rounds, %d with a point, %d bounds lowered by rows\n", rounds, met, lowered);
    CHECK(lowered > rounds / 10 && met > rounds / 4);
    return check_done();
}
