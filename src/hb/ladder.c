/* The rungs: parameters and grid symbolic (T0), parameters bound and grid symbolic (T1), this launch only
 * (T1-launch). happens-before.md 5.1.
 *
 * Every rung asks the pairs that the stronger rung left open: the domain of a weaker rung lies inside the
 * stronger one's (T0 is only tried when the launch's buffers are disjoint), so an EMPTY stays EMPTY. A
 * witness at a symbolic grid is evidence; only a witness at the launch's own grid on exact records, reached
 * by the concrete evaluator, is a race. */
#include "hb/contents.h"
#include "hb/ladder.h"
#include "hb/order.h"
#include "hb/sync.h"
#include "hb/verdict_rule.h"
#include <assert.h>
#include <stdlib.h>

void pr_options_default(pr_options *o)
{
    *o = (pr_options){ .t0_timeout_ms = 10000, .t1_timeout_ms = 120000 };
    o->limits = (pr_limits){ .max_ops = 20000, .first_ops = 700, .z3_rlimit = 500000, .max_leaves = 256 };
#ifdef PR_FAULTS
    if (getenv("POLYRACE_FAULT")) o->fault = atoi(getenv("POLYRACE_FAULT"));
#endif
}

static pr_record *record(pr_run *run, int i) { return &run->R->records.data[i]; }

/* A proof that used O3 on a load that may be replicated names the premise, unless the pair is disjoint
 * without it (happens-before.md 1.5). */
static void note_o3(pr_run *run, pr_encoding *e, pr_pair *p)
{
    const pr_record *x = record(run, p->a), *y = record(run, p->b);
    bool replicated = (x->kind == PR_RECORD_LOAD && pr_order_is_replicated(e, x)) ||
                      (y->kind == PR_RECORD_LOAD && pr_order_is_replicated(e, y));
    if (!replicated) return;
    pr_query q;
    bool dead, used;
    pr_refusal_kind kind;
    const char *why;
    pr_outcome o;
    if (pr_encode_pair(e, p->a, p->b, p->intra, &q, &dead, &used, true, &kind, &why)) {
        if (dead) return;
        pr_condition_premise(run, &q, p->condition);
        pr_decide(&run->d, &q, true, &o, NULL);
        if (o.answer == PR_ANSWER_EMPTY) return;
    }
    p->used_o3 = true;
}

/* A proof that needs the layouts of the TTGIR text says so. Called for an empty pair of one program. */
static void note_layouts(pr_run *run, pr_encoding *e, pr_pair *p)
{
    const pr_record *x = record(run, p->a), *y = record(run, p->b);
    pr_query q;
    bool dead, used;
    pr_refusal_kind kind;
    const char *why;
    pr_outcome o = { .answer = PR_ANSWER_UNKNOWN };
    if (!p->intra || x->access == y->access || !x->thread_map || x->thread_map != y->thread_map) return;
    e->ignore_thread_maps = true;
    if (pr_encode_pair(e, p->a, p->b, true, &q, &dead, &used, false, &kind, &why)) {
        if (dead) o.answer = PR_ANSWER_EMPTY;
        else {
            pr_condition_premise(run, &q, p->condition);
            pr_decide(&run->d, &q, true, &o, NULL);
        }
    }
    e->ignore_thread_maps = false;
    p->used_layouts = o.answer != PR_ANSWER_EMPTY;
}

static bool beyond_presburger(const pr_query *q, pr_encoding *e)
{
    for (int i = 0; i < q->n_core; i++)      /* often enough, and cheaper than the difference of the addresses */
        if (pr_class_of(e->box, q->core[i]) & ~(unsigned)PR_CLASS_PRESBURGER) return true;
    return (pr_query_class(q, e->box) & ~(unsigned)PR_CLASS_PRESBURGER) != 0;
}

/* Is this attempt of use only where it proves every pair? What it leaves open is asked again, with the launch's
 * parameters or with contents: for all parameters, or while contents are free, nothing but EMPTY counts. */
static bool only_a_proof(const pr_run *run, const pr_encoding *e)
{
    return run->first_attempt || (e->rung == PR_RUNG_T0 && run->L);
}

/* Not where the queries themselves are wanted, or the answer of one engine. */
static bool may_skip_queries(const pr_options *o)
{
    return !o->cross_check && !o->claim && !o->no_pretest && o->engine != PR_ENGINE_Z3;
}

/* The pair's query in this encoding, made once for as long as it is not asked to its end. */
static bool encode_once(pr_run *run, pr_encoding *e, pr_pair *p, bool *dead, bool *used_o3, pr_refusal_kind *kind, const char **why)
{
    if (p->encoded != e) {
        p->encoded = NULL;
        e->maybe_waits = false;
        if (!p->query) p->query = PR_NEW(run->arena, pr_query);
        if (!pr_encode_pair(e, p->a, p->b, p->intra, p->query, &p->encoded_dead, &p->encoded_o3, false, kind, why)) return false;
        p->encoded = e;
        p->maybe_waits = e->maybe_waits;
    }
    *dead = p->encoded_dead;
    *used_o3 = p->encoded_o3;
    return true;
}

/* A witness that a dependency may order, for some contents of a mask: is there one which it orders for none? */
static void ask_for_certain(pr_run *run, pr_encoding *e, pr_pair *p)
{
    pr_query *q = PR_NEW(run->arena, pr_query);
    bool dead, used;
    pr_refusal_kind kind;
    const char *why;
    pr_outcome o;
    e->assume_waits = true;
    if (pr_encode_pair(e, p->a, p->b, p->intra, q, &dead, &used, false, &kind, &why) && !dead && !q->relaxed) {
        q->pair = p->query->pair;
        pr_decide(&run->d, q, true, &o, NULL);
        if (o.answer == PR_ANSWER_WITNESS) {
            p->query = q;
            p->point = o.point;
        }
    }
    e->assume_waits = false;
}

/* Under the condition that an earlier pair needed, where that helps (it holds at the launch, if there is one). */
static bool seen_apart(pr_run *run, pr_encoding *e, pr_pair *p)
{
    p->evidence = pr_apart_why(e, p->a, p->b, p->intra, PR_TERM_NONE);
    if (p->evidence) return true;
    pr_term known = e->rung == PR_RUNG_T0 && !p->intra ? pr_condition_known(run, p) : PR_TERM_NONE, condition = known;
    if (!pr_term_none(known)) p->evidence = pr_apart_why(e, p->a, p->b, false, known);
    if (!p->evidence && p->a == p->b && run->L) {
        const char *why = pr_itself_why(e, p->a, p->intra, &condition);
        bool always = why && pr_term_is(condition, PR_TERM_TRUE), same = pr_term_none(known) || pr_term_is(known, condition);
        if (always || (why && e->rung == PR_RUNG_T0 && same && pr_condition_holds(run, p, condition))) p->evidence = why;
        if (always) condition = PR_TERM_NONE;
    }
    if (p->evidence) p->condition = condition;
    return p->evidence;
}

/* Where programs of the launch were seen to meet, two of them are a witness of the other rungs' queries as well. */
static bool seen_to_meet(pr_run *run, pr_encoding *e, const pr_pair *p, pr_outcome *o)
{
    pr_point at;
    if (!run->meets || !run->hint || e->rung == PR_RUNG_T0 || run->first_attempt || p->a != p->b || !may_skip_queries(run->o)) return false;
    if (run->o->limits.interrupt && *run->o->limits.interrupt) return false;        /* pr_decide says so, and that time is up */
    if (run->d.deadline_us && pr_clock_us() > run->d.deadline_us) return false;
    if (!pr_itself_witness(e, p->a, run->hint, p->query, &at)) return false;
    *o = (pr_outcome){ .answer = PR_ANSWER_WITNESS, .evidence = "sweep", .point = at };
    run->out->counts.queries++;
    run->out->counts.pretest++;
    run->d.put_off = false;
    return true;
}

/* A proof for different programs has shown that every two executions with a common byte have equal lanes (H30). */
static void note_same_lanes(pr_run *run, pr_encoding *e, const pr_pair *p, bool shown)
{
    const pr_record *r = record(run, p->a);
#ifdef PR_FAULTS
    if (run->o->fault == 36) shown = true;
#endif
    if (p->intra || p->a != p->b || !shown || r->kind >= PR_RECORD_RMW || r->via_desc || !pr_encoding_side(e, p->a, PR_SIDE_B)->renamed) return;
    run->same_lanes.e = e;
    run->same_lanes.record = p->a;
    run->same_lanes.condition = p->condition;
    run->same_lanes.evidence = p->evidence;
}

static bool has_same_lanes(const pr_run *run, const pr_encoding *e, pr_pair *p)
{
    if (!p->intra || p->a != p->b || run->same_lanes.e != e || run->same_lanes.record != p->a) return false;
    p->condition = run->same_lanes.condition;
    p->evidence = run->same_lanes.evidence;
    return true;
}

static void ask(pr_run *run, pr_encoding *e, int number)
{
    pr_pair *p = &run->pairs.data[number];
    bool dead = false, used_o3 = false;
    pr_refusal_kind kind;
    const char *why = NULL, *z3_reason = NULL;
    pr_outcome o;
    p->rung = e->rung;
    p->put_off = false;
    p->used_layouts = false;
    if (may_skip_queries(run->o) && (has_same_lanes(run, e, p) || seen_apart(run, e, p))) {
        p->state = PR_PAIR_EMPTY;
        p->reads_contents = pr_encoding_side(e, p->a, PR_SIDE_A)->reads_contents || pr_encoding_side(e, p->b, PR_SIDE_A)->reads_contents;
        run->out->counts.queries++;
        run->out->counts.pretest++;
        return;
    }
    if (may_skip_queries(run->o) && e->rung == PR_RUNG_T0 && only_a_proof(run, e) && run->o->stop_at != PR_RUNG_T0 && run->hint &&
        p->a == p->b && !p->intra && pr_itself_meets(e, p->a, run->hint)) {
        run->out->counts.queries++;
        run->out->counts.pretest++;
        run->meets = p->meets = true;
        pr_pair_refuse(p, PR_PAIR_UNKNOWN, PR_REFUSAL_UNKNOWN, "two programs of the launch meet");
        return;
    }
#ifdef PR_FAULTS
    if ((run->o->fault == 11 && p->intra) || (run->o->fault == 12 && !p->intra && e->extent[1] > 1)) {
        p->state = PR_PAIR_EMPTY;
        return;
    }
#endif
    if (!encode_once(run, e, p, &dead, &used_o3, &kind, &why)) {
        pr_pair_refuse(p, PR_PAIR_REFUSED, kind, why);
        p->side = pr_encoding_side(e, p->a, PR_SIDE_A)->refused ? 0 : 1;
        return;
    }
    p->query->pair = number;
    const pr_side *x = pr_encoding_side(e, p->a, PR_SIDE_A);
    const pr_side *y = pr_encoding_side(e, p->b, p->intra ? PR_SIDE_B_INTRA : PR_SIDE_B);
    p->reads_contents = x->reads_contents || y->reads_contents;
    if (dead) {
        p->state = PR_PAIR_EMPTY;
        p->evidence = "no two executions meet the conditions";
        if (used_o3) note_o3(run, e, p);
        note_layouts(run, e, p);
        return;
    }
    bool last_resort = e->rung != PR_RUNG_T0 || !beyond_presburger(p->query, e);
    p->query->suggest = !last_resort;
    p->query->hint = run->hint;
    if (run->first_attempt) last_resort = false;   /* contents are still to come */
    run->d.cheaply = !last_resort && !run->first_attempt;
    bool again = p->query->suggest && pr_condition_again(run, p, &o);
    run->d.cheap_pass = run->cheap_pass && !again;
    run->d.only_empty = only_a_proof(run, e) && run->o->stop_at != PR_RUNG_T0;
    if (!again && !seen_to_meet(run, e, p, &o)) {
        /* at some grid, and inside the tensors */
        run->d.meets = p->meets && e->rung == PR_RUNG_T1 && pr_itself_meets(e, p->a, run->hint);
        pr_decide(&run->d, p->query, last_resort, &o, &z3_reason);
    }
    run->d.cheap_pass = run->d.only_empty = run->d.meets = false;
    if (run->d.put_off) {
        p->put_off = true;
        p->state = PR_PAIR_OPEN;
        return;
    }
    p->encoded = NULL;             /* what follows adds to the query */
    if (o.answer == PR_ANSWER_UNKNOWN && p->query->suggest) pr_condition_try(run, p, o.needs, o.under, &o);
    run->d.cheaply = false;
    if (z3_reason) {
        pr_z3_reason z = { number, z3_reason, record(run, p->a)->loc };
        pr_vec_push(run->arena, &run->out->z3_reasons, z);
    }
    p->synced = o.answer != PR_ANSWER_EMPTY && !run->first_attempt && e->rung != PR_RUNG_T0 && pr_sync_concerns(e, p->a, p->b, p->intra);
    if (p->synced && !run->d.failed && pr_sync_extend(e, p->a, p->b, p->intra, p->query)) {
        int share = run->d.z3_share;
        run->d.z3_share = 1;
        pr_decide(&run->d, p->query, true, &o, &z3_reason);
        run->d.z3_share = share;
        p->used_sync = o.answer == PR_ANSWER_EMPTY;
        p->used_o4 = p->used_sync && e->used_o4;
        if (z3_reason) {
            pr_z3_reason z = { number, "synchronisation", record(run, p->a)->loc };
            pr_vec_push(run->arena, &run->out->z3_reasons, z);
        }
    }
    p->evidence = o.evidence;
    if (o.answer != PR_ANSWER_EMPTY && (x->unknown_address || y->unknown_address)) {
        const pr_side *u = x->unknown_address ? x : y;
        pr_pair_refuse(p, PR_PAIR_REFUSED, u->unknown_kind, u->unknown_why);
        p->side = u == x ? 0 : 1;
        return;
    }
    switch (o.answer) {
    case PR_ANSWER_EMPTY:
        p->state = PR_PAIR_EMPTY;
        if (used_o3) note_o3(run, e, p);
        note_layouts(run, e, p);
        note_same_lanes(run, e, p, o.same_lanes);
        break;
    case PR_ANSWER_WITNESS:
        p->state = PR_PAIR_WITNESS;
        p->point = o.point;
        run->meets = true;
        if (p->maybe_waits && !p->synced && e->rung != PR_RUNG_T0 && !run->first_attempt) ask_for_certain(run, e, p);
        /* an intra race on a descriptor access may be ordered by what the model ignores (G7); a CAS may
         * not have written */
        if (p->intra && (record(run, p->a)->via_desc || record(run, p->b)->via_desc)) p->query->relaxed = true;
        if ((record(run, p->a)->kind == PR_RECORD_CAS && record(run, p->b)->kind != PR_RECORD_RMW &&
             !(pr_record_writes(record(run, p->b)) && record(run, p->b)->kind != PR_RECORD_CAS)) ||
            (record(run, p->b)->kind == PR_RECORD_CAS && record(run, p->a)->kind != PR_RECORD_RMW &&
             !(pr_record_writes(record(run, p->a)) && record(run, p->a)->kind != PR_RECORD_CAS)))
            p->query->relaxed = true;
        break;
    case PR_ANSWER_UNKNOWN:
        pr_pair_refuse(p, PR_PAIR_UNKNOWN, o.why, o.message);
        break;
    }
}

static pr_encoding *encoding(pr_run *run, pr_rung rung)
{
    pr_encoding *e = pr_encoding_new(run->arena, run->R, run->L, run->o, rung, run->component_t1);
    e->decider = &run->d;
    return e;
}

static bool is_open(const pr_pair *p) { return p->state != PR_PAIR_FILTERED && p->state != PR_PAIR_EMPTY; }

/* T0 takes terms that stay Presburger with symbolic parameters (happens-before.md 5.2); products of unknowns
 * only where the pre-tests may take them (decision-engine.md 3.4, rule P), never for Z3. */
static bool t0_admits(pr_run *run, pr_encoding *e)
{
    if (run->L && run->o->engine != PR_ENGINE_Z3 && !run->o->no_pretest) return true;   /* run_rung stops at the first */
    for (int i = 0; i < run->pairs.n; i++) {
        pr_pair *p = &run->pairs.data[i];
        if (p->state == PR_PAIR_FILTERED) continue;
        bool dead, used;
        pr_refusal_kind kind;
        const char *why;
        if (!encode_once(run, e, p, &dead, &used, &kind, &why)) return false;
        if ((run->o->engine == PR_ENGINE_Z3 || run->o->no_pretest) && !dead && beyond_presburger(p->query, e)) return false;
    }
    return true;
}

/* What the launch may spend on the dear rows of one rung: that of twenty queries, shared by the pairs still to
 * come, a tenth of a query at least. */
enum { QUERIES_PAID = 20, LEAST_PART = 10 };

static int64_t share(int64_t one, int64_t spent, int pairs_left)
{
    if (one <= 0) return 0;
    int64_t all = one > INT64_MAX / QUERIES_PAID ? INT64_MAX : one * QUERIES_PAID, left = all > spent ? all - spent : 0;
    int64_t part = left / (pairs_left > 0 ? pairs_left : 1), least = one / LEAST_PART + 1;
    return part > least ? part : least;
}

/* The pairs that the cheap rows left open, with a fair share of the dear ones each. */
static bool run_dear_rows(pr_run *run, pr_encoding *e)
{
    bool all = true;
    int left = 0;
    /* a stronger claim than the launch's own: what it leaves open is asked again there */
    bool again = run->d.z3_share > 1 || (e->rung == PR_RUNG_T0 && run->L);
    int64_t one = run->o->limits.max_ops / (again ? 4 : 1);
    const pr_counts before = *run->d.counts;
    for (int i = 0; i < run->pairs.n; i++) left += run->pairs.data[i].put_off;
    for (int i = 0; i < run->pairs.n && !run->d.failed && !run->d.interrupted; i++) {
        pr_pair *p = &run->pairs.data[i];
        if (!p->put_off) continue;
        run->d.share_ops = share(one, (int64_t)(run->d.counts->isl_ops - before.isl_ops), left);
        run->d.share_z3 = share(run->o->limits.z3_rlimit, (int64_t)(run->d.counts->z3_units - before.z3_units), left);
        left--;
        ask(run, e, i);
        all = all && !is_open(p);
        if (!all && only_a_proof(run, e)) break;
    }
    run->d.share_ops = run->d.share_z3 = 0;
    return all;
}

/* Asks every open pair, the cheap rows for all of them first; true when none stays open. */
static bool run_rung(pr_run *run, pr_encoding *e)
{
    bool all = true, open = false;
    /* at an open grid the launch's own grid is still to come: the last resort gets a tenth there */
    run->d.z3_share = e->rung == PR_RUNG_T1 && run->o->engine == PR_ENGINE_AUTO && run->L && run->L->grid_known &&
                              run->o->stop_at != PR_RUNG_T1 ? 10 : 1;
    run->d.limits_ms = e->rung == PR_RUNG_T0 ? run->o->t0_timeout_ms : run->o->t1_timeout_ms;
    for (int i = 0; i < run->pairs.n; i++) run->pairs.data[i].put_off = false;
    run->d.missed = 0, run->cheap_pass = !run->o->cross_check;
    for (int i = 0; i < run->pairs.n && !run->d.failed && !run->d.interrupted; i++) {
        if (!is_open(&run->pairs.data[i])) continue;
        if (run->pairs.data[i].at_launch) {
            all = false;
            continue;
        }
        ask(run, e, i);
        open = open || run->pairs.data[i].put_off;
        all = all && (run->pairs.data[i].put_off || !is_open(&run->pairs.data[i]));
        if (!all && only_a_proof(run, e)) break;
    }
    run->cheap_pass = false;
    if (open && (all || !only_a_proof(run, e))) all = run_dear_rows(run, e) && all;
    for (int i = 0; i < run->R->records.n; i++) run->table_load[i] = run->table_load[i] || e->table_load[i];
    return all && !run->d.failed && !run->d.interrupted;
}

static void fill_ledger(pr_run *run)
{
    run->out->counts.pairs = run->pairs.n;
    pr_vec_reserve(run->arena, &run->out->ledger, run->out->ledger.n + run->pairs.n);
    for (int i = 0; i < run->pairs.n; i++) {
        const pr_pair *p = &run->pairs.data[i];
        pr_ledger_row row = { .pair = i, .a = p->a, .b = p->b, .intra = p->intra, .evidence = p->evidence, .why = p->why, .executed = p->executed };
        switch (p->state) {
        case PR_PAIR_FILTERED: row.bucket = PR_BUCKET_FILTERED; run->out->counts.filtered++; break;
        case PR_PAIR_EMPTY: row.bucket = p->fragile ? PR_BUCKET_GRID_FRAGILE : PR_BUCKET_PROVED; break;
        case PR_PAIR_WITNESS: row.bucket = p->query->relaxed ? PR_BUCKET_WITHHELD : PR_BUCKET_RACE; break;
        case PR_PAIR_REFUSED: row.bucket = PR_BUCKET_REFUSED; break;
        case PR_PAIR_OPEN:
        case PR_PAIR_UNKNOWN: row.bucket = PR_BUCKET_UNDECIDED; break;
        }
        pr_vec_push(run->arena, &run->out->ledger, row);
    }
}

static void refuse_open(pr_run *run)
{
    const pr_record *last = NULL;
    pr_refusal_kind last_why = PR_REFUSAL_NONE;
    for (int i = 0; i < run->pairs.n; i++) {
        const pr_pair *p = &run->pairs.data[i];
        if (p->state != PR_PAIR_REFUSED && p->state != PR_PAIR_UNKNOWN && p->state != PR_PAIR_OPEN) continue;
        const pr_record *a = record(run, p->a), *b = record(run, p->b);
        const pr_record *at = p->state == PR_PAIR_REFUSED && p->side ? b : a;
        if (at == last && p->why == last_why) continue;      /* one a site, and there may be a million pairs */
        pr_add_refusal(run, p->why ? p->why : PR_REFUSAL_UNKNOWN, at->loc, p->message);
        last = at;
        last_why = p->why;
    }
}

static void describe_axes(pr_run *run, const pr_encoding *e)
{
    for (int i = 0; i < 3; i++) run->out->grid_axis[i] = e->fixed[i] ? e->extent[i] : 0;
}

/* Premises (assume conditions) must admit an execution. UNKNOWN: *o says why. */
static pr_answer feasible(pr_run *run, pr_encoding *e, pr_outcome *o)
{
    pr_term_vec conditions = { 0 };
    if (!run->L) pr_condition_all(run, &conditions);   /* with a launch they hold there */
    if (!e->premises.n && !conditions.n) return PR_ANSWER_WITNESS;
    pr_query q;
    pr_encode_single(e, conditions.data, conditions.n, &q);
    pr_decide(&run->d, &q, true, o, NULL);
    return o->answer;
}

static pr_status finish_proof(pr_run *run, pr_encoding *e, pr_encoding *launch, bool *is_feasible)
{
    pr_outcome o;
    pr_answer f = feasible(run, launch ? launch : e, &o); /* premises are about this launch too (p73) */
    if (f == PR_ANSWER_WITNESS && launch) f = pr_sync_feasible(launch, &o);
    *is_feasible = f != PR_ANSWER_EMPTY;
    if (f == PR_ANSWER_UNKNOWN)
        pr_add_refusal(run, o.why, (pr_loc){ 0 },
                       pr_arena_printf(run->arena, "whether the premises admit an execution stayed undecided: %s", o.message));
    if (!*is_feasible) return PR_OK;
    pr_obligations_qualify(run, e);
    if (launch) pr_obligations_discharge(run, launch);
    if (launch) pr_assumptions_check(run, launch);
    pr_obligations_name(run);
    if (e->rung == PR_RUNG_T0) pr_condition_qualify(run);
    for (int i = 0; i < run->pairs.n; i++)
        if (run->pairs.data[i].used_o3) pr_add_qualifier(run, "assumes unreplicated loads");
    for (int i = 0; i < run->pairs.n; i++)
        if (run->pairs.data[i].used_layouts && run->pairs.data[i].state == PR_PAIR_EMPTY)
            pr_add_qualifier(run, "assumes the thread layouts of the TTGIR text");
    for (int i = 0; i < run->pairs.n; i++)
        if (run->pairs.data[i].used_sync && run->pairs.data[i].state == PR_PAIR_EMPTY) pr_add_qualifier(run, "reads tensor contents");
    for (int i = 0; i < run->R->records.n; i++)
        if (record(run, i)->is_await) pr_add_qualifier(run, "assumes termination");
    for (int i = 0; i < run->pairs.n; i++)
        if (run->pairs.data[i].used_o4 && run->pairs.data[i].state == PR_PAIR_EMPTY) pr_add_qualifier(run, "assumes atomic CTA ordering");
    if (e->rung == PR_RUNG_T0 && (!run->L || run->unbound))
        pr_add_qualifier(run, "assumes distinct pointer arguments do not overlap");
    if (!run->L || !run->L->grid_known)
        for (int i = 0; i < 3; i++)
            if (e->fixed[i] && e->rung == PR_RUNG_T0) pr_add_qualifier(run, "assumes extent 1 on unread grid axes");
    return launch ? pr_bounds_check(run, launch) : PR_OK;
}

static void reopen(pr_run *run)
{
    for (int i = 0; i < run->pairs.n; i++) {
        pr_pair *p = &run->pairs.data[i];
        if (is_open(p)) p->state = PR_PAIR_OPEN;
    }
}

/* The attempt with loaded values free, when their contents could be read. A proof stands unless its obligations
 * fail; nothing else counts. */
static pr_rung first_attempt(pr_run *run, pr_rung rung, pr_encoding *launch, bool *is_feasible, pr_status *st)
{
    pr_config_verdict *out = run->out;
    reopen(run);
    pr_encoding *e = rung == PR_RUNG_T1_LAUNCH ? launch
                   : encoding(run, rung);
    if (!e) return PR_RUNG_NONE;
    run->first_attempt = true;
    bool all = run_rung(run, e);
    run->first_attempt = false;
    out->z3_reasons.n = 0;
    if (!all) return PR_RUNG_NONE;
    int refusals = out->refusals.n, qualifiers = out->qualifiers.n, outside = out->out_of_bounds.n, notes = out->notes.n;
    describe_axes(run, e);
    *st = finish_proof(run, e, launch, is_feasible);
    if (*st != PR_OK || !*is_feasible || out->refusals.n == refusals) return rung;
    out->refusals.n = refusals;
    out->qualifiers.n = qualifiers;
    out->out_of_bounds.n = outside;
    out->notes.n = notes;
    memset(run->overflow_widths, 0, sizeof run->overflow_widths);
    return PR_RUNG_NONE;
}

/* Would the pairs that stayed open be empty if the tables whose values reach an address were nondecreasing, or
 * their entries distinct (happens-before.md 8.6)? At any grid, for all other contents. With --accept-premises such
 * a premise is a qualifier; otherwise it is a suggestion beside the refusal. */
static pr_encoding *under_premise(pr_run *run)
{
    static const struct { pr_contents mode; const char *qualifier, *hint; } premise[] = {
        { PR_CONTENTS_NONDECREASING, "assumes %s nondecreasing", "the entries of %s are nondecreasing" },
        { PR_CONTENTS_DISTINCT, "assumes indices of %s distinct", "the entries of %s are distinct" },
    };
    bool asked = false, other = false;
    for (int i = 0; i < run->pairs.n; i++) {
        const pr_pair *p = &run->pairs.data[i];
        if (!is_open(p)) continue;
        bool refused = p->state == PR_PAIR_REFUSED && (p->why == PR_REFUSAL_INDIRECT_ADDRESS || p->why == PR_REFUSAL_SNAPSHOT_BOUND);
        asked = asked || refused;
        other = other || !(refused || p->state == PR_PAIR_UNKNOWN);
    }
    if (!asked || other || run->R->refusals.n) return NULL;
    pr_pair *before = pr_arena_copy(run->arena, run->pairs.data, sizeof *before * (size_t)run->pairs.n);
    for (size_t k = 0; k < PR_LEN(premise); k++) {
        reopen(run);
        for (int i = 0; i < run->pairs.n; i++) run->pairs.data[i].query = NULL;
        pr_encoding *e = encoding(run, PR_RUNG_T1);
        pr_encoding_use(e, premise[k].mode);
        run->first_attempt = true;
        bool all = run_rung(run, e);
        run->first_attempt = false;
        const char *tables = all ? pr_contents_assumed(e) : NULL;
        if (tables && run->o->accept_premises) {
            pr_add_qualifier(run, pr_arena_printf(run->arena, premise[k].qualifier, tables));
            return e;
        }
        memcpy(run->pairs.data, before, sizeof *before * (size_t)run->pairs.n);
        if (!tables) continue;
        for (int i = 0; i < run->pairs.n; i++) {
            pr_pair *p = &run->pairs.data[i];
            if (p->state != PR_PAIR_REFUSED) continue;
            p->message = pr_arena_printf(run->arena, "%s; there is no race if %s (--accept-premises takes that for granted)",
                                         p->message, pr_arena_printf(run->arena, premise[k].hint, tables));
        }
        return NULL;
    }
    return NULL;
}

/* What stands behind a wait that nobody comes through is never performed. True when that settles every pair. */
static bool settle_stuck(pr_run *run, pr_encoding *launch)
{
    bool waits = false, all = true;
    for (int i = 0; i < run->R->records.n; i++) waits = waits || record(run, i)->is_await;
    if (!waits || run->d.failed || run->d.interrupted) return false;
    bool *stuck = PR_NEW_N(run->arena, bool, run->R->records.n + 1);
    if (!pr_sync_stuck(launch, stuck)) return false;
    for (int i = 0; i < run->pairs.n; i++) {
        pr_pair *p = &run->pairs.data[i];
        if (is_open(p) && (stuck[p->a] || stuck[p->b])) {
            p->state = PR_PAIR_EMPTY;
            p->rung = PR_RUNG_T1_LAUNCH;
            p->evidence = "behind a wait that no program comes through";
        }
        all = all && !is_open(p);
    }
    return all;
}

bool pr_pairs_too_many(const pr_records *R) { return (int64_t)R->records.n * (R->records.n + 1) > PR_MOST_PAIRS; }

static pr_status refuse_pairs(pr_run *run)
{
    const pr_records *R = run->R;
    pr_add_refusal(run, PR_REFUSAL_BUDGET, R->records.data[R->records.n - 1].loc,
                   pr_arena_printf(run->arena, "%d accesses make %lld pairs; at most %d are asked", R->records.n,
                                   (long long)R->records.n * (R->records.n + 1), PR_MOST_PAIRS));
    pr_verdict_settle(run, PR_RUNG_NONE, true);
    return PR_OK;
}

static bool lasting_refusals(const pr_records *R)
{
    for (int i = 0; i < R->refusals.n; i++)
        if (!R->refusals.data[i].unless_apart) return true;
    return false;
}

/* A loop that neither counts nor waits stands for any number of turns with any values. That holds for every execution, so what it might
 * order or keep from running matters only to a race, or to a proof by what atomics return. (What polls one cell stays refused: it may be meant
 * as a wait, in a form that orders nothing.) */
static void drop_where_apart(pr_run *run)
{
    for (int i = 0; i < run->pairs.n; i++)
        if (run->pairs.data[i].used_sync || run->pairs.data[i].used_o4) return;
    pr_refusal_vec *v = &run->out->refusals;
    int kept = 0;
    for (int i = 0; i < v->n; i++)
        if (!v->data[i].unless_apart) v->data[kept++] = v->data[i];
    v->n = kept;
}

static pr_status climb(pr_run *run)
{
    const pr_options *o = run->o;
    const pr_launch *L = run->L;
    pr_encoding *t0 = NULL, *t1 = NULL, *launch = NULL;
    pr_rung rung = PR_RUNG_NONE;
    bool is_feasible = true, ends = true;
    pr_status st = PR_OK;
    bool known = L && L->grid_known;

    pr_common_qualifiers(run);
    run->hint = pr_condition_env(run);
    if (known) launch = encoding(run, PR_RUNG_T1_LAUNCH);
    /* T0 */
    bool want_t0 = o->stop_at == PR_RUNG_NONE || o->stop_at == PR_RUNG_T0;
    if (want_t0 && (!L || run->disjoint) && !lasting_refusals(run->R)) {
        pr_pairs_enumerate(run, run->component_t0, &run->pairs);
        t0 = pr_encoding_new(run->arena, run->R, L, o, PR_RUNG_T0, run->component_t0);
        if (t0_admits(run, t0)) {
            if (run_rung(run, t0)) rung = PR_RUNG_T0;
        } else if (!L) {
            for (int i = 0; i < run->pairs.n; i++)
                if (is_open(&run->pairs.data[i]))
                    pr_pair_refuse(&run->pairs.data[i], PR_PAIR_UNKNOWN, PR_REFUSAL_MISSING_BINDING,
                                "not linear while the parameters are symbolic; give a launch");
        }
    } else {
        pr_pairs_enumerate(run, L ? run->component_t1 : run->component_t0, &run->pairs);
    }
    if (rung == PR_RUNG_T0) {
        describe_axes(run, t0);
        st = finish_proof(run, t0, launch, &is_feasible);
    } else if (!L || o->stop_at == PR_RUNG_T0) {
        for (int i = 0; i < run->pairs.n; i++) {
            pr_pair *p = &run->pairs.data[i];
            if (p->state == PR_PAIR_UNKNOWN && p->why == PR_REFUSAL_NEEDS_SMT && !L && o->engine == PR_ENGINE_AUTO)   /* Z3 is not for symbolic parameters */
                pr_pair_refuse(p, PR_PAIR_UNKNOWN, PR_REFUSAL_MISSING_BINDING, "not linear while the parameters are symbolic; give a launch");
            if (p->state == PR_PAIR_WITNESS || p->state == PR_PAIR_OPEN)
                pr_pair_refuse(p, PR_PAIR_UNKNOWN, PR_REFUSAL_MISSING_BINDING,
                            L ? "not proved for all parameters; --rung stopped here"
                              : "overlaps for some parameters or grid; give a launch to decide it");
        }
    } else {
        /* T1 at any grid, then the launch's own grid for what is left. Where contents can be read, first
         * without them: what is proved then holds for all contents, and a witness says nothing. */
        bool want_t1 = o->stop_at != PR_RUNG_T1_LAUNCH, snapshots = pr_contents_readable(run->R, L);
        pr_encoding *proved_at = NULL;
        if (snapshots) {
            rung = first_attempt(run, want_t1 ? PR_RUNG_T1 : PR_RUNG_T1_LAUNCH, launch, &is_feasible, &st);
            if (rung == PR_RUNG_NONE && launch) {
                launch = encoding(run, PR_RUNG_T1_LAUNCH);
                pr_encoding_use(launch, PR_CONTENTS_SNAPSHOT);
            }
        }
        if (rung != PR_RUNG_NONE) goto proved;
        reopen(run);
        t1 = encoding(run, PR_RUNG_T1);
        if (snapshots) pr_encoding_use(t1, PR_CONTENTS_SNAPSHOT);
        if (want_t1 && run_rung(run, t1)) rung = PR_RUNG_T1;
        proved_at = t1;
        if (rung == PR_RUNG_NONE && !run->d.failed && !run->d.interrupted && o->stop_at != PR_RUNG_T1) {
            if (want_t1 && launch) pr_races_at_launch(run, t1);
            if (want_t1) pr_races_elsewhere(run, t1);
            if (launch && (run_rung(run, launch) || settle_stuck(run, launch))) rung = PR_RUNG_T1_LAUNCH;
            proved_at = launch;
            if (launch && !run->d.failed) st = pr_races_report(run, launch, t1);
            if (!launch)
                for (int i = 0; i < run->pairs.n; i++)
                    if (run->pairs.data[i].state == PR_PAIR_WITNESS)
                        pr_pair_refuse(&run->pairs.data[i], PR_PAIR_UNKNOWN, PR_REFUSAL_MISSING_BINDING,
                                    "overlaps at some grid; the launch names none");
        } else if (rung == PR_RUNG_NONE && o->stop_at == PR_RUNG_T1) {
            for (int i = 0; i < run->pairs.n; i++)
                if (run->pairs.data[i].state == PR_PAIR_WITNESS)
                    pr_pair_refuse(&run->pairs.data[i], PR_PAIR_UNKNOWN, PR_REFUSAL_UNKNOWN,
                                "overlaps at some grid; --rung stopped here");
        }
        if (rung == PR_RUNG_NONE && st == PR_OK && want_t1 && !run->out->races.n && !run->d.failed && !run->d.interrupted) {
            pr_encoding *e = under_premise(run);
            if (e) {
                rung = PR_RUNG_T1;
                proved_at = e;
            }
        }
        if (rung != PR_RUNG_NONE && st == PR_OK && !run->d.failed) {
            describe_axes(run, proved_at);
            st = finish_proof(run, proved_at, launch, &is_feasible);
            if (st == PR_OK && rung == PR_RUNG_T1_LAUNCH && is_feasible && !run->out->refusals.n) st = pr_races_confirm_elsewhere(run, launch);
            if (proved_at->contents_read || (launch && launch->contents_read))
                pr_add_qualifier(run, "reads tensor contents");
        } else if (run->out->races.n && st == PR_OK && launch && !run->d.failed) {
            st = pr_bounds_check(run, launch);
        }
    }
proved:
    if (run->d.interrupted) return pr_fail(run->err, PR_ERR_INTERRUPTED, "", 0, 0, "interrupted");
    if (run->d.failed) return PR_ERR_INTERNAL;
    if (st != PR_OK) return st;
    if (rung != PR_RUNG_NONE && !run->out->races.n) drop_where_apart(run);
    if (is_feasible && (rung == PR_RUNG_NONE || run->out->refusals.n) && pr_whole_launch(run, launch, &rung, &ends, &st) && rung != PR_RUNG_NONE) {
        describe_axes(run, launch);
        is_feasible = ends && feasible(run, launch, &(pr_outcome){ 0 }) != PR_ANSWER_EMPTY;
    }
    if (st != PR_OK) return st;
    if (run->out->races.n) {        /* premises of proofs do not qualify a replayed race */
        run->out->qualifiers.n = 0;
        pr_common_qualifiers(run);
        for (int i = 0; i < run->pairs.n; i++)
            if (run->pairs.data[i].state == PR_PAIR_WITNESS && !run->pairs.data[i].query->relaxed && run->pairs.data[i].reads_contents)
                pr_add_qualifier(run, "reads tensor contents");
    }
    pr_races_drop_stale(run);
    if (run->out->races.n && !o->no_explain) pr_explain_races(run, launch);
    refuse_open(run);
    fill_ledger(run);
    pr_verdict_settle(run, rung, is_feasible);
    pr_attributes(run, launch);
    return PR_OK;
}

pr_status pr_run_start(pr_run *run, pr_arena *arena, pr_records *r, const pr_launch *launch, const pr_options *o,
                       const pr_confirmer *confirm, pr_config_verdict *out, pr_error *err)
{
    *run = (pr_run){ .arena = arena, .R = r, .L = launch, .o = o, .confirm = confirm, .out = out, .err = err };
    pr_records_build(r, arena);
    run->table_load = PR_NEW_N(arena, bool, r->records.n + 1);
    run->d = (pr_decider){ .arena = arena, .options = o, .counts = &out->counts, .err = err,
                           .isl_engine = pr_engine_isl(), .z3_engine = pr_engine_z3() };
    run->d.scratch = pr_arena_new(0, pr_arena_oom(arena));
    if (!run->d.scratch) return pr_fail(err, PR_ERR_MEMORY, "", 0, 0, "out of memory");
    if (o->budget_ms) run->d.deadline_us = pr_clock_us() + o->budget_ms * 1000;
    out->records = r;
    out->launch = launch;
    pr_run_components(run);
    for (int i = 0; i < o->n_assume + (launch ? launch->n_assume : 0); i++) {
        const pr_assume *a = i < o->n_assume ? &o->assume[i] : &launch->assume[i - o->n_assume];
        pr_term t = { a->term };
        if (pr_term_none(t)) {
            pr_arena_free(run->d.scratch);
            return pr_fail(err, PR_ERR_INTERNAL, "", 0, 0, "the assumption '%.80s' was not read", a->text);
        }
        pr_vec_push(arena, &r->premises, t);
    }
    return PR_OK;
}

void pr_run_stop(pr_run *run)
{
    pr_decider_close(&run->d);
    pr_arena_free(run->d.scratch);
}

/* A refusal of another kind may come from a question that an engine gave up on (do two events meet, is a sum what it looks like):
 * the verdict says who did. */
static void say_who_gave_up(pr_run *run)
{
    pr_config_verdict *out = run->out;
    bool budget = !run->d.gave_up || !out->refusals.n;
    for (int i = 0; i < out->refusals.n; i++) budget = budget || out->refusals.data[i].kind == PR_REFUSAL_BUDGET;
    if (!budget)
        pr_vec_push(run->arena, &out->notes, pr_arena_printf(run->arena, "a question behind this answer stayed undecided: %s", run->d.gave_up));
}

pr_status pr_check_config(pr_arena *arena, pr_records *r, const pr_launch *launch, const pr_options *o,
                          const pr_confirmer *confirm, pr_config_verdict *out, pr_error *err)
{
    pr_run run;
    pr_status st = pr_run_start(&run, arena, r, launch, o, confirm, out, err);
    if (st != PR_OK) return st;
    int64_t began = pr_clock_us();
    for (int i = 0; i < r->notes.n; i++) pr_vec_push(arena, &out->notes, r->notes.data[i]);
    for (int i = 0; i < r->refusals.n; i++)
        pr_add_refusal_of(&run, r->refusals.data[i]);
    if (!r->records.n && !r->refusals.n) pr_vec_push(arena, &out->notes, "the kernel has no global-memory access");
    static const int64_t most[3] = { 2147483647, 65535, 65535 };
    for (int i = 0; launch && launch->grid_known && i < 3; i++)
        if (launch->grid[i] > most[i])   /* every interval below rests on the limit */
            pr_add_refusal(&run, PR_REFUSAL_OTHER, (pr_loc){ 0 },
                           pr_arena_printf(arena, "the grid has %lld programs along axis %d; at most %lld can be launched",
                                           (long long)launch->grid[i], i, (long long)most[i]));
    out->idempotent = "unknown";
    pr_attribute_order(&run);
    st = pr_pairs_too_many(r) ? refuse_pairs(&run) : climb(&run);
    if (st == PR_OK) say_who_gave_up(&run);
    out->nondeterministic = run.d.late;
    out->us_decide = pr_clock_us() - began - out->us_explain;
    pr_run_stop(&run);
    return st;
}

pr_status pr_check_queries(pr_arena *arena, pr_records *r, const pr_launch *launch, const pr_options *o,
                           int pair, void (*visit)(void *user, const pr_pair_view *v), void *user, pr_error *err)
{
    pr_run run;
    pr_config_verdict unused = { 0 };
    if (pr_pairs_too_many(r)) return pr_fail(err, PR_ERR_LIMIT, "", 0, 0, "the kernel has too many accesses (%d)", r->records.n);
    pr_status st = pr_run_start(&run, arena, r, launch, o, NULL, &unused, err);
    if (st != PR_OK) return st;
    pr_rung rung = !launch || o->stop_at == PR_RUNG_T0 ? PR_RUNG_T0
                 : o->stop_at == PR_RUNG_T1_LAUNCH && launch->grid_known ? PR_RUNG_T1_LAUNCH : PR_RUNG_T1;
    const int *component = rung == PR_RUNG_T0 ? run.component_t0 : run.component_t1;
    pr_pairs_enumerate(&run, component, &run.pairs);
    pr_encoding *e = pr_encoding_new(arena, r, launch, o, rung, component);
    if (rung != PR_RUNG_T0 && pr_contents_readable(r, launch)) pr_encoding_use(e, PR_CONTENTS_SNAPSHOT);
    for (int i = 0; i < run.pairs.n; i++) {
        if (pair >= 0 && i != pair) continue;
        pr_pair *p = &run.pairs.data[i];
        pr_pair_view v = { .pair = i, .a = p->a, .b = p->b, .intra = p->intra };
        bool dead = false, used;
        pr_refusal_kind kind;
        if (p->state == PR_PAIR_FILTERED) v.note = p->evidence;
        else if (!pr_encode_pair(e, p->a, p->b, p->intra, p->query = PR_NEW(arena, pr_query), &dead, &used, false, &kind, &v.note))
            v.note = pr_arena_printf(arena, "%s: %s", pr_refusal_slug(kind), v.note);
        else if (dead) v.note = "no two executions meet the conditions";
        else {
            p->query->pair = i;
            v.query = p->query;
        }
        visit(user, &v);
    }
    pr_run_stop(&run);
    return PR_OK;
}
