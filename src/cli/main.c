/* polyrace: the command line. One command a file; see cli.h. */
#include <string.h>
#include "cli.h"

static const struct command {
    const char *name;
    int (*run)(int, char **);
} commands[] = {
    { "check", pr_cmd_check },     { "dump", pr_cmd_dump }, { "replay", pr_cmd_replay },
    { "version", pr_cmd_version }, { "help", pr_cmd_help }, { "scan", pr_cmd_scan },
    { "explain", pr_cmd_explain }, { "consan", pr_cmd_consan },      { "recheck", pr_cmd_recheck },
};

int main(int argc, char **argv)
{
    if (argc < 2) {
        pr_help_command("", stderr);
        return PR_EXIT_BAD;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) return pr_cmd_help(0, NULL);
    if (strcmp(name, "--version") == 0) return pr_cmd_version(0, NULL);
    for (size_t k = 0; k < sizeof commands / sizeof commands[0]; k++) {
        if (strcmp(name, commands[k].name) != 0) continue;
        bool own_help = commands[k].run != pr_cmd_scan;
        for (int i = 2; own_help && i < argc && strcmp(argv[i], "--") != 0; i++) {
            if (strcmp(argv[i], "--help") != 0 && strcmp(argv[i], "-h") != 0) continue;
            pr_help_command(name, stdout);
            return PR_EXIT_OK;
        }
        return commands[k].run(argc - 2, argv + 2);
    }
    fprintf(stderr, "polyrace: unknown command \"%s\" (try \"polyrace help\")\n", name);
    return PR_EXIT_BAD;
}
