/* What does one memory operation access? Pointers, block pointers and descriptors become records: one
 * per entry of the guarded pointer set, with byte offset, mask and obligations (ttir-front.md 2.2, 2.3,
 * 3.1). Results of loads and integer atomics are symbols over iterations and lanes, never merged. */
#include "front/value.h"

typedef struct request {
    pr_record_kind kind;
    const pr_type *shape;          /* lanes of the access                                        */
    const pr_type *pointee;        /* element accessed                                           */
    pr_val *ptr;                   /* PTR value, or the base of a view                            */
    pr_val *mask, *value, *cmp;    /* null when absent                                           */
    pr_val *extra;                 /* further value that reaches the address                       */
    bool via_desc, via_bptr;
    pr_sem sem; pr_scope scope; pr_rmw_op rmw_op;
} request;

static const pr_type *shape_of_scalar(void)
{
    static const pr_type t = { .kind = PR_TYPE_INT, .bits = 32 };
    return &t;
}

/* ---- simplification under the mask ---------------------------------------------------------- */
static const char *const unread_lane[2] = { "masked-off lane of a load without `other`", "masked-off lane of an atomic" };

static bool is_unread_lane(void *user, const pr_terms *T, pr_term t)
{
    (void)user;
    if (pr_term_op_of(T, t) != PR_TERM_OP_APP) return false;
    const pr_sym_info *s = pr_sym_get(T, pr_term_sym(T, t));
    return s->kind == PR_SYM_OPAQUE && (s->reason == unread_lane[0] || s->reason == unread_lane[1]);
}

typedef PR_VEC(uint32_t) id_vec;
typedef struct collect { pr_arena *arena; id_vec ids; } collect;
static void collect_node(void *user, pr_term t)
{
    collect *k = user;
    pr_vec_push(k->arena, &k->ids, t.id);
}

static int find_id(const id_vec *v, uint32_t id)
{
    int lo = 0, hi = v->n;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (v->data[mid] < id) lo = mid + 1;
        else hi = mid;
    }
    return lo < v->n && v->data[lo] == id ? lo : -1;
}

/* Of two arguments, an integer each; null: another operation. */
static pr_term (*binary(pr_term_op op))(pr_terms *, pr_term, pr_term)
{
    switch (op) {
    case PR_TERM_OP_MUL: return pr_mul;
    case PR_TERM_OP_FDIV: return pr_fdiv_t;
    case PR_TERM_OP_FMOD: return pr_fmod_t;
    case PR_TERM_OP_TDIV: return pr_tdiv_t;
    case PR_TERM_OP_TREM: return pr_trem_t;
    case PR_TERM_OP_MIN: return pr_min;
    case PR_TERM_OP_MAX: return pr_max;
    case PR_TERM_OP_BAND: return pr_band;
    case PR_TERM_OP_BOR: return pr_bor;
    case PR_TERM_OP_BXOR: return pr_bxor;
    default: return NULL;
    }
}

/* Does part hold because known does: the same, or one bound on the same sum that is no stronger? */
static bool follows(pr_terms *T, pr_term known, pr_term part)
{
    pr_i128 by;
    if (pr_term_is(known, part)) return true;
    if (pr_term_op_of(T, known) != PR_TERM_OP_LE0 || pr_term_op_of(T, part) != PR_TERM_OP_LE0) return false;
    return pr_term_const(T, pr_sub(T, pr_term_child(T, known, 0), pr_term_child(T, part, 0)), &by) && by >= 0;
}

/* t where every conjunct of mask holds: choices made by one of them are resolved. Arithmetic and choices are entered, which is what an
 * address made of a masked load consists of. */
static pr_term under_mask(pr_lower *c, pr_term t, pr_term mask)
{
    pr_terms *T = c->T;
    if (pr_term_none(t) || !pr_term_any(T, t, is_unread_lane, NULL)) return t;
    pr_term_vec known = { 0 };
    pr_conjuncts(T, mask, &known, c->arena);
    collect k = { .arena = c->arena };
    pr_term_visit(T, t, collect_node, &k);
    for (int i = 1; i < k.ids.n; i++) /* ids come children first; sort for the lookup */
        for (int j = i; j > 0 && k.ids.data[j - 1] > k.ids.data[j]; j--) {
            uint32_t s = k.ids.data[j];
            k.ids.data[j] = k.ids.data[j - 1];
            k.ids.data[j - 1] = s;
        }
    pr_term *now = PR_NEW_N(c->arena, pr_term, k.ids.n + 1);
#define NOW(x) now[find_id(&k.ids, (x).id)]
    for (int i = 0; i < k.ids.n; i++) {
        pr_term n = { k.ids.data[i] };
        now[i] = n;
        if (pr_term_op_of(T, n) == PR_TERM_OP_SUM) {
            pr_term s = pr_const(T, pr_term_value(T, n));
            for (int a = 0; a < pr_term_arity(T, n); a++)
                s = pr_add(T, s, pr_scale(T, NOW(pr_term_child(T, n, a)), pr_term_coef(T, n, a)));
            now[i] = s;
        } else if (binary(pr_term_op_of(T, n)))
            now[i] = binary(pr_term_op_of(T, n))(T, NOW(pr_term_child(T, n, 0)), NOW(pr_term_child(T, n, 1)));
        else if (pr_term_op_of(T, n) == PR_TERM_OP_SELECT) {
            pr_term q = pr_term_child(T, n, 0);
            bool yes = false, no = false;
            pr_term_vec parts = { 0 };
            pr_conjuncts(T, q, &parts, c->arena);
            int met = 0;
            for (int p = 0; p < parts.n; p++)
                for (int m = 0; m < known.n; m++)
                    if (follows(T, known.data[m], parts.data[p])) { met++; break; }
            yes = met == parts.n;
            pr_term not = pr_not(T, q);
            for (int m = 0; m < known.n; m++) no |= follows(T, known.data[m], not);
            pr_term a = NOW(pr_term_child(T, n, 1)), b = NOW(pr_term_child(T, n, 2));
            now[i] = yes ? a : no ? b : pr_select(T, q, a, b);
        }
    }
    pr_term r = NOW(t);
#undef NOW
    return pr_term_none(r) ? t : r;
}

/* ---- emission ------------------------------------------------------------------------------- */
static void set_callers(pr_lower *c, const pr_op *op, pr_record *r)
{
    PR_VEC(pr_loc) v = { 0 };
    const pr_srcloc *s = pr_srcloc_user(op->loc);
    for (s = s ? s->caller : NULL; s; s = s->caller) {
        pr_loc l = { .file = s->file, .line = s->line, .col = s->col };
        pr_vec_push(c->arena, &v, l);
    }
    for (int i = c->n_calls - 1; i >= 0; i--) pr_vec_push(c->arena, &v, c->call_locs[i]);
    r->callers = v.data;
    r->n_callers = v.n;
}

static void refuse_record(pr_lower *c, pr_record *r, pr_refusal_kind kind, const char *why)
{
    if (r->refused.kind) return;
    r->refused = (pr_refusal){ .kind = kind, .loc = r->loc, .message = why };
}

static void add_ids(pr_lower *c, pr_ids *into, const pr_val *v)
{
    if (v) *into = pr_ids_union(c, *into, v->all);
}

static pr_ids without_markers(pr_ids s)
{
    while (s.n && s.v[0] < 0) { s.v++; s.n--; }
    return s;
}

static pr_ids positional(pr_lower *c, const request *q)
{
    pr_val *const parts[4] = { q->ptr, q->mask, q->value, q->cmp };
    pr_ids s = { NULL, 0 };
    int rank = pr_type_rank(q->shape);
    for (int i = 0; i < 4; i++) {
        const pr_val *v = parts[i];
        if (!v || pr_type_rank(v->type) != rank) continue;
        bool same = true;
        for (int d = 0; d < rank; d++) same &= v->type->shape[d] == q->shape->shape[d];
        if (same) s = pr_ids_union(c, s, v->pos);
    }
    return without_markers(s);
}

/* The same of what iterations hand on. */
static void carried(pr_lower *c, const request *q, pr_record *r)
{
    pr_val *const parts[4] = { q->ptr, q->mask, q->value, q->cmp };
    pr_ids s = { NULL, 0 };
    for (int i = 0; i < 4; i++) {
        const pr_val *v = parts[i];
        bool same = v && pr_type_rank(v->type) == pr_type_rank(q->shape);
        for (int d = 0; same && d < pr_type_rank(q->shape); d++) same = v->type->shape[d] == q->shape->shape[d];
        if (same) s = pr_ids_union(c, s, v->carried);
    }
    pr_carried *list = PR_NEW_N(c->arena, pr_carried, s.n + 1);
    for (int i = 0; i < s.n; i++) list[i] = c->carried.data[s.v[i]];
    r->carried = list;
    r->n_carried = s.n;
}

static void fill_record(pr_lower *c, const pr_op *op, const request *q, int access, int seq, int target)
{
    pr_terms *T = c->T;
    pr_record r = { .access = access, .seq = seq, .kind = q->kind, .via_desc = q->via_desc,
                    .via_bptr = q->via_bptr, .frame = c->frame, .sem = q->sem, .scope = q->scope,
                    .rmw_op = q->rmw_op, .after_wait = c->waited, .base = -1, .offset = PR_TERM_ZERO, .mask = PR_TERM_TRUE,
                    .mask_held = PR_TERM_TRUE, .offset_held = q->ptr->held, .value_held = PR_TERM_TRUE };
    r.id = c->out->records.n;
    r.loc = pr_loc_of(op);
    set_callers(c, op, &r);
    r.site = (pr_site){ op->id, c->n_calls, c->calls };
    r.width = pr_type_bytes(q->pointee);
    r.rank = pr_type_rank(q->shape);
    for (int d = 0; d < r.rank; d++) r.shape[d] = q->shape->shape[d];
    if (q->mask && !(PR_FAULT(c, PR_FAULT_STORE_MASK) && q->kind == PR_RECORD_STORE)) {
        r.mask = pr_val_bool(c, q->mask);
        r.mask_held = q->mask->held;
        if (pr_term_none(r.mask)) {
            refuse_record(c, &r, PR_REFUSAL_OTHER, "a mask that is not Boolean");
            r.mask = PR_TERM_TRUE;
        }
    }
    if (target >= 0) {
        const pr_target *t = &q->ptr->target[target];
        r.base = t->base;
        r.mask = pr_and(T, r.mask, t->guard);
        if (q->ptr->n_target > 1) r.mask_held = pr_and(T, r.mask_held, q->ptr->held);
        r.offset = under_mask(c, t->offset, r.mask);
    }
    if (q->kind >= PR_RECORD_RMW && q->scope == PR_SCOPE_NONE)
        refuse_record(c, &r, PR_REFUSAL_OTHER, "unknown scope of an atomic");
    if (q->ptr->lost || target < 0)
        refuse_record(c, &r, q->ptr->lost ? q->ptr->lost : PR_REFUSAL_OTHER,
                      q->ptr->lost ? q->ptr->lost_why : "an address that is not represented");
    if (pr_term_none(r.offset) || pr_term_none(r.mask)) {
        refuse_record(c, &r, PR_REFUSAL_OTHER, "an address with constants out of range");
        if (pr_term_none(r.offset)) r.offset = PR_TERM_ZERO;
        if (pr_term_none(r.mask)) r.mask = PR_TERM_TRUE;
    }
    if (pr_term_none(r.mask_held)) r.mask_held = PR_TERM_TRUE;
    if (r.width <= 0) {
        refuse_record(c, &r, PR_REFUSAL_OTHER, "an element of unknown size");
        r.width = 1;
    }
    if (q->value && (q->value->kind == PR_VAL_INT || q->value->kind == PR_VAL_BOOL)) {
        bool unread = false;                /* what each use may see differently counts for nothing */
        for (int i = 1; op->opcode == PR_OP_TT_ATOMIC_RMW && i < op->n_operands; i++) unread = unread || !pr_all_defined(c, op->operands[i]);
        r.value = unread ? PR_TERM_NONE : pr_val_int(c, q->value);
        r.value_held = q->value->held;
    }
    if (q->cmp && (q->cmp->kind == PR_VAL_INT || q->cmp->kind == PR_VAL_BOOL)) {
        r.cmp = pr_val_int(c, q->cmp);
        r.value_held = pr_and(T, r.value_held, q->cmp->held);
    }
    pr_ids deps = positional(c, q), control = without_markers(c->control);
    r.deps = deps.v;
    r.n_deps = deps.n;
    carried(c, q, &r);
    r.control_deps = control.v;
    r.n_control_deps = control.n;
    pr_vec_push(c->arena, &c->out->records, r);
}

static int emit(pr_lower *c, const pr_op *op, const request *q)
{
    int access = pr_access_number(c, op);
    pr_ids feeds = { NULL, 0 };
    add_ids(c, &feeds, q->ptr);
    add_ids(c, &feeds, q->mask);
    add_ids(c, &feeds, q->extra);
    pr_access_info *info = &c->access.data[access];
    info->feeds = pr_ids_union(c, info->feeds, feeds);
    for (int i = 0; q->mask && i < q->mask->all.n; i++)
        if (q->mask->all.v[i] >= 0) c->access.data[q->mask->all.v[i]].mask = true;
    if (c->dry) return access;
    int seq = c->seq++;
    if (q->ptr->n_target == 0) fill_record(c, op, q, access, seq, -1);
    for (int t = 0; t < q->ptr->n_target; t++) fill_record(c, op, q, access, seq, t);
    return access;
}

/* The value an access returns: a symbol where active, `other` (or nothing known) elsewhere. */
static pr_val *returned(pr_lower *c, const pr_op *op, const pr_type *t, int access, const request *q,
                        pr_val *other, bool atomic)
{
    pr_terms *T = c->T;
    pr_val *r = pr_val_new(c, t);
    r->all = pr_ids_one(c, access);
    r->pos = r->all;
    r->from_memory = !atomic;
    r->from_atomic = atomic;
    if (r->kind == PR_VAL_PTR || r->kind == PR_VAL_BPTR || r->kind == PR_VAL_DESC) {
        r->lost = PR_REFUSAL_INDIRECT_ADDRESS;
        r->lost_why = "a pointer loaded from memory";
        return r;
    }
    if (r->kind != PR_VAL_INT && r->kind != PR_VAL_BOOL) return r;
    int bits = pr_int_bits(t);
    pr_sym_info info = { .kind = atomic ? PR_SYM_OBSERVED : PR_SYM_LOADED, .is_bool = r->kind == PR_VAL_BOOL,
                         .bits = bits > 120 ? 120 : bits, .access = access, .from_memory = !atomic,
                         .from_atomic = atomic, .refusal = PR_REFUSAL_INDIRECT_ADDRESS,
                         .reason = atomic ? "a value returned by an atomic" : "a value loaded from memory",
                         .op_id = op->id };
    r->term = pr_symbol(c, info, t);
    r->gap = PR_REFUSAL_NONE;
    pr_term mask = q->mask ? pr_val_bool(c, q->mask) : PR_TERM_TRUE;
    if (pr_term_none(mask) || pr_term_is(mask, PR_TERM_TRUE)) return r;
    r->held = q->mask->held;
    pr_term rest;
    if (other && other->kind == r->kind) {
        rest = other->term;
        r->held = pr_and(T, r->held, pr_implies(T, pr_not(T, mask), other->held));
        r->from_memory |= other->from_memory;
        r->from_atomic |= other->from_atomic;
        r->gap = other->gap;
        r->why = other->why;
    } else {
        info.kind = PR_SYM_OPAQUE;
        info.access = -1;
        info.reason = unread_lane[atomic];
        rest = pr_symbol(c, info, t);
    }
    if (other) r->all = pr_ids_union(c, r->all, other->all);
    r->all = pr_ids_union(c, r->all, q->mask->all);
    return pr_val_finish(c, op, r, pr_select(T, mask, r->term, rest));
}

/* ---- enumerations ---------------------------------------------------------------------------- */
static pr_sem sem_of(pr_lower *c, const pr_op *op)
{
    static const pr_sem by_number[] = { PR_SEM_RELAXED, PR_SEM_RELAXED, PR_SEM_ACQUIRE, PR_SEM_RELEASE,
                                        PR_SEM_ACQ_REL };
    pr_i128 n = pr_op_attr_int(op, "sem", 0);
    return n >= 0 && n < (pr_i128)PR_LEN(by_number) ? by_number[(int)n] : PR_SEM_RELAXED;
}

static pr_scope scope_of(pr_lower *c, const pr_op *op)
{
    pr_attr *a = pr_op_attr(op, "scope");
    if (!a) return PR_SCOPE_GPU;
    if (a->kind == PR_ATTR_INT) {
        if (a->integer == 1) return PR_SCOPE_GPU;
        if (a->integer == 2) return PR_SCOPE_CTA;
        if (a->integer == 3) return PR_SCOPE_SYS;
    }
    pr_refuse(c, op, PR_REFUSAL_OTHER, "unknown scope of an atomic");
    return PR_SCOPE_NONE;       /* neither a race nor a proof: the record is refused */
}

/* ---- plain pointers --------------------------------------------------------------------------- */
static const pr_type *pointee_of(const pr_type *t)
{
    const pr_type *s = pr_type_scalar(t);
    return s->kind == PR_TYPE_POINTER ? s->elem : NULL;
}

/* A pointer operand ready for use; outside global memory it is refused. */
static pr_val *pointer(pr_lower *c, const pr_op *op, int i)
{
    pr_val *p = pr_operand(c, op, i);
    const pr_type *s = p->type ? pr_type_scalar(p->type) : NULL;
    if (s && s->kind == PR_TYPE_POINTER && s->addr_space != 1) {
        pr_refuse(c, op, PR_REFUSAL_OUT_OF_VOCABULARY, "pointer into address space %d", s->addr_space);
        p = pr_val_lost(c, p->type, &p, 1, PR_REFUSAL_OUT_OF_VOCABULARY, "pointer outside global memory");
    }
    return p;
}

static pr_val *operand_or_null(pr_lower *c, const pr_op *op, int i)
{
    return i >= 0 && i < op->n_operands ? pr_operand(c, op, i) : NULL;
}

/* Address and mask of a view whose corner is at index[d] (elements) along dimension d. */
static void view_access(pr_lower *c, const pr_op *op, request *q, const pr_val *v, pr_term *index,
                        unsigned checked, pr_term held)
{
    pr_terms *T = c->T;
    const pr_view *w = v->view;
    pr_val *p = pr_val_clone(c, v, q->shape);
    p->kind = PR_VAL_PTR;
    p->view = NULL;
    p->held = pr_and(T, v->held, held);
    static pr_type i1 = { .kind = PR_TYPE_INT, .bits = 1 };
    pr_val *m = pr_val_new(c, &i1);
    m->term = PR_TERM_TRUE;
    m->held = p->held;
    m->all = p->all;
    pr_term sum = PR_TERM_ZERO;
    for (int d = 0; w && d < w->rank; d++) {
        sum = pr_add(T, sum, pr_mul(T, index[d], w->stride[d]));
        if (checked >> d & 1)
            m->term = pr_and(T, m->term, pr_and(T, pr_le(T, PR_TERM_ZERO, index[d]),
                                                pr_lt(T, index[d], w->shape[d])));
    }
    if (w) {
        sum = pr_scale(T, sum, w->elem_bytes);
        p->target = p->n_target ? pr_arena_copy(c->arena, v->target, sizeof *v->target * (size_t)v->n_target) : NULL;
        for (int i = 0; i < p->n_target; i++) p->target[i].offset = pr_add(T, p->target[i].offset, sum);
    } else if (!p->lost) {
        p->lost = PR_REFUSAL_OTHER;
        p->lost_why = "a block whose shape is not known";
        p->n_target = 0;
    }
    q->ptr = p;
    if (checked) q->mask = m;
}

static pr_term tile_index(pr_lower *c, const pr_type *tile, int d, pr_term corner)
{
    return tile->shape[d] == 1 ? corner : pr_add(c->T, corner, pr_lane_term(c, d));
}

static unsigned boundary_dims(const pr_op *op)
{
    pr_attr *a = pr_op_attr(op, "boundaryCheck");
    unsigned set = 0;
    for (int i = 0; a && i < a->n_ints; i++)
        if (a->ints[i] >= 0 && a->ints[i] < PR_MAX_RANK) set |= 1u << (int)a->ints[i];
    return set;
}

static void block_pointer_access(pr_lower *c, const pr_op *op, request *q)
{
    pr_val *v = pointer(c, op, 0);
    const pr_type *tile = pointee_of(v->type);
    q->shape = tile;
    q->pointee = tile->elem;
    q->via_bptr = true;
    pr_term index[PR_MAX_RANK];
    for (int d = 0; v->view && d < v->view->rank && d < tile->rank; d++)
        index[d] = tile_index(c, tile, d, v->view->offset[d]);
    if (v->view && v->view->rank != tile->rank) {
        v = pr_val_lost(c, v->type, &v, 1, PR_REFUSAL_OTHER, "a block pointer of odd rank");
        v->view = NULL;
    }
    view_access(c, op, q, v, index, boundary_dims(op), PR_TERM_TRUE);
}

static bool is_block_pointer(const pr_type *t)
{
    return pr_val_kind_of(t) == PR_VAL_BPTR;
}

static void load(pr_lower *c, const pr_op *op)
{
    int seg[3] = { 1, op->n_operands > 1, op->n_operands > 2 };
    pr_op_segments(op, 3, seg);
    pr_val *mask = seg[1] ? operand_or_null(c, op, 1) : NULL;
    pr_val *other = seg[2] ? operand_or_null(c, op, 1 + seg[1]) : NULL;
    const pr_type *t = op->results[0]->type;
    request q = { .kind = PR_RECORD_LOAD, .sem = PR_SEM_PLAIN, .mask = mask, .extra = other };
    if (is_block_pointer(op->operands[0]->type)) {
        block_pointer_access(c, op, &q);
        int a = emit(c, op, &q);
        pr_val *zero = NULL;
        if (q.mask && pr_val_kind_of(t) == PR_VAL_INT) {
            zero = pr_val_new(c, t); /* integer padding is zero */
            zero->term = PR_TERM_ZERO;
        }
        pr_result(c, op, 0, returned(c, op, t, a, &q, zero, false));
        return;
    }
    q.ptr = pointer(c, op, 0);
    q.shape = op->operands[0]->type;
    q.pointee = pointee_of(q.shape);
    int a = emit(c, op, &q);
    pr_result(c, op, 0, returned(c, op, t, a, &q, other, false));
}

static void store(pr_lower *c, const pr_op *op)
{
    request q = { .kind = PR_RECORD_STORE, .sem = PR_SEM_PLAIN, .value = pr_operand(c, op, 1),
                  .mask = operand_or_null(c, op, 2) };
    if (is_block_pointer(op->operands[0]->type)) block_pointer_access(c, op, &q);
    else {
        q.ptr = pointer(c, op, 0);
        q.shape = op->operands[0]->type;
        q.pointee = pointee_of(q.shape);
    }
    emit(c, op, &q);
}

static bool rmw_kind(pr_lower *c, const pr_op *op, pr_rmw_op *out)
{
    static const pr_rmw_op by_number[] = { PR_RMW_ADD, PR_RMW_AND, PR_RMW_OR, PR_RMW_XOR, PR_RMW_ADD,
                                           PR_RMW_FADD, PR_RMW_MAX, PR_RMW_MIN, PR_RMW_UMAX, PR_RMW_UMIN,
                                           PR_RMW_XCHG };
    pr_i128 n = pr_op_attr_int(op, "atomic_rmw_op", 0);
    *out = n > 0 && n < (pr_i128)PR_LEN(by_number) ? by_number[(int)n] : PR_RMW_XCHG;
    if (n > 0 && n < (pr_i128)PR_LEN(by_number)) return true;
    pr_refuse(c, op, PR_REFUSAL_OTHER, "unknown kind of atomic read-modify-write");
    return false;
}

static void atomic(pr_lower *c, const pr_op *op)
{
    request q = { .sem = sem_of(c, op), .scope = scope_of(c, op), .ptr = pointer(c, op, 0),
                  .shape = op->operands[0]->type };
    q.pointee = pointee_of(q.shape);
    switch (op->opcode) {
    case PR_OP_TT_ATOMIC_RMW:
        q.kind = PR_RECORD_RMW;
        q.value = rmw_kind(c, op, &q.rmw_op) ? pr_operand(c, op, 1) : NULL;
        q.mask = operand_or_null(c, op, 2);
        break;
    case PR_OP_TT_ATOMIC_CAS:
        q.kind = PR_RECORD_CAS;
        q.cmp = pr_operand(c, op, 1);
        q.value = pr_operand(c, op, 2);
        break;
    case PR_OP_TT_ATOMIC_POLL:
        q.kind = PR_RECORD_POLL;
        q.cmp = pr_operand(c, op, 1);
        break;
    case PR_OP_TT_ATOMIC_LOAD:
        q.kind = PR_RECORD_ATOMIC_LOAD;
        q.mask = operand_or_null(c, op, 1);
        break;
    default:
        q.kind = PR_RECORD_ATOMIC_STORE;
        q.value = pr_operand(c, op, 1);
        q.mask = operand_or_null(c, op, 2);
        break;
    }
    int first = c->out->records.n;
    int a = emit(c, op, &q);
    if (op->opcode == PR_OP_TT_ATOMIC_POLL) {
        /* Without a timeout the poll returns only when the value was seen. */
        pr_val *r = pr_val_new(c, op->results[0]->type);
        if (op->n_operands > 2) {
            r = pr_val_opaque(c, op, op->results[0]->type, NULL, 0, true, PR_REFUSAL_NONE, "poll with a timeout");
            r->from_atomic = true;
        } else {
            r->term = PR_TERM_TRUE;
            pr_term exit = PR_TERM_NONE;
            if (pr_type_rank(q.shape) == 0 && q.cmp->kind == PR_VAL_INT) {
                pr_sym_info info = { .kind = PR_SYM_OBSERVED, .bits = pr_int_bits(q.cmp->type), .access = a, .from_atomic = true,
                                     .refusal = PR_REFUSAL_INDIRECT_ADDRESS, .reason = "the value a poll saw", .op_id = op->id };
                exit = pr_eq(c->T, pr_symbol(c, info, q.cmp->type), pr_val_int(c, q.cmp));
            }
            if (!c->dry) pr_mark_await(c, a, first, false, exit, q.cmp->held);
            c->waited = true;
        }
        r->all = r->pos = pr_ids_one(c, a);
        pr_result(c, op, 0, r);
    } else if (op->n_results) pr_result(c, op, 0, returned(c, op, op->results[0]->type, a, &q, NULL, true));
}

/* ---- pointer arithmetic ----------------------------------------------------------------------- */
static void addptr(pr_lower *c, const pr_op *op)
{
    pr_val *p = pr_operand(c, op, 0), *o = pr_operand(c, op, 1), *from[2] = { p, o };
    const pr_type *t = op->results[0]->type, *elem = pointee_of(t);
    pr_val *r = pr_val_derive(c, t, from, 2, true);
    int64_t size = elem ? pr_type_bytes(elem) : 0;
    if (PR_FAULT(c, PR_FAULT_ELEM_SIZE)) size = 4;
    pr_term by = pr_val_int(c, o);
    if (o->kind == PR_VAL_BOOL) by = pr_neg(c->T, by);
    if (p->lost || size <= 0 || pr_term_none(by) || !p->n_target) {
        r->lost = p->lost ? p->lost : PR_REFUSAL_OTHER;
        r->lost_why = p->lost ? p->lost_why : "pointer arithmetic that is not represented";
        pr_result(c, op, 0, r);
        return;
    }
    r->n_target = p->n_target;
    r->target = pr_arena_copy(c->arena, p->target, sizeof *p->target * (size_t)p->n_target);
    by = pr_scale(c->T, by, size);
    for (int i = 0; i < r->n_target; i++) {
        r->target[i].offset = pr_add(c->T, r->target[i].offset, by);
        if (!pr_term_none(r->target[i].offset)) continue;
        r->lost = PR_REFUSAL_OTHER;
        r->lost_why = "offset constants out of range";
        r->n_target = 0;
    }
    pr_result(c, op, 0, r);
}

static void bitcast(pr_lower *c, const pr_op *op)
{
    pr_val *v = pr_operand(c, op, 0);
    const pr_type *t = op->results[0]->type;
    pr_val_kind k = pr_val_kind_of(t);
    bool same = k == v->kind && (k != PR_VAL_INT || pr_int_bits(t) == pr_int_bits(v->type));
    if (same && k != PR_VAL_DESC && k != PR_VAL_BPTR) pr_result(c, op, 0, pr_val_clone(c, v, t));
    else pr_opaque_results(c, op, true, PR_REFUSAL_NONE, NULL);
}

static void ptr_to_int(pr_lower *c, const pr_op *op)
{
    pr_val *v = pr_operand(c, op, 0);
    pr_val *r = pr_val_opaque(c, op, op->results[0]->type, &v, 1, true, PR_REFUSAL_OTHER, "an absolute address");
    if (v->kind == PR_VAL_PTR) r->addr = v;
    pr_result(c, op, 0, r);
}

static void int_to_ptr(pr_lower *c, const pr_op *op)
{
    pr_val *v = pr_operand(c, op, 0);
    const pr_type *t = op->results[0]->type;
    if (v->addr && pr_val_kind_of(t) == PR_VAL_PTR) { pr_result(c, op, 0, pr_val_clone(c, v->addr, t)); return; }
    bool memory = v->from_memory || v->from_atomic;
    pr_result(c, op, 0, pr_val_lost(c, t, &v, 1, memory ? PR_REFUSAL_INDIRECT_ADDRESS : PR_REFUSAL_OTHER,
                                    memory ? "an address loaded from memory" : "an integer used as an address"));
}

/* ---- block pointers and descriptors ------------------------------------------------------------ */
static void make_view(pr_lower *c, const pr_op *op)
{
    bool desc = op->opcode == PR_OP_TT_MAKE_TENSOR_DESCRIPTOR;
    const pr_type *t = op->results[0]->type, *tile = t->elem;
    int n = desc ? 3 : 4, seg[4], rank = (op->n_operands - 1) / (n - 1);
    if (!pr_op_segments(op, n, seg)) {
        seg[0] = 1;
        seg[1] = seg[2] = seg[3] = rank;
    }
    pr_val **from = PR_NEW_N(c->arena, pr_val *, op->n_operands);
    for (int i = 0; i < op->n_operands; i++) from[i] = pr_operand(c, op, i);
    pr_val *r = pr_val_derive(c, t, from, op->n_operands, false), *base = pointer(c, op, 0);
    pr_view *w = PR_NEW(c->arena, pr_view);
    rank = seg[1];
    bool fine = seg[0] == 1 && seg[2] == rank && (desc || seg[3] == rank) && rank <= PR_MAX_RANK && tile &&
                tile->kind == PR_TYPE_TENSOR && tile->rank == rank && base->kind == PR_VAL_PTR &&
                op->n_operands == 1 + rank * (n - 1);
    for (int d = 0; fine && d < rank; d++) {
        w->shape[d] = pr_val_int(c, from[1 + d]);
        w->stride[d] = pr_val_int(c, from[1 + rank + d]);
        w->offset[d] = desc ? PR_TERM_ZERO : pr_val_int(c, from[1 + 2 * rank + d]);
        fine = !pr_term_none(w->shape[d]) && !pr_term_none(w->stride[d]) && !pr_term_none(w->offset[d]);
    }
    if (!fine || base->lost) {
        r->lost = base->lost ? base->lost : PR_REFUSAL_OTHER;
        r->lost_why = base->lost ? base->lost_why : "a block whose shape is not represented";
    } else {
        w->rank = rank;
        w->elem_bytes = pr_type_bytes(tile->elem);
        r->view = w;
        r->target = base->target;
        r->n_target = base->n_target;
    }
    pr_result(c, op, 0, r);
}

static void advance(pr_lower *c, const pr_op *op)
{
    pr_val *v = pr_operand(c, op, 0);
    pr_val **from = PR_NEW_N(c->arena, pr_val *, op->n_operands);
    for (int i = 0; i < op->n_operands; i++) from[i] = pr_operand(c, op, i);
    const pr_type *t = op->results[0]->type;
    if (!v->view || v->lost || v->view->rank != op->n_operands - 1) {
        pr_result(c, op, 0, pr_val_lost(c, t, from, op->n_operands, v->lost ? v->lost : PR_REFUSAL_OTHER,
                                        v->lost ? v->lost_why : "advance of an odd block pointer"));
        return;
    }
    pr_val *r = pr_val_derive(c, t, from, op->n_operands, false);
    r->target = v->target;
    r->n_target = v->n_target;
    pr_view *w = pr_arena_copy(c->arena, v->view, sizeof *v->view);
    for (int d = 0; d < w->rank; d++) {
        w->offset[d] = pr_add(c->T, w->offset[d], pr_val_int(c, from[1 + d]));
        pr_oblige(c, r, PR_FITS_SIGNED, 32, w->offset[d]);
    }
    r->view = w;
    pr_result(c, op, 0, r);
}

/* Corner of a descriptor access: operands first..first+rank-1. Rows of gather and scatter vary. */
static void descriptor(pr_lower *c, const pr_op *op)
{
    pr_val *v = pr_operand(c, op, 0);
    const pr_type *tile = op->operands[0]->type->elem;
    int code = op->opcode;
    bool writes = code == PR_OP_TT_DESCRIPTOR_STORE || code == PR_OP_TT_DESCRIPTOR_REDUCE;
    bool rows = code == PR_OP_TT_DESCRIPTOR_GATHER || code == PR_OP_TT_DESCRIPTOR_SCATTER;
    request q = { .via_desc = true, .sem = PR_SEM_PLAIN };
    pr_val *value = writes ? pr_operand(c, op, 1) : code == PR_OP_TT_DESCRIPTOR_SCATTER ? pr_operand(c, op, 3) : NULL;
    int first = writes ? 2 : 1, n_index = rows ? 2 : op->n_operands - first;
    q.shape = rows ? (value ? value->type : op->results[0]->type) : tile;
    q.pointee = tile ? tile->elem : NULL;
    bool fine = tile && tile->kind == PR_TYPE_TENSOR && q.shape->kind == PR_TYPE_TENSOR &&
                q.shape->rank == n_index && (!v->view || v->view->rank == n_index);
    if (!fine) {
        if (!q.shape || q.shape->kind != PR_TYPE_TENSOR) q.shape = shape_of_scalar();
        v = pr_val_lost(c, v->type, &v, 1, v->lost ? v->lost : PR_REFUSAL_OTHER, "a descriptor access of odd rank");
    }
    pr_term index[PR_MAX_RANK], held = PR_TERM_TRUE;
    pr_val *seen = pr_val_clone(c, v, v->type);
    for (int d = 0; fine && d < n_index; d++) {
        pr_val *i = pr_operand(c, op, first + d);
        pr_term corner = pr_val_int(c, i);
        bool per_row = rows && d == 0;
        index[d] = per_row ? corner : tile_index(c, q.shape, d, corner);
        held = pr_and(c->T, held, i->held);
        seen->all = pr_ids_union(c, seen->all, i->all);
        pr_mark_other_shape(c, i->all);
    }
    unsigned checked = fine && v->view ? (1u << n_index) - 1 : 0;
    seen->pos = seen->carried = (pr_ids){ NULL, 0 };
    view_access(c, op, &q, seen, index, checked, held);
    if (!value) {
        q.kind = PR_RECORD_LOAD;
        int a = emit(c, op, &q);
        const pr_type *t = op->results[0]->type;
        pr_val *zero = NULL;
        if (pr_val_kind_of(t) == PR_VAL_INT) {
            zero = pr_val_new(c, t);
            zero->term = PR_TERM_ZERO;
        }
        if (pr_type_rank(t) == pr_type_rank(q.shape)) {
            pr_result(c, op, 0, returned(c, op, t, a, &q, zero, false));
            return;
        }
        pr_val *r = pr_val_new(c, t), *from[1] = { r };
        r->from_memory = true;
        r->all = pr_ids_one(c, a);
        pr_result(c, op, 0, pr_val_opaque(c, op, t, from, 1, false, PR_REFUSAL_INDIRECT_ADDRESS,
                                          "a block loaded through a descriptor of other rank"));
        return;
    }
    q.kind = PR_RECORD_STORE;
    q.value = value;
    if (code == PR_OP_TT_DESCRIPTOR_REDUCE) {
        bool is_float = q.pointee && q.pointee->kind == PR_TYPE_FLOAT, is_unsigned = q.pointee && q.pointee->sign == 2;
        pr_rmw_op by_number[] = { PR_RMW_ADD, is_float ? PR_RMW_FADD : PR_RMW_ADD,
                                  is_unsigned ? PR_RMW_UMIN : PR_RMW_MIN, is_unsigned ? PR_RMW_UMAX : PR_RMW_MAX,
                                  PR_RMW_ADD, PR_RMW_ADD, PR_RMW_AND, PR_RMW_OR, PR_RMW_XOR };
        pr_i128 k = pr_op_attr_int(op, "kind", 0);
        bool known = k >= 1 && k < (pr_i128)PR_LEN(by_number);
        if (!known) pr_refuse(c, op, PR_REFUSAL_OTHER, "unknown kind of descriptor reduction");
        q.kind = PR_RECORD_RMW;
        q.sem = PR_SEM_RELAXED;
        q.scope = PR_SCOPE_GPU;
        q.rmw_op = by_number[known ? (int)k : 0];
        if (!known || k == 4 || k == 5) q.value = NULL;
    }
    emit(c, op, &q);
}

static void barrier(pr_lower *c, const pr_op *op)
{
    if (op->opcode == PR_OP_GPU_BARRIER && c->o.no_gpu_barrier) {
        pr_refuse(c, op, PR_REFUSAL_OUT_OF_VOCABULARY, "`gpu.barrier` in a text of Triton 3.7 or newer");
        return;
    }
    /* gpu.barrier fences every space unless it names some; which ones is not read, so it neither orders
     * nor leaves unordered */
    bool named = op->opcode == PR_OP_GPU_BARRIER && pr_op_attr(op, "address_spaces");
    pr_i128 bits = pr_op_attr_int(op, "addrSpace", op->opcode == PR_OP_GPU_BARRIER ? 31 : 0);
    if ((bits & 6) != 6 || c->dry) return;
    pr_fence f = { .seq = c->seq++, .frame = c->frame, .loc = pr_loc_of(op),
                   .site = { op->id, c->n_calls, c->calls }, .opaque_context = c->in_while || named };
    pr_vec_push(c->arena, &c->out->fences, f);
}

bool pr_sem_mem(pr_lower *c, const pr_op *op)
{
    switch (op->opcode) {
    case PR_OP_TT_LOAD: load(c, op); return true;
    case PR_OP_TT_STORE: store(c, op); return true;
    case PR_OP_TT_ATOMIC_RMW: case PR_OP_TT_ATOMIC_CAS: case PR_OP_TT_ATOMIC_POLL:
    case PR_OP_TT_ATOMIC_LOAD: case PR_OP_TT_ATOMIC_STORE:
        atomic(c, op);
        return true;
    case PR_OP_TT_ADDPTR: addptr(c, op); return true;
    case PR_OP_TT_BITCAST: bitcast(c, op); return true;
    case PR_OP_TT_PTR_TO_INT: ptr_to_int(c, op); return true;
    case PR_OP_TT_INT_TO_PTR: int_to_ptr(c, op); return true;
    case PR_OP_TT_MAKE_TENSOR_PTR: case PR_OP_TT_MAKE_TENSOR_DESCRIPTOR: make_view(c, op); return true;
    case PR_OP_TT_ADVANCE: advance(c, op); return true;
    case PR_OP_TT_DESCRIPTOR_LOAD: case PR_OP_TT_DESCRIPTOR_STORE: case PR_OP_TT_DESCRIPTOR_REDUCE:
    case PR_OP_TT_DESCRIPTOR_GATHER: case PR_OP_TT_DESCRIPTOR_SCATTER:
        descriptor(c, op);
        return true;
    case PR_OP_GPU_BARRIER: case PR_OP_TTG_BARRIER: barrier(c, op); return true;
    default: return false;
    }
}
