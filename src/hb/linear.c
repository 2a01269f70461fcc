/* Upper bounds of sums under rows, see linear.h. */
#include "hb/linear.h"
#include "util/num.h"

enum { DEPTH = 3 /* rows used one after the other */, TRIES = 48, NESTED = 32 };
static const pr_i128 MOST = (pr_i128)1 << 100, GIVEN = (pr_i128)1 << 60;

static bool put(pr_linear *f, pr_term t, pr_i128 c)
{
    int j = 0;
    while (j < f->n && !pr_term_is(f->at[j], t)) j++;
    if (j == f->n) {
        if (f->n == PR_LINEAR_PARTS) return false;
        f->at[f->n] = t;
        f->c[f->n++] = 0;
    }
    if (!pr_add_ok(f->c[j], c, &f->c[j]) || f->c[j] <= -MOST || f->c[j] >= MOST) return false;
    if (f->c[j] == 0) {
        f->n--;
        f->at[j] = f->at[f->n];
        f->c[j] = f->c[f->n];
    }
    return true;
}

bool pr_linear_add(const pr_terms *T, pr_linear *f, pr_term t, pr_i128 c)
{
    pr_i128 v;
    pr_term_op op = pr_term_op_of(T, t);
    if (pr_term_none(t)) return false;
    if (op != PR_TERM_OP_SUM && op != PR_TERM_OP_CONST) return put(f, t, c);
    v = pr_term_value(T, t);
    if (v <= -GIVEN || v >= GIVEN || !pr_mul_ok(c, v, &v) || !pr_add_ok(f->k, v, &f->k) || f->k <= -MOST || f->k >= MOST) return false;
    for (int i = 0, n = pr_term_arity(T, t); op == PR_TERM_OP_SUM && i < n; i++) {
        v = pr_term_coef(T, t, i);
        if (v <= -GIVEN || v >= GIVEN || !pr_mul_ok(c, v, &v) || !put(f, pr_term_child(T, t, i), v)) return false;
    }
    return true;
}

void pr_linear_copy(pr_linear *to, const pr_linear *from)
{
    to->n = from->n;
    to->k = from->k;
    for (int i = 0; i < from->n; i++) to->at[i] = from->at[i], to->c[i] = from->c[i];
}

static bool one_value(pr_box *box, pr_term t, pr_i128 *v)
{
    pr_interval r = pr_range(box, t);
    *v = r.lo;
    return r.lo == r.hi && r.lo > -GIVEN && r.lo < GIVEN;
}

bool pr_linear_numbers(const pr_terms *T, pr_box *box, pr_linear *f)
{
    pr_linear g;
    for (int pass = 0; pass < 2; pass++) {          /* a factor that is a sum may hold products again */
        bool any = false;
        pr_linear_zero(&g);
        g.k = f->k;
        for (int i = 0; i < f->n; i++) {
            pr_term t = f->at[i];
            pr_i128 c = f->c[i], v;
            for (int k = 0; k < 2 && pr_term_op_of(T, t) == PR_TERM_OP_MUL; k++) {
                if (!one_value(box, pr_term_child(T, t, k), &v)) continue;
                t = pr_term_child(T, t, 1 - k);
                k = -1;                             /* what is left may be a product */
                any = true;
                if (!pr_mul_ok(c, v, &c) || c <= -MOST || c >= MOST) return false;
            }
            if (c == 0) continue;
            if (one_value(box, t, &v)) {
                any = true;
                if (!pr_mul_ok(c, v, &v) || !pr_add_ok(g.k, v, &g.k) || g.k <= -MOST || g.k >= MOST) return false;
            } else if (!pr_linear_add(T, &g, t, c)) {
                return false;
            }
        }
        if (!any) break;
        pr_linear_copy(f, &g);
    }
    return true;
}

static void rows_of(const pr_terms *T, pr_term t, pr_linear_rows *x, int depth)
{
    pr_term_op op = pr_term_op_of(T, t);
    if (pr_term_none(t) || depth > NESTED) return;
    if (op == PR_TERM_OP_AND) {
        rows_of(T, pr_term_child(T, t, 0), x, depth + 1);
        rows_of(T, pr_term_child(T, t, 1), x, depth + 1);
    }
    if (op != PR_TERM_OP_LE0 && op != PR_TERM_OP_EQ0) return;
    for (int sign = 1; sign >= (op == PR_TERM_OP_EQ0 ? -1 : 1); sign -= 2) {
        if (x->n == PR_LINEAR_ROWS) return;
        pr_linear_zero(&x->row[x->n]);
        if (pr_linear_add(T, &x->row[x->n], pr_term_child(T, t, 0), sign)) x->n++;
    }
}

void pr_linear_rows_of(const pr_terms *T, pr_term condition, pr_linear_rows *rows) { rows_of(T, condition, rows, 0); }

static pr_i128 over_box(pr_box *box, const pr_linear *f)
{
    pr_i128 sum = f->k, v;
    for (int i = 0; i < f->n; i++) {
        pr_interval r = pr_range(box, f->at[i]);
        pr_i128 b = f->c[i] > 0 ? r.hi : r.lo;
        if (b <= -PR_INF || b >= PR_INF || !pr_mul_ok(f->c[i], b, &v) || !pr_add_ok(sum, v, &sum)) return PR_INF;
    }
    return sum < PR_INF ? sum : PR_INF;
}

/* g = f - c*row, c >= 0 */
static bool cut(const pr_linear *f, const pr_linear *row, pr_i128 c, pr_linear *g)
{
    pr_i128 v;
    pr_linear_copy(g, f);
    if (!pr_mul_ok(c, row->k, &v) || !pr_sub_ok(g->k, v, &g->k) || g->k <= -MOST || g->k >= MOST) return false;
    for (int i = 0; i < row->n; i++)
        if (!pr_mul_ok(-c, row->c[i], &v) || !put(g, row->at[i], v)) return false;
    return true;
}

/* Which multiples of which rows: each that takes a part out of the form, up to DEPTH of them. */
static void search(pr_box *box, const pr_linear *f, const pr_linear_rows *x, pr_i128 enough, int depth, int *tries, pr_i128 *best)
{
    pr_linear g;
    for (int k = 0; k < x->n; k++) {
        const pr_linear *row = &x->row[k];
        pr_i128 last = 0;
        for (int i = 0; i < row->n; i++) {
            int j = 0;
            while (j < f->n && !pr_term_is(f->at[j], row->at[i])) j++;
            if (j == f->n || (f->c[j] > 0) != (row->c[i] > 0) || pr_fmod(f->c[j], row->c[i]) != 0) continue;
            pr_i128 times = pr_fdiv(f->c[j], row->c[i]);
            if (times == last) continue;
            last = times;
            if ((*tries)-- <= 0) return;
            if (!cut(f, row, last, &g)) continue;
            pr_i128 v = over_box(box, &g);
            if (v < *best) *best = v;
            if (*best <= enough) return;
            if (depth > 1) search(box, &g, x, enough, depth - 1, tries, best);
            if (*best <= enough) return;
        }
    }
}

pr_i128 pr_linear_sup(pr_box *box, const pr_linear *f, const pr_linear_rows *rows, pr_i128 enough)
{
    int tries = TRIES;
    pr_i128 best = over_box(box, f);
    if (best > enough && f->n) search(box, f, rows, enough, DEPTH, &tries, &best);
    return best;
}
