/* SPDX-License-Identifier: MIT */
/* Adds an operation to the sums and histograms of its thread, lock and site. */
#ifndef HASP_PROFILER_RECORD_SUMS_H
#define HASP_PROFILER_RECORD_SUMS_H

#include "profiler/record/record.h"

void sum_wait(struct recording *me, const struct record_hold *hold);
/* Returns the duration of a hold in ticks. */
uint64_t hold_duration(const struct record_release *release);

/* Returns the ticks between the last sampled operation and this hold, or 0 if they
 * overlap. */
uint64_t sum_since_sampled(const struct recording *me, const struct record_hold *hold);

void sum_hold(struct recording *me, const struct record_release *release);
void sum_section(struct recording *me, const struct record_hold *hold, uint64_t now);

#endif
