/* Relations between named tuples: the Presburger side of src/shm. No barrier vocabulary here, no isl type
 * leaves.
 *
 * A relation is a set of pairs NAME[a...] -> NAME[b...], each side of one of several spaces, with launch
 * values as parameters. Handles are small integers owned by the store; 0 is "failed" and is sticky: any
 * operation on it gives 0, any question about it is MAYBE. pr_rels_why says why. */
#ifndef PR_POLY_RELATION_H
#define PR_POLY_RELATION_H
#include "term/refusal.h"
#include "term/term.h"

typedef struct pr_rels pr_rels;
typedef struct { int id; } pr_rel;

/* max_ops: isl operations for everything done with the store, 0 = no limit; interrupt: everything fails once it is
 * not 0 (null = never). */
pr_rels *pr_rels_new(pr_arena *arena, pr_terms *T, const pr_var *params, int n_params, int64_t max_ops,
                     const pr_flag *interrupt);
void pr_rels_free(pr_rels *R);
pr_refusal_kind pr_rels_why(const pr_rels *R, const char **text); /* NONE: nothing failed */
uint64_t pr_rels_operations(pr_rels *R);

/* { in[iv...] -> out[ov...] : conj }: every variable of the terms is in iv, ov, ex or the parameters; ex
 * exist. */
pr_rel pr_rel_make(pr_rels *R, const char *in, const pr_var *iv, int n_in, const char *out, const pr_var *ov,
                   int n_out, const pr_var *ex, int n_ex, const pr_term *conj, int n_conj);
pr_rel pr_rel_none(pr_rels *R);                       /* no pair */
pr_rel pr_rel_union(pr_rels *R, pr_rel a, pr_rel b);
pr_rel pr_rel_minus(pr_rels *R, pr_rel a, pr_rel b);
pr_rel pr_rel_meet(pr_rels *R, pr_rel a, pr_rel b);
pr_rel pr_rel_then(pr_rels *R, pr_rel a, pr_rel b);   /* x -> z when x a y and y b z for some y */
pr_rel pr_rel_back(pr_rels *R, pr_rel a);             /* inverse */
pr_rel pr_rel_same(pr_rels *R, pr_rel a);             /* identity on everything a mentions */
pr_rel pr_rel_domain(pr_rels *R, pr_rel a);           /* identity on a's left side */
pr_rel pr_rel_range(pr_rels *R, pr_rel a);            /* identity on a's right side */
/* a+: union of a, a;a, ... until nothing is added. *fixed: that point was reached within depth steps;
 * else the result is part of the closure. Never an over-approximation. */
pr_rel pr_rel_closure(pr_rels *R, pr_rel a, int depth, bool *fixed);
pr_tri pr_rel_is_empty(pr_rels *R, pr_rel a);
pr_tri pr_rel_is_within(pr_rels *R, pr_rel a, pr_rel b);
pr_tri pr_rel_is_function(pr_rels *R, pr_rel a);      /* one right side a left side */
pr_tri pr_rel_is_injective(pr_rels *R, pr_rel a);     /* one left side a right side */
pr_tri pr_rel_is_reflexive_somewhere(pr_rels *R, pr_rel a); /* some x with x a x */
/* isl notation, arena text, for people. */
const char *pr_rel_text(pr_rels *R, pr_arena *arena, pr_rel a);
/* For which values of the parameters is there a pair? As a term over them; NONE: no such term. */
pr_term pr_rel_params(pr_rels *R, pr_arena *arena, pr_rel a);
/* Values of the parameters, in their order, of some pair; false when empty or undecided. */
bool pr_rel_sample(pr_rels *R, pr_rel a, pr_i128 *params);
#endif
