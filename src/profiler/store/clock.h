/* SPDX-License-Identifier: MIT */
#ifndef HASP_PROFILER_STORE_CLOCK_H
#define HASP_PROFILER_STORE_CLOCK_H

#include "platform/platform.h"
#include "profiler/trace.h"

/* Reads all clocks. */
static inline void clock_read(struct trace_clock *clock)
{
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    clock->wall_ns = (uint64_t)wall.tv_sec * 1000000000u + (uint64_t)wall.tv_nsec;
    clock->monotonic_ns = now_ns();
    clock->ticks = ticks();
}

#endif
