/* SPDX-License-Identifier: MIT */
/* Clocks, read through the vDSO. */
#ifndef HASP_PLATFORM_NATIVE_CLOCK_H
#define HASP_PLATFORM_NATIVE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

/* Converts a difference of ticks() to nanoseconds. The first call measures the rate,
 * which takes 50 us. */
uint64_t ticks_to_ns(uint64_t difference);

static inline bool deadline_passed(const struct deadline *deadline)
{
    struct timespec now;
    clock_gettime(deadline->clock, &now);
    return now.tv_sec > deadline->at.tv_sec ||
           (now.tv_sec == deadline->at.tv_sec && now.tv_nsec >= deadline->at.tv_nsec);
}

#endif
