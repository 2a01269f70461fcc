/* What the tests of the reader share: parse a text, print it, read it back, compare. */
#ifndef PR_TESTS_READER_H
#define PR_TESTS_READER_H
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "front/ir.h"
#include "front/ops.h"

/* The text is copied to a block of exactly its size, so that a sanitizer sees any read past it. */
static inline pr_ir *read_text(pr_arena *a, const char *text, size_t n, const pr_read_limits *l,
                               pr_error *e)
{
    char *exact = malloc(n ? n : 1);
    memcpy(exact, text, n);
    *e = (pr_error){ 0 };
    pr_ir *ir = pr_ir_parse(a, exact, n, "t", l, e);
    free(exact);
    return ir;
}

/* Printing is a fixed point and keeps the tree. */
static inline bool survives_printing(pr_arena *a, const pr_ir *ir)
{
    pr_buf once, twice;
    pr_error e;
    pr_buf_init(&once, a);
    pr_ir_print(&once, ir);
    pr_ir *again = read_text(a, once.data, once.n, NULL, &e);
    if (!again) {
        fprintf(stderr, "reading the printed text: %d:%d: %s\n%s\n", e.line, e.col, e.message,
                once.data);
        return false;
    }
    pr_buf_init(&twice, a);
    pr_ir_print(&twice, again);
    bool same = once.n == twice.n && memcmp(once.data, twice.data, once.n) == 0;
    if (!same) fprintf(stderr, "printed twice, differs:\n%s\n---\n%s\n", once.data, twice.data);
    return same && pr_ir_equal(ir, again);
}

static inline pr_ir *parse(pr_arena *a, const char *text)
{
    pr_error e;
    pr_ir *ir = read_text(a, text, strlen(text), NULL, &e);
    if (!ir) {
        fprintf(stderr, "%d:%d: %s\nin:\n%s\n", e.line, e.col, e.message, text);
        CHECK(!"parses");
        return NULL;
    }
    CHECK(survives_printing(a, ir));
    return ir;
}

/* A function around body; its arguments cover the common types. */
static inline const char *in_function(pr_arena *a, const char *body)
{
    return pr_arena_printf(a,
                           "module {\n"
                           "  tt.func public @k(%%p: !tt.ptr<f32>, %%n: i32, %%c: i1, %%t: "
                           "tensor<4xi32>, %%tp: tensor<4x!tt.ptr<f32>>,\n"
                           "      %%m: tensor<4xi1>, %%f: tensor<4xf32>, %%l: i64, %%d: "
                           "!tt.tensordesc<4x8xf32>, %%x: index) {\n"
                           "%s\n"
                           "    tt.return\n  }\n}\n",
                           body);
}

static inline pr_block *body_of(const pr_ir *ir)
{
    pr_op *f = ir ? pr_ir_func(ir, pr_str_of("k")) : NULL;
    return f ? pr_region_block(f->regions[0]) : NULL;
}

/* First operation of a body that parses; null otherwise. */
static inline pr_op *first_op(pr_arena *a, const char *body)
{
    pr_block *b = body_of(parse(a, in_function(a, body)));
    return b && b->n_ops ? b->ops[0] : NULL;
}

static inline void fails(const char *text, pr_status kind, int line, int col, const char *part,
                         const pr_read_limits *l, int at)
{
    pr_error e;
    pr_arena *a = pr_arena_new(0, NULL);
    pr_ir *ir = read_text(a, text, strlen(text), l, &e);
    check_count++;
    if (ir || e.kind != kind || (line && (e.line != line || e.col != col))
        || !strstr(e.message, part)) {
        check_failures++;
        fprintf(stderr, "line %d: expected %d at %d:%d '%s', got %s %d at %d:%d '%s'\n", at,
                (int)kind, line, col, part, ir ? "a tree," : "", (int)e.kind, e.line, e.col,
                e.message);
    }
    pr_arena_free(a);
}
/* The whole text fails with an input error at line:col whose message contains part. */
#define FAILS(text, line, col, part)                                                               \
    fails((text), PR_ERR_INPUT, (line), (col), (part), NULL, __LINE__)
#define FAILS_LIMIT(text, part, limits)                                                            \
    fails((text), PR_ERR_LIMIT, 0, 0, (part), (limits), __LINE__)

static inline void body_fails(const char *body, int line, int col, const char *part, int at)
{
    pr_arena *a = pr_arena_new(0, NULL);
    fails(in_function(a, body), PR_ERR_INPUT, line ? line + 3 : 0, col, part, NULL, at);
    pr_arena_free(a);
}
/* Same for a function body; line 1 is the body's first line. */
#define BODY_FAILS(body, line, col, part) body_fails((body), (line), (col), (part), __LINE__)
#endif
