/* Which lane of an operand is a lane of the result computed from, and what is the value of that lane alone?
 *
 * A probe asks for one lane of one access. Going backwards from it, interp_slice.c notes for each needed value the one
 * lane that is read of it, or that all are (a scalar, two lanes, an operation that moves or folds lanes in another way,
 * a divisor or shift count that differs from lane to lane). A value of which one lane is read is a splat of that lane or,
 * where computing all of them was as easy, a tile: whoever reads it takes that lane of either.
 *
 * Undefined behaviour in any lane counts, whichever lane is asked for. So an operation that some operands leave undefined
 * is computed in one lane only where its second operand is the same in all of them and excludes that; else the run is
 * started again with whole tiles (PR_HALT_WHOLE). */
#include "front/interp_core.h"

static bool is_unit(const pr_op *op, const char *name)
{
    const pr_attr *a = pr_op_attr(op, name);
    return a && (a->kind == PR_ATTR_UNIT || (a->kind == PR_ATTR_BOOL && a->boolean));
}

/* Is the value a splat, or not known in any lane, whatever the program? By its definition alone. */
static bool uniform(const pr_value *v, int depth)
{
    const pr_op *op = v->def;
    const pr_attr *a;
    if (v->type && v->type->kind != PR_TYPE_TENSOR) return true;
    if (!op || depth > 8) return false;
    switch (op->opcode) {
    case PR_OP_TT_SPLAT: return true;
    case PR_OP_ARITH_CONSTANT:
        a = pr_op_attr(op, "value");
        return a && (a->kind == PR_ATTR_BOOL || a->kind == PR_ATTR_INT || (a->kind == PR_ATTR_DENSE && a->n_ints == 1));
    case PR_OP_TT_BROADCAST: case PR_OP_TT_EXPAND_DIMS: return uniform(op->operands[0], depth + 1);
    default: break;
    }
    if (!pr_op_is_lanewise(op->opcode) || op->n_results != 1) return false;
    for (int i = 0; i < op->n_operands; i++)
        if (!uniform(op->operands[i], depth + 1)) return false;
    return true;
}

/* Lane of the source of a broadcast (order null), or of a transposition, that arrives at the lane. */
static int64_t moved_from(const pr_type *from, const pr_type *to, const pr_attr *order, int64_t lane)
{
    int64_t stride[PR_MAX_RANK], at = 0, elements = 1;
    if (from->rank != to->rank || (order && (order->kind != PR_ATTR_DENSE_ARRAY || order->n_ints != to->rank))) return PR_LANE_ALL;
    for (int d = from->rank - 1; d >= 0; d--) {
        stride[d] = elements;
        elements *= from->shape[d];
    }
    for (int d = to->rank - 1; d >= 0; d--) {
        int64_t s = order ? (int64_t)order->ints[d] : d, x = lane % to->shape[d];
        lane /= to->shape[d];
        if (s < 0 || s >= from->rank || (x >= from->shape[s] && (order || from->shape[s] != 1))) return PR_LANE_ALL;
        if (x < from->shape[s]) at += x * stride[s];
    }
    return at;
}

int64_t pr_lane_from(const pr_op *op, const pr_value *result, int operand, int64_t lane)
{
    const pr_type *from = op->operands[operand]->type, *to = result->type;
    if (lane < 0 || !from || !to || from->kind != PR_TYPE_TENSOR || to->kind != PR_TYPE_TENSOR || pr_type_is_deep(from) ||
        pr_type_is_deep(to)) return PR_LANE_ALL;
    bool same = pr_type_count(from) == pr_type_count(to);
    switch (op->opcode) {
    case PR_OP_TT_BROADCAST: return moved_from(from, to, NULL, lane);
    case PR_OP_TT_TRANS: {
        const pr_attr *order = pr_op_attr(op, "order");
        return order ? moved_from(from, to, order, lane) : PR_LANE_ALL;
    }
    case PR_OP_TT_RESHAPE: return same && !is_unit(op, "allow_reorder") ? lane : PR_LANE_ALL;
    case PR_OP_TT_EXPAND_DIMS: case PR_OP_TT_LOAD: return same ? lane : PR_LANE_ALL;
    default: break;
    }
    if (!same || op->n_results != 1 || !pr_op_is_lanewise(op->opcode)) return PR_LANE_ALL;
    if (pr_arith_partial(op->opcode) && (op->n_operands != 2 || !uniform(op->operands[1], 0))) return PR_LANE_ALL;
    return lane;
}

int64_t pr_im_lane(pr_machine *m, const pr_op *op)
{
    int64_t lane = m->lane && op->n_results == 1 ? m->lane[op->results[0]->id] : PR_LANE_ALL;
    if (lane < 0 || !pr_arith_partial(op->opcode) || op->n_operands != 2) return lane;
    const pr_ival *b = pr_im_get(m, op->operands[1]);
    bool whole = m->lane[op->operands[0]->id] == PR_LANE_ALL && m->lane[op->operands[1]->id] == PR_LANE_ALL;
    if (b->form == PR_IVAL_UNKNOWN && !whole) return lane;
    if (b->form == PR_IVAL_SPLAT && pr_arith_total_with(op->opcode, pr_bits_of(op->results[0]->type), b->x)) return lane;
    if (!whole) m->halt = PR_HALT_WHOLE;
    return PR_LANE_ALL;
}

pr_ival pr_ival_pick(const pr_ival *v, int64_t lane)
{
    pr_ival r = {.form = v->form, .base = (int16_t)pr_ival_base_at(v, lane), .x = v->x};
    if (v->form == PR_IVAL_TILE) r.form = pr_ival_at(v, lane, &r.x) ? PR_IVAL_SPLAT : PR_IVAL_UNKNOWN;
    return r;
}

bool pr_im_eval_lane(pr_machine *m, const pr_op *op, int64_t lane)
{
    const pr_value *result = op->results[0];
    int64_t from;
    int w;
    switch (op->opcode) {
    case PR_OP_TT_MAKE_RANGE:
        w = pr_bits_of(result->type);
        pr_im_set(m, result, w ? pr_ival_const((uint64_t)((int64_t)pr_op_attr_int(op, "start", 0) + lane) & pr_bits_mask(w))
                               : pr_ival_unknown());
        return true;
    case PR_OP_TT_EXPAND_DIMS: case PR_OP_TT_RESHAPE: case PR_OP_TT_BROADCAST: case PR_OP_TT_TRANS:
        from = pr_lane_from(op, result, 0, lane);
        if (from < 0) return false;
        pr_im_set(m, result, pr_ival_pick(pr_im_get(m, op->operands[0]), from));
        return true;
    default: return false;
    }
}

int64_t pr_im_target_lane(const pr_type *shape, const pr_interp_target *t)
{
    int64_t at = 0;
    if (!shape || shape->kind != PR_TYPE_TENSOR || pr_type_is_deep(shape) || shape->rank != t->rank) return PR_LANE_ALL;
    for (int d = 0; d < t->rank; d++) {
        if (t->lane[d] < 0 || t->lane[d] >= shape->shape[d]) return PR_LANE_ALL;
        at = at * shape->shape[d] + t->lane[d];
    }
    return at;
}
