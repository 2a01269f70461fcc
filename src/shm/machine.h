/* State of the bounded engine (bounded.c); nothing else includes this. */
#ifndef PR_SHM_MACHINE_H
#define PR_SHM_MACHINE_H
#include "shm/bounded.h"

enum { AGENTS = 17 };
typedef struct clock { int64_t of[AGENTS], fence[AGENTS]; uint64_t *bits, *fenced; } clock;

typedef struct past {            /* an access that happened                                        */
    const pr_shm_event *e;
    const pr_shm_access *a;
    int64_t step;                /* of the schedule                                              */
    int64_t time, visit;         /* visit: how often its operation was at this slot before          */
    int id;                      /* of its completion, -1 synchronous                             */
} past;

typedef struct done { const pr_shm_event *e; int64_t phase; } done;   /* a step of the schedule      */
typedef PR_VEC(int) numbers;
typedef struct tally { int op; int64_t slot, n; } tally;
typedef struct waiting { const pr_shm_event *e; int agent; int64_t time, phase; } waiting;

typedef struct barrier {
    bool live, ever;
    int64_t init, pending, tx, done;
    clock next;                  /* what the running phase will publish                            */
    clock *phi; int *phi_id; int n_phi, cap_phi;
    PR_VEC(waiting) waits;
    numbers due;                     /* numbers of what arrives on its own time: TMA loads, arrivals of the tensor core and of copies */
    PR_VEC(const pr_shm_event *) due_by;
    const pr_shm_event *last;
    pr_shm_view place;
} barrier;

typedef struct agent {
    const pr_shm_events *list;
    int at;
    bool done;
    clock now;
    int64_t met_tensor;                     /* strict: of the last barrier for tensor memory                       */
    int64_t met;                            /* strict: time of its last CTA barrier                   */
    int64_t told; uint64_t since;           /* what its threads did up to then, all of them have done; storage accessed later */
    PR_VEC(int) alone;                      /* strict: completions known to single threads only         */
    numbers cp, dots, stores, tc;               /* numbers in issue order                             */
    PR_VEC(int) cp_group;                   /* end of each committed group in cp                    */
    int64_t executed;
} agent;

typedef struct machine {
    pr_shm_prog *p;
    const pr_shm_trace *t;
    pr_arena *scratch;
    int n_agents, words, n_ids, max_ids;
    agent agents[AGENTS];
    barrier **barriers;          /* by allocation                                                 */
    int *n_slots;
    PR_VEC(past) *history;       /* by allocation                                                 */
    clock *entered; bool *has_entered; clock *ended; int *n_ended, *n_parts;
    pr_shm_findings *findings;
    pr_shm_attributions *attributions;
    const char *trips;
    int run;
    PR_VEC(tally) visits;
    PR_VEC(past) first_contents; /* writes of agent 0 before a warp_specialize                        */
    PR_VEC(done) steps;
    bool stop, stuck, strict;
    bool uncertain;              /* whether the views at hand have common bytes is not known          */
    uint64_t random;
} machine;
#endif
