/* Which bytes does one execution of a memory operation touch, lane by lane? */
#include "front/interp_core.h"

bool pr_op_is_access(int opcode)
{
    switch (opcode) {
    case PR_OP_TT_LOAD: case PR_OP_TT_STORE: case PR_OP_TT_ATOMIC_RMW: case PR_OP_TT_ATOMIC_CAS:
    case PR_OP_TT_ATOMIC_POLL: case PR_OP_TT_ATOMIC_LOAD: case PR_OP_TT_ATOMIC_STORE:
    case PR_OP_TT_DESCRIPTOR_LOAD: case PR_OP_TT_DESCRIPTOR_STORE: case PR_OP_TT_DESCRIPTOR_REDUCE:
    case PR_OP_TT_DESCRIPTOR_GATHER: case PR_OP_TT_DESCRIPTOR_SCATTER:
        return true;
    default: return false;
    }
}

pr_interp_lane_info pr_interp_lane(const pr_interp_event *e, int64_t lane)
{
    pr_interp_lane_info r = {.active = e->reached, .base = pr_ival_base_at(e->addr, lane)};
    uint64_t k;
    r.addr_known = pr_ival_at(e->addr, lane, &r.addr);
    if (e->mask) {
        if (!pr_ival_at(e->mask, lane, &k)) r.active = r.active == PR_NO ? PR_NO : PR_MAYBE;
        else if (!(k & 1)) r.active = PR_NO;
    }
    return r;
}

/* ---- descriptors and block pointers --------------------------------------------------------- */
static void take_signed(pr_machine *m, pr_ival *to, const pr_value *from)
{
    const pr_ival *v = pr_im_get(m, from);
    int w = pr_bits_of(from->type);
    pr_ival r = pr_ival_unknown();
    if (w && v->form == PR_IVAL_SPLAT) r = pr_ival_const((uint64_t)pr_bits_signed(v->x, w));
    pr_ival_drop(m, *to);
    *to = r;
}

void pr_im_make_object(pr_machine *m, const pr_op *op)
{
    pr_ival v = pr_ival_unknown();
    int rank, part[4];
    if (op->opcode == PR_OP_TT_ADVANCE) {
        const pr_ival *p = pr_im_get(m, op->operands[0]);
        v.base = p->base;
        if (p->obj && op->n_operands == 1 + p->obj->rank) {
            v.obj = pr_iobj_copy(m, p->obj);
            for (int d = 0; d < v.obj->rank; d++) {
                pr_ival by = pr_ival_const(0);
                take_signed(m, &by, op->operands[1 + d]);
                pr_ival *o = &v.obj->offset[d];
                if (o->form == PR_IVAL_SPLAT && by.form == PR_IVAL_SPLAT) /* the offsets are i32 */
                    *o = pr_ival_const((uint64_t)pr_bits_signed(o->x + by.x, 32));
                else
                    *o = pr_ival_unknown();
            }
        }
        pr_im_set(m, op->results[0], v);
        return;
    }
    bool block = op->opcode == PR_OP_TT_MAKE_TENSOR_PTR;
    if (block ? !pr_op_segments(op, 4, part) : !pr_op_segments(op, 3, part)) {
        rank = (op->n_operands - 1) / (block ? 3 : 2);
        part[1] = part[2] = part[3] = rank;
    }
    rank = part[1];
    if (rank < 0 || rank > PR_MAX_RANK || part[2] < rank - 1) { /* the innermost stride may be missing */
        pr_im_set(m, op->results[0], v);
        return;
    }
    pr_iobj *o = pr_iobj_new(m, rank);
    o->base = pr_ival_without_deps(m, pr_ival_keep(*pr_im_get(m, op->operands[0])));
    for (int d = 0; d < rank; d++) {
        take_signed(m, &o->shape[d], op->operands[1 + d]);
        if (d < part[2]) take_signed(m, &o->stride[d], op->operands[1 + rank + d]);
        else o->stride[d] = pr_ival_const(1);
        if (block) take_signed(m, &o->offset[d], op->operands[1 + rank + part[2] + d]);
    }
    v.base = o->base.base;
    v.obj = o;
    pr_im_set(m, op->results[0], v);
}

/* The lane of a block access that a probe wants, PR_LANE_ALL for all of them. */
static int64_t wanted_lane(const pr_machine *m, const pr_op *op, const pr_type *block)
{
    if (!m->lane) return PR_LANE_ALL;
    int64_t read = op->n_results && m->needed[op->results[0]->id] ? m->lane[op->results[0]->id] : -2;   /* -2: it is not read */
    int64_t asked = op->id == m->target->op_id && pr_im_on_path(m) ? pr_im_target_lane(block, m->target) : -2;
    if (read == -2) return asked == -2 ? 0 : asked;
    return asked == -2 || asked == read ? read : PR_LANE_ALL;
}

/* Addresses and mask of the lanes of a block whose first element has coordinate start[d]; rows, when
 * not null, gives the coordinate of dimension 0 instead. checked: bit d = the mask tests dimension d. only >= 0: of that lane alone. */
static void block_lanes(pr_machine *m, const pr_iobj *o, const pr_type *block, const pr_ival *start,
                        const pr_ival *rows, int rows_width, unsigned checked, int64_t only, pr_ival *addr, pr_ival *mask)
{
    int64_t n = pr_type_count(block), bytes = pr_type_bytes(block->elem), c[PR_MAX_RANK] = {0};
    unsigned named = 0;
    if (only >= 0) {
        int64_t rest = only;
        for (int d = block->rank - 1; d >= 0; d--) {
            c[d] = rest % block->shape[d];
            rest /= block->shape[d];
        }
        n = 1;
    }
    if (!pr_im_spend(m, 2 * n)) return;
    pr_itile *a = pr_itile_new(m, n, false), *k = pr_itile_new(m, n, false);
    for (int d = 0; d < block->rank; d++)
        if (block->shape[d] > 1 && ((checked >> d & 1) || o->stride[d].form != PR_IVAL_SPLAT || o->stride[d].x))
            named |= 1u << d;
    for (int64_t i = 0; i < n; i++) {
        uint64_t base, stride, extent, first;
        bool known = pr_ival_at(&o->base, 0, &base), mask_known = true, in = true;
        for (int d = 0; d < block->rank; d++) {
            bool placed;
            if (d == 0 && rows) {
                placed = pr_ival_at(rows, c[0], &first);
                first = (uint64_t)pr_bits_signed(first, rows_width);
            } else {
                placed = pr_ival_at(&start[d], 0, &first);
                first += (uint64_t)c[d];
            }
            known &= placed & pr_ival_at(&o->stride[d], 0, &stride);
            base += first * stride * (uint64_t)bytes;
            if (checked >> d & 1) {
                if (!(placed & pr_ival_at(&o->shape[d], 0, &extent))) mask_known = false;
                else if ((int64_t)first < 0 || (int64_t)first >= (int64_t)extent) in = false;
            }
        }
        a->x[i] = known ? base : 0;
        a->known[i] = known;
        k->x[i] = in && mask_known;
        k->known[i] = mask_known || !in;
        for (int d = block->rank - 1; d >= 0; d--) {
            if (++c[d] < block->shape[d]) break;
            c[d] = 0;
        }
    }
    *addr = pr_ival_of_tile(m, a, o->base.base, named, false);
    *mask = pr_ival_of_tile(m, k, -1, named, true);
    addr->dims = (uint8_t)named; /* a one-element extent of a uniform address still counts as named */
}

/* ---- the event ------------------------------------------------------------------------------ */
static void set_order(pr_machine *m, const pr_op *op, pr_interp_event *e)
{
    const pr_attr *sem = pr_op_attr(op, "sem"), *scope = pr_op_attr(op, "scope");
    e->sem = PR_INTERP_RELAXED;
    e->scope = PR_INTERP_SCOPE_GPU;
    if (sem && sem->kind == PR_ATTR_INT && sem->integer >= 1 && sem->integer <= 4)
        e->sem = (pr_interp_sem)(PR_INTERP_RELAXED + (int)sem->integer - 1);
    if (scope) {
        e->scope = PR_INTERP_SCOPE_OTHER;
        if (scope->kind == PR_ATTR_INT && scope->integer >= 1 && scope->integer <= 3)
            e->scope = (pr_interp_scope)(PR_INTERP_SCOPE_GPU + (int)scope->integer - 1);
    }
    if (e->scope == PR_INTERP_SCOPE_OTHER) pr_im_note(m, op, "the scope of an atomic is not known");
}

/* Index of the lane asked for, -1 when the coordinates do not fit. */
static int64_t lane_index(const pr_interp_event *e, const pr_interp_target *t)
{
    int64_t at = 0;
    if (t->rank != e->rank) return -1;
    for (int d = 0; d < e->rank; d++) {
        if (t->lane[d] < 0 || t->lane[d] >= e->shape[d]) return -1;
        at = at * e->shape[d] + t->lane[d];
    }
    return at;
}

static void answer_probe(pr_machine *m, const pr_interp_event *e)
{
    const pr_interp_target *t = m->target;
    pr_probe *p = m->probe;
    if (e->op->id != t->op_id || m->n_calls != t->n_calls || !pr_im_on_path(m)) return;
    assert(m->n_iter == t->n_iter);
    if (m->event) {                /* every lane is asked for */
        m->event(m->user, e);
        p->executed = e->reached;
        m->halt = PR_HALT_FOUND;
        return;
    }
    int64_t lane = lane_index(e, t);
    if (lane < 0) {
        pr_im_stop(m, e->op, "the lane is not one of the access");
        return;
    }
    p->executed = e->reached;
    p->lane = pr_interp_lane(e, lane);
    p->kind = e->kind;
    p->width = e->width;
    p->via_desc = e->via_desc;
    m->halt = PR_HALT_FOUND;
}

/* Value a load gives when the argument's contents are known. */
static pr_ival loaded(pr_machine *m, const pr_op *op, const pr_interp_event *e, const pr_ival *other)
{
    const pr_type *t = op->results[0]->type;
    int w = pr_bits_of(t);
    int64_t lane = m->lane ? m->lane[op->results[0]->id] : PR_LANE_ALL, n = lane < 0 ? e->n_lanes : 1;
    if (!w) return pr_ival_unknown();
    if (e->addr->form == PR_IVAL_UNKNOWN) {
        uint64_t off, x;       /* a lane that is masked off has a value where the address of another lane is known */
        if (lane >= 0 && e->mask && pr_ival_at(e->mask, lane, &off) && !(off & 1) && other && pr_ival_at(other, lane, &x)) m->halt = PR_HALT_WHOLE;
        return pr_ival_unknown();
    }
    if (!pr_im_spend(m, n)) return pr_ival_unknown();
    pr_itile *r = pr_itile_new(m, n, false);
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = lane < 0 ? k : lane;
        uint64_t mask = 1;
        bool known = !e->mask || pr_ival_at(e->mask, i, &mask);
        r->x[k] = 0;
        r->known[k] = 0;
        if (!known) continue;
        if (!(mask & 1)) {
            r->known[k] = other && pr_ival_at(other, i, &r->x[k]);
            continue;
        }
        uint64_t at;
        int b = pr_ival_base_at(e->addr, i);
        if (b < 0 || b >= m->setup.n_args || !pr_ival_at(e->addr, i, &at)) continue;
        const pr_interp_arg *arg = &m->setup.args[b];
        if (!arg->values || arg->elem_bytes != e->width) continue;
        uint64_t offset = at - (uint64_t)arg->value;
        if (offset % (uint64_t)e->width || offset / (uint64_t)e->width >= (uint64_t)arg->n_values) continue;
        pr_i128 x = arg->values[offset / (uint64_t)e->width];
        r->x[k] = w == 1 ? x != 0 : (uint64_t)x & pr_bits_mask(w);
        r->known[k] = 1;
        m->contents_read[b] = true;
    }
    return pr_ival_of_tile(m, r, -1, 0, w == 1);
}

typedef struct pr_access_parts { const pr_value *pointer, *mask, *other, *data[2]; int n_data; } pr_access_parts;

static pr_access_parts split_operands(const pr_op *op, pr_interp_event *e)
{
    pr_access_parts p = {0};
    int part[3];
    p.pointer = op->operands[0];
    switch (op->opcode) {
    case PR_OP_TT_LOAD:
        e->kind = PR_INTERP_LOAD;
        if (!pr_op_segments(op, 3, part)) {
            part[1] = op->n_operands > 1;
            part[2] = op->n_operands > 2;
        }
        if (part[1]) p.mask = op->operands[1];
        if (part[2]) p.other = op->operands[1 + part[1]];
        return p;
    case PR_OP_TT_STORE: e->kind = PR_INTERP_STORE; break;
    case PR_OP_TT_ATOMIC_RMW: e->kind = PR_INTERP_RMW; break;
    case PR_OP_TT_ATOMIC_STORE: e->kind = PR_INTERP_ATOMIC_STORE; break;
    case PR_OP_TT_ATOMIC_CAS:
        e->kind = PR_INTERP_CAS;
        p.data[p.n_data++] = op->operands[1];
        p.data[p.n_data++] = op->operands[2];
        return p;
    case PR_OP_TT_ATOMIC_LOAD:
        e->kind = PR_INTERP_ATOMIC_LOAD;
        if (op->n_operands > 1) p.mask = op->operands[1];
        return p;
    default: /* tt.atomic_poll */
        e->kind = PR_INTERP_POLL;
        p.data[p.n_data++] = op->operands[1];
        return p;
    }
    p.data[p.n_data++] = op->operands[1];
    if (op->n_operands > 2) p.mask = op->operands[2];
    return p;
}

static pr_iset *add_deps(pr_machine *m, pr_iset *s, const pr_value *v, const pr_interp_event *e)
{
    if (!v || !v->type || !m->setup.track_deps) return s;
    const pr_type *t = v->type;
    int rank = t->kind == PR_TYPE_TENSOR ? t->rank : 0;
    if (pr_type_count(t) == 1 && e->n_lanes == 1) return pr_iset_union(m, s, pr_im_get(m, v)->deps);
    if (rank != e->rank) return s;
    for (int d = 0; d < rank; d++)
        if (t->shape[d] != e->shape[d]) return s;
    return pr_iset_union(m, s, pr_im_get(m, v)->deps);
}

static void set_shape(pr_interp_event *e, const pr_type *t)
{
    e->rank = t && t->kind == PR_TYPE_TENSOR ? t->rank : 0;
    for (int d = 0; d < e->rank; d++) e->shape[d] = t->shape[d];
    e->n_lanes = t ? pr_type_count(t) : 1;
}

/* Dimensions of the result: those of the access, without the extents of 1 that only one of them has. */
static unsigned result_dims(const pr_interp_event *e, const pr_type *t, unsigned dims)
{
    int rank = t && t->kind == PR_TYPE_TENSOR ? t->rank : 0, d = 0;
    if (rank == e->rank) return dims;
    unsigned r = 0;
    for (int k = 0; k < rank; k++) {
        if (t->shape[k] == 1) continue;
        while (d < e->rank && e->shape[d] == 1) d++;
        if (d < e->rank && dims >> d++ & 1) r |= 1u << k;
    }
    return r;
}

/* The access against the run's memory, lane by lane. Values of the lanes read go into *out. */
static bool touch_memory(pr_machine *m, const pr_op *op, const pr_interp_event *e, const pr_access_parts *p, pr_ival *out)
{
    const pr_type *t = op->n_results ? op->results[0]->type : NULL;
    int w = t && op->opcode != PR_OP_TT_ATOMIC_POLL ? (m->setup.floats && pr_float_type(t) ? 64 : pr_bits_of(t)) : 0;
    if (!p || e->reached == PR_MAYBE || !pr_im_spend(m, e->n_lanes)) {
        if (m->halt == PR_HALT_NONE) pr_im_stop(m, op, p ? "whether an access is reached depends on an unknown value"
                                                        : "an access through a descriptor");
        return false;
    }
    pr_itile *r = w ? pr_itile_new(m, e->n_lanes, false) : NULL;
    if (r) {                                         /* also where the run ends before the last lane           */
        memset(r->x, 0, (size_t)e->n_lanes * sizeof *r->x);
        memset(r->known, 0, (size_t)e->n_lanes);
    }
    for (int64_t i = 0; i < e->n_lanes && m->halt == PR_HALT_NONE; i++) {
        pr_interp_lane_info lane = pr_interp_lane(e, i);
        pr_interp_touch x = {.lane = i, .addr = lane.addr};
        if (lane.active == PR_NO) {
            if (r && p->other) r->known[i] = pr_ival_at(pr_im_get(m, p->other), i, &r->x[i]);
            continue;
        }
        if (lane.active == PR_MAYBE || !lane.addr_known) {
            pr_im_stop(m, op, "the bytes of an access depend on an unknown value");
            break;
        }
        for (int k = 0; k < p->n_data; k++) x.data_known[k] = pr_ival_at(pr_im_get(m, p->data[k]), i, &x.data[k]);
        if (!m->setup.touch(m->setup.touch_user, e, &x)) {
            pr_im_stop(m, op, "the run ends here");
            break;
        }
        if (r) r->x[i] = x.old & pr_bits_mask(w), r->known[i] = x.old_known;
    }
    if (r) *out = pr_ival_of_tile(m, r, -1, 0, w == 1);
    return m->halt == PR_HALT_NONE;
}

/* An atomic of one lane in a run that follows waits; true when *out is the value that a wait's poll is given. */
static bool pass_gate(pr_machine *m, const pr_op *op, const pr_interp_event *e, const pr_access_parts *p, pr_ival *out)
{
    pr_interp_lane_info lane = pr_interp_lane(e, 0);
    pr_interp_touch x = {.addr = lane.addr};
    uint64_t read;
    x.wanted = op->n_results && m->needed[op->results[0]->id];
    for (int k = 0; k < p->n_data; k++) x.data_known[k] = pr_ival_at(pr_im_get(m, p->data[k]), 0, &x.data[k]);
    if (!pr_im_gate(m, e, &x, &read)) return false;
    *out = pr_ival_const(read & pr_bits_mask(pr_bits_of(op->results[0]->type)));
    return true;
}

/* Emits the event and sets the result. */
static void finish(pr_machine *m, const pr_op *op, pr_interp_event *e, pr_iset *deps, const pr_value *other,
                   const pr_access_parts *parts)
{
    unsigned dims = e->addr->dims | (e->mask ? e->mask->dims : 0), all = 0;
    for (int d = 0; d < e->rank; d++)
        if (e->shape[d] > 1) all |= 1u << d;
    e->has_position = (all & ~dims) == 0;
    e->op = op;
    e->calls = m->calls;
    e->n_calls = m->n_calls;
    e->iter = m->iter;
    e->n_iter = m->n_iter;
    e->arms = m->arms;
    e->n_arms = m->n_arms;
    memcpy(e->pid, m->pid, sizeof e->pid);
    e->number = m->n_events++;
    e->reached = m->maybe ? PR_MAYBE : PR_YES;
    e->epoch = m->epoch;
    e->deps = deps ? deps->item : NULL;
    e->n_deps = deps ? deps->n : 0;
    assert(e->addr->form != PR_IVAL_TILE || e->addr->tile->n == e->n_lanes);
    if (m->target) answer_probe(m, e);
    else if (m->event) m->event(m->user, e);
    pr_ival read = pr_ival_unknown();
    if (m->halt != PR_HALT_NONE) return;
    int spare = e->reached == PR_YES ? pr_im_spared(m, op) : 0;
    bool spared = spare == 1 || (spare == 2 && !m->setup.look(m->setup.touch_user, e));
    if (m->setup.touch && !spared && !touch_memory(m, op, e, parts, &read)) {
        pr_ival_drop(m, read);
        return;
    }
    if (m->setup.gate && parts && e->n_lanes == 1 && e->kind >= PR_INTERP_RMW && pass_gate(m, op, e, parts, &read)) pr_im_spend(m, 1);
    if (m->halt != PR_HALT_NONE) return;
    for (int i = 0; i < op->n_results; i++) {
        const pr_value *r = op->results[i];
        pr_ival v = i == 0 ? read : pr_ival_unknown();
        if (op->opcode == PR_OP_TT_ATOMIC_POLL && op->n_operands < 3) v = pr_ival_const(1);
        else if (op->opcode == PR_OP_TT_LOAD && m->needed[r->id] && !m->setup.touch)
            v = loaded(m, op, e, other ? pr_im_get(m, other) : NULL);
        v.dims = (uint8_t)(result_dims(e, r->type, dims) | (other ? pr_im_get(m, other)->dims : 0));
        if (m->setup.track_deps && op->opcode != PR_OP_TT_ATOMIC_POLL) v.deps = pr_iset_one(m, e->number);
        pr_im_set(m, r, v);
    }
}

static void pointer_access(pr_machine *m, const pr_op *op)
{
    pr_interp_event e = {0};
    pr_access_parts p = split_operands(op, &e);
    const pr_type *pt = p.pointer->type, *scalar = pr_type_scalar(pt);
    if (e.kind != PR_INTERP_LOAD && e.kind != PR_INTERP_STORE) set_order(m, op, &e);
    if (e.kind == PR_INTERP_POLL) e.sem = e.sem == PR_INTERP_PLAIN ? PR_INTERP_RELAXED : e.sem;
    const pr_ival *ptr = pr_im_get(m, p.pointer);
    bool block = scalar->kind == PR_TYPE_POINTER && scalar->elem && scalar->elem->kind == PR_TYPE_TENSOR;
    pr_ival addr = pr_ival_unknown(), mask = pr_ival_const(1);
    if (block) {
        const pr_attr *check = pr_op_attr(op, "boundaryCheck");
        unsigned checked = 0;
        for (int i = 0; check && i < check->n_ints; i++)
            if (check->ints[i] >= 0 && check->ints[i] < PR_MAX_RANK) checked |= 1u << (int)check->ints[i];
        e.via_bptr = true;
        e.width = pr_type_bytes(scalar->elem->elem);
        set_shape(&e, scalar->elem);
        addr.base = ptr->base;
        if (ptr->obj && ptr->obj->rank == scalar->elem->rank)
            block_lanes(m, ptr->obj, scalar->elem, ptr->obj->offset, NULL, 0, checked, wanted_lane(m, op, scalar->elem), &addr, &mask);
        e.mask = &mask;
    } else {
        e.width = scalar->kind == PR_TYPE_POINTER && scalar->elem ? pr_type_bytes(scalar->elem) : 0;
        set_shape(&e, pt);
        addr = pr_ival_keep(*ptr);
        if (p.mask) e.mask = pr_im_get(m, p.mask);
    }
    e.addr = &addr;
    if (e.width == 0) {
        pr_im_note(m, op, "the element size of an access is not known");
        e.width = 1;
    }
    pr_iset *deps = add_deps(m, NULL, p.pointer, &e);
    deps = add_deps(m, deps, p.mask, &e);
    for (int i = 0; i < p.n_data; i++) deps = add_deps(m, deps, p.data[i], &e);
    finish(m, op, &e, deps, p.other, &p);
    pr_iset_drop(m, deps);
    pr_ival_drop(m, addr);
    pr_ival_drop(m, mask);
}

static void descriptor_access(pr_machine *m, const pr_op *op)
{
    pr_interp_event e = {.via_desc = true};
    const pr_value *data = NULL;
    int first = 1;
    bool rows = false;
    switch (op->opcode) {
    case PR_OP_TT_DESCRIPTOR_LOAD: e.kind = PR_INTERP_LOAD; break;
    case PR_OP_TT_DESCRIPTOR_GATHER: e.kind = PR_INTERP_LOAD; rows = true; break;
    case PR_OP_TT_DESCRIPTOR_STORE: e.kind = PR_INTERP_STORE; data = op->operands[1]; first = 2; break;
    case PR_OP_TT_DESCRIPTOR_SCATTER:
        e.kind = PR_INTERP_STORE;
        rows = true;
        data = op->operands[3];
        break;
    default:
        e.kind = PR_INTERP_RMW;
        e.sem = PR_INTERP_RELAXED;
        e.scope = PR_INTERP_SCOPE_GPU;
        data = op->operands[1];
        first = 2;
        break;
    }
    const pr_type *dt = op->operands[0]->type;
    const pr_type *shape = data ? data->type : op->n_results ? op->results[0]->type : NULL;
    const pr_type *block = dt && dt->kind == PR_TYPE_DESC ? dt->elem : NULL;
    const pr_ival *d = pr_im_get(m, op->operands[0]);
    pr_ival addr = pr_ival_unknown(), mask = pr_ival_const(1), start[PR_MAX_RANK];
    set_shape(&e, shape);
    addr.base = d->base;
    e.addr = &addr;
    e.mask = &mask;
    e.width = shape && shape->elem ? pr_type_bytes(shape->elem) : 0;
    for (int i = 0; i < PR_MAX_RANK; i++) start[i] = pr_ival_const(0);
    if (d->obj && block && shape && shape->kind == PR_TYPE_TENSOR) {
        int rank = d->obj->rank;
        pr_type tile = *block; /* a gather's tile has its own shape */
        bool fits = rank == block->rank;
        if (rows) {
            tile = *shape;
            fits = rank == 2 && shape->rank == 2;
            take_signed(m, &start[1], op->operands[2]);
        } else {
            fits = fits && op->n_operands >= first + rank && pr_type_count(block) == e.n_lanes;
            if (fits) set_shape(&e, block); /* the data may lack dimensions of extent 1 */
            for (int i = 0; fits && i < rank; i++) take_signed(m, &start[i], op->operands[first + i]);
        }
        if (fits)
            block_lanes(m, d->obj, &tile, start, rows ? pr_im_get(m, op->operands[1]) : NULL,
                        rows ? pr_bits_of(op->operands[1]->type) : 0, (1u << rank) - 1, wanted_lane(m, op, &tile), &addr, &mask);
    }
    if (e.width == 0) {
        pr_im_note(m, op, "the element size of an access is not known");
        e.width = 1;
    }
    pr_iset *deps = add_deps(m, NULL, data, &e);
    finish(m, op, &e, deps, NULL, NULL);
    pr_iset_drop(m, deps);
    pr_ival_drop(m, addr);
    pr_ival_drop(m, mask);
}

void pr_im_access(pr_machine *m, const pr_op *op)
{
    const pr_type *t = op->n_operands ? op->operands[0]->type : NULL;
    if (!t) {
        pr_im_note(m, op, "the pointer of an access has no type");
        pr_im_set_unknown(m, op);
        return;
    }
    if (m->setup.ir->has_deep && pr_op_is_deep(op)) {
        pr_im_note(m, op, "memory is accessed with a tensor of too many dimensions");
        pr_im_set_unknown(m, op);
        return;
    }
    switch (op->opcode) {
    case PR_OP_TT_DESCRIPTOR_LOAD: case PR_OP_TT_DESCRIPTOR_STORE: case PR_OP_TT_DESCRIPTOR_REDUCE:
    case PR_OP_TT_DESCRIPTOR_GATHER: case PR_OP_TT_DESCRIPTOR_SCATTER:
        descriptor_access(m, op);
        return;
    default: pointer_access(m, op); return;
    }
}
