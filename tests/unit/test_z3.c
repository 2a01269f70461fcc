/* src/smt: random queries against brute force, nonlinear and bit queries, the SMT-LIB dump (through the
 * z3 program where it is installed), interruption. */
#include "check.h"
#include "random_query.h"
#include "term/engine.h"
#include <stdlib.h>
#include <string.h>

static const pr_limits limits = { .max_ops = 20000, .first_ops = 700, .z3_rlimit = 500000,
                                  .max_leaves = 256 };

/* What the z3 program says about the dump: EMPTY, WITNESS, or UNKNOWN (also without the program). */
static pr_answer z3_program(const char *text)
{
    char path[] = "/tmp/polyrace-test-XXXXXX", command[128], answer[64] = "";
    int fd = mkstemp(path);
    if (fd < 0) return PR_ANSWER_UNKNOWN;
    FILE *f = fdopen(fd, "w");
    fputs(text, f);
    fclose(f);
    snprintf(command, sizeof command, "z3 -T:5 %s 2>/dev/null", path);
    FILE *p = popen(command, "r");
    if (p) {
        if (!fgets(answer, sizeof answer, p)) answer[0] = 0;
        pclose(p);
    }
    remove(path);
    CHECK(strncmp(answer, "(error", 6) != 0);
    if (strncmp(answer, "unsat", 5) == 0) return PR_ANSWER_EMPTY;
    return strncmp(answer, "sat", 3) == 0 ? PR_ANSWER_WITNESS : PR_ANSWER_UNKNOWN;
}

static void random_against_enumeration(const pr_engine *e, int rounds, uint64_t seed)
{
    rng g = { seed };
    int count[3] = { 0 }, unknown = 0, dumps = 0;
    pr_arena *keep = pr_arena_new(0, NULL);
    pr_engine_ctx *ctx = e->open(keep);
    for (int i = 0; i < rounds; i++) {
        pr_arena *arena = pr_arena_new(0, NULL), *scratch = pr_arena_new(0, NULL);
        pr_terms *T = pr_terms_new(arena);
        random_query r;
        random_query_make(&r, T, &g, i % 2 ? RT_ALL : RT_DIV | RT_CHOICE);
        if (random_query_ok(&r)) {
            pr_answer want = brute_force(&r.q);
            count[want]++;
            pr_outcome o;
            e->decide(ctx, &r.q, &limits, scratch, &o);
            CHECK(o.answer == PR_ANSWER_UNKNOWN || o.answer == want || want == PR_ANSWER_UNKNOWN);
            CHECK(o.answer != PR_ANSWER_UNKNOWN || (o.why != PR_REFUSAL_NONE && o.message));
            CHECK(o.answer != PR_ANSWER_UNKNOWN || o.why != PR_REFUSAL_INTERNAL);
            if (o.answer == PR_ANSWER_WITNESS) CHECK(pr_query_holds(&r.q, &o.point) == PR_YES);
            unknown += o.answer == PR_ANSWER_UNKNOWN;
            if (i % 16 == 0) {
                pr_buf text;
                const char *why = NULL;
                pr_buf_init(&text, scratch);
                if (e->dump(&r.q, &limits, &text, &why)) {
                    pr_answer said = z3_program(text.data);
                    dumps += said != PR_ANSWER_UNKNOWN;
                    CHECK(said == PR_ANSWER_UNKNOWN || said == want || want == PR_ANSWER_UNKNOWN);
                } else {
                    CHECK(why != NULL);
                }
            }
            /* Print, read into a new store, decide again. */
            if (i % 8 == 0) {
                pr_buf text;
                const char *why = NULL;
                pr_buf_init(&text, scratch);
                pr_query_print(&text, &r.q);
                pr_terms *U = pr_terms_new(arena);
                pr_query *again = pr_query_parse(U, arena, (pr_str){ text.data, text.n }, &why);
                CHECK(again != NULL);
                if (again) CHECK(brute_force(again) == want);
                else fprintf(stderr, "%s\n%s", why, text.data);
            }
            if (check_failures) {
                pr_buf text;
                pr_buf_init(&text, scratch);
                pr_query_print(&text, &r.q);
                fprintf(stderr, "round %d: want %d got %d %s\n%s", i, want, o.answer,
                        o.message ? o.message : "", text.data);
                exit(1);
            }
        }
        pr_arena_free(scratch);
        pr_arena_free(arena);
    }
    e->close(ctx);
    pr_arena_free(keep);
    printf("%d queries: %d empty, %d with witness, %d unknown, %d dumps checked\n", rounds,
           count[PR_ANSWER_EMPTY], count[PR_ANSWER_WITNESS], unknown, dumps);
}

static pr_term var(pr_terms *T, const char *name, int i, pr_i128 lo, pr_i128 hi, pr_var *v)
{
    *v = pr_var_new(T, (pr_var_info){ .role = PR_ROLE_OTHER, .index = i, .lo = lo, .hi = hi,
                                      .name = name });
    return pr_var_term(T, *v);
}

/* pid*stride + lane with stride >= 256 and lane < 256: symbolic stride. */
static void nonlinear_stride(const pr_engine *e)
{
    pr_arena *arena = pr_arena_new(0, NULL), *scratch = pr_arena_new(0, NULL);
    for (int safe = 0; safe < 2; safe++) {
        pr_terms *T = pr_terms_new(arena);
        pr_var v[5];
        pr_term s = var(T, "stride", 0, safe ? 256 : 1, 1 << 20, &v[0]);
        pr_term pa = var(T, "pid_a", 1, 0, 65535, &v[1]), pb = var(T, "pid_b", 2, 0, 65535, &v[2]);
        pr_term la = var(T, "lane_a", 3, 0, 255, &v[3]), lb = var(T, "lane_b", 4, 0, 255, &v[4]);
        pr_term distinct = pr_lt(T, pa, pb);
        pr_query q = { .terms = T, .vars = v, .n_vars = 5, .distinct = &distinct, .n_distinct = 1,
                       .pair = 3, .width = { 4, 4 } };
        q.addr[0] = pr_scale(T, pr_add(T, pr_mul(T, pa, s), la), 4);
        q.addr[1] = pr_scale(T, pr_add(T, pr_mul(T, pb, s), lb), 4);
        pr_engine_ctx *ctx = e->open(arena);
        pr_outcome o;
        e->decide(ctx, &q, &limits, scratch, &o);
        CHECK(o.answer == (safe ? PR_ANSWER_EMPTY : PR_ANSWER_WITNESS));
        CHECK(o.cost > 0);
        pr_flag stop = 1;
        pr_limits l = limits;
        l.interrupt = &stop;
        e->decide(ctx, &q, &l, scratch, &o);
        CHECK(o.answer == PR_ANSWER_UNKNOWN && o.why == PR_REFUSAL_TIMEOUT);
        stop = 0;
        l.t_wall_ms = 5000;
        e->decide(ctx, &q, &l, scratch, &o);
        CHECK(o.answer == (safe ? PR_ANSWER_EMPTY : PR_ANSWER_WITNESS));
        l = limits;
        l.z3_rlimit = 1;
        e->decide(ctx, &q, &l, scratch, &o);
        CHECK(o.answer == PR_ANSWER_UNKNOWN ? o.why == PR_REFUSAL_BUDGET
                                            : o.answer == (safe ? PR_ANSWER_EMPTY : PR_ANSWER_WITNESS));
        e->close(ctx);
    }
    pr_arena_free(scratch);
    pr_arena_free(arena);
}

int main(int argc, char **argv)
{
    const pr_engine *e = pr_engine_z3();
    if (!e) {
        puts("built without Z3");
        return 0;
    }
    CHECK(e->version()[0] == '4');
    nonlinear_stride(e);
    random_against_enumeration(e, argc > 1 ? atoi(argv[1]) : 400,
                               argc > 2 ? (uint64_t)atoll(argv[2]) : 88172645463325252u);
    return check_done();
}
