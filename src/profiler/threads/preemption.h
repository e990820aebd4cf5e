/* SPDX-License-Identifier: MIT */
/*
 * Holds in which the holder was preempted.
 *
 * A hold that lasted long is asked for involuntary switches: the kernel's count now
 * against the one that was read not long before the hold began. In between, while
 * nothing was held, a preemption by another program's time slice would have made that
 * reading old, and it would have been renewed.
 */
#ifndef HASP_PROFILER_THREADS_PREEMPTION_H
#define HASP_PROFILER_THREADS_PREEMPTION_H

#include "profiler/threads/recordings.h"

extern uint64_t switches_long_ticks RECORD_HIDDEN;  /* 100 us */
extern uint64_t switches_fresh_ticks RECORD_HIDDEN; /* 500 us */

void switches_prepare(void);
void switches_read(struct recording *me, uint64_t now);
void switches_judge_long(struct recording *me, uint64_t released);

/* True when that took a system call. */
static inline bool switches_refresh(struct recording *me, uint64_t now)
{
    if (now - me->switches_at <= switches_fresh_ticks)
        return false;
    switches_read(me, now);
    return true;
}

static inline void switches_judge(struct recording *me, uint64_t got, uint64_t released)
{
    if (released - got > switches_long_ticks)
        switches_judge_long(me, released);
}

#endif
