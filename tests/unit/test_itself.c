/* src/hb/itself.c on random accesses, against all their instances: where it says that one access never meets itself, no two
 * instances do (T0: for any parameters that meet the condition; T1: for the launch's); where it says that two programs meet
 * at the launch, two do; a witness that it finds is one, mostly the one that the sweep finds. The address and the conditions are
 * computed here from the numbers that the terms were made of.
 * test_itself [ROUNDS [SEED]] */
#include "check.h"
#include "hb/ladder.h"
#include "random_term.h"
#include <stdlib.h>

enum { N, S, U, PARAMS, PID0 = 0, PID1, LANE0, LANE1, K, VARS, MOST = 3 * 3 * 4 * 4 * 6, MASKS = 2 };
typedef struct times { int64_t one, s, su; } times;    /* one + s*S + su*S*U                             */
typedef struct mask { int64_t m[VARS], bound; bool used; int by; } mask;   /* sum m*v + bound <= the parameter, PARAMS: 0 */
typedef struct access {
    int width, shape[2], programs[2], trip;    /* trip 0: n                                             */
    times c[VARS], quotient[VARS], remainder[VARS]; int64_t constant;       /* factors of v, v div d, v mod e */
    int d[VARS], e[VARS];
    mask mask[MASKS];
    bool grid;                                 /* U is the extent of axis 1, no parameter                */
} access;
typedef struct instance { int64_t at[VARS], address; } instance;

static int64_t some_factor(rng *r, int width)
{
    static const int64_t of[] = { 1, 2, 3, 4, 4, 6, 8, 12, 16, 48 };
    int64_t c = of[rnd(r) % 10] * (rnd(r) % 8 ? width : 1);
    return rnd(r) % 12 ? c : -c;
}

static times some_times(rng *r, int width)
{
    times t = { 0, 0, 0 };
    if (rnd(r) % 4) t.one = some_factor(r, width);
    if (rnd(r) % 3 == 0) t.s = some_factor(r, width);
    if (t.s && rnd(r) % 8) t.one = 0;
    if (rnd(r) % 6 == 0) t = (times){ rnd(r) % 8 ? 0 : t.one, rnd(r) % 8 ? 0 : t.s, some_factor(r, width) };
    return t;
}

static void draw(access *a, rng *r)
{
    *a = (access){ .width = 1 << rnd(r) % 3, .trip = (int)(rnd(r) % 4), .grid = rnd(r) % 8 == 0 };
    for (int d = 0; d < 2; d++) a->shape[d] = 1 + (int)(rnd(r) % 4), a->programs[d] = rnd(r) % 3 ? 1 + (int)(rnd(r) % 3) : 1;
    for (int v = 0; v < VARS; v++) {
        a->c[v] = some_times(r, a->width);
        a->d[v] = a->e[v] = 1 + (int)(rnd(r) % 4);
        if (rnd(r) % 8 == 0) a->e[v] = 1 + (int)(rnd(r) % 4);
        if (rnd(r) % 4) continue;
        a->quotient[v] = some_times(r, a->width);
        a->remainder[v] = rnd(r) % 4 ? some_times(r, a->width) : (times){ 0, 0, 0 };
        if (rnd(r) % 8) a->c[v] = (times){ 0, 0, 0 };
    }
    a->constant = rnd(r) % 3 ? 0 : rnd_in(r, 0, 64);
    for (int i = 0; i < MASKS; i++) {
        mask *m = &a->mask[i];
        m->used = rnd(r) % (i ? 4 : 2) == 0;
        m->by = rnd(r) % 2 ? (int)(rnd(r) % PARAMS) : PARAMS;
        m->bound = m->by == PARAMS ? -(int64_t)(rnd(r) % 9) : rnd_in(r, 0, 2);
        for (int v = 0; v < VARS; v++)
            if (rnd(r) % 2) m->m[v] = rnd(r) % 12 ? 1 + (int64_t)(rnd(r) % 4) : -1;
    }
}

static int64_t sum_of(times t, const int64_t *param) { return t.one + (t.s + t.su * param[U]) * param[S]; }

static int instances(const access *a, const int64_t *param, instance *out)
{
    int n = 0;
    int64_t trip = a->trip ? a->trip : param[N] < 6 ? param[N] : 6, v[VARS], extent = a->grid && param[U] < a->programs[1] ? param[U] : a->programs[1];
    int64_t c[VARS], q[VARS], t[VARS];
    for (int i = 0; i < VARS; i++) c[i] = sum_of(a->c[i], param), q[i] = sum_of(a->quotient[i], param), t[i] = sum_of(a->remainder[i], param);
    for (v[PID0] = 0; v[PID0] < a->programs[0]; v[PID0]++)
        for (v[PID1] = 0; v[PID1] < extent; v[PID1]++)
            for (v[LANE0] = 0; v[LANE0] < a->shape[0]; v[LANE0]++)
                for (v[LANE1] = 0; v[LANE1] < a->shape[1]; v[LANE1]++)
                    for (v[K] = 0; v[K] < trip; v[K]++) {
                        int64_t address = a->constant;
                        bool active = true;
                        for (int k = 0; k < MASKS && active; k++) {
                            const mask *m = &a->mask[k];
                            int64_t sum = m->bound - (m->by < PARAMS ? param[m->by] : 0);
                            for (int i = 0; i < VARS; i++) sum += m->m[i] * v[i];
                            active = !m->used || sum <= 0;
                        }
                        if (!active) continue;
                        for (int i = 0; i < VARS; i++) address += c[i] * v[i] + q[i] * (v[i] / a->d[i]) + t[i] * (v[i] % a->e[i]);
                        out[n].address = address;
                        memcpy(out[n++].at, v, sizeof v);
                    }
    return n;
}

static int by_address(const void *a, const void *b)
{
    int64_t x = ((const instance *)a)->address, y = ((const instance *)b)->address;
    return x < y ? -1 : x > y;
}

/* Do two instances that the pair is about overlap? storage: bytes of the tensor, 0 = not looked at. */
static bool overlaps(const access *a, const int64_t *param, bool intra, int64_t storage)
{
    static instance x[MOST];
    int n = instances(a, param, x);
    qsort(x, (size_t)n, sizeof *x, by_address);
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n && x[j].address < x[i].address + a->width; j++) {
            bool programs = x[i].at[PID0] != x[j].at[PID0] || x[i].at[PID1] != x[j].at[PID1];
            bool lanes = x[i].at[LANE0] != x[j].at[LANE0] || x[i].at[LANE1] != x[j].at[LANE1];
            bool inside = !storage || (x[i].address >= 0 && x[j].address < storage);
            if (inside && (intra ? !programs && lanes : programs)) return true;
        }
    return false;
}

typedef struct kernel { pr_arena *arena; pr_terms *T; pr_records R; pr_launch L; pr_options o; pr_config_verdict v; pr_error err; pr_var param[PARAMS]; } kernel;

static pr_var variable(kernel *k, pr_var_role role, int index, pr_i128 lo, pr_i128 hi, const char *name)
{
    return pr_var_new(k->T, (pr_var_info){ .role = role, .index = index, .lo = lo, .hi = hi, .name = name });
}

enum { STORAGE = 700 };

static pr_term times_term(pr_terms *T, pr_term v, times t, const pr_term *param)
{
    pr_term s = pr_mul(T, param[S], v);
    return pr_add(T, pr_scale(T, v, t.one), pr_add(T, pr_scale(T, s, t.s), pr_scale(T, pr_mul(T, param[U], s), t.su)));
}

static void make(kernel *k, const access *a, const int64_t *param)
{
    static const char *const p[] = { "pid0", "pid1", "pid2" }, *const g[] = { "grid0", "grid1", "grid2" };
    pr_terms *T = k->T = pr_terms_new(k->arena);
    k->R.terms = T;
    for (int i = 0; i < 3; i++) {
        k->R.pid[i] = variable(k, PR_ROLE_PID, i, 0, 2147483646, p[i]);
        k->R.grid[i] = variable(k, PR_ROLE_GRID, i, 1, 2147483647, g[i]);
        k->R.axis_read[i] = i < 2 && (a->programs[i] > 1 || (i == 1 && a->grid));
        k->L.grid[i] = i < 2 ? a->programs[i] : 1;
    }
    for (int d = 0; d < PR_RANK_MAX; d++) k->R.lane[d] = variable(k, PR_ROLE_LANE, d, 0, PR_INF, "lane");
    k->R.n_args = k->L.n_args = 1 + PARAMS;
    k->R.args = PR_NEW_N(k->arena, struct pr_formal, 1 + PARAMS);
    k->L.args = PR_NEW_N(k->arena, pr_arg, 1 + PARAMS);
    k->L.grid_known = true;
    k->L.num_warps = 4;
    pr_tensor *t = PR_NEW(k->arena, pr_tensor);
    t->elem_bytes = a->width;
    t->ptr = t->storage_lo = 4096;
    t->storage_hi = t->ptr + STORAGE;
    k->L.args[0] = (pr_arg){ .kind = PR_ARG_TENSOR, .tensor = t, .name = pr_str_of("y") };
    k->R.args[0] = (struct pr_formal){ .name = pr_str_of("y"), .is_pointer = true, .pointee_bytes = a->width };
    for (int i = 0; i < PARAMS; i++) {
        static const char *const names[PARAMS] = { "n", "s", "u" };
        const char *name = names[i];
        k->param[i] = variable(k, PR_ROLE_PARAM, 1 + i, -2147483648, 2147483647, name);
        k->R.args[1 + i] = (struct pr_formal){ .name = pr_str_of(name), .param = k->param[i] };
        k->L.args[1 + i] = (pr_arg){ .kind = PR_ARG_INT, .value = param[i], .name = pr_str_of(name) };
    }
    pr_frame *f = PR_NEW(k->arena, pr_frame);
    pr_term of[PARAMS], n = pr_var_term(T, k->param[N]);
    for (int i = 0; i < PARAMS; i++) of[i] = pr_var_term(T, i == U && a->grid ? k->R.grid[1] : k->param[i]);
    *f = (pr_frame){ .kind = PR_FRAME_LOOP, .depth = 1, .lower = PR_TERM_ZERO, .upper = a->trip ? pr_const(T, a->trip) : n, .step = pr_const(T, 1),
                     .bounds_held = PR_TERM_TRUE, .increment_held = PR_TERM_TRUE };
    f->k = variable(k, PR_ROLE_ITER, 0, 0, PR_INF, "k");
    pr_var var[VARS] = { k->R.pid[0], k->R.pid[1], k->R.lane[0], k->R.lane[1], f->k };
    pr_record r = { .kind = PR_RECORD_STORE, .width = a->width, .mask = PR_TERM_TRUE, .mask_held = PR_TERM_TRUE, .offset_held = PR_TERM_TRUE,
                    .value = PR_TERM_NONE, .cmp = PR_TERM_NONE, .rank = 2, .shape = { a->shape[0], a->shape[1] }, .frame = f, .seq = 10 };
    pr_term address = pr_const(T, a->constant);
    for (int i = 0; i < VARS; i++) {
        pr_term v = pr_var_term(T, var[i]);
        address = pr_add(T, address, times_term(T, v, a->c[i], of));
        address = pr_add(T, address, times_term(T, pr_fdiv_t(T, v, pr_const(T, a->d[i])), a->quotient[i], of));
        address = pr_add(T, address, times_term(T, pr_fmod_t(T, v, pr_const(T, a->e[i])), a->remainder[i], of));
    }
    r.offset = address;
    for (int i = 0; i < MASKS; i++) {
        pr_term sum = pr_const(T, a->mask[i].bound);
        for (int v = 0; v < VARS; v++) sum = pr_add(T, sum, pr_scale(T, pr_var_term(T, var[v]), a->mask[i].m[v]));
        if (a->mask[i].used) r.mask = pr_and(T, r.mask, pr_le(T, sum, a->mask[i].by < PARAMS ? of[a->mask[i].by] : PR_TERM_ZERO));
    }
    for (int d = 0; d < 2; d++) r.mask = pr_and(T, r.mask, pr_lt(T, pr_var_term(T, k->R.pid[d]), pr_const(T, a->programs[d])));
    pr_vec_push(k->arena, &k->R.records, r);
    pr_options_default(&k->o);
}

static bool uses_u(const access *a)
{
    bool any = false;
    for (int i = 0; i < VARS; i++) any = any || a->c[i].su || a->quotient[i].su || a->remainder[i].su;
    for (int i = 0; i < MASKS; i++) any = any || (a->mask[i].used && a->mask[i].by == U);
    return any;
}

static bool meets(const kernel *k, pr_term condition, const int64_t *param)
{
    uint32_t n = pr_vars_count(k->T);
    pr_i128 *value = PR_NEW_N(k->arena, pr_i128, n), v = 0;
    bool *known = PR_NEW_N(k->arena, bool, n);
    for (int i = 0; i < PARAMS; i++) value[k->param[i].id] = param[i], known[k->param[i].id] = true;
    pr_env env = { value, known, n };
    CHECK(pr_eval(k->T, condition, &env, &v));
    return v;
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 20000, claims[2][2] = { { 0 } }, conditions = 0, met = 0, witnesses = 0, same = 0;
    rng r = { argc > 2 ? (uint64_t)atoll(argv[2]) : 1 };
    pr_arena *arena = pr_arena_new(0, NULL);
    for (long round = 0; round < rounds && !check_failures; round++) {
        kernel k = { .arena = arena };
        access a;
        pr_run run;
        pr_arena_pos mark = pr_arena_mark(arena);
        int64_t launch[PARAMS] = { rnd_in(&r, 0, 6), rnd_in(&r, -1, 20), rnd_in(&r, -1, 6) };
        draw(&a, &r);
        if (a.grid) launch[U] = a.programs[1];
        make(&k, &a, launch);
        if (pr_run_start(&run, arena, &k.R, &k.L, &k.o, NULL, &k.v, &k.err) != PR_OK) return 1;
        for (int rung = 0; rung < 2; rung++) {
            pr_encoding *e = pr_encoding_new(arena, &k.R, &k.L, &k.o, rung ? PR_RUNG_T1 : PR_RUNG_T0, rung ? run.component_t1 : run.component_t0);
            e->decider = &run.d;
            for (int intra = 0; intra < 2; intra++) {
                pr_term condition;
                const char *why = pr_itself_why(e, 0, intra, &condition);
                if (!why) continue;
                claims[rung][intra]++;
                conditions += !pr_term_is(condition, PR_TERM_TRUE);
                for (int n = 0; n < (rung ? 1 : 7); n++)
                    for (int s = -1; s < (rung ? 0 : 21); s += 1 + s / 4)
                        for (int u = a.grid ? 1 : -1; u < (a.grid || (uses_u(&a) && !rung) ? 5 : 0); u++) {
                            const int64_t some[PARAMS] = { n, s, u }, at_grid[PARAMS] = { launch[N], launch[S], u };
                            const int64_t *param = !rung ? some : a.grid ? at_grid : launch;
                            if (!meets(&k, condition, param) || !overlaps(&a, param, intra, rung ? STORAGE : 0)) continue;
                            CHECK(!"two instances meet");
                            fprintf(stderr, "round %ld, T%d, %s: %s, n %d, s %d, u %d\n", round, rung, intra ? "one program" : "two programs", why, (int)param[N],
                                    (int)param[S], (int)param[U]);
                        }
            }
            for (int intra = 0; intra < 2 && rung; intra++) {
                const int64_t at_grid[PARAMS] = { launch[N], launch[S], a.grid ? 4 : launch[U] };
                pr_query q;
                pr_point at;
                bool dead, used;
                pr_refusal_kind kind;
                const char *why;
                pr_outcome o;
                if (!pr_encode_pair(e, 0, 0, intra, &q, &dead, &used, false, &kind, &why) || dead) continue;
                if (!pr_itself_witness(e, 0, pr_condition_env(&run), &q, &at)) continue;
                CHECK(pr_query_holds(&q, &at) == PR_YES && overlaps(&a, at_grid, intra, STORAGE));
                pr_decide(&run.d, &q, false, &o, NULL);
                CHECK(o.answer == PR_ANSWER_WITNESS);
                witnesses++;
                same += o.answer == PR_ANSWER_WITNESS && memcmp(o.point.value, at.value, sizeof *at.value * (size_t)at.n) == 0;
            }
            if (rung) continue;
            bool seen = pr_itself_meets(e, 0, pr_condition_env(&run));
            met += seen;
            CHECK(!seen || overlaps(&a, launch, false, 0));
        }
        pr_run_stop(&run);
        pr_arena_release(arena, mark);
    }
    printf("%ld accesses; proved: T0 %ld of two programs, %ld of one (%ld under a condition), T1 %ld and %ld; seen to meet: %ld; witnesses: %ld, %ld of them the sweep's\n", rounds, claims[0][0], claims[0][1],
           conditions, claims[1][0], claims[1][1], met, witnesses, same);
    for (int i = 0; i < 4; i++) CHECK(claims[i / 2][i % 2] * 100 > rounds);
    CHECK(conditions * 200 > rounds && met * 20 > rounds);
    CHECK(witnesses * 20 > rounds && same * 100 > witnesses * 95);
    pr_arena_free(arena);
    return check_done();
}
