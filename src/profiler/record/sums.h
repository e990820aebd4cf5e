/* SPDX-License-Identifier: MIT */
/* What one operation adds to the sums and histograms of its thread, lock and site. */
#ifndef HASP_PROFILER_RECORD_SUMS_H
#define HASP_PROFILER_RECORD_SUMS_H

#include "profiler/record/record.h"

void sum_wait(struct recording *me, const struct record_hold *hold);
/* Ticks that a lock was held. */
uint64_t hold_duration(const struct record_release *release);

/* Ticks between the last sampled operation and this one; 0: that one was within it. */
uint64_t sum_since_sampled(const struct recording *me, const struct record_hold *hold);

void sum_hold(struct recording *me, const struct record_release *release);
void sum_section(struct recording *me, const struct record_hold *hold, uint64_t now);

#endif
