/* Printing of attributes and small type questions that the parser and ir_text share. The type
 * functions of front/ir.h are implemented in types.c. */
#ifndef PR_FRONT_TYPES_H
#define PR_FRONT_TYPES_H
#include "front/ir.h"

/* Text that reads back as the same attribute. */
void pr_attr_print(pr_buf *b, const pr_attr *a);
bool pr_attr_eq(const pr_attr *a, const pr_attr *b);
/* Dictionary key, quoted when it is no bare identifier. */
void pr_attr_print_key(pr_buf *b, pr_str key);
/* '@' and the symbol, quoted where needed. */
void pr_symbol_print(pr_buf *b, pr_str symbol);
static inline bool pr_type_is(const pr_type *t, pr_type_kind k) { return t && t->kind == k; }
/* Same shape (both scalars, or tensors of equal dimensions). */
bool pr_type_same_shape(const pr_type *a, const pr_type *b);
#endif
