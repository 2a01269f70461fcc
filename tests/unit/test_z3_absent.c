/* src/smt built for a Z3 library that no system has: a query is refused with its reason, the version is not known,
 * and what needs no Z3 works. */
#include "check.h"
#include "term/engine.h"
#include "term/query.h"
#include <string.h>

int main(void)
{
    const pr_engine *e = pr_engine_z3();
    CHECK(e && !e->version());
    pr_arena *arena = pr_arena_new(0, NULL), *scratch = pr_arena_new(0, NULL);
    pr_terms *T = pr_terms_new(arena);
    pr_engine_ctx *ctx = e->open(arena);
    for (int empty = 0; empty < 2; empty++) {
        pr_var x = pr_var_new(T, (pr_var_info){ .role = PR_ROLE_OTHER, .index = empty, .lo = empty, .hi = 0, .name = empty ? "y" : "x" });
        pr_query q = { .terms = T, .vars = &x, .n_vars = 1 };
        for (int again = 0; again < 2; again++) {
            pr_outcome o = { .answer = PR_ANSWER_WITNESS };
            e->decide(ctx, &q, &(pr_limits){ .z3_rlimit = 1000 }, scratch, &o);
            if (empty) CHECK(o.answer == PR_ANSWER_EMPTY);
            else CHECK(o.answer == PR_ANSWER_UNKNOWN && o.why == PR_REFUSAL_NEEDS_SMT && strstr(o.message, "libz3-of-no-system"));
        }
        pr_buf text;
        const char *why = NULL;
        pr_buf_init(&text, scratch);
        CHECK(e->dump(&q, &(pr_limits){ 0 }, &text, &why) && strstr(text.data, "check-sat"));
    }
    e->close(ctx);
    pr_arena_free(scratch);
    pr_arena_free(arena);
    return check_done();
}
