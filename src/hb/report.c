/* The text report: made to be understood without the manual, at 2 a.m. See report.h.
 *
 * One paragraph a finding: what, where with the source line, who (programs, lanes, iterations),
 * which
 * byte, why nothing orders the two. Every part that was not analysed is printed once a site. */
#include "hb/report.h"
#include <string.h>

typedef struct printer {
    pr_buf *b;
    const pr_report_options *o;
    const struct polyrace_verdict *v;
} printer;

#define RED "\033[1;31m"
#define GREEN "\033[1;32m"
#define YELLOW "\033[1;33m"
#define BOLD "\033[1m"
#define DIM "\033[2m"
#define PLAIN "\033[0m"

static void colored(printer *p, const char *color, const char *text)
{
    if (p->o->color) pr_buf_puts(p->b, color);
    pr_buf_puts(p->b, text);
    if (p->o->color) pr_buf_puts(p->b, PLAIN);
}

static void place(printer *p, const pr_loc *l)
{
    if (l->line) pr_buf_printf(p->b, PR_STR_FMT ":%d:%d", PR_STR_ARG(l->file), l->line, l->col);
    else if (l->text_line) pr_buf_printf(p->b, "line %d of the text", l->text_line);
    else pr_buf_add(p->b, p->v->input.s, p->v->input.n);
}

static void source(printer *p, const pr_loc *l, const char *indent)
{
    if (!l->line || !p->o->source_line) return;
    const char *line = p->o->source_line(p->o->user, l->file, l->line);
    if (!line) return;
    while (*line == ' ' || *line == '\t') line++;
    size_t n = strlen(line);
    pr_buf_printf(p->b, "%s", indent);
    if (p->o->color) pr_buf_puts(p->b, DIM);
    pr_buf_printf(p->b, "%5d | %.*s%s", l->line, (int)(n > 120 ? 120 : n), line,
                  n > 120 ? " ..." : "");
    if (p->o->color) pr_buf_puts(p->b, PLAIN);
    pr_buf_putc(p->b, '\n');
}

static void tuple(printer *p, const int64_t *v, int n)
{
    pr_buf_putc(p->b, '(');
    for (int k = 0; k < n; k++) pr_buf_printf(p->b, "%s%lld", k ? ", " : "", (long long)v[k]);
    pr_buf_putc(p->b, ')');
}

static const char *verb(const pr_record *r, const pr_witness_access *a)
{
    switch (r->kind) {
    case PR_RECORD_LOAD: return "reads";
    case PR_RECORD_STORE: return "writes";
    case PR_RECORD_RMW: return "updates atomically";
    case PR_RECORD_CAS:
        return a->writes ? "swaps atomically" : "reads by a failed compare-and-swap";
    case PR_RECORD_POLL: return "polls";
    case PR_RECORD_ATOMIC_LOAD: return "reads atomically";
    case PR_RECORD_ATOMIC_STORE: return "writes atomically";
    }
    return "accesses";
}

static void access(printer *p, const pr_config_verdict *c, const pr_witness_access *a)
{
    const pr_record *r = &c->records->records.data[a->record];
    pr_buf_puts(p->b, "    program ");
    tuple(p, a->program, 3);
    if (a->rank) {
        pr_buf_puts(p->b, ", lane ");
        tuple(p, a->lane, a->rank);
    }
    if (a->n_iterations) {
        pr_buf_puts(p->b, ", iteration ");
        tuple(p, a->iteration, a->n_iterations);
    }
    pr_buf_printf(p->b, " %s at ", verb(r, a));
    if (p->o->color) pr_buf_puts(p->b, BOLD);
    place(p, &r->loc);
    if (p->o->color) pr_buf_puts(p->b, PLAIN);
    pr_buf_printf(p->b, "  [" PR_STR_FMT "]\n", PR_STR_ARG(r->loc.op));
    source(p, &r->loc, "    ");
    for (int k = 0; k < r->n_callers; k++) {
        pr_buf_puts(p->b, "      called from ");
        place(p, &r->callers[k]);
        pr_buf_putc(p->b, '\n');
        source(p, &r->callers[k], "    ");
    }
}

static const char *type_words(pr_race_type t)
{ return t == PR_RACE_WAW ? "write/write" : t == PR_RACE_RAW ? "write/read" : "read/write"; }

static void location(printer *p, const pr_config_verdict *c, const pr_witness_access *a)
{
    pr_str tensor = pr_report_tensor(c, a->record);
    pr_buf_puts(p->b, "element ");
    pr_buf_i128(p->b, a->element);
    pr_buf_printf(p->b, " (byte ");
    pr_buf_i128(p->b, a->byte);
    pr_buf_printf(p->b, ") of " PR_STR_FMT, tensor.n ? (int)tensor.n : 1,
                  tensor.n ? tensor.s : "?");
}

static void race_set(printer *p, const pr_race *r)
{
    const pr_race_set *s = r->set;
    if (!s || (!s->sentence && !s->relation && !s->counted)) return;
    pr_buf_puts(p->b, "    all of it: ");
    if (s->sentence) pr_buf_puts(p->b, s->sentence);
    else if (s->relation) pr_buf_puts(p->b, s->relation);
    else pr_buf_printf(p->b, "a relation of %d pieces", s->pieces);
    if (s->counted) {
        const char *what = r->intra ? "program" : "pair";
        pr_buf_puts(p->b, " (");
        pr_buf_i128(p->b, s->pairs);
        pr_buf_printf(p->b, " %s%s%s)", what, s->pairs == 1 ? "" : "s", r->intra ? "" : " of programs");
    }
    pr_buf_putc(p->b, '\n');
}

static void race(printer *p, const pr_config_verdict *c, const pr_race *r, int number)
{
    pr_buf_puts(p->b, "\n  ");
    colored(p, RED, pr_arena_printf(p->b->arena, "race %d: %s", number, type_words(r->type)));
    pr_buf_printf(p->b, " (%s) on ", pr_race_type_name(r->type));
    location(p, c, &r->a);
    pr_buf_printf(p->b, ", between %s\n", r->intra ? "threads of one program" : "two programs");
    access(p, c, &r->a);
    access(p, c, &r->b);
    if (r->reason && *r->reason) pr_buf_printf(p->b, "    why: %s\n", r->reason);
    race_set(p, r);
    if (r->confirmation == PR_CONFIRMED && r->confirmation_why)
        pr_buf_printf(p->b, "    confirmed: %s\n", r->confirmation_why);
    else if (r->confirmation == PR_CONFIRMED)
        pr_buf_printf(p->b, "    confirmed: executing %s reaches the same byte\n",
                      r->intra ? "this program" : "both programs");
    else
        pr_buf_printf(p->b, "    not confirmed by execution: %s\n",
                      r->confirmation_why ? r->confirmation_why : "not evaluated");
}

static void hazard(printer *p, const pr_config_verdict *c, const pr_race *r)
{
    pr_buf_puts(p->b, "\n  ");
    colored(p, YELLOW, "hazard");
    pr_buf_puts(p->b, ": this launch is not affected, but at grid ");
    tuple(p, r->grid, 3);
    pr_buf_printf(p->b, " a %s overlap appears on ", type_words(r->type));
    location(p, c, &r->a);
    pr_buf_putc(p->b, '\n');
    access(p, c, &r->a);
    access(p, c, &r->b);
}

static void site(printer *p, const pr_finding_site *s)
{
    if (!s->present) return;
    pr_buf_printf(p->b, "    %s", s->partition);
    if (s->n_iterations) {
        pr_buf_puts(p->b, ", iteration ");
        tuple(p, s->iteration, s->n_iterations);
    }
    pr_buf_puts(p->b, " at ");
    if (p->o->color) pr_buf_puts(p->b, BOLD);
    place(p, &s->loc);
    if (p->o->color) pr_buf_puts(p->b, PLAIN);
    pr_buf_printf(p->b, "  [" PR_STR_FMT "]\n", PR_STR_ARG(s->loc.op));
    source(p, &s->loc, "    ");
    for (int k = 0; k < s->n_callers; k++) {
        pr_buf_puts(p->b, "      called from ");
        place(p, &s->callers[k]);
        pr_buf_putc(p->b, '\n');
        source(p, &s->callers[k], "    ");
    }
}

static void finding(printer *p, const pr_finding *f)
{
    pr_buf_puts(p->b, "\n  ");
    colored(p, RED, pr_arena_printf(p->b->arena, "%s %s", f->kind, f->id));
    if (f->allocation.n) {
        pr_buf_printf(p->b, " on %s \"" PR_STR_FMT "\"", strcmp(f->memory, "tmem") ? "shared memory" : "tensor memory",
                      PR_STR_ARG(f->allocation));
        if (f->slot >= 0) pr_buf_printf(p->b, " slot %lld", (long long)f->slot);
        pr_buf_puts(p->b, " (allocated at ");
        place(p, &f->allocation_loc);
        for (int k = 0; k < f->n_allocation_callers; k++) {
            pr_buf_puts(p->b, ", called from ");
            place(p, &f->allocation_callers[k]);
        }
        pr_buf_putc(p->b, ')');
    }
    pr_buf_printf(p->b, "\n    %s\n", f->what);
    site(p, &f->first);
    site(p, &f->second);
    if (f->missing && *f->missing) pr_buf_printf(p->b, "    missing: %s\n", f->missing);
    if (f->trip_counts && *f->trip_counts) pr_buf_printf(p->b, "    shown with trip counts: %s\n", f->trip_counts);
}

static void refusal(printer *p, const pr_refusal *f)
{
    pr_buf_puts(p->b, "\n  ");
    colored(p, YELLOW, "not analysed");
    pr_buf_puts(p->b, ": ");
    place(p, &f->loc);
    pr_buf_printf(p->b, ": %s: %s\n", pr_refusal_slug(f->kind),
                  f->message ? f->message : pr_refusal_meaning(f->kind));
    source(p, &f->loc, "    ");
    const char *hint = f->hint ? f->hint : pr_refusal_advice(f->kind);
    if (hint && *hint) pr_buf_printf(p->b, "    hint: %s\n", hint);
}

static void out_of_bounds(printer *p, const pr_config_verdict *c, const pr_out_of_bounds *o)
{
    pr_buf_puts(p->b, "\n  ");
    colored(p, YELLOW, "out of bounds");
    pr_buf_puts(p->b, ": ");
    location(p, c, &o->access);
    pr_buf_printf(p->b, " does not stay inside its storage%s\n",
                  o->confirmed ? " (confirmed by execution)" : "");
    access(p, c, &o->access);
}

/* What an ok claims, in words. */
static void scope(printer *p, const struct polyrace_verdict *v)
{
    static const char *const words[] = { [PR_RUNG_NONE] = "",
                                         [PR_RUNG_T0] = "for any parameters and any grid",
                                         [PR_RUNG_T1] = "for these parameters and any grid",
                                         [PR_RUNG_T1_LAUNCH] = "for this launch only" };
    pr_buf_printf(p->b, " %s (%s)", words[v->rung], pr_rung_name(v->rung));
    if (v->rung == PR_RUNG_T1_LAUNCH) return;
    bool pinned = false;
    for (int k = 0; k < 3; k++) {
        int64_t axis = 0;
        for (int c = 0; c < v->n_configs; c++)
            if (v->configs[c].grid_axis[k]) axis = v->configs[c].grid_axis[k];
        if (!axis) continue;
        pr_buf_printf(p->b, "%s %c = %lld", pinned ? "," : "; grid", "xyz"[k], (long long)axis);
        pinned = true;
    }
    if (pinned) pr_buf_puts(p->b, " (not read by the kernel)");
}

static void headline(printer *p)
{
    const struct polyrace_verdict *v = p->v;
    bool ttgir = v->n_configs > 0;
    for (int c = 0; c < v->n_configs; c++) ttgir = ttgir && v->configs[c].ttgir;
    if (p->o->color) pr_buf_puts(p->b, BOLD);
    pr_buf_printf(p->b, PR_STR_FMT, v->kernel.n ? (int)v->kernel.n : 8,
                  v->kernel.n ? v->kernel.s : "(kernel)");
    if (p->o->color) pr_buf_puts(p->b, PLAIN);
    pr_buf_puts(p->b, ": ");
    int races = 0;
    for (int c = 0; c < v->n_configs; c++) races += v->configs[c].races.n;
    switch (v->status) {
    case PR_VERDICT_OK:
        colored(p, GREEN, ttgir ? "shared and tensor memory are race free" : "race free");
        if (ttgir) {
            bool launch = false;
            for (int c = 0; c < v->n_configs; c++) launch = launch || v->configs[c].ttgir_launch;
            pr_buf_printf(p->b, " %s", pr_ttgir_scope_text(launch));
        }
        else scope(p, v);
        break;
    case PR_VERDICT_DEADLOCK: colored(p, RED, "DEADLOCK"); break;
    case PR_VERDICT_HAZARD: colored(p, RED, "SYNCHRONISATION HAZARD"); break;
    case PR_VERDICT_RACES:
        colored(p, RED,
                races <= 1 ? "DATA RACE" : pr_arena_printf(p->b->arena, "%d DATA RACES", races));
        break;
    case PR_VERDICT_UNSUPPORTED:
        colored(p, YELLOW, "not decided");
        pr_buf_puts(p->b, ": neither a race nor a proof");
        break;
    case PR_VERDICT_VACUOUS:
        colored(p, YELLOW, "no claim");
        pr_buf_puts(p->b, ": the premises admit no execution");
        break;
    }
    pr_buf_printf(p->b, "  [" PR_STR_FMT "]\n", PR_STR_ARG(v->input));
}

static bool seen_refusal(const struct polyrace_verdict *v, int config, int index)
{
    const pr_refusal *f = &v->configs[config].refusals.data[index];
    for (int c = 0; c <= config; c++) {
        for (int k = 0; k < (c == config ? index : v->configs[c].refusals.n); k++) {
            const pr_refusal *g = &v->configs[c].refusals.data[k];
            if (g->kind == f->kind && pr_str_eq(g->loc.file, f->loc.file) &&
                g->loc.line == f->loc.line && g->loc.text_line == f->loc.text_line)
                return true;
        }
    }
    return false;
}

static void stats(printer *p, const pr_config_verdict *c)
{
    pr_buf_printf(p->b, "  time: parse %.3f ms, lower %.3f ms, decide %.3f ms, race sets %.3f ms\n",
                  (double)c->us_parse / 1e3, (double)c->us_lower / 1e3, (double)c->us_decide / 1e3,
                  (double)c->us_explain / 1e3);
    pr_buf_printf(p->b,
                  "  pairs: %lld, filtered %lld; settled by pre-tests %lld, isl %lld, enumeration "
                  "%lld, z3 %lld\n",
                  (long long)c->counts.pairs, (long long)c->counts.filtered, (long long)c->counts.pretest,
                  (long long)c->counts.isl, (long long)c->counts.enumerated,
                  (long long)c->counts.z3);
    pr_buf_printf(p->b, "  work: %lld queries, %lld leaves, %llu isl operations, %llu z3 units\n",
                  (long long)c->counts.queries, (long long)c->counts.leaves,
                  (unsigned long long)c->counts.isl_ops, (unsigned long long)c->counts.z3_units);
}

static void config(printer *p, int index)
{
    const pr_config_verdict *c = &p->v->configs[index];
    if (p->v->n_configs > 1) {
        pr_buf_printf(p->b, "\n  configuration %d %s: %s", index,
                      c->launch && c->launch->config_json ? c->launch->config_json : "{}",
                      pr_verdict_status_name(c->status));
        if (c->status == PR_VERDICT_OK && !c->ttgir) pr_buf_printf(p->b, " (%s)", pr_rung_name(c->rung));
        pr_buf_putc(p->b, '\n');
    }
    for (int k = 0; k < c->findings.n; k++) finding(p, &c->findings.data[k]);
    for (int k = 0; k < c->races.n; k++) race(p, c, &c->races.data[k], k + 1);
    for (int k = 0; k < c->refusals.n; k++)
        if (!seen_refusal(p->v, index, k)) refusal(p, &c->refusals.data[k]);
    for (int k = 0; k < c->out_of_bounds.n; k++) out_of_bounds(p, c, &c->out_of_bounds.data[k]);
    for (int k = 0; k < c->grid_fragile.n; k++) hazard(p, c, &c->grid_fragile.data[k]);
    for (int k = 0; k < c->notes.n; k++) pr_buf_printf(p->b, "  note: %s\n", c->notes.data[k]);
    if (c->second) {
        const pr_config_verdict *s = c->second;
        bool ok = s->status == PR_VERDICT_OK;
        pr_buf_printf(p->b, "\n  TTGIR (shared and tensor memory, barriers): %s%s%s\n", pr_verdict_status_name(s->status), ok ? " " : "",
                      ok ? pr_ttgir_scope_text(s->ttgir_launch) : "");
        for (int k = 0; k < s->findings.n; k++) finding(p, &s->findings.data[k]);
        for (int k = 0; k < s->refusals.n; k++) refusal(p, &s->refusals.data[k]);
        for (int k = 0; k < s->notes.n; k++) pr_buf_printf(p->b, "  note: %s\n", s->notes.data[k]);
    }
    if (c->nondeterministic)
        pr_buf_puts(p->b, "  note: a wall-clock limit fired; another run may decide more\n");
    if (p->o->stats) stats(p, c);
}

void pr_report_text(pr_buf *b, const struct polyrace_verdict *v, const pr_report_options *o)
{
    printer p = { b, o, v };
    headline(&p);
    if (v->status == PR_VERDICT_OK || v->status == PR_VERDICT_RACES)
        for (int k = 0; k < v->qualifiers.n; k++) pr_buf_printf(b, "  %s\n", v->qualifiers.data[k]);
    for (int k = 0; k < v->notes.n; k++) pr_buf_printf(b, "  note: %s\n", v->notes.data[k]);
    for (int c = 0; c < v->n_configs; c++) config(&p, c);
}
