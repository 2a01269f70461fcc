/* src/pre: random pair queries against brute force, the kernel suite, one test a side condition, agreement
 * with isl on printed queries.
 *
 *   test_pre [ROUNDS [SEED]]     everything but the last
 *   test_pre --agree             queries on standard input, in the text of dump --stage=query */
#include "check.h"
#include "random_pair.h"
#include "random_query.h"
#include "suite.h"
#include "pre/pre.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const pr_limits limits = { .max_ops = 20000, .first_ops = 700, .max_leaves = 256 };

enum { PRETEST, CLOSURE, SWEEP, ENUM, TIERS };
static const pr_engine *tier(int i)
{
    const pr_engine *const t[TIERS] = { pr_engine_pretest(), pr_engine_closure(), pr_engine_sweep(), pr_engine_enum() };
    return t[i];
}
static pr_engine_ctx *ctx[TIERS];

static void show(const pr_query *q, pr_arena *arena)
{
    pr_buf text;
    pr_buf_init(&text, arena);
    pr_query_print(&text, q);
    fputs(text.data, stderr);
}

/* Each tier against what enumeration says; returns false after a wrong answer. */
typedef struct tally { long queries, empty, race, unsure, claims[TIERS][3], together, singles, named, strided, wrong; } tally;

static void take_for_granted(pr_query *q, pr_terms *T, pr_term condition, pr_arena *scratch)
{
    pr_term_vec all = { 0 };
    for (int i = 0; i < q->n_premises; i++) pr_vec_push(scratch, &all, q->premises[i]);
    pr_conjuncts(T, condition, &all, scratch);
    q->premises = all.data;
    q->n_premises = all.n;
    q->suggest = false;
}

/* A condition that the closure names: with it among the premises the query is empty, asked again or not. */
static bool named_condition_is_wrong(random_pair *r, pr_terms *T, pr_term needs, pr_arena *scratch, tally *t)
{
    pr_query q = r->q;
    pr_outcome o;
    take_for_granted(&r->q, T, needs, scratch);
    tier(CLOSURE)->decide(ctx[CLOSURE], &r->q, &limits, scratch, &o);
    bool wrong = random_pair_oracle(r, T) == PR_ANSWER_WITNESS;
    t->named += o.answer == PR_ANSWER_EMPTY;
    if (!wrong) r->q = q;
    return wrong;
}

static void one_random(rng *g, tally *t, bool verbose)
{
    static pr_arena *arena, *scratch;
    if (!arena) {
        arena = pr_arena_new(0, NULL), scratch = pr_arena_new(0, NULL);
        for (int i = 0; i < 80; i++) {          /* one large chunk each, kept by the marks */
            pr_arena_alloc(arena, 8192);
            pr_arena_alloc(scratch, 8192);
        }
    }
    pr_arena_pos a = pr_arena_mark(arena), s = pr_arena_mark(scratch);
    pr_terms *T = pr_terms_new(arena);
    random_pair r;
    random_pair_make(&r, T, arena, g);
    if (r.ok) {
        pr_answer want = random_pair_oracle(&r, T);
        bool proved = false;
        t->queries++;
        t->empty += want == PR_ANSWER_EMPTY;
        t->race += want == PR_ANSWER_WITNESS;
        t->unsure += want == PR_ANSWER_UNKNOWN;
        r.q.suggest = true;
        for (int i = 0; i < TIERS; i++) {
            pr_outcome o;
            tier(i)->decide(ctx[i], &r.q, &limits, scratch, &o);
            bool wrong = (o.answer == PR_ANSWER_EMPTY && want == PR_ANSWER_WITNESS)
                      || (o.answer == PR_ANSWER_WITNESS && pr_query_holds(&r.q, &o.point) != PR_YES)
                      || (o.answer == PR_ANSWER_WITNESS && want == PR_ANSWER_EMPTY)
                      || (o.answer == PR_ANSWER_EMPTY && i == SWEEP) || (o.answer == PR_ANSWER_WITNESS && i < SWEEP)
                      || (o.answer == PR_ANSWER_UNKNOWN && (!o.message || !o.why))
                      || (o.answer == PR_ANSWER_UNKNOWN && i == ENUM && want != PR_ANSWER_UNKNOWN && !r.huge);
            t->claims[i][o.answer]++;
            proved |= i < SWEEP && o.answer == PR_ANSWER_EMPTY;
            t->strided += r.strided && i == CLOSURE && o.answer == PR_ANSWER_EMPTY;
            if (!wrong && !pr_term_none(o.needs))
                wrong = o.answer != PR_ANSWER_UNKNOWN || i != CLOSURE || !o.under || named_condition_is_wrong(&r, T, o.needs, scratch, t);
            t->wrong += wrong;
            if (wrong && verbose) {
                fprintf(stderr, "%s: %d (%s), enumeration: %d\n", tier(i)->name, o.answer, o.evidence ? o.evidence : "", want);
                show(&r.q, scratch);
            }
        }
        t->together += proved;
        if (rnd(g) % 64 == 0) {                 /* copy A alone, with one more condition */
            pr_term core[24], all[RP_DIMS + RP_SHARED];
            int n = 0;
            for (int i = 0; i < r.q.n_vars; i++)
                if (pr_var_get(T, r.q.vars[i])->copy != PR_COPY_B && n < RP_DIMS) all[n++] = pr_var_term(T, r.q.vars[i]);
            memcpy(core, r.core, sizeof core[0] * (size_t)r.q.n_core_a);
            pr_query one = { .terms = T, .core = core, .n_core = r.q.n_core_a, .pair = -1 };
            pr_var vars[16];
            core[one.n_core] = n ? random_bool(T, g, all, n, 2, RT_ALL) : PR_TERM_TRUE;
            if (!pr_term_none(core[one.n_core])) one.n_core++;
            for (int i = 0; i < r.q.n_vars; i++)
                if (pr_var_get(T, r.q.vars[i])->copy != PR_COPY_B) vars[one.n_vars++] = r.q.vars[i];
            one.vars = vars;
            pr_answer is = brute_force(&one);
            for (int i = 0; i < TIERS; i++) {
                pr_outcome o;
                tier(i)->decide(ctx[i], &one, &limits, scratch, &o);
                bool wrong = o.answer != PR_ANSWER_UNKNOWN && is != PR_ANSWER_UNKNOWN && o.answer != is;
                t->wrong += wrong;
                t->singles += o.answer != PR_ANSWER_UNKNOWN && i == CLOSURE;
                if (wrong && verbose) show(&one, scratch);
            }
        }
    }
    pr_arena_release(scratch, s);
    pr_arena_release(arena, a);
}

static void random_against_enumeration(long rounds, uint64_t seed)
{
    rng g = { seed };
    tally t = { 0 };
    for (long i = 0; i < rounds && !t.wrong; i++) one_random(&g, &t, true);
    CHECK(t.wrong == 0);
    printf("%ld queries: %ld empty, %ld races, %ld not enumerable; proved: pretest %ld, closure %ld, together %ld; "
           "refuted by sweep %ld; decided by enum %ld; of one copy: %ld proved; "
           "strides: %ld proved, %ld under a condition\n", t.queries, t.empty, t.race, t.unsure,
           t.claims[PRETEST][PR_ANSWER_EMPTY], t.claims[CLOSURE][PR_ANSWER_EMPTY], t.together,
           t.claims[SWEEP][PR_ANSWER_WITNESS], t.claims[ENUM][PR_ANSWER_EMPTY] + t.claims[ENUM][PR_ANSWER_WITNESS], t.singles,
           t.strided, t.named);
}


/* --- the kernel suite ------------------------------------------------------------------------------ */

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* Racing twins that isl finds: corners and deltas of plain dimensions do not. */
static bool suite_sweep_misses(const char *name, bool symbolic)
{
    return strcmp(name, "e attention") == 0 || (symbolic && strcmp(name, "d swizzle") == 0);
}

/* Which tier answers, and how long each takes. Safe twins are proved without isl; racing ones never. */
static void kernel_suite(bool print)
{
    pr_arena *scratch = pr_arena_new(0, NULL);
    for (int i = 0; i < (int)PR_LEN(suite); i++)
        for (int variant = 0; variant < 4; variant++) {
            pr_arena *arena = pr_arena_new(0, NULL);
            bool symbolic = variant >= 2, race = variant & 1;
            pr_query q = suite_query(pr_terms_new(arena), arena, i, race, symbolic);
            suite_complete(&q, arena, strcmp(suite[i].name, "f neighbour") != 0);
            pr_answer got[TIERS];
            if (print) printf("%-16s %-8s %-4s", suite[i].name, symbolic ? "symbolic" : "concrete", race ? "race" : "safe");
            for (int t = 0; t < TIERS; t++) {
                pr_outcome o;
                const int rounds = t == ENUM ? 1 : print ? 200 : 2;
                double best = 1e9;
                for (int k = 0; k < rounds; k++) {
                    double from = now_us();
                    tier(t)->decide(ctx[t], &q, &limits, scratch, &o);
                    double took = now_us() - from;
                    if (took < best) best = took;
                }
                got[t] = o.answer;
                if (print) printf("  %s %s %.2f us", tier(t)->name, o.answer == PR_ANSWER_EMPTY ? "EMPTY" :
                                  o.answer == PR_ANSWER_WITNESS ? "WITNESS" : "-", best);
                CHECK(o.answer != (race ? PR_ANSWER_EMPTY : PR_ANSWER_WITNESS));
                if (o.answer == PR_ANSWER_WITNESS) CHECK(pr_query_holds(&q, &o.point) == PR_YES);
            }
            if (print) printf("\n");
            if (!race) CHECK(got[PRETEST] == PR_ANSWER_EMPTY || got[CLOSURE] == PR_ANSWER_EMPTY);
            else CHECK(got[SWEEP] == PR_ANSWER_WITNESS || suite_sweep_misses(suite[i].name, symbolic));
            if (check_failures) fprintf(stderr, "%s variant %d\n", suite[i].name, variant);
            pr_arena_free(arena);
        }
    pr_arena_free(scratch);
}

/* --- one test a side condition (decision-engine.md 11) -------------------------------------------- */

#define PIDS "(var A.p pid 0 a 0 3) (var B.p pid 0 b 0 3) "
#define AXIS "(var A.q pid 1 a 0 1) (var B.q pid 1 b 0 1) "
#define LANE "(var A.l lane 0 a 0 7) (var B.l lane 0 b 0 7) "
#define TWIN_P "(twin A.p B.p) "
#define TWIN_Q "(twin A.q B.q) "
#define TWIN_L "(twin A.l B.l) "
#define LESS_P "(distinct (<= (+ 1 A.p (* -1 B.p)) 0)) "
#define LESS_Q "(distinct (and (= (+ A.p (* -1 B.p)) 0) (<= (+ 1 A.q (* -1 B.q)) 0))) "
#define LESS_L "(distinct (<= (+ 1 A.l (* -1 B.l)) 0)) "
#define INTER "(query (copies inter same 0 0) "
#define INTRA "(query (copies intra same 0 0) (var P pid 0 a 0 3) "

static const struct rule_case { const char *name; pr_pre_rule drop; int tier; const char *text; } rule_cases[] = {
    { "1.3 residue: 22 and 15 of 8 bytes", PR_DROP_RESIDUE, PRETEST,
      INTER PIDS TWIN_P LESS_P "(addr 8 22) (addr 8 15))" },
    { "1.3 p117: f32 at byte stride 2", PR_DROP_RESIDUE, CLOSURE,
      INTRA LANE TWIN_L LESS_L "(addr 4 (+ (* 128 P) (* 2 A.l))) (addr 4 (+ (* 128 P) (* 2 B.l))))" },
    { "3.0 p104: an axis nobody reads, delta search", PR_DROP_AXES, PRETEST,
      INTER PIDS AXIS LANE TWIN_P TWIN_Q TWIN_L LESS_P LESS_Q
      "(addr 4 (+ (* 32 A.p) (* 4 A.l))) (addr 4 (+ (* 32 B.p) (* 4 B.l))))" },
    { "3.0 p104: an axis nobody reads, closure", PR_DROP_AXES, CLOSURE,
      INTER PIDS AXIS LANE TWIN_P TWIN_Q TWIN_L LESS_P LESS_Q
      "(addr 4 (+ (* 32 A.p) (* 4 A.l))) (addr 4 (+ (* 32 B.p) (* 4 B.l))))" },
    { "3.0, 3.3: an absent dimension is not recovered", PR_DROP_ABSENT, PRETEST,
      INTER PIDS AXIS LANE TWIN_P TWIN_Q TWIN_L LESS_P LESS_Q
      "(addr 4 (+ (* 32 A.p) (* 4 A.l))) (addr 4 (+ (* 32 B.p) (* 4 B.l))))" },
    { "3.0 p109: two records of one program", PR_DROP_ALTERNATIVE, CLOSURE,
      "(query (copies intra two 0 0) (var A.l lane 0 a 0 7) (var B.l lane 8 b 0 7) (addr 4 (* 4 A.l)) (addr 4 (* 4 B.l)))" },
    { "3.0 p110: no lane in the address", PR_DROP_ABSENT, CLOSURE,
      INTRA LANE TWIN_L LESS_L "(addr 4 (* 64 P)) (addr 4 (* 64 P)))" },
    { "3.2 both widths, no coefficients", PR_DROP_BOTH_WIDTHS, PRETEST,
      INTER PIDS TWIN_P LESS_P "(addr 1 0) (addr 4 -1))" },
    { "3.2 window: hull of both records", PR_DROP_HULL, CLOSURE,
      "(query (copies inter two 0 0) " PIDS "(var A.l lane 0 a -6 -1) (var B.l lane 8 b 8 16) " TWIN_P
      "(distinct (<= (+ 1 A.p (* -1 B.p)) 0)) (distinct (<= (+ 1 B.p (* -1 A.p)) 0)) "
      "(addr 1 (+ (* 22 A.p) A.l)) (addr 1 (+ (* 22 B.p) B.l)))" },
    { "ranges: union of both records", PR_DROP_HULL, CLOSURE,
      "(query (copies inter two 1 1) " PIDS "(var A.l lane 0 a 0 7) (var B.l lane 8 b 0 7) " TWIN_P
      "(core (= A.l 0)) (core (= (+ -2 B.l) 0)) "
      "(distinct (<= (+ 1 A.p (* -1 B.p)) 0)) (distinct (<= (+ 1 B.p (* -1 A.p)) 0)) "
      "(addr 1 (+ (* 4 A.p) (* -2 A.l))) (addr 1 (+ (* 4 B.p) (* -2 B.l))))" },
    { "ranges: bounds of one copy for both", PR_DROP_MIRROR, CLOSURE,
      "(query (copies inter two 1 1) " PIDS "(var A.l lane 0 a 0 7) (var B.l lane 8 b 0 7) " TWIN_P
      "(core (= A.l 0)) (core (= (+ -2 B.l) 0)) "
      "(distinct (<= (+ 1 A.p (* -1 B.p)) 0)) (distinct (<= (+ 1 B.p (* -1 A.p)) 0)) "
      "(addr 1 (+ (* 4 A.p) (* -2 A.l))) (addr 1 (+ (* 4 B.p) (* -2 B.l))))" },
    { "3.3 mixed radix: the window, last coefficient", PR_DROP_W, PRETEST,
      "(query (copies intra same 0 0) (var A.l lane 0 a 0 3) (var A.m lane 1 a 0 1) (var A.n lane 2 a 0 1) "
      "(var B.l lane 0 b 0 3) (var B.m lane 1 b 0 1) (var B.n lane 2 b 0 1) " TWIN_L "(twin A.m B.m) (twin A.n B.n) "
      "(distinct (<= (+ 1 A.l (* -1 B.l)) 0)) (distinct (and (= (+ A.l (* -1 B.l)) 0) (<= (+ 1 A.m (* -1 B.m)) 0))) "
      "(distinct (and (and (= (+ A.l (* -1 B.l)) 0) (= (+ A.m (* -1 B.m)) 0)) (<= (+ 1 A.n (* -1 B.n)) 0))) "
      "(addr 4 (+ (* 13 A.l) (* 4 A.m) A.n)) (addr 4 (+ (* 13 B.l) (* 4 B.m) B.n)))" },
    { "S: slack stays on R", PR_DROP_SLACK, CLOSURE,
      INTER PIDS LANE TWIN_P TWIN_L LESS_P "(addr 2 (+ A.p (* 8 A.l))) (addr 2 (+ B.p (* 8 B.l))))" },
    { "P p118: the slack counts", PR_DROP_P_SLACK, CLOSURE,
      "(query (copies inter same 1 1) " PIDS LANE TWIN_P TWIN_L LESS_P "(var s param 0 shared 1 9) "
      "(core (<= (+ 1 A.l (* -1 s)) 0)) (core (<= (+ 1 B.l (* -1 s)) 0)) "
      "(addr 4 (+ (* A.p s) A.l)) (addr 4 (+ (* B.p s) B.l)))" },
    { "P: s >= 1 is proved", PR_DROP_P_SIGN, CLOSURE,
      INTER PIDS TWIN_P LESS_P "(var s param 0 shared 0 3) (addr 1 (* A.p s)) (addr 1 (* B.p s)))" },
    { "P: the factor is one value", PR_DROP_P_FACTOR, CLOSURE,
      INTER PIDS TWIN_P LESS_P "(var A.l lane 0 a 1 3) (var B.l lane 0 b 1 3) " TWIN_L
      "(addr 1 (* A.p A.l)) (addr 1 (* B.p B.l)))" },
    { "D p105: two kinds of division", PR_DROP_D_KIND, CLOSURE,
      INTRA "(var A.l lane 0 a -3 4) (var B.l lane 0 b -3 4) " TWIN_L LESS_L
      "(addr 4 (+ (* 64 P) (* 16 (tdiv A.l 4)) (* 4 (fmod A.l 4)))) "
      "(addr 4 (+ (* 64 P) (* 16 (tdiv B.l 4)) (* 4 (fmod B.l 4)))))" },
    { "ranges p112: sign of the dividend", PR_DROP_SIGN, CLOSURE,
      INTER PIDS LANE TWIN_P TWIN_L LESS_P "(addr 4 (+ 32 (* 16 A.p) (* 4 (trem (+ -4 A.l) 4)))) "
      "(addr 4 (+ 32 (* 16 B.p) (* 4 (trem (+ -4 B.l) 4)))))" },
    { "C: operands that are apart by one", PR_DROP_C_EQUAL, CLOSURE,
      "(query (copies inter two 1 1) " PIDS LANE TWIN_P TWIN_L
      "(core (<= (+ (* -1 A.l) (tdiv A.p 2)) 0)) (core (<= (+ (* -1 B.l) (tdiv B.p 2)) 0)) "
      "(core (not (= (+ (tdiv A.p 2) (* -1 (tdiv B.p 2))) 0))) "
      "(distinct (<= (+ 1 A.p (* -1 B.p)) 0)) (distinct (<= (+ 1 B.p (* -1 A.p)) 0)) "
      "(addr 4 (* 4 A.p)) (addr 4 (+ 4 (* 4 B.p))))" },
    { "L: two pairs are left", PR_DROP_L_LAST, CLOSURE,
      INTER PIDS LANE TWIN_P TWIN_L LESS_P "(addr 4 (+ (* 4 A.p) (* 4 A.l))) (addr 4 (+ (* 4 B.p) (* 4 B.l))))" },
    { "S: the gcd of 6 and 4", PR_DROP_GCD, CLOSURE,
      INTER PIDS TWIN_P "(var A.m lane 1 a 0 1) (var B.m lane 1 b 0 1) (var A.n lane 2 a 0 3) (var B.n lane 2 b 0 3) "
      "(twin A.m B.m) (twin A.n B.n) " LESS_P
      "(addr 1 (+ (* 6 A.p) (* 4 A.m) A.n)) (addr 1 (+ (* 6 B.p) (* 4 B.m) B.n)))" },
    { "D: quotient by 4, remainder by 2", PR_DROP_D_SAME, CLOSURE,
      INTRA LANE TWIN_L LESS_L "(addr 4 (+ (* 64 P) (* 16 (tdiv A.l 4)) (* 4 (trem A.l 2)))) "
      "(addr 4 (+ (* 64 P) (* 16 (tdiv B.l 4)) (* 4 (trem B.l 2)))))" },
    { "RX, ranges: column < row length in one arm only", PR_DROP_ARM, CLOSURE,
      "(query (copies inter same 1 1) " PIDS LANE TWIN_P TWIN_L LESS_P "(var s param 0 shared 4 9) "
      "(core (or (<= (+ 1 A.l (* -1 s)) 0) (<= A.p 0))) (core (or (<= (+ 1 B.l (* -1 s)) 0) (<= B.p 0))) "
      "(addr 1 (+ (* A.p s) A.l)) (addr 1 (+ (* B.p s) B.l)))" },
    { "NO: a condition that is named is not taken for granted", PR_DROP_ASSUMED, CLOSURE,
      INTER PIDS LANE TWIN_P TWIN_L LESS_P "(var s param 0 shared 0 12) "
      "(addr 4 (+ (* 4 (* A.p s)) (* 4 A.l))) (addr 4 (+ (* 4 (* B.p s)) (* 4 B.l))))" },
    { "NO: a row times a stride that may be negative", PR_DROP_LIFT_SIGN, CLOSURE,
      INTER PIDS TWIN_P "(var A.l lane 0 a 0 3) (var B.l lane 0 b 0 3) " TWIN_L LESS_P
      "(var s param 0 shared -1 0) (var t param 1 shared 1 4) (premise (<= (+ 4 (* 3 s) (* -1 t)) 0)) "
      "(addr 1 (+ (* A.p t) (* A.l s))) (addr 1 (+ (* B.p t) (* B.l s))))" },
    { "NO: a row whose other part may be negative", PR_DROP_LIFT_PART, CLOSURE,
      "(query (copies inter same 1 1) " PIDS LANE TWIN_P TWIN_L "(var A.m lane 1 a -3 0) (var B.m lane 1 b -3 0) (twin A.m B.m) "
      LESS_P "(var s param 0 shared 1 2) (var t param 1 shared 1 5) (var n param 2 shared 1 3) "
      "(core (<= (+ 1 A.l A.m (* -1 n)) 0)) (core (<= (+ 1 B.l B.m (* -1 n)) 0)) "
      "(premise (<= (+ 1 (* s n) (* -1 s) (* -1 t)) 0)) "
      "(addr 1 (+ (* A.p t) (* A.l s))) (addr 1 (+ (* B.p t) (* B.l s))))" },
    { "NO: an extent that may be 0", PR_DROP_SHED, CLOSURE,
      INTRA LANE TWIN_L LESS_L "(var s param 0 shared 1 2) (var t param 1 shared -2 3) (var n param 2 shared -1 3) "
      "(premise (<= (+ 1 (* s n) (* -1 s) (* -1 t)) 0)) (addr 1 (* A.l t)) (addr 1 (* B.l t)))" },
    { "NO: an inner stride that may be negative", PR_DROP_SHED_SIGN, CLOSURE,
      INTRA LANE TWIN_L LESS_L "(var s param 0 shared -2 2) (var t param 1 shared -2 3) (var n param 2 shared 1 3) "
      "(premise (<= (+ 1 (* s n) (* -1 s) (* -1 t)) 0)) (addr 1 (* A.l t)) (addr 1 (* B.l t)))" },
    { "DM, NO: remainder by a divisor that may be 0", PR_DROP_DIVISOR, CLOSURE,
      INTER PIDS LANE TWIN_P TWIN_L LESS_P "(var s param 0 shared 1 3) (var d param 1 shared -1 3) "
      "(premise (<= (+ d (* -1 s)) 0)) "
      "(addr 1 (+ (* A.p s) (trem A.l d))) (addr 1 (+ (* B.p s) (trem B.l d))))" },
    { "E: one copy's lane is at most the other's", PR_DROP_E_EQUAL, CLOSURE,
      INTER PIDS LANE TWIN_P TWIN_L LESS_P "(core (<= (+ B.l (* -1 A.l)) 0)) "
      "(addr 4 (+ (* 4 A.p) (* 4 A.l))) (addr 4 (+ (* 4 B.p) (* 4 B.l))))" },
    { "E: one number is left in one copy, not in the other", PR_DROP_POINT, CLOSURE,
      "(query (copies inter two 1 0) " PIDS LANE TWIN_P TWIN_L LESS_P "(core (<= A.l 0)) "
      "(addr 4 (+ (* 4 A.p) (* -4 A.l))) (addr 4 (+ (* 4 B.p) (* -4 B.l))))" },
    { "A: two digits whose sums are one apart", PR_DROP_SUM, CLOSURE,
      "(query (copies intra same 0 0) (var P pid 0 shared 0 3) (var A.l lane 0 a 0 2) (var B.l lane 0 b 0 2) " TWIN_L LESS_L
      "(addr 2 (+ (fdiv (+ (* 5 P) A.l) 4) (fmod (+ (* 5 P) A.l) 4))) (addr 2 (+ (fdiv (+ (* 5 P) B.l) 4) (fmod (+ (* 5 P) B.l) 4))))" },
    { "T: a table with an entry twice", PR_DROP_T_APART, CLOSURE,
      INTER PIDS LANE TWIN_P TWIN_L LESS_P "(table 1 t 4 0 8 0 24) "
      "(addr 1 (+ (table#1 A.p) A.l)) (addr 1 (+ (table#1 B.p) B.l)))" },
    { "X: a sum that holds the dividend's parts in another ratio", PR_DROP_X_RATIO, CLOSURE,
      INTER PIDS LANE TWIN_P TWIN_L LESS_P "(addr 4 (+ 400 (* 32 A.p) (* 8 A.l) (* -4 (fmod (+ A.l (* 8 A.p)) 16)))) "
      "(addr 4 (+ 400 (* 32 B.p) (* 8 B.l) (* -4 (fmod (+ B.l (* 8 B.p)) 16)))))" },
    { "D: divisors that differ", PR_DROP_D_DIVISOR, CLOSURE,
      INTER PIDS "(var A.m lane 1 a 1 2) (var B.m lane 1 b 1 2) " TWIN_P "(twin A.m B.m) " LESS_P
      "(addr 4 (+ (* 64 (fdiv A.p A.m)) (* 4 (fmod A.p A.m)))) (addr 4 (+ (* 64 (fdiv B.p B.m)) (* 4 (fmod B.p B.m)))))" },
    { "RX: a remainder that may be negative", PR_DROP_LOWER, CLOSURE,
      "(query (copies inter same 1 1) " PIDS "(var A.l lane 0 a -3 3) (var B.l lane 0 b -3 3) " TWIN_P TWIN_L LESS_P
      "(var s param 0 shared 1 4) (core (<= (+ 1 A.l (* -1 s)) 0)) (core (<= (+ 1 B.l (* -1 s)) 0)) "
      "(addr 1 (+ (* A.p s) A.l)) (addr 1 (+ (* B.p s) B.l)))" },
    { "GS: ids below the extent of another axis", PR_DROP_EXTENT, CLOSURE,
      "(query (copies inter same 1 1) " PIDS TWIN_P LESS_P "(var A.k iter 0 a 0 3) (var B.k iter 0 b 0 3) (twin A.k B.k) "
      "(var G grid 0 shared 1 4) (var H grid 1 shared 1 4) (core (<= (+ 1 A.p (* -1 H)) 0)) (core (<= (+ 1 B.p (* -1 H)) 0)) "
      "(addr 4 (+ (* 4 A.p) (* 4 (* A.k G)))) (addr 4 (+ (* 4 B.p) (* 4 (* B.k G)))))" },
    { "GS: loops from pid and pid + 1", PR_DROP_START, CLOSURE,
      "(query (copies inter two 1 1) " PIDS TWIN_P "(var A.k iter 0 a 0 3) (var B.k iter 0 b 0 3) (twin A.k B.k) "
      LESS_P
      "(var G grid 0 shared 1 4) (core (<= (+ 1 A.p (* -1 G)) 0)) (core (<= (+ 1 B.p (* -1 G)) 0)) "
      "(addr 4 (+ (* 4 A.p) (* 4 (* A.k G)))) (addr 4 (+ 4 (* 4 B.p) (* 4 (* B.k G)))))" },
};

/* What must not be proved although no condition of one rule stands behind it, and safe neighbours that must be. */
static const struct { const char *name; bool safe; const char *text; } other_cases[] = {
    { "p114: an affine image of the ids", false,
      INTER PIDS AXIS TWIN_P TWIN_Q LESS_P LESS_Q "(addr 4 (+ (* 4 A.p) (* 4 A.q))) (addr 4 (+ (* 4 B.p) (* 4 B.q))))" },
    { "3.2 gcd 0: equal constants meet", false, INTER PIDS TWIN_P LESS_P "(addr 4 64) (addr 4 64))" },
    { "3.2 floor residues", false, INTER PIDS TWIN_P LESS_P "(addr 1 (* 8 A.p)) (addr 4 (+ -9 (* 8 B.p))))" },
    { "3.2 residues apart", true, INTER PIDS TWIN_P LESS_P "(addr 2 (* 8 A.p)) (addr 4 (+ 4 (* 8 B.p))))" },
    { "p104 with one program on the other axis", true,
      INTER PIDS LANE TWIN_P TWIN_L LESS_P "(addr 4 (+ (* 32 A.p) (* 4 A.l))) (addr 4 (+ (* 32 B.p) (* 4 B.l))))" },
    { "p105 with one kind", true,
      INTER PIDS TWIN_P LESS_P "(addr 4 (+ (* 20 (tdiv (+ -2 A.p) 3)) (* 4 (trem (+ -2 A.p) 3)))) "
      "(addr 4 (+ (* 20 (tdiv (+ -2 B.p) 3)) (* 4 (trem (+ -2 B.p) 3)))))" },
    { "P with a stride of the right size", true,
      "(query (copies inter same 1 1) " PIDS LANE TWIN_P TWIN_L LESS_P "(var s param 0 shared 4 9) "
      "(core (<= (+ 4 A.l (* -1 s)) 0)) (core (<= (+ 4 B.l (* -1 s)) 0)) "
      "(addr 4 (+ (* A.p s) A.l)) (addr 4 (+ (* B.p s) B.l)))" },
    { "grid stride", true,
      "(query (copies inter same 1 1) " PIDS TWIN_P LESS_P "(var A.k iter 0 a 0 3) (var B.k iter 0 b 0 3) (twin A.k B.k) "
      "(var G grid 0 shared 1 4) (core (<= (+ 1 A.p (* -1 G)) 0)) (core (<= (+ 1 B.p (* -1 G)) 0)) "
      "(addr 4 (+ (* 4 A.p) (* 4 (* A.k G)))) (addr 4 (+ (* 4 B.p) (* 4 (* B.k G)))))" },
    { "grid stride beside an axis whose mask leaves one program", true,
      "(query (copies inter same 2 2) " PIDS AXIS TWIN_P TWIN_Q LESS_P LESS_Q "(var A.k iter 0 a 0 3) (var B.k iter 0 b 0 3) (twin A.k B.k) "
      "(var G grid 0 shared 1 4) (core (<= (+ 1 A.p (* -1 G)) 0)) (core (<= (+ -7 (* 9 A.q)) 0)) (core (<= (+ 1 B.p (* -1 G)) 0)) (core (<= (+ -7 (* 9 B.q)) 0)) "
      "(addr 4 (+ (* 4 A.p) (* 4 A.q) (* 4 (* A.k G)))) (addr 4 (+ (* 4 B.p) (* 4 B.q) (* 4 (* B.k G)))))" },
    { "P: a product that is known to be equal, its stride not 0", true,
      "(query (copies inter same 1 1) " PIDS LANE TWIN_P TWIN_L LESS_P "(var s param 0 shared 1 9) (core (<= A.l 0)) (core (<= B.l 0)) "
      "(addr 4 (+ (* 4 (* A.p s)) (* 4 A.l))) (addr 4 (+ (* 4 (* B.p s)) (* 4 B.l))))" },
    { "P: a product that is known to be equal, its stride may be 0", false,
      "(query (copies inter same 1 1) " PIDS LANE TWIN_P TWIN_L LESS_P "(var s param 0 shared 0 9) (core (<= A.l 0)) (core (<= B.l 0)) "
      "(addr 4 (+ (* 4 (* A.p s)) (* 4 A.l))) (addr 4 (+ (* 4 (* B.p s)) (* 4 B.l))))" },
    { "A: the sum of two digits, lanes too near for a carry", true,
      "(query (copies intra same 0 0) (var P pid 0 shared 0 3) (var A.l lane 0 a 0 2) (var B.l lane 0 b 0 2) " TWIN_L LESS_L
      "(addr 1 (+ (fdiv (+ (* 5 P) A.l) 4) (fmod (+ (* 5 P) A.l) 4))) (addr 1 (+ (fdiv (+ (* 5 P) B.l) 4) (fmod (+ (* 5 P) B.l) 4))))" },
    { "A: the sum of two digits, lanes that reach a carry", false,
      "(query (copies intra same 0 0) (var P pid 0 shared 0 3) (var A.l lane 0 a 0 3) (var B.l lane 0 b 0 3) " TWIN_L LESS_L
      "(addr 1 (+ (fdiv (+ (* 5 P) A.l) 4) (fmod (+ (* 5 P) A.l) 4))) (addr 1 (+ (fdiv (+ (* 5 P) B.l) 4) (fmod (+ (* 5 P) B.l) 4))))" },
    { "GS: ids below the extent of another axis", false,
      "(query (copies inter same 1 1) " PIDS TWIN_P LESS_P "(var A.k iter 0 a 0 3) (var B.k iter 0 b 0 3) (twin A.k B.k) "
      "(var G grid 0 shared 1 4) (var H grid 1 shared 1 4) (core (<= (+ 1 A.p (* -1 H)) 0)) (core (<= (+ 1 B.p (* -1 H)) 0)) "
      "(addr 4 (+ (* 4 A.p) (* 4 (* A.k G)))) (addr 4 (+ (* 4 B.p) (* 4 (* B.k G)))))" },
    { "GS: loops from pid and pid + 1", false,
      "(query (copies inter two 1 1) " PIDS TWIN_P "(var A.k iter 0 a 0 3) (var B.k iter 0 b 0 3) (twin A.k B.k) "
      "(distinct (<= (+ 1 A.p (* -1 B.p)) 0)) (distinct (<= (+ 1 B.p (* -1 A.p)) 0)) "
      "(var G grid 0 shared 1 4) (core (<= (+ 1 A.p (* -1 G)) 0)) (core (<= (+ 1 B.p (* -1 G)) 0)) "
      "(addr 4 (+ (* 4 A.p) (* 4 (* A.k G)))) (addr 4 (+ 4 (* 4 B.p) (* 4 (* B.k G)))))" },
    { "NO: strides swapped between two records", false,
      "(query (copies inter two 1 1) " PIDS LANE TWIN_P TWIN_L "(var s param 0 shared 2 2) (var t param 1 shared 3 3) "
      "(distinct (<= (+ 1 A.p (* -1 B.p)) 0)) (distinct (<= (+ 1 B.p (* -1 A.p)) 0)) "
      "(core (<= (+ -1 A.l) 0)) (core (<= (+ -1 B.l) 0)) "
      "(addr 1 (+ (* A.p t) (* A.l s))) (addr 1 (+ (* B.p s) (* B.l t))))" },
    { "NO: three strides, symbolic extents", true,
      "(query (copies inter same 2 2) " PIDS LANE TWIN_P TWIN_L LESS_P "(var A.m lane 1 a 0 3) (var B.m lane 1 b 0 3) (twin A.m B.m) "
      "(var s param 0 shared 0 2) (var t param 1 shared 0 3) (var u param 2 shared 0 6) (var n param 3 shared 0 2) (var k param 4 shared 0 2) "
      "(core (<= (+ 1 A.l (* -1 n)) 0)) (core (<= (+ 1 A.m (* -1 k)) 0)) "
      "(core (<= (+ 1 B.l (* -1 n)) 0)) (core (<= (+ 1 B.m (* -1 k)) 0)) "
      "(premise (<= (+ 1 (* -1 s)) 0)) (premise (<= (+ 1 (* s n) (* -1 s) (* -1 t)) 0)) "
      "(premise (<= (+ 1 (* s n) (* -1 s) (* t k) (* -1 t) (* -1 u)) 0)) "
      "(addr 1 (+ (* A.p u) (* A.m t) (* A.l s))) (addr 1 (+ (* B.p u) (* B.m t) (* B.l s))))" },
    { "DM: digits by a symbolic divisor, and its twin without the sign", true,
      INTER PIDS TWIN_P LESS_P "(var s param 0 shared 1 9) (var d param 1 shared 1 3) (premise (<= (+ d (* -1 s)) 0)) "
      "(addr 1 (+ (* s (tdiv A.p d)) (trem A.p d))) (addr 1 (+ (* s (tdiv B.p d)) (trem B.p d))))" },
    { "X: lanes of a tile in reverse", true,
      INTER PIDS LANE TWIN_P TWIN_L LESS_P "(addr 4 (+ 60 (* 32 A.p) (* 4 A.l) (* -8 (fmod (+ A.l (* 8 A.p)) 4)))) "
      "(addr 4 (+ 60 (* 32 B.p) (* 4 B.l) (* -8 (fmod (+ B.l (* 8 B.p)) 4)))))" },
    { "X: a digit counted twice", false,
      INTRA LANE TWIN_L LESS_L "(addr 4 (+ (* 64 P) (* 4 A.l) (* 4 (fmod A.l 4)))) (addr 4 (+ (* 64 P) (* 4 B.l) (* 4 (fmod B.l 4)))))" },
    { "O3: equal lanes are ordered", true,
      "(query (copies intra two 0 0) (var A.l lane 0 a 0 7) (var B.l lane 8 b 0 7) (core (not (= (+ A.l (* -1 B.l)) 0))) "
      "(addr 4 (* 4 A.l)) (addr 4 (* 4 B.l)))" },
};

static pr_outcome ask(int t, const char *text, pr_arena *arena, pr_pre_rule drop)
{
    const char *why = "";
    pr_outcome o = { .answer = PR_ANSWER_UNKNOWN };
    pr_query *q = pr_query_parse(pr_terms_new(arena), arena, (pr_str){ text, strlen(text) }, &why);
    CHECK(q != NULL);
    if (!q) {
        fprintf(stderr, "%s\n", why);
        return o;
    }
    q->suggest = true;
    pr_pre_dropped = drop;
    tier(t)->decide(ctx[t], q, &limits, arena, &o);
    pr_pre_dropped = PR_DROP_NONE;
    return o;
}

/* The condition that is named is all that was taken for granted: two strides, none of them shown to be large enough. */
static void named_conditions(pr_arena *arena)
{
    static const char text[] =
        "(query (copies inter same 2 2) " PIDS LANE TWIN_P TWIN_L LESS_P "(var A.m lane 1 a 0 3) (var B.m lane 1 b 0 3) (twin A.m B.m) "
        "(var s param 0 shared 0 2) (var t param 1 shared 0 3) (var u param 2 shared 0 6) (var n param 3 shared 0 2) (var k param 4 shared 0 2) "
        "(core (<= (+ 1 A.l (* -1 n)) 0)) (core (<= (+ 1 A.m (* -1 k)) 0)) "
        "(core (<= (+ 1 B.l (* -1 n)) 0)) (core (<= (+ 1 B.m (* -1 k)) 0)) "
        "(addr 1 (+ (* A.p u) (* A.m t) (* A.l s))) (addr 1 (+ (* B.p u) (* B.m t) (* B.l s))))";
    for (int dropped = 0; dropped < 2; dropped++) {
        const char *why = "";
        pr_outcome o;
        pr_terms *T = pr_terms_new(arena);
        pr_query *q = pr_query_parse(T, arena, (pr_str){ text, sizeof text - 1 }, &why);
        pr_term_vec parts = { 0 };
        CHECK(q != NULL);
        if (!q) return;
        q->suggest = true;
        pr_pre_dropped = dropped ? PR_DROP_ALL_ASSUMED : PR_DROP_NONE;
        tier(CLOSURE)->decide(ctx[CLOSURE], q, &limits, arena, &o);
        pr_pre_dropped = PR_DROP_NONE;
        CHECK(o.answer == PR_ANSWER_UNKNOWN && !pr_term_none(o.needs) && o.under);
        pr_conjuncts(T, o.needs, &parts, arena);
        CHECK(dropped ? parts.n == 1 : parts.n > 1);
        take_for_granted(q, T, o.needs, arena);
        tier(ENUM)->decide(ctx[ENUM], q, &limits, arena, &o);
        CHECK(o.answer == (dropped ? PR_ANSWER_WITNESS : PR_ANSWER_EMPTY));
    }
}

static void side_conditions(void)
{
    pr_arena *arena = pr_arena_new(0, NULL);
    for (size_t i = 0; i < PR_LEN(rule_cases); i++) {
        const struct rule_case *c = &rule_cases[i];
        int before = check_failures;
        CHECK(ask(c->tier, c->text, arena, c->drop).answer == PR_ANSWER_EMPTY);
        printf("%s: without the condition %s says EMPTY of\n  %s\n", c->name, tier(c->tier)->name, c->text);
        for (int t = 0; t < SWEEP; t++) CHECK(ask(t, c->text, arena, PR_DROP_NONE).answer == PR_ANSWER_UNKNOWN);
        CHECK(ask(ENUM, c->text, arena, PR_DROP_NONE).answer == PR_ANSWER_WITNESS);
        if (check_failures != before) fprintf(stderr, "  %s\n", c->name);
    }
    for (size_t i = 0; i < PR_LEN(other_cases); i++) {
        bool safe = other_cases[i].safe, proved = false;
        int before = check_failures;
        for (int t = 0; t < SWEEP; t++) proved |= ask(t, other_cases[i].text, arena, PR_DROP_NONE).answer == PR_ANSWER_EMPTY;
        CHECK(proved == safe);
        CHECK(ask(ENUM, other_cases[i].text, arena, PR_DROP_NONE).answer == (safe ? PR_ANSWER_EMPTY : PR_ANSWER_WITNESS));
        if (check_failures != before) fprintf(stderr, "  %s\n", other_cases[i].name);
    }
    /* a failed premise is named */
    pr_outcome o = ask(CLOSURE, INTER PIDS LANE TWIN_P TWIN_L LESS_P "(var s param 0 shared -9 99) "
                       "(addr 4 (+ (* 4 (* A.p s)) (* 4 A.l))) (addr 4 (+ (* 4 (* B.p s)) (* 4 B.l))))", arena, PR_DROP_NONE);
    CHECK(!pr_term_none(o.needs));
    /* and where the product stands alone, its difference known */
    o = ask(CLOSURE, "(query (copies inter same 1 1) " PIDS LANE TWIN_P TWIN_L LESS_P "(var s param 0 shared -9 99) (core (<= A.l 0)) (core (<= B.l 0)) "
            "(addr 4 (+ (* 4 (* A.p s)) (* 4 A.l))) (addr 4 (+ (* 4 (* B.p s)) (* 4 B.l))))", arena, PR_DROP_NONE);
    CHECK(!pr_term_none(o.needs));
    named_conditions(arena);
    pr_arena_free(arena);
}

/* The random queries notice each dropped condition too. */
static void faults_are_noticed(long rounds)
{
    for (int rule = 1; rule <= PR_DROP_DIVISOR; rule++) {
        rng g = { 4711u + (uint64_t)rule };
        tally t = { 0 };
        pr_pre_dropped = (pr_pre_rule)rule;
        for (long i = 0; i < rounds && !t.wrong; i++) one_random(&g, &t, false);
        pr_pre_dropped = PR_DROP_NONE;
        bool rare = rule == PR_DROP_D_KIND || rule == PR_DROP_SIGN || rule == PR_DROP_P_FACTOR ||
                    (rule >= PR_DROP_C_EQUAL && rule <= PR_DROP_LIFT_SIGN); /* the cases above */
        CHECK(t.wrong || rare || rounds < 20000);
        printf("rule %d dropped: %s after %ld queries\n", rule, t.wrong ? "noticed" : "not noticed", t.queries);
    }
}

/* --- agreement with isl ------------------------------------------------------------------------------ */

static void agree(void)
{
    pr_arena *keep = pr_arena_new(0, NULL);
    pr_buf text;
    pr_buf_init(&text, keep);
    char line[1 << 16];
    double time[TIERS] = { 0 };
    long n = 0, settled = 0, asked[TIERS] = { 0 }, claims[TIERS][3] = { { 0 } }, isl_only[3] = { 0 };
    const pr_engine *isl = pr_engine_isl();
    pr_engine_ctx *isl_ctx = isl->open(keep);
    while (fgets(line, sizeof line, stdin)) {
        if (line[0] != '(' && text.n == 0) continue;
        pr_buf_puts(&text, line);
        if (line[0] != ')') continue;
        pr_arena *arena = pr_arena_new(0, NULL), *scratch = pr_arena_new(0, NULL);
        const char *why = NULL;
        pr_query *q = pr_query_parse(pr_terms_new(arena), arena, (pr_str){ text.data, text.n }, &why);
        CHECK(q != NULL && q->is_pair);
        if (!q) fprintf(stderr, "%s\n%s", why, text.data);
        pr_outcome want, o;
        if (q) isl->decide(isl_ctx, q, &limits, scratch, &want);
        bool done = false;
        for (int t = 0; t < TIERS && q; t++) {
            pr_limits l = limits;
            if (t == ENUM) l.enumerate = 1 << 14;
            double from = now_us();
            tier(t)->decide(ctx[t], q, &l, scratch, &o);
            if (!done) time[t] += now_us() - from, asked[t]++, claims[t][o.answer]++;
            CHECK(o.answer == PR_ANSWER_UNKNOWN || want.answer == PR_ANSWER_UNKNOWN || o.answer == want.answer);
            if (o.answer == PR_ANSWER_WITNESS) CHECK(pr_query_holds(q, &o.point) == PR_YES);
            done |= o.answer != PR_ANSWER_UNKNOWN && t != ENUM;
            if (check_failures) {
                fprintf(stderr, "%s says %d (%s), isl %d\n%s", tier(t)->name, o.answer, o.evidence, want.answer, text.data);
                exit(1);
            }
        }
        if (q && !done) {
            isl_only[want.answer]++;
            if (getenv("PRE_SHOW")) printf("isl: %d\n%s", want.answer, text.data);
        }
        n++;
        settled += done;
        text.n = 0;
        pr_arena_free(arena);
        pr_arena_free(scratch);
    }
    printf("%ld pair queries, %ld settled by pre-tests; left to isl: %ld empty, %ld with witness, %ld unknown\n", n,
           settled, isl_only[0], isl_only[1], isl_only[2]);
    for (int t = 0; t < TIERS; t++)
        printf("%s: asked %ld, empty %ld, witness %ld, %.2f us each\n", tier(t)->name, asked[t], claims[t][0],
               claims[t][1], asked[t] ? time[t] / (double)asked[t] : 0);
    CHECK(n > 0);
    isl->close(isl_ctx);
    pr_arena_free(keep);
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 200000;
    pr_arena *keep = pr_arena_new(0, NULL);
    for (int i = 0; i < TIERS; i++) ctx[i] = tier(i)->open(keep);
    if (argc > 1 && strcmp(argv[1], "--agree") == 0) {
        agree();
    } else {
        kernel_suite(argc > 1 && strcmp(argv[1], "--suite") == 0);
        side_conditions();
        faults_are_noticed(rounds / 2 > 100000 ? 100000 : rounds / 2);
        random_against_enumeration(rounds, argc > 2 ? (uint64_t)atoll(argv[2]) : 88172645463325252u);
    }
    for (int i = 0; i < TIERS; i++) tier(i)->close(ctx[i]);
    pr_arena_free(keep);
    return check_done();
}
