/* SPDX-License-Identifier: MIT */
/* Waits: published while they last, for the sampler and whoever looks at a hang. */
#ifndef HASP_PROFILER_WAITS_H
#define HASP_PROFILER_WAITS_H

#include "profiler/file.h"

void wait_publish(struct recording *me, uint32_t lock, enum trace_operation operation,
                  uint64_t since, uint32_t stack);
void wait_withdraw(struct recording *me);

/* Adds a wait to TRACE_WEIGHTS, under its stack. */
void wait_weigh(struct recording *me, const struct record_hold *hold, uint64_t waited);

#endif
