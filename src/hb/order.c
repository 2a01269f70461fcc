/* What orders two executions of one program, and what atomics might order.
 *
 * O2: an execution's epoch is the number of global barriers its program executed before it. The epoch
 * of record r is the sum over barriers f of N_f(r) (happens-before.md 4.7): how often f ran before r.
 * It is a term over r's iteration variables where that is exact; otherwise the record's epoch is fresh
 * (unknown) and only the static form is used. O3: positional dependency at one lane and one iteration of
 * the common loops. Source order orders nothing (1.4). */
#include "hb/order.h"
#include <assert.h>

enum { MOST_BETWEEN = 3 };             /* accesses between two ends of a dependency, where their masks matter */

typedef struct epoch { bool exact; pr_term count; } epoch;

static int chain(const pr_frame *f, const pr_frame **out, int cap)
{
    int n = 0, i;
    for (const pr_frame *g = f; g; g = g->outer) n++;
    if (n > cap) return -1;
    i = n;
    for (const pr_frame *g = f; g; g = g->outer) out[--i] = g;
    return n;
}

/* Constant trip count of a loop at this rung, -1 when it is not constant or varies. */
static pr_i128 trip_of(pr_side *s, const pr_frame *f)
{
    pr_terms *T = s->subst.T;
    pr_i128 lo, hi, step;
    if (!pr_term_const(T, pr_subst_apply(&s->subst, f->lower), &lo)) return -1;
    if (!pr_term_const(T, pr_subst_apply(&s->subst, f->upper), &hi)) return -1;
    if (!pr_term_const(T, pr_subst_apply(&s->subst, f->step), &step) || step <= 0) return -1;
    return hi <= lo ? 0 : (hi - lo + step - 1) / step;
}

/* Trip count max(0, ceil((upper - lower) / step)) as a term, NONE when the step is not a constant. */
static pr_term trip_term(pr_side *s, const pr_frame *f)
{
    pr_terms *T = s->subst.T;
    pr_i128 step;
    if (!pr_term_const(T, pr_subst_apply(&s->subst, f->step), &step) || step <= 0) return PR_TERM_NONE;
    pr_term span = pr_sub(T, pr_subst_apply(&s->subst, f->upper), pr_subst_apply(&s->subst, f->lower));
    pr_term count = pr_fdiv_t(T, pr_add(T, span, pr_const(T, step - 1)), pr_const(T, step));
    return pr_max(T, count, PR_TERM_ZERO);
}

/* Is t one value in both copies of an intra query? Values that the side knows (contents) count as known. */
static bool is_fixed(const pr_side *s, pr_term t)
{
    pr_term here = pr_subst_apply((pr_subst *)&s->subst, t);
    const unsigned varies = PR_OCCURS_APP | PR_OCCURS(PR_ROLE_ITER) | PR_OCCURS(PR_ROLE_LANE) | PR_OCCURS(PR_ROLE_OTHER) | PR_OCCURS(PR_ROLE_FREE);
    return !pr_term_none(here) && !(pr_term_occurs(s->subst.T, here) & varies);
}

static bool unknown(const pr_terms *T, pr_term t) { return pr_term_occurs(T, t) & (PR_OCCURS_APP | PR_OCCURS(PR_ROLE_FREE)); }

/* The result of an atomic that runs once a program is one value for all its threads (G6): a branch on it is uniform. */
static bool not_uniform(void *user, const pr_terms *T, pr_term t)
{
    if (pr_term_op_of(T, t) != PR_TERM_OP_APP) return false;
    return pr_term_arity(T, t) || pr_sym_get(T, pr_term_sym(T, t))->kind != PR_SYM_OBSERVED;
}

static bool frame_in(const pr_frame *inner, const pr_frame *f);
/* A barrier under a condition that is not modelled orders nothing (happens-before.md 1.5, 4.7). */
static bool fence_modelled(const pr_side *s, const pr_fence *f)
{
    for (const pr_frame *g = f->frame; g; g = g->outer) {
        if (g->kind != PR_FRAME_COND) continue;
        if (g->turn && frame_in(s->record->frame, g)) continue;    /* the record's own turn: the loop went on for all threads */
        pr_term here = pr_subst_apply((pr_subst *)&s->subst, g->cond);
        if (pr_term_none(here) || unknown(s->subst.T, here)) return false;
    }
    return !f->opaque_context;
}

/* N_f(r) as a term of r's copy; false when it is not exact. */
static bool count_fence(pr_encoding *e, pr_side *s, const pr_fence *f, pr_term *out)
{
    enum { CAP = 256 };
    pr_terms *T = e->terms;
    const pr_frame *own[CAP], *bar[CAP];
    int n_own = chain(s->record->frame, own, CAP), n_bar = chain(f->frame, bar, CAP), common = 0;
    if (n_own < 0 || n_bar < 0 || !fence_modelled(s, f)) return false;
    while (common < n_own && common < n_bar && own[common] == bar[common]) common++;
    /* loops both stand in, outermost first; a branch below one of them makes past counts vary */
    int loops[CAP], n_loops = 0, seen_loops = 0;
    bool branch_below_loop = false;
    for (int i = 0; i < common; i++) {
        if (own[i]->kind == PR_FRAME_LOOP) loops[n_loops++] = i;
        else if (n_loops && !own[i]->turn) branch_below_loop = true;   /* (a turn's condition held in all turns before) */
    }
    bool before = f->seq < s->record->seq;
    if (n_loops == 0 && !before) {
        *out = PR_TERM_ZERO;
        return true;
    }
    if (branch_below_loop) return false;
    pr_term once = pr_const(T, 1);   /* executions of f per common iteration */
    for (int i = common; i < n_bar; i++) {
        if (bar[i]->kind == PR_FRAME_COND) {
#ifdef PR_FAULTS
            if (e->options->fault == 14) continue; /* a conditional barrier taken for an unconditional one */
#endif
            if (!is_fixed(s, bar[i]->cond)) return false;
            pr_term c = pr_subst_apply(&s->subst, bar[i]->cond);
            once = pr_select(T, c, once, PR_TERM_ZERO);
            continue;
        }
        pr_i128 trip = trip_of(s, bar[i]);
        if (trip >= 0) {
            once = pr_scale(T, once, trip);
            continue;
        }
        /* A loop over before the record starts: its trip count is a term over parameters and pids, equal in
         * the two copies of an intra query. */
        if (n_loops || !is_fixed(s, bar[i]->lower) || !is_fixed(s, bar[i]->upper)) return false;
        pr_term count = trip_term(s, bar[i]);
        if (pr_term_none(count)) return false;
        once = pr_mul(T, once, count);
    }
    pr_term past = PR_TERM_ZERO, inner = pr_const(T, 1);
    for (int j = n_loops - 1; j >= 0; j--) {
        /* iteration variable of loop j in this copy */
        for (seen_loops = 0; seen_loops < s->n_loops && s->loop[seen_loops] != own[loops[j]];) seen_loops++;
        if (seen_loops == s->n_loops) return false;
        past = pr_add(T, past, pr_mul(T, s->iter[seen_loops], inner));
        if (j == 0) break;           /* the outermost loop's own trip count does not occur */
        pr_i128 trip = trip_of(s, own[loops[j]]);
        if (trip < 0) return false;
        inner = pr_scale(T, inner, trip);
    }
    if (before) past = pr_add(T, past, pr_const(T, 1));
    *out = pr_mul(T, once, past);
    return !pr_term_none(*out);
}

/* Counted once a side: a kernel of many barriers has many pairs. */
static epoch epoch_of(pr_encoding *e, pr_side *side)
{
    if (side->epoch_done) return (epoch){ side->epoch_exact, side->epoch };
    side->epoch_done = true;
    PR_VEC(pr_term) counts = { 0 };
    PR_VEC(pr_i128) ones = { 0 };
    for (int i = 0; i < e->records->fences.n; i++) {
        pr_term n;
        if (!count_fence(e, side, &e->records->fences.data[i], &n)) return (epoch){ false, PR_TERM_NONE };
        pr_vec_push(e->arena, &counts, n);
        pr_vec_push(e->arena, &ones, 1);
    }
    side->epoch = pr_sum(e->terms, counts.data, ones.data, counts.n, 0);
    side->epoch_exact = !pr_term_none(side->epoch);
    return (epoch){ side->epoch_exact, side->epoch };
}

static bool barrier_between(const pr_encoding *e, const pr_record *x, const pr_record *y);
static bool frame_in(const pr_frame *inner, const pr_frame *f)
{
    if (!f) return true;
    for (; inner; inner = inner->outer)
        if (inner == f) return true;
    return false;
}

/* "some common loop index differs" of the loops above and including frame f (null: none). */
static pr_term indices_differ(pr_encoding *e, const pr_side *a, const pr_side *b)
{
    pr_term differ = PR_TERM_FALSE;
    for (int i = 0; i < a->n_loops; i++)
        for (int j = 0; j < b->n_loops; j++)
            if (a->loop[i] == b->loop[j])
                differ = pr_or(e->terms, differ, pr_ne(e->terms, a->iter[i], b->iter[j]));
    return differ;
}

static bool named_scalar_strict(const pr_record *a) { return a->reaches_path || a->reaches_mask || a->reaches_other_shape; }

static int64_t lanes_of(const pr_record *r)
{
    int64_t n = 1;
    for (int d = 0; d < r->rank; d++) n *= r->shape[d];
    return n;
}

/* Without a launch the number of warps is open: no tile is then known to have an element for each thread. */
static int64_t warps(const pr_encoding *e) { return e->launch && e->launch->num_warps > 0 ? e->launch->num_warps : INT32_MAX; }

bool pr_order_is_replicated(const pr_encoding *e, const pr_record *load)
{
    bool only_positional = !load->reaches_path && !load->reaches_other_shape && !load->reaches_mask;
    return !(only_positional || lanes_of(load) >= warps(e) * 32);
}

/* Is one lane of r one thread's? Where only values that are not modelled could name its lanes, that is not known: no order for a proof, and no
 * race is certain without it (assume_waits). */
static bool anchored(pr_encoding *e, const pr_record *r)
{
    if (r->has_position || !r->may_have_position) return r->has_position;
    e->maybe_waits = true;
    return e->assume_waits;
}

/* Does an execution of y wait for x at its lane and iteration? y may be an access in the middle of a chain, whose own lanes need no
 * position: values go through it lane by lane (happens-before.md 1.5). */
static bool feeds(pr_encoding *e, const pr_record *x, const pr_record *y)
{
    bool found = false;
    for (int i = 0; i < y->n_dep_closure && !found; i++) found = y->dep_closure[i] == x->id;
    if (!found || x->via_desc || y->via_desc || !anchored(e, x)) return false;
    bool replicated_load = x->kind == PR_RECORD_LOAD;
    if (replicated_load && lanes_of(x) == 1 && named_scalar_strict(x)) return false;
    if (replicated_load && e->options->dep_strict && pr_order_is_replicated(e, x)) return false;
    return true;
}

/* Does O3 put x before y at one lane and iteration? */
static bool depends(pr_encoding *e, const pr_record *x, const pr_record *y) { return feeds(e, x, y) && anchored(e, y); }

static int loop_at(const pr_side *s, const pr_frame *f)
{
    for (int k = 0; k < s->n_loops; k++)
        if (s->loop[k] == f) return k;
    return -1;
}

/* Does the way c lead from x, of copy a, to y, of copy b, or may it, where it is not followed? The loops that both stand in and c does not speak of have one index. */
static pr_term way(pr_encoding *e, const pr_side *a, const pr_side *b, const pr_carried *c)
{
    pr_terms *T = e->terms;
    pr_subst *to = (pr_subst *)(c->kind == PR_CARRIED_FINAL ? &a->subst : &b->subst);
    int p = loop_at(a, c->loop), q = loop_at(b, c->loop);
    const pr_term one = pr_const(T, 1);
    pr_term t = PR_TERM_FALSE;
    switch (c->kind) {
    case PR_CARRIED_EARLIER: if (p >= 0 && q >= 0) t = pr_lt(T, a->iter[p], b->iter[q]); break;
    case PR_CARRIED_BEFORE: if (p >= 0 && q >= 0) t = pr_eq(T, pr_add(T, a->iter[p], one), b->iter[q]); break;
    case PR_CARRIED_FIRST: if (p < 0 && q >= 0) t = pr_eq(T, b->iter[q], PR_TERM_ZERO); break;
    case PR_CARRIED_FINAL:
        if (p >= 0 && q < 0) {
            pr_term next = pr_mul(T, pr_add(T, a->iter[p], one), pr_subst_apply(to, c->loop->step));
            t = pr_le(T, pr_subst_apply(to, c->loop->upper), pr_add(T, pr_subst_apply(to, c->loop->lower), next));
        }
        break;
    case PR_CARRIED_WHEN: t = pr_subst_apply(to, c->when); break;
    case PR_CARRIED_PERHAPS: t = q < 0 ? PR_TERM_TRUE : p < 0 ? pr_lt(T, PR_TERM_ZERO, b->iter[q]) : pr_lt(T, a->iter[p], b->iter[q]); break;
    }
    for (int i = 0; i < a->n_loops; i++) {
        int j = loop_at(b, a->loop[i]);
        if (j < 0 || (c->loop && a->loop[i]->depth >= c->loop->depth)) continue;
        t = pr_and(T, t, pr_eq(T, a->iter[i], b->iter[j]));
    }
    return t;
}

/* When is y, an execution of copy b, made from what x, one of copy a at the same lane, read, through loops and branches?
 * *open when a way depends on a value that nobody knows. */
static pr_term handed_on(pr_encoding *e, const pr_side *a, const pr_side *b, bool *open)
{
    pr_terms *T = e->terms;
    const pr_record *x = a->record, *y = b->record;
    pr_term when = PR_TERM_FALSE;
    bool reads = x->kind != PR_RECORD_STORE && x->kind != PR_RECORD_ATOMIC_STORE;
    if (!reads || x->via_desc || y->via_desc) return when;
    if (x->kind == PR_RECORD_LOAD && ((lanes_of(x) == 1 && named_scalar_strict(x)) || (e->options->dep_strict && pr_order_is_replicated(e, x))))
        return when;
    for (int i = 0; i < y->n_carried; i++) {
        if (y->carried[i].access != x->access || !anchored(e, x) || !anchored(e, y)) continue;
        pr_term t = way(e, a, b, &y->carried[i]);
        bool known = !pr_term_none(t) && !(pr_term_occurs(T, t) & PR_OCCURS(PR_ROLE_FREE));
        bool followed = y->carried[i].kind == PR_CARRIED_WHEN || !pr_term_none(y->carried[i].when);
        if (known && pr_term_is(t, PR_TERM_FALSE)) continue;
        if (!known || !followed) *open = true;
        if (!known && e->assume_waits) when = PR_TERM_TRUE;
        else if (known && (followed || e->assume_waits)) when = pr_or(T, when, t);
    }
    for (int d = 0; d < x->rank; d++)
        if (x->shape[d] > 1) when = pr_and(T, when, pr_eq(T, a->lane[d], b->lane[d]));
    return when;
}

/* When does y, an execution of copy s, wait for x at its lane and iteration through accesses whose masks need not hold wherever
 * y runs (the closure of build.c holds those that run with it)? A disjunction over the accesses between. */
static pr_term waits_through(pr_encoding *e, const pr_record *x, const pr_record *y, const pr_side *s, int depth)
{
    pr_terms *T = e->terms;
    pr_term when = PR_TERM_FALSE;
    if (depth == 0 || x->via_desc || !(x->has_position || x->may_have_position)) return when;
    if (x->kind == PR_RECORD_LOAD && ((lanes_of(x) == 1 && named_scalar_strict(x)) || (e->options->dep_strict && pr_order_is_replicated(e, x))))
        return when;
    for (int i = 0; i < y->n_dep_closure; i++) {
        const pr_record *m = &e->records->records.data[y->dep_closure[i]];
        if (m->refused.kind || m->via_desc || !pr_record_same_lanes(m, y) || !frame_in(y->frame, m->frame)) continue;
        if (m->kind == PR_RECORD_LOAD && ((lanes_of(m) == 1 && named_scalar_strict(m)) || (e->options->dep_strict && pr_order_is_replicated(e, m))))
            continue;
        pr_term mask = pr_subst_apply((pr_subst *)&s->subst, m->mask);
        if (pr_term_none(mask)) continue;
        bool waited = e->maybe_waits;
        pr_term before = feeds(e, x, m) ? PR_TERM_TRUE : waits_through(e, x, m, s, depth - 1);
        if (m->uncertain && unknown(T, mask)) {
            e->maybe_waits = waited || !pr_term_is(before, PR_TERM_FALSE);
            mask = e->assume_waits ? PR_TERM_TRUE : PR_TERM_FALSE;
        }
        mask = pr_and(T, mask, before);
        when = pr_or(T, when, mask);
    }
    return when;
}

bool pr_order_unordered(pr_encoding *e, const pr_side *a, const pr_side *b, bool without_o3,
                        pr_term_vec *core, bool *never, bool *used_o3)
{
    bool exact = true;
    pr_terms *T = e->terms;
    const pr_record *x = a->record, *y = b->record;
    if (e->options->source_order) {
        if (x != y) *never = true;
        for (int i = 0; i < a->n_loops; i++)
            pr_vec_push(e->arena, core, pr_eq(T, a->iter[i], b->iter[i]));
        return true;
    }
    if (!x->via_desc && !y->via_desc && e->records->fences.n) {
        epoch ea = epoch_of(e, (pr_side *)a), eb = epoch_of(e, (pr_side *)b);
        bool once = pr_order_outside_loops(x) || pr_order_outside_loops(y);
        if (once && x != y && (barrier_between(e, x, y) || barrier_between(e, y, x))) {
            *never = true;
        } else if (ea.exact && eb.exact) {
            pr_term same = pr_encode_simplify(e, pr_eq(T, ea.count, eb.count));
            if (pr_term_is(same, PR_TERM_FALSE)) *never = true;
            else if (!pr_term_is(same, PR_TERM_TRUE)) pr_vec_push(e->arena, core, same);
        } else {
            exact = false;
            int lo = x->seq < y->seq ? x->seq : y->seq, hi = x->seq < y->seq ? y->seq : x->seq;
            for (int i = 0; i < e->records->fences.n; i++) {
                const pr_fence *f = &e->records->fences.data[i];
                if (!fence_modelled(a, f) || f->seq <= lo || f->seq >= hi) continue;
                if (!frame_in(x->frame, f->frame) || !frame_in(y->frame, f->frame)) continue;
                pr_term differ = indices_differ(e, a, b);
                if (pr_term_is(differ, PR_TERM_FALSE)) *never = true;
                else pr_vec_push(e->arena, core, differ);
                break;
            }
        }
    }
    e->maybe_waits = false;
    if (x != y && !without_o3 && (depends(e, x, y) || depends(e, y, x))) {
        pr_term differ = indices_differ(e, a, b);
        for (int d = 0; d < x->rank; d++)
            if (x->shape[d] > 1) differ = pr_or(T, differ, pr_ne(T, a->lane[d], b->lane[d]));
        *used_o3 = true;
        if (pr_term_is(differ, PR_TERM_FALSE)) *never = true;
        else pr_vec_push(e->arena, core, differ);
    } else if (x != y && !without_o3 && pr_record_same_lanes(x, y)) {
        pr_term when = pr_or(T, y->has_position ? waits_through(e, x, y, b, MOST_BETWEEN) : PR_TERM_FALSE,
                             x->has_position ? waits_through(e, y, x, a, MOST_BETWEEN) : PR_TERM_FALSE);
        when = pr_encode_simplify(e, when);
        if (!pr_term_is(when, PR_TERM_FALSE)) {
            pr_term differ = indices_differ(e, a, b);
            for (int d = 0; d < x->rank; d++)
                if (x->shape[d] > 1) differ = pr_or(T, differ, pr_ne(T, a->lane[d], b->lane[d]));
            differ = pr_encode_simplify(e, pr_or(T, differ, pr_not(T, when)));
            *used_o3 = true;
            if (pr_term_is(differ, PR_TERM_FALSE)) *never = true;
            else if (!pr_term_is(differ, PR_TERM_TRUE)) pr_vec_push(e->arena, core, differ);
        }
    }
    if (x != y && !without_o3 && pr_record_same_lanes(x, y) && (x->n_carried || y->n_carried)) {
        bool open = false;
        pr_term forth = handed_on(e, a, b, &open), back = handed_on(e, b, a, &open);
        pr_term apart = pr_encode_simplify(e, pr_not(T, pr_or(T, forth, back)));
        if (open) e->maybe_waits = true;
        if (!pr_term_none(apart) && !pr_term_is(apart, PR_TERM_TRUE)) {
            *used_o3 = true;
            if (pr_term_is(apart, PR_TERM_FALSE)) *never = true;
            else pr_vec_push(e->arena, core, apart);
        }
    }
    return exact && (e->assume_waits || !e->maybe_waits);
}

/* ---- could atomics order the pair? ---------------------------------------------------------- */

static bool is_atomic(const pr_record *r) { return r->kind >= PR_RECORD_RMW; }
bool pr_record_releases(const pr_record *r)
{
    return is_atomic(r) && r->scope != PR_SCOPE_CTA && r->scope != PR_SCOPE_NONE && (r->sem == PR_SEM_RELEASE || r->sem == PR_SEM_ACQ_REL) &&
           r->kind != PR_RECORD_POLL && r->kind != PR_RECORD_ATOMIC_LOAD && !r->via_desc;
}
bool pr_record_acquires(const pr_record *r)
{
    return is_atomic(r) && r->scope != PR_SCOPE_CTA && r->scope != PR_SCOPE_NONE && (r->sem == PR_SEM_ACQUIRE || r->sem == PR_SEM_ACQ_REL) &&
           r->kind != PR_RECORD_ATOMIC_STORE && !r->via_desc;
}

/* A barrier that one of the two executions of a program, x and y, cannot run without: it stands between them in
 * the walk and under frames that one of them stands under. One of the two is outside all loops, so every
 * execution of x lies before it and every execution of y behind it (happens-before.md 4.7, path-implied). */
static bool barrier_between(const pr_encoding *e, const pr_record *x, const pr_record *y)
{
    for (int i = 0; i < e->records->fences.n; i++) {
        const pr_fence *f = &e->records->fences.data[i];
        bool uniform = !f->opaque_context;
        for (const pr_frame *g = f->frame; g && uniform; g = g->outer)
            if (g->kind == PR_FRAME_COND && !(g->turn && (frame_in(x->frame, g) || frame_in(y->frame, g))) &&
                pr_term_any_in(e->terms, g->cond, PR_OCCURS_APP, not_uniform, NULL)) uniform = false;
        if (!uniform || f->seq <= x->seq || f->seq >= y->seq) continue;
        if (frame_in(x->frame, f->frame) || frame_in(y->frame, f->frame)) return true;
    }
    return false;
}

bool pr_order_outside_loops(const pr_record *r)
{
    for (const pr_frame *f = r->frame; f; f = f->outer)
        if (f->kind == PR_FRAME_LOOP) return false;
    return true;
}

/* Found by scripts/atomic_order.py; a release or target that is not listed is taken to place none. */
static const struct { const char *triton, *target; unsigned places; } found_barriers[] = {
    { "3.6.", "cuda:", PR_CTA_POST_USED }, { "3.8.", "cuda:", PR_CTA_POST_USED }, { "3.9.", "cuda:", PR_CTA_PRE | PR_CTA_POST },
    { "3.9.", "hip:gfx942", PR_CTA_PRE | PR_CTA_POST }, { "3.9.", "hip:gfx1100", PR_CTA_PRE | PR_CTA_POST },
};

unsigned pr_order_cta(const pr_encoding *e)
{
    if (e->options->atomic_order == PR_ATOMIC_ORDER_CTA) return PR_CTA_PRE | PR_CTA_POST;
    if (e->options->atomic_order == PR_ATOMIC_ORDER_STRICT || !e->launch) return 0;
    for (size_t i = 0; i < PR_LEN(found_barriers); i++)
        if (pr_str_starts(e->launch->triton, found_barriers[i].triton) && pr_str_starts(e->launch->target, found_barriers[i].target))
            return found_barriers[i].places;
    return 0;
}

bool pr_order_barrier_before(const pr_encoding *e, const pr_record *r)
{
    return (pr_order_cta(e) & PR_CTA_PRE) && lanes_of(r) == 1 && pr_record_releases(r);
}

bool pr_order_barrier_behind(const pr_encoding *e, const pr_record *r)
{
    unsigned o4 = pr_order_cta(e);
    bool used = r->reaches_path || r->reaches_mask || r->is_await;
    return ((o4 & PR_CTA_POST) || ((o4 & PR_CTA_POST_USED) && used)) && lanes_of(r) == 1 && pr_record_acquires(r);
}

pr_term pr_order_before(pr_encoding *e, const pr_side *a, const pr_side *b)
{
    const pr_record *x = a->record, *y = b->record;
    if (x->via_desc || y->via_desc) return PR_TERM_FALSE;
    if (!pr_order_outside_loops(x) && !pr_order_outside_loops(y)) return PR_TERM_FALSE;
    if (x == y) return lanes_of(x) == 1 ? PR_TERM_TRUE : PR_TERM_FALSE;
    if (x->seq < y->seq && barrier_between(e, x, y)) return PR_TERM_TRUE;
    bool before = pr_order_barrier_before(e, y) && pr_order_outside_loops(y), behind = pr_order_barrier_behind(e, x) && pr_order_outside_loops(x);
    if (x->seq < y->seq && (before || behind)) {
        e->used_o4 = true;
        return PR_TERM_TRUE;
    }
    if (!e->records->fences.n) return PR_TERM_FALSE;
    epoch ea = epoch_of(e, (pr_side *)a), eb = epoch_of(e, (pr_side *)b);
    if (!ea.exact || !eb.exact) return PR_TERM_FALSE;
    return pr_encode_simplify(e, pr_lt(e->terms, ea.count, eb.count));
}

/* A barrier of barrier_between runs, in each iteration of the loops that x and y share, behind every execution of x there and
 * before every execution of y there; so does one that the compiler puts beside the atomic itself (O4). */
pr_term pr_order_before_here(pr_encoding *e, const pr_side *a, const pr_side *b)
{
    const pr_record *x = a->record, *y = b->record;
    if (x->via_desc || y->via_desc || x->seq >= y->seq) return PR_TERM_FALSE;
    if (barrier_between(e, x, y)) return PR_TERM_TRUE;
    if (!pr_order_barrier_before(e, y) && !pr_order_barrier_behind(e, x)) return PR_TERM_FALSE;
    e->used_o4 = true;
    return PR_TERM_TRUE;
}

static const pr_frame *outermost_common_loop(const pr_record *a, const pr_record *b)
{
    const pr_frame *found = NULL;
    for (const pr_frame *f = a->frame; f; f = f->outer)
        if (f->kind == PR_FRAME_LOOP && frame_in(b->frame, f)) found = f;
    return found;
}

/* May some execution of x be ordered before some execution of y of the same program? Over-approximate:
 * any barrier between them in text or in a common loop, any dependency, the operation itself, and
 * compiler-inserted barriers around scalar atomics where those are switched on. */
static bool leg(const pr_encoding *e, const pr_record *x, const pr_record *y, bool atomic_side_x)
{
    if (x->id == y->id) return true;
    const pr_frame *loop = outermost_common_loop(x, y);
    if (x->seq > y->seq && !loop) return false;
    for (int i = 0; i < e->records->fences.n; i++) {
        const pr_fence *f = &e->records->fences.data[i];
        if (loop && frame_in(f->frame, loop)) return true;
        if (f->seq > x->seq && f->seq < y->seq) return true;
    }
    for (int i = 0; i < y->n_dep_closure; i++)
        if (y->dep_closure[i] == x->id) return true;
    for (int i = 0; i < y->n_deps; i++)
        if (y->deps[i] == x->access) return true;
    for (int i = 0; i < y->n_carried; i++)
        if (y->carried[i].access == x->access) return true;
    for (int i = 0; i < y->n_control_deps && lanes_of(y) == 1; i++)
        if (y->control_deps[i] == x->access) return true;
    const pr_record *atomic = atomic_side_x ? x : y;
    return pr_order_cta(e) && lanes_of(atomic) == 1;
}

static bool may_touch(const pr_encoding *e, const pr_record *a, const pr_record *b)
{
    return a->base < 0 || b->base < 0 || e->component[a->base] == e->component[b->base];
}

bool pr_order_maybe_synchronised(pr_encoding *e, int a, int b, bool intra, int *w, int *r)
{
    const pr_records *R = e->records;
    const pr_record *x = &R->records.data[a], *y = &R->records.data[b];
    if (intra) {
        /* inside one program atomics order other threads only through O4, when it is switched on */
        if (!pr_order_cta(e)) return false;
        for (int i = 0; i < R->records.n; i++) {
            const pr_record *m = &R->records.data[i];
            if ((pr_record_releases(m) || pr_record_acquires(m)) && lanes_of(m) == 1) {
                *w = *r = i;
                return true;
            }
        }
        return false;
    }
    for (int i = 0; i < R->records.n; i++) {
        if (!pr_record_releases(&R->records.data[i])) continue;
        for (int j = 0; j < R->records.n; j++) {
            const pr_record *u = &R->records.data[i], *v = &R->records.data[j];
            if (!pr_record_acquires(v) || !may_touch(e, u, v)) continue;
            *w = i;
            *r = j;
            if (leg(e, x, u, false) && leg(e, v, y, true)) return true;
            if (leg(e, y, u, false) && leg(e, v, x, true)) return true;
        }
    }
    return false;
}
