/* Which parts of a kernel run under which conditions? Structured branches, calls, operations that only
 * steer or assert (ttir-front.md 2.6 to 2.10, 6.1). Loops are in sem_loop.c, blocks in access.c. */
#include "front/value.h"

typedef struct place { const pr_frame *frame; pr_ids control; } place;

static place enter(pr_lower *c, const pr_op *op, pr_term cond, pr_term held, pr_ids control)
{
    place p = { c->frame, c->control };
    pr_push_cond(c, op, cond, held, control);
    return p;
}

static void leave(pr_lower *c, place p)
{
    c->frame = p.frame;
    c->control = p.control;
}

static void refused_region(pr_lower *c, const pr_op *op)
{
    pr_refuse(c, op, PR_REFUSAL_CONTROL_FLOW, "a region of `" PR_STR_FMT "` is not understood", PR_STR_ARG(op->name));
    pr_opaque_results(c, op, false, PR_REFUSAL_NONE, NULL);
}

/* What ran in an arm was read for that arm's value; what ran before, where the arm is taken. */
static void arm_dependencies(pr_lower *c, const pr_op *op, const pr_val *k, int side, const pr_val *arm, pr_val *v)
{
    pr_ids inside = pr_ids_inside(c, arm->pos, op, side), both = v->pos;
    pr_term when = pr_and(c->T, k->held, side ? pr_not(c->T, k->term) : k->term);
    for (int i = 0; i < arm->pos.n; i++) {
        int id = arm->pos.v[i];
        bool known = false;
        for (int m = 0; m < both.n && !known; m++) known = both.v[m] == id;
        for (int m = 0; m < inside.n && !known; m++) known = inside.v[m] == id;
        if (!known && id >= 0 && !pr_term_none(when)) pr_hand_on(c, v, (pr_carried){ id, PR_CARRIED_WHEN, NULL, when });
        else if (!known) pr_hand_on_perhaps(c, v, pr_ids_one(c, id), NULL);
    }
    v->pos = pr_ids_union(c, both, inside);
}

static void if_op(pr_lower *c, const pr_op *op)
{
    pr_val *k = pr_val_branch(c, op, pr_operand(c, op, 0));
    int n = op->n_results;
    if (k->kind != PR_VAL_BOOL || op->n_regions < 1) { refused_region(c, op); return; }
    pr_val **arm[2] = { PR_NEW_N(c->arena, pr_val *, n + 1), PR_NEW_N(c->arena, pr_val *, n + 1) };
    bool waited = c->waited, waits = waited;
    bool runs[2] = { !pr_term_is(k->term, PR_TERM_FALSE), !pr_term_is(k->term, PR_TERM_TRUE) };
    for (int side = 0; side < 2; side++) {
        const pr_region *r = side < op->n_regions ? op->regions[side] : NULL;
        if (!runs[side] || !r || !r->n_blocks) continue;
        pr_term cond = side && !PR_FAULT(c, PR_FAULT_ELSE) ? pr_not(c->T, k->term) : k->term;
        bool known = runs[0] != runs[1];
        place p = { c->frame, c->control };
        if (!known) p = enter(c, op, cond, k->held, k->all);
        c->waited = waited;
        bool fine = pr_lower_cfg(c, op, r, arm[side], n);
        waits |= c->waited;
        leave(c, p);
        if (!fine) { refused_region(c, op); return; }
    }
    c->waited = waits;
    for (int i = 0; i < n; i++) {
        pr_val *a = arm[0][i], *b = arm[1][i];
        pr_val *v = runs[0] && runs[1] && a && b ? pr_val_merge(c, op, k, a, b, op->results[i]->type, false)
                  : runs[0] ? a : b;
        if (!v) { refused_region(c, op); return; }
        if (runs[0] && runs[1] && a && b && (a->pos.n || b->pos.n)) {
            v = pr_val_clone(c, v, v->type);
            arm_dependencies(c, op, k, 0, a, v);
            arm_dependencies(c, op, k, 1, b, v);
        }
        pr_result(c, op, i, v);
    }
}

static void index_switch(pr_lower *c, const pr_op *op)
{
    pr_val *x = pr_operand(c, op, 0);
    pr_attr *cases = pr_op_attr(op, "cases");
    int n = op->n_results, n_cases = op->n_regions - 1;
    if (x->kind != PR_VAL_INT || n_cases < 0 || (n_cases && (!cases || cases->n_ints != n_cases))) {
        refused_region(c, op);
        return;
    }
    pr_val **out = NULL;
    static const pr_type i1 = { .kind = PR_TYPE_INT, .bits = 1 };
    pr_term none = PR_TERM_TRUE;
    for (int k = 0; k < n_cases; k++)
        none = pr_and(c->T, none, pr_ne(c->T, x->term, pr_const(c->T, cases->ints[k])));
    for (int k = 0; k <= n_cases; k++) { /* region 0 is the default: the last arm of the merge */
        pr_term is = k ? pr_eq(c->T, x->term, pr_const(c->T, cases->ints[k - 1])) : none;
        pr_val **arm = PR_NEW_N(c->arena, pr_val *, n + 1);
        place p = enter(c, op, is, x->held, x->all);
        bool fine = pr_lower_cfg(c, op, op->regions[k], arm, n);
        leave(c, p);
        if (!fine) { refused_region(c, op); return; }
        pr_val *cond = pr_val_derive(c, &i1, &x, 1, true);
        cond->term = is;
        for (int i = 0; k && i < n; i++)
            arm[i] = pr_val_merge(c, op, cond, arm[i], out[i], op->results[i]->type, false);
        out = arm;
    }
    for (int i = 0; i < n; i++) pr_result(c, op, i, out[i]);
}

static void execute_region(pr_lower *c, const pr_op *op)
{
    pr_val **out = PR_NEW_N(c->arena, pr_val *, op->n_results + 1);
    if (op->n_regions != 1 || !pr_lower_cfg(c, op, op->regions[0], out, op->n_results)) {
        refused_region(c, op);
        return;
    }
    for (int i = 0; i < op->n_results; i++) pr_result(c, op, i, out[i]);
}

/* ---- calls ---------------------------------------------------------------------------------- */
static int instance_of(pr_lower *c, int call_op)
{
    for (int i = 0; i < c->instances.n; i++)
        if (c->instances.data[i].call_op == call_op && c->instances.data[i].parent == c->instance) return i;
    pr_instance made = { call_op, c->instance };
    pr_vec_push(c->arena, &c->instances, made);
    return c->instances.n - 1;
}

static void refuse_call(pr_lower *c, const pr_op *op, const char *why, pr_str name)
{
    pr_refuse(c, op, PR_REFUSAL_CALL, "call of `" PR_STR_FMT "`: %s", PR_STR_ARG(name), why);
    pr_opaque_results(c, op, false, PR_REFUSAL_NONE, NULL);
}

static void call(pr_lower *c, const pr_op *op)
{
    pr_attr *callee = pr_op_attr(op, "callee");
    pr_str name = callee ? callee->text : (pr_str){ NULL, 0 };
    const pr_op *f = callee ? pr_ir_func(c->ir, name) : NULL;
    const pr_block *entry = f && f->n_regions ? pr_region_block(f->regions[0]) : NULL;
    if (!entry) { refuse_call(c, op, "it has no body", name); return; }
    for (int i = 0; i < c->n_call_stack; i++)
        if (c->call_stack[i] == f) { refuse_call(c, op, "it is recursive", name); return; }
    if (c->n_call_stack > PR_CALL_DEPTH_MAX) { refuse_call(c, op, "calls are nested too deeply", name); return; }
    if (entry->n_args != op->n_operands) { refuse_call(c, op, "the number of arguments differs", name); return; }
    pr_val **actual = PR_NEW_N(c->arena, pr_val *, op->n_operands + 1);
    for (int i = 0; i < op->n_operands; i++) actual[i] = pr_operand(c, op, i);
    for (int i = 0; i < op->n_operands; i++) pr_bind(c, entry->args[i], actual[i]);

    int instance = c->instance, n_calls = c->n_calls;
    const int *calls = c->calls;
    const pr_loc *locs = c->call_locs;
    int *longer = PR_NEW_N(c->arena, int, n_calls + 1);
    pr_loc *longer_locs = PR_NEW_N(c->arena, pr_loc, n_calls + 1);
    if (n_calls) {
        memcpy(longer, calls, sizeof *calls * (size_t)n_calls);
        memcpy(longer_locs, locs, sizeof *locs * (size_t)n_calls);
    }
    longer[n_calls] = op->id;
    longer_locs[n_calls] = pr_loc_of(op);
    c->instance = instance_of(c, op->id);
    c->calls = longer;
    c->call_locs = longer_locs;
    c->n_calls = n_calls + 1;
    c->call_stack[c->n_call_stack++] = f;
    pr_val **out = PR_NEW_N(c->arena, pr_val *, op->n_results + 1);
    bool fine = pr_lower_cfg(c, f, f->regions[0], out, op->n_results);
    c->n_call_stack--;
    c->n_calls = n_calls;
    c->calls = calls;
    c->call_locs = locs;
    c->instance = instance;
    if (!fine) { refuse_call(c, op, "its body is not understood", name); return; }
    for (int i = 0; i < op->n_results; i++) pr_result(c, op, i, out[i]);
}

/* ---- assumptions ------------------------------------------------------------------------------ */
static bool is_local(void *user, const pr_terms *T, pr_term t)
{
    pr_term_op k = pr_term_op_of(T, t);
    if (k == PR_TERM_OP_APP) return true;
    if (k != PR_TERM_OP_VAR) return false;
    pr_var_role role = pr_var_get(T, pr_term_var(T, t))->role;
    return role == PR_ROLE_LANE || role == PR_ROLE_ITER || role == PR_ROLE_OTHER;
}

/* A false assumption is undefined behaviour, so a modelled one that every program meets is a premise. */
static void assume(pr_lower *c, const pr_op *op)
{
    pr_val *k = pr_operand(c, op, 0);
    if (c->dry || c->frame || k->kind != PR_VAL_BOOL || pr_term_none(k->term) ||
        pr_term_is(k->term, PR_TERM_TRUE) || pr_term_any(c->T, k->term, is_local, NULL)) return;
    /* Where an obligation of the condition fails the term says nothing. */
    pr_term premise = pr_implies(c->T, k->held, k->term);
    if (pr_term_none(premise) || pr_term_any(c->T, premise, is_local, NULL)) return;
    pr_vec_push(c->arena, &c->out->premises, premise);
    if (c->assume_used) return;
    c->assume_used = true;
    const char *qualifier = "assumes llvm.intr.assume";
    pr_vec_push(c->arena, &c->out->qualifiers, qualifier);
}

bool pr_sem_flow(pr_lower *c, const pr_op *op)
{
    switch (op->opcode) {
    case PR_OP_SCF_IF: if_op(c, op); return true;
    case PR_OP_SCF_FOR: pr_sem_for(c, op); return true;
    case PR_OP_SCF_WHILE: pr_sem_while(c, op); return true;
    case PR_OP_SCF_INDEX_SWITCH: index_switch(c, op); return true;
    case PR_OP_SCF_EXECUTE_REGION: execute_region(c, op); return true;
    case PR_OP_TT_CALL: call(c, op); return true;
    case PR_OP_LLVM_INTR_ASSUME: assume(c, op); return true;
    case PR_OP_TT_ASSERT: case PR_OP_CF_ASSERT: case PR_OP_TT_PRINT: return true;
    case PR_OP_TT_GRID_DEPENDENCY_WAIT: case PR_OP_TT_GRID_DEPENDENCY_LAUNCH_DEPENDENTS: return true;
    default: return false;
    }
}
