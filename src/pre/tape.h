/* Straight-line evaluation of a query's terms at many points. */
#ifndef PR_PRE_TAPE_H
#define PR_PRE_TAPE_H
#include "pre/pre.h"

typedef struct pr_tape pr_tape;
/* Slots are shared by all roots of one tape. at: values by position in q->vars. */
pr_tape *pr_tape_new(pr_arena *scratch, const pr_query *q);
/* Slot of the root's value, -1 when the tape is full or the term cannot be evaluated. */
int pr_tape_add(pr_tape *x, pr_term t);
/* Does the tape mention the variable at this position? */
bool pr_tape_reads(const pr_tape *x, int var);
void pr_tape_run(pr_tape *x, const pr_i128 *at);
/* Value of a slot after a run; false where an operation left 128 bits and mattered. */
bool pr_tape_value(const pr_tape *x, int slot, pr_i128 *v);

/* The query in three tapes: one for each copy (activity and address), one for what speaks of both. */
typedef struct pr_trio {
    const pr_query *q;
    pr_tape *tape[3];
    int *conj[3]; int n_conj[3];     /* slots; premises belong to both copies                         */
    int addr[2];
    int *alternative; int n_alternative;
    int8_t *side;                    /* by position: 0 A, 1 B, 2 one value for both                    */
} pr_trio;
bool pr_trio_make(pr_trio *x, const pr_query *q, pr_arena *scratch);
/* Copy c at a point: YES with the address, NO, MAYBE. */
pr_tri pr_trio_copy(const pr_trio *x, int c, const pr_i128 *at, pr_i128 *address);
/* What speaks of both copies (overlap left out). */
pr_tri pr_trio_both(const pr_trio *x, const pr_i128 *at);

/* Instances of copy A by address. */
typedef struct pr_hits {
    pr_i128 *address; pr_i128 unit;
    uint32_t *next, *head, mask, n, cap;
} pr_hits;
void pr_hits_init(pr_hits *h, pr_arena *scratch, uint32_t cap, int unit);
void pr_hits_clear(pr_hits *h);
void pr_hits_put(pr_hits *h, pr_i128 address);      /* entry number n */
/* First entry of bucket (address/unit + step), step -1..1, as index + 1; 0 = none. */
uint32_t pr_hits_first(const pr_hits *h, pr_i128 address, int step);
#endif
