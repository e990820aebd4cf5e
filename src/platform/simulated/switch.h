/* SPDX-License-Identifier: MIT */
/* Coroutines: from one stack to another. */
#ifndef HASP_PLATFORM_SIMULATED_SWITCH_H
#define HASP_PLATFORM_SIMULATED_SWITCH_H

/* Saves the caller's registers on its stack, and that stack's pointer in *from; goes on
 * where the stack `to` was saved. */
void switch_stack(void **from, void *to);

/* A stack, by its upper end, on which switch_stack will call `body`, which never
 * returns. */
void *new_stack(void *end, void (*body)(void));

#endif
