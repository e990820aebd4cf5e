/* SPDX-License-Identifier: MIT */
/* Misuse events: one record for each kind, lock and stack, with a count. */
#ifndef HASP_PROFILER_STORE_EVENTS_H
#define HASP_PROFILER_STORE_EVENTS_H

#include "profiler/store/series.h"

void event_add(uint32_t thread, enum trace_event_kind kind, uint32_t lock,
               uint32_t other, uint32_t stack);

void events_forget(void);

#endif
