/* Tests the reader on what it must accept: lexical forms, every custom assembly, the normal form of
 * front/ir.h, attributes, types, locations, scopes, unknown operations, printing as a fixed point
 * (front/README.md R1 to R6), and the real texts in data/. Rejections are in test_reader_bad.c. */
#include "front/dominance.h"
#include "reader.h"

static bool is(pr_str s, const char *t) { return pr_str_is(s, t); }
static pr_i128 num(const pr_op *op, const char *key) { return pr_op_attr_int(op, key, -99); }

static bool segments(const pr_op *op, int n, int a, int b, int c, int d)
{
    int got[4] = { 0 }, want[4] = { a, b, c, d };
    return pr_op_segments(op, n, got) && memcmp(got, want, sizeof(int) * (size_t)n) == 0;
}

static bool is_operand(const pr_op *op, int i, const char *name)
{
    return i < op->n_operands && op->operands[i] && is(op->operands[i]->name, name);
}

static bool type_is(pr_arena *a, const pr_type *t, const char *text)
{
    pr_buf b;
    pr_buf_init(&b, a);
    pr_type_print(&b, t);
    if (strcmp(b.data, text) != 0) fprintf(stderr, "type %s, not %s\n", b.data, text);
    return strcmp(b.data, text) == 0;
}

/* ---- table ----------------------------------------------------------------------------------- */
static void test_table(void)
{
    for (int i = 1; i < PR_OP_COUNT; i++) {
        CHECK(pr_opcode_find(pr_str_of(pr_opcode_name(i))) == i);
        if (i > 1) CHECK(strcmp(pr_opcode_name(i - 1), pr_opcode_name(i)) < 0);
    }
    CHECK(pr_opcode_find(pr_str_of("tt.nothing")) == PR_OP_UNKNOWN);
    CHECK(pr_opcode_find(pr_str_of("")) == PR_OP_UNKNOWN);
    CHECK(pr_opcode_find(pr_str_of("tt.load")) == PR_OP_TT_LOAD);
}

/* ---- custom assembly ------------------------------------------------------------------------- */
/* Bodies that must parse and survive printing; the first operation must be the one named. */
static const struct { const char *name, *body; int n_operands, n_results;
} accepted[] = {
    { "tt.get_program_id", "%a = tt.get_program_id y : i32", 0, 1 },
    { "tt.get_num_programs", "%a = tt.get_num_programs z : i32", 0, 1 },
    { "tt.make_range", "%a = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>", 0,
      1 },
    { "tt.splat", "%a = tt.splat %n : i32 -> tensor<64xi32>", 1, 1 },
    { "tt.expand_dims",
      "%e = tt.expand_dims %t {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>\n"
      "%a = tt.broadcast %e : tensor<4x1xi32> -> tensor<4x8xi32>\n"
      "%b = tt.trans %a {order = array<i32: 1, 0>} : tensor<4x8xi32> -> tensor<8x4xi32>",
      -1, 1 },
    { "tt.reshape",
      "%a = tt.reshape %t allow_reorder efficient_layout : tensor<4xi32> -> tensor<2x2xi32>", 1,
      1 },
    { "tt.reshape", "%a = tt.reshape %t {allow_reorder = false} : tensor<4xi32> -> tensor<2x2xi32>",
      1, 1 },
    { "tt.join",
      "%a = tt.join %t, %t : tensor<4xi32> -> tensor<4x2xi32>\n"
      "%b:2 = tt.split %a : tensor<4x2xi32> -> tensor<4xi32>",
      2, 1 },
    { "tt.join",
      "%a = tt.join %n, %n : i32 -> tensor<2xi32>\n%b, %z = tt.split %a : tensor<2xi32> -> i32", 2,
      1 },
    { "tt.cat", "%a = tt.cat %t, %t : tensor<4xi32> -> tensor<8xi32>", 2, 1 },
    { "tt.reshape",
      "%r = tt.reshape %t : tensor<4xi32> -> tensor<4xi32>\n"
      "%s = \"tt.reduce\"(%r) <{axis = 0 : i32}> ({\n^bb0(%u: i32, %v: i32):\n"
      "%w = arith.addi %u, %v : i32\ntt.reduce.return %w : i32\n}) : (tensor<4xi32>) -> i32\n"
      "%q = \"tt.scan\"(%r) <{axis = 0 : i32, reverse = false}> ({\n^bb0(%u: i32, %v: i32):\n"
      "%w = arith.addi %u, %v : i32\ntt.scan.return %w : i32\n}) : (tensor<4xi32>) -> "
      "tensor<4xi32>",
      1, 1 },
    { "tt.addptr", "%a = tt.addptr %tp, %t : tensor<4x!tt.ptr<f32>>, tensor<4xi32>", 2, 1 },
    { "tt.bitcast", "%a = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<i8>", 1, 1 },
    { "tt.ptr_to_int",
      "%a = tt.ptr_to_int %p : !tt.ptr<f32> -> i64\n%b = tt.int_to_ptr %a : i64 -> !tt.ptr<i8>", 1,
      1 },
    { "tt.load", "%a = tt.load %tp : tensor<4x!tt.ptr<f32>>", 1, 1 },
    { "tt.load",
      "%a = tt.load %tp, %m, %f cacheModifier = cg evictionPolicy = evict_last {isVolatile = true} "
      ": "
      "tensor<4x!tt.ptr<f32>>",
      3, 1 },
    { "tt.load", "%a = tt.load %p evictionPolicy = evict_first cacheModifier = ca : !tt.ptr<f32>",
      1, 1 },
    { "tt.store", "tt.store %tp, %f, %m cacheModifier = wt ignore_cta : tensor<4x!tt.ptr<f32>>", 3,
      0 },
    { "tt.atomic_rmw",
      "%a = tt.atomic_rmw fadd, acq_rel, gpu, %tp, %f, %m {x = 1 : i32} : "
      "(tensor<4x!tt.ptr<f32>>, tensor<4xf32>, tensor<4xi1>) -> tensor<4xf32>",
      3, 1 },
    { "tt.bitcast",
      "%i = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<i32>\n"
      "%a = tt.atomic_cas acquire, sys, %i, %n, %n : (!tt.ptr<i32>, i32, i32) -> i32\n"
      "%b = tt.atomic_poll acquire, gpu, %i, %n : !tt.ptr<i32>, i32 -> i1\n"
      "%e = tt.atomic_poll relaxed, gpu, %i, %n timeout %l : !tt.ptr<i32>, i32 -> i1\n"
      "%g = tt.atomic_load acquire, gpu, %i, %c : (!tt.ptr<i32>, i1) -> i32\n"
      "tt.atomic_store release, cta, %i, %n, %c : !tt.ptr<i32>",
      1, 1 },
    { "tt.make_tensor_descriptor",
      "%a = tt.make_tensor_descriptor %p, [%n, %n], [%l, %l] {order = array<i32: 0>} : "
      "<f32>, <tensor<4x8xf32>>\n"
      "%b = tt.make_tensor_descriptor %p, [%n, %n], [%l, %l] : !tt.ptr<f32>, "
      "!tt.tensordesc<4x8xf32, #s.x<{a = 1}>>",
      5, 1 },
    { "tt.descriptor_load",
      "%a = tt.descriptor_load %d[%n, %n] cacheModifier = ca : !tt.tensordesc<4x8xf32> -> "
      "tensor<4x8xf32>\n"
      "tt.descriptor_store %d[%n, %n], %a : !tt.tensordesc<tensor<4x8xf32>>, tensor<4x8xf32>\n"
      "tt.descriptor_reduce umax, %d[%n, %n], %a : !tt.tensordesc<4x8xf32>, tensor<4x8xf32>\n"
      "%g = tt.descriptor_gather %d[%t, %n] : (!tt.tensordesc<4x8xf32>, tensor<4xi32>, i32) -> "
      "tensor<4x8xf32>\n"
      "tt.descriptor_scatter %d[%t, %n], %g : !tt.tensordesc<4x8xf32>, tensor<4xi32>, i32, "
      "tensor<4x8xf32>",
      3, 1 },
    { "tt.make_tensor_ptr",
      "%a = tt.make_tensor_ptr %p, [%l, %l], [%l, %l], [%n, %n] {order = array<i32: 1, 0>} : "
      "<tensor<4x8xf32>>\n"
      "%b = tt.advance %a, [%n, %n] : <tensor<4x8xf32>>\n"
      "%v = tt.load %b {boundaryCheck = array<i32: 0, 1>, padding = 1 : i32} : "
      "!tt.ptr<tensor<4x8xf32>>\n"
      "tt.store %b, %v {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<4x8xf32>>",
      7, 1 },
    { "tt.histogram", "%a = tt.histogram %t, %m : tensor<4xi32> -> tensor<8xi32>", 2, 1 },
    { "tt.gather",
      "%a = tt.gather %f[%t] {axis = 0 : i32} : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>", 2,
      1 },
    { "arith.constant",
      "%z = arith.constant dense<0.0> : tensor<16x16xf16>\n"
      "%y = arith.constant dense<0.0> : tensor<16x16xf32>\n"
      "%a = tt.dot %z, %z, %y, inputPrecision = tf32x3 {maxNumImpreciseAcc = 0 : i32} : "
      "tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>",
      0, 1 },
    { "tt.call",
      "%a:2 = tt.call @g(%n, %f) : (i32, tensor<4xf32>) -> (tensor<4xf32>, i32)\n"
      "%b = arith.addi %a#1, %n : i32\n%e = arith.addf %a, %a#0 : tensor<4xf32>",
      2, 2 },
    { "tt.print",
      "tt.print \"x: \" {hex = false, isSigned = array<i32: 1, 0>} : %n, %f : i32, tensor<4xf32>",
      2, 0 },
    { "tt.print", "tt.print \"\\E9\\94\\99 } { %z\" {hex = false, isSigned = array<i32>}", 0, 0 },
    { "tt.assert", "tt.assert %m, \"a > 'b' {\" : tensor<4xi1>", 1, 0 },
    { "llvm.intr.assume", "llvm.intr.assume %c : i1", 1, 0 },
    { "llvm.intr.assume",
      "llvm.intr.assume %c [\"align\"(%p, %n : !tt.ptr<f32>, i32), \"nonnull\"(%p : "
      "!tt.ptr<f32>)] : i1",
      4, 0 },
    { "tt.elementwise_inline_asm",
      "%a:2 = tt.elementwise_inline_asm \"mov $0, 1; // \\22%x\\22\" {constraints = "
      "\"=r,=r,r\", packed_element = 1 : i32, pure = true} %t : tensor<4xi32> -> "
      "tensor<4xi32>, tensor<4xi32>",
      1, 2 },
    { "tt.elementwise_inline_asm", "%a = tt.elementwise_inline_asm \"x\" {pure = false} -> i32", 0,
      1 },
    { "tt.extern_elementwise",
      "%a = tt.extern_elementwise %f, %f {libname = \"\", libpath = \"\", pure = true, symbol = "
      "\"__nv_powf\"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
      2, 1 },
    { "gpu.barrier", "gpu.barrier\nttg.barrier all\nttg.barrier local|global_read|global_write", 0,
      0 },
    { "gpu.barrier", "gpu.barrier memfence [#gpu.address_space<workgroup>]", 0, 0 },
    { "tt.grid_dependency_wait",
      "tt.grid_dependency_wait\ntt.grid_dependency_launch_dependents {a}", 0, 0 },
    { "tt.fp_to_fp", "%a = tt.fp_to_fp %f, rounding = rtne : tensor<4xf32> -> tensor<4xf8E5M2>", 1,
      1 },
    { "tt.clampf", "%a = tt.clampf %f, %f, %f, propagateNan = none : tensor<4xf32>", 3, 1 },
    { "tt.precise_sqrt",
      "%a = tt.precise_sqrt %f : tensor<4xf32>\n%b = tt.precise_divf %a, %f : tensor<4xf32>\n"
      "%e = tt.mulhiui %t, %t : tensor<4xi32>",
      1, 1 },
    { "arith.addi", "%a = arith.addi %n, %n overflow<nsw, nuw> {x} : i32", 2, 1 },
    { "arith.divsi", "%a = arith.divsi %t, %t exact : tensor<4xi32>", 2, 1 },
    { "arith.addf",
      "%a = arith.addf %f, %f fastmath<contract,nnan> : tensor<4xf32>\n"
      "%b = math.fma %a, %a, %f : tensor<4xf32>\n%e = math.exp2 %b fastmath<fast> : tensor<4xf32>\n"
      "%g = math.isnan %b : tensor<4xf32>\n%h = arith.select %g, %a, %b : tensor<4xi1>, "
      "tensor<4xf32>\n"
      "%i = math.absi %t : tensor<4xi32>\n%j = math.fpowi %f, %t : tensor<4xf32>, tensor<4xi32>\n"
      "%k = arith.negf %f : tensor<4xf32>",
      2, 1 },
    { "arith.cmpi",
      "%a = arith.cmpi slt, %t, %t : tensor<4xi32>\n%b = arith.cmpf oge, %f, %f : tensor<4xf32>", 2,
      1 },
    { "arith.select", "%a = arith.select %c, %f, %f : tensor<4xf32>", 3, 1 },
    { "arith.extsi",
      "%a = arith.extsi %t : tensor<4xi32> to tensor<4xi64>\n"
      "%b = arith.extui %m {y} : tensor<4xi1> to tensor<4xi32>\n"
      "%e = arith.extui %n nneg : i32 to i64\n%g = arith.trunci %l overflow<nsw> : i64 to i32\n"
      "%h = arith.index_cast %x : index to i32\n%i = arith.sitofp %n : i32 to f32\n"
      "%j = arith.truncf %i to_nearest_even : f32 to f16\n%q = arith.bitcast %i : f32 to i32",
      1, 1 },
    { "arith.addui_extended",
      "%a, %b = arith.addui_extended %n, %n : i32, i1\n"
      "%e:2 = arith.mulsi_extended %n, %n : i32",
      2, 2 },
    { "ub.poison", "%a = ub.poison : tensor<4xi32>", 0, 1 },
    { "builtin.unrealized_conversion_cast",
      "%a:2 = builtin.unrealized_conversion_cast %n, %l : i32, i64 to i64, f32", 2, 2 },
    { "cf.assert", "cf.assert %c, \"no\"", 1, 0 },
    { "scf.for", "scf.for unsigned %i = %n to %n step %n  : i32 {\n} {tt.num_stages = 3 : i32}", 3,
      0 },
    { "scf.for",
      "%r:2 = scf.for %i = %x to %x step %x iter_args(%u = %n, %v = %f) -> (i32, tensor<4xf32>) {\n"
      "scf.yield %u, %v : i32, tensor<4xf32>\n}",
      5, 2 },
    { "scf.if",
      "%r = scf.if %c -> (i32) {\n%2 = arith.addi %n, %n : i32\nscf.yield %2 : i32\n} else {\n"
      "%2 = arith.subi %n, %n : i32\nscf.yield %2 : i32\n}",
      1, 1 },
    { "scf.while",
      "%r = scf.while (%a = %n) : (i32) -> i64 {\n%b = arith.extsi %a : i32 to i64\n"
      "scf.condition(%c) %b : i64\n} do {\n^bb0(%e: i64):\n%g = arith.trunci %e : i64 to i32\n"
      "scf.yield %g : i32\n} attributes {k = 1 : i32}",
      1, 1 },
    { "scf.while", "scf.while : () -> () {\nscf.condition(%c)\n} do {\nscf.yield\n}", 0, 0 },
    { "scf.execute_region",
      "%r = scf.execute_region no_inline -> i32 {\ncf.cond_br %c, ^a, ^b(%n : i32)\n^a:\n"
      "cf.br ^b(%n : i32)\n^b(%v: i32):\nscf.yield %v : i32\n}",
      0, 1 },
    { "scf.index_switch",
      "%r = scf.index_switch %x {q} -> i32\ncase 0 {\nscf.yield %n : i32\n}\ncase -7 {\n"
      "%2 = arith.addi %n, %n : i32\nscf.yield %2 : i32\n}\ndefault {\nscf.yield %n : i32\n}",
      1, 1 },
};

static void test_accepted(void)
{
    static const char callee[] =
        "tt.func private @g(%a: i32, %f: tensor<4xf32>) -> (tensor<4xf32>, i32) attributes "
        "{noinline = true} {\ntt.return %f, %a : tensor<4xf32>, i32\n}\n";
    for (size_t i = 0; i < PR_LEN(accepted); i++) {
        pr_arena *a = pr_arena_new(0, NULL);
        const char *text = in_function(a, accepted[i].body);
        text = pr_arena_printf(a, "%s\n", text);
        char *end = strrchr(text, '}');
        text = pr_arena_printf(a, "%.*s%s}\n", (int)(end - text), text, callee);
        pr_block *b = body_of(parse(a, text));
        CHECK(b);
        if (b) {
            CHECK(is(b->ops[0]->name, accepted[i].name));
            CHECK(b->ops[0]->opcode == pr_opcode_find(b->ops[0]->name));
            if (accepted[i].n_operands >= 0) CHECK(b->ops[0]->n_operands == accepted[i].n_operands);
            CHECK(b->ops[0]->n_results == accepted[i].n_results);
            CHECK(!b->ops[0]->is_unknown_form);
        }
        pr_arena_free(a);
    }
}

/* ---- normal form ----------------------------------------------------------------------------- */
static void test_memory_normal_form(void)
{
    pr_arena *a = pr_arena_new(0, NULL);
    pr_op *op = first_op(a, "%a = tt.load %tp, %m cacheModifier = cg evictionPolicy = evict_last : "
                            "tensor<4x!tt.ptr<f32>>");
    CHECK(op && segments(op, 3, 1, 1, 0, 0) && num(op, "cache") == 3 && num(op, "evict") == 3);
    CHECK(op && type_is(a, op->results[0]->type, "tensor<4xf32>"));
    op = first_op(a, "%a = \"tt.load\"(%tp, %f) <{operandSegmentSizes = array<i32: 1, 0, 1>}> : "
                     "(tensor<4x!tt.ptr<f32>>, tensor<4xf32>) -> tensor<4xf32>");
    CHECK(op && segments(op, 3, 1, 0, 1, 0));
    op = first_op(a, "%a = tt.atomic_rmw umin, release, sys, %tp, %f, %m : "
                     "(tensor<4x!tt.ptr<f32>>, tensor<4xf32>, "
                     "tensor<4xi1>) -> tensor<4xf32>");
    CHECK(op && num(op, "atomic_rmw_op") == 9 && num(op, "sem") == 3 && num(op, "scope") == 3);
    op = first_op(
        a, "%a = tt.atomic_rmw nand, acquire, cluster, %tp, %f, %m : (tensor<4x!tt.ptr<f32>>, "
           "tensor<4xf32>, tensor<4xi1>) -> tensor<4xf32>");
    CHECK(op && is(pr_op_attr(op, "atomic_rmw_op")->text, "nand")
          && is(pr_op_attr(op, "scope")->text, "cluster"));
    op = first_op(a, "%a = tt.make_tensor_descriptor %p, [%n, %n], [%l, %l] : <f32>, <4x8xf32>");
    CHECK(op && segments(op, 3, 1, 2, 2, 0) && op->results[0]->type->kind == PR_TYPE_DESC
          && op->results[0]->type->elem->shape[1] == 8);
    op = first_op(a, "%a = \"tt.make_tensor_descriptor\"(%p, %n, %n, %l, %l) : (!tt.ptr<f32>, i32, "
                     "i32, i64, i64) -> "
                     "!tt.tensordesc<tensor<4x8xf32>>");
    CHECK(op && segments(op, 3, 1, 2, 2, 0));
    op = first_op(
        a,
        "%a = tt.make_tensor_ptr %p, [%l], [%l], [%n] {order = array<i32: 0>} : <tensor<8xf32>>");
    CHECK(op && segments(op, 4, 1, 1, 1, 1)
          && type_is(a, op->results[0]->type, "!tt.ptr<tensor<8xf32>>"));
    pr_block *b = body_of(parse(
        a,
        in_function(
            a,
            "%v = arith.constant dense<0.0> : tensor<4x8xf32>\n"
            "tt.descriptor_reduce max, %d[%n, %n], %v : !tt.tensordesc<4x8xf32>, tensor<4x8xf32>\n"
            "%z = tt.dot_scaled %v, %v scale %t, %v lhs = e4m3 rhs = fp16 {fastMath = false} : "
            "tensor<4x8xf32> * "
            "tensor<4x8xf32>, tensor<4xi32> -> tensor<4x8xf32>")));
    CHECK(b && is_operand(b->ops[1], 1, "v") && is_operand(b->ops[1], 2, "n")
          && num(b->ops[1], "kind") == 3);
    CHECK(b && is_operand(b->ops[2], 3, "t") && num(b->ops[2], "rhs") == -99
          && num(b->ops[2], "b_elem_type") == 6);
    op = first_op(a, "ttg.barrier local|global_write");
    CHECK(op && num(op, "addrSpace") == 5);
    op = first_op(a, "ttg.barrier local|cluster");
    CHECK(op && is(pr_op_attr(op, "addrSpace")->text, "local|cluster"));
    op = first_op(a, "%a = tt.get_program_id z : i32");
    CHECK(op && num(op, "axis") == 2);
    op = first_op(a, "%a = arith.cmpi ugt, %n, %n : i32");
    CHECK(op && num(op, "predicate") == 8 && type_is(a, op->results[0]->type, "i1"));
    pr_arena_free(a);
}

static void test_control_normal_form(void)
{
    pr_arena *a = pr_arena_new(0, NULL);
    pr_op *op = first_op(a, "scf.for unsigned %i = %n to %n step %n : i32 {\n}");
    CHECK(op && pr_op_attr(op, "unsignedCmp") && op->regions[0]->blocks[0]->n_args == 1);
    CHECK(op && pr_block_terminator(op->regions[0]->blocks[0])->opcode == PR_OP_SCF_YIELD);
    op = first_op(a, "scf.for %i = %n to %n step %n : i32 {\n}");
    CHECK(op && !pr_op_attr(op, "unsignedCmp"));
    op = first_op(a, "scf.if %c {\n}");
    CHECK(op && op->n_regions == 2 && op->regions[1]->n_blocks == 0
          && op->regions[0]->blocks[0]->n_ops == 1);
    op = first_op(
        a, "%r = scf.for %i = %n to %n step %n iter_args(%v = %f) -> (tensor<4xf32>) : i32 {\n"
           "scf.yield %v : tensor<4xf32>\n}");
    CHECK(op && op->n_operands == 4 && is(op->regions[0]->blocks[0]->args[0]->name, "i")
          && is(op->regions[0]->blocks[0]->args[1]->name, "v"));
    op = first_op(a, "%r = scf.index_switch %x -> i32\ncase 5 {\n%q = arith.constant 1 : "
                     "i32\nscf.yield %q : i32\n}\n"
                     "default {\nscf.yield %n : i32\n}");
    CHECK(op && op->n_regions == 2 && op->regions[0]->blocks[0]->n_ops == 1
          && op->regions[1]->blocks[0]->n_ops == 2);
    CHECK(op && pr_op_attr(op, "cases")->n_ints == 1 && pr_op_attr(op, "cases")->ints[0] == 5);
    pr_ir *ir = parse(
        a,
        "tt.func @k(%c: i1, %n: i32) {\n"
        "cf.cond_br %c weights([1, 2]), ^bb2(%n, %n : i32, i32), ^bb1\n"
        "^bb1:  // pred: ^bb0\ncf.switch %n : i32, [\n default: ^bb3,\n 42: ^bb2(%n, %n : i32, "
        "i32),\n -1: ^bb3\n]\n"
        "^bb2(%s: i32, %u: i32):  // 2 preds: ^bb0, ^bb1\n%v = arith.addi %s, %u : i32\ntt.return\n"
        "^bb3:\ntt.return\n}\n");
    pr_block *b = body_of(ir);
    if (b) {
        op = b->ops[0];
        CHECK(segments(op, 3, 1, 2, 0, 0) && op->n_succ == 2 && op->succ[0].first == 1
              && op->succ[0].n == 2);
        CHECK(op->succ[0].block->index == 2 && op->succ[1].block->index == 1 && op->succ[1].n == 0);
        op = b->region->blocks[1]->ops[0];
        CHECK(op->n_succ == 3 && op->succ[1].first == 1 && op->succ[1].n == 2
              && op->succ[2].n == 0);
        CHECK(pr_op_attr(op, "case_values")->ints[1] == -1);
        CHECK(is(b->region->blocks[3]->label, "bb3") && b->label.n == 0);
    }
    CHECK(b);
    pr_arena_free(a);
}

static void test_functions(void)
{
    pr_arena *a = pr_arena_new(0, NULL);
    pr_ir *ir =
        parse(a, "#loc1 = loc(\"a.py\":3:1)\n"
                 "module @m attributes {\"ttg.num-warps\" = 4 : i32, ttg.target = \"cuda:90\"} {\n"
                 "  tt.func public @k(%x_ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32} "
                 "loc(\"x_ptr\"(#loc1)), %arg1: i32 loc(#loc1),\n"
                 "                    %arg2: i32 loc(unknown), %n_7: i32 {} loc(\"n\"),\n"
                 "                    %x_8: i32 loc(\"x_ptr\"(\"y_ptr\"(#loc1)))) attributes "
                 "{noinline = false} {\n"
                 "    tt.return loc(#loc2)\n  } loc(#loc1)\n"
                 "  tt.func private @decl(i32, !tt.ptr<f32> {tt.divisibility = 8 : i32}) -> (i32 "
                 "{z = 1 : i32}, f32)\n"
                 "  tt.func private @\"f{%x} \\22q\\22 (a)\"(%b: i32) -> i32 {\n    tt.return %b : "
                 "i32\n  }\n"
                 "} loc(#loc)\n#loc = loc(unknown)\n#loc2 = loc(\"a.py\":9:2)\n");
    CHECK(ir);
    if (ir) {
        const char *why;
        pr_op *k = pr_ir_kernel(ir, (pr_str){ 0 }, &why);
        CHECK(k && k == pr_ir_func(ir, pr_str_of("k"))
              && k == pr_ir_kernel(ir, pr_str_of("k"), &why));
        CHECK(!pr_ir_kernel(ir, pr_str_of("zz"), &why) && strstr(why, "no function"));
        CHECK(!pr_ir_kernel(ir, pr_str_of("decl"), &why) && strstr(why, "no body"));
        CHECK(is(pr_ir_arg_name(ir, k, 0), "x_ptr") && is(pr_ir_arg_name(ir, k, 1), "arg1"));
        CHECK(is(pr_ir_arg_name(ir, k, 2), "arg2") && is(pr_ir_arg_name(ir, k, 3), "n"));
        CHECK(is(pr_ir_arg_name(ir, k, 4), "y_ptr")); /* x_ptr = y_ptr in the kernel's source */
        pr_value **args = pr_region_block(k->regions[0])->args;
        CHECK(pr_dict_get(args[0]->attrs, "tt.divisibility")->integer == 16 && !args[3]->attrs);
        CHECK(!pr_dict_get(args[0]->attrs, "zz") && !pr_dict_get(NULL, "zz"));
        CHECK(is(pr_op_attr(k, "sym_visibility")->text, "public")
              && pr_op_attr(k, "function_type")->type->n_inputs == 5);
        CHECK(args[0]->loc->line == 3 && is(args[0]->loc->label, "x_ptr") && k->loc->line == 3);
        CHECK(pr_region_block(k->regions[0])->ops[0]->loc->line == 9);
        pr_op *d = pr_ir_func(ir, pr_str_of("decl"));
        CHECK(d && d->n_regions == 1 && d->regions[0]->n_blocks == 0 && pr_op_attr(d, "res_attrs"));
        CHECK(pr_ir_func(ir, pr_str_of("f{%x} \"q\" (a)")));
        CHECK(is(pr_op_attr(ir->module, "sym_name")->text, "m")
              && pr_op_attr_int(ir->module, "ttg.num-warps", 0) == 4);
        CHECK(ir->module->id == 0 && k->id == 1);
    }
    ir = parse(a, "tt.func @a() {\ntt.return\n}\ntt.func @b() {\ntt.return\n}\n");
    const char *why = "";
    CHECK(ir && !pr_ir_kernel(ir, (pr_str){ 0 }, &why) && strstr(why, "several"));
    ir = parse(a, "module {\n}\n");
    CHECK(ir && !pr_ir_kernel(ir, (pr_str){ 0 }, &why) && strstr(why, "no public"));
    ir = parse(a, "\"builtin.module\"() ({\n}) : () -> ()");
    CHECK(ir && ir->module->regions[0]->n_blocks == 1);
    ir = parse(a, "// a comment\ntt.func @k() { // another %x {\n tt.return }\n{-#\n "
                  "dialect_resources: { } \"\n#-}\n");
    CHECK(ir && body_of(ir));
    pr_arena_free(a);
}

/* ---- types and attributes -------------------------------------------------------------------- */
static void test_types(void)
{
    static const struct {
        const char *text, *printed;
        pr_type_kind kind;
        int bits, bytes;
    } rows[] = {
        { "i1", "i1", PR_TYPE_INT, 1, 1 },
        { "i4", "i4", PR_TYPE_INT, 4, 1 },
        { "i128", "i128", PR_TYPE_INT, 128, 16 },
        { "si32", "si32", PR_TYPE_INT, 32, 4 },
        { "ui8", "ui8", PR_TYPE_INT, 8, 1 },
        { "index", "index", PR_TYPE_INDEX, 64, 8 },
        { "none", "none", PR_TYPE_NONE, 0, 0 },
        { "bf16", "bf16", PR_TYPE_FLOAT, 16, 2 },
        { "tf32", "tf32", PR_TYPE_FLOAT, 32, 4 },
        { "f8E4M3B11FNUZ", "f8E4M3B11FNUZ", PR_TYPE_FLOAT, 8, 1 },
        { "f4E2M1FN", "f4E2M1FN", PR_TYPE_FLOAT, 4, 1 },
        { "f6E3M2FN", "f6E3M2FN", PR_TYPE_FLOAT, 6, 1 },
        { "f64", "f64", PR_TYPE_FLOAT, 64, 8 },
        { "!tt.ptr<f32>", "!tt.ptr<f32>", PR_TYPE_POINTER, 0, 8 },
        { "!tt.ptr<f32, 3>", "!tt.ptr<f32, 3>", PR_TYPE_POINTER, 0, 8 },
        { "!tt.ptr<f32, 1>", "!tt.ptr<f32>", PR_TYPE_POINTER, 0, 8 },
        { "!tt.ptr<!tt.ptr<i1>>", "!tt.ptr<!tt.ptr<i1>>", PR_TYPE_POINTER, 0, 8 },
        { "tensor<f32>", "tensor<f32>", PR_TYPE_TENSOR, 0, 4 },
        { "tensor<!tt.ptr<f32>>", "tensor<!tt.ptr<f32>>", PR_TYPE_TENSOR, 0, 8 },
        { "tensor<64x32x!tt.ptr<f16>>", "tensor<64x32x!tt.ptr<f16>>", PR_TYPE_TENSOR, 0, 8 },
        { "tensor<4xi1, #blocked>", "tensor<4xi1, #ttg.blocked<{a = [1, 2]}>>", PR_TYPE_TENSOR, 0,
          1 },
        { "tensor<4xi1, #ttg.slice<{dim = 1, parent = #blocked}>>",
          "tensor<4xi1, #ttg.slice<{dim = 1, parent = #ttg.blocked<{a = [1, 2]}>}>>",
          PR_TYPE_TENSOR, 0, 1 },
        { "!tt.tensordesc<tensor<4x8xui32>>", "!tt.tensordesc<4x8xui32>", PR_TYPE_DESC, 0, 0 },
        { "!tt.tensordesc<4x8xf16, #blocked>",
          "!tt.tensordesc<4x8xf16, #ttg.blocked<{a = [1, 2]}>>", PR_TYPE_DESC, 0, 0 },
        { "!tt.tensordesc<tensor<4x8xf16, #blocked>>",
          "!tt.tensordesc<4x8xf16, #ttg.blocked<{a = [1, 2]}>>", PR_TYPE_DESC, 0, 0 },
        { "!ttg.memdesc<2x4xf16, #blocked, #smem, mutable, 3x4>",
          "!ttg.memdesc<2x4xf16, #ttg.blocked<{a = [1, 2]}>, #ttg.shared_memory, mutable, 3x4>",
          PR_TYPE_MEMDESC, 0, 0 },
        { "!ttg.async.token", "!ttg.async.token", PR_TYPE_OPAQUE, 0, 0 },
        { "!alias", "tensor<8xi32>", PR_TYPE_TENSOR, 0, 4 },
        { "tuple<i32, f32>", "tuple<i32, f32>", PR_TYPE_OPAQUE, 0, 0 },
        { "vector<4xf32>", "vector<4xf32>", PR_TYPE_OPAQUE, 0, 0 },
        { "memref<4xf32, affine_map<(d0) -> (d0)>>", "memref<4xf32, affine_map<(d0) -> (d0)>>",
          PR_TYPE_OPAQUE, 0, 0 },
        { "!llvm.ptr<1>", "!llvm.ptr<1>", PR_TYPE_OPAQUE, 0, 0 },
        { "!llvm.struct<(i32, ptr)>", "!llvm.struct<(i32, ptr)>", PR_TYPE_OPAQUE, 0, 0 },
        { "tensor<?xf32>", "tensor<?xf32>", PR_TYPE_OPAQUE, 0, 0 },
        { "(i32, f32) -> ()", "(i32, f32) -> ()", PR_TYPE_FUNCTION, 0, 0 },
        { "() -> (i32)", "() -> i32", PR_TYPE_FUNCTION, 0, 0 },
        { "() -> ((i32) -> i1)", "() -> ((i32) -> i1)", PR_TYPE_FUNCTION, 0, 0 },
        { "i256", "i256", PR_TYPE_OPAQUE, 0, 0 },
    };
    for (size_t i = 0; i < PR_LEN(rows); i++) {
        pr_arena *a = pr_arena_new(0, NULL);
        pr_ir *ir = parse(a, pr_arena_printf(a,
            "!alias = tensor<8xi32>\nmodule attributes {t = %s} {\n}\n#smem = #ttg.shared_memory\n"
            "#blocked = #ttg.blocked<{a = [1, 2]}>\n", rows[i].text));
        pr_attr *t = ir ? pr_op_attr(ir->module, "t") : NULL;
        CHECK(t && t->kind == PR_ATTR_TYPE);
        if (t && t->kind == PR_ATTR_TYPE) {
            CHECK(t->type->kind == rows[i].kind && t->type->bits == rows[i].bits);
            CHECK(type_is(a, t->type, rows[i].printed));
            CHECK(pr_type_bytes(t->type) == rows[i].bytes);
        }
        pr_arena_free(a);
    }
}

/* The attribute whose text is given, in a module with a few aliases. */
static pr_attr *attribute(pr_arena *a, const char *text)
{
    pr_ir *ir = parse(
        a,
        pr_arena_printf(a,
                        "#one = 1 : i32\nmodule attributes {t = %s} {\n}\n#b = #ttg.x<{q = #one}>\n"
                        "#l = loc(\"f\":1:2)\n",
                        text));
    return ir ? pr_op_attr(ir->module, "t") : NULL;
}

static bool raw_is(pr_arena *a, const char *text, const char *raw)
{
    pr_attr *t = attribute(a, text);
    return t && t->kind == PR_ATTR_RAW && is(t->text, raw);
}

static void test_attributes(void)
{
    pr_arena *a = pr_arena_new(0, NULL);
    pr_attr *t = attribute(a, "-16 : i32");
    CHECK(t && t->kind == PR_ATTR_INT && t->integer == -16 && t->type->bits == 32);
    t = attribute(a, "0x1F : i64");
    CHECK(t && t->kind == PR_ATTR_INT && t->integer == 31);
    t = attribute(a, "7");
    CHECK(t && t->kind == PR_ATTR_INT && !t->type);
    t = attribute(a, "-999999999999999999999999999999999999999999999 : i128");
    CHECK(t && t->kind == PR_ATTR_INT && t->too_wide);
    t = attribute(a, "1.0e+00 : f32");
    CHECK(t && t->kind == PR_ATTR_FLOAT && is(t->text, "1.0e+00"));
    t = attribute(a, "-9.99999997E-7 : f32");
    CHECK(t && t->kind == PR_ATTR_FLOAT && is(t->text, "-9.99999997E-7"));
    t = attribute(a, "0xFF800000 : f32");
    CHECK(t && t->kind == PR_ATTR_FLOAT && is(t->text, "0xFF800000"));
    t = attribute(a, "\"a\\n\\t\\\"\\\\\\E9\\94\\99\\0A{\"");
    CHECK(t && t->kind == PR_ATTR_STRING && is(t->text, "a\n\t\"\\\xE9\x94\x99\n{"));
    t = attribute(a, "[1, [true, false], {a, \"b.c d\" = unit}]");
    CHECK(t && t->n_items == 3 && t->items[1]->items[0]->boolean && t->items[2]->n_entries == 2);
    t = attribute(a, "array<i32: 0, -1>");
    CHECK(t && t->kind == PR_ATTR_DENSE_ARRAY && t->n_ints == 2 && t->ints[1] == -1);
    t = attribute(a, "array<i64>");
    CHECK(t && t->kind == PR_ATTR_DENSE_ARRAY && t->n_ints == 0);
    t = attribute(a, "array<i1: true, false>");
    CHECK(t && t->kind == PR_ATTR_DENSE_ARRAY && t->ints[0] == 1);
    CHECK(raw_is(a, "array<f32: 1.0, 2.0>", "array<f32: 1.0, 2.0>"));
    t = attribute(a, "@f");
    CHECK(t && t->kind == PR_ATTR_SYMBOL && is(t->text, "f"));
    t = attribute(a, "@a::@\"b c\"");
    CHECK(t && is(t->text, "a::b c"));
    t = attribute(a, "#one");
    CHECK(t && t->kind == PR_ATTR_INT && t->integer == 1);
    CHECK(raw_is(a, "#b", "#ttg.x<{q = 1 : i32}>"));
    CHECK(raw_is(a, "#ttg.blocked<{a = [1,   2], // note >\n b = \">\", c = () -> ()}>",
                 "#ttg.blocked<{a = [1, 2], b = \">\", c = () -> ()}>"));
    CHECK(raw_is(a, "#ttg<blocked {x}>", "#ttg<blocked {x}>"));
    CHECK(raw_is(a, "#ttg.shared_memory", "#ttg.shared_memory"));
    CHECK(raw_is(a, "affine_map<(d0) -> (d0 floordiv 2)>", "affine_map<(d0) -> (d0 floordiv 2)>"));
    CHECK(raw_is(a, "affine_set<(d0) : (d0 >= 0)>", "affine_set<(d0) : (d0 >= 0)>"));
    CHECK(raw_is(a, "distinct[0]<42 : i32>", "distinct[0]<42 : i32>"));
    CHECK(raw_is(a, "loc(#l)", "loc(\"f\":1:2)"));
    CHECK(raw_is(a, "#l", "loc(\"f\":1:2)"));
    t = attribute(a, "dense_resource<blob> : tensor<4xi32>");
    CHECK(t && t->kind == PR_ATTR_RAW && t->type->rank == 1);
    pr_arena_free(a);
}

static pr_attr *constant(pr_arena *a, const char *text)
{
    pr_op *op = first_op(a, pr_arena_printf(a, "%%k = arith.constant %s", text));
    return op ? pr_op_attr(op, "value") : NULL;
}

static bool ints_are(const pr_attr *t, int n, pr_i128 first, pr_i128 last)
{
    return t && t->kind == PR_ATTR_DENSE && t->dense_known && t->n_ints == n && t->ints[0] == first
           && t->ints[n - 1] == last;
}

static bool is_unknown_dense(const pr_attr *t)
{
    return t && t->kind == PR_ATTR_DENSE && !t->dense_known;
}

static void test_constants(void)
{
    pr_arena *a = pr_arena_new(0, NULL);
    pr_attr *t = constant(a, "-7 : i32");
    CHECK(t && t->integer == -7);
    t = constant(a, "4294967295 : i32");
    CHECK(t && t->integer == 4294967295);
    t = constant(a, "true");
    CHECK(t && t->kind == PR_ATTR_BOOL && t->boolean);
    t = constant(a, "{tt.divisibility = dense<16> : tensor<1xi32>} 16 : i32");
    CHECK(t && t->integer == 16);
    t = constant(a, "5 : index");
    CHECK(t && t->type->kind == PR_TYPE_INDEX);
    CHECK(ints_are(constant(a, "dense<5> : tensor<64xi32>"), 1, 5, 5));
    CHECK(ints_are(constant(a, "dense<true> : tensor<64xi1>"), 1, 1, 1));
    CHECK(ints_are(constant(a, "dense<-1> : tensor<64xi1>"), 1, -1, -1));
    CHECK(ints_are(constant(a, "dense<[1, 2, 3, 4]> : tensor<4xi32>"), 4, 1, 4));
    CHECK(ints_are(constant(a, "dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>"), 4, 1, 4));
    CHECK(ints_are(constant(a, "dense<[[[-1], [2]]]> : tensor<1x2x1xi64>"), 2, -1, 2));
    CHECK(ints_are(constant(a, "dense<\"0x01000000FFFFFFFF\"> : tensor<2xi32>"), 2, 1, 0xFFFFFFFF));
    CHECK(ints_are(constant(a, "dense<\"0x0102\"> : tensor<8xi16>"), 1, 0x0201, 0x0201));
    CHECK(ints_are(constant(a, "dense<\"0xFF\"> : tensor<8xi1>"), 1, 1, 1));
    CHECK(is_unknown_dense(constant(a, "dense<\"0xFF00\"> : tensor<16xi1>")));
    CHECK(is_unknown_dense(constant(a, "dense<0xFF800000> : tensor<8xf32>")));
    CHECK(is_unknown_dense(constant(a, "dense<[1.0, -2.5e-3]> : tensor<2xf32>")));
    CHECK(is_unknown_dense(constant(a, "dense<\"0x0000803F\"> : tensor<8xf32>")));
    CHECK(is_unknown_dense(constant(a, "dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>")));
    CHECK(is_unknown_dense(
        constant(a, "dense<999999999999999999999999999999999999999999> : tensor<2xi128>")));
    t = constant(a, "dense<> : tensor<0xi32>");
    CHECK(t && t->dense_known && t->n_ints == 0);
    pr_arena_free(a);
}

/* ---- locations ------------------------------------------------------------------------------- */
static const pr_srcloc *place(pr_arena *a, const char *loc, const char *aliases)
{
    pr_ir *ir = parse(a, pr_arena_printf(a, "module {\n} loc(%s)\n%s", loc, aliases));
    return ir ? ir->module->loc : NULL;
}

static bool at(const pr_srcloc *l, const char *file, int line, int col)
{
    return l && is(l->file, file) && l->line == line && l->col == col;
}

static void test_locations(void)
{
    pr_arena *a = pr_arena_new(0, NULL);
    CHECK(at(place(a, "\"f.py\":12:8", ""), "f.py", 12, 8));
    CHECK(at(place(a, "\"f.py\":12:8 to 13:4", ""), "f.py", 12, 8));
    CHECK(at(place(a, "\"f.py\":12:8 to :20", ""), "f.py", 12, 8));
    CHECK(at(place(a, "unknown", ""), "", 0, 0));
    const pr_srcloc *l = place(a, "\"name\"(\"f.py\":1:2)", "");
    CHECK(at(l, "f.py", 1, 2) && is(l->label, "name"));
    l = place(a, "\"outer\"(\"inner\"(#a))", "#a = loc(\"g.py\":5:6)\n");
    CHECK(at(l, "g.py", 5, 6) && is(l->label, "inner"));
    l = place(a, "\"name\"", "");
    CHECK(l && l->line == 0 && is(l->label, "name"));
    l = place(a, "callsite(callsite(#a at #b) at \"m.py\":3:3)",
              "#b = loc(\"b.py\":2:2)\n#a = loc(\"n\"(\"x/triton/language/standard.py\":1:1))\n");
    CHECK(at(l, "x/triton/language/standard.py", 1, 1) && l->caller && at(l->caller, "b.py", 2, 2));
    CHECK(l && l->caller && l->caller->caller && at(l->caller->caller, "m.py", 3, 3)
          && !l->caller->caller->caller);
    CHECK(at(pr_srcloc_user(l), "b.py", 2, 2));
    CHECK(is(l->raw, "callsite(callsite(\"n\"(\"x/triton/language/standard.py\":1:1) at "
                     "\"b.py\":2:2) at \"m.py\":3:3)"));
    l = place(a, "\"triton/language/core.py\":1:1", "");
    CHECK(pr_srcloc_user(l) == l && !pr_srcloc_user(NULL));
    l = place(a, "\"mytriton/language/core.py\":1:1", "");
    CHECK(pr_srcloc_user(l) == l);
    l = place(a, "fused[unknown, \"f\":1:2, \"g\":3:4]", "");
    CHECK(at(l, "f", 1, 2));
    CHECK(at(place(a, "fused<\"meta\">[\"f\":1:2]", ""), "f", 1, 2));
    CHECK(at(place(a, "fused<#m>[#a]", "#a = loc(\"f\":7:2)\n#m = {x = 1 : i32}\n"), "f", 7, 2));
    CHECK(at(place(a, "#loc", "#loc = loc(#loc1)\n#loc1 = loc(#loc2)\n#loc2 = loc(\"f\":1:9)\n"),
             "f", 1, 9));
    pr_arena_free(a);
}

/* ---- scopes and unknown operations ----------------------------------------------------------- */
static void test_scopes(void)
{
    pr_arena *a = pr_arena_new(0, NULL);
    /* sibling regions reuse names; an inner name may be defined again after its region */
    pr_block *b =
        body_of(parse(a, in_function(a, "scf.if %c {\n%2 = arith.addi %n, %n : i32\n} else {\n"
                                        "%2 = arith.addi %n, %n : i32\n%3 = arith.addi %2, %n : "
                                        "i32\n}\n%2 = arith.constant 3 : i32\n"
                                        "%4 = arith.addi %2, %n : i32")));
    CHECK(b && b->ops[2]->operands[0]->def == b->ops[1]);
    CHECK(b
          && b->ops[0]->regions[1]->blocks[0]->ops[1]->operands[0]->def
                 == b->ops[0]->regions[1]->blocks[0]->ops[0]);
    /* a use may precede its definition in the text when a block in between dominates it */
    pr_ir *ir = parse(a, "tt.func @k(%n: i32, %q: i1) {\ncf.br ^b\n^a:\nscf.if %q {\n%u = "
                         "arith.addi %v#0, %n : i32\n}\ntt.return\n^b:\n"
                         "%v = arith.constant 1 : i32\ncf.br ^a\n}\n");
    CHECK(ir);
    /* functions are isolated: both may use one name, also of the other's */
    CHECK(parse(a, "tt.func @k(%n: i32) {\n%a = arith.constant 1 : i32\ntt.return\n}\n"
                   "tt.func @j(%n: i32) {\n%a = arith.constant 1 : i32\ntt.return\n}\n"));
    b = body_of(parse(
        a, in_function(a, "%c-1_i32 = arith.constant -1 : i32\n%0 = arith.addi %c-1_i32, %n : i32\n"
                          "%a:2, %b = \"x.y\"(%0) : (i32) -> (i32, f32, i64)\n%e = arith.addi %a, "
                          "%n : i32\n%g = arith.negf %a#1 : f32\n"
                          "%h = arith.addi %b, %l : i64\n\"x.z\"() : () -> (i32, i32)")));
    CHECK(b && is(b->ops[0]->results[0]->name, "c-1_i32"));
    CHECK(b && b->ops[4]->operands[0] == b->ops[2]->results[1]
          && b->ops[5]->operands[0] == b->ops[2]->results[2]);
    CHECK(b && b->ops[6]->n_results == 2 && b->ops[6]->results[0]->name.n == 0);
    pr_arena_free(a);
}

static void test_unknown(void)
{
    pr_arena *a = pr_arena_new(0, NULL);
    pr_op *op = first_op(a, "%a = ttg.other_layout %t {x = 1 : i32} : tensor<4xi32> -> "
                            "tensor<4xi32, #b.c<{d = \"}\"}>>");
    CHECK(op && op->is_unknown_form && op->n_operands == 1 && op->n_results == 1
          && num(op, "x") == 1);
    CHECK(op && type_is(a, op->results[0]->type, "tensor<4xi32, #b.c<{d = \"}\"}>>"));
    op = first_op(a, "foo.bar %n {x = 1 : i32, y = 2 : i32} with {y = 3 : i32, z = 4 : i32}");
    CHECK(op && op->n_attrs == 3 && num(op, "y") == 2 && num(op, "z") == 4); /* a name once, as in generic text */
    op = first_op(a, "%a:2 = foo.bar %n, [%l] (%c) <mode = 3, x> : i32, i64");
    CHECK(op && op->n_operands == 3 && op->n_results == 2 && op->results[1]->type->bits == 64);
    op = first_op(a, "%a = foo.bar %n something odd / here\n%b = arith.addi %a, %n : i32");
    CHECK(op && op->n_results == 1); /* its type became known by its use */
    CHECK(op && type_is(a, op->results[0]->type, "i32"));
    op = first_op(a, "%a = foo.bar %n\n%b = foo.bar %a");
    CHECK(op && !op->results[0]->type);
    op = first_op(a, "foo.loop %q = %n to %n {\n  %b = arith.addi %n, %n : i32\n} loc(\"f\":1:2)");
    CHECK(op && op->n_regions == 1 && op->regions[0]->blocks[0]->n_args == 1 && op->loc->line == 1);
    op = first_op(a, "foo.loop(%n : i32)\n  attributes {z}\n{\n^bb0(%u: i32):\n  foo.end\n}");
    CHECK(op && op->n_regions == 1 && op->regions[0]->blocks[0]->n_args == 1
          && pr_op_attr(op, "z"));
    op = first_op(a, "foo.part(%new: i32) num(4) {\n  %b = arith.addi %new, %n : i32\n}");
    CHECK(op && op->n_operands == 0 && op->regions[0]->blocks[0]->n_args == 1);
    op = first_op(a, "%r = \"foo.gen\"(%n, %l)[^e]<{p = 1 : i32}> ({\n^bb0(%u: i32):\n\"foo.t\"() "
                     ": () -> ()\n}, {\n}) {q = 2 : i32} : "
                     "(i32, i64) -> f32\n^e:");
    CHECK(op && op->n_regions == 2 && op->regions[1]->n_blocks == 0 && op->n_succ == 1
          && op->n_props == 1);
    CHECK(op && num(op, "p") == 1 && num(op, "q") == 2 && !op->is_unknown_form);
    op = first_op(
        a,
        "ttg.warp_specialize(%n) attributes {w = 1 : i32}\ndefault {\n  ttg.warp_yield\n}\n"
        "partition0(%n: i32) num_warps(4) {\n  %b = arith.addi %n, %n : i32\n  ttg.warp_return\n}\n"
        "partition1(%z: i32) num_warps(2) {\n  ttg.warp_return\n} : (i32) -> ()");
    CHECK(op && op->opcode == PR_OP_TTG_WARP_SPECIALIZE && op->n_regions == 3
          && op->n_operands == 1);
    CHECK(op && pr_op_attr(op, "partitionNumWarps")->ints[1] == 2);
    op = first_op(
        a,
        "tt.experimental_tensormap_create %p, %p, [%n], [%n] {e = 1 : i32} : (!tt.ptr<f32>) -> ()");
    CHECK(op && op->opcode == PR_OP_TT_EXPERIMENTAL_TENSORMAP_CREATE && op->is_unknown_form
          && op->n_operands == 4);
    pr_arena_free(a);
}

/* ---- dominance ------------------------------------------------------------------------------- */
/* Compares with the definition: a dominates b iff b cannot be reached when a is removed. */
static void test_dominance(void)
{
    unsigned seed = 1;
    for (int round = 0; round < 300; round++) {
        pr_arena *arena = pr_arena_new(0, NULL);
        enum { N = 9 };
        int n = 2 + round % (N - 1);
        pr_block blocks[N];
        pr_block *list[N];
        pr_op ops[N], *last[N];
        pr_successor succ[N][2];
        pr_region region = { .blocks = list, .n_blocks = n };
        for (int i = 0; i < n; i++) {
            list[i] = &blocks[i];
            last[i] = &ops[i];
            seed = seed * 1103515245u + 12345u;
            ops[i] = (pr_op){ .succ = succ[i], .n_succ = (int)(seed >> 16) % 3 };
            for (int k = 0; k < ops[i].n_succ; k++) {
                seed = seed * 1103515245u + 12345u;
                succ[i][k] = (pr_successor){ .block = &blocks[(seed >> 16) % (unsigned)n] };
            }
            blocks[i] = (pr_block){ .ops = &last[i], .n_ops = 1, .index = i };
        }
        pr_doms *d = pr_doms_new(arena, &region);
        for (int removed = -1; removed < n; removed++) {
            bool seen[N] = { false };
            seen[0] = removed != 0;
            for (int pass = 0; pass < n; pass++)
                for (int i = 0; i < n; i++)
                    for (int k = 0; seen[i] && k < ops[i].n_succ; k++)
                        if (succ[i][k].block->index != removed)
                            seen[succ[i][k].block->index] = true;
            static bool reachable[N];
            if (removed < 0) memcpy(reachable, seen, sizeof seen);
            for (int b = 0; removed >= 0 && b < n; b++)
                CHECK(pr_doms_has(d, removed, b)
                      == (!reachable[b] || (reachable[removed] && !seen[b])));
        }
        pr_arena_free(arena);
    }
}

/* ---- equality, real texts -------------------------------------------------------------------- */
static void test_equality(void)
{
    static const char *const texts[] = {
        "tt.func @k(%n: i32) {\n%a = arith.addi %n, %n : i32\ntt.return\n}\n",
        "tt.func @k(%n: i32) {\n%a = arith.subi %n, %n : i32\ntt.return\n}\n",
        "tt.func @k(%n: i64) {\n%a = arith.addi %n, %n : i64\ntt.return\n}\n",
        "tt.func @k(%n: i32) {\n%b = arith.addi %n, %n : i32\ntt.return\n}\n",
        "tt.func @k(%n: i32) {\n%a = arith.addi %n, %n {x} : i32\ntt.return\n}\n",
        "tt.func @k(%n: i32) {\n%a = arith.addi %n, %n : i32 loc(\"f\":1:1)\ntt.return\n}\n",
        "tt.func @k(%n: i32 {x}) {\n%a = arith.addi %n, %n : i32\ntt.return\n}\n",
        "tt.func @k(%n: i32, %m: i32) {\n%a = arith.addi %n, %m : i32\ntt.return\n}\n",
        "tt.func @k(%n: i32, %m: i32) {\n%a = arith.addi %m, %n : i32\ntt.return\n}\n",
    };
    pr_arena *a = pr_arena_new(0, NULL);
    pr_ir *ir[PR_LEN(texts)];
    for (size_t i = 0; i < PR_LEN(texts); i++) ir[i] = parse(a, texts[i]);
    for (size_t i = 0; i < PR_LEN(texts); i++)
        for (size_t k = 0; k < PR_LEN(texts); k++)
            CHECK(ir[i] && ir[k] && pr_ir_equal(ir[i], ir[k]) == (i == k));
    pr_arena_free(a);
}

static void test_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    CHECK(f);
    if (!f) return;
    static char text[1 << 18];
    size_t n = fread(text, 1, sizeof text, f);
    fclose(f);
    pr_arena *a = pr_arena_new(0, NULL);
    pr_error e;
    pr_ir *ir = read_text(a, text, n, NULL, &e);
    if (!ir) fprintf(stderr, "%s:%d:%d: %s\n", path, e.line, e.col, e.message);
    CHECK(ir);
    const char *why;
    if (ir) CHECK(survives_printing(a, ir) && pr_ir_kernel(ir, (pr_str){ 0 }, &why));
    pr_arena_free(a);
}

int main(int argc, char **argv)
{
    test_table();
    test_accepted();
    test_memory_normal_form();
    test_control_normal_form();
    test_functions();
    test_types();
    test_attributes();
    test_constants();
    test_locations();
    test_scopes();
    test_unknown();
    test_dominance();
    test_equality();
    CHECK(argc > 1);
    for (int i = 1; i < argc; i++) test_file(argv[i]);
    return check_done();
}
