/* SPDX-License-Identifier: MIT */
#include "profiler/threads/preemption.h"

#include <sys/resource.h>

uint64_t preemption_long_ticks = 1 << 18;
uint64_t preemption_fresh_ticks = 1 << 20;

void preemption_prepare(void)
{
    const uint64_t ns_of_million = ticks_to_ns(1000000);
    preemption_long_ticks = 100000ull * 1000000 / ns_of_million;
    preemption_fresh_ticks = 5 * preemption_long_ticks;
}

void preemption_read(struct recording *me, uint64_t now)
{
    struct rusage usage;
    if (getrusage(RUSAGE_THREAD, &usage) == 0)
        me->involuntary_seen = (uint64_t)usage.ru_nivcsw;
    me->involuntary_read_at = now;
}

void preemption_judge_long(struct recording *me, uint64_t released)
{
    uint64_t before = me->involuntary_seen;
    preemption_read(me, released);
    me->shared->long_holds++;
    if (me->involuntary_seen != before)
        me->shared->preempted_holds++;
}
