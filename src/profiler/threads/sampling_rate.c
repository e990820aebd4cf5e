/* SPDX-License-Identifier: MIT */
#include "profiler/threads/sampling_rate.h"

#include "platform/xorshift.h"
#include "profiler/store/clock.h"
#include "profiler/threads/hold_log.h"

struct calibrated calibrated;
struct sampling sampling = {.share = SAMPLING_FULL_SHARE};

void sampling_set_mode(bool sampled)
{
    sampling.sampled_mode = sampled;
    sampling.share = sampled ? SAMPLING_SAMPLED_SHARE : SAMPLING_FULL_SHARE;
}

static uint64_t cpu_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Adjusts the period at the end of a window. */
static void judge(struct recording *me)
{
    const uint64_t began = ticks(), now = cpu_ns();
    const uint64_t least = ticks_to_ns(me->window_ticks) * sampling.share;
    const uint64_t elapsed = now - me->window_began;
    if (elapsed < least && me->period < SAMPLING_LONGEST)
        me->period *= 2;
    else if (elapsed > 4 * least && me->period > 1)
        me->period /= 2;
    me->window_began = now;
    me->window_timed = 0;
    if (!trace->sampler_hz) /* otherwise the sampler renews it */
        clock_read(&trace->latest);
    me->window_ticks = overhead_part(ticks() - began);
    me->shared->overhead_ticks += me->window_ticks;
}

void sampling_adapt(struct recording *me, uint64_t took)
{
    if (hold_log_is_active(me))
        return;
    me->window_ticks += took;
    if (++me->window_timed >= SAMPLING_WINDOW && !load_relaxed(&system_calls_forbidden))
        judge(me);
}

uint32_t sampling_take(struct recording *me)
{
    uint32_t weight = me->drawn;
    me->shared->counted += weight - 1;
    me->shared->overhead_ticks += (weight - 1) * sampling.counted_sixteenths / 16;
    me->drawn = hold_log_is_active(me) ? 1 : me->period;
    me->random = xorshift32(me->random);
    uint32_t interval = 1 + me->random % (2 * me->drawn - 1); /* mean: `drawn` */
    if (sampling.sampled_mode)
        me->skip = (int32_t)interval - 1;
    else
        me->until_timed = interval;
    return weight;
}
