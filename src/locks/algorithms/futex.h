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
 * sleep at once, and then pays a wake-up for every sleep that was too long. How soon it
 * tries to take the lock is measured (futex_patience.h): a lock that threads take again
 * at once is left to its holder for dozens of sections. A sleeper that is woken in vain
 * takes the place of the waiter that spins (futex_spin.h).
 *
 * Nothing bounds a wait, but a sleeper is woken after those that slept before it, and
 * at its third wake-up in vain it turns persistent; while it sleeps again, no thread
 * that arrives spins. 16 simulated threads with sections and pauses of 20 us, varied by
 * 0 to 10 %, wait for 1.5 to 2.2 ms at most, with glibc's mutex for 0.4 to 1.9 ms
 * (tests/simulator/test_starvation.py). Without any variation, and with sections that
 * last longer than a persistent waiter spins, two threads may take turns for ever.
 *
 *   word      0 free; 1 held; 2 held with possible sleepers; 3 the same, and a waiter
 *             that spins will wake one
 *   mode      0 biased, FUTEX_SHARED released by exchange; written by holders only
 *   state[0]  not 0 while a waiter spins, or its place is kept (futex_spin.h); a hint
 *   state[1] to state[3]  measurements (futex_patience.h)
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
 * I5. The waiter that has changed the word from 2 to 3 acquires with the value 2, or
 *     exchanges the word for 2 before it sleeps. So the holder that releases from 3
 *     need not wake a sleeper, and a thread may sleep while the word is 3: a later
 *     release wakes one. A waiter that was woken does the same, or sleeps while the
 *     word is 3. In a forked child, the waiter that wrote 3 may be missing, so no
 *     thread sleeps then.
 */
#ifndef HASP_LOCKS_ALGORITHMS_FUTEX_H
#define HASP_LOCKS_ALGORITHMS_FUTEX_H

#include "locks/algorithms/futex_spin.h"
#include "locks/algorithms/lock_defaults.h"

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

static inline bool futex_fast(struct lock *lock)
{
    return acquire_if(&lock->word, 0, 1);
}

static inline bool futex_try(struct lock *lock)
{
    return load_relaxed(&lock->word) == 0 && futex_fast(lock);
}

static inline bool futex_trylock(struct lock *lock, bool biased)
{
    if (!futex_try(lock))
        return false;
    if (!biased || load_relaxed(&lock->mode) & FUTEX_SHARED)
        futex_count_try(lock);
    return true;
}

/* Waits for a lock that is still biased; returns false if the deadline has passed. */
bool futex_wait_biased(struct lock *lock, const struct deadline *deadline);

/* Sleeps until the lock is acquired. A waiter that was woken may spin before it sleeps
 * again (futex_spin_woken). */
static inline bool futex_sleep_or_spin(struct lock *lock, enum futex_spun spun,
                                       const struct deadline *deadline)
{
    struct futex_sleeper self = {0, 0};
    bool in_time = true;
    while (in_time && spun != FUTEX_ACQUIRED) {
        bool owes = spun == FUTEX_IN_VAIN || is_forked_child();
        uint32_t seen = owes ? 2 : load_relaxed(&lock->word);
        if (seen != 3) {
            if (exchange_acquire(&lock->word, 2) == 0)
                break;
            seen = 2;
        }
        in_time = park(&lock->word, seen, deadline);
        if (in_time)
            spun = futex_spin_woken(lock, &self);
    }
    futex_sleeper_leaves(lock, &self);
    return in_time;
}

static __attribute__((noinline, unused)) bool
futex_wait(struct lock *lock, bool biased, enum futex_spun spun,
           const struct deadline *deadline)
{
    return biased && !(load_relaxed(&lock->mode) & FUTEX_SHARED)
               ? futex_wait_biased(lock, deadline)
               : futex_sleep_or_spin(lock, spun, deadline);
}

static inline bool futex_timedlock(struct lock *lock, bool biased,
                                   const struct deadline *deadline)
{
    if (futex_fast(lock))
        return true;
    note_wait_for(lock);
    enum futex_spun spun = futex_spin_alone(lock);
    if (spun != FUTEX_ACQUIRED && !futex_wait(lock, biased, spun, deadline))
        return false;
    biased = biased && !(load_relaxed(&lock->mode) & FUTEX_SHARED);
    if (futex_adapt(lock, biased))
        store_relaxed(&lock->mode, FUTEX_SHARED);
    return true;
}

static inline void futex_lock(struct lock *lock, bool biased)
{
    futex_timedlock(lock, biased, NULL);
}

static inline void futex_release(struct lock *lock, bool biased)
{
    if (!biased && single_threaded()) { /* the bias ends if there are threads only */
        store_relaxed(&lock->word, 0);
    } else if (unlikely(exchange_release(&lock->word, 0) == 2)) {
        release_window();
        unpark(&lock->word, 1);
    }
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
    } else {
        futex_count_use(lock);
        futex_release(lock, biased);
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

/* After futex_adopt: the thread is awake, and the signalling thread is about to release
 * the lock, so it spins briefly. */
static inline bool futex_retake(struct lock *lock)
{
    for (uint32_t spins = spin_limit() / 4 + 1; spins; spins -= relax_at_most(spins)) {
        if (load_relaxed(&lock->word) == 0 && acquire_if(&lock->word, 0, 2))
            return true;
    }
    return false;
}

/* After futex_adopt: the thread may have slept among others. The mode is
 * FUTEX_SHARED. */
static inline void futex_relock(struct lock *lock, bool biased)
{
    if (!futex_retake(lock))
        futex_wait(lock, biased, FUTEX_IN_VAIN, NULL);
}

static inline void futex_before_release(struct lock *lock)
{
    (void)lock; /* there is no queue to repair */
}

DEFAULT_DESTROY(futex)

#endif
