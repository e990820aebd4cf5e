/* SPDX-License-Identifier: MIT */
#include "profiler/waits.h"

#include "profiler/counts.h"
#include "profiler/edges.h"
#include "profiler/pace.h"
#include "profiler/registry.h"
#include "profiler/stacks.h"
#include "profiler/uses.h"
#include "profiler/waiters.h"

#include <pthread.h>
#include <string.h>

/* Waiters by a hash of the lock's address: most look-ups end here, in the cache. */
enum { PLACES = 1024 };
static struct atomic_u32 waiting_at[PLACES];

static struct atomic_u32 *place_of(uintptr_t address)
{
    return &waiting_at[(address * 0x9e3779b97f4a7c15u >> 32) % PLACES];
}

bool record_is_waited_for(const void *object)
{
    return load_relaxed(place_of((uintptr_t)object)) != 0;
}

void waits_forget(void)
{
    memset(waiting_at, 0, sizeof waiting_at);
}

void wait_publish(struct recording *me, const struct record_hold *hold,
                  enum trace_operation operation)
{
    struct trace_thread *shared = me->shared;
    me->waiting_use = hold->use;
    shared->waiting_to = operation;
    shared->waiting_since = hold->asked;
    shared->stack = hold->stack;
    store_release((struct atomic_u32 *)(void *)&shared->waiting_for, hold->lock);
}

void wait_withdraw(struct recording *me)
{
    store_relaxed((struct atomic_u32 *)(void *)&me->shared->waiting_for, 0);
}

void wait_for_lock(struct recording *me, const struct record_hold *hold,
                   enum trace_operation operation)
{
    me->waited_for = hold->lock;
    if (record_hands_over) {
        me->waits_at = place_of(record_address(hold->key, operation));
        fetch_add_relaxed(me->waits_at, 1);
        fetch_add_relaxed(&registry_locks[hold->lock].waiting, 1);
    }
    wait_publish(me, hold, operation);
}

void wait_for_lock_ends(struct recording *me)
{
    wait_withdraw(me);
    if (!me->waits_at)
        return;
    fetch_add_relaxed(&registry_locks[me->waited_for].waiting, -1u);
    fetch_add_relaxed(me->waits_at, -1u);
    me->waits_at = NULL;
}

/* The mutex is about to be released by the wait: its hold ends here. */
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
    if (mutex)
        end_hold(w, me);
    record_enter(me);
    w->me = me;
    w->hold = (struct record_hold){.key = (uintptr_t)object, .weight = 1};
    w->hold.count = counts_find(me, w->hold.key, as, caller);
    w->hold.use = use_of(w->hold.count);
    w->hold.lock = w->hold.count->lock;
    w->hold.stack = stack_take(me, caller);
    if (me->depth && mutex) /* it will be taken again */
        edges_acquiring(me, registry_find((uintptr_t)mutex), false, caller);
    if (mutex)
        waiters_begin(w->hold.lock);
    w->hold.asked = ticks();
    wait_publish(me, &w->hold, as->operation);
    return true;
}

/* The wait has taken the mutex again. */
static void begin_hold(struct record_wait *w, uint64_t now)
{
    static const struct record_as as_mutex = {TRACE_MUTEX, TRACE_LOCK,
                                              sizeof(pthread_mutex_t), 0};
    struct recording *me = w->me;
    uintptr_t key = (uintptr_t)w->mutex;
    if (me->depth == RECORD_HOLDS)
        return;
    struct record_hold hold = {.key = key, .timed = true, .weight = 1, .asked = now};
    hold.got = now;
    hold.count = counts_find(me, key, &as_mutex, w->caller);
    hold.lock = hold.count->lock;
    hold.use = use_find(me, hold.count->site, TRACE_RELOCK, TRACE_MUTEX);
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
    struct trace_use *use = w->hold.use;
    wait_withdraw(me);
    if (w->mutex)
        waiters_end(w->hold.lock, timed_out);
    use->acquisitions++;
    use->timeouts += timed_out;
    use->wait_ticks += waited;
    if (waited > use->wait_most)
        use->wait_most = waited;
    use->wait.bucket[trace_bucket(waited)]++;
    me->shared->idle_ticks += waited;
    if (w->hold.count)
        w->hold.count->acquisitions++;
    /* In sampled mode, too: waits are never passed over. */
    if (w->mutex_was_held || (w->mutex && pace.sampled))
        begin_hold(w, now);
    record_leave(me);
}

void record_signal(const void *object, const struct record_as *as, bool broadcast,
                   void *caller)
{
    struct recording *me = record_me();
    if (!me)
        return;
    record_enter(me);
    const struct trace_count *count = counts_find(me, (uintptr_t)object, as, caller);
    struct trace_use *use = use_of(count);
    waiters_woken(count->lock, broadcast);
    if (broadcast)
        use->broadcasts++;
    else
        use->signals++;
    record_leave(me);
}
