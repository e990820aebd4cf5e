/* SPDX-License-Identifier: MIT */
/* Waits on condition variables and barriers. */
#include "profiler/record/between.h"
#include "profiler/record/condition_waiters.h"
#include "profiler/record/record.h"
#include "profiler/threads/lock_counts.h"
#include "profiler/threads/order_cache.h"
#include "profiler/threads/sampling_rate.h"
#include "profiler/threads/site_stats.h"
#include "profiler/threads/stack_cache.h"

#include <pthread.h>

/* Returns whether the thread waits on the condition variable that last woke it, and has
 * not released the mutex since. */
static bool waits_again(const struct recording *me, const void *object,
                        const void *mutex)
{
    if (!mutex || me->woken_on != object)
        return false;
    for (uint32_t i = me->depth; i-- > 0;)
        if (me->hold[i].key == (uintptr_t)mutex)
            return me->hold[i].timed && me->hold[i].got == me->woken_at;
    return false;
}

/* Ends the hold of the mutex that the wait is about to release. */
static void end_hold(struct record_wait *w, struct recording *me)
{
    struct record_release r;
    uintptr_t key = (uintptr_t)w->mutex;
    uint32_t before = me->depth;
    if (record_release_begin(&r, key))
        record_release_end(&r);
    w->mutex_was_held = me->depth != before;
}

bool record_wait_begin(struct record_wait *w, const void *object,
                       const struct record_as *as, const void *mutex, void *caller)
{
    struct recording *me = record_me();
    if (!me)
        return false;
    w->mutex = mutex;
    w->caller = caller;
    w->mutex_was_held = false;
    const bool again = waits_again(me, object, mutex);
    me->woken_on = NULL;
    if (mutex)
        end_hold(w, me);
    between_ends(me, false);
    record_enter(me);
    w->me = me;
    w->hold = (struct record_hold){.key = (uintptr_t)object, .weight = 1};
    w->hold.count = lock_counts_find(me, w->hold.key, as, caller);
    w->hold.use = site_stats_of(w->hold.count);
    w->hold.lock = w->hold.count->lock;
    w->hold.use->futile_wakes += again;
    w->hold.stack = stack_take(me, caller);
    if (me->depth && mutex) /* the wait will acquire it again */
        order_acquiring(me, registry_find((uintptr_t)mutex), false, caller);
    if (mutex)
        condition_waiters_begin(w->hold.lock);
    w->hold.asked = ticks();
    wait_publish(me, &w->hold, as->operation);
    return true;
}

/* Begins a hold of the mutex that the wait has acquired again. */
static void begin_hold(struct record_wait *w, uint64_t now)
{
    static const struct record_as as_mutex = {TRACE_MUTEX, TRACE_LOCK,
                                              sizeof(pthread_mutex_t), 0};
    struct recording *me = w->me;
    uintptr_t key = (uintptr_t)w->mutex;
    if (me->depth == RECORD_HOLDS)
        return;
    struct record_hold hold = {.key = key, .timed = true, .weight = 1, .asked = now};
    hold.stack = w->hold.stack;
    hold.got = now;
    hold.count = lock_counts_find(me, key, &as_mutex, w->caller);
    hold.lock = hold.count->lock;
    hold.use = site_stats_find(me, hold.count->site, TRACE_RELOCK, TRACE_MUTEX);
    hold.use->acquisitions++;
    hold.count->acquisitions++;
    if (me->depth < TRACE_HELD)
        me->shared->held[me->depth] = hold.lock;
    me->hold[me->depth++] = hold;
    me->shared->depth = me->depth;
}

void record_wait_end(struct record_wait *w, bool timed_out)
{
    struct recording *me = w->me;
    uint64_t now = ticks(), waited = now - w->hold.asked;
    struct trace_site_stats *use = w->hold.use;
    wait_withdraw(me);
    if (w->mutex)
        condition_waiters_end(w->hold.lock, timed_out);
    use->acquisitions++;
    use->timeouts += timed_out;
    use->wait_ticks += waited;
    if (waited > use->wait_most)
        use->wait_most = waited;
    use->wait.bucket[trace_bucket(waited)]++;
    me->shared->idle_ticks += waited;
    if (w->hold.count)
        w->hold.count->acquisitions++;
    /* This holds in sampled mode too, because waits are never skipped. */
    if (w->mutex_was_held || (w->mutex && sampling.sampled_mode))
        begin_hold(w, now);
    if (!timed_out) {
        me->woken_on = (const void *)w->hold.key;
        me->woken_at = now;
    }
    record_leave(me);
}

void record_signal(const void *object, const struct record_as *as, bool broadcast,
                   void *caller)
{
    struct recording *me = record_me();
    if (!me)
        return;
    record_enter(me);
    const struct trace_lock_count *count =
        lock_counts_find(me, (uintptr_t)object, as, caller);
    struct trace_site_stats *use = site_stats_of(count);
    const uint32_t woken = condition_waiters_wake(count->lock, broadcast);
    use->empty_signals += woken == 0;
    if (broadcast) {
        use->broadcasts++;
        use->woken_by_broadcast += woken;
    } else {
        use->signals++;
        use->woken_by_signal += woken;
    }
    me->woken_on = NULL;
    record_leave(me);
}
