/* What a certificate says about shared memory: the events that the proof is about, with the phases that it found, as one
 * S-expression a line (docs/certificates.md). recheck builds every relation of the proof again from them. */
#ifndef PR_SHM_CERTIFY_H
#define PR_SHM_CERTIFY_H
#include "shm/prove.h"

/* Of a proof made with p->certify. launch: it is about p->bound only. */
void pr_shm_print_certificate(pr_buf *b, pr_shm_prog *p, const pr_shm_model *m, const pr_shm_proof *proof, bool launch);
/* For `polyrace dump`: values, loops, allocations and events as above; the operations of each barrier with their phase numbers, where these are
 * proved (p->certify). Names as in the text. */
void pr_shm_print_events(pr_buf *b, pr_shm_prog *p, const pr_shm_model *m);
void pr_shm_print_protocol(pr_buf *b, pr_shm_prog *p, const pr_shm_model *m, const pr_shm_proof *proof);
#endif
