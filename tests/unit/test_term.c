/* src/term/term.c, arith.c, divide.c, walk.c, eval.c, text.c: every numbered rule by name, and all
 * constructors against the definition of the operations on random operands. */
#include "check.h"
#include "random_term.h"
#include "term/query.h"
#include "term/range.h"
#include "term/table.h"
#include <stdlib.h>
#include <string.h>

static pr_arena *arena;
static pr_terms *T;

static pr_term var(const char *name, int index, pr_i128 lo, pr_i128 hi)
{
    pr_var_info v = { .role = PR_ROLE_OTHER, .index = index, .lo = lo, .hi = hi, .name = name };
    return pr_var_term(T, pr_var_new(T, v));
}

static pr_term k(pr_i128 v) { return pr_const(T, v); }
#define SAME(a, b) CHECK(pr_term_is((a), (b)))
#define C_(v) k(v)

static pr_term x, y, z;      /* unbounded */
static pr_term p, l, m;      /* p >= 0, l in [0, 63], m in [-8, 8] */

static void fresh(void)
{
    T = pr_terms_new(arena);
    x = var("x", 0, -PR_INF, PR_INF);
    y = var("y", 1, -PR_INF, PR_INF);
    z = var("z", 2, -PR_INF, PR_INF);
    p = var("p", 3, 0, PR_INF);
    l = var("l", 4, 0, 63);
    m = var("m", 5, -8, 8);
}

static void rule_boolean(void)
{
    pr_term a = pr_le(T, x, y), b = pr_eq(T, x, k(3)), c = pr_le(T, z, k(1));
    /* B1 */
    SAME(pr_not(T, PR_TERM_FALSE), PR_TERM_TRUE);
    SAME(pr_not(T, pr_not(T, b)), b);
    SAME(pr_not(T, a), pr_lt(T, y, x));
    SAME(pr_not(T, pr_lt(T, y, x)), a);
    /* B2 */
    SAME(pr_and(T, a, PR_TERM_TRUE), a);
    SAME(pr_and(T, a, PR_TERM_FALSE), PR_TERM_FALSE);
    SAME(pr_or(T, a, PR_TERM_TRUE), PR_TERM_TRUE);
    SAME(pr_or(T, PR_TERM_FALSE, a), a);
    SAME(pr_and(T, a, a), a);
    SAME(pr_and(T, a, b), pr_and(T, b, a));
    /* B3 */
    SAME(pr_and(T, b, pr_not(T, b)), PR_TERM_FALSE);
    SAME(pr_or(T, b, pr_not(T, b)), PR_TERM_TRUE);
    SAME(pr_and(T, a, pr_not(T, a)), PR_TERM_FALSE);
    SAME(pr_or(T, a, pr_not(T, a)), PR_TERM_TRUE);
    SAME(pr_and(T, pr_le(T, x, k(2)), pr_le(T, k(4), x)), PR_TERM_FALSE);
    /* B4 */
    SAME(pr_and(T, pr_le(T, x, k(2)), pr_le(T, x, k(5))), pr_le(T, x, k(2)));
    SAME(pr_or(T, pr_le(T, x, k(2)), pr_le(T, x, k(5))), pr_le(T, x, k(5)));
    /* B5 */
    SAME(pr_and(T, b, pr_and(T, b, c)), pr_and(T, b, c));
    SAME(pr_and(T, b, pr_or(T, b, c)), b);
    SAME(pr_or(T, b, pr_and(T, b, c)), b);
    SAME(pr_or(T, b, pr_or(T, c, b)), pr_or(T, b, c));
    SAME(pr_implies(T, b, b), PR_TERM_TRUE);
}

static void rule_comparisons(void)
{
    /* C1: 4x + 6 <= 0 is x + 2 <= 0 (x <= -1.5) */
    SAME(pr_le(T, pr_add(T, pr_scale(T, x, 4), k(6)), k(0)), pr_le(T, pr_add(T, x, k(2)), k(0)));
    SAME(pr_lt(T, pr_scale(T, x, 4), pr_add(T, pr_scale(T, y, 4), k(4))), pr_le(T, x, y));
    /* C2 */
    SAME(pr_eq(T, pr_scale(T, x, 4), k(6)), PR_TERM_FALSE);
    SAME(pr_eq(T, pr_scale(T, x, 4), k(8)), pr_eq(T, x, k(2)));
    SAME(pr_eq(T, x, y), pr_eq(T, y, x));
    SAME(pr_eq(T, pr_scale(T, x, -3), pr_scale(T, y, -3)), pr_eq(T, x, y));
    /* C3 */
    SAME(pr_le(T, l, k(63)), PR_TERM_TRUE);
    SAME(pr_lt(T, l, k(0)), PR_TERM_FALSE);
    SAME(pr_eq(T, l, k(64)), PR_TERM_FALSE);
    SAME(pr_lt(T, p, k(0)), PR_TERM_FALSE);
    /* C4 */
    pr_term c = pr_eq(T, x, k(1)), i = pr_bool_to_int(T, c);
    SAME(pr_int_to_bool(T, i), c);
    SAME(pr_eq(T, i, k(0)), pr_not(T, c));
    SAME(pr_eq(T, i, k(1)), c);
    SAME(pr_le(T, pr_select(T, c, k(5), k(7)), k(6)), c);
    SAME(pr_le(T, pr_select(T, c, k(5), k(7)), k(7)), PR_TERM_TRUE);
}

static void rule_choices(void)
{
    pr_term c = pr_eq(T, x, k(1)), d = pr_le(T, y, k(0)), e = pr_le(T, z, k(0));
    /* S1 - S4 */
    SAME(pr_select(T, PR_TERM_TRUE, x, y), x);
    SAME(pr_select(T, PR_TERM_FALSE, x, y), y);
    SAME(pr_select(T, c, x, x), x);
    SAME(pr_select(T, pr_not(T, c), x, y), pr_select(T, c, y, x));
    SAME(pr_select(T, c, d, e), pr_or(T, pr_and(T, c, d), pr_and(T, pr_not(T, c), e)));
    SAME(pr_select(T, c, pr_select(T, c, x, y), z), pr_select(T, c, x, z));
    SAME(pr_select(T, c, x, pr_select(T, c, y, z)), pr_select(T, c, x, z));
    /* M1, M2 */
    SAME(pr_min(T, x, x), x);
    SAME(pr_min(T, x, pr_add(T, x, k(3))), x);
    SAME(pr_max(T, x, pr_add(T, x, k(3))), pr_add(T, x, k(3)));
    SAME(pr_min(T, l, k(63)), l);
    SAME(pr_max(T, l, k(0)), l);
    SAME(pr_min(T, pr_min(T, x, k(5)), k(3)), pr_min(T, x, k(3)));
    SAME(pr_max(T, k(3), pr_max(T, k(5), x)), pr_max(T, x, k(5)));
    SAME(pr_min(T, x, y), pr_min(T, y, x));
    /* F1 */
    SAME(pr_fits(T, PR_FITS_SIGNED, 32, l), PR_TERM_TRUE);
    SAME(pr_fits(T, PR_FITS_NONNEG, 32, p), PR_TERM_TRUE);
    CHECK(pr_term_op_of(T, pr_fits(T, PR_FITS_BIT, 1, pr_add(T, l, k(2)))) == PR_TERM_OP_FITS);
    CHECK(pr_term_op_of(T, pr_fits(T, PR_FITS_SIGNED, 32, p)) == PR_TERM_OP_FITS);
    pr_term f = pr_fits_expand(T, pr_fits(T, PR_FITS_SIGNED, 8, x));
    SAME(f, pr_and(T, pr_le(T, k(-128), x), pr_le(T, x, k(127))));
}

static void rule_sums(void)
{
    /* A1 - A3 */
    SAME(pr_add(T, x, y), pr_add(T, y, x));
    SAME(pr_sub(T, pr_add(T, x, y), y), x);
    SAME(pr_add(T, pr_add(T, x, k(2)), pr_add(T, y, k(-2))), pr_add(T, y, x));
    SAME(pr_scale(T, pr_add(T, x, k(2)), 3), pr_add(T, pr_scale(T, x, 3), k(6)));
    SAME(pr_scale(T, x, 0), PR_TERM_ZERO);
    SAME(pr_neg(T, pr_neg(T, x)), x);
    pr_term q = pr_fdiv_t(T, x, k(3)), r = pr_fmod_t(T, x, k(3));
    SAME(pr_add(T, pr_scale(T, q, 3), r), x);
    SAME(pr_sub(T, x, r), pr_sub(T, x, r));
    pr_term tq = pr_tdiv_t(T, x, k(3)), tr = pr_trem_t(T, x, k(3));
    SAME(pr_add(T, pr_scale(T, tq, 3), tr), x);
    CHECK(!pr_term_is(pr_add(T, pr_scale(T, tq, 3), r), x));
    CHECK(pr_term_none(pr_add(T, k(PR_I128_MAX), k(1))));
    CHECK(pr_term_none(pr_scale(T, k(PR_I128_MAX), 2)));
    CHECK(pr_term_none(pr_add(T, PR_TERM_NONE, x)));
    CHECK(pr_term_none(pr_and(T, pr_le(T, PR_TERM_NONE, x), PR_TERM_FALSE)));
    /* P1 - P3 */
    SAME(pr_mul(T, pr_scale(T, x, 3), pr_scale(T, y, 2)), pr_scale(T, pr_mul(T, y, x), 6));
    SAME(pr_mul(T, pr_add(T, x, k(1)), y), pr_add(T, pr_mul(T, x, y), y));
    SAME(pr_mul(T, pr_mul(T, x, y), z), pr_mul(T, x, pr_mul(T, z, y)));
    SAME(pr_mul(T, x, k(0)), PR_TERM_ZERO);
}

static void rule_divisions(void)
{
    pr_term q = pr_fdiv_t(T, x, k(4));
    /* D1 */
    SAME(pr_fdiv_t(T, x, k(0)), PR_TERM_ZERO);
    SAME(pr_fmod_t(T, x, k(0)), x);
    SAME(pr_tdiv_t(T, x, k(0)), PR_TERM_ZERO);
    SAME(pr_trem_t(T, x, k(0)), x);
    SAME(pr_fdiv_t(T, x, k(1)), x);
    SAME(pr_fdiv_t(T, x, k(-1)), pr_neg(T, x));
    SAME(pr_fmod_t(T, x, k(-1)), PR_TERM_ZERO);
    SAME(pr_tdiv_t(T, x, k(-1)), pr_neg(T, x));
    /* D2 */
    SAME(pr_fdiv_t(T, x, k(-4)), pr_fdiv_t(T, pr_neg(T, x), k(4)));
    SAME(pr_fmod_t(T, x, k(-4)), pr_neg(T, pr_fmod_t(T, pr_neg(T, x), k(4))));
    SAME(pr_tdiv_t(T, x, k(-4)), pr_neg(T, pr_tdiv_t(T, x, k(4))));
    SAME(pr_trem_t(T, x, k(-4)), pr_trem_t(T, x, k(4)));
    /* D3 */
    pr_term s = pr_add(T, x, pr_scale(T, y, 8));
    SAME(pr_fdiv_t(T, s, k(4)), pr_add(T, q, pr_scale(T, y, 2)));
    SAME(pr_fmod_t(T, s, k(4)), pr_fmod_t(T, x, k(4)));
    SAME(pr_fdiv_t(T, pr_add(T, x, k(-1)), k(4)), pr_add(T, pr_fdiv_t(T, pr_add(T, x, k(3)), k(4)), k(-1)));
    /* D4 */
    SAME(pr_fdiv_t(T, pr_scale(T, x, 2), k(8)), q);
    SAME(pr_fmod_t(T, pr_scale(T, x, 2), k(8)), pr_scale(T, pr_fmod_t(T, x, k(4)), 2));
    SAME(pr_fdiv_t(T, pr_add(T, pr_scale(T, x, 2), k(1)), k(8)), q);
    /* D5 */
    SAME(pr_fdiv_t(T, l, k(64)), PR_TERM_ZERO);
    SAME(pr_fmod_t(T, l, k(64)), l);
    SAME(pr_fmod_t(T, pr_add(T, pr_scale(T, p, 64), l), k(64)), l);
    SAME(pr_fdiv_t(T, pr_add(T, pr_scale(T, p, 64), l), k(64)), p);
    SAME(pr_fmod_t(T, pr_add(T, l, k(64)), k(64)), l);
    /* D6 */
    SAME(pr_fmod_t(T, pr_fmod_t(T, x, k(12)), k(4)), pr_fmod_t(T, x, k(4)));
    CHECK(!pr_term_is(pr_fmod_t(T, pr_fmod_t(T, x, k(10)), k(4)), pr_fmod_t(T, x, k(4))));
    /* D7 */
    SAME(pr_tdiv_t(T, p, k(4)), pr_fdiv_t(T, p, k(4)));
    SAME(pr_trem_t(T, pr_neg(T, p), k(4)), pr_neg(T, pr_fmod_t(T, p, k(4))));
    SAME(pr_tdiv_t(T, p, l), pr_fdiv_t(T, p, l));
    CHECK(pr_term_op_of(T, pr_tdiv_t(T, m, k(4))) == PR_TERM_OP_TDIV);
    /* D8 */
    SAME(pr_tdiv_t(T, pr_scale(T, x, 8), k(4)), pr_scale(T, x, 2));
    SAME(pr_trem_t(T, pr_scale(T, x, 8), k(4)), PR_TERM_ZERO);
}

static void rule_bits(void)
{
    /* N1 */
    SAME(pr_band(T, x, x), x);
    SAME(pr_bxor(T, x, x), PR_TERM_ZERO);
    SAME(pr_band(T, x, k(0)), PR_TERM_ZERO);
    SAME(pr_band(T, x, k(-1)), x);
    SAME(pr_bor(T, x, k(-1)), k(-1));
    SAME(pr_bxor(T, x, k(-1)), pr_sub(T, k(-1), x));
    SAME(pr_bxor(T, k(12), k(10)), k(6));
    /* N2 */
    SAME(pr_band(T, x, k(7)), pr_fmod_t(T, x, k(8)));
    SAME(pr_band(T, x, k(-8)), pr_sub(T, x, pr_fmod_t(T, x, k(8))));
    SAME(pr_band(T, x, k(12)), pr_scale(T, pr_fmod_t(T, pr_fdiv_t(T, x, k(4)), k(4)), 4));
    CHECK(pr_term_op_of(T, pr_band(T, x, k(0x155))) == PR_TERM_OP_BAND);
    SAME(pr_band(T, l, k(63)), l);
    /* N3 */
    SAME(pr_bor(T, x, k(7)), pr_sub(T, pr_add(T, x, k(7)), pr_fmod_t(T, x, k(8))));
    SAME(pr_bxor(T, x, k(7)), pr_sub(T, pr_add(T, x, k(7)), pr_scale(T, pr_fmod_t(T, x, k(8)), 2)));
    /* N4 */
    SAME(pr_bor(T, pr_scale(T, p, 64), l), pr_add(T, pr_scale(T, p, 64), l));
    SAME(pr_bxor(T, l, pr_scale(T, x, 64)), pr_add(T, pr_scale(T, x, 64), l));
    SAME(pr_band(T, l, pr_scale(T, x, 64)), PR_TERM_ZERO);
    CHECK(pr_term_op_of(T, pr_bor(T, l, pr_scale(T, x, 32))) == PR_TERM_OP_BOR);
}

/* --- constructors against the definition ------------------------------------------------------ */

static pr_i128 floor_div(pr_i128 a, pr_i128 b) { return b ? pr_fdiv(a, b) : 0; }
static pr_i128 floor_mod(pr_i128 a, pr_i128 b) { return b ? pr_fmod(a, b) : a; }
static pr_i128 trunc_div(pr_i128 a, pr_i128 b) { return b ? a / b : 0; }
static pr_i128 trunc_rem(pr_i128 a, pr_i128 b) { return b ? a % b : a; }

static bool value_of(pr_term t, const pr_i128 *v, int n, pr_i128 *out)
{
    bool known[16];
    pr_i128 value[16];
    for (int i = 0; i < n; i++) {
        known[i + 1] = true;
        value[i + 1] = v[i];
    }
    known[0] = false;
    pr_env env = { value, known, (uint32_t)n + 1 };
    return pr_eval(T, t, &env, out);
}

static void division_table(void)
{
    for (int a = -20; a <= 20; a++) {
        for (int b = -20; b <= 20; b++) {
            pr_i128 point[6] = { a, b }, v[4];
            pr_term t[8] = {
                pr_fdiv_t(T, x, y), pr_fmod_t(T, x, y), pr_tdiv_t(T, x, y), pr_trem_t(T, x, y),
                pr_fdiv_t(T, x, k(b)), pr_fmod_t(T, x, k(b)), pr_tdiv_t(T, x, k(b)),
                pr_trem_t(T, x, k(b)),
            };
            pr_i128 want[4] = { floor_div(a, b), floor_mod(a, b), trunc_div(a, b), trunc_rem(a, b) };
            for (int i = 0; i < 8; i++) {
                CHECK(value_of(t[i], point, 6, &v[0]) && v[0] == want[i % 4]);
            }
            if (b > 0) CHECK(want[1] >= 0 && want[1] < b && want[0] * b + want[1] == a);
            SAME(pr_fdiv_t(T, k(a), k(b)), k(want[0]));
            SAME(pr_fmod_t(T, k(a), k(b)), k(want[1]));
            SAME(pr_tdiv_t(T, k(a), k(b)), k(want[2]));
            SAME(pr_trem_t(T, k(a), k(b)), k(want[3]));
        }
    }
}

static void random_constructors(int rounds, uint64_t seed)
{
    rng r = { seed };
    for (int round = 0; round < rounds; round++) {
        if (round % 200 == 0) fresh();
        pr_term v[6] = { x, y, z, p, l, m };
        pr_term a = random_int(T, &r, v, 6, 4, RT_ALL), b = random_int(T, &r, v, 6, 3, RT_ALL);
        if (rnd(&r) % 2) b = k(rnd_in(&r, -17, 17));
        pr_term c = random_bool(T, &r, v, 6, 3, RT_ALL), d = random_bool(T, &r, v, 6, 2, RT_ALL);
        if (pr_term_none(a) || pr_term_none(b) || pr_term_none(c) || pr_term_none(d)) continue;
        pr_term t[] = {
            pr_add(T, a, b), pr_sub(T, a, b), pr_mul(T, a, b), pr_fdiv_t(T, a, b),
            pr_fmod_t(T, a, b), pr_tdiv_t(T, a, b), pr_trem_t(T, a, b), pr_min(T, a, b),
            pr_max(T, a, b), pr_band(T, a, b), pr_bor(T, a, b), pr_bxor(T, a, b), pr_le(T, a, b),
            pr_lt(T, a, b), pr_eq(T, a, b), pr_ne(T, a, b), pr_select(T, c, a, b),
            pr_and(T, c, d), pr_or(T, c, d), pr_not(T, c), pr_select(T, c, d, pr_not(T, d)),
            pr_fits(T, PR_FITS_SIGNED, 4, a), pr_fits(T, PR_FITS_NONNEG, 8, a),
            pr_fits(T, PR_FITS_BIT, 1, a), pr_fits_expand(T, pr_fits(T, PR_FITS_SIGNED, 4, a)),
            pr_bool_to_int(T, c), pr_int_to_bool(T, a),
        };
        for (int trial = 0; trial < 6; trial++) {
            pr_i128 at[6] = { rnd_in(&r, -40, 40), rnd_in(&r, -40, 40), rnd_in(&r, -9, 9),
                              rnd_in(&r, 0, 300), rnd_in(&r, 0, 63), rnd_in(&r, -8, 8) };
            pr_i128 va, vb, vc, vd, got;
            if (!value_of(a, at, 6, &va) || !value_of(b, at, 6, &vb) || !value_of(c, at, 6, &vc)
                || !value_of(d, at, 6, &vd) || va > 1000000000 || va < -1000000000
                || vb > 1000000000 || vb < -1000000000)
                continue;
            pr_i128 want[] = {
                va + vb, va - vb, va * vb, floor_div(va, vb), floor_mod(va, vb), trunc_div(va, vb),
                trunc_rem(va, vb), va < vb ? va : vb, va > vb ? va : vb, va & vb, va | vb, va ^ vb,
                va <= vb, va < vb, va == vb, va != vb, vc ? va : vb, vc && vd, vc || vd, !vc,
                vc ? vd : !vd, va >= -8 && va <= 7, va >= 0, va == 0 || va == 1,
                va >= -8 && va <= 7, vc, va != 0,
            };
            for (size_t i = 0; i < PR_LEN(t); i++) {
                if (pr_term_none(t[i])) continue;
                bool ok = value_of(t[i], at, 6, &got);
                CHECK(!ok || got == want[i]);
                if (ok && got != want[i]) fprintf(stderr, "  constructor %zu\n", i);
            }
        }
        for (size_t i = 0; i < PR_LEN(t); i++) {      /* print and read back */
            if (pr_term_none(t[i])) continue;
            pr_buf text;
            pr_term back;
            const char *why = "";
            pr_buf_init(&text, arena);
            pr_term_print(&text, T, t[i]);
            if (text.n > 4000) continue;
            bool ok = pr_term_parse(T, (pr_str){ text.data, text.n }, &back, &why);
            CHECK(ok && pr_term_is(back, t[i]));
            if (!ok) fprintf(stderr, "  %s: %s\n", why, text.data);
        }
    }
}

/* --- traversals ------------------------------------------------------------------------------ */

static pr_term replace_app(void *user, pr_terms *store, pr_term app)
{
    (void)user;
    return pr_add(store, pr_term_child(store, app, 0), pr_const(store, 100));
}

static void count_visit(void *user, pr_term t)
{
    (void)t;
    ++*(int *)user;
}

static void traversals(void)
{
    pr_sym s = pr_sym_new(T, (pr_sym_info){ .kind = PR_SYM_LOADED, .bits = 32, .access = 1 });
    pr_term app = pr_app(T, s, &x, 1);
    pr_term t = pr_add(T, pr_scale(T, app, 4), pr_min(T, x, y));
    pr_term map[8] = { { 0 } };
    map[pr_term_var(T, x).id] = k(7);
    pr_subst sub = { .T = T, .var_map = map, .n_var_map = 8, .app = replace_app };
    SAME(pr_subst_apply(&sub, t), pr_add(T, k(4 * 107), pr_min(T, k(7), y)));
    SAME(pr_subst_apply(&sub, y), y);
    sub = (pr_subst){ .T = T, .var_map = map, .n_var_map = 8, .expand_fits = true };
    SAME(pr_subst_apply(&sub, pr_fits(T, PR_FITS_SIGNED, 8, y)),
         pr_fits_expand(T, pr_fits(T, PR_FITS_SIGNED, 8, y)));
    CHECK(pr_term_mentions(T, t, pr_term_var(T, y)));
    CHECK(!pr_term_mentions(T, t, pr_term_var(T, z)));
    int n = 0;
    pr_term_visit(T, t, count_visit, &n);
    CHECK(n == 5);
    CHECK(pr_eval(T, t, &(pr_env){ 0 }, &(pr_i128){ 0 }) == false);

    pr_term a = pr_eq(T, x, k(1)), b = pr_le(T, y, k(0)), c = pr_le(T, z, k(0));
    pr_term_vec v = { 0 };
    pr_conjuncts(T, pr_and(T, pr_and(T, a, b), pr_and(T, c, b)), &v, arena);
    CHECK(v.n == 3);
    v.n = 0;
    pr_conjuncts(T, pr_and(T, pr_and(T, a, b), pr_and(T, c, pr_not(T, a))), &v, arena);
    CHECK(v.n == 1 && pr_term_is(v.data[0], PR_TERM_FALSE));
    v.n = 0;
    pr_conjuncts(T, PR_TERM_TRUE, &v, arena);
    CHECK(v.n == 0);
}

/* Conjuncts of random nests, few and many, with repeats: each once, and FALSE where one is the negation of another. */
static void conjuncts(int rounds)
{
    rng r = { 271828 };
    int many = 0, never = 0;
    for (int round = 0; round < rounds; round++) {
        if (round % 50 == 0) fresh();
        pr_term leaf[24], made[64];
        int n = rnd_in(&r, 2, 24), n_made = 0;
        for (int i = 0; i < n; i++) {
            leaf[i] = pr_eq(T, x, k(rnd_in(&r, 0, 40)));       /* no rule joins two of them */
            if (rnd(&r) % 40 == 0) leaf[i] = pr_not(T, leaf[rnd(&r) % (uint32_t)(i + 1)]);
            made[n_made++] = leaf[i];
        }
        bool used[24] = { false };
        unsigned of[64];
        for (int i = 0; i < n; i++) of[i] = 1u << i;
        for (int step = rnd_in(&r, 1, 40); step > 0; step--, n_made++) {
            int a = rnd(&r) % 2 ? n_made - 1 : rnd_in(&r, 0, n_made - 1), b = rnd_in(&r, 0, n_made - 1);
            made[n_made] = pr_and(T, made[a], made[b]);
            of[n_made] = of[a] | of[b];
        }
        pr_term all = made[n_made - 1];
        pr_term_vec v = { 0 };
        pr_vec_push(arena, &v, x);                             /* what stood there before stays */
        pr_conjuncts(T, all, &v, arena);
        CHECK(v.n >= 1 && pr_term_is(v.data[0], x));
        bool contrary = pr_term_is(all, PR_TERM_FALSE);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                contrary = contrary || ((of[n_made - 1] >> i & of[n_made - 1] >> j & 1) && pr_term_is(leaf[i], pr_not(T, leaf[j])));
        if (v.n == 2 && pr_term_is(v.data[1], PR_TERM_FALSE)) {
            CHECK(contrary);
            never++;
            continue;
        }
        CHECK(!contrary);
        for (int c = 1; c < v.n; c++) {
            int found = 0;
            for (int d = 1; d < v.n; d++) found += pr_term_is(v.data[c], v.data[d]);
            CHECK(found == 1);
            bool own = false;
            for (int i = 0; i < n; i++)
                if ((of[n_made - 1] >> i & 1) && pr_term_is(leaf[i], v.data[c])) own = used[i] = true;
            CHECK(own);
        }
        for (int i = 0; i < n; i++) CHECK(used[i] || !(of[n_made - 1] >> i & 1));
        many += v.n > 12;
    }
    CHECK(many > 5 && never > 5);
}

/* --- renaming and kinds of leaves -------------------------------------------------------------- */

typedef struct kinds { unsigned found; int visited; unsigned of, lanes; } kinds;

static unsigned kind_of(pr_term t)
{
    switch (pr_term_op_of(T, t)) {
    case PR_TERM_OP_VAR: return PR_OCCURS(pr_var_get(T, pr_term_var(T, t))->role);
    case PR_TERM_OP_APP: return PR_OCCURS_APP;
    case PR_TERM_OP_TABLE: return PR_OCCURS_TABLE;
    case PR_TERM_OP_FITS: return PR_OCCURS_FITS;
    default: return 0;
    }
}

static void note_kind(void *user, pr_term t)
{
    kinds *n = user;
    n->found |= kind_of(t);
    if (pr_term_op_of(T, t) != PR_TERM_OP_VAR) return;
    const pr_var_info *v = pr_var_get(T, pr_term_var(T, t));
    if (v->role == PR_ROLE_LANE && v->copy == PR_COPY_NONE) n->lanes |= 1u << v->index;
}

static void count_kind(void *user, pr_term t)
{
    kinds *n = user;
    kinds below = { 0 };
    pr_term_visit(T, t, note_kind, &below);
    n->visited += (below.found & n->of) != 0;
}

static void count_in(void *user, pr_term t)
{
    kinds *n = user;
    (void)t;
    n->visited++;
}

static bool is_of(void *user, const pr_terms *store, pr_term t) { (void)store; return kind_of(t) & *(unsigned *)user; }

static bool is_this(void *user, const pr_terms *store, pr_term t) { (void)store; return pr_term_is(t, *(pr_term *)user); }

/* Random terms over variables of all roles: the kinds that are kept, and the traversals that go by them, against a visit of
 * every node. */
static void occurring_leaves(int rounds)
{
    rng r = { 4711 };
    for (int round = 0; round < rounds; round++) {
        if (round % 100 == 0) fresh();
        pr_term v[9];
        for (int i = 0; i < 7; i++) {
            pr_var_info info = { .role = (pr_var_role)i, .index = i == PR_ROLE_LANE ? rnd_in(&r, 0, 7) : 900, .lo = i % 2 ? 0 : -PR_INF, .hi = i % 3 ? 70 : PR_INF };
            v[i] = pr_var_term(T, pr_var_new(T, info));
        }
        pr_sym s = pr_sym_new(T, (pr_sym_info){ .kind = PR_SYM_LOADED, .bits = 32, .access = 1 });
        v[7] = pr_app(T, s, &v[rnd(&r) % 7], 1);
        v[8] = pr_table(T, pr_tab_new(T, (pr_tab_info){ .lo = 0, .hi = 90, .name = "t" }), v[rnd(&r) % 7]);
        if (rnd(&r) % 2)                         /* a copy of a lane, and another lane */
            v[rnd(&r) % 7] = pr_var_term(T, pr_var_new(T, (pr_var_info){ .role = PR_ROLE_LANE, .index = rnd_in(&r, 0, 7), .hi = 90,
                                                                         .copy = rnd(&r) % 2 ? PR_COPY_A : PR_COPY_NONE }));
        pr_term t = random_bool(T, &r, v + rnd(&r) % 6, rnd_in(&r, 1, 3), 4, RT_ALL);
        if (rnd(&r) % 3 == 0) t = pr_and(T, t, pr_fits(T, PR_FITS_SIGNED, 4, random_int(T, &r, v + 6, 3, 2, RT_ALL)));
        if (pr_term_none(t)) continue;
        kinds all = { 0 };
        pr_term_visit(T, t, note_kind, &all);
        CHECK(pr_term_occurs(T, t) == all.found);
        CHECK(pr_term_lanes(T, t) == all.lanes);
        kinds slow = { .of = 1u << rnd(&r) % 10 }, fast = slow;
        if (rnd(&r) % 2) slow.of = fast.of |= 1u << rnd(&r) % 10;
        pr_term_visit(T, t, count_kind, &slow);
        pr_term_visit_in(T, &t, 1, fast.of, count_in, &fast);
        CHECK(slow.visited == fast.visited);
        CHECK(pr_term_any_in(T, t, fast.of, is_of, &fast.of) == pr_term_any(T, t, is_of, &fast.of));
        CHECK(pr_term_mentions(T, t, pr_term_var(T, v[PR_ROLE_PARAM])) == pr_term_any(T, t, is_this, &v[PR_ROLE_PARAM]));
    }
    CHECK(pr_term_occurs(T, PR_TERM_NONE) == 0);
}

/* Random terms with other variables in place of some: what a substitution makes of them, and the same value at every point.
 * The new variables are made in the order of the old ones, against it, or at random. */
static void renaming(int rounds)
{
    rng r = { 31415926 };
    int equal = 0, all = 0;
    for (int round = 0; round < rounds; round++) {
        fresh();
        pr_term v[6] = { x, y, z, p, l, m }, root[3], made[3];
        for (int i = 0; i < 3; i++)
            root[i] = i == 2 ? random_int(T, &r, v, 6, 4, RT_ALL) : random_bool(T, &r, v, 6, 4, RT_ALL);
        if (rnd(&r) % 4 == 0) root[0] = pr_fits(T, PR_FITS_SIGNED, 5, root[2]);
        if (rnd(&r) % 5 == 0) root[1] = PR_TERM_NONE;
        pr_var to[16] = { { 0 } };
        pr_term map[16] = { { 0 } };
        int order = (int)(rnd(&r) % 3), kept = rnd_in(&r, 0, 6);   /* one variable stays, or none does */
        for (int k = 0; k < 6; k++) {
            int i = order == 1 ? 5 - k : order == 2 ? (int)(k * 5 + 1 + round) % 6 : k;
            const pr_var_info *old = pr_var_get(T, pr_term_var(T, v[i]));
            pr_var_info info = { .role = PR_ROLE_OTHER, .index = 50 + i, .lo = old->lo, .hi = old->hi };
            if (i == kept) continue;
            to[pr_term_var(T, v[i]).id] = pr_var_new(T, info);
            if (rnd(&r) % 2) (void)pr_var_term(T, to[pr_term_var(T, v[i]).id]);   /* its node may be older than others */
        }
        pr_term_rename(T, root, 3, to, rnd(&r) % 2 ? 16 : 7, made);
        for (uint32_t i = 1; i < 16; i++) map[i] = to[i].id ? pr_var_term(T, to[i]) : PR_TERM_NONE;
        pr_subst s = { .T = T, .var_map = map, .n_var_map = 16 };
        pr_i128 value[32] = { 0 };
        bool known[32];
        memset(known, 1, sizeof known);
        for (int i = 0; i < 3; i++) {
            if (pr_term_none(root[i])) {
                CHECK(pr_term_none(made[i]));
                continue;
            }
            pr_term want = pr_subst_apply(&s, root[i]);
            all++;
            equal += pr_term_is(want, made[i]);
            CHECK(pr_term_occurs(T, made[i]) == pr_term_occurs(T, root[i]));
            CHECK(pr_range_own(T, made[i]).lo == pr_range_own(T, root[i]).lo && pr_range_own(T, made[i]).hi == pr_range_own(T, root[i]).hi);
            for (uint32_t j = 1; j < 16; j++) CHECK(!to[j].id || !pr_term_mentions(T, made[i], (pr_var){ j }));
            for (int trial = 0; trial < 4; trial++) {
                pr_i128 old, new;
                for (uint32_t j = 1; j < pr_vars_count(T); j++) value[j] = rnd_in(&r, -30, 30);
                pr_env env = { value, known, pr_vars_count(T) };
                bool ok = pr_eval(T, made[i], &env, &new);
                for (uint32_t j = 1; j < 16; j++)
                    if (to[j].id) value[j] = value[to[j].id];
                CHECK(pr_eval(T, root[i], &env, &old) == ok && (!ok || old == new));
            }
        }
    }
    CHECK(equal * 100 > all * 98);     /* normal forms stay normal forms */
    if (equal * 100 <= all * 98) fprintf(stderr, "  %d of %d\n", equal, all);
}

/* Chains of 10^5 nodes: every traversal must be iterative. */
static void deep_chain(void)
{
    pr_term t = x, c = PR_TERM_TRUE;
    for (int i = 0; i < 100000; i++) {
        t = pr_min(T, pr_fmod_t(T, pr_scale(T, t, 3), k(1000003)), y);
        if (i < 20000) c = pr_and(T, c, pr_ne(T, x, k(i * 7)));
    }
    pr_term map[8] = { { 0 } };
    map[pr_term_var(T, y).id] = z;
    pr_subst sub = { .T = T, .var_map = map, .n_var_map = 8 };
    CHECK(!pr_term_none(pr_subst_apply(&sub, t)));
    pr_i128 at[6] = { 5, 1000000, 3, 0, 0, 0 }, v;
    CHECK(value_of(t, at, 6, &v));
    pr_term_vec parts = { 0 };
    pr_conjuncts(T, c, &parts, arena);
    CHECK(parts.n == 20000);
    pr_buf text;
    pr_buf_init(&text, arena);
    pr_term_print(&text, T, c);
    pr_term back;
    const char *why;
    CHECK(pr_term_parse(T, (pr_str){ text.data, text.n }, &back, &why));
    pr_box *box = pr_box_new(T);
    pr_box_set(box, pr_term_var(T, y), 0, 10);
    CHECK(pr_range(box, t).hi <= 10);
}

static void bad_text(void)
{
    static const char *const text[] = { "", "(", ")", "(+ 1", "(+ 1))", "(foo 1)", "(not 3)", "q",
                                        "(select x 1 2)", "(fits i0 x)", "(load#9 x)", "(+)",
                                        "(and 1 2)", "99999999999999999999999999999999999999999999",
                                        "(* 2 3 4)", "(fdiv x)" };
    for (size_t i = 0; i < PR_LEN(text); i++) {
        pr_term t;
        const char *why = NULL;
        bool ok = pr_term_parse(T, pr_str_of(text[i]), &t, &why);
        CHECK(!ok && why);
        if (ok) fprintf(stderr, "  accepted %s\n", text[i]);
    }
}

/* Division and gcd by their definitions, around the ends of one and two machine words. */
static void number_limits(void)
{
    rng g = { 20261130u };
    static const int at[] = { 0, 1, 7, 31, 32, 62, 63, 64, 65, 96, 118 };
    for (int round = 0; round < 20000; round++) {
        pr_i128 v[2];
        for (int i = 0; i < 2; i++) {
            v[i] = ((pr_i128)1 << at[rnd(&g) % PR_LEN(at)]) + rnd_in(&g, -3, 3);
            if (rnd(&g) % 4 == 0) v[i] += (pr_i128)rnd(&g) * rnd(&g);
            if (rnd(&g) % 2) v[i] = -v[i];
        }
        if (v[1] == 0) continue;
        pr_i128 q = pr_fdiv(v[0], v[1]), r = pr_fmod(v[0], v[1]), size = v[1] < 0 ? -v[1] : v[1];
        CHECK(v[1] * q + r == v[0] && (v[1] > 0 ? r >= 0 && r < size : r <= 0 && -r < size));
        pr_i128 d = pr_gcd(v[0], v[1]);
        CHECK(d > 0 && v[0] % d == 0 && v[1] % d == 0 && pr_gcd(v[0] / d, v[1] / d) == 1);
        CHECK(pr_gcd(v[0], 0) == (v[0] < 0 ? -v[0] : v[0]) && pr_gcd(v[0] % 1000, v[1] % 1000) == pr_gcd(v[1] % 1000, v[0] % 1000));
        pr_i128 a = v[0] % 50, b = v[1] % 50, best = 0;
        for (pr_i128 k = 1; k < 50; k++)
            if (a % k == 0 && b % k == 0) best = k;
        if (a || b) CHECK(pr_gcd(a, b) == best);
    }
}

int main(int argc, char **argv)
{
    arena = pr_arena_new(0, NULL);
    fresh();
    number_limits();
    rule_boolean();
    rule_comparisons();
    rule_choices();
    rule_sums();
    rule_divisions();
    rule_bits();
    division_table();
    traversals();
    bad_text();
    conjuncts(2000);
    occurring_leaves(1000);
    renaming(3000);
    random_constructors(argc > 1 ? atoi(argv[1]) : 4000, argc > 2 ? (uint64_t)atoll(argv[2]) : 88172645463325252u);
    fresh();
    deep_chain();
    pr_arena_free(arena);
    return check_done();
}
