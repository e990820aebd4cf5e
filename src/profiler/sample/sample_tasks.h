/* SPDX-License-Identifier: MIT */
/*
 * Samples of all threads of the process, recorded or not: how many run or could run,
 * and where others block in futexes that are unknown to the recorder (struct
 * trace_foreign_wait).
 */
#ifndef HASP_PROFILER_SAMPLE_SAMPLE_TASKS_H
#define HASP_PROFILER_SAMPLE_SAMPLE_TASKS_H

#include "platform/platform.h"

/* Takes a sample of some threads. Returns the number of threads of the process that are
 * running or ready to run, extrapolated, without the calling one. */
uint32_t sample_tasks(void);
void sample_tasks_forget(void);

#endif
