/* isl as an engine, and isl texts for people. No isl type leaves src/poly through this header. */
#ifndef PR_POLY_POLY_H
#define PR_POLY_POLY_H
#include "term/engine.h"

/* One access as a set of instances and a map from instances to bytes. */
typedef struct pr_isl_access {
    const char *name;                       /* tuple name of the record, e.g. "S0"              */
    const char *arg;                        /* name of the argument the bytes belong to         */
    const pr_var *params; int n_params;     /* printed by their variable names                  */
    const pr_var *dims; const char *const *dim_names; int n_dims;
    const pr_term *domain; int n_domain;    /* conjuncts                                        */
    pr_term offset;                         /* first byte                                       */
} pr_isl_access;

/* Prints `[params] -> { name[dims] : ... }` and `[params] -> { name[dims] -> arg[byte] : ... }`.
 * False with *why when a term has no isl form or the operation limit is reached. */
bool pr_isl_access_text(pr_terms *T, const pr_isl_access *in, int64_t max_ops, pr_arena *arena,
                        pr_buf *domain, pr_buf *access, const char **why);
/* isl operations the engine has used since it was opened. */
uint64_t pr_isl_operations(const pr_engine_ctx *ctx);
#endif
