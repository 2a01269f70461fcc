/* Named reasons any layer may decline with; the closed list is refusals.def. */
#ifndef PR_TERM_REFUSAL_H
#define PR_TERM_REFUSAL_H
#include "util/str.h"
#include "util/vec.h"

typedef enum {
    PR_REFUSAL_NONE = 0,
#define REFUSAL(id, slug, meaning, advice) PR_REFUSAL_##id,
#include "term/refusals.def"
#undef REFUSAL
    PR_REFUSAL_COUNT
} pr_refusal_kind;

/* A source position for people. file is the bare spelling of the text's location. */
typedef struct pr_loc {
    pr_str file; int line, col;     /* user site, line 0 = unknown                         */
    int text_line;                  /* line in the TTIR text, 0 = unknown                   */
    pr_str op;                      /* operation name, e.g. "tt.load"                        */
} pr_loc;

typedef struct pr_refusal {
    pr_refusal_kind kind;           /* NONE = no refusal                                   */
    pr_loc loc;
    const char *message;            /* what was not understood, arena text                   */
    const char *hint;               /* what the user can do; null = the table's advice         */
    bool unless_apart;              /* of no weight where every pair of accesses is apart whatever atomics say */
} pr_refusal;
typedef PR_VEC(pr_refusal) pr_refusal_vec;

const char *pr_refusal_slug(pr_refusal_kind k);
const char *pr_refusal_meaning(pr_refusal_kind k);
const char *pr_refusal_advice(pr_refusal_kind k);
pr_refusal_kind pr_refusal_by_slug(pr_str slug);   /* NONE when unknown */
#endif
