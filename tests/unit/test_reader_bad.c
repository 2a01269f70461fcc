/* Tests the reader on what it must refuse: malformed text with exact positions, what the verifier
 * rejects, limits, and, on the texts in data/, truncation at every byte and seeded mutation. A
 * text is read or refused with a position inside it; what is read survives printing. */
#include <time.h>
#include "reader.h"

/* ---- malformed text -------------------------------------------------------------------------- */
static void test_positions(void)
{
    FAILS("", 1, 1, "expected module or function, got end of input");
    FAILS("module {", 1, 9, "expected operation or '}', got end of input");
    FAILS("module {\n} }", 2, 3, "expected end of input after module, got '}'");
    FAILS("module {\n  \x01\n}", 2, 3, "expected operation or '}'");
    FAILS("module {\n  %a = \n}", 3, 1, "expected operation name, got '}'");
    FAILS("module {\n  \"a.b\" 5\n}", 2, 9, "expected '(' before operand list, got '5'");
    FAILS("module {\n  \"a.b\"(%q -> i32\n}", 2, 12, "expected ')' after operand list, got '->'");
    FAILS("module {\n  \"a.b\"() : ()\n}", 3, 1, "expected '->'");
    FAILS("module {\n  \"a.b\"() : (i32) -> ()\n}", 2, 8, "0 operands but 1 operand types");
    FAILS("module {\n  \"abc\n}", 2, 3, "string without closing quote");
    FAILS("module attributes {a = \"\\q\"} {\n}", 1, 25, "unknown escape");
    FAILS("module attributes {a = \"\\4\"} {\n}", 1, 25, "unknown escape");
    FAILS("module attributes {a, a} {\n}", 1, 19, "'a' is given twice");
    FAILS("module attributes {a = } {\n}", 1, 24, "expected attribute, got '}'");
    FAILS("module attributes {a = -x} {\n}", 1, 25, "expected number after '-'");
    FAILS("module attributes {a = 1.0 : i32} {\n}", 1, 24, "floating-point value");
    FAILS("module attributes {a = [1, 2} {\n}", 1, 29, "expected ']' after array elements");
    FAILS("module attributes {a = #x.y<(]>} {\n}", 1, 30, "expected ')', got ']'");
    FAILS("module attributes {a = #x.y<} {\n}", 1, 29, "expected '>' after bracketed text");
    FAILS("module attributes {a = #x} {\n}", 1, 24, "'#x' is not defined");
    FAILS("module attributes {a = !x} {\n}", 1, 24, "'!x' is not defined");
    FAILS("module attributes {a = tensor<4xi32, #x>} {\n}", 1, 38, "'#x' is not defined");
    FAILS("module attributes {a = tensor<4i32>} {\n}", 1, 32,
          "expected 'x' after tensor dimension");
    FAILS("module attributes {a = tensor<4xtensor<4xi32>>} {\n}", 1, 33,
          "invalid tensor element type");
    FAILS("module attributes {a = tensor<4xi32, >} {\n}", 1, 38, "expected encoding");
    FAILS("module attributes {a = tensor<4xi0>} {\n}", 1, 33, "expected type, got 'i0'");
    FAILS("module attributes {a = !tt.ptr<i32, x>} {\n}", 1, 37, "expected address space");
    FAILS("module attributes {a = !tt.ptr<i32, 99999999999>} {\n}", 1, 37,
          "address space is too large");
    FAILS("module attributes {a = !tt.tensordesc<?xi32>} {\n}", 1, 39,
          "expected static descriptor dimension");
    FAILS("module attributes {a = dense<[1, 2]> : tensor<3xi32>} {\n}", 1, 30,
          "shape of the dense constant");
    FAILS("module attributes {a = dense<[[1], [2, 3]]> : tensor<2x1xi32>} {\n}", 1, 36,
          "not rectangular");
    FAILS("module attributes {a = dense<[1, [2]]> : tensor<2xi32>} {\n}", 1, 35, "not rectangular");
    FAILS("module attributes {a = dense<1.5> : tensor<2xi32>} {\n}", 1, 30,
          "do not match the element type");
    FAILS("module attributes {a = dense<true> : tensor<2xi32>} {\n}", 1, 30,
          "do not match the element type");
    FAILS("module attributes {a = dense<> : tensor<2xi32>} {\n}", 1, 30, "no elements");
    FAILS("module attributes {a = dense<\"0x010203\"> : tensor<2xi32>} {\n}", 1, 30,
          "has 3 bytes, not 4");
    FAILS("module attributes {a = dense<\"zz\"> : tensor<2xi32>} {\n}", 1, 30,
          "malformed hexadecimal");
    FAILS("module attributes {a = array<i32: 1.5>} {\n}", 1, 35, "expected array element");
    FAILS("#a = #a\nmodule {\n}", 1, 6, "'#a' refers to itself");
    FAILS("module {\n} loc(#a)\n#a = loc(#b)\n#b = loc(callsite(#a at unknown))", 4, 19,
          "'#a' refers to itself");
    FAILS("#a = 1\n#a = 2\nmodule {\n}", 2, 4, "'#a' defined twice");
    FAILS("module {\n} loc(#a)", 2, 7, "location alias '#a' is not defined");
    FAILS("module {\n} loc(#a)\n#b = loc(unknown)\n", 2, 7, "location alias '#a' is not defined up to the end of the text; is it cut off?");
    FAILS("module {\n  tt.func @f() {\n    foo.bar loc(#a)\n    foo.", 4, 9, "the text ends inside function '@f' (it is cut off: location alias '#a' of line 3 is not");
    FAILS("module {\n  tt.func @f(%a: i32 loc(#a)) attributes {", 2, 43, "the text ends inside function '@f'");
    FAILS("module {\n  tt.func @f() {\n    tt.return\n", 4, 1, "expected operation or '}', got end of input: the text ends inside function '@f'");
    FAILS("module {\n  tt.func @f() {\n    tt.return\n  }\n  foo.bar loc(#a)\n", 5, 15, "location alias '#a' is not defined");
    FAILS("#a = 1\nmodule {\n} loc(#a)", 3, 7, "'#a' is no location");
    FAILS("module {\n} loc(\"f\":1:)", 2, 13, "expected column number");
    FAILS("module {\n} loc(callsite(unknown to unknown))", 2, 24, "expected 'at', got 'to'");
    FAILS("module {\n} loc(fused[unknown)", 2, 20, "expected ']' after fused locations");
    FAILS("module {\n} loc(what)", 2, 7, "expected location, got 'what'");
    FAILS("!t = i32 x]\nmodule {\n}", 1, 11, "expected operation or '}', got ']'");
    FAILS("module {\n  foo.bar (\n}", 3, 1, "expected ')', got '}'");
    FAILS("module {\n  foo.bar {a = [}\n}", 2, 17, "expected attribute");
    FAILS("module {\n  %a:0 = foo.bar\n}", 2, 3, "result count must be positive");
    FAILS("module {\n  %a:2147483647, %b = foo.bar\n}", 2, 18, "too many results");
    FAILS("module {\n  %a:3 = arith.constant 1 : i32\n}", 2, 3, "has 1 results but 3 are named");
    FAILS("tt.func @k(%a: i32, %a: i32) {\ntt.return\n}", 1, 21,
          "'%a' defined twice, first at line 1");
    FAILS("tt.func @k(i32) {\ntt.return\n}", 1, 17, "no body");
    FAILS("tt.func @k(%a: i32) attributes 5 {\ntt.return\n}", 1, 32, "'{' after 'attributes'");
}

static void test_bodies(void)
{
    BODY_FAILS("%a = arith.addi %n, %q : i32", 1, 21, "use of undefined value '%q'");
    BODY_FAILS("%a = arith.addi %n, %n#1 : i32", 1, 21, "result number 1 does not exist");
    BODY_FAILS("%a = arith.addi %n, %l : i32", 1, 21, "'%l' has type i64, used as i32");
    BODY_FAILS("%a = arith.addi %n %n : i32", 1, 20, "expected ',' between operands, got '%n'");
    BODY_FAILS("%a = arith.addi %n, %n", 2, 5, "expected ':' before operand type, got 'tt.return'");
    BODY_FAILS("%n = arith.addi %n, %n : i32", 1, 1, "'%n' defined twice");
    BODY_FAILS("%a = arith.addi %b, %n : i32\n%b = arith.constant 1 : i32", 1, 6,
               "used before its definition");
    BODY_FAILS("scf.if %c {\n%a = arith.constant 1 : i32\n}\n%b = arith.addi %a, %n : i32", 4, 17,
               "undefined value '%a'");
    BODY_FAILS("%a = arith.constant i32", 1, 21, "constant without a type");
    BODY_FAILS("%a = arith.constant @f", 1, 21, "constant without a type");
    BODY_FAILS("%a = arith.extsi %n : i32 -> i64", 1, 27, "expected 'to', got '->'");
    BODY_FAILS("%a = arith.extsi %l : i64 to i32", 1, 6, "must be wider");
    BODY_FAILS("%a = arith.trunci %n : i32 to i64", 1, 6, "must be narrower");
    BODY_FAILS("%a = arith.addi %f, %f : tensor<4xf32>", 1, 6, "must be integers");
    BODY_FAILS("%a = \"arith.addi\"(%n) : (i32) -> i32", 1, 6, "needs 2 operands, has 1");
    BODY_FAILS("%a = \"arith.addi\"(%n, %n, %n) : (i32, i32, i32) -> i32", 1, 6,
               "takes 2 operands, has 3");
    BODY_FAILS("%a = \"arith.cmpi\"(%n, %n) <{predicate = 10 : i64}> : (i32, i32) -> i1", 1, 6,
               "bad comparison predicate");
    BODY_FAILS("%a = \"arith.cmpi\"(%n, %n) : (i32, i32) -> i1", 1, 6, "bad comparison predicate");
    BODY_FAILS("%a = \"arith.constant\"() <{value = 1 : i64}> : () -> i32", 1, 6,
               "value and result types differ");
    BODY_FAILS("%a = tt.load %n : i32", 1, 19, "expected pointer type");
    BODY_FAILS("%a = tt.load : !tt.ptr<f32>", 1, 14, "expected value name, got ':'");
    BODY_FAILS("%a = tt.load %p, : !tt.ptr<f32>", 1, 16, "expected ':' after operand list");
    BODY_FAILS("%a = tt.load %p cache = ca : !tt.ptr<f32>", 1, 23, "unknown keyword 'cache'");
    BODY_FAILS("%a = tt.load %tp, %c : tensor<4x!tt.ptr<f32>>", 1, 6,
               "mask and pointer shapes differ");
    BODY_FAILS("%a = \"tt.load\"(%p) : (!tt.ptr<f32>) -> f32", 1, 6, "operandSegmentSizes");
    BODY_FAILS("%a = \"tt.load\"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : "
               "(!tt.ptr<f32>) -> i32",
               1, 6, "result type does not match the pointer");
    BODY_FAILS("tt.store %p, %n : !tt.ptr<f32>", 1, 14, "'%n' has type i32, used as f32");
    BODY_FAILS("tt.store %p : !tt.ptr<f32>", 1, 13, "expected ',' between operands");
    BODY_FAILS("tt.store %tp, %f, %m, %m : tensor<4x!tt.ptr<f32>>", 1, 21, "expected ':'");
    BODY_FAILS("\"tt.store\"(%tp, %t) : (tensor<4x!tt.ptr<f32>>, tensor<4xi32>) -> ()", 1, 1,
               "value type does not match");
    BODY_FAILS("%a = tt.atomic_rmw add, %tp, %f : (tensor<4x!tt.ptr<f32>>, tensor<4xf32>) -> "
               "tensor<4xf32>",
               1, 25, "expected memory semantics");
    BODY_FAILS("%a = tt.atomic_cas acquire, gpu, %tp, %f : (tensor<4x!tt.ptr<f32>>, tensor<4xf32>) "
               "-> tensor<4xf32>",
               1, 42, "expected ',' between operands");
    BODY_FAILS("%a = tt.atomic_rmw fadd, acquire, gpu, %tp, %f : (tensor<4x!tt.ptr<f32>>) -> "
               "tensor<4xf32>",
               1, 50, "2 operands but 1 operand types");
    BODY_FAILS("%a = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<32xi32>", 1, 6,
               "differs from the result's length");
    BODY_FAILS("%a = tt.make_range {end = 64 : i32} : tensor<64xi32>", 1, 6,
               "start and end must be integers");
    BODY_FAILS("%a = tt.splat %n : i32 -> tensor<4xi64>", 1, 6, "element type");
    BODY_FAILS("%a = tt.expand_dims %t {axis = 2 : i32} : tensor<4xi32> -> tensor<4x1xi32>", 1, 6,
               "bad axis");
    BODY_FAILS("%a = tt.broadcast %t : tensor<4xi32> -> tensor<8xi32>", 1, 6, "extent 1");
    BODY_FAILS("%a = tt.reshape %t : tensor<4xi32> -> tensor<3xi32>", 1, 6,
               "element counts differ");
    BODY_FAILS("%a = tt.trans %t {order = array<i32: 1>} : tensor<4xi32> -> tensor<4xi32>", 1, 6,
               "no permutation");
    BODY_FAILS("%a = tt.addptr %p, %t : !tt.ptr<f32>, tensor<4xi32>", 1, 6, "shapes differ");
    BODY_FAILS("%a = tt.addptr %p, %p : !tt.ptr<f32>, !tt.ptr<f32>", 1, 6,
               "offset must be an integer");
    BODY_FAILS("%a = tt.join %t, %t : tensor<4xi32> -> tensor<4x3xi32>", 1, 6, "bad result shape");
    BODY_FAILS("%a = tt.descriptor_load %d[%n] : !tt.tensordesc<4x8xf32> -> tensor<4x8xf32>", 1, 6,
               "one entry per dimension");
    BODY_FAILS("%a = tt.make_tensor_descriptor %p, [%n], [%l, %l] : <f32>, <4x8xf32>", 1, 6,
               "one entry per dimension");
    BODY_FAILS("%a = tt.call @none(%n) : (i32) -> i32", 1, 6, "undefined function '@none'");
    BODY_FAILS("tt.call @k(%n) : (i32) -> ()", 1, 1, "10 arguments");
    BODY_FAILS("tt.return %n : i32", 1, 1, "");
    BODY_FAILS("scf.yield", 1, 1, "terminator in the middle");
    BODY_FAILS("scf.for %i = %n to %n : i32 {\n}", 1, 23, "expected 'step'");
    BODY_FAILS("scf.for %i = %n to %n step %l : i32 {\n}", 1, 28, "'%l' has type i64, used as i32");
    BODY_FAILS("%r = scf.for %i = %n to %n step %n iter_args(%a = %n) -> (i32, i32) : i32 "
               "{\nscf.yield %a : i32\n}",
               1, 58, "1 carried values but 2 types");
    BODY_FAILS("%r = scf.for %i = %n to %n step %n iter_args(%a = %n) -> (i32) : i32 {\n}", 2, 1,
               "0 values for 1");
    BODY_FAILS("%r = scf.if %c -> (i32) {\nscf.yield %n : i32\n}", 1, 6, "no else region");
    BODY_FAILS("%r = scf.if %c -> (i32) {\nscf.yield %l : i64\n} else {\nscf.yield %n : i32\n}", 2,
               1, "type of value 0 differs");
    BODY_FAILS("scf.if %n {\n}", 1, 8, "'%n' has type i32, used as i1");
    BODY_FAILS("scf.if %c {\n^a:\ncf.br ^b\n^b:\nscf.yield\n}", 1, 1, "must have one block");
    BODY_FAILS("scf.while (%a = %n) : (i32) -> i32 {\nscf.condition(%c) %a : i32\n} do "
               "{\nscf.yield %n : i32\n}",
               1, 1, "body arguments");
    BODY_FAILS("scf.while : () -> () {\nscf.yield\n} do {\nscf.yield\n}", 1, 1,
               "must end with 'scf.condition'");
    BODY_FAILS("cf.br ^b\n^a:\ntt.return", 1, 7, "block '^b' is not defined");
    BODY_FAILS("cf.br ^a\n^a:\ncf.br ^a\n^a:", 4, 1, "'^a' is defined twice");
    BODY_FAILS("cf.br ^a(%n : i32)\n^a:", 1, 1, "passes 1 values to a block with 0");
    BODY_FAILS("cf.br ^a(%n : i32)\n^a(%u: i64):", 1, 1, "type of block argument 0 differs");
    BODY_FAILS("cf.cond_br %c, ^a\n^a:", 2, 1, "expected ',' before branch target");
    BODY_FAILS("cf.cond_br %c, ^a, ^b\n^a:\n%u = arith.constant 1 : i32\ncf.br ^b\n^b:\n%v = "
               "arith.addi %u, %n : i32",
               6, 6, "used before its definition");
    BODY_FAILS("cf.cond_br %n, ^a, ^a\n^a:", 1, 12, "used as i1");
    BODY_FAILS("cf.switch %n : i32, [\n42: ^a\n]\n^a:", 2, 1, "expected 'default'");
    BODY_FAILS("\"cf.cond_br\"(%c, %n)[^a, ^a] <{operandSegmentSizes = array<i32: 1, 0, 2>}> : "
               "(i1, i32) -> ()\n^a:",
               1, 1, "operandSegmentSizes");
    BODY_FAILS("%a = \"tt.reduce\"(%t) <{axis = 1 : i32}> ({\n^bb0(%u: i32, %v: "
               "i32):\ntt.reduce.return %u : i32\n}) : "
               "(tensor<4xi32>) -> i32",
               1, 6, "bad axis");
    BODY_FAILS("%a = \"tt.reduce\"(%t) <{axis = 0 : i32}> ({\n^bb0(%u: i32):\ntt.reduce.return %u "
               ": i32\n}) : "
               "(tensor<4xi32>) -> i32",
               1, 6, "must have 2 arguments");
    BODY_FAILS("%a = \"tt.reduce\"(%t) <{axis = 0 : i32}> ({\n^bb0(%u: i64, %v: "
               "i64):\ntt.reduce.return %u : i64\n}) : "
               "(tensor<4xi32>) -> i32",
               1, 6, "element types differ");
    BODY_FAILS("\"tt.store\"(%p, %q) ({\n}) : (!tt.ptr<f32>, f32) -> ()", 1, 16, "undefined value");
    BODY_FAILS("\"arith.addi\"(%n, %n) ({\n}) : (i32, i32) -> i32", 1, 1, "must have 0 regions");
    BODY_FAILS("ttg.barrier", 2, 5, "expected address space of the barrier");
    /* no operation disappears inside an unknown one */
    BODY_FAILS("%a = arith.foo %n tt.store %p, %n : !tt.ptr<f32>", 1, 19,
               "expected end of the operation, got 'tt.store'");
    BODY_FAILS("%a = arith.foo %n %b = \"tt.load\"(%p) : i32", 1, 24,
               "expected end of the operation");
    BODY_FAILS("%a = arith.foo %n < %n\ntt.store %p, %n : !tt.ptr<f32>\n%b = arith.foo %n > %n", 2,
               1, "expected '>'");
    BODY_FAILS("%a = arith.foo (%n\ntt.store %p, %n : !tt.ptr<f32>\n)", 2, 1,
               "expected end of the operation");
    BODY_FAILS("%a = arith.foo (%n\n%b = foo.load %p\n)", 2, 1, "expected closing bracket");
    BODY_FAILS("%a = tt.reduce %t", 1, 16, "generic form");
    BODY_FAILS("\"tt.load\"() {polyrace.unknown_form} : () -> ()", 1, 1, "needs 1 operands");
    BODY_FAILS("\"tt.reduce\"() {polyrace.unknown_form} : () -> ()", 1, 1, "needs 1 operands");
    FAILS("tt.func @k() {\n}", 1, 1, "no terminator");
    FAILS("tt.func @k() -> i32 {\ntt.return\n}", 2, 1, "returns 0 values, the function 1");
    FAILS("tt.func @k() {\ntt.return\n}\ntt.func @k() {\ntt.return\n}", 4, 1, "defined twice");
    FAILS("tt.func @k(%n: i32) {\nscf.yield\n}", 2, 1, "must end with 'tt.return'");
    FAILS("tt.func @k(%n: i32) {\ntt.return\n}\ntt.func @j() {\n%a = arith.addi %n, %n : "
          "i32\ntt.return\n}",
          5, 17, "undefined value '%n'");
    FAILS("tt.func @k(%n: i32) {\nfoo.bar {\n%a = tt.load %n\n}\ntt.return\n}", 4, 1,
          "expected ':'");
}

/* ---- limits ---------------------------------------------------------------------------------- */
static char *repeat(pr_arena *a, const char *head, const char *part, int n, const char *middle,
                    const char *close, const char *tail)
{
    pr_buf b;
    pr_buf_init(&b, a);
    pr_buf_puts(&b, head);
    for (int i = 0; i < n; i++) pr_buf_puts(&b, part);
    pr_buf_puts(&b, middle);
    for (int i = 0; i < n; i++) pr_buf_puts(&b, close);
    pr_buf_puts(&b, tail);
    return b.data;
}

static bool reads(pr_arena *a, const char *text, const pr_read_limits *l)
{
    pr_error e;
    bool ok = read_text(a, text, strlen(text), l, &e) != NULL;
    if (!ok) fprintf(stderr, "%d:%d: %s\n", e.line, e.col, e.message);
    return ok;
}

static void test_limits(void)
{
    pr_arena *a = pr_arena_new(0, NULL);
    pr_read_limits d, l;
    pr_read_limits_default(&d);
    CHECK(d.max_nesting == 200 && d.max_rank == 24 && d.max_loc_nesting == 128
          && d.max_bytes == (size_t)64 << 20);
    static const char *const head = "tt.func @k(%c: i1) {\n", *const tail = "tt.return\n}\n";
    l = d;
    l.max_nesting = 5;
    CHECK(reads(a, repeat(a, head, "scf.if %c {\n", 3, "", "}\n", tail), &l));
    FAILS_LIMIT(repeat(a, head, "scf.if %c {\n", 4, "", "}\n", tail), "regions nest deeper than 5",
                &l);
    CHECK(reads(a, repeat(a, "module attributes {a = ", "[", 4, "", "]", "} {\n}"), &l));
    FAILS_LIMIT(repeat(a, "module attributes {a = ", "[", 6, "", "]", "} {\n}"),
                "attributes and types nest deeper", &l);
    FAILS_LIMIT(repeat(a, "module attributes {a = ", "!tt.ptr<", 6, "i32", ">", "} {\n}"),
                "attributes and types", &l);
    l = d;
    l.max_rank = 2;
    CHECK(reads(a, "module attributes {a = tensor<1x2xi32>} {\n}", &l));
    FAILS_LIMIT("module attributes {a = tensor<1x2x3xi32>} {\n}", "rank exceeds 2", &l);
    FAILS_LIMIT("module attributes {a = tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xi32>} {\n}",
                "rank exceeds 24", &d);
    FAILS_LIMIT("module attributes {a = !tt.tensordesc<1x1x1x1x1x1x1x1x1xi32>} {\n}", "block rank exceeds 8", &d);
    FAILS_LIMIT("module attributes {a = !tt.tensordesc<tensor<1x1x1x1x1x1x1x1x1xi32>>} {\n}",
                "block rank exceeds 8", &d);
    FAILS_LIMIT("module attributes {a = !tt.ptr<tensor<1x1x1x1x1x1x1x1x1xi32>>} {\n}",
                "block rank exceeds 8", &d);
    FAILS_LIMIT("module attributes {a = tensor<99999999999999999999xi32>} {\n}",
                "does not fit 64 bits", &d);
    FAILS_LIMIT("module attributes {a = tensor<9999999999x9999999999xi32>} {\n}",
                "too many elements", &d);
    FAILS_LIMIT("module attributes {a = dense<[[[[[[[[[1]]]]]]]]]> : tensor<1xi32>} {\n}",
                "nests deeper than 8", &d);
    l = d;
    l.max_loc_nesting = 3;
    CHECK(reads(a, repeat(a, "module {\n} loc(", "\"n\"(", 2, "unknown", ")", ")"), &l));
    FAILS_LIMIT(repeat(a, "module {\n} loc(", "\"n\"(", 3, "unknown", ")", ")"),
                "locations nest deeper than 3", &l);
    FAILS_LIMIT("#a = loc(\"x\"(\"y\"(unknown)))\n#b = loc(\"z\"(#a))\nmodule {\n}",
                "nests too deep", &l);
    l = d;
    l.max_bytes = 11;
    CHECK(reads(a, "module {\n}", &l));
    FAILS_LIMIT("module {\n }\n", "text has 12 bytes, the limit is 11", &l);
    l = d;
    l.max_nesting = l.max_loc_nesting = 1 << 30; /* the C stack is safe all the same */
    static const struct { const char *head, *part, *middle, *close, *tail; } deep[] = {
        { "tt.func @k(%c: i1) {\n", "scf.if %c {\n", "", "}\n", "tt.return\n}\n" },
        { "module {\n", "\"a.b\"() ({\n", "", "}) : () -> ()\n", "}" },
        { "module {\n", "foo.bar {\n\"a.b\"() : () -> ()\n", "", "}\n", "}" },
        { "module attributes {a = ", "[", "", "]", "} {\n}" },
        { "module attributes {a = ", "{a = ", "1", "}", "} {\n}" },
        { "module attributes {a = ", "tensor<", "i1", ">", "} {\n}" },
        { "module attributes {a = ", "() -> (", "i1", ")", "} {\n}" },
        { "module attributes {a = ", "!tt.ptr<", "i1", ">", "} {\n}" },
        { "module {\n} loc(", "callsite(unknown at ", "unknown", ")", ")" },
        { "module {\n} loc(", "fused[", "unknown", "]", ")" },
        { "module {\n} loc(", "fused<[", "unknown", "]>[]", ")" },
    };
    for (size_t i = 0; i < PR_LEN(deep); i++)
        for (int k = 0; k < 2; k++) {
            char *text = repeat(a, deep[i].head, deep[i].part, 10000, deep[i].middle, deep[i].close,
                                deep[i].tail);
            pr_error e;
            CHECK(!read_text(a, text, strlen(text), k ? &l : NULL, &e));
            CHECK(e.kind == PR_ERR_LIMIT || e.kind == PR_ERR_INPUT);
            CHECK(e.line >= 1 && e.col >= 1);
        }
    /* raw text is not recursive */
    CHECK(
        reads(a, repeat(a, "module attributes {a = #x.y<", "(", 10000, "", ")", ">} {\n}"), NULL));
    pr_arena_free(a);
}

/* Aliases that double in size at every step must not be expanded. */
static void test_alias_bombs(void)
{
    static const char *const steps[] = { "#a%d = [#a%d, #a%d]\n", "#a%d = #x.y<#a%d, #a%d>\n",
                                         "#a%d = loc(callsite(#a%d at #a%d))\n",
                                         "#a%d = loc(fused[#a%d, #a%d])\n" };
    for (size_t s = 0; s < PR_LEN(steps); s++)
        for (int backwards = 0; backwards < 2; backwards++) {
            pr_arena *a = pr_arena_new((size_t)512 << 20, NULL);
            pr_buf b;
            pr_buf_init(&b, a);
            if (backwards)
                pr_buf_puts(&b, s < 2 ? "module attributes {q = #a60} {\n}\n"
                                      : "module {\n} loc(#a60)\n");
            pr_buf_puts(&b, s < 2 ? "#a0 = 1\n" : "#a0 = loc(\"f\":1:1)\n");
            for (int i = 0; i < 60; i++) {
                int k = backwards ? 59 - i : i;
                char line[128];
                snprintf(line, sizeof line, steps[s], k + 1, k, k);
                pr_buf_puts(&b, line);
            }
            if (!backwards) pr_buf_puts(&b, "module {\n}\n");
            FAILS_LIMIT(b.data, "aliases expand to more than", NULL);
            pr_arena_free(a);
        }
    pr_arena *a = pr_arena_new(0, NULL); /* helpers that call helpers, outermost first: no use counts twice */
    pr_buf calls;
    pr_buf_init(&calls, a);
    pr_buf_puts(&calls, "module {\n} loc(#a40)\n");
    for (int i = 40; i > 0; i--)
        pr_buf_printf(&calls, "#a%d = loc(callsite(#b at #a%d))\n", i, i - 1);
    pr_buf_puts(&calls, "#a0 = loc(\"f\":1:1)\n#b = loc(\"g\":2:2)\n");
    CHECK(reads(a, calls.data, NULL));
    pr_arena_free(a);
    a = pr_arena_new(0, NULL); /* a long chain is deep, whatever the order of reading */
    pr_buf b;
    pr_buf_init(&b, a);
    pr_buf_puts(&b, "#a0 = 1\n");
    for (int i = 0; i < 1000; i++) pr_buf_printf(&b, "#a%d = [#a%d]\n", i + 1, i);
    pr_buf_puts(&b, "module {\n}\n");
    FAILS_LIMIT(b.data, "nests too deep", NULL);
    pr_arena_free(a);
}

/* ---- cost ------------------------------------------------------------------------------------ */
static double seconds(const char *text, bool *ok)
{
    pr_arena *a = pr_arena_new(0, NULL);
    clock_t start = clock();
    pr_error e = { 0 };
    *ok = pr_ir_parse(a, text, strlen(text), "t", NULL, &e) != NULL || e.kind != PR_OK;
    double s = (double)(clock() - start) / CLOCKS_PER_SEC;
    pr_arena_free(a);
    return s;
}

static char *sized(pr_arena *a, int shape, int n)
{
    pr_buf b;
    pr_buf_init(&b, a);
    pr_buf_puts(&b, shape == 4 ? "module {\n" : "tt.func @k(%v: i32, %c: i1) {\n");
    if (shape == 2) pr_buf_puts(&b, "cf.br ^b0\n");
    for (int i = 0; i < n; i++) {
        switch (shape) {
        case 0: pr_buf_printf(&b, "%%a%d = arith.addi %%v, %%v : i32\n", i); break;
        case 1: pr_buf_puts(&b, "scf.if %c {\n%0 = arith.addi %v, %v : i32\n}\n"); break;
        case 2:
            pr_buf_printf(&b, "^b%d:\ncf.cond_br %%c, ^b%d, ^b%d\n", i, i + 1 < n ? i + 1 : i,
                          i / 2);
            break;
        case 3: pr_buf_printf(&b, "%%a%d = \"x.y\"(%%later) : (i32) -> i32\n", i); break;
        case 4:
            pr_buf_printf(&b, "tt.func private @f%d() {\ntt.call @f%d() : () -> ()\ntt.return\n}\n",
                          i, n - 1 - i);
            break;
        default: pr_buf_printf(&b, "%%a%d = foo.bar %%v : i32 loc(#l%d)\n", i, i); break;
        }
    }
    if (shape != 2 && shape != 4) pr_buf_puts(&b, "tt.return\n");
    pr_buf_puts(&b, "}\n");
    for (int i = 0; shape == 5 && i < n; i++) pr_buf_printf(&b, "#l%d = loc(\"f\":%d:1)\n", i, i);
    return b.data;
}

/* Ten times the text may take thirty times as long, not a hundred. */
static void test_linear(void)
{
    for (int shape = 0; shape < 6; shape++) {
        pr_arena *a = pr_arena_new(0, NULL);
        bool ok_small, ok_large;
        double small = 1e9, large = 1e9;
        for (int k = 0; k < 3; k++) {
            double s = seconds(sized(a, shape, 2000), &ok_small);
            if (s < small) small = s;
            s = seconds(sized(a, shape, 20000), &ok_large);
            if (s < large) large = s;
        }
        CHECK(ok_small && ok_large);
        if (large > 30 * (small + 0.002))
            fprintf(stderr, "shape %d: %g s, %g s\n", shape, small, large);
        CHECK(large <= 30 * (small + 0.002));
        pr_arena_free(a);
    }
}

/* ---- damaged real texts ---------------------------------------------------------------------- */
static unsigned long long state;

static unsigned rnd(unsigned n)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(state >> 33) % n;
}

/* Refused with a position inside the text, or read into a tree that survives printing. */
static bool sane(const char *text, size_t n, bool print)
{
    pr_arena *a = pr_arena_new(0, NULL);
    pr_error e;
    pr_ir *ir = read_text(a, text, n, NULL, &e);
    int lines = 1;
    for (size_t i = 0; i < n; i++) lines += text[i] == '\n';
    bool good;
    if (!ir)
        good = (e.kind == PR_ERR_INPUT || e.kind == PR_ERR_LIMIT) && e.line >= 1 && e.line <= lines
               && e.col >= 1 && e.message[0];
    else good = e.kind == PR_OK && (!print || survives_printing(a, ir));
    if (!good)
        fprintf(stderr, "%s %d:%d %s\n%.*s\n", ir ? "tree" : "error", e.line, e.col, e.message,
                (int)n, text);
    pr_arena_free(a);
    return good;
}

static void truncate_everywhere(const char *text, size_t n)
{
    size_t step = n < 6000 ? 1 : 23;
    for (size_t cut = 0; cut < n; cut += step) CHECK(sane(text, cut, false));
}

static const char *const pieces[] = {
    "(",         ")",          "{",
    "}",         "<",          ">",
    "[",         "]",          "->",
    "-",         ",",          ":",
    "=",         "%0",         "%x#3",
    "#loc",      "!t",         "^bb1",
    "@f",        "\"",         "\"s\"",
    "i32",       "tensor<4x",  "0x",
    "1",         "1.5",        "loc(",
    "module",    "tt.load",    "arith.addi",
    "scf.for",   "dense<",     "else",
    "do",        "//",         "\n",
    "\\",        "\xff",       "{-#",
    "#-}",       "attributes", "999999999999999999999999999999999999999999",
    "callsite(", "::",         "|"
};

/* Removes, repeats, swaps or inserts a few tokens; sometimes flips a byte. */
static void mutate(const char *text, size_t n)
{
    char *copy = malloc(2 * n + 4096);
    memcpy(copy, text, n);
    size_t m = n;
    for (unsigned edits = 1 + rnd(3); edits; edits--) {
        if (m < 2) break;
        size_t at = rnd((unsigned)m), len = 1 + rnd(12);
        if (at + len > m) len = m - at;
        const char *piece = pieces[rnd(PR_LEN(pieces))];
        size_t k = strlen(piece);
        switch (rnd(5)) {
        case 0:
            memmove(copy + at, copy + at + len, m - at - len);
            m -= len;
            break;
        case 1:
            memmove(copy + at + len, copy + at, m - at);
            m += len;
            break;
        case 2:
            memmove(copy + at + k, copy + at, m - at);
            memcpy(copy + at, piece, k);
            m += k;
            break;
        case 3: copy[at] = (char)rnd(256); break;
        default: {
            size_t other = rnd((unsigned)m);
            char c = copy[at];
            copy[at] = copy[other];
            copy[other] = c;
        }
        }
    }
    CHECK(sane(copy, m, true));
    free(copy);
}

int main(int argc, char **argv)
{
    test_positions();
    test_bodies();
    test_limits();
    test_alias_bombs();
    test_linear();
    CHECK(argc > 1);
    for (int i = 1; i < argc; i++) {
        static char text[1 << 18];
        FILE *f = fopen(argv[i], "rb");
        CHECK(f);
        if (!f) continue;
        size_t n = fread(text, 1, sizeof text, f);
        fclose(f);
        truncate_everywhere(text, n);
        state = (unsigned long long)i;
        for (int k = 0; k < 400; k++) mutate(text, n);
    }
    return check_done();
}
