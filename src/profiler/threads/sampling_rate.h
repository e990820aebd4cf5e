/* SPDX-License-Identifier: MIT */
/*
 * How often an uncontended acquisition is timed.
 *
 * One in about `period`, at random, so that no rhythm of the program hides from it;
 * each stands for `period` of them. The period doubles when timing takes more than its
 * share of the thread's CPU time (of the time that it lives it would be nothing, for
 * most sleep most of the time), and halves when it takes far less: a thread that locks
 * rarely is timed in full. What timing takes is measured as it goes (own.h).
 */
#ifndef HASP_PROFILER_THREADS_SAMPLING_RATE_H
#define HASP_PROFILER_THREADS_SAMPLING_RATE_H

#include "profiler/threads/overhead.h"

enum {
    SAMPLING_WINDOW = 32,       /* timed operations between two looks at the period */
    SAMPLING_LONGEST = 1 << 14, /* period */
    /* Timing may take one part in so many of the time. */
    SAMPLING_FULL_SHARE = 256,
    SAMPLING_SAMPLED_SHARE = 512,
};

struct sampling {
    uint64_t share;
    uint64_t counted_sixteenths; /* of a tick, that one that is only counted takes */
    bool sampled_mode;
};
extern struct sampling sampling RECORD_HIDDEN;

void sampling_set_mode(bool sampled);

/* Whether this uncontended acquisition is to be timed; the thread is not inside. */
static inline bool sampling_is_due(struct recording *me)
{
    if (sampling.sampled_mode)
        return record_here.skip <= 0;
    if (me->until_timed > 1) {
        me->until_timed--;
        return false;
    }
    return true;
}

/* It is: how many it stands for. The next is drawn at once, so that those that are
 * made before this one is over have the same chance. The thread is inside. */
uint32_t sampling_take(struct recording *me);

/* Behind it, when it has taken so many ticks. */
void sampling_adapt(struct recording *me, uint64_t took);

/* The recorder is done with a timed operation, whose lock's part ended at `since`. */
static inline void overhead_ends(struct recording *me, const struct record_hold *hold,
                                 uint64_t since)
{
    uint64_t took =
        hold->overhead + overhead_part(ticks() - since) + calibrated.unseen_ticks;
    me->shared->overhead_ticks += took;
    if (hold->sampled)
        sampling_adapt(me, took);
}

#endif
