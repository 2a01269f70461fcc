/* polyrace_explain: the verdict of a launch with its race relations and race-free conditions. */
#include "hb/explain.h"
#include "polyrace_picture.h"

/* ,"pairs":[...],"pictures":[...] */
static pr_status pictures(pr_buf *b, pr_job *j, const pr_options *o, const pr_config_verdict *v, pr_error *err)
{
    pr_proofs proofs;
    pr_confirmer confirm;
    pr_confirmer_init(&confirm, j);
    pr_status s = pr_explain_proofs(j->arena, j->records, j->launch, o, &confirm, &proofs, err);
    pr_confirmer_end(j);
    if (s != PR_OK) return s;
    pr_buf_puts(b, ",\n");
    pr_explain_pairs_json(b, j->records, &proofs);
    pr_buf_puts(b, ",\n");
    return pr_pictures_json(b, j, o, v, err);
}

static pr_status explain_all(pr_plan *p, polyrace_verdict *v, bool json, pr_buf *b, pr_error *err)
{
    if (json) pr_buf_puts(b, ",\n\"explanations\":[");
    for (int k = 0; k < p->n_jobs; k++) {
        pr_job *j = &p->jobs[k];
        if (json && k) pr_buf_putc(b, ',');
        if (!j->lowered) {
            if (json) pr_buf_puts(b, "null");
            continue;
        }
        pr_options o;
        pr_explanation x;
        pr_job_options(p, j, &o);
        pr_status s = pr_explain_config(j->arena, j->records, j->launch, &o, &x, err);
        if (s == PR_OK && v->configs[k].status == PR_VERDICT_OK)
            s = pr_explain_barriers(j->arena, j->records, j->launch, &o, &v->configs[k], &x, err);
        if (s != PR_OK) return s;
        pr_explain_settle(&x, &v->configs[k]);
        if (json) {
            pr_explain_json(b, j->records, &x);
            b->n--;                                    /* two more members before its brace                  */
            s = pictures(b, j, &o, &v->configs[k], err);
            if (s != PR_OK) return s;
            pr_buf_putc(b, '}');
            continue;
        }
        if (p->n_jobs > 1) pr_buf_printf(b, "\n  configuration %d\n", k);
        pr_explain_text(b, j->records, &x, &v->configs[k]);
    }
    if (json) pr_buf_putc(b, ']');
    pr_buf shared;                                     /* beside the explanations: a list, null where there is no TTGIR text */
    pr_buf_init(&shared, b->arena);
    bool any = false;
    for (int k = 0; k < p->n_jobs; k++) {
        if (json) pr_buf_puts(&shared, k ? ",\n" : ",\n\"shared\":[");
        bool told = pr_job_explain_ttgir(p, &p->jobs[k], &v->configs[k], json, &shared);
        if (json && !told) pr_buf_puts(&shared, "null");
        any = any || told;
    }
    if (json) pr_buf_putc(&shared, ']');
    if (any) pr_buf_add(b, shared.data, shared.n);
    return PR_OK;
}

polyrace_error_kind polyrace_explain(polyrace_context *c, const polyrace_module *m, const polyrace_launch *launch_or_null,
                                     const polyrace_options *o, int format, const polyrace_sink *sink,
                                     polyrace_status *status, polyrace_error *err)
{
    polyrace_options full;
    int kind = format & 0xff;
    if (kind != POLYRACE_FORMAT_TEXT && kind != POLYRACE_FORMAT_JSON)
        return pr_usage(err, "an explanation is written as text or json");
    if (!pr_options_read(o, &full, err)) return POLYRACE_USAGE;
    if (!full.no_explain) full.no_explain = -1;           /* asked for: more work on each relation */
    polyrace_verdict *v = polyrace_check(c, m, launch_or_null, &full, err);
    if (!v) return err ? err->kind : POLYRACE_BAD_INPUT;
    if (status) *status = polyrace_verdict_status(v);
    PR_EXHAUSTED(c)
    {
        polyrace_verdict_free(v);
        return pr_context_exhausted(c, err);
    }
    pr_error e = { 0 };
    pr_plan p;
    pr_status s = pr_plan_make(&p, c, m, launch_or_null, &full, true, &e);
    if (s != PR_OK) {
        polyrace_verdict_free(v);
        return pr_copy_error(err, &e);
    }
    pr_buf b;
    pr_buf_init(&b, p.box->child.arena);
    bool json = kind == POLYRACE_FORMAT_JSON;
    if (json) pr_buf_puts(&b, "{\"version\":1,\"verdict\":\n");
    pr_verdict_render(&b, v, format);
    c->oom.limit = p.budget;
    s = explain_all(&p, v, json, &b, &e);
    if (c->interrupt && (s == PR_OK || s == PR_ERR_INTERRUPTED)) {
        c->interrupt = 0;
        s = e.kind ? e.kind : pr_fail(&e, PR_ERR_INTERRUPTED, "", 0, 0, "interrupted");
    }
    if (json) pr_buf_puts(&b, "}\n");
    if (s == PR_OK) sink->write(sink->user, b.data, b.n);
    pr_child_drop(&p.box->child);
    polyrace_verdict_free(v);
    return s == PR_OK ? POLYRACE_OK : pr_copy_error(err, &e);
}
