/* SPDX-License-Identifier: MIT */
#include "profiler/record/between.h"

#include "profiler/record/record.h"
#include "profiler/store/series.h"

/* Fewer measurements show no distribution, and threads that lock so rarely may be many,
 * and need the space in the file for other things. */
enum { BETWEEN_LEAST = 64, BETWEEN_MOST = 1 << 16 };

SERIES(records, TRACE_BETWEEN, struct trace_between, BETWEEN_MOST);

void between_begins(struct recording *me, const struct record_hold *hold)
{
    me->between_weight = hold->weight;
    if (sampling.sampled_mode) {
        me->between_left = (uint32_t)me->skip;
        me->skip = 0;
    } else {
        me->between_left = me->until_timed;
        me->until_timed = 1;
    }
    me->between_since = ticks();
}

/* Returns the thread's sums, which move to the file when they are enough. */
static struct trace_between *sums_of(struct recording *me)
{
    struct trace_between *own = &me->between_own;
    if (!me->between && own->timed == BETWEEN_LEAST) {
        uint32_t number;
        record_enter(me);
        own->thread = me->thread;
        me->between = series_append(&records, own, &number);
        record_leave(me);
    }
    return me->between ? me->between : own;
}

void between_forget(void)
{
    series_forget(&records);
}

void between_end(struct recording *me, bool acquires)
{
    const uint64_t since = me->between_since;
    me->between_since = 0;
    if (sampling.sampled_mode)
        record_here.skip = (int32_t)me->between_left;
    else
        me->until_timed = me->between_left;
    if (!acquires)
        return;
    const uint64_t took = calibrated_ticks(ticks() - since, calibrated.between_ticks);
    struct trace_between *sums = sums_of(me);
    sums->timed++;
    sums->between_ticks += took * me->between_weight;
    sums->between.bucket[trace_bucket(took)] += me->between_weight;
    me->shared->overhead_ticks += calibrated.inspecting_ticks;
    me->window_ticks += calibrated.inspecting_ticks;
}
