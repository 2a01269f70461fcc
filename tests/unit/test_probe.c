/* A probe follows one lane; its answer is that of the evaluator on whole tiles, for every lane of every access of random
 * kernels: moved and combined tiles, loops that carry them, branches that are known and not, loads with contents, divisors
 * that differ from lane to lane. */
#include "interp_run.h"

enum { MOST_VALUES = 96, MOST_SHAPES = 8 };
typedef enum { INT, BIT, POINTER } kind;
typedef struct shape { int rank; int64_t n[3]; } shape;
typedef struct value { char name[16]; kind k; shape s; } value;
typedef struct gen {
    pr_arena *arena;
    pr_buf out;
    uint64_t state;
    value v[MOST_VALUES]; int n;
    int names;
} gen;

static uint64_t roll(gen *g, uint64_t n)
{
    g->state = g->state * 6364136223846793005u + 1442695040888963407u;
    return (g->state >> 33) % n;
}

static int64_t count(const shape *s)
{
    int64_t n = 1;
    for (int d = 0; d < s->rank; d++) n *= s->n[d];
    return n;
}

static const char *type_of(gen *g, kind k, const shape *s)
{
    const char *e = k == INT ? "i32" : k == BIT ? "i1" : "!tt.ptr<i32>";
    if (!s->rank) return e;
    const char *t = "tensor<";
    for (int d = 0; d < s->rank; d++) t = pr_arena_printf(g->arena, "%s%lldx", t, (long long)s->n[d]);
    return pr_arena_printf(g->arena, "%s%s>", t, e);
}

static const char *type(gen *g, const value *v) { return type_of(g, v->k, &v->s); }

static value *fresh(gen *g, kind k, shape s)
{
    int i = g->n < MOST_VALUES ? g->n++ : (int)roll(g, MOST_VALUES);
    g->v[i] = (value){.k = k, .s = s};
    snprintf(g->v[i].name, sizeof g->v[i].name, "%%v%d", g->names++);
    return &g->v[i];
}

static bool same_shape(const shape *a, const shape *b)
{
    bool same = a->rank == b->rank;
    for (int d = 0; same && d < a->rank; d++) same = a->n[d] == b->n[d];
    return same;
}

/* A value of that kind, rather a late one, of that shape unless null, of at least that rank; null when there is none. */
static const value *pick(gen *g, kind k, const shape *s, int least)
{
    const value *found = NULL;
    int seen = 0;
    for (int i = 0; i < g->n; i++) {
        const value *v = &g->v[i];
        if (v->k != k || v->s.rank < least || (s && !same_shape(&v->s, s))) continue;
        if (roll(g, seen++ < 3 ? (uint64_t)seen : 3) == 0) found = v;
    }
    return found;
}

#define EMIT(...) pr_buf_printf(&g->out, __VA_ARGS__)

static void moved(gen *g)
{
    kind k = (kind)roll(g, 3);
    const value *p = pick(g, k, NULL, 1);
    if (!p) return;
    value a = *p, *r;
    shape s = a.s;
    switch (roll(g, 4)) {
    case 0: {                            /* expand_dims */
        if (s.rank == 3) return;
        int axis = (int)roll(g, (uint64_t)s.rank + 1);
        for (int d = s.rank; d > axis; d--) s.n[d] = s.n[d - 1];
        s.n[axis] = 1;
        s.rank++;
        r = fresh(g, k, s);
        EMIT("    %s = tt.expand_dims %s {axis = %d : i32} : %s -> %s\n", r->name, a.name, axis, type(g, &a), type(g, r));
        return;
    }
    case 1: {                            /* broadcast */
        bool any = false;
        for (int d = 0; d < s.rank; d++)
            if (s.n[d] == 1 && roll(g, 3)) s.n[d] = roll(g, 4) ? 4 : 2, any = true;
        if (!any || count(&s) > 128) return;
        r = fresh(g, k, s);
        EMIT("    %s = tt.broadcast %s : %s -> %s\n", r->name, a.name, type(g, &a), type(g, r));
        return;
    }
    case 2: {                            /* trans */
        int order[3] = {0, 1, 2};
        for (int d = s.rank - 1; d > 0; d--) {
            int x = (int)roll(g, (uint64_t)d + 1), keep = order[d];
            order[d] = order[x];
            order[x] = keep;
        }
        for (int d = 0; d < s.rank; d++) s.n[d] = a.s.n[order[d]];
        r = fresh(g, k, s);
        EMIT("    %s = tt.trans %s {order = array<i32: ", r->name, a.name);
        for (int d = 0; d < s.rank; d++) EMIT("%s%d", d ? ", " : "", order[d]);
        EMIT(">} : %s -> %s\n", type(g, &a), type(g, r));
        return;
    }
    default: {                           /* reshape */
        int64_t n = count(&s);
        if (roll(g, 2)) s = (shape){1, {n}};
        else if (n % 2 == 0) s = (shape){2, {2, n / 2}};
        else return;
        r = fresh(g, k, s);
        EMIT("    %s = tt.reshape %s%s : %s -> %s\n", r->name, a.name, roll(g, 6) ? "" : " allow_reorder", type(g, &a), type(g, r));
        return;
    }
    }
}

static void combined(gen *g)
{
    static const char *const ops[] = {"addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui",
                                      "divsi", "remsi", "divui", "remui", "shli", "shrsi", "shrui", "ceildivsi", "remsi"};
    static const char *const tests[] = {"slt", "sge", "eq", "ne", "ult", "sgt"};
    const value *x = pick(g, INT, NULL, 1);
    if (!x || !roll(g, 5)) x = pick(g, INT, NULL, 0);
    value a = *x, b = *pick(g, INT, &x->s, 0), *r;
    const value *c = pick(g, BIT, &a.s, 0), *p = pick(g, POINTER, &a.s, 0), *q = pick(g, POINTER, &a.s, 0);
    switch (roll(g, 6)) {
    case 0:
        if (!c) return;
        if (p && roll(g, 3) == 0) {
            value u = *p, w = *q, cc = *c;
            r = fresh(g, POINTER, a.s);
            EMIT("    %s = arith.select %s, %s, %s : %s, %s\n", r->name, cc.name, u.name, w.name, type(g, &cc), type(g, r));
            return;
        } else {
            value cc = *c;
            r = fresh(g, INT, a.s);
            EMIT("    %s = arith.select %s, %s, %s : %s, %s\n", r->name, cc.name, a.name, b.name, type(g, &cc), type(g, r));
            return;
        }
    case 1:
        r = fresh(g, BIT, a.s);
        EMIT("    %s = arith.cmpi %s, %s, %s : %s\n", r->name, tests[roll(g, PR_LEN(tests))], a.name, b.name, type(g, &a));
        return;
    case 2:
        if (p) {
            value u = *p;
            r = fresh(g, POINTER, a.s);
            EMIT("    %s = tt.addptr %s, %s : %s, %s\n", r->name, u.name, a.name, type(g, &u), type(g, &a));
            return;
        } /* fall through */
    default:
        r = fresh(g, INT, a.s);
        EMIT("    %s = arith.%s %s, %s : %s\n", r->name, ops[roll(g, PR_LEN(ops))], a.name, b.name, type(g, r));
        return;
    }
}

static void made(gen *g)
{
    value *r;
    static const shape often[] = {{1, {4}}, {1, {4}}, {1, {8}}, {1, {2}}, {2, {4, 4}}, {2, {4, 1}}, {2, {1, 4}}, {2, {2, 4}}, {3, {2, 1, 4}}};
    shape s = often[roll(g, PR_LEN(often))];                /* few, so that they meet */
    kind k = roll(g, 3) ? INT : POINTER;
    const value *scalar = pick(g, k, &(shape){0}, 0);
    switch (roll(g, 4)) {
    case 0: {
        int64_t start = (int64_t)roll(g, 3) * 4;
        s = (shape){1, {(int64_t)4 << (roll(g, 4) == 0)}};
        r = fresh(g, INT, s);
        EMIT("    %s = tt.make_range {end = %lld : i32, start = %lld : i32} : %s\n", r->name, (long long)(start + s.n[0]), (long long)start, type(g, r));
        return;
    }
    case 1:
        r = fresh(g, INT, s);
        EMIT("    %s = arith.constant dense<%d> : %s\n", r->name, (int)roll(g, 9) - 2, type(g, r));
        return;
    case 2:
        s = (shape){1, {4}};
        r = fresh(g, INT, s);
        EMIT("    %s = arith.constant dense<[%d, %d, %d, %d]> : %s\n", r->name, (int)roll(g, 5), (int)roll(g, 40), roll(g, 4) ? 0 : INT32_MIN, (int)roll(g, 7) - 3, type(g, r));
        return;
    default:
        if (!scalar) return;
        value a = *scalar;
        r = fresh(g, k, s);
        EMIT("    %s = tt.splat %s : %s -> %s\n", r->name, a.name, type(g, &a), type(g, r));
        return;
    }
}

static void folded(gen *g)
{
    const value *x = pick(g, INT, NULL, 1);
    if (!x || count(&x->s) > 64) return;
    value a = *x, *r;
    shape s = a.s;
    int axis = (int)roll(g, (uint64_t)s.rank);
    bool scan = roll(g, 2);
    if (!scan) {
        for (int d = axis; d + 1 < s.rank; d++) s.n[d] = s.n[d + 1];
        s.rank--;
    }
    r = fresh(g, INT, s);
    EMIT("    %s = \"tt.%s\"(%s) <{axis = %d : i32%s}> ({\n    ^bb0(%%fx: i32, %%fy: i32):\n      %%fm = arith.%s %%fx, %%fy : i32\n"
         "      tt.%s.return %%fm : i32\n    }) : (%s) -> %s\n", r->name, scan ? "scan" : "reduce", a.name, axis, scan ? ", reverse = false" : "",
         roll(g, 2) ? "addi" : "maxsi", scan ? "scan" : "reduce", type(g, &a), type(g, r));
}

static void joined(gen *g)
{
    const value *x = pick(g, INT, NULL, 1);
    if (!x || x->s.rank == 3 || count(&x->s) > 64) return;
    value a = *x, b = *pick(g, INT, &x->s, 1), *r;
    shape s = a.s;
    s.n[s.rank++] = 2;
    r = fresh(g, INT, s);
    EMIT("    %s = tt.join %s, %s : %s -> %s\n", r->name, a.name, b.name, type(g, &a), type(g, r));
}

static void accessed(gen *g, bool load)
{
    const value *x = pick(g, POINTER, NULL, 1);
    if (!x || !roll(g, 6)) x = pick(g, POINTER, NULL, 0);
    if (!x) return;
    value p = *x, mask = {0}, other = {0}, *r;
    const value *m = pick(g, BIT, &p.s, 0), *o = pick(g, INT, &p.s, 0);
    if (m) mask = *m;
    if (o) other = *o;
    if (load) {
        r = fresh(g, INT, p.s);
        EMIT("    %s = tt.load %s", r->name, p.name);
        if (m) EMIT(", %s", mask.name);
        if (m && o && roll(g, 2)) EMIT(", %s", other.name);
        EMIT(" : %s\n", type(g, &p));
    } else if (o) {
        EMIT("    tt.store %s, %s", p.name, other.name);
        if (m) EMIT(", %s", mask.name);
        EMIT(" : %s\n", type(g, &p));
    }
}

static void block(gen *g)
{
    int x = g->names++;
    int64_t a = (int64_t)1 << roll(g, 3), b = (int64_t)1 << roll(g, 3);
    EMIT("    %%b%d = tt.make_tensor_ptr %%p, [%%six, %%eleven], [%%eleven, %%one], [%%i0, %%i1] {order = array<i32: 1, 0>} : <tensor<%lldx%lldxi32>>\n",
         x, (long long)a, (long long)b);
    if (roll(g, 2)) {
        value *r = fresh(g, INT, (shape){2, {a, b}});
        EMIT("    %s = tt.load %%b%d {boundaryCheck = array<i32: %s>} : !tt.ptr<tensor<%lldx%lldxi32>>\n", r->name, x, roll(g, 2) ? "0, 1" : "1", (long long)a, (long long)b);
        return;
    }
    const value *v = pick(g, INT, &(shape){2, {a, b}}, 2);
    if (v) EMIT("    tt.store %%b%d, %s {boundaryCheck = array<i32: 0, 1>} : !tt.ptr<tensor<%lldx%lldxi32>>\n", x, v->name, (long long)a, (long long)b);
}

static void lines(gen *g, int n, int depth);

/* Values that go around, or come out of a branch; their names are of no use elsewhere. */
static void nested(gen *g, int depth)
{
    kind k = roll(g, 3) ? INT : POINTER;
    const value *x = pick(g, k, NULL, 0), *b = pick(g, BIT, &(shape){0}, 0);
    if (!x || depth > 1) return;
    value in = *x, bit = {0};
    if (b) bit = *b;
    gen before = *g;
    char result[16];
    snprintf(result, sizeof result, "%%v%d", g->names++);
    bool loop = !b || roll(g, 2);
    if (loop) {
        int i = g->names++;
        value carried = in;
        snprintf(carried.name, sizeof carried.name, "%%v%d", g->names++);
        EMIT("    %s = scf.for %%i%d = %%zero to %s step %%one_i iter_args(%s = %s) -> (%s)  : i32 {\n", result, i, roll(g, 5) ? "%three" : "%loaded", carried.name,
             in.name, type(g, &in));
        if (g->n < MOST_VALUES - 1) {
            g->v[g->n++] = carried;
            g->v[g->n] = (value){.k = INT};
            snprintf(g->v[g->n++].name, sizeof in.name, "%%i%d", i);
        }
        lines(g, 4, depth + 1);
        EMIT("      scf.yield %s : %s\n    }\n", pick(g, k, &in.s, 0)->name, type(g, &in));
    } else {
        EMIT("    %s = scf.if %s -> (%s) {\n", result, bit.name, type(g, &in));
        lines(g, 3, depth + 1);
        EMIT("      scf.yield %s : %s\n    } else {\n", pick(g, k, &in.s, 0)->name, type(g, &in));
        memcpy(g->v, before.v, sizeof g->v);
        g->n = before.n;
        lines(g, 3, depth + 1);
        EMIT("      scf.yield %s : %s\n    }\n", pick(g, k, &in.s, 0)->name, type(g, &in));
    }
    memcpy(g->v, before.v, sizeof g->v);
    g->n = before.n;
    value *r = fresh(g, k, in.s);
    memcpy(r->name, result, sizeof result);
}

static void lines(gen *g, int n, int depth)
{
    for (int i = 0; i < n; i++) {
        switch (roll(g, 16)) {
        case 0: case 1: made(g); break;
        case 2: case 3: case 4: case 5: moved(g); break;
        case 6: accessed(g, true); break;
        case 7: accessed(g, false); break;
        case 8: folded(g); break;
        case 9: nested(g, depth); break;
        case 10: joined(g); break;
        case 11: block(g); break;
        default: combined(g); break;
        }
    }
}

typedef struct lane_list { pr_interp_lane_info *lane; pr_interp_event e; int64_t shape[PR_MAX_RANK]; } lane_list;
typedef struct seen { pr_arena *arena; lane_list l; } seen;

static void take_lanes(void *user, const pr_interp_event *e)
{
    seen *s = user;
    s->l.e = *e;
    s->l.lane = PR_NEW_N(s->arena, pr_interp_lane_info, e->n_lanes);
    for (int64_t i = 0; i < e->n_lanes; i++) s->l.lane[i] = pr_interp_lane(e, i);
}

typedef struct execution { const pr_op *op; int64_t iter[8]; int n_iter; int rank; int64_t shape[PR_MAX_RANK], n_lanes; } execution;
typedef struct executions { execution x[64]; int n; } executions;

static void take_execution(void *user, const pr_interp_event *e)
{
    executions *l = user;
    if (l->n == (int)PR_LEN(l->x)) return;
    execution *x = &l->x[l->n++];
    *x = (execution){.op = e->op, .n_iter = e->n_iter, .rank = e->rank, .n_lanes = e->n_lanes};
    for (int i = 0; i < e->n_iter; i++) x->iter[i] = e->iter[i] < 0 ? 1 : e->iter[i];       /* any one, where the bounds are not known */
    memcpy(x->shape, e->shape, sizeof x->shape);
}

static int lanes_asked, lanes_known, undefined, not_available;

static bool same_answer(const pr_probe *q, const pr_probe *w, const lane_list *l, int64_t lane)
{
    bool same = q->available == w->available && !strcmp(q->why, w->why) && q->where == w->where && q->executed == w->executed && q->ub == w->ub;
    if (!same || !q->available || q->executed == PR_NO) return same;
    const pr_interp_lane_info *a = &q->lane, *b = &l->lane[lane];
    lanes_known += a->addr_known && a->active == PR_YES;
    return a->active == b->active && a->addr_known == b->addr_known && (!a->addr_known || (a->addr == b->addr && a->base == b->base)) &&
           q->kind == l->e.kind && q->width == l->e.width && q->via_desc == l->e.via_desc;
}

static void compare(pr_arena *arena, const char *body, int64_t n, int64_t m, int64_t program, const char *what, uint64_t number);

static void one_kernel(uint64_t seed)
{
    pr_arena *arena = pr_arena_new(0, NULL);
    gen made_by = {.arena = arena, .state = seed * 2654435761u + 1}, *g = &made_by;
    pr_buf_init(&g->out, arena);
    static const char *const scalars[] = {"%n", "%m", "%three", "%loaded", "%pid"};
    for (int i = 0; i < (int)PR_LEN(scalars); i++) snprintf(fresh(g, INT, (shape){0})->name, 16, "%s", scalars[i]);
    snprintf(fresh(g, POINTER, (shape){0})->name, 16, "%%p");
    snprintf(fresh(g, POINTER, (shape){0})->name, 16, "%%q");
    snprintf(fresh(g, BIT, (shape){0})->name, 16, "%%less");
    snprintf(fresh(g, BIT, (shape){0})->name, 16, "%%perhaps");
    made(g);
    made(g);
    lines(g, 30, 0);
    for (int i = 0; i < 4; i++) accessed(g, false);
    compare(arena, g->out.data, (int)roll(g, 12) - 2, (int)roll(g, 40) - 4, (int)roll(g, 3), "seed", seed);
    pr_arena_free(arena);
}

static void compare(pr_arena *arena, const char *body, int64_t n, int64_t m, int64_t program, const char *what, uint64_t number)
{
    program_text p = {.arena = arena};
    p.text = pr_arena_printf(arena,
        "tt.func public @k(%%p: !tt.ptr<i32>, %%q: !tt.ptr<i32>, %%n: i32, %%m: i32) {\n"
        "    %%three = arith.constant 3 : i32\n    %%zero = arith.constant 0 : i32\n    %%one_i = arith.constant 1 : i32\n"
        "    %%six = arith.constant 6 : i64\n    %%eleven = arith.constant 11 : i64\n    %%one = arith.constant 1 : i64\n"
        "    %%i0 = arith.constant 2 : i32\n    %%i1 = arith.constant 3 : i32\n"
        "    %%pid = tt.get_program_id x : i32\n    %%loaded = tt.load %%q : !tt.ptr<i32>\n"
        "    %%less = arith.cmpi slt, %%n, %%m : i32\n    %%perhaps = arith.cmpi slt, %%loaded, %%n : i32\n%s    tt.return\n  }\n", body);
    load_program(&p);
    static const pr_i128 contents[64] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6, 2, 6, 4, 3, 3, 8, 3, 2, 7, 9, 5, 0, -1};
    give_pointer(&p, 0, 1000, 0, 4);
    give_pointer(&p, 1, 4000, 0, 4);
    p.args[0].values = contents;
    p.args[0].n_values = 64;
    give_int(&p, 2, n);
    give_int(&p, 3, m);
    executions done = {0};
    int64_t pid[3] = {program, 0, 0};
    pr_machine_run(p.machine, pid, take_execution, &done);
    pr_machine *kept = pr_machine_new(arena, &p.setup);
    for (int i = 0; i < done.n; i++) {
        const execution *x = &done.x[i];
        seen s = {.arena = arena};
        int64_t at[PR_MAX_RANK] = {0};
        pr_interp_target t = {.op_id = x->op->id, .iter = x->iter, .n_iter = x->n_iter, .lane = at, .rank = x->rank};
        pr_probe w = pr_interp_probe_lanes(arena, &p.setup, pid, &t, take_lanes, &s);
        for (int64_t k = 0; k < x->n_lanes; k += 1 + x->n_lanes / 12) {
            int64_t rest = k;
            for (int d = x->rank - 1; d >= 0; d--) {
                at[d] = rest % x->shape[d];
                rest /= x->shape[d];
            }
            pr_probe q = pr_machine_probe(kept, p.setup.grid, pid, &t);
            bool same = same_answer(&q, &w, &s.l, k);
            lanes_asked++;
            undefined += q.ub != NULL;
            not_available += !q.available;
            check_count++;
            if (same) continue;
            check_failures++;
            fprintf(stderr, "%s %llu, operation %d, lane %lld: executed %d/%d, %s/%s, address %d %llu / %d %llu\n%s", what, (unsigned long long)number, x->op->id,
                    (long long)k, (int)q.executed, (int)w.executed, q.ub ? "undefined" : "defined", w.ub ? "undefined" : "defined",
                    q.lane.addr_known, (unsigned long long)q.lane.addr, s.l.lane ? s.l.lane[k].addr_known : 0,
                    s.l.lane ? (unsigned long long)s.l.lane[k].addr : 0, p.text);
            return;
        }
    }
}


/* %L: lanes 0 to 3, %pL: the tile of %p, %pi: %p + lane. Each ends in a store through %o + lane. */
#define RUN(body) run("    %L = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>\n" \
                      "    %pL = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>\n" \
                      "    %pi = tt.addptr %pL, %L : tensor<4x!tt.ptr<i32>>, tensor<4xi32>\n" \
                      "    %nL = tt.splat %n : i32 -> tensor<4xi32>\n" body \
                      "    %a = tt.addptr %pL, %o : tensor<4x!tt.ptr<i32>>, tensor<4xi32>\n" \
                      "    tt.store %a, %L : tensor<4x!tt.ptr<i32>>\n", __LINE__)

static void run(const char *body, int line)
{
    for (int n = -1; n < 3; n++) {
        pr_arena *arena = pr_arena_new(0, NULL);
        compare(arena, body, n, 1, 0, "line", (uint64_t)line);
        pr_arena_free(arena);
    }
}

static void directed(void)
{
    /* a quotient that is undefined in another lane: divided by nothing, the least number by -1, a shift by the width */
    RUN("    %o = arith.divsi %L, %nL : tensor<4xi32>\n");
    RUN("    %d = arith.constant dense<[5, 7, -2147483648, 9]> : tensor<4xi32>\n    %o = arith.divsi %d, %nL : tensor<4xi32>\n");
    RUN("    %o = arith.remsi %nL, %L : tensor<4xi32>\n");
    RUN("    %d = arith.addi %L, %nL : tensor<4xi32>\n    %o = arith.floordivsi %nL, %d : tensor<4xi32>\n");
    RUN("    %k = arith.constant dense<[1, 2, 32, 3]> : tensor<4xi32>\n    %o = arith.shli %L, %k : tensor<4xi32>\n");
    RUN("    %k = arith.constant dense<32> : tensor<4xi32>\n    %o = arith.shrsi %L, %k : tensor<4xi32>\n");
    /* only some lanes of the dividend are known (the contents end after 64 elements) */
    RUN("    %s = arith.constant dense<[0, 62, 63, 64]> : tensor<4xi32>\n    %f = tt.addptr %pL, %s : tensor<4x!tt.ptr<i32>>, tensor<4xi32>\n"
        "    %v = tt.load %f : tensor<4x!tt.ptr<i32>>\n    %o = arith.divui %v, %nL : tensor<4xi32>\n");
    /* a lane that is masked off and whose address is not known has the other value, where another address is known */
    RUN("    %s = arith.constant dense<[0, 70, 71, 72]> : tensor<4xi32>\n    %f = tt.addptr %pL, %s : tensor<4x!tt.ptr<i32>>, tensor<4xi32>\n"
        "    %v = tt.load %f : tensor<4x!tt.ptr<i32>>\n    %g = tt.addptr %pL, %v : tensor<4x!tt.ptr<i32>>, tensor<4xi32>\n"
        "    %on = arith.cmpi slt, %L, %nL : tensor<4xi32>\n    %o = tt.load %g, %on, %L : tensor<4x!tt.ptr<i32>>\n");
    /* two lanes of one value; a tile turned; one reordered at will; lanes of a block that is read and written */
    RUN("    %e = tt.expand_dims %L {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>\n    %f = tt.expand_dims %L {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>\n"
        "    %u = tt.broadcast %e : tensor<1x4xi32> -> tensor<4x4xi32>\n    %w = tt.broadcast %f : tensor<4x1xi32> -> tensor<4x4xi32>\n"
        "    %x = arith.muli %w, %w : tensor<4x4xi32>\n    %y = arith.addi %u, %x : tensor<4x4xi32>\n"
        "    %z = tt.trans %y {order = array<i32: 1, 0>} : tensor<4x4xi32> -> tensor<4x4xi32>\n    %t = arith.subi %z, %w : tensor<4x4xi32>\n"
        "    %h = tt.reshape %t : tensor<4x4xi32> -> tensor<16xi32>\n    %q16 = tt.splat %p : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>\n"
        "    %i = tt.addptr %q16, %h : tensor<16x!tt.ptr<i32>>, tensor<16xi32>\n    tt.store %i, %h : tensor<16x!tt.ptr<i32>>\n"
        "    %o = arith.addi %L, %nL : tensor<4xi32>\n");
    RUN("    %o = tt.reshape %L allow_reorder : tensor<4xi32> -> tensor<4xi32>\n");
    RUN("    %b = tt.make_tensor_ptr %p, [%six, %eleven], [%eleven, %one], [%i0, %i1] {order = array<i32: 1, 0>} : <tensor<2x2xi32>>\n"
        "    %o = scf.for %i = %zero to %three step %one_i iter_args(%x = %L) -> (tensor<4xi32>)  : i32 {\n"
        "      %v = tt.load %b {boundaryCheck = array<i32: 0, 1>} : !tt.ptr<tensor<2x2xi32>>\n      %y = tt.reshape %v : tensor<2x2xi32> -> tensor<4xi32>\n"
        "      %z = tt.trans %v {order = array<i32: 1, 0>} : tensor<2x2xi32> -> tensor<2x2xi32>\n      %t = tt.reshape %z : tensor<2x2xi32> -> tensor<4xi32>\n"
        "      %s = arith.addi %x, %t : tensor<4xi32>\n      %w = arith.addi %s, %y : tensor<4xi32>\n      scf.yield %w : tensor<4xi32>\n    }\n");
}

int main(int argc, char **argv)
{
    int kernels = argc > 1 ? atoi(argv[1]) : 2000;
    directed();
    for (int i = 0; i < kernels && check_failures < 3; i++) one_kernel((uint64_t)i);
    printf("%d kernels, %d lanes (%d known, %d after undefined behaviour, %d not available)\n", kernels, lanes_asked, lanes_known, undefined, not_available);
    CHECK(lanes_known > kernels && undefined > kernels / 20);
    return check_done();
}
