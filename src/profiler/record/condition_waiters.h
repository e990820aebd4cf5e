/* SPDX-License-Identifier: MIT */
/*
 * Counts the threads that wait on a condition variable and have not been woken.
 *
 * A program may destroy it right after a broadcast, while the woken threads are still
 * returning. So two counters are kept, of waits begun and of waits woken, and the
 * second never exceeds the first. A wait that ends without a signal counts as woken.
 * Errors are on the side of fewer waiters.
 */
#ifndef HASP_PROFILER_RECORD_CONDITION_WAITERS_H
#define HASP_PROFILER_RECORD_CONDITION_WAITERS_H

#include "platform/platform.h"

void condition_waiters_begin(uint32_t condition);
void condition_waiters_end(uint32_t condition, bool timed_out);
/* Returns the number of threads that this wakes. */
uint32_t condition_waiters_wake(uint32_t condition, bool all);
bool condition_waiters_left(uint32_t condition);

void condition_waiters_forget(void);

#endif
