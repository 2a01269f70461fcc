/* Integer rows: a query as conjunctions of linear equalities and inequalities (decision-engine.md
 * 5).
 *
 * rows.c enumerates the leaves (one conjunction for every combination of choices), prepare.c
 * simplifies one leaf until it is empty, obviously solvable, or small enough to be worth an engine.
 * Both engines may use them; no engine type appears here. */
#ifndef PR_TERM_ROWS_H
#define PR_TERM_ROWS_H
#include "term/query.h"

/* sum c[i]*x[i] + k >= 0, or == 0. */
typedef struct pr_row { const pr_i128 *c; pr_i128 k; bool equality; } pr_row;

/* One prepared leaf over columns x[0..n_cols-1], all of them in some row. */
typedef struct pr_leaf {
    int n_cols;
    const pr_i128 *lo, *hi;      /* bounds of each column; -PR_INF / PR_INF when open             */
    int n_rows;
    const pr_row *rows;          /* the bounds are not repeated here                            */
    bool bounded_below;          /* every lo is finite                                          */
    bool exact;                  /* false: some term was replaced by a free column, so only
                                    EMPTY says something about the query                         */
    bool partial;                /* conjuncts with open choices are missing: the same            */
} pr_leaf;

/* Decides one leaf: EMPTY, WITNESS with value[0..n_cols-1] filled, or UNKNOWN with *why. */
typedef pr_answer (*pr_leaf_fn)(void *user, const pr_leaf *leaf, pr_i128 *value,
                                pr_refusal_kind *why);

enum { PR_ROWS_NO_SPLIT = 1 /* equality splitter off */, PR_ROWS_NO_PREPARE = 2 /* raw rows */ };

/* Decides the query leaf by leaf. ask may be null: leaves that the rows do not settle are UNKNOWN
 * with NEEDS_SMT. Fills answer, why, message, point, evidence (settled_by when ask gave the answer)
 * and leaves; cost is left alone. */
void pr_rows_decide(const pr_query *q, const pr_limits *limits, unsigned flags, pr_arena *scratch,
                    pr_leaf_fn ask, void *user, const char *settled_by, pr_outcome *out);

/* --- between rows.c and prepare.c ------------------------------------------------------------ */

/* A system of sparse rows. Columns are only ever added at the end. */
typedef struct pr_system {
    pr_arena *arena;
    int n_cols, stride, words;
    pr_i128 *lo, *hi;            /* by column */
    int n_rows, cap_rows;
    pr_i128 *c;                  /* row i at c + i*stride; valid where the row's bit is set    */
    uint64_t *mask;              /* columns of row i: bits at mask + i*words                  */
    pr_i128 *k;
    uint8_t *kind;               /* PR_ROW_* */
    uint8_t *gone;               /* by column: eliminated */
    int n_elim;                  /* eliminated columns, in order, each with its defining equality */
    int *elim_col;
    const pr_i128 **elim_c;      /* coefficient of the column itself is +1 or -1 */
    pr_i128 *elim_k;
    bool *used; pr_i128 *spare;  /* by column: work space of one step at a time                    */
    uint32_t now;                /* propagation: a row is looked at again once it or a bound of it changed */
    uint32_t *row_at, *col_at;   /* when it was last looked at (0: not as it is now), last tightened   */
    int *live; int n_live;       /* after pr_system_leaf: column of each leaf column */
} pr_system;
enum { PR_ROW_DEAD, PR_ROW_GE, PR_ROW_EQ };

typedef enum { PR_PREPARED_EMPTY, PR_PREPARED_OPEN, PR_PREPARED_OVERFLOW } pr_prepared;
pr_system *pr_system_new(pr_arena *arena, int n_cols, int n_rows);
int pr_system_row(pr_system *s);     /* a new row without columns (kind not set), -1: full */
void pr_system_put(pr_system *s, int row, int col, pr_i128 c);   /* of a column that the row lacks */
/* Each row x - y >= k of bounded columns as an equality with the distance as a column of its own; false: there is none. Before
 * prepare. */
bool pr_system_distances(pr_system *s);
/* Only what shows a contradiction soon: bounds and parallel rows. */
pr_prepared pr_system_bounds(pr_system *s);
/* Simplifies in place; the result has the same solutions on the remaining columns. */
pr_prepared pr_system_prepare(pr_system *s, unsigned flags);
/* The remaining system as a leaf (arrays in the system's arena). */
void pr_system_leaf(pr_system *s, pr_leaf *leaf);
/* Values of all columns from those of the leaf; false on overflow. */
bool pr_system_recover(const pr_system *s, const pr_i128 *leaf_value, pr_i128 *value);
/* dive.c: the leaf's lexicographic minimum where bounds propagation finds it; false says nothing. */
bool pr_leaf_dive(const pr_leaf *leaf, pr_arena *arena, int failed, pr_i128 *value);
#endif
