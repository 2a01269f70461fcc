/* The one function that fills a pr_error. */
#include "util/err.h"
#include <stdarg.h>
#include <stdio.h>

pr_status pr_fail(pr_error *e, pr_status kind, const char *file, int line, int col,
                  const char *format, ...)
{
    if (!e || e->kind != PR_OK) return kind;
    e->kind = kind;
    e->line = line;
    e->col = col;
    snprintf(e->file, sizeof e->file, "%s", file ? file : "");
    va_list list;
    va_start(list, format);
    vsnprintf(e->message, sizeof e->message, format, list);
    va_end(list);
    return kind;
}
