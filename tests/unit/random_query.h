/* Random two-copy queries over tiny boxes, with brute force as the oracle. */
#ifndef PR_TESTS_RANDOM_QUERY_H
#define PR_TESTS_RANDOM_QUERY_H
#include "random_term.h"
#include "term/query.h"

enum { RQ_DIMS = 3, RQ_VARS = 2 * RQ_DIMS + 1 };

typedef struct random_query {
    pr_query q;
    pr_var vars[RQ_VARS];
    pr_term core[8], distinct[3];
} random_query;

static inline pr_term rq_var(pr_terms *T, const char *name, int index, pr_copy copy, int lo, int hi,
                             pr_var *out)
{
    *out = pr_var_new(T, (pr_var_info){ .role = PR_ROLE_OTHER, .index = index, .copy = copy,
                                        .lo = lo, .hi = hi, .name = name });
    return pr_var_term(T, *out);
}

/* A record with itself (or with another one) in two copies. */
static inline void random_query_make(random_query *r, pr_terms *T, rng *g, int what)
{
    static const char *const names[2][RQ_DIMS] = { { "pa", "la", "ka" }, { "pb", "lb", "kb" } };
    pr_term proto[RQ_DIMS + 1], copy[2][RQ_DIMS + 1], map[2][64] = { { { 0 } } };
    pr_var v;
    proto[RQ_DIMS] = copy[0][RQ_DIMS] = copy[1][RQ_DIMS]
        = rq_var(T, "n", RQ_DIMS, PR_COPY_SHARED, 0, rnd_in(g, 0, 2), &r->vars[RQ_VARS - 1]);
    for (int d = 0; d < RQ_DIMS; d++) {
        static const char *const plain[RQ_DIMS] = { "p", "l", "k" };
        int low = rnd(g) % 4 == 0 ? -rnd_in(g, 1, 2) : 0, high = low + rnd_in(g, 1, 2);
        proto[d] = rq_var(T, plain[d], d, PR_COPY_NONE, low, high, &v);
        for (int c = 0; c < 2; c++) {
            copy[c][d] = rq_var(T, names[c][d], d, c ? PR_COPY_B : PR_COPY_A, low, high,
                                &r->vars[c * RQ_DIMS + d]);
            map[c][v.id] = copy[c][d];
        }
    }
    pr_subst to[2];
    for (int c = 0; c < 2; c++) to[c] = (pr_subst){ .T = T, .var_map = map[c], .n_var_map = 64 };
    int n = 0, depth = rnd_in(g, 2, 4);
    pr_term addr = random_int(T, g, proto, RQ_DIMS + 1, depth, what);
    pr_term other = rnd(g) % 3 ? addr : random_int(T, g, proto, RQ_DIMS + 1, depth, what);
    if (rnd(g) % 2) {                          /* hierarchical addresses, some of them injective */
        pr_term h = pr_add(T, pr_scale(T, proto[0], rnd_in(g, 2, 16)),
                           pr_add(T, pr_scale(T, proto[1], rnd_in(g, 1, 5)), proto[2]));
        addr = rnd(g) % 2 ? pr_add(T, pr_scale(T, pr_fdiv_t(T, h, pr_const(T, rnd_in(g, 2, 5))), 7),
                                   pr_fmod_t(T, h, pr_const(T, rnd_in(g, 2, 5))))
                          : h;
        if (rnd(g) % 2) other = addr;
    }
    int width = rnd(g) % 2 ? 1 : 1 << rnd(g) % 4;
    if (rnd(g) % 2) {
        addr = pr_scale(T, addr, width);
        other = pr_scale(T, other, width);
    }
    bool big = rnd(g) % 16 == 0;
    if (big) {
        addr = pr_scale(T, addr, (pr_i128)1 << 40);
        other = pr_scale(T, other, (pr_i128)1 << 40);
    }
    pr_term mask[2] = { PR_TERM_TRUE, PR_TERM_TRUE };
    if (rnd(g) % 2) mask[0] = mask[1] = random_bool(T, g, proto, RQ_DIMS + 1, rnd_in(g, 1, 3), what);
    r->q = (pr_query){ .terms = T, .vars = r->vars, .n_vars = RQ_VARS, .pair = -1 };
    r->q.addr[0] = pr_subst_apply(&to[0], addr);
    r->q.addr[1] = pr_subst_apply(&to[1], other);
    r->q.width[0] = width;
    r->q.width[1] = rnd(g) % 4 ? width : rnd_in(g, 1, 4);
    for (int c = 0; c < 2; c++) r->core[n++] = pr_subst_apply(&to[c], mask[c]);
    if (rnd(g) % 8 == 0) {
        pr_term all[2 * RQ_DIMS + 1];
        for (int d = 0; d < RQ_DIMS; d++) all[2 * d] = copy[0][d], all[2 * d + 1] = copy[1][d];
        all[2 * RQ_DIMS] = proto[RQ_DIMS];
        r->core[n++] = random_bool(T, g, all, 2 * RQ_DIMS + 1, 2, what);
    }
    r->q.core = r->core;
    r->q.n_core = n;
    r->q.distinct = r->distinct;
    switch (rnd(g) % 3) {
    case 0: r->distinct[r->q.n_distinct++] = pr_lt(T, copy[0][0], copy[1][0]); break;
    case 1:
        r->distinct[r->q.n_distinct++] = pr_ne(T, copy[0][0], copy[1][0]);
        r->distinct[r->q.n_distinct++] = pr_and(T, pr_eq(T, copy[0][0], copy[1][0]),
                                                pr_lt(T, copy[0][1], copy[1][1]));
        break;
    default: break;
    }
}

static inline bool random_query_ok(const random_query *r)
{
    for (int i = 0; i < r->q.n_core; i++) {
        if (pr_term_none(r->core[i])) return false;
    }
    return !pr_term_none(r->q.addr[0]) && !pr_term_none(r->q.addr[1]);
}

/* EMPTY or WITNESS by enumeration; UNKNOWN when a point cannot be evaluated and none holds. */
static inline pr_answer brute_force(const pr_query *q)
{
    pr_i128 at[16];
    bool unsure = false;
    for (int i = 0; i < q->n_vars; i++) at[i] = pr_var_get(q->terms, q->vars[i])->lo;
    for (;;) {
        pr_tri holds = pr_query_holds(q, &(pr_point){ at, q->n_vars });
        if (holds == PR_YES) return PR_ANSWER_WITNESS;
        unsure |= holds == PR_MAYBE;
        int i = 0;
        while (i < q->n_vars && at[i] == pr_var_get(q->terms, q->vars[i])->hi) {
            at[i] = pr_var_get(q->terms, q->vars[i])->lo;
            i++;
        }
        if (i == q->n_vars) return unsure ? PR_ANSWER_UNKNOWN : PR_ANSWER_EMPTY;
        at[i]++;
    }
}
#endif
