/* front/interp_cond: random conditions of few bits against what all values of their leaves make of them, with the arithmetic of the evaluator.
 *
 *   test_interp_cond [ROUNDS [SEED]] */
#include <stdlib.h>
#include "check.h"
#include "front/interp_core.h"
#include "front/interp_cond.h"

static uint64_t state;
static int below(int n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)n);
}

static const int binary[] = {PR_OP_ARITH_ADDI, PR_OP_ARITH_SUBI, PR_OP_ARITH_MULI, PR_OP_ARITH_ANDI, PR_OP_ARITH_ORI, PR_OP_ARITH_XORI, PR_OP_ARITH_DIVSI,
                             PR_OP_ARITH_DIVUI, PR_OP_ARITH_FLOORDIVSI, PR_OP_ARITH_REMSI, PR_OP_ARITH_REMUI, PR_OP_ARITH_SHRUI};

/* Leaves, constants and operations of w bits, now and then a detour through more or fewer bits, and a comparison. */
static void make(pr_wait_expr *e, int w)
{
    *e = (pr_wait_expr){.n_leaves = 2, .width = {w, w}};
    for (int i = 0; i < 2; i++) e->node[e->n++] = (pr_wait_node){.op = PR_WAIT_LEAF, .w = w, .a = i};
    for (int k = 1 + below(6); k > 0; k--) {
        int a = below(e->n), b = below(e->n);
        if (below(3) == 0) {
            uint64_t one = (uint64_t)1 << below(w), x = below(2) ? one : (uint64_t)below(1 << w);
            e->node[e->n++] = (pr_wait_node){.op = PR_WAIT_CONST, .w = w, .x = below(4) ? x : (uint64_t)below(4)};
        } else if (below(6) == 0) {
            int more = w + 1 + below(3), op = below(3) ? below(2) ? PR_OP_ARITH_EXTUI : PR_OP_ARITH_EXTSI : PR_OP_ARITH_TRUNCI;
            if (op == PR_OP_ARITH_TRUNCI) more = 1 + below(w - 1);
            if (e->node[a].w != w) continue;
            e->node[e->n++] = (pr_wait_node){.op = op, .w = more, .from = w, .a = a, .b = -1};
        } else {
            if (e->node[a].w != e->node[b].w) continue;
            int op = binary[below((int)(sizeof binary / sizeof *binary))];
            e->node[e->n++] = (pr_wait_node){.op = op, .w = e->node[a].w, .from = e->node[a].w, .a = a, .b = b};
        }
    }
    int a = e->n - 1, b = below(e->n);
    while (e->node[b].w != e->node[a].w) b = below(e->n);
    e->node[e->n++] = (pr_wait_node){.op = PR_OP_ARITH_CMPI, .w = 1, .from = e->node[a].w, .a = below(2) ? a : b, .b = below(2) ? b : a, .c = below(10)};
}

static bool value(const pr_wait_expr *e, const uint64_t *leaf)
{
    uint64_t v[PR_WAIT_NODES] = {0};
    for (int i = 0; i < e->n; i++) {
        const pr_wait_node *n = &e->node[i];
        bool ub = false;
        if (n->op == PR_WAIT_CONST) v[i] = n->x;
        else if (n->op == PR_WAIT_LEAF) v[i] = leaf[n->a];
        else if (n->op == PR_OP_ARITH_CMPI) v[i] = pr_arith_compare(n->c, n->from, v[n->a], v[n->b]);
        else if (n->b < 0) CHECK(pr_arith_unary(n->op, n->from, n->w, v[n->a], &v[i]));
        else CHECK(pr_arith_binary(n->op, n->w, v[n->a], v[n->b], &v[i], &ub));
        v[i] &= pr_bits_mask(n->w);
    }
    return v[e->n - 1] != 0;
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 100000, sharp = 0;
    state = argc > 2 ? (uint64_t)atol(argv[2]) : 1;
    for (long r = 0; r < rounds; r++) {
        pr_wait_expr e;
        int w = 2 + below(4);
        bool can[2] = {false, false};
        pr_span span[PR_WAIT_LEAVES] = {{0, 0}};
        make(&e, w);
        for (int i = 0; i < 2; i++) {
            span[i].lo = below(5 << w) - (2 << w);
            span[i].hi = span[i].lo + (below(3) ? below(1 << w) : below(3));
        }
        for (pr_i128 a = span[0].lo; a <= span[0].hi; a++)
            for (pr_i128 b = span[1].lo; b <= span[1].hi; b++) {
                uint64_t leaf[2] = {(uint64_t)a & pr_bits_mask(w), (uint64_t)b & pr_bits_mask(w)};
                can[value(&e, leaf)] = true;
            }
        for (int want = 0; want < 2; want++) {
            bool said = pr_wait_may_be(&e, span, want);
            CHECK(said || !can[want]);
            sharp += said == can[want];
        }
    }
    printf("%ld conditions, %.1f %% of the answers exact\n", rounds, 50.0 * (double)sharp / (double)rounds);
    CHECK(sharp > rounds * 2 * 7 / 10);
    /* a barrier whose counter wraps: half the range and what turns it */
    pr_wait_expr flip = {.n = 6, .n_leaves = 2, .width = {32, 32}, .node = {
        {.op = PR_WAIT_LEAF, .w = 32, .a = 0}, {.op = PR_WAIT_LEAF, .w = 32, .a = 1}, {.op = PR_OP_ARITH_XORI, .w = 32, .a = 0, .b = 1},
        {.op = PR_WAIT_CONST, .w = 32, .x = 0x80000000u}, {.op = PR_OP_ARITH_ANDI, .w = 32, .a = 2, .b = 3}, {.op = PR_WAIT_CONST, .w = 32}}};
    flip.node[flip.n++] = (pr_wait_node){.op = PR_OP_ARITH_CMPI, .w = 1, .from = 32, .a = 4, .b = 5, .c = 0};
    const pr_i128 half = (pr_i128)1 << 31;
    pr_span early[PR_WAIT_LEAVES] = {{1, half - 1}, {0, half - 1}}, last[PR_WAIT_LEAVES] = {{1, half}, {0, half - 1}};
    pr_span wrapped[PR_WAIT_LEAVES] = {{3 * half, 4 * half - 1}, {3 * half + 5, 4 * half - 1}}, unknown[PR_WAIT_LEAVES] = {{1, 2}, {1, 0}};
    CHECK(!pr_wait_may_be(&flip, early, false) && pr_wait_may_be(&flip, early, true));
    CHECK(pr_wait_may_be(&flip, last, false) && pr_wait_may_be(&flip, last, true));
    CHECK(!pr_wait_may_be(&flip, wrapped, false) && pr_wait_may_be(&flip, unknown, false));
    return check_done();
}
