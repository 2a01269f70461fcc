/* CTA barriers and proxy fences that PTX shows (shared-memory.md 5.3): what `--check-membar` otherwise looks for in the text. */
#ifndef PR_SHM_PTX_H
#define PR_SHM_PTX_H
#include "shm/events.h"

/* pr_shm_prog.beside, by operation: at every place where it stands in PTX, all threads of the program meet right before or after it, or
 * each executes a proxy fence; it has no instruction on shared memory. */
enum { PR_SHM_MEETS_BEFORE = 1, PR_SHM_FENCED_BEFORE = 2, PR_SHM_MEETS_AFTER = 4, PR_SHM_FENCED_AFTER = 8, PR_SHM_NO_SCRATCH = 16 };
/* Fills it in, or adds a refusal that names the line of PTX. */
void pr_shm_read_ptx(pr_shm_prog *p, const char *text, size_t length);
#endif
