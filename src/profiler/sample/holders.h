/* SPDX-License-Identifier: MIT */
/* Samples of what threads do while they hold a lock (struct trace_hold_state). */
#ifndef HASP_PROFILER_SAMPLE_HOLDERS_H
#define HASP_PROFILER_SAMPLE_HOLDERS_H

#include "profiler/threads/recordings.h"

enum holder_place { HOLDER_GONE, HOLDER_ON_CPU, HOLDER_OFF_CPU };

/* Inspects the thread, which held the lock in slot `index` of its holds when the
 * sampler last looked, and counts its state. `waited`: other threads wait for the lock;
 * then a running thread may be watched more closely (executed.h). Returns where the
 * holder was; HOLDER_GONE if it no longer held the lock. */
enum holder_place holders_inspect(struct recording *thread, uint32_t index,
                                  uint32_t lock, bool waited);

void holders_forget(void);

#endif
