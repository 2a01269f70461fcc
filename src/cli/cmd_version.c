/* polyrace version */
#include <string.h>
#include "cli.h"

int pr_cmd_version(int argc, char **argv)
{
    if (argc > 0) {
        pr_cli_usage("version", "unexpected argument %s", argv[0]);
        return PR_EXIT_BAD;
    }
    const char *isl = polyrace_engine_version("isl"), *z3 = polyrace_engine_version("z3");
    if (!isl) isl = "not built in";
    if (!z3) z3 = "not built in or not found";
    printf("polyrace %s\nisl %.*s\nz3 %.*s\n", polyrace_version(), (int)strcspn(isl, "\n"), isl,
           (int)strcspn(z3, "\n"), z3);
    return pr_cli_close(stdout) ? PR_EXIT_OK : PR_EXIT_BAD;
}
