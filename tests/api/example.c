/* The usage example of the public header, compiled and run. tests/tools/check_example.py compares the two. */
#include <stdio.h>
#include <string.h>
#include "polyrace/polyrace.h"

static void write_to(void *user, const char *text, size_t length) { fwrite(text, 1, length, (FILE *)user); }

static int run(const char *ttir, const char *json)
{
    /* begin example */
    polyrace_error err = { POLYRACE_OK, 0, 0, "", "" };
    polyrace_context *c = polyrace_context_new();
    polyrace_module *m = polyrace_module_parse(c, ttir, strlen(ttir), "add.ttir", &err);
    polyrace_launch *l = m ? polyrace_launch_parse_json(c, json, strlen(json), "", &err) : NULL;
    polyrace_options o;
    polyrace_options_init(&o);
    polyrace_verdict *v = l ? polyrace_check(c, m, l, &o, &err) : NULL;
    if (v) {
        polyrace_sink out = { write_to, stdout };
        polyrace_verdict_write(v, POLYRACE_FORMAT_TEXT, &out, &err);
    } else {
        fprintf(stderr, "%s:%d:%d: %s\n", err.file, err.line, err.column, err.message);
    }
    int status = v ? (int)polyrace_verdict_status(v) : -1;
    polyrace_context_free(c);
    return status == POLYRACE_STATUS_RACES;
    /* end example */
}

static const char add[] =
    "module {\n"
    "  tt.func public @add(%p: !tt.ptr<f32>, %n: i32) {\n"
    "    %pid = tt.get_program_id x : i32\n"
    "    %c = arith.constant 8 : i32\n"
    "    %base = arith.muli %pid, %c : i32\n"
    "    %lane = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>\n"
    "    %wide = tt.splat %base : i32 -> tensor<16xi32>\n"
    "    %i = arith.addi %wide, %lane : tensor<16xi32>\n"
    "    %q = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>\n"
    "    %a = tt.addptr %q, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>\n"
    "    %v = arith.constant dense<0.0> : tensor<16xf32>\n"
    "    tt.store %a, %v : tensor<16x!tt.ptr<f32>>\n"
    "    tt.return\n"
    "  }\n"
    "}\n";

int main(void)
{
    const char *launch = "{\"version\": 1, \"grid\": [4], \"args\": {\"p\": {\"tensor\": {\"dtype\": \"float32\","
                         " \"ptr\": 4096, \"shape\": [64]}}, \"n\": 64}}";
    return run(add, launch) ? 0 : 1;    /* the programs overlap: a race is expected */
}
