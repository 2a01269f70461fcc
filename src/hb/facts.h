/* What is known of one launch: grid, scalars, tensors. Filled by front/launch (from JSON) or by the
 * library's builder calls; read by everything above the records. interface.md 2, ttir-front.md 8. */
#ifndef PR_HB_FACTS_H
#define PR_HB_FACTS_H
#include "util/str.h"
#include "util/vec.h"

typedef struct pr_tensor {
    pr_str name;                 /* of the argument                                            */
    pr_str dtype;                /* as the launch file spells it                                */
    int elem_bytes;
    bool is_int, is_unsigned, is_bool;
    int rank;
    int64_t shape[8], stride[8]; /* elements                                                   */
    int64_t numel;
    bool contiguous;
    pr_i128 ptr;                 /* byte address; synthetic when the storage is named by id       */
    pr_i128 storage_lo, storage_hi; /* half-open interval of bytes of the whole storage            */
    bool synthetic;              /* addresses are invented: disjoint per id, 256-byte aligned       */
    bool has_values;             /* launch contents are known                                   */
    const pr_i128 *values;       /* numel entries, row major, signed reading                      */
    const char *no_values;       /* why there is no snapshot, null = not stated                    */
} pr_tensor;

typedef enum {
    PR_ARG_SYMBOLIC,             /* bound to null: value unknown                                */
    PR_ARG_INT,                  /* value: signed reading at the IR width                         */
    PR_ARG_FLOAT,                /* never modelled                                              */
    PR_ARG_TENSOR,
    PR_ARG_DESCRIPTOR            /* host descriptor: tensor + block shape, padding                */
} pr_arg_kind;

typedef struct pr_arg {          /* one entry per argument of the kernel function, same index      */
    pr_arg_kind kind;
    pr_str name;
    pr_i128 value;
    const pr_tensor *tensor;     /* TENSOR, DESCRIPTOR                                          */
    int desc_rank; int64_t desc_block[8], desc_shape[8], desc_stride[8];   /* also of a TENSOR that was given as a descriptor */
    int desc_nan, desc_round;    /* -1: not given                                                */
} pr_arg;

typedef struct pr_assume { const char *text; /* as given */ uint32_t term; /* pr_term id, 0 = not parsed yet */ } pr_assume;

typedef struct pr_launch {
    pr_str kernel;
    pr_arg *args; int n_args;
    int64_t grid[3];             /* >= 1; valid when grid_known                                 */
    bool grid_known;
    int num_warps, num_ctas;     /* 4 and 1 when not stated                                     */
    pr_str triton, target;       /* versions for the report, "" when unknown                      */
    pr_assume *assume; int n_assume;
    const char *config_json;     /* the config object as compact JSON text, "{}" when absent        */
} pr_launch;
#endif
