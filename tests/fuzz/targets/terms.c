/* The term store: the bytes are a program of constructor calls.
 *
 * Beside each term its value at a few points is computed here, with arithmetic of this file. Where both have a
 * value: evaluation agrees; own and narrowed intervals and the residue contain it; the printed term reads back
 * as the same term; putting the point's values in for the variables leaves the same value. */
#include <string.h>
#include "fuzz.h"
#include "term/range.h"

enum { POINTS = 3, VARS = 5, MOST = 40 };
typedef struct bytes { const uint8_t *p; size_t n; } bytes;
typedef struct item { pr_term t; pr_i128 v[POINTS]; bool ok[POINTS]; } item;
typedef struct pool { item data[MOST]; int n; } pool;

static uint8_t take(bytes *b)
{
    if (!b->n) return 0;
    b->n--;
    return *b->p++;
}
static pr_i128 number(bytes *b)
{
    uint8_t how = take(b), x = take(b);
    switch (how % 6) {
    case 0: case 1: case 2: return (int8_t)x;
    case 3: return ((pr_i128)1 << x % 100) + (how / 6) % 3 - 1;
    case 4: return -((pr_i128)1 << x % 100) + (how / 6) % 3 - 1;
    default: return ((pr_i128)x << 8) + take(b);
    }
}
static void put(pool *p, item x)
{
    if (p->n < MOST && !pr_term_none(x.t)) p->data[p->n++] = x;
}
static const item *pick(const pool *p, bytes *b) { return &p->data[take(b) % p->n]; }

static bool quotient(int op, pr_i128 a, pr_i128 b, pr_i128 *r)
{
    if (b == 0) {
        *r = op % 2 ? a : 0;
        return true;
    }
    if (b == -1 && a == PR_I128_MIN) return false;
    pr_i128 q = b == -1 ? -a : a / b, m = b == -1 ? 0 : a % b;
    if (op < 2 && m && (m < 0) != (b < 0)) {
        q -= 1;
        m += b;
    }
    *r = op % 2 ? m : q;
    return true;
}

static void binary(pr_terms *T, int op, pool *ints, pool *bools, bytes *b)
{
    static pr_term (*const make[])(pr_terms *, pr_term, pr_term) = { pr_fdiv_t, pr_fmod_t, pr_tdiv_t, pr_trem_t, pr_add, pr_sub, pr_mul,
                                                                     pr_min, pr_max, pr_band, pr_bor, pr_bxor, pr_le, pr_lt, pr_eq, pr_ne };
    const item *x = pick(ints, b), *y = pick(ints, b);
    item z = { .t = make[op](T, x->t, y->t) };
    for (int k = 0; k < POINTS; k++) {
        pr_i128 u = x->v[k], w = y->v[k], r = 0;
        bool ok = x->ok[k] && y->ok[k];
        switch (op) {
        case 0: case 1: case 2: case 3: ok = ok && quotient(op, u, w, &r); break;
        case 4: ok = ok && !__builtin_add_overflow(u, w, &r); break;
        case 5: ok = ok && !__builtin_sub_overflow(u, w, &r); break;
        case 6: ok = ok && !__builtin_mul_overflow(u, w, &r); break;
        case 7: r = u < w ? u : w; break;
        case 8: r = u > w ? u : w; break;
        case 9: r = u & w; break;
        case 10: r = u | w; break;
        case 11: r = u ^ w; break;
        case 12: r = u <= w; break;
        case 13: r = u < w; break;
        case 14: r = u == w; break;
        default: r = u != w; break;
        }
        z.v[k] = r;
        z.ok[k] = ok;
    }
    put(op >= 12 ? bools : ints, z);
}
static void logic(pr_terms *T, int op, pool *ints, pool *bools, bytes *b)
{
    const item *c = pick(bools, b), *d = pick(bools, b), *x = pick(ints, b), *y = pick(ints, b);
    int bits = 1 + take(b) % 64;
    item z = { 0 };
    switch (op) {
    case 0: z.t = pr_and(T, c->t, d->t); break;
    case 1: z.t = pr_or(T, c->t, d->t); break;
    case 2: z.t = pr_not(T, c->t); break;
    case 3: z.t = pr_select(T, c->t, x->t, y->t); break;
    case 4: z.t = pr_bool_to_int(T, c->t); break;
    case 5: z.t = pr_fits(T, PR_FITS_SIGNED, bits, x->t); break;
    default: z.t = pr_int_to_bool(T, x->t); break;
    }
    for (int k = 0; k < POINTS; k++) {
        bool cc = c->ok[k], dd = d->ok[k], xx = x->ok[k];
        pr_i128 p = c->v[k], q = d->v[k], u = x->v[k];
        switch (op) {
        case 0: z.v[k] = p && q; z.ok[k] = cc && dd; break;
        case 1: z.v[k] = p || q; z.ok[k] = cc && dd; break;
        case 2: z.v[k] = !p; z.ok[k] = cc; break;
        case 3: z.v[k] = p ? u : y->v[k]; z.ok[k] = cc && (p ? xx : y->ok[k]); break;
        case 4: z.v[k] = p; z.ok[k] = cc; break;
        case 5: z.v[k] = u >= pr_int_min(bits) && u <= pr_int_max(bits); z.ok[k] = xx; break;
        default: z.v[k] = u != 0; z.ok[k] = xx; break;
        }
    }
    put(op == 3 || op == 4 ? ints : bools, z);
}

/* PR_INF stands for "unbounded". */
static bool within(pr_interval i, pr_i128 v) { return (i.lo <= v || i.lo <= -PR_INF) && (v <= i.hi || i.hi >= PR_INF); }

static void examine(pr_terms *T, pr_box *box, const item *x, const pr_var *var, pr_i128 at[POINTS][VARS], bool is_bool)
{
    FUZZ_CHECK(pr_term_is_bool(T, x->t) == is_bool, "sort");
    pr_buf text;
    pr_buf_init(&text, pr_terms_arena(T));
    pr_term_print(&text, T, x->t);
    pr_term back;
    const char *why = "";
    if (!strstr(text.data, "..."))
        FUZZ_CHECK(pr_term_parse(T, (pr_str){ text.data, text.n }, &back, &why) && pr_term_is(back, x->t), "%s: %s", why, text.data);
    pr_interval own = pr_range_own(T, x->t), narrow = pr_range(box, x->t);
    pr_residue res = { 1, 0 };
    if (!is_bool) res = pr_residue_of(box, x->t);
    uint32_t n = pr_vars_count(T);
    pr_i128 value[VARS + 2] = { 0 };
    bool known[VARS + 2] = { false };
    for (int k = 0; k < POINTS; k++) {
        pr_term map[VARS + 2] = { { 0 } };
        for (int i = 0; i < VARS; i++) {
            value[var[i].id] = at[k][i];
            known[var[i].id] = true;
            map[var[i].id] = pr_const(T, at[k][i]);
        }
        pr_env env = { value, known, n };
        pr_i128 got, v = x->v[k];
        if (!x->ok[k] || !pr_eval(T, x->t, &env, &got)) continue;
        FUZZ_CHECK(got == v, "value at point %d: %s", k, text.data);
        FUZZ_CHECK(within(own, v), "own interval at point %d: %s", k, text.data);
        FUZZ_CHECK(within(narrow, v), "interval at point %d: %s", k, text.data);
        FUZZ_CHECK(res.modulus == 0 ? v == res.residue : pr_fmod(v, res.modulus) == res.residue, "residue at point %d: %s", k, text.data);
        pr_subst s = { .T = T, .var_map = map, .n_var_map = n };
        pr_term c = pr_subst_apply(&s, x->t);
        if (!pr_term_none(c) && pr_eval(T, c, &(pr_env){ value, known, 0 }, &got)) FUZZ_CHECK(got == v, "substitution at point %d: %s", k, text.data);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[VARS] = { "a", "b", "c", "d", "e" };
    bytes b = { data, size };
    pr_arena *arena = pr_arena_new(0, NULL);
    if (!arena) return 0;
    pr_terms *T = pr_terms_new(arena);
    pr_box *box = pr_box_new(T);
    pool ints = { .n = 0 }, bools = { .n = 0 };
    pr_var var[VARS];
    pr_i128 at[POINTS][VARS];
    for (int i = 0; i < VARS; i++) {
        uint8_t how = take(&b), wide = take(&b);
        pr_i128 lo = how % 3 == 0 ? 0 : -(pr_i128)(how / 3), hi = lo + wide;
        if (how % 5 == 4) hi = ((pr_i128)1 << 31) - 1;
        var[i] = pr_var_new(T, (pr_var_info){ .role = PR_ROLE_OTHER, .index = i, .copy = PR_COPY_NONE, .lo = lo, .hi = hi, .name = names[i] });
        item x = { .t = pr_var_term(T, var[i]) };
        pr_i128 least = hi, most = lo;
        for (int k = 0; k < POINTS; k++) {
            pr_i128 v = lo + (k == 0 ? 0 : k == 1 ? hi - lo : (pr_i128)take(&b) % (hi - lo + 1));
            if (how % 2) v = lo + (pr_i128)take(&b) % (hi - lo + 1);
            at[k][i] = x.v[k] = v;
            x.ok[k] = true;
            least = v < least ? v : least;
            most = v > most ? v : most;
        }
        pr_box_set(box, var[i], least, most);
        put(&ints, x);
    }
    put(&bools, (item){ .t = PR_TERM_TRUE, .v = { 1, 1, 1 }, .ok = { true, true, true } });
    while (b.n) {
        uint8_t op = take(&b) % 28;
        if (op < 16) binary(T, op, &ints, &bools, &b);
        else if (op < 23) logic(T, op - 16, &ints, &bools, &b);
        else {
            pr_i128 v = number(&b);
            put(&ints, (item){ .t = pr_const(T, v), .v = { v, v, v }, .ok = { true, true, true } });
        }
        if (ints.n == MOST || bools.n == MOST) break;
    }
    for (int i = VARS; i < ints.n; i++) examine(T, box, &ints.data[i], var, at, false);
    for (int i = 1; i < bools.n; i++) examine(T, box, &bools.data[i], var, at, true);
    pr_arena_free(arena);
    return 0;
}
