/* A barrier that is invalidated and initialised again in straight-line code has several lives. Each becomes an allocation of its own (with the
 * same bytes): its phases are numbered from 0 again. */
#include "shm/walk.h"

enum { SLOTS = 256 };

/* Which barrier of its array, a constant; -1 when it is none. */
static int64_t fixed_slot(const pr_shm_prog *p, const pr_shm_view *v)
{
    const pr_shm_alloc *a = &p->allocs.data[v->alloc];
    int64_t slot = 0;
    for (int d = 0; d < a->rank; d++) {
        pr_i128 i = v->lo[d];
        if (v->indexed[d] && !pr_term_const(p->T, v->index[d], &i)) return -1;
        if (i < 0 || i >= a->shape[d] || slot >= SLOTS) return -1;
        slot = slot * a->shape[d] + (int64_t)i;
    }
    return slot < SLOTS ? slot : -1;
}

/* Where the second and later lives of the allocation begin, as sequence numbers; 0 when it has one, or none that can be told apart: all
 * barriers of the array are to be dead in between, whatever is launched. */
static int later_lives(const pr_shm_prog *p, const pr_shm_model *m, int alloc, int *begins, int max)
{
    bool live[SLOTS] = { false }, ended = false;
    int n_live = 0, n = 0, last = -1;
    for (int i = 0; i < m->events.n; i++) {
        const pr_shm_event *e = &m->events.data[i];
        if ((e->kind != PR_SHM_EV_INIT && e->kind != PR_SHM_EV_INVAL) || e->bar[0].alloc != alloc) continue;
        int64_t slot = fixed_slot(p, &e->bar[0]);
        bool plain = slot >= 0 && !e->n_loops && e->ws < 0 && !e->agent && !e->may && !e->copy && pr_term_is(e->when, PR_TERM_TRUE)
                     && (pr_term_none(e->bar_pred[0]) || pr_term_is(e->bar_pred[0], PR_TERM_TRUE)) && e->seq > last;
        if (!plain || live[slot] == (e->kind == PR_SHM_EV_INIT)) return 0;
        last = e->seq;
        live[slot] = e->kind == PR_SHM_EV_INIT;
        if (e->kind == PR_SHM_EV_INIT && ended) {
            if (n_live || n >= max) return 0;
            begins[n++] = e->seq;
            ended = false;
        }
        n_live += live[slot] ? 1 : -1;
        ended = ended || !live[slot];
    }
    return n;
}

void pr_shm_split_lives(pr_shm_prog *p, pr_shm_model *m)
{
    enum { MAX = 8 };
    int begins[MAX], n_allocs = p->allocs.n;
    for (int a = 0; a < n_allocs; a++) {
        int n = p->allocs.data[a].barrier && !p->allocs.data[a].payload ? later_lives(p, m, a, begins, MAX) : 0;
        int first = p->allocs.n;
        for (int i = 0; i < n; i++) {
            pr_shm_alloc again = p->allocs.data[a];
            pr_vec_push(p->arena, &p->allocs, again);
        }
        for (int i = 0; i < m->events.n && n; i++) {
            pr_shm_event *e = &m->events.data[i];
            int life = 0;
            while (life < n && e->seq >= begins[life]) life++;
            for (int b = 0; b < e->n_bar && life; b++)
                if (e->bar[b].alloc == a) e->bar[b].alloc = first + life - 1;
        }
    }
}
