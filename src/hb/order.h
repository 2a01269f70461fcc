/* What orders two executions of one program: barriers (O2), dependencies (O3); happens-before.md 1.4, 4.7. */
#ifndef PR_HB_ORDER_H
#define PR_HB_ORDER_H
#include "hb/encode.h"

/* Appends conjuncts that hold when the two executions are not ordered by O2 and O3 (O1 is in the
 * distinctness of the pair). *never set when they are always ordered. False: barriers whose number is not
 * a term may order more, so that a witness is only possible. */
bool pr_order_unordered(pr_encoding *e, const pr_side *a, const pr_side *b, bool without_o3,
                        pr_term_vec *core, bool *never, bool *used_o3);
/* Could atomics order the pair (leg test of happens-before.md 3.7 with "value-modelled" dropped)?
 * Then a witness is not a race but `needs-synchronisation`; *w and *r name the two atomics. */
bool pr_order_maybe_synchronised(pr_encoding *e, int a, int b, bool intra, int *w, int *r);
/* x before y for all lanes, two executions of one program (both sides of one copy), one of them outside all loops:
 * by barriers, or around a scalar release or acquire where the compiler is taken to place them (O4). */
pr_term pr_order_before(pr_encoding *e, const pr_side *x, const pr_side *y);
/* The same where the two run in one iteration of the loops around both. */
pr_term pr_order_before_here(pr_encoding *e, const pr_side *x, const pr_side *y);
bool pr_order_outside_loops(const pr_record *r);
/* CTA barriers that the compiler puts around scalar atomics (O4), by --atomic-order: before a release; behind an
 * acquire; behind an acquire whose result decides a branch or a mask. `auto`: what docs/decisions/0012 found for the
 * launch's Triton release and target, nothing for others. */
enum { PR_CTA_PRE = 1, PR_CTA_POST = 2, PR_CTA_POST_USED = 4 };
unsigned pr_order_cta(const pr_encoding *e);
/* Does it place one before this release, behind this acquire? */
bool pr_order_barrier_before(const pr_encoding *e, const pr_record *r);
bool pr_order_barrier_behind(const pr_encoding *e, const pr_record *r);
bool pr_record_releases(const pr_record *r);
bool pr_record_acquires(const pr_record *r);
/* O3 on this load rests on the premise that its replicas do not matter (neither (i) nor (ii) of 1.5). */
bool pr_order_is_replicated(const pr_encoding *e, const pr_record *load);
#endif
