/* SPDX-License-Identifier: MIT */
/* The stack profile: waits and holds by lock and stack. */
#ifndef HASP_PROFILER_STORE_STACK_PROFILE_H
#define HASP_PROFILER_STORE_STACK_PROFILE_H

#include "profiler/store/series.h"

enum { STACK_PROFILE_OWN = 16 };

/* Adds to sums in the thread's own memory, which are written from time to time. */
void stack_profile_add_wait(struct trace_stack_weight own[STACK_PROFILE_OWN],
                            uint32_t lock, uint32_t stack, uint64_t waited);
void stack_profile_add_hold(struct trace_stack_weight own[STACK_PROFILE_OWN],
                            uint32_t lock, uint32_t stack, uint64_t weight,
                            uint64_t held);

/* Writes the remaining sums. */
void stack_profile_flush(struct trace_stack_weight own[STACK_PROFILE_OWN]);

bool stack_profile_map(void);
void stack_profile_forget(void);

#endif
