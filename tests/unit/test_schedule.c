/* Accesses that scheduled runs leave out, and that runs with and without them find the same races. */
#include "front/schedule.h"
#include "front/schedule_spare.h"
#include "front/ops.h"
#include "interp_run.h"

static pr_arena *arena;

/* A hand-over: program 0 stores a tile to x and sets f, program 1 reads f and, when it is set, the tile. In front of it payload that
 * decides nothing (w), a scalar that decides which element of x is written first (t), and a loop. */
static const char *const hand_over =
    "tt.func public @k(%f: !tt.ptr<i32>, %x: !tt.ptr<f32>, %w: !tt.ptr<f32>, %t: !tt.ptr<i32>, %n: i32, %scale: f32) {\n"
    "%zero = arith.constant 0 : i32\n%one = arith.constant 1 : i32\n%r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>\n"
    "%pid = tt.get_program_id x : i32\n"
    "%ws = tt.splat %w : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>\n%wp = tt.addptr %ws, %r : tensor<4x!tt.ptr<f32>>, tensor<4xi32>\n"
    "%wl, %acc = scf.for %k = %zero to %n step %one iter_args(%p = %wp, %a = %scale) -> (tensor<4x!tt.ptr<f32>>, f32) : i32 {\n"
    "%v = tt.load %p : tensor<4x!tt.ptr<f32>>\n%q = tt.addptr %p, %r : tensor<4x!tt.ptr<f32>>, tensor<4xi32>\n"
    "scf.yield %q, %a : tensor<4x!tt.ptr<f32>>, f32\n}\n"
    "%u = tt.load %wl : tensor<4x!tt.ptr<f32>>\n"
    "%tp = tt.addptr %t, %pid : !tt.ptr<i32>, i32\n%shift = tt.load %tp : !tt.ptr<i32>\n"
    "%xb = tt.addptr %x, %shift : !tt.ptr<f32>, i32\n%xs = tt.splat %xb : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>\n"
    "%xp = tt.addptr %xs, %r : tensor<4x!tt.ptr<f32>>, tensor<4xi32>\n"
    "%first = arith.cmpi eq, %pid, %zero : i32\n"
    "scf.if %first {\n"
    "tt.store %xp, %u : tensor<4x!tt.ptr<f32>>\n"
    "BARRIER"
    "%o = tt.atomic_rmw exch, acq_rel, gpu, %f, %one : (!tt.ptr<i32>, i32) -> i32\n"
    "} else {\n"
    "%s = tt.atomic_rmw add, acq_rel, gpu, %f, %zero : (!tt.ptr<i32>, i32) -> i32\n"
    "BARRIER"
    "%set = arith.cmpi eq, %s, %one : i32\n"
    "scf.if %set {\n%y = tt.load %xp : tensor<4x!tt.ptr<f32>>\ntt.store %wp, %y : tensor<4x!tt.ptr<f32>>\n}\n"
    "}\ntt.return\n}\n";

typedef struct found { pr_schedule_result r; int spared, asked; } found;

/* w_at: where the storage of w lies; known: the runs are told of storages. */
static found run(bool barriers, uint64_t w_at, int64_t programs, bool known)
{
    program_text p = { .arena = arena };
    char *copy = pr_arena_alloc(arena, 2 * strlen(hand_over)), *to = copy;
    for (const char *c = hand_over; *c;) {
        if (strncmp(c, "BARRIER", 7) == 0) {
            c += 7;
            if (barriers) to += sprintf(to, "gpu.barrier\n");
        } else {
            *to++ = *c++;
        }
    }
    *to = 0;
    p.text = copy;
    load_program(&p);
    static const pr_i128 zeros[64];
    give_pointer(&p, 0, 4096, 64, 4);
    give_pointer(&p, 1, 8192, 64, 4);
    give_pointer(&p, 2, w_at, 256, 4);
    give_pointer(&p, 3, 16384, 256, 4);
    give_int(&p, 4, 3);
    p.args[0].values = p.args[3].values = zeros;
    p.args[0].n_values = 16;
    p.args[3].n_values = 64;
    p.setup.grid[0] = programs;
    pr_schedule_storage storage[6] = { { 0 } };
    for (int i = 0; i < 4; i++) storage[i] = (pr_schedule_storage){ p.storage[i].known, p.storage[i].lo, p.storage[i].hi };
    pr_schedule_ask ask = { .pid = { { 0 }, { 1 } }, .storage = known ? storage : NULL };
    const pr_op *store = NULL, *load = NULL;
    const pr_block *body = pr_region_block(p.setup.func->regions[0]);
    for (int i = 0; i < body->n_ops; i++)
        if (body->ops[i]->opcode == PR_OP_SCF_IF) {
            const pr_block *yes = pr_region_block(body->ops[i]->regions[0]), *no = pr_region_block(body->ops[i]->regions[1]);
            for (int k = 0; k < yes->n_ops; k++)
                if (yes->ops[k]->opcode == PR_OP_TT_STORE) store = yes->ops[k];
            for (int k = 0; k < no->n_ops; k++)
                if (no->ops[k]->opcode == PR_OP_SCF_IF) load = pr_region_block(no->ops[k]->regions[0])->ops[0];
        }
    found f = { 0 };
    CHECK(store && load && load->opcode == PR_OP_TT_LOAD);
    if (!store || !load) return f;
    ask.site[0].op_id = store->id;
    ask.site[1].op_id = load->id;
    p.setup.track_deps = true;
    const uint8_t *spare = pr_schedule_spare(arena, &p.setup, &ask);
    for (int i = 0; spare && i < p.ir->n_ops; i++) {
        f.spared += spare[i] == 1;
        f.asked += spare[i] == 2;
    }
    f.r = pr_schedule_race(arena, &p.setup, &ask);
    return f;
}

static void same_answers(void)
{
    static const int64_t programs[2] = { 2, 80 };          /* few: all are looked at; many: those of the witness */
    for (int k = 0; k < 2; k++) {
        found safe = run(true, 12288, programs[k], true), race = run(false, 12288, programs[k], true);
        CHECK(!safe.r.found && !run(true, 12288, programs[k], false).r.found);
        CHECK(race.r.found && run(false, 12288, programs[k], false).r.found);
        CHECK(race.r.at[0].addr == race.r.at[1].addr && race.r.at[0].pid[0] == 0 && race.r.at[1].pid[0] == 1);
    }
}

static void what_is_left_out(void)
{
    found f = run(true, 12288, 2, true);
    CHECK(f.spared == 3 && f.asked == 2);                  /* two loads of w and its store; the scalar and the atomics are looked at */
    CHECK(run(true, 12288, 2, false).spared == 0);
    f = run(true, 4096 + 32, 2, true);                     /* w overlaps the flag: its stores might set it */
    CHECK(f.spared == 0 && f.asked == 2);
    f = run(true, 8192 + 32, 2, true);                     /* w overlaps x, which decides nothing either */
    CHECK(f.spared == 3 && f.asked == 2);
    f = run(true, 16384, 2, true);                         /* w overlaps the scalars that place x */
    CHECK(f.spared == 0 && f.asked == 2);
}

int main(void)
{
    arena = pr_arena_new(0, NULL);
    same_answers();
    what_is_left_out();
    pr_arena_free(arena);
    return check_done();
}
