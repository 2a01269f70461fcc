/* Straight-line evaluation: what are the query's conditions and addresses at this point?
 *
 * A tape holds one operation a distinct term, operands first. Values are 128-bit and checked; a slot without
 * a value poisons what needs it, with the same exceptions as term/eval.c (select, and, or). Every witness is
 * evaluated again by pr_query_holds, so a tape only has to be right about what it calls impossible. */
#include "pre/tape.h"
#include "term/table.h"

enum { MOST_SLOTS = 2048 };

typedef struct op {
    uint8_t op, fits;
    bool wide;       /* a number of it does not fit 64 bits */
    bool needed;     /* a conjunct: where it is false, nothing after it is looked at */
    int n, first;
    uint64_t vars;   /* bit v % 64 of each variable below it */
    int64_t number;  /* value, unless wide */
    pr_i128 value;
} op;
struct pr_tape {
    pr_arena *arena;
    const pr_query *q;
    int *slot_of;
    uint32_t n_terms; /* by term id, 0 = none, else slot + 1 */
    PR_VEC(op) ops;
    PR_VEC(int) operand;
    PR_VEC(pr_i128) coef;
    PR_VEC(int64_t) small_coef;
    PR_VEC(int) read;
    int64_t *fast, *last; /* values when all fitted 64 bits, then v and ok are stale; the point they are of */
    bool is_fast;
    /* the values of the first n_done slots are of that point; so are those of the next, up to n_made, but for what is above the
     * variables `behind`; later slots have none yet */
    int n_done, n_made; uint64_t behind;
    pr_i128 *v;
    bool *ok;
    bool bad, *reads;
};

pr_tape *pr_tape_new(pr_arena *scratch, const pr_query *q)
{
    pr_tape *x = PR_NEW(scratch, pr_tape);
    x->arena = scratch;
    x->q = q;
    x->n_terms = pr_terms_count(q->terms);
    x->slot_of = PR_NEW_N(scratch, int, x->n_terms);
    x->reads = PR_NEW_N(scratch, bool, q->n_vars + 1);
    pr_vec_reserve(scratch, &x->ops, 32);
    pr_vec_reserve(scratch, &x->operand, 64);
    pr_vec_reserve(scratch, &x->coef, 64);
    pr_vec_reserve(scratch, &x->small_coef, 64);
    return x;
}

static void compile(void *user, pr_term t)
{
    pr_tape *x = user;
    const pr_terms *T = x->q->terms;
    if (x->bad || x->slot_of[t.id]) return;
    const pr_term_view y = pr_term_look(T, t);
    op o = { .op = (uint8_t)y.op, .first = x->operand.n, .n = y.n };
    if (o.op == PR_TERM_OP_VAR) {
        while (o.n < x->q->n_vars && x->q->vars[o.n].id != y.aux) o.n++;
        if (o.n == x->q->n_vars) {
            x->bad = true;
        } else if (!x->reads[o.n]) {
            x->reads[o.n] = true;
            pr_vec_push(x->arena, &x->read, o.n);
        }
        o.first = o.n;
        o.n = 0;
        o.vars = (uint64_t)1 << (o.first & 63);
    } else if (o.op == PR_TERM_OP_APP || o.op == PR_TERM_OP_NONE || x->ops.n == MOST_SLOTS) {
        x->bad = true;
    }
    if (o.op == PR_TERM_OP_TABLE) {
        o.value = y.aux;
        if (!pr_tab_get(T, pr_term_tab(T, t))->values) x->bad = true;
    }
    if (o.op == PR_TERM_OP_CONST || o.op == PR_TERM_OP_SUM) o.value = y.value;
    if (o.op == PR_TERM_OP_FITS) {
        o.value = y.aux;
        o.fits = (uint8_t)y.fits;
    }
    o.wide = !pr_is_small(o.value);
    o.number = o.wide ? 0 : (int64_t)o.value;
    if (x->bad) return;
    int room = x->operand.n + o.n;
    if (room > x->operand.cap) {
        pr_vec_reserve(x->arena, &x->operand, 2 * room);
        pr_vec_reserve(x->arena, &x->coef, 2 * room);
        pr_vec_reserve(x->arena, &x->small_coef, 2 * room);
    }
    for (int i = 0; i < o.n; i++) {
        int slot = x->slot_of[y.child[i].id] - 1, at = x->operand.n++;
        pr_i128 c = y.coef ? y.coef[i] : 1;
        x->coef.n = x->small_coef.n = x->operand.n;
        x->operand.data[at] = slot;
        x->coef.data[at] = c;
        x->small_coef.data[at] = (int64_t)c;
        o.wide = o.wide || !pr_is_small(c);
        o.vars |= x->ops.data[slot].vars;
    }
    pr_vec_push(x->arena, &x->ops, o);
    x->slot_of[t.id] = x->ops.n;
}

int pr_tape_add(pr_tape *x, pr_term t)
{
    if (pr_term_none(t) || t.id >= x->n_terms) x->bad = true;
    if (x->bad) return -1;
    pr_term_visit(x->q->terms, t, compile, x);
    return x->bad ? -1 : x->slot_of[t.id] - 1;
}

bool pr_tape_reads(const pr_tape *x, int var) { return x->reads[var]; }

static bool divide(int kind, pr_i128 a, pr_i128 b, pr_i128 *r)
{
    bool quotient = kind == PR_TERM_OP_FDIV || kind == PR_TERM_OP_TDIV;
    bool floor = kind == PR_TERM_OP_FDIV || kind == PR_TERM_OP_FMOD;
    pr_i128 q, m;
    if (b == 0) {
        *r = quotient ? 0 : a;
        return true;
    }
    if (b == -1) {
        if (a == PR_I128_MIN) return false;
        *r = quotient ? -a : 0;
        return true;
    }
    if (pr_is_small(a) && pr_is_small(b)) {
        int64_t n = (int64_t)a, d = (int64_t)b;
        q = n / d;
        m = n % d;
    } else {
        q = a / b;
        m = a % b;
    }
    if (floor && m != 0 && (m < 0) != (b < 0)) {
        q -= 1;
        m += b;
    }
    *r = quotient ? q : m;
    return true;
}

static bool fits(const op *o, pr_i128 v)
{
    switch ((pr_fits_kind)o->fits) {
    case PR_FITS_SIGNED:
        return o->value > 120 || (v >= pr_int_min((int)o->value) && v <= pr_int_max((int)o->value));
    case PR_FITS_NONNEG: return v >= 0;
    case PR_FITS_BIT: return v == 0 || v == 1;
    }
    return false;
}

static bool product(pr_i128 a, pr_i128 b, pr_i128 *r)
{
    if (pr_is_small(a) && pr_is_small(b)) {
        *r = a * b;
        return true;
    }
    return pr_mul_ok(a, b, r);
}

static bool run_one(const pr_tape *x, const op *o, const pr_i128 *at, pr_i128 *r)
{
    const int *k = o->n ? x->operand.data + o->first : NULL;
    bool ok0 = o->n > 0 && x->ok[k[0]], ok1 = o->n > 1 && x->ok[k[1]], both = ok0 && ok1;
    pr_i128 a = ok0 ? x->v[k[0]] : 0, b = ok1 ? x->v[k[1]] : 0, part;
    switch ((pr_term_op)o->op) {
    case PR_TERM_OP_NONE:
    case PR_TERM_OP_APP: return false;
    case PR_TERM_OP_FALSE: *r = 0; return true;
    case PR_TERM_OP_TRUE: *r = 1; return true;
    case PR_TERM_OP_CONST: *r = o->value; return true;
    case PR_TERM_OP_VAR: *r = at[o->first]; return true;
    case PR_TERM_OP_SUM:
        *r = o->value;
        for (int i = 0; i < o->n; i++)
            if (!x->ok[k[i]] || !product(x->coef.data[o->first + i], x->v[k[i]], &part) ||
                !pr_add_ok(*r, part, r))
                return false;
        return true;
    case PR_TERM_OP_MUL: return both && product(a, b, r);
    case PR_TERM_OP_FDIV:
    case PR_TERM_OP_FMOD:
    case PR_TERM_OP_TDIV:
    case PR_TERM_OP_TREM: return both && divide(o->op, a, b, r);
    case PR_TERM_OP_MIN: *r = a < b ? a : b; return both;
    case PR_TERM_OP_MAX: *r = a > b ? a : b; return both;
    case PR_TERM_OP_SELECT: {
        int arm = a ? k[1] : k[2];
        *r = x->v[arm];
        return ok0 && x->ok[arm];
    }
    case PR_TERM_OP_BAND: *r = a & b; return both;
    case PR_TERM_OP_BOR: *r = a | b; return both;
    case PR_TERM_OP_BXOR: *r = a ^ b; return both;
    case PR_TERM_OP_LE0: *r = a <= 0; return ok0;
    case PR_TERM_OP_EQ0: *r = a == 0; return ok0;
    case PR_TERM_OP_NOT: *r = !a; return ok0;
    case PR_TERM_OP_AND: *r = both && a && b; return both || (ok0 && !a) || (ok1 && !b);
    case PR_TERM_OP_OR: *r = (ok0 && a) || (ok1 && b); return both || *r;
    case PR_TERM_OP_FITS: *r = fits(o, a); return ok0;
    case PR_TERM_OP_TABLE:
        *r = pr_tab_at(x->q->terms, (pr_tab){ (uint32_t)o->value }, a);
        return ok0;
    }
    return false;
}

/* One operation in 64 bits; false on overflow or where lazy values could matter. */
static inline bool run_fast(const pr_tape *x, const op *o, const pr_i128 *at, int64_t *r)
{
    const int *k = o->n ? x->operand.data + o->first : NULL;
    const int64_t *v = x->fast;
    int64_t a = o->n > 0 ? v[k[0]] : 0, b = o->n > 1 ? v[k[1]] : 0, q, m, part;
    if (o->wide) return false;
    switch ((pr_term_op)o->op) {
    case PR_TERM_OP_NONE:
    case PR_TERM_OP_APP: return false;
    case PR_TERM_OP_FALSE: *r = 0; return true;
    case PR_TERM_OP_TRUE: *r = 1; return true;
    case PR_TERM_OP_CONST: *r = o->number; return true;
    case PR_TERM_OP_VAR: *r = (int64_t)at[o->first]; return true;
    case PR_TERM_OP_SUM: {
        const int64_t *c = x->small_coef.data + o->first;
        int64_t sum = o->number;
        for (int i = 0; i < o->n; i++)
            if (__builtin_mul_overflow(c[i], v[k[i]], &part) || __builtin_add_overflow(sum, part, &sum)) return false;
        *r = sum;
        return true;
    }
    case PR_TERM_OP_MUL: return !__builtin_mul_overflow(a, b, r);
    case PR_TERM_OP_FDIV:
    case PR_TERM_OP_FMOD:
    case PR_TERM_OP_TDIV:
    case PR_TERM_OP_TREM: {
        bool quotient = o->op == PR_TERM_OP_FDIV || o->op == PR_TERM_OP_TDIV;
        if (b == 0) {
            *r = quotient ? 0 : a;
            return true;
        }
        if (b == -1) return false;
        q = a / b;
        m = a % b;
        if ((o->op == PR_TERM_OP_FDIV || o->op == PR_TERM_OP_FMOD) && m != 0 &&
            (m < 0) != (b < 0)) {
            q -= 1;
            m += b;
        }
        *r = quotient ? q : m;
        return true;
    }
    case PR_TERM_OP_MIN: *r = a < b ? a : b; return true;
    case PR_TERM_OP_MAX: *r = a > b ? a : b; return true;
    case PR_TERM_OP_SELECT: *r = a ? b : v[k[2]]; return true;
    case PR_TERM_OP_BAND: *r = a & b; return true;
    case PR_TERM_OP_BOR: *r = a | b; return true;
    case PR_TERM_OP_BXOR: *r = a ^ b; return true;
    case PR_TERM_OP_LE0: *r = a <= 0; return true;
    case PR_TERM_OP_EQ0: *r = a == 0; return true;
    case PR_TERM_OP_NOT: *r = !a; return true;
    case PR_TERM_OP_AND: *r = a && b; return true;
    case PR_TERM_OP_OR: *r = a || b; return true;
    case PR_TERM_OP_FITS: *r = fits(o, a); return true;
    case PR_TERM_OP_TABLE: {
        pr_i128 entry = pr_tab_at(x->q->terms, (pr_tab){ (uint32_t)o->value }, a);
        *r = (int64_t)entry;
        return pr_is_small(entry);
    }
    }
    return false;
}

/* All values in 64 bits, up to a conjunct that is false. From point to point most variables stay: only what is above the
 * others is computed. */
static bool all_fast(pr_tape *x, const pr_i128 *at)
{
    bool again = x->is_fast;
    uint64_t changed = 0;
    if (!x->fast) {
        x->fast = PR_NEW_N(x->arena, int64_t, x->ops.n + 1);
        x->last = PR_NEW_N(x->arena, int64_t, x->q->n_vars + 1);
    }
    for (int i = 0; i < x->read.n; i++) {
        int v = x->read.data[i];
        if (!pr_is_small(at[v])) return false;
        if (again && (int64_t)at[v] == x->last[v]) continue;
        x->last[v] = (int64_t)at[v];
        changed |= (uint64_t)1 << (v & 63);
    }
    uint64_t stale = changed, behind = again ? changed | x->behind : 0;
    int n_done = again ? x->n_done : 0, n_made = again ? x->n_made : 0, i = 0;
    for (; i < x->ops.n; i++) {
        const op *o = &x->ops.data[i];
        if (i == n_done) stale = behind;
        if ((i >= n_made || (o->vars & stale)) && !run_fast(x, o, at, &x->fast[i])) return false;
        if (o->needed && !x->fast[i]) {
            i++;
            break;
        }
    }
    x->n_done = i;
    x->n_made = n_made > i ? n_made : i;
    x->behind = i < x->ops.n ? behind : 0;
    return true;
}

void pr_tape_run(pr_tape *x, const pr_i128 *at)
{
    x->is_fast = all_fast(x, at);
    if (x->is_fast) return;
    if (!x->v) {
        x->v = PR_NEW_N(x->arena, pr_i128, x->ops.n + 1);
        x->ok = PR_NEW_N(x->arena, bool, x->ops.n + 1);
    }
    for (int i = 0; i < x->ops.n; i++) x->ok[i] = run_one(x, &x->ops.data[i], at, &x->v[i]);
}

bool pr_tape_value(const pr_tape *x, int slot, pr_i128 *v)
{
    *v = x->is_fast ? x->fast[slot] : x->v[slot];
    return x->is_fast || x->ok[slot];
}

/* All roots in one traversal. */
static bool add_roots(pr_tape *x, const pr_term *t, int n)
{
    for (int i = 0; i < n; i++)
        if (pr_term_none(t[i]) || t[i].id >= x->n_terms) return false;
    if (n) pr_term_visit_all(x->q->terms, t, n, compile, x);
    return !x->bad;
}

/* --- three tapes --------------------------------------------------------------------------------- */

static bool add_all(pr_trio *x, int c, const pr_term *t, int n)
{
    if (!add_roots(x->tape[c], t, n)) return false;
    for (int i = 0; i < n; i++) {
        int slot = x->tape[c]->slot_of[t[i].id] - 1;
        x->conj[c][x->n_conj[c]++] = slot;
        x->tape[c]->ops.data[slot].needed = true;
    }
    return true;
}

bool pr_trio_make(pr_trio *x, const pr_query *q, pr_arena *scratch)
{
    int a = q->n_core_a, b = a + q->n_core_b;
    *x = (pr_trio){ .q = q };
    if (!q->is_pair || a < 0 || q->n_core_b < 0 || b > q->n_core) return false;
    for (int c = 0; c < 3; c++) {
        x->tape[c] = pr_tape_new(scratch, q);
        x->conj[c] = PR_NEW_N(scratch, int, q->n_core + q->n_premises + 1);
    }
    x->alternative = PR_NEW_N(scratch, int, q->n_distinct + 1);
    x->side = PR_NEW_N(scratch, int8_t, q->n_vars + 1);
    if (!add_all(x, 0, q->core, a) || !add_all(x, 1, q->core + a, q->n_core_b) ||
        !add_all(x, 2, q->core + b, q->n_core - b))
        return false;
    for (int c = 0; c < 2; c++) {
        if (!add_all(x, c, q->premises, q->n_premises)) return false;
        x->addr[c] = pr_tape_add(x->tape[c], q->addr[c]);
        if (x->addr[c] < 0) return false;
    }
    if (!add_roots(x->tape[2], q->distinct, q->n_distinct)) return false;
    for (int i = 0; i < q->n_distinct; i++) x->alternative[x->n_alternative++] = x->tape[2]->slot_of[q->distinct[i].id] - 1;
    for (int i = 0; i < q->n_vars; i++) {
        bool in_a = pr_tape_reads(x->tape[0], i), in_b = pr_tape_reads(x->tape[1], i);
        x->side[i] = in_a == in_b ? 2 : in_b;
        for (int t = 0; t < q->n_twins; t++)
            for (int c = 0; c < 2; c++)
                if (q->twins[t][c].id == q->vars[i].id && !(c ? in_a : in_b))
                    x->side[i] = (int8_t)c;
    }
    return true;
}

static pr_tri conjunction(const pr_tape *t, const int *slot, int n)
{
    pr_tri r = PR_YES;
    for (int i = 0; i < n; i++) {
        pr_i128 v;
        if (!pr_tape_value(t, slot[i], &v)) r = PR_MAYBE;
        else if (!v) return PR_NO;
    }
    return r;
}

pr_tri pr_trio_copy(const pr_trio *x, int c, const pr_i128 *at, pr_i128 *address)
{
    pr_tape_run(x->tape[c], at);
    pr_tri r = conjunction(x->tape[c], x->conj[c], x->n_conj[c]);
    if (r != PR_NO && !pr_tape_value(x->tape[c], x->addr[c], address)) r = PR_MAYBE;
    return r;
}

pr_tri pr_trio_both(const pr_trio *x, const pr_i128 *at)
{
    if (!x->n_conj[2] && !x->n_alternative) return PR_YES;
    pr_tape_run(x->tape[2], at);
    pr_tri r = conjunction(x->tape[2], x->conj[2], x->n_conj[2]);
    if (!x->n_alternative || r == PR_NO) return r;
    pr_tri some = PR_NO;
    for (int i = 0; i < x->n_alternative; i++) {
        pr_i128 v;
        if (!pr_tape_value(x->tape[2], x->alternative[i], &v)) some = PR_MAYBE;
        else if (v) return r;
    }
    return some;
}

/* --- addresses ----------------------------------------------------------------------------------- */

void pr_hits_init(pr_hits *h, pr_arena *scratch, uint32_t cap, int unit)
{
    uint32_t buckets = 16;
    while (buckets < cap && buckets < 1u << 21) buckets *= 2;
    *h = (pr_hits){ .unit = unit > 0 ? unit : 1, .mask = buckets - 1, .cap = cap };
    h->head = PR_NEW_N(scratch, uint32_t, buckets);
    h->next = pr_arena_raw(scratch, sizeof *h->next * ((size_t)cap + 1));        /* entries below n count */
    h->address = pr_arena_raw(scratch, sizeof *h->address * ((size_t)cap + 1));
}

static uint32_t bucket(const pr_hits *h, pr_i128 key)
{
    uint64_t v = (uint64_t)key * 0x9e3779b97f4a7c15u;
    return (uint32_t)(v >> 40) & h->mask;
}

static pr_i128 key_of(const pr_hits *h, pr_i128 address)
{
    if (!pr_is_small(address)) return pr_fdiv(address, h->unit);
    int64_t a = (int64_t)address, u = (int64_t)h->unit, q = a / u;
    return a % u < 0 ? q - 1 : q;
}

void pr_hits_clear(pr_hits *h)
{
    memset(h->head, 0, sizeof *h->head * ((size_t)h->mask + 1));
    h->n = 0;
}

void pr_hits_put(pr_hits *h, pr_i128 address)
{
    uint32_t b = bucket(h, key_of(h, address));
    h->address[h->n] = address;
    h->next[h->n] = h->head[b];
    h->head[b] = ++h->n;
}

uint32_t pr_hits_first(const pr_hits *h, pr_i128 address, int step)
{
    return h->head[bucket(h, key_of(h, address) + step)];
}
