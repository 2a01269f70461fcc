/* Which block of a region dominates which other?
 *
 * Lengauer and Tarjan, "A fast algorithm for finding dominators in a flowgraph" (TOPLAS 1979), the
 * simple version with path compression; every walk is iterative. Blocks are handled by their
 * depth-first number, 1 to n, 0 meaning none. */
#include "front/dominance.h"
#include <assert.h>

typedef struct work {
    int n;                      /* reachable blocks                                            */
    int *number, *block;        /* block -> number, number -> block                             */
    int *parent, *semi, *ancestor, *label, *dom;
    int *bucket, *next;         /* lists by semidominator                                       */
    int *stack;
    int *first, *preds;         /* predecessors of number i: preds[first[i] .. first[i + 1])     */
} work;

static int *ints(pr_arena *a, int n) { return PR_NEW_N(a, int, n + 2); }

static const pr_op *exit_of(const pr_region *r, int block)
{
    return pr_block_terminator(r->blocks[block]);
}

static void number_blocks(work *w, const pr_region *r, pr_arena *arena)
{
    int *at = ints(arena, r->n_blocks), top = 0;
    w->number[0] = w->n = 1;
    w->block[1] = 0;
    w->stack[top++] = 0;
    while (top) {
        int b = w->stack[top - 1];
        const pr_op *t = exit_of(r, b);
        if (!t || at[b] >= t->n_succ) {
            top--;
            continue;
        }
        int s = t->succ[at[b]++].block->index;
        if (w->number[s]) continue;
        w->number[s] = ++w->n;
        w->block[w->n] = s;
        w->parent[w->n] = w->number[b];
        w->stack[top++] = s;
    }
}

static void collect_preds(work *w, const pr_region *r, pr_arena *arena)
{
    w->first = ints(arena, w->n + 1);
    for (int pass = 0; pass < 2; pass++) {
        for (int v = 1; v <= w->n; v++) {
            const pr_op *t = exit_of(r, w->block[v]);
            for (int i = 0; t && i < t->n_succ; i++) {
                int s = w->number[t->succ[i].block->index];
                if (pass == 0) w->first[s + 1]++;
                else w->preds[w->first[s]++] = v;
            }
        }
        if (pass == 0) {
            for (int v = 1; v <= w->n + 1; v++) w->first[v] += w->first[v - 1];
            w->preds = ints(arena, w->first[w->n + 1]);
        }
    }
    for (int v = w->n + 1; v > 0; v--) w->first[v] = w->first[v - 1];
    w->first[0] = 0;
}

/* Least-semidominator label on the path from v to its forest root, compressing it. */
static int eval(work *w, int v)
{
    if (!w->ancestor[v]) return v;
    int top = 0;
    for (int u = v; w->ancestor[w->ancestor[u]]; u = w->ancestor[u]) w->stack[top++] = u;
    while (top) {
        int u = w->stack[--top], a = w->ancestor[u];
        if (w->semi[w->label[a]] < w->semi[w->label[u]]) w->label[u] = w->label[a];
        w->ancestor[u] = w->ancestor[a];
    }
    return w->label[v];
}

static void find_dominators(work *w)
{
    for (int v = 1; v <= w->n; v++) w->semi[v] = w->label[v] = v;
    for (int v = w->n; v >= 2; v--) {
        for (int i = w->first[v]; i < w->first[v + 1]; i++) {
            int u = eval(w, w->preds[i]);
            if (w->semi[u] < w->semi[v]) w->semi[v] = w->semi[u];
        }
        w->next[v] = w->bucket[w->semi[v]];
        w->bucket[w->semi[v]] = v;
        int p = w->parent[v];
        w->ancestor[v] = p;
        for (int x = w->bucket[p]; x; x = w->next[x]) {
            int u = eval(w, x);
            w->dom[x] = w->semi[u] < w->semi[x] ? u : p;
        }
        w->bucket[p] = 0;
    }
    for (int v = 2; v <= w->n; v++)
        if (w->dom[v] != w->semi[v]) w->dom[v] = w->dom[w->dom[v]];
}

pr_doms *pr_doms_new(pr_arena *arena, const pr_region *r)
{
    pr_doms *d = PR_NEW(arena, pr_doms);
    int n = d->n = r->n_blocks;
    d->pos = ints(arena, n);
    d->size = ints(arena, n);
    for (int i = 0; i < n; i++) d->pos[i] = -1;
    if (n == 0) return d;
    work w = { 0 };
    int **arrays[] = { &w.number, &w.block, &w.parent, &w.semi, &w.ancestor,
                       &w.label,  &w.dom,   &w.bucket, &w.next, &w.stack };
    for (size_t i = 0; i < PR_LEN(arrays); i++) *arrays[i] = ints(arena, n);
    number_blocks(&w, r, arena);
    collect_preds(&w, r, arena);
    find_dominators(&w);
    int *size = w.semi, *cursor = w.label; /* no longer needed */
    for (int v = 1; v <= w.n; v++) size[v] = 1;
    for (int v = w.n; v >= 2; v--) size[w.dom[v]] += size[v];
    for (int v = 1; v <= w.n; v++) {
        int pos = 0;
        if (v > 1) {
            assert(w.dom[v] > 0 && w.dom[v] < v);
            pos = cursor[w.dom[v]];
            cursor[w.dom[v]] += size[v];
        }
        cursor[v] = pos + 1;
        d->pos[w.block[v]] = pos;
        d->size[w.block[v]] = size[v];
    }
    return d;
}

bool pr_doms_has(const pr_doms *d, int a, int b)
{
    if (d->pos[b] < 0) return true;
    if (d->pos[a] < 0) return false;
    return d->pos[a] <= d->pos[b] && d->pos[b] < d->pos[a] + d->size[a];
}
