/* The program: what its commands share. The commands use the public library only. */
#ifndef PR_CLI_CLI_H
#define PR_CLI_CLI_H
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include "polyrace/polyrace.h"
#include "util/opt.h"

/* interface.md 1 */
enum {
    PR_EXIT_OK = 0,
    PR_EXIT_RACE = 1,
    PR_EXIT_UNDECIDED = 2,
    PR_EXIT_BAD = 3,
    PR_EXIT_INTERNAL = 4,
    PR_EXIT_INTERRUPT = 130,
    PR_EXIT_TERMINATED = 143
};

/* A parsed command line: one value an option, what is not an option in order. */
typedef struct pr_cli {
    const char *command;
    int64_t value[PR_OPT_COUNT];
    const char *text[PR_OPT_COUNT];
    bool given[PR_OPT_COUNT];
    int64_t grid[3];
    const char *assume[64];
    size_t n_assume;
    const char **inputs;
    int n_inputs;
    polyrace_options options;
} pr_cli;

/* Fills *c from argv[0..]; where is the command's bit. False after a message (exit 3). */
bool pr_cli_parse(pr_cli *c, const char *command, unsigned where, int argc, char **argv);
void pr_cli_free(pr_cli *c);
/* "polyrace: ...", with file, line and column when known. */
void pr_cli_error(FILE *to, const polyrace_error *e, const char *fallback_file);
void pr_cli_usage(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Exit status of a call that failed. */
/* Prints what is finished and that memory ran out; exit status 4. */
_Noreturn void pr_cli_no_memory(void);
polyrace_context *pr_cli_context(void); /* never null */
int pr_cli_failure(const polyrace_error *e);
/* Worse of two exit statuses: 3, 1, 4, 2, 0. */
int pr_cli_worse(int a, int b);

typedef enum { PR_INPUT_TTIR, PR_INPUT_TTGIR, PR_INPUT_JSON, PR_INPUT_JSONL } pr_input_kind;
/* One file named on the command line, read. */
typedef struct pr_input {
    const char *name;
    pr_input_kind kind;
    char *text;
    size_t length;
    polyrace_module *module; /* TTIR */
    polyrace_launch *launch; /* JSON, JSONL, or --launch */
    size_t count;            /* launches in it, at least 1; 0 = not readable */
} pr_input;
/* Reads the file and the list of its launches; false (and count 0) after a message. */
bool pr_input_open(pr_input *in, polyrace_context *ctx, const pr_cli *c, const char *name);
/* Parses the kernel text of a .ttir, once; true for other inputs. */
bool pr_input_module(pr_input *in, polyrace_context *ctx, const pr_cli *c, polyrace_error *err);
void pr_input_free(pr_input *in);

/* Where --output goes. Null after a message. */
FILE *pr_cli_output(const pr_cli *c);
/* The file, or standard input (-); malloc. Null: reported. */
char *pr_cli_load(const char *name, const pr_cli *c, size_t *length);
/* Flushes; false after a message when something could not be written. */
bool pr_cli_close(FILE *out);
void pr_cli_write(void *file, const char *text, size_t length);

/* What a check gets to end after a signal; then the process ends as it is. */
enum { PR_CLI_PATIENCE_MS = 500 };
/* Set by SIGINT and SIGTERM; interrupts the context named by pr_cli_watch. */
extern volatile sig_atomic_t pr_cli_signal;
void pr_cli_watch(polyrace_context *ctx);

int pr_cmd_check(int argc, char **argv);
int pr_cmd_consan(int argc, char **argv);
int pr_cmd_dump(int argc, char **argv);
int pr_cmd_explain(int argc, char **argv);
int pr_cmd_recheck(int argc, char **argv);
int pr_cmd_replay(int argc, char **argv);
int pr_cmd_version(int argc, char **argv);
int pr_cmd_help(int argc, char **argv);
int pr_cmd_scan(int argc, char **argv);
/* The report of `check` or `explain` in a format of the Python package (output null: standard output). Replaces
 * the process; returns an exit status, after a message, only when that fails. */
int pr_cli_report(const char *format, const char *output, const char *command, int argc, char **argv);
/* Help text of one command; false when it has none. */
bool pr_help_command(const char *command, FILE *out);
#endif
