/* SPDX-License-Identifier: MIT */
/*
 * Ghosts: threads of the parent that stand in a lock's queue in the memory of a forked
 * child.
 *
 * Nobody there will ever take their turn. Every lock with a queue remembers the
 * generation in which somebody last waited. Before anybody queues, and before a holder
 * begins its release, the generation is compared; in a child's first such operation on
 * the lock one thread claims the repair and calls the algorithm's forget(lock, held).
 * If ghosts are queued, that leaves the lock held without waiters, or free; if not, it
 * must change nothing.
 *
 * Why this is sound, in a lock that shows queued ghosts:
 * G1. Nobody in the child acquires it before the repair: the fast path fails on a
 *     queue, and every other way in passes through here first.
 * G2. So the holder, if any, is the thread that forked, and `word` tells: a holder
 *     clears it only after ghosts_check_holder(), which waits for a repair under way.
 * G3. A lock that was just granted to a ghost shows 0, and becomes free.
 * In a lock that shows no queued ghosts a live holder may come and go meanwhile.
 *
 * What forget() stores needs no order of its own: whoever looks at more than the word
 * that the fast path takes has seen the generation (acquire) that the repair ended with
 * (release). What it reads was stored before the fork, or is checked by an exchange.
 */
#ifndef HASP_LOCKS_MEMORY_FORK_REPAIR_H
#define HASP_LOCKS_MEMORY_FORK_REPAIR_H

#include "locks/lock.h"

enum { GHOSTS_REPAIRING = 0xffff };

static __attribute__((noinline, unused)) void
ghosts_repair(struct lock *lock, uint16_t seen, uint32_t now,
              void (*forget)(struct lock *, bool held))
{
    if (seen != GHOSTS_REPAIRING) {
        bool ever = seen != 0;
        uint16_t claim = ever ? GHOSTS_REPAIRING : (uint16_t)now;
        if (compare_exchange_relaxed(&lock->generation, &seen, claim)) {
            if (ever) {
                forget(lock, load_relaxed(&lock->word) != 0);
                store_release(&lock->generation, (uint16_t)now);
            }
            return;
        }
    }
    spin_until(load_acquire(&lock->generation) != GHOSTS_REPAIRING);
}

/* A thread that is about to queue. */
static inline void ghosts_check(struct lock *lock,
                                void (*forget)(struct lock *, bool held))
{
    uint32_t now = fork_generation();
    uint16_t seen = load_acquire(&lock->generation);
    if (unlikely(seen != now))
        ghosts_repair(lock, seen, now, forget);
}

/* The holder, before it does anything towards a release. */
static inline void ghosts_check_holder(struct lock *lock,
                                       void (*forget)(struct lock *, bool held))
{
    if (unlikely(load_relaxed(&lock->generation) != 0))
        ghosts_check(lock, forget);
}

#endif
