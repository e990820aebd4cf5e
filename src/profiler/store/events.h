/* SPDX-License-Identifier: MIT */
/* TRACE_EVENTS: each kind once for a lock and a stack, then counted. */
#ifndef HASP_PROFILER_STORE_EVENTS_H
#define HASP_PROFILER_STORE_EVENTS_H

#include "profiler/store/series.h"

void event_add(uint32_t thread, enum trace_event_kind kind, uint32_t lock,
               uint32_t other, uint32_t stack);

void events_forget(void);

#endif
