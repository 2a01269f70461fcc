/* What a witness means: a race of the launch, evidence at another grid, a race that is only possible, or a pair
 * that atomics may order. happens-before.md 5.1. */
#include "hb/ladder.h"
#include "hb/order.h"

static pr_record *record(pr_run *run, int i) { return &run->R->records.data[i]; }

void pr_pair_refuse(pr_pair *p, pr_pair_state state, pr_refusal_kind why, const char *message)
{
    p->state = state;
    p->why = why;
    p->message = message;
}

/* The launch's grid is inside the open one, so a witness there whose programs exist at the launch is a witness
 * of the launch, unless some term depends on the extent itself. */
void pr_races_at_launch(pr_run *run, const pr_encoding *e)
{
    for (int i = 0; i < run->pairs.n; i++) {
        pr_pair *p = &run->pairs.data[i];
        if (p->state != PR_PAIR_WITNESS) continue;
        p->at_launch = !p->synced && !e->grid_used[0] && !e->grid_used[1] && !e->grid_used[2];
        for (int v = 0; v < p->query->n_vars; v++) {
            const pr_var_info *info = pr_var_get(e->terms, p->query->vars[v]);
            if (info->role == PR_ROLE_PID && p->point.value[v] >= run->L->grid[info->index & 3]) p->at_launch = false;
        }
    }
}

static bool same_place(const pr_loc *a, const pr_loc *b)
{
    if (!a->line || !b->line) return a->text_line == b->text_line;
    return a->line == b->line && a->col == b->col && pr_str_eq(a->file, b->file) && pr_str_eq(a->op, b->op);
}

/* Is a race of this type between these two source sites in the list already? Unrolled loops and inlined helpers
 * give hundreds of pairs that a reader sees as one. */
static bool same_site(pr_run *run, const pr_race *list, int n, const pr_race *race)
{
    for (int i = 0; i < n; i++) {
        const pr_race *r = &list[i];
        if (r->type == race->type && r->intra == race->intra &&
            same_place(&record(run, r->a.record)->loc, &record(run, race->a.record)->loc) &&
            same_place(&record(run, r->b.record)->loc, &record(run, race->b.record)->loc)) return true;
    }
    return false;
}

enum { MOST_ELSEWHERE = 4 };

void pr_races_elsewhere(pr_run *run, const pr_encoding *e)
{
    for (int i = 0; i < run->pairs.n; i++) {
        pr_pair *p = &run->pairs.data[i];
        if (p->state != PR_PAIR_WITNESS || p->at_launch) continue;
        p->fragile = true;
        if (run->out->grid_fragile.n >= PR_MOST_RACES) continue;
        pr_race race;
        int w, r;
        if (p->synced && run->elsewhere.n < MOST_ELSEWHERE && run->confirm) {
            const pr_confirmer *keep = run->confirm;
            bool relaxed = p->query->relaxed;
            run->confirm = NULL;
            p->query->relaxed = true;              /* a place to look at                            */
            if (pr_witness_race(run, e, p, &race) == PR_OK) {
                race.pair = i;
                pr_vec_push(run->arena, &run->elsewhere, race);
            }
            run->confirm = keep;
            p->query->relaxed = relaxed;
        }
        if (p->query->relaxed || p->synced || pr_order_maybe_synchronised((pr_encoding *)e, p->a, p->b, p->intra, &w, &r)) continue;
        pr_confirmer *keep = (pr_confirmer *)run->confirm;
        run->confirm = NULL;                   /* evidence at another grid is not replayed */
        if (pr_witness_race(run, e, p, &race) == PR_OK) {
            race.confirmation_why = "at a grid other than the launch's";
            race.pair = i;
            if (!same_site(run, run->out->grid_fragile.data, run->out->grid_fragile.n, &race))
                pr_vec_push(run->arena, &run->out->grid_fragile, race);
        }
        run->confirm = keep;
    }
}

/* A proof of this grid that rests on synchronisation is as fragile: shown by an execution of the launch at another grid. */
pr_status pr_races_confirm_elsewhere(pr_run *run, const pr_encoding *e)
{
    for (int i = 0; i < run->elsewhere.n && !run->out->grid_fragile.n; i++) {
        pr_race *race = &run->elsewhere.data[i];
        pr_status st = pr_witness_execution(run, e, race);
        if (st != PR_OK) return st;
        if (race->confirmation != PR_CONFIRMED) continue;
        race->confirmation_why = "an execution at that grid reaches the same byte with nothing that orders the two";
        pr_vec_push(run->arena, &run->out->grid_fragile, *race);
    }
    return PR_OK;
}

static bool unmodelled(void *user, const pr_terms *T, pr_term t) { return pr_term_op_of(T, t) == PR_TERM_OP_APP; }

/* The outermost loop around r whose bounds come from memory. */
static const pr_frame *loaded_bound(pr_run *run, const pr_record *r)
{
    const pr_frame *found = NULL;
    for (const pr_frame *f = r->frame; f; f = f->outer)
        if (f->kind == PR_FRAME_LOOP && (pr_term_any(run->R->terms, f->lower, unmodelled, NULL) ||
                                         pr_term_any(run->R->terms, f->upper, unmodelled, NULL))) found = f;
    return found;
}

/* The kernel holds an operation that is not understood and might order threads or programs (assembly with a
 * barrier in it, an unknown operation, a call without a body): then no witness is definite. */
static bool may_hide_order(const pr_records *R)
{
    for (int i = 0; i < R->refusals.n; i++) {
        pr_refusal_kind k = R->refusals.data[i].kind;
        if (k == PR_REFUSAL_OUT_OF_VOCABULARY || k == PR_REFUSAL_INLINE_ASM || k == PR_REFUSAL_CALL ||
            k == PR_REFUSAL_CONTROL_FLOW || k == PR_REFUSAL_OTHER || k == PR_REFUSAL_BUDGET) return true;
    }
    return false;
}

/* Definite, possible or synchronised: what a witness at the launch's own grid means. */
typedef struct possible_site { pr_loc loc; const char *why; } possible_site;

static bool is_result(void *user, const pr_terms *T, pr_term t)
{
    return pr_term_op_of(T, t) == PR_TERM_OP_APP && pr_sym_get(T, pr_term_sym(T, t))->kind == PR_SYM_OBSERVED;
}

static bool by_result(pr_run *run, const pr_record *r) { return !pr_term_none(r->offset) && pr_term_any(run->R->terms, r->offset, is_result, NULL); }

/* What keeps a witness from being a definite race. */
static const char *why_possible(pr_run *run, pr_encoding *e, const pr_pair *p)
{
    const pr_record *a = record(run, p->a), *b = record(run, p->b);
    if (pr_encoding_side(e, p->a, PR_SIDE_A)->uncertain || pr_encoding_side(e, p->b, PR_SIDE_B)->uncertain)
        return "races are possible, but only through conditions that are not modelled (a value from memory or from an "
               "atomic, a wait, or a floating-point comparison)";
    if (p->intra && (a->via_desc || b->via_desc))
        return "races between threads of one program are possible, but what orders an access through a tensor descriptor "
               "inside its program is not modelled";
    if (p->maybe_waits)
        return "races between threads of one program are possible: whether the second access waits for the first rests on what a loop "
               "or a branch hands on, or on the mask, from memory, of a load between them";
    if (a->kind == PR_RECORD_CAS || b->kind == PR_RECORD_CAS)
        return "races are possible, but whether a compare-and-swap writes rests on the value that it finds";
    if (p->synced && (by_result(run, a) || by_result(run, b)))
        return "races are possible: what the atomics return, of which the address is made, is not known well enough (contents that the launch does not give, or "
               "what the counters hold first)";
    return "races are possible, but the number of barriers between the two accesses is not known";
}

/* A pair at the launch that no query decides, as a place where an execution may be looked for: any two programs. */
static pr_race somewhere(pr_run *run, const pr_pair *p, int number)
{
    pr_race race = { .intra = p->intra, .confirmation = PR_CONFIRM_UNAVAILABLE, .pair = number };
    pr_witness_access *at[2] = { &race.a, &race.b };
    for (int k = 0; k < 2; k++) {
        at[k]->record = k ? p->b : p->a;
        at[k]->rank = record(run, at[k]->record)->rank;
        for (const pr_frame *f = record(run, at[k]->record)->frame; f; f = f->outer) at[k]->n_iterations += f->kind == PR_FRAME_LOOP;
    }
    for (int i = 0; i < 3; i++) {
        race.grid[i] = run->L->grid[i];
        if (!p->intra) race.b.program[i] = race.grid[i] - 1;
    }
    return race;
}

static bool loops_fit(const pr_race *r) { return r->a.n_iterations <= 64 && r->b.n_iterations <= 64; }

static void note_value(pr_run *run, const pr_encoding *e, pr_encoding *launch, const pr_pair *p, pr_race *race)
{
    if (race->type == PR_RACE_WAW && (pr_same_value(run, e, p) || pr_made_the_same(run, launch, p, race)))
        race->reason = pr_arena_printf(run->arena, "%s; both write the same value wherever they meet (still a race)", race->reason);
}

pr_status pr_races_report(pr_run *run, pr_encoding *e, const pr_encoding *open)
{
    bool only_bounds = true, hidden = may_hide_order(run->R);
    int possible = 0, withheld = 0, repeats = 0, beyond = 0;
    PR_VEC(possible_site) sites = { 0 };
    const pr_frame *free_bound = NULL;
    for (int i = 0; i < run->pairs.n; i++) {
        pr_pair *p = &run->pairs.data[i];
        int w = 0, r = 0;
        if (p->state == PR_PAIR_UNKNOWN && p->synced && !hidden && e->rung == PR_RUNG_T1_LAUNCH && run->L->grid_known && run->out->races.n < PR_MOST_RACES) {
            pr_race race = somewhere(run, p, i);
            pr_status st = loops_fit(&race) ? pr_witness_execution(run, e, &race) : PR_OK;
            if (st != PR_OK) return st;
            if (race.confirmation != PR_CONFIRMED) continue;
            p->state = PR_PAIR_WITNESS;
            p->query->relaxed = false;
            if (same_site(run, run->out->races.data, run->out->races.n, &race)) repeats++;
            else pr_vec_push(run->arena, &run->out->races, race);
            continue;
        }
        if (p->state != PR_PAIR_WITNESS) continue;
        if (run->out->races.n >= PR_MOST_RACES) {      /* not replayed, so not a race: withheld */
            p->query->relaxed = true;
            beyond++;
            continue;
        }
        const char *searched = "no launch was run";
        bool maybe = pr_order_maybe_synchronised(e, p->a, p->b, p->intra, &w, &r);
        bool by_value = p->query->relaxed && run->R->has_atomics && !(p->intra && (record(run, p->a)->via_desc || record(run, p->b)->via_desc));
        if ((maybe || p->synced || by_value) && !hidden) {     /* only an execution of the launch decides */
            pr_race race;
            bool relaxed = p->query->relaxed;
            p->query->relaxed = true;
            pr_status st = pr_witness_race(run, e, p, &race);
            if (st == PR_OK) st = pr_witness_execution(run, e, &race);
            if (st != PR_OK) return st;
            p->query->relaxed = relaxed;
            if (race.confirmation_why) searched = race.confirmation_why;
            race.pair = i;
            if (race.confirmation == PR_CONFIRMED) {
                p->query->relaxed = false;
                note_value(run, e, e, p, &race);
                if (same_site(run, run->out->races.data, run->out->races.n, &race)) repeats++;
                else pr_vec_push(run->arena, &run->out->races, race);
                continue;
            }
        }
        if (maybe) {
            const pr_loc *x = &record(run, w)->loc, *y = &record(run, r)->loc;
            pr_pair_refuse(p, PR_PAIR_REFUSED, PR_REFUSAL_NEEDS_SYNCHRONISATION,
                        pr_arena_printf(run->arena, "the atomics at line %d and line %d may order this access and the "
                                        "one at line %d; that is neither proved nor refuted by running the launch (%s)",
                                        x->line, y->line, record(run, p->b)->loc.line, searched));
            continue;
        }
        if (hidden) {
            p->query->relaxed = true;
            withheld++;
            continue;
        }
        if (p->query->relaxed || p->synced) {
            p->query->relaxed = true;
            const pr_record *a = record(run, p->a), *b = record(run, p->b);
            const pr_side *x = pr_encoding_side(e, p->a, PR_SIDE_A), *y = pr_encoding_side(e, p->b, PR_SIDE_B);
            const pr_record *u = x->uncertain || !y->uncertain ? a : b;
            if ((x->uncertain && !x->uncertain_bound_only) || (y->uncertain && !y->uncertain_bound_only) ||
                (!x->uncertain && !y->uncertain)) only_bounds = false;
            possible++;
            possible_site site = { u->loc, why_possible(run, e, p) };
            pr_vec_push(run->arena, &sites, site);
            if (!free_bound) free_bound = loaded_bound(run, a) ? loaded_bound(run, a) : loaded_bound(run, b);
            continue;
        }
        pr_race race;
        pr_status st = pr_witness_race(run, p->at_launch ? open : e, p, &race);
        if (st != PR_OK) return st;
        race.pair = i;
        if (race.confirmation != PR_CONFIRMED && race.not_replayed) {
            pr_pair_refuse(p, PR_PAIR_REFUSED, race.not_replayed,
                        pr_arena_printf(run->arena, "a witness could not be replayed: %s", race.confirmation_why));
            continue;
        }
        note_value(run, p->at_launch ? open : e, e, p, &race);
        if (same_site(run, run->out->races.data, run->out->races.n, &race)) repeats++;
        else pr_vec_push(run->arena, &run->out->races, race);
    }
    if (repeats)
        pr_vec_push(run->arena, &run->out->notes,
                    pr_arena_printf(run->arena, "%d more pair%s of accesses at the same source lines race%s in the same way "
                                    "(unrolled or inlined copies)", repeats, repeats == 1 ? "" : "s", repeats == 1 ? "s" : ""));
    if (beyond)
        pr_vec_push(run->arena, &run->out->notes,
                    pr_arena_printf(run->arena, "%d races are reported; %d more pair%s of accesses may race and %s not replayed",
                                    run->out->races.n, beyond, beyond == 1 ? "" : "s", beyond == 1 ? "was" : "were"));
    if (withheld) {
        run->out->withheld = withheld;
        pr_vec_push(run->arena, &run->out->notes,
                    pr_arena_printf(run->arena, "%d possible race%s withheld: an operation that is not understood might "
                                    "order the accesses", withheld, withheld == 1 ? "" : "s"));
    }
    if (!possible) return PR_OK;
    if (run->out->races.n) {
        run->out->withheld = possible;
        pr_vec_push(run->arena, &run->out->notes,
                    pr_arena_printf(run->arena, "%d possible race%s on over-approximated accesses withheld", possible,
                                    possible == 1 ? "" : "s"));
        return PR_OK;
    }
    if (only_bounds && free_bound) {
        pr_add_refusal(run, PR_REFUSAL_DATA_DEPENDENT_BOUND, free_bound->loc,
                       "races are possible, but only through loop bounds that come from memory");
        return PR_OK;
    }
    for (int i = 0; i < sites.n; i++)
        pr_add_refusal(run, PR_REFUSAL_POTENTIAL_RACE, sites.data[i].loc, sites.data[i].why);
    return PR_OK;
}

/* A pair that races at the launch itself needs no evidence at another grid. */
void pr_races_drop_stale(pr_run *run)
{
    int kept = 0;
    for (int i = 0; i < run->out->grid_fragile.n; i++) {
        pr_race *g = &run->out->grid_fragile.data[i];
        if (run->pairs.data[g->pair].state != PR_PAIR_WITNESS) run->out->grid_fragile.data[kept++] = *g;
    }
    run->out->grid_fragile.n = kept;
}
