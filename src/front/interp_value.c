/* How are the evaluator's values stored, shared and merged? */
#include "front/interp_core.h"

/* ---- pool: power-of-two blocks, never given back to the arena ------------------------------ */
void *pr_im_block(pr_machine *m, size_t bytes, int *size_class)
{
    int c = 5;
    while (((size_t)1 << c) < bytes) c++;
    assert(c < (int)PR_LEN(m->pool));
    *size_class = c;
    void *p = m->pool[c];
    if (!p) return pr_arena_raw(m->arena, (size_t)1 << c);
    memcpy(&m->pool[c], p, sizeof(void *));
    return p;
}

void pr_im_unblock(pr_machine *m, void *p, int size_class)
{
    memcpy(p, &m->pool[size_class], sizeof(void *));
    m->pool[size_class] = p;
}

bool pr_im_spend(pr_machine *m, int64_t work)
{
    bool stop = m->setup.interrupt && *m->setup.interrupt;
    m->work += work;
    if (m->work <= m->setup.max_work && !stop) return true;
    if (m->halt == PR_HALT_NONE) {
        m->halt = PR_HALT_LIMIT;
        m->why = stop ? "interrupted" : "the evaluation limit was reached";
    }
    return false;
}

void pr_im_stop(pr_machine *m, const pr_op *op, const char *why)
{
    if (m->halt != PR_HALT_NONE) return;
    m->halt = PR_HALT_STOPPED;
    m->why = why;
    m->where = op;
}

void pr_im_note(pr_machine *m, const pr_op *op, const char *what)
{
    for (int i = 0; i < m->notes.n; i++)
        if (m->notes.data[i].op == op && !strcmp(m->notes.data[i].what, what)) return;
    pr_interp_note note = {op, what};
    pr_vec_push(m->arena, &m->notes, note);
}

void pr_im_ub(pr_machine *m, const pr_op *op)
{
    if (!m->ub) m->ub = op;
}

/* ---- tiles --------------------------------------------------------------------------------- */
pr_itile *pr_itile_new(pr_machine *m, int64_t n, bool bases)
{
    size_t k = (size_t)n;
    size_t bytes = sizeof(pr_itile) + k * (sizeof(uint64_t) + 1 + (bases ? sizeof(int16_t) : 0)) + 16;
    int c;
    char *p = pr_im_block(m, bytes, &c);
    pr_itile *t = (pr_itile *)p;
    p += sizeof(pr_itile);
    t->refs = 1;
    t->size_class = c;
    t->n = n;
    t->x = (uint64_t *)p;
    p += k * sizeof(uint64_t);
    t->base = bases ? (int16_t *)p : NULL;
    if (bases) p += k * sizeof(int16_t);
    t->known = (uint8_t *)p;
    memset(t->known, 1, k);
    return t;
}

static void tile_drop(pr_machine *m, pr_itile *t)
{
    assert(t->refs > 0);
    if (--t->refs == 0) pr_im_unblock(m, t, t->size_class);
}

pr_ival pr_ival_of_tile(pr_machine *m, pr_itile *t, int base, unsigned dims, bool is_bool)
{
    pr_ival v = {.form = PR_IVAL_TILE, .dims = (uint8_t)dims, .base = (int16_t)base, .tile = t};
    bool uniform = true, one_base = true;
    int64_t known = 0;
    if (!memchr(t->known, 0, (size_t)t->n)) known = t->n;
    for (int64_t i = 0; i < t->n && known != t->n; i++) known += t->known[i];
    for (int64_t i = 0; i < t->n && uniform; i++) uniform = t->x[i] == t->x[0];
    for (int64_t i = 0; i < t->n && t->base && one_base; i++) one_base = t->base[i] == t->base[0];
    if (t->base && one_base) {
        if (t->n) v.base = t->base[0];
        t->base = NULL;
    }
    if (t->base) v.base = -1;
    if (known == 0) {
        v.form = PR_IVAL_UNKNOWN;
        v.tile = NULL;
        tile_drop(m, t);
    } else if (known == t->n && uniform && one_base) {
        v.form = PR_IVAL_SPLAT;
        v.x = t->x[0];
        v.tile = NULL;
        if (!is_bool) v.dims = 0; /* a mask that happens to be all true still names its lanes */
        tile_drop(m, t);
    } else if (known == t->n) {
        t->known = NULL;
    }
    return v;
}

/* ---- values -------------------------------------------------------------------------------- */
pr_ival pr_ival_unknown(void)
{
    return (pr_ival){.form = PR_IVAL_UNKNOWN, .base = -1};
}

pr_ival pr_ival_const(uint64_t x)
{
    return (pr_ival){.form = PR_IVAL_SPLAT, .base = -1, .x = x};
}

pr_ival pr_ival_keep(pr_ival v)
{
    if (v.tile) v.tile->refs++;
    if (v.deps) v.deps->refs++;
    if (v.obj) v.obj->refs++;
    return v;
}

void pr_ival_drop(pr_machine *m, pr_ival v)
{
    if (v.tile) tile_drop(m, v.tile);
    pr_iset_drop(m, v.deps);
    pr_iobj_drop(m, v.obj);
}

pr_ival pr_ival_without_deps(pr_machine *m, pr_ival v)
{
    pr_iset_drop(m, v.deps);
    v.deps = NULL;
    return v;
}

void pr_im_set(pr_machine *m, const pr_value *r, pr_ival v)
{
    pr_ival old = m->env[r->id];
    m->env[r->id] = v;
    pr_ival_drop(m, old);
}

bool pr_ival_at(const pr_ival *v, int64_t i, uint64_t *x)
{
    switch (v->form) {
    case PR_IVAL_SPLAT: *x = v->x; return true;
    case PR_IVAL_TILE:
        assert(i >= 0 && i < v->tile->n);
        *x = v->tile->x[i];
        return !v->tile->known || v->tile->known[i];
    default: *x = 0; return false;
    }
}

int pr_ival_base_at(const pr_ival *v, int64_t i)
{
    return v->form == PR_IVAL_TILE && v->tile->base ? v->tile->base[i] : v->base;
}

pr_tri pr_ival_truth(const pr_ival *v)
{
    uint64_t x;
    if (!pr_ival_at(v, 0, &x)) return PR_MAYBE;
    return (x & 1) ? PR_YES : PR_NO;
}

/* The value after a join whose taken side is not known: known where both sides agree. */
pr_ival pr_ival_merge(pr_machine *m, const pr_ival *a, const pr_ival *b, int64_t n, bool is_bool)
{
    pr_ival r;
    if (a->form == PR_IVAL_SPLAT && b->form == PR_IVAL_SPLAT && a->x == b->x && a->base == b->base) {
        r = pr_ival_const(a->x);
        r.base = a->base;
    } else if (a->form == PR_IVAL_TILE && a->tile == b->tile) {
        r = pr_ival_keep((pr_ival){.form = PR_IVAL_TILE, .base = a->base, .tile = a->tile});
    } else if (a->form == PR_IVAL_UNKNOWN || b->form == PR_IVAL_UNKNOWN) {
        r = pr_ival_unknown();
        r.base = a->base == b->base ? a->base : -1;
    } else {
        pr_im_spend(m, n);
        pr_itile *t = pr_itile_new(m, n, true);
        for (int64_t i = 0; i < n; i++) {
            uint64_t x, y;
            bool k = pr_ival_at(a, i, &x) && pr_ival_at(b, i, &y);
            int p = pr_ival_base_at(a, i), q = pr_ival_base_at(b, i);
            t->known[i] = k && x == y && p == q;
            t->x[i] = t->known[i] ? x : 0;
            t->base[i] = (int16_t)(p == q ? p : -1);
        }
        r = pr_ival_of_tile(m, t, -1, 0, is_bool);
    }
    r.dims = a->dims | b->dims;
    r.deps = pr_iset_union(m, pr_iset_keep(a->deps), b->deps);
    if (a->obj && a->obj == b->obj) {
        r.obj = a->obj;
        r.obj->refs++;
    }
    return r;
}

/* ---- dependency sets ----------------------------------------------------------------------- */
static pr_iset *set_new(pr_machine *m, int n)
{
    int c;
    pr_iset *s = pr_im_block(m, sizeof(pr_iset) + sizeof(int) * (size_t)n, &c);
    s->refs = 1;
    s->size_class = c;
    s->n = n;
    return s;
}

pr_iset *pr_iset_one(pr_machine *m, int item)
{
    pr_iset *s = set_new(m, 1);
    s->item[0] = item;
    return s;
}

pr_iset *pr_iset_keep(pr_iset *s)
{
    if (s) s->refs++;
    return s;
}

void pr_iset_drop(pr_machine *m, pr_iset *s)
{
    if (s && --s->refs == 0) pr_im_unblock(m, s, s->size_class);
}

pr_iset *pr_iset_union(pr_machine *m, pr_iset *a, const pr_iset *b)
{
    if (!b || a == b) return a;
    if (!a) return pr_iset_keep((pr_iset *)b);
    int i = 0, j = 0, n = 0;
    while (i < a->n || j < b->n) { /* size of the union first: subsets are shared */
        int x = i < a->n ? a->item[i] : INT32_MAX, y = j < b->n ? b->item[j] : INT32_MAX;
        i += x <= y;
        j += y <= x;
        n++;
    }
    if (n == a->n) return a;
    pr_iset *s;
    if (n == b->n) {
        s = pr_iset_keep((pr_iset *)b);
    } else {
        s = set_new(m, n);
        for (i = j = n = 0; i < a->n || j < b->n;) {
            int x = i < a->n ? a->item[i] : INT32_MAX, y = j < b->n ? b->item[j] : INT32_MAX;
            s->item[n++] = x <= y ? x : y;
            i += x <= y;
            j += y <= x;
        }
    }
    pr_im_spend(m, n);
    pr_iset_drop(m, a);
    return s;
}

/* ---- descriptors and block pointers --------------------------------------------------------- */
pr_iobj *pr_iobj_new(pr_machine *m, int rank)
{
    int c;
    pr_iobj *o = pr_im_block(m, sizeof(pr_iobj), &c);
    memset(o, 0, sizeof *o);
    o->refs = 1;
    o->size_class = c;
    o->rank = rank;
    o->base = pr_ival_unknown();
    for (int d = 0; d < PR_MAX_RANK; d++) {
        o->shape[d] = o->stride[d] = pr_ival_unknown();
        o->offset[d] = pr_ival_const(0);
    }
    return o;
}

pr_iobj *pr_iobj_copy(pr_machine *m, const pr_iobj *from)
{
    pr_iobj *o = pr_iobj_new(m, from->rank);
    o->base = pr_ival_keep(from->base);
    for (int d = 0; d < PR_MAX_RANK; d++) {
        o->shape[d] = pr_ival_keep(from->shape[d]);
        o->stride[d] = pr_ival_keep(from->stride[d]);
        o->offset[d] = pr_ival_keep(from->offset[d]);
    }
    return o;
}

void pr_iobj_drop(pr_machine *m, pr_iobj *o)
{
    if (!o || --o->refs) return;
    pr_ival_drop(m, o->base);
    for (int d = 0; d < PR_MAX_RANK; d++) {
        pr_ival_drop(m, o->shape[d]);
        pr_ival_drop(m, o->stride[d]);
        pr_ival_drop(m, o->offset[d]);
    }
    pr_im_unblock(m, o, o->size_class);
}
