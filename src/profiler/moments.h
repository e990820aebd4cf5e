/* SPDX-License-Identifier: MIT */
/* The time line of the process: threads, CPU time, faults, switches. */
#ifndef HASP_PROFILER_MOMENTS_H
#define HASP_PROFILER_MOMENTS_H

#include "profiler/file.h"

void moments_look(void);
void moments_forget(void);

#endif
