/* Two copies of two records as one query.
 *
 * Shared by both copies: scalar parameters, grid extents. Private: program ids (shared in an intra query),
 * iterations, lanes, and one free variable for every unmodelled value. At T1 parameters are numbers and
 * addresses are absolute, limited to the storage of the accessed tensor; at T0 parameters stay symbolic
 * and addresses are offsets within one argument. happens-before.md 3.1-3.6, 5.2, 5.3. */
#include "hb/contents.h"
#include "hb/encode.h"
#include "hb/order.h"
#include "hb/sums.h"
#include "hb/sync.h"
#include "term/table.h"
#include <assert.h>

typedef struct app_value { uint32_t app; pr_term value; } app_value;
struct pr_side_app {
    pr_encoding *e;
    pr_side *side;                 /* null: values that all sides share                           */
    pr_copy copy;
    bool intra_b;
    PR_VEC(app_value) memo;
};

static const pr_i128 axis_cap[3] = { 2147483647, 65535, 65535 };

static pr_var bare_var(pr_encoding *e, pr_var_role role, int index, pr_copy copy, pr_i128 lo, pr_i128 hi, const char *name)
{
    pr_var_info i = { .role = role, .index = index, .copy = copy, .lo = lo, .hi = hi, .name = name };
    return pr_var_new(e->terms, i);
}

static pr_term new_var(pr_encoding *e, pr_var_role role, int index, pr_copy copy, pr_i128 lo, pr_i128 hi, const char *name)
{
    return pr_var_term(e->terms, bare_var(e, role, index, copy, lo, hi, name));
}

/* A variable is one per (role, index, copy) and keeps its first interval, so a private one needs an index
 * that no other has: the number of variables so far is larger than every index given out this way. */
static int unused_index(const pr_encoding *e) { return (1 << 24) + (int)pr_vars_count(e->terms); }

/* "A.k3"; names are made often, and printf is slow. */
static const char *numbered(pr_encoding *e, const char *what, int n)
{
    char text[32], *p = text + sizeof text - 1;
    size_t digits, before = strlen(what);
    unsigned v = (unsigned)n;
    if (n < 0) return pr_arena_printf(e->arena, "%s%d", what, n);
    do *--p = (char)('0' + v % 10); while (v /= 10);
    digits = (size_t)(text + sizeof text - 1 - p);
    char *name = pr_arena_raw(e->arena, before + digits + 1);
    memcpy(name, what, before);
    memcpy(name + before, p, digits);
    name[before + digits] = 0;
    return name;
}

/* May the value of this symbol be taken as one value for both copies of an intra query? Only when every
 * thread of the program must see the same one (happens-before.md 3.1, p26, p122). */
static bool tied(const pr_encoding *e, const pr_sym_info *s)
{
    if (s->kind == PR_SYM_OBSERVED) return true;
    if (s->from_atomic || s->loose) return false;
    if (s->kind == PR_SYM_LOADED) {
        for (int i = 0; i < e->records->records.n; i++) {
            const pr_record *r = &e->records->records.data[i];
            if (r->access == s->access && (r->base < 0 || e->written[r->base])) return false;
        }
        return true;
    }
    return !s->from_memory || e->all_loads_read_only;
}

/* The result of an atomic that runs at most once a program is one value, whatever symbols stand for it. */
static bool same_observation(const pr_terms *T, uint32_t a, uint32_t b)
{
    const pr_sym_info *s = pr_sym_get(T, pr_term_sym(T, (pr_term){ a })), *t = pr_sym_get(T, pr_term_sym(T, (pr_term){ b }));
    return s->kind == PR_SYM_OBSERVED && t->kind == PR_SYM_OBSERVED && s->access == t->access && s->is_bool == t->is_bool &&
           pr_term_arity(T, (pr_term){ a }) == 0 && pr_term_arity(T, (pr_term){ b }) == 0;
}

static pr_term *find(struct pr_side_app *x, uint32_t app)
{
    for (int i = 0; i < x->memo.n; i++)
        if (x->memo.data[i].app == app || same_observation(x->e->terms, x->memo.data[i].app, app)) return &x->memo.data[i].value;
    return NULL;
}

static pr_term replace_app(void *user, pr_terms *T, pr_term app)
{
    struct pr_side_app *x = user;
    pr_encoding *e = x->e;
    const pr_sym_info *s = pr_sym_get(T, pr_term_sym(T, app));
    if (s->kind == PR_SYM_LOADED && x->side) {
        pr_term *seen = find(x, app.id);
        if (seen) return *seen;
        pr_term loaded = pr_contents_value(e, x->side, app);
        if (!pr_term_none(loaded)) {
            pr_vec_push(e->arena, &x->memo, ((app_value){ app.id, loaded }));
            return loaded;
        }
        s = pr_sym_get(T, pr_term_sym(T, app));
    }
    if (pr_term_arity(T, app) == 0 && tied(e, s)) x = x->copy == PR_COPY_A || x->intra_b ? e->uniform : e->uniform_b;
    pr_term *known = find(x, app.id);
    if (known) return *known;
    int bits = s->bits ? s->bits : 64;
    pr_i128 lo = s->is_bool ? 0 : pr_int_min(bits), hi = s->is_bool ? 1 : pr_int_max(bits);
    if (s->bounded && !s->is_bool) lo = s->lo, hi = s->hi;
    const char *name = numbered(e, x->copy == PR_COPY_A ? "A.free" : "B.free", e->n_free);
    pr_term v = new_var(e, PR_ROLE_FREE, unused_index(e), x->copy, lo, hi, name);
    e->n_free++;
    if (s->is_bool) v = pr_eq(T, v, pr_const(T, 1));
    pr_vec_push(e->arena, &x->memo, ((app_value){ app.id, v }));
    return v;
}

/* ---- simplification under the box ---------------------------------------------------------- */

/* Conditions are dags (a mask that comes out of a sort shares its halves): a term is visited once a call. */
typedef struct simple { uint32_t call; pr_term value; } simple;
struct pr_simplifier { PR_VEC(simple) memo; uint32_t call, begun; };

/* New terms that the conditions of one access may need, and one simplification. */
enum { MOST_TERMS = 1 << 15 };

static pr_term simplify_term(pr_encoding *e, pr_term t, int depth)
{
    pr_terms *T = e->terms;
    pr_term_op op = pr_term_op_of(T, t);
    if (op == PR_TERM_OP_FITS && pr_range_bool(e->box, t) == PR_MAYBE) t = pr_fits_expand(T, t);
    if (op != PR_TERM_OP_AND && op != PR_TERM_OP_OR && op != PR_TERM_OP_NOT) {
        pr_tri known = pr_range_bool(e->box, t);
        return known == PR_YES ? PR_TERM_TRUE : known == PR_NO ? PR_TERM_FALSE : t;
    }
    simple *seen = &e->simplifier->memo.data[t.id];
    if (seen->call == e->simplifier->call) return seen->value;
    if (depth > 400 || pr_terms_count(T) - e->simplifier->begun > MOST_TERMS) return t;
    pr_term a = simplify_term(e, pr_term_child(T, t, 0), depth + 1), r = a;
    if (op == PR_TERM_OP_NOT) {
        r = pr_not(T, a);
    } else if (!pr_term_is(a, op == PR_TERM_OP_AND ? PR_TERM_FALSE : PR_TERM_TRUE)) {
        pr_term b = simplify_term(e, pr_term_child(T, t, 1), depth + 1);
        r = op == PR_TERM_OP_AND ? pr_and(T, a, b) : pr_or(T, a, b);
    }
    *seen = (simple){ e->simplifier->call, r };
    return r;
}

/* Before one or several calls of simplify: the terms that they may make together are counted from here. */
static void begin_simplify(pr_encoding *e)
{
    if (!e->simplifier) e->simplifier = PR_NEW(e->arena, struct pr_simplifier);
    e->simplifier->begun = pr_terms_count(e->terms);
}

static pr_term simplify(pr_encoding *e, pr_term t)
{
    pr_term_op op = pr_term_op_of(e->terms, t);
    if (op == PR_TERM_OP_LE0 || op == PR_TERM_OP_EQ0) return simplify_term(e, t, 0);     /* nothing below it is remembered */
    while (e->simplifier->memo.n <= (int)t.id) pr_vec_push(e->arena, &e->simplifier->memo, ((simple){ 0 }));
    e->simplifier->call++;
    return simplify_term(e, t, 0);
}

pr_term pr_encode_simplify(pr_encoding *e, pr_term t)
{
    pr_term_vec parts = { 0 };
    pr_term all = PR_TERM_TRUE;
    pr_conjuncts(e->terms, t, &parts, e->arena);
    begin_simplify(e);
    for (int i = 0; i < parts.n; i++) all = pr_and(e->terms, all, simplify(e, parts.data[i]));
    return all;
}

/* ---- sides ---------------------------------------------------------------------------------- */

static void side_refuse(pr_side *s, pr_refusal_kind kind, const char *why)
{
    if (s->refused) return;
    s->refused = kind;
    s->why = why;
}

static pr_term apply(pr_side *s, pr_term t) { return pr_subst_apply(&s->subst, t); }

static void activate(pr_encoding *e, pr_side *s, pr_term t)
{
    if (s->refused == PR_REFUSAL_BUDGET) return;
    if (pr_terms_count(e->terms) - s->terms_before > MOST_TERMS) {
        side_refuse(s, PR_REFUSAL_BUDGET, "the conditions of one access have too many terms");
        return;
    }
    pr_term_vec parts = { 0 };
    if (pr_term_none(t)) {
        side_refuse(s, PR_REFUSAL_UNMODELED_VALUE, "a condition leaves exact arithmetic");
        return;
    }
    pr_conjuncts(e->terms, t, &parts, e->arena);
    begin_simplify(e);
    for (int i = 0; i < parts.n; i++) {
        pr_term x = simplify(e, parts.data[i]);
        if (pr_term_none(x)) {
            side_refuse(s, PR_REFUSAL_UNMODELED_VALUE, "a condition leaves exact arithmetic");
        } else if (pr_term_is(x, PR_TERM_FALSE)) {
            s->dead = true;
        } else if (!pr_term_is(x, PR_TERM_TRUE)) {
            bool known = false;
            for (int j = 0; j < s->active.n && !known; j++) known = pr_term_is(s->active.data[j], x);
            if (!known) pr_vec_push(e->arena, &s->active, x);
        }
    }
}

enum { FREE = PR_OCCURS(PR_ROLE_FREE) };

static bool is_free(void *user, const pr_terms *T, pr_term t)
{
    (void)user;
    return pr_term_op_of(T, t) == PR_TERM_OP_VAR && pr_var_get(T, pr_term_var(T, t))->role == PR_ROLE_FREE;
}

/* An unmodelled value in an address refuses it, unless it is the lower bound of a loop around the access:
 * then it is one more free bound (ttir-front.md 6.3), and the record is uncertain because of it. */
typedef struct address_apps { const pr_record *r; const pr_terms *T; pr_arena *arena; PR_VEC(pr_term) app; } address_apps;

typedef struct same_term { pr_term wanted; } same_term;
static bool is_same(void *user, const pr_terms *T, pr_term t) { return pr_term_is(t, ((same_term *)user)->wanted); }

/* A value of one copy that nothing is known of. */
static bool is_private(void *user, const pr_terms *T, pr_term t)
{
    return is_free(user, T, t) && pr_var_get(T, pr_term_var(T, t))->copy != PR_COPY_SHARED;
}

/* A value that both copies share, but that has no number. */
static bool is_unknown(void *user, const pr_terms *T, pr_term t)
{
    if (pr_term_op_of(T, t) == PR_TERM_OP_TABLE) return !pr_tab_get(T, pr_term_tab(T, t))->values;
    return is_free(user, T, t);
}

static void note_app(void *user, pr_term t)
{
    address_apps *f = user;
    const pr_terms *T = f->T;
    if (pr_term_op_of(T, t) != PR_TERM_OP_APP) return;
    same_term same = { t };
    for (const pr_frame *g = f->r->frame; g; g = g->outer)
        if (g->kind == PR_FRAME_LOOP && pr_term_any_in(T, g->lower, PR_OCCURS_APP, is_same, &same)) return;
    pr_vec_push(f->arena, &f->app, t);
}

/* Unmodelled values in the record's offset other than through the lower bound of a loop around it. */
static address_apps apps_of_address(pr_encoding *e, const pr_record *r)
{
    address_apps f = { .r = r, .T = e->terms, .arena = e->arena };
    unsigned char *known = &e->address_apps[r->id];
    if (pr_term_none(r->offset) || *known == 2) return f;
    pr_term_visit_in(e->terms, &r->offset, 1, PR_OCCURS_APP, note_app, &f);
    *known = f.app.n ? 1 : 2;
    return f;
}

bool pr_encode_address_has_apps(pr_encoding *e, const pr_record *r) { return apps_of_address(e, r).app.n > 0; }

/* What is left of them in the substituted address decides: a variable of this copy refuses it, unless it has bounds; one that has, a function that
 * nobody knows (or one value that all programs share) can only be shown disjoint. */
static void refuse_unknown(pr_encoding *e, pr_side *s)
{
    pr_terms *T = e->terms;
    address_apps f = apps_of_address(e, s->record);
    for (int i = 0; i < f.app.n; i++) {
        pr_term v = apply(s, f.app.data[i]);
        const pr_sym_info *sym = pr_sym_get(T, pr_term_sym(T, f.app.data[i]));
        if (sym->kind == PR_SYM_OBSERVED && pr_term_arity(T, f.app.data[i]) == 0 && pr_sync_admits(e, sym->access)) continue;
        if (sym->kind == PR_SYM_OBSERVED && pr_sync_names(e, s->record, f.app.data[i])) continue;
        bool within = sym->kind == PR_SYM_OPAQUE && sym->bounded && !pr_term_none(v);       /* any value within bounds: it can be shown disjoint */
        if ((e->records->sums.n && pr_sums_admit(e, s, f.app.data[i])) || within) {
            if (!s->unknown_address) s->unknown_why = pr_contents_explain(e, pr_term_sym(T, f.app.data[i]), &s->unknown_kind);
            s->unknown_address = true;
            continue;
        }
        if (pr_term_none(v) || pr_term_any_in(T, v, FREE, is_private, NULL)) {
            pr_refusal_kind kind;
            const char *why = pr_contents_explain(e, pr_term_sym(T, f.app.data[i]), &kind);
            side_refuse(s, kind, why);
            return;
        }
        if (s->unknown_address || !pr_term_any_in(T, v, FREE | PR_OCCURS_TABLE, is_unknown, NULL)) continue;
        s->unknown_address = true;
        s->unknown_why = pr_contents_explain(e, pr_term_sym(T, f.app.data[i]), &s->unknown_kind);
    }
}

typedef struct first_param { const pr_encoding *e; int arg; } first_param;
static bool is_open_param(void *user, const pr_terms *T, pr_term t)
{
    first_param *f = user;
    if (pr_term_op_of(T, t) != PR_TERM_OP_VAR) return false;
    const pr_var_info *v = pr_var_get(T, pr_term_var(T, t));
    if (v->role != PR_ROLE_PARAM || v->index >= f->e->launch->n_args) return false;
    if (f->e->launch->args[v->index].kind == PR_ARG_INT) return false;
    f->arg = v->index;
    return true;
}

static void check_params(pr_encoding *e, pr_side *s, pr_term t)
{
    first_param f = { e, -1 };
    if (e->rung == PR_RUNG_T0 || pr_term_none(t) || !e->open_params) return;
    if (pr_term_any_in(e->terms, t, PR_OCCURS(PR_ROLE_PARAM), is_open_param, &f)) {
        pr_str n = e->records->args[f.arg].name;
        side_refuse(s, PR_REFUSAL_MISSING_BINDING,
                    pr_arena_printf(e->arena, "the launch leaves argument '" PR_STR_FMT "' open", PR_STR_ARG(n)));
    }
}

/* lower + k*step < upper, and an unconditional bound of k where the range of the bounds gives one. */
static void enter_loop(pr_encoding *e, pr_side *s, const pr_frame *f, pr_copy copy, pr_term *map)
{
    pr_terms *T = e->terms;
    pr_term lower = apply(s, f->lower), upper = apply(s, f->upper), step = apply(s, f->step);
    pr_i128 step_value = 0, hi = PR_INF;
    check_params(e, s, f->lower);
    check_params(e, s, f->upper);
    check_params(e, s, f->step);
    if (pr_term_none(lower) || pr_term_none(upper) || pr_term_none(step)) {
        side_refuse(s, PR_REFUSAL_LOOP_BOUND, "a loop bound leaves exact arithmetic");
        return;
    }
    /* A step need not be a number: what counts is that it is positive in every launch (num_programs is). */
    pr_interval steps = pr_range(e->box, step);
    if (steps.lo <= 0) {
        side_refuse(s, PR_REFUSAL_LOOP_BOUND, pr_term_const(T, step, &step_value)
                        ? "a loop step is not positive" : "a loop step is not known to be positive");
        return;
    }
    pr_interval span = pr_range(e->box, pr_sub(T, upper, lower));
    if (span.hi < PR_INF) hi = span.hi <= 0 ? 0 : (span.hi - 1) / steps.lo;
    int n = s->n_loops++;
    const char *name = numbered(e, copy == PR_COPY_A ? "A.k" : "B.k", f->loop);
    /* one variable per record: the same loop may have different ranges under different branches */
    s->iter[n] = new_var(e, PR_ROLE_ITER, unused_index(e), copy, 0, hi, name);
    s->loop[n] = f;
    map[f->k.id] = s->iter[n];
    pr_term value = pr_add(T, lower, pr_mul(T, s->iter[n], step));
    activate(e, s, pr_lt(T, value, upper));
}

/* The substitution memo is only valid for one map; a new value of k starts a new memo. */
static void forget(pr_side *s, pr_term k)
{
    if (k.id >= s->subst.memo_cap || !s->subst.memo[k.id].id) return;      /* no term with it was substituted */
    s->subst.memo = NULL;
    s->subst.memo_cap = 0;
}

static void build_address(pr_encoding *e, pr_side *s)
{
    const pr_record *r = s->record;
    pr_terms *T = e->terms;
    if (r->refused.kind) side_refuse(s, r->refused.kind, r->refused.message);
    if (r->base < 0) {
        side_refuse(s, PR_REFUSAL_OTHER, "the accessed buffer is not known");
        return;
    }
    if (pr_term_none(r->offset)) {
        side_refuse(s, PR_REFUSAL_OTHER, "the address leaves exact arithmetic");
        return;
    }
    check_params(e, s, r->offset);
    s->addr = apply(s, r->offset);
    refuse_unknown(e, s);
    if (e->rung == PR_RUNG_T0 || pr_term_none(s->addr)) {
        if (pr_term_none(s->addr)) side_refuse(s, PR_REFUSAL_OTHER, "the address leaves exact arithmetic");
        return;
    }
    const pr_arg *arg = &e->launch->args[r->base];
    if (!arg->tensor) {
        side_refuse(s, PR_REFUSAL_MISSING_BINDING,
                    pr_arena_printf(e->arena, "the launch has no tensor for '" PR_STR_FMT "'",
                                    PR_STR_ARG(e->records->args[r->base].name)));
        return;
    }
    s->addr = pr_add(T, s->addr, pr_const(T, arg->tensor->ptr));
}

static void in_bounds(pr_encoding *e, pr_side *s)
{
    if (e->rung == PR_RUNG_T0 || s->refused) return;
    const pr_tensor *t = e->launch->args[s->record->base].tensor;
    pr_interval r = pr_range(e->box, s->addr);
    if (r.lo >= t->storage_lo && r.hi < t->storage_hi) return;     /* both conjuncts would be true */
    activate(e, s, pr_le(e->terms, pr_const(e->terms, t->storage_lo), s->addr));
    activate(e, s, pr_lt(e->terms, s->addr, pr_const(e->terms, t->storage_hi)));
}

static pr_term pid_term(pr_encoding *e, int axis, pr_copy copy)
{
    static const char *const name[2][3] = { { "A.pid0", "A.pid1", "A.pid2" }, { "B.pid0", "B.pid1", "B.pid2" } };
#ifdef PR_FAULTS
    if (e->options->fault == 19 && e->launch && e->launch->grid_known && e->launch->grid[axis] == 1) return PR_TERM_ZERO;
#endif
    if (e->fixed[axis] && e->extent[axis] == 1) return PR_TERM_ZERO;
    pr_term *known = &e->pid[copy == PR_COPY_B][axis];
    if (!pr_term_none(*known)) return *known;
    pr_i128 hi = e->fixed[axis] ? e->extent[axis] - 1 : axis_cap[axis] - 1;
    return *known = new_var(e, PR_ROLE_PID, (int)e->rung * 4 + axis, copy, 0, hi, name[copy == PR_COPY_B][axis]);
}

static const pr_frame **frames_of(pr_encoding *e, const pr_record *r, int *n)
{
    int depth = 0;
    for (const pr_frame *f = r->frame; f; f = f->outer) depth++;
    const pr_frame **list = PR_NEW_N(e->arena, const pr_frame *, depth + 1);
    *n = depth;
    for (const pr_frame *f = r->frame; f; f = f->outer) list[--depth] = f;
    return list;
}

static void note_address_loads(pr_encoding *e, pr_side *s)
{
    address_apps f = apps_of_address(e, s->record);
    int *list = PR_NEW_N(e->arena, int, f.app.n + 1);
    for (int i = 0; i < f.app.n; i++) {
        const pr_sym_info *sym = pr_sym_get(e->terms, pr_term_sym(e->terms, f.app.data[i]));
        if (sym->kind == PR_SYM_LOADED) list[s->n_address_loads++] = sym->access;
    }
    s->address_loads = list;
}

/* A record whose condition comes from memory is exact once every such value is known. */
static void set_uncertain(pr_encoding *e, pr_side *s)
{
    const pr_record *r = s->record;
    s->uncertain = r->uncertain;
    s->uncertain_bound_only = r->uncertain_bound_only;
    if (e->contents != PR_CONTENTS_SNAPSHOT || r->after_wait || !r->uncertain) return;
    bool left = pr_term_none(s->addr) || pr_term_any_in(e->terms, s->addr, FREE | PR_OCCURS_TABLE, is_unknown, NULL);
    for (int i = 0; i < s->active.n && !left; i++) left = pr_term_any_in(e->terms, s->active.data[i], FREE | PR_OCCURS_TABLE, is_unknown, NULL);
    s->uncertain = left;
    s->uncertain_bound_only = left && r->uncertain_bound_only;
}

static bool is_result(void *user, const pr_terms *T, pr_term t)
{
    (void)user;
    return pr_term_op_of(T, t) == PR_TERM_OP_APP && pr_sym_get(T, pr_term_sym(T, t))->kind == PR_SYM_OBSERVED;
}

/* A copy with its variables for ids and lanes, and nothing known of it yet. */
static pr_side *new_side(pr_encoding *e, const pr_record *r, int which, pr_term **var_map)
{
    const pr_records *R = e->records;
    pr_terms *T = e->terms;
    pr_copy copy = which == PR_SIDE_A ? PR_COPY_A : PR_COPY_B;
    pr_side *s = PR_NEW(e->arena, pr_side);
    s->record = r;
    s->terms_before = pr_terms_count(T);
    s->addr = PR_TERM_NONE;
    s->app = PR_NEW(e->arena, struct pr_side_app);
    *s->app = (struct pr_side_app){ .e = e, .side = s, .copy = copy, .intra_b = which == PR_SIDE_B_INTRA };
    note_address_loads(e, s);
    uint32_t n_map = pr_vars_count(T);
    pr_term *map = *var_map = PR_NEW_N(e->arena, pr_term, n_map);
    memcpy(map, e->var_map, sizeof *map * e->n_var_map);
    s->subst = (pr_subst){ .T = T, .var_map = map, .n_var_map = n_map, .app = replace_app, .user = s->app };
    for (int i = 0; i < 3; i++) {
        s->pid[i] = pid_term(e, i, which == PR_SIDE_B_INTRA ? PR_COPY_A : copy);
        map[R->pid[i].id] = s->pid[i];
    }
    for (int d = 0; d < PR_RANK_MAX; d++) {
        s->lane[d] = PR_TERM_ZERO;
        if (d < r->rank && r->shape[d] > 1)
            s->lane[d] = new_var(e, PR_ROLE_LANE, r->id * PR_RANK_MAX + d, copy, 0, r->shape[d] - 1,
                                 numbered(e, copy == PR_COPY_A ? "A.lane" : "B.lane", d));
        map[R->lane[d].id] = s->lane[d];
    }
    return s;
}

static void side_vars(pr_encoding *e, pr_side *s);

/* Copy A with the variables of copy B, where nothing but ids, lanes and iterations tells the two apart: what was made of
 * the record's terms is not made again. False: it holds more. */
static bool rename_side(pr_encoding *e, pr_side **slot, const pr_side *from, int which)
{
    enum { MORE = PR_OCCURS(PR_ROLE_FREE) | PR_OCCURS(PR_ROLE_OTHER) | PR_OCCURS_APP | PR_OCCURS_TABLE };
    pr_side *a = (pr_side *)from;
    pr_terms *T = e->terms;
    if (a->refused || a->app->memo.n || a->reads_contents || a->unknown_address || pr_term_none(a->addr) ||
        (pr_term_occurs(T, a->addr) & MORE)) return false;
    for (int i = 0; i < a->active.n; i++)
        if (pr_term_occurs(T, a->active.data[i]) & MORE) return false;
    side_vars(e, a);
    pr_term *map;
    pr_side *s = *slot = new_side(e, a->record, which, &map);
    uint32_t n = pr_vars_count(T);                                          /* every variable of copy A is older */
    pr_var *to = PR_NEW_N(e->arena, pr_var, n);
    for (int i = 0; i < 3; i++)
        if (pr_term_op_of(T, s->pid[i]) == PR_TERM_OP_VAR) to[pr_term_var(T, a->pid[i]).id] = pr_term_var(T, s->pid[i]);
    for (int d = 0; d < PR_RANK_MAX; d++)
        if (pr_term_op_of(T, s->lane[d]) == PR_TERM_OP_VAR) to[pr_term_var(T, a->lane[d]).id] = pr_term_var(T, s->lane[d]);
    s->n_loops = a->n_loops;
    for (int i = 0; i < s->n_loops; i++) {
        pr_var k = pr_term_var(T, a->iter[i]);
        s->loop[i] = a->loop[i];
        to[k.id] = bare_var(e, PR_ROLE_ITER, unused_index(e), PR_COPY_B, pr_var_get(T, k)->lo, pr_var_get(T, k)->hi,
                            numbered(e, "B.k", a->loop[i]->loop));
    }
    /* terms are made in the order of those of copy A, iterations among them: sums keep their order too */
    int n_active = a->active.n, n_old = n_active + 1 + a->n_loops;
    pr_term *old = pr_arena_raw(e->arena, sizeof *old * (size_t)n_old), *made = pr_arena_raw(e->arena, sizeof *made * (size_t)n_old);
    for (int i = 0; i < n_active; i++) old[i] = a->active.data[i];
    old[n_active] = a->addr;
    for (int i = 0; i < a->n_loops; i++) old[n_active + 1 + i] = a->iter[i];
    pr_term_rename(T, old, n_old, to, n, made);
    s->active.data = made;
    s->active.n = s->active.cap = n_active;
    s->addr = made[n_active];
    for (int i = 0; i < s->n_loops; i++) map[a->loop[i]->k.id] = s->iter[i] = made[n_active + 1 + i];
    s->renamed = true;
    s->dead = a->dead;
    s->uncertain = a->uncertain;
    s->uncertain_bound_only = a->uncertain_bound_only;
    pr_var *vars = PR_NEW_N(e->arena, pr_var, a->n_vars + 1);
    for (int i = 0; i < a->n_vars; i++) vars[i] = to[a->vars[i].id].id ? to[a->vars[i].id] : a->vars[i];
    s->vars = vars;
    s->n_vars = a->n_vars;
    return true;
}

const pr_side *pr_encoding_side(pr_encoding *e, int record, int which)
{
    pr_side **slot = &e->sides[record * 3 + which];
    if (*slot) return *slot;
    const pr_records *R = e->records;
    const pr_record *r = &R->records.data[record];
    pr_terms *T = e->terms;
    /* whether the address may mention a result: asked before this side exists, since the answer looks at sides */
    if (!e->sync && !pr_term_none(r->offset) && pr_term_any_in(T, r->offset, PR_OCCURS_APP, is_result, NULL)) pr_sync_of(e);
    if (*slot) return *slot;
    const pr_side *first = which == PR_SIDE_A ? NULL : e->sides[record * 3 + PR_SIDE_A];
    if (first && rename_side(e, slot, first, which)) return *slot;
    pr_copy copy = which == PR_SIDE_A ? PR_COPY_A : PR_COPY_B;
    pr_term *map;
    pr_side *s = *slot = new_side(e, r, which, &map);
    for (int i = 0; i < R->premises.n; i++)   /* every program meets an assume that speaks of its own id */
        for (int a = 0; a < 3; a++)
            if (pr_term_mentions(T, R->premises.data[i], R->pid[a])) {
                activate(e, s, apply(s, R->premises.data[i]));
                break;
            }
    for (int i = 0; i < 3; i++)   /* a symbolic extent that occurs in some term bounds the id */
        if (!e->fixed[i] && e->grid_used[i])
            activate(e, s, pr_lt(T, s->pid[i], pr_var_term(T, R->grid[i])));
    int n = 0;
    const pr_frame **frames = frames_of(e, r, &n);
    for (int i = 0; i < n; i++) {
        const pr_frame *f = frames[i];
        if (f->kind == PR_FRAME_COND) {
            check_params(e, s, f->cond);
            activate(e, s, apply(s, f->cond));
            activate(e, s, apply(s, f->held));
        } else {
            activate(e, s, apply(s, f->bounds_held));
            if (s->n_loops == 64) side_refuse(s, PR_REFUSAL_OTHER, "more than 64 nested loops");
            else enter_loop(e, s, f, copy, map);
            forget(s, pr_var_term(T, f->k));
            activate(e, s, apply(s, f->increment_held));
        }
    }
    check_params(e, s, r->mask);
    activate(e, s, apply(s, r->mask));
    activate(e, s, apply(s, r->mask_held));
    build_address(e, s);
    activate(e, s, apply(s, r->offset_held));
    in_bounds(e, s);
    pr_contents_premises(e, s, activate);
    set_uncertain(e, s);
    return s;
}

void pr_encode_existence(pr_encoding *e, const pr_side *side, const pr_frame *upto, bool with_mask, pr_term_vec *out)
{
    pr_side *s = (pr_side *)side;
    pr_terms *T = e->terms;
    int loop = 0, n = 0, last = upto ? upto->depth : 0;
    const pr_frame **frames = frames_of(e, s->record, &n);
    for (int i = 0; i < n && frames[i]->depth <= last; i++) {
        pr_term t;
        if (frames[i]->kind == PR_FRAME_COND) {
            t = apply(s, frames[i]->cond);
        } else {
            if (loop >= s->n_loops) return;
            t = pr_lt(T, pr_add(T, apply(s, frames[i]->lower), pr_mul(T, s->iter[loop], apply(s, frames[i]->step))),
                      apply(s, frames[i]->upper));
            loop++;
        }
        t = pr_encode_simplify(e, t);
        if (!pr_term_is(t, PR_TERM_TRUE)) pr_vec_push(e->arena, out, t);
    }
    if (!with_mask) return;
    pr_term mask = pr_encode_simplify(e, apply(s, s->record->mask));
    if (!pr_term_is(mask, PR_TERM_TRUE)) pr_vec_push(e->arena, out, mask);
}

/* ---- queries ---------------------------------------------------------------------------------- */

typedef struct collect { pr_encoding *e; pr_var_vec found; } collect;

static void note_vars(collect *c, const pr_var *v, int n)
{
    pr_encoding *e = c->e;
    if (e->n_seen < pr_vars_count(e->terms)) {
        uint32_t wider = pr_vars_count(e->terms) * 2;
        unsigned char *seen = PR_NEW_N(e->arena, unsigned char, wider);
        if (e->n_seen) memcpy(seen, e->seen, e->n_seen);
        e->seen = seen;
        e->n_seen = wider;
    }
    for (int i = 0; i < n; i++) {
        if (e->seen[v[i].id]) continue;
        e->seen[v[i].id] = 1;
        pr_vec_push(e->arena, &c->found, v[i]);
    }
}

static void note_terms(collect *c, const pr_term *t, int n, pr_var_vec *scratch)
{
    scratch->n = 0;
    if (n) pr_term_vars(c->e->terms, t, n, scratch, c->e->arena);
    note_vars(c, scratch->data, scratch->n);
}

/* Witness order: programs, iterations, lanes of A then B, then shared and free variables. */
static int rank_of(const pr_var_info *v)
{
    int copy = v->copy == PR_COPY_B;
    switch (v->role) {
    case PR_ROLE_PID: return copy;
    case PR_ROLE_ITER: return 2 + copy;
    case PR_ROLE_LANE: return 4 + copy;
    case PR_ROLE_GRID: return 6;
    case PR_ROLE_PARAM: return 7;
    case PR_ROLE_FREE: return 8;
    case PR_ROLE_OTHER: return 9;
    }
    return 9;
}

/* Variables of one copy, gathered once for all its queries. */
static void side_vars(pr_encoding *e, pr_side *s)
{
    if (s->vars) return;
    pr_var_vec found = { 0 };
    pr_vec_reserve(e->arena, &found, 8);
    int n = s->active.n;
    pr_vec_push(e->arena, &s->active, s->addr);          /* for a moment: one walk for all */
    s->active.n = n;
    pr_term_vars(e->terms, s->active.data, n + 1, &found, e->arena);
    s->vars = found.data;
    s->n_vars = found.n;
}

static void finish_vars(pr_encoding *e, pr_query *q, const pr_side *x, const pr_side *y)
{
    collect c = { .e = e };
    pr_var_vec scratch = { 0 };
    int from = x ? q->n_core_a + q->n_core_b : 0;
    pr_vec_reserve(e->arena, &c.found, 16);
    pr_vec_reserve(e->arena, &scratch, 16);
    if (x) {
        side_vars(e, (pr_side *)x);
        side_vars(e, (pr_side *)y);
        note_vars(&c, x->vars, x->n_vars);
        note_vars(&c, y->vars, y->n_vars);
    } else if (!pr_term_none(q->addr[0])) {
        note_terms(&c, q->addr, 2, &scratch);
    }
    note_terms(&c, q->core + from, q->n_core - from, &scratch);
    note_terms(&c, q->distinct, q->n_distinct, &scratch);
    note_terms(&c, q->premises, q->n_premises, &scratch);
    for (int i = 0; i < c.found.n; i++) {          /* by rank, then by age */
        pr_var v = c.found.data[i];
        int rank = rank_of(pr_var_get(e->terms, v)), j = i;
        e->seen[v.id] = 0;
        for (; j > 0; j--) {
            pr_var u = c.found.data[j - 1];
            int other = rank_of(pr_var_get(e->terms, u));
            if (other < rank || (other == rank && u.id < v.id)) break;
            c.found.data[j] = u;
        }
        c.found.data[j] = v;
    }
    q->vars = c.found.data;
    q->n_vars = c.found.n;
}

void pr_encode_finish_vars(pr_encoding *e, pr_query *q) { finish_vars(e, q, NULL, NULL); }

/* Appends first <lex second on the given coordinate pairs as alternatives; both directions when asked. */
static void lex_alternatives(pr_encoding *e, const pr_term *x, const pr_term *y, int n, bool both, pr_term_vec *out)
{
    pr_terms *T = e->terms;
    pr_term equal = PR_TERM_TRUE;
    for (int i = 0; i < n; i++) {
        pr_term less = pr_and(T, equal, pr_lt(T, x[i], y[i]));
        if (!pr_term_is(less, PR_TERM_FALSE)) pr_vec_push(e->arena, out, less);
        if (both) {
            pr_term more = pr_and(T, equal, pr_lt(T, y[i], x[i]));
            if (!pr_term_is(more, PR_TERM_FALSE)) pr_vec_push(e->arena, out, more);
        }
        equal = pr_and(T, equal, pr_eq(T, x[i], y[i]));
    }
}

static bool is_atomic(const pr_record *r) { return r->kind >= PR_RECORD_RMW; }

/* incl(x,y) of happens-before.md 1.2 as far as scopes go. */
static bool inclusive(const pr_record *a, const pr_record *b, bool intra)
{
    return intra || (a->scope != PR_SCOPE_CTA && b->scope != PR_SCOPE_CTA);
}

static void add_twin(pr_encoding *e, pr_query *q, pr_term x, pr_term y, int *cap)
{
    pr_terms *T = e->terms;
    if (pr_term_op_of(T, x) != PR_TERM_OP_VAR || pr_term_op_of(T, y) != PR_TERM_OP_VAR || pr_term_is(x, y)) return;
    pr_var (*list)[2] = (pr_var (*)[2])q->twins;
    if (q->n_twins == *cap) {
        *cap = *cap ? *cap * 2 : 16;
        pr_var (*wider)[2] = pr_arena_alloc(e->arena, sizeof *wider * (size_t)*cap);
        if (q->n_twins) memcpy(wider, list, sizeof *wider * (size_t)q->n_twins);
        list = wider;
        q->twins = (const pr_var (*)[2])wider;
    }
    list[q->n_twins][0] = pr_term_var(T, x);
    list[q->n_twins++][1] = pr_term_var(T, y);
}

static bool one_thread_map(const pr_encoding *e, const pr_record *x, const pr_record *y);

/* Identity dimensions both copies have: ids of different programs, loops they share, lanes of one record or of two
 * whose elements belong to equal threads. */
static void list_twins(pr_encoding *e, const pr_side *x, const pr_side *y, bool intra, pr_query *q)
{
    bool lanes = x->record == y->record || (intra && one_thread_map(e, x->record, y->record));
    int cap = 0;
    for (int i = 0; i < 3 && !intra; i++) add_twin(e, q, x->pid[i], y->pid[i], &cap);
    for (int i = 0; i < x->n_loops; i++)
        for (int j = 0; j < y->n_loops; j++)
            if (x->loop[i] == y->loop[j]) add_twin(e, q, x->iter[i], y->iter[j], &cap);
    for (int d = 0; d < x->record->rank && lanes; d++) add_twin(e, q, x->lane[d], y->lane[d], &cap);
}

/* Two operations whose layouts give the elements of equal indices to one thread. */
static bool one_thread_map(const pr_encoding *e, const pr_record *x, const pr_record *y)
{
    return !e->ignore_thread_maps && x->access != y->access && x->thread_map && x->thread_map == y->thread_map;
}

bool pr_encode_pair(pr_encoding *e, int a, int b, bool intra, pr_query *q, bool *dead, bool *used_o3,
                    bool without_o3, pr_refusal_kind *kind, const char **why)
{
    pr_terms *T = e->terms;
    const pr_side *x = pr_encoding_side(e, a, PR_SIDE_A);
    const pr_side *y = pr_encoding_side(e, b, intra ? PR_SIDE_B_INTRA : PR_SIDE_B);
    *dead = x->dead || y->dead;
    *used_o3 = false;
    *kind = PR_REFUSAL_NONE;
    if (*dead) return true;
    if (x->refused || y->refused) {
        *kind = x->refused ? x->refused : y->refused;
        *why = x->refused ? x->why : y->why;
        return false;
    }
    pr_term_vec core = { 0 }, distinct = { 0 };
    bool relaxed = false;
    pr_vec_reserve(e->arena, &core, x->active.n + y->active.n + 2);
    for (int i = 0; i < x->active.n; i++) pr_vec_push(e->arena, &core, x->active.data[i]);
    for (int i = 0; i < y->active.n; i++) pr_vec_push(e->arena, &core, y->active.data[i]);
    int n_a = x->active.n, n_b = y->active.n;
    if (is_atomic(x->record) && is_atomic(y->record) && x->record->via_desc == y->record->via_desc &&
        x->record->width == y->record->width && inclusive(x->record, y->record, intra))
        pr_vec_push(e->arena, &core, pr_ne(T, x->addr, y->addr));
#ifdef PR_FAULTS
    if (e->options->fault == 13) pr_vec_push(e->arena, &core, pr_eq(T, x->addr, y->addr));
#endif
    if (!intra) {
        pr_term_vec *apart = &e->programs_apart[a != b];     /* all copies A have one set of ids, all copies B another */
        if (!apart->n) lex_alternatives(e, x->pid, y->pid, 3, a != b, apart);
        distinct = *apart;
        if (!distinct.n) *dead = true;   /* one program: no pair of different programs */
    } else {
        bool never = false;
        if (x->record->access == y->record->access) {
            /* O1: one lane of one operation is one thread, in every iteration (not for descriptors). Two
             * records of one operation are the possible bases of its pointer. */
            pr_term u[PR_RANK_MAX + 64], v[PR_RANK_MAX + 64];
            int n = 0;
            for (int d = 0; d < x->record->rank; d++)
                if (x->record->shape[d] > 1) u[n] = x->lane[d], v[n++] = y->lane[d];
            if (x->record->via_desc)
                for (int i = 0; i < x->n_loops; i++) u[n] = x->iter[i], v[n++] = y->iter[i];
            lex_alternatives(e, u, v, n, a != b, &distinct);
            if (!distinct.n) *dead = true;
        }
        bool maps = one_thread_map(e, x->record, y->record);
        if (maps) { /* O5: equal elements of the two operations are one thread's */
            lex_alternatives(e, x->lane, y->lane, x->record->rank, true, &distinct);
            if (!distinct.n) *dead = true;
        }
        relaxed = !pr_order_unordered(e, x, y, without_o3, &core, &never, used_o3);
        if (never) *dead = true;
    }
    if (*dead) return true;
    pr_sums_facts(e, x, y, intra, &core);
    for (int i = 0; i < core.n; i++)
        if (pr_term_none(core.data[i])) {
            *kind = PR_REFUSAL_UNMODELED_VALUE;
            *why = "a condition leaves exact arithmetic";
            return false;
        }
    *q = (pr_query){ .terms = T, .core = core.data, .n_core = core.n, .distinct = distinct.data,
                     .n_distinct = distinct.n, .premises = e->premises.data, .n_premises = e->premises.n,
                     .addr = { x->addr, y->addr }, .width = { x->record->width, y->record->width },
                     .relaxed = relaxed || x->uncertain || y->uncertain || x->unknown_address || y->unknown_address, .pair = -1,
                     .is_pair = true, .intra = intra, .same_record = a == b, .n_core_a = n_a, .n_core_b = n_b };
    memcpy(q->pid[0], x->pid, sizeof x->pid);
    memcpy(q->pid[1], y->pid, sizeof y->pid);
    list_twins(e, x, y, intra, q);
    finish_vars(e, q, x, y);
    return true;
}

void pr_encode_single(pr_encoding *e, const pr_term *conj, int n, pr_query *q)
{
    *q = (pr_query){ .terms = e->terms, .core = conj, .n_core = n, .premises = e->premises.data,
                     .n_premises = e->premises.n, .addr = { PR_TERM_NONE, PR_TERM_NONE }, .pair = -1 };
    pr_encode_finish_vars(e, q);
}

/* ---- encoding --------------------------------------------------------------------------------- */

static bool record_writes(const pr_record *r)
{
    return r->kind != PR_RECORD_LOAD && r->kind != PR_RECORD_POLL && r->kind != PR_RECORD_ATOMIC_LOAD;
}

enum { GRID = PR_OCCURS(PR_ROLE_GRID) };

/* Some num_programs in the frames? Then it is looked which. */
static unsigned occurs_in_frames(const pr_terms *T, const pr_frame *f)
{
    unsigned all = 0;
    for (; f; f = f->outer) {
        if (f->kind == PR_FRAME_COND) all |= pr_term_occurs(T, f->cond) | pr_term_occurs(T, f->held);
        else all |= pr_term_occurs(T, f->lower) | pr_term_occurs(T, f->upper) | pr_term_occurs(T, f->step) |
                    pr_term_occurs(T, f->bounds_held) | pr_term_occurs(T, f->increment_held);
    }
    return all;
}

static void note_grids(bool used[3], const pr_records *R, const pr_term *t, int n)
{
    for (int i = 0; i < n; i++)
        for (int a = 0; a < 3 && (pr_term_occurs(R->terms, t[i]) & GRID); a++) used[a] = used[a] || pr_term_mentions(R->terms, t[i], R->grid[a]);
}

static void note_grids_of_frames(bool used[3], const pr_records *R, const pr_frame *f)
{
    if (!(occurs_in_frames(R->terms, f) & GRID)) return;
    for (; f; f = f->outer)
        note_grids(used, R, (const pr_term[]){ f->cond, f->held, f->lower, f->upper, f->step, f->bounds_held, f->increment_held }, 7);
}

/* Extents in a term of some record, or in what decides how often a barrier ran. */
static void grids_used(bool used[3], const pr_records *R)
{
    note_grids(used, R, R->premises.data, R->premises.n);
    for (int i = 0; i < R->records.n; i++) {
        const pr_record *r = &R->records.data[i];
        note_grids(used, R, (const pr_term[]){ r->offset, r->mask, r->mask_held, r->offset_held }, 4);
        note_grids_of_frames(used, R, r->frame);
    }
    for (int i = 0; i < R->fences.n; i++) note_grids_of_frames(used, R, R->fences.data[i].frame);
}

/* Extents and integer arguments with this rung's numbers. */
static void set_numbers(pr_encoding *e)
{
    const pr_records *R = e->records;
    pr_terms *T = e->terms;
    uint32_t n = pr_vars_count(T);
    pr_term *map = PR_NEW_N(e->arena, pr_term, n);
    e->var_map = map;
    e->n_var_map = n;
    for (int i = 0; i < 3; i++)
        if (e->fixed[i]) map[R->grid[i].id] = pr_const(T, e->extent[i]);
    if (e->rung == PR_RUNG_T0) return;
    for (int i = 0; i < R->n_args && i < e->launch->n_args; i++)
        if (R->args[i].param.id && e->launch->args[i].kind == PR_ARG_INT)
            map[R->args[i].param.id] = pr_const(T, e->launch->args[i].value);
    for (uint32_t i = 1; i < n; i++) {
        const pr_var_info *v = pr_var_get(T, (pr_var){ i });
        if (v->role == PR_ROLE_PARAM && v->index < e->launch->n_args && e->launch->args[v->index].kind != PR_ARG_INT)
            e->open_params = true;
    }
}

/* Assume conditions with this rung's numbers. A program id in one stays an unconstrained stand-in: the
 * premise then only asks that some program satisfies it, which is weaker. */
static void add_premises(pr_encoding *e)
{
    const pr_records *R = e->records;
    pr_subst s = { .T = e->terms, .var_map = e->var_map, .n_var_map = e->n_var_map, .app = replace_app, .user = e->uniform };
    for (int i = 0; i < R->premises.n; i++) {
        pr_term t = pr_encode_simplify(e, pr_subst_apply(&s, R->premises.data[i]));
        if (!pr_term_is(t, PR_TERM_TRUE)) pr_vec_push(e->arena, &e->premises, t);
    }
}

pr_encoding *pr_encoding_new(pr_arena *arena, const pr_records *R, const pr_launch *L, const pr_options *o,
                             pr_rung rung, const int *component)
{
    pr_encoding *e = PR_NEW(arena, pr_encoding);
    e->arena = arena;
    e->terms = R->terms;
    e->records = R;
    e->launch = L;
    e->options = o;
    e->rung = rung;
    e->component = component;
    e->box = pr_box_new(R->terms);
    e->table_load = PR_NEW_N(arena, bool, R->records.n + 1);
    e->sides = PR_NEW_N(arena, pr_side *, R->records.n * 3 + 1);
    e->uniform = PR_NEW(arena, struct pr_side_app);
    *e->uniform = (struct pr_side_app){ .e = e, .copy = PR_COPY_A };
    e->uniform_b = PR_NEW(arena, struct pr_side_app);
    *e->uniform_b = (struct pr_side_app){ .e = e, .copy = PR_COPY_B };
    for (int i = 0; i < 3; i++) {
        bool known = L && L->grid_known;
        bool symbolic = R->axis_read[i];
        if (!R->axis_read[i] && R->has_atomics && rung == PR_RUNG_T0) symbolic = true;
        if (!R->axis_read[i] && !known) symbolic = symbolic || i == 0;
        if (rung == PR_RUNG_T1_LAUNCH && known) symbolic = false;
        e->fixed[i] = !symbolic;
        e->extent[i] = symbolic ? 0 : known ? L->grid[i] : 1;
    }
    bool *written = PR_NEW_N(arena, bool, R->n_args + 1);
    bool unknown_write = false, loads_fine = true;
    for (int i = 0; i < R->records.n; i++) {
        const pr_record *r = &R->records.data[i];
        if (!record_writes(r)) continue;
        if (r->base < 0) unknown_write = true;
        else if (!written[r->base])
            for (int j = 0; j < R->n_args; j++)
                if (component[j] == component[r->base]) written[j] = true;
    }
    for (int i = 0; i < R->records.n; i++) {
        const pr_record *r = &R->records.data[i];
        if (r->kind != PR_RECORD_LOAD) continue;
        if (r->base < 0 || written[r->base]) loads_fine = false;
    }
    if (unknown_write)
        for (int j = 0; j < R->n_args; j++) written[j] = true;
    e->written = written;
    e->all_loads_read_only = loads_fine && !unknown_write && !R->refusals.n;
    grids_used(e->grid_used, R);
    e->address_apps = PR_NEW_N(arena, unsigned char, R->records.n + 1);
    set_numbers(e);
    add_premises(e);
    return e;
}

void pr_encoding_use(pr_encoding *e, pr_contents contents)
{
    const pr_records *R = e->records;
    e->contents = contents;
    if (contents != PR_CONTENTS_SNAPSHOT || !e->launch) return;
    bool *usable = PR_NEW_N(e->arena, bool, R->n_args + 1);
    for (int i = 0; i < R->n_args; i++) usable[i] = !pr_contents_why_not(R, e->launch, i, NULL);
    e->snapshot = usable;
}
