/* SPDX-License-Identifier: MIT */
/*
 * Hierarchical backoff lock. Z. Radović, E. Hagersten, "Hierarchical backoff locks for
 * nonuniform communication architectures", HPCA 2003 (HBO; without the throttling of
 * HBO_GT).
 *
 * Idea: the lock records on which NUMA node its holder runs. A thread that waits for a
 * holder on its own node pauses briefly between attempts, the others pause longer, so
 * the lock and the data it protects tend to stay on a node. Reading the node number
 * costs a large part of an uncontended lock and unlock, so it is not read until the
 * lock has been contended once.
 *
 *   state[0], state[1]  taken and released, as in latch.h: equal when the lock is free
 *   state[2]            1 + the node of the holder or last holder, or 0: never
 *                       contended, node unknown. In the paper it is in the lock word
 *                       itself
 *
 * I1. The node is written by holders only. It never returns to 0, so the fast path,
 *     which expects 0, serves only locks that were never contended.
 * I2. Exclusion does not depend on the node: a thread that migrates while it waits or
 *     holds the lock only makes others wait too long or too briefly, and so does a
 *     thread that has taken the lock but not stored its node yet.
 */
#ifndef HASP_LOCKS_ALGORITHMS_HBO_H
#define HASP_LOCKS_ALGORITHMS_HBO_H

#include "locks/algorithms/lock_defaults.h"
#include "locks/algorithms/spinlock.h"

/* The far pause starts longer and has a higher limit, each by this factor. */
enum { HBO_FARTHER = 8 };

static inline struct atomic_u32 *hbo_node(struct lock *lock)
{
    return &lock->state[2];
}

static inline uint32_t hbo_here(void)
{
    return current_cohort() + 1;
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
    (void)lock; /* there is no queue to repair */
}

DEFAULT_DESTROY(hbo)

#endif
