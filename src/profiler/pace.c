/* SPDX-License-Identifier: MIT */
#include "profiler/pace.h"

struct pace pace = {.window_ticks = 300 * PACE_WINDOW * PACE_FULL_SHARE};

void pace_set(bool sampled, uint64_t timed_cost_ticks)
{
    uint64_t share = sampled ? PACE_SAMPLED_SHARE : PACE_FULL_SHARE;
    pace.sampled = sampled;
    pace.window_ticks = (uint32_t)(timed_cost_ticks * PACE_WINDOW * share);
}

static void adapt(struct recording *me, uint64_t now)
{
    uint64_t elapsed = now - me->window_began;
    if (elapsed < pace.window_ticks && me->period < PACE_LONGEST)
        me->period *= 2;
    else if (elapsed > 4 * (uint64_t)pace.window_ticks && me->period > 1)
        me->period /= 2;
    me->window_began = now;
    me->window_timed = 0;
}

void pace_next(struct recording *me, uint64_t now)
{
    me->shared->counted += me->period - 1;
    if (++me->window_timed == PACE_WINDOW)
        adapt(me, now);
    me->random ^= me->random << 13; /* xorshift (Marsaglia 2003) */
    me->random ^= me->random >> 17;
    me->random ^= me->random << 5;
    uint32_t interval = 1 + me->random % (2 * me->period - 1); /* `period` on average */
    if (pace.sampled)
        me->skip = (int32_t)interval - 1;
    else
        me->until_timed = interval;
}
