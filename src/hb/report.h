/* Reports: a verdict as text for people and as the JSON document of interface.md 3. */
#ifndef PR_HB_REPORT_H
#define PR_HB_REPORT_H
#include "hb/verdict.h"

typedef struct pr_report_options {
    bool color; /* text: escape sequences */
    bool stats; /* text: time and counts */
    bool times; /* JSON: the *_us fields of stats (they differ from run to run) */
    /* One line of a source file without its newline, null when it is not at hand. */
    const char *(*source_line)(void *user, pr_str file, int line);
    void *user;
} pr_report_options;

void pr_report_text(pr_buf *b, const struct polyrace_verdict *v, const pr_report_options *o);
void pr_report_json(pr_buf *b, const struct polyrace_verdict *v, const pr_report_options *o,
                    bool one_line);
/* Name of the tensor that record accesses, "" when unknown. */
pr_str pr_report_tensor(const pr_config_verdict *c, int record);
#endif
