/* Terms as Z3 formulas: the DAG node by node, choices as if-then-else.
 *
 * Division by a constant is a pair of fresh constants x = d*q + r, 0 <= r < d, shared by quotient
 * and remainder. Division by a term uses Z3's div and mod only where the divisor is positive (there
 * they are the floor kinds); other signs and 0 are spelled out as term.h says. Bit operations go
 * through bit vectors of a width that the intervals show to be enough. A node without a translation
 * becomes a free constant within its interval: UNSAT still proves, a model is checked by
 * evaluation. */
#include "lower_smt.h"
#include "term/table.h"
#include <assert.h>

enum { MAX_BITS = 70 };

static Z3_ast add2(Z3_context z, Z3_ast a, Z3_ast b) { return Z3_mk_add(z, 2, (Z3_ast[]){ a, b }); }
static Z3_ast mul2(Z3_context z, Z3_ast a, Z3_ast b) { return Z3_mk_mul(z, 2, (Z3_ast[]){ a, b }); }
static Z3_ast and2(Z3_context z, Z3_ast a, Z3_ast b) { return Z3_mk_and(z, 2, (Z3_ast[]){ a, b }); }
static Z3_ast or2(Z3_context z, Z3_ast a, Z3_ast b) { return Z3_mk_or(z, 2, (Z3_ast[]){ a, b }); }
static Z3_ast number(pr_smt *s, pr_i128 v) { return pr_z3_int(s->z, v); }

static void assert_(pr_smt *s, Z3_ast a) { pr_vec_push(s->arena, &s->asserted, a); }

static void bound(pr_smt *s, Z3_ast x, pr_interval r)
{
    if (r.lo > -PR_INF) assert_(s, Z3_mk_ge(s->z, x, number(s, r.lo)));
    if (r.hi < PR_INF) assert_(s, Z3_mk_le(s->z, x, number(s, r.hi)));
}

static pr_interval own(const pr_smt *s, pr_term t)
{
    return pr_range(s->box, t);
}

static Z3_ast fresh(pr_smt *s)
{
    return Z3_mk_fresh_const(s->z, "k", Z3_mk_int_sort(s->z));
}

static Z3_ast variable(pr_smt *s, pr_var v)
{
    if (!s->var[v.id]) {
        const pr_var_info *info = pr_var_get(s->q->terms, v);
        Z3_ast x = fresh(s);
        s->var[v.id] = x;
        bound(s, x, (pr_interval){ info->lo, info->hi });
    }
    return s->var[v.id];
}

static Z3_ast relaxed(pr_smt *s, pr_term t)
{
    if (!s->relaxed) s->relaxed_term = t;
    s->relaxed = true;
    if (pr_term_is_bool(s->q->terms, t))
        return Z3_mk_fresh_const(s->z, "b", Z3_mk_bool_sort(s->z));
    Z3_ast x = fresh(s);
    bound(s, x, own(s, t));
    return x;
}

/* --- divisions ----------------------------------------------------------------------------- */

/* q and r of x by d > 1; key identifies x. */
static void constant_pair(pr_smt *s, pr_term key, Z3_ast x, pr_i128 d, Z3_ast *q, Z3_ast *r)
{
    for (int i = 0; i < s->pair_x.n; i++) {
        if (!pr_term_is(s->pair_x.data[i], key) || s->pair_d.data[i] != d) continue;
        *q = s->pair_q.data[i];
        *r = s->pair_r.data[i];
        return;
    }
    *q = fresh(s);
    *r = fresh(s);
    assert_(s, Z3_mk_eq(s->z, x, add2(s->z, mul2(s->z, number(s, d < 0 ? -d : d), *q), *r)));
    bound(s, *r, (pr_interval){ 0, (d < 0 ? -d : d) - 1 });
    pr_vec_push(s->arena, &s->pair_x, key);
    pr_vec_push(s->arena, &s->pair_d, d);
    pr_vec_push(s->arena, &s->pair_q, *q);
    pr_vec_push(s->arena, &s->pair_r, *r);
}

/* Floor quotient or remainder where y > 0 holds or the value is not used. */
static Z3_ast positive(pr_smt *s, Z3_ast x, Z3_ast y, bool quotient)
{
    Z3_ast zero = number(s, 0);
    if (quotient) return Z3_mk_div(s->z, x, y);
    Z3_ast r = Z3_mk_mod(s->z, x, y);
    Z3_ast inside = and2(s->z, Z3_mk_ge(s->z, r, zero), Z3_mk_lt(s->z, r, y));
    assert_(s, or2(s->z, Z3_mk_le(s->z, y, zero), inside));
    return r;
}

static Z3_ast floor_division(pr_smt *s, Z3_ast x, Z3_ast y, pr_interval ry, bool quotient)
{
    Z3_context z = s->z;
    Z3_ast zero = number(s, 0), value = quotient ? zero : x;      /* y = 0 */
    if (ry.hi >= 1) {
        Z3_ast v = positive(s, x, y, quotient);
        value = ry.lo >= 1 ? v : Z3_mk_ite(z, Z3_mk_gt(z, y, zero), v, value);
    }
    if (ry.lo <= -1) {
        Z3_ast v = positive(s, Z3_mk_unary_minus(z, x), Z3_mk_unary_minus(z, y), quotient);
        if (!quotient) v = Z3_mk_unary_minus(z, v);
        value = ry.hi <= -1 ? v : Z3_mk_ite(z, Z3_mk_lt(z, y, zero), v, value);
    }
    return value;
}

static Z3_ast magnitude(pr_smt *s, Z3_ast x)
{
    return Z3_mk_ite(s->z, Z3_mk_ge(s->z, x, number(s, 0)), x, Z3_mk_unary_minus(s->z, x));
}

static Z3_ast truncating_division(pr_smt *s, Z3_ast x, Z3_ast y, pr_interval rx, pr_interval ry,
                                  bool quotient)
{
    Z3_context z = s->z;
    Z3_ast zero = number(s, 0);
    if (rx.lo >= 0 && ry.lo >= 0) return floor_division(s, x, y, ry, quotient);
    Z3_ast v = floor_division(s, magnitude(s, x), magnitude(s, y), (pr_interval){ 0, PR_INF },
                              quotient);
    Z3_ast minus = Z3_mk_unary_minus(z, v), flip = Z3_mk_lt(z, x, zero);
    if (quotient) flip = Z3_mk_xor(z, flip, Z3_mk_lt(z, y, zero));
    return Z3_mk_ite(z, flip, minus, v);          /* y = 0: 0, and sign(x)*|x| = x */
}

static Z3_ast division(pr_smt *s, pr_term_op op, pr_term tx, pr_term ty)
{
    Z3_context z = s->z;
    Z3_ast x = s->memo[tx.id], y = s->memo[ty.id], q, r;
    bool quotient = op == PR_TERM_OP_FDIV || op == PR_TERM_OP_TDIV;
    bool floor = op == PR_TERM_OP_FDIV || op == PR_TERM_OP_FMOD;
    pr_interval rx = own(s, tx), ry = own(s, ty);
    pr_i128 d;
    if (!pr_term_const(s->q->terms, ty, &d))
        return floor ? floor_division(s, x, y, ry, quotient)
                     : truncating_division(s, x, y, rx, ry, quotient);
    /* The constructors leave only constants > 1; anything else has a value without a pair. */
    if (d == 0) return quotient ? y : x;
    if (d < 0) return floor ? floor_division(s, x, y, ry, quotient)
                            : truncating_division(s, x, y, rx, ry, quotient);
    if (floor || rx.lo >= 0) {
        constant_pair(s, tx, x, d, &q, &r);
        return quotient ? q : r;
    }
    constant_pair(s, tx, magnitude(s, x), -d, &q, &r);            /* key (x, -d): of |x| by d */
    Z3_ast v = quotient ? q : r;
    return Z3_mk_ite(z, Z3_mk_ge(z, x, number(s, 0)), v, Z3_mk_unary_minus(z, v));
}

/* --- bits ---------------------------------------------------------------------------------- */

static unsigned width_of(pr_interval r)
{
    unsigned w = 1;
    while (w <= MAX_BITS && (r.lo < pr_int_min((int)w) || r.hi > pr_int_max((int)w))) w++;
    return w;
}

static Z3_ast bits(pr_smt *s, pr_term t, pr_term_op op, pr_term ta, pr_term tb)
{
    Z3_context z = s->z;
    unsigned wa = width_of(own(s, ta)), wb = width_of(own(s, tb)), w = wa > wb ? wa : wb;
    if (w > MAX_BITS) return relaxed(s, t);
    Z3_ast a = Z3_mk_int2bv(z, w, s->memo[ta.id]), b = Z3_mk_int2bv(z, w, s->memo[tb.id]);
    Z3_ast r = op == PR_TERM_OP_BAND ? Z3_mk_bvand(z, a, b)
             : op == PR_TERM_OP_BOR ? Z3_mk_bvor(z, a, b) : Z3_mk_bvxor(z, a, b);
    return Z3_mk_bv2int(z, r, true);
}

/* --- tables -------------------------------------------------------------------------------- */

enum { SPELLED_OUT = 64 };

/* What two entries of one table have to do with each other; in is true where both indices are in range. */
static void relate(pr_smt *s, pr_term t, pr_term u)
{
    const pr_terms *T = s->q->terms;
    Z3_context z = s->z;
    pr_tab tab = pr_term_tab(T, t);
    if (tab.id != pr_term_tab(T, u).id) return;
    Z3_ast i = s->memo[pr_term_child(T, t, 0).id], j = s->memo[pr_term_child(T, u, 0).id];
    Z3_ast v = s->memo[t.id], w = s->memo[u.id], same = Z3_mk_eq(z, i, j);
    const pr_tab_info *x = pr_tab_get(T, tab);
    pr_tab_facts f = pr_tab_facts_of(T, tab, (pr_interval){ 0, x->values ? x->n - 1 : PR_INF });
    assert_(s, Z3_mk_implies(z, same, Z3_mk_eq(z, v, w)));
    if (f.nondecreasing) {
        assert_(s, Z3_mk_implies(z, Z3_mk_le(z, i, j), Z3_mk_le(z, v, w)));
        assert_(s, Z3_mk_implies(z, Z3_mk_le(z, j, i), Z3_mk_le(z, w, v)));
    }
    if (f.spread < 1) return;
    Z3_ast part[5] = { Z3_mk_not(z, Z3_mk_eq(z, v, w)) }, last = number(s, x->values ? x->n - 1 : 0);
    part[1] = same;                /* or an index is out of range */
    if (!x->values) {
        assert_(s, or2(z, part[0], part[1]));
        return;
    }
    Z3_ast zero = number(s, 0);
    part[2] = or2(z, Z3_mk_lt(z, i, zero), Z3_mk_gt(z, i, last));
    part[3] = or2(z, Z3_mk_lt(z, j, zero), Z3_mk_gt(z, j, last));
    assert_(s, Z3_mk_or(z, 4, part));
}

static Z3_ast entry(pr_smt *s, pr_term t, Z3_ast index)
{
    const pr_terms *T = s->q->terms;
    Z3_context z = s->z;
    pr_tab tab = pr_term_tab(T, t);
    const pr_tab_info *x = pr_tab_get(T, tab);
    int n;
    const pr_tab_piece *p = pr_tab_pieces(T, tab, &n);
    if (!p && (!x->values || x->n > SPELLED_OUT)) {
        Z3_ast v = relaxed(s, t);
        s->memo[t.id] = v;
        for (int i = 0; i < s->entries.n; i++) relate(s, t, s->entries.data[i]);
        pr_vec_push(s->arena, &s->entries, t);
        return v;
    }
    Z3_ast v = number(s, x->values[x->n - 1]);
    for (int i = p ? n : (int)x->n; i-- > 0;) {
        Z3_ast here = p ? add2(z, mul2(z, number(s, p[i].a), index), number(s, p[i].b)) : number(s, x->values[i]);
        v = Z3_mk_ite(z, Z3_mk_le(z, index, number(s, p ? p[i].last : i)), here, v);
    }
    return Z3_mk_ite(z, Z3_mk_lt(z, index, number(s, 0)), number(s, x->values[0]), v);
}

/* --- nodes --------------------------------------------------------------------------------- */

static Z3_ast sum(pr_smt *s, pr_term t)
{
    const pr_terms *T = s->q->terms;
    int n = pr_term_arity(T, t), k = 0;
    Z3_ast *part = PR_NEW_N(s->arena, Z3_ast, n + 1);
    for (int i = 0; i < n; i++) {
        Z3_ast x = s->memo[pr_term_child(T, t, i).id];
        pr_i128 c = pr_term_coef(T, t, i);
        part[k++] = c == 1 ? x : mul2(s->z, number(s, c), x);
    }
    if (pr_term_value(T, t) != 0 || k == 0) part[k++] = number(s, pr_term_value(T, t));
    return k == 1 ? part[0] : Z3_mk_add(s->z, (unsigned)k, part);
}

static Z3_ast fits(pr_smt *s, pr_term t, Z3_ast x)
{
    const pr_terms *T = s->q->terms;
    Z3_context z = s->z;
    int n = pr_term_bits(T, t);
    pr_i128 lo = 0, hi = 1;
    switch (pr_term_fits_kind(T, t)) {
    case PR_FITS_NONNEG: return Z3_mk_ge(z, x, number(s, 0));
    case PR_FITS_BIT: break;
    case PR_FITS_SIGNED:
        if (n > 120) return Z3_mk_true(z);
        lo = pr_int_min(n);
        hi = pr_int_max(n);
        break;
    }
    return and2(z, Z3_mk_ge(z, x, number(s, lo)), Z3_mk_le(z, x, number(s, hi)));
}

static void lower_node(void *user, pr_term t)
{
    pr_smt *s = user;
    const pr_terms *T = s->q->terms;
    Z3_context z = s->z;
    if (s->memo[t.id]) return;
    s->too_large = s->too_large || (s->limited && s->n_nodes >= PR_SMT_NODES);
    if (s->too_large) return;
    pr_term c[3] = { { 0 } };
    Z3_ast a[3] = { NULL };
    pr_term_op op = pr_term_op_of(T, t);
    int n = pr_term_arity(T, t);
    for (int i = 0; i < n && i < 3; i++) {
        c[i] = pr_term_child(T, t, i);
        a[i] = s->memo[c[i].id];
    }
    Z3_ast r = NULL;
    switch (op) {
    case PR_TERM_OP_NONE: r = relaxed(s, t); break;
    case PR_TERM_OP_FALSE: r = Z3_mk_false(z); break;
    case PR_TERM_OP_TRUE: r = Z3_mk_true(z); break;
    case PR_TERM_OP_CONST: r = number(s, pr_term_value(T, t)); break;
    case PR_TERM_OP_VAR: r = variable(s, pr_term_var(T, t)); break;
    case PR_TERM_OP_APP: r = relaxed(s, t); break;
    case PR_TERM_OP_SUM: r = sum(s, t); break;
    case PR_TERM_OP_MUL: r = mul2(z, a[0], a[1]); break;
    case PR_TERM_OP_FDIV: case PR_TERM_OP_FMOD:
    case PR_TERM_OP_TDIV: case PR_TERM_OP_TREM:
        s->n_divisions++;
        r = division(s, op, c[0], c[1]);
        break;
    case PR_TERM_OP_MIN: r = Z3_mk_ite(z, Z3_mk_le(z, a[0], a[1]), a[0], a[1]); break;
    case PR_TERM_OP_MAX: r = Z3_mk_ite(z, Z3_mk_le(z, a[0], a[1]), a[1], a[0]); break;
    case PR_TERM_OP_SELECT: r = Z3_mk_ite(z, a[0], a[1], a[2]); break;
    case PR_TERM_OP_BAND: case PR_TERM_OP_BOR:
    case PR_TERM_OP_BXOR: r = bits(s, t, op, c[0], c[1]); break;
    case PR_TERM_OP_LE0: r = Z3_mk_le(z, a[0], number(s, 0)); break;
    case PR_TERM_OP_EQ0: r = Z3_mk_eq(z, a[0], number(s, 0)); break;
    case PR_TERM_OP_NOT: r = Z3_mk_not(z, a[0]); break;
    case PR_TERM_OP_AND: r = and2(z, a[0], a[1]); break;
    case PR_TERM_OP_OR: r = or2(z, a[0], a[1]); break;
    case PR_TERM_OP_FITS: r = fits(s, t, a[0]); break;
    case PR_TERM_OP_TABLE: r = entry(s, t, a[0]); break;
    }
    s->memo[t.id] = r;
    s->n_nodes++;
}

static bool conjunct(pr_smt *s, pr_term t)
{
    if (pr_term_none(t)) return false;
    pr_term_visit(s->q->terms, t, lower_node, s);
    if (s->too_large) return false;
    assert_(s, s->memo[t.id]);
    return true;
}

bool pr_smt_lower(pr_smt *s, Z3_context z, const pr_query *q, bool limited, pr_arena *arena)
{
    *s = (pr_smt){ .limited = limited, .z = z, .q = q, .arena = arena, .box = pr_query_box(q) };
    pr_term overlap[2];
    int n = pr_query_overlap(q, s->box, overlap);
    s->memo = PR_NEW_N(arena, Z3_ast, pr_terms_count(q->terms));
    s->var = PR_NEW_N(arena, Z3_ast, pr_vars_count(q->terms));
    for (int i = 0; i < q->n_vars; i++) variable(s, q->vars[i]);
    bool ok = true;
    for (int i = 0; i < q->n_core; i++) ok = conjunct(s, q->core[i]) && ok;
    for (int i = 0; i < q->n_premises; i++) ok = conjunct(s, q->premises[i]) && ok;
    for (int i = 0; i < n; i++) ok = conjunct(s, overlap[i]) && ok;
    if (q->n_distinct && ok) {
        Z3_ast *arm = PR_NEW_N(arena, Z3_ast, q->n_distinct);
        for (int i = 0; i < q->n_distinct && ok; i++) {
            ok = conjunct(s, q->distinct[i]);
            if (ok) arm[i] = s->asserted.data[--s->asserted.n];
        }
        if (ok) assert_(s, Z3_mk_or(z, (unsigned)q->n_distinct, arm));
    }
    return ok && !pr_z3_failed();
}
