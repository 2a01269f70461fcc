/* What the closure learns, as terms, for certificates: each fact follows from the query and the facts before it
 * by one rule, so another solver can follow where the whole query is too hard. Only when query->trace is set;
 * then, and only then, terms are made in the query's store. */
#include "pre/space.h"

static pr_term node_term(pr_space *s, int node, int c)
{
    pr_terms *T = s->q->terms;
    const pr_space_node *v = &s->node[node];
    if (!pr_term_none(v->rep[c])) return v->rep[c];
    if (v->shared && !pr_term_none(v->rep[!c])) return v->rep[!c];
    switch (v->op) {
    case PR_TERM_OP_CONST: return pr_const(T, v->value);
    case PR_TERM_OP_VAR: {
        pr_var a = { (uint32_t)v->value };
        for (int i = 0; i < s->n_twins; i++)
            if (s->twin[i][0].id == a.id) return pr_var_term(T, s->twin[i][c]);
        return pr_var_term(T, a);
    }
    case PR_TERM_OP_SUM: {
        pr_term sum = pr_const(T, v->value);
        for (int j = 0; j < v->n; j++) {
            pr_term k = node_term(s, s->kid[v->first + j], c);
            sum = pr_term_none(k) || pr_term_none(sum) ? PR_TERM_NONE : pr_add(T, sum, pr_scale(T, k, s->coef[v->first + j]));
        }
        return sum;
    }
    case PR_TERM_OP_MUL: {
        pr_term product = pr_const(T, 1);
        for (int j = 0; j < v->n; j++) {
            pr_term k = node_term(s, s->kid[v->first + j], c);
            product = pr_term_none(k) || pr_term_none(product) ? PR_TERM_NONE : pr_mul(T, product, k);
        }
        return product;
    }
    default: return PR_TERM_NONE;
    }
}

static void add(pr_space *s, pr_term fact)
{
    pr_trace *t = s->q->trace;
    if (pr_term_none(fact) || pr_term_is(fact, PR_TERM_TRUE)) return;
    for (int i = 0; i < t->facts.n; i++)
        if (t->facts.data[i].fact.id == fact.id) return;
    pr_trace_fact f = { fact, t->factor, t->difference };
    pr_vec_push(t->arena, &t->facts, f);
}

/* k + sum over the items of a form, divided by d */
static pr_term sum_of(pr_space *s, const pr_form *f, pr_i128 k, pr_i128 d)
{
    pr_terms *T = s->q->terms;
    pr_term sum = pr_const(T, k);
    for (int i = 0; i < f->n && !pr_term_none(sum); i++) {
        pr_term a = f->at[i].a ? node_term(s, f->at[i].node, 0) : PR_TERM_ZERO;
        pr_term b = f->at[i].b ? node_term(s, f->at[i].node, 1) : PR_TERM_ZERO;
        if (pr_term_none(a) || pr_term_none(b)) return PR_TERM_NONE;
        sum = pr_sub(T, pr_add(T, sum, pr_scale(T, a, f->at[i].a / d)), pr_scale(T, b, f->at[i].b / d));
    }
    return sum;
}

void pr_trace_product(pr_space *s, int factor, const pr_form *h, pr_i128 g)
{
    pr_trace *t = s->q->trace;
    if (!t) return;
    t->factor = t->difference = PR_TERM_NONE;
    if (!h) return;
    pr_term f = node_term(s, factor, 0), d = sum_of(s, h, 0, g);
    if (pr_term_none(f) || pr_term_none(d)) return;
    t->factor = pr_scale(s->q->terms, f, g);
    t->difference = d;
}

void pr_trace_form(pr_space *s, const pr_form *f)
{
    if (!s->q->trace) return;
    pr_terms *T = s->q->terms;
    pr_term sum = sum_of(s, f, f->k, 1);
    if (pr_term_none(sum)) return;
    if (f->lo == f->hi) add(s, pr_eq(T, sum, pr_const(T, f->lo)));
    else add(s, pr_and(T, pr_le(T, pr_const(T, f->lo), sum), pr_le(T, sum, pr_const(T, f->hi))));
}

void pr_trace_delta(pr_space *s, int node)
{
    if (!s->q->trace) return;
    pr_terms *T = s->q->terms;
    const pr_space_node *v = &s->node[node];
    pr_term a = node_term(s, node, 0), b = node_term(s, node, 1);
    if (pr_term_none(a) || pr_term_none(b) || pr_term_is_bool(T, a) || pr_term_is_bool(T, b)) return;
    add(s, pr_eq(T, pr_sub(T, a, b), pr_const(T, v->delta)));
}
