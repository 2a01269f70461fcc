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

typedef struct form {
    pr_arena *arena;
    pr_term few[INLINE_TERMS], *at;
    pr_i128 some[INLINE_TERMS], *coef;
    int n, cap;
    pr_i128 k;
    bool bad;               /* an overflow: the result is PR_TERM_NONE */
} form;

static void form_init(form *f, pr_arena *arena)
{
    f->arena = arena;
    f->at = f->few;
    f->coef = f->some;
    f->n = 0;
    f->cap = INLINE_TERMS;
    f->k = 0;
    f->bad = false;
}

static void form_atom(form *f, pr_term t, pr_i128 coef)
{
    if (f->n == f->cap) {
        pr_term *at = pr_arena_raw(f->arena, sizeof *at * (size_t)f->cap * 2);
        pr_i128 *wider = pr_arena_raw(f->arena, sizeof *wider * (size_t)f->cap * 2);
        f->at = memcpy(at, f->at, sizeof *at * (size_t)f->n);
        f->coef = memcpy(wider, f->coef, sizeof *wider * (size_t)f->n);
        f->cap *= 2;
    }
    f->at[f->n] = t;
    f->coef[f->n++] = coef;
}

static void form_add(form *f, const pr_terms *T, pr_term t, pr_i128 scale)
{
    if (pr_term_none(t)) f->bad = true;
    if (f->bad || scale == 0) return;
    const node *x = node_of(T, t);
    assert(!x->is_bool);
    pr_i128 v;
    if (x->op != PR_TERM_OP_SUM && x->op != PR_TERM_OP_CONST) {
        form_atom(f, t, scale);
        return;
    }
    if (!pr_mul_ok(x->value, scale, &v) || !pr_add_ok(f->k, v, &f->k)) f->bad = true;
    if (x->op == PR_TERM_OP_CONST) return;
    for (uint32_t i = 0; i < x->n && !f->bad; i++) {
        if (!pr_mul_ok(T->coefs[x->coef + i], scale, &v)) f->bad = true;
        else form_atom(f, kid(T, x, i), v);
    }
}

typedef struct item { pr_term t; pr_i128 coef; } item;
static int by_id(const void *a, const void *b)
{
    uint32_t x = ((const item *)a)->t.id, y = ((const item *)b)->t.id;
    return x < y ? -1 : x > y;
}

static void sort_long(form *f)
{
    item *all = pr_arena_raw(f->arena, sizeof *all * (size_t)f->n);
    for (int i = 0; i < f->n; i++) all[i] = (item){ f->at[i], f->coef[i] };
    qsort(all, (size_t)f->n, sizeof *all, by_id);
    for (int i = 0; i < f->n; i++) f->at[i] = all[i].t, f->coef[i] = all[i].coef;
}

static void form_sort(form *f)
{
    int i = 1, n;
    while (i < f->n && f->at[i - 1].id < f->at[i].id) i++;
    if (i >= f->n) return;                                  /* sorted, and no atom twice */
    if (f->n > INLINE_TERMS) sort_long(f), i = f->n;
    for (; i < f->n; i++) {                                 /* mostly two sorted lists */
        pr_term t = f->at[i];
        pr_i128 c = f->coef[i];
        int j = i;
        for (; j > 0 && f->at[j - 1].id > t.id; j--) f->at[j] = f->at[j - 1], f->coef[j] = f->coef[j - 1];
        f->at[j] = t;
        f->coef[j] = c;
    }
    n = 0;
    for (i = 0; i < f->n && !f->bad; i++) {
        if (n && f->at[n - 1].id == f->at[i].id) {
            if (!pr_add_ok(f->coef[n - 1], f->coef[i], &f->coef[n - 1])) f->bad = true;
        } else {
            f->at[n] = f->at[i];
            f->coef[n++] = f->coef[i];
        }
        if (f->coef[n - 1] == 0) n--;
    }
    f->n = n;
}

static void form_drop(form *f, int i)
{
    f->n--;
    memmove(f->at + i, f->at + i + 1, sizeof *f->at * (size_t)(f->n - i));
    memmove(f->coef + i, f->coef + i + 1, sizeof *f->coef * (size_t)(f->n - i));
}

/* Rule A3: a quotient and the remainder of the same operation, whose coefficients fit. */
static bool form_rejoin(form *f, const pr_terms *T)
{
    for (int i = 0; i < f->n; i++) {
        const node *q = node_of(T, f->at[i]);
        if (q->op != PR_TERM_OP_FDIV && q->op != PR_TERM_OP_TDIV) continue;
        uint8_t twin = q->op == PR_TERM_OP_FDIV ? PR_TERM_OP_FMOD : PR_TERM_OP_TREM;
        pr_i128 d;
        if (!pr_term_const(T, kid(T, q, 1), &d)) continue;
        for (int j = 0; j < f->n; j++) {
            const node *m = node_of(T, f->at[j]);
            pr_i128 c;
            if (m->op != twin || T->kids[m->first] != T->kids[q->first]
                || T->kids[m->first + 1] != T->kids[q->first + 1]
                || !pr_mul_ok(f->coef[j], d, &c) || c != f->coef[i])
                continue;
            pr_term x = kid(T, q, 0);
            pr_i128 e = f->coef[j];
            form_drop(f, i < j ? j : i);
            form_drop(f, i < j ? i : j);
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

/* The term of a normal form; own: its interval, or null. */
static pr_term form_made(const form *f, pr_terms *T, const pr_interval *own)
{
    if (f->bad) return PR_TERM_NONE;
    if (f->n == 0) return pr_const(T, f->k);
    if (f->n == 1 && f->coef[0] == 1 && f->k == 0) return f->at[0];
    return pr_intern_sum(T, f->at, f->coef, f->n, f->k, own);
}

static pr_term form_term(form *f, pr_terms *T)
{
    form_normal(f, T);
    return form_made(f, T, NULL);
}

pr_term pr_sum_le0(pr_terms *T, const pr_term *t, const pr_i128 *coef, int n, pr_i128 constant)
{
    form f;
    form_init(&f, T->arena);
    f.k = constant;
    for (int i = 0; i < n; i++) form_add(&f, T, t[i], coef[i]);
    if (n > 1) form_normal(&f, T);                  /* a multiple of one normal form is one */
    if (f.bad) return PR_TERM_NONE;
    pr_i128 g = 0;
    for (int pass = 0; pass < 2; pass++) {
        pr_interval r = pr_range_linear(T, f.at, f.coef, f.n, f.k);
        if (r.hi <= 0) return PR_TERM_TRUE;         /* C3 */
        if (r.lo > 0) return PR_TERM_FALSE;
        for (int i = 0; i < f.n && g != 1; i++) g = f.coef[i] == PR_I128_MIN ? 1 : pr_gcd(g, f.coef[i]);
        if (f.n <= 1 || (g > 1 && f.k == PR_I128_MIN)) return pr_le0(T, form_made(&f, T, &r));
        if (g <= 1) {
            pr_term made = form_made(&f, T, &r);
            return pr_intern(T, PR_TERM_OP_LE0, 0, 0, &made, 1);
        }
        for (int i = 0; i < f.n; i++) f.coef[i] /= g; /* C1 */
        f.k = -pr_fdiv(-f.k, g);
        g = 1;
    }
    return PR_TERM_NONE;
}

pr_term pr_sum(pr_terms *T, const pr_term *t, const pr_i128 *coef, int n, pr_i128 constant)
{
    form f;
    form_init(&f, T->arena);
    f.k = constant;
    for (int i = 0; i < n; i++) form_add(&f, T, t[i], coef[i]);
    if (n > 1) form_normal(&f, T);
    return form_made(&f, T, NULL);
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
    return pr_intern(T, PR_TERM_OP_MUL, 0, 0, child, 2);
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
