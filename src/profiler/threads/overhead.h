/* SPDX-License-Identifier: MIT */
/*
 * The time that recording takes from a thread (trace_thread.overhead_ticks).
 *
 * The recorder reads the clock when it starts to handle a timed operation and when it
 * is done, so that cache misses and system calls are included. It reads no clock for
 * this between acquire and release: that part, the hook's own instructions, and the
 * cost of operations that are only counted come from calibration. The time of stacks is
 * measured where they are taken and has a budget of its own.
 */
#ifndef HASP_PROFILER_THREADS_OVERHEAD_H
#define HASP_PROFILER_THREADS_OVERHEAD_H

#include "profiler/threads/recordings.h"

enum { OVERHEAD_MOST = 1 << 13 }; /* ticks; anything longer was interrupted */

struct calibrated {
    uint32_t unseen_ticks;  /* cost of a timed lock and unlock that no reading covers */
    uint32_t hold_ticks;    /* measured duration of an empty hold */
    uint32_t section_ticks; /* the same of an empty section, minus its real duration */
    uint32_t between_ticks; /* measured duration from a release to an acquisition that
                               follows at once */
    uint32_t inspecting_ticks; /* added to an acquisition by that measurement */
};
extern struct calibrated calibrated RECORD_HIDDEN;

/* Returns a measured duration minus the cost of timing it. */
static inline uint64_t calibrated_ticks(uint64_t measured, uint32_t added)
{
    return measured > added ? measured - added : 0;
}

static inline uint64_t overhead_part(uint64_t took)
{
    return took < OVERHEAD_MOST ? took : OVERHEAD_MOST;
}

/* Returns the start of a measurement: ticks minus the time spent on stacks so far. */
static inline uint64_t overhead_begins(const struct recording *me)
{
    return ticks() - me->stack_ticks;
}

/* Returns the duration since that start, without the time spent on stacks. */
static inline uint64_t overhead_until(const struct recording *me, uint64_t began,
                                      uint64_t now)
{
    return overhead_part(now - me->stack_ticks - began);
}

#endif
