/* polyrace consan: check, of TTGIR texts; with --emulate, what ConSan's machine does at one launch. */
#include <string.h>
#include "cli.h"

static int emulate_input(pr_cli *c, polyrace_context *ctx, FILE *out)
{
    pr_input in;
    int status = PR_EXIT_BAD;
    polyrace_error bad = { 0 };
    polyrace_sink sink = { pr_cli_write, out };
    polyrace_consan_options o = { .epoch = c->value[PR_OPT_EMULATE] == 2 ? POLYRACE_CONSAN_OLDER : POLYRACE_CONSAN_CURRENT,
                                  .schedules = c->value[PR_OPT_SCHEDULES], .seed = c->value[PR_OPT_SEED],
                                  .max_trips = c->value[PR_OPT_MAX_TRIPS],
                                  .format = c->value[PR_OPT_FORMAT] ? POLYRACE_FORMAT_JSON : POLYRACE_FORMAT_TEXT };
    if (!pr_input_open(&in, ctx, c, c->inputs[0])) {
        /* reported */
    } else if (!pr_input_module(&in, ctx, c, &bad)) {
        pr_cli_error(stderr, &bad, in.name);
        status = pr_cli_failure(&bad);
    } else {
        status = PR_EXIT_OK;
        for (size_t i = 0; i < in.count && status < PR_EXIT_INTERRUPT; i++) {
            polyrace_error e = { 0 };
            polyrace_consan_result r = { 0 };
            polyrace_launch *l = in.launch ? polyrace_launch_item(in.launch, i, &e) : NULL;
            int one = PR_EXIT_OK;
            if ((in.launch && !l) || polyrace_consan(ctx, in.module, l, &c->options, &o, &sink, &r, &e) != POLYRACE_OK) {
                pr_cli_error(stderr, &e, in.name);
                one = pr_cli_failure(&e);
            } else {
                one = r.reports || r.hangs ? PR_EXIT_RACE : r.refused ? PR_EXIT_UNDECIDED : PR_EXIT_OK;
            }
            status = one >= PR_EXIT_INTERRUPT ? one : pr_cli_worse(status, one);
        }
    }
    pr_input_free(&in);
    return status;
}

int pr_cmd_consan(int argc, char **argv)
{
    pr_cli c;
    bool emulates = false;
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        bool named = strncmp(argv[i], "--emulate", 9) == 0 && (!argv[i][9] || argv[i][9] == '=');
        emulates = emulates || (named && strcmp(argv[i], "--emulate=off") != 0);
    }
    if (!emulates) return pr_cmd_check(argc, argv);
    if (!pr_cli_parse(&c, "consan", PR_OPT_CONSAN, argc, argv)) return PR_EXIT_BAD;
    int status = PR_EXIT_BAD;
    FILE *out = NULL;
    polyrace_context *ctx = NULL;
    if (c.value[PR_OPT_FORMAT] > 1) {
        pr_cli_usage("consan", "--format takes text or json here");
    } else if (c.n_inputs != 1) {
        pr_cli_usage("consan", "expected one input, got %d", c.n_inputs);
    } else if ((out = pr_cli_output(&c))) {
        ctx = pr_cli_context();
        pr_cli_watch(ctx);
        status = emulate_input(&c, ctx, out);
        pr_cli_watch(NULL);
    }
    polyrace_context_free(ctx);
    pr_cli_free(&c);
    return !out || pr_cli_close(out) ? status : PR_EXIT_BAD;
}
