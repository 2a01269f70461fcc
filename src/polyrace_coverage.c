/* Do the configurations of an autotuned kernel write the same bytes? The tuner runs all of them on the same buffers, so that
 * an output which only a mixture fills looks right. Compared by execution, for launches small enough; a note, never a status. */
#include "polyrace_impl.h"
#include "front/replay.h"

enum { MOST_BYTES = 1 << 22, MOST_WORK = 1 << 20, MOST_EVENTS = 1 << 17 };

typedef struct cover {
    const pr_launch *launch;
    unsigned char **written;       /* per argument a bit for each byte of its storage, null: not a tensor   */
    bool unknown;
} cover;

static bool writes(pr_interp_kind k)
{
    return k == PR_INTERP_STORE || k == PR_INTERP_RMW || k == PR_INTERP_CAS || k == PR_INTERP_ATOMIC_STORE;
}

static void visit(void *user, const pr_replay_access *a)
{
    cover *c = user;
    if (a->active == PR_NO || !writes(a->kind)) return;
    const pr_tensor *t = a->base >= 0 && a->base < c->launch->n_args ? c->launch->args[a->base].tensor : NULL;
    if (a->active != PR_YES || a->writes != PR_YES || !a->addr_known || !t || !c->written[a->base]) {
        c->unknown = true;
        return;
    }
    for (int i = 0; i < a->width; i++) {
        pr_i128 at = (pr_i128)a->addr + i;
        if (at < t->storage_lo || at >= t->storage_hi) continue;
        size_t byte = (size_t)(at - t->storage_lo);
        c->written[a->base][byte / 8] |= (unsigned char)(1u << byte % 8);
    }
}

/* False: not known for this configuration. */
static bool cover_of(pr_arena *arena, pr_job *j, int share, cover *out)
{
    pr_interp_setup setup;
    pr_i128 bytes = 0;
    *out = (cover){ .launch = j->launch };
    if (!j->func || !j->lowered || !j->launch || j->module->ttgir || !pr_job_interp(arena, j, false, &setup)) return false;
    out->written = PR_NEW_N(arena, unsigned char *, j->launch->n_args + 1);
    for (int a = 0; a < j->launch->n_args; a++) {
        const pr_tensor *t = j->launch->args[a].tensor;
        if (!t) continue;
        bytes += t->storage_hi - t->storage_lo;
        if (bytes > MOST_BYTES) return false;
        out->written[a] = PR_NEW_N(arena, unsigned char, (size_t)(t->storage_hi - t->storage_lo) / 8 + 1);
    }
    setup.max_work = MOST_WORK / share;
    pr_replay_options o = { .max_events = MOST_EVENTS, .num_warps = j->launch->num_warps };
    return !pr_interp_footprint(arena, &setup, &o, visit, out) && !out->unknown;
}

/* The first byte that one of the two writes and the other does not: its argument, -1 when there is none. */
static int first_difference(const cover *x, const cover *y, size_t *byte)
{
    for (int a = 0; a < x->launch->n_args && a < y->launch->n_args; a++) {
        const pr_tensor *t = x->launch->args[a].tensor, *u = y->launch->args[a].tensor;
        if (!t || !u || t->storage_lo != u->storage_lo || t->storage_hi != u->storage_hi) continue;
        size_t n = (size_t)(t->storage_hi - t->storage_lo);
        for (size_t i = 0; i < n; i++)
            if ((x->written[a][i / 8] ^ y->written[a][i / 8]) >> i % 8 & 1) {
                *byte = i;
                return a;
            }
    }
    return -1;
}

void pr_compare_coverage(pr_plan *p, struct polyrace_verdict *v)
{
    pr_arena *own = p->n_jobs > 1 ? pr_arena_new(0, pr_arena_oom(v->arena)) : NULL;
    cover first = { 0 }, other;
    int base = -1;
    for (int k = 0; own && k < p->n_jobs && !p->ctx->interrupt; k++) {
        size_t byte = 0;
        if (!cover_of(own, &p->jobs[k], p->n_jobs, base < 0 ? &first : &other)) continue;
        if (base < 0) {
            base = k;
            continue;
        }
        int a = first_difference(&first, &other, &byte);
        if (a < 0) continue;
        const pr_tensor *t = first.launch->args[a].tensor;
        bool by_first = first.written[a][byte / 8] >> byte % 8 & 1;
        pr_i128 element = pr_fdiv(t->storage_lo + (pr_i128)byte - t->ptr, t->elem_bytes ? t->elem_bytes : 1);
        const char *text = pr_arena_printf(v->arena, "configurations write different parts of " PR_STR_FMT ": configuration %d writes element %lld, configuration %d does not",
                                           PR_STR_ARG(first.launch->args[a].name), by_first ? base : k, (long long)element, by_first ? k : base);
        pr_vec_push(v->arena, &v->configs[k].notes, text);
    }
    pr_arena_free(own);
}
