/* A loop while it is being lowered: what sem_loop.c (bounds, carried values) and sem_while.c (conditions) share. */
#ifndef PR_FRONT_LOOP_PROBE_H
#define PR_FRONT_LOOP_PROBE_H
#include "front/value.h"

typedef enum { SOL_NONE, SOL_PLAIN, SOL_LOST, SOL_INVARIANT, SOL_AFFINE, SOL_ROTATION, SOL_LAG, SOL_CHAIN, SOL_OPAQUE } pr_sol_kind;

typedef struct pr_solution {
    pr_sol_kind kind;
    pr_term step[PR_COMPS_MAX];    /* AFFINE: increment of each component, guards unused           */
    pr_term kept;                  /* AFFINE: obligations of the increments                        */
    pr_term_vec later;             /* AFFINE: FITS over the placeholder that every iteration meets   */
    int next, period;              /* ROTATION                                                   */
    pr_val **chain;                /* CHAIN: value before iteration 0, 1, ..., trip                */
    pr_ids all;
    bool from_memory, from_atomic, from_address;
} pr_solution;

typedef struct pr_loop_probe {
    const pr_op *op;
    const pr_block *pre, *body;    /* pre: the before block of a while, else null                  */
    int n;                         /* carried values                                             */
    pr_val **init, **holder, **yield;
    const pr_value *iv;            /* null for a while                                           */
    pr_term iv_lower, iv_step;
    pr_val *iv_from[2];
    int first_arg;                 /* of the body block                                          */
    int n_pass, *pass;             /* the body's argument and result i is carried value pass[i]; null: i     */
    pr_term lower, upper, step, bounds_held, increment_held;
    pr_ids bound_ids;
    pr_i128 trip;                  /* -1: not constant                                           */
    const pr_val *more[8]; int n_more; /* of a while: conditions beside the one that counts             */
    bool drawn;                    /* a while whose turns are drawn from a counter: none counts, `more` is its condition */
    pr_i128 k_most;
    uint32_t mark;                 /* symbols from here on belong to the probe                     */
    pr_var k;                      /* of the probe                                               */
    int marker;                    /* carried value i is set member -(marker + i)                    */
    pr_solution *sol;
} pr_loop_probe;

/* Does the term hold nothing that changes from turn to turn? */
bool pr_loop_invariant(pr_lower *c, pr_loop_probe *p, pr_term t);
bool pr_loop_probe_body(pr_lower *c, pr_loop_probe *p);        /* first pass: what is yielded */
/* p: bounds set, probed when it carries anything. */
void pr_loop_finish(pr_lower *c, const pr_op *op, pr_loop_probe *p);
pr_frame *pr_loop_push(pr_lower *c, const pr_loop_probe *p);
void pr_loop_refuse(pr_lower *c, const pr_op *op, const char *why);
void pr_loop_set_trip(pr_lower *c, pr_loop_probe *p);
pr_term pr_loop_trip(pr_lower *c, const pr_loop_probe *p);
/* The value of the counter when the loop ends (or where it starts, when it does not run) fits. */
pr_term pr_loop_last_value_fits(pr_lower *c, const pr_loop_probe *p, pr_fits_kind kind, pr_term lower, pr_term step, int bits);
/* The value after the last one the loop runs with (before + step) fits bits. */
pr_term pr_loop_increment_fits(pr_lower *c, const pr_loop_probe *p, pr_term lower, pr_term step, int bits);
#endif
