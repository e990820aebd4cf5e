/* SPDX-License-Identifier: MIT */
/*
 * Fork repair of reader-writer locks: removes the parent's waiting threads from a lock
 * in a forked child. locks/memory/fork_repair.h explains the protocol; it is the same
 * here.
 *
 * A thread calls rwlock_repair_if_due() before it waits, and in a forked child before
 * every trylock and release. forget(lock) removes all that waiting threads of the
 * parent left in the lock. It keeps what the forking thread holds; what other threads
 * of the parent hold, it may keep (as glibc does) or drop. If it changes more than the
 * waiting threads' part of the lock, the algorithm's fast path fails in a forked child:
 * then no thread of the child acquires the lock before the repair.
 */
#ifndef HASP_RWLOCKS_FORK_REPAIR_H
#define HASP_RWLOCKS_FORK_REPAIR_H

#include "rwlocks/rwlock.h"

enum { RWLOCK_REPAIR_RUNNING = 0xffff };

static __attribute__((noinline, unused)) void
rwlock_repair_claim(struct rwlock *lock, uint16_t seen, uint32_t now,
                    void (*forget)(struct rwlock *))
{
    if (seen != RWLOCK_REPAIR_RUNNING) {
        bool ever = seen != 0 || now != 1;
        uint16_t claim = ever ? RWLOCK_REPAIR_RUNNING : (uint16_t)now;
        if (compare_exchange_relaxed(&lock->generation, &seen, claim)) {
            if (ever) {
                forget(lock);
                store_release(&lock->generation, (uint16_t)now);
            }
            return;
        }
    }
    spin_until(load_acquire(&lock->generation) != RWLOCK_REPAIR_RUNNING);
}

static inline void rwlock_repair_if_due(struct rwlock *lock,
                                        void (*forget)(struct rwlock *))
{
    uint32_t now = fork_generation();
    uint16_t seen = load_acquire(&lock->generation);
    if (unlikely(seen != now))
        rwlock_repair_claim(lock, seen, now, forget);
}

/* Called before a trylock or a release: only a forked child may have to repair the
 * lock. */
static inline void rwlock_repair_in_child(struct rwlock *lock,
                                          void (*forget)(struct rwlock *))
{
    if (unlikely(is_forked_child()))
        rwlock_repair_if_due(lock, forget);
}

#endif
