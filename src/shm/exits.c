/* Kernels that return early: `if nothing to do: return` becomes branches between the blocks of the function. Where every
 * branch but one leads to a block that returns, the others are one list of operations. What an execution that returns early does
 * to shared memory (before the branch, or in the block that returns) is read when the condition is a term; when it depends on data there may be
 * none of it. */
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

/* It returns, and what it does needs no storage of its own. */
static bool leaves(const pr_block *b)
{
    const pr_op *end = pr_block_terminator(b);
    for (int i = 0; i < b->n_ops; i++) {
        const pr_op *op = b->ops[i];
        bool storage = op->opcode == PR_OP_TTG_LOCAL_ALLOC || op->opcode == PR_OP_TTNG_TMEM_ALLOC;
        if (storage || (op->n_regions && effect(op))) return false;
    }
    return end && end->opcode == PR_OP_TT_RETURN;
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
    bool ok = true;
    int on_way = 0, left = 0;
    for (const pr_block *b = pr_region_block(r); b && ok;) {
        int next = way_on(b, &ok);
        const pr_op *end = pr_block_terminator(b);
        on_way++;
        if (!ok || next < 0) break;
        b = end->succ[next].block;
        for (int i = 0; i < b->n_args; i++)
            if (!b->args[i]->type || b->args[i]->type->kind == PR_TYPE_MEMDESC) return false;
    }
    for (int i = 1; i < r->n_blocks; i++) left += leaves(r->blocks[i]);
    return ok && on_way + left >= r->n_blocks;
}

static void into(pr_walk *w, const pr_op *end, int way)
{
    for (int i = 0; i < end->succ[way].n; i++)
        pr_walk_set(w, end->succ[way].block->args[i], pr_walk_get(w, end->operands[end->succ[way].first + i]));
}

/* The block that returns, under its condition. */
static void leave(pr_walk *w, const pr_op *end, int way, pr_term condition)
{
    int path = w->path.n;
    if (pr_term_is(condition, PR_TERM_FALSE)) return;
    if (!w->concrete) pr_vec_push(w->arena, &w->path, condition);
    into(w, end, way);
    pr_walk_block(w, end->succ[way].block);
    w->path.n = path;
}

void pr_walk_function(pr_walk *w)
{
    bool ok, effects = false;
    for (const pr_block *b = pr_region_block(w->p->func->regions[0]); b;) {
        const pr_op *end = pr_block_terminator(b);
        pr_walk_block(w, b);
        int next = way_on(b, &ok);
        if (next < 0) break;
        if (end->n_succ == 2) {
            pr_sv c = pr_walk_get(w, end->operands[0]);
            bool known = c.kind == PR_SV_TERM && pr_term_is_bool(w->T, c.t);
            pr_term go = !known ? PR_TERM_TRUE : next ? pr_not(w->T, c.t) : c.t;
            effects = effects || any_effect(b);
            if (w->concrete && !known) w->trace->assumed = true;
            if (known) leave(w, end, !next, pr_not(w->T, go));
            else if (!w->concrete && (effects || any_effect(end->succ[!next].block)))
                pr_shm_refuse(w->p, &w->model->refusals, PR_REFUSAL_CONTROL_FLOW, end, "shared memory is used before a return that depends on data");
            if (w->concrete && pr_term_is(go, PR_TERM_FALSE)) break;
            if (!w->concrete) pr_vec_push(w->arena, &w->path, go);
        }
        into(w, end, next);
        effects = effects || any_effect(b);
        b = end->succ[next].block;
        w->p->copies[0].when = w->concrete ? PR_TERM_TRUE : pr_walk_when(w);
    }
}
