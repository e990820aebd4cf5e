/* SPDX-License-Identifier: MIT */
/* Samples of what threads do while they hold a lock (struct trace_hold_state). */
#ifndef HASP_PROFILER_SAMPLE_HOLDERS_H
#define HASP_PROFILER_SAMPLE_HOLDERS_H

#include "profiler/threads/recordings.h"

/* Inspects the thread, which held the lock in slot `index` of its holds when the
 * sampler last looked, and counts its state. `waited`: other threads wait for the lock;
 * then a running thread may be watched more closely (executed.h). */
void holders_inspect(struct recording *thread, uint32_t index, uint32_t lock,
                     bool waited);

void holders_forget(void);

#endif
