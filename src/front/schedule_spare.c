/* Which accesses cannot change what a scheduled run does? See schedule_spare.h.
 *
 * The base of a pointer is found on the text alone, by joining over everything that it may be made of. */
#include "front/schedule_spare.h"
#include "front/interp_core.h"

enum { NOWHERE = -2, SEVERAL = -1 };

typedef struct spare {
    pr_arena *arena;
    const pr_interp_setup *setup;
    PR_VEC(const pr_op *) ops;
    int *base;                       /* by value id: argument, NOWHERE so far, SEVERAL or not known    */
    bool changed;
} spare;

static void collect(spare *s, const pr_op *op)
{
    pr_vec_push(s->arena, &s->ops, op);
    for (int r = 0; r < op->n_regions; r++)
        for (int b = 0; b < op->regions[r]->n_blocks; b++)
            for (int i = 0; i < op->regions[r]->blocks[b]->n_ops; i++) collect(s, op->regions[r]->blocks[b]->ops[i]);
}

static bool points(const pr_value *v)
{
    const pr_type *t = v && v->type ? pr_type_scalar(v->type) : NULL;
    return t && (t->kind == PR_TYPE_POINTER || t->kind == PR_TYPE_DESC);
}

static void join(spare *s, const pr_value *to, int base)
{
    if (!points(to) || base == NOWHERE || s->base[to->id] == base) return;
    s->base[to->id] = s->base[to->id] == NOWHERE ? base : SEVERAL;
    s->changed = s->changed || s->base[to->id] != SEVERAL || base != SEVERAL;
}

static void join_value(spare *s, const pr_value *to, const pr_value *from)
{
    if (points(to) && points(from) && s->base[to->id] != SEVERAL) join(s, to, s->base[from->id]);
}

/* Results and arguments of the blocks of an operation: anything that goes into it or leaves a block of it. */
static void join_regions(spare *s, const pr_op *op)
{
    for (int r = 0; r < op->n_regions; r++)
        for (int b = 0; b < op->regions[r]->n_blocks; b++) {
            const pr_block *block = op->regions[r]->blocks[b];
            const pr_op *t = pr_block_terminator(block);
            for (int i = 0; op->opcode != PR_OP_TT_FUNC && i < op->n_operands; i++)
                for (int k = 0; k < block->n_args; k++) join_value(s, block->args[k], op->operands[i]);
            for (int i = 0; t && i < t->n_operands; i++) {
                for (int k = 0; k < op->n_results; k++) join_value(s, op->results[k], t->operands[i]);
                for (int q = 0; q < op->n_regions; q++)
                    for (int c = 0; c < op->regions[q]->n_blocks; c++) {
                        const pr_block *to = op->regions[q]->blocks[c];
                        for (int k = 0; k < to->n_args && !(op->opcode == PR_OP_TT_FUNC && c == 0); k++) join_value(s, to->args[k], t->operands[i]);
                    }
            }
        }
}

static void step(spare *s, const pr_op *op)
{
    if (op->opcode == PR_OP_SCF_FOR && op->n_regions == 1 && op->regions[0]->n_blocks == 1) {
        const pr_block *body = op->regions[0]->blocks[0];
        const pr_op *t = pr_block_terminator(body);
        for (int i = 0; 3 + i < op->n_operands && i < op->n_results && 1 + i < body->n_args; i++) {
            const pr_value *into[2] = {op->operands[3 + i], t && i < t->n_operands ? t->operands[i] : NULL};
            for (int k = 0; k < 2; k++) {
                join_value(s, body->args[1 + i], into[k]);
                join_value(s, op->results[i], into[k]);
            }
        }
        return;
    }
    if (op->opcode == PR_OP_TT_CALL) {                  /* of any function: there are few */
        for (int i = 0; i < s->ops.n; i++) {
            const pr_op *f = s->ops.data[i];
            if (f->opcode != PR_OP_TT_FUNC || f == s->setup->func || !f->n_regions || !f->regions[0]->n_blocks) continue;
            const pr_block *entry = f->regions[0]->blocks[0];
            for (int k = 0; k < entry->n_args && k < op->n_operands; k++) join_value(s, entry->args[k], op->operands[k]);
        }
        for (int i = 0; i < op->n_results; i++) join(s, op->results[i], SEVERAL);
        return;
    }
    join_regions(s, op);
    bool any = false;
    for (int i = 0; i < op->n_operands; i++) {
        any = any || points(op->operands[i]);
        for (int k = 0; k < op->n_results; k++) join_value(s, op->results[k], op->operands[i]);
    }
    for (int k = 0; k < op->n_results && !op->n_regions && (!any || pr_op_is_access(op->opcode)); k++) join(s, op->results[k], SEVERAL);
}

static void find_bases(spare *s)
{
    const pr_block *entry = pr_region_block(s->setup->func->regions[0]);
    for (int i = 0; i < s->setup->ir->n_values; i++) s->base[i] = NOWHERE;
    for (int i = 0; i < entry->n_args; i++) join(s, entry->args[i], i);
    do {
        s->changed = false;
        for (int i = 0; i < s->ops.n; i++) step(s, s->ops.data[i]);
    } while (s->changed);
}

static bool is_plain(int opcode)
{
    switch (opcode) {
    case PR_OP_TT_LOAD: case PR_OP_TT_STORE: case PR_OP_TT_DESCRIPTOR_LOAD: case PR_OP_TT_DESCRIPTOR_STORE:
    case PR_OP_TT_DESCRIPTOR_GATHER: case PR_OP_TT_DESCRIPTOR_SCATTER:
        return true;
    default: return false;
    }
}

static void close_over_storage(const spare *s, const pr_schedule_ask *ask, bool *matters)
{
    const pr_block *entry = pr_region_block(s->setup->func->regions[0]);
    for (bool more = true; more;) {
        more = false;
        for (int a = 0; a < s->setup->n_args; a++)
            for (int b = 0; b < s->setup->n_args && matters[a]; b++) {
                const pr_schedule_storage *x = &ask->storage[a], *y = &ask->storage[b];
                bool apart = x->known && y->known && (x->hi <= y->lo || y->hi <= x->lo);
                if (matters[b] || apart || !points(entry->args[b])) continue;
                matters[b] = more = true;
            }
    }
}

const uint8_t *pr_schedule_spare(pr_arena *arena, const pr_interp_setup *setup, const pr_schedule_ask *ask)
{
    spare s = {.arena = arena, .setup = setup};
    const pr_op *f = setup->func;
    const pr_block *entry = f && f->n_regions ? pr_region_block(f->regions[0]) : NULL;
    if (!ask->storage || !entry || entry->n_args != setup->n_args) return NULL;
    s.base = PR_NEW_N(arena, int, setup->ir->n_values + 1);
    collect(&s, setup->ir->module);
    find_bases(&s);
    uint8_t *out = pr_arena_alloc(arena, (size_t)setup->ir->n_ops + 1);
    bool *matters = PR_NEW_N(arena, bool, setup->n_args + 1);
    for (int i = 0; i < s.ops.n; i++) {
        const pr_op *op = s.ops.data[i];
        if (!pr_op_is_access(op->opcode) || is_plain(op->opcode)) continue;
        int base = s.base[op->operands[0]->id];
        if (base == SEVERAL) return NULL;
        if (base >= 0) matters[base] = true;
    }
    for (bool more = true; more;) {
        close_over_storage(&s, ask, matters);
        for (int i = 0; i < s.ops.n; i++) {
            const pr_op *op = s.ops.data[i];
            if (!is_plain(op->opcode)) continue;
            int base = s.base[op->operands[0]->id];
            bool asked = op->id == ask->site[0].op_id || op->id == ask->site[1].op_id;
            out[op->id] = base < 0 || matters[base] ? 0 : asked ? 2 : 1;
        }
        pr_interp_setup trial = *setup;
        trial.spare = out;
        pr_machine *m = pr_machine_new(arena, &trial);
        more = false;
        for (int i = 0; i < s.ops.n; i++) {
            const pr_op *op = s.ops.data[i];
            if (!is_plain(op->opcode) || !op->n_results || !pr_machine_needs(m, op->results[0])) continue;
            int base = s.base[op->operands[0]->id];
            if (base == SEVERAL) return NULL;
            if (base < 0 || matters[base]) continue;
            matters[base] = more = true;
        }
    }
    return out;
}
