/* Closed forms of loop-carried scalars (shared-memory.md 4.5): slots, phases and counters as finite
 * automata, not as patterns.
 *
 * A loop carries x_0 .. x_{n-1}; update[i] is the next value as a term over the variables state[i] and the
 * counter. form[i] becomes the value at the beginning of iteration `counter`, or NONE.
 *   constant   update = x                         form = init
 *   counter    update = x + c                      form = init + c * counter
 *   delayed    update without unresolved state       form = counter == 0 ? init : update at counter - 1
 *   automaton  update over unresolved state only,    table of the sequence from the initial values, which
 *              initial values constants             repeats after at most max_states steps
 *   guarded    an automaton whose steps depend on     the form of the first steps up to the bound, then one form
 *              whether `counter` is below a bound      for each state it can be in there
 *   saturating update = x + c while x is below a bound  form = init + c * min(counter, steps up to the bound)
 * Initial values that an earlier loop left, where this loop goes on with the same automaton (two loops that share a
 * ring), are states of its orbit: form = the orbit after steps + counter.
 * Initial values that are one of two constants by a condition on launch values give one form each.
 * A table becomes a quotient and remainder of the counter when that gives the same values everywhere, else
 * one case a residue. */
#ifndef PR_SHM_PHASES_H
#define PR_SHM_PHASES_H
#include "term/term.h"

typedef struct pr_shm_carried {
    pr_var state;                /* integer; a Boolean is carried as 0 or 1                        */
    pr_term init, update;        /* integers; NONE = not modelled                                */
    pr_term form;                /* out                                                         */
    /* In: init is what an earlier loop left, `orbit` over the variable `at` after `steps` of its iterations; NONE: not that.
     * Out: the same about form, where it is steps + counter of the same orbit. */
    pr_term orbit, steps;
    pr_var at;
} pr_shm_carried;

enum { PR_SHM_MAX_STATES = 4096, PR_SHM_MAX_CASES = 64 };
/* counter: a term for the iteration number of form; it is also the variable the updates mention. */
void pr_shm_recover(pr_arena *arena, pr_terms *T, pr_var counter, pr_shm_carried *c, int n);

/* A term over the counter for the sequence value[0..n), which continues with period value[prefix..n).
 * NONE when it needs more than PR_SHM_MAX_CASES cases. */
pr_term pr_shm_sequence(pr_terms *T, pr_term counter, const int64_t *value, int n, int prefix);
/* t with one variable replaced. */
pr_term pr_shm_replace(pr_arena *arena, pr_terms *T, pr_term t, pr_var v, pr_term by);
/* The same values for every counter >= 0, as a sequence, when t depends on nothing but the counter and only
 * through remainders and comparisons with constants; else t itself. */
pr_term pr_shm_refit(pr_arena *arena, pr_terms *T, pr_term t, pr_var counter);
/* Value at counter = k; false when it depends on anything else. */
bool pr_shm_value_at(pr_terms *T, pr_arena *arena, pr_term t, pr_var counter, int64_t k, int64_t *out);
/* Number of counters from 0 on for which the guard a*counter + r <= 0 holds (a > 0, *first true) or does not hold (a < 0, *first false;
 * afterwards it does), as a term; also counter = 0, which holds for one. NONE when it is not of that form. */
pr_term pr_shm_prefix(pr_terms *T, pr_term guard, pr_var counter, bool *first);
#endif
