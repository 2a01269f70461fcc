/* Loops that advance by a launch value: `range(first, end, number of programs)`. Their positions are products that no
 * relation holds, but what kernels ask about them is whether there is an iteration some way on, first + (k + d) * step < end. That is
 * k + d < q, q = (end - first) / step rounded up, since the step is at least 1. The trip count is q, or 0 below. */
#include "shm/walk.h"
#include "term/range.h"

enum { AHEAD = 16 };    /* iterations that a condition looks ahead or back */

/* k + d or d, where that times the step is `by`; NONE otherwise. */
static pr_term steps_of(pr_walk *w, const pr_cut *c, pr_term by)
{
    pr_terms *T = w->T;
    for (int l = -1; l < w->p->loops.n; l++) {
        const pr_shm_loop *loop = l < 0 ? NULL : &w->p->loops.data[l];
        if (loop && (pr_term_none(loop->trips) || loop->trips.id != c->value.id)) continue;
        pr_term k = loop ? pr_var_term(T, loop->counter) : PR_TERM_ZERO;
        pr_term rest = loop ? pr_sub(T, by, pr_mul(T, k, c->c)) : by;
        if (pr_term_none(rest)) continue;           /* a number too large: not a multiple of one that is */
        for (int d = -AHEAD; d <= AHEAD; d++)
            if (pr_scale(T, c->c, d).id == rest.id) return pr_add(T, k, pr_const(T, d));
    }
    return PR_TERM_NONE;
}

/* L <= 0. */
static pr_term condition(pr_walk *w, pr_term t)
{
    pr_terms *T = w->T;
    pr_term L = pr_term_child(T, t, 0);
    for (int i = 0; i < w->cuts.n; i++) {
        const pr_cut *c = &w->cuts.data[i];
        if (c->opcode != PR_OP_SCF_FOR) continue;
        pr_term q = pr_var_term(T, c->quotient), span = pr_sub(T, c->b, c->a);
        pr_term j = steps_of(w, c, pr_add(T, L, pr_sub(T, span, pr_const(T, 1))));     /* first + j * step - end + 1 <= 0 */
        if (!pr_term_none(j)) return pr_lt(T, j, q);
        j = steps_of(w, c, pr_sub(T, span, L));                                    /* end - first - j * step <= 0 */
        if (!pr_term_none(j)) return pr_le(T, q, j);
    }
    return t;
}

pr_term pr_walk_in_steps(pr_walk *w, pr_term t)
{
    pr_terms *T = w->T;
    bool any = false;
    for (int i = 0; i < w->cuts.n; i++) any = any || w->cuts.data[i].opcode == PR_OP_SCF_FOR;
    if (!any || pr_term_none(t)) return t;
    switch (pr_term_op_of(T, t)) {
    case PR_TERM_OP_LE0: return condition(w, t);
    case PR_TERM_OP_NOT: return pr_not(T, pr_walk_in_steps(w, pr_term_child(T, t, 0)));
    case PR_TERM_OP_AND: return pr_and(T, pr_walk_in_steps(w, pr_term_child(T, t, 0)), pr_walk_in_steps(w, pr_term_child(T, t, 1)));
    case PR_TERM_OP_OR: return pr_or(T, pr_walk_in_steps(w, pr_term_child(T, t, 0)), pr_walk_in_steps(w, pr_term_child(T, t, 1)));
    default: return t;
    }
}
