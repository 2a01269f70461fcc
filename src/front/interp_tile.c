/* What is the value of an operation that moves lanes, or folds over them?
 *
 * All of these end the chain of lane-wise dependency, so no result carries deps, but for one element that stays one. */
#include "front/interp_core.h"

unsigned pr_type_dims(const pr_type *t)
{
    unsigned dims = 0;
    if (t && t->kind == PR_TYPE_TENSOR)
        for (int d = 0; d < t->rank; d++)
            if (t->shape[d] > 1) dims |= 1u << d;
    return dims;
}

static bool pr_is_bool(const pr_type *t)
{
    return pr_bits_of(t) == 1;
}

/* result[c] = source[offset + sum c[d] * stride[d]] */
static pr_ival strided(pr_machine *m, const pr_ival *a, const pr_type *to, const int64_t *stride,
                       int64_t offset, unsigned dims)
{
    pr_ival v = {.form = a->form, .base = a->base, .x = a->x, .dims = (uint8_t)dims};
    if (a->form != PR_IVAL_TILE) return v;
    int64_t n = pr_type_count(to), c[PR_MAX_RANK] = {0}, at = offset;
    if (!pr_im_spend(m, n)) return pr_ival_unknown();
    const pr_itile *from = a->tile;
    pr_itile *t = pr_itile_new(m, n, from->base != NULL);
    int last = to->rank - 1;
    int64_t row = last >= 0 ? to->shape[last] : 1, step = last >= 0 ? stride[last] : 0;
    for (int64_t i = 0; i < n; i += row) {
        assert(at >= 0 && at < from->n && at + (row - 1) * step >= 0 && at + (row - 1) * step < from->n);
        if (step == 1) memcpy(t->x + i, from->x + at, sizeof *t->x * (size_t)row);
        else for (int64_t k = 0; k < row; k++) t->x[i + k] = from->x[at + k * step];
        for (int64_t k = 0; k < row && from->known; k++) t->known[i + k] = from->known[at + k * step];
        for (int64_t k = 0; k < row && t->base; k++) t->base[i + k] = from->base[at + k * step];
        for (int d = last - 1; d >= 0; d--) { /* next row, row major */
            at += stride[d];
            if (++c[d] < to->shape[d]) break;
            at -= stride[d] * to->shape[d];
            c[d] = 0;
        }
    }
    return pr_ival_of_tile(m, t, a->base, dims, pr_is_bool(to));
}

static void row_major(const pr_type *t, int64_t *stride)
{
    int64_t s = 1;
    for (int d = t->rank - 1; d >= 0; d--) {
        stride[d] = s;
        s *= t->shape[d];
    }
}

static pr_ival same_elements(const pr_ival *a, unsigned dims)
{
    pr_ival v = pr_ival_keep((pr_ival){.form = a->form, .base = a->base, .x = a->x, .tile = a->tile});
    v.dims = (uint8_t)dims;
    return v;
}

static pr_ival make_range(pr_machine *m, const pr_op *op)
{
    const pr_type *t = op->results[0]->type;
    int64_t n = pr_type_count(t), start = (int64_t)pr_op_attr_int(op, "start", 0);
    int w = pr_bits_of(t);
    if (!w || !pr_im_spend(m, n)) return pr_ival_unknown();
    pr_itile *tile = pr_itile_new(m, n, false);
    for (int64_t i = 0; i < n; i++) tile->x[i] = (uint64_t)(start + i) & pr_bits_mask(w);
    return pr_ival_of_tile(m, tile, -1, pr_type_dims(t), w == 1);
}

static pr_ival broadcast(pr_machine *m, const pr_ival *a, const pr_type *from, const pr_type *to)
{
    int64_t stride[PR_MAX_RANK];
    unsigned dims = a->dims;
    if (from->kind != PR_TYPE_TENSOR || from->rank != to->rank) return pr_ival_unknown();
    row_major(from, stride);
    for (int d = 0; d < to->rank; d++)
        if (from->shape[d] == 1) {
            stride[d] = 0;
            dims &= ~(1u << d);
        }
    return strided(m, a, to, stride, 0, dims);
}

static pr_ival trans(pr_machine *m, const pr_op *op, const pr_ival *a)
{
    const pr_type *from = op->operands[0]->type, *to = op->results[0]->type;
    const pr_attr *order = pr_op_attr(op, "order");
    int64_t source[PR_MAX_RANK], stride[PR_MAX_RANK];
    unsigned dims = 0;
    if (!order || order->kind != PR_ATTR_DENSE_ARRAY || order->n_ints != to->rank) return pr_ival_unknown();
    row_major(from, source);
    for (int d = 0; d < to->rank; d++) {
        int64_t s = (int64_t)order->ints[d];
        if (s < 0 || s >= from->rank) return pr_ival_unknown();
        stride[d] = source[s];
        if (a->dims >> s & 1) dims |= 1u << d;
    }
    return strided(m, a, to, stride, 0, dims);
}

/* Dims of a row-major reshape: dims of extent > 1 that stay one to one are renamed, otherwise every
 * dim may depend on every other. */
static unsigned reshape_dims(unsigned dims, const pr_type *from, const pr_type *to)
{
    unsigned r = 0;
    int i = 0, j = 0;
    if (from->kind != PR_TYPE_TENSOR || to->kind != PR_TYPE_TENSOR || !dims) return 0;
    for (;; i++, j++) {
        while (i < from->rank && from->shape[i] == 1) i++;
        while (j < to->rank && to->shape[j] == 1) j++;
        if (i >= from->rank || j >= to->rank) break;
        if (from->shape[i] != to->shape[j]) return pr_type_dims(to);
        if (dims >> i & 1) r |= 1u << j;
    }
    return r;
}

static bool unit_attr(const pr_op *op, const char *name)
{
    const pr_attr *a = pr_op_attr(op, name);
    return a && (a->kind == PR_ATTR_UNIT || (a->kind == PR_ATTR_BOOL && a->boolean));
}

static pr_ival join(pr_machine *m, const pr_op *op)
{
    const pr_ival *a = pr_im_get(m, op->operands[0]), *b = pr_im_get(m, op->operands[1]);
    const pr_type *to = op->results[0]->type;
    int64_t n = pr_type_count(to);
    unsigned last = to->rank ? 1u << (to->rank - 1) : 0, dims = a->dims | b->dims | last;
    if (a->form == PR_IVAL_UNKNOWN && b->form == PR_IVAL_UNKNOWN) {
        pr_ival v = pr_ival_unknown();
        v.dims = (uint8_t)dims;
        v.base = a->base == b->base ? a->base : -1;
        return v;
    }
    if (!pr_im_spend(m, n)) return pr_ival_unknown();
    pr_itile *t = pr_itile_new(m, n, true);
    for (int64_t i = 0; i < n; i++) {
        const pr_ival *s = i & 1 ? b : a;
        t->known[i] = pr_ival_at(s, i / 2, &t->x[i]);
        t->base[i] = (int16_t)pr_ival_base_at(s, i / 2);
    }
    return pr_ival_of_tile(m, t, -1, dims, pr_is_bool(to));
}

static void split(pr_machine *m, const pr_op *op)
{
    const pr_ival *a = pr_im_get(m, op->operands[0]);
    const pr_type *from = op->operands[0]->type;
    for (int k = 0; k < op->n_results; k++) {
        const pr_type *to = op->results[k]->type;
        int64_t stride[PR_MAX_RANK] = {0};
        pr_ival v = pr_ival_unknown();
        if (to->kind == PR_TYPE_TENSOR) {
            row_major(to, stride);
            for (int d = 0; d < to->rank; d++) stride[d] *= 2;
            v = strided(m, a, to, stride, k, a->dims & ((1u << (from->rank - 1)) - 1));
        } else { /* tensor<2xT> to scalars */
            v.form = pr_ival_at(a, k, &v.x) ? PR_IVAL_SPLAT : PR_IVAL_UNKNOWN;
            v.base = (int16_t)pr_ival_base_at(a, k);
        }
        pr_im_set(m, op->results[k], v);
    }
}

static pr_ival gather(pr_machine *m, const pr_op *op)
{
    const pr_ival *a = pr_im_get(m, op->operands[0]), *idx = pr_im_get(m, op->operands[1]);
    const pr_type *from = op->operands[0]->type, *to = op->results[0]->type;
    int axis = (int)pr_op_attr_int(op, "axis", 0), w = pr_bits_of(op->operands[1]->type);
    int64_t n = pr_type_count(to), stride[PR_MAX_RANK], shape[PR_MAX_RANK];
    if (axis < 0 || axis >= from->rank || from->rank != to->rank || !w) return pr_ival_unknown();
    row_major(from, stride);
    for (int d = 0; d < to->rank; d++) shape[d] = to->shape[d];
    if (!pr_im_spend(m, n)) return pr_ival_unknown();
    pr_itile *t = pr_itile_new(m, n, true);
    for (int64_t i = 0; i < n; i++) {
        uint64_t x;
        int64_t rest = i, at = 0;
        bool known = pr_ival_at(idx, i, &x);
        for (int d = to->rank - 1; d >= 0; d--) {
            int64_t c = rest % shape[d];
            rest /= shape[d];
            if (d == axis) c = pr_bits_signed(x, w);
            if (c < 0 || c >= from->shape[d]) known = false;
            else at += c * stride[d];
        }
        t->x[i] = 0;
        t->known[i] = known && pr_ival_at(a, at, &t->x[i]);
        t->base[i] = (int16_t)(known ? pr_ival_base_at(a, at) : -1);
    }
    return pr_ival_of_tile(m, t, -1, pr_type_dims(to), pr_is_bool(to));
}

static pr_ival histogram(pr_machine *m, const pr_op *op)
{
    const pr_ival *a = pr_im_get(m, op->operands[0]);
    const pr_ival *mask = op->n_operands > 1 ? pr_im_get(m, op->operands[1]) : NULL;
    const pr_type *to = op->results[0]->type;
    int64_t n = pr_type_count(op->operands[0]->type), bins = pr_type_count(to);
    int w = pr_bits_of(op->operands[0]->type);
    if (!w || !pr_bits_of(to) || !pr_im_spend(m, n + bins)) return pr_ival_unknown();
    pr_itile *t = pr_itile_new(m, bins, false);
    memset(t->x, 0, sizeof(uint64_t) * (size_t)bins);
    for (int64_t i = 0; i < n; i++) {
        uint64_t x, k = 1;
        bool known = !mask || pr_ival_at(mask, i, &k);
        if (known && !k) continue;
        known &= pr_ival_at(a, i, &x);
        /* no word of what a value beyond the last bin counts for */
        if (!known || x >= (uint64_t)bins) memset(t->known, 0, (size_t)bins);
        else t->x[x]++;
    }
    return pr_ival_of_tile(m, t, -1, pr_type_dims(to), pr_is_bool(to));
}

/* Does a region combine by one operation for which neither order nor grouping matters? */
static bool one_operation(const pr_op *op)
{
    const pr_block *b = op->n_regions == 1 ? pr_region_block(op->regions[0]) : NULL;
    if (op->n_operands != 1 || !b || b->n_ops != 2 || b->n_args != 2) return false;
    const pr_op *f = b->ops[0], *end = b->ops[1];
    if (f->n_operands != 2 || f->n_results != 1 || end->n_operands != 1 || end->operands[0] != f->results[0]) return false;
    if (!((f->operands[0] == b->args[0] && f->operands[1] == b->args[1]) || (f->operands[0] == b->args[1] && f->operands[1] == b->args[0])))
        return false;
    switch (f->opcode) {
    case PR_OP_ARITH_ADDI: case PR_OP_ARITH_MULI: case PR_OP_ARITH_ANDI: case PR_OP_ARITH_ORI: case PR_OP_ARITH_XORI:
    case PR_OP_ARITH_MAXSI: case PR_OP_ARITH_MINSI: case PR_OP_ARITH_MAXUI: case PR_OP_ARITH_MINUI: return true;
    default: return false;
    }
}

/* Is it a reduction of everything by an operation for which the order does not matter? */
static bool any_order(const pr_op *op)
{
    return op->opcode == PR_OP_TT_REDUCE && op->operands[0]->type->rank == 1 && one_operation(op);
}

/* Does a region hand on one of the two elements whole, chosen by one condition? */
static bool chooses(const pr_op *op, const pr_block *b)
{
    const pr_op *end = pr_block_terminator(b);
    int k = op->n_operands;
    if (!end || end->n_operands != k) return false;
    for (int i = 0; i < k; i++) {
        const pr_op *s = end->operands[i]->def, *s0 = end->operands[0]->def;
        if (!s || s->opcode != PR_OP_ARITH_SELECT || s->operands[0] != s0->operands[0]) return false;
        bool left = s0->operands[1] == b->args[0];       /* select(c, a, b) everywhere, or select(c, b, a) */
        if (s->operands[1] != b->args[left ? i : k + i] || s->operands[2] != b->args[left ? k + i : i]) return false;
    }
    return true;
}

/* The elements that a reduction or scan combines; before a reshape that may reorder them where that is one answer. */
static const pr_ival *combined(pr_machine *m, const pr_op *op, int k)
{
    const pr_op *def = op->operands[k]->def;
    bool look = def && def->opcode == PR_OP_TT_RESHAPE && unit_attr(def, "allow_reorder") && any_order(op);
    return pr_im_get(m, look ? def->operands[0] : op->operands[k]);
}

/* Operands of one element as scalars into the region's arguments first, first + 1, ... */
static void pass_elements(pr_machine *m, const pr_op *op, const pr_block *b, int first, int64_t at)
{
    for (int k = 0; k < op->n_operands; k++) {
        pr_ival v = pr_ival_unknown();
        if (pr_ival_at(combined(m, op, k), at, &v.x)) v.form = PR_IVAL_SPLAT;
        pr_im_set(m, b->args[first + k], v);
    }
}

static bool combines_to(pr_machine *m, const pr_op *op, const pr_block *b, const pr_ival *won, int64_t at, bool first)
{
    int k = op->n_operands, c;
    bool same = true;
    pr_ival *out = pr_im_block(m, sizeof(pr_ival) * (size_t)k, &c);
    for (int i = 0; i < k; i++) {
        out[i] = pr_ival_unknown();
        pr_im_set(m, b->args[first ? k + i : i], pr_ival_keep(won[i]));
    }
    pass_elements(m, op, b, first ? 0 : k, at);
    pr_im_region(m, op->regions[0], out, k);
    for (int i = 0; i < k; i++) {
        uint64_t x, y;
        same = same && pr_ival_at(&out[i], 0, &x) && pr_ival_at(&won[i], 0, &y) && x == y;
        pr_ival_drop(m, out[i]);
    }
    pr_im_unblock(m, out, c);
    return same && m->halt == PR_HALT_NONE;
}

/* A machine reduces in an order of its own. An element that wins against every other one, from both sides, where
 * nothing but elements is handed on, is the answer of every order. */
static bool wins(pr_machine *m, const pr_op *op, const pr_block *b, const pr_ival *won, int64_t from, int64_t step, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        if (!combines_to(m, op, b, won, from + j * step, false) || !combines_to(m, op, b, won, from + j * step, true)) return false;
    return true;
}

/* tt.reduce and tt.scan: the combining region is run on scalars, along the axis in order. */
static void fold(pr_machine *m, const pr_op *op)
{
    const pr_type *from = op->operands[0]->type;
    const pr_block *b = op->n_regions ? pr_region_block(op->regions[0]) : NULL;
    int k = op->n_operands, axis = (int)pr_op_attr_int(op, "axis", 0);
    bool scan = op->opcode == PR_OP_TT_SCAN, reverse = scan && unit_attr(op, "reverse");
    bool wanted = false, any = false;
    for (int i = 0; i < op->n_results; i++) wanted |= m->needed[op->results[i]->id] != 0;
    for (int i = 0; i < k; i++) any |= combined(m, op, i)->form != PR_IVAL_UNKNOWN;
    for (int i = 0; i < k; i++) any = any && !pr_float_type(op->operands[i]->type);   /* rounded in an order that is not known */
    unsigned dims = 0;
    for (int i = 0; i < k; i++) dims |= pr_im_get(m, op->operands[i])->dims;
    if (!scan) dims = (dims & ((1u << axis) - 1)) | (dims >> (axis + 1) << axis);
    else dims |= 1u << axis;
    if (!wanted || !any || !b || b->n_args != 2 * k || op->n_results != k || axis < 0 ||
        axis >= from->rank || from->kind != PR_TYPE_TENSOR) {
        for (int i = 0; i < op->n_results; i++) {
            pr_ival v = pr_ival_unknown();
            v.dims = (uint8_t)dims;
            pr_im_set(m, op->results[i], v);
        }
        return;
    }
    int64_t n = pr_type_count(from), length = from->shape[axis], inner = 1;
    for (int d = axis + 1; d < from->rank; d++) inner *= from->shape[d];
    int64_t columns = length ? n / length : 0;
    /* A scan is grouped as the machine likes, so one whose operation is not known to be associative has known first elements only. */
    bool ordered = length > 1 && !one_operation(op), choice = ordered && !scan && chooses(op, b);
    pr_itile **out = (pr_itile **)pr_arena_alloc(m->arena, sizeof(pr_itile *) * (size_t)k);
    pr_ival *acc = PR_NEW_N(m->arena, pr_ival, k);
    for (int i = 0; i < k; i++) out[i] = pr_itile_new(m, scan ? n : columns, false);
    for (int64_t c = 0; c < columns; c++) {
        for (int64_t j = 0; j < length; j++) {
            int64_t row = reverse ? length - 1 - j : j;
            int64_t at = (c / inner * length + row) * inner + c % inner;
            if (j == 0) {
                pass_elements(m, op, b, 0, at);
                for (int i = 0; i < k; i++) acc[i] = pr_ival_keep(*pr_im_get(m, b->args[i]));
            } else {
                for (int i = 0; i < k; i++) pr_im_set(m, b->args[i], acc[i]);
                pass_elements(m, op, b, k, at);
                pr_im_region(m, op->regions[0], acc, k);
            }
            for (int i = 0; i < k && scan; i++) out[i]->known[at] = pr_ival_at(&acc[i], 0, &out[i]->x[at]) && (j == 0 || !ordered);
            if (m->halt != PR_HALT_NONE) j = length;
        }
        bool one = !ordered || (choice && wins(m, op, b, acc, c / inner * length * inner + c % inner, inner, length));
        for (int i = 0; i < k && !scan; i++) out[i]->known[c] = pr_ival_at(&acc[i], 0, &out[i]->x[c]) && one;
        for (int i = 0; i < k; i++) pr_ival_drop(m, acc[i]);
        if (m->halt != PR_HALT_NONE) break;
    }
    for (int i = 0; i < k; i++)
        pr_im_set(m, op->results[i],
                  pr_ival_of_tile(m, out[i], -1, dims, pr_is_bool(op->results[i]->type)));
}

bool pr_im_eval_tile(pr_machine *m, const pr_op *op)
{
    const pr_ival *a = op->n_operands ? pr_im_get(m, op->operands[0]) : NULL;
    const pr_type *from = op->n_operands ? op->operands[0]->type : NULL;
    const pr_type *to = op->n_results ? op->results[0]->type : NULL;
    pr_ival v = pr_ival_unknown();
    int64_t lane = m->lane && op->n_results == 1 ? m->lane[op->results[0]->id] : PR_LANE_ALL;
    if (lane >= 0 && pr_im_eval_lane(m, op, lane)) return true;
    switch (op->opcode) {
    case PR_OP_TT_MAKE_RANGE:
        if (m->needed[op->results[0]->id]) v = make_range(m, op);
        break;
    case PR_OP_TT_SPLAT:
        v = (pr_ival){.form = a->form, .base = a->base, .x = a->x};
        break;
    case PR_OP_TT_UNSPLAT:
        if (pr_ival_at(a, 0, &v.x)) v.form = PR_IVAL_SPLAT;
        v.base = (int16_t)pr_ival_base_at(a, 0);
        break;
    case PR_OP_TT_EXPAND_DIMS: {
        int axis = (int)pr_op_attr_int(op, "axis", 0);
        unsigned low = axis >= 0 && axis < PR_MAX_RANK ? (1u << axis) - 1 : 0;
        v = same_elements(a, (a->dims & low) | (a->dims & ~low) << 1);
        break;
    }
    case PR_OP_TT_BROADCAST: v = broadcast(m, a, from, to); break;
    case PR_OP_TT_RESHAPE:
        if (unit_attr(op, "allow_reorder") && a->form == PR_IVAL_TILE) {
            v.base = a->tile->base ? -1 : a->base;
            v.dims = (uint8_t)pr_type_dims(to);
        } else {
            v = same_elements(a, reshape_dims(a->dims, from, to));
        }
        break;
    case PR_OP_TT_TRANS: v = trans(m, op, a); break;
    case PR_OP_TT_JOIN: v = join(m, op); break;
    case PR_OP_TT_SPLIT: split(m, op); return true;
    case PR_OP_TT_CAT: { /* may reorder its elements: known only when all are equal */
        const pr_ival *b = pr_im_get(m, op->operands[1]);
        v.base = a->base == b->base ? a->base : -1;
        if (a->form == PR_IVAL_SPLAT && b->form == PR_IVAL_SPLAT && a->x == b->x) {
            v.form = PR_IVAL_SPLAT;
            v.x = a->x;
        }
        v.dims = (uint8_t)pr_type_dims(to);
        break;
    }
    case PR_OP_TT_GATHER:
        if (m->needed[op->results[0]->id]) v = gather(m, op);
        else v.dims = (uint8_t)pr_type_dims(to);
        break;
    case PR_OP_TT_HISTOGRAM:
        if (m->needed[op->results[0]->id]) v = histogram(m, op);
        break;
    case PR_OP_TT_REDUCE: case PR_OP_TT_SCAN: fold(m, op); return true;
    case PR_OP_TT_MAP_ELEMENTWISE: {
        unsigned dims = 0;
        for (int i = 0; i < op->n_operands; i++) dims |= pr_im_get(m, op->operands[i])->dims;
        for (int i = 0; i < op->n_results; i++) {
            v = pr_ival_unknown();
            v.dims = (uint8_t)dims;
            pr_im_set(m, op->results[i], v);
        }
        return true;
    }
    default: return false;
    }
    bool computes = op->opcode == PR_OP_TT_GATHER || op->opcode == PR_OP_TT_HISTOGRAM || op->opcode == PR_OP_TT_CAT || op->opcode == PR_OP_TT_JOIN;
    if (m->setup.track_deps && op->n_operands && !computes && pr_type_count(from) == 1 && pr_type_count(to) == 1)
        v.deps = pr_iset_union(m, v.deps, a->deps);
    pr_im_set(m, op->results[0], v);
    return true;
}
