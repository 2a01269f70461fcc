/* Exact value of a term under an assignment.
 *
 * Every node below the term is evaluated once, children first; a node without a value (unknown
 * variable, APP, overflow) poisons its parents except where SELECT, AND or OR do not need it. The
 * arithmetic here is the definition the engines are compared with. */
#include "term/store.h"
#include "term/table.h"
#include <assert.h>

struct eval_work {
    pr_i128 *value;
    uint8_t *ok;
    uint32_t *stamp;
    uint32_t cap, now;
    PR_VEC(uint32_t) stack;
};

static void next_point(struct eval_work *w)
{
    if (++w->now == 0) {
        memset(w->stamp, 0, sizeof *w->stamp * w->cap);
        w->now = 1;
    }
}

static struct eval_work *work_for(const pr_terms *T, uint32_t top)
{
    struct eval_work *w = T->eval;
    if (!w) {
        w = PR_NEW(T->arena, struct eval_work);
        ((pr_terms *)T)->eval = w;        /* scratch, not part of the store's value */
    }
    if (w->cap <= top) {
        uint32_t cap = w->cap ? w->cap : 256;
        while (cap <= top) cap *= 2;
        w->value = pr_arena_raw(T->arena, sizeof *w->value * cap);      /* read where the stamp says so */
        w->ok = pr_arena_raw(T->arena, sizeof *w->ok * cap);
        w->stamp = PR_NEW_N(T->arena, uint32_t, cap);
        w->cap = cap;
        w->now = 1;
    }
    return w;
}

static bool divide(pr_term_op op, pr_i128 a, pr_i128 b, pr_i128 *r)
{
    bool quotient = op == PR_TERM_OP_FDIV || op == PR_TERM_OP_TDIV;
    if (b == 0) {
        *r = quotient ? 0 : a;
        return true;
    }
    if (b == -1) {
        if (a == PR_I128_MIN) return false;
        *r = quotient ? -a : 0;
        return true;
    }
    switch (op) {
    case PR_TERM_OP_FDIV: *r = pr_fdiv(a, b); return true;
    case PR_TERM_OP_FMOD: *r = pr_fmod(a, b); return true;
    case PR_TERM_OP_TDIV: *r = a / b; return true;
    default: *r = a % b; return true;
    }
}

static bool fits(const node *x, pr_i128 v)
{
    switch ((pr_fits_kind)x->kind) {
    case PR_FITS_SIGNED:
        return x->aux > 120 || (v >= pr_int_min((int)x->aux) && v <= pr_int_max((int)x->aux));
    case PR_FITS_NONNEG: return v >= 0;
    case PR_FITS_BIT: return v == 0 || v == 1;
    }
    return false;
}

static bool step(const pr_terms *T, const node *x, const pr_env *env, const struct eval_work *w,
                 pr_i128 *r)
{
    const uint32_t *k = T->kids + x->first;
    bool ok0 = x->n > 0 && w->ok[k[0]], ok1 = x->n > 1 && w->ok[k[1]];
    pr_i128 a = ok0 ? w->value[k[0]] : 0, b = ok1 ? w->value[k[1]] : 0;
    bool both = ok0 && ok1;
    switch ((pr_term_op)x->op) {
    case PR_TERM_OP_NONE: case PR_TERM_OP_APP: return false;
    case PR_TERM_OP_FALSE: *r = 0; return true;
    case PR_TERM_OP_TRUE: *r = 1; return true;
    case PR_TERM_OP_CONST: *r = x->value; return true;
    case PR_TERM_OP_VAR:
        if (x->aux >= env->n || !env->known[x->aux]) return false;
        *r = env->value[x->aux];
        return true;
    case PR_TERM_OP_SUM:
        *r = x->value;
        for (uint32_t i = 0; i < x->n; i++) {
            pr_i128 v;
            if (!w->ok[k[i]] || !pr_mul_ok(T->coefs[x->coef + i], w->value[k[i]], &v)
                || !pr_add_ok(*r, v, r))
                return false;
        }
        return true;
    case PR_TERM_OP_MUL: return both && pr_mul_ok(a, b, r);
    case PR_TERM_OP_FDIV: case PR_TERM_OP_FMOD:
    case PR_TERM_OP_TDIV: case PR_TERM_OP_TREM:
        return both && divide((pr_term_op)x->op, a, b, r);
    case PR_TERM_OP_MIN: *r = a < b ? a : b; return both;
    case PR_TERM_OP_MAX: *r = a > b ? a : b; return both;
    case PR_TERM_OP_SELECT: {
        uint32_t arm = a ? k[1] : k[2];
        if (!ok0 || !w->ok[arm]) return false;
        *r = w->value[arm];
        return true;
    }
    case PR_TERM_OP_BAND: *r = a & b; return both;
    case PR_TERM_OP_BOR: *r = a | b; return both;
    case PR_TERM_OP_BXOR: *r = a ^ b; return both;
    case PR_TERM_OP_LE0: *r = a <= 0; return ok0;
    case PR_TERM_OP_EQ0: *r = a == 0; return ok0;
    case PR_TERM_OP_NOT: *r = !a; return ok0;
    case PR_TERM_OP_AND:
        *r = both && a && b;
        return both || (ok0 && !a) || (ok1 && !b);
    case PR_TERM_OP_OR:
        *r = (ok0 && a) || (ok1 && b);
        return both || *r;
    case PR_TERM_OP_FITS: *r = fits(x, a); return ok0;
    case PR_TERM_OP_TABLE: {
        pr_tab tab = { x->aux };
        if (!ok0 || !pr_tab_get(T, tab)->values) return false;
        *r = pr_tab_at(T, tab, a);
        return true;
    }
    }
    return false;
}

bool pr_eval(const pr_terms *T, pr_term t, const pr_env *env, pr_i128 *out)
{
    pr_eval_begin(T);
    return pr_eval_also(T, t, env, out);
}

void pr_eval_begin(const pr_terms *T)
{
    if (T->eval) next_point(T->eval);
}

bool pr_eval_also(const pr_terms *T, pr_term t, const pr_env *env, pr_i128 *out)
{
    if (pr_term_none(t)) return false;
    struct eval_work *w = work_for(T, t.id);
    w->stack.n = 0;
    pr_vec_push(T->arena, &w->stack, t.id);
    while (w->stack.n) {
        uint32_t id = w->stack.data[w->stack.n - 1];
        const node *x = &T->nodes[id];
        if (w->stamp[id] == w->now) {
            w->stack.n--;
            continue;
        }
        int before = w->stack.n;
        for (uint32_t i = 0; i < x->n; i++) {
            uint32_t k = T->kids[x->first + i];
            if (w->stamp[k] == w->now) continue;
            const node *y = &T->nodes[k];
            bool var = y->op == PR_TERM_OP_VAR;
            if (!var && y->op != PR_TERM_OP_CONST) {
                pr_vec_push(T->arena, &w->stack, k);
                continue;
            }
            w->stamp[k] = w->now;
            w->ok[k] = !var || (y->aux < env->n && env->known[y->aux]);
            w->value[k] = !var ? y->value : w->ok[k] ? env->value[y->aux] : 0;
        }
        if (w->stack.n != before) continue;
        pr_i128 v = 0;
        w->ok[id] = step(T, x, env, w, &v);
        w->value[id] = v;
        w->stamp[id] = w->now;
        w->stack.n--;
    }
    *out = w->value[t.id];
    return w->ok[t.id];
}
