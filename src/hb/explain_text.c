/* Explanations as text and as JSON. See explain.h. */
#include "hb/explain.h"
#include <string.h>

static void place(pr_buf *b, const pr_record *r)
{
    if (r->loc.line) pr_buf_printf(b, PR_STR_FMT ":%d", PR_STR_ARG(r->loc.file), r->loc.line);
    else pr_buf_printf(b, "line %d of the text", r->loc.text_line);
}

static void pair_words(pr_buf *b, const pr_records *R, int a, int c, bool intra)
{
    const pr_record *x = &R->records.data[a], *y = &R->records.data[c];
    pr_buf_printf(b, PR_STR_FMT " at ", PR_STR_ARG(x->loc.op));
    place(b, x);
    if (a == c) pr_buf_puts(b, " with itself");
    else {
        pr_buf_printf(b, " with " PR_STR_FMT " at ", PR_STR_ARG(y->loc.op));
        place(b, y);
    }
    pr_buf_puts(b, intra ? ", threads of one program" : ", different programs");
}

static bool same_line(const pr_record *x, const pr_record *y)
{ return x->loc.line && x->loc.line == y->loc.line && pr_str_eq(x->loc.file, y->loc.file) && pr_str_eq(x->loc.op, y->loc.op); }

static bool same_text(const char *x, const char *y) { return x == y || (x && y && !strcmp(x, y)); }

/* Would the two be printed alike? */
static bool same_words(const pr_records *R, const pr_pair_explanation *p, const pr_pair_explanation *q)
{
    const pr_record *r = R->records.data;
    return p->intra == q->intra && (p->a == p->b) == (q->a == q->b) && same_line(&r[p->a], &r[q->a]) && same_line(&r[p->b], &r[q->b]) &&
           !p->set == !q->set && (!p->set || (same_text(p->set->sentence, q->set->sentence) && same_text(p->set->relation, q->set->relation)));
}

static const char *rung_words(pr_rung r)
{ return r == PR_RUNG_T0 ? "over all parameters and grids" : "over all grids, with this launch's parameters"; }

static void condition(pr_buf *b, const pr_rung_explanation *x)
{
    pr_buf_printf(b, "    %s: ", rung_words(x->rung));
    if (x->free.text && x->verified) {
        pr_buf_puts(b, x->free.text);
        pr_buf_putc(b, '\n');
        if (x->free.always || x->free.never) return;
        pr_buf_printf(b, "      %s: every pair was asked again under it and has no overlap%s\n",
                      x->weakest ? "exact" : "sufficient only", x->weakest ? "; outside it some pair has one" : "");
        for (int i = 0; i < 3; i++)
            if (x->pinned[i] > 1)
                pr_buf_printf(b, "      with %lld programs along %c, which the kernel does not read\n", (long long)x->pinned[i], "xyz"[i]);
        if (x->held_known) pr_buf_printf(b, "      this launch %s it\n", x->holds_here ? "satisfies" : "does not satisfy");
        return;
    }
    pr_buf_printf(b, "not known (%s)\n", x->why ? x->why : "no condition was found");
    for (int i = 0; i < x->needs.n; i++) pr_buf_printf(b, "      a pair %s\n", x->needs.data[i]);
}

void pr_explain_text(pr_buf *b, const pr_records *R, const pr_explanation *x, const pr_config_verdict *v)
{
    pr_buf_puts(b, "\n  race free (grid0, grid1, grid2 = number of programs along x, y, z)\n");
    for (size_t i = 0; i < PR_LEN(x->rungs); i++) condition(b, &x->rungs[i]);
    if (x->pairs.n) pr_buf_puts(b, "\n  overlaps at some grid, with this launch's parameters\n");
    int repeated = 0;
    for (int i = 0; i < x->pairs.n; i++) {
        const pr_pair_explanation *p = &x->pairs.data[i];
        bool again = false;             /* unrolled or inlined copies                                   */
        for (int k = 0; k < i && !again; k++) again = same_words(R, &x->pairs.data[k], p);
        repeated += again;
        if (again) continue;
        pr_buf_puts(b, "    ");
        pair_words(b, R, p->a, p->b, p->intra);
        pr_buf_putc(b, '\n');
        if (!p->set) continue;
        if (p->set->sentence) pr_buf_printf(b, "      %s\n", p->set->sentence);
        if (p->set->relation) pr_buf_printf(b, "      %s\n", p->set->relation);
        if (!p->set->sentence && !p->set->relation) pr_buf_printf(b, "      %s\n", p->set->why ? p->set->why : "no short form");
    }
    if (repeated) pr_buf_printf(b, "    %d more pair%s at these lines %s (unrolled or inlined copies)\n", repeated, repeated > 1 ? "s" : "",
                                repeated > 1 ? "are alike" : "is like one of them");
    for (int i = 0; i < x->spare_barriers.n; i++) {
        const pr_spare_barrier *s = &x->spare_barriers.data[i];
        pr_buf_printf(b, "  note: the barrier at " PR_STR_FMT ":%d orders no pair of global accesses: checked without it, the proof is "
                      "the same (%d queries). Shared memory may still need it.\n", PR_STR_ARG(s->loc.file), s->loc.line, s->queries);
    }
    /* what settled the pairs, in the order of the ledger */
    pr_buf_puts(b, "\n  pairs of accesses\n");
    bool words_used = false;
    for (int i = 0; i < v->ledger.n; i++) {
        const pr_ledger_row *row = &v->ledger.data[i];
        static const char *const words[] = { [PR_BUCKET_FILTERED] = "cannot meet", [PR_BUCKET_PROVED] = "disjoint or ordered",
            [PR_BUCKET_RACE] = "races", [PR_BUCKET_WITHHELD] = "may race", [PR_BUCKET_GRID_FRAGILE] = "disjoint at this grid only",
            [PR_BUCKET_REFUSED] = "not analysed", [PR_BUCKET_UNDECIDED] = "not decided" };
        bool first = true;
        int alike = 0;
        for (int k = 0; k < v->ledger.n; k++) {
            const pr_ledger_row *o = &v->ledger.data[k];
            bool same = row->bucket == PR_BUCKET_FILTERED && o->bucket == row->bucket && row->evidence && o->evidence &&
                        strcmp(row->evidence, o->evidence) == 0;
            if (same && k < i) first = false;
            alike += same;
        }
        if (!first) continue;
        if (row->bucket == PR_BUCKET_FILTERED && alike > 1) {
            pr_buf_printf(b, "    %d pairs cannot meet: %s\n", alike, row->evidence);
            continue;
        }
        pr_buf_printf(b, "    pair %d: ", row->pair);
        pair_words(b, R, row->a, row->b, row->intra);
        pr_buf_printf(b, ": %s%s%s\n", words[row->bucket], row->evidence ? ": " : "", row->evidence ? row->evidence : "");
        words_used = words_used || (row->bucket != PR_BUCKET_FILTERED && row->evidence && strchr(row->evidence, ':'));
    }
    if (words_used)
        pr_buf_puts(b, "    (radix, closure, window: a common byte needs the same value of what is named on both sides, which no two such executions have;\n"
                       "     intervals, residues, deltas: bounds or steps of the addresses exclude a common byte; more in docs/closure.md)\n");
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void string(pr_buf *b, const char *name, const char *s)
{
    pr_buf_printf(b, "\"%s\":", name);
    if (s) pr_buf_quote(b, pr_str_of(s), true);
    else pr_buf_puts(b, "null");
}

static const char *truth(bool x) { return x ? "true" : "false"; }

static void side(pr_buf *b, const pr_records *R, int id)
{
    const pr_record *r = &R->records.data[id];
    pr_buf_printf(b, "{\"record\":%d,\"op\":", id);
    pr_buf_quote(b, r->loc.op, true);
    pr_buf_puts(b, ",\"file\":");
    pr_buf_quote(b, r->loc.file, true);
    pr_buf_printf(b, ",\"line\":%d,\"col\":%d}", r->loc.line, r->loc.col);
}

void pr_explain_json(pr_buf *b, const pr_records *R, const pr_explanation *x)
{
    pr_buf_puts(b, "{\"race_free\":[");
    for (size_t i = 0; i < PR_LEN(x->rungs); i++) {
        const pr_rung_explanation *c = &x->rungs[i];
        bool known = c->free.text && c->verified;
        if (i) pr_buf_putc(b, ',');
        pr_buf_putc(b, '{');
        string(b, "rung", pr_rung_name(c->rung));
        pr_buf_putc(b, ',');
        string(b, "condition", known ? c->free.text : NULL);
        pr_buf_printf(b, ",\"exact\":%s,\"disjuncts\":%d,\"holds_here\":%s,", truth(known && c->weakest), c->free.disjuncts,
                      known && c->held_known ? truth(c->holds_here) : "null");
        pr_buf_printf(b, "\"pinned\":[%lld,%lld,%lld],", (long long)c->pinned[0], (long long)c->pinned[1], (long long)c->pinned[2]);
        string(b, "why", known ? NULL : c->why);
        pr_buf_puts(b, ",\"needs\":[");
        for (int k = 0; k < c->needs.n; k++) {
            if (k) pr_buf_putc(b, ',');
            pr_buf_quote(b, pr_str_of(c->needs.data[k]), true);
        }
        pr_buf_puts(b, "]}");
    }
    pr_buf_puts(b, "],\"overlaps\":[");
    for (int i = 0; i < x->pairs.n; i++) {
        const pr_pair_explanation *p = &x->pairs.data[i];
        if (i) pr_buf_putc(b, ',');
        pr_buf_printf(b, "{\"pair\":%d,", p->pair);
        string(b, "agents", p->intra ? "threads of one program" : "programs");
        pr_buf_puts(b, ",\"first\":");
        side(b, R, p->a);
        pr_buf_puts(b, ",\"second\":");
        side(b, R, p->b);
        pr_buf_putc(b, ',');
        string(b, "relation", p->set ? p->set->relation : NULL);
        pr_buf_putc(b, ',');
        string(b, "sentence", p->set ? p->set->sentence : NULL);
        pr_buf_putc(b, '}');
    }
    pr_buf_puts(b, "],\"spare_barriers\":[");
    for (int i = 0; i < x->spare_barriers.n; i++) {
        pr_buf_puts(b, i ? ",{\"file\":" : "{\"file\":");
        pr_buf_quote(b, x->spare_barriers.data[i].loc.file, true);
        pr_buf_printf(b, ",\"line\":%d}", x->spare_barriers.data[i].loc.line);
    }
    pr_buf_puts(b, "]}");
}
