/* Does some interleaving of a small launch let two given accesses race? Runs the parsed kernel with a memory.
 *
 * The programs of a launch are run one after the other in a few orders, and (few programs) atomic by atomic in turns, and with one or both of
 * the two held up before one of their atomics until nobody else can go on; a program that polls a location whose
 * value does not change gives way and is resumed later (it is run again from its start with what it read
 * before). Each such run is an execution of the kernel: operations happen in one total order and every read sees
 * the last write. In it two conflicting accesses race when no barrier, dependency, release and acquire that ran
 * orders them (happens-before.md 1.2, 4.3). Order is over-estimated where in doubt, so what is found is a race;
 * nothing found proves nothing. */
#ifndef PR_FRONT_SCHEDULE_H
#define PR_FRONT_SCHEDULE_H
#include "front/interp.h"

typedef struct pr_schedule_site { int op_id; const int *calls; int n_calls; } pr_schedule_site;

/* Where the storage of an argument lies. */
typedef struct pr_schedule_storage { bool known; uint64_t lo, hi; } pr_schedule_storage;

typedef struct pr_schedule_ask {
    pr_schedule_site site[2];
    int64_t pid[2][3];             /* where to look first                                           */
    bool intra;                    /* two threads of program pid[0]: the lanes and iterations below      */
    const int64_t *lane[2]; int rank[2];
    const int64_t *iter[2]; int n_iter[2];
    bool pre, post;                /* the compiler puts barriers before scalar releases, behind scalar acquires */
    const pr_schedule_storage *storage;   /* by argument that is a tensor; null = not known: nothing is left out of the runs */
    int64_t max_work;              /* of all runs together, 0 = 2^26                                */
} pr_schedule_ask;

typedef struct pr_schedule_access {
    int64_t pid[3], iter[PR_INTERP_MAX_LOOPS]; int n_iter;
    int64_t lane[PR_MAX_RANK]; int rank;
    uint64_t addr; int width;
    bool reads, writes, atomic;
} pr_schedule_access;

typedef struct pr_schedule_result {
    bool found;
    const char *why;               /* nothing found: what kept the runs from saying more, static text      */
    bool stuck;                    /* in some order every unfinished program waits                      */
    pr_schedule_access at[2];
} pr_schedule_result;

/* setup.touch is replaced; contents (pr_interp_arg.values) are the initial memory. */
pr_schedule_result pr_schedule_race(pr_arena *arena, const pr_interp_setup *setup, const pr_schedule_ask *ask);
#endif
