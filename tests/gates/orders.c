/* Which launches does the execution of all programs order whole (front/replay_gates.h)? One line a launch file: "NAME ordered", or
 * "NAME open WHY". Nothing else of the analysis runs: what it would settle before is asked here too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "front/launch.h"
#include "front/replay.h"

static char *contents(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    size_t cap = 1 << 20;
    char *text = malloc(cap + 1);
    *n = text ? fread(text, 1, cap, f) : 0;
    if (text) text[*n] = 0;
    fclose(f);
    return text;
}

static pr_interp_arg argument(const pr_arg *a, pr_replay_storage *storage)
{
    pr_interp_arg x = { 0 };
    if (a->kind == PR_ARG_INT) {
        x.kind = PR_INTERP_ARG_INT;
        x.value = a->value;
    } else if (a->kind == PR_ARG_TENSOR) {
        x.kind = PR_INTERP_ARG_POINTER;
        x.value = a->tensor->ptr;
        x.elem_bytes = a->tensor->elem_bytes;
        x.values = a->tensor->has_values ? a->tensor->values : NULL;
        x.n_values = a->tensor->has_values ? a->tensor->numel : 0;
        *storage = (pr_replay_storage){ true, (uint64_t)a->tensor->storage_lo, (uint64_t)a->tensor->storage_hi };
    }
    return x;
}

static const char *answer(pr_arena *arena, const char *json_path, pr_error *err)
{
    char ttir_path[4096];
    size_t n_json = 0, n_text = 0;
    int stem = (int)strlen(json_path) - 5;
    snprintf(ttir_path, sizeof ttir_path, "%.*s.ttir", stem > 0 ? stem : 0, json_path);
    char *json = contents(json_path, &n_json), *text = contents(ttir_path, &n_text);
    const char *why = "cannot be read";
    pr_launch launch = { 0 };
    pr_refusal_vec refusals = { 0 };
    pr_launch_limits limits;
    pr_ir *ir = json && text ? pr_ir_parse(arena, text, n_text, ttir_path, NULL, err) : NULL;
    const pr_op *func = ir ? pr_ir_kernel(ir, pr_str_of(""), &why) : NULL;
    pr_launch_limits_default(&limits);
    pr_launch_doc *d = func ? pr_launch_doc_parse(arena, json, n_json, json_path, "", false, err) : NULL;
    pr_status st = !d ? PR_ERR_INPUT : pr_launch_doc_check(d, 0, err);
    if (st == PR_OK) st = pr_launch_bind(arena, d, 0, 0, ir, func, &limits, NULL, &launch, &refusals, err);
    if (st == PR_OK) {
        pr_interp_arg *args = PR_NEW_N(arena, pr_interp_arg, launch.n_args + 1);
        pr_replay_storage *storage = PR_NEW_N(arena, pr_replay_storage, launch.n_args + 1);
        for (int i = 0; i < launch.n_args; i++) args[i] = argument(&launch.args[i], &storage[i]);
        pr_interp_setup setup = { .ir = ir, .func = func, .args = args, .n_args = launch.n_args, .max_work = 1 << 26 };
        memcpy(setup.grid, launch.grid, sizeof setup.grid);
        pr_replay_options o = { .storage = storage, .num_warps = launch.num_warps, .complete_only = true, .waits = true, .known_text = true };
        pr_replay_result r = pr_replay_run(arena, &setup, &o);
        why = r.refused ? r.refused : r.n_races ? "a race" : r.n_possible ? "a possible race" : r.n_inconclusive ? r.inconclusive[0].why :
              r.n_ub ? r.ub[0].why : r.loose >> 63 ? "an unknown tensor" : NULL;
    }
    if (d) pr_launch_doc_free(d);
    free(json);
    free(text);
    return why;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        pr_arena *arena = pr_arena_new(0, NULL);
        pr_error err = { 0 };
        const char *why = answer(arena, argv[i], &err), *name = strrchr(argv[i], '/');
        int n = (int)strlen(name ? name + 1 : argv[i]) - 5;
        printf("%.*s %s%s\n", n > 0 ? n : 0, name ? name + 1 : argv[i], why ? "open " : "ordered", why ? why : "");
        pr_arena_free(arena);
    }
    return 0;
}
