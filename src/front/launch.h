/* Launch files (interface.md 2): JSON text -> the facts of hb/facts.h, bound to a kernel function.
 *
 * A document holds one launch or several (an object with "launches", or JSON Lines). Reading is
 * in two
 * steps, because the arguments can be judged only against the kernel's signature:
 *
 *   pr_launch_doc_parse   syntax; the list of launches
 *   pr_launch_doc_check   every field of one launch that does not depend on the kernel
 *   pr_launch_bind        one configuration of one launch, bound to a function
 *
 * Errors name the path of the value (`launches[3].args.n`) and its line and column. A fault of one
 * launch leaves the others usable. Unknown fields are ignored. */
#ifndef PR_FRONT_LAUNCH_H
#define PR_FRONT_LAUNCH_H
#include "front/ir.h"
#include "hb/facts.h"
#include "term/refusal.h"

typedef struct pr_launch_doc pr_launch_doc;

typedef struct pr_launch_limits {
    int64_t snapshot_elements; /* contents of a larger tensor are not kept, default 16384 */
    int64_t snapshot_bytes;    /* ... nor past this total of one launch, default 256 MiB */
} pr_launch_limits;
void pr_launch_limits_default(pr_launch_limits *l);

/* name is the spelling used in messages; base_dir is what relative paths start from ("" = the
 * current
 * directory). lines: JSON Lines, one launch a line (a bad line spoils its own launch only).
 * The document keeps its own copy of the text. Null and *err on failure. */
pr_launch_doc *pr_launch_doc_parse(pr_arena *arena, const char *text, size_t length,
                                   const char *name, const char *base_dir, bool lines,
                                   pr_error *err);
/* Releases what lives outside the arena. Null is fine. */
void pr_launch_doc_free(pr_launch_doc *d);
const char *pr_launch_doc_name(const pr_launch_doc *d);
const char *pr_launch_doc_base_dir(const pr_launch_doc *d);
/* Number of launches, at least 1. */
int pr_launch_doc_count(const pr_launch_doc *d);

/* Checks launch i; also its syntax when it is a line. */
pr_status pr_launch_doc_check(pr_launch_doc *d, int i, pr_error *err);

/* After a successful check: */
pr_str pr_launch_doc_kernel(const pr_launch_doc *d, int i); /* "" when not named */
int pr_launch_doc_configs(const pr_launch_doc *d, int i);   /* at least 1 */

/* Where configuration c of launch i finds its text. */
typedef enum {
    PR_LAUNCH_TEXT_NONE,
    PR_LAUNCH_TEXT_FILE,
    PR_LAUNCH_TEXT_INLINE
} pr_launch_text_kind;
typedef struct pr_launch_text {
    pr_launch_text_kind kind;
    bool ttgir;
    pr_str text;   /* INLINE: the text; FILE: the path as spelled */
    char *path;    /* FILE: the path to open */
    int line, col; /* of the field, for messages */
} pr_launch_text;
void pr_launch_doc_text(pr_arena *arena, const pr_launch_doc *d, int i, int c, pr_launch_text *out);
/* The TTGIR text of the configuration, also when there is a TTIR text; kind NONE when there is none. */
void pr_launch_doc_ttgir(pr_arena *arena, const pr_launch_doc *d, int i, int c,
                         pr_launch_text *out);
/* Why this configuration has no text: the field "compile_error", "" when absent. */
pr_str pr_launch_doc_compile_error(const pr_launch_doc *d, int i, int c);
/* The configuration's "config" object as compact JSON, "{}" when absent. */
const char *pr_launch_doc_config_json(pr_arena *arena, const pr_launch_doc *d, int i, int c);

/* Line and column of a field of launch i (of item k of it when k >= 0); of the launch when it has
 * none. */
void pr_launch_doc_place(const pr_launch_doc *d, int i, const char *key, int k, int *line,
                         int *col);

/* Binds configuration c of launch i to func. grid_override: null or three extents that replace the
 * launch's. What cannot be used without being wrong (an element size that differs from the
 * pointee's,
 * a non-contiguous tensor without strides and storage) becomes a refusal of kind missing-binding
 * and
 * leaves the argument symbolic. */
pr_status pr_launch_bind(pr_arena *arena, pr_launch_doc *d, int i, int c, const pr_ir *ir,
                         const pr_op *func, const pr_launch_limits *limits,
                         const int64_t *grid_override, pr_launch *out, pr_refusal_vec *refusals,
                         pr_error *err);
#endif
