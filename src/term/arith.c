/* Sums and products in canonical form.
 *
 * A linear form is collected in a scratch list (atoms with coefficients, constant part), sorted by
 * atom, merged, and interned as SUM; an overflow of any coefficient makes the result PR_TERM_NONE.
 *
 * Rules
 *  A1  sums are flat, sorted by atom, merged; no zero coefficient; 1*x + 0 is x; no atom is CONST
 *  A2  scaling distributes over a sum; k*0 = 0
 *  A3  c*q + e*m with q = x fdiv d, m = x fmod d and c = e*d becomes e*x (the same for tdiv, trem)
 *  P1  constant factors are taken out of a product
 *  P2  a product of sums is multiplied out when it has at most 16 terms
 *  P3  factors of nested products are sorted by id and nested from the left */
#include "term/store.h"
#include <assert.h>
#include <stdlib.h>

enum { INLINE_TERMS = 24, PRODUCT_TERMS = 16, PRODUCT_FACTORS = 16 };

typedef pr_linear item;
typedef struct form {
    pr_arena *arena;
    item few[INLINE_TERMS], *at;
    int n, cap;
    pr_i128 k;
    bool bad;               /* an overflow: the result is PR_TERM_NONE */
} form;

static void form_init(form *f, pr_arena *arena)
{
    f->arena = arena;
    f->at = f->few;
    f->n = 0;
    f->cap = INLINE_TERMS;
    f->k = 0;
    f->bad = false;
}

static void form_atom(form *f, uint32_t id, pr_i128 coef)
{
    if (f->n == f->cap) {
        item *wider = PR_NEW_N(f->arena, item, f->cap * 2);
        memcpy(wider, f->at, sizeof *wider * (size_t)f->n);
        f->at = wider;
        f->cap *= 2;
    }
    f->at[f->n++] = (item){ id, coef };
}

static void form_add(form *f, const pr_terms *T, pr_term t, pr_i128 scale)
{
    if (pr_term_none(t)) f->bad = true;
    if (f->bad || scale == 0) return;
    const node *x = node_of(T, t);
    assert(!x->is_bool);
    pr_i128 v;
    if (x->op != PR_TERM_OP_SUM && x->op != PR_TERM_OP_CONST) {
        form_atom(f, t.id, scale);
        return;
    }
    if (!pr_mul_ok(x->value, scale, &v) || !pr_add_ok(f->k, v, &f->k)) f->bad = true;
    if (x->op == PR_TERM_OP_CONST) return;
    for (uint32_t i = 0; i < x->n && !f->bad; i++) {
        if (!pr_mul_ok(T->coefs[x->coef + i], scale, &v)) f->bad = true;
        else form_atom(f, T->kids[x->first + i], v);
    }
}

static int by_id(const void *a, const void *b)
{
    uint32_t x = ((const item *)a)->id, y = ((const item *)b)->id;
    return x < y ? -1 : x > y;
}

static void form_sort(form *f)
{
    bool sorted = true;
    for (int i = 1; i < f->n && sorted; i++) sorted = f->at[i - 1].id < f->at[i].id;
    for (int i = 1; i < f->n && !sorted && f->n <= INLINE_TERMS; i++) {   /* mostly two sorted lists */
        item x = f->at[i];
        int j = i;
        for (; j > 0 && f->at[j - 1].id > x.id; j--) f->at[j] = f->at[j - 1];
        f->at[j] = x;
    }
    if (!sorted && f->n > INLINE_TERMS) qsort(f->at, (size_t)f->n, sizeof *f->at, by_id);
    int n = 0;
    for (int i = 0; i < f->n && !f->bad; i++) {
        if (n && f->at[n - 1].id == f->at[i].id) {
            if (!pr_add_ok(f->at[n - 1].coef, f->at[i].coef, &f->at[n - 1].coef)) f->bad = true;
        } else {
            f->at[n++] = f->at[i];
        }
        if (f->at[n - 1].coef == 0) n--;
    }
    f->n = n;
}

/* Rule A3: a quotient and the remainder of the same operation, whose coefficients fit. */
static bool form_rejoin(form *f, const pr_terms *T)
{
    for (int i = 0; i < f->n; i++) {
        const node *q = &T->nodes[f->at[i].id];
        if (q->op != PR_TERM_OP_FDIV && q->op != PR_TERM_OP_TDIV) continue;
        uint8_t twin = q->op == PR_TERM_OP_FDIV ? PR_TERM_OP_FMOD : PR_TERM_OP_TREM;
        pr_i128 d;
        if (!pr_term_const(T, kid(T, q, 1), &d)) continue;
        for (int j = 0; j < f->n; j++) {
            const node *m = &T->nodes[f->at[j].id];
            pr_i128 c;
            if (m->op != twin || T->kids[m->first] != T->kids[q->first]
                || T->kids[m->first + 1] != T->kids[q->first + 1]
                || !pr_mul_ok(f->at[j].coef, d, &c) || c != f->at[i].coef)
                continue;
            pr_term x = kid(T, q, 0);
            pr_i128 e = f->at[j].coef;
            int low = i < j ? i : j, high = i < j ? j : i;
            memmove(f->at + high, f->at + high + 1, sizeof *f->at * (size_t)(f->n - high - 1));
            memmove(f->at + low, f->at + low + 1, sizeof *f->at * (size_t)(f->n - low - 2));
            f->n -= 2;
            form_add(f, T, x, e);
            return true;
        }
    }
    return false;
}

static void form_normal(form *f, const pr_terms *T)
{
    form_sort(f);
    while (!f->bad && form_rejoin(f, T)) form_sort(f);
}

/* The term of a normal form. */
static pr_term form_made(form *f, pr_terms *T)
{
    if (f->bad) return PR_TERM_NONE;
    if (f->n == 0) return pr_const(T, f->k);
    if (f->n == 1 && f->at[0].coef == 1 && f->k == 0) return (pr_term){ f->at[0].id };
    pr_term few[INLINE_TERMS], *child = few;
    pr_i128 some[INLINE_TERMS], *coef = some;
    if (f->n > INLINE_TERMS) {
        child = PR_NEW_N(f->arena, pr_term, f->n);
        coef = PR_NEW_N(f->arena, pr_i128, f->n);
    }
    for (int i = 0; i < f->n; i++) {
        child[i].id = f->at[i].id;
        coef[i] = f->at[i].coef;
    }
    return pr_intern(T, PR_TERM_OP_SUM, 0, f->k, child, coef, f->n);
}

static pr_term form_term(form *f, pr_terms *T)
{
    form_normal(f, T);
    return form_made(f, T);
}

pr_term pr_sum_le0(pr_terms *T, const pr_term *t, const pr_i128 *coef, int n, pr_i128 constant)
{
    form f;
    form_init(&f, T->arena);
    f.k = constant;
    for (int i = 0; i < n; i++) form_add(&f, T, t[i], coef[i]);
    form_normal(&f, T);
    if (f.bad) return PR_TERM_NONE;
    pr_interval r = pr_range_linear(T, f.at, f.n, f.k);
    if (r.hi <= 0) return PR_TERM_TRUE;             /* C3 */
    if (r.lo > 0) return PR_TERM_FALSE;
    pr_i128 g = 0;
    for (int i = 0; i < f.n && g != 1; i++) g = f.at[i].coef == PR_I128_MIN ? 1 : pr_gcd(g, f.at[i].coef);
    if (f.n == 1 || g <= 1 || f.k == PR_I128_MIN) return pr_le0(T, form_made(&f, T));
    for (int i = 0; i < f.n; i++) f.at[i].coef /= g; /* C1 */
    f.k = -pr_fdiv(-f.k, g);
    return pr_le0(T, form_term(&f, T));
}

pr_term pr_sum(pr_terms *T, const pr_term *t, const pr_i128 *coef, int n, pr_i128 constant)
{
    form f;
    form_init(&f, T->arena);
    f.k = constant;
    for (int i = 0; i < n; i++) form_add(&f, T, t[i], coef[i]);
    return form_term(&f, T);
}

pr_term pr_add(pr_terms *T, pr_term a, pr_term b)
{
    return pr_sum(T, (pr_term[]){ a, b }, (pr_i128[]){ 1, 1 }, 2, 0);
}

pr_term pr_sub(pr_terms *T, pr_term a, pr_term b)
{
    return pr_sum(T, (pr_term[]){ a, b }, (pr_i128[]){ 1, -1 }, 2, 0);
}

pr_term pr_neg(pr_terms *T, pr_term a) { return pr_scale(T, a, -1); }

pr_term pr_scale(pr_terms *T, pr_term a, pr_i128 k)
{
    if (pr_term_none(a)) return a;
    if (k == 1) return a;
    return pr_sum(T, &a, &k, 1, 0);
}

/* --- products ------------------------------------------------------------------------------ */

static int factors(const pr_terms *T, pr_term t, uint32_t *out, int n)
{
    const node *x = node_of(T, t);
    while (x->op == PR_TERM_OP_MUL && n < PRODUCT_FACTORS) {
        /* Nested from the left (rule P3): one child is an atom, the other may be a product. */
        pr_term a = kid(T, x, 0), b = kid(T, x, 1);
        if (node_of(T, a)->op == PR_TERM_OP_MUL) {
            pr_term s = a;
            a = b;
            b = s;
        }
        if (node_of(T, a)->op == PR_TERM_OP_MUL) break;
        out[n++] = a.id;
        t = b;
        x = node_of(T, t);
    }
    if (n < PRODUCT_FACTORS) out[n] = t.id;
    return n + 1;
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static pr_term mul_pair(pr_terms *T, pr_term a, pr_term b)
{
    pr_term child[2] = { a, b };
    if (a.id > b.id) child[0] = b, child[1] = a;
    return pr_intern(T, PR_TERM_OP_MUL, 0, 0, child, NULL, 2);
}

/* Product of two terms that are neither constant nor a sum. */
static pr_term mul_atoms(pr_terms *T, pr_term a, pr_term b)
{
    uint32_t id[2 * PRODUCT_FACTORS + 2];
    int n = factors(T, a, id, 0);
    if (n <= PRODUCT_FACTORS) n = factors(T, b, id, n);
    if (n > PRODUCT_FACTORS) return mul_pair(T, a, b);
    /* A sum that was too long for P2 must not meet a single factor again: P2 would apply there. */
    for (int i = 0; i < n; i++) {
        if (T->nodes[id[i]].op == PR_TERM_OP_SUM) return mul_pair(T, a, b);
    }
    qsort(id, (size_t)n, sizeof *id, by_value);
    pr_term r = { id[0] };
    for (int i = 1; i < n; i++) r = mul_pair(T, r, (pr_term){ id[i] });
    return r;
}

pr_term pr_mul(pr_terms *T, pr_term a, pr_term b)
{
    if (pr_term_none(a) || pr_term_none(b)) return PR_TERM_NONE;
    pr_i128 v;
    if (pr_term_const(T, a, &v)) return pr_scale(T, b, v);
    if (pr_term_const(T, b, &v)) return pr_scale(T, a, v);
    const node *x = node_of(T, a), *y = node_of(T, b);
    bool sum_a = x->op == PR_TERM_OP_SUM, sum_b = y->op == PR_TERM_OP_SUM;
    if (!sum_a && !sum_b) return mul_atoms(T, a, b);
    uint32_t na = sum_a ? x->n + (x->value != 0) : 1, nb = sum_b ? y->n + (y->value != 0) : 1;
    if (na > PRODUCT_TERMS || nb > PRODUCT_TERMS || na * nb > PRODUCT_TERMS)
        return mul_pair(T, a, b);

    form f;
    form_init(&f, T->arena);
    pr_i128 ka = sum_a ? x->value : 0, kb = sum_b ? y->value : 0;
    if (!pr_mul_ok(ka, kb, &f.k)) return PR_TERM_NONE;
    for (uint32_t i = 0; i < (sum_a ? x->n : 1); i++) {
        pr_term p = sum_a ? kid(T, x, i) : a;
        pr_i128 c = sum_a ? T->coefs[x->coef + i] : 1, e;
        if (!pr_mul_ok(c, kb, &e)) return PR_TERM_NONE;
        form_add(&f, T, p, e);
        for (uint32_t j = 0; j < (sum_b ? y->n : 1); j++) {
            pr_term q = sum_b ? kid(T, y, j) : b;
            if (!pr_mul_ok(c, sum_b ? T->coefs[y->coef + j] : 1, &e)) return PR_TERM_NONE;
            form_add(&f, T, mul_atoms(T, p, q), e);
        }
    }
    for (uint32_t j = 0; j < (sum_b ? y->n : 1); j++) {
        pr_i128 e;
        if (!pr_mul_ok(sum_b ? T->coefs[y->coef + j] : 1, ka, &e)) return PR_TERM_NONE;
        form_add(&f, T, sum_b ? kid(T, y, j) : b, e);
    }
    return form_term(&f, T);
}
