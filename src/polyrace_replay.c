/* polyrace_replay: run every program of a small launch, and report real overlaps; or compare what
 * each
 * operation touches with what its record claims.
 *
 * Overlaps come from front/replay alone: no record, no engine. Footprints are the bridge between
 * the two
 * halves: each executed lane must be claimed by a record of its operation at the same byte, and
 * an exact
 * record may claim nothing else. */
#include <string.h>
#include "front/replay.h"
#include "polyrace_impl.h"

#define MAX_POINTS ((int64_t)1 << 24) /* record instances evaluated for the reverse direction */

/* ---- overlaps ------------------------------------------------------------------------------- */
static void print_op(pr_buf *b, const pr_op *op)
{
    const pr_srcloc *l = op ? pr_srcloc_user(op->loc) : NULL;
    if (l && l->line) pr_buf_printf(b, PR_STR_FMT ":%d:%d ", PR_STR_ARG(l->file), l->line, l->col);
    if (op) pr_buf_printf(b, "[" PR_STR_FMT ", text line %d]", PR_STR_ARG(op->name), op->line);
}

static void print_tuple(pr_buf *b, const char *what, const int64_t *v, int n)
{
    if (!n) return;
    pr_buf_printf(b, "%s(", what);
    for (int k = 0; k < n; k++) {
        if (v[k] < 0) pr_buf_printf(b, "%s?", k ? ", " : "");
        else pr_buf_printf(b, "%s%lld", k ? ", " : "", (long long)v[k]);
    }
    pr_buf_putc(b, ')');
}

static void print_access(pr_buf *b, const pr_replay_access *a)
{
    print_tuple(b, "    program ", a->pid, 3);
    print_tuple(b, ", lane ", a->lane, a->rank);
    print_tuple(b, ", iteration ", a->iter, a->n_iter);
    pr_buf_puts(b, " at ");
    print_op(b, a->op);
    pr_buf_putc(b, '\n');
}

static void print_races(pr_buf *b, const pr_job *j, const char *word, const pr_replay_race *v,
                        int n)
{
    for (int k = 0; k < n; k++) {
        const pr_replay_race *r = &v[k];
        pr_buf_printf(b, "%s %s on ", word, pr_replay_type_name(r->type));
        if (r->first.base >= 0) {
            const pr_arg *arg = &j->launch->args[r->first.base];
            pr_buf_printf(b, PR_STR_FMT " byte ", PR_STR_ARG(arg->name));
            pr_buf_i128(b, (pr_i128)r->byte - (arg->tensor ? arg->tensor->ptr : 0));
        } else {
            pr_buf_printf(b, "address %llu", (unsigned long long)r->byte);
        }
        pr_buf_printf(b, ", %s; %s%lld pair%s\n", r->intra ? "threads of one program" : "programs",
                      r->count_exact ? "" : "at least ", (long long)r->count,
                      r->count == 1 ? "" : "s");
        print_access(b, &r->first);
        print_access(b, &r->second);
    }
}

static pr_replay_options replay_options(pr_arena *arena, const pr_plan *p, const pr_job *j)
{
    pr_replay_storage *s = PR_NEW_N(arena, pr_replay_storage, j->launch->n_args);
    for (int a = 0; a < j->launch->n_args; a++) {
        const pr_tensor *t = j->launch->args[a].tensor;
        if (t) s[a] = (pr_replay_storage){ true, (uint64_t)t->storage_lo, (uint64_t)t->storage_hi };
    }
    return (pr_replay_options){ .storage = s,
                                .num_warps = j->launch->num_warps,
                                .dep_strict = p->hb.dep_strict };
}

static void overlaps(pr_plan *p, pr_job *j, const pr_interp_setup *setup, pr_buf *b,
                     polyrace_replay_result *out)
{
    pr_replay_options o = replay_options(j->arena, p, j);
    pr_replay_result r = pr_replay_run(j->arena, setup, &o);
    if (r.refused) {
        pr_buf_printf(b, "not executed: %s\n", r.refused);
        out->incomplete = 1;
        return;
    }
    out->programs += r.n_programs;
    out->overlaps += r.n_races;
    if (r.n_inconclusive || r.n_possible) out->incomplete = 1;
    pr_buf_printf(b, "%lld programs, %lld executed accesses, %d race%s\n", (long long)r.n_programs,
                  (long long)r.n_events, r.n_races, r.n_races == 1 ? "" : "s");
    print_races(b, j, "race", r.races, r.n_races);
    print_races(b, j, "possible race", r.possible, r.n_possible);
    for (int k = 0; k < r.n_inconclusive; k++) {
        pr_buf_printf(b, "not complete: %s ", r.inconclusive[k].why);
        print_op(b, r.inconclusive[k].op);
        pr_buf_putc(b, '\n');
    }
    for (int k = 0; k < r.n_outside; k++) {
        pr_buf_printf(b, "out of bounds, %lld time%s\n", (long long)r.outside[k].count,
                      r.outside[k].count == 1 ? "" : "s");
        print_access(b, &r.outside[k].example);
    }
    for (int k = 0; k < r.n_ub; k++) {
        pr_buf_printf(b, "undefined behaviour: %s ", r.ub[k].why);
        print_op(b, r.ub[k].op);
        pr_buf_putc(b, '\n');
    }
}

/* ---- footprints ----------------------------------------------------------------------------- */
/* The records of one operation at one call site. */
typedef struct group {
    int access;
    PR_VEC(int) records;
    const pr_op *op;
    bool refused, uncertain;
    int64_t executed, maybe; /* lanes the evaluator reached */
    int64_t missing;         /* ... that no record claims */
    int64_t claimed, open;   /* lanes the records claim; of unknown activity */
    int64_t wrapped;         /* lanes where an obligation fails: the record says nothing */
} group;

typedef struct compare {
    pr_job *j;
    pr_records *r;
    pr_i128 *value;
    bool *known;
    pr_env env;
    PR_VEC(group) groups;
    int64_t orphans; /* executed lanes of operations without a record */
    const pr_op *orphan;
    int64_t points;
    pr_buf *b;
} compare;

static void set(compare *c, pr_var v, pr_i128 x, bool known)
{
    if (v.id == 0 || v.id >= c->env.n) return;
    c->value[v.id] = x;
    c->known[v.id] = known;
}

static pr_tri truth(compare *c, pr_term t)
{
    pr_i128 v;
    if (pr_term_none(t)) return PR_YES;
    return pr_eval(c->r->terms, t, &c->env, &v) ? v ? PR_YES : PR_NO : PR_MAYBE;
}

static pr_tri both(pr_tri a, pr_tri b)
{ return a == PR_NO || b == PR_NO ? PR_NO : a == PR_YES && b == PR_YES ? PR_YES : PR_MAYBE; }

/* Do the loop and branch frames hold, and their obligations (*held)? */
static pr_tri frames_hold(compare *c, const pr_frame *f, pr_tri *held)
{
    pr_tri all = PR_YES;
    for (; f; f = f->outer) {
        if (f->kind == PR_FRAME_COND) {
            all = both(all, truth(c, f->cond));
            *held = both(*held, truth(c, f->held));
            continue;
        }
        pr_i128 lower, upper, step, at;
        *held = both(*held, truth(c, f->bounds_held));
        bool known = pr_eval(c->r->terms, f->lower, &c->env, &lower) &&
                     pr_eval(c->r->terms, f->upper, &c->env, &upper) &&
                     pr_eval(c->r->terms, f->step, &c->env, &step) && c->known[f->k.id] &&
                     pr_mul_ok(c->value[f->k.id], step, &at) && pr_add_ok(at, lower, &at);
        all = both(all, known ? (at < upper ? PR_YES : PR_NO) : PR_MAYBE);
    }
    return all;
}

/* Activity and address of record r at the point in the environment. held NO: an obligation fails.
 * */
static pr_tri claims(compare *c, const pr_record *r, pr_i128 *addr, bool *addr_known, pr_tri *held)
{
    *held = PR_YES;
    pr_tri active = both(frames_hold(c, r->frame, held), truth(c, r->mask));
    *held = both(*held, both(truth(c, r->mask_held), truth(c, r->offset_held)));
    const pr_tensor *t =
        r->base >= 0 && r->base < c->j->launch->n_args ? c->j->launch->args[r->base].tensor : NULL;
    *addr_known = t && pr_eval(c->r->terms, r->offset, &c->env, addr);
    if (*addr_known) *addr += t->ptr;
    return active;
}

static int loops_of(const pr_frame *f, const pr_frame **out, int cap)
{
    int n = 0;
    for (const pr_frame *k = f; k; k = k->outer) n += k->kind == PR_FRAME_LOOP;
    int at = n;
    for (const pr_frame *k = f; k; k = k->outer)
        if (k->kind == PR_FRAME_LOOP && --at < cap) out[at] = k;
    return n;
}

static group *group_of(compare *c, const pr_replay_access *a)
{
    for (int k = 0; k < c->groups.n; k++) {
        const pr_record *r = &c->r->records.data[c->groups.data[k].records.data[0]];
        if (r->site.op_id != a->op->id || r->site.n_calls != a->n_calls) continue;
        if (a->n_calls && memcmp(r->site.calls, a->calls, sizeof(int) * (size_t)a->n_calls) != 0)
            continue;
        c->groups.data[k].op = a->op;
        return &c->groups.data[k];
    }
    return NULL;
}

static bool set_point(compare *c, const pr_record *r, const int64_t pid[3], const int64_t *iter,
                      int n_iter, const int64_t *lane, int rank)
{
    const pr_frame *loops[PR_INTERP_MAX_LOOPS];
    int n = loops_of(r->frame, loops, PR_INTERP_MAX_LOOPS);
    for (int k = 0; k < 3; k++) set(c, c->r->pid[k], pid[k], true);
    for (int d = 0; d < PR_RANK_MAX; d++) set(c, c->r->lane[d], d < rank ? lane[d] : 0, true);
    if (n != n_iter) return false;
    for (int k = 0; k < n; k++) set(c, loops[k]->k, iter[k], iter[k] >= 0);
    return true;
}

static void visit(void *user, const pr_replay_access *a)
{
    compare *c = user;
    if (a->active == PR_NO) return;
    group *g = group_of(c, a);
    if (!g) {
        c->orphans++;
        c->orphan = a->op;
        return;
    }
    if (a->active == PR_YES) g->executed++;
    else g->maybe++;
    bool claimed = g->refused;
    for (int k = 0; k < g->records.n && !claimed; k++) {
        const pr_record *r = &c->r->records.data[g->records.data[k]];
        pr_i128 addr = 0;
        bool addr_known;
        pr_tri held;
        /* the records of a wait stand for any number of its polls: the loop of the wait is not one of theirs */
        int n_iter = (r->is_await || r->is_pre_exit) && a->n_iter ? a->n_iter - 1 : a->n_iter;
        if (!set_point(c, r, a->pid, a->iter, n_iter, a->lane, a->rank)) continue;
        pr_tri active = claims(c, r, &addr, &addr_known, &held);
        if (held == PR_NO) {
            g->wrapped++;
            claimed = true;
        } else if (active != PR_NO) {
            claimed =
                !addr_known || !a->addr_known || (addr == (pr_i128)a->addr && r->width == a->width);
        }
    }
    if (claimed) return;
    if (!g->missing++) {
        pr_buf_puts(c->b, "  no record claims:\n");
        print_access(c->b, a);
    }
}

/* All lanes of one record at the iterations chosen so far. */
static void count_lanes(compare *c, group *g, const pr_record *r, const int64_t pid[3])
{
    int64_t lane[PR_RANK_MAX] = { 0 };
    int64_t n = 1;
    for (int d = 0; d < r->rank; d++) n *= r->shape[d];
    for (int64_t k = 0; k < n && c->points < MAX_POINTS; k++, c->points++) {
        int64_t rest = k;
        for (int d = r->rank; d-- > 0;) {
            lane[d] = rest % r->shape[d];
            rest /= r->shape[d];
        }
        for (int a = 0; a < 3; a++) set(c, c->r->pid[a], pid[a], true);
        for (int d = 0; d < PR_RANK_MAX; d++)
            set(c, c->r->lane[d], d < r->rank ? lane[d] : 0, true);
        pr_i128 addr;
        bool addr_known;
        pr_tri held, active = claims(c, r, &addr, &addr_known, &held);
        if (held == PR_NO) continue;
        if (active == PR_YES && addr_known) g->claimed++;
        else if (active != PR_NO) g->open++;
    }
}

static void count_loops(compare *c, group *g, const pr_record *r, const pr_frame *const *loops,
                        int n, int at, const int64_t pid[3])
{
    if (at == n) {
        count_lanes(c, g, r, pid);
        return;
    }
    pr_i128 lower, upper, step;
    if (!pr_eval(c->r->terms, loops[at]->lower, &c->env, &lower) ||
        !pr_eval(c->r->terms, loops[at]->upper, &c->env, &upper) ||
        !pr_eval(c->r->terms, loops[at]->step, &c->env, &step) || step <= 0) {
        g->open++;
        return;
    }
    for (pr_i128 k = 0; lower + k * step < upper && c->points < MAX_POINTS; k++, c->points++) {
        set(c, loops[at]->k, k, true);
        count_loops(c, g, r, loops, n, at + 1, pid);
    }
}

static void count_record(compare *c, group *g, const pr_record *r)
{
    const int64_t *grid = c->j->launch->grid;
    const pr_frame *loops[PR_INTERP_MAX_LOOPS];
    int n = loops_of(r->frame, loops, PR_INTERP_MAX_LOOPS);
    int64_t pid[3];
    for (pid[0] = 0; pid[0] < grid[0]; pid[0]++)
        for (pid[1] = 0; pid[1] < grid[1]; pid[1]++)
            for (pid[2] = 0; pid[2] < grid[2] && c->points < MAX_POINTS; pid[2]++) {
                for (int a = 0; a < 3; a++) set(c, c->r->pid[a], pid[a], true);
                count_loops(c, g, r, loops, n, 0, pid);
            }
}

static void make_groups(compare *c)
{
    for (int k = 0; k < c->r->records.n; k++) {
        const pr_record *r = &c->r->records.data[k];
        group *g = NULL;
        for (int i = 0; i < c->groups.n; i++)
            if (c->groups.data[i].access == r->access) g = &c->groups.data[i];
        if (!g) {
            group fresh = { .access = r->access };
            pr_vec_push(c->j->arena, &c->groups, fresh);
            g = &c->groups.data[c->groups.n - 1];
        }
        pr_vec_push(c->j->arena, &g->records, k);
        g->refused = g->refused || r->refused.kind != PR_REFUSAL_NONE;
        g->uncertain = g->uncertain || r->uncertain;
    }
}

static void make_environment(compare *c)
{
    const pr_launch *l = c->j->launch;
    c->env.n = pr_vars_count(c->r->terms);
    c->value = PR_NEW_N(c->j->arena, pr_i128, c->env.n);
    c->known = PR_NEW_N(c->j->arena, bool, c->env.n);
    c->env.value = c->value;
    c->env.known = c->known;
    for (int k = 0; k < 3; k++) set(c, c->r->grid[k], l->grid[k], true);
    for (int a = 0; a < c->r->n_args && a < l->n_args; a++)
        if (l->args[a].kind == PR_ARG_INT) set(c, c->r->args[a].param, l->args[a].value, true);
}

static void footprints(pr_plan *p, pr_job *j, const pr_interp_setup *setup, pr_buf *b,
                       polyrace_replay_result *out)
{
    pr_records_build(j->records, j->arena);
    compare c = { .j = j, .r = j->records, .b = b };
    make_groups(&c);
    make_environment(&c);
    pr_replay_options o = replay_options(j->arena, p, j);
    o.storage = NULL;
    const char *why = pr_interp_footprint(j->arena, setup, &o, visit, &c);
    if (why) {
        pr_buf_printf(b, "not complete: %s\n", why);
        out->incomplete = 1;
    }
    out->programs += j->launch->grid[0] * j->launch->grid[1] * j->launch->grid[2];
    for (int k = 0; k < c.groups.n; k++) {
        group *g = &c.groups.data[k];
        const pr_record *r = &j->records->records.data[g->records.data[0]];
        for (int i = 0; i < g->records.n && !g->refused; i++)
            count_record(&c, g, &j->records->records.data[g->records.data[i]]);
        bool full = c.points < MAX_POINTS && !why && !g->wrapped;
        bool larger = full && !g->uncertain && !g->open && g->claimed > g->executed + g->maybe;
        const char *word = g->refused   ? "not represented"
                           : g->missing ? "MISMATCH: executed lanes that no record claims"
                           : larger     ? "MISMATCH: the record claims lanes that were not executed"
                           : full && !g->open && !g->maybe && g->claimed == g->executed
                               ? "equal"
                               : "contained";
        out->operations++;
        out->mismatches += g->missing + (larger ? 1 : 0);
        pr_buf_printf(b,
                      PR_STR_FMT ":%d:%d [" PR_STR_FMT "]: %s (%lld lanes executed, %lld claimed",
                      PR_STR_ARG(r->loc.file), r->loc.line, r->loc.col, PR_STR_ARG(r->loc.op), word,
                      (long long)(g->executed + g->maybe), (long long)g->claimed);
        if (g->open) pr_buf_printf(b, ", %lld open", (long long)g->open);
        if (g->wrapped) pr_buf_printf(b, ", %lld wrapped", (long long)g->wrapped);
        if (g->missing) pr_buf_printf(b, ", %lld missing", (long long)g->missing);
        pr_buf_puts(b, ")\n");
    }
    if (c.orphans) {
        pr_buf_puts(b, "MISMATCH: executed operation without a record: ");
        print_op(b, c.orphan);
        pr_buf_putc(b, '\n');
        out->mismatches += c.orphans;
    }
}

polyrace_error_kind polyrace_replay(polyrace_context *c, const polyrace_module *m,
                                    const polyrace_launch *launch, const polyrace_options *o,
                                    unsigned flags, const polyrace_sink *sink,
                                    polyrace_replay_result *result, polyrace_error *err)
{
    polyrace_options full;
    memset(result, 0, sizeof *result);
    if (!pr_options_read(o, &full, err)) return POLYRACE_USAGE;
    if (!launch) return pr_usage(err, "replay needs a launch");
    PR_EXHAUSTED(c) return pr_context_exhausted(c, err);
    pr_error e = { 0 };
    pr_plan p;
    bool prints = (flags & POLYRACE_REPLAY_FOOTPRINTS) != 0;
    if (pr_plan_make(&p, c, m, launch, &full, prints, &e) != PR_OK) return pr_copy_error(err, &e);
    c->oom.limit = p.budget;
    pr_buf b;
    pr_buf_init(&b, p.box->child.arena);
    for (int k = 0; k < p.n_jobs; k++) {
        pr_job *j = &p.jobs[k];
        pr_interp_setup setup;
        if (p.n_jobs > 1) pr_buf_printf(&b, "configuration %d\n", k);
        if (!j->func || (prints && !j->lowered) || !pr_job_interp(j->arena, j, true, &setup)) {
            pr_buf_printf(&b, "not executed: %s\n",
                          !j->func || j->refusals.n ? "the configuration is not analysed"
                                                    : "the grid is not known");
            result->incomplete = 1;
        } else if (prints) {
            footprints(&p, j, &setup, &b, result);
        } else {
            overlaps(&p, j, &setup, &b, result);
        }
    }
    bool stopped = c->interrupt != 0;
    c->interrupt = 0;
    if (!stopped) sink->write(sink->user, b.data, b.n);
    pr_child_drop(&p.box->child);
    if (!stopped) return POLYRACE_OK;
    pr_fail(&e, PR_ERR_INTERRUPTED, "", 0, 0, "interrupted");
    return pr_copy_error(err, &e);
}
