/* Which storage does the kernel allocate, and is there anything that no walk could model? */
#include "shm/walk.h"
#include <string.h>

pr_loc pr_shm_loc(const pr_op *op)
{
    const pr_srcloc *l = op ? pr_srcloc_user(op->loc) : NULL;
    pr_loc r = { .text_line = op ? op->line : 0, .op = op ? op->name : (pr_str){ 0 } };
    if (l) {
        r.file = l->file;
        r.line = l->line;
        r.col = l->col;
    }
    return r;
}

void pr_shm_refuse(pr_shm_prog *p, pr_refusal_vec *to, pr_refusal_kind kind, const pr_op *op,
                   const char *message)
{
    pr_loc loc = pr_shm_loc(op);
    for (int i = 0; i < to->n; i++)
        if (to->data[i].kind == kind && to->data[i].loc.text_line == loc.text_line) return;
    pr_refusal r = { .kind = kind, .loc = loc, .message = message };
    pr_vec_push(p->arena, to, r);
}

typedef void (*visitor)(void *user, const pr_op *op);
static void visit(const pr_region *r, visitor f, void *user)
{
    for (int b = 0; r && b < r->n_blocks; b++) {
        for (int i = 0; i < r->blocks[b]->n_ops; i++) {
            const pr_op *op = r->blocks[b]->ops[i];
            f(user, op);
            for (int k = 0; k < op->n_regions; k++) visit(op->regions[k], f, user);
        }
    }
}

static bool has_text(pr_str s, const char *part)
{
    size_t n = strlen(part);
    for (size_t i = 0; i + n <= s.n; i++)
        if (memcmp(s.s + i, part, n) == 0) return true;
    return false;
}

/* ---- allocations -------------------------------------------------------------------------------------- */
static void allocation(void *user, const pr_op *op)
{
    pr_shm_prog *p = user;
    if (op->opcode != PR_OP_TTG_LOCAL_ALLOC && op->opcode != PR_OP_TTNG_TMEM_ALLOC) return;
    const pr_type *t = op->n_results ? op->results[0]->type : NULL;
    if (!t || t->kind != PR_TYPE_MEMDESC || t->rank < 1 || t->rank > PR_SHM_RANK || !t->elem || t->elem->bits < 1) {
        pr_shm_refuse(p, &p->refusals, PR_REFUSAL_LAYOUT, op, "an allocation whose type is not understood");
        return;
    }
    pr_shm_alloc a = { .op = op, .name = op->results[0]->name, .loc = pr_shm_loc(op), .rank = t->rank,
                       .memory = op->opcode == PR_OP_TTG_LOCAL_ALLOC ? PR_SHM_SMEM : PR_SHM_TMEM,
                       .elem_bits = t->elem ? t->elem->bits : 0, .live_from = op->id };
    memcpy(a.shape, t->shape, sizeof a.shape);
    a.offset = (int64_t)pr_op_attr_int(op, "allocation.offset", -1);
    if (a.offset >= 0) p->allocated = true;
    /* Such layouts take more bytes than their elements: where the storage ends is not known. */
    if (has_text(t->text, "padded_shared") || has_text(t->text, "fp4Padded = true")) a.offset = -1;
    if (has_text(t->text, "shared_cluster_memory"))
        pr_shm_refuse(p, &p->refusals, PR_REFUSAL_MULTI_CTA, op, "shared memory of other CTAs");
    pr_shm_place_columns(&a, t);
    const pr_op *inner = op;
    while (inner->block && inner->block->region->op) {
        const pr_op *up = inner->block->region->op;
        for (int r = 0; up->opcode == PR_OP_TTG_WARP_SPECIALIZE && r < up->n_regions; r++) {
            if (up->regions[r] != inner->block->region) continue;
            a.region = up;
            a.partition = r;
        }
        inner = up;
    }
    p->alloc_of_op[op->id] = p->allocs.n;
    pr_vec_push(p->arena, &p->allocs, a);
}

bool pr_shm_is_view(int opcode)
{
    switch (opcode) {
    case PR_OP_TTG_MEMDESC_INDEX: case PR_OP_TTG_MEMDESC_SUBSLICE: case PR_OP_TTG_MEMDESC_SUBVIEW:
    case PR_OP_TTG_MEMDESC_TRANS: case PR_OP_TTG_MEMDESC_RESHAPE: case PR_OP_TTG_MEMDESC_REINTERPRET:
    case PR_OP_TTNG_TMEM_SUBSLICE: return true;
    default: return false;
    }
}

/* ---- lives of allocations: a value belongs to the allocations it can be a view of -------------------- */
typedef struct flow {
    pr_shm_prog *p;
    uint64_t *of;                /* by value id                                                 */
    int *last;                   /* by operation id: greatest id below it                         */
    bool changed;
} flow;

static void feed(flow *f, const pr_value *to, const pr_value *from)
{
    if (!to || !from || (f->of[to->id] | f->of[from->id]) == f->of[to->id]) return;
    f->of[to->id] |= f->of[from->id];
    f->changed = true;
}

static void flows(void *user, const pr_op *op)
{
    flow *f = user;
    int a = f->p->alloc_of_op[op->id];
    if (a >= 0) f->of[op->results[0]->id] |= (uint64_t)1 << a;
    if (pr_shm_is_view(op->opcode)) feed(f, op->results[0], op->operands[0]);
    if (op->opcode == PR_OP_TTNG_WARP_GROUP_DOT_WAIT)
        for (int i = 0; i < op->n_results && i < op->n_operands; i++) feed(f, op->results[i], op->operands[i]);
    if (op->opcode == PR_OP_ARITH_SELECT) {
        feed(f, op->results[0], op->operands[1]);
        feed(f, op->results[0], op->operands[2]);
    }
    bool loop = op->opcode == PR_OP_SCF_FOR;
    for (int r = 0; r < op->n_regions; r++) {
        const pr_block *b = pr_region_block(op->regions[r]);
        const pr_op *end = pr_block_terminator(b);
        if (!b) continue;
        int skip = loop ? 3 : 0, first = loop ? 1 : 0;
        if (loop || op->opcode == PR_OP_SCF_WHILE || op->opcode == PR_OP_TTG_WARP_SPECIALIZE) {
            for (int i = first; i < b->n_args && skip + i - first < op->n_operands; i++) {
                feed(f, b->args[i], op->operands[skip + i - first]);
                if (loop && end && i - first < end->n_operands) feed(f, b->args[i], end->operands[i - first]);
            }
        }
        for (int i = 0; end && i < op->n_results && i < end->n_operands; i++)
            feed(f, op->results[i], end->operands[i]);
        for (int i = 0; loop && i < op->n_results; i++) feed(f, op->results[i], op->operands[3 + i]);
    }
}

static void depth_first(flow *f, const pr_region *r, int *most)
{
    for (int b = 0; r && b < r->n_blocks; b++) {
        for (int i = 0; i < r->blocks[b]->n_ops; i++) {
            const pr_op *op = r->blocks[b]->ops[i];
            int below = op->id;
            for (int k = 0; k < op->n_regions; k++) depth_first(f, op->regions[k], &below);
            f->last[op->id] = below;
            if (below > *most) *most = below;
        }
    }
}

static bool inside(const pr_op *op, const pr_op *outer)
{
    for (; op; op = op->block && op->block->region ? op->block->region->op : NULL)
        if (op == outer) return true;
    return false;
}

static void uses(void *user, const pr_op *op)
{
    flow *f = user;
    for (int i = 0; i < op->n_operands; i++) {
        uint64_t set = f->of[op->operands[i]->id];
        for (int a = 0; set && a < f->p->allocs.n; a++) {
            if (!(set >> a & 1)) continue;
            pr_shm_alloc *alloc = &f->p->allocs.data[a];
            int end = f->last[op->id];
            for (const pr_op *up = op; up; up = up->block ? up->block->region->op : NULL) {
                bool repeats = up->opcode == PR_OP_SCF_FOR || up->opcode == PR_OP_SCF_WHILE;
                if (repeats && !inside(alloc->op, up) && f->last[up->id] > end) end = f->last[up->id];
            }
            if (end > alloc->live_to) alloc->live_to = end;
            if (op->opcode == PR_OP_TTNG_INIT_BARRIER && i == 0) alloc->barrier = true;
        }
    }
}

static void lives(pr_shm_prog *p)
{
    flow f = { .p = p, .of = PR_NEW_N(p->arena, uint64_t, p->ir->n_values + 1),
               .last = PR_NEW_N(p->arena, int, p->ir->n_ops + 1) };
    int most = 0;
    depth_first(&f, p->func->regions[0], &most);
    do {
        f.changed = false;
        visit(p->func->regions[0], flows, &f);
    } while (f.changed);
    for (int a = 0; a < p->allocs.n; a++) p->allocs.data[a].live_to = p->allocs.data[a].live_from;
    visit(p->func->regions[0], uses, &f);
}

bool pr_shm_runs_beside(const pr_shm_alloc *a, const pr_op *op)
{
    for (; a->region && op->block && op->block->region->op; op = op->block->region->op)
        if (op->block->region->op == a->region) return op->block->region != a->region->regions[a->partition];
    return false;
}

bool pr_shm_requests_in_order(const pr_shm_event *a, const pr_shm_event *b)
{
    return a->op->opcode == PR_OP_TTNG_CLC_TRY_CANCEL && b->op->opcode == PR_OP_TTNG_CLC_TRY_CANCEL && a->agent == b->agent && (!a->agent || a->ws == b->ws);
}

bool pr_shm_alloc_disjoint(const pr_shm_alloc *a, const pr_shm_alloc *b)
{
    if (a == b) return false;
    if (a->memory != b->memory) return true;
    if (a->region && a->region == b->region && a->partition != b->partition) return true; /* they run side by side */
    return a->live_from <= b->live_to && b->live_from <= a->live_to;
}

/* ---- what cannot be modelled --------------------------------------------------------------------------- */
static bool is_memdesc(const pr_value *v)
{
    return v && v->type && v->type->kind == PR_TYPE_MEMDESC;
}

/* Operations of the GPU dialects without an effect on shared memory, tensor memory or barriers. */
static bool harmless(pr_str name)
{
    static const char *const names[] = {
        "ttg.global_scratch_alloc", "ttg.barrier", "ttg.local_barrier", "ttg.fp4_to_fp", "ttg.warp_id",
        "ttg.warp_yield", "ttg.warp_return", "ttg.warp_specialize", "ttg.convert_layout",
        "ttng.tensormap_create", "ttng.tensormap_fenceproxy_acquire", "ttng.reinterpret_tensor_descriptor",
        "ttng.clc_is_canceled", "ttng.clc_get_program_id", "ttng.fence_mbarrier_init_release_cluster", "ttng.fence", "ttng.prefetch_async_tma",
    };
    for (size_t i = 0; i < PR_LEN(names); i++)
        if (pr_str_is(name, names[i])) return true;
    return false;
}

static bool starts(pr_str s, const char *prefix) { return pr_str_starts(s, prefix); }

/* A unit attribute, or true. */
static bool set_on(const pr_attr *a)
{
    return a && (a->kind != PR_ATTR_BOOL || a->boolean) && (a->kind != PR_ATTR_INT || a->integer != 0);
}

static bool pure(const pr_op *op)
{
    return set_on(pr_op_attr(op, "pure"));
}

/* A dialect whose unknown operations cannot touch shared memory, or an operation of another one that is known
 * not to. */
static bool elsewhere(const pr_op *op)
{
    static const char *const dialects[] = { "arith.", "math.", "scf.", "ub.", "builtin." };
    for (size_t i = 0; i < PR_LEN(dialects); i++)
        if (starts(op->name, dialects[i])) return true;
    if (starts(op->name, "tt.descriptor_")) return false;
    return (starts(op->name, "tt.") && op->opcode != PR_OP_UNKNOWN) || op->opcode == PR_OP_GPU_BARRIER
           || op->opcode == PR_OP_CF_ASSERT || op->opcode == PR_OP_CF_BR || op->opcode == PR_OP_CF_COND_BR || op->opcode == PR_OP_LLVM_INTR_ASSUME;
}

static void partitions(void *user, const pr_op *op)
{
    pr_shm_prog *p = user;
    const pr_attr *warps = op->opcode == PR_OP_TTG_WARP_SPECIALIZE ? pr_op_attr(op, "partitionNumWarps") : NULL;
    for (int i = 0; warps && warps->kind == PR_ATTR_DENSE_ARRAY && i < warps->n_ints; i++)
        if (warps->ints[i] < 1 || warps->ints[i] > 64) pr_shm_refuse(p, &p->refusals, PR_REFUSAL_OTHER, op, "no target has so many warps in a partition");
    if (op->opcode != PR_OP_TTG_WARP_SPECIALIZE || op->n_regions <= p->n_agents) return;
    p->n_agents = op->n_regions;
    if (p->n_agents <= PR_SHM_AGENTS) return;
    p->n_agents = PR_SHM_AGENTS;
    pr_shm_refuse(p, &p->refusals, PR_REFUSAL_BUDGET, op, "more than 16 partitions");
}

static void screen(void *user, const pr_op *op)
{
    pr_shm_prog *p = user;
    pr_refusal_vec *to = &p->refusals;
    pr_str n = op->name;
    bool touches = false, alone = p->n_ctas == 1;    /* masks of CTAs mean nothing where there is one          */
    for (int i = 0; i < op->n_operands; i++) touches = touches || is_memdesc(op->operands[i]);
    for (int i = 0; i < op->n_results; i++) touches = touches || is_memdesc(op->results[i]);
    if (starts(n, "tti.") || starts(n, "tti_")) {
        pr_shm_refuse(p, to, PR_REFUSAL_INSTRUMENTED, op, "the module is instrumented already");
    } else if (starts(n, "nvws.") || (pr_op_attr(op, "ttg.partition") && p->n_agents < 2)) {
        pr_shm_refuse(p, to, PR_REFUSAL_PRE_LOWERING, op, "not final TTGIR: partitions are not formed yet");
    } else if (starts(n, "ttng.cluster") || starts(n, "ttng.async_shared_store")
               || set_on(pr_op_attr(op, "multicast")) || set_on(pr_op_attr(op, "two_ctas"))
               || (!alone && (pr_op_attr(op, "fromCTA") || pr_op_attr(op, "multicastCTA")))) {
        pr_shm_refuse(p, to, PR_REFUSAL_MULTI_CTA, op, "an operation on several CTAs");
    } else if (op->opcode == PR_OP_TT_CALL) {
        if (!pr_shm_quiet_call(p->ir, op))
            pr_shm_refuse(p, to, PR_REFUSAL_CALL, op, "a call; what its callee does with shared memory is not read");
    } else if (starts(n, "cf.") && op->opcode != PR_OP_CF_ASSERT && !(p->returns_early && (op->opcode == PR_OP_CF_BR || op->opcode == PR_OP_CF_COND_BR))) {
        pr_shm_refuse(p, to, PR_REFUSAL_CONTROL_FLOW, op, "branches between blocks");
    } else if (starts(n, "ttg.") || starts(n, "ttng.") || starts(n, "amdg.") || starts(n, "amdgpu.")) {
        bool read = !op->is_unknown_form && pr_op_attr(op, "textSegmentSizes");
        if (!read && !harmless(n))
            pr_shm_refuse(p, to, PR_REFUSAL_OUT_OF_VOCABULARY, op,
                          pr_arena_printf(p->arena, "`" PR_STR_FMT "` is outside the model%s", PR_STR_ARG(n),
                                          op->is_unknown_form || op->opcode == PR_OP_UNKNOWN
                                              ? "" : " in its generic form"));
    } else if (!elsewhere(op)) {
        bool early = starts(n, "tt.descriptor_");
        pr_shm_refuse(p, to, early ? PR_REFUSAL_PRE_LOWERING : PR_REFUSAL_OUT_OF_VOCABULARY, op,
                      pr_arena_printf(p->arena, "`" PR_STR_FMT "` %s", PR_STR_ARG(n),
                                      early ? "is lowered by a later pass" : "is outside the model"));
    } else if (touches && op->opcode != PR_OP_ARITH_SELECT && op->opcode != PR_OP_SCF_FOR
               && op->opcode != PR_OP_SCF_IF && op->opcode != PR_OP_SCF_YIELD
               && op->opcode != PR_OP_TT_FUNC && op->opcode != PR_OP_SCF_WHILE
               && op->opcode != PR_OP_SCF_CONDITION) {
        pr_shm_refuse(p, to, PR_REFUSAL_OUT_OF_VOCABULARY, op,
                      pr_arena_printf(p->arena, "`" PR_STR_FMT "` takes a shared memory view and is outside the model",
                                      PR_STR_ARG(n)));
    }
    if (op->opcode == PR_OP_TT_ELEMENTWISE_INLINE_ASM && !pure(op) && !pr_op_is_grid_dependency_asm(op))
        pr_shm_refuse(p, to, PR_REFUSAL_INLINE_ASM, op, "inline assembly that may synchronise or touch shared memory");
}

/* A size of the module, which some target can have; else a refusal. */
static int size_of(pr_shm_prog *p, const char *name, int otherwise, int most)
{
    pr_i128 v = pr_op_attr_int(p->ir->module, name, otherwise);
    if (v >= 1 && v <= most) return (int)v;
    pr_shm_refuse(p, &p->refusals, PR_REFUSAL_OTHER, p->func, pr_arena_printf(p->arena, "no target has such a `%s`", name));
    return otherwise;
}

static int target_of(const pr_ir *ir)
{
    const pr_attr *a = pr_op_attr(ir->module, "ttg.target");
    int v = 0;
    if (!a || a->kind != PR_ATTR_STRING || !pr_str_starts(a->text, "cuda:")) return 0;
    for (size_t i = 5; i < a->text.n && a->text.s[i] >= '0' && a->text.s[i] <= '9'; i++)
        v = v * 10 + (a->text.s[i] - '0');
    return v;
}

int pr_shm_place(const pr_shm_prog *p, int copy, const pr_op *op) { return copy * (p->ir->n_ops + 1) + op->id; }

pr_shm_prog *pr_shm_read(pr_arena *arena, const pr_ir *ir, const pr_op *func)
{
    pr_shm_prog *p = PR_NEW(arena, pr_shm_prog);
    *p = (pr_shm_prog){ .arena = arena, .ir = ir, .func = func, .T = pr_terms_new(arena), .n_agents = 1 };
    p->n_copies = 1;
    p->alloc_of_op = PR_NEW_N(arena, int, (ir->n_ops + 1) * PR_SHM_COPIES);
    p->loop_of_op = PR_NEW_N(arena, int, (ir->n_ops + 1) * PR_SHM_COPIES);
    for (int i = 0; i < (ir->n_ops + 1) * PR_SHM_COPIES; i++) p->alloc_of_op[i] = p->loop_of_op[i] = -1;
    p->reads = PR_NEW_N(arena, unsigned char, ir->n_ops + 1);
    p->num_warps = size_of(p, "ttg.num-warps", 4, 64);
    p->threads_per_warp = size_of(p, "ttg.threads-per-warp", 32, 64);
    p->allocated = pr_op_attr(ir->module, "ttg.shared") != NULL;
    p->target = target_of(ir);
    p->n_ctas = size_of(p, "ttg.num-ctas", 1, 1 << 10);
    if (set_on(pr_op_attr(ir->module, "ttng.two-ctas")))
        pr_shm_refuse(p, &p->refusals, PR_REFUSAL_MULTI_CTA, func, "tensor core operations of two CTAs");
    p->copies[0].when = PR_TERM_TRUE;
    p->returns_early = func->regions[0]->n_blocks > 1 && pr_shm_returns_early(func);
    visit(func->regions[0], allocation, p);
    visit(func->regions[0], partitions, p);
    visit(func->regions[0], screen, p);
    if (func->regions[0]->n_blocks != 1 && !p->returns_early)
        pr_shm_refuse(p, &p->refusals, PR_REFUSAL_CONTROL_FLOW, func, "branches between blocks");
    if (p->allocs.n > 64)
        pr_shm_refuse(p, &p->refusals, PR_REFUSAL_BUDGET, func, "more than 64 allocations");
    else lives(p);
    if (p->n_ctas != 1) pr_shm_ctas(p);
    return p;
}
