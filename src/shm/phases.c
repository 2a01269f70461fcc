/* Closed forms of loop-carried scalars; see phases.h. */
#include "shm/phases.h"
#include <assert.h>

pr_term pr_shm_replace(pr_arena *arena, pr_terms *T, pr_term t, pr_var v, pr_term by)
{
    uint32_t n = v.id + 1;
    pr_term *map = PR_NEW_N(arena, pr_term, n);
    map[v.id] = by;
    pr_subst s = { .T = T, .var_map = map, .n_var_map = n };
    return pr_subst_apply(&s, t);
}

bool pr_shm_value_at(pr_terms *T, pr_arena *arena, pr_term t, pr_var counter, int64_t k, int64_t *out)
{
    uint32_t n = pr_vars_count(T);
    pr_i128 *value = PR_NEW_N(arena, pr_i128, n);
    bool *known = PR_NEW_N(arena, bool, n);
    value[counter.id] = k;
    known[counter.id] = true;
    pr_env env = { value, known, n };
    pr_i128 r;
    if (pr_term_none(t) || !pr_eval(T, t, &env, &r) || r < INT64_MIN / 4 || r > INT64_MAX / 4) return false;
    *out = (int64_t)r;
    return true;
}

/* ---- sequences as terms ----------------------------------------------------------------------------- */
/* value(k) = base + sign * fmod(fdiv(k + a, d), m), for all k in [0, n)? */
static bool fits(const int64_t *value, int n, int64_t base, int sign, int a, int d, int m)
{
    for (int k = 0; k < n; k++)
        if (value[k] != base + sign * (((k + a) / d) % m)) return false;
    return true;
}

static pr_term rotation(pr_terms *T, pr_term k, int64_t base, int sign, int a, int d, int m)
{
    pr_term q = pr_add(T, k, pr_const(T, a));
    if (d > 1) q = pr_fdiv_t(T, q, pr_const(T, d));
    q = pr_fmod_t(T, q, pr_const(T, m));
    return pr_add(T, pr_const(T, base), sign > 0 ? q : pr_neg(T, q));
}

static pr_term periodic(pr_terms *T, pr_term k, const int64_t *value, int period)
{
    int64_t least = value[0], most = value[0];
    for (int i = 1; i < period; i++) {
        if (value[i] < least) least = value[i];
        if (value[i] > most) most = value[i];
    }
    if (least == most) return pr_const(T, least);
    int64_t m = most - least + 1;
    if (m <= period && period % m == 0) {
        int d = (int)(period / m);
        for (int a = 0; a < period; a++) {
            if (fits(value, period, least, 1, a, d, (int)m)) return rotation(T, k, least, 1, a, d, (int)m);
            if (fits(value, period, most, -1, a, d, (int)m)) return rotation(T, k, most, -1, a, d, (int)m);
        }
    }
    if (period > PR_SHM_MAX_CASES) return PR_TERM_NONE;
    pr_term r = pr_fmod_t(T, k, pr_const(T, period)), t = pr_const(T, value[period - 1]);
    for (int i = period - 2; i >= 0; i--)
        t = pr_select(T, pr_eq(T, r, pr_const(T, i)), pr_const(T, value[i]), t);
    return t;
}

pr_term pr_shm_sequence(pr_terms *T, pr_term k, const int64_t *value, int n, int prefix)
{
    assert(n > prefix && prefix >= 0);
    int period = n - prefix;
    for (int p = 1; p < period; p++) {                /* the least period */
        bool ok = period % p == 0;
        for (int i = prefix; ok && i + p < n; i++) ok = value[i] == value[i + p];
        if (ok) period = p;
    }
    while (prefix > 0 && value[prefix - 1] == value[prefix - 1 + period]) prefix--;
    if (prefix > PR_SHM_MAX_CASES) return PR_TERM_NONE;
    pr_term t = periodic(T, pr_sub(T, k, pr_const(T, prefix)), value + prefix, period);
    for (int i = prefix - 1; i >= 0 && !pr_term_none(t); i--)
        t = pr_select(T, pr_eq(T, k, pr_const(T, i)), pr_const(T, value[i]), t);
    return t;
}

/* ---- recovery ---------------------------------------------------------------------------------------- */
typedef struct mention { const pr_shm_carried *c; int n; bool *found; bool other; pr_var counter; bool counts; pr_terms *T; } mention;

static void note(void *user, pr_term t)
{
    mention *m = user;
    pr_term_op op = pr_term_op_of(m->T, t);
    if (op == PR_TERM_OP_APP) m->other = true;
    if (op != PR_TERM_OP_VAR) return;
    pr_var v = pr_term_var(m->T, t);
    if (v.id == m->counter.id) {
        m->counts = true;
        return;
    }
    for (int i = 0; i < m->n; i++) {
        if (m->c[i].state.id == v.id) {
            m->found[i] = true;
            return;
        }
    }
    m->other = true;
}

/* t with every node equal to `what` replaced; NONE when it meets a node it does not rebuild. */
static pr_term put(pr_terms *T, pr_term t, pr_term what, pr_term by, int depth)
{
    if (pr_term_is(t, what)) return by;
    int n = pr_term_arity(T, t);
    if (depth > 40) return PR_TERM_NONE;
    if (!n) return t;
    pr_term c[16];
    bool same = true;
    if (n > 16) return PR_TERM_NONE;
    for (int i = 0; i < n; i++) {
        c[i] = put(T, pr_term_child(T, t, i), what, by, depth + 1);
        if (pr_term_none(c[i])) return PR_TERM_NONE;
        same = same && pr_term_is(c[i], pr_term_child(T, t, i));
    }
    if (same) return t;
    switch (pr_term_op_of(T, t)) {
    case PR_TERM_OP_SUM: {
        pr_i128 coef[16];
        for (int i = 0; i < n; i++) coef[i] = pr_term_coef(T, t, i);
        return pr_sum(T, c, coef, n, pr_term_value(T, t));
    }
    case PR_TERM_OP_SELECT: return pr_select(T, c[0], c[1], c[2]);
    case PR_TERM_OP_NOT: return pr_not(T, c[0]);
    case PR_TERM_OP_AND: return pr_and(T, c[0], c[1]);
    case PR_TERM_OP_OR: return pr_or(T, c[0], c[1]);
    case PR_TERM_OP_LE0: return pr_le(T, c[0], PR_TERM_ZERO);
    case PR_TERM_OP_EQ0: return pr_eq(T, c[0], PR_TERM_ZERO);
    case PR_TERM_OP_FMOD: return pr_fmod_t(T, c[0], c[1]);
    case PR_TERM_OP_FDIV: return pr_fdiv_t(T, c[0], c[1]);
    case PR_TERM_OP_MAX: return pr_max(T, c[0], c[1]);
    case PR_TERM_OP_MIN: return pr_min(T, c[0], c[1]);
    case PR_TERM_OP_BXOR: return pr_bxor(T, c[0], c[1]);
    default: return PR_TERM_NONE;
    }
}

typedef struct search { pr_terms *T; pr_var counter; pr_term guard; int n; bool mixed; const pr_shm_carried *c; int n_carried; } search;

/* Does the counter occur in t, other than in conditions inside it? */
static bool direct(pr_terms *T, pr_term t, pr_var counter, int depth)
{
    pr_term_op op = pr_term_op_of(T, t);
    if (op == PR_TERM_OP_LE0 || op == PR_TERM_OP_EQ0) return false;
    if (depth > 40 || (op == PR_TERM_OP_VAR && pr_term_var(T, t).id == counter.id)) return true;
    for (int i = 0; i < pr_term_arity(T, t); i++)
        if (direct(T, pr_term_child(T, t, i), counter, depth + 1)) return true;
    return false;
}

static void find_guard(void *user, pr_term t)
{
    search *s = user;
    bool about = pr_term_op_of(s->T, t) == PR_TERM_OP_LE0 || pr_term_op_of(s->T, t) == PR_TERM_OP_EQ0;
    if (!about || !pr_term_mentions(s->T, t, s->counter) || !direct(s->T, pr_term_child(s->T, t, 0), s->counter, 0)) return;
    for (int i = 0; i < s->n_carried; i++)
        if (pr_term_mentions(s->T, t, s->c[i].state)) s->mixed = true;
    if (s->n && pr_term_is(s->guard, t)) return;
    s->guard = t;
    s->n++;
}

pr_term pr_shm_prefix(pr_terms *T, pr_term guard, pr_var counter, bool *first)
{
    pr_term t = pr_term_child(T, guard, 0), k = pr_var_term(T, counter), rest = pr_term_none(t) ? t : t;
    pr_i128 a = 0;
    if (pr_term_is(t, k)) a = 1;
    else if (pr_term_op_of(T, t) == PR_TERM_OP_SUM)
        for (int i = 0; i < pr_term_arity(T, t); i++)
            if (pr_term_is(pr_term_child(T, t, i), k)) a = pr_term_coef(T, t, i);
    *first = a > 0;
    if (!a) return PR_TERM_NONE;
    rest = pr_sub(T, t, pr_scale(T, k, a));
    if (pr_term_none(rest) || pr_term_mentions(T, rest, counter)) return PR_TERM_NONE;
    if (pr_term_op_of(T, guard) == PR_TERM_OP_EQ0) {
        *first = true;
        return pr_term_is(rest, PR_TERM_ZERO) && pr_var_get(T, counter)->lo >= 0 ? pr_const(T, 1) : PR_TERM_NONE;
    }
    if (a < 0) return pr_max(T, PR_TERM_ZERO, pr_neg(T, pr_fdiv_t(T, pr_neg(T, rest), pr_const(T, -a))));   /* the least counter from which on */
    pr_term last = pr_fdiv_t(T, pr_neg(T, rest), pr_const(T, a));
    return pr_max(T, PR_TERM_ZERO, pr_add(T, last, pr_const(T, 1)));
}

/* Group: everything the update of `root` depends on. Fills in[]; false when it is no automaton. */
static bool closed_group(pr_arena *arena, pr_terms *T, pr_var counter, const pr_shm_carried *c, int n,
                         int root, bool *in)
{
    for (int i = 0; i < n; i++) in[i] = i == root;
    for (bool grown = true; grown;) {
        grown = false;
        for (int i = 0; i < n; i++) {
            if (!in[i]) continue;
            pr_i128 v;
            if (pr_term_none(c[i].update) || pr_term_none(c[i].init) || !pr_term_const(T, c[i].init, &v))
                return false;
            mention m = { c, n, PR_NEW_N(arena, bool, n), false, counter, false, T };
            pr_term_visit(T, c[i].update, note, &m);
            if (m.other || m.counts) return false;
            for (int j = 0; j < n; j++) {
                if (m.found[j] && !in[j]) {
                    in[j] = true;
                    grown = true;
                }
            }
        }
    }
    return true;
}

/* The states an automaton runs through from `first` until one repeats. */
typedef struct run { int64_t *state; int length, back; } run;  /* state[step * n + i]; step `length` is step `back` */

static bool automaton_run(pr_arena *arena, pr_terms *T, const pr_shm_carried *c, int n, const bool *in,
                          const int64_t *first, int limit, run *out)
{
    uint32_t n_vars = pr_vars_count(T);
    pr_i128 *value = PR_NEW_N(arena, pr_i128, n_vars);
    bool *known = PR_NEW_N(arena, bool, n_vars);
    pr_env env = { value, known, n_vars };
    out->state = PR_NEW_N(arena, int64_t, (size_t)n * (size_t)(limit + 1));
    for (int i = 0; i < n; i++) out->state[i] = in[i] ? first[i] : 0;
    for (int step = 0; step < limit; step++) {
        int64_t *now = out->state + (size_t)step * (size_t)n, *next = now + n;
        for (int back = 0; back < step; back++) {
            const int64_t *old = out->state + (size_t)back * (size_t)n;
            bool same = true;
            for (int i = 0; i < n && same; i++) same = !in[i] || old[i] == now[i];
            if (!same) continue;
            out->length = step;
            out->back = back;
            return true;
        }
        for (int i = 0; i < n; i++) {
            if (!in[i]) continue;
            value[c[i].state.id] = now[i];
            known[c[i].state.id] = true;
        }
        for (int i = 0; i < n; i++) {
            pr_i128 r;
            if (!in[i]) continue;
            if (!pr_eval(T, c[i].update, &env, &r) || r < INT32_MIN || r > INT32_MAX) return false;
            next[i] = (int64_t)r;
        }
    }
    return false;
}

/* Member i of a run as a term over k. */
static pr_term column(pr_arena *arena, pr_terms *T, const run *r, int n, int i, pr_term k)
{
    int64_t *v = PR_NEW_N(arena, int64_t, r->length);
    for (int s = 0; s < r->length; s++) v[s] = r->state[(size_t)s * (size_t)n + (size_t)i];
    return pr_shm_sequence(T, k, v, r->length, r->back);
}

static bool initial(pr_terms *T, const pr_shm_carried *c, int n, const bool *in, int64_t *first)
{
    for (int i = 0; i < n; i++) {
        pr_i128 v = 0;
        if (in[i] && (!pr_term_const(T, c[i].init, &v) || v < INT32_MIN || v > INT32_MAX)) return false;
        first[i] = (int64_t)v;
    }
    return true;
}

static void automaton(pr_arena *arena, pr_terms *T, pr_var counter, pr_shm_carried *c, int n, const bool *in)
{
    run r;
    int64_t *first = PR_NEW_N(arena, int64_t, n);
    if (!initial(T, c, n, in, first) || !automaton_run(arena, T, c, n, in, first, PR_SHM_MAX_STATES, &r)) return;
    for (int i = 0; i < n; i++)
        if (in[i]) c[i].form = column(arena, T, &r, n, i, pr_var_term(T, counter));
}

enum { MAX_GUARDED_STATES = 32, MAX_ORBIT = 512 };

/* An automaton that steps by `moves` for the first `bound` iterations and by `rests` afterwards: the first run,
 * then one run from each state the first can stop in. */
static pr_term two_speeds(pr_arena *arena, pr_terms *T, pr_var counter, const pr_shm_carried *moves,
                          const pr_shm_carried *rests, int n, int root, pr_term bound)
{
    bool *in = PR_NEW_N(arena, bool, n), *other = PR_NEW_N(arena, bool, n);
    int64_t *first = PR_NEW_N(arena, int64_t, n);
    run r, s;
    if (!closed_group(arena, T, counter, moves, n, root, in)) return PR_TERM_NONE;
    for (bool grown = true; grown;) {                /* closed under both */
        grown = false;
        for (int i = 0; i < n; i++) {
            if (!in[i]) continue;
            if (!closed_group(arena, T, counter, moves, n, i, other)) return PR_TERM_NONE;
            for (int j = 0; j < n; j++) grown = grown || (other[j] && !in[j]), in[j] = in[j] || other[j];
            if (!closed_group(arena, T, counter, rests, n, i, other)) return PR_TERM_NONE;
            for (int j = 0; j < n; j++) grown = grown || (other[j] && !in[j]), in[j] = in[j] || other[j];
        }
    }
    if (!initial(T, moves, n, in, first) || !automaton_run(arena, T, moves, n, in, first, MAX_GUARDED_STATES, &r))
        return PR_TERM_NONE;
    pr_term k = pr_var_term(T, counter), since = pr_sub(T, k, bound), form = column(arena, T, &r, n, root, k);
    int64_t *number = PR_NEW_N(arena, int64_t, r.length);
    for (int i = 0; i < r.length; i++) number[i] = i;
    pr_term stop = pr_shm_sequence(T, bound, number, r.length, r.back), after = PR_TERM_NONE;
    for (int i = 0; i < r.length; i++) {
        if (!automaton_run(arena, T, rests, n, in, r.state + (size_t)i * (size_t)n, MAX_GUARDED_STATES, &s)) return PR_TERM_NONE;
        pr_term one = column(arena, T, &s, n, root, since);
        if (pr_term_none(one) || pr_term_none(stop)) return PR_TERM_NONE;
        after = i ? pr_select(T, pr_eq(T, stop, pr_const(T, i)), one, after) : one;
    }
    return pr_term_none(form) ? form : pr_select(T, pr_le(T, k, bound), form, after);
}

/* The update with the forms found so far put in; *open when some other state is left. */
static pr_term resolved(pr_arena *arena, pr_terms *T, pr_var counter, const pr_shm_carried *c, int n,
                        int which, bool *open)
{
    uint32_t n_map = pr_vars_count(T);
    pr_term *map = PR_NEW_N(arena, pr_term, n_map);
    mention m = { c, n, PR_NEW_N(arena, bool, n), false, counter, false, T };
    *open = false;
    pr_term_visit(T, c[which].update, note, &m);
    for (int j = 0; j < n; j++) {
        if (!m.found[j]) continue;
        if (pr_term_none(c[j].form)) {
            *open = true;
            return PR_TERM_NONE;
        }
        map[c[j].state.id] = c[j].form;
    }
    pr_subst s = { .T = T, .var_map = map, .n_var_map = n_map };
    return pr_subst_apply(&s, c[which].update);
}

/* c with one condition on launch values decided in all initial values. */
static pr_shm_carried *decided(pr_arena *arena, pr_terms *T, const pr_shm_carried *c, int n, pr_term cond, bool value)
{
    pr_shm_carried *d = pr_arena_copy(arena, c, sizeof *c * (size_t)n);
    for (int i = 0; i < n; i++)
        if (!pr_term_none(d[i].init)) d[i].init = put(T, d[i].init, cond, pr_bool(value), 0);
    return d;
}

static void find_condition(void *user, pr_term t)
{
    search *s = user;
    if (pr_term_op_of(s->T, t) != PR_TERM_OP_SELECT || s->n) return;
    s->guard = pr_term_child(s->T, t, 0);
    s->n = 1;
}

/* An automaton that goes on where an earlier loop left it: from the orbit's beginning it must run through the orbit.
 * Two sequences that become periodic within MAX_STATES steps are equal when their first 2 * MAX_STATES terms are. */
static bool goes_on(pr_arena *arena, pr_terms *T, pr_var counter, pr_shm_carried *c, int n, int root)
{
    bool *in = PR_NEW_N(arena, bool, n);
    int64_t *first = PR_NEW_N(arena, int64_t, n), v;
    pr_term steps = c[root].steps;
    pr_shm_carried *d = pr_arena_copy(arena, c, sizeof *c * (size_t)n);
    run r;
    for (int i = 0; i < n; i++) {
        if (pr_term_none(steps) || c[i].steps.id != steps.id || pr_term_none(c[i].orbit)) continue;
        d[i].init = pr_shm_value_at(T, arena, c[i].orbit, c[i].at, 0, &v) ? pr_const(T, v) : PR_TERM_NONE;
    }
    if (pr_term_none(steps) || !closed_group(arena, T, counter, d, n, root, in)) return false;
    if (!initial(T, d, n, in, first) || !automaton_run(arena, T, d, n, in, first, MAX_ORBIT, &r)) return false;
    for (int i = 0; i < n; i++) {
        for (int64_t k = 0; in[i] && k < 2 * PR_SHM_MAX_STATES; k++) {
            int64_t at = k < r.length ? k : r.back + (k - r.back) % (r.length - r.back);
            bool orbit = c[i].steps.id == steps.id && !pr_term_none(c[i].orbit);
            if (!orbit) v = first[i];                /* began as a constant: then it must stay one       */
            else if (!pr_shm_value_at(T, arena, c[i].orbit, c[i].at, k, &v)) return false;
            if (v != r.state[at * n + i]) return false;
        }
    }
    pr_term k = pr_var_term(T, counter);
    for (int i = 0; i < n; i++) {
        if (!in[i]) continue;
        c[i].form = column(arena, T, &r, n, i, pr_add(T, steps, k));
        c[i].orbit = column(arena, T, &r, n, i, k);
        c[i].steps = steps;
        c[i].at = counter;
    }
    return !pr_term_none(c[root].form);
}

static bool recover_group(pr_arena *arena, pr_terms *T, pr_var counter, pr_shm_carried *c, int n, int root, int depth)
{
    bool *in = PR_NEW_N(arena, bool, n);
    if (closed_group(arena, T, counter, c, n, root, in)) {
        automaton(arena, T, counter, c, n, in);
        return !pr_term_none(c[root].form);
    }
    if (!depth && goes_on(arena, T, counter, c, n, root)) return true;
    if (depth > 3 || pr_term_none(c[root].update) || pr_term_none(c[root].init)) return false;
    search s = { .T = T, .counter = counter, .c = c, .n_carried = n };
    for (int i = 0; i < n; i++)
        if (!pr_term_none(c[i].init)) pr_term_visit(T, c[i].init, find_condition, &s);
    if (s.n) {                                       /* two cases of the launch values */
        pr_shm_carried *yes = decided(arena, T, c, n, s.guard, true), *no = decided(arena, T, c, n, s.guard, false);
        if (!recover_group(arena, T, counter, yes, n, root, depth + 1)
            || !recover_group(arena, T, counter, no, n, root, depth + 1))
            return false;
        c[root].form = pr_select(T, s.guard, yes[root].form, no[root].form);
        return true;
    }
    bool *reach = PR_NEW_N(arena, bool, n);          /* root and what it depends on */
    reach[root] = true;
    for (bool grown = true; grown;) {
        grown = false;
        for (int i = 0; i < n; i++) {
            if (!reach[i] || pr_term_none(c[i].update)) continue;
            for (int j = 0; j < n; j++) {
                if (reach[j] || !pr_term_mentions(T, c[i].update, c[j].state)) continue;
                reach[j] = grown = true;
            }
        }
    }
    for (int i = 0; i < n; i++)
        if (reach[i] && !pr_term_none(c[i].update)) pr_term_visit(T, c[i].update, find_guard, &s);
    if (s.n != 1 || s.mixed) return false;
    bool begins = true;
    pr_term bound = pr_shm_prefix(T, s.guard, counter, &begins);
    if (pr_term_none(bound)) return false;
    pr_shm_carried *moves = pr_arena_copy(arena, c, sizeof *c * (size_t)n), *rests = pr_arena_copy(arena, c, sizeof *c * (size_t)n);
    for (int i = 0; i < n; i++) {
        if (pr_term_none(c[i].update)) continue;
        moves[i].update = put(T, c[i].update, s.guard, pr_bool(begins), 0);
        rests[i].update = put(T, c[i].update, s.guard, pr_bool(!begins), 0);
    }
    c[root].form = two_speeds(arena, T, counter, moves, rests, n, root, bound);
    return !pr_term_none(c[root].form);
}

typedef struct own { pr_terms *T; const pr_shm_carried *c; int n, root; pr_var counter; pr_term guard; int found; bool mixed; } own;

static void find_own_guard(void *user, pr_term t)
{
    own *o = user;
    if (pr_term_op_of(o->T, t) != PR_TERM_OP_LE0) return;
    o->mixed = o->mixed || pr_term_mentions(o->T, t, o->counter);
    for (int i = 0; i < o->n; i++) o->mixed = o->mixed || (i != o->root && pr_term_mentions(o->T, t, o->c[i].state));
    if (o->found && pr_term_is(o->guard, t)) return;
    o->guard = t;
    o->found++;
}

/* A counter that goes on while it is itself below (or above) a bound: it moves by one step a while, then rests. The condition, also in what
 * others do under it, becomes one about the iteration. */
static void saturate(pr_arena *arena, pr_terms *T, pr_var counter, pr_shm_carried *c, int n, int root)
{
    pr_term x = pr_var_term(T, c[root].state), k = pr_var_term(T, counter), init = c[root].init;
    own o = { .T = T, .c = c, .n = n, .root = root, .counter = counter };
    pr_i128 step = 0;
    if (pr_term_is_bool(T, init) || pr_term_mentions(T, init, counter)) return;
    pr_term_visit(T, c[root].update, find_own_guard, &o);
    if (o.found != 1 || o.mixed || !pr_term_mentions(T, o.guard, c[root].state)) return;
    pr_term yes = put(T, c[root].update, o.guard, PR_TERM_TRUE, 0), no = put(T, c[root].update, o.guard, PR_TERM_FALSE, 0);
    bool moves = pr_term_is(no, x), begins = true;                 /* where the condition holds, or where it does not */
    if (pr_term_none(yes) || pr_term_none(no) || (!moves && !pr_term_is(yes, x))) return;
    if (!pr_term_const(T, pr_sub(T, moves ? yes : no, x), &step) || !step) return;
    pr_term freely = pr_add(T, init, pr_scale(T, k, step)), when = pr_shm_replace(arena, T, o.guard, c[root].state, freely);
    if (pr_term_op_of(T, when) != PR_TERM_OP_LE0) return;
    pr_term count = pr_shm_prefix(T, when, counter, &begins);
    if (pr_term_none(count)) return;
    /* begins != moves: it rests until `count`, that is for ever, or moves from the first iteration on */
    pr_term now = begins == moves ? pr_lt(T, k, count) : pr_le(T, count, PR_TERM_ZERO);
    c[root].form = begins == moves ? pr_add(T, init, pr_scale(T, pr_min(T, k, count), step)) : pr_select(T, now, freely, init);
    for (int i = 0; i < n; i++) {
        if (i == root || pr_term_none(c[i].update)) continue;
        pr_term u = put(T, c[i].update, o.guard, moves ? now : pr_not(T, now), 0);
        if (!pr_term_none(u)) c[i].update = u;
    }
}

static void recover(pr_arena *arena, pr_terms *T, pr_var counter, pr_shm_carried *c, int n)
{
    pr_term k = pr_var_term(T, counter);
    for (int i = 0; i < n; i++) {
        c[i].form = PR_TERM_NONE;
        if (pr_term_none(c[i].update) || pr_term_none(c[i].init)) continue;
        pr_term x = pr_var_term(T, c[i].state);
        pr_i128 step;
        if (pr_term_is(c[i].update, x)) c[i].form = c[i].init;
        else if (pr_term_const(T, pr_sub(T, c[i].update, x), &step))
            c[i].form = pr_add(T, c[i].init, pr_scale(T, k, step));
    }
    for (int i = 0; i < n; i++)
        if (pr_term_none(c[i].form) && !pr_term_none(c[i].update) && !pr_term_none(c[i].init)) saturate(arena, T, counter, c, n, i);
    for (int i = 0; i < n; i++) {
        if (pr_term_none(c[i].form)) recover_group(arena, T, counter, c, n, i, 0);
    }
    for (bool grown = true; grown;) {
        grown = false;
        for (int i = 0; i < n; i++) {
            bool open;
            if (!pr_term_none(c[i].form) || pr_term_none(c[i].update) || pr_term_none(c[i].init)) continue;
            pr_term u = resolved(arena, T, counter, c, n, i, &open);
            if (open || pr_term_none(u)) continue;
            pr_term before = pr_shm_replace(arena, T, u, counter, pr_sub(T, k, pr_const(T, 1)));
            c[i].form = pr_select(T, pr_eq(T, k, PR_TERM_ZERO), c[i].init, before);
            grown = !pr_term_none(c[i].form);
        }
    }
}

void pr_shm_recover(pr_arena *arena, pr_terms *T, pr_var counter, pr_shm_carried *c, int n)
{
    if (n < 1) return;
    pr_shm_carried *work = pr_arena_copy(arena, c, sizeof *c * (size_t)n);      /* updates change underway                          */
    recover(arena, T, counter, work, n);
    for (int i = 0; i < n; i++) {
        pr_term update = c[i].update;
        c[i] = work[i];
        c[i].update = update;
    }
}

/* ---- refitting ---------------------------------------------------------------------------------------- */
enum { MAX_PREFIX = 256, MAX_PERIOD = 1024 };

/* t = a * counter + b? */
static bool affine(pr_terms *T, pr_term t, pr_var counter, pr_i128 *a, pr_i128 *b)
{
    pr_term_op op = pr_term_op_of(T, t);
    *a = *b = 0;
    if (op == PR_TERM_OP_VAR && pr_term_var(T, t).id == counter.id) {
        *a = 1;
        return true;
    }
    if (op == PR_TERM_OP_CONST) return pr_term_const(T, t, b);
    if (op != PR_TERM_OP_SUM || pr_term_arity(T, t) != 1) return false;
    pr_term c = pr_term_child(T, t, 0);
    if (pr_term_op_of(T, c) != PR_TERM_OP_VAR || pr_term_var(T, c).id != counter.id) return false;
    *a = pr_term_coef(T, t, 0);
    *b = pr_term_value(T, t);
    return *a > -1000 && *a < 1000 && *b > -100000 && *b < 100000;
}

/* From which counter on, and with which period, t repeats; false when that does not show. */
static bool repeats(pr_terms *T, pr_term t, pr_var counter, int depth, int *prefix, int *period)
{
    pr_i128 a, b, d, m;
    pr_term_op op = pr_term_op_of(T, t);
    if (depth > 60) return false;
    switch (op) {
    case PR_TERM_OP_FALSE: case PR_TERM_OP_TRUE: case PR_TERM_OP_CONST: return true;
    case PR_TERM_OP_FMOD: {
        pr_term u = pr_term_child(T, t, 0);
        if (!pr_term_const(T, pr_term_child(T, t, 1), &m) || m <= 0 || m > MAX_PERIOD) return false;
        d = 1;
        if (pr_term_op_of(T, u) == PR_TERM_OP_SUM && pr_term_arity(T, u) == 1
            && pr_term_op_of(T, pr_term_child(T, u, 0)) == PR_TERM_OP_FDIV)
            u = pr_term_child(T, u, 0);              /* a multiple of it plus a constant repeats with it */
        pr_term inner = u;
        if (pr_term_op_of(T, u) == PR_TERM_OP_FDIV && pr_term_const(T, pr_term_child(T, u, 1), &d) && d > 0
            && d <= MAX_PERIOD)
            inner = pr_term_child(T, u, 0);
        if (affine(T, inner, counter, &a, &b) && d * m <= MAX_PERIOD) {
            pr_i128 l = *period / pr_gcd(*period, d * m) * (d * m);
            if (l > MAX_PERIOD) return false;
            *period = (int)l;
            return true;
        }
        break;
    }
    case PR_TERM_OP_LE0: case PR_TERM_OP_EQ0:
        if (affine(T, pr_term_child(T, t, 0), counter, &a, &b)) {
            pr_i128 edge = a == 0 ? 0 : (b < 0 ? -b : b) / (a < 0 ? -a : a) + 2;
            if (edge > MAX_PREFIX) return false;
            if (edge > *prefix) *prefix = (int)edge;
            return true;
        }
        break;
    case PR_TERM_OP_VAR: case PR_TERM_OP_APP: return false;
    default: break;
    }
    for (int i = 0; i < pr_term_arity(T, t); i++)
        if (!repeats(T, pr_term_child(T, t, i), counter, depth + 1, prefix, period)) return false;
    return pr_term_arity(T, t) > 0;
}

pr_term pr_shm_refit(pr_arena *arena, pr_terms *T, pr_term t, pr_var counter)
{
    int prefix = 0, period = 1;
    if (pr_term_none(t) || pr_term_is_bool(T, t) || !pr_term_mentions(T, t, counter)) return t;
    if (!repeats(T, t, counter, 0, &prefix, &period)) return t;
    int n = prefix + period;
    int64_t *value = PR_NEW_N(arena, int64_t, n);
    for (int k = 0; k < n; k++)
        if (!pr_shm_value_at(T, arena, t, counter, k, &value[k])) return t;
    pr_term s = pr_shm_sequence(T, pr_var_term(T, counter), value, n, prefix);
    return pr_term_none(s) ? t : s;
}
