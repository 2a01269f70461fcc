/* A query over tables without values as one over variables: is there any content that admits a solution?
 *
 * Each entry that the query reads becomes a variable within the table's bounds; for two entries of one table, equal
 * indices have equal values (Ackermann), and what is taken for granted about the table (distinct, nondecreasing)
 * holds of the two. The new query has a solution exactly when the old one has one for some contents: values at
 * finitely many indices extend to a function with the same premises and bounds, but for a table of distinct entries
 * whose bounds leave less values than indices, where the new query only has more solutions. */
#include "term/query.h"
#include "term/store.h"
#include "term/table.h"
#include <stdlib.h>

enum { MOST_READS = 8, FIRST_INDEX = 1 << 25 };

typedef struct read { pr_tab tab; pr_term index, value; } read;
typedef struct unfold { pr_terms *T; pr_arena *arena; uint32_t *ids; pr_term *to; uint32_t n; read reads[MOST_READS]; int n_reads; bool over; } unfold;

static bool is_unknown(const pr_terms *T, pr_term t)
{
    return pr_term_op_of(T, t) == PR_TERM_OP_TABLE && !pr_tab_get(T, pr_term_tab(T, t))->values;
}

static pr_term lookup(const unfold *u, pr_term t)
{
    uint32_t lo = 0, hi = u->n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (u->ids[mid] < t.id) lo = mid + 1;
        else hi = mid;
    }
    return u->to[lo];
}

/* The variable of an entry: one per term, so that asking again makes no other. */
static pr_term entry(unfold *u, pr_term t, pr_term index)
{
    pr_terms *T = u->T;
    pr_tab tab = pr_term_tab(T, t);
    for (int i = 0; i < u->n_reads; i++)
        if (u->reads[i].tab.id == tab.id && pr_term_is(u->reads[i].index, index)) return u->reads[i].value;
    if (u->n_reads == MOST_READS || t.id >= INT32_MAX - FIRST_INDEX) {
        u->over = true;
        return PR_TERM_NONE;
    }
    const pr_tab_info *x = pr_tab_get(T, tab);
    pr_var_info v = { .role = PR_ROLE_FREE, .index = FIRST_INDEX + (int)t.id, .copy = PR_COPY_SHARED, .lo = x->lo, .hi = x->hi };
    v.name = pr_arena_printf(pr_terms_arena(T), "%s.entry%u", x->name, t.id);
    pr_term value = pr_var_term(T, pr_var_new(T, v));
    u->reads[u->n_reads++] = (read){ tab, index, value };
    return value;
}

static pr_term rebuilt(unfold *u, pr_term t)
{
    pr_terms *T = u->T;
    int n = pr_term_arity(T, t);
    pr_term few[16], *child = n > 16 ? PR_NEW_N(u->arena, pr_term, n) : few;
    for (int i = 0; i < n; i++) {
        child[i] = lookup(u, pr_term_child(T, t, i));
        if (pr_term_none(child[i])) return PR_TERM_NONE;
    }
    return is_unknown(T, t) ? entry(u, t, child[0]) : n ? pr_term_rebuild(T, t, child) : t;
}

/* What holds of two entries of one table. */
static pr_term related(pr_terms *T, const read *a, const read *b)
{
    const pr_tab_info *x = pr_tab_get(T, a->tab);
    pr_term same = pr_eq(T, a->index, b->index), equal = pr_eq(T, a->value, b->value);
    pr_term all = pr_implies(T, same, equal);
    if (x->injective) all = pr_and(T, all, pr_or(T, same, pr_not(T, equal)));
    if (!x->nondecreasing) return all;
    all = pr_and(T, all, pr_or(T, pr_lt(T, b->index, a->index), pr_le(T, a->value, b->value)));
    return pr_and(T, all, pr_or(T, pr_lt(T, a->index, b->index), pr_le(T, b->value, a->value)));
}

static bool replaced(const unfold *u, const pr_term *from, int n, pr_term *to)
{
    for (int i = 0; i < n; i++) {
        to[i] = lookup(u, from[i]);
        if (pr_term_none(to[i])) return false;
    }
    return true;
}

static bool fill(unfold *u, const pr_query *q, pr_query *out)
{
    enum { PAIRS = MOST_READS * (MOST_READS - 1) / 2 };
    pr_terms *T = u->T;
    for (uint32_t i = 0; i < u->n && !u->over; i++) u->to[i] = rebuilt(u, (pr_term){ u->ids[i] });
    if (u->over || !u->n_reads) return false;
    pr_term *core = PR_NEW_N(u->arena, pr_term, q->n_core + PAIRS), *distinct = PR_NEW_N(u->arena, pr_term, q->n_distinct + 1);
    pr_term *premises = PR_NEW_N(u->arena, pr_term, q->n_premises + 1);
    pr_var *vars = PR_NEW_N(u->arena, pr_var, q->n_vars + u->n_reads);
    *out = *q;
    if (!replaced(u, q->core, q->n_core, core) || !replaced(u, q->distinct, q->n_distinct, distinct)
        || !replaced(u, q->premises, q->n_premises, premises))
        return false;
    for (int i = 0; i < 2 && !pr_term_none(q->addr[i]); i++) {
        out->addr[i] = lookup(u, q->addr[i]);
        if (pr_term_none(out->addr[i])) return false;
    }
    for (int i = 0; i < u->n_reads; i++)
        for (int j = 0; j < i; j++) {
            if (u->reads[i].tab.id != u->reads[j].tab.id) continue;
            pr_term t = related(T, &u->reads[i], &u->reads[j]);
            if (pr_term_none(t)) return false;
            if (!pr_term_is(t, PR_TERM_TRUE)) core[out->n_core++] = t;
        }
    for (int i = 0; i < q->n_vars; i++) vars[i] = q->vars[i];
    for (int i = 0; i < u->n_reads; i++) vars[out->n_vars++] = pr_term_var(T, u->reads[i].value);
    out->core = core;
    out->distinct = distinct;
    out->premises = premises;
    out->vars = vars;
    return true;
}

bool pr_query_unfold(const pr_query *q, pr_arena *arena, pr_query *out)
{
    bool any = false;
    for (uint32_t t = 1; t < pr_tabs_count(q->terms) && !any; t++) any = !pr_tab_get(q->terms, (pr_tab){ t })->values;
    if (!any) return false;
    int n = 0;
    pr_term *root = PR_NEW_N(arena, pr_term, q->n_core + q->n_distinct + q->n_premises + 2);
    for (int i = 0; i < q->n_core; i++) root[n++] = q->core[i];
    for (int i = 0; i < q->n_distinct; i++) root[n++] = q->distinct[i];
    for (int i = 0; i < q->n_premises; i++) root[n++] = q->premises[i];
    for (int i = 0; i < 2; i++) root[n++] = q->addr[i];
    for (int i = 0; i < n - 2; i++)
        if (pr_term_none(root[i])) return false;
    unfold u = { .T = q->terms, .arena = arena };
    pr_temp hold;
    u.n = pr_term_below(q->terms, root, n, &hold, &u.ids);
    u.to = PR_NEW_N(arena, pr_term, u.n + 1);
    bool done = fill(&u, q, out);
    pr_temp_end(&hold);
    return done;
}
