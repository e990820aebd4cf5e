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

/* Takes a further sample if there are few threads, whose brief waits would be missed
 * otherwise. Returns whether a thread waited briefly for an unknown futex. */
bool sample_tasks_often(void);

void sample_tasks_forget(void);

#endif
