/* SPDX-License-Identifier: MIT */
/* The thread that looks at the others: who waits for what, how the process fares. */
#ifndef HASP_PROFILER_SAMPLER_H
#define HASP_PROFILER_SAMPLER_H

#include "profiler/file.h"

/* Starts it, once; called when the program itself creates a thread. */
void sampler_start(void);
void sampler_forget(void);

/* Both clocks, now. */
void clock_read(struct trace_clock *clock);

#endif
