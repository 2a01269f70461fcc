/* Tensors of a launch file; used by launch_bind.c and launch_agree.c only. */
#ifndef PR_FRONT_LAUNCH_TENSOR_H
#define PR_FRONT_LAUNCH_TENSOR_H
#include "front/launch_doc.h"
#include "util/num.h"
#include "util/vec.h"

/* A storage known by name: its base is invented when all arguments were read. */
typedef struct pr_named_storage {
    pr_str id;
    pr_i128 bytes;
    pr_i128 base;
} pr_named_storage;
typedef struct pr_named_tensor {
    pr_tensor *tensor;
    int storage;
} pr_named_tensor;

typedef struct pr_tensor_reader {
    pr_arena *arena;
    pr_launch_limits limits;
    const char *base_dir;
    int64_t snapshot_bytes; /* contents kept so far */
    pr_i128 highest;        /* past every real address */
    PR_VEC(pr_named_storage) storages;
    PR_VEC(pr_named_tensor) named;
} pr_tensor_reader;

void pr_tensor_reader_init(pr_tensor_reader *t, pr_arena *arena, const pr_launch_limits *limits,
                           const char *base_dir);
/* Reads one tensor body. *usable false: not contiguous, and neither strides nor storage were
 * given. */
pr_status pr_tensor_read(pr_tensor_reader *t, pr_launch_reader *r, json_t *body,
                         const pr_json_at *at, pr_str name, pr_i128 divisibility, pr_tensor **out,
                         bool *usable);
/* launch_agree.c: two elements with one byte and different contents. */
typedef struct pr_contents_clash {
    const pr_tensor *a, *b; /* may be one tensor */
    int64_t element_a, element_b;
    uint64_t at;
} pr_contents_clash;
/* The tensors have their addresses. A bool says of its byte only whether it is 0. */
bool pr_contents_disagree(pr_arena *arena, pr_tensor *const *tensors, int n, pr_contents_clash *out);
/* Gives the named storages their addresses. */
pr_status pr_tensor_reader_finish(pr_tensor_reader *t, pr_launch_reader *r);
/* Integer, boolean or decimal string. */
pr_status pr_json_integer(pr_launch_reader *r, const json_t *v, const pr_json_at *at, pr_i128 *out);
#endif
