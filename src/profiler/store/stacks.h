/* SPDX-License-Identifier: MIT */
/* The stacks of the trace, each stored once. */
#ifndef HASP_PROFILER_STORE_STACKS_H
#define HASP_PROFILER_STORE_STACKS_H

#include "profiler/store/series.h"

/* Returns the number of the stack with these frames, added if new; 0: no space. */
uint32_t stack_intern(const uintptr_t *frames, uint32_t depth);

/* Returns the number of a stack that has been added before, or 0. */
uint32_t stack_find(const uintptr_t *frames, uint32_t depth);

/* Returns the stack with this number. */
const struct trace_stack *stack_record(uint32_t stack);

/* Returns the site of a stack: the stack of its innermost frames only. */
uint32_t stack_site(uint32_t stack);

bool stacks_map(void);
void stacks_forget(void);

#endif
