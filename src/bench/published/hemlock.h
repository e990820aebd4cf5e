/* SPDX-License-Identifier: MIT */
/*
 * Hemlock, with waiting by compare-and-set, which leaves the watched line writable
 * ("coherence traffic reduction"). D. Dice, A. Kogan, "Hemlock: compact and scalable
 * mutual exclusion", SPAA 2021.
 *
 *   tail   1 + the last thread of the queue, 0 free
 *   grant  of a thread, for all locks: the address of the lock that it hands over; 0
 *          once the successor has seen that
 */
#ifndef HASP_BENCH_PUBLISHED_HEMLOCK_H
#define HASP_BENCH_PUBLISHED_HEMLOCK_H

#include "bench/published/body.h"

struct published_hemlock_thread {
    struct atomic_u64 grant;
} PUBLISHED_ALONE;

static struct published_hemlock_thread published_hemlock_threads[PUBLISHED_THREADS];

static inline bool published_hemlock_take(struct atomic_u64 *grant, uint64_t address)
{
    return compare_exchange_acquire(grant, &address, 0);
}

static inline void published_hemlock_lock(struct lock *lock)
{
    uint32_t before = exchange_acq_rel(&lock->state[0], published_thread() + 1);
    if (!before)
        return;
    struct atomic_u64 *grant = &published_hemlock_threads[before - 1].grant;
    spin_until(published_hemlock_take(grant, (uintptr_t)lock));
}

static inline bool published_hemlock_trylock(struct lock *lock)
{
    return acquire_if(&lock->state[0], 0, published_thread() + 1);
}

static inline void published_hemlock_unlock(struct lock *lock)
{
    if (release_if(&lock->state[0], published_thread() + 1, 0))
        return;
    struct atomic_u64 *grant = &published_hemlock_threads[published_thread()].grant;
    store_release(grant, (uintptr_t)lock);
    spin_until(fetch_add_acquire(grant, 0) == 0);
}

#endif
