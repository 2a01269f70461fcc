/* What do the records of a kernel look like? One S-expression a line with fields in a fixed order, read
 * by people and by the oracle in Python: facts of the kernel, variables with their intervals, records,
 * fences, refusals, premises. The stages `access` (raw) and `records` (with derived fields). */
#include "hb/record.h"

const char *pr_record_kind_name(pr_record_kind k)
{
    switch (k) {
    case PR_RECORD_LOAD: return "load";
    case PR_RECORD_STORE: return "store";
    case PR_RECORD_RMW: return "atomic_rmw";
    case PR_RECORD_CAS: return "atomic_cas";
    case PR_RECORD_POLL: return "atomic_poll";
    case PR_RECORD_ATOMIC_LOAD: return "atomic_load";
    case PR_RECORD_ATOMIC_STORE: return "atomic_store";
    }
    return "";
}

static const char *sem_name(pr_sem s)
{
    static const char *const names[] = { "plain", "relaxed", "acquire", "release", "acq_rel" };
    return names[s];
}

static const char *scope_name(pr_scope s)
{
    static const char *const names[] = { "none", "cta", "gpu", "sys" };
    return names[s];
}

static const char *rmw_name(const pr_record *r)
{
    static const char *const names[] = { "add", "fadd", "max", "min", "umax", "umin", "and", "or", "xor", "xchg" };
    return r->kind == PR_RECORD_RMW ? names[r->rmw_op] : "none";
}

/* Terms and the names of those that are large and stand in several places. */
typedef struct terms { const pr_terms *T; pr_term_names names; } terms;

static void field_term(pr_buf *b, const terms *T, const char *name, pr_term t)
{
    pr_buf_printf(b, " (%s ", name);
    if (pr_term_none(t)) pr_buf_puts(b, "none");
    else pr_term_print_with(b, T->T, t, &T->names);
    pr_buf_putc(b, ')');
}

static void field_ints(pr_buf *b, const char *name, const int *v, int n)
{
    pr_buf_printf(b, " (%s", name);
    for (int i = 0; i < n; i++) pr_buf_printf(b, " %d", v[i]);
    pr_buf_putc(b, ')');
}

static void field_loc(pr_buf *b, const pr_loc *l)
{
    pr_buf_puts(b, " (loc ");
    pr_buf_quote(b, l->file, false);
    pr_buf_printf(b, " %d %d %d ", l->line, l->col, l->text_line);
    pr_buf_quote(b, l->op, false);
    pr_buf_putc(b, ')');
}

static void frame(pr_buf *b, const terms *T, const pr_frame *f)
{
    if (f->kind == PR_FRAME_COND) {
        pr_buf_puts(b, " (cond");
        field_term(b, T, "if", f->cond);
        field_term(b, T, "held", f->held);
        pr_buf_putc(b, ')');
        return;
    }
    pr_buf_printf(b, " (loop %d %s", f->loop, pr_var_get(T->T, f->k)->name);
    field_term(b, T, "lower", f->lower);
    field_term(b, T, "upper", f->upper);
    field_term(b, T, "step", f->step);
    field_term(b, T, "bounds_held", f->bounds_held);
    field_term(b, T, "increment_held", f->increment_held);
    pr_buf_putc(b, ')');
}

/* Outermost first. */
static void field_frames(pr_buf *b, const terms *T, const pr_frame *innermost)
{
    pr_buf_puts(b, " (frames");
    int depth = innermost ? innermost->depth : 0;
    for (int d = 1; d <= depth; d++) {
        const pr_frame *f = innermost;
        while (f->depth > d) f = f->outer;
        frame(b, T, f);
    }
    pr_buf_putc(b, ')');
}

static void field_site(pr_buf *b, const pr_site *s)
{
    pr_buf_printf(b, " (site %d", s->op_id);
    for (int i = 0; i < s->n_calls; i++) pr_buf_printf(b, " %d", s->calls[i]);
    pr_buf_putc(b, ')');
}

static void field_refused(pr_buf *b, const pr_refusal *r)
{
    pr_buf_printf(b, " (refused %s", r->kind ? pr_refusal_slug(r->kind) : "none");
    if (r->kind) {
        pr_buf_putc(b, ' ');
        pr_buf_quote(b, pr_str_of(r->message), false);
    }
    pr_buf_putc(b, ')');
}

static void carried(pr_buf *b, const terms *T, const pr_carried *c)
{
    static const char *const kind[] = { "earlier", "before", "first", "final", "when" };
    pr_buf_printf(b, " (carried %d %s", c->access, kind[c->kind]);
    if (c->loop) pr_buf_printf(b, " k%d", c->loop->loop);
    if (c->kind == PR_CARRIED_WHEN) field_term(b, T, "if", c->when);
    pr_buf_puts(b, ")");
}

static void record(pr_buf *b, const pr_records *rs, const pr_record *r, bool derived, const terms *T)
{
    pr_buf_printf(b, "(record (id %d) (access %d) (seq %d) (kind %s) (via %s) (base %d", r->id, r->access, r->seq,
                  pr_record_kind_name(r->kind), r->via_desc ? "desc" : r->via_bptr ? "bptr" : "ptr", r->base);
    if (r->base >= 0 && r->base < rs->n_args) {
        pr_buf_putc(b, ' ');
        pr_buf_quote(b, rs->args[r->base].name, false);
    }
    pr_buf_printf(b, ") (width %d) (shape", r->width);
    for (int d = 0; d < r->rank; d++) pr_buf_printf(b, " %lld", (long long)r->shape[d]);
    pr_buf_putc(b, ')');
    field_term(b, T, "mask", r->mask);
    field_term(b, T, "mask_held", r->mask_held);
    field_term(b, T, "offset", r->offset);
    field_term(b, T, "offset_held", r->offset_held);
    field_frames(b, T, r->frame);
    pr_buf_printf(b, " (sem %s) (scope %s) (rmw %s)", sem_name(r->sem), scope_name(r->scope), rmw_name(r));
    field_term(b, T, "value", r->value);
    field_term(b, T, "cmp", r->cmp);
    field_term(b, T, "value_held", r->value_held);
    field_ints(b, "deps", r->deps, r->n_deps);
    for (int i = 0; i < r->n_carried; i++)
        carried(b, T, &r->carried[i]);
    field_ints(b, "control", r->control_deps, r->n_control_deps);
    pr_buf_printf(b, " (reaches%s%s%s)", r->reaches_path ? " path" : "", r->reaches_mask ? " mask" : "",
                  r->reaches_other_shape ? " other_shape" : "");
    if (r->is_await) {
        field_term(b, T, "await", r->exit_pred);
        field_term(b, T, "await_held", r->exit_held);
    }
    if (r->is_pre_exit) pr_buf_puts(b, " (pre_exit yes)");
    if (derived) {
        pr_buf_printf(b, " (position %s) (uncertain %s)", r->has_position ? "yes" : "no",
                      r->uncertain_bound_only ? "bound" : r->uncertain ? "yes" : "no");
        field_ints(b, "dep_closure", r->dep_closure, r->n_dep_closure);
    }
    if (r->thread_map) pr_buf_printf(b, " (thread_map %d)", r->thread_map);
    field_site(b, &r->site);
    field_refused(b, &r->refused);
    field_loc(b, &r->loc);
    pr_buf_puts(b, ")\n");
}

static void formal(pr_buf *b, const struct pr_formal *f, int i)
{
    pr_buf_printf(b, "(arg %d ", i);
    pr_buf_quote(b, f->name, false);
    if (f->is_pointer) pr_buf_printf(b, " pointer %d", f->pointee_bytes);
    else if (f->is_desc) pr_buf_printf(b, " descriptor %d", f->pointee_bytes);
    else if (f->is_int) pr_buf_printf(b, " int %d", f->bits);
    else pr_buf_puts(b, f->is_float ? " float 0" : " other 0");
    pr_buf_printf(b, " (divisible %lld))\n", (long long)f->divisibility);
}

static void bound(pr_buf *b, pr_i128 v)
{
    pr_buf_putc(b, ' ');
    if (v >= PR_INF) pr_buf_puts(b, "inf");
    else if (v <= -PR_INF) pr_buf_puts(b, "-inf");
    else pr_buf_i128(b, v);
}

static const char *role_name(pr_var_role r)
{
    static const char *const names[] = { "pid", "grid", "param", "lane", "iter", "free", "other" };
    return names[r];
}

static void variables(pr_buf *b, const pr_records *rs)
{
    for (uint32_t id = 1; id < pr_vars_count(rs->terms); id++) {
        const pr_var_info *v = pr_var_get(rs->terms, (pr_var){ id });
        bool probe = v->role == PR_ROLE_ITER && v->index >= rs->n_loops;
        if (v->copy != PR_COPY_NONE || v->role >= PR_ROLE_FREE || probe) continue;
        pr_buf_printf(b, "(var %s %d ", role_name(v->role), v->index);
        pr_buf_quote(b, pr_str_of(v->name), false);
        bound(b, v->lo);
        bound(b, v->hi);
        pr_buf_puts(b, ")\n");
    }
}

static void root(pr_arena *arena, pr_term_vec *to, pr_term t)
{
    if (!pr_term_none(t)) pr_vec_push(arena, to, t);
}

static void roots_of_frames(pr_arena *arena, pr_term_vec *to, const pr_frame *f)
{
    for (; f; f = f->outer) {
        const bool cond = f->kind == PR_FRAME_COND;
        const pr_term all[] = { cond ? f->cond : f->lower, cond ? f->held : f->upper, cond ? PR_TERM_NONE : f->step,
                                cond ? PR_TERM_NONE : f->bounds_held, cond ? PR_TERM_NONE : f->increment_held };
        for (size_t i = 0; i < PR_LEN(all); i++) root(arena, to, all[i]);
    }
}

static void roots_of(pr_arena *arena, pr_term_vec *to, const pr_record *r)
{
    const pr_term all[] = { r->mask, r->mask_held, r->offset, r->offset_held, r->value, r->cmp, r->value_held };
    for (size_t i = 0; i < PR_LEN(all); i++) root(arena, to, all[i]);
    roots_of_frames(arena, to, r->frame);
    for (int i = 0; i < r->n_carried; i++)
        if (r->carried[i].kind == PR_CARRIED_WHEN) root(arena, to, r->carried[i].when);
    if (r->is_await) {
        root(arena, to, r->exit_pred);
        root(arena, to, r->exit_held);
    }
}

void pr_records_print(pr_buf *b, const pr_records *rs, bool derived)
{
    const pr_terms *T = rs->terms;
    pr_buf_puts(b, "(kernel ");
    pr_buf_quote(b, rs->kernel, false);
    pr_buf_printf(b, " (loops %d) (axes%s%s%s) (atomics %s))\n", rs->n_loops, rs->axis_read[0] ? " 0" : "",
                  rs->axis_read[1] ? " 1" : "", rs->axis_read[2] ? " 2" : "", rs->has_atomics ? "yes" : "no");
    for (int i = 0; i < rs->n_args; i++) formal(b, &rs->args[i], i);
    variables(b, rs);
    pr_term_vec roots = { 0 };
    for (int i = 0; i < rs->records.n; i++) roots_of(b->arena, &roots, &rs->records.data[i]);
    for (int i = 0; i < rs->fences.n; i++) roots_of_frames(b->arena, &roots, rs->fences.data[i].frame);
    const terms named = { T, pr_term_print_shared(b, T, roots.data, roots.n) };
    for (int i = 0; i < rs->records.n; i++) record(b, rs, &rs->records.data[i], derived, &named);
    for (uint32_t id = 1; id < pr_syms_count(T); id++) {   /* which load `load#N` in a term is the value of */
        const pr_sym_info *x = pr_sym_get(T, (pr_sym){ id });
        if (x->kind == PR_SYM_LOADED && x->access >= 0)
            pr_buf_printf(b, "(loaded %u (access %d) (bits %d))\n", id, x->access, x->is_bool ? 1 : x->bits);
    }
    for (int i = 0; i < rs->fences.n; i++) {
        const pr_fence *f = &rs->fences.data[i];
        pr_buf_printf(b, "(fence (seq %d) (opaque_context %s)", f->seq, f->opaque_context ? "yes" : "no");
        field_frames(b, &named, f->frame);
        field_site(b, &f->site);
        field_loc(b, &f->loc);
        pr_buf_puts(b, ")\n");
    }
    for (int i = 0; i < rs->refusals.n; i++) {
        const pr_refusal *r = &rs->refusals.data[i];
        pr_buf_printf(b, "(refusal %s ", pr_refusal_slug(r->kind));
        pr_buf_quote(b, pr_str_of(r->message), false);
        field_loc(b, &r->loc);
        pr_buf_puts(b, ")\n");
    }
    for (int i = 0; i < rs->premises.n; i++) {
        pr_buf_puts(b, "(premise ");
        pr_term_print(b, T, rs->premises.data[i]);
        pr_buf_puts(b, ")\n");
    }
    for (int i = 0; i < rs->qualifiers.n; i++) {
        pr_buf_puts(b, "(qualifier ");
        pr_buf_quote(b, pr_str_of(rs->qualifiers.data[i]), false);
        pr_buf_puts(b, ")\n");
    }
    for (int i = 0; i < rs->notes.n; i++) {
        pr_buf_puts(b, "(note ");
        pr_buf_quote(b, pr_str_of(rs->notes.data[i]), false);
        pr_buf_puts(b, ")\n");
    }
}
