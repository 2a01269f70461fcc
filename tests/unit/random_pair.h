/* Random pair queries as hb/encode would make them, over tiny boxes, with brute force on the records
 * themselves as the oracle: instances are enumerated from the uncopied terms. */
#ifndef PR_TESTS_RANDOM_PAIR_H
#define PR_TESTS_RANDOM_PAIR_H
#include "random_term.h"
#include "term/query.h"

enum { RP_PIDS = 2, RP_LANES = 2, RP_DIMS = RP_PIDS + 1 + RP_LANES, RP_SHARED = 3, RP_MOST = 4 };

/* One record: dims are pid0 pid1 k lane0 lane1. */
typedef struct rp_record { pr_term addr, mask, epoch; int width, lanes[RP_LANES]; } rp_record;

typedef struct random_pair {
    pr_query q;
    bool intra, same, epochs, depends, atomic;
    bool strided, huge;                       /* sums of parameter * dimension; addresses near 2^100 */
    rp_record rec[2];
    int size[RP_PIDS], trip;                  /* extents; 1 = no variable                        */
    pr_var proto[2][RP_DIMS];                 /* by record; pids and k are common                */
    pr_term dim[2][RP_DIMS], param[RP_SHARED]; /* as terms                                        */
    pr_var shared[RP_SHARED]; int lo[RP_SHARED], hi[RP_SHARED];
    pr_var vars[16];
    pr_var twins[RP_DIMS][2];
    pr_term core[24], distinct[8], premises[4];
    bool ok;
} random_pair;

static inline pr_var rp_var(pr_terms *T, pr_arena *arena, pr_var_role role, int index, pr_copy copy, int lo, int hi)
{
    static const char *const prefix[] = { "", "", "A.", "B." };
    const char *name = pr_arena_printf(arena, "%sr%d_%d", prefix[copy], role, index);
    return pr_var_new(T, (pr_var_info){ .role = role, .index = index, .copy = copy, .lo = lo, .hi = hi, .name = name });
}

static inline pr_term rp_address(pr_terms *T, rng *g, const pr_term *v, int n, const pr_term *s)
{
    pr_term pieces[8];
    int count = 0;
    pr_term flat = PR_TERM_ZERO;
    pr_i128 stride = 1;
    for (int i = n - 1; i >= 0; i--) {            /* a mixed radix number of the dimensions, sometimes too small */
        if (rnd(g) % 12 == 0) continue;
        flat = pr_add(T, flat, pr_scale(T, v[i], stride));
        stride *= rnd_in(g, rnd(g) % 4 ? 3 : 1, 5);
    }
    if (rnd(g) % 4 == 0) flat = pr_sub(T, flat, pr_const(T, rnd_in(g, 0, 9)));
    switch (rnd(g) % 7) {
    case 6: {                                    /* a number beside its own remainder */
        pr_term d = pr_const(T, rnd_in(g, 2, 6));
        pr_term r = rnd(g) % 2 ? pr_fmod_t(T, flat, d) : pr_trem_t(T, flat, d);
        pr_term sum = pr_add(T, pr_scale(T, flat, rnd_in(g, 1, 3)), pr_scale(T, r, rnd_in(g, -5, 4)));
        return rnd(g) % 3 ? sum : pr_add(T, sum, pr_scale(T, v[rnd(g) % (uint32_t)n], rnd_in(g, 1, 30)));
    }
    case 0: return flat;
    case 1: return random_int(T, g, v, n, rnd_in(g, 2, 4), RT_ALL);
    case 2: {                                    /* stride * something + something */
        pr_term row = random_int(T, g, v, n, rnd_in(g, 0, 2), RT_DIV), col = random_int(T, g, v, n, rnd_in(g, 0, 1), RT_DIV);
        return pr_add(T, pr_mul(T, row, s[0]), rnd(g) % 3 ? col : pr_mul(T, col, s[1]));
    }
    case 3: {                                    /* digits of a number, put together again */
        pr_term d = rnd(g) % 3 ? pr_const(T, rnd_in(g, 2, 5)) : pr_min(T, pr_const(T, rnd_in(g, 2, 4)), pr_sub(T, s[1], v[0]));
        bool floor = rnd(g) % 2, mixed = rnd(g) % 4 == 0;
        pr_term x = flat;
        for (int i = 0; i < 3; i++) {
            pieces[count++] = floor ? pr_fmod_t(T, x, d) : pr_trem_t(T, x, d);
            x = floor != mixed ? pr_fdiv_t(T, x, d) : pr_tdiv_t(T, x, d);
            if (rnd(g) % 2) break;
        }
        pieces[count++] = x;
        pr_term sum = PR_TERM_ZERO;
        stride = 1;
        while (count) {
            int i = (int)(rnd(g) % (uint32_t)count);
            sum = pr_add(T, sum, pr_scale(T, pieces[i], stride));
            pieces[i] = pieces[--count];
            stride *= rnd_in(g, 2, 9);
        }
        return sum;
    }
    case 4:
        return pr_add(T, pr_add(T, v[0], pr_mul(T, v[n > 2 ? 2 : 1], s[1])), pr_scale(T, random_int(T, g, v, n, 1, RT_CHOICE), rnd_in(g, 1, 8)));
    default: return pr_add(T, pr_scale(T, flat, rnd_in(g, 1, 4)), random_int(T, g, v, n, rnd_in(g, 1, 2), RT_DIV | RT_CHOICE));
    }
}

/* stride * index + stride * index + index, as tensors with symbolic strides are addressed. */
static inline pr_term rp_strided(pr_terms *T, rng *g, const pr_term *v, int n, const pr_term *s)
{
    pr_term sum = PR_TERM_ZERO;
    int used = 0;
    for (int i = 0; i < 3 && used < 3; i++) {
        pr_term x = v[rnd(g) % (uint32_t)n], y = v[rnd(g) % (uint32_t)n];
        if (rnd(g) % 3 == 0) x = pr_add(T, pr_scale(T, x, rnd_in(g, 1, 4)), y);
        else if (rnd(g) % 6 == 0) x = rnd(g) % 2 ? pr_trem_t(T, x, s[2]) : pr_tdiv_t(T, x, s[2]);
        else if (rnd(g) % 8 == 0) x = pr_mul(T, x, s[2]);
        if (rnd(g) % 4 || i < 2) x = pr_mul(T, x, s[i]);
        if (rnd(g) % 5 == 0) x = pr_scale(T, x, rnd_in(g, -2, 3));
        sum = pr_add(T, sum, x);
        used++;
        if (used > 1 && rnd(g) % 3) break;
    }
    return rnd(g) % 4 ? sum : pr_add(T, sum, v[rnd(g) % (uint32_t)n]);
}

/* s0 > s1*(bound - 1) and its like, sometimes a little less than that. */
static inline void rp_premises(random_pair *r, pr_terms *T, rng *g, const pr_term *s)
{
    pr_term one = pr_const(T, 1);
    int n = 0;
    if (rnd(g) % 4) r->premises[n++] = pr_le(T, pr_const(T, rnd_in(g, 0, 1)), s[1]);
    if (rnd(g) % 4) {
        pr_term extent = rnd(g) % 3 ? s[2] : pr_const(T, rnd_in(g, 1, 4));
        pr_term top = pr_add(T, pr_mul(T, s[1], pr_sub(T, extent, one)), pr_const(T, rnd_in(g, -1, 3)));
        if (rnd(g) % 4 == 0) top = pr_add(T, top, s[2]);
        r->premises[n++] = pr_lt(T, top, s[0]);
    }
    if (rnd(g) % 3 == 0) r->premises[n++] = pr_le(T, one, s[rnd(g) % 3]);
    for (int i = 0; i < n; i++) r->ok = r->ok && !pr_term_none(r->premises[i]);
    r->q.premises = r->premises;
    r->q.n_premises = n;
}

static inline pr_term rp_mask(pr_terms *T, rng *g, const pr_term *v, int n, const pr_term *s)
{
    pr_term all[RP_DIMS + RP_SHARED];
    memcpy(all, v, sizeof *v * (size_t)n);
    all[n] = s[0];
    all[n + 1] = s[1];
    if (rnd(g) % 4 == 0) return pr_lt(T, pr_add(T, v[rnd(g) % (uint32_t)n], pr_scale(T, v[rnd(g) % (uint32_t)n], rnd_in(g, 0, 3))), s[2]);
    switch (rnd(g) % 5) {
    case 0: return random_bool(T, g, all, n + 2, rnd_in(g, 1, 3), RT_ALL);
    case 1: return pr_lt(T, v[rnd(g) % (uint32_t)n], s[rnd(g) % 2]);
    case 2: return pr_lt(T, random_int(T, g, v, n, 1, RT_DIV), pr_const(T, rnd_in(g, 0, 6)));
    case 3: return pr_and(T, pr_lt(T, v[0], s[1]), random_bool(T, g, all, n + 2, 1, RT_DIV));
    default: return PR_TERM_TRUE;
    }
}

static inline void rp_lex(pr_terms *T, random_pair *r, const pr_term *x, const pr_term *y, int n, bool both)
{
    pr_term equal = PR_TERM_TRUE;
    for (int i = 0; i < n; i++) {
        pr_term less = pr_and(T, equal, pr_lt(T, x[i], y[i])), more = pr_and(T, equal, pr_lt(T, y[i], x[i]));
        if (!pr_term_is(less, PR_TERM_FALSE)) r->distinct[r->q.n_distinct++] = less;
        if (both && !pr_term_is(more, PR_TERM_FALSE)) r->distinct[r->q.n_distinct++] = more;
        equal = pr_and(T, equal, pr_eq(T, x[i], y[i]));
    }
}

/* Parameters, extents and variables; records without addresses. */
static inline void random_pair_frame(random_pair *r, pr_terms *T, pr_arena *arena, rng *g, bool strided)
{
    *r = (random_pair){ .intra = rnd(g) % 3 == 0, .same = rnd(g) % 3 != 0, .strided = strided };
    for (int i = 0; i < RP_SHARED; i++) {
        r->lo[i] = rnd(g) % 3 ? rnd_in(g, 1, 5) : rnd_in(g, -1, 0);
        r->hi[i] = r->lo[i] + rnd_in(g, 0, 2);
        if (i == 2 && !r->strided) r->hi[i] = r->lo[i];
        if (r->strided && i == 0) r->hi[i] += rnd_in(g, 0, 6);
        r->shared[i] = rp_var(T, arena, PR_ROLE_PARAM, i, PR_COPY_SHARED, r->lo[i], r->hi[i]);
        r->param[i] = pr_var_term(T, r->shared[i]);
    }
    for (int i = 0; i < RP_PIDS; i++) r->size[i] = i ? (rnd(g) % 2 ? 1 : rnd_in(g, 2, 3)) : rnd_in(g, 1, RP_MOST);
    r->trip = rnd(g) % 2 ? 1 : rnd_in(g, 2, 3);
    r->epochs = r->intra && rnd(g) % 3 == 0;
    r->depends = r->intra && !r->same && rnd(g) % 3 == 0;
    r->atomic = rnd(g) % 12 == 0;
    for (int i = 0; i < (r->same ? 1 : 2); i++) {
        rp_record *a = &r->rec[i];
        for (int d = 0; d < RP_LANES; d++)
            a->lanes[d] = r->depends && i ? r->rec[0].lanes[d] : d ? (rnd(g) % 2 ? 1 : rnd_in(g, 2, 3)) : rnd_in(g, 1, RP_MOST);
        for (int d = 0; d < RP_DIMS; d++) {
            int n = d < RP_PIDS ? r->size[d] : d == RP_PIDS ? r->trip : a->lanes[d - RP_PIDS - 1];
            pr_var_role role = d < RP_PIDS ? PR_ROLE_PID : d == RP_PIDS ? PR_ROLE_ITER : PR_ROLE_LANE;
            r->proto[i][d] = rp_var(T, arena, role, role == PR_ROLE_LANE ? i * 8 + d : d, PR_COPY_NONE, 0, n - 1);
            r->dim[i][d] = n == 1 ? PR_TERM_ZERO : pr_var_term(T, r->proto[i][d]);
        }
        a->mask = PR_TERM_TRUE;
        a->epoch = PR_TERM_ZERO;
    }
}

/* The query of the records. ok is false when the pair needs no query (dead) or a term left exact arithmetic. */
static inline void random_pair_query(random_pair *r, pr_terms *T, pr_arena *arena)
{
    if (r->same) {
        r->rec[1] = r->rec[0];
        memcpy(r->proto[1], r->proto[0], sizeof r->proto[0]);
    }
    pr_query *q = &r->q;
    *q = (pr_query){ .terms = T, .vars = r->vars, .core = r->core, .distinct = r->distinct, .pair = -1, .is_pair = true,
                     .intra = r->intra, .same_record = r->same };
    pr_term copy[2][RP_DIMS], both[4];
    int n_both = 0;
    for (int c = 0; c < 2; c++) {
        pr_term map[64] = { { 0 } };
        for (int d = 0; d < RP_DIMS; d++) {
            const pr_var_info *v = pr_var_get(T, r->proto[c][d]);
            copy[c][d] = PR_TERM_ZERO;
            if (v->hi > 0) {
                pr_copy which = c && !(r->intra && d < RP_PIDS) ? PR_COPY_B : PR_COPY_A;
                pr_var made = rp_var(T, arena, v->role, v->index, which, 0, (int)v->hi);
                copy[c][d] = pr_var_term(T, made);
                if (!c || which == PR_COPY_B) r->vars[q->n_vars++] = made;
                if (c && which == PR_COPY_B && (d <= RP_PIDS || r->same)) {
                    r->twins[q->n_twins][0] = pr_term_var(T, copy[0][d]);
                    r->twins[q->n_twins++][1] = made;
                }
            }
            map[r->proto[c][d].id] = copy[c][d];
            if (d < RP_PIDS) q->pid[c][d] = copy[c][d];
        }
        q->pid[c][2] = PR_TERM_ZERO;
        pr_subst to = { .T = T, .var_map = map, .n_var_map = 64 };
        q->addr[c] = pr_subst_apply(&to, r->rec[c].addr);
        q->width[c] = r->rec[c].width;
        pr_term_vec parts = { 0 };
        pr_conjuncts(T, pr_subst_apply(&to, r->rec[c].mask), &parts, arena);
        for (int i = 0; i < parts.n; i++) r->core[q->n_core++] = parts.data[i];
        *(c ? &q->n_core_b : &q->n_core_a) = parts.n;
        if (r->epochs) both[c + 2] = pr_subst_apply(&to, r->rec[c].epoch);
    }
    for (int i = 0; i < RP_SHARED; i++) r->vars[q->n_vars++] = r->shared[i];
    q->twins = (const pr_var (*)[2])r->twins;
    r->ok = !pr_term_none(q->addr[0]) && !pr_term_none(q->addr[1]);
    if (r->epochs) both[n_both++] = pr_eq(T, both[2], both[3]);
    if (r->atomic) both[n_both++] = pr_ne(T, q->addr[0], q->addr[1]);
    if (r->depends) {
        pr_term differ = pr_ne(T, copy[0][RP_PIDS], copy[1][RP_PIDS]);
        for (int d = RP_PIDS + 1; d < RP_DIMS; d++) differ = pr_or(T, differ, pr_ne(T, copy[0][d], copy[1][d]));
        both[n_both++] = differ;
    }
    for (int i = 0; i < n_both; i++) r->core[q->n_core++] = both[i];
    if (!r->intra) rp_lex(T, r, copy[0], copy[1], RP_PIDS, !r->same);
    else if (r->same) rp_lex(T, r, copy[0] + RP_PIDS + 1, copy[1] + RP_PIDS + 1, RP_LANES, false);
    if (!q->n_distinct && (!r->intra || r->same)) r->ok = false;
    for (int i = 0; i < q->n_core; i++) r->ok = r->ok && !pr_term_none(r->core[i]);
}

static inline void random_pair_make(random_pair *r, pr_terms *T, pr_arena *arena, rng *g)
{
    static const int width[] = { 1, 1, 2, 4, 4, 8 };
    random_pair_frame(r, T, arena, g, rnd(g) % 4 == 0);
    int unit = width[rnd(g) % PR_LEN(width)];
    const pr_term *s = r->param;
    for (int i = 0; i < (r->same ? 1 : 2); i++) {
        rp_record *a = &r->rec[i];
        const pr_term *dim = r->dim[i];
        a->width = rnd(g) % 6 ? unit : width[rnd(g) % PR_LEN(width)];
        if (i && rnd(g) % 3) {                    /* the first record's address, moved or in the other's lanes */
            pr_term map[64] = { { 0 } };
            for (int d = 0; d < RP_DIMS; d++) map[r->proto[0][d].id] = dim[d];
            pr_subst to = { .T = T, .var_map = map, .n_var_map = 64 };
            a->addr = pr_add(T, pr_subst_apply(&to, r->rec[0].addr), pr_const(T, rnd(g) % 2 ? 0 : rnd_in(g, -20, 20)));
        } else {
            a->addr = r->strided ? rp_strided(T, g, dim, RP_DIMS, s) : rp_address(T, g, dim, RP_DIMS, s);
            if (rnd(g) % 3) a->addr = pr_scale(T, a->addr, unit);
            if (rnd(g) % 40 == 0) {
                a->addr = pr_scale(T, a->addr, (pr_i128)1 << rnd_in(g, 30, 100));
                r->huge = true;
            }
        }
        a->mask = rp_mask(T, g, dim, RP_DIMS, s);
        if (rnd(g) % 2) a->mask = pr_and(T, a->mask, rp_mask(T, g, dim, RP_DIMS, s));
        a->epoch = pr_add(T, pr_scale(T, dim[RP_PIDS], rnd_in(g, 0, 2)), pr_const(T, rnd_in(g, 0, 1)));
    }
    random_pair_query(r, T, arena);
    if (r->strided) rp_premises(r, T, g, s);
}

typedef struct rp_instance { pr_i128 addr, epoch; int at[RP_DIMS]; } rp_instance;

static inline int rp_instances(const random_pair *r, pr_terms *T, int c, pr_env *env, pr_i128 *value, rp_instance *out,
                               bool *unsure)
{
    int n = 0, at[RP_DIMS] = { 0 };
    const rp_record *a = &r->rec[c];
    for (;;) {
        for (int d = 0; d < RP_DIMS; d++) value[r->proto[c][d].id] = at[d];
        pr_i128 v, m;
        rp_instance x = { 0 };
        bool ok = pr_eval(T, a->mask, env, &m);
        if (!ok || m) {
            if (!ok || !pr_eval(T, a->addr, env, &v) || !pr_eval(T, a->epoch, env, &x.epoch)) {
                *unsure = true;
            } else {
                x.addr = v;
                memcpy(x.at, at, sizeof at);
                out[n++] = x;
            }
        }
        int d = 0;
        while (d < RP_DIMS && at[d] == (int)pr_var_get(T, r->proto[c][d])->hi) at[d++] = 0;
        if (d == RP_DIMS) return n;
        at[d]++;
    }
}

static inline bool rp_conflict(const random_pair *r, const rp_instance *x, const rp_instance *y)
{
    pr_i128 d = x->addr - y->addr;
    if (d >= r->rec[1].width || -d >= r->rec[0].width) return false;
    bool ids = false, iterations = x->at[RP_PIDS] != y->at[RP_PIDS], lanes = false;
    for (int i = 0; i < RP_PIDS; i++) ids |= x->at[i] != y->at[i];
    for (int i = RP_PIDS + 1; i < RP_DIMS; i++) lanes |= x->at[i] != y->at[i];
    if (ids == r->intra) return false;
    if (r->intra && r->same && !lanes) return false;
    if (r->epochs && x->epoch != y->epoch) return false;
    if (r->depends && !iterations && !lanes) return false;
    return !r->atomic || d != 0;
}

/* EMPTY, WITNESS, or UNKNOWN when some instance cannot be evaluated and no other pair conflicts. */
static inline pr_answer random_pair_oracle(const random_pair *r, pr_terms *T)
{
    enum { MOST = 4 * 3 * 3 * 4 * 3 };
    static rp_instance set[2][MOST];
    pr_i128 value[64] = { 0 };
    bool known[64], unsure = false;
    for (int i = 0; i < 64; i++) known[i] = true;
    pr_env env = { value, known, 64 };
    int at[RP_SHARED];
    memcpy(at, r->lo, sizeof at);
    for (;;) {
        bool meant = true;
        for (int i = 0; i < RP_SHARED; i++) value[r->shared[i].id] = at[i];
        for (int i = 0; i < r->q.n_premises; i++) {
            pr_i128 v;
            if (!pr_eval(T, r->q.premises[i], &env, &v)) unsure = true;
            else meant = meant && v;
        }
        int n[2] = { 0, 0 };
        for (int c = 0; c < 2 && meant; c++) n[c] = rp_instances(r, T, c, &env, value, set[c], &unsure);
        for (int i = 0; i < n[0]; i++)
            for (int j = 0; j < n[1]; j++)
                if (rp_conflict(r, &set[0][i], &set[1][j])) return PR_ANSWER_WITNESS;
        int k = 0;
        while (k < RP_SHARED && at[k] == r->hi[k]) at[k] = r->lo[k], k++;
        if (k == RP_SHARED) break;
        at[k]++;
    }
    return unsure ? PR_ANSWER_UNKNOWN : PR_ANSWER_EMPTY;
}
#endif
