/* Verdict handles of the public library: accessors and reports. */
#include <stdio.h>
#include <string.h>
#include "polyrace_impl.h"

static pr_verdict_box *box_of(const polyrace_verdict *v)
{ return (pr_verdict_box *)((char *)v - offsetof(pr_verdict_box, v)); }

void polyrace_verdict_free(polyrace_verdict *v)
{
    if (v) pr_child_drop(&box_of(v)->child);
}

polyrace_status polyrace_verdict_status(const polyrace_verdict *v)
{ return (polyrace_status)v->status; }
const char *polyrace_verdict_rung(const polyrace_verdict *v)
{ return v->status == PR_VERDICT_OK ? pr_rung_name(v->rung) : NULL; }
const char *polyrace_verdict_scope(const polyrace_verdict *v)
{ return v->status == PR_VERDICT_OK ? pr_scope_name(v->rung) : NULL; }

/* Slices become strings once; the verdict is not shared between threads. */
static const char *text(const polyrace_verdict *v, pr_str s)
{ return pr_arena_strndup(v->arena, s.s ? s.s : "", s.n); }

const char *polyrace_verdict_kernel(const polyrace_verdict *v)
{
    PR_EXHAUSTED(box_of(v)->child.ctx) return NULL;
    return text(v, v->kernel);
}

size_t polyrace_verdict_config_count(const polyrace_verdict *v)
{ return (size_t)v->n_configs; }
size_t polyrace_verdict_qualifier_count(const polyrace_verdict *v)
{ return (size_t)v->qualifiers.n; }
const char *polyrace_verdict_qualifier(const polyrace_verdict *v, size_t i)
{ return i < (size_t)v->qualifiers.n ? v->qualifiers.data[i] : NULL; }

size_t polyrace_verdict_race_count(const polyrace_verdict *v)
{
    size_t n = 0;
    for (int c = 0; c < v->n_configs; c++) n += (size_t)v->configs[c].races.n;
    return n;
}

static void fill_access(const polyrace_verdict *v, const pr_config_verdict *c,
                        const pr_witness_access *a, polyrace_access *out)
{
    const pr_record *r = &c->records->records.data[a->record];
    *out = (polyrace_access){ .op = text(v, r->loc.op),
                              .kind = pr_record_kind_name(r->kind),
                              .tensor = text(v, pr_report_tensor(c, a->record)),
                              .file = text(v, r->loc.file),
                              .line = r->loc.line,
                              .column = r->loc.col,
                              .element = (int64_t)a->element,
                              .byte = (int64_t)a->byte,
                              .writes = a->writes,
                              .rank = (size_t)a->rank,
                              .lane = a->lane,
                              .loops = (size_t)a->n_iterations,
                              .iteration = a->iteration };
    memcpy(out->program, a->program, sizeof out->program);
}

/* Where the verdict's i-th race (or refusal) is: in which configuration (-1: there is none), and its number there. */
typedef struct place { int config; size_t at; } place;

static place find(const polyrace_verdict *v, bool races, size_t i)
{
    for (int c = 0; c < v->n_configs; c++) {
        size_t n = (size_t)(races ? v->configs[c].races.n : v->configs[c].refusals.n);
        if (i < n) return (place){ c, i };
        i -= n;
    }
    return (place){ -1, 0 };
}

static polyrace_error_kind fill_race(const polyrace_verdict *v, place at, polyrace_race *out)
{
    if (at.config < 0) return POLYRACE_USAGE;
    const pr_config_verdict *one = &v->configs[at.config];
    const pr_race *r = &one->races.data[at.at];
    *out = (polyrace_race){ .type = (polyrace_race_type)r->type,
                            .same_program = r->intra,
                            .confirmed = r->confirmation == PR_CONFIRMED,
                            .config = (size_t)at.config,
                            .reason = r->reason };
    fill_access(v, one, &r->a, &out->first);
    fill_access(v, one, &r->b, &out->second);
    return POLYRACE_OK;
}

polyrace_error_kind polyrace_verdict_race(const polyrace_verdict *v, size_t i, polyrace_race *out)
{
    PR_EXHAUSTED(box_of(v)->child.ctx) return POLYRACE_MEMORY;
    return fill_race(v, find(v, true, i), out);
}

size_t polyrace_verdict_refusal_count(const polyrace_verdict *v)
{
    size_t n = 0;
    for (int c = 0; c < v->n_configs; c++) n += (size_t)v->configs[c].refusals.n;
    return n;
}

static polyrace_error_kind fill_refusal(const polyrace_verdict *v, place at, polyrace_refusal *out)
{
    if (at.config < 0) return POLYRACE_USAGE;
    const pr_refusal *f = &v->configs[at.config].refusals.data[at.at];
    *out = (polyrace_refusal){ .kind = pr_refusal_slug(f->kind),
                               .message = f->message ? f->message : pr_refusal_meaning(f->kind),
                               .hint = f->hint ? f->hint : pr_refusal_advice(f->kind),
                               .file = text(v, f->loc.file),
                               .op = text(v, f->loc.op),
                               .line = f->loc.line,
                               .column = f->loc.col,
                               .config = (size_t)at.config };
    return POLYRACE_OK;
}

polyrace_error_kind polyrace_verdict_refusal(const polyrace_verdict *v, size_t i,
                                             polyrace_refusal *out)
{
    PR_EXHAUSTED(box_of(v)->child.ctx) return POLYRACE_MEMORY;
    return fill_refusal(v, find(v, false, i), out);
}

size_t polyrace_verdict_out_of_bounds_count(const polyrace_verdict *v)
{
    size_t n = 0;
    for (int c = 0; c < v->n_configs; c++) n += (size_t)v->configs[c].out_of_bounds.n;
    return n;
}

int polyrace_verdict_has_internal_error(const polyrace_verdict *v)
{
    for (int c = 0; c < v->n_configs; c++)
        for (int k = 0; k < v->configs[c].refusals.n; k++)
            if (v->configs[c].refusals.data[k].kind == PR_REFUSAL_INTERNAL) return 1;
    return 0;
}

/* ---- writing -------------------------------------------------------------------------------- */
typedef struct sources {
    const pr_verdict_box *box;
    pr_arena *arena;
} sources;

static void close_file(void *f)
{ fclose(f); }

static const char *line_of(const char *path, int line, pr_arena *arena)
{
    FILE *f = fopen(path, "r");
    if (!f) return NULL;
    pr_guard open;
    pr_guard_set(arena, &open, close_file, f);
    char text[512];
    char *found = NULL;
    bool fresh = true; /* the chunk read begins a line */
    for (int at = 1; at <= line && fgets(text, sizeof text, f);) {
        size_t n = strlen(text);
        bool ends = n && text[n - 1] == '\n';
        if (fresh && at == line) {
            while (n && (text[n - 1] == '\n' || text[n - 1] == '\r')) n--;
            bool plain = n > 0;
            for (size_t k = 0; k < n; k++)
                if ((unsigned char)text[k] < 0x20 && text[k] != '\t') plain = false;
            if (plain) found = pr_arena_strndup(arena, text, n);
            break;
        }
        fresh = ends;
        at += ends;
    }
    pr_guard_end(&open);
    return found;
}

/* The file as spelled, else its last components below each directory. */
static const char *source_line(void *user, pr_str file, int line)
{
    sources *s = user;
    if (!file.n || memchr(file.s, 0, file.n) || line < 1) return NULL;
    char *name = pr_arena_strndup(s->arena, file.s, file.n);
    if (name[0] == '/') {
        const char *found = line_of(name, line, s->arena);
        if (found) return found;
        name = strrchr(name, '/') + 1;
    }
    for (int k = 0; k < s->box->dirs.n; k++) {
        const char *dir = s->box->dirs.data[k];
        const char *found =
            line_of(*dir ? pr_arena_printf(s->arena, "%s/%s", dir, name) : name, line, s->arena);
        if (found) return found;
    }
    return NULL;
}

void pr_verdict_render(pr_buf *b, polyrace_verdict *v, int format)
{
    sources s = { box_of(v), b->arena };
    pr_report_options o = { .color = (format & POLYRACE_FORMAT_COLOR) != 0,
                            .stats = (format & POLYRACE_FORMAT_STATS) != 0,
                            .times = true,
                            .source_line = source_line,
                            .user = &s };
    if ((format & 0xff) == POLYRACE_FORMAT_TEXT) {
        pr_report_text(b, v, &o);
    } else {
        pr_report_json(b, v, &o, (format & 0xff) == POLYRACE_FORMAT_JSONL);
        pr_buf_putc(b, '\n');
    }
}

polyrace_error_kind polyrace_verdict_write(polyrace_verdict *v, int format,
                                           const polyrace_sink *sink, polyrace_error *err)
{
    pr_verdict_box *box = box_of(v);
    polyrace_context *c = box->child.ctx;
    if ((format & 0xff) > POLYRACE_FORMAT_JSONL) return pr_usage(err, "unknown format");
    pr_arena_pos mark = pr_arena_mark(box->child.arena);
    PR_EXHAUSTED(c)
    {
        pr_arena_release(box->child.arena, mark);
        return pr_context_exhausted(c, err);
    }
    pr_buf b;
    pr_buf_init(&b, box->child.arena);
    pr_verdict_render(&b, v, format);
    sink->write(sink->user, b.data, b.n);
    pr_arena_release(box->child.arena, mark);
    return POLYRACE_OK;
}
