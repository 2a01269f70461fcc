/* Traversals of the DAG: visiting, searching, substitution, conjuncts. All iterative.
 *
 * The nodes below t are collected with marks, so the cost is that of the nodes, not of the store.
 * Children have smaller ids than parents: ascending order is dependency order. */
#include "term/store.h"
#include <assert.h>
#include <stdlib.h>

/* Marks of the collection in progress; scratch in the store, unused while a visitor runs. */
struct walk_work {
    uint32_t *mark, cap, now;
    PR_VEC(uint32_t) ids;
    PR_VEC(uint32_t) held;            /* lists of the traversals under way, innermost last            */
};

static struct walk_work *work_for(const pr_terms *T)
{
    struct walk_work *w = T->walk;
    if (!w) {
        w = PR_NEW(T->arena, struct walk_work);
        ((pr_terms *)T)->walk = w;        /* not part of the store's value */
    }
    if (w->cap < T->n_nodes) {
        while (w->cap < T->n_nodes) w->cap = w->cap ? w->cap * 2 : 256;
        w->mark = PR_NEW_N(T->arena, uint32_t, w->cap);
        w->now = 0;
    }
    if (++w->now == 0) {
        memset(w->mark, 0, sizeof *w->mark * w->cap);
        w->now = 1;
    }
    w->ids.n = 0;
    return w;
}

static int by_id(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

enum { FEW_IDS = 10, SET_WORDS = 256 };

/* The ids of `from`, which are distinct, in ascending order. */
static void sort_ids(const uint32_t *from, uint32_t *id, uint32_t n)
{
    if (n <= FEW_IDS) {
        for (uint32_t i = 0; i < n; i++) {       /* from the back: parents were met before their children */
            uint32_t v = from[n - 1 - i], j = i;
            for (; j > 0 && id[j - 1] > v; j--) id[j] = id[j - 1];
            id[j] = v;
        }
        return;
    }
    uint32_t least = from[0], most = from[0];
    for (uint32_t i = 1; i < n; i++) {
        if (from[i] < least) least = from[i];
        if (from[i] > most) most = from[i];
    }
    uint32_t words = (most - least) / 64 + 1;
    if (words > SET_WORDS || words / 8 > n) {
        memcpy(id, from, sizeof *id * n);
        qsort(id, n, sizeof *id, by_id);
        return;
    }
    uint64_t set[SET_WORDS];                     /* close together, as the nodes below one term are */
    memset(set, 0, sizeof *set * words);
    for (uint32_t i = 0; i < n; i++) set[(from[i] - least) / 64] |= (uint64_t)1 << ((from[i] - least) % 64);
    for (uint32_t w = 0; w < words; w++)
        for (uint64_t rest = set[w]; rest; rest &= rest - 1) *id++ = least + w * 64 + (uint32_t)__builtin_ctzll(rest);
}

enum { EVERYTHING = 0 };

/* The nodes below the roots in w->ids, in the order in which they are met; those that `done` has a result for are
 * left out, with what is below them. So are those in which no leaf of the kinds `of` occurs. */
static struct walk_work *collect(const pr_terms *T, const pr_term *root, int n_roots, const pr_term *done, unsigned of)
{
    struct walk_work *w = work_for(T);
    for (int i = 0; i < n_roots; i++) {
        if (pr_term_none(root[i]) || w->mark[root[i].id] == w->now || (done && done[root[i].id].id)) continue;
        if (of && !(node_of(T, root[i])->occurs & of)) continue;
        w->mark[root[i].id] = w->now;
        pr_vec_push(T->arena, &w->ids, root[i].id);
    }
    for (int at = 0; at < w->ids.n; at++) {
        const node *x = &T->nodes[w->ids.data[at]];
        for (uint32_t i = 0; i < x->n; i++) {
            uint32_t k = T->kids[x->first + i];
            if (w->mark[k] == w->now || (done && done[k].id) || (of && !(T->nodes[k].occurs & of))) continue;
            w->mark[k] = w->now;
            pr_vec_push(T->arena, &w->ids, k);
        }
    }
    return w;
}

/* The same, ascending, kept until release: w->held from `from` on. Traversals nest (a visitor may start another). */
typedef struct held { struct walk_work *w; int from; uint32_t n; } held;

static held hold(const pr_terms *T, const pr_term *root, int n_roots, const pr_term *done, unsigned of)
{
    struct walk_work *w = collect(T, root, n_roots, done, of);
    held h = { w, w->held.n, (uint32_t)w->ids.n };
    pr_vec_reserve(T->arena, &w->held, w->held.n + w->ids.n);
    w->held.n += w->ids.n;
    sort_ids(w->ids.data, w->held.data + h.from, h.n);
    return h;
}

static pr_term held_at(const held *h, uint32_t i) { return (pr_term){ h->w->held.data[h->from + (int)i] }; }
static void release(const held *h) { h->w->held.n = h->from; }

uint32_t pr_term_below(const pr_terms *T, const pr_term *root, int n_roots, pr_temp *hold, uint32_t **ids)
{
    struct walk_work *w = collect(T, root, n_roots, NULL, EVERYTHING);
    uint32_t n = (uint32_t)w->ids.n;
    *ids = pr_temp_new(T->arena, hold, sizeof **ids * (n + 1));
    sort_ids(w->ids.data, *ids, n);
    return n;
}

void pr_term_visit_all(const pr_terms *T, const pr_term *root, int n_roots,
                       void (*visit)(void *user, pr_term t), void *user)
{
    if (n_roots == 1 && !pr_term_none(root[0]) && node_of(T, root[0])->n == 0) {
        visit(user, root[0]);
        return;
    }
    held h = hold(T, root, n_roots, NULL, EVERYTHING);
    for (uint32_t i = 0; i < h.n; i++) visit(user, held_at(&h, i));
    release(&h);
}

void pr_term_visit_in(const pr_terms *T, const pr_term *root, int n_roots, unsigned of,
                      void (*visit)(void *user, pr_term t), void *user)
{
    bool any = false;
    for (int i = 0; i < n_roots && !any; i++) any = node_of(T, root[i])->occurs & of;
    if (!any) return;
    held h = hold(T, root, n_roots, NULL, of);
    for (uint32_t i = 0; i < h.n; i++) visit(user, held_at(&h, i));
    release(&h);
}

void pr_term_visit(const pr_terms *T, pr_term t, void (*visit)(void *user, pr_term t), void *user)
{
    pr_term_visit_all(T, &t, 1, visit, user);
}

void pr_term_vars(const pr_terms *T, const pr_term *root, int n_roots, pr_var_vec *out, pr_arena *arena)
{
    const struct walk_work *w = collect(T, root, n_roots, NULL, PR_OCCURS_VAR);
    for (int i = 0; i < w->ids.n; i++) {
        const node *x = &T->nodes[w->ids.data[i]];
        if (x->op == PR_TERM_OP_VAR) pr_vec_push(arena, out, (pr_var){ x->aux });
    }
}

static bool any_in(const pr_terms *T, pr_term t, unsigned of,
                   bool (*test)(void *user, const pr_terms *T, pr_term t), void *user)
{
    if (test(user, T, t)) return true;
    if (node_of(T, t)->n == 0) return false;
    held h = hold(T, &t, 1, NULL, of);
    bool found = false;
    for (uint32_t i = 0; i + 1 < h.n && !found; i++) found = test(user, T, held_at(&h, i));
    release(&h);
    return found;
}

bool pr_term_any(const pr_terms *T, pr_term t,
                 bool (*test)(void *user, const pr_terms *T, pr_term t), void *user)
{
    return !pr_term_none(t) && any_in(T, t, EVERYTHING, test, user);
}

bool pr_term_any_in(const pr_terms *T, pr_term t, unsigned of,
                    bool (*test)(void *user, const pr_terms *T, pr_term t), void *user)
{
    return (node_of(T, t)->occurs & of) && any_in(T, t, of, test, user);
}

bool pr_term_mentions(const pr_terms *T, pr_term t, pr_var v)
{
    if (v.id == 0 || v.id >= T->n_vars || T->var_terms[v.id] == 0) return false;
    if (pr_term_none(t) || t.id < T->var_terms[v.id]) return false;        /* children are older than parents */
    unsigned role = PR_OCCURS(T->vars[v.id].role);
    if (!(node_of(T, t)->occurs & role)) return false;
    const struct walk_work *w = collect(T, &t, 1, NULL, role);
    for (int i = 0; i < w->ids.n; i++)
        if (w->ids.data[i] == T->var_terms[v.id]) return true;
    return false;
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
    case PR_TERM_OP_TABLE: return pr_table(T, (pr_tab){ x.aux }, c[0]);
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
    const node *x = node_of(T, t);
    if (x->n == 0 && x->op != PR_TERM_OP_APP)
        return x->op == PR_TERM_OP_VAR && x->aux < s->n_var_map && s->var_map[x->aux].id ? s->var_map[x->aux] : t;
    if (s->memo_cap <= t.id) {
        uint32_t cap = s->memo_cap ? s->memo_cap : 256;
        while (cap <= t.id) cap *= 2;
        pr_term *p = PR_NEW_N(T->arena, pr_term, cap);
        if (s->memo_cap) memcpy(p, s->memo, sizeof *p * s->memo_cap);
        s->memo = p;
        s->memo_cap = cap;
    }
    if (!s->memo[t.id].id) {
        held h = hold(T, &t, 1, s->memo, EVERYTHING);
        for (uint32_t i = 0; i < h.n; i++) {
            uint32_t id = held_at(&h, i).id;
            if (s->memo[id].id) continue;        /* by a substitution that this one asked for */
            pr_term r = subst_node(s, (pr_term){ id });
            s->memo[id].id = r.id ? r.id : NONE_DONE;
        }
        release(&h);
    }
    uint32_t r = s->memo[t.id].id;
    return (pr_term){ r == NONE_DONE ? 0 : r };
}

/* --- renaming ------------------------------------------------------------------------------ */

/* Sorts the operands of a sum by id, coefficients with them. */
static void sort_pairs(pr_term *child, pr_i128 *coef, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        pr_term t = child[i];
        pr_i128 c = coef[i];
        uint32_t j = i;
        for (; j > 0 && child[j - 1].id > t.id; j--) child[j] = child[j - 1], coef[j] = coef[j - 1];
        child[j] = t;
        coef[j] = c;
    }
}

static pr_term rename_sum(pr_terms *T, pr_term t, pr_term *child)
{
    const node *x = node_of(T, t);
    bool sorted = true;
    for (uint32_t i = 1; i < x->n && sorted; i++) sorted = child[i - 1].id < child[i].id;
    if (sorted) return pr_intern_renamed(T, t, child, NULL);
    pr_i128 some[16], *coef = x->n <= 16 ? some : PR_NEW_N(T->arena, pr_i128, x->n);
    memcpy(coef, T->coefs + x->coef, sizeof *coef * x->n);
    sort_pairs(child, coef, x->n);
    return pr_intern_renamed(T, t, child, coef);
}

static pr_term rename_node(pr_terms *T, pr_term t, pr_term *child)
{
    const node *x = node_of(T, t);
    bool swapped = x->n == 2 && child[0].id > child[1].id;
    switch ((pr_term_op)x->op) {
    case PR_TERM_OP_SUM: return rename_sum(T, t, child);
    case PR_TERM_OP_MUL:           /* factors are nested in the order of their ids */
        if (T->nodes[child[0].id].op == PR_TERM_OP_MUL || T->nodes[child[1].id].op == PR_TERM_OP_MUL) return pr_mul(T, child[0], child[1]);
        break;
    case PR_TERM_OP_EQ0: {         /* the sign of an equation is that of its first part */
        const node *s = node_of(T, child[0]);
        if (s->op == PR_TERM_OP_SUM && T->coefs[s->coef] < 0) return pr_eq(T, child[0], PR_TERM_ZERO);
        return pr_intern_renamed(T, t, child, NULL);
    }
    case PR_TERM_OP_MIN: case PR_TERM_OP_MAX: case PR_TERM_OP_AND: case PR_TERM_OP_OR: break;
    default: return pr_intern_renamed(T, t, child, NULL);
    }
    if (!swapped) return pr_intern_renamed(T, t, child, NULL);
    return pr_intern_renamed(T, t, (const pr_term[]){ child[1], child[0] }, NULL);
}

void pr_term_rename(pr_terms *T, const pr_term *root, int n_roots, const pr_var *to, uint32_t n_to, pr_term *out)
{
    held h = hold(T, root, n_roots, NULL, PR_OCCURS_VAR);
    struct walk_work *w = h.w;
    pr_temp kept;
    uint32_t *now = pr_temp_new(T->arena, &kept, sizeof *now * T->n_nodes);     /* of a node that is marked */
    for (uint32_t i = 0; i < h.n; i++) {
        pr_term t = held_at(&h, i), few[16], *child = few;
        const node *x = node_of(T, t);
        assert(x->op != PR_TERM_OP_APP);
        now[t.id] = t.id;
        if (x->op == PR_TERM_OP_VAR) {
            if (x->aux >= n_to || !to[x->aux].id) continue;
            assert(T->vars[x->aux].lo == T->vars[to[x->aux].id].lo && T->vars[x->aux].hi == T->vars[to[x->aux].id].hi);
            now[t.id] = pr_var_term(T, to[x->aux]).id;
            continue;
        }
        bool same = true, none = false;
        if (x->n > 16) child = PR_NEW_N(T->arena, pr_term, x->n);
        for (uint32_t k = 0; k < x->n; k++) {
            uint32_t of = T->kids[x->first + k];
            child[k].id = w->mark[of] == w->now ? now[of] : of;
            same = same && child[k].id == of;
            none = none || !child[k].id;
        }
        if (!same) now[t.id] = none ? 0 : rename_node(T, t, child).id;
    }
    for (int i = 0; i < n_roots; i++) {
        uint32_t id = root[i].id;
        out[i].id = id && w->mark[id] == w->now ? now[id] : id;
    }
    pr_temp_end(&kept);
    release(&h);
}

/* --- conjuncts ----------------------------------------------------------------------------- */

/* A few conjuncts, without a set of what was seen; false: there are more, and nothing was appended. */
static bool few_conjuncts(const pr_terms *T, pr_term t, pr_term_vec *out, pr_arena *arena)
{
    enum { FEW = 12 };
    uint32_t seen[FEW], stack[FEW + 1];
    int n = 0, top = 0, start = out->n;
    stack[top++] = t.id;
    while (top) {
        uint32_t id = stack[--top];
        int known = 0;
        while (known < n && seen[known] != id) known++;
        if (known < n) continue;
        if (n == FEW || top + 2 > FEW) {
            out->n = start;
            return false;
        }
        seen[n++] = id;
        const node *x = &T->nodes[id];
        if (x->op == PR_TERM_OP_AND) {
            stack[top++] = T->kids[x->first + 1];
            stack[top++] = T->kids[x->first];
        } else if (id != PR_TERM_TRUE.id) {
            pr_vec_push(arena, out, (pr_term){ id });
        }
    }
    for (int i = start; i < out->n; i++) {
        uint32_t opposite = node_of(T, out->data[i])->negation;
        for (int k = 0; k < n && opposite; k++)
            if (seen[k] == opposite) {
                out->n = start;
                pr_vec_push(arena, out, PR_TERM_FALSE);
                return true;
            }
    }
    return true;
}

void pr_conjuncts(pr_terms *T, pr_term t, pr_term_vec *out, pr_arena *arena)
{
    if (pr_term_none(t) || node_of(T, t)->op != PR_TERM_OP_AND) {
        if (!pr_term_is(t, PR_TERM_TRUE)) pr_vec_push(arena, out, t);
        return;
    }
    if (few_conjuncts(T, t, out, arena)) return;
    int start = out->n;
    pr_temp hold;
    size_t words = t.id / 64 + 1;
    uint64_t *seen = pr_temp_new(arena, &hold, words * sizeof *seen);
    memset(seen, 0, words * sizeof *seen);
    PR_VEC(pr_term) stack = { 0 };
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
    pr_temp_end(&hold);
}
