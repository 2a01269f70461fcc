/* Terms as isl piecewise expressions and sets, for texts; src/poly only (deciding uses lower.c). */
#ifndef PR_POLY_AFF_H
#define PR_POLY_AFF_H
#include <isl/aff.h>
#include "isl_wrap.h"

/* Where each variable lives in the space. */
typedef struct pr_aff {
    pr_guard guard;
    isl_ctx *ctx;
    pr_terms *T;
    pr_arena *arena;
    pr_box *box;
    isl_space *space;            /* set space, named; owned                                    */
    int *pos;                    /* by variable id: -1 none, else position ...                  */
    bool *is_param;              /* ... among the parameters or the set dimensions                */
    isl_pw_aff **value;          /* by term id, owned                                           */
    isl_set **set;               /* by term id, owned                                           */
    uint32_t n;                  /* entries in value and set                                    */
    const char *why;             /* static text, null = fine so far                             */
} pr_aff;

/* Names become isl identifiers. tuple may be null. */
void pr_aff_init(pr_aff *a, isl_ctx *ctx, pr_terms *T, pr_arena *arena, const pr_var *params,
                 int n_params, const pr_var *dims, const char *const *dim_names, int n_dims,
                 const char *tuple);
void pr_aff_fini(pr_aff *a);
/* The intervals of all parameters and dimensions as a set. */
__isl_give isl_set *pr_aff_bounds(pr_aff *a);
/* Translates the terms. Afterwards pr_aff_set and pr_aff_value of them allocate nothing in the arena, so that
 * what isl made may be held across them. */
bool pr_aff_ready(pr_aff *a, const pr_term *t, int n);
/* Meaning of a Boolean or an integer term; null with a->why on failure. */
__isl_give isl_set *pr_aff_set(pr_aff *a, pr_term t);
__isl_give isl_pw_aff *pr_aff_value(pr_aff *a, pr_term t);
/* name with every character isl does not take replaced, arena text */
char *pr_aff_name(pr_arena *arena, const char *name);
/* condition.c: a set of parameters as a term over them; NONE when it has none. */
pr_term pr_isl_set_term(isl_ctx *ctx, pr_terms *T, pr_arena *arena, const pr_var *params, int n_params, __isl_keep isl_set *s);
/* The same of n names, made different where they are alike: the later one ends in _2, _3, ... */
void pr_aff_names(pr_arena *arena, const char *const *names, int n, const char **out);
/* dump_isl.c: all points that satisfy the query, its overlap given as n conjuncts. Null on failure.
 */
__isl_give isl_set *pr_isl_conflicts(pr_aff *a, const pr_query *q, const pr_term *overlap, int n);
#endif
