/* SPDX-License-Identifier: MIT */
/* Samples of the threads that wait for locks, and whether they spin. */
#ifndef HASP_PROFILER_SAMPLE_SAMPLE_WAITERS_H
#define HASP_PROFILER_SAMPLE_SAMPLE_WAITERS_H

#include "platform/platform.h"

/* Takes a sample that represents so many ticks of the sampler. Returns whether any
 * thread was waiting. */
bool sample_waiters(uint32_t ticks);
void sample_waiters_forget(void);

/* Returns whether a thread waited for the lock in the latest sample. */
bool sample_waiters_include(uint32_t lock);

#endif
