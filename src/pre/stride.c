/* Symbolic strides: what a row says about a multiple of itself, and which condition on the parameters would
 * let rule P split a form (happens-before.md 7.3, lemma NO).
 *
 * A row x <= y times a shared s >= 0 is the row s*x <= s*y, so a column mask bounds stride*column too. Products
 * are looked up, not made: a row helps only where the address has them. The wanted condition proves
 * nothing here: what the closure shows once it is assumed (pr_space_assume) holds under it, and it is named. */
#include "pre/space.h"

enum { FACTORS = 16, PURE = 2 /* rows in parameters put together */, LIFT_ROUNDS = 6, STEPS = 24, SPARE = 80 /* nodes left for the closure itself */ };
enum { MOST_EXTENT = 1 << 24 }; /* a larger constant comes from a machine width, not from a tile */

/* --- rows times a factor --------------------------------------------------------------------------- */

/* Shared factors of products, in the order of their nodes. */
static int factors_of(const pr_space *s, int *out)
{
    int n = 0;
    for (int i = 0; i < s->n; i++) {
        const pr_space_node *x = &s->node[i];
        for (int j = 0; j < x->n && x->op == PR_TERM_OP_MUL; j++) {
            int f = s->kid[x->first + j], k = 0;
            if (!s->node[f].shared) continue;
            while (k < n && out[k] != f) k++;
            if (k == n && n < FACTORS) out[n++] = f;
        }
    }
    return n;
}

static bool room(const pr_space *s, int c, int parts)
{
    return s->n_rows[c] < PR_SPACE_ROWS && s->n_parts + parts <= PR_SPACE_ROW_ITEMS &&
           parts <= PR_PRE_ATOMS;
}

static void add_to(pr_part *at, int *n, int node, pr_i128 coef, bool *ok)
{
    int i = 0;
    while (i < *n && at[i].node != node) i++;
    if (i == *n) at[(*n)++] = (pr_part){ node, 0 };
    if (!pr_add_ok(at[i].coef, coef, &at[i].coef) || pr_is_inf(at[i].coef)) *ok = false;
    if (at[i].coef == 0) at[i] = at[--*n];
}

/* The nodes of which a product with the factor is a node, as pr_parts_nodes has them; all where a product has more than three factors. */
static uint64_t partners_of(pr_space *s, int factor)
{
    uint64_t bits = 0;
    for (int i = 0; i < s->n; i++) {
        const pr_space_node *x = &s->node[i];
        const int *k = s->kid + x->first;
        int j = 0;
        if (x->op != PR_TERM_OP_MUL) continue;
        while (j < x->n && k[j] != factor) j++;
        if (j == x->n) continue;
        if (x->n > 3) return ~(uint64_t)0;
        int other = x->n == 2 ? k[1 - j] : pr_space_times(s, k[j ? 0 : 1], k[j == 2 ? 1 : 2], false);
        if (other >= 0) bits |= (uint64_t)1 << (other & 63);
    }
    return bits;
}

/* factor*row as a row of copy c; factor >= 0 there. A private part without product may go when it is >= 0. */
static void lift(pr_space *s, int c, const pr_bound_row *row, int factor)
{
    pr_part at[PR_PRE_ATOMS + 1];
    int n = 0;
    bool ok = true, useful = false;
    if (row->n >= PR_PRE_ATOMS || s->n > PR_SPACE_NODES - SPARE) return;
    for (int i = 0; i < row->n && !useful; i++)
        useful = pr_space_times(s, factor, s->part[row->first + i].node, false) >= 0;
    if (!useful) return;
    for (int i = 0; i < row->n && ok; i++) {
        pr_part y = s->part[row->first + i];
        int id = pr_space_times(s, factor, y.node, false);
        if (id >= 0) {
            /* the address or another row has it */
        } else if (!s->node[y.node].shared) {
            pr_interval v = s->node[y.node].iv[c];
            if ((y.coef > 0 ? v.lo < 0 : v.hi > 0) && !PR_PRE_DROPS(PR_DROP_LIFT_PART)) return;
            continue;
        } else {
            id = pr_space_times(s, factor, y.node, true);
            if (id < 0) return;
        }
        add_to(at, &n, id, y.coef, &ok);
    }
    if (row->k) add_to(at, &n, factor, row->k, &ok);
    if (!ok || n == 0 || !room(s, c, n)) return;
    pr_bound_row *r = &s->row[c][s->n_rows[c]++];
    *r = (pr_bound_row){ .first = s->n_parts, .n = n, .symbolic = row->symbolic };
    for (int i = 0; i < n; i++) s->part[s->n_parts++] = at[i];
    pr_row_seal(s, r);
}

/* y <= hi and y >= lo for the products factor*y. */
static void lift_ranges(pr_space *s, int c, int factor)
{
    for (int i = 0, n = s->n; i < n; i++) {
        const pr_space_node *x = &s->node[i];
        int rest[PR_PRE_ATOMS], m = 0;
        bool once = false;
        if (x->op != PR_TERM_OP_MUL || x->shared) continue;
        for (int j = 0; j < x->n; j++) {
            int k = s->kid[x->first + j];
            if (k == factor && !once) once = true;
            else rest[m++] = k;
        }
        if (!once || m != 1 || s->node[rest[0]].shared) continue;
        pr_interval v = s->node[rest[0]].iv[c];
        for (int side = 0; side < 2; side++) {
            pr_i128 bound = side ? v.hi : v.lo, sign = side ? 1 : -1;
            if (pr_is_inf(bound) || bound > MOST_EXTENT || bound < -MOST_EXTENT || !room(s, c, 2))
                continue;
            pr_bound_row *r = &s->row[c][s->n_rows[c]++];
            *r = (pr_bound_row){ .first = s->n_parts, .n = bound ? 2 : 1 };
            s->part[s->n_parts++] = (pr_part){ i, sign };
            if (bound) s->part[s->n_parts++] = (pr_part){ factor, -sign * bound };
            pr_row_seal(s, r);
        }
    }
}

/* A remainder of a divisor that is not a number: r <= d - 1 where d >= 1 (truncating: any dividend). */
static void remainder_rows(pr_space *s, int c)
{
    for (int i = 0, n = s->n; i < n; i++) {
        const pr_space_node *r = &s->node[i];
        if (r->op != PR_TERM_OP_FMOD && r->op != PR_TERM_OP_TREM) continue;
        int d = s->kid[r->first + 1];
        if (s->node[d].op == PR_TERM_OP_CONST || !s->node[d].shared || !room(s, c, 2)) continue;
        if (s->node[d].iv[c].lo < 1 && !PR_PRE_DROPS(PR_DROP_DIVISOR)) continue;
        pr_bound_row *row = &s->row[c][s->n_rows[c]++];
        *row = (pr_bound_row){ .first = s->n_parts, .n = 2, .k = 1, .symbolic = s->node[d].param };
        s->part[s->n_parts++] = (pr_part){ i, 1 };
        s->part[s->n_parts++] = (pr_part){ d, -1 };
        pr_row_seal(s, row);
    }
}

/* --- bounds in parameters -------------------------------------------------------------------------- */

typedef struct sum { int n; pr_part at[2 * PR_PRE_ATOMS]; pr_i128 k; bool ok; } sum;

static void plus(sum *x, int node, pr_i128 coef)
{
    if (x->n == 2 * PR_PRE_ATOMS - 1) x->ok = false;
    if (x->ok) add_to(x->at, &x->n, node, coef, &x->ok);
}

static pr_i128 coef_in(const sum *x, int node)
{
    for (int i = 0; i < x->n; i++)
        if (x->at[i].node == node) return x->at[i].coef;
    return 0;
}

/* -q*f <= -lo(f)*q where q >= 0: products of parameters give way to a factor that the sum has too. */
static void shed_products(const pr_space *s, int c, sum *x)
{
    for (int i = 0; i < x->n && x->ok; i++) {
        pr_part p = x->at[i];
        const pr_space_node *v = &s->node[p.node];
        for (int j = 0; v->op == PR_TERM_OP_MUL && p.coef < 0 && j < v->n; j++) {
            int f = s->kid[v->first + j], q = -1;
            pr_i128 lo = s->node[f].iv[c].lo, coef;
            for (int k = 0; k < x->n && q < 0; k++)
                if (x->at[k].coef > 0 &&
                    pr_space_times((pr_space *)s, f, x->at[k].node, false) == p.node)
                    q = x->at[k].node;
            if (PR_PRE_DROPS(PR_DROP_SHED) && lo < 1) lo = 1;
            if (q < 0 || lo < 1 || !pr_mul_ok(p.coef, lo, &coef)) continue;
            if (s->node[q].iv[c].lo < 0 && !PR_PRE_DROPS(PR_DROP_SHED_SIGN)) continue;
            plus(x, p.node, -p.coef);
            plus(x, q, coef);
            i = -1; /* the parts moved */
            break;
        }
    }
}

static pr_i128 plain_sup(const pr_space *s, int c, const sum *x)
{
    pr_i128 v = x->ok && x->n <= PR_PRE_ATOMS ? pr_space_sup(s, c, x->at, x->n, false) : PR_INF;
    return v >= PR_INF ? PR_INF : pr_sat_up(v, x->k);
}

/* Upper bound of a sum in parameters: intervals, products shed, up to depth rows in parameters. */
static pr_i128 parameter_sup(const pr_space *s, int c, const sum *x, int depth)
{
    sum y = *x;
    if (!x->ok || pr_is_inf(x->k)) return PR_INF;
    pr_i128 best = plain_sup(s, c, x);
    shed_products(s, c, &y);
    pr_i128 v = plain_sup(s, c, &y);
    if (v < best) best = v;
    uint64_t nodes = pr_parts_nodes(x->at, x->n);
    for (int r = 0; r < s->n_rows[c] && best > 0 && depth > 0; r++) {
        const pr_bound_row *row = &s->row[c][r];
        pr_i128 ratio = 0;
        bool pure = row->symbolic && (row->nodes & nodes);
        for (int j = 0; j < row->n && pure; j++) {
            pr_part z = s->part[row->first + j];
            pure = s->node[z.node].param;
            pr_i128 own = pure && ratio == 0 ? coef_in(x, z.node) : 0;
            if (own && (own > 0) == (z.coef > 0) && own % z.coef == 0) ratio = own / z.coef;
        }
        if (!pure || ratio == 0) continue;
        y = *x;
        if (!pr_mul_ok(ratio, row->k, &v) || !pr_sub_ok(y.k, v, &y.k)) continue;
        for (int j = 0; j < row->n && y.ok; j++) {
            pr_part z = s->part[row->first + j];
            if (!pr_mul_ok(ratio, -z.coef, &v)) y.ok = false;
            else plus(&y, z.node, v);
        }
        v = parameter_sup(s, c, &y, depth - 1);
        if (v < best) best = v;
    }
    return best;
}

bool pr_stride_rows(pr_space *s)
{
    int factor[FACTORS], n = factors_of(s, factor);
    if (n == 0 || s->full || s->void_domain) return false;
    bool lifted[2][FACTORS] = { { false } };
    s->n_rows[0] = s->base_rows[0];
    s->n_rows[1] = s->base_rows[1];
    s->n_parts = s->base_parts;
    for (int c = 0; c < 2; c++) remainder_rows(s, c);
    int base[2] = { s->n_rows[0], s->n_rows[1] };
    for (int round = 0; round < LIFT_ROUNDS && !s->void_domain; round++) {
        bool changed = false;
        for (int i = 0; i < n; i++)
            for (int c = 0; c < 2; c++) {
                int f = factor[i];
                if (lifted[c][i]) continue;
                sum minus = { .n = 1, .at = { { f, -1 } }, .ok = true };
                if (s->node[f].param && s->node[f].iv[c].lo < 1)
                    pr_space_narrow(s, f, c, (pr_interval){ -parameter_sup(s, c, &minus, PURE), PR_INF });
                if (s->node[f].iv[c].lo < 0 && !PR_PRE_DROPS(PR_DROP_LIFT_SIGN)) continue;
                lifted[c][i] = changed = true;
                uint64_t partners = partners_of(s, f);
                for (int r = 0, nodes = s->n; r < base[c]; r++) {
                    if (!(s->row[c][r].nodes & partners)) continue;
                    lift(s, c, &s->row[c][r], f);
                    if (s->n != nodes) partners = partners_of(s, f), nodes = s->n;
                }
                lift_ranges(s, c, f);
            }
        if (!changed) break;
        for (int c = 0; c < 2; c++) pr_space_narrow_upwards(s, c);
    }
    return true;
}

/* How well does mu*row replace private parts of x? Higher is better; -1: not at all. */
static long score(const pr_space *s, int c, const sum *x, const pr_bound_row *row, pr_i128 mu)
{
    long covered = 0, extra = 0;
    for (int j = 0; j < row->n; j++) {
        pr_part y = s->part[row->first + j];
        pr_i128 v;
        if (s->node[y.node].param) continue;
        if (!pr_mul_ok(mu, y.coef, &v)) return -1;
        pr_i128 left = coef_in(x, y.node) - v;
        if (left == 0) {
            covered++;
            continue;
        }
        extra++;
        if (pr_space_sup(s, c, &(pr_part){ y.node, left }, 1, false) >= PR_INF) return -1;
    }
    return covered ? (row->symbolic ? 100000 : 0) + covered * 1000 + (200 - extra) : -1;
}

/* Replaces all parts that are not in parameters. False: one has no bound. */
static bool in_parameters(const pr_space *s, int c, sum *x)
{
    for (int step = 0; step < STEPS && x->ok && !pr_is_inf(x->k); step++) {
        int pivot = 0;
        while (pivot < x->n && s->node[x->at[pivot].node].param) pivot++;
        if (pivot == x->n) return true;
        long best = -1;
        const pr_bound_row *by = NULL;
        pr_i128 ratio = 0;
        for (int r = 0; r < s->n_rows[c]; r++) {
            const pr_bound_row *row = &s->row[c][r];
            pr_i128 tried = 0;
            if (row->k < -MOST_EXTENT) continue; /* a machine width, of no use here */
            for (int j = 0; j < row->n; j++) {
                pr_part y = s->part[row->first + j];
                pr_i128 v = s->node[y.node].param ? 0 : coef_in(x, y.node);
                if (v == 0 || (v > 0) != (y.coef > 0) || v % y.coef || v / y.coef == tried) continue;
                tried = v / y.coef;
                long now = score(s, c, x, row, tried);
                if (now > best) {
                    best = now;
                    by = row;
                    ratio = tried;
                }
            }
        }
        if (!by) { /* its own range */
            pr_i128 v = pr_space_sup(s, c, &x->at[pivot], 1, false);
            if (v >= PR_INF || !pr_add_ok(x->k, v, &x->k)) return false;
            x->at[pivot] = x->at[--x->n];
            continue;
        }
        pr_i128 v;
        if (!pr_mul_ok(ratio, by->k, &v) || !pr_sub_ok(x->k, v, &x->k)) return false;
        for (int j = 0; j < by->n && x->ok; j++) {
            pr_part y = s->part[by->first + j];
            if (!pr_mul_ok(ratio, -y.coef, &v)) return false;
            plus(x, y.node, v);
            pr_i128 left = coef_in(x, y.node);
            if (s->node[y.node].param || left == 0) continue; /* replaced */
            v = pr_space_sup(s, c, &(pr_part){ y.node, left }, 1, false);
            plus(x, y.node, -left);
            if (v >= PR_INF || !pr_add_ok(x->k, v, &x->k)) return false;
        }
    }
    return false;
}

static bool begin_sum(sum *x, const pr_part *parts, int n, pr_i128 k)
{
    x->n = 0;
    x->k = k;
    x->ok = true;
    for (int i = 0; i < n; i++) plus(x, parts[i].node, parts[i].coef);
    return x->ok && !pr_is_inf(k);
}

pr_i128 pr_stride_sup(pr_space *s, int c, const pr_part *parts, int n, pr_i128 k)
{
    sum x;
    if (!begin_sum(&x, parts, n, k) || !in_parameters(s, c, &x)) return PR_INF;
    return parameter_sup(s, c, &x, PURE);
}

/* --- rule P's premise, and what it lacks ----------------------------------------------------------- */

bool pr_stride_head(pr_space *s, const pr_form *f, int factor, bool *which, pr_form *h, pr_i128 *gcd)
{
    h->n = 0;
    h->k = h->lo = h->hi = 0;
    *gcd = 0;
    for (int i = 0; i < f->n; i++) {
        const pr_item *it = &f->at[i];
        const pr_space_node *v = &s->node[it->node];
        which[i] = false;
        for (int j = 0; j < v->n && it->a == it->b && v->op == PR_TERM_OP_MUL; j++)
            which[i] |= s->kid[v->first + j] == factor;
        if (!which[i]) continue;
        if (pr_is_inf(it->a)) return false;
        *gcd = pr_gcd(*gcd, it->a);
        int rest[PR_PRE_ATOMS], n = 0;
        bool once = false;
        for (int j = 0; j < v->n; j++) {
            int k = s->kid[v->first + j];
            if (k == factor && !once) once = true;
            else rest[n++] = k;
        }
        int reduced = pr_space_product(s, rest, n);
        if (reduced < 0 || !pr_space_pairs(s, reduced, it->a, h)) return false;
    }
    return *gcd != 0;
}

/* A term of the query's store for a node in parameters. */
static pr_term term_of(const pr_space *s, int node)
{
    const pr_space_node *x = &s->node[node];
    if (!pr_term_none(x->rep[0]) || !pr_term_none(x->rep[1]))
        return pr_term_none(x->rep[0]) ? x->rep[1] : x->rep[0];
    if (x->op != PR_TERM_OP_MUL) return PR_TERM_NONE;
    pr_term t = term_of(s, s->kid[x->first]);
    for (int i = 1; i < x->n; i++) t = pr_mul(s->q->terms, t, term_of(s, s->kid[x->first + i]));
    return t;
}

/* The divisor below a node of which nothing shows d >= 1. */
static int open_divisor(const pr_space *s, int node, int depth)
{
    const pr_space_node *x = &s->node[node];
    if (x->op == PR_TERM_OP_FMOD || x->op == PR_TERM_OP_TREM) {
        int d = s->kid[x->first + 1];
        const pr_space_node *y = &s->node[d];
        if (y->param && y->op == PR_TERM_OP_VAR && (y->iv[0].lo < 1 || y->iv[1].lo < 1)) return d;
    }
    for (int i = 0; i < x->n && depth > 0; i++) {
        int d = open_divisor(s, s->kid[x->first + i], depth - 1);
        if (d >= 0) return d;
    }
    return -1;
}

/* Is factor a the smaller stride? By the values of the launch, else the later argument (row-major). */
static bool smaller(const pr_space *s, int a, int b)
{
    const pr_env *hint = s->q->hint;
    pr_i128 v, w;
    pr_term x = term_of(s, a), y = term_of(s, b);
    if (hint && pr_eval(s->T, x, hint, &v) && pr_eval(s->T, y, hint, &w) && v != w) return v < w;
    int i = s->node[a].op == PR_TERM_OP_VAR ? pr_var_get(s->T, pr_term_var(s->T, x))->index : -1;
    int j = s->node[b].op == PR_TERM_OP_VAR ? pr_var_get(s->T, pr_term_var(s->T, y))->index : -1;
    return i != j ? i > j : a > b;
}

/* Factors of the pairs that are parameters, smallest first. */
static int strides_of(const pr_space *s, const pr_form *f, int *out)
{
    int n = 0;
    for (int i = 0; i < f->n; i++) {
        const pr_space_node *x = &s->node[f->at[i].node];
        if (x->op != PR_TERM_OP_MUL || f->at[i].a != f->at[i].b || x->shared) continue;
        for (int j = 0; j < x->n; j++) {
            int k = s->kid[x->first + j], at = 0;
            while (at < n && out[at] != k) at++;
            if (!s->node[k].param || at < n || n == FACTORS) continue;
            for (at = n++; at > 0 && smaller(s, k, out[at - 1]); at--) out[at] = out[at - 1];
            out[at] = k;
        }
    }
    return n;
}

static pr_term condition(pr_space *s, const sum *x)
{
    pr_terms *T = s->q->terms;
    pr_term t = pr_const(T, x->k);
    for (int i = 0; i < x->n; i++) t = pr_add(T, t, pr_scale(T, term_of(s, x->at[i].node), x->at[i].coef));
    return pr_le(T, t, PR_TERM_ZERO);
}

static pr_term at_least_one(pr_space *s, int node)
{
    pr_terms *T = s->q->terms;
    return pr_le(T, pr_const(T, 1), term_of(s, node));
}

/* sup(rest of the form in copy c) + constant <= gcd*factor - 1 as a condition. TRUE: holds anyway. */
static pr_term fits(pr_space *s, int c, const pr_part *rest, int n, pr_i128 constant, int factor, pr_i128 gcd)
{
    sum x;
    for (int i = 0; i < n; i++) {
        int d = open_divisor(s, rest[i].node, 1);
        if (d >= 0) return at_least_one(s, d);
    }
    if (!begin_sum(&x, rest, n, constant) || !in_parameters(s, c, &x)) return PR_TERM_NONE;
    pr_i128 most;
    if (pr_mul_ok(MOST_EXTENT, gcd, &most) && x.k > most) return PR_TERM_NONE;
    plus(&x, factor, -gcd);
    if (!x.ok || x.n > PR_PRE_ATOMS) return PR_TERM_NONE;
    if (parameter_sup(s, c, &x, PURE) <= 0) return PR_TERM_TRUE;
    return condition(s, &x);
}

pr_term pr_stride_wanted(pr_space *s, const pr_form *f)
{
    int stride[FACTORS], n = strides_of(s, f, stride);
    for (int k = 0; k < n; k++) {
        pr_form h;
        bool which[PR_PRE_ATOMS], larger[PR_PRE_ATOMS] = { false };
        pr_i128 g;
        if (!pr_stride_head(s, f, stride[k], which, &h, &g)) continue;
        bool none = true;
        for (int i = 0; i < f->n; i++) {
            const pr_space_node *v = &s->node[f->at[i].node];
            for (int j = 0; j < v->n && v->op == PR_TERM_OP_MUL; j++)
                for (int m = k + 1; m < n; m++) larger[i] |= s->kid[v->first + j] == stride[m];
            none = none && (!which[i] || larger[i]);
        }
        if (none) continue;
        pr_part part[2][2][PR_PRE_ATOMS];
        int count[2] = { 0, 0 };
        for (int i = 0; i < f->n; i++) {
            if (which[i] || larger[i]) continue;
            for (int c = 0; c < 2; c++) {
                pr_i128 v = c ? f->at[i].b : f->at[i].a;
                if (v == 0) continue;
                part[c][0][count[c]] = (pr_part){ f->at[i].node, v };
                part[c][1][count[c]++] = (pr_part){ f->at[i].node, -v };
            }
        }
        for (int c = 0; c < 2; c++) {
            pr_i128 low = pr_space_sup(s, !c, part[!c][1], count[!c], true);
            pr_i128 k0 = c ? pr_sat_up(low, f->hi - f->k + 1) : pr_sat_up(low, f->k - f->lo + 1);
            if (low >= PR_INF) return PR_TERM_NONE;
            pr_term t = fits(s, c, part[c][0], count[c], k0, stride[k], g);
            if (pr_term_none(t) || !pr_term_is(t, PR_TERM_TRUE)) return t;
        }
    }
    return PR_TERM_NONE;
}
