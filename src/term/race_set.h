/* The race relation of one pair query: which programs race with which (decision-engine.md 8.2).
 *
 * The two-copy set is projected to program ids; lanes, iterations and every other variable are existential.
 * Implemented by src/poly; declared here so that hb needs no isl, as with engine.h. */
#ifndef PR_TERM_RACE_SET_H
#define PR_TERM_RACE_SET_H
#include "term/query.h"

/* Which programs take part in a race of the relation, as cells of the grid, first axis fastest. */
enum { PR_CELL_SOME = 1 /* some program of the cell */, PR_CELL_NOT_ALL = 2, PR_CELL_PARTNER = 4 /* races with the witness */ };
typedef struct pr_race_map {
    /* asked */
    int n_axes; const char *axis[3]; int64_t extent[3];
    int64_t from[3], size[3], cells[3];  /* first program, programs in a cell, number of cells: per axis    */
    int64_t witness[3];
    /* answered */
    uint8_t *cell;                 /* null: why                                                  */
    const char *why;
} pr_race_map;

typedef struct pr_race_set_in {
    const pr_query *query;
    int n_axes;                    /* grid axes whose program id is a variable, x before y before z    */
    pr_var a[3], b[3];             /* ids of the two copies; a[i] = b[i] in a query of one program     */
    const char *axis[3];           /* "x", "y", "z"                                              */
    int64_t extent[3];             /* of these axes; 0 = symbolic: then grid[i]                      */
    pr_var grid[3];                /* the extent as a variable; id 0 when extent[i] > 0               */
    pr_race_map *maps; int n_maps; /* wanted instead of words; every extent is then a number             */
} pr_race_set_in;

/* How one axis of two racing programs is related. The two ids are x (first access) and x' (second). */
typedef enum {
    PR_AXIS_ANY,                   /* no condition                                              */
    PR_AXIS_SAME,                  /* x' = x                                                    */
    PR_AXIS_EXACT,                 /* x' = x + c                                                */
    PR_AXIS_WITHIN,                /* lo <= x' - x <= hi                                         */
    PR_AXIS_MULTIPLE,              /* x' - x is a multiple of c                                   */
    PR_AXIS_GROUP,                 /* floor(x / c) = floor(x' / c)                               */
    PR_AXIS_SUM,                   /* lo <= x + x' <= hi                                         */
    PR_AXIS_NONE                   /* none of these                                             */
} pr_axis_shape;
typedef struct pr_axis_relation {
    pr_axis_shape shape;
    int64_t c, lo, hi;
    bool boxed; int64_t a_lo, a_hi, b_lo, b_hi;  /* beside the shape: a_lo <= x <= a_hi, b_lo <= x' <= b_hi */
    int64_t a_step;                /* with boxed: x = a_lo + k * a_step; 0 or 1 = every x                 */
    int64_t mod, m_lo, m_hi; bool m_not;   /* with boxed, mod > 1: x modulo mod is (m_not: is not) from m_lo to m_hi   */
} pr_axis_relation;

typedef struct pr_race_set {
    const char *relation;          /* isl text; { [x] -> [x'] : ... }, { [x] : ... } within one program;
                                      null when it is too long to be read (see pieces, why)             */
    int pieces;                    /* disjuncts after coalescing                                   */
    bool symmetric;                /* the two accesses are one: (x, x') also stands for (x', x)          */
    bool described;                /* axis[] says exactly what the relation says                       */
    pr_axis_relation axis[3];
    const char *sentence;          /* English, from axis[], or of several parts that are the relation together  */
    bool same_axes;                /* within one program, described: the first two axes have one id             */
    bool counted; pr_i128 pairs;   /* racing program pairs (programs, within one program)                */
    const char *why;               /* what is missing above and why; null = nothing                      */
} pr_race_set;

/* Everything out is in arena. About max_ops isl operations at most (0 = no limit). */
void pr_isl_race_set(const pr_race_set_in *in, int64_t max_ops, pr_arena *arena, pr_race_set *out);

/* For which values of the parameters does no query have a solution? */
typedef struct pr_race_free_in {
    pr_terms *terms;
    const pr_query *const *queries; int n_queries;   /* of one rung: shared intervals and premises        */
    const pr_var *params; int n_params;              /* shared variables that the answer may speak about    */
} pr_race_free_in;
typedef struct pr_race_free {
    const char *text;              /* isl condition, "always", "never"; null with why                     */
    int disjuncts;
    bool always, never;            /* within the intervals and premises                                  */
    pr_term free;                  /* the condition as a term; NONE when it has none                      */
    const char *why;
} pr_race_free;
/* Exact while every query is: the weakest condition. The caller confirms it by asking again. */
void pr_isl_race_free(const pr_race_free_in *in, int64_t max_ops, pr_arena *arena, pr_race_free *out);
#endif
