/* SPDX-License-Identifier: MIT */
/* The threads of a client are coroutines with stacks of their own. A stack can be saved
 * and restored, so that the search returns to an earlier state without running the
 * client again. */
#ifndef HASP_EXPLORER_BASE_COROUTINE_H
#define HASP_EXPLORER_BASE_COROUTINE_H

#include <stddef.h>
#include <stdint.h>

void coroutine_start(int thread, void (*body)(void));
void coroutine_resume(int thread);
void coroutine_yield(void);
void coroutine_wipe(void);             /* zeroes the stack below the caller's frame */
uint64_t coroutine_digest(int thread); /* hash of its live stack */

/* Both return the number of bytes. */
size_t coroutine_save(int thread, unsigned char *into);
size_t coroutine_restore(int thread, const unsigned char *from);

int stack_of(const void *address); /* the thread whose stack it is on, or -1 */

#endif
