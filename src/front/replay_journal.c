/* What a run of a whole launch did, as text: for certificates (docs/certificates.md), whose reader works out by itself that no two
 * of these executions race. One line a site (an access operation reached through one chain of calls), one line an execution. */
#include "front/replay_gates.h"

enum { MOST = 1 << 17 };             /* lanes                                                       */

static void site(pr_buf *b, const pr_rsite *s, int i)
{
    static const char *const kinds[] = { [PR_INTERP_LOAD] = "load", [PR_INTERP_STORE] = "store", [PR_INTERP_RMW] = "atomic_rmw",
        [PR_INTERP_CAS] = "atomic_cas", [PR_INTERP_POLL] = "atomic_poll", [PR_INTERP_ATOMIC_LOAD] = "atomic_load",
        [PR_INTERP_ATOMIC_STORE] = "atomic_store" };
    static const char *const scopes[] = { [PR_INTERP_SCOPE_NONE] = "none", [PR_INTERP_SCOPE_GPU] = "gpu", [PR_INTERP_SCOPE_CTA] = "cta",
        [PR_INTERP_SCOPE_SYS] = "sys", [PR_INTERP_SCOPE_OTHER] = "other" };
    static const char *const sems[] = { [PR_INTERP_PLAIN] = "plain", [PR_INTERP_RELAXED] = "relaxed", [PR_INTERP_ACQUIRE] = "acquire",
        [PR_INTERP_RELEASE] = "release", [PR_INTERP_ACQ_REL] = "acq_rel" };
    pr_buf_printf(b, "(at %d (site %d", i, s->op->id);
    for (int k = 0; k < s->n_calls; k++) pr_buf_printf(b, " %d", s->calls[k]);
    pr_buf_printf(b, ") (kind %s) (width %d) (lanes %lld) (sem %s) (scope %s) (via %s) (position %s) (replicated %s))\n", kinds[s->kind], s->width,
                  (long long)s->n_lanes, sems[s->sem], scopes[s->scope], s->via_desc ? "desc" : "ptr", s->has_position ? "yes" : "no", s->replicated ? "yes" : "no");
}

/* Dependencies are numbers of executions of the whole list. */
static void execution(pr_buf *b, const pr_rlog *l, int i)
{
    const pr_rdyn *d = &l->dyns.data[i];
    int first = l->first_dyn.data[d->program];
    pr_buf_printf(b, "(ran %d %d %d (epoch %d %lld %lld %lld) (arms", i, d->site, d->program, d->epoch.gen, (long long)d->epoch.n,
                  (long long)d->epoch.lo, (long long)d->epoch.hi);
    for (int k = 0; k < d->n_arms; k++) pr_buf_printf(b, " %d:%d", l->arms.data[d->arms + k].id, l->arms.data[d->arms + k].arm);
    pr_buf_puts(b, ") (after");
    for (int k = 0; k < d->n_deps; k++) pr_buf_printf(b, " %d", first + l->deps.data[d->deps + k]);
    pr_buf_puts(b, ") (lanes");
    for (int k = 0; k < d->n; k++) {
        const pr_rev *e = &l->events.data[d->first + k];
        pr_buf_printf(b, " %u:", (unsigned)(e->lane & PR_EV_LANE));
        if (e->lane & PR_EV_NOWHERE) pr_buf_putc(b, '?');
        else pr_buf_printf(b, "%llu", (unsigned long long)e->addr);
        if (e->lane & PR_EV_MAYBE) pr_buf_putc(b, 'm');
        if (e->lane & PR_EV_OUTSIDE) pr_buf_putc(b, 'o');
    }
    pr_buf_puts(b, "))\n");
}

void pr_rlog_journal(const pr_rlog *l, pr_buf *b)
{
    if (l->events.n > MOST) return;
    pr_buf_printf(b, "(execution 1 (grid %lld %lld %lld) (contents", (long long)l->setup->grid[0], (long long)l->setup->grid[1],
                  (long long)l->setup->grid[2]);
    for (int i = 0; i < l->setup->n_args; i++)
        if (pr_machine_read_contents(l->machine, i)) pr_buf_printf(b, " %d", i);
    pr_buf_puts(b, "))\n");
    for (int i = 0; i < l->sites.n; i++) site(b, &l->sites.data[i], i);
    for (int i = 0; i < l->dyns.n; i++) execution(b, l, i);
    if (l->gates) pr_gates_print(l->gates, b);
}
