/* SPDX-License-Identifier: MIT */
/*
 * What recording takes of a thread's time (trace_thread.own_ticks), and of its budget.
 *
 * A timed operation reads the clock when the recorder begins with it and when it is
 * done, so that it counts what it met there: misses of the cache, system calls. Between
 * acquire and release no clock is read for that; this part, and the hook's own
 * instructions, are known from calibration, as is what the operations cost that were
 * only counted since the last. The time of stacks is measured where they are taken, and
 * has its own budget.
 */
#ifndef HASP_PROFILER_OWN_H
#define HASP_PROFILER_OWN_H

#include "profiler/calibrate.h"
#include "profiler/pace.h"

enum { OWN_MOST = 1 << 13 }; /* ticks; what takes longer was interrupted */

static inline uint64_t own_part(uint64_t took)
{
    return took < OWN_MOST ? took : OWN_MOST;
}

/* Ticks, put back by what stacks have taken so far. */
static inline uint64_t own_begins(const struct recording *me)
{
    return ticks() - me->stack_ticks;
}

/* What it took since, without stacks. */
static inline uint64_t own_until(const struct recording *me, uint64_t began,
                                 uint64_t now)
{
    return own_part(now - me->stack_ticks - began);
}

/* The recorder is done with a timed operation, whose lock's part ended at `since`. */
static inline void own_ends(struct recording *me, const struct record_hold *hold,
                            uint64_t since)
{
    uint64_t took = hold->own + own_part(ticks() - since) + calibrated.unseen_ticks;
    me->shared->own_ticks += took;
    if (hold->paced)
        pace_adapt(me, took);
}

#endif
