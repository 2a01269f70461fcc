/* Relations for people and programs; see explain.h. */
#include "shm/explain.h"
#include <string.h>

static const char *partition(const pr_shm_prog *p, const pr_shm_event *e)
{
    if (p->n_agents < 2) return "kernel";
    return e->agent ? pr_arena_printf(p->arena, "partition%d", e->agent - 1) : "default";
}

/* Events and barriers that the relations name. */
static bool named(const pr_shm_proof *proof, const pr_shm_event *e, int i)
{
    for (int k = 0; k < proof->explained.n; k++)
        if (proof->explained.data[k].first == i || proof->explained.data[k].second == i) return true;
    return e->n_bar > 0 && e->kind != PR_SHM_EV_INIT && e->kind != PR_SHM_EV_INVAL;
}

/* What would order them, in the words of a finding about the same two operations. */
static const char *missing(const pr_shm_model *m, const pr_shm_findings *f, const pr_shm_explained *x)
{
    const pr_op *a = m->events.data[x->first].op, *b = m->events.data[x->second].op;
    for (int i = 0; i < f->n; i++) {
        const pr_shm_finding *g = &f->data[i];
        if (pr_shm_finding_kind_of(g->id) != PR_SHM_RACE || g->id == PR_SHM_F_PROXY_FENCE) continue;
        if ((g->first.op == a && g->second.op == b) || (g->first.op == b && g->second.op == a)) return g->missing;
    }
    return "no wait, arrival or count orders these instances";
}

static void quoted(pr_buf *b, const char *text) { pr_buf_quote(b, pr_str_of(text), true); }

static void event_json(pr_buf *b, const pr_shm_prog *p, const pr_shm_event *e, int i)
{
    pr_buf_printf(b, "\n  {\"name\": \"E%d\", \"op\": ", i);
    pr_buf_quote(b, e->op->name, true);
    pr_buf_printf(b, ", \"partition\": \"%s\", \"file\": ", partition(p, e));
    pr_buf_quote(b, e->loc.file, true);
    pr_buf_printf(b, ", \"line\": %d, \"text_line\": %d, \"loops\": [", e->loc.line, e->loc.text_line);
    for (int k = 0; k < e->n_loops; k++) {
        pr_loc at = pr_shm_loc(p->loops.data[e->loop[k]].op);
        pr_buf_printf(b, "%s%d", k ? ", " : "", at.line ? at.line : at.text_line);
    }
    pr_buf_puts(b, "]}");
}

static void json_of(const pr_shm_prog *p, const pr_shm_model *m, const pr_shm_proof *proof, const pr_shm_findings *findings, pr_buf *b)
{
    bool first = true;
    const pr_refusal_vec *all[] = { &p->refusals, &proof->refusals };
    pr_buf_printf(b, "{\"exact\": %s, \"events\": [", proof->settled ? "true" : "false");
    for (int i = 0; i < m->events.n; i++) {
        if (!named(proof, &m->events.data[i], i)) continue;
        if (!first) pr_buf_putc(b, ',');
        first = false;
        event_json(b, p, &m->events.data[i], i);
    }
    pr_buf_puts(b, "],\n \"barriers\": [");
    first = true;
    for (int a = 0; a < p->allocs.n; a++) {
        if (!p->allocs.data[a].barrier) continue;
        pr_buf_printf(b, "%s{\"name\": \"P%d\", \"allocation\": ", first ? "" : ", ", a);
        pr_buf_quote(b, p->allocs.data[a].name, true);
        pr_buf_puts(b, "}");
        first = false;
    }
    pr_buf_puts(b, "],\n \"direct\": ");
    if (proof->direct) quoted(b, proof->direct);
    else pr_buf_puts(b, "null");
    pr_buf_puts(b, ", \"closure\": ");
    if (proof->closure) quoted(b, proof->closure);
    else pr_buf_puts(b, "null");
    pr_buf_puts(b, ",\n \"pairs\": [");
    for (int i = 0; i < proof->explained.n; i++) {
        const pr_shm_explained *x = &proof->explained.data[i];
        pr_buf_printf(b, "%s\n  {\"first\": \"E%d\", \"second\": \"E%d\", \"ordered\": %s, \"conflicts\": ", i ? "," : "", x->first, x->second,
                      x->ordered == PR_YES ? "true" : x->ordered == PR_NO ? "false" : "null");
        quoted(b, x->conflicts);
        pr_buf_puts(b, ", \"race\": ");
        quoted(b, x->race);
        pr_buf_puts(b, ", \"missing\": ");
        if (x->ordered == PR_YES) pr_buf_puts(b, "null");
        else quoted(b, missing(m, findings, x));
        pr_buf_puts(b, "}");
    }
    pr_buf_puts(b, "],\n \"why_not\": [");
    first = true;
    for (int v = 0; v < 2; v++) {
        for (int i = 0; i < all[v]->n; i++) {
            const pr_refusal *r = &all[v]->data[i];
            pr_buf_printf(b, "%s{\"kind\": \"%s\", \"message\": ", first ? "" : ", ", pr_refusal_slug(r->kind));
            quoted(b, r->message ? r->message : "");
            pr_buf_puts(b, "}");
            first = false;
        }
    }
    pr_buf_puts(b, "]}");
}

static void text_of(const pr_shm_prog *p, const pr_shm_model *m, const pr_shm_proof *proof, const pr_shm_findings *findings, pr_buf *b)
{
    const pr_refusal_vec *all[] = { &p->refusals, &proof->refusals };
    pr_buf_puts(b, "\n  relations of shared memory (E[i]: an operation at iteration i of its loops; P[s, n]: phase n of barrier s)\n");
    for (int i = 0; i < m->events.n; i++) {
        const pr_shm_event *e = &m->events.data[i];
        if (!named(proof, e, i)) continue;
        pr_buf_printf(b, "    E%d: %s, line %d%s, " PR_STR_FMT "\n", i, partition(p, e), e->loc.line ? e->loc.line : e->loc.text_line,
                      e->loc.line ? "" : " of the text", PR_STR_ARG(e->op->name));
    }
    for (int a = 0; a < p->allocs.n; a++)
        if (p->allocs.data[a].barrier) pr_buf_printf(b, "    P%d: barrier \"" PR_STR_FMT "\"\n", a, PR_STR_ARG(p->allocs.data[a].name));
    if (proof->direct) pr_buf_printf(b, "    phases, directly: %s\n    phases, in all: %s\n", proof->direct, proof->closure);
    for (int i = 0; i < proof->explained.n; i++) {
        const pr_shm_explained *x = &proof->explained.data[i];
        pr_buf_printf(b, "\n    E%d and E%d touch common bytes at %s\n", x->first, x->second, x->conflicts);
        if (x->ordered == PR_YES) {
            pr_buf_puts(b, "      all of them are ordered\n");
            continue;
        }
        pr_buf_printf(b, "      nothing orders %s\n      missing: %s\n", x->race, missing(m, findings, x));
    }
    if (!proof->settled && proof->explained.n)
        pr_buf_puts(b, "    with the barrier phases that bounded runs show; they are not proved, so that the sets may be too large or too small\n");
    for (int v = 0; v < 2; v++)
        for (int i = 0; i < all[v]->n; i++)
            pr_buf_printf(b, "    not settled: %s: %s\n", pr_refusal_slug(all[v]->data[i].kind), all[v]->data[i].message ? all[v]->data[i].message : "");
}

void pr_shm_print_relations(const pr_shm_prog *p, const pr_shm_model *m, const pr_shm_proof *proof, const pr_shm_findings *findings,
                            bool json, pr_buf *b)
{
    if (json) json_of(p, m, proof, findings, b);
    else text_of(p, m, proof, findings, b);
}
