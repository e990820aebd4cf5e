/* SPDX-License-Identifier: MIT */
/*
 * What recording takes of a thread's time (trace_thread.overhead_ticks), and of its budget.
 *
 * A timed operation reads the clock when the recorder begins with it and when it is
 * done, so that it counts what it met there: misses of the cache, system calls. Between
 * acquire and release no clock is read for that; this part, and the hook's own
 * instructions, are known from calibration, as is what the operations cost that were
 * only counted since the last. The time of stacks is measured where they are taken, and
 * has its own budget.
 */
#ifndef HASP_PROFILER_THREADS_OVERHEAD_H
#define HASP_PROFILER_THREADS_OVERHEAD_H

#include "profiler/threads/recordings.h"

enum { OVERHEAD_MOST = 1 << 13 }; /* ticks; what takes longer was interrupted */

struct calibrated {
    uint32_t unseen_ticks;  /* of a timed lock and unlock; see own.h */
    uint32_t hold_ticks;    /* what an empty hold measures */
    uint32_t section_ticks; /* what an empty section measures, more than it takes */
};
extern struct calibrated calibrated RECORD_HIDDEN;

/* A duration without what timing it added. */
static inline uint64_t calibrated_ticks(uint64_t measured, uint32_t added)
{
    return measured > added ? measured - added : 0;
}

static inline uint64_t overhead_part(uint64_t took)
{
    return took < OVERHEAD_MOST ? took : OVERHEAD_MOST;
}

/* Ticks, put back by what stacks have taken so far. */
static inline uint64_t overhead_begins(const struct recording *me)
{
    return ticks() - me->stack_ticks;
}

/* What it took since, without stacks. */
static inline uint64_t overhead_until(const struct recording *me, uint64_t began,
                                      uint64_t now)
{
    return overhead_part(now - me->stack_ticks - began);
}

#endif
