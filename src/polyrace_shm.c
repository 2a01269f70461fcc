/* The check of a TTGIR text: shared and tensor memory, for the public library. */
#include "polyrace_impl.h"
#include "shm/check.h"

/* Relations of a whole kernel: so many isl operations for one of a query (shared-memory.md 4.6). */
enum { OPS_A_KERNEL = 2500 };

static void check(const pr_plan *p, pr_job *j, const pr_ir *ir, const pr_op *func, pr_config_verdict *out)
{
    pr_shm_options options;
    pr_shm_options_default(&options);
    options.max_ops = p->o.max_ops ? p->o.max_ops * OPS_A_KERNEL : 0;
    options.no_proof = p->o.engine == POLYRACE_ENGINE_Z3; /* the proof is made of isl relations */
    options.cross_check = p->o.cross_check;
    options.interrupt = &p->ctx->interrupt;
    pr_shm_check(j->arena, ir, func, &options, out);
}

void pr_job_check_ttgir(const pr_plan *p, pr_job *j, pr_config_verdict *out)
{ check(p, j, j->module->ir, j->func, out); }

void pr_job_check_second(const pr_plan *p, pr_job *j, pr_config_verdict *out)
{
    pr_config_verdict *v = out->second = PR_NEW(j->arena, pr_config_verdict);
    const char *why = j->second->limit.message;
    const pr_op *func = NULL;
    v->ttgir = v->deterministic = true;
    v->launch = j->launch;
    v->us_parse = j->second->us_parse;
    if (j->second->ir)
        func = pr_ir_kernel(j->second->ir, pr_launch_doc_kernel(p->launch->doc, p->launch->item), &why);
    if (func) {
        check(p, j, j->second->ir, func, v);
        return;
    }
    pr_refusal r = { .kind = PR_REFUSAL_OTHER, .message = pr_arena_printf(j->arena, "no kernel in the TTGIR text: %s", why) };
    pr_vec_push(j->arena, &v->refusals, r);
    pr_verdict_ttgir(v, false);
}
