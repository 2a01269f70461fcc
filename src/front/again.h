/* Does running a launch again on the same buffers certainly leave other bytes? By execution of a race-free launch, twice.
 *
 * Contents that the launch gives are the initial memory; the rest is chosen (small numbers). Only a difference is an answer: an
 * access whose bytes or condition are not known, a wait, or a value that is not known ends the search or says nothing. */
#ifndef PR_FRONT_AGAIN_H
#define PR_FRONT_AGAIN_H
#include "front/interp.h"

typedef struct pr_again_arg {
    bool tensor;
    uint64_t lo, hi;             /* storage                                                    */
    int elem_bytes;
    bool is_bool, is_unsigned;
} pr_again_arg;

typedef struct pr_again_result {
    bool differs;
    bool hopeless;               /* more tries would know no more: something is not known whatever is chosen    */
    bool chosen;                 /* some of the contents that were read are chosen ones              */
    int pattern;                 /* the choice                                                 */
    int arg;                     /* whose storage it lies in                                      */
    uint64_t addr; int width;
    const pr_op *op;             /* wrote it in the second run                                  */
    const int *calls; int n_calls;
    char once[48], twice[48];    /* the two values                                              */
} pr_again_result;

/* all: run every program, in order, and end where two of them meet in what does not commute. Else each program stands for itself:
 * no byte that it reads or writes is written by another, in a run from any contents. Three of them are tried then.
 * from .. to - 1 of PR_AGAIN_TRIES tries (contents, program), the most telling first. Work: operations and elements. */
enum { PR_AGAIN_TRIES = 4 };
pr_again_result pr_again_run(pr_arena *arena, const pr_interp_setup *setup, const pr_again_arg *args, bool all, int from, int to, int64_t work);
/* The number chosen for the element at addr, a multiple of the tensor's element size. */
int64_t pr_again_choice(const pr_again_arg *a, int pattern, uint64_t addr);

/* Does the second run certainly leave the same bytes? Runs every program once, with no contents but those that the setup gives (of
 * tensors that nothing writes). true: every element that the launch both reads and writes was stored, before each read, by the program
 * that reads it; so all that is stored is a function of what no run changes. Launches without atomics only. */
bool pr_again_settles(pr_arena *arena, const pr_interp_setup *setup, const pr_again_arg *args, int64_t work);
#endif
