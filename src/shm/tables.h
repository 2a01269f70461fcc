/* The tables of Triton's ConSan and the operations on them (shared-memory.md 2), for one CTA.
 *
 * ConSan instruments a kernel with checks that ask: has this access been made visible, as complete, to the thread
 * about to touch the same bytes? Its threads are logical: partition p is thread p; TMA, tensor core and cluster
 * control of partition p are p + 16, p + 32, p + 48. Two epochs:
 *   current   exact lanes, reader generations, phase banks, in-flight TMA writes, bytes, proxy fences, lifetimes
 *   older     what Triton 3.6 instruments: one bank, no generations, a TMA load is the arrival (barrier_expect is
 *             nothing), no bytes, fences or lifetimes, no merge at the end of a warp_specialize
 * This file knows nothing of kernels; emulate.c decides which operation calls what. */
#ifndef PR_SHM_TABLES_H
#define PR_SHM_TABLES_H
#include "util/arena.h"

typedef enum { PR_CS_CURRENT, PR_CS_OLDER } pr_cs_epoch;
enum { PR_CS_THREADS = 64, PR_CS_BASE = 16, PR_CS_TMA = 16, PR_CS_TC = 32, PR_CS_CLC = 48 };
typedef enum { PR_CS_CP, PR_CS_WGMMA, PR_CS_TMA_STORE, PR_CS_KINDS } pr_cs_commit;

/* ConSan's reports. */
typedef enum pr_cs_message {
    PR_CS_NOTHING,
    PR_CS_WRITES,                /* the latest write is not visible to the thread                  */
    PR_CS_READS,                 /* some finished read is not known to the writer                  */
    PR_CS_PENDING,               /* a commit group is outstanding: kind                            */
    PR_CS_DEADLOCK,
    PR_CS_UNDERFLOW,
    PR_CS_UNINIT, PR_CS_REINIT,  /* current only, as all below                                    */
    PR_CS_LIVE_REUSE, PR_CS_WAITER, PR_CS_FENCE
} pr_cs_message;
/* ConSan's own text. kind: of PR_CS_PENDING. */
const char *pr_cs_text(pr_cs_epoch e, pr_cs_message m, pr_cs_commit kind);

typedef struct pr_cs_barrier { bool live; int phase; int64_t init, count, tx; } pr_cs_barrier;

typedef struct pr_cs {
    pr_cs_epoch epoch;
    int n_lanes, n_bars;
    bool *written;               /* by lane: some write is recorded                                */
    uint64_t *wv;                /* by lane: threads that see it; written and 0 = in flight          */
    int *writer;                 /* by lane: thread of the latest write                             */
    uint64_t *rv;                /* by lane and thread: reads the thread knows to be finished        */
    bool *wt;                    /* by lane, barrier, bank: the barrier carries the latest write     */
    uint64_t *rt;                /* by lane, barrier, bank: reads the barrier carries                 */
    int *commits;                /* by kind, lane, partition: 0 none, -1 staged, n: n-1 newer groups  */
    uint32_t *seen, *fenced;     /* by lane and partition: whose generic accesses are visible, fenced   */
    uint32_t *track_seen, *track_fenced;      /* by lane and barrier                               */
    pr_cs_barrier *bar;
    uint32_t *waiting, *phase;   /* by barrier: partitions that wait; the phase each asked for         */
    uint32_t active;             /* partitions that count for a deadlock                            */
    pr_cs_commit kind;           /* of the last PR_CS_PENDING                                        */
} pr_cs;

pr_cs *pr_cs_new(pr_arena *a, pr_cs_epoch e, int n_lanes, int n_bars);
/* Threads that receive what is meant for t: a partition and its helpers, a helper alone. */
uint64_t pr_cs_peers(int t);

/* ---- accesses; lanes[0..n) ------------------------------------------------------------------------- */
/* Before a read and, with the next, before a write. */
pr_cs_message pr_cs_check_write(pr_cs *c, const int *lanes, int n, int t);
pr_cs_message pr_cs_check_reads(pr_cs *c, const int *lanes, int n, int t);
pr_cs_message pr_cs_check_commits(pr_cs *c, const int *lanes, int n, pr_cs_commit kind);
void pr_cs_read(pr_cs *c, const int *lanes, int n, int t);
/* in_flight: nobody sees the write before a wait transfers it (current). */
void pr_cs_write(pr_cs *c, const int *lanes, int n, int t, bool in_flight);

/* ---- commit groups; p is a partition ------------------------------------------------------------------ */
void pr_cs_stage(pr_cs *c, const int *lanes, int n, pr_cs_commit kind, int p);
void pr_cs_commit_group(pr_cs *c, pr_cs_commit kind, int p);
/* At most `pendings` groups stay outstanding. */
void pr_cs_commit_wait(pr_cs *c, pr_cs_commit kind, int p, int64_t pendings);

/* ---- barriers --------------------------------------------------------------------------------------------- */
pr_cs_message pr_cs_init(pr_cs *c, int b, int64_t count);
pr_cs_message pr_cs_inval(pr_cs *c, int b);
pr_cs_message pr_cs_live(const pr_cs *c, int b);
pr_cs_message pr_cs_arrive_check(const pr_cs *c, int b, int64_t count, int64_t tx);
void pr_cs_arrive(pr_cs *c, int b, int64_t count, int64_t tx);
/* The barrier carries what t sees: all of it; only the writes of these lanes; only tensor core work of t and the
 * writes it rests on. */
void pr_cs_track(pr_cs *c, int b, int t);
void pr_cs_track_writes(pr_cs *c, int b, const int *lanes, int n);
/* ... only t's reads of these lanes */
void pr_cs_track_reads(pr_cs *c, int b, const int *lanes, int n, int t);
void pr_cs_track_tensor(pr_cs *c, int b, int t);
void pr_cs_transfer(pr_cs *c, int b, int t, int phase);

/* ---- waiting ------------------------------------------------------------------------------------------------ */
void pr_cs_set_waiting(pr_cs *c, int b, int p, int phase);
void pr_cs_clear_waiting(pr_cs *c, int b, int p);
/* Does every active partition wait for a phase that is not complete? */
pr_cs_message pr_cs_deadlock(const pr_cs *c);

/* ---- warp_specialize of partitions 0..n-1 ------------------------------------------------------------------------ */
void pr_cs_enter(pr_cs *c, int n);
void pr_cs_join(pr_cs *c, int n);

/* ---- proxies (current) ----------------------------------------------------------------------------------------- */
void pr_cs_generic(pr_cs *c, const int *lanes, int n, int p);
void pr_cs_fence(pr_cs *c, int p);
/* Through the async proxy; a fence that only p's own accesses need is the compiler's to insert. */
pr_cs_message pr_cs_check_fence(pr_cs *c, const int *lanes, int n, int p);
/* lanes null: all. */
void pr_cs_track_proxy(pr_cs *c, int b, int p, const int *lanes, int n);
void pr_cs_transfer_proxy(pr_cs *c, int b, int p);
#endif
