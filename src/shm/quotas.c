/* Every phase of every barrier gets exactly the arrivals and bytes that it needs, and no phase gets some while the one
 * before it stays incomplete: the phases are cut into pieces of equal sums. */
#include "shm/prover.h"

pr_rel pr_prove_shift_back(prover *q, int alloc)       /* P[.., s, n] -> P[.., s, n - 1], n >= 1 */
{
    int where[PR_SHM_LOOPS], depth = pr_prove_coordinates(q, alloc, where);
    pr_var in[PR_SHM_LOOPS + 2], out[PR_SHM_LOOPS + 2];
    pr_term conj[PR_SHM_LOOPS + 4];
    const char *tuple = pr_arena_printf(q->arena, "P%d", alloc);
    int n = 0;
    for (int i = 0; i < depth + 2; i++) {
        for (int side = 0; side < 2; side++) {
            pr_var_info info = { .role = PR_ROLE_OTHER, .index = 7000000 + i + side * 100, .copy = PR_COPY_NONE,
                                 .lo = -PR_INF, .hi = PR_INF, .name = pr_arena_printf(q->arena, "ph%d_%d", i, side) };
            (side ? out : in)[i] = pr_var_new(q->T, info);
        }
        pr_term a = pr_var_term(q->T, in[i]), b = pr_var_term(q->T, out[i]);
        conj[n++] = pr_eq(q->T, i == depth + 1 ? pr_sub(q->T, a, pr_const(q->T, 1)) : a, b);
        if (i == depth + 1) conj[n++] = pr_le(q->T, PR_TERM_ZERO, b);
    }
    return pr_rel_make(q->R, tuple, in, depth + 2, tuple, out, depth + 2, NULL, 0,
                       conj, n);
}

int64_t pr_prove_weight(const pr_shm_event *e)
{
    switch (e->kind) {
    case PR_SHM_EV_ARRIVE: return e->count;
    case PR_SHM_EV_EXPECT: case PR_SHM_EV_TC: case PR_SHM_EV_TC_COMMIT: return 1;
    case PR_SHM_EV_CP_ARRIVE: return e->count;
    default: return 0;
    }
}
static int64_t bytes(const pr_shm_event *e)
{
    return e->kind == PR_SHM_EV_EXPECT ? e->bytes : e->kind == PR_SHM_EV_TMA_LOAD ? -e->bytes : 0;
}

typedef struct piece { pr_rel set; int64_t weight, bytes; } piece;
enum { MAX_PIECES = 32 };

bool pr_prove_quotas(prover *q, int alloc)
{
    piece pieces[MAX_PIECES];
    int n = 0;
    int64_t count = -1;
    const pr_op *op = q->p->allocs.data[alloc].op;
    pr_rel covered = pr_rel_none(q->R), waited = pr_rel_none(q->R);
    for (int e = 0; e < q->n; e++) {
        const pr_shm_event *x = &q->ev[e];
        if (x->kind == PR_SHM_EV_INIT && x->bar[0].alloc == alloc) {
            if (count >= 0 && count != x->count) {
                pr_prove_give_up(q, PR_REFUSAL_ARRIVAL_QUOTA, x->op, "barriers of one array have different arrival counts");
                return false;
            }
            count = x->count;
        }
    }
    for (int e = 0; e < q->n; e++) {
        const pr_shm_event *x = &q->ev[e];
        for (int b = 0; b < x->n_bar; b++) {
            pr_rel r = q->arr[e * PR_SHM_BARS + b];
            if (x->bar[b].alloc != alloc || x->kind == PR_SHM_EV_INIT || x->kind == PR_SHM_EV_INVAL) continue;
            if (x->kind == PR_SHM_EV_WAIT) {
                waited = pr_rel_union(q->R, waited, pr_rel_range(q->R, r));
                continue;
            }
            pr_rel once = pr_prove_flat_at(q, x) < 0 ? r : pr_prove_alone(q, e, b, q->phase[e * PR_SHM_BARS + b]);
            if (!pr_prove_holds(q, pr_rel_is_injective(q->R, once), r, PR_REFUSAL_ARRIVAL_QUOTA, x->op,
                       "this operation arrives several times in one phase of its barrier"))
                return false;
            if (x->kind == PR_SHM_EV_TMA_LOAD && x->bytes < 0) {
                pr_prove_give_up(q, PR_REFUSAL_LAYOUT, x->op, "the bytes of this copy are not known");
                return false;
            }
            pr_rel range = pr_rel_range(q->R, r);
            int now = n;
            for (int i = 0; i <= now; i++) {
                piece one = i < now ? pieces[i] : (piece){ pr_rel_minus(q->R, range, covered), 0, 0 };
                pr_rel in = i < now ? pr_rel_meet(q->R, one.set, range) : one.set;
                pr_tri empty = pr_rel_is_empty(q->R, in);
                if (empty == PR_MAYBE) return pr_prove_holds(q, PR_MAYBE, in, PR_REFUSAL_UNKNOWN, x->op, "");
                if (empty == PR_YES) continue;
                if (i < now) {
                    pieces[i].set = pr_rel_minus(q->R, one.set, range);
                    if (n == MAX_PIECES) {
                        pr_prove_give_up(q, PR_REFUSAL_ARRIVAL_QUOTA, op, "too many combinations of arrivals");
                        return false;
                    }
                }
                if (n < MAX_PIECES)
                    pieces[n++] = (piece){ in, one.weight + pr_prove_weight(x), one.bytes + bytes(x) };
            }
            covered = pr_rel_union(q->R, covered, range);
        }
    }
    pr_rel full = pr_rel_none(q->R);
    for (int i = 0; i < n; i++) {
        if (pieces[i].weight == count && pieces[i].bytes == 0) full = pr_rel_union(q->R, full, pieces[i].set);
        else if (pieces[i].weight > count
                 && !pr_prove_holds(q, pr_rel_is_empty(q->R, pieces[i].set), pieces[i].set, PR_REFUSAL_ARRIVAL_QUOTA, op,
                           "more arrivals in one phase than the barrier was initialised for"))
            return false;
    }
    pr_rel starved = pr_rel_minus(q->R, waited, full);
    if (!pr_prove_holds(q, pr_rel_is_empty(q->R, starved), starved, PR_REFUSAL_ARRIVAL_QUOTA, op,
               "some wait is for a phase whose arrivals or bytes are not complete"))
        return false;
    pr_rel back = pr_rel_then(q->R, covered, pr_prove_shift_back(q, alloc)), gap = pr_rel_minus(q->R, pr_rel_range(q->R, back), full);
    return pr_prove_holds(q, pr_rel_is_empty(q->R, gap), gap, PR_REFUSAL_ARRIVAL_QUOTA, op,
                 "some phase gets arrivals while the one before it stays incomplete");
}

/* Is the barrier made again when it is over: in its next life, or in the next iteration of a loop? */
bool pr_prove_made_again(prover *q, int alloc)
{
    const pr_shm_alloc *a = &q->p->allocs.data[alloc];
    bool again = pr_prove_depth(q, alloc) || a->copy;
    for (int i = 0; i < q->p->allocs.n && !again; i++) again = i != alloc && q->p->allocs.data[i].op == a->op;
    return again;
}
