/* Results of tile atomics (sync.h: tiles).
 *
 * A lane of a tile atomic is one read-modify-write of its own cell; lanes of one operation and of two are different threads,
 * so text orders none of them (happens-before.md 4.2, p93, p115). Two things are known of a lane's result where all writers of
 * the location are whole read-modify-writes of device scope, aligned to their width: it is one of the values that the
 * writers can leave, any number of times each; and where a barrier stands between it and an earlier atomic of the
 * program whose lanes touch the same cells (one address term, both unmasked, the earlier one on the later one's path), it is
 * one of those that can follow what that atomic left. */
#include "hb/ladder.h"
#include "hb/order.h"
#include "hb/sync.h"

static const pr_record *record(const pr_encoding *e, int i) { return &e->records->records.data[i]; }

static bool has_lanes(const pr_record *r)
{
    for (int d = 0; d < r->rank; d++)
        if (r->shape[d] > 1) return true;
    return false;
}

static bool same_shape(const pr_record *a, const pr_record *b)
{
    if (a->rank != b->rank) return false;
    for (int d = 0; d < a->rank; d++)
        if (a->shape[d] != b->shape[d]) return false;
    return true;
}

static bool whole(const pr_record *r)
{
    return (r->kind == PR_RECORD_RMW || r->kind == PR_RECORD_CAS) && !r->via_desc && r->base >= 0 && !r->refused.kind &&
           (r->scope == PR_SCOPE_GPU || r->scope == PR_SCOPE_SYS) && pr_term_is(r->mask, PR_TERM_TRUE) && pr_order_outside_loops(r);
}

static bool any_value(void *user, const pr_terms *T, pr_term t)
{
    (void)user;
    return pr_term_op_of(T, t) == PR_TERM_OP_APP;
}

/* Does w, at every lane, write the cell of r's lane before r does in the same program? */
static bool writes_before(pr_encoding *e, const pr_record *w, const pr_record *r)
{
    if (pr_term_any(e->terms, r->offset, any_value, NULL)) return false;
    if (!whole(w) || w == r || w->base != r->base || (!pr_term_is(w->offset, r->offset) && e->options->fault != 49) || w->width != r->width || !same_shape(w, r)) return false;
    if (!pr_sync_within(r->frame, w->frame) || w->seq >= r->seq) return false;
    if (e->options->fault == 48) return true;
    return pr_term_is(pr_order_before(e, pr_encoding_side(e, w->id, PR_SIDE_A), pr_encoding_side(e, r->id, PR_SIDE_A)), PR_TERM_TRUE);
}

void pr_sync_find_tiles(pr_encoding *e, pr_sync *y)
{
    for (int i = 0; i < e->records->records.n && y->tiles.n < 8; i++) {
        const pr_record *r = record(e, i);
        if (!whole(r) || !has_lanes(r) || !r->reaches_mask || r->is_await || r->is_pre_exit) continue;
        pr_sync_event v = { .record = i, .tile = true, .app = PR_TERM_NONE, .writes = pr_record_writes(r) };
        const pr_side *s = pr_encoding_side(e, i, PR_SIDE_A);
        if (s->refused || s->dead) continue;
        pr_sync_find_writers(e, &v, false);
        if (!v.closed) continue;
        v.init = pr_vset_initial(e, s);
        const pr_vset any = v.all = pr_vset_closure(e, v.init, v.writers, v.n_writers);
        for (int k = 0; k < e->records->records.n && !v.all.any; k++) {
            if (!writes_before(e, record(e, k), r)) continue;
            pr_vset left = pr_vset_written(e, k, &any), after = pr_vset_closure(e, left, v.writers, v.n_writers), both = { 0 };
            for (int m = 0; m < v.all.n; m++)
                if (pr_vset_has(&after, v.all.v[m])) pr_vset_add(&both, v.all.v[m]);
            v.all = both;
        }
        if (!v.all.any) pr_vec_push(e->arena, &y->tiles, v);
    }
}

typedef struct lanes { pr_encoding *e; const pr_sync *y; PR_VEC(pr_term) app; PR_VEC(int) tile; } lanes;
static void note_lane(void *user, pr_term t)
{
    lanes *l = user;
    const pr_terms *T = l->e->terms;
    if (pr_term_op_of(T, t) != PR_TERM_OP_APP || pr_term_arity(T, t) == 0) return;
    const pr_sym_info *s = pr_sym_get(T, pr_term_sym(T, t));
    if (s->kind != PR_SYM_OBSERVED || s->is_bool) return;
    for (int i = 0; i < l->app.n; i++)
        if (pr_term_is(l->app.data[i], t)) return;
    for (int i = 0; i < l->y->tiles.n; i++) {
        if (record(l->e, l->y->tiles.data[i].record)->access != s->access) continue;
        pr_vec_push(l->e->arena, &l->app, t);
        pr_vec_push(l->e->arena, &l->tile, i);
        return;
    }
}

void pr_sync_tile_facts(pr_encoding *e, const pr_sync *y, const pr_side *s, pr_term_vec *out)
{
    lanes l = { .e = e, .y = y };
    if (!y->tiles.n || s->refused || s->dead) return;
    pr_term_visit(e->terms, s->record->mask, note_lane, &l);
    if (!pr_term_none(s->record->offset)) pr_term_visit(e->terms, s->record->offset, note_lane, &l);
    for (int i = 0; i < l.app.n; i++) {
        const pr_vset *v = &y->tiles.data[l.tile.data[i]].all;
        pr_term x = pr_subst_apply((pr_subst *)&s->subst, l.app.data[i]), any = PR_TERM_FALSE;
        if (pr_term_none(x)) continue;
        for (int k = 0; k < v->n; k++) any = pr_or(e->terms, any, pr_eq(e->terms, x, pr_const(e->terms, v->v[k])));
        if (!pr_term_none(any)) pr_vec_push(e->arena, out, any);
    }
}
