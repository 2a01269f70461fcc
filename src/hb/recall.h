/* A decided configuration as bytes, so that an equal question need not be decided again (interface.md 3.2).
 *
 * Places and names are not in the bytes where the records of the asking launch can give them: races,
 * findings and reasons name records by number. */
#ifndef PR_HB_RECALL_H
#define PR_HB_RECALL_H
#include "hb/verdict.h"

/* False: this verdict must not be remembered (a backstop fired, or a mistake of ours is in it). */
bool pr_recall_write(pr_buf *b, const pr_config_verdict *v, const pr_records *r);
/* Do the bytes hold places of the text they were made from? Then they answer only the same text, locations
 * included. */
bool pr_recall_has_places(const pr_config_verdict *v, const pr_records *r);
/* Fills out, as pr_check_config would; everything is copied into arena. False (and *out untouched) when the
 * bytes are not a verdict about such records. */
bool pr_recall_read(pr_arena *arena, const void *bytes, size_t n, const pr_records *r, pr_config_verdict *out);
#endif
