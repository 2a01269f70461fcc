/* The events of a proved kernel as text; see certify.h. Variables get names of their own (p0, p1, ... for launch values, k0,
 * k1, ... for loop counters), since two values of a kernel may have one name. */
#include "shm/certify.h"

typedef struct writer { pr_buf *b; pr_shm_prog *p; pr_subst names; } writer;

static pr_var named(writer *w, pr_var v, const char *letter, int n)
{
    pr_var_info info = *pr_var_get(w->p->T, v);
    info.role = PR_ROLE_OTHER;
    info.index = (*letter == 'p' ? 7200000 : *letter == 'k' ? 7300000 : 7400000) + n;
    info.name = pr_arena_printf(w->p->arena, "%s%d", letter, n);
    return pr_var_new(w->p->T, info);
}

static void put_end(pr_buf *b, pr_i128 v)
{
    pr_buf_putc(b, ' ');
    if (v <= -PR_INF || v >= PR_INF) pr_buf_puts(b, v < 0 ? "-inf" : "inf");
    else pr_buf_i128(b, v);
}

static void put_bounds(writer *w, pr_var v)
{
    const pr_var_info *info = pr_var_get(w->p->T, v);
    put_end(w->b, info->lo);
    put_end(w->b, info->hi);
}

static void put_term(writer *w, const char *word, pr_term t)
{
    pr_buf_printf(w->b, " (%s ", word);
    if (pr_term_none(t)) pr_buf_puts(w->b, "none");
    else pr_term_print(w->b, w->p->T, pr_subst_apply(&w->names, t));
    pr_buf_putc(w->b, ')');
}

static void put_flag(writer *w, const char *word, bool yes) { pr_buf_printf(w->b, " (%s %s)", word, yes ? "yes" : "no"); }

static void put_alloc(writer *w, int i)
{
    const pr_shm_alloc *a = &w->p->allocs.data[i];
    pr_buf_printf(w->b, "(alloc %d (memory %s) (shape", i, a->memory == PR_SHM_TMEM ? "tensor" : "shared");
    for (int d = 0; d < a->rank; d++) pr_buf_printf(w->b, " %lld", (long long)a->shape[d]);
    pr_buf_printf(w->b, ") (bits %d) (offset %lld) (life %d %d) (op %d) (region %d %d) (copy %d)", a->elem_bits, (long long)a->offset,
                  a->live_from, a->live_to, a->op->id, a->region ? a->region->id : -1, a->partition, a->copy);
    if (a->memory == PR_SHM_TMEM && a->col >= 0) pr_buf_printf(w->b, " (columns %lld %lld %u)", (long long)a->col, (long long)a->cols, a->rows);
    put_flag(w, "barrier", a->barrier);
    put_flag(w, "payload", a->payload);
    pr_buf_puts(w->b, " (name ");
    pr_buf_quote(w->b, a->name, false);
    pr_buf_puts(w->b, "))\n");
}

static void put_view(writer *w, const pr_shm_view *v)
{
    pr_buf_printf(w->b, " (view %d", v->alloc);
    for (int d = 0; d < w->p->allocs.data[v->alloc].rank; d++) {
        if (v->indexed[d]) put_term(w, "at", v->index[d]);
        else pr_buf_printf(w->b, " (from %lld %lld)", (long long)v->lo[d], (long long)v->hi[d]);
    }
    pr_buf_putc(w->b, ')');
}

static void put_access(writer *w, const pr_shm_access *a)
{
    static const char *const units[] = { [PR_SHM_SYNC] = "threads", [PR_SHM_CP] = "cp", [PR_SHM_WGMMA] = "wgmma",
        [PR_SHM_TMA_LOAD] = "tma_load", [PR_SHM_TMA_STORE] = "tma_store", [PR_SHM_TC] = "tc" };
    pr_buf_printf(w->b, " (access (does %s) (unit %s)", a->write ? "write" : "read", units[a->unit]);
    put_flag(w, "async_proxy", a->async_proxy);
    pr_buf_puts(w->b, " (atomic ");
    if (a->atomic) pr_buf_quote(w->b, a->atomic_kind, false);
    else pr_buf_puts(w->b, "no");
    pr_buf_putc(w->b, ')');
    put_view(w, &a->view);
    if (a->other) put_flag(w, "other", true);
    if (!pr_term_none(a->guard)) put_term(w, "guard", a->guard);
    pr_buf_putc(w->b, ')');
}

static void put_event(writer *w, const pr_shm_event *e, int i, const pr_term *phase)
{
    static const char *const kinds[] = {
        [PR_SHM_EV_ACCESS] = "access", [PR_SHM_EV_INIT] = "init", [PR_SHM_EV_INVAL] = "inval", [PR_SHM_EV_WAIT] = "wait",
        [PR_SHM_EV_ARRIVE] = "arrive", [PR_SHM_EV_EXPECT] = "expect", [PR_SHM_EV_TMA_LOAD] = "tma_load", [PR_SHM_EV_TC] = "tc",
        [PR_SHM_EV_TC_COMMIT] = "tc_commit", [PR_SHM_EV_CP] = "cp", [PR_SHM_EV_CP_COMMIT] = "cp_commit", [PR_SHM_EV_CP_WAIT] = "cp_wait",
        [PR_SHM_EV_CP_ARRIVE] = "cp_arrive", [PR_SHM_EV_DOT] = "dot", [PR_SHM_EV_DOT_WAIT] = "dot_wait", [PR_SHM_EV_STORE] = "store",
        [PR_SHM_EV_STORE_WAIT] = "store_wait", [PR_SHM_EV_FENCE] = "fence", [PR_SHM_EV_SCRATCH] = "scratch", [PR_SHM_EV_DEALLOC] = "dealloc",
        [PR_SHM_EV_MEET] = "meet", [PR_SHM_EV_ENTRY] = "entry", [PR_SHM_EV_JOIN] = "join",
        [PR_SHM_EV_BEGIN] = "begin", [PR_SHM_EV_END] = "end" };
    const pr_shm_prog *p = w->p;
    pr_buf_printf(w->b, "(event %d (kind %s) (op %d %d ", i, kinds[e->kind], e->op->id, e->loc.text_line);
    pr_buf_quote(w->b, e->op->name, false);
    pr_buf_printf(w->b, ") (agent %d) (ws %d) (copy %d) (seq %d) (count %lld) (bytes %lld) (branch %d %d)", e->agent, e->ws, e->copy, e->seq,
                  (long long)e->count, (long long)e->bytes, e->branch, e->branch_loops);
    put_flag(w, "may", e->may);
    put_flag(w, "exact", e->exact);
    if (e->kind == PR_SHM_EV_TMA_LOAD) pr_buf_printf(w->b, " (warps %d)", e->warps);
    pr_buf_puts(w->b, " (loops");
    for (int l = 0; l < e->n_loops; l++) pr_buf_printf(w->b, " %d", e->loop[l]);
    pr_buf_putc(w->b, ')');
    put_term(w, "when", e->when);
    put_term(w, "phase", e->phase);
    if (!pr_term_none(e->given)) put_term(w, "given", e->given);
    for (int k = 0; k < e->n_acc; k++) put_access(w, &e->acc[k]);
    for (int k = 0; k < e->n_bar; k++) {
        pr_buf_puts(w->b, " (barrier");
        put_term(w, "if", e->bar_pred[k]);
        put_term(w, "number", phase[k]);
        put_view(w, &e->bar[k]);
        pr_buf_putc(w->b, ')');
    }
    if (e->kind == PR_SHM_EV_SCRATCH) {
        pr_buf_puts(w->b, " (beside");
        for (int a = 0; a < p->allocs.n; a++)
            if (pr_shm_runs_beside(&p->allocs.data[a], e->op)) pr_buf_printf(w->b, " %d", a);
        pr_buf_putc(w->b, ')');
    }
    pr_buf_puts(w->b, ")\n");
}

void pr_shm_print_certificate(pr_buf *b, pr_shm_prog *p, const pr_shm_model *m, const pr_shm_proof *proof, bool launch)
{
    uint32_t n = pr_vars_count(p->T);
    pr_term *map = PR_NEW_N(p->arena, pr_term, n);
    writer w = { .b = b, .p = p };
    pr_buf_printf(b, "(shared 1 (agents %d) (scope %s)", p->n_agents, launch ? "launch" : "every-trip-count");
    put_flag(&w, "isolated", p->isolate);
    put_flag(&w, "membar", p->membar);
    put_flag(&w, "several_ctas", p->n_ctas != 1);
    put_flag(&w, "steps", p->assumes_steps);
    put_flag(&w, "no_overflow", p->assumes_no_overflow);
    put_flag(&w, "not_negative", p->assumes_nonneg);
    put_flag(&w, "arguments_not_negative", p->arguments_not_negative);
    pr_buf_puts(b, ")\n");
    for (int i = 0; i < p->params.n; i++) {
        pr_var v = named(&w, p->params.data[i].var, "p", i);
        map[p->params.data[i].var.id] = pr_var_term(p->T, v);
        pr_buf_printf(b, "(value p%d", i);
        put_bounds(&w, v);
        pr_buf_putc(b, ' ');
        pr_buf_quote(b, p->params.data[i].name, false);
        pr_buf_puts(b, ")\n");
    }
    for (int i = 0; i < p->loops.n; i++)
        map[p->loops.data[i].counter.id] = pr_var_term(p->T, named(&w, p->loops.data[i].counter, "k", i));
    for (int i = 0; i < p->unknowns.n; i++) map[p->unknowns.data[i].var.id] = pr_var_term(p->T, named(&w, p->unknowns.data[i].var, "u", i));
    w.names = (pr_subst){ .T = p->T, .var_map = map, .n_var_map = n };
    for (int i = 0; i < p->defs.n && proof->by_definition; i++) {     /* what values are, for the obligations that rest on it     */
        const pr_shm_def *d = &p->defs.data[i];
        pr_buf_puts(b, "(define");
        if (!pr_term_none(d->value)) put_term(&w, "value", d->value);
        put_term(&w, pr_term_none(d->value) ? "loop" : "is", d->is);
        pr_buf_puts(b, ")\n");
    }
    for (int i = 0; i < p->loops.n; i++) {
        const pr_shm_loop *l = &p->loops.data[i];
        pr_buf_printf(b, "(loop %d", i);
        put_bounds(&w, l->counter);
        put_term(&w, "trips", l->trips);
        put_flag(&w, "flat", l->flat);
        pr_buf_printf(b, " (nest %d %d))\n", l->flat ? l->outer : -1, l->flat ? l->nest : -1);
    }
    for (int i = 0; i < p->unknowns.n; i++) {
        pr_buf_printf(b, "(unknown u%d %d", i, p->unknowns.data[i].loop);
        put_bounds(&w, p->unknowns.data[i].var);
        pr_buf_puts(b, ")\n");
    }
    for (int i = 1; i < p->n_copies; i++) {
        pr_buf_printf(b, "(copy %d (op %d) (outer %d)", i, p->copies[i].op->id, p->copies[i].outer);
        put_flag(&w, "second", p->copies[i].second);
        put_term(&w, "when", p->copies[i].when);
        pr_buf_puts(b, ")\n");
    }
    for (int i = 0; i < p->allocs.n; i++) put_alloc(&w, i);
    for (int i = 0; i < m->events.n; i++) put_event(&w, &m->events.data[i], i, proof->phases + (size_t)i * PR_SHM_BARS);
    for (int i = 0; i < m->never.n; i++) {
        pr_buf_printf(b, "(never %d ", pr_shm_loc(m->never.data[i]).text_line);
        pr_buf_quote(b, m->never.data[i]->name, false);
        pr_buf_puts(b, ")\n");
    }
    pr_buf_printf(b, "(closure \"%s\")\n", proof->closure);
    for (int i = 0; i < proof->meetings.n; i++)
        pr_buf_printf(b, "(meet %d %d \"%s\")\n", proof->meetings.data[i].x, proof->meetings.data[i].y, proof->meetings.data[i].conflicts);
}

static void begin(writer *w, pr_buf *b, pr_shm_prog *p)
{
    uint32_t n = pr_vars_count(p->T);
    pr_term *map = PR_NEW_N(p->arena, pr_term, n);
    *w = (writer){ .b = b, .p = p, .names = { .T = p->T, .var_map = map, .n_var_map = n } };
    for (int i = 0; i < p->params.n; i++) {
        const pr_var v = p->params.data[i].var;
        map[v.id] = pr_var_term(p->T, v);
        pr_buf_puts(b, "(value ");
        pr_term_print(b, p->T, map[v.id]);
        put_bounds(w, v);
        pr_buf_puts(b, ")\n");
    }
    for (int i = 0; i < p->loops.n; i++) {
        const pr_shm_loop *l = &p->loops.data[i];
        pr_loc at = pr_shm_loc(l->op);
        map[l->counter.id] = pr_var_term(p->T, l->counter);
        pr_buf_printf(b, "(loop %d (line %d) (counter ", i, at.line ? at.line : at.text_line);
        pr_term_print(b, p->T, map[l->counter.id]);
        pr_buf_putc(b, ')');
        put_term(w, "trips", l->trips);
        put_flag(w, "flat", l->flat);
        pr_buf_puts(b, ")\n");
    }
}

void pr_shm_print_events(pr_buf *b, pr_shm_prog *p, const pr_shm_model *m)
{
    pr_term phase[PR_SHM_BARS];
    writer w;
    begin(&w, b, p);
    for (int k = 0; k < PR_SHM_BARS; k++) phase[k] = PR_TERM_NONE;
    for (int i = 0; i < p->allocs.n; i++) put_alloc(&w, i);
    for (int i = 0; i < m->events.n; i++) put_event(&w, &m->events.data[i], i, phase);
}

void pr_shm_print_protocol(pr_buf *b, pr_shm_prog *p, const pr_shm_model *m, const pr_shm_proof *proof)
{
    writer w;
    begin(&w, b, p);
    for (int a = 0; a < p->allocs.n; a++) {
        const pr_shm_alloc *s = &p->allocs.data[a];
        int64_t n = 1;
        if (!s->barrier) continue;
        for (int d = 0; d < s->rank; d++) n *= s->shape[d];
        pr_buf_puts(b, "(barriers ");
        pr_buf_quote(b, s->name, false);
        pr_buf_printf(b, " %lld (line %d)\n", (long long)n, s->loc.line ? s->loc.line : s->loc.text_line);
        for (int i = 0; i < m->events.n; i++) {
            const pr_shm_event *e = &m->events.data[i];
            for (int k = 0; k < e->n_bar; k++) {
                if (e->bar[k].alloc != a) continue;
                pr_buf_printf(b, "  (event %d (op ", i);
                pr_buf_quote(b, e->op->name, false);
                pr_buf_printf(b, ") (agent %d) (line %d)", e->agent, e->loc.line ? e->loc.line : e->loc.text_line);
                if (e->kind == PR_SHM_EV_WAIT) put_term(&w, "parity", e->phase);
                else if (e->kind == PR_SHM_EV_TMA_LOAD) pr_buf_printf(b, " (brings %lld)", (long long)e->bytes);
                else if (e->kind != PR_SHM_EV_INVAL) pr_buf_printf(b, " (count %lld)", (long long)(e->kind == PR_SHM_EV_TC || e->kind == PR_SHM_EV_TC_COMMIT ? 1 : e->count));
                if (e->kind == PR_SHM_EV_EXPECT) pr_buf_printf(b, " (expects %lld)", (long long)e->bytes);
                put_term(&w, "when", e->when);
                if (e->kind != PR_SHM_EV_INIT && e->kind != PR_SHM_EV_INVAL)
                    put_term(&w, "number", proof->phases ? proof->phases[(size_t)i * PR_SHM_BARS + k] : PR_TERM_NONE);
                put_view(&w, &e->bar[k]);
                pr_buf_puts(b, ")\n");
            }
        }
        pr_buf_puts(b, ")\n");
    }
    if (!proof->phases) pr_buf_puts(b, "# the phase numbers are not proved\n");
}
