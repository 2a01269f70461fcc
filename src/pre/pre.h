/* The cheap tiers before isl: rows of the engine table that answer most pair queries in microseconds.
 *
 * pretest and closure only prove (EMPTY or UNKNOWN), sweep only refutes (WITNESS or UNKNOWN), enum decides
 * queries whose variables are all bounded. All limits are counts, so answers do not depend on the machine.
 * decision-engine.md 3. */
#ifndef PR_PRE_PRE_H
#define PR_PRE_PRE_H
#include "term/engine.h"

const pr_engine *pr_engine_pretest(void); /* interval, residue, mixed radix and delta search */
const pr_engine *pr_engine_closure(void); /* which terms are equal in both copies           */
const pr_engine *pr_engine_sweep(void);   /* a few evaluated instances, corners first        */
const pr_engine *pr_engine_enum(void);    /* all instances                                 */

/* Defaults of the limits that a pr_limits of 0 stands for. */
enum {
    PR_PRE_SWEEP = 1024,          /* evaluated points                                       */
    PR_PRE_ENUM = 1 << 20,        /* instances, and pairs of instances looked at             */
    PR_PRE_DELTA_NODES = 4096,
    PR_PRE_FORMS = 64,            /* closure: forms of one query                             */
    PR_PRE_ATOMS = 64             /* closure: atoms of one form                              */
};

/* Test builds can drop one side condition at a time (decision-engine.md 11). */
typedef enum pr_pre_rule {
    PR_DROP_NONE,
    PR_DROP_RESIDUE,              /* 1.3: overlap is an equality only when the residue is shown */
    PR_DROP_BOTH_WIDTHS,          /* 1.3, 3.2: both widths count                              */
    PR_DROP_AXES,                 /* 3.0: every alternative needs its own contradiction        */
    PR_DROP_ALTERNATIVE,          /* 3.0: two records, no alternatives: nothing follows            */
    PR_DROP_ABSENT,               /* 3.0, 3.3: an absent dimension is never recovered          */
    PR_DROP_HULL,                 /* 3.2, 3.4: extremes over both records                     */
    PR_DROP_W,                    /* 3.3: the window of the width                             */
    PR_DROP_SLACK,                /* S: slack stays on R                                     */
    PR_DROP_P_SLACK,              /* P: the slack counts                                     */
    PR_DROP_P_SIGN,               /* P: s >= 1 is proved                                     */
    PR_DROP_D_KIND,               /* D: one kind, or x >= 0                                  */
    PR_DROP_SIGN,                 /* ranges: sign of the dividend of a truncating remainder     */
    PR_DROP_P_FACTOR,             /* P: the factor is one value in both copies                  */
    PR_DROP_C_EQUAL,              /* C: the operands are equal, not merely apart by a known amount    */
    PR_DROP_L_LAST,               /* L: one pair is left                                      */
    PR_DROP_GCD,                  /* S: the gcd of all coefficients of H                        */
    PR_DROP_D_SAME,               /* D: quotient and remainder of one division                    */
    PR_DROP_ARM,                  /* ranges, RX: conjuncts, not arms of a disjunction               */
    PR_DROP_ASSUMED,              /* what rests on a condition is no proof without it                 */
    PR_DROP_LIFT_PART,            /* NO: a part without product goes only when it is >= 0          */
    PR_DROP_SHED,                 /* NO: q*f >= q needs f >= 1                                 */
    PR_DROP_SHED_SIGN,            /* NO: q*f >= q needs q >= 0                                 */
    PR_DROP_LIFT_SIGN,            /* NO: a row is multiplied by a factor >= 0                    */
    PR_DROP_DIVISOR,              /* NO, DM: r <= d - 1 needs d >= 1                           */
    PR_DROP_TABLE_RANGE,          /* T: the facts of a table are those of the indices that occur      */
    PR_DROP_MONOTONE,             /* G: the table is nondecreasing                            */
    PR_DROP_BOTH_ORDERS,          /* G: both orders of the indices are excluded                 */
    PR_DROP_T_APART,              /* T: entries at different indices are different                 */
    PR_DROP_E_EQUAL,              /* E: the query says equal, not merely ordered                     */
    PR_DROP_X_RATIO,              /* X: the form holds one multiple of the whole dividend             */
    PR_DROP_D_DIVISOR,            /* D: the divisor is fixed                                    */
    PR_DROP_LOWER,                /* RX: t >= 0, not only t < R                                  */
    PR_DROP_EXTENT,               /* GS: ids lie below the extent that is the factor                  */
    PR_DROP_START,                /* GS: the same start in both records                            */
    PR_DROP_POINT,                /* E: one number is left in both copies, not in one                 */
    PR_DROP_SUM,                  /* A: the form of two digits has one value                         */
    PR_DROP_ALL_ASSUMED,          /* the condition that is named is all that was taken for granted      */
    PR_DROP_MIRROR                /* ranges: bounds of A are those of B only where rows and ranges are alike */
} pr_pre_rule;
#ifdef PR_FAULTS
extern pr_pre_rule pr_pre_dropped;
#define PR_PRE_DROPS(rule) (pr_pre_dropped == (rule))
#else
#define PR_PRE_DROPS(rule) false
#endif
#endif
