/* Waits: `while` loops that poll one location until it holds a wanted value, and tt.atomic_poll
 * (ttir-front.md 6.5, happens-before.md 4.6).
 *
 * An accepted wait is one access, its last poll, with the predicate that its result satisfies; what stands
 * behind it runs only when the wait ends. The polls before the last one are a second record of the same
 * access: they read, and those that write leave the value as it was. */
#include "front/value.h"

enum { PRED_EQ, PRED_NE };

static const pr_op *single_access(const pr_region *r, int *count)
{
    const pr_op *found = NULL;
    for (int i = 0; r->n_blocks && i < r->blocks[0]->n_ops; i++) {
        const pr_op *op = r->blocks[0]->ops[i];
        bool desc = op->opcode == PR_OP_TT_DESCRIPTOR_LOAD || op->opcode == PR_OP_TT_DESCRIPTOR_STORE ||
                    op->opcode == PR_OP_TT_DESCRIPTOR_REDUCE || op->opcode == PR_OP_TT_DESCRIPTOR_GATHER ||
                    op->opcode == PR_OP_TT_DESCRIPTOR_SCATTER;
        bool access = desc || op->opcode == PR_OP_TT_LOAD || op->opcode == PR_OP_TT_STORE ||
                      op->opcode == PR_OP_TT_ATOMIC_RMW || op->opcode == PR_OP_TT_ATOMIC_CAS ||
                      op->opcode == PR_OP_TT_ATOMIC_LOAD || op->opcode == PR_OP_TT_ATOMIC_STORE ||
                      op->opcode == PR_OP_TT_ATOMIC_POLL || op->n_regions ||
                      op->opcode == PR_OP_TT_ELEMENTWISE_INLINE_ASM || op->opcode == PR_OP_TT_CALL;
        if (!access) continue;
        found = op;
        ++*count;
    }
    return found;
}

static bool depends_on(const pr_val *v, int access)
{
    for (int i = 0; i < v->all.n; i++)
        if (v->all.v[i] == access) return true;
    return false;
}

/* A modelled value that is computed from the value read: a difference, an exclusive or, some of its bits. */
static bool is_computed_from(pr_lower *c, const pr_value *operand, int access)
{
    const pr_val *v = pr_get(c, operand);
    return v->kind == PR_VAL_INT && !pr_term_none(v->term) && !v->gap && depends_on(v, access);
}

/* Why the loop is not an await (ttir-front.md 6.5); null when it is one. Values are those of the last
 * lowering of the before region. */
const char *pr_await_clause(pr_lower *c, const pr_op *op, bool nested)
{
    if (op->n_operands || op->n_results) return "it carries values";
    if (nested) return "it stands inside another while loop";
    const pr_block *after = pr_region_block(op->regions[1]);
    if (after->n_ops != 1) return "its body does more than wait";
    int n = 0;
    const pr_op *a = single_access(op->regions[0], &n);
    if (n != 1 || a->n_results != 1) return "it does not read exactly one location";
    pr_val_kind kind = pr_val_kind_of(a->results[0]->type);
    if (kind != PR_VAL_INT && kind != PR_VAL_BOOL) return "it waits for a value that is not an integer";
    const pr_op *cond = pr_block_terminator(pr_region_block(op->regions[0]));
    const pr_op *cmp = cond->operands[0]->def;
    int side = -1, pred = cmp ? (int)pr_op_attr_int(cmp, "predicate", -1) : -1;
    if (cmp && cmp->opcode == PR_OP_ARITH_CMPI && cmp->n_operands == 2)
        for (int i = 0; i < 2; i++)
            if (cmp->operands[i] == a->results[0] && cmp->operands[1 - i] != a->results[0]) side = i;
    bool computed = false;
    if (cmp && cmp->opcode == PR_OP_ARITH_CMPI && cmp->n_operands == 2)
        for (int i = 0; i < 2 && side < 0; i++)
            if (is_computed_from(c, cmp->operands[i], pr_access_number(c, a))) side = i, computed = true;
    if (side < 0) return "its condition is not a comparison of the value read";
    pr_val *other = pr_get(c, cmp->operands[1 - side]);
    if (depends_on(other, pr_access_number(c, a))) return "the value it waits for depends on the value read";
    switch (a->opcode) {
    case PR_OP_TT_LOAD: case PR_OP_TT_ATOMIC_LOAD: return NULL;
    case PR_OP_TT_ATOMIC_RMW: {
        pr_i128 v, k = pr_op_attr_int(a, "atomic_rmw_op", 0);
        bool keeps = pr_val_const(c, pr_operand(c, a, 1), &v) && v == 0 && k >= 2 && k <= 4;
        return keeps ? NULL : "its poll changes the location";
    }
    case PR_OP_TT_ATOMIC_CAS: {
        pr_term expect = pr_val_int(c, pr_operand(c, a, 1)), fresh = pr_val_int(c, pr_operand(c, a, 2));
        pr_term limit = pr_val_int(c, other);
        pr_i128 x, y;
        bool exits = (pred == PRED_NE && pr_term_is(limit, expect)) ||
                     (pred == PRED_EQ && pr_term_const(c->T, limit, &x) && pr_term_const(c->T, expect, &y) && x != y);
        return (exits && !computed) || pr_term_is(expect, fresh) ? NULL : "its poll can satisfy itself";
    }
    default: return "it does not read exactly one location";
    }
}

/* Marks the records of access a from number `first` on, and adds the representative of the earlier polls. */
void pr_mark_await(pr_lower *c, int access, int first, bool poll_writes, pr_term exit, pr_term held)
{
    int n = c->out->records.n;
    for (int i = first; i < n; i++) {
        pr_record *r = &c->out->records.data[i];
        if (r->access != access) continue;
        r->is_await = true;
        bool plain = pr_term_none(exit) || pr_term_none(held);
        r->exit_pred = plain ? PR_TERM_TRUE : exit;       /* TRUE: nothing is known of the result */
        r->exit_held = plain ? PR_TERM_TRUE : held;
        pr_record early = *r;
        early.id = c->out->records.n;
        early.is_await = false;
        early.is_pre_exit = true;
        early.after_wait = true;                          /* the first poll may be the last */
        early.exit_pred = early.exit_held = PR_TERM_TRUE;
        if (!poll_writes && r->kind != PR_RECORD_LOAD) early.kind = PR_RECORD_ATOMIC_LOAD;
        pr_vec_push(c->arena, &c->out->records, early);
    }
    c->waited = true;
}

bool pr_sem_await(pr_lower *c, const pr_op *op)
{
    const pr_block *pre = pr_region_block(op->regions[0]);
    const pr_op *cond = pr_block_terminator(pre);
    bool nested = c->in_while;
    if (!cond || cond->opcode != PR_OP_SCF_CONDITION || op->n_operands || op->n_results) return false;
    c->in_while = true;
    c->dry++;
    pr_lower_block(c, pre);
    const char *why = pr_await_clause(c, op, nested);
    c->dry--;
    if (why) {
        c->in_while = nested;
        return false;
    }
    int first = c->out->records.n, n = 0;
    pr_lower_block(c, pre);
    c->in_while = nested;
    const pr_op *a = single_access(op->regions[0], &n);
    pr_val *k = pr_operand(c, cond, 0);
    bool writes = a->opcode == PR_OP_TT_ATOMIC_RMW;
    if (a->opcode == PR_OP_TT_ATOMIC_CAS)
        writes = pr_term_is(pr_val_int(c, pr_operand(c, a, 1)), pr_val_int(c, pr_operand(c, a, 2)));
    pr_term exit = k->kind == PR_VAL_BOOL && !pr_term_none(k->term) ? pr_not(c->T, k->term) : PR_TERM_NONE;
    bool masked = a->opcode == PR_OP_TT_ATOMIC_RMW && a->n_operands > 2 && !pr_term_is(pr_val_bool(c, pr_operand(c, a, 2)), PR_TERM_TRUE);
    if (!c->dry) pr_mark_await(c, pr_access_number(c, a), first, writes, masked ? PR_TERM_NONE : exit, k->held);
    c->waited = true;
    return true;
}
