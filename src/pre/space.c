/* Two copies seen as one: what do they have in common, and which values can a sum take in each?
 *
 * Canonical nodes are hash-consed in the space itself. Ranges start from the variables' own intervals and
 * are narrowed by the linear conjuncts of each copy (top level only: an arm of a disjunction bounds
 * nothing). A row bounds a sum when a positive multiple of some of the sum's parts occurs in it. */
#include "pre/space.h"
#include <assert.h>

enum { NARROW_ROUNDS = 2, ROW_DEPTH = 2, FEW_SLOTS = 128 };

/* --- saturating bounds ------------------------------------------------------------------------- */

static pr_i128 clamp(pr_i128 v) { return v < -PR_INF ? -PR_INF : v > PR_INF ? PR_INF : v; }

pr_i128 pr_sat_mul(pr_i128 a, pr_i128 b)
{
    pr_i128 r;
    if (a == 0 || b == 0) return 0;
    if (pr_is_inf(a) || pr_is_inf(b) || !pr_mul_ok(a, b, &r))
        return (a < 0) != (b < 0) ? -PR_INF : PR_INF;
    return clamp(r);
}

pr_i128 pr_sat_up(pr_i128 a, pr_i128 b)
{
    if (a >= PR_INF || b >= PR_INF) return PR_INF;
    if (a <= -PR_INF) a = -PR_INF;
    if (b <= -PR_INF) b = -PR_INF;
    pr_i128 r = a + b;
    return r <= -PR_INF ? -PR_INF + 1 : clamp(r);
}

pr_i128 pr_sat_down(pr_i128 a, pr_i128 b) { return -pr_sat_up(-clamp(a), -clamp(b)); }

/* --- canonical nodes ----------------------------------------------------------------------------- */

static bool has_twin(const pr_space *s, pr_var v)
{
    for (int i = 0; i < s->n_twins; i++)
        if (s->twin[i][0].id == v.id || s->twin[i][1].id == v.id) return true;
    return false;
}

/* Lane d of one record and lane d of another, so that "equal lanes" can be recovered and refuted. */
static void pair_lanes(pr_space *s)
{
    enum { DIMENSIONS = 8 }; /* hb numbers lanes by record * 8 + dimension */
    const pr_query *q = s->q;
    for (int i = 0; i < q->n_vars; i++) {
        const pr_var_info *a = pr_var_get(s->T, q->vars[i]);
        if (a->role != PR_ROLE_LANE || a->copy != PR_COPY_A || has_twin(s, q->vars[i])) continue;
        for (int j = 0; j < q->n_vars && s->n_twins < PR_SPACE_TWINS; j++) {
            const pr_var_info *b = pr_var_get(s->T, q->vars[j]);
            if (b->role != PR_ROLE_LANE || b->copy != PR_COPY_B || has_twin(s, q->vars[j]))
                continue;
            if (a->index % DIMENSIONS != b->index % DIMENSIONS) continue;
            s->twin[s->n_twins][0] = q->vars[i];
            s->twin[s->n_twins++][1] = q->vars[j];
            break;
        }
    }
}

void pr_space_begin(pr_space *s, const pr_query *q)
{
    s->q = q;
    s->T = q->terms;
    s->full = s->void_domain = false;
    s->entered = s->n = s->n_kids = s->n_parts = s->n_rows[0] = s->n_rows[1] = 0;
    s->base_rows[0] = s->base_rows[1] = s->base_parts = 0;
    s->mirror_n = -1;
    s->narrowed = 0;
    if (!s->clear) {                 /* later on only what the query before has used */
        s->mask = FEW_SLOTS - 1;
        memset(s->seen, 0, sizeof *s->seen * FEW_SLOTS);
        memset(s->by_content, 0, sizeof *s->by_content * FEW_SLOTS);
    }
    for (int i = 0; i < s->n_seen_at && s->clear; i++) s->seen[s->seen_at[i]].term = 0;
    for (int i = 0; i < s->n_content_at && s->clear; i++) s->by_content[s->content_at[i]] = 0;
    s->n_seen_at = s->n_content_at = 0;
    s->clear = true;
    s->n_twins = 0;
    for (int i = 0; i < q->n_twins && i < PR_SPACE_TWINS; i++, s->n_twins++)
        for (int c = 0; c < 2; c++) s->twin[i][c] = q->twins[i][c];
    pair_lanes(s);
}

static uint32_t mix(uint64_t h)
{
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdu;
    return (uint32_t)(h ^ h >> 29);
}

static bool same_content(const pr_space *s, const pr_space_node *x, uint8_t op, pr_i128 value,
                         const int *kid, const pr_i128 *coef, int n)
{
    if (x->op != op || x->n != n || x->value != value) return false;
    for (int i = 0; i < n; i++)
        if (s->kid[x->first + i] != kid[i] || s->coef[x->first + i] != coef[i]) return false;
    return true;
}

static uint32_t content_hash(uint8_t op, pr_i128 value, const int *kid, const pr_i128 *coef, int n)
{
    uint64_t h = op * 31u + (uint64_t)value * 0x9e3779b97f4a7c15u;
    for (int i = 0; i < n; i++)
        h = h * 0x100000001b3u + (uint64_t)kid[i] * 7 + (uint64_t)coef[i] * 0x9e37u;
    return mix(h);
}

/* The node of this content, or -1 and the place where it belongs. */
static int find(const pr_space *s, uint8_t op, pr_i128 value, const int *kid, const pr_i128 *coef,
                int n, uint32_t *place)
{
    uint32_t at = content_hash(op, value, kid, coef, n) & s->mask;
    while (s->by_content[at]) {
        int id = s->by_content[at] - 1;
        if (same_content(s, &s->node[id], op, value, kid, coef, n)) return id;
        at = (at + 1) & s->mask;
    }
    *place = at;
    return -1;
}

static void put_content(pr_space *s, int id)
{
    const pr_space_node *x = &s->node[id];
    uint32_t at = content_hash(x->op, x->value, s->kid + x->first, s->coef + x->first, x->n) & s->mask;
    while (s->by_content[at]) at = (at + 1) & s->mask;
    s->by_content[at] = id + 1;
    s->content_at[s->n_content_at++] = (uint16_t)at;
}

static void put_seen(pr_space *s, pr_space_seen x)
{
    uint32_t at = mix(x.term) & s->mask;
    while (s->seen[at].term) at = (at + 1) & s->mask;
    s->seen[at] = x;
    s->seen_at[s->n_seen_at++] = (uint16_t)at;
}

/* From few slots to all of them, before half of them are taken. */
static void make_room(pr_space *s)
{
    pr_space_seen was[FEW_SLOTS];
    int n = s->n_seen_at;
    if (s->mask != FEW_SLOTS - 1 || (n < FEW_SLOTS / 2 && s->n_content_at < FEW_SLOTS / 2)) return;
    for (int i = 0; i < n; i++) was[i] = s->seen[s->seen_at[i]];
    memset(s->seen, 0, sizeof s->seen);
    memset(s->by_content, 0, sizeof s->by_content);
    s->mask = PR_SPACE_TABLE - 1;
    s->n_seen_at = s->n_content_at = 0;
    for (int i = 0; i < n; i++) put_seen(s, was[i]);
    for (int i = 0; i < s->n; i++) put_content(s, i);
}

static int intern(pr_space *s, uint8_t op, pr_i128 value, const int *kid, const pr_i128 *coef,
                  int n)
{
    uint32_t at = 0;
    make_room(s);
    int known = find(s, op, value, kid, coef, n, &at);
    if (known >= 0) return known;
    if (s->n == PR_SPACE_NODES || s->n_kids + n > PR_SPACE_KIDS) {
        s->full = true;
        return -1;
    }
    int id = s->n++;
    pr_space_node *x = &s->node[id];
    *x = (pr_space_node){ .op = op, .n = n, .first = s->n_kids, .value = value, .shared = true };
    x->param = op != PR_TERM_OP_VAR ||
               pr_var_get(s->T, (pr_var){ (uint32_t)value })->role == PR_ROLE_PARAM;
    for (int i = 0; i < n; i++) {
        s->kid[s->n_kids] = kid[i];
        s->coef[s->n_kids++] = coef[i];
        if (!s->node[kid[i]].shared) x->shared = false;
        if (!s->node[kid[i]].param) x->param = false;
    }
    x->known = x->shared;
    s->by_content[at] = id + 1;
    s->content_at[s->n_content_at++] = (uint16_t)at;
    return id;
}

static void sort_parts(int *kid, pr_i128 *coef, int n)
{
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && kid[j - 1] > kid[j]; j--) {
            int k = kid[j];
            pr_i128 c = coef[j];
            kid[j] = kid[j - 1], coef[j] = coef[j - 1];
            kid[j - 1] = k, coef[j - 1] = c;
        }
}

static bool commutes(pr_term_op op)
{
    switch (op) {
    case PR_TERM_OP_SUM:
    case PR_TERM_OP_MUL:
    case PR_TERM_OP_MIN:
    case PR_TERM_OP_MAX:
    case PR_TERM_OP_BAND:
    case PR_TERM_OP_BOR:
    case PR_TERM_OP_BXOR:
    case PR_TERM_OP_AND:
    case PR_TERM_OP_OR: return true;
    default: return false;
    }
}

static int of_variable(pr_space *s, pr_term t, unsigned *sides)
{
    const pr_var v = pr_term_var(s->T, t);
    for (int i = 0; i < s->n_twins; i++) {
        for (int c = 0; c < 2; c++) {
            if (s->twin[i][c].id != v.id) continue;
            *sides = c ? PR_SIDES_B : PR_SIDES_A;
            int id = intern(s, PR_TERM_OP_VAR, s->twin[i][0].id, NULL, NULL, 0);
            if (id < 0 || !s->node[id].shared) return id;
            s->node[id].shared = s->node[id].known = s->node[id].param = false;
            for (int k = 0; k < 2; k++) {
                const pr_var_info *own = pr_var_get(s->T, s->twin[i][k]);
                s->node[id].iv[k] = (pr_interval){ clamp(own->lo), clamp(own->hi) };
            }
            return id;
        }
    }
    *sides = 0;
    return intern(s, PR_TERM_OP_VAR, v.id, NULL, NULL, 0);
}

static pr_interval product_range(pr_interval a, pr_interval b)
{
    pr_i128 e[4] = { pr_sat_mul(a.lo, b.lo), pr_sat_mul(a.lo, b.hi), pr_sat_mul(a.hi, b.lo),
                     pr_sat_mul(a.hi, b.hi) };
    pr_interval r = { e[0], e[0] };
    for (int i = 1; i < 4; i++) {
        if (e[i] < r.lo) r.lo = e[i];
        if (e[i] > r.hi) r.hi = e[i];
    }
    return r;
}

static pr_i128 part_sup(const pr_space *s, int c, pr_part x)
{
    pr_interval v = s->node[x.node].iv[c];
    return pr_sat_mul(x.coef, x.coef > 0 ? v.hi : v.lo);
}

static pr_i128 sup_parts(const pr_space *s, int c, const pr_part *x, int n)
{
    pr_i128 sum = 0;
    for (int i = 0; i < n && sum < PR_INF; i++) sum = pr_sat_up(sum, part_sup(s, c, x[i]));
    return sum;
}

/* Range of a node in copy c from those of its operands; like: a term with this operation. */
static pr_interval step(const pr_space *s, const pr_space_node *x, int c, pr_term like)
{
    pr_interval kid[PR_PRE_ATOMS];
    if (x->op == PR_TERM_OP_SUM) {
        pr_i128 up = 0, down = 0;
        for (int i = 0; i < x->n && (up < PR_INF || down < PR_INF); i++) {
            pr_part part = { s->kid[x->first + i], s->coef[x->first + i] };
            if (up < PR_INF) up = pr_sat_up(up, part_sup(s, c, part));
            part.coef = -part.coef;
            if (down < PR_INF) down = pr_sat_up(down, part_sup(s, c, part));
        }
        return (pr_interval){ pr_sat_down(x->value, -down), pr_sat_up(x->value, up) };
    }
    kid[0] = (pr_interval){ -PR_INF, PR_INF };
    for (int i = 0; i < x->n; i++) kid[i] = s->node[s->kid[x->first + i]].iv[c];
    if (x->op == PR_TERM_OP_MUL) {
        pr_interval r = kid[0];
        for (int i = 1; i < x->n; i++) r = product_range(r, kid[i]);
        return r;
    }
    return pr_range_op(s->T, like, kid);
}

static int remember(pr_space *s, pr_term t, int id, unsigned sides)
{
    if (id < 0) return id;
    s->mirror_n = -1;
    make_room(s);
    put_seen(s, (pr_space_seen){ t.id, id, (uint8_t)sides });
    pr_space_node *x = &s->node[id];
    pr_interval own = pr_range_own(s->T, t);
    for (int c = 0; c < 2; c++) {
        pr_interval was = x->iv[c];
        if (sides == 0 || sides == (c ? PR_SIDES_B : PR_SIDES_A)) {
            x->rep[c] = t;
            x->iv[c] = own;
        } else if (pr_term_none(x->rep[c]) && x->op != PR_TERM_OP_VAR) {
            x->iv[c] = step(s, x, c, t);
        }
        if (was.lo != x->iv[c].lo || was.hi != x->iv[c].hi) s->narrowed++;
    }
    return id;
}

/* The depth is bounded: every level enters one more distinct term, and their number is capped. */
int pr_space_node_of(pr_space *s, pr_term t, unsigned *sides)
{
    const pr_terms *T = s->T;
    for (uint32_t at = mix(t.id) & s->mask; s->seen[at].term; at = (at + 1) & s->mask)
        if (s->seen[at].term == t.id) {
            *sides = s->seen[at].sides;
            return s->seen[at].node;
        }
    if (s->full || pr_term_none(t) || ++s->entered > PR_SPACE_TABLE * 3 / 4) {
        s->full = true;
        return -1;
    }
    pr_term_op op = pr_term_op_of(T, t);
    *sides = 0;
    if (op == PR_TERM_OP_VAR) {
        int id = of_variable(s, t, sides);
        return remember(s, t, id, *sides);
    }
    enum { MOST = PR_PRE_ATOMS };
    int kid[MOST], n = 0, arity = pr_term_arity(T, t);
    pr_i128 coef[MOST], value = 0;
    if (arity > MOST / 2 || op == PR_TERM_OP_APP || op == PR_TERM_OP_NONE) {
        s->full = true;
        return -1;
    }
    for (int i = 0; i < arity; i++) {
        unsigned below;
        int k = pr_space_node_of(s, pr_term_child(T, t, i), &below);
        if (k < 0) return -1;
        *sides |= below;
        const pr_space_node *x = &s->node[k];
        if (op == PR_TERM_OP_MUL && x->op == PR_TERM_OP_MUL && n + x->n < MOST) {
            for (int j = 0; j < x->n; j++) kid[n] = s->kid[x->first + j], coef[n++] = 1;
            continue;
        }
        if (n == MOST) {
            s->full = true;
            return -1;
        }
        kid[n] = k;
        coef[n] = op == PR_TERM_OP_SUM ? pr_term_coef(T, t, i) : 1;
        if (pr_is_inf(coef[n++])) {
            s->full = true;
            return -1;
        }
    }
    if (op == PR_TERM_OP_SUM || op == PR_TERM_OP_CONST) value = pr_term_value(T, t);
    if (op == PR_TERM_OP_TABLE) value = pr_term_tab(T, t).id;
    if (op == PR_TERM_OP_FITS) value = pr_term_bits(T, t) * 8 + (int)pr_term_fits_kind(T, t);
    if (commutes(op)) sort_parts(kid, coef, n);
    return remember(s, t, intern(s, (uint8_t)op, value, kid, coef, n), *sides);
}

int pr_space_product(pr_space *s, const int *factor, int n)
{
    pr_i128 coef[PR_PRE_ATOMS];
    if (n == 1) return factor[0];
    for (int i = 0; i < n; i++) coef[i] = 1;
    int before = s->n, id = intern(s, PR_TERM_OP_MUL, 0, factor, coef, n);
    if (id < before) return id;
    for (int c = 0; c < 2; c++) {
        pr_interval r = s->node[factor[0]].iv[c];
        for (int i = 1; i < n; i++) r = product_range(r, s->node[factor[i]].iv[c]);
        s->node[id].iv[c] = r;
    }
    return id;
}

int pr_space_times(pr_space *s, int a, int b, bool make)
{
    int factor[2 * PR_PRE_ATOMS], n = 0;
    pr_i128 coef[2 * PR_PRE_ATOMS];
    const int of[2] = { a, b };
    uint32_t place = 0;
    for (int i = 0; i < 2; i++) {
        const pr_space_node *x = &s->node[of[i]];
        int m = x->op == PR_TERM_OP_MUL ? x->n : 1;
        if (n + m > PR_PRE_ATOMS) return -1;
        for (int j = 0; j < m; j++) {
            factor[n] = x->op == PR_TERM_OP_MUL ? s->kid[x->first + j] : of[i];
            coef[n++] = 1;
        }
    }
    sort_parts(factor, coef, n);
    return make ? pr_space_product(s, factor, n)
                : find(s, PR_TERM_OP_MUL, 0, factor, coef, n, &place);
}

int pr_space_quotient(pr_space *s, uint8_t op, int dividend, int divisor)
{
    const int kid[2] = { dividend, divisor };
    const pr_i128 coef[2] = { 1, 1 }, d = s->node[divisor].value;
    int before = s->n, id = intern(s, op, 0, kid, coef, 2);
    if (id < before) return id;
    for (int c = 0; c < 2; c++) {
        pr_interval x = s->node[dividend].iv[c];
        bool floors = op == PR_TERM_OP_FDIV;
        s->node[id].iv[c].lo = pr_is_inf(x.lo) ? -PR_INF : floors ? pr_fdiv(x.lo, d) : x.lo / d;
        s->node[id].iv[c].hi = pr_is_inf(x.hi) ? PR_INF : floors ? pr_fdiv(x.hi, d) : x.hi / d;
    }
    return id;
}

/* --- forms --------------------------------------------------------------------------------------- */

/* Adds scale*t, read in copy c (or in either when it is shared). False when the piece is of the
 * other copy. */
static bool add_term(pr_space *s, pr_form *f, pr_term t, pr_i128 scale, int c)
{
    unsigned sides;
    int id = pr_space_node_of(s, t, &sides);
    if (id < 0) return false;
    if (sides && sides != (c ? PR_SIDES_B : PR_SIDES_A)) return false;
    if (f->n == PR_PRE_ATOMS) return false;
    f->at[f->n++] = (pr_item){ id, c ? 0 : scale, c ? scale : 0 };
    return true;
}

/* Adds scale*t of copy c to the difference (scale counts as written for A, negated for B). */
static bool add_sum(pr_space *s, pr_form *f, pr_term t, int c)
{
    const pr_terms *T = s->T;
    pr_term_op op = pr_term_op_of(T, t);
    pr_i128 v;
    if (op == PR_TERM_OP_CONST || op == PR_TERM_OP_SUM) {
        v = pr_term_value(T, t);
        if (!(c ? pr_sub_ok(f->k, v, &f->k) : pr_add_ok(f->k, v, &f->k))) return false;
        if (op == PR_TERM_OP_CONST) return true;
        for (int i = 0; i < pr_term_arity(T, t); i++)
            if (!add_term(s, f, pr_term_child(T, t, i), pr_term_coef(T, t, i), c)) return false;
        return true;
    }
    return add_term(s, f, t, 1, c);
}

bool pr_space_difference(pr_space *s, pr_term x, pr_term y, pr_form *f)
{
    f->n = 0;
    f->k = f->lo = f->hi = 0;
    return add_sum(s, f, x, 0) && add_sum(s, f, y, 1) && pr_space_reduce(s, f);
}

bool pr_space_pairs(pr_space *s, int node, pr_i128 scale, pr_form *f)
{
    const pr_space_node *x = &s->node[node];
    int n = x->op == PR_TERM_OP_SUM ? x->n : 1;
    for (int i = 0; i < n; i++) {
        pr_i128 c = scale;
        int id = node;
        if (x->op == PR_TERM_OP_SUM) {
            id = s->kid[x->first + i];
            if (!pr_mul_ok(scale, s->coef[x->first + i], &c)) return false;
        }
        if (f->n == PR_PRE_ATOMS) return false;
        f->at[f->n++] = (pr_item){ id, c, c };
    }
    return true;
}

bool pr_space_reduce(const pr_space *s, pr_form *f)
{
    int n = 0;
    for (int i = 0; i < f->n; i++) {
        int j = 0;
        while (j < n && f->at[j].node != f->at[i].node) j++;
        if (j == n) {
            f->at[n++] = f->at[i];
        } else if (!pr_add_ok(f->at[j].a, f->at[i].a, &f->at[j].a) ||
                   !pr_add_ok(f->at[j].b, f->at[i].b, &f->at[j].b)) {
            return false;
        }
    }
    f->n = n;
    n = 0;
    for (int i = 0; i < f->n; i++) {
        pr_item x = f->at[i];
        const pr_space_node *v = &s->node[x.node];
        if (v->shared && x.b) { /* one value: a*v - b*v */
            if (!pr_sub_ok(x.a, x.b, &x.a)) return false;
            x.b = 0;
        } else if (v->known && x.b) { /* a*vA - b*vB = (a - b)*vA + b*delta */
            pr_i128 d;
            if (!pr_mul_ok(x.b, v->delta, &d) || !pr_add_ok(f->k, d, &f->k) ||
                !pr_sub_ok(x.a, x.b, &x.a))
                return false;
            x.b = 0;
        }
        if (pr_is_inf(x.a) || pr_is_inf(x.b)) return false;
        if (x.a || x.b) f->at[n++] = x;
    }
    f->n = n;
    return !pr_is_inf(f->k) && !pr_is_inf(f->lo) && !pr_is_inf(f->hi);
}

bool pr_space_overlap(pr_space *s, pr_form *f)
{
    const pr_query *q = s->q;
    if (pr_term_none(q->addr[0]) || pr_term_none(q->addr[1])) return false;
    if (!pr_space_difference(s, q->addr[0], q->addr[1], f)) return false;
    int wa = q->width[0], wb = q->width[1];
    if (PR_PRE_DROPS(PR_DROP_BOTH_WIDTHS)) wb = wa;
    f->lo = 1 - (pr_i128)wa;
    f->hi = (pr_i128)wb - 1;
    bool exact = wa == wb && f->k % wa == 0;
    for (int i = 0; i < f->n && exact; i++) exact = f->at[i].a % wa == 0 && f->at[i].b % wa == 0;
    if (exact || PR_PRE_DROPS(PR_DROP_RESIDUE)) f->lo = f->hi = 0;
    return true;
}

/* --- ranges -------------------------------------------------------------------------------------- */

/* Bound through a row: with num, den > 0 such that num*x - den*row has no part of the pivot,
 * num*x = den*row + y <= y, because row <= 0. */
static pr_i128 sup_rows(const pr_space *s, int c, const pr_part *x, int n, pr_i128 k, int depth);

static pr_i128 sup_row(const pr_space *s, int c, const pr_part *x, int n, pr_i128 k,
                       const pr_bound_row *row, pr_i128 num, pr_i128 den, int depth)
{
    pr_part y[2 * PR_PRE_ATOMS];
    pr_i128 v, w;
    int m = 0;
    if (!pr_mul_ok(k, num, &v) || !pr_mul_ok(row->k, den, &w) || !pr_sub_ok(v, w, &k) ||
        pr_is_inf(k))
        return PR_INF;
    for (int i = 0; i < n; i++) {
        y[m] = x[i];
        if (!pr_mul_ok(x[i].coef, num, &y[m++].coef)) return PR_INF;
    }
    for (int j = 0; j < row->n; j++) {
        const pr_part *r = &s->part[row->first + j];
        int i = 0;
        if (!pr_mul_ok(r->coef, den, &v)) return PR_INF;
        while (i < m && y[i].node != r->node) i++;
        if (i == m) y[m++] = (pr_part){ r->node, 0 };
        if (!pr_sub_ok(y[i].coef, v, &y[i].coef) || pr_is_inf(y[i].coef)) return PR_INF;
        if (y[i].coef == 0) y[i] = y[--m];
    }
    if (m > PR_PRE_ATOMS) return PR_INF;
    v = sup_rows(s, c, y, m, k, depth - 1);
    return v >= PR_INF ? PR_INF : num == 1 ? v : pr_fdiv(v, num);
}

static pr_i128 sup_rows(const pr_space *s, int c, const pr_part *x, int n, pr_i128 k, int depth)
{
    pr_i128 best = pr_sat_up(sup_parts(s, c, x, n), k);
    if (depth == 0 || n == 0) return best;
    uint64_t nodes = pr_parts_nodes(x, n);
    for (int r = 0; r < s->base_rows[c]; r++) {
        const pr_bound_row *row = &s->row[c][r];
        if (!(row->nodes & nodes)) continue;
        pr_i128 last_num = 0, last_den = 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < row->n; j++) {
                const pr_part *y = &s->part[row->first + j];
                if (y->node != x[i].node || (y->coef > 0) != (x[i].coef > 0)) continue;
                pr_i128 num = 1, den = 1;
                if (y->coef != x[i].coef) {
                    pr_i128 g = pr_gcd(y->coef, x[i].coef), sign = y->coef > 0 ? 1 : -1;
                    num = g == 1 ? sign * y->coef : sign * y->coef / g;
                    den = g == 1 ? sign * x[i].coef : sign * x[i].coef / g;
                }
                if (num == last_num && den == last_den) continue;
                last_num = num;
                last_den = den;
                pr_i128 v = sup_row(s, c, x, n, k, row, num, den, depth);
                if (v < best) best = v;
            }
    }
    return best;
}

pr_i128 pr_space_sup(const pr_space *s, int c, const pr_part *x, int n, bool rows)
{
    return sup_rows(s, c, x, n, 0, rows ? ROW_DEPTH : 0);
}

static bool same_rows(const pr_space *s, int n)
{
    for (int i = 0; i < n; i++) {
        const pr_bound_row *x = &s->row[0][i], *y = &s->row[1][i];
        if (x->n != y->n || x->k != y->k || x->symbolic != y->symbolic) return false;
        if (x->first == y->first) continue;
        for (int j = 0; j < x->n; j++)
            if (s->part[x->first + j].node != s->part[y->first + j].node || s->part[x->first + j].coef != s->part[y->first + j].coef) return false;
    }
    return true;
}

static bool same_ranges(const pr_space *s)
{
    for (int i = 0; i < s->n; i++)
        if (s->node[i].iv[0].lo != s->node[i].iv[1].lo || s->node[i].iv[0].hi != s->node[i].iv[1].hi) return false;
    return true;
}

bool pr_space_mirror(pr_space *s)
{
    if (PR_PRE_DROPS(PR_DROP_MIRROR)) return true;
    if (s->mirror_n == s->n) return s->mirror;
    s->mirror = s->base_rows[0] == s->base_rows[1] && same_rows(s, s->base_rows[0]) && same_ranges(s);
    s->mirror_n = s->n;
    return s->mirror;
}

pr_interval pr_space_range(const pr_space *s, const pr_form *f, const bool *which, bool rows)
{
    pr_interval r = { f->k, f->k };
    bool alike = rows && !PR_PRE_DROPS(PR_DROP_HULL);
    for (int i = 0; i < f->n && alike; i++) alike = (which && !which[i]) || f->at[i].a == f->at[i].b;
    if (alike && pr_space_mirror((pr_space *)s)) {            /* sum a*(A - B), where A and B have one range */
        pr_part up[PR_PRE_ATOMS], down[PR_PRE_ATOMS];
        int n = 0;
        for (int i = 0; i < f->n; i++) {
            if ((which && !which[i]) || f->at[i].a == 0) continue;
            up[n] = (pr_part){ f->at[i].node, f->at[i].a };
            down[n++] = (pr_part){ f->at[i].node, -f->at[i].a };
        }
        pr_i128 most = pr_space_sup(s, 0, up, n, true), least = pr_space_sup(s, 0, down, n, true);
        return (pr_interval){ pr_sat_down(pr_sat_down(f->k, -least), -most), pr_sat_up(pr_sat_up(f->k, most), least) };
    }
    for (int c = 0; c < 2; c++) {
        pr_part up[PR_PRE_ATOMS], down[PR_PRE_ATOMS];
        int n = 0;
        for (int i = 0; i < f->n; i++) {
            pr_i128 v = c ? -f->at[i].b : f->at[i].a;
            if ((which && !which[i]) || v == 0) continue;
            up[n] = (pr_part){ f->at[i].node, v };
            down[n++] = (pr_part){ f->at[i].node, -v };
        }
        int copy = PR_PRE_DROPS(PR_DROP_HULL) ? 0 : c;
        r.hi = pr_sat_up(r.hi, pr_space_sup(s, copy, up, n, rows));
        r.lo = pr_sat_down(r.lo, -pr_space_sup(s, copy, down, n, rows));
    }
    return r;
}

/* --- domains ------------------------------------------------------------------------------------- */

static void add_row(pr_space *s, int c, pr_term t, int sign)
{
    const pr_terms *T = s->T;
    pr_term_op op = pr_term_op_of(T, t);
    int n = op == PR_TERM_OP_SUM ? pr_term_arity(T, t) : 1;
    if (s->n_rows[c] == PR_SPACE_ROWS || s->n_parts + n > PR_SPACE_ROW_ITEMS || n > PR_PRE_ATOMS)
        return;
    pr_bound_row *r = &s->row[c][s->n_rows[c]];
    *r = (pr_bound_row){ s->n_parts, n, op == PR_TERM_OP_SUM ? sign * pr_term_value(T, t) : 0 };
    if (pr_is_inf(r->k)) return;
    for (int i = 0; i < n; i++) {
        unsigned sides;
        int id = pr_space_node_of(s, op == PR_TERM_OP_SUM ? pr_term_child(T, t, i) : t, &sides);
        if (id < 0 || (sides && sides != (c ? PR_SIDES_B : PR_SIDES_A))) return;
        r->symbolic |= s->node[id].param;
        pr_i128 k = op == PR_TERM_OP_SUM ? pr_term_coef(T, t, i) : 1;
        if (pr_is_inf(k)) return;
        s->part[s->n_parts + i] = (pr_part){ id, sign * k };
    }
    s->n_parts += n;
    s->n_rows[c]++;
    pr_row_seal(s, r);
}

static void add_conjunct(pr_space *s, int c, pr_term t, int depth)
{
    const pr_terms *T = s->T;
    switch (pr_term_op_of(T, t)) {
    case PR_TERM_OP_AND:
        if (depth > 64) return;
        add_conjunct(s, c, pr_term_child(T, t, 0), depth + 1);
        add_conjunct(s, c, pr_term_child(T, t, 1), depth + 1);
        return;
    case PR_TERM_OP_OR:
        if (PR_PRE_DROPS(PR_DROP_ARM)) add_conjunct(s, c, pr_term_child(T, t, 0), depth + 1);
        return;
    case PR_TERM_OP_FALSE: s->void_domain = true; return;
    case PR_TERM_OP_LE0: add_row(s, c, pr_term_child(T, t, 0), 1); return;
    case PR_TERM_OP_EQ0:
        add_row(s, c, pr_term_child(T, t, 0), 1);
        add_row(s, c, pr_term_child(T, t, 0), -1);
        return;
    default: return;
    }
}

bool pr_space_narrow(pr_space *s, int node, int c, pr_interval by)
{
    pr_interval *v = &s->node[node].iv[c];
    bool changed = false;
    if (by.lo > v->lo) v->lo = by.lo, changed = true;
    if (by.hi < v->hi) v->hi = by.hi, changed = true;
    if (changed) s->mirror_n = -1, s->narrowed++;
    if (v->lo > v->hi) s->void_domain = true;
    return changed;
}

/* sum + coef*node <= 0 bounds the node by the range of the others. */
static bool narrow_by_row(pr_space *s, int c, const pr_bound_row *r)
{
    pr_part minus[PR_PRE_ATOMS];
    bool changed = false;
    for (int i = 0; i < r->n; i++)
        minus[i] = (pr_part){ s->part[r->first + i].node, -s->part[r->first + i].coef };
    for (int i = 0; i < r->n && !s->void_domain; i++) {
        pr_i128 bound = -r->k, k = s->part[r->first + i].coef;
        for (int j = 0; j < r->n && bound < PR_INF; j++)
            if (j != i) bound = pr_sat_up(bound, part_sup(s, c, minus[j]));
        if (bound >= PR_INF) continue;
        pr_interval by = { -PR_INF, PR_INF };
        if (k > 0) by.hi = pr_fdiv(bound, k);
        else by.lo = -pr_fdiv(bound, -k);
        changed |= pr_space_narrow(s, minus[i].node, c, by);
    }
    return changed;
}

void pr_space_narrow_upwards(pr_space *s, int c)
{
    for (int i = 0; i < s->n && !s->void_domain; i++) {
        pr_space_node *x = &s->node[i];
        pr_term like = pr_term_none(x->rep[c]) ? x->rep[!c] : x->rep[c];
        if (x->n == 0 || (pr_term_none(like) && x->op != PR_TERM_OP_MUL)) continue;
        pr_space_narrow(s, i, c, step(s, x, c, like));
    }
}

/* The one place where a wrong range of a truncating remainder could come from (decision-engine.md 3.4). */
static void drop_signs(pr_space *s)
{
    for (int i = 0; i < s->n; i++)
        for (int c = 0; c < 2 && s->node[i].op == PR_TERM_OP_TREM; c++)
            if (s->node[i].iv[c].lo < 0) s->node[i].iv[c].lo = 0;
}

/* d*(x div d) <= x <= d*(x div d) + d - 1 as rows, for constant d >= 1. A quotient truncated from an x that
 * may be negative is up to d - 1 larger: d*(x div d) <= x + d - 1. */
static void division_rows(pr_space *s, int c)
{
    for (int i = 0; i < s->n; i++) {
        const pr_space_node *q = &s->node[i];
        if (q->op != PR_TERM_OP_FDIV && q->op != PR_TERM_OP_TDIV) continue;
        int t = s->kid[q->first];
        const pr_space_node *x = &s->node[t], *d = &s->node[s->kid[q->first + 1]];
        if (d->op != PR_TERM_OP_CONST || d->value < 1) continue;
        bool signs = q->op == PR_TERM_OP_TDIV && x->iv[c].lo < 0;
        int n = x->op == PR_TERM_OP_SUM ? x->n : 1;
        pr_i128 k = x->op == PR_TERM_OP_SUM ? x->value : 0;
        if (pr_is_inf(d->value) || pr_is_inf(k)) continue;
        for (int sign = -1; sign <= 1; sign += 2) {
            if (s->n_rows[c] == PR_SPACE_ROWS || s->n_parts + n + 1 > PR_SPACE_ROW_ITEMS ||
                n >= PR_PRE_ATOMS)
                return;
            s->row[c][s->n_rows[c]++] =
                (pr_bound_row){ s->n_parts, n + 1,
                                sign * k - (sign > 0 || signs ? d->value - 1 : 0), false, 0 };
            for (int j = 0; j < n; j++)
                s->part[s->n_parts++] =
                    x->op == PR_TERM_OP_SUM
                        ? (pr_part){ s->kid[x->first + j], sign * s->coef[x->first + j] }
                        : (pr_part){ t, sign };
            s->part[s->n_parts++] = (pr_part){ i, -sign * d->value };
            pr_row_seal(s, &s->row[c][s->n_rows[c] - 1]);
        }
    }
}

static pr_i128 least(const pr_space *s, int c, int node, int depth)
{
    const pr_space_node *x = &s->node[node];
    pr_i128 v = x->iv[c].lo;
    if (x->op == PR_TERM_OP_SUM) {
        pr_part down[PR_PRE_ATOMS];
        for (int i = 0; i < x->n; i++)
            down[i] = (pr_part){ s->kid[x->first + i], -s->coef[x->first + i] };
        pr_i128 w = pr_sat_down(x->value, -pr_space_sup(s, c, down, x->n, true));
        return w > v ? w : v;
    }
    if ((x->op != PR_TERM_OP_MIN && x->op != PR_TERM_OP_MAX) || depth == 0) return v;
    pr_i128 a = least(s, c, s->kid[x->first], depth - 1),
            b = least(s, c, s->kid[x->first + 1], depth - 1);
    pr_i128 w = (a < b) == (x->op == PR_TERM_OP_MIN) ? a : b;
    return w > v ? w : v;
}

/* A divisor that the masks make positive (the group size of a swizzle): worth more effort than a range. */
/* True: some divisor has a better bound now. */
static bool narrow_divisors(pr_space *s, int c)
{
    bool rows = false, changed = false;
    for (int i = 0; i < s->n && !s->void_domain; i++) {
        const pr_space_node *x = &s->node[i];
        if (x->op < PR_TERM_OP_FDIV || x->op > PR_TERM_OP_TREM) continue;
        int d = s->kid[x->first + 1];
        if (s->node[d].iv[c].lo >= 1 || s->node[d].op == PR_TERM_OP_CONST) continue;
        if (!rows) division_rows(s, c);
        s->base_rows[c] = s->n_rows[c];
        rows = true;
        changed |= pr_space_narrow(s, d, c, (pr_interval){ least(s, c, d, 2), PR_INF });
    }
    if (changed) pr_space_narrow_upwards(s, c);
    return changed;
}

static void narrow_by_rows(pr_space *s, int c)
{
    for (int round = 0; round < NARROW_ROUNDS && !s->void_domain; round++) {
        bool changed = false;
        for (int r = 0; r < s->n_rows[c] && !s->void_domain; r++)
            changed |= narrow_by_row(s, c, &s->row[c][r]);
        if (!changed) return;
        pr_space_narrow_upwards(s, c);
    }
}

void pr_space_domain(pr_space *s)
{
    const pr_query *q = s->q;
    int a = q->is_pair ? q->n_core_a : q->n_core, b = q->is_pair ? a + q->n_core_b : a;
    if (a < 0 || q->n_core_b < 0 || b > q->n_core) return;
    for (int c = 0; c < 2; c++) {
        for (int i = c ? a : 0; i < (c ? b : a) && !s->full; i++) add_conjunct(s, c, q->core[i], 0);
        for (int i = 0; i < q->n_premises && !s->full; i++) add_conjunct(s, c, q->premises[i], 0);
    }
    if (PR_PRE_DROPS(PR_DROP_SIGN)) drop_signs(s);
    s->base_rows[0] = s->n_rows[0];
    s->base_rows[1] = s->n_rows[1];
    if (s->full) return;
    bool mirror = pr_space_mirror(s);
    for (int c = 0; c < 2; c++) {
        if (c && mirror) {                        /* what A came to */
            for (int i = 0; i < s->n; i++) s->node[i].iv[1] = s->node[i].iv[0];
            memcpy(s->row[1], s->row[0], sizeof s->row[0][0] * (size_t)s->n_rows[0]);
            s->n_rows[1] = s->n_rows[0];
            break;
        }
        narrow_by_rows(s, c);
        if (narrow_divisors(s, c)) narrow_by_rows(s, c);
    }
    s->mirror_n = -1;
    for (int i = 0; i < s->n; i++) { /* one value: both copies' bounds hold */
        pr_space_node *x = &s->node[i];
        if (!x->shared || pr_term_none(x->rep[0]) || pr_term_none(x->rep[1])) continue;
        pr_space_narrow(s, i, 0, x->iv[1]);
        pr_space_narrow(s, i, 1, x->iv[0]);
    }
    s->base_rows[0] = s->n_rows[0];
    s->base_rows[1] = s->n_rows[1];
    s->base_parts = s->n_parts;
    s->mirror_n = -1;
}

void pr_space_assume(pr_space *s, pr_term t)
{
    s->n_rows[0] = s->base_rows[0];
    s->n_rows[1] = s->base_rows[1];
    s->n_parts = s->base_parts;
    for (int c = 0; c < 2; c++) {
        int before = s->n_rows[c];
        add_conjunct(s, c, t, 0);
        for (int r = before; r < s->n_rows[c] && !s->void_domain; r++) narrow_by_row(s, c, &s->row[c][r]);
        pr_space_narrow_upwards(s, c);
        s->base_rows[c] = s->n_rows[c];
    }
    s->base_parts = s->n_parts;
    s->mirror_n = -1;
    s->narrowed++;
    pr_stride_rows(s);
}
