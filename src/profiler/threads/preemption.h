/* SPDX-License-Identifier: MIT */
/*
 * Holds during which the holder was preempted.
 *
 * After a long hold the kernel's count of involuntary context switches is compared with
 * the one read shortly before the hold. A preemption between that reading and the hold
 * would have made the reading old, and it would have been renewed.
 */
#ifndef HASP_PROFILER_THREADS_PREEMPTION_H
#define HASP_PROFILER_THREADS_PREEMPTION_H

#include "profiler/threads/recordings.h"

extern uint64_t preemption_long_ticks RECORD_HIDDEN;  /* 100 us */
extern uint64_t preemption_fresh_ticks RECORD_HIDDEN; /* 500 us */

void preemption_prepare(void);
void preemption_read(struct recording *me, uint64_t now);
void preemption_judge_long(struct recording *me, uint64_t released);

/* Renews an old reading. Returns true when that took a system call. */
static inline bool preemption_refresh(struct recording *me, uint64_t now)
{
    if (now - me->involuntary_read_at <= preemption_fresh_ticks)
        return false;
    preemption_read(me, now);
    return true;
}

static inline void preemption_judge(struct recording *me, uint64_t got,
                                    uint64_t released)
{
    if (released - got > preemption_long_ticks)
        preemption_judge_long(me, released);
}

#endif
