/* SPDX-License-Identifier: MIT */
/*
 * Adaptive mutex: spins about as long as its recent holders had to. It follows
 * glibc's PTHREAD_MUTEX_ADAPTIVE_NP, an idea from Solaris. Theory: A. Karlin, K. Li, M.
 * Manasse, S. Owicki, "Empirical studies of competitive spinning for a shared-memory
 * multiprocessor", SOSP 1991.
 *
 * Idea: how long spinning pays off depends on how long this lock is held. So the lock
 * keeps a moving average of the spins that its waiters needed. An arriving thread spins
 * up to twice as long, and a little more, then sleeps as with the futex lock. The upper
 * bound is the cost of a sleep and wake-up, instead of glibc's constant.
 *
 *   word      as in futex.h: 0 free, 1 held, 2 held with possible sleepers
 *   state[0]  the average number of spins
 *
 * I1. word is that of futex.h without bias: every release that may have sleepers is an
 *     exchange (release) that detects them; it pairs with the acquire exchange of the
 *     next holder.
 * I2. state[0] is written by the holder only. A thread that reads it to decide how long
 *     to spin may see an old value, which affects time but not exclusion.
 *
 * Waiters take a lock that threads return to at once as soon as they can, as glibc's
 * do; those of futex.h measure whether to leave it to its users. 8 threads that pass
 * such a lock on take 1.6 times (1.1 to 2.3) as long as with glibc's plain mutex (`hasp
 * compare --threads 8 --runs 7` on two CPUs, OCaml's counter of
 * docs/studies/advice/unseen2.toml); futex takes 0.99 times.
 */
#ifndef HASP_LOCKS_ALGORITHMS_ADAPTIVE_H
#define HASP_LOCKS_ALGORITHMS_ADAPTIVE_H

#include "locks/algorithms/futex.h"
#include "locks/algorithms/lock_defaults.h"

/* Spins beyond twice the average, so that the average can grow; the weight of the past
 * is 1 - 1 / ADAPTIVE_WEIGHT. Both are as in glibc. */
enum { ADAPTIVE_MORE = 10, ADAPTIVE_WEIGHT = 8 };

static inline void adaptive_before_release(struct lock *lock)
{
    futex_before_release(lock);
}

static inline bool adaptive_fast(struct lock *lock)
{
    return futex_fast(lock);
}

static inline bool adaptive_trylock(struct lock *lock)
{
    return futex_try(lock);
}

static inline bool adaptive_sleep(struct lock *lock, const struct deadline *deadline)
{
    while (exchange_acquire(&lock->word, 2) != 0)
        if (!park(&lock->word, 2, deadline))
            return false;
    return true;
}

static __attribute__((noinline, unused)) bool
adaptive_wait(struct lock *lock, const struct deadline *deadline)
{
    struct atomic_u32 *average = &lock->state[0];
    uint32_t limit = 2 * load_relaxed(average) + ADAPTIVE_MORE, spins = 0;
    if (limit > spin_limit())
        limit = spin_limit();
    if (!futex_spin(lock, limit, &spins) && !adaptive_sleep(lock, deadline))
        return false;
    uint32_t before = load_relaxed(average); /* written by the holder only */
    store_relaxed(average, before + spins / ADAPTIVE_WEIGHT - before / ADAPTIVE_WEIGHT);
    return true;
}

DEFAULT_LOCK(adaptive)

static inline void adaptive_unlock(struct lock *lock)
{
    futex_release(lock, false);
}

static inline void adaptive_adopt(struct lock *lock, struct waiter *waiter)
{
    futex_adopt(lock, waiter);
}

static inline void adaptive_relock(struct lock *lock)
{
    if (!futex_retake(lock))
        adaptive_sleep(lock, NULL);
}

static inline void adaptive_destroy(struct lock *lock)
{
    futex_destroy(lock);
}

#endif
