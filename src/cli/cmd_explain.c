/* polyrace explain INPUT */
#include "cli.h"

/* Several launches in one JSON document: a list, as `check` writes it, also when only one of them could be read. */
typedef struct list { FILE *out; bool many, fresh; int n; } list;

static void write_entry(void *user, const char *text, size_t length)
{
    list *l = user;
    if (l->many && l->fresh && length) {
        fputs(l->n++ ? ",\n" : "{\"version\": 1, \"verdicts\": [\n", l->out);
        l->fresh = false;
    }
    fwrite(text, 1, length, l->out);
}

static int explain_input(pr_cli *c, polyrace_context *ctx, FILE *out)
{
    pr_input in;
    int status = PR_EXIT_OK;
    list entries = { .out = out };
    polyrace_sink sink = { write_entry, &entries };
    polyrace_error bad = { 0 };
    int format = c->value[PR_OPT_FORMAT] ? POLYRACE_FORMAT_JSON : POLYRACE_FORMAT_TEXT;
    if (!pr_input_open(&in, ctx, c, c->inputs[0])) {
        pr_input_free(&in);
        return PR_EXIT_BAD;
    }
    if (!pr_input_module(&in, ctx, c, &bad)) {
        pr_cli_error(stderr, &bad, in.name);
        pr_input_free(&in);
        return pr_cli_failure(&bad);
    }
    entries.many = in.count > 1 && format == POLYRACE_FORMAT_JSON;
    for (size_t i = 0; i < in.count && status < PR_EXIT_INTERRUPT; i++) {
        entries.fresh = true;
        polyrace_error e = { 0 };
        polyrace_launch *l = in.launch ? polyrace_launch_item(in.launch, i, &e) : NULL;
        polyrace_status verdict = POLYRACE_STATUS_UNSUPPORTED;
        if ((in.launch && !l) || polyrace_explain(ctx, in.module, l, &c->options, format, &sink, &verdict,
                                                  &e) != POLYRACE_OK) {
            pr_cli_error(stderr, &e, in.name);
            status = pr_cli_worse(status, pr_cli_failure(&e));
            if (e.kind == POLYRACE_INTERRUPTED) status = pr_cli_failure(&e);
        } else {
            status = pr_cli_worse(status, verdict == POLYRACE_STATUS_OK      ? PR_EXIT_OK
                                          : verdict == POLYRACE_STATUS_RACES ? PR_EXIT_RACE
                                                                             : PR_EXIT_UNDECIDED);
        }
    }
    if (entries.many) fputs(entries.n ? "]}\n" : "{\"version\": 1, \"verdicts\": []}\n", out);
    pr_input_free(&in);
    return status;
}

int pr_cmd_explain(int argc, char **argv)
{
    pr_cli c;
    if (!pr_cli_parse(&c, "explain", PR_OPT_EXPLAIN, argc, argv)) return PR_EXIT_BAD;
    int status = PR_EXIT_BAD;
    FILE *out = NULL;
    polyrace_context *ctx = NULL;
    enum { SARIF = 3, HTML = 4 };
    if (c.value[PR_OPT_FORMAT] == POLYRACE_FORMAT_JSONL || c.value[PR_OPT_FORMAT] == SARIF) {
        pr_cli_usage("explain", "--format takes text, json or html here");
    } else if (c.n_inputs == 1 && c.value[PR_OPT_FORMAT] == HTML) {
        status = pr_cli_report("html", c.text[PR_OPT_OUTPUT], "explain", argc, argv);
    } else if (c.n_inputs != 1) {
        pr_cli_usage("explain", "expected one input, got %d", c.n_inputs);
    } else if ((out = pr_cli_output(&c))) {
        ctx = pr_cli_context();
        pr_cli_watch(ctx);
        status = explain_input(&c, ctx, out);
        pr_cli_watch(NULL);
    }
    polyrace_context_free(ctx);
    pr_cli_free(&c);
    return !out || pr_cli_close(out) ? status : PR_EXIT_BAD;
}
