/* SPDX-License-Identifier: MIT */
#include "profiler/pace.h"

struct pace pace = {.window_ticks = 300 * PACE_WINDOW * PACE_FULL_SHARE};

void pace_set(bool sampled, uint64_t timed_cost_ticks)
{
    uint64_t share = sampled ? PACE_SAMPLED_SHARE : PACE_FULL_SHARE;
    pace.sampled = sampled;
    pace.window_ticks = (uint32_t)(timed_cost_ticks * PACE_WINDOW * share);
}

void pace_adapt(struct recording *me, uint64_t now)
{
    if (++me->window_timed < PACE_WINDOW)
        return;
    uint64_t elapsed = now - me->window_began;
    if (elapsed < pace.window_ticks && me->period < PACE_LONGEST)
        me->period *= 2;
    else if (elapsed > 4 * (uint64_t)pace.window_ticks && me->period > 1)
        me->period /= 2;
    me->window_began = now;
    me->window_timed = 0;
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
