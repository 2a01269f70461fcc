/* Random pairs of one shape each, so that every rule of src/pre meets instances it is made for. The oracle is
 * that of random_pair.h. */
#ifndef PR_TESTS_RANDOM_SHAPE_H
#define PR_TESTS_RANDOM_SHAPE_H
#include "random_pair.h"
#include "term/table.h"

typedef enum rp_shape {
    RP_ANY,          /* random_pair_make                                                       */
    RP_BOX,          /* sums with numbers, no masks: delta search                               */
    RP_WINDOW,       /* two records, one stride over the ids, different rests: window test       */
    RP_STRIDE,       /* s*row + column with a parameter s: rule P, non-overlapping strides        */
    RP_STRIDES,      /* several parameters as strides, conditions on them: lemma NO              */
    RP_GRID_STRIDE,  /* pid + k*G: lemma GS                                                    */
    RP_TABLE,        /* entries of a table as addresses, segments between entries: rules T, G, J    */
    RP_DIGITS        /* quotient and remainder put together again: rule D, lemma DM               */
} rp_shape;

static inline pr_term rs_small(pr_terms *T, rng *g, const pr_term *v, int n, int most)
{
    pr_term t = pr_const(T, rnd(g) % 4 ? 0 : rnd_in(g, -3, 6));
    for (int i = 0; i < n; i++)
        if (rnd(g) % 3) t = pr_add(T, t, pr_scale(T, v[i], rnd_in(g, rnd(g) % 6 ? 0 : -most, most)));
    return t;
}

/* Coefficients that dominate what follows, or any. */
static inline pr_term rs_box(random_pair *r, pr_terms *T, rng *g, int i)
{
    static const int order[][RP_DIMS] = { { 0, 1, 2, 3, 4 }, { 1, 0, 3, 2, 4 }, { 0, 2, 1, 4, 3 }, { 4, 3, 2, 1, 0 }, { 2, 0, 1, 3, 4 } };
    const int *at = order[rnd(g) % PR_LEN(order)];
    bool radix = rnd(g) % 3;
    pr_term sum = pr_const(T, rnd(g) % 3 ? 0 : rnd_in(g, -30, 30));
    pr_i128 stride = 1;
    for (int k = RP_DIMS - 1; k >= 0; k--) {
        int d = at[k];
        pr_i128 c = radix ? stride + (rnd(g) % 8 ? 0 : rnd_in(g, -1, 1)) : rnd_in(g, 0, 23);
        if (rnd(g) % 16 == 0) c = -c;
        sum = pr_add(T, sum, pr_scale(T, r->dim[i][d], c));
        stride *= pr_var_get(T, r->proto[i][d])->hi + 1 + (rnd(g) % 4 ? 0 : rnd_in(g, 0, 2));
    }
    return sum;
}

static inline pr_term rs_window(random_pair *r, pr_terms *T, rng *g, int i, pr_i128 stride)
{
    pr_term low = rs_small(T, g, r->dim[i] + RP_PIDS, RP_DIMS - RP_PIDS, 4);
    low = pr_add(T, low, pr_const(T, rnd_in(g, -8, 16)));
    if (rnd(g) % 3 == 0) low = pr_add(T, low, pr_scale(T, r->dim[i][1], stride * rnd_in(g, 1, 4)));
    return pr_add(T, pr_scale(T, r->dim[i][0], stride), low);
}

static inline pr_term rs_stride(random_pair *r, pr_terms *T, rng *g, int i, pr_term *mask)
{
    const pr_term *v = r->dim[i];
    pr_term s = r->param[0], factor = s;
    pr_term row = pr_add(T, v[0], pr_scale(T, v[1], rnd_in(g, 0, 4)));
    if (rnd(g) % 3 == 0) row = pr_add(T, row, pr_scale(T, v[RP_PIDS], rnd_in(g, 1, 4)));
    pr_term column = rs_small(T, g, v + RP_PIDS, RP_DIMS - RP_PIDS, 3);
    switch (rnd(g) % 8) {
    case 0: factor = pr_add(T, s, pr_const(T, rnd_in(g, -1, 2))); break;
    case 1:                                                    /* not one value in both copies */
        factor = v[RP_PIDS + rnd(g) % 3];
        *mask = pr_and(T, *mask, pr_lt(T, PR_TERM_ZERO, factor));
        if (rnd(g) % 2) return pr_mul(T, row, factor);
        break;
    case 2: factor = pr_mul(T, s, r->param[1]); break;
    default: break;
    }
    if (rnd(g) % 8) *mask = pr_and(T, *mask, rnd(g) % 6 ? pr_lt(T, column, s) : pr_le(T, column, pr_add(T, s, pr_const(T, rnd_in(g, 0, 1)))));
    if (rnd(g) % 4) *mask = pr_and(T, *mask, pr_le(T, PR_TERM_ZERO, column));
    pr_term sum = pr_add(T, pr_mul(T, row, factor), column);
    if (rnd(g) % 5 == 0) sum = pr_add(T, pr_mul(T, v[1], r->param[1]), sum);
    return sum;
}

static inline pr_term rs_grid_stride(random_pair *r, pr_terms *T, rng *g, int i, pr_term *mask, int start)
{
    const pr_term *v = r->dim[i];
    pr_term G = r->param[1];
    pr_term t = pr_add(T, pr_add(T, v[0], pr_const(T, start)), pr_mul(T, v[RP_PIDS], rnd(g) % 8 ? G : pr_add(T, G, pr_const(T, rnd_in(g, -1, 1)))));
    if (rnd(g) % 8) *mask = pr_and(T, *mask, rnd(g) % 8 ? pr_lt(T, v[0], G) : pr_le(T, v[0], G));
    if (rnd(g) % 2) *mask = pr_and(T, *mask, pr_lt(T, t, pr_const(T, rnd_in(g, 2, 9))));
    pr_i128 tile = rnd_in(g, 1, 5);
    return pr_add(T, pr_scale(T, t, tile), pr_add(T, v[RP_PIDS + 1], pr_scale(T, v[1], rnd_in(g, 0, 9))));
}

static inline pr_term rs_digits(random_pair *r, pr_terms *T, rng *g, int i)
{
    const pr_term *v = r->dim[i];
    bool box = rnd(g) % 2;
    pr_term x = box ? rs_box(r, T, g, i) : pr_add(T, v[0], pr_scale(T, v[RP_PIDS + 1], rnd_in(g, 1, 4)));
    if (rnd(g) % 2) x = pr_sub(T, x, pr_const(T, rnd_in(g, 0, 12)));
    pr_term d = pr_const(T, rnd_in(g, 2, 5));
    if (rnd(g) % 4 == 0) d = rnd(g) % 2 ? r->param[0] : pr_min(T, pr_const(T, rnd_in(g, 2, 4)), pr_sub(T, r->param[1], v[1]));
    bool floor = rnd(g) % 2, mixed = rnd(g) % 3 == 0;
    pr_term q = floor ? pr_fdiv_t(T, x, d) : pr_tdiv_t(T, x, d);
    pr_term m = floor != mixed ? pr_fmod_t(T, x, d) : pr_trem_t(T, x, d);
    pr_i128 big = rnd_in(g, 3, 16);
    pr_term sum = rnd(g) % 2 ? pr_add(T, pr_scale(T, q, big), m) : pr_add(T, q, pr_scale(T, m, big));
    if (rnd(g) % 4 == 0) return pr_add(T, pr_scale(T, m, big), pr_scale(T, v[RP_PIDS + 1], rnd_in(g, 0, 3)));   /* the remainder alone */
    return rnd(g) % 4 ? sum : pr_add(T, sum, pr_scale(T, v[RP_PIDS + 2], rnd_in(g, 1, 40)));
}

/* A permutation with gaps, a nondecreasing table, or any. */
static inline pr_tab rs_tab(pr_terms *T, rng *g)
{
    int n = rnd_in(g, 2, 7), kind = (int)(rnd(g) % 3);
    pr_i128 *entry = PR_NEW_N(pr_terms_arena(T), pr_i128, n), gap = rnd_in(g, 1, 5);
    for (int i = 0; i < n; i++)
        entry[i] = kind == 0 ? i * gap : kind == 1 ? (i ? entry[i - 1] : 0) + rnd_in(g, 0, 4) : rnd_in(g, 0, 12);
    for (int i = n - 1; i > 0 && kind == 0; i--) {
        int j = rnd_in(g, 0, i);
        pr_i128 swap = entry[i];
        entry[i] = entry[j], entry[j] = swap;
    }
    if (rnd(g) % 6 == 0) entry[rnd_in(g, 0, n - 1)] += rnd_in(g, -3, 3);
    return pr_tab_new(T, (pr_tab_info){ .name = "t", .values = entry, .n = n });
}

static inline pr_term rs_table(random_pair *r, pr_terms *T, rng *g, int i, const pr_tab tab[2], int how, pr_term *mask)
{
    const pr_term *v = r->dim[i];
    pr_term p = rnd(g) % 3 ? v[0] : pr_add(T, pr_scale(T, v[0], rnd_in(g, 1, 2)), v[1]), low = v[RP_PIDS + 1];
    if (rnd(g) % 6 == 0) p = pr_add(T, p, pr_const(T, rnd_in(g, -1, 2)));
    pr_term here = pr_table(T, tab[0], p), next = pr_table(T, tab[0], pr_add(T, p, pr_const(T, 1)));
    switch (how) {
    case 0:                                        /* an entry is a row */
        if (rnd(g) % 6 == 0) here = pr_select(T, pr_lt(T, v[0], pr_const(T, rnd_in(g, 1, 3))), here, pr_const(T, rnd_in(g, 0, 12)));
        return pr_add(T, pr_scale(T, here, rnd_in(g, 1, 6)), pr_scale(T, low, rnd_in(g, 0, 2)));
    case 1:                                        /* from one entry to the next */
        if (rnd(g) % 6) *mask = pr_and(T, *mask, pr_lt(T, low, pr_sub(T, next, here)));
        if (rnd(g) % 6 == 0) low = pr_sub(T, low, pr_const(T, rnd_in(g, 0, 2)));
        return pr_add(T, here, low);
    default:                                       /* two tables tell which */
        return pr_add(T, pr_scale(T, here, rnd_in(g, 1, 30)), pr_table(T, tab[1], p));
    }
}

static inline void random_pair_shaped(random_pair *r, pr_terms *T, pr_arena *arena, rng *g, rp_shape shape)
{
    static const int width[] = { 1, 1, 2, 4, 4, 8 };
    if (shape == RP_ANY) {
        random_pair_make(r, T, arena, g);
        return;
    }
    do {
        random_pair_frame(r, T, arena, g, shape == RP_STRIDES);
    } while (shape == RP_WINDOW && (r->same || r->intra));
    r->epochs = r->depends = r->atomic = false;
    bool divide = shape == RP_WINDOW || rnd(g) % 3;             /* an element's address, else bytes */
    pr_tab tab[2] = { { 0 } };
    if (shape == RP_TABLE)
        for (int i = 0; i < 2; i++) tab[i] = rs_tab(T, g);
    int how = (int)(rnd(g) % 3), unit = width[rnd(g) % PR_LEN(width)], start = rnd_in(g, 0, 2);
    pr_i128 stride = rnd_in(g, 3, 40);
    for (int i = 0; i < (r->same ? 1 : 2); i++) {
        rp_record *a = &r->rec[i];
        a->width = rnd(g) % 6 ? unit : width[rnd(g) % PR_LEN(width)];
        switch (shape) {
        case RP_BOX: a->addr = rs_box(r, T, g, i); break;
        case RP_WINDOW: a->addr = rs_window(r, T, g, i, stride); break;
        case RP_STRIDE: a->addr = rs_stride(r, T, g, i, &a->mask); break;
        case RP_TABLE: a->addr = rs_table(r, T, g, i, tab, how, &a->mask); break;
        case RP_STRIDES:
            a->addr = rp_strided(T, g, r->dim[i], RP_DIMS, r->param);
            a->mask = rp_mask(T, g, r->dim[i], RP_DIMS, r->param);
            break;
        case RP_GRID_STRIDE: a->addr = rs_grid_stride(r, T, g, i, &a->mask, rnd(g) % 4 ? start : rnd_in(g, 0, 2)); break;
        default: a->addr = rs_digits(r, T, g, i); break;
        }
        if (shape == RP_WINDOW ? rnd(g) % 2 : divide) a->addr = pr_scale(T, a->addr, shape == RP_WINDOW ? 1 : unit);
        if (shape != RP_BOX && rnd(g) % 4 == 0) {              /* one lane fixed or a bound on it */
            pr_term l = r->dim[i][RP_PIDS + 1 + rnd(g) % RP_LANES];
            pr_term c = pr_const(T, rnd_in(g, 0, 2));
            a->mask = pr_and(T, a->mask, rnd(g) % 2 ? pr_eq(T, l, c) : pr_le(T, l, c));
        }
    }
    random_pair_query(r, T, arena);
    if (shape == RP_STRIDES) rp_premises(r, T, g, r->param);
}
#endif
