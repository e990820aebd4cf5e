/* SPDX-License-Identifier: MIT */
/* Stacks, kept once each. */
#ifndef HASP_PROFILER_STORE_STACKS_H
#define HASP_PROFILER_STORE_STACKS_H

#include "profiler/store/series.h"

/* The number of a stack by its frames. */
uint32_t stack_intern(const uintptr_t *frames, uint32_t depth);

/* The stack that stands for those with the same innermost frames. */
uint32_t stack_site(uint32_t stack);

bool stacks_map(void);
void stacks_forget(void);

#endif
