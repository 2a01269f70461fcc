/* Conditions and addresses that need no query at the launch: intervals of a record's own terms settle them. */
#ifndef PR_HB_PLAIN_H
#define PR_HB_PLAIN_H
#include "hb/encode.h"

/* t, a condition of the record (its path, mask, held conditions), is true in every execution at the launch. */
bool pr_plain_holds(pr_encoding *launch, int record, pr_term t);
/* Every byte of every execution of the record lies inside its tensor's storage, and nothing refuses the record. */
bool pr_plain_inside(pr_encoding *launch, int record);
#endif
