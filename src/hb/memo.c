/* An open hash table of queries. What tells two queries apart is compared in full, never by hash alone; the
 * number of the pair and the mark of an over-approximation say nothing about the answer. */
#include "hb/memo.h"
#include <string.h>

enum { MOST_QUERIES = 1 << 16 };

typedef struct slot {
    uint64_t hash;
    pr_query q;
    pr_asked asked;
} slot;

struct pr_memo {
    pr_arena *arena;
    slot **table;
    int n, cap;
};

pr_memo *pr_memo_new(pr_arena *arena)
{
    pr_memo *m = PR_NEW(arena, pr_memo);
    m->arena = arena;
    m->cap = 64;
    m->table = PR_NEW_N(arena, slot *, m->cap);
    return m;
}

static bool same_ints(const void *a, int na, const void *b, int nb, size_t size)
{
    return na == nb && (na == 0 || memcmp(a, b, size * (size_t)na) == 0);
}

static bool same(const pr_query *a, const pr_query *b)
{
    return a->terms == b->terms && a->is_pair == b->is_pair && a->intra == b->intra && a->same_record == b->same_record
        && a->width[0] == b->width[0] && a->width[1] == b->width[1] && pr_term_is(a->addr[0], b->addr[0])
        && pr_term_is(a->addr[1], b->addr[1]) && memcmp(a->pid, b->pid, sizeof a->pid) == 0
        && a->n_core_a == b->n_core_a && a->n_core_b == b->n_core_b && a->suggest == b->suggest && a->hint == b->hint
        && same_ints(a->vars, a->n_vars, b->vars, b->n_vars, sizeof *a->vars)
        && same_ints(a->core, a->n_core, b->core, b->n_core, sizeof *a->core)
        && same_ints(a->distinct, a->n_distinct, b->distinct, b->n_distinct, sizeof *a->distinct)
        && same_ints(a->premises, a->n_premises, b->premises, b->n_premises, sizeof *a->premises)
        && same_ints(a->twins, a->n_twins, b->twins, b->n_twins, sizeof *a->twins);
}

static uint64_t hash_of(const pr_query *q)
{
    const int32_t head[] = { (int32_t)q->addr[0].id, (int32_t)q->addr[1].id, q->width[0], q->width[1], q->n_core,
                             q->n_distinct, q->n_premises, q->n_vars, q->intra, q->same_record, q->suggest };
    uint64_t h = pr_hash_bytes(head, sizeof head, 1);
    if (q->n_core) h = pr_hash_bytes(q->core, sizeof *q->core * (size_t)q->n_core, h);
    if (q->n_distinct) h = pr_hash_bytes(q->distinct, sizeof *q->distinct * (size_t)q->n_distinct, h);
    if (q->n_premises) h = pr_hash_bytes(q->premises, sizeof *q->premises * (size_t)q->n_premises, h);
    return h;
}

static void put(pr_memo *m, slot *s)
{
    int i = (int)(s->hash & (uint64_t)(m->cap - 1));
    while (m->table[i]) i = (i + 1) & (m->cap - 1);
    m->table[i] = s;
}

static void grow(pr_memo *m)
{
    slot **old = m->table;
    int n = m->cap;
    m->cap *= 2;
    m->table = PR_NEW_N(m->arena, slot *, m->cap);
    for (int i = 0; i < n; i++)
        if (old[i]) put(m, old[i]);
}

#define KEEP(list, n) ((n) ? pr_arena_copy(m->arena, (list), sizeof *(list) * (size_t)(n)) : NULL)

pr_asked *pr_memo_find(pr_memo *m, const pr_query *q, uint64_t *hash)
{
    uint64_t h = *hash = hash_of(q);
    for (int i = (int)(h & (uint64_t)(m->cap - 1)); m->table[i]; i = (i + 1) & (m->cap - 1))
        if (m->table[i]->hash == h && same(&m->table[i]->q, q)) return &m->table[i]->asked;
    return NULL;
}

void pr_memo_add(pr_memo *m, const pr_query *q, uint64_t hash, const pr_asked *asked)
{
    if (m->n == MOST_QUERIES) return;
    if (2 * ++m->n > m->cap) grow(m);
    slot *s = PR_NEW(m->arena, slot);
    s->hash = hash;
    s->q = *q;
    s->q.vars = KEEP(q->vars, q->n_vars);
    s->q.core = KEEP(q->core, q->n_core);
    s->q.distinct = KEEP(q->distinct, q->n_distinct);
    s->q.premises = KEEP(q->premises, q->n_premises);
    s->q.twins = KEEP(q->twins, q->n_twins);
    s->asked = *asked;
    put(m, s);
}
