/* SPDX-License-Identifier: MIT */
/*
 * Spin lock whose waiters sleep when waiting takes long. U. Drepper, "Futexes are
 * tricky", 2011 (the word); A. Karlin, K. Li, M. Manasse, S. Owicki, "Empirical studies
 * of competitive spinning for a shared-memory multiprocessor", SOSP 1991 (how long to
 * spin). The release without an atomic operation is Hasp's own, in the spirit of D.
 * Dice, H. Huang, M. Yang, "Asymmetric Dekker synchronization", 2001.
 *
 * Idea: with more threads than CPUs, a holder is preempted now and then, and whoever
 * spins then takes from it the CPU that it needs. A waiter spins for as long as a sleep
 * and wake-up would take, with growing pauses, then sleeps. As long as no thread has
 * slept for a lock of its hash bucket, the release is a plain store, followed by a load
 * of the bucket; from the first sleep on, it is an exchange.
 *
 *   word      SPINLOCK_FREE, SPINLOCK_HELD or SPINLOCK_SLEPT
 *   buckets   in the library: nonzero once a thread has slept for a lock in it
 *
 * P1. The exchange or compare-and-set of the new holder (acquire) pairs with the
 *     releaser's store or exchange (release) of FREE.
 * P2. A thread that has slept takes the lock with SPINLOCK_SLEPT, and so does a
 *     spinning one that has seen SPINLOCK_SLEPT; each such holder wakes one sleeper.
 * P3. The first sleeper of a bucket marks it, then executes a heavy barrier, then
 *     exchanges the word. A plain release either precedes the barrier, and the exchange
 *     finds the lock free; or its load follows it, finds the mark, and wakes a sleeper.
 *     Others that find the mark may sleep before the barrier: the first one is in front
 *     of them, and wakes one when it releases (P2).
 * P4. Sleeps are limited in two cases. If the barrier is not available, a plain release
 *     may miss the mark. And a process that shares the lock may release it without a
 *     wake-up: it may lack Hasp, its buckets are its own, and so are its futexes.
 */
#ifndef HASP_SPINLOCKS_ALGORITHMS_PARK_H
#define HASP_SPINLOCKS_ALGORITHMS_PARK_H

#include "spinlocks/algorithms/word.h"

enum { PARK_BUCKETS = 512 };

/* Values of a bucket: no thread has slept yet; releases see that one has; they may miss
 * it. */
enum { PARK_NEVER, PARK_SEEN, PARK_UNSEEN };

extern struct atomic_u32 park_buckets[PARK_BUCKETS]
    __attribute__((visibility("hidden")));

static inline struct atomic_u32 *park_bucket(const struct spinlock *lock)
{
    uintptr_t address = (uintptr_t)lock;
    return &park_buckets[(address >> 2 ^ address >> 11) % PARK_BUCKETS];
}

static inline void park_init(struct spinlock *lock, bool shared)
{
    word_init(lock, shared);
}

static inline bool park_take(struct spinlock *lock, uint32_t taken)
{
    uint32_t free = SPINLOCK_FREE;
    return compare_exchange_acquire(&lock->word, &free, taken);
}

static inline bool park_trylock(struct spinlock *lock)
{
    return word_is_free(lock) && park_take(lock, SPINLOCK_HELD);
}

/* Waits for a lock that was found held. */
void park_wait(struct spinlock *lock) __attribute__((visibility("hidden")));

static inline void park_lock(struct spinlock *lock)
{
    if (unlikely(!park_take(lock, SPINLOCK_HELD)))
        park_wait(lock);
}

static inline void park_unlock(struct spinlock *lock)
{
    struct atomic_u32 *bucket = park_bucket(lock);
    if (likely(load_relaxed(bucket) == PARK_NEVER)) {
        store_release(&lock->word, SPINLOCK_FREE);
        light_barrier(); /* pairs with the heavy one in park_mark */
        release_window();
        if (unlikely(load_relaxed(bucket) != PARK_NEVER))
            unpark(&lock->word, 1);
    } else if (spinlock_word_slept(exchange_release(&lock->word, SPINLOCK_FREE))) {
        release_window();
        unpark(&lock->word, 1);
    }
}

#endif
