/* SPDX-License-Identifier: MIT */
/*
 * Three-state futex mutex, compatible with glibc's word, with a biased release. The
 * default lock. U. Drepper, "Futexes are tricky", 2011 (three states). The bias is
 * Hasp's own, in the spirit of D. Dice, H. Huang, M. Yang, "Asymmetric Dekker
 * synchronization", 2001.
 *
 * Idea: an uncontended release needs no atomic operation as long as no thread ever had
 * to sleep: it is a plain store, after which the releaser reads a table of sleepers in
 * the library. The first waiters of a lock count themselves in that table and execute
 * one heavy barrier; from their first acquisition on, the lock is released by an
 * exchange, permanently.
 *
 * A waiter spins before it sleeps, unless another one does: glibc's mutex lets waiters
 * sleep at once, and then pays a wake-up for every sleep that was too long.
 *
 *   word      0 free, 1 held, 2 held with possible sleepers
 *   mode      0 biased, FUTEX_SHARED released by exchange; written by holders only
 *   state[0]  nonzero while a waiter spins; a hint
 *
 * I1. Every release after a holder wrote FUTEX_SHARED is an exchange; holders are
 *     ordered, so a waiter that sees the flag may rely on it.
 * I2. A waiter that does not see it is counted in sleepers[] before its heavy barrier,
 *     and until it holds the lock or gives up. Each biased release either precedes the
 *     barrier, in which case the waiter sees the word free; or reads the table after
 *     it, and wakes the waiter.
 * I3. If the barrier is not available (a seccomp filter was installed while the lock
 *     was biased), such a waiter sleeps in slices.
 * I4. A releaser clears nothing after its store; waiters count themselves in and out.
 */
#ifndef HASP_LOCKS_ALGORITHMS_FUTEX_H
#define HASP_LOCKS_ALGORITHMS_FUTEX_H

#include "locks/algorithms/lock_defaults.h"
#include "locks/waiting/policies.h"

enum { FUTEX_SHARED = 1 };
enum { FUTEX_BUCKETS = 512, FUTEX_SLICE_NS = 1000000 };

/* Number of threads that wait for biased locks, by a hash of the lock's address. Locks
 * that share a bucket only cost needless wake-ups. */
extern struct atomic_u32 futex_sleepers[FUTEX_BUCKETS]
    __attribute__((visibility("hidden")));

static inline struct atomic_u32 *futex_bucket(const struct lock *lock)
{
    uintptr_t address = (uintptr_t)lock;
    return &futex_sleepers[(address >> 3 ^ address >> 12) % FUTEX_BUCKETS];
}

/* Nonzero while a waiter spins. A thread that vanishes in a fork may leave it set. */
static inline struct atomic_u32 *futex_spinning(struct lock *lock)
{
    return &lock->state[0];
}

static inline bool futex_fast(struct lock *lock)
{
    return acquire_if(&lock->word, 0, 1);
}

static inline bool futex_trylock(struct lock *lock, bool biased)
{
    (void)biased;
    return load_relaxed(&lock->word) == 0 && futex_fast(lock);
}

/* Waits for a lock that is still biased; returns false if the deadline has passed. */
bool futex_wait_biased(struct lock *lock, const struct deadline *deadline);

static inline bool futex_sleep(struct lock *lock, const struct deadline *deadline)
{
    while (exchange_acquire(&lock->word, 2) != 0)
        if (!park(&lock->word, 2, deadline))
            return false;
    return true;
}

/* Tries to acquire the lock for `most` spins, at least one, and returns whether it did;
 * adds the spins used to *spins. If it saw sleepers, it takes the lock as one of them
 * would, so that its release wakes one: they would starve beside a spinning thread. */
static inline bool futex_spin(struct lock *lock, uint32_t most, uint32_t *spins)
{
    uint32_t left = most, pause = BACKOFF_LEAST;
    uint32_t taken = 1;
    bool acquired;
    do {
        pause_before_attempt(&pause, &left);
        uint32_t seen = load_relaxed(&lock->word);
        taken = seen ? seen : taken;
        acquired = seen == 0 && acquire_if(&lock->word, 0, taken);
    } while (!acquired && left);
    *spins += most - left;
    return acquired;
}

/* One waiter of a lock spins for as long as sleeping would cost, the others sleep at
 * once: it takes the lock without a wake-up, and more spinners would only disturb the
 * holder and each other. */
static inline bool futex_spin_alone(struct lock *lock)
{
    struct atomic_u32 *spinning = futex_spinning(lock);
    if (load_relaxed(spinning) || exchange_relaxed(spinning, 1))
        return false;
    uint32_t spins = 0;
    bool acquired = futex_spin(lock, spin_limit(), &spins);
    store_relaxed(spinning, 0);
    return acquired;
}

static __attribute__((noinline, unused)) bool
futex_wait(struct lock *lock, bool biased, const struct deadline *deadline)
{
    return biased && !(load_relaxed(&lock->mode) & FUTEX_SHARED)
               ? futex_wait_biased(lock, deadline)
               : futex_sleep(lock, deadline);
}

static inline bool futex_timedlock(struct lock *lock, bool biased,
                                   const struct deadline *deadline)
{
    return futex_fast(lock) || futex_spin_alone(lock) ||
           futex_wait(lock, biased, deadline);
}

static inline void futex_lock(struct lock *lock, bool biased)
{
    futex_timedlock(lock, biased, NULL);
}

static inline void futex_unlock(struct lock *lock, bool biased)
{
    if (biased && likely(!(load_relaxed(&lock->mode) & FUTEX_SHARED))) {
        struct atomic_u32 *sleepers = futex_bucket(lock);
        store_release(&lock->word, 0);
        light_barrier(); /* pairs with the heavy one in futex_wait_biased */
        release_window();
        if (unlikely(load_relaxed(sleepers) != 0))
            unpark(&lock->word, 1);
    } else if (single_threaded()) {
        store_relaxed(&lock->word, 0);
    } else if (unlikely(exchange_release(&lock->word, 0) == 2)) {
        release_window();
        unpark(&lock->word, 1);
    }
}

/* The holder moves a thread that sleeps on a condition variable to the lock's
 * sleepers. */
static inline void futex_adopt(struct lock *lock, struct waiter *waiter)
{
    store_relaxed(&lock->mode, FUTEX_SHARED);
    store_relaxed(&lock->word, 2);
    move_to_sleepers(waiter, &lock->word);
}

/* After futex_adopt: the thread may have slept among others. The mode is
 * FUTEX_SHARED. */
static inline void futex_relock(struct lock *lock, bool biased)
{
    /* The thread is awake, and the signalling thread is about to release the lock, so
     * spin briefly. */
    for (uint32_t spins = spin_limit() / 4 + 1; spins; spins -= relax_at_most(spins)) {
        if (load_relaxed(&lock->word) == 0 && acquire_if(&lock->word, 0, 2))
            return;
    }
    futex_wait(lock, biased, NULL);
}

static inline void futex_before_release(struct lock *lock)
{
    (void)lock; /* there is no queue to repair */
}

DEFAULT_DESTROY(futex)

#endif
