/* SPDX-License-Identifier: MIT */
/*
 * How many threads wait on a condition variable and have not been woken.
 *
 * Whoever broadcasts may destroy it at once, while the woken are still on their way
 * out. So waits are numbered as they begin, and signals count up towards them; a wait
 * that ends without any passes for signalled. Errors are on the side of fewer waiters.
 */
#ifndef HASP_PROFILER_RECORD_CONDITION_WAITERS_H
#define HASP_PROFILER_RECORD_CONDITION_WAITERS_H

#include "platform/platform.h"

void condition_waiters_begin(uint32_t condition);
void condition_waiters_end(uint32_t condition, bool timed_out);
void condition_waiters_wake(uint32_t condition, bool all);
bool condition_waiters_left(uint32_t condition);

void condition_waiters_forget(void);

#endif
