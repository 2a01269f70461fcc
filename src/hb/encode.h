/* From records to queries: two copies of two records at one rung (happens-before.md 3, 5). */
#ifndef PR_HB_ENCODE_H
#define PR_HB_ENCODE_H
#include "hb/check.h"

/* What is known of loaded values. */
typedef enum {
    PR_CONTENTS_FREE,              /* nothing                                                     */
    PR_CONTENTS_SNAPSHOT,          /* the launch's contents where they can be used                  */
    PR_CONTENTS_NONDECREASING,     /* premises about every tensor whose values reach an address      */
    PR_CONTENTS_DISTINCT
} pr_contents;

/* A read of a table: where it happens, the index is in range. */
typedef struct pr_table_read { pr_term happens, in_range; } pr_table_read;
/* A table in use: every stride-th entry of an argument from first on; stride < 0: an unknown function. */
typedef struct pr_made_table { int arg; int64_t stride, first; pr_tab tab; } pr_made_table;
typedef struct pr_uniform_read { int arg, width, bits; pr_i128 offset; pr_term value; } pr_uniform_read;

/* One record seen as one copy: its variables, its activity, its address. */
/* apart.c: an address as uniform + sum factor[d]*pid[d] + times*moving + rest, the rest within [lo, hi] */
typedef struct pr_apart {
    bool known;
    int axis;                      /* the only one with more than one program; -1 none, 3 several      */
    pr_term uniform;
    pr_i128 factor[3], lo, hi;     /* -PR_INF, PR_INF: none                                       */
    pr_term moving, stride; pr_i128 times; /* pid[axis] * stride, a factor that only parameters make; NONE: no such part */
    struct pr_linear *rest;        /* null: it has no room                                        */
    pr_i128 over; bool over_done;  /* rest + width - times*stride (or factor) is at most this where the access is performed */
    pr_term under; pr_i128 over_under; /* ... and where a condition on parameters holds too, the one asked last */
} pr_apart;

typedef struct pr_side {
    const pr_record *record;
    pr_refusal_kind refused;       /* step not constant, unmodelled address, unbound parameter        */
    const char *why;
    pr_term_vec active;            /* conjuncts: frames, mask, held obligations, in-bounds           */
    bool dead;                     /* some conjunct is constant-false: no execution at this rung      */
    uint32_t terms_before;         /* number of terms when it was begun                          */
    pr_term addr;                  /* bytes: absolute at T1, offset at T0                           */
    pr_term pid[3];                /* variable or 0                                              */
    pr_term lane[PR_RANK_MAX];
    pr_term iter[64]; const pr_frame *loop[64]; int n_loops; /* outermost first                    */
    pr_subst subst;                /* record terms -> this copy                                   */
    struct pr_side_app *app;
    bool epoch_done, epoch_exact; pr_term epoch; /* order.c: barriers before it, once counted        */
    bool uncertain, uncertain_bound_only; /* as of the record, but values that are known here do not count */
    bool unknown_address;          /* the address is a function of contents nobody knows: EMPTY proves, and
                                      nothing else is an answer                                 */
    pr_refusal_kind unknown_kind; const char *unknown_why;
    bool reads_contents;
    bool renamed;                  /* copy A with other variables for ids, lanes and iterations, nothing else        */
    const pr_var *vars; int n_vars; /* of active and addr; null until a query was made                */
    pr_apart *apart;               /* null until asked for                                       */
    /* contents.c */
    PR_VEC(pr_table_read) reads;
    const int *address_loads; int n_address_loads; /* accesses whose value is in the address      */
    int nested;                    /* loads whose address holds the load being looked at           */
} pr_side;

typedef struct pr_encoding {
    pr_arena *arena;
    pr_terms *terms;
    const pr_records *records;
    const pr_launch *launch;       /* null: T0 only                                             */
    const pr_options *options;
    pr_rung rung;
    bool fixed[3]; int64_t extent[3]; /* per axis: constant extent, or symbolic                    */
    bool grid_used[3];             /* num_programs of the axis occurs in some term                     */
    pr_term pid[2][3];             /* variables of both copies, once made                       */
    pr_box *box;
    pr_term_vec premises;          /* assume conditions, over shared variables                      */
    pr_term_vec programs_apart[2]; /* pairs of different programs: in one order, in both; empty: not made yet    */
    int n_free;
    const pr_term *var_map; uint32_t n_var_map; /* what every side puts in: extents and, but for T0, integer arguments */
    bool open_params;              /* some argument occurs in terms and has no value in the launch             */
    struct pr_plain *plain;        /* hb/plain.c, made on first use                               */
    unsigned char *address_apps;   /* per record: 1 its offset has unmodelled values, 2 it has none, 0 not looked yet */
    struct pr_side_app *uniform;   /* values every thread of a program shares: one for A and B intra    */
    struct pr_side_app *uniform_b; /* the same of the other program                                */
    struct pr_decider *decider;    /* null: nothing may be asked, so no synchronisation is modelled       */
    bool ignore_thread_maps;       /* layouts order nothing: what the proof would be without O5             */
    /* A dependency through an access whose mask is not known (contents): taken for one that orders, and: was there one? */
    bool assume_waits, maybe_waits;
    bool used_o4;                  /* since the last query: a leg rests on compiler-inserted barriers      */
    struct pr_sync *sync;          /* hb/sync.c, made on first use                                */
    struct pr_simplifier *simplifier; /* terms already simplified in this call                    */
    pr_side **sides;               /* cache: record * 3 + {A, B inter, B intra}                    */
    bool all_loads_read_only;      /* no record writes a component that a load reads                 */
    const bool *written;           /* per argument: its component is written by some record           */
    pr_contents contents;
    const bool *snapshot;          /* per argument: its contents may be read (SNAPSHOT)             */
    bool *table_load;              /* per record: a load whose value is a function of its address    */
    bool contents_read;            /* some side rests on contents                                  */
    PR_VEC(pr_made_table) tables;
    PR_VEC(pr_uniform_read) uniform_reads;
    unsigned char *seen; uint32_t n_seen;   /* by variable, all 0 between calls                      */
    const int *component;          /* per argument: component number (T0: the argument itself), -1      */
} pr_encoding;

enum { PR_SIDE_A, PR_SIDE_B, PR_SIDE_B_INTRA };

/* component: per argument. Never fails; what cannot be encoded shows up in the sides. */
pr_encoding *pr_encoding_new(pr_arena *arena, const pr_records *R, const pr_launch *L, const pr_options *o,
                             pr_rung rung, const int *component);
/* Before the first side is made: FREE is the default. */
void pr_encoding_use(pr_encoding *e, pr_contents contents);
const pr_side *pr_encoding_side(pr_encoding *e, int record, int which);
/* Query of a pair; false with *kind, *why when it cannot be asked. *dead set when no instance exists. */
bool pr_encode_pair(pr_encoding *e, int a, int b, bool intra, pr_query *q, bool *dead, bool *used_o3,
                    bool without_o3, pr_refusal_kind *kind, const char **why);
/* Unmodelled values in the record's offset, but for lower bounds of loops around it. */
bool pr_encode_address_has_apps(pr_encoding *e, const pr_record *r);
/* Lists the variables of a query whose conjuncts changed. */
void pr_encode_finish_vars(pr_encoding *e, pr_query *q);
/* Query over one copy with the given extra conjuncts (already substituted). */
void pr_encode_single(pr_encoding *e, const pr_term *conj, int n, pr_query *q);
/* Drops decided parts of a Boolean term under the encoding's box. */
pr_term pr_encode_simplify(pr_encoding *e, pr_term t);
/* The conjuncts of a record's frames 1..depth and, when with_mask, its mask: existence without any
 * in-bounds premise and without obligations. */
void pr_encode_existence(pr_encoding *e, const pr_side *s, const pr_frame *upto, bool with_mask, pr_term_vec *out);
#endif
