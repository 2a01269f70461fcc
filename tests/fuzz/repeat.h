/* Runs a launch twice on the same buffers. */
#ifndef PR_TESTS_FUZZ_REPEAT_H
#define PR_TESTS_FUZZ_REPEAT_H
#include "front/again.h"
#include "front/replay.h"

typedef struct repeat_result {
    bool followed;                 /* both runs went to their end inside the storage, on known addresses   */
    int64_t bytes, known;          /* written by some run; of them with values that are known          */
    uint64_t differs;              /* address of a known byte that the second run changed, 0 = none       */
} repeat_result;

/* The programs run one after the other. Memory starts with the contents of the arguments, and elsewhere with bytes made
 * from `seed`; `small` keeps every element below 8. */
repeat_result repeat_launch(pr_arena *arena, const pr_interp_setup *setup, const pr_replay_storage *storage, uint64_t seed, bool small);

/* Does the element at addr hold another value after the second run than after the first, from the contents that pr_again_choice gives
 * where the arguments have none? All programs are run, from the last to the first when `down`. MAYBE: not followed, or not known. */
pr_tri repeat_at(pr_arena *arena, const pr_interp_setup *setup, const pr_replay_storage *storage, const pr_again_arg *choose, int pattern,
                 uint64_t addr, int width, bool down);
#endif
