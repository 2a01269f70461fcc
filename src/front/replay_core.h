/* What the files of the replay share: the collected executions.
 *
 *   replay_collect.c  runs the programs and stores what they did
 *   replay_journal.c  what they did, as text
 *   replay_uses.c     where the values of the loads go (replication rule)
 *   replay_gates.c           orders from what waits need
 *   replay.c          pairs, orders, result */
#ifndef PR_FRONT_REPLAY_CORE_H
#define PR_FRONT_REPLAY_CORE_H
#include <assert.h>
#include "front/ops.h"
#include "front/replay.h"

/* One access operation reached through one chain of calls. */
typedef struct pr_rsite {
    const pr_op *op;
    const int *calls; int n_calls;
    int n_iter, width, rank;
    int64_t shape[PR_MAX_RANK], n_lanes;
    pr_interp_kind kind;
    pr_interp_sem sem;
    pr_interp_scope scope;
    bool via_desc, has_position;     /* in some execution                                      */
    bool replicated;                 /* its value is no anchor of O3                            */
    bool unknown_address;            /* on some active lane                                     */
    uint64_t bases, unknown_bases;   /* arguments 0..62 seen; bit 63 = not known                  */
    int order;                       /* position in text order                                  */
    int next;                        /* next site of the same operation, -1                       */
} pr_rsite;

/* One execution of a site: its lanes are events[first .. first + n). */
typedef struct pr_rdyn {
    int site, program;
    int64_t iter, deps, arms;        /* offsets into pools                                      */
    int n_deps, n_arms;
    int64_t first; int n;
    pr_interp_epoch epoch;
} pr_rdyn;

#define PR_EV_MAYBE 0x80000000u
#define PR_EV_OUTSIDE 0x40000000u    /* not in its argument's storage: takes part in no race          */
#define PR_EV_NOWHERE 0x20000000u    /* address not known                                      */
#define PR_EV_ACROSS 0x10000000u     /* begins in it and ends behind it: listed as outside, and takes part in races */
#define PR_EV_LANE 0x0fffffffu
typedef struct pr_rev { uint64_t addr; uint32_t dyn, lane; } pr_rev;

typedef struct pr_rlog {
    pr_arena *arena;
    const pr_interp_setup *setup;
    pr_replay_options o;
    pr_machine *machine;
    PR_VEC(pr_rsite) sites;
    int *site_of_op;                 /* by op id, first site or -1                               */
    PR_VEC(pr_rdyn) dyns;
    PR_VEC(pr_rev) events;
    PR_VEC(int64_t) iters;
    PR_VEC(pr_interp_arm) arms;
    PR_VEC(int) deps;                /* numbers within the program                              */
    PR_VEC(int) first_dyn;           /* by program                                             */
    PR_VEC(pr_replay_reason) reasons, ub;
    int program;
    const char *refused;
    struct pr_gates *gates;          /* waits are followed, else null                                */
} pr_rlog;

static inline bool pr_rsite_atomic(const pr_rsite *s) { return s->kind >= PR_INTERP_RMW; }
static inline pr_tri pr_rsite_writes(const pr_rsite *s)
{
    switch (s->kind) {
    case PR_INTERP_STORE: case PR_INTERP_RMW: case PR_INTERP_ATOMIC_STORE: return PR_YES;
    case PR_INTERP_CAS: return PR_MAYBE;
    default: return PR_NO;
    }
}

/* replay_collect.c */
void pr_rlog_collect(pr_rlog *l, pr_arena *arena, const pr_interp_setup *setup,
                     const pr_replay_options *o, bool deps);
void pr_rlog_reason(pr_rlog *l, const pr_op *op, const char *why);
void pr_rlog_program(const pr_rlog *l, int64_t program, int64_t pid[3]);
pr_replay_access pr_rlog_access(const pr_rlog *l, const pr_rev *e);
/* replay_journal.c */
void pr_rlog_journal(const pr_rlog *l, pr_buf *b);
/* replay_uses.c: does the value of the load op reach a condition, a bound or another shape? */
bool pr_load_is_spread(pr_arena *arena, const pr_ir *ir, const pr_op *load);
#endif
