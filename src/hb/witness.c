/* A point of a query -> a race with two accesses in canonical order, checked on the records and then
 * handed to the concrete evaluator. Only the evaluator sets `confirmed` (happens-before.md 8.7). */
#include "hb/ladder.h"
#include "hb/order.h"
#include <assert.h>

static pr_i128 value_of(const pr_encoding *e, const pr_query *q, const pr_point *p, pr_term t)
{
    pr_i128 v = 0;
    if (pr_term_const(e->terms, t, &v)) return v;
    if (pr_term_op_of(e->terms, t) != PR_TERM_OP_VAR) return 0;
    pr_var var = pr_term_var(e->terms, t);
    for (int i = 0; i < q->n_vars; i++)
        if (q->vars[i].id == var.id) return p->value[i];
    const pr_var_info *info = pr_var_get(e->terms, var);
    return info->lo > 0 ? info->lo : 0;      /* a coordinate the query does not mention: any value */
}

void pr_witness_access_at(pr_run *run, const pr_encoding *e, const pr_side *s, const pr_query *q, const pr_point *p,
                          pr_witness_access *out)
{
    const pr_record *r = s->record;
    *out = (pr_witness_access){ .record = r->id, .reads = pr_record_reads(r), .writes = pr_record_writes(r) };
    if (r->kind == PR_RECORD_CAS) out->writes = false;  /* whether it wrote rests on the value it saw */
    for (int i = 0; i < 3; i++) out->program[i] = (int64_t)value_of(e, q, p, s->pid[i]);
    out->rank = r->rank;
    for (int d = 0; d < r->rank; d++) out->lane[d] = (int64_t)value_of(e, q, p, s->lane[d]);
    out->n_iterations = s->n_loops;
    for (int i = 0; i < s->n_loops; i++) out->iteration[i] = (int64_t)value_of(e, q, p, s->iter[i]);
    uint32_t n = pr_vars_count(e->terms);
    pr_arena_pos pos = pr_arena_mark(run->d.scratch);
    pr_i128 *value = PR_NEW_N(run->d.scratch, pr_i128, n);
    bool *known = PR_NEW_N(run->d.scratch, bool, n);
    for (uint32_t v = 1; v < n; v++) {
        const pr_var_info *info = pr_var_get(e->terms, (pr_var){ v });
        value[v] = info->lo > 0 ? info->lo : 0;
        known[v] = info->role != PR_ROLE_FREE;
    }
    for (int i = 0; i < q->n_vars; i++) {
        value[q->vars[i].id] = p->value[i];
        known[q->vars[i].id] = true;
    }
    pr_env env = { value, known, n };
    if (!pr_eval(e->terms, s->addr, &env, &out->address)) out->address = 0;
    pr_arena_release(run->d.scratch, pos);
    const pr_tensor *t = e->rung != PR_RUNG_T0 && r->base >= 0 ? e->launch->args[r->base].tensor : NULL;
    out->byte = out->address - (t ? t->ptr : 0);
    out->element = pr_fdiv(out->byte, t && t->elem_bytes ? t->elem_bytes : r->width ? r->width : 1);
}

/* (program, iterations, lane) in lexicographic order, for two accesses of one record. */
static int compare(const pr_witness_access *x, const pr_witness_access *y)
{
    for (int i = 0; i < 3; i++)
        if (x->program[i] != y->program[i]) return x->program[i] < y->program[i] ? -1 : 1;
    for (int i = 0; i < x->n_iterations && i < y->n_iterations; i++)
        if (x->iteration[i] != y->iteration[i]) return x->iteration[i] < y->iteration[i] ? -1 : 1;
    for (int i = 0; i < x->rank && i < y->rank; i++)
        if (x->lane[i] != y->lane[i]) return x->lane[i] < y->lane[i] ? -1 : 1;
    return 0;
}

static bool is_atomic(const pr_record *r) { return r->kind >= PR_RECORD_RMW; }

static const char *why_unordered(pr_run *run, const pr_record *a, const pr_record *b, bool intra)
{
    bool torn = is_atomic(a) && is_atomic(b);
    if (torn && !intra && (a->scope == PR_SCOPE_CTA || b->scope == PR_SCOPE_CTA))
        return "both are atomic, but a cta-scoped atomic is not atomic for another program";
    if (torn && a->via_desc != b->via_desc)
        return "both are atomic, but one goes through a tensor descriptor and the other does not, so not mutually atomic";
    if (torn) return "both are atomic, but of different widths or at partly overlapping addresses, so not mutually atomic";
    if (!intra && (is_atomic(a) || is_atomic(b)))
        return "different programs run in any order, and only one of the two accesses is atomic";
    if (!intra) return "different programs run in any order, and neither access is atomic";
    if (a->id == b->id)
        return "the lanes of one operation are performed by different threads of the program in any order";
    if (run->R->fences.n)
        return "different threads of one program perform them, and no barrier lies between these two executions";
    return "different threads of one program perform them; source order does not order threads and no barrier "
           "(tl.debug_barrier) lies between";
}

static void swap_accesses(pr_race *r)
{
    pr_witness_access swap = r->a;
    r->a = r->b;
    r->b = swap;
}

/* First common byte, canonical order and type of two accesses that overlap. */
static void settle(pr_race *r, const pr_record *a, const pr_record *b)
{
    pr_i128 first = r->a.address > r->b.address ? r->a.address : r->b.address;
    r->a.byte += first - r->a.address;
    r->b.byte += first - r->b.address;
    if (a->id == b->id && compare(&r->a, &r->b) > 0) swap_accesses(r);
    r->type = r->a.writes && r->b.writes ? PR_RACE_WAW : r->a.writes ? PR_RACE_RAW : PR_RACE_WAR;
}

void pr_witness_settle(pr_run *run, pr_race *race)
{
    const pr_record *a = &run->R->records.data[race->a.record], *b = &run->R->records.data[race->b.record];
    settle(race, a, b);
    race->reason = why_unordered(run, a, b, race->intra);
}

pr_status pr_witness_execution(pr_run *run, const pr_encoding *e, pr_race *race)
{
    const pr_record *a = &run->R->records.data[race->a.record], *b = &run->R->records.data[race->b.record];
    bool stuck;
    unsigned o4 = pr_order_cta(e);
    bool pre = o4 & PR_CTA_PRE, post = o4 & (PR_CTA_POST | PR_CTA_POST_USED);
    if (!run->confirm || !run->confirm->execution) return PR_OK;
    pr_status st = run->confirm->execution(run->confirm->user, run->R, run->L, pre, post, race, &stuck, run->err);
    if (st != PR_OK || race->confirmation != PR_CONFIRMED) return st;
    settle(race, a, b);
    if (race->intra) return PR_OK;
    race->reason = "no release and acquire at one location, with barriers before and behind, puts one of them first";
    if (pre && post) return PR_OK;
    pr_race other = *race;
    st = run->confirm->execution(run->confirm->user, run->R, run->L, true, true, &other, &stuck, run->err);
    if (st == PR_OK && other.confirmation != PR_CONFIRMED && run->R->has_atomics)
        race->reason = "only the thread that performs the atomic is ordered: a barrier (tl.debug_barrier) is missing before the "
                       "release or behind the acquire (ordered if the compiler inserts CTA barriers around release and acquire "
                       "atomics, --atomic-order=cta)";
    return st;
}

pr_status pr_witness_race(pr_run *run, const pr_encoding *e, const pr_pair *p, pr_race *out)
{
    const pr_side *x = pr_encoding_side((pr_encoding *)e, p->a, PR_SIDE_A);
    const pr_side *y = pr_encoding_side((pr_encoding *)e, p->b, p->intra ? PR_SIDE_B_INTRA : PR_SIDE_B);
    *out = (pr_race){ .intra = p->intra, .confirmation = PR_CONFIRM_UNAVAILABLE };
    pr_witness_access_at(run, e, x, p->query, &p->point, &out->a);
    pr_witness_access_at(run, e, y, p->query, &p->point, &out->b);
    const pr_record *ra = x->record, *rb = y->record;
    /* the filter of 8.7: the bytes must overlap on the records' own terms. The point of an over-approximated pair only says where
     * an execution may be looked for. */
    if (!p->query->relaxed && (out->a.address >= out->b.address + rb->width || out->b.address >= out->a.address + ra->width))
        return pr_fail(run->err, PR_ERR_INTERNAL, "", 0, 0, "witness of records %d and %d does not overlap", p->a, p->b);
    pr_i128 first = out->a.address > out->b.address ? out->a.address : out->b.address;
    out->a.byte += first - out->a.address;
    out->b.byte += first - out->b.address;
    if (p->a == p->b && compare(&out->a, &out->b) > 0) {
        pr_witness_access swap = out->a;
        out->a = out->b;
        out->b = swap;
    }
    if (ra->kind == PR_RECORD_CAS && rb->kind == PR_RECORD_CAS) out->a.writes = true;
    out->type = out->a.writes && out->b.writes ? PR_RACE_WAW : out->a.writes ? PR_RACE_RAW : PR_RACE_WAR;
    out->reason = why_unordered(run, ra, rb, p->intra);
    for (int i = 0; i < 3; i++) {
        int64_t need = (out->a.program[i] > out->b.program[i] ? out->a.program[i] : out->b.program[i]) + 1;
        out->grid[i] = e->fixed[i] ? e->extent[i] : p->at_launch ? run->L->grid[i] : need;
        for (int v = 0; v < p->query->n_vars; v++) {
            const pr_var_info *info = pr_var_get(e->terms, p->query->vars[v]);
            if (info->role == PR_ROLE_GRID && info->index == i) out->grid[i] = (int64_t)p->point.value[v];
        }
    }
    if (run->confirm && run->confirm->race && e->rung != PR_RUNG_T0 && !p->query->relaxed)
        return run->confirm->race(run->confirm->user, run->R, run->L, out, run->err);
    out->confirmation_why = e->rung == PR_RUNG_T0 ? "no launch to replay" : "rests on values only a run could know";
    return PR_OK;
}
