/* Launch documents, bound to a small kernel.
 *
 * What is rejected has an error that names the document, a line and a message; what is bound has positive
 * extents, tensors inside their storage, and scalars of the width of the signature. */
#include <string.h>
#include "front/launch.h"
#include "fuzz.h"
#include "util/num.h"

static const char kernel[] =
    "module {\n  tt.func public @k(%x: !tt.ptr<i32>, %y: !tt.ptr<f32>, %n: i32, %m: i64) {\n    tt.return\n  }\n}\n";

static void rejected(const pr_error *e)
{
    FUZZ_CHECK(e->kind != PR_OK && e->kind != PR_ERR_INTERNAL && e->message[0], "kind %d: %s", e->kind, e->message);
    FUZZ_CHECK(strcmp(e->file, "fuzz.json") == 0, "file \"%s\": %s", e->file, e->message);
    FUZZ_CHECK(e->kind != PR_ERR_INPUT || (e->line >= 1 && e->col >= 1), "%d:%d: %s", e->line, e->col, e->message);
}

static void bound(const pr_launch *l)
{
    for (int d = 0; l->grid_known && d < 3; d++) FUZZ_CHECK(l->grid[d] >= 1, "grid %lld", (long long)l->grid[d]);
    FUZZ_CHECK(l->n_args == 4, "%d arguments", l->n_args);
    for (int i = 0; i < l->n_args; i++) {
        const pr_arg *a = &l->args[i];
        if (a->kind == PR_ARG_INT)
            FUZZ_CHECK(i >= 2 && a->value >= pr_int_min(i == 2 ? 32 : 64) && a->value <= pr_int_max(i == 2 ? 32 : 64), "argument %d out of its width", i);
        if (a->kind != PR_ARG_TENSOR) continue;
        const pr_tensor *t = a->tensor;
        FUZZ_CHECK(i < 2 && t->elem_bytes == 4, "argument %d", i);
        FUZZ_CHECK(t->storage_lo <= t->storage_hi && t->numel >= 0, "storage of argument %d", i);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pr_arena *a = pr_arena_new(0, NULL);
    if (!a) return 0;
    pr_error err = { 0 };
    const char *why = "";
    pr_ir *ir = pr_ir_parse(a, kernel, strlen(kernel), "k.ttir", NULL, &err);
    FUZZ_CHECK(ir, "%s", err.message);
    const pr_op *func = pr_ir_kernel(ir, (pr_str){ 0 }, &why);
    pr_launch_limits limits = { 1024, 1 << 16 };
    pr_launch_doc *d = pr_launch_doc_parse(a, (const char *)data, size, "fuzz.json", "/nowhere", false, &err);
    if (!d) rejected(&err);
    for (int i = 0; d && i < pr_launch_doc_count(d) && i < 8; i++) {
        pr_error e = { 0 };
        if (pr_launch_doc_check(d, i, &e) != PR_OK) {
            rejected(&e);
            continue;
        }
        for (int c = 0; c < pr_launch_doc_configs(d, i) && c < 8; c++) {
            pr_launch l = { 0 };
            pr_refusal_vec refusals = { 0 };
            pr_error b = { 0 };
            if (pr_launch_bind(a, d, i, c, ir, func, &limits, NULL, &l, &refusals, &b) == PR_OK) bound(&l);
            else rejected(&b);
        }
    }
    pr_launch_doc_free(d);
    pr_arena_free(a);
    return 0;
}
