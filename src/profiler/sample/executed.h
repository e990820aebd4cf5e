/* SPDX-License-Identifier: MIT */
/*
 * What holders execute (struct trace_executed).
 *
 * When the sampler sees a thread run while others wait for its lock, it lets the kernel
 * sample the thread's instruction pointer and stack until the sampler's next tick, by a
 * perf event of the CPU clock, which needs no hardware counter. Meanwhile the thread
 * times all its holds and notes them. Samples outside holds of that lock are dropped.
 */
#ifndef HASP_PROFILER_SAMPLE_EXECUTED_H
#define HASP_PROFILER_SAMPLE_EXECUTED_H

#include "profiler/threads/recordings.h"

/* `filtered`: a seccomp filter may kill the process for opening an event. */
void executed_prepare(bool filtered);

/* Watches the thread until executed_end, if no other is being watched. */
void executed_watch(struct recording *thread, uint32_t index, uint32_t lock);

/* Adds the samples since executed_watch. Call once per tick. */
void executed_end(void);

void executed_forget(void);

#endif
