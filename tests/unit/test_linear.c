/* src/hb/linear.c: a bound of a sum under rows is never below the greatest value that the sum has where the rows hold,
 * found by trying every point; and rows do lower it. So do parameters that have one value over the box, put in as numbers: the
 * sum keeps its value. test_linear [ROUNDS [SEED]] */
#include "check.h"
#include "hb/linear.h"
#include "random_term.h"
#include <stdlib.h>

enum { VARS = 4, ROWS = 4, NUMBERS = 2, ALL = VARS + NUMBERS + 1 };
static const int low[VARS] = { -3, 0, -2, 0 }, high[VARS] = { 3, 7, 1, 4 };

static pr_term some_sum(pr_terms *T, rng *r, const pr_term *x, int most)
{
    pr_i128 c[VARS];
    for (int i = 0; i < VARS; i++) c[i] = rnd(r) % 3 ? rnd_in(r, -most, most) : 0;
    pr_term t = pr_sum(T, x, c, VARS, rnd_in(r, -12, 12));
    if (rnd(r) % 3) return t;
    pr_term number = x[VARS + (int)(rnd(r) % NUMBERS)], other = x[rnd(r) % (VARS + NUMBERS)];      /* a product with a parameter or two */
    if (rnd(r) % 3 == 0) other = pr_add(T, other, pr_mul(T, x[VARS], x[rnd(r) % VARS]));
    return pr_add(T, t, pr_mul(T, pr_const(T, rnd_in(r, -2, 2)), pr_mul(T, number, other)));
}

static pr_i128 value(const pr_terms *T, pr_term t, const pr_i128 *at)
{
    bool known[ALL] = { false, true, true, true, true, true, true };
    pr_i128 v = 0;
    pr_env env = { (pr_i128 *)at, known, ALL };
    CHECK(pr_eval(T, t, &env, &v));
    return v;
}

/* The form's value, part by part. */
static pr_i128 form_value(const pr_terms *T, const pr_linear *f, const pr_i128 *at)
{
    pr_i128 v = f->k;
    for (int i = 0; i < f->n; i++) v += f->c[i] * value(T, f->at[i], at);
    return v;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 20000, lowered = 0, met = 0, numbered = 0;
    rng r = { argc > 2 ? (uint64_t)atoll(argv[2]) : 1 };
    for (int round = 0; round < rounds; round++) {
        pr_arena *arena = pr_arena_new(0, NULL);
        pr_terms *T = pr_terms_new(arena);
        pr_term x[VARS + NUMBERS], row[ROWS], f, condition = PR_TERM_TRUE;
        pr_box *box = pr_box_new(T);
        pr_i128 at[ALL] = { 0 };
        for (int i = 0; i < VARS; i++)
            x[i] = pr_var_term(T, pr_var_new(T, (pr_var_info){ .role = PR_ROLE_OTHER, .index = i, .lo = low[i], .hi = high[i], .name = "x" }));
        for (int i = VARS; i < VARS + NUMBERS; i++) {
            pr_var v = pr_var_new(T, (pr_var_info){ .role = PR_ROLE_PARAM, .index = i, .lo = -6, .hi = 6, .name = "n" });
            x[i] = pr_var_term(T, v);
            at[v.id] = rnd_in(&r, -3, 5);
            pr_box_set(box, v, at[v.id], at[v.id]);
        }
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
        pr_i128 plain = pr_linear_sup(box, &form, &none, -PR_INF), under = pr_linear_sup(box, &form, &rows, -PR_INF);
        CHECK(under <= plain);
        lowered += under < plain;
        pr_linear as_numbers;
        pr_linear_copy(&as_numbers, &form);
        CHECK(pr_linear_numbers(T, box, &as_numbers));
        for (int k = 0; k < rows.n; k++) CHECK(pr_linear_numbers(T, box, &rows.row[k]));
        pr_i128 best = pr_linear_sup(box, &as_numbers, &rows, -PR_INF);
        numbered += best < under;
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
            if (v <= under && v <= best && v == form_value(T, &form, at) && v == form_value(T, &as_numbers, at)) continue;
            printf("round %d: a value above the bound, or a form with another value\n", round);
            return 1;
        }
        met += any;
        pr_arena_free(arena);
    }
    printf("%d rounds, %d with a point, %d bounds lowered by rows, %d by numbers\n", rounds, met, lowered, numbered);
    CHECK(lowered > rounds / 10 && met > rounds / 4 && numbered > rounds / 50);
    return check_done();
}
