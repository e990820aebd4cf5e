/* SPDX-License-Identifier: MIT */
/*
 * Sums for each lock that threads wait for (struct trace_contention): the modes in
 * which it is wanted and held, and acquisitions that overtake a waiting thread.
 */
#ifndef HASP_PROFILER_SAMPLE_CONTENTION_H
#define HASP_PROFILER_SAMPLE_CONTENTION_H

#include "platform/platform.h"

enum { CONTENTION_THREADS = 256 }; /* with higher numbers they are not followed */

/* One sample of a lock. */
struct contention {
    uint32_t lock;
    uint32_t readers, writers;            /* threads that wait */
    uint32_t holding_read, holding_write; /* threads that hold it */
    uint64_t longest_since; /* ticks: when the longest of these waits began */
};

/* Adds the sample. `previous`: ticks of the previous sample. */
void contention_add(const struct contention *sample, uint64_t previous);

/* Call after the last lock of each sample. */
void contention_end_sample(void);

void contention_forget(void);

#endif
