/* May a test that recovered differences say EMPTY? (decision-engine.md 3.0)
 *
 * A test shows that some terms differ between the copies by a known amount, mostly 0, in every solution. That
 * settles the query only when every alternative of distinct becomes false, or a conjunct about both copies
 * does (order by barriers and dependencies, unequal addresses of atomics). So an axis nobody reads keeps its
 * alternative, and two different records, which have no alternatives, are never settled by equal dimensions
 * alone. */
#include "pre/space.h"
#include <stdio.h>
#include <stdlib.h>

#ifdef PR_FAULTS
pr_pre_rule pr_pre_dropped = PR_DROP_NONE;
#endif

enum { DEPTH = 64 };

/* sum = a*A - b*B + k of a term that may speak of both copies, each atom of one. */
bool pr_space_two_sided(pr_space *s, pr_term t, pr_form *f)
{
    const pr_terms *T = s->T;
    bool sum = pr_term_op_of(T, t) == PR_TERM_OP_SUM;
    int n = sum ? pr_term_arity(T, t) : 1;
    f->n = 0;
    f->k = sum ? pr_term_value(T, t) : 0;
    f->lo = f->hi = 0;
    if (pr_term_const(T, t, &f->k)) return true;
    if (n > PR_PRE_ATOMS) return false;
    for (int i = 0; i < n; i++) {
        unsigned sides;
        int id = pr_space_node_of(s, sum ? pr_term_child(T, t, i) : t, &sides);
        pr_i128 c = sum ? pr_term_coef(T, t, i) : 1;
        if (id < 0 || sides == (PR_SIDES_A | PR_SIDES_B) || pr_is_inf(c)) return false;
        f->at[f->n++] = (pr_item){ id, sides == PR_SIDES_B ? 0 : c, sides == PR_SIDES_B ? -c : 0 };
    }
    return pr_space_reduce(s, f);
}

static pr_tri truth(pr_space *s, pr_term t, bool rows, int depth)
{
    const pr_terms *T = s->T;
    if (depth > DEPTH) return PR_MAYBE;
    switch (pr_term_op_of(T, t)) {
    case PR_TERM_OP_FALSE: return PR_NO;
    case PR_TERM_OP_TRUE: return PR_YES;
    case PR_TERM_OP_NOT: {
        pr_tri r = truth(s, pr_term_child(T, t, 0), rows, depth + 1);
        return r == PR_MAYBE ? r : r == PR_YES ? PR_NO : PR_YES;
    }
    case PR_TERM_OP_AND:
    case PR_TERM_OP_OR: {
        pr_tri decides = pr_term_op_of(T, t) == PR_TERM_OP_AND ? PR_NO : PR_YES;
        pr_tri a = truth(s, pr_term_child(T, t, 0), rows, depth + 1);
        if (a == decides) return a;
        pr_tri b = truth(s, pr_term_child(T, t, 1), rows, depth + 1);
        return b == decides ? b : a == PR_MAYBE ? a : b;
    }
    case PR_TERM_OP_LE0:
    case PR_TERM_OP_EQ0: {
        pr_form f;
        if (!pr_space_two_sided(s, pr_term_child(T, t, 0), &f)) return PR_MAYBE;
        pr_interval r = pr_space_range(s, &f, NULL, rows);
        if (pr_term_op_of(T, t) == PR_TERM_OP_LE0)
            return r.lo > 0 ? PR_NO : r.hi <= 0 ? PR_YES : PR_MAYBE;
        return r.lo > 0 || r.hi < 0 ? PR_NO : r.lo == 0 && r.hi == 0 ? PR_YES : PR_MAYBE;
    }
    default: return PR_MAYBE;
    }
}

pr_tri pr_pre_truth(pr_space *s, pr_term t, bool rows) { return truth(s, t, rows, 0); }

bool pr_pre_settled(pr_space *s)
{
    const pr_query *q = s->q;
    for (int i = q->n_core_a + q->n_core_b; i < q->n_core; i++)
        if (truth(s, q->core[i], false, 0) == PR_NO) return true;
    if (q->n_distinct == 0) return PR_PRE_DROPS(PR_DROP_ALTERNATIVE);
    for (int i = 0; i < q->n_distinct; i++) {
        if (truth(s, q->distinct[i], false, 0) != PR_NO) return false;
        if (PR_PRE_DROPS(PR_DROP_AXES)) return true;
    }
    return true;
}

static const pr_space_node *find_var(const pr_space *s, pr_var v)
{
    for (int i = 0; i < s->n; i++)
        if (s->node[i].op == PR_TERM_OP_VAR && s->node[i].value == v.id) return &s->node[i];
    return NULL;
}

bool pr_pre_empty(pr_space *s, const char *test, pr_arena *scratch, pr_outcome *out)
{
#ifdef PR_FAULTS
    for (int i = 0; i < s->n_twins && PR_PRE_DROPS(PR_DROP_ABSENT); i++) {
        unsigned sides;
        if (find_var(s, s->twin[i][0])) continue;
        int id = pr_space_node_of(s, pr_var_term(s->q->terms, s->twin[i][0]), &sides);
        s->node[id].known = true; /* absent: taken for equal */
    }
#endif
    if (!pr_pre_settled(s)) return false;
    char text[160];
    size_t n = (size_t)snprintf(text, sizeof text, "%s:", test);
    for (int i = 0; i < s->n_twins && n < sizeof text; i++) {
        const pr_space_node *v = find_var(s, s->twin[i][0]);
        if (!v || !v->known || v->delta != 0) continue;
        const char *name = pr_var_get(s->T, s->twin[i][0])->name;
        n += (size_t)snprintf(text + n, sizeof text - n, " %s",
                              name[0] == 'A' && name[1] == '.' ? name + 2 : name);
    }
    if (n >= sizeof text) n = sizeof text - 1;
    *out =
        (pr_outcome){ .answer = PR_ANSWER_EMPTY, .evidence = pr_arena_strndup(scratch, text, n) };
    return true;
}

void pr_pre_contradiction(const char *test, pr_outcome *out)
{
    *out = (pr_outcome){ .answer = PR_ANSWER_EMPTY, .evidence = test };
}

void pr_pre_unknown(const char *message, pr_outcome *out)
{
    *out = (pr_outcome){ .answer = PR_ANSWER_UNKNOWN,
                         .why = PR_REFUSAL_NEEDS_SMT,
                         .message = message };
}

/* --- what all rows of the table share ------------------------------------------------------------ */

struct pr_engine_ctx {
    pr_arena *arena;
    void *block;
};

pr_engine_ctx *pr_pre_open(pr_arena *arena)
{
    pr_engine_ctx *ctx = PR_NEW(arena, pr_engine_ctx);
    ctx->arena = arena;
    return ctx;
}

/* Not cleared but for its head: some hundred kilobytes would cost more than most queries. */
void *pr_pre_context(pr_engine_ctx *ctx, size_t bytes)
{
    enum { HEAD = 64 };
    if (!ctx->block) {
        ctx->block = pr_arena_raw(ctx->arena, bytes);
        memset(ctx->block, 0, bytes < HEAD ? bytes : HEAD);
    }
    return ctx->block;
}

void pr_pre_close(pr_engine_ctx *ctx) { (void)ctx; }

bool pr_pre_dump(const pr_query *q, const pr_limits *limits, pr_buf *out, const char **why)
{
    (void)q, (void)limits, (void)out;
    *why = "this tier reads the query as it is";
    return false;
}

const char *pr_pre_version(void) { return "built in"; }
