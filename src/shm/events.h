/* Events of one TTGIR kernel: what each operation does to shared memory, tensor memory and mbarriers.
 *
 * One walker (walk.c) reads the operation tree in two ways:
 *   concrete   every launch value is a number, loops are unrolled: one list of events an agent, in
 *              program order (the input of the bounded engine, bounded.c)
 *   symbolic   every event of the text once, with the set of iterations in which it happens as terms
 *              over loop counters and launch values; loop-carried scalars are closed forms found by
 *              phases.c (the input of the proof, prove.c)
 * Both give the same struct; in concrete lists every term is a constant and iteration holds numbers.
 *
 * An agent is one warp-specialised partition: 0 is the code outside ttg.warp_specialize and its default
 * region, partition i is agent i + 1. Asynchronous effects belong to the event that issues them. */
#ifndef PR_SHM_EVENTS_H
#define PR_SHM_EVENTS_H
#include "front/ir.h"
#include "term/engine.h"
#include "term/refusal.h"
#include "term/term.h"

#define PR_SHM_RANK 6
#define PR_SHM_LOOPS 8
#define PR_SHM_BARS 4
#define PR_SHM_ACCESSES 12
#define PR_SHM_AGENTS 17
#define PR_SHM_COPIES 15

/* ---- storage -------------------------------------------------------------------------------------- */
typedef enum { PR_SHM_SMEM, PR_SHM_TMEM } pr_shm_memory;

typedef struct pr_shm_alloc {
    const pr_op *op;             /* ttg.local_alloc or ttng.tmem_alloc                           */
    pr_str name;                 /* of the value                                                */
    pr_loc loc;
    pr_shm_memory memory;
    int rank;
    int64_t shape[PR_SHM_RANK];
    int elem_bits;
    int64_t offset;              /* first byte (SMEM) when the text says so, else -1              */
    int64_t col, cols; unsigned rows; /* TMEM: columns, and which groups of 16 rows, likewise (places.c)     */
    bool barrier;                /* holds mbarriers: some init_barrier names it                   */
    bool payload;                /* some access that is no barrier operation                     */
    int live_from, live_to;      /* operation ids between which the storage is its own (reuse)     */
    const pr_op *region;         /* the partition (0: default) it is allocated in: its warp_specialize, else null */
    int partition;
    int copy;                    /* which of pr_shm_prog.copies it is in                            */
} pr_shm_alloc;

/* Part of an allocation: in each of its dimensions one index, or a constant interval. */
typedef struct pr_shm_view {
    int alloc;                   /* -1: not known                                               */
    bool indexed[PR_SHM_RANK];
    pr_term index[PR_SHM_RANK];
    int64_t lo[PR_SHM_RANK], hi[PR_SHM_RANK];
    int rank;                    /* of the view; dim[i] = dimension of the allocation, -1 = blurred */
    int dim[PR_SHM_RANK];
    bool blurred;                /* a reshape or reinterpretation: the bytes of the box, in another order   */
    bool partial;                /* a part of such a view, which one is not known: at most the bytes of the box */
} pr_shm_view;

/* ---- effects --------------------------------------------------------------------------------------- */
/* Who carries an access out, which decides what completes it. */
typedef enum {
    PR_SHM_SYNC,                 /* the threads of the agent: complete when issued                */
    PR_SHM_CP,                   /* cp.async: async_wait or async_copy_mbarrier_arrive             */
    PR_SHM_WGMMA,                /* warp_group_dot_wait                                          */
    PR_SHM_TMA_LOAD,             /* the barrier it signals                                        */
    PR_SHM_TMA_STORE,            /* async_tma_store_wait                                         */
    PR_SHM_TC                    /* tcgen05: in issue order; a commit or the barrier of an MMA      */
} pr_shm_unit;

typedef struct pr_shm_access {
    pr_shm_view view;
    pr_term guard;               /* it is this view only where this holds; NONE: always, or not known         */
    bool other;                  /* another one of the views that the access before it may be            */
    bool write;
    bool atomic;                 /* local_atomic_scatter_rmw; no exchange; with equal kind they commute */
    pr_str atomic_kind;
    bool async_proxy;            /* SMEM: through the async proxy                                 */
    pr_shm_unit unit;
    const pr_value *of;          /* the memdesc that the operation names                            */
    const char *role;            /* "operand A", "destination", for people                        */
    const pr_type *held;         /* the tensor whose layout says which thread accesses which element; null: not one */
} pr_shm_access;

typedef enum {
    PR_SHM_EV_ACCESS,            /* accesses only (PR_SHM_SYNC)                                   */
    PR_SHM_EV_INIT, PR_SHM_EV_INVAL,
    PR_SHM_EV_WAIT,              /* bar[0], phase                                               */
    PR_SHM_EV_ARRIVE,            /* bar[0], count                                               */
    PR_SHM_EV_EXPECT,            /* bar[0]: one arrival and bytes to come                          */
    PR_SHM_EV_TMA_LOAD,          /* access, bar[0], bytes                                        */
    PR_SHM_EV_TC,                /* tc_gen5_mma, tmem_copy: accesses, bar[] on completion           */
    PR_SHM_EV_TC_COMMIT,         /* bar[0] when all earlier tcgen05 work of the agent is done        */
    PR_SHM_EV_CP,                /* cp.async: access                                            */
    PR_SHM_EV_CP_COMMIT, PR_SHM_EV_CP_WAIT,
    PR_SHM_EV_CP_ARRIVE,         /* bar[0] when all earlier cp.async of the agent are done; count: of
                                    the threads, 0 when the operation itself raises what is pending   */
    PR_SHM_EV_DOT, PR_SHM_EV_DOT_WAIT,
    PR_SHM_EV_STORE, PR_SHM_EV_STORE_WAIT,
    PR_SHM_EV_FENCE,
    PR_SHM_EV_SCRATCH,           /* hidden shared memory of convert_layout, reduce, ...              */
    PR_SHM_EV_DEALLOC,
    PR_SHM_EV_MEET,              /* a CTA barrier between the threads of the agent (prog->membar only)  */
    PR_SHM_EV_ENTRY, PR_SHM_EV_JOIN, /* agent 0, around a warp_specialize                          */
    PR_SHM_EV_BEGIN, PR_SHM_EV_END   /* of a partition                                           */
} pr_shm_event_kind;

typedef struct pr_shm_event {
    pr_shm_event_kind kind;
    const pr_op *op;
    pr_loc loc;
    int agent;
    int warps;                   /* of the agent                                                 */
    int64_t scratch_lo, scratch_hi; /* SCRATCH: bytes as printed, half open; hi 0: not printed          */
    int ws;                      /* number of the warp_specialize it is in, -1 outside               */
    int copy;                    /* which of pr_shm_prog.copies it is in                            */
    int seq;                     /* program order among events of equal iterations                 */
    int n_acc; pr_shm_access acc[PR_SHM_ACCESSES];
    int n_bar; pr_shm_view bar[PR_SHM_BARS];
    pr_term bar_pred[PR_SHM_BARS];
    pr_term phase;               /* WAIT                                                        */
    int64_t count;               /* arrivals, N of a wait, init count                             */
    int64_t bytes;               /* transaction bytes                                           */
    int n_loops; int loop[PR_SHM_LOOPS];      /* loops around it, outermost first (pr_shm_prog.loops) */
    int64_t iteration[PR_SHM_LOOPS];          /* concrete                                        */
    int64_t flat;                /* concrete: iterations of the innermost loop before this one, in all its executions */
    pr_term when;                /* symbolic: iterations and launch values in which it happens       */
    pr_term given;               /* symbolic: it happens only where this holds, about unknown values; NONE: nothing known of it */
    bool exact;                  /* in a flat loop of equal executions: `when` says which one it is in      */
    bool bare;                   /* its threads meet only where PTX shows it (ptx.h)                    */
    bool may;                    /* under a condition that is not modelled: it may not happen         */
    int branch, branch_loops;    /* may: number of the branch, and how many of the loops are around it   */
} pr_shm_event;
typedef PR_VEC(pr_shm_event) pr_shm_events;

typedef struct pr_shm_loop {
    const pr_op *op;
    pr_var counter;              /* 0-based iteration number                                     */
    pr_term trips;               /* number of iterations; NONE when not known                      */
    pr_str name;                 /* of the induction variable                                    */
    /* flat: counter numbers the iterations of all executions of the loop inside the loop `outer`, 0 to trips;
     * which of them belong to which execution is not known, only that they come in order. Loops of one nest
     * divide them in the same way. */
    bool flat;
    int outer, nest;
    int64_t each;                /* iterations of every execution when that is a constant, else 0         */
    pr_var local;                /* iteration number in one execution; no event depends on it             */
    pr_term span;                /* the same number of iterations in every execution, of which one at least, where that is a launch value; else NONE */
} pr_shm_loop;

/* A launch value of unknown size: an argument, a program number, or a result of arithmetic that the
 * proof takes as a value of its own. */
typedef struct pr_shm_param {
    pr_var var;
    pr_str name;
    bool leaf;                   /* a value of the launch or of memory; else def says what it is     */
    bool from_memory;
    bool flag;                   /* an argument of one bit: 0 or 1                                  */
    int64_t multiple;            /* of an argument: the text says it is a multiple of this, 1 otherwise     */
} pr_shm_param;

/* One of two iterations of a loop that are looked at by themselves (isolate.c); number 0 is the text outside. */
typedef struct pr_shm_copy {
    const pr_op *op;             /* the loop                                                    */
    int outer;                   /* copy the loop is in                                          */
    bool second;
    pr_term when;                /* symbolic: it is reached                                      */
} pr_shm_copy;

/* A value that an outermost loop carries, of which every iteration has one that is not known (unknown.c); second: of another iteration. */
typedef struct pr_shm_unknown { pr_var var, second; int loop; } pr_shm_unknown;
enum { PR_SHM_UNKNOWNS = 6000000 };  /* index of the first of these variables                              */

/* What a launch says about launch values. */
typedef struct pr_shm_binding {
    int n_args;                  /* arguments of the kernel                                       */
    const bool *known; const int64_t *value;  /* by argument: an integer of the launch, signed         */
    bool grid_known; int64_t grid[3];
} pr_shm_binding;

/* What a product or quotient of launch values is: `value` is `is`. Without a value a condition that holds at every launch, about a
 * trip count and its step. */
typedef struct pr_shm_def { pr_term value, is, divisor; } pr_shm_def;   /* divisor: said only where it is not 0; NONE: always */

/* One kernel, read. */
typedef struct pr_shm_prog {
    pr_arena *arena;
    const pr_ir *ir;
    const pr_op *func;
    pr_terms *T;
    PR_VEC(pr_shm_alloc) allocs;
    bool isolate;                /* outermost loops with loops inside are read as two iterations (isolate.c)   */
    bool returns_early;          /* branches of the function lead to a return, or on (exits.c)       */
    bool has_isolated;           /* there is such a loop                                         */
    int n_copies; pr_shm_copy copies[PR_SHM_COPIES];
    int *alloc_of_op;            /* by operation id in copy 0, then those of copy 1, ...; -1            */
    PR_VEC(pr_shm_loop) loops;   /* symbolic                                                    */
    int *loop_of_op;             /* in the same way                                              */
    PR_VEC(pr_shm_param) params;
    int num_warps, threads_per_warp, n_ctas;
    int n_agents;                /* most partitions of one warp_specialize + 1                     */
    int target;                  /* compute capability times ten, 0 unknown                        */
    bool allocated;              /* the text is from after shared memory allocation                */
    PR_VEC(pr_shm_def) defs;
    PR_VEC(pr_shm_unknown) unknowns; /* symbolic                                                  */
    const pr_engine *smt; int64_t z3_rlimit; const pr_flag *interrupt; /* null: no solver (factors.c)           */
    bool assumes_steps;          /* a loop whose step may be zero or less was taken not to be there           */
    PR_VEC(int64_t) scales;      /* constants by which launch values are divided                    */
    pr_refusal_vec refusals;     /* nothing can be concluded                                     */
    bool assumes_no_overflow;    /* some value could wrap at its printed width                      */
    bool assumes_nonneg;         /* an unsigned operation was read as a signed one                  */
    bool certify;                /* keep what a certificate says (certify.h)                      */
    bool arguments_not_negative; /* what is proved is so for such launches only                       */
    bool requests_in_order;      /* two cluster launch requests into the same bytes were taken to land in order  */
    unsigned char *reads;        /* by operation: bit 0, it read bytes that something had written; bit 1, bytes that nothing had */
    bool membar;                 /* judge the text as it stands: CTA barriers are events (membar.h)       */
    unsigned char *beside;       /* by operation: what PTX shows around it (ptx.h); null: not given          */
    const pr_shm_binding *bound; /* both walks are about this launch only; null: about every launch    */
} pr_shm_prog;

/* Allocations, parameters of the module, refusals that need no walk (instrumented, pre-lowering, several
 * CTAs, unknown operations). Always returns a program; look at refusals. */
pr_shm_prog *pr_shm_read(pr_arena *arena, const pr_ir *ir, const pr_op *func);

/* ---- the two walks (walk.c) ------------------------------------------------------------------------ */
typedef struct pr_shm_trace {
    pr_shm_events agents[PR_SHM_AGENTS]; /* by agent; agent 0 has ENTRY and JOIN in its list                 */
    int n_agents;
    int n_ws;
    bool too_long;               /* more events or steps than the limits: nothing was recorded      */
    int64_t steps;               /* operations followed                                             */
    bool assumed;                /* some condition was not modelled and taken as true                */
    bool excluded;               /* an assumption of the text does not hold at these values           */
    int64_t trips[64]; int n_trips; /* trip counts met, by loop_of_op number: the greatest           */
    int64_t total[64];           /* and the iterations of all executions                            */
} pr_shm_trace;
/* value: by parameter number (prog->params), what each leaf is. */
void pr_shm_run(pr_shm_prog *p, pr_arena *scratch, const int64_t *value, int n_values, int limit,
                pr_shm_trace *out);

typedef struct pr_shm_model {
    pr_shm_events events;        /* all agents, in text order                                     */
    PR_VEC(const pr_op *) never; /* certify: operations whose predicate is false                   */
    int n_ws;
    pr_refusal_vec refusals;     /* no proof can come of it                                      */
} pr_shm_model;
void pr_shm_symbolic(pr_shm_prog *p, pr_shm_model *out);
/* Barriers that are initialised again in straight-line code: an allocation for each life (lives.c). */
void pr_shm_split_lives(pr_shm_prog *p, pr_shm_model *m);

/* ---- small questions ------------------------------------------------------------------------------- */
const char *pr_shm_event_name(pr_shm_event_kind k);
int64_t pr_shm_view_bytes(const pr_shm_prog *p, const pr_shm_view *v);
pr_loc pr_shm_loc(const pr_op *op);
bool pr_shm_returns_early(const pr_op *func);
/* Place of an operation in alloc_of_op and loop_of_op. */
int pr_shm_place(const pr_shm_prog *p, int copy, const pr_op *op);
bool pr_shm_copy_within(const pr_shm_prog *p, int copy, int outer);
/* The iteration before the one of `copy`, its second. */
int pr_shm_copy_before(const pr_shm_prog *p, int copy);
/* Boolean term: the two views have common bytes. b's terms are used as they are (renamed by the caller). */
pr_term pr_shm_overlap(pr_shm_prog *p, const pr_shm_view *a, const pr_shm_view *b);
/* Both can hold the same bytes only if one's life ends before the other's begins. */
bool pr_shm_alloc_disjoint(const pr_shm_alloc *a, const pr_shm_alloc *b);
/* places.c. placed: the text says where it is. apart: they have no common bytes, by their places, else by their lives.
 * misplaced: both are in use at once, and have common bytes. */
bool pr_shm_placed(const pr_shm_alloc *a);
bool pr_shm_apart(const pr_shm_alloc *a, const pr_shm_alloc *b);
bool pr_shm_misplaced(const pr_shm_alloc *a, const pr_shm_alloc *b);
void pr_shm_place_columns(pr_shm_alloc *a, const pr_type *t);
/* ctas.c. A kernel of several CTAs as one of them, or refusals. parts: how many parts of the memdesc different CTAs hold, 0 not known. */
void pr_shm_ctas(pr_shm_prog *p);
int64_t pr_shm_cta_parts(const pr_shm_prog *p, const pr_type *t);
/* bytes.c, of views whose indices are constants. The bytes within its allocation when they follow one another; false: they do not, or it is
 * not known. Have two views of placed allocations common bytes? */
bool pr_shm_byte_range(pr_shm_prog *p, const pr_shm_view *v, int64_t *first, int64_t *end);
pr_tri pr_shm_bytes_meet(pr_shm_prog *p, const pr_shm_view *x, const pr_shm_view *y);
/* Of one element within its allocation, -1: the layout is not read. */
int64_t pr_shm_first_byte(const pr_shm_alloc *a, const int64_t *at);
/* The operation is in another partition of the warp_specialize the allocation is in: the compiler gives scratch memory of
 * the operation different bytes. */
bool pr_shm_runs_beside(const pr_shm_alloc *a, const pr_op *op);
/* Two requests of cluster launch control by one partition: their results land in order (shared-memory.md 2.6; a qualifier says so). */
bool pr_shm_requests_in_order(const pr_shm_event *a, const pr_shm_event *b);
/* Is the term about a value that is not known? */
bool pr_shm_is_unknown(const pr_shm_prog *p, pr_term t);
/* First index of a view, what people call the slot; NONE without one. */
pr_term pr_shm_view_slot(const pr_shm_view *v);
void pr_shm_refuse(pr_shm_prog *p, pr_refusal_vec *to, pr_refusal_kind kind, const pr_op *op,
                   const char *message);
#endif
