/* The decision procedure of one configuration: records + launch -> verdict (happens-before.md 5.1). */
#ifndef PR_HB_CHECK_H
#define PR_HB_CHECK_H
#include "hb/verdict.h"
#include "term/engine.h"

typedef enum { PR_ENGINE_AUTO, PR_ENGINE_ISL, PR_ENGINE_Z3 } pr_engine_choice;
typedef enum { PR_ATOMIC_ORDER_AUTO, PR_ATOMIC_ORDER_STRICT, PR_ATOMIC_ORDER_CTA } pr_atomic_order;

typedef struct pr_options {
    pr_engine_choice engine;
    bool no_pretest, cross_check;
    pr_rung stop_at;               /* NONE = auto; else only this rung may answer                  */
    pr_atomic_order atomic_order;
    bool accept_premises;          /* --accept-premises                                         */
    bool dep_strict;               /* --dep-order=strict                                        */
    bool source_order;             /* --program-order=source                                    */
    int64_t budget_ms;             /* 0 = none                                                 */
    int64_t t0_timeout_ms, t1_timeout_ms;
    pr_limits limits;
    pr_assume *assume; int n_assume;  /* --assume                                             */
    /* called for every query answered EMPTY, while its terms live; null = nobody wants it */
    void (*claim)(void *user, const pr_query *q, const pr_outcome *o);
    void *claim_user;
    bool no_explain;               /* races without their relation and sentence                   */
    int explain_factor;            /* so many times the isl operations of a query for a relation; 0 = 1      */
    int fault;                     /* test builds only: a planted fault (0 = none), see tests/README   */
} pr_options;

enum { PR_EXPLAIN_FACTOR = 5 };    /* explanations that are asked for may cost more than verdicts         */

/* All executions of a launch, as the concrete evaluator sees them (hb/whole.c). */
typedef struct pr_whole {
    const char *why_not;           /* it does not know enough, or would take too long: nothing else is valid      */
    PR_VEC(pr_race) races;         /* certain ones: the accesses and intra are filled in                    */
    bool *doubtful;                /* [record][record][intra]: may race or not, beside certain races; null = none    */
    PR_VEC(pr_out_of_bounds) outside;
    bool *loose;                   /* per argument: also accessed at addresses that are not known             */
    bool read_contents, used_dependency;
    bool endless;                  /* some program surely comes to a wait that no execution ends: then why_not is set, and this is valid */
    bool waited;                   /* it speaks of executions whose waits end, from the locations' initial values   */
} pr_whole;

/* What a second run of a launch certainly does: leave the same bytes, or another value at one. */
typedef struct pr_again {
    bool settles;                  /* certainly not: nothing that is written is read before it is stored      */
    bool differs, chosen;          /* chosen: not all contents that were read are the launch's            */
    int record, arg;               /* that wrote it; in whose storage it lies                            */
    pr_i128 byte;                  /* from the tensor's ptr                                            */
    const char *once, *twice;
} pr_again;

/* Confirmation by the concrete evaluator (front/interp), handed in by src/polyrace.c so that hb does
 * not know the front end. Sets race->confirmation and confirmation_why; returns PR_ERR_INTERNAL when
 * the evaluator could evaluate and did not reach the bytes. null = confirmation unavailable. */
typedef struct pr_confirmer {
    void *user;
    pr_status (*race)(void *user, const pr_records *r, const pr_launch *l, pr_race *race, pr_error *err);
    /* A race that rests on what atomics return or order: an execution of the whole launch in which it happens.
     * The grid is race->grid. Confirmed: the two accesses of *race become those of that execution. pre, post: barriers before scalar
     * releases and behind scalar acquires are taken for granted. *stuck: in some execution every unfinished program waits. */
    pr_status (*execution)(void *user, const pr_records *r, const pr_launch *l, bool pre, bool post, pr_race *race, bool *stuck, pr_error *err);
    /* Is the value of this store one function of the lane, the iterations of its loops, the program ids along *axes, scalars, and
     * the memory of the arguments marked in *args? false: not known to be. */
    bool (*made_of)(void *user, const pr_records *r, int record, unsigned *axes, const bool **args, int *n_args);
    /* one access of an out-of-bounds finding */
    pr_status (*access)(void *user, const pr_records *r, const pr_launch *l, const int64_t grid[3],
                        const pr_witness_access *a, bool *confirmed, pr_error *err);
    /* What do all programs of the launch do? Answers only when the execution knows every address and condition that matters;
     * with some: as far as it knows them, and then only by races between programs that happen in every execution.
     * pre, post: barriers of the compiler before scalar releases, behind scalar acquires. */
    pr_status (*whole)(void *user, const pr_records *r, const pr_launch *l, bool some, bool pre, bool post, pr_whole *out, pr_error *err);
    /* Does a race-free launch leave other bytes when it is run again? all: its programs may meet. */
    pr_status (*again)(void *user, const pr_records *r, const pr_launch *l, bool all, pr_again *out, pr_error *err);
} pr_confirmer;

/* Text order, which gives records their final numbers. */
void pr_records_sort(pr_records *r);
/* Finishes raw records in place (positions, uncertain flags, dependency closure). */
void pr_records_build(pr_records *r, pr_arena *arena);

/* out is zero-initialised by the caller and lives in arena. launch may be null (T0 only). */
pr_status pr_check_config(pr_arena *arena, pr_records *r, const pr_launch *launch, const pr_options *o,
                          const pr_confirmer *confirm, pr_config_verdict *out, pr_error *err);
/* Joins the configurations' statuses; fills status, rung, qualifiers. */
void pr_verdict_join(struct polyrace_verdict *v);

/* Queries of one configuration for dumps (--stage=query|isl|smt2): calls visit for every pair query of
 * one rung: T1 with a launch, T0 without, or the one that stop_at names. pair -1 = all. */
typedef struct pr_pair_view { int pair, a, b; bool intra; const pr_query *query; const char *note; } pr_pair_view;
pr_status pr_check_queries(pr_arena *arena, pr_records *r, const pr_launch *launch, const pr_options *o,
                           int pair, void (*visit)(void *user, const pr_pair_view *v), void *user, pr_error *err);
void pr_options_default(pr_options *o);
#endif
