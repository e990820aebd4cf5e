/* SPDX-License-Identifier: MIT */
#include "profiler/threads/preemption.h"

#include <sys/resource.h>

uint64_t switches_long_ticks = 1 << 18;
uint64_t switches_fresh_ticks = 1 << 20;

void switches_prepare(void)
{
    const uint64_t ns_of_million = ticks_to_ns(1000000);
    switches_long_ticks = 100000ull * 1000000 / ns_of_million;
    switches_fresh_ticks = 5 * switches_long_ticks;
}

void switches_read(struct recording *me, uint64_t now)
{
    struct rusage usage;
    if (getrusage(RUSAGE_THREAD, &usage) == 0)
        me->switches_seen = (uint64_t)usage.ru_nivcsw;
    me->switches_at = now;
}

void switches_judge_long(struct recording *me, uint64_t released)
{
    uint64_t before = me->switches_seen;
    switches_read(me, released);
    me->shared->long_holds++;
    if (me->switches_seen != before)
        me->shared->preempted_holds++;
}
