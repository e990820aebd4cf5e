/* SPDX-License-Identifier: MIT */
/* A look at all threads: the locks that somebody waits for, and whether by spinning. */
#ifndef HASP_PROFILER_SAMPLE_SAMPLE_WAITERS_H
#define HASP_PROFILER_SAMPLE_SAMPLE_WAITERS_H

#include "platform/platform.h"

/* Stands for so many looks; true: somebody waited. */
bool sample_waiters(uint32_t ticks);
void sample_waiters_forget(void);

#endif
