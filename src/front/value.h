/* Values of the lowering and the state of its walk (private to src/front/access.c, value.c, sem_*.c).
 *
 * A value carries a term over the lanes of its own type, the obligations the term rests on (`held`),
 * where it comes from (taint, gap) and which accesses feed it. Kinds follow the IR type, so a missing
 * meaning is always an APP term of the right sort, never a missing value. */
#ifndef PR_FRONT_VALUE_H
#define PR_FRONT_VALUE_H
#include "front/access.h"
#include "front/ops.h"
#include "term/range.h"

#define PR_TARGETS_MAX 8
#define PR_COMPS_MAX 48
#define PR_LOOP_DEPTH_MAX 64
#define PR_PROBE_DEPTH_MAX 10    /* every level of carrying loops doubles the work */
#define PR_CALL_DEPTH_MAX 16

#ifdef PR_FAULTS
#define PR_FAULT(c, n) ((c)->o.fault == (n))
#else
#define PR_FAULT(c, n) false
#endif
enum { PR_FAULT_STORE_MASK = 1, PR_FAULT_REM_FLOOR, PR_FAULT_DIV_FLOOR, PR_FAULT_ELSE, PR_FAULT_TRIP,
       PR_FAULT_EXPAND, PR_FAULT_ELEM_SIZE, PR_FAULT_SHRU, PR_FAULT_EXTSI, PR_FAULT_FITS, PR_FAULT_SUM_WRAPS = 80, PR_FAULT_SUM_ORDER = 88,
       PR_FAULT_SUM_SIGN, PR_FAULT_SUM_UNREAD };

typedef enum { PR_VAL_INT, PR_VAL_BOOL, PR_VAL_PTR, PR_VAL_BPTR, PR_VAL_DESC, PR_VAL_FLOAT,
               PR_VAL_OTHER } pr_val_kind;

/* Sorted set of access numbers; negative members stand for carried values while a loop is probed. */
typedef struct pr_ids { const int *v; int n; } pr_ids;

/* One possible address: argument `base` plus `offset` bytes where guard holds. */
typedef struct pr_target { pr_term guard; int base; pr_term offset; } pr_target;

/* Block pointers and descriptors: shape, strides and offsets in elements. */
typedef struct pr_view {
    int rank, elem_bytes;
    pr_term shape[PR_MAX_RANK], stride[PR_MAX_RANK], offset[PR_MAX_RANK];
} pr_view;

typedef struct pr_val {
    pr_val_kind kind;
    const pr_type *type;
    pr_term term;                  /* INT: integer, BOOL: Boolean; else NONE                      */
    pr_term held;                  /* obligations                                                */
    bool from_memory, from_atomic;
    bool from_address;             /* not a pointer, but computed from one                       */
    pr_refusal_kind gap;           /* some part is an opaque symbol with this refusal              */
    const char *why;               /* of the gap                                                 */
    bool degrade;                  /* an obligation on a value with a gap: becomes opaque          */
    pr_ids pos, all;               /* accesses it depends on: positionally (wherever they ran) / at all (directly) */
    pr_ids carried;                /* positionally through iterations: numbers in pr_lower.carried      */
    pr_target *target; int n_target; /* PTR, BPTR, DESC                                          */
    pr_refusal_kind lost;          /* PTR, BPTR, DESC: the address is not represented              */
    const char *lost_why;
    const pr_view *view;           /* BPTR, DESC                                                 */
    const struct pr_val *addr;     /* INT that is an absolute address: the pointer                 */
} pr_val;

typedef struct pr_cached_subst {
    pr_term map[PR_MAX_RANK];
    pr_subst subst;
} pr_cached_subst;

typedef struct pr_cached_box { int rank; int64_t shape[PR_MAX_RANK]; pr_box *box; } pr_cached_box;

typedef struct pr_access_info {    /* by access number                                           */
    int op_id, instance;
    bool path, mask, other_shape;
    pr_ids feeds;                  /* accesses that reach its address, mask or masked-off value      */
} pr_access_info;

typedef struct pr_instance { int call_op, parent; } pr_instance;

/* A carried value while a loop is probed: its symbol stands for component comp of value slot. */
typedef struct pr_placeholder { uint32_t sym; struct pr_loop_probe *probe; int slot, comp; } pr_placeholder;

/* A while loop that neither counts nor waits: its refusal, the numbers of the first and the last operation in it. */
typedef struct pr_free_loop { int refusal, first, last; } pr_free_loop;

/* What was summed, beside pr_records.sums: the value before a zero extension (zext), in which call. */
typedef struct pr_sum_source { const pr_value *root; bool zext; int instance, op_id; } pr_sum_source;

typedef struct pr_lower {
    pr_arena *arena; pr_terms *T; const pr_ir *ir;
    pr_lower_options o;
    pr_records *out;
    const pr_op *kernel;
    pr_val **env;                  /* by value id                                               */
    const pr_frame *frame;
    pr_term iter[PR_LOOP_DEPTH_MAX]; int n_iter;
    pr_ids control;                /* accesses that reach the current path                         */
    int seq, dry, dry_loops, n_probes;
    bool in_while;
    bool uneven;                   /* the results that are made now may differ from thread to thread of one program     */
    bool waited;                   /* a wait that may never end lies before                        */
    int64_t steps; bool exhausted;
    int instance, n_calls; const int *calls; const pr_loc *call_locs;
    const pr_op *call_stack[PR_CALL_DEPTH_MAX + 1]; int n_call_stack;
    PR_VEC(pr_access_info) access;
    PR_VEC(int) access_slot;       /* hash of (op, instance) -> access number + 1                   */
    PR_VEC(pr_instance) instances;
    PR_VEC(pr_cached_subst *) substs;
    PR_VEC(pr_cached_box) boxes;
    PR_VEC(pr_placeholder) holders;
    PR_VEC(pr_carried) carried;
    PR_VEC(pr_free_loop) free_loops;
    bool assume_used;
    PR_VEC(pr_sum_source) sum_sources;
    pr_tri reorders;               /* does the kernel leave the order of some elements to the compiler? MAYBE: not looked yet */
} pr_lower;

/* value.c: types */
int pr_type_rank(const pr_type *t);
pr_val_kind pr_val_kind_of(const pr_type *t);
int pr_int_bits(const pr_type *t);                 /* width of an integer, index or its tensor; 0 else */
pr_box *pr_lower_box(pr_lower *c, const pr_type *t); /* lanes bounded by t's extents */

/* value.c: sets */
pr_ids pr_ids_one(pr_lower *c, int id);
pr_ids pr_ids_union(pr_lower *c, pr_ids a, pr_ids b);
pr_ids pr_ids_meet(pr_lower *c, pr_ids a, pr_ids b);
/* The accesses of ids that lie in a region of op (only: its number, -1 all), not those of functions called there. */
pr_ids pr_ids_inside(pr_lower *c, pr_ids ids, const pr_op *op, int only);

/* One more way in which v is made from an access. */
void pr_hand_on(pr_lower *c, pr_val *v, pr_carried how);
/* v may be made from what these read, in a way that is not followed: within an iteration, or through earlier ones of a loop
 * (markers of carried values, too, while a loop is probed). */
void pr_hand_on_perhaps(pr_lower *c, pr_val *v, pr_ids accesses, const pr_frame *loop);
pr_ids pr_ids_named(pr_lower *c, pr_ids ways);   /* the accesses that ways start from */

/* value.c: environment. pr_get never fails: an unbound value is opaque. */
pr_val *pr_get(pr_lower *c, const pr_value *v);
void pr_bind(pr_lower *c, const pr_value *v, pr_val *x);
static inline pr_val *pr_operand(pr_lower *c, const pr_op *op, int i) { return pr_get(c, op->operands[i]); }
static inline void pr_result(pr_lower *c, const pr_op *op, int i, pr_val *x) { pr_bind(c, op->results[i], x); }

/* value.c: construction */
pr_val *pr_val_new(pr_lower *c, const pr_type *t);
pr_val *pr_val_clone(pr_lower *c, const pr_val *v, const pr_type *t);
/* A symbol over the enclosing iterations and the lanes of t. */
pr_term pr_symbol(pr_lower *c, pr_sym_info info, const pr_type *t);
/* A new value of t that inherits taint, gap, dependencies (positional ones when positional) and held
 * of the n sources; term not set. */
pr_val *pr_val_derive(pr_lower *c, const pr_type *t, pr_val *const *from, int n, bool positional);
/* The opaque value of t computed from the sources in a way that is not modelled. kind NONE = by taint. */
pr_val *pr_val_opaque(pr_lower *c, const pr_op *op, const pr_type *t, pr_val *const *from, int n,
                      bool positional, pr_refusal_kind kind, const char *why);
void pr_opaque_results(pr_lower *c, const pr_op *op, bool positional, pr_refusal_kind kind, const char *why);
/* Adds an obligation; discharged by intervals under the extents of v's type when possible. */
void pr_oblige(pr_lower *c, pr_val *v, pr_fits_kind kind, int bits, pr_term t);
pr_term pr_fits_here(pr_lower *c, const pr_type *shape, pr_fits_kind kind, int bits, pr_term t);
/* Sets the term; a term outside pr_i128 or a degraded value becomes opaque. Returns what to bind. */
pr_val *pr_val_finish(pr_lower *c, const pr_op *op, pr_val *v, pr_term t);
pr_term pr_val_int(pr_lower *c, const pr_val *v);  /* integer reading: a Boolean is 0 / 1 */
pr_term pr_val_bool(pr_lower *c, const pr_val *v);
bool pr_val_const(pr_lower *c, const pr_val *v, pr_i128 *out); /* integer or Boolean constant */
pr_interval pr_val_range(pr_lower *c, const pr_val *v);
pr_val *pr_val_lost(pr_lower *c, const pr_type *t, pr_val *const *from, int n, pr_refusal_kind kind,
                    const char *why);

/* value.c: components (the terms a value consists of). guard[i] marks guards of targets. */
int pr_val_comps(const pr_val *v, pr_term *list, bool *guard);
pr_val *pr_val_with_comps(pr_lower *c, const pr_val *v, const pr_term *list);
bool pr_val_same(const pr_val *a, const pr_val *b);
/* v with lane d replaced by map[d]; result type t. The positional chain ends unless keep. */
pr_val *pr_val_relane(pr_lower *c, const pr_val *v, const pr_type *t, const pr_term *map, bool keep);
/* cond ? a : b, held and taint of cond included. strict: both arms are evaluated (arith.select). */
pr_val *pr_val_merge(pr_lower *c, const pr_op *op, const pr_val *cond, pr_val *a, pr_val *b,
                     const pr_type *t, bool strict);
void pr_mark_other_shape(pr_lower *c, pr_ids ids);
/* The condition of a branch. One that is constant only while its obligations hold (x + 1 > x) must not prune
 * an arm, since the obligations would go with it: it becomes an unmodelled condition. */
pr_val *pr_val_branch(pr_lower *c, const pr_op *op, pr_val *k);

/* access.c: walk */
pr_loc pr_loc_of(const pr_op *op);
void pr_refuse(pr_lower *c, const pr_op *op, pr_refusal_kind kind, const char *format, ...) PR_PRINTF(4, 5);
/* A limit is reached: refuses once, also inside a probe; what follows is not lowered. */
void pr_exhaust(pr_lower *c, const pr_op *op, const char *why);
void pr_push_cond(pr_lower *c, const pr_op *op, pr_term cond, pr_term held, pr_ids control);
int pr_access_number(pr_lower *c, const pr_op *op);
pr_term pr_lane_term(pr_lower *c, int d);
/* Lowers the operations of a block up to its terminator, which is returned (null when there is none). */
const pr_op *pr_lower_block(pr_lower *c, const pr_block *b);
/* Runs a region with any number of blocks whose entry arguments are bound; n results of the exits
 * (tt.return or scf.yield) are merged into results. False when refused. */
bool pr_lower_cfg(pr_lower *c, const pr_op *owner, const pr_region *r, pr_val **results, int n);
/* Does the region hold an operation that may touch memory? */
bool pr_region_touches_memory(const pr_ir *ir, const pr_region *r);

/* sem_sum.c: a sum of the operation's operand (v: its value) along an axis, up to each lane or total; null: of values that may be
 * negative, or it may wrap. */
pr_val *pr_sum_value(pr_lower *c, const pr_op *op, const pr_val *v, int axis, bool total, bool reverse);
/* No lane of x comes from a masked-off lane of a load without `other`, which each use and thread may see differently. */
bool pr_all_defined(pr_lower *c, const pr_value *x);
bool pr_op_reorders(const pr_op *op);              /* a reshape that may move elements               */

/* sem_*.c: lower one operation; false when the opcode is not theirs. */
bool pr_sem_arith(pr_lower *c, const pr_op *op);
bool pr_sem_shape(pr_lower *c, const pr_op *op);
bool pr_sem_mem(pr_lower *c, const pr_op *op);
bool pr_sem_flow(pr_lower *c, const pr_op *op);
/* sem_await.c */
bool pr_sem_await(pr_lower *c, const pr_op *op);   /* false: not a wait, nothing was emitted */
/* Why the loop is not an await (ttir-front.md 6.5), null when it is one. Values are those of the last lowering
 * of the before region. */
const char *pr_await_clause(pr_lower *c, const pr_op *op, bool nested);
void pr_mark_await(pr_lower *c, int access, int first, bool poll_writes, pr_term exit, pr_term held);
/* sem_loop.c */
void pr_sem_for(pr_lower *c, const pr_op *op);
void pr_sem_while(pr_lower *c, const pr_op *op);
#endif
