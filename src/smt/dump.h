/* The SMT-LIB text of a query (dump_smt2.c); src/smt only. */
#ifndef PR_SMT_DUMP_H
#define PR_SMT_DUMP_H
#include "term/engine.h"

bool pr_smt_dump(const pr_query *q, const pr_limits *limits, pr_buf *out, const char **why);
#endif
