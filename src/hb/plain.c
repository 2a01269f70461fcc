/* What do intervals of a record's own terms say of every execution at the launch, before the record is copied?
 *
 * The box holds the launch's numbers: integer arguments, extents, ids below them, lanes of the record's tile,
 * iterations of the loops around it (from the bounds alone). Values that are not modelled keep the range of their
 * width. No mask and no path counts there, so what holds under it holds in every execution; the rest is a query.
 *
 * Of the access itself mask and path hold too (linear.h). */
#include "hb/plain.h"
#include "hb/contents.h"
#include "hb/linear.h"

struct pr_plain {
    pr_box *box;
    const pr_record *of;           /* whose lanes are in the box                                  */
    unsigned char *usable;         /* per record: 1 yes, 2 no, 0 not looked yet                     */
    const pr_frame **loop;         /* per iteration variable: its loop, once seen                   */
    unsigned char *several;        /* per iteration variable: it counts more than one loop; left open */
};

/* Iterations of a loop, as encode.c bounds them. */
static void bound_loop(pr_encoding *e, struct pr_plain *p, const pr_frame *f)
{
    if (p->several[f->k.id] || pr_term_none(f->lower) || pr_term_none(f->upper) || pr_term_none(f->step)) return;
    pr_interval step = pr_range(p->box, f->step), span = pr_range(p->box, pr_sub(e->terms, f->upper, f->lower));
    if (step.lo <= 0 || span.hi >= PR_INF) return;
    pr_box_set(p->box, f->k, 0, span.hi <= 0 ? 0 : (span.hi - 1) / step.lo);
}

static void bound_loops(pr_encoding *e, struct pr_plain *p, const pr_frame *f)
{
    if (!f) return;
    const pr_frame *list[64];
    int n = 0;
    for (; f && n < 64; f = f->outer) list[n++] = f;
    while (n--) {
        if (list[n]->kind != PR_FRAME_LOOP || p->loop[list[n]->k.id] != list[n]) continue;
        p->loop[list[n]->k.id] = NULL;           /* once */
        bound_loop(e, p, list[n]);
    }
}

static void note_loops(struct pr_plain *p, const pr_frame *f)
{
    for (; f; f = f->outer) {
        if (f->kind != PR_FRAME_LOOP) continue;
        if (p->loop[f->k.id] && p->loop[f->k.id] != f) p->several[f->k.id] = 1;
        p->loop[f->k.id] = f;
    }
}

static struct pr_plain *plain_of(pr_encoding *e)
{
    if (e->plain) return e->plain;
    const pr_records *R = e->records;
    struct pr_plain *p = e->plain = PR_NEW(e->arena, struct pr_plain);
    p->box = pr_box_new(e->terms);
    p->usable = PR_NEW_N(e->arena, unsigned char, R->records.n + 1);
    p->loop = PR_NEW_N(e->arena, const pr_frame *, pr_vars_count(e->terms) + 1);
    p->several = PR_NEW_N(e->arena, unsigned char, pr_vars_count(e->terms) + 1);
    for (uint32_t v = 1; v < e->n_var_map; v++) {
        pr_i128 number;
        if (!pr_term_none(e->var_map[v]) && pr_term_const(e->terms, e->var_map[v], &number))
            pr_box_set(p->box, (pr_var){ v }, number, number);
    }
    for (int i = 0; i < 3; i++)
        if (e->fixed[i]) pr_box_set(p->box, R->pid[i], 0, e->extent[i] > 0 ? e->extent[i] - 1 : 0);
    for (int i = 0; i < R->records.n; i++) note_loops(p, R->records.data[i].frame);
    for (int i = 0; i < R->records.n; i++) bound_loops(e, p, R->records.data[i].frame);
    return p;
}

static bool available(const pr_encoding *e) { return e->rung == PR_RUNG_T1_LAUNCH && e->contents == PR_CONTENTS_FREE; }

static void set_lanes(pr_encoding *e, struct pr_plain *p, const pr_record *r)
{
    if (p->of == r) return;
    for (int d = 0; d < PR_RANK_MAX; d++) {
        pr_i128 hi = d < r->rank && r->shape[d] > 1 ? r->shape[d] - 1 : 0;
        pr_i128 was = !p->of ? -1 : d < p->of->rank && p->of->shape[d] > 1 ? p->of->shape[d] - 1 : 0;
        if (hi != was) pr_box_set(p->box, e->records->lane[d], 0, hi);
    }
    p->of = r;
}

bool pr_plain_holds(pr_encoding *e, int record, pr_term t)
{
    if (pr_term_is(t, PR_TERM_TRUE)) return true;
    if (pr_term_none(t) || !available(e)) return false;
    struct pr_plain *p = plain_of(e);
    set_lanes(e, p, &e->records->records.data[record]);
    return pr_range_bool(p->box, t) == PR_YES;
}

/* No reason for encode.c to refuse the record. */
static bool usable(pr_encoding *e, const pr_record *r)
{
    const pr_term own[] = { r->offset, r->mask, r->mask_held, r->offset_held };
    int loops = 0;
    if (r->refused.kind || r->base < 0 || e->open_params) return false;
    for (size_t i = 0; i < PR_LEN(own); i++)
        if (pr_term_none(own[i])) return false;
    if (pr_encode_address_has_apps(e, r)) return false;
    struct pr_plain *p = plain_of(e);
    for (const pr_frame *f = r->frame; f; f = f->outer) {
        bool loop = f->kind == PR_FRAME_LOOP;
        const pr_term of[] = { loop ? f->bounds_held : f->cond, loop ? f->increment_held : f->held };
        for (size_t i = 0; i < PR_LEN(of); i++)
            if (pr_term_none(of[i])) return false;
        if (!loop) continue;
        if (++loops > 60 || pr_term_none(f->lower) || pr_term_none(f->upper) || pr_term_none(f->step)) return false;
        if (pr_range(p->box, f->step).lo <= 0) return false;
    }
    return true;
}

/* ---- with mask and path ----------------------------------------------------------------------- */

/* lower + k*step + 1 - upper <= 0 in every iteration of the loop. */
static void add_loop_row(pr_encoding *e, struct pr_plain *p, const pr_frame *f, pr_linear_rows *x)
{
    pr_interval step = pr_range(p->box, f->step);
    if (x->n == PR_LINEAR_ROWS || step.lo != step.hi || p->several[f->k.id]) return;
    pr_linear *row = &x->row[x->n];
    pr_linear_zero(row);
    row->k = 1;
    if (pr_linear_add(e->terms, row, f->lower, 1) && pr_linear_add(e->terms, row, pr_var_term(e->terms, f->k), step.lo) &&
        pr_linear_add(e->terms, row, f->upper, -1)) x->n++;
}

/* sign * offset <= limit wherever the access is performed? The box has been set for the record. */
static bool at_most(pr_encoding *e, struct pr_plain *p, const pr_record *r, int sign, pr_i128 limit)
{
    pr_linear f;
    pr_linear_rows x;
    pr_linear_zero(&f);
    x.n = 0;
    if (!pr_linear_add(e->terms, &f, r->offset, sign)) return false;
    if (pr_linear_sup(p->box, &f, &x, limit) <= limit) return true;
    pr_linear_rows_of(e->terms, r->mask, &x);
    for (const pr_frame *o = r->frame; o; o = o->outer)
        if (o->kind == PR_FRAME_COND) pr_linear_rows_of(e->terms, o->cond, &x);
    if (x.n && pr_linear_sup(p->box, &f, &x, limit) <= limit) return true;
    for (const pr_frame *o = r->frame; o; o = o->outer)
        if (o->kind == PR_FRAME_LOOP) add_loop_row(e, p, o, &x);
    if (!x.n || !pr_linear_numbers(e->terms, p->box, &f)) return false;
    for (int i = 0; i < x.n; i++)
        if (!pr_linear_numbers(e->terms, p->box, &x.row[i])) x.row[i--] = x.row[--x.n];
    return x.n && pr_linear_sup(p->box, &f, &x, limit) <= limit;
}

bool pr_plain_inside(pr_encoding *e, int record)
{
    const pr_record *r = &e->records->records.data[record];
    if (!available(e)) return false;
    struct pr_plain *p = plain_of(e);
    if (!p->usable[record]) p->usable[record] = usable(e, r) ? 1 : 2;
    if (p->usable[record] == 2) return false;
    const pr_tensor *t = e->launch->args[r->base].tensor;
    if (!t) return false;
    set_lanes(e, p, r);
    const pr_i128 lo = t->storage_lo - t->ptr, hi = t->storage_hi - r->width - t->ptr;
    const pr_interval all = pr_range(p->box, r->offset);     /* mostly enough for one end                */
    return (all.hi <= hi || at_most(e, p, r, 1, hi)) && (all.lo >= lo || at_most(e, p, r, -1, -lo));
}
