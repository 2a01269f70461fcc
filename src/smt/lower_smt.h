/* Terms as Z3 formulas; src/smt only. */
#ifndef PR_SMT_LOWER_SMT_H
#define PR_SMT_LOWER_SMT_H
#include "z3_wrap.h"

typedef struct pr_smt {
    int64_t n_nodes;            /* terms translated */
    Z3_context z;
    const pr_query *q;
    pr_arena *arena;
    pr_box *box;                      /* unchanged: the unconditional intervals               */
    Z3_ast *memo;                     /* by term id, null = not translated                   */
    Z3_ast *var;                      /* by variable id, null = not made                     */
    PR_VEC(Z3_ast) asserted;
    PR_VEC(pr_term) pair_x; PR_VEC(pr_i128) pair_d;   /* q/r pairs made so far               */
    PR_VEC(Z3_ast) pair_q; PR_VEC(Z3_ast) pair_r;
    PR_VEC(pr_term) entries;          /* table entries that are not spelled out so far         */
    bool relaxed;                     /* a term became a free constant: only UNSAT counts      */
    pr_term relaxed_term;
} pr_smt;

/* Fills asserted with the whole query. False when a term is PR_TERM_NONE or Z3 reported an error.
 */
bool pr_smt_lower(pr_smt *s, Z3_context z, const pr_query *q, pr_arena *arena);
#endif
