/* Traversals of the DAG: visiting, searching, substitution, conjuncts. All iterative.
 *
 * Children have smaller ids than parents, so the nodes below t are found by one descending sweep
 * over a bitmap and visited in dependency order by one ascending sweep. */
#include "term/store.h"
#include <assert.h>
#include <stdlib.h>

uint64_t *pr_term_reachable(const pr_terms *T, pr_term t, uint32_t *lowest)
{
    uint32_t words = t.id / 64 + 1;
    uint64_t *map = calloc(words, sizeof *map);
    if (!map) abort();
    map[t.id / 64] |= (uint64_t)1 << (t.id % 64);
    *lowest = t.id;
    for (uint32_t w = words; w-- > 0;) {
        for (int bit = 63; bit >= 0; bit--) {
            if (!map[w]) break;
            if (!(map[w] >> bit & 1)) continue;
            uint32_t id = w * 64 + (uint32_t)bit;
            *lowest = id;
            const node *x = &T->nodes[id];
            for (uint32_t i = 0; i < x->n; i++) {
                uint32_t k = T->kids[x->first + i];
                assert(k < id);
                map[k / 64] |= (uint64_t)1 << (k % 64);
            }
        }
    }
    return map;
}

void pr_term_visit(const pr_terms *T, pr_term t, void (*visit)(void *user, pr_term t), void *user)
{
    if (pr_term_none(t)) return;
    uint32_t low;
    uint64_t *map = pr_term_reachable(T, t, &low);
    for (uint32_t w = low / 64; w <= t.id / 64; w++) {
        for (uint64_t bits = map[w]; bits; bits &= bits - 1)
            visit(user, (pr_term){ w * 64 + (uint32_t)__builtin_ctzll(bits) });
    }
    free(map);
}

bool pr_term_any(const pr_terms *T, pr_term t,
                 bool (*test)(void *user, const pr_terms *T, pr_term t), void *user)
{
    if (pr_term_none(t)) return false;
    uint32_t low;
    uint64_t *map = pr_term_reachable(T, t, &low);
    bool found = false;
    for (uint32_t w = low / 64; w <= t.id / 64 && !found; w++) {
        for (uint64_t bits = map[w]; bits && !found; bits &= bits - 1)
            found = test(user, T, (pr_term){ w * 64 + (uint32_t)__builtin_ctzll(bits) });
    }
    free(map);
    return found;
}

static bool is_var(void *user, const pr_terms *T, pr_term t)
{
    const node *x = node_of(T, t);
    return x->op == PR_TERM_OP_VAR && x->aux == ((const pr_var *)user)->id;
}

bool pr_term_mentions(const pr_terms *T, pr_term t, pr_var v)
{
    if (v.id == 0 || v.id >= T->n_vars || T->var_terms[v.id] == 0) return false;
    return pr_term_any(T, t, is_var, &v);
}

/* --- rebuilding ---------------------------------------------------------------------------- */

pr_term pr_term_rebuild(pr_terms *T, pr_term t, const pr_term *c)
{
    node x = *node_of(T, t);
    bool same = true;
    for (uint32_t i = 0; i < x.n; i++) {
        if (pr_term_none(c[i])) return PR_TERM_NONE;
        same = same && T->kids[x.first + i] == c[i].id;
    }
    if (same) return t;
    switch ((pr_term_op)x.op) {
    case PR_TERM_OP_NONE: case PR_TERM_OP_FALSE: case PR_TERM_OP_TRUE:
    case PR_TERM_OP_CONST: case PR_TERM_OP_VAR: return t;
    case PR_TERM_OP_APP: return pr_app(T, (pr_sym){ x.aux }, c, (int)x.n);
    case PR_TERM_OP_SUM: return pr_sum(T, c, T->coefs + x.coef, (int)x.n, x.value);
    case PR_TERM_OP_MUL: return pr_mul(T, c[0], c[1]);
    case PR_TERM_OP_FDIV: return pr_fdiv_t(T, c[0], c[1]);
    case PR_TERM_OP_FMOD: return pr_fmod_t(T, c[0], c[1]);
    case PR_TERM_OP_TDIV: return pr_tdiv_t(T, c[0], c[1]);
    case PR_TERM_OP_TREM: return pr_trem_t(T, c[0], c[1]);
    case PR_TERM_OP_MIN: return pr_min(T, c[0], c[1]);
    case PR_TERM_OP_MAX: return pr_max(T, c[0], c[1]);
    case PR_TERM_OP_SELECT: return pr_select(T, c[0], c[1], c[2]);
    case PR_TERM_OP_BAND: return pr_band(T, c[0], c[1]);
    case PR_TERM_OP_BOR: return pr_bor(T, c[0], c[1]);
    case PR_TERM_OP_BXOR: return pr_bxor(T, c[0], c[1]);
    case PR_TERM_OP_LE0: return pr_le(T, c[0], PR_TERM_ZERO);
    case PR_TERM_OP_EQ0: return pr_eq(T, c[0], PR_TERM_ZERO);
    case PR_TERM_OP_NOT: return pr_not(T, c[0]);
    case PR_TERM_OP_AND: return pr_and(T, c[0], c[1]);
    case PR_TERM_OP_OR: return pr_or(T, c[0], c[1]);
    case PR_TERM_OP_FITS: return pr_fits(T, (pr_fits_kind)x.kind, (int)x.aux, c[0]);
    }
    return PR_TERM_NONE;
}

/* memo: 0 = not done, NONE_DONE = done and PR_TERM_NONE, else the result. */
enum { NONE_DONE = 0xffffffffu };

static pr_term subst_node(pr_subst *s, pr_term t)
{
    pr_terms *T = s->T;
    node x = *node_of(T, t);
    if (x.op == PR_TERM_OP_VAR) {
        bool mapped = x.aux < s->n_var_map && s->var_map[x.aux].id;
        return mapped ? s->var_map[x.aux] : t;
    }
    pr_term few[16], *child = few;
    if (x.n > 16) child = PR_NEW_N(T->arena, pr_term, x.n);
    for (uint32_t i = 0; i < x.n; i++) {
        uint32_t done = s->memo[T->kids[x.first + i]].id;
        child[i].id = done == NONE_DONE ? 0 : done;
    }
    pr_term r = pr_term_rebuild(T, t, child);
    if (pr_term_none(r)) return r;
    if (x.op == PR_TERM_OP_APP && s->app && node_of(T, r)->op == PR_TERM_OP_APP)
        r = s->app(s->user, T, r);
    if (x.op == PR_TERM_OP_FITS && s->expand_fits && !pr_term_none(r)) r = pr_fits_expand(T, r);
    assert(pr_term_none(r) || pr_term_is_bool(T, r) == (bool)x.is_bool);
    return r;
}

pr_term pr_subst_apply(pr_subst *s, pr_term t)
{
    if (pr_term_none(t)) return t;
    pr_terms *T = s->T;
    if (s->memo_cap <= t.id) {
        uint32_t cap = s->memo_cap ? s->memo_cap : 256;
        while (cap <= t.id) cap *= 2;
        pr_term *p = PR_NEW_N(T->arena, pr_term, cap);
        if (s->memo_cap) memcpy(p, s->memo, sizeof *p * s->memo_cap);
        s->memo = p;
        s->memo_cap = cap;
    }
    if (!s->memo[t.id].id) {
        uint32_t low;
        uint64_t *map = pr_term_reachable(T, t, &low);
        for (uint32_t w = low / 64; w <= t.id / 64; w++) {
            for (uint64_t bits = map[w]; bits; bits &= bits - 1) {
                uint32_t id = w * 64 + (uint32_t)__builtin_ctzll(bits);
                if (s->memo[id].id) continue;
                pr_term r = subst_node(s, (pr_term){ id });
                s->memo[id].id = r.id ? r.id : NONE_DONE;
            }
        }
        free(map);
    }
    uint32_t r = s->memo[t.id].id;
    return (pr_term){ r == NONE_DONE ? 0 : r };
}

/* --- conjuncts ----------------------------------------------------------------------------- */

void pr_conjuncts(pr_terms *T, pr_term t, pr_term_vec *out, pr_arena *arena)
{
    if (pr_term_none(t)) {
        pr_vec_push(arena, out, t);
        return;
    }
    int start = out->n;
    uint64_t *seen = calloc(t.id / 64 + 1, sizeof *seen);
    PR_VEC(pr_term) stack = { 0 };
    if (!seen) abort();
    pr_vec_push(arena, &stack, t);
    while (stack.n) {
        pr_term c = stack.data[--stack.n];
        if (seen[c.id / 64] >> (c.id % 64) & 1) continue;
        seen[c.id / 64] |= (uint64_t)1 << (c.id % 64);
        if (node_of(T, c)->op == PR_TERM_OP_AND) {
            pr_vec_push(arena, &stack, kid(T, node_of(T, c), 1));
            pr_vec_push(arena, &stack, kid(T, node_of(T, c), 0));
        } else if (!pr_term_is(c, PR_TERM_TRUE)) {
            pr_vec_push(arena, out, c);
        }
    }
    for (int i = start; i < out->n; i++) {
        uint32_t opposite = node_of(T, out->data[i])->negation;
        if (opposite && opposite <= t.id && (seen[opposite / 64] >> (opposite % 64) & 1)) {
            out->n = start;
            pr_vec_push(arena, out, PR_TERM_FALSE);
        }
    }
    free(seen);
}
