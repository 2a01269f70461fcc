/* Does a second run leave other bytes? Kernels with the answer known by hand, each beside one that differs in a little. */
#include "front/again.h"
#include "interp_run.h"

typedef enum { NOTHING, DIFFERS, SETTLES } answer;

static pr_arena *arena;

/* p: 64 bytes at 4096, q: 64 bytes at 8192, elements of `bytes`; grid of `programs`. */
static answer ask(const char *body, const char *type, int bytes, int64_t programs, bool all, const pr_i128 *values, pr_again_result *out)
{
    program_text p = { .arena = arena };
    p.text = pr_arena_printf(arena, "tt.func public @k(%%p: !tt.ptr<%s>, %%q: !tt.ptr<%s>) {\n"
                             "%%pid = tt.get_program_id x : i32\n%%zero = arith.constant 0 : i32\n%%one = arith.constant 1 : i32\n"
                             "%%pp = tt.addptr %%p, %%pid : !tt.ptr<%s>, i32\n%%qp = tt.addptr %%q, %%pid : !tt.ptr<%s>, i32\n%s\ntt.return\n}\n",
                             type, type, type, type, body);
    load_program(&p);
    give_pointer(&p, 0, 4096, 64, bytes);
    give_pointer(&p, 1, 8192, 64, bytes);
    p.args[0].values = values;
    p.args[0].n_values = values ? 64 / bytes : 0;
    p.setup.grid[0] = programs;
    pr_again_arg args[2] = { { true, 4096, 4160, bytes, false, false }, { true, 8192, 8256, bytes, false, false } };
    *out = pr_again_run(arena, &p.setup, args, all, 0, PR_AGAIN_TRIES, 1 << 16);
    pr_interp_setup bare = p.setup;
    pr_interp_arg without[2] = { p.args[0], p.args[1] };
    without[0].values = NULL;
    bare.args = without;
    bool settles = !all && pr_again_settles(arena, &bare, args, 1 << 16);
    CHECK(!(settles && out->differs));
    return out->differs ? DIFFERS : settles ? SETTLES : NOTHING;
}

static void integers(void)
{
    pr_again_result r;
#define LOAD "%x = tt.load %pp : !tt.ptr<i32>\n"
#define STORE "tt.store %pp, %y : !tt.ptr<i32>"
    CHECK(ask(LOAD "%y = arith.addi %x, %x : i32\n" STORE, "i32", 4, 4, false, NULL, &r) == DIFFERS);
    CHECK(r.arg == 0 && r.addr == 4096 && r.chosen && r.width == 4 && atoi(r.twice) == 2 * atoi(r.once) && atoi(r.once) > 0);
    CHECK(ask(LOAD "%y = arith.maxsi %x, %zero : i32\n" STORE, "i32", 4, 4, false, NULL, &r) == NOTHING);
    CHECK(ask(LOAD "%y = arith.subi %one, %x : i32\n" STORE, "i32", 4, 4, false, NULL, &r) == DIFFERS);
    CHECK(ask(LOAD "%y = arith.andi %x, %one : i32\n" STORE, "i32", 4, 4, false, NULL, &r) == NOTHING);
    /* given contents decide: 0 stays 0, and 5 does not stay 5 */
    pr_i128 zeros[16] = { 0 }, fives[16] = { 0 };
    fives[3] = 5;
    CHECK(ask(LOAD "%y = arith.addi %x, %x : i32\n" STORE, "i32", 4, 4, false, zeros, &r) == NOTHING);
    CHECK(ask(LOAD "%y = arith.addi %x, %x : i32\n" STORE, "i32", 4, 4, false, fives, &r) == DIFFERS);
    CHECK(r.addr == 4096 + 12 && !r.chosen && !strcmp(r.once, "10") && !strcmp(r.twice, "20"));
    /* a scratch element is stored before it is read, or after */
    CHECK(ask("tt.store %pp, %pid : !tt.ptr<i32>\n" LOAD "tt.store %qp, %x : !tt.ptr<i32>", "i32", 4, 4, false, NULL, &r) == SETTLES);
    CHECK(ask(LOAD "tt.store %qp, %x : !tt.ptr<i32>\ntt.store %pp, %pid : !tt.ptr<i32>", "i32", 4, 4, false, NULL, &r) == DIFFERS);
    CHECK(r.arg == 1);
    /* ... by another program: the elements of the two are not ordered here, whatever a proof might know */
    CHECK(ask("tt.store %pp, %pid : !tt.ptr<i32>\n%n = tt.addptr %pp, %one : !tt.ptr<i32>, i32\n%x = tt.load %n : !tt.ptr<i32>\n"
              "tt.store %qp, %x : !tt.ptr<i32>", "i32", 4, 2, false, NULL, &r) != SETTLES);
    /* behind an unknown condition: nothing is known */
    CHECK(ask(LOAD "%c = arith.cmpi sgt, %x, %zero : i32\ntt.store %pp, %pid, %c : !tt.ptr<i32>\n%z = tt.load %pp : !tt.ptr<i32>\n"
              "tt.store %qp, %z : !tt.ptr<i32>", "i32", 4, 2, false, NULL, &r) != SETTLES);
    /* out of the storage: such contents are none of the launch's */
    CHECK(ask("%far = arith.constant 16 : i32\n%n = tt.addptr %p, %far : !tt.ptr<i32>, i32\n%x = tt.load %n : !tt.ptr<i32>\n"
              "%y = arith.addi %x, %one : i32\ntt.store %n, %y : !tt.ptr<i32>", "i32", 4, 1, false, NULL, &r) == NOTHING);
    /* the second run goes where others have been: alone nothing is known of that, all together it is */
    const char *moves = LOAD "%a = arith.andi %x, %one : i32\n%n = tt.addptr %q, %a : !tt.ptr<i32>, i32\n%v = tt.load %n : !tt.ptr<i32>\n"
                        "%y = arith.addi %v, %one : i32\n" STORE;
    CHECK(ask(moves, "i32", 4, 1, true, NULL, &r) != SETTLES);
}

static void atomics(void)
{
    pr_again_result r;
#define RMW(op, value) "%o = tt.atomic_rmw " op ", relaxed, gpu, %p, " value " : (!tt.ptr<i32>, i32) -> i32\n"
    CHECK(ask(RMW("add", "%one"), "i32", 4, 3, true, NULL, &r) == DIFFERS);
    CHECK(atoi(r.twice) == atoi(r.once) + 3);
    CHECK(ask(RMW("max", "%pid"), "i32", 4, 3, true, NULL, &r) == NOTHING);
    CHECK(ask(RMW("exch", "%pid"), "i32", 4, 3, true, NULL, &r) == NOTHING);        /* the last one stays */
    CHECK(ask(RMW("add", "%one") "tt.store %qp, %o : !tt.ptr<i32>", "i32", 4, 3, true, NULL, &r) == DIFFERS);
    CHECK(r.arg == 0);                                                                     /* not what it returned */
    CHECK(ask("%o = tt.atomic_rmw xor, relaxed, gpu, %p, %one : (!tt.ptr<i32>, i32) -> i32\n", "i32", 4, 2, true, NULL, &r) == NOTHING);
    CHECK(ask("%o = tt.atomic_rmw xor, relaxed, gpu, %p, %one : (!tt.ptr<i32>, i32) -> i32\n", "i32", 4, 3, true, NULL, &r) == DIFFERS);
    CHECK(ask(RMW("add", "%one") "%x = tt.load %p : !tt.ptr<i32>\ntt.store %qp, %x : !tt.ptr<i32>", "i32", 4, 3, true, NULL, &r) == NOTHING);
}

static void floats(void)
{
    pr_again_result r;
    static const struct { const char *ops; answer f32, f16, f64; } row[] = {
        { "%y = arith.addf %x, %x : T", DIFFERS, DIFFERS, NOTHING },
        { "%y = arith.mulf %x, %c : T", DIFFERS, DIFFERS, NOTHING },          /* 1.5 */
        { "%y = arith.mulf %x, %u : T", NOTHING, NOTHING, NOTHING },          /* 1 */
        { "%y = arith.addf %x, %tiny : T", NOTHING, NOTHING, NOTHING },       /* lost in rounding, or not: not certain */
        { "%z = arith.mulf %x, %third : T\n%y = arith.addf %z, %u : T", DIFFERS, DIFFERS, NOTHING },
        { "%z = arith.mulf %x, %third : T\n%w = arith.subf %z, %z : T\n%y = arith.addf %x, %w : T", NOTHING, NOTHING, NOTHING },
        { "%y = arith.maxnumf %x, %u : T", NOTHING, NOTHING, NOTHING },
        { "%g = arith.cmpf ogt, %x, %u : T\n%y = arith.select %g, %u, %c : T", DIFFERS, DIFFERS, NOTHING },     /* 2 -> 1 -> 1.5 */
        { "%y = arith.negf %x : T", DIFFERS, DIFFERS, NOTHING },
        { "%y = arith.divf %x, %c : T", DIFFERS, DIFFERS, NOTHING },
        { "%y = arith.divf %x, %nil : T", NOTHING, NOTHING, NOTHING },
        { "%y = math.exp %x : T", NOTHING, NOTHING, NOTHING },
    };
    static const char *const types[] = { "f32", "f16", "f64", "bf16" };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        for (int k = 0; k < 4; k++) {
            char ops[512] = "", *to = ops;
            for (const char *s = row[i].ops; *s; s++) {
                if (*s == 'T') to += sprintf(to, "%s", types[k]);
                else *to++ = *s;
            }
            *to = 0;
            const char *t = types[k];
            const char *body = pr_arena_printf(arena, "%%u = arith.constant 1.0 : %s\n%%c = arith.constant 1.5 : %s\n%%third = arith.constant 3.333000e-01 : %s\n"
                                               "%%tiny = arith.constant 1.000000e-30 : %s\n%%nil = arith.constant 0.0 : %s\n"
                                               "%%x = tt.load %%pp : !tt.ptr<%s>\n%s\ntt.store %%pp, %%y : !tt.ptr<%s>", t, t, t, t, t, t, ops, t);
            answer got = ask(body, t, k == 0 ? 4 : k == 2 ? 8 : 2, 4, false, NULL, &r);
            answer want = k == 0 ? row[i].f32 : k == 2 ? row[i].f64 : row[i].f16;
            if (got != want) fprintf(stderr, "%s %s: %d (%s, %s)\n", t, row[i].ops, got, r.once, r.twice);
            CHECK(got == want);
        }
}

int main(void)
{
    arena = pr_arena_new(0, NULL);
    integers();
    atomics();
    floats();
    pr_arena_free(arena);
    return check_done();
}
