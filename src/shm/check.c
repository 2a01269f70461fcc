/* The order of work on one kernel (shared-memory.md 4.10); see check.h. */
#include "shm/check.h"
#include "front/ops.h"
#include "shm/certify.h"
#include "shm/explain.h"
#include "shm/ptx.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RUNS = 260, SAMPLED_RUNS = 60, SAMPLES = 500, MAX_EVENTS = 3000, MAX_TOTAL = 150000, MAX_STEPS = 20000000, EVIDENCE = 20000 };

void pr_shm_options_default(pr_shm_options *o)
{
    *o = (pr_shm_options){ .max_k = 64, .max_ops = 50000000 };
}

typedef struct work {
    pr_shm_prog *p;              /* bound: of one launch                                          */
    const pr_shm_options *o;
    pr_shm_findings findings;
    pr_shm_evidences evidence;
    int runs, most_runs, skipped, attributed;
    int64_t events, steps, greatest;
    bool exact;                  /* no launch value, condition or data was assumed                  */
    PR_VEC(uint64_t) met;        /* trip counts of the runs, one number each                       */
    const pr_op *unread;         /* a TMA store whose reads no wait covers when the kernel ends         */
} work;

/* ---- bounded runs ------------------------------------------------------------------------------------------ */
static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* 4.3: counts around the sizes of every ring of the kernel. */
static int counts(const work *w, int64_t *k, int most)
{
    int n = 0;
    for (n = 0; n < 10; n++) k[n] = n;
    for (int a = 0; a < w->p->allocs.n; a++) {
        const pr_shm_alloc *alloc = &w->p->allocs.data[a];
        int64_t s = alloc->shape[0];
        bool ring = s <= 8 || (s <= 32 && (alloc->barrier || alloc->rank > 2));
        if (alloc->rank < 2 || !ring) continue;
        int64_t more[] = { s - 1, s, s + 1, 2 * s - 1, 2 * s, 2 * s + 1, 3 * s + 1, 4 * s + 2 };
        for (size_t i = 0; i < PR_LEN(more) && n < most; i++) k[n++] = more[i];
    }
    qsort(k, (size_t)n, sizeof *k, compare);
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (k[i] <= w->o->max_k && (!kept || k[kept - 1] != k[i])) k[kept++] = k[i];
    return kept;
}

static const char *trips_text(const work *w, const pr_shm_trace *t)
{
    pr_buf b;
    pr_buf_init(&b, w->p->arena);
    for (int i = 0; i < t->n_trips; i++) {
        const pr_shm_loop *l = &w->p->loops.data[i];
        pr_loc at = pr_shm_loc(l->op);
        pr_buf_printf(&b, "%sloop at line %d: %" PRId64, b.n ? ", " : "", at.line ? at.line : at.text_line, t->trips[i]);
    }
    return b.n ? b.data : "";
}

/* The last TMA store of a run that no later wait of its agent covers. */
static const pr_op *pending_store(const pr_shm_trace *t)
{
    for (int a = 0; a < t->n_agents; a++) {
        int64_t left = INT64_MAX;                    /* stores that some later wait leaves pending, and more   */
        for (int i = t->agents[a].n - 1; i >= 0; i--) {
            const pr_shm_event *e = &t->agents[a].data[i];
            if (e->kind == PR_SHM_EV_STORE_WAIT && e->count < left) left = e->count;
            if (e->kind == PR_SHM_EV_STORE && left-- > 0) return e->op;
        }
    }
    return NULL;
}

/* The trip counts of a run as one number. */
static uint64_t trips_met(const pr_shm_trace *t)
{
    uint64_t h = 1469598103934665603u;
    for (int i = 0; i < t->n_trips; i++) h = (h ^ (uint64_t)t->trips[i]) * 1099511628211u + (uint64_t)i;
    return h;
}

static bool is_met(const work *w, uint64_t h)
{
    for (int i = 0; i < w->met.n; i++)
        if (w->met.data[i] == h) return true;
    return false;
}

static void run(work *w, const int64_t *value, int n)
{
    if (w->runs >= w->most_runs || w->events > MAX_TOTAL || w->steps > MAX_STEPS || (w->o->interrupt && *w->o->interrupt)) return;
    pr_arena *scratch = pr_arena_new(0, pr_arena_oom(w->p->arena));
    pr_shm_trace t;
    pr_shm_run(w->p, scratch, value, n, MAX_EVENTS, &t);
    w->steps += t.steps;
    if (t.excluded) {
        w->runs++;
    } else if (t.too_long) {
        w->skipped++;
    } else {
        pr_shm_evidence e = { .n_trips = t.n_trips };
        uint64_t h = trips_met(&t);
        if (!is_met(w, h)) pr_vec_push(w->p->arena, &w->met, h);
        memcpy(e.trips, t.trips, sizeof e.trips);
        memcpy(e.total, t.total, sizeof e.total);
        bool keep = w->attributed < EVIDENCE;
        const char *text = trips_text(w, &t);
        int before = w->findings.n;
        for (int a = 0; a < t.n_agents; a++) w->events += t.agents[a].n;
        pr_shm_schedule(w->p, &t, 0, w->runs, text, scratch, &w->findings, keep ? &e.attributions : NULL);
        if (w->p->membar && w->findings.n == before) pr_shm_schedule_strictly(w->p, &t, w->runs, text, scratch, &w->findings);
        else if (w->findings.n > before) {                /* the outcome depends on timing: other schedules too */
            for (unsigned seed = 1; seed <= 24; seed++)
                pr_shm_schedule(w->p, &t, seed, w->runs, text, scratch, &w->findings, NULL);
        }
        if (keep && (w->findings.n == before || w->o->cross_check || w->o->explain)) {
            w->attributed += e.attributions.n;
            pr_vec_push(w->p->arena, &w->evidence, e);
        }
        w->runs++;
        if (!w->unread && !t.assumed) w->unread = pending_store(&t);
        if (t.assumed) w->exact = false;
    }
    pr_arena_free(scratch);
}

static bool is_program_number(const pr_shm_param *q) { return pr_str_starts(q->name, "pid_"); }
static bool is_program_count(const pr_shm_param *q) { return pr_str_starts(q->name, "programs_"); }

/* k times unit, as an argument with the divisibility of the text can have it. */
static int64_t launch_value(const pr_shm_param *q, int64_t k, int64_t unit)
{
    int64_t m = q->multiple > 1 ? q->multiple : 1;
    if (q->flag) return k & 1;
    return k * (unit % m == 0 ? unit : unit / (int64_t)pr_gcd(unit, m) * m);
}

static void set_all(const work *w, int64_t *value, int64_t k, int64_t unit)
{
    for (int i = 0; i < w->p->params.n; i++) {
        const pr_shm_param *q = &w->p->params.data[i];
        value[i] = is_program_number(q) ? 0 : is_program_count(q) ? 1 : launch_value(q, k, unit);
    }
}

/* Trip counts that the orderly values do not reach (differences of values, tables of several): values at random, and of
 * those the ones with trip counts that are new. */
static void sampled(work *w)
{
    int64_t value[256];
    int n = w->p->params.n < 256 ? w->p->params.n : 256, n_scales = w->p->scales.n;
    uint64_t state = 88172645463325252u;
    w->most_runs = w->runs + SAMPLED_RUNS;
    for (int r = 0; r < SAMPLES && w->runs < w->most_runs && w->events <= MAX_TOTAL && w->steps <= MAX_STEPS; r++) {
        if (w->o->interrupt && *w->o->interrupt) return;
        for (int i = 0; i < n; i++) {
            const pr_shm_param *q = &w->p->params.data[i];
            state ^= state << 13, state ^= state >> 7, state ^= state << 17;
            int64_t k = (int64_t)(state >> 8 & 15), s = (int64_t)(state >> 16 & 255) % (n_scales + 1);
            value[i] = is_program_number(q) ? k & 3 : is_program_count(q) ? 1 + (k & 3) : launch_value(q, k > 9 ? k - 9 : k, s ? w->p->scales.data[s - 1] : 1);
        }
        pr_arena *scratch = pr_arena_new(0, pr_arena_oom(w->p->arena));
        pr_shm_trace t;
        pr_shm_run(w->p, scratch, value, n, MAX_EVENTS, &t);
        w->steps += t.steps;
        bool fresh = !t.too_long && !t.excluded && !is_met(w, trips_met(&t));
        pr_arena_free(scratch);
        if (fresh) run(w, value, n);
    }
}

enum { MAX_PROGRAMS = 48 };
/* The programs of a launch: all of a small grid, else the first and last ones. Launch values it does not give are
 * tried as above. */
static void bounded_launch(work *w)
{
    int64_t value[256];
    const int64_t *grid = w->p->bound->grid;
    int n = w->p->params.n < 256 ? w->p->params.n : 256;
    int64_t total = w->p->bound->grid_known ? 1 : 0;
    for (int d = 0; d < 3 && total && total <= MAX_PROGRAMS; d++) total *= grid[d];
    for (int64_t i = 0; i < (total && total <= MAX_PROGRAMS ? total : 32); i++) {
        int64_t at[3] = { i, i, i };
        if (total && total <= MAX_PROGRAMS) {
            at[0] = i % grid[0], at[1] = i / grid[0] % grid[1], at[2] = i / grid[0] / grid[1];
        } else {
            for (int d = 0; d < 3; d++) at[d] = !total ? 0 : i < 16 ? i % grid[d] : grid[d] - 1 - (i - 16) % grid[d];
        }
        set_all(w, value, i % 10, 1);
        for (int l = 0; l < n; l++)
            if (is_program_number(&w->p->params.data[l])) value[l] = at[w->p->params.data[l].name.s[4] - 'x'];
        run(w, value, n);
    }
}

static void bounded(work *w)
{
    w->most_runs = MAX_RUNS;
    if (w->p->bound) {
        bounded_launch(w);
        return;
    }
    int64_t k[96], value[256];
    int n = w->p->params.n < 256 ? w->p->params.n : 256, leaves = 0;
    for (int i = 0; i < n; i++) leaves += w->p->params.data[i].leaf;
    memset(value, 0, sizeof value);
    w->exact = true;
    if (!leaves) {
        run(w, value, n);
        return;
    }
    int n_k = counts(w, k, 90), n_scales = w->p->scales.n;
    w->exact = false;
    w->greatest = k[n_k - 1];
    for (int i = 0; i < n_k; i++) {                  /* all alike first: the least failing count is simple */
        for (int s = -1; s < n_scales; s++) {
            set_all(w, value, k[i], s < 0 ? 1 : w->p->scales.data[s]);
            run(w, value, n);
        }
    }
    for (int i = 0; i < n_k && leaves > 1; i++) {    /* then one at a time */
        int64_t unit = n_scales ? w->p->scales.data[0] : 1;
        for (int l = 0; l < n; l++) {
            const pr_shm_param *q = &w->p->params.data[l];
            if (!q->leaf || k[i] > (is_program_number(q) ? 12 : 6) || (!k[i] && is_program_count(q))) continue;
            set_all(w, value, 3, unit);
            for (int c = 0; is_program_number(q) && c < n; c++)
                if (is_program_count(&w->p->params.data[c])) value[c] = 8;
            value[l] = is_program_number(q) ? k[i] : launch_value(q, k[i], unit);
            run(w, value, n);
        }
    }
    w->most_runs = MAX_RUNS + 40;
    /* And with all others least: a bound that is divided by a product of values grows only so. */
    int64_t least = 1;
    for (int l = 0; l < n; l++) least = w->p->params.data[l].multiple > least ? w->p->params.data[l].multiple : least;
    for (int i = 0; i < n_k && leaves > 1; i++) {
        for (int l = 0; l < n; l++) {
            const pr_shm_param *q = &w->p->params.data[l];
            if (!q->leaf || k[i] < 2 || k[i] > 10 || is_program_number(q) || is_program_count(q)) continue;
            for (int s = 0; s < n_scales; s++) {
                set_all(w, value, 1, 1);
                value[l] = launch_value(q, k[i], w->p->scales.data[s] * least);
                run(w, value, n);
            }
        }
    }
    /* Runs that were too long: a bound that nothing divides grew with those that a tile size divides. One grows, the
     * others are small. */
    for (int i = 1; w->skipped && i < n_k && k[i] <= 9; i++) {
        for (int l = 0; l < n; l++) {
            const pr_shm_param *q = &w->p->params.data[l];
            if (!q->leaf || is_program_number(q) || is_program_count(q)) continue;
            for (int s = -1; s < n_scales; s++) {
                for (int others = 1; others <= 3; others += 2) {
                    set_all(w, value, others, 1);
                    value[l] = launch_value(q, k[i], s < 0 ? 1 : w->p->scales.data[s]);
                    run(w, value, n);
                }
            }
        }
    }
    if (leaves > 1 && !w->findings.n) sampled(w);
}

/* ---- the verdict -------------------------------------------------------------------------------------------- */
enum { MAX_CALLERS = 8 };

static const char *partition(const work *w, int agent)
{
    if (w->p->n_agents < 2) return "kernel";
    return agent ? pr_arena_printf(w->p->arena, "partition%d", agent - 1) : "default";
}

/* The calls that brought the operation here, those of a partition as a whole left out. */
static const pr_loc *callers(const work *w, const pr_op *op, int *n)
{
    PR_VEC(pr_loc) v = { 0 };
    const pr_srcloc *s = pr_srcloc_user(op->loc), *fork = NULL;
    for (const pr_op *up = op; up->block && up->block->region->op; up = up->block->region->op)
        if (up->block->region->op->opcode == PR_OP_TTG_WARP_SPECIALIZE) fork = pr_srcloc_user(up->block->region->op->loc);
    for (s = s ? s->caller : NULL; s && v.n < MAX_CALLERS; s = s->caller) {
        pr_loc l = { .file = s->file, .line = s->line, .col = s->col };
        if (fork && fork->line == s->line && pr_str_eq(fork->file, s->file)) break;
        if (s->line && pr_srcloc_user(s) == s) pr_vec_push(w->p->arena, &v, l);
    }
    *n = v.n;
    return v.data;
}

static void fill_site(const work *w, const pr_shm_instance *i, pr_finding_site *out)
{
    out->present = i->op != NULL;
    if (!i->op) return;
    out->callers = callers(w, i->op, &out->n_callers);
    out->partition = partition(w, i->agent);
    out->loc = i->loc;
    out->n_iterations = i->n_loops;
    memcpy(out->iteration, i->iteration, sizeof(int64_t) * PR_SHM_LOOPS);
}

static void fill_step(const work *w, const pr_shm_finding *f, int i, pr_finding *out)
{
    const pr_shm_step *s = &f->steps.data[i];
    pr_finding_step x = { .step = s->number, .mark = i == f->first_step ? 1 : i == f->second_step ? 2 : 0, .slot = s->slot, .phase = s->phase };
    fill_site(w, &s->at, &x.at);
    x.role = s->barrier >= 0 ? s->waits ? "wait" : "arrive" : s->n_acc ? "access" : "other";
    if (s->barrier >= 0) x.barrier = w->p->allocs.data[s->barrier].name;
    for (int k = 0; k < s->n_acc; k++) {
        if (s->acc[k].alloc < 0) continue;
        x.access[x.n_accesses].allocation = w->p->allocs.data[s->acc[k].alloc].name;
        x.access[x.n_accesses].slot = s->acc[k].slot;
        x.access[x.n_accesses++].write = s->acc[k].write;
    }
    pr_vec_push(w->p->arena, &out->steps, x);
}

static void convert(const work *w, const pr_shm_finding *f, pr_finding *out)
{
    static const char *const kinds[] = { "race", "deadlock", "hazard" };
    *out = (pr_finding){ .kind = kinds[pr_shm_finding_kind_of(f->id)], .id = pr_shm_finding_name(f->id),
                         .memory = "smem", .slot = f->slot, .byte_lo = f->byte_lo, .byte_hi = f->byte_hi,
                         .what = f->what, .missing = f->missing, .trip_counts = f->trip_counts, .phase = f->phase,
                         .confirmed = !f->assumed };
    if (f->alloc >= 0) {
        const pr_shm_alloc *a = &w->p->allocs.data[f->alloc];
        out->memory = a->memory == PR_SHM_TMEM ? "tmem" : "smem";
        out->allocation = a->name;
        out->allocation_loc = a->loc;
        out->allocation_callers = callers(w, a->op, &out->n_allocation_callers);
    }
    fill_site(w, &f->first, &out->first);
    fill_site(w, &f->second, &out->second);
    for (int i = 0; i < f->steps.n; i++) fill_step(w, f, i, out);
}

/* How plain a finding is about its defect; the least of an allocation is kept. */
static int rank(const pr_shm_finding *f)
{
    switch (f->id) {
    case PR_SHM_F_PEND_CP: case PR_SHM_F_PEND_WGMMA: case PR_SHM_F_PEND_TMAST: return 0;
    case PR_SHM_F_SHM_RAW: case PR_SHM_F_SHM_WAR: return 1;
    case PR_SHM_F_SHM_WAW: case PR_SHM_F_MEMBAR: return 2;
    case PR_SHM_F_PROXY_FENCE: return 3;
    case PR_SHM_F_BAR_TX: return 0;
    default: return 1;
    }
}

/* One operation, or copies of it that unrolling made. */
static bool same_place(const pr_shm_instance *a, const pr_shm_instance *b)
{
    if (a->op == b->op || !a->op || !b->op) return a->op == b->op;
    const pr_srcloc *s = a->op->loc, *t = b->op->loc;
    return a->op->opcode == b->op->opcode && a->loc.line && s && t && pr_str_eq(s->raw, t->raw);
}

/* One defect gives several findings. Of the races on an allocation those of the earliest run and the plainest
 * kind stay; of the hazards the first of each id; a deadlock stays when no race explains it. */
static bool repeats(const pr_shm_findings *all, int i)
{
    const pr_shm_finding *f = &all->data[i];
    pr_shm_finding_kind kind = pr_shm_finding_kind_of(f->id);
    for (int j = 0; j < all->n; j++) {
        const pr_shm_finding *g = &all->data[j];
        if (j == i || g->assumed != f->assumed) continue;
        pr_shm_finding_kind other = pr_shm_finding_kind_of(g->id);
        if (kind == PR_SHM_DEADLOCK && other == PR_SHM_RACE) return true;
        if (kind != other) continue;
        bool better = rank(g) < rank(f) || (rank(g) == rank(f) && j < i);
        if (kind == PR_SHM_RACE && g->alloc == f->alloc) {
            if (g->run < f->run || (g->run == f->run && rank(g) < rank(f))) return true;
            bool same = g->id == f->id && (same_place(&g->first, &f->first) || same_place(&g->second, &f->second));
            if (j < i && (same || g->id != f->id) && g->run == f->run && rank(g) == rank(f)) return true;
        }
        if (kind == PR_SHM_HAZARD && g->id == f->id && j < i) return true;
        if (kind == PR_SHM_DEADLOCK && (g->run < f->run || (g->run == f->run && better))) return true;
    }
    return false;
}

static void qualify(const work *w, const pr_shm_model *m, pr_config_verdict *out)
{
    bool copies = false;
    for (int i = 0; i < m->events.n; i++)
        copies = copies || (m->events.data[i].kind == PR_SHM_EV_TC && m->events.data[i].n_acc == 2);
    if (copies) pr_vec_push(w->p->arena, &out->qualifiers, "assumes tcgen05 copies and MMAs of one partition run in order");
    if (w->p->assumes_steps) pr_vec_push(w->p->arena, &out->qualifiers, "assumes loop steps are positive");
    if (w->p->requests_in_order) pr_vec_push(w->p->arena, &out->qualifiers, "assumes cluster launch requests of one partition write their results in order");
    if (w->p->assumes_no_overflow) pr_vec_push(w->p->arena, &out->qualifiers, "assumes no integer overflow in loop counters, bounds and what is computed from them");
    if (w->p->arguments_not_negative) pr_vec_push(w->p->arena, &out->qualifiers, "assumes integer arguments are not negative");
    if (w->p->assumes_nonneg) pr_vec_push(w->p->arena, &out->qualifiers, "assumes non-negative operands of unsigned operations");
}

/* Runs and proof of a kernel, for every launch or for one. */
typedef struct attempt {
    work w;
    pr_shm_model model;
    pr_shm_proof proof;
    PR_VEC(pr_finding) findings;
    PR_VEC(const char *) notes;
    int assumed;                 /* findings that rest on a condition that is not modelled            */
    bool ok;
} attempt;

static void findings_of(attempt *a)
{
    pr_arena *arena = a->w.p->arena;
    const pr_shm_findings *all = &a->w.findings;
    for (int i = 0; i < 3 * all->n; i++) {           /* races first, then deadlocks, then hazards */
        pr_finding f;
        int at = i % all->n;
        if ((int)pr_shm_finding_kind_of(all->data[at].id) != i / all->n || repeats(all, at)) continue;
        convert(&a->w, &all->data[at], &f);
        if (all->data[at].assumed) {
            a->assumed++;
            pr_vec_push(arena, &a->notes, pr_arena_printf(arena, a->w.p->beside ? "possible %s, as far as PTX shows: %s" : "possible %s, assuming conditions that are not modelled: %s", f.id, f.what));
            continue;
        }
        pr_vec_push(arena, &a->findings, f);
    }
}

static void attempt_prove(attempt *a, const pr_shm_options *o)
{
    pr_shm_symbolic(a->w.p, &a->model);
    bounded(&a->w);
    findings_of(a);
    if (a->findings.n || o->no_proof) return;
    pr_shm_prove(a->w.p, &a->model, &a->w.evidence, o->max_ops, o->interrupt, false, &a->proof);
    a->ok = a->proof.proved && !a->assumed;
}

/* Does the launch say anything about a value that the kernel's shared memory could depend on? */
static bool narrows(const pr_shm_prog *p, const pr_shm_binding *b)
{
    const pr_block *entry = pr_region_block(p->func->regions[0]);
    for (int i = 0; i < p->params.n; i++) {
        const pr_shm_param *q = &p->params.data[i];
        if (!q->leaf || q->from_memory) continue;
        if (b->grid_known && (is_program_number(q) || is_program_count(q))) return true;
        for (int a = 0; a < entry->n_args && a < b->n_args; a++)
            if (b->known[a] && pr_str_eq(entry->args[a]->name, q->name)) return true;
    }
    return false;
}

/* Could it be that only negative arguments keep the proof away: `for k in range(K)` and then a wait for phase K - 1? */
static bool usual(const attempt *a)
{
    const pr_shm_prog *p = a->w.p;
    for (int i = 0; i < a->proof.refusals.n; i++) {
        pr_refusal_kind kind = a->proof.refusals.data[i].kind;
        if (kind != PR_REFUSAL_ARRIVAL_QUOTA && kind != PR_REFUSAL_POTENTIAL_RACE) return false;
    }
    for (int i = 0; i < p->params.n; i++) {
        const pr_shm_param *q = &p->params.data[i];
        if (q->leaf && !q->from_memory && !is_program_number(q) && !is_program_count(q)) return true;
    }
    return false;
}

static void take(const attempt *a, pr_config_verdict *out)
{
    pr_arena *arena = a->w.p->arena;
    for (int i = 0; i < a->notes.n; i++) pr_vec_push(arena, &out->notes, a->notes.data[i]);
    for (int i = 0; i < a->findings.n; i++) pr_vec_push(arena, &out->findings, a->findings.data[i]);
    for (int i = 0; i < a->proof.refusals.n; i++) pr_vec_push(arena, &out->refusals, a->proof.refusals.data[i]);
    for (int i = 0; i < a->proof.ordered.n && a->ok; i++) {
        const pr_shm_event *e[2] = { a->proof.ordered.data[i].first, a->proof.ordered.data[i].second };
        pr_ordered_pair pair = { .conflicts = a->proof.ordered.data[i].conflicts };
        for (int k = 0; k < 2; k++) {
            pr_shm_instance at = { .op = e[k]->op, .loc = e[k]->loc, .agent = e[k]->agent };
            fill_site(&a->w, &at, k ? &pair.second : &pair.first);
        }
        pr_vec_push(arena, &out->ordered, pair);
    }
    if (a->ok) qualify(&a->w, &a->model, out);
    if (!a->ok || !a->w.p->certify) return;
    pr_buf text;
    pr_buf_init(&text, arena);
    pr_shm_print_certificate(&text, a->w.p, &a->model, &a->proof, a->w.p->bound != NULL);
    out->ttgir_certificate = text.data;
}

static pr_shm_prog *read_text(pr_arena *arena, const pr_ir *ir, const pr_op *func, const pr_shm_options *o)
{
    pr_shm_prog *p = pr_shm_read(arena, ir, func);
    p->certify = o->certify;
    p->smt = o->smt;
    p->z3_rlimit = o->z3_rlimit;
    p->interrupt = o->interrupt;
    if (o->stage == PR_SHM_STAGE_AFTER_ALLOCATION) p->allocated = true;
    if (o->ptx) pr_shm_read_ptx(p, o->ptx, o->n_ptx);
    if (o->check_membar && p->n_ctas != 1) pr_shm_refuse(p, &p->refusals, PR_REFUSAL_MULTI_CTA, func, "several CTAs: barriers in the text are not looked at");
    for (int i = 0; o->stage == PR_SHM_STAGE_BEFORE_ALLOCATION && i < p->allocs.n; i++) p->allocs.data[i].offset = p->allocs.data[i].col = -1;
    if (o->stage == PR_SHM_STAGE_BEFORE_ALLOCATION) p->allocated = false;
    return p;
}

/* Generic accesses and later ones through the async proxy of the same partition, without a fence in the text: the
 * compiler inserts one (M1). */
static void note_fences(pr_arena *arena, const pr_ir *ir, const pr_op *func, const pr_shm_options *o, pr_config_verdict *out)
{
    work w = { .p = read_text(arena, ir, func, o), .o = o };
    pr_shm_model unused;
    w.p->membar = true;
    pr_shm_symbolic(w.p, &unused);                   /* finds the launch values                       */
    bounded(&w);
    for (int i = 0; i < w.findings.n; i++) {
        const pr_shm_finding *f = &w.findings.data[i];
        bool said = false;
        for (int j = 0; j < i; j++) said = said || (w.findings.data[j].id == f->id && w.findings.data[j].second.op == f->second.op);
        if (said || f->id != PR_SHM_F_PROXY_FENCE || f->first.agent != f->second.agent) continue;
        pr_vec_push(arena, &out->notes, pr_arena_printf(arena, "advice: PROXY-FENCE: line %d: %s; the compiler inserts a fence_async_shared",
                                                        f->second.loc.line ? f->second.loc.line : f->second.loc.text_line, f->what));
    }
}

/* Reads of bytes that no access had written, in any run, wherever they happened. */
static void note_unwritten(const attempt *a, pr_config_verdict *out)
{
    pr_arena *arena = a->w.p->arena;
    const pr_op *last = NULL;
    for (int i = 0; i < a->model.events.n; i++) {
        const pr_shm_event *e = &a->model.events.data[i];
        if (a->w.p->reads[e->op->id] != 2 || e->op == last) continue;
        last = e->op;
        pr_vec_push(arena, &out->notes, pr_arena_printf(arena, "uninitialised read: `" PR_STR_FMT "` at line %d reads bytes that nothing has written",
                                                        PR_STR_ARG(e->op->name), e->loc.line ? e->loc.line : e->loc.text_line));
    }
}

/* The verdict about the launch alone, when the one about every launch is no proof: a proof, findings where the other
 * has none, or nothing. */
static void one_launch(attempt *a, const attempt *all, const pr_shm_options *o, pr_config_verdict *out)
{
    pr_shm_prog *p = read_text(all->w.p->arena, all->w.p->ir, all->w.p->func, o);
    *a = (attempt){ .w = { .p = p, .o = o } };
    p->bound = o->launch;
    p->membar = o->check_membar;
    attempt_prove(a, o);
    if (!a->ok) return;
    for (int i = 0; i < all->findings.n; i++)
        pr_vec_push(p->arena, &out->notes, pr_arena_printf(p->arena, "at other launch values: %s: %s (%s)", all->findings.data[i].id,
                                                           all->findings.data[i].what, all->findings.data[i].trip_counts));
    for (int i = 0; i < all->proof.refusals.n; i++) {
        const pr_refusal *r = &all->proof.refusals.data[i];
        pr_vec_push(p->arena, &out->notes, pr_arena_printf(p->arena, "not for every trip count: %s: %s", pr_refusal_slug(r->kind), r->message));
    }
}

void pr_shm_check(pr_arena *arena, const pr_ir *ir, const pr_op *func, const pr_shm_options *o,
                  pr_config_verdict *out)
{
    pr_shm_prog *p = read_text(arena, ir, func, o);
    attempt all = { .w = { .p = p, .o = o } }, one = { 0 }, alone = { 0 }, usually = { 0 };
    p->membar = o->check_membar;
    out->ttgir = true;
    if (p->refusals.n) {
        out->refusals = p->refusals;
        pr_verdict_ttgir(out, false);
        return;
    }
    attempt_prove(&all, o);
    if (all.findings.n && o->cross_check) {
        pr_shm_proof proof;
        pr_shm_prove(p, &all.model, &all.w.evidence, o->max_ops, o->interrupt, false, &proof);
        pr_refusal r = { .kind = PR_REFUSAL_INTERNAL, .loc = pr_shm_loc(func), .message = "a proof of a kernel with findings" };
        if (proof.proved) pr_vec_push(arena, &out->refusals, r);
    }
    bool again = !all.ok && p->has_isolated && p->n_agents == 1 && !all.findings.n && !p->membar && !o->no_proof;
    if (again && (!o->max_ops || all.proof.isl_ops < (uint64_t)o->max_ops / 2)) {
        alone = (attempt){ .w = { .p = read_text(arena, ir, func, o), .o = o } };
        alone.w.p->isolate = true;
        attempt_prove(&alone, o);
    }
    if (!all.ok && !alone.ok && o->launch && narrows(p, o->launch)) one_launch(&one, &all, o, out);
    if (all.ok && p->assumes_steps && o->launch && narrows(p, o->launch)) {      /* and the steps of this launch?            */
        attempt here;
        pr_config_verdict unused = { 0 };
        one_launch(&here, &all, o, &unused);
        all.ok = here.ok;
        if (!here.ok) one = here;
    }
    bool proved = all.ok || alone.ok || one.ok;
    if (!proved && !all.findings.n && !one.findings.n && !o->launch && !p->membar && !o->no_proof && usual(&all)
        && (!o->max_ops || all.proof.isl_ops + alone.proof.isl_ops < (uint64_t)o->max_ops / 2)) {
        usually = (attempt){ .w = { .p = read_text(arena, ir, func, o), .o = o } };
        usually.w.p->arguments_not_negative = true;
        attempt_prove(&usually, o);
    }
    const attempt *used = alone.ok ? &alone : usually.ok ? &usually : one.ok || (one.findings.n && !all.findings.n) ? &one : &all;
    out->ttgir_launch = one.ok;
    out->counts.isl_ops = all.proof.isl_ops + one.proof.isl_ops + alone.proof.isl_ops + usually.proof.isl_ops;
    out->counts.z3 = all.proof.n_z3 + one.proof.n_z3 + alone.proof.n_z3 + usually.proof.n_z3;
    out->counts.z3_units = all.proof.z3_units + one.proof.z3_units + alone.proof.z3_units + usually.proof.z3_units;
    out->counts.isl = all.proof.n_pairs + one.proof.n_pairs + alone.proof.n_pairs + usually.proof.n_pairs;
    take(used, out);
    for (int i = 0; i < alone.proof.refusals.n && !used->ok && !out->findings.n; i++) {
        const pr_refusal *r = &alone.proof.refusals.data[i];
        pr_vec_push(arena, &out->notes, pr_arena_printf(arena, "iterations of outer loops by themselves: line %d: %s: %s", r->loc.line ? r->loc.line : r->loc.text_line,
                                                        pr_refusal_slug(r->kind), r->message));
    }
    if (!out->findings.n && !used->ok) {
        int runs = all.w.runs + one.w.runs;
        pr_refusal r = { .kind = used->assumed ? PR_REFUSAL_POTENTIAL_RACE : PR_REFUSAL_BOUNDED_ONLY,
                         .loc = pr_shm_loc(func),
                         .message = used->assumed && o->ptx ? "PTX does not show a barrier or fence that is needed; the notes say where"
                                    : used->assumed ? "every finding rests on a condition that is not modelled"
                                                  : pr_arena_printf(arena, "no finding in %d bounded runs; no proof for every trip count%s", runs,
                                                                    one.w.p ? ", none for this launch" : "") };
        pr_vec_push(arena, &out->refusals, r);
        pr_vec_push(arena, &out->notes, pr_arena_printf(arena, "%d bounded runs with launch values up to %" PRId64 "%s", runs,
                                                        all.w.greatest, all.w.skipped + one.w.skipped ? "; longer ones were left out" : ""));
    }
    if (all.findings.n && one.w.p && !one.ok && !one.findings.n)
        pr_vec_push(arena, &out->notes, "no run at the values of this launch shows a finding; they are not proved safe");
    if (!out->findings.n) note_unwritten(&all, out);
    if (all.w.unread) {
        pr_loc at = pr_shm_loc(all.w.unread);
        pr_vec_push(arena, &out->notes, pr_arena_printf(arena, "the kernel can end while the TMA store at line %d still reads shared memory: no async_tma_store_wait covers it",
                                                        at.line ? at.line : at.text_line));
    }
    if (o->strict_gluon && !p->membar && p->n_ctas == 1) note_fences(arena, ir, func, o, out);
    pr_verdict_ttgir(out, used->ok);
}

void pr_shm_dump(pr_arena *arena, const pr_ir *ir, const pr_op *func, const pr_shm_options *o, bool protocol, pr_buf *b)
{
    attempt a = { .w = { .p = read_text(arena, ir, func, o), .o = o } };
    a.w.p->membar = o->check_membar;
    a.w.p->certify = true;
    if (!a.w.p->refusals.n && protocol) attempt_prove(&a, o);
    else if (!a.w.p->refusals.n) pr_shm_symbolic(a.w.p, &a.model);
    if (protocol) pr_shm_print_protocol(b, a.w.p, &a.model, &a.proof);
    else pr_shm_print_events(b, a.w.p, &a.model);
    const pr_refusal_vec *all[] = { &a.w.p->refusals, &a.model.refusals, &a.proof.refusals };
    for (int v = 0; v < 3; v++)
        for (int i = 0; i < all[v]->n && !(v == 2 && a.model.refusals.n); i++)
            pr_buf_printf(b, "# %s: %s\n", pr_refusal_slug(all[v]->data[i].kind), all[v]->data[i].message ? all[v]->data[i].message : "");
}

void pr_shm_explain(pr_arena *arena, const pr_ir *ir, const pr_op *func, const pr_shm_options *o, bool launch, bool json, pr_buf *b)
{
    pr_shm_options options = *o;
    attempt a;
    options.explain = true;
    enum { EVERY, ISOLATED, NOT_NEGATIVE } way = EVERY;
    for (bool more = true; more;) {                  /* as pr_shm_check tries them                          */
        pr_shm_prog *p = read_text(arena, ir, func, o);
        attempt now = { .w = { .p = p, .o = &options } };
        p->membar = o->check_membar;
        p->bound = launch ? o->launch : NULL;
        p->isolate = way == ISOLATED;
        p->arguments_not_negative = way == NOT_NEGATIVE;
        more = !p->refusals.n;
        if (more) {
            pr_shm_symbolic(p, &now.model);
            bounded(&now.w);
            pr_shm_prove(p, &now.model, &now.w.evidence, o->max_ops, o->interrupt, true, &now.proof);
        }
        if (way != NOT_NEGATIVE || now.proof.closure) a = now;
        bool open = !now.proof.closure || (now.proof.refusals.n && !now.w.findings.n);
        more = more && way == EVERY && open && !launch && !p->membar;
        if (more && p->has_isolated && p->n_agents == 1) way = ISOLATED;
        else if (more && !now.w.findings.n && usual(&now)) way = NOT_NEGATIVE;
        else more = false;
    }
    pr_shm_print_relations(a.w.p, &a.model, &a.proof, &a.w.findings, json, b);
}
