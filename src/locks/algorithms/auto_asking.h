/* SPDX-License-Identifier: MIT */
/*
 * auto.h whose holders ask the scheduler not to take their CPU (time extensions,
 * platform.h), where the kernel grants that: a thread that is preempted while it holds
 * a contended lock makes all others wait for as long as it waits for a CPU.
 *
 * A thread asks if the bias of the lock has ended, so uncontended locks cost what they
 * did, and stops when it has released the lock. A thread that holds several locks stops
 * at the first release. Everything else is auto.h.
 *
 * A1. Whether a thread asks never matters for exclusion or progress.
 */
#ifndef HASP_LOCKS_ALGORITHMS_AUTO_ASKING_H
#define HASP_LOCKS_ALGORITHMS_AUTO_ASKING_H

#include "locks/algorithms/auto.h"

static inline bool auto_asking_wants(const struct lock *lock)
{
    return load_relaxed(&lock->mode) & FUTEX_SHARED;
}

/* The caller has acquired the lock. */
static inline void auto_asking_held(const struct lock *lock)
{
    if (auto_asking_wants(lock))
        time_extension_ask();
}

static inline bool auto_asking_fast(struct lock *lock)
{
    bool acquired = auto_fast(lock);
    if (acquired)
        auto_asking_held(lock);
    return acquired;
}

static inline enum acquisition auto_asking_lock(struct lock *lock, bool biased)
{
    time_extension_prepare();
    enum acquisition how = auto_lock(lock, biased);
    auto_asking_held(lock);
    return how;
}

static inline bool auto_asking_timedlock(struct lock *lock, bool biased,
                                         const struct deadline *deadline)
{
    time_extension_prepare();
    bool acquired = auto_timedlock(lock, biased, deadline);
    if (acquired)
        auto_asking_held(lock);
    return acquired;
}

static inline bool auto_asking_trylock(struct lock *lock, bool biased)
{
    bool acquired = auto_trylock(lock, biased);
    if (acquired)
        auto_asking_held(lock);
    return acquired;
}

static inline void auto_asking_unlock(struct lock *lock, bool biased)
{
    bool asked = auto_asking_wants(lock);
    auto_unlock(lock, biased);
    if (unlikely(asked))
        time_extension_end();
}

static inline void auto_asking_hand_over(struct lock *lock, struct waiter *node)
{
    auto_hand_over(lock, node);
    time_extension_end();
}

static inline void auto_asking_relock(struct lock *lock, bool biased)
{
    auto_relock(lock, biased);
    auto_asking_held(lock);
}

#define auto_asking_adopt auto_adopt
#define auto_asking_destroy auto_destroy
#define auto_asking_uses_nodes auto_uses_nodes

#endif
