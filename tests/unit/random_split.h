/* Random terms that need cases: truncating division of either sign, divisors and factors of small range,
 * divisors that are one of two numbers, min, max, select, or, bits, lookup tables. With a twist, one operation is replaced by
 * a common misreading of it; the random numbers drawn are the same. */
#ifndef PR_TESTS_RANDOM_SPLIT_H
#define PR_TESTS_RANDOM_SPLIT_H
#include "random_term.h"
#include "term/query.h"
#include "term/table.h"

enum { RS_VARS = 3 };
enum {
    RS_AS_FLOOR = 1,   /* truncating division as floor division                 */
    RS_NO_ZERO,        /* a small divisor is never below 1                      */
    RS_FIRST_ARM,      /* min, max: the first operand                           */
    RS_ARMS,           /* select: arms exchanged                                */
    RS_LAST_FACTOR,    /* a small factor never takes its largest value           */
    RS_BITS,           /* or as addition, and as its first operand                */
    RS_DISJUNCT,       /* or: the first disjunct; unequal as less                */
    RS_ENTRY           /* a table: the entry after the one that is read          */
};

typedef struct random_split {
    pr_query q;
    pr_var vars[RS_VARS];
    int lo[RS_VARS], hi[RS_VARS];
    pr_term core[3], value, truth;
    bool ok;
} random_split;

static inline pr_term rs_bool(random_split *r, pr_terms *T, rng *g, const pr_term *v, int depth, int twist);

static inline pr_term rs_int(random_split *r, pr_terms *T, rng *g, const pr_term *v, int depth, int twist)
{
    if (depth <= 0) return rnd(g) % 5 ? v[rnd(g) % RS_VARS] : pr_const(T, rnd_in(g, -6, 6));
    pr_term a = rs_int(r, T, g, v, depth - 1, twist), b = rs_int(r, T, g, v, depth - 1 - (int)(rnd(g) % 2), twist);
    pr_term k = pr_const(T, rnd_in(g, 1, 6) * (rnd(g) % 6 ? 1 : -1)), small = v[2];
    bool floor = twist == RS_AS_FLOOR;
    switch (rnd(g) % 15) {
    case 0: return pr_add(T, a, pr_scale(T, b, rnd_in(g, -4, 6)));
    case 1: return pr_add(T, pr_scale(T, a, rnd_in(g, 1, 6)), k);
    case 2: return floor ? pr_fdiv_t(T, a, k) : pr_tdiv_t(T, a, k);
    case 3: return floor ? pr_fmod_t(T, a, k) : pr_trem_t(T, a, k);
    case 4: return pr_fmod_t(T, a, k);
    case 5: {
        pr_term d = twist == RS_NO_ZERO ? pr_max(T, small, pr_const(T, 1)) : small;
        switch (rnd(g) % 4) {
        case 0: return pr_fdiv_t(T, a, d);
        case 1: return pr_fmod_t(T, a, d);
        case 2: return floor ? pr_fdiv_t(T, a, d) : pr_tdiv_t(T, a, d);
        default: return floor ? pr_fmod_t(T, a, d) : pr_trem_t(T, a, d);
        }
    }
    case 6: return twist == RS_FIRST_ARM ? a : pr_min(T, a, b);
    case 7: return twist == RS_FIRST_ARM ? a : pr_max(T, a, b);
    case 8: {
        pr_term c = rs_bool(r, T, g, v, depth - 1, twist);
        return twist == RS_ARMS ? pr_select(T, c, b, a) : pr_select(T, c, a, b);
    }
    case 9: case 10:
        return pr_mul(T, a, twist == RS_LAST_FACTOR ? pr_min(T, small, pr_const(T, r->hi[2] - 1)) : small);
    case 11: {
        pr_term m = rnd(g) % 2 ? pr_const(T, rnd_in(g, -20, 20)) : b;
        switch (rnd(g) % 3) {
        case 0: return twist == RS_BITS ? a : pr_band(T, a, m);
        case 1: return twist == RS_BITS ? pr_add(T, a, m) : pr_bor(T, a, m);
        default: return pr_bxor(T, a, m);
        }
    }
    case 12: {                                     /* a divisor that is one of two numbers */
        pr_term c = rs_bool(r, T, g, v, 0, twist), d = pr_select(T, c, pr_const(T, rnd_in(g, 2, 3)), pr_const(T, rnd_in(g, 4, 5)));
        return rnd(g) % 2 ? pr_fdiv_t(T, a, d) : floor ? pr_fmod_t(T, a, d) : pr_trem_t(T, a, d);
    }
    case 13: {                                     /* runs, or any entries */
        int n = rnd_in(g, 2, 7);
        pr_i128 *entry = PR_NEW_N(pr_terms_arena(T), pr_i128, n);
        bool runs = rnd(g) % 2;
        for (int i = 0; i < n; i++) entry[i] = runs && i % 4 ? entry[i - 1] + rnd_in(g, 2, 3) * (i % 4 < 3) : rnd_in(g, -9, 20);
        pr_tab tab = pr_tab_new(T, (pr_tab_info){ .name = "t", .values = entry, .n = n });
        return pr_table(T, tab, twist == RS_ENTRY ? pr_add(T, a, pr_const(T, 1)) : a);
    }
    default: return pr_sub(T, a, b);
    }
}

static inline pr_term rs_bool(random_split *r, pr_terms *T, rng *g, const pr_term *v, int depth, int twist)
{
    if (depth > 0 && rnd(g) % 3 == 0) {
        pr_term a = rs_bool(r, T, g, v, depth - 1, twist), b = rs_bool(r, T, g, v, depth - 1, twist);
        switch (rnd(g) % 3) {
        case 0: return pr_and(T, a, b);
        case 1: return twist == RS_DISJUNCT ? a : pr_or(T, a, b);
        default: return pr_not(T, a);
        }
    }
    pr_term a = rs_int(r, T, g, v, depth, twist), b = rs_int(r, T, g, v, 0, twist);
    switch (rnd(g) % 4) {
    case 0: return pr_le(T, a, b);
    case 1: return pr_lt(T, b, a);
    case 2: return pr_eq(T, a, b);
    default: return twist == RS_DISJUNCT ? pr_lt(T, a, b) : pr_ne(T, a, b);
    }
}

/* Two conjuncts over three variables in a small box; a term and a truth value of them. */
static inline void random_split_make(random_split *r, pr_terms *T, rng *g, int twist)
{
    static const char *const name[RS_VARS] = { "x", "y", "z" };
    static const int least[RS_VARS] = { -12, -4, -1 }, most[RS_VARS] = { 12, 7, 4 };
    pr_term v[RS_VARS];
    *r = (random_split){ .ok = true };
    for (int i = 0; i < RS_VARS; i++) {
        r->lo[i] = rnd_in(g, least[i], most[i] / 2);
        r->hi[i] = rnd_in(g, r->lo[i], most[i]);
        r->vars[i] = pr_var_new(T, (pr_var_info){ .role = PR_ROLE_OTHER, .index = i, .copy = PR_COPY_NONE, .lo = r->lo[i],
                                                  .hi = r->hi[i], .name = name[i] });
        v[i] = pr_var_term(T, r->vars[i]);
    }
    r->value = rs_int(r, T, g, v, rnd_in(g, 1, 3), twist);
    r->truth = rs_bool(r, T, g, v, rnd_in(g, 0, 2), twist);
    if (pr_term_none(r->value) || pr_term_none(r->truth)) {
        r->ok = false;
        return;
    }
    pr_term wanted = pr_const(T, rnd_in(g, -9, 30));
    r->core[0] = rnd(g) % 2 ? pr_eq(T, r->value, wanted) : pr_le(T, wanted, r->value);
    r->core[1] = r->truth;
    r->ok = !pr_term_none(r->core[0]);
    r->q = (pr_query){ .terms = T, .vars = r->vars, .n_vars = RS_VARS, .core = r->core, .n_core = 2, .pair = -1 };
}

static inline bool random_split_first(const random_split *r, pr_i128 *at)
{
    for (int i = 0; i < RS_VARS; i++) at[i] = r->lo[i];
    return true;
}

static inline bool random_split_next(const random_split *r, pr_i128 *at)
{
    for (int i = 0; i < RS_VARS; i++) {
        if (at[i]++ < r->hi[i]) return true;
        at[i] = r->lo[i];
    }
    return false;
}

/* False: outside exact arithmetic. */
static inline bool random_split_eval(const random_split *r, pr_term t, const pr_i128 *at, pr_i128 *out)
{
    pr_i128 value[16] = { 0 };
    bool known[16] = { false };
    for (int i = 0; i < RS_VARS; i++) {
        value[r->vars[i].id] = at[i];
        known[r->vars[i].id] = true;
    }
    return pr_eval(r->q.terms, t, &(pr_env){ value, known, 16 }, out);
}

static inline pr_answer random_split_oracle(const random_split *r)
{
    pr_i128 at[RS_VARS], a, b;
    bool unsure = false;
    for (bool more = random_split_first(r, at); more; more = random_split_next(r, at)) {
        bool first = random_split_eval(r, r->core[0], at, &a), second = random_split_eval(r, r->core[1], at, &b);
        if (first && second && a && b) return PR_ANSWER_WITNESS;
        unsure |= !first || !second;
    }
    return unsure ? PR_ANSWER_UNKNOWN : PR_ANSWER_EMPTY;
}
#endif
