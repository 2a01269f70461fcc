#include "gen_internal.h"
#include <string.h>

static const uint8_t *tape;
static size_t tape_left;
void gen_rng_tape(const uint8_t *bytes, size_t n)
{
    tape = bytes;
    tape_left = n;
}
uint64_t gen_rng_next(uint64_t *state)
{
    if (tape_left >= 2) {
        uint64_t x = (uint64_t)tape[0] | (uint64_t)tape[1] << 8;
        tape += 2;
        tape_left -= 2;
        return x << 33 | x;
    }
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* ---- state ------------------------------------------------------------------------------------ */
typedef struct loop_scope { int val, trip, lb, step; bool carried; } loop_scope;
typedef struct ctx {
    gkernel *k;
    uint64_t r;
    int mutations;            /* structural constants still to be changed                       */
    int noise;                /* percent                                                      */
    int width;                /* of index arithmetic: 32 or 64                                  */
    int depth;                /* of noise inside noise                                          */
    bool wild;
    int *tail;                /* where the next statement is linked                               */
    loop_scope loop[4]; int n_loops;
    int barrier_ok;           /* barriers allowed (always)                                      */
} ctx;

static unsigned below(ctx *g, unsigned n) { return (unsigned)(gen_rng_next(&g->r) >> 33) % n; }
static bool chance(ctx *g, unsigned percent) { return below(g, 100) < percent; }

static int new_expr(ctx *g, gexpr e)
{
    if (g->k->n_exprs >= G_EXPRS) {
        g->k->full = true;
        return 0;
    }
    g->k->e[g->k->n_exprs] = e;
    return g->k->n_exprs++;
}
static gtype scalar(int bits) { return (gtype){ .bits = bits }; }
static gtype like(gtype shape, int bits)
{
    shape.bits = bits;
    shape.is_float = false;
    return shape;
}
static gtype type_of(ctx *g, int e) { return g->k->e[e].t; }
static int node(ctx *g, int kind, gtype t, int a, int b, int c3, int64_t c)
{
    return new_expr(g, (gexpr){ .kind = kind, .t = t, .k = { a, b, c3 }, .c = c, .ref = -1 });
}
static int con_t(ctx *g, gtype t, int64_t c) { return node(g, GE_CONST, t, -1, -1, -1, c); }
static int con(ctx *g, int like_e, int64_t c) { return con_t(g, type_of(g, like_e), c); }
static int bin(ctx *g, int op, int a, int b) { return node(g, GE_BIN, type_of(g, a), a, b, -1, op); }
static int cmp(ctx *g, int pred, int a, int b)
{
    return node(g, GE_CMP, like(type_of(g, a), 1), a, b, -1, pred);
}
static int select_e(ctx *g, int c, int a, int b) { return node(g, GE_SELECT, type_of(g, a), c, a, b, 0); }
static int cast_e(ctx *g, int how, int a, int bits)
{
    return node(g, GE_CAST, like(type_of(g, a), bits), a, -1, -1, how);
}
static int ref(ctx *g, int val)
{
    return new_expr(g, (gexpr){ .kind = GE_VAL, .t = g->k->v[val].t, .k = { -1, -1, -1 }, .ref = val });
}
static int new_val(ctx *g, gtype t)
{
    if (g->k->n_vals >= G_VALS) {
        g->k->full = true;
        return 0;
    }
    g->k->v[g->k->n_vals] = (gval){ .t = t };
    return g->k->n_vals++;
}
static int dup(ctx *g, int e)
{
    gexpr x = g->k->e[e];
    for (int i = 0; i < 3; i++)
        if (x.k[i] >= 0) x.k[i] = dup(g, x.k[i]);
    return new_expr(g, x);
}
static gstmt *push(ctx *g, int kind)
{
    static gstmt spare;
    if (g->k->n_stmts >= G_STMTS) {
        g->k->full = true;
        return &spare;
    }
    int i = g->k->n_stmts++;
    gstmt *s = &g->k->s[i];
    *s = (gstmt){ .kind = kind, .next = -1, .body = -1, .other = -1, .val = -1, .mask = -1,
                  .e = { -1, -1, -1, -1 } };
    s->a = (gaccess){ .off = -1, .soff = -1, .carry = -1, .sel = -1, .off2 = -1, .arg2 = -1 };
    *g->tail = i;
    g->tail = &s->next;
    return s;
}
/* A structural constant: sometimes wrong, while mutations are left. */
static int64_t K(ctx *g, int64_t v)
{
    if (g->mutations > 0 && chance(g, 18)) {
        g->mutations--;
        switch (below(g, 5)) {
        case 0: return v - 1;
        case 1: return v + 1;
        case 2: return v / 2;
        case 3: return v > 3 ? v - 2 : 0;
        default: return 0;
        }
    }
    return v;
}

/* ---- expressions -------------------------------------------------------------------------------- */
static int widen(ctx *g, int e, int bits)
{
    gtype t = type_of(g, e);
    if (t.bits == bits) return e;
    if (t.bits == 0 || bits == 0) return cast_e(g, C_INDEX_CAST, e, bits);
    if (t.bits > bits) return cast_e(g, C_TRUNCI, e, bits);
    return cast_e(g, t.bits == 1 || chance(g, 25) ? C_EXTUI : C_EXTSI, e, bits);
}
static int noise(ctx *g, int e);

static int nz(ctx *g, int e) { return chance(g, (unsigned)g->noise) ? noise(g, e) : e; }

/* A detour that gives e back for small e >= 0. */
static int noise(ctx *g, int e)
{
    gtype t = type_of(g, e);
    if (t.bits <= 8 || t.is_float || g->depth > 2) return e;
    int w = t.bits, out = e;
    g->depth++;
    switch (below(g, 33)) {
    case 0: out = bin(g, B_SUBI, bin(g, B_ADDI, e, con(g, e, 5)), con(g, e, 5)); break;
    case 1: out = bin(g, B_DIVSI, bin(g, B_MULI, e, con(g, e, 3)), con(g, e, 3)); break;
    case 2: out = bin(g, B_DIVUI, bin(g, B_ADDI, bin(g, B_MULI, e, con(g, e, 4)), con(g, e, 3)), con(g, e, 4)); break;
    case 3: out = bin(g, B_CEILDIVSI, bin(g, B_SUBI, bin(g, B_MULI, e, con(g, e, 3)), con(g, e, 2)), con(g, e, 3)); break;
    case 4: out = bin(g, B_FLOORDIVSI, bin(g, B_ADDI, bin(g, B_MULI, e, con(g, e, 5)), con(g, e, 4)), con(g, e, 5)); break;
    case 5: out = bin(g, B_CEILDIVUI, bin(g, B_MULI, e, con(g, e, 2)), con(g, e, 2)); break;
    case 6: out = bin(g, B_REMSI, e, con(g, e, w <= 16 ? 4096 : 65536)); break;
    case 7: out = bin(g, B_REMUI, e, con(g, e, w <= 16 ? 5000 : 100000)); break;
    case 8: { /* quotient and remainder of one value */
        int64_t d = (int64_t[]){ 2, 3, 4, 7, 8 }[below(g, 5)];
        int other = dup(g, e);
        out = bin(g, B_ADDI, bin(g, B_MULI, bin(g, B_DIVSI, e, con(g, e, d)), con(g, e, K(g, d))),
                  bin(g, B_REMSI, other, con(g, e, d)));
        break;
    }
    case 9: out = bin(g, B_ANDI, e, con(g, e, 0x3fff)); break;
    case 10: { /* split by bits and put together again */
        int low = bin(g, B_ANDI, dup(g, e), con(g, e, K(g, 7)));
        out = bin(g, B_ORI, bin(g, B_SHLI, bin(g, B_SHRSI, e, con(g, e, 3)), con(g, e, 3)), low);
        break;
    }
    case 11: out = bin(g, B_XORI, bin(g, B_XORI, e, con(g, e, 5)), con(g, e, 5)); break;
    case 12: out = bin(g, B_SHRUI, bin(g, B_SHLI, e, con(g, e, 3)), con(g, e, 3)); break;
    case 13: out = bin(g, B_SHRSI, bin(g, B_ADDI, bin(g, B_SHLI, e, con(g, e, 2)), con(g, e, 1)), con(g, e, 2)); break;
    case 14: out = bin(g, B_MAXSI, e, con(g, e, 0)); break;
    case 15: out = bin(g, B_MINSI, e, con(g, e, K(g, 16000))); break;
    case 16: out = bin(g, B_MAXUI, e, con(g, e, 0)); break;
    case 17: out = bin(g, B_MINUI, e, con(g, e, 16383)); break;
    case 18: {
        int other = dup(g, e);
        out = select_e(g, cmp(g, (int)below(g, 10), dup(g, e), con(g, e, (int64_t)below(g, 20))), e,
                       bin(g, B_ADDI, other, con(g, e, K(g, 0))));
        break;
    }
    case 19: case 20: { /* narrow and back */
        int to = w == 64 ? (int[]){ 16, 32 }[below(g, 2)] : w == 32 ? 16 : 16;
        if (w > to) out = cast_e(g, chance(g, 50) ? C_EXTSI : C_EXTUI, cast_e(g, C_TRUNCI, e, to), w);
        break;
    }
    case 21: if (w == 32) out = cast_e(g, C_TRUNCI, noise(g, cast_e(g, chance(g, 60) ? C_EXTSI : C_EXTUI, e, 64)), 32); break;
    case 22: if (w == 32 || w == 64) { /* through index */
        int how = chance(g, 50) ? C_INDEX_CAST : C_INDEX_CASTUI;
        out = cast_e(g, chance(g, 50) ? C_INDEX_CAST : C_INDEX_CASTUI, cast_e(g, how, e, 0), w);
    }
        break;
    case 23: out = cast_e(g, C_BITCAST, e, w); break;
    case 24: if (w == 32) out = bin(g, B_MULHIUI, bin(g, B_SHLI, e, con(g, e, 16)), con(g, e, 65536)); break;
    case 25: case 29: {
        int64_t which = (int64_t)below(g, 3);
        out = node(g, GE_EXTENDED, t, e, con(g, e, which == X_ADDUI ? 7 : 1), -1, which);
        if (which == X_ADDUI) out = bin(g, B_SUBI, out, con(g, out, 7));
        break;
    }
    case 26: { /* plus or minus a comparison that is false for small e */
        int c = cmp(g, chance(g, 50) ? P_SGT : P_UGE, dup(g, e), con(g, e, 20000));
        out = bin(g, chance(g, 50) ? B_ADDI : B_SUBI, e, cast_e(g, chance(g, 50) ? C_EXTSI : C_EXTUI, c, w));
        break;
    }
    case 27: if (t.rank) out = node(g, GE_JOINSPLIT, t, e, chance(g, 50) ? dup(g, e) : con(g, e, 3), -1, 0); break;
    case 28: case 30: case 31: if (t.rank == 2) {
        gtype tt = t;
        tt.shape[0] = t.shape[1];
        tt.shape[1] = t.shape[0];
        out = node(g, GE_TRANS, t, node(g, GE_TRANS, tt, e, -1, -1, 10), -1, -1, 10);
    } else if (t.rank == 1 && t.shape[0] >= 4) {
        gtype tt = t;
        tt.rank = 2;
        tt.shape[0] = t.shape[0] / 4;
        tt.shape[1] = 4;
        out = node(g, GE_RESHAPE, t, node(g, GE_RESHAPE, tt, e, -1, -1, 0), -1, -1, 0);
    } else if (t.rank == 0) { /* a splat folded again */
        gtype tt = t;
        tt.rank = 1;
        tt.shape[0] = 8;
        out = node(g, GE_REDUCE, t, node(g, GE_SPLAT, tt, e, -1, -1, 0), -1, -1, 1 + (int64_t)below(g, 2));
    }
        break;
    default: { /* a divisor from a small range: 2 or 4, by another comparison */
        int c = cmp(g, P_SLT, dup(g, e), con(g, e, 9));
        int d = select_e(g, c, con(g, e, 2), con(g, e, 4));
        int m = bin(g, B_MULI, e, dup(g, d));
        out = bin(g, chance(g, 50) ? B_DIVSI : B_FLOORDIVSI, m, d);
        break;
    }
    }
    g->depth--;
    return out;
}

static int splat(ctx *g, int e, gtype shape)
{
    if (!shape.rank) return e;
    gtype t = type_of(g, e);
    shape.bits = t.bits;
    shape.is_float = t.is_float;
    return node(g, GE_SPLAT, shape, e, -1, -1, 0);
}
static int pid(ctx *g, int axis)
{
    int e = new_expr(g, (gexpr){ .kind = GE_PID, .t = scalar(32), .k = { -1, -1, -1 }, .ref = axis });
    return widen(g, e, g->width);
}
static int nprog(ctx *g, int axis)
{
    int e = new_expr(g, (gexpr){ .kind = GE_NPROG, .t = scalar(32), .k = { -1, -1, -1 }, .ref = axis });
    return widen(g, e, g->width);
}
static int param(ctx *g, int i)
{
    int e = new_expr(g, (gexpr){ .kind = GE_PARAM, .t = scalar(g->k->param_bits[i]),
                                 .k = { -1, -1, -1 }, .ref = i });
    return widen(g, e, g->width);
}
/* Number of the program over the axes that the launch uses. */
static int program(ctx *g)
{
    int e = nz(g, pid(g, 0));
    int64_t run = g->k->grid[0];
    for (int axis = 1; axis < 3; axis++) {
        if (g->k->grid[axis] == 1 && !chance(g, 3)) continue;
        if (g->mutations > 0 && chance(g, 12)) {
            g->mutations--;
            continue;
        }
        int p = pid(g, axis);
        int stride = axis == 1 && chance(g, 25) ? nprog(g, 0) : con(g, p, K(g, chance(g, 60) ? run : 8 * axis * axis));
        e = bin(g, B_ADDI, e, bin(g, B_MULI, p, stride));
        run *= g->k->grid[axis];
    }
    return e;
}
/* Iteration number over the enclosing loops and their trip product. */
static int iteration(ctx *g, int *trips)
{
    int e = -1;
    *trips = 1;
    for (int i = 0; i < g->n_loops; i++) {
        loop_scope *l = &g->loop[i];
        if (g->mutations > 0 && chance(g, 15)) {
            g->mutations--;
            continue;
        }
        int v = widen(g, ref(g, l->val), g->width);
        if (l->lb) v = bin(g, B_SUBI, v, con(g, v, l->lb));
        if (l->step != 1) v = bin(g, chance(g, 50) ? B_DIVSI : B_DIVUI, v, con(g, v, l->step));
        v = nz(g, v);
        e = e < 0 ? v : bin(g, B_ADDI, bin(g, B_MULI, e, con(g, e, K(g, l->trip))), v);
        *trips *= l->trip;
    }
    return e;
}
static int range(ctx *g, int n)
{
    gtype t = { .bits = 32, .rank = 1, .shape = { n } };
    int e = new_expr(g, (gexpr){ .kind = GE_RANGE, .t = t, .k = { -1, -1, -1 }, .c = 0, .ref = -1 });
    if (chance(g, 5)) { /* start elsewhere */
        g->k->e[e].c = 4;
        e = bin(g, B_SUBI, e, con(g, e, K(g, 4)));
    }
    return widen(g, e, g->width);
}
/* Coordinate d of a tile, possibly scaled before it is broadcast. */
static int lane(ctx *g, gtype shape, int d, int64_t scale)
{
    int e = range(g, shape.shape[d]);
    if (shape.rank == 1 && chance(g, 30)) e = nz(g, e);
    gtype t = type_of(g, e);
    for (int i = 0; i < shape.rank; i++) {
        if (i == d) continue;
        gtype n = t;
        n.rank++;
        int at = i < d ? 0 : t.rank;
        for (int j = n.rank - 1; j > at; j--) n.shape[j] = t.shape[j - 1];
        n.shape[at] = 1;
        e = node(g, GE_EXPAND, n, e, -1, -1, at);
        t = n;
    }
    bool early = chance(g, 60);
    if (scale != 1 && early) e = bin(g, B_MULI, e, con(g, e, scale));
    if (shape.rank > 1) {
        gtype n = shape;
        n.bits = t.bits;
        e = node(g, GE_BROADCAST, n, e, -1, -1, 0);
    }
    if (scale != 1 && !early) e = bin(g, B_MULI, e, con(g, e, scale));
    return e;
}
/* Row-major number of the lane in its tile. perm: 0 as it is, 1 reversed, 2 neighbour, 3 shifted. */
static int lane_number(ctx *g, gtype shape, int perm)
{
    int n = gtype_count(shape), e = -1;
    if (shape.rank > 1 && chance(g, 15)) { /* a reshaped range */
        e = node(g, GE_RESHAPE, like(shape, g->width), range(g, n), -1, -1, 0);
    } else {
        int64_t stride = 1;
        bool column_major = shape.rank > 1 && chance(g, 10);
        for (int i = 0; i < shape.rank; i++) {
            int d = column_major ? i : shape.rank - 1 - i;
            if (g->mutations > 0 && chance(g, 5)) {
                g->mutations--;
                stride *= shape.shape[d];
                continue;
            }
            int x = lane(g, shape, d, K(g, stride));
            e = e < 0 ? x : bin(g, B_ADDI, x, e);
            stride *= shape.shape[d];
        }
        if (e < 0) e = con_t(g, like(shape, g->width), 0);
    }
    if (shape.rank == 2 && chance(g, 8)) { /* numbered along the other dimension */
        gtype turned = like(shape, g->width);
        turned.shape[0] = shape.shape[1];
        turned.shape[1] = shape.shape[0];
        e = node(g, GE_TRANS, like(shape, g->width),
                 node(g, GE_RESHAPE, turned, range(g, n), -1, -1, 0), -1, -1, 10);
    }
    if (perm == 1) e = bin(g, B_SUBI, con(g, e, n - 1), e);
    if (perm == 2) e = bin(g, B_XORI, e, con(g, e, 1));
    if (perm == 3) e = bin(g, B_ADDI, e, con(g, e, 1));
    return e;
}

/* (program * trips + iteration) * tile + lane, in one of several spellings; *soff gets a scalar part or
 * -1. Injective unless a constant was changed. */
static int address(ctx *g, gtype shape, int perm, int *soff)
{
    int trips, n = gtype_count(shape);
    *soff = -1;
    int p = program(g), it = iteration(g, &trips);
    int e;
    if (shape.rank == 2 && chance(g, 30)) { /* rows by program, columns by iteration */
        int64_t row = K(g, (int64_t)shape.shape[1] * trips) + (chance(g, 20) ? 3 : 0);
        int rows = bin(g, B_MULI, p, con(g, p, K(g, shape.shape[0])));
        int r = bin(g, B_ADDI, splat(g, rows, shape), lane(g, shape, 0, 1));
        int stride = con(g, r, row);
        if (chance(g, 40) && (g->k->param[1] < 0 || g->k->param[1] == row)) { /* the stride is a parameter */
            g->k->param[1] = row;
            stride = splat(g, param(g, 1), shape);
        }
        e = bin(g, B_MULI, r, stride);
        int col = lane(g, shape, 1, 1);
        if (perm == 1) col = bin(g, B_SUBI, con(g, col, shape.shape[1] - 1), col);
        if (perm == 2) col = bin(g, B_XORI, col, con(g, col, 1));
        if (perm == 3) col = bin(g, B_ADDI, col, con(g, col, 1));
        if (it >= 0) col = bin(g, B_ADDI, col, splat(g, bin(g, B_MULI, it, con(g, it, K(g, shape.shape[1]))), shape));
        e = bin(g, B_ADDI, e, col);
    } else {
        int s = p;
        if (it >= 0) {
            if (chance(g, 70)) {
                s = bin(g, B_ADDI, bin(g, B_MULI, s, con(g, s, K(g, trips))), it);
            } else { /* iterations far apart: right for every grid below */
                int total = (int)(g->k->grid[0] * g->k->grid[1] * g->k->grid[2]);
                s = bin(g, B_ADDI, s, bin(g, B_MULI, it, con(g, it, K(g, chance(g, 50) ? total : 4096 / 8))));
            }
        }
        s = nz(g, s);
        if (n > 1 && chance(g, 15) && (g->k->param[1] < 0 || g->k->param[1] >= n)) { /* a stride that may be wider */
            if (g->k->param[1] < 0) g->k->param[1] = K(g, n) + (int64_t)below(g, 3);
            s = bin(g, B_MULI, s, param(g, 1));
        } else if (n > 1 || chance(g, 20)) {
            s = bin(g, B_MULI, s, con(g, s, K(g, n)));
        }
        if (!shape.rank) {
            e = s;
        } else {
            int l = lane_number(g, shape, perm);
            if (chance(g, 20)) {
                *soff = s;
                e = l;
            } else {
                e = bin(g, B_ADDI, splat(g, s, shape), l);
            }
        }
    }
    e = nz(g, e);
    if (*soff >= 0 || !chance(g, 35)) return e;
    switch (below(g, 10)) { /* permutations and injections of the whole number */
    case 0: {
        int64_t d = (int64_t[]){ 2, 4, 8, 3, 5 }[below(g, 5)];
        int q = bin(g, B_MULI, bin(g, B_DIVSI, dup(g, e), con(g, e, d)), con(g, e, K(g, d)));
        return bin(g, B_ADDI, q, bin(g, B_SUBI, con(g, e, d - 1), bin(g, B_REMSI, e, con(g, e, d))));
    }
    case 1: return bin(g, B_XORI, e, con(g, e, 1 + (int64_t)below(g, 14)));
    case 2: {
        int a = bin(g, B_SHLI, bin(g, B_ANDI, dup(g, e), con(g, e, K(g, 3))), con(g, e, 2));
        int b = bin(g, B_ANDI, bin(g, chance(g, 50) ? B_SHRUI : B_SHRSI, dup(g, e), con(g, e, 2)), con(g, e, 3));
        int high = bin(g, B_ANDI, e, con(g, e, -16));
        return bin(g, B_ORI, bin(g, B_ORI, high, a), b);
    }
    case 3: return bin(g, B_SUBI, con(g, e, 500), e);
    case 4: return bin(g, B_ADDI, bin(g, B_MULI, e, con(g, e, K(g, 2))), con(g, e, (int64_t)below(g, 2)));
    case 5: { /* transposed numbering */
        int64_t d = (int64_t[]){ 2, 4, 8 }[below(g, 3)];
        return bin(g, B_ADDI, bin(g, B_MULI, bin(g, B_REMSI, dup(g, e), con(g, e, d)), con(g, e, K(g, 4096))),
                   bin(g, B_DIVSI, e, con(g, e, d)));
    }
    case 6: { /* clamp: right only when it never acts */
        int n0 = splat(g, param(g, 0), shape);
        if (type_of(g, n0).bits != type_of(g, e).bits) return e;
        return bin(g, B_MINSI, e, bin(g, B_SUBI, n0, con(g, n0, 1)));
    }
    case 7: { /* low half moved down by a sign-extended comparison */
        int c = cmp(g, P_SLT, dup(g, e), con(g, e, 16));
        int m = cast_e(g, chance(g, 60) ? C_EXTSI : C_EXTUI, c, g->width);
        return bin(g, B_ADDI, e, bin(g, B_MULI, m, con(g, m, K(g, 600))));
    }
    case 8: { /* negative values through remainder or shift */
        int x = bin(g, B_SUBI, dup(g, e), con(g, e, 4 + (int64_t)below(g, 12)));
        int d = (int[]){ 4, 8 }[below(g, 2)];
        int r = bin(g, chance(g, 60) ? B_REMSI : B_ANDI, dup(g, x), con(g, x, d));
        if (g->k->e[r].c == B_ANDI) g->k->e[g->k->e[r].k[1]].c = d - 1;
        int q = bin(g, (int[]){ B_DIVSI, B_SHRSI, B_FLOORDIVSI }[below(g, 3)], x, con(g, x, d));
        if (g->k->e[q].c == B_SHRSI) g->k->e[g->k->e[q].k[1]].c = d == 4 ? 2 : 3;
        return bin(g, B_ADDI, bin(g, B_MULI, q, con(g, q, d)), r);
    }
    case 9: { /* the top bits of a number that may be negative, moved down: 0 or 15 */
        int x = bin(g, B_SUBI, dup(g, e), con(g, e, 4 + (int64_t)below(g, 12)));
        int h = bin(g, B_SHRUI, x, con(g, x, g->width - 4));
        return bin(g, B_ADDI, e, bin(g, B_MULI, h, con(g, h, K(g, 64))));
    }
    default: return e;
    }
}

/* Something without a purpose, over whatever is in scope. */
static int any_value(ctx *g, gtype shape, int depth)
{
    gtype t = like(shape, g->width);
    if (depth <= 0 || chance(g, 20)) {
        switch (below(g, 6)) {
        case 0: return splat(g, pid(g, (int)below(g, chance(g, 80) ? 1 : 3)), shape);
        case 1: if (shape.rank) return lane(g, shape, (int)below(g, (unsigned)shape.rank), 1); /* fall through */
        case 2: if (g->n_loops) return splat(g, widen(g, ref(g, g->loop[below(g, (unsigned)g->n_loops)].val), g->width), shape); /* fall through */
        case 3: return splat(g, param(g, (int)below(g, (unsigned)g->k->n_params)), shape);
        case 4: return splat(g, nprog(g, 0), shape);
        default: return con_t(g, t, (int64_t)below(g, 40) - 4);
        }
    }
    int a = any_value(g, shape, depth - 1);
    int64_t small = 1 + (int64_t)below(g, 9);
    switch (below(g, 16)) {
    case 0: case 1: case 2: return bin(g, B_ADDI, a, any_value(g, shape, depth - 1));
    case 3: return bin(g, B_SUBI, a, any_value(g, shape, depth - 1));
    case 4: case 5: return bin(g, B_MULI, a, con(g, a, small - 2));
    case 6: return bin(g, (int[]){ B_DIVSI, B_FLOORDIVSI, B_CEILDIVSI }[below(g, 3)], a, con(g, a, small));
    case 7: return bin(g, B_REMSI, a, con(g, a, small));
    case 8: return bin(g, (int[]){ B_MAXSI, B_MINSI }[below(g, 2)], a, any_value(g, shape, depth - 1));
    case 9: return bin(g, B_ANDI, a, con(g, a, (int64_t[]){ 3, 7, 12, 15, -4, 5 }[below(g, 6)]));
    case 10: return bin(g, chance(g, 50) ? B_ORI : B_XORI, a, con(g, a, small));
    case 11: return bin(g, chance(g, 60) ? B_SHRSI : B_SHRUI, a, con(g, a, 1 + (int64_t)below(g, 3)));
    case 12: return select_e(g, cmp(g, (int)below(g, 10), dup(g, a), con(g, a, (int64_t)below(g, 12))), a,
                             any_value(g, shape, depth - 1));
    case 13: { /* bits of two values, in a small range */
        int b = any_value(g, shape, depth - 1);
        return bin(g, (int[]){ B_ANDI, B_ORI, B_XORI }[below(g, 3)], bin(g, B_ANDI, a, con(g, a, 15)),
                   bin(g, B_ANDI, b, con(g, b, 15)));
    }
    case 14: return cast_e(g, chance(g, 50) ? C_EXTSI : C_EXTUI,
                           cmp(g, (int)below(g, 6), a, con(g, a, (int64_t)below(g, 10))), g->width);
    default: return noise(g, a);
    }
}

/* ---- conditions ------------------------------------------------------------------------------------ */
static int scalar_condition(ctx *g)
{
    int a, c;
    switch (below(g, 8)) {
    case 0: case 1: a = pid(g, 0); c = cmp(g, (int[]){ P_EQ, P_SLT, P_NE, P_SGE, P_SLE }[below(g, 5)], a, con(g, a, (int64_t)below(g, 4))); break;
    case 2: a = bin(g, B_ANDI, pid(g, 0), con_t(g, scalar(g->width), 1)); c = cmp(g, chance(g, 50) ? P_EQ : P_NE, a, con(g, a, 0)); break;
    case 3: a = param(g, (int)below(g, (unsigned)g->k->n_params)); c = cmp(g, (int)below(g, 10), a, con(g, a, (int64_t)below(g, 60))); break;
    case 4: if (g->n_loops) {
        a = widen(g, ref(g, g->loop[below(g, (unsigned)g->n_loops)].val), g->width);
        c = cmp(g, (int)below(g, 10), a, con(g, a, (int64_t)below(g, 3)));
        break;
    } /* fall through */
    case 5: a = bin(g, B_REMSI, program(g), con_t(g, scalar(g->width), 2 + (int64_t)below(g, 2))); c = cmp(g, P_EQ, a, con(g, a, (int64_t)below(g, 2))); break;
    case 6: a = pid(g, 0); c = cmp(g, P_EQ, a, bin(g, B_SUBI, nprog(g, 0), con(g, a, 1))); break;
    default: a = any_value(g, scalar(0), 2); c = cmp(g, (int)below(g, 6), a, con(g, a, (int64_t)below(g, 8))); break;
    }
    if (chance(g, 12)) c = bin(g, B_XORI, c, con(g, c, 1));
    if (chance(g, 12)) {
        int p = pid(g, 0), d = cmp(g, P_SLT, p, con(g, p, (int64_t)below(g, 5)));
        c = bin(g, (int[]){ B_ANDI, B_ORI, B_XORI, B_ADDI, B_MULI }[below(g, 5)], c, d);
    }
    return c;
}
/* A mask of the tile, -1 = none. lin: element number to compare with a length. */
static int mask(ctx *g, gtype shape, int lin)
{
    int e = -1;
    switch (below(g, 20)) {
    case 0: case 1: case 2: case 3: case 4: {
        int n0 = splat(g, param(g, 0), shape);
        e = cmp(g, chance(g, 85) ? P_SLT : P_ULT, dup(g, lin), n0);
        break;
    }
    case 5: e = splat(g, scalar_condition(g), shape); break;
    case 6: if (shape.rank) {
        int l = lane(g, shape, (int)below(g, (unsigned)shape.rank), 1);
        e = cmp(g, (int)below(g, 10), l, con(g, l, 1 + (int64_t)below(g, 7)));
    }
        break;
    case 7: {
        int x = bin(g, B_ANDI, dup(g, lin), con(g, lin, 1));
        e = chance(g, 50) ? cmp(g, P_EQ, x, con(g, x, (int64_t)below(g, 2))) : cast_e(g, C_TRUNCI, x, 1);
        break;
    }
    case 8: {
        int x = splat(g, pid(g, 0), shape);
        e = cmp(g, P_EQ, x, con(g, x, (int64_t)below(g, 3)));
        break;
    }
    case 9: if (g->wild) {
        int x = any_value(g, shape, 2);
        e = cmp(g, (int)below(g, 10), x, con(g, x, (int64_t)below(g, 10)));
    }
        break;
    default: break;
    }
    if (e >= 0 && chance(g, 20)) {
        int x = dup(g, lin);
        int d = cmp(g, chance(g, 50) ? P_SGE : P_UGT, x, con(g, x, (int64_t)below(g, 4)));
        switch (below(g, 6)) {
        case 0: e = bin(g, B_ORI, e, d); break;
        case 1: e = bin(g, B_XORI, e, d); break;
        case 2: e = select_e(g, d, e, con(g, e, (int64_t)below(g, 2))); break;
        case 3: e = cmp(g, (int)below(g, 10), e, d); break;
        default: e = bin(g, B_ANDI, e, d); break;
        }
    }
    return e;
}

/* ---- statements ------------------------------------------------------------------------------------ */
static gtype random_shape(ctx *g)
{
    gtype t = { .bits = 32 };
    static const int two[5][2] = { { 4, 8 }, { 8, 4 }, { 2, 16 }, { 4, 4 }, { 8, 1 } };
    static const int three[3][3] = { { 2, 2, 4 }, { 4, 2, 2 }, { 2, 4, 4 } };
    unsigned x = below(g, 100);
    if (x < 60) {
        t.rank = 1;
        t.shape[0] = 8 << below(g, 3);
    } else if (x < 80) {
        unsigned i = below(g, 5);
        t.rank = 2;
        memcpy(t.shape, two[i], sizeof two[i]);
    } else if (x < 88) {
        unsigned i = below(g, 3);
        t.rank = 3;
        memcpy(t.shape, three[i], sizeof three[i]);
    }
    return t;
}
static gtype elem_type(ctx *g, const gaccess *a)
{
    gtype t = { .rank = a->rank };
    memcpy(t.shape, a->shape, sizeof t.shape);
    t.bits = a->view_bits ? a->view_bits : g->k->arg[a->arg].bits;
    t.is_float = !a->view_bits && g->k->arg[a->arg].is_float;
    return t;
}
static gaccess access_at(ctx *g, int arg, gtype shape, int off, int soff)
{
    gaccess a = { .arg = arg, .off = off, .soff = soff, .carry = -1, .sel = -1, .off2 = -1, .arg2 = -1,
                  .rank = shape.rank, .form = (int)below(g, 4) };
    memcpy(a.shape, shape.shape, sizeof a.shape);
    return a;
}
/* A value of the access's element type; from: a loaded value of the same shape or -1. */
static int stored_value(ctx *g, const gaccess *a, int from)
{
    gtype t = elem_type(g, a);
    if (from >= 0) {
        gtype f = g->k->v[from].t;
        int e = ref(g, from);
        if (gtype_eq(f, t)) {
            if (t.is_float) return chance(g, 60) ? node(g, GE_FADD, t, e, con_t(g, t, 1), -1, 0) : e;
            if (t.bits == 1) return e;
            return chance(g, 60) ? bin(g, (int[]){ B_ADDI, B_MULI, B_XORI }[below(g, 3)], e, con(g, e, 3)) : e;
        }
        if (!t.is_float && !f.is_float && f.rank == t.rank && t.bits && f.bits) {
            if (t.bits > f.bits) return cast_e(g, chance(g, 50) ? C_EXTSI : C_EXTUI, e, t.bits);
            if (t.bits < f.bits) return cast_e(g, C_TRUNCI, e, t.bits);
        }
    }
    if (t.is_float) return con_t(g, t, (int64_t)below(g, 5));
    switch (below(g, 4)) {
    case 0: return con_t(g, t, (int64_t)below(g, 100));
    case 1: if (t.bits > 1) return splat(g, widen(g, pid(g, 0), t.bits), t); /* fall through */
    case 2: if (t.rank && t.bits > 1) return widen(g, lane(g, t, 0, 1), t.bits); /* fall through */
    default: return con_t(g, t, 1);
    }
}
static int named(ctx *g, int e)
{
    if (!chance(g, 40) || g->k->e[e].kind == GE_VAL) return e;
    gstmt *s = push(g, GS_LET);
    int v = new_val(g, type_of(g, e));
    s->e[0] = e;
    s->val = v;
    return ref(g, v);
}
static int load(ctx *g, gaccess a, int m)
{
    gstmt *s = push(g, GS_LOAD);
    s->a = a;
    s->mask = m;
    s->has_other = m >= 0 && chance(g, 60);
    return s->val = new_val(g, elem_type(g, &a));
}
static void store(ctx *g, gaccess a, int m, int value)
{
    gstmt *s = push(g, GS_STORE);
    s->a = a;
    s->mask = m;
    s->e[0] = value;
}
static void barrier(ctx *g)
{
    gstmt *s = push(g, GS_BARRIER);
    s->op = chance(g, 80) ? 0 : (int)below(g, 5); /* all; gpu.barrier; local; global both; global_read only */
}
static int data_arg(ctx *g)
{
    for (int tries = 0; tries < 20; tries++) {
        int a = (int)below(g, (unsigned)g->k->n_args);
        if (!g->k->arg[a].has_values) return a;
    }
    return 0;
}
static int maybe_dup(ctx *g, int e) { return e < 0 ? -1 : dup(g, e); }
static gaccess dup_access(ctx *g, gaccess a)
{
    a.off = maybe_dup(g, a.off);
    a.soff = maybe_dup(g, a.soff);
    a.sel = maybe_dup(g, a.sel);
    a.off2 = maybe_dup(g, a.off2);
    return a;
}
/* An access of a tile; the element number used for masks goes to *lin. */
static gaccess tile_access(ctx *g, int arg, gtype shape, int perm, int *lin)
{
    int soff, e = g->wild && chance(g, 50) ? (soff = -1, any_value(g, shape, 3)) : address(g, shape, perm, &soff);
    if (soff < 0) e = named(g, e);
    gaccess a = access_at(g, arg, shape, e, soff);
    *lin = soff < 0 ? dup(g, e) : bin(g, B_ADDI, splat(g, dup(g, soff), shape), dup(g, e));
    if (a.soff < 0 && chance(g, 4)) { /* one of two pointers */
        a.sel = chance(g, 60) || !shape.rank ? scalar_condition(g)
                : cmp(g, P_SLT, dup(g, *lin), con_t(g, like(shape, g->width), 7));
        a.arg2 = chance(g, 50) ? arg : data_arg(g);
        if (g->k->arg[a.arg2].bits != g->k->arg[arg].bits || g->k->arg[a.arg2].is_float != g->k->arg[arg].is_float)
            a.arg2 = arg;
        a.off2 = bin(g, B_ADDI, dup(g, e), con(g, e, (int64_t)below(g, 3) * 512));
    }
    return a;
}

static void statement(ctx *g, int depth);

static void body_of_copy(ctx *g)
{
    gtype shape = random_shape(g);
    int src = data_arg(g), dst = data_arg(g), lin;
    if (src == dst && chance(g, 70)) dst = data_arg(g);
    gaccess a = tile_access(g, src, shape, 0, &lin);
    int m = mask(g, shape, lin);
    int v = load(g, a, m);
    gaccess b = dup_access(g, a);
    b.arg = dst;
    if (b.arg2 >= 0) b.arg2 = dst;
    if (g->mutations > 0 && chance(g, 15)) {
        g->mutations--;
        b = tile_access(g, dst, shape, 0, &lin);
    }
    if (src == dst && chance(g, 20)) barrier(g);
    int keep = m < 0 || !(g->mutations > 0 && chance(g, 20));
    store(g, b, keep ? maybe_dup(g, m) : -1, stored_value(g, &b, v));
}
static void body_of_in_place(ctx *g)
{
    gtype shape = random_shape(g);
    int lin;
    gaccess a = tile_access(g, data_arg(g), shape, 0, &lin);
    int m = mask(g, shape, lin);
    int v = load(g, a, m);
    gaccess b = dup_access(g, a);
    if (g->mutations > 0 && chance(g, 25)) {
        g->mutations--;
        b.off = bin(g, B_ADDI, b.off, con(g, b.off, 1));
    }
    store(g, b, maybe_dup(g, m), stored_value(g, &b, v));
}
static void body_of_shuffle(ctx *g)
{
    gtype shape = random_shape(g);
    if (!shape.rank) shape = (gtype){ .bits = 32, .rank = 1, .shape = { 8 } };
    int buf = data_arg(g), lin, lin2, saved = g->mutations;
    bool fenced = chance(g, 75), load_first = chance(g, 40);
    int perm = 1 + (int)below(g, chance(g, 90) ? 2 : 3);
    gaccess a = tile_access(g, buf, shape, 0, &lin);
    if (chance(g, 70)) g->mutations = 0;
    gaccess b = tile_access(g, buf, shape, perm, &lin2);
    g->mutations = saved;
    gaccess out = dup_access(g, a);
    out.arg = data_arg(g);
    if (out.arg2 >= 0) out.arg2 = out.arg;
    if (load_first) {
        int v = load(g, b, -1);
        if (fenced) barrier(g);
        store(g, a, -1, stored_value(g, &a, v));
        if (g->n_loops && chance(g, 85)) barrier(g);
    } else {
        store(g, a, -1, stored_value(g, &a, -1));
        if (fenced) barrier(g);
        int v = load(g, b, -1);
        if (out.arg != buf) store(g, out, -1, stored_value(g, &out, v));
        if (g->n_loops && chance(g, 85)) barrier(g);
    }
}
static void body_of_store(ctx *g)
{
    gtype shape = random_shape(g);
    int lin;
    gaccess a = tile_access(g, data_arg(g), shape, 0, &lin);
    int m = mask(g, shape, lin);
    store(g, a, m, stored_value(g, &a, -1));
}
/* load, a masked exchange elsewhere, store back: the exchange orders the lanes in which it runs. */
static void body_of_chain(ctx *g)
{
    gtype shape = random_shape(g);
    int lin;
    gaccess a = tile_access(g, data_arg(g), shape, 0, &lin);
    a.sel = a.off2 = a.arg2 = -1;
    int m = chance(g, 30) ? mask(g, shape, dup(g, lin)) : -1;
    int v = load(g, a, m);
    for (int n = chance(g, 25) ? 2 : 1; n > 0; n--) {
        gaccess b = dup_access(g, a);
        b.arg = data_arg(g);
        b.view_bits = g->k->arg[b.arg].bits < 32 ? 32 : b.view_bits;
        gtype t = elem_type(g, &b);
        int how = (int)below(g, 4), live = how == 0 ? maybe_dup(g, m) : how == 1 ? -1 : mask(g, shape, dup(g, lin)), value = stored_value(g, &b, v);
        gstmt *s = push(g, GS_RMW);
        s->a = b;
        s->mask = live;
        s->op = t.is_float ? R_FADD : R_EXCH;
        s->sem = SEM_RELAXED;
        s->scope = SCOPE_GPU;
        s->e[0] = value;
        s->val = v = new_val(g, t);
    }
    gaccess c = dup_access(g, a);
    store(g, c, chance(g, 60) ? maybe_dup(g, m) : mask(g, shape, lin), stored_value(g, &c, v));
}
static void body_of_atomic(ctx *g)
{
    if (chance(g, 10)) {
        body_of_chain(g);
        return;
    }
    gtype shape = chance(g, 50) ? (gtype){ .bits = 32 } : random_shape(g);
    int arg = data_arg(g), lin;
    gaccess a;
    if (chance(g, 60)) { /* few cells, met by everybody */
        int e = shape.rank ? bin(g, B_ANDI, lane_number(g, shape, 0), con_t(g, like(shape, g->width), 3))
                           : (chance(g, 50) ? con_t(g, scalar(g->width), 0) : bin(g, B_ANDI, program(g), con_t(g, scalar(g->width), 1)));
        a = access_at(g, arg, shape, e, -1);
        lin = dup(g, e);
    } else {
        a = tile_access(g, arg, shape, 0, &lin);
        a.sel = a.off2 = a.arg2 = -1;
    }
    if (!g->k->arg[arg].is_float && g->k->arg[arg].bits < 32) a.view_bits = 32;
    if (g->k->arg[arg].is_float && g->k->arg[arg].bits < 32) a.view_bits = 32;
    int m = mask(g, shape, lin);
    gtype t = elem_type(g, &a);
    if (!t.is_float && chance(g, 30) && m < 0) {
        gstmt *s = push(g, GS_CAS);
        s->a = a;
        s->sem = (int)below(g, 2) * SEM_ACQ_REL;
        s->scope = chance(g, 85) ? SCOPE_GPU : SCOPE_CTA;
        s->e[0] = con_t(g, t, 0);
        s->e[1] = con_t(g, t, 1);
        s->val = new_val(g, t);
        return;
    }
    gstmt *s = push(g, GS_RMW);
    s->a = a;
    s->mask = m;
    s->op = t.is_float ? R_FADD : (int[]){ R_ADD, R_ADD, R_ADD, R_MAX, R_MIN, R_UMAX, R_UMIN, R_AND, R_OR, R_XOR, R_EXCH }[below(g, 11)];
    s->sem = chance(g, 75) ? SEM_RELAXED : (int)below(g, 4);
    s->scope = (int[]){ SCOPE_GPU, SCOPE_GPU, SCOPE_GPU, SCOPE_GPU, SCOPE_CTA, SCOPE_SYS }[below(g, 6)];
    s->val = new_val(g, t);
    gaccess copy = a;
    int value = stored_value(g, &copy, -1);
    g->k->s[g->k->n_stmts - 1].e[0] = value;
    if (chance(g, 15)) { /* a plain access beside it */
        gaccess b = dup_access(g, a);
        if (chance(g, 50)) barrier(g);
        load(g, b, -1);
    } else if (chance(g, 10)) { /* the old value is stored */
        int l2;
        gaccess b = tile_access(g, data_arg(g), shape, 0, &l2);
        store(g, b, -1, stored_value(g, &b, s->val));
    }
}
static void body_of_loaded_mask(ctx *g)
{
    int table = -1;
    for (int i = 0; i < g->k->n_args; i++)
        if (g->k->arg[i].has_values) table = i;
    if (table < 0) {
        body_of_store(g);
        return;
    }
    gtype shape = random_shape(g);
    int lin, lin2;
    gaccess a = tile_access(g, data_arg(g), shape, 0, &lin);
    int saved = g->mutations;
    g->mutations = 0;
    gaccess t = tile_access(g, table, shape, 0, &lin2);
    g->mutations = saved;
    t = access_at(g, table, shape, bin(g, B_ANDI, lin2, con(g, lin2, 63)), -1);
    int m = load(g, t, -1);
    int flag = ref(g, m);
    int c = cmp(g, chance(g, 50) ? P_NE : P_EQ, flag, con(g, flag, 0));
    if (chance(g, 30)) {
        int e = mask(g, shape, lin);
        if (e >= 0) c = bin(g, B_ANDI, c, e);
    }
    store(g, a, c, stored_value(g, &a, -1));
}
static int table_arg(const ctx *g)
{
    for (int i = 0; i < g->k->n_args; i++)
        if (g->k->arg[i].has_values) return i;
    return -1;
}
/* An entry of the table as an element number: at a tile of indices or at one, kept inside 64 entries. */
static int entry(ctx *g, int table, gtype shape, int index)
{
    gtype t = shape.rank ? shape : scalar(32);
    gaccess a = access_at(g, table, t, bin(g, B_ANDI, index, con(g, index, 63)), -1);
    return widen(g, ref(g, load(g, a, -1)), g->width);
}
/* Addresses, masks and bounds from entries of a table. */
static void body_of_table(ctx *g)
{
    int table = table_arg(g), lin;
    if (table < 0) {
        body_of_store(g);
        return;
    }
    gtype tile = { .bits = 32, .rank = 1, .shape = { 4 << below(g, 3) } };
    int n = tile.shape[0], W = g->mutations > 0 && chance(g, 40) ? (g->mutations--, n - 1) : n, arg = data_arg(g);
    switch (below(g, 5)) {
    case 0: { /* every lane has its own entry */
        gaccess of = tile_access(g, arg, tile, 0, &lin);
        (void)of;
        int e = entry(g, table, tile, lin);
        if (chance(g, 30)) e = bin(g, B_MULI, e, con(g, e, 2));
        gaccess a = access_at(g, arg, tile, e, -1);
        store(g, a, chance(g, 25) ? mask(g, tile, dup(g, lin)) : -1, stored_value(g, &a, -1));
        return;
    }
    case 1: { /* a page */
        int e = entry(g, table, scalar(32), pid(g, 0));
        e = bin(g, B_MULI, e, con(g, e, W));
        gaccess a = access_at(g, arg, tile, bin(g, B_ADDI, splat(g, e, tile), lane_number(g, tile, 0)), -1);
        store(g, a, -1, stored_value(g, &a, -1));
        return;
    }
    case 2: { /* the lanes of a segment */
        int p = pid(g, 0), q = bin(g, B_ADDI, pid(g, 0), con(g, p, 1));
        int from = entry(g, table, scalar(32), p), to = entry(g, table, scalar(32), q);
        int l = lane_number(g, tile, 0), length = bin(g, B_SUBI, to, dup(g, from));
        if (g->mutations > 0 && chance(g, 40)) {
            g->mutations--;
            length = bin(g, B_ADDI, length, con(g, length, 1));
        }
        gaccess a = access_at(g, arg, tile, bin(g, B_ADDI, splat(g, from, tile), l), -1);
        store(g, a, cmp(g, P_SLT, dup(g, l), splat(g, length, tile)), stored_value(g, &a, -1));
        return;
    }
    case 3: { /* one entry through another */
        int e = entry(g, table, scalar(32), entry(g, table, scalar(32), pid(g, 0)));
        e = bin(g, B_MULI, e, con(g, e, W));
        gaccess a = access_at(g, arg, tile, bin(g, B_ADDI, splat(g, e, tile), lane_number(g, tile, 0)), -1);
        store(g, a, -1, stored_value(g, &a, -1));
        return;
    }
    default: { /* a loop from one entry to the next */
        int p = pid(g, 0), q = bin(g, B_ADDI, pid(g, 0), con(g, p, 1));
        int from = widen(g, entry(g, table, scalar(32), p), 32), to = widen(g, entry(g, table, scalar(32), q), 32);
        gstmt *s = push(g, GS_FOR);
        int self = g->k->n_stmts - 1, *tail = g->tail;
        s->op = P_SLT;
        s->e[0] = from;
        s->e[1] = to;
        int step = con_t(g, scalar(32), 1), iv = new_val(g, scalar(32));
        g->k->s[self].e[2] = step;
        g->k->s[self].val = iv;
        g->tail = &g->k->s[self].body;
        int e = ref(g, iv);
        e = bin(g, B_MULI, e, con(g, e, W));
        int l = widen(g, lane_number(g, tile, 0), 32);
        gaccess a = access_at(g, arg, tile, bin(g, B_ADDI, splat(g, e, tile), l), -1);
        store(g, a, -1, stored_value(g, &a, -1));
        g->tail = tail;
        return;
    }
    }
}
static void body_of_views(ctx *g)
{
    int arg = data_arg(g), lin;
    if (g->k->arg[arg].is_float || g->k->arg[arg].bits < 16) {
        body_of_store(g);
        return;
    }
    gtype shape = random_shape(g);
    gaccess a = tile_access(g, arg, shape, 0, &lin);
    a.sel = a.off2 = a.arg2 = -1;
    int own = g->k->arg[arg].bits;
    a.view_bits = (int[]){ 8, 16, 32, 64 }[below(g, 4)];
    store(g, a, -1, stored_value(g, &a, -1));
    if (chance(g, 60)) { /* the same cells, or their neighbours, in the other width */
        gaccess b = dup_access(g, a);
        b.view_bits = own;
        if (b.soff < 0) {
            int64_t shift = (int64_t)below(g, 3);
            if (a.view_bits < own) b.off = bin(g, B_ADDI, bin(g, B_DIVSI, b.off, con(g, b.off, own / a.view_bits)), con(g, b.off, chance(g, 50) ? 4096 : shift));
            else b.off = bin(g, B_ADDI, bin(g, B_MULI, b.off, con(g, b.off, a.view_bits / own)), con(g, b.off, chance(g, 50) ? 4096 : shift));
        }
        if (chance(g, 60)) barrier(g);
        if (chance(g, 50)) load(g, b, -1);
        else store(g, b, -1, stored_value(g, &b, -1));
    }
}
static void body_of_wrap(ctx *g)
{
    /* products that leave 32 bits for some programs */
    gtype shape = { .bits = 32 };
    int64_t big = (int64_t)1 << (28 + below(g, 4));
    int p = pid(g, 0);
    int e = bin(g, B_REMSI, bin(g, B_DIVSI, bin(g, B_MULI, p, con(g, p, big)), con(g, p, big)), con(g, p, 3 + (int64_t)below(g, 3)));
    if (chance(g, 40)) {
        int q = pid(g, 0);
        e = select_e(g, cmp(g, P_SGE, q, con(g, q, 2)), con(g, e, (int64_t)below(g, 3)), e);
    }
    gaccess a = access_at(g, data_arg(g), shape, e, -1);
    store(g, a, -1, stored_value(g, &a, -1));
}
static void body_of_broadcast(ctx *g)
{
    /* a tile whose address does not name some lane */
    gtype shape = random_shape(g);
    if (!shape.rank) shape = (gtype){ .bits = 32, .rank = 1, .shape = { 8 } };
    int e;
    int p = program(g);
    if (shape.rank == 1) e = splat(g, p, shape);
    else e = bin(g, B_ADDI, splat(g, bin(g, B_MULI, p, con(g, p, 32)), shape), lane(g, shape, (int)below(g, 2), 1));
    gaccess a = access_at(g, data_arg(g), shape, e, -1);
    int m = -1;
    if (chance(g, 70)) {
        int l = lane(g, shape, 0, 1);
        m = cmp(g, P_EQ, l, con(g, l, (int64_t)below(g, 2)));
    }
    if (chance(g, 50)) store(g, a, m, stored_value(g, &a, -1));
    else {
        int v = load(g, a, m);
        int lin;
        gaccess b = tile_access(g, data_arg(g), shape, 0, &lin);
        store(g, b, -1, stored_value(g, &b, v));
    }
}
static void body_of_indirect(ctx *g)
{
    gtype shape = { .bits = 32, .rank = 1, .shape = { 8 } };
    int lin;
    gaccess t = tile_access(g, data_arg(g), shape, 0, &lin);
    t.view_bits = 32;
    t.sel = t.off2 = t.arg2 = -1;
    int v = load(g, t, -1);
    gaccess a = access_at(g, data_arg(g), shape, ref(g, v), -1);
    if (chance(g, 50)) load(g, a, -1);
    else store(g, a, -1, stored_value(g, &a, -1));
}
static void body_of_merge(ctx *g)
{
    /* the result of an scf.if is part of the address */
    gtype shape = random_shape(g);
    int lin, c = scalar_condition(g);
    gstmt *s = push(g, GS_IF);
    int self = g->k->n_stmts - 1;
    s->e[0] = c;
    s->op = 1;
    int *tail = g->tail;
    int a0 = con_t(g, scalar(g->width), K(g, 0));
    int a1 = chance(g, 60) ? con_t(g, scalar(g->width), (int64_t)below(g, 3) * 1024)
                           : bin(g, B_MULI, pid(g, 0), con_t(g, scalar(g->width), K(g, 4096)));
    s = &g->k->s[self];
    s->e[2] = a0;
    s->e[3] = a1;
    s->val = new_val(g, scalar(g->width));
    g->tail = tail;
    gaccess a = tile_access(g, data_arg(g), shape, 0, &lin);
    a.off = bin(g, B_ADDI, splat(g, ref(g, g->k->s[self].val), shape), a.off);
    int m = mask(g, shape, lin);
    store(g, a, m, stored_value(g, &a, -1));
}

static void some_access(ctx *g)
{
    unsigned x = below(g, 100);
    if (x < 22) body_of_copy(g);
    else if (x < 34) body_of_in_place(g);
    else if (x < 50) body_of_store(g);
    else if (x < 62) body_of_shuffle(g);
    else if (x < 73) body_of_atomic(g);
    else if (x < 78) body_of_loaded_mask(g);
    else if (x < 82) body_of_table(g);
    else if (x < 87) body_of_views(g);
    else if (x < 89) body_of_wrap(g);
    else if (x < 93) body_of_broadcast(g);
    else if (x < 94) body_of_indirect(g);
    else body_of_merge(g);
}

static void loop(ctx *g, int depth)
{
    if (g->n_loops == 2) {
        some_access(g);
        return;
    }
    bool is_while = chance(g, 25);
    int trip = 1 + (int)below(g, 4), lb = 0, step = 1;
    if (chance(g, 5)) trip = 0;
    if (chance(g, 20)) lb = (int)below(g, 5);
    if (chance(g, 25)) step = 2 + (int)below(g, 3);
    int bits = chance(g, 80) ? 32 : chance(g, 60) ? 64 : 0;
    gtype t = scalar(bits);
    gstmt *s = push(g, is_while ? GS_WHILE : GS_FOR);
    int self = g->k->n_stmts - 1;
    int *tail = g->tail;
    s->op = P_SLT;
    if (is_while) s->op = (int[]){ P_SLT, P_SLT, P_SLE, P_NE, P_ULT }[below(g, 5)];
    int ub = lb + trip * step - (step > 1 && s->op != P_NE && chance(g, 30) && trip ? 1 : 0);
    if (s->op == P_SLE) ub -= 1;
    int upper = con_t(g, t, ub);
    if (trip && chance(g, 35) && s->op != P_NE) { /* bound from a parameter whose value is that number */
        for (int i = 1; i < g->k->n_params; i++)
            if (g->k->param[i] == ub || g->k->param[i] < 0) {
                g->k->param[i] = ub;
                upper = new_expr(g, (gexpr){ .kind = GE_PARAM, .t = scalar(g->k->param_bits[i]),
                                             .k = { -1, -1, -1 }, .ref = i });
                upper = widen(g, upper, bits);
                break;
            }
    }
    int e0 = con_t(g, t, lb), e2 = con_t(g, t, step);
    if (g->mutations > 0 && chance(g, 10)) { /* bound depends on the program */
        g->mutations--;
        int p = new_expr(g, (gexpr){ .kind = GE_PID, .t = scalar(32), .k = { -1, -1, -1 }, .ref = 0 });
        upper = bin(g, B_ADDI, upper, widen(g, p, bits));
    }
    s = &g->k->s[self];
    s->e[0] = e0;
    s->e[1] = upper;
    s->e[2] = e2;
    s->val = new_val(g, t);
    g->loop[g->n_loops++] = (loop_scope){ .val = s->val, .trip = trip ? trip : 1, .lb = lb, .step = step };

    int ptr_access = -1;
    gaccess carried = { 0 };
    gtype shape = random_shape(g);
    if (chance(g, 40)) { /* a carried offset or pointer */
        int c = s->n_carry++;
        int soff, saved = g->n_loops, arg = data_arg(g);
        int n = gtype_count(shape);
        g->n_loops--; /* the start is outside the loop */
        int trips;
        int it = iteration(g, &trips);
        int p = program(g);
        if (it >= 0) p = bin(g, B_ADDI, bin(g, B_MULI, p, con(g, p, trips)), it);
        int start = bin(g, B_MULI, p, con(g, p, K(g, (int64_t)n * (trip ? trip : 1))));
        g->n_loops = saved;
        (void)soff;
        if (shape.rank && chance(g, 50)) {
            int off = bin(g, B_ADDI, splat(g, start, shape), lane_number(g, shape, 0));
            gaccess a = access_at(g, arg, shape, off, -1);
            s = &g->k->s[self];
            s->carry_is_ptr[c] = 1;
            s->carry_ptr[c] = a;
            s->carry_inc[c] = con_t(g, like(shape, 32), K(g, n));
            s->carry_val[c] = new_val(g, like(shape, 32));
            s->carry_res[c] = new_val(g, like(shape, 32));
            int vs[2] = { s->carry_val[c], s->carry_res[c] };
            for (int i = 0; i < 2; i++) {
                g->k->v[vs[i]].is_ptr = true;
                g->k->v[vs[i]].ptr_bits = g->k->arg[arg].bits;
                g->k->v[vs[i]].ptr_float = g->k->arg[arg].is_float;
            }
            ptr_access = c;
            carried = access_at(g, arg, shape, -1, -1);
            carried.carry = s->carry_val[c];
        } else {
            s = &g->k->s[self];
            s->carry_init[c] = start;
            s->carry_inc[c] = con_t(g, scalar(g->width), K(g, n));
            s->carry_val[c] = new_val(g, scalar(g->width));
            s->carry_res[c] = new_val(g, scalar(g->width));
            int off = splat(g, ref(g, s->carry_val[c]), shape);
            if (shape.rank) off = bin(g, B_ADDI, off, lane_number(g, shape, 0));
            ptr_access = c;
            carried = access_at(g, arg, shape, off, -1);
        }
    }
    g->tail = &g->k->s[self].body;
    if (ptr_access >= 0) {
        if (chance(g, 60)) {
            store(g, carried, -1, stored_value(g, &carried, -1));
        } else {
            int v = load(g, carried, -1);
            gaccess b = dup_access(g, carried);
            store(g, b, -1, stored_value(g, &b, v));
        }
    }
    if (ptr_access < 0 || chance(g, 50)) {
        int n = 1 + (chance(g, 20) ? 1 : 0);
        for (int i = 0; i < n; i++) statement(g, depth + 1);
    }
    g->n_loops--;
    g->tail = tail;
    s = &g->k->s[self];
    if (ptr_access >= 0 && !s->carry_is_ptr[ptr_access] && chance(g, 25)) { /* its value after the loop */
        int off = splat(g, ref(g, s->carry_res[ptr_access]), shape);
        if (shape.rank) off = bin(g, B_ADDI, off, lane_number(g, shape, 0));
        gaccess a = access_at(g, data_arg(g), shape, off, -1);
        store(g, a, -1, stored_value(g, &a, -1));
    }
}
static void branch(ctx *g, int depth)
{
    int c = scalar_condition(g);
    gstmt *s = push(g, GS_IF);
    int self = g->k->n_stmts - 1, *tail = g->tail;
    s->e[0] = c;
    g->tail = &g->k->s[self].body;
    statement(g, depth + 1);
    if (chance(g, 40)) {
        g->k->s[self].op = 1;
        g->tail = &g->k->s[self].other;
        statement(g, depth + 1);
    }
    g->tail = tail;
}
static void statement(ctx *g, int depth)
{
    unsigned x = below(g, 100);
    if (depth < 2 && x < 18) loop(g, depth);
    else if (depth < 2 && x < 30) branch(g, depth);
    else if (x < 34) barrier(g);
    else some_access(g);
}

static void arguments(ctx *g)
{
    gkernel *k = g->k;
    k->n_args = 3 + (int)below(g, 2);
    for (int i = 0; i < k->n_args; i++) {
        garg *a = &k->arg[i];
        unsigned x = below(g, 100);
        *a = (garg){ .bits = x < 45 ? 32 : x < 60 ? 16 : x < 70 ? 8 : x < 80 ? 64 : 32, .is_float = x >= 80,
                     .alias_of = -1, .elems_before = 65536, .elems_after = 65536 };
        if (chance(g, 6)) { /* a tight extent */
            a->elems_before = 0;
            a->elems_after = 8 + (int64_t)below(g, 120);
        }
        if (i && chance(g, 14)) {
            a->alias_of = (int)below(g, (unsigned)i);
            while (k->arg[a->alias_of].alias_of >= 0) a->alias_of = k->arg[a->alias_of].alias_of;
            if (chance(g, 60)) {
                a->bits = k->arg[a->alias_of].bits;
                a->is_float = k->arg[a->alias_of].is_float;
            }
            int64_t unit = k->arg[a->alias_of].bits > a->bits ? k->arg[a->alias_of].bits / 8 : a->bits / 8;
            a->alias_bytes = unit * (int64_t[]){ 0, 0, 1, 8, 64, 4096 }[below(g, 6)];
            if (k->arg[a->alias_of].elems_before == 0) a->alias_bytes = 0;
        }
    }
    if (chance(g, 55)) { /* a table of flags, of distinct numbers, of bounds, of anything; never written */
        garg *a = &k->arg[k->n_args++];
        *a = (garg){ .bits = (int[]){ 8, 32, 16 }[below(g, 3)], .alias_of = -1, .elems_after = 64,
                     .has_values = true, .n_values = 64 };
        unsigned density = below(g, 4), kind = below(g, 10);
        for (int i = 0; i < 64; i++) {
            int before = i ? a->values[i - 1] : 0;
            a->values[i] = (int8_t)(kind < 4 ? density != 0 && below(g, 4) < density : kind < 6 ? i : kind < 9 ? before + (int)below(g, density ? 3 : 2)
                                                                                                      : (int)below(g, 70) - 3);
        }
        if (kind == 4 || kind == 5)
            for (int i = 63; i > 0; i--) {
                int j = (int)below(g, (unsigned)i + 1);
                int8_t other = a->values[i];
                a->values[i] = a->values[j];
                a->values[j] = other;
            }
        if (kind >= 4 && chance(g, 30)) a->values[below(g, 6)] = a->values[below(g, 6)];
    }
    k->n_params = 2;
    for (int i = 0; i < k->n_params; i++) {
        k->param_bits[i] = chance(g, 85) ? 32 : 64;
        k->param[i] = i ? -1 : 0; /* -1: free until somebody needs a value */
    }
}

void gen_kernel(gkernel *k, uint64_t seed, uint64_t number)
{
    uint64_t salt = 0;
    do {
        memset(k, 0, sizeof *k);
        k->seed = seed;
        k->number = number;
        k->top = -1;
        ctx g = { .k = k, .r = number };
        g.r = gen_rng_next(&g.r) ^ seed * 0x2545f4914f6cdd1du; /* numbers in a row must not share a stream */
        g.r = gen_rng_next(&g.r) + salt++ * 0x632be59bd9b4e019u;
        con_t(&g, scalar(32), 0);
        k->grid[0] = 1 + (int64_t)below(&g, 5);
        if (k->grid[0] == 1 && chance(&g, 60)) k->grid[0] = 3;
        k->grid[1] = chance(&g, 82) ? 1 : 2 + (int64_t)below(&g, 2);
        k->grid[2] = chance(&g, 94) ? 1 : 2;
        g.noise = (int[]){ 0, 15, 30, 50 }[below(&g, 4)];
        g.width = chance(&g, 85) ? 32 : 64;
        unsigned policy = below(&g, 100);
        g.mutations = policy < 50 ? 0 : policy < 85 ? 1 : 2;
        g.wild = policy >= 92;
        g.tail = &k->top;
        arguments(&g);
        k->param[0] = 1 + (int64_t)below(&g, 8) * 16 + (chance(&g, 60) ? (int64_t)below(&g, 15) : 15);
        if (chance(&g, 12)) {
            gstmt *s = push(&g, GS_RETURN_IF);
            int self = k->n_stmts - 1;
            (void)s;
            int c = scalar_condition(&g);
            k->s[self].e[0] = c;
        }
        int n = chance(&g, 65) ? 1 : chance(&g, 75) ? 2 : 3;
        for (int i = 0; i < n; i++) {
            statement(&g, 0);
            if (i + 1 < n && chance(&g, 35)) barrier(&g);
            if (i + 1 < n && chance(&g, 8)) {
                push(&g, GS_RETURN_IF);
                int self = k->n_stmts - 1;
                int c = scalar_condition(&g);
                k->s[self].e[0] = c;
            }
        }
        for (int i = 0; i < k->n_params; i++)
            if (k->param[i] < 0) k->param[i] = (int64_t)below(&g, 6);
    } while (k->full);
}
