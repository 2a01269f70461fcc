/* Which while loops count, and what is said of the others. ttir-front.md 6.4, happens-before.md 4.6.
 *
 * A loop counts when a part of its condition compares a term that is linear in a carried value, which moves by a fixed step, with
 * a fixed one. The other parts may end it earlier. What neither counts nor waits runs any number of times with any carried values. */
#include "front/loop_probe.h"

typedef pr_loop_probe probe;

enum { PRED_EQ, PRED_NE, PRED_SLT, PRED_SLE, PRED_SGT, PRED_SGE, PRED_ULT, PRED_ULE, PRED_UGT, PRED_UGE };

static int swapped(int pred)
{
    static const int by[] = { PRED_EQ, PRED_NE, PRED_SGT, PRED_SGE, PRED_SLT, PRED_SLE, PRED_UGT, PRED_UGE,
                              PRED_ULT, PRED_ULE };
    return by[pred];
}

/* Which carried values the condition passes on; the compiler leaves out those that nobody reads behind it. */
static bool passes_on(pr_lower *c, probe *p, const pr_op *cond)
{
    p->n_pass = cond->n_operands - 1;
    if (p->pre->n_args != p->n || p->body->n_args != p->n_pass || p->op->n_results != p->n_pass) return false;
    p->pass = PR_NEW_N(c->arena, int, p->n_pass + 1);
    for (int i = 0; i < p->n_pass; i++) {
        int at = 0;
        while (at < p->n && cond->operands[1 + i] != p->pre->args[at]) at++;
        if (at == p->n) return false;
        p->pass[i] = at;
    }
    return true;
}

/* What a counter is compared with. */
typedef struct limit { int slot, pred; pr_term term, held; pr_ids all; } limit;

/* t = k*h + rest for the counter h of some slot, rest fixed; k 0: it has another form. */
static pr_i128 linear_in(pr_lower *c, probe *p, pr_term t, int slot, pr_term *rest)
{
    pr_terms *T = c->T;
    pr_term h = p->holder[slot]->term;
    *rest = PR_TERM_NONE;
    if (pr_term_none(t)) return 0;
    if (pr_term_is(t, h)) {
        *rest = PR_TERM_ZERO;
        return 1;
    }
    if (pr_term_op_of(T, t) != PR_TERM_OP_SUM) return 0;
    for (int i = 0; i < pr_term_arity(T, t); i++) {
        if (!pr_term_is(pr_term_child(T, t, i), h)) continue;
        pr_i128 k = pr_term_coef(T, t, i);
        *rest = pr_sub(T, t, pr_scale(T, h, k));
        return pr_loop_invariant(c, p, *rest) ? k : 0;
    }
    return 0;
}

/* `k*h + a pred b` as a comparison of h. What must not wrap in it does not at any turn when it does not at the first and the
 * last one: everything is linear in h. held_at lists it. */
static bool linear_limit(pr_lower *c, probe *p, const pr_val *left, const pr_val *right, int pred, limit *out, pr_term_vec *held_at)
{
    pr_terms *T = c->T;
    pr_term rest;
    pr_i128 k = 0;
    if (left->kind != PR_VAL_INT || right->kind != PR_VAL_INT || pred < PRED_SLT || pred > PRED_SGE) return false;
    pr_term d = pr_sub(T, left->term, right->term);
    if (pred == PRED_SGT || pred == PRED_SGE) d = pr_neg(T, d);
    if (pred == PRED_SLE || pred == PRED_SGE) d = pr_sub(T, d, pr_const(T, 1));      /* d < 0 */
    for (out->slot = 0; out->slot < p->n && !k; out->slot++)
        if (p->holder[out->slot]->kind == PR_VAL_INT) k = linear_in(c, p, d, out->slot, &rest);
    out->slot--;
    if (!k) return false;
    pr_i128 size = k < 0 ? -k : k;
    out->pred = k > 0 ? PRED_SLT : PRED_SGT;
    out->term = pr_fdiv_t(T, rest, pr_const(T, size));
    if (k > 0) out->term = pr_neg(T, out->term);
    out->held = PR_TERM_TRUE;
    out->all = pr_ids_union(c, left->all, right->all);
    pr_term_vec parts = { 0 };
    pr_conjuncts(T, pr_and(T, left->held, right->held), &parts, c->arena);
    for (int i = 0; i < parts.n; i++) {
        pr_term f = parts.data[i];
        if (pr_loop_invariant(c, p, f)) out->held = pr_and(T, out->held, f);
        else if (pr_term_op_of(T, f) == PR_TERM_OP_FITS && linear_in(c, p, pr_term_child(T, f, 0), out->slot, &rest))
            pr_vec_push(c->arena, held_at, f);
        else return false;
    }
    return true;
}

/* The listed conditions where the counter has this value. */
static pr_term held_with(pr_lower *c, probe *p, const limit *l, const pr_term_vec *held_at, pr_term value)
{
    pr_terms *T = c->T;
    pr_term all = PR_TERM_TRUE, rest;
    for (int i = 0; i < held_at->n; i++) {
        pr_term f = held_at->data[i];
        pr_i128 k = linear_in(c, p, pr_term_child(T, f, 0), l->slot, &rest);
        pr_term t = pr_add(T, pr_scale(T, value, k), rest);
        all = pr_and(T, all, pr_fits_here(c, NULL, pr_term_fits_kind(T, f), pr_term_bits(T, f), t));
    }
    return all;
}

/* Reads the bounds off `while (v pred limit) v += const`; p is probed. Null or the clause that fails. */
static const char *counted_by(pr_lower *c, probe *p, const pr_op *cmp)
{
    pr_terms *T = c->T;
    if (!cmp || cmp->opcode != PR_OP_ARITH_CMPI || cmp->block != p->pre)
        return "its condition is not a comparison of integers";
    int pred = (int)pr_op_attr_int(cmp, "predicate", -1), slot = -1, side = 0;
    if (pred < 0 || pred > PRED_UGE) return "its condition is not a comparison of integers";
    for (side = 0; side < 2 && slot < 0; side++)
        for (int i = 0; i < p->n && slot < 0; i++)
            if (cmp->operands[side] == p->pre->args[i] && p->holder[i]->kind == PR_VAL_INT &&
                pr_loop_invariant(c, p, pr_get(c, cmp->operands[1 - side])->term)) slot = i;
    limit l = { .slot = slot, .pred = side == 2 ? swapped(pred) : pred };
    pr_term_vec held_at = { 0 };
    if (slot >= 0) {
        const pr_val *to = pr_get(c, cmp->operands[2 - side]);
        if (to->kind != PR_VAL_INT || !pr_loop_invariant(c, p, to->held)) return "its limit changes";
        l.term = to->term;
        l.held = to->held;
        l.all = to->all;
    } else if (!linear_limit(c, p, pr_get(c, cmp->operands[0]), pr_get(c, cmp->operands[1]), pred, &l, &held_at)) {
        return "its condition does not compare a carried value with a fixed one";
    }
    slot = l.slot;
    pred = l.pred;
    pr_val *v0 = p->init[slot];
    pr_i128 by;
    pr_term step = p->yield[slot]->kind == PR_VAL_INT ? pr_sub(T, p->yield[slot]->term, p->holder[slot]->term) : PR_TERM_NONE;
    if (pr_term_none(step) || !pr_loop_invariant(c, p, step)) return "its counter does not move by a fixed amount";
    pr_interval way = pr_range(pr_lower_box(c, NULL), step);
    if (way.lo <= 0 && way.hi >= 0) return "its counter does not move in a known direction";
    bool fixed = pr_term_const(T, step, &by);
    if (!fixed) by = way.lo > 0 ? 1 : -1;
    int bits = pr_int_bits(v0->type);
    p->bounds_held = pr_and(T, v0->held, l.held);
    p->bound_ids = pr_ids_union(c, v0->all, l.all);
    if (pred == PRED_NE) {
        pr_i128 a, b;
        if (!fixed || !pr_term_const(T, v0->term, &a) || !pr_term_const(T, l.term, &b) || (b - a) % by || (b - a) / by < 0)
            return "it may step over its limit";
        pred = by > 0 ? PRED_SLT : PRED_SGT;
    }
    bool up = pred == PRED_SLT || pred == PRED_SLE || pred == PRED_ULT || pred == PRED_ULE;
    bool incl = pred == PRED_SLE || pred == PRED_ULE || pred == PRED_SGE || pred == PRED_UGE;
    if (pred == PRED_EQ || up != (by > 0)) return "its counter moves away from its limit";
    if (pred >= PRED_ULT)
        p->bounds_held = pr_and(T, p->bounds_held, pr_and(T, pr_fits_here(c, NULL, PR_FITS_NONNEG, bits, v0->term),
                                                          pr_fits_here(c, NULL, PR_FITS_NONNEG, bits, l.term)));
    pr_term end = incl ? pr_add(T, l.term, pr_const(T, up ? 1 : -1)) : l.term;
    if (incl) p->bounds_held = pr_and(T, p->bounds_held, pr_fits_here(c, NULL, PR_FITS_SIGNED, bits, end));
    p->lower = up ? v0->term : pr_neg(T, v0->term);
    p->upper = up ? end : pr_neg(T, end);
    p->step = up ? step : pr_neg(T, step);
    if (held_at.n) p->bounds_held = pr_and(T, p->bounds_held, held_with(c, p, &l, &held_at, v0->term));
    pr_loop_set_trip(c, p);
    p->increment_held = pr_loop_increment_fits(c, p, v0->term, step, bits);
    if (pred >= PRED_ULT && !up) /* below zero the counter reads as a large number and goes on */
        p->increment_held = pr_and(T, p->increment_held, pr_loop_last_value_fits(c, p, PR_FITS_NONNEG, v0->term, step, bits));
    if (held_at.n) {                          /* the last turn's comparison, which ends the loop */
        pr_term turns = pr_mul(T, pr_loop_trip(c, p), step);
        p->increment_held = pr_and(T, p->increment_held, held_with(c, p, &l, &held_at, pr_add(T, v0->term, turns)));
    }
    return NULL;
}

/* The same for a conjunction: one of its parts counts. The others end the loop earlier: what runs in turn k runs where they hold
 * there, but not everywhere (they held before, too), so its records are over-approximated and the turns are not known. */
static const char *counting_bounds(pr_lower *c, probe *p, const pr_op *cond)
{
    enum { MOST = 8 };
    const pr_value *part[MOST];
    int n = 1;
    part[0] = cond->operands[0];
    for (int i = 0; i < n;) {
        const pr_op *and = part[i]->def;
        if (n == MOST || !and || and->opcode != PR_OP_ARITH_ANDI || and->block != p->pre || pr_get(c, part[i])->kind != PR_VAL_BOOL) {
            i++;
            continue;
        }
        part[i] = and->operands[0];
        part[n++] = and->operands[1];
    }
    const char *why = NULL;
    for (int i = 0; i < n; i++) {
        const char *one = counted_by(c, p, part[i]->def);
        if (!why) why = one;
        if (one) continue;
        for (int j = 0; j < n; j++)
            if (j != i) p->more[p->n_more++] = pr_get(c, part[j]);
        return NULL;
    }
    return why;
}

/* The result of an addition that every turn makes and that may change its location: not a poll. */
typedef struct drawing { pr_lower *c; const probe *p; } drawing;
static bool is_drawn(void *user, const pr_terms *T, pr_term t)
{
    const drawing *d = user;
    if (pr_term_op_of(T, t) != PR_TERM_OP_APP || pr_term_sym(T, t).id < d->p->mark || pr_sym_get(T, pr_term_sym(T, t))->kind != PR_SYM_OBSERVED)
        return false;
    for (int i = 0; i < d->p->body->n_ops; i++) {
        const pr_op *op = d->p->body->ops[i];
        pr_i128 v;
        if (op->id != pr_sym_get(T, pr_term_sym(T, t))->op_id || op->opcode != PR_OP_TT_ATOMIC_RMW) continue;
        return pr_op_attr_int(op, "atomic_rmw_op", 0) == 4 && !(pr_val_const(d->c, pr_operand(d->c, op, 1), &v) && v == 0);
    }
    return false;
}

static bool is_this(void *user, const pr_terms *T, pr_term t)
{
    (void)T;
    return pr_term_is(t, *(const pr_term *)user);
}

/* Turns that are drawn: the condition looks at a carried value that an addition of the body returned in the turn before. How many
 * turns a program runs is open, so the loop gets any number of them, each under the condition. Needs no refusal: that holds for every
 * execution; what distinguishes the turns is what is known of the results (hb/sync_draw.c). */
static bool drawn_turns(pr_lower *c, probe *p, const pr_op *cond)
{
    static const pr_type i64 = { .kind = PR_TYPE_INT, .bits = 64 };
    const pr_val *k = pr_get(c, cond->operands[0]);
    bool found = false;
    if (k->kind != PR_VAL_BOOL || pr_term_none(k->term)) return false;
    for (int i = 0; i < p->n && !found; i++) {
        if (p->holder[i]->kind != PR_VAL_INT || p->yield[i]->kind != PR_VAL_INT || pr_term_none(p->yield[i]->term)) continue;
        drawing d = { c, p };
        found = pr_term_any(c->T, p->yield[i]->term, is_drawn, &d) && pr_term_any(c->T, k->term, is_this, &p->holder[i]->term) &&
                !pr_term_any(c->T, p->yield[i]->term, is_this, &p->holder[i]->term);
    }
    if (!found) return false;
    p->lower = PR_TERM_ZERO;
    p->upper = pr_val_opaque(c, p->op, &i64, NULL, 0, false, PR_REFUSAL_SPIN_SHAPE, "turns of a while loop")->term;
    p->step = pr_const(c->T, 1);
    p->bounds_held = p->increment_held = PR_TERM_TRUE;
    p->bound_ids = (pr_ids){ NULL, 0 };
    pr_loop_set_trip(c, p);
    p->more[0] = k;
    p->n_more = 1;
    p->drawn = true;
    return true;
}

static void widen(const pr_op *op, pr_free_loop *f)
{
    if (op->id < f->first) f->first = op->id;
    if (op->id > f->last) f->last = op->id;
    for (int r = 0; r < op->n_regions; r++)
        for (int b = 0; b < op->regions[r]->n_blocks; b++)
            for (int i = 0; i < op->regions[r]->blocks[b]->n_ops; i++) widen(op->regions[r]->blocks[b]->ops[i], f);
}

typedef struct origins { const pr_value **wait; int n; unsigned char *seen; } origins;

static void origin(origins *o, const pr_value *v)
{
    if (o->seen[v->id]) return;
    o->seen[v->id] = 1;
    o->wait[o->n++] = v;                       /* each value once */
}

/* Is v made of what a while loop hands from turn to turn? */
static bool of_turns(origins *o, const pr_value *v)
{
    origin(o, v);
    while (o->n) {
        v = o->wait[--o->n];
        if (!v->def) {
            if (v->block && v->block->region->op && v->block->region->op->opcode == PR_OP_SCF_WHILE) return true;
            continue;
        }
        for (int i = 0; i < v->def->n_operands; i++) origin(o, v->def->operands[i]);
        for (int r = 0; r < v->def->n_regions; r++) {
            const pr_block *b = pr_region_block(v->def->regions[r]);
            const pr_op *end = b ? pr_block_terminator(b) : NULL;
            for (int i = 0; end && i < end->n_operands; i++) origin(o, end->operands[i]);
        }
    }
    return false;
}

/* Does an atomic in the loop take a value or a place from the turns before? Then it is no poll that an unknown form of wait could be made of. */
static bool moves_on(const pr_lower *c, const pr_op *op)
{
    bool atomic = op->opcode == PR_OP_TT_ATOMIC_RMW || op->opcode == PR_OP_TT_ATOMIC_CAS;
    origins o = { 0 };
    if (atomic) {
        o.wait = PR_NEW_N(c->arena, const pr_value *, c->ir->n_values + 1);
        o.seen = PR_NEW_N(c->arena, unsigned char, c->ir->n_values + 1);
    }
    for (int i = 0; atomic && i < op->n_operands; i++)
        if (of_turns(&o, op->operands[i])) return true;
    for (int r = 0; r < op->n_regions; r++)
        for (int b = 0; b < op->regions[r]->n_blocks; b++)
            for (int i = 0; i < op->regions[r]->blocks[b]->n_ops; i++)
                if (moves_on(c, op->regions[r]->blocks[b]->ops[i])) return true;
    return false;
}

/* Neither counting nor followed: its accesses stand under a loop that runs any number of times. */
static void free_while(pr_lower *c, const pr_op *op, probe *p, const char *why)
{
    const pr_frame *frame = c->frame;
    pr_ids control = c->control;
    bool nested = c->in_while;
    static const pr_type i32 = { .kind = PR_TYPE_INT, .bits = 32 };
    pr_val *times = pr_val_opaque(c, op, &i32, NULL, 0, false, PR_REFUSAL_SPIN_SHAPE, "turns of a while loop");
    p->lower = PR_TERM_ZERO;
    p->upper = times->term;
    p->step = pr_const(c->T, 1);
    p->bounds_held = p->increment_held = PR_TERM_TRUE;
    pr_loop_set_trip(c, p);
    pr_loop_push(c, p);
    c->in_while = true;
    const pr_block *pre = pr_region_block(op->regions[0]), *body = pr_region_block(op->regions[1]);
    for (int i = 0; i < pre->n_args; i++)
        pr_bind(c, pre->args[i], pr_val_opaque(c, op, pre->args[i]->type, p->init, p->n, false,
                                               PR_REFUSAL_LOOP_VARIANT_ADVANCE, "a value carried through a while loop"));
    const pr_op *cond = pr_lower_block(c, pre);
    bool known = cond && cond->opcode == PR_OP_SCF_CONDITION;
    for (int i = 0; i < body->n_args; i++)
        pr_bind(c, body->args[i], known && 1 + i < cond->n_operands ? pr_operand(c, cond, 1 + i)
                : pr_val_opaque(c, op, body->args[i]->type, NULL, 0, false, PR_REFUSAL_LOOP_VARIANT_ADVANCE, NULL));
    if (known && pr_operand(c, cond, 0)->kind == PR_VAL_BOOL) {
        pr_val *k = pr_operand(c, cond, 0);
        pr_push_cond(c, cond, k->term, k->held, k->all);
    }
    pr_lower_block(c, body);
    c->n_iter--;
    c->frame = frame;
    c->control = control;
    c->in_while = nested;
    c->waited = true;
    int refusals = c->out->refusals.n;
    const char *await = known ? pr_await_clause(c, op, nested) : "its condition is not understood";
    pr_refuse(c, op, PR_REFUSAL_SPIN_SHAPE, "a while loop that does not count (%s) and does not wait (%s)", why, await ? await : "its poll is not followed");
    if (c->out->refusals.n > refusals) {
        c->out->refusals.data[refusals].unless_apart = moves_on(c, op);
        pr_free_loop f = { refusals, op->id, op->id };
        widen(op, &f);
        pr_vec_push(c->arena, &c->free_loops, f);
    }
    for (int i = 0; i < op->n_results; i++) {
        pr_val *from[1] = { known && 1 + i < cond->n_operands ? pr_operand(c, cond, 1 + i) : times };
        pr_val *r = pr_val_opaque(c, op, op->results[i]->type, from, 1, false, PR_REFUSAL_LOOP_VARIANT_ADVANCE, "result of a while loop");
        for (int k = 0; k <= p->n; k++) {
            const pr_val *v = k < p->n ? p->init[k] : from[0];
            pr_hand_on_perhaps(c, r, pr_ids_union(c, v->pos, pr_ids_named(c, v->carried)), NULL);
        }
        pr_result(c, op, i, r);
    }
}

void pr_sem_while(pr_lower *c, const pr_op *op)
{
    const pr_region *before = op->n_regions == 2 ? op->regions[0] : NULL, *after = before ? op->regions[1] : NULL;
    if (!before || before->n_blocks != 1 || after->n_blocks != 1 || c->n_iter + 1 >= PR_LOOP_DEPTH_MAX) {
        pr_loop_refuse(c, op, "a while loop of a form that is not followed");
        return;
    }
    if (pr_sem_await(c, op)) return;
    probe *p = PR_NEW(c->arena, probe);
    p->op = op;
    p->pre = before->blocks[0];
    p->body = after->blocks[0];
    p->n = op->n_operands;
    p->trip = -1;
    p->k_most = ((pr_i128)1 << 63) - 1;
    p->init = PR_NEW_N(c->arena, pr_val *, p->n + 1);
    for (int i = 0; i < p->n; i++) p->init[i] = pr_operand(c, op, i);
    const pr_op *cond = pr_block_terminator(p->pre);
    const char *why = NULL;
    bool probed = false;
    if (!cond || cond->opcode != PR_OP_SCF_CONDITION || !p->n) why = "it carries no counter";
    else if (!passes_on(c, p, cond))
        why = "its condition passes on other values";
    else if (pr_region_touches_memory(c->ir, before)) why = "its condition touches memory";
    else if (!(probed = pr_loop_probe_body(c, p))) why = "its body is not understood";
    else why = counting_bounds(c, p, cond);
    if (why && probed && drawn_turns(c, p, cond)) why = NULL;
    if (why) free_while(c, op, p, why);
    else pr_loop_finish(c, op, p);
    if (p->drawn) c->waited = true;        /* it need not end */
}
