/* Sums along a dimension of a tile (pr_sum_of): positions that a mask's running sum gives.
 *
 * Let v be the values that are summed, 0 <= v <= most, and s(l) their sum up to lane l. In every execution
 *   v(l) <= s(l) <= most * (lanes so far), and s(l) <= total, the sum of the same values in the same row and iteration;
 *   of two lanes of one program, one row and one iteration, the later one has at least its own value more: s(l) + v(m) <= s(m);
 *   equal lanes have equal sums.
 * (Reverse sums count from the other end.) So where v is 1, sums differ, and lie in 1..total.
 *
 * They are used only where
 *   1. every thread sees one value of what is summed: it comes from no atomic, and what is loaded nobody writes;
 *   2. iterations are those of the access itself, and lanes lie inside the tile (a premise of each fact);
 *   3. the term of a value is what the machine has (its obligations, a premise too).
 * An address with such a sum is an unknown one: EMPTY proves, a solution says nothing. */
#include "hb/decide.h"
#include "hb/sums.h"

enum { MOST_SUMS_NAMED = 16 };

/* One sum that an access names. */
typedef struct sum_named {
    const pr_sum_of *of;
    pr_term app, value;            /* in the record's terms; in this copy's                         */
    pr_term arg[64 + PR_RANK_MAX]; /* iterations, lanes of what is summed (0 along the axis where total), in this copy  */
    pr_term inside;                /* lanes lie inside the tile                                   */
    pr_term own, exact;            /* the lane's own value, which holds where exact                */
} sum_named;
typedef struct sums_named { pr_encoding *e; const pr_side *side; bool performed; sum_named of[MOST_SUMS_NAMED]; int n; } sums_named;

static pr_term apply(const pr_side *s, pr_term t) { return pr_subst_apply((pr_subst *)&s->subst, t); }

static const pr_sum_of *sum_of(const pr_encoding *e, pr_term app)
{
    const pr_sym sym = pr_term_sym(e->terms, app);
    for (int i = 0; i < e->records->sums.n; i++)
        if (e->records->sums.data[i].sym.id == sym.id) return &e->records->sums.data[i];
    return NULL;
}

/* Every thread that computes with it has the same value (condition 1). */
static bool one_value(const pr_encoding *e, const pr_sum_of *s)
{
    const pr_sym_info *sym = pr_sym_get(e->terms, s->sym);
    if (e->options->fault == 81) return true;
    return !sym->from_atomic && (!sym->from_memory || e->all_loads_read_only);
}

/* The loops named are loops around the record, in the iteration that the access itself is in (condition 2). */
static bool own_iteration(const pr_encoding *e, const pr_record *r, const pr_sum_of *s, pr_term app)
{
    for (int i = 0; i < s->n_loops; i++) {
        bool around = pr_term_op_of(e->terms, s->loop[i]) == PR_TERM_OP_CONST;
        for (const pr_frame *f = r->frame; f && !around; f = f->outer)
            around = f->kind == PR_FRAME_LOOP && pr_term_is(pr_var_term(e->terms, f->k), s->loop[i]);
        if (!around || !pr_term_is(pr_term_child(e->terms, app, i), s->loop[i])) return false;
    }
    return true;
}

bool pr_sums_admit(pr_encoding *e, const pr_side *s, pr_term app)
{
    const pr_sum_of *of = sum_of(e, app);
    if (!of || !one_value(e, of)) return false;
    return pr_term_arity(e->terms, app) == of->n_loops + of->rank - of->total && own_iteration(e, s->record, of, app);
}

/* t in the terms of the copy; where the query says that the access is performed, without the parts that hold there anyway. */
static pr_term where_active(pr_encoding *e, const pr_side *s, bool performed, pr_term t)
{
    pr_term_vec parts = { 0 };
    pr_term rest = PR_TERM_TRUE;
    t = apply(s, t);
    if (pr_term_none(t)) return t;
    pr_conjuncts(e->terms, t, &parts, e->arena);
    for (int i = 0; i < parts.n; i++) {
        pr_term x = pr_encode_simplify(e, parts.data[i]);
        bool holds = pr_term_is(x, PR_TERM_TRUE);
        for (int k = 0; performed && k < s->active.n && !holds; k++) holds = pr_term_is(s->active.data[k], x);
        if (!holds) rest = pr_and(e->terms, rest, x);
    }
    return rest;
}

/* The value at the lane that app names: its term over the record's loops and lanes, then this copy's. */
static void own_value(pr_encoding *e, const pr_side *s, bool performed, sum_named *w)
{
    pr_terms *T = e->terms;
    const pr_sum_of *of = w->of;
    uint32_t n = pr_vars_count(T);
    pr_term *map = PR_NEW_N(e->arena, pr_term, n);
    for (int d = 0; d < of->rank; d++) map[e->records->lane[d].id] = pr_term_child(T, w->app, of->n_loops + d);
    pr_subst to = { .T = T, .var_map = map, .n_var_map = n };
    pr_term v = pr_subst_apply(&to, of->value);
    w->exact = where_active(e, s, performed, pr_subst_apply(&to, of->held));
    if (e->options->fault == 82) w->exact = PR_TERM_TRUE;
    if (pr_term_none(v)) { w->own = v; return; }
    if (of->most == 1) {               /* 0 or 1: 1 where the access is active, if its mask says so */
        pr_term is_one = where_active(e, s, performed, pr_eq(T, v, pr_const(T, 1)));
        if (pr_term_is(is_one, PR_TERM_TRUE) || e->options->fault == 83) { w->own = pr_const(T, 1); return; }
    }
    w->own = apply(s, v);
}

static void note_sum(void *user, pr_term t)
{
    sums_named *l = user;
    pr_encoding *e = l->e;
    pr_terms *T = e->terms;
    if (pr_term_op_of(T, t) != PR_TERM_OP_APP || l->n == MOST_SUMS_NAMED || !pr_sums_admit(e, l->side, t)) return;
    const pr_sum_of *of = sum_of(e, t);
    sum_named w = { .of = of, .app = t, .value = apply(l->side, t), .inside = PR_TERM_TRUE, .own = PR_TERM_NONE, .exact = PR_TERM_NONE };
    if (of->total || of->n_loops > 64 || pr_term_none(w.value)) return;
    for (int i = 0; i < of->n_loops + of->rank; i++) {
        w.arg[i] = apply(l->side, pr_term_child(T, t, i));
        if (pr_term_none(w.arg[i])) return;
        if (i < of->n_loops) continue;
        w.inside = pr_and(T, w.inside, pr_le(T, PR_TERM_ZERO, w.arg[i]));
        w.inside = pr_and(T, w.inside, pr_lt(T, w.arg[i], pr_const(T, of->shape[i - of->n_loops])));
    }
    if (pr_term_none(w.inside)) return;
    own_value(e, l->side, l->performed, &w);
    l->of[l->n++] = w;
}

static sums_named *names_of(pr_encoding *e, const pr_side *s, bool performed)
{
    sums_named *l = PR_NEW(e->arena, sums_named);
    *l = (sums_named){ .e = e, .side = s, .performed = performed };
    const pr_term root[2] = { s->record->offset, s->record->mask };
    pr_term_visit_all(e->terms, root, 2, note_sum, l);
    return l;
}

static void push(pr_encoding *e, pr_term_vec *out, pr_term t)
{
    if (pr_term_none(t)) return;           /* a fact that cannot be stated is left out */
    t = pr_encode_simplify(e, t);
    if (!pr_term_none(t) && !pr_term_is(t, PR_TERM_TRUE)) pr_vec_push(e->arena, out, t);
}

/* What one sum is. */
static void alone(pr_encoding *e, const pr_side *s, const sum_named *w, pr_term_vec *out)
{
    pr_terms *T = e->terms;
    const pr_sum_of *of = w->of;
    pr_term lane = w->arg[of->n_loops + of->axis], so_far = of->reverse ? pr_sub(T, pr_const(T, of->shape[of->axis]), lane) : pr_add(T, lane, pr_const(T, 1));
    push(e, out, pr_implies(T, w->inside, pr_le(T, w->value, pr_scale(T, so_far, of->most))));
    if (!pr_term_none(w->own) && !pr_term_none(w->exact)) push(e, out, pr_implies(T, pr_and(T, w->inside, w->exact), pr_le(T, w->own, w->value)));
    for (int i = 0; i < e->records->sums.n; i++) {
        const pr_sum_of *all = &e->records->sums.data[i];
        if (!all->total || all->axis != of->axis || all->rank != of->rank || all->n_loops != of->n_loops) continue;
        if ((all->same != of->same && e->options->fault != 84) || !one_value(e, all)) continue;
        pr_term arg[64 + PR_RANK_MAX];
        int n = 0;
        for (int k = 0; k < of->n_loops + of->rank; k++)
            if (k != of->n_loops + of->axis) arg[n++] = pr_term_child(T, w->app, k);
        pr_term app = pr_app(T, all->sym, arg, n), total = pr_term_none(app) ? app : apply(s, app);
        if (!pr_term_none(total)) push(e, out, pr_implies(T, w->inside, pr_le(T, w->value, total)));
    }
}

/* Two sums of one program, of the same values in one row and iteration. */
static void two(pr_encoding *e, const sum_named *u, const sum_named *v, pr_term_vec *out)
{
    pr_terms *T = e->terms;
    const pr_sum_of *a = u->of, *b = v->of;
    if (a->same != b->same || a->axis != b->axis || a->reverse != b->reverse || a->n_loops != b->n_loops || a->rank != b->rank) return;
    pr_term row = pr_and(T, u->inside, v->inside);
    int axis = a->n_loops + a->axis;
    for (int i = 0; i < a->n_loops + a->rank; i++) {
        if (i == axis || (e->options->fault == 85 && i < a->n_loops) || (e->options->fault == 86 && i >= a->n_loops)) continue;
        row = pr_and(T, row, pr_eq(T, u->arg[i], v->arg[i]));
    }
    pr_term before = pr_lt(T, u->arg[axis], v->arg[axis]), after = pr_lt(T, v->arg[axis], u->arg[axis]);
    if (pr_term_none(row) || pr_term_none(before) || pr_term_none(after)) return;
    push(e, out, pr_implies(T, pr_and(T, row, pr_eq(T, u->arg[axis], v->arg[axis])), pr_eq(T, u->value, v->value)));
    bool turned = a->reverse && e->options->fault != 87;
    for (int k = 0; k < 2; k++) {
        const sum_named *more = (k == 0) != turned ? v : u, *less = more == v ? u : v;   /* k 0: u is the lane before v */
        if (pr_term_none(more->own) || pr_term_none(more->exact)) continue;
        pr_term when = pr_and(T, pr_and(T, row, k == 0 ? before : after), more->exact);
        push(e, out, pr_implies(T, when, pr_le(T, pr_add(T, less->value, more->own), more->value)));
    }
}

void pr_sums_facts(pr_encoding *e, const pr_side *x, const pr_side *z, bool intra, pr_term_vec *out)
{
    if (!e->records->sums.n || x->refused || x->dead || (z && (z->refused || z->dead))) return;
    const sums_named *a = names_of(e, x, z != NULL), *b = z ? names_of(e, z, true) : NULL;
    for (int i = 0; i < a->n; i++) alone(e, x, &a->of[i], out);
    for (int i = 0; b && i < b->n; i++) alone(e, z, &b->of[i], out);
    for (int i = 0; i < a->n; i++)
        for (int j = 0; j < i; j++) two(e, &a->of[i], &a->of[j], out);
    for (int i = 0; b && i < b->n; i++)
        for (int j = 0; j < i; j++) two(e, &b->of[i], &b->of[j], out);
    for (int i = 0; intra && i < a->n; i++)
        for (int j = 0; b && j < b->n; j++) two(e, &a->of[i], &b->of[j], out);
}
