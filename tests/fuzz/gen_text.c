/* The printed form of a generated kernel: TTIR text and launch file. */
#include "gen_internal.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const gen_bin_name[B_COUNT] = {
    "arith.addi", "arith.subi", "arith.muli", "arith.divsi", "arith.divui", "arith.remsi", "arith.remui",
    "arith.ceildivsi", "arith.ceildivui", "arith.floordivsi", "arith.maxsi", "arith.maxui", "arith.minsi",
    "arith.minui", "arith.andi", "arith.ori", "arith.xori", "arith.shli", "arith.shrsi", "arith.shrui",
    "tt.mulhiui",
};
const char *const gen_cast_name[C_COUNT] = { "arith.extsi", "arith.extui", "arith.trunci",
                                             "arith.index_cast", "arith.index_castui", "arith.bitcast" };
const char *const gen_pred_name[10] = { "eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge" };
static const char *const rmw_name[] = { "add", "fadd", "max", "min", "umax", "umin", "and", "or", "xor", "exch" };
static const char *const sem_name[] = { "relaxed", "acquire", "release", "acq_rel" };
static const char *const scope_name[] = { "gpu", "cta", "sys" };

enum { F_BIN, F_CAST = F_BIN + B_COUNT, F_PRED = F_CAST + C_COUNT, F_EXT = F_PRED + 10, F_SELECT = F_EXT + 3,
       F_FOR, F_WHILE, F_IF, F_IF_RESULT, F_EARLY, F_TILE2, F_TILE3, F_SCALAR, F_MASK, F_LOADED_MASK,
       F_ALIAS, F_VIEW, F_IN_PLACE, F_RMW_GPU, F_RMW_CTA, F_RMW_UNUSED, F_CAS, F_BARRIER, F_BARRIER_LOCAL,
       F_DIV_CONST, F_DIV_RANGE, F_BIT_TERMS, F_I64, F_I16, F_CARRY, F_CARRY_PTR, F_PTR_SELECT,
       F_EXTSI_BOOL, F_EXTUI_BOOL, F_TRUNC_BOOL, F_BOOL_LOGIC, F_BOOL_CMP, F_RESHAPE, F_TRANS, F_JOIN,
       F_REDUCE, F_GRID2, F_NPROG, F_TIGHT, F_PARAM_BOUND, F_INDEX_LOOP, F_OTHER, F_NESTED_LOOP, F_TABLE_ADDRESS, F_TABLE_BOUND, F_COUNT };
const char *const gen_feature_name[GEN_FEATURES] = {
    "arith.addi", "arith.subi", "arith.muli", "arith.divsi", "arith.divui", "arith.remsi", "arith.remui",
    "arith.ceildivsi", "arith.ceildivui", "arith.floordivsi", "arith.maxsi", "arith.maxui", "arith.minsi",
    "arith.minui", "arith.andi", "arith.ori", "arith.xori", "arith.shli", "arith.shrsi", "arith.shrui",
    "tt.mulhiui", "arith.extsi", "arith.extui", "arith.trunci", "arith.index_cast", "arith.index_castui",
    "arith.bitcast", "cmpi eq", "cmpi ne", "cmpi slt", "cmpi sle", "cmpi sgt", "cmpi sge", "cmpi ult",
    "cmpi ule", "cmpi ugt", "cmpi uge", "arith.addui_extended", "arith.mulsi_extended",
    "arith.mului_extended", "arith.select", "scf.for", "scf.while", "scf.if", "scf.if with results",
    "early return", "2-D tile", "3-D tile", "scalar access", "mask", "loaded mask", "aliased arguments",
    "other access width", "load-op-store in place", "atomic gpu/sys", "atomic cta", "accumulating atomic",
    "atomic_cas", "barrier", "barrier of other kinds", "division by a constant", "division by a small range",
    "bit operation on two terms", "64-bit arithmetic", "16-bit arithmetic", "carried offset",
    "carried pointer", "select of pointers", "extsi of i1", "extui of i1", "trunci to i1", "logic on i1",
    "cmpi on i1", "tt.reshape", "tt.trans", "tt.join and tt.split", "tt.reduce", "2-D or 3-D grid",
    "tt.get_num_programs", "tight extent", "loop bound from a parameter", "loop over index or i64",
    "other of a load", "nested loops", "address from memory", "loop bound from memory", NULL,
};

typedef struct text { char *s; size_t n, cap; } text;
static void put(text *t, const char *format, ...)
{
    va_list ap;
    char line[2048];
    va_start(ap, format);
    int n = vsnprintf(line, sizeof line, format, ap);
    va_end(ap);
    if (n < 0) n = 0;
    if (t->n + (size_t)n + 1 > t->cap) {
        t->cap = (t->cap + (size_t)n) * 2 + 4096;
        char *p = realloc(t->s, t->cap);
        if (!p) abort();
        t->s = p;
    }
    memcpy(t->s + t->n, line, (size_t)n + 1);
    t->n += (size_t)n;
}

typedef struct printer {
    const gkernel *k;
    text t;
    gfeatures f;
    int next, label, indent;
    char name[G_VALS][40];
    int depth;
} printer;
typedef struct ssa { char s[40]; } ssa;

static void mark(printer *p, int feature) { p->f.has[feature] = 1; }
static ssa fresh(printer *p)
{
    ssa r;
    snprintf(r.s, sizeof r.s, "%%v%d", p->next++);
    return r;
}
static void type_name(char *out, gtype t, bool ptr)
{
    char e[32];
    if (t.is_float) snprintf(e, sizeof e, "f%d", t.bits);
    else if (!t.bits) snprintf(e, sizeof e, "index");
    else snprintf(e, sizeof e, "i%d", t.bits);
    if (ptr) {
        char q[32];
        snprintf(q, sizeof q, "!tt.ptr<%.20s>", e);
        memcpy(e, q, sizeof e);
    }
    if (!t.rank) {
        strcpy(out, e);
        return;
    }
    out += sprintf(out, "tensor<");
    for (int i = 0; i < t.rank; i++) out += sprintf(out, "%dx", t.shape[i]);
    sprintf(out, "%s>", e);
}
static void line(printer *p, const char *format, ...)
{
    char s[1800];
    va_list ap;
    va_start(ap, format);
    vsnprintf(s, sizeof s, format, ap);
    va_end(ap);
    put(&p->t, "%*s%s\n", p->indent * 2, "", s);
}

static ssa constant(printer *p, gtype t, int64_t c)
{
    ssa r = fresh(p);
    char ty[64];
    type_name(ty, t, false);
    if (t.is_float) {
        if (t.rank) line(p, "%s = arith.constant dense<%lld.000000e+00> : %s", r.s, (long long)c, ty);
        else line(p, "%s = arith.constant %lld.000000e+00 : %s", r.s, (long long)c, ty);
        return r;
    }
    if (t.bits && t.bits < 64) { /* the printed number fits the type */
        int64_t m = (int64_t)1 << t.bits;
        c = ((c % m) + m) % m;
        if (t.bits > 1 && c >= m / 2) c -= m;
    }
    if (t.bits == 1) {
        if (t.rank) line(p, "%s = arith.constant dense<%s> : %s", r.s, c ? "true" : "false", ty);
        else line(p, "%s = arith.constant %s", r.s, c ? "true" : "false");
    } else if (t.rank) {
        line(p, "%s = arith.constant dense<%lld> : %s", r.s, (long long)c, ty);
    } else {
        line(p, "%s = arith.constant %lld : %s", r.s, (long long)c, ty);
    }
    return r;
}
static ssa value_ref(printer *p, int val)
{
    ssa r;
    memcpy(r.s, p->name[val], sizeof r.s);
    return r;
}
static ssa expr(printer *p, int at)
{
    const gkernel *k = p->k;
    const gexpr *e = &k->e[at];
    ssa r, a = { "" }, b = { "" }, c = { "" };
    char ty[64], ta[64];
    type_name(ty, e->t, false);
    if (e->t.bits == 64 && !e->t.is_float) mark(p, F_I64);
    if (e->t.bits == 16 && !e->t.is_float) mark(p, F_I16);
    if (e->kind == GE_CONST) return constant(p, e->t, e->c);
    if (e->kind == GE_PARAM) {
        snprintf(r.s, sizeof r.s, "%%n%d", e->ref);
        return r;
    }
    if (e->kind == GE_VAL) return value_ref(p, e->ref);
    if (e->k[0] >= 0) {
        a = expr(p, e->k[0]);
        type_name(ta, k->e[e->k[0]].t, false);
    }
    if (e->k[1] >= 0) b = expr(p, e->k[1]);
    if (e->kind == GE_SELECT) c = expr(p, e->k[2]);
    r = fresh(p);
    switch (e->kind) {
    case GE_PID: line(p, "%s = tt.get_program_id %c : i32", r.s, "xyz"[e->ref]); break;
    case GE_NPROG:
        mark(p, F_NPROG);
        line(p, "%s = tt.get_num_programs %c : i32", r.s, "xyz"[e->ref]);
        break;
    case GE_RANGE:
        line(p, "%s = tt.make_range {end = %lld : i32, start = %lld : i32} : %s", r.s,
             (long long)(e->c + e->t.shape[0]), (long long)e->c, ty);
        break;
    case GE_SPLAT: line(p, "%s = tt.splat %s : %s -> %s", r.s, a.s, ta, ty); break;
    case GE_EXPAND: line(p, "%s = tt.expand_dims %s {axis = %lld : i32} : %s -> %s", r.s, a.s, (long long)e->c, ta, ty); break;
    case GE_BROADCAST:
        if (!strcmp(ta, ty)) return a;
        line(p, "%s = tt.broadcast %s : %s -> %s", r.s, a.s, ta, ty);
        break;
    case GE_RESHAPE:
        mark(p, F_RESHAPE);
        line(p, "%s = tt.reshape %s : %s -> %s", r.s, a.s, ta, ty);
        break;
    case GE_TRANS:
        mark(p, F_TRANS);
        line(p, "%s = tt.trans %s {order = array<i32: 1, 0>} : %s -> %s", r.s, a.s, ta, ty);
        break;
    case GE_JOINSPLIT: {
        mark(p, F_JOIN);
        gtype j = e->t;
        char tj[64];
        j.shape[j.rank++] = 2;
        type_name(tj, j, false);
        ssa q = fresh(p);
        line(p, "%s = tt.join %s, %s : %s -> %s", r.s, a.s, b.s, ty, tj);
        line(p, "%s:2 = tt.split %s : %s -> %s", q.s, r.s, tj, ty);
        snprintf(r.s, sizeof r.s, "%.20s#%d", q.s, (int)e->c);
        break;
    }
    case GE_REDUCE:
        mark(p, F_REDUCE);
        line(p, "%s = \"tt.reduce\"(%s) <{axis = 0 : i32}> ({", r.s, a.s);
        line(p, "^bb0(%%ra%s: %s, %%rb%s: %s):", r.s + 1, ty, r.s + 1, ty);
        line(p, "  %%rc%s = arith.%s %%ra%s, %%rb%s : %s", r.s + 1, e->c == 1 ? "maxsi" : "minsi", r.s + 1, r.s + 1, ty);
        line(p, "  tt.reduce.return %%rc%s : %s", r.s + 1, ty);
        line(p, "}) : (%s) -> %s", ta, ty);
        break;
    case GE_BIN: {
        mark(p, F_BIN + (int)e->c);
        int div = e->c == B_DIVSI || e->c == B_DIVUI || e->c == B_REMSI || e->c == B_REMUI || e->c == B_FLOORDIVSI || e->c == B_CEILDIVSI;
        int bit = e->c == B_ANDI || e->c == B_ORI || e->c == B_XORI;
        if (div) mark(p, k->e[e->k[1]].kind == GE_CONST ? F_DIV_CONST : F_DIV_RANGE);
        if (bit && e->t.bits != 1 && k->e[e->k[1]].kind != GE_CONST) mark(p, F_BIT_TERMS);
        if (e->t.bits == 1) mark(p, F_BOOL_LOGIC);
        line(p, "%s = %s %s, %s : %s", r.s, gen_bin_name[e->c], a.s, b.s, ty);
        break;
    }
    case GE_EXTENDED: {
        static const char *const name[] = { "addui_extended", "mulsi_extended", "mului_extended" };
        gtype o = e->t;
        char to[64];
        o.bits = 1;
        type_name(to, o, false);
        mark(p, F_EXT + (int)e->c);
        line(p, "%s, %%h%s = arith.%s %s, %s : %s%s%s", r.s, r.s + 1, name[e->c], a.s, b.s, ty,
             e->c == X_ADDUI ? ", " : "", e->c == X_ADDUI ? to : "");
        break;
    }
    case GE_CMP:
        mark(p, F_PRED + (int)e->c);
        if (k->e[e->k[0]].t.bits == 1) mark(p, F_BOOL_CMP);
        line(p, "%s = arith.cmpi %s, %s, %s : %s", r.s, gen_pred_name[e->c], a.s, b.s, ta);
        break;
    case GE_SELECT:
        mark(p, F_SELECT);
        if (k->e[e->k[0]].t.rank) line(p, "%s = arith.select %s, %s, %s : %s, %s", r.s, a.s, b.s, c.s, ta, ty);
        else line(p, "%s = arith.select %s, %s, %s : %s", r.s, a.s, b.s, c.s, ty);
        break;
    case GE_CAST:
        mark(p, F_CAST + (int)e->c);
        if (k->e[e->k[0]].t.bits == 1) mark(p, e->c == C_EXTSI ? F_EXTSI_BOOL : F_EXTUI_BOOL);
        if (e->t.bits == 1) mark(p, F_TRUNC_BOOL);
        line(p, "%s = %s %s : %s to %s", r.s, gen_cast_name[e->c], a.s, ta, ty);
        break;
    case GE_FADD: line(p, "%s = arith.addf %s, %s : %s", r.s, a.s, b.s, ty); break;
    default: abort();
    }
    return r;
}

static gtype access_elem(const gkernel *k, const gaccess *a, int arg)
{
    gtype t = { .rank = a->rank };
    memcpy(t.shape, a->shape, sizeof t.shape);
    t.bits = a->view_bits ? a->view_bits : k->arg[arg].bits;
    t.is_float = !a->view_bits && k->arg[arg].is_float;
    return t;
}
/* Pointer of one access; *ty its printed type. */
static ssa pointer_to(printer *p, const gaccess *a, int arg, int off, int soff, char *ty)
{
    const gkernel *k = p->k;
    const garg *g = &k->arg[arg];
    gtype own = { .bits = g->bits, .is_float = g->is_float }, elem = access_elem(k, a, arg);
    gtype cell = elem;
    cell.rank = 0;
    bool cast = a->view_bits && (a->view_bits != g->bits || g->is_float);
    char ts[64], tc[64];
    type_name(ts, own, true);
    ssa base, r;
    snprintf(base.s, sizeof base.s, "%%a%d", arg);
    if (cast) mark(p, F_VIEW);
    if (cast && (a->form != 2 || soff >= 0 || !a->rank)) {
        type_name(tc, cell, true);
        r = fresh(p);
        line(p, "%s = tt.bitcast %s : %s -> %s", r.s, base.s, ts, tc);
        base = r;
        strcpy(ts, tc);
        cast = false;
    }
    if (soff >= 0) {
        ssa o = expr(p, soff);
        char to[64];
        type_name(to, k->e[soff].t, false);
        r = fresh(p);
        line(p, "%s = tt.addptr %s, %s : %s, %s", r.s, base.s, o.s, ts, to);
        base = r;
    }
    if (a->rank) {
        gtype wide = cast ? own : elem;
        wide.rank = elem.rank;
        memcpy(wide.shape, elem.shape, sizeof wide.shape);
        char tw[64];
        type_name(tw, wide, true);
        if (a->form == 1) { /* through a unit tile */
            gtype unit = wide;
            char tu[64];
            for (int i = 0; i < 3; i++) unit.shape[i] = 1;
            type_name(tu, unit, true);
            r = fresh(p);
            line(p, "%s = tt.splat %s : %s -> %s", r.s, base.s, ts, tu);
            base = r;
            r = fresh(p);
            line(p, "%s = tt.broadcast %s : %s -> %s", r.s, base.s, tu, tw);
        } else {
            r = fresh(p);
            line(p, "%s = tt.splat %s : %s -> %s", r.s, base.s, ts, tw);
        }
        base = r;
        strcpy(ts, tw);
        if (cast) {
            type_name(tc, elem, true);
            r = fresh(p);
            line(p, "%s = tt.bitcast %s : %s -> %s", r.s, base.s, ts, tc);
            base = r;
            strcpy(ts, tc);
        }
    }
    if (off >= 0) {
        ssa o = expr(p, off);
        char to[64];
        type_name(to, k->e[off].t, false);
        r = fresh(p);
        line(p, "%s = tt.addptr %s, %s : %s, %s", r.s, base.s, o.s, ts, to);
        base = r;
    }
    strcpy(ty, ts);
    return base;
}
static ssa pointer(printer *p, const gaccess *a, char *ty)
{
    if (!a->rank) mark(p, F_SCALAR);
    if (a->rank == 2) mark(p, F_TILE2);
    if (a->rank == 3) mark(p, F_TILE3);
    if (p->k->arg[a->arg].alias_of >= 0) mark(p, F_ALIAS);
    if (p->k->arg[a->arg].elems_before == 0 && !p->k->arg[a->arg].has_values) mark(p, F_TIGHT);
    ssa own;
    if (a->carry >= 0) {
        gval v = p->k->v[a->carry];
        gtype t = v.t;
        t.bits = v.ptr_bits;
        t.is_float = v.ptr_float;
        type_name(ty, t, true);
        own = value_ref(p, a->carry);
    } else {
        own = pointer_to(p, a, a->arg, a->off, a->soff, ty);
    }
    if (a->sel < 0) return own;
    mark(p, F_PTR_SELECT);
    char t2[64], tc[64];
    ssa two = pointer_to(p, a, a->arg2, a->off2, -1, t2), c = expr(p, a->sel), r;
    type_name(tc, p->k->e[a->sel].t, false);
    r = fresh(p);
    if (p->k->e[a->sel].t.rank) line(p, "%s = arith.select %s, %s, %s : %s, %s", r.s, c.s, own.s, two.s, tc, ty);
    else line(p, "%s = arith.select %s, %s, %s : %s", r.s, c.s, own.s, two.s, ty);
    return r;
}
static bool mentions_load(const printer *p, int e)
{
    const gexpr *x = &p->k->e[e];
    if (x->kind == GE_VAL) {
        for (int i = 0; i < p->k->n_stmts; i++)
            if (p->k->s[i].kind == GS_LOAD && p->k->s[i].val == x->ref) return true;
    }
    for (int i = 0; i < 3; i++)
        if (x->k[i] >= 0 && mentions_load(p, x->k[i])) return true;
    return false;
}
static void name_value(printer *p, int val, ssa s) { memcpy(p->name[val], s.s, sizeof s.s); }

static void block(printer *p, int at);

static void yield(printer *p, const char *op, const ssa *v, char (*ty)[64], int n)
{
    char s[512], *o = s;
    for (int i = 0; i < n; i++) o += sprintf(o, "%s%s", i ? ", " : " ", v[i].s);
    for (int i = 0; i < n; i++) o += sprintf(o, "%s%s", i ? ", " : " : ", ty[i]);
    *o = 0;
    line(p, "%s%s", op, n ? s : "");
}
static void carried_types(const printer *p, const gstmt *s, char (*ty)[64])
{
    for (int c = 0; c < s->n_carry; c++) {
        gval v = p->k->v[s->carry_val[c]];
        gtype t = v.t;
        if (v.is_ptr) {
            t.bits = v.ptr_bits;
            t.is_float = v.ptr_float;
        }
        type_name(ty[c], t, v.is_ptr);
    }
}
static ssa next_carry(printer *p, const gstmt *s, int c, const char *ty)
{
    ssa inc = expr(p, s->carry_inc[c]), r = fresh(p);
    char ti[64];
    type_name(ti, p->k->e[s->carry_inc[c]].t, false);
    if (s->carry_is_ptr[c]) line(p, "%s = tt.addptr %s, %s : %s, %s", r.s, p->name[s->carry_val[c]], inc.s, ty, ti);
    else line(p, "%s = arith.addi %s, %s : %s", r.s, p->name[s->carry_val[c]], inc.s, ty);
    return r;
}
static void loop_statement(printer *p, const gstmt *s)
{
    const gkernel *k = p->k;
    char ty[3][64], tiv[64];
    ssa init[3], lb = expr(p, s->e[0]), ub, step, iv, next[3];
    gtype t = k->e[s->e[0]].t;
    mark(p, s->kind == GS_FOR ? F_FOR : F_WHILE);
    if (mentions_load(p, s->e[0]) || mentions_load(p, s->e[1])) mark(p, F_TABLE_BOUND);
    if (p->depth) mark(p, F_NESTED_LOOP);
    if (t.bits != 32) mark(p, F_INDEX_LOOP);
    if (k->e[s->e[1]].kind != GE_CONST) mark(p, F_PARAM_BOUND);
    ub = expr(p, s->e[1]);
    step = expr(p, s->e[2]);
    type_name(tiv, t, false);
    carried_types(p, s, ty);
    for (int c = 0; c < s->n_carry; c++) {
        mark(p, s->carry_is_ptr[c] ? F_CARRY_PTR : F_CARRY);
        char unused[64];
        init[c] = s->carry_is_ptr[c] ? pointer_to(p, &s->carry_ptr[c], s->carry_ptr[c].arg, s->carry_ptr[c].off, s->carry_ptr[c].soff, unused)
                                     : expr(p, s->carry_init[c]);
    }
    iv = fresh(p);
    ssa res = fresh(p);
    int saved_depth = p->depth++;
    if (s->kind == GS_FOR) {
        char head[600], *o = head;
        if (s->n_carry) o += sprintf(o, "%s%s = ", res.s, s->n_carry > 1 ? ":2" : "");
        o += sprintf(o, "scf.for %s = %s to %s step %s", iv.s, lb.s, ub.s, step.s);
        for (int c = 0; c < s->n_carry; c++) {
            ssa a = fresh(p);
            o += sprintf(o, "%s%s = %s", c ? ", " : " iter_args(", a.s, init[c].s);
            name_value(p, s->carry_val[c], a);
        }
        if (s->n_carry) {
            o += sprintf(o, ") -> (");
            for (int c = 0; c < s->n_carry; c++) o += sprintf(o, "%s%s", c ? ", " : "", ty[c]);
            o += sprintf(o, ")");
        }
        if (t.bits) o += sprintf(o, "  : %s", tiv);
        line(p, "%s {", head);
        p->indent++;
        name_value(p, s->val, iv);
        block(p, s->body);
        for (int c = 0; c < s->n_carry; c++) next[c] = next_carry(p, s, c, ty[c]);
        if (s->n_carry) yield(p, "scf.yield", next, ty, s->n_carry);
        p->indent--;
        line(p, "}");
        for (int c = 0; c < s->n_carry; c++) {
            ssa q = res;
            if (s->n_carry > 1) snprintf(q.s, sizeof q.s, "%.20s#%d", res.s, c);
            name_value(p, s->carry_res[c], q);
        }
    } else {
        int n = s->n_carry + 1;
        for (int c = s->n_carry; c > 0; c--) {
            init[c] = init[c - 1];
            memcpy(ty[c], ty[c - 1], 64);
        }
        init[0] = lb;
        memcpy(ty[0], tiv, 64);
        char head[600], *o = head, types[300], *q = types;
        ssa arg[3], arg2[3];
        for (int c = 0; c < n; c++) q += sprintf(q, "%s%s", c ? ", " : "", ty[c]);
        o += sprintf(o, "%s%s = scf.while (", res.s, n == 1 ? "" : n == 2 ? ":2" : ":3");
        for (int c = 0; c < n; c++) {
            arg[c] = fresh(p);
            arg2[c] = fresh(p);
            o += sprintf(o, "%s%s = %s", c ? ", " : "", arg[c].s, init[c].s);
        }
        if (n == 1) line(p, "%s) : (%s) -> %s {", head, types, types);
        else line(p, "%s) : (%s) -> (%s) {", head, types, types);
        p->indent++;
        ssa cond = fresh(p);
        line(p, "%s = arith.cmpi %s, %s, %s : %s", cond.s, gen_pred_name[s->op], arg[0].s, ub.s, tiv);
        char cs[64];
        snprintf(cs, sizeof cs, "scf.condition(%s)", cond.s);
        yield(p, cs, arg, ty, n);
        p->indent--;
        line(p, "} do {");
        char bb[400], *z = bb;
        for (int c = 0; c < n; c++) z += sprintf(z, "%s%s: %s", c ? ", " : "", arg2[c].s, ty[c]);
        line(p, "^bb0(%s):", bb);
        p->indent++;
        name_value(p, s->val, arg2[0]);
        for (int c = 0; c < s->n_carry; c++) name_value(p, s->carry_val[c], arg2[c + 1]);
        block(p, s->body);
        next[0] = fresh(p);
        line(p, "%s = arith.addi %s, %s : %s", next[0].s, arg2[0].s, step.s, tiv);
        for (int c = 0; c < s->n_carry; c++) next[c + 1] = next_carry(p, s, c, ty[c + 1]);
        yield(p, "scf.yield", next, ty, n);
        p->indent--;
        line(p, "}");
        for (int c = 0; c < s->n_carry; c++) {
            ssa r = res;
            snprintf(r.s, sizeof r.s, "%.20s#%d", res.s, c + 1);
            name_value(p, s->carry_res[c], r);
        }
    }
    p->depth = saved_depth;
}
static void block(printer *p, int at)
{
    const gkernel *k = p->k;
    int last_load_arg = -1, last_load_off = -1;
    for (; at >= 0; at = k->s[at].next) {
        const gstmt *s = &k->s[at];
        char ty[64], tv[64], tm[64];
        ssa ptr, m = { "" }, v, r;
        switch (s->kind) {
        case GS_LET: name_value(p, s->val, expr(p, s->e[0])); break;
        case GS_LOAD: {
            ptr = pointer(p, &s->a, ty);
            last_load_arg = s->a.arg;
            last_load_off = s->a.off;
            if (s->mask >= 0) {
                mark(p, F_MASK);
                m = expr(p, s->mask);
            }
            r.s[0] = 0;
            if (s->mask >= 0 && s->has_other) {
                mark(p, F_OTHER);
                ssa o = constant(p, access_elem(k, &s->a, s->a.arg), 0);
                r = fresh(p);
                line(p, "%s = tt.load %s, %s, %s : %s", r.s, ptr.s, m.s, o.s, ty);
            } else {
                r = fresh(p);
                line(p, "%s = tt.load %s%s%s : %s", r.s, ptr.s, s->mask >= 0 ? ", " : "", m.s, ty);
            }
            name_value(p, s->val, r);
            break;
        }
        case GS_STORE:
            ptr = pointer(p, &s->a, ty);
            if (last_load_arg == s->a.arg && last_load_off >= 0) mark(p, F_IN_PLACE);
            v = expr(p, s->e[0]);
            if (s->a.off >= 0 && mentions_load(p, s->a.off)) mark(p, F_TABLE_ADDRESS);
            if (s->mask >= 0) {
                mark(p, F_MASK);
                if (mentions_load(p, s->mask)) mark(p, F_LOADED_MASK);
                m = expr(p, s->mask);
            }
            line(p, "tt.store %s, %s%s%s : %s", ptr.s, v.s, s->mask >= 0 ? ", " : "", m.s, ty);
            break;
        case GS_RMW: {
            ptr = pointer(p, &s->a, ty);
            v = expr(p, s->e[0]);
            gtype t = access_elem(k, &s->a, s->a.arg), tb = t;
            tb.bits = 1;
            tb.is_float = false;
            type_name(tv, t, false);
            type_name(tm, tb, false);
            m = s->mask >= 0 ? expr(p, s->mask) : constant(p, tb, 1);
            if (s->mask >= 0) mark(p, F_MASK);
            mark(p, s->scope == SCOPE_CTA ? F_RMW_CTA : F_RMW_GPU);
            if (s->sem == SEM_RELAXED) mark(p, F_RMW_UNUSED);
            r = fresh(p);
            line(p, "%s = tt.atomic_rmw %s, %s, %s, %s, %s, %s : (%s, %s, %s) -> %s", r.s, rmw_name[s->op],
                 sem_name[s->sem], scope_name[s->scope], ptr.s, v.s, m.s, ty, tv, tm, tv);
            name_value(p, s->val, r);
            break;
        }
        case GS_CAS: {
            ptr = pointer(p, &s->a, ty);
            ssa c = expr(p, s->e[0]);
            v = expr(p, s->e[1]);
            type_name(tv, access_elem(k, &s->a, s->a.arg), false);
            mark(p, F_CAS);
            r = fresh(p);
            line(p, "%s = tt.atomic_cas %s, %s, %s, %s, %s : (%s, %s, %s) -> %s", r.s, sem_name[s->sem],
                 scope_name[s->scope], ptr.s, c.s, v.s, ty, tv, tv, tv);
            name_value(p, s->val, r);
            break;
        }
        case GS_BARRIER: {
            static const char *const spell[] = { "ttg.barrier all", "gpu.barrier", "ttg.barrier local",
                                                 "ttg.barrier global_read|global_write", "ttg.barrier global_read" };
            mark(p, s->op ? F_BARRIER_LOCAL : F_BARRIER);
            line(p, "%s", spell[s->op]);
            break;
        }
        case GS_FOR: case GS_WHILE: loop_statement(p, s); break;
        case GS_IF: {
            ssa c = expr(p, s->e[0]), x;
            bool has_else = s->op || s->val >= 0;
            mark(p, F_IF);
            r = fresh(p);
            if (s->val >= 0) {
                mark(p, F_IF_RESULT);
                type_name(tv, k->v[s->val].t, false);
                line(p, "%s = scf.if %s -> (%s) {", r.s, c.s, tv);
            } else {
                line(p, "scf.if %s {", c.s);
            }
            p->indent++;
            block(p, s->body);
            if (s->val >= 0) {
                x = expr(p, s->e[2]);
                line(p, "scf.yield %s : %s", x.s, tv);
            }
            p->indent--;
            if (has_else) {
                line(p, "} else {");
                p->indent++;
                block(p, s->other);
                if (s->val >= 0) {
                    x = expr(p, s->e[3]);
                    line(p, "scf.yield %s : %s", x.s, tv);
                }
                p->indent--;
            }
            line(p, "}");
            if (s->val >= 0) name_value(p, s->val, r);
            break;
        }
        case GS_RETURN_IF: {
            ssa c = expr(p, s->e[0]);
            mark(p, F_EARLY);
            line(p, "cf.cond_br %s, ^bb%d, ^bb%d", c.s, p->label, p->label + 1);
            p->indent--;
            line(p, "^bb%d:  // pred: ^bb0", p->label);
            line(p, "  tt.return");
            line(p, "^bb%d:  // pred: ^bb0", p->label + 1);
            p->indent++;
            p->label += 2;
            break;
        }
        default: abort();
        }
    }
}

/* Address of an argument's storage and of the argument, in bytes. */
static void place(const gkernel *k, int i, int64_t *lo, int64_t *hi, int64_t *ptr)
{
    const garg *a = &k->arg[i];
    if (a->alias_of >= 0) {
        place(k, a->alias_of, lo, hi, ptr);
        *ptr += a->alias_bytes;
        return;
    }
    int w = a->bits / 8;
    *lo = 0x10000000 + (int64_t)i * 0x1000000;
    *ptr = *lo + a->elems_before * w;
    *hi = *ptr + a->elems_after * w;
}

char *gen_ttir(const gkernel *k, gfeatures *f)
{
    printer *p = calloc(1, sizeof *p);
    if (!p) abort();
    p->k = k;
    p->label = 1;
    put(&p->t, "module {\n  tt.func public @kernel(");
    for (int i = 0; i < k->n_args; i++) {
        int64_t lo, hi, ptr;
        place(k, i, &lo, &hi, &ptr);
        put(&p->t, "%s%%a%d: !tt.ptr<%c%d>%s", i ? ", " : "", i, k->arg[i].is_float ? 'f' : 'i', k->arg[i].bits,
            ptr % 16 == 0 ? " {tt.divisibility = 16 : i32}" : "");
    }
    for (int i = 0; i < k->n_params; i++)
        put(&p->t, ", %%n%d: i%d%s", i, k->param_bits[i], k->param[i] % 16 == 0 ? " {tt.divisibility = 16 : i32}" : "");
    put(&p->t, ") attributes {noinline = false} {\n");
    p->indent = 2;
    block(p, k->top);
    if (k->grid[1] > 1 || k->grid[2] > 1) mark(p, F_GRID2);
    line(p, "tt.return");
    put(&p->t, "  }\n}\n");
    if (f) *f = p->f;
    char *s = p->t.s;
    free(p);
    return s;
}

char *gen_launch(const gkernel *k, const int64_t grid[3], const char *ttir_text)
{
    text t = { 0 };
    put(&t, "{\"version\": 1, \"kernel\": \"kernel\", \"grid\": [%lld, %lld, %lld], ", (long long)grid[0],
        (long long)grid[1], (long long)grid[2]);
    if (ttir_text) {
        put(&t, "\"ttir_text\": \"");
        for (const char *c = ttir_text; *c; c++) {
            if (*c == '\n') put(&t, "\\n");
            else if (*c == '"' || *c == '\\') put(&t, "\\%c", *c);
            else put(&t, "%c", *c);
        }
        put(&t, "\", ");
    } else {
        put(&t, "\"ttir\": \"kernel.ttir\", ");
    }
    put(&t, "\"config\": {\"num_warps\": 4}, \"args\": {");
    for (int i = 0; i < k->n_args; i++) {
        const garg *a = &k->arg[i];
        int64_t lo, hi, ptr, w = a->bits / 8;
        place(k, i, &lo, &hi, &ptr);
        put(&t, "%s\"a%d\": {\"tensor\": {\"dtype\": \"%s%d\", \"ptr\": %lld, \"shape\": [%lld], \"strides\": [1], "
            "\"storage\": {\"ptr\": %lld, \"bytes\": %lld}", i ? ", " : "", i, a->is_float ? "float" : "int", a->bits,
            (long long)ptr, (long long)((hi - ptr) / w), (long long)lo, (long long)(hi - lo));
        if (a->has_values) {
            put(&t, ", \"values\": [");
            for (int j = 0; j < a->n_values; j++) put(&t, "%s%d", j ? "," : "", a->values[j]);
            put(&t, "]");
        }
        put(&t, "}}");
    }
    for (int i = 0; i < k->n_params; i++) put(&t, ", \"n%d\": %lld", i, (long long)k->param[i]);
    put(&t, "}}\n");
    return t.s;
}
