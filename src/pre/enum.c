/* Exhaustive evaluation: does any instance, or pair of instances, satisfy the query?
 *
 * Exact for every operation, when all variables are bounded and the instances of both copies together are at
 * most 2^20. Pairs are joined by address, so the cost is that of the instances and of the actual overlaps.
 * EMPTY needs every evaluation to have had a value. decision-engine.md 3.7. */
#include "pre/tape.h"
#include "pre/space.h"

typedef struct odometer {
    int n, *at;
    const pr_i128 *lo, *hi;
} odometer;

/* Variables of one side, the last runs fastest; false when one has no bound. */
static bool side_vars(const pr_query *q, const int8_t *side, int which, const pr_i128 *lo,
                      const pr_i128 *hi, pr_arena *scratch, odometer *o, pr_i128 *points)
{
    *o = (odometer){ .at = PR_NEW_N(scratch, int, q->n_vars + 1), .lo = lo, .hi = hi };
    *points = 1;
    for (int i = 0; i < q->n_vars; i++) {
        if (side && side[i] != which) continue;
        if (pr_is_inf(lo[i]) || pr_is_inf(hi[i])) return false;
        o->at[o->n++] = i;
        *points = hi[i] < lo[i] ? 0 : pr_sat_mul(*points, hi[i] - lo[i] + 1);
    }
    return true;
}

static void first(const odometer *o, pr_i128 *at)
{
    for (int i = 0; i < o->n; i++) at[o->at[i]] = o->lo[o->at[i]];
}

static bool next(const odometer *o, pr_i128 *at)
{
    for (int i = o->n - 1; i >= 0; i--) {
        int v = o->at[i];
        if (at[v] < o->hi[v]) {
            at[v]++;
            return true;
        }
        at[v] = o->lo[v];
    }
    return false;
}

static void witness(const pr_query *q, const pr_i128 *at, pr_outcome *out)
{
    *out = (pr_outcome){ .answer = PR_ANSWER_WITNESS,
                         .evidence = "enumeration",
                         .point = { (pr_i128 *)at, q->n_vars } };
}

static void settle(bool unsure, bool over, pr_outcome *out)
{
    if (!unsure && !over) {
        *out = (pr_outcome){ .answer = PR_ANSWER_EMPTY, .evidence = "enumeration" };
        return;
    }
    pr_pre_unknown(
        over ? "too many overlapping instances to enumerate" : "an instance leaves 128 bits", out);
    if (over) out->why = PR_REFUSAL_BUDGET;
}

static void one_copy(const pr_query *q, const pr_i128 *lo, const pr_i128 *hi, int64_t limit,
                     pr_arena *scratch, uint64_t *work, pr_outcome *out)
{
    odometer o;
    pr_i128 points, *at = PR_NEW_N(scratch, pr_i128, q->n_vars + 1);
    pr_tape *t = pr_tape_new(scratch, q);
    PR_VEC(int) slots = { 0 };
    bool unsure = false;
    if (!pr_term_none(q->addr[0]) || q->n_distinct) return;
    if (!side_vars(q, NULL, 0, lo, hi, scratch, &o, &points) || points > limit) return;
    for (int i = 0; i < q->n_core + q->n_premises; i++) {
        int slot = pr_tape_add(t, i < q->n_core ? q->core[i] : q->premises[i - q->n_core]);
        if (slot < 0) return;
        pr_vec_push(scratch, &slots, slot);
    }
    first(&o, at);
    for (bool more = points > 0; more; more = next(&o, at)) {
        ++*work;
        pr_tape_run(t, at);
        pr_tri r = PR_YES;
        for (int i = 0; i < slots.n && r != PR_NO; i++) {
            pr_i128 v;
            if (!pr_tape_value(t, slots.data[i], &v)) r = PR_MAYBE;
            else if (!v) r = PR_NO;
        }
        if (r == PR_YES && pr_query_holds(q, &(pr_point){ at, q->n_vars }) == PR_YES) {
            witness(q, at, out);
            return;
        }
        unsure |= r != PR_NO;
    }
    settle(unsure, false, out);
}

/* Values of A's variables of the instance with this number. */
static void unrank(const odometer *o, uint32_t number, pr_i128 *at)
{
    uint64_t rest = number;
    for (int i = o->n - 1; i >= 0; i--) {
        int v = o->at[i];
        uint64_t size = (uint64_t)(o->hi[v] - o->lo[v] + 1);
        at[v] = o->lo[v] + (pr_i128)(rest % size);
        rest /= size;
    }
}

static void enumerate(const pr_query *q, const pr_limits *limits, pr_arena *scratch, uint64_t *work,
                      pr_outcome *out)
{
    int64_t limit = pr_pre_limit(limits->enumerate, PR_PRE_ENUM), looked = 0;
    pr_i128 *lo = PR_NEW_N(scratch, pr_i128, q->n_vars + 1),
            *hi = PR_NEW_N(scratch, pr_i128, q->n_vars + 1);
    pr_i128 *at = PR_NEW_N(scratch, pr_i128, q->n_vars + 1), points[3];
    odometer o[3];
    pr_trio x;
    bool unsure = false;
    pr_pre_unknown("too many instances to enumerate", out);
    for (int i = 0; i < q->n_vars; i++) {
        const pr_var_info *v = pr_var_get(q->terms, q->vars[i]);
        lo[i] = v->lo;
        hi[i] = v->hi;
    }
    for (int i = 0; i < q->n_core; i++)
        if (pr_term_is(q->core[i], PR_TERM_FALSE)) { /* nothing to enumerate, however many instances */
            settle(false, false, out);
            return;
        }
    if (!q->is_pair) {
        one_copy(q, lo, hi, limit, scratch, work, out);
        return;
    }
    if (!pr_trio_make(&x, q, scratch)) return;
    for (int c = 0; c < 3; c++)
        if (!side_vars(q, x.side, c, lo, hi, scratch, &o[c], &points[c])) return;
    if (pr_sat_mul(points[2], pr_sat_up(points[0], points[1])) > limit) return;
    if (points[0] == 0 || points[1] == 0 || points[2] == 0) {
        settle(false, false, out);
        return;
    }
    int unit = q->width[0] > q->width[1] ? q->width[0] : q->width[1];
    pr_hits h;
    pr_hits_init(&h, scratch, (uint32_t)points[0], unit);
    uint32_t *number = PR_NEW_N(scratch, uint32_t, (size_t)points[0] + 1);
    first(&o[2], at);
    for (bool shared = true; shared; shared = next(&o[2], at)) {
        uint32_t i = 0;
        pr_hits_clear(&h);
        if (limits->interrupt && *limits->interrupt) {
            out->why = PR_REFUSAL_TIMEOUT;
            return;
        }
        first(&o[0], at);
        for (bool more = true; more; more = next(&o[0], at), i++) {
            pr_i128 address;
            pr_tri r = pr_trio_copy(&x, 0, at, &address);
            ++*work;
            unsure |= r == PR_MAYBE;
            if (r != PR_YES) continue;
            number[h.n] = i;
            pr_hits_put(&h, address);
        }
        if (h.n == 0 && !unsure) continue;
        first(&o[1], at);
        for (bool more = true; more; more = next(&o[1], at)) {
            pr_i128 address, d;
            pr_tri r = pr_trio_copy(&x, 1, at, &address);
            ++*work;
            unsure |= r == PR_MAYBE;
            if (r != PR_YES) continue;
            for (int step = -1; step <= 1; step++)
                for (uint32_t e = pr_hits_first(&h, address, step); e; e = h.next[e - 1]) {
                    if (++looked > limit) {
                        settle(false, true, out);
                        return;
                    }
                    if (!pr_sub_ok(h.address[e - 1], address, &d) || d >= q->width[1] ||
                        -d >= q->width[0])
                        continue;
                    unrank(&o[0], number[e - 1], at);
                    r = pr_trio_both(&x, at);
                    if (r == PR_YES && pr_query_holds(q, &(pr_point){ at, q->n_vars }) == PR_YES) {
                        witness(q, at, out);
                        return;
                    }
                    unsure |= r != PR_NO;
                }
        }
    }
    settle(unsure, false, out);
}

static void decide(pr_engine_ctx *ctx, const pr_query *q, const pr_limits *limits,
                   pr_arena *scratch, pr_outcome *out)
{
    uint64_t work = 0;
    (void)ctx;
    enumerate(q, limits, scratch, &work, out);
    out->cost = work;
}

const pr_engine *pr_engine_enum(void)
{
    static const pr_engine engine = {
        .name = "enum",
        .accepts = ~0u,
        .decide = decide,
        .open = pr_pre_open,
        .close = pr_pre_close,
        .dump = pr_pre_dump,
        .version = pr_pre_version,
    };
    return &engine;
}
