/* SPDX-License-Identifier: MIT */
/*
 * Spin lock by compare-and-set, again and again. T. Anderson, "The performance of spin
 * lock alternatives for shared-memory multiprocessors", TPDS 1990.
 *
 * Idea: whoever finds the lock free and is the first to say so has it; the others try
 * on, without a pause between attempts and without a look before them. An attempt
 * that fails writes nothing.
 *
 *   taken, released  as in latch.h: equal when the lock is free
 *
 * I1. The lock is the latch, with its invariants L1 and L2. It is never kept.
 *
 * Trylock: looks first, and so asks for no cache line that it cannot use.
 */
#ifndef HASP_LOCKS_SPINLOCK_H
#define HASP_LOCKS_SPINLOCK_H

#include "locks/latch.h"
#include "locks/waiting.h"

static inline struct latch *spinlock_latch(struct lock *lock)
{
    return (struct latch *)lock->state;
}

static inline bool spinlock_fast(struct lock *lock)
{
    return latch_take(spinlock_latch(lock));
}

static inline bool spinlock_trylock(struct lock *lock)
{
    return latch_is_free(spinlock_latch(lock)) && spinlock_fast(lock);
}

static inline bool spinlock_timedlock(struct lock *lock,
                                      const struct deadline *deadline)
{
    struct spinner spinner = {0, 0};
    while (!spinlock_fast(lock))
        if (!spinner_turn(&spinner, deadline))
            return false;
    return true;
}

static inline void spinlock_lock(struct lock *lock)
{
    spinlock_timedlock(lock, NULL);
}

static inline void spinlock_unlock(struct lock *lock)
{
    latch_release(spinlock_latch(lock), 0);
}

static inline void spinlock_before_release(struct lock *lock)
{
    (void)lock; /* no queue, no ghosts */
}

static inline void spinlock_destroy(struct lock *lock)
{
    (void)lock;
}

#endif
