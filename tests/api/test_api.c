/* The public library as a stranger uses it: handles, errors, options, builder, accessors,
 * lifetimes. */
#undef NDEBUG
#define _POSIX_C_SOURCE 200809L
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "polyrace/polyrace.h"

/* One store of 16 lanes a program; program p starts at p * %s. */
static const char *kernel(int stride)
{
    static char text[2048];
    snprintf(text, sizeof text,
             "module {\n"
             "  tt.func public @k(%%p: !tt.ptr<f32>, %%n: i32) {\n"
             "    %%pid = tt.get_program_id x : i32\n"
             "    %%c = arith.constant %d : i32\n"
             "    %%base = arith.muli %%pid, %%c : i32\n"
             "    %%lane = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>\n"
             "    %%wide = tt.splat %%base : i32 -> tensor<16xi32>\n"
             "    %%i = arith.addi %%wide, %%lane : tensor<16xi32>\n"
             "    %%q = tt.splat %%p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>\n"
             "    %%a = tt.addptr %%q, %%i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>\n"
             "    %%v = arith.constant dense<0.0> : tensor<16xf32>\n"
             "    tt.store %%a, %%v : tensor<16x!tt.ptr<f32>>\n"
             "    tt.return\n"
             "  }\n"
             "}\n",
             stride);
    return text;
}

typedef struct text {
    char *data;
    size_t n;
} text;

static void collect(void *user, const char *s, size_t n)
{
    text *t = user;
    t->data = realloc(t->data, t->n + n + 1);
    memcpy(t->data + t->n, s, n);
    t->data[t->n += n] = 0;
}

static polyrace_module *parse(polyrace_context *c, int stride)
{
    const char *k = kernel(stride);
    polyrace_error e = { 0 };
    polyrace_module *m = polyrace_module_parse(c, k, strlen(k), "k.ttir", &e);
    assert(m && e.kind == POLYRACE_OK);
    return m;
}

static polyrace_launch *build(polyrace_context *c)
{
    polyrace_error e = { 0 };
    int64_t shape[1] = { 64 };
    polyrace_tensor t = { .dtype = "float32", .ptr = 4096, .rank = 1, .shape = shape };
    polyrace_launch *l = polyrace_launch_new(c, "k", &e);
    assert(l && polyrace_launch_set_grid(l, 4, 1, 1, &e) == POLYRACE_OK);
    assert(polyrace_launch_set_config(l, 8, 1, &e) == POLYRACE_OK);
    assert(polyrace_launch_add_tensor(l, "p", &t, &e) == POLYRACE_OK);
    assert(polyrace_launch_add_int(l, "n", 64, &e) == POLYRACE_OK);
    assert(polyrace_launch_count(l) == 1);
    return l;
}

static void test_verdicts(void)
{
    polyrace_context *c = polyrace_context_new();
    polyrace_error e = { 0 };
    polyrace_module *m = parse(c, 8);
    polyrace_launch *l = build(c);
    polyrace_verdict *v = polyrace_check(c, m, l, NULL, &e);
    assert(v && polyrace_verdict_status(v) == POLYRACE_STATUS_RACES);
    assert(polyrace_launch_add_int(l, "x", 1, NULL) == POLYRACE_USAGE);
    polyrace_module_free(m); /* the verdict outlives its inputs */
    polyrace_launch_free(l);
    polyrace_race r;
    assert(polyrace_verdict_race_count(v) >= 1 && polyrace_verdict_race(v, 0, &r) == POLYRACE_OK);
    assert(r.type == POLYRACE_WAW && !r.same_program && r.confirmed);
    assert(strcmp(r.first.tensor, "p") == 0 && strcmp(r.first.op, "tt.store") == 0 &&
           r.first.writes);
    assert(r.first.byte == r.second.byte && r.first.byte == 4 * r.first.element &&
           r.first.rank == 1);
    assert(polyrace_verdict_race(v, 99, &r) == POLYRACE_USAGE);
    assert(polyrace_verdict_rung(v) == NULL && polyrace_verdict_scope(v) == NULL);
    assert(strcmp(polyrace_verdict_kernel(v), "k") == 0 && polyrace_verdict_config_count(v) == 1);
    text t = { 0 };
    polyrace_sink sink = { collect, &t };
    assert(polyrace_verdict_write(v, POLYRACE_FORMAT_JSONL, &sink, &e) == POLYRACE_OK);
    assert(strchr(t.data, '\n') == t.data + t.n - 1 && strstr(t.data, "\"status\":\"races\""));
    free(t.data);
    polyrace_verdict_free(v);

    m = parse(c, 16);
    v = polyrace_check(c, m, NULL, NULL, &e);
    assert(v && polyrace_verdict_status(v) == POLYRACE_STATUS_OK);
    assert(strcmp(polyrace_verdict_rung(v), "T0") == 0 &&
           strcmp(polyrace_verdict_scope(v), "any-params-any-grid") == 0);
    assert(polyrace_verdict_qualifier_count(v) > 0 && polyrace_verdict_qualifier(v, 0));
    assert(polyrace_verdict_qualifier(v, 99) == NULL && polyrace_verdict_refusal_count(v) == 0);
    polyrace_context_free(c); /* frees everything that is left */
}

static void test_errors(void)
{
    polyrace_context *c = polyrace_context_new();
    polyrace_error e = { 0 };
    assert(!polyrace_module_parse(c, "module {\n  oops", 15, "bad.ttir", &e));
    assert(e.kind == POLYRACE_BAD_INPUT && e.line >= 1 && strcmp(e.file, "bad.ttir") == 0 &&
           e.message[0]);
    polyrace_error first = e;
    assert(!polyrace_module_parse(c, "", 0, "other", &e) || e.kind == first.kind);
    assert(strcmp(e.message, first.message) == 0); /* the first error stays */
    memset(&e, 0, sizeof e);
    const char *json = "{\"version\": 1,\n \"grid\": [1, \"x\"], \"args\": {}}";
    assert(!polyrace_launch_parse_json(c, json, strlen(json), "", &e));
    assert(e.kind == POLYRACE_BAD_INPUT && e.line == 2 && strstr(e.message, "grid[1]"));
    memset(&e, 0, sizeof e);
    assert(!polyrace_check(c, NULL, NULL, NULL, &e) && e.kind == POLYRACE_USAGE);
    assert(!polyrace_check(c, NULL, NULL, NULL, NULL)); /* nobody asks why */
    memset(&e, 0, sizeof e);
    polyrace_module *m = parse(c, 16);
    polyrace_launch *l = polyrace_launch_new(c, "k", &e);
    assert(polyrace_launch_set_grid(l, 0, 1, 1, NULL) == POLYRACE_USAGE);
    assert(!polyrace_check(c, m, l, NULL, &e) && e.kind == POLYRACE_BAD_INPUT &&
           strstr(e.message, "args.p"));
    memset(&e, 0, sizeof e);
    const char *two =
        "{\"version\": 1, \"launches\": [{\"ttir_text\": \"\", \"grid\": [1], \"args\": {}}, 5]}";
    polyrace_launch *many = polyrace_launch_parse_json(c, two, strlen(two), NULL, &e);
    assert(many && polyrace_launch_count(many) == 2);
    assert(!polyrace_launch_item(many, 1, &e) && strstr(e.message, "launches[1]"));
    memset(&e, 0, sizeof e);
    assert(!polyrace_check(c, m, many, NULL, &e) && e.kind == POLYRACE_USAGE);
    polyrace_context_free(c);
    polyrace_context_free(NULL);
    polyrace_module_free(NULL);
    polyrace_launch_free(NULL);
    polyrace_verdict_free(NULL);
}

static void test_options(void)
{
    polyrace_options o;
    polyrace_error e = { 0 };
    polyrace_options_init(&o);
    assert(o.struct_size == sizeof o && o.max_ops == 20000 && o.z3_rlimit == 500000 &&
           o.t1_timeout_ms == 120000);
    assert(polyrace_options_set(&o, "engine", "isl", &e) == POLYRACE_OK &&
           o.engine == POLYRACE_ENGINE_ISL);
    assert(polyrace_options_set(&o, "budget", "none", &e) == POLYRACE_OK && o.budget_ms == 0);
    assert(polyrace_options_set(&o, "rung", "t1-launch", &e) == POLYRACE_OK &&
           o.rung == POLYRACE_RUNG_T1_LAUNCH);
    assert(polyrace_options_set(&o, "engine", "cvc", &e) == POLYRACE_USAGE &&
           strstr(e.message, "auto isl z3"));
    assert(polyrace_options_set(&o, "format", "json", NULL) == POLYRACE_USAGE);
    assert(polyrace_options_set(&o, "max-ops", "12x", NULL) == POLYRACE_USAGE &&
           o.max_ops == 20000);
    polyrace_context *c = polyrace_context_new();
    polyrace_module *m = parse(c, 16);
    polyrace_options old = o;
    old.struct_size =
        offsetof(polyrace_options, assume); /* a caller built against an older header */
    old.assume = (const char *const *)1;
    old.n_assume = 99;
    assert(polyrace_check(c, m, NULL, &old, NULL));
    old.struct_size = 0;
    memset(&e, 0, sizeof e);
    assert(!polyrace_check(c, m, NULL, &old, &e) && e.kind == POLYRACE_USAGE);
    const char *premise[] = { "n >= 1" };
    polyrace_options_init(&o);
    o.assume = premise;
    o.n_assume = 1;
    assert(polyrace_check(c, m, NULL, &o, NULL));
    premise[0] = "n >=";
    memset(&e, 0, sizeof e);
    assert(!polyrace_check(c, m, NULL, &o, &e) && e.kind == POLYRACE_USAGE);
    polyrace_context_free(c);
}

static void test_stages(void)
{
    polyrace_context *c = polyrace_context_new();
    polyrace_error e = { 0 };
    polyrace_module *m = parse(c, 8);
    polyrace_launch *l = build(c);
    text again = { 0 };
    for (int stage = POLYRACE_STAGE_PARSE; stage <= POLYRACE_STAGE_VERDICT; stage++) {
        text one = { 0 }, two = { 0 };
        polyrace_sink a = { collect, &one }, b = { collect, &two };
        if (stage == POLYRACE_STAGE_SMT2 && !polyrace_engine_version("z3")) continue;
        assert(polyrace_dump(c, m, l, NULL, (polyrace_stage)stage, &a, &e) == POLYRACE_OK);
        assert(polyrace_dump(c, m, l, NULL, (polyrace_stage)stage, &b, &e) == POLYRACE_OK);
        assert(one.n > 0 && one.n == two.n && memcmp(one.data, two.data, one.n) == 0);
        if (stage == POLYRACE_STAGE_PARSE) again = one;
        else free(one.data);
        free(two.data);
    }
    polyrace_module *copy =
        polyrace_module_parse(c, again.data, again.n, "copy", &e); /* parse is a fixed point */
    text twice = { 0 };
    polyrace_sink sink = { collect, &twice };
    assert(copy &&
           polyrace_dump(c, copy, NULL, NULL, POLYRACE_STAGE_PARSE, &sink, &e) == POLYRACE_OK);
    assert(twice.n == again.n && memcmp(twice.data, again.data, twice.n) == 0);
    free(twice.data);
    free(again.data);
    text out = { 0 };
    polyrace_replay_result r;
    sink.user = &out;
    assert(polyrace_replay(c, m, l, NULL, 0, &sink, &r, &e) == POLYRACE_OK);
    assert(r.programs == 4 && r.overlaps == 1 && !r.incomplete);
    assert(polyrace_replay(c, m, l, NULL, POLYRACE_REPLAY_FOOTPRINTS, &sink, &r, &e) ==
           POLYRACE_OK);
    assert(r.operations == 1 && r.mismatches == 0);
    assert(polyrace_replay(c, m, NULL, NULL, 0, &sink, &r, NULL) == POLYRACE_USAGE);
    free(out.data);
    polyrace_context_free(c);
}

/* An equal question is answered from memory: then the file that the first answer left is not written again. */
static void test_memory(void)
{
    polyrace_context *c = polyrace_context_new();
    polyrace_error e = { 0 };
    polyrace_options o;
    char dir[] = "polyrace-api-XXXXXX", command[128];
    assert(mkdtemp(dir));
    for (int stride = 8; stride <= 16; stride += 8)
        for (int no_cache = 0; no_cache < 2; no_cache++) {
            text fresh = { 0 }, again = { 0 };
            polyrace_sink a = { collect, &fresh }, b = { collect, &again };
            polyrace_launch *l = build(c);
            polyrace_options_init(&o);
            o.no_cache = no_cache;
            assert(polyrace_options_set(&o, "cache", dir, &e) == POLYRACE_OK);
            polyrace_verdict *first = polyrace_check(c, parse(c, stride), l, &o, &e);
            assert(first && polyrace_verdict_write(first, POLYRACE_FORMAT_TEXT, &a, &e) == POLYRACE_OK);
            snprintf(command, sizeof command, "ls %s | grep -q answer", dir);
            assert((system(command) == 0) == !no_cache);
            snprintf(command, sizeof command, "rm -f %s/*", dir);
            assert(system(command) == 0);
            polyrace_verdict *second = polyrace_check(c, parse(c, stride), l, &o, &e);
            assert(second && polyrace_verdict_write(second, POLYRACE_FORMAT_TEXT, &b, &e) == POLYRACE_OK);
            snprintf(command, sizeof command, "ls %s | grep -q answer", dir);
            assert(system(command) != 0);
            assert(fresh.n == again.n && memcmp(fresh.data, again.data, fresh.n) == 0);
            assert(polyrace_verdict_race_count(first) == polyrace_verdict_race_count(second));
            polyrace_module *m = parse(c, stride);
            polyrace_interrupt(c); /* an answer from memory does not swallow it */
            assert(!polyrace_check(c, m, l, &o, &e) && e.kind == POLYRACE_INTERRUPTED);
            memset(&e, 0, sizeof e);
            free(fresh.data);
            free(again.data);
        }
    snprintf(command, sizeof command, "rmdir %s", dir);
    assert(system(command) == 0);
    polyrace_context_free(c);
}

static void test_interrupt(void)
{
    polyrace_context *c = polyrace_context_new();
    polyrace_error e = { 0 };
    polyrace_module *m = parse(c, 8);
    polyrace_interrupt(c);
    assert(!polyrace_check(c, m, NULL, NULL, &e) && e.kind == POLYRACE_INTERRUPTED);
    memset(&e, 0, sizeof e);
    assert(polyrace_check(c, m, NULL, NULL, &e)); /* the context is still usable */
    text t = { 0 };                               /* so does reading a text, which is longer than a chunk of memory */
    static const char head[] = "module {\ntt.func public @k(%p: !tt.ptr<i32>) {\n%a0 = arith.constant 0 : i32\n";
    collect(&t, head, sizeof head - 1);
    for (int i = 1; i < 2000; i++) {
        char line[80];
        snprintf(line, sizeof line, "%%a%d = arith.addi %%a%d, %%a0 : i32\n", i, i - 1);
        collect(&t, line, strlen(line));
    }
    collect(&t, "tt.return\n}\n}\n", strlen("tt.return\n}\n}\n"));
    polyrace_interrupt(c);
    assert(!polyrace_module_parse(c, t.data, t.n, "long", &e) && e.kind == POLYRACE_INTERRUPTED);
    memset(&e, 0, sizeof e);
    polyrace_module *again = polyrace_module_parse(c, t.data, t.n, "long", &e);
    assert(again);
    polyrace_interrupt(c);
    polyrace_replay_result r;
    polyrace_launch *l = build(c);
    polyrace_sink sink = { collect, &t };
    assert(polyrace_replay(c, m, l, NULL, 0, &sink, &r, &e) == POLYRACE_INTERRUPTED);
    memset(&e, 0, sizeof e);
    assert(polyrace_replay(c, m, l, NULL, 0, &sink, &r, &e) == POLYRACE_OK);
    free(t.data);
    polyrace_context_free(c);
}

int main(void)
{
    test_verdicts();
    test_errors();
    test_options();
    test_stages();
    test_memory();
    test_interrupt();
    assert(polyrace_refusal_slug(0) && !polyrace_refusal_slug(9999));
    assert(polyrace_refusal_meaning("multi-cta") && !polyrace_refusal_meaning("no-such-kind"));
    assert(polyrace_version()[0] && polyrace_engine_version("isl") &&
           !polyrace_engine_version("none"));
    puts("ok");
    return 0;
}
