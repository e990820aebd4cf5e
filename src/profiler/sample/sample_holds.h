/* SPDX-License-Identifier: MIT */
/*
 * Holds that last: what the sampler knows of them before they end.
 *
 * A thread publishes which locks it holds, but not since when, unless the hold is
 * timed. When the thread's own count of a lock has not moved between two looks, it is
 * still in the same hold.
 *
 * On the counted path a thread publishes a mutex as held before it takes it. If another
 * thread was quicker, it waits unseen. A mutex says itself who has it; so when a hold
 * lasts the mutex is asked, and the trace says that the thread waits.
 */
#ifndef HASP_PROFILER_SAMPLE_SAMPLE_HOLDS_H
#define HASP_PROFILER_SAMPLE_SAMPLE_HOLDS_H

#include "platform/platform.h"

/* One look of the sampler; `ask`: at mutexes, too. */
void sample_holds(bool ask);

#endif
