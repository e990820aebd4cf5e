/* SPDX-License-Identifier: MIT */
#include "profiler/record/record_acquire.h"

#include "profiler/record/between.h"
#include "profiler/record/misuse.h"
#include "profiler/threads/perf_counters.h"
#include "profiler/threads/lock_counts.h"
#include "profiler/threads/order_cache.h"
#include "profiler/threads/sampling_rate.h"
#include "profiler/store/lock_registry.h"
#include "profiler/threads/stack_cache.h"
#include "profiler/record/sums.h"
#include "profiler/threads/preemption.h"
#include "profiler/threads/published_wait.h"

#include <sched.h>

void acquire_prepare(struct record_acquisition *a, struct recording *me,
                     const void *object, const struct record_as *as, void *caller)
{
    uintptr_t key = record_key(object, as->operation);
    a->me = me;
    a->waits = a->perhaps = false;
    a->operation = as->operation;
    a->caller = caller;
    a->hold = (struct record_hold){.key = key, .weight = 1};
    a->hold.count = lock_counts_find(me, key, as, caller);
    a->hold.use = site_stats_of(a->hold.count);
    a->hold.lock = a->hold.count->lock;
}

static void see_migration(struct recording *me)
{
    int cpu = sched_getcpu();
    me->shared->migrations += cpu != me->cpu;
    me->cpu = cpu;
}

/* Returns whether a lock that looks free is in a handover to a waiter. */
static bool is_handed_over(const struct recording *me, const void *object,
                           const struct record_as *as)
{
    if (as->operation != TRACE_LOCK || !record_handover_pending(object))
        return false;
    uint32_t lock = registry_find((uintptr_t)object);
    if (!lock || !load_relaxed(&registry_locks[lock].waiting))
        return false;
    for (uint32_t i = 0; i < me->depth; i++)
        if (me->hold[i].key == (uintptr_t)object)
            return false; /* the holder locks it again */
    return true;
}

bool record_acquire_begin(struct record_acquisition *a, const void *object,
                          const struct record_as *as, bool busy, void *caller)
{
    struct recording *me = record_me();
    if (!me)
        return false;
    between_ends(me, true);
    bool perhaps = !busy && is_handed_over(me, object, as);
    busy = busy || perhaps;
    bool due = !busy && sampling_is_due(me);
    if (sampling.sampled_mode && !busy && !due) { /* it was only inspected */
        record_here.skip--;
        return false;
    }
    const uint64_t began = busy || due ? overhead_begins(me) : 0;
    record_enter(me);
    acquire_prepare(a, me, object, as, caller);
    struct record_hold *hold = &a->hold;
    hold->contended = busy;
    a->perhaps = perhaps;
    hold->timed = busy || due;
    if (unlikely(load_relaxed(&misuse_handed_over)))
        misuse_forget_handed_over(me);
    if (me->depth)
        order_acquiring(me, hold->lock, as->operation == TRACE_READ, caller);
    if (busy)
        misuse_before_wait(me, hold->lock, object, as, caller);
    if (!hold->timed)
        return true;
    hold->stack = stack_take(me, caller);
    see_migration(me);
    hold->asked = ticks();
    hold->sampled = due;
    if (busy) {
        wait_for_lock(me, hold, as->operation);
        a->waits = true;
    } else {
        hold->weight = sampling_take(me);
        if (preemption_refresh(me, hold->asked))
            hold->asked = ticks();
    }
    hold->overhead = overhead_until(me, began, hold->asked);
    return true;
}

void acquire_push(struct recording *me, const struct record_hold *hold)
{
    uint32_t depth = me->depth;
    if (hold->timed) /* the release will write it */
        prefetch_for_write(&registry_locks[hold->lock].address);
    if (depth == RECORD_HOLDS)
        return;
    me->hold[depth] = *hold;
    me->depth = depth + 1;
    if (depth < TRACE_HELD)
        me->shared->held[depth] = hold->lock;
    me->shared->depth = depth + 1;
}

void acquire_count(struct recording *me, const struct record_hold *hold)
{
    uint32_t more = sampling.sampled_mode ? hold->weight : 1;
    hold->count->acquisitions += more;
    hold->use->acquisitions += more;
    if (hold->contended) {
        record_here.careful = RECORD_CAREFUL;
        hold->count->contended++;
        hold->use->contended++;
    }
    if (me->depth)
        hold->use->nested += more;
}

void record_acquire_end(struct record_acquisition *a, enum record_result result)
{
    struct recording *me = a->me;
    struct record_hold *hold = &a->hold;
    if (hold->timed) {
        if (unlikely(me->counter) && result == RECORD_GOT)
            perf_counters_section_begins(me, hold);
        /* The time of a fast acquisition shows where its cache line was. */
        hold->got = hold->sampled ? ticks_after_all() : ticks();
    }
    /* The lock had waiters, but was free for any thread. */
    if (a->perhaps && hold->got - hold->asked < RECORD_AT_ONCE)
        hold->contended = false;
    if (a->waits)
        wait_for_lock_ends(me);
    if (result == RECORD_GOT) {
        acquire_count(me, hold);
        acquire_push(me, hold);
        if (hold->contended)
            preemption_refresh(me, hold->got);
        record_leave(me);
        return;
    }
    if (result == RECORD_TIMED_OUT) {
        hold->use->timeouts++;
        sum_wait(me, hold);
    }
    if (hold->timed)
        overhead_ends(me, hold, hold->got);
    record_leave(me);
}
