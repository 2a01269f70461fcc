/* Scalars carried around a loop of tiles and a loop inside it (shared-memory.md 4.9, 2): the iterations of all
 * executions of the inner loop, one after the other, are the iterations of one loop. Its counter t takes the place
 * of the inner counter. Where one execution ends and the next begins is not known and not used: only that it is
 * the same in loops of equal bounds, and that iterations of later executions come later. */
#include "shm/walk.h"

/* The carried value j of `inner` begins as the carried value i of the outer loop and becomes it again. */
static bool passes_through(const pr_block *body, const pr_op *inner, int i, int *j)
{
    const pr_op *yield = pr_block_terminator(body);
    for (int k = 0; k < inner->n_results; k++) {
        if (inner->operands[3 + k] != body->args[1 + i] || yield->operands[i] != inner->results[k]) continue;
        *j = k;
        return true;
    }
    return false;
}

void pr_flat_find(pr_walk *w, const pr_op *op, const pr_block *body, const pr_sv *init)
{
    for (int o = 0; o < body->n_ops; o++) {
        const pr_op *inner = body->ops[o];
        if (inner->opcode != PR_OP_SCF_FOR) continue;
        pr_flat f = { .outer = op, .inner = inner, .outer_arg = PR_NEW_N(w->arena, int, op->n_results),
                      .inner_arg = PR_NEW_N(w->arena, int, op->n_results),
                      .init = PR_NEW_N(w->arena, pr_term, op->n_results),
                      .form = PR_NEW_N(w->arena, pr_term, op->n_results), .trips = PR_TERM_NONE, .span = PR_TERM_NONE };
        for (int i = 0; i < op->n_results; i++) {
            int j;
            if (init[i].kind != PR_SV_TERM || !passes_through(body, inner, i, &j)) continue;
            f.outer_arg[f.n] = i;
            f.inner_arg[f.n] = j;
            f.init[f.n] = init[i].t;
            f.form[f.n++] = PR_TERM_NONE;
        }
        pr_var_info info = { .role = PR_ROLE_ITER, .index = 1000 + w->flats.n, .copy = PR_COPY_NONE, .lo = 0, .hi = PR_INF,
                             .name = pr_arena_printf(w->p->arena, "t%d", w->flats.n) };
        f.counter = pr_var_new(w->T, info);
        pr_vec_push(w->arena, &w->flats, f);
    }
}

pr_flat *pr_flat_of(pr_walk *w, const pr_op *op)
{
    for (int i = 0; i < w->flats.n; i++)
        if (w->flats.data[i].inner == op) return &w->flats.data[i];
    return NULL;
}

int pr_flat_member(const pr_flat *f, int inner_arg)
{
    for (int i = 0; i < f->n; i++)
        if (f->inner_arg[i] == inner_arg) return i;
    return -1;
}

typedef struct outside { pr_walk *w; const pr_shm_carried *c; int n; bool found; } outside;

/* Anything that differs between iterations, other than the states c. */
static void note(void *user, pr_term t)
{
    outside *o = user;
    if (pr_term_op_of(o->w->T, t) == PR_TERM_OP_APP) o->found = true;
    if (pr_term_op_of(o->w->T, t) != PR_TERM_OP_VAR) return;
    pr_var v = pr_term_var(o->w->T, t);
    for (int i = 0; i < o->n; i++)
        if (o->c[i].state.id == v.id) return;
    for (int i = 0; i < o->w->p->params.n; i++)
        if (o->w->p->params.data[i].var.id == v.id) return;
    o->found = true;
}

void pr_flat_recover(pr_walk *w, pr_flat *f, const pr_sv *init, const pr_shm_carried *c, const int *first)
{
    pr_shm_carried *m = PR_NEW_N(w->arena, pr_shm_carried, f->n);
    for (int i = 0; i < f->n; i++) {
        if (init[f->inner_arg[i]].kind != PR_SV_TERM) {
            m[i] = (pr_shm_carried){ .init = PR_TERM_NONE, .update = PR_TERM_NONE, .form = PR_TERM_NONE };
            continue;
        }
        m[i] = c[first[f->inner_arg[i]]];
        m[i].init = !pr_term_none(f->init[i]) && pr_term_is_bool(w->T, f->init[i]) ? pr_bool_to_int(w->T, f->init[i]) : f->init[i];
    }
    for (int i = 0; i < f->n; i++) {
        outside o = { w, m, f->n, false };
        if (!pr_term_none(m[i].update)) pr_term_visit(w->T, m[i].update, note, &o);
        if (o.found) m[i].update = PR_TERM_NONE;
    }
    pr_shm_recover(w->arena, w->T, f->counter, m, f->n);
    for (int i = 0; i < f->n; i++)
        f->form[i] = pr_term_none(m[i].form) ? m[i].form : pr_shm_refit(w->arena, w->T, m[i].form, f->counter);
}

static bool bound(pr_walk *w, const pr_op *op, int i, pr_term *t)
{
    pr_sv s = pr_walk_get(w, op->operands[i]);
    *t = s.t;
    return s.kind == PR_SV_TERM && !pr_term_is_bool(w->T, s.t);
}

int pr_flat_nest_of(pr_walk *w, pr_flat *f, pr_term *total)
{
    pr_flat_nest n = { .total = PR_TERM_NONE };
    pr_var outer = w->p->loops.data[w->p->loop_of_op[pr_shm_place(w->p, w->copy, f->outer)]].counter;
    if (!bound(w, f->outer, 0, &n.lb) || !bound(w, f->outer, 1, &n.ub) || !bound(w, f->outer, 2, &n.step)) return -1;
    if (pr_term_none(f->trips) || pr_op_attr(f->outer, "unsignedCmp")) return -1;
    pr_var_info any = { .role = PR_ROLE_ITER, .index = 999, .copy = PR_COPY_NONE, .lo = 0, .hi = PR_INF, .name = "tile" };
    n.trips = pr_shm_replace(w->arena, w->T, f->trips, outer, pr_var_term(w->T, pr_var_new(w->T, any)));
    for (int i = 0; i < w->nests.n; i++) {
        const pr_flat_nest *o = &w->nests.data[i];
        if (o->lb.id != n.lb.id || o->ub.id != n.ub.id || o->step.id != n.step.id || o->trips.id != n.trips.id) continue;
        *total = o->total;
        return i;
    }
    pr_var_info info = { .role = PR_ROLE_OTHER, .index = 900000 + w->nests.n, .copy = PR_COPY_NONE, .lo = 0, .hi = PR_INF,
                         .name = pr_arena_printf(w->p->arena, "all%d", w->nests.n) };
    pr_shm_param param = { .var = pr_var_new(w->T, info), .name = pr_str_of(info.name) };
    pr_vec_push(w->p->arena, &w->p->params, param);
    n.total = pr_max(w->T, PR_TERM_ZERO, pr_var_term(w->T, param.var));
    pr_vec_push(w->arena, &w->nests, n);
    *total = n.total;
    return w->nests.n - 1;
}

pr_term pr_flat_whole(pr_walk *w, pr_term t)
{
    for (int i = 0; i < w->n_loops && !w->concrete && !pr_term_none(t); i++) {
        const pr_shm_loop *l = &w->p->loops.data[w->loop[i]];
        if (!l->flat || pr_term_none(l->span) || !pr_term_mentions(w->T, t, l->local)) continue;
        pr_term before = pr_mul(w->T, pr_var_term(w->T, w->p->loops.data[l->outer].counter), l->span);
        pr_term whole = pr_term_none(before) ? before : pr_shm_replace(w->arena, w->T, t, l->local, pr_sub(w->T, pr_var_term(w->T, l->counter), before));
        if (!pr_term_none(whole) && !pr_term_mentions(w->T, whole, w->p->loops.data[l->outer].counter)) t = whole;
    }
    return t;
}

typedef struct products { pr_terms *T; pr_var outer; bool found; } products;
static void find_product(void *user, pr_term t)
{
    products *p = user;
    p->found = p->found || (pr_term_op_of(p->T, t) == PR_TERM_OP_MUL && pr_term_mentions(p->T, t, p->outer));
}

void pr_flat_notice(pr_walk *w, const pr_shm_event *e)
{
    if (w->concrete || w->n_loops != 2) return;
    products p = { w->T, w->p->loops.data[w->loop[0]].counter, false };
    for (int i = 0; i < e->n_bar; i++)
        for (int d = 0; d < PR_SHM_RANK; d++)
            if (e->bar[i].indexed[d] && !pr_term_none(e->bar[i].index[d])) pr_term_visit(w->T, e->bar[i].index[d], find_product, &p);
    if (e->kind == PR_SHM_EV_WAIT && !pr_term_none(e->phase)) pr_term_visit(w->T, e->phase, find_product, &p);
    pr_flat *f = p.found ? pr_flat_of(w, w->p->loops.data[w->loop[1]].op) : NULL;
    if (f) f->product = true;
}

bool pr_flat_local(const pr_walk *w, pr_term t, bool execution)
{
    for (int i = 0; i < w->n_loops && !w->concrete && !pr_term_none(t); i++) {
        const pr_shm_loop *l = &w->p->loops.data[w->loop[i]];
        if (!l->flat || l->each) continue;
        if (pr_term_mentions(w->T, t, l->local)) return true;
        if (execution && pr_term_mentions(w->T, t, w->p->loops.data[l->outer].counter)) return true;
    }
    return false;
}

/* Equal executions: the iteration in one of them is what all iterations before it leave. */
static pr_term put(pr_walk *w, const pr_shm_loop *l, pr_term t, bool *depends)
{
    pr_var e = w->p->loops.data[l->outer].counter;
    if (pr_term_none(t)) return t;
    *depends = *depends || pr_term_mentions(w->T, t, l->local) || pr_term_mentions(w->T, t, e);
    pr_term before = pr_scale(w->T, pr_var_term(w->T, e), l->each);
    return pr_shm_replace(w->arena, w->T, t, l->local, pr_sub(w->T, pr_var_term(w->T, l->counter), before));
}

/* Of the loop, or of the one around it: what says nothing about the place of an iteration in an execution. */
static bool is_bound(pr_walk *w, const pr_shm_loop *flat, pr_term t)
{
    for (int i = 0; i < 2; i++) {
        const pr_shm_loop *l = i ? flat : &w->p->loops.data[flat->outer];
        pr_term k = pr_var_term(w->T, l->counter);
        if (pr_term_is(t, pr_le(w->T, PR_TERM_ZERO, k))) return true;
        if (!pr_term_none(l->trips) && pr_term_is(t, pr_lt(w->T, k, l->trips))) return true;
    }
    return false;
}

bool pr_flat_narrowed(pr_walk *w)
{
    for (int i = 0; i < w->n_loops; i++) {
        const pr_shm_loop *l = &w->p->loops.data[w->loop[i]];
        for (int k = 0; l->flat && !l->each && k < w->path.n; k++)
            if (!is_bound(w, l, w->path.data[k]) && pr_flat_local(w, w->path.data[k], true)) return true;
    }
    return false;
}

void pr_flat_settle(pr_walk *w, pr_shm_event *e, pr_term pred)
{
    for (int i = 0; i < e->n_loops; i++) {
        const pr_shm_loop *l = &w->p->loops.data[e->loop[i]];
        if (!l->flat || !l->each) continue;
        bool depends = false, ignored;
        for (int k = 0; k < w->path.n; k++)
            if (!is_bound(w, l, w->path.data[k])) put(w, l, w->path.data[k], &depends);
        for (int k = 0; k < e->n_acc + e->n_bar; k++) {
            pr_shm_view *v = k < e->n_acc ? &e->acc[k].view : &e->bar[k - e->n_acc];
            for (int d = 0; d < PR_SHM_RANK; d++)
                if (v->indexed[d]) v->index[d] = put(w, l, v->index[d], &depends);
            if (k >= e->n_acc) e->bar_pred[k - e->n_acc] = put(w, l, e->bar_pred[k - e->n_acc], &depends);
        }
        if (e->kind == PR_SHM_EV_WAIT) e->phase = put(w, l, e->phase, &depends);
        put(w, l, pred, &depends);
        e->when = put(w, l, e->when, &ignored);
        if (!depends) continue;
        pr_term first = pr_scale(w->T, pr_var_term(w->T, w->p->loops.data[l->outer].counter), l->each), t = pr_var_term(w->T, l->counter);
        e->exact = true;
        e->when = pr_and(w->T, e->when, pr_and(w->T, pr_le(w->T, first, t), pr_lt(w->T, t, pr_add(w->T, first, pr_const(w->T, l->each)))));
    }
}
