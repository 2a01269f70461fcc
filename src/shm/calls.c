/* Calls of functions that the compiler does not put in line (`noinline`). A call counts as scratch memory of its own: the frame
 * that the callee's layout conversions and reductions use. That is all it may do to shared memory: no allocation, view, barrier
 * or asynchronous operation, no assembly, nothing unknown, in the callee or in what it calls. */
#include "shm/walk.h"

enum { DEPTH = 16, MOST_OPS = 1 << 14 };

/* left: operations that may still be looked at; functions that call others many times are many. */
static bool quiet_call(const pr_ir *ir, const pr_op *op, int depth, int *left);
static bool quiet(const pr_ir *ir, const pr_op *op, int depth, int *left);

static bool quiet_region(const pr_ir *ir, const pr_region *r, int depth, int *left)
{
    for (int b = 0; r && b < r->n_blocks; b++)
        for (int i = 0; i < r->blocks[b]->n_ops; i++)
            if (!quiet(ir, r->blocks[b]->ops[i], depth, left)) return false;
    return true;
}

static bool quiet(const pr_ir *ir, const pr_op *op, int depth, int *left)
{
    if (--*left < 0) return false;
    for (int i = 0; i < op->n_operands + op->n_results; i++) {
        const pr_value *v = i < op->n_operands ? op->operands[i] : op->results[i - op->n_operands];
        if (v && v->type && v->type->kind == PR_TYPE_MEMDESC) return false;
    }
    if (op->opcode == PR_OP_TT_CALL) return quiet_call(ir, op, depth + 1, left);
    bool gpu = pr_str_starts(op->name, "ttg.") || pr_str_starts(op->name, "ttng.");
    bool known = op->opcode == PR_OP_TTG_CONVERT_LAYOUT || pr_str_is(op->name, "ttg.fp4_to_fp") || pr_str_is(op->name, "ttg.global_scratch_alloc");
    if (gpu && !known) return false;
    bool other = pr_str_starts(op->name, "arith.") || pr_str_starts(op->name, "math.") || pr_str_starts(op->name, "scf.") || pr_str_starts(op->name, "ub.")
                 || op->opcode == PR_OP_CF_BR || op->opcode == PR_OP_CF_COND_BR || op->opcode == PR_OP_CF_ASSERT || op->opcode == PR_OP_LLVM_INTR_ASSUME;
    bool triton = pr_str_starts(op->name, "tt.") && op->opcode != PR_OP_UNKNOWN && !pr_str_starts(op->name, "tt.descriptor_");
    if (!known && !other && !triton) return false;
    if (op->opcode == PR_OP_TT_ELEMENTWISE_INLINE_ASM || op->opcode == PR_OP_TT_EXTERN_ELEMENTWISE) {
        const pr_attr *pure = pr_op_attr(op, "pure");
        if (!pure || (pure->kind == PR_ATTR_BOOL && !pure->boolean) || (pure->kind == PR_ATTR_INT && !pure->integer)) return false;
    }
    for (int r = 0; r < op->n_regions; r++)
        if (!quiet_region(ir, op->regions[r], depth, left)) return false;
    return true;
}

static bool quiet_call(const pr_ir *ir, const pr_op *op, int depth, int *left)
{
    const pr_attr *name = pr_op_attr(op, "callee");
    const pr_op *callee = name && depth < DEPTH ? pr_ir_func(ir, name->text) : NULL;
    if (!callee || callee == op || !callee->n_regions || !callee->regions[0] || !callee->regions[0]->n_blocks) return false;
    for (int i = 0; i < op->n_operands + op->n_results; i++) {
        const pr_value *v = i < op->n_operands ? op->operands[i] : op->results[i - op->n_operands];
        if (v && v->type && v->type->kind == PR_TYPE_MEMDESC) return false;
    }
    return quiet_region(ir, callee->regions[0], depth, left);
}

bool pr_shm_quiet_call(const pr_ir *ir, const pr_op *op)
{
    int left = MOST_OPS;
    return quiet_call(ir, op, 0, &left);
}
