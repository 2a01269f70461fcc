/* What pictures of a race need: the bytes that its two accesses touch, and the programs that race. Part of
 * polyrace_explain's JSON (docs/verdict.md). */
#ifndef PR_POLYRACE_PICTURE_H
#define PR_POLYRACE_PICTURE_H
#include "polyrace_impl.h"

/* "pictures": one object for each race and each grid_fragile entry of the configuration, in their order. */
pr_status pr_pictures_json(pr_buf *b, pr_job *j, const pr_options *o, const pr_config_verdict *v, pr_error *err);
#endif
