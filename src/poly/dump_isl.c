/* placeholder */
#include "dump.h"
bool pr_isl_dump(const pr_query *q, const pr_limits *limits, pr_buf *out, const char **why)
{
    *why = "not yet"; return false;
}
