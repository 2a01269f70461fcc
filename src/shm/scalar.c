/* What does a scalar operation compute? Machine integers as terms: constants, and all values of at most 16 bits (which loops do
 * count beyond), wrap at their printed width; other values are taken to fit (prog->assumes_no_overflow says so). */
#include "shm/walk.h"
#include "term/range.h"

enum { NARROW = 16, RING = 16 };

static int bits_of(const pr_value *v)
{
    const pr_type *t = v ? v->type : NULL;
    if (!t || (t->kind != PR_TYPE_INT && t->kind != PR_TYPE_INDEX)) return 0;
    return t->kind == PR_TYPE_INDEX ? 64 : t->bits;
}

static pr_term as_int(pr_walk *w, pr_term t)
{
    return !pr_term_none(t) && pr_term_is_bool(w->T, t) ? pr_bool_to_int(w->T, t) : t;
}

/* t as a number of so few bits, whose least value is lo. */
static pr_term wrapped(pr_walk *w, pr_term t, int bits, pr_i128 lo)
{
    pr_i128 n = (pr_i128)1 << bits;
    pr_interval r = pr_range_own(w->T, t);
    if (r.lo >= lo && r.hi < lo + n) return t;
    pr_term from = pr_fmod_t(w->T, pr_sub(w->T, t, pr_const(w->T, lo)), pr_const(w->T, n));
    return pr_add(w->T, from, pr_const(w->T, lo));
}

/* Bounds known whatever is launched, and beyond so many bits: then it wraps at some of its values, not only at huge arguments. */
static bool surely_leaves(pr_walk *w, pr_term t, int bits)
{
    pr_interval r = pr_range_own(w->T, t);
    pr_i128 far = (pr_i128)1 << 62, half = (pr_i128)1 << (bits - 1);
    return bits <= 32 && r.lo > -far && r.hi < far && (r.lo < -half || r.hi >= half);
}

static void set(pr_walk *w, const pr_op *op, pr_term t)
{
    int bits = bits_of(op->results[0]);
    pr_i128 v;
    if (pr_term_none(t) || !bits) {
        pr_walk_set(w, op->results[0], pr_walk_opaque());
        return;
    }
    if (bits == 1) {
        if (!pr_term_is_bool(w->T, t))
            t = pr_eq(w->T, pr_fmod_t(w->T, t, pr_const(w->T, 2)), pr_const(w->T, 1));
    } else {
        t = as_int(w, t);
        if (pr_term_const(w->T, t, &v)) t = pr_const(w->T, pr_wrap_signed(v, bits));
        else if (bits <= NARROW || surely_leaves(w, t, bits)) t = wrapped(w, t, bits, -((pr_i128)1 << (bits - 1)));
        else w->p->assumes_no_overflow = true;
    }
    pr_walk_set(w, op->results[0], pr_walk_term(t));
}

void pr_walk_scale(pr_walk *w, pr_i128 v)
{
    bool known = false;
    for (int i = 0; i < w->p->scales.n; i++) known = known || w->p->scales.data[i] == (int64_t)v;
    if (!known && v > 1 && v < 1 << 20 && w->p->scales.n < 8) pr_vec_push(w->p->arena, &w->p->scales, (int64_t)v);
}

pr_i128 pr_walk_content(pr_walk *w, pr_term b)
{
    pr_i128 v = 0, g = 0;
    if (pr_term_const(w->T, b, &v)) return v;
    if (pr_term_op_of(w->T, b) != PR_TERM_OP_SUM || pr_term_value(w->T, b)) return 1;
    for (int i = 0; i < pr_term_arity(w->T, b); i++) g = pr_gcd(g, pr_term_coef(w->T, b, i));
    return g;
}

/* Does a loop go in steps of v? Then its number of iterations is a quotient that others are compared with. */
static bool is_step(const pr_region *r, pr_i128 v)
{
    for (int b = 0; b < r->n_blocks; b++) {
        for (int i = 0; i < r->blocks[b]->n_ops; i++) {
            const pr_op *op = r->blocks[b]->ops[i], *step = op->opcode == PR_OP_SCF_FOR && op->n_operands > 2 ? op->operands[2]->def : NULL;
            const pr_attr *a = step && step->opcode == PR_OP_ARITH_CONSTANT ? pr_op_attr(step, "value") : NULL;
            if (a && a->kind == PR_ATTR_INT && !a->too_wide && a->integer == v) return true;
            for (int k = 0; k < op->n_regions; k++)
                if (is_step(op->regions[k], v)) return true;
        }
    }
    return false;
}

typedef struct asked { pr_walk *w; bool other; } asked;
static void look(void *user, pr_term t)
{
    asked *a = user;
    if (pr_term_op_of(a->w->T, t) != PR_TERM_OP_VAR) return;
    pr_var v = pr_term_var(a->w->T, t);
    for (int i = 0; i < a->w->p->params.n; i++)
        if (a->w->p->params.data[i].var.id == v.id) return;
    a->other = true;
}

/* A term over launch values alone. */
bool pr_walk_invariant(pr_walk *w, pr_term t)
{
    asked a = { w, false };
    pr_term_visit(w->T, t, look, &a);
    return !a.other;
}

/* A launch value of its own for the result of op: equal operations on equal values are equal. What it is in truth is kept for Z3. */
static pr_term own_value(pr_walk *w, const pr_op *op, pr_term a, pr_term b, pr_term exact)
{
    for (int i = 0; i < w->cuts.n; i++) {
        const pr_cut *c = &w->cuts.data[i];
        if (c->opcode == op->opcode && c->a.id == a.id && c->b.id == b.id) return c->value;
    }
    pr_var_info info = { .role = PR_ROLE_OTHER, .index = 1000 + w->cuts.n, .copy = PR_COPY_NONE, .lo = -PR_INF,
                         .hi = PR_INF, .name = pr_arena_printf(w->arena, "u%d", w->cuts.n) };
    pr_var var = pr_var_new(w->T, info);
    pr_shm_param param = { .var = var, .name = op->results[0]->name };
    pr_vec_push(w->p->arena, &w->p->params, param);
    pr_cut c = { op->opcode, a, b, PR_TERM_NONE, pr_var_term(w->T, var) };
    pr_vec_push(w->arena, &w->cuts, c);
    bool product = op->opcode == PR_OP_ARITH_MULI || op->opcode == PR_OP_ARITH_ANDI || op->opcode == PR_OP_ARITH_ORI || op->opcode == PR_OP_ARITH_XORI;
    pr_shm_def def = { c.value, exact, product ? PR_TERM_NONE : b };
    if (!pr_term_none(exact)) pr_vec_push(w->p->arena, &w->p->defs, def);
    return c.value;
}

/* A result the proof takes as a launch value of its own: outside loops; inside them where no relation can hold it and it is the
 * same in every iteration. In concrete walks, and where the divisor is small or the step of a loop, the term itself. */
static pr_term cut(pr_walk *w, const pr_op *op, pr_term a, pr_term b, pr_term exact)
{
    pr_i128 v;
    if (!w->concrete && !w->n_loops && !pr_term_none(b)) pr_walk_scale(w, pr_walk_content(w, b));
    if (w->concrete || pr_term_none(a) || pr_term_none(b)) return exact;
    if (!pr_term_none(exact) && pr_term_const(w->T, exact, &v)) return exact;
    bool fixed = op->opcode != PR_OP_ARITH_MULI && pr_term_const(w->T, b, &v) && v > 0;
    if (fixed && (v <= RING || is_step(w->p->func->regions[0], v))) return exact;
    if (w->n_loops && (pr_term_const(w->T, b, &v) || !pr_walk_invariant(w, a) || !pr_walk_invariant(w, b))) return exact;
    return own_value(w, op, a, b, exact);
}

/* The same for bit operations that terms know as nothing simpler. */
static pr_term bits(pr_walk *w, const pr_op *op, pr_term a, pr_term b, pr_term exact)
{
    pr_term_op kind = pr_term_none(exact) ? PR_TERM_OP_NONE : pr_term_op_of(w->T, exact);
    bool opaque = kind == PR_TERM_OP_BAND || kind == PR_TERM_OP_BOR || kind == PR_TERM_OP_BXOR;
    return w->concrete || !opaque || !pr_walk_invariant(w, a) || !pr_walk_invariant(w, b) ? exact : own_value(w, op, a, b, exact);
}

static bool is_const(pr_walk *w, pr_term t)
{
    pr_i128 v;
    return pr_term_const(w->T, t, &v);
}

static pr_term ceil_div(pr_terms *T, pr_term a, pr_term b)
{
    return pr_neg(T, pr_fdiv_t(T, pr_neg(T, a), b));
}

/* An unsigned reading: exact for constants and few bits, else assumed not negative. */
pr_term pr_walk_unsigned(pr_walk *w, pr_term t, int bits)
{
    pr_i128 v;
    if (pr_term_const(w->T, t, &v)) return v < 0 ? pr_const(w->T, v + ((pr_i128)1 << bits)) : t;
    if (bits && bits <= NARROW) return wrapped(w, t, bits, 0);
    w->p->assumes_nonneg = true;
    return t;
}

static void look_for_state(void *user, pr_term t)
{
    asked *a = user;
    if (pr_term_op_of(a->w->T, t) != PR_TERM_OP_VAR) return;
    const pr_var_info *v = pr_var_get(a->w->T, pr_term_var(a->w->T, t));
    a->other = a->other || (v->role == PR_ROLE_OTHER && v->index >= PR_SHM_STATES && v->index < PR_SHM_STATES + a->w->n_states);
}

static bool is_shift(const pr_op *op)
{
    return op->opcode == PR_OP_ARITH_SHLI || op->opcode == PR_OP_ARITH_SHRSI || op->opcode == PR_OP_ARITH_SHRUI;
}

/* A shift by a carried amount was taken to be by less than the width, to find out what is carried. Where that does not show afterwards
 * nothing is known of the kernel: such a shift has no value. */
static void settle_shift(pr_walk *w, const pr_op *op, bool inside)
{
    bool known = inside || !w->emit || w->concrete;
    for (int i = 0; i < w->shifts.n && !known; i++) {
        if (w->shifts.data[i] != op) continue;
        pr_shm_refuse(w->p, &w->model->refusals, PR_REFUSAL_DATA_DEPENDENT_SYNC, op, "a shift by an amount that may be negative, or the width of the value or more");
        return;
    }
}

/* A shift by an amount that varies: one case for each amount. NONE where it may be negative or not below the width. */
static pr_term shifted(pr_walk *w, const pr_op *op, pr_term a, pr_term by, int bits)
{
    pr_interval r = pr_range_own(w->T, by);
    asked state = { w, false };
    pr_term t = PR_TERM_NONE;
    if (r.lo < 0 || r.hi >= bits) {
        pr_term_visit(w->T, by, look_for_state, &state);
        if (w->emit || !state.other) return PR_TERM_NONE;
        pr_vec_push(w->arena, &w->shifts, op);
    }
    for (int j = bits - 1; j >= 0; j--) {
        if (j < r.lo || j > r.hi) continue;
        pr_term one = op->opcode == PR_OP_ARITH_SHLI ? wrapped(w, pr_scale(w->T, a, (pr_i128)1 << j), bits, -((pr_i128)1 << (bits - 1)))
                                                     : pr_fdiv_t(w->T, a, pr_const(w->T, (pr_i128)1 << j));
        t = pr_term_none(t) ? one : pr_select(w->T, pr_eq(w->T, by, pr_const(w->T, j)), one, t);
    }
    return t;
}

static pr_term binary(pr_walk *w, const pr_op *op, pr_term a, pr_term b, int width)
{
    pr_terms *T = w->T;
    bool boolean = pr_term_is_bool(T, a) && pr_term_is_bool(T, b);
    pr_term ai = as_int(w, a), bi = as_int(w, b);
    pr_i128 v = 0;
    bool fixed = pr_term_const(T, bi, &v);
    switch (op->opcode) {
    case PR_OP_ARITH_ADDI: return boolean ? pr_ne(T, ai, bi) : pr_add(T, ai, bi);
    case PR_OP_ARITH_SUBI: return boolean ? pr_ne(T, ai, bi) : pr_sub(T, ai, bi);
    case PR_OP_ARITH_MULI:
        if (boolean) return pr_and(T, a, b);
        return fixed || is_const(w, ai) ? pr_mul(T, ai, bi) : cut(w, op, ai, bi, pr_mul(T, ai, bi));
    case PR_OP_ARITH_DIVSI: return fixed && !v ? PR_TERM_NONE : cut(w, op, ai, bi, pr_tdiv_t(T, ai, bi));
    case PR_OP_ARITH_REMSI: return fixed && !v ? PR_TERM_NONE : cut(w, op, ai, bi, pr_trem_t(T, ai, bi));
    case PR_OP_ARITH_FLOORDIVSI: return fixed && !v ? PR_TERM_NONE : cut(w, op, ai, bi, pr_fdiv_t(T, ai, bi));
    case PR_OP_ARITH_CEILDIVSI: return fixed && v <= 0 ? PR_TERM_NONE : cut(w, op, ai, bi, ceil_div(T, ai, bi));
    case PR_OP_ARITH_DIVUI: case PR_OP_ARITH_REMUI: {
        if (fixed && !v) return PR_TERM_NONE;
        pr_term ua = pr_walk_unsigned(w, ai, width), ub = pr_walk_unsigned(w, bi, width);
        return cut(w, op, ua, ub, op->opcode == PR_OP_ARITH_DIVUI ? pr_fdiv_t(T, ua, ub) : pr_fmod_t(T, ua, ub));
    }
    case PR_OP_ARITH_CEILDIVUI:
        if (fixed && v <= 0) return PR_TERM_NONE;
        ai = pr_walk_unsigned(w, ai, width);
        return cut(w, op, ai, bi, ceil_div(T, ai, pr_walk_unsigned(w, bi, width)));
    case PR_OP_ARITH_MAXSI: return pr_max(T, ai, bi);
    case PR_OP_ARITH_MINSI: return pr_min(T, ai, bi);
    case PR_OP_ARITH_MAXUI: return pr_max(T, pr_walk_unsigned(w, ai, width), pr_walk_unsigned(w, bi, width));
    case PR_OP_ARITH_MINUI: return pr_min(T, pr_walk_unsigned(w, ai, width), pr_walk_unsigned(w, bi, width));
    case PR_OP_ARITH_ANDI: return boolean ? pr_and(T, a, b) : bits(w, op, ai, bi, pr_band(T, ai, bi));
    case PR_OP_ARITH_ORI: return boolean ? pr_or(T, a, b) : bits(w, op, ai, bi, pr_bor(T, ai, bi));
    case PR_OP_ARITH_XORI: return boolean ? pr_ne(T, ai, bi) : bits(w, op, ai, bi, pr_bxor(T, ai, bi));
    case PR_OP_ARITH_SHLI: case PR_OP_ARITH_SHRSI: case PR_OP_ARITH_SHRUI: {
        if (fixed && (v < 0 || v > 62 || v >= width)) return PR_TERM_NONE;
        if (fixed && op->opcode == PR_OP_ARITH_SHLI) return pr_scale(T, ai, (pr_i128)1 << v);
        if (op->opcode == PR_OP_ARITH_SHRUI) ai = pr_walk_unsigned(w, ai, width);
        if (!fixed) return width && width <= 32 ? shifted(w, op, ai, bi, width) : PR_TERM_NONE;
        return cut(w, op, ai, pr_const(T, (pr_i128)1 << v), pr_fdiv_t(T, ai, pr_const(T, (pr_i128)1 << v)));
    }
    default: return PR_TERM_NONE;
    }
}

static pr_term compare(pr_walk *w, const pr_op *op, pr_term a, pr_term b, int bits)
{
    pr_terms *T = w->T;
    int how = (int)pr_op_attr_int(op, "predicate", -1);
    bool boolean = pr_term_is_bool(T, a);
    a = as_int(w, a);
    b = as_int(w, b);
    if (boolean && how > 1 && how < 6) {             /* signed i1: true is -1 */
        a = pr_neg(T, a);
        b = pr_neg(T, b);
    } else if (how >= 6) {
        a = pr_walk_unsigned(w, a, bits);
        b = pr_walk_unsigned(w, b, bits);
        how -= 4;
    }
    switch (how) {
    case 0: return pr_eq(T, a, b);
    case 1: return pr_ne(T, a, b);
    case 2: return pr_lt(T, a, b);
    case 3: return pr_le(T, a, b);
    case 4: return pr_lt(T, b, a);
    case 5: return pr_le(T, b, a);
    default: return PR_TERM_NONE;
    }
}

static bool constant(pr_walk *w, const pr_op *op)
{
    const pr_attr *a = pr_op_attr(op, "value");
    if (a && a->kind == PR_ATTR_BOOL) set(w, op, pr_bool(a->boolean));
    else if (a && a->kind == PR_ATTR_INT && !a->too_wide) set(w, op, pr_const(w->T, a->integer));
    else pr_walk_set(w, op->results[0], pr_walk_opaque());
    return true;
}

static bool select(pr_walk *w, const pr_op *op)
{
    pr_sv c = pr_walk_get(w, op->operands[0]), a = pr_walk_get(w, op->operands[1]),
          b = pr_walk_get(w, op->operands[2]), r = pr_walk_opaque();
    if (c.kind == PR_SV_TERM && pr_term_is(c.t, PR_TERM_TRUE)) r = a;
    else if (c.kind == PR_SV_TERM && pr_term_is(c.t, PR_TERM_FALSE)) r = b;
    else if (c.kind == PR_SV_TERM && a.kind == PR_SV_TERM && b.kind == PR_SV_TERM) {
        r = pr_walk_term(pr_select(w->T, c.t, a.t, b.t));
    } else r = pr_walk_either(w, c.kind == PR_SV_TERM ? c.t : PR_TERM_NONE, &a, &b);
    pr_walk_set(w, op->results[0], r);
    return true;
}

bool pr_walk_scalar(pr_walk *w, const pr_op *op)
{
    if (op->n_results != 1) return false;
    if (op->opcode == PR_OP_ARITH_CONSTANT) return constant(w, op);
    if (op->opcode == PR_OP_ARITH_SELECT) return select(w, op);
    if (op->opcode == PR_OP_TT_GET_PROGRAM_ID || op->opcode == PR_OP_TT_GET_NUM_PROGRAMS) {
        static const char *const names[] = { "pid_x", "pid_y", "pid_z", "programs_x", "programs_y", "programs_z" };
        int axis = (int)pr_op_attr_int(op, "axis", 0);
        if (axis < 0 || axis > 2) return false;
        bool number = op->opcode == PR_OP_TT_GET_PROGRAM_ID;
        const pr_shm_binding *b = w->p->bound && w->p->bound->grid_known ? w->p->bound : NULL;
        if (b && (!number || b->grid[axis] == 1)) {
            pr_walk_set(w, op->results[0], pr_walk_term(pr_const(w->T, number ? 0 : b->grid[axis])));
            return true;
        }
        pr_sv leaf = pr_walk_leaf(w, NULL, NULL, names[axis + (number ? 0 : 3)], false);
        pr_walk_set(w, op->results[0], leaf);
        if (b && !w->concrete) {                     /* holds from here on */
            pr_vec_push(w->arena, &w->path, pr_le(w->T, PR_TERM_ZERO, leaf.t));
            pr_vec_push(w->arena, &w->path, pr_lt(w->T, leaf.t, pr_const(w->T, b->grid[axis])));
        }
        return true;
    }
    int bits = bits_of(op->results[0]);
    if (!bits || op->n_operands < 1) return false;
    pr_sv a = pr_walk_get(w, op->operands[0]);
    if (a.kind != PR_SV_TERM && is_shift(op)) settle_shift(w, op, false);
    if (a.kind != PR_SV_TERM) return false;
    switch (op->opcode) {
    case PR_OP_ARITH_EXTSI:
        set(w, op, pr_term_is_bool(w->T, a.t) ? pr_neg(w->T, pr_bool_to_int(w->T, a.t)) : a.t);
        return true;
    case PR_OP_ARITH_EXTUI:
        set(w, op, pr_term_is_bool(w->T, a.t) ? a.t : pr_walk_unsigned(w, a.t, bits_of(op->operands[0])));
        return true;
    case PR_OP_ARITH_INDEX_CAST: case PR_OP_ARITH_TRUNCI: set(w, op, a.t); return true;
    default: break;
    }
    if (op->n_operands != 2) return false;
    pr_sv b = pr_walk_get(w, op->operands[1]);
    int in = bits_of(op->operands[0]);
    if (is_shift(op)) {
        pr_interval r = b.kind == PR_SV_TERM ? pr_range_own(w->T, as_int(w, b.t)) : (pr_interval){ -1, -1 };
        settle_shift(w, op, r.lo >= 0 && r.hi < in);
    }
    if (b.kind != PR_SV_TERM) return false;
    pr_term t = op->opcode == PR_OP_ARITH_CMPI ? compare(w, op, a.t, b.t, in) : binary(w, op, a.t, b.t, in);
    if (pr_term_none(t)) return false;
    set(w, op, !w->concrete && op->opcode == PR_OP_ARITH_CMPI ? pr_walk_in_steps(w, t) : t);
    return true;
}
