/* Locks: sections between an awaited compare-and-swap 0 -> 1 and the write of 0 behind it (happens-before.md 8.5), also in loops.
 *
 * Shape: acquire and release are scalar, of device scope, at one address term, under the same frames (branches and loops), unmasked, and
 * every release is paired with one acquire before it, every acquire with one release. Whatever else writes the location leaves it as it
 * is; all its cells start with 0.
 *
 * Why. Take one cell. Its writes are a chain of read-modify-writes, and what one program does at it stands there in program order (G6). A
 * successful acquire reads 0 and leaves 1, a release leaves 0. Claim: in the chain acquires and releases alternate, each release by the
 * program of the acquire before it. For let a prefix be like that. After a release (or at the start) the cell holds 0: a release by R
 * would have more releases of R than acquires before it, though each is behind an acquire of its own in program order. After an acquire of P the
 * cell holds 1: no acquire succeeds, and a release by R other than P is impossible for the same reason. So what stands between an acquire and
 * its release in P is, for each section of Q at this cell, before Q's acquire or behind Q's release in happens-before, where a barrier parts it
 * from both: the later acquire reads from the release or from a chain of read-modify-writes behind it. A section whose release never comes is
 * the last one. */
#include "hb/sync.h"
#include "hb/ladder.h"
#include "hb/order.h"

enum { MOST_LOCKS = 16 };

static const pr_record *record(const pr_encoding *e, int i) { return &e->records->records.data[i]; }
static bool exactly(const pr_vset *s, pr_i128 v) { return !s->any && s->n == 1 && s->v[0] == v; }

static pr_vset operand(pr_encoding *e, int i, bool cmp)
{
    const pr_record *r = record(e, i);
    return pr_vset_of(e, pr_encoding_side(e, i, PR_SIDE_A), cmp ? r->cmp : r->value, r->value_held);
}

/* The exit of an await with its observation replaced by a constant: TRUE when it ends the wait. */
typedef struct fixed_obs { int access; pr_i128 v; } fixed_obs;
static pr_term fix_observation(void *user, pr_terms *T, pr_term app)
{
    fixed_obs *f = user;
    const pr_sym_info *s = pr_sym_get(T, pr_term_sym(T, app));
    return s->kind == PR_SYM_OBSERVED && s->access == f->access ? pr_const(T, f->v) : app;
}

static pr_term exit_at(pr_encoding *e, const pr_record *r, pr_i128 v)
{
    fixed_obs f = { r->access, v };
    pr_subst s = { .T = e->terms, .app = fix_observation, .user = &f };
    return pr_subst_apply(&s, r->exit_pred);
}

static bool usable(pr_encoding *e, int i)
{
    const pr_record *r = record(e, i);
    if (!pr_sync_scalar(r) || r->via_desc || !pr_sync_device(r) || r->is_pre_exit || r->refused.kind || r->base < 0) return false;
    const pr_side *s = pr_encoding_side(e, i, PR_SIDE_A);
    return !s->refused && !s->dead && pr_term_is(r->mask, PR_TERM_TRUE) && pr_sync_aligned(e, s);
}

static bool acquires_a_lock(pr_encoding *e, int i)
{
    const pr_record *r = record(e, i);
    if (!r->is_await || r->kind != PR_RECORD_CAS || !pr_record_acquires(r) || !usable(e, i) || pr_term_none(r->exit_pred)) return false;
    pr_vset cmp = operand(e, i, true), fresh = operand(e, i, false), init = pr_vset_initial(e, pr_encoding_side(e, i, PR_SIDE_A));
    return exactly(&cmp, 0) && exactly(&fresh, 1) && exactly(&init, 0) && pr_term_is(r->exit_held, PR_TERM_TRUE) &&
           pr_term_is(exit_at(e, r, 0), PR_TERM_TRUE) && pr_term_is(exit_at(e, r, 1), PR_TERM_FALSE);
}

static bool gives_back(pr_encoding *e, int i)
{
    const pr_record *r = record(e, i);
    if (!usable(e, i) || !pr_record_releases(r)) return false;
    pr_vset value = operand(e, i, false);
    bool back = r->kind == PR_RECORD_RMW && r->rmw_op == PR_RMW_XCHG;
    if (r->kind == PR_RECORD_CAS) {
        pr_vset held = operand(e, i, true);
        back = exactly(&held, 1);
    }
    return back && exactly(&value, 0);
}

/* The acquire that release b gives back: the last one before it that is not given back yet, -1 = none. */
static int partner(const pr_encoding *e, const pr_sync *y, const int *acquire, int n, int b)
{
    const pr_record *rel = record(e, b);
    int found = -1;
    for (int i = 0; i < n; i++) {
        const pr_record *acq = record(e, acquire[i]);
        bool taken = false;
        for (int k = 0; k < y->locks.n && e->options->fault != 59; k++) taken = taken || y->locks.data[k].acquire == acquire[i];
        if (taken || rel->base != acq->base || !pr_term_is(rel->offset, acq->offset) || rel->width != acq->width || rel->frame != acq->frame ||
            rel->seq <= acq->seq) continue;
        if (found < 0 || acq->seq > record(e, found)->seq) found = acquire[i];
    }
    return found;
}

static bool in_a_lock(const pr_sync *y, int i)
{
    for (int k = 0; k < y->locks.n; k++)
        if (y->locks.data[k].acquire == i || y->locks.data[k].release == i) return true;
    return false;
}

/* Nobody but acquires and releases of locks changes the location. */
static bool nobody_else(pr_encoding *e, const pr_sync *y, int acquire)
{
    pr_sync_event v = { .record = acquire, .in_loop = true };
    pr_sync_find_writers(e, &v, false);
    if (!v.closed) return false;
    for (int i = 0; i < v.n_writers && e->options->fault != 53; i++)
        if (!in_a_lock(y, v.writers[i]) && !pr_sync_identity(e, v.writers[i])) return false;
    return true;
}

void pr_sync_find_locks(pr_encoding *e, pr_sync *y)
{
    int acquire[MOST_LOCKS], n = 0, records = e->records->records.n;
    for (int i = 0; i < records && n < MOST_LOCKS; i++)
        if (acquires_a_lock(e, i)) acquire[n++] = i;
    if (!n || n == MOST_LOCKS) return;
    int *order = PR_NEW_N(e->arena, int, records + 1);          /* releases as they stand in text */
    int m = 0;
    for (int i = 0; i < records; i++) {
        if (!gives_back(e, i)) continue;
        int at = m++;
        while (at > 0 && record(e, order[at - 1])->seq > record(e, i)->seq) order[at] = order[at - 1], at--;
        order[at] = i;
    }
    for (int i = 0; i < m; i++) {
        int a = partner(e, y, acquire, n, order[i]);
        if (a >= 0) pr_vec_push(e->arena, &y->locks, ((pr_sync_lock){ a, order[i] }));
    }
    bool *stays = PR_NEW_N(e->arena, bool, y->locks.n + 1);
    for (bool less = true; less;) {
        int kept = 0;
        for (int k = 0; k < y->locks.n; k++) stays[k] = nobody_else(e, y, y->locks.data[k].acquire);
        for (int k = 0; k < y->locks.n; k++)
            if (stays[k]) y->locks.data[kept++] = y->locks.data[k];
        less = kept < y->locks.n;
        y->locks.n = kept;
    }
}

/* The cell of a lock in the iteration of `at`, an access of the same copy; NONE when the two share too few loops. */
static pr_term cell_at(pr_encoding *e, const pr_side *lock, const pr_side *at)
{
    pr_term *map = PR_NEW_N(e->arena, pr_term, pr_vars_count(e->terms));
    for (int k = 0; k < lock->n_loops; k++) {
        int m = 0;
        while (m < at->n_loops && at->loop[m] != lock->loop[k]) m++;
        if (m == at->n_loops) return PR_TERM_NONE;
        if (pr_term_op_of(e->terms, lock->iter[k]) == PR_TERM_OP_VAR) map[pr_term_var(e->terms, lock->iter[k]).id] = at->iter[m];
    }
    pr_subst to = { .T = e->terms, .var_map = map, .n_var_map = pr_vars_count(e->terms) };
    return pr_subst_apply(&to, lock->addr);
}

static pr_term happens(pr_encoding *e, const pr_side *s)
{
    pr_term t = s->dead ? PR_TERM_FALSE : PR_TERM_TRUE;
    for (int j = 0; j < s->active.n; j++) t = pr_and(e->terms, t, s->active.data[j]);
    return t;
}

/* Does x stand in the section? FALSE, or under which condition. */
static pr_term in_section(pr_encoding *e, const pr_side *acq, const pr_side *rel, const pr_side *x)
{
    pr_terms *T = e->terms;
    if (e->options->fault == 54) return PR_TERM_TRUE;
    if (!acq->n_loops) {
        pr_term legs = pr_and(T, pr_order_before(e, acq, x), pr_order_before(e, x, rel));
        if (pr_term_none(legs) || pr_term_is(legs, PR_TERM_FALSE)) return PR_TERM_FALSE;
        return pr_and(T, legs, pr_and(T, happens(e, acq), happens(e, rel)));
    }
    if (!pr_sync_within(x->record->frame, acq->record->frame)) return PR_TERM_FALSE;
    return pr_and(T, pr_order_before_here(e, acq, x), pr_order_before_here(e, x, rel));
}

pr_term pr_sync_same_lock(pr_encoding *e, const pr_sync *y, const pr_side *x, int copy_x, const pr_side *z, int copy_z)
{
    pr_terms *T = e->terms;
    pr_term any = PR_TERM_FALSE;
    for (int k = 0; k < y->locks.n; k++)
        for (int m = 0; m < y->locks.n; m++) {
            const pr_sync_lock *u = &y->locks.data[k], *v = &y->locks.data[m];
            const pr_record *p = record(e, u->acquire), *q = record(e, v->acquire);
            if (e->component[p->base] != e->component[q->base] || p->width != q->width) continue;
            const pr_side *a = pr_encoding_side(e, u->acquire, copy_x), *b = pr_encoding_side(e, v->acquire, copy_z);
            pr_term s = in_section(e, a, pr_encoding_side(e, u->release, copy_x), x);
            if (pr_term_none(s) || pr_term_is(s, PR_TERM_FALSE)) continue;
            pr_term t = in_section(e, b, pr_encoding_side(e, v->release, copy_z), z);
            if (pr_term_none(t) || pr_term_is(t, PR_TERM_FALSE)) continue;
            pr_term here = cell_at(e, a, x), there = cell_at(e, b, z);
            pr_term one = e->options->fault == 58 ? PR_TERM_TRUE : pr_term_none(here) || pr_term_none(there) ? PR_TERM_FALSE : pr_eq(T, here, there);
            t = pr_and(T, one, pr_and(T, s, t));
            if (!pr_term_none(t)) any = pr_or(T, any, t);
        }
    return any;
}
