/* SPDX-License-Identifier: MIT */
/*
 * Spin lock by repeated compare-and-set. T. Anderson, "The performance of spin lock
 * alternatives for shared-memory multiprocessors", TPDS 1990.
 *
 * Idea: the first thread whose compare-and-set finds the lock free holds it; the others
 * retry, without a pause between attempts and without reading first. A failed attempt
 * writes nothing. The backoff lock used by cohorts (cohort_levels.h) is the same,
 * except that it reads until the lock is free, and pauses for increasing times after
 * failed attempts.
 *
 *   taken, released  as in latch.h: equal when the lock is free
 *
 * I1. The lock is a latch, so L1 and L2 hold. The latch is never kept.
 *
 * Trylock: it reads first, and so does not request a cache line that it cannot use.
 */
#ifndef HASP_LOCKS_ALGORITHMS_SPINLOCK_H
#define HASP_LOCKS_ALGORITHMS_SPINLOCK_H

#include "locks/algorithms/latch.h"
#include "locks/algorithms/lock_defaults.h"
#include "locks/waiting/policies.h"

static inline struct latch *spinlock_latch(struct lock *lock)
{
    return (struct latch *)lock->state;
}

static inline bool spinlock_fast(struct lock *lock)
{
    return latch_take(spinlock_latch(lock));
}

static inline bool spinlock_trylock(struct lock *lock, bool back_off)
{
    (void)back_off;
    return latch_is_free(spinlock_latch(lock)) && spinlock_fast(lock);
}

static inline bool spinlock_timedlock(struct lock *lock, bool back_off,
                                      const struct deadline *deadline)
{
    if (spinlock_fast(lock))
        return true;
    struct spinner spinner = {0, 0};
    uint32_t pause = BACKOFF_LEAST, spins = 1;
    while (spinner_spin_many(&spinner, spins, deadline)) {
        spins = 1;
        if (back_off && !latch_is_free(spinlock_latch(lock)))
            continue;
        if (spinlock_fast(lock))
            return true;
        if (back_off)
            spins = next_pause(&pause, spin_limit());
    }
    return false;
}

static inline void spinlock_lock(struct lock *lock, bool back_off)
{
    spinlock_timedlock(lock, back_off, NULL);
}

static inline void spinlock_unlock(struct lock *lock, bool back_off)
{
    (void)back_off;
    latch_release(spinlock_latch(lock), 0);
}

static inline void spinlock_before_release(struct lock *lock)
{
    (void)lock; /* there is no queue to repair */
}

DEFAULT_DESTROY(spinlock)

#endif
