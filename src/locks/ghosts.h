/* SPDX-License-Identifier: MIT */
/*
 * Ghosts: threads of the parent that stand in a lock's queue in the memory of a forked child.
 *
 * Nobody there will ever take their turn. Every lock with a queue remembers the generation in
 * which somebody last waited. Before anybody queues, and before a release that would look at
 * the queue, ghosts_check() compares it; in a child's first such operation on the lock, one
 * thread claims the repair and calls the algorithm's forget(lock, held), which leaves the
 * lock held without waiters, or free.
 *
 * Why `word` tells whether it is held: the holder writes it after acquiring and clears it before
 * releasing, and its release passes through here first, so it waits for a repair under way. A
 * lock that was just granted to a ghost shows 0, and becomes free.
 */
#ifndef HASP_LOCKS_GHOSTS_H
#define HASP_LOCKS_GHOSTS_H

#include "locks/lock.h"

enum { GHOSTS_REPAIRING = 0xffff };

static __attribute__((noinline, unused)) void
ghosts_repair(struct lock *lock, uint16_t seen, uint32_t now, bool holder,
              void (*forget)(struct lock *, bool))
{
    if (seen != GHOSTS_REPAIRING) {
        if (!seen) { /* first waiter ever */
            compare_exchange_relaxed(&lock->generation, &seen, (uint16_t)now);
            return;
        }
        if (compare_exchange_acquire(&lock->generation, &seen, GHOSTS_REPAIRING)) {
            forget(lock, holder || load_relaxed(&lock->word) != 0);
            store_release(&lock->generation, (uint16_t)now);
            return;
        }
    }
    spin_until(load_acquire(&lock->generation) != GHOSTS_REPAIRING);
}

/* A thread that is about to queue. */
static inline void ghosts_check(struct lock *lock, void (*forget)(struct lock *, bool))
{
    uint32_t now = fork_generation();
    uint16_t seen = load_relaxed(&lock->generation);
    if (unlikely(seen != now))
        ghosts_repair(lock, seen, now, false, forget);
}

/* The holder, about to release to a waiter. */
static inline void ghosts_check_holder(struct lock *lock, void (*forget)(struct lock *, bool))
{
    uint16_t seen = load_relaxed(&lock->generation);
    if (unlikely(seen != 0)) {
        uint32_t now = fork_generation();
        if (unlikely(seen != now))
            ghosts_repair(lock, seen, now, true, forget);
    }
}

#endif
