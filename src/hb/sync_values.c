/* Which values can a location hold? Finite sets of constants, or anything. */
#include "hb/sync.h"
#include <assert.h>

static const pr_vset anything = { .any = true };

bool pr_vset_has(const pr_vset *s, pr_i128 v)
{
    if (s->any) return true;
    for (int i = 0; i < s->n; i++)
        if (s->v[i] == v) return true;
    return false;
}

void pr_vset_add(pr_vset *s, pr_i128 v)
{
    if (pr_vset_has(s, v)) return;
    if (s->n == PR_VSET_MAX) *s = anything;
    else s->v[s->n++] = v;
}

bool pr_vset_same(const pr_vset *a, const pr_vset *b)
{
    if (a->any || b->any) return a->any == b->any;
    if (a->n != b->n) return false;
    for (int i = 0; i < a->n; i++)
        if (!pr_vset_has(b, a->v[i])) return false;
    return true;
}

static pr_vset join(pr_vset a, const pr_vset *b)
{
    if (b->any) return anything;
    for (int i = 0; i < b->n; i++) pr_vset_add(&a, b->v[i]);
    return a;
}

pr_vset pr_vset_of(pr_encoding *e, const pr_side *s, pr_term value, pr_term held)
{
    pr_vset r = { 0 };
    if (pr_term_none(value) || pr_term_none(held)) return anything;
    pr_term h = pr_subst_apply((pr_subst *)&s->subst, held);
    if (pr_term_none(h) || !pr_term_is(pr_encode_simplify(e, h), PR_TERM_TRUE)) return anything; /* it may wrap */
    pr_term t = pr_subst_apply((pr_subst *)&s->subst, value);
    if (pr_term_none(t)) return anything;
    pr_interval i = pr_range(e->box, t);
    if (i.lo <= -PR_INF || i.hi >= PR_INF || i.hi - i.lo >= PR_VSET_MAX) return anything;
    for (pr_i128 v = i.lo; v <= i.hi; v++) pr_vset_add(&r, v);
    return r;
}

/* Initial values at the addresses of an interval whose ends are whole elements. */
static pr_vset initial(pr_encoding *e, const pr_record *r, pr_interval i)
{
    if (e->rung == PR_RUNG_T0 || !e->launch || r->base < 0) return anything;
    const pr_tensor *t = e->launch->args[r->base].tensor;
    if (!t || !t->has_values || !t->is_int || t->is_unsigned || t->is_bool || !t->contiguous || t->elem_bytes != r->width)
        return anything;
    pr_i128 end = t->ptr + (pr_i128)t->numel * t->elem_bytes;
    if (i.lo < t->storage_lo) i.lo = t->storage_lo;      /* other executions do not access memory here */
    if (i.hi > t->storage_hi - 1) i.hi = t->storage_hi - 1;
    if (i.lo < t->ptr || i.hi >= end) return anything;
    pr_vset set = { 0 };
    for (pr_i128 a = (i.lo - t->ptr) / r->width; a <= (i.hi - t->ptr) / r->width && !set.any; a++) pr_vset_add(&set, t->values[a]);
    return set;
}

pr_vset pr_vset_initial(pr_encoding *e, const pr_side *s)
{
    const pr_record *r = s->record;
    if (e->rung == PR_RUNG_T0 || !e->launch || r->base < 0 || pr_term_none(s->addr)) return anything;
    const pr_tensor *t = e->launch->args[r->base].tensor;
    if (!t) return anything;
    pr_residue x = pr_residue_of(e->box, pr_sub(e->terms, s->addr, pr_const(e->terms, t->ptr)));
    if (x.modulus % r->width || x.residue % r->width) return anything;
    return initial(e, r, pr_range(e->box, s->addr));
}

pr_vset pr_vset_initial_at(pr_encoding *e, const pr_record *r, pr_i128 addr)
{
    if (e->rung == PR_RUNG_T0 || !e->launch || r->base < 0) return anything;
    const pr_tensor *t = e->launch->args[r->base].tensor;
    if (!t || (addr - t->ptr) % r->width) return anything;
    return initial(e, r, (pr_interval){ addr, addr });
}

/* One read-modify-write on constants; false when the result is not known. Sums wrap as the machine's do. */
static pr_i128 wrapped(pr_i128 v, int bits)
{
    pr_i128 size = (pr_i128)1 << bits;
    return v < pr_int_min(bits) ? v + size : v > pr_int_max(bits) ? v - size : v;
}

static bool apply(const pr_record *r, pr_i128 old, pr_i128 v, pr_i128 *out)
{
    *out = 0;
    switch (r->rmw_op) {
    case PR_RMW_ADD: *out = wrapped(old + v, 8 * r->width); break;
    case PR_RMW_MAX: *out = old > v ? old : v; break;
    case PR_RMW_MIN: *out = old < v ? old : v; break;
    case PR_RMW_AND: *out = old & v; break;
    case PR_RMW_OR: *out = old | v; break;
    case PR_RMW_XOR: *out = old ^ v; break;
    case PR_RMW_XCHG: *out = v; break;
    case PR_RMW_FADD: case PR_RMW_UMAX: case PR_RMW_UMIN: return false;
    }
    return *out >= pr_int_min(8 * r->width) && *out <= pr_int_max(8 * r->width);
}

pr_vset pr_vset_left(const pr_record *r, const pr_vset *old, const pr_vset *v, const pr_vset *cmp)
{
    pr_vset out = { 0 };
    if (r->kind == PR_RECORD_CAS) {
        if (old->any) return anything;
        for (int i = 0; i < old->n; i++) {
            bool may = pr_vset_has(cmp, old->v[i]), must = may && !cmp->any && cmp->n == 1;
            if (!must) pr_vset_add(&out, old->v[i]);
            if (may) out = join(out, v);
            if (out.any) return anything;
        }
        return out;
    }
    if (r->kind != PR_RECORD_RMW || v->any) return anything;
    if (r->rmw_op == PR_RMW_XCHG) return *v;
    if (old->any) return anything;
    for (int i = 0; i < old->n; i++)
        for (int j = 0; j < v->n; j++) {
            pr_i128 x = 0;
            if (!apply(r, old->v[i], v->v[j], &x)) return anything;
            pr_vset_add(&out, x);
            if (out.any) return anything;
        }
    return out;
}

pr_vset pr_vset_written(pr_encoding *e, int record, const pr_vset *old)
{
    const pr_record *r = &e->records->records.data[record];
    const pr_side *s = pr_encoding_side(e, record, PR_SIDE_A);
    pr_vset v = pr_vset_of(e, s, r->value, r->value_held), cmp = { 0 };
    if (r->kind == PR_RECORD_CAS) cmp = pr_vset_of(e, s, r->cmp, r->value_held);
    return pr_vset_left(r, old, &v, &cmp);
}

bool pr_sync_identity(pr_encoding *e, int record)
{
    const pr_record *r = &e->records->records.data[record];
    if (r->is_pre_exit) return true;
    if (r->kind == PR_RECORD_CAS) return !pr_term_none(r->cmp) && pr_term_is(r->cmp, r->value);
    if (r->kind != PR_RECORD_RMW) return r->kind == PR_RECORD_ATOMIC_LOAD || r->kind == PR_RECORD_POLL;
    pr_vset v = pr_vset_of(e, pr_encoding_side(e, record, PR_SIDE_A), r->value, r->value_held);
    return !v.any && v.n == 1 && v.v[0] == 0 && (r->rmw_op == PR_RMW_ADD || r->rmw_op == PR_RMW_OR || r->rmw_op == PR_RMW_XOR);
}

pr_vset pr_vset_closure(pr_encoding *e, pr_vset start, const int *writers, int n)
{
    for (bool grew = true; grew && !start.any;) {
        int before = start.n;
        for (int i = 0; i < n && !start.any; i++) {
            if (pr_sync_identity(e, writers[i])) continue;
            pr_vset w = pr_vset_written(e, writers[i], &start);
            start = join(start, &w);
        }
        grew = start.n > before;
    }
    return start;
}
