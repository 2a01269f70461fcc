/* The check of a TTGIR text: shared and tensor memory, for the public library. */
#include "polyrace_impl.h"
#include <string.h>
#include "shm/check.h"

/* Relations of a whole kernel: so many isl operations for one of a query (shared-memory.md 4.6). */
enum { OPS_A_KERNEL = 2500 };

static bool same_type(const pr_type *a, const pr_type *b)
{ return a && b && a->kind == b->kind && a->bits == b->bits; }

/* What the launch says about the arguments of func. A second text of the same compile has the arguments of the first;
 * those it has not are left open. */
static const pr_shm_binding *binding(pr_job *j, const pr_op *func)
{
    const pr_launch *l = j->launch;
    if (!l) return NULL;
    const pr_block *own = pr_region_block(func->regions[0]), *first = j->func ? pr_region_block(j->func->regions[0]) : NULL;
    int n = func == j->func || (first && first->n_args == own->n_args) ? own->n_args : 0;
    pr_shm_binding *b = PR_NEW(j->arena, pr_shm_binding);
    bool *known = PR_NEW_N(j->arena, bool, n + 1);
    int64_t *value = PR_NEW_N(j->arena, int64_t, n + 1);
    for (int i = 0; i < n && i < l->n_args; i++) {
        bool same = func == j->func || (pr_str_eq(own->args[i]->name, first->args[i]->name) && same_type(own->args[i]->type, first->args[i]->type));
        known[i] = same && l->args[i].kind == PR_ARG_INT && l->args[i].value >= INT64_MIN && l->args[i].value <= INT64_MAX;
        value[i] = known[i] ? (int64_t)l->args[i].value : 0;
    }
    *b = (pr_shm_binding){ .n_args = n, .known = known, .value = value, .grid_known = l->grid_known };
    memcpy(b->grid, l->grid, sizeof b->grid);
    return b;
}

static void shm_options(const pr_plan *p, pr_job *j, const pr_op *func, pr_shm_options *o)
{
    pr_shm_options options;
    pr_shm_options_default(&options);
    if (p->o.rung != POLYRACE_RUNG_T0) options.launch = binding(j, func);
    options.max_ops = p->o.max_ops ? p->o.max_ops * OPS_A_KERNEL : 0;
    options.no_proof = p->o.engine == POLYRACE_ENGINE_Z3; /* the proof is made of isl relations */
    options.max_k = p->o.max_k;
    options.check_membar = p->o.check_membar;
    options.ptx = p->o.check_membar ? p->o.ptx : NULL;
    options.n_ptx = p->o.ptx_length;
    options.strict_gluon = p->o.strict_gluon;
    options.stage = (pr_shm_stage)p->o.ttgir_stage;
    options.cross_check = p->o.cross_check;
    options.certify = p->o.certify_dir != NULL;
    options.interrupt = &p->ctx->interrupt;
    options.smt = p->o.engine == POLYRACE_ENGINE_ISL ? NULL : pr_engine_z3();
    options.z3_rlimit = p->o.z3_rlimit;
    *o = options;
}

static void check(const pr_plan *p, pr_job *j, const pr_ir *ir, const pr_op *func, pr_config_verdict *out)
{
    pr_shm_options options;
    shm_options(p, j, func, &options);
    pr_shm_check(j->arena, ir, func, &options, out);
}

bool pr_job_explain_ttgir(const pr_plan *p, pr_job *j, const pr_config_verdict *v, bool json, pr_buf *b)
{
    const bool alone = j->func && j->module && j->module->ttgir;
    const pr_ir *ir = alone ? j->module->ir : j->second ? j->second->ir : NULL;
    const char *why;
    const pr_op *func = alone ? j->func : ir ? pr_ir_kernel(ir, pr_launch_doc_kernel(p->launch->doc, p->launch->item), &why) : NULL;
    pr_shm_options options;
    if (!func) return false;
    shm_options(p, j, func, &options);
    pr_shm_explain(j->arena, ir, func, &options, alone ? v->ttgir_launch : v->second && v->second->ttgir_launch, json, b);
    return true;
}

bool pr_job_dump_ttgir(const pr_plan *p, pr_job *j, polyrace_stage stage, pr_buf *b)
{
    pr_shm_options options;
    if (!j->func || !j->module || !j->module->ttgir) return false;
    shm_options(p, j, j->func, &options);
    if (stage == POLYRACE_STAGE_ISL) pr_shm_explain(j->arena, j->module->ir, j->func, &options, false, false, b);
    else pr_shm_dump(j->arena, j->module->ir, j->func, &options, stage == POLYRACE_STAGE_PROTOCOL, b);
    return true;
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
