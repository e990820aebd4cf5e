/* SPDX-License-Identifier: MIT */
/*
 * Test-and-test-and-set. L. Rudolph, Z. Segall, "Dynamic decentralized cache schemes
 * for MIMD parallel processors", ISCA 1984; T. Anderson, "The performance of spin lock
 * alternatives for shared-memory multiprocessors", TPDS 1990.
 *
 * Idea: read until free, so that waiters spin in their own caches, then try one
 * exchange.
 *
 *   state[0]  0 free, 1 held
 *
 * I1. 0 -> 1 only by the exchange of the new holder (acquire), 1 -> 0 only by the
 *     holder's store (release); they pair with each other.
 */
#ifndef HASP_LOCKS_TTAS_H
#define HASP_LOCKS_TTAS_H

#include "locks/waiting.h"

static inline bool ttas_fast(struct lock *lock)
{
    return acquire_if(&lock->state[0], 0, 1);
}

static inline bool ttas_trylock(struct lock *lock)
{
    return load_relaxed(&lock->state[0]) == 0 && ttas_fast(lock);
}

static inline bool ttas_timedlock(struct lock *lock, const struct deadline *deadline)
{
    if (ttas_fast(lock))
        return true;
    struct spinner spinner = {0, 0};
    while (load_relaxed(&lock->state[0]) != 0 ||
           exchange_acquire(&lock->state[0], 1) != 0)
        if (!spinner_turn(&spinner, deadline))
            return false;
    return true;
}

static inline void ttas_lock(struct lock *lock)
{
    ttas_timedlock(lock, NULL);
}

static inline void ttas_unlock(struct lock *lock)
{
    store_release(&lock->state[0], 0);
    release_window();
}

static inline void ttas_before_release(struct lock *lock)
{
    (void)lock; /* no queue, no ghosts */
}

static inline void ttas_destroy(struct lock *lock)
{
    (void)lock;
}

#endif
