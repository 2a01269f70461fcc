/* The check of a TTGIR text: shared and tensor memory, for the public library. */
#include "polyrace_impl.h"
#include "shm/check.h"

/* Relations of a whole kernel: so many isl operations for one of a query (shared-memory.md 4.6). */
enum { OPS_A_KERNEL = 2500 };

void pr_job_check_ttgir(const pr_plan *p, pr_job *j, pr_config_verdict *out)
{
    pr_shm_options options;
    pr_shm_options_default(&options);
    options.max_ops = p->o.max_ops ? p->o.max_ops * OPS_A_KERNEL : 0;
    options.no_proof = p->o.engine == POLYRACE_ENGINE_Z3; /* the proof is made of isl relations */
    options.cross_check = p->o.cross_check;
    options.interrupt = &p->ctx->interrupt;
    pr_shm_check(j->arena, j->module->ir, j->func, &options, out);
}
