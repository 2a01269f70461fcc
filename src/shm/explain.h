/* What `polyrace explain` prints about shared memory: the events, happens-before between barrier phases, and for each two
 * operations that meet the instances that do and those that nothing orders. Relations are in isl's notation: E3[i] -> E7[j]
 * are instances of two events (iteration numbers of their loops, outermost first), P2[s, n] is phase n of barrier s of an
 * allocation; launch values are parameters. */
#ifndef PR_SHM_EXPLAIN_H
#define PR_SHM_EXPLAIN_H
#include "shm/prove.h"

void pr_shm_print_relations(const pr_shm_prog *p, const pr_shm_model *m, const pr_shm_proof *proof, const pr_shm_findings *findings,
                            bool json, pr_buf *b);
#endif
