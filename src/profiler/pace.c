/* SPDX-License-Identifier: MIT */
#include "profiler/pace.h"

#include "profiler/clock.h"
#include "profiler/confined.h"

struct pace pace = {.window_ns = 100 * PACE_WINDOW * PACE_FULL_SHARE};

void pace_set(bool sampled, uint64_t timed_cost_ticks)
{
    uint64_t share = sampled ? PACE_SAMPLED_SHARE : PACE_FULL_SHARE;
    pace.sampled = sampled;
    pace.window_ns = ticks_to_ns(timed_cost_ticks * PACE_WINDOW * share);
}

static uint64_t cpu_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

void pace_adapt(struct recording *me)
{
    if (++me->window_timed < PACE_WINDOW || load_relaxed(&confined))
        return;
    uint64_t now = cpu_ns(), elapsed = now - me->window_began;
    if (elapsed < pace.window_ns && me->period < PACE_LONGEST)
        me->period *= 2;
    else if (elapsed > 4 * pace.window_ns && me->period > 1)
        me->period /= 2;
    me->window_began = now;
    me->window_timed = 0;
    if (!trace->sampler_hz) /* nobody else renews it */
        clock_read(&trace->latest);
}

uint32_t pace_take(struct recording *me)
{
    uint32_t weight = me->drawn;
    me->shared->counted += weight - 1;
    me->drawn = me->period;
    me->random ^= me->random << 13; /* xorshift (Marsaglia 2003) */
    me->random ^= me->random >> 17;
    me->random ^= me->random << 5;
    uint32_t interval = 1 + me->random % (2 * me->period - 1); /* `period` on average */
    if (pace.sampled)
        me->skip = (int32_t)interval - 1;
    else
        me->until_timed = interval;
    return weight;
}
