/* SPDX-License-Identifier: MIT */
/* Trylock. */
#include "profiler/record/record_acquire.h"

#include "profiler/record/between.h"
#include "profiler/threads/lock_counts.h"
#include "profiler/threads/order_cache.h"
#include "profiler/threads/sampling_rate.h"
#include "profiler/threads/stack_cache.h"
#include "profiler/threads/preemption.h"

#include <sys/resource.h>

/* Returns how often the thread has gone to sleep by itself. */
static uint64_t sleeps_so_far(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? (uint64_t)usage.ru_nvcsw : 0;
}

/* Adds the time since the last failure. After a long time it counts only if the thread
 * slept: otherwise it worked, and did not wait for the lock. The system call takes far
 * less than such a time. */
static void add_trying(struct recording *me, struct trace_site_stats *use)
{
    const uint64_t now = ticks(), since = now - me->failed_at;
    const bool again = me->failing == use && me->failing_run;
    bool waited = since < preemption_long_ticks;
    if (!waited) {
        const uint64_t sleeps = sleeps_so_far();
        waited = sleeps != me->failed_sleeps;
        me->failed_sleeps = sleeps;
    }
    if (again && waited)
        use->trying_ticks += since;
    me->failed_at = now;
}

/* Counts a trylock and the thread's run of failures on locks of this site. */
static void count_try(struct recording *me, struct trace_site_stats *use, uint32_t more,
                      bool got)
{
    use->trylocks += more;
    if (!got || unlikely(me->failing == use && me->failing_run))
        add_trying(me, use);
    if (got || me->failing != use) {
        me->failing = use;
        me->failing_run = 0;
    }
    if (got)
        return;
    use->trylock_failures += more;
    me->failing_run += more;
    if (me->failing_run > use->longest_failing_run)
        use->longest_failing_run = me->failing_run;
}

struct trace_lock_count *record_count_trylock(const void *object)
{
    struct recording *me = record_here.me;
    if (!me || me->until_timed <= 1 || me->depth == RECORD_HOLDS)
        return NULL;
    const uintptr_t key = (uintptr_t)object;
    struct trace_lock_count *count = (void *)(me->counts + record_slot(me, key));
    if (count->address != key)
        return NULL;
    me->until_timed--;
    return count;
}

/* Finds the entry again if a signal handler has evicted it. */
static struct trace_lock_count *still(struct recording *me,
                                      struct trace_lock_count *count,
                                      const void *object, const struct record_as *as,
                                      void *caller)
{
    if (likely(count->address == (uintptr_t)object))
        return count;
    record_enter(me);
    count = lock_counts_find(me, (uintptr_t)object, as, caller);
    record_leave(me);
    return count;
}

static void note_order(struct recording *me, uint32_t lock, void *caller)
{
    if (order_is_known(me, lock, true, caller))
        return;
    record_enter(me);
    order_acquired_by_trylock(me, lock, caller);
    record_leave(me);
}

void record_count_trylock_result(struct trace_lock_count *count, const void *object,
                                 const struct record_as *as, bool got, void *caller)
{
    struct recording *me = record_here.me;
    if (!me)
        return;
    count = still(me, count, object, as, caller);
    count_try(me, site_stats_of(count), 1, got);
    if (!got)
        return;
    count->acquisitions++;
    site_stats_of(count)->acquisitions++;
    if (me->depth) {
        site_stats_of(count)->nested++;
        note_order(me, count->lock, caller);
    }
    lock_counts_hold(me, (uintptr_t)object, count->lock);
}

bool record_trylock_begin(struct record_acquisition *a, const void *object,
                          const struct record_as *as, void *caller)
{
    struct recording *me = record_me();
    if (!me)
        return false;
    between_ends(me, true);
    bool due = sampling_is_due(me);
    const uint64_t began = due ? overhead_begins(me) : 0;
    record_enter(me);
    acquire_prepare(a, me, object, as, caller);
    a->hold.timed = a->hold.sampled = due;
    if (due) {
        a->hold.weight = sampling_take(me);
        a->hold.stack = stack_take(me, caller);
        a->hold.asked = ticks();
        if (preemption_refresh(me, a->hold.asked))
            a->hold.asked = ticks();
        a->hold.overhead = overhead_until(me, began, a->hold.asked);
    }
    return true;
}

void record_trylock_end(struct record_acquisition *a, bool got)
{
    struct recording *me = a->me;
    struct record_hold *hold = &a->hold;
    if (hold->timed)
        hold->got = ticks();
    count_try(me, hold->use, sampling.sampled_mode ? hold->weight : 1, got);
    if (got) {
        if (me->depth)
            order_acquired_by_trylock(me, hold->lock, a->caller);
        acquire_count(me, hold);
        acquire_push(me, hold);
    } else if (hold->timed) {
        overhead_ends(me, hold, hold->got);
    }
    record_leave(me);
}
