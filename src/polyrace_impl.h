/* Inside of the public library: handles and the steps shared by check, dump and replay. Included by
 * src/polyrace*.c only. */
#ifndef PR_POLYRACE_IMPL_H
#define PR_POLYRACE_IMPL_H
#include "front/interp.h"
#include "front/launch.h"
#include "hb/check.h"
#include "hb/report.h"
#include "polyrace/polyrace.h"

/* Everything that lives in a context: one arena, counted references, a list for
 * polyrace_context_free. */
typedef struct pr_child {
    struct pr_child *next, **link;
    polyrace_context *ctx;
    pr_arena *arena;
    int refs;
    bool open; /* under construction: thrown away when memory runs out */
    void (*destroy)(struct pr_child *self);
} pr_child;

struct polyrace_context {
    pr_oom oom;
    pr_flag interrupt;
    bool closing;
    pr_child *first;
    struct pr_answers *answers; /* polyrace_cache.c; null before the first */
};

struct polyrace_module {
    pr_child child;
    pr_ir *ir; /* null when a reader limit was exceeded: then *limit says which */
    pr_error limit;
    const char *name;
    bool ttgir, over_budget;
    int64_t us_parse;
};

struct polyrace_launch {
    pr_child child;            /* of the document; unused in items */
    polyrace_launch *document; /* items: the document; documents: themselves */
    pr_launch_doc *doc;
    int item; /* -1: a document of several launches */
    polyrace_launch *items;
    const char *input; /* name in reports */
    /* builder; doc is made from them at the first use */
    bool building;
    const char *kernel;
    pr_buf args;
    int n_args, num_warps, num_ctas;
    size_t n_before; /* of args and n_args, when the running call began */
    int args_before;
    int64_t grid[3];
};

typedef struct pr_verdict_box {
    pr_child child;
    struct polyrace_verdict v;
    PR_VEC(polyrace_module *)
    modules;                   /* whose text the verdict's strings point into */
    PR_VEC(const char *) dirs; /* where sources are looked for */
} pr_verdict_box;

/* polyrace_memory.c. An entry point arms the context like this; on exhaustion the children under construction
 * are ended.
 *     PR_EXHAUSTED(c) return pr_context_exhausted(c, err), NULL;
 * Entry points do not call each other once armed: the inner one would leave its point behind. */
#define PR_EXHAUSTED(c)                                                                            \
    pr_context_arm(c);                                                                             \
    if (setjmp((c)->oom.point))
void pr_context_arm(polyrace_context *c);
/* The budget of the options, counted from here; 0 = none. */
size_t pr_context_budget(const polyrace_context *c, const polyrace_options *o);
/* Runs f in it; false when f was ended by it. What comes between such steps is small and not limited. */
bool pr_in_budget(polyrace_context *c, size_t budget, void (*f)(void *user), void *user);
/* What a refusal says; returns text. */
const char *pr_over_budget(char text[96], const polyrace_options *o, const char *doing);
polyrace_error_kind pr_context_exhausted(polyrace_context *c, polyrace_error *err);
/* Zeroed struct of at least sizeof(pr_child) bytes in an arena of its own. */
void *pr_child_new(polyrace_context *c, size_t bytes, void (*destroy)(pr_child *self));
void pr_launch_end(pr_child *self);
/* polyrace_builder.c: a built launch gets its document. */
pr_status pr_launch_ready(polyrace_launch *l, pr_error *err);
void pr_child_keep(pr_child *c);
void pr_child_drop(pr_child *c);
/* Ends the children under construction that are younger than `since`. */
void pr_child_abandon(polyrace_context *c, const pr_child *since);
polyrace_error_kind pr_copy_error(polyrace_error *to, const pr_error *from);
polyrace_error_kind pr_usage(polyrace_error *err, const char *message);
bool pr_options_read(const polyrace_options *o, polyrace_options *full, polyrace_error *err);
void pr_options_convert(polyrace_context *c, const polyrace_options *o, pr_options *out);
int64_t pr_now_us(void);

/* One configuration made ready: text, kernel, facts, raw records. A refusal that leaves nothing
 * to analyse
 * sets lowered false. */
typedef struct pr_job {
    pr_arena *arena;
    polyrace_module *module;
    const pr_op *func;
    polyrace_module *second; /* the TTGIR text beside a TTIR text, null without one */
    pr_launch *launch; /* null without a launch */
    pr_records *records;
    pr_refusal_vec refusals; /* of binding; moved into records when lowered */
    pr_assume *assume;
    int n_assume; /* --assume, read over this job's terms */
    bool lowered;
    bool certify;              /* keep what an execution of the whole launch did */
    const char *journal;
    struct pr_prober *prober;  /* polyrace_confirm.c; null: none yet                                  */
    int64_t us_parse, us_lower;
    const pr_flag *interrupt;
} pr_job;

/* The inputs of one call, prepared: one job a configuration. */
typedef struct pr_plan {
    polyrace_context *ctx;
    pr_verdict_box *box;     /* owns everything */
    polyrace_launch *launch; /* an item, or null */
    polyrace_options o;
    pr_options hb;
    size_t budget; /* of memory, for pr_in_budget */
    pr_job *jobs;
    int n_jobs;
} pr_plan;
/* upto: parse only (false) or lower too (true). */
pr_status pr_plan_make(pr_plan *p, polyrace_context *c, const polyrace_module *m,
                       const polyrace_launch *l, const polyrace_options *o, bool lower,
                       pr_error *err);
/* The plan's options with the job's premises. */
void pr_job_options(const pr_plan *p, const pr_job *j, pr_options *out);
/* Setup of the concrete evaluator for a job at its launch; false when there is no grid. Contents
 * of tensors
 * are given when the records show that nothing writes them, or always (the caller checks). */
bool pr_job_interp(pr_arena *arena, const pr_job *j, bool contents, pr_interp_setup *out);

/* polyrace_verdict.c: the verdict as polyrace_verdict_write writes it. */
void pr_verdict_render(pr_buf *b, polyrace_verdict *v, int format);
/* polyrace_shm.c */
void pr_job_check_ttgir(const pr_plan *p, pr_job *j, pr_config_verdict *out);
/* Appends the relations of the TTGIR text, as text or a JSON object; false when there is none. v: its verdict. */
bool pr_job_explain_ttgir(const pr_plan *p, pr_job *j, const pr_config_verdict *v, bool json, pr_buf *b);
/* One stage of a TTGIR text; false: it is none. */
bool pr_job_dump_ttgir(const pr_plan *p, pr_job *j, polyrace_stage stage, pr_buf *b);
/* Of the text beside the TTIR text: fills out->second. */
void pr_job_check_second(const pr_plan *p, pr_job *j, pr_config_verdict *out);
/* polyrace_consan.c: the tables of the emulated ConSan after each step of one schedule. */
void pr_job_consan_tables(const pr_plan *p, pr_job *j, pr_buf *out);
/* polyrace_coverage.c: notes where configurations of one launch do not write the same bytes. */
void pr_compare_coverage(pr_plan *p, struct polyrace_verdict *v);
/* polyrace_confirm.c */
void pr_confirmer_init(pr_confirmer *out, pr_job *job);
void pr_confirmer_end(pr_job *job);
#endif
