/* Did every n-bit operation keep its value? Did every access stay in its storage?
 *
 * Terms are unbounded integers, the machine wraps. Each FITS below a record's path, loops, mask and offset
 * must hold wherever its value is read. A proof asks, width by width, whether an execution in its domain
 * violates one (then the width becomes a qualifier), and again at the launch, where a violation refuses the
 * configuration. The violation query uses path, mask and loop existence without the in-bounds premise and
 * without the record's own obligations: both are computed from the ideal offset and would hide the wrap
 * (happens-before.md 5.6, p106). The in-bounds premise of 3.4 is discharged here too. */
#include "hb/ladder.h"
#include "hb/plain.h"
#include "hb/sums.h"
#include "term/table.h"
#include "hb/sync.h"
#include <assert.h>
#include <inttypes.h>

/* Records whose obligations and activity matter: those in a pair that was not filtered, and loads whose values
 * the terms of others are functions of (an index that wraps reads another entry). */
static bool *relevant(pr_run *run)
{
    bool *r = PR_NEW_N(run->arena, bool, run->R->records.n + 1);
    for (int i = 0; i < run->pairs.n; i++)
        if (run->pairs.data[i].state != PR_PAIR_FILTERED) r[run->pairs.data[i].a] = r[run->pairs.data[i].b] = true;
    for (int i = 0; i < run->R->records.n; i++) r[i] = r[i] || run->table_load[i];
    return r;
}

typedef struct widths { const pr_terms *T; uint64_t seen[3]; } widths;

static void note_width(void *user, pr_term t)
{
    widths *w = user;
    if (pr_term_op_of(w->T, t) != PR_TERM_OP_FITS) return;
    int bits = pr_term_bits(w->T, t);
    w->seen[bits >> 6] |= (uint64_t)1 << (bits & 63);
}

/* t with every FITS of another width taken as true; FITS occurs only positively. seen: by term, 0 = not yet. */
static pr_term keep_width(pr_terms *T, pr_term t, int bits, int depth, uint32_t *seen)
{
    pr_term_op op = pr_term_op_of(T, t);
    if (op == PR_TERM_OP_FITS) return pr_term_bits(T, t) == bits ? t : PR_TERM_TRUE;
    if ((op != PR_TERM_OP_AND && op != PR_TERM_OP_OR) || depth > 400) return t;
    if (seen[t.id]) return (pr_term){ seen[t.id] };
    pr_term a = keep_width(T, pr_term_child(T, t, 0), bits, depth + 1, seen);
    pr_term b = keep_width(T, pr_term_child(T, t, 1), bits, depth + 1, seen);
    pr_term r = op == PR_TERM_OP_AND ? pr_and(T, a, b) : pr_or(T, a, b);
    seen[t.id] = r.id;
    return r;
}

static pr_term only_width(pr_run *run, pr_terms *T, pr_term t, int bits)
{
    pr_arena_pos mark = pr_arena_mark(run->d.scratch);
    uint32_t *seen = PR_NEW_N(run->d.scratch, uint32_t, t.id + 1);
    pr_term r = keep_width(T, t, bits, 0, seen);
    pr_arena_release(run->d.scratch, mark);
    return r;
}

typedef struct violation { pr_term_vec prefix; const pr_side *side; pr_loc loc; const char *what; int record; } violation;

enum { FREE = PR_OCCURS(PR_ROLE_FREE) };

static bool is_free(void *user, const pr_terms *T, pr_term t)
{
    (void)user;
    return pr_term_op_of(T, t) == PR_TERM_OP_VAR && pr_var_get(T, pr_term_var(T, t))->role == PR_ROLE_FREE;
}

/* An entry of a table that nobody knows: no point has a value for it, so a query over it ends undecided where a
 * free variable would give a point. */
static bool is_unknown_entry(void *user, const pr_terms *T, pr_term t)
{
    (void)user;
    return pr_term_op_of(T, t) == PR_TERM_OP_TABLE && !pr_tab_get(T, pr_term_tab(T, t))->values;
}

/* A value that the launch does not give, and of which atomics say nothing either: that it wraps is a matter of contents.
 * The results of a counter and of swaps between known values are known, and that one of them wraps is not. */
typedef struct open_value { pr_encoding *e; } open_value;
static bool is_open_value(void *user, const pr_terms *T, pr_term t)
{
    return is_free(NULL, T, t) && !pr_sync_knows(((open_value *)user)->e, t);
}

/* Does t count the iterations of a loop whose bounds the launch does not give? */
static bool counts_loaded(pr_encoding *e, const pr_side *s, pr_term t)
{
    open_value x = { e };
    for (int i = 0; i < s->n_loops; i++) {
        const pr_frame *f = s->loop[i];
        if (!pr_term_mentions(e->terms, t, pr_term_var(e->terms, s->iter[i]))) continue;
        pr_subst *to = (pr_subst *)&s->subst;
        if (pr_term_any_in(e->terms, pr_subst_apply(to, f->lower), FREE, is_open_value, &x) ||
            pr_term_any_in(e->terms, pr_subst_apply(to, f->upper), FREE, is_open_value, &x)) return true;
    }
    return false;
}

/* The same with what is known of the results of atomics; EMPTY then rests on their initial values. */
static void ask_with_atomics(pr_run *run, pr_encoding *e, const pr_side *side, const pr_term_vec *conj, bool may_use_z3, pr_outcome *o)
{
    pr_term_vec all = { 0 };
    pr_query q;
    bool free_value = false;
    for (int j = 0; j < conj->n; j++) {
        pr_vec_push(run->arena, &all, conj->data[j]);
        free_value = free_value || (pr_term_occurs(e->terms, conj->data[j]) & FREE);
    }
    if (!free_value || o->answer == PR_ANSWER_EMPTY) return;
    pr_sync_facts(e, true, &all);
    pr_sync_draw_facts(e, side, NULL, false, &all);
    pr_sums_facts(e, side, NULL, false, &all);
    if (all.n == conj->n) return;
    pr_encode_single(e, all.data, all.n, &q);
    pr_decide(&run->d, &q, may_use_z3, o, NULL);
    if (o->answer == PR_ANSWER_EMPTY) pr_add_qualifier(run, "reads tensor contents");
}

/* Asks whether some execution reaches `held` and violates a width-`bits` part of it. *free_values: only
 * where the wrapping value itself is computed from values that the launch does not give (contents of
 * tensors); a path or mask that such values merely open does not excuse it. */
static pr_answer ask(pr_run *run, pr_encoding *e, const violation *v, pr_term held, int bits, bool may_use_z3,
                     pr_outcome *o, bool *free_values)
{
    pr_outcome possible = { .answer = PR_ANSWER_EMPTY };
    pr_terms *T = e->terms;
    pr_term_vec parts = { 0 };
    pr_conjuncts(T, held, &parts, run->arena);
    for (int i = 0; i < parts.n; i++) {
        pr_term part = pr_subst_apply((pr_subst *)&v->side->subst, only_width(run, T, parts.data[i], bits));
        part = pr_term_none(part) ? part : pr_encode_simplify(e, part);
        if (pr_term_none(part)) {
            *o = (pr_outcome){ .answer = PR_ANSWER_UNKNOWN, .why = PR_REFUSAL_UNMODELED_VALUE,
                               .message = "a width condition leaves exact arithmetic" };
            return PR_ANSWER_UNKNOWN;
        }
        if (pr_term_is(part, PR_TERM_TRUE)) continue;
        pr_term_vec conj = { 0 };
        for (int j = 0; j < v->prefix.n; j++) pr_vec_push(run->arena, &conj, v->prefix.data[j]);
        pr_term broken = pr_encode_simplify(e, pr_not(T, part));
        bool never = pr_term_is(broken, PR_TERM_FALSE);
        for (int j = 0; j < conj.n; j++) never = never || pr_term_is(conj.data[j], PR_TERM_FALSE);
        if (never) continue;
        pr_vec_push(run->arena, &conj, broken);
        pr_query q;
        pr_encode_single(e, conj.data, conj.n, &q);
        pr_decide(&run->d, &q, may_use_z3, o, NULL);
        ask_with_atomics(run, e, v->side, &conj, may_use_z3, o);
        open_value open = { e };
        *free_values = pr_term_any_in(T, broken, FREE, is_open_value, &open) || counts_loaded(e, v->side, broken);
        bool entry = pr_term_any_in(T, broken, PR_OCCURS_TABLE, is_unknown_entry, NULL);
        if ((o->answer == PR_ANSWER_WITNESS && *free_values) || (o->answer == PR_ANSWER_UNKNOWN && entry)) {
            possible = *o;              /* a definite wrap elsewhere is worse */
            possible.answer = PR_ANSWER_WITNESS;
            continue;
        }
        if (o->answer != PR_ANSWER_EMPTY) return o->answer;
    }
    *free_values = possible.answer == PR_ANSWER_WITNESS;
    *o = possible;
    return possible.answer;
}

/* Calls each for every (prefix, held) of the relevant records; stops when it returns false. */
typedef bool (*each_fn)(void *user, const violation *v, pr_term held);

static bool stands_in(const pr_frame *inner, const pr_frame *f)
{
    for (; inner; inner = inner->outer)
        if (inner == f) return true;
    return f == NULL;
}

/* Branches and loops around barriers that no relevant record stands in: how often a barrier ran before
 * an access rests on them too (happens-before.md 4.7). */
static void for_each_fence_frame(pr_run *run, pr_encoding *e, const bool *wanted, each_fn each, void *user)
{
    const pr_records *R = run->R;
    for (int k = 0; k < R->fences.n; k++) {
        for (const pr_frame *f = R->fences.data[k].frame; f; f = f->outer) {
            bool seen = false;
            int near = -1, any = -1;    /* a record inside the frame around f; some record */
            for (int j = 0; j < R->records.n && !seen; j++) {
                if (!wanted[j]) continue;
                any = j;
                seen = stands_in(R->records.data[j].frame, f);
                if (near < 0 && stands_in(R->records.data[j].frame, f->outer)) near = j;
            }
            for (int j = 0; j < k && !seen; j++) seen = stands_in(R->fences.data[j].frame, f);
            if (seen || any < 0) continue;
            violation v = { .side = pr_encoding_side(e, near >= 0 ? near : any, PR_SIDE_A), .loc = f->loc };
            v.what = f->kind == PR_FRAME_COND ? "a branch condition" : "a loop bound";
            if (near >= 0) pr_encode_existence(e, v.side, f->outer, false, &v.prefix);
            if (!each(user, &v, f->kind == PR_FRAME_COND ? f->held : f->bounds_held)) return;
            v.what = "a loop increment";
            if (f->kind == PR_FRAME_LOOP && !each(user, &v, f->increment_held)) return;
        }
    }
}

/* One condition of v->record, read under its frames up to upto (and its mask); most hold by intervals alone. */
static bool obligation(pr_encoding *e, violation *v, pr_term held, const pr_frame *upto, bool with_mask, each_fn each, void *user)
{
    if (pr_plain_holds(e, v->record, held)) return true;
    v->side = pr_encoding_side(e, v->record, PR_SIDE_A);
    v->prefix = (pr_term_vec){ 0 };
    pr_encode_existence(e, v->side, upto, with_mask, &v->prefix);
    return each(user, v, held);
}

static void for_each_obligation(pr_run *run, pr_encoding *e, const bool *wanted, each_fn each, void *user)
{
    for (int i = 0; i < run->R->records.n; i++) {
        if (!wanted[i]) continue;
        const pr_record *r = &run->R->records.data[i];
        violation v = { .record = i };
        for (const pr_frame *f = r->frame; f; f = f->outer) {
            bool shared = false;    /* an earlier record stands in the same frame */
            for (int j = 0; j < i && !shared; j++)
                for (const pr_frame *g = wanted[j] ? run->R->records.data[j].frame : NULL; g && !shared; g = g->outer)
                    shared = g == f;
            if (shared) continue;
            v.loc = f->loc;
            v.what = f->kind == PR_FRAME_COND ? "a branch condition" : "a loop bound";
            if (!obligation(e, &v, f->kind == PR_FRAME_COND ? f->held : f->bounds_held, f->outer, false, each, user)) return;
            if (f->kind == PR_FRAME_COND) continue;
            v.what = "a loop increment";
            if (!obligation(e, &v, f->increment_held, f, false, each, user)) return;
        }
        v.loc = r->loc;
        v.what = "the mask";
        if (!obligation(e, &v, r->mask_held, r->frame, false, each, user)) return;
        v.what = "the address";
        if (!obligation(e, &v, r->offset_held, r->frame, true, each, user)) return;
    }
}

typedef struct qualify { pr_run *run; pr_encoding *e; uint64_t named[3]; } qualify;

static bool qualify_one(void *user, const violation *v, pr_term held)
{
    qualify *x = user;
    widths w = { .T = x->e->terms };
    if (pr_term_none(held)) {            /* no width can be named: no claim either */
        pr_add_refusal(x->run, PR_REFUSAL_UNMODELED_VALUE, v->loc, "a width condition leaves exact arithmetic");
        return true;
    }
    pr_term_visit_in(w.T, &held, 1, PR_OCCURS_FITS, note_width, &w);
    for (int bits = 1; bits < 192; bits++) {
        if (!(w.seen[bits >> 6] >> (bits & 63) & 1) || (x->named[bits >> 6] >> (bits & 63) & 1)) continue;
        pr_outcome o;
        bool free_values;
        /* undecided names the width too, so neither a point nor the last resort is worth its price here */
        x->run->d.only_empty = true;
        if (ask(x->run, x->e, v, held, bits, false, &o, &free_values) != PR_ANSWER_EMPTY)
            x->named[bits >> 6] |= (uint64_t)1 << (bits & 63);
        x->run->d.only_empty = false;
    }
    return true;
}

/* One qualifier names every width: `assumes no i32/i64 overflow`. */
static void name_widths(pr_run *run, const uint64_t set[3])
{
    for (int bits = 1; bits < 192; bits++)
        if (set[bits >> 6] >> (bits & 63) & 1) run->overflow_widths[bits >> 6] |= (uint64_t)1 << (bits & 63);
}

void pr_obligations_name(pr_run *run)
{
    pr_buf b;
    bool any = false;
    pr_buf_init(&b, run->arena);
    for (int bits = 1; bits < 192; bits++) {
        if (!(run->overflow_widths[bits >> 6] >> (bits & 63) & 1)) continue;
        pr_buf_printf(&b, "%si%d", any ? "/" : "", bits);
        any = true;
    }
    if (any) pr_add_qualifier(run, pr_arena_printf(run->arena, "assumes no %s overflow", b.data));
}

void pr_obligations_qualify(pr_run *run, pr_encoding *e)
{
    qualify x = { .run = run, .e = e };
    const bool *wanted = relevant(run);
    for_each_fence_frame(run, e, wanted, qualify_one, &x);
    for_each_obligation(run, e, wanted, qualify_one, &x);
    name_widths(run, x.named);
}

typedef struct discharge { pr_run *run; pr_encoding *e; bool ok; uint64_t widths[3]; } discharge;

static bool discharge_one(void *user, const violation *v, pr_term held)
{
    discharge *x = user;
    widths w = { .T = x->e->terms };
    if (pr_term_none(held)) {
        pr_add_refusal(x->run, PR_REFUSAL_UNMODELED_VALUE, v->loc, "a width condition leaves exact arithmetic");
        x->ok = false;
        return true;
    }
    pr_term_visit_in(w.T, &held, 1, PR_OCCURS_FITS, note_width, &w);
    for (int bits = 1; bits < 192; bits++) {
        if (!(w.seen[bits >> 6] >> (bits & 63) & 1)) continue;
        pr_outcome o;
        bool free_values = false;
        pr_answer a = ask(x->run, x->e, v, held, bits, true, &o, &free_values);
        if (a == PR_ANSWER_EMPTY) continue;
        if (a == PR_ANSWER_WITNESS && free_values) {
            /* it rests on what a tensor holds: the proof keeps the premise, in words */
            x->widths[bits >> 6] |= (uint64_t)1 << (bits & 63);
            continue;
        }
        x->ok = false;
        if (a == PR_ANSWER_WITNESS)
            pr_add_refusal(x->run, PR_REFUSAL_INTEGER_OVERFLOW, v->loc,
                           pr_arena_printf(x->run->arena, "an i%d operation below %s wraps at this launch", bits, v->what));
        else
            pr_add_refusal(x->run, o.why, v->loc,
                           pr_arena_printf(x->run->arena, "whether an i%d operation below %s wraps stayed undecided: %s",
                                           bits, v->what, o.message ? o.message : "no reason given"));
    }
    return true;
}

bool pr_obligations_discharge(pr_run *run, pr_encoding *launch)
{
    discharge x = { .run = run, .e = launch, .ok = true };
    const bool *wanted = relevant(run);
    for_each_fence_frame(run, launch, wanted, discharge_one, &x);
    for_each_obligation(run, launch, wanted, discharge_one, &x);
    name_widths(run, x.widths);
    return x.ok;
}

static void qualify_bounds(pr_run *run, const pr_record *r)
{
    pr_str n = run->R->args[r->base].name;
    pr_add_qualifier(run, pr_arena_printf(run->arena, "assumes in-bounds accesses of " PR_STR_FMT, PR_STR_ARG(n)));
}

static void push_held(pr_run *run, pr_encoding *e, const pr_side *s, const pr_record *r, pr_term_vec *conj)
{
    PR_VEC(pr_term) held = { 0 };
    pr_vec_push(run->arena, &held, r->mask_held);
    pr_vec_push(run->arena, &held, r->offset_held);
    for (const pr_frame *f = r->frame; f; f = f->outer) {
        pr_vec_push(run->arena, &held, f->kind == PR_FRAME_COND ? f->held : f->bounds_held);
        if (f->kind == PR_FRAME_LOOP) pr_vec_push(run->arena, &held, f->increment_held);
    }
    for (int i = 0; i < held.n; i++) {
        if (pr_term_none(held.data[i])) continue;
        pr_term t = pr_subst_apply((pr_subst *)&s->subst, held.data[i]);
        t = pr_term_none(t) ? t : pr_encode_simplify(e, t);
        if (!pr_term_none(t) && !pr_term_is(t, PR_TERM_TRUE)) pr_vec_push(run->arena, conj, t);
    }
}

typedef struct stray { pr_run *run; pr_encoding *e; } stray;

static bool stray_one(void *user, const violation *v, pr_term held)
{
    stray *x = user;
    widths w = { .T = x->e->terms };
    if (v->side->refused) return true;      /* named already */
    if (pr_term_none(held)) {
        qualify_bounds(x->run, &x->run->R->records.data[v->record]);
        return true;
    }
    pr_term_visit_in(w.T, &held, 1, PR_OCCURS_FITS, note_width, &w);
    for (int bits = 1; bits < 192; bits++) {
        if (!(w.seen[bits >> 6] >> (bits & 63) & 1)) continue;
        pr_outcome o;
        bool free_values;
        if (ask(x->run, x->e, v, held, bits, false, &o, &free_values) == PR_ANSWER_EMPTY) continue;
        qualify_bounds(x->run, &x->run->R->records.data[v->record]);
        break;
    }
    return true;
}

/* A record whose pairs were all filtered meets nobody because it stays in its tensor, which it need not do
 * when its address wraps. */
static void check_strays(pr_run *run, pr_encoding *launch)
{
    bool *rest = relevant(run);
    for (int i = 0; i < run->R->records.n; i++) {
        const pr_record *r = &run->R->records.data[i];
        rest[i] = !rest[i] && r->base >= 0 && run->L->args[r->base].tensor;
    }
    stray x = { run, launch };
    for_each_obligation(run, launch, rest, stray_one, &x);
}

/* An assumption of the text that speaks of program ids excludes the programs that break it; a launch that has such
 * programs is told so. */
void pr_assumptions_check(pr_run *run, pr_encoding *launch)
{
    pr_terms *T = launch->terms;
    const pr_records *R = run->R;
    for (int i = 0; i < launch->premises.n; i++) {
        pr_term_vec core = { 0 };
        pr_query q;
        pr_outcome o;
        bool program = false;
        pr_vec_push(run->arena, &core, pr_not(T, launch->premises.data[i]));
        for (int d = 0; d < 3; d++) {
            if (!launch->fixed[d]) return;
            program = program || pr_term_mentions(T, launch->premises.data[i], R->pid[d]);
            pr_vec_push(run->arena, &core, pr_lt(T, pr_var_term(T, R->pid[d]), pr_const(T, launch->extent[d])));
        }
        if (!program) continue;
        pr_encode_single(launch, core.data, core.n, &q);
        q.n_premises = 0;
        pr_encode_finish_vars(launch, &q);
        pr_decide(&run->d, &q, false, &o, NULL);
        if (o.answer != PR_ANSWER_WITNESS) continue;
        int64_t pid[3] = { 0 };
        for (int v = 0; v < q.n_vars; v++)
            for (int d = 0; d < 3; d++)
                if (q.vars[v].id == R->pid[d].id) pid[d] = (int64_t)o.point.value[v];
        pr_vec_push(run->arena, &run->out->notes,
                    pr_arena_printf(run->arena, "an assumption of the text does not hold in program (%" PRId64 ", %" PRId64 ", %" PRId64
                                    ") of this launch: what such programs do is not defined, and nothing is said of it",
                                    pid[0], pid[1], pid[2]));
        return;
    }
}

pr_status pr_bounds_check(pr_run *run, pr_encoding *launch)
{
    pr_terms *T = launch->terms;
    for (int i = 0; i < run->R->records.n; i++) {
        const pr_record *r = &run->R->records.data[i];
        if (r->base < 0 || !run->L->args[r->base].tensor) continue;
        if (pr_plain_inside(launch, i)) continue;
        const pr_tensor *t = run->L->args[r->base].tensor;
        const pr_side *s = pr_encoding_side(launch, i, PR_SIDE_A);
        pr_term_vec conj = { 0 };
        if (s->refused || pr_term_none(s->addr)) {
            qualify_bounds(run, r);
            continue;
        }
        pr_encode_existence(launch, s, r->frame, true, &conj);
        /* Inside with its first byte only: pairs with other tensors, where the rest may lie, were never asked. */
        pr_term outside = pr_or(T, pr_lt(T, s->addr, pr_const(T, t->storage_lo)),
                                pr_lt(T, pr_const(T, t->storage_hi - r->width), s->addr));
        outside = pr_term_none(outside) ? outside : pr_encode_simplify(launch, outside);
        bool never = pr_term_is(outside, PR_TERM_FALSE);
        for (int j = 0; j < conj.n; j++) never = never || pr_term_is(conj.data[j], PR_TERM_FALSE);
        if (never) continue;
        pr_outcome o = { .answer = PR_ANSWER_UNKNOWN };
        pr_query q;
        if (!pr_term_none(outside)) {
            pr_vec_push(run->arena, &conj, outside);
            pr_encode_single(launch, conj.data, conj.n, &q);
            pr_decide(&run->d, &q, false, &o, NULL);   /* undecided is a qualifier: not worth the last resort */
            ask_with_atomics(run, launch, s, &conj, false, &o);
        }
        if (o.answer == PR_ANSWER_EMPTY) continue;
        qualify_bounds(run, r);
        if (o.answer != PR_ANSWER_WITNESS || s->uncertain || s->unknown_address) continue;
        int n = conj.n;     /* where an operation wraps the address is another one: named, but not shown */
        push_held(run, launch, s, r, &conj);
        for (int j = n; j < conj.n; j++) never = never || pr_term_is(conj.data[j], PR_TERM_FALSE);
        if (never) continue;
        if (conj.n > n) {
            pr_encode_single(launch, conj.data, conj.n, &q);
            pr_decide(&run->d, &q, false, &o, NULL);
            if (o.answer != PR_ANSWER_WITNESS) continue;
        }
        pr_out_of_bounds found = { .confirmed = false };
        pr_witness_access_at(run, launch, s, &q, &o.point, &found.access);
        if (run->confirm && run->confirm->access) {
            pr_status st = run->confirm->access(run->confirm->user, run->R, run->L, run->L->grid, &found.access,
                                                &found.confirmed, run->err);
            if (st != PR_OK) return st;
        }
        if (found.confirmed) pr_vec_push(run->arena, &run->out->out_of_bounds, found);
    }
    check_strays(run, launch);
    return PR_OK;
}
