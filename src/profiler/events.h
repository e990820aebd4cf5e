/* SPDX-License-Identifier: MIT */
/* TRACE_EVENTS: each kind once for a lock and a stack, then counted. */
#ifndef HASP_PROFILER_EVENTS_H
#define HASP_PROFILER_EVENTS_H

#include "profiler/file.h"

/* record_event for a stack that is at hand. */
void event_add(struct recording *me, enum trace_event_kind kind, uint32_t lock,
               uint32_t other, uint32_t stack);

void events_forget(void);

#endif
