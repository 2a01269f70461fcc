/* Which thread of a program performs an access on an element? From the layouts of a TTGIR text.
 *
 * TTIR leaves open which thread holds which element of a tile, so two accesses of one program race there
 * when they meet in memory (happens-before.md 1.4). The TTGIR of one compile settles it: an element of a
 * tensor belongs to the thread that its layout names, and a thread's own accesses are ordered. Two records
 * with the same non-zero thread_map give the element of equal indices to one and the same thread.
 *
 * Given only where nothing is left to guess: the operation of the TTIR text has its counterparts in the
 * TTGIR text at the same source location (calls included), all of the same kind, shape and layout, no other
 * operation there touches global memory, the kernel is not warp-specialised, and the layout gives each
 * element to exactly one thread (no replicas, whose order would be open). */
#ifndef PR_FRONT_THREAD_MAP_H
#define PR_FRONT_THREAD_MAP_H
#include "front/ir.h"
#include "hb/record.h"

/* Sets thread_map of r's records, which pr_lower_kernel made from kernel (of ttir). gpu_kernel (of ttgir) is
 * the same kernel in TTGIR; both have bodies. Records without a known map keep 0. */
void pr_thread_maps(pr_arena *arena, const pr_ir *ttir, const pr_op *kernel, const pr_ir *ttgir,
                    const pr_op *gpu_kernel, pr_records *r);

/* Does the layout with this text give each element of the shape to exactly one of the warps * lanes threads?
 * False when the layout is not understood. */
bool pr_layout_is_injective(pr_str encoding, int rank, const int64_t *shape, int64_t warps, int64_t lanes);
/* bit[d][k]: the thread (lane + lanes * warp) of the element whose index is 2^k in dimension d and 0 elsewhere. The
 * thread of any element is the exclusive or over the bits of its index. False as above. */
bool pr_layout_threads(pr_str encoding, int rank, const int64_t *shape, int64_t warps, int64_t lanes, int64_t bit[][32]);
#endif
