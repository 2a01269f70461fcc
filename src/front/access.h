/* Which global-memory accesses does a kernel make? From the parsed tree to the raw part of pr_records.
 *
 * The walk is an abstract interpretation over terms: every IR value gets a term over its own lanes,
 * every memory operation becomes one record per entry of its guarded pointer set, every branch and
 * loop becomes a frame (ttir-front.md 2, 3, 5, 6). Nothing that may touch memory disappears: what is
 * not understood is a record with `refused` set or a refusal of the whole kernel.
 *
 * Access numbers are stable names of (operation, call site); a number without a record belongs to an
 * operation that turned out to be unreachable. Host descriptor arguments need a binding. */
#ifndef PR_FRONT_ACCESS_H
#define PR_FRONT_ACCESS_H
#include "front/ir.h"
#include "hb/record.h"

/* What the launch says of one host descriptor argument. The record's base is that argument. */
typedef struct pr_desc_binding {
    int arg;                       /* argument number of the !tt.tensordesc value              */
    int rank;
    int64_t shape[PR_MAX_RANK], stride[PR_MAX_RANK]; /* elements                               */
} pr_desc_binding;

typedef struct pr_lower_options {
    int max_unroll;                /* trip counts up to this are followed iteration by iteration to
                                      find carried values (default 64)                          */
    int64_t max_steps;             /* operations lowered before refusal `budget` (default 1000000) */
    const pr_desc_binding *desc; int n_desc;
    bool no_gpu_barrier;           /* the text is of Triton 3.7 or newer, whose front end never prints
                                      gpu.barrier: refused there (ttir-front.md 2.4)              */
    int fault;                     /* planted fault for self-tests, 0 = none (PR_FAULTS builds)    */
} pr_lower_options;
void pr_lower_options_default(pr_lower_options *o);

/* Fills the raw part of *out (zeroed by the callee). kernel is a tt.func with a body. o may be null.
 * Fails only on internal errors; everything about the kernel is a refusal in *out. */
pr_status pr_lower_kernel(pr_arena *arena, pr_terms *terms, const pr_ir *ir, const pr_op *kernel,
                          const pr_lower_options *o, pr_records *out, pr_error *err);
#endif
