/* One TTGIR kernel: read, run at a list of launch values, prove for all of them. */
#ifndef PR_SHM_CHECK_H
#define PR_SHM_CHECK_H
#include "hb/verdict.h"
#include "shm/prove.h"

/* Where the text is from: what it says about places in shared memory is taken, or ignored, or complete. */
typedef enum { PR_SHM_STAGE_AUTO, PR_SHM_STAGE_BEFORE_ALLOCATION, PR_SHM_STAGE_AFTER_ALLOCATION } pr_shm_stage;

typedef struct pr_shm_options {
    int64_t max_k;               /* greatest launch value of the bounded runs                       */
    int64_t max_ops;             /* isl operations of one kernel, 0 = no limit                      */
    bool no_proof;               /* bounded runs only                                            */
    bool explain;
    bool certify;                /* fill in the certificate of a proof                             */
    bool check_membar;           /* judge the text as it stands: CTA barriers and fences must be in it   */
    const char *ptx; size_t n_ptx;/* with check_membar: the PTX of the same compile; null: what the text has counts  */
    bool strict_gluon;           /* note the proxy fences that one partition leaves to the compiler        */
    pr_shm_stage stage;
    bool cross_check;            /* prove broken kernels too: a proof is then an error of ours        */
    const pr_shm_binding *launch;/* null: every launch; else what a text for which that is not proved may be
                                    proved for                                                   */
    pr_flag *interrupt;
    const pr_engine *smt;        /* what products and quotients of launch values are (factors.c); null: not asked     */
    int64_t z3_rlimit;
} pr_shm_options;
void pr_shm_options_default(pr_shm_options *o);

/* Appends the relations of a kernel, proved or not: text or a JSON object (explain.h). launch: at o->launch. */
void pr_shm_explain(pr_arena *arena, const pr_ir *ir, const pr_op *func, const pr_shm_options *o, bool launch, bool json, pr_buf *b);

/* For `polyrace dump`: the events, or (protocol) what is done with each barrier. */
void pr_shm_dump(pr_arena *arena, const pr_ir *ir, const pr_op *func, const pr_shm_options *o, bool protocol, pr_buf *b);

/* Fills the TTGIR part of a configuration's verdict: findings, refusals, notes, qualifiers, status. */
void pr_shm_check(pr_arena *arena, const pr_ir *ir, const pr_op *func, const pr_shm_options *o,
                  pr_config_verdict *out);
#endif
