/* Exact case splits (happens-before.md 7.4): divisors and factors of few values, piecewise constant divisors,
 * min, max, select, truncating division, bits of constants and of narrow values. Each construct is decided by
 * isl alone, its racing twin too, and enumeration, which evaluates every instance, says the same. Products of
 * two wide values are not claimed. */
#include "check.h"
#include "poly/poly.h"
#include "pre/pre.h"
#include <stdlib.h>
#include <string.h>

#define S(lo, hi) "(var s param 0 shared " #lo " " #hi ")"
/* %x = 16 p + l, %p, %l of one copy; a second string is the twin that races */
static const struct { const char *name, *shared, *safe, *race, *core; } cases[] = {
    { "quotient by a parameter of 16 values", S(1, 16), "(+ (* 64 (fdiv %x s)) (* 4 (fmod %x s)))",
      "(+ (* 56 (fdiv %x s)) (* 4 (fmod %x s)))", NULL },
    { "quotient by a parameter of 64 values", S(1, 64), "(+ (* 256 (fdiv %x s)) (* 4 (fmod %x s)))",
      "(+ (* 248 (fdiv %x s)) (* 4 (fmod %x s)))", NULL },
    { "truncating, dividend of both signs", S(2, 9), "(+ (* 128 (tdiv (+ -50 %x) s)) (* 4 (trem (+ -50 %x) s)))",
      "(+ (* 16 (tdiv (+ -50 %x) s)) (* 4 (trem (+ -50 %x) s)))", NULL },
    { "divisor of both signs", S(-3, 3), "(+ (* 4096 (fdiv %x s)) (* 4 (fmod %x s)))",
      "(+ (* 8 (fdiv %x s)) (* 4 (fmod %x s)))", NULL },
    { "factor of 20 values", S(1, 20), "(* 4 (* s %x))", "(* 4 (* (+ -1 s) %x))", NULL },
    { "stride of 40 values", S(16, 55), "(+ (* 4 (* s %p)) (* 4 %l))", "(+ (* 4 (* (+ -1 s) %p)) (* 4 %l))", NULL },
    { "min chain", S(1, 1000), "(* 4 (min (min %x s) 300))", "(* 4 (min (min %x s) 200))", "(<= (+ 1 %x (* -1 s)) 0)" },
    { "max chain", S(-5, 5), "(* 4 (max (max (+ 6 %x) s) -9))", "(* 4 (max (max %x (+ 14 s)) 1))", NULL },
    { "select of two strides", S(0, 1), "(* 4 (select (<= s 0) %x (* 2 %x)))", "(* 4 (select (<= s 0) %x (+ (* 2 %p) %l)))", NULL },
    { "divisor select of two values", S(0, 9), "(+ (* 400 (fdiv %x (select (<= (+ -4 s) 0) 3 100))) (* 4 (fmod %x (select (<= (+ -4 s) 0) 3 100))))",
      "(+ (* 320 (fdiv %x (select (<= (+ -4 s) 0) 3 100))) (* 4 (fmod %x (select (<= (+ -4 s) 0) 3 100))))", NULL },
    { "divisor clamped", S(1, 1000), "(+ (* 100 (fdiv %x (max (min s 24) 20))) (* 4 (fmod %x (max (min s 24) 20))))",
      "(+ (* 84 (fdiv %x (max (min s 24) 20))) (* 4 (fmod %x (max (min s 24) 20))))", NULL },
    { "factor select of wide values", S(0, 9), "(* 4 (* %x (select (<= (+ -4 s) 0) 3 1000)))",
      "(+ (* 4 (* %p (select (<= (+ -4 s) 0) 9 1000))) (* 4 %l))", NULL },
    { "grouped swizzle, rows a parameter", S(1, 40),
      "(+ (* 256 (+ (* 8 (fdiv %x 32)) (fmod (fmod %x 32) (min (+ s (* -8 (fdiv %x 32))) 8)))) (* 4 (fdiv (fmod %x 32) (min (+ s (* -8 (fdiv %x 32))) 8))))",
      "(+ (* 256 (+ (* 7 (fdiv %x 32)) (fmod (fmod %x 32) (min (+ s (* -8 (fdiv %x 32))) 8)))) (* 4 (fdiv (fmod %x 32) (min (+ s (* -8 (fdiv %x 32))) 8))))",
      "(<= (+ 1 (* 8 (fdiv %x 32)) (* -1 s)) 0)" },
    { "nested quotients", "", "(+ (* 560 (fdiv (fdiv %x 7) 5)) (* 28 (fmod (fdiv %x 7) 5)) (* 4 (fmod %x 7)))",
      "(+ (* 112 (fdiv (fdiv %x 7) 5)) (* 28 (fmod (fdiv %x 7) 5)) (* 4 (fmod %x 7)))", NULL },
    { "or with a constant", "", "(* 4 (+ (* 32 %p) (bor %l 16)))", "(* 4 (+ (* 16 %p) (bor %l 16) (band %l 8)))", NULL },
    { "or with an overlapping constant", "", "(* 4 (+ (* 32 %p) (bor %l 21)))", "(* 4 (+ (* 8 %p) (bor %l 21)))", NULL },
    { "and with a comb of bits", "", "(* 4 (+ (* 16 %p) (band %l 5)))", "(* 4 (+ (* 4 %p) (band %l 5)))", NULL },
    { "and with a negative constant", "", "(* 4 (+ (* 32 %p) (band (+ -7 %l) -6)))", "(* 4 (+ (* 8 %p) (band (+ -7 %l) -6)))", NULL },
    { "xor with a constant", "", "(* 4 (+ (* 32 %p) (bxor %l 21)))", "(* 4 (+ (* 9 %p) (bxor %l 21)))", NULL },
    { "xor swizzle by the row", "", "(* 4 (+ (* 16 %p) (bxor %l (fmod %p 8))))", "(* 4 (+ (* 15 %p) (bxor %l (fmod %p 8))))", NULL },
    { "xor of two digits", "", "(* 4 (+ (* 16 %p) (* 4 (fdiv %l 4)) (bxor (fmod %l 4) (fdiv %l 4))))",
      "(* 4 (+ (* 16 %p) (* 3 (fdiv %l 4)) (bxor (fmod %l 4) (fdiv %l 4)) (* -5 (fmod %p 3))))", NULL },
    { "and, or of narrow values", "", "(* 4 (+ (* 64 %p) (band %l (fmod %p 4)) (bor %l (fmod %p 4))))",
      "(* 4 (+ (* 7 %p) (band %l (fmod %p 4)) (bor %l (fmod %p 4))))", NULL },
    { "shifts as powers of two", S(0, 4), "(+ (* 1024 (fdiv %x (select (= s 0) 1 (select (= (+ -1 s) 0) 2 (select (= (+ -2 s) 0) 4 32)))))"
      " (* 4 (fmod %x (select (= s 0) 1 (select (= (+ -1 s) 0) 2 (select (= (+ -2 s) 0) 4 32))))))",
      "(+ (* 8 (fdiv %x (select (= s 0) 1 (select (= (+ -1 s) 0) 2 (select (= (+ -2 s) 0) 4 32)))))"
      " (* 4 (fmod %x (select (= s 0) 1 (select (= (+ -1 s) 0) 2 (select (= (+ -2 s) 0) 4 32))))))", NULL },
    { "wrap of a narrow width", "", "(* 4 (+ -128 (fmod (+ 128 %x) 256)))", "(* 4 (+ -64 (fmod (+ 64 %x) 128)))", NULL },
};

static char *put(char *out, const char *text, char copy)
{
    for (; *text; text++) {
        if (*text != '%') *out++ = *text;
        else if (*++text == 'x') out += sprintf(out, "(+ (* 16 %c.p) %c.l)", copy, copy);
        else out += sprintf(out, "%c.%c", copy, *text);
    }
    *out = 0;
    return out;
}

static char *query_text(char *out, int i, bool race)
{
    char *at = out;
    int n = cases[i].core ? 1 : 0;
    at += sprintf(at, "(query (copies inter same %d %d) (var A.p pid 0 a 0 13) (var B.p pid 0 b 0 13) "
                      "(var A.l lane 0 a 0 15) (var B.l lane 0 b 0 15) %s (twin A.p B.p) (twin A.l B.l) ", n, n, cases[i].shared);
    for (int c = 0; c < 2 && n; c++) {
        at += sprintf(at, "(core ");
        at = put(at, cases[i].core, c ? 'B' : 'A');
        at += sprintf(at, ") ");
    }
    at += sprintf(at, "(distinct (<= (+ 1 A.p (* -1 B.p)) 0)) ");
    for (int c = 0; c < 2; c++) {
        at += sprintf(at, "(addr 4 ");
        at = put(at, race ? cases[i].race : cases[i].safe, c ? 'B' : 'A');
        at += sprintf(at, ") ");
    }
    sprintf(at, ")");
    return out;
}

int main(void)
{
    static const pr_limits limits = { .max_ops = 20000, .first_ops = 700, .max_leaves = 256 };
    static char text[16384];
    pr_arena *keep = pr_arena_new(0, NULL);
    const pr_engine *isl = pr_engine_isl(), *all = pr_engine_enum();
    pr_engine_ctx *a = isl->open(keep), *b = all->open(keep);
    for (int i = 0; i < (int)PR_LEN(cases); i++)
        for (int race = 0; race < 2; race++) {
            pr_arena *arena = pr_arena_new(0, NULL), *scratch = pr_arena_new(0, NULL);
            const char *why = "";
            pr_outcome o, e;
            int before = check_failures;
            pr_query *q = pr_query_parse(pr_terms_new(arena), arena, pr_str_of(query_text(text, i, race)), &why);
            CHECK(q != NULL);
            if (q) {
                unsigned classes = 0;
                pr_term overlap[2];
                int n = pr_query_overlap(q, pr_query_box(q), overlap);
                for (int k = 0; k < n; k++) classes |= pr_class_of(pr_query_box(q), overlap[k]);
                CHECK((classes & ~(unsigned)PR_CLASS_PRESBURGER) == 0);
                all->decide(b, q, &limits, scratch, &e);
                CHECK(e.answer == (race ? PR_ANSWER_WITNESS : PR_ANSWER_EMPTY));
                isl->decide(a, q, &limits, scratch, &o);
                CHECK(o.answer == e.answer);
                if (o.answer == PR_ANSWER_WITNESS) CHECK(pr_query_holds(q, &o.point) == PR_YES);
                if (check_failures != before)
                    fprintf(stderr, "  %s, %s: enumeration %d, isl %d (%s)\n", cases[i].name, race ? "race" : "safe", e.answer,
                            o.answer, o.message ? o.message : "");
            } else {
                fprintf(stderr, "  %s: %s\n%s\n", cases[i].name, why, text);
            }
            pr_arena_free(arena);
            pr_arena_free(scratch);
        }
    isl->close(a);
    all->close(b);
    pr_arena_free(keep);
    return check_done();
}
