/* Which values must be computed, given what a run is asked for?
 *
 * needed is closed under "is computed from": marking a value marks what its definition reads, and the
 * conditions that decide which definition that is. Floats are never needed: they are unknown. */
#include "front/interp_core.h"

typedef PR_VEC(const pr_value *) pr_work;

bool pr_op_is_global_barrier(const pr_op *op)
{
    if (op->opcode == PR_OP_GPU_BARRIER) return !pr_op_attr(op, "address_spaces");
    if (op->opcode != PR_OP_TTG_BARRIER) return false;
    return ((int)pr_op_attr_int(op, "addrSpace", 0) & 6) == 6; /* global_read and global_write */
}

const pr_op *pr_im_callee(const pr_machine *m, const pr_op *call)
{
    const pr_attr *a = pr_op_attr(call, "callee");
    return a && (a->kind == PR_ATTR_SYMBOL || a->kind == PR_ATTR_STRING) ? pr_ir_func(m->setup.ir, a->text) : NULL;
}

/* ---- index of the module --------------------------------------------------------------------- */
static bool visit(pr_machine *m, const pr_op *op)
{
    m->ops[op->id] = op;
    bool effect = pr_op_is_access(op->opcode) || pr_op_is_global_barrier(op) ||
                  op->opcode == PR_OP_TT_CALL || op->opcode == PR_OP_UNKNOWN ||
                  op->opcode == PR_OP_TT_ELEMENTWISE_INLINE_ASM;
    for (int r = 0; r < op->n_regions; r++)
        for (int b = 0; b < op->regions[r]->n_blocks; b++)
            for (int i = 0; i < op->regions[r]->blocks[b]->n_ops; i++)
                effect |= visit(m, op->regions[r]->blocks[b]->ops[i]);
    m->effect[op->id] = effect;
    return effect;
}

void pr_im_index(pr_machine *m)
{
    visit(m, m->setup.ir->module);
}

/* ---- marking --------------------------------------------------------------------------------- */
static void need(pr_machine *m, pr_work *w, const pr_value *v)
{
    if (!v || m->needed[v->id]) return;
    if (v->type && !m->setup.floats && pr_type_scalar(v->type)->kind == PR_TYPE_FLOAT) return;
    m->needed[v->id] = 1;
    pr_vec_push(m->arena, w, v);
}

static void need_operand(pr_machine *m, pr_work *w, const pr_op *op, int i)
{
    if (op && i >= 0 && i < op->n_operands) need(m, w, op->operands[i]);
}

/* What decides which block of a region runs. */
static void need_branches(pr_machine *m, pr_work *w, const pr_region *r)
{
    for (int b = 0; r->n_blocks > 1 && b < r->n_blocks; b++) {
        const pr_op *t = pr_block_terminator(r->blocks[b]);
        if (t && (t->opcode == PR_OP_CF_COND_BR || t->opcode == PR_OP_CF_SWITCH)) need_operand(m, w, t, 0);
    }
}

/* Operand i of every way out of a region. */
static void need_outcome(pr_machine *m, pr_work *w, const pr_region *r, int i)
{
    need_branches(m, w, r);
    for (int b = 0; b < r->n_blocks; b++) {
        const pr_op *t = pr_block_terminator(r->blocks[b]);
        if (t && !t->n_succ) need_operand(m, w, t, i);
    }
}

/* What decides whether, and how often, the regions of op run. */
static void need_control(pr_machine *m, pr_work *w, const pr_op *op)
{
    switch (op->opcode) {
    case PR_OP_SCF_FOR:
        for (int i = 0; i < 3; i++) need_operand(m, w, op, i);
        break;
    case PR_OP_SCF_IF: case PR_OP_SCF_INDEX_SWITCH: need_operand(m, w, op, 0); break;
    case PR_OP_SCF_WHILE: need_outcome(m, w, op->regions[0], 0); break;
    default: break;
    }
    for (int r = 0; r < op->n_regions; r++) need_branches(m, w, op->regions[r]);
}

static void need_result(pr_machine *m, pr_work *w, const pr_op *op, int i)
{
    const pr_op *f;
    switch (op->opcode) {
    case PR_OP_SCF_FOR:
        need_control(m, w, op);
        need_operand(m, w, op, 3 + i);
        need_outcome(m, w, op->regions[0], i);
        return;
    case PR_OP_SCF_IF: case PR_OP_SCF_INDEX_SWITCH: case PR_OP_SCF_EXECUTE_REGION:
        need_control(m, w, op);
        for (int r = 0; r < op->n_regions; r++) need_outcome(m, w, op->regions[r], i);
        return;
    case PR_OP_SCF_WHILE:
        need_control(m, w, op);
        need_outcome(m, w, op->regions[0], 1 + i);
        return;
    case PR_OP_TT_CALL:
        f = pr_im_callee(m, op);
        if (f && f->n_regions) need_outcome(m, w, f->regions[0], i);
        return;
    default: break;
    }
    for (int k = 0; k < op->n_operands; k++) need_operand(m, w, op, k);
    for (int r = 0; r < op->n_regions; r++) { /* the regions of reduce and scan are run whole */
        const pr_region *g = op->regions[r];
        for (int b = 0; b < g->n_blocks; b++)
            for (int k = 0; k < g->blocks[b]->n_ops; k++) {
                const pr_op *o = g->blocks[b]->ops[k];
                for (int q = 0; q < o->n_results; q++) need(m, w, o->results[q]);
            }
    }
}

static void need_block_arg(pr_machine *m, pr_work *w, const pr_value *v)
{
    const pr_block *b = v->block;
    const pr_region *r = b->region;
    const pr_op *op = r->op;
    if (b->index > 0) { /* reached by branches */
        need_branches(m, w, r);
        for (int k = 0; k < r->n_blocks; k++) {
            const pr_op *t = pr_block_terminator(r->blocks[k]);
            for (int s = 0; t && s < t->n_succ; s++)
                if (t->succ[s].block == b && v->index < t->succ[s].n)
                    need_operand(m, w, t, t->succ[s].first + v->index);
        }
        return;
    }
    switch (op->opcode) {
    case PR_OP_SCF_FOR:
        need_control(m, w, op);
        if (v->index == 0) return;
        need_operand(m, w, op, 2 + v->index);
        need_outcome(m, w, op->regions[0], v->index - 1);
        return;
    case PR_OP_SCF_WHILE:
        need_control(m, w, op);
        if (r == op->regions[0]) {
            need_operand(m, w, op, v->index);
            if (op->n_regions > 1) need_outcome(m, w, op->regions[1], v->index);
        } else {
            need_outcome(m, w, op->regions[0], 1 + v->index);
        }
        return;
    case PR_OP_TT_FUNC:
        for (int i = 0; i < m->setup.ir->n_ops; i++)
            if (m->ops[i] && m->ops[i]->opcode == PR_OP_TT_CALL && pr_im_callee(m, m->ops[i]) == op)
                need_operand(m, w, m->ops[i], v->index);
        return;
    default:
        for (int i = 0; i < op->n_operands; i++) need_operand(m, w, op, i);
        return;
    }
}

static void close(pr_machine *m, pr_work *w)
{
    while (w->n) {
        const pr_value *v = w->data[--w->n];
        if (v->def) need_result(m, w, v->def, v->index);
        else need_block_arg(m, w, v);
    }
}

/* Everything that decides the bytes of an access. Values stored do not. */
static void need_access(pr_machine *m, pr_work *w, const pr_op *op)
{
    int part[3], first;
    need_operand(m, w, op, 0);
    switch (op->opcode) {
    case PR_OP_TT_LOAD:
        if (!pr_op_segments(op, 3, part) || part[1]) need_operand(m, w, op, 1);
        return;
    case PR_OP_TT_ATOMIC_LOAD: need_operand(m, w, op, 1); return;
    case PR_OP_TT_STORE: case PR_OP_TT_ATOMIC_RMW: case PR_OP_TT_ATOMIC_STORE:
        need_operand(m, w, op, 2);
        return;
    case PR_OP_TT_ATOMIC_CAS: case PR_OP_TT_ATOMIC_POLL: return;
    case PR_OP_TT_DESCRIPTOR_LOAD: case PR_OP_TT_DESCRIPTOR_GATHER: first = 1; break;
    case PR_OP_TT_DESCRIPTOR_SCATTER:
        need_operand(m, w, op, 1);
        need_operand(m, w, op, 2);
        return;
    default: first = 2; break;
    }
    for (int i = first; i < op->n_operands; i++) need_operand(m, w, op, i);
}

void pr_im_slice_all(pr_machine *m)
{
    pr_work w = {0};
    for (int i = 0; i < m->setup.ir->n_ops; i++) {
        const pr_op *op = m->ops[i];
        if (!op) continue;
        if (op->n_regions && m->effect[i]) need_control(m, &w, op);
        bool looked_at = pr_op_is_access(op->opcode) && pr_im_spared(m, op) != 1;
        bool data = m->setup.touch || (m->setup.gate && op->opcode != PR_OP_TT_LOAD && op->opcode != PR_OP_TT_STORE);
        if (looked_at) need_access(m, &w, op);
        for (int k = 1; data && looked_at && k < op->n_operands; k++) need_operand(m, &w, op, k);
        m->enter[i] = m->effect[i];
    }
    close(m, &w);
}

void pr_im_slice_target(pr_machine *m, const pr_interp_target *t)
{
    pr_work w = {0};
    int n = m->setup.ir->n_ops;
    for (int depth = t->n_calls; depth >= 0; depth--) {
        int id = depth == t->n_calls ? t->op_id : t->calls[depth];
        if (id < 0 || id >= n || !m->ops[id]) continue;
        if (depth == t->n_calls) need_access(m, &w, m->ops[id]);
        m->enter[id] = 1;
        for (const pr_op *op = m->ops[id]; op && op->block; op = op->block->region->op) {
            need_branches(m, &w, op->block->region);
            if (op->n_regions) need_control(m, &w, op);
            m->enter[op->id] = 1;
        }
    }
    close(m, &w);
}

int pr_im_loops_around(const pr_machine *m, const pr_interp_target *t)
{
    int loops = 0;
    for (int depth = t->n_calls; depth >= 0; depth--) {
        int id = depth == t->n_calls ? t->op_id : t->calls[depth];
        if (id < 0 || id >= m->setup.ir->n_ops || !m->ops[id]) return -1;
        for (const pr_op *op = m->ops[id]; op && op->block; op = op->block->region->op)
            loops += op->opcode == PR_OP_SCF_FOR || op->opcode == PR_OP_SCF_WHILE;
    }
    return loops;
}
