/* polyrace dump --stage=STAGE INPUT */
#include "cli.h"

static int dump_input(pr_cli *c, polyrace_context *ctx, FILE *out)
{
    pr_input in;
    int status = PR_EXIT_OK;
    polyrace_sink sink = { pr_cli_write, out };
    polyrace_error bad = { 0 };
    if (!pr_input_open(&in, ctx, c, c->inputs[0])) {
        pr_input_free(&in);
        return PR_EXIT_BAD;
    }
    if (!pr_input_module(&in, ctx, c, &bad)) {
        pr_cli_error(stderr, &bad, in.name);
        pr_input_free(&in);
        return pr_cli_failure(&bad);
    }
    for (size_t i = 0; i < in.count && status < PR_EXIT_INTERRUPT; i++) {
        polyrace_error e = { 0 };
        polyrace_launch *l = in.launch ? polyrace_launch_item(in.launch, i, &e) : NULL;
        polyrace_stage stage = (polyrace_stage)c->value[PR_OPT_STAGE];
        if (in.count > 1)
            fprintf(out, "%s launch %zu\n",
                    stage == POLYRACE_STAGE_SMT2    ? ";"
                    : stage == POLYRACE_STAGE_PARSE ? "//"
                                                    : "#",
                    i);
        if ((in.launch && !l) ||
            polyrace_dump(ctx, in.module, l, &c->options, stage, &sink, &e) != POLYRACE_OK) {
            pr_cli_error(stderr, &e, in.name);
            status = pr_cli_worse(status, pr_cli_failure(&e));
            if (e.kind == POLYRACE_INTERRUPTED) status = pr_cli_failure(&e);
        }
    }
    pr_input_free(&in);
    return status;
}

int pr_cmd_dump(int argc, char **argv)
{
    pr_cli c;
    if (!pr_cli_parse(&c, "dump", PR_OPT_DUMP, argc, argv)) return PR_EXIT_BAD;
    int status = PR_EXIT_BAD;
    FILE *out = NULL;
    polyrace_context *ctx = NULL;
    if (!c.given[PR_OPT_STAGE]) {
        pr_cli_usage("dump", "which --stage? (parse, access, records, query, isl, smt2, verdict, consan, events, protocol)");
    } else if (c.n_inputs != 1) {
        pr_cli_usage("dump", "expected one input, got %d", c.n_inputs);
    } else if ((out = pr_cli_output(&c))) {
        ctx = pr_cli_context();
        pr_cli_watch(ctx);
        status = dump_input(&c, ctx, out);
        pr_cli_watch(NULL);
    }
    polyrace_context_free(ctx);
    pr_cli_free(&c);
    return !out || pr_cli_close(out) ? status : PR_EXIT_BAD;
}
