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
 *   state[0]  bit 0 held; above it the holder's or last holder's node + 1, or 0: never
 *             contended, node unknown
 *
 * I1. The bit is set by a compare-and-set (acquire) of the new holder and cleared by
 *     the holder's store (release); they pair with each other.
 * I2. A node stays in the word for good, so that the fast path, which expects 0, is
 *     left to locks that were never waited for.
 * I3. Exclusion does not depend on the node: a thread that migrates while it waits or
 *     holds the lock only makes others wait too long or too short.
 */
#ifndef HASP_LOCKS_HBO_H
#define HASP_LOCKS_HBO_H

#include "locks/waiting.h"

/* The far pause begins longer, and grows longer, by this factor. */
enum { HBO_HELD = 1, HBO_FARTHER = 8 };

static inline bool hbo_fast(struct lock *lock)
{
    return acquire_if(&lock->state[0], 0, HBO_HELD);
}

static inline uint32_t hbo_mark(void)
{
    return (current_node() + 1) << 1;
}

static inline bool hbo_trylock(struct lock *lock)
{
    uint32_t seen = load_relaxed(&lock->state[0]);
    if (seen & HBO_HELD)
        return false;
    return seen == 0 ? hbo_fast(lock)
                     : compare_exchange_acquire(&lock->state[0], &seen,
                                                hbo_mark() | HBO_HELD);
}

static inline bool hbo_timedlock(struct lock *lock, const struct deadline *deadline)
{
    if (hbo_fast(lock))
        return true;
    uint32_t limit = spin_limit(), near = BACKOFF_LEAST,
             far = BACKOFF_LEAST * HBO_FARTHER;
    struct spinner spinner = {0, 0};
    while (true) {
        uint32_t mark = hbo_mark(), seen = load_relaxed(&lock->state[0]);
        if (!(seen & HBO_HELD) &&
            compare_exchange_acquire(&lock->state[0], &seen, mark | HBO_HELD))
            return true;
        uint32_t turns = (seen & ~(uint32_t)HBO_HELD) == mark
                             ? next_pause(&near, limit / HBO_FARTHER)
                             : next_pause(&far, limit);
        if (!spinner_turns(&spinner, turns, deadline))
            return false;
    }
}

static inline void hbo_lock(struct lock *lock)
{
    hbo_timedlock(lock, NULL);
}

static inline void hbo_unlock(struct lock *lock)
{
    uint32_t node = load_relaxed(&lock->state[0]) & ~(uint32_t)HBO_HELD;
    store_release(&lock->state[0], node);
    release_window();
}

static inline void hbo_before_release(struct lock *lock)
{
    (void)lock; /* no queue, no ghosts */
}

static inline void hbo_destroy(struct lock *lock)
{
    (void)lock;
}

#endif
