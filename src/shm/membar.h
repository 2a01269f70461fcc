/* `--check-membar`: what the compiler inserts after the TTGIR stage, asked of the text itself (shared-memory.md 5).
 *
 * By default the check assumes CTA barriers between the threads of one partition (premise M1). With pr_shm_prog.membar
 * they are events (PR_SHM_EV_MEET), and threads of one partition are ordered only through them:
 *   M1  two accesses by threads                      a barrier between
 *   M2  an access before a tensor core commit, expected bytes or a copy by one thread     a barrier between
 *   M3  a wait for copies that each thread or one thread made     a barrier before what depends on it
 *   M4  scratch memory of an operation               a barrier before its bytes are used again
 *   M5  an access by threads, then one by the async proxy      a proxy fence between
 * An arrive_barrier makes its threads meet by itself, and so do both ends of a warp_specialize and a warp_group_dot_wait of
 * several warp groups that is not warpGroupLocal (their lowering holds the barrier). Of tensor memory only M1 is looked at (loads and stores of
 * one agent), barriers' own bytes are not. */
#ifndef PR_SHM_MEMBAR_H
#define PR_SHM_MEMBAR_H
#include "shm/events.h"

/* A barrier between the threads of a partition that orders shared memory. */
bool pr_shm_orders_shared(const pr_op *op);
/* One that orders tensor memory; of shared memory does, too. */
bool pr_shm_orders_tensor(const pr_op *op);
/* Do both ends of the operation, or the operation, make all threads of its agent meet? */
bool pr_shm_meets(const pr_shm_event *e);
bool pr_shm_meets_tensor(const pr_shm_event *e);
/* An access of tensor memory by threads: with --check-membar two of one agent need a barrier where two threads access the same element. */
bool pr_shm_on_tensor_memory(const pr_shm_prog *p, const pr_shm_access *a);
/* Does the completion that this wait stands for reach one thread, or each thread for itself? */
bool pr_shm_waits_alone(const pr_shm_event *e);
/* Do the signals of e tell of everything that the agent has done? Else only of what came before its last barrier. */
bool pr_shm_signals_all(const pr_shm_event *e);
/* Two accesses of one agent that meet in memory: NO, each common element is accessed by one thread only, the same in
 * both; YES, some is accessed by two threads; MAYBE, a layout is not read. */
pr_tri pr_shm_two_threads(pr_shm_prog *p, const pr_shm_event *x, const pr_shm_access *a, const pr_shm_event *y,
                          const pr_shm_access *b);
/* Scratch memory: could the operation use bytes of [lo, hi)? hi 0 stands for bytes that are not known. */
bool pr_shm_scratch_meets(const pr_shm_prog *p, const pr_shm_event *scratch, int64_t lo, int64_t hi);
#endif
