/* The bounded concrete engine (shared-memory.md 4.3): one deterministic schedule of the agents' event lists
 * with vector clocks over partitions, asynchronous completions and barrier phases.
 *
 * By the determinism theorem (4.2) one schedule decides all schedules at these launch values, unless it
 * breaks W1, W2 or A1, which are findings themselves. Its verdict about other launch values is nothing. */
#ifndef PR_SHM_BOUNDED_H
#define PR_SHM_BOUNDED_H
#include "shm/events.h"

typedef enum { PR_SHM_RACE, PR_SHM_DEADLOCK, PR_SHM_HAZARD } pr_shm_finding_kind;
typedef enum {
#define FINDING(id, spelling, kind, meaning) PR_SHM_F_##id,
#include "shm/findings.def"
#undef FINDING
    PR_SHM_F_COUNT
} pr_shm_finding_id;
const char *pr_shm_finding_name(pr_shm_finding_id id);
const char *pr_shm_finding_meaning(pr_shm_finding_id id);
pr_shm_finding_kind pr_shm_finding_kind_of(pr_shm_finding_id id);

/* One instance of an operation. */
typedef struct pr_shm_instance {
    const pr_op *op;             /* null: none                                                    */
    pr_loc loc;
    int agent;
    int n_loops; int64_t iteration[PR_SHM_LOOPS];
} pr_shm_instance;

/* One step of the schedule that shows a finding. */
typedef struct pr_shm_step {
    const pr_shm_event *event;   /* of the trace: valid while it lives                            */
    pr_shm_instance at;
    int64_t number;              /* of the step, -1: not reached (where a deadlock leaves it)        */
    int barrier;                 /* allocation, -1: none                                        */
    int64_t slot, phase;         /* of the barrier; phase INT64_MIN: not known                     */
    bool waits;                  /* else it arrives; barrier only                                */
    int n_acc;
    struct { int alloc; int64_t slot; bool write; } acc[PR_SHM_ACCESSES];
} pr_shm_step;

typedef struct pr_shm_finding {
    pr_shm_finding_id id;
    int alloc;                   /* -1: none                                                     */
    int64_t slot;                /* -1: the whole allocation                                     */
    int64_t byte_lo, byte_hi;    /* within the allocation, half open; lo < 0: not contiguous        */
    int64_t phase;               /* of the barrier, -2: none                                     */
    pr_shm_instance first, second;
    const char *what;            /* one sentence                                                 */
    const char *missing;         /* what would order them, one sentence                            */
    const char *trip_counts;     /* "k = 4", of the run it was found in                            */
    int run;                     /* number of the run                                            */
    bool assumed;                /* rests on a condition or value that was not modelled              */
    PR_VEC(pr_shm_step) steps;   /* around first and second, in the order of the schedule            */
    int first_step, second_step; /* index in steps, -1: not among them                            */
} pr_shm_finding;
typedef PR_VEC(pr_shm_finding) pr_shm_findings;

/* Which phase a wait, an arrival or a transaction belonged to. */
typedef struct pr_shm_attribution {
    int op, copy; int bar;       /* operation id; number of the barrier in the event                */
    int n_loops; int64_t iteration[PR_SHM_LOOPS], flat;
    int64_t phase;
} pr_shm_attribution;
typedef PR_VEC(pr_shm_attribution) pr_shm_attributions;

/* Runs the trace. seed 0: the agent that has done least goes first; else a pseudo-random one. Findings are
 * appended without repeating an (id, operation pair) already there. attributions may be null. All output is
 * allocated in p->arena, work in scratch. Returns false when the run stopped early (deadlock, misuse). */
/* strict: the same run again where threads of one partition are ordered by CTA barriers only (membar.h), after a run
 * without findings: then whatever is not ordered is MEMBAR, or a proxy fence that is missing in one partition. */
bool pr_shm_schedule_strictly(pr_shm_prog *p, const pr_shm_trace *t, int run, const char *trip_counts, pr_arena *scratch,
                              pr_shm_findings *findings);
bool pr_shm_schedule(pr_shm_prog *p, const pr_shm_trace *t, unsigned seed, int run, const char *trip_counts,
                     pr_arena *scratch, pr_shm_findings *findings, pr_shm_attributions *attributions);
#endif
