/* Verdicts: what one check of one launch (or of a text alone) concluded. interface.md 3.
 * Only pr_verdict_join (hb/verdict.c) creates PR_VERDICT_OK. */
#ifndef PR_HB_VERDICT_H
#define PR_HB_VERDICT_H
#include "hb/facts.h"
#include "hb/record.h"
#include "term/query.h"
#include "term/race_set.h"
#include "util/err.h"

typedef enum { PR_VERDICT_OK, PR_VERDICT_RACES, PR_VERDICT_UNSUPPORTED, PR_VERDICT_VACUOUS,
               PR_VERDICT_DEADLOCK, PR_VERDICT_HAZARD } pr_verdict_status;
typedef enum { PR_RUNG_NONE, PR_RUNG_T0, PR_RUNG_T1, PR_RUNG_T1_LAUNCH } pr_rung;
typedef enum { PR_RACE_WAW, PR_RACE_RAW, PR_RACE_WAR } pr_race_type;
typedef enum { PR_CONFIRMED, PR_UNCONFIRMED, PR_CONFIRM_UNAVAILABLE } pr_confirmation;

typedef struct pr_witness_access {
    int record;                    /* index in pr_records                                       */
    bool reads, writes;
    int64_t program[3];
    int rank; int64_t lane[PR_RANK_MAX];
    int n_iterations; int64_t iteration[64]; /* outermost first (loops of the record's frames)       */
    pr_i128 address;               /* first byte: absolute (T1), or offset (T0)                   */
    pr_i128 element, byte;         /* from the tensor's ptr: element of this access; first common byte  */
} pr_witness_access;

typedef struct pr_race {
    pr_race_type type;
    bool intra;                    /* threads of one program                                    */
    pr_witness_access a, b;        /* first, second in canonical order (happens-before.md 1.2)        */
    const char *reason;            /* why nothing orders them, one sentence                        */
    pr_confirmation confirmation; const char *confirmation_why;
    pr_refusal_kind not_replayed;  /* UNAVAILABLE for a reason that no run could mend (undefined behaviour
                                      before the access, work limit): refused with this kind, not reported */
    int64_t grid[3];               /* grid of the witness                                        */
    int pair;                      /* number in the ledger                                       */
    int config;
    const pr_race_set *set;        /* the whole race relation at the launch's grid; null = not asked for   */
} pr_race;

typedef struct pr_out_of_bounds { pr_witness_access access; bool confirmed; } pr_out_of_bounds;
typedef struct pr_z3_reason { int pair; const char *reason; pr_loc loc; } pr_z3_reason;

/* One row a pair, in order; the ledger must add up before OK. */
typedef enum { PR_BUCKET_FILTERED, PR_BUCKET_PROVED, PR_BUCKET_RACE, PR_BUCKET_WITHHELD,
               PR_BUCKET_GRID_FRAGILE, PR_BUCKET_REFUSED, PR_BUCKET_UNDECIDED, PR_BUCKETS } pr_bucket;
typedef struct pr_ledger_row {
    int pair, a, b; bool intra; pr_bucket bucket; const char *evidence;
    pr_refusal_kind why;           /* REFUSED, UNDECIDED                                        */
    bool executed;                 /* settled by an execution of the whole launch: no query states it      */
} pr_ledger_row;

/* A defect of a TTGIR input (interface.md 3.1). */
typedef struct pr_finding_site {
    bool present;
    const char *partition;         /* "default", "partition0", "kernel"                           */
    pr_loc loc; const pr_loc *callers; int n_callers; /* of the functions that were inlined, innermost first */
    int n_iterations; int64_t iteration[64]; /* outermost first                                    */
} pr_finding_site;
/* A step of the execution that shows a finding: what one partition did. */
typedef struct pr_finding_step {
    int64_t step;                  /* -1: not reached                                            */
    pr_finding_site at;
    int mark;                      /* 1, 2: the finding's first, second; else 0                     */
    const char *role;              /* "wait", "arrive", "access", "other"                          */
    pr_str barrier;                /* allocation of the barrier, "" without one                      */
    int64_t slot, phase;           /* of the barrier; slot -1: none; phase INT64_MIN: not known       */
    int n_accesses;
    struct { pr_str allocation; int64_t slot; bool write; } access[8];
} pr_finding_step;
typedef struct pr_finding {
    const char *kind, *id, *memory; /* race|deadlock|hazard, "SHM-RAW", smem|tmem                    */
    pr_str allocation; pr_loc allocation_loc; /* "" when there is none                              */
    const pr_loc *allocation_callers; int n_allocation_callers;
    int64_t slot;                  /* -1: none                                                   */
    int64_t byte_lo, byte_hi;      /* in the allocation, half open; byte_lo < 0: not one interval     */
    int64_t phase;                 /* of the barrier, -2: none                                     */
    pr_finding_site first, second;
    const char *what, *missing;    /* one sentence each                                           */
    const char *trip_counts;       /* of the run that shows it                                     */
    bool confirmed;                /* the bounded engine reached it                                */
    PR_VEC(pr_finding_step) steps; /* of that run, around the two                                  */
} pr_finding;

/* Two operations of a TTGIR kernel that touch common bytes and are ordered in every execution. */
typedef struct pr_ordered_pair { pr_finding_site first, second; const char *conflicts; } pr_ordered_pair;

typedef struct pr_counts { int64_t pretest, isl, enumerated, z3, filtered; uint64_t isl_ops, z3_units; int64_t queries, leaves, pairs; } pr_counts;

typedef struct pr_config_verdict {
    pr_verdict_status status;
    pr_rung rung;                  /* NONE unless OK                                            */
    PR_VEC(const char *) qualifiers;
    pr_term_vec conditions;        /* T0: on parameters; the qualifiers "assumes strides of T do not overlap" as
                                      terms of records->terms                                     */
    PR_VEC(pr_race) races;
    int withheld;
    PR_VEC(pr_race) grid_fragile;
    pr_refusal_vec refusals;       /* one a site, source order                                   */
    PR_VEC(const char *) notes;
    PR_VEC(pr_out_of_bounds) out_of_bounds;
    PR_VEC(pr_z3_reason) z3_reasons;
    PR_VEC(pr_ledger_row) ledger;
    int64_t grid_axis[3];          /* "any" = 0, else the pinned extent; valid for OK                */
    const char *idempotent;        /* "yes", "no", "unknown"                                     */
    bool deterministic;            /* no atomic whose order matters                               */
    pr_counts counts;
    bool ttgir;                    /* shared and tensor memory: findings instead of races            */
    bool ttgir_launch;             /* OK: proved for the values of the launch, not for every trip count  */
    const char *ttgir_certificate; /* OK, where asked for: what recheck builds the proof from              */
    PR_VEC(pr_finding) findings;
    PR_VEC(pr_ordered_pair) ordered;   /* of a proved one                                           */
    struct pr_config_verdict *second; /* of the TTGIR text beside a TTIR text, null without one      */
    bool nondeterministic;         /* a wall-clock backstop fired                                */
    int64_t us_parse, us_lower, us_decide, us_explain;
    const pr_records *records;     /* for reports; null when nothing was lowered                   */
    const pr_launch *launch;       /* null without one                                         */
} pr_config_verdict;

struct polyrace_verdict {          /* = polyrace_verdict of the public header                      */
    pr_arena *arena;               /* owns everything below                                      */
    pr_str kernel, input;
    pr_verdict_status status;      /* joined over configs                                        */
    pr_rung rung;
    PR_VEC(const char *) qualifiers;
    pr_config_verdict *configs; int n_configs;
    PR_VEC(const char *) notes;
};
/* Status of a TTGIR configuration from its findings and refusals; proved: the proof for every trip count
 * accounts for every pair of accesses and every barrier operation. */
void pr_verdict_ttgir(pr_config_verdict *v, bool proved);
const char *pr_verdict_status_name(pr_verdict_status s);
const char *pr_rung_name(pr_rung r);          /* "T0", "T1", "T1-launch" */
const char *pr_scope_name(pr_rung r);         /* "any-params-any-grid", ... */
const char *pr_ttgir_scope_name(bool launch); /* "every-trip-count", "launch" */
const char *pr_ttgir_scope_text(bool launch); /* for people, after "race free "                        */
const char *pr_race_type_name(pr_race_type t);
#endif
