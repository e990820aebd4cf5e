/* SPDX-License-Identifier: MIT */
#include "simulator/fairness.h"

enum { HOT_US = 500, TICKS_UNTIL_MOVED = 4 };

static bool weighs_lag(void)
{
    return machine.scheduler.fairness == FAIRNESS_LAG;
}

/* A thread that has slept for long counts as if it had had less than others by half a
 * round. With FAIRNESS_CREDIT, no thread keeps an excess. A round is a slice for each
 * of two threads, the granularity a sixth of a round (sched_latency,
 * GENTLE_FAIR_SLEEPERS, sched_wakeup_granularity). */
bool fairness_preempts(struct schedule *schedule, uint64_t other)
{
    enum { GRANULARITIES = 6 };
    const uint64_t round = 2 * machine.scheduler.slice;
    const uint64_t least = other > round / 2 ? other - round / 2 : 0;
    schedule->served = later(least, schedule->served);
    if (weighs_lag())
        return other >= schedule->served;
    if (schedule->served > other)
        schedule->served = other;
    return other - schedule->served > round / GRANULARITIES;
}

bool fairness_moves(const struct schedule *schedule, uint64_t idle_for, uint64_t now)
{
    const uint64_t hot = HOT_US * machine.clock_khz / 1000;
    return !weighs_lag() || now >= schedule->off_since + hot ||
           idle_for >= TICKS_UNTIL_MOVED * machine.scheduler.slice;
}
