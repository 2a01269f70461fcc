/* Values that an outermost loop carries without a closed form: a slot that changes when a tile ends, where the tiles are counted by
 * something the model does not follow. Such a value is a variable of its own, one for each iteration: two operations of one
 * iteration see the same one, those of different iterations any two. Of a value that can be but few, whatever the conditions say
 * that are not followed, these bound the variable. It may say where an access is and when it happens, never which barrier or phase. */
#include "shm/walk.h"
#include "util/num.h"

enum { MAX_FREE = 5, MAX_REACHED = 64, MAX_DEEP = 60, LARGEST = 1 << 20 };

/* The carried values that one is computed from; a condition about anything else may hold or not. */
typedef struct group { pr_terms *T; const pr_shm_carried *c; int n; bool *in; pr_term free[MAX_FREE]; int n_free; bool bad; } group;

static int state_of(const group *g, pr_var v)
{
    for (int i = 0; i < g->n; i++)
        if (g->c[i].state.id == v.id) return i;
    return -1;
}

typedef struct about { const group *g; bool other; } about;
static void look(void *user, pr_term t)
{
    about *a = user;
    pr_term_op op = pr_term_op_of(a->g->T, t);
    int i = op == PR_TERM_OP_VAR ? state_of(a->g, pr_term_var(a->g->T, t)) : 0;
    a->other = a->other || op == PR_TERM_OP_APP || i < 0 || (op == PR_TERM_OP_VAR && !a->g->in[i]);
}

static int free_number(const group *g, pr_term t)
{
    for (int i = 0; i < g->n_free; i++)
        if (g->free[i].id == t.id) return i;
    return -1;
}

static void collect(group *g, pr_term t, int depth)
{
    pr_term_op op = pr_term_op_of(g->T, t);
    if (g->bad || depth > MAX_DEEP) {
        g->bad = true;
        return;
    }
    switch (op) {
    case PR_TERM_OP_CONST: case PR_TERM_OP_TRUE: case PR_TERM_OP_FALSE: return;
    case PR_TERM_OP_VAR: {
        int i = state_of(g, pr_term_var(g->T, t));
        if (i < 0) g->bad = true;
        else g->in[i] = true;
        return;
    }
    case PR_TERM_OP_LE0: case PR_TERM_OP_EQ0: {
        about a = { g, false };
        pr_term_visit(g->T, t, look, &a);
        if (free_number(g, t) >= 0) return;
        if (!a.other) {                              /* computed from these values alone, by what value() knows    */
            collect(g, pr_term_child(g->T, t, 0), depth + 1);
            return;
        }
        if (g->n_free == MAX_FREE) g->bad = true;
        else g->free[g->n_free++] = t;
        return;
    }
    case PR_TERM_OP_SUM: case PR_TERM_OP_SELECT: case PR_TERM_OP_NOT: case PR_TERM_OP_AND: case PR_TERM_OP_OR: case PR_TERM_OP_FMOD:
    case PR_TERM_OP_FDIV: case PR_TERM_OP_MIN: case PR_TERM_OP_MAX:
        for (int i = 0; i < pr_term_arity(g->T, t); i++) collect(g, pr_term_child(g->T, t, i), depth + 1);
        return;
    default: g->bad = true; return;
    }
}

/* t in a state, where bit i of `holds` says whether free condition i does. */
static pr_i128 value(group *g, pr_term t, const int64_t *state, unsigned holds)
{
    pr_terms *T = g->T;
    pr_i128 v = 0, other;
    int n = pr_term_arity(T, t), f = free_number(g, t);
    if (f >= 0) return holds >> f & 1;
    switch (pr_term_op_of(T, t)) {
    case PR_TERM_OP_CONST: pr_term_const(T, t, &v); return v;
    case PR_TERM_OP_TRUE: return 1;
    case PR_TERM_OP_VAR: return state[state_of(g, pr_term_var(T, t))];
    case PR_TERM_OP_SUM:
        v = pr_term_value(T, t);
        for (int i = 0; i < n; i++) {
            pr_i128 c = pr_term_coef(T, t, i), x = value(g, pr_term_child(T, t, i), state, holds);
            if (c > LARGEST || c < -LARGEST || x > LARGEST || x < -LARGEST) g->bad = true;
            else v += c * x;
        }
        return v;
    case PR_TERM_OP_SELECT: return value(g, pr_term_child(T, t, value(g, pr_term_child(T, t, 0), state, holds) ? 1 : 2), state, holds);
    case PR_TERM_OP_NOT: return !value(g, pr_term_child(T, t, 0), state, holds);
    case PR_TERM_OP_LE0: return value(g, pr_term_child(T, t, 0), state, holds) <= 0;
    case PR_TERM_OP_EQ0: return value(g, pr_term_child(T, t, 0), state, holds) == 0;
    case PR_TERM_OP_AND: case PR_TERM_OP_OR:
        v = pr_term_op_of(T, t) == PR_TERM_OP_AND;
        for (int i = 0; i < n; i++) v = pr_term_op_of(T, t) == PR_TERM_OP_AND ? v && value(g, pr_term_child(T, t, i), state, holds)
                                                                            : v || value(g, pr_term_child(T, t, i), state, holds);
        return v;
    case PR_TERM_OP_MIN: case PR_TERM_OP_MAX:
        v = value(g, pr_term_child(T, t, 0), state, holds);
        for (int i = 1; i < n; i++) {
            other = value(g, pr_term_child(T, t, i), state, holds);
            if (pr_term_op_of(T, t) == PR_TERM_OP_MIN ? other < v : other > v) v = other;
        }
        return v;
    case PR_TERM_OP_FMOD: case PR_TERM_OP_FDIV:
        v = value(g, pr_term_child(T, t, 0), state, holds);
        other = value(g, pr_term_child(T, t, 1), state, holds);
        if (other <= 0) {
            g->bad = true;
            return 0;
        }
        return pr_term_op_of(T, t) == PR_TERM_OP_FDIV ? pr_fdiv(v, other) : v - other * pr_fdiv(v, other);
    case PR_TERM_OP_FALSE: return 0;
    default: g->bad = true; return 0;
    }
}

/* The least and greatest that value number `root` can be, whatever the free conditions are in each iteration. */
static bool reached(pr_walk *w, const pr_shm_carried *c, int n, int root, int64_t *lo, int64_t *hi)
{
    group g = { .T = w->T, .c = c, .n = n, .in = PR_NEW_N(w->arena, bool, n) };
    int64_t *state = PR_NEW_N(w->arena, int64_t, (size_t)MAX_REACHED * (size_t)n);
    int n_states = 1, members = 0;
    g.in[root] = true;
    for (int seen = 0; seen != members || !members;) {
        seen = members;
        for (int i = 0; i < n; i++) {
            pr_i128 v;
            if (!g.in[i]) continue;
            if (pr_term_none(c[i].update) || pr_term_none(c[i].init) || !pr_term_const(w->T, c[i].init, &v) || v > LARGEST || v < -LARGEST) return false;
            state[i] = (int64_t)v;
            collect(&g, c[i].update, 0);
            if (g.bad) return false;
        }
        members = 0;
        for (int i = 0; i < n; i++) members += g.in[i];
    }
    for (int at = 0; at < n_states; at++) {
        for (unsigned holds = 0; holds < 1u << g.n_free; holds++) {
            int64_t *next = PR_NEW_N(w->arena, int64_t, n);
            for (int i = 0; i < n; i++) {
                pr_i128 v = g.in[i] ? value(&g, c[i].update, state + (size_t)at * (size_t)n, holds) : 0;
                if (g.bad || v > LARGEST || v < -LARGEST) return false;
                next[i] = (int64_t)v;
            }
            bool known = false;
            for (int s = 0; s < n_states && !known; s++) {
                known = true;
                for (int i = 0; i < n && known; i++) known = !g.in[i] || state[(size_t)s * (size_t)n + (size_t)i] == next[i];
            }
            if (known) continue;
            if (n_states == MAX_REACHED) return false;
            for (int i = 0; i < n; i++) state[(size_t)n_states * (size_t)n + (size_t)i] = next[i];
            n_states++;
        }
    }
    for (int s = 0; s < n_states; s++) {
        int64_t v = state[(size_t)s * (size_t)n + (size_t)root];
        if (!s || v < *lo) *lo = v;
        if (!s || v > *hi) *hi = v;
    }
    return true;
}

pr_term pr_walk_unknown_value(pr_walk *w, int loop, const pr_shm_carried *c, int n, int i, bool any)
{
    pr_shm_prog *p = w->p;
    int64_t lo = 0, hi = 0;
    bool few = reached(w, c, n, i, &lo, &hi);
    if (!few && (!any || loop < 0)) return PR_TERM_NONE;
    if (few && lo == hi) return pr_const(w->T, lo);
    int number = loop < 0 ? p->params.n : p->unknowns.n;
    pr_var_info info = { .role = PR_ROLE_OTHER, .index = (loop < 0 ? 950000 : PR_SHM_UNKNOWNS) + number, .copy = PR_COPY_NONE, .lo = few ? lo : -PR_INF,
                         .hi = few ? hi : PR_INF, .name = pr_arena_printf(p->arena, loop < 0 ? "end%d" : "u%d", number) };
    pr_var v = pr_var_new(w->T, info);
    if (loop < 0) {                                  /* behind the loop it is one value of the launch             */
        pr_shm_param end = { .var = v, .name = pr_str_of(info.name) };
        pr_vec_push(p->arena, &p->params, end);
        return pr_var_term(w->T, v);
    }
    info.copy = PR_COPY_B;
    info.name = pr_arena_printf(p->arena, "v%d", number);
    pr_shm_unknown u = { .var = v, .second = pr_var_new(w->T, info), .loop = loop };
    pr_vec_push(p->arena, &p->unknowns, u);
    return pr_var_term(w->T, v);
}

bool pr_shm_is_unknown(const pr_shm_prog *p, pr_term t)
{
    for (int i = 0; i < p->unknowns.n && !pr_term_none(t); i++)
        if (pr_term_mentions(p->T, t, p->unknowns.data[i].var) || pr_term_mentions(p->T, t, p->unknowns.data[i].second)) return true;
    return false;
}

typedef struct shape { pr_terms *T; bool bad; } shape;
static void judge(void *user, pr_term t)
{
    shape *s = user;
    pr_i128 v;
    switch (pr_term_op_of(s->T, t)) {
    case PR_TERM_OP_CONST: case PR_TERM_OP_TRUE: case PR_TERM_OP_FALSE: case PR_TERM_OP_VAR: case PR_TERM_OP_SUM: case PR_TERM_OP_SELECT: case PR_TERM_OP_NOT:
    case PR_TERM_OP_AND: case PR_TERM_OP_OR: case PR_TERM_OP_LE0: case PR_TERM_OP_EQ0: case PR_TERM_OP_MIN: case PR_TERM_OP_MAX: return;
    case PR_TERM_OP_FMOD: case PR_TERM_OP_FDIV: s->bad = s->bad || !pr_term_const(s->T, pr_term_child(s->T, t, 1), &v) || v <= 0; return;
    default: s->bad = true; return;
    }
}

/* t, or NONE where it is about an unknown value and no relation can hold it. */
static pr_term related(pr_walk *w, pr_term t)
{
    shape s = { w->T, false };
    if (!pr_shm_is_unknown(w->p, t)) return t;
    pr_term_visit(w->T, t, judge, &s);
    return s.bad ? PR_TERM_NONE : t;
}

void pr_walk_settle_unknown(pr_walk *w, pr_shm_event *e, pr_term pred)
{
    e->given = PR_TERM_NONE;
    for (int i = 0; i <= w->given.n && w->p->unknowns.n; i++) {
        pr_term t = i < w->given.n ? related(w, w->given.data[i]) : pr_shm_is_unknown(w->p, pred) ? related(w, pred) : PR_TERM_NONE;
        if (!pr_term_none(t)) e->given = pr_term_none(e->given) ? t : pr_and(w->T, e->given, t);
    }
    for (int i = 0; i < e->n_acc && w->p->unknowns.n; i++) {
        e->acc[i].guard = related(w, e->acc[i].guard);
        for (int d = 0; d < PR_SHM_RANK; d++)
            if (e->acc[i].view.indexed[d]) e->acc[i].view.index[d] = related(w, e->acc[i].view.index[d]);
    }
}
