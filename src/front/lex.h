/* Bytes to tokens, on demand. A token is a slice of the text: nothing is copied or decoded, and the
 * lexer never reads past the end of the slice. Newlines are not tokens; each token says whether
 * one preceded it (the tolerant reading of unknown operations needs that). */
#ifndef PR_FRONT_LEX_H
#define PR_FRONT_LEX_H
#include "util/str.h"

typedef enum {
#define TOKEN(id, text) PR_TOK_##id,
#include "front/tokens.def"
#undef TOKEN
    PR_TOK_COUNT
} pr_tok;

typedef struct pr_token {
    pr_tok kind;
    pr_str text;        /* with sigil and quotes                                   */
    int line, col;      /* 1-based                                                 */
    bool newline;       /* a line break stands between the previous token and this */
    bool glued;         /* no space between the previous token and this            */
    const char *wrong;  /* BAD: what is wrong, a constant                          */
} pr_token;

/* A plain value: copying it saves the position, assigning it back returns there. */
typedef struct pr_lexer {
    const char *at, *end, *line_start;
    int line;
} pr_lexer;

void pr_lexer_init(pr_lexer *l, const char *text, size_t length);
pr_token pr_lexer_next(pr_lexer *l);
const char *pr_tok_name(pr_tok kind);
#endif
