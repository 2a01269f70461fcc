/* The inside of a term store; included by files of src/term only.
 *
 * Nodes live in one array, their children and coefficients in two pools. Facts that follow from the
 * variables' own (unconditional) intervals alone are computed when a node is made: lo, hi and the
 * number of trailing zero bits. Constructors simplify with them, so they must never depend on a
 * box. */
#ifndef PR_TERM_STORE_H
#define PR_TERM_STORE_H
#include "term/range.h"

typedef struct node {
    uint8_t op;             /* pr_term_op                                                     */
    uint8_t kind;           /* FITS: pr_fits_kind                                             */
    uint8_t zeros;          /* every value is a multiple of 2^zeros                           */
    uint8_t is_bool : 1;
    uint8_t shared : 1;     /* only parameters and grid extents below: one value in a launch          */
    uint32_t aux;           /* VAR: variable, APP: symbol, FITS: bits                         */
    uint32_t n;             /* children                                                       */
    uint32_t first;         /* index of the first child in the pool                           */
    uint32_t coef;          /* SUM: index of the first coefficient; FITS: memo of its meaning, 0 = not built */
    uint32_t negation;      /* memo of pr_not, 0 = not built                                  */
    uint32_t hash;
    uint16_t occurs;        /* kinds of leaves in it or below: PR_OCCURS                      */
    uint8_t lanes;          /* which LANE variables of no copy, by index                      */
    pr_i128 value;          /* CONST, SUM                                                     */
    pr_interval own;        /* under the variables' own intervals                             */
} node;

struct pr_terms {
    pr_arena *arena;
    node *nodes; uint32_t n_nodes, cap_nodes;
    uint32_t *kids; uint32_t n_kids, cap_kids;
    pr_i128 *coefs; uint32_t n_coefs, cap_coefs;
    uint32_t *table; uint32_t table_cap;     /* open addressing, power of two, 0 = free          */
    uint32_t consts[256];                    /* the last CONST made or found, by hash            */
    pr_var_info *vars; uint32_t n_vars, cap_vars;
    int64_t most_index[PR_ROLE_OTHER + 1][PR_COPY_B + 1]; /* one more than the largest index of a variable    */
    uint32_t *var_terms;                     /* VAR node of each variable, 0 = not built         */
    pr_sym_info *syms; uint32_t n_syms, cap_syms;
    struct pr_table **tabs; uint32_t n_tabs, cap_tabs;
    struct eval_work *eval;                  /* scratch of eval.c                               */
    struct walk_work *walk;                  /* scratch of walk.c                               */
    struct pr_box *own_box;                  /* facts under the variables' own intervals          */
};

static inline const node *node_of(const pr_terms *T, pr_term t)
{
    return &T->nodes[t.id];
}
static inline pr_term kid(const pr_terms *T, const node *x, uint32_t i)
{
    return (pr_term){ T->kids[x->first + i] };
}

/* Constants of bit operations that rows take apart: in [-limit, limit), at most so many runs of ones. */
#define PR_MASK_LIMIT ((pr_i128)1 << 96)
enum { PR_MASK_RUNS = 24 };
/* term.c: finds or makes a node that is already in normal form. */
pr_term pr_intern(pr_terms *T, pr_term_op op, uint32_t aux, pr_i128 value, const pr_term *child, int n);
/* The same for a SUM; own: its interval, where it is known (pr_range_linear). */
pr_term pr_intern_sum(pr_terms *T, const pr_term *child, const pr_i128 *coef, int n, pr_i128 constant, const pr_interval *own);
/* term.c: the node t with other children, whose facts are those of its own. coef: a SUM's in another order, or null. */
pr_term pr_intern_renamed(pr_terms *T, pr_term t, const pr_term *child, const pr_i128 *coef);
/* arith.c: sum coef*t + constant <= 0 in normal form, without making the sum first. */
pr_term pr_sum_le0(pr_terms *T, const pr_term *t, const pr_i128 *coef, int n, pr_i128 constant);
/* term.c: t <= 0 */
pr_term pr_le0(pr_terms *T, pr_term t);
/* range.c: interval of a linear form under the variables' own intervals */
pr_interval pr_range_linear(const pr_terms *T, const pr_term *at, const pr_i128 *coef, int n, pr_i128 constant);
/* range.c: interval of one node from the intervals of its children; var gives a VAR's interval. */
pr_interval pr_range_step(const pr_terms *T, const node *x, const pr_interval *child,
                          pr_interval var);
/* Ids of the nodes reachable from the roots, ascending; their number. The caller ends *hold. */
uint32_t pr_term_below(const pr_terms *T, const pr_term *root, int n_roots, pr_temp *hold, uint32_t **ids);
/* The node t with other children (same number), through the normalising constructors. */
pr_term pr_term_rebuild(pr_terms *T, pr_term t, const pr_term *child);
#endif
