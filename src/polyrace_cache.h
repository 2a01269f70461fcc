/* Answers that need not be found twice: in the context, and in a directory (interface.md 3.2). */
#ifndef PR_POLYRACE_CACHE_H
#define PR_POLYRACE_CACHE_H
#include "polyrace_impl.h"
#include "util/digest.h"

typedef struct pr_answers pr_answers; /* of one context */

/* A job's question in two spellings: without the text's locations, and with them. */
typedef struct pr_question {
    unsigned char plain[PR_DIGEST_BYTES], placed[PR_DIGEST_BYTES];
} pr_question;

/* False when this job is not remembered (not lowered, or --no-cache). */
bool pr_question_of(const pr_plan *p, const pr_job *j, pr_question *out);
/* Fills out from the context's memory or the directory of the options. Trouble with the directory becomes a
 * note of the plan's verdict. */
bool pr_answer_find(pr_plan *p, const pr_job *j, const pr_question *q, pr_config_verdict *out);
void pr_answer_keep(pr_plan *p, const pr_job *j, const pr_question *q, const pr_config_verdict *v);
void pr_answers_free(pr_answers *a);
#endif
