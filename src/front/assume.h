/* Premises given by the user: an affine condition on integer parameters -> a Boolean term.
 *
 *   n >= 1 and n % 16 == 0      0 <= lo <= hi      not (m == 0) or k // 4 < m
 *
 * and, or, not (also && || !), comparisons that may be chained, + and -, * by a constant, // and
 * % by a
 * positive constant (floor). Names are the kernel's argument names. */
#ifndef PR_FRONT_ASSUME_H
#define PR_FRONT_ASSUME_H
#include "hb/record.h"

/* False with *why (in the records' arena) when text is not such a condition. */
bool pr_assume_parse(pr_records *r, const char *text, pr_term *out, const char **why);
#endif
