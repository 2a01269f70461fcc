/* Does the concrete evaluator compute what the hardware would? Machine arithmetic at every width, lane
 * movements, control flow, accesses. Values are observed as addresses: `store (p + value)`. */

#include "interp_run.h"

/* ---- arithmetic ------------------------------------------------------------------------------ */
static pr_i128 low(pr_i128 v, int w) { return v & (((pr_i128)1 << w) - 1); }
static pr_i128 sgn(pr_i128 v, int w)
{
    v = low(v, w);
    return v >= ((pr_i128)1 << (w - 1)) ? v - ((pr_i128)1 << w) : v;
}
static pr_i128 floor_div(pr_i128 a, pr_i128 b)
{
    pr_i128 q = a / b;
    return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

/* The mathematical definition on unbounded integers, reduced to w bits; a and b are unsigned readings.
 * defined = false: undefined in the language, only the agreed machine value is compared. */
static pr_i128 reference(const char *op, int w, pr_i128 a, pr_i128 b, bool *defined)
{
    pr_i128 sa = sgn(a, w), sb = sgn(b, w), min = -((pr_i128)1 << (w - 1));
    *defined = true;
    if (!strcmp(op, "arith.addi")) return low(sa + sb, w);
    if (!strcmp(op, "arith.subi")) return low(sa - sb, w);
    if (!strcmp(op, "arith.muli")) return low(sa * sb, w);
    if (!strcmp(op, "arith.maxsi")) return low(sa > sb ? sa : sb, w);
    if (!strcmp(op, "arith.minsi")) return low(sa < sb ? sa : sb, w);
    if (!strcmp(op, "arith.maxui")) return a > b ? a : b;
    if (!strcmp(op, "arith.minui")) return a < b ? a : b;
    if (!strcmp(op, "tt.mulhiui")) return (pr_i128)((pr_u128)a * (pr_u128)b >> w);
    if (strstr(op, "andi") || strstr(op, "ori")) {
        pr_i128 r = 0;
        for (int i = 0; i < w; i++) {
            int x = (int)(a >> i & 1), y = (int)(b >> i & 1);
            int z = strstr(op, "andi") ? x && y : strstr(op, "xori") ? x != y : x || y;
            r += (pr_i128)z << i;
        }
        return r;
    }
    if (strstr(op, "sh")) {
        *defined = b < w;
        if (!strcmp(op, "arith.shli")) return *defined ? low(a << (int)b, w) : 0;
        if (!strcmp(op, "arith.shrui")) return *defined ? a >> (int)b : 0;
        return low(floor_div(sa, (pr_i128)1 << (*defined ? (int)b : w)), w);
    }
    bool is_unsigned = op[strlen(op) - 2] == 'u';
    if (b == 0) {
        *defined = false;
        return strstr(op, "rem") ? a : 0;
    }
    if (!strcmp(op, "arith.ceildivui")) return low((a + b - 1) / b, w);
    if (is_unsigned) return strstr(op, "rem") ? a % b : a / b;
    if (sa == min && sb == -1) *defined = false;
    if (!strcmp(op, "arith.floordivsi")) return low(floor_div(sa, sb), w);
    if (!strcmp(op, "arith.ceildivsi")) return low(-floor_div(-sa, sb), w);
    return low(strstr(op, "rem") ? sa % sb : sa / sb, w);
}

static int operands_of(int w, pr_i128 *v)
{
    pr_i128 top = (pr_i128)1 << w, half = top >> 1;
    const pr_i128 pick[] = {0, 1, 2, 3, 5, 7, half - 1, half, half + 1, top - 1, top - 2, top - 3, top - 7,
                            half / 3, w - 1, w, w + 1, 100};
    int n = 0;
    for (size_t i = 0; i < PR_LEN(pick); i++) {
        pr_i128 x = low(pick[i], w);
        bool seen = false;
        for (int k = 0; k < n; k++) seen |= v[k] == x;
        if (!seen) v[n++] = x;
    }
    return n;
}

/* Widening to the 64 bits of an address. */
static const char *widen(pr_arena *a, int w, const char *tile, const char *from, const char *to)
{
    const char *open = *tile ? pr_arena_printf(a, "tensor<%sx", tile) : "", *close = *tile ? ">" : "";
    if (w == 64)
        return pr_arena_printf(a, "    %s = arith.bitcast %s : %si64%s to %si64%s\n", to, from, open, close, open, close);
    return pr_arena_printf(a, "    %s = arith.extui %s : %si%d%s to %si64%s\n", to, from, open, w, close, open, close);
}

static void binary(const char *op, int w)
{
    pr_arena *a = pr_arena_new(0, NULL);
    pr_i128 v[32];
    int n = operands_of(w, v);
    program_text p = {.arena = a};
    p.text = pr_arena_printf(a, "tt.func public @k(%%p: !tt.ptr<i8>, %%x: i%d, %%y: i%d) {\n"
                                "    %%c = arith.constant 1 : i8\n    %%r = %s %%x, %%y : i%d\n%s"
                                "    %%q = tt.addptr %%p, %%w : !tt.ptr<i8>, i64\n"
                                "    tt.store %%q, %%c : !tt.ptr<i8>\n    tt.return\n  }\n",
                             w, w, op, w, widen(a, w, "", "%r", "%w"));
    load_program(&p);
    give_pointer(&p, 0, 0, 0, 0);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            bool defined;
            pr_i128 want = reference(op, w, v[i], v[k], &defined);
            give_int(&p, 1, sgn(v[i], w));
            give_int(&p, 2, v[k]); /* either reading must do */
            run_program(&p, 0, 0, 0);
            bool same = p.n == 1 && p.hit[0].known && p.hit[0].addr == (uint64_t)want;
            if (!same)
                fprintf(stderr, "%s i%d (%lld, %lld): got %llu, expected %llu\n", op, w, (long long)v[i],
                        (long long)v[k], p.n ? (unsigned long long)p.hit[0].addr : 0ull, (unsigned long long)want);
            CHECK(same);
            CHECK((pr_machine_ub(p.machine) == NULL) == defined);
        }
    /* the same on tiles written as dense constants */
    pr_buf xs, ys;
    pr_buf_init(&xs, a);
    pr_buf_init(&ys, a);
    for (int i = 0; i < n; i++) {
        pr_buf_puts(&xs, i ? ", " : "");
        pr_buf_puts(&ys, i ? ", " : "");
        pr_i128 y = v[(i * 7 + 3) % n];
        if (w == 1) {
            pr_buf_puts(&xs, v[i] ? "true" : "false");
            pr_buf_puts(&ys, y ? "true" : "false");
        } else {
            pr_buf_i128(&xs, sgn(v[i], w));
            pr_buf_i128(&ys, sgn(y, w));
        }
    }
    const char *tile = pr_arena_printf(a, "%d", n);
    program_text t = {.arena = a};
    t.text = pr_arena_printf(a, "tt.func public @k(%%p: !tt.ptr<i8>) {\n"
                                "    %%c = arith.constant dense<1> : tensor<%dxi8>\n"
                                "    %%x = arith.constant dense<[%s]> : tensor<%dxi%d>\n"
                                "    %%y = arith.constant dense<[%s]> : tensor<%dxi%d>\n"
                                "    %%r = %s %%x, %%y : tensor<%dxi%d>\n%s"
                                "    %%s = tt.splat %%p : !tt.ptr<i8> -> tensor<%dx!tt.ptr<i8>>\n"
                                "    %%q = tt.addptr %%s, %%w : tensor<%dx!tt.ptr<i8>>, tensor<%dxi64>\n"
                                "    tt.store %%q, %%c : tensor<%dx!tt.ptr<i8>>\n    tt.return\n  }\n",
                             n, xs.data, n, w, ys.data, n, w, op, n, w, widen(a, w, tile, "%r", "%w"), n, n, n, n);
    load_program(&t);
    give_pointer(&t, 0, 0, 0, 0);
    run_program(&t, 0, 0, 0);
    CHECK(t.n == n);
    for (int i = 0; i < t.n; i++) {
        bool defined;
        CHECK(t.hit[i].addr == (uint64_t)reference(op, w, v[i], v[(i * 7 + 3) % n], &defined));
    }
    pr_arena_free(a);
}

static void arithmetic(void)
{
    static const char *const op[] = {
        "arith.addi", "arith.subi", "arith.muli", "arith.divsi", "arith.remsi", "arith.divui", "arith.remui",
        "arith.ceildivsi", "arith.floordivsi", "arith.ceildivui", "arith.maxsi", "arith.minsi", "arith.maxui",
        "arith.minui", "arith.andi", "arith.ori", "arith.xori", "arith.shli", "arith.shrsi", "arith.shrui",
        "tt.mulhiui"};
    static const int width[] = {1, 8, 16, 32, 64};
    for (size_t i = 0; i < PR_LEN(op); i++)
        for (size_t k = 0; k < PR_LEN(width); k++) binary(op[i], width[k]);
}

static void comparisons(void)
{
    static const char *const name[] = {"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"};
    static const int width[] = {1, 8, 32, 64};
    for (int q = 0; q < 10; q++)
        for (size_t z = 0; z < PR_LEN(width); z++) {
            pr_arena *a = pr_arena_new(0, NULL);
            int w = width[z];
            pr_i128 v[32];
            int n = operands_of(w, v);
            program_text p = {.arena = a};
            p.text = pr_arena_printf(a, "tt.func public @k(%%p: !tt.ptr<i8>, %%x: i%d, %%y: i%d) {\n"
                                        "    %%c = arith.constant 1 : i8\n    %%r = arith.cmpi %s, %%x, %%y : i%d\n"
                                        "    tt.store %%p, %%c, %%r : !tt.ptr<i8>\n    tt.return\n  }\n",
                                     w, w, name[q], w);
            load_program(&p);
            give_pointer(&p, 0, 0, 0, 0);
            for (int i = 0; i < n; i++)
                for (int k = 0; k < n; k++) {
                    pr_i128 x = q >= 6 || q < 2 ? v[i] : sgn(v[i], w), y = q >= 6 || q < 2 ? v[k] : sgn(v[k], w);
                    bool want[] = {x == y, x != y, x < y, x <= y, x > y, x >= y, x < y, x <= y, x > y, x >= y};
                    give_int(&p, 1, v[i]);
                    give_int(&p, 2, v[k]);
                    run_program(&p, 0, 0, 0);
                    CHECK(p.n == want[q]);
                }
            pr_arena_free(a);
        }
}

/* One value computed by body from %x: iw (and %y: iw), widened by the body itself to %w: i64. */
static uint64_t value_of(int w, const char *body, pr_i128 x, pr_i128 y)
{
    pr_arena *a = pr_arena_new(0, NULL);
    program_text p = {.arena = a};
    p.text = pr_arena_printf(a, "tt.func public @k(%%p: !tt.ptr<i8>, %%x: i%d, %%y: i%d) {\n"
                                "    %%one = arith.constant 1 : i8\n%s\n"
                                "    %%q = tt.addptr %%p, %%w : !tt.ptr<i8>, i64\n"
                                "    tt.store %%q, %%one : !tt.ptr<i8>\n    tt.return\n  }\n", w, w, body);
    load_program(&p);
    give_pointer(&p, 0, 0, 0, 0);
    give_int(&p, 1, x);
    give_int(&p, 2, y);
    run_program(&p, 0, 0, 0);
    uint64_t r = p.n == 1 && p.hit[0].known ? p.hit[0].addr : 0xdeadbeefu;
    pr_arena_free(a);
    return r;
}

static void casts(void)
{
    CHECK(value_of(1, "%w = arith.extsi %x : i1 to i64", 1, 0) == (uint64_t)-1);
    CHECK(value_of(1, "%w = arith.extui %x : i1 to i64", 1, 0) == 1);
    CHECK(value_of(8, "%w = arith.extsi %x : i8 to i64", 200, 0) == (uint64_t)-56);
    CHECK(value_of(8, "%w = arith.extui %x : i8 to i64", -56, 0) == 200);
    CHECK(value_of(32, "%t = arith.trunci %x : i32 to i8\n %w = arith.extsi %t : i8 to i64", 0x1ff, 0) == (uint64_t)-1);
    CHECK(value_of(32, "%t = arith.trunci %x : i32 to i1\n %w = arith.extui %t : i1 to i64", 6, 0) == 0);
    CHECK(value_of(32, "%t = arith.index_cast %x : i32 to index\n %w = arith.index_cast %t : index to i64", -5, 0)
          == (uint64_t)-5);
    CHECK(value_of(32, "%t = arith.index_castui %x : i32 to index\n %w = arith.index_castui %t : index to i64", -5, 0)
          == 0xfffffffbu);
    CHECK(value_of(8, "%t = math.absi %x : i8\n %w = arith.extui %t : i8 to i64", -128, 0) == 128);
    CHECK(value_of(16, "%t = math.ctlz %x : i16\n %w = arith.extui %t : i16 to i64", 1, 0) == 15);
    CHECK(value_of(16, "%t = math.cttz %x : i16\n %w = arith.extui %t : i16 to i64", 8, 0) == 3);
    CHECK(value_of(16, "%t = math.ctpop %x : i16\n %w = arith.extui %t : i16 to i64", -1, 0) == 16);
    CHECK(value_of(64, "%l, %w = arith.mului_extended %x, %y : i64", -1, -1) == 0xfffffffffffffffeu);
    CHECK(value_of(64, "%l, %w = arith.mulsi_extended %x, %y : i64", -1, 5) == (uint64_t)-1);
    CHECK(value_of(64, "%l, %c = arith.addui_extended %x, %y : i64, i1\n %w = arith.extui %c : i1 to i64", -1, 1) == 1);
    /* a pointer made an integer and back keeps its address */
    CHECK(value_of(64, "%i = tt.ptr_to_int %p : !tt.ptr<i8> -> i64\n %j = arith.addi %i, %x : i64\n"
                       "%h = tt.int_to_ptr %j : i64 -> !tt.ptr<i8>\n tt.store %h, %one : !tt.ptr<i8>\n"
                       "%w = arith.subi %x, %x : i64", 40, 0) == 0xdeadbeefu); /* two accesses */
    /* an undefined other operand does not matter where one decides */
    CHECK(value_of(64, "%u = ub.poison : i64\n %z = arith.subi %x, %x : i64\n %w = arith.muli %u, %z : i64", 3, 0) == 0);
    CHECK(value_of(64, "%u = ub.poison : i64\n %w = arith.addi %u, %x : i64", 3, 0) == 0xdeadbeefu);
}

/* ---- lanes ----------------------------------------------------------------------------------- */
/* Body builds %o, a tile of i32 offsets of the given shape ("4x2"); the lanes are compared. */
static void lanes(const char *shape, const char *body, int n, const int *want, int at)
{
    pr_arena *a = pr_arena_new(0, NULL);
    program_text p = {.arena = a};
    p.text = pr_arena_printf(a, "tt.func public @k(%%p: !tt.ptr<f32>) {\n"
                                "    %%v = arith.constant dense<0.0> : tensor<%sxf32>\n%s\n"
                                "    %%s = tt.splat %%p : !tt.ptr<f32> -> tensor<%sx!tt.ptr<f32>>\n"
                                "    %%q = tt.addptr %%s, %%o : tensor<%sx!tt.ptr<f32>>, tensor<%sxi32>\n"
                                "    tt.store %%q, %%v : tensor<%sx!tt.ptr<f32>>\n    tt.return\n  }\n",
                             shape, body, shape, shape, shape, shape);
    load_program(&p);
    give_pointer(&p, 0, 4096, 0, 0);
    run_program(&p, 0, 0, 0);
    bool same = p.n == n;
    for (int i = 0; i < n && same; i++)
        same = p.hit[i].known && p.hit[i].addr == (uint64_t)(4096 + 4 * want[i]) && p.hit[i].width == 4 &&
               p.hit[i].base == 0 && p.hit[i].lane == i;
    check_count++;
    if (!same) {
        check_failures++;
        fprintf(stderr, "line %d: %d lanes:", at, p.n);
        for (int i = 0; i < p.n; i++) fprintf(stderr, " %lld", ((long long)p.hit[i].addr - 4096) / 4);
        fprintf(stderr, "\n");
    }
    pr_arena_free(a);
}
#define LANES(shape, body, ...)                                                               \
    lanes(shape, body, (int)PR_LEN(((int[]){__VA_ARGS__})), (int[]){__VA_ARGS__}, __LINE__)
#define RANGE(name, lo, hi, n)                                                                \
    "    " name " = tt.make_range {end = " hi " : i32, start = " lo " : i32} : tensor<" n "xi32>\n"
#define LIST(name, text, shape) "    " name " = arith.constant dense<" text "> : tensor<" shape "xi32>\n"

static void lane_movements(void)
{
    LANES("4", RANGE("%o", "3", "7", "4"), 3, 4, 5, 6);
    LANES("4", RANGE("%o", "-2", "2", "4"), -2, -1, 0, 1);
    LANES("4x2", RANGE("%r", "0", "4", "4") RANGE("%c", "10", "12", "2")
          "    %re = tt.expand_dims %r {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>\n"
          "    %ce = tt.expand_dims %c {axis = 0 : i32} : tensor<2xi32> -> tensor<1x2xi32>\n"
          "    %rb = tt.broadcast %re : tensor<4x1xi32> -> tensor<4x2xi32>\n"
          "    %cb = tt.broadcast %ce : tensor<1x2xi32> -> tensor<4x2xi32>\n"
          LIST("%k", "100", "4x2")
          "    %rm = arith.muli %rb, %k : tensor<4x2xi32>\n    %o = arith.addi %rm, %cb : tensor<4x2xi32>\n",
          10, 11, 110, 111, 210, 211, 310, 311);
    LANES("2x3", LIST("%o", "[[1, 2, 3], [4, 5, -6]]", "2x3"), 1, 2, 3, 4, 5, -6);
    LANES("3x2", LIST("%a", "[[1, 2, 3], [4, 5, 6]]", "2x3")
          "    %o = tt.trans %a {order = array<i32: 1, 0>} : tensor<2x3xi32> -> tensor<3x2xi32>\n", 1, 4, 2, 5, 3, 6);
    LANES("2x2x2", RANGE("%r", "0", "8", "8") "    %t = tt.reshape %r : tensor<8xi32> -> tensor<2x2x2xi32>\n"
          "    %o = tt.trans %t {order = array<i32: 2, 0, 1>} : tensor<2x2x2xi32> -> tensor<2x2x2xi32>\n",
          0, 2, 4, 6, 1, 3, 5, 7);
    LANES("4", LIST("%a", "[[7, 8], [9, 6]]", "2x2") "    %o = tt.reshape %a : tensor<2x2xi32> -> tensor<4xi32>\n",
          7, 8, 9, 6);
    LANES("3x2", RANGE("%a", "0", "3", "3") RANGE("%b", "10", "13", "3")
          "    %o = tt.join %a, %b : tensor<3xi32> -> tensor<3x2xi32>\n", 0, 10, 1, 11, 2, 12);
    LANES("3", LIST("%a", "[[1, 2], [3, 4], [5, 6]]", "3x2")
          "    %l, %o = tt.split %a : tensor<3x2xi32> -> tensor<3xi32>\n", 2, 4, 6);
    LANES("4", LIST("%a", "9", "2") LIST("%b", "9", "2")
          "    %o = tt.cat %a, %b : tensor<2xi32> -> tensor<4xi32>\n", 9, 9, 9, 9);
    LANES("2x2", LIST("%a", "[[1, 2], [3, 4]]", "2x2") LIST("%i", "[[1, 0], [1, 1]]", "2x2")
          "    %o = tt.gather %a[%i] {axis = 0 : i32} : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>\n",
          3, 2, 3, 4);
    LANES("2", LIST("%a", "[[1, 9, 3], [4, 5, 6]]", "2x3")
          "    %o = \"tt.reduce\"(%a) <{axis = 1 : i32}> ({\n    ^bb0(%x: i32, %y: i32):\n"
          "      %m = arith.maxsi %x, %y : i32\n      tt.reduce.return %m : i32\n"
          "    }) : (tensor<2x3xi32>) -> tensor<2xi32>\n", 9, 6);
    LANES("3", LIST("%a", "[[1, 9, 3], [4, 5, 6]]", "2x3")
          "    %o = \"tt.reduce\"(%a) <{axis = 0 : i32}> ({\n    ^bb0(%x: i32, %y: i32):\n"
          "      %m = arith.addi %x, %y : i32\n      tt.reduce.return %m : i32\n"
          "    }) : (tensor<2x3xi32>) -> tensor<3xi32>\n", 5, 14, 9);
    LANES("4", RANGE("%a", "1", "5", "4")
          "    %o = \"tt.scan\"(%a) <{axis = 0 : i32, reverse = false}> ({\n    ^bb0(%x: i32, %y: i32):\n"
          "      %m = arith.addi %x, %y : i32\n      tt.scan.return %m : i32\n"
          "    }) : (tensor<4xi32>) -> tensor<4xi32>\n", 1, 3, 6, 10);
    LANES("4", RANGE("%a", "1", "5", "4")
          "    %o = \"tt.scan\"(%a) <{axis = 0 : i32, reverse = true}> ({\n    ^bb0(%x: i32, %y: i32):\n"
          "      %m = arith.addi %x, %y : i32\n      tt.scan.return %m : i32\n"
          "    }) : (tensor<4xi32>) -> tensor<4xi32>\n", 10, 9, 7, 4);
    LANES("4", LIST("%a", "[0, 2, 2, 0, 1, 2]", "6")
          "    %o = tt.histogram %a : tensor<6xi32> -> tensor<4xi32>\n", 2, 1, 3, 0);
    LANES("2", LIST("%a", "[-1, 5]", "2") LIST("%b", "0", "2") LIST("%d", "77", "2")
          "    %m = arith.cmpi slt, %a, %b : tensor<2xi32>\n"
          "    %o = arith.select %m, %d, %a : tensor<2xi1>, tensor<2xi32>\n", 77, 5);
}

/* ---- control flow and accesses: the stores of program 0 as offsets from argument 0 ------------ */
#define FUNC "tt.func public @k(%p: !tt.ptr<i8>, %n: i32, %m: i32) {\n" \
             "    %c0 = arith.constant 0 : i32\n    %c1 = arith.constant 1 : i32\n" \
             "    %c2 = arith.constant 2 : i32\n    %c10 = arith.constant 10 : i32\n" \
             "    %b = arith.constant 1 : i8\n"
#define AT(name, offset) "    " name " = tt.addptr %p, " offset " : !tt.ptr<i8>, i32\n"
#define PUT(pointer) "    tt.store " pointer ", %b : !tt.ptr<i8>\n"
#define END "    tt.return\n  }\n"

static void flow(const char *text, int n, int m, int count, const int *want, int at)
{
    pr_arena *a = pr_arena_new(0, NULL);
    program_text p = {.arena = a, .text = text};
    load_program(&p);
    give_pointer(&p, 0, 1000, 0, 0);
    give_int(&p, 1, n);
    give_int(&p, 2, m);
    pr_interp_status s = run_program(&p, 0, 0, 0);
    bool same = p.n == count && s == PR_INTERP_DONE;
    for (int i = 0; i < count && same; i++)
        same = p.hit[i].known && p.hit[i].addr == (uint64_t)(1000 + want[i]) && p.hit[i].active == PR_YES;
    /* a probe of each of them finds the same byte */
    for (int i = 0; i < p.n && same; i++) {
        pr_interp_target t = {.op_id = p.hit[i].op->id, .calls = p.hit[i].calls, .n_calls = p.hit[i].n_calls,
                              .iter = p.hit[i].iter, .n_iter = p.hit[i].n_iter, .lane = NULL, .rank = 0};
        pr_probe q = pr_interp_probe(a, &p.setup, (int64_t[3]){0, 0, 0}, &t);
        same = q.available && q.executed == PR_YES && q.lane.active == PR_YES && q.lane.addr == p.hit[i].addr;
        if (t.n_iter) { /* and does not find an iteration that is not there */
            int64_t far[8] = {0};
            memcpy(far, t.iter, sizeof(int64_t) * (size_t)t.n_iter);
            far[0] += 1000;
            t.iter = far;
            q = pr_interp_probe(a, &p.setup, (int64_t[3]){0, 0, 0}, &t);
            same = same && q.available && q.executed == PR_NO;
        }
    }
    check_count++;
    if (!same) {
        check_failures++;
        fprintf(stderr, "line %d: status %d (%s), stores:", at, (int)s, pr_machine_why(p.machine));
        for (int i = 0; i < p.n; i++) fprintf(stderr, " %lld", (long long)p.hit[i].addr - 1000);
        fprintf(stderr, "\n");
    }
    pr_arena_free(a);
}
#define NOTHING 0, NULL, __LINE__
#define STORES(...) (int)PR_LEN(((int[]){__VA_ARGS__})), (int[]){__VA_ARGS__}, __LINE__

static void control_flow(void)
{
    const char *nest = FUNC "    scf.for %i = %c0 to %n step %c1  : i32 {\n"
                            "      scf.for %j = %i to %m step %c2  : i32 {\n"
                            "        %t = arith.muli %i, %c10 : i32\n        %o = arith.addi %t, %j : i32\n"
                            AT("%q", "%o") PUT("%q") "      }\n    }\n" END;
    flow(nest, 2, 4, STORES(0, 2, 11, 13));
    flow(nest, 0, 4, NOTHING);
    flow(nest, -3, 4, NOTHING);
    flow(nest, 3, 1, STORES(0));
    /* carried pointer, swapped carries, result used after the loop */
    flow(FUNC "    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %p, %y = %c1) -> (!tt.ptr<i8>, i32)  : i32 {\n"
         PUT("%x") "      %z = tt.addptr %x, %y : !tt.ptr<i8>, i32\n      %w = arith.addi %y, %c1 : i32\n"
         "      scf.yield %z, %w : !tt.ptr<i8>, i32\n    }\n" PUT("%r#0") AT("%q", "%r#1") PUT("%q") END,
         3, 0, STORES(0, 1, 3, 6, 4));
    flow(FUNC "    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c1, %y = %c10) -> (i32, i32)  : i32 {\n"
         AT("%q", "%x") PUT("%q") "      scf.yield %y, %x : i32, i32\n    }\n" AT("%e", "%r#1") PUT("%e") END,
         3, 0, STORES(1, 10, 1, 1));
    /* bounds compared without sign */
    flow(FUNC "    %h = arith.constant -2 : i32\n    %l = arith.constant -4 : i32\n"
         "    scf.for unsigned %i = %l to %h step %c1  : i32 {\n" AT("%q", "%i") PUT("%q") "    }\n" END,
         0, 0, STORES(-4, -3));
    flow(FUNC "    %h = arith.constant -2 : i32\n    scf.for unsigned %i = %c1 to %h step %n  : i32 {\n"
         AT("%q", "%i") PUT("%q") "    }\n" END, 2000000000, 0, STORES(1, 2000000001, 4000000001 - 4294967296));
    /* if with results, nested in a loop */
    flow(FUNC "    scf.for %i = %c0 to %n step %c1  : i32 {\n      %c = arith.cmpi slt, %i, %m : i32\n"
         "      %o = scf.if %c -> (i32) {\n        %u = arith.muli %i, %c10 : i32\n        scf.yield %u : i32\n"
         "      } else {\n        scf.yield %c1 : i32\n      }\n" AT("%q", "%o") PUT("%q")
         "      scf.if %c {\n" PUT("%p") "      }\n    }\n" END, 3, 2, STORES(0, 0, 10, 0, 1));
    /* counting while: the before-region forwards its arguments */
    flow(FUNC "    %r = scf.while (%i = %n) : (i32) -> i32 {\n      %c = arith.cmpi sgt, %i, %m : i32\n"
         "      scf.condition(%c) %i : i32\n    } do {\n    ^bb0(%j: i32):\n" AT("%q", "%j") PUT("%q")
         "      %k = arith.subi %j, %c2 : i32\n      scf.yield %k : i32\n    }\n" AT("%e", "%r") PUT("%e") END,
         7, 2, STORES(7, 5, 3, 1));
    /* early return; both destinations of a branch the same block */
    const char *early = FUNC "    %c = arith.cmpi slt, %n, %m : i32\n    cf.cond_br %c, ^bb1, ^bb2\n  ^bb1:\n    tt.return\n"
                        "  ^bb2:\n    %d = arith.cmpi eq, %n, %c10 : i32\n"
                        "    cf.cond_br %d, ^bb3(%c1 : i32), ^bb3(%n : i32)\n  ^bb3(%o: i32):\n"
                        AT("%q", "%o") PUT("%q") END;
    flow(early, 1, 2, NOTHING);
    flow(early, 5, 2, STORES(5));
    flow(early, 10, 2, STORES(1));
    /* switches */
    const char *sw = FUNC "    cf.switch %n : i32, [\n      default: ^bb1(%c1 : i32),\n      42: ^bb1(%c2 : i32),\n"
                     "      -3: ^bb2\n    ]\n  ^bb1(%o: i32):\n" AT("%q", "%o") PUT("%q") "    cf.br ^bb2\n  ^bb2:\n"
                     PUT("%p") END;
    flow(sw, 42, 0, STORES(2, 0));
    flow(sw, -3, 0, STORES(0));
    flow(sw, 7, 0, STORES(1, 0));
    /* calls: two call sites, several returns, names shared with the caller */
    const char *call = FUNC "    %x = tt.call @f(%p, %n) : (!tt.ptr<i8>, i32) -> i32\n"
                       "    %y = tt.call @f(%p, %x) : (!tt.ptr<i8>, i32) -> i32\n" AT("%q", "%y") PUT("%q") END
                       "tt.func private @f(%p: !tt.ptr<i8>, %n: i32) -> i32 attributes {noinline = true} {\n"
                       "    %b = arith.constant 1 : i8\n    %c5 = arith.constant 5 : i32\n" AT("%q", "%n") PUT("%q")
                       "    %c = arith.cmpi slt, %n, %c5 : i32\n    cf.cond_br %c, ^bb1, ^bb2\n"
                       "  ^bb1:\n    tt.return %c5 : i32\n  ^bb2:\n    %r = arith.addi %n, %c5 : i32\n"
                       "    tt.return %r : i32\n  }\n";
    flow(call, 3, 0, STORES(3, 5, 10));
    flow(call, 20, 0, STORES(20, 25, 30));
    flow(FUNC "    %x = scf.execute_region -> i32 {\n      %c = arith.cmpi slt, %n, %m : i32\n"
         "      cf.cond_br %c, ^bb1(%n : i32), ^bb1(%m : i32)\n    ^bb1(%v: i32):\n      scf.yield %v : i32\n    }\n"
         AT("%q", "%x") PUT("%q") END, 8, 3, STORES(3));
    flow(FUNC "    %i = arith.index_cast %n : i32 to index\n    %x = scf.index_switch %i -> i32\n"
         "    case 2 {\n      scf.yield %c10 : i32\n    }\n    case 5 {\n      scf.yield %c2 : i32\n    }\n"
         "    default {\n      scf.yield %c1 : i32\n    }\n" AT("%q", "%x") PUT("%q") END, 5, 0, STORES(2));
    flow(FUNC "    %i = arith.index_cast %n : i32 to index\n    %x = scf.index_switch %i -> i32\n"
         "    case 2 {\n      scf.yield %c10 : i32\n    }\n"
         "    default {\n      scf.yield %c1 : i32\n    }\n" AT("%q", "%x") PUT("%q") END, 9, 0, STORES(1));
    /* a merge of two pointers, and the mask of a scalar store */
    flow(FUNC "    %c = arith.cmpi slt, %n, %m : i32\n" AT("%u", "%n") AT("%v", "%m")
         "    %q = arith.select %c, %u, %v : !tt.ptr<i8>\n    tt.store %q, %b, %c : !tt.ptr<i8>\n" END, 4, 6, STORES(4));
}

/* ---- unknown values -------------------------------------------------------------------------- */
static void unknowns(void)
{
    pr_arena *a = pr_arena_new(0, NULL);
    program_text p = {.arena = a};
    p.text = FUNC "    %v = tt.load %p : !tt.ptr<i8>\n    %z = arith.constant 0 : i8\n"
             "    %c = arith.cmpi eq, %v, %z : i8\n    %o = scf.if %c -> (i32) {\n" PUT("%p")
             "      ttg.barrier all\n      scf.yield %n : i32\n    } else {\n      scf.yield %n : i32\n    }\n"
             AT("%q", "%o") PUT("%q") END;
    load_program(&p);
    give_pointer(&p, 0, 1000, 0, 0);
    give_int(&p, 1, 9);
    CHECK(run_program(&p, 0, 0, 0) == PR_INTERP_DONE);
    CHECK(p.n == 3);
    CHECK(p.n == 3 && p.hit[1].active == PR_MAYBE && p.hit[2].active == PR_YES);
    CHECK(p.n == 3 && p.hit[2].known && p.hit[2].addr == 1009); /* both arms agree */
    CHECK(p.n == 3 && p.hit[1].epoch.gen == 0 && p.hit[2].epoch.gen != 0);
    CHECK(p.n == 3 && p.hit[2].epoch.lo == 0 && p.hit[2].epoch.hi == 1);

    program_text l = {.arena = a};
    l.text = FUNC "    %v = tt.load %p : !tt.ptr<i8>\n    %w = arith.extui %v : i8 to i32\n"
             "    scf.for %i = %c0 to %w step %c1  : i32 {\n" AT("%q", "%i") PUT("%q") PUT("%p") "    }\n" END;
    load_program(&l);
    give_pointer(&l, 0, 1000, 0, 0);
    CHECK(run_program(&l, 0, 0, 0) == PR_INTERP_DONE);
    CHECK(l.n == 3 && !l.hit[1].known && l.hit[1].active == PR_MAYBE && l.hit[1].iter[0] == -1);
    CHECK(l.n == 3 && l.hit[2].known && l.hit[2].active == PR_MAYBE && l.hit[1].base == 0);
    /* a probe knows the iteration it is asked for */
    pr_interp_target t = {.op_id = l.hit[1].op->id, .iter = (int64_t[]){6}, .n_iter = 1};
    pr_probe q = pr_interp_probe(a, &l.setup, (int64_t[3]){0, 0, 0}, &t);
    CHECK(q.available && q.executed == PR_MAYBE && q.lane.addr_known && q.lane.addr == 1006);
    /* contents */
    static const pr_i128 three[] = {3};
    l.args[0].values = three;
    l.args[0].n_values = 1;
    l.args[0].elem_bytes = 1;
    CHECK(run_program(&l, 0, 0, 0) == PR_INTERP_DONE);
    CHECK(l.n == 7 && l.hit[5].known && l.hit[5].addr == 1002 && l.hit[5].active == PR_YES);
    CHECK(pr_machine_read_contents(l.machine, 0));

    program_text w = {.arena = a};
    w.text = FUNC PUT("%p") "    scf.while : () -> () {\n      %v = tt.load %p : !tt.ptr<i8>\n"
             "      %z = arith.constant 0 : i8\n      %c = arith.cmpi eq, %v, %z : i8\n"
             "      scf.condition(%c)\n    } do {\n      scf.yield\n    }\n" PUT("%p") END;
    load_program(&w);
    give_pointer(&w, 0, 1000, 0, 0);
    CHECK(run_program(&w, 0, 0, 0) == PR_INTERP_STOPPED);
    CHECK(w.n == 2 && strstr(pr_machine_why(w.machine), "scf.while"));
    CHECK(pr_machine_where(w.machine) != NULL);

    program_text e = {.arena = a};
    e.text = FUNC "    scf.for %i = %c0 to %n step %c1  : i32 {\n" PUT("%p") "    }\n" END;
    load_program(&e);
    give_pointer(&e, 0, 1000, 0, 0);
    give_int(&e, 1, 1000000000);
    e.setup.max_work = 10000;
    e.machine = pr_machine_new(a, &e.setup);
    CHECK(run_program(&e, 0, 0, 0) == PR_INTERP_LIMIT);
    e.setup.max_work = 0; /* but a probe jumps to the iteration */
    t = (pr_interp_target){.op_id = e.hit[0].op->id, .iter = (int64_t[]){999999999}, .n_iter = 1};
    q = pr_interp_probe(a, &e.setup, (int64_t[3]){0, 0, 0}, &t);
    CHECK(q.available && q.executed == PR_YES);
    t.iter = (int64_t[]){1000000000};
    q = pr_interp_probe(a, &e.setup, (int64_t[3]){0, 0, 0}, &t);
    CHECK(q.available && q.executed == PR_NO);
    t.n_iter = 0;
    q = pr_interp_probe(a, &e.setup, (int64_t[3]){0, 0, 0}, &t);
    CHECK(!q.available && strstr(q.why, "iteration vector"));
    give_int(&e, 1, 5);
    e.machine = pr_machine_new(a, &e.setup);
    give_int(&e, 2, 0);
    pr_arena_free(a);
}

/* ---- descriptors, block pointers, atomics ------------------------------------------------------ */
static void objects(const char *text, int n_args, int count, const int *want, int at)
{
    pr_arena *a = pr_arena_new(0, NULL);
    program_text p = {.arena = a, .text = text};
    load_program(&p);
    CHECK(p.setup.n_args == n_args);
    give_pointer(&p, 0, 1000, 0, 0);
    if (n_args > 1) give_int(&p, 1, 3);
    run_program(&p, 0, 0, 0);
    bool same = p.n == count;
    for (int i = 0; i < count && same; i++) same = p.hit[i].known && p.hit[i].addr == (uint64_t)(1000 + want[i]);
    check_count++;
    if (!same) {
        check_failures++;
        fprintf(stderr, "line %d: %d bytes:", at, p.n);
        for (int i = 0; i < p.n; i++) fprintf(stderr, " %lld", (long long)p.hit[i].addr - 1000);
        fprintf(stderr, "\n");
    }
    pr_arena_free(a);
}

static void descriptors(void)
{
    static const char *const type[] = {"<tensor<2x4xf16>>", "<2x4xf16>"}; /* up to 3.7, from 3.8 */
    for (int k = 0; k < 2; k++) {
        char text[2048];
        snprintf(text, sizeof text,
                 "tt.func public @k(%%p: !tt.ptr<f16>, %%n: i32) {\n    %%one = arith.constant 1 : i64\n"
                 "    %%s = arith.constant 16 : i64\n    %%c5 = arith.constant 5 : i32\n    %%c2 = arith.constant 2 : i32\n"
                 "    %%m = arith.constant -1 : i32\n"
                 "    %%d = tt.make_tensor_descriptor %%p, [%%n, %%c5], [%%s, %%one] : <f16>, %s\n"
                 "    %%v = tt.descriptor_load %%d[%%c2, %%m] : !tt.tensordesc%s -> tensor<2x4xf16>\n"
                 "    tt.descriptor_store %%d[%%m, %%c2], %%v : !tt.tensordesc%s, tensor<2x4xf16>\n"
                 "    tt.descriptor_reduce add, %%d[%%c2, %%c2], %%v : !tt.tensordesc%s, tensor<2x4xf16>\n"
                 "    tt.return\n  }\n", type[k], type[k], type[k], type[k]);
        /* row 2, columns 0..2; row 0, columns 2..4; row 2, columns 2..4 */
        objects(text, 2, STORES(64, 66, 68, 4, 6, 8, 68, 70, 72));
    }
    objects("tt.func public @k(%p: !tt.ptr<f32>, %n: i32) {\n    %one = arith.constant 1 : i64\n"
            "    %s = arith.constant 8 : i64\n    %r = arith.constant dense<[2, 0, 9]> : tensor<3xi32>\n"
            "    %c1 = arith.constant 1 : i32\n    %c2 = arith.constant 2 : i32\n"
            "    %d = tt.make_tensor_descriptor %p, [%n, %c2], [%s, %one] : <f32>, <1x2xf32>\n"
            "    %v = tt.descriptor_gather %d[%r, %c1] : (!tt.tensordesc<1x2xf32>, tensor<3xi32>, i32) -> tensor<3x2xf32>\n"
            "    tt.descriptor_scatter %d[%r, %c1], %v : !tt.tensordesc<1x2xf32>, tensor<3xi32>, i32, tensor<3x2xf32>\n"
            "    tt.return\n  }\n", 2, STORES(68, 4, 68, 4));
    objects("tt.func public @k(%p: !tt.ptr<f32>, %n: i32) {\n    %one = arith.constant 1 : i64\n"
            "    %s = arith.constant 8 : i64\n    %h = arith.constant 3 : i64\n    %c1 = arith.constant 1 : i32\n"
            "    %c0 = arith.constant 0 : i32\n    %c2 = arith.constant 2 : i32\n"
            "    %b = tt.make_tensor_ptr %p, [%h, %s], [%s, %one], [%c1, %c0] {order = array<i32: 1, 0>} : <tensor<2x2xf32>>\n"
            "    %v = tt.load %b {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<2x2xf32>>\n"
            "    %q = tt.advance %b, [%c1, %c2] : <tensor<2x2xf32>>\n"
            "    tt.store %q, %v {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<2x2xf32>>\n    tt.return\n  }\n",
            2, STORES(32, 36, 64, 68, 72, 76));
    /* atomics: kinds and orders are handed on */
    pr_arena *a = pr_arena_new(0, NULL);
    program_text p = {.arena = a};
    p.text = "tt.func public @k(%p: !tt.ptr<i32>) {\n    %c = arith.constant 1 : i32\n    %t = arith.constant true\n"
             "    %x = tt.atomic_rmw add, release, cta, %p, %c, %t : (!tt.ptr<i32>, i32, i1) -> i32\n"
             "    %y = tt.atomic_cas acquire, sys, %p, %x, %c : (!tt.ptr<i32>, i32, i32) -> i32\n"
             "    tt.store %p, %y : !tt.ptr<i32>\n    tt.return\n  }\n";
    load_program(&p);
    give_pointer(&p, 0, 1000, 0, 0);
    p.setup.track_deps = true;
    p.machine = pr_machine_new(a, &p.setup);
    run_program(&p, 0, 0, 0);
    CHECK(p.n == 3 && p.hit[0].kind == PR_INTERP_RMW && p.hit[1].kind == PR_INTERP_CAS);
    CHECK(p.n == 3 && p.hit[0].sem == PR_INTERP_RELEASE && p.hit[0].scope == PR_INTERP_SCOPE_CTA);
    CHECK(p.n == 3 && p.hit[1].sem == PR_INTERP_ACQUIRE && p.hit[1].scope == PR_INTERP_SCOPE_SYS);
    CHECK(p.n == 3 && p.hit[0].n_deps == 0 && p.hit[1].n_deps == 1 && p.hit[2].n_deps == 1);
    pr_arena_free(a);
}

int main(void)
{
    arithmetic();
    comparisons();
    casts();
    lane_movements();
    control_flow();
    unknowns();
    descriptors();
    return check_done();
}
