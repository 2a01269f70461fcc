/* Lookup tables: facts against loops over the entries, random pair queries over tables through every engine against
 * enumeration, and each side condition of the table rules dropped once.
 *
 *   test_tables [ROUNDS [SEED]] */
#include "check.h"
#include "random_query.h"
#include "pre/pre.h"
#include "term/table.h"
#include <stdlib.h>
#include <string.h>

const pr_engine *pr_engine_z3(void);

enum { MOST = 12, PRETEST = 0, CLOSURE, SWEEP, ENUM, ISL, Z3, ENGINES };
static const pr_limits limits = { .max_ops = 20000, .first_ops = 700, .max_leaves = 256, .z3_rlimit = 100000 };
static const pr_engine *engine[ENGINES];
static pr_engine_ctx *ctx[ENGINES];

/* Entries of several shapes: runs, sorted, permuted, anything. */
static void fill(rng *g, pr_i128 *v, int n)
{
    int kind = rnd(g) % 6, at = rnd_in(g, -3, 3), step = rnd_in(g, 0, 3);
    for (int i = 0; i < n; i++) {
        switch (kind) {
        case 0: v[i] = at + step * i; break;
        case 1: v[i] = i ? v[i - 1] + rnd_in(g, 0, 3) : at; break;
        case 2: v[i] = i; break;
        case 3: v[i] = rnd_in(g, -4, 12); break;
        case 4: v[i] = i < n / 2 ? i / 2 : at + 3 * i; break;
        default: v[i] = i ? v[i - 1] + rnd_in(g, 1, 4) : at; break;
        }
    }
    if (kind == 2)
        for (int i = n - 1; i > 0; i--) {
            int j = rnd_in(g, 0, i);
            pr_i128 t = v[i];
            v[i] = v[j];
            v[j] = t;
        }
    if (rnd(g) % 5 == 0) v[rnd_in(g, 0, n - 1)] = v[rnd_in(g, 0, n - 1)];
    if (rnd(g) % 5 == 0) v[rnd_in(g, 0, n - 1)] += rnd_in(g, -2, 2);
}

static pr_i128 clamped(const pr_i128 *v, int n, pr_i128 i) { return v[i < 0 ? 0 : i >= n ? n - 1 : (int)i]; }

static void facts(long rounds)
{
    rng g = { 99 };
    for (long r = 0; r < rounds && !check_failures; r++) {
        pr_arena *arena = pr_arena_new(0, NULL);
        pr_terms *T = pr_terms_new(arena);
        pr_i128 v[400];
        int n = rnd(&g) % 10 ? rnd_in(&g, 1, MOST) : rnd_in(&g, 130, 400);
        fill(&g, v, n);
        pr_tab tab = pr_tab_new(T, (pr_tab_info){ .name = "t", .values = v, .n = n });
        for (int k = 0; k < 6; k++) {
            pr_interval at = { rnd_in(&g, -3, n + 2), 0 };
            at.hi = at.lo + rnd_in(&g, 0, n + 2);
            pr_interval want = { clamped(v, n, at.lo), clamped(v, n, at.lo) };
            pr_i128 spread = PR_INF;
            bool rising = true;
            for (pr_i128 i = at.lo; i <= at.hi; i++) {
                pr_i128 x = clamped(v, n, i);
                if (x < want.lo) want.lo = x;
                if (x > want.hi) want.hi = x;
                if (i > at.lo && x < clamped(v, n, i - 1)) rising = false;
                for (pr_i128 j = at.lo; j < i && n <= MOST; j++) {
                    pr_i128 d = x - clamped(v, n, j);
                    if (d < 0) d = -d;
                    if (d < spread) spread = d;
                }
            }
            pr_interval got = pr_tab_range(T, tab, at);
            pr_tab_facts f = pr_tab_facts_of(T, tab, at);
            CHECK(got.lo == want.lo && got.hi == want.hi);
            CHECK(f.nondecreasing == rising);
            if (n <= MOST) CHECK(f.spread <= spread && (f.spread == spread || at.lo < 0 || at.hi >= n));
        }
        int count;
        const pr_tab_piece *p = pr_tab_pieces(T, tab, &count);
        int64_t next = 0;
        for (int i = 0; i < count; i++) {
            CHECK(p[i].first == next && p[i].last >= p[i].first);
            for (int64_t j = p[i].first; j <= p[i].last; j++) CHECK(p[i].a * j + p[i].b == v[j]);
            next = p[i].last + 1;
        }
        CHECK(count == 0 || next == n);
        pr_arena_free(arena);
    }
}

/* --- queries --------------------------------------------------------------------------------------- */

typedef struct subject {
    pr_terms *T;
    pr_query q;
    pr_var vars[8], twins[3][2];
    pr_term core[24], distinct[6];
    bool ok;
} subject;

typedef struct shape { int kind, c, d, a, b, loose, tile; bool in_range, masked; } shape;

static void both(pr_term *core, int *n, pr_term t) { if (!pr_term_is(t, PR_TERM_TRUE)) core[(*n)++] = t; }

/* Address and conjuncts of one copy: program p, iteration k, lane l. */
static pr_term build(pr_terms *T, const shape *s, const pr_tab *tab, const int *size, const pr_term *x, pr_term *core, int *n)
{
    pr_term p = x[0], k = x[1], l = x[2], one = pr_const(T, 1);
#define AT(t, i) pr_table(T, tab[t], i)
#define IN(t, i) do { if (s->in_range) { both(core, n, pr_le(T, PR_TERM_ZERO, i)); both(core, n, pr_lt(T, i, pr_const(T, size[t]))); } } while (0)
    switch (s->kind) {
    case 0: {                       /* pages */
        pr_term i = pr_add(T, pr_scale(T, p, s->a), pr_const(T, s->b));
        IN(0, i);
        return pr_add(T, pr_scale(T, AT(0, i), s->c), pr_scale(T, l, s->d));
    }
    case 1: {                       /* segments */
        pr_term next = pr_add(T, p, one);
        IN(0, p);
        IN(0, next);
        both(core, n, pr_lt(T, k, pr_add(T, pr_sub(T, AT(0, next), AT(0, p)), pr_const(T, s->loose))));
        return pr_add(T, pr_scale(T, pr_add(T, AT(0, p), k), s->c), pr_scale(T, l, s->d));
    }
    case 2: {                       /* chunks of segments */
        pr_term i = pr_scale(T, p, 2), j = pr_add(T, i, one);
        IN(1, j);
        pr_term seq = AT(1, i), row = pr_add(T, pr_scale(T, AT(1, j), s->tile), l), next = pr_add(T, seq, one);
        IN(0, seq);
        IN(0, next);
        both(core, n, pr_lt(T, row, pr_add(T, pr_sub(T, AT(0, next), AT(0, seq)), pr_const(T, s->loose))));
        both(core, n, pr_le(T, PR_TERM_ZERO, row));
        return pr_scale(T, pr_add(T, AT(0, seq), row), s->c);
    }
    case 3: {                       /* through another table */
        pr_term i = pr_add(T, pr_scale(T, p, s->tile), l);
        IN(1, i);
        pr_term j = AT(1, i);
        IN(0, j);
        return pr_add(T, pr_scale(T, AT(0, j), s->c), k);
    }
    case 4: {                       /* masked with `other` */
        pr_term on = pr_lt(T, p, pr_const(T, s->b));
        return pr_add(T, pr_scale(T, pr_select(T, on, AT(0, p), s->masked ? pr_const(T, s->loose) : p), s->c), pr_scale(T, l, s->d));
    }
    case 5: {                       /* an affine index and something else in the sum */
        pr_term i = pr_add(T, pr_scale(T, p, s->tile), l);
        IN(0, i);
        if (s->masked) both(core, n, pr_le(T, AT(1, p), pr_const(T, s->loose)));
        return pr_add(T, pr_scale(T, AT(0, i), s->c), pr_scale(T, s->masked ? k : pr_fmod_t(T, p, pr_const(T, 2)), s->d));
    }
    default: {                      /* bounds k from below and above by entries, address without them */
        both(core, n, pr_le(T, AT(0, p), k));
        both(core, n, pr_lt(T, k, AT(0, pr_add(T, p, one))));
        return pr_add(T, pr_scale(T, k, s->c), pr_scale(T, l, s->d));
    }
    }
}

static void make(subject *s, pr_arena *arena, rng *g)
{
    static const char *const name[2][3] = { { "A.p", "A.k", "A.l" }, { "B.p", "B.k", "B.l" } };
    static const pr_var_role role[3] = { PR_ROLE_PID, PR_ROLE_ITER, PR_ROLE_LANE };
    pr_terms *T = pr_terms_new(arena);
    *s = (subject){ .T = T };
    int extent[3] = { rnd_in(g, 2, 5), rnd(g) % 2 ? 1 : rnd_in(g, 2, 4), rnd(g) % 3 ? rnd_in(g, 1, 4) : 1 };
    shape f = { .kind = rnd(g) % 7, .c = rnd_in(g, 1, 5), .d = rnd_in(g, 0, 3), .a = rnd_in(g, 1, 2), .b = rnd_in(g, 0, 3),
                .loose = rnd(g) % 3 ? 0 : rnd_in(g, -1, 1), .tile = rnd_in(g, 1, 4), .in_range = rnd(g) % 4 != 0, .masked = rnd(g) % 2 };
    if (rnd(g) % 2) f.tile = extent[2];
    int size[2];
    pr_tab tab[2];
    for (int t = 0; t < 2; t++) {
        size[t] = rnd_in(g, 2, MOST);
        pr_i128 *v = PR_NEW_N(arena, pr_i128, size[t]);
        fill(g, v, size[t]);
        if (f.kind == 2 && t == 1)
            for (int i = 0; i < size[t]; i++) v[i] = i % 2 ? (i / 2) % 2 : i / 4;   /* (segment, chunk) pairs */
        if (f.kind == 2 && t == 1 && rnd(g) % 3 == 0) v[rnd_in(g, 0, size[t] - 1)] = rnd_in(g, 0, 1);
        tab[t] = pr_tab_new(T, (pr_tab_info){ .name = t ? "u" : "t", .values = v, .n = size[t] });
    }
    pr_term x[2][3], equal = PR_TERM_TRUE;
    pr_query *q = &s->q;
    bool intra = rnd(g) % 4 == 0;
    int moved = 0;
    *q = (pr_query){ .terms = T, .vars = s->vars, .core = s->core, .distinct = s->distinct, .pair = -1, .is_pair = true,
                     .intra = intra, .same_record = intra || rnd(g) % 3 };
    for (int c = 0; c < 2; c++)
        for (int d = 0; d < 3; d++) {
            bool shared = intra && d == 0;
            x[c][d] = PR_TERM_ZERO;
            if (extent[d] == 1) continue;
            if (shared && c) {
                x[1][0] = x[0][0];
                continue;
            }
            pr_var v = pr_var_new(T, (pr_var_info){ .role = role[d], .index = d, .copy = c ? PR_COPY_B : PR_COPY_A, .lo = 0,
                                                    .hi = extent[d] - 1, .name = name[c][d] });
            s->vars[q->n_vars++] = v;
            x[c][d] = pr_var_term(T, v);
            if (c) {
                s->twins[q->n_twins][0] = pr_term_var(T, x[0][d]);
                s->twins[q->n_twins++][1] = v;
            }
        }
    q->twins = (const pr_var (*)[2])s->twins;
    int n = 0;
    q->addr[0] = build(T, &f, tab, size, x[0], s->core, &n);
    q->n_core_a = n;
    if (!q->same_record) {         /* another record: other bounds, moved */
        f.loose += rnd_in(g, -2, 2);
        moved = rnd_in(g, -2, 2);
    }
    q->addr[1] = pr_add(T, build(T, &f, tab, size, x[1], s->core, &n), pr_const(T, moved));
    q->n_core_b = n - q->n_core_a;
    q->n_core = n;
    q->width[0] = q->width[1] = rnd(g) % 3 ? 1 : rnd_in(g, 1, 3);
    for (int c = 0; c < 2; c++) q->pid[c][0] = x[c][0];
    for (int c = 0; c < 2; c++) q->pid[c][1] = q->pid[c][2] = PR_TERM_ZERO;
    for (int d = 0; d < 3; d++) {          /* programs differ; in one program, lanes */
        if (intra ? d != 2 : d != 0) continue;
        pr_term less = pr_and(T, equal, pr_lt(T, x[0][d], x[1][d]));
        if (!pr_term_is(less, PR_TERM_FALSE)) s->distinct[q->n_distinct++] = less;
        pr_term more = pr_and(T, equal, pr_lt(T, x[1][d], x[0][d]));
        if (!q->same_record && !pr_term_is(more, PR_TERM_FALSE)) s->distinct[q->n_distinct++] = more;
    }
    s->ok = q->n_distinct > 0 && !pr_term_none(q->addr[0]) && !pr_term_none(q->addr[1]);
    for (int i = 0; i < n; i++) s->ok = s->ok && !pr_term_none(s->core[i]);
}

typedef struct tally { long queries, empty, race, wrong, claims[ENGINES][3]; } tally;

static void show(const pr_query *q, pr_arena *arena)
{
    pr_buf text;
    pr_buf_init(&text, arena);
    pr_query_print(&text, q);
    fputs(text.data, stderr);
}

/* The text of a query, read into another store and printed again, is the same. */
static void round_trip(const pr_query *q)
{
    pr_arena *arena = pr_arena_new(0, NULL);
    pr_buf one, two;
    const char *why = "";
    pr_buf_init(&one, arena);
    pr_buf_init(&two, arena);
    pr_query_print(&one, q);
    pr_query *r = pr_query_parse(pr_terms_new(arena), arena, (pr_str){ one.data, one.n }, &why);
    CHECK(r != NULL);
    if (!r) fprintf(stderr, "%s\n%s", why, one.data);
    if (r) {
        CHECK(brute_force(r) == brute_force(q));
        CHECK(pr_tabs_count(r->terms) <= pr_tabs_count(q->terms));
    }
    pr_arena_free(arena);
}

static void one(rng *g, tally *t, int n_engines, bool verbose)
{
    pr_arena *arena = pr_arena_new(0, NULL), *scratch = pr_arena_new(0, NULL);
    subject s;
    make(&s, arena, g);
    if (s.ok) {
        pr_answer want = brute_force(&s.q);
        t->queries++;
        t->empty += want == PR_ANSWER_EMPTY;
        t->race += want == PR_ANSWER_WITNESS;
        if (verbose && t->queries % 50 == 0) round_trip(&s.q);
        for (int i = 0; i < n_engines; i++) {
            if (i == Z3 && t->queries % 40) continue;
            pr_outcome o;
            engine[i]->decide(ctx[i], &s.q, &limits, scratch, &o);
            bool wrong = (o.answer != PR_ANSWER_UNKNOWN && o.answer != want) || (o.answer == PR_ANSWER_UNKNOWN && i == ENUM);
            t->claims[i][o.answer]++;
            t->wrong += wrong;
            if (wrong && verbose) {
                fprintf(stderr, "%s: %d (%s %s), enumeration: %d\n", engine[i]->name, o.answer, o.evidence ? o.evidence : "",
                        o.message ? o.message : "", want);
                show(&s.q, scratch);
            }
        }
    }
    pr_arena_free(scratch);
    pr_arena_free(arena);
}

/* --- unknown functions ------------------------------------------------------------------------------- */

static pr_answer closure_says(const char *text, pr_arena *arena)
{
    const char *why = "";
    pr_outcome o = { .answer = PR_ANSWER_WITNESS };
    pr_query *q = pr_query_parse(pr_terms_new(arena), arena, (pr_str){ text, strlen(text) }, &why);
    CHECK(q != NULL);
    for (int i = 0; q && i < ENGINES && engine[i]; i++) {
        pr_outcome any;
        engine[i]->decide(ctx[i], q, &limits, arena, &any);
        CHECK(any.answer != PR_ANSWER_WITNESS);    /* no point has a value */
        if (i == CLOSURE) o = any;
    }
    return o.answer;
}

#define COPIES "(query (copies inter same 0 0) (var A.p pid 0 a 0 9) (var B.p pid 0 b 0 9) (twin A.p B.p) "
#define LESS "(distinct (<= (+ 1 A.p (* -1 B.p)) 0)) "

static void unknown_functions(void)
{
    pr_arena *arena = pr_arena_new(0, NULL);
    /* nothing known; the same with distinct entries; a nondecreasing one does not help a plain scatter */
    CHECK(closure_says(COPIES LESS "(table 1 t unknown 0 0 0 99) (addr 4 (* 4 (table#1 A.p))) (addr 4 (* 4 (table#1 B.p))))", arena)
          == PR_ANSWER_UNKNOWN);
    CHECK(closure_says(COPIES LESS "(table 1 t unknown 1 0 0 99) (addr 4 (* 4 (table#1 A.p))) (addr 4 (* 4 (table#1 B.p))))", arena)
          == PR_ANSWER_EMPTY);
    CHECK(closure_says(COPIES LESS "(table 1 t unknown 0 1 0 99) (addr 4 (* 4 (table#1 A.p))) (addr 4 (* 4 (table#1 B.p))))", arena)
          == PR_ANSWER_UNKNOWN);
    /* one value for all programs */
    CHECK(closure_says(COPIES LESS "(table 1 t unknown 0 0 0 99) (addr 4 (+ (* 4 A.p) (* 4 (table#1 3)))) "
                       "(addr 4 (+ (* 4 B.p) (* 4 (table#1 3)))))", arena) == PR_ANSWER_EMPTY);
    pr_arena_free(arena);
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 20000;
    rng g = { argc > 2 ? (uint64_t)atoll(argv[2]) : 20261130u };
    pr_arena *keep = pr_arena_new(0, NULL);
    engine[PRETEST] = pr_engine_pretest();
    engine[CLOSURE] = pr_engine_closure();
    engine[SWEEP] = pr_engine_sweep();
    engine[ENUM] = pr_engine_enum();
    engine[ISL] = pr_engine_isl();
    int n = Z3;
#ifdef WITH_Z3
    engine[n++] = pr_engine_z3();
#endif
    for (int i = 0; i < n; i++) ctx[i] = engine[i]->open(keep);
    facts(rounds / 10);
    unknown_functions();
    tally t = { 0 };
    for (long i = 0; i < rounds && !t.wrong; i++) one(&g, &t, n, true);
    CHECK(t.wrong == 0);
    printf("%ld queries: %ld empty, %ld races\n", t.queries, t.empty, t.race);
    for (int i = 0; i < n; i++)
        printf("  %-8s empty %ld, witness %ld, unknown %ld\n", engine[i]->name, t.claims[i][0], t.claims[i][1], t.claims[i][2]);
    CHECK(t.claims[CLOSURE][PR_ANSWER_EMPTY] * 5 > t.empty);
    CHECK(t.claims[ISL][PR_ANSWER_UNKNOWN] * 10 < t.queries);
    static const pr_pre_rule rules[] = { PR_DROP_TABLE_RANGE, PR_DROP_MONOTONE, PR_DROP_BOTH_ORDERS };
    for (size_t r = 0; r < PR_LEN(rules); r++) {
        tally f = { 0 };
        rng h = { 4242 };
        pr_pre_dropped = rules[r];
        for (long i = 0; i < 50000 && !f.wrong; i++) one(&h, &f, SWEEP, false);
        pr_pre_dropped = PR_DROP_NONE;
        CHECK(f.wrong);
        printf("table rule %d dropped: %s after %ld queries\n", (int)r, f.wrong ? "noticed" : "not noticed", f.queries);
    }
    for (int i = 0; i < n; i++) engine[i]->close(ctx[i]);
    pr_arena_free(keep);
    return check_done();
}
