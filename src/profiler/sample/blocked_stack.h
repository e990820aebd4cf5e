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

/* Does the same from a copy of the stack's innermost bytes. */
uint32_t blocked_stack_of(uint64_t instruction, const uint64_t *words, uint32_t count);

void blocked_stack_forget(void);

#endif
