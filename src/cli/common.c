/* What the commands share: options, inputs, messages, output, signals. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
#include "cli.h"

volatile sig_atomic_t pr_cli_signal;
static polyrace_context *watched;

/* The library ends within a fraction of a second; what it cannot leave (a text being read by another library) is ended here. */
static void on_alarm(int number)
{
    static const char text[] = "polyrace: not analysed: interrupted\n";
    (void)number;
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(PR_EXIT_INTERNAL);
    _exit(pr_cli_signal == SIGTERM ? PR_EXIT_TERMINATED : PR_EXIT_INTERRUPT);
}

/* The first signal ends the work and lets the verdicts be written; where nobody takes them, a second one ends that too. */
static void on_signal(int number)
{
    bool again = pr_cli_signal != 0;
    pr_cli_signal = number;
    if (!watched && again) _exit(number == SIGTERM ? PR_EXIT_TERMINATED : PR_EXIT_INTERRUPT);
    if (!watched) return;
    polyrace_interrupt(watched);
    struct itimerval soon = { .it_value = { .tv_usec = PR_CLI_PATIENCE_MS * 1000 } };
    setitimer(ITIMER_REAL, &soon, NULL);
}

void pr_cli_watch(polyrace_context *ctx)
{
    struct sigaction a = { .sa_handler = on_signal, .sa_flags = SA_RESTART };     /* no verdict is lost in a pipe that is full */
    struct sigaction late = { .sa_handler = on_alarm };
    sigemptyset(&a.sa_mask);
    sigemptyset(&late.sa_mask);
    watched = ctx;
    if (!ctx) setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
    sigaction(SIGALRM, &late, NULL);
    sigaction(SIGINT, &a, NULL);
    sigaction(SIGTERM, &a, NULL);
    signal(SIGPIPE, SIG_IGN);
}

_Noreturn void pr_cli_no_memory(void)
{
    fflush(stdout);
    fputs("polyrace: out of memory\n", stderr);
    _exit(PR_EXIT_INTERNAL);
}

polyrace_context *pr_cli_context(void)
{
    polyrace_context *c = polyrace_context_new();
    if (!c) pr_cli_no_memory();
    return c;
}

int pr_cli_failure(const polyrace_error *e)
{
    if (e->kind == POLYRACE_INTERRUPTED)
        return pr_cli_signal == SIGTERM ? PR_EXIT_TERMINATED : PR_EXIT_INTERRUPT;
    return e->kind == POLYRACE_INTERNAL || e->kind == POLYRACE_MEMORY ? PR_EXIT_INTERNAL
                                                                      : PR_EXIT_BAD;
}

int pr_cli_worse(int a, int b)
{
    static const int order[] = { PR_EXIT_OK, PR_EXIT_UNDECIDED, PR_EXIT_INTERNAL, PR_EXIT_RACE,
                                 PR_EXIT_BAD };
    int at = 0, bt = 0;
    for (int k = 0; k < 5; k++) {
        if (order[k] == a) at = k;
        if (order[k] == b) bt = k;
    }
    return at > bt ? a : b;
}

void pr_cli_error(FILE *to, const polyrace_error *e, const char *fallback_file)
{
    const char *file = e->file[0] ? e->file : fallback_file ? fallback_file : "";
    fputs("polyrace: ", to);
    if (*file) fprintf(to, "%s:", file);
    if (*file && e->line) fprintf(to, "%d:%d:", e->line, e->column ? e->column : 1);
    fprintf(to, "%s%s%s\n", *file ? " " : "",
            e->kind == POLYRACE_INTERNAL ? "internal error (please report): " : "", e->message);
}

void pr_cli_usage(const char *command, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "polyrace %s: ", command);
    vfprintf(stderr, format, list);
    fprintf(stderr, " (try \"polyrace help %s\")\n", command);
    va_end(list);
}

/* ---- options -------------------------------------------------------------------------------- */
/* Options of the library go to the library, so that both accept the same values. */
static bool set_option(pr_cli *c, int id, const char *value)
{
    const pr_opt *o = pr_opt_get((pr_opt_id)id);
    polyrace_error e = { 0 };
    pr_error u = { 0 };
    c->given[id] = true;
    switch (o->kind) {
    case PR_OPT_KIND_UNBUILT:
        pr_cli_usage(c->command, "--%s is not available in this build", o->name);
        return false;
    case PR_OPT_KIND_TEXT:
        c->text[id] = value;
        if (*value && o->where & PR_OPT_LIBRARY) polyrace_options_set(&c->options, o->name, value, &e);
        if (*value) return true;
        pr_cli_usage(c->command, "--%s needs a value", o->name);
        return false;
    case PR_OPT_KIND_LIST:
        if (c->n_assume == sizeof c->assume / sizeof c->assume[0]) {
            pr_cli_usage(c->command, "too many --%s", o->name);
            return false;
        }
        c->assume[c->n_assume++] = value;
        return true;
    case PR_OPT_KIND_GRID:
        if (pr_opt_grid(value, c->grid, &u) == PR_OK) return true;
        break;
    default:
        if (pr_opt_value((pr_opt_id)id, value, &c->value[id], &u) != PR_OK) break;
        if (!(o->where & PR_OPT_LIBRARY)) return true;
        if (polyrace_options_set(&c->options, o->name, value ? value : "1", &e) == POLYRACE_OK)
            return true;
        pr_cli_usage(c->command, "%s", e.message);
        return false;
    }
    pr_cli_usage(c->command, "%s", u.message);
    return false;
}

static bool one_option(pr_cli *c, unsigned where, int argc, char **argv, int *i)
{
    const char *name = argv[*i] + 2, *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    int id = pr_opt_find(name, length);
    if (id < 0) {
        const char *near = pr_opt_near(name, length, where);
        pr_cli_usage(c->command, "unknown option --%.*s%s%s%s", (int)length, name,
                     near ? ", did you mean --" : "", near ? near : "", near ? "?" : "");
        return false;
    }
    const pr_opt *o = pr_opt_get((pr_opt_id)id);
    if (!(o->where & where)) {
        pr_cli_usage(c->command, "this command takes no --%s", o->name);
        return false;
    }
    const char *value = equals ? equals + 1 : NULL;
    if (o->kind == PR_OPT_KIND_FLAG && value) {
        pr_cli_usage(c->command, "--%s takes no value", o->name);
        return false;
    }
    if (o->kind != PR_OPT_KIND_FLAG && o->kind != PR_OPT_KIND_OPTIONAL && !value) {
        if (*i + 1 >= argc) {
            pr_cli_usage(c->command, "--%s needs a value", o->name);
            return false;
        }
        value = argv[++*i];
    }
    return set_option(c, id, value);
}

void pr_cli_free(pr_cli *c)
{
    free(c->inputs);
    c->inputs = NULL;
}

static bool parse(pr_cli *c, unsigned where, int argc, char **argv)
{
    bool options = true;
    for (int i = 0; i < argc; i++) {
        const char *a = argv[i];
        if (options && strcmp(a, "--") == 0) options = false;
        else if (options && strcmp(a, "-v") == 0 && (where & PR_OPT_CHECK))
            c->value[PR_OPT_STATS] = 1;
        else if (options && strncmp(a, "--", 2) == 0) {
            if (!one_option(c, where, argc, argv, &i)) return false;
        } else if (options && a[0] == '-' && a[1]) {
            pr_cli_usage(c->command, "unknown option %s", a);
            return false;
        } else c->inputs[c->n_inputs++] = a;
    }
    return true;
}

bool pr_cli_parse(pr_cli *c, const char *command, unsigned where, int argc, char **argv)
{
    memset(c, 0, sizeof *c);
    c->command = command;
    for (int k = 0; k < PR_OPT_COUNT; k++) c->value[k] = pr_opt_get((pr_opt_id)k)->fallback;
    polyrace_options_init(&c->options);
    c->inputs = calloc((size_t)argc + 1, sizeof *c->inputs);
    if (!c->inputs) pr_cli_no_memory();
    if (!parse(c, where, argc, argv)) {
        pr_cli_free(c);
        return false;
    }
    for (int k = 0; k < 3; k++) c->options.grid[k] = c->grid[k];
    c->options.assume = c->assume;
    c->options.n_assume = c->n_assume;
    return true;
}

/* ---- inputs --------------------------------------------------------------------------------- */
static char *read_all(FILE *f, size_t most, size_t *length)
{
    size_t cap = 1 << 16, n = 0;
    char *text = malloc(cap);
    while (text) {
        n += fread(text + n, 1, cap - n, f);
        if (n < cap || n > most) break;
        char *wider = realloc(text, cap *= 2);
        if (!wider) pr_cli_no_memory();
        text = wider;
    }
    if (!text) pr_cli_no_memory();
    *length = n;
    return text;
}

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0;
}

/* By --input-format, then by the file name, then by the first character. */
static pr_input_kind kind_of(const pr_input *in, const pr_cli *c)
{
    int64_t format = c->value[PR_OPT_INPUT_FORMAT];
    if (format) return (pr_input_kind)(format - 1);
    if (ends_with(in->name, ".ttir") || ends_with(in->name, ".mlir")) return PR_INPUT_TTIR;
    if (ends_with(in->name, ".ttgir")) return PR_INPUT_TTGIR;
    if (ends_with(in->name, ".jsonl")) return PR_INPUT_JSONL;
    if (ends_with(in->name, ".json")) return PR_INPUT_JSON;
    size_t k = 0;
    while (k < in->length && strchr(" \t\r\n", in->text[k])) k++;
    return k < in->length && in->text[k] == '{' ? PR_INPUT_JSON : PR_INPUT_TTIR;
}

char *pr_cli_load(const char *name, const pr_cli *c, size_t *length)
{
    bool standard = strcmp(name, "-") == 0;
    errno = 0;
    FILE *f = standard ? stdin : fopen(name, "rb");
    /* launch files hold contents and may be longer than a text; a smaller limit is the library's */
    size_t most = (size_t)c->options.max_text * 16, least = (size_t)1 << 26;
    if (most < least) most = least;
    char *text = NULL;
    if (f) text = read_all(f, most, length);
    const char *why = !f || !text || ferror(f) ? errno ? strerror(errno) : "out of memory"
                      : *length > most         ? "too large (--max-text)"
                                               : NULL;
    if (why) {
        fprintf(stderr, "polyrace: %s: cannot read: %s\n", name, why);
        free(text);
        text = NULL;
    }
    if (f && !standard) fclose(f);
    /* some editors begin a file with a byte order mark */
    if (text && *length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        memmove(text, text + 3, *length -= 3);
    return text;
}

static char *directory(const char *name, char *out, size_t cap)
{
    const char *slash = strrchr(name, '/');
    size_t n = slash ? slash == name ? 1 : (size_t)(slash - name) : 0;
    snprintf(out, cap, "%.*s", (int)n, name);
    return out;
}

static bool bind_launch(pr_input *in, polyrace_context *ctx, const char *launch, const pr_cli *c,
                        polyrace_error *e)
{
    char dir[4096];
    size_t n;
    char *text = pr_cli_load(launch, c, &n);
    if (!text) return false;
    in->launch = polyrace_launch_parse_named(
        ctx, text, n, launch, directory(launch, dir, sizeof dir), ends_with(launch, ".jsonl"), e);
    free(text);
    if (!in->launch && e->kind == POLYRACE_MEMORY) pr_cli_no_memory();
    if (!in->launch) pr_cli_error(stderr, e, launch);
    return in->launch != NULL;
}

static bool open_input(pr_input *in, polyrace_context *ctx, const pr_cli *c, const char *name)
{
    char dir[4096];
    polyrace_error e = { 0 };
    in->text = pr_cli_load(name, c, &in->length);
    if (!in->text) return false;
    in->kind = kind_of(in, c);
    const char *launch = c->text[PR_OPT_LAUNCH];
    if (in->kind == PR_INPUT_TTIR || in->kind == PR_INPUT_TTGIR) return !launch || bind_launch(in, ctx, launch, c, &e);
    if (launch) {
        fprintf(stderr, "polyrace: %s: --launch binds a .ttir, this input is a launch file\n",
                in->name);
        return false;
    }
    in->launch = polyrace_launch_parse_named(ctx, in->text, in->length, in->name,
                                             directory(name, dir, sizeof dir),
                                             in->kind == PR_INPUT_JSONL, &e);
    if (!in->launch && e.kind == POLYRACE_MEMORY) pr_cli_no_memory();
    if (!in->launch) pr_cli_error(stderr, &e, in->name);
    return in->launch != NULL;
}

bool pr_input_open(pr_input *in, polyrace_context *ctx, const pr_cli *c, const char *name)
{
    memset(in, 0, sizeof *in);
    in->name = strcmp(name, "-") == 0 ? "<stdin>" : name;
    if (!open_input(in, ctx, c, name)) return false;
    in->count = in->launch ? polyrace_launch_count(in->launch) : 1;
    return true;
}

bool pr_input_module(pr_input *in, polyrace_context *ctx, const pr_cli *c, polyrace_error *err)
{
    if ((in->kind != PR_INPUT_TTIR && in->kind != PR_INPUT_TTGIR) || in->module) return true;
    if (in->kind == PR_INPUT_TTGIR)
        in->module = polyrace_module_parse_ttgir(ctx, in->text, in->length, in->name, &c->options, err);
    else in->module = polyrace_module_parse_with(ctx, in->text, in->length, in->name, &c->options, err);
    return in->module != NULL;
}

void pr_input_free(pr_input *in)
{
    polyrace_module_free(in->module);
    polyrace_launch_free(in->launch);
    free(in->text);
}

/* ---- output --------------------------------------------------------------------------------- */
FILE *pr_cli_output(const pr_cli *c)
{
    const char *name = c->text[PR_OPT_OUTPUT];
    if (!name) return stdout;
    FILE *f = fopen(name, "w");
    if (!f) fprintf(stderr, "polyrace: %s: cannot write: %s\n", name, strerror(errno));
    return f;
}

bool pr_cli_close(FILE *out)
{
    bool good = fflush(out) == 0 && !ferror(out);
    if (out != stdout && fclose(out) != 0) good = false;
    if (!good) fprintf(stderr, "polyrace: the output could not be written\n");
    return good;
}

void pr_cli_write(void *file, const char *text, size_t length)
{ fwrite(text, 1, length, file); }
