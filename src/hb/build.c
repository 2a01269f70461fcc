/* Raw accesses -> finished records: lane positions, over-approximation flags, dependency closure.
 *
 * happens-before.md 1.5, 1.6, 2.2. Nothing here decides anything; every flag is the weaker reading
 * when in doubt (no position, uncertain, no closure); a weaker reading that could make a race is marked (may_have_position). */
#include "hb/check.h"
#include <assert.h>

typedef struct named {
    unsigned dims, perhaps;        /* perhaps: of the lanes that unmodelled values list                      */
    bool app, app_other;           /* some unmodelled value; one that is not from a load                */
    const unsigned char *bounds;   /* by term: values that are bounds of a loop around the access        */
    uint32_t n_bounds;
} named;

/* The one load that a symbol stands for, its own names already known: it stands before the record `at`. */
static const pr_record *load_of(const pr_records *R, const pr_sym_info *s, const pr_record *at)
{
    const pr_record *found = NULL;
    for (int i = 0; i < R->records.n && s->kind == PR_SYM_LOADED; i++) {
        const pr_record *r = &R->records.data[i];
        if (r->access != s->access) continue;
        if (found || r->kind != PR_RECORD_LOAD || r->via_desc || r->refused.kind || r->id >= at->id) return NULL;
        found = r;
    }
    return found;
}

/* Lanes that t names. What a load read is named by the lanes that the load's own address, mask or path names; the arguments of
 * another unmodelled value name nothing for certain. */
static void note_names(const pr_records *R, const pr_record *at, pr_term t, pr_arena *arena, named *n)
{
    pr_terms *T = R->terms;
    if (pr_term_none(t)) {
        n->app = n->app_other = true;
        return;
    }
    if (!(pr_term_occurs(T, t) & PR_OCCURS_APP)) {
        n->dims |= pr_term_lanes(T, t);
        return;
    }
    PR_VEC(pr_term) stack = { 0 };
    uint32_t count = pr_terms_count(T);
    unsigned char *seen = PR_NEW_N(arena, unsigned char, count);
    pr_vec_push(arena, &stack, t);
    while (stack.n) {
        pr_term x = stack.data[--stack.n];
        if (seen[x.id]) continue;
        seen[x.id] = 1;
        pr_term_op op = pr_term_op_of(T, x);
        if (op == PR_TERM_OP_APP) {
            const pr_sym_info *s = pr_sym_get(T, pr_term_sym(T, x));
            if (x.id < n->n_bounds && n->bounds[x.id]) continue;
            n->app = true;
            if (!s->from_memory || s->from_atomic) n->app_other = true;
            const pr_record *load = load_of(R, s, at);
            int arity = pr_term_arity(T, x);
            for (int i = 0; i < arity; i++) {
                pr_term arg = pr_term_child(T, x, i);
                int d = load ? i - (arity - load->rank) : -1;
                if (load && d >= 0 && (load->named >> d & 1)) pr_vec_push(arena, &stack, arg);
                if (pr_term_op_of(T, arg) == PR_TERM_OP_VAR && pr_var_get(T, pr_term_var(T, arg))->role == PR_ROLE_LANE)
                    n->perhaps |= 1u << pr_var_get(T, pr_term_var(T, arg))->index;
            }
            continue;
        }
        if (op == PR_TERM_OP_VAR) {
            const pr_var_info *v = pr_var_get(T, pr_term_var(T, x));
            if (v->role == PR_ROLE_LANE) n->dims |= 1u << v->index;
            continue;
        }
        for (int i = 0; i < pr_term_arity(T, x); i++) pr_vec_push(arena, &stack, pr_term_child(T, x, i));
    }
}

typedef struct bounds { const pr_terms *T; unsigned char *is_bound; } bounds;
static void note_bound(void *user, pr_term t)
{
    bounds *b = user;
    if (pr_term_op_of(b->T, t) == PR_TERM_OP_APP) b->is_bound[t.id] = 1;
}

static void set_flags(pr_records *R, pr_record *r, pr_arena *scratch)
{
    pr_terms *T = R->terms;
    pr_arena_pos pos = pr_arena_mark(scratch);
    bounds b = { T, NULL };
    uint32_t count = 0;
    for (const pr_frame *f = r->frame; f; f = f->outer) {
        if (f->kind != PR_FRAME_LOOP || !((pr_term_occurs(T, f->lower) | pr_term_occurs(T, f->upper)) & PR_OCCURS_APP)) continue;
        if (!count) b.is_bound = PR_NEW_N(scratch, unsigned char, count = pr_terms_count(T));
        pr_term_visit_in(T, (const pr_term[]){ f->lower, f->upper }, 2, PR_OCCURS_APP, note_bound, &b);
    }
    named address = { .bounds = b.is_bound, .n_bounds = count }, mask = address, path = address, bound = { 0 };
    if (!pr_term_none(r->offset)) note_names(R, r, r->offset, scratch, &address);
    note_names(R, r, r->mask, scratch, &mask);
    for (const pr_frame *f = r->frame; f; f = f->outer) {
        if (f->kind == PR_FRAME_COND) {
            note_names(R, r, f->cond, scratch, &path);
        } else {
            note_names(R, r, f->lower, scratch, &bound);
            note_names(R, r, f->upper, scratch, &bound);
            note_names(R, r, f->step, scratch, &bound);
        }
    }
    unsigned dims = address.dims | mask.dims | path.dims | bound.dims;
    unsigned perhaps = dims | address.perhaps | mask.perhaps | path.perhaps | bound.perhaps;
    r->named = dims;
    r->has_position = r->may_have_position = true;
    for (int d = 0; d < r->rank; d++) {
        if (r->shape[d] > 1 && !(dims >> d & 1)) r->has_position = false;
        if (r->shape[d] > 1 && !(perhaps >> d & 1)) r->may_have_position = false;
    }
    r->uncertain = mask.app || path.app || bound.app || r->after_wait;
    r->uncertain_bound_only = bound.app && !mask.app && !path.app && !bound.app_other && !r->after_wait;
    pr_arena_release(scratch, pos);
}

static bool frame_within(const pr_frame *inner, const pr_frame *outer)
{
    if (!outer) return true;
    for (; inner; inner = inner->outer)
        if (inner == outer) return true;
    return false;
}

bool pr_record_same_lanes(const pr_record *a, const pr_record *b)
{
    bool same = a->rank == b->rank, one = true;
    for (int d = 0; d < a->rank; d++) {
        same = same && d < b->rank && a->shape[d] == b->shape[d];
        one = one && a->shape[d] == 1;
    }
    for (int d = 0; d < b->rank; d++) one = one && b->shape[d] == 1;
    return same || one;
}

/* runs_with(m, b) of happens-before.md 1.5: m runs wherever b runs, in the same execution. */
static bool runs_with(pr_records *R, const pr_record *m, const pr_record *b, pr_arena *scratch)
{
    if (m->uncertain || m->refused.kind || !pr_record_same_lanes(m, b)) return false;
    if (!frame_within(b->frame, m->frame)) return false;
    pr_arena_pos pos = pr_arena_mark(scratch);
    pr_term_vec mine = { 0 }, other = { 0 };
    pr_conjuncts(R->terms, m->mask, &mine, scratch);
    pr_conjuncts(R->terms, b->mask, &other, scratch);
    for (const pr_frame *f = b->frame; f; f = f->outer)
        if (f->kind == PR_FRAME_COND) pr_conjuncts(R->terms, f->cond, &other, scratch);
    bool all = true;
    for (int i = 0; i < mine.n && all; i++) {
        bool found = false;
        for (int j = 0; j < other.n && !found; j++) found = mine.data[i].id == other.data[j].id;
        all = found;
    }
    pr_arena_release(scratch, pos);
    return all;
}

static bool reads(const pr_record *r) { return r->kind != PR_RECORD_STORE && r->kind != PR_RECORD_ATOMIC_STORE; }

/* dep*: breadth-first over direct dependencies; an intermediate counts only when it runs with the
 * dependent. Records of one access stand for one another only when there is a single one. */
static void close_deps(pr_records *R, pr_record *b, pr_arena *arena, pr_arena *scratch)
{
    int n = R->records.n;
    unsigned char *in = PR_NEW_N(arena, unsigned char, n);
    PR_VEC(int) out = { 0 };
    PR_VEC(int) work = { 0 };
    for (int i = 0; i < b->n_deps; i++)
        for (int j = 0; j < n; j++) {
            const pr_record *a = &R->records.data[j];
            if (a->access == b->deps[i] && a->id != b->id && !in[j] && reads(a) && pr_record_same_lanes(a, b)) {
                in[j] = 1;
                pr_vec_push(arena, &out, j);
                pr_vec_push(arena, &work, j);
            }
        }
    while (work.n) {
        const pr_record *m = &R->records.data[work.data[--work.n]];
        if (!runs_with(R, m, b, scratch)) continue;
        for (int i = 0; i < m->n_deps; i++)
            for (int j = 0; j < n; j++) {
                const pr_record *a = &R->records.data[j];
                if (a->access == m->deps[i] && a->id != b->id && !in[j] && reads(a) && pr_record_same_lanes(a, b)) {
                    in[j] = 1;
                    pr_vec_push(arena, &out, j);
                    pr_vec_push(arena, &work, j);
                }
            }
    }
    b->dep_closure = out.data;
    b->n_dep_closure = out.n;
}

/* Text order: the outermost call or operation first (happens-before.md 2.1). The walk visits blocks in
 * topological order, which may differ from the text. */
static int by_text(const pr_record *a, const pr_record *b)
{
    const pr_site *x = &a->site, *y = &b->site;
    for (int i = 0;; i++) {
        int u = i < x->n_calls ? x->calls[i] : x->op_id, v = i < y->n_calls ? y->calls[i] : y->op_id;
        if (u != v) return u < v ? -1 : 1;
        if (i >= x->n_calls || i >= y->n_calls) return 0;
    }
}

void pr_records_sort(pr_records *R)
{
    pr_record *r = R->records.data;
    for (int i = 1; i < R->records.n; i++) {
        pr_record x = r[i];
        int j = i;
        for (; j > 0 && by_text(&x, &r[j - 1]) < 0; j--) r[j] = r[j - 1];
        r[j] = x;
    }
    for (int i = 0; i < R->records.n; i++) r[i].id = i;
}

void pr_records_build(pr_records *R, pr_arena *arena)
{
    /* never a release in the terms' own arena: the store grows there while it is walked */
    pr_arena *scratch = pr_arena_new(0, pr_arena_oom(arena));
    pr_records_sort(R);
    for (int i = 0; i < R->records.n; i++) {
        assert(R->records.data[i].id == i);
        set_flags(R, &R->records.data[i], scratch);
    }
    for (int i = 0; i < R->records.n; i++) close_deps(R, &R->records.data[i], arena, scratch);
    pr_arena_free(scratch);
}
