/* Two copies seen as one: canonical terms, linear forms of differences, ranges under each copy's conjuncts.
 *
 * A canonical node stands for a term of copy A and its image in copy B (B's variables renamed to their
 * twins), so two addresses of one shape have one canonical form. Any pairing of variables would do: it says
 * which differences are looked at, not what is true. A variable without twin has one value in the whole
 * query and stays what it is. Nothing here makes terms in the query's store. */
#ifndef PR_PRE_SPACE_H
#define PR_PRE_SPACE_H
#include "pre/pre.h"

enum { PR_SPACE_NODES = 320, PR_SPACE_KIDS = 1536, PR_SPACE_TABLE = 1024, PR_SPACE_TWINS = 32,
       PR_SPACE_ROWS = 128, PR_SPACE_ROW_ITEMS = 1536 };
enum { PR_SIDES_A = 1, PR_SIDES_B = 2 };

typedef struct pr_space_node {
    uint8_t op;              /* pr_term_op; MUL is flat, commutative operands are sorted by node        */
    bool shared;             /* no private variable below: one value in the query                     */
    bool param;              /* shared, and only parameters below                                  */
    bool known;              /* value in A minus value in B is delta in every solution                 */
    int n, first;            /* operands in kids/coefs                                            */
    pr_i128 value;           /* CONST, SUM; VAR: variable id of copy A                              */
    pr_i128 delta;
    pr_term rep[2];          /* a term of copy A and of copy B, or none                              */
    pr_interval iv[2];       /* range in copy A and in copy B                                     */
} pr_space_node;

/* sum a*node(A) - b*node(B) over the items, + k, lies in [lo, hi]. An item with a == b is a pair. */
typedef struct pr_item { int node; pr_i128 a, b; } pr_item;
typedef struct pr_form { int n; pr_item at[PR_PRE_ATOMS]; pr_i128 k, lo, hi; } pr_form;
/* Only the items in use: the whole struct is some kilobytes. */
static inline void pr_form_copy(pr_form *to, const pr_form *from)
{
    to->n = from->n;
    to->k = from->k, to->lo = from->lo, to->hi = from->hi;
    for (int i = 0; i < from->n; i++) to->at[i] = from->at[i];
}

/* sum coef*node + k <= 0 in one copy */
typedef struct pr_part { int node; pr_i128 coef; } pr_part;
typedef struct pr_bound_row {
    int first, n;
    pr_i128 k;
    bool symbolic;           /* a parameter bounds the rest                                        */
    uint64_t nodes;          /* bit node % 64 of each part                                        */
} pr_bound_row;

typedef struct pr_space_seen { uint32_t term; int node; uint8_t sides; } pr_space_seen;
typedef struct pr_space {
    bool clear;              /* seen and by_content are empty but for what the two lists name, up to mask          */
    uint32_t mask;           /* their size in use: few entries lie close together                                   */
    int n_seen_at, n_content_at;
    const pr_query *q;
    const pr_terms *T;
    pr_var twin[PR_SPACE_TWINS][2]; int n_twins; /* the query's, then equal lane dimensions of two records */
    bool full;               /* a cap was reached: the query is left to others                       */
    bool void_domain;        /* some copy has no instance at all                                     */
    int entered, n;
    pr_space_node node[PR_SPACE_NODES];
    int kid[PR_SPACE_KIDS]; pr_i128 coef[PR_SPACE_KIDS]; int n_kids;
    pr_space_seen seen[PR_SPACE_TABLE];
    int by_content[PR_SPACE_TABLE];
    uint16_t seen_at[PR_SPACE_TABLE], content_at[PR_SPACE_TABLE];
    pr_bound_row row[2][PR_SPACE_ROWS]; int n_rows[2];
    pr_part part[PR_SPACE_ROW_ITEMS]; int n_parts;
    int base_rows[2], base_parts;  /* what follows are rows times a factor (stride.c)                   */
    int narrowed;                  /* counts changes of ranges and of base rows                         */
    int mirror_n;                  /* the nodes that `mirror` was found for; -1: something changed since          */
    bool mirror;                   /* both copies have the same base rows and ranges                    */
} pr_space;

void pr_space_begin(pr_space *s, const pr_query *q);
static inline uint64_t pr_parts_nodes(const pr_part *x, int n)
{
    uint64_t bits = 0;
    for (int i = 0; i < n; i++) bits |= (uint64_t)1 << (x[i].node & 63);
    return bits;
}
/* The last n parts belong to this row. */
static inline void pr_row_seal(const pr_space *s, pr_bound_row *r) { r->nodes = pr_parts_nodes(s->part + r->first, r->n); }
/* Canonical node of a term and the copies whose private variables it mentions; -1 when full. */
int pr_space_node_of(pr_space *s, pr_term t, unsigned *sides);
/* Difference x - y as a form, x read in its own copy, y in its own. False when a piece mixes copies. */
bool pr_space_difference(pr_space *s, pr_term x, pr_term y, pr_form *f);
/* The same of a sum that speaks of both copies; its bounds are 0. */
bool pr_space_two_sided(pr_space *s, pr_term t, pr_form *f);
/* A node as a pair of each of its linear parts. */
bool pr_space_pairs(pr_space *s, int node, pr_i128 scale, pr_form *f);
/* Overlap of the two addresses. */
bool pr_space_overlap(pr_space *s, pr_form *f);
/* Puts known nodes into the constant, merges equal nodes. False on overflow. */
bool pr_space_reduce(const pr_space *s, pr_form *f);
/* Reads the conjuncts of both copies and narrows the ranges. */
void pr_space_domain(pr_space *s);
/* Product of nodes (sorted, flat), a new node when needed; -1 when full. */
int pr_space_product(pr_space *s, const int *factor, int n);
/* a*b, flat; -1 when there is no such node and none is to be made. */
int pr_space_times(pr_space *s, int a, int b, bool make);
/* Quotient (FDIV, TDIV) of two nodes, the divisor a constant >= 1; a new node when needed; -1 when full. */
int pr_space_quotient(pr_space *s, uint8_t op, int dividend, int divisor);
/* Bounds from one more row of copy c (its parts are the last n of s->part) on all nodes. */
bool pr_space_narrow(pr_space *s, int node, int c, pr_interval by);
/* Is what bounds copy A what bounds copy B? Then a sum that reads alike in both has one bound. */
bool pr_space_mirror(pr_space *s);
void pr_space_narrow_upwards(pr_space *s, int c);
/* A condition on shared variables that is taken for granted from here on: rows of both copies, ranges. */
void pr_space_assume(pr_space *s, pr_term t);

/* Saturating bounds. */
static inline bool pr_is_inf(pr_i128 v) { return v <= -PR_INF || v >= PR_INF; }
pr_i128 pr_sat_mul(pr_i128 a, pr_i128 b);
pr_i128 pr_sat_up(pr_i128 a, pr_i128 b);     /* a + b, an upper bound */
pr_i128 pr_sat_down(pr_i128 a, pr_i128 b);   /* a + b, a lower bound  */
/* Upper bound of sum coef*node in copy c: intervals, then (rows) also the copy's conjuncts. */
pr_i128 pr_space_sup(const pr_space *s, int c, const pr_part *x, int n, bool rows);
/* Range of the items [the form's k included]; which[i] selects. */
pr_interval pr_space_range(const pr_space *s, const pr_form *f, const bool *which, bool rows);

/* stride.c: rows times the shared factors that are >= 0; false when there are no such factors. Called when the rows
 * are complete and did not suffice. */
bool pr_stride_rows(pr_space *s);
/* Upper bound of sum x + k in copy c: private parts are replaced through the rows that cover most of them,
 * what is left in parameters is then bounded by rows. PR_INF: none found. */
pr_i128 pr_stride_sup(pr_space *s, int c, const pr_part *x, int n, pr_i128 k);
/* The form's parts with the factor by themselves: sum which = factor * sum h. False when a product is missing. */
bool pr_stride_head(pr_space *s, const pr_form *f, int factor, bool *which, pr_form *h, pr_i128 *gcd);
/* One condition on parameters under which rule P would split a form, or PR_TERM_NONE. */
pr_term pr_stride_wanted(pr_space *s, const pr_form *f);

/* trace.c: a fact for query->trace, when there is one. */
void pr_trace_form(pr_space *s, const pr_form *f);
void pr_trace_delta(pr_space *s, int node);
/* The facts that follow rest on factor * (sum h / g) * g; h null: no longer. */
void pr_trace_product(pr_space *s, int factor, const pr_form *h, pr_i128 g);

/* The only place that may say EMPTY from recovered differences (decision-engine.md 3.0): every
 * alternative of distinct, or some conjunct over both copies, is false once the known differences are
 * put in. Evidence names the recovered dimensions. */
bool pr_pre_empty(pr_space *s, const char *test, pr_arena *scratch, pr_outcome *out);
/* The same question alone: no answer leaves from here. */
bool pr_pre_settled(pr_space *s);
/* Truth of a term in every solution, as far as ranges and known differences tell. rows: use conjuncts too. */
pr_tri pr_pre_truth(pr_space *s, pr_term t, bool rows);
/* EMPTY outright: the conjuncts contradict each other. */
void pr_pre_contradiction(const char *test, pr_outcome *out);
void pr_pre_unknown(const char *message, pr_outcome *out);

/* radix.c: all differences of the pairs that keep the form within its bounds, at most cap of them (value
 * by pair). Returns their number, -1 when the limits do not suffice. *all: none was left out. *nodes: the most
 * nodes, on return what is left of them. */
typedef struct pr_delta { pr_i128 d[PR_PRE_ATOMS]; } pr_delta;
int pr_radix_search(const pr_space *s, const pr_form *f, int64_t *nodes, pr_delta *found, int cap, bool *all);

/* What the pre-test and the sweep share: the second goes on with the overlap and the differences that the first has found. */
enum { PR_PRE_FEW_DELTAS = 8 };
typedef struct pr_look {
    pr_space space;
    bool has_form;
    pr_form form;                /* the overlap                                                   */
    int n; bool all;             /* differences, -1: no answer; all: there are no others              */
    pr_delta found[PR_PRE_FEW_DELTAS];
} pr_look;

static inline int64_t pr_pre_limit(int64_t given, int64_t otherwise) { return given > 0 ? given : otherwise; }
/* open and close of engines that keep one block of scratch memory; its first 64 bytes start as zeros. */
void *pr_pre_context(pr_engine_ctx *ctx, size_t bytes);
pr_engine_ctx *pr_pre_open(pr_arena *arena);
void pr_pre_close(pr_engine_ctx *ctx);
bool pr_pre_dump(const pr_query *q, const pr_limits *limits, pr_buf *out, const char **why);
const char *pr_pre_version(void);
#endif
