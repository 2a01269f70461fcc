/* Inside of the walker: values, environment, and what walk.c and effects.c share. */
#ifndef PR_SHM_WALK_H
#define PR_SHM_WALK_H
#include "front/ops.h"
#include "shm/events.h"
#include "shm/phases.h"

/* Operations that one walk follows. */
enum { PR_SHM_SYMBOLIC_STEPS = 1 << 17, PR_SHM_RUN_STEPS = 4000000 };
enum { PR_SHM_STATES = 5000000 };

typedef enum { PR_SV_NONE, PR_SV_TERM, PR_SV_VIEW, PR_SV_VIEWS, PR_SV_OPAQUE } pr_sv_kind;
/* A value of the program as the walker sees it: a scalar term (Boolean for i1), a memdesc, one of several memdescs
 * (views.c: t says which one by number, NONE: not known), or something that is not followed. */
typedef struct pr_sv { pr_sv_kind kind; pr_term t; pr_shm_view v; int n_views; pr_shm_view *views; } pr_sv;

/* Loops that divide a sequence of iterations into executions in the same way. */
typedef struct pr_flat_nest { pr_term lb, ub, step, trips, total; } pr_flat_nest;

/* A value that a loop carries, behind it: `form` over `at` after `steps` iterations (phases.h). */
typedef struct pr_walk_end { pr_term value, form, steps; pr_var at; } pr_walk_end;

/* A result that is a launch value of its own; of a loop: bounds, step, trip count, and its quotient before 0 is the least. */
typedef struct pr_cut { int opcode; pr_term a, b, c; pr_term value; pr_var quotient; } pr_cut;

/* A loop directly inside an outermost loop, and the scalars that the outer loop carries into it and takes from
 * it again as they are: over the iterations of all executions of the inner loop they are states of one loop. */
typedef struct pr_flat {
    const pr_op *outer, *inner;
    int n, *outer_arg, *inner_arg;   /* numbers of carried values                                   */
    pr_term *init, *form;        /* when the outer loop begins; over counter, NONE = no closed form     */
    pr_var counter;
    pr_term trips;               /* of one execution, NONE unknown                                */
    pr_term span;                /* the same where there is any; NONE: not the same in each             */
    bool product;                /* a ring position is the outer counter times something, plus ...     */
    bool active;                 /* some of them has no closed form over the two counters             */
} pr_flat;

typedef struct pr_walk {
    pr_shm_prog *p;
    pr_terms *T;
    pr_arena *arena;
    bool concrete, emit;
    pr_sv *env;                  /* by value id                                                  */
    PR_VEC(pr_term) path;        /* symbolic: conditions that hold here                            */
    PR_VEC(pr_term) given;       /* and those of them about unknown values                           */
    int branch, branch_loops, n_branches;
    int may;                     /* enclosing conditions that are not modelled                     */
    int agent, ws, n_ws, seq;
    int warps;                   /* of the agent                                                 */
    const pr_op *local_wait; const pr_block *local_block; /* a warpGroupLocal wait whose warp groups have not met yet  */
    int n_loops; int loop[PR_SHM_LOOPS]; int64_t iteration[PR_SHM_LOOPS], flat[PR_SHM_LOOPS];
    int looks;                   /* conditions of scf.while around this operation: it may happen many times */
    bool deep;                   /* more loops than PR_SHM_LOOPS                                  */
    bool unbounded;              /* symbolic: inside a loop of unknown trip count                   */
    int copy;                    /* isolate.c                                                    */
    int n_states;                /* state variables made: index PR_SHM_STATES and up                */
    PR_VEC(const pr_op *) shifts;/* by carried amounts of which it is not known yet whether they are less than the width */
    PR_VEC(pr_walk_end) ends;
    PR_VEC(pr_cut) cuts;
    PR_VEC(pr_flat) flats;
    PR_VEC(pr_flat_nest) nests;
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
/* A launch value that stands for v, which may be anything; one for each copy. */
pr_sv pr_walk_fresh(pr_walk *w, const pr_value *v);
/* isolate.c: reads a loop as two iterations where that is asked for; false: it is not. */
bool pr_walk_isolate(pr_walk *w, const pr_op *op);
/* while.c: reads a scf.while that counts; false: it is none that does. */
bool pr_walk_while(pr_walk *w, const pr_op *op);
/* Number of a loop, and a variable for a value that it carries. */
int pr_walk_loop_number(pr_walk *w, const pr_op *op);
pr_var pr_walk_state(pr_walk *w);
/* The path as one Boolean term. */
pr_term pr_walk_when(pr_walk *w);
void pr_walk_block(pr_walk *w, const pr_block *b);

/* flat.c: loops inside loops. find: the flats of an outermost loop, before its body is read. of: the one whose inner
 * loop is op. recover: forms from the updates of one iteration, as carried by the inner loop (first: its values in c).
 * nest_of: number of the nest and its trip count, -1 when the bounds are not known. */
void pr_flat_find(pr_walk *w, const pr_op *op, const pr_block *body, const pr_sv *init);
pr_flat *pr_flat_of(pr_walk *w, const pr_op *op);
int pr_flat_member(const pr_flat *f, int inner_arg);
void pr_flat_recover(pr_walk *w, pr_flat *f, const pr_sv *init, const pr_shm_carried *c, const int *first);
int pr_flat_nest_of(pr_walk *w, pr_flat *f, pr_term *total);
/* Does the term depend on which execution of a flat loop, or which iteration of one execution, this is? */
bool pr_flat_local(const pr_walk *w, pr_term t, bool execution);
/* Does a loop bound or condition here depend on it? */
bool pr_flat_narrowed(pr_walk *w);
/* t with what it says about the place of an iteration, `outer counter times iterations of one execution, plus the iteration`, as the number
 * among those of all executions. */
pr_term pr_flat_whole(pr_walk *w, pr_term t);
/* Silent walk: an event whose barrier or phase is about a product with the outer counter. */
void pr_flat_notice(pr_walk *w, const pr_shm_event *e);
/* An event with its when made, pred among it: says which execution it is in where that is known and it depends on it. */
void pr_flat_settle(pr_walk *w, pr_shm_event *e, pr_term pred);

/* views.c: one of the views, number `which` of them; the view itself where that is a constant. */
pr_sv pr_walk_one_of(pr_walk *w, const pr_shm_view *views, int n, pr_term which);
/* a where c holds (NONE: not known), else b, when both are memdescs; opaque when that cannot be said. */
pr_sv pr_walk_either(pr_walk *w, pr_term c, const pr_sv *a, const pr_sv *b);
bool pr_walk_same_frame(const pr_shm_view *a, const pr_shm_view *b);
/* The memdescs of the type of value `at` among the n first values of a loop, which it may hand around: their number, and
 * the value as one of them. Below 2: nothing to tell apart. */
int pr_walk_rotated(pr_walk *w, const pr_sv *init, int n, int at, const pr_op *loop, pr_sv *as);
/* The number of the view that s is, among views; NONE: none of them, or not known which. */
pr_term pr_walk_number(pr_walk *w, const pr_sv *s, const pr_shm_view *views, int n);

/* unknown.c: carried value i without a closed form as a variable of its own in every iteration of the loop, or behind it (loop -1);
 * any: also where it may be anything. NONE: it stays not followed. settle: what an event says about such values. */
pr_term pr_walk_unknown_value(pr_walk *w, int loop, const pr_shm_carried *c, int n, int i, bool any);
void pr_walk_settle_unknown(pr_walk *w, pr_shm_event *e, pr_term pred);

/* A number by which launch values are divided, or a loop advances: bounded runs use its multiples. */
void pr_walk_scale(pr_walk *w, pr_i128 v);
/* The constant that a divisor or step is a multiple of. */
pr_i128 pr_walk_content(pr_walk *w, pr_term t);
/* The term is about launch values alone. */
bool pr_walk_invariant(pr_walk *w, pr_term t);
/* steps.c: a condition, where it asks for a later iteration of a loop that advances by a launch value, as one about counters. */
pr_term pr_walk_in_steps(pr_walk *w, pr_term t);
/* scalar.c: integer arithmetic; false when the operation is none of it. */
bool pr_walk_scalar(pr_walk *w, const pr_op *op);
pr_term pr_walk_unsigned(pr_walk *w, pr_term t, int bits);
/* effects.c: views and events of ttg and ttng operations; false when the operation is none of them. */
bool pr_walk_effect(pr_walk *w, const pr_op *op);
/* Scratch memory of what a region computes that is not walked. It orders nothing, so one event stands for any number. */
void pr_walk_hidden(pr_walk *w, const pr_region *r);
void pr_walk_emit(pr_walk *w, pr_shm_event e, pr_sv pred);
/* exits.c: the blocks of the function, one after the other. */
void pr_walk_function(pr_walk *w);
/* calls.c: the call does nothing to shared memory but use scratch memory of its own; false also when its functions are too many or too long to be looked at. */
bool pr_shm_quiet_call(const pr_ir *ir, const pr_op *op);
/* read.c */
bool pr_shm_is_view(int opcode);
#endif
