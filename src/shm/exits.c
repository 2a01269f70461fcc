/* Kernels that return early: `if nothing to do: return` becomes branches between the blocks of the function. Where every
 * branch but one leads to a block that does nothing to shared memory and returns, the others are one list of
 * operations. No operation on shared memory may come before the last such branch: an execution that returns early has none. */
#include "shm/walk.h"

static bool effect(const pr_op *op)
{
    bool gpu = pr_str_starts(op->name, "ttg.") || pr_str_starts(op->name, "ttng.");
    if (gpu && op->opcode != PR_OP_TTG_CONVERT_LAYOUT) return true;
    for (int r = 0; r < op->n_regions; r++)
        for (int b = 0; b < op->regions[r]->n_blocks; b++)
            for (int i = 0; i < op->regions[r]->blocks[b]->n_ops; i++)
                if (effect(op->regions[r]->blocks[b]->ops[i])) return true;
    return false;
}

static bool any_effect(const pr_block *b)
{
    for (int i = 0; i < b->n_ops; i++)
        if (effect(b->ops[i])) return true;
    return false;
}

static bool leaves(const pr_block *b)
{
    const pr_op *end = pr_block_terminator(b);
    return end && end->opcode == PR_OP_TT_RETURN && !any_effect(b);
}

/* The way on from b; -1: it ends here, or this is no such kernel (*ok false). */
static int way_on(const pr_block *b, bool *ok)
{
    const pr_op *end = pr_block_terminator(b);
    int next = -1;
    *ok = end != NULL;
    if (!end || end->opcode == PR_OP_TT_RETURN) return -1;
    *ok = (end->opcode == PR_OP_CF_BR && end->n_succ == 1) || (end->opcode == PR_OP_CF_COND_BR && end->n_succ == 2);
    for (int i = 0; *ok && i < end->n_succ; i++) {
        if (end->n_succ == 2 && leaves(end->succ[i].block) && (next >= 0 || i == 0)) continue;
        if (next >= 0) *ok = false;
        next = i;
    }
    *ok = *ok && (next < 0 || end->succ[next].block->index > b->index);
    return *ok ? next : -1;
}

bool pr_shm_returns_early(const pr_op *func)
{
    const pr_region *r = func->regions[0];
    bool effects = false, ok = true;
    int on_way = 0, left = 0;
    for (const pr_block *b = pr_region_block(r); b && ok;) {
        int next = way_on(b, &ok);
        const pr_op *end = pr_block_terminator(b);
        effects = effects || any_effect(b);
        on_way++;
        if (!ok || next < 0) break;
        if (end->n_succ == 2 && effects) return false;
        b = end->succ[next].block;
        for (int i = 0; i < b->n_args; i++)
            if (!b->args[i]->type || b->args[i]->type->kind == PR_TYPE_MEMDESC) return false;
    }
    for (int i = 1; i < r->n_blocks; i++) left += leaves(r->blocks[i]);
    return ok && on_way + left >= r->n_blocks;
}

void pr_walk_function(pr_walk *w)
{
    bool ok;
    for (const pr_block *b = pr_region_block(w->p->func->regions[0]); b;) {
        const pr_op *end = pr_block_terminator(b);
        pr_walk_block(w, b);
        int next = way_on(b, &ok);
        if (next < 0) break;
        if (end->n_succ == 2) {
            pr_sv c = pr_walk_get(w, end->operands[0]);
            bool known = c.kind == PR_SV_TERM && pr_term_is_bool(w->T, c.t);
            pr_term go = !known ? PR_TERM_TRUE : next ? pr_not(w->T, c.t) : c.t;
            if (w->concrete && !known) w->trace->assumed = true;
            if (w->concrete && pr_term_is(go, PR_TERM_FALSE)) break;
            if (!w->concrete) pr_vec_push(w->arena, &w->path, go);
        }
        for (int i = 0; i < end->succ[next].n; i++)
            pr_walk_set(w, end->succ[next].block->args[i], pr_walk_get(w, end->operands[end->succ[next].first + i]));
        b = end->succ[next].block;
        w->p->copies[0].when = w->concrete ? PR_TERM_TRUE : pr_walk_when(w);
    }
}
