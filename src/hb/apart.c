/* Pairs whose addresses are apart, seen from the two addresses alone and before a query is made: what the first
 * tests of src/pre say, with the facts of each access gathered once and not once a pair. A kernel with n accesses
 * has n*n pairs.
 *
 * An address is split into `uniform` (only parameters below), program ids with constant factors, and a rest of
 * which the unconditional interval counts:  addr = uniform + sum factor[d]*pid[d] + rest.
 *
 *   threads of one program   the ids are one value; same uniform part and same factors: the difference of the
 *                            addresses is that of the rests. Disjoint byte intervals never meet.
 *   different programs       one axis d has more than one program, both accesses have the same factor S there, and
 *                            the hull of both rests, width included, is at most |S| long: an overlap forces equal
 *                            ids on d, and then the programs are the same.
 *
 * Everything else, masks and orders included, is left to the query. */
#include "hb/ladder.h"

static bool beyond_parameters(void *user, const pr_terms *T, pr_term t)
{
    (void)user;
    switch (pr_term_op_of(T, t)) {
    case PR_TERM_OP_VAR: return pr_var_get(T, pr_term_var(T, t))->role != PR_ROLE_PARAM;
    case PR_TERM_OP_APP: return true;
    default: return false;
    }
}

static bool within(pr_interval x)
{
    const pr_i128 most = (pr_i128)1 << 100;
    return x.lo > -most && x.hi < most;
}

/* One summand; false when its interval is open. */
static bool add_part(pr_encoding *e, const pr_side *s, pr_apart *f, pr_term t, pr_i128 c, pr_term *uniform, pr_i128 *coef, int *n)
{
    const pr_i128 most = (pr_i128)1 << 60;
    if (c >= most || c <= -most) return false;
    for (int d = 0; d < 3; d++)
        if (pr_term_is(t, s->pid[d])) {
            f->factor[d] = c;
            return true;
        }
    if (!pr_term_any(e->terms, t, beyond_parameters, NULL)) {
        uniform[*n] = t;
        coef[(*n)++] = c;
        return true;
    }
    pr_interval r = pr_range(e->box, t);
    const pr_i128 wide = (pr_i128)1 << 66;
    if (r.lo <= -wide || r.hi >= wide) return false;
    f->lo += c > 0 ? c * r.lo : c * r.hi;
    f->hi += c > 0 ? c * r.hi : c * r.lo;
    return within((pr_interval){ f->lo, f->hi });
}

static const pr_apart *facts_of(pr_encoding *e, const pr_side *side)
{
    pr_side *s = (pr_side *)side;
    pr_terms *T = e->terms;
    if (s->apart) return s->apart;
    pr_apart *f = s->apart = PR_NEW(e->arena, pr_apart);
    if (s->refused || s->dead || s->unknown_address || pr_term_none(s->addr)) return f;
    bool sum = pr_term_op_of(T, s->addr) == PR_TERM_OP_SUM, constant = pr_term_op_of(T, s->addr) == PR_TERM_OP_CONST;
    int parts = sum ? pr_term_arity(T, s->addr) : constant ? 0 : 1, n = 0;
    pr_term *uniform = PR_NEW_N(e->arena, pr_term, parts + 1);
    pr_i128 *coef = PR_NEW_N(e->arena, pr_i128, parts + 1);
    f->lo = f->hi = sum || constant ? pr_term_value(T, s->addr) : 0;
    if (!within((pr_interval){ f->lo, f->hi })) return f;
    for (int i = 0; i < parts; i++)
        if (!add_part(e, s, f, sum ? pr_term_child(T, s->addr, i) : s->addr, sum ? pr_term_coef(T, s->addr, i) : 1, uniform, coef, &n)) return f;
    f->uniform = pr_sum(T, uniform, coef, n, 0);
    f->axis = -1;
    for (int d = 0; d < 3; d++)
        if (pr_term_op_of(T, s->pid[d]) != PR_TERM_OP_CONST) f->axis = f->axis == -1 ? d : 3;
    f->known = !pr_term_none(f->uniform);
    return f;
}

const char *pr_apart_why(pr_encoding *e, int a, int b, bool intra)
{
    /* copy A of both: a copy's facts name no variable that the other copy has under another name */
    const pr_side *x = pr_encoding_side(e, a, PR_SIDE_A), *y = pr_encoding_side(e, b, PR_SIDE_A);
    const pr_apart *f = facts_of(e, x), *g = facts_of(e, y);
    if (!f->known || !g->known || !pr_term_is(f->uniform, g->uniform)) return NULL;
    int wx = x->record->width, wy = y->record->width;
#ifdef PR_FAULTS
    if (e->options->fault == 16) wx = wy = 1;
#endif
    if (intra) {
        for (int d = 0; d < 3; d++)
            if (f->factor[d] != g->factor[d]) return NULL;
        return f->lo >= g->hi + wy || g->lo >= f->hi + wx ? "intervals: no common byte" : NULL;
    }
    int d = f->axis;
#ifdef PR_FAULTS
    if (e->options->fault == 17 && d == 3) d = 0;
#endif
    if (d < 0 || d > 2 || f->factor[d] != g->factor[d]) return NULL;
    pr_i128 lo = f->lo < g->lo ? f->lo : g->lo, hi = f->hi > g->hi ? f->hi : g->hi, stride = f->factor[d];
    if (hi - lo + (wx > wy ? wx : wy) - 1 >= (stride < 0 ? -stride : stride)) return NULL;
    return "window: equal program ids";
}
