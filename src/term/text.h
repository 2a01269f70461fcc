/* Pieces of text.c that query.c uses: names for shared nodes, tokens. src/term only. */
#ifndef PR_TERM_TEXT_H
#define PR_TERM_TEXT_H
#include "term/term.h"

/* Definitions seen so far: %i is term[i], table#number[j] is tab[j]. */
typedef struct pr_text_names {
    const pr_term *term; int n;
    const int *tab_number; const pr_tab *tab; int n_tabs;
} pr_text_names;

/* Prints t; a node whose name[id] is not 0 is printed as %name. */
void pr_term_print_named(pr_buf *b, const pr_terms *T, pr_term t, const uint32_t *name,
                         uint32_t n_name);
/* Next token: a parenthesis, or a run without blanks and parentheses; empty at the end. */
pr_str pr_text_token(pr_str *in);
/* Reads one term from the front of *in. */
bool pr_text_term(pr_terms *T, pr_str *in, const pr_text_names *names, pr_arena *arena,
                  pr_term *out, const char **why);
#endif
