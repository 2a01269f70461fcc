/* The option table (options.def): names, ranges, parsing, help text.
 *
 * Parsing here is by name and value only; what an option does is the business of its user:
 * src/cli for
 * the program's own, src/polyrace.c for those that polyrace_options_set takes. */
#ifndef PR_UTIL_OPT_H
#define PR_UTIL_OPT_H
#include <stdio.h>
#include "util/err.h"

typedef enum {
#define OPTION(id, name, kind, fallback, least, most, values, where, help) PR_OPT_##id,
#include "util/options.def"
#undef OPTION
    PR_OPT_COUNT
} pr_opt_id;

typedef enum {
    PR_OPT_KIND_FLAG,
    PR_OPT_KIND_COUNT,
    PR_OPT_KIND_MS,
    PR_OPT_KIND_ENUM,
    PR_OPT_KIND_OPTIONAL,
    PR_OPT_KIND_TEXT,
    PR_OPT_KIND_LIST,
    PR_OPT_KIND_GRID,
    PR_OPT_KIND_UNBUILT
} pr_opt_kind;
enum { PR_OPT_CHECK = 1, PR_OPT_DUMP = 2, PR_OPT_REPLAY = 4, PR_OPT_LIBRARY = 8, PR_OPT_EXPLAIN = 16, PR_OPT_CONSAN = 32 };

typedef struct pr_opt {
    const char *name;
    pr_opt_kind kind;
    int64_t fallback, least, most;
    const char *values;
    unsigned where;
    const char *help;
} pr_opt;

const pr_opt *pr_opt_get(pr_opt_id id);
/* Row called name (without dashes), -1 when there is none. */
int pr_opt_find(const char *name, size_t length);
/* The option whose name is most like the given one, null when none is close. */
const char *pr_opt_near(const char *name, size_t length, unsigned where);
/* Value of a FLAG, COUNT, MS or ENUM. PR_ERR_USAGE with a message that names the option and its
 * range. */
pr_status pr_opt_value(pr_opt_id id, const char *text, int64_t *out, pr_error *err);
/* One to three extents; missing ones are 1. */
pr_status pr_opt_grid(const char *text, int64_t out[3], pr_error *err);
/* Spelling of an ENUM value. */
const char *pr_opt_spelling(pr_opt_id id, int64_t value, char buffer[32]);
/* The --help lines of the options that `where` takes. */
void pr_opt_help(FILE *out, unsigned where);
#endif
