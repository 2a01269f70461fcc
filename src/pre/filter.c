/* The first tier: do the two addresses meet at all, and if so, at which differences of plain dimensions?
 *
 * Interval, residue and window tests on the difference of the addresses, then the delta search of radix.c.
 * Only intervals of the variables' own are used here, no masks. */
#include "pre/space.h"

/* No value congruent to k modulo the gcd of the coefficients in [lo, hi]. */
static bool residue_excludes(const pr_form *f)
{
    pr_i128 g = 0;
    for (int i = 0; i < f->n; i++) g = pr_gcd(g, pr_gcd(f->at[i].a, f->at[i].b));
    if (g == 0) return f->k < f->lo || f->k > f->hi;
    pr_i128 first = pr_fmod(f->lo - f->k, g); /* distance down to the last value <= lo */
    if (first) first = g - first;
    return first > f->hi - f->lo;
}

/* A conjunct and its negation: branches of one condition. */
static bool complementary(const pr_query *q)
{
    for (int i = 0; i < q->n_core; i++) {
        if (pr_term_is(q->core[i], PR_TERM_FALSE)) return true;
        if (pr_term_op_of(q->terms, q->core[i]) != PR_TERM_OP_NOT) continue;
        pr_term t = pr_term_child(q->terms, q->core[i], 0);
        for (int j = 0; j < q->n_core; j++)
            if (pr_term_is(q->core[j], t)) return true;
    }
    return false;
}

/* nodes: what the delta search may look at, and has left. */
static void look(pr_engine_ctx *ctx, const pr_query *q, int64_t *nodes, pr_arena *scratch, pr_outcome *out)
{
    pr_look *x = pr_pre_context(ctx, sizeof *x);
    if (!x) {
        pr_pre_unknown("out of memory", out);
        return;
    }
    pr_space *s = &x->space;
    pr_form *f = &x->form;
    x->has_form = x->all = false;
    x->n = -1;
    pr_pre_unknown("no pre-test applies", out);
    if (!q->is_pair) return;
    if (complementary(q)) {
        pr_pre_contradiction("conjuncts: a condition and its negation", out);
        return;
    }
    pr_space_begin(s, q);
    x->has_form = pr_space_overlap(s, f);
    if (!x->has_form) return;
    pr_interval r = pr_space_range(s, f, NULL, false);
    if (r.lo > f->hi || r.hi < f->lo) {
        pr_pre_contradiction("intervals: no common byte", out);
        return;
    }
    if (!pr_is_inf(f->k) && residue_excludes(f)) {
        pr_pre_contradiction("residues: no common byte", out);
        return;
    }
    pr_delta *found = x->found;
    int n = x->n = pr_radix_search(s, f, nodes, found, PR_PRE_FEW_DELTAS, &x->all);
    if (n < 0 || !x->all) return;
    if (n == 0) {
        pr_pre_contradiction("deltas: no common byte", out);
        return;
    }
    bool marked[PR_PRE_ATOMS];
    for (int i = 0; i < f->n; i++) {
        marked[i] = f->at[i].a == f->at[i].b && !s->node[f->at[i].node].known;
        for (int j = 1; j < n && marked[i]; j++) marked[i] = found[j].d[i] == found[0].d[i];
        if (!marked[i]) continue;
        s->node[f->at[i].node].known = true;
        s->node[f->at[i].node].delta = found[0].d[i];
    }
    if (pr_pre_empty(s, "radix", scratch, out)) return;
    for (int i = 0; i < f->n; i++)
        if (marked[i]) s->node[f->at[i].node].known = false;
}

static void decide(pr_engine_ctx *ctx, const pr_query *q, const pr_limits *limits,
                   pr_arena *scratch, pr_outcome *out)
{
    int64_t most = pr_pre_limit(limits->delta_nodes, PR_PRE_DELTA_NODES), nodes = most;
    look(ctx, q, &nodes, scratch, out);
    out->cost = (uint64_t)(most - nodes);
}

const pr_engine *pr_engine_pretest(void)
{
    static const pr_engine engine = {
        .name = "pretest",
        .accepts = ~0u,
        .decide = decide,
        .open = pr_pre_open,
        .close = pr_pre_close,
        .dump = pr_pre_dump,
        .version = pr_pre_version,
    };
    return &engine;
}
