/* The public library: contexts, modules, launches, and the pipeline
 *
 *   text -> parse, verify -> bind the launch -> lower -> records -> check -> join -> verdict
 *
 * This file and its siblings src/polyrace_*.c are the only ones that see every layer. Each public
 * function arms the context's out-of-memory point; nothing below tests for null. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include "front/access.h"
#include "front/assume.h"
#include "front/thread_map.h"
#include "polyrace_cache.h"
#include "polyrace_certify.h"
#include "util/opt.h"

#ifndef POLYRACE_VERSION
#define POLYRACE_VERSION "0.0.0"
#endif

/* ---- errors -------------------------------------------------------------------------------- */
polyrace_error_kind pr_copy_error(polyrace_error *to, const pr_error *from)
{
    if (to && to->kind == POLYRACE_OK) {
        to->kind = (polyrace_error_kind)from->kind;
        to->line = from->line;
        to->column = from->col;
        memcpy(to->file, from->file, sizeof to->file);
        memcpy(to->message, from->message, sizeof to->message);
    }
    return (polyrace_error_kind)from->kind;
}

polyrace_error_kind pr_usage(polyrace_error *err, const char *message)
{
    pr_error e = { 0 };
    pr_fail(&e, PR_ERR_USAGE, "", 0, 0, "%s", message);
    return pr_copy_error(err, &e);
}

int64_t pr_now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* ---- options --------------------------------------------------------------------------------- */
/* False: the option has no field of its own. */
static bool put_option(polyrace_options *o, pr_opt_id id, int64_t v)
{
    switch (id) {
    case PR_OPT_ENGINE: o->engine = (int)v; break;
    case PR_OPT_RUNG: o->rung = (int)v; break;
    case PR_OPT_ATOMIC_ORDER: o->atomic_order = (int)v; break;
    case PR_OPT_DEP_ORDER: o->dep_order = (int)v; break;
    case PR_OPT_PROGRAM_ORDER: o->program_order = (int)v; break;
    case PR_OPT_NO_EXPLAIN: o->no_explain = (int)v; break;
    case PR_OPT_NO_PRETEST: o->no_pretest = (int)v; break;
    case PR_OPT_MAX_K: o->max_k = v; break;
    case PR_OPT_CHECK_MEMBAR: o->check_membar = (int)v; break;
    case PR_OPT_STRICT_GLUON: o->strict_gluon = (int)v; break;
    case PR_OPT_TTGIR_STAGE: o->ttgir_stage = (int)v; break;
    case PR_OPT_CROSS_CHECK: o->cross_check = (int)v; break;
    case PR_OPT_ACCEPT_PREMISES: o->accept_premises = (int)v; break;
    case PR_OPT_BUDGET: o->budget_ms = v; break;
    case PR_OPT_T0_TIMEOUT: o->t0_timeout_ms = v; break;
    case PR_OPT_T1_TIMEOUT: o->t1_timeout_ms = v; break;
    case PR_OPT_MAX_OPS: o->max_ops = v; break;
    case PR_OPT_FIRST_OPS: o->first_ops = v; break;
    case PR_OPT_Z3_RLIMIT: o->z3_rlimit = v; break;
    case PR_OPT_MAX_LEAVES: o->max_leaves = v; break;
    case PR_OPT_MAX_MEMORY: o->max_memory = v; break;
    case PR_OPT_MAX_NESTING: o->max_nesting = v; break;
    case PR_OPT_MAX_TEXT: o->max_text = v; break;
    case PR_OPT_SNAPSHOT_ELEMENTS: o->snapshot_elements = v; break;
    case PR_OPT_SNAPSHOT_BYTES: o->snapshot_bytes = v; break;
    case PR_OPT_PAIR: o->pair = v; break;
    case PR_OPT_NO_CACHE: o->no_cache = (int)v; break;
    default: return false;
    }
    return true;
}

void polyrace_options_init(polyrace_options *o)
{
    memset(o, 0, sizeof *o);
    o->struct_size = sizeof *o;
    for (int k = 0; k < PR_OPT_COUNT; k++) {
        const pr_opt *row = pr_opt_get((pr_opt_id)k);
        bool number = row->kind == PR_OPT_KIND_COUNT || row->kind == PR_OPT_KIND_MS;
        if ((row->where & PR_OPT_LIBRARY) && number && row->fallback >= 0) put_option(o, (pr_opt_id)k, row->fallback);
    }
    o->pair = -1;
}

polyrace_error_kind polyrace_options_set(polyrace_options *o, const char *name, const char *value,
                                         polyrace_error *err)
{
    int id = pr_opt_find(name, strlen(name));
    pr_error e = { 0 };
    int64_t v = 0;
    if (o->struct_size < sizeof *o)
        return pr_usage(err, "options were not initialised by polyrace_options_init");
    if (id < 0 || !(pr_opt_get((pr_opt_id)id)->where & PR_OPT_LIBRARY)) {
        pr_fail(&e, PR_ERR_USAGE, "", 0, 0, "unknown option \"%.60s\"", name);
        return pr_copy_error(err, &e);
    }
    if (id == PR_OPT_CACHE) {
        o->cache_dir = value && *value ? value : NULL;
        return POLYRACE_OK;
    }
    if (pr_opt_value((pr_opt_id)id, value, &v, &e) != PR_OK) return pr_copy_error(err, &e);
    if (!put_option(o, (pr_opt_id)id, v)) {
        pr_fail(&e, PR_ERR_INTERNAL, "", 0, 0, "option \"%s\" has no field", name);
        return pr_copy_error(err, &e);
    }
    return POLYRACE_OK;
}

/* A caller built against an older header has a shorter struct: its missing fields keep the
 * defaults. */
bool pr_options_read(const polyrace_options *o, polyrace_options *full, polyrace_error *err)
{
    polyrace_options_init(full);
    if (!o) return true;
    if (o->struct_size < offsetof(polyrace_options, grid) || o->struct_size > 65536) {
        pr_usage(err, "options were not initialised by polyrace_options_init");
        return false;
    }
    memcpy(full, o, o->struct_size < sizeof *full ? o->struct_size : sizeof *full);
    full->struct_size = sizeof *full;
    return true;
}

void pr_options_convert(polyrace_context *c, const polyrace_options *o, pr_options *out)
{
    pr_options_default(out);
    out->engine = (pr_engine_choice)o->engine;
    out->no_pretest = o->no_pretest;
    out->no_explain = o->no_explain > 0;
    out->explain_factor = o->no_explain < 0 ? PR_EXPLAIN_FACTOR : 1;
    out->cross_check = o->cross_check;
    out->stop_at = (pr_rung)o->rung;
    out->atomic_order = (pr_atomic_order)o->atomic_order;
    out->accept_premises = o->accept_premises;
    out->dep_strict = o->dep_order == POLYRACE_DEP_ORDER_STRICT;
    out->source_order = o->program_order == POLYRACE_PROGRAM_ORDER_SOURCE;
    out->budget_ms = o->budget_ms;
    out->t0_timeout_ms = o->t0_timeout_ms;
    out->t1_timeout_ms = o->t1_timeout_ms;
    out->limits.max_ops = o->max_ops;
    out->limits.first_ops = o->first_ops;
    out->limits.z3_rlimit = o->z3_rlimit;
    out->limits.max_leaves = (int)o->max_leaves;
    out->limits.max_memory = o->max_memory;
    out->limits.interrupt = &c->interrupt;
}

/* ---- modules --------------------------------------------------------------------------------- */
typedef struct reading {
    polyrace_module *m;
    const char *text;
    size_t length;
    const polyrace_options *o;
    pr_error e;
} reading;

static void read_module(void *user)
{
    reading *r = user;
    pr_read_limits limits;
    pr_read_limits_default(&limits);
    limits.max_nesting = (int)r->o->max_nesting;
    limits.max_bytes = (size_t)r->o->max_text;
    r->m->ir = pr_ir_parse(r->m->child.arena, r->text, r->length, r->m->name, &limits, &r->e);
}

/* The module is still open. */
static polyrace_module *module_read(polyrace_context *c, const char *text, size_t length,
                                    const char *name, const polyrace_options *o, size_t budget,
                                    pr_error *err)
{
    if (c->interrupt) {
        c->interrupt = 0;
        pr_fail(err, PR_ERR_INTERRUPTED, "", 0, 0, "interrupted");
        return NULL;
    }
    polyrace_module *m = pr_child_new(c, sizeof *m, NULL);
    m->name = pr_arena_strndup(m->child.arena, name ? name : "", name ? strlen(name) : 0);
    reading r = { .m = m, .text = text, .length = length, .o = o };
    int64_t began = pr_now_us();
    pr_arena_pos mark = pr_arena_mark(m->child.arena);
    size_t outer = c->oom.limit;
    c->oom.stop = &c->interrupt;
    bool fits = pr_in_budget(c, budget, read_module, &r);
    c->oom.stop = NULL;
    c->oom.limit = outer;
    if (!fits) {
        char why[96];
        pr_arena_release(m->child.arena, mark);
        m->ir = NULL;
        m->over_budget = true;
        r.e = (pr_error){ 0 };
        pr_fail(&r.e, PR_ERR_LIMIT, m->name, 0, 0, "%s", pr_over_budget(why, o, "reading the text"));
    }
    m->us_parse = pr_now_us() - began;
    if (!m->ir && r.e.kind == PR_ERR_LIMIT) {
        m->limit = r.e; /* not bad input: the check refuses it by name */
    } else if (!m->ir) {
        if (err && err->kind == PR_OK) *err = r.e;
        pr_child_drop(&m->child);
        return NULL;
    }
    return m;
}

polyrace_module *polyrace_module_parse_with(polyrace_context *c, const char *text, size_t length,
                                            const char *name, const polyrace_options *o,
                                            polyrace_error *err)
{
    polyrace_options full;
    if (!pr_options_read(o, &full, err)) return NULL;
    PR_EXHAUSTED(c) return pr_context_exhausted(c, err), NULL;
    pr_error e = { 0 };
    polyrace_module *m = module_read(c, text, length, name, &full, pr_context_budget(c, &full), &e);
    if (m) m->child.open = false;
    else pr_copy_error(err, &e);
    return m;
}

polyrace_module *polyrace_module_parse_ttgir(polyrace_context *c, const char *text, size_t length,
                                             const char *name, const polyrace_options *o,
                                             polyrace_error *err)
{
    polyrace_module *m = polyrace_module_parse_with(c, text, length, name, o, err);
    if (m) m->ttgir = true;
    return m;
}

polyrace_module *polyrace_module_parse(polyrace_context *c, const char *text, size_t length,
                                       const char *name, polyrace_error *err)
{ return polyrace_module_parse_with(c, text, length, name, NULL, err); }

void polyrace_module_free(polyrace_module *m)
{
    if (m) pr_child_drop(&m->child);
}

/* ---- launches -------------------------------------------------------------------------------- */
void pr_launch_end(pr_child *self)
{ pr_launch_doc_free(((polyrace_launch *)self)->doc); }

static polyrace_launch *launch_read(polyrace_context *c, const char *text, size_t length,
                                    const char *name, const char *base_dir, bool lines,
                                    pr_error *err)
{
    polyrace_launch *l = pr_child_new(c, sizeof *l, pr_launch_end);
    pr_arena *arena = l->child.arena;
    l->document = l;
    l->doc = pr_launch_doc_parse(arena, text, length, name, base_dir, lines, err);
    if (l->doc) {
        int n = pr_launch_doc_count(l->doc);
        l->item = n == 1 ? 0 : -1;
        l->input = pr_launch_doc_name(l->doc);
        l->items = PR_NEW_N(arena, polyrace_launch, n);
        for (int k = 0; k < n; k++) {
            const char *input = n == 1 ? l->input : pr_arena_printf(arena, "%s[%d]", l->input, k);
            l->items[k] =
                (polyrace_launch){ .document = l, .doc = l->doc, .item = k, .input = input };
        }
        if (n > 1 || pr_launch_doc_check(l->doc, 0, err) == PR_OK) {
            l->child.open = false;
            return l;
        }
    }
    pr_child_drop(&l->child);
    return NULL;
}

polyrace_launch *polyrace_launch_parse_named(polyrace_context *c, const char *text, size_t length,
                                             const char *name, const char *base_dir, int json_lines,
                                             polyrace_error *err)
{
    PR_EXHAUSTED(c) return pr_context_exhausted(c, err), NULL;
    pr_error e = { 0 };
    polyrace_launch *l = launch_read(c, text, length, name, base_dir, json_lines != 0, &e);
    if (!l) pr_copy_error(err, &e);
    return l;
}

polyrace_launch *polyrace_launch_parse_json(polyrace_context *c, const char *text, size_t length,
                                            const char *base_dir, polyrace_error *err)
{ return polyrace_launch_parse_named(c, text, length, "launch", base_dir, 0, err); }

size_t polyrace_launch_count(const polyrace_launch *l)
{ return l->doc ? (size_t)pr_launch_doc_count(l->doc) : 1; }

polyrace_launch *polyrace_launch_item(polyrace_launch *l, size_t i, polyrace_error *err)
{
    if (l->building) return i == 0 ? l : (pr_usage(err, "no such launch"), NULL);
    polyrace_launch *whole = l->document;
    if (i >= (size_t)pr_launch_doc_count(whole->doc)) return pr_usage(err, "no such launch"), NULL;
    polyrace_context *c = whole->child.ctx;
    PR_EXHAUSTED(c) return pr_context_exhausted(c, err), NULL;
    pr_error e = { 0 };
    if (pr_launch_doc_check(whole->doc, (int)i, &e) == PR_OK) return &whole->items[i];
    pr_copy_error(err, &e);
    return NULL;
}

void polyrace_launch_free(polyrace_launch *l)
{
    if (l && l->document == l) pr_child_drop(&l->child);
}

/* ---- the plan: texts, bindings, records ----------------------------------------------------- */
static void close_file(void *f)
{ fclose(f); }

static char *read_file(pr_arena *arena, const char *path, size_t most, size_t *length)
{
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    pr_guard open;
    pr_guard_set(arena, &open, close_file, f);
    struct stat s;
    size_t cap = 1 << 16, n = 0;
    if (fstat(fileno(f), &s) == 0 && S_ISREG(s.st_mode) && s.st_size >= 0 && (uintmax_t)s.st_size < most)
        cap = (size_t)s.st_size + 1; /* one more than is read: the end is seen */
    char *text = pr_arena_raw(arena, cap);
    for (;;) {
        n += fread(text + n, 1, cap - n, f);
        if (n < cap || n > most) break;
        char *wider = pr_arena_raw(arena, cap * 2);
        memcpy(wider, text, n);
        text = wider;
        cap *= 2;
    }
    bool failed = ferror(f) != 0;
    pr_guard_end(&open);
    *length = n;
    return failed ? NULL : text;
}

static void refuse(pr_job *j, pr_refusal_kind kind, const char *message)
{
    pr_refusal f = { .kind = kind, .message = message };
    pr_vec_push(j->arena, &j->refusals, f);
}

/* The refusal of what took too much. */
static void over_budget(pr_plan *p, pr_job *j, pr_refusal_vec *to, const char *doing)
{
    char why[96];
    pr_refusal f = { .kind = PR_REFUSAL_BUDGET, .message = pr_arena_printf(j->arena, "%s", pr_over_budget(why, &p->o, doing)),
                     .hint = "raise --max-memory" };
    pr_vec_push(j->arena, to, f);
}

/* One step of a configuration's preparation. What takes too much memory is refused, and the step left nothing. */
typedef struct step {
    pr_status (*run)(pr_plan *p, int k, pr_error *err);
    pr_plan *p;
    int k;
    pr_status s;
    pr_error *err;
} step;

static void run_step(void *user)
{
    step *x = user;
    x->s = x->run(x->p, x->k, x->err);
}

static pr_status in_budget(pr_plan *p, int k, pr_status (*run)(pr_plan *p, int k, pr_error *err), const char *doing, pr_error *err)
{
    pr_job *j = &p->jobs[k], before = *j;
    step x = { .run = run, .p = p, .k = k, .err = err };
    pr_arena_pos mark = pr_arena_mark(j->arena);
    if (pr_in_budget(p->ctx, p->budget, run_step, &x)) return x.s;
    p->ctx->oom.stop = NULL;
    pr_child_abandon(p->ctx, &p->box->child);
    pr_arena_release(j->arena, mark);
    *j = before;
    over_budget(p, j, &j->refusals, doing);
    return PR_OK;
}

static void hold(pr_plan *p, polyrace_module *m)
{
    pr_vec_push(p->box->child.arena, &p->box->modules, m);
    pr_child_keep(&m->child); /* nothing may run out in between */
}

static const char *dir_of(pr_arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? pr_arena_strndup(arena, path, slash == path ? 1 : (size_t)(slash - path)) : "";
}

/* The text of configuration k. Equal paths are read once. */
static pr_status read_text(pr_plan *p, pr_job *j, const pr_launch_text *t, polyrace_module **out,
                           pr_error *err)
{
    const char *name = pr_launch_doc_name(p->launch->doc), *text = t->text.s;
    size_t length = t->text.n;
    if (t->path) {
        text = read_file(j->arena, t->path, (size_t)p->o.max_text + 1, &length);
        if (!text) return pr_fail(err, PR_ERR_IO, name, t->line, t->col, "cannot read %s", t->path);
    }
    *out = module_read(p->ctx, text, length, t->path ? t->path : name, &p->o, p->budget, err);
    if (!*out) return err ? err->kind : PR_ERR_INPUT;
    (*out)->ttgir = t->ttgir;
    hold(p, *out);
    (*out)->child.open = false;
    pr_child_drop(&(*out)->child); /* the verdict is the only owner */
    return PR_OK;
}

static pr_status job_text(pr_plan *p, int k, pr_error *err)
{
    pr_job *j = &p->jobs[k];
    pr_launch_doc *doc = p->launch->doc;
    pr_launch_text t;
    pr_launch_doc_text(j->arena, doc, p->launch->item, k, &t);
    const char *name = pr_launch_doc_name(doc);
    if (t.kind == PR_LAUNCH_TEXT_NONE) {
        pr_str why = pr_launch_doc_compile_error(doc, p->launch->item, k);
        int line, col;
        pr_launch_doc_place(doc, p->launch->item, "ttir", -1, &line, &col);
        if (!why.n)
            return pr_fail(err, PR_ERR_INPUT, name, line, col,
                           "ttir: missing: the launch names no text (\"ttir\" or \"ttir_text\")");
        refuse(j, PR_REFUSAL_COMPILE_FAILED, pr_arena_strndup(j->arena, why.s, why.n));
        return PR_OK;
    }
    if (!t.ttgir) { /* the other level, when the launch has it */
        pr_launch_text second;
        pr_launch_doc_ttgir(j->arena, doc, p->launch->item, k, &second);
        if (second.kind != PR_LAUNCH_TEXT_NONE && read_text(p, j, &second, &j->second, err) != PR_OK)
            return err ? err->kind : PR_ERR_INPUT;
    }
    for (int i = 0; i < k && t.path; i++) {
        polyrace_module *m = p->jobs[i].module;
        if (!m || strcmp(m->name, t.path) != 0 || m->ttgir != t.ttgir) continue;
        j->module = m;
        return PR_OK;
    }
    pr_status s = read_text(p, j, &t, &j->module, err);
    if (s == PR_OK) j->us_parse = j->module->us_parse;
    return s;
}

static pr_status job_texts(pr_plan *p, const polyrace_module *m, pr_error *err)
{
    pr_error first = { 0 };
    int failed = 0;
    for (int k = 0; k < p->n_jobs; k++) {
        pr_job *j = &p->jobs[k];
        pr_error e = { 0 };
        if (m) {
            j->module = (polyrace_module *)m;
            j->us_parse = m->us_parse;
        } else if (in_budget(p, k, job_text, "reading the text", &e) != PR_OK) {
            if (e.kind != PR_ERR_INPUT && e.kind != PR_ERR_IO) return *err = e, e.kind;
            if (!failed++) first = e;
            refuse(j, PR_REFUSAL_UNPARSABLE,
                   pr_arena_printf(j->arena, "%s:%d:%d: %s", e.file, e.line, e.col, e.message));
        }
        if (j->module && !j->module->ir) {
            refuse(j, j->module->over_budget ? PR_REFUSAL_BUDGET : PR_REFUSAL_OTHER, j->module->limit.message);
            if (j->module->over_budget) j->refusals.data[j->refusals.n - 1].hint = "raise --max-memory";
            j->refusals.data[j->refusals.n - 1].loc.text_line = j->module->limit.line;
        }
    }
    if (failed < p->n_jobs) return PR_OK;
    *err = first; /* nothing can be read: bad input, not a refusal */
    return first.kind;
}

static pr_status job_bind(pr_plan *p, int k, pr_error *err)
{
    pr_job *j = &p->jobs[k];
    if (!j->module || !j->module->ir) return PR_OK;
    const char *why = "";
    pr_str kernel = { 0 };
    if (p->launch) kernel = pr_launch_doc_kernel(p->launch->doc, p->launch->item);
    j->func = pr_ir_kernel(j->module->ir, kernel, &why);
    int line = 1, col = 1;
    if (kernel.n) pr_launch_doc_place(p->launch->doc, p->launch->item, "kernel", -1, &line, &col);
    if (!j->func && kernel.n)
        return pr_fail(err, PR_ERR_INPUT, pr_launch_doc_name(p->launch->doc), line, col,
                       "kernel: " PR_STR_FMT ": %s in %s", PR_STR_ARG(kernel), why,
                       j->module->name);
    if (!j->func)
        return pr_fail(err, PR_ERR_INPUT, j->module->name, 1, 1, "no kernel to check: %s", why);
    if (!p->launch) return PR_OK;
    pr_launch_limits limits = { p->o.snapshot_elements, p->o.snapshot_bytes };
    j->launch = PR_NEW(j->arena, pr_launch);
    return pr_launch_bind(j->arena, p->launch->doc, p->launch->item, k, j->module->ir, j->func,
                          &limits, p->o.grid[0] > 0 ? p->o.grid : NULL, j->launch, &j->refusals,
                          err);
}

static pr_status read_premise(pr_job *j, pr_assume *a, const char *file, int line, int col,
                              pr_status kind, pr_error *err)
{
    pr_term t;
    const char *why;
    if (!pr_assume_parse(j->records, a->text, &t, &why))
        return pr_fail(err, kind, file, line, col, "assume \"%.60s\": %s", a->text, why);
    a->term = t.id;
    return PR_OK;
}

static pr_status job_premises(pr_plan *p, pr_job *j, pr_error *err)
{
    pr_status s = PR_OK;
    j->n_assume = (int)p->o.n_assume;
    j->assume = PR_NEW_N(j->arena, pr_assume, j->n_assume);
    for (int k = 0; k < j->n_assume && s == PR_OK; k++) {
        j->assume[k].text = pr_arena_strndup(j->arena, p->o.assume[k], strlen(p->o.assume[k]));
        s = read_premise(j, &j->assume[k], "", 0, 0, PR_ERR_USAGE, err);
    }
    for (int k = 0; j->launch && k < j->launch->n_assume && s == PR_OK; k++) {
        int line, col;
        pr_launch_doc_place(p->launch->doc, p->launch->item, "assume", k, &line, &col);
        s = read_premise(j, &j->launch->assume[k], pr_launch_doc_name(p->launch->doc), line, col,
                         PR_ERR_INPUT, err);
    }
    return s;
}

void pr_job_options(const pr_plan *p, const pr_job *j, pr_options *out)
{
    *out = p->hb;
    out->assume = j->assume;
    out->n_assume = j->n_assume;
}

/* Does the launch name a Triton release of at least major.minor? Unknown and odd spellings: no. */
static bool triton_at_least(pr_str version, int major, int minor)
{
    int part[2] = { 0, 0 }, k = 0;
    for (size_t i = 0; i < version.n && k < 2; i++) {
        char c = version.s[i];
        if (c >= '0' && c <= '9' && part[k] < 10000) part[k] = part[k] * 10 + (c - '0');
        else if (c == '.') k++;
        else break;
    }
    return part[0] > major || (part[0] == major && part[1] >= minor);
}

static pr_status job_lower(pr_plan *p, int k, pr_error *err)
{
    pr_job *j = &p->jobs[k];
    if (!j->func || j->module->ttgir) return PR_OK;
    if (j->launch && j->launch->num_ctas > 1) {
        refuse(j, PR_REFUSAL_MULTI_CTA,
               pr_arena_printf(j->arena, "num_ctas is %d", j->launch->num_ctas));
        return PR_OK;
    }
    int64_t began = pr_now_us();
    pr_lower_options how;
    pr_lower_options_default(&how);
    PR_VEC(pr_desc_binding) desc = { 0 };
    for (int a = 0; j->launch && a < j->launch->n_args; a++) {
        const pr_arg *arg = &j->launch->args[a];
        if (arg->kind != PR_ARG_DESCRIPTOR) continue;
        pr_desc_binding d = { .arg = a, .rank = arg->desc_rank };
        memcpy(d.shape, arg->desc_shape, sizeof d.shape);
        memcpy(d.stride, arg->desc_stride, sizeof d.stride);
        pr_vec_push(j->arena, &desc, d);
    }
    how.desc = desc.data;
    how.n_desc = desc.n;
    how.no_gpu_barrier = j->launch && triton_at_least(j->launch->triton, 3, 7);
    j->records = PR_NEW(j->arena, pr_records);
    pr_error e = { 0 };
    p->ctx->oom.stop = &p->ctx->interrupt;
    pr_status s = pr_lower_kernel(j->arena, pr_terms_new(j->arena), j->module->ir, j->func, &how,
                                  j->records, &e);
    p->ctx->oom.stop = NULL;
    if (s == PR_ERR_INTERNAL) { /* contained: this configuration is not analysed */
        refuse(j, PR_REFUSAL_INTERNAL, pr_arena_printf(j->arena, "%s", e.message));
        return PR_OK;
    }
    if (s != PR_OK) return *err = e, s;
    for (int i = 0; i < j->refusals.n; i++)
        pr_vec_push(j->arena, &j->records->refusals, j->refusals.data[i]);
    if (j->second && j->second->ir) {
        const pr_op *gpu = pr_ir_kernel(j->second->ir, pr_launch_doc_kernel(p->launch->doc, p->launch->item), &(const char *){ 0 });
        if (gpu) pr_thread_maps(j->arena, j->module->ir, j->func, j->second->ir, gpu, j->records);
    }
    s = job_premises(p, j, err);
    j->us_lower = pr_now_us() - began;
    j->lowered = s == PR_OK;
    return s;
}

static void add_dir(pr_verdict_box *box, const char *dir)
{
    for (int k = 0; k < box->dirs.n; k++)
        if (strcmp(box->dirs.data[k], dir) == 0) return;
    pr_vec_push(box->child.arena, &box->dirs, dir);
}

static void box_end(pr_child *self)
{
    pr_verdict_box *b = (pr_verdict_box *)self;
    for (int k = 0; k < b->modules.n; k++) pr_child_drop(&b->modules.data[k]->child);
}

pr_status pr_plan_make(pr_plan *p, polyrace_context *c, const polyrace_module *m,
                       const polyrace_launch *l, const polyrace_options *o, bool lower,
                       pr_error *err)
{
    *p = (pr_plan){ .ctx = c, .o = *o };
    p->budget = pr_context_budget(c, o);
    pr_options_convert(c, o, &p->hb);
    if (!m && !l)
        return pr_fail(err, PR_ERR_USAGE, "", 0, 0, "neither a module nor a launch was given");
    if (l && l->building && pr_launch_ready((polyrace_launch *)l, err) != PR_OK) return err->kind;
    if (l && l->item < 0)
        return pr_fail(err, PR_ERR_USAGE, l->input, 0, 0,
                       "a document of several launches: check its items");
    p->launch = (polyrace_launch *)l;
    p->box = pr_child_new(c, sizeof *p->box, box_end);
    pr_arena *arena = p->box->child.arena;
    p->box->v.arena = arena;
    p->n_jobs = l ? pr_launch_doc_configs(l->doc, l->item) : 1;
    p->jobs = PR_NEW_N(arena, pr_job, p->n_jobs);
    for (int k = 0; k < p->n_jobs; k++) {
        p->jobs[k].arena = arena;
        p->jobs[k].interrupt = &c->interrupt;
    }
    pr_vec_reserve(arena, &p->box->modules, 2 * p->n_jobs + 1); /* a step that is undone does not move it */
    if (m) hold(p, (polyrace_module *)m);
    if (o->source_dir)
        add_dir(p->box, pr_arena_strndup(arena, o->source_dir, strlen(o->source_dir)));
    if (l)
        add_dir(p->box, pr_arena_strndup(arena, pr_launch_doc_base_dir(l->doc),
                                         strlen(pr_launch_doc_base_dir(l->doc))));
    pr_status s = job_texts(p, m, err);
    for (int k = 0; k < p->n_jobs && s == PR_OK; k++) {
        if (p->jobs[k].module) add_dir(p->box, dir_of(arena, p->jobs[k].module->name));
        s = in_budget(p, k, job_bind, "binding the launch", err);
        if (s == PR_OK && lower) s = in_budget(p, k, job_lower, "lowering this kernel", err);
    }
    add_dir(p->box, "");
    for (int k = 0, n = p->box->dirs.n; k < n;
         k++) /* texts often lie in a folder beside their sources */
        if (p->box->dirs.data[k][0])
            add_dir(p->box, pr_arena_printf(arena, "%s/..", p->box->dirs.data[k]));
        else add_dir(p->box, "..");
    if (s != PR_OK) pr_child_drop(&p->box->child);
    return s;
}

/* May the evaluator trust the launch's contents of t: nothing in the kernel may write them. */
static bool contents_stay(const pr_job *j, const pr_tensor *t)
{
    if (!j->records) return false;
    for (int64_t k = 0; k < t->numel && t->is_unsigned; k++)
        if (t->values[k] < 0) return false;
    for (int k = 0; k < j->records->records.n; k++) {
        const pr_record *r = &j->records->records.data[k];
        if (r->kind == PR_RECORD_LOAD) continue;
        const pr_tensor *w =
            r->base >= 0 && r->base < j->launch->n_args ? j->launch->args[r->base].tensor : NULL;
        if (!w || (w->storage_lo < t->storage_hi && t->storage_lo < w->storage_hi)) return false;
    }
    return true;
}

bool pr_job_interp(pr_arena *arena, const pr_job *j, bool contents, pr_interp_setup *out)
{
    const pr_launch *l = j->launch;
    if (!l || !l->grid_known) return false;
    pr_interp_arg *args = PR_NEW_N(arena, pr_interp_arg, l->n_args);
    for (int a = 0; a < l->n_args; a++) {
        const pr_arg *from = &l->args[a];
        const pr_tensor *t = from->tensor;
        if (from->kind == PR_ARG_INT) {
            args[a].kind = PR_INTERP_ARG_INT;
            args[a].value = from->value;
        } else if (from->kind == PR_ARG_TENSOR || from->kind == PR_ARG_DESCRIPTOR) {
            args[a].kind = from->kind == PR_ARG_TENSOR ? PR_INTERP_ARG_POINTER : PR_INTERP_ARG_DESC;
            args[a].value = t->ptr;
            args[a].rank = from->desc_rank;
            if (from->kind == PR_ARG_TENSOR && t->has_values && t->contiguous &&
                (contents || contents_stay(j, t))) {
                args[a].values = t->values;
                args[a].n_values = t->numel;
                args[a].elem_bytes = t->elem_bytes;
            }
            memcpy(args[a].shape, from->desc_shape, sizeof args[a].shape);
            memcpy(args[a].stride, from->desc_stride, sizeof args[a].stride);
        }
    }
    *out = (pr_interp_setup){
        .ir = j->module->ir, .func = j->func, .args = args, .n_args = l->n_args, .interrupt = j->interrupt
    };
    memcpy(out->grid, l->grid, sizeof out->grid);
    return true;
}

/* ---- check ---------------------------------------------------------------------------------- */
typedef struct deciding {
    pr_plan *p;
    pr_job *j;
    pr_config_verdict *out;
    pr_certificate *cert;
    pr_status s;
    pr_error e;
} deciding;

static void decide(void *user)
{
    deciding *d = user;
    pr_plan *p = d->p;
    pr_job *j = d->j;
    pr_config_verdict *out = d->out;
    if (j->second) pr_job_check_second(p, j, out);
    if (j->func && j->module->ttgir) {
        pr_job_check_ttgir(p, j, out);
    } else if (j->lowered) {
        pr_question question;
        int64_t began = pr_now_us();
        out->records = j->records;
        bool alone = p->o.last_check && p->n_jobs == 1 && !p->o.cache_dir; /* equal to nothing that comes */
        bool kept = !d->cert && !alone && pr_question_of(p, j, &question);
        if (kept && pr_answer_find(p, j, &question, out)) {
            out->us_decide = pr_now_us() - began;
        } else {
            pr_confirmer confirm;
            pr_options options;
            pr_job_options(p, j, &options);
            pr_confirmer_init(&confirm, j);
            j->certify = d->cert != NULL;
            if (d->cert) pr_certificate_start(d->cert, j->arena, &options);
            d->s = pr_check_config(j->arena, j->records, j->launch, &options, &confirm, out, &d->e);
            pr_confirmer_end(j);
            if (kept && d->s == PR_OK && !p->ctx->interrupt) pr_answer_keep(p, j, &question, out);
        }
    } else {
        out->status = PR_VERDICT_UNSUPPORTED;
        for (int i = 0; i < j->refusals.n; i++)
            pr_vec_push(j->arena, &out->refusals, j->refusals.data[i]);
    }
}

static void begin(const pr_job *j, pr_config_verdict *out)
{
    *out = (pr_config_verdict){ .us_parse = j->us_parse, .us_lower = j->us_lower, .launch = j->launch, .deterministic = true };
}

static pr_status check_job(pr_plan *p, int k, pr_config_verdict *out, pr_certificate *cert,
                           pr_error *err)
{
    deciding d = { .p = p, .j = &p->jobs[k], .out = out, .cert = cert };
    pr_job *j = d.j;
    pr_verdict_box *box = p->box;
    struct polyrace_verdict before = box->v; /* notes */
    pr_arena_pos mark = pr_arena_mark(j->arena);
    begin(j, out);
    if (!pr_in_budget(p->ctx, p->budget, decide, &d)) {
        /* the records are half built: nothing of this configuration is used any more */
        pr_arena_release(j->arena, mark);
        box->v = before;
        begin(j, out);
        if (cert) *cert = (pr_certificate){ 0 };
        j->lowered = false;
        j->records = NULL;
        out->status = PR_VERDICT_UNSUPPORTED;
        over_budget(p, j, &out->refusals, "deciding this launch");
        return PR_OK;
    }
    pr_status s = d.s;
    pr_error e = d.e;
    if (p->ctx->interrupt || s == PR_ERR_INTERRUPTED) {
        p->ctx->interrupt = 0;
        return pr_fail(err, PR_ERR_INTERRUPTED, "", 0, 0, "interrupted");
    }
    if (s == PR_OK) return PR_OK;
    if (s != PR_ERR_INTERNAL) return *err = e, s;
    pr_refusal f = { .kind = PR_REFUSAL_INTERNAL,
                     .message = pr_arena_printf(j->arena, "%s", e.message) };
    pr_vec_push(j->arena, &out->refusals, f); /* contained: no proof, and other findings stay */
    out->status = out->races.n ? PR_VERDICT_RACES : PR_VERDICT_UNSUPPORTED;
    out->rung = PR_RUNG_NONE;
    return PR_OK;
}

static polyrace_verdict *check(polyrace_context *c, const polyrace_module *m,
                               const polyrace_launch *l, const polyrace_options *o, pr_error *err)
{
    pr_plan p;
    if (pr_plan_make(&p, c, m, l, o, true, err) != PR_OK) return NULL;
    struct polyrace_verdict *v = &p.box->v;
    v->n_configs = p.n_jobs;
    v->configs = PR_NEW_N(v->arena, pr_config_verdict, p.n_jobs);
    pr_status s = PR_OK;
    pr_certificate *certs = o->certify_dir ? PR_NEW_N(v->arena, pr_certificate, p.n_jobs) : NULL;
    for (int k = 0; k < p.n_jobs && s == PR_OK; k++)
        s = check_job(&p, k, &v->configs[k], certs ? &certs[k] : NULL, err);
    if (s != PR_OK) {
        pr_child_drop(&p.box->child);
        return NULL;
    }
    v->input = pr_str_of(pr_arena_printf(v->arena, "%s", l ? l->input : m->name));
    for (int k = 0; k < p.n_jobs && !v->kernel.n; k++)
        if (p.jobs[k].func) v->kernel = pr_op_attr(p.jobs[k].func, "sym_name")->text;
    if (!v->kernel.n && l) {
        pr_str kernel = pr_launch_doc_kernel(l->doc, l->item);
        v->kernel = (pr_str){ pr_arena_strndup(v->arena, kernel.s, kernel.n), kernel.n };
    }
    if (p.n_jobs > 1) pr_compare_coverage(&p, v);
    pr_verdict_join(v);
    if (certs && pr_certificate_write(o->certify_dir, &p, certs, v, err) != PR_OK) {
        pr_child_drop(&p.box->child);
        return NULL;
    }
    p.box->child.open = false;
    return v;
}

polyrace_verdict *polyrace_check(polyrace_context *c, const polyrace_module *m,
                                 const polyrace_launch *launch_or_null, const polyrace_options *o,
                                 polyrace_error *err)
{
    polyrace_options full;
    if (!pr_options_read(o, &full, err)) return NULL;
    PR_EXHAUSTED(c) return pr_context_exhausted(c, err), NULL;
    pr_error e = { 0 };
    polyrace_verdict *v = check(c, m, launch_or_null, &full, &e);
    if (!v) pr_copy_error(err, &e);
    return v;
}

/* ---- versions ------------------------------------------------------------------------------- */
const char *polyrace_version(void)
{ return POLYRACE_VERSION; }

const char *polyrace_engine_version(const char *name)
{
    const pr_engine *e = strcmp(name, "isl") == 0  ? pr_engine_isl()
                         : strcmp(name, "z3") == 0 ? pr_engine_z3()
                                                   : NULL;
    return e ? e->version() : NULL;
}

const char *polyrace_refusal_slug(size_t i)
{ return i + 1 < PR_REFUSAL_COUNT ? pr_refusal_slug((pr_refusal_kind)(i + 1)) : NULL; }

const char *polyrace_refusal_meaning(const char *slug)
{
    pr_refusal_kind k = pr_refusal_by_slug(pr_str_of(slug));
    return k ? pr_refusal_meaning(k) : NULL;
}

const char *polyrace_refusal_advice(const char *slug)
{
    pr_refusal_kind k = pr_refusal_by_slug(pr_str_of(slug));
    return k ? pr_refusal_advice(k) : NULL;
}
