/* What did every program of the launch do? Runs them and keeps one entry per active lane. */
#include "front/replay_gates.h"
#include "front/interp_core.h"

void pr_rlog_reason(pr_rlog *l, const pr_op *op, const char *why)
{
    for (int i = 0; i < l->reasons.n; i++)
        if (l->reasons.data[i].op == op && !strcmp(l->reasons.data[i].why, why)) return;
    pr_replay_reason r = {op, why};
    pr_vec_push(l->arena, &l->reasons, r);
}

/* Programs are numbered so that their order is the order of (pid0, pid1, pid2). */
void pr_rlog_program(const pr_rlog *l, int64_t program, int64_t pid[3])
{
    const int64_t *g = l->setup->grid;
    pid[2] = program % g[2];
    pid[1] = program / g[2] % g[1];
    pid[0] = program / g[2] / g[1];
}

static int find_site(pr_rlog *l, const pr_interp_event *e)
{
    int *head = &l->site_of_op[e->op->id];
    for (int i = *head; i >= 0; i = l->sites.data[i].next) {
        const pr_rsite *s = &l->sites.data[i];
        if (s->n_calls == e->n_calls &&
            !memcmp(s->calls, e->calls, sizeof(int) * (size_t)e->n_calls)) return i;
    }
    pr_rsite s = {.op = e->op, .n_calls = e->n_calls, .n_iter = e->n_iter, .width = e->width,
                  .rank = e->rank, .n_lanes = e->n_lanes, .kind = e->kind, .sem = e->sem,
                  .scope = e->scope, .via_desc = e->via_desc, .next = *head};
    memcpy(s.shape, e->shape, sizeof s.shape);
    s.calls = pr_arena_copy(l->arena, e->calls, sizeof(int) * (size_t)(e->n_calls + 1));
    pr_vec_push(l->arena, &l->sites, s);
    return *head = l->sites.n - 1;
}

static bool inside(const pr_rlog *l, int base, uint64_t addr)
{
    const pr_replay_storage *s = l->o.storage;
    if (!s || (base < 0 && l->o.complete_only)) return true; /* whose storage it is in is not known: it takes part everywhere */
    if (base >= 0) return !s[base].known || (s[base].lo <= addr && addr < s[base].hi);
    bool any = false;
    for (int i = 0; i < l->setup->n_args; i++) {
        if (!s[i].known) continue;
        if (s[i].lo <= addr && addr < s[i].hi) return true;
        any = true;
    }
    return !any;
}

static void take(void *user, const pr_interp_event *e)
{
    pr_rlog *l = user;
    if (l->refused) return;
    int site = find_site(l, e);
    pr_rsite *s = &l->sites.data[site];
    pr_rdyn d = {.site = site, .program = l->program, .iter = l->iters.n, .deps = l->deps.n,
                 .n_deps = e->n_deps, .arms = l->arms.n, .n_arms = e->n_arms,
                 .first = l->events.n, .epoch = e->epoch};
    assert(e->number == l->dyns.n - l->first_dyn.data[l->program]);
    for (int i = 0; i < e->n_iter; i++) pr_vec_push(l->arena, &l->iters, e->iter[i]);
    for (int i = 0; i < e->n_deps; i++) pr_vec_push(l->arena, &l->deps, e->deps[i]);
    for (int i = 0; i < e->n_arms; i++) pr_vec_push(l->arena, &l->arms, e->arms[i]);
    if (e->has_position) s->has_position = true; /* a clamp may hide a dimension in some executions */
    if (e->n_lanes > PR_EV_LANE) l->refused = "more lanes than the replay counts";
    for (int64_t i = 0; i < e->n_lanes && !l->refused; i++) {
        pr_interp_lane_info x = pr_interp_lane(e, i);
        if (x.active == PR_NO) continue;
        pr_rev ev = {.addr = x.addr, .dyn = (uint32_t)l->dyns.n, .lane = (uint32_t)i};
        uint64_t bit = (uint64_t)1 << (x.base >= 0 && x.base < 63 ? x.base : 63);
        if (x.active == PR_MAYBE) ev.lane |= PR_EV_MAYBE;
        s->bases |= bit;
        if (!x.addr_known) {
            ev.lane |= PR_EV_NOWHERE;
            s->unknown_address = true;
            s->unknown_bases |= bit;
            if (l->o.complete_only && pr_rsite_writes(s) != PR_NO) l->refused = "an address that is written is not known";
        } else if (!inside(l, x.base, x.addr)) {
            ev.lane |= PR_EV_OUTSIDE;
        } else if (s->width > 1 && !inside(l, x.base, x.addr + (uint64_t)s->width - 1)) {
            ev.lane |= PR_EV_ACROSS;
        }
        pr_vec_push(l->arena, &l->events, ev);
        if (l->events.n > l->o.max_events) l->refused = "more accesses than max_events";
    }
    d.n = (int)(l->events.n - d.first);
    pr_vec_push(l->arena, &l->dyns, d);
    if (l->dyns.n > l->o.max_events) l->refused = "more accesses than max_events";
}

static int compare_sites(const pr_rsite *a, const pr_rsite *b)
{
    for (int i = 0;; i++) { /* first differing operation of the two call chains */
        int x = i < a->n_calls ? a->calls[i] : a->op->id, y = i < b->n_calls ? b->calls[i] : b->op->id;
        if (x != y) return x < y ? -1 : 1;
        if (i >= a->n_calls || i >= b->n_calls) return 0;
    }
}

static void order_sites(pr_rlog *l)
{
    for (int i = 0; i < l->sites.n; i++) {
        int before = 0;
        for (int j = 0; j < l->sites.n; j++) {
            int c = compare_sites(&l->sites.data[j], &l->sites.data[i]);
            before += c < 0 || (c == 0 && j < i);
        }
        l->sites.data[i].order = before;
    }
}

/* Conditions on absolute addresses, and barriers that name address spaces, are read as neither here nor there. */
static bool followed(const pr_op *op)
{
    if (op->opcode == PR_OP_TT_PTR_TO_INT || (op->opcode == PR_OP_GPU_BARRIER && !pr_op_is_global_barrier(op))) return false;
    for (int r = 0; r < op->n_regions; r++)
        for (int b = 0; b < op->regions[r]->n_blocks; b++)
            for (int k = 0; k < op->regions[r]->blocks[b]->n_ops; k++)
                if (!followed(op->regions[r]->blocks[b]->ops[k])) return false;
    return true;
}

void pr_rlog_collect(pr_rlog *l, pr_arena *arena, const pr_interp_setup *setup,
                     const pr_replay_options *o, bool deps)
{
    memset(l, 0, sizeof *l);
    l->arena = arena;
    l->setup = setup;
    if (o) l->o = *o;
    if (l->o.max_programs <= 0) l->o.max_programs = 65536;
    if (l->o.max_events <= 0) l->o.max_events = 4000000;
    if (l->o.max_pairs <= 0) l->o.max_pairs = (int64_t)1 << 28;
    if (l->o.num_warps <= 0) l->o.num_warps = 4;
    int64_t programs = 1;
    for (int d = 0; d < 3; d++) {
        if (setup->grid[d] < 1 || setup->grid[d] > l->o.max_programs) programs = -1;
        else if (programs > 0) programs *= setup->grid[d];
        if (programs > l->o.max_programs) programs = -1;
    }
    if (programs < 0) {
        l->refused = "the grid is empty or has more programs than max_programs";
        return;
    }
    if (l->o.known_text && !followed(setup->ir->module)) {
        l->refused = "the text computes with addresses, or has a barrier for some address spaces";
        return;
    }
    l->site_of_op = PR_NEW_N(arena, int, setup->ir->n_ops + 1);
    for (int i = 0; i <= setup->ir->n_ops; i++) l->site_of_op[i] = -1;
    pr_interp_setup s = *setup;
    s.track_deps = deps;
    if (l->o.waits) l->gates = pr_gates_new(l, &s);
    l->machine = pr_machine_new(arena, &s);
    pr_machine_set_shared_work(l->machine);
    for (l->program = 0; l->program < programs && !l->refused; l->program++) {
        int64_t pid[3];
        pr_rlog_program(l, l->program, pid);
        pr_vec_push(arena, &l->first_dyn, l->dyns.n);
        pr_interp_status r = pr_machine_run(l->machine, pid, take, l);
        if (r == PR_INTERP_LIMIT)
            l->refused = setup->interrupt && *setup->interrupt ? "interrupted" : "more evaluations than max_work";
        if (r == PR_INTERP_STOPPED) {
            pr_rlog_reason(l, pr_machine_where(l->machine), pr_machine_why(l->machine));
            if (l->o.complete_only) l->refused = "a program cannot be executed to its end";
        }
        const pr_op *ub = pr_machine_ub(l->machine);
        bool seen = !ub;
        for (int i = 0; i < l->ub.n && !seen; i++) seen = l->ub.data[i].op == ub;
        pr_replay_reason why = {ub, "undefined behaviour"};
        if (!seen) pr_vec_push(arena, &l->ub, why);
    }
    order_sites(l);
}

pr_replay_access pr_rlog_access(const pr_rlog *l, const pr_rev *e)
{
    const pr_rdyn *d = &l->dyns.data[e->dyn];
    const pr_rsite *s = &l->sites.data[d->site];
    pr_replay_access a = {.op = s->op, .calls = s->calls, .n_calls = s->n_calls,
                          .iter = s->n_iter ? l->iters.data + d->iter : NULL, .n_iter = s->n_iter, .rank = s->rank,
                          .addr = e->addr, .width = s->width, .kind = s->kind, .via_desc = s->via_desc,
                          .writes = pr_rsite_writes(s), .base = -1};
    pr_rlog_program(l, d->program, a.pid);
    int64_t at = e->lane & PR_EV_LANE;
    for (int k = s->rank - 1; k >= 0; k--) {
        a.lane[k] = at % s->shape[k];
        at /= s->shape[k];
    }
    a.addr_known = !(e->lane & PR_EV_NOWHERE);
    a.active = (e->lane & PR_EV_MAYBE) ? PR_MAYBE : PR_YES;
    for (int i = 0; i < 63; i++) /* exact when the site uses one argument */
        if (s->bases == (uint64_t)1 << i) a.base = i;
    for (int i = 0; a.base < 0 && a.addr_known && l->o.storage && i < l->setup->n_args; i++)
        if (l->o.storage[i].known && l->o.storage[i].lo <= a.addr && a.addr < l->o.storage[i].hi) a.base = i;
    return a;
}

const char *pr_interp_footprint(pr_arena *arena, const pr_interp_setup *setup, const pr_replay_options *o,
                                pr_footprint_fn *visit, void *user)
{
    pr_rlog *l = PR_NEW(arena, pr_rlog);
    pr_replay_options plain = o ? *o : (pr_replay_options){0};
    plain.storage = NULL;
    pr_rlog_collect(l, arena, setup, &plain, false);
    if (l->refused) return l->refused;
    int *at = PR_NEW_N(arena, int, l->sites.n + 2), *dyn = PR_NEW_N(arena, int, l->dyns.n + 1);
    for (int i = 0; i < l->dyns.n; i++) at[l->sites.data[l->dyns.data[i].site].order + 1]++;
    for (int i = 0; i < l->sites.n; i++) at[i + 1] += at[i];
    for (int i = 0; i < l->dyns.n; i++) dyn[at[l->sites.data[l->dyns.data[i].site].order]++] = i;
    for (int i = 0; i < l->dyns.n; i++) {
        const pr_rdyn *d = &l->dyns.data[dyn[i]];
        for (int k = 0; k < d->n; k++) {
            pr_replay_access a = pr_rlog_access(l, &l->events.data[d->first + k]);
            visit(user, &a);
        }
    }
    return l->reasons.n ? l->reasons.data[0].why : NULL;
}
