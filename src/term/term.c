/* The term store: hash-consing, inspection, variables, symbols and the Boolean and choice
 * constructors. Integer arithmetic is in arith.c, divisions and bit operations in divide.c.
 *
 * Every constructor normalises by the numbered rules below and then looks the node up by content,
 * so equal index means equal structure. Rules use only the operands and the variables' own
 * intervals; each is a theorem about the semantics in term.h and has a unit test with its number.
 *
 * Rules of this file
 *  B1  not false = true, not not a = a, not (t <= 0) = (1 - t <= 0)
 *  B2  and/or with true or false; equal operands
 *  B3  a and not a = false, a or not a = true; also t1<=0 and t2<=0 with t1+t2 constant
 *  B4  t1<=0 and t2<=0 with t1-t2 constant keeps the stronger, or keeps the weaker
 *  B5  a and (a and b) = a and b, a and (a or b) = a; the same with and/or exchanged
 *  C1  t <= 0: coefficients divided by their gcd, constant rounded up
 *  C2  t == 0: divided by the gcd, false when it does not divide; first coefficient positive
 *  C3  comparisons decided by the own interval
 *  C4  comparison of k*select(c, const, const) + v becomes c, not c, true or false
 *  S1  select with constant condition or equal arms
 *  S2  select(not c, a, b) = select(c, b, a)
 *  S3  Boolean arms: (c and a) or (not c and b)
 *  S4  select(c, select(c, a, b), d) = select(c, a, d), and in the other arm
 *  M1  min/max of operands that differ by a constant, or whose own intervals decide
 *  M2  min(min(x, c1), c2) = min(x, min(c1, c2)); the same for max
 *  F1  fits decided by the own interval
 *  L1  table entry at a constant; entries that are all equal over the index's own interval */
#include "term/store.h"
#include "term/table.h"
#include <assert.h>

/* --- store --------------------------------------------------------------------------------- */

static void *grow(pr_arena *a, void *data, uint32_t n, uint32_t *cap, uint32_t need, size_t size)
{
    if (need <= *cap) return data;
    uint32_t wider = *cap ? *cap * 2 : 64;
    while (wider < need) wider *= 2;
    void *p = pr_arena_raw(a, size * wider);      /* every entry is written before it is read */
    if (n) memcpy(p, data, size * n);
    *cap = wider;
    return p;
}

static uint64_t mix(uint64_t h, uint64_t w)
{
    h = (h ^ w) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

/* What tells a node from all others, its children and coefficients beside it. */
typedef struct key { pr_term_op op; uint32_t kind, aux, n; pr_i128 value; } key;

static uint32_t hash_of(const key *x, const pr_term *child, const pr_i128 *coef)
{
    uint64_t h = mix((uint64_t)x->op | (uint64_t)x->kind << 8 | (uint64_t)x->aux << 32, x->n);
    h = mix(mix(h, (uint64_t)x->value), (uint64_t)(x->value >> 64));
    for (uint32_t i = 0; i < x->n; i++) h = mix(h, child[i].id);
    for (uint32_t i = 0; coef && i < x->n; i++) h = mix(h, (uint64_t)coef[i] ^ (uint64_t)(coef[i] >> 64) << 7);
    h *= 0xd6e8feb86659fd93u;
    return (uint32_t)(h >> 32);
}

static bool same_node(const pr_terms *T, const node *a, const key *x, const pr_term *child, const pr_i128 *coef)
{
    if (a->op != x->op || a->kind != x->kind || a->aux != x->aux || a->n != x->n || a->value != x->value) return false;
    for (uint32_t i = 0; i < x->n; i++) {
        if (T->kids[a->first + i] != child[i].id) return false;
        if (coef && T->coefs[a->coef + i] != coef[i]) return false;
    }
    return true;
}

static void table_put(pr_terms *T, uint32_t id)
{
    uint32_t mask = T->table_cap - 1, i = T->nodes[id].hash & mask;
    while (T->table[i]) i = (i + 1) & mask;
    T->table[i] = id;
}

static uint8_t zeros_of(pr_i128 v)
{
    if (v == 0) return 127;
    uint64_t low = (uint64_t)v;
    return (uint8_t)(low ? __builtin_ctzll(low) : 64 + __builtin_ctzll((uint64_t)(v >> 64)));
}

static uint8_t zeros_step(const pr_terms *T, const node *x, const pr_term *child,
                          const pr_i128 *coef)
{
    uint8_t z[2] = { 0, 0 };
    for (uint32_t i = 0; i < x->n && i < 2; i++) z[i] = T->nodes[child[i].id].zeros;
    uint8_t least = z[0] < z[1] ? z[0] : z[1], most = z[0] < z[1] ? z[1] : z[0];
    switch ((pr_term_op)x->op) {
    case PR_TERM_OP_CONST: return zeros_of(x->value);
    case PR_TERM_OP_SUM: {
        int m = x->value ? zeros_of(x->value) : 127;
        for (uint32_t i = 0; i < x->n; i++) {
            int k = zeros_of(coef[i]) + T->nodes[child[i].id].zeros;
            if (k < m) m = k;
        }
        return (uint8_t)m;
    }
    case PR_TERM_OP_MUL: return z[0] + z[1] > 127 ? 127 : (uint8_t)(z[0] + z[1]);
    case PR_TERM_OP_FMOD: case PR_TERM_OP_TREM:
    case PR_TERM_OP_MIN: case PR_TERM_OP_MAX:
    case PR_TERM_OP_BOR: case PR_TERM_OP_BXOR: return least;
    case PR_TERM_OP_BAND: return most;
    case PR_TERM_OP_SELECT: {
        uint8_t b = T->nodes[child[2].id].zeros;
        return z[1] < b ? z[1] : b;
    }
    default: return 0;
    }
}

static uint16_t own_kind(const pr_terms *T, const node *x)
{
    switch ((pr_term_op)x->op) {
    case PR_TERM_OP_VAR: return (uint16_t)PR_OCCURS(T->vars[x->aux].role);
    case PR_TERM_OP_APP: return PR_OCCURS_APP;
    case PR_TERM_OP_TABLE: return PR_OCCURS_TABLE;
    case PR_TERM_OP_FITS: return PR_OCCURS_FITS;
    default: return 0;
    }
}

static uint8_t own_lane(const pr_var_info *v)
{
    return v->role == PR_ROLE_LANE && v->copy == PR_COPY_NONE && v->index >= 0 && v->index < 8 ? (uint8_t)(1u << v->index) : 0;
}

/* 0: there is none yet. */
static uint32_t look_up(const pr_terms *T, uint32_t hash, const key *x, const pr_term *child, const pr_i128 *coef)
{
    uint32_t mask = T->table_cap - 1;
    for (uint32_t i = hash & mask; T->table[i]; i = (i + 1) & mask)
        if (T->nodes[T->table[i]].hash == hash && same_node(T, &T->nodes[T->table[i]], x, child, coef)) return T->table[i];
    return 0;
}

static uint32_t add_kids(pr_terms *T, const pr_term *child, uint32_t n)
{
    T->kids = grow(T->arena, T->kids, T->n_kids, &T->cap_kids, T->n_kids + n, sizeof *T->kids);
    for (uint32_t i = 0; i < n; i++) {
        assert(child[i].id && child[i].id < T->n_nodes);
        T->kids[T->n_kids + i] = child[i].id;
    }
    T->n_kids += n;
    return T->n_kids - n;
}

static uint32_t add_coefs(pr_terms *T, const pr_i128 *coef, uint32_t n)
{
    T->coefs = grow(T->arena, T->coefs, T->n_coefs, &T->cap_coefs, T->n_coefs + n, sizeof *T->coefs);
    for (uint32_t i = 0; i < n; i++) T->coefs[T->n_coefs + i] = coef[i];
    T->n_coefs += n;
    return T->n_coefs - n;
}

/* Its children and coefficients are in the pools, its facts known. */
static pr_term add_node(pr_terms *T, const node *x)
{
    T->nodes = grow(T->arena, T->nodes, T->n_nodes, &T->cap_nodes, T->n_nodes + 1, sizeof *T->nodes);
    uint32_t id = T->n_nodes++;
    T->nodes[id] = *x;
    if (T->n_nodes * 2 > T->table_cap) {
        T->table_cap *= 2;
        T->table = PR_NEW_N(T->arena, uint32_t, T->table_cap);
        for (uint32_t k = 1; k < T->n_nodes; k++) table_put(T, k);
    } else {
        table_put(T, id);
    }
    return (pr_term){ id };
}

/* Adds a node that is new. Operands may point into a pool that grows: the old one stays in the arena. */
static pr_term add(pr_terms *T, uint32_t hash, const key *k, bool is_bool, const pr_term *child, const pr_i128 *coef,
                   const pr_interval *own)
{
    const unsigned shared = PR_OCCURS(PR_ROLE_PARAM) | PR_OCCURS(PR_ROLE_GRID) | PR_OCCURS_TABLE | PR_OCCURS_FITS;
    node x = { .op = (uint8_t)k->op, .kind = (uint8_t)k->kind, .aux = k->aux, .n = k->n, .value = k->value, .hash = hash,
               .is_bool = is_bool };
    x.occurs = own_kind(T, &x);
    if (x.op == PR_TERM_OP_VAR) x.lanes = own_lane(&T->vars[x.aux]);
    for (uint32_t i = 0; i < x.n; i++) {
        x.occurs |= T->nodes[child[i].id].occurs;
        x.lanes |= T->nodes[child[i].id].lanes;
    }
    x.shared = !(x.occurs & ~shared);
    x.first = add_kids(T, child, x.n);
    if (coef) x.coef = add_coefs(T, coef, x.n);
    x.zeros = zeros_step(T, &x, child, coef);
    if (own) {
        x.own = *own;
    } else {
        pr_interval facts[3] = { 0 }, var = { -PR_INF, PR_INF };   /* no operation but a sum has more that count */
        for (uint32_t i = 0; i < x.n && i < 3; i++) facts[i] = T->nodes[child[i].id].own;
        if (x.op == PR_TERM_OP_VAR) var = (pr_interval){ T->vars[x.aux].lo, T->vars[x.aux].hi };
        x.own = pr_range_step(T, &x, facts, var);
    }
    return add_node(T, &x);
}

pr_term pr_intern(pr_terms *T, pr_term_op op, uint32_t aux, pr_i128 value, const pr_term *child, int n)
{
    key k = { .op = op, .aux = aux, .value = value, .n = (uint32_t)n };
    uint32_t hash = hash_of(&k, child, NULL), known = look_up(T, hash, &k, child, NULL);
    if (known) return (pr_term){ known };
    bool is_bool = op == PR_TERM_OP_FALSE || op == PR_TERM_OP_TRUE || op == PR_TERM_OP_LE0
                || op == PR_TERM_OP_EQ0 || op == PR_TERM_OP_NOT || op == PR_TERM_OP_AND
                || op == PR_TERM_OP_OR || (op == PR_TERM_OP_APP && T->syms[aux].is_bool);
    return add(T, hash, &k, is_bool, child, NULL, NULL);
}

pr_term pr_intern_sum(pr_terms *T, const pr_term *child, const pr_i128 *coef, int n, pr_i128 constant, const pr_interval *own)
{
    key k = { .op = PR_TERM_OP_SUM, .value = constant, .n = (uint32_t)n };
    uint32_t hash = hash_of(&k, child, coef), known = look_up(T, hash, &k, child, coef);
    if (known) return (pr_term){ known };
    pr_interval range = own ? *own : pr_range_linear(T, child, coef, n, constant);
    return add(T, hash, &k, false, child, coef, &range);
}

pr_term pr_intern_renamed(pr_terms *T, pr_term t, const pr_term *child, const pr_i128 *coef)
{
    node x = *node_of(T, t);       /* equal facts: the variables below have equal intervals */
    bool sum = x.op == PR_TERM_OP_SUM;
    const pr_i128 *all = !sum ? NULL : coef ? coef : T->coefs + x.coef;
    key k = { .op = (pr_term_op)x.op, .kind = x.kind, .aux = x.aux, .value = x.value, .n = x.n };
    x.hash = hash_of(&k, child, all);
    uint32_t known = look_up(T, x.hash, &k, child, all);
    if (known) return (pr_term){ known };
    x.negation = 0;
    x.lanes = 0;
    for (uint32_t i = 0; i < x.n; i++) x.lanes |= T->nodes[child[i].id].lanes;
    x.first = add_kids(T, child, x.n);
    if (coef || !sum) x.coef = coef ? add_coefs(T, coef, x.n) : 0;
    return add_node(T, &x);
}

pr_terms *pr_terms_new(pr_arena *arena)
{
    pr_terms *T = PR_NEW(arena, pr_terms);
    T->arena = arena;
    T->table_cap = 4096;
    T->table = PR_NEW_N(arena, uint32_t, T->table_cap);
    T->nodes = grow(arena, NULL, 0, &T->cap_nodes, 1024, sizeof *T->nodes);   /* what a kernel of a few accesses needs */
    T->kids = grow(arena, NULL, 0, &T->cap_kids, 2048, sizeof *T->kids);
    T->coefs = grow(arena, NULL, 0, &T->cap_coefs, 1024, sizeof *T->coefs);
    T->vars = grow(arena, NULL, 0, &T->cap_vars, 64, sizeof *T->vars);
    T->var_terms = PR_NEW_N(arena, uint32_t, T->cap_vars);
    T->syms = grow(arena, NULL, 0, &T->cap_syms, 16, sizeof *T->syms);
    memset(&T->nodes[0], 0, sizeof *T->nodes);       /* number 0 means none */
    memset(&T->vars[0], 0, sizeof *T->vars);
    memset(&T->syms[0], 0, sizeof *T->syms);
    T->n_nodes = T->n_vars = T->n_syms = 1;
    pr_term f = pr_intern(T, PR_TERM_OP_FALSE, 0, 0, NULL, 0);
    pr_term t = pr_intern(T, PR_TERM_OP_TRUE, 0, 0, NULL, 0);
    pr_term z = pr_intern(T, PR_TERM_OP_CONST, 0, 0, NULL, 0);
    assert(pr_term_is(f, PR_TERM_FALSE) && pr_term_is(t, PR_TERM_TRUE)
           && pr_term_is(z, PR_TERM_ZERO));
    T->nodes[1].negation = 2;
    T->nodes[2].negation = 1;
    (void)f, (void)t, (void)z;
    return T;
}

pr_arena *pr_terms_arena(const pr_terms *T) { return T->arena; }
uint32_t pr_terms_count(const pr_terms *T) { return T->n_nodes; }

/* --- variables and symbols ----------------------------------------------------------------- */

pr_var pr_var_new(pr_terms *T, pr_var_info info)
{
    int64_t *most = &T->most_index[info.role][info.copy];
    for (uint32_t i = 1; i < T->n_vars && info.index < *most; i++) {    /* a larger index than all before is new */
        const pr_var_info *v = &T->vars[i];
        if (v->role == info.role && v->index == info.index && v->copy == info.copy)
            return (pr_var){ i };
    }
    if (info.index >= *most) *most = (int64_t)info.index + 1;
    uint32_t cap = T->cap_vars;
    T->vars = grow(T->arena, T->vars, T->n_vars, &T->cap_vars, T->n_vars + 1, sizeof *T->vars);
    T->var_terms = grow(T->arena, T->var_terms, T->n_vars, &cap, T->n_vars + 1,
                        sizeof *T->var_terms);
    T->var_terms[T->n_vars] = 0;
    if (info.lo < -PR_INF) info.lo = -PR_INF;
    if (info.hi > PR_INF) info.hi = PR_INF;
    if (!info.name) info.name = pr_arena_printf(T->arena, "v%u", T->n_vars);
    T->vars[T->n_vars] = info;
    return (pr_var){ T->n_vars++ };
}

const pr_var_info *pr_var_get(const pr_terms *T, pr_var v)
{
    assert(v.id && v.id < T->n_vars);
    return &T->vars[v.id];
}

uint32_t pr_vars_count(const pr_terms *T) { return T->n_vars; }

pr_sym pr_sym_new(pr_terms *T, pr_sym_info info)
{
    T->syms = grow(T->arena, T->syms, T->n_syms, &T->cap_syms, T->n_syms + 1, sizeof *T->syms);
    T->syms[T->n_syms] = info;
    return (pr_sym){ T->n_syms++ };
}

const pr_sym_info *pr_sym_get(const pr_terms *T, pr_sym s)
{
    assert(s.id && s.id < T->n_syms);
    return &T->syms[s.id];
}

uint32_t pr_syms_count(const pr_terms *T) { return T->n_syms; }

/* --- inspection ---------------------------------------------------------------------------- */

pr_term_op pr_term_op_of(const pr_terms *T, pr_term t) { return (pr_term_op)T->nodes[t.id].op; }
bool pr_term_is_bool(const pr_terms *T, pr_term t) { return T->nodes[t.id].is_bool; }
unsigned pr_term_lanes(const pr_terms *T, pr_term t) { return T->nodes[t.id].lanes; }
unsigned pr_term_occurs(const pr_terms *T, pr_term t) { return T->nodes[t.id].occurs; }
int pr_term_arity(const pr_terms *T, pr_term t) { return (int)T->nodes[t.id].n; }

pr_term pr_term_child(const pr_terms *T, pr_term t, int i)
{
    const node *x = node_of(T, t);
    assert(i >= 0 && (uint32_t)i < x->n);
    return kid(T, x, (uint32_t)i);
}

pr_i128 pr_term_coef(const pr_terms *T, pr_term t, int i)
{
    const node *x = node_of(T, t);
    assert(x->op == PR_TERM_OP_SUM && i >= 0 && (uint32_t)i < x->n);
    return T->coefs[x->coef + (uint32_t)i];
}

pr_i128 pr_term_value(const pr_terms *T, pr_term t) { return T->nodes[t.id].value; }

bool pr_term_const(const pr_terms *T, pr_term t, pr_i128 *v)
{
    const node *x = node_of(T, t);
    if (x->op != PR_TERM_OP_CONST) return false;
    if (v) *v = x->value;
    return true;
}

pr_var pr_term_var(const pr_terms *T, pr_term t)
{
    assert(T->nodes[t.id].op == PR_TERM_OP_VAR);
    return (pr_var){ T->nodes[t.id].aux };
}

pr_term_view pr_term_look(const pr_terms *T, pr_term t)
{
    _Static_assert(sizeof(pr_term) == sizeof *T->kids, "a child is a term");
    const node *x = node_of(T, t);
    return (pr_term_view){ (pr_term_op)x->op, (int)x->n, x->aux, (pr_fits_kind)x->kind, (const pr_term *)(T->kids + x->first),
                           x->op == PR_TERM_OP_SUM ? T->coefs + x->coef : NULL, x->value };
}

pr_sym pr_term_sym(const pr_terms *T, pr_term t)
{
    assert(T->nodes[t.id].op == PR_TERM_OP_APP);
    return (pr_sym){ T->nodes[t.id].aux };
}

pr_tab pr_term_tab(const pr_terms *T, pr_term t)
{
    assert(T->nodes[t.id].op == PR_TERM_OP_TABLE);
    return (pr_tab){ T->nodes[t.id].aux };
}

int pr_term_bits(const pr_terms *T, pr_term t)
{
    assert(T->nodes[t.id].op == PR_TERM_OP_FITS);
    return (int)T->nodes[t.id].aux;
}

pr_fits_kind pr_term_fits_kind(const pr_terms *T, pr_term t)
{
    assert(T->nodes[t.id].op == PR_TERM_OP_FITS);
    return (pr_fits_kind)T->nodes[t.id].kind;
}

/* --- leaves -------------------------------------------------------------------------------- */

pr_term pr_const(pr_terms *T, pr_i128 v)
{
    uint32_t *known = &T->consts[((uint64_t)v * 0x9e3779b97f4a7c15u) >> 56];
    if (*known && T->nodes[*known].value == v) return (pr_term){ *known };
    pr_term t = pr_intern(T, PR_TERM_OP_CONST, 0, v, NULL, 0);
    *known = t.id;
    return t;
}

pr_term pr_bool(bool v) { return v ? PR_TERM_TRUE : PR_TERM_FALSE; }

pr_term pr_var_term(pr_terms *T, pr_var v)
{
    assert(v.id && v.id < T->n_vars);
    if (!T->var_terms[v.id]) {
        T->var_terms[v.id] = pr_intern(T, PR_TERM_OP_VAR, v.id, 0, NULL, 0).id;
    }
    return (pr_term){ T->var_terms[v.id] };
}

pr_term pr_app(pr_terms *T, pr_sym s, const pr_term *args, int n)
{
    assert(s.id && s.id < T->n_syms);
    for (int i = 0; i < n; i++) {
        if (pr_term_none(args[i])) return PR_TERM_NONE;
    }
    return pr_intern(T, PR_TERM_OP_APP, s.id, 0, args, n);
}

pr_term pr_table(pr_terms *T, pr_tab tab, pr_term index)
{
    if (pr_term_none(index)) return index;
    assert(!pr_term_is_bool(T, index));
    if (pr_tab_get(T, tab)->values) {                                 /* L1 */
        pr_interval r = pr_tab_range(T, tab, node_of(T, index)->own);
        if (r.lo == r.hi) return pr_const(T, r.lo);
    }
    return pr_intern(T, PR_TERM_OP_TABLE, tab.id, 0, &index, 1);
}

/* --- helpers on linear forms ---------------------------------------------------------------- */

/* Linear view of an integer term without building one: children, coefficients, constant. */
typedef struct view { const uint32_t *id; const pr_i128 *coef; uint32_t n; pr_i128 k; } view;
static const pr_i128 one = 1;

static view view_of(const pr_terms *T, const pr_term *t)
{
    const node *x = node_of(T, *t);
    if (x->op == PR_TERM_OP_SUM)
        return (view){ T->kids + x->first, T->coefs + x->coef, x->n, x->value };
    if (x->op == PR_TERM_OP_CONST) return (view){ NULL, NULL, 0, x->value };
    return (view){ &t->id, &one, 1, 0 };
}

/* Is a + sign*b a constant? Then *k is it. */
static bool linear_combination_const(const pr_terms *T, pr_term a, pr_term b, int sign, pr_i128 *k)
{
    view x = view_of(T, &a), y = view_of(T, &b);
    if (x.n != y.n) return false;
    for (uint32_t i = 0; i < x.n; i++) {
        pr_i128 c;
        if (x.id[i] != y.id[i]) return false;
        if (sign > 0 ? !pr_add_ok(x.coef[i], y.coef[i], &c) : !pr_sub_ok(x.coef[i], y.coef[i], &c))
            return false;
        if (c != 0) return false;
    }
    return sign > 0 ? pr_add_ok(x.k, y.k, k) : pr_sub_ok(x.k, y.k, k);
}

/* gcd of the coefficients, 1 for an atom, 0 for a constant. */
static pr_i128 content(const pr_terms *T, pr_term t)
{
    view x = view_of(T, &t);
    pr_i128 g = 0;
    for (uint32_t i = 0; i < x.n && g != 1; i++) {
        if (x.coef[i] == PR_I128_MIN) return 1;
        g = pr_gcd(g, x.coef[i]);
    }
    return g;
}

/* t with its constant replaced and every coefficient divided by g (which divides them). */
static pr_term divided(pr_terms *T, pr_term t, pr_i128 g, pr_i128 constant)
{
    view x = view_of(T, &t);
    pr_term few[16], *child = x.n <= 16 ? few : PR_NEW_N(T->arena, pr_term, x.n);
    pr_i128 some[16], *coef = x.n <= 16 ? some : PR_NEW_N(T->arena, pr_i128, x.n);
    for (uint32_t i = 0; i < x.n; i++) {
        child[i].id = x.id[i];
        coef[i] = x.coef[i] / g;
    }
    return pr_sum(T, child, coef, (int)x.n, constant);
}

/* --- comparisons --------------------------------------------------------------------------- */

/* Rule C4: t is k*select(c, p, q) + v with constants p, q; truth of the comparison in both arms. */
static pr_term compare_select(pr_terms *T, pr_term t, bool equality)
{
    view x = view_of(T, &t);
    if (x.n != 1) return PR_TERM_NONE;
    const node *s = &T->nodes[x.id[0]];
    if (s->op != PR_TERM_OP_SELECT) return PR_TERM_NONE;
    bool truth[2];
    for (int i = 0; i < 2; i++) {
        pr_i128 v;
        if (!pr_term_const(T, kid(T, s, (uint32_t)i + 1), &v) || !pr_mul_ok(v, x.coef[0], &v)
            || !pr_add_ok(v, x.k, &v))
            return PR_TERM_NONE;
        truth[i] = equality ? v == 0 : v <= 0;
    }
    pr_term c = kid(T, s, 0);
    if (truth[0] == truth[1]) return pr_bool(truth[0]);
    return truth[0] ? c : pr_not(T, c);
}

pr_term pr_le0(pr_terms *T, pr_term t)
{
    if (pr_term_none(t)) return t;
    assert(!pr_term_is_bool(T, t));
    pr_interval r = node_of(T, t)->own;
    if (r.hi <= 0) return PR_TERM_TRUE;             /* C3 */
    if (r.lo > 0) return PR_TERM_FALSE;
    pr_term s = compare_select(T, t, false);
    if (!pr_term_none(s)) return s;                 /* C4 */
    pr_i128 g = content(T, t), k = view_of(T, &t).k;
    if (g > 1) {                                    /* C1 */
        pr_i128 up = k == PR_I128_MIN ? k / g : -pr_fdiv(-k, g);
        t = divided(T, t, g, up);
        if (pr_term_none(t)) return t;
        r = node_of(T, t)->own;
        if (r.hi <= 0) return PR_TERM_TRUE;
        if (r.lo > 0) return PR_TERM_FALSE;
    }
    return pr_intern(T, PR_TERM_OP_LE0, 0, 0, &t, 1);
}

static pr_term eq0(pr_terms *T, pr_term t)
{
    if (pr_term_none(t)) return t;
    assert(!pr_term_is_bool(T, t));
    pr_interval r = node_of(T, t)->own;
    if (r.lo > 0 || r.hi < 0) return PR_TERM_FALSE; /* C3 */
    if (r.lo == 0 && r.hi == 0) return PR_TERM_TRUE;
    pr_term s = compare_select(T, t, true);
    if (!pr_term_none(s)) return s;                 /* C4 */
    view x = view_of(T, &t);
    pr_i128 g = content(T, t), k = x.k;
    assert(x.n > 0);
    bool flip = x.coef[0] < 0;
    if (g > 1 || flip) {                            /* C2 */
        if (k % g != 0) return PR_TERM_FALSE;
        pr_i128 d = flip ? -g : g;
        if (k == PR_I128_MIN && d == -1) return PR_TERM_NONE;
        return eq0(T, divided(T, t, d, k / d));     /* smaller numbers may have an interval where these had none */
    }
    return pr_intern(T, PR_TERM_OP_EQ0, 0, 0, &t, 1);
}

pr_term pr_le(pr_terms *T, pr_term a, pr_term b)
{
    return pr_sum_le0(T, (const pr_term[]){ a, b }, (const pr_i128[]){ 1, -1 }, 2, 0);
}

pr_term pr_lt(pr_terms *T, pr_term a, pr_term b)
{
    return pr_sum_le0(T, (const pr_term[]){ a, b }, (const pr_i128[]){ 1, -1 }, 2, 1);
}

pr_term pr_eq(pr_terms *T, pr_term a, pr_term b) { return eq0(T, pr_sub(T, a, b)); }
pr_term pr_ne(pr_terms *T, pr_term a, pr_term b) { return pr_not(T, pr_eq(T, a, b)); }

/* --- Boolean connectives ------------------------------------------------------------------- */

pr_term pr_not(pr_terms *T, pr_term a)
{
    if (pr_term_none(a)) return a;
    assert(pr_term_is_bool(T, a));
    if (T->nodes[a.id].negation) return (pr_term){ T->nodes[a.id].negation };
    pr_term r;
    if (node_of(T, a)->op == PR_TERM_OP_NOT) {
        r = kid(T, node_of(T, a), 0);
    } else if (node_of(T, a)->op == PR_TERM_OP_LE0) {
        pr_term t = kid(T, node_of(T, a), 0);
        const pr_i128 minus = -1;
        r = pr_sum_le0(T, &t, &minus, 1, 1);
    } else {
        r = pr_intern(T, PR_TERM_OP_NOT, 0, 0, &a, 1);
    }
    if (!pr_term_none(r)) {
        T->nodes[a.id].negation = r.id;
        if (!T->nodes[r.id].negation) T->nodes[r.id].negation = a.id;
    }
    return r;
}

static bool is_not_of(const pr_terms *T, pr_term a, pr_term b)
{
    const node *x = node_of(T, a), *y = node_of(T, b);
    return (x->op == PR_TERM_OP_NOT && T->kids[x->first] == b.id)
        || (y->op == PR_TERM_OP_NOT && T->kids[y->first] == a.id);
}

/* AND and OR in one function: neutral and absorbing element exchanged. */
static pr_term junction(pr_terms *T, pr_term a, pr_term b, bool is_and)
{
    if (pr_term_none(a) || pr_term_none(b)) return PR_TERM_NONE;
    assert(pr_term_is_bool(T, a) && pr_term_is_bool(T, b));
    pr_term neutral = pr_bool(is_and), absorbing = pr_bool(!is_and);
    pr_term_op op = is_and ? PR_TERM_OP_AND : PR_TERM_OP_OR;
    pr_term_op dual = is_and ? PR_TERM_OP_OR : PR_TERM_OP_AND;
    if (pr_term_is(a, neutral) || pr_term_is(a, b)) return b;          /* B2 */
    if (pr_term_is(b, neutral)) return a;
    if (pr_term_is(a, absorbing) || pr_term_is(b, absorbing)) return absorbing;
    if (a.id > b.id) {
        pr_term s = a;
        a = b;
        b = s;
    }
    if (is_not_of(T, a, b)) return absorbing;                         /* B3 */
    if (node_of(T, a)->op == PR_TERM_OP_LE0 && node_of(T, b)->op == PR_TERM_OP_LE0) {
        pr_term x = kid(T, node_of(T, a), 0), y = kid(T, node_of(T, b), 0);
        pr_i128 k;
        if (linear_combination_const(T, x, y, 1, &k) && (is_and ? k > 0 : k <= 1))
            return absorbing;
        if (linear_combination_const(T, x, y, -1, &k)) return (k > 0) == is_and ? a : b; /* B4 */
    }
    for (int swap = 0; swap < 2; swap++) {                            /* B5 */
        pr_term s = swap ? b : a, t = swap ? a : b;
        const node *y = node_of(T, t);
        if ((y->op == op || y->op == dual)
            && (T->kids[y->first] == s.id || T->kids[y->first + 1] == s.id))
            return y->op == op ? t : s;
    }
    pr_term child[2] = { a, b };
    return pr_intern(T, op, 0, 0, child, 2);
}

pr_term pr_and(pr_terms *T, pr_term a, pr_term b) { return junction(T, a, b, true); }
pr_term pr_or(pr_terms *T, pr_term a, pr_term b) { return junction(T, a, b, false); }
pr_term pr_implies(pr_terms *T, pr_term a, pr_term b) { return pr_or(T, pr_not(T, a), b); }

/* --- choices ------------------------------------------------------------------------------- */

pr_term pr_select(pr_terms *T, pr_term c, pr_term a, pr_term b)
{
    if (pr_term_none(c) || pr_term_none(a) || pr_term_none(b)) return PR_TERM_NONE;
    assert(pr_term_is_bool(T, c) && pr_term_is_bool(T, a) == pr_term_is_bool(T, b));
    if (pr_term_is(c, PR_TERM_TRUE) || pr_term_is(a, b)) return a;    /* S1 */
    if (pr_term_is(c, PR_TERM_FALSE)) return b;
    if (pr_term_is_bool(T, a))                                        /* S3 */
        return pr_or(T, pr_and(T, c, a), pr_and(T, pr_not(T, c), b));
    if (node_of(T, c)->op == PR_TERM_OP_NOT)                          /* S2 */
        return pr_select(T, kid(T, node_of(T, c), 0), b, a);
    const node *x = node_of(T, a), *y = node_of(T, b);
    if (x->op == PR_TERM_OP_SELECT && T->kids[x->first] == c.id)      /* S4 */
        return pr_select(T, c, kid(T, x, 1), b);
    if (y->op == PR_TERM_OP_SELECT && T->kids[y->first] == c.id)
        return pr_select(T, c, a, kid(T, y, 2));
    pr_term child[3] = { c, a, b };
    return pr_intern(T, PR_TERM_OP_SELECT, 0, 0, child, 3);
}

static pr_term extremum(pr_terms *T, pr_term a, pr_term b, bool is_min)
{
    if (pr_term_none(a) || pr_term_none(b)) return PR_TERM_NONE;
    assert(!pr_term_is_bool(T, a) && !pr_term_is_bool(T, b));
    pr_i128 k;
    if (linear_combination_const(T, a, b, -1, &k)) return (k <= 0) == is_min ? a : b; /* M1 */
    pr_interval x = node_of(T, a)->own, y = node_of(T, b)->own;
    if (x.hi <= y.lo) return is_min ? a : b;
    if (y.hi <= x.lo) return is_min ? b : a;
    pr_term_op op = is_min ? PR_TERM_OP_MIN : PR_TERM_OP_MAX;
    for (int swap = 0; swap < 2; swap++) {                            /* M2 */
        pr_term c = swap ? a : b, t = swap ? b : a;
        pr_i128 v, w;
        if (!pr_term_const(T, c, &v) || node_of(T, t)->op != op) continue;
        pr_term p = kid(T, node_of(T, t), 0), q = kid(T, node_of(T, t), 1);
        if (pr_term_const(T, p, &w)) {
            pr_term s = p;
            p = q;
            q = s;
        }
        if (pr_term_const(T, q, &w))
            return extremum(T, p, pr_const(T, (v < w) == is_min ? v : w), is_min);
    }
    pr_term child[2] = { a, b };
    if (a.id > b.id) child[0] = b, child[1] = a;
    return pr_intern(T, op, 0, 0, child, 2);
}

pr_term pr_min(pr_terms *T, pr_term a, pr_term b) { return extremum(T, a, b, true); }
pr_term pr_max(pr_terms *T, pr_term a, pr_term b) { return extremum(T, a, b, false); }

pr_term pr_bool_to_int(pr_terms *T, pr_term b)
{
    return pr_select(T, b, pr_const(T, 1), PR_TERM_ZERO);
}

pr_term pr_int_to_bool(pr_terms *T, pr_term a) { return pr_not(T, eq0(T, a)); }

/* --- width conditions ---------------------------------------------------------------------- */

static void fits_bounds(pr_fits_kind kind, int bits, pr_i128 *lo, pr_i128 *hi)
{
    assert(bits >= 1 || kind != PR_FITS_SIGNED);
    bool wide = bits > 120;
    *lo = 0;
    *hi = 1;
    if (kind == PR_FITS_NONNEG) *hi = PR_INF;
    if (kind == PR_FITS_SIGNED) {
        *lo = wide ? -PR_INF : pr_int_min(bits);
        *hi = wide ? PR_INF : pr_int_max(bits);
    }
}

pr_term pr_fits(pr_terms *T, pr_fits_kind kind, int bits, pr_term t)
{
    if (pr_term_none(t)) return t;
    assert(!pr_term_is_bool(T, t));
    pr_i128 lo, hi;
    fits_bounds(kind, bits, &lo, &hi);
    pr_interval r = node_of(T, t)->own;
    if (r.lo >= lo && r.hi <= hi) return PR_TERM_TRUE;                /* F1 */
    /* never FALSE: a condition that always fails must stay visible, or nobody names the wrap */
    key k = { .op = PR_TERM_OP_FITS, .kind = (uint32_t)kind, .aux = (uint32_t)bits, .n = 1 };
    uint32_t hash = hash_of(&k, &t, NULL), known = look_up(T, hash, &k, &t, NULL);
    return known ? (pr_term){ known } : add(T, hash, &k, true, &t, NULL, NULL);
}

pr_term pr_fits_expand(pr_terms *T, pr_term fits)
{
    if (pr_term_none(fits)) return fits;
    const node *x = node_of(T, fits);
    if (x->op != PR_TERM_OP_FITS) return fits;
    if (x->coef) return (pr_term){ x->coef };
    pr_i128 lo, hi;
    pr_term t = kid(T, x, 0);
    fits_bounds((pr_fits_kind)x->kind, (int)x->aux, &lo, &hi);
    const pr_i128 up = 1, down = -1;
    pr_interval own = node_of(T, t)->own;      /* mostly one of the two ends holds anyway */
    pr_term r = lo > own.lo ? pr_sum_le0(T, &t, &down, 1, lo) : PR_TERM_TRUE;
    if (hi < own.hi) r = pr_and(T, r, pr_sum_le0(T, &t, &up, 1, -hi));
    T->nodes[fits.id].coef = r.id;
    return r;
}
