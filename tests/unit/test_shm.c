/* Closed forms of loop-carried scalars (shm/phases.h) against plain iteration, and relations (poly/relation.h)
 * at points. */
#include "check.h"
#include "poly/relation.h"
#include "shm/phases.h"

static uint64_t seed = 88172645463325252u;
static int pick(int n)
{
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (int)(seed % (uint64_t)n);
}

static pr_var var(pr_terms *T, pr_var_role role, int index, const char *name)
{
    pr_var_info i = { .role = role, .index = index, .copy = PR_COPY_NONE, .lo = -PR_INF, .hi = PR_INF, .name = name };
    if (role == PR_ROLE_ITER) i.lo = 0;
    return pr_var_new(T, i);
}

static pr_i128 eval(pr_terms *T, pr_arena *a, pr_term t, const pr_var *v, const int64_t *x, int n, bool *ok)
{
    uint32_t vars = pr_vars_count(T);
    pr_i128 *value = PR_NEW_N(a, pr_i128, vars), r = 0;
    bool *known = PR_NEW_N(a, bool, vars);
    for (int i = 0; i < n; i++) value[v[i].id] = x[i], known[v[i].id] = true;
    pr_env env = { value, known, vars };
    *ok = !pr_term_none(t) && pr_eval(T, t, &env, &r);
    return r;
}

/* A ring counter and its phase, perhaps guarded by k < bound, perhaps with an initial value by a condition;
 * a delayed copy; the order of the three is random. */
static void test_recover(void)
{
    int recovered = 0, wrong = 0;
    for (int round = 0; round < 400; round++) {
        pr_arena *a = pr_arena_new(0, NULL);
        pr_terms *T = pr_terms_new(a);
        pr_var k = var(T, PR_ROLE_ITER, 0, "k"), u = var(T, PR_ROLE_PARAM, 0, "u");
        pr_var x[3] = { var(T, PR_ROLE_OTHER, 0, "x"), var(T, PR_ROLE_OTHER, 1, "y"), var(T, PR_ROLE_OTHER, 2, "z") };
        pr_term X = pr_var_term(T, x[0]), Y = pr_var_term(T, x[1]), one = pr_const(T, 1), K = pr_var_term(T, k);
        int slots = 1 + pick(4), shape = pick(4);
        pr_term up = pr_add(T, X, one), wraps = pick(2) ? pr_eq(T, up, pr_const(T, slots)) : pr_le(T, pr_const(T, slots), up);
        pr_term next = pr_select(T, wraps, PR_TERM_ZERO, up), flip = pr_select(T, wraps, pr_bxor(T, Y, one), Y);
        pr_term guard = pr_lt(T, pr_add(T, K, pr_const(T, pick(3))), pr_var_term(T, u));
        pr_shm_carried c[3] = { { .state = x[0], .init = pr_const(T, pick(slots + 1) - 1), .update = next },
                                { .state = x[1], .init = pr_const(T, pick(2)), .update = flip },
                                { .state = x[2], .init = pr_const(T, 7), .update = X } };
        if (shape & 1) c[0].update = pr_select(T, guard, next, X);
        if (shape & 1 && pick(2)) c[1].update = pr_select(T, guard, flip, Y);
        if (shape & 2) c[0].init = pr_select(T, pr_lt(T, pr_const(T, 2), pr_var_term(T, u)), pr_const(T, 0), c[0].init);
        pr_shm_recover(a, T, k, c, 3);
        for (int bound = -1; bound < 7; bound++) {
            int64_t now[3], then[3];
            bool ok;
            pr_var vars[5] = { x[0], x[1], x[2], k, u };
            for (int i = 0; i < 3; i++) now[i] = (int64_t)eval(T, a, c[i].init, (pr_var[]){ u }, (int64_t[]){ bound }, 1, &ok);
            for (int step = 0; step < 30; step++) {
                for (int i = 0; i < 3; i++) {
                    pr_term form = pr_shm_refit(a, T, c[i].form, k);
                    if (pr_term_none(form)) continue;
                    recovered++;
                    wrong += eval(T, a, form, (pr_var[]){ k, u }, (int64_t[]){ step, bound }, 2, &ok) != now[i] || !ok;
                }
                int64_t all[5] = { now[0], now[1], now[2], step, bound };
                for (int i = 0; i < 3; i++) then[i] = (int64_t)eval(T, a, c[i].update, vars, all, 5, &ok);
                for (int i = 0; i < 3; i++) now[i] = then[i];
            }
        }
        pr_arena_free(a);
    }
    CHECK(wrong == 0);
    CHECK(recovered > 200000); /* of 288000: nearly all of these must be recovered */
}

static void test_relations(void)
{
    pr_arena *a = pr_arena_new(0, NULL);
    pr_terms *T = pr_terms_new(a);
    pr_var n = var(T, PR_ROLE_PARAM, 0, "n"), i = var(T, PR_ROLE_ITER, 0, "i"), j = var(T, PR_ROLE_ITER, 1, "j");
    pr_term I = pr_var_term(T, i), J = pr_var_term(T, j), N = pr_var_term(T, n);
    pr_rels *R = pr_rels_new(a, T, &n, 1, 0, NULL);
    pr_term step[] = { pr_eq(T, J, pr_add(T, I, pr_const(T, 3))), pr_lt(T, J, N) };
    pr_rel next = pr_rel_make(R, "A", &i, 1, "A", &j, 1, NULL, 0, step, 2);
    bool fixed;
    pr_rel part = pr_rel_closure(R, next, 8, &fixed); /* A[i] -> A[i + 3m] has no fixpoint: an honest part */
    CHECK(!fixed && part.id);
    pr_term far[] = { pr_eq(T, J, pr_add(T, I, pr_const(T, 6))), pr_lt(T, J, N) },
            off[] = { pr_eq(T, J, pr_add(T, I, pr_const(T, 4))), pr_lt(T, J, N) };
    CHECK(pr_rel_is_within(R, pr_rel_make(R, "A", &i, 1, "A", &j, 1, NULL, 0, far, 2), part) == PR_YES);
    CHECK(pr_rel_is_within(R, pr_rel_make(R, "A", &i, 1, "A", &j, 1, NULL, 0, off, 2), part) == PR_NO);
    pr_term later[] = { pr_lt(T, I, J), pr_lt(T, J, N) };
    pr_rel order = pr_rel_make(R, "A", &i, 1, "A", &j, 1, NULL, 0, later, 2);
    pr_rel all = pr_rel_closure(R, order, 8, &fixed);
    CHECK(fixed && pr_rel_is_within(R, all, order) == PR_YES && pr_rel_is_reflexive_somewhere(R, all) == PR_NO);
    pr_rel loop = pr_rel_union(R, order, pr_rel_back(R, order));
    CHECK(pr_rel_is_reflexive_somewhere(R, pr_rel_closure(R, loop, 8, &fixed)) == PR_YES && fixed);
    CHECK(pr_rel_is_injective(R, next) == PR_YES && pr_rel_is_injective(R, order) == PR_NO);
    CHECK(pr_rel_is_empty(R, pr_rel_minus(R, next, order)) == PR_YES); /* counters are not negative */
    pr_i128 at;
    CHECK(pr_rel_sample(R, next, &at) && at > 3);
    CHECK(pr_rel_is_empty(R, pr_rel_none(R)) == PR_YES && pr_rel_is_empty(R, (pr_rel){ 0 }) == PR_MAYBE);
    pr_rels_free(R);
    R = pr_rels_new(a, T, &n, 1, 5, NULL); /* a quota makes every answer MAYBE, never YES */
    pr_rel none = pr_rel_make(R, "A", &i, 1, "A", &j, 1, NULL, 0, later, 2);
    const char *why;
    CHECK(pr_rel_is_empty(R, none) == PR_MAYBE && pr_rels_why(R, &why) == PR_REFUSAL_BUDGET);
    pr_rels_free(R);
    pr_arena_free(a);
}

/* Launch values whose names isl cannot tell apart stay two: A[i] -> A[j] with i = n.k and j = n_k is not the identity. */
static void test_names(void)
{
    pr_arena *a = pr_arena_new(0, NULL);
    pr_terms *T = pr_terms_new(a);
    pr_var n[] = { var(T, PR_ROLE_PARAM, 0, "n.k"), var(T, PR_ROLE_PARAM, 1, "n_k"), var(T, PR_ROLE_PARAM, 2, "n_k_2"), var(T, PR_ROLE_PARAM, 3, "n-k") };
    pr_var i = var(T, PR_ROLE_ITER, 0, "i"), j = var(T, PR_ROLE_ITER, 1, "j");
    pr_term I = pr_var_term(T, i), J = pr_var_term(T, j);
    pr_rels *R = pr_rels_new(a, T, n, 4, 0, NULL);
    for (int k = 0; k < 4; k++)
        for (int l = 0; l < 4; l++) {
            pr_term conj[] = { pr_eq(T, I, pr_var_term(T, n[k])), pr_eq(T, J, pr_var_term(T, n[l])) };
            pr_rel r = pr_rel_make(R, "A", &i, 1, "A", &j, 1, NULL, 0, conj, 2);
            CHECK(pr_rel_is_within(R, r, pr_rel_same(R, r)) == (k == l ? PR_YES : PR_NO));
            pr_term less[] = { conj[0], conj[1], pr_lt(T, I, J) };
            r = pr_rel_make(R, "A", &i, 1, "A", &j, 1, NULL, 0, less, 3);
            CHECK(pr_rel_is_empty(R, r) == (k == l ? PR_YES : PR_NO));
            pr_i128 at[4];
            if (k != l) CHECK(pr_rel_sample(R, r, at) && at[k] < at[l]);
        }
    pr_rels_free(R);
    pr_arena_free(a);
}

int main(void)
{
    test_recover();
    test_relations();
    test_names();
    return check_done();
}
