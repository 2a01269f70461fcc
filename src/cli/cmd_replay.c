/* polyrace replay INPUT */
#include "cli.h"

static int replay_launch(pr_cli *c, polyrace_context *ctx, pr_input *in, size_t i, FILE *out)
{
    polyrace_error e = { 0 };
    polyrace_replay_result r = { 0 };
    polyrace_sink sink = { pr_cli_write, out };
    polyrace_launch *l = polyrace_launch_item(in->launch, i, &e);
    unsigned flags = c->value[PR_OPT_FOOTPRINTS] ? POLYRACE_REPLAY_FOOTPRINTS : 0;
    if (!l ||
        polyrace_replay(ctx, in->module, l, &c->options, flags, &sink, &r, &e) != POLYRACE_OK) {
        pr_cli_error(stderr, &e, in->name);
        return pr_cli_failure(&e);
    }
    return r.overlaps     ? PR_EXIT_RACE
           : r.mismatches ? PR_EXIT_INTERNAL
           : r.incomplete ? PR_EXIT_UNDECIDED
                          : PR_EXIT_OK;
}

static int replay_input(pr_cli *c, polyrace_context *ctx, FILE *out)
{
    pr_input in;
    int status = PR_EXIT_BAD;
    polyrace_error bad = { 0 };
    if (!pr_input_open(&in, ctx, c, c->inputs[0])) {
        /* reported */
    } else if (!pr_input_module(&in, ctx, c, &bad)) {
        pr_cli_error(stderr, &bad, in.name);
        status = pr_cli_failure(&bad);
    } else if (!in.launch) {
        pr_cli_usage("replay", "%s: a launch is needed (--launch FILE)", in.name);
    } else {
        status = PR_EXIT_OK;
        for (size_t i = 0; i < in.count && status < PR_EXIT_INTERRUPT; i++) {
            int one = replay_launch(c, ctx, &in, i, out);
            status = one >= PR_EXIT_INTERRUPT ? one : pr_cli_worse(status, one);
        }
    }
    pr_input_free(&in);
    return status;
}

int pr_cmd_replay(int argc, char **argv)
{
    pr_cli c;
    if (!pr_cli_parse(&c, "replay", PR_OPT_REPLAY, argc, argv)) return PR_EXIT_BAD;
    int status = PR_EXIT_BAD;
    FILE *out = NULL;
    polyrace_context *ctx = NULL;
    if (c.n_inputs != 1) pr_cli_usage("replay", "expected one input, got %d", c.n_inputs);
    else if ((out = pr_cli_output(&c))) {
        ctx = pr_cli_context();
        pr_cli_watch(ctx);
        status = replay_input(&c, ctx, out);
        pr_cli_watch(NULL);
    }
    polyrace_context_free(ctx);
    pr_cli_free(&c);
    return !out || pr_cli_close(out) ? status : PR_EXIT_BAD;
}
