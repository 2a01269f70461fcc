/* What each proved pair of a verdict rests on, for people: see pr_pair_proof in explain.h.
 *
 * The configuration is decided once more with every empty query kept. Which answer counts is the verdict's own ledger;
 * this file only adds its reasons. */
#include "hb/explain.h"
#include "hb/ladder.h"
#include <string.h>

enum { MAX_FACTS = 8, MAX_FACT = 160, MAX_SET = 700, MAX_SETS = 400 };

typedef struct collector {
    pr_arena *arena;
    const pr_options *o;
    pr_proofs *out;
    int sets;
} collector;

static pr_pair_proof *proof_of(const pr_proofs *all, int pair)
{
    for (int i = 0; i < all->of.n; i++)
        if (all->of.data[i].pair == pair) return &all->of.data[i];
    return NULL;
}

static void keep(void *user, const pr_query *q, const pr_outcome *out)
{
    collector *c = user;
    (void)out;
    if (!q->is_pair || q->pair < 0) return;
    pr_pair_proof fresh = { .pair = q->pair }, *p = proof_of(c->out, q->pair);
    if (!p) {
        pr_vec_push(c->arena, &c->out->of, fresh);
        p = &c->out->of.data[c->out->of.n - 1];
    }
    *p = fresh;
    for (int k = 0; q->trace && k < q->trace->facts.n; k++) {
        const char *text = p->facts.n < MAX_FACTS ? pr_condition_text(c->arena, q->terms, q->trace->facts.data[k].fact) : NULL;
        if (!text || strlen(text) > MAX_FACT) p->more_facts++;
        else pr_vec_push(c->arena, &p->facts, text);
    }
    if (c->sets++ >= MAX_SETS) return;
    pr_buf b;
    const char *why = NULL;
    pr_buf_init(&b, c->arena);
    if (!pr_engine_isl()->dump(q, &c->o->limits, &b, &why) || b.n > MAX_SET + 64) return;
    const char *from = strchr(b.data, '\n');            /* behind "# pair N"                           */
    from = b.data[0] == '#' && from ? from + 1 : b.data;
    size_t n = strlen(from);
    while (n && from[n - 1] == '\n') n--;
    if (n && n <= MAX_SET) p->set = pr_arena_strndup(c->arena, from, n);
}

pr_status pr_explain_proofs(pr_arena *arena, pr_records *r, const pr_launch *launch, const pr_options *o,
                            const pr_confirmer *confirm, pr_proofs *out, pr_error *err)
{
    *out = (pr_proofs){ 0 };
    collector c = { arena, o, out, 0 };
    pr_options with = *o;
    with.no_explain = true;
    with.claim = keep;
    with.claim_user = &c;
    return pr_check_config(arena, r, launch, &with, confirm, &out->again, err);
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void access(pr_buf *b, const pr_records *R, int id)
{
    const pr_record *r = &R->records.data[id];
    pr_buf_puts(b, id ? ",\n{\"op\":" : "\n{\"op\":");
    pr_buf_quote(b, r->loc.op, true);
    pr_buf_puts(b, ",\"tensor\":");
    pr_buf_quote(b, r->base >= 0 && r->base < R->n_args ? R->args[r->base].name : (pr_str){ "", 0 }, true);
    pr_buf_puts(b, ",\"file\":");
    pr_buf_quote(b, r->loc.file, true);
    pr_buf_printf(b, ",\"line\":%d,\"col\":%d}", r->loc.line ? r->loc.line : r->loc.text_line, r->loc.col);
}

static void text(pr_buf *b, const char *name, const char *s)
{
    pr_buf_printf(b, ",\"%s\":", name);
    if (s) pr_buf_quote(b, pr_str_of(s), true);
    else pr_buf_puts(b, "null");
}

void pr_explain_pairs_json(pr_buf *b, const pr_records *R, const pr_proofs *all)
{
    const pr_config_verdict *v = &all->again;
    static const char *const names[] = { [PR_BUCKET_FILTERED] = "cannot-meet", [PR_BUCKET_PROVED] = "proved", [PR_BUCKET_RACE] = "race",
        [PR_BUCKET_WITHHELD] = "withheld", [PR_BUCKET_GRID_FRAGILE] = "proved-at-launch", [PR_BUCKET_REFUSED] = "refused",
        [PR_BUCKET_UNDECIDED] = "undecided" };
    pr_buf_puts(b, "\"accesses\":[");
    for (int i = 0; i < R->records.n; i++) access(b, R, i);
    pr_buf_puts(b, "],\n\"pairs\":[");
    for (int i = 0; i < v->ledger.n; i++) {
        const pr_ledger_row *row = &v->ledger.data[i];
        pr_buf_printf(b, "%s\n{\"pair\":%d,\"agents\":\"%s\",\"first\":%d,\"second\":%d", i ? "," : "", row->pair,
                      row->intra ? "threads of one program" : "programs", row->a, row->b);
        text(b, "answer", names[row->bucket]);
        bool proved = row->bucket == PR_BUCKET_PROVED || row->bucket == PR_BUCKET_GRID_FRAGILE;
        text(b, "evidence", row->evidence || !proved ? row->evidence : "no two such executions exist, or every two are ordered");
        const pr_pair_proof *p = proved ? proof_of(all, row->pair) : NULL;
        if (p) {
            pr_buf_puts(b, ",\"facts\":[");
            for (int k = 0; k < p->facts.n; k++) {
                if (k) pr_buf_putc(b, ',');
                pr_buf_quote(b, pr_str_of(p->facts.data[k]), true);
            }
            pr_buf_printf(b, "],\"more_facts\":%d", p->more_facts);
            text(b, "set", p->set);
        }
        pr_buf_putc(b, '}');
    }
    pr_buf_putc(b, ']');
}
