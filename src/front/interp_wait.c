/* Which loops wait, and with which values do they end?
 *
 * A wait polls one location and does nothing else, and whether it goes on is decided by the value read last alone: no iteration
 * hands anything to the next one that does not come from that iteration's poll. Such a loop can be asked what it does with a
 * value: its poll is given one after the other until it ends. A comparison with a value from outside says the rest at once. Where
 * the results of earlier atomics decide too, its condition is handed over as an expression (interp_cond.h). */
#include "front/interp_core.h"

enum { MOST_TRIES = 256 };

static const pr_op *only_access(const pr_machine *m, const pr_region *r, bool *fits)
{
    const pr_op *found = NULL;
    if (r->n_blocks != 1) *fits = false;
    for (int i = 0; *fits && i < r->blocks[0]->n_ops; i++) {
        const pr_op *op = r->blocks[0]->ops[i];
        if (op->n_regions) *fits = false;
        if (!m->effect[op->id]) continue;
        if (found || !pr_op_is_access(op->opcode)) *fits = false;
        found = op;
    }
    return found;
}

static bool is_poll(const pr_op *op)
{
    switch (op->opcode) {
    case PR_OP_TT_ATOMIC_RMW: {
        int kind = (int)pr_op_attr_int(op, "atomic_rmw_op", 0);
        return kind >= 2 && kind <= 4;              /* or, xor, add: of 0, which the run sees           */
    }
    case PR_OP_TT_ATOMIC_CAS: case PR_OP_TT_ATOMIC_LOAD: return true;
    default: return false;
    }
}

static bool inside(const pr_op *loop, const pr_block *b) { return b->region->op == loop; }

/* Is v computed from what an earlier iteration handed over? */
static bool handed_over(const pr_op *loop, const pr_value *v, int depth)
{
    if (depth > 64) return true;
    if (!v->def) return inside(loop, v->block);
    if (!inside(loop, v->def->block) || pr_op_is_access(v->def->opcode)) return false;
    for (int i = 0; i < v->def->n_operands; i++)
        if (handed_over(loop, v->def->operands[i], depth + 1)) return true;
    return false;
}

static bool reads(const pr_op *loop, const pr_value *v, const pr_op *poll, int depth)
{
    if (depth > 64) return true;
    if (!v->def) return inside(loop, v->block);
    if (v->def == poll) return true;
    if (!inside(loop, v->def->block)) return false;
    for (int i = 0; i < v->def->n_operands; i++)
        if (reads(loop, v->def->operands[i], poll, depth + 1)) return true;
    return false;
}

/* A comparison of what the poll read with something else? Other conditions are no waits that anybody writes. */
static bool compares(const pr_op *loop, const pr_value *v, const pr_op *poll)
{
    const pr_op *cmp = v->def;
    return cmp && cmp->opcode == PR_OP_ARITH_CMPI && cmp->n_operands == 2 &&
           reads(loop, cmp->operands[0], poll, 0) != reads(loop, cmp->operands[1], poll, 0);
}

bool pr_im_is_wait(const pr_machine *m, const pr_op *loop, pr_iwait *out)
{
    static const int8_t turned[10] = {0, 1, 4, 5, 2, 3, 8, 9, 6, 7};
    bool fits = loop->n_regions == 2;
    if (!fits) return false;
    const pr_op *a = only_access(m, loop->regions[0], &fits), *b = only_access(m, loop->regions[1], &fits);
    if (!fits || !a == !b) return false;
    const pr_op *poll = a ? a : b, *cond = pr_block_terminator(loop->regions[0]->blocks[0]);
    const pr_op *yield = pr_block_terminator(loop->regions[1]->blocks[0]);
    if (!cond || cond->opcode != PR_OP_SCF_CONDITION || !yield || !is_poll(poll) || poll->n_results != 1) return false;
    int w = pr_bits_of(poll->results[0]->type);
    if (poll->results[0]->type->kind == PR_TYPE_TENSOR || w < 8) return false;
    for (int i = 0; i < yield->n_operands; i++)
        if (handed_over(loop, yield->operands[i], 0) || (b && !compares(loop, yield->operands[i], poll))) return false;
    for (int i = 0; i < poll->n_operands; i++)
        if (handed_over(loop, poll->operands[i], 0)) return false;
    if (a && (handed_over(loop, cond->operands[0], 0) || !compares(loop, cond->operands[0], poll))) return false;
    *out = (pr_iwait){.loop = loop, .poll = poll, .w = w, .predicate = -1};
    const pr_op *cmp = cond->operands[0]->def;
    if (a && cmp && cmp->opcode == PR_OP_ARITH_CMPI && cmp->n_operands == 2)
        for (int i = 0; i < 2; i++) {
            int p = (int)pr_op_attr_int(cmp, "predicate", -1);
            if (cmp->operands[i] != poll->results[0] || reads(loop, cmp->operands[1 - i], poll, 0) || p < 0 || p > 9) continue;
            out->limit = cmp->operands[1 - i];
            out->predicate = i == 0 ? p : turned[p];
        }
    return true;
}

bool pr_im_gate(pr_machine *m, const pr_interp_event *e, const pr_interp_touch *t, uint64_t *read)
{
    const pr_interp_gate *g = m->setup.gate;
    pr_iwait *w = m->wait;
    g->atomic(g->user, e, t);
    if (!w || w->poll != e->op) return t->wanted && g->result(g->user, e, read);
    pr_interp_lane_info lane = pr_interp_lane(e, 0);
    bool keeps = e->kind == PR_INTERP_ATOMIC_LOAD ||
                 (e->kind == PR_INTERP_RMW && t->data_known[0] && !(t->data[0] & pr_bits_mask(w->w))) ||
                 (e->kind == PR_INTERP_CAS && t->data_known[0] && t->data_known[1] && !((t->data[0] ^ t->data[1]) & pr_bits_mask(w->w)));
    if (!w->has_start && lane.addr_known && lane.active != PR_NO) w->has_start = g->initial(g->user, lane.addr, e->width, &w->start);
    if (!keeps || !w->has_start || lane.active == PR_NO || !lane.addr_known) {
        pr_im_stop(m, e->op, "a loop polls a location of which nothing is known, or changes it");
        return false;
    }
    if (!w->polled) w->next = w->start;
    w->polled = true;
    w->sure = lane.active == PR_YES;
    w->last = *e;
    memcpy(w->iter, e->iter, sizeof *e->iter * (size_t)e->n_iter);
    w->last.iter = w->iter;
    *read = (uint64_t)w->next;
    return true;
}

/* What the comparison says of all values; false: nothing. next: one with which the loop ends. */
static bool by_comparison(pr_machine *m, pr_iwait *w)
{
    uint64_t x;
    if (!w->limit || !pr_ival_at(pr_im_get(m, w->limit), 0, &x)) return false;
    int64_t k = pr_bits_signed(x, w->w), low = pr_bits_signed((uint64_t)1 << (w->w - 1), w->w), top = ~low;
    w->end.lo = low;
    w->end.hi = top;
    switch (w->predicate) {
    case 0: w->end.lo = w->end.hi = k; w->next = k == top ? low : k + 1; return true;
    case 1: w->end.lo = w->end.hi = w->next = k; w->end.single = true; return true;
    case 2: if (k == low) return false; w->end.hi = k - 1; w->next = k; return true;
    case 3: if (k == top) return false; w->end.hi = k; w->next = k + 1; return true;
    case 4: if (k == top) return false; w->end.lo = k + 1; w->next = k; return true;
    case 5: if (k == low) return false; w->end.lo = k; w->next = k - 1; return true;
    /* without sign: what is negative is not spoken of */
    case 6: if (k <= 0) return false; w->end.lo = 0; w->end.hi = k - 1; w->next = k; return true;
    case 7: if (k < 0 || k == top) return false; w->end.lo = 0; w->end.hi = k; w->next = k + 1; return true;
    case 8: if (k < 0 || k == top) return false; w->end.lo = k + 1; w->next = k; return true;
    case 9: if (k <= 0) return false; w->end.lo = k; w->next = k - 1; return true;
    default: return false;
    }
}

void pr_im_wait_goes_on(pr_machine *m)
{
    pr_iwait *w = m->wait;
    if (!w->polled) return;                         /* the poll comes first in the body                  */
    if (w->tries == 0 && by_comparison(m, w)) {
        w->tries = MOST_TRIES;
        return;
    }
    if (w->tries >= MOST_TRIES) {
        pr_im_stop(m, w->loop, "a loop waits for a value that was not found");
        return;
    }
    /* start, start + 1, start - 1, start + 2, ...: what it went on with is an interval */
    int64_t k = ++w->tries, low = pr_bits_signed((uint64_t)1 << (w->w - 1), w->w), top = ~low;
    if (w->start < low + MOST_TRIES || w->start > top - MOST_TRIES) {
        pr_im_stop(m, w->loop, "a loop waits for a value that was not found");
        return;
    }
    w->end.lo = w->start - (k - 1) / 2;
    w->end.hi = w->start + k / 2;
    w->next = k & 1 ? w->start + (k + 1) / 2 : w->start - k / 2;
}

void pr_im_wait_ends(pr_machine *m)
{
    pr_iwait *w = m->wait;
    if (!w->polled) return;
    if (w->tries == 0 && (w->end.goes_on || !by_comparison(m, w))) {         /* its first value                  */
        w->end.lo = 1;
        w->end.hi = 0;
    }
    w->end.poll = &w->last;
    m->setup.gate->wait(m->setup.gate->user, &w->end);
}

/* ---- conditions that the results of earlier atomics decide, too ------------------------------- */
static int push_node(pr_wait_expr *e, pr_wait_node n)
{
    if (e->n >= PR_WAIT_NODES) return -1;
    e->node[e->n] = n;
    return e->n++;
}

static int leaf_of(pr_wait_expr *e, const pr_op *op, int w)
{
    int i = 0;
    while (i < e->n_leaves && e->leaf[i] != op) i++;
    if (i >= PR_WAIT_LEAVES) return -1;
    e->leaf[i] = op;
    e->width[i] = w;
    if (i == e->n_leaves) e->n_leaves++;
    return push_node(e, (pr_wait_node){.op = PR_WAIT_LEAF, .w = w, .a = i});
}

static bool followed(int opcode)
{
    switch (opcode) {
    case PR_OP_ARITH_ADDI: case PR_OP_ARITH_SUBI: case PR_OP_ARITH_MULI: case PR_OP_ARITH_ANDI: case PR_OP_ARITH_ORI: case PR_OP_ARITH_XORI:
    case PR_OP_ARITH_DIVSI: case PR_OP_ARITH_DIVUI: case PR_OP_ARITH_FLOORDIVSI: case PR_OP_ARITH_REMSI: case PR_OP_ARITH_REMUI:
    case PR_OP_ARITH_SHRUI: case PR_OP_ARITH_EXTUI: case PR_OP_ARITH_EXTSI: case PR_OP_ARITH_TRUNCI: case PR_OP_ARITH_CMPI: return true;
    default: return false;
    }
}

/* The node of v in the turn that ended the loop; -1: too large. What the regions are given stands for what they were handed in that turn. */
static int node_of(const pr_machine *m, const pr_iwait *wait, pr_wait_expr *e, const pr_value *v, int depth)
{
    const pr_op *loop = wait->loop, *def = v->def;
    int w = pr_bits_of(v->type);
    uint64_t x;
    if (depth > PR_WAIT_NODES) return -1;
    if (!w || v->type->kind == PR_TYPE_TENSOR) return push_node(e, (pr_wait_node){.op = PR_WAIT_OPAQUE, .w = 64});
    if (v == wait->poll->results[0]) return leaf_of(e, wait->poll, w);
    const pr_block *home = def ? def->block : v->block;
    bool within = home->region->op == loop;
    if (!def && within) {
        bool pre = home->region == loop->regions[0];
        const pr_op *from = pr_block_terminator(loop->regions[pre ? 1 : 0]->blocks[0]);
        int i = v->index + (pre ? 0 : 1);
        return from && i < from->n_operands ? node_of(m, wait, e, from->operands[i], depth + 1) : -1;
    }
    if ((!within || !def->n_operands) && pr_ival_at(pr_im_get(m, v), 0, &x)) return push_node(e, (pr_wait_node){.op = PR_WAIT_CONST, .w = w, .x = x});
    if (def && (def->opcode == PR_OP_TT_ATOMIC_RMW || def->opcode == PR_OP_TT_ATOMIC_CAS)) return leaf_of(e, def, w);
    if (!def || !followed(def->opcode)) return push_node(e, (pr_wait_node){.op = PR_WAIT_OPAQUE, .w = w});
    pr_wait_node n = {.op = def->opcode, .w = w, .from = pr_bits_of(def->operands[0]->type), .b = -1, .c = (int)pr_op_attr_int(def, "predicate", -1)};
    n.a = node_of(m, wait, e, def->operands[0], depth + 1);
    if (n.a >= 0 && def->n_operands > 1) n.b = node_of(m, wait, e, def->operands[1], depth + 1);
    return n.a < 0 || (def->n_operands > 1 && n.b < 0) ? -1 : push_node(e, n);
}

bool pr_im_wait_relates(pr_machine *m)
{
    pr_iwait *w = m->wait;
    if (!w || !w->polled) return false;
    pr_wait_expr *e = &w->relation;
    memset(e, 0, sizeof *e);
    leaf_of(e, w->poll, pr_bits_of(w->poll->results[0]->type));
    const pr_op *cond = pr_block_terminator(w->loop->regions[0]->blocks[0]);
    if (node_of(m, w, e, cond->operands[0], 0) < 0 || e->n_leaves < 2) return false;
    w->end.goes_on = e;
    w->tries = 0;
    return true;
}
