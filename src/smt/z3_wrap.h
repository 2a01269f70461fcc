/* The only doors between Z3 values and ours; included by files of src/smt only.
 *
 * One plain (not reference-counted) context lives as long as its engine: no AST can be collected
 * under our feet, and everything goes when the context goes. Solvers, models and parameter sets are
 * counted by hand in any context. Errors are recorded by the handler; an error makes the answer
 * UNKNOWN. */
#ifndef PR_SMT_Z3_WRAP_H
#define PR_SMT_Z3_WRAP_H
#include "z3_load.h"
#include "term/engine.h"
#include "util/watch.h"

Z3_context pr_z3_context_new(void);         /* null as well where there is no Z3 (z3_load.h) */
bool pr_z3_failed(void);                    /* an error since the last pr_z3_clear, this thread */
void pr_z3_clear(void);
Z3_ast pr_z3_int(Z3_context z, pr_i128 v);
/* False when the AST is not a numeral that fits. */
bool pr_z3_i128(Z3_context z, Z3_ast a, pr_i128 *out);

/* A solver in one configuration; the reference is the caller's (pr_z3_solver_free). */
Z3_solver pr_z3_solver_new(Z3_context z, unsigned arith, int64_t rlimit);
void pr_z3_solver_free(Z3_context z, Z3_solver s);
/* Past this many bytes of all of Z3 a check ends as unknown; 0 = no limit. Z3 knows only one such limit a process. */
void pr_z3_memory(int64_t bytes);
uint64_t pr_z3_resources(Z3_context z, Z3_solver s);       /* cumulative over the context */

/* Interrupts the context after t_wall_ms, or when *interrupt becomes non-zero. Not started at all
 * when neither is given: such runs are deterministic. */
pr_watch *pr_z3_watch(Z3_context z, int64_t t_wall_ms, const pr_flag *interrupt);
#endif
