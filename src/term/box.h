/* The inside of a pr_box; included by files of src/term only. */
#ifndef PR_TERM_BOX_H
#define PR_TERM_BOX_H
#include "term/store.h"

/* One fact a node; valid where stamp equals the box's stamp + 1. */
typedef struct pr_box_memo { void *facts; uint32_t *stamp; uint32_t cap; } pr_box_memo;

struct pr_box {
    pr_terms *T;
    pr_interval *bounds; uint32_t n_bounds;   /* indexed by variable, whole line when not set */
    bool changed;                             /* a bound was set: own facts are too wide          */
    uint32_t stamp;
    pr_box_memo interval, residue, classes;
    PR_VEC(uint32_t) stack;
};

void pr_box_fill(pr_box *b, pr_term t, pr_box_memo *m, size_t size,
                 void (*fill)(pr_box *b, uint32_t id));
/* Interval of a node; its facts must have been filled (pr_range on a term above it). */
static inline pr_interval pr_range_of(const pr_box *b, uint32_t id)
{
    return b->changed ? ((const pr_interval *)b->interval.facts)[id] : b->T->nodes[id].own;
}
#endif
