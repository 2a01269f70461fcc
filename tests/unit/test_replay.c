/* Does the brute-force oracle find exactly the racing pairs? Small kernels of happens-before.md 9,
 * written by hand; each line of a verdict is TYPE:first:second/agents with the stores, loads and atomics
 * numbered in text order from 0, "?" in front when only possible. */
#include "interp_run.h"

static int access_number(const pr_ir *ir, const pr_op *op)
{
    int n = 0;
    const pr_block *module = pr_region_block(ir->module->regions[0]);
    for (int f = 0; f < module->n_ops; f++) {
        /* count in text order, over all blocks and nested regions */
        const pr_op *stack[64];
        int at[64][3], top = 0;
        stack[0] = module->ops[f];
        memset(at[0], 0, sizeof at[0]);
        while (top >= 0) {
            const pr_op *o = stack[top];
            int *p = at[top];
            if (p[0] >= o->n_regions) top--;
            else if (p[1] >= o->regions[p[0]]->n_blocks) p[0]++, p[1] = 0;
            else if (p[2] >= o->regions[p[0]]->blocks[p[1]]->n_ops) p[1]++, p[2] = 0;
            else {
                const pr_op *q = o->regions[p[0]]->blocks[p[1]]->ops[p[2]++];
                if (q == op) return n;
                if (pr_str_is(q->name, "tt.load") || pr_str_is(q->name, "tt.store") ||
                    pr_str_starts(q->name, "tt.atomic") || pr_str_is(q->name, "tt.descriptor_load") ||
                    pr_str_is(q->name, "tt.descriptor_store") || pr_str_is(q->name, "tt.descriptor_reduce"))
                    n++;
                if (q->n_regions && top < 63) {
                    stack[++top] = q;
                    memset(at[top], 0, sizeof at[top]);
                }
            }
        }
    }
    return -1;
}

static void write_race(pr_buf *b, const pr_ir *ir, const pr_replay_race *r)
{
    pr_buf_printf(b, "%s%s%s:%d:%d/%s", b->n ? " " : "", r->doubts ? "?" : "", pr_replay_type_name(r->type),
                  access_number(ir, r->first.op), access_number(ir, r->second.op), r->intra ? "threads" : "programs");
}

static pr_replay_result last;

static const char *replay(program_text *p, int64_t x, int64_t y, const pr_replay_options *with)
{
    pr_replay_options o = with ? *with : (pr_replay_options){0};
    p->setup.grid[0] = x;
    p->setup.grid[1] = y;
    o.storage = p->storage;
    pr_replay_result r = last = pr_replay_run(p->arena, &p->setup, &o);
    pr_buf b;
    pr_buf_init(&b, p->arena);
    if (r.refused) return pr_arena_printf(p->arena, "refused %s", r.refused);
    for (int i = 0; i < r.n_races; i++) write_race(&b, p->ir, &r.races[i]);
    for (int i = 0; i < r.n_possible; i++) write_race(&b, p->ir, &r.possible[i]);
    if (r.n_outside) pr_buf_printf(&b, "%soutside:%d", b.n ? " " : "", access_number(p->ir, r.outside[0].example.op));
    if (r.n_inconclusive) pr_buf_printf(&b, "%sinconclusive", b.n ? " " : "");
    /* every example is what a probe of its two accesses finds */
    for (int i = 0; i < r.n_races + r.n_possible; i++)
        for (int k = 0; k < 2; k++) {
            const pr_replay_race *c = i < r.n_races ? &r.races[i] : &r.possible[i - r.n_races];
            const pr_replay_access *a = k ? &c->second : &c->first;
            pr_interp_target t = {a->op->id, a->calls, a->n_calls, a->iter, a->n_iter, a->lane, a->rank};
            pr_probe q = pr_interp_probe(p->arena, &p->setup, a->pid, &t);
            CHECK(q.available && q.executed != PR_NO && q.lane.active == a->active);
            CHECK(q.lane.addr_known && q.lane.addr == a->addr && q.width == a->width && q.kind == a->kind);
            CHECK(c->byte >= a->addr && c->byte < a->addr + (uint64_t)a->width);
        }
    return b.data ? b.data : "";
}

/* Kernel k(x: ptr<i32>, y: ptr<i32>, n: i32); x and y of 1024 elements each, disjoint. */
static const char *replay_with(pr_arena *a, const char *body, int64_t gx, int64_t gy, int n, bool alias)
{
    program_text p = {.arena = a};
    p.text = pr_arena_printf(a,
        "tt.func public @k(%%x: !tt.ptr<i32>, %%y: !tt.ptr<i32>, %%n: i32) {\n"
        "    %%c0 = arith.constant 0 : i32\n    %%c1 = arith.constant 1 : i32\n    %%c2 = arith.constant 2 : i32\n"
        "    %%c8 = arith.constant 8 : i32\n    %%true = arith.constant true\n"
        "    %%pid = tt.get_program_id x : i32\n    %%pidy = tt.get_program_id y : i32\n"
        "    %%L = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>\n"
        "    %%one = arith.constant dense<1> : tensor<8xi32>\n    %%two = arith.constant dense<2> : tensor<8xi32>\n"
        "    %%zero = arith.constant dense<0> : tensor<8xi32>\n"
        "    %%row = arith.muli %%pid, %%c8 : i32\n    %%rows = tt.splat %%row : i32 -> tensor<8xi32>\n"
        "    %%i = arith.addi %%rows, %%L : tensor<8xi32>\n"
        "    %%xs = tt.splat %%x : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>\n"
        "    %%ys = tt.splat %%y : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>\n"
        "    %%xL = tt.addptr %%xs, %%L : tensor<8x!tt.ptr<i32>>, tensor<8xi32>\n"
        "    %%yL = tt.addptr %%ys, %%L : tensor<8x!tt.ptr<i32>>, tensor<8xi32>\n"
        "    %%xi = tt.addptr %%xs, %%i : tensor<8x!tt.ptr<i32>>, tensor<8xi32>\n"
        "    %%yi = tt.addptr %%ys, %%i : tensor<8x!tt.ptr<i32>>, tensor<8xi32>\n%s    tt.return\n  }\n", body);
    load_program(&p);
    give_pointer(&p, 0, 4096, 4096, 4);
    give_pointer(&p, 1, alias ? 4096 : 65536, 4096, 4);
    give_int(&p, 2, n);
    return replay(&p, gx, gy, NULL);
}

static void verdict(const char *body, int64_t gx, int64_t gy, int n, bool alias, const char *want, int at)
{
    pr_arena *a = pr_arena_new(0, NULL);
    const char *got = replay_with(a, body, gx, gy, n, alias);
    check_count++;
    if (strcmp(got, want)) {
        check_failures++;
        fprintf(stderr, "line %d: got '%s', expected '%s'\n", at, got, want);
    }
    pr_arena_free(a);
}
#define RUN(body, gx, want) verdict(body, gx, 1, 4, false, want, __LINE__)
#define RUN_N(body, gx, n, want) verdict(body, gx, 1, n, false, want, __LINE__)
#define RUN_2D(body, gx, gy, want) verdict(body, gx, gy, 4, false, want, __LINE__)
#define RUN_ALIAS(body, gx, want) verdict(body, gx, 1, 4, true, want, __LINE__)

#define PTR8 "tensor<8x!tt.ptr<i32>>"
#define ADD8(r, a, b) "    " r " = arith.addi " a ", " b " : tensor<8xi32>\n"
#define AT8(r, p, o) "    " r " = tt.addptr " p ", " o " : " PTR8 ", tensor<8xi32>\n"
#define ST8(p, v) "    tt.store " p ", " v " : " PTR8 "\n"
#define STM8(p, v, m) "    tt.store " p ", " v ", " m " : " PTR8 "\n"
#define LD8(r, p) "    " r " = tt.load " p " : " PTR8 "\n"
#define XCHG8(r, p, v, m) "    " r " = tt.atomic_rmw exch, acq_rel, gpu, " p ", " v ", " m                  \
                          " : (" PTR8 ", tensor<8xi32>, tensor<8xi1>) -> tensor<8xi32>\n"
#define ADD1(p, v, sem, scope) "    %r_" sem scope " = tt.atomic_rmw add, " sem ", " scope ", " p ", " v ", %true"   \
                               " : (!tt.ptr<i32>, i32, i1) -> i32\n"
#define BAR "    ttg.barrier all\n"
#define ALL8 "    %all = arith.constant dense<true> : tensor<8xi1>\n"

static void lanes_loops_grids(void)
{
    /* p1, p2: two lanes of one store */
    RUN("    %h = arith.divsi %L, %two : tensor<8xi32>\n" AT8("%q", "%xs", "%h") ST8("%q", "%L"), 1, "WAW:0:0/threads");
    RUN("    %h = arith.divsi %L, %two : tensor<8xi32>\n" ADD8("%o", "%rows", "%h") AT8("%q", "%xs", "%o")
        ST8("%q", "%L"), 4, "WAW:0:0/threads");
    /* p3: iterations that overlap shifted; with a barrier in the loop they are ordered */
    RUN("    scf.for %k = %c0 to %n step %c1  : i32 {\n      %ks = tt.splat %k : i32 -> tensor<8xi32>\n"
        ADD8("%o", "%L", "%ks") AT8("%q", "%xs", "%o") ST8("%q", "%ks") "    }\n", 1, "WAW:0:0/threads");
    RUN("    scf.for %k = %c0 to %n step %c1  : i32 {\n      %ks = tt.splat %k : i32 -> tensor<8xi32>\n"
        ADD8("%o", "%L", "%ks") AT8("%q", "%xs", "%o") ST8("%q", "%ks") BAR "    }\n", 1, "");
    /* O1: one lane of one store over the iterations; a broadcast pointer has no lane */
    RUN("    scf.for %k = %c0 to %n step %c1  : i32 {\n" ST8("%xL", "%L") "    }\n", 1, "");
    RUN("    scf.for %k = %c0 to %n step %c1  : i32 {\n      tt.store %x, %k : !tt.ptr<i32>\n    }\n", 1, "");
    RUN("    scf.for %k = %c0 to %n step %c1  : i32 {\n" ST8("%xs", "%L") "    }\n", 1, "WAW:0:0/threads");
    /* p4, p104, p114: axes that are not read, sums of axes */
    RUN(ST8("%xL", "%one"), 4, "WAW:0:0/programs");
    RUN(ST8("%xL", "%one"), 1, "");
    RUN_2D(ST8("%xi", "%L"), 4, 2, "WAW:0:0/programs");
    RUN_2D(ST8("%xi", "%L"), 4, 1, "");
    RUN_2D("    %s = arith.addi %pid, %pidy : i32\n    %t = arith.muli %s, %c8 : i32\n"
           "    %u = tt.splat %t : i32 -> tensor<8xi32>\n" ADD8("%o", "%u", "%L") AT8("%q", "%xs", "%o") ST8("%q", "%L"),
           2, 2, "WAW:0:0/programs");
    /* p6: a read-only loop does not make the update after it race */
    RUN("    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<8xi32>)  : i32 {\n"
        LD8("%l", "%yi") ADD8("%t", "%acc", "%l") "      scf.yield %t : tensor<8xi32>\n    }\n"
        LD8("%v", "%xi") ADD8("%w", "%v", "%s") ST8("%xi", "%w"), 4, "");
    /* p10: no iteration, no access */
    RUN_N("    scf.for %k = %c0 to %n step %c1  : i32 {\n" ST8("%xs", "%L") "    }\n", 1, 0, "");
    /* p14: the same tensor twice */
    const char *shift = ADD8("%o", "%i", "%one") AT8("%q", "%ys", "%o") LD8("%v", "%xi") ST8("%q", "%v");
    RUN(shift, 4, "");
    RUN_ALIAS(shift, 4, "WAR:0:1/programs WAR:0:1/threads");
    /* p15, p110: all lanes to one element; p75: a scalar is one lane */
    RUN(ST8("%xs", "%L"), 1, "WAW:0:0/threads");
    RUN("    tt.store %x, %c1 : !tt.ptr<i32>\n", 1, "");
    RUN("    tt.store %x, %c1 : !tt.ptr<i32>\n", 3, "WAW:0:0/programs");
    /* p16: mask and address share their lane */
    RUN("    %M = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>\n"
        "    %ns = tt.splat %n : i32 -> tensor<8xi32>\n    %m = arith.cmpi slt, %M, %ns : tensor<8xi32>\n"
        STM8("%xi", "%L", "%m"), 4, "");
    /* p80: early return; two arms of one guard exclude each other in a program, race between programs */
    const char *early = "    %c = arith.cmpi sge, %pid, %n : i32\n    cf.cond_br %c, ^bb1, ^bb2\n  ^bb1:\n    tt.return\n"
                        "  ^bb2:\n    tt.store %x, %c1 : !tt.ptr<i32>\n";
    RUN_N(early, 4, 1, "");
    RUN_N(early, 4, 2, "WAW:0:0/programs");
    RUN("    %r = arith.remsi %pid, %c2 : i32\n    %c = arith.cmpi eq, %r, %c0 : i32\n    scf.if %c {\n"
        "      tt.store %x, %c1 : !tt.ptr<i32>\n    } else {\n      tt.store %x, %c2 : !tt.ptr<i32>\n    }\n",
        2, "WAW:0:1/programs");
    RUN("    %f = tt.load %y : !tt.ptr<i32>\n    %c = arith.cmpi eq, %f, %c0 : i32\n    scf.if %c {\n"
        "      tt.store %x, %c1 : !tt.ptr<i32>\n    } else {\n      tt.store %x, %c2 : !tt.ptr<i32>\n    }\n", 1, "");
    /* p82: program 0 is merged onto another program's base */
    RUN("    %c = arith.cmpi eq, %pid, %c0 : i32\n    %b = scf.if %c -> (i32) {\n      scf.yield %c8 : i32\n"
        "    } else {\n      scf.yield %row : i32\n    }\n    %bs = tt.splat %b : i32 -> tensor<8xi32>\n"
        ADD8("%o", "%bs", "%L") AT8("%q", "%xs", "%o") ST8("%q", "%L"), 4, "WAW:0:0/programs");
    /* p105: truncating quotient against a bit mask */
    RUN("    %k3 = arith.constant dense<3> : tensor<8xi32>\n    %k4 = arith.constant dense<4> : tensor<8xi32>\n"
        "    %z = arith.subi %i, %k3 : tensor<8xi32>\n    %d = arith.divsi %z, %k4 : tensor<8xi32>\n"
        "    %e = arith.muli %d, %k4 : tensor<8xi32>\n    %f = arith.andi %z, %k3 : tensor<8xi32>\n"
        ADD8("%o", "%e", "%f") AT8("%q", "%xs", "%o") ST8("%q", "%L"), 2, "WAW:0:0/threads");
    /* p106: the address wraps */
    RUN("    %big = arith.constant 1073741824 : i32\n    %o = arith.muli %pid, %big : i32\n"
        "    %k = arith.constant 4 : i32\n    %m = arith.remsi %pid, %k : i32\n    %c = arith.cmpi eq, %m, %c0 : i32\n"
        "    %q = tt.addptr %x, %o : !tt.ptr<i32>, i32\n    tt.store %q, %pid, %c : !tt.ptr<i32>\n", 5, "WAW:0:0/programs");
    /* p108, p109: two operations at one address */
    RUN(ST8("%xL", "%one") LD8("%v", "%xL"), 1, "RAW:0:1/threads");
    RUN(ST8("%xL", "%one") ST8("%xL", "%two"), 1, "WAW:0:1/threads");
    RUN(ST8("%xL", "%one") BAR ST8("%xL", "%two"), 1, "");
    /* p117: 4-byte stores 2 bytes apart */
    RUN("    %b = tt.bitcast %x : !tt.ptr<i32> -> !tt.ptr<i16>\n"
        "    %bs = tt.splat %b : !tt.ptr<i16> -> tensor<8x!tt.ptr<i16>>\n"
        "    %bq = tt.addptr %bs, %L : tensor<8x!tt.ptr<i16>>, tensor<8xi32>\n"
        "    %q = tt.bitcast %bq : tensor<8x!tt.ptr<i16>> -> " PTR8 "\n" ST8("%q", "%L"), 1, "WAW:0:0/threads");
    /* accesses outside the storage take part in no race and are listed */
    RUN("    %b = arith.constant dense<4096> : tensor<8xi32>\n" AT8("%q", "%xs", "%b") ST8("%q", "%L"), 1, "outside:0");
}

static void barriers(void)
{
    const char *shifted = ADD8("%s0", "%L", "%one") AT8("%q", "%xs", "%s0");
    pr_arena *a = pr_arena_new(0, NULL);
    struct { const char *body, *want; int n; } row[] = {
        /* p18: a barrier under a condition that does not hold here, and holds */
        {"%sST    %c = arith.cmpi eq, %n, %c0 : i32\n    scf.if %c {\n" BAR "    }\n" LD8("%v", "%q"), "RAW:0:1/threads", 4},
        {"%sST    %c = arith.cmpi eq, %n, %c0 : i32\n    scf.if %c {\n" BAR "    }\n" LD8("%v", "%q"), "", 0},
        /* ... or is not known */
        {"%sST    %f = tt.load %y : !tt.ptr<i32>\n    %c = arith.cmpi eq, %f, %c0 : i32\n    scf.if %c {\n" BAR "    }\n"
         LD8("%v", "%q"), "?RAW:0:2/threads", 0},
        /* p19, p90: barrier in a loop, without and with one on the back edge */
        {"%s    scf.for %k = %c0 to %n step %c1  : i32 {\n" ST8("%xL", "%L") BAR LD8("%v", "%q") "    }\n", "RAW:0:1/threads", 4},
        {"%s    scf.for %k = %c0 to %n step %c1  : i32 {\n" ST8("%xL", "%L") BAR LD8("%v", "%q") BAR "    }\n", "", 4},
        /* p20: shared memory only, one bit, all, the old spelling */
        {"%sST    ttg.barrier local\n" LD8("%v", "%q"), "RAW:0:1/threads", 4},
        {"%sST    ttg.barrier global_write\n" LD8("%v", "%q"), "RAW:0:1/threads", 4},
        {"%sST    ttg.barrier local|global_read|global_write\n" LD8("%v", "%q"), "", 4},
        {"%sST    gpu.barrier\n" LD8("%v", "%q"), "", 4},
        /* p91: behind an early return */
        {"%sST    %c = arith.cmpi sge, %pid, %n : i32\n    cf.cond_br %c, ^bb1, ^bb2\n  ^bb1:\n    tt.return\n  ^bb2:\n" BAR
         LD8("%v", "%q"), "", 4},
        /* a barrier in a loop that does not run */
        {"%sST    scf.for %k = %c0 to %n step %c1  : i32 {\n" BAR "    }\n" LD8("%v", "%q"), "RAW:0:1/threads", 0},
        {"%sST    scf.for %k = %c0 to %n step %c1  : i32 {\n" BAR "    }\n" LD8("%v", "%q"), "", 1},
    };
    for (size_t i = 0; i < PR_LEN(row); i++) {
        pr_buf b;
        pr_buf_init(&b, a);
        pr_buf_puts(&b, shifted); /* "%s" stands for the shifted pointer, "ST" for a store of the row */
        const char *rest = row[i].body + 2;
        if (!strncmp(rest, "ST", 2)) {
            pr_buf_puts(&b, ST8("%xL", "%L"));
            rest += 2;
        }
        pr_buf_puts(&b, rest);
        const char *got = replay_with(a, b.data, 1, 1, row[i].n, false);
        CHECK(!strcmp(got, row[i].want));
        if (strcmp(got, row[i].want)) fprintf(stderr, "barriers[%zu]: got '%s', expected '%s'\n", i, got, row[i].want);
    }
    pr_arena_free(a);
}

static void dependencies(void)
{
    /* p45, p48, p49, p50 */
    RUN(AT8("%q", "%xL", "%one") LD8("%v", "%q") ST8("%xL", "%v"), 1, "WAR:0:1/threads");
    RUN(LD8("%v", "%xL") ST8("%xL", "%v"), 1, "");
    RUN("    %g = tt.load %y : !tt.ptr<i32>\n    %gs = tt.splat %g : i32 -> tensor<8xi32>\n" LD8("%v", "%xL")
        ADD8("%w", "%v", "%gs") ST8("%xL", "%w"), 1, "");
    RUN("    %r = arith.remsi %L, %two : tensor<8xi32>\n    %m = arith.cmpi eq, %r, %one : tensor<8xi32>\n"
        "    %v = tt.load %xL, %m : " PTR8 "\n" STM8("%xL", "%v", "%m"), 1, "");
    RUN(LD8("%v", "%xL") "    %e = arith.extsi %v : tensor<8xi32> to tensor<8xi64>\n"
        "    %w = arith.trunci %e : tensor<8xi64> to tensor<8xi32>\n" ST8("%xL", "%w"), 1, "");
    /* independent, and through the mask */
    RUN(LD8("%v", "%xL") ST8("%xL", "%one"), 1, "WAR:0:1/threads");
    RUN(LD8("%v", "%xL") "    %m = arith.cmpi eq, %v, %zero : tensor<8xi32>\n" STM8("%xL", "%one", "%m"), 1, "");
    /* p46: through a reduction, a transposition, a reshape */
    RUN(LD8("%v", "%xL") "    %s = \"tt.reduce\"(%v) <{axis = 0 : i32}> ({\n    ^bb0(%a: i32, %b: i32):\n"
        "      %t = arith.addi %a, %b : i32\n      tt.reduce.return %t : i32\n    }) : (tensor<8xi32>) -> i32\n"
        "    %w = tt.splat %s : i32 -> tensor<8xi32>\n" ST8("%xL", "%w"), 1, "WAR:0:1/threads");
    RUN(LD8("%v", "%xL") "    %r = tt.reshape %v : tensor<8xi32> -> tensor<2x4xi32>\n"
        "    %t = tt.trans %r {order = array<i32: 1, 0>} : tensor<2x4xi32> -> tensor<4x2xi32>\n"
        "    %w = tt.reshape %t : tensor<4x2xi32> -> tensor<8xi32>\n" ST8("%xL", "%w"), 1, "WAR:0:1/threads");
    /* loop-carried values end the chain; another iteration is not ordered */
    RUN("    %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<8xi32>)  : i32 {\n" LD8("%v", "%xL")
        "      scf.yield %v : tensor<8xi32>\n    }\n" ST8("%xL", "%s"), 1, "WAR:0:1/threads");
    RUN("    scf.for %k = %c0 to %n step %c1  : i32 {\n" LD8("%v", "%xL") ADD8("%w", "%v", "%one") ST8("%xL", "%w") "    }\n",
        1, "WAR:0:1/threads");
    /* p8, p9, p98: closed through an atomic that ran, not through one that did not */
    RUN_ALIAS(ALL8 LD8("%v", "%xL") XCHG8("%o", "%xL", "%v", "%all") ST8("%yL", "%o"), 1, "");
    RUN_ALIAS("    %m = arith.cmpi slt, %L, %one : tensor<8xi32>\n" LD8("%v", "%xL") XCHG8("%o", "%xL", "%v", "%m")
              ST8("%yL", "%o"), 1, "WAR:0:2/threads");
    /* p97 */
    RUN("    tt.store %x, %c1 : !tt.ptr<i32>\n    %v = tt.load %x : !tt.ptr<i32>\n", 1, "RAW:0:1/threads");
    RUN("    tt.store %x, %c1 : !tt.ptr<i32>\n    tt.store %x, %c2 : !tt.ptr<i32>\n", 1, "WAW:0:1/threads");
    RUN("    %v = tt.load %x : !tt.ptr<i32>\n    %w = arith.addi %v, %c1 : i32\n    tt.store %x, %w : !tt.ptr<i32>\n", 1, "");
    /* p122: a scalar load that decides a branch, or a mask */
    RUN("    %f = tt.load %x : !tt.ptr<i32>\n    %c = arith.cmpi eq, %f, %c0 : i32\n"
        "    tt.store %x, %c1, %c : !tt.ptr<i32>\n", 1, "?WAR:0:1/threads");
    RUN("    %f = tt.load %x : !tt.ptr<i32>\n    %c = arith.cmpi eq, %f, %c0 : i32\n    scf.if %c {\n"
        "      tt.store %x, %c1 : !tt.ptr<i32>\n    }\n", 1, "?WAR:0:1/threads");
    /* p47: a row loaded once for all rows of a tile */
    RUN("    %e = tt.expand_dims %xL {axis = 0 : i32} : " PTR8 " -> tensor<1x8x!tt.ptr<i32>>\n"
        "    %q = tt.broadcast %e : tensor<1x8x!tt.ptr<i32>> -> tensor<4x8x!tt.ptr<i32>>\n"
        "    %v = tt.load %q : tensor<4x8x!tt.ptr<i32>>\n    tt.store %q, %v : tensor<4x8x!tt.ptr<i32>>\n",
        1, "WAR:0:1/threads WAW:1:1/threads");
}

static void atomics(void)
{
    RUN(ADD1("%x", "%c1", "relaxed", "gpu"), 4, "");
    RUN(ADD1("%x", "%c1", "relaxed", "sys"), 4, "");
    /* p69, p70, p113 */
    RUN(ADD1("%x", "%c1", "relaxed", "cta"), 4, "WAW:0:0/programs");
    RUN(ADD1("%x", "%c1", "relaxed", "cta"), 1, "");
    RUN(ADD1("%x", "%c1", "relaxed", "gpu") "    %v = tt.load %x : !tt.ptr<i32>\n", 1, "RAW:0:1/threads");
    RUN(ADD1("%x", "%c1", "relaxed", "gpu") "    %v = tt.load %x : !tt.ptr<i32>\n", 2, "RAW:0:1/programs RAW:0:1/threads");
    RUN(ADD1("%x", "%c1", "relaxed", "gpu") "    %b = tt.bitcast %x : !tt.ptr<i32> -> !tt.ptr<i64>\n"
        "    %k = arith.constant 1 : i64\n    %r = tt.atomic_rmw add, relaxed, gpu, %b, %k, %true"
        " : (!tt.ptr<i64>, i64, i1) -> i64\n", 2, "WAW:0:1/programs WAW:0:1/threads");
    /* several lanes of one atomic are performed one after the other */
    RUN(ALL8 XCHG8("%o", "%xs", "%L", "%all"), 2, "");
    /* a compare-and-swap may fail: against a load only possible, against a store it reads at least */
    const char *cas = "    %r = tt.atomic_cas relaxed, gpu, %x, %c0, %c1 : (!tt.ptr<i32>, i32, i32) -> i32\n";
    pr_arena *a = pr_arena_new(0, NULL);
    RUN(cas, 2, "");
    RUN(pr_arena_printf(a, "%s    %%v = tt.load %%x : !tt.ptr<i32>\n", cas), 2, "?RAW:0:1/programs ?RAW:0:1/threads");
    RUN(pr_arena_printf(a, "%s    tt.store %%x, %%c2 : !tt.ptr<i32>\n", cas), 2,
        "WAR:0:1/programs WAR:0:1/threads WAW:1:1/programs");
    pr_arena_free(a);
    /* a release and an acquire with barriers on both sides could order the payload */
    RUN("    %p0 = arith.cmpi eq, %pid, %c0 : i32\n    scf.if %p0 {\n      tt.store %x, %c1 : !tt.ptr<i32>\n" BAR
        "      %r = tt.atomic_rmw exch, release, gpu, %y, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32\n    } else {\n"
        "      %r = tt.atomic_rmw add, acquire, gpu, %y, %c0, %true : (!tt.ptr<i32>, i32, i1) -> i32\n" BAR
        "      %v = tt.load %x : !tt.ptr<i32>\n    }\n", 2, "?RAW:0:3/programs");
    RUN("    %p0 = arith.cmpi eq, %pid, %c0 : i32\n    scf.if %p0 {\n      tt.store %x, %c1 : !tt.ptr<i32>\n"
        "      %r = tt.atomic_rmw exch, release, gpu, %y, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32\n    } else {\n"
        "      %r = tt.atomic_rmw add, acquire, gpu, %y, %c0, %true : (!tt.ptr<i32>, i32, i1) -> i32\n" BAR
        "      %v = tt.load %x : !tt.ptr<i32>\n    }\n", 2, "RAW:0:3/programs");
}

static void contents_and_descriptors(void)
{
    /* an index that is not known, in a tensor that is written and in one that is only read */
    const char *scatter = LD8("%j", "%yi") AT8("%q", "%xs", "%j") ST8("%q", "%L");
    RUN(scatter, 2, "inconclusive");
    RUN(LD8("%j", "%yi") AT8("%q", "%ys", "%j") LD8("%v", "%q") ST8("%xi", "%v"), 2, "");
    RUN(LD8("%j", "%yi") AT8("%q", "%xs", "%j") LD8("%v", "%q") ST8("%xi", "%v"), 2, "inconclusive");
    pr_arena *a = pr_arena_new(0, NULL);
    program_text p = {.arena = a};
    p.text = "tt.func public @k(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>) {\n    %pid = tt.get_program_id x : i32\n"
             "    %q = tt.addptr %y, %pid : !tt.ptr<i32>, i32\n    %j = tt.load %q : !tt.ptr<i32>\n"
             "    %r = tt.addptr %x, %j : !tt.ptr<i32>, i32\n    tt.store %r, %pid : !tt.ptr<i32>\n    tt.return\n  }\n";
    static const pr_i128 distinct[] = {2, 0, 1, 3}, twice[] = {2, 0, 2, 3};
    load_program(&p);
    give_pointer(&p, 0, 4096, 16, 4);
    give_pointer(&p, 1, 8192, 16, 4);
    p.args[1].values = distinct;
    p.args[1].n_values = 4;
    CHECK(!strcmp(replay(&p, 4, 1, NULL), ""));
    p.args[1].values = twice;
    CHECK(!strcmp(replay(&p, 4, 1, NULL), "WAW:1:1/programs"));
    CHECK(last.n_races == 1 && last.races[0].count == 1 && last.races[0].count_exact);
    CHECK(last.races[0].first.pid[0] == 0 && last.races[0].second.pid[0] == 2 && last.races[0].byte == 4104);
    CHECK(last.n_programs == 4 && last.n_events == 8 && last.n_dynamic == 8);
    /* the table is written by the kernel itself */
    give_pointer(&p, 0, 8192, 16, 4);
    p.args[1].values = distinct;
    CHECK(strstr(replay(&p, 4, 1, NULL), "inconclusive") != NULL);
    /* limits are named */
    pr_replay_options o = {.max_programs = 3};
    CHECK(strstr(replay(&p, 4, 1, &o), "max_programs") != NULL);
    o = (pr_replay_options){.max_events = 3};
    CHECK(strstr(replay(&p, 4, 1, &o), "max_events") != NULL);
    o = (pr_replay_options){.max_pairs = 1};
    CHECK(strstr(replay(&p, 4, 1, &o), "inconclusive") != NULL);
    /* where nobody counts, the classes need few pairs: 64 programs store at one place, half of them perhaps */
    program_text w = {.arena = a};
    w.text = "tt.func public @k(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>) {\n    %pid = tt.get_program_id x : i32\n"
             "    %c32 = arith.constant 32 : i32\n    %q = tt.addptr %y, %pid : !tt.ptr<i32>, i32\n    %j = tt.load %q : !tt.ptr<i32>\n"
             "    %m = arith.cmpi eq, %j, %c32 : i32\n    %n = arith.cmpi sge, %pid, %c32 : i32\n    %b = arith.ori %m, %n : i1\n"
             "    tt.store %x, %pid, %b : !tt.ptr<i32>\n    tt.return\n  }\n";
    load_program(&w);
    give_pointer(&w, 0, 4096, 16, 4);
    give_pointer(&w, 1, 8192, 64, 4);
    const char *both = pr_arena_printf(a, "%s", replay(&w, 64, 1, NULL));
    CHECK(strstr(both, "WAW:1:1/programs") == both && strstr(both, "?WAW:1:1/programs") != NULL);
    CHECK(last.n_races == 1 && last.races[0].count_exact && last.races[0].count == 31 * 32 / 2);
    o = (pr_replay_options){.max_pairs = 1200};
    CHECK(strstr(replay(&w, 64, 1, &o), "inconclusive") != NULL);
    o.classes_only = true;
    CHECK(strcmp(replay(&w, 64, 1, &o), both) == 0 && !last.races[0].count_exact && last.races[0].first.pid[0] == 32);
    pr_flag stop = 1;
    p.setup.interrupt = &stop;
    CHECK(strstr(replay(&p, 4, 1, NULL), "interrupted") != NULL);

    /* descriptor accesses have no order inside a program, and reduces are atomic among themselves */
    program_text d = {.arena = a};
    d.text = "tt.func public @k(%x: !tt.ptr<f32>) {\n    %one = arith.constant 1 : i64\n    %s = arith.constant 8 : i64\n"
             "    %c0 = arith.constant 0 : i32\n    %c8 = arith.constant 8 : i32\n"
             "    %d = tt.make_tensor_descriptor %x, [%c8, %c8], [%s, %one] : <f32>, <2x4xf32>\n"
             "    %v = tt.descriptor_load %d[%c0, %c0] : !tt.tensordesc<2x4xf32> -> tensor<2x4xf32>\n"
             "    tt.descriptor_store %d[%c0, %c0], %v : !tt.tensordesc<2x4xf32>, tensor<2x4xf32>\n    tt.return\n  }\n";
    load_program(&d);
    give_pointer(&d, 0, 4096, 256, 4);
    CHECK(!strcmp(replay(&d, 1, 1, NULL), "?WAR:0:1/threads"));
    CHECK(!strcmp(replay(&d, 2, 1, NULL), "WAR:0:1/programs WAW:1:1/programs ?WAR:0:1/threads"));
    /* a block with an extent of 1 that the loaded tensor lacks: lanes are those of the block */
    program_text u = {.arena = a};
    u.text = "tt.func public @k(%x: !tt.ptr<f32>) {\n    %one = arith.constant 1 : i64\n    %s = arith.constant 8 : i64\n"
             "    %c0 = arith.constant 0 : i32\n    %c8 = arith.constant 8 : i32\n    %pid = tt.get_program_id x : i32\n"
             "    %d = tt.make_tensor_descriptor %x, [%c8, %c8, %c8], [%s, %s, %one] : <f32>, <2x1x4xf32>\n"
             "    %v = tt.descriptor_load %d[%c0, %c0, %c0] : !tt.tensordesc<2x1x4xf32> -> tensor<2x4xf32>\n"
             "    %w = tt.reshape %v : tensor<2x4xf32> -> tensor<2x1x4xf32>\n"
             "    tt.descriptor_store %d[%c0, %pid, %c0], %w : !tt.tensordesc<2x1x4xf32>, tensor<2x1x4xf32>\n"
             "    tt.return\n  }\n";
    load_program(&u);
    give_pointer(&u, 0, 4096, 256, 4);
    CHECK(strstr(replay(&u, 2, 1, NULL), "WAR:0:1/programs") != NULL);
    CHECK(last.races[0].first.rank == 3 && last.races[0].second.rank == 3 && last.races[0].first.lane[1] == 0);
    program_text r = {.arena = a};
    r.text = "tt.func public @k(%x: !tt.ptr<f32>) {\n    %one = arith.constant 1 : i64\n    %s = arith.constant 8 : i64\n"
             "    %c0 = arith.constant 0 : i32\n    %c8 = arith.constant 8 : i32\n"
             "    %v = arith.constant dense<1.0> : tensor<2x4xf32>\n"
             "    %d = tt.make_tensor_descriptor %x, [%c8, %c8], [%s, %one] : <f32>, <2x4xf32>\n"
             "    tt.descriptor_reduce add, %d[%c0, %c0], %v : !tt.tensordesc<2x4xf32>, tensor<2x4xf32>\n    tt.return\n  }\n";
    load_program(&r);
    give_pointer(&r, 0, 4096, 256, 4);
    CHECK(!strcmp(replay(&r, 2, 1, NULL), ""));
    pr_arena_free(a);
}

/* ---- footprints ------------------------------------------------------------------------------ */
typedef struct walk { int n; const pr_replay_access *unused; int64_t key; bool sorted; } walk;

static void step(void *user, const pr_replay_access *x)
{
    walk *w = user;
    int64_t key = ((((int64_t)x->op->id * 16 + x->pid[0]) * 16 + (x->n_iter ? x->iter[0] : 0)) * 16) + x->lane[0];
    w->sorted = w->sorted && key > w->key;
    w->key = key;
    w->n++;
    CHECK(x->addr_known && x->active == PR_YES && x->width == 4);
}

static void footprints(void)
{
    pr_arena *a = pr_arena_new(0, NULL);
    program_text p = {.arena = a};
    p.text = "tt.func public @k(%x: !tt.ptr<i32>, %n: i32) {\n    %pid = tt.get_program_id x : i32\n"
             "    %c0 = arith.constant 0 : i32\n    %c1 = arith.constant 1 : i32\n"
             "    %L = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>\n"
             "    %ns = tt.splat %n : i32 -> tensor<4xi32>\n    %m = arith.cmpi slt, %L, %ns : tensor<4xi32>\n"
             "    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>\n"
             "    %q = tt.addptr %xs, %L : tensor<4x!tt.ptr<i32>>, tensor<4xi32>\n"
             "    scf.for %k = %c0 to %n step %c1  : i32 {\n      %v = tt.load %q, %m : tensor<4x!tt.ptr<i32>>\n"
             "      tt.store %q, %v, %m : tensor<4x!tt.ptr<i32>>\n    }\n    tt.return\n  }\n";
    load_program(&p);
    give_pointer(&p, 0, 4096, 0, 4);
    give_int(&p, 1, 3);
    p.setup.grid[0] = 2;
    walk w = {.key = -1, .sorted = true};
    CHECK(pr_interp_footprint(a, &p.setup, NULL, step, &w) == NULL);
    CHECK(w.n == 2 * 2 * 3 * 3 && w.sorted);
    pr_arena_free(a);
}

int main(void)
{
    lanes_loops_grids();
    barriers();
    dependencies();
    atomics();
    contents_and_descriptors();
    footprints();
    return check_done();
}
