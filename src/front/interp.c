/* The machine: arguments in, one run per program, answers of the probe. */
#include "front/interp.h"
#include "front/interp_core.h"

pr_machine *pr_machine_new(pr_arena *arena, const pr_interp_setup *setup)
{
    pr_machine *m = PR_NEW(arena, pr_machine);
    const pr_ir *ir = setup->ir;
    m->arena = arena;
    m->setup = *setup;
    if (m->setup.max_work <= 0) m->setup.max_work = (int64_t)1 << 28;
    m->env = pr_arena_raw(arena, sizeof(pr_ival) * ((size_t)ir->n_values + 1));
    for (int i = 0; i < ir->n_values; i++) m->env[i] = pr_ival_unknown();
    m->needed = pr_arena_alloc(arena, (size_t)ir->n_values + 1);
    m->enter = pr_arena_alloc(arena, (size_t)ir->n_ops + 1);
    m->effect = pr_arena_alloc(arena, (size_t)ir->n_ops + 1);
    m->ops = pr_arena_alloc(arena, sizeof(pr_op *) * ((size_t)ir->n_ops + 1));
    m->contents_read = pr_arena_alloc(arena, (size_t)setup->n_args + 1);
    m->why = "";
    pr_im_index(m);
    return m;
}

static pr_ival argument(pr_machine *m, const pr_value *v, int i)
{
    const pr_interp_arg *a = &m->setup.args[i];
    pr_ival r = pr_ival_unknown();
    int w;
    switch (a->kind) {
    case PR_INTERP_ARG_INT:
        w = pr_bits_of(v->type);
        if (w && v->type->kind != PR_TYPE_TENSOR) r = pr_ival_const((uint64_t)a->value & pr_bits_mask(w));
        break;
    case PR_INTERP_ARG_POINTER:
        r = pr_ival_const((uint64_t)a->value);
        r.base = (int16_t)i;
        break;
    case PR_INTERP_ARG_DESC:
        if (a->rank < 0 || a->rank > PR_MAX_RANK) break;
        r.obj = pr_iobj_new(m, a->rank);
        r.obj->base = pr_ival_const((uint64_t)a->value);
        r.obj->base.base = (int16_t)i;
        r.base = (int16_t)i;
        for (int d = 0; d < a->rank; d++) {
            r.obj->shape[d] = pr_ival_const((uint64_t)a->shape[d]);
            r.obj->stride[d] = pr_ival_const((uint64_t)a->stride[d]);
        }
        break;
    default:
        if (v->type && (v->type->kind == PR_TYPE_POINTER || v->type->kind == PR_TYPE_DESC)) r.base = (int16_t)i;
        break;
    }
    return r;
}

pr_interp_status pr_im_run(pr_machine *m, const int64_t pid[3])
{
    const pr_op *f = m->setup.func;
    const pr_block *entry = f && f->n_regions ? pr_region_block(f->regions[0]) : NULL;
    memcpy(m->pid, pid, sizeof m->pid);
    if (!m->shared_work) m->work = 0;
    m->halt = PR_HALT_NONE;
    m->why = "";
    m->where = m->ub = NULL;
    m->maybe = m->n_iter = m->n_calls = m->n_gens = m->n_events = 0;
    m->n_choices = m->n_arms = 0;
    m->epoch = (pr_interp_epoch){0};
    m->stack[0] = f;
    if (!entry || entry->n_args != m->setup.n_args) {
        pr_im_stop(m, f, "the kernel has no body, or another number of arguments");
        return PR_INTERP_STOPPED;
    }
    for (int i = 0; i < entry->n_args; i++) pr_im_set(m, entry->args[i], argument(m, entry->args[i], i));
    pr_im_region(m, f->regions[0], NULL, 0);
    return m->halt == PR_HALT_LIMIT ? PR_INTERP_LIMIT
           : m->halt == PR_HALT_STOPPED ? PR_INTERP_STOPPED : PR_INTERP_DONE;
}

static void slice_once(pr_machine *m)
{
    if (!m->sliced) pr_im_slice_all(m);
    m->sliced = true;
}

bool pr_machine_needs(pr_machine *m, const pr_value *v)
{
    slice_once(m);
    return m->needed[v->id] != 0;
}

pr_interp_status pr_machine_run(pr_machine *m, const int64_t pid[3], pr_interp_event_fn *event, void *user)
{
    slice_once(m);
    m->event = event;
    m->user = user;
    return pr_im_run(m, pid);
}

void pr_machine_set_shared_work(pr_machine *m) { m->shared_work = true; }
const char *pr_machine_why(const pr_machine *m) { return m->why; }
const pr_op *pr_machine_where(const pr_machine *m) { return m->where; }
const pr_op *pr_machine_ub(const pr_machine *m) { return m->ub; }
int pr_machine_notes(const pr_machine *m, const pr_interp_note **notes)
{
    *notes = m->notes.data;
    return m->notes.n;
}
bool pr_machine_read_contents(const pr_machine *m, int arg)
{
    return arg >= 0 && arg < m->setup.n_args && m->contents_read[arg];
}

/* Only values of single lanes where that is enough. */
static void run_sliced(pr_machine *m, const int64_t pid[3], const pr_interp_target *target, bool one_lane)
{
    memset(m->needed, 0, (size_t)m->setup.ir->n_values + 1);
    memset(m->enter, 0, (size_t)m->setup.ir->n_ops + 1);
    m->lane = one_lane ? m->lanes : NULL;
    pr_im_slice_target(m, target);
    pr_im_run(m, pid);
}

static pr_probe probe(pr_machine *m, const int64_t pid[3], const pr_interp_target *target, pr_interp_event_fn *event, void *user)
{
    pr_probe p = {.why = ""};
    if (target->op_id < 0 || target->op_id >= m->setup.ir->n_ops) {
        p.why = "no such operation";
        return p;
    }
    const pr_op *op = m->ops[target->op_id];
    if (!op || !pr_op_is_access(op->opcode)) {
        p.why = "the operation does not access memory";
        return p;
    }
    if (pr_im_loops_around(m, target) != target->n_iter) {
        p.why = "the iteration vector has another length than the loops around the access";
        p.where = op;
        return p;
    }
    m->setup.track_deps = false;
    m->target = target;
    m->probe = &p;
    m->event = event;
    m->user = user;
    bool one_lane = !event && !m->setup.touch && !m->setup.gate && !m->setup.floats;
    if (one_lane && !m->lanes) m->lanes = pr_arena_raw(m->arena, sizeof *m->lanes * ((size_t)m->setup.ir->n_values + 1));
    run_sliced(m, pid, target, one_lane);
    if (m->halt == PR_HALT_WHOLE) run_sliced(m, pid, target, false);
    p.ub = m->ub;
    p.why = m->why;
    p.where = m->where;
    p.available = m->halt != PR_HALT_LIMIT && m->halt != PR_HALT_STOPPED;
    if (m->halt != PR_HALT_FOUND) p.executed = PR_NO;
    return p;
}

pr_probe pr_machine_probe(pr_machine *m, const int64_t grid[3], const int64_t pid[3], const pr_interp_target *target)
{
    memcpy(m->setup.grid, grid, sizeof m->setup.grid);
    return probe(m, pid, target, NULL, NULL);
}

pr_probe pr_interp_probe(pr_arena *arena, const pr_interp_setup *setup, const int64_t pid[3], const pr_interp_target *target)
{ return probe(pr_machine_new(arena, setup), pid, target, NULL, NULL); }

pr_probe pr_interp_probe_lanes(pr_arena *arena, const pr_interp_setup *setup, const int64_t pid[3],
                               const pr_interp_target *target, pr_interp_event_fn *event, void *user)
{ return probe(pr_machine_new(arena, setup), pid, target, event, user); }
