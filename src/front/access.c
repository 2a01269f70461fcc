/* Which accesses does a kernel make: the walk. Set-up of the variables, dispatch of operations, blocks
 * and branches of a function body as reach conditions (ttir-front.md 6.2), and what becomes of an
 * operation nobody knows (1.10). Meanings of operations are in sem_*.c, values in value.c. */
#include "front/access.h"
#include <stdarg.h>
#include <stdio.h>
#include "front/value.h"
#ifdef PR_FAULTS
#include <stdlib.h>
#endif

void pr_lower_options_default(pr_lower_options *o)
{
    *o = (pr_lower_options){ .max_unroll = 64, .max_steps = 1000000 };
#ifdef PR_FAULTS
    if (getenv("POLYRACE_FAULT")) o->fault = atoi(getenv("POLYRACE_FAULT"));
#endif
}

/* ---- positions and refusals ---------------------------------------------------------------- */
pr_loc pr_loc_of(const pr_op *op)
{
    const pr_srcloc *s = pr_srcloc_user(op->loc);
    pr_loc l = { .text_line = op->line, .op = op->name };
    if (s) {
        l.file = s->file;
        l.line = s->line;
        l.col = s->col;
    }
    return l;
}

void pr_refuse(pr_lower *c, const pr_op *op, pr_refusal_kind kind, const char *format, ...)
{
    if (c->dry) return;
    for (int i = 0; i < c->out->refusals.n; i++) {
        const pr_refusal *r = &c->out->refusals.data[i];
        if (r->kind == kind && r->loc.text_line == op->line) return;
    }
    char text[400];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    pr_refusal r = { .kind = kind, .loc = pr_loc_of(op),
                     .message = pr_arena_strndup(c->arena, text, strlen(text)) };
    pr_vec_push(c->arena, &c->out->refusals, r);
}

void pr_exhaust(pr_lower *c, const pr_op *op, const char *why)
{
    int dry = c->dry;
    if (c->exhausted) return;
    c->exhausted = true;
    c->dry = 0;
    pr_refuse(c, op, PR_REFUSAL_BUDGET, "%s", why);
    c->dry = dry;
}

/* ---- access numbers ------------------------------------------------------------------------ */
static uint32_t access_hash(int op_id, int instance)
{
    uint64_t h = ((uint64_t)(uint32_t)op_id << 32 | (uint32_t)instance) * 0x9E3779B97F4A7C15u;
    return (uint32_t)(h >> 32);
}

int pr_access_number(pr_lower *c, const pr_op *op)
{
    if (2 * c->access.n >= c->access_slot.n) {
        int n = c->access_slot.n ? 2 * c->access_slot.n : 64;
        c->access_slot.data = PR_NEW_N(c->arena, int, n);
        c->access_slot.n = c->access_slot.cap = n;
        for (int a = 0; a < c->access.n; a++) {
            uint32_t h = access_hash(c->access.data[a].op_id, c->access.data[a].instance) & (uint32_t)(n - 1);
            while (c->access_slot.data[h]) h = (h + 1) & (uint32_t)(n - 1);
            c->access_slot.data[h] = a + 1;
        }
    }
    uint32_t mask = (uint32_t)c->access_slot.n - 1, h = access_hash(op->id, c->instance) & mask;
    for (; c->access_slot.data[h]; h = (h + 1) & mask) {
        int a = c->access_slot.data[h] - 1;
        if (c->access.data[a].op_id == op->id && c->access.data[a].instance == c->instance) return a;
    }
    pr_access_info info = { .op_id = op->id, .instance = c->instance };
    pr_vec_push(c->arena, &c->access, info);
    c->access_slot.data[h] = c->access.n;
    return c->access.n - 1;
}

/* ---- frames -------------------------------------------------------------------------------- */
void pr_push_cond(pr_lower *c, const pr_op *op, pr_term cond, pr_term held, pr_ids control)
{
    pr_frame *f = PR_NEW(c->arena, pr_frame);
    *f = (pr_frame){ .outer = c->frame, .kind = PR_FRAME_COND, .depth = c->frame ? c->frame->depth + 1 : 1,
                     .loc = pr_loc_of(op), .cond = cond, .held = held,
                     .bounds_held = PR_TERM_TRUE, .increment_held = PR_TERM_TRUE };
    c->frame = f;
    c->control = pr_ids_union(c, c->control, control);
    for (int i = 0; i < control.n; i++)
        if (control.v[i] >= 0) c->access.data[control.v[i]].path = true;
}

/* ---- effects of operations ----------------------------------------------------------------- */
static bool is_address_type(const pr_type *t)
{
    if (!t) return true;
    const pr_type *s = pr_type_scalar(t);
    return s->kind == PR_TYPE_POINTER || s->kind == PR_TYPE_DESC || s->kind == PR_TYPE_MEMDESC ||
           t->kind == PR_TYPE_MEMDESC;
}

static bool has_address_operand(const pr_op *op)
{
    for (int i = 0; i < op->n_operands; i++)
        if (is_address_type(op->operands[i]->type)) return true;
    return false;
}

static bool in_dialect(const pr_op *op, const char *prefix) { return pr_str_starts(op->name, prefix); }

static bool is_pure_dialect(const pr_op *op)
{
    return in_dialect(op, "arith.") || in_dialect(op, "math.") || in_dialect(op, "ub.") ||
           in_dialect(op, "index.");
}

static bool is_pure_flag(const pr_op *op)
{
    pr_attr *a = pr_op_attr(op, "pure");
    return a && a->kind == PR_ATTR_BOOL && a->boolean;
}

static bool op_touches_memory(const pr_op *op)
{
    switch (op->opcode) {
    case PR_OP_TT_LOAD: case PR_OP_TT_STORE: case PR_OP_TT_ATOMIC_RMW: case PR_OP_TT_ATOMIC_CAS:
    case PR_OP_TT_ATOMIC_POLL: case PR_OP_TT_ATOMIC_LOAD: case PR_OP_TT_ATOMIC_STORE:
    case PR_OP_TT_DESCRIPTOR_LOAD: case PR_OP_TT_DESCRIPTOR_STORE: case PR_OP_TT_DESCRIPTOR_REDUCE:
    case PR_OP_TT_DESCRIPTOR_GATHER: case PR_OP_TT_DESCRIPTOR_SCATTER: case PR_OP_TT_CALL:
    case PR_OP_TT_EXPERIMENTAL_TENSORMAP_CREATE: case PR_OP_GPU_BARRIER: case PR_OP_TTG_BARRIER:
    case PR_OP_TT_EXPERIMENTAL_TENSORMAP_FENCEPROXY_ACQUIRE:
        return true;
    case PR_OP_TT_ELEMENTWISE_INLINE_ASM: case PR_OP_TT_EXTERN_ELEMENTWISE:
        return (!is_pure_flag(op) && !pr_op_is_grid_dependency_asm(op)) || has_address_operand(op);
    case PR_OP_UNKNOWN:
        if (is_pure_dialect(op)) return false;
        return !in_dialect(op, "tt.") || has_address_operand(op) || !op->n_results;
    default: return false;
    }
}

static bool region_touches_memory(const pr_ir *ir, const pr_region *r, int calls)
{
    for (int b = 0; b < r->n_blocks; b++)
        for (int i = 0; i < r->blocks[b]->n_ops; i++) {
            const pr_op *op = r->blocks[b]->ops[i];
            if (op->opcode == PR_OP_TT_CALL) {
                pr_attr *s = pr_op_attr(op, "callee");
                const pr_op *f = s ? pr_ir_func(ir, s->text) : NULL;
                if (!f || calls == PR_CALL_DEPTH_MAX || !f->n_regions || !f->regions[0]->n_blocks ||
                    region_touches_memory(ir, f->regions[0], calls + 1)) return true;
                continue;
            }
            if (op_touches_memory(op)) return true;
            for (int k = 0; k < op->n_regions; k++)
                if (region_touches_memory(ir, op->regions[k], calls)) return true;
        }
    return false;
}

bool pr_region_touches_memory(const pr_ir *ir, const pr_region *r) { return region_touches_memory(ir, r, 0); }

/* An operation without a meaning of its own (ttir-front.md 1.10, item 6). */
static void lower_unknown(pr_lower *c, const pr_op *op)
{
    bool regions = false, address = has_address_operand(op);
    for (int k = 0; k < op->n_regions; k++)
        if (pr_region_touches_memory(c->ir, op->regions[k])) regions = true;
    for (int i = 0; i < op->n_operands; i++)
        if (pr_operand(c, op, i)->from_address) address = true;
    if (op->opcode == PR_OP_TT_ELEMENTWISE_INLINE_ASM || op->opcode == PR_OP_TT_EXTERN_ELEMENTWISE) {
        bool is_asm = op->opcode == PR_OP_TT_ELEMENTWISE_INLINE_ASM;
        if ((!is_pure_flag(op) && !pr_op_is_grid_dependency_asm(op)) || address)
            pr_refuse(c, op, is_asm ? PR_REFUSAL_INLINE_ASM : PR_REFUSAL_OUT_OF_VOCABULARY,
                      "%s %s", is_asm ? "inline assembly" : "an external function",
                      address ? "is handed an address" : "is not marked pure");
        pr_opaque_results(c, op, !is_asm, PR_REFUSAL_NONE, NULL);
        for (int i = 0; i < op->n_results; i++) { /* may read %tid and the like: no value of a whole program */
            pr_val *own = pr_val_clone(c, pr_get(c, op->results[i]), op->results[i]->type);
            own->from_atomic = true;
            pr_result(c, op, i, pr_val_opaque(c, op, op->results[i]->type, &own, 1, !is_asm, PR_REFUSAL_OTHER, NULL));
        }
        return;
    }
    if (in_dialect(op, "scf.") || in_dialect(op, "cf."))
        pr_refuse(c, op, PR_REFUSAL_CONTROL_FLOW, "`" PR_STR_FMT "` is not a form of control flow that is "
                  "followed", PR_STR_ARG(op->name));
    else if (op_touches_memory(op) || regions || (address && !is_pure_dialect(op)) || op->opcode == PR_OP_BUILTIN_UNREALIZED_CONVERSION_CAST)
        pr_refuse(c, op, PR_REFUSAL_OUT_OF_VOCABULARY, "`" PR_STR_FMT "` may touch memory and is outside "
                  "the model", PR_STR_ARG(op->name));
    pr_opaque_results(c, op, is_pure_dialect(op) && !op->n_regions, PR_REFUSAL_NONE, NULL);
}

/* Tensors of more than PR_MAX_RANK dimensions, which sorting networks pass through: data nobody follows. */
static bool lower_deep(pr_lower *c, const pr_op *op)
{
    if (!c->ir->has_deep || !pr_op_is_deep(op) || in_dialect(op, "scf.")) return false;
    switch (op->opcode) {
    case PR_OP_TT_CALL: case PR_OP_UNKNOWN: case PR_OP_TT_ELEMENTWISE_INLINE_ASM: case PR_OP_TT_EXTERN_ELEMENTWISE:
        return false;
    default: break;
    }
    bool touches = op_touches_memory(op);
    for (int k = 0; k < op->n_regions; k++) touches |= pr_region_touches_memory(c->ir, op->regions[k]);
    if (touches)
        pr_refuse(c, op, PR_REFUSAL_OTHER, "memory is accessed with a tensor of more than %d dimensions", PR_MAX_RANK);
    pr_opaque_results(c, op, false, PR_REFUSAL_NONE, NULL);
    return true;
}

/* ---- blocks -------------------------------------------------------------------------------- */
static bool is_terminator(const pr_op *op)
{
    switch (op->opcode) {
    case PR_OP_TT_RETURN: case PR_OP_SCF_YIELD: case PR_OP_SCF_CONDITION: case PR_OP_TT_REDUCE_RETURN:
    case PR_OP_TT_SCAN_RETURN: case PR_OP_TT_MAP_ELEMENTWISE_RETURN: case PR_OP_CF_BR:
    case PR_OP_CF_COND_BR: case PR_OP_CF_SWITCH:
        return true;
    default: return op->n_succ > 0;
    }
}

const pr_op *pr_lower_block(pr_lower *c, const pr_block *b)
{
    for (int i = 0; i < b->n_ops; i++) {
        const pr_op *op = b->ops[i];
        if (is_terminator(op)) return op;
        if (++c->steps > c->o.max_steps || c->exhausted) {
            pr_exhaust(c, op, "too many operations to follow");
            return pr_block_terminator(b);
        }
        if (lower_deep(c, op)) continue;
        if (pr_sem_arith(c, op) || pr_sem_shape(c, op) || pr_sem_mem(c, op) || pr_sem_flow(c, op)) continue;
        lower_unknown(c, op);
    }
    return NULL;
}

typedef struct edge { pr_val *reach; pr_val **args; } edge;
typedef PR_VEC(edge) edge_vec;

static bool is_negation(pr_lower *c, pr_term a, pr_term b) { return pr_term_is(a, pr_not(c->T, b)); }

/* a or b with the common conjuncts factored out and `a or (not a and c)` read as `a or c`. */
static pr_term or_simplified(pr_lower *c, pr_term a, pr_term b)
{
    pr_term_vec x = { 0 }, y = { 0 };
    pr_conjuncts(c->T, a, &x, c->arena);
    pr_conjuncts(c->T, b, &y, c->arena);
    pr_term common = PR_TERM_TRUE;
    int n = 0;
    for (int i = 0; i < x.n; i++) {
        int at = -1;
        for (int j = 0; j < y.n && at < 0; j++)
            if (pr_term_is(x.data[i], y.data[j])) at = j;
        if (at < 0) { x.data[n++] = x.data[i]; continue; }
        common = pr_and(c->T, common, x.data[i]);
        memmove(y.data + at, y.data + at + 1, sizeof *y.data * (size_t)(--y.n - at));
    }
    x.n = n;
    if (!x.n || !y.n) return common;
    for (int turn = 0; turn < 2; turn++) {
        pr_term_vec *one = turn ? &y : &x, *many = turn ? &x : &y;
        if (one->n != 1) continue;
        int kept = 0;
        for (int j = 0; j < many->n; j++)
            if (!is_negation(c, many->data[j], one->data[0])) many->data[kept++] = many->data[j];
        many->n = kept;
        if (!kept) return common;
    }
    pr_term left = PR_TERM_TRUE, right = PR_TERM_TRUE;
    for (int i = 0; i < x.n; i++) left = pr_and(c->T, left, x.data[i]);
    for (int j = 0; j < y.n; j++) right = pr_and(c->T, right, y.data[j]);
    return pr_and(c->T, common, pr_or(c->T, left, right));
}

/* The conjuncts of t that are not conjuncts of known. */
static pr_term without_conjuncts(pr_lower *c, pr_term t, pr_term known)
{
    pr_term_vec x = { 0 }, y = { 0 };
    pr_conjuncts(c->T, t, &x, c->arena);
    pr_conjuncts(c->T, known, &y, c->arena);
    pr_term r = PR_TERM_TRUE;
    for (int i = 0; i < x.n; i++) {
        bool seen = false;
        for (int j = 0; j < y.n && !seen; j++) seen = pr_term_is(x.data[i], y.data[j]);
        if (!seen) r = pr_and(c->T, r, x.data[i]);
    }
    return r;
}

static pr_val *reach_and(pr_lower *c, pr_val *reach, pr_val *cond, pr_term lit)
{
    pr_val *from[2] = { reach, cond };
    pr_val *r = pr_val_derive(c, reach->type, from, 2, true);
    r->term = pr_and(c->T, reach->term, lit);
    r->held = pr_and(c->T, reach->held, pr_implies(c->T, reach->term, cond->held));
    return r;
}

static pr_val *reach_or(pr_lower *c, pr_val *a, pr_val *b)
{
    pr_val *from[2] = { a, b };
    pr_val *r = pr_val_derive(c, a->type, from, 2, true);
    r->term = or_simplified(c, a->term, b->term);
    return r;
}

static pr_val *const_bool(pr_lower *c, bool b)
{
    static const pr_type i1 = { .kind = PR_TYPE_INT, .bits = 1 };
    pr_val *v = pr_val_new(c, &i1);
    v->term = pr_bool(b);
    return v;
}

static pr_val **values_of(pr_lower *c, const pr_op *op, int first, int n)
{
    pr_val **v = PR_NEW_N(c->arena, pr_val *, n + 1);
    for (int i = 0; i < n; i++) v[i] = pr_operand(c, op, first + i);
    return v;
}

static void add_edge(pr_lower *c, edge_vec *in, const pr_op *op, int s, pr_val *reach)
{
    /* Never taken; unless an overflow would take it: then the block stays, for its obligations. */
    if (pr_term_is(reach->term, PR_TERM_FALSE) && pr_term_is(reach->held, PR_TERM_TRUE)) return;
    edge e = { reach, values_of(c, op, op->succ[s].first, op->succ[s].n) };
    pr_vec_push(c->arena, &in[op->succ[s].block->index], e);
}

static bool lower_branch(pr_lower *c, const pr_op *op, edge_vec *in, pr_val *reach)
{
    if (op->opcode == PR_OP_CF_BR && op->n_succ == 1) {
        add_edge(c, in, op, 0, reach);
        return true;
    }
    if (op->opcode == PR_OP_CF_COND_BR && op->n_succ == 2) {
        pr_val *k = pr_val_branch(c, op, pr_operand(c, op, 0));
        if (k->kind != PR_VAL_BOOL) return false;
        add_edge(c, in, op, 0, reach_and(c, reach, k, k->term));
        add_edge(c, in, op, 1, reach_and(c, reach, k, PR_FAULT(c, PR_FAULT_ELSE) ? PR_TERM_TRUE
                                                                           : pr_not(c->T, k->term)));
        return true;
    }
    pr_attr *cases = op->opcode == PR_OP_CF_SWITCH ? pr_op_attr(op, "case_values") : NULL;
    if (op->opcode == PR_OP_CF_SWITCH && (op->n_succ == 1 || (cases && cases->n_ints))) {
        pr_val *k = pr_operand(c, op, 0);
        int bits = pr_int_bits(k->type);
        if (bits < 1 || bits > 64 || (op->n_succ > 1 && cases->n_ints != op->n_succ - 1 && cases->n_ints != 1))
            return false;
        pr_term none = PR_TERM_TRUE;
        for (int s = 1; s < op->n_succ; s++) {
            pr_i128 v = pr_wrap_signed(cases->ints[cases->n_ints == 1 ? 0 : s - 1], bits);
            if (bits == 1) v = v != 0;
            pr_term is = pr_eq(c->T, pr_val_int(c, k), pr_const(c->T, v));
            if (pr_term_none(is)) return false;
            add_edge(c, in, op, s, reach_and(c, reach, k, pr_and(c->T, none, is)));
            none = pr_and(c->T, none, pr_not(c->T, is));
        }
        add_edge(c, in, op, 0, reach_and(c, reach, k, none));
        return true;
    }
    return false;
}

/* Blocks in topological order; false on a back edge. */
static bool order_blocks(pr_lower *c, const pr_region *r, int *order, int *n_order)
{
    int n = r->n_blocks, depth = 0, filled = n;
    char *state = PR_NEW_N(c->arena, char, n);
    int *stack = PR_NEW_N(c->arena, int, n), *next = PR_NEW_N(c->arena, int, n);
    stack[depth++] = 0;
    state[0] = 1;
    while (depth) {
        int b = stack[depth - 1];
        const pr_op *t = pr_block_terminator(r->blocks[b]);
        if (t && next[b] < t->n_succ) {
            int s = t->succ[next[b]++].block->index;
            if (state[s] == 1) return false;
            if (!state[s]) { state[s] = 1; stack[depth++] = s; }
            continue;
        }
        state[b] = 2;
        order[--filled] = b;
        depth--;
    }
    *n_order = n - filled;
    memmove(order, order + filled, sizeof *order * (size_t)*n_order);
    return true;
}

static void merge_edges(pr_lower *c, const pr_op *owner, const edge_vec *in, pr_term reach, int i,
                        const pr_type *type, pr_val **out)
{
    pr_val *v = in->data[in->n - 1].args[i];
    for (int e = in->n - 2; e >= 0; e--) {
        pr_val *cond = pr_val_clone(c, in->data[e].reach, in->data[e].reach->type);
        cond->term = without_conjuncts(c, cond->term, reach);
        const pr_val *a = in->data[e].args[i], *b = v;
        v = pr_val_merge(c, owner, cond, in->data[e].args[i], v, type, false);
        if (v == a || v == b || (!a->pos.n && !b->pos.n)) continue;
        v = pr_val_clone(c, v, v->type);
        pr_hand_on_perhaps(c, v, pr_ids_union(c, a->pos, b->pos), NULL);
    }
    *out = v;
}

static bool finish_exits(pr_lower *c, const pr_op *owner, const edge_vec *exits, pr_val **results, int n)
{
    if (!exits->n) return n == 0;
    pr_term reach = PR_TERM_TRUE;
    for (int i = 0; i < n; i++) {
        const pr_type *t = exits->data[0].args[i]->type;
        merge_edges(c, owner, exits, reach, i, t, &results[i]);
    }
    return true;
}

static bool is_exit(const pr_op *t) { return t->opcode == PR_OP_TT_RETURN || t->opcode == PR_OP_SCF_YIELD; }

bool pr_lower_cfg(pr_lower *c, const pr_op *owner, const pr_region *r, pr_val **results, int n)
{
    const pr_frame *frame = c->frame;
    pr_ids control = c->control;
    if (!r->n_blocks) return n == 0;
    if (r->n_blocks == 1) {
        const pr_op *t = pr_lower_block(c, r->blocks[0]);
        if (!t || !is_exit(t) || t->n_operands < n) return false;
        for (int i = 0; i < n; i++) results[i] = pr_operand(c, t, i);
        return true;
    }
    int *order = PR_NEW_N(c->arena, int, r->n_blocks), n_order;
    if (!order_blocks(c, r, order, &n_order)) {
        pr_refuse(c, owner, PR_REFUSAL_CONTROL_FLOW, "a branch leads back to an earlier block");
        return false;
    }
    edge_vec *in = PR_NEW_N(c->arena, edge_vec, r->n_blocks), exits = { 0 };
    bool fine = true;
    for (int k = 0; k < n_order; k++) {
        const pr_block *b = r->blocks[order[k]];
        edge_vec *e = &in[b->index];
        pr_val *reach = k == 0 ? const_bool(c, true) : NULL;
        if (k && !e->n) continue;
        for (int j = 0; k && j < e->n; j++) reach = j ? reach_or(c, reach, e->data[j].reach) : e->data[j].reach;
        if (pr_term_is(reach->term, PR_TERM_TRUE)) {
            reach = pr_val_clone(c, reach, reach->type);
            reach->held = PR_TERM_TRUE;
            reach->all = reach->pos = (pr_ids){ NULL, 0 };
        }
        for (int i = 0; k && i < b->n_args; i++) {
            pr_val *v;
            merge_edges(c, owner, e, reach->term, i, b->args[i]->type, &v);
            pr_bind(c, b->args[i], v);
        }
        c->frame = frame;
        c->control = control;
        if (!pr_term_is(reach->term, PR_TERM_TRUE) && b->n_ops)
            pr_push_cond(c, b->ops[0], reach->term, reach->held, reach->all);
        const pr_op *t = pr_lower_block(c, b);
        if (t && is_exit(t) && t->n_operands >= n) {
            edge x = { reach, values_of(c, t, 0, n) };
            pr_vec_push(c->arena, &exits, x);
        } else if (!t || !lower_branch(c, t, in, reach)) {
            pr_refuse(c, t ? t : owner, PR_REFUSAL_CONTROL_FLOW, "the end of a block is not understood");
            fine = false;
        }
    }
    c->frame = frame;
    c->control = control;
    return fine && finish_exits(c, owner, &exits, results, n);
}

/* ---- set-up -------------------------------------------------------------------------------- */
static pr_var new_var(pr_lower *c, pr_var_role role, int index, pr_i128 lo, pr_i128 hi, const char *name)
{
    return pr_var_new(c->T, (pr_var_info){ .role = role, .index = index, .copy = PR_COPY_NONE,
                                           .lo = lo, .hi = hi, .name = name });
}

static void make_variables(pr_lower *c)
{
    static const char *const pid[3] = { "pid0", "pid1", "pid2" }, *const grid[3] = { "grid0", "grid1", "grid2" };
    for (int a = 0; a < 3; a++) {
        pr_i128 most = a ? 65535 : ((pr_i128)1 << 31) - 1;
        c->out->pid[a] = new_var(c, PR_ROLE_PID, a, 0, most - 1, pid[a]);
        c->out->grid[a] = new_var(c, PR_ROLE_GRID, a, 1, most, grid[a]);
    }
    for (int d = 0; d < PR_RANK_MAX; d++)
        c->out->lane[d] = new_var(c, PR_ROLE_LANE, d, 0, ((pr_i128)1 << 31) - 2,
                                  pr_arena_printf(c->arena, "lane%d", d));
}

static int64_t divisibility_of(const pr_value *arg)
{
    pr_attr *a = arg->attrs ? pr_dict_get(arg->attrs, "tt.divisibility") : NULL;
    pr_i128 v = 1;
    if (a && a->kind == PR_ATTR_INT) v = a->integer;
    else if (a && a->kind == PR_ATTR_DENSE && a->dense_known && a->n_ints) v = a->ints[0];
    return v > 1 && v < INT64_MAX ? (int64_t)v : 1;
}

static pr_val *desc_argument(pr_lower *c, const pr_value *arg, int i)
{
    pr_val *v = pr_val_new(c, arg->type);
    const pr_desc_binding *b = NULL;
    for (int k = 0; k < c->o.n_desc; k++)
        if (c->o.desc[k].arg == i) b = &c->o.desc[k];
    const pr_type *block = arg->type->elem;
    if (!b || !block || block->rank != b->rank) {
        v->lost = PR_REFUSAL_MISSING_BINDING;
        v->lost_why = "a descriptor argument whose shape and strides the launch does not give";
        return v;
    }
    pr_view *w = PR_NEW(c->arena, pr_view);
    w->rank = b->rank;
    w->elem_bytes = pr_type_bytes(block->elem);
    for (int d = 0; d < b->rank; d++) {
        w->shape[d] = pr_const(c->T, b->shape[d]);
        w->stride[d] = pr_const(c->T, b->stride[d]);
        w->offset[d] = PR_TERM_ZERO;
    }
    v->view = w;
    v->target = PR_NEW(c->arena, pr_target);
    v->target[0] = (pr_target){ PR_TERM_TRUE, i, PR_TERM_ZERO };
    v->n_target = 1;
    return v;
}

static void bind_arguments(pr_lower *c)
{
    const pr_block *entry = pr_region_block(c->kernel->regions[0]);
    c->out->n_args = entry->n_args;
    c->out->args = PR_NEW_N(c->arena, struct pr_formal, entry->n_args + 1);
    for (int i = 0; i < entry->n_args; i++) {
        const pr_value *arg = entry->args[i];
        struct pr_formal *f = &c->out->args[i];
        int bits = pr_int_bits(arg->type);
        f->name = pr_ir_arg_name(c->ir, c->kernel, i);
        f->divisibility = divisibility_of(arg);
        pr_val *v = pr_val_new(c, arg->type);
        switch (v->kind) {
        case PR_VAL_PTR:
            f->is_pointer = true;
            f->pointee_bytes = pr_type_bytes(arg->type->elem);
            if (arg->attrs && pr_dict_get(arg->attrs, "tt.nv_tma_desc")) {
                v->lost = PR_REFUSAL_OUT_OF_VOCABULARY;
                v->lost_why = "pointer to a host descriptor object";
                break;
            }
            v->target = PR_NEW(c->arena, pr_target);
            v->target[0] = (pr_target){ PR_TERM_TRUE, i, PR_TERM_ZERO };
            v->n_target = 1;
            break;
        case PR_VAL_INT: case PR_VAL_BOOL: {
            f->is_int = true;
            f->bits = bits;
            if (bits > 64) {
                v = pr_val_opaque(c, NULL, arg->type, NULL, 0, true, PR_REFUSAL_OTHER, "argument wider than 64 bits");
                break;
            }
            const char *name = pr_arena_strndup(c->arena, f->name.s ? f->name.s : "", f->name.n);
            f->param = new_var(c, PR_ROLE_PARAM, i, bits == 1 ? 0 : pr_int_min(bits),
                               bits == 1 ? 1 : pr_int_max(bits), name);
            v->term = pr_var_term(c->T, f->param);
            if (bits == 1) v->term = pr_eq(c->T, v->term, pr_const(c->T, 1));
            break;
        }
        case PR_VAL_FLOAT: f->is_float = true; break;
        case PR_VAL_DESC:
            f->is_desc = true;
            f->pointee_bytes = arg->type->elem ? pr_type_bytes(pr_type_scalar(arg->type->elem)) : 0;
            v = desc_argument(c, arg, i);
            break;
        default:
            if (v->kind == PR_VAL_BPTR) v->lost = PR_REFUSAL_OTHER, v->lost_why = "block pointer argument";
            break;
        }
        pr_bind(c, arg, v);
    }
}

/* Facts of the text that hold whether or not an operation is reachable: axes read, atomics. */
static void scan(pr_lower *c, const pr_region *r, char *seen)
{
    for (int b = 0; b < r->n_blocks; b++)
        for (int i = 0; i < r->blocks[b]->n_ops; i++) {
            const pr_op *op = r->blocks[b]->ops[i];
            switch (op->opcode) {
            case PR_OP_TT_GET_PROGRAM_ID: case PR_OP_TT_GET_NUM_PROGRAMS: {
                pr_i128 a = pr_op_attr_int(op, "axis", -1);
                if (a >= 0 && a < 3) c->out->axis_read[(int)a] = true;
                break;
            }
            case PR_OP_TT_ATOMIC_RMW: case PR_OP_TT_ATOMIC_CAS: case PR_OP_TT_ATOMIC_POLL:
            case PR_OP_TT_ATOMIC_LOAD: case PR_OP_TT_ATOMIC_STORE: case PR_OP_TT_DESCRIPTOR_REDUCE:
                c->out->has_atomics = true;
                break;
            case PR_OP_TT_CALL: {
                pr_attr *s = pr_op_attr(op, "callee");
                const pr_op *f = s ? pr_ir_func(c->ir, s->text) : NULL;
                if (f && !seen[f->id] && f->n_regions) {
                    seen[f->id] = 1;
                    scan(c, f->regions[0], seen);
                }
                break;
            }
            default: break;
            }
            for (int k = 0; k < op->n_regions; k++) scan(c, op->regions[k], seen);
        }
}

static void check_names(pr_lower *c)
{
    for (int i = 0; i < c->out->n_args; i++)
        for (int j = 0; j < i; j++)
            if (pr_str_eq(c->out->args[i].name, c->out->args[j].name))
                pr_refuse(c, c->kernel, PR_REFUSAL_OTHER, "two parameters are called `" PR_STR_FMT "`",
                          PR_STR_ARG(c->out->args[i].name));
}

/* An access whose value reaches a flag through another access's address or mask reaches it too. */
/* Nothing that a program of the launch writes can end the loop: it computes (a search, a walk over a table). That it runs any
 * number of times with any carried values holds for every execution, so it needs no refusal of its own. */
static bool only_computes(const pr_lower *c, const pr_free_loop *f)
{
    const pr_records *R = c->out;
    for (int i = 0; i < R->records.n; i++) {
        const pr_record *r = &R->records.data[i];
        bool in = r->site.op_id >= f->first && r->site.op_id <= f->last;
        for (int k = 0; k < r->site.n_calls; k++) in = in || (r->site.calls[k] >= f->first && r->site.calls[k] <= f->last);
        if (!in || r->kind == PR_RECORD_STORE) continue;
        if (r->kind != PR_RECORD_LOAD || r->base < 0) return false;
        for (int j = 0; j < R->records.n; j++) {
            const pr_record *w = &R->records.data[j];
            if (w->kind != PR_RECORD_LOAD && (w->base < 0 || w->base == r->base)) return false;
        }
    }
    return true;
}

static void drop_refusals(pr_lower *c)
{
    for (int k = c->free_loops.n - 1; k >= 0; k--) {
        const pr_free_loop *f = &c->free_loops.data[k];
        if (!only_computes(c, f)) continue;
        for (int i = f->refusal; i + 1 < c->out->refusals.n; i++) c->out->refusals.data[i] = c->out->refusals.data[i + 1];
        c->out->refusals.n--;
    }
}

static void close_flags(pr_lower *c)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (int a = 0; a < c->access.n; a++) {
            const pr_access_info *x = &c->access.data[a];
            for (int i = 0; i < x->feeds.n; i++) {
                if (x->feeds.v[i] < 0) continue;
                pr_access_info *y = &c->access.data[x->feeds.v[i]];
                if ((x->path && !y->path) || (x->mask && !y->mask) || (x->other_shape && !y->other_shape))
                    changed = true;
                y->path |= x->path;
                y->mask |= x->mask;
                y->other_shape |= x->other_shape;
            }
        }
    }
    for (int i = 0; i < c->out->records.n; i++) {
        pr_record *r = &c->out->records.data[i];
        const pr_access_info *x = &c->access.data[r->access];
        r->reaches_path = x->path;
        r->reaches_mask = x->mask;
        r->reaches_other_shape = x->other_shape;
    }
}

pr_status pr_lower_kernel(pr_arena *arena, pr_terms *terms, const pr_ir *ir, const pr_op *kernel,
                          const pr_lower_options *o, pr_records *out, pr_error *err)
{
    if (!kernel || kernel->n_regions != 1 || !pr_region_block(kernel->regions[0]))
        return pr_fail(err, PR_ERR_INTERNAL, "", 0, 0, "the kernel has no body");
    pr_lower *c = PR_NEW(arena, pr_lower);
    c->reorders = PR_MAYBE;
    c->arena = arena;
    c->T = terms;
    c->ir = ir;
    c->kernel = kernel;
    if (o) c->o = *o;
    else pr_lower_options_default(&c->o);
    if (!c->o.max_steps) c->o.max_steps = 1000000;
    c->out = out;
    c->env = PR_NEW_N(arena, pr_val *, ir->n_values + 1);
    memset(out, 0, sizeof *out);
    out->terms = terms;
    pr_attr *name = pr_op_attr(kernel, "sym_name");
    if (name) out->kernel = name->text;
    pr_instance root = { -1, -1 };
    pr_vec_push(arena, &c->instances, root);
    c->call_stack[c->n_call_stack++] = kernel;
    make_variables(c);
    bind_arguments(c);
    check_names(c);
    if (pr_op_attr_int(ir->module, "ttg.num-ctas", 1) > 1)
        pr_refuse(c, kernel, PR_REFUSAL_MULTI_CTA, "the module is compiled for several CTAs a program");
    char *seen = PR_NEW_N(arena, char, ir->n_ops + 1);
    scan(c, kernel->regions[0], seen);
    int before = out->refusals.n;
    if (!pr_lower_cfg(c, kernel, kernel->regions[0], NULL, 0) && out->refusals.n == before)
        pr_refuse(c, kernel, PR_REFUSAL_CONTROL_FLOW, "the kernel's blocks are not understood");
    close_flags(c);
    drop_refusals(c);
    return PR_OK;
}
