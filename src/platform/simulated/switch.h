/* SPDX-License-Identifier: MIT */
/* Switches between the stacks of coroutines. */
#ifndef HASP_PLATFORM_SIMULATED_SWITCH_H
#define HASP_PLATFORM_SIMULATED_SWITCH_H

/* Saves the caller's registers on its stack and the stack pointer in *from, and
 * continues where `to` was saved. */
void switch_stack(void **from, void *to);

/* Prepares a stack, given its upper end, such that switch_stack calls `body` on it.
 * `body` must not return. */
void *new_stack(void *end, void (*body)(void));

#endif
