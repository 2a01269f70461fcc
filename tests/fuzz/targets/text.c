/* The reader of TTIR and TTGIR texts.
 *
 * A text that is read prints as a text that reads back as an equal tree and prints the same again; one that is
 * not has an error with file, line, column and message, or names a limit. The same bytes give the same error. */
#include <string.h>
#include "front/ir.h"
#include "fuzz.h"

static pr_ir *read(pr_arena *a, const char *text, size_t n, pr_error *err)
{
    pr_read_limits limits;
    pr_read_limits_default(&limits);
    return pr_ir_parse(a, text, n, "fuzz.ttir", &limits, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pr_arena *a = pr_arena_new(0, NULL);
    if (!a) return 0;
    pr_error err = { 0 }, again = { 0 };
    pr_ir *ir = read(a, (const char *)data, size, &err);
    if (ir) {
        FUZZ_CHECK(err.kind == PR_OK, "a tree and an error: %s", err.message);
        pr_buf first, second;
        pr_buf_init(&first, a);
        pr_buf_init(&second, a);
        pr_ir_print(&first, ir);
        pr_ir *back = read(a, first.data, first.n, &again);
        FUZZ_CHECK(back, "printed text is rejected: %d:%d: %s\n%s", again.line, again.col, again.message, first.data);
        FUZZ_CHECK(pr_ir_equal(ir, back), "another tree\n%s", first.data);
        pr_ir_print(&second, back);
        FUZZ_CHECK(first.n == second.n && memcmp(first.data, second.data, first.n) == 0, "prints differ\n%s\n%s", first.data, second.data);
    } else {
        FUZZ_CHECK(err.kind == PR_ERR_INPUT || err.kind == PR_ERR_LIMIT, "kind %d: %s", err.kind, err.message);
        FUZZ_CHECK(err.message[0] && strcmp(err.file, "fuzz.ttir") == 0, "\"%s\" in \"%s\"", err.message, err.file);
        FUZZ_CHECK(err.kind == PR_ERR_LIMIT || (err.line >= 1 && err.col >= 1), "%d:%d: %s", err.line, err.col, err.message);
        read(a, (const char *)data, size, &again);
        FUZZ_CHECK(memcmp(&err.message, &again.message, sizeof err.message) == 0 && err.line == again.line && err.col == again.col,
                   "two errors of one text: %s, %s", err.message, again.message);
    }
    pr_arena_free(a);
    return 0;
}
