/* Records: one static global-memory access of the kernel, as terms (happens-before.md 2).
 *
 * front/access fills the raw part while it walks the kernel; hb/build finishes the derived part.
 * Terms use copy-less variables: PID, GRID, PARAM (by argument number), LANE d (dimension d of the
 * access's own final shape), ITER loop (0-based iteration count), and APP symbols for whatever is loaded,
 * observed or unmodelled.
 *
 * Frames. The conditions and loops an access stands under form a chain, outermost first when followed
 * from the root; records share frames, so "same branch, same loop" is pointer equality. Obligations
 * stand beside what they are about: a COND frame's held matters where all outer frames hold; a loop's
 * bounds_held where the outer frames hold; its increment_held where it runs at least once; the record's
 * mask_held where all frames hold; its offset_held where frames and mask hold (happens-before.md 5.6).
 * All held terms are Boolean combinations of FITS (and of the select conditions that guard them). */
#ifndef PR_HB_RECORD_H
#define PR_HB_RECORD_H
#include "term/refusal.h"
#include "term/term.h"

#define PR_RANK_MAX 8

typedef enum { PR_RECORD_LOAD, PR_RECORD_STORE, PR_RECORD_RMW, PR_RECORD_CAS, PR_RECORD_POLL,
               PR_RECORD_ATOMIC_LOAD, PR_RECORD_ATOMIC_STORE } pr_record_kind;
typedef enum { PR_SEM_PLAIN, PR_SEM_RELAXED, PR_SEM_ACQUIRE, PR_SEM_RELEASE, PR_SEM_ACQ_REL } pr_sem;
typedef enum { PR_SCOPE_NONE, PR_SCOPE_CTA, PR_SCOPE_GPU, PR_SCOPE_SYS } pr_scope;
typedef enum { PR_RMW_ADD, PR_RMW_FADD, PR_RMW_MAX, PR_RMW_MIN, PR_RMW_UMAX, PR_RMW_UMIN,
               PR_RMW_AND, PR_RMW_OR, PR_RMW_XOR, PR_RMW_XCHG } pr_rmw_op;

typedef enum { PR_FRAME_COND, PR_FRAME_LOOP } pr_frame_kind;
typedef struct pr_frame {
    const struct pr_frame *outer;  /* null at the root                                         */
    pr_frame_kind kind;
    int depth;                     /* 1 for a frame whose outer is null                           */
    pr_loc loc;
    /* COND */
    pr_term cond, held;            /* held: obligations of the values cond is computed from         */
    bool turn;                     /* with it the while loop just outside goes on: it held in every turn before, too */
    /* LOOP: runs for k = 0, 1, ... while lower + k*step < upper (signed)                           */
    int loop;                      /* loop number = index of the ITER variable                     */
    pr_var k;
    pr_term lower, upper, step;
    pr_term bounds_held;           /* obligations of lower, upper, step                           */
    pr_term increment_held;        /* last iterate + step fits the induction variable's width        */
} pr_frame;

/* Where an operation stands, calls included: the operation's pr_op id and, outermost first, the ids of
 * the tt.call operations it was inlined through. */
typedef struct pr_site { int op_id; int n_calls; const int *calls; } pr_site;

/* A value that loops and branches hand on. The record's value is made, lane by lane, from what the access read */
typedef enum {
    PR_CARRIED_EARLIER,            /* in every iteration of loop before the record's own                */
    PR_CARRIED_BEFORE,             /* in the iteration of loop just before the record's own             */
    PR_CARRIED_FIRST,              /* in front of loop, where the record runs in its first iteration    */
    PR_CARRIED_FINAL,              /* in the last iteration of loop, which the record stands behind      */
    PR_CARRIED_WHEN,               /* where the condition holds                                         */
    PR_CARRIED_PERHAPS             /* not followed: in an earlier iteration of loop or in front of it; no loop: anywhere. So is a way of
                                      an other kind without a condition                               */
} pr_carried_kind;
typedef struct pr_carried { int access; pr_carried_kind kind; const pr_frame *loop; pr_term when; } pr_carried;

typedef struct pr_record {
    /* raw: front/access ---------------------------------------------------------------------- */
    int id;                        /* index in pr_records, text order after inlining               */
    int access;                    /* number of the static access; guarded pointer sets give several
                                      records of one access                                     */
    int seq;                       /* walk order, shared with fences; orders nothing by itself       */
    pr_record_kind kind;
    bool via_desc, via_bptr;
    int base;                      /* argument number of the pointer; -1 = unknown (refused)        */
    pr_term offset;                /* bytes from that argument's pointer                          */
    int width;                     /* bytes per lane                                            */
    int rank; int64_t shape[PR_RANK_MAX]; /* tile shape, rank 0 for a scalar                       */
    pr_term mask;                  /* TRUE when absent; guards of a pointer set are conjoined here    */
    pr_term mask_held, offset_held;
    const pr_frame *frame;         /* innermost, null when unconditional                          */
    pr_sem sem; pr_scope scope; pr_rmw_op rmw_op;
    pr_term value;                 /* integer value stored / operand, NONE when not modelled         */
    pr_term cmp;                   /* CAS compare value                                        */
    pr_term value_held;
    const int *deps; int n_deps;   /* accesses whose value reaches this record's address, mask or value
                                      through positional (elementwise) operations only, same shape; one that
                                      runs in an arm or a loop left since: whenever it ran             */
    const pr_carried *carried; int n_carried;    /* the same through iterations                       */
    const int *control_deps; int n_control_deps; /* accesses that reach its path or loop bounds     */
    /* uses of this access's result (loads and atomics), for happens-before.md 1.5 */
    bool reaches_path, reaches_mask, reaches_other_shape;
    bool is_await;                 /* the last poll of a wait (happens-before.md 4.6)                  */
    bool is_pre_exit;              /* stands for any earlier poll of the await of the same access        */
    pr_term exit_pred, exit_held;  /* await: the result for which it ends, and what that rests on        */
    bool after_wait;               /* reached only when a wait before it ends, which is not modelled     */
    int thread_map;                /* front/thread_map: equal and not 0 = equal elements, equal thread    */
    pr_loc loc; const pr_loc *callers; int n_callers;
    pr_site site;
    pr_refusal refused;            /* kind NONE when the access is represented; else its address (or
                                      base) is not, and every conflicting pair is refused           */
    /* derived: hb/build ------------------------------------------------------------------------ */
    unsigned named;                /* dims that occur in offset, mask or path, also through what a load read that they name */
    bool has_position;             /* ... every dim of extent > 1 does                                */
    bool may_have_position;        /* ... or would, if values that are not modelled were made of the lanes that their symbols list */
    bool uncertain;                /* activity is over-approximated (mask, path or bound mentions APP) */
    bool uncertain_bound_only;     /* ... and only through loop bounds that come from memory          */
    const int *dep_closure; int n_dep_closure; /* records x with dep*(x, this)                     */
} pr_record;

typedef struct pr_fence {          /* a barrier that orders global memory (happens-before.md 4.7)   */
    int seq; const pr_frame *frame; pr_loc loc; pr_site site;
    bool opaque_context;           /* inside a while region: counts for nothing, makes epochs fresh   */
} pr_fence;

/* A sum along one dimension of a tile of values that are never negative, which does not leave its width: up to each lane
 * (from the first or, reverse, the last one), or total. Its symbol's arguments are loop iterations, then lanes (total: without the axis). */
typedef struct pr_sum_of {
    pr_sym sym;
    int same;                      /* sums with equal numbers are of the same values, where iterations and lanes are equal */
    bool total, reverse;
    int axis, rank; int64_t shape[PR_RANK_MAX];  /* of what is summed                         */
    pr_term value, held;           /* one of the values, over loops and lanes; exact where held            */
    pr_i128 most;                  /* no value is larger                                        */
    const pr_term *loop; int n_loops; /* of the iterations: a variable, or the number of the only one */
} pr_sum_of;

typedef struct pr_records {
    pr_terms *terms;
    pr_str kernel;
    PR_VEC(pr_record) records;
    PR_VEC(pr_fence) fences;
    PR_VEC(pr_sum_of) sums;
    pr_refusal_vec refusals;       /* kernel-wide: the configuration cannot be proved               */
    PR_VEC(const char *) notes;
    PR_VEC(const char *) qualifiers; /* e.g. "assumes llvm.intr.assume", when a premise below is used   */
    pr_term_vec premises;          /* llvm.intr.assume on parameters and pids (copy-wise true)         */
    int n_loops;
    bool axis_read[3];             /* get_program_id or get_num_programs in the parsed text          */
    bool has_atomics;
    pr_var pid[3], grid[3], lane[PR_RANK_MAX];
    /* arguments of the kernel function */
    int n_args;
    struct pr_formal {
        pr_str name; bool is_pointer, is_int, is_float, is_desc; int bits; int pointee_bytes;
        int64_t divisibility;      /* 1 = nothing known; pointers: of the byte address              */
        pr_var param;              /* integer arguments                                        */
    } *args;
} pr_records;

/* hb/record_text.c */
bool pr_record_same_lanes(const pr_record *a, const pr_record *b); /* do their lanes name the same positions? A single element has one, whatever the rank */
void pr_records_print(pr_buf *b, const pr_records *r, bool derived); /* stages access and records */
const char *pr_record_kind_name(pr_record_kind k); /* "load", "store", "atomic_rmw", ... interface.md 3 */
#endif
