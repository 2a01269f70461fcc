/* Which records can meet: storage components, pair enumeration and the exact structural filters of
 * happens-before.md 3.4 and 3.6. A filtered pair needs no query; the reason is in the ledger. */
#include "hb/ladder.h"

bool pr_record_writes(const pr_record *r)
{
    return r->kind != PR_RECORD_LOAD && r->kind != PR_RECORD_POLL && r->kind != PR_RECORD_ATOMIC_LOAD;
}
bool pr_record_reads(const pr_record *r) { return r->kind != PR_RECORD_STORE && r->kind != PR_RECORD_ATOMIC_STORE; }

static int root(int *c, int i)
{
    while (c[i] != i) i = c[i] = c[c[i]];
    return i;
}

void pr_run_components(pr_run *run)
{
    const pr_records *R = run->R;
    const pr_launch *L = run->L;
    int n = R->n_args;
    run->component_t0 = PR_NEW_N(run->arena, int, n + 1);
    run->component_t1 = PR_NEW_N(run->arena, int, n + 1);
    bool *accessed = PR_NEW_N(run->arena, bool, n + 1);
    run->disjoint = true;
    run->unbound = false;
    for (int i = 0; i < n; i++) run->component_t0[i] = run->component_t1[i] = i;
    for (int i = 0; i < R->records.n; i++) {
        int b = R->records.data[i].base;
        if (b >= 0) accessed[b] = true;
        else run->disjoint = false;
    }
    for (int i = 0; i < n; i++) {
        const pr_tensor *t = L && i < L->n_args ? L->args[i].tensor : NULL;
        if (accessed[i] && !t) run->unbound = true;
        for (int j = 0; t && j < i; j++) {
            const pr_tensor *u = j < L->n_args ? L->args[j].tensor : NULL;
            if (!u || t->storage_lo >= u->storage_hi || u->storage_lo >= t->storage_hi) continue;
            run->component_t1[root(run->component_t1, i)] = root(run->component_t1, j);
            if (accessed[i] && accessed[j]) run->disjoint = false;
        }
    }
    for (int i = 0; i < n; i++) run->component_t1[i] = root(run->component_t1, i);
}

static bool is_atomic(const pr_record *r) { return r->kind >= PR_RECORD_RMW; }

/* Every overlap of the two atomics is an exact overlap and their scopes include each other, so every
 * conflict is mutually atomic: equal widths, one base, both offsets congruent modulo the width. */
static bool always_mutual(pr_run *run, pr_box *box, const pr_record *a, const pr_record *b, bool intra)
{
    if (!is_atomic(a) || !is_atomic(b) || a->via_desc != b->via_desc || a->width != b->width) return false;
    if (!intra && (a->scope == PR_SCOPE_CTA || b->scope == PR_SCOPE_CTA)) return false;
    if (a->base < 0 || a->base != b->base || pr_term_none(a->offset) || pr_term_none(b->offset)) return false;
    pr_residue x = pr_residue_of(box, a->offset), y = pr_residue_of(box, b->offset);
    if (x.modulus % a->width != 0 || y.modulus % a->width != 0) return false;
    return pr_fmod(x.residue, a->width) == pr_fmod(y.residue, a->width);
}

static const char *filter(pr_run *run, pr_box *box, const int *component, const pr_record *a, const pr_record *b,
                          bool intra)
{
    if (!pr_record_writes(a) && !pr_record_writes(b)) return "neither writes";
    if (a->base >= 0 && b->base >= 0 && component[a->base] != component[b->base]) return "different buffers";
    if (always_mutual(run, box, a, b, intra)) return "mutually atomic";
    return NULL;
}

void pr_pairs_enumerate(pr_run *run, const int *component, pr_pair_vec *out)
{
    pr_box *box = pr_box_new(run->R->terms);
    int n = run->R->records.n;
    pr_vec_reserve(run->arena, out, out->n + n * (n + 1));
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++)
            for (int intra = 0; intra < 2; intra++) {
                const pr_record *a = &run->R->records.data[i], *b = &run->R->records.data[j];
                pr_pair p = { .a = i, .b = j, .intra = intra };
                p.evidence = filter(run, box, component, a, b, intra);
                if (p.evidence) p.state = PR_PAIR_FILTERED;
                pr_vec_push(run->arena, out, p);
            }
}
