/* SPDX-License-Identifier: MIT */
#include "profiler/sampler.h"

void sampler_start(void)
{
}

void sampler_forget(void)
{
}

void clock_read(struct trace_clock *clock)
{
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    clock->wall_ns = (uint64_t)wall.tv_sec * 1000000000u + (uint64_t)wall.tv_nsec;
    clock->monotonic_ns = now_ns();
    clock->ticks = ticks();
}
