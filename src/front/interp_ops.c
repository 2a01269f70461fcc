/* What is the value of a pure operation that works lane by lane? */
#include "front/interp_core.h"

bool pr_op_is_lanewise(int opcode)
{
    switch (opcode) {
    case PR_OP_TT_ADDPTR: case PR_OP_TT_BITCAST: case PR_OP_TT_CLAMPF: case PR_OP_TT_FP_TO_FP:
    case PR_OP_TT_INT_TO_PTR: case PR_OP_TT_PTR_TO_INT: case PR_OP_TT_MULHIUI:
    case PR_OP_TT_PRECISE_DIVF: case PR_OP_TT_PRECISE_SQRT: case PR_OP_TT_EXTERN_ELEMENTWISE:
        return true;
    case PR_OP_ARITH_CONSTANT: return false;
    default: break;
    }
    const char *name = pr_opcode_name(opcode);
    return name[0] == 'a' ? !strncmp(name, "arith.", 6) : name[0] == 'm' && !strncmp(name, "math.", 5);
}

/* Lanes the result depends on and reads it is computed from: those of the operands of its shape. */
static void inherit(pr_machine *m, const pr_op *op, const pr_value *result, pr_ival *v)
{
    int64_t n = pr_type_count(result->type);
    bool uniform = v->form == PR_IVAL_SPLAT && pr_bits_of(result->type) != 1;
    for (int i = 0; i < op->n_operands; i++) {
        const pr_type *t = op->operands[i]->type;
        bool same = t && t->kind == result->type->kind && pr_type_count(t) == n &&
                    t->rank == result->type->rank;
        if (t && t->kind != PR_TYPE_TENSOR && result->type->kind != PR_TYPE_TENSOR) same = true;
        for (int d = 0; same && d < t->rank && t->kind == PR_TYPE_TENSOR; d++)
            same = t->shape[d] == result->type->shape[d];
        const pr_ival *a = pr_im_get(m, op->operands[i]);
        if (!uniform) v->dims |= a->dims;
        if (same && m->setup.track_deps) v->deps = pr_iset_union(m, v->deps, a->deps);
    }
}

static void set_result(pr_machine *m, const pr_op *op, int i, pr_ival v)
{
    if (op->results[i]->type && !m->lane) inherit(m, op, op->results[i], &v);
    pr_im_set(m, op->results[i], v);
}

void pr_im_set_unknown(pr_machine *m, const pr_op *op)
{
    for (int i = 0; i < op->n_results; i++) pr_im_set(m, op->results[i], pr_ival_unknown());
}

static pr_ival map_unary(pr_machine *m, int opcode, int from, int to, const pr_ival *a, int64_t n)
{
    uint64_t x, r = 0;
    if (!from || !to || a->form == PR_IVAL_UNKNOWN || !pr_arith_unary(opcode, from, to, 0, &r))
        return pr_ival_unknown();
    if (a->form == PR_IVAL_SPLAT) {
        pr_arith_unary(opcode, from, to, a->x, &r);
        return pr_ival_const(r);
    }
    pr_im_spend(m, n);
    pr_itile *t = pr_itile_new(m, n, false);
    for (int64_t i = 0; i < n; i++) {
        t->known[i] = pr_ival_at(a, i, &x);
        pr_arith_unary(opcode, from, to, x, &t->x[i]);
    }
    return pr_ival_of_tile(m, t, -1, a->dims, to == 1);
}

typedef struct pr_binary { int opcode, w, predicate, scale; bool is_bool; } pr_binary;

/* One lane; false = unknown. scale > 0: pointer plus signed offset times scale. */
static bool binary_at(const pr_binary *f, bool ka, uint64_t a, bool kb, uint64_t b, uint64_t *r, bool *ub)
{
    if (ka && kb) {
        if (f->scale) *r = a + (uint64_t)pr_bits_signed(b, f->w) * (uint64_t)f->scale;
        else if (f->opcode == PR_OP_ARITH_CMPI) *r = pr_arith_compare(f->predicate, f->w, a, b);
        else return pr_arith_binary(f->opcode, f->w, a, b, r, ub);
        return true;
    }
    *r = 0;
    if (f->scale) return false;
    return (ka && pr_arith_absorbs(f->opcode, f->w, a, r)) || (kb && pr_arith_absorbs(f->opcode, f->w, b, r));
}

/* All lanes of an operation that always has a value, both operands known everywhere; false: another operation. The
 * cases are those of binary_at and pr_arith_binary, with the choice of the operation outside of the loop. */
static bool map_known(const pr_binary *f, const pr_ival *a, const pr_ival *b, int64_t n, uint64_t *r)
{
    const uint64_t *x = a->form == PR_IVAL_TILE ? a->tile->x : &a->x, *y = b->form == PR_IVAL_TILE ? b->tile->x : &b->x;
    const int64_t i = a->form == PR_IVAL_TILE, j = b->form == PR_IVAL_TILE;    /* steps: a splat stays where it is */
    const uint64_t mask = pr_bits_mask(f->w);
    const int up = f->w < 64 ? 64 - f->w : 0;      /* the sign to the top */
#define LANES(value) for (int64_t k = 0; k < n; k++, x += i, y += j) r[k] = (value)
    if (f->scale) LANES(*x + (uint64_t)pr_bits_signed(*y, f->w) * (uint64_t)f->scale);
    else if (f->opcode == PR_OP_ARITH_CMPI && f->predicate == 2) LANES((int64_t)(*x << up) < (int64_t)(*y << up));
    else if (f->opcode == PR_OP_ARITH_CMPI) LANES(pr_arith_compare(f->predicate, f->w, *x, *y));
    else if (f->opcode == PR_OP_ARITH_ADDI) LANES((*x + *y) & mask);
    else if (f->opcode == PR_OP_ARITH_SUBI) LANES((*x - *y) & mask);
    else if (f->opcode == PR_OP_ARITH_MULI) LANES((*x * *y) & mask);
    else if (f->opcode == PR_OP_ARITH_ANDI) LANES(*x & *y & mask);
    else if (f->opcode == PR_OP_ARITH_ORI) LANES((*x | *y) & mask);
    else return false;
#undef LANES
    return true;
}

static bool known_everywhere(const pr_ival *v)
{
    return v->form == PR_IVAL_SPLAT || (v->form == PR_IVAL_TILE && !v->tile->known);
}

static pr_ival map_binary(pr_machine *m, const pr_op *op, const pr_binary *f, const pr_ival *a,
                          const pr_ival *b, int64_t n)
{
    uint64_t x, y, r = 0;
    bool ub = false;
    pr_ival v = pr_ival_unknown();
    if (f->w == 0) return v;
    if (a->form != PR_IVAL_TILE && b->form != PR_IVAL_TILE) {
        bool ka = pr_ival_at(a, 0, &x), kb = pr_ival_at(b, 0, &y);
        if (binary_at(f, ka, x, kb, y, &r, &ub)) v = pr_ival_const(r);
    } else {
        pr_im_spend(m, n);
        bool bases = f->scale && a->form == PR_IVAL_TILE && a->tile->base;
        pr_itile *t = pr_itile_new(m, n, bases);
        bool done = !bases && known_everywhere(a) && known_everywhere(b) && map_known(f, a, b, n, t->x);
        for (int64_t i = 0; i < n && !done; i++) {
            bool ka = pr_ival_at(a, i, &x), kb = pr_ival_at(b, i, &y);
            t->known[i] = binary_at(f, ka, x, kb, y, &t->x[i], &ub);
            if (!t->known[i]) t->x[i] = 0;
            if (bases) t->base[i] = (int16_t)pr_ival_base_at(a, i);
        }
        v = pr_ival_of_tile(m, t, f->scale ? a->base : -1, a->dims | b->dims, f->is_bool);
    }
    if (f->scale && v.base < 0 && !(v.tile && v.tile->base)) v.base = a->base;
    if (ub) pr_im_ub(m, op);
    return v;
}

static pr_ival select_value(pr_machine *m, const pr_op *op, const pr_ival *c, const pr_ival *a, const pr_ival *b, int64_t n)
{
    bool is_bool = pr_bits_of(op->results[0]->type) == 1;
    pr_ival v;
    if (c->form == PR_IVAL_SPLAT) {
        v = pr_ival_keep(*((c->x & 1) ? a : b));
    } else if (c->form == PR_IVAL_UNKNOWN) {
        v = pr_ival_merge(m, a, b, n, is_bool);
    } else {
        pr_im_spend(m, n);
        pr_itile *t = pr_itile_new(m, n, true);
        for (int64_t i = 0; i < n; i++) {
            uint64_t k, x, y;
            bool kc = pr_ival_at(c, i, &k), ka = pr_ival_at(a, i, &x), kb = pr_ival_at(b, i, &y);
            int p = pr_ival_base_at(a, i), q = pr_ival_base_at(b, i);
            bool take = k & 1;
            t->known[i] = kc ? (take ? ka : kb) : ka && kb && x == y && p == q;
            t->x[i] = !t->known[i] ? 0 : kc ? (take ? x : y) : x;
            t->base[i] = (int16_t)(kc ? (take ? p : q) : p == q ? p : -1);
        }
        v = pr_ival_of_tile(m, t, -1, a->dims | b->dims | c->dims, is_bool);
    }
    return pr_ival_without_deps(m, v);
}

static pr_ival constant_value(pr_machine *m, const pr_op *op, int64_t lane)
{
    const pr_type *t = op->results[0]->type;
    const pr_attr *a = pr_op_attr(op, "value");
    int w = pr_bits_of(t);
    if (m->setup.floats && pr_float_type(t)) return pr_float_constant(op);
    if (!a || !w) return pr_ival_unknown();
    if (a->kind == PR_ATTR_BOOL) return pr_ival_const(a->boolean);
    if (a->kind == PR_ATTR_INT && !a->too_wide)
        return pr_ival_const((uint64_t)a->integer & pr_bits_mask(w));
    if (a->kind != PR_ATTR_DENSE || !a->dense_known || a->n_ints < 1) return pr_ival_unknown();
    if (a->n_ints == 1) return pr_ival_const((uint64_t)a->ints[0] & pr_bits_mask(w));
    int64_t n = pr_type_count(t);
    if (a->n_ints != n) return pr_ival_unknown();
    if (lane >= 0) return pr_ival_const((uint64_t)a->ints[lane] & pr_bits_mask(w));
    pr_im_spend(m, n);
    pr_itile *tile = pr_itile_new(m, n, false);
    for (int64_t i = 0; i < n; i++) tile->x[i] = (uint64_t)a->ints[i] & pr_bits_mask(w);
    return pr_ival_of_tile(m, tile, -1, pr_type_dims(t), w == 1);
}

/* The double-width operations: result 0 is the low half, result 1 the carry or the high half. */
static void extended(pr_machine *m, const pr_op *op)
{
    const pr_ival *a = pr_im_get(m, op->operands[0]), *b = pr_im_get(m, op->operands[1]);
    int64_t n = pr_type_count(op->results[0]->type);
    int w = pr_bits_of(op->results[0]->type);
    bool add = op->opcode == PR_OP_ARITH_ADDUI_EXTENDED;
    if (!w || op->n_results != 2) {
        pr_im_set_unknown(m, op);
        return;
    }
    pr_im_spend(m, 2 * n);
    pr_itile *low = pr_itile_new(m, n, false), *high = pr_itile_new(m, n, false);
    for (int64_t i = 0; i < n; i++) {
        uint64_t x, y;
        bool known = pr_ival_at(a, i, &x);
        known = pr_ival_at(b, i, &y) && known;
        pr_u128 p = 0;
        if (add) p = (pr_u128)x + y;
        else if (op->opcode == PR_OP_ARITH_MULUI_EXTENDED) p = (pr_u128)x * y;
        else p = (pr_u128)((pr_i128)pr_bits_signed(x, w) * pr_bits_signed(y, w));
        low->known[i] = high->known[i] = known;
        low->x[i] = known ? (uint64_t)p & pr_bits_mask(w) : 0;
        high->x[i] = known ? (uint64_t)(p >> w) & pr_bits_mask(add ? 1 : w) : 0;
    }
    set_result(m, op, 0, pr_ival_of_tile(m, low, -1, 0, w == 1));
    set_result(m, op, 1, pr_ival_of_tile(m, high, -1, 0, add || w == 1));
}

static pr_ival cast_value(pr_machine *m, const pr_op *op, const pr_ival *a, int64_t n)
{
    const pr_type *from = pr_type_scalar(op->operands[0]->type), *to = pr_type_scalar(op->results[0]->type);
    bool pf = from->kind == PR_TYPE_POINTER, pt = to->kind == PR_TYPE_POINTER;
    if (pf || pt) { /* pointer to pointer, to a 64-bit integer and back: the address stays */
        if (!pf && pr_bits_of(from) != 64) return pr_ival_unknown();
        if (!pt && pr_bits_of(to) != 64) return pr_ival_unknown();
        return pr_ival_without_deps(m, pr_ival_keep(*a));
    }
    int f = pr_bits_of(from), t = pr_bits_of(to);
    bool bitcast = op->opcode == PR_OP_ARITH_BITCAST || op->opcode == PR_OP_TT_BITCAST;
    if (bitcast && f != t) return pr_ival_unknown();
    return map_unary(m, op->opcode, f, t, a, n);
}

/* Of all lanes, or of one. */
static pr_ival lanewise_value(pr_machine *m, const pr_op *op)
{
    const pr_type *rt = op->results[0]->type;
    if (m->setup.floats && pr_op_is_float(op)) return pr_im_float(m, op);
    int64_t lane = pr_im_lane(m, op), n = lane < 0 ? pr_type_count(rt) : 1;
    const pr_ival *v[3] = {0};
    pr_ival at[3];
    for (int i = 0; i < op->n_operands && i < 3; i++) {
        v[i] = pr_im_get(m, op->operands[i]);
        if (lane < 0 || v[i]->form != PR_IVAL_TILE) continue;
        at[i] = pr_ival_pick(v[i], lane);
        v[i] = &at[i];
    }
    switch (op->opcode) {
    case PR_OP_ARITH_SELECT: return select_value(m, op, v[0], v[1], v[2], n);
    case PR_OP_TT_ADDPTR: {
        const pr_type *p = pr_type_scalar(op->operands[0]->type);
        int size = p->kind == PR_TYPE_POINTER && p->elem ? pr_type_bytes(p->elem) : 0;
        pr_binary f = {op->opcode, pr_bits_of(op->operands[1]->type), 0, size, false};
        if (size && f.w) return map_binary(m, op, &f, v[0], v[1], n);
        pr_ival r = pr_ival_unknown();
        r.base = v[0]->base;
        return r;
    }
    case PR_OP_ARITH_CMPI: {
        pr_binary f = {op->opcode, pr_bits_of(op->operands[0]->type), 0, 0, true};
        pr_i128 p = pr_op_attr_int(op, "predicate", -1);
        if (p < 0 || p > 9) return pr_ival_unknown();
        f.predicate = (int)p;
        return map_binary(m, op, &f, v[0], v[1], n);
    }
    case PR_OP_ARITH_EXTSI: case PR_OP_ARITH_EXTUI: case PR_OP_ARITH_TRUNCI:
    case PR_OP_ARITH_INDEX_CAST: case PR_OP_ARITH_INDEX_CASTUI: case PR_OP_ARITH_BITCAST:
    case PR_OP_TT_BITCAST: case PR_OP_TT_PTR_TO_INT: case PR_OP_TT_INT_TO_PTR:
    case PR_OP_MATH_ABSI: case PR_OP_MATH_CTLZ: case PR_OP_MATH_CTTZ: case PR_OP_MATH_CTPOP:
        return cast_value(m, op, v[0], n);
    default: break;
    }
    if (op->n_operands != 2) return pr_ival_unknown();
    uint64_t r;
    bool ub;
    int w = pr_bits_of(rt);
    if (!w || !pr_arith_binary(op->opcode, w, 0, 1, &r, &ub)) return pr_ival_unknown();
    pr_binary f = {op->opcode, w, 0, 0, w == 1};
    return map_binary(m, op, &f, v[0], v[1], n);
}

static bool result_needed(const pr_machine *m, const pr_op *op)
{
    for (int i = 0; i < op->n_results; i++)
        if (m->needed[op->results[i]->id]) return true;
    return false;
}

/* An operation without a rule here: is it harmless to leave its results unknown? */
static void unmodelled(pr_machine *m, const pr_op *op)
{
    pr_im_set_unknown(m, op);
    switch (op->opcode) {
    case PR_OP_TT_PRINT: case PR_OP_TT_ASSERT: case PR_OP_CF_ASSERT: case PR_OP_LLVM_INTR_ASSUME:
    case PR_OP_TT_GRID_DEPENDENCY_WAIT: case PR_OP_TT_GRID_DEPENDENCY_LAUNCH_DEPENDENTS:
    case PR_OP_UB_POISON: case PR_OP_TT_DOT: case PR_OP_TT_DOT_SCALED:
    case PR_OP_BUILTIN_UNREALIZED_CONVERSION_CAST:
        return;
    case PR_OP_TT_ELEMENTWISE_INLINE_ASM: case PR_OP_TT_EXTERN_ELEMENTWISE: {
        const pr_attr *pure = pr_op_attr(op, "pure");
        bool pointer = false;
        for (int i = 0; i < op->n_operands; i++)
            pointer |= op->operands[i]->type &&
                       pr_type_scalar(op->operands[i]->type)->kind == PR_TYPE_POINTER;
        if (pr_op_is_grid_dependency_asm(op)) return;
        if (!pointer && pure && pure->kind == PR_ATTR_BOOL && pure->boolean) return;
        break;
    }
    default:
        if (op->opcode == PR_OP_UNKNOWN && !op->n_regions && op->n_results &&
            (pr_str_starts(op->name, "arith.") || pr_str_starts(op->name, "math.") ||
             pr_str_starts(op->name, "ub.") || pr_str_starts(op->name, "index.")))
            return;
        break;
    }
    pr_im_note(m, op, "an operation that may access memory is not modelled");
}

void pr_im_eval(pr_machine *m, const pr_op *op)
{
    if (m->setup.ir->has_deep && pr_op_is_deep(op)) {
        if (op->opcode == PR_OP_UNKNOWN || op->opcode == PR_OP_TT_ELEMENTWISE_INLINE_ASM ||
            op->opcode == PR_OP_TT_EXTERN_ELEMENTWISE)
            unmodelled(m, op); /* for its note */
        for (int i = 0; i < op->n_results; i++) {
            pr_ival v = pr_ival_unknown();
            v.dims = 0xff;
            pr_im_set(m, op->results[i], v);
        }
        return;
    }
    if (pr_im_eval_tile(m, op)) return;
    switch (op->opcode) {
    case PR_OP_TT_GET_PROGRAM_ID: case PR_OP_TT_GET_NUM_PROGRAMS: {
        pr_i128 axis = pr_op_attr_int(op, "axis", -1);
        pr_ival v = pr_ival_unknown();
        if (axis >= 0 && axis < 3)
            v = pr_ival_const((uint64_t)(op->opcode == PR_OP_TT_GET_PROGRAM_ID
                                             ? m->pid[axis] : m->setup.grid[axis]) & 0xffffffffu);
        pr_im_set(m, op->results[0], v);
        return;
    }
    case PR_OP_ARITH_CONSTANT:
        pr_im_set(m, op->results[0], m->needed[op->results[0]->id] ? constant_value(m, op, m->lane ? m->lane[op->results[0]->id] : PR_LANE_ALL)
                                                                    : pr_ival_unknown());
        return;
    default: break;
    }
    if (!pr_op_is_lanewise(op->opcode) || op->n_results < 1 || !op->results[0]->type) {
        unmodelled(m, op);
        return;
    }
    if (op->opcode == PR_OP_TT_EXTERN_ELEMENTWISE) unmodelled(m, op); /* for its note */
    if (!result_needed(m, op)) {
        if (!m->setup.track_deps) pr_im_set_unknown(m, op);
        else
            for (int i = 0; i < op->n_results; i++) set_result(m, op, i, pr_ival_unknown());
        return;
    }
    switch (op->opcode) {
    case PR_OP_ARITH_ADDUI_EXTENDED: case PR_OP_ARITH_MULSI_EXTENDED: case PR_OP_ARITH_MULUI_EXTENDED:
        extended(m, op);
        return;
    default:
        set_result(m, op, 0, lanewise_value(m, op));
        for (int i = 1; i < op->n_results; i++) set_result(m, op, i, pr_ival_unknown());
        return;
    }
}
