/* SPDX-License-Identifier: MIT */
/* Where time went: waits and holds by lock and stack (TRACE_STACK_PROFILE). */
#ifndef HASP_PROFILER_STORE_STACK_PROFILE_H
#define HASP_PROFILER_STORE_STACK_PROFILE_H

#include "profiler/store/series.h"

enum { STACK_PROFILE_OWN = 16 };

/* Summed up in the thread's own memory, and written now and then. */
void stack_profile_add_wait(struct trace_stack_weight own[STACK_PROFILE_OWN],
                            uint32_t lock, uint32_t stack, uint64_t waited);
void stack_profile_add_hold(struct trace_stack_weight own[STACK_PROFILE_OWN],
                            uint32_t lock, uint32_t stack, uint64_t weight,
                            uint64_t held);

/* Writes what is left. */
void stack_profile_flush(struct trace_stack_weight own[STACK_PROFILE_OWN]);

bool stack_profile_map(void);
void stack_profile_forget(void);

#endif
