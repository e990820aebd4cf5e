/* SPDX-License-Identifier: MIT */
/*
 * Stacks: taken within a budget, kept once each.
 *
 * The stack behind a call is as good as known by the return address and the stack
 * pointer: the same pair is rarely reached by two ways. So a thread looks it up by the
 * pair first, and unwinds only what is new, or while it has spent little of its time
 * on that; else the last stack of the same return address has to do.
 */
#ifndef HASP_PROFILER_STACKS_H
#define HASP_PROFILER_STACKS_H

#include "profiler/file.h"

/* What stands for all locks of one origin: the innermost frames. */
enum { STACKS_SITE_FRAMES = 4 };

/* The number of the stack that begins with `caller`, or 0. */
uint32_t stack_take(struct recording *me, void *caller);

/* The same for frames that are at hand. */
uint32_t stack_intern(const uintptr_t *frames, uint32_t depth);

/* Return addresses from `caller` on; how many. */
uint32_t stack_unwind(void *caller, uintptr_t *frames, uint32_t most);

/* The stack that stands for those with the same innermost frames. */
uint32_t stack_site(uint32_t stack);

/* Before anything is locked: the unwinder's own first steps. */
void stacks_warm_up(void);
bool stacks_map(void);
void stacks_forget(void);

#endif
