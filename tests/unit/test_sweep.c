/* src/pre/derive.c: races whose addresses differ in quotients and remainders are found among the first
 * instances, however far apart the programs are; their safe twins are not. */
#include "check.h"
#include "pre/pre.h"
#include "term/query.h"
#include <stdlib.h>
#include <string.h>

#define DIMS(programs, lanes)                                                                             \
    "(query (copies inter same 0 0) (var A.p pid 0 a 0 " programs ") (var B.p pid 0 b 0 " programs ") "     \
    "(var A.l lane 0 a 0 " lanes ") (var B.l lane 0 b 0 " lanes ") (twin A.p B.p) (twin A.l B.l) "
#define LESS "(distinct (<= (+ 1 A.p (* -1 B.p)) 0)) "
#define SAME_PROGRAM(programs, lanes)                                                                     \
    "(query (copies intra same 0 0) (var P pid 0 a 0 " programs ") (var A.l lane 0 a 0 " lanes ") "         \
    "(var B.l lane 0 b 0 " lanes ") (twin A.l B.l) (distinct (<= (+ 1 A.l (* -1 B.l)) 0)) "

static const struct { const char *name; bool race; const char *a, *b, *head, *address; } cases[] = {
    { "transposed, rows one short", true, "(+ (* 1024 A.p) A.l)", "(+ (* 1024 B.p) B.l)", DIMS("1079", "1023") LESS,
      "(+ (* 996 (fdiv %x 65000)) (* 16932 (fmod %x 260)) (* 4 (fmod (fdiv %x 260) 250)))" },
    { "transposed", false, "(+ (* 1024 A.p) A.l)", "(+ (* 1024 B.p) B.l)", DIMS("1079", "1023") LESS,
      "(+ (* 1000 (fdiv %x 65000)) (* 18000 (fmod %x 260)) (* 4 (fmod (fdiv %x 260) 250)))" },
    { "transposed, one program", true, "(+ (* 1024 P) A.l)", "(+ (* 1024 P) B.l)", SAME_PROGRAM("1079", "1023"),
      "(+ (* 996 (fdiv %x 65000)) (* 16932 (fmod %x 260)) (* 4 (fmod (fdiv %x 260) 250)))" },
    { "overlapping windows, nested quotients", true, "(+ (* 512 A.p) A.l)", "(+ (* 512 B.p) B.l)", DIMS("106", "511") LESS,
      "(+ (* 4 (fmod %x 89)) (* 364 (fmod (fdiv %x 89) 68)) (* 364 (fdiv (fdiv %x 6052) 3)) (* 4 (fmod (fdiv %x 6052) 3)))" },
    { "digits swapped, rows one short", true, "(+ (* 4096 A.p) A.l)", "(+ (* 4096 B.p) B.l)", DIMS("1048575", "4095") LESS,
      "(+ (* 4 (fdiv %x 1000)) (* 17179868 (fmod %x 1000)))" },
    { "digits swapped", false, "(+ (* 4096 A.p) A.l)", "(+ (* 4096 B.p) B.l)", DIMS("1048575", "4095") LESS,
      "(+ (* 4 (fdiv %x 1000)) (* 17179872 (fmod %x 1000)))" },
};

/* The query with copy A's and copy B's index put in for %x. */
static void put(char *out, const char *text, const char *x)
{
    for (; *text; text++) {
        if (text[0] == '%' && text[1] == 'x') {
            strcpy(out, x);
            out += strlen(x);
            text++;
        } else {
            *out++ = *text;
        }
    }
    *out = 0;
}

int main(void)
{
    static const pr_limits limits = { .max_ops = 20000, .first_ops = 700, .max_leaves = 256 };
    pr_arena *arena = pr_arena_new(0, NULL);
    const pr_engine *sweep = pr_engine_sweep();
    pr_engine_ctx *ctx = sweep->open(arena);
    for (size_t i = 0; i < PR_LEN(cases); i++) {
        char one[1024], two[1024], text[4096];
        const char *why = "";
        pr_outcome o;
        put(one, cases[i].address, cases[i].a);
        put(two, cases[i].address, cases[i].b);
        snprintf(text, sizeof text, "%s (addr 4 %s) (addr 4 %s))", cases[i].head, one, two);
        pr_query *q = pr_query_parse(pr_terms_new(arena), arena, (pr_str){ text, strlen(text) }, &why);
        CHECK(q != NULL);
        if (!q) {
            fprintf(stderr, "%s: %s\n", why, text);
            continue;
        }
        sweep->decide(ctx, q, &limits, arena, &o);
        CHECK(o.answer == (cases[i].race ? PR_ANSWER_WITNESS : PR_ANSWER_UNKNOWN));
        if (o.answer == PR_ANSWER_WITNESS) CHECK(pr_query_holds(q, &o.point) == PR_YES);
        if (check_failures) fprintf(stderr, "  %s\n", cases[i].name);
    }
    sweep->close(ctx);
    pr_arena_free(arena);
    return check_done();
}
