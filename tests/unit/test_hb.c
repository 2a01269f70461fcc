/* Tests src/hb on records made by hand: distinctness (H4), barriers and dependencies (H5), rungs, width
 * obligations, in-bounds premise, ledger (H1) and the verdict rule. No text is read here. */
#include "check.h"
#include "hb/ladder.h"
#include "hb/order.h"
#include "hb/plain.h"
#include "hb/verdict_rule.h"

enum { BIG = 1 << 20 };

typedef struct kernel {
    pr_arena *arena;
    pr_terms *T;
    pr_records R;
    pr_launch L;
    pr_options o;
    pr_config_verdict v;
    pr_error err;
} kernel;

static pr_term pid(kernel *k, int i) { k->R.axis_read[i] = true; return pr_var_term(k->T, k->R.pid[i]); }
static pr_term lane(kernel *k, int d) { return pr_var_term(k->T, k->R.lane[d]); }
static pr_term num(kernel *k, pr_i128 v) { return pr_const(k->T, v); }
static pr_term add(kernel *k, pr_term a, pr_term b) { return pr_add(k->T, a, b); }
static pr_term times(kernel *k, pr_i128 c, pr_term a) { return pr_scale(k->T, a, c); }

static pr_var variable(kernel *k, pr_var_role role, int index, pr_i128 lo, pr_i128 hi, const char *name)
{
    pr_var_info i = { .role = role, .index = index, .lo = lo, .hi = hi, .name = name };
    return pr_var_new(k->T, i);
}

/* Two i32 buffers of BIG bytes each, grid (gx, gy, 1). */
static void begin(kernel *k, int64_t gx, int64_t gy)
{
    static const char *const p[] = { "pid0", "pid1", "pid2" }, *const g[] = { "grid0", "grid1", "grid2" },
                             *const l[] = { "lane0", "lane1", "lane2", "lane3", "lane4", "lane5", "lane6", "lane7" };
    *k = (kernel){ 0 };
    k->arena = pr_arena_new(0, NULL);
    k->T = pr_terms_new(k->arena);
    k->R.terms = k->T;
    for (int i = 0; i < 3; i++) {
        k->R.pid[i] = variable(k, PR_ROLE_PID, i, 0, 2147483646, p[i]);
        k->R.grid[i] = variable(k, PR_ROLE_GRID, i, 1, 2147483647, g[i]);
    }
    for (int d = 0; d < PR_RANK_MAX; d++) k->R.lane[d] = variable(k, PR_ROLE_LANE, d, 0, PR_INF, l[d]);
    k->R.n_args = 2;
    k->R.args = PR_NEW_N(k->arena, struct pr_formal, 2);
    k->L.args = PR_NEW_N(k->arena, pr_arg, 2);
    k->L.n_args = 2;
    k->L.grid[0] = gx;
    k->L.grid[1] = gy;
    k->L.grid[2] = 1;
    k->L.grid_known = true;
    k->L.num_warps = 4;
    for (int i = 0; i < 2; i++) {
        pr_tensor *t = PR_NEW(k->arena, pr_tensor);
        t->elem_bytes = 4;
        t->ptr = t->storage_lo = 4096 + (pr_i128)i * 4 * BIG;
        t->storage_hi = t->ptr + BIG;
        k->L.args[i] = (pr_arg){ .kind = PR_ARG_TENSOR, .tensor = t, .name = pr_str_of(i ? "y" : "x") };
        k->R.args[i] = (struct pr_formal){ .name = pr_str_of(i ? "y" : "x"), .is_pointer = true, .pointee_bytes = 4 };
    }
    pr_options_default(&k->o);
}

static pr_record *access_of(kernel *k, pr_record_kind kind, int base, pr_term element, int64_t lanes)
{
    pr_record r = { .id = k->R.records.n, .access = k->R.records.n, .seq = 10 * (k->R.records.n + 1), .kind = kind,
                    .base = base, .width = 4, .mask = PR_TERM_TRUE, .mask_held = PR_TERM_TRUE, .offset_held = PR_TERM_TRUE,
                    .value = PR_TERM_NONE, .cmp = PR_TERM_NONE };
    if (lanes > 1) {
        r.rank = 1;
        r.shape[0] = lanes;
    }
    r.offset = times(k, 4, element);
    r.loc.text_line = r.id + 1;
    pr_vec_push(k->arena, &k->R.records, r);
    return &k->R.records.data[k->R.records.n - 1];
}

static const pr_frame *loop(kernel *k, int number, pr_i128 trip)
{
    pr_frame *f = PR_NEW(k->arena, pr_frame);
    *f = (pr_frame){ .kind = PR_FRAME_LOOP, .depth = 1, .loop = number, .lower = PR_TERM_ZERO, .upper = num(k, trip),
                     .step = num(k, 1), .bounds_held = PR_TERM_TRUE, .increment_held = PR_TERM_TRUE };
    f->k = variable(k, PR_ROLE_ITER, number, 0, PR_INF, "k");
    return f;
}

static const pr_frame *branch(kernel *k, pr_term cond, const pr_frame *outer)
{
    pr_frame *f = PR_NEW(k->arena, pr_frame);
    *f = (pr_frame){ .kind = PR_FRAME_COND, .outer = outer, .depth = outer ? outer->depth + 1 : 1, .cond = cond,
                     .held = PR_TERM_TRUE };
    return f;
}

static void fence(kernel *k, int seq, const pr_frame *f)
{
    pr_fence b = { .seq = seq, .frame = f };
    pr_vec_push(k->arena, &k->R.fences, b);
}

/* Checks and frees; returns the status; *rung and *races as asked. */
static pr_verdict_status decide(kernel *k, const pr_launch *launch, pr_rung *rung, int *races)
{
    pr_status st = pr_check_config(k->arena, &k->R, launch, &k->o, NULL, &k->v, &k->err);
    CHECK(st == PR_OK);
    CHECK(k->v.ledger.n == k->R.records.n * (k->R.records.n + 1));
    if (rung) *rung = k->v.rung;
    if (races) *races = k->v.races.n;
    return k->v.status;
}
static void end(kernel *k) { pr_arena_free(k->arena); }

static pr_verdict_status status_of(kernel *k)
{
    pr_verdict_status s = decide(k, &k->L, NULL, NULL);
    end(k);
    return s;
}

static void test_distinct(void)
{
    kernel k;
    pr_rung rung;
    int races;
    begin(&k, 98, 1);                       /* T01 */
    access_of(&k, PR_RECORD_STORE, 0, add(&k, times(&k, 64, pid(&k, 0)), lane(&k, 0)), 64);
    CHECK(decide(&k, &k.L, &rung, &races) == PR_VERDICT_OK && rung == PR_RUNG_T0 && races == 0);
    CHECK(k.v.grid_axis[0] == 0 && k.v.grid_axis[1] == 1);
    end(&k);
    begin(&k, 98, 1);
    access_of(&k, PR_RECORD_STORE, 0, add(&k, times(&k, 63, pid(&k, 0)), lane(&k, 0)), 64);
    CHECK(decide(&k, &k.L, &rung, &races) == PR_VERDICT_RACES && rung == PR_RUNG_NONE && races == 1);
    CHECK(!k.v.races.data[0].intra && k.v.races.data[0].type == PR_RACE_WAW);
    CHECK(k.v.races.data[0].a.program[0] + 1 == k.v.races.data[0].b.program[0]);
    end(&k);
    begin(&k, 1, 1);                        /* p1: one program, two lanes on one cell */
    access_of(&k, PR_RECORD_STORE, 0, pr_fmod_t(k.T, lane(&k, 0), num(&k, 2)), 64);
    CHECK(decide(&k, &k.L, NULL, &races) == PR_VERDICT_RACES && races == 1 && k.v.races.data[0].intra);
    end(&k);
    begin(&k, 1, 1);                        /* p15: no lane in the address */
    access_of(&k, PR_RECORD_STORE, 0, num(&k, 3), 64);
    CHECK(status_of(&k) == PR_VERDICT_RACES);
    begin(&k, 1, 1);                        /* p75: a scalar has one lane */
    access_of(&k, PR_RECORD_STORE, 0, num(&k, 3), 1);
    CHECK(status_of(&k) == PR_VERDICT_OK);
    begin(&k, 4, 1);                        /* p4: no program id at grid 4 */
    access_of(&k, PR_RECORD_STORE, 0, lane(&k, 0), 64);
    CHECK(status_of(&k) == PR_VERDICT_RACES);
    begin(&k, 4, 2);                        /* p104: the axis nobody reads */
    access_of(&k, PR_RECORD_STORE, 0, add(&k, times(&k, 64, pid(&k, 0)), lane(&k, 0)), 64);
    CHECK(status_of(&k) == PR_VERDICT_RACES);
    begin(&k, 2, 2);                        /* p114: an image of the ids is not the ids */
    access_of(&k, PR_RECORD_STORE, 0, add(&k, times(&k, 64, add(&k, pid(&k, 0), pid(&k, 1))), lane(&k, 0)), 64);
    CHECK(status_of(&k) == PR_VERDICT_RACES);
    begin(&k, 1, 1);                        /* p109: two stores of one tile */
    access_of(&k, PR_RECORD_STORE, 0, lane(&k, 0), 64);
    access_of(&k, PR_RECORD_STORE, 0, lane(&k, 0), 64);
    CHECK(status_of(&k) == PR_VERDICT_RACES);
    begin(&k, 4, 1);                        /* T69: 4 bytes at a 2-byte stride */
    access_of(&k, PR_RECORD_STORE, 0, PR_TERM_ZERO, 64)->offset = times(&k, 2, add(&k, lane(&k, 0), times(&k, 64, pid(&k, 0))));
    CHECK(status_of(&k) == PR_VERDICT_RACES);
}

static void test_loops(void)
{
    kernel k;
    /* O1 holds between the possible bases of one operation's pointer: lane l stores to x in one iteration and
     * to y, the same buffer, in the next; two operations that do the same race */
    for (int two = 0; two < 2; two++) {
        begin(&k, 1, 1);
        k.L.args[1].tensor = k.L.args[0].tensor;
        const pr_frame *turn = loop(&k, 0, 4);
        for (int base = 0; base < 2; base++) {
            pr_record *r = access_of(&k, PR_RECORD_STORE, base, lane(&k, 0), 64);
            r->frame = turn;
            r->access = two ? base : 0;
            r->mask = pr_eq(k.T, pr_fmod_t(k.T, pr_var_term(k.T, turn->k), num(&k, 2)), num(&k, base));
        }
        CHECK(status_of(&k) == (two ? PR_VERDICT_RACES : PR_VERDICT_OK));
    }
    begin(&k, 4, 1);                        /* T18: O1 orders a lane's iterations */
    const pr_frame *f = loop(&k, 0, 8);
    access_of(&k, PR_RECORD_STORE, 0, add(&k, times(&k, 64, pid(&k, 0)), lane(&k, 0)), 64)->frame = f;
    CHECK(status_of(&k) == PR_VERDICT_OK);
    begin(&k, 4, 1);                        /* p3: lanes of different iterations */
    f = loop(&k, 0, 8);
    access_of(&k, PR_RECORD_STORE, 0, add(&k, pr_var_term(k.T, f->k), add(&k, times(&k, 1024, pid(&k, 0)), lane(&k, 0))), 64)->frame = f;
    CHECK(status_of(&k) == PR_VERDICT_RACES);
    begin(&k, 4, 1);                        /* p10: zero trips */
    f = loop(&k, 0, 0);
    access_of(&k, PR_RECORD_STORE, 0, lane(&k, 0), 64)->frame = f;
    CHECK(status_of(&k) == PR_VERDICT_OK);
}

/* store x[lane]; <fence>; load x[(lane+1)%64], both in frame f */
static pr_verdict_status store_load(kernel *k, int n_fences, const int *seq, const pr_frame *in, const pr_frame *f)
{
    access_of(k, PR_RECORD_STORE, 0, lane(k, 0), 64)->frame = f;                                         /* seq 10 */
    access_of(k, PR_RECORD_LOAD, 0, pr_fmod_t(k->T, add(k, lane(k, 0), num(k, 1)), num(k, 64)), 64)->frame = f; /* seq 20 */
    for (int i = 0; i < n_fences; i++) fence(k, seq[i], in);
    return status_of(k);
}

static void test_barriers(void)
{
    kernel k;
    begin(&k, 1, 1);
    CHECK(store_load(&k, 0, NULL, NULL, NULL) == PR_VERDICT_RACES);
    begin(&k, 1, 1);
    CHECK(store_load(&k, 1, (int[]){ 15 }, NULL, NULL) == PR_VERDICT_OK);
    begin(&k, 1, 1);
    CHECK(store_load(&k, 1, (int[]){ 25 }, NULL, NULL) == PR_VERDICT_RACES);
    begin(&k, 1, 1);                        /* p18: a barrier under a branch that may not be taken */
    CHECK(store_load(&k, 1, (int[]){ 15 }, branch(&k, pr_lt(k.T, pid(&k, 0), num(&k, 0)), NULL), NULL) == PR_VERDICT_RACES);
    begin(&k, 1, 1);                        /* under an unmodelled branch it may order them: possible only */
    pr_sym c = pr_sym_new(k.T, (pr_sym_info){ .kind = PR_SYM_CONDITION, .is_bool = true, .access = -1, .op_id = -1 });
    CHECK(store_load(&k, 1, (int[]){ 15 }, branch(&k, pr_app(k.T, c, NULL, 0), NULL), NULL) == PR_VERDICT_UNSUPPORTED);
    begin(&k, 1, 1);                        /* p19: between store and load only, iterations meet */
    const pr_frame *f = loop(&k, 0, 4);
    CHECK(store_load(&k, 1, (int[]){ 15 }, f, f) == PR_VERDICT_RACES);
    begin(&k, 1, 1);                        /* p90: a second one on the back edge */
    f = loop(&k, 0, 4);
    CHECK(store_load(&k, 2, (int[]){ 15, 25 }, f, f) == PR_VERDICT_OK);
    begin(&k, 1, 1);                        /* a zero-trip loop of barriers orders nothing */
    f = loop(&k, 0, 0);
    CHECK(store_load(&k, 1, (int[]){ 15 }, f, NULL) == PR_VERDICT_RACES);
    begin(&k, 1, 1);
    f = loop(&k, 0, 3);
    CHECK(store_load(&k, 1, (int[]){ 15 }, f, NULL) == PR_VERDICT_OK);
}

static void test_dependency(void)
{
    kernel k;
    static const int dep[1] = { 0 };
    for (int shift = 0; shift < 2; shift++) {    /* in-place update; p45 shifts by one */
        begin(&k, 1, 1);
        access_of(&k, PR_RECORD_LOAD, 0, add(&k, lane(&k, 0), num(&k, shift)), 64);
        pr_record *s = access_of(&k, PR_RECORD_STORE, 0, lane(&k, 0), 64);
        s->deps = dep;
        s->n_deps = 1;
        CHECK(status_of(&k) == (shift ? PR_VERDICT_RACES : PR_VERDICT_OK));
    }
    begin(&k, 1, 1);                             /* no dependency: nothing orders them */
    access_of(&k, PR_RECORD_LOAD, 0, lane(&k, 0), 64);
    access_of(&k, PR_RECORD_STORE, 0, lane(&k, 0), 64);
    CHECK(status_of(&k) == PR_VERDICT_RACES);
    begin(&k, 1, 1);                             /* p122: a scalar load that reaches a path */
    access_of(&k, PR_RECORD_LOAD, 0, PR_TERM_ZERO, 1)->reaches_path = true;
    pr_record *s = access_of(&k, PR_RECORD_STORE, 0, PR_TERM_ZERO, 1);
    s->deps = dep;
    s->n_deps = 1;
    CHECK(status_of(&k) == PR_VERDICT_RACES);
    for (int masked = 0; masked < 2; masked++) { /* p8 and p9: load, exchange, store of one cell */
        static const int second[1] = { 1 };
        begin(&k, 1, 1);
        access_of(&k, PR_RECORD_LOAD, 0, lane(&k, 0), 64);
        pr_record *m = access_of(&k, PR_RECORD_RMW, 1, lane(&k, 0), 64);
        m->scope = PR_SCOPE_GPU;
        m->deps = dep;
        m->n_deps = 1;
        if (masked) m->mask = pr_lt(k.T, lane(&k, 0), num(&k, 9));
        s = access_of(&k, PR_RECORD_STORE, 0, lane(&k, 0), 64);
        s->deps = second;
        s->n_deps = 1;
        CHECK(status_of(&k) == (masked ? PR_VERDICT_RACES : PR_VERDICT_OK));
    }
}

static bool has_qualifier(const kernel *k, const char *text)
{
    for (int i = 0; i < k->v.qualifiers.n; i++)
        if (pr_str_is(pr_str_of(k->v.qualifiers.data[i]), text)) return true;
    return false;
}

static void test_launch_facts(void)
{
    kernel k;
    /* p14: safe for distinct tensors, launched with one */
    for (int alias = 0; alias < 2; alias++) {
        begin(&k, 4, 1);
        pr_term mine = add(&k, times(&k, 64, pid(&k, 0)), lane(&k, 0));
        access_of(&k, PR_RECORD_LOAD, 0, add(&k, mine, num(&k, 64)), 64);
        access_of(&k, PR_RECORD_STORE, 1, mine, 64);
        if (alias) k.L.args[1].tensor = k.L.args[0].tensor;
        CHECK(status_of(&k) == (alias ? PR_VERDICT_RACES : PR_VERDICT_OK));
    }
    /* 3.4: an access past the storage qualifies the proof */
    begin(&k, 8192, 1);
    access_of(&k, PR_RECORD_STORE, 0, add(&k, times(&k, 64, pid(&k, 0)), lane(&k, 0)), 64);
    CHECK(decide(&k, &k.L, NULL, NULL) == PR_VERDICT_OK && has_qualifier(&k, "assumes in-bounds accesses of x"));
    end(&k);
    /* p111: the T0 claim names the extent of the unread axis; without a launch it is a qualifier */
    begin(&k, 8, 1);
    access_of(&k, PR_RECORD_STORE, 0, add(&k, times(&k, 64, pid(&k, 0)), lane(&k, 0)), 64);
    CHECK(decide(&k, NULL, NULL, NULL) == PR_VERDICT_OK);
    CHECK(has_qualifier(&k, "assumes extent 1 on unread grid axes"));
    CHECK(has_qualifier(&k, "assumes distinct pointer arguments do not overlap"));
    end(&k);
    /* a race at some grid is no race of a text without launch */
    begin(&k, 8, 1);
    access_of(&k, PR_RECORD_STORE, 0, lane(&k, 0), 64);
    CHECK(decide(&k, NULL, NULL, NULL) == PR_VERDICT_UNSUPPORTED && k.v.refusals.data[0].kind == PR_REFUSAL_MISSING_BINDING);
    end(&k);
    /* grid-fragile: collides beyond four programs, launched with four */
    begin(&k, 4, 1);
    pr_rung rung;
    access_of(&k, PR_RECORD_STORE, 0, pr_fmod_t(k.T, pid(&k, 0), num(&k, 4)), 1);
    CHECK(decide(&k, &k.L, &rung, NULL) == PR_VERDICT_OK && rung == PR_RUNG_T1_LAUNCH && k.v.grid_fragile.n == 1);
    end(&k);
}

static void test_obligations(void)
{
    kernel k;
    for (int g = 2; g < 4; g++) {                /* T61: pid * 2^30 fits at grid 2, wraps at grid 3 */
        begin(&k, g, 1);
        pr_term wide = times(&k, 1 << 30, pid(&k, 0));
        pr_record *r = access_of(&k, PR_RECORD_STORE, 0, pr_fmod_t(k.T, pr_fdiv_t(k.T, wide, num(&k, 1 << 30)), num(&k, 3)), 1);
        r->offset_held = pr_fits(k.T, PR_FITS_SIGNED, 32, wide);
        pr_verdict_status s = decide(&k, &k.L, NULL, NULL);
        if (g == 2) CHECK(s == PR_VERDICT_OK && has_qualifier(&k, "assumes no i32 overflow"));
        else CHECK(s == PR_VERDICT_UNSUPPORTED && k.v.refusals.data[0].kind == PR_REFUSAL_INTEGER_OVERFLOW);
        end(&k);
    }
    /* p106: the wrap hides behind an ideal address that is out of bounds */
    begin(&k, 5, 1);
    pr_term wide = times(&k, 1073741824, pid(&k, 0));
    pr_record *r = access_of(&k, PR_RECORD_STORE, 0, wide, 1);
    r->offset_held = pr_fits(k.T, PR_FITS_SIGNED, 32, wide);
    r->mask = pr_eq(k.T, pr_fmod_t(k.T, pid(&k, 0), num(&k, 4)), PR_TERM_ZERO);
    CHECK(status_of(&k) == PR_VERDICT_UNSUPPORTED);
}

static void test_uncertain(void)
{
    kernel k;
    for (int exact = 0; exact < 2; exact++) {    /* p56, T60 */
        begin(&k, 4, 1);
        pr_sym s = pr_sym_new(k.T, (pr_sym_info){ .kind = PR_SYM_LOADED, .is_bool = true, .access = 7, .op_id = -1, .from_memory = true });
        pr_term l = lane(&k, 0);
        access_of(&k, PR_RECORD_STORE, 0, lane(&k, 0), 64)->mask = pr_app(k.T, s, &l, 1);
        if (exact) access_of(&k, PR_RECORD_STORE, 1, lane(&k, 0), 64);
        pr_verdict_status st = decide(&k, &k.L, NULL, NULL);
        if (exact) CHECK(st == PR_VERDICT_RACES && k.v.races.n == 1 && k.v.withheld == 1);
        else CHECK(st == PR_VERDICT_UNSUPPORTED && k.v.refusals.data[0].kind == PR_REFUSAL_POTENTIAL_RACE);
        end(&k);
    }
    begin(&k, 4, 1);                             /* an unknown address next to a store is refused */
    pr_sym s = pr_sym_new(k.T, (pr_sym_info){ .kind = PR_SYM_LOADED, .bits = 32, .access = 7, .op_id = -1, .from_memory = true });
    pr_term l = lane(&k, 0);
    access_of(&k, PR_RECORD_STORE, 0, pr_app(k.T, s, &l, 1), 64);
    CHECK(decide(&k, &k.L, NULL, NULL) == PR_VERDICT_UNSUPPORTED && k.v.refusals.data[0].kind == PR_REFUSAL_INDIRECT_ADDRESS);
    end(&k);
    begin(&k, 4, 1);                             /* ... but not where only loads touch the buffer */
    s = pr_sym_new(k.T, (pr_sym_info){ .kind = PR_SYM_LOADED, .bits = 32, .access = 7, .op_id = -1, .from_memory = true });
    l = lane(&k, 0);
    access_of(&k, PR_RECORD_LOAD, 0, pr_app(k.T, s, &l, 1), 64);
    access_of(&k, PR_RECORD_STORE, 1, add(&k, times(&k, 64, pid(&k, 0)), lane(&k, 0)), 64);
    CHECK(status_of(&k) == PR_VERDICT_OK);
}

/* p60: an interrupt ends the check without a verdict; it is never "undecided, next rung". */
static void test_interrupt(void)
{
    kernel k;
    static const pr_flag now = 1;
    begin(&k, 4, 1);
    access_of(&k, PR_RECORD_STORE, 0, lane(&k, 0), 64);
    k.o.limits.interrupt = &now;
    CHECK(pr_check_config(k.arena, &k.R, &k.L, &k.o, NULL, &k.v, &k.err) == PR_ERR_INTERRUPTED);
    CHECK(k.err.kind == PR_ERR_INTERRUPTED && k.v.ledger.n == 0 && k.v.races.n == 0);
    end(&k);
}

/* An operation that is not understood may be the barrier that orders the pair: nothing definite then. */
static void test_hidden_order(void)
{
    kernel k;
    begin(&k, 4, 1);
    access_of(&k, PR_RECORD_STORE, 0, lane(&k, 0), 64);
    pr_refusal unknown = { .kind = PR_REFUSAL_INLINE_ASM, .message = "asm" };
    pr_vec_push(k.arena, &k.R.refusals, unknown);
    CHECK(decide(&k, &k.L, NULL, NULL) == PR_VERDICT_UNSUPPORTED && k.v.withheld == 1);
    CHECK(k.v.refusals.n == 1 && k.v.refusals.data[0].kind == PR_REFUSAL_INLINE_ASM);
    end(&k);
}

static void test_atomics(void)
{
    kernel k;
    struct { pr_scope scope; int width, shift; pr_verdict_status want; } row[] = {
        { PR_SCOPE_GPU, 4, 0, PR_VERDICT_OK }, { PR_SCOPE_CTA, 4, 0, PR_VERDICT_RACES },   /* T26, p69 */
        { PR_SCOPE_GPU, 8, 0, PR_VERDICT_RACES }, { PR_SCOPE_GPU, 4, 2, PR_VERDICT_RACES }, /* p67, p68 */
    };
    for (size_t i = 0; i < PR_LEN(row); i++) {
        begin(&k, 4, 1);
        pr_record *a = access_of(&k, PR_RECORD_RMW, 0, PR_TERM_ZERO, 1);
        a->scope = row[i].scope;
        a->sem = PR_SEM_RELAXED;
        pr_record *b = access_of(&k, PR_RECORD_RMW, 0, PR_TERM_ZERO, 1);
        b->scope = row[i].scope;
        b->sem = PR_SEM_RELAXED;
        b->width = row[i].width;
        b->offset = num(&k, row[i].shift);
        CHECK(status_of(&k) == row[i].want);
    }
    for (int barrier = 0; barrier < 2; barrier++) {  /* release/acquire could order the payload only with barriers */
        begin(&k, 2, 1);
        pr_term first = pr_eq(k.T, pid(&k, 0), PR_TERM_ZERO);
        const pr_frame *p = branch(&k, first, NULL), *c = branch(&k, pr_not(k.T, first), NULL);
        access_of(&k, PR_RECORD_STORE, 0, lane(&k, 0), 64)->frame = p;
        pr_record *w = access_of(&k, PR_RECORD_RMW, 1, PR_TERM_ZERO, 1);
        w->frame = p;
        w->sem = PR_SEM_RELEASE;
        w->scope = PR_SCOPE_GPU;
        pr_record *r = access_of(&k, PR_RECORD_RMW, 1, PR_TERM_ZERO, 1);
        r->frame = c;
        r->sem = PR_SEM_ACQUIRE;
        r->scope = PR_SCOPE_GPU;
        access_of(&k, PR_RECORD_LOAD, 0, lane(&k, 0), 64)->frame = c;
        if (barrier) {
            fence(&k, 15, p);
            fence(&k, 35, c);
        }
        pr_verdict_status st = decide(&k, &k.L, NULL, NULL);
        if (barrier) CHECK(st == PR_VERDICT_UNSUPPORTED && k.v.refusals.data[0].kind == PR_REFUSAL_NEEDS_SYNCHRONISATION);
        else CHECK(st == PR_VERDICT_RACES);
        end(&k);
    }
}

static void test_limits(void)
{
    kernel k;
    begin(&k, 4, 1);                             /* p58: an exhausted limit is never a proof */
    k.o.limits.max_ops = 1;
    k.o.limits.first_ops = 1;
    k.o.limits.max_leaves = 1;
    k.o.engine = PR_ENGINE_ISL;
    pr_term x = add(&k, times(&k, 8, pid(&k, 0)), add(&k, lane(&k, 0), num(&k, -3)));
    access_of(&k, PR_RECORD_STORE, 0, pr_add(k.T, times(&k, 4, pr_tdiv_t(k.T, x, num(&k, 4))), pr_trem_t(k.T, x, num(&k, 4))), 8);
    CHECK(status_of(&k) != PR_VERDICT_RACES);
    begin(&k, 4, 1);                             /* p105 at the default limits: the kinds of division differ */
    x = add(&k, times(&k, 8, pid(&k, 0)), add(&k, lane(&k, 0), num(&k, -3)));
    access_of(&k, PR_RECORD_STORE, 0, add(&k, num(&k, 64), pr_add(k.T, times(&k, 4, pr_tdiv_t(k.T, x, num(&k, 4))),
                                                                   pr_fmod_t(k.T, x, num(&k, 4)))), 8);
    CHECK(status_of(&k) == PR_VERDICT_RACES);
}

/* A mask whose halves share their operands 64 times over, as a sorting network leaves it: each term is
 * looked at once, not 2^64 times. */
static void test_shared_conditions(void)
{
    kernel k;
    begin(&k, 4, 1);
    pr_term m = pr_le(k.T, lane(&k, 0), num(&k, 31));
    for (int i = 0; i < 64; i++) {
        pr_term c = pr_le(k.T, pr_fmod_t(k.T, lane(&k, 0), num(&k, i + 3)), num(&k, 1));
        m = pr_or(k.T, pr_and(k.T, m, c), pr_and(k.T, pr_not(k.T, m), pr_not(k.T, c)));
    }
    access_of(&k, PR_RECORD_STORE, 0, add(&k, times(&k, 64, pid(&k, 0)), lane(&k, 0)), 64)->mask = m;
    CHECK(status_of(&k) == PR_VERDICT_OK);
}

static bool inside_at(kernel *k, pr_encoding **e, int record)
{
    static const int component[2] = { 0, 1 };
    if (!*e) *e = pr_encoding_new(k->arena, &k->R, &k->L, &k->o, PR_RUNG_T1_LAUNCH, component);
    return pr_plain_inside(*e, record);
}

/* Intervals of a record's own terms at the launch: lanes are the record's, iterations the loop's, and the first
 * element outside, an unmodelled value or a count that two loops share leave it to a query. */
static void test_plain(void)
{
    kernel k;
    pr_encoding *e = NULL;
    begin(&k, 1024, 1);                          /* BIG bytes: 1024 programs of 256 elements */
    pr_term tile = add(&k, times(&k, 256, pid(&k, 0)), lane(&k, 0));
    access_of(&k, PR_RECORD_STORE, 0, tile, 256);
    access_of(&k, PR_RECORD_STORE, 0, tile, 257);
    access_of(&k, PR_RECORD_STORE, 0, add(&k, tile, num(&k, 1)), 256);
    access_of(&k, PR_RECORD_STORE, 0, add(&k, tile, num(&k, -1)), 256);
    pr_record *across = access_of(&k, PR_RECORD_STORE, 0, tile, 256);
    across->offset = add(&k, across->offset, num(&k, 2));
    CHECK(!inside_at(&k, &e, 4));
    CHECK(inside_at(&k, &e, 0) && !inside_at(&k, &e, 1) && inside_at(&k, &e, 0) && !inside_at(&k, &e, 2) && !inside_at(&k, &e, 3));
    CHECK(pr_plain_holds(e, 0, pr_le(k.T, tile, num(&k, 262143))) && !pr_plain_holds(e, 0, pr_le(k.T, tile, num(&k, 262142))));
    CHECK(!pr_plain_holds(e, 1, pr_le(k.T, tile, num(&k, 262143))) && !pr_plain_holds(e, 0, PR_TERM_NONE));
    static const int component[2] = { 0, 1 };
    pr_encoding *open = pr_encoding_new(k.arena, &k.R, &k.L, &k.o, PR_RUNG_T1, component);
    CHECK(!pr_plain_inside(open, 0) && !pr_plain_holds(open, 0, pr_le(k.T, tile, num(&k, 262143))));
    end(&k);
    for (int trip = 256; trip <= 257; trip++) {
        begin(&k, 1, 1);
        e = NULL;
        const pr_frame *f = loop(&k, 0, trip);
        access_of(&k, PR_RECORD_STORE, 0, add(&k, times(&k, 1024, pr_var_term(k.T, f->k)), lane(&k, 0)), 1024)->frame = f;
        CHECK(inside_at(&k, &e, 0) == (trip == 256));
        end(&k);
    }
    begin(&k, 1, 1);                             /* one count, two loops: the shorter one says nothing */
    e = NULL;
    for (int i = 0; i < 2; i++) {
        const pr_frame *f = loop(&k, 0, i ? 4 : 300);
        access_of(&k, PR_RECORD_STORE, 0, add(&k, times(&k, 1024, pr_var_term(k.T, f->k)), lane(&k, 0)), 1024)->frame = f;
    }
    CHECK(!inside_at(&k, &e, 0) && !inside_at(&k, &e, 1));
    end(&k);
    begin(&k, 1, 1);                             /* an index from memory: encode.c refuses it, so it is not passed over */
    e = NULL;
    pr_sym s = pr_sym_new(k.T, (pr_sym_info){ .kind = PR_SYM_LOADED, .access = 7, .bits = 32, .from_memory = true });
    access_of(&k, PR_RECORD_STORE, 0, pr_fmod_t(k.T, pr_app(k.T, s, NULL, 0), num(&k, 16)), 1);
    CHECK(!inside_at(&k, &e, 0));
    end(&k);
}

/* ---- copy B ------------------------------------------------------------------------------------ */

typedef struct copies { const pr_terms *T; int a, b, a_pid; } copies;
static void note_copy(void *user, pr_term t)
{
    copies *c = user;
    if (pr_term_op_of(c->T, t) != PR_TERM_OP_VAR) return;
    const pr_var_info *v = pr_var_get(c->T, pr_term_var(c->T, t));
    c->a += v->copy == PR_COPY_A && v->role != PR_ROLE_PID;
    c->a_pid += v->copy == PR_COPY_A && v->role == PR_ROLE_PID;
    c->b += v->copy == PR_COPY_B;
}

static const char *text_of(kernel *k, const pr_side *s)
{
    pr_buf b;
    pr_buf_init(&b, k->arena);
    for (int i = 0; i <= s->active.n; i++) {
        pr_term_print(&b, k->T, i < s->active.n ? s->active.data[i] : s->addr);
        pr_buf_puts(&b, "\n");
    }
    return b.data;
}

static pr_record *two_loops(kernel *k, int from_memory)
{
    begin(k, 64, 1);
    k->R.args[1] = (struct pr_formal){ .name = pr_str_of("n"), .param = variable(k, PR_ROLE_PARAM, 1, 0, 2147483647, "n") };
    k->L.args[1] = (pr_arg){ .kind = PR_ARG_INT, .value = 1000, .name = pr_str_of("n") };
    pr_term n = pr_var_term(k->T, k->R.args[1].param);
    pr_frame *outer = (pr_frame *)loop(k, 0, 8), *inner = (pr_frame *)loop(k, 1, 4);
    inner->outer = branch(k, pr_le(k->T, add(k, pr_var_term(k->T, outer->k), pid(k, 0)), n), outer);
    inner->depth = 3;
    inner->upper = add(k, pr_var_term(k->T, outer->k), n);
    inner->increment_held = pr_fits(k->T, PR_FITS_SIGNED, 8, pr_var_term(k->T, inner->k));
    pr_term x = add(k, pr_mul(k->T, n, pid(k, 0)), add(k, lane(k, 0), times(k, 16, pr_var_term(k->T, inner->k))));
    pr_sym s = pr_sym_new(k->T, (pr_sym_info){ .kind = PR_SYM_LOADED, .access = 7, .bits = 32, .from_memory = true });
    pr_term value = pr_app(k->T, s, (const pr_term[]){ lane(k, 0) }, 1);
    pr_record *r = access_of(k, PR_RECORD_STORE, 0, from_memory == 2 ? add(k, x, value) : x, 128);
    r->frame = inner;
    r->mask = pr_and(k->T, pr_lt(k->T, x, n), pr_or(k->T, pr_eq(k->T, pr_fmod_t(k->T, lane(k, 0), num(k, 3)), pr_fdiv_t(k->T, pid(k, 0), num(k, 5))),
                                                   pr_le(k->T, from_memory == 1 ? value : n, lane(k, 0))));
    r->offset_held = pr_fits(k->T, PR_FITS_SIGNED, 16, r->offset);
    return r;
}

/* Copy B of a record says what it says where copy A was never made, and names no variable of copy A but the ids of one program;
 * so do terms that are put into it later. With a value from memory in the mask (in the address) too. */
static void test_copies(void)
{
    static const int component[2] = { 0, 1 };
    for (int from_memory = 0; from_memory < 3; from_memory++)
        for (int rung = 0; rung < 2; rung++) {
            kernel k, other;
            pr_record *r = two_loops(&k, from_memory);
            two_loops(&other, from_memory);
            pr_encoding *both = pr_encoding_new(k.arena, &k.R, &k.L, &k.o, rung ? PR_RUNG_T1 : PR_RUNG_T0, component);
            pr_encoding *only = pr_encoding_new(other.arena, &other.R, &other.L, &other.o, rung ? PR_RUNG_T1 : PR_RUNG_T0, component);
            const pr_side *a = pr_encoding_side(both, 0, PR_SIDE_A);
            for (int which = PR_SIDE_B; which <= PR_SIDE_B_INTRA; which++) {
                const pr_side *b = pr_encoding_side(both, 0, which), *alone = pr_encoding_side(only, 0, which);
                copies in_a = { k.T }, in_b = { k.T }, later = { k.T };
                for (int i = 0; i <= b->active.n; i++) {
                    pr_term_visit(k.T, i < b->active.n ? b->active.data[i] : b->addr, note_copy, &in_b);
                    pr_term_visit(k.T, i < a->active.n ? a->active.data[i] : a->addr, note_copy, &in_a);
                }
                pr_term_visit(k.T, pr_subst_apply((pr_subst *)&b->subst, pr_and(k.T, r->mask, pr_le(k.T, r->offset, r->frame->upper))), note_copy, &later);
                CHECK(in_a.a > 0 && in_a.b == 0 && in_b.b == in_a.a + (which == PR_SIDE_B ? in_a.a_pid : 0) && in_b.a == 0);
                CHECK(in_b.a_pid == (which == PR_SIDE_B ? 0 : in_a.a_pid) && later.a == 0 && later.b > 0 && (later.a_pid > 0) == (which != PR_SIDE_B));
                CHECK(b->active.n == alone->active.n && b->refused == alone->refused && b->dead == alone->dead && b->n_loops == 2);
                CHECK(strcmp(text_of(&k, b), text_of(&other, alone)) == 0 || from_memory || which != PR_SIDE_B);
            }
            pr_query q, p;
            bool dead, used;
            pr_refusal_kind kind;
            const char *why;
            if (from_memory != 2) {
                CHECK(pr_encode_pair(both, 0, 0, false, &q, &dead, &used, false, &kind, &why) && !dead);
                CHECK(pr_encode_pair(only, 0, 0, false, &p, &dead, &used, false, &kind, &why) && !dead);
                CHECK(q.n_vars == p.n_vars && q.n_twins == p.n_twins && q.n_core == p.n_core);
                for (int i = 0; i < q.n_vars && i < p.n_vars; i++)
                    CHECK(strcmp(pr_var_get(k.T, q.vars[i])->name, pr_var_get(other.T, p.vars[i])->name) == 0 || from_memory);
            }
            end(&k);
            end(&other);
        }
}

/* Rows of w elements, `stride` apart, one after the other over all programs: x = 32*pid + lane/each, element (x / w)*stride + x % w. The closure
 * shows w <= stride to keep programs apart; lanes it shows to be equal where each has an element of its own, and only there
 * the threads of one program need no query (H30). */
static void test_same_lanes(void)
{
    for (int each = 1; each <= 2; each++) {
        kernel k;
        pr_rung rung;
        int races;
        begin(&k, 8, 1);
        k.R.n_args = k.L.n_args = 3;
        const pr_tensor *t = k.L.args[0].tensor;
        k.R.args = PR_NEW_N(k.arena, struct pr_formal, 3);
        k.L.args = PR_NEW_N(k.arena, pr_arg, 3);
        k.R.args[0] = (struct pr_formal){ .name = pr_str_of("x"), .is_pointer = true, .pointee_bytes = 4 };
        k.L.args[0] = (pr_arg){ .kind = PR_ARG_TENSOR, .tensor = t, .name = pr_str_of("x") };
        for (int i = 1; i < 3; i++) {
            const char *name = i == 1 ? "w" : "stride";
            k.R.args[i] = (struct pr_formal){ .name = pr_str_of(name), .param = variable(&k, PR_ROLE_PARAM, i, 0, 2147483647, name) };
            k.L.args[i] = (pr_arg){ .kind = PR_ARG_INT, .value = i == 1 ? 50 : 60, .name = pr_str_of(name) };
        }
        pr_term w = pr_var_term(k.T, k.R.args[1].param), stride = pr_var_term(k.T, k.R.args[2].param);
        pr_term x = add(&k, times(&k, 32, pid(&k, 0)), pr_fdiv_t(k.T, lane(&k, 0), num(&k, each)));
        access_of(&k, PR_RECORD_STORE, 0, add(&k, pr_mul(k.T, pr_fdiv_t(k.T, x, w), stride), pr_fmod_t(k.T, x, w)), 32);
        pr_verdict_status status = decide(&k, &k.L, &rung, &races);
        if (each == 1) {
            CHECK(status == PR_VERDICT_OK && rung == PR_RUNG_T0 && k.v.ledger.n == 2);
            CHECK(k.v.ledger.data[0].evidence == k.v.ledger.data[1].evidence && strcmp(k.v.ledger.data[1].evidence, "closure: pid0 lane0") == 0);
        } else {
            CHECK(status == PR_VERDICT_RACES && races == 1 && k.v.races.data[0].intra);
        }
        end(&k);
    }
}

int main(void)
{
    test_same_lanes();
    test_copies();
    test_plain();
    test_shared_conditions();
    test_distinct();
    test_loops();
    test_barriers();
    test_dependency();
    test_launch_facts();
    test_obligations();
    test_uncertain();
    test_interrupt();
    test_hidden_order();
    test_atomics();
    test_limits();
    return check_done();
}
