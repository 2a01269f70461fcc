/* Inside of the walker: values, environment, and what walk.c and effects.c share. */
#ifndef PR_SHM_WALK_H
#define PR_SHM_WALK_H
#include "front/ops.h"
#include "shm/events.h"
#include "shm/phases.h"

typedef enum { PR_SV_NONE, PR_SV_TERM, PR_SV_VIEW, PR_SV_OPAQUE } pr_sv_kind;
/* A value of the program as the walker sees it: a scalar term (Boolean for i1), a memdesc, or something
 * that is not followed. */
typedef struct pr_sv { pr_sv_kind kind; pr_term t; pr_shm_view v; } pr_sv;

typedef struct pr_cut { int opcode; pr_term a, b, c; pr_term value; } pr_cut;

typedef struct pr_walk {
    pr_shm_prog *p;
    pr_terms *T;
    pr_arena *arena;
    bool concrete, emit;
    pr_sv *env;                  /* by value id                                                  */
    PR_VEC(pr_term) path;        /* symbolic: conditions that hold here                            */
    int branch, branch_loops, n_branches;
    int may;                     /* enclosing conditions that are not modelled                     */
    int agent, ws, n_ws, seq;
    int warps;                   /* of the agent                                                 */
    const pr_op *local_wait; const pr_block *local_block; /* a warpGroupLocal wait whose warp groups have not met yet  */
    int n_loops; int loop[PR_SHM_LOOPS]; int64_t iteration[PR_SHM_LOOPS];
    bool deep;                   /* more loops than PR_SHM_LOOPS                                  */
    bool unbounded;              /* symbolic: inside a loop of unknown trip count                   */
    int n_states;                /* state variables made                                         */
    PR_VEC(pr_cut) cuts;
    /* concrete */
    const int64_t *value; int n_values;
    pr_shm_trace *trace; int n_events, limit; int64_t n_steps;
    /* symbolic */
    pr_shm_model *model;
} pr_walk;

pr_sv pr_walk_get(pr_walk *w, const pr_value *v);
void pr_walk_set(pr_walk *w, const pr_value *v, pr_sv s);
pr_sv pr_walk_term(pr_term t);
pr_sv pr_walk_opaque(void);
/* A launch value: a number in a concrete walk, a variable otherwise. */
pr_sv pr_walk_leaf(pr_walk *w, const pr_op *op, const pr_value *v, const char *name, bool from_memory);
/* The path as one Boolean term. */
pr_term pr_walk_when(pr_walk *w);
void pr_walk_block(pr_walk *w, const pr_block *b);

/* A number by which launch values are divided, or a loop advances: bounded runs use its multiples. */
void pr_walk_scale(pr_walk *w, pr_i128 v);
/* scalar.c: integer arithmetic; false when the operation is none of it. */
bool pr_walk_scalar(pr_walk *w, const pr_op *op);
/* effects.c: views and events of ttg and ttng operations; false when the operation is none of them. */
bool pr_walk_effect(pr_walk *w, const pr_op *op);
void pr_walk_emit(pr_walk *w, pr_shm_event e, pr_sv pred);
/* read.c */
bool pr_shm_is_view(int opcode);
#endif
