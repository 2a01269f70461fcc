/* Values that are one of several memdescs: results of select and scf.if, and buffers that a loop hands around. Which one it is
 * is a number that is followed like any other scalar. Where it is not known each is taken for accessed. */
#include "shm/walk.h"

enum { MOST = PR_SHM_ACCESSES };

bool pr_walk_same_frame(const pr_shm_view *a, const pr_shm_view *b)
{
    if (a->alloc != b->alloc || a->rank != b->rank || a->blurred != b->blurred || a->partial != b->partial) return false;
    for (int i = 0; i < PR_SHM_RANK; i++)
        if (a->indexed[i] != b->indexed[i] || a->lo[i] != b->lo[i] || a->hi[i] != b->hi[i]
            || (i < a->rank && a->dim[i] != b->dim[i]))
            return false;
    return true;
}

pr_sv pr_walk_one_of(pr_walk *w, const pr_shm_view *views, int n, pr_term which)
{
    pr_i128 v;
    pr_sv s = { .kind = PR_SV_VIEWS, .t = which, .n_views = n };
    if (!pr_term_none(which) && pr_term_const(w->T, which, &v)) {
        if (v < 0 || v >= n) return pr_walk_opaque();
        return (pr_sv){ .kind = PR_SV_VIEW, .v = views[v] };
    }
    if (n < 1 || n > MOST) return pr_walk_opaque();
    s.views = pr_arena_copy(w->arena, views, sizeof *views * (size_t)n);
    return s;
}

static int list_of(const pr_sv *s, pr_shm_view *to)
{
    int n = s->kind == PR_SV_VIEWS ? s->n_views : 1;
    for (int i = 0; i < n; i++) to[i] = s->kind == PR_SV_VIEWS ? s->views[i] : s->v;
    return n;
}

pr_sv pr_walk_either(pr_walk *w, pr_term c, const pr_sv *a, const pr_sv *b)
{
    if ((a->kind != PR_SV_VIEW && a->kind != PR_SV_VIEWS) || (b->kind != PR_SV_VIEW && b->kind != PR_SV_VIEWS)) return pr_walk_opaque();
    if (a->kind == PR_SV_VIEW && b->kind == PR_SV_VIEW && pr_walk_same_frame(&a->v, &b->v)) {
        pr_sv r = *a;                                /* one allocation: the index is a choice              */
        bool equal = true;
        for (int i = 0; i < PR_SHM_RANK; i++) equal = equal && (!a->v.indexed[i] || a->v.index[i].id == b->v.index[i].id);
        for (int i = 0; i < PR_SHM_RANK && !equal; i++)
            if (a->v.indexed[i]) r.v.index[i] = pr_term_none(c) ? PR_TERM_NONE : pr_select(w->T, c, a->v.index[i], b->v.index[i]);
        return r;
    }
    pr_shm_view all[2 * MOST];
    int n = list_of(a, all), m = list_of(b, all + n);
    pr_term first = a->kind == PR_SV_VIEWS ? a->t : PR_TERM_ZERO, second = b->kind == PR_SV_VIEWS ? b->t : PR_TERM_ZERO, which = PR_TERM_NONE;
    if (!pr_term_none(c) && !pr_term_none(first) && !pr_term_none(second))
        which = pr_select(w->T, c, first, pr_add(w->T, second, pr_const(w->T, n)));
    return pr_walk_one_of(w, all, n + m, which);
}

/* A view of a whole allocation, or a part of it whose place is constant. */
static bool fixed(const pr_sv *s)
{
    if (s->kind != PR_SV_VIEW || s->v.blurred || s->v.partial) return false;
    for (int d = 0; d < PR_SHM_RANK; d++)
        if (s->v.indexed[d]) return false;
    return true;
}

int pr_walk_rotated(pr_walk *w, const pr_sv *init, int n, int at, const pr_op *loop, pr_sv *as)
{
    const pr_value *const *args = (const pr_value *const *)pr_region_block(loop->regions[0])->args + 1;
    pr_shm_view all[MOST];
    int m = 0;
    if (init[at].kind == PR_SV_VIEWS) {
        *as = init[at];
        return init[at].n_views;
    }
    if (!fixed(&init[at])) return 0;
    for (int i = 0; i < n; i++) {
        if (!args[i]->type || args[i]->type->kind != PR_TYPE_MEMDESC || !pr_str_eq(args[i]->type->text, args[at]->type->text)) continue;
        if (!fixed(&init[i])) return 0;
        bool known = false;
        for (int k = 0; k < m; k++) known = known || pr_walk_same_frame(&all[k], &init[i].v);
        if (known) continue;
        if (m == MOST) return 0;
        all[m++] = init[i].v;
    }
    if (m > 1) *as = (pr_sv){ .kind = PR_SV_VIEWS, .t = pr_walk_number(w, &init[at], all, m), .n_views = m, .views = pr_arena_copy(w->arena, all, sizeof *all * (size_t)m) };
    return m;
}

pr_term pr_walk_number(pr_walk *w, const pr_sv *s, const pr_shm_view *views, int n)
{
    if (s->kind != PR_SV_VIEW && s->kind != PR_SV_VIEWS) return PR_TERM_NONE;
    int count = s->kind == PR_SV_VIEWS ? s->n_views : 1;
    pr_term t = PR_TERM_NONE;
    for (int i = count - 1; i >= 0; i--) {
        const pr_shm_view *v = s->kind == PR_SV_VIEWS ? &s->views[i] : &s->v;
        int at = 0;
        while (at < n && !(pr_walk_same_frame(&views[at], v) && !v->blurred && !v->partial)) at++;
        for (int d = 0; d < PR_SHM_RANK; d++)
            if (v->indexed[d]) at = n;
        if (at == n) return PR_TERM_NONE;
        pr_term one = pr_const(w->T, at);
        if (s->kind == PR_SV_VIEW || i == count - 1) t = one;
        else t = pr_select(w->T, pr_eq(w->T, s->t, pr_const(w->T, i)), one, t);
    }
    bool straight = s->kind == PR_SV_VIEWS && count == n;   /* the same list: the number itself                   */
    for (int i = 0; straight && i < n; i++) straight = pr_walk_same_frame(&views[i], &s->views[i]);
    return straight ? s->t : s->kind == PR_SV_VIEWS && pr_term_none(s->t) ? PR_TERM_NONE : t;
}
