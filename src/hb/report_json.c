/* The verdict document (interface.md 3). Keys in a fixed order, no locale, no pointers: the same
 * verdict
 * gives the same bytes. */
#include "hb/report.h"
#include "hb/check.h"
#include <string.h>

typedef struct writer {
    pr_buf *b;
    bool one_line, times;
    int depth;
    bool first; /* no comma before the next item */
} writer;

static void item(writer *w)
{
    if (!w->first) pr_buf_putc(w->b, ',');
    if (!w->one_line && w->depth) pr_buf_printf(w->b, "\n%*s", 2 * w->depth, "");
    w->first = false;
}

/* Bytes of the well-formed UTF-8 sequence at s, 0 when malformed. */
static size_t utf8(const unsigned char *s, size_t n)
{
    size_t len = s[0] < 0x80                   ? 1
                 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
                 : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                               : 0;
    if (!len || len > n) return 0;
    for (size_t k = 1; k < len; k++)
        if ((s[k] & 0xc0) != 0x80) return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90))
        return 0;
    return len;
}

static void string(writer *w, pr_str s)
{
    pr_buf_putc(w->b, '"');
    for (size_t i = 0; i < s.n;) {
        unsigned char c = (unsigned char)s.s[i];
        size_t len = utf8((const unsigned char *)s.s + i, s.n - i);
        if (c == '"' || c == '\\') pr_buf_printf(w->b, "\\%c", c);
        else if (c == '\n') pr_buf_puts(w->b, "\\n");
        else if (c < 0x20 || c == 0x7f) pr_buf_printf(w->b, "\\u%04x", c);
        else if (len) pr_buf_add(w->b, s.s + i, len);
        else pr_buf_puts(w->b, "\\ufffd");
        i += len ? len : 1;
    }
    pr_buf_putc(w->b, '"');
}

static void key(writer *w, const char *name)
{
    item(w);
    pr_buf_printf(w->b, "\"%s\":%s", name, w->one_line ? "" : " ");
}

static void open(writer *w, char bracket)
{
    pr_buf_putc(w->b, bracket);
    w->depth++;
    w->first = true;
}

static void close(writer *w, char bracket)
{
    w->depth--;
    if (!w->first && !w->one_line) pr_buf_printf(w->b, "\n%*s", 2 * w->depth, "");
    pr_buf_putc(w->b, bracket);
    w->first = false;
}

static void field_str(writer *w, const char *name, pr_str s)
{
    key(w, name);
    string(w, s);
}
static void field_text(writer *w, const char *name, const char *s)
{
    key(w, name);
    if (s) string(w, pr_str_of(s));
    else pr_buf_puts(w->b, "null");
}
static void field_int(writer *w, const char *name, pr_i128 v)
{
    key(w, name);
    pr_buf_i128(w->b, v);
}
static void field_bool(writer *w, const char *name, bool v)
{
    key(w, name);
    pr_buf_puts(w->b, v ? "true" : "false");
}

static void field_ints(writer *w, const char *name, const int64_t *v, int n)
{
    key(w, name);
    pr_buf_putc(w->b, '[');
    for (int k = 0; k < n; k++)
        pr_buf_printf(w->b, "%s%lld", k ? (w->one_line ? "," : ", ") : "", (long long)v[k]);
    pr_buf_putc(w->b, ']');
}

static void field_texts(writer *w, const char *name, const char *const *v, int n)
{
    key(w, name);
    open(w, '[');
    for (int k = 0; k < n; k++) {
        item(w);
        string(w, pr_str_of(v[k]));
    }
    close(w, ']');
}

static void field_loc(writer *w, const char *name, const pr_loc *l)
{
    key(w, name);
    if (!l->line) {
        pr_buf_puts(w->b, "null");
        return;
    }
    open(w, '{');
    field_str(w, "file", l->file);
    field_int(w, "line", l->line);
    field_int(w, "col", l->col);
    close(w, '}');
}

static void field_callers(writer *w, const pr_loc *callers, int n)
{
    if (!n) return;
    key(w, "callers");
    open(w, '[');
    for (int k = 0; k < n; k++) {
        item(w);
        open(w, '{');
        field_str(w, "file", callers[k].file);
        field_int(w, "line", callers[k].line);
        field_int(w, "col", callers[k].col);
        close(w, '}');
    }
    close(w, ']');
}

pr_str pr_report_tensor(const pr_config_verdict *c, int record)
{
    if (!c->records || record < 0 || record >= c->records->records.n) return (pr_str){ "", 0 };
    int base = c->records->records.data[record].base;
    if (base < 0 || base >= c->records->n_args) return (pr_str){ "", 0 };
    return c->records->args[base].name;
}

static void access(writer *w, const char *name, const pr_config_verdict *c,
                   const pr_witness_access *a)
{
    const pr_record *r = &c->records->records.data[a->record];
    key(w, name);
    open(w, '{');
    field_str(w, "op", r->loc.op);
    field_text(w, "kind", pr_record_kind_name(r->kind));
    field_str(w, "tensor", pr_report_tensor(c, a->record));
    field_int(w, "element", a->element);
    field_int(w, "byte", a->byte);
    field_loc(w, "loc", &r->loc);
    field_callers(w, r->callers, r->n_callers);
    field_bool(w, "write", a->writes);
    field_ints(w, "program", a->program, 3);
    field_ints(w, "lane", a->lane, a->rank);
    field_ints(w, "iteration", a->iteration, a->n_iterations);
    close(w, '}');
}

/* {"relation","pieces","pairs","sentence","why"}: null where it is not known. */
static void race_set(writer *w, const pr_race_set *s)
{
    if (!s) {
        field_text(w, "set", NULL);
        return;
    }
    key(w, "set");
    open(w, '{');
    field_text(w, "relation", s->relation);
    field_int(w, "pieces", s->pieces);
    if (s->counted) field_int(w, "pairs", s->pairs);
    else field_text(w, "pairs", NULL);
    field_text(w, "sentence", s->sentence);
    field_text(w, "why", s->why);
    close(w, '}');
}

static void race(writer *w, const pr_config_verdict *c, const pr_race *r, int config, bool fragile)
{
    item(w);
    open(w, '{');
    field_text(w, "type", pr_race_type_name(r->type));
    field_text(w, "agents", r->intra ? "threads of one program" : "programs");
    access(w, "first", c, &r->a);
    access(w, "second", c, &r->b);
    field_text(w, "reason", r->reason ? r->reason : "");
    field_bool(w, "confirmed", r->confirmation == PR_CONFIRMED);
    if (r->confirmation != PR_CONFIRMED)
        field_text(w, "confirmation",
                   pr_arena_printf(w->b->arena, "unavailable: %s",
                                   r->confirmation_why ? r->confirmation_why : "not evaluated"));
    if (fragile) field_ints(w, "grid", r->grid, 3);
    field_int(w, "config", config);
    field_int(w, "pair", r->pair);
    race_set(w, r->set);
    close(w, '}');
}

static bool same_refusal(const pr_refusal *a, const pr_refusal *b)
{
    return a->kind == b->kind && pr_str_eq(a->loc.file, b->loc.file) &&
           a->loc.line == b->loc.line && a->loc.col == b->loc.col &&
           (a->message == b->message ||
            (a->message && b->message && strcmp(a->message, b->message) == 0));
}

/* Was the refusal already listed by an earlier configuration (or earlier in this one)? */
static bool listed(const pr_config_verdict *from, int config, int index)
{
    for (int c = 0; c <= config; c++)
        for (int k = 0; k < (c == config ? index : from[c].refusals.n); k++)
            if (same_refusal(&from[c].refusals.data[k], &from[config].refusals.data[index]))
                return true;
    return false;
}

static bool text_listed(const char *const *v, int n, const char *s)
{
    for (int k = 0; k < n; k++)
        if (strcmp(v[k], s) == 0) return true;
    return false;
}

static void finding_site(writer *w, const char *name, const pr_finding_site *s)
{
    key(w, name);
    if (!s->present) {
        pr_buf_puts(w->b, "null");
        return;
    }
    open(w, '{');
    field_text(w, "partition", s->partition);
    field_str(w, "op", s->loc.op);
    field_loc(w, "loc", &s->loc);
    field_callers(w, s->callers, s->n_callers);
    key(w, "iteration");
    open(w, '[');
    for (int k = 0; k < s->n_iterations; k++) {
        item(w);
        pr_buf_printf(w->b, "%lld", (long long)s->iteration[k]);
    }
    close(w, ']');
    close(w, '}');
}

static void finding_step(writer *w, const pr_finding_step *s)
{
    item(w);
    open(w, '{');
    key(w, "step");
    if (s->step >= 0) pr_buf_printf(w->b, "%lld", (long long)s->step);
    else pr_buf_puts(w->b, "null");
    field_text(w, "partition", s->at.partition);
    field_str(w, "op", s->at.loc.op);
    field_loc(w, "loc", &s->at.loc);
    field_ints(w, "iteration", s->at.iteration, s->at.n_iterations);
    field_text(w, "role", s->role);
    if (s->mark) field_text(w, "mark", s->mark == 1 ? "first" : "second");
    if (s->barrier.n) {
        field_str(w, "barrier", s->barrier);
        key(w, "slot");
        if (s->slot >= 0) pr_buf_printf(w->b, "%lld", (long long)s->slot);
        else pr_buf_puts(w->b, "null");
        key(w, "phase");
        if (s->phase != INT64_MIN) pr_buf_printf(w->b, "%lld", (long long)s->phase);
        else pr_buf_puts(w->b, "null");
    }
    key(w, "accesses");
    open(w, '[');
    for (int k = 0; k < s->n_accesses; k++) {
        item(w);
        open(w, '{');
        field_str(w, "allocation", s->access[k].allocation);
        key(w, "slot");
        if (s->access[k].slot >= 0) pr_buf_printf(w->b, "%lld", (long long)s->access[k].slot);
        else pr_buf_puts(w->b, "null");
        field_bool(w, "write", s->access[k].write);
        close(w, '}');
    }
    close(w, ']');
    close(w, '}');
}

/* What makes a proof: operations with common bytes, each pair ordered. */
static void ordered_pairs(writer *w, const pr_config_verdict *c, int n)
{
    key(w, "ordered");
    open(w, '[');
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < c[i].ordered.n; k++) {
            item(w);
            open(w, '{');
            finding_site(w, "first", &c[i].ordered.data[k].first);
            finding_site(w, "second", &c[i].ordered.data[k].second);
            field_text(w, "conflicts", c[i].ordered.data[k].conflicts);
            close(w, '}');
        }
    }
    close(w, ']');
}

/* interface.md 3.1 */
static void findings(writer *w, const pr_config_verdict *c, int n)
{
    key(w, "findings");
    open(w, '[');
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < c[i].findings.n; k++) {
            const pr_finding *f = &c[i].findings.data[k];
            item(w);
            open(w, '{');
            field_text(w, "kind", f->kind);
            field_text(w, "id", f->id);
            field_text(w, "memory", f->memory);
            key(w, "allocation");
            open(w, '{');
            field_str(w, "name", f->allocation);
            field_loc(w, "loc", &f->allocation_loc);
            field_callers(w, f->allocation_callers, f->n_allocation_callers);
            close(w, '}');
            key(w, "slot");
            if (f->slot >= 0) pr_buf_printf(w->b, "%lld", (long long)f->slot);
            else pr_buf_puts(w->b, "null");
            key(w, "bytes");
            if (f->byte_lo >= 0) pr_buf_printf(w->b, "[%lld, %lld]", (long long)f->byte_lo, (long long)f->byte_hi);
            else pr_buf_puts(w->b, "null");
            if (f->phase > -2) field_int(w, "phase", f->phase);
            finding_site(w, "first", &f->first);
            finding_site(w, "second", &f->second);
            field_text(w, "what", f->what);
            field_text(w, "trip_counts", f->trip_counts);
            field_text(w, "missing", f->missing);
            field_bool(w, "confirmed", f->confirmed);
            key(w, "timeline");
            open(w, '[');
            for (int s = 0; s < f->steps.n; s++) finding_step(w, &f->steps.data[s]);
            close(w, ']');
            close(w, '}');
        }
    }
    close(w, ']');
}

static const char *axis_name(int k)
{ return k == 0 ? "x" : k == 1 ? "y" : "z"; }

/* The fields of one configuration, or of all of them together (n > 1 or top). */
static void body(writer *w, const struct polyrace_verdict *v, int from, int n,
                 pr_verdict_status status, pr_rung rung)
{
    const pr_config_verdict *c = v->configs + from;
    pr_arena *arena = w->b->arena;
    bool top = from == 0 && n == v->n_configs;
    field_text(w, "status", pr_verdict_status_name(status));
    field_text(w, "rung", status == PR_VERDICT_OK ? pr_rung_name(rung) : NULL);
    bool ttgir = n > 0, bound = false;
    for (int i = 0; i < n; i++) ttgir = ttgir && c[i].ttgir;
    for (int i = 0; i < n; i++) bound = bound || c[i].ttgir_launch;
    field_text(w, "scope", status != PR_VERDICT_OK ? NULL : ttgir ? pr_ttgir_scope_name(bound) : pr_scope_name(rung));
    if (ttgir) field_text(w, "level", "ttgir");
    PR_VEC(const char *) texts = { 0 };
    if (status == PR_VERDICT_OK || status == PR_VERDICT_RACES) {
        if (top)
            for (int k = 0; k < v->qualifiers.n; k++)
                if (!text_listed(texts.data, texts.n, v->qualifiers.data[k]))
                    pr_vec_push(arena, &texts, v->qualifiers.data[k]);
        for (int i = 0; i < n && (!top || texts.n == 0); i++)
            for (int k = 0; k < c[i].qualifiers.n; k++)
                if (!text_listed(texts.data, texts.n, c[i].qualifiers.data[k]))
                    pr_vec_push(arena, &texts, c[i].qualifiers.data[k]);
    }
    field_texts(w, "qualifiers", texts.data, texts.n);
    if (ttgir) findings(w, c, n);
    if (ttgir) ordered_pairs(w, c, n);
    key(w, "races");
    open(w, '[');
    for (int i = 0; i < n; i++)
        for (int k = 0; k < c[i].races.n; k++) race(w, &c[i], &c[i].races.data[k], from + i, false);
    close(w, ']');
    int withheld = 0;
    for (int i = 0; i < n; i++) withheld += c[i].withheld;
    field_int(w, "withheld", withheld);
    key(w, "grid_fragile");
    open(w, '[');
    for (int i = 0; i < n; i++)
        for (int k = 0; k < c[i].grid_fragile.n; k++)
            race(w, &c[i], &c[i].grid_fragile.data[k], from + i, true);
    close(w, ']');
    key(w, "refusals");
    open(w, '[');
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < c[i].refusals.n; k++) {
            const pr_refusal *f = &c[i].refusals.data[k];
            if (n > 1 ? listed(c, i, k) : listed(c, 0, k)) continue;
            const char *hint = f->hint ? f->hint : pr_refusal_advice(f->kind);
            item(w);
            open(w, '{');
            field_text(w, "kind", pr_refusal_slug(f->kind));
            field_loc(w, "loc", &f->loc);
            if (f->loc.op.n) field_str(w, "op", f->loc.op);
            field_text(w, "message", f->message ? f->message : pr_refusal_meaning(f->kind));
            field_text(w, "hint", hint ? hint : "");
            close(w, '}');
        }
    }
    close(w, ']');
    texts.n = 0;
    for (int k = 0; top && k < v->notes.n; k++) pr_vec_push(arena, &texts, v->notes.data[k]);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < c[i].notes.n; k++)
            if (!text_listed(texts.data, texts.n, c[i].notes.data[k]))
                pr_vec_push(arena, &texts, c[i].notes.data[k]);
    field_texts(w, "notes", texts.data, texts.n);
}

static void tail(writer *w, const struct polyrace_verdict *v, int from, int n,
                 pr_verdict_status status)
{
    const pr_config_verdict *c = v->configs + from;
    key(w, "grid_axes");
    if (status == PR_VERDICT_OK && n > 0) {
        open(w, '{');
        for (int k = 0; k < 3; k++) {
            int64_t axis = 0; /* the smallest claim: pinned wins over any */
            for (int i = 0; i < n; i++)
                if (c[i].grid_axis[k]) axis = c[i].grid_axis[k];
            if (axis) field_int(w, axis_name(k), axis);
            else field_text(w, axis_name(k), "any");
        }
        close(w, '}');
    } else {
        pr_buf_puts(w->b, "null");
    }
    key(w, "out_of_bounds");
    open(w, '[');
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < c[i].out_of_bounds.n; k++) {
            item(w);
            open(w, '{');
            access(w, "access", &c[i], &c[i].out_of_bounds.data[k].access);
            field_bool(w, "confirmed", c[i].out_of_bounds.data[k].confirmed);
            close(w, '}');
        }
    }
    close(w, ']');
    const char *idempotent = n ? "yes" : "unknown";
    bool deterministic = true, nondeterministic = false;
    pr_counts sum = { 0 };
    int64_t us[4] = { 0 };
    for (int i = 0; i < n; i++) {
        const char *one = c[i].idempotent ? c[i].idempotent : "unknown";
        if (strcmp(one, "no") == 0 ||
            (strcmp(one, "unknown") == 0 && strcmp(idempotent, "yes") == 0))
            idempotent = one;
        deterministic = deterministic && c[i].deterministic;
        nondeterministic = nondeterministic || c[i].nondeterministic;
        sum.pretest += c[i].counts.pretest;
        sum.isl += c[i].counts.isl;
        sum.enumerated += c[i].counts.enumerated;
        sum.z3 += c[i].counts.z3;
        sum.filtered += c[i].counts.filtered;
        sum.isl_ops += c[i].counts.isl_ops;
        sum.z3_units += c[i].counts.z3_units;
        sum.queries += c[i].counts.queries;
        sum.leaves += c[i].counts.leaves;
        us[0] += c[i].us_parse;
        us[1] += c[i].us_lower;
        us[2] += c[i].us_decide;
        us[3] += c[i].us_explain;
    }
    key(w, "attributes");
    open(w, '{');
    field_text(w, "idempotent", idempotent);
    field_bool(w, "deterministic", deterministic);
    close(w, '}');
    key(w, "engines");
    open(w, '{');
    field_int(w, "pretest", sum.pretest);
    field_int(w, "isl", sum.isl);
    field_int(w, "enum", sum.enumerated);
    field_int(w, "z3", sum.z3);
    close(w, '}');
    key(w, "z3_reasons");
    open(w, '[');
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < c[i].z3_reasons.n; k++) {
            const pr_z3_reason *z = &c[i].z3_reasons.data[k];
            item(w);
            open(w, '{');
            field_int(w, "pair", z->pair);
            field_text(w, "reason", z->reason);
            field_loc(w, "loc", &z->loc);
            close(w, '}');
        }
    }
    close(w, ']');
    if (nondeterministic) field_bool(w, "nondeterministic", true);
    key(w, "stats");
    open(w, '{');
    if (w->times) {
        field_int(w, "parse_us", us[0]);
        field_int(w, "lower_us", us[1]);
        field_int(w, "decide_us", us[2]);
        field_int(w, "explain_us", us[3]);
    }
    field_int(w, "filtered", sum.filtered);
    field_int(w, "queries", sum.queries);
    field_int(w, "leaves", sum.leaves);
    field_int(w, "isl_ops", (pr_i128)sum.isl_ops);
    field_int(w, "z3_units", (pr_i128)sum.z3_units);
    close(w, '}');
}

/* Each level's own verdict, for launches with both texts. */
static void levels(writer *w, const struct polyrace_verdict *v)
{
    struct polyrace_verdict one[2] = { *v, *v };
    pr_arena *arena = w->b->arena;
    bool both = false;
    for (int level = 0; level < 2; level++) {
        one[level].configs = PR_NEW_N(arena, pr_config_verdict, v->n_configs);
        one[level].arena = arena;
        one[level].notes.n = 0;
        memset(&one[level].qualifiers, 0, sizeof one[level].qualifiers);
        one[level].n_configs = 0;
        for (int c = 0; c < v->n_configs; c++) {
            if (level && !v->configs[c].second) continue;
            one[level].configs[one[level].n_configs] = level ? *v->configs[c].second : v->configs[c];
            one[level].configs[one[level].n_configs++].second = NULL;
            both = both || level;
        }
        pr_verdict_join(&one[level]);
    }
    if (!both) return;
    key(w, "levels");
    open(w, '{');
    for (int level = 0; level < 2; level++) {
        key(w, level ? "ttgir" : "ttir");
        open(w, '{');
        body(w, &one[level], 0, one[level].n_configs, one[level].status, one[level].rung);
        close(w, '}');
    }
    close(w, '}');
}

void pr_report_json(pr_buf *b, const struct polyrace_verdict *v, const pr_report_options *o,
                    bool one_line)
{
    writer w = { .b = b, .one_line = one_line, .times = o->times, .first = true };
    open(&w, '{');
    field_int(&w, "version", 1);
    field_str(&w, "kernel", v->kernel);
    field_str(&w, "input", v->input);
    body(&w, v, 0, v->n_configs, v->status, v->rung);
    levels(&w, v);
    key(&w, "configs");
    open(&w, '[');
    for (int c = 0; c < v->n_configs; c++) {
        const pr_config_verdict *one = &v->configs[c];
        item(&w);
        open(&w, '{');
        key(&w, "config");
        pr_buf_puts(b, one->launch && one->launch->config_json ? one->launch->config_json : "{}");
        body(&w, v, c, 1, one->status, one->rung);
        tail(&w, v, c, 1, one->status);
        close(&w, '}');
    }
    close(&w, ']');
    tail(&w, v, 0, v->n_configs, v->status);
    close(&w, '}');
}
