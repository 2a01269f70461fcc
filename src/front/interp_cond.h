/* What can a condition be, when the values it is computed from lie between bounds?
 *
 * The condition of a wait that compares what it polls with what an earlier atomic returned. A value is an interval of unsigned
 * readings together with the bits that all its values agree in; every operation gives a superset of what it can give. */
#ifndef PR_FRONT_INTERP_COND_H
#define PR_FRONT_INTERP_COND_H
#include "front/ops.h"
#include "front/ir.h"

enum { PR_WAIT_NODES = 32, PR_WAIT_LEAVES = 3, PR_WAIT_OPAQUE = -1, PR_WAIT_CONST = -2, PR_WAIT_LEAF = -3 };

typedef struct pr_wait_node {
    int op;                          /* PR_OP_ARITH_*, or one of the above                                */
    int w, from;                     /* bits of the result, of the first operand                           */
    int a, b, c;                     /* operands: earlier nodes; leaf: which one; of a comparison c is the predicate  */
    uint64_t x;                      /* PR_WAIT_CONST                                               */
} pr_wait_node;

/* Leaf 0 is what the poll reads, each other one what this atomic returned when it ran last. The last node is the condition. */
typedef struct pr_wait_expr {
    pr_wait_node node[PR_WAIT_NODES]; int n;
    const pr_op *leaf[PR_WAIT_LEAVES]; int width[PR_WAIT_LEAVES], n_leaves;
} pr_wait_expr;

typedef struct pr_span { pr_i128 lo, hi; } pr_span;  /* a number, taken modulo the width                        */

/* Can the condition have the value `want`, leaf i lying in span[i]? True when that is not known. */
bool pr_wait_may_be(const pr_wait_expr *e, const pr_span *span, bool want);
#endif
