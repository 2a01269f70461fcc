/* What the value of one store is made of, read off the tree: which program ids, which arguments' memory. */
#ifndef PR_FRONT_VALUE_SLICE_H
#define PR_FRONT_VALUE_SLICE_H
#include "front/ir.h"

/* known: in every execution the value of a lane is one function (the same compiled operations) of the lane, the iterations of the
 * loops around the store, the program ids along `axes`, the launch's scalars, and what loads read from the arguments marked
 * in args. False where an atomic, a call, assembly or an operation that is not listed takes part, or a load whose masked-off lanes
 * hold anything. */
typedef struct pr_value_slice { bool known; unsigned axes; bool *args; int n_args; } pr_value_slice;

pr_value_slice pr_value_slice_of(pr_arena *arena, const pr_ir *ir, const pr_op *func, int store_id);
#endif
