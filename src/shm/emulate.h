/* `polyrace consan --emulate`: ConSan's table machine (tables.h) on the host, over random schedules of one launch.
 *
 * Each schedule ends in one of three ways: ConSan stops the kernel with a message, every partition ends without
 * one, or the kernel hangs in silence, which is what the hardware's barriers decide: they are modelled beside the
 * tables, with bytes and copies that land late. A clean outcome proves nothing. */
#ifndef PR_SHM_EMULATE_H
#define PR_SHM_EMULATE_H
#include "hb/facts.h"
#include "shm/bounded.h"
#include "shm/tables.h"

typedef enum { PR_CONSAN_CLEAN, PR_CONSAN_REPORT, PR_CONSAN_HANG } pr_consan_kind;

typedef struct pr_consan_outcome {
    pr_consan_kind kind;
    pr_cs_message message;
    const char *text;            /* ConSan's words; null: none                                     */
    pr_shm_instance at;          /* the operation that is stopped, or a wait that never ends          */
    int64_t count, first;        /* schedules that end so; the first of them                        */
} pr_consan_outcome;

/* What one access or barrier operand is in the tables. */
typedef struct pr_consan_lanes { int *id, n; } pr_consan_lanes;
typedef struct pr_consan_step {
    const pr_shm_event *e;
    pr_consan_lanes acc[PR_SHM_ACCESSES], bar_bytes[PR_SHM_BARS];
    int bar[PR_SHM_BARS];        /* -1: outside the array                                          */
} pr_consan_step;

typedef struct pr_consan {
    pr_shm_prog *p;
    const pr_shm_trace *t;
    pr_arena *arena;
    pr_cs_epoch epoch;
    pr_consan_step *steps[PR_SHM_AGENTS];
    int n_lanes, n_bars;
    const char **lane_name, **bar_name;
    pr_consan_lanes *bar_bytes;  /* by barrier (current)                                            */
    bool hull;                   /* a view that is not contiguous counts as the bytes around it       */
    const char *refused;         /* too many lanes                                                 */
} pr_consan;

/* lanes.c: exact atoms of all views (current), or the distinct base addresses (older). */
void pr_consan_read(pr_consan *c, pr_shm_prog *p, const pr_shm_trace *t, pr_cs_epoch epoch, pr_arena *arena);
/* One schedule, chosen by seed and number. tables: null, or the tables after each step as text. */
void pr_consan_schedule(const pr_consan *c, uint64_t seed, int64_t number, pr_arena *scratch, pr_consan_outcome *out,
                        pr_buf *tables);

typedef struct pr_consan_options {
    pr_cs_epoch epoch;
    int64_t schedules, seed;
    int64_t max_trips;           /* what integer arguments are that the launch does not give           */
    const pr_launch *launch;     /* or null                                                        */
    const pr_op *func;
    pr_flag *interrupt;
} pr_consan_options;

typedef struct pr_consan_value { pr_str name; int64_t value; bool given; } pr_consan_value;
typedef struct pr_consan_result {
    pr_refusal_vec refusals;     /* no schedule was run                                            */
    PR_VEC(pr_consan_outcome) outcomes;       /* most frequent first                               */
    PR_VEC(pr_consan_value) values;
    int64_t schedules, events;
    const char *trip_counts;
    bool assumed, hull;          /* a condition was not modelled; see pr_consan                      */
} pr_consan_result;
/* tables: null, or where the tables of the first schedule go, instead of all the others. */
void pr_consan_emulate(pr_arena *arena, const pr_ir *ir, const pr_consan_options *o, pr_consan_result *out,
                       pr_buf *tables);
#endif
