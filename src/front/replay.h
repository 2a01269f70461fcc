/* Brute-force race oracle: run every program of a small launch and compare every pair of bytes
 * (happens-before.md 8.8). Nothing here is symbolic, and nothing is shared with the records.
 *
 * Orders applied within a program: O1 (one operation, one lane, different iterations, when every lane
 * dimension of extent > 1 occurs in its address or mask), O2 (barrier counts), O3 (a read before what
 * is computed from it lane by lane, closed through accesses that ran at that lane). Between programs:
 * nothing, or, with `waits`, what replay_gates.h shows. Where a release and an acquire atomic could order a pair, the pair is only possible. */
#ifndef PR_FRONT_REPLAY_H
#define PR_FRONT_REPLAY_H
#include "front/interp.h"

typedef struct pr_replay_storage { bool known; uint64_t lo, hi; } pr_replay_storage;

typedef struct pr_replay_options {
    const pr_replay_storage *storage; /* per argument, null = no bounds are applied                  */
    int64_t max_programs, max_events, max_pairs; /* 0 = 65536, 4 000 000, 2^28                       */
    int num_warps;               /* 0 = 4; for the replication rule of happens-before.md 1.5          */
    bool dep_strict;
    bool complete_only;          /* give up at once where the answer cannot be complete: `refused`      */
    bool pre, post;              /* with waits: barriers of the compiler before scalar releases, behind scalar acquires */
    bool waits;                  /* follow waits (replay_gates.h), instead of stopping at them                */
    pr_buf *journal;             /* appended to: every execution, for certificates (not of long runs); null = none */
    bool classes_only;           /* which races there are; their counts are not wanted                    */
    bool known_text;             /* refuse a text that computes with addresses or has barriers for some address spaces */
} pr_replay_options;

typedef struct pr_replay_access {
    const pr_op *op;
    const int *calls; int n_calls;
    const int64_t *iter; int n_iter;
    int64_t pid[3];
    int rank; int64_t lane[PR_MAX_RANK];
    uint64_t addr;               /* valid when addr_known                                        */
    bool addr_known;
    int width, base;             /* base: argument, -1 = not known                                */
    pr_interp_kind kind;
    pr_tri active, writes;
    bool via_desc;
} pr_replay_access;

typedef enum { PR_REPLAY_WAW, PR_REPLAY_RAW, PR_REPLAY_WAR } pr_replay_type;

enum { /* why a race is only possible, bits */
    PR_REPLAY_MAYBE_ACTIVE = 1,  /* an access under an unknown condition                          */
    PR_REPLAY_MAYBE_WRITES = 2,  /* a compare-and-swap may fail                                   */
    PR_REPLAY_MAYBE_SYNC = 4,    /* a release and an acquire atomic could order the pair             */
    PR_REPLAY_MAYBE_BARRIER = 8, /* a barrier or a read under an unknown condition could              */
    PR_REPLAY_ASYNC = 16         /* intra pair with a descriptor access                           */
};

/* All racing pairs of two operations, of one kind. first is the earlier in text order. */
typedef struct pr_replay_race {
    pr_replay_access first, second; /* the example                                              */
    uint64_t byte;               /* first common byte of the example                              */
    bool intra;
    pr_replay_type type;
    unsigned doubts;             /* 0 for definite races                                        */
    int64_t count;               /* pairs of lane executions                                     */
    bool count_exact;            /* false: at least count                                        */
} pr_replay_race;

typedef struct pr_replay_reason { const pr_op *op; const char *why; } pr_replay_reason;
typedef struct pr_replay_outside { pr_replay_access example; int64_t count; } pr_replay_outside;

typedef struct pr_replay_result {
    const char *refused;         /* a limit, else null; nothing else is valid then                  */
    const pr_replay_race *races; int n_races;         /* definite                               */
    const pr_replay_race *possible; int n_possible;
    const pr_replay_reason *inconclusive; int n_inconclusive; /* why more races may exist           */
    const pr_replay_outside *outside; int n_outside;  /* per operation: left its argument's storage   */
    const pr_replay_reason *ub; int n_ub;             /* undefined behaviour met                     */
    bool read_contents;          /* an address, mask, branch or bound rests on contents                */
    bool waited;                 /* some program waits: what is said holds where all waits end             */
    bool endless;                /* refused, but: some program surely comes to a wait that no execution of the launch ends */
    bool used_dependency;        /* some pair is ordered by a dependency alone (O3)                   */
    uint64_t loose;              /* arguments 0..62 that are read at addresses not known                */
    int64_t n_programs, n_events, n_dynamic;
} pr_replay_result;

/* setup.track_deps is ignored; setup.max_work is for the whole replay. */
pr_replay_result pr_replay_run(pr_arena *arena, const pr_interp_setup *setup, const pr_replay_options *o);

/* Every active (or maybe active) lane of every access of every program, by operation in text order,
 * then program, iteration, lane. Returns null, or why it could not (then the list is not complete).
 * Storage bounds are not applied. */
typedef void pr_footprint_fn(void *user, const pr_replay_access *a);
const char *pr_interp_footprint(pr_arena *arena, const pr_interp_setup *setup, const pr_replay_options *o,
                                pr_footprint_fn *visit, void *user);
const char *pr_replay_type_name(pr_replay_type t);
#endif
