/* One access with itself, from one copy: can two of its executions that differ in the program (or, in one program, in
 * the lane) reach one byte? Seen before the second copy and a query are made.
 *
 * The address is uniform + R0 + S1*(R1 + S2*(R2 + ...)), each R a sum of c*d with numbers c > 0. The d are digits: lanes,
 * iterations and, for different programs, program ids, each with an interval of its own, and their quotients and
 * remainders by constants; S are values that the two executions share, as is `uniform`. At each level, with w = the width
 * at the first and 1 at the others, g the gcd of what S multiplies and H = that sum divided by g,
 *
 *   P  sup R - inf R + w <= g*S: an overlap is |g*S*dH + dR| < w with |dR| <= sup R - inf R, so dH = 0 and |dR| < w.
 *      R is bounded by intervals and by rows of the access's own conjuncts, which hold in both executions with one
 *      value of each parameter. Where parameters bound it, the inequality is a condition on them. dH = 0 is the next level.
 *   M  a sum whose values are further apart than w whenever a digit differs, because every coefficient
 *      is larger than what the smaller ones reach, by intervals or by rows: its digits are equal.
 *   D  quotient and remainder by one divisor are equal: so is what they are of.
 *
 * What distinguishes the two executions (every id that is not fixed; every lane of extent > 1, of a descriptor every
 * iteration too) must be equal so. All else is left to the query, and so is a bound that
 * the closure (src/pre) may know without a condition. */
#include "hb/ladder.h"
#include "hb/linear.h"

enum { DIGITS = 16, FACTORS = 4, LEVELS = 4, NESTED = 4, STEPS = 24,
       MOST_EXTENT = 1 << 24 /* as in src/pre/stride.c: a larger constant is a machine width */ };
static const pr_i128 WIDE = (pr_i128)1 << 60, LONG = (pr_i128)1 << 40, NO_REACH = (pr_i128)1 << 120;

/* span: the largest value, the smallest is 0; PR_INF: no bound. by: what the executions share and it is multiplied by. */
typedef struct digit { pr_term v; pr_i128 c, span; pr_term by[FACTORS]; int n_by; } digit;
typedef struct number { digit at[DIGITS]; int n; bool injective; } number;
typedef struct address { number level[LEVELS]; int n; } address;
typedef struct bounds { pr_linear_rows rows; bool loaded, on_parameters; } bounds;    /* the access's own conjuncts */

enum { BEYOND_SHARED = (PR_OCCURS_VAR | PR_OCCURS_APP | PR_OCCURS_TABLE) & ~(PR_OCCURS(PR_ROLE_PARAM) | PR_OCCURS(PR_ROLE_GRID)) };

/* One value in both executions, made of parameters and the grid's extents. */
static bool is_shared(const pr_terms *T, pr_term t) { return !(pr_term_occurs(T, t) & BEYOND_SHARED); }

/* May the term have two values in the two executions? */
static bool is_own(const pr_terms *T, pr_term t, bool intra)
{
    return pr_term_occurs(T, t) & BEYOND_SHARED & ~(intra ? PR_OCCURS(PR_ROLE_PID) : 0);
}

static bool is_quotient(pr_term_op op) { return op == PR_TERM_OP_FDIV || op == PR_TERM_OP_TDIV; }
static bool is_remainder(pr_term_op op) { return op == PR_TERM_OP_FMOD || op == PR_TERM_OP_TREM; }

/* Is the term a digit, and how large can it be? Of values >= 0 floor and truncating division are one. */
static bool span_of(const pr_terms *T, pr_term t, int depth, pr_i128 *span)
{
    pr_term_op op = pr_term_op_of(T, t);
    pr_i128 d, of;
    if (op == PR_TERM_OP_VAR) {
        const pr_var_info *v = pr_var_get(T, pr_term_var(T, t));
        *span = v->hi < PR_INF ? v->hi : PR_INF;
        return v->copy == PR_COPY_A && v->lo == 0 && v->hi >= 0 && (v->role == PR_ROLE_LANE || v->role == PR_ROLE_ITER || v->role == PR_ROLE_PID);
    }
    if (!is_quotient(op) && !is_remainder(op)) return false;
    if (depth == NESTED || !pr_term_const(T, pr_term_child(T, t, 1), &d) || d < 1 || !span_of(T, pr_term_child(T, t, 0), depth + 1, &of)) return false;
    if (is_quotient(op)) *span = of < PR_INF ? of / d : PR_INF;
    else *span = of < d - 1 ? of : d - 1;
    return true;
}

static int place_in(const number *x, pr_term v)
{
    int i = 0;
    while (i < x->n && !pr_term_is(x->at[i].v, v)) i++;
    return i < x->n ? i : -1;
}

/* The factors of a product: one digit, the others shared. */
static bool factor(const pr_terms *T, digit *x, pr_term t, int depth)
{
    if (pr_term_op_of(T, t) == PR_TERM_OP_MUL)
        return depth < FACTORS && factor(T, x, pr_term_child(T, t, 0), depth + 1) && factor(T, x, pr_term_child(T, t, 1), depth + 1);
    if (is_shared(T, t)) {
        if (x->n_by == FACTORS) return false;
        x->by[x->n_by++] = t;
        return true;
    }
    if (!pr_term_none(x->v) || !span_of(T, t, 0, &x->span)) return false;
    x->v = t;
    return true;
}

static bool split(const pr_encoding *e, const pr_side *s, bool intra, number *parts)
{
    const pr_terms *T = e->terms;
    bool sum = pr_term_op_of(T, s->addr) == PR_TERM_OP_SUM;
    parts->n = 0;
    for (int i = 0; i < (sum ? pr_term_arity(T, s->addr) : 1); i++) {
        pr_term t = sum ? pr_term_child(T, s->addr, i) : s->addr;
        digit x = { .v = PR_TERM_NONE, .c = sum ? pr_term_coef(T, s->addr, i) : 1 };
#ifdef PR_FAULTS
        if (e->options->fault == 24 && pr_term_op_of(T, t) != PR_TERM_OP_VAR && pr_term_op_of(T, t) != PR_TERM_OP_MUL) continue;
#endif
        if (!is_own(T, t, intra)) continue;
        if (parts->n == DIGITS || x.c <= 0 || x.c >= WIDE || !factor(T, &x, t, 0)) return false;
        parts->at[parts->n++] = x;
    }
    return true;
}

/* --- rows ------------------------------------------------------------------------------------------------ */

static const pr_linear_rows *rows_of(const pr_encoding *e, const pr_side *s, bounds *b)
{
    if (b->loaded) return &b->rows;
    b->loaded = true;
    for (int i = 0; i < s->active.n; i++) {
        if (pr_term_op_of(e->terms, s->active.data[i]) == PR_TERM_OP_AND) continue;        /* a width */
        if (is_shared(e->terms, s->active.data[i])) b->on_parameters = true;
        else pr_linear_rows_of(e->terms, s->active.data[i], &b->rows);
    }
    return &b->rows;
}

/* Where a row sums what is >= 0, it bounds each part of it. */
static void narrow_digits(pr_encoding *e, const pr_linear_rows *rows, number *x)
{
    for (int k = 0; k < rows->n; k++) {
        const pr_linear *row = &rows->row[k];
        bool sums = row->k <= 0;
        for (int j = 0; j < row->n && sums; j++) {
#ifdef PR_FAULTS
            if (e->options->fault == 34 && row->c[j] < 0) continue;
#endif
            sums = row->c[j] > 0 && pr_range(e->box, row->at[j]).lo >= 0;
        }
        for (int j = 0; j < row->n && sums; j++) {
            int i = row->c[j] > 0 ? place_in(x, row->at[j]) : -1;
            if (i >= 0 && pr_fdiv(-row->k, row->c[j]) < x->at[i].span) x->at[i].span = pr_fdiv(-row->k, row->c[j]);
        }
    }
}

/* --- rules M and D --------------------------------------------------------------------------------------- */

/* The largest value of the first n digits by rows. */
static pr_i128 reach_by_rows(pr_encoding *e, const number *x, int n, const pr_linear_rows *rows, pr_i128 enough)
{
    pr_linear sum;
    pr_linear_zero(&sum);
    for (int i = 0; i < n; i++) {
#ifdef PR_FAULTS
        if (e->options->fault == 32 && i + 1 == n && n > 1) continue;
#endif
        if (!pr_linear_add(e->terms, &sum, x->at[i].v, x->at[i].c)) return PR_INF;
    }
    return pr_linear_sup(e->box, &sum, rows, enough);
}

/* Rule M; x is sorted by coefficient afterwards. Twice one digit: no number. */
static bool is_injective(pr_encoding *e, const pr_side *s, number *x, pr_i128 width, bounds *b)
{
    pr_i128 reach = width - 1;
    bool narrowed = b->loaded;
    for (int i = 0; i < x->n; i++) {
        digit t = x->at[i];
        int j = i;
        for (int k = 0; k < i; k++)
            if (pr_term_is(x->at[k].v, t.v)) return false;
        for (; j > 0 && x->at[j - 1].c > t.c; j--) x->at[j] = x->at[j - 1];
        x->at[j] = t;
    }
    if (narrowed) narrow_digits(e, &b->rows, x);
    for (int i = 0; i < x->n; i++) {
        if (x->at[i].span == 0) continue;               /* one value */
        if (x->at[i].c <= reach) {
            const pr_linear_rows *rows = rows_of(e, s, b);
            if (!narrowed) {
                narrowed = true, reach = width - 1, i = -1;
                narrow_digits(e, rows, x);
                continue;
            }
            pr_i128 most = rows->n ? reach_by_rows(e, x, i, rows, x->at[i].c - width) : PR_INF;
            if (most >= NO_REACH || most + width > x->at[i].c) return false;
            reach = most + width - 1;
        }
#ifdef PR_FAULTS
        if (e->options->fault == 23) continue;
#endif
        if (i + 1 == x->n) continue;
        if (x->at[i].span >= LONG || reach >= NO_REACH) reach = NO_REACH;
        else reach += x->at[i].c * x->at[i].span;
    }
    return true;
}

static bool holds_digit(const address *x, pr_term v)
{
    for (int i = 0; i < x->n; i++)
        if (x->level[i].injective && place_in(&x->level[i], v) >= 0) return true;
    return false;
}

/* The divisor of a quotient of v that is equal and at or after *from; NONE: there is no other. */
static pr_term divisor_of(const pr_terms *T, const address *x, pr_term v, int *from)
{
    for (; *from < x->n * DIGITS; ++*from) {
        const number *n = &x->level[*from / DIGITS];
        if (!n->injective || *from % DIGITS >= n->n) continue;
        pr_term t = n->at[*from % DIGITS].v;
        if (is_quotient(pr_term_op_of(T, t)) && pr_term_is(pr_term_child(T, t, 0), v)) return pr_term_child(T, t, 1);
    }
    return PR_TERM_NONE;
}

static bool has_remainder(const pr_encoding *e, const address *x, pr_term v, pr_term divisor)
{
    const pr_terms *T = e->terms;
    for (int i = 0; i < x->n; i++)
        for (int j = 0; j < x->level[i].n && x->level[i].injective; j++) {
            pr_term t = x->level[i].at[j].v;
            if (!is_remainder(pr_term_op_of(T, t)) || !pr_term_is(pr_term_child(T, t, 0), v)) continue;
#ifdef PR_FAULTS
            if (e->options->fault == 31) return true;
#endif
            if (pr_term_is(pr_term_child(T, t, 1), divisor)) return true;
        }
    return false;
}

static bool is_equal(const pr_encoding *e, const address *x, pr_term v)
{
    if (holds_digit(x, v)) return true;
    for (int from = 0;; from++) {                       /* rule D */
        pr_term d = divisor_of(e->terms, x, v, &from);
        if (pr_term_none(d)) return false;
#ifdef PR_FAULTS
        if (e->options->fault == 30) return true;
#endif
        if (has_remainder(e, x, v, d)) return true;
    }
}

/* What distinguishes the two executions is equal in both. */
static bool settles(const pr_encoding *e, const pr_side *s, bool intra, const address *x)
{
    const pr_terms *T = e->terms;
    int asked = 0;
    for (int d = 0; d < 3 && !intra; d++) {
        if (pr_term_op_of(T, s->pid[d]) == PR_TERM_OP_CONST) continue;
        asked++;
#ifdef PR_FAULTS
        if (e->options->fault == 25 && asked > 1) continue;
#endif
        if (!is_equal(e, x, s->pid[d])) return false;
    }
    for (int d = 0; d < s->record->rank && intra; d++) {
        if (s->record->shape[d] <= 1) continue;
        asked++;
#ifdef PR_FAULTS
        if (e->options->fault == 22) continue;
#endif
        if (!is_equal(e, x, s->lane[d])) return false;
    }
    for (int i = 0; i < s->n_loops && intra && s->record->via_desc; i++)
        if (!is_equal(e, x, s->iter[i])) return false;
    return asked > 0;
}

/* --- rule P ---------------------------------------------------------------------------------------------- */

static int place_of(const pr_linear *x, pr_term t)
{
    int i = 0;
    while (i < x->n && !pr_term_is(x->at[i], t)) i++;
    return i < x->n ? i : -1;
}

/* A part of a row (mu > 0 times it is taken away) that may go: x - mu*(row + p) <= x - mu*row where p >= 0. */
static bool is_left(const pr_encoding *e, const pr_linear *row, int j)
{
#ifdef PR_FAULTS
    if (e->options->fault == 35) return true;
#endif
    return row->c[j] > 0 && pr_range(e->box, row->at[j]).lo >= 0;
}

/* How many parts of x does mu*row take away, if it brings no others but shared ones and such as are >= 0 in the row? -1: it does. */
static int covers(const pr_encoding *e, const pr_linear *x, const pr_linear *row, pr_i128 mu, bool *symbolic, bool *passed)
{
    const pr_terms *T = e->terms;
    int covered = 0;
    *symbolic = false;
    for (int j = 0; j < row->n; j++) {
        int i = place_of(x, row->at[j]);
        pr_i128 v;
        if (is_shared(T, row->at[j])) {
            *symbolic = true;
            continue;
        }
        if (i < 0 && is_left(e, row, j)) {
            *passed = true;
            continue;
        }
        if (i < 0 || !pr_mul_ok(mu, row->c[j], &v) || v != x->c[i]) return -1;
        covered++;
    }
    return covered;
}

/* x is replaced by an upper bound in what is shared, by the rows that take most of it away, then by intervals. *passed: a row was
 * passed over with which the closure may do better. */
static bool in_parameters(const pr_encoding *e, const number *r, const pr_linear_rows *rows, pr_linear *x, bool *passed)
{
    const pr_terms *T = e->terms;
    for (int step = 0; step < STEPS; step++) {
        int pivot = 0, best = 0, by = -1;
        pr_i128 ratio = 0, v;
        while (pivot < x->n && is_shared(T, x->at[pivot])) pivot++;
        if (pivot == x->n) return true;
        for (int k = 0; k < rows->n; k++) {
            const pr_linear *row = &rows->row[k];
            if (row->k < -MOST_EXTENT) continue;
            for (int j = 0; j < row->n; j++) {
                int i = place_of(x, row->at[j]);
                bool symbolic;
                if (i < 0 || is_shared(T, row->at[j]) || (x->c[i] > 0) != (row->c[j] > 0)) continue;
                int n = x->c[i] % row->c[j] ? -1 : covers(e, x, row, x->c[i] / row->c[j], &symbolic, passed);
                if (n < 0) {
                    *passed = true;
                    continue;
                }
                n = n * 2 + (symbolic ? 1000 : 0);
                if (n > best) best = n, by = k, ratio = x->c[i] / row->c[j];
            }
        }
        if (by >= 0) {
            const pr_linear *row = &rows->row[by];
            if (!pr_mul_ok(ratio, row->k, &v) || !pr_sub_ok(x->k, v, &x->k)) return false;
            for (int j = 0; j < row->n; j++) {
                if (place_of(x, row->at[j]) < 0 && !is_shared(T, row->at[j])) continue;         /* covers saw that it may go */
                if (!pr_mul_ok(-ratio, row->c[j], &v) || !pr_linear_add(T, x, row->at[j], v)) return false;
            }
            continue;
        }
        int i = place_in(r, x->at[pivot]);
        if (i < 0 || x->c[pivot] <= 0 || r->at[i].span > MOST_EXTENT) return false;
        if (!pr_mul_ok(x->c[pivot], r->at[i].span, &v) || !pr_add_ok(x->k, v, &x->k)) return false;
        x->n--;
        x->at[pivot] = x->at[x->n];
        x->c[pivot] = x->c[x->n];
    }
    return false;
}

/* Rule P as a condition on parameters; TRUE: it holds in any case, NONE: not shown, or better left to the closure. */
static pr_term fits(pr_encoding *e, const pr_side *s, const number *rest, pr_term stride, pr_i128 g, int width, bounds *b)
{
    pr_terms *T = e->terms;
    pr_linear x;
    bool passed = false;
    const pr_linear_rows *rows = rows_of(e, s, b);
    pr_linear_zero(&x);
    for (int i = 0; i < rest->n; i++)
        if (!pr_linear_add(T, &x, rest->at[i].v, rest->at[i].c)) return PR_TERM_NONE;
#ifdef PR_FAULTS
    if (e->options->fault == 26 && x.n > 1) x.n--;
#endif
    if (!in_parameters(e, rest, rows, &x, &passed)) return PR_TERM_NONE;
    x.k += width;
#ifdef PR_FAULTS
    if (e->options->fault == 27) x.k -= width;
#endif
    pr_i128 most;
    if (!pr_mul_ok(MOST_EXTENT, g, &most) || x.k > most || !pr_linear_add(T, &x, stride, -g)) return PR_TERM_NONE;
    pr_term sum = pr_const(T, x.k);
    for (int i = 0; i < x.n; i++) sum = pr_add(T, sum, pr_scale(T, x.at[i], x.c[i]));
    pr_term condition = pr_le(T, sum, PR_TERM_ZERO);
    if (pr_term_none(condition) || pr_term_is(condition, PR_TERM_TRUE)) return condition;
    bool left = passed || b->on_parameters || e->premises.n || rows->n == PR_LINEAR_ROWS || pr_term_op_of(T, stride) != PR_TERM_OP_VAR;
    return left || pr_term_is(condition, PR_TERM_FALSE) || (pr_term_occurs(T, condition) & PR_OCCURS(PR_ROLE_GRID)) ? PR_TERM_NONE : condition;
}

static int times_in(const digit *x, pr_term by)
{
    int i = 0;
    while (i < x->n_by && !pr_term_is(x->by[i], by)) i++;
    return i < x->n_by ? i : -1;
}

/* parts = rest + g*by*above; false: by is no factor of one of them. */
static bool factor_out(const number *parts, pr_term by, number *above, pr_i128 *g)
{
    above->n = 0;
    *g = 0;
    for (int i = 0; i < parts->n; i++) {
        if (!parts->at[i].n_by) continue;
        int at = times_in(&parts->at[i], by);
        if (at < 0) return false;
        digit *x = &above->at[above->n++];
        *x = parts->at[i];
        x->by[at] = x->by[--x->n_by];
        *g = pr_gcd(*g, x->c);
    }
    for (int i = 0; i < above->n; i++) above->at[i].c /= *g;
    return true;
}

/* The levels of the address. A condition is named only for an address of two levels with one way to see them: of more the closure may
 * know better ones. */
static bool in_levels(pr_encoding *e, const pr_side *s, number *parts, address *x, int width, bounds *b, pr_term *condition)
{
    for (x->n = 0; x->n < LEVELS; width = 1) {
        number *rest = &x->level[x->n++], above;
        const digit *first = NULL;
        pr_i128 g;
        rest->n = 0;
        for (int i = 0; i < parts->n; i++) {
            if (!parts->at[i].n_by) rest->at[rest->n++] = parts->at[i];
            else if (!first) first = &parts->at[i];
        }
        if (!first) return true;
        bool found = false;
        for (int i = 0; i < first->n_by && !found; i++) {
            if (!factor_out(parts, first->by[i], &above, &g)) continue;
            pr_term t = fits(e, s, rest, first->by[i], g, width, b);
            found = !pr_term_none(t) && pr_term_is(t, PR_TERM_TRUE);
#ifdef PR_FAULTS
            if (e->options->fault == 33 && x->n > 1) found = true;
#endif
            if (found || pr_term_none(t) || x->n > 1) continue;
            bool only = true;
            for (int k = 0; k < above.n; k++) only = only && above.at[k].n_by == 0;
            if (!only) return false;
            *condition = t;
            found = true;
        }
        if (!found) return false;
        *parts = above;
    }
    return false;
}

/* "radix: k0 lane1": what is equal, in the order of the identity. */
static const char *evidence(const pr_encoding *e, const pr_side *s, const char *rule, bool intra, const address *x)
{
    pr_buf b;
    pr_buf_init(&b, e->arena);
    pr_buf_puts(&b, rule);
    for (int i = intra ? 3 : 0; i < 3 + s->n_loops + s->record->rank; i++) {
        pr_term t = i < 3 ? s->pid[i] : i < 3 + s->n_loops ? s->iter[i - 3] : s->lane[i - 3 - s->n_loops];
        if (pr_term_op_of(e->terms, t) != PR_TERM_OP_VAR || !is_equal(e, x, t)) continue;
        pr_buf_puts(&b, " ");
        pr_buf_puts(&b, pr_var_get(e->terms, pr_term_var(e->terms, t))->name + 2);       /* without "A." */
    }
    return b.data;
}

const char *pr_itself_why(pr_encoding *e, int record, bool intra, pr_term *condition)
{
    const pr_side *s = pr_encoding_side(e, record, PR_SIDE_A);
    number parts;
    address x;
    bounds b;
    b.loaded = b.on_parameters = false;
    b.rows.n = 0;
    *condition = PR_TERM_TRUE;
    if (s->refused || s->dead || s->unknown_address || pr_term_none(s->addr) || !split(e, s, intra, &parts)) return NULL;
    int width = s->record->width;
#ifdef PR_FAULTS
    if (e->options->fault == 29) width = 1;
#endif
    if (!in_levels(e, s, &parts, &x, width, &b, condition)) return NULL;
    for (int i = 0; i < x.n; i++) {
        x.level[i].injective = is_injective(e, s, &x.level[i], i ? 1 : width, &b);
#ifdef PR_FAULTS
        if (e->options->fault == 28 && i) x.level[i].injective = true;
#endif
    }
    return settles(e, s, intra, &x) ? evidence(e, s, x.n > 1 ? "window:" : "radix:", intra, &x) : NULL;
}

/* --- two programs that meet at the launch ------------------------------------------------------------------ */

enum { TRIES = 6, NODES = 256 };
typedef struct moving { pr_term v; pr_i128 c, span, d; int sign; bool chosen; } moving;   /* sign*c is the factor at the launch; it moves by sign*d */
typedef struct meeting {
    const pr_encoding *e;
    const pr_side *s;
    const pr_env *launch;
    pr_i128 *value;
    bool *known;
    uint32_t n_vars;
    moving x[DIGITS];              /* largest factor first                                        */
    int n, tries, nodes;
} meeting;

static pr_i128 *value_of(const meeting *m, pr_term v) { return &m->value[pr_term_var(m->e->terms, v).id]; }

/* Does the access happen in this execution, with every parameter as the launch passes it, and where? */
static bool happens(const meeting *m, pr_i128 *at)
{
    const pr_env env = { m->value, m->known, m->n_vars };
    pr_i128 v;
    for (int i = 0; i < m->s->active.n; i++)
        if (!pr_eval(m->e->terms, m->s->active.data[i], &env, &v) || !v) return false;
    for (int i = 0; i < m->e->premises.n; i++)
        if (!pr_eval(m->e->terms, m->e->premises.data[i], &env, &v) || !v) return false;
    return pr_eval(m->e->terms, m->s->addr, &env, at);
}

static bool near(const meeting *m, const pr_i128 at[2])
{
    pr_i128 d;
    return pr_sub_ok(at[0], at[1], &d) && d < m->s->record->width && -d < m->s->record->width;
}

/* The value of a digit in one of the two executions: as small as its difference allows. */
static pr_i128 digit_at(const moving *x, int c)
{
    pr_i128 by = (c != 0) == (x->sign > 0) ? -x->d : x->d;
    return by > 0 ? by : 0;
}

/* The two executions with these differences. */
static bool meet(meeting *m)
{
    pr_i128 at[2];
    if (m->tries-- <= 0) return false;
    for (int c = 0; c < 2; c++) {
        for (int i = 0; i < m->n; i++) *value_of(m, m->x[i].v) = digit_at(&m->x[i], c);
        if (!happens(m, &at[c])) return false;
    }
    return near(m, at);
}

/* Differences of the digits from i on, the others chosen: sum c*d + so_far within the width. */
static bool search(meeting *m, int i, pr_i128 so_far)
{
    pr_i128 reach = m->s->record->width - 1;
    if (m->nodes-- <= 0 || m->tries <= 0) return false;
    if (i == m->n) return so_far <= reach && -so_far <= reach && meet(m);
    if (m->x[i].chosen) return search(m, i + 1, so_far);
    for (int j = i + 1; j < m->n; j++)
        if (!m->x[j].chosen) reach += m->x[j].c * m->x[j].span;
    pr_i128 c = m->x[i].c, from = -pr_fdiv(reach + so_far, c), to = pr_fdiv(reach - so_far, c);
    if (from < -m->x[i].span) from = -m->x[i].span;
    if (to > m->x[i].span) to = m->x[i].span;
    pr_i128 start = from > 0 ? from : to < 0 ? to : 0;
    for (pr_i128 k = 0; start - k >= from || start + k <= to; k++)
        for (int sign = 0; sign < (k ? 2 : 1); sign++) {
            m->x[i].d = sign ? start - k : start + k;
            if (m->x[i].d < from || m->x[i].d > to) continue;
            if (search(m, i + 1, so_far + c * m->x[i].d)) return true;
            if (m->nodes <= 0 || m->tries <= 0) return false;
        }
    return false;
}

/* c*t at the launch: a number, or a number times a variable of this copy (*v; NONE for a number). Of the smallest values a quotient is
 * 0 and a remainder the dividend itself: what is evaluated in the end decides. */
static bool factor_of(const meeting *m, pr_term t, pr_i128 *c, pr_term *v)
{
    const pr_terms *T = m->e->terms;
    pr_i128 k;
    *v = PR_TERM_NONE;
    for (int depth = 0; depth < 8; depth++) {
        if (pr_term_op_of(T, t) == PR_TERM_OP_VAR && pr_var_get(T, pr_term_var(T, t))->role != PR_ROLE_PARAM) {
            pr_var_role role = pr_var_get(T, pr_term_var(T, t))->role;
            *v = t;
            return role == PR_ROLE_LANE || role == PR_ROLE_ITER || role == PR_ROLE_PID;
        }
        if (pr_eval(T, t, m->launch, &k)) return pr_mul_ok(*c, k, c);
        switch (pr_term_op_of(T, t)) {
        case PR_TERM_OP_FDIV: case PR_TERM_OP_TDIV: *c = 0; return true;
        case PR_TERM_OP_FMOD: case PR_TERM_OP_TREM: t = pr_term_child(T, t, 0); continue;
        case PR_TERM_OP_MUL: break;
        default: return false;
        }
        int other = pr_eval(T, pr_term_child(T, t, 0), m->launch, &k) ? 1 : 0;
        if ((!other && !pr_eval(T, pr_term_child(T, t, 1), m->launch, &k)) || !pr_mul_ok(*c, k, c)) return false;
        t = pr_term_child(T, t, other);
    }
    return false;
}

static int moving_of(const meeting *m, pr_term v)
{
    int i = 0;
    while (i < m->n && !pr_term_is(m->x[i].v, v)) i++;
    return i;
}

/* How far the variables can move where the row holds at the launch. False: not at all. */
static bool narrow(meeting *m, const pr_linear *row)
{
    pr_i128 least = row->k, c[DIGITS] = { 0 };
    for (int j = 0; j < row->n; j++) {
        pr_i128 times = row->c[j];
        pr_term v;
        if (!factor_of(m, row->at[j], &times, &v)) return true;
        if (pr_term_none(v)) {
            if (!pr_add_ok(least, times, &least)) return true;
            continue;
        }
        int i = moving_of(m, v);
        if (i == m->n && times >= 0) continue;          /* at least 0 */
        if (i == m->n || times >= WIDE || times <= -WIDE) return true;
        c[i] += times;
    }
    for (int i = 0; i < m->n; i++)
        if (c[i] < 0 && !pr_add_ok(least, c[i] * m->x[i].span, &least)) return true;
    if (least >= WIDE || least <= -WIDE) return true;
    for (int i = 0; i < m->n; i++)
        if (c[i] > 0 && pr_fdiv(-least, c[i]) < m->x[i].span) m->x[i].span = pr_fdiv(-least, c[i]);
    for (int i = 0; i < m->n; i++)
        if (m->x[i].span < 0) return false;
    return true;
}

/* Every variable of this copy at 0, what the executions share at the launch. */
static void give_values(meeting *m)
{
    const pr_terms *T = m->e->terms;
    m->n_vars = pr_vars_count(T);
    m->value = PR_NEW_N(m->e->arena, pr_i128, m->n_vars);
    m->known = PR_NEW_N(m->e->arena, bool, m->n_vars);
    for (uint32_t i = 1; i < m->n_vars; i++) {
        pr_var_role role = pr_var_get(T, (pr_var){ i })->role;
        m->known[i] = i < m->launch->n && m->launch->known[i];
        if (m->known[i]) m->value[i] = m->launch->value[i];
        else m->known[i] = role == PR_ROLE_LANE || role == PR_ROLE_ITER || role == PR_ROLE_PID;      /* at 0 */
    }
    for (int d = 0; d < 3 && m->e->launch->grid_known; d++) {
        m->known[m->e->records->grid[d].id] = true;
        m->value[m->e->records->grid[d].id] = m->e->launch->grid[d];
    }
}

static bool start(meeting *m)
{
    const pr_terms *T = m->e->terms;
    const pr_i128 most = (pr_i128)1 << 40;              /* products and sums of these stay far from the limits */
    pr_linear_rows rows;
    bool sum = pr_term_op_of(T, m->s->addr) == PR_TERM_OP_SUM;
    rows.n = 0;
    for (int k = 0; k < (sum ? pr_term_arity(T, m->s->addr) : 1); k++) {
        pr_i128 c = sum ? pr_term_coef(T, m->s->addr, k) : 1;
        pr_term v;
        if (!factor_of(m, sum ? pr_term_child(T, m->s->addr, k) : m->s->addr, &c, &v) || c >= WIDE || c <= -WIDE) return false;
        if (pr_term_none(v)) continue;
        const pr_var_info *of = pr_var_get(T, pr_term_var(T, v));
        int i = moving_of(m, v);
        if (i == DIGITS || of->lo != 0 || of->hi < 0) return false;
        if (i == m->n) m->x[m->n++] = (moving){ v, 0, of->hi < most ? of->hi : most, 0, 1, false };
        m->x[i].c += c;
    }
    for (int i = 0; i < m->s->active.n; i++)
        if (pr_term_op_of(T, m->s->active.data[i]) != PR_TERM_OP_AND) pr_linear_rows_of(T, m->s->active.data[i], &rows);
    for (int k = 0; k < rows.n; k++)
        if (!narrow(m, &rows.row[k])) return false;
    int n = 0;
    for (int i = 0; i < m->n; i++) {
        moving x = m->x[i];
        if (x.c == 0) continue;
        if (x.c < 0) x.c = -x.c, x.sign = -1;
        int j = n++;
        for (; j > 0 && m->x[j - 1].c < x.c; j--) m->x[j] = m->x[j - 1];
        m->x[j] = x;
    }
    m->n = n;
    give_values(m);
    return true;
}

static bool look(meeting *m)
{
    const pr_encoding *e = m->e;
    const pr_side *s = m->s;
    if (s->refused || s->dead || s->unknown_address || s->uncertain || pr_term_none(s->addr) || e->records->sums.n) return false;
    if (s->record->kind >= PR_RECORD_RMW || !start(m)) return false;
    for (int d = 0; d < 3; d++) {
        if (pr_term_op_of(e->terms, s->pid[d]) != PR_TERM_OP_VAR) continue;
        int i = moving_of(m, s->pid[d]);
        if (i == m->n) {                        /* not in the address, or under a quotient */
            pr_i128 at[2];
            *value_of(m, s->pid[d]) = 1;
            bool both = happens(m, &at[1]);
            *value_of(m, s->pid[d]) = 0;
            if (both && happens(m, &at[0]) && near(m, at)) return true;
            continue;
        }
        if (m->x[i].span < 1) continue;
        m->x[i].d = 1;
        m->x[i].chosen = true;
        if (search(m, 0, m->x[i].c)) return true;
        m->x[i].chosen = false;
        m->x[i].d = 0;
        for (int k = 0; k < m->n; k++) *value_of(m, m->x[k].v) = 0;
    }
    return false;
}

bool pr_itself_meets(pr_encoding *e, int record, const pr_env *launch)
{
    meeting m = { .e = e, .s = pr_encoding_side(e, record, PR_SIDE_A), .launch = launch, .tries = TRIES, .nodes = NODES };
    return look(&m);
}

/* --- a witness of the query at numbers --------------------------------------------------------------------- */

/* The sum of c*(A - B) of the address, largest |c| first, as src/pre/radix.c takes it; each candidate as src/pre/sweep.c tries it: the
 * witness is the one that they would find, but for sums of equal |c| and what they cut off. */
enum { CANDIDATES = 16, LEVELS_SEEN = 4096, EXTENT = 4 };
typedef struct candidate { meeting m; const pr_query *q; pr_point at; int left; bool intra; } candidate;

static bool differences(candidate *x)
{
    meeting *m = &x->m;
    const pr_terms *T = m->e->terms;
    bool sum = pr_term_op_of(T, m->s->addr) == PR_TERM_OP_SUM;
    for (int k = 0; k < (sum ? pr_term_arity(T, m->s->addr) : 1); k++) {
        pr_term v = sum ? pr_term_child(T, m->s->addr, k) : m->s->addr;
        pr_i128 c = sum ? pr_term_coef(T, m->s->addr, k) : 1;
        if (pr_term_op_of(T, v) == PR_TERM_OP_CONST) continue;
        if (pr_term_op_of(T, v) != PR_TERM_OP_VAR || c >= WIDE || c <= -WIDE) return false;
        const pr_var_info *of = pr_var_get(T, pr_term_var(T, v));
        if (x->intra && of->role == PR_ROLE_PID) continue;
        if ((of->role != PR_ROLE_PID && of->role != PR_ROLE_LANE && of->role != PR_ROLE_ITER) || of->lo != 0 || of->hi < 0 || of->hi >= LONG) return false;
        if (m->n == DIGITS) return false;
        int j = m->n++;
        for (; j > 0 && (c < 0 ? -c : c) > (m->x[j - 1].c < 0 ? -m->x[j - 1].c : m->x[j - 1].c); j--) m->x[j] = m->x[j - 1];
        m->x[j] = (moving){ v, c, of->hi, 0, 1, false };
    }
    return true;
}

/* The executions of the two copies, where what the address does not hold is 0 in A and `other` in B. */
static bool is_witness(candidate *x, pr_i128 other)
{
    const pr_query *q = x->q;
    meeting *m = &x->m;
    pr_i128 at[2];
    for (int c = 0; c < 2; c++) {
        for (int t = 0; t < q->n_twins; t++) {
            pr_var v = q->twins[t][0];
            int i = moving_of(m, pr_var_term(m->e->terms, v));
            pr_i128 value = i < m->n ? digit_at(&m->x[i], c) : c ? other : 0;
            if (value > pr_var_get(m->e->terms, v)->hi) return false;
            m->value[v.id] = value;
            for (int k = 0; k < q->n_vars; k++)
                if (q->vars[k].id == q->twins[t][c].id) x->at.value[k] = value;
        }
        if (!happens(m, &at[c])) return false;
    }
    return near(m, at) && pr_query_holds(q, &x->at) == PR_YES;
}

/* Is A before B in the order of the query's alternatives, or may it be so with what the address does not hold? */
static bool is_before(const candidate *x)
{
    const pr_side *s = x->m.s;
    for (int d = 0; d < (x->intra ? s->record->rank : 3); d++) {
        int i = moving_of(&x->m, x->intra ? s->lane[d] : s->pid[d]);
        if (pr_term_op_of(x->m.e->terms, x->intra ? s->lane[d] : s->pid[d]) == PR_TERM_OP_VAR && i == x->m.n) return true;
        if (i < x->m.n && x->m.x[i].d) return x->m.x[i].d < 0;
    }
    return false;
}

/* True: found, or nothing more is to be looked at. */
static bool candidates(candidate *x, int i, pr_i128 sum, bool *found)
{
    meeting *m = &x->m;
    pr_i128 reach = m->s->record->width - 1, c = i < m->n ? m->x[i].c : 0, size = c < 0 ? -c : c;
    if (m->nodes-- <= 0) return true;
    if (i == m->n) {
        if (sum > reach || -sum > reach) return false;
        if (is_before(x) && (is_witness(x, 1) || is_witness(x, 0))) return *found = true;
        return --x->left <= 0;
    }
    for (int j = i + 1; j < m->n; j++) reach += (m->x[j].c < 0 ? -m->x[j].c : m->x[j].c) * m->x[j].span;
    pr_i128 lo = -pr_fdiv(reach + sum, size), hi = pr_fdiv(reach - sum, size);      /* of size*d */
    if (c < 0) {
        pr_i128 was = lo;
        lo = -hi, hi = -was;
    }
    if (lo < -m->x[i].span) lo = -m->x[i].span;
    if (hi > m->x[i].span) hi = m->x[i].span;
    pr_i128 first = lo > 0 ? lo : hi < 0 ? hi : 0;
    for (pr_i128 k = 0; first - k >= lo || first + k <= hi; k++)
        for (int sign = 0; sign < (k ? 2 : 1); sign++) {
            pr_i128 d = sign ? first - k : first + k;
            if (d < lo || d > hi) continue;
            m->x[i].d = d;
            if (candidates(x, i + 1, sum + c * d, found)) return true;
        }
    return false;
}

bool pr_itself_witness(pr_encoding *e, int record, const pr_env *launch, const pr_query *q, pr_point *out)
{
    candidate x = { .m = { .e = e, .s = pr_encoding_side(e, record, PR_SIDE_A), .launch = launch, .nodes = LEVELS_SEEN },
                    .q = q, .left = CANDIDATES, .intra = q->intra };
    const pr_side *s = x.m.s;
    bool found = false;
    if (!q->same_record || s->refused || s->dead || s->unknown_address || s->uncertain || pr_term_none(s->addr) || e->records->sums.n) return false;
    if (s->record->kind >= PR_RECORD_RMW || s->record->via_desc || !differences(&x)) return false;
    x.at = (pr_point){ PR_NEW_N(e->arena, pr_i128, q->n_vars), q->n_vars };
    give_values(&x.m);
    for (int i = 0; i < q->n_vars; i++) {
        const pr_var_info *v = pr_var_get(e->terms, q->vars[i]);
        bool set = x.intra && v->role == PR_ROLE_PID;            /* one value, 0 */
        if (v->role == PR_ROLE_GRID) {                           /* the first that the sweep takes */
            pr_i128 extent = v->hi < EXTENT ? v->hi : v->lo > EXTENT ? v->lo : EXTENT;
            x.m.value[q->vars[i].id] = x.at.value[i] = extent;
            x.m.known[q->vars[i].id] = set = true;
        }
        for (int t = 0; t < q->n_twins && !set; t++) set = q->twins[t][0].id == q->vars[i].id || q->twins[t][1].id == q->vars[i].id;
        if (!set) return false;
    }
    candidates(&x, 0, 0, &found);
    *out = x.at;
    return found;
}
