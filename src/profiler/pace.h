/* SPDX-License-Identifier: MIT */
/*
 * How often an uncontended acquisition is timed.
 *
 * One in about `period`, at random, so that no rhythm of the program hides from it;
 * each stands for `period` of them. The period doubles when timing takes more than its
 * share of the thread's CPU time (of the time that it lives it would be nothing, for
 * most sleep most of the time), and halves when it takes far less: a thread that locks
 * rarely is timed in full.
 */
#ifndef HASP_PROFILER_PACE_H
#define HASP_PROFILER_PACE_H

#include "profiler/file.h"

enum {
    PACE_WINDOW = 32,         /* timed operations between two looks at the period */
    PACE_LONGEST = 1 << 14,   /* period */
    /* Timing may take one part in so many of the time, as calibrated; with many locks,
     * whose records are not in the cache, it takes up to four times as long. */
    PACE_FULL_SHARE = 128,
    PACE_SAMPLED_SHARE = 512,
};

struct pace {
    uint64_t window_ns; /* what a window's timing costs, times the share */
    bool sampled;
};
extern struct pace pace RECORD_HIDDEN;

void pace_set(bool sampled, uint64_t timed_cost_ticks);

/* Whether this uncontended acquisition is to be timed; the thread is not inside. */
static inline bool pace_is_due(struct recording *me)
{
    if (pace.sampled)
        return record_here.skip <= 0;
    if (me->until_timed > 1) {
        me->until_timed--;
        return false;
    }
    return true;
}

/* It is: how many it stands for. The next is drawn at once, so that those that are
 * made before this one is over have the same chance. The thread is inside. */
uint32_t pace_take(struct recording *me);

/* Behind it. */
void pace_adapt(struct recording *me);

#endif
