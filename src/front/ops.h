/* The numbers of the operations known by name (front/ops.def).
 *
 * pr_op.opcode holds one of these. PR_OP_UNKNOWN is every other operation; its name is kept. */
#ifndef PR_FRONT_OPS_H
#define PR_FRONT_OPS_H
#include "util/str.h"

enum pr_opcode {
    PR_OP_UNKNOWN = 0,
#define OP(id, spelling, least, most) PR_OP_##id,
#include "front/ops.def"
#undef OP
    PR_OP_COUNT
};

/* Number of the operation spelled name, PR_OP_UNKNOWN when it has no row. */
int pr_opcode_find(pr_str name);
/* Spelling of a row, "" for PR_OP_UNKNOWN. */
const char *pr_opcode_name(int opcode);
/* Operand bounds of a row; *most is -1 when there is no upper bound. */
void pr_opcode_arity(int opcode, int *least, int *most);
#endif
