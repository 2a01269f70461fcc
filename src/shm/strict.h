/* The proof that the barriers of `--check-membar` are in the text, for every trip count; see membar.h. */
#ifndef PR_SHM_STRICT_H
#define PR_SHM_STRICT_H
#include "poly/relation.h"
#include "shm/events.h"

/* What the proof of happens-before (prove.c) lends. */
typedef struct pr_shm_lent {
    pr_shm_prog *p;
    pr_rels *R;
    const pr_shm_event *ev; int n;
    void *prover;
    /* Instances of x before instances of y in the program order of one agent. middle: one of the two is a link of a
     * chain, whose instance has to exist. */
    pr_rel (*order)(void *prover, int x, int y, bool middle);
    /* Instances whose accesses a and b conflict. */
    pr_rel (*meeting)(void *prover, int x, const pr_shm_access *a, int y, const pr_shm_access *b);
    /* Is the relation empty? Else a refusal about op. */
    bool (*none)(void *prover, pr_rel left, const pr_op *op, const char *why);
} pr_shm_lent;

/* The accesses of different partitions, and copies, are ordered already (M1 assumed). False with a refusal. */
bool pr_shm_prove_strictly(const pr_shm_lent *l);
#endif
