/* A bounded look for a witness: do two of the first few instances meet? The main refuter.
 *
 * Differences from the delta search first (smallest instance plus the difference), then instances of both
 * copies joined by address: corners of lanes and loops for the first programs, then all lanes of the first
 * programs. Shared values (parameters, symbolic grid) take a few typical values. At most 1024 evaluated
 * points; a point counts only when pr_query_holds says so. decision-engine.md 3.5.
 *
 * Where only EMPTY is of use for all parameters and a launch is known, its numbers are the ones to look at: what
 * meets there needs no prover. Products with parameters are then plain multiples. */
#include "pre/derive.h"
#include "pre/space.h"
#include "pre/tape.h"
#include <string.h>

enum { VARIANTS = 4, DELTAS = 16, PAIRS_EACH = 4, DRAWS = 24, FEW_DRAWS = 2, FEW_DELTAS = 8 };

typedef struct sweep {
    const pr_query *q;
    pr_trio trio;
    pr_i128 *lo, *hi, *at;
    int64_t left;    /* points */
    int64_t derived; /* points read off backwards, a quarter as many beside them */
    bool found;
    const pr_env *launch; /* parameters have these values; null: typical ones */
    int (*twin)[2];       /* positions of the space's twins, -1: not in the query */
} sweep;

static pr_i128 clip(const sweep *x, int i, pr_i128 v)
{
    if (!pr_is_inf(x->hi[i]) && v > x->hi[i]) v = x->hi[i];
    if (!pr_is_inf(x->lo[i]) && v < x->lo[i]) v = x->lo[i];
    return v;
}

static pr_var_role role(const sweep *x, int i) { return pr_var_get(x->q->terms, x->q->vars[i])->role; }

static bool launch_value(const sweep *x, pr_var v, pr_i128 *out)
{
    if (!x->launch || v.id >= x->launch->n || !x->launch->known[v.id]) return false;
    *out = x->launch->value[v.id];
    return true;
}

/* Typical values of what both copies share. Returns false when the variant adds nothing. */
static bool shared_values(sweep *x, int variant)
{
    static const int param[VARIANTS] = { 1 << 20, 1 << 20, 100, 1 },
                     grid[VARIANTS] = { 4, 1024, 64, 3 };
    static const int other[VARIANTS] = { 0, 1, 2, 3 };
    bool any = false;
    for (int i = 0; i < x->q->n_vars; i++) {
        if (x->trio.side[i] != 2) continue;
        any = true;
        switch (role(x, i)) {
        case PR_ROLE_PARAM:
            if (!launch_value(x, x->q->vars[i], &x->at[i])) x->at[i] = clip(x, i, param[variant]);
            break;
        case PR_ROLE_GRID: x->at[i] = clip(x, i, grid[variant]); break;
        default: x->at[i] = clip(x, i, other[variant]); break;
        }
    }
    return any || variant == 0;
}

/* The tapes dismiss most points much sooner than the terms; what they let through is evaluated on the terms. */
static bool satisfied(sweep *x)
{
    pr_i128 address[2], d;
    const int *w = x->q->width;
    if (pr_trio_both(&x->trio, x->at) != PR_YES) return false;        /* the shortest tape */
    for (int c = 0; c < 2; c++)
        if (pr_trio_copy(&x->trio, c, x->at, &address[c]) != PR_YES) return false;
    if (!pr_sub_ok(address[0], address[1], &d) || d >= w[1] || -d >= w[0]) return false;
    return pr_query_holds(x->q, &(pr_point){ x->at, x->q->n_vars }) == PR_YES;
}

static bool try(sweep *x)
{
    if (x->left-- <= 0) return true;
    x->found = satisfied(x);
    return x->found;
}

/* --- deltas -------------------------------------------------------------------------------------- */

static int position(const pr_query *q, pr_var v)
{
    for (int i = 0; i < q->n_vars; i++)
        if (q->vars[i].id == v.id) return i;
    return -1;
}

/* Puts value(A) - value(B) = d at the low end of the intervals; false when it does not fit. */
static bool place(sweep *x, int i, int j, pr_i128 d)
{
    if (i < 0 || j < 0) return false;
    pr_i128 va = clip(x, i, 0), vb = clip(x, j, 0);
    if (va - vb < d) va = vb + d;
    else vb = va - d;
    x->at[i] = va;
    x->at[j] = vb;
    return clip(x, i, va) == va && clip(x, j, vb) == vb;
}

static void try_delta(sweep *x, const pr_space *s, const pr_form *f, const pr_delta *d)
{
    const pr_query *q = x->q;
    for (int absent = 0; absent < 2 && !x->found; absent++) {
        bool fits = true, any_absent = false;
        for (int i = 0; i < q->n_vars; i++)
            if (x->trio.side[i] != 2) x->at[i] = clip(x, i, 0);
        for (int t = 0; t < s->n_twins && fits; t++) {
            bool in_form = false;
            pr_i128 by = 0;
            for (int i = 0; i < f->n; i++) {
                const pr_space_node *v = &s->node[f->at[i].node];
                if (v->op != PR_TERM_OP_VAR || v->value != s->twin[t][0].id ||
                    f->at[i].a != f->at[i].b)
                    continue;
                in_form = true;
                by = d->d[i];
            }
            if (!in_form && x->twin[t][0] < 0) continue;
            any_absent |= !in_form;
            fits = place(x, x->twin[t][0], x->twin[t][1], in_form ? by : absent ? 0 : -1);
        }
        if (fits && try(x)) return;
        if (!any_absent) return;
    }
}

/* Candidates whose differences are of quotients and remainders: values for the form's terms are drawn, the
 * variables derived from them. Draw 0 takes the low ends, 1 the high ones, the others a fixed pseudo-random
 * mixture. */
static pr_i128 draw(pr_i128 lo, pr_i128 hi, int number, uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    uint64_t r = *state >> 33;
    if (number == 0 || hi <= lo || (number > 1 && (r & 1))) return lo;
    if (number == 1) return hi;
    pr_i128 span = hi - lo + 1;
    return lo + (pr_i128)((r >> 1) % (span > INT32_MAX ? (uint64_t)INT32_MAX : (uint64_t)span));
}

static pr_term rep_of(const sweep *x, const pr_space_node *v, int c)
{
    if (v->op != PR_TERM_OP_VAR) return v->rep[c];
    pr_var var = { (uint32_t)v->value };
    for (int t = 0; t < x->q->n_twins; t++)
        if (x->q->twins[t][0].id == var.id) var = x->q->twins[t][c];
    return pr_var_term(x->q->terms, var);
}

static bool derive(sweep *x, const pr_space *s, const pr_form *f, const pr_delta *d, int number, bool *set)
{
    pr_target want[2][PR_PRE_ATOMS];
    uint64_t state = (uint64_t)number * 0x9e3779b97f4a7c15u + 1;
    int n[2] = { 0, 0 };
    for (int i = 0; i < f->n; i++) {
        const pr_space_node *v = &s->node[f->at[i].node];
        if (f->at[i].a != f->at[i].b || v->shared) continue;
        pr_i128 lo = pr_is_inf(v->iv[1].lo) ? 0 : v->iv[1].lo, hi = pr_is_inf(v->iv[1].hi) ? lo + 1000 : v->iv[1].hi;
        pr_i128 lo_a = pr_is_inf(v->iv[0].lo) ? lo : v->iv[0].lo, hi_a = pr_is_inf(v->iv[0].hi) ? hi : v->iv[0].hi;
        if (lo < lo_a - d->d[i]) lo = lo_a - d->d[i];
        if (hi > hi_a - d->d[i]) hi = hi_a - d->d[i];
        if (lo > hi) return false;
        pr_i128 b = draw(lo, hi, number, &state);
        for (int c = 0; c < 2; c++) {
            pr_term t = rep_of(x, v, c);
            if (!pr_term_none(t)) want[c][n[c]++] = (pr_target){ t, c ? b : b + d->d[i] };
        }
    }
    for (int i = 0; i < x->q->n_vars; i++) {
        pr_var_role r = role(x, i);
        set[i] = x->trio.side[i] == 2 && (r == PR_ROLE_PARAM || r == PR_ROLE_GRID);
    }
    return pr_derive(x->q, want[0], n[0], x->at, set) && pr_derive(x->q, want[1], n[1], x->at, set);
}

/* The value of what only parameters make. */
static bool number_of(const sweep *x, const pr_space *s, int node, pr_i128 *out)
{
    const pr_space_node *v = &s->node[node];
    if (v->op == PR_TERM_OP_CONST) {
        *out = v->value;
        return true;
    }
    if (v->op == PR_TERM_OP_VAR) return v->shared && launch_value(x, (pr_var){ (uint32_t)v->value }, out);
    return v->param && !pr_term_none(v->rep[0]) && pr_eval(s->T, v->rep[0], x->launch, out) && !pr_is_inf(*out);
}

/* The form with the launch's numbers for what parameters make. False: it leaves the number range. */
static bool at_launch(const sweep *x, const pr_space *s, pr_form *f)
{
    for (int i = 0; i < f->n; i++) {
        pr_item *it = &f->at[i];
        const pr_space_node *v = &s->node[it->node];
        pr_i128 times = 1, k;
        int rest = -1, others = 0;
        for (int j = 0; j < v->n && v->op == PR_TERM_OP_MUL; j++) {
            if (!number_of(x, s, s->kid[v->first + j], &k)) rest = s->kid[v->first + j], others++;
            else if (!pr_mul_ok(times, k, &times)) return false;
        }
        if (others == 1) it->node = rest;
        else if (number_of(x, s, it->node, &times)) rest = it->node;
        else continue;
        if (!pr_mul_ok(it->a, times, &it->a) || !pr_mul_ok(it->b, times, &it->b)) return false;
        if (others == 1) continue;
        if (!pr_add_ok(f->k, it->a, &f->k) || !pr_sub_ok(f->k, it->b, &f->k)) return false;
        it->a = it->b = 0;
    }
    return pr_space_reduce(s, f);
}

/* --- ranges at the launch ------------------------------------------------------------------------ */

enum { BOUND_PARTS = 6 };
typedef struct bound { int n, at[BOUND_PARTS]; pr_i128 c[BOUND_PARTS], k; } bound;

/* c*t with the launch's numbers: a number, or a number times a variable of a copy. */
static bool add_bound(const sweep *x, bound *b, pr_term t, pr_i128 c)
{
    const pr_terms *T = x->q->terms;
    pr_i128 v;
    if (pr_term_op_of(T, t) == PR_TERM_OP_MUL) {
        pr_term k[2] = { pr_term_child(T, t, 0), pr_term_child(T, t, 1) };
        int other = pr_term_op_of(T, k[0]) == PR_TERM_OP_VAR && launch_value(x, pr_term_var(T, k[0]), &v) ? 1 : 0;
        if (!other && !(pr_term_op_of(T, k[1]) == PR_TERM_OP_VAR && launch_value(x, pr_term_var(T, k[1]), &v))) return false;
        return pr_mul_ok(c, v, &c) && add_bound(x, b, k[other], c);
    }
    if (pr_term_op_of(T, t) != PR_TERM_OP_VAR) return pr_eval(T, t, x->launch, &v) && pr_mul_ok(c, v, &v) && pr_add_ok(b->k, v, &b->k);
    if (launch_value(x, pr_term_var(T, t), &v)) return pr_mul_ok(c, v, &v) && pr_add_ok(b->k, v, &b->k);
    int i = b->n == BOUND_PARTS ? -1 : position(x->q, pr_term_var(T, t));
    if (i < 0) return false;
    b->at[b->n] = i;
    b->c[b->n++] = c;
    return true;
}

/* sum <= 0 narrows the range of each of its variables by what the others are at least. */
static void narrow_by(sweep *x, pr_term t)
{
    const pr_terms *T = x->q->terms;
    if (pr_term_op_of(T, t) != PR_TERM_OP_LE0) return;
    pr_term of = pr_term_child(T, t, 0);
    bool sum = pr_term_op_of(T, of) == PR_TERM_OP_SUM;
    bound b = { .k = sum ? pr_term_value(T, of) : 0 };
    for (int i = 0; i < (sum ? pr_term_arity(T, of) : 1); i++)
        if (!add_bound(x, &b, sum ? pr_term_child(T, of, i) : of, sum ? pr_term_coef(T, of, i) : 1)) return;
    if (pr_is_inf(b.k)) return;
    for (int i = 0; i < b.n; i++) {
        pr_i128 up = -b.k, *lo = &x->lo[b.at[i]], *hi = &x->hi[b.at[i]];
        for (int j = 0; j < b.n; j++)
            if (j != i) up = pr_sat_up(up, pr_sat_mul(-b.c[j], b.c[j] > 0 ? x->lo[b.at[j]] : x->hi[b.at[j]]));
        if (b.c[i] == 0 || pr_is_inf(up) || pr_is_inf(b.c[i])) continue;
        if (b.c[i] > 0 && pr_fdiv(up, b.c[i]) < *hi) *hi = pr_fdiv(up, b.c[i]);
        if (b.c[i] < 0 && -pr_fdiv(up, -b.c[i]) > *lo) *lo = -pr_fdiv(up, -b.c[i]);
    }
}

/* What the conjuncts leave of each variable at the launch's numbers: trip counts and masks, which no interval of its own
 * says. False: nothing is left. These are places to look at; no proof rests on them. */
static bool narrow_at_launch(sweep *x, pr_space *s)
{
    const pr_query *q = x->q;
    for (int i = 0; i < q->n_core_a + (q->same_record ? 0 : q->n_core_b); i++) narrow_by(x, q->core[i]);
    for (int t = 0; t < q->n_twins && q->same_record; t++) {
        int a = position(q, q->twins[t][0]), b = position(q, q->twins[t][1]);
        if (a >= 0 && b >= 0) x->lo[b] = x->lo[a], x->hi[b] = x->hi[a];
    }
    for (int i = 0; i < q->n_vars; i++)
        if (x->lo[i] > x->hi[i]) return false;
    for (int i = 0; i < s->n; i++) {
        pr_space_node *v = &s->node[i];
        for (int t = 0; t < s->n_twins && v->op == PR_TERM_OP_VAR; t++)
            for (int c = 0; c < 2 && v->value == s->twin[t][0].id; c++) {
                int at = position(q, s->twin[t][c]);
                if (at >= 0) v->iv[c] = (pr_interval){ x->lo[at], x->hi[at] };
            }
    }
    for (int c = 0; c < 2; c++) pr_space_narrow_upwards(s, c);
    return !s->void_domain;
}

static bool quotients(const pr_space *s, const pr_form *f)
{
    for (int i = 0; i < f->n; i++)
        if (f->at[i].a == f->at[i].b && s->node[f->at[i].node].op != PR_TERM_OP_VAR) return true;
    return false;
}

/* Draws from..to-1. */
static void try_quotients(sweep *x, const pr_space *s, const pr_form *f, const pr_delta *d, bool *set, int from, int to)
{
    for (int number = from; number < to && !x->found && x->derived > 0; number++) {
        x->derived--;
        if (!derive(x, s, f, d, number, set)) continue;
        for (int absent = 0; absent < 2 && !x->found; absent++) {
            bool any_absent = false;
            for (int i = 0; i < x->q->n_vars; i++)
                if (!set[i]) x->at[i] = clip(x, i, 0);
            for (int t = 0; t < s->n_twins; t++) {
                int i = x->twin[t][0], j = x->twin[t][1];
                if (i < 0 || j < 0 || (set[i] && set[j])) continue;
                any_absent = true;
                pr_i128 by = absent ? -1 : 0;
                if (set[i]) x->at[j] = clip(x, j, x->at[i] - by);
                else if (set[j]) x->at[i] = clip(x, i, x->at[j] + by);
                else place(x, i, j, by);
            }
            x->left++; /* these have a count of their own */
            if (try(x) || !any_absent) break;
        }
    }
}

/* --- points joined by address ---------------------------------------------------------------------- */

static int corners(const sweep *x, int i, pr_i128 *out)
{
    pr_i128 lo = pr_is_inf(x->lo[i]) ? 0 : x->lo[i],
            hi = pr_is_inf(x->hi[i]) ? lo + 1000 : x->hi[i];
    /* a wide value from somewhere else: small ones, ascending along the copy (bounds of a range come in this order) */
    enum { WIDE = 1 << 20, APART = 1000 };
    bool wide = role(x, i) == PR_ROLE_FREE && lo <= 0 && hi > WIDE;
    pr_i128 earlier = 0;
    for (int j = 0; j < i && wide; j++) earlier += role(x, j) == PR_ROLE_FREE && x->trio.side[j] == x->trio.side[i];
    const pr_i128 lane[] = { lo, lo + 1, hi - 1, hi }, iter[] = { lo, lo + 1, lo + 2, hi },
                  other[] = { lo, lo + 1, lo + 2, lo + 3 }, small[] = { earlier < 64 ? earlier * APART : 0, 0, 1, lo };
    const pr_i128 *v = role(x, i) == PR_ROLE_LANE   ? lane
                       : role(x, i) == PR_ROLE_ITER ? iter
                       : wide                       ? small
                                                    : other;
    int n = 0;
    for (int k = 0; k < 4; k++) {
        bool seen = v[k] > hi || v[k] < lo;
        for (int j = 0; j < n && !seen; j++) seen = out[j] == v[k];
        if (!seen) out[n++] = v[k];
    }
    return n;
}

/* An odometer over the variables of one copy; the last ones run fastest. */
typedef enum { WALK_CORNERS, WALK_FIRST, WALK_LAST, WALK_ALL, WALKS } walk_kind;
typedef struct walk {
    int n, *var, *digit, *radix;
    pr_i128 (*value)[4];
    walk_kind kind;
} walk;

static void walk_init(const sweep *x, int c, pr_arena *scratch, walk *w)
{
    int n = x->q->n_vars + 1;
    *w = (walk){ .var = PR_NEW_N(scratch, int, n),
                 .digit = PR_NEW_N(scratch, int, n),
                 .radix = PR_NEW_N(scratch, int, n),
                 .value = pr_arena_alloc(scratch, sizeof(pr_i128[4]) * (size_t)n) };
    for (int i = 0; i < x->q->n_vars; i++)
        if (x->trio.side[i] == c) w->var[w->n++] = i;
}

/* Corners of everything; all programs with the rest at its first, at its last value; all of everything. */
static void walk_start(sweep *x, walk *w, walk_kind kind)
{
    w->kind = kind;
    for (int k = 0; k < w->n; k++) {
        int i = w->var[k];
        pr_i128 size =
            pr_is_inf(x->hi[i]) || pr_is_inf(x->lo[i]) ? INT32_MAX : x->hi[i] - x->lo[i] + 1;
        int every = size > INT32_MAX ? INT32_MAX : (int)size;
        w->digit[k] = 0;
        w->radix[k] = corners(x, i, w->value[k]);
        if (kind == WALK_ALL) w->radix[k] = every;
        if (kind == WALK_FIRST || kind == WALK_LAST) {
            bool id = role(x, i) == PR_ROLE_PID;
            if (kind == WALK_LAST && !id) w->value[k][0] = w->value[k][w->radix[k] - 1];
            w->radix[k] = id ? every : 1;
        }
        x->at[i] = w->value[k][0];
    }
}

static bool walk_next(sweep *x, walk *w)
{
    for (int k = w->n - 1; k >= 0; k--) {
        w->digit[k] = w->digit[k] + 1 < w->radix[k] ? w->digit[k] + 1 : 0;
        x->at[w->var[k]] =
            w->kind == WALK_CORNERS ? w->value[k][w->digit[k]] : w->value[k][0] + w->digit[k];
        if (w->digit[k]) return true;
    }
    return false;
}

/* Evaluated instances of A; for a record with itself they serve as instances of B too. */
typedef struct pool {
    pr_hits hits;
    pr_i128 *value;
    int n;
    const int *var;
    int64_t pairs;
} pool;

static void recall(sweep *x, const pool *p, uint32_t entry, const int *to)
{
    for (int k = 0; k < p->n; k++) x->at[to[k]] = p->value[(int64_t)entry * p->n + k];
}

static bool holds(sweep *x)
{
    x->found = pr_trio_both(&x->trio, x->at) == PR_YES &&
               pr_query_holds(x->q, &(pr_point){ x->at, x->q->n_vars }) == PR_YES;
    return x->found;
}

/* Meets an address of copy B (or of A again: other says where the copies of A's variables are in B). */
static void meet(sweep *x, pool *p, pr_i128 address, const int *other, uint32_t now)
{
    const int *w = x->q->width;
    for (int step = -1; step <= 1; step++)
        for (uint32_t e = pr_hits_first(&p->hits, address, step); e; e = p->hits.next[e - 1]) {
            pr_i128 d;
            if (p->pairs-- <= 0) return;
            if (!pr_sub_ok(p->hits.address[e - 1], address, &d) || d >= w[1] || -d >= w[0])
                continue;
            if (!other) {
                recall(x, p, e - 1, p->var);
                if (holds(x)) return;
                continue;
            }
            recall(x, p, e - 1, p->var);
            recall(x, p, now, other);
            if (holds(x)) return;
            recall(x, p, now, p->var);
            recall(x, p, e - 1, other);
            if (holds(x)) return;
        }
}

/* Position in B of each of A's variables, when the copies have one shape. */
static const int *images(const sweep *x, const walk w[2], pr_arena *scratch)
{
    const pr_query *q = x->q;
    int *to = PR_NEW_N(scratch, int, w[0].n + 1);
    if (!q->same_record || w[0].n != w[1].n) return NULL;
    for (int k = 0; k < w[0].n; k++) {
        to[k] = w[1].var[k];
        for (int t = 0; t < q->n_twins; t++)
            if (q->twins[t][0].id == q->vars[w[0].var[k]].id) to[k] = position(q, q->twins[t][1]);
        if (to[k] < 0) return NULL;
    }
    return to;
}

static void visit(sweep *x, walk *w, int c, pool *p, const int *other, int64_t points)
{
    static const int share[WALKS] = { 2, 4, 3, 7 }; /* sixteenths */
    int64_t left = points;
    for (int kind = 0; kind < WALKS && left > 0; kind++) {
        int64_t part = kind == WALK_ALL ? left : points * share[kind] / 16;
        walk_start(x, w, (walk_kind)kind);
        for (bool more = true; more && part > 0 && left > 0; part--, left--) {
            pr_i128 address;
            x->left--;
            if (pr_trio_copy(&x->trio, c, x->at, &address) == PR_YES) {
                uint32_t now = p->hits.n;
                if (c == 0)
                    for (int k = 0; k < w->n; k++)
                        p->value[(int64_t)now * w->n + k] = x->at[w->var[k]];
                if (c == 1 || other) meet(x, p, address, other, now);
                if (x->found) return;
                if (other) recall(x, p, now, p->var);
                if (c == 0) pr_hits_put(&p->hits, address);
            }
            more = walk_next(x, w);
        }
    }
}

static void join(sweep *x, pr_arena *scratch, int64_t points)
{
    const pr_query *q = x->q;
    walk w[2];
    for (int c = 0; c < 2; c++) walk_init(x, c, scratch, &w[c]);
    const int *other = images(x, w, scratch);
    int64_t each = other ? points : points / 2;
    if (each < 1) return;
    pool p = { .n = w[0].n, .var = w[0].var, .pairs = points * PAIRS_EACH };
    pr_hits_init(&p.hits, scratch, (uint32_t)each,
                 q->width[0] > q->width[1] ? q->width[0] : q->width[1]);
    p.value = pr_arena_raw(scratch, sizeof *p.value * ((size_t)each * (size_t)p.n + 1));
    visit(x, &w[0], 0, &p, other, each);
    if (!other && !x->found) visit(x, &w[1], 1, &p, NULL, each);
}

/* The differences leave no two executions that are distinct: none of them is worth a point. Writes to the nodes. */
static bool only_itself(pr_space *s, const pr_form *f, const pr_delta *found, int n)
{
    for (int i = 0; i < f->n; i++) {
        bool same = f->at[i].a == f->at[i].b;
        for (int j = 1; j < n && same; j++) same = found[j].d[i] == found[0].d[i];
        if (!same) continue;
        s->node[f->at[i].node].known = true;
        s->node[f->at[i].node].delta = found[0].d[i];
    }
    return pr_pre_settled(s);
}

/* A query over one copy asks whether something may go wrong (an operation wraps): where it does, it mostly does at the
 * ends of the intervals. */
static void try_ends(sweep *x)
{
    for (int ends = 0; ends < 8 && !x->found; ends++) {       /* bits: iterations, lanes, ids at their low ends */
        bool used[3] = { false };
        for (int i = 0; i < x->q->n_vars; i++) {
            pr_var_role r = role(x, i);
            int kind = r == PR_ROLE_ITER ? 0 : r == PR_ROLE_LANE ? 1 : r == PR_ROLE_PID ? 2 : -1;
            if (kind >= 0) used[kind] = true;
            x->at[i] = kind >= 0 && (ends >> kind & 1) ? clip(x, i, 0) : pr_is_inf(x->hi[i]) ? clip(x, i, INT32_MAX) : x->hi[i];
        }
        bool same = false;
        for (int k = 0; k < 3; k++) same = same || (!used[k] && (ends >> k & 1));
        if (!same) x->found = pr_query_holds(x->q, &(pr_point){ x->at, x->q->n_vars }) == PR_YES;
    }
}

static void decide(pr_engine_ctx *ctx, const pr_query *q, const pr_limits *limits,
                   pr_arena *scratch, pr_outcome *out)
{
    sweep x = { .q = q, .left = pr_pre_limit(limits->sweep, PR_PRE_SWEEP) };
    pr_look *look = pr_pre_context(ctx, sizeof *look);
    pr_space *s = look ? &look->space : NULL;
    pr_form f;
    x.derived = x.left / 4;
    pr_pre_unknown("no witness among the first instances", out);
    bool ends = !q->is_pair && limits->probe && limits->only_empty;
    if (!s || (!q->is_pair && !ends)) return;
    x.lo = PR_NEW_N(scratch, pr_i128, q->n_vars + 1);
    x.hi = PR_NEW_N(scratch, pr_i128, q->n_vars + 1);
    x.at = PR_NEW_N(scratch, pr_i128, q->n_vars + 1);
    for (int i = 0; i < q->n_vars; i++) {
        const pr_var_info *v = pr_var_get(q->terms, q->vars[i]);
        x.lo[i] = v->lo;
        x.hi[i] = v->hi;
        if (limits->only_empty && v->role == PR_ROLE_PARAM) x.launch = q->hint;
    }
    if (ends) {
        try_ends(&x);
        if (x.found) *out = (pr_outcome){ .answer = PR_ANSWER_WITNESS, .evidence = "sweep", .point = { x.at, q->n_vars }, .holds = true };
        return;
    }
    bool resume = limits->resume && s->q == q;
    if (!resume) {
        pr_space_begin(s, q);
        look->has_form = pr_space_overlap(s, &look->form);
    }
    pr_delta *found = pr_arena_raw(scratch, sizeof *found * DELTAS);
    bool all, derived = false, *set = PR_NEW_N(scratch, bool, q->n_vars + 1);
    int n = 0, variants = 1;
    if (limits->probe && x.launch && !narrow_at_launch(&x, s)) return;
    if (look->has_form) pr_form_copy(&f, &look->form);
    if (look->has_form && (!x.launch || at_launch(&x, s, &f))) {
        int64_t nodes = pr_pre_limit(limits->delta_nodes, PR_PRE_DELTA_NODES);
        derived = quotients(s, &f);
        if (resume && !x.launch && look->n >= 0 && look->all) {
            n = look->n;
            memcpy(found, look->found, sizeof *found * (size_t)n);
        } else {
            n = pr_radix_search(s, &f, &nodes, found, x.launch ? FEW_DELTAS : DELTAS, &all);
        }
        if (limits->probe && x.launch && n > 0 && all && only_itself(s, &f, found, n)) return;
    }
    if ((limits->probe && n <= 0) || !pr_trio_make(&x.trio, q, scratch)) return;
    x.twin = pr_arena_alloc(scratch, sizeof *x.twin * (size_t)(s->n_twins + 1));
    for (int t = 0; t < s->n_twins; t++)
        for (int c = 0; c < 2; c++) x.twin[t][c] = position(q, s->twin[t][c]);
    for (int i = 0; i < q->n_vars; i++)
        if (x.trio.side[i] == 2 && !launch_value(&x, q->vars[i], &x.at[i]) && !(x.launch && limits->probe)) variants = VARIANTS;
    for (int v = 0; v < variants && !x.found && n > 0; v++) {
        if (!shared_values(&x, v)) break;
        for (int i = 0; i < n && !x.found && x.left > 0; i++) try_delta(&x, s, &f, &found[i]);
        for (int i = 0; i < n && !x.found && derived; i++) try_quotients(&x, s, &f, &found[i], set, 0, x.launch && limits->probe ? 1 : FEW_DRAWS);
    }
    int64_t points = x.left / variants;
    for (int v = 0; v < variants && !x.found && x.left > 0 && !limits->probe; v++)
        if (shared_values(&x, v)) join(&x, scratch, points);
    for (int v = 0; v < variants && !x.found && derived && !limits->probe && x.derived > 0; v++) { /* the other draws are rarely needed */
        if (!shared_values(&x, v)) break;
        for (int i = 0; i < n && !x.found && x.derived > 0; i++) try_quotients(&x, s, &f, &found[i], set, FEW_DRAWS, DRAWS);
    }
    if (x.found)
        *out = (pr_outcome){ .answer = PR_ANSWER_WITNESS,
                             .evidence = "sweep",
                             .point = { x.at, q->n_vars }, .holds = true };      /* found says so */
    int64_t most = pr_pre_limit(limits->sweep, PR_PRE_SWEEP);
    out->cost = (uint64_t)((x.left > 0 ? most - x.left : most) + most / 4 - x.derived);
}

const pr_engine *pr_engine_sweep(void)
{
    static const pr_engine engine = {
        .name = "sweep",
        .accepts = ~0u,
        .decide = decide,
        .open = pr_pre_open,
        .close = pr_pre_close,
        .dump = pr_pre_dump,
        .version = pr_pre_version,
    };
    return &engine;
}
