/* Programs of several CTAs that never meet: each works on its own part of every tile in its own shared memory, behind its own
 * barriers. Then one of them stands for all (shared-memory.md 2.13), and what is left of the others is that a tile's bytes are
 * divided. Whatever could reach another CTA is refused by name. */
#include "shm/walk.h"
#include "front/types.h"
#include <string.h>

enum { MOST_BASES = 4 };                             /* 16 CTAs                                        */

/* For each bit of the CTA's number: how far it moves in each dimension, in elements. */
typedef struct division { int n; int64_t base[MOST_BASES][PR_SHM_RANK + 2]; } division;

static bool after(pr_str *s, const char *part)
{
    size_t n = strlen(part);
    for (size_t i = 0; i + n <= s->n; i++) {
        if (memcmp(s->s + i, part, n)) continue;
        *s = (pr_str){ s->s + i + n, s->n - i - n };
        return true;
    }
    return false;
}

/* "[[0, 1], [1, 0]]" at the start of s: rows of one length; false when it is anything else. */
static bool rows_of(pr_str s, int64_t row[][PR_SHM_RANK + 2], int *n, int *length)
{
    int depth = 0, at = 0;
    *n = *length = 0;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.s[i];
        if (c == '[') {
            if (++depth > 2 || (depth == 2 && *n == MOST_BASES)) return false;
            at = 0;
        } else if (c == ']') {
            if (depth == 2 && ((*n && at != *length) || !at)) return false;
            if (depth == 2) *length = at, ++*n;
            if (!--depth) return true;
        } else if (c >= '0' && c <= '9' && depth == 2) {
            int64_t v = 0;
            for (; i < s.n && s.s[i] >= '0' && s.s[i] <= '9' && v <= 1 << 20; i++) v = 10 * v + (s.s[i] - '0');
            i--;
            if (at == PR_SHM_RANK + 2 || v > 1 << 20) return false;
            row[*n][at++] = v;
        } else if (c != ' ' && c != ',') return false;
        if (!depth) return false;
    }
    return false;
}

/* The division that the layout in `text` makes of a tile; a layout of fewer dimensions speaks of the last ones. */
static bool divide(pr_str text, int rank, const int64_t *shape, int n_ctas, division *d)
{
    static const char slice[] = "#ttg.slice<{dim = ";
    pr_str at = text;
    int length;
    *d = (division){ 0 };
    if (rank < 1 || rank > PR_SHM_RANK) return false;
    if (pr_str_starts(text, slice)) {                /* of a tile with one dimension more                   */
        int64_t wider[PR_SHM_RANK + 1];
        int gone = text.s[sizeof slice - 1] - '0';
        division whole;
        if (gone < 0 || gone > rank || rank == PR_SHM_RANK || !after(&at, "parent = ")) return false;
        for (int i = 0; i <= rank; i++) wider[i] = i == gone ? (int64_t)1 << 30 : shape[i - (i > gone)];
        if (!divide(at, rank + 1, wider, n_ctas, &whole)) return false;
        d->n = whole.n;
        for (int b = 0; b < whole.n; b++)
            for (int i = 0; i < rank; i++) d->base[b][i] = whole.base[b][i + (i >= gone)];
        return true;
    }
    if (pr_str_starts(text, "#ttg.dot_op<{")) return false;
    int64_t row[MOST_BASES][PR_SHM_RANK + 2];
    bool elements = false;
    if (!after(&at, "CGALayout = ")) {
        elements = (at = text, after(&at, "block = "));
        if (!elements) return false;
    }
    if (!rows_of(at, row, &d->n, &length) || 1 << d->n != n_ctas || length > rank) return false;
    for (int i = 0; i < length; i++) {
        int to = rank - length + i;
        int64_t parts = 1;
        for (int b = 0; b < d->n; b++) parts *= row[b][i] ? 2 : 1;
        for (int b = 0; b < d->n; b++) {
            int64_t v = row[b][i];
            if ((v & (v - 1)) || (!elements && v >= parts) || shape[to] % parts) return false;
            d->base[b][to] = elements ? v : v * (shape[to] / parts);
        }
    }
    for (int b = 0; b < d->n; b++) {                 /* one dimension each, no two alike                     */
        int moves = 0;
        for (int i = 0; i < rank; i++) moves += d->base[b][i] != 0;
        if (moves > 1) return false;
        for (int c = 0; c < b && moves; c++)
            if (!memcmp(d->base[b], d->base[c], sizeof d->base[b])) return false;
    }
    return true;
}

static bool division_of(const pr_shm_prog *p, const pr_type *t, division *d)
{
    if (!t || (t->kind != PR_TYPE_TENSOR && t->kind != PR_TYPE_MEMDESC)) return false;
    pr_str text = t->kind == PR_TYPE_TENSOR ? t->encoding : t->text;
    pr_str two = text;
    if (after(&two, "twoCTAs = true")) return false;
    return divide(text, t->rank, t->shape, p->n_ctas, d);
}

static bool divided_along(const division *d, int dim)
{
    for (int b = 0; b < d->n; b++)
        if (d->base[b][dim]) return true;
    return false;
}

int64_t pr_shm_cta_parts(const pr_shm_prog *p, const pr_type *t)
{
    division d;
    int64_t parts = 1;
    if (p->n_ctas == 1) return 1;
    if (!division_of(p, t, &d)) return 0;
    for (int b = 0; b < d.n; b++) {
        bool moves = false;
        for (int i = 0; i < t->rank; i++) moves = moves || d.base[b][i];
        parts *= moves ? 2 : 1;
    }
    return parts;
}

/* Does each CTA hold the same elements of both? */
static bool alike(const pr_shm_prog *p, const pr_type *a, const pr_type *b)
{
    division x, y;
    if (!division_of(p, a, &x) || !division_of(p, b, &y) || a->rank != b->rank) return false;
    return !memcmp(&x, &y, sizeof x);
}

static void refuse(pr_shm_prog *p, const pr_op *op, const char *why) { pr_shm_refuse(p, &p->refusals, PR_REFUSAL_MULTI_CTA, op, why); }

static const pr_type *operand(const pr_op *op, int i) { return i < op->n_operands ? op->operands[i]->type : NULL; }
static const pr_type *result(const pr_op *op) { return op->n_results ? op->results[0]->type : NULL; }

/* A view that keeps each CTA's part a part: of the leading dimensions, which a layout of fewer does not speak of, or undivided ones. */
static void view(pr_shm_prog *p, const pr_op *op)
{
    const pr_type *from = operand(op, 0), *to = result(op);
    division d, e;
    bool good = division_of(p, from, &d) && division_of(p, to, &e);
    const pr_attr *order = pr_op_attr(op, "order");
    int at[PR_SHM_RANK], lead = 0;
    for (int i = 0; good && i < to->rank; i++) at[i] = i;
    switch (op->opcode) {
    case PR_OP_TTG_MEMDESC_INDEX:
        good = good && from->rank == to->rank + 1 && !divided_along(&d, 0);
        lead = 1;
        break;
    case PR_OP_TTG_MEMDESC_SUBSLICE: case PR_OP_TTNG_TMEM_SUBSLICE:
        good = good && from->rank == to->rank;
        for (int i = 0; good && i < from->rank; i++) good = from->shape[i] == to->shape[i] || !divided_along(&d, i);
        break;
    case PR_OP_TTG_MEMDESC_TRANS:
        good = good && from->rank == to->rank && order && order->n_ints == to->rank;
        for (int i = 0; good && i < to->rank; i++) good = order->ints[i] >= 0 && order->ints[i] < from->rank && (at[i] = (int)order->ints[i], true);
        break;
    default: good = false;
    }
    for (int b = 0; good && b < d.n; b++)
        for (int i = 0; good && i < to->rank; i++) good = e.base[b][i] == d.base[b][at[i] + lead];
    if (!good) refuse(p, op, "several CTAs: which part of this view each of them has is not read");
}

/* One barrier for each CTA: as many as there are CTAs, the bit of a CTA's number the bit of its place. */
static void barrier(pr_shm_prog *p, const pr_op *op)
{
    const pr_type *t = operand(op, 0);
    division d;
    bool own = division_of(p, t, &d) && t->shape[t->rank - 1] == p->n_ctas;
    for (int b = 0; own && b < d.n; b++) own = d.base[b][t->rank - 1] == (int64_t)1 << b;
    if (!own) refuse(p, op, "several CTAs: a barrier that they share");
}

static void check(pr_shm_prog *p, const pr_op *op)
{
    static const char *const apart = "several CTAs: threads may access shared memory of another one, or its layout is not read";
    const pr_type *first = operand(op, 0), *second = operand(op, 1), *made = result(op);
    if (pr_shm_is_view(op->opcode)) {
        view(p, op);
        return;
    }
    switch (op->opcode) {
    case PR_OP_TTG_LOCAL_ALLOC: case PR_OP_TTNG_TMEM_ALLOC:
        if (!pr_shm_cta_parts(p, made)) refuse(p, op, "several CTAs: which part of this allocation each of them has is not read");
        else if (first && first->kind == PR_TYPE_TENSOR && !alike(p, first, made)) refuse(p, op, apart);
        break;
    case PR_OP_TTG_LOCAL_LOAD: case PR_OP_TTNG_TMEM_LOAD:
        if (!alike(p, first, made)) refuse(p, op, apart);
        break;
    case PR_OP_TTG_LOCAL_STORE: case PR_OP_TTG_ASYNC_COPY_GLOBAL_TO_LOCAL: case PR_OP_TTNG_TMEM_STORE:
        if (!alike(p, first, second)) refuse(p, op, apart);
        break;
    case PR_OP_TTG_CONVERT_LAYOUT:
        if (!alike(p, first, made)) refuse(p, op, "several CTAs: a layout conversion that may exchange data between them");
        break;
    case PR_OP_TT_REDUCE: case PR_OP_TT_SCAN: {
        pr_i128 axis = pr_op_attr_int(op, "axis", -1);
        for (int i = 0; i < op->n_operands; i++) {
            division d;
            const pr_type *t = operand(op, i);
            if (division_of(p, t, &d) && axis >= 0 && axis < t->rank && !divided_along(&d, (int)axis)) continue;
            refuse(p, op, "several CTAs: a reduction or scan that may go across them");
            return;
        }
        break;
    }
    case PR_OP_TT_HISTOGRAM: case PR_OP_TT_GATHER: case PR_OP_TT_ATOMIC_RMW: case PR_OP_TT_ATOMIC_CAS: case PR_OP_TT_CALL:
    case PR_OP_TTG_LOCAL_GATHER: case PR_OP_TTG_LOCAL_SCATTER: case PR_OP_TTG_LOCAL_ATOMIC_SCATTER_RMW:
        refuse(p, op, "several CTAs: an operation that may exchange data between them");
        break;
    case PR_OP_TTNG_INIT_BARRIER: barrier(p, op); break;
    case PR_OP_TTNG_CLC_TRY_CANCEL: case PR_OP_TTNG_CLC_LOAD_RESULT: refuse(p, op, "several CTAs: cluster launch control"); break;
    case PR_OP_TTNG_TC_GEN5_COMMIT:
        for (int i = 1; i < op->n_operands; i++)
            if (operand(op, i) && operand(op, i)->kind == PR_TYPE_MEMDESC) {
                refuse(p, op, "several CTAs: a commit that signals others");
                break;
            }
        break;
    default: break;
    }
}

static void within(pr_shm_prog *p, const pr_region *r)
{
    for (int b = 0; r && b < r->n_blocks; b++) {
        for (int i = 0; i < r->blocks[b]->n_ops; i++) {
            const pr_op *op = r->blocks[b]->ops[i];
            check(p, op);
            for (int k = 0; k < op->n_regions; k++) within(p, op->regions[k]);
        }
    }
}

void pr_shm_ctas(pr_shm_prog *p)
{
    if (p->n_ctas < 2 || p->n_ctas > 1 << MOST_BASES || (p->n_ctas & (p->n_ctas - 1))) {
        refuse(p, p->func, "the kernel has several CTAs a program");
        return;
    }
    within(p, p->func->regions[0]);
    for (int i = 0; i < p->allocs.n; i++) {          /* a tile's bytes are divided: where one ends is not said        */
        pr_shm_alloc *a = &p->allocs.data[i];
        a->offset = a->col = -1;
        if (a->barrier) a->shape[a->rank - 1] = 1;
    }
}
