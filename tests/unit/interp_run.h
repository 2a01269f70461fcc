/* What the tests of the evaluator share: a kernel as text, its arguments, and what one run did. */
#ifndef PR_TESTS_INTERP_RUN_H
#define PR_TESTS_INTERP_RUN_H
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "front/interp.h"
#include "front/replay.h"

typedef struct run_hit {             /* one active or maybe active lane                             */
    const pr_op *op;
    int calls[PR_INTERP_MAX_CALLS], n_calls;
    int64_t iter[8]; int n_iter;
    int64_t lane;
    bool known;
    uint64_t addr;
    int base, width, n_deps;
    pr_tri active;
    pr_interp_kind kind; pr_interp_sem sem; pr_interp_scope scope;
    pr_interp_epoch epoch;
} run_hit;

typedef struct program_text {
    pr_arena *arena;
    const char *text;                /* one or several tt.func, the kernel is public                 */
    pr_ir *ir;
    pr_interp_setup setup;
    pr_interp_arg args[8];
    pr_replay_storage storage[8];
    pr_machine *machine;
    run_hit *hit; int n, cap;
} program_text;

static inline void load_program(program_text *p)
{
    pr_error e = {0};
    const char *text = pr_arena_printf(p->arena, "module {\n  %s}\n", p->text), *why = "";
    p->ir = pr_ir_parse(p->arena, text, strlen(text), "test", NULL, &e);
    if (!p->ir) {
        fprintf(stderr, "%d:%d: %s\n%s", e.line, e.col, e.message, text);
        abort();
    }
    p->setup = (pr_interp_setup){.ir = p->ir, .func = pr_ir_kernel(p->ir, pr_str_of(""), &why),
                                 .args = p->args, .grid = {1, 1, 1}};
    if (!p->setup.func) {
        fprintf(stderr, "%s\n", why);
        abort();
    }
    p->setup.n_args = pr_region_block(p->setup.func->regions[0])->n_args;
    p->machine = pr_machine_new(p->arena, &p->setup);
}

/* bytes > 0: the storage is [address, address + bytes); elem_bytes only matters for contents */
static inline void give_pointer(program_text *p, int i, uint64_t address, uint64_t bytes, int elem_bytes)
{
    p->args[i] = (pr_interp_arg){.kind = PR_INTERP_ARG_POINTER, .value = (pr_i128)address, .elem_bytes = elem_bytes};
    p->storage[i] = (pr_replay_storage){.known = bytes > 0, .lo = address, .hi = address + bytes};
}

static inline void give_int(program_text *p, int i, pr_i128 v)
{
    p->args[i] = (pr_interp_arg){.kind = PR_INTERP_ARG_INT, .value = v};
}

static inline void take_hits(void *user, const pr_interp_event *e)
{
    program_text *p = user;
    for (int64_t i = 0; i < e->n_lanes; i++) {
        pr_interp_lane_info x = pr_interp_lane(e, i);
        if (x.active == PR_NO) continue;
        if (p->n == p->cap) {
            int cap = p->cap ? 2 * p->cap : 64;
            run_hit *more = pr_arena_alloc(p->arena, sizeof *more * (size_t)cap);
            if (p->n) memcpy(more, p->hit, sizeof *more * (size_t)p->n);
            p->hit = more;
            p->cap = cap;
        }
        run_hit *h = &p->hit[p->n++];
        *h = (run_hit){.op = e->op, .n_calls = e->n_calls, .n_iter = e->n_iter, .lane = i, .known = x.addr_known,
                       .addr = x.addr, .base = x.base, .width = e->width, .n_deps = e->n_deps, .active = x.active,
                       .kind = e->kind, .sem = e->sem, .scope = e->scope, .epoch = e->epoch};
        for (int k = 0; k < e->n_calls; k++) h->calls[k] = e->calls[k];
        for (int k = 0; k < e->n_iter && k < 8; k++) h->iter[k] = e->iter[k];
    }
}

static inline pr_interp_status run_program(program_text *p, int64_t x, int64_t y, int64_t z)
{
    p->n = 0;
    return pr_machine_run(p->machine, (int64_t[3]){x, y, z}, take_hits, p);
}
#endif
