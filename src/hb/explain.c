/* Whole race relations: from the query of a reported race to programs and words (decision-engine.md 8.2). */
#include "hb/contents.h"
#include "hb/explain.h"
#include "hb/ladder.h"
#include <string.h>

enum { MAX_BARRIERS = 64 };

static bool is_var(const pr_encoding *e, pr_term t) { return !pr_term_none(t) && pr_term_op_of(e->terms, t) == PR_TERM_OP_VAR; }

/* The query with the open grid's extents in it: a program id alone only says that some grid has it. */
static void bound_by_grid(pr_run *run, pr_encoding *e, pr_query *q)
{
    pr_terms *T = e->terms;
    pr_term extra[6];
    pr_var grids[3];
    int n = 0, n_grids = 0;
    for (int i = 0; i < 3; i++) {
        if (e->fixed[i] || !run->R->grid[i].id) continue;
        pr_term extent = pr_var_term(T, run->R->grid[i]);
        bool used = false, known = false;
        for (int c = 0; c < 2; c++)
            if (is_var(e, q->pid[c][i])) extra[n++] = pr_lt(T, q->pid[c][i], extent), used = true;
        for (int v = 0; v < q->n_vars; v++) known = known || q->vars[v].id == run->R->grid[i].id;
        if (used && !known) grids[n_grids++] = run->R->grid[i];
    }
    pr_term *core = PR_NEW_N(run->arena, pr_term, q->n_core + n + 1);
    pr_var *vars = PR_NEW_N(run->arena, pr_var, q->n_vars + n_grids + 1);
    if (q->n_core) memcpy(core, q->core, sizeof *core * (size_t)q->n_core);
    if (n) memcpy(core + q->n_core, extra, sizeof *core * (size_t)n);
    if (n_grids) memcpy(vars, grids, sizeof *vars * (size_t)n_grids);
    if (q->n_vars) memcpy(vars + n_grids, q->vars, sizeof *vars * (size_t)q->n_vars);
    q->core = core;
    q->n_core += n;
    q->vars = vars;
    q->n_vars += n_grids;
}

enum { STRIP = 256, SIDE = 32, DEPTH = 8 };

/* The whole grid in at most 256 (1-D), 32 x 32 or 16 x 16 x 8 cells; when a cell has several programs also the
 * programs around the witness, one by one. */
static int ask_maps(const pr_race_set_in *in, const pr_race *race, pr_race_map *maps)
{
    bool coarse = false;
    for (int k = 0; k < 2; k++) {
        pr_race_map *m = &maps[k];
        *m = (pr_race_map){ .n_axes = in->n_axes };
        for (int i = 0; i < in->n_axes; i++) {
            int axis = in->axis[i][0] - 'x';
            int64_t most = in->n_axes == 1 ? STRIP : in->n_axes == 2 ? SIDE : i == 2 ? DEPTH : SIDE / 2;
            if (k) most = in->n_axes == 1 ? SIDE : in->n_axes == 2 ? SIDE / 2 : DEPTH;
            m->axis[i] = in->axis[i];
            m->extent[i] = in->extent[i];
            m->witness[i] = race->a.program[axis];
            m->size[i] = k ? 1 : (in->extent[i] + most - 1) / most;
            m->cells[i] = k ? (in->extent[i] < most ? in->extent[i] : most) : (in->extent[i] + m->size[i] - 1) / m->size[i];
            if (k) {                                 /* both programs where they are near                  */
                int64_t low = m->witness[i] < race->b.program[axis] ? m->witness[i] : race->b.program[axis];
                int64_t high = m->witness[i] + race->b.program[axis] - low;
                int64_t from = (high - low < most ? (low + high) / 2 : m->witness[i]) - most / 2;
                if (from > in->extent[i] - m->cells[i]) from = in->extent[i] - m->cells[i];
                m->from[i] = from < 0 ? 0 : from;
            }
            coarse = coarse || m->size[i] > 1;
        }
    }
    return 1 + coarse;
}

/* The race set of a pair at this encoding; null when the pair cannot be asked there. */
static const pr_race_set *explain_query(pr_run *run, pr_encoding *e, int a, int b, bool intra, int64_t max_ops,
                                        const pr_race *race, pr_race_map *maps)
{
    static const char *const names[3] = { "x", "y", "z" };
    pr_query q;
    bool dead = false, used;
    pr_refusal_kind kind;
    const char *why;
    e->assume_waits = true;         /* pairs that race whatever memory holds                            */
    bool asked = pr_encode_pair(e, a, b, intra, &q, &dead, &used, false, &kind, &why);
    e->assume_waits = false;
    if (!asked || dead) return NULL;
    if (maps && q.relaxed) return NULL;
    bound_by_grid(run, e, &q);
    pr_race_set_in in = { .query = &q };
    const pr_side *x = pr_encoding_side(e, a, PR_SIDE_A);
    const pr_side *y = pr_encoding_side(e, b, intra ? PR_SIDE_B_INTRA : PR_SIDE_B);
    for (int i = 0; i < 3; i++) {
        if (!is_var(e, x->pid[i]) || !is_var(e, y->pid[i])) continue;
        int n = in.n_axes++;
        in.a[n] = pr_term_var(e->terms, x->pid[i]);
        in.b[n] = pr_term_var(e->terms, y->pid[i]);
        in.axis[n] = names[i];
        in.extent[n] = e->fixed[i] ? e->extent[i] : 0;
        in.grid[n] = run->R->grid[i];
    }
    if (maps) {
        in.maps = maps;
        in.n_maps = ask_maps(&in, race, maps);
    }
    pr_race_set *out = PR_NEW(run->arena, pr_race_set);
    pr_isl_race_set(&in, max_ops, run->arena, out);
    return out;
}

const pr_race_set *pr_explain_pair(pr_run *run, pr_encoding *e, int a, int b, bool intra, int64_t max_ops)
{ return explain_query(run, e, a, b, intra, max_ops, NULL, NULL); }

pr_status pr_explain_maps(pr_arena *arena, pr_records *r, const pr_launch *launch, const pr_options *o,
                          const pr_race *const *races, int n, pr_race_map (*maps)[2], pr_error *err)
{
    pr_run run;
    pr_config_verdict unused = { 0 };
    for (int i = 0; i < n; i++) {
        pr_launch at = *launch;         /* evidence at another grid is drawn on that grid                */
        if (races[i]->grid[0]) memcpy(at.grid, races[i]->grid, sizeof at.grid);
        pr_status st = pr_run_start(&run, arena, r, &at, o, NULL, &unused, err);
        if (st != PR_OK) return st;
        pr_encoding *e = pr_encoding_new(arena, r, &at, o, PR_RUNG_T1_LAUNCH, run.component_t1);
        if (pr_contents_readable(r, &at)) pr_encoding_use(e, PR_CONTENTS_SNAPSHOT);
        int a = races[i]->a.record, b = races[i]->b.record;
        maps[i][0].why = "the relation depends on values that are not known";
        if (!explain_query(&run, e, a < b ? a : b, a < b ? b : a, races[i]->intra, o->limits.max_ops * PR_EXPLAIN_FACTOR, races[i], maps[i]))
            maps[i][0].cell = maps[i][1].cell = NULL;
        pr_run_stop(&run);
    }
    return PR_OK;
}

void pr_explain_races(pr_run *run, pr_encoding *launch)
{
    int64_t began = pr_clock_us();
    for (int i = 0; i < run->out->races.n && i < PR_MOST_EXPLAINED; i++) {
        pr_race *r = &run->out->races.data[i];
        const pr_pair *p = &run->pairs.data[r->pair];
        if (p->executed) continue;      /* no query states it */
        r->set = pr_explain_pair(run, launch, p->a, p->b, p->intra, run->o->limits.max_ops * (run->o->explain_factor ? run->o->explain_factor : 1));
    }
    run->out->us_explain = pr_clock_us() - began;
}

/* --- the weakest condition ---------------------------------------------------------------------- */

typedef struct question { pr_query q; int pair; } question;
typedef PR_VEC(question) question_vec;

static bool filtered(const pr_pair *p) { return p->state == PR_PAIR_FILTERED; }

/* The queries of a rung; false with *why when one of its pairs cannot be asked there. */
static bool ask_all(pr_run *run, pr_encoding *e, question_vec *out, const char **why)
{
    for (int i = 0; i < run->pairs.n; i++) {
        const pr_pair *p = &run->pairs.data[i];
        if (filtered(p)) continue;
        question x = { .pair = i };
        bool dead = false, used;
        pr_refusal_kind kind;
        if (!pr_encode_pair(e, p->a, p->b, p->intra, &x.q, &dead, &used, false, &kind, why)) return false;
        if (dead) continue;
        x.q.pair = i;
        bound_by_grid(run, e, &x.q);
        pr_vec_push(run->arena, out, x);
    }
    return true;
}

/* The answer of a query under one more premise. */
static pr_answer under(pr_run *run, const pr_query *q, pr_term premise, const char **needs)
{
    pr_query with = *q;
    with.suggest = needs != NULL;
    with.hint = run->hint;
    pr_term *all = PR_NEW_N(run->arena, pr_term, q->n_premises + 1);
    if (q->n_premises) memcpy(all, q->premises, sizeof *all * (size_t)q->n_premises);
    all[q->n_premises] = premise;
    with.premises = all;
    with.n_premises = q->n_premises + !pr_term_is(premise, PR_TERM_TRUE);
    pr_outcome o;
    pr_decide(&run->d, &with, false, &o, NULL);
    if (needs && !pr_term_none(o.needs))
        *needs = pr_arena_printf(run->arena, "needs %s", pr_condition_text(run->arena, run->R->terms, o.needs));
    return o.answer;
}

/* Shared variables of the queries, parameters in argument order before the grid. */
static void parameters(pr_run *run, const question_vec *all, pr_var **out, int *n)
{
    uint32_t count = pr_vars_count(run->R->terms);
    bool *has = PR_NEW_N(run->arena, bool, count);
    for (int i = 0; i < all->n; i++)
        for (int v = 0; v < all->data[i].q.n_vars; v++) has[all->data[i].q.vars[v].id] = true;
    *out = PR_NEW_N(run->arena, pr_var, count + 1);
    *n = 0;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t v = 1; v < count; v++) {
            const pr_var_info *info = pr_var_get(run->R->terms, (pr_var){ v });
            if (has[v] && info->role == (pass ? PR_ROLE_GRID : PR_ROLE_PARAM))
                (*out)[(*n)++] = (pr_var){ v };
        }
}

static void add_needs(pr_run *run, pr_rung_explanation *x, const char *needs)
{
    for (int i = 0; i < x->needs.n; i++)
        if (strcmp(x->needs.data[i], needs) == 0) return;
    pr_vec_push(run->arena, &x->needs, needs);
}

/* Asks every query again with the condition, and with each part of its opposite. */
static void confirm(pr_run *run, const question_vec *all, pr_rung_explanation *x)
{
    pr_terms *T = run->R->terms;
    if (pr_term_none(x->free.free)) return;
    x->verified = true;
    for (int i = 0; i < all->n && x->verified; i++)
        x->verified = under(run, &all->data[i].q, x->free.free, NULL) == PR_ANSWER_EMPTY;
    pr_term opposite = pr_not(T, x->free.free);
    x->weakest = x->free.always;
    for (int i = 0; i < all->n && !x->weakest && !pr_term_none(opposite); i++)
        x->weakest = !all->data[i].q.relaxed && under(run, &all->data[i].q, opposite, NULL) == PR_ANSWER_WITNESS;
    for (int i = 0; i < all->n; i++)      /* an over-approximated pair makes the race set too large          */
        if (all->data[i].q.relaxed) x->weakest = x->free.always;
}

static void holds_at(pr_run *run, pr_rung_explanation *x)
{
    if (!run->L || !run->L->grid_known || pr_term_none(x->free.free)) return;
    uint32_t n = pr_vars_count(run->R->terms);
    pr_i128 *value = PR_NEW_N(run->arena, pr_i128, n);
    bool *known = PR_NEW_N(run->arena, bool, n);
    pr_env env = { value, known, n };
    for (int i = 0; i < 3; i++)
        if (run->R->grid[i].id) value[run->R->grid[i].id] = run->L->grid[i], known[run->R->grid[i].id] = true;
    for (int i = 0; i < run->R->n_args && i < run->L->n_args; i++)
        if (run->R->args[i].param.id && run->L->args[i].kind == PR_ARG_INT) {
            value[run->R->args[i].param.id] = run->L->args[i].value;
            known[run->R->args[i].param.id] = true;
        }
    pr_i128 v = 0;
    x->held_known = pr_eval(run->R->terms, x->free.free, &env, &v);
    x->holds_here = x->held_known && v != 0;
}

static void explain_rung(pr_run *run, pr_rung rung, const int *component, pr_rung_explanation *x)
{
    *x = (pr_rung_explanation){ .rung = rung, .free = { .free = PR_TERM_NONE } };
    run->pairs.n = 0;
    pr_pairs_enumerate(run, component, &run->pairs);
    pr_encoding *e = pr_encoding_new(run->arena, run->R, run->L, run->o, rung, component);
    for (int i = 0; i < 3; i++) x->pinned[i] = e->fixed[i] ? e->extent[i] : 0;
    question_vec all = { 0 };
    if (!ask_all(run, e, &all, &x->why)) return;
    x->asked = true;
    int64_t ops = run->o->limits.max_ops * PR_EXPLAIN_FACTOR;
    question_vec open = { 0 };                    /* what is not empty anyway                      */
    for (int i = 0; i < all.n; i++) {
        const char *needs = NULL;
        run->d.cheaply = true;
        pr_answer cheap = under(run, &all.data[i].q, PR_TERM_TRUE, &needs);
        run->d.cheaply = false;
        if (cheap == PR_ANSWER_EMPTY) continue;
        if (needs) add_needs(run, x, needs);
        pr_vec_push(run->arena, &open, all.data[i]);
    }
    if (!open.n) {
        x->free = (pr_race_free){ .text = "always", .always = true, .free = PR_TERM_TRUE };
        x->verified = x->weakest = x->holds_here = x->held_known = true;
        return;
    }
    const pr_query **queries = PR_NEW_N(run->arena, const pr_query *, open.n);
    for (int i = 0; i < open.n; i++) queries[i] = &open.data[i].q;
    pr_race_free_in in = { .terms = run->R->terms, .queries = queries, .n_queries = open.n };
    pr_var *params;
    parameters(run, &open, &params, &in.n_params);
    in.params = params;
    pr_isl_race_free(&in, ops, run->arena, &x->free);
    if (!x->free.text || x->free.why) {
        x->why = x->free.why;
        return;
    }
    confirm(run, &open, x);
    if (!x->verified) x->why = "the condition could not be confirmed by asking again";
    holds_at(run, x);
}

pr_status pr_explain_config(pr_arena *arena, pr_records *r, const pr_launch *launch, const pr_options *o,
                            pr_explanation *out, pr_error *err)
{
    pr_run run;
    pr_config_verdict unused = { 0 };
    *out = (pr_explanation){ 0 };
    if (pr_pairs_too_many(r)) return pr_fail(err, PR_ERR_LIMIT, "", 0, 0, "the kernel has too many accesses to be explained (%d)", r->records.n);
    pr_status st = pr_run_start(&run, arena, r, launch, o, NULL, &unused, err);
    if (st != PR_OK) return st;
    run.d.limits_ms = o->t1_timeout_ms;
    run.d.z3_share = 1;
    run.hint = pr_condition_env(&run);
    out->rungs[0].why = "accessed buffers overlap at this launch";
    out->rungs[1].why = "there is no launch";
    out->rungs[0].rung = PR_RUNG_T0, out->rungs[1].rung = PR_RUNG_T1;
    if (r->refusals.n) {
        out->rungs[0].why = out->rungs[1].why = "a part of the kernel is not understood";
    } else {
        if (!launch || run.disjoint) explain_rung(&run, PR_RUNG_T0, run.component_t0, &out->rungs[0]);
        if (launch) {
            explain_rung(&run, PR_RUNG_T1, run.component_t1, &out->rungs[1]);
            pr_encoding *e = pr_encoding_new(arena, r, launch, o, PR_RUNG_T1, run.component_t1);
            if (pr_contents_readable(r, launch)) pr_encoding_use(e, PR_CONTENTS_SNAPSHOT);
            for (int i = 0; i < run.pairs.n; i++) {
                const pr_pair *p = &run.pairs.data[i];
                pr_query q;
                bool dead = false, used;
                pr_refusal_kind kind;
                const char *why;
                if (filtered(p) || !pr_encode_pair(e, p->a, p->b, p->intra, &q, &dead, &used, false, &kind, &why) || dead ||
                    q.relaxed || under(&run, &q, PR_TERM_TRUE, NULL) != PR_ANSWER_WITNESS) continue;
                pr_pair_explanation x = { i, p->a, p->b, p->intra,
                                          pr_explain_pair(&run, e, p->a, p->b, p->intra, o->limits.max_ops * PR_EXPLAIN_FACTOR) };
                pr_vec_push(arena, &out->pairs, x);
            }
        }
    }
    bool failed = run.d.failed, interrupted = run.d.interrupted;
    pr_run_stop(&run);
    if (interrupted) return pr_fail(err, PR_ERR_INTERRUPTED, "", 0, 0, "interrupted");
    return failed ? PR_ERR_INTERNAL : PR_OK;
}

/* A barrier that only one compile's layouts make superfluous is not listed: proofs without it may not use them. */
static void forget_thread_maps(pr_arena *arena, pr_records *r)
{
    r->records.data = pr_arena_copy(arena, r->records.data, sizeof *r->records.data * (size_t)r->records.n);
    for (int k = 0; k < r->records.n; k++) r->records.data[k].thread_map = 0;
}

/* Every assumption of one proof is one of the other's. */
static bool assumes_no_more(const pr_config_verdict *v, const pr_config_verdict *than)
{
    for (int i = 0; i < v->qualifiers.n; i++) {
        bool known = false;
        for (int k = 0; k < than->qualifiers.n; k++) known = known || !strcmp(v->qualifiers.data[i], than->qualifiers.data[k]);
        if (!known) return false;
    }
    return true;
}

pr_status pr_explain_barriers(pr_arena *arena, pr_records *r, const pr_launch *launch, const pr_options *o, const pr_config_verdict *proved,
                              pr_explanation *out, pr_error *err)
{
    for (int i = 0; i < r->fences.n && i < MAX_BARRIERS; i++) {
        pr_records without = *r;
        without.fences.data = PR_NEW_N(arena, pr_fence, r->fences.n);
        without.fences.n = 0;
        without.fences.cap = r->fences.n;
        for (int k = 0; k < r->fences.n; k++)
            if (k != i) without.fences.data[without.fences.n++] = r->fences.data[k];
        forget_thread_maps(arena, &without);
        pr_config_verdict v = { 0 };
        pr_status st = pr_check_config(arena, &without, launch, o, NULL, &v, err);
        if (st != PR_OK) return st;
        if (v.status != PR_VERDICT_OK || v.rung != proved->rung || !assumes_no_more(&v, proved)) continue;
        pr_spare_barrier spare = { r->fences.data[i].loc, (int)v.counts.queries };
        pr_vec_push(arena, &out->spare_barriers, spare);
    }
    return PR_OK;
}

void pr_explain_settle(pr_explanation *x, const pr_config_verdict *v)
{
    bool strides = false;               /* a condition of its own, which the verdict states                   */
    for (int i = 0; i < v->qualifiers.n; i++) strides = strides || !strncmp(v->qualifiers.data[i], "assumes strides", 15);
    for (size_t i = 0; i < PR_LEN(x->rungs) && v->status == PR_VERDICT_OK; i++) {
        pr_rung_explanation *c = &x->rungs[i];
        bool exact = c->free.text && c->verified && c->weakest;
        bool proved = v->rung == PR_RUNG_T0 ? !strides || c->rung == PR_RUNG_T1 : v->rung == PR_RUNG_T1 && c->rung == PR_RUNG_T1;
        if (exact || !proved) continue;
        c->free = (pr_race_free){ .text = "always", .always = true, .free = PR_TERM_TRUE };
        c->verified = c->weakest = c->holds_here = c->held_known = true;
        c->needs.n = 0;
    }
}
