/* src/term/range.c and residue.c: every interval and congruence holds at random points of random boxes;
 * exact values for the cases that proofs rest on; fragment classes. */
#include "check.h"
#include "random_term.h"
#include "term/range.h"
#include <stdlib.h>

static pr_terms *T;
static pr_var v[4];
static pr_term x[4];

static void fresh(pr_arena *arena)
{
    static const char *const name[] = { "a", "b", "c", "d" };
    static const int lo[] = { -20, 0, -3, 0 }, hi[] = { 20, 40, 3, 7 };
    T = pr_terms_new(arena);
    for (int i = 0; i < 4; i++) {
        v[i] = pr_var_new(T, (pr_var_info){ .role = PR_ROLE_OTHER, .index = i, .lo = lo[i],
                                            .hi = hi[i], .name = name[i] });
        x[i] = pr_var_term(T, v[i]);
    }
}

static void random_boxes(uint64_t seed, int rounds)
{
    rng r = { seed };
    pr_arena *arena = pr_arena_new(0, NULL);
    for (int round = 0; round < rounds; round++) {
        if (round % 100 == 0) {
            pr_arena_free(arena);
            arena = pr_arena_new(0, NULL);
            fresh(arena);
        }
        pr_term t = rnd(&r) % 4 ? random_int(T, &r, x, 4, 4, RT_ALL) : random_bool(T, &r, x, 4, 3, RT_ALL);
        if (pr_term_none(t)) continue;
        pr_box *box = pr_box_new(T);
        int lo[4], hi[4];
        for (int i = 0; i < 4; i++) {
            const pr_var_info *info = pr_var_get(T, v[i]);
            lo[i] = rnd_in(&r, (int)info->lo, (int)info->hi);
            hi[i] = rnd_in(&r, lo[i], (int)info->hi);
            if (rnd(&r) % 4 == 0) {
                lo[i] = (int)info->lo;
                hi[i] = (int)info->hi;
            } else {
                pr_box_set(box, v[i], lo[i], hi[i]);
            }
        }
        pr_interval range = pr_range(box, t);
        pr_residue res = pr_residue_of(box, t);
        bool is_bool = pr_term_is_bool(T, t);
        pr_tri truth = is_bool ? pr_range_bool(box, t) : PR_MAYBE;
        CHECK(range.lo <= range.hi);
        CHECK(res.modulus >= 0 && (res.modulus == 0 || (res.residue >= 0 && res.residue < res.modulus)));
        for (int trial = 0; trial < 30; trial++) {
            pr_i128 value[5], got;
            bool known[5] = { false, true, true, true, true };
            for (int i = 0; i < 4; i++) {
                int at = rnd(&r) % 3;
                value[i + 1] = at == 0 ? lo[i] : at == 1 ? hi[i] : rnd_in(&r, lo[i], hi[i]);
            }
            if (!pr_eval(T, t, &(pr_env){ value, known, 5 }, &got)) continue;
            bool inside = got >= range.lo && got <= range.hi;
            CHECK(inside);
            CHECK(truth == PR_MAYBE || (truth == PR_YES) == (got == 1));
            if (!is_bool) {
                bool congruent = res.modulus == 0 ? got == res.residue
                                                  : pr_fmod(got, res.modulus) == res.residue;
                CHECK(congruent);
                inside = inside && congruent;
            }
            if (!inside) {
                pr_buf b;
                pr_buf_init(&b, arena);
                pr_term_print(&b, T, t);
                fprintf(stderr, "  %s in [%lld, %lld] mod %lld is %lld, got %lld\n", b.data,
                        (long long)range.lo, (long long)range.hi, (long long)res.modulus,
                        (long long)res.residue, (long long)got);
                exit(1);
            }
        }
    }
    pr_arena_free(arena);
}

static bool is(pr_interval r, pr_i128 lo, pr_i128 hi) { return r.lo == lo && r.hi == hi; }

static void exact_cases(void)
{
    pr_arena *arena = pr_arena_new(0, NULL);
    fresh(arena);
    pr_box *box = pr_box_new(T);
    pr_var u = pr_var_new(T, (pr_var_info){ .role = PR_ROLE_PARAM, .index = 0, .lo = -PR_INF, .hi = PR_INF,
                                            .name = "u" });
    pr_term t = pr_var_term(T, u), k5 = pr_const(T, 5);
    CHECK(is(pr_range(box, t), -PR_INF, PR_INF));
    CHECK(is(pr_range(box, pr_fmod_t(T, t, k5)), 0, 4));
    CHECK(is(pr_range(box, pr_trem_t(T, t, k5)), -4, 4));
    CHECK(is(pr_range(box, pr_band(T, t, pr_const(T, 0x155))), 0, 0x155));
    CHECK(is(pr_range(box, pr_mul(T, t, t)), 0, PR_INF));
    CHECK(is(pr_range(box, pr_min(T, t, k5)), -PR_INF, 5));
    CHECK(is(pr_range(box, pr_fdiv_t(T, x[0], k5)), -4, 4));
    CHECK(is(pr_range(box, pr_tdiv_t(T, x[0], pr_const(T, 3))), -6, 6));
    CHECK(is(pr_range(box, pr_fmod_t(T, x[1], x[3])), 0, 40));      /* divisor 0: the dividend */
    CHECK(is(pr_range(box, pr_trem_t(T, x[0], x[2])), -20, 20));
    pr_box_set(box, v[3], 1, 7);
    CHECK(is(pr_range(box, pr_fmod_t(T, x[1], x[3])), 0, 6));
    CHECK(is(pr_range(box, pr_fdiv_t(T, x[1], x[3])), 0, 40));
    pr_box_set(box, v[3], 3, 7);
    CHECK(is(pr_range(box, pr_fdiv_t(T, x[1], x[3])), 0, 13));
    pr_box_set(box, v[0], -20, -1);
    CHECK(pr_range_bool(box, pr_lt(T, x[0], PR_TERM_ZERO)) == PR_YES);
    CHECK(is(pr_range(box, pr_trem_t(T, x[0], k5)), -4, 0));
    pr_box_set(box, v[0], 0, 20);
    CHECK(pr_range_bool(box, pr_lt(T, x[0], PR_TERM_ZERO)) == PR_NO);
    pr_box_set(box, v[0], -100, 100);                                /* cannot widen */
    CHECK(is(pr_range(box, x[0]), -20, 20));
    pr_box_set(box, v[0], 5, 5);
    CHECK(pr_residue_of(box, x[0]).modulus == 0 && pr_residue_of(box, x[0]).residue == 5);

    pr_residue r = pr_residue_of(box, pr_add(T, pr_scale(T, t, 12), pr_const(T, 5)));
    CHECK(r.modulus == 12 && r.residue == 5);
    r = pr_residue_of(box, pr_fmod_t(T, pr_add(T, pr_scale(T, t, 12), k5), pr_const(T, 18)));
    CHECK(r.modulus == 6 && r.residue == 5);
    r = pr_residue_of(box, pr_mul(T, pr_scale(T, t, 4), x[1]));
    CHECK(r.modulus == 4 && r.residue == 0);
    r = pr_residue_of(box, pr_select(T, pr_eq(T, t, k5), pr_scale(T, t, 6), pr_add(T, pr_scale(T, t, 9), pr_const(T, 3))));
    CHECK(r.modulus == 3 && r.residue == 0);
    /* A constant beyond the saturation is still handled. */
    pr_term huge = pr_scale(T, t, (pr_i128)1 << 100);
    CHECK(pr_range(box, pr_scale(T, huge, 1 << 20)).lo == -PR_INF);
    CHECK(pr_range(box, pr_const(T, PR_I128_MAX)).lo <= PR_I128_MAX);
    pr_arena_free(arena);
}

static void classes(void)
{
    pr_arena *arena = pr_arena_new(0, NULL);
    fresh(arena);
    pr_box *box = pr_box_new(T);
    pr_var vs = pr_var_new(T, (pr_var_info){ .role = PR_ROLE_PARAM, .lo = 1, .hi = PR_INF, .name = "s" });
    pr_var vp = pr_var_new(T, (pr_var_info){ .role = PR_ROLE_PID, .lo = 0, .hi = PR_INF, .name = "p" });
    pr_var vq = pr_var_new(T, (pr_var_info){ .role = PR_ROLE_PID, .index = 1, .lo = 0, .hi = PR_INF, .name = "q" });
    pr_term s = pr_var_term(T, vs), p = pr_var_term(T, vp), q = pr_var_term(T, vq);
    CHECK(pr_class_of(box, pr_add(T, p, x[0])) == PR_CLASS_LINEAR);
    CHECK(pr_class_of(box, pr_fdiv_t(T, p, pr_const(T, 3))) & PR_CLASS_QUASI);
    CHECK(pr_class_of(box, pr_min(T, p, q)) & PR_CLASS_QUASI);
    CHECK(pr_class_of(box, pr_fdiv_t(T, p, x[3])) & PR_CLASS_SMALL_DIVISOR);
    CHECK(pr_class_of(box, pr_fdiv_t(T, p, s)) & PR_CLASS_WIDE_DIVISOR);
    CHECK(pr_class_of(box, pr_mul(T, p, x[3])) & PR_CLASS_SMALL_FACTOR);
    CHECK(pr_class_of(box, pr_mul(T, p, s)) & PR_CLASS_RADIX);
    CHECK(pr_class_of(box, pr_mul(T, p, q)) & PR_CLASS_POLY);
    CHECK(pr_class_of(box, pr_bxor(T, p, q)) & PR_CLASS_BITS);
    pr_i128 comb = 0;                                /* 101010...: rows take 24 runs of ones */
    for (int i = 0; i < 24; i++) comb = comb << 2 | 1;
    CHECK((pr_class_of(box, pr_bxor(T, p, pr_const(T, comb))) & ~(unsigned)PR_CLASS_PRESBURGER) == 0);
    CHECK((pr_class_of(box, pr_bor(T, p, pr_const(T, ~comb))) & ~(unsigned)PR_CLASS_PRESBURGER) == 0);
    CHECK(pr_class_of(box, pr_bxor(T, p, pr_const(T, comb << 2 | 1))) & PR_CLASS_BITS);
    CHECK((pr_class_of(box, pr_bxor(T, p, x[3])) & ~(unsigned)PR_CLASS_PRESBURGER) == 0);
    pr_var vg = pr_var_new(T, (pr_var_info){ .role = PR_ROLE_GRID, .lo = 1, .hi = PR_INF, .name = "G" });
    pr_term g = pr_var_term(T, vg);
    CHECK(pr_class_of(box, pr_mul(T, pr_add(T, s, pr_mul(T, g, s)), q)) & PR_CLASS_RADIX);
    CHECK(pr_class_of(box, pr_mul(T, pr_add(T, s, p), q)) & PR_CLASS_POLY);
    pr_sym f = pr_sym_new(T, (pr_sym_info){ .kind = PR_SYM_LOADED, .bits = 32 });
    CHECK(pr_class_of(box, pr_le(T, pr_app(T, f, &p, 1), q)) & PR_CLASS_OPAQUE);
    CHECK(is(pr_range(box, pr_app(T, f, &p, 1)), -((pr_i128)1 << 31), ((pr_i128)1 << 31) - 1));
    pr_arena_free(arena);
}

int main(int argc, char **argv)
{
    exact_cases();
    classes();
    random_boxes(7, argc > 1 ? atoi(argv[1]) : 6000);
    return check_done();
}
