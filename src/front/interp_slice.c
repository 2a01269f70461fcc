/* Which values must be computed, given what a run is asked for?
 *
 * needed is closed under "is computed from": marking a value marks what its definition reads, and the
 * conditions that decide which definition that is. Floats are never needed: they are unknown. A probe of one lane also
 * notes which lane of the value it is (interp_lane.c). */
#include "front/interp_core.h"

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
    m->calls_anything |= op->opcode == PR_OP_TT_CALL;
    return effect;
}

void pr_im_index(pr_machine *m)
{
    visit(m, m->setup.ir->module);
}

/* ---- marking --------------------------------------------------------------------------------- */
static void need(pr_machine *m, const pr_value *v, int64_t lane)
{
    if (!v) return;
    if (m->lane && lane >= 0 && (!v->type || v->type->kind != PR_TYPE_TENSOR)) lane = PR_LANE_ALL;
    if (m->needed[v->id]) {
        if (!m->lane || m->lane[v->id] == lane || m->lane[v->id] == PR_LANE_ALL) return;
        lane = PR_LANE_ALL;            /* two lanes: all of them */
    }
    if (v->type && !m->setup.floats && pr_type_scalar(v->type)->kind == PR_TYPE_FLOAT) return;
    m->needed[v->id] = 1;
    if (m->lane) m->lane[v->id] = lane;
    if (v->def) m->enter[v->def->id] |= PR_ENTER_COMPUTE;
    pr_vec_push(m->arena, &m->todo, v);
}

static void need_operand(pr_machine *m, const pr_op *op, int i, int64_t lane)
{
    if (op && i >= 0 && i < op->n_operands) need(m, op->operands[i], lane);
}

/* What decides which block of a region runs. */
static void need_branches(pr_machine *m, const pr_region *r)
{
    for (int b = 0; r->n_blocks > 1 && b < r->n_blocks; b++) {
        const pr_op *t = pr_block_terminator(r->blocks[b]);
        if (t && (t->opcode == PR_OP_CF_COND_BR || t->opcode == PR_OP_CF_SWITCH)) need_operand(m, t, 0, PR_LANE_ALL);
    }
}

/* Operand i of every way out of a region. */
static void need_outcome(pr_machine *m, const pr_region *r, int i, int64_t lane)
{
    need_branches(m, r);
    for (int b = 0; b < r->n_blocks; b++) {
        const pr_op *t = pr_block_terminator(r->blocks[b]);
        if (t && !t->n_succ) need_operand(m, t, i, lane);
    }
}

/* What decides whether, and how often, the regions of op run. */
static void need_control(pr_machine *m, const pr_op *op)
{
    switch (op->opcode) {
    case PR_OP_SCF_FOR:
        for (int i = 0; i < 3; i++) need_operand(m, op, i, PR_LANE_ALL);
        break;
    case PR_OP_SCF_IF: case PR_OP_SCF_INDEX_SWITCH: need_operand(m, op, 0, PR_LANE_ALL); break;
    case PR_OP_SCF_WHILE: need_outcome(m, op->regions[0], 0, PR_LANE_ALL); break;
    default: break;
    }
    for (int r = 0; r < op->n_regions; r++) need_branches(m, op->regions[r]);
}

static void need_result(pr_machine *m, const pr_op *op, int i, int64_t lane)
{
    const pr_op *f;
    switch (op->opcode) {
    case PR_OP_SCF_FOR:
        need_control(m, op);
        need_operand(m, op, 3 + i, lane);
        need_outcome(m, op->regions[0], i, lane);
        return;
    case PR_OP_SCF_IF: case PR_OP_SCF_INDEX_SWITCH: case PR_OP_SCF_EXECUTE_REGION:
        need_control(m, op);
        for (int r = 0; r < op->n_regions; r++) need_outcome(m, op->regions[r], i, lane);
        return;
    case PR_OP_SCF_WHILE:
        need_control(m, op);
        need_outcome(m, op->regions[0], 1 + i, lane);
        return;
    case PR_OP_TT_CALL:
        f = pr_im_callee(m, op);
        if (f && f->n_regions) need_outcome(m, f->regions[0], i, lane);
        return;
    default: break;
    }
    for (int k = 0; k < op->n_operands; k++)
        need_operand(m, op, k, lane < 0 ? PR_LANE_ALL : pr_lane_from(op, op->results[i], k, lane));
    for (int r = 0; r < op->n_regions; r++) { /* the regions of reduce and scan are run whole */
        const pr_region *g = op->regions[r];
        for (int b = 0; b < g->n_blocks; b++)
            for (int k = 0; k < g->blocks[b]->n_ops; k++) {
                const pr_op *o = g->blocks[b]->ops[k];
                for (int q = 0; q < o->n_results; q++) need(m, o->results[q], PR_LANE_ALL);
            }
    }
}

static void need_block_arg(pr_machine *m, const pr_value *v, int64_t lane)
{
    const pr_block *b = v->block;
    const pr_region *r = b->region;
    const pr_op *op = r->op;
    if (b->index > 0) { /* reached by branches */
        need_branches(m, r);
        for (int k = 0; k < r->n_blocks; k++) {
            const pr_op *t = pr_block_terminator(r->blocks[k]);
            for (int s = 0; t && s < t->n_succ; s++)
                if (t->succ[s].block == b && v->index < t->succ[s].n)
                    need_operand(m, t, t->succ[s].first + v->index, lane);
        }
        return;
    }
    switch (op->opcode) {
    case PR_OP_SCF_FOR:
        need_control(m, op);
        if (v->index == 0) return;
        need_operand(m, op, 2 + v->index, lane);
        need_outcome(m, op->regions[0], v->index - 1, lane);
        return;
    case PR_OP_SCF_WHILE:
        need_control(m, op);
        if (r == op->regions[0]) {
            need_operand(m, op, v->index, lane);
            if (op->n_regions > 1) need_outcome(m, op->regions[1], v->index, lane);
        } else {
            need_outcome(m, op->regions[0], 1 + v->index, lane);
        }
        return;
    case PR_OP_TT_FUNC:
        for (int i = 0; m->calls_anything && i < m->setup.ir->n_ops; i++)
            if (m->ops[i] && m->ops[i]->opcode == PR_OP_TT_CALL && pr_im_callee(m, m->ops[i]) == op)
                need_operand(m, m->ops[i], v->index, lane);
        return;
    default:
        for (int i = 0; i < op->n_operands; i++) need_operand(m, op, i, PR_LANE_ALL);
        return;
    }
}

static void close(pr_machine *m)
{
    while (m->todo.n) {
        const pr_value *v = m->todo.data[--m->todo.n];
        int64_t lane = m->lane ? m->lane[v->id] : PR_LANE_ALL;
        if (v->def) need_result(m, v->def, v->index, lane);
        else need_block_arg(m, v, lane);
    }
}

/* Everything that decides the bytes of an access, or of that lane of it. Values stored do not. */
static void need_access(pr_machine *m, const pr_op *op, int64_t lane)
{
    int part[3], first;
    need_operand(m, op, 0, lane);
    switch (op->opcode) {
    case PR_OP_TT_LOAD:
        if (!pr_op_segments(op, 3, part) || part[1]) need_operand(m, op, 1, lane);
        return;
    case PR_OP_TT_ATOMIC_LOAD: need_operand(m, op, 1, lane); return;
    case PR_OP_TT_STORE: case PR_OP_TT_ATOMIC_RMW: case PR_OP_TT_ATOMIC_STORE:
        need_operand(m, op, 2, lane);
        return;
    case PR_OP_TT_ATOMIC_CAS: case PR_OP_TT_ATOMIC_POLL: return;
    case PR_OP_TT_DESCRIPTOR_LOAD: case PR_OP_TT_DESCRIPTOR_GATHER: first = 1; break;
    case PR_OP_TT_DESCRIPTOR_SCATTER:
        need_operand(m, op, 1, PR_LANE_ALL);
        need_operand(m, op, 2, PR_LANE_ALL);
        return;
    default: first = 2; break;
    }
    for (int i = first; i < op->n_operands; i++) need_operand(m, op, i, PR_LANE_ALL);
}

void pr_im_slice_all(pr_machine *m)
{
    for (int i = 0; i < m->setup.ir->n_ops; i++) {
        const pr_op *op = m->ops[i];
        if (!op) continue;
        if (op->n_regions && m->effect[i]) need_control(m, op);
        bool looked_at = pr_op_is_access(op->opcode) && pr_im_spared(m, op) != 1;
        bool data = m->setup.touch || (m->setup.gate && op->opcode != PR_OP_TT_LOAD && op->opcode != PR_OP_TT_STORE);
        if (looked_at) need_access(m, op, PR_LANE_ALL);
        for (int k = 1; data && looked_at && k < op->n_operands; k++) need_operand(m, op, k, PR_LANE_ALL);
        if (m->effect[i]) m->enter[i] |= PR_ENTER_RUN;
    }
    close(m);
}

void pr_im_slice_target(pr_machine *m, const pr_interp_target *t)
{
    int n = m->setup.ir->n_ops;
    for (int depth = t->n_calls; depth >= 0; depth--) {
        int id = depth == t->n_calls ? t->op_id : t->calls[depth];
        if (id < 0 || id >= n || !m->ops[id]) continue;
        if (depth == t->n_calls) need_access(m, m->ops[id], pr_im_target_lane(m->ops[id]->n_operands ? m->ops[id]->operands[0]->type : NULL, t));
        m->enter[id] |= PR_ENTER_RUN;
        for (const pr_op *op = m->ops[id]; op && op->block; op = op->block->region->op) {
            need_branches(m, op->block->region);
            if (op->n_regions) need_control(m, op);
            m->enter[op->id] |= PR_ENTER_RUN;
        }
    }
    close(m);
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
