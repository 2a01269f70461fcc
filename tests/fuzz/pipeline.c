/* See pipeline.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "front/access.h"
#include "front/launch.h"
#include "front/replay.h"
#include "pipeline.h"
#include "repeat.h"

pipeline_settings pipeline = { .slow = 5, .max_ops = 2000, .z3_rlimit = 50000, .z3_every = 1, .max_work = 1 << 24 };
pipeline_tally pipeline_counts;

double pipeline_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- one kernel at one launch ------------------------------------------------------------------------- */
typedef struct subject {
    pr_arena *arena;
    const gkernel *k;
    char *text;
    pr_ir *ir;
    const pr_op *func;
    pr_launch launch;
    pr_interp_arg *args;
    pr_replay_storage *storage;
    char *why;                    /* out: what is wrong; "" when nothing                             */
    size_t why_size;
    const char *kind;             /* out: class of the mismatch, null when none                      */
} subject;

static void mismatch(subject *s, const char *kind, const char *format, ...) PR_PRINTF(3, 4);
static void mismatch(subject *s, const char *kind, const char *format, ...)
{
    if (s->kind) return;
    va_list ap;
    va_start(ap, format);
    s->kind = kind;
    vsnprintf(s->why, s->why_size, format, ap);
    va_end(ap);
}

static void bind_args(subject *s)
{
    int n = s->launch.n_args;
    s->args = PR_NEW_N(s->arena, pr_interp_arg, n);
    s->storage = PR_NEW_N(s->arena, pr_replay_storage, n);
    for (int i = 0; i < n; i++) {
        const pr_arg *a = &s->launch.args[i];
        pr_interp_arg *x = &s->args[i];
        if (a->kind == PR_ARG_INT) {
            x->kind = PR_INTERP_ARG_INT;
            x->value = a->value;
        } else if (a->kind == PR_ARG_TENSOR) {
            x->kind = PR_INTERP_ARG_POINTER;
            x->value = a->tensor->ptr;
            x->elem_bytes = a->tensor->elem_bytes;
            if (a->tensor->has_values) {
                x->values = a->tensor->values;
                x->n_values = a->tensor->numel;
            }
            s->storage[i] = (pr_replay_storage){ true, (uint64_t)a->tensor->storage_lo, (uint64_t)a->tensor->storage_hi };
        }
    }
}
static pr_status bind_json(subject *s, const char *json, size_t n, pr_error *err)
{
    pr_refusal_vec refusals = { 0 };
    pr_launch_limits limits;
    pr_launch_limits_default(&limits);
    pr_launch_doc *d = pr_launch_doc_parse(s->arena, json, n, "launch.json", "", false, err);
    pr_status st = !d ? PR_ERR_INPUT : pr_launch_doc_check(d, 0, err);
    if (st == PR_OK) st = pr_launch_bind(s->arena, d, 0, 0, s->ir, s->func, &limits, NULL, &s->launch, &refusals, err);
    if (st == PR_OK) bind_args(s);
    pr_launch_doc_free(d);
    return st;
}
/* Launch facts of the kernel at a grid. False: bad input, which is a mistake of the generator. */
static bool bind(subject *s, const int64_t grid[3])
{
    char *json = gen_launch(s->k, grid, NULL);
    pr_error err = { 0 };
    bool good = bind_json(s, json, strlen(json), &err) == PR_OK;
    if (!good) mismatch(s, "launch rejected", "%s:%d:%d: %s", err.file, err.line, err.col, err.message);
    free(json);
    return good;
}
static void setup_at(const subject *s, const int64_t grid[3], pr_interp_setup *out)
{
    *out = (pr_interp_setup){ .ir = s->ir, .func = s->func, .args = s->args, .n_args = s->launch.n_args,
                              .max_work = pipeline.max_work };
    memcpy(out->grid, grid, sizeof out->grid);
}
static pr_replay_result replay_at(subject *s, const int64_t grid[3])
{
    pr_interp_setup setup;
    setup_at(s, grid, &setup);
    pr_replay_options o = { .storage = s->storage, .num_warps = s->launch.num_warps };
    pipeline_counts.replays++;
    return pr_replay_run(s->arena, &setup, &o);
}

/* ---- confirmation ------------------------------------------------------------------------------------------ */
typedef struct whole { const pr_interp_target *target; pr_interp_lane_info lane; } whole;
static void take_whole_lane(void *user, const pr_interp_event *e)
{
    whole *w = user;
    int64_t at = 0;
    for (int d = 0; d < e->rank; d++) at = at * e->shape[d] + w->target->lane[d];
    w->lane = pr_interp_lane(e, at);
}
static bool probe(subject *s, const int64_t grid[3], const pr_records *r, const pr_witness_access *a, pr_probe *out)
{
    const pr_record *rec = &r->records.data[a->record];
    pr_interp_setup setup;
    setup_at(s, grid, &setup);
    pr_interp_target t = { .op_id = rec->site.op_id, .calls = rec->site.calls, .n_calls = rec->site.n_calls,
                           .iter = a->iteration, .n_iter = a->n_iterations, .lane = a->lane, .rank = a->rank };
    *out = pr_interp_probe(s->arena, &setup, a->program, &t);
    whole w = { .target = &t };
    pr_probe all = pr_interp_probe_lanes(s->arena, &setup, a->program, &t, take_whole_lane, &w);
    bool same = out->available == all.available && out->executed == all.executed && out->ub == all.ub;
    if (same && out->available && out->executed != PR_NO)
        same = out->lane.active == w.lane.active && out->lane.addr_known == w.lane.addr_known && (!w.lane.addr_known || out->lane.addr == w.lane.addr);
    if (!same) mismatch(s, "one lane", "a probe of one lane and one of all lanes differ at operation %d", rec->site.op_id);
    return out->available && !out->ub && out->executed != PR_MAYBE &&
           (out->executed == PR_NO || (out->lane.active != PR_MAYBE && out->lane.addr_known));
}
static pr_status confirm_race(void *user, const pr_records *r, const pr_launch *l, pr_race *race, pr_error *err)
{
    subject *s = user;
    const pr_witness_access *side[2] = { &race->a, &race->b };
    pr_probe p[2];
    for (int i = 0; i < 2; i++)
        if (!probe(s, race->grid, r, side[i], &p[i])) {
            race->confirmation = PR_CONFIRM_UNAVAILABLE;
            race->confirmation_why = p[i].why ? p[i].why : "not known";
            return PR_OK;
        }
    bool good = true;
    for (int i = 0; i < 2; i++)
        good = good && p[i].executed == PR_YES && p[i].lane.active == PR_YES && (pr_i128)p[i].lane.addr == side[i]->address;
    good = good && p[0].lane.addr < p[1].lane.addr + (uint64_t)p[1].width && p[1].lane.addr < p[0].lane.addr + (uint64_t)p[0].width;
    race->confirmation = good ? PR_CONFIRMED : PR_UNCONFIRMED;
    return good ? PR_OK : pr_fail(err, PR_ERR_INTERNAL, "", 0, 0, "witness not reached by the evaluator");
}
static pr_status confirm_access(void *user, const pr_records *r, const pr_launch *l, const int64_t grid[3],
                                const pr_witness_access *a, bool *confirmed, pr_error *err)
{
    pr_probe p;
    *confirmed = false;
    if (!probe(user, grid, r, a, &p)) return PR_OK;
    *confirmed = p.executed == PR_YES && p.lane.active == PR_YES && p.lane.addr == (uint64_t)a->address; /* modulo 2^64 */
    return *confirmed ? PR_OK : pr_fail(err, PR_ERR_INTERNAL, "", 0, 0, "access outside its tensor not reached by the evaluator");
}

/* Answers that a launch run again leaves another value are checked here: all programs, twice, in two orders. */
static pr_status confirm_again(void *user, const pr_records *r, const pr_launch *l, bool all, pr_again *out, pr_error *err)
{
    subject *s = user;
    pr_interp_setup setup;
    *out = (pr_again){ 0 };
    setup_at(s, l->grid, &setup);
    pr_again_arg *args = PR_NEW_N(s->arena, pr_again_arg, l->n_args + 1);
    for (int i = 0; i < l->n_args; i++) {
        const pr_tensor *t = l->args[i].tensor;
        if (t) args[i] = (pr_again_arg){ true, (uint64_t)t->storage_lo, (uint64_t)t->storage_hi, t->elem_bytes, t->is_bool, t->is_unsigned };
    }
    pr_again_result x = pr_again_run(s->arena, &setup, args, all, 0, PR_AGAIN_TRIES, 1 << 20);
    if (!x.differs) {
        out->settles = !r->has_atomics && pr_again_settles(s->arena, &setup, args, 1 << 20);      /* again() follows it */
        return PR_OK;
    }
    for (int down = 0; down < 2; down++) {
        pr_tri t = repeat_at(s->arena, &setup, s->storage, args, x.pattern, x.addr, x.width, down);
        pipeline_counts.changed[t == PR_MAYBE]++;
        if (t == PR_NO) mismatch(s, "a second run", "byte %#llx is said to go from %s to %s, but it stays", (unsigned long long)x.addr, x.once, x.twice);
    }
    *out = (pr_again){ .differs = true, .chosen = x.chosen, .arg = x.arg, .byte = (pr_i128)x.addr - l->args[x.arg].tensor->ptr, .once = pr_arena_printf(s->arena, "%s", x.once),
                       .twice = pr_arena_printf(s->arena, "%s", x.twice) };
    return PR_OK;
}

static const char *engine_name(pr_engine_choice e) { return e == PR_ENGINE_AUTO ? "auto" : e == PR_ENGINE_ISL ? "isl" : "z3"; }

/* ---- deciding ------------------------------------------------------------------------------------------------ */
static pr_config_verdict *decide(subject *s, pr_engine_choice engine)
{
    pr_terms *terms = pr_terms_new(s->arena);
    pr_records *r = PR_NEW(s->arena, pr_records);
    pr_config_verdict *v = PR_NEW(s->arena, pr_config_verdict);
    pr_error err = { 0 };
    pr_lower_options lo;
    pr_lower_options_default(&lo);
    if (pipeline.fault > 0 && pipeline.fault <= 10) lo.fault = pipeline.fault;
    double t0 = pipeline_now();
    if (pr_lower_kernel(s->arena, terms, s->ir, s->func, &lo, r, &err) != PR_OK) {
        mismatch(s, "lowering failed", "%s", err.message);
        return NULL;
    }
    pipeline_counts.seconds[3] += pipeline_now() - t0;
    pr_options o;
    pr_options_default(&o);
    o.engine = engine;
    o.atomic_order = PR_ATOMIC_ORDER_STRICT;
    o.limits.max_ops = (int64_t)pipeline.max_ops;      /* many small questions: none may take long */
    o.limits.first_ops = o.limits.max_ops < o.limits.first_ops ? o.limits.max_ops : o.limits.first_ops;
    o.limits.z3_rlimit = (int64_t)pipeline.z3_rlimit;
    o.limits.max_leaves = 32;
    if (pipeline.fault > 10) o.fault = pipeline.fault;
    pr_confirmer c = { .user = s, .race = confirm_race, .access = confirm_access, .again = confirm_again };
    t0 = pipeline_now();
    pr_status st = pr_check_config(s->arena, r, &s->launch, &o, &c, v, &err);
    pipeline_counts.seconds[engine] += pipeline_now() - t0;
    if (pipeline_now() - t0 > pipeline.slow)
        printf("slow: seed %llu, kernel %llu, %s: %.1f s, %lld queries, %lld isl operations, %lld leaves\n",
               (unsigned long long)(s->k ? s->k->seed : 0), (unsigned long long)(s->k ? s->k->number : 0), engine_name(engine), pipeline_now() - t0, (long long)v->counts.queries,
               (long long)v->counts.isl_ops, (long long)v->counts.leaves);
    if (st != PR_OK) {
        mismatch(s, "internal error", "%s with engine %d: %s", st == PR_ERR_INTERNAL ? "internal" : "error", engine, err.message);
        return NULL;
    }
    return v;
}
static bool has_refusal(const pr_config_verdict *v, pr_refusal_kind k)
{
    for (int i = 0; i < v->refusals.n; i++)
        if (v->refusals.data[i].kind == k) return true;
    return false;
}
/* Do these parameters meet the conditions of a T0 proof? */
static bool within_conditions(const pr_config_verdict *v, const gkernel *k)
{
    pr_i128 value[256] = { 0 };
    bool known[256] = { false };
    const pr_records *r = v->records;
    for (int i = 0; i < r->n_args; i++) {
        const char *name = r->args[i].name.s;
        if (!r->args[i].param.id || r->args[i].param.id >= 256 || name[0] != 'n') continue;
        value[r->args[i].param.id] = k->param[name[1] - '0'];
        known[r->args[i].param.id] = true;
    }
    pr_env env = { value, known, 256 };
    for (int i = 0; i < v->conditions.n; i++) {
        pr_i128 x;
        if (!pr_eval(r->terms, v->conditions.data[i], &env, &x) || !x) return false;
    }
    return true;
}
static bool has_qualifier(const pr_config_verdict *v, const char *part)
{
    for (int i = 0; i < v->qualifiers.n; i++)
        if (strstr(v->qualifiers.data[i], part)) return true;
    return false;
}
static const char *describe(const subject *s, const pr_config_verdict *v)
{
    pr_buf b;
    pr_buf_init(&b, s->arena);
    pr_buf_printf(&b, "%s", pr_verdict_status_name(v->status));
    if (v->rung) pr_buf_printf(&b, " %s", pr_rung_name(v->rung));
    for (int i = 0; i < v->qualifiers.n; i++) pr_buf_printf(&b, " [%s]", v->qualifiers.data[i]);
    for (int i = 0; i < v->races.n; i++) {
        const pr_race *r = &v->races.data[i];
        pr_buf_printf(&b, " %s(line %d, line %d, %s, programs %lld,%lld,%lld and %lld,%lld,%lld)", pr_race_type_name(r->type),
                      v->records->records.data[r->a.record].loc.text_line, v->records->records.data[r->b.record].loc.text_line,
                      r->intra ? "one program" : "programs", (long long)r->a.program[0], (long long)r->a.program[1],
                      (long long)r->a.program[2], (long long)r->b.program[0], (long long)r->b.program[1], (long long)r->b.program[2]);
    }
    for (int i = 0; i < v->refusals.n; i++)
        pr_buf_printf(&b, " {%s line %d: %s}", pr_refusal_slug(v->refusals.data[i].kind), v->refusals.data[i].loc.text_line,
                      v->refusals.data[i].message ? v->refusals.data[i].message : "");
    return b.data ? b.data : "";
}

/* ---- comparing ------------------------------------------------------------------------------------------------- */
static bool same_ops(const pr_replay_race *x, int a, int b, bool intra)
{
    int f = x->first.op->id, g = x->second.op->id;
    return x->intra == intra && ((f == a && g == b) || (f == b && g == a));
}
static int op_of(const pr_config_verdict *v, int record) { return v->records->records.data[record].site.op_id; }

/* exact: no operation of this launch wraps, so that a pair proved under that premise is proved. */
static void compare_ledger(subject *s, const pr_config_verdict *v, const pr_replay_result *b, const char *engine, bool exact)
{
    if (v->status != PR_VERDICT_OK && !exact) return;
    if (has_refusal(v, PR_REFUSAL_INTEGER_OVERFLOW) || v->ledger.n == 0) return;
    for (int i = 0; i < b->n_races; i++) {
        bool open = false, known = false;
        for (int j = 0; j < v->ledger.n; j++) {
            const pr_ledger_row *row = &v->ledger.data[j];
            if (!same_ops(&b->races[i], op_of(v, row->a), op_of(v, row->b), row->intra)) continue;
            known = true;
            if (row->bucket != PR_BUCKET_PROVED && row->bucket != PR_BUCKET_FILTERED && row->bucket != PR_BUCKET_GRID_FRAGILE) open = true;
        }
        pipeline_counts.ledger_pairs++;
        if (!open)
            mismatch(s, "false proof of a pair", "%s: lines %d and %d, %s, %s race in execution (%s); verdict %s", engine,
                     b->races[i].first.op->line, b->races[i].second.op->line, b->races[i].intra ? "one program" : "programs",
                     pr_replay_type_name(b->races[i].type), known ? "the pair is proved" : "the pair is not in the ledger",
                     describe(s, v));
    }
}
static void compare_status(subject *s, const pr_config_verdict *v, const pr_replay_result *b, const char *engine)
{
    if (v->status == PR_VERDICT_OK && b->n_races)
        mismatch(s, "false proof", "%s: %s, but lines %d and %d race (%s, %s)", engine, describe(s, v),
                 b->races[0].first.op->line, b->races[0].second.op->line, b->races[0].intra ? "one program" : "programs",
                 pr_replay_type_name(b->races[0].type));
    if (v->status == PR_VERDICT_VACUOUS) mismatch(s, "vacuous", "%s: %s", engine, describe(s, v));
    if (v->status == PR_VERDICT_RACES) {
        for (int i = 0; i < v->races.n; i++) {
            const pr_race *r = &v->races.data[i];
            int x = op_of(v, r->a.record), y = op_of(v, r->b.record);
            bool found = false, possible = false;
            for (int j = 0; j < b->n_races; j++) found = found || same_ops(&b->races[j], x, y, r->intra);
            for (int j = 0; j < b->n_possible; j++) {
                if (!same_ops(&b->possible[j], x, y, r->intra)) continue;
                possible = true;
                if (b->possible[j].doubts == PR_REPLAY_MAYBE_SYNC) found = true; /* execution cannot tell */
            }
            if (!found && !(possible && b->n_inconclusive))
                mismatch(s, "false race", "%s: %s, but execution finds no %s race of these two operations%s", engine,
                         describe(s, v), r->intra ? "intra-program" : "inter-program", possible ? " (a possible one)" : "");
            if (r->confirmation != PR_CONFIRMED)
                mismatch(s, "unconfirmed race", "%s: %s: %s", engine, describe(s, v), r->confirmation_why ? r->confirmation_why : "");
        }
    }
    if (v->status == PR_VERDICT_OK || v->status == PR_VERDICT_RACES) {
        for (int j = 0; j < b->n_outside && v->status == PR_VERDICT_OK && !has_qualifier(v, "in-bounds"); j++)
            if (b->outside[j].example.active == PR_YES)        /* not merely under a mask that execution does not know */
                mismatch(s, "access outside not mentioned", "%s: %s, but line %d leaves its tensor", engine, describe(s, v), b->outside[j].example.op->line);
        for (int i = 0; i < v->out_of_bounds.n; i++) {
            bool found = b->n_inconclusive > 0;
            for (int j = 0; j < b->n_outside; j++)
                found = found || b->outside[j].example.op->id == op_of(v, v->out_of_bounds.data[i].access.record);
            if (!found) mismatch(s, "access outside not found", "%s: %s", engine, describe(s, v));
        }
    }
}

/* ---- footprints ---------------------------------------------------------------------------------------------------- */
typedef struct touch { int op; int program; uint64_t iter; int64_t lane; uint64_t addr; int sure; } touch;
typedef PR_VEC(touch) touch_vec;
typedef struct foot {
    subject *s;
    const pr_records *r;
    const int64_t *grid;
    touch_vec run, model;
    uint8_t *skip;               /* by operation: not comparable                                     */
    int64_t budget;
    pr_i128 *value; bool *known; uint32_t n;
    bool wraps;                  /* some width condition does not hold                               */
    uint8_t *wrap_at, *relevant; /* by operation: ... of this one; in a pair that had to be proved      */
} foot;
static uint64_t hash_iter(const int64_t *it, int n)
{
    uint64_t h = (uint64_t)n;
    for (int i = 0; i < n; i++) h = h * 1000003u + (uint64_t)it[i] + 1;
    return h;
}
static void on_touch(void *user, const pr_replay_access *a)
{
    foot *f = user;
    if (!a->addr_known || a->n_calls) {
        f->skip[a->op->id] = 1;
        return;
    }
    for (int i = 0; i < a->n_iter; i++)
        if (a->iter[i] < 0) f->skip[a->op->id] = 1;
    const pr_type *t = a->op->operands[0]->type;
    int64_t lane = 0;
    for (int d = 0; d < a->rank; d++) lane = lane * t->shape[d] + a->lane[d];
    touch x = { a->op->id, (int)(a->pid[0] + f->grid[0] * (a->pid[1] + f->grid[1] * a->pid[2])),
                hash_iter(a->iter, a->n_iter), lane, a->addr, a->active == PR_YES };
    pr_vec_push(f->s->arena, &f->run, x);
}
static void set_var(foot *f, pr_var v, int64_t value)
{
    if (!v.id || v.id >= f->n) return;
    f->value[v.id] = value;
    f->known[v.id] = true;
}
static void note_wrap(foot *f, const pr_record *rec)
{
    f->wraps = true;
    f->wrap_at[rec->site.op_id] = 1;
}
/* PR_MAYBE: the term mentions something that only a run could know. */
static pr_tri holds(foot *f, pr_term t)
{
    pr_env env = { f->value, f->known, f->n };
    pr_i128 x;
    if (pr_term_none(t)) return PR_YES;
    if (!pr_eval(f->r->terms, t, &env, &x)) return PR_MAYBE;
    return x ? PR_YES : PR_NO;
}
static void lanes(foot *f, const pr_record *rec, int program, uint64_t iter, int sure)
{
    pr_env env = { f->value, f->known, f->n };
    int64_t count = 1;
    for (int d = 0; d < rec->rank; d++) count *= rec->shape[d];
    for (int64_t l = 0; l < count; l++) {
        int64_t rest = l;
        for (int d = rec->rank - 1; d >= 0; d--) {
            set_var(f, f->r->lane[d], rest % rec->shape[d]);
            rest /= rec->shape[d];
        }
        f->budget--;
        pr_tri m = holds(f, rec->mask);
        if (holds(f, rec->mask_held) != PR_YES) note_wrap(f, rec);
        if (m == PR_NO) continue;
        pr_i128 off;
        if (pr_term_none(rec->offset) || !pr_eval(f->r->terms, rec->offset, &env, &off)) {
            f->skip[rec->site.op_id] = 1;
            return;
        }
        touch x = { rec->site.op_id, program, iter, l, (uint64_t)(f->s->args[rec->base].value + off), sure && m == PR_YES };
        pr_vec_push(f->s->arena, &f->model, x);
        if (holds(f, rec->offset_held) != PR_YES) note_wrap(f, rec);
    }
}
static void frames(foot *f, const pr_record *rec, const pr_frame **chain, int depth, int n, int program,
                   int64_t *it, int n_it, int sure)
{
    if (f->skip[rec->site.op_id] || f->budget < 0) return;
    if (depth == n) {
        lanes(f, rec, program, hash_iter(it, n_it), sure);
        return;
    }
    const pr_frame *fr = chain[depth];
    if (fr->kind == PR_FRAME_COND) {
        pr_tri c = holds(f, fr->cond);
        if (holds(f, fr->held) != PR_YES) note_wrap(f, rec);
        if (c != PR_NO) frames(f, rec, chain, depth + 1, n, program, it, n_it, sure && c == PR_YES);
        return;
    }
    pr_env env = { f->value, f->known, f->n };
    pr_i128 lo, hi, step;
    if (!pr_eval(f->r->terms, fr->lower, &env, &lo) || !pr_eval(f->r->terms, fr->upper, &env, &hi) ||
        !pr_eval(f->r->terms, fr->step, &env, &step) || step <= 0 || (hi - lo) / step > 4096) {
        f->skip[rec->site.op_id] = 1;
        return;
    }
    if (holds(f, fr->bounds_held) != PR_YES || holds(f, fr->increment_held) == PR_NO) note_wrap(f, rec);
    for (int64_t k = 0; lo + k * step < hi; k++) {
        set_var(f, fr->k, k);
        it[n_it] = k;
        frames(f, rec, chain, depth + 1, n, program, it, n_it + 1, sure);
    }
}
static int by_touch(const void *x, const void *y)
{
    const touch *a = x, *b = y;
    if (a->op != b->op) return a->op < b->op ? -1 : 1;
    if (a->program != b->program) return a->program < b->program ? -1 : 1;
    if (a->iter != b->iter) return a->iter < b->iter ? -1 : 1;
    if (a->lane != b->lane) return a->lane < b->lane ? -1 : 1;
    if (a->addr != b->addr) return a->addr < b->addr ? -1 : 1;
    return 0;
}
/* True when every operation was comparable and touches exactly its record's bytes. */
static bool compare_footprints(subject *s, const pr_config_verdict *v)
{
    const pr_records *r = v->records;
    if (!r || r->refusals.n) return false;
    bool equal = true;
    /* where an operation wraps the record's address is another one: a proof must have noticed, a race need not */
    bool sound = v->status == PR_VERDICT_OK;
    foot f = { .s = s, .r = r, .grid = s->launch.grid, .budget = 60000 };
    f.skip = pr_arena_alloc(s->arena, (size_t)s->ir->n_ops + 1);
    f.wrap_at = pr_arena_alloc(s->arena, (size_t)s->ir->n_ops + 1);
    f.relevant = pr_arena_alloc(s->arena, (size_t)s->ir->n_ops + 1);
    for (int i = 0; i < v->ledger.n; i++)
        if (v->ledger.data[i].bucket != PR_BUCKET_FILTERED)
            f.relevant[op_of(v, v->ledger.data[i].a)] = f.relevant[op_of(v, v->ledger.data[i].b)] = 1;
    f.n = pr_vars_count(r->terms);
    f.value = PR_NEW_N(s->arena, pr_i128, f.n + 1);
    f.known = PR_NEW_N(s->arena, bool, f.n + 1);
    pr_interp_setup setup;
    setup_at(s, f.grid, &setup);
    pr_replay_options o = { .num_warps = 4 };
    if (pr_interp_footprint(s->arena, &setup, &o, on_touch, &f)) return false;
    for (int i = 0; i < r->n_args; i++)
        if (s->launch.args[i].kind == PR_ARG_INT) set_var(&f, r->args[i].param, (int64_t)s->launch.args[i].value);
    for (int d = 0; d < 3; d++) set_var(&f, r->grid[d], f.grid[d]);
    for (int i = 0; i < r->records.n; i++) {
        const pr_record *rec = &r->records.data[i];
        const pr_frame *chain[64];
        int n = 0;
        for (const pr_frame *fr = rec->frame; fr; fr = fr->outer) n++;
        if (n > 64 || rec->refused.kind || rec->base < 0 || rec->site.n_calls) {
            f.skip[rec->site.op_id] = 1;
            continue;
        }
        int at = n;
        for (const pr_frame *fr = rec->frame; fr; fr = fr->outer) chain[--at] = fr;
        int64_t it[64], p[3];
        for (p[2] = 0; p[2] < f.grid[2]; p[2]++)
            for (p[1] = 0; p[1] < f.grid[1]; p[1]++)
                for (p[0] = 0; p[0] < f.grid[0]; p[0]++) {
                    for (int d = 0; d < 3; d++) set_var(&f, r->pid[d], p[d]);
                    frames(&f, rec, chain, 0, n, (int)(p[0] + f.grid[0] * (p[1] + f.grid[1] * p[2])), it, 0, 1);
                }
    }
    if (f.budget < 0) return false;
    pipeline_counts.footprints++;
    if (f.run.n) qsort(f.run.data, (size_t)f.run.n, sizeof(touch), by_touch);
    if (f.model.n) qsort(f.model.data, (size_t)f.model.n, sizeof(touch), by_touch);
    int i = 0, j = 0;
    while (i < f.run.n || j < f.model.n) {
        const touch *a = i < f.run.n ? &f.run.data[i] : NULL, *b = j < f.model.n ? &f.model.data[j] : NULL;
        int c = !a ? 1 : !b ? -1 : by_touch(a, b);
        const touch *t = c <= 0 ? a : b;
        if (!f.skip[t->op]) {
            pipeline_counts.footprint_sites++;
            bool exact = c < 0 ? a->sure : c > 0 && b->sure;
            if (exact) equal = false;
            if (exact && (!f.wrap_at[t->op] || (sound && f.relevant[t->op])))
                mismatch(s, c < 0 ? "footprint: bytes missing in the record" : "footprint: the record has more bytes",
                         "op %d program %d lane %lld address %#llx; %s", t->op, t->program, (long long)t->lane,
                         (unsigned long long)t->addr, describe(s, v));
        } else {
            equal = false;
        }
        if (c <= 0) i++;
        if (c >= 0) j++;
    }
    return equal && !f.wraps;
}

/* The launch run twice on the same buffers, for several contents, against what the verdict says of that. */
static void again(subject *s, const pr_config_verdict *v, bool counted)
{
    bool yes = !strcmp(v->idempotent, "yes"), no = !strcmp(v->idempotent, "no");
    pr_interp_setup setup;
    if (counted && v->status == PR_VERDICT_OK) pipeline_counts.repeats[yes ? 0 : no ? 1 : 2]++;
    if (!yes && !no) return;
    setup_at(s, s->k->grid, &setup);
    bool changed = false, complete = true;
    for (int i = 0; i < 4 && !s->kind; i++) {
        repeat_result r = repeat_launch(s->arena, &setup, s->storage, s->k->seed + 17 * s->k->number + (uint64_t)i, i % 2);
        complete = complete && r.followed && r.known == r.bytes;
        changed = changed || r.differs;
        if (counted && r.followed) pipeline_counts.repeated[yes ? 0 : 1]++, pipeline_counts.repeated_bytes += (uint64_t)r.known;
        if (yes && r.followed && r.differs)
            mismatch(s, "not idempotent", "idempotent: yes, but a second run changes byte %llu", (unsigned long long)r.differs);
    }
    bool by_value = false;         /* from contents that these four need not be like: confirm_again looked at it */
    for (int i = 0; i < v->notes.n; i++) by_value = by_value || strstr(v->notes.data[i], "stores another value");
    if (no && complete && !changed && !by_value) mismatch(s, "idempotent", "idempotent: no, but a second run changes nothing");
}

/* ---- one kernel ------------------------------------------------------------------------------------------------------ */
/* Looks at everything; true when something is wrong. counted: add to the statistics. */
bool pipeline_examine(const gkernel *k, char *why, size_t why_size, const char **kind, bool counted)
{
    static gkernel moved;
    subject s = { .k = k, .why = why, .why_size = why_size, .arena = pr_arena_new((size_t)1 << 30, NULL) };
    gfeatures features;
    pr_error err = { 0 };
    why[0] = 0;
    s.text = gen_ttir(k, &features);
    pr_read_limits limits;
    pr_read_limits_default(&limits);
    s.ir = pr_ir_parse(s.arena, s.text, strlen(s.text), "kernel.ttir", &limits, &err);
    const char *reason = "";
    if (!s.ir) {
        mismatch(&s, "text rejected", "kernel.ttir:%d:%d: %s", err.line, err.col, err.message);
    } else if (!(s.func = pr_ir_kernel(s.ir, pr_str_of("kernel"), &reason))) {
        mismatch(&s, "kernel not found", "%s", reason);
    } else if (bind(&s, k->grid)) {
        pr_config_verdict *v[3] = { 0 };
        /* isl first; the default repeats its answers, so ask it where isl left something open, and at times */
        static const pr_engine_choice order[] = { PR_ENGINE_ISL, PR_ENGINE_AUTO, PR_ENGINE_Z3 };
        for (int i = 0; i < 3 && !s.kind; i++) {
            pr_engine_choice e = order[i];
            if (e == PR_ENGINE_Z3 && (pipeline.no_z3 || k->number % pipeline.z3_every || !pr_engine_z3())) continue;
            if (e == PR_ENGINE_AUTO && v[PR_ENGINE_ISL] && v[PR_ENGINE_ISL]->status != PR_VERDICT_UNSUPPORTED && k->number % 8) continue;
            v[e] = decide(&s, e);
        }
        if (!v[PR_ENGINE_AUTO]) v[PR_ENGINE_AUTO] = v[PR_ENGINE_ISL];
        pr_replay_result b = { 0 };
        if (!s.kind) b = replay_at(&s, k->grid);
        bool usable = !s.kind && !b.refused && b.n_ub == 0;
        bool exact = usable && v[0] && compare_footprints(&s, v[0]);
        for (int e = 0; e < 3 && usable; e++) {
            if (!v[e] || (e && v[e] == v[0])) continue;
            compare_status(&s, v[e], &b, engine_name((pr_engine_choice)e));
            compare_ledger(&s, v[e], &b, engine_name((pr_engine_choice)e), exact);
        }
        if (!s.kind && v[1] && v[2]) {
            pr_verdict_status x = v[1]->status, y = v[2]->status;
            if ((x == PR_VERDICT_OK && y == PR_VERDICT_RACES) || (x == PR_VERDICT_RACES && y == PR_VERDICT_OK))
                mismatch(&s, "engines contradict", "isl: %s; z3: %s", describe(&s, v[1]), describe(&s, v[2]));
        }
        if (usable && v[0] && !s.kind) again(&s, v[0], counted);
        /* other launches in the scope of a proof */
        for (int e = 0; e < 3 && usable && !s.kind; e++) {
            if (!v[e] || (e && v[e] == v[0]) || v[e]->status != PR_VERDICT_OK || v[e]->rung == PR_RUNG_T1_LAUNCH) continue;
            if (has_qualifier(v[e], "overflow")) continue;
            uint64_t rng = k->seed * 31 + k->number * 7 + (uint64_t)e;
            for (int tries = 0; tries < 2 && !s.kind; tries++) {
                int64_t grid[3];
                memcpy(&moved, k, sizeof moved);
                for (int d = 0; d < 3; d++)
                    grid[d] = v[e]->grid_axis[d] ? v[e]->grid_axis[d] : 1 + (int64_t)(gen_rng_next(&rng) % (d ? 4 : 8));
                if (v[e]->rung == PR_RUNG_T0)
                    for (int p = 0; p < k->n_params; p++) {
                        int64_t x = (int64_t)(gen_rng_next(&rng) % (p ? 8 : 160)) - 2;
                        if (v[e]->conditions.n && tries) x = k->param[p] + x % 8; /* near the bound */
                        if (k->param[p] % 16 == 0) x = x / 16 * 16; /* the text says divisible */
                        moved.param[p] = x;
                    }
                if (v[e]->rung == PR_RUNG_T0 && !within_conditions(v[e], &moved)) continue;
                const gkernel *saved = s.k;
                s.k = &moved;
                if (bind(&s, grid)) {
                    pr_replay_result other = replay_at(&s, grid);
                    if (!other.refused && other.n_ub == 0 && other.n_races) {
                        mismatch(&s, "false proof elsewhere", "%s: %s at grid %lld,%lld,%lld, but lines %d and %d race at grid %lld,%lld,%lld with n0 = %lld, n1 = %lld",
                                 engine_name((pr_engine_choice)e), describe(&s, v[e]), (long long)k->grid[0], (long long)k->grid[1],
                                 (long long)k->grid[2], other.races[0].first.op->line, other.races[0].second.op->line,
                                 (long long)grid[0], (long long)grid[1], (long long)grid[2], (long long)moved.param[0], (long long)moved.param[1]);
                    }
                    pipeline_counts.other_grids++;
                }
                s.k = saved;
            }
        }
        if (counted && v[0]) {
            if (b.refused || b.n_inconclusive) pipeline_counts.inconclusive++;
            pipeline_counts.ok += v[0]->status == PR_VERDICT_OK;
            pipeline_counts.races += v[0]->status == PR_VERDICT_RACES;
            pipeline_counts.undecided += v[0]->status == PR_VERDICT_UNSUPPORTED;
            pipeline_counts.vacuous += v[0]->status == PR_VERDICT_VACUOUS;
            if (v[0]->status == PR_VERDICT_OK) pipeline_counts.rung[v[0]->rung]++;
            if (v[0]->refusals.n) pipeline_counts.refused[v[0]->refusals.data[0].kind]++;
            for (int e = 0; e < 3; e++) pipeline_counts.engine_undecided[e] += v[e] && v[e]->status == PR_VERDICT_UNSUPPORTED;
            pipeline_counts.overflow += has_qualifier(v[0], "overflow");
            pipeline_counts.outside += b.n_outside > 0;
            if (pipeline.verbose) printf("%llu: %s\n", (unsigned long long)k->number, describe(&s, v[0]));
        }
    }
    if (counted) {
        pipeline_counts.kernels++;
        for (int i = 0; gen_feature_name[i]; i++) pipeline_counts.feature[i] += features.has[i];
    }
    free(s.text);
    pr_arena_free(s.arena);
    *kind = s.kind;
    return s.kind != NULL;
}

/* A text that was not made here: whatever is rejected is somebody's mistake, and nobody's fault. */
bool pipeline_examine_text(const char *text, size_t n, const char *launch, size_t n_launch, char *why, size_t why_size, const char **kind)
{
    subject s = { .why = why, .why_size = why_size, .arena = pr_arena_new((size_t)1 << 30, NULL) };
    pr_error err = { 0 };
    const char *reason = "";
    why[0] = 0;
    s.ir = pr_ir_parse(s.arena, text, n, "kernel.ttir", NULL, &err);
    if (s.ir) s.func = pr_ir_kernel(s.ir, (pr_str){ 0 }, &reason);
    if (s.func && bind_json(&s, launch, n_launch, &err) == PR_OK && s.launch.grid_known) {
        pr_config_verdict *v = decide(&s, PR_ENGINE_AUTO);
        pr_replay_result b = { 0 };
        if (!s.kind) b = replay_at(&s, s.launch.grid);
        if (!s.kind && !b.refused && b.n_ub == 0) {
            bool exact = compare_footprints(&s, v);
            compare_status(&s, v, &b, "auto");
            compare_ledger(&s, v, &b, "auto", exact);
        }
        if (v) pipeline_counts.kernels++;
    }
    pr_arena_free(s.arena);
    *kind = s.kind;
    return s.kind != NULL;
}
