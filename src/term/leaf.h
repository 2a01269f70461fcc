/* One leaf under construction: what rows.c (search) and lower.c (terms to linear forms) share.
 *
 * Everything is append-only with a trail, so that going back to an earlier choice is a truncation.
 */
#ifndef PR_TERM_LEAF_H
#define PR_TERM_LEAF_H
#include "term/rows.h"
#include "term/store.h"

/* Linear form: pool[first .. first+n) (columns ascending, coefficients not 0) + k. */
typedef struct pr_lin { int first, n; pr_i128 k; } pr_lin;
typedef struct pr_lin_term { int col; pr_i128 c; } pr_lin_term;

typedef struct pr_built { pr_lin lin; bool equality; } pr_built;       /* lin >= 0 or == 0 */
typedef struct pr_pair { pr_lin x; pr_i128 d; int q, r; } pr_pair;      /* x = d*q + r       */
typedef struct pr_item { uint32_t term; bool positive, done; } pr_item;

/* Why a conjunct cannot be finished yet: the alternatives of the choice that comes next. */
typedef enum {
    PR_CHOICE_NONE,
    PR_CHOICE_SIGN,     /* lin <= 0 or lin >= 1                                              */
    PR_CHOICE_NE,       /* lin <= -1 or lin >= 1                                             */
    PR_CHOICE_VALUE,    /* node = lo .. hi, and with rest: node <= -1 too                     */
    PR_CHOICE_TRUTH,    /* term true or false                                               */
    PR_CHOICE_EITHER,   /* child lo of term has the polarity; the other one, with rest: and child lo not */
    PR_CHOICE_PIECE,    /* index lin of table term lies in one of its runs within lo .. hi      */
    PR_CHOICE_DISTINCT  /* one of the query's alternatives                                   */
} pr_choice_kind;
typedef struct pr_choice {
    pr_choice_kind kind;
    pr_lin lin;
    uint32_t term;
    bool positive, rest;
    pr_i128 lo, hi;
    pr_i128 n;                  /* alternatives */
} pr_choice;

typedef struct pr_undo { uint8_t kind; uint32_t at; int old; } pr_undo;

typedef struct pr_learnt { int col; pr_interval old; } pr_learnt;

typedef struct pr_builder {
    const pr_query *q;
    pr_terms *T;
    pr_arena *arena;
    uint64_t *reach; uint32_t *rank; uint32_t n_words; /* local number of a reachable term        */
    int n_local;
    int *memo;                  /* by local number: index into lins, -1 = none                */
    uint8_t *truth;             /* by local number; see lower.c                                 */
    PR_VEC(pr_lin) lins;
    PR_VEC(pr_lin_term) pool;
    PR_VEC(pr_built) rows;
    PR_VEC(pr_pair) pairs;
    PR_VEC(pr_item) items;
    PR_VEC(pr_interval) cols;   /* bounds; the first n_vars are the query's variables          */
    PR_VEC(pr_undo) trail;
    PR_VEC(pr_learnt) learnt;   /* bounds of cols that follow from rows of this branch           */
    PR_VEC(uint32_t) stack;
    int *var_col;               /* by variable id */
    int relaxed;                /* terms replaced by free columns, conjuncts dropped          */
    uint32_t relaxed_term;      /* the first of them                                       */
    bool contradiction;
    int64_t work, most_work;    /* terms, rows and pairs looked at; past the limit quotients are relaxed */
} pr_builder;

static inline int pr_local(const pr_builder *b, uint32_t id)
{
    uint32_t w = id / 64;
    uint64_t below = b->reach[w] & (((uint64_t)1 << (id % 64)) - 1);
    return (int)(b->rank[w] + (uint32_t)__builtin_popcountll(below));
}

/* lower.c */
/* Works on one conjunct: true when it is finished (rows added, or items appended, or a
 * contradiction noted); false with *c when a choice must be made first. */
bool pr_lower_item(pr_builder *b, int item, pr_choice *c);
void pr_lower_push(pr_builder *b, uint32_t term, bool positive);   /* a conjunct to do */
void pr_lower_take(pr_builder *b, const pr_choice *c, pr_i128 alternative);
void pr_lower_undo(pr_builder *b, int trail);                      /* memo, truth, done marks */
#endif
