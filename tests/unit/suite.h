/* The kernel-shaped queries a-l of the decision engine's suite, each in a safe and a racing version, with
 * numbers or with symbolic parameters. Two copies of one store (f: of a store and a load). */
#ifndef PR_TESTS_SUITE_H
#define PR_TESTS_SUITE_H
#include "term/query.h"

typedef struct kernel {
    pr_terms *T;
    pr_arena *arena;
    bool race, symbolic;
    pr_term proto[16]; int n_proto;      /* private variables, in the order they were asked for */
    pr_var id[16];
    int pids;                            /* the first so many are program ids                   */
    pr_term shared[8]; pr_var shared_id[8]; int n_shared;
    pr_term mask, address, other;        /* other: the second record's address, or none          */
    int width;
    bool both_orders;
} kernel;

static inline pr_term k_private(kernel *k, const char *name, pr_var_role role, int index, pr_i128 hi)
{
    int i = k->n_proto++;
    k->id[i] = pr_var_new(k->T, (pr_var_info){ .role = role, .index = index, .lo = 0, .hi = hi - 1,
                                               .name = name });
    if (role == PR_ROLE_PID) k->pids++;
    return k->proto[i] = pr_var_term(k->T, k->id[i]);
}
static inline pr_term k_shared(kernel *k, const char *name, pr_var_role role, int index, pr_i128 lo, pr_i128 hi)
{
    int i = k->n_shared++;
    k->shared_id[i] = pr_var_new(k->T, (pr_var_info){ .role = role, .index = index,
                                                      .copy = PR_COPY_SHARED, .lo = lo, .hi = hi,
                                                      .name = name });
    return k->shared[i] = pr_var_term(k->T, k->shared_id[i]);
}
static inline void k_mask(kernel *k, pr_term c) { k->mask = pr_and(k->T, k->mask, c); }
static inline pr_term k_c(kernel *k, pr_i128 v) { return pr_const(k->T, v); }

/* A pid below n, or below a symbolic grid extent. */
static inline pr_term k_pid(kernel *k, int axis, pr_i128 n)
{
    static const char *const pid[] = { "pid0", "pid1", "pid2" }, *const grid[] = { "G0", "G1", "G2" };
    pr_term p = k_private(k, pid[axis], PR_ROLE_PID, axis, k->symbolic ? ((pr_i128)1 << 31) - 1 : n);
    if (k->symbolic) {
        pr_term g = k_shared(k, grid[axis], PR_ROLE_GRID, axis, 1, ((pr_i128)1 << 31) - 1);
        k_mask(k, pr_lt(k->T, p, g));
    }
    return p;
}
static inline pr_term k_lane(kernel *k, int d, int n)
{
    static const char *const name[] = { "lane0", "lane1", "lane2" };
    return k_private(k, name[d], PR_ROLE_LANE, d, n);
}
/* sum of coef*term pairs ended by a null coefficient */
static inline pr_term k_lin(kernel *k, pr_i128 a, pr_term x, pr_i128 b, pr_term y)
{
    return pr_add(k->T, pr_scale(k->T, x, a), pr_scale(k->T, y, b));
}

static inline void kernel_a(kernel *k)
{
    pr_term p = k_pid(k, 0, 98), l = k_lane(k, 0, 1024), i = k_lin(k, k->race ? 1000 : 1024, p, 1, l);
    pr_term n = k->symbolic ? k_shared(k, "n", PR_ROLE_PARAM, 0, 1, INT32_MAX) : k_c(k, 100000);
    k_mask(k, pr_lt(k->T, i, n));
    k->address = pr_scale(k->T, i, 4);
}
static inline void kernel_b(kernel *k)
{
    pr_term p0 = k_pid(k, 0, 32), p1 = k_pid(k, 1, 32), l0 = k_lane(k, 0, 32), l1 = k_lane(k, 1, 32);
    pr_term row = k_lin(k, 32, p0, 1, l0), col = k_lin(k, 32, p1, 1, l1);
    pr_term m = k->symbolic ? k_shared(k, "M", PR_ROLE_PARAM, 0, 1, INT32_MAX) : k_c(k, 1000);
    k_mask(k, pr_and(k->T, pr_lt(k->T, row, m), pr_lt(k->T, col, k_c(k, 1000))));
    k->address = pr_scale(k->T, k_lin(k, k->race ? 992 : 1000, row, 1, col), 4);
}
static inline void kernel_c(kernel *k)
{
    pr_term p = k_pid(k, 0, 1000), l = k_lane(k, 0, 1024), j = k_private(k, "k0", PR_ROLE_ITER, 0, 5);
    pr_term col = k_lin(k, 1024, j, 1, l);
    if (!k->race) k_mask(k, pr_lt(k->T, col, k_c(k, 4099)));
    k->address = pr_scale(k->T, k_lin(k, 4099, p, 1, col), 4);
}
static inline void kernel_d(kernel *k)
{
    pr_terms *T = k->T;
    pr_term rows = k->symbolic ? k_shared(k, "num_m", PR_ROLE_PARAM, 0, 1, 65535) : k_c(k, 33);
    pr_term p = k_private(k, "pid0", PR_ROLE_PID, 0, k->symbolic ? 17 * 65535 : 33 * 17);
    pr_term l0 = k_lane(k, 0, 64), l1 = k_lane(k, 1, 64), w = k_c(k, 8 * 17);
    if (k->symbolic) k_mask(k, pr_lt(T, p, pr_scale(T, rows, 17)));
    pr_term group = pr_tdiv_t(T, p, w), rest = pr_trem_t(T, p, w);
    pr_term first = pr_scale(T, group, k->race ? 7 : 8);
    pr_term size = pr_min(T, pr_sub(T, rows, first), k_c(k, 8));
    pr_term m = pr_add(T, first, pr_trem_t(T, rest, size)), n = pr_tdiv_t(T, rest, size);
    k->address = pr_scale(T, k_lin(k, 1088, k_lin(k, 64, m, 1, l0), 1, k_lin(k, 64, n, 1, l1)), 4);
    k_mask(k, pr_lt(T, k_lin(k, 64, n, 1, l1), k_c(k, 1088)));
}
static inline void kernel_e(kernel *k)
{
    pr_terms *T = k->T;
    pr_term p0 = k_pid(k, 0, 16), p1 = k_pid(k, 1, 48), l0 = k_lane(k, 0, 64), l1 = k_lane(k, 1, 64);
    pr_term b = pr_tdiv_t(T, p1, k_c(k, 12)), h = pr_trem_t(T, p1, k_c(k, 12));
    pr_term row = k_lin(k, 64, p0, 1, l0);
    pr_term len = k->symbolic ? k_shared(k, "len", PR_ROLE_PARAM, 0, 1, 1024) : k_c(k, 1000);
    k_mask(k, pr_lt(T, row, len));
    k->address = pr_scale(T, pr_add(T, k_lin(k, 12 * 65536, b, k->race ? 60000 : 65536, h),
                                    k_lin(k, 64, row, 1, l1)), 2);
    k->width = 2;
}
static inline void kernel_f(kernel *k)
{
    pr_term p = k_pid(k, 0, 1000), l = k_lane(k, 0, 1024), j = k_private(k, "k0", PR_ROLE_ITER, 0, 4);
    k->address = pr_scale(k->T, pr_add(k->T, k_lin(k, 4096, p, 1024, j), l), 4);
    k->other = pr_add(k->T, k->address, k_c(k, k->race ? 4096 : 0));
    k->both_orders = true;
}
static inline void kernel_g(kernel *k)
{
    pr_terms *T = k->T;
    pr_term p0 = k_pid(k, 0, 64), p1 = k_pid(k, 1, 4), l0 = k_lane(k, 0, 64), l1 = k_lane(k, 1, 64);
    pr_term m = pr_tdiv_t(T, p0, k_c(k, 8)), n = pr_trem_t(T, p0, k_c(k, 8));
    pr_term tile = k_lin(k, 512, k_lin(k, 64, m, 1, l0), 1, k_lin(k, 64, n, 1, l1));
    if (k->symbolic) k_mask(k, pr_lt(T, p0, k_c(k, 64)));
    k->address = pr_scale(T, k_lin(k, k->race ? 0 : 512 * 512, p1, 1, tile), 4);
}
static inline void kernel_h(kernel *k)
{
    pr_term p = k_pid(k, 0, 1000), l = k_lane(k, 0, 1024), j = k_private(k, "k0", PR_ROLE_ITER, 0, 4);
    k->address = pr_scale(k->T, pr_add(k->T, k_lin(k, k->race ? 4000 : 4096, p, 1024, j), l), 4);
}
static inline void kernel_i(kernel *k)
{
    pr_terms *T = k->T;
    pr_term p = k_pid(k, 0, 392), l = k_lane(k, 0, 256), x = k_lin(k, 256, p, 1, l);
    pr_term w = pr_trem_t(T, x, k_c(k, 7)), y = pr_tdiv_t(T, x, k_c(k, 7));
    pr_term h = pr_trem_t(T, y, k_c(k, 7)), z = pr_tdiv_t(T, y, k_c(k, 7));
    pr_term c = pr_trem_t(T, z, k_c(k, 16)), n = pr_tdiv_t(T, z, k_c(k, 16));
    pr_term total = k->symbolic ? k_shared(k, "total", PR_ROLE_PARAM, 0, 1, INT32_MAX) : k_c(k, 100352);
    k_mask(k, pr_lt(T, x, total));
    pr_term line = k_lin(k, 7, n, 1, h);
    k->address = pr_scale(T, k_lin(k, 16, k_lin(k, k->race ? 6 : 7, line, 1, w), 1, c), 4);
}
static inline void kernel_k(kernel *k)
{
    pr_term s = k_shared(k, "stride", PR_ROLE_PARAM, 0, k->race ? 1 : 256, 1 << 20);
    pr_term p = k_pid(k, 0, 1024), l = k_lane(k, 0, 256);
    k->address = pr_scale(k->T, pr_add(k->T, pr_mul(k->T, p, s), l), 4);
}
static inline void kernel_l(kernel *k)
{
    pr_terms *T = k->T;
    pr_term p = k_pid(k, 0, 132), l = k_lane(k, 0, 1024);
    pr_term j = k_private(k, "k0", PR_ROLE_ITER, 0, 1000);
    pr_term t = pr_add(T, p, k->symbolic ? pr_mul(T, j, k->shared[0]) : pr_scale(T, j, 132));
    pr_term i = k_lin(k, k->race ? 1000 : 1024, t, 1, l);
    k_mask(k, pr_lt(T, i, k_c(k, 100000000)));
    k->address = pr_scale(T, i, 4);
}

static const struct { const char *name; void (*build)(kernel *k); bool linear[2]; } suite[] = {
    /* linear: with numbers, with symbols: does isl decide it? */
    { "a vector add", kernel_a, { true, true } },
    { "b tile", kernel_b, { true, true } },
    { "c softmax", kernel_c, { true, true } },
    { "d swizzle", kernel_d, { true, true } },
    { "e attention", kernel_e, { true, true } },
    { "f neighbour", kernel_f, { true, true } },
    { "g split-k", kernel_g, { true, true } },
    { "h pointer loop", kernel_h, { true, true } },
    { "i nchw-nhwc", kernel_i, { true, true } },
    { "k stride", kernel_k, { false, false } },
    { "l grid stride", kernel_l, { true, false } },
};

/* The cross-program query of kernel number i. */
static inline pr_query suite_query(pr_terms *T, pr_arena *arena, int i, bool race, bool symbolic)
{
    kernel k = { .T = T, .arena = arena, .race = race, .symbolic = symbolic, .mask = PR_TERM_TRUE,
                 .width = 4 };
    suite[i].build(&k);
    pr_query q = { .terms = T, .pair = i };
    pr_var *vars = PR_NEW_N(arena, pr_var, 2 * k.n_proto + k.n_shared);
    pr_term *map[2], copy[2][16];
    for (int s = 0; s < k.n_shared; s++) vars[q.n_vars++] = k.shared_id[s];
    for (int c = 0; c < 2; c++) {
        map[c] = PR_NEW_N(arena, pr_term, 64);
        for (int v = 0; v < k.n_proto; v++) {
            pr_var_info info = *pr_var_get(T, k.id[v]);
            info.copy = c ? PR_COPY_B : PR_COPY_A;
            info.name = pr_arena_printf(arena, "%s_%c", info.name, c ? 'b' : 'a');
            pr_var made = pr_var_new(T, info);
            copy[c][v] = pr_var_term(T, made);
            map[c][k.id[v].id] = copy[c][v];
            vars[q.n_vars++] = made;
        }
    }
    pr_term *core = PR_NEW_N(arena, pr_term, 2), *distinct = PR_NEW_N(arena, pr_term, 6);
    for (int c = 0; c < 2; c++) {
        pr_subst s = { .T = T, .var_map = map[c], .n_var_map = 64 };
        core[c] = pr_subst_apply(&s, k.mask);
        q.addr[c] = pr_subst_apply(&s, c && k.other.id ? k.other : k.address);
        q.width[c] = k.width;
    }
    pr_term equal = PR_TERM_TRUE;
    for (int p = 0; p < k.pids; p++) {
        int v = 0;
        for (int n = -1; v < k.n_proto; v++) {
            if (pr_var_get(T, k.id[v])->role == PR_ROLE_PID && ++n == p) break;
        }
        pr_term a = copy[0][v], b = copy[1][v];
        distinct[q.n_distinct++] = pr_and(T, equal, pr_lt(T, a, b));
        if (k.both_orders) distinct[q.n_distinct++] = pr_and(T, equal, pr_lt(T, b, a));
        equal = pr_and(T, equal, pr_eq(T, a, b));
    }
    q.vars = vars;
    q.core = core;
    q.n_core = 2;
    q.distinct = distinct;
    return q;
}

/* Adds what hb/encode knows to a query of suite.h. */
static inline void suite_complete(pr_query *q, pr_arena *arena, bool same)
{
    const pr_terms *T = q->terms;
    pr_var (*twins)[2] = pr_arena_alloc(arena, sizeof *twins * (size_t)q->n_vars);
    q->is_pair = true;
    q->same_record = same;
    q->n_core_a = q->n_core_b = 1;
    for (int i = 0; i < q->n_vars; i++)
        for (int j = 0; j < q->n_vars; j++) {
            const pr_var_info *a = pr_var_get(T, q->vars[i]), *b = pr_var_get(T, q->vars[j]);
            if (a->copy != PR_COPY_A || b->copy != PR_COPY_B || a->role != b->role || a->index != b->index) continue;
            twins[q->n_twins][0] = q->vars[i];
            twins[q->n_twins++][1] = q->vars[j];
        }
    q->twins = (const pr_var (*)[2])twins;
}
#endif
