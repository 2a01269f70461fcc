/* The one question every engine answers; no record, isl or Z3 type in it (decision-engine.md 1.2).
 *
 * "Is there an integer assignment of vars, within their intervals, under which every core conjunct,
 * every premise, (the overlap of the two addresses when they are given) and at least one of the
 * distinct alternatives holds?"
 *
 * Terms contain VAR leaves only: hb/encode has replaced every APP by a PR_ROLE_FREE variable and
 * every FITS by its meaning. */
#ifndef PR_TERM_QUERY_H
#define PR_TERM_QUERY_H
#include "term/range.h"
#include "term/refusal.h"

typedef enum { PR_ANSWER_EMPTY, PR_ANSWER_WITNESS, PR_ANSWER_UNKNOWN } pr_answer;

/* Facts that a prover found on its way to EMPTY: each follows from the query and those before it. Where a rule
 * used a product of unknowns, factor f and difference d name the instance of "f >= 1 and d >= 1 imply f*d >= f, d <= -1
 * implies f*d <= -f" that it rests on; else both are none. */
typedef struct pr_trace_fact { pr_term fact, factor, difference; } pr_trace_fact;
typedef struct pr_trace { pr_arena *arena; PR_VEC(pr_trace_fact) facts; pr_term factor, difference; } pr_trace;

typedef struct pr_query {
    pr_terms *terms;
    const pr_var *vars; int n_vars;          /* every variable the terms mention, in the order in
                                                which a smallest witness is wanted              */
    const pr_term *core; int n_core;         /* conjuncts                                      */
    const pr_term *distinct; int n_distinct; /* alternatives (each a conjunction); 0 = none     */
    const pr_term *premises; int n_premises; /* on shared variables                            */
    pr_term addr[2]; int width[2];           /* bytes; PR_TERM_NONE in one-copy queries          */
    /* What the pre-tests need beside the formula; engines that take the formula alone ignore it. */
    bool is_pair, intra, same_record; /* two copies; of one program; of one record with itself      */
    pr_term pid[2][3];                /* program id of copy A and B, a constant 0 where the axis has
                                         extent 1 in this query's grid                              */
    const pr_var (*twins)[2];         /* identity dimensions (ids, loop counts, lanes) that both copies */
    int n_twins;                      /* have: A's variable and B's; an intra query's program ids are
                                         one shared variable and not listed                         */
    int n_core_a, n_core_b;           /* core[0..n_core_a) speaks of copy A alone, the next n_core_b of
                                         copy B alone, the rest of both                             */
    bool suggest;                     /* the closure may name a condition on parameters (outcome.needs) */
    const struct pr_env *hint;        /* parameters of the launch: such a condition holds there, and strides
                                         are taken in the order of their values; null = none            */
    bool relaxed; /* over-approximation: EMPTY proves, WITNESS does not */
    pr_trace *trace;                         /* wanted by certificates; null = none                */
    int pair;                                /* number in the ledger and in dumps, -1 = none      */
} pr_query;

/* One value per entry of query->vars. */
typedef struct pr_point { pr_i128 *value; int n; } pr_point;

typedef struct pr_limits {
    int64_t max_ops;        /* isl operations a query, 20 000; 0 = none                       */
    int64_t first_ops;      /* first lexmin attempt, 700                                     */
    int64_t z3_rlimit;      /* 500 000                                                      */
    int64_t max_memory;     /* bytes that Z3 may hold, 0 = no limit; ours are the arena's */
    int max_leaves;         /* 256                                                          */
    int64_t sweep, enumerate, delta_nodes; /* evaluated points, instances, nodes; 0 = src/pre's defaults */
    int64_t t_wall_ms;      /* wall-clock backstop of one query, 0 = none                    */
    bool alone;             /* the engine's own answer: no point is looked for before it is asked   */
    bool probe;             /* src/pre/sweep.c: differences alone, a few dozen points               */
    bool only_empty;        /* only EMPTY is of use: stop where it is out of reach              */
    bool brief;             /* another engine is asked next: give up early where no leaf is in sight  */
    bool resume;            /* src/pre: the pre-test or the probe saw this very query last, nothing was added to it */
    const pr_flag *interrupt; /* non-zero = stop with UNKNOWN; null = never              */
} pr_limits;

typedef struct pr_outcome {
    pr_answer answer;
    pr_refusal_kind why; /* set iff UNKNOWN: NEEDS_SMT, BUDGET, TIMEOUT, UNKNOWN, UNMODELED_VALUE */
    const char *message;    /* which term or limit, arena text                              */
    pr_point point;         /* set iff WITNESS                                              */
    bool holds;             /* the row has asked pr_query_holds about that point and this query      */
    uint64_t cost;          /* isl operations, Z3 resource units; src/pre: nodes of the delta
                               search, forms of the closure, evaluated points or instances  */
    const char *evidence;   /* settled by "rows", "isl", "isl set", "z3 arith2", "z3 arith6" */
    int leaves;             /* leaves looked at                                             */
    pr_term needs;          /* UNKNOWN: a condition on parameters under which the closure reaches EMPTY: the query
                               with it among the premises has no solution. NONE = none known             */
    const char *under;      /* evidence of that proof, set iff needs is                               */
    bool same_lanes;        /* the proof (also that under needs) shows of every two executions with a common byte that their lanes are equal,
                               from what each copy's own conjuncts and the premises say, whatever distinct says        */
} pr_outcome;

/* The overlap of addr[0..1] as conjuncts: an equality when both widths agree and both addresses are
 * shown congruent to one residue modulo the width (divided by the width), else the two byte
 * inequalities (decision-engine.md 1.3). Returns the number written to out[2]; 0 without addresses.
 */
int pr_query_overlap(const pr_query *q, pr_box *box, pr_term out[2]);
/* Exact re-evaluation of a point on the query's own terms. */
pr_tri pr_query_holds(const pr_query *q, const pr_point *p);
/* The query with a variable for each entry that it reads of a table without values: solutions are kept for some
 * contents, and none is lost (unfold.c). False when it reads none, or more than a few. Arrays live in the arena. */
bool pr_query_unfold(const pr_query *q, pr_arena *arena, pr_query *out);
/* Box with the variables' own intervals, shared by all queries of the store: do not narrow it. */
pr_box *pr_query_box(const pr_query *q);
void pr_query_print(pr_buf *b, const pr_query *q);     /* dump --stage=query, re-readable */
/* Reads such text into T (variables are made as needed). Null with *why when it is malformed. */
pr_query *pr_query_parse(pr_terms *T, pr_arena *arena, pr_str text, const char **why);
#endif
