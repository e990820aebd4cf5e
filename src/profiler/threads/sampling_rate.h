/* SPDX-License-Identifier: MIT */
/*
 * The rate at which uncontended acquisitions are timed.
 *
 * About one in `period` is sampled, at random so that a periodic program cannot evade
 * it, and represents `period` acquisitions. The period doubles when timing takes more
 * than its share of the thread's CPU time, and halves when it takes far less, so a
 * thread that rarely locks is timed in full. The cost of timing is measured
 * continuously (overhead.h). CPU time is the base because most threads sleep most of
 * the time.
 */
#ifndef HASP_PROFILER_THREADS_SAMPLING_RATE_H
#define HASP_PROFILER_THREADS_SAMPLING_RATE_H

#include "profiler/threads/overhead.h"

enum {
    SAMPLING_WINDOW = 32,       /* timed operations per adjustment */
    SAMPLING_LONGEST = 1 << 14, /* period */
    /* Timing may take 1/share of the CPU time. */
    SAMPLING_FULL_SHARE = 256,
    SAMPLING_SAMPLED_SHARE = 512,
};

struct sampling {
    uint64_t share;
    uint64_t counted_sixteenths; /* cost in ticks of a counted operation */
    bool sampled_mode;
};
extern struct sampling sampling RECORD_HIDDEN;

void sampling_set_mode(bool sampled);

/* Returns whether this uncontended acquisition is sampled. The caller is not inside the
 * recorder. */
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

/* Returns the number of acquisitions that a sampled one represents, and draws the next
 * one at once, so that acquisitions made before this one ends have the same chance. The
 * caller is inside the recorder. */
uint32_t sampling_take(struct recording *me);

/* Adjusts the period after a sampled operation whose recording took so many ticks. */
void sampling_adapt(struct recording *me, uint64_t took);

/* Ends the overhead of a timed operation. The lock's own part ended at `since`. */
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
