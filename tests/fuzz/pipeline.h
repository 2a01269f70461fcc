/* One random kernel through the whole pipeline, against brute force.
 *
 * Read, lower, decide with the default engines, with isl alone and with Z3 alone, and execute every program of the
 * launch with the concrete evaluator. Then
 *   - an `ok` has no definite race at its own grid, nor at other grids and parameters that its scope covers;
 *   - a reported race is one of the races that execution finds, between the same two operations, and is
 *     confirmed;
 *   - no pair of accesses that execution sees racing was proved disjoint, whatever the verdict says;
 *   - the engines do not contradict each other;
 *   - every operation touches the bytes that its records say;
 *   - an access outside its storage is mentioned, and only then. */
#ifndef PR_TESTS_FUZZ_PIPELINE_H
#define PR_TESTS_FUZZ_PIPELINE_H
#include "gen.h"
#include "hb/check.h"

typedef struct pipeline_settings {
    uint64_t max_ops, z3_rlimit, z3_every;   /* Z3 looks at every so manieth kernel                  */
    bool verbose, no_z3;
    int64_t max_work;                        /* of one execution                                       */
    int fault;                               /* planted, 0 = none; builds with PR_FAULTS only          */
    double slow;                             /* seconds from which a decision is printed               */
} pipeline_settings;
extern pipeline_settings pipeline;

typedef struct pipeline_tally {
    uint64_t kernels, ok, races, undecided, vacuous, refused[PR_REFUSAL_COUNT], rung[4];
    uint64_t replays, inconclusive, footprints, footprint_sites, ledger_pairs, other_grids, overflow, outside;
    uint64_t engine_undecided[3], feature[GEN_FEATURES];
    double seconds[4];
    uint64_t changed[2];           /* idempotent: no, by a value: seen in all programs run twice, not followed there */
    uint64_t repeats[3], repeated[2], repeated_bytes; /* idempotent: yes, no, unknown; runs that were followed twice  */
} pipeline_tally;
extern pipeline_tally pipeline_counts;

/* Looks at everything; true when something is wrong: *kind is then its class, why a description. counted: add to the
 * counts. Not reentrant. */
bool pipeline_examine(const gkernel *k, char *why, size_t why_size, const char **kind, bool counted);
/* The same for a text and a launch document of any origin, with the default engines and at that launch only. False also
 * when either is rejected. Status `vacuous` is a mismatch here too, as no execution is excluded by a guard. */
bool pipeline_examine_text(const char *text, size_t n, const char *launch, size_t n_launch, char *why, size_t why_size, const char **kind);
double pipeline_now(void); /* seconds, monotonic */
#endif
