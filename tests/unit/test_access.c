/* Rows of ttir-front.md 9: small texts and the records they must give. Offsets, masks and frames are
 * checked by evaluation at points, so that another normal form of a term is no failure. */
#include <stdarg.h>
#include <stdlib.h>
#include "check.h"
#include "front/access.h"

static pr_arena *arena;
static pr_terms *T;
static pr_records R;

static void lower_text(const char *text)
{
    if (arena) pr_arena_free(arena);
    arena = pr_arena_new(0, NULL);
    T = pr_terms_new(arena);
    pr_error e = { 0 };
    const char *why = NULL;
    pr_ir *ir = pr_ir_parse(arena, text, strlen(text), "t", NULL, &e);
    if (!ir) {
        fprintf(stderr, "%d:%d: %s\n%s\n", e.line, e.col, e.message, text);
        exit(1);
    }
    pr_op *k = pr_ir_kernel(ir, (pr_str){ 0 }, &why);
    pr_status s = pr_lower_kernel(arena, T, ir, k, NULL, &R, &e);
    CHECK(s == PR_OK);
}

/* Body of a kernel with pointers %p %q (f32), %r (i32) and integers %n %m (i32), %w (i64). */
static void lower(const char *body)
{
    pr_arena *a = pr_arena_new(0, NULL);
    lower_text(pr_arena_printf(a, "module {\n tt.func public @k(%%p: !tt.ptr<f32>, %%q: !tt.ptr<f32>, "
                               "%%r: !tt.ptr<i32>, %%n: i32, %%m: i32, %%w: i64) {\n"
                               "  %%c0 = arith.constant 0 : i32\n  %%c1 = arith.constant 1 : i32\n"
                               "  %%c2 = arith.constant 2 : i32\n  %%c3 = arith.constant 3 : i32\n"
                               "  %%c4 = arith.constant 4 : i32\n  %%c10 = arith.constant 10 : i32\n"
                               "  %%x = arith.constant 1.0 : f32\n"
                               "  %%pid = tt.get_program_id x : i32\n%s\n  tt.return\n }\n}\n", body));
    pr_arena_free(a);
}

/* Value of t with the named variables set; 999999999 when it cannot be evaluated. */
static long at(pr_term t, ...)
{
    uint32_t n = pr_vars_count(T);
    pr_i128 *value = PR_NEW_N(arena, pr_i128, n), out = 999999999;
    bool *known = PR_NEW_N(arena, bool, n);
    va_list ap;
    va_start(ap, t);
    for (const char *name; (name = va_arg(ap, const char *));) {
        int v = va_arg(ap, int);
        for (uint32_t i = 1; i < n; i++)
            if (!strcmp(pr_var_get(T, (pr_var){ i })->name, name)) {
                value[i] = v;
                known[i] = true;
            }
    }
    va_end(ap);
    pr_env env = { value, known, n };
    return pr_eval(T, t, &env, &out) ? (long)out : 999999999;
}
#define UNKNOWN 999999999
#define END (const char *)NULL

static const pr_record *rec(int i)
{
    static const pr_record none = { .base = -2, .offset = { 0 } };
    CHECK(i < R.records.n);
    return i < R.records.n ? &R.records.data[i] : &none;
}
static pr_term offset(int i) { return rec(i)->offset; }

static bool refuses(pr_refusal_kind k)
{
    for (int i = 0; i < R.refusals.n; i++)
        if (R.refusals.data[i].kind == k) return true;
    return false;
}

/* Refusal that an opaque part of the offset of record i carries. */
static bool is_app(void *user, const pr_terms *S, pr_term t)
{
    if (pr_term_op_of(S, t) != PR_TERM_OP_APP) return false;
    *(int *)user = pr_sym_get(S, pr_term_sym(S, t))->refusal;
    return true;
}
static int gap(pr_term t)
{
    int kind = 0;
    pr_term_any(T, t, is_app, &kind);
    return kind;
}

static void lanes(void)
{
    lower("  %a = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>\n"
          "  %b = tt.make_range {end = 32 : i32, start = 16 : i32} : tensor<16xi32>\n"
          "  %s = arith.addi %a, %b : tensor<16xi32>\n"
          "  %r0 = tt.expand_dims %a {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>\n"
          "  %r1 = tt.expand_dims %a {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>\n"
          "  %k = arith.constant dense<100> : tensor<16x1xi32>\n"
          "  %r2 = arith.muli %r0, %k : tensor<16x1xi32>\n"
          "  %t0 = tt.broadcast %r2 : tensor<16x1xi32> -> tensor<16x16xi32>\n"
          "  %t1 = tt.broadcast %r1 : tensor<1x16xi32> -> tensor<16x16xi32>\n"
          "  %t = arith.addi %t0, %t1 : tensor<16x16xi32>\n"
          "  %pp = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>\n"
          "  %p1 = tt.addptr %pp, %s : tensor<16x!tt.ptr<f32>>, tensor<16xi32>\n"
          "  %l = tt.load %p1 : tensor<16x!tt.ptr<f32>>\n"
          "  %qq = tt.splat %q : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>\n"
          "  %q1 = tt.addptr %qq, %t : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>\n"
          "  %v = arith.constant dense<1.0> : tensor<16x16xf32>\n"
          "  tt.store %q1, %v : tensor<16x16x!tt.ptr<f32>>\n"
          "  %z = arith.constant dense<0> : tensor<16xi32>\n"
          "  %p2 = tt.addptr %pp, %z : tensor<16x!tt.ptr<f32>>, tensor<16xi32>\n"
          "  tt.store %p2, %l : tensor<16x!tt.ptr<f32>>\n"
          "  %tt = tt.trans %q1 {order = array<i32: 1, 0>} : tensor<16x16x!tt.ptr<f32>> -> tensor<16x16x!tt.ptr<f32>>\n"
          "  tt.store %tt, %v : tensor<16x16x!tt.ptr<f32>>\n"
          "  %f = tt.reshape %q1 : tensor<16x16x!tt.ptr<f32>> -> tensor<256x!tt.ptr<f32>>\n"
          "  %g = tt.load %f : tensor<256x!tt.ptr<f32>>");
    CHECK(R.records.n == 5 && R.refusals.n == 0);
    CHECK(at(offset(0), "lane0", 3, END) == 4 * 22 && rec(0)->base == 0);          /* rows 1, 6 */
    CHECK(at(offset(1), "lane0", 2, "lane1", 5, END) == 4 * 205 && rec(1)->rank == 2); /* row 4 */
    CHECK(at(offset(2), END) == 0 && rec(2)->rank == 1 && rec(2)->shape[0] == 16);   /* row 66 */
    CHECK(rec(2)->n_deps == 1 && rec(2)->deps[0] == rec(0)->access);
    CHECK(at(offset(3), "lane0", 2, "lane1", 5, END) == 4 * 502);                  /* row 76 */
    CHECK(at(offset(4), "lane0", 35, END) == 4 * 203);                             /* row 10 */
    CHECK(pr_term_is(rec(1)->offset_held, PR_TERM_TRUE));
}

static void arithmetic(void)
{
    lower("  %s = arith.subi %n, %c3 : i32\n  %a = arith.remsi %s, %c4 : i32\n  %b = arith.divsi %s, %c4 : i32\n"
          "  %d = arith.shrsi %s, %c2 : i32\n  %e = arith.shrui %s, %c2 : i32\n  %f = arith.andi %n, %c3 : i32\n"
          "  %cm = arith.constant -4 : i32\n  %g = arith.andi %s, %cm : i32\n  %h = arith.ori %s, %c1 : i32\n"
          "  %i = arith.cmpi slt, %n, %m : i32\n  %j = arith.extsi %i : i1 to i32\n  %k = arith.extui %i : i1 to i32\n"
          "  %b2 = arith.trunci %n : i32 to i1\n  %l = arith.extui %b2 : i1 to i32\n"
          "  %f1 = arith.ceildivsi %s, %c4 : i32\n  %f2 = arith.floordivsi %s, %c4 : i32\n"
          "  %p0 = tt.addptr %p, %a : !tt.ptr<f32>, i32\n  tt.store %p0, %x : !tt.ptr<f32>\n"
          "  %p1 = tt.addptr %p, %b : !tt.ptr<f32>, i32\n  tt.store %p1, %x : !tt.ptr<f32>\n"
          "  %p2 = tt.addptr %p, %d : !tt.ptr<f32>, i32\n  tt.store %p2, %x : !tt.ptr<f32>\n"
          "  %e64 = arith.extui %e : i32 to i64\n"
          "  %p3 = tt.addptr %p, %e64 : !tt.ptr<f32>, i64\n  tt.store %p3, %x : !tt.ptr<f32>\n"
          "  %p4 = tt.addptr %p, %f : !tt.ptr<f32>, i32\n  tt.store %p4, %x : !tt.ptr<f32>\n"
          "  %p5 = tt.addptr %p, %g : !tt.ptr<f32>, i32\n  tt.store %p5, %x : !tt.ptr<f32>\n"
          "  %p6 = tt.addptr %p, %h : !tt.ptr<f32>, i32\n  tt.store %p6, %x : !tt.ptr<f32>\n"
          "  %p7 = tt.addptr %p, %j : !tt.ptr<f32>, i32\n  tt.store %p7, %x : !tt.ptr<f32>\n"
          "  %p8 = tt.addptr %p, %k : !tt.ptr<f32>, i32\n  tt.store %p8, %x : !tt.ptr<f32>\n"
          "  %p9 = tt.addptr %p, %l : !tt.ptr<f32>, i32\n  tt.store %p9, %x : !tt.ptr<f32>\n"
          "  %pa = tt.addptr %p, %f1 : !tt.ptr<f32>, i32\n  tt.store %pa, %x : !tt.ptr<f32>\n"
          "  %pb = tt.addptr %p, %f2 : !tt.ptr<f32>, i32\n  tt.store %pb, %x : !tt.ptr<f32>");
    CHECK(R.records.n == 12);
    for (int n = -9; n <= 9; n++) { /* row 59, 56, 58 */
        int s = n - 3;
        CHECK(at(offset(0), "n", n, END) == 4 * (s % 4));
        CHECK(at(offset(1), "n", n, END) == 4 * (s / 4));
        CHECK(at(offset(2), "n", n, END) == 4 * (s >> 2));
        CHECK(at(offset(3), "n", n, END) == 4 * (long)((uint32_t)s >> 2));
        CHECK(at(offset(4), "n", n, END) == 4 * (n & 3));
        CHECK(at(offset(5), "n", n, END) == 4 * (s & -4));
        CHECK(at(offset(6), "n", n, END) == 4 * (s | 1));
        CHECK(at(offset(7), "n", n, "m", 2, END) == (n < 2 ? -4 : 0));
        CHECK(at(offset(8), "n", n, "m", 2, END) == (n < 2 ? 4 : 0));
        CHECK(at(offset(9), "n", n, END) == 4 * (n & 1));
        CHECK(at(offset(10), "n", n, END) == 4 * -(-s >> 2));
        CHECK(at(offset(11), "n", n, END) == 4 * (s >> 2));
    }
    CHECK(at(rec(0)->offset_held, "n", -2147483647, END) == 0);
    CHECK(at(rec(0)->offset_held, "n", 0, END) == 1);
}

static void obligations(void)
{
    lower("  %big = arith.constant 1073741824 : i32\n  %a = arith.muli %pid, %big : i32\n"
          "  %b = arith.divsi %a, %big : i32\n  %g = arith.cmpi sge, %pid, %c2 : i32\n"
          "  %v = arith.select %g, %c0, %b : i32\n"
          "  %p0 = tt.addptr %p, %v : !tt.ptr<f32>, i32\n  tt.store %p0, %x : !tt.ptr<f32>\n"
          "  %u = arith.divui %pid, %c3 : i32\n  %k = arith.cmpi ult, %u, %n : i32\n"
          "  %p1 = tt.addptr %p, %u : !tt.ptr<f32>, i32\n  tt.store %p1, %x, %k : !tt.ptr<f32>\n"
          "  %t = arith.trunci %n : i32 to i16\n  %t2 = arith.extui %t : i16 to i64\n"
          "  %p2 = tt.addptr %p, %t2 : !tt.ptr<f32>, i64\n  tt.store %p2, %x : !tt.ptr<f32>\n"
          "  %s = arith.muli %pid, %n : i32\n  %s2 = arith.muli %s, %n : i32\n"
          "  %p3 = tt.addptr %p, %s2 : !tt.ptr<f32>, i32\n  tt.store %p3, %x : !tt.ptr<f32>");
    CHECK(at(offset(0), "pid0", 1, END) == 4 && at(offset(0), "pid0", 3, END) == 0);
    CHECK(at(rec(0)->offset_held, "pid0", 3, END) == 1);  /* row 57: guarded by the select */
    CHECK(at(rec(0)->offset_held, "pid0", 1, END) == 1);
    CHECK(at(rec(1)->mask_held, "pid0", 1, "n", -1, END) == 0); /* row 54 */
    CHECK(at(rec(1)->mask_held, "pid0", 1, "n", 1, END) == 1);
    const int given[] = { 7, 40000, -1, 65536, 65543 }, cut[] = { 7, 40000, 65535, 0, 7 };
    for (int i = 0; i < 5; i++)                             /* row 55: a cut to few bits is exact */
        CHECK(at(offset(2), "n", given[i], END) == 4 * cut[i] && at(rec(2)->offset_held, "n", given[i], END) == 1);
    CHECK(at(rec(3)->offset_held, "pid0", 1, "n", 65536, END) == 0); /* row 52 */
    CHECK(at(rec(3)->offset_held, "pid0", 0, "n", 65536, END) == 1);
}

static void branches(void)
{
    lower("  %c = arith.cmpi eq, %pid, %c0 : i32\n"
          "  %v:2 = scf.if %c -> (i32, !tt.ptr<f32>) {\n    %1 = arith.addi %n, %c1 : i32\n"
          "    tt.store %p, %x : !tt.ptr<f32>\n    scf.yield %1, %p : i32, !tt.ptr<f32>\n  } else {\n"
          "    %1 = arith.addi %n, %c2 : i32\n    scf.yield %1, %q : i32, !tt.ptr<f32>\n  }\n"
          "  %a = tt.addptr %v#1, %v#0 : !tt.ptr<f32>, i32\n  tt.store %a, %x : !tt.ptr<f32>\n"
          "  %f = tt.load %r : !tt.ptr<i32>\n  %g = arith.cmpi sgt, %f, %c0 : i32\n"
          "  scf.if %g {\n    tt.store %p, %x : !tt.ptr<f32>\n  } else {\n    tt.store %p, %x : !tt.ptr<f32>\n  }");
    CHECK(R.records.n == 6);
    CHECK(rec(0)->frame && at(rec(0)->frame->cond, "pid0", 0, END) == 1 && at(rec(0)->frame->cond, "pid0", 1, END) == 0);
    CHECK(rec(1)->access == rec(2)->access && rec(1)->base != rec(2)->base);      /* row 31 */
    for (int i = 1; i <= 2; i++) {
        int pid = rec(i)->base; /* p where pid is 0, q elsewhere */
        CHECK(at(rec(i)->mask, "pid0", pid, END) == 1 && at(rec(i)->mask, "pid0", 1 - pid, END) == 0);
        CHECK(at(offset(i), "pid0", pid, "n", 5, END) == 4 * (5 + 1 + pid));       /* row 30, 34 */
    }
    CHECK(rec(4)->frame && rec(5)->frame && pr_term_is(rec(5)->frame->cond, pr_not(T, rec(4)->frame->cond))); /* row 32 */
    CHECK(rec(4)->n_control_deps == 1 && rec(4)->control_deps[0] == rec(3)->access && rec(3)->reaches_path);

    lower("  %t = arith.cmpi sge, %pid, %n : i32\n  cf.cond_br %t, ^bb1, ^bb2\n ^bb1:\n  tt.return\n"
                 " ^bb2:\n  %u = arith.cmpi sgt, %n, %m : i32\n  cf.cond_br %u, ^bb3(%n : i32), ^bb3(%m : i32)\n"
                 " ^bb3(%y: i32):\n  %a = tt.addptr %p, %y : !tt.ptr<f32>, i32\n  tt.store %a, %x : !tt.ptr<f32>");
    CHECK(R.records.n == 1 && R.refusals.n == 0);                                 /* rows 35, 36 */
    CHECK(rec(0)->frame && !rec(0)->frame->outer);
    CHECK(at(rec(0)->frame->cond, "pid0", 4, "n", 4, END) == 0 && at(rec(0)->frame->cond, "pid0", 3, "n", 4, END) == 1);
    CHECK(at(offset(0), "n", 4, "m", 7, "pid0", 0, END) == 28 && at(offset(0), "n", 9, "m", 7, "pid0", 0, END) == 36);

    lower("  cf.br ^bb1\n ^bb1:\n  tt.store %p, %x : !tt.ptr<f32>\n  %t = arith.cmpi sge, %pid, %n : i32\n"
          "  cf.cond_br %t, ^bb1, ^bb2\n ^bb2:");
    CHECK(refuses(PR_REFUSAL_CONTROL_FLOW));
    lower("  %k = arith.constant false\n  scf.if %k {\n   tt.store %p, %x : !tt.ptr<f32>\n  }");
    CHECK(R.records.n == 0);
}

static void loops(void)
{
    lower("  %e:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %p, %s = %c3) -> (!tt.ptr<f32>, i32)  : i32 {\n"
          "    tt.store %a, %x : !tt.ptr<f32>\n    %b = tt.addptr %a, %m : !tt.ptr<f32>, i32\n"
          "    %c = tt.addptr %b, %c2 : !tt.ptr<f32>, i32\n    %d = tt.addptr %q, %s : !tt.ptr<f32>, i32\n"
          "    tt.store %d, %x : !tt.ptr<f32>\n    %t = arith.subi %s, %c1 : i32\n"
          "    scf.yield %c, %t : !tt.ptr<f32>, i32\n  }\n"
          "  tt.store %e#0, %x : !tt.ptr<f32>\n  scf.for %i = %c0 to %m step %c2  : i32 {\n"
          "    %a = tt.addptr %q, %i : !tt.ptr<f32>, i32\n    tt.store %a, %x : !tt.ptr<f32>\n  }");
    CHECK(R.records.n == 4 && R.n_loops == 2);
    CHECK(at(offset(0), "k0", 5, "m", 7, END) == 4 * 45);                          /* rows 7, 26 */
    CHECK(at(offset(1), "k0", 5, END) == 4 * -2);
    CHECK(!rec(2)->frame && at(offset(2), "n", 5, "m", 7, END) == 4 * 45);         /* row 13 */
    CHECK(at(offset(2), "n", -5, "m", 7, END) == 0);
    CHECK(rec(3)->frame->loop == 1 && rec(3)->frame->depth == 1 && at(offset(3), "k1", 3, END) == 24); /* row 12 */
    CHECK(at(rec(3)->frame->increment_held, "m", 2147483647, END) == 0);         /* row 19 */
    CHECK(at(rec(3)->frame->increment_held, "m", 2147483646, END) == 1);

    lower("  scf.for %i = %c0 to %c10 step %c3  : i32 {\n    %z = arith.subi %c10, %i : i32\n"
          "    %a = tt.addptr %p, %z : !tt.ptr<f32>, i32\n    tt.store %a, %x : !tt.ptr<f32>\n  }\n"
          "  scf.for %i = %c0 to %c1 step %c1  : i32 {\n    tt.store %q, %x : !tt.ptr<f32>\n  }\n"
          "  scf.for %i = %c4 to %c1 step %c1  : i32 {\n    tt.store %q, %x : !tt.ptr<f32>\n  }");
    CHECK(R.records.n == 2 && at(offset(0), "k0", 3, END) == 4 && rec(1)->frame);  /* rows 15, 16, 17 */
    const pr_var_info *k = pr_var_get(T, rec(0)->frame->k);
    CHECK(k->lo == 0 && k->hi == 3);

    lower("  %e:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %p, %b = %q, %l = %c4) -> (!tt.ptr<f32>, !tt.ptr<f32>, i32)  : i32 {\n"
          "    tt.store %a, %x : !tt.ptr<f32>\n    %d = tt.addptr %q, %l : !tt.ptr<f32>, i32\n"
          "    tt.store %d, %x : !tt.ptr<f32>\n    %t = arith.muli %i, %c3 : i32\n"
          "    scf.yield %b, %a, %t : !tt.ptr<f32>, !tt.ptr<f32>, i32\n  }");
    CHECK(R.records.n == 3);                                                      /* row 25: period 2 */
    for (int i = 0; i < 2; i++)
        for (int it = 0; it < 4; it++)
            CHECK(at(rec(i)->mask, "k0", it, END) == (rec(i)->base == it % 2));
    CHECK(at(offset(2), "k0", 0, END) == 16 && at(offset(2), "k0", 3, END) == 24);

    lower("  %e = scf.for %i = %c0 to %n step %c1 iter_args(%a = %p) -> (!tt.ptr<f32>)  : i32 {\n"
          "    tt.store %a, %x : !tt.ptr<f32>\n    %b = tt.addptr %a, %i : !tt.ptr<f32>, i32\n"
          "    scf.yield %b : !tt.ptr<f32>\n  }\n"
          "  %f = scf.for %i = %c0 to %c10 step %c1 iter_args(%a = %p) -> (!tt.ptr<f32>)  : i32 {\n"
          "    tt.store %a, %x : !tt.ptr<f32>\n    %b = tt.addptr %a, %i : !tt.ptr<f32>, i32\n"
          "    scf.yield %b : !tt.ptr<f32>\n  }\n  tt.store %f, %x : !tt.ptr<f32>");
    CHECK(gap(offset(0)) == PR_REFUSAL_LOOP_VARIANT_ADVANCE && rec(0)->base == 0);  /* row 24 */
    CHECK(at(offset(1), "k1", 4, END) == 4 * 6 && at(offset(2), END) == 4 * 45);

    lower("  %e = scf.for %i = %c0 to %n step %c1 iter_args(%a = %p) -> (!tt.ptr<f32>)  : i32 {\n"
          "    tt.store %a, %x : !tt.ptr<f32>\n    %o = tt.atomic_rmw add, relaxed, gpu, %r, %c1 : (!tt.ptr<i32>, i32) -> i32\n"
          "    %b = tt.addptr %a, %o : !tt.ptr<f32>, i32\n    scf.yield %b : !tt.ptr<f32>\n  }");
    CHECK(gap(offset(0)) == PR_REFUSAL_LOOP_VARIANT_ADVANCE);                      /* row 27 */

    lower("  scf.for %i = %c0 to %n step %c1  : i32 {\n    scf.for %j = %c0 to %i step %c1  : i32 {\n"
          "      %o = arith.addi %i, %j : i32\n      %a = tt.addptr %p, %o : !tt.ptr<f32>, i32\n"
          "      tt.store %a, %x : !tt.ptr<f32>\n    }\n  }");
    CHECK(rec(0)->frame->depth == 2 && at(rec(0)->frame->upper, "k0", 7, END) == 7);  /* row 14 */
    CHECK(at(offset(0), "k0", 7, "k1", 2, END) == 36);
}

static void whiles(void)
{
    lower("  %e = scf.while (%i = %c0) : (i32) -> i32 {\n    %t = arith.cmpi sle, %i, %n : i32\n"
          "    scf.condition(%t) %i : i32\n  } do {\n  ^bb0(%i: i32):\n    %a = tt.addptr %p, %i : !tt.ptr<f32>, i32\n"
          "    tt.store %a, %x : !tt.ptr<f32>\n    %j = arith.addi %i, %c3 : i32\n    scf.yield %j : i32\n  }\n"
          "  %a = tt.addptr %q, %e : !tt.ptr<f32>, i32\n  tt.store %a, %x : !tt.ptr<f32>");
    CHECK(R.records.n == 2 && R.refusals.n == 0);                                 /* row 37 */
    CHECK(at(offset(0), "k0", 2, END) == 24 && at(rec(0)->frame->upper, "n", 9, END) == 10);
    CHECK(at(offset(1), "n", 9, END) == 48 && at(offset(1), "n", -1, END) == 0);

    lower("  scf.while : () -> () {\n    %o = tt.atomic_cas acquire, gpu, %r, %c0, %c1 : (!tt.ptr<i32>, i32, i32) -> i32\n"
          "    %t = arith.cmpi eq, %o, %c1 : i32\n    scf.condition(%t)\n  } do {\n    scf.yield\n  }");
    CHECK(R.refusals.n == 0 && R.records.n == 2 && rec(0)->is_await && rec(1)->is_pre_exit);   /* row 38 */
    lower("  scf.while : () -> () {\n    %o = tt.atomic_rmw add, relaxed, gpu, %r, %c1 : (!tt.ptr<i32>, i32) -> i32\n"
          "    %t = arith.cmpi ne, %o, %c1 : i32\n    scf.condition(%t)\n  } do {\n    scf.yield\n  }");
    CHECK(refuses(PR_REFUSAL_SPIN_SHAPE) && R.records.n == 1);                    /* row 40 */
    lower("  scf.while : () -> () {\n    %o = tt.atomic_cas acquire, gpu, %r, %c0, %c1 : (!tt.ptr<i32>, i32, i32) -> i32\n"
          "    %t = arith.cmpi ne, %o, %c1 : i32\n    scf.condition(%t)\n  } do {\n    scf.yield\n  }");
    CHECK(refuses(PR_REFUSAL_SPIN_SHAPE));
}

static void memory(void)
{
    lower("  %m1 = arith.constant true\n  %p2 = tt.addptr %r, %c2 : !tt.ptr<i32>, i32\n"
          "  %o = tt.atomic_rmw umax, acq_rel, sys, %p2, %n, %m1 : (!tt.ptr<i32>, i32, i1) -> i32\n"
          "  %a = tt.addptr %p, %o : !tt.ptr<f32>, i32\n  tt.store %a, %x : !tt.ptr<f32>\n"
          "  %h = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<f16>\n  %h1 = tt.addptr %h, %c3 : !tt.ptr<f16>, i32\n"
          "  %v = tt.load %h1 : !tt.ptr<f16>\n  %i = tt.ptr_to_int %q : !tt.ptr<f32> -> i64\n"
          "  %j = arith.addi %i, %w : i64\n  %z = tt.int_to_ptr %j : i64 -> !tt.ptr<f32>\n  tt.store %z, %x : !tt.ptr<f32>\n"
          "  ttg.barrier local\n  ttg.barrier global_read\n  ttg.barrier local|global_read|global_write\n  ttg.barrier all\n"
          "  %lp = tt.int_to_ptr %w : i64 -> !tt.ptr<f32>\n  tt.store %lp, %x : !tt.ptr<f32>");
    CHECK(R.records.n == 5 && R.has_atomics);
    CHECK(rec(0)->kind == PR_RECORD_RMW && rec(0)->rmw_op == PR_RMW_UMAX && rec(0)->sem == PR_SEM_ACQ_REL &&
          rec(0)->scope == PR_SCOPE_SYS && at(offset(0), END) == 8 && rec(0)->rank == 0);  /* rows 43, 46 */
    CHECK(gap(offset(1)) == PR_REFUSAL_INDIRECT_ADDRESS && rec(1)->deps[0] == rec(0)->access);  /* row 47 */
    CHECK(rec(2)->width == 2 && at(offset(2), END) == 6 && rec(2)->base == 0);    /* rows 60, 61 */
    CHECK(rec(3)->base == 1 && at(offset(3), "w", 12, END) == 12);
    CHECK(R.fences.n == 2);                                                       /* row 67 */
    CHECK(rec(4)->refused.kind == PR_REFUSAL_OTHER && rec(4)->base == -1);
    lower("  %i = tt.ptr_to_int %q : !tt.ptr<f32> -> i64\n  %cut = arith.trunci %i : i64 to i16\n  %low = arith.extui %cut : i16 to i64\n"
          "  %z = tt.int_to_ptr %low : i64 -> !tt.ptr<f32>\n  tt.store %z, %x : !tt.ptr<f32>");
    CHECK(rec(0)->refused.kind == PR_REFUSAL_OTHER && rec(0)->base == -1);   /* the low bits of an address are none */

    lower("  %a = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>\n"
          "  %rr = tt.splat %r : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>\n"
          "  %r1 = tt.addptr %rr, %a : tensor<16x!tt.ptr<i32>>, tensor<16xi32>\n"
          "  %nn = tt.splat %n : i32 -> tensor<16xi32>\n  %k = arith.cmpi slt, %a, %nn : tensor<16xi32>\n"
          "  %i = tt.load %r1, %k : tensor<16x!tt.ptr<i32>>\n  %ot = arith.constant dense<5> : tensor<16xi32>\n"
          "  %i2 = tt.load %r1, %k, %ot : tensor<16x!tt.ptr<i32>>\n"
          "  %pp = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>\n"
          "  %p1 = tt.addptr %pp, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>\n"
          "  %v = arith.constant dense<1.0> : tensor<16xf32>\n"
          "  tt.store %p1, %v, %k : tensor<16x!tt.ptr<f32>>\n"
          "  %p2 = tt.addptr %pp, %i2 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>\n"
          "  tt.store %p2, %v : tensor<16x!tt.ptr<f32>>\n"
          "  %e0 = tt.expand_dims %i {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>\n"
          "  %e1 = tt.expand_dims %i {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>\n"
          "  %b0 = tt.broadcast %e0 : tensor<1x16xi32> -> tensor<16x16xi32>\n"
          "  %b1 = tt.broadcast %e1 : tensor<16x1xi32> -> tensor<16x16xi32>\n"
          "  %d = arith.subi %b1, %b0 : tensor<16x16xi32>\n"
          "  %qq = tt.splat %q : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>\n"
          "  %q1 = tt.addptr %qq, %d : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>\n"
          "  %vv = arith.constant dense<1.0> : tensor<16x16xf32>\n  tt.store %q1, %vv : tensor<16x16x!tt.ptr<f32>>");
    pr_i128 none;
    CHECK(rec(2)->n_deps == 1 && rec(2)->deps[0] == rec(0)->access);
    CHECK(at(offset(2), "n", 3, "lane0", 1, END) == UNKNOWN);
    CHECK(at(offset(3), "n", 3, "lane0", 9, END) == 20);      /* where masked off, `other` */
    CHECK(at(offset(3), "n", 3, "lane0", 1, END) == UNKNOWN);
    CHECK(rec(3)->n_deps == 1 && rec(3)->deps[0] == rec(1)->access);
    CHECK(!pr_term_const(T, offset(4), &none) && rec(4)->n_deps == 0);             /* row 48 */
    CHECK(rec(0)->reaches_other_shape && !rec(1)->reaches_other_shape);

    lower("  %c16 = arith.constant 16 : i64\n  %one = arith.constant 1 : i64\n"
          "  %d = tt.make_tensor_descriptor %p, [%n, %m], [%c16, %one] : <f32>, <8x16xf32>\n"
          "  %v = tt.descriptor_load %d[%pid, %c4] : !tt.tensordesc<8x16xf32> -> tensor<8x16xf32>\n"
          "  tt.descriptor_reduce add, %d[%pid, %c4], %v : !tt.tensordesc<8x16xf32>, tensor<8x16xf32>");
    CHECK(R.records.n == 2 && rec(0)->via_desc && rec(1)->kind == PR_RECORD_RMW);   /* row 9 */
    CHECK(at(offset(0), "pid0", 3, "lane0", 2, "lane1", 7, END) == 4 * (5 * 16 + 11));
    CHECK(at(rec(0)->mask, "pid0", 3, "lane0", 2, "lane1", 7, "n", 5, "m", 16, END) == 0);
    CHECK(at(rec(0)->mask, "pid0", 3, "lane0", 2, "lane1", 7, "n", 6, "m", 12, END) == 1);
    CHECK(rec(1)->sem == PR_SEM_RELAXED && rec(1)->rmw_op == PR_RMW_FADD);
}

static void refusals(void)
{
    lower("  %u = \"foo.bar\"(%p) : (!tt.ptr<f32>) -> i32");
    CHECK(refuses(PR_REFUSAL_OUT_OF_VOCABULARY));
    lower("  %u = llvm.inttoptr %w : i64 to !llvm.ptr<1>");
    CHECK(refuses(PR_REFUSAL_OUT_OF_VOCABULARY));                                 /* row 64 */
    static const struct { const char *text; bool fine; } grid[] = { /* programmatic dependent launch, before 3.9 */
        { "griddepcontrol.wait; // dummy $0", true }, { "griddepcontrol.launch_dependents;", true },
        { "griddepcontrol.wait; st.global.u32 [%rd1], 0;", false },
        { "griddepcontrol.wait; // dummy $0\\0Ast.global.u32 [%rd1], 0;", false }, { "griddepcontrol", false } };
    for (size_t i = 0; i < PR_LEN(grid); i++) {
        char body[256];
        snprintf(body, sizeof body, "  %%y = tt.elementwise_inline_asm \"%s\" {constraints = \"=r\", packed_element = "
                 "1 : i32, pure = false} -> i32", grid[i].text);
        lower(body);
        CHECK(grid[i].fine ? R.refusals.n == 0 : refuses(PR_REFUSAL_INLINE_ASM));
    }
    lower("  tt.elementwise_inline_asm \"st.global\" {constraints = \"r\", packed_element = 1 : i32, pure = false} %n : i32 -> i32");
    CHECK(refuses(PR_REFUSAL_INLINE_ASM));                                        /* row 63 */
    lower("  %i = tt.ptr_to_int %q : !tt.ptr<f32> -> i64\n"
          "  %y = tt.elementwise_inline_asm \"x\" {constraints = \"r\", packed_element = 1 : i32, pure = true} %i : i64 -> i64");
    CHECK(refuses(PR_REFUSAL_INLINE_ASM));
    lower("  %y = tt.elementwise_inline_asm \"x\" {constraints = \"r\", packed_element = 1 : i32, pure = true} %n : i32 -> i32\n"
          "  %a = tt.addptr %p, %y : !tt.ptr<f32>, i32\n  tt.store %a, %x : !tt.ptr<f32>");
    CHECK(R.refusals.n == 0 && gap(offset(0)) == PR_REFUSAL_OTHER);
    lower("  %a = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>\n"
          "  %z = \"tt.reduce\"(%a) <{axis = 0 : i32}> ({\n  ^bb0(%u: i32, %v: i32):\n    %l = tt.load %r : !tt.ptr<i32>\n"
          "    tt.reduce.return %l : i32\n  }) : (tensor<4xi32>) -> i32");
    CHECK(refuses(PR_REFUSAL_OUT_OF_VOCABULARY));
    lower_text("module {\n tt.func public @k(%p: !tt.ptr<i32, 3>) {\n  %v = tt.load %p : !tt.ptr<i32, 3>\n  tt.return\n }\n}\n");
    CHECK(refuses(PR_REFUSAL_OUT_OF_VOCABULARY) && rec(0)->refused.kind == PR_REFUSAL_OUT_OF_VOCABULARY); /* row 65 */
    lower("  %b = arith.cmpi sgt, %n, %c0 : i32\n  llvm.intr.assume %b : i1\n"
          "  %f = tt.load %r : !tt.ptr<i32>\n  %g = arith.cmpi sgt, %f, %c0 : i32\n  llvm.intr.assume %g : i1");
    CHECK(R.premises.n == 1 && R.qualifiers.n == 1);
    CHECK(at(R.premises.data[0], "n", 0, END) == 0 && at(R.premises.data[0], "n", 1, END) == 1);
}

static void reductions(void)
{
    lower("  %a = tt.make_range {end = 11 : i32, start = 3 : i32} : tensor<8xi32>\n"
          "  %z = \"tt.reduce\"(%a) <{axis = 0 : i32}> ({\n  ^bb0(%u: i32, %v: i32):\n    %l = arith.maxsi %u, %v : i32\n"
          "    tt.reduce.return %l : i32\n  }) : (tensor<8xi32>) -> i32\n"
          "  %nn = tt.splat %n : i32 -> tensor<8xi32>\n"
          "  %y = \"tt.reduce\"(%nn) <{axis = 0 : i32}> ({\n  ^bb0(%u: i32, %v: i32):\n    %l = arith.addi %u, %v : i32\n"
          "    tt.reduce.return %l : i32\n  }) : (tensor<8xi32>) -> i32\n"
          "  %s = \"tt.scan\"(%nn) <{axis = 0 : i32, reverse = false}> ({\n  ^bb0(%u: i32, %v: i32):\n    %l = arith.addi %u, %v : i32\n"
          "    tt.scan.return %l : i32\n  }) : (tensor<8xi32>) -> tensor<8xi32>\n"
          "  %p0 = tt.addptr %p, %z : !tt.ptr<f32>, i32\n  tt.store %p0, %x : !tt.ptr<f32>\n"
          "  %p1 = tt.addptr %p, %y : !tt.ptr<f32>, i32\n  tt.store %p1, %x : !tt.ptr<f32>\n"
          "  %pp = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>\n"
          "  %p2 = tt.addptr %pp, %s : tensor<8x!tt.ptr<f32>>, tensor<8xi32>\n  %v8 = tt.load %p2 : tensor<8x!tt.ptr<f32>>");
    CHECK(at(offset(0), END) == 40 && at(offset(1), "n", 5, END) == 160);
    CHECK(at(offset(2), "n", 5, "lane0", 2, END) == 60);
    CHECK(at(rec(1)->offset_held, "n", 1 << 28, END) == 0 && at(rec(1)->offset_held, "n", 1 << 27, END) == 1);
}

static void calls(void)
{
    static const char text[] =
        "module {\n tt.func public @k(%p: !tt.ptr<f32>, %n: i32) {\n  %pid = tt.get_program_id y : i32\n"
        "  %c = arith.cmpi eq, %pid, %n : i32\n  scf.if %c {\n   %z = tt.call @\"f{%x} \\22q\\22\"(%p, %n) : (!tt.ptr<f32>, i32) -> i32\n"
        "   %y = tt.call @\"f{%x} \\22q\\22\"(%p, %z) : (!tt.ptr<f32>, i32) -> i32\n  }\n  tt.return\n }\n"
        " tt.func private @\"f{%x} \\22q\\22\"(%n: !tt.ptr<f32>, %p: i32) -> i32 attributes {noinline = true} {\n"
        "  %x = arith.constant 1.0 : f32\n  %c1 = arith.constant 1 : i32\n  %a = tt.addptr %n, %p : !tt.ptr<f32>, i32\n"
        "  tt.store %a, %x : !tt.ptr<f32>\n  %b = arith.addi %p, %c1 : i32\n  tt.return %b : i32\n }\n}\n";
    lower_text(text);
    CHECK(R.records.n == 2 && R.refusals.n == 0 && rec(0)->access != rec(1)->access);  /* row 62 */
    CHECK(at(offset(0), "n", 5, END) == 20 && at(offset(1), "n", 5, END) == 24);
    CHECK(rec(0)->frame == rec(1)->frame && rec(0)->site.n_calls == 1);
    CHECK(rec(0)->site.calls[0] != rec(1)->site.calls[0]);
    CHECK(R.axis_read[1] && !R.axis_read[0]);
    lower_text("module {\n tt.func public @k(%p: !tt.ptr<f32>) {\n  tt.call @f(%p) : (!tt.ptr<f32>) -> ()\n  tt.return\n }\n"
               " tt.func private @f(%p: !tt.ptr<f32>) {\n  tt.call @f(%p) : (!tt.ptr<f32>) -> ()\n  tt.return\n }\n}\n");
    CHECK(refuses(PR_REFUSAL_CALL));
}

/* A sorting network turns 512 elements into a 2x2x...x2 tensor: its values are data, its shape is no reason
 * to refuse; what comes out of it is no address, and no access has such a shape. */
static void deep_tensors(void)
{
#define DEEP "2x2x2x2x2x2x2x2x2x"
    static const char *const start =
        "  %i = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>\n"
        "  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>\n"
        "  %rs = tt.splat %r : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>>\n"
        "  %pa = tt.addptr %ps, %i : tensor<512x!tt.ptr<f32>>, tensor<512xi32>\n"
        "  %ra = tt.addptr %rs, %i : tensor<512x!tt.ptr<i32>>, tensor<512xi32>\n"
        "  %v = tt.load %ra : tensor<512x!tt.ptr<i32>>\n"
        "  %zero = arith.constant dense<0> : tensor<" DEEP "i32>\n"
        "  %d0 = tt.reshape %v : tensor<512xi32> -> tensor<" DEEP "i32>\n"
        "  %d1 = scf.for %j = %c0 to %n step %c1 iter_args(%y = %d0) -> (tensor<" DEEP "i32>)  : i32 {\n"
        "    %less = arith.cmpi slt, %y, %zero : tensor<" DEEP "i32>\n"
        "    %y1 = arith.select %less, %zero, %y : tensor<" DEEP "i1>, tensor<" DEEP "i32>\n"
        "    %red = \"tt.reduce\"(%y1) <{axis = 3 : i32}> ({\n"
        "    ^bb0(%e: i32, %f: i32):\n      %g = arith.xori %e, %f : i32\n      tt.reduce.return %g : i32\n"
        "    }) : (tensor<" DEEP "i32>) -> tensor<2x2x2x2x2x2x2x2xi32>\n"
        "    %back = tt.expand_dims %red {axis = 3 : i32} : tensor<2x2x2x2x2x2x2x2xi32> -> tensor<2x2x2x1x2x2x2x2x2xi32>\n"
        "    %wide = tt.broadcast %back : tensor<2x2x2x1x2x2x2x2x2xi32> -> tensor<" DEEP "i32>\n"
        "    %y2 = arith.xori %wide, %y1 : tensor<" DEEP "i32>\n"
        "    scf.yield %y2 : tensor<" DEEP "i32>\n  }\n"
        "  %s = tt.reshape %d1 : tensor<" DEEP "i32> -> tensor<512xi32>\n";
    pr_arena *a = pr_arena_new(0, NULL);
    lower(pr_arena_printf(a, "%s  %%sf = arith.sitofp %%s : tensor<512xi32> to tensor<512xf32>\n"
                             "  tt.store %%pa, %%sf : tensor<512x!tt.ptr<f32>>\n", start));
    CHECK(R.records.n == 2 && R.refusals.n == 0 && at(offset(1), "lane0", 7, END) == 28);
    CHECK(rec(1)->n_deps == 0);
    lower(pr_arena_printf(a, "%s  %%to = tt.addptr %%rs, %%s : tensor<512x!tt.ptr<i32>>, tensor<512xi32>\n"
                             "  tt.store %%to, %%v : tensor<512x!tt.ptr<i32>>\n", start));
    CHECK(R.records.n == 2 && gap(offset(1)) == PR_REFUSAL_INDIRECT_ADDRESS);
    lower(pr_arena_printf(a, "%s  %%rd = tt.reshape %%ra : tensor<512x!tt.ptr<i32>> -> tensor<" DEEP "!tt.ptr<i32>>\n"
                             "  tt.store %%rd, %%d1 : tensor<" DEEP "!tt.ptr<i32>>\n", start));
    CHECK(R.records.n == 1 && refuses(PR_REFUSAL_OTHER));
    pr_arena_free(a);
#undef DEEP
}

static void limits(void)
{
    pr_arena *a = pr_arena_new(0, NULL); /* row 70: a deep chain and deep nesting */
    pr_buf b;
    pr_buf_init(&b, a);
    pr_buf_puts(&b, "module {\n tt.func public @k(%p: !tt.ptr<f32>, %n: i32) {\n  %x = arith.constant 1.0 : f32\n"
                    "  %v0 = arith.constant 1 : i32\n");
    for (int i = 0; i < 20000; i++)
        pr_buf_printf(&b, "  %%v%d = arith.%s %%v%d, %%n : i32\n", i + 1, i % 3 ? "addi" : "xori", i);
    pr_buf_puts(&b, "  %a = tt.addptr %p, %v20000 : !tt.ptr<f32>, i32\n  tt.store %a, %x : !tt.ptr<f32>\n  tt.return\n }\n}\n");
    lower_text(b.data);
    CHECK(R.records.n == 1);
    b.n = 0;
    pr_buf_puts(&b, "module {\n tt.func public @k(%p: !tt.ptr<f32>, %n: i32) {\n  %x = arith.constant 1.0 : f32\n"
                    "  %c0 = arith.constant 0 : i32\n  %c1 = arith.constant 1 : i32\n");
    for (int i = 0; i < 40; i++)
        pr_buf_printf(&b, "  %%r%d = scf.for %%i%d = %%c0 to %%n step %%c1 iter_args(%%a%d = %s%d) -> (!tt.ptr<f32>)  : i32 {\n",
                      i, i, i, i ? "%a" : "%p", i ? i - 1 : 0);
    char *first = strstr(b.data, "= %p0)");
    CHECK(first != NULL);
    if (first) memcpy(first, "= %p )", 6);
    pr_buf_puts(&b, "  tt.store %a39, %x : !tt.ptr<f32>\n  scf.yield %a39 : !tt.ptr<f32>\n");
    for (int i = 39; i > 0; i--) pr_buf_printf(&b, "  }\n  scf.yield %%r%d : !tt.ptr<f32>\n", i);
    pr_buf_puts(&b, "  }\n  tt.return\n }\n}\n");
    lower_text(b.data);
    CHECK(refuses(PR_REFUSAL_BUDGET));
    pr_arena_free(a);
}

int main(void)
{
    lanes();
    arithmetic();
    obligations();
    branches();
    loops();
    whiles();
    memory();
    refusals();
    reductions();
    calls();
    deep_tensors();
    limits();
    if (arena) pr_arena_free(arena);
    return check_done();
}
