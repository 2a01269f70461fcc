/* What the files of the evaluator share: values, the machine, and who implements what.
 *
 *   interp_value.c   values, tiles, dependency sets, merging
 *   interp_arith.c   machine arithmetic on one element
 *   interp_float.c   the same for floats, as intervals
 *   interp_ops.c     pure operations on values
 *   interp_tile.c    operations that move or fold lanes
 *   interp_access.c  memory operations
 *   interp_flow.c    regions, loops, blocks, calls
 *   interp_wait.c    loops that poll a location
 *   interp_lane.c    probes that follow one lane
 *   interp_slice.c   which values a run needs
 *   interp.c         the machine and its entry points */
#ifndef PR_FRONT_INTERP_CORE_H
#define PR_FRONT_INTERP_CORE_H
#include <assert.h>
#include "front/interp.h"
#include "front/ops.h"
#include "front/interp_cond.h"

/* ---- values -------------------------------------------------------------------------------- */
/* Elements of a tile. Shared and immutable once built; freed into the machine's pool. */
typedef struct pr_itile {
    int refs, size_class;
    int64_t n;
    uint64_t *x;
    uint8_t *known;              /* null: all known                                            */
    int16_t *base;               /* null: all have the value's base                             */
} pr_itile;

/* Sorted set of numbers of dynamic reads. Shared and immutable. */
typedef struct pr_iset { int refs, size_class, n; int item[]; } pr_iset;

typedef enum { PR_IVAL_UNKNOWN, PR_IVAL_SPLAT, PR_IVAL_TILE } pr_ival_form;

/* A scalar is a SPLAT (or UNKNOWN) of one element. Integers are zero-extended bits. */
typedef struct pr_ival {
    uint8_t form;
    uint8_t dims;                /* bit d: depends on the lane along dimension d                  */
    int16_t base;                /* pointers: argument number, -1 = none or several               */
    uint64_t x;                  /* SPLAT                                                      */
    pr_itile *tile;              /* TILE                                                       */
    pr_iset *deps;               /* null = empty                                               */
    struct pr_iobj *obj;         /* descriptors and block pointers                              */
} pr_ival;

typedef struct pr_iobj {
    int refs, size_class;
    int rank;
    pr_ival base, shape[PR_MAX_RANK], stride[PR_MAX_RANK], offset[PR_MAX_RANK];
} pr_iobj;

typedef enum { PR_HALT_NONE, PR_HALT_LIMIT, PR_HALT_STOPPED, PR_HALT_FOUND, PR_HALT_MISSED, PR_HALT_WHOLE } pr_halt; /* WHOLE: one lane is not enough */

#define PR_EPOCH_INF INT64_MAX
#define PR_LANE_ALL (-1)
enum { PR_ENTER_RUN = 1, PR_ENTER_COMPUTE = 2 }; /* region operation or call that must be run; operation with a needed result */

/* A wait that is being run: which value its poll is given next, and what is known of those it went on with. */
typedef struct pr_iwait {
    const pr_op *loop, *poll;
    const pr_value *limit;       /* compared with the value read, null = another condition               */
    int predicate;               /* of "goes on", value read on the left                            */
    int w, tries;
    int64_t start, next;
    bool has_start, polled, sure;
    pr_interp_wait end;
    pr_wait_expr relation;       /* what end.goes_on points to                                   */
    pr_interp_event last; int64_t iter[PR_INTERP_MAX_LOOPS]; /* the last poll                         */
} pr_iwait;

struct pr_machine {
    pr_arena *arena;
    pr_interp_setup setup;
    int64_t pid[3];
    pr_ival *env;                /* by value id                                                */
    uint8_t *needed;             /* by value id: an address, mask, condition or bound reads it     */
    uint8_t *enter;              /* by op id: PR_ENTER_*                                          */
    int64_t *lane;               /* probe of one lane: by needed value, see interp_lane.c; null: whole tiles */
    uint8_t *effect;             /* by op id: accesses memory or is a barrier, nested ones included */
    const pr_op **ops;           /* by op id                                                   */
    void *pool[48];              /* free blocks by size class                                   */
    /* the run */
    int64_t work;
    pr_halt halt;
    const char *why;
    const pr_op *where, *ub;
    int maybe;                   /* depth of unknown conditions                                  */
    int64_t iter[PR_INTERP_MAX_LOOPS]; int n_iter;
    int calls[PR_INTERP_MAX_CALLS]; int n_calls;
    const pr_op *stack[PR_INTERP_MAX_CALLS + 1]; /* functions being run                          */
    pr_interp_epoch epoch;
    int n_gens, n_events, n_choices;
    pr_interp_arm arms[PR_INTERP_MAX_ARMS]; int n_arms;
    pr_interp_event_fn *event; void *user;
    const pr_interp_target *target; /* probe, else null                                         */
    pr_probe *probe;
    bool calls_anything;         /* the module holds a call                                       */
    bool sliced, shared_work;    /* shared_work: the limit is for all runs together                 */
    struct { const pr_value **data; int n, cap; } todo; /* interp_slice.c                            */
    int64_t *lanes;              /* memory of lane                                             */
    PR_VEC(pr_interp_note) notes;
    bool *contents_read;         /* by argument                                                */
    pr_iwait *wait;              /* innermost wait that runs, null when none                            */
};

/* interp_value.c */
void *pr_im_block(pr_machine *m, size_t bytes, int *size_class);
void pr_im_unblock(pr_machine *m, void *p, int size_class);
pr_itile *pr_itile_new(pr_machine *m, int64_t n, bool bases);
/* Gives the tile to a value; uniform ones become a splat, all unknown ones unknown. */
pr_ival pr_ival_of_tile(pr_machine *m, pr_itile *t, int base, unsigned dims, bool is_bool);
pr_ival pr_ival_unknown(void);
pr_ival pr_ival_const(uint64_t x);
pr_ival pr_ival_keep(pr_ival v);                 /* one more reference                          */
void pr_ival_drop(pr_machine *m, pr_ival v);
pr_ival pr_ival_without_deps(pr_machine *m, pr_ival v); /* takes v                               */
void pr_im_set(pr_machine *m, const pr_value *r, pr_ival v); /* takes v                          */
static inline const pr_ival *pr_im_get(const pr_machine *m, const pr_value *v) { return &m->env[v->id]; }
bool pr_ival_at(const pr_ival *v, int64_t i, uint64_t *x);
int pr_ival_base_at(const pr_ival *v, int64_t i);
pr_ival pr_ival_merge(pr_machine *m, const pr_ival *a, const pr_ival *b, int64_t n, bool is_bool);
pr_iset *pr_iset_one(pr_machine *m, int item);
pr_iset *pr_iset_union(pr_machine *m, pr_iset *a, const pr_iset *b); /* takes a, keeps b          */
pr_iset *pr_iset_keep(pr_iset *s);
void pr_iset_drop(pr_machine *m, pr_iset *s);
pr_iobj *pr_iobj_new(pr_machine *m, int rank);
pr_iobj *pr_iobj_copy(pr_machine *m, const pr_iobj *o);
void pr_iobj_drop(pr_machine *m, pr_iobj *o);
pr_tri pr_ival_truth(const pr_ival *scalar);
bool pr_im_spend(pr_machine *m, int64_t work);   /* false: the limit is reached                   */
void pr_im_stop(pr_machine *m, const pr_op *op, const char *why);
void pr_im_note(pr_machine *m, const pr_op *op, const char *what);
void pr_im_ub(pr_machine *m, const pr_op *op);

/* interp_arith.c: bits of the result; *ub is set, never cleared */
static inline uint64_t pr_bits_mask(int w) { return w >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << w) - 1; }
static inline int64_t pr_bits_signed(uint64_t x, int w)
{
    uint64_t sign = (uint64_t)1 << (w - 1);
    x &= pr_bits_mask(w);
    return (int64_t)((x ^ sign) - sign);
}
/* Width of an integer (or index, or i1) type, 0 when it is not one or is wider than 64 bits. */
int pr_bits_of(const pr_type *t);
bool pr_arith_binary(int opcode, int w, uint64_t a, uint64_t b, uint64_t *r, bool *ub);
bool pr_arith_unary(int opcode, int from, int to, uint64_t a, uint64_t *r);
bool pr_arith_compare(int predicate, int w, uint64_t a, uint64_t b);
bool pr_arith_absorbs(int opcode, int w, uint64_t known, uint64_t *r);
bool pr_arith_partial(int opcode);               /* some operands have undefined results                  */
bool pr_arith_total_with(int opcode, int w, uint64_t b); /* none with this second operand             */

/* interp_float.c: with setup.floats, f16, bf16 and f32 are intervals, packed into the bits of an element */
bool pr_float_type(const pr_type *t);
bool pr_op_is_float(const pr_op *op);            /* a lane-wise one; not a choice between floats      */
pr_ival pr_im_float(pr_machine *m, const pr_op *op);
pr_ival pr_float_constant(const pr_op *op);
void pr_float_ends(uint64_t x, double *lo, double *hi);
bool pr_float_add(const pr_type *t, uint64_t x, uint64_t y, uint64_t *r);
bool pr_float_value(const pr_type *t, int64_t v, uint64_t *r);

/* interp_ops.c */
void pr_im_eval(pr_machine *m, const pr_op *op); /* pure operations; sets all results               */
void pr_im_set_unknown(pr_machine *m, const pr_op *op);
bool pr_op_is_lanewise(int opcode);
/* interp_tile.c: false when the operation is not one of its own */
bool pr_im_eval_tile(pr_machine *m, const pr_op *op);
unsigned pr_type_dims(const pr_type *t);         /* bits of the dims of extent > 1                 */
/* interp_lane.c */
int64_t pr_lane_from(const pr_op *op, const pr_value *result, int operand, int64_t lane);
int64_t pr_im_lane(pr_machine *m, const pr_op *op); /* the lane to compute of its first result, or PR_LANE_ALL  */
pr_ival pr_ival_pick(const pr_ival *v, int64_t lane);
bool pr_im_eval_lane(pr_machine *m, const pr_op *op, int64_t lane); /* false: as for whole tiles      */
int64_t pr_im_target_lane(const pr_type *shape, const pr_interp_target *t); /* -1: not one of it       */
/* interp_access.c */
bool pr_op_is_access(int opcode);
void pr_im_access(pr_machine *m, const pr_op *op);
void pr_im_make_object(pr_machine *m, const pr_op *op); /* make_tensor_descriptor, _ptr, advance     */
/* interp_flow.c */
void pr_im_exec(pr_machine *m, const pr_op *op);
void pr_im_region(pr_machine *m, const pr_region *r, pr_ival *out, int n_out);
bool pr_im_on_path(const pr_machine *m);
static inline int pr_im_spared(const pr_machine *m, const pr_op *op) { return m->setup.spare ? m->setup.spare[op->id] : 0; }
/* interp_wait.c */
bool pr_im_is_wait(const pr_machine *m, const pr_op *loop, pr_iwait *out); /* by its shape                 */
/* One atomic of one lane; the value that a poll reads, if it is the poll of the wait that runs. */
bool pr_im_gate(pr_machine *m, const pr_interp_event *e, const pr_interp_touch *t, uint64_t *read);
void pr_im_wait_goes_on(pr_machine *m);          /* its condition holds for the value it was given          */
void pr_im_wait_ends(pr_machine *m);
bool pr_im_wait_relates(pr_machine *m);          /* its condition is not known, but what it is computed from: it ends   */
/* interp_slice.c */
void pr_im_index(pr_machine *m);                 /* ops, effect                                  */
void pr_im_slice_all(pr_machine *m);
void pr_im_slice_target(pr_machine *m, const pr_interp_target *t);
int pr_im_loops_around(const pr_machine *m, const pr_interp_target *t); /* static, calls included */
const pr_op *pr_im_callee(const pr_machine *m, const pr_op *call);
bool pr_op_is_global_barrier(const pr_op *op);
/* interp.c */
pr_interp_status pr_im_run(pr_machine *m, const int64_t pid[3]);
#endif
