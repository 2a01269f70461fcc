/* Which phase of its barrier does a wait or an arrival belong to? A form fitted to bounded runs; prove.c
 * proves what it must satisfy. */
#include "shm/prove.h"
#include "util/num.h"

typedef struct sample { int64_t feature, phase; } sample;
typedef PR_VEC(sample) samples;

enum { MAX_DIVISOR = 64, MAX_STRIDE = 4 };

static int64_t fdiv(int64_t a, int64_t b) { return (int64_t)pr_fdiv(a, b); }

/* phase = m * fdiv(u * feature + a, d) + c for all samples? */
static bool fit(const samples *s, int u, int *m, int *a, int *d, int64_t *c)
{
    for (*m = 1; *m <= (u == 1 ? 2 : 1); (*m)++) {
        for (*d = 1; *d <= MAX_DIVISOR; (*d)++) {
            for (*a = 0; *a < *d; (*a)++) {
                bool ok = true;
                *c = s->data[0].phase - *m * fdiv(u * s->data[0].feature + *a, *d);
                for (int i = 1; i < s->n && ok; i++)
                    ok = s->data[i].phase == *m * fdiv(u * s->data[i].feature + *a, *d) + *c;
                if (ok) return true;
            }
        }
    }
    return false;
}

/* All iterations of the innermost loop so far, where each of its executions has the same constant number of them. */
static pr_term iterations(const pr_shm_prog *p, const pr_shm_event *e)
{
    pr_term t = PR_TERM_ZERO;
    pr_i128 n = 0;
    if (e->n_loops < 2) return PR_TERM_NONE;
    for (int i = 0; i < e->n_loops; i++) {
        const pr_shm_loop *l = &p->loops.data[e->loop[i]];
        if (l->flat || (i && (pr_term_none(l->trips) || !pr_term_const(p->T, l->trips, &n)))) return PR_TERM_NONE;
        t = pr_add(p->T, i ? pr_scale(p->T, t, n) : t, pr_var_term(p->T, l->counter));
    }
    return t;
}

/* Feature number f of an event at a sample: loop counters, trip counts, inner counter plus a trip count, all iterations. */
static int n_features(const pr_shm_prog *p, const pr_shm_event *e)
{
    return e->n_loops + p->loops.n + (e->n_loops ? p->loops.n : 0) + (e->n_loops > 1);
}

static bool is_flat(const pr_shm_prog *p, const pr_shm_event *e)
{
    return e->n_loops && p->loops.data[e->loop[e->n_loops - 1]].flat;
}

static bool feature(const pr_shm_prog *p, const pr_shm_event *e, int f, const pr_shm_attribution *at,
                    const pr_shm_evidence *run, int64_t *value)
{
    bool all = is_flat(p, e);
    int64_t inner = all ? at->flat : e->n_loops ? at->iteration[e->n_loops - 1] : 0;
    if (f < e->n_loops) {
        *value = f ? at->iteration[e->n_loops - 1 - f] : inner;
        return !f || !all;                           /* nothing depends on which execution it is      */
    }
    f -= e->n_loops;
    if (f >= 2 * p->loops.n) {
        *value = at->flat;
        return true;
    }
    bool sum = f >= p->loops.n;
    if (sum) f -= p->loops.n;
    if (f >= run->n_trips && f >= 64) return false;
    *value = (f < run->n_trips ? p->loops.data[f].flat ? run->total[f] : run->trips[f] : 0) + (sum ? inner : 0);
    return true;
}

static pr_term feature_term(const pr_shm_prog *p, const pr_shm_event *e, int f)
{
    if (f < e->n_loops) return pr_var_term(p->T, p->loops.data[e->loop[e->n_loops - 1 - f]].counter);
    f -= e->n_loops;
    if (f >= 2 * p->loops.n) return iterations(p, e);
    bool sum = f >= p->loops.n;
    if (sum) f -= p->loops.n;
    pr_term t = p->loops.data[f].trips;
    if (pr_term_none(t) || !sum) return t;
    return pr_add(p->T, t, pr_var_term(p->T, p->loops.data[e->loop[e->n_loops - 1]].counter));
}

pr_term pr_shm_fit_phase(pr_shm_prog *p, const pr_shm_event *e, int bar, const pr_shm_evidences *evidence)
{
    int total = 0;
    bool constant = true;
    int64_t first = 0, c = 0;
    for (int r = 0; r < evidence->n; r++) {
        const pr_shm_evidence *run = &evidence->data[r];
        for (int i = 0; i < run->attributions.n; i++) {
            const pr_shm_attribution *at = &run->attributions.data[i];
            if (at->op != e->op->id || at->copy != e->copy || at->bar != bar || at->n_loops != e->n_loops) continue;
            if (!total++) first = at->phase;
            constant = constant && at->phase == first;
        }
    }
    if (!total) return PR_TERM_NONE;
    if (constant) return pr_const(p->T, first);
    for (int f = 0; f < n_features(p, e); f++) {
        samples s = { 0 };
        bool ok = true;
        int m = 0, a = 0, d = 1;
        pr_term t = feature_term(p, e, f);
        if (pr_term_none(t)) continue;
        for (int r = 0; r < evidence->n && ok; r++) {
            const pr_shm_evidence *run = &evidence->data[r];
            for (int i = 0; i < run->attributions.n && ok; i++) {
                const pr_shm_attribution *at = &run->attributions.data[i];
                sample one = { 0, at->phase };
                if (at->op != e->op->id || at->copy != e->copy || at->bar != bar || at->n_loops != e->n_loops) continue;
                ok = feature(p, e, f, at, run, &one.feature);
                pr_vec_push(p->arena, &s, one);
            }
        }
        int u = 1;
        while (ok && u <= MAX_STRIDE && !fit(&s, u, &m, &a, &d, &c)) u++;
        if (!ok || u > MAX_STRIDE) continue;
        t = pr_add(p->T, pr_scale(p->T, t, u), pr_const(p->T, a));
        if (d > 1) t = pr_fdiv_t(p->T, t, pr_const(p->T, d));
        return pr_add(p->T, pr_scale(p->T, t, m), pr_const(p->T, c));
    }
    return PR_TERM_NONE;
}
