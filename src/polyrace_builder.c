/* Launches made argument by argument through the public library. */
#include <string.h>
#include "polyrace_impl.h"

static void end_doc(void *doc)
{ pr_launch_doc_free(doc); }

/* A built launch becomes a document like any other: one reader, one set of checks. */
pr_status pr_launch_ready(polyrace_launch *l, pr_error *err)
{
    if (l->doc) return PR_OK;
    pr_buf b;
    pr_buf_init(&b, l->child.arena);
    pr_buf_puts(&b, "{\"version\": 1, ");
    if (l->kernel[0]) {
        pr_buf_puts(&b, "\"kernel\": ");
        pr_buf_quote(&b, pr_str_of(l->kernel), true);
        pr_buf_puts(&b, ", ");
    }
    if (l->grid[0])
        pr_buf_printf(&b, "\"grid\": [%lld, %lld, %lld], ", (long long)l->grid[0],
                      (long long)l->grid[1], (long long)l->grid[2]);
    else pr_buf_puts(&b, "\"grid\": null, ");
    pr_buf_printf(&b, "\"config\": {\"num_warps\": %d, \"num_ctas\": %d}, \"args\": {%s}}",
                  l->num_warps, l->num_ctas, l->args.data);
    pr_launch_doc *doc = pr_launch_doc_parse(l->child.arena, b.data, b.n, "launch", "", false, err);
    if (!doc) return err->kind;
    pr_guard made;
    pr_guard_set(l->child.arena, &made, end_doc, doc);
    pr_status s = pr_launch_doc_check(doc, 0, err);
    if (s != PR_OK) return pr_guard_end(&made), s;
    pr_guard_drop(&made);
    l->doc = doc;
    return PR_OK;
}

polyrace_launch *polyrace_launch_new(polyrace_context *c, const char *kernel, polyrace_error *err)
{
    PR_EXHAUSTED(c) return pr_context_exhausted(c, err), NULL;
    polyrace_launch *l = pr_child_new(c, sizeof *l, pr_launch_end);
    l->document = l;
    l->building = true;
    l->input = "launch";
    l->kernel = pr_arena_strndup(l->child.arena, kernel ? kernel : "", kernel ? strlen(kernel) : 0);
    l->num_warps = 4;
    l->num_ctas = 1;
    pr_buf_init(&l->args, l->child.arena);
    l->child.open = false;
    return l;
}

static polyrace_error_kind builder_open(polyrace_launch *l, polyrace_error *err)
{
    return l->building && !l->doc ? POLYRACE_OK
                                  : pr_usage(err, "this launch cannot be changed any more");
}

polyrace_error_kind polyrace_launch_set_grid(polyrace_launch *l, int64_t x, int64_t y, int64_t z,
                                             polyrace_error *err)
{
    if (builder_open(l, err) != POLYRACE_OK) return POLYRACE_USAGE;
    if (x < 1 || y < 1 || z < 1 || x > INT32_MAX || y > INT32_MAX || z > INT32_MAX)
        return pr_usage(err, "a grid extent is an integer from 1 to 2147483647");
    l->grid[0] = x;
    l->grid[1] = y;
    l->grid[2] = z;
    return POLYRACE_OK;
}

polyrace_error_kind polyrace_launch_set_config(polyrace_launch *l, int num_warps, int num_ctas,
                                               polyrace_error *err)
{
    if (builder_open(l, err) != POLYRACE_OK) return POLYRACE_USAGE;
    if (num_warps < 1 || num_ctas < 1)
        return pr_usage(err, "num_warps and num_ctas are at least 1");
    l->num_warps = num_warps;
    l->num_ctas = num_ctas;
    return POLYRACE_OK;
}

static void argument(polyrace_launch *l, const char *name)
{
    if (l->n_args++) pr_buf_puts(&l->args, ", ");
    pr_buf_quote(&l->args, pr_str_of(name), true);
    pr_buf_puts(&l->args, ": ");
}

/* An argument that memory did not suffice for is not half there. */
static polyrace_error_kind builder_undo(polyrace_launch *l, polyrace_error *err)
{
    l->args.n = l->n_before;
    l->args.data[l->args.n] = 0;
    l->n_args = l->args_before;
    return pr_context_exhausted(l->child.ctx, err);
}

#define BUILDER(l, err)                                                                            \
    if (builder_open(l, err) != POLYRACE_OK) return POLYRACE_USAGE;                                \
    l->n_before = l->args.n;                                                                       \
    l->args_before = l->n_args;                                                                    \
    PR_EXHAUSTED(l->child.ctx) return builder_undo(l, err)

polyrace_error_kind polyrace_launch_add_int(polyrace_launch *l, const char *name, int64_t value,
                                            polyrace_error *err)
{
    BUILDER(l, err);
    argument(l, name);
    pr_buf_i128(&l->args, value);
    return POLYRACE_OK;
}

polyrace_error_kind polyrace_launch_add_float(polyrace_launch *l, const char *name, double value,
                                              polyrace_error *err)
{
    BUILDER(l, err);
    argument(l, name);
    pr_buf_printf(&l->args, "\"%a\"",
                  value); /* floats are never modelled: the spelling is only for people */
    return POLYRACE_OK;
}

polyrace_error_kind polyrace_launch_add_symbolic(polyrace_launch *l, const char *name,
                                                 polyrace_error *err)
{
    BUILDER(l, err);
    argument(l, name);
    pr_buf_puts(&l->args, "null");
    return POLYRACE_OK;
}

static void integers(pr_buf *b, const char *name, const int64_t *v, size_t n)
{
    pr_buf_printf(b, ", \"%s\": [", name);
    for (size_t k = 0; k < n; k++) pr_buf_printf(b, "%s%lld", k ? ", " : "", (long long)v[k]);
    pr_buf_putc(b, ']');
}

static void base64(pr_buf *b, const unsigned char *p, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t k = 0; k < n; k += 3) {
        unsigned v = (unsigned)p[k] << 16 | (k + 1 < n ? (unsigned)p[k + 1] << 8 : 0) |
                     (k + 2 < n ? p[k + 2] : 0);
        pr_buf_putc(b, digits[v >> 18]);
        pr_buf_putc(b, digits[v >> 12 & 63]);
        if (k + 1 < n) pr_buf_putc(b, digits[v >> 6 & 63]);
        if (k + 2 < n) pr_buf_putc(b, digits[v & 63]);
    }
}

polyrace_error_kind polyrace_launch_add_tensor(polyrace_launch *l, const char *name,
                                               const polyrace_tensor *t, polyrace_error *err)
{
    BUILDER(l, err);
    if (!t->dtype || (t->rank && !t->shape)) return pr_usage(err, "a tensor needs dtype and shape");
    pr_buf *b = &l->args;
    argument(l, name);
    pr_buf_puts(b, "{\"tensor\": {\"dtype\": ");
    pr_buf_quote(b, pr_str_of(t->dtype), true);
    pr_buf_printf(b, ", \"ptr\": \"%llu\"", (unsigned long long)t->ptr);
    integers(b, "shape", t->shape, t->rank);
    if (t->strides) integers(b, "strides", t->strides, t->rank);
    if (t->storage_ptr || t->storage_bytes)
        pr_buf_printf(b, ", \"storage\": {\"ptr\": \"%llu\", \"bytes\": \"%llu\"}",
                      (unsigned long long)t->storage_ptr, (unsigned long long)t->storage_bytes);
    if (t->values) {
        pr_buf_puts(b, ", \"values_b64\": \"");
        base64(b, t->values, t->values_bytes);
        pr_buf_putc(b, '"');
    }
    pr_buf_puts(b, "}}");
    return POLYRACE_OK;
}
