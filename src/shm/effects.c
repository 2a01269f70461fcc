/* What does a ttg or ttng operation do? (shared-memory.md 1.4 to 1.7, 2.11) */
#include "shm/membar.h"
#include "shm/ptx.h"
#include "shm/walk.h"
#include "term/range.h"
#include <assert.h>

/* The operands of one place of the text format (front/parse_ttg.c). */
typedef struct places { const pr_op *op; int size[12], first[12], n; } places;

static places places_of(const pr_op *op)
{
    places r = { .op = op };
    const pr_attr *a = pr_op_attr(op, "textSegmentSizes");
    int at = 0;
    for (int i = 0; a && a->kind == PR_ATTR_DENSE_ARRAY && i < a->n_ints && i < 12; i++) {
        r.size[i] = (int)a->ints[i];
        r.first[i] = at;
        at += r.size[i];
        r.n = i + 1;
    }
    assert(at <= op->n_operands);
    return r;
}
static const pr_value *at(const places *p, int place, int i)
{
    return place < p->n && i < p->size[place] ? p->op->operands[p->first[place] + i] : NULL;
}

/* ---- views -------------------------------------------------------------------------------------------- */
static void whole(pr_walk *w, int alloc, pr_shm_view *v)
{
    const pr_shm_alloc *a = &w->p->allocs.data[alloc];
    *v = (pr_shm_view){ .alloc = alloc, .rank = a->rank };
    for (int i = 0; i < PR_SHM_RANK; i++) v->dim[i] = -1;
    for (int i = 0; i < a->rank; i++) {
        v->hi[i] = a->shape[i];
        v->dim[i] = i;
    }
}

/* Of a blurred view nothing later can tell whether the index, below n, stays inside: false when it does not show here. */
static bool narrow_index(pr_walk *w, pr_shm_view *v, pr_sv index, int64_t n)
{
    int d = v->rank ? v->dim[0] : -1;
    v->partial = v->partial || d < 0;
    if (d < 0) {
        if (index.kind != PR_SV_TERM || pr_term_is_bool(w->T, index.t)) return false;
        pr_interval r = pr_range_own(w->T, index.t);
        if (r.lo < 0 || r.hi >= n) return false;
    }
    if (d >= 0) {
        v->indexed[d] = true;
        v->index[d] = index.kind == PR_SV_TERM ? index.t : PR_TERM_NONE;
        if (v->lo[d] && !pr_term_none(v->index[d])) v->index[d] = pr_add(w->T, v->index[d], pr_const(w->T, v->lo[d]));
    }
    for (int i = 0; i + 1 < v->rank; i++) v->dim[i] = v->dim[i + 1];
    if (v->rank) v->rank--;
    return true;
}

/* False when the box leaves the view, n long there. */
static bool narrow_box(pr_shm_view *v, int i, int64_t offset, int64_t size, int64_t n)
{
    int d = i < v->rank ? v->dim[i] : -1;
    v->partial = v->partial || d < 0;
    if (offset < 0 || size < 0 || offset > n || size > n - offset) return false;
    if (d < 0) return true;
    v->lo[d] += offset;
    v->hi[d] = v->lo[d] + size;
    return true;
}

static void blur(pr_shm_view *v, int rank)
{
    v->blurred = true;
    v->rank = rank;
    for (int i = 0; i < PR_SHM_RANK; i++) v->dim[i] = -1;
}

/* The view, its bytes read as those of another type: all of them, or a part. False: it goes beyond them. In tensor memory the
 * elements decide how columns are filled. */
static bool reinterpret(pr_walk *w, pr_shm_view *v, const pr_type *t)
{
    const pr_shm_alloc *a = &w->p->allocs.data[v->alloc];
    pr_i128 box = a->elem_bits, bits = t->elem ? t->elem->bits : 0;
    bool other = a->memory == PR_SHM_TMEM && bits != a->elem_bits;
    for (int i = 0; i < a->rank; i++) box *= v->indexed[i] ? 1 : v->hi[i] - v->lo[i];
    for (int i = 0; i < t->rank; i++) bits *= t->shape[i];
    v->partial = v->partial || other || bits != box;
    return bits > 0 && bits <= box;
}

/* The view that op makes of v; false: not known. */
static bool narrowed(pr_walk *w, const pr_op *op, pr_shm_view *v)
{
    const pr_type *t = op->results[0]->type, *from = op->operands[0]->type;
    if (!t || t->kind != PR_TYPE_MEMDESC || !from || from->rank != v->rank) return false;
    places p = places_of(op);
    switch (op->opcode) {
    case PR_OP_TTG_MEMDESC_INDEX:
        if (!narrow_index(w, v, pr_walk_get(w, at(&p, 1, 0)), from->rank ? from->shape[0] : 0)) return false;
        break;
    case PR_OP_TTG_MEMDESC_SUBSLICE: {
        const pr_attr *o = pr_op_attr(op, "offsets");
        if (!o || o->n_ints != t->rank || t->rank != from->rank) return false;
        for (int i = 0; i < t->rank; i++)
            if (o->ints[i] < 0 || o->ints[i] > INT32_MAX || !narrow_box(v, i, (int64_t)o->ints[i], t->shape[i], from->shape[i])) return false;
        break;
    }
    case PR_OP_TTG_MEMDESC_SUBVIEW: {
        int lead = v->rank - t->rank;
        if (lead < 0 || p.size[1] != v->rank) return false;
        for (int i = 0; i < lead; i++)
            if (!narrow_index(w, v, pr_walk_get(w, at(&p, 1, i)), from->shape[i])) return false;
        for (int i = 0; i < t->rank; i++) {
            pr_sv off = pr_walk_get(w, at(&p, 1, lead + i));
            pr_i128 n;
            if (off.kind != PR_SV_TERM || !pr_term_const(w->T, off.t, &n) || n < 0 || n > INT32_MAX) return false;
            if (!narrow_box(v, i, (int64_t)n, t->shape[i], from->shape[lead + i])) return false;
        }
        break;
    }
    case PR_OP_TTG_MEMDESC_TRANS: {
        const pr_attr *o = pr_op_attr(op, "order");
        pr_shm_view was = *v;
        if (!o || o->n_ints != v->rank) return false;
        for (int i = 0; i < v->rank; i++)
            v->dim[i] = o->ints[i] >= 0 && o->ints[i] < v->rank ? was.dim[o->ints[i]] : -1;
        break;
    }
    case PR_OP_TTNG_TMEM_SUBSLICE: {
        pr_i128 n = pr_op_attr_int(op, "offset", pr_op_attr_int(op, "N", -1));
        int dim = (int)pr_op_attr_int(op, "dim", t->rank - 1);
        if (n < 0 || n > INT32_MAX || dim < 0 || dim >= t->rank || t->rank != from->rank) return false;
        if (!narrow_box(v, dim, (int64_t)n, t->shape[dim], from->shape[dim])) return false;
        break;
    }
    default:
        if (op->opcode == PR_OP_TTG_MEMDESC_REINTERPRET && !reinterpret(w, v, t)) return false;
        blur(v, t->rank);
    }
    return true;
}

static bool view(pr_walk *w, const pr_op *op)
{
    if (!pr_shm_is_view(op->opcode)) return false;
    pr_sv s = pr_walk_get(w, op->operands[0]);
    if (s.kind == PR_SV_VIEW && narrowed(w, op, &s.v)) pr_walk_set(w, op->results[0], s);
    if (s.kind != PR_SV_VIEWS) return true;          /* else it stays opaque                              */
    pr_shm_view *all = pr_arena_copy(w->arena, s.views, sizeof *all * (size_t)s.n_views);
    for (int i = 0; i < s.n_views; i++)
        if (!narrowed(w, op, &all[i])) return true;
    s.views = all;
    pr_walk_set(w, op->results[0], s);
    return true;
}

/* ---- events ------------------------------------------------------------------------------------------- */
void pr_walk_emit(pr_walk *w, pr_shm_event e, pr_sv pred)
{
    if (!w->emit) pr_flat_notice(w, &e);
    if (pred.kind == PR_SV_TERM) pred.t = pr_flat_whole(w, pred.t);
    for (int i = 0; i < e.n_acc + e.n_bar; i++) {
        pr_shm_view *v = i < e.n_acc ? &e.acc[i].view : &e.bar[i - e.n_acc];
        for (int d = 0; d < PR_SHM_RANK; d++)
            if (v->indexed[d]) v->index[d] = pr_flat_whole(w, v->index[d]);
        if (i >= e.n_acc) e.bar_pred[i - e.n_acc] = pr_flat_whole(w, e.bar_pred[i - e.n_acc]);
    }
    if (e.kind == PR_SHM_EV_WAIT) e.phase = pr_flat_whole(w, e.phase);
    bool opaque = pred.kind != PR_SV_TERM || !pr_term_is_bool(w->T, pred.t) || pr_flat_local(w, pred.t, true);
    bool unknown = !opaque && pr_shm_is_unknown(w->p, pred.t);
    opaque = opaque || unknown;
    if (!w->emit) return;
    if (!opaque && pr_term_is(pred.t, PR_TERM_FALSE)) {
        if (!w->concrete && w->p->certify) pr_vec_push(w->arena, &w->model->never, e.op);
        return;
    }
    e.agent = w->agent;
    e.warps = w->warps;
    e.ws = w->ws;
    e.copy = w->copy;
    e.bare = w->p->membar && w->p->beside;
    e.seq = w->seq++;
    e.loc = pr_shm_loc(e.op);
    e.may = w->may > 0 || opaque;
    e.branch = w->branch;
    e.branch_loops = w->branch_loops;
    e.n_loops = w->n_loops;
    for (int i = 0; i < w->n_loops; i++) {
        e.loop[i] = w->loop[i];
        e.iteration[i] = w->iteration[i];
    }
    if (w->n_loops) e.flat = w->flat[w->n_loops - 1];
    if (w->concrete) {
        if (e.may) w->trace->assumed = true;
        if (++w->n_events > w->limit) return;
        e.when = PR_TERM_TRUE;
        pr_vec_push(w->arena, &w->trace->agents[w->agent], e);
        return;
    }
    /* What signals or waits for others must happen or not happen as the model says; what an agent does for
     * itself may be missing: prove.c gives it credit inside its own branch only. */
    bool orders = e.n_bar > 0 || e.kind == PR_SHM_EV_ENTRY;
    if (w->unbounded || w->deep)
        pr_shm_refuse(w->p, &w->model->refusals, PR_REFUSAL_DATA_DEPENDENT_SYNC, e.op,
                      "inside a loop whose trip count is not known");
    if (e.may && orders)
        pr_shm_refuse(w->p, &w->model->refusals, PR_REFUSAL_DATA_DEPENDENT_SYNC, e.op,
                      "synchronisation under a condition that depends on loaded or computed data");
    if (w->n_loops && (e.kind == PR_SHM_EV_ENTRY))
        pr_shm_refuse(w->p, &w->model->refusals, PR_REFUSAL_DATA_DEPENDENT_SYNC, e.op,
                      "warp specialisation inside a loop");
    if (pr_flat_narrowed(w))
        pr_shm_refuse(w->p, &w->model->refusals, PR_REFUSAL_DATA_DEPENDENT_SYNC, e.op,
                      "whether this happens depends on the iteration of an inner loop, and a ring is carried around the outer loop");
    for (int i = 0; i < e.n_acc + e.n_bar; i++) {
        pr_shm_view *v = i < e.n_acc ? &e.acc[i].view : &e.bar[i - e.n_acc];
        bool wrong = i >= e.n_acc && (pr_flat_local(w, e.phase, true) || pr_flat_local(w, e.bar_pred[i - e.n_acc], true));
        for (int d = 0; d < PR_SHM_RANK; d++) wrong = wrong || (v->indexed[d] && pr_flat_local(w, v->index[d], i >= e.n_acc));
        if (wrong)
            pr_shm_refuse(w->p, &w->model->refusals, PR_REFUSAL_DATA_DEPENDENT_SYNC, e.op,
                          "a slot or phase that depends both on the iteration of an inner loop and on one carried around the outer loop");
    }
    for (int i = 0; i < e.n_bar; i++)
        if (w->p->allocs.data[e.bar[i].alloc].copy != w->copy)
            pr_shm_refuse(w->p, &w->model->refusals, PR_REFUSAL_DATA_DEPENDENT_SYNC, e.op,
                          "a barrier that iterations of a loop around others hand on to each other");
    e.when = pr_walk_when(w);
    if (!opaque) e.when = pr_and(w->T, e.when, pred.t);
    pr_walk_settle_unknown(w, &e, unknown ? pred.t : PR_TERM_NONE);
    pr_flat_settle(w, &e, opaque ? PR_TERM_NONE : pred.t);
    if (e.n_loops) {
        pr_var inner = w->p->loops.data[e.loop[e.n_loops - 1]].counter;
        for (int i = 0; i < e.n_acc; i++)
            for (int d = 0; d < PR_SHM_RANK; d++)
                if (e.acc[i].view.indexed[d])
                    e.acc[i].view.index[d] = pr_shm_refit(w->arena, w->T, e.acc[i].view.index[d], inner);
        for (int i = 0; i < e.n_bar; i++)
            for (int d = 0; d < PR_SHM_RANK; d++)
                if (e.bar[i].indexed[d]) e.bar[i].index[d] = pr_shm_refit(w->arena, w->T, e.bar[i].index[d], inner);
        e.phase = pr_shm_refit(w->arena, w->T, e.phase, inner);
    }
    pr_vec_push(w->arena, &w->model->events, e);
}

static bool refuse(pr_walk *w, const pr_op *op, pr_refusal_kind kind, const char *why)
{
    if (!w->concrete && w->emit) pr_shm_refuse(w->p, &w->model->refusals, kind, op, why);
    if (w->concrete) w->trace->assumed = true;
    return true;
}

/* Which of several views this is, over the counters of the loops around it. */
static pr_term number_of(pr_walk *w, pr_term t)
{
    if (pr_term_none(t)) return t;
    for (int i = 0; i < w->n_loops && !w->concrete; i++)
        if (w->p->loops.data[w->loop[i]].flat) return PR_TERM_NONE;
    if (!w->concrete && w->n_loops) t = pr_shm_refit(w->arena, w->T, t, w->p->loops.data[w->loop[w->n_loops - 1]].counter);
    return t;
}

static void access(pr_walk *w, pr_shm_event *e, const pr_value *v, bool write, pr_shm_unit unit, bool async,
                   const char *role)
{
    pr_sv s = pr_walk_get(w, v);
    if (!v || !v->type || v->type->kind != PR_TYPE_MEMDESC) return;
    int n = s.kind == PR_SV_VIEW ? 1 : s.kind == PR_SV_VIEWS ? s.n_views : 0;
    if (!n || e->n_acc + n > PR_SHM_ACCESSES) {
        refuse(w, e->op, PR_REFUSAL_LAYOUT, "the storage this operation accesses is not one known view");
        return;
    }
    pr_term which = n > 1 ? number_of(w, s.t) : PR_TERM_NONE;
    if (n > 1 && w->concrete) w->trace->assumed = true;
    for (int i = 0; i < n; i++) {
        pr_shm_access acc = { .view = s.kind == PR_SV_VIEW ? s.v : s.views[i], .write = write, .unit = unit, .of = v, .role = role, .other = i > 0 };
        pr_shm_alloc *a = &w->p->allocs.data[acc.view.alloc];
        a->payload = true;
        acc.async_proxy = async && a->memory == PR_SHM_SMEM;
        if (!pr_term_none(which)) acc.guard = pr_eq(w->T, which, pr_const(w->T, i));
        e->acc[e->n_acc++] = acc;
    }
}

static bool barrier(pr_walk *w, pr_shm_event *e, const pr_value *v, pr_term pred)
{
    pr_sv s = pr_walk_get(w, v);
    if (s.kind != PR_SV_VIEW || e->n_bar == PR_SHM_BARS || s.v.blurred)
        return !refuse(w, e->op, PR_REFUSAL_LAYOUT, "the barrier of this operation is not one known view");
    for (int d = 0; d < PR_SHM_RANK; d++) {
        if (s.v.indexed[d] && (pr_term_none(s.v.index[d]) || pr_shm_is_unknown(w->p, s.v.index[d])))
            return !refuse(w, e->op, PR_REFUSAL_DATA_DEPENDENT_SYNC,
                           "which barrier of the array this is depends on data or on a value carried around an outer loop");
        if (!s.v.indexed[d] && s.v.hi[d] - s.v.lo[d] > 1)
            return !refuse(w, e->op, PR_REFUSAL_LAYOUT, "an operation on several barriers at once");
    }
    e->bar_pred[e->n_bar] = pred;
    e->bar[e->n_bar++] = s.v;
    return true;
}

static pr_sv predicate(pr_walk *w, const pr_value *v)
{
    return v ? pr_walk_get(w, v) : pr_walk_term(PR_TERM_TRUE);
}

static int64_t view_bytes(pr_walk *w, const pr_value *v)
{
    pr_sv s = pr_walk_get(w, v);
    const pr_type *t = v->type;
    if ((s.kind != PR_SV_VIEW && s.kind != PR_SV_VIEWS) || !t || !t->elem) return -1;
    int64_t n = 1, parts = pr_shm_cta_parts(w->p, t);
    if (!parts) return -1;
    for (int i = 0; i < t->rank; i++) n *= t->shape[i];
    const char padded[] = "fp4Padded = true";
    for (size_t i = 0; i + sizeof padded - 1 <= t->text.n; i++)
        if (pr_str_starts((pr_str){ t->text.s + i, t->text.n - i }, padded)) return -1;
    return n * t->elem->bits / 8 / parts;
}

static bool allocate(pr_walk *w, const pr_op *op, const places *p)
{
    int n = w->p->alloc_of_op[op->id], *here = &w->p->alloc_of_op[pr_shm_place(w->p, w->copy, op)];
    pr_sv s = { .kind = PR_SV_VIEW };
    if (n < 0) return true;
    if (*here < 0) {                                 /* the same storage, another life               */
        pr_shm_alloc a = w->p->allocs.data[n];
        a.copy = w->copy;
        *here = w->p->allocs.n;
        pr_vec_push(w->p->arena, &w->p->allocs, a);
    }
    n = *here;
    whole(w, n, &s.v);
    pr_walk_set(w, op->results[0], s);
    if (!p->size[0]) return true;
    pr_shm_event e = { .kind = PR_SHM_EV_ACCESS, .op = op };
    access(w, &e, op->results[0], true, PR_SHM_SYNC, false, "initial contents");
    if (e.n_acc) e.acc[0].held = at(p, 0, 0)->type;
    pr_walk_emit(w, e, pr_walk_term(PR_TERM_TRUE));
    return true;
}

/* Accesses by the threads of the agent; a list of operands with the direction of each. */
static bool plain(pr_walk *w, const pr_op *op, const pr_value *v, bool write, pr_sv pred, const char *role)
{
    pr_shm_event e = { .kind = PR_SHM_EV_ACCESS, .op = op };
    access(w, &e, v, write, PR_SHM_SYNC, false, role);
    if (e.n_acc && op->opcode == PR_OP_TTG_LOCAL_LOAD) e.acc[0].held = op->results[0]->type;
    if (e.n_acc && op->opcode == PR_OP_TTG_LOCAL_STORE) e.acc[0].held = op->operands[0]->type;
    if (e.n_acc && op->opcode == PR_OP_TTNG_TMEM_LOAD && op->n_results) e.acc[0].held = op->results[0]->type;
    if (e.n_acc && op->opcode == PR_OP_TTNG_TMEM_STORE && v != op->operands[0]) e.acc[0].held = op->operands[0]->type;
    if (op->opcode == PR_OP_TTG_LOCAL_ATOMIC_SCATTER_RMW && e.n_acc) {
        const pr_attr *kind = pr_op_attr(op, "kind");
        e.acc[0].atomic_kind = kind ? kind->text : (pr_str){ 0 };
        e.acc[0].atomic = kind && !pr_str_is(kind->text, "exch") && !e.acc[0].view.blurred;   /* the last exchange stays      */
    }
    if (e.n_acc) pr_walk_emit(w, e, pred);
    return true;
}

/* Asynchronous also where the text does not say is_async. Triton's own pipeline makes a wait of such an operation before it
 * prints this text; Gluon's has no such pass, and lowers tcgen05_mma without barriers to the bare instruction. */
static bool mma(pr_walk *w, const pr_op *op, const places *p, bool scaled)
{
    const pr_shm_unit unit = PR_SHM_TC;
    pr_shm_event e = { .kind = PR_SHM_EV_TC, .op = op };
    access(w, &e, at(p, 0, 0), false, unit, true, "operand A");
    access(w, &e, at(p, 1, 0), false, unit, true, "operand B");
    if (scaled) {
        access(w, &e, at(p, 4, 0), false, unit, true, "scales of A");
        access(w, &e, at(p, 5, 0), false, unit, true, "scales of B");
    }
    access(w, &e, at(p, 2, 0), true, unit, true, "accumulator");
    int pred = scaled ? 7 : 5, bars = scaled ? 8 : 6;
    for (int i = 0; i + 1 < p->size[bars]; i += 2) {
        pr_sv q = predicate(w, at(p, bars, i + 1));
        if (q.kind != PR_SV_TERM || !pr_term_is_bool(w->T, q.t) || pr_shm_is_unknown(w->p, q.t))
            return refuse(w, op, PR_REFUSAL_DATA_DEPENDENT_SYNC, "the predicate of a completion barrier depends on data");
        if (pr_term_is(q.t, PR_TERM_FALSE)) continue;
        if (!barrier(w, &e, at(p, bars, i), q.t)) return true;
    }
    pr_walk_emit(w, e, predicate(w, at(p, pred, 0)));
    return true;
}

static bool tma_load(pr_walk *w, const pr_op *op, const places *p, int place)
{
    pr_shm_event e = { .kind = PR_SHM_EV_TMA_LOAD, .op = op };
    const pr_value *dst = at(p, place, 0);
    access(w, &e, dst, true, PR_SHM_TMA_LOAD, true, "destination");
    e.bytes = view_bytes(w, dst);
    if (barrier(w, &e, at(p, place + 1, 0), PR_TERM_TRUE)) pr_walk_emit(w, e, predicate(w, at(p, place + 2, 0)));
    return true;
}

enum { NO_CREDIT = 1 << 20 };       /* a wait without a count covers nothing */

/* A count that an operation carries as an attribute. One below zero, or of more than 31 bits, means nothing that hardware
 * does: refused, and read as the default. */
static int64_t count_of(pr_walk *w, const pr_op *op, const char *name, int64_t otherwise)
{
    pr_i128 n = pr_op_attr_int(op, name, otherwise);
    if (n >= 0 && n <= INT32_MAX) return (int64_t)n;
    refuse(w, op, PR_REFUSAL_OTHER, "a count below zero or of more than 31 bits");
    return otherwise;
}

static bool one_barrier(pr_walk *w, const pr_op *op, pr_shm_event_kind kind, const places *p, int64_t count,
                        int64_t bytes, const pr_value *pred)
{
    pr_shm_event e = { .kind = kind, .op = op, .count = count, .bytes = bytes };
    if (barrier(w, &e, at(p, 0, 0), PR_TERM_TRUE)) pr_walk_emit(w, e, predicate(w, pred));
    return true;
}

static bool wait(pr_walk *w, const pr_op *op, const places *p)
{
    pr_sv phase = pr_walk_get(w, at(p, 1, 0));
    pr_shm_event e = { .kind = PR_SHM_EV_WAIT, .op = op };
    if (!barrier(w, &e, at(p, 0, 0), PR_TERM_TRUE)) return true;
    if (phase.kind != PR_SV_TERM || pr_shm_is_unknown(w->p, phase.t))
        return refuse(w, op, PR_REFUSAL_DATA_DEPENDENT_SYNC,
                      "the phase of this wait depends on data or on a value carried around an outer loop");
    e.phase = pr_term_is_bool(w->T, phase.t) ? pr_bool_to_int(w->T, phase.t) : phase.t;
    pr_walk_emit(w, e, predicate(w, at(p, 2, 0)));
    return true;
}

/* A wait for the dots of one's own warp group: the others may still read. For the proof it counts from where the compiler
 * makes the warps meet (M1): at the next wait for copies or CTA barrier of the block. */
static int64_t own_group(pr_walk *w, const pr_op *op, int64_t n)
{
    if (!pr_op_attr(op, "warpGroupLocal") || w->warps <= 4 || w->concrete || w->p->membar) return n;
    w->local_wait = op;
    w->local_block = op->block;
    return NO_CREDIT;
}

static void groups_meet(pr_walk *w, const pr_op *at)
{
    const pr_op *op = w->local_wait;
    w->local_wait = NULL;
    if (!op || w->local_block != at->block) return;
    pr_shm_event e = { .kind = PR_SHM_EV_DOT_WAIT, .op = op, .count = count_of(w, op, "pendings", NO_CREDIT) };
    pr_walk_emit(w, e, pr_walk_term(PR_TERM_TRUE));
}

static bool counted(pr_walk *w, const pr_op *op, pr_shm_event_kind kind, int64_t n)
{
    pr_shm_event e = { .kind = kind, .op = op, .count = n };
    if (kind == PR_SHM_EV_CP_WAIT || kind == PR_SHM_EV_STORE_WAIT) groups_meet(w, op);
    if (kind == PR_SHM_EV_DOT_WAIT) e.count = own_group(w, op, n);
    if (kind == PR_SHM_EV_DOT_WAIT)
        for (int i = 0; i < op->n_results && i < op->n_operands; i++)
            pr_walk_set(w, op->results[i], pr_walk_get(w, op->operands[i]));
    pr_walk_emit(w, e, pr_walk_term(PR_TERM_TRUE));
    return true;
}

static bool dot(pr_walk *w, const pr_op *op, const places *p)
{
    const pr_attr *a = pr_op_attr(op, "isAsync");
    bool async = a && (a->kind != PR_ATTR_BOOL || a->boolean);
    w->local_wait = NULL;                            /* its count would be another one                */
    pr_shm_event e = { .kind = async ? PR_SHM_EV_DOT : PR_SHM_EV_ACCESS, .op = op };
    access(w, &e, at(p, 0, 0), false, async ? PR_SHM_WGMMA : PR_SHM_SYNC, true, "operand A");
    access(w, &e, at(p, 1, 0), false, async ? PR_SHM_WGMMA : PR_SHM_SYNC, true, "operand B");
    pr_walk_emit(w, e, pr_walk_term(PR_TERM_TRUE));
    return true;
}

static bool store(pr_walk *w, const pr_op *op, const places *p, int place)
{
    pr_shm_event e = { .kind = PR_SHM_EV_STORE, .op = op };
    access(w, &e, at(p, place, 0), false, PR_SHM_TMA_STORE, true, "source");
    pr_walk_emit(w, e, pr_walk_term(PR_TERM_TRUE));
    return true;
}

static bool marker(pr_walk *w, const pr_op *op, pr_shm_event_kind kind)
{
    pr_shm_event e = { .kind = kind, .op = op };
    if (kind == PR_SHM_EV_DEALLOC) {
        pr_sv s = pr_walk_get(w, op->operands[0]);
        if (s.kind != PR_SV_VIEW) return true;
        e.acc[e.n_acc++] = (pr_shm_access){ .view = s.v };
    }
    if (kind == PR_SHM_EV_SCRATCH) {
        e.scratch_lo = (int64_t)pr_op_attr_int(op, "allocation.offset", 0);
        e.scratch_hi = e.scratch_lo + (int64_t)pr_op_attr_int(op, "allocation.size", 0);
        if (!pr_op_attr(op, "allocation.offset") || !pr_op_attr(op, "allocation.size")) e.scratch_hi = 0;
    }
    pr_walk_emit(w, e, pr_walk_term(PR_TERM_TRUE));
    return kind != PR_SHM_EV_SCRATCH || op->opcode == PR_OP_TTG_CONVERT_LAYOUT;
}

static bool uses_scratch(const pr_op *op)
{
    switch (op->opcode) {
    case PR_OP_TTG_CONVERT_LAYOUT: case PR_OP_TT_REDUCE: case PR_OP_TT_SCAN: case PR_OP_TT_HISTOGRAM:
    case PR_OP_TT_GATHER: case PR_OP_TT_ATOMIC_RMW: case PR_OP_TT_ATOMIC_CAS: case PR_OP_TT_CALL: return true;
    default: return false;
    }
}

void pr_walk_hidden(pr_walk *w, const pr_region *r)
{
    if (w->concrete || !w->emit) return;
    for (int b = 0; r && b < r->n_blocks; b++) {
        for (int i = 0; i < r->blocks[b]->n_ops; i++) {
            const pr_op *op = r->blocks[b]->ops[i];
            if (uses_scratch(op)) {
                marker(w, op, PR_SHM_EV_SCRATCH);
                if (w->p->membar)
                    pr_shm_refuse(w->p, &w->model->refusals, PR_REFUSAL_DATA_DEPENDENT_SYNC, op, "scratch memory in a loop that is not followed");
            }
            for (int k = 0; k < op->n_regions; k++) pr_walk_hidden(w, op->regions[k]);
        }
    }
}

static bool effect(pr_walk *w, const pr_op *op)
{
    if (op->opcode == PR_OP_TT_CALL && w->p->membar) refuse(w, op, PR_REFUSAL_CALL, "a call; which barriers stand in its callee is not read");
    if (uses_scratch(op)) return marker(w, op, PR_SHM_EV_SCRATCH);

    places p = places_of(op);
    if (view(w, op)) return true;
    pr_sv always = pr_walk_term(PR_TERM_TRUE);
    if (op->opcode == PR_OP_UNKNOWN && pr_shm_orders_shared(op)) return !(w->p->membar || w->concrete) || marker(w, op, PR_SHM_EV_MEET);
    if (op->opcode == PR_OP_UNKNOWN && pr_str_is(op->name, "ttng.tensormap_create")) {
        if (!w->p->membar) marker(w, op, PR_SHM_EV_SCRATCH);  /* one warp alone uses it                    */
        return true;
    }
    switch (op->opcode) {
    case PR_OP_TTG_LOCAL_ALLOC: case PR_OP_TTNG_TMEM_ALLOC: return allocate(w, op, &p);
    case PR_OP_TTG_LOCAL_DEALLOC: return marker(w, op, PR_SHM_EV_DEALLOC);
    case PR_OP_TTG_LOCAL_LOAD: case PR_OP_TTG_LOCAL_GATHER: case PR_OP_TTNG_TMEM_LOAD: case PR_OP_TTNG_CLC_LOAD_RESULT:
        return plain(w, op, at(&p, 0, 0), false, always, "source");
    case PR_OP_TTG_LOCAL_STORE: return plain(w, op, at(&p, 1, 0), true, always, "destination");
    case PR_OP_TTG_LOCAL_SCATTER: case PR_OP_TTG_LOCAL_ATOMIC_SCATTER_RMW:
        return plain(w, op, at(&p, 0, 0), true, always, "destination");
    case PR_OP_TTNG_TMEM_STORE: return plain(w, op, at(&p, 1, 0), true, predicate(w, at(&p, 3, 0)), "destination");
    case PR_OP_TTG_ASYNC_COPY_GLOBAL_TO_LOCAL: {
        pr_shm_event e = { .kind = PR_SHM_EV_CP, .op = op };
        access(w, &e, at(&p, 1, 0), true, PR_SHM_CP, false, "destination");
        if (e.n_acc) e.acc[0].held = at(&p, 0, 0)->type;
        pr_walk_emit(w, e, always);
        return true;
    }
    case PR_OP_TTG_ASYNC_COMMIT_GROUP: return counted(w, op, PR_SHM_EV_CP_COMMIT, 0);
    case PR_OP_TTG_ASYNC_WAIT: return counted(w, op, PR_SHM_EV_CP_WAIT, count_of(w, op, "num", NO_CREDIT));
    case PR_OP_TTNG_WARP_GROUP_DOT: return dot(w, op, &p);
    case PR_OP_TTNG_WARP_GROUP_DOT_WAIT:
        return counted(w, op, PR_SHM_EV_DOT_WAIT, count_of(w, op, "pendings", NO_CREDIT));
    case PR_OP_TTNG_ASYNC_TMA_STORE_WAIT:
        if (op->n_operands) return refuse(w, op, PR_REFUSAL_OTHER, "a wait for the tokens of single TMA stores");
        return counted(w, op, PR_SHM_EV_STORE_WAIT, count_of(w, op, "pendings", NO_CREDIT));
    case PR_OP_TTNG_FENCE_ASYNC_SHARED: return marker(w, op, PR_SHM_EV_FENCE);
    case PR_OP_TTNG_INIT_BARRIER: return one_barrier(w, op, PR_SHM_EV_INIT, &p, count_of(w, op, "value", 1), 0, NULL);
    case PR_OP_TTNG_INVAL_BARRIER: return one_barrier(w, op, PR_SHM_EV_INVAL, &p, 0, 0, NULL);
    case PR_OP_TTNG_WAIT_BARRIER: return wait(w, op, &p);
    case PR_OP_TTNG_BARRIER_EXPECT: return one_barrier(w, op, PR_SHM_EV_EXPECT, &p, 1, count_of(w, op, "value", 1), at(&p, 1, 0));
    case PR_OP_TTNG_ARRIVE_BARRIER: return one_barrier(w, op, PR_SHM_EV_ARRIVE, &p, count_of(w, op, "value", 1), 0, at(&p, 1, 0));
    case PR_OP_TTNG_ASYNC_COPY_MBARRIER_ARRIVE:
        return one_barrier(w, op, PR_SHM_EV_CP_ARRIVE, &p,
                           pr_op_attr(op, "noIncrement") ? (int64_t)w->warps * w->p->threads_per_warp : 0, 0, NULL);
    case PR_OP_TTNG_TC_GEN5_COMMIT: return one_barrier(w, op, PR_SHM_EV_TC_COMMIT, &p, 1, 0, at(&p, 1, 0));
    case PR_OP_TTNG_TC_GEN5_MMA: return mma(w, op, &p, false);
    case PR_OP_TTNG_TC_GEN5_MMA_SCALED: return mma(w, op, &p, true);
    case PR_OP_TTNG_TMEM_COPY: {
        pr_shm_event e = { .kind = PR_SHM_EV_TC, .op = op };
        access(w, &e, at(&p, 0, 0), false, PR_SHM_TC, true, "source");
        access(w, &e, at(&p, 1, 0), true, PR_SHM_TC, true, "destination");
        if (p.size[2] && !barrier(w, &e, at(&p, 2, 0), PR_TERM_TRUE)) return true;
        pr_walk_emit(w, e, always);
        return true;
    }
    case PR_OP_TTNG_ASYNC_TMA_COPY_GLOBAL_TO_LOCAL: return tma_load(w, op, &p, 2);
    case PR_OP_TTNG_ASYNC_TMA_GATHER: return tma_load(w, op, &p, 3);
    case PR_OP_TTNG_CLC_TRY_CANCEL: {                /* 16 bytes land like those of a copy                 */
        pr_shm_event e = { .kind = PR_SHM_EV_TMA_LOAD, .op = op, .bytes = 16 };
        access(w, &e, at(&p, 0, 0), true, PR_SHM_TMA_LOAD, true, "result");
        if (barrier(w, &e, at(&p, 1, 0), PR_TERM_TRUE)) pr_walk_emit(w, e, always);
        return true;
    }
    case PR_OP_TTNG_ASYNC_TMA_COPY_LOCAL_TO_GLOBAL: case PR_OP_TTNG_ASYNC_TMA_REDUCE: return store(w, op, &p, 2);
    case PR_OP_TTNG_ASYNC_TMA_SCATTER: return store(w, op, &p, 3);
    case PR_OP_GPU_BARRIER: case PR_OP_TTG_BARRIER:
        if (!pr_shm_orders_shared(op)) {
            pr_shm_event e = { .kind = PR_SHM_EV_MEET, .op = op, .count = 1 };   /* of tensor memory only               */
            if (w->p->membar && pr_shm_orders_tensor(op)) pr_walk_emit(w, e, always);
            return true;
        }
        groups_meet(w, op);
        if (w->p->membar || w->concrete) marker(w, op, PR_SHM_EV_MEET);
        return true;
    default: return false;
    }
}

bool pr_walk_effect(pr_walk *w, const pr_op *op)
{
    unsigned beside = w->p->membar && w->p->beside ? w->p->beside[op->id] : 0;
    bool shown = op->opcode == PR_OP_TTNG_FENCE_ASYNC_SHARED || pr_shm_orders_shared(op) || pr_shm_orders_tensor(op);
    if (w->p->membar && w->p->beside && shown) return true;   /* what PTX has of it counts                    */
    if (beside & PR_SHM_FENCED_BEFORE) marker(w, op, PR_SHM_EV_FENCE);
    if (beside & PR_SHM_MEETS_BEFORE) marker(w, op, PR_SHM_EV_MEET);
    bool known = beside & PR_SHM_NO_SCRATCH ? op->opcode == PR_OP_TTG_CONVERT_LAYOUT : effect(w, op);
    if (beside & PR_SHM_FENCED_AFTER) marker(w, op, PR_SHM_EV_FENCE);
    if (beside & PR_SHM_MEETS_AFTER) marker(w, op, PR_SHM_EV_MEET);
    return known;
}
