/* SPDX-License-Identifier: MIT */
/* Samples of the process: threads, CPU time, page faults, context switches. */
#ifndef HASP_PROFILER_SAMPLE_SAMPLE_PROCESS_H
#define HASP_PROFILER_SAMPLE_SAMPLE_PROCESS_H

#include "platform/platform.h"

void sample_process(void);
void sample_process_forget(void);

#endif
