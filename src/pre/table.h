/* What lookup tables add to the equality closure (decision-engine.md 3.4 rule T, 3.6; happens-before.md 6.4). */
#ifndef PR_PRE_TABLE_H
#define PR_PRE_TABLE_H
#include "pre/space.h"

/* learn: the node's value in A minus its value in B is delta in every solution. */
typedef void (*pr_table_learn)(void *user, int node, pr_i128 delta);
/* T and segments: what one form tells about the indices of the entries in it. */
void pr_table_rules(pr_space *s, const pr_form *f, pr_table_learn learn, void *user);
/* T for entries known equal, and J: dimensions that the known functions of them determine. Enumerates, so
 * asked when nothing else is left. */
void pr_table_determine(pr_space *s, pr_arena *scratch, pr_table_learn learn, void *user);
bool pr_table_any(const pr_space *s);      /* some node is an entry */
#endif
