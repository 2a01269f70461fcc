/* Shared by verify.c (structure, control flow, names) and verify_ops.c (types of one operation). */
#ifndef PR_FRONT_VERIFY_H
#define PR_FRONT_VERIFY_H
#include "front/ops.h"
#include "front/types.h"
#include "util/num.h"

/* Null when the operation's own operands, attributes and results fit together, else what is
 * wrong. */
const char *pr_verify_op(const pr_op *op);
/* Equal, or one of them unknown. */
bool pr_verify_agree(const pr_type *a, const pr_type *b);
#endif
