/* SPDX-License-Identifier: MIT */
/*
 * The counts and times of a thread's sections. They are written outside transactions
 * only: before one begins, and after it has committed or aborted.
 *
 * While somebody watches, or if settings.timed, the time from the call of the lock
 * function to the commit, or to the acquisition, is divided:
 *
 *   wait_ticks      until the lock was free, before each attempt
 *   abort_ticks     in transactions that aborted
 *   commit_ticks    in the one that committed
 *   fallback_ticks  acquiring the lock after all attempts
 *
 * C3. spent_ticks, from the first to the last reading of the clock, is their sum.
 */
#ifndef HASP_ELISION_ACCOUNT_H
#define HASP_ELISION_ACCOUNT_H

#include "elision/elided_lock.h"
#include "elision/thread.h"
#include "elision/watch.h"
#include "platform/htm.h"

static inline void count(uint64_t *events, uint64_t more)
{
    if (STATISTICS)
        *events += more;
}

static inline struct elision_counts *counts_of(struct elision_thread *me)
{
    static struct elision_counts uncounted;
    if (!STATISTICS)
        return &uncounted;
    if (unlikely(!me->counts)) {
        me->counts = elision_counts_claim();
        htm_thread_begins();
    }
    return me->counts;
}

static inline bool is_timed(void)
{
    return STATISTICS && unlikely(elision_settings.timed);
}

/* Begins to measure an attempt to elide. */
static inline void time_begins(struct elision_thread *me)
{
    if (is_timed())
        me->entered = me->since = ticks();
}

/* Ends an interval, and begins the next one. */
static inline void time_passes(struct elision_thread *me, uint64_t *to)
{
    if (!is_timed() || !me->entered)
        return;
    const uint64_t now = ticks();
    *to += now - me->since;
    me->since = now;
}

static inline void time_ends(struct elision_thread *me)
{
    if (!is_timed() || !me->entered)
        return;
    counts_of(me)->spent_ticks += me->since - me->entered;
    me->entered = 0;
}

static inline enum elision_side side_of(const struct elided *as)
{
    return !as->available ? ELISION_MUTEX
           : as->reads    ? ELISION_READERS
                          : ELISION_WRITERS;
}

/* Passes what the thread has counted since the last call to the watcher. */
static inline void tell_watcher(struct elision_thread *me, const struct lock *lock,
                                const struct elided *as, bool committed, bool emulated)
{
    if (!STATISTICS || likely(!elision_watcher))
        return;
    const struct elision_outcome outcome = {
        .lock = me->alias ? me->alias : lock,
        .side = side_of(as),
        .committed = committed,
        .emulated = emulated,
        .inner_count = committed || emulated ? me->inner_count : 0,
        .inner = me->inner,
        .inner_sides = me->inner_sides,
        .counts = counts_of(me),
    };
    elision_watcher->ended(&outcome);
    elision_counts_keep(me->counts);
}

static inline void tell_acquires(struct elision_thread *me, const struct lock *lock,
                                 const struct elided *as)
{
    if (STATISTICS && unlikely(elision_watcher) && me->count == 0)
        elision_watcher->acquires(me->alias ? me->alias : lock, !is_free(lock, as));
}

static inline void add_inner(struct elision_thread *me, const struct lock *lock,
                             enum elision_side side)
{
    if (!STATISTICS || likely(!elision_watcher) || me->inner_count == ELISION_LOCKS)
        return;
    me->inner_sides[me->inner_count] = (uint8_t)side;
    me->inner[me->inner_count++] = lock;
}

static inline void count_abort(struct elision_thread *me, uint32_t status)
{
    struct elision_counts *counts = counts_of(me);
    time_passes(me, &counts->abort_ticks);
    count(&counts->aborts[elision_cause(status)], 1);
    if (status & HTM_NESTED)
        count(&counts->nested_aborts, 1);
}

static inline void count_commit(struct elision_thread *me)
{
    struct elision_counts *counts = counts_of(me);
    const unsigned most = ELISION_ATTEMPTS - 1;
    time_passes(me, &counts->commit_ticks);
    time_ends(me);
    count(&counts->commits, 1);
    count(&counts->elided, me->sections);
    count(&counts->committed_after[me->failed < most ? me->failed : most], 1);
    count(&counts->levels[me->deepest - 1], 1);
    tell_watcher(me, me->outer, me->outer_as, true, false);
}

/* After a lock was acquired, or could not be, while the thread elides none. */
static inline void count_acquired(struct elision_thread *me, const struct lock *lock,
                                  const struct elided *as, bool acquired)
{
    struct elision_counts *counts = counts_of(me);
    if (is_timed() && me->entered) {
        time_passes(me, &counts->fallback_ticks);
        time_ends(me);
        count(&counts->fallbacks, acquired);
    }
    count(&counts->acquired, acquired);
    tell_watcher(me, lock, as, false, false);
}

#endif
