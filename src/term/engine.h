/* What an engine offers: one row of the engine table a tier (decision-engine.md 2). Rows in order
 * of cost: the pre-tests of src/pre, isl, enumeration, Z3. */
#ifndef PR_TERM_ENGINE_H
#define PR_TERM_ENGINE_H
#include "term/query.h"
#include "util/err.h"

typedef struct pr_engine_ctx pr_engine_ctx;
typedef struct pr_engine {
    const char *name;                 /* "pretest", "closure", "sweep", "isl", "enum", "z3" */
    unsigned accepts;                 /* fragment classes it can take                        */
    /* Fills *out (answer included). scratch: where messages and the point live; not the arena of
     * the query's terms. Never reads an error as EMPTY. */
    void (*decide)(pr_engine_ctx *ctx, const pr_query *q, const pr_limits *limits,
                   pr_arena *scratch, pr_outcome *out);
    /* Cheap to call: expensive library start-up waits for the first decide. */
    pr_engine_ctx *(*open)(pr_arena *arena);
    void (*close)(pr_engine_ctx *ctx);
    /* The query in the engine's own language: isl text or SMT-LIB 2.6. False with *why when a term
     * does not fit. */
    bool (*dump)(const pr_query *q, const pr_limits *limits, pr_buf *out, const char **why);
    const char *(*version)(void);           /* null: its library is not there */
} pr_engine;

const pr_engine *pr_engine_isl(void);   /* src/poly */
const pr_engine *pr_engine_z3(void);    /* src/smt; null when built without Z3; opens the library when it is first asked */
#endif
