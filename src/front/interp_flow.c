/* Which operations does one program execute, in which order and how often?
 *
 * Values that go around a loop or leave a loop, a branch or a call keep their dependency sets; those of a loop whose
 * bounds are not known lose them. */
#include "front/interp_core.h"

static const pr_interp_epoch *epoch_join(pr_machine *m, const pr_interp_epoch *a, const pr_interp_epoch *b,
                                         bool unbounded, pr_interp_epoch *r)
{
    *r = *a; /* r is neither a nor b */
    if (a->gen == b->gen && a->n == b->n) return r;
    r->gen = ++m->n_gens;
    r->n = 0;
    r->lo = a->lo < b->lo ? a->lo : b->lo;
    r->hi = unbounded ? PR_EPOCH_INF : a->hi > b->hi ? a->hi : b->hi;
    return r;
}

/* ---- probe: is the current context one that leads to the target? ----------------------------- */
bool pr_im_on_path(const pr_machine *m)
{
    const pr_interp_target *t = m->target;
    if (!t || m->n_calls > t->n_calls || m->n_iter > t->n_iter) return false;
    for (int i = 0; i < m->n_calls; i++)
        if (m->calls[i] != t->calls[i]) return false;
    for (int i = 0; i < m->n_iter; i++)
        if (m->iter[i] != t->iter[i]) return false;
    return true;
}

static bool results_needed(const pr_machine *m, const pr_op *op)
{
    for (int i = 0; i < op->n_results; i++)
        if (m->needed[op->results[i]->id]) return true;
    return false;
}

/* Must this region operation or call be run at all? */
static bool must_run(const pr_machine *m, const pr_op *op)
{
    if (results_needed(m, op)) return true;
    if (!(m->enter[op->id] & PR_ENTER_RUN)) return false;
    return !m->target || pr_im_on_path(m);
}

/* ---- regions -------------------------------------------------------------------------------- */
static void run_ops(pr_machine *m, const pr_block *b)
{
    for (int i = 0; i + 1 < b->n_ops && m->halt == PR_HALT_NONE; i++) pr_im_exec(m, b->ops[i]);
}

static void take_operands(pr_machine *m, const pr_op *t, pr_ival *out, int n_out)
{
    for (int i = 0; i < n_out; i++)
        out[i] = t && i < t->n_operands ? pr_ival_keep(*pr_im_get(m, t->operands[i])) : pr_ival_unknown();
}

/* State of one block of a region with several. mass is the share of the runs that get there, of
 * FULL: an unknown branch halves it, so FULL at a join means that every path leads there. */
#define FULL ((uint64_t)1 << 62)
typedef struct pr_bstate { uint64_t mass; bool entered; pr_interp_epoch epoch; int order; } pr_bstate;

static bool post_order(pr_machine *m, const pr_region *r, int *order, int *n_order)
{
    int n = r->n_blocks, top = 0, c;
    size_t bytes = sizeof(int) * 3 * (size_t)n;
    int *next = pr_im_block(m, bytes, &c), *stack = next + n, *state = stack + n;
    bool acyclic = true;
    memset(next, 0, bytes);
    stack[top++] = 0;
    state[0] = 1;
    *n_order = 0;
    while (top) {
        int b = stack[top - 1];
        const pr_op *t = pr_block_terminator(r->blocks[b]);
        if (t && next[b] < t->n_succ) {
            int s = t->succ[next[b]++].block->index;
            if (state[s] == 1) acyclic = false;
            if (state[s]) continue;
            state[s] = 1;
            stack[top++] = s;
        } else {
            state[b] = 2;
            order[(*n_order)++] = b;
            top--;
        }
    }
    pr_im_unblock(m, next, c);
    return acyclic;
}

static void send(pr_machine *m, const pr_op *t, int edge, uint64_t mass, pr_bstate *s)
{
    const pr_successor *e = &t->succ[edge];
    const pr_block *b = e->block;
    pr_bstate *to = &s[b->index];
    if (!mass) return;
    for (int i = 0; i < b->n_args; i++) {
        const pr_value *arg = b->args[i];
        pr_ival v = pr_ival_unknown();
        if (i < e->n && e->first + i < t->n_operands) {
            const pr_ival *x = pr_im_get(m, t->operands[e->first + i]);
            v = to->entered ? pr_ival_merge(m, pr_im_get(m, arg), x, pr_type_count(arg->type),
                                            pr_bits_of(arg->type) == 1)
                            : pr_ival_keep(*x);
        }
        pr_im_set(m, arg, v);
    }
    pr_interp_epoch joined;
    to->epoch = to->entered ? *epoch_join(m, &to->epoch, &m->epoch, false, &joined) : m->epoch;
    to->entered = true;
    to->mass += mass;
}

static void leave_block(pr_machine *m, const pr_op *t, uint64_t mass, pr_bstate *s)
{
    int taken = -1;
    if (t->opcode == PR_OP_CF_COND_BR && t->n_succ == 2) {
        pr_tri c = pr_ival_truth(pr_im_get(m, t->operands[0]));
        if (c != PR_MAYBE) taken = c == PR_YES ? 0 : 1;
    } else if (t->opcode == PR_OP_CF_SWITCH && t->n_operands) {
        uint64_t x;
        const pr_attr *cases = pr_op_attr(t, "case_values");
        int w = pr_bits_of(t->operands[0]->type);
        if (w && pr_ival_at(pr_im_get(m, t->operands[0]), 0, &x)) {
            taken = 0;
            for (int i = 0; cases && i < cases->n_ints && i + 1 < t->n_succ; i++)
                if (((uint64_t)cases->ints[i] & pr_bits_mask(w)) == x) taken = i + 1;
            if (!cases && t->n_succ > 1) {
                pr_im_stop(m, t, "the case values of a cf.switch cannot be read");
                return;
            }
        }
    } else if (t->n_succ == 1) {
        taken = 0;
    }
    if (taken >= 0) {
        send(m, t, taken, mass, s);
        return;
    }
    uint64_t share = mass / (uint64_t)t->n_succ;
    if (!share) { /* else a block that is reached would not be run */
        pr_im_stop(m, t, "more unknown branches one after the other than are counted");
        return;
    }
    for (int i = 0; i < t->n_succ; i++)
        send(m, t, i, i + 1 < t->n_succ ? share : mass - share * (uint64_t)(t->n_succ - 1), s);
}

static void run_blocks(pr_machine *m, const pr_region *r, pr_ival *out, int n_out)
{
    int n = r->n_blocks, n_order, c1, c2;
    pr_bstate *s = pr_im_block(m, sizeof *s * (size_t)n, &c1);
    int *order = pr_im_block(m, sizeof *order * (size_t)n, &c2);
    memset(s, 0, sizeof *s * (size_t)n);
    bool first = true;
    pr_interp_epoch end = m->epoch, joined;
    take_operands(m, NULL, out, n_out);
    if (!post_order(m, r, order, &n_order)) {
        pr_im_stop(m, r->op, "a cycle in the control flow graph");
    } else {
        s[0] = (pr_bstate){.mass = FULL, .entered = true, .epoch = m->epoch};
        for (int i = n_order - 1; i >= 0 && m->halt == PR_HALT_NONE; i--) {
            const pr_block *b = r->blocks[order[i]];
            pr_bstate *here = &s[b->index];
            const pr_op *t = pr_block_terminator(b);
            if (!here->mass || !t) continue;
            m->epoch = here->epoch;
            bool sure = here->mass == FULL;
            m->maybe += !sure;
            run_ops(m, b);
            if (m->halt == PR_HALT_NONE && t->n_succ) leave_block(m, t, here->mass, s);
            else if (m->halt == PR_HALT_NONE) {
                for (int k = 0; k < n_out && k < t->n_operands; k++) {
                    const pr_ival *x = pr_im_get(m, t->operands[k]);
                    pr_ival old = out[k];
                    out[k] = first ? pr_ival_keep(*x)
                                   : pr_ival_merge(m, &old, x, pr_type_count(t->operands[k]->type),
                                                   pr_bits_of(t->operands[k]->type) == 1);
                    pr_ival_drop(m, old);
                }
                end = first ? m->epoch : *epoch_join(m, &end, &m->epoch, false, &joined);
                first = false;
            }
            m->maybe -= !sure;
        }
    }
    if (m->halt == PR_HALT_NONE) m->epoch = end;
    pr_im_unblock(m, order, c2);
    pr_im_unblock(m, s, c1);
}

/* Runs a region whose entry arguments are set; out gets the operands of its terminator. */
void pr_im_region(pr_machine *m, const pr_region *r, pr_ival *out, int n_out)
{
    if (!r || r->n_blocks == 0) {
        take_operands(m, NULL, out, n_out);
    } else if (r->n_blocks == 1) {
        const pr_block *b = r->blocks[0];
        run_ops(m, b);
        take_operands(m, m->halt == PR_HALT_NONE ? pr_block_terminator(b) : NULL, out, n_out);
    } else {
        run_blocks(m, r, out, n_out);
    }
}

static pr_ival *scratch(pr_machine *m, int n, int *size_class)
{
    pr_ival *v = pr_im_block(m, sizeof(pr_ival) * (size_t)(n + 1), size_class);
    for (int i = 0; i <= n; i++) v[i] = pr_ival_unknown();
    return v;
}

static void give_results(pr_machine *m, const pr_op *op, pr_ival *v)
{
    for (int i = 0; i < op->n_results; i++) pr_im_set(m, op->results[i], v[i]);
}

/* One of several regions runs; chosen -1 = not known which. */
static void run_choice(pr_machine *m, const pr_op *op, int chosen)
{
    int c1, c2, n = op->n_results;
    pr_ival *sum = scratch(m, n, &c1), *one = scratch(m, n, &c2);
    if (chosen >= 0) {
        pr_im_region(m, op->regions[chosen], sum, n);
    } else {
        pr_interp_epoch before = m->epoch, end = before, joined;
        bool listed = m->n_arms < PR_INTERP_MAX_ARMS;
        int id = m->n_choices++;
        m->n_arms += listed;
        m->maybe++;
        for (int k = 0; k < op->n_regions && m->halt == PR_HALT_NONE; k++) {
            if (listed) m->arms[m->n_arms - 1] = (pr_interp_arm){id, k};
            m->epoch = before;
            pr_im_region(m, op->regions[k], one, n);
            for (int i = 0; i < n; i++) {
                const pr_type *t = op->results[i]->type;
                pr_ival old = sum[i];
                if (k == 0) {
                    sum[i] = one[i];
                } else {
                    sum[i] = pr_ival_merge(m, &old, &one[i], pr_type_count(t), pr_bits_of(t) == 1);
                    pr_ival_drop(m, one[i]);
                }
                pr_ival_drop(m, old);
                one[i] = pr_ival_unknown();
            }
            end = k == 0 ? m->epoch : *epoch_join(m, &end, &m->epoch, false, &joined);
        }
        m->epoch = end;
        m->maybe--;
        m->n_arms -= listed;
    }
    if (m->halt == PR_HALT_NONE) give_results(m, op, sum);
    pr_im_unblock(m, one, c2);
    pr_im_unblock(m, sum, c1);
}

static void run_if(pr_machine *m, const pr_op *op)
{
    pr_tri c = pr_ival_truth(pr_im_get(m, op->operands[0]));
    run_choice(m, op, c == PR_MAYBE ? -1 : c == PR_YES ? 0 : 1);
}

static void run_index_switch(pr_machine *m, const pr_op *op)
{
    uint64_t x;
    const pr_attr *cases = pr_op_attr(op, "cases");
    int chosen = -1;
    if (cases && cases->kind == PR_ATTR_DENSE_ARRAY && cases->n_ints + 1 == op->n_regions &&
        pr_ival_at(pr_im_get(m, op->operands[0]), 0, &x)) {
        chosen = 0; /* the default region comes first */
        for (int i = 0; i < cases->n_ints; i++)
            if ((uint64_t)cases->ints[i] == x) chosen = i + 1;
    }
    run_choice(m, op, chosen);
}

/* ---- loops ---------------------------------------------------------------------------------- */
static bool push_iter(pr_machine *m, const pr_op *op, int64_t k)
{
    if (m->n_iter == PR_INTERP_MAX_LOOPS) {
        pr_im_stop(m, op, "loops are nested too deeply");
        return false;
    }
    m->iter[m->n_iter++] = k;
    return true;
}

typedef struct pr_trips { bool lower_known, known, bad_step; pr_u128 n; uint64_t lower, step; int w; bool wraps; } pr_trips;

static pr_trips trip_count(const pr_machine *m, const pr_op *op)
{
    pr_trips t = {.w = pr_bits_of(op->operands[0]->type)};
    uint64_t up;
    if (!t.w) return t;
    bool ks = pr_ival_at(pr_im_get(m, op->operands[2]), 0, &t.step);
    t.lower_known = pr_ival_at(pr_im_get(m, op->operands[0]), 0, &t.lower) & ks;
    bool ku = pr_ival_at(pr_im_get(m, op->operands[1]), 0, &up);
    bool is_unsigned = pr_op_attr(op, "unsignedCmp") != NULL;
    const pr_attr *flag = pr_op_attr(op, "unsignedCmp");
    if (flag && flag->kind == PR_ATTR_BOOL) is_unsigned = flag->boolean;
    pr_i128 lo, hi, step, top;
    if (is_unsigned) {
        lo = t.lower;
        hi = up;
        step = t.step;
        top = pr_bits_mask(t.w);
    } else {
        lo = pr_bits_signed(t.lower, t.w);
        hi = pr_bits_signed(up, t.w);
        step = pr_bits_signed(t.step, t.w);
        top = (pr_i128)(pr_bits_mask(t.w) >> 1);
    }
    t.known = t.lower_known && ku;
    if (t.lower_known && step <= 0) t.bad_step = true;
    if (!t.known || t.bad_step || lo >= hi) {
        if (t.known && lo >= hi) t.bad_step = false;
        return t;
    }
    t.n = (pr_u128)((hi - lo + step - 1) / step);
    t.wraps = lo + (pr_i128)t.n * step > top;
    return t;
}

/* Bounds that are not known: the body once, for an unknown iteration. */
static void run_unknown_for(pr_machine *m, const pr_op *op, const pr_block *b, pr_ival *carry, int n)
{
    const pr_op *yield = pr_block_terminator(b);
    pr_im_note(m, op, "the bounds of a loop are not known");
    if (!push_iter(m, op, -1)) return;
    m->maybe++;
    pr_im_set(m, b->args[0], pr_ival_unknown());
    for (int i = 0; i < n; i++) {
        pr_ival v = pr_ival_unknown();
        bool invariant = yield && i < yield->n_operands && yield->operands[i] == b->args[1 + i];
        if (invariant) v = pr_ival_keep(carry[i]);
        else {
            v.base = carry[i].base;
            v.dims = carry[i].dims | (uint8_t)pr_type_dims(op->results[i]->type);
        }
        pr_im_set(m, b->args[1 + i], v);
    }
    pr_interp_epoch before = m->epoch, joined;
    int c;
    pr_ival *out = scratch(m, n, &c);
    pr_im_region(m, op->regions[0], out, n);
    for (int i = 0; i < n; i++) {
        const pr_type *t = op->results[i]->type;
        pr_ival old = carry[i];
        /* one body stands for all of them: what it was given must be what it hands on */
        if (yield && old.base >= 0 && out[i].base != old.base)
            pr_im_note(m, yield, "a loop whose bounds are not known hands on a pointer to another tensor");
        carry[i] = pr_ival_merge(m, &old, &out[i], pr_type_count(t), pr_bits_of(t) == 1);
        pr_ival_drop(m, old);
        pr_ival_drop(m, out[i]);
    }
    pr_im_unblock(m, out, c);
    m->epoch = *epoch_join(m, &before, &m->epoch, true, &joined);
    m->maybe--;
    m->n_iter--;
}

/* One iteration: carry goes in and the yielded values come out in it. */
static void run_iteration(pr_machine *m, const pr_op *op, const pr_block *b, pr_u128 k, const pr_trips *t,
                          pr_ival *carry, int n)
{
    if (!push_iter(m, op, (int64_t)k) || !pr_im_spend(m, 1 + n)) return;
    pr_im_set(m, b->args[0], pr_ival_const((t->lower + (uint64_t)k * t->step) & pr_bits_mask(t->w)));
    for (int i = 0; i < n; i++) {
        pr_im_set(m, b->args[1 + i], t->known ? carry[i] : pr_ival_without_deps(m, carry[i]));
        carry[i] = pr_ival_unknown();
    }
    pr_im_region(m, op->regions[0], carry, n);
    m->n_iter--;
}

static void run_for(pr_machine *m, const pr_op *op)
{
    const pr_block *b = pr_region_block(op->regions[0]);
    int n = op->n_operands - 3, c;
    if (!b || b->n_args != n + 1 || n != op->n_results) {
        pr_im_stop(m, op, "a loop without the usual body");
        return;
    }
    pr_trips t = trip_count(m, op);
    bool on_path = m->target && (m->enter[op->id] & PR_ENTER_RUN) && pr_im_on_path(m);
    pr_ival *carry = scratch(m, n, &c);
    for (int i = 0; i < n; i++) carry[i] = pr_ival_keep(*pr_im_get(m, op->operands[3 + i]));
    if (t.bad_step) {
        pr_im_ub(m, op);
        pr_im_stop(m, op, "the step of a loop is not positive");
    } else if (on_path && m->n_iter < m->target->n_iter && t.lower_known) {
        /* up to the iteration asked for; no other one when nothing is carried into it */
        pr_u128 k = (pr_u128)m->target->iter[m->n_iter];
        bool carried = false;
        for (int i = 0; i < n; i++) carried |= m->needed[b->args[1 + i]->id] != 0;
        int unsure = t.known ? 0 : 1;
        if (!t.known || k < t.n) {
            m->maybe += unsure;
            for (pr_u128 i = carried ? 0 : k; i <= k && m->halt == PR_HALT_NONE; i++)
                run_iteration(m, op, b, i, &t, carry, n);
            m->maybe -= unsure;
        }
        if (m->halt == PR_HALT_NONE) m->halt = PR_HALT_MISSED;
    } else if (!t.known) {
        run_unknown_for(m, op, b, carry, n);
    } else {
        for (pr_u128 i = 0; i < t.n && m->halt == PR_HALT_NONE; i++)
            run_iteration(m, op, b, i, &t, carry, n);
    }
    if (t.wraps && m->halt == PR_HALT_NONE) pr_im_ub(m, op);
    if (m->halt == PR_HALT_NONE)
        for (int i = 0; i < n; i++) pr_im_set(m, op->results[i], t.known ? carry[i] : pr_ival_without_deps(m, carry[i]));
    pr_im_unblock(m, carry, c);
}

static void run_while(pr_machine *m, const pr_op *op)
{
    const pr_block *before = pr_region_block(op->regions[0]);
    const pr_block *after = op->n_regions > 1 ? pr_region_block(op->regions[1]) : NULL;
    if (!before || !after || op->regions[0]->n_blocks != 1 || before->n_args != op->n_operands) {
        pr_im_stop(m, op, "a scf.while without the usual regions");
        return;
    }
    int c1, c2, n_in = op->n_operands, n_out = op->n_results;
    pr_ival *in = scratch(m, n_in, &c1), *out = scratch(m, 1 + n_out, &c2);
    for (int i = 0; i < n_in; i++) in[i] = pr_ival_keep(*pr_im_get(m, op->operands[i]));
    bool on_path = m->target && (m->enter[op->id] & PR_ENTER_RUN) && pr_im_on_path(m) && m->n_iter < m->target->n_iter;
    pr_iwait here, *outer = m->wait;
    m->wait = m->setup.gate && pr_im_is_wait(m, op, &here) ? &here : NULL;
    for (int64_t k = 0; m->halt == PR_HALT_NONE; k++) {
        if (on_path && k > m->target->iter[m->n_iter]) { /* the iteration asked for is over */
            m->halt = PR_HALT_MISSED;
            break;
        }
        if (!push_iter(m, op, k) || !pr_im_spend(m, 1 + n_in + n_out)) break;
        for (int i = 0; i < n_in; i++) {
            pr_im_set(m, before->args[i], in[i]);
            in[i] = pr_ival_unknown();
        }
        pr_im_region(m, op->regions[0], out, 1 + n_out);
        if (m->halt != PR_HALT_NONE) break;
        pr_tri c = pr_ival_truth(&out[0]);
        pr_ival_drop(m, out[0]);
        out[0] = pr_ival_unknown();
        if (c == PR_MAYBE && pr_im_wait_relates(m)) c = PR_NO;
        if (c == PR_MAYBE) {
            pr_im_stop(m, op, "the condition of a scf.while is not known");
            break;
        }
        if (c == PR_NO) {
            m->n_iter--;
            if (m->wait) pr_im_wait_ends(m);
            for (int i = 0; i < n_out; i++) {
                if (m->wait) pr_ival_drop(m, out[1 + i]);
                pr_im_set(m, op->results[i], m->wait ? pr_ival_unknown() : out[1 + i]);
            }
            break;
        }
        if (m->wait) pr_im_wait_goes_on(m);
        for (int i = 0; i < n_out; i++) {
            if (i < after->n_args) pr_im_set(m, after->args[i], out[1 + i]);
            else pr_ival_drop(m, out[1 + i]);
            out[1 + i] = pr_ival_unknown();
        }
        pr_im_region(m, op->regions[1], in, n_in);
        m->n_iter--;
    }
    m->wait = outer;
    pr_im_unblock(m, out, c2);
    pr_im_unblock(m, in, c1);
}

/* ---- calls ---------------------------------------------------------------------------------- */
static void run_call(pr_machine *m, const pr_op *op)
{
    const pr_op *f = pr_im_callee(m, op);
    const pr_block *b = f && f->n_regions ? pr_region_block(f->regions[0]) : NULL;
    if (!b || b->n_args != op->n_operands) {
        pr_im_stop(m, op, "a call of a function without a body");
        return;
    }
    for (int i = 0; i <= m->n_calls; i++)
        if (m->stack[i] == f) {
            pr_im_stop(m, op, "a recursive call");
            return;
        }
    if (m->n_calls == PR_INTERP_MAX_CALLS) {
        pr_im_stop(m, op, "calls are nested too deeply");
        return;
    }
    int c;
    pr_ival *out = scratch(m, op->n_results, &c);
    for (int i = 0; i < b->n_args; i++) pr_im_set(m, b->args[i], pr_ival_keep(*pr_im_get(m, op->operands[i])));
    m->calls[m->n_calls++] = op->id;
    m->stack[m->n_calls] = f;
    pr_im_region(m, f->regions[0], out, op->n_results);
    m->n_calls--;
    if (m->halt == PR_HALT_NONE) give_results(m, op, out);
    pr_im_unblock(m, out, c);
}

static void barrier(pr_machine *m, const pr_op *op)
{
    if (!pr_op_is_global_barrier(op)) return;
    m->epoch.n++;
    m->epoch.lo++;
    if (m->epoch.hi != PR_EPOCH_INF) m->epoch.hi++;
}

void pr_im_exec(pr_machine *m, const pr_op *op)
{
    if (m->lane && !m->enter[op->id]) return;                 /* nothing reads it                        */
    if (!pr_im_spend(m, m->shared_work ? 4 : 1)) return;      /* it takes as long as a few elements */
    bool structured = op->opcode == PR_OP_SCF_IF || op->opcode == PR_OP_SCF_FOR ||
                      op->opcode == PR_OP_SCF_WHILE || op->opcode == PR_OP_SCF_EXECUTE_REGION ||
                      op->opcode == PR_OP_SCF_INDEX_SWITCH || op->opcode == PR_OP_TT_CALL;
    if (structured && !must_run(m, op)) {
        pr_im_set_unknown(m, op);
        return;
    }
    switch (op->opcode) {
    case PR_OP_SCF_IF: run_if(m, op); return;
    case PR_OP_SCF_FOR: run_for(m, op); return;
    case PR_OP_SCF_WHILE: run_while(m, op); return;
    case PR_OP_SCF_EXECUTE_REGION: run_choice(m, op, 0); return;
    case PR_OP_SCF_INDEX_SWITCH: run_index_switch(m, op); return;
    case PR_OP_TT_CALL: run_call(m, op); return;
    case PR_OP_TTG_BARRIER: case PR_OP_GPU_BARRIER: barrier(m, op); return;
    case PR_OP_TT_MAKE_TENSOR_DESCRIPTOR: case PR_OP_TT_MAKE_TENSOR_PTR: case PR_OP_TT_ADVANCE:
        pr_im_make_object(m, op);
        return;
    default: break;
    }
    if (pr_op_is_access(op->opcode)) {
        /* a probe does not run the accesses it neither asks for nor needs */
        if (m->target && op->id != m->target->op_id && !results_needed(m, op)) pr_im_set_unknown(m, op);
        else pr_im_access(m, op);
        return;
    }
    pr_im_eval(m, op);
}
