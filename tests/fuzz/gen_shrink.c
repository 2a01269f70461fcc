/* Smaller kernels with the same mismatch: drop statements, unwrap loops and branches, replace expressions
 * by a part of themselves or by a constant, make constants, grids and parameters smaller. */
#include "gen_internal.h"
#include <stdlib.h>
#include <string.h>

typedef struct shrinker {
    gkernel *k, *c;
    bool (*keep)(void *user, const gkernel *candidate);
    void *user;
    int tries;
} shrinker;

static bool attempt(shrinker *s)
{
    if (s->tries-- <= 0) return false;
    if (!s->keep(s->user, s->c)) return false;
    memcpy(s->k, s->c, sizeof *s->k);
    return true;
}
/* Every reference to a value that is gone becomes 1. */
static void orphan(gkernel *k, int val)
{
    if (val < 0) return;
    for (int i = 0; i < k->n_exprs; i++)
        if (k->e[i].kind == GE_VAL && k->e[i].ref == val) {
            k->e[i].kind = GE_CONST;
            k->e[i].c = 1;
        }
}
static bool uses_carried(const gkernel *k, int val)
{
    for (int i = 0; i < k->n_stmts; i++)
        if (k->s[i].a.carry == val) return true;
    return false;
}
static int *link_to(gkernel *k, int at)
{
    if (k->top == at) return &k->top;
    for (int i = 0; i < k->n_stmts; i++) {
        if (k->s[i].next == at) return &k->s[i].next;
        if (k->s[i].body == at) return &k->s[i].body;
        if (k->s[i].other == at) return &k->s[i].other;
    }
    return NULL;
}
static void orphan_all(gkernel *k, int at)
{
    for (; at >= 0; at = k->s[at].next) {
        gstmt *s = &k->s[at];
        orphan(k, s->val);
        for (int c = 0; c < s->n_carry; c++) {
            orphan(k, s->carry_val[c]);
            orphan(k, s->carry_res[c]);
        }
        orphan_all(k, s->body);
        orphan_all(k, s->other);
    }
}
static bool drop_statement(shrinker *s, int at)
{
    memcpy(s->c, s->k, sizeof *s->c);
    gkernel *k = s->c;
    int *l = link_to(k, at);
    if (!l) return false;
    gstmt *x = &k->s[at];
    *l = x->next;
    x->next = -1;
    orphan_all(k, at);
    return attempt(s);
}
static bool unwrap(shrinker *s, int at, bool other)
{
    memcpy(s->c, s->k, sizeof *s->c);
    gkernel *k = s->c;
    gstmt *x = &k->s[at];
    int first = other ? x->other : x->body;
    if (x->kind != GS_FOR && x->kind != GS_WHILE && x->kind != GS_IF) return false;
    for (int c = 0; c < x->n_carry; c++)
        if (uses_carried(k, x->carry_val[c])) return false;
    if (x->kind == GS_IF && x->val >= 0) return false;
    int *l = link_to(k, at);
    if (!l || first < 0) return false;
    int last = first;
    while (k->s[last].next >= 0) last = k->s[last].next;
    k->s[last].next = x->next;
    *l = first;
    if (x->kind != GS_IF) {
        orphan(k, x->val);
        for (int c = 0; c < x->n_carry; c++) {
            orphan(k, x->carry_val[c]);
            orphan(k, x->carry_res[c]);
        }
    } else if (!other) {
        orphan_all(k, x->other);
    } else {
        orphan_all(k, x->body);
    }
    return attempt(s);
}
static void reachable_expr(const gkernel *k, int e, uint8_t *seen)
{
    if (e < 0 || seen[e]) return;
    seen[e] = 1;
    for (int i = 0; i < 3; i++) reachable_expr(k, k->e[e].k[i], seen);
}
static void reachable(const gkernel *k, int at, uint8_t *seen)
{
    for (; at >= 0; at = k->s[at].next) {
        const gstmt *s = &k->s[at];
        for (int i = 0; i < 4; i++) reachable_expr(k, s->e[i], seen);
        reachable_expr(k, s->a.off, seen);
        reachable_expr(k, s->a.soff, seen);
        reachable_expr(k, s->a.sel, seen);
        reachable_expr(k, s->a.off2, seen);
        reachable_expr(k, s->mask, seen);
        for (int c = 0; c < s->n_carry; c++) {
            if (s->carry_is_ptr[c]) reachable_expr(k, s->carry_ptr[c].off, seen);
            else reachable_expr(k, s->carry_init[c], seen);
            reachable_expr(k, s->carry_inc[c], seen);
        }
        reachable(k, s->body, seen);
        reachable(k, s->other, seen);
    }
}

void gen_shrink(gkernel *kernel, bool (*keep)(void *, const gkernel *), void *user, int max_tries)
{
    shrinker s = { .k = kernel, .c = malloc(sizeof *kernel), .keep = keep, .user = user, .tries = max_tries };
    if (!s.c) return;
    bool changed = true;
    while (changed && s.tries > 0) {
        changed = false;
        for (int i = 0; i < kernel->n_stmts; i++) changed |= drop_statement(&s, i);
        for (int i = 0; i < kernel->n_stmts; i++) changed |= unwrap(&s, i, false) || unwrap(&s, i, true);
        for (int i = 0; i < kernel->n_stmts; i++) {
            gstmt *x = &s.k->s[i];
            if (x->mask >= 0) {
                memcpy(s.c, s.k, sizeof *s.c);
                s.c->s[i].mask = -1;
                changed |= attempt(&s);
            }
            if (x->a.sel >= 0) {
                memcpy(s.c, s.k, sizeof *s.c);
                s.c->s[i].a.sel = s.c->s[i].a.off2 = s.c->s[i].a.arg2 = -1;
                changed |= attempt(&s);
            }
            if (x->n_carry && !uses_carried(s.k, x->carry_val[0])) {
                memcpy(s.c, s.k, sizeof *s.c);
                orphan(s.c, x->carry_val[0]);
                orphan(s.c, x->carry_res[0]);
                s.c->s[i].n_carry = 0;
                changed |= attempt(&s);
            }
        }
        for (int a = 0; a < 3; a++)
            while (s.k->grid[a] > 1 && s.tries > 0) {
                memcpy(s.c, s.k, sizeof *s.c);
                s.c->grid[a]--;
                if (!attempt(&s)) break;
                changed = true;
            }
        uint8_t *seen = calloc(G_EXPRS, 1);
        if (!seen) break;
        for (int i = kernel->n_exprs - 1; i >= 0; i--) {
            memset(seen, 0, G_EXPRS);
            reachable(s.k, s.k->top, seen);
            if (!seen[i]) continue;
            gexpr *e = &s.k->e[i];
            if (e->kind != GE_CONST) { /* a constant, else a part of the same type */
                bool done = false;
                for (int c = 0; c < 2 && !done && !e->t.is_float; c++) {
                    memcpy(s.c, s.k, sizeof *s.c);
                    s.c->e[i].kind = GE_CONST;
                    s.c->e[i].c = c;
                    s.c->e[i].k[0] = s.c->e[i].k[1] = s.c->e[i].k[2] = -1;
                    done = attempt(&s);
                }
                for (int c = 0; c < 3 && !done; c++) {
                    int kid = e->k[c];
                    if (kid < 0 || !gtype_eq(s.k->e[kid].t, e->t)) continue;
                    memcpy(s.c, s.k, sizeof *s.c);
                    s.c->e[i] = s.c->e[kid];
                    done = attempt(&s);
                }
                changed |= done;
            } else if (e->c != 0 && !e->t.is_float) {
                int64_t v = e->c;
                int64_t to[3] = { 0, v / 2, v - (v > 0 ? 1 : -1) };
                for (int c = 0; c < 3; c++) {
                    if (to[c] == v) continue;
                    memcpy(s.c, s.k, sizeof *s.c);
                    s.c->e[i].c = to[c];
                    if (attempt(&s)) {
                        changed = true;
                        break;
                    }
                }
            }
        }
        free(seen);
        for (int i = 0; i < kernel->n_params; i++)
            while (s.k->param[i] > 0 && s.tries > 0) {
                memcpy(s.c, s.k, sizeof *s.c);
                s.c->param[i] /= 2;
                if (!attempt(&s)) break;
                changed = true;
            }
        for (int i = 0; i < kernel->n_args; i++)
            if (s.k->arg[i].alias_of >= 0) {
                memcpy(s.c, s.k, sizeof *s.c);
                s.c->arg[i].alias_of = -1;
                changed |= attempt(&s);
            }
    }
    free(s.c);
}
