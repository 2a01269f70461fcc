/* Reads an affine condition on parameters and grid extents, e.g. "n >= 1 and stride % 16 == 0". */
#ifndef PR_HB_ASSUME_H
#define PR_HB_ASSUME_H
#include "hb/record.h"
#include "util/err.h"

/* cond := test (("and" | "&&") test)*     test := sum (("<" "<=" ">" ">=" "==" "!=") sum)+
 * sum := product (("+" | "-") product)*   product := atom (("*" | "%") atom)*
 * atom := number | name | "grid0".."grid2" | "-" atom | "(" sum ")"
 * PR_ERR_USAGE with the column in *err when the text is not such a condition or names no parameter. */
pr_status pr_assume_parse(pr_records *R, const char *text, pr_term *out, pr_error *err);
#endif
