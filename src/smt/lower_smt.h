/* Terms as Z3 formulas; src/smt only. */
#ifndef PR_SMT_LOWER_SMT_H
#define PR_SMT_LOWER_SMT_H
#include "z3_wrap.h"

typedef struct pr_smt {
    int64_t n_nodes, n_divisions; /* terms translated */
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
    bool limited, too_large;          /* more terms than PR_SMT_NODES: nothing more is translated */
    bool relaxed;                     /* a term became a free constant: only UNSAT counts      */
    pr_term relaxed_term;
} pr_smt;

/* Z3 prepares a formula without counting what that costs. MEMORY: where --max-memory says nothing. */
enum { PR_SMT_NODES = 1 << 13, PR_SMT_MEMORY = 1 << 29 };

/* Fills asserted with the whole query. False when a term is PR_TERM_NONE, Z3 reported an error, or (limited) the formula is
 * too large. */
bool pr_smt_lower(pr_smt *s, Z3_context z, const pr_query *q, bool limited, pr_arena *arena);
#endif
