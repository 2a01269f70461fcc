/* What the Python package does better than C would: scan, and the reports SARIF and HTML.
 *
 * The program is replaced by an interpreter that runs the package, so exit status, signals and
 * output are the package's own. Which interpreter: $POLYRACE_PYTHON, the one beside this program (a
 * virtual environment), python3 of the PATH. Without the package the message says how to get it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli.h"

enum { MAX_PATH = 4096 };

/* argv[1] is the module with main(arguments), argv[2] what the message calls it. The current folder
 * is not searched for packages. */
static const char start[] =
    "import sys\n"
    "if sys.path and sys.path[0] == '': del sys.path[0]\n"
    "import importlib\n"
    "try:\n"
    "    main = importlib.import_module('polyrace.' + sys.argv[1]).main\n"
    "except ImportError as e:\n"
    "    sys.stderr.write('polyrace: %s needs the Python package of polyrace (%s); install it with pip, or '\n"
    "        'name an interpreter that has it in POLYRACE_PYTHON\\n' % (sys.argv[2], e))\n"
    "    sys.exit(3)\n"
    "sys.exit(main(sys.argv[3:]))\n";

/* This program's own path; false when it cannot be told. */
static bool self(char *path)
{
    ssize_t n = readlink("/proc/self/exe", path, MAX_PATH - 1);
    if (n <= 0 || n >= MAX_PATH - 1) return false;
    path[n] = '\0';
    return true;
}

static const char *interpreter(char *path)
{
    const char *chosen = getenv("POLYRACE_PYTHON");
    if (chosen && *chosen) return chosen;
    if (self(path)) {
        char *slash = strrchr(path, '/');
        if (slash && (size_t)(slash - path) + sizeof "/python3" < MAX_PATH) {
            strcpy(slash, "/python3");
            if (access(path, X_OK) == 0) return path;
        }
    }
    return "python3";
}

/* Runs main(first..., argv...) of a module of the package; returns only when that cannot start. */
static int run(const char *module, const char *what, char **first, int n_first, int argc,
               char **argv)
{
    char path[MAX_PATH];
    const char *python = interpreter(path);
    char **args = calloc((size_t)argc + (size_t)n_first + 6, sizeof *args);
    if (!args) pr_cli_no_memory();
    int n = 0;
    args[n++] = (char *)python;
    args[n++] = "-c";
    args[n++] = (char *)start;
    args[n++] = (char *)module;
    args[n++] = (char *)what;
    for (int k = 0; k < n_first; k++) args[n++] = first[k];
    for (int k = 0; k < argc; k++) args[n++] = argv[k];
    execvp(python, args);
    fprintf(stderr, "polyrace: %s needs Python, and %s cannot be run: %s\n", what, python,
            strerror(errno));
    free(args);
    return PR_EXIT_BAD;
}

int pr_cmd_scan(int argc, char **argv)
{
    return run("scan_cli", "scan", NULL, 0, argc, argv);
}

int pr_cmd_recheck(int argc, char **argv)
{
    return run("recheck", "recheck", NULL, 0, argc, argv);
}

int pr_cli_report(const char *format, const char *output, const char *command, int argc, char **argv)
{
    char path[MAX_PATH], what[32];
    if (!self(path)) strcpy(path, "polyrace");
    snprintf(what, sizeof what, "--format=%s", format);
    char *first[] = { path, (char *)format, (char *)(output ? output : ""), (char *)command };
    return run("report_cli", what, first, 4, argc, argv);
}
