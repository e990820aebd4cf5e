/* SPDX-License-Identifier: MIT */
/*
 * Hierarchical backoff lock. Z. Radović, E. Hagersten, "Hierarchical backoff locks for
 * nonuniform communication architectures", HPCA 2003 (HBO; without the throttling of
 * HBO_GT).
 *
 * Idea: the word says on which NUMA node its holder runs. Who waits for a holder on its
 * own node pauses briefly between attempts, the others long, so the lock tends to stay
 * on a node, and with it what it guards. Finding one's node costs a good part of an
 * uncontended pair, so here nobody asks before the lock was contended once.
 *
 *   state[0], state[1]  taken and released, as in latch.h: equal when the lock is free
 *   state[2]            the holder's or last holder's node + 1, or 0: never contended,
 *                       node unknown. In the paper it is in the word itself
 *
 * I1. The node is written by holders only. It stays for good, so that the fast path,
 *     which expects 0, is left to locks that were never waited for.
 * I2. Exclusion does not depend on the node: a thread that migrates while it waits or
 *     holds the lock only makes others wait too long or too short, and so does one that
 *     has taken the lock and not yet said where.
 */
#ifndef HASP_LOCKS_ALGORITHMS_HBO_H
#define HASP_LOCKS_ALGORITHMS_HBO_H

#include "locks/algorithms/lock_defaults.h"
#include "locks/algorithms/spinlock.h"

/* The far pause begins longer, and grows longer, by this factor. */
enum { HBO_FARTHER = 8 };

static inline struct atomic_u32 *hbo_node(struct lock *lock)
{
    return &lock->state[2];
}

static inline uint32_t hbo_here(void)
{
    return current_node() + 1;
}

static inline bool hbo_fast(struct lock *lock)
{
    return likely(load_relaxed(hbo_node(lock)) == 0) && spinlock_fast(lock);
}

static inline bool hbo_trylock(struct lock *lock)
{
    if (!spinlock_trylock(lock, false))
        return false;
    if (load_relaxed(hbo_node(lock)))
        store_relaxed(hbo_node(lock), hbo_here());
    return true;
}

static inline bool hbo_timedlock(struct lock *lock, const struct deadline *deadline)
{
    if (hbo_fast(lock))
        return true;
    uint32_t limit = spin_limit(), near = BACKOFF_LEAST,
             far = BACKOFF_LEAST * HBO_FARTHER;
    struct spinner spinner = {0, 0};
    uint32_t here = hbo_here();
    while (!spinlock_trylock(lock, false)) {
        uint32_t spins = load_relaxed(hbo_node(lock)) == here
                             ? next_pause(&near, limit / HBO_FARTHER)
                             : next_pause(&far, limit);
        if (!spinner_spin_many(&spinner, spins, deadline))
            return false;
        here = hbo_here();
    }
    store_relaxed(hbo_node(lock), here);
    return true;
}

static inline void hbo_lock(struct lock *lock)
{
    hbo_timedlock(lock, NULL);
}

static inline void hbo_unlock(struct lock *lock)
{
    spinlock_unlock(lock, false);
}

static inline void hbo_before_release(struct lock *lock)
{
    (void)lock; /* no queue, no ghosts */
}

DEFAULT_DESTROY(hbo)

#endif
