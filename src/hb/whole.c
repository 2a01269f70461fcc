/* What is left when no query decides: the launch is executed, program by program, and what it touches compared.
 *
 * The evaluator knows what a term may not say: sorts, scans and reductions of known contents, loops that do not count,
 * values carried through them. Where it knows every address and condition that matters (`pr_whole.why_not` is null) its
 * answer is complete for this launch: races that happen in every execution, or none. It wraps integers as the machine
 * does and orders by O1 to O3 alone, so a proof needs no width condition and no atomic. Nothing is assumed but what
 * the verdict names. A kernel with an operation that is not understood is not tried. */
#include "hb/ladder.h"
#include "hb/order.h"

/* Refusals of the reader that an execution answers: the shape of a loop or an address, not an unknown operation. */
static bool answers(pr_refusal_kind k)
{
    switch (k) {
    case PR_REFUSAL_SPIN_SHAPE: case PR_REFUSAL_LOOP_VARIANT_ADVANCE: case PR_REFUSAL_LOOP_BOUND:
    case PR_REFUSAL_DATA_DEPENDENT_BOUND: case PR_REFUSAL_INDIRECT_ADDRESS:
    case PR_REFUSAL_SNAPSHOT_BOUND: case PR_REFUSAL_UNMODELED_VALUE: return true;
    default: return false;
    }
}

static bool may_try(const pr_run *run)
{
    const pr_options *o = run->o;
    bool pointers = false;
    if (!run->confirm || !run->confirm->whole || o->engine != PR_ENGINE_AUTO || run->d.late || o->source_order || o->dep_strict) return false;
    for (int i = 0; i < run->R->refusals.n; i++)
        if (!answers(run->R->refusals.data[i].kind)) return false;
    for (int i = 0; i < run->out->refusals.n; i++)      /* a launch whose arithmetic wraps is refused, whatever follows */
        if (run->out->refusals.data[i].kind == PR_REFUSAL_INTEGER_OVERFLOW) return false;
    for (int i = 0; i < run->R->records.n; i++) {
        const pr_record *r = &run->R->records.data[i];
        if (r->refused.kind && !answers(r->refused.kind)) return false;
        if (r->base < 0 && r->refused.kind != PR_REFUSAL_INDIRECT_ADDRESS) return false;   /* else: a pointer from a table */
        if (r->base >= run->L->n_args || (r->base >= 0 && !run->L->args[r->base].tensor)) return false;
        pointers = pointers || r->base < 0;
    }
    for (int i = 0; i < run->L->n_args && pointers; i++)      /* invented addresses are not those that a table holds */
        if (run->L->args[i].tensor && run->L->args[i].tensor->synthetic) return false;
    return true;
}

/* May a race of the execution be reported? What it does not know of must not order the two: the threads of a layout (O5), and
 * barriers that the compiler puts beside atomics (O4). */
static bool reportable(const pr_run *run, const pr_race *race)
{
    const pr_record *a = &run->R->records.data[race->a.record], *b = &run->R->records.data[race->b.record];
    return !race->intra || (!run->R->has_atomics && !(a->thread_map && a->thread_map == b->thread_map));
}

static void take_race(pr_run *run, pr_race *race, bool contents)
{
    race->confirmation = PR_CONFIRMED;
    race->confirmation_why = "executing the whole launch reaches the same byte with nothing that orders the two";
    memcpy(race->grid, run->L->grid, sizeof race->grid);
    pr_witness_settle(run, race);
    int lo = race->a.record < race->b.record ? race->a.record : race->b.record;
    int hi = race->a.record < race->b.record ? race->b.record : race->a.record;
    for (int i = 0; i < run->pairs.n; i++) {
        pr_pair *p = &run->pairs.data[i];
        if (p->intra != race->intra || (p->a < p->b ? p->a : p->b) != lo || (p->a < p->b ? p->b : p->a) != hi) continue;
        p->state = PR_PAIR_WITNESS;
        p->query = PR_NEW(run->arena, pr_query);
        p->executed = true;
        p->reads_contents = contents;
        race->pair = i;
    }
    pr_vec_push(run->arena, &run->out->races, *race);
}

/* Two accesses that race or not, by a value that only a run could know: no proof of the pair. */
static void doubt(pr_run *run, const bool *doubtful)
{
    for (int i = 0; i < run->pairs.n; i++) {
        pr_pair *p = &run->pairs.data[i];
        if (p->state == PR_PAIR_FILTERED || !doubtful[2 * ((int64_t)p->a * run->R->records.n + p->b) + p->intra]) continue;
        p->state = PR_PAIR_UNKNOWN;
        p->why = PR_REFUSAL_POTENTIAL_RACE;
        p->message = "whether two executions of these accesses race rests on a value that only a run could know";
        p->evidence = NULL;
    }
}

static void qualify(pr_run *run, const pr_whole *w)
{
    bool *named = PR_NEW_N(run->arena, bool, run->R->n_args + 1);
    for (int i = 0; i < run->R->n_args; i++) named[i] = w->loose && w->loose[i];
    for (int i = 0; i < w->outside.n; i++) {
        named[run->R->records.data[w->outside.data[i].access.record].base] = true;
        if (w->outside.data[i].confirmed) pr_vec_push(run->arena, &run->out->out_of_bounds, w->outside.data[i]);
    }
    for (int i = 0; i < run->R->n_args; i++)
        if (named[i])
            pr_add_qualifier(run, pr_arena_printf(run->arena, "assumes in-bounds accesses of " PR_STR_FMT, PR_STR_ARG(run->R->args[i].name)));
    if (w->used_dependency) pr_add_qualifier(run, "assumes unreplicated loads");
}

void pr_common_qualifiers(pr_run *run)
{
    for (int i = 0; i < run->R->qualifiers.n; i++) pr_add_qualifier(run, run->R->qualifiers.data[i]);
    if (run->o->source_order) pr_add_qualifier(run, "assumes source program order");
    for (int i = 0; i < run->o->n_assume; i++)
        pr_add_qualifier(run, pr_arena_printf(run->arena, "assumes %s", run->o->assume[i].text));
    for (int i = 0; run->L && i < run->L->n_assume; i++)
        pr_add_qualifier(run, pr_arena_printf(run->arena, "assumes %s", run->L->assume[i].text));
}

/* The execution does not know everything. Without atomics nothing orders two programs, so accesses of two programs that are
 * certain to happen at one byte race whatever the rest is. What is left stays refused. */
static bool certain_races(pr_run *run, pr_status *st)
{
    pr_whole w = { 0 };
    *st = run->confirm->whole(run->confirm->user, run->R, run->L, true, false, false, &w, run->err);
    if (*st != PR_OK || w.why_not || !w.races.n || w.races.n > PR_MOST_RACES) return false;
    run->out->qualifiers.n = 0;
    pr_common_qualifiers(run);
    for (int i = 0; i < w.races.n; i++) take_race(run, &w.races.data[i], w.read_contents);
    if (w.read_contents) pr_add_qualifier(run, "reads tensor contents");
    return true;
}

enum { MOST_SEARCHED = 12, SEARCH_PROGRAMS = 64 };

static bool is_atomic(const pr_record *r) { return r->kind >= PR_RECORD_RMW; }

static void name_access(const pr_run *run, int record, int64_t program, pr_witness_access *a)
{
    const pr_record *r = &run->R->records.data[record];
    *a = (pr_witness_access){ .record = record, .rank = r->rank };
    for (const pr_frame *f = r->frame; f; f = f->outer) a->n_iterations += f->kind == PR_FRAME_LOOP;
    a->program[0] = program % run->L->grid[0];
    a->program[1] = program / run->L->grid[0] % run->L->grid[1];
    a->program[2] = program / run->L->grid[0] / run->L->grid[1];
}

/* No query was asked of accesses whose address or loop is not understood. Some order of the launch's programs may show all the same that two
 * of them race: runs with a memory are looked at (schedule.h), which order too much rather than too little. */
static bool search_races(pr_run *run, pr_encoding *launch, pr_status *st)
{
    const pr_records *R = run->R;
    int64_t programs = 1, tried = 0;
    for (int i = 0; i < 3; i++) {
        if (run->L->grid[i] < 1 || run->L->grid[i] > SEARCH_PROGRAMS) return false;
        programs *= run->L->grid[i];
    }
    if (programs < 2 || programs > SEARCH_PROGRAMS || !R->has_atomics) return false;
    for (int i = 0; i < run->pairs.n && tried < MOST_SEARCHED && *st == PR_OK; i++) {
        pr_pair *p = &run->pairs.data[i];
        const pr_record *a = &R->records.data[p->a], *b = &R->records.data[p->b];
        bool asked = !R->refusals.n && !a->refused.kind && !b->refused.kind;
        if (p->intra || p->state == PR_PAIR_FILTERED || p->state == PR_PAIR_EMPTY || asked || a->is_pre_exit || b->is_pre_exit || is_atomic(a) || is_atomic(b) ||
            a->base < 0 || b->base < 0 || a->rank > PR_RANK_MAX || b->rank > PR_RANK_MAX) continue;
        pr_race race = { .confirmation = PR_CONFIRM_UNAVAILABLE, .pair = i };
        name_access(run, p->a, 0, &race.a);
        name_access(run, p->b, programs - 1, &race.b);
        if (race.a.n_iterations > 64 || race.b.n_iterations > 64) continue;
        memcpy(race.grid, run->L->grid, sizeof race.grid);
        tried++;
        *st = pr_witness_execution(run, launch, &race);
        if (*st != PR_OK || race.confirmation != PR_CONFIRMED) continue;
        p->state = PR_PAIR_WITNESS;
        p->query = PR_NEW(run->arena, pr_query);
        p->executed = true;
        p->reads_contents = true;
        pr_vec_push(run->arena, &run->out->races, race);
    }
    return run->out->races.n > 0;
}

static void settle_all(pr_run *run)
{
    run->out->qualifiers.n = run->out->refusals.n = run->out->out_of_bounds.n = 0;
    pr_common_qualifiers(run);
    for (int i = 0; i < run->pairs.n; i++) {
        pr_pair *p = &run->pairs.data[i];
        p->used_o3 = p->used_sync = p->used_o4 = p->used_layouts = p->reads_contents = false;
        if (p->state == PR_PAIR_FILTERED) continue;
        p->state = PR_PAIR_EMPTY;
        p->executed = true;
        p->rung = PR_RUNG_T1_LAUNCH;
        p->evidence = "execution of the whole launch";
    }
}

bool pr_whole_launch(pr_run *run, pr_encoding *launch, pr_rung *rung, bool *ends, pr_status *st)
{
    pr_whole w = { 0 };
    if (!launch || run->out->races.n || !may_try(run)) return false;
    unsigned o4 = run->R->has_atomics ? pr_order_cta(launch) : 0;
    *st = run->confirm->whole(run->confirm->user, run->R, run->L, false, false, false, &w, run->err);
    if (*st == PR_OK && w.endless) {         /* no execution ends, so there is nothing to say about those that do */
        settle_all(run);
        *rung = PR_RUNG_T1_LAUNCH;
        *ends = false;
        return true;
    }
    if (*st == PR_OK && o4 && (w.why_not || w.races.n)) {        /* with the barriers of the compiler */
        w = (pr_whole){ 0 };
        *st = run->confirm->whole(run->confirm->user, run->R, run->L, false, o4 & PR_CTA_PRE, o4 & (PR_CTA_POST | PR_CTA_POST_USED), &w, run->err);
        if (*st == PR_OK && !w.why_not && w.races.n) w.why_not = "a race beside barriers of the compiler";
    } else {
        o4 = 0;
    }
    if (*st == PR_OK && w.why_not && !run->R->has_atomics) return certain_races(run, st);
    if (*st == PR_OK && w.why_not) {
        if (!search_races(run, launch, st)) return false;
        *rung = PR_RUNG_NONE;
        return true;
    }
    if (*st != PR_OK) return false;
    for (int i = 0; i < w.races.n; i++)
        if (!reportable(run, &w.races.data[i])) return false;
    if (w.races.n > PR_MOST_RACES) return false;
    settle_all(run);
    if (w.doubtful) doubt(run, w.doubtful);
    for (int i = 0; i < w.races.n; i++) take_race(run, &w.races.data[i], w.read_contents);
    *rung = w.races.n ? PR_RUNG_NONE : PR_RUNG_T1_LAUNCH;
    qualify(run, &w);
    if (o4) pr_add_qualifier(run, "assumes atomic CTA ordering");
    if (w.waited) pr_add_qualifier(run, "assumes termination");
    if (w.read_contents || w.waited) pr_add_qualifier(run, "reads tensor contents");
    return true;
}
