/* The isl text of a query (dump_isl.c); src/poly only. */
#ifndef PR_POLY_DUMP_H
#define PR_POLY_DUMP_H
#include "term/engine.h"

bool pr_isl_dump(const pr_query *q, const pr_limits *limits, pr_buf *out, const char **why);
#endif
