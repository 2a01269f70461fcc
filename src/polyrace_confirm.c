/* Confirmation of findings by the concrete evaluator (happens-before.md 8.7): the two programs of a
 * witness are run on the parsed text, and the bytes that the two operations touch are compared with
 * the bytes that the records claim. */
#include <string.h>
#include "front/again.h"
#include "front/ops.h"
#include "front/replay.h"
#include "front/schedule.h"
#include "front/value_slice.h"
#include "polyrace_impl.h"

typedef struct reached {
    bool known, yes;
    uint64_t addr;
    int width;
    const char *why;
    pr_refusal_kind gap; /* not known for a reason other than values that only a run could know */
} reached;

/* One machine for all witnesses of a launch, in an arena of its own. */
typedef struct pr_prober { pr_arena *arena; pr_machine *machine; } pr_prober;

static pr_machine *machine_of(pr_job *j)
{
    if (!j->prober) {
        pr_arena *own = pr_arena_new(0, pr_arena_oom(j->arena));
        pr_interp_setup setup;
        j->prober = PR_NEW(own, pr_prober);
        j->prober->arena = own;
        if (pr_job_interp(own, j, false, &setup)) j->prober->machine = pr_machine_new(own, &setup);
    }
    return j->prober->machine;
}

static reached probe(pr_job *j, const int64_t grid[3], const pr_records *r, const pr_witness_access *a)
{
    pr_machine *m = machine_of(j);
    if (!m) return (reached){ .why = "the grid is not known" };
    const pr_record *rec = &r->records.data[a->record];
    pr_interp_target target = { .op_id = rec->site.op_id,
                                .calls = rec->site.calls,
                                .n_calls = rec->site.n_calls,
                                .iter = a->iteration,
                                .n_iter = a->n_iterations,
                                .lane = a->lane,
                                .rank = a->rank };
    pr_probe p = pr_machine_probe(m, grid, a->program, &target);
    if (!p.available) {
        bool waits = p.where && p.where->opcode == PR_OP_SCF_WHILE;
        const char *why = p.why ? p.why : "the program cannot be executed";
        return (reached){ .why = pr_arena_strndup(j->arena, why, strlen(why)),
                          .gap = waits ? PR_REFUSAL_NONE : PR_REFUSAL_BUDGET };
    }
    if (p.ub)
        return (reached){ .why = "the execution has undefined behaviour before the access",
                          .gap = PR_REFUSAL_POTENTIAL_RACE };
    if (p.executed == PR_NO) return (reached){ .known = true };
    if (p.executed == PR_MAYBE || p.lane.active == PR_MAYBE)
        return (reached){ .why = "a branch or mask depends on a value that only a run could know" };
    if (p.lane.active == PR_NO) return (reached){ .known = true };
    if (!p.lane.addr_known)
        return (reached){ .why = "the address depends on a value that only a run could know" };
    return (reached){ .known = true, .yes = true, .addr = p.lane.addr, .width = p.width };
}

static pr_status slip(pr_error *err, const pr_record *rec)
{
    return pr_fail(err, PR_ERR_INTERNAL, "", 0, 0,
                   "the concrete evaluator does not reach the access at %.*s:%d",
                   PR_STR_ARG(rec->loc.file), rec->loc.line ? rec->loc.line : rec->loc.text_line);
}

static pr_status confirm_race(void *user, const pr_records *r, const pr_launch *l, pr_race *race,
                              pr_error *err)
{
    pr_job *j = user;
    const pr_witness_access *side[2] = { &race->a, &race->b };
    reached at[2];
    for (int k = 0; k < 2; k++) {
        at[k] = probe(j, race->grid, r, side[k]);
        if (!at[k].known) {
            race->confirmation = PR_CONFIRM_UNAVAILABLE;
            race->confirmation_why = at[k].why;
            race->not_replayed = at[k].gap;
            return PR_OK;
        }
        if (!at[k].yes || (pr_i128)at[k].addr != side[k]->address) {
            race->confirmation = PR_UNCONFIRMED;
            return slip(err, &r->records.data[side[k]->record]);
        }
    }
    bool overlap = at[0].addr < at[1].addr + (uint64_t)at[1].width &&
                   at[1].addr < at[0].addr + (uint64_t)at[0].width;
    race->confirmation = overlap ? PR_CONFIRMED : PR_UNCONFIRMED;
    return overlap ? PR_OK : slip(err, &r->records.data[race->b.record]);
}

static pr_status confirm_access(void *user, const pr_records *r, const pr_launch *l,
                                const int64_t grid[3], const pr_witness_access *a, bool *confirmed,
                                pr_error *err)
{
    reached at = probe(user, grid, r, a);
    /* far out of bounds an address may be negative: the machine counts modulo 2^64 */
    *confirmed = at.known && at.yes && at.addr == (uint64_t)a->address;
    if (at.known && !*confirmed) return slip(err, &r->records.data[a->record]);
    return PR_OK;
}

static void take_access(const pr_records *r, const pr_launch *l, const pr_schedule_access *from, pr_witness_access *to)
{
    const pr_record *rec = &r->records.data[to->record];
    const pr_tensor *t = rec->base >= 0 ? l->args[rec->base].tensor : NULL;
    memcpy(to->program, from->pid, sizeof to->program);
    to->rank = from->rank;
    memcpy(to->lane, from->lane, sizeof(int64_t) * (size_t)from->rank);
    if (from->n_iter == to->n_iterations) memcpy(to->iteration, from->iter, sizeof(int64_t) * (size_t)from->n_iter);
    to->address = (pr_i128)from->addr;
    to->reads = from->reads;
    to->writes = from->writes;
    to->byte = to->address - (t ? t->ptr : 0);
    to->element = pr_fdiv(to->byte, t && t->elem_bytes ? t->elem_bytes : from->width);
}

static bool inside(const pr_records *r, const pr_launch *l, const pr_witness_access *a)
{
    const pr_record *rec = &r->records.data[a->record];
    const pr_tensor *t = rec->base >= 0 ? l->args[rec->base].tensor : NULL;
    return t && a->address >= t->storage_lo && a->address < t->storage_hi;
}

static pr_status confirm_execution(void *user, const pr_records *r, const pr_launch *l, bool pre, bool post, pr_race *race,
                                   bool *stuck, pr_error *err)
{
    pr_job *j = user;
    pr_interp_setup setup;
    const pr_witness_access *side[2] = { &race->a, &race->b };
    race->confirmation = PR_CONFIRM_UNAVAILABLE;
    race->confirmation_why = "the grid is not known";
    pr_arena *own = pr_arena_new(0, pr_arena_oom(j->arena));
    if (!own) return pr_fail(err, PR_ERR_MEMORY, "", 0, 0, "out of memory");
    if (!pr_job_interp(own, j, true, &setup)) {
        pr_arena_free(own);
        return PR_OK;
    }
    memcpy(setup.grid, race->grid, sizeof setup.grid);
    pr_schedule_storage *storage = PR_NEW_N(own, pr_schedule_storage, l->n_args + 1);
    for (int a = 0; a < l->n_args; a++) {
        const pr_tensor *t = l->args[a].tensor;
        if (t) storage[a] = (pr_schedule_storage){ true, (uint64_t)t->storage_lo, (uint64_t)t->storage_hi };
    }
    pr_schedule_ask ask = { .intra = race->intra, .pre = pre, .post = post, .storage = storage };
    for (int k = 0; k < 2; k++) {
        const pr_record *rec = &r->records.data[side[k]->record];
        ask.site[k] = (pr_schedule_site){ rec->site.op_id, rec->site.calls, rec->site.n_calls };
        memcpy(ask.pid[k], side[k]->program, sizeof ask.pid[k]);
        ask.lane[k] = side[k]->lane;
        ask.rank[k] = side[k]->rank;
        ask.iter[k] = side[k]->iteration;
        ask.n_iter[k] = side[k]->n_iterations;
    }
    pr_schedule_result found = pr_schedule_race(own, &setup, &ask);
    *stuck = found.stuck;
    if (found.found) {
        pr_race copy = *race;
        take_access(r, l, &found.at[0], &copy.a);
        take_access(r, l, &found.at[1], &copy.b);
        if (inside(r, l, &copy.a) && inside(r, l, &copy.b)) {
            *race = copy;
            race->confirmation = PR_CONFIRMED;
            race->confirmation_why = "an execution of the whole launch reaches the same byte with nothing that orders the two";
        } else {
            race->confirmation_why = "the race lies outside the storage of its tensor";
        }
    } else {
        race->confirmation_why = pr_arena_strndup(j->arena, found.why, strlen(found.why));
    }
    pr_arena_free(own);
    return PR_OK;
}

/* ---- the whole launch ------------------------------------------------------------------------- */
/* Deterministic limits: less than a second in the worst case (a loop of scalars that does not end), and only where nothing else decides. */
enum { WHOLE_PROGRAMS = 1 << 16, WHOLE_EVENTS = 1 << 20, WHOLE_WORK = 1 << 26, WHOLE_PAIRS = 1 << 24,
       SOME_WORK = 1 << 16 };           /* what is left is refused: about a millisecond for races that are certain all the same */

static bool to_witness(const pr_records *r, const pr_launch *l, const pr_replay_access *from, pr_witness_access *to)
{
    for (int i = 0; i < r->records.n; i++) {
        const pr_record *rec = &r->records.data[i];
        if (rec->site.op_id != from->op->id || rec->site.n_calls != from->n_calls || rec->base != from->base || rec->base < 0) continue;
        if (from->n_calls && memcmp(rec->site.calls, from->calls, sizeof(int) * (size_t)from->n_calls) != 0) continue;
        const pr_tensor *t = l->args[rec->base].tensor;
        int loops = 0;
        for (const pr_frame *f = rec->frame; f; f = f->outer) loops += f->kind == PR_FRAME_LOOP;
        if (!t || !from->addr_known || rec->rank != from->rank || loops > 64) return false;
        *to = (pr_witness_access){ .record = i, .rank = from->rank, .n_iterations = loops,
                                   .reads = from->kind != PR_INTERP_STORE && from->kind != PR_INTERP_ATOMIC_STORE,
                                   .writes = from->writes == PR_YES, .address = (pr_i128)from->addr };
        memcpy(to->program, from->pid, sizeof to->program);
        memcpy(to->lane, from->lane, sizeof(int64_t) * (size_t)from->rank);
        if (from->n_iter == loops && loops) memcpy(to->iteration, from->iter, sizeof(int64_t) * (size_t)loops);
        to->byte = to->address - t->ptr;
        to->element = pr_fdiv(to->byte, t->elem_bytes ? t->elem_bytes : from->width);
        return true;
    }
    return false;
}

static bool is_of(const pr_record *r, const pr_replay_access *x)
{
    return r->site.op_id == x->op->id && r->site.n_calls == x->n_calls &&
           (!x->n_calls || !memcmp(r->site.calls, x->calls, sizeof(int) * (size_t)x->n_calls));
}

/* Every record of the two operations: which of them it is that may race is not looked at. */
static void take_doubt(pr_arena *arena, const pr_records *r, const pr_replay_race *x, pr_whole *out)
{
    const int64_t n = r->records.n;
    if (!out->doubtful) out->doubtful = PR_NEW_N(arena, bool, 2 * n * n);
    for (int64_t i = 0; i < n; i++) {
        if (!is_of(&r->records.data[i], &x->first)) continue;
        for (int64_t k = 0; k < n; k++)
            if (is_of(&r->records.data[k], &x->second)) out->doubtful[2 * (i * n + k) + x->intra] = out->doubtful[2 * (k * n + i) + x->intra] = true;
    }
}

static void take_whole(pr_arena *arena, const pr_records *r, const pr_launch *l, const pr_replay_result *x, bool some, pr_whole *out)
{
    out->read_contents = x->read_contents;
    out->used_dependency = x->used_dependency;
    out->waited = x->waited;
    out->endless = x->endless && !some;
    out->loose = PR_NEW_N(arena, bool, l->n_args + 1);
    if (x->refused) out->why_not = x->refused;
    else if (x->n_ub) out->why_not = x->ub[0].why;
    else if (x->waited && x->n_races) out->why_not = "a race beside waits, which an execution with a memory must show";
    else if (some && !x->n_races) out->why_not = "no race is certain";
    else if (x->n_inconclusive && !some) out->why_not = x->inconclusive[0].why;
    else if (x->n_possible && !x->n_races) out->why_not = "whether a race happens rests on a value that only a run could know";
    else if (x->loose >> 63 && !some) out->why_not = "an access to an unknown tensor";
    for (int a = 0; a < l->n_args && !out->why_not; a++) {
        out->loose[a] = a < 63 && (x->loose >> a & 1);
        if (a >= 63) out->why_not = "too many arguments";
    }
    for (int i = 0; i < x->n_races && !out->why_not; i++) {
        pr_race race = { .intra = x->races[i].intra };
        if (some && race.intra) continue;
        if (!to_witness(r, l, &x->races[i].first, &race.a) || !to_witness(r, l, &x->races[i].second, &race.b))
            out->why_not = "a racing access has no record";
        else pr_vec_push(arena, &out->races, race);
    }
    for (int i = 0; i < x->n_possible && !out->why_not; i++) take_doubt(arena, r, &x->possible[i], out);
    for (int i = 0; i < x->n_outside && !out->why_not; i++) {
        pr_out_of_bounds o = { .confirmed = x->outside[i].example.active == PR_YES };
        if (!to_witness(r, l, &x->outside[i].example, &o.access)) out->why_not = "an access outside its tensor has no record";
        else pr_vec_push(arena, &out->outside, o);
    }
}

static pr_status confirm_whole(void *user, const pr_records *r, const pr_launch *l, bool some, bool pre, bool post, pr_whole *out, pr_error *err)
{
    pr_job *j = user;
    pr_interp_setup setup;
    *out = (pr_whole){ 0 };
    out->why_not = "the grid is not known";
    pr_arena *own = pr_arena_new(0, pr_arena_oom(j->arena));
    if (!own) return pr_fail(err, PR_ERR_MEMORY, "", 0, 0, "out of memory");
    /* all contents where the replay says whether a program writes what it read; else those that no record may write */
    if (pr_job_interp(own, j, !some, &setup)) {
        pr_replay_storage *s = PR_NEW_N(own, pr_replay_storage, l->n_args + 1);
        for (int a = 0; a < l->n_args; a++)
            if (l->args[a].tensor)
                s[a] = (pr_replay_storage){ true, (uint64_t)l->args[a].tensor->storage_lo, (uint64_t)l->args[a].tensor->storage_hi };
        pr_replay_options o = { .storage = s, .num_warps = l->num_warps, .max_programs = WHOLE_PROGRAMS, .max_events = WHOLE_EVENTS,
                                .max_pairs = WHOLE_PAIRS, .complete_only = !some, .classes_only = true, .waits = !some,
                                .pre = pre, .post = post, .known_text = true };
        pr_buf text;
        pr_buf_init(&text, j->arena);
        if (j->certify && !some) o.journal = &text;
        setup.max_work = some ? SOME_WORK : WHOLE_WORK;
        *out = (pr_whole){ 0 };
        pr_replay_result x = pr_replay_run(own, &setup, &o);
        take_whole(j->arena, r, l, &x, some, out);
        if (!some && !out->why_not) j->journal = text.n ? text.data : NULL;   /* too long: none */
        if (out->why_not) out->why_not = pr_arena_strndup(j->arena, out->why_not, strlen(out->why_not));
    }
    pr_arena_free(own);
    return PR_OK;
}

/* ---- the launch, twice ------------------------------------------------------------------------ */
enum { AGAIN_WORK = 1 << 15 };       /* about a millisecond, where a launch reads what it writes */

static pr_status confirm_again(void *user, const pr_records *r, const pr_launch *l, bool all, pr_again *out, pr_error *err)
{
    pr_job *j = user;
    pr_interp_setup setup;
    *out = (pr_again){ 0 };
    pr_arena *own = pr_arena_new(0, pr_arena_oom(j->arena));
    if (!own) return pr_fail(err, PR_ERR_MEMORY, "", 0, 0, "out of memory");
    if (pr_job_interp(own, j, true, &setup)) {
        pr_again_arg *args = PR_NEW_N(own, pr_again_arg, l->n_args + 1);
        for (int a = 0; a < l->n_args; a++) {
            const pr_tensor *t = l->args[a].tensor;
            if (t) args[a] = (pr_again_arg){ true, (uint64_t)t->storage_lo, (uint64_t)t->storage_hi, t->elem_bytes, t->is_bool, t->is_unsigned };
        }
        pr_interp_setup bare;
        pr_again_result x = pr_again_run(own, &setup, args, all, 0, 1, AGAIN_WORK);
        if (!x.differs && !r->has_atomics && pr_job_interp(own, j, false, &bare)) out->settles = pr_again_settles(own, &bare, args, AGAIN_WORK / 2);
        if (!x.differs && !x.hopeless && !out->settles) x = pr_again_run(own, &setup, args, all, 1, PR_AGAIN_TRIES, AGAIN_WORK / 2);
        for (int i = 0; i < r->records.n && x.differs && !out->differs; i++) {
            const pr_site *s = &r->records.data[i].site;
            if (s->op_id != x.op->id || s->n_calls != x.n_calls) continue;
            if (x.n_calls && memcmp(s->calls, x.calls, sizeof *x.calls * (size_t)x.n_calls)) continue;
            *out = (pr_again){ false, true, x.chosen, i, x.arg, (pr_i128)x.addr - l->args[x.arg].tensor->ptr,
                               pr_arena_strndup(j->arena, x.once, strlen(x.once)), pr_arena_strndup(j->arena, x.twice, strlen(x.twice)) };
        }
    }
    pr_arena_free(own);
    return PR_OK;
}

static bool made_of(void *user, const pr_records *r, int record, unsigned *axes, const bool **args, int *n_args)
{
    pr_job *j = user;
    const pr_site *at = &r->records.data[record].site;
    if (at->n_calls) return false;
    pr_value_slice s = pr_value_slice_of(j->arena, j->module->ir, j->func, at->op_id);
    *axes = s.axes;
    *args = s.args;
    *n_args = s.n_args;
    return s.known;
}

void pr_confirmer_init(pr_confirmer *out, pr_job *job)
{
    job->prober = NULL;      /* one of a decision that memory ended is gone */
    *out = (pr_confirmer){ .user = job, .race = confirm_race, .access = confirm_access, .execution = confirm_execution,
                           .made_of = made_of, .whole = confirm_whole, .again = confirm_again };
}

void pr_confirmer_end(pr_job *job)
{
    if (job->prober) pr_arena_free(job->prober->arena);
    job->prober = NULL;
}
