/* What else a verdict says of a launch: may it be run again on the same buffers, does its result depend on the order
 * of atomics, do racing writes carry one value.
 *
 * idempotent yes: no byte that the launch writes is read by it, so a second run reads what the first one read and
 * writes the same bytes again (race freedom makes the writes of one run a function of what it reads); or an execution of the
 * launch stores all of them before it reads them. no: a
 * location that nothing else writes is certainly added to, or an execution of the launch, twice, leaves another value
 * (x = 2*x from x = 1). Everything between is unknown: a value made out of what the launch itself stores may settle
 * (x = max(x, 0) does). */
#include "hb/ladder.h"
#include "hb/sync.h"

static pr_record *record(pr_run *run, int i) { return &run->R->records.data[i]; }

/* Writes of this record leave the location as the first write left it, whatever it holds. */
static bool settles(const pr_record *r)
{
    if (r->is_pre_exit) return true;
    if (r->kind != PR_RECORD_RMW) return false;
    switch (r->rmw_op) {
    case PR_RMW_MAX: case PR_RMW_MIN: case PR_RMW_UMAX: case PR_RMW_UMIN: case PR_RMW_AND: case PR_RMW_OR: return true;
    case PR_RMW_ADD: case PR_RMW_FADD: case PR_RMW_XOR: case PR_RMW_XCHG: return false;
    }
    return false;
}

static bool result_used(const pr_run *run, const pr_record *r)
{
    if (r->reaches_path || r->reaches_mask || r->reaches_other_shape || r->is_await || r->is_pre_exit) return true;
    for (int i = 0; i < run->R->records.n; i++) {
        const pr_record *y = &run->R->records.data[i];
        for (int k = 0; k < y->n_deps; k++)
            if (y->deps[k] == r->access) return true;
        for (int k = 0; k < y->n_control_deps; k++)
            if (y->control_deps[k] == r->access) return true;
    }
    return false;
}

/* Does an execution of y read a byte that one of x writes? NO needs a proof, YES a witness on exact records. */
static pr_tri meets(pr_run *run, pr_encoding *e, int x, int y)
{
    const pr_side *a = pr_encoding_side(e, x, PR_SIDE_A), *b = pr_encoding_side(e, y, PR_SIDE_B);
    pr_terms *T = e->terms;
    pr_term_vec core = { 0 };
    pr_query q;
    pr_outcome o;
#ifdef PR_FAULTS
    if (run->o->fault == 18) return PR_NO; /* nothing that is written is read */
#endif
    if (a->dead || b->dead) return PR_NO;
    if (a->refused || b->refused) return PR_MAYBE;
    for (int i = 0; i < a->active.n; i++) pr_vec_push(run->arena, &core, a->active.data[i]);
    for (int i = 0; i < b->active.n; i++) pr_vec_push(run->arena, &core, b->active.data[i]);
    pr_vec_push(run->arena, &core, pr_lt(T, a->addr, pr_add(T, b->addr, pr_const(T, b->record->width))));
    pr_vec_push(run->arena, &core, pr_lt(T, b->addr, pr_add(T, a->addr, pr_const(T, a->record->width))));
    for (int i = 0; i < core.n; i++) {
        if (pr_term_none(core.data[i])) return PR_MAYBE;
        core.data[i] = pr_encode_simplify(e, core.data[i]);
        if (pr_term_is(core.data[i], PR_TERM_FALSE)) return PR_NO;
    }
    pr_encode_single(e, core.data, core.n, &q);
    pr_decide(&run->d, &q, false, &o, NULL);
    if (o.answer == PR_ANSWER_EMPTY) return PR_NO;
    return o.answer == PR_ANSWER_WITNESS && !a->uncertain && !b->uncertain && !a->unknown_address && !b->unknown_address ? PR_YES : PR_MAYBE;
}

/* No other record may write the buffer. */
static bool only_writer(const pr_run *run, const pr_encoding *e, int w)
{
    for (int i = 0; i < run->R->records.n; i++) {
        const pr_record *u = &run->R->records.data[i];
        if (i == w || !pr_record_writes(u) || u->is_pre_exit) continue;
        if (u->base < 0 || e->component[u->base] == e->component[run->R->records.data[w].base]) return false;
    }
    return true;
}

/* Nothing but positive, or nothing but negative amounts: sums of them are not zero. */
static bool one_sign(const pr_vset *v)
{
    bool up = !v->any && v->n > 0, down = up;
    for (int i = 0; i < v->n && !v->any; i++) {
        up = up && v->v[i] > 0;
        down = down && v->v[i] < 0;
    }
    return up || down;
}

static const char *place(pr_run *run, const pr_record *r)
{
    return pr_arena_printf(run->arena, PR_STR_FMT ":%d", PR_STR_ARG(r->loc.file), r->loc.line ? r->loc.line : r->loc.text_line);
}

/* May contents be chosen? Not where a premise says something of them that the choice could break. */
static bool contents_free(const pr_run *run, pr_encoding *e)
{
    bool reach = false;            /* an address or a condition */
    if (run->o->n_assume || run->L->n_assume) return false;
    for (int i = 0; i < run->R->records.n; i++) {
        const pr_record *r = &run->R->records.data[i];
        if (r->base < 0 || r->is_await) return false;
        reach = reach || r->reaches_mask || r->reaches_path || pr_encode_address_has_apps(e, r);
    }
    for (int i = 0; i < run->out->qualifiers.n; i++) {
        const char *q = run->out->qualifiers.data[i];
        if (!strncmp(q, "assumes indices of ", 19) || strstr(q, " nondecreasing") || strstr(q, "llvm.intr.assume")) return false;
        if (reach && strstr(q, "overflow")) return false;
    }
    return true;
}

/* Executes the launch, twice where that may show a byte that is another one afterwards; true when that answers. */
static bool run_again(pr_run *run, pr_encoding *e)
{
    pr_again x = { 0 };
    pr_error err = { 0 };
    bool all = run->R->has_atomics;
    if (!run->confirm || !run->confirm->again || !run->L || !run->L->grid_known || !contents_free(run, e)) return false;
    for (int i = 0; i < run->out->qualifiers.n; i++) {       /* premises on contents, which the first run may change */
        const char *q = run->out->qualifiers.data[i];
        all = all || !strcmp(q, "reads tensor contents") || !strncmp(q, "assumes in-bounds ", 18);
    }
    if (run->confirm->again(run->confirm->user, run->R, run->L, all, &x, &err) != PR_OK) return false;
    if (x.settles) run->out->idempotent = "yes";
    if (!x.differs) return x.settles;
    run->out->idempotent = "no";
    pr_vec_push(run->arena, &run->out->notes,
                pr_arena_printf(run->arena, "not idempotent: run again on the same buffers, %s stores another value at byte %lld of " PR_STR_FMT
                                ": %s after one run, %s after two (%s)", place(run, record(run, x.record)), (long long)x.byte,
                                PR_STR_ARG(run->R->args[x.arg].name), x.once, x.twice,
                                x.chosen ? "from small numbers where the launch gives no contents" : "from the launch's contents"));
    return true;
}

void pr_attributes(pr_run *run, pr_encoding *e)
{
    enum { MOST_QUESTIONS = 64 };
    const pr_records *R = run->R;
    run->out->idempotent = "unknown";
    if (!e || e->rung == PR_RUNG_T0 || R->refusals.n || run->out->status != PR_VERDICT_OK) return;
    bool yes = true;
    const char *note = NULL;
    int asked = 0;
    for (int i = 0; i < R->records.n && !run->d.failed; i++) {
        const pr_record *w = record(run, i);
        if (!pr_record_writes(w) || w->is_pre_exit || pr_sync_identity(e, i)) continue;
        if (w->base < 0) yes = false;
        bool rmw = w->kind == PR_RECORD_RMW;
        if (rmw && w->rmw_op == PR_RMW_XCHG) {       /* of several values another one may stay */
            pr_vset v = pr_vset_of(e, pr_encoding_side(e, i, PR_SIDE_A), w->value, w->value_held);
            if (v.any || v.n != 1) yes = false;
        }
        if ((rmw && !settles(w) && w->rmw_op != PR_RMW_XCHG) || w->kind == PR_RECORD_CAS || (rmw && result_used(run, w))) {
            pr_vset v = pr_vset_of(e, pr_encoding_side(e, i, PR_SIDE_A), w->value, w->value_held);
            bool adds = rmw && w->rmw_op == PR_RMW_ADD && w->base >= 0 && only_writer(run, e, i) && one_sign(&v) && meets(run, e, i, i) == PR_YES;
            if (adds) {
                run->out->idempotent = "no";
                pr_vec_push(run->arena, &run->out->notes,
                            pr_arena_printf(run->arena, "not idempotent: running the launch again on the same buffers adds once more at %s",
                                            place(run, w)));
                return;
            }
            yes = false;
        }
        for (int j = 0; j < R->records.n; j++) {
            const pr_record *r = record(run, j);
            bool reads = pr_record_reads(r) && !(r->kind == PR_RECORD_RMW && !result_used(run, r));
            if (!reads || i == j) continue;
            if (r->base < 0) yes = false;
            if (w->base < 0 || r->base < 0 || e->component[w->base] != e->component[r->base]) continue;
            if (++asked > MOST_QUESTIONS) {
                yes = false;
                break;
            }
            pr_tri m = meets(run, e, i, j);
            if (m == PR_NO) continue;
            yes = false;
            bool feeds = false;
            for (int k = 0; k < w->n_dep_closure; k++) feeds = feeds || w->dep_closure[k] == j;
            if (m != PR_YES || !feeds || r->kind != PR_RECORD_LOAD || w->kind != PR_RECORD_STORE) continue;
            if (!note)
                note = pr_arena_printf(run->arena, "perhaps not idempotent: what is stored at %s is made from what was loaded at %s, and "
                                       "the launch writes there; a second run on the same buffers (an autotuner's) starts from its "
                                       "own result", place(run, w), place(run, r));
        }
    }
    if (yes) run->out->idempotent = "yes";
    else if (!run->d.failed && !run->d.interrupted && !run_again(run, e) && note) pr_vec_push(run->arena, &run->out->notes, note);
}

/* Does what this atomic returns, or which of several values it leaves, depend on the order of the programs? A wait that
 * only reads says no more than that it ended. */
static bool tells_order(const pr_run *run, const pr_record *r)
{
    const pr_terms *T = run->R->terms;
    pr_i128 v;
    bool constant = !pr_term_none(r->value) && pr_term_const(T, r->value, &v);
    if (r->kind < PR_RECORD_RMW || r->is_pre_exit || r->kind == PR_RECORD_ATOMIC_STORE) return false;
    bool reads_only = r->kind == PR_RECORD_POLL || r->kind == PR_RECORD_ATOMIC_LOAD ||
                      (r->kind == PR_RECORD_CAS && !pr_term_none(r->cmp) && pr_term_is(r->cmp, r->value)) ||
                      (r->kind == PR_RECORD_RMW && constant && v == 0 &&
                       (r->rmw_op == PR_RMW_ADD || r->rmw_op == PR_RMW_OR || r->rmw_op == PR_RMW_XOR));
    if (r->is_await && reads_only) return false;
    return result_used(run, r) || r->kind == PR_RECORD_CAS || (r->kind == PR_RECORD_RMW && r->rmw_op == PR_RMW_XCHG && !constant);
}

/* Another operation that may change the same location: the two do not commute. */
static bool mixed(const pr_run *run, const pr_record *r)
{
    for (int i = 0; i < run->R->records.n && r->kind == PR_RECORD_RMW; i++) {
        const pr_record *u = &run->R->records.data[i];
        bool one_buffer = u->base < 0 || r->base < 0 || u->base == r->base;
        if (u->kind == PR_RECORD_RMW && u->rmw_op != r->rmw_op && one_buffer && !u->is_await && !r->is_await) return true;
    }
    return false;
}

void pr_attribute_order(pr_run *run)
{
    bool adds = false, tells = false;
    for (int i = 0; i < run->R->records.n; i++) {
        const pr_record *r = record(run, i);
        adds = adds || (r->kind == PR_RECORD_RMW && r->rmw_op == PR_RMW_FADD);
        tells = tells || tells_order(run, r) || mixed(run, r);
    }
    run->out->deterministic = !adds && !tells && !run->R->refusals.n;
    if (adds)
        pr_vec_push(run->arena, &run->out->notes,
                    "floating-point atomic adds: the result may differ from run to run (not a race)");
}

/* The pair's own witness, extended to the variables that only the values mention, shows that the two may differ: then
 * the question needs no engine. Each copy's new variables take another value. */
static bool differ_at_witness(pr_run *run, const pr_query *q, const pr_pair *p)
{
    const pr_query *asked = p->query;
    if (p->state != PR_PAIR_WITNESS || p->point.n != asked->n_vars) return false;
    pr_point at = { PR_NEW_N(run->arena, pr_i128, q->n_vars + 1), q->n_vars };
    for (int i = 0; i < q->n_vars; i++) {
        const pr_var_info *v = pr_var_get(q->terms, q->vars[i]);
        int j = 0;
        while (j < asked->n_vars && asked->vars[j].id != q->vars[i].id) j++;
        pr_i128 value = j < asked->n_vars ? p->point.value[j] : v->copy == PR_COPY_B;
        if (j == asked->n_vars && v->lo > -PR_INF && value < v->lo) value = v->lo + (v->copy == PR_COPY_B && v->lo < v->hi);
        if (j == asked->n_vars && v->hi < PR_INF && value > v->hi) value = v->hi;
        at.value[i] = value;
    }
    return pr_query_holds(q, &at) == PR_YES;
}

/* All bytes of the value are one: then it does not matter how far two stores of it are shifted. */
static bool one_byte(const pr_terms *T, pr_term t, int width)
{
    pr_i128 v;
    if (!pr_term_const(T, t, &v) || width > 8) return false;
    for (int i = 1; i < width; i++)
        if (((v >> (8 * i)) & 255) != (v & 255)) return false;
    return true;
}

/* Do both accesses of the pair store one value wherever they meet? Those that meet in a part of it do not, whatever it is. */
bool pr_same_value(pr_run *run, const pr_encoding *e, const pr_pair *p)
{
    const pr_side *a = pr_encoding_side((pr_encoding *)e, p->a, PR_SIDE_A);
    const pr_side *b = pr_encoding_side((pr_encoding *)e, p->b, p->intra ? PR_SIDE_B_INTRA : PR_SIDE_B);
    const pr_record *x = a->record, *y = b->record;
    pr_outcome o;
    if (x->kind != PR_RECORD_STORE || y->kind != PR_RECORD_STORE) return false;
    if (pr_term_none(x->value) || pr_term_none(y->value)) return false;
    pr_term u = pr_subst_apply((pr_subst *)&a->subst, x->value), v = pr_subst_apply((pr_subst *)&b->subst, y->value);
    if (pr_term_none(u) || pr_term_none(v) || x->width != y->width) return false;
    pr_term differ = pr_ne(e->terms, u, v);
    if (!pr_term_is(u, v) || !one_byte(e->terms, u, x->width)) differ = pr_or(e->terms, differ, pr_ne(e->terms, a->addr, b->addr));
    differ = pr_encode_simplify((pr_encoding *)e, differ);
    if (pr_term_none(differ)) return false;
    if (pr_term_is(differ, PR_TERM_FALSE)) return true;
    pr_query q = *p->query;
    pr_term *core = PR_NEW_N(run->arena, pr_term, q.n_core + 1);
    if (q.n_core) memcpy(core, q.core, sizeof *core * (size_t)q.n_core);
    core[q.n_core++] = differ;
    q.core = core;
    pr_encode_finish_vars((pr_encoding *)e, &q);
    if (!run->o->cross_check && differ_at_witness(run, &q, p)) return false;
    pr_decide(&run->d, &q, false, &o, NULL);
    return o.answer == PR_ANSWER_EMPTY;
}

/* Two executions of one store that differ in nothing that its value is made of store one value. e: at the launch. */
bool pr_made_the_same(pr_run *run, pr_encoding *e, const pr_pair *p, const pr_race *race)
{
    const bool *args = NULL;
    unsigned axes = 0;
    int n_args = 0;
    pr_terms *T = e->terms;
    pr_outcome o;
    if (record(run, p->a)->access != record(run, p->b)->access || e->rung == PR_RUNG_T0 || !run->confirm || !run->confirm->made_of ||
        !run->confirm->made_of(run->confirm->user, run->R, p->a, &axes, &args, &n_args)) return false;
    for (int i = 0; i < run->R->records.n; i++) {
        const pr_record *w = record(run, i);
        if (!pr_record_writes(w)) continue;
        for (int k = 0; k < n_args; k++)
            if (args[k] && (w->base < 0 || w->base == k || e->component[w->base] == e->component[k])) return false;
    }
    const pr_witness_access *u = &race->a, *v = &race->b;      /* the witness itself may differ in one of them */
    bool same = u->address == v->address;
    for (int i = 0; i < 3; i++) same = same && (!(axes >> i & 1) || u->program[i] == v->program[i]);
    for (int d = 0; d < u->rank && d < v->rank; d++) same = same && u->lane[d] == v->lane[d];
    for (int i = 0; i < u->n_iterations && i < v->n_iterations; i++) same = same && u->iteration[i] == v->iteration[i];
    if (!same) return false;
    const pr_side *a = pr_encoding_side(e, p->a, PR_SIDE_A), *b = pr_encoding_side(e, p->b, p->intra ? PR_SIDE_B_INTRA : PR_SIDE_B);
    pr_term differ = pr_ne(T, a->addr, b->addr);
    for (int i = 0; i < 3; i++)
        if (axes >> i & 1) differ = pr_or(T, differ, pr_ne(T, a->pid[i], b->pid[i]));
    for (int d = 0; d < a->record->rank; d++)
        if (a->record->shape[d] > 1) differ = pr_or(T, differ, pr_ne(T, a->lane[d], b->lane[d]));
    for (int i = 0; i < a->n_loops; i++) differ = pr_or(T, differ, pr_ne(T, a->iter[i], b->iter[i]));
    differ = pr_encode_simplify(e, differ);
    if (pr_term_none(differ)) return false;
    if (pr_term_is(differ, PR_TERM_FALSE)) return true;
    pr_query q;
    bool dead, used;
    pr_refusal_kind kind;
    const char *why;
    if (!pr_encode_pair(e, p->a, p->b, p->intra, &q, &dead, &used, false, &kind, &why)) return false;
    if (dead) return true;
    pr_term *core = PR_NEW_N(run->arena, pr_term, q.n_core + 1);
    if (q.n_core) memcpy(core, q.core, sizeof *core * (size_t)q.n_core);
    core[q.n_core++] = differ;
    q.core = core;
    pr_encode_finish_vars(e, &q);
    pr_decide(&run->d, &q, false, &o, NULL);
    return o.answer == PR_ANSWER_EMPTY;
}
