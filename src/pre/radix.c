/* Mixed radix and delta search: which differences of the pairs keep a form within its bounds?
 *
 * Depth first from the largest coefficient: the rest of the sum must stay reachable and divisible by the
 * gcd of the remaining coefficients, so each level has about two candidates when the strides dominate
 * (then the only solution is 0: mixed radix). Exact on boxes, a superset otherwise. */
#include "pre/space.h"

typedef struct search {
    int n, at[PR_PRE_ATOMS]; /* pairs, largest coefficient first */
    pr_i128 c[PR_PRE_ATOMS], lo[PR_PRE_ATOMS], hi[PR_PRE_ATOMS];
    pr_i128 rest_lo[PR_PRE_ATOMS + 1], rest_hi[PR_PRE_ATOMS + 1], gcd[PR_PRE_ATOMS + 1];
    pr_i128 from, to; /* window of the sum */
    int64_t nodes;
    pr_delta *found;
    int n_found, cap;
    bool over; /* the node limit or the number range was left */
    pr_delta now;
} search;

static pr_i128 ceil_div(pr_i128 a, pr_i128 b) { return -pr_fdiv(-a, b); }

/* False: stop. */
static bool level(search *x, int i, pr_i128 sum)
{
    if (x->nodes-- == 0) {
        x->over = true;
        return false;
    }
    pr_i128 from = x->from - sum, to = x->to - sum;
    if (i == x->n) {
        if (from > 0 || to < 0) return true;
        if (x->n_found == x->cap) return false;
        x->found[x->n_found++] = x->now;
        return true;
    }
    pr_i128 g = x->gcd[i], c = x->c[i];
    if (g > 1 && ceil_div(from, g) > pr_fdiv(to, g)) return true;
    from -= x->rest_hi[i + 1];
    to -= x->rest_lo[i + 1];
    pr_i128 lo = c > 0 ? ceil_div(from, c) : ceil_div(-to, -c),
            hi = c > 0 ? pr_fdiv(to, c) : pr_fdiv(-from, -c);
    if (lo < x->lo[i]) lo = x->lo[i];
    if (hi > x->hi[i]) hi = x->hi[i];
    /* nearest to 0 first: the smallest candidates */
    pr_i128 start = lo > 0 ? lo : hi < 0 ? hi : 0;
    for (pr_i128 k = 0; start - k >= lo || start + k <= hi; k++)
        for (int sign = 0; sign < 2; sign++) {
            pr_i128 d = sign ? start - k : start + k;
            if (d < lo || d > hi || (sign && k == 0)) continue;
            x->now.d[x->at[i]] = d;
            if (!level(x, i + 1, sum + c * d)) return false;
        }
    return true;
}

static pr_i128 size(pr_i128 v) { return v < 0 ? -v : v; }

int pr_radix_search(const pr_space *s, const pr_form *f, int64_t *nodes, pr_delta *found, int cap,
                    bool *all)
{
    const pr_i128 huge = (pr_i128)1 << 100;
    search x = { .nodes = *nodes, .found = found, .cap = cap };
    bool single[PR_PRE_ATOMS];
    for (int i = 0; i < f->n; i++) {
        const pr_item *it = &f->at[i];
        single[i] = it->a != it->b;
        if (single[i]) continue;
        if (size(it->a) > huge) return -1;
        int j = x.n++;
        for (; j > 0 && size(it->a) > size(f->at[x.at[j - 1]].a); j--) x.at[j] = x.at[j - 1];
        x.at[j] = i;
    }
    pr_interval rest = pr_space_range(s, f, single, false); /* the constant included */
    if (pr_is_inf(rest.lo) || pr_is_inf(rest.hi)) return -1;
    x.from = f->lo - rest.hi;
    x.to = f->hi - rest.lo;
    for (int i = x.n - 1; i >= 0; i--) {
        const pr_item *it = &f->at[x.at[i]];
        const pr_space_node *v = &s->node[it->node];
        x.c[i] = it->a;
        x.lo[i] = pr_sat_down(v->iv[0].lo, -v->iv[1].hi);
        x.hi[i] = pr_sat_up(v->iv[0].hi, -v->iv[1].lo);
        if (pr_is_inf(x.lo[i]) || pr_is_inf(x.hi[i])) return -1;
        pr_i128 p = pr_sat_mul(it->a, x.lo[i]), q = pr_sat_mul(it->a, x.hi[i]);
        x.rest_lo[i] = pr_sat_down(x.rest_lo[i + 1], p < q ? p : q);
        x.rest_hi[i] = pr_sat_up(x.rest_hi[i + 1], p < q ? q : p);
        if (size(x.rest_lo[i]) > huge || size(x.rest_hi[i]) > huge) return -1;
        x.gcd[i] = pr_gcd(x.gcd[i + 1], it->a);
    }
    if (PR_PRE_DROPS(PR_DROP_W)) x.from = x.to = 0;
    if (size(x.from) > huge || size(x.to) > huge) return -1;
    *all = level(&x, 0, 0);
    *nodes = x.nodes > 0 ? x.nodes : 0;
    return x.over ? -1 : x.n_found;
}
