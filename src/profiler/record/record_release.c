/* SPDX-License-Identifier: MIT */
/* Releases, and the sums written after them. */
#include "profiler/threads/hold_log.h"
#include "profiler/threads/perf_counters.h"
#include "profiler/threads/sampling_rate.h"
#include "profiler/store/lock_registry.h"
#include "profiler/record/between.h"
#include "profiler/record/sums.h"
#include "profiler/threads/preemption.h"

/* Removes the innermost hold of a key from the thread's holds. */
static bool take_out(struct recording *me, uintptr_t key, struct record_hold *hold)
{
    uint32_t index = me->depth;
    do
        if (index-- == 0)
            return false;
    while (me->hold[index].key != key);
    *hold = me->hold[index];
    uint32_t depth = me->depth - 1;
    for (uint32_t i = index; i < depth; i++) {
        me->hold[i] = me->hold[i + 1];
        if (i < TRACE_HELD)
            me->shared->held[i] = me->hold[i].lock;
    }
    light_barrier(); /* a signal handler that locks uses the next element */
    me->depth = depth;
    me->shared->depth = depth;
    return true;
}

/* Measures the handover since the release that was waited for, if that was timed. */
static void see_handover(struct record_hold *hold, uint64_t released)
{
    if (hold->lock && hold->contended && released > hold->asked && released < hold->got)
        hold->handover = hold->got - released;
}

/* Reads the previous holder's data and leaves the next holder's. Called while the lock
 * is held. */
static void leave_word(struct recording *me, struct record_release *r)
{
    struct registry_lock *lock = &registry_locks[r->hold.lock];
    see_handover(&r->hold, lock->released);
    uint32_t node = node_count() > 1 ? current_node() + 1 : 1;
    r->owner_changed = lock->owner && lock->owner != me->thread;
    r->node_changed = lock->node && lock->node != node;
    lock->owner = me->thread;
    lock->node = node;
    r->released = ticks();
    lock->released = r->released;
}

bool record_release_begin(struct record_release *r, uintptr_t key)
{
    struct recording *me = record_here.me;
    if (!me || !take_out(me, key, &r->hold))
        return false;
    if (!r->hold.timed) {
        if (sampling.sampled_mode)
            record_here.watching = me->depth;
        return false;
    }
    record_enter(me);
    r->me = me;
    r->outermost = me->depth == 0;
    leave_word(me, r);
    return true;
}

/* The holds that this one represents were made since the last timed one. If it was
 * interrupted, they would not all fit into that time, so its weight is reduced. */
static void limit_weight(const struct recording *me, struct record_release *r)
{
    uint64_t held = hold_duration(r), since = sum_since_sampled(me, &r->hold);
    if (held * (r->hold.weight - 1) > since)
        r->hold.weight = 1 + (uint32_t)(since / held);
}

void record_release_end(struct record_release *r)
{
    struct recording *me = r->me;
    uint64_t now = ticks();
    if (unlikely(r->hold.section))
        perf_counters_section_ends(me, &r->hold);
    if (r->hold.sampled)
        limit_weight(me, r);
    if (r->hold.contended)
        sum_wait(me, &r->hold);
    sum_hold(me, r);
    hold_log_add(me, r->hold.lock, r->hold.got, r->released);
    preemption_judge(me, r->hold.got, r->released);
    if (r->outermost)
        sum_section(me, &r->hold, now);
    if (r->hold.sampled)
        me->timed_until = now;
    overhead_ends(me, &r->hold, now);
    if (r->hold.sampled && r->outermost)
        between_begins(me, &r->hold);
    record_leave(me);
}
