/* polyrace_consan: how schedules of a kernel end under the emulated ConSan, as text or JSON. */
#include <inttypes.h>
#include <string.h>
#include "polyrace_impl.h"
#include "shm/emulate.h"

static const pr_ir *text_of(const pr_plan *p, const pr_job *j, const pr_op **func)
{
    const char *why;
    *func = NULL;
    if (j->module && j->module->ttgir) {
        *func = j->func;
        return j->module->ir;
    }
    if (!j->second || !j->second->ir) return NULL;
    *func = pr_ir_kernel(j->second->ir, pr_launch_doc_kernel(p->launch->doc, p->launch->item), &why);
    return j->second->ir;
}

static bool emulate(const pr_plan *p, pr_job *j, const polyrace_consan_options *o, pr_consan_result *r, pr_buf *tables)
{
    const pr_op *func;
    const pr_ir *ir = text_of(p, j, &func);
    if (!ir || !func) return false;
    pr_consan_options e = { .epoch = o->epoch == POLYRACE_CONSAN_OLDER ? PR_CS_OLDER : PR_CS_CURRENT, .schedules = o->schedules,
                            .seed = o->seed, .max_trips = o->max_trips, .launch = j->launch, .func = func,
                            .interrupt = &p->ctx->interrupt };
    pr_consan_emulate(j->arena, ir, &e, r, tables);
    return true;
}

void pr_job_consan_tables(const pr_plan *p, pr_job *j, pr_buf *out)
{
    polyrace_consan_options o = { .epoch = POLYRACE_CONSAN_CURRENT, .schedules = 1, .seed = 1, .max_trips = 6 };
    pr_consan_result r = { 0 };
    if (!emulate(p, j, &o, &r, out)) pr_buf_puts(out, "# not emulated: no TTGIR text\n");
    for (int i = 0; i < r.refusals.n; i++)
        pr_buf_printf(out, "# not emulated: %s: %s\n", pr_refusal_slug(r.refusals.data[i].kind), r.refusals.data[i].message);
}

/* ---- JSON ----------------------------------------------------------------------------------------------- */
static void quoted(pr_buf *b, const char *text)
{ pr_buf_quote(b, pr_str_of(text ? text : ""), true); }

static void loc_json(pr_buf *b, const pr_loc *l)
{
    pr_buf_puts(b, "{\"file\": ");
    pr_buf_quote(b, l->file, true);
    pr_buf_printf(b, ", \"line\": %d, \"text_line\": %d}", l->line, l->text_line);
}

static const char *partition(const pr_job *j, int agent)
{ return agent ? pr_arena_printf(j->arena, "partition%d", agent - 1) : "default"; }

static const char *const kinds[] = { "clean", "report", "hang" };

static void outcome_json(pr_buf *b, const pr_job *j, const pr_consan_outcome *x)
{
    pr_buf_printf(b, "    {\"kind\": \"%s\", \"schedules\": %" PRId64 ", \"first\": %" PRId64, kinds[x->kind], x->count, x->first);
    if (x->text) {
        pr_buf_puts(b, ", \"message\": ");
        quoted(b, x->text);
    }
    if (x->at.op) {
        pr_buf_puts(b, ", \"op\": ");
        pr_buf_quote(b, x->at.op->name, true);
        pr_buf_puts(b, ", \"partition\": ");
        quoted(b, partition(j, x->at.agent));
        pr_buf_puts(b, ", \"iteration\": [");
        for (int i = 0; i < x->at.n_loops; i++) pr_buf_printf(b, "%s%" PRId64, i ? ", " : "", x->at.iteration[i]);
        pr_buf_puts(b, "], \"loc\": ");
        loc_json(b, &x->at.loc);
    }
    pr_buf_puts(b, "}");
}

static void json(pr_buf *b, const pr_job *j, const polyrace_consan_options *o, const pr_consan_result *r)
{
    pr_buf_printf(b, "{\n  \"version\": 1, \"epoch\": \"%s\", \"seed\": %" PRId64 ", \"schedules\": %" PRId64 ", \"operations\": %" PRId64
                     ",\n  \"values\": {", o->epoch == POLYRACE_CONSAN_OLDER ? "older" : "current", o->seed, r->schedules, r->events);
    for (int i = 0; i < r->values.n; i++) {
        pr_buf_puts(b, i ? ", " : "");
        pr_buf_quote(b, r->values.data[i].name, true);
        pr_buf_printf(b, ": %" PRId64, r->values.data[i].value);
    }
    pr_buf_puts(b, "}, \"trip_counts\": ");
    quoted(b, r->trip_counts);
    pr_buf_printf(b, ",\n  \"assumed_conditions\": %s, \"refusals\": [", r->assumed ? "true" : "false");
    for (int i = 0; i < r->refusals.n; i++) {
        pr_buf_printf(b, "%s{\"kind\": \"%s\", \"message\": ", i ? ", " : "", pr_refusal_slug(r->refusals.data[i].kind));
        quoted(b, r->refusals.data[i].message);
        pr_buf_puts(b, ", \"loc\": ");
        loc_json(b, &r->refusals.data[i].loc);
        pr_buf_puts(b, "}");
    }
    pr_buf_puts(b, "],\n  \"outcomes\": [");
    for (int i = 0; i < r->outcomes.n; i++) {
        pr_buf_puts(b, i ? ",\n" : "\n");
        outcome_json(b, j, &r->outcomes.data[i]);
    }
    pr_buf_puts(b, r->outcomes.n ? "\n  ]\n}\n" : "]\n}\n");
}

/* ---- text ------------------------------------------------------------------------------------------------ */
static void place(pr_buf *b, const pr_job *j, const pr_consan_outcome *x)
{
    pr_buf_printf(b, "    %s, %s", pr_arena_strndup(j->arena, x->at.op->name.s, x->at.op->name.n), partition(j, x->at.agent));
    for (int i = 0; i < x->at.n_loops; i++) pr_buf_printf(b, "%s%" PRId64, i ? ", " : " iteration ", x->at.iteration[i]);
    if (x->at.loc.line) pr_buf_printf(b, ", at " PR_STR_FMT ":%d", PR_STR_ARG(x->at.loc.file), x->at.loc.line);
    else pr_buf_printf(b, ", at line %d of the text", x->at.loc.text_line);
    pr_buf_printf(b, "; first in schedule %" PRId64 "\n", x->first);
}

static void text(pr_buf *b, const pr_job *j, const polyrace_consan_options *o, const pr_consan_result *r)
{
    pr_buf_printf(b, "emulated ConSan (%s), %" PRId64 " schedules of seed %" PRId64,
                  o->epoch == POLYRACE_CONSAN_OLDER ? "older: as Triton 3.6 instruments" : "current", r->schedules, o->seed);
    bool any = false;
    for (int i = 0; i < r->values.n; i++) {
        const pr_consan_value *v = &r->values.data[i];
        if (!v->given && memchr(v->name.s, '.', v->name.n)) continue;  /* extents of a descriptor */
        pr_buf_printf(b, "%s" PR_STR_FMT " = %" PRId64 "%s", any ? ", " : "\n  ", PR_STR_ARG(v->name), v->value, v->given ? "" : " (not given)");
        any = true;
    }
    if (r->trip_counts && *r->trip_counts) pr_buf_printf(b, "\n  %s", r->trip_counts);
    pr_buf_puts(b, "\n");
    for (int i = 0; i < r->refusals.n; i++)
        pr_buf_printf(b, "  not emulated (%s): %s\n", pr_refusal_slug(r->refusals.data[i].kind), r->refusals.data[i].message);
    for (int i = 0; i < r->outcomes.n; i++) {
        const pr_consan_outcome *x = &r->outcomes.data[i];
        pr_buf_printf(b, "  %" PRId64 " of %" PRId64 ": %s\n", x->count, r->schedules,
                      x->text ? x->text : x->kind == PR_CONSAN_HANG ? "hangs, and ConSan says nothing" : "ends without a report");
        if (x->at.op) place(b, j, x);
    }
    if (r->assumed) pr_buf_puts(b, "  note: conditions or values that depend on data were assumed\n");
    if (r->hull) pr_buf_puts(b, "  note: views that are not contiguous count as all bytes around them\n");
}

polyrace_error_kind polyrace_consan(polyrace_context *c, const polyrace_module *m, const polyrace_launch *launch_or_null,
                                    const polyrace_options *o, const polyrace_consan_options *consan,
                                    const polyrace_sink *sink, polyrace_consan_result *result, polyrace_error *err)
{
    polyrace_options full;
    if (!pr_options_read(o, &full, err)) return POLYRACE_USAGE;
    if (!consan || consan->schedules < 1 || consan->max_trips < 0) return pr_usage(err, "no schedules to run");
    PR_EXHAUSTED(c) return pr_context_exhausted(c, err);
    *result = (polyrace_consan_result){ 0 };
    pr_error e = { 0 };
    pr_plan p;
    if (pr_plan_make(&p, c, m, launch_or_null, &full, false, &e) != PR_OK) return pr_copy_error(err, &e);
    c->oom.limit = p.budget;
    pr_buf b;
    pr_buf_init(&b, p.box->child.arena);
    pr_status s = PR_OK;
    for (int k = 0; k < p.n_jobs && s == PR_OK; k++) {
        pr_consan_result r;
        const polyrace_module *read = p.jobs[k].module;
        if (read && !read->ir) {
            s = pr_fail(&e, PR_ERR_LIMIT, read->limit.file, read->limit.line, read->limit.col, "%s", read->limit.message);
            break;
        }
        if (!emulate(&p, &p.jobs[k], consan, &r, NULL)) {
            s = pr_fail(&e, PR_ERR_INPUT, p.jobs[k].module ? p.jobs[k].module->name : "", 0, 0,
                        "no TTGIR text to emulate");
            break;
        }
        if (c->interrupt) s = pr_fail(&e, PR_ERR_INTERRUPTED, "", 0, 0, "interrupted");
        result->refused |= r.refusals.n > 0;
        for (int i = 0; i < r.outcomes.n; i++) {
            const pr_consan_outcome *x = &r.outcomes.data[i];
            *(x->kind == PR_CONSAN_CLEAN ? &result->clean : x->kind == PR_CONSAN_HANG ? &result->hangs : &result->reports) += x->count;
        }
        if (consan->format == POLYRACE_FORMAT_JSON) json(&b, &p.jobs[k], consan, &r);
        else text(&b, &p.jobs[k], consan, &r);
    }
    c->interrupt = 0;
    if (s == PR_OK) sink->write(sink->user, b.data, b.n);
    pr_child_drop(&p.box->child);
    return s == PR_OK ? POLYRACE_OK : pr_copy_error(err, &e);
}
