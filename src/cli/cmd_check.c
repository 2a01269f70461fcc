/* polyrace check: decide every launch of every input.
 *
 * One launch is one task. With several tasks, worker processes decide them, so that nothing that
 * happens to one (a crash included) loses the results of the others; the parent prints results in
 * the order of the command line, whatever the number of workers. Task k belongs to worker k modulo
 * the number of workers. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "cli.h"

typedef struct task {
    int input;
    size_t launch;
    char name[256];
    bool done;
    int status;
    char *out, *err; /* what it prints on standard output and standard error */
    size_t n_out, n_err;
} task;

typedef struct check {
    pr_cli c;
    polyrace_context *ctx;
    pr_input *inputs;
    task *tasks;
    int n_tasks;
    int next;    /* first task not printed */
    int printed; /* verdicts written */
    FILE *out;
    int format;
    int status;
} check;

/* ---- one task -------------------------------------------------------------------------------- */
static int verdict_status(const pr_cli *c, const polyrace_verdict *v)
{
    polyrace_status s = polyrace_verdict_status(v);
    if (s == POLYRACE_STATUS_RACES || s == POLYRACE_STATUS_DEADLOCK || s == POLYRACE_STATUS_HAZARD)
        return PR_EXIT_RACE;
    if (c->value[PR_OPT_BOUNDS] && polyrace_verdict_out_of_bounds_count(v)) return PR_EXIT_RACE;
    if (polyrace_verdict_has_internal_error(v)) return PR_EXIT_INTERNAL;
    return polyrace_verdict_status(v) == POLYRACE_STATUS_OK ? PR_EXIT_OK : PR_EXIT_UNDECIDED;
}

static int decide(check *k, const task *t, FILE *out, FILE *err)
{
    pr_input *in = &k->inputs[t->input];
    polyrace_error e = { 0 };
    polyrace_launch *l = NULL;
    polyrace_verdict *v = NULL;
    if (pr_input_module(in, k->ctx, &k->c, &e)) {
        if (in->launch) l = polyrace_launch_item(in->launch, t->launch, &e);
        polyrace_options o = k->c.options;
        o.last_check = k->n_tasks == 1 && !k->c.value[PR_OPT_EXPLANATIONS];
        char folder[4096];
        if (k->c.given[PR_OPT_CERTIFY]) {
            int n = k->n_tasks == 1 ? snprintf(folder, sizeof folder, "%s", k->c.text[PR_OPT_CERTIFY])
                                    : snprintf(folder, sizeof folder, "%s/%04d", k->c.text[PR_OPT_CERTIFY],
                                               (int)(t - k->tasks));
            if (n > 0 && (size_t)n < sizeof folder) o.certify_dir = folder;
        }
        if (l || !in->launch) v = polyrace_check(k->ctx, in->module, l, &o, &e);
    }
    polyrace_sink sink = { pr_cli_write, out };
    bool written = false;
    if (v && k->c.value[PR_OPT_EXPLANATIONS]) {
        polyrace_options plain = k->c.options;    /* certificates are written, the cache is filled       */
        written = polyrace_explain(k->ctx, in->module, l, &plain, k->format, &sink, NULL, &e) == POLYRACE_OK;
    } else if (v) {
        written = polyrace_verdict_write(v, k->format, &sink, &e) == POLYRACE_OK;
    }
    if (written) {
        int status = verdict_status(&k->c, v);
        polyrace_verdict_free(v);
        return status;
    }
    if (e.kind == POLYRACE_INTERRUPTED)
        fprintf(err, "polyrace: %s: not analysed: interrupted\n", t->name);
    else pr_cli_error(err, &e, t->name);
    return pr_cli_failure(&e);
}

static void run_task(check *k, task *t)
{
    FILE *out = open_memstream(&t->out, &t->n_out), *err = open_memstream(&t->err, &t->n_err);
    if (!out || !err) pr_cli_no_memory();
    t->status = decide(k, t, out, err);
    fclose(out);
    fclose(err);
    t->done = true;
}

/* ---- printing ------------------------------------------------------------------------------- */
/* Several inputs in one JSON document: a list, also when only one of them could be read. */
static bool is_list(const check *k)
{
    return (k->format & 0xff) == POLYRACE_FORMAT_JSON && (k->n_tasks > 1 || k->c.n_inputs > 1);
}

static void print_task(check *k, task *t)
{
    fwrite(t->err, 1, t->n_err, stderr);
    if (t->n_out) {
        if (is_list(k)) {
            fputs(k->printed ? ",\n" : "{\"version\": 1, \"verdicts\": [\n", k->out);
            fwrite(t->out, 1, t->n_out - 1, k->out);
        } else {
            fwrite(t->out, 1, t->n_out, k->out);
            bool many_lines = memchr(t->out, '\n', t->n_out - 1) != NULL;
            if ((k->format & 0xff) == POLYRACE_FORMAT_TEXT && many_lines &&
                k->next + 1 < k->n_tasks)
                fputc('\n', k->out);
        }
        k->printed++;
    }
    if (t->status >= PR_EXIT_INTERRUPT) k->status = t->status;
    else if (k->status < PR_EXIT_INTERRUPT) k->status = pr_cli_worse(k->status, t->status);
    free(t->out);
    free(t->err);
    t->out = t->err = NULL;
}

static void print_ready(check *k)
{
    for (; k->next < k->n_tasks && k->tasks[k->next].done; k->next++)
        print_task(k, &k->tasks[k->next]);
    fflush(k->out);
}

static void print_end(check *k)
{
    if (!is_list(k)) return;
    fputs(k->printed ? "\n]}\n" : "{\"version\": 1, \"verdicts\": []}\n", k->out);
}

/* ---- workers -------------------------------------------------------------------------------- */
typedef struct frame {
    int32_t task, status;
    uint64_t n_out, n_err;
} frame;

typedef struct worker {
    pid_t pid;
    int fd;
    int first; /* its tasks: first, first + step, ... */
    char *data;
    size_t n, cap; /* bytes read and not yet taken */
} worker;

static bool send_all(int fd, const void *data, size_t n)
{
    const char *p = data;
    while (n) {
        ssize_t wrote = write(fd, p, n);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return false;
        p += wrote;
        n -= (size_t)wrote;
    }
    return true;
}

static void work(check *k, int first, int step, int fd)
{
    for (int i = first; i < k->n_tasks; i += step) {
        task *t = &k->tasks[i];
        if (t->done) continue;
        run_task(k, t);
        frame f = { i, t->status, t->n_out, t->n_err };
        if (!send_all(fd, &f, sizeof f) || !send_all(fd, t->out, t->n_out) ||
            !send_all(fd, t->err, t->n_err))
            break;
        if (t->status >= PR_EXIT_INTERRUPT) break;
    }
}

static bool start(check *k, worker *w, int n_workers)
{
    int ends[2];
    if (pipe(ends) != 0) return false;
    fflush(NULL);
    w->pid = fork();
    if (w->pid == 0) {
        close(ends[0]);
        pr_cli_watch(k->ctx);
        work(k, w->first, n_workers, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    w->fd = ends[0];
    w->n = 0;
    if (w->pid > 0) return true;
    close(ends[0]);
    w->fd = -1;
    return false;
}

static char *copy(const char *p, size_t n)
{
    char *to = malloc(n + 1);
    if (!to) pr_cli_no_memory();
    memcpy(to, p, n);
    to[n] = 0;
    return to;
}

static void take_frames(check *k, worker *w)
{
    size_t at = 0;
    frame f;
    while (w->n - at >= sizeof f) {
        memcpy(&f, w->data + at, sizeof f);
        if (w->n - at - sizeof f < f.n_out + f.n_err) break;
        task *t = &k->tasks[f.task];
        const char *body = w->data + at + sizeof f;
        t->out = copy(body, f.n_out);
        t->err = copy(body + f.n_out, f.n_err);
        t->n_out = f.n_out;
        t->n_err = f.n_err;
        t->status = f.status;
        t->done = true;
        at += sizeof f + f.n_out + f.n_err;
    }
    if (at) memmove(w->data, w->data + at, w->n -= at);
}

/* False at the end of the worker's output. */
static bool receive(check *k, worker *w)
{
    if (w->cap - w->n < 65536) {
        w->cap = w->cap * 2 + 65536;
        w->data = realloc(w->data, w->cap);
        if (!w->data) pr_cli_no_memory();
    }
    ssize_t got = read(w->fd, w->data + w->n, w->cap - w->n);
    if (got < 0 && errno == EINTR) return true;
    if (got <= 0) return false;
    w->n += (size_t)got;
    take_frames(k, w);
    return true;
}

static task *unfinished(check *k, const worker *w, int n_workers)
{
    for (int i = w->first; i < k->n_tasks; i += n_workers)
        if (!k->tasks[i].done) return &k->tasks[i];
    return NULL;
}

static void fail_task(task *t, int status, const char *format, int number)
{
    char what[120], text[480];
    snprintf(what, sizeof what, format, number);
    int n = snprintf(text, sizeof text, "polyrace: %s: %s\n", t->name, what);
    t->err = copy(text, (size_t)n);
    t->n_err = (size_t)n;
    t->status = status;
    t->done = true;
}

/* The worker ended. If it left tasks, the first is to blame; another worker takes the rest. */
static void finish(check *k, worker *w, int n_workers)
{
    int how = 0;
    close(w->fd);
    w->fd = -1;
    while (waitpid(w->pid, &how, 0) < 0 && errno == EINTR) {}
    w->pid = 0;
    task *t = unfinished(k, w, n_workers);
    if (!t || pr_cli_signal) return;
    fail_task(t, PR_EXIT_INTERNAL,
              WIFSIGNALED(how) ? "internal error (please report): ended by signal %d"
                               : "internal error (please report): ended with status %d",
              WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how));
    if (unfinished(k, w, n_workers)) start(k, w, n_workers);
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Asks the workers to stop, once; kills those that have not after a second (they end themselves before). */
static void pass_signal(worker *workers, int n_workers, int64_t *since)
{
    int number = (int)pr_cli_signal;
    if (*since && now_ms() - *since < 2 * PR_CLI_PATIENCE_MS) return;
    for (int i = 0; i < n_workers; i++)
        if (workers[i].pid > 0) kill(workers[i].pid, *since ? SIGKILL : number);
    if (!*since) *since = now_ms();
}

static void run_workers(check *k, int n_workers)
{
    worker *workers = calloc((size_t)n_workers, sizeof *workers);
    struct pollfd *polls = calloc((size_t)n_workers, sizeof *polls);
    int64_t signalled = 0;
    if (!workers || !polls) pr_cli_no_memory();
    pr_cli_watch(NULL);
    for (int i = 0; i < n_workers; i++) {
        workers[i].first = i;
        workers[i].fd = -1;
        if (!start(k, &workers[i], n_workers))
            fprintf(stderr, "polyrace: cannot start a worker: %s\n", strerror(errno));
    }
    for (;;) {
        bool alive = false;
        for (int i = 0; i < n_workers; i++) {
            polls[i] = (struct pollfd){ .fd = workers[i].fd, .events = POLLIN };
            alive = alive || workers[i].fd >= 0;
        }
        if (!alive) break;
        if (pr_cli_signal) pass_signal(workers, n_workers, &signalled);
        if (poll(polls, (nfds_t)n_workers, 200) < 0) continue;
        for (int i = 0; i < n_workers; i++) {
            if (workers[i].fd < 0 || !polls[i].revents) continue;
            if (!receive(k, &workers[i])) finish(k, &workers[i], n_workers);
        }
        print_ready(k);
    }
    for (int i = 0; i < k->n_tasks; i++) {
        if (k->tasks[i].done) continue;
        if (pr_cli_signal)
            fail_task(&k->tasks[i],
                      pr_cli_signal == SIGTERM ? PR_EXIT_TERMINATED : PR_EXIT_INTERRUPT,
                      "not analysed: interrupted", 0);
        else run_task(k, &k->tasks[i]); /* no worker could be started */
    }
    print_ready(k);
    for (int i = 0; i < n_workers; i++) free(workers[i].data);
    free(workers);
    free(polls);
}

/* ---- the command ---------------------------------------------------------------------------- */
static void open_inputs(check *k)
{
    pr_cli *c = &k->c;
    k->inputs = calloc((size_t)c->n_inputs, sizeof *k->inputs);
    if (!k->inputs) pr_cli_no_memory();
    int n = 0;
    for (int i = 0; i < c->n_inputs; i++) {
        if (pr_input_open(&k->inputs[i], k->ctx, c, c->inputs[i])) n += (int)k->inputs[i].count;
        else k->status = PR_EXIT_BAD;
    }
    k->tasks = calloc((size_t)n + 1, sizeof *k->tasks);
    if (!k->tasks) pr_cli_no_memory();
    for (int i = 0; i < c->n_inputs; i++) {
        for (size_t l = 0; l < k->inputs[i].count; l++) {
            task *t = &k->tasks[k->n_tasks++];
            t->input = i;
            t->launch = l;
            if (k->inputs[i].count > 1)
                snprintf(t->name, sizeof t->name, "%.200s[%zu]", k->inputs[i].name, l);
            else snprintf(t->name, sizeof t->name, "%.200s", k->inputs[i].name);
        }
    }
}

static bool wants_color(const check *k)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    if (k->c.value[PR_OPT_COLOR]) return k->c.value[PR_OPT_COLOR] == 1;
    return !(no && *no) && isatty(fileno(k->out)) && term && strcmp(term, "dumb") != 0;
}

static int check_inputs(check *k)
{
    open_inputs(k);
    k->out = pr_cli_output(&k->c);
    if (!k->out) return PR_EXIT_BAD;
    if (k->format == POLYRACE_FORMAT_TEXT && wants_color(k)) k->format |= POLYRACE_FORMAT_COLOR;
    if (k->c.value[PR_OPT_STATS]) k->format |= POLYRACE_FORMAT_STATS;
    if (k->n_tasks > 1) {
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        int64_t jobs = k->c.value[PR_OPT_JOBS] ? k->c.value[PR_OPT_JOBS] : cores > 0 ? cores : 1;
        run_workers(k, jobs < k->n_tasks ? (int)jobs : k->n_tasks);
    } else if (k->n_tasks == 1) {
        run_task(k, &k->tasks[0]);
        print_ready(k);
    }
    print_end(k);
    return pr_cli_close(k->out) ? k->status : PR_EXIT_BAD;
}

int pr_cmd_check(int argc, char **argv)
{
    check k = { .status = PR_EXIT_OK };
    char spelling[32], *ptx = NULL;
    int status = PR_EXIT_BAD;
    if (!pr_cli_parse(&k.c, "check", PR_OPT_CHECK, argc, argv)) return status;
    k.format = (int)k.c.value[PR_OPT_FORMAT];
    if (!k.c.n_inputs) {
        pr_cli_usage("check", "no input");
    } else if (k.c.value[PR_OPT_EXPLANATIONS] && k.format != POLYRACE_FORMAT_JSON) {
        pr_cli_usage("check", "--explanations needs --format=json");
    } else if (k.c.given[PR_OPT_PTX] && (!k.c.value[PR_OPT_CHECK_MEMBAR] || k.c.n_inputs != 1)) {
        pr_cli_usage("check", "--ptx goes with --check-membar and one input");
    } else if (k.c.given[PR_OPT_PTX] && !(ptx = pr_cli_load(k.c.text[PR_OPT_PTX], &k.c, &k.c.options.ptx_length))) {
        /* reported */
    } else if (k.format > POLYRACE_FORMAT_JSONL) {
        status = pr_cli_report(pr_opt_spelling(PR_OPT_FORMAT, k.format, spelling),
                               k.c.text[PR_OPT_OUTPUT], "check", argc, argv);
    } else {
        k.c.options.ptx = ptx;
        k.ctx = pr_cli_context();
        pr_cli_watch(k.ctx);
        status = check_inputs(&k);
        pr_cli_watch(NULL);
    }
    for (int i = 0; k.inputs && i < k.c.n_inputs; i++) pr_input_free(&k.inputs[i]);
    polyrace_context_free(k.ctx);
    free(k.inputs);
    free(k.tasks);
    free(ptx);
    pr_cli_free(&k.c);
    return status;
}
