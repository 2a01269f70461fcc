/* Accesses that the runs of schedule.c need not look at. */
#ifndef PR_FRONT_SCHEDULE_SPARE_H
#define PR_FRONT_SCHEDULE_SPARE_H
#include "front/schedule.h"

/* By operation id, for pr_interp_setup.spare: a plain access of a tensor from which no address, mask, condition or operand of an atomic is
 * computed, which no atomic accesses and which overlaps no such tensor; 2 for the two asked about. Null: every access is looked at. */
const uint8_t *pr_schedule_spare(pr_arena *arena, const pr_interp_setup *setup, const pr_schedule_ask *ask);
#endif
