/* Exhaustive evaluation: does any instance, or pair of instances, satisfy the query?
 *
 * Exact for every operation, when all variables are bounded and the instances of both copies together are at
 * most 2^20. Where tables are read (few of the instances that the intervals allow exist: lengths come from the
 * table) conjuncts cut the walk as soon as their variables have values, and 2^20 counts the prefixes visited.
 * Pairs are joined by address, so the cost is that of the instances and of the actual overlaps.
 * EMPTY needs every evaluation to have had a value. decision-engine.md 3.7. */
#include "pre/tape.h"
#include "pre/space.h"

typedef struct walker {
    int n, *at;                  /* positions of the variables, the last runs fastest             */
    const pr_i128 *lo, *hi;
    pr_i128 points;
    pr_tape **cut; int **slot, *n_slot; /* by level: conjuncts that are decided there               */
    int64_t *left;               /* prefixes that may still be visited                             */
} walker;

/* Variables of one side; false when one has no bound. */
static bool side_vars(const pr_query *q, const int8_t *side, int which, const pr_i128 *lo,
                      const pr_i128 *hi, pr_arena *scratch, int64_t *left, walker *w)
{
    *w = (walker){ .at = PR_NEW_N(scratch, int, q->n_vars + 1), .lo = lo, .hi = hi, .points = 1, .left = left };
    for (int i = 0; i < q->n_vars; i++) {
        if (side && side[i] != which) continue;
        if (pr_is_inf(lo[i]) || pr_is_inf(hi[i])) return false;
        w->at[w->n++] = i;
        w->points = hi[i] < lo[i] ? 0 : pr_sat_mul(w->points, hi[i] - lo[i] + 1);
    }
    return true;
}

typedef struct mentions { const pr_query *q; const walker *w; int deepest; bool foreign; } mentions;

static void look(void *user, pr_term t)
{
    mentions *m = user;
    if (pr_term_op_of(m->q->terms, t) != PR_TERM_OP_VAR) return;
    pr_var v = pr_term_var(m->q->terms, t);
    for (int i = 0; i < m->w->n; i++)
        if (m->q->vars[m->w->at[i]].id == v.id) {
            if (i > m->deepest) m->deepest = i;
            return;
        }
    m->foreign = true;
}

/* Conjuncts over the walker's variables alone, each at the level of its last variable. */
static void cut_early(const pr_query *q, const pr_term *conj, int n, pr_arena *scratch, walker *w)
{
    w->cut = pr_arena_alloc(scratch, sizeof *w->cut * (size_t)(w->n + 1));
    w->slot = pr_arena_alloc(scratch, sizeof *w->slot * (size_t)(w->n + 1));
    w->n_slot = PR_NEW_N(scratch, int, w->n + 1);
    for (int i = 0; i < n; i++) {
        mentions m = { q, w, -1, false };
        pr_term_visit(q->terms, conj[i], look, &m);
        if (m.foreign || m.deepest < 0 || m.deepest == w->n - 1) continue;
        int d = m.deepest;
        if (!w->cut[d]) {
            w->cut[d] = pr_tape_new(scratch, q);
            w->slot[d] = PR_NEW_N(scratch, int, n + 1);
        }
        int slot = pr_tape_add(w->cut[d], conj[i]);
        if (slot < 0) {          /* a full tape answers nothing */
            w->cut[d] = NULL;
            w->n_slot[d] = 0;
            continue;
        }
        w->slot[d][w->n_slot[d]++] = slot;
    }
}

static bool passes(walker *w, int level, const pr_i128 *at)
{
    if (!w->cut || !w->cut[level] || !w->n_slot[level]) return true;
    pr_tape_run(w->cut[level], at);
    for (int i = 0; i < w->n_slot[level]; i++) {
        pr_i128 v;
        if (pr_tape_value(w->cut[level], w->slot[level][i], &v) && !v) return false;
    }
    return true;
}

/* The next instance, counting from a change of the variable at this level. False: none, or *left is 0. */
static bool settle_from(walker *w, pr_i128 *at, int level)
{
    while (level < w->n) {
        if (*w->left <= 0) return false;
        --*w->left;
        if (passes(w, level, at)) {
            if (++level < w->n) at[w->at[level]] = w->lo[w->at[level]];
            continue;
        }
        while (level >= 0 && at[w->at[level]] >= w->hi[w->at[level]]) level--;
        if (level < 0) return false;
        at[w->at[level]]++;
    }
    return true;
}

static bool first(walker *w, pr_i128 *at)
{
    if (w->points == 0) return false;
    if (w->n == 0) return true;
    at[w->at[0]] = w->lo[w->at[0]];
    return settle_from(w, at, 0);
}

static bool next(walker *w, pr_i128 *at)
{
    int level = w->n - 1;
    while (level >= 0 && at[w->at[level]] >= w->hi[w->at[level]]) level--;
    if (level < 0) return false;
    at[w->at[level]]++;
    return settle_from(w, at, level);
}

static bool is_entry(void *user, const pr_terms *T, pr_term t)
{
    (void)user;
    return pr_term_op_of(T, t) == PR_TERM_OP_TABLE;
}

/* May the walk go through more combinations than the limit, since most are cut off? */
static bool reads_tables(const pr_query *q)
{
    for (int i = 0; i < q->n_core; i++)
        if (pr_term_any(q->terms, q->core[i], is_entry, NULL)) return true;
    return false;
}

static bool within(const pr_query *q, pr_i128 combinations, int64_t limit)
{
    return combinations <= limit || (combinations < (pr_i128)1 << 48 && reads_tables(q));
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
    walker w;
    int64_t left = 2 * limit;
    pr_i128 *at = PR_NEW_N(scratch, pr_i128, q->n_vars + 1);
    pr_tape *t = pr_tape_new(scratch, q);
    PR_VEC(int) slots = { 0 };
    bool unsure = false;
    if (!pr_term_none(q->addr[0]) || q->n_distinct) return;
    if (!side_vars(q, NULL, 0, lo, hi, scratch, &left, &w) || !within(q, w.points, limit)) return;
    if (w.points > limit) cut_early(q, q->core, q->n_core, scratch, &w);
    for (int i = 0; i < q->n_core + q->n_premises; i++) {
        int slot = pr_tape_add(t, i < q->n_core ? q->core[i] : q->premises[i - q->n_core]);
        if (slot < 0) return;
        pr_vec_push(scratch, &slots, slot);
    }
    for (bool more = first(&w, at); more; more = next(&w, at)) {
        pr_tape_run(t, at);
        ++*work;
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
    settle(unsure, left <= 0, out);
}

/* Values of A's variables of the instance with this number. */
static void unrank(const walker *w, uint64_t number, pr_i128 *at)
{
    for (int i = w->n - 1; i >= 0; i--) {
        int v = w->at[i];
        uint64_t size = (uint64_t)(w->hi[v] - w->lo[v] + 1);
        at[v] = w->lo[v] + (pr_i128)(number % size);
        number /= size;
    }
}

static uint64_t rank_of(const walker *w, const pr_i128 *at)
{
    uint64_t number = 0;
    for (int i = 0; i < w->n; i++) {
        int v = w->at[i];
        number = number * (uint64_t)(w->hi[v] - w->lo[v] + 1) + (uint64_t)(at[v] - w->lo[v]);
    }
    return number;
}

static void enumerate(const pr_query *q, const pr_limits *limits, pr_arena *scratch, uint64_t *work,
                      pr_outcome *out)
{
    int64_t limit = pr_pre_limit(limits->enumerate, PR_PRE_ENUM), looked = 0, left = 2 * limit;
    pr_i128 *lo = PR_NEW_N(scratch, pr_i128, q->n_vars + 1),
            *hi = PR_NEW_N(scratch, pr_i128, q->n_vars + 1);
    pr_i128 *at = PR_NEW_N(scratch, pr_i128, q->n_vars + 1);
    walker w[3];
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
        if (!side_vars(q, x.side, c, lo, hi, scratch, &left, &w[c])) return;
    pr_i128 combinations = pr_sat_mul(w[2].points, pr_sat_up(w[0].points, w[1].points));
    if (!within(q, combinations, limit)) return;
    if (w[0].points == 0 || w[1].points == 0 || w[2].points == 0) {
        settle(false, false, out);
        return;
    }
    if (combinations > limit) {
        cut_early(q, q->core, q->n_core_a, scratch, &w[0]);
        cut_early(q, q->core + q->n_core_a, q->n_core_b, scratch, &w[1]);
    } else {
        left = INT64_MAX;
    }
    int unit = q->width[0] > q->width[1] ? q->width[0] : q->width[1];
    uint32_t cap = (uint32_t)(w[0].points < limit ? w[0].points : limit);
    pr_hits h;
    pr_hits_init(&h, scratch, cap, unit);
    uint64_t *number = PR_NEW_N(scratch, uint64_t, (size_t)cap + 1);
    for (bool shared = first(&w[2], at); shared; shared = next(&w[2], at)) {
        pr_hits_clear(&h);
        if (limits->interrupt && *limits->interrupt) {
            out->why = PR_REFUSAL_TIMEOUT;
            return;
        }
        for (bool more = first(&w[0], at); more; more = next(&w[0], at)) {
            pr_i128 address;
            pr_tri r = pr_trio_copy(&x, 0, at, &address);
            ++*work;
            unsure |= r == PR_MAYBE;
            if (r != PR_YES) continue;
            if (h.n == cap) {
                settle(false, true, out);
                return;
            }
            number[h.n] = rank_of(&w[0], at);
            pr_hits_put(&h, address);
        }
        if (h.n == 0 && !unsure && left > 0) continue;
        for (bool more = first(&w[1], at); more; more = next(&w[1], at)) {
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
                    unrank(&w[0], number[e - 1], at);
                    r = pr_trio_both(&x, at);
                    if (r == PR_YES && pr_query_holds(q, &(pr_point){ at, q->n_vars }) == PR_YES) {
                        witness(q, at, out);
                        return;
                    }
                    unsure |= r != PR_NO;
                }
        }
    }
    settle(unsure, left <= 0, out);
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
