/* Queries over unknown tables as queries over variables (term/unfold.c): the unfolded query has a solution exactly when
 * the query has one for some contents, found by trying all contents of a small table.
 *
 *   test_unfold [ROUNDS [SEED]] */
#include "check.h"
#include "random_query.h"
#include "term/table.h"
#include <stdlib.h>

enum { INDICES = 3, VALUES = 3, VARS = 3, CONTENTS = 27 };

typedef struct shape { int premise, depth, width; uint64_t seed; bool nested, two; } shape;

/* Terms of both copies over two tables; the same for every contents. */
static void make(pr_terms *T, const shape *s, const pr_tab *tab, pr_var *vars, pr_term *core, pr_query *q)
{
    rng g = { s->seed };
    pr_term x[VARS + 4];
    for (int i = 0; i < VARS; i++) {
        static const char *const name[VARS] = { "a", "b", "c" };
        vars[i] = pr_var_new(T, (pr_var_info){ .role = PR_ROLE_OTHER, .index = i, .copy = PR_COPY_SHARED, .lo = 0, .hi = 2, .name = name[i] });
        x[i] = pr_var_term(T, vars[i]);
    }
    pr_term three = pr_const(T, INDICES);
    for (int i = 0; i < 4; i++) {
        pr_term at = i < 2 && !s->nested ? x[i] : random_int(T, &g, x, VARS + i, s->depth, 0);
        x[VARS + i] = pr_table(T, tab[s->two ? i % 2 : 0], pr_fmod_t(T, at, three));
    }
    for (int i = 0; i < 2; i++) core[i] = random_bool(T, &g, x, VARS + 4, s->depth, 0);
    *q = (pr_query){ .terms = T, .vars = vars, .n_vars = VARS, .core = core, .n_core = 2, .pair = -1, .width = { s->width, s->width } };
    for (int c = 0; c < 2; c++)
        q->addr[c] = pr_add(T, pr_scale(T, x[VARS + c], rnd_in(&g, 1, 4)), pr_scale(T, random_int(T, &g, x, VARS + 4, 1, 0), rnd_in(&g, 0, 2)));
}

static bool usable(const pr_query *q)
{
    bool ok = !pr_term_none(q->addr[0]) && !pr_term_none(q->addr[1]);
    for (int i = 0; i < q->n_core; i++) ok = ok && !pr_term_none(q->core[i]);
    return ok;
}

static bool premise_holds(const pr_i128 *v, int premise)
{
    for (int i = 0; i < INDICES; i++)
        for (int j = 0; j < i; j++) {
            if (premise == 1 && v[i] == v[j]) return false;
            if (premise == 2 && v[i] < v[j]) return false;
        }
    return true;
}

/* 1: some contents admit a solution, 0: none does, -1: an evaluation has no value. */
static int by_contents(const shape *s)
{
    int answer = 0;
    for (int n = 0; n < (s->two ? CONTENTS * CONTENTS : CONTENTS) && answer != 1; n++) {
        pr_arena *arena = pr_arena_new(0, NULL);
        pr_terms *T = pr_terms_new(arena);
        pr_i128 v[2][INDICES];
        pr_tab tab[2];
        for (int t = 0, k = n; t < 2; t++) {
            for (int i = 0; i < INDICES; i++, k /= VALUES) v[t][i] = k % VALUES;
            tab[t] = pr_tab_new(T, (pr_tab_info){ .name = t ? "u" : "t", .values = v[t], .n = INDICES });
        }
        if (premise_holds(v[0], s->premise) && (!s->two || premise_holds(v[1], s->premise))) {
            pr_query q;
            pr_var vars[VARS];
            pr_term core[2];
            make(T, s, tab, vars, core, &q);
            pr_answer a = usable(&q) ? brute_force(&q) : PR_ANSWER_UNKNOWN;
            answer = a == PR_ANSWER_WITNESS ? 1 : a == PR_ANSWER_UNKNOWN ? -1 : answer;
        }
        pr_arena_free(arena);
        if (answer < 0) break;
    }
    return answer;
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 20000, solved = 0, empty = 0;
    rng g = { argc > 2 ? (uint64_t)atoll(argv[2]) : 20261130u };
    for (long r = 0; r < rounds && !check_failures; r++) {
        shape s = { .premise = rnd_in(&g, 0, 2), .depth = rnd_in(&g, 1, 2), .width = 1 << rnd_in(&g, 0, 2), .nested = rnd(&g) % 3 == 0,
                    .two = rnd(&g) % 8 == 0, .seed = rnd(&g) * 977 + 1 };
        pr_arena *arena = pr_arena_new(0, NULL);
        pr_terms *T = pr_terms_new(arena);
        pr_tab tab[2];
        for (int t = 0; t < 2; t++)
            tab[t] = pr_tab_new(T, (pr_tab_info){ .name = t ? "u" : "t", .lo = 0, .hi = VALUES - 1, .injective = s.premise == 1,
                                                  .nondecreasing = s.premise == 2 });
        pr_query q, flat;
        pr_var vars[VARS];
        pr_term core[2];
        make(T, &s, tab, vars, core, &q);
        int want = usable(&q) ? by_contents(&s) : -1;
        if (want >= 0 && pr_query_unfold(&q, arena, &flat)) {
            pr_answer got = brute_force(&flat);
            CHECK(got == (want ? PR_ANSWER_WITNESS : PR_ANSWER_EMPTY));
            if (check_failures) {
                pr_buf b;
                pr_buf_init(&b, arena);
                pr_query_print(&b, &q);
                pr_query_print(&b, &flat);
                fprintf(stderr, "round %ld: %d, for some contents %d\n%s", r, (int)got, want, b.data);
            }
            solved += want;
            empty += !want;
        }
        pr_arena_free(arena);
    }
    printf("unfolded: %ld with a solution for some contents, %ld with none\n", solved, empty);
    if (rounds >= 2000) CHECK(solved > rounds / 20 && empty > rounds / 20);
    return check_done();
}
