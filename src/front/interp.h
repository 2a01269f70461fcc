/* Concrete evaluator: which bytes does one program of a launch touch, computed by running the parsed
 * operations with machine integers?
 *
 * It is the independent witness of every reported race, so it shares no code with the lowering, the
 * records or the engines: it includes front/ir.h, front/ops.h and util only.
 *
 * Values. Integers of 1 to 64 bits wrap as the hardware does; wider ones and every float are unknown.
 * A pointer is an absolute byte address plus the kernel argument it was derived from. What is loaded
 * or observed is unknown unless the argument carries contents. Unknown never becomes known again,
 * except where one known operand decides (and with 0, or with all ones, product with 0, select).
 *
 * Control. Known conditions are followed. An unknown one runs both arms, and what happens there is
 * PR_MAYBE; values that differ between the arms are unknown afterwards. A loop with unknown bounds
 * runs its body once with an unknown induction value, all PR_MAYBE. A scf.while with an unknown
 * condition stops the run with a reason, unless it is a wait and setup.gate follows it. */
#ifndef PR_FRONT_INTERP_H
#define PR_FRONT_INTERP_H
#include "front/ir.h"

#define PR_INTERP_MAX_CALLS 16
#define PR_INTERP_MAX_LOOPS 256
#define PR_INTERP_MAX_ARMS 64         /* deeper ones are not listed                                  */

typedef enum {
    PR_INTERP_ARG_UNKNOWN,       /* symbolic, or a float                                        */
    PR_INTERP_ARG_INT,           /* value, any reading congruent modulo 2^bits                    */
    PR_INTERP_ARG_POINTER,       /* value = byte address                                        */
    PR_INTERP_ARG_DESC           /* host descriptor: value = byte address, rank, shape, stride      */
} pr_interp_arg_kind;

typedef struct pr_interp_arg {
    pr_interp_arg_kind kind;
    pr_i128 value;
    /* POINTER: contents from value upwards, contiguous, signed readings; null when not known. Give
     * them only for tensors that the kernel does not write (replay checks it, a probe cannot). */
    const pr_i128 *values;
    int64_t n_values;
    int elem_bytes;
    int rank;                    /* DESC, strides in elements                                   */
    int64_t shape[PR_MAX_RANK], stride[PR_MAX_RANK];
} pr_interp_arg;

/* One lane of one access of a run that has a memory: data are the bits of the stored value or the operands
 * (compare value first); the callee sets what the lane reads. */
typedef struct pr_interp_touch {
    int64_t lane;
    uint64_t addr;
    uint64_t data[2]; bool data_known[2];
    uint64_t old; bool old_known;
    bool wanted;                 /* a condition, a bound or an address is computed from what it reads        */
} pr_interp_touch;
struct pr_interp_event;

/* The end of a loop that polled one integer location until a value came (interp_wait.c): it goes on with every value
 * between lo and hi, or, single, ends with the value lo alone. Nothing of it is known behind the loop. */
typedef struct pr_interp_wait {
    const struct pr_interp_event *poll;  /* the last one                                          */
    bool single;
    int64_t lo, hi;              /* signed readings; lo > hi: nothing is known                         */
    const struct pr_wait_expr *goes_on; /* not null: the condition under which it goes on, and lo > hi            */
} pr_interp_wait;

/* For runs without a memory that follow waits: the value that a location starts with, each atomic of one lane through a
 * pointer with its operands, each wait that ended. */
typedef struct pr_interp_gate {
    void *user;
    bool (*initial)(void *user, uint64_t addr, int width, int64_t *value);
    void (*atomic)(void *user, const struct pr_interp_event *e, const pr_interp_touch *t);
    void (*wait)(void *user, const pr_interp_wait *w);
    bool (*result)(void *user, const struct pr_interp_event *e, uint64_t *value); /* of an atomic that is no poll; false: not known */
} pr_interp_gate;

typedef struct pr_interp_setup {
    const pr_ir *ir;
    const pr_op *func;           /* the kernel                                                 */
    const pr_interp_arg *args;   /* one per argument of the kernel                               */
    int n_args;
    int64_t grid[3];
    int64_t max_work;            /* operations (four each where runs share the limit) plus elements evaluated, 0 = 2^28 */
    const pr_flag *interrupt; /* non-zero = stop soon; null = never                          */
    /* null: contents never change. Else every active lane of an access goes through it, in order; false ends
     * the run there. */
    bool (*touch)(void *user, const struct pr_interp_event *e, pr_interp_touch *t);
    void *touch_user;
    /* By op id, null = none: plain accesses for which touch is not called and whose results are unknown. 1: always, nor are their
     * addresses computed; 2: where look says no. */
    const uint8_t *spare;
    bool (*look)(void *user, const struct pr_interp_event *e);
    bool floats;                 /* follow f16, bf16 and f32 as intervals (interp_float.c); touch sees them packed */
    bool track_deps;             /* fill pr_interp_event.deps                                    */
    const pr_interp_gate *gate;  /* null: a wait stops the run. Not beside touch                       */
} pr_interp_setup;

typedef enum {
    PR_INTERP_DONE,              /* ran to its end                                              */
    PR_INTERP_LIMIT,             /* max_work was reached, or *interrupt was set                    */
    PR_INTERP_STOPPED            /* cannot go on, see pr_machine_why                              */
} pr_interp_status;

typedef enum {
    PR_INTERP_LOAD, PR_INTERP_STORE, PR_INTERP_RMW, PR_INTERP_CAS, PR_INTERP_POLL,
    PR_INTERP_ATOMIC_LOAD, PR_INTERP_ATOMIC_STORE
} pr_interp_kind;
typedef enum {
    PR_INTERP_PLAIN, PR_INTERP_RELAXED, PR_INTERP_ACQUIRE, PR_INTERP_RELEASE, PR_INTERP_ACQ_REL
} pr_interp_sem;
typedef enum {
    PR_INTERP_SCOPE_NONE, PR_INTERP_SCOPE_GPU, PR_INTERP_SCOPE_CTA, PR_INTERP_SCOPE_SYS,
    PR_INTERP_SCOPE_OTHER        /* a spelling that is not one of these                          */
} pr_interp_scope;

/* Number of global barriers executed so far. Two epochs of one generation compare by n exactly; of
 * different generations only the bounds lo, hi are comparable (a barrier may or may not have run). */
typedef struct pr_interp_epoch { int gen; int64_t n, lo, hi; } pr_interp_epoch;

/* Arm of one execution of a branch whose condition is not known. Two accesses of one program with one
 * id and different arms exclude each other. */
typedef struct pr_interp_arm { int id, arm; } pr_interp_arm;

/* One execution of one access operation: all its lanes. Valid during the callback. */
typedef struct pr_interp_event {
    const pr_op *op;
    const int *calls; int n_calls;       /* ids of the tt.call operations, outermost first          */
    const int64_t *iter; int n_iter;     /* 0-based counts, outermost first; -1 = not known          */
    int64_t pid[3];
    int number;                          /* of this execution in this program, 0-based              */
    pr_interp_kind kind;
    pr_interp_sem sem;
    pr_interp_scope scope;
    bool via_desc, via_bptr;
    int width;                           /* bytes per lane                                        */
    int rank; int64_t shape[PR_MAX_RANK]; int64_t n_lanes; /* lanes are numbered row major           */
    pr_tri reached;                      /* YES, or MAYBE under an unknown condition                */
    bool has_position;                   /* every dim of extent > 1 occurs in address or mask        */
    pr_interp_epoch epoch;
    const int *deps; int n_deps;         /* numbers of the reads whose value reaches this address, mask
                                            or value through lane-wise operations of one shape       */
    const pr_interp_arm *arms; int n_arms; /* unknown branches of regions it stands in, outermost first  */
    const struct pr_ival *addr, *mask;   /* read them with pr_interp_lane                           */
} pr_interp_event;

typedef struct pr_interp_lane_info {
    pr_tri active;                       /* reached and mask                                       */
    bool addr_known;
    uint64_t addr;                       /* byte address, when known                               */
    int base;                            /* kernel argument, -1 = not known                         */
} pr_interp_lane_info;
pr_interp_lane_info pr_interp_lane(const pr_interp_event *e, int64_t lane);

typedef void pr_interp_event_fn(void *user, const pr_interp_event *e);

/* Something the run could not follow exactly; the run went on. */
typedef struct pr_interp_note { const pr_op *op; const char *what; } pr_interp_note;

typedef struct pr_machine pr_machine;
pr_machine *pr_machine_new(pr_arena *arena, const pr_interp_setup *setup);
/* Runs one program. Any number of runs on one machine; memory is reused between them. */
pr_interp_status pr_machine_run(pr_machine *m, const int64_t pid[3], pr_interp_event_fn *event,
                                void *user);
/* Does an address, mask, condition or bound of a run rest on the value? With a memory, also anything that is stored. */
bool pr_machine_needs(pr_machine *m, const pr_value *v);
/* From here on max_work bounds all runs together instead of each. */
void pr_machine_set_shared_work(pr_machine *m);
const char *pr_machine_why(const pr_machine *m);      /* of the last LIMIT or STOPPED, else ""        */
const pr_op *pr_machine_where(const pr_machine *m);   /* operation it stopped at, may be null         */
/* First operation of the last run with undefined behaviour (division by zero, quotient overflow, shift
 * by the width or more, loop counter overflow), null when none. */
const pr_op *pr_machine_ub(const pr_machine *m);
/* Notes of all runs so far, one per (operation, text). */
int pr_machine_notes(const pr_machine *m, const pr_interp_note **notes);
/* Was the contents of argument arg read by any run? */
bool pr_machine_read_contents(const pr_machine *m, int arg);

/* ---- one access ---------------------------------------------------------------------------- */
typedef struct pr_interp_target {
    int op_id;
    const int *calls; int n_calls;
    const int64_t *iter; int n_iter;     /* one count per enclosing loop, callers' loops included     */
    const int64_t *lane; int rank;       /* one coordinate per dimension; rank 0 for a scalar         */
} pr_interp_target;

typedef struct pr_probe {
    bool available;                      /* false: why says what is missing; nothing else is valid    */
    const char *why;
    const pr_op *where;                  /* operation why is about, may be null                     */
    pr_tri executed;                     /* the operation ran with this iteration vector             */
    pr_interp_lane_info lane;            /* valid when executed is not NO                           */
    pr_interp_kind kind;
    int width;
    bool via_desc;
    const pr_op *ub;                     /* undefined behaviour met before, null when none            */
} pr_probe;

/* Runs program pid as far as needed to answer for one access: only the backward slice of the access
 * and of the control flow around it is evaluated. */
pr_probe pr_interp_probe(pr_arena *arena, const pr_interp_setup *setup, const int64_t pid[3],
                         const pr_interp_target *target);
/* The same on a machine that is kept: any number of probes and of grids, nothing but probes. */
pr_probe pr_machine_probe(pr_machine *m, const int64_t grid[3], const int64_t pid[3], const pr_interp_target *target);
/* The same for all lanes of that execution at once: event is called with it when it happens. target->lane is not
 * read; lane, kind, width and via_desc of the answer are not filled in. */
pr_probe pr_interp_probe_lanes(pr_arena *arena, const pr_interp_setup *setup, const int64_t pid[3],
                               const pr_interp_target *target, pr_interp_event_fn *event, void *user);
#endif
