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
 *     clears it only after fork_repair_by_holder(), which waits for a repair under way.
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

enum { FORK_REPAIR_RUNNING = 0xffff };

static __attribute__((noinline, unused)) void
fork_repair_claim(struct lock *lock, uint16_t seen, uint32_t now,
                  void (*forget)(struct lock *, bool held))
{
    if (seen != FORK_REPAIR_RUNNING) {
        bool ever = seen != 0;
        uint16_t claim = ever ? FORK_REPAIR_RUNNING : (uint16_t)now;
        if (compare_exchange_relaxed(&lock->generation, &seen, claim)) {
            if (ever) {
                forget(lock, load_relaxed(&lock->word) != 0);
                store_release(&lock->generation, (uint16_t)now);
            }
            return;
        }
    }
    spin_until(load_acquire(&lock->generation) != FORK_REPAIR_RUNNING);
}

/* A thread that is about to queue. */
static inline void fork_repair_if_due(struct lock *lock,
                                      void (*forget)(struct lock *, bool held))
{
    uint32_t now = fork_generation();
    uint16_t seen = load_acquire(&lock->generation);
    if (unlikely(seen != now))
        fork_repair_claim(lock, seen, now, forget);
}

/* The holder, before it does anything towards a release. */
static inline void fork_repair_by_holder(struct lock *lock,
                                         void (*forget)(struct lock *, bool held))
{
    if (unlikely(load_relaxed(&lock->generation) != 0))
        fork_repair_if_due(lock, forget);
}

#endif
