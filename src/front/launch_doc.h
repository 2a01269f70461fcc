/* Inside of a launch document; shared by launch.c (document) and launch_bind.c (arguments) only. */
#ifndef PR_FRONT_LAUNCH_DOC_H
#define PR_FRONT_LAUNCH_DOC_H
#include <jansson.h>
#include "front/launch.h"

struct pr_launch_doc {
    pr_arena *arena;
    const char *name, *base_dir;
    const char *text;
    size_t length;
    bool lines;
    json_t *root; /* the document; null for JSON Lines */
    int count;
    bool wrapped;       /* launches are items of root.launches */
    json_t **line_root; /* JSON Lines: one document a line, read by the check */
    pr_str *line_text;
    int *line_number;
};

/* The way from the document to a value: a chain that lives on the C stack. key null = index. */
typedef struct pr_json_at {
    const struct pr_json_at *up;
    const char *key;
    int index;
} pr_json_at;

/* One launch while it is read. */
typedef struct pr_launch_reader {
    pr_launch_doc *doc;
    int item;
    json_t *launch;
    pr_json_at root; /* path of the launch object: empty, or launches[i] */
    bool has_root_path;
    pr_error *err;
} pr_launch_reader;

/* launch_json.c: null with *err when the text is not JSON; the caller owns the value. */
json_t *pr_json_load(const pr_arena *arena, const char *text, size_t length, json_error_t *err);
const char *pr_json_text(pr_arena *arena, const json_t *v);

bool pr_launch_reader_open(pr_launch_reader *r, pr_launch_doc *d, int i, pr_error *err);
const pr_json_at *pr_launch_reader_path(const pr_launch_reader *r); /* of the launch object */
/* Fills *r->err with the path, line and column of the value; always returns PR_ERR_INPUT. */
pr_status pr_launch_bad(pr_launch_reader *r, const pr_json_at *at, const char *format, ...)
    PR_PRINTF(3, 4);
const char *pr_json_kind(const json_t *v); /* "an array", "a string", ... */
/* Position of the value at the end of path in text (valid JSON); of the nearest enclosing value
 * when
 * the path does not exist. */
void pr_json_locate(const char *text, size_t length, const pr_json_at *at, int *line, int *col);
#endif
