/* SPDX-License-Identifier: MIT */
/*
 * An approximate stack of another thread, which is blocked.
 *
 * Its stack is searched for addresses that follow a call instruction in a mapped file.
 * That also finds addresses left over from earlier calls.
 */
#ifndef HASP_PROFILER_SAMPLE_BLOCKED_STACK_H
#define HASP_PROFILER_SAMPLE_BLOCKED_STACK_H

#include "platform/platform.h"

/* Returns the number of the stack, the instruction first, or 0. */
uint32_t blocked_stack(uint64_t instruction, uint64_t stack_pointer);

/* Returns the number of the stack of return addresses in a copy of the innermost words
 * of a stack, or 0 if there are none. */
uint32_t callers_in(const uint64_t *words, uint32_t count);

void blocked_stack_forget(void);

#endif
