/* polyrace_dump: one stage of the analysis as text (docs/dumps.md). No times, no addresses: the
 * same input gives the same bytes. */
#include <string.h>
#include "poly/poly.h"
#include "polyrace_impl.h"

typedef struct dump {
    pr_buf *b;
    pr_job *job;
    pr_plan *plan;
    polyrace_stage stage;
    int asked; /* questions printed so far */
    int seen;  /* pairs printed so far */
    pr_error *err;
} dump;

static void pair_head(dump *d, const pr_pair_view *v, const char *comment)
{
    const pr_record *a = &d->job->records->records.data[v->a],
                    *b = &d->job->records->records.data[v->b];
    pr_buf_printf(d->b, "%s pair %d: r%d (" PR_STR_FMT ":%d) with r%d (" PR_STR_FMT ":%d), %s\n",
                  comment, v->pair, v->a, PR_STR_ARG(a->loc.file), a->loc.line, v->b,
                  PR_STR_ARG(b->loc.file), b->loc.line,
                  v->intra ? "threads of one program" : "programs");
}

/* The question in the engine's language and, for isl, what isl answers. */
static void in_language(dump *d, const pr_pair_view *v, const pr_engine *engine,
                        const char *comment)
{
    const char *why = "";
    pr_arena *arena = d->job->arena;
    pr_buf text;
    pr_buf_init(&text, arena);
    if (!engine->dump(v->query, &d->plan->hb.limits, &text, &why)) {
        pr_buf_printf(d->b, "%s not in this language: %s\n", comment, why ? why : "");
        return;
    }
    pr_buf_add(d->b, text.data, text.n);
    if (text.n && text.data[text.n - 1] != '\n') pr_buf_putc(d->b, '\n');
    if (d->stage == POLYRACE_STAGE_ISL) {
        pr_outcome out = { 0 };
        pr_engine_ctx *ctx = engine->open(arena);
        engine->decide(ctx, v->query, &d->plan->hb.limits, arena, &out);
        pr_buf_printf(d->b, "%s answer: %s", comment,
                      out.answer == PR_ANSWER_EMPTY     ? "empty"
                      : out.answer == PR_ANSWER_WITNESS ? "not empty"
                                                        : "unknown");
        if (out.answer == PR_ANSWER_UNKNOWN)
            pr_buf_printf(d->b, " (%s: %s)", pr_refusal_slug(out.why),
                          out.message ? out.message : "");
        for (int k = 0; out.answer == PR_ANSWER_WITNESS && k < v->query->n_vars; k++) {
            pr_buf_printf(d->b, "%s%s = ", k ? ", " : ", at ",
                          pr_var_get(v->query->terms, v->query->vars[k])->name);
            pr_buf_i128(d->b, out.point.value[k]);
        }
        pr_buf_putc(d->b, '\n');
        engine->close(ctx);
    }
}

static void visit(void *user, const pr_pair_view *v)
{
    dump *d = user;
    const char *comment = d->stage == POLYRACE_STAGE_SMT2 ? ";" : "#";
    d->seen++;
    pair_head(d, v, comment);
    if (v->note) pr_buf_printf(d->b, "%s %s\n", comment, v->note);
    if (!v->query) return;
    if (d->stage == POLYRACE_STAGE_SMT2 && d->asked++) pr_buf_puts(d->b, "(reset)\n");
    if (d->stage == POLYRACE_STAGE_QUERY) pr_query_print(d->b, v->query);
    else
        in_language(d, v, d->stage == POLYRACE_STAGE_ISL ? pr_engine_isl() : pr_engine_z3(),
                    comment);
    pr_buf_putc(d->b, '\n');
}

/* ---- iteration domains and access maps ------------------------------------------------------ */
typedef struct mention {
    pr_terms *T;
    PR_VEC(pr_var) vars;
    pr_arena *arena;
} mention;

static void collect(void *user, pr_term t)
{
    mention *m = user;
    if (pr_term_op_of(m->T, t) != PR_TERM_OP_VAR) return;
    pr_var v = pr_term_var(m->T, t);
    for (int k = 0; k < m->vars.n; k++)
        if (m->vars.data[k].id == v.id) return;
    pr_vec_push(m->arena, &m->vars, v);
}

static void bound(dump *d, pr_term_vec *domain, pr_var v, pr_term below)
{
    pr_terms *T = d->job->records->terms;
    pr_vec_push(d->job->arena, domain, pr_le(T, PR_TERM_ZERO, pr_var_term(T, v)));
    pr_vec_push(d->job->arena, domain, pr_lt(T, pr_var_term(T, v), below));
}

/* Scalars that the launch gives become numbers, as at the rungs that know it. */
static pr_subst launch_values(dump *d)
{
    pr_records *R = d->job->records;
    const pr_launch *l = d->job->launch;
    pr_subst s = { .T = R->terms, .n_var_map = pr_vars_count(R->terms) };
    pr_term *map = PR_NEW_N(d->job->arena, pr_term, s.n_var_map);
    for (int k = 0; l && k < R->n_args && k < l->n_args; k++)
        if (l->args[k].kind == PR_ARG_INT && R->args[k].param.id)
            map[R->args[k].param.id] = pr_const(R->terms, l->args[k].value);
    s.var_map = map;
    return s;
}

/* Instances are [pid, loop counts, lanes]; what is not one of them is a parameter. */
static void dump_record(dump *d, const pr_record *r)
{
    pr_records *R = d->job->records;
    pr_terms *T = R->terms;
    pr_arena *arena = d->job->arena;
    PR_VEC(pr_var) dims = { 0 }, params = { 0 };
    PR_VEC(const char *) names = { 0 };
    pr_term_vec domain = { 0 };
    pr_buf_printf(d->b, "# r%d: " PR_STR_FMT " at " PR_STR_FMT ":%d:%d\n", r->id,
                  PR_STR_ARG(r->loc.op), PR_STR_ARG(r->loc.file), r->loc.line, r->loc.col);
    if (r->refused.kind) {
        pr_buf_printf(d->b, "# not represented: %s: %s\n\n", pr_refusal_slug(r->refused.kind),
                      r->refused.message ? r->refused.message : "");
        return;
    }
    for (int k = 0; k < 3; k++) {
        if (!R->axis_read[k] && k > 0) continue;
        pr_vec_push(arena, &dims, R->pid[k]);
        bound(d, &domain, R->pid[k], pr_var_term(T, R->grid[k]));
    }
    PR_VEC(const pr_frame *) frames = { 0 };
    for (const pr_frame *f = r->frame; f; f = f->outer) pr_vec_push(arena, &frames, f);
    for (int k = frames.n; k-- > 0;) {
        const pr_frame *f = frames.data[k];
        if (f->kind == PR_FRAME_COND) {
            pr_vec_push(arena, &domain, f->cond);
            continue;
        }
        pr_vec_push(arena, &dims, f->k);
        pr_vec_push(arena, &domain, pr_le(T, PR_TERM_ZERO, pr_var_term(T, f->k)));
        pr_vec_push(
            arena, &domain,
            pr_lt(T, pr_add(T, f->lower, pr_mul(T, pr_var_term(T, f->k), f->step)), f->upper));
    }
    for (int k = 0; k < r->rank; k++) {
        pr_vec_push(arena, &dims, R->lane[k]);
        bound(d, &domain, R->lane[k], pr_const(T, r->shape[k]));
    }
    pr_vec_push(arena, &domain, r->mask);
    pr_subst known = launch_values(d);
    for (int k = 0; k < domain.n; k++) domain.data[k] = pr_subst_apply(&known, domain.data[k]);
    pr_term offset = pr_subst_apply(&known, r->offset);
    mention m = { .T = T, .arena = arena };
    for (int k = 0; k < domain.n; k++) pr_term_visit(T, domain.data[k], collect, &m);
    pr_term_visit(T, offset, collect, &m);
    for (int k = 0; k < m.vars.n; k++) {
        bool is_dim = false;
        for (int i = 0; i < dims.n; i++) is_dim = is_dim || dims.data[i].id == m.vars.data[k].id;
        if (!is_dim) pr_vec_push(arena, &params, m.vars.data[k]);
    }
    for (int k = 0; k < dims.n; k++) pr_vec_push(arena, &names, pr_var_get(T, dims.data[k])->name);
    pr_str arg = r->base >= 0 && r->base < R->n_args ? R->args[r->base].name : pr_str_of("memory");
    pr_isl_access in = { .name = pr_arena_printf(arena, "r%d", r->id),
                         .arg = pr_arena_strndup(arena, arg.s, arg.n),
                         .params = params.data,
                         .n_params = params.n,
                         .dims = dims.data,
                         .dim_names = names.data,
                         .n_dims = dims.n,
                         .domain = domain.data,
                         .n_domain = domain.n,
                         .offset = offset };
    pr_buf set, map;
    const char *why = "";
    pr_buf_init(&set, arena);
    pr_buf_init(&map, arena);
    if (!pr_isl_access_text(T, &in, d->plan->hb.limits.max_ops, arena, &set, &map, &why))
        pr_buf_printf(d->b, "# no isl form: %s\n", why ? why : "");
    else {
        pr_buf_add(d->b, set.data, set.n);
        if (!set.n || set.data[set.n - 1] != '\n') pr_buf_putc(d->b, '\n');
        pr_buf_add(d->b, map.data, map.n);
        if (!map.n || map.data[map.n - 1] != '\n') pr_buf_putc(d->b, '\n');
    }
    pr_buf_putc(d->b, '\n');
}

static pr_status dump_queries(dump *d)
{
    for (int k = 0;
         d->stage == POLYRACE_STAGE_ISL && d->plan->o.pair < 0 && k < d->job->records->records.n;
         k++)
        dump_record(d, &d->job->records->records.data[k]);
    if (d->stage == POLYRACE_STAGE_SMT2 && !pr_engine_z3())
        return pr_fail(d->err, PR_ERR_USAGE, "", 0, 0,
                       "stage smt2 is not available in this build (no Z3)");
    pr_options options;
    pr_job_options(d->plan, d->job, &options);
    pr_status s = pr_check_queries(d->job->arena, d->job->records, d->job->launch, &options,
                                   (int)d->plan->o.pair, visit, d, d->err);
    if (s == PR_OK && d->plan->o.pair >= 0 && !d->seen)
        pr_buf_printf(d->b, "%s there is no pair %lld\n",
                      d->stage == POLYRACE_STAGE_SMT2 ? ";" : "#", (long long)d->plan->o.pair);
    return s;
}

static pr_status dump_job(dump *d, int k)
{
    pr_job *j = d->job;
    const char *comment = d->stage == POLYRACE_STAGE_SMT2    ? ";"
                          : d->stage == POLYRACE_STAGE_PARSE ? "//"
                                                             : "#";
    if (d->plan->n_jobs > 1) pr_buf_printf(d->b, "%s configuration %d\n", comment, k);
    if (d->stage == POLYRACE_STAGE_PARSE && j->module && j->module->ir) {
        pr_ir_print(d->b, j->module->ir);
        return PR_OK;
    }
    if (d->stage == POLYRACE_STAGE_CONSAN) {
        pr_job_consan_tables(d->plan, j, d->b);
        return PR_OK;
    }
    bool events = d->stage == POLYRACE_STAGE_EVENTS || d->stage == POLYRACE_STAGE_PROTOCOL;
    if (events || d->stage == POLYRACE_STAGE_ISL) {
        if (pr_job_dump_ttgir(d->plan, j, d->stage, d->b)) return PR_OK;
        if (events) pr_buf_puts(d->b, "# no TTGIR text\n");
        if (events) return PR_OK;
    }
    if (!j->lowered) {
        for (int i = 0; i < j->refusals.n; i++)
            pr_buf_printf(d->b, "%s not analysed: %s: %s\n", comment,
                          pr_refusal_slug(j->refusals.data[i].kind),
                          j->refusals.data[i].message ? j->refusals.data[i].message : "");
        return PR_OK;
    }
    if (d->stage == POLYRACE_STAGE_ACCESS) {
        pr_records_print(d->b, j->records, false);
        return PR_OK;
    }
    if (d->stage == POLYRACE_STAGE_RECORDS) {
        pr_records_build(j->records, j->arena);
        pr_records_print(d->b, j->records, true);
        return PR_OK;
    }
    return dump_queries(d);
}

polyrace_error_kind polyrace_dump(polyrace_context *c, const polyrace_module *m,
                                  const polyrace_launch *launch_or_null, const polyrace_options *o,
                                  polyrace_stage stage, const polyrace_sink *sink,
                                  polyrace_error *err)
{
    polyrace_options full;
    if (!pr_options_read(o, &full, err)) return POLYRACE_USAGE;
    if (stage == POLYRACE_STAGE_VERDICT) {
        polyrace_verdict *v = polyrace_check(c, m, launch_or_null, o, err);
        if (!v) return err ? err->kind : POLYRACE_BAD_INPUT;
        PR_EXHAUSTED(c)
        {
            polyrace_verdict_free(v);
            return pr_context_exhausted(c, err);
        }
        pr_buf b;
        pr_buf_init(&b, v->arena);
        pr_report_options r = { 0 };
        pr_report_json(&b, v, &r, false);
        pr_buf_putc(&b, '\n');
        sink->write(sink->user, b.data, b.n);
        polyrace_verdict_free(v);
        return POLYRACE_OK;
    }
    PR_EXHAUSTED(c) return pr_context_exhausted(c, err);
    pr_error e = { 0 };
    pr_plan p;
    if (pr_plan_make(&p, c, m, launch_or_null, &full, stage != POLYRACE_STAGE_PARSE, &e) != PR_OK)
        return pr_copy_error(err, &e);
    c->oom.limit = p.budget;
    pr_buf b;
    pr_buf_init(&b, p.box->child.arena);
    pr_status s = PR_OK;
    for (int k = 0; k < p.n_jobs && s == PR_OK; k++) {
        dump d = { .b = &b, .job = &p.jobs[k], .plan = &p, .stage = stage, .err = &e };
        s = dump_job(&d, k);
    }
    if (s == PR_OK) sink->write(sink->user, b.data, b.n);
    pr_child_drop(&p.box->child);
    return s == PR_OK ? POLYRACE_OK : pr_copy_error(err, &e);
}
