/* Certificates of verdicts (docs/certificates.md); included by src/polyrace*.c only. */
#ifndef PR_POLYRACE_CERTIFY_H
#define PR_POLYRACE_CERTIFY_H
#include "polyrace_impl.h"

typedef struct pr_claim {
    int pair; bool is_pair;
    const char *evidence;
    const char *smt2, *isl;        /* null: has no such form (smt2: why)                           */
    size_t n_smt2, n_isl;
    const char *why;
    int facts;                     /* named in smt2, each a consequence of the query and those before it     */
} pr_claim;
typedef struct pr_certificate { pr_arena *arena; const pr_limits *limits; PR_VEC(pr_claim) claims; } pr_certificate;

/* Makes o keep every query answered EMPTY in c. */
void pr_certificate_start(pr_certificate *c, pr_arena *arena, pr_options *o);
/* Writes one certificate into dir, which is made when it is not there; it must hold none. */
pr_status pr_certificate_write(const char *dir, const pr_plan *p, const pr_certificate *certs, const struct polyrace_verdict *v,
                               pr_error *err);
#endif
