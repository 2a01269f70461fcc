/* State of one configuration's check, shared by the files that decide it: pairs.c (who can meet whom),
 * ladder.c (rungs), obligations.c (widths and bounds at the launch), races.c (what witnesses mean), witness.c (points to races). */
#ifndef PR_HB_LADDER_H
#define PR_HB_LADDER_H
#include "hb/decide.h"
#include "hb/encode.h"

typedef enum { PR_PAIR_OPEN, PR_PAIR_FILTERED, PR_PAIR_EMPTY, PR_PAIR_WITNESS, PR_PAIR_UNKNOWN, PR_PAIR_REFUSED } pr_pair_state;

typedef struct pr_pair {
    int a, b; bool intra;
    pr_pair_state state;
    pr_refusal_kind why; const char *message;
    int side;                      /* REFUSED: 0 = record a is the one not understood, 1 = b             */
    pr_query *query;               /* last query asked, null before the first                    */
    const pr_encoding *encoded;    /* query is this pair's as encoded there, not asked to its end; dead, o3: with it */
    bool encoded_dead, encoded_o3;
    pr_point point;                /* WITNESS                                                   */
    pr_rung rung;                  /* of the last answer                                        */
    const char *evidence;
    pr_term condition;             /* EMPTY at T0 under this condition on parameters; NONE = always      */
    bool put_off;                  /* the cheap rows left it open, the dear ones were not asked yet      */
    bool maybe_waits;              /* its query is over-approximated in a dependency that contents may cut       */
    bool used_o3;                  /* proved with a dependency whose load may be replicated       */
    bool used_layouts;             /* proved by one thread's order, from the layouts of the TTGIR text      */
    bool used_sync;                /* proved by what atomics order or return                        */
    bool used_o4;                  /* ... and by barriers that the compiler inserts                      */
    bool synced;                   /* atomics may matter: the answer is that of the query with their facts  */
    bool meets;                    /* programs were seen to meet with the launch's parameters, at some grid */
    bool at_launch;                /* WITNESS at an open grid whose programs are all in the launch's grid */
    bool fragile;                  /* SAT at some grid, empty at the launch                       */
    bool reads_contents;           /* the last answer rests on the launch's contents                  */
    bool executed;                 /* settled by an execution of the whole launch                      */
} pr_pair;
typedef PR_VEC(pr_pair) pr_pair_vec;

/* Work of one launch that is not counted in operations. Pairs: seven hundred accesses; races: replayed and
 * reported, others are counted; explained: with their whole relation. */
enum { PR_MOST_PAIRS = 1 << 19, PR_MOST_RACES = 256, PR_MOST_EXPLAINED = 64 };
bool pr_pairs_too_many(const pr_records *R);

/* apart.c: why the two addresses never meet (different programs: never in two different ones), where the condition
 * on parameters holds, if there is one; null when that takes a query. */
const char *pr_apart_why(pr_encoding *e, int a, int b, bool intra, pr_term condition);
/* itself.c: why two executions of one record never meet where *condition on parameters holds (TRUE: always); null: ask. */
const char *pr_itself_why(pr_encoding *e, int record, bool intra, pr_term *condition);
/* The record's executions in two programs reach one byte with the parameters of the launch: no proof for all parameters is to be
 * had, under no condition that the launch meets. False: not seen. */
bool pr_itself_meets(pr_encoding *e, int record, const pr_env *launch);
/* Two executions as a witness of the access's query with itself in this encoding: it satisfies the query. */
bool pr_itself_witness(pr_encoding *e, int record, const pr_env *launch, const pr_query *q, pr_point *out);

typedef struct pr_run {
    pr_arena *arena;
    pr_records *R; const pr_launch *L; const pr_options *o; const pr_confirmer *confirm;
    pr_config_verdict *out; pr_error *err;
    pr_decider d;
    pr_pair_vec pairs;
    bool cheap_pass;               /* of run_rung: pairs that need a dear row are put off                 */
    int *component_t0, *component_t1;  /* per argument                                          */
    bool disjoint;                 /* accessed arguments of the launch are pairwise disjoint        */
    uint64_t overflow_widths[3];   /* bit set of widths that a proof assumes not to wrap             */
    bool *table_load;              /* per record: some answer rests on the value of this load         */
    bool first_attempt;            /* a snapshot attempt follows: no expensive engine             */
    bool unbound;                  /* some accessed argument has no tensor                         */
    PR_VEC(pr_race) elsewhere;     /* witnesses at other grids that an execution there has to confirm       */
    const pr_env *hint;            /* parameters of the launch, null without one                   */
    bool meets;                    /* some pair has a witness, or programs were seen to meet        */
    struct pr_condition_found *found; /* per argument: condition.c                                 */
    struct { const pr_encoding *e; int record; pr_term condition; const char *evidence; } same_lanes; /* the last such proof: ladder.c */
} pr_run;

/* ladder.c: a run without pairs yet; the caller stops it */
pr_status pr_run_start(pr_run *run, pr_arena *arena, pr_records *r, const pr_launch *launch, const pr_options *o,
                       const pr_confirmer *confirm, pr_config_verdict *out, pr_error *err);
void pr_run_stop(pr_run *run);
/* condition.c: conditions on parameters */
const pr_env *pr_condition_env(pr_run *run);
/* Is the pair's query empty with the condition as a premise, and does it hold at the launch (if there is one)?
 * Then the pair keeps it and *o is that answer. under: the evidence of a proof under it, null = ask. */
bool pr_condition_try(pr_run *run, pr_pair *p, pr_term condition, const char *under, pr_outcome *o);
/* Does the launch meet the condition? Then it is also asked first for the next pair of different programs on this argument. */
bool pr_condition_holds(pr_run *run, const pr_pair *p, pr_term condition);
/* The same with the condition that an earlier pair on this argument found, where it keeps being of use. */
bool pr_condition_again(pr_run *run, pr_pair *p, pr_outcome *o);
/* That condition; NONE: none, or it was of no use lately. */
pr_term pr_condition_known(pr_run *run, const pr_pair *p);
void pr_condition_premise(pr_run *run, pr_query *q, pr_term condition);
void pr_condition_all(pr_run *run, pr_term_vec *out);   /* of all pairs, each once */
void pr_condition_qualify(pr_run *run);
const char *pr_condition_text(pr_arena *arena, pr_terms *T, pr_term t); /* "n <= stride and m >= 1" */

/* pairs.c */
void pr_run_components(pr_run *run);
void pr_pairs_enumerate(pr_run *run, const int *component, pr_pair_vec *out);
bool pr_record_writes(const pr_record *r);
bool pr_record_reads(const pr_record *r);
/* obligations.c: names the widths whose obligations can fail in the encoding's domain as qualifiers */
void pr_obligations_qualify(pr_run *run, pr_encoding *e);
/* one qualifier that names every width collected by the two */
void pr_obligations_name(pr_run *run);
/* proves them at the launch; false with a refusal pushed when one fails or stays undecided */
bool pr_obligations_discharge(pr_run *run, pr_encoding *launch);
/* a note when some program of the launch breaks an assumption about program ids */
void pr_assumptions_check(pr_run *run, pr_encoding *launch);
/* in-bounds premise at the launch: qualifiers and out_of_bounds */
pr_status pr_bounds_check(pr_run *run, pr_encoding *launch);
/* races.c: what the witnesses mean */
void pr_pair_refuse(pr_pair *p, pr_pair_state state, pr_refusal_kind why, const char *message);
void pr_races_at_launch(pr_run *run, const pr_encoding *e);      /* which of e's witnesses are ones at the launch's grid */
void pr_races_elsewhere(pr_run *run, const pr_encoding *e);      /* the others are evidence              */
pr_status pr_races_confirm_elsewhere(pr_run *run, const pr_encoding *e);
/* Every witness becomes a race, a refusal or a count of what is withheld. e: the launch's own encoding; open: the one at an open grid. */
pr_status pr_races_report(pr_run *run, pr_encoding *e, const pr_encoding *open);
void pr_races_drop_stale(pr_run *run);         /* evidence of pairs that race at the launch                */
/* witness.c */
pr_status pr_witness_race(pr_run *run, const pr_encoding *e, const pr_pair *p, pr_race *out);
/* The same for a race that rests on atomics: confirmed by an execution of the launch, else left unconfirmed. */
pr_status pr_witness_execution(pr_run *run, const pr_encoding *e, pr_race *race);
/* First common byte, canonical order, type and reason of two accesses of the launch that overlap. */
void pr_witness_settle(pr_run *run, pr_race *race);
/* whole.c: decides what is left by executing the whole launch; true when that settles every pair, or shows races. *ends unset: no execution of it ends. */
bool pr_whole_launch(pr_run *run, pr_encoding *launch, pr_rung *rung, bool *ends, pr_status *st);
void pr_common_qualifiers(pr_run *run);        /* of the text, the options and the launch */
void pr_witness_access_at(pr_run *run, const pr_encoding *e, const pr_side *s, const pr_query *q, const pr_point *p,
                          pr_witness_access *out);
/* explain.c: the race relation of each reported race, at the launch's grid */
const pr_race_set *pr_explain_pair(pr_run *run, pr_encoding *e, int a, int b, bool intra,
                                   int64_t max_ops);
void pr_explain_races(pr_run *run, pr_encoding *launch);
/* attributes.c */
void pr_attribute_order(pr_run *run);                     /* float atomics: deterministic, its note        */
void pr_attributes(pr_run *run, pr_encoding *e);          /* idempotent; after the status is settled       */
bool pr_same_value(pr_run *run, const pr_encoding *e, const pr_pair *p);
bool pr_made_the_same(pr_run *run, pr_encoding *e, const pr_pair *p, const pr_race *race);
/* verdict.c */
void pr_add_refusal(pr_run *run, pr_refusal_kind kind, pr_loc loc, const char *message);
void pr_add_refusal_of(pr_run *run, pr_refusal given);   /* keeps its hint */
void pr_add_qualifier(pr_run *run, const char *text);
#endif
