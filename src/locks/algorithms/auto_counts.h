/* SPDX-License-Identifier: MIT */
/*
 * What auto.h counts: acquisitions and waits, and how the holder has acquired.
 *
 *   state[2]  bit 0, AUTO_TRIED: the holder acquired by trylock; bit 1, AUTO_BY_NODE:
 *             the lock is held by a node (auto_cohorts.h); bit 2, AUTO_WAKES: the next
 *             release that others want wakes all sleepers of the word; bits 3 to 11:
 *             acquisitions that had to wait, in this epoch of auto_policy.h,
 *             AUTO_WAITS_MOST at most; above: acquisitions, except by trylock, since
 *             the lock was first contended. So a use is counted by one addition
 *
 * C1. The cell is written by holders only. Threads that wait may read it at any time,
 *     but only AUTO_BY_NODE and AUTO_WAKES matter for exclusion or progress, and only
 *     holders rely on these.
 * C2. AUTO_TRIED is set after a trylock, unless the release will be a biased one, and
 *     cleared by the release, which then does not count.
 */
#ifndef HASP_LOCKS_ALGORITHMS_AUTO_COUNTS_H
#define HASP_LOCKS_ALGORITHMS_AUTO_COUNTS_H

#include "locks/algorithms/futex.h"

enum {
    AUTO_TRIED = 1,
    AUTO_BY_NODE = 2,
    AUTO_WAKES = 4,
    AUTO_WAITS_SHIFT = 3,
    AUTO_WAITS_MOST = (1 << 9) - 1,
    AUTO_USES_SHIFT = 12,
};
#define AUTO_USES_MASK (UINT32_MAX >> AUTO_USES_SHIFT)

static inline struct atomic_u32 *auto_counts(struct lock *lock)
{
    return &lock->state[2];
}

static inline uint32_t auto_uses(struct lock *lock)
{
    return load_relaxed(auto_counts(lock)) >> AUTO_USES_SHIFT;
}

static inline uint32_t auto_waits(struct lock *lock)
{
    return load_relaxed(auto_counts(lock)) >> AUTO_WAITS_SHIFT & AUTO_WAITS_MOST;
}

/* Returns the number of waits in this epoch, with this one. */
static inline uint32_t auto_count_wait(struct lock *lock)
{
    uint32_t waits = auto_waits(lock);
    if (waits == AUTO_WAITS_MOST)
        return waits;
    store_relaxed(auto_counts(lock),
                  load_relaxed(auto_counts(lock)) + (1u << AUTO_WAITS_SHIFT));
    return waits + 1;
}

/* A new epoch begins. */
static inline void auto_forget_waits(struct lock *lock)
{
    uint32_t waits = (uint32_t)AUTO_WAITS_MOST << AUTO_WAITS_SHIFT;
    store_relaxed(auto_counts(lock), load_relaxed(auto_counts(lock)) & ~waits);
}

/* The caller has acquired the lock by trylock. */
static inline void auto_mark_tried(struct lock *lock, bool biased)
{
    if (!biased || load_relaxed(&lock->mode) & FUTEX_SHARED)
        store_relaxed(auto_counts(lock), load_relaxed(auto_counts(lock)) | AUTO_TRIED);
}

/* The holder has moved a thread to the sleepers of the word, or has changed the policy
 * to one by which nobody sleeps there for long. A release that grants a demand wakes no
 * sleeper, and with cohorts each release may be such a one. */
static inline void auto_owe_wakeup(struct lock *lock)
{
    store_relaxed(auto_counts(lock), load_relaxed(auto_counts(lock)) | AUTO_WAKES);
}

static inline bool auto_is_owed_wakeup(struct lock *lock)
{
    return load_relaxed(auto_counts(lock)) & AUTO_WAKES;
}

/* The caller is about to release the lock. Returns whether it has to wake all. */
static inline bool auto_owes_wakeup(struct lock *lock)
{
    uint32_t seen = load_relaxed(auto_counts(lock));
    if (seen & AUTO_WAKES)
        store_relaxed(auto_counts(lock), seen & ~(uint32_t)AUTO_WAKES);
    return seen & AUTO_WAKES;
}

static inline bool auto_is_held_by_node(struct lock *lock)
{
    return load_relaxed(auto_counts(lock)) & AUTO_BY_NODE;
}

/* Called by a leader that has acquired the lock, which is held by nodes from now on. */
static inline void auto_begin_cohort(struct lock *lock)
{
    store_relaxed(auto_counts(lock), load_relaxed(auto_counts(lock)) | AUTO_BY_NODE);
}

/* Called before the lock is released that was held by nodes so many times. Returns the
 * number of uses. */
static inline uint32_t auto_end_cohort(struct lock *lock, uint32_t uses)
{
    uint32_t seen = load_relaxed(auto_counts(lock)) & ~(uint32_t)AUTO_BY_NODE;
    uint32_t now = seen + (uses << AUTO_USES_SHIFT);
    store_relaxed(auto_counts(lock), now);
    return now >> AUTO_USES_SHIFT;
}

#endif
