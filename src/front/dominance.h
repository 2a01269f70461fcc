/* Which block of a region dominates which other? */
#ifndef PR_FRONT_DOMINANCE_H
#define PR_FRONT_DOMINANCE_H
#include "front/ir.h"

typedef struct pr_doms {
    int n;                      /* blocks of the region                                        */
    int *pos;                   /* preorder number in the dominator tree, -1 = unreachable     */
    int *size;                  /* blocks dominated, itself included                           */
} pr_doms;

/* Successors are those of each block's last operation; block 0 is the entry. O(m log n). */
pr_doms *pr_doms_new(pr_arena *arena, const pr_region *r);
/* Does block a dominate block b (numbers in the region)? Everything dominates an unreachable b. */
bool pr_doms_has(const pr_doms *d, int a, int b);
#endif
