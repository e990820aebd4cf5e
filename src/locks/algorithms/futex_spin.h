/* SPDX-License-Identifier: MIT */
/*
 * The waiter of futex.h that spins: eager or patient (futex_patience.h).
 */
#ifndef HASP_LOCKS_ALGORITHMS_FUTEX_SPIN_H
#define HASP_LOCKS_ALGORITHMS_FUTEX_SPIN_H

#include "locks/algorithms/futex_patience.h"
#include "locks/waiting/policies.h"

/* Nonzero while a waiter spins. A thread that vanishes in a fork may leave it set. */
static inline struct atomic_u32 *futex_spinning(struct lock *lock)
{
    return &lock->state[0];
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
        taken = seen > 1 ? 2 : seen ? 1 : taken;
        acquired = seen == 0 && acquire_if(&lock->word, 0, taken);
    } while (!acquired && left);
    *spins += most - left;
    return acquired;
}

/* The same while threads use the lock in turn, for many short sections each. A waiter
 * that sees sleepers relieves the holder of waking one, but not always: they would
 * starve while a few threads use the lock in turn. */
static inline bool futex_spin_patiently(struct lock *lock, bool woken)
{
    bool relieves = futex_may_relieve(lock);
    uint32_t taken = woken ? 2 : 1;
    for (int attempts = FUTEX_ATTEMPTS; attempts; attempts--) {
        uint32_t seen = load_relaxed(&lock->word);
        taken = seen > taken ? 2 : taken;
        if (seen == 2 && relieves)
            compare_exchange_relaxed(&lock->word, &seen, 3);
        store_relaxed(futex_spinning(lock), futex_spin_mark(true));
        pause_for(spin_limit());
        (void)relax_at_most(1);
        seen = load_relaxed(&lock->word);
        taken = seen > taken ? 2 : taken;
        if (seen == 0 && acquire_if(&lock->word, 0, taken))
            return true;
    }
    return false;
}

enum futex_spun { FUTEX_NOT_SPUN, FUTEX_IN_VAIN, FUTEX_ACQUIRED };

/* One waiter of a lock spins for as long as sleeping would cost, the others sleep at
 * once: it takes the lock without a wake-up, and more spinners would only disturb the
 * holder and each other. `woken`: the caller has slept. */
static inline enum futex_spun futex_spin_alone(struct lock *lock, bool woken)
{
    struct atomic_u32 *spinning = futex_spinning(lock);
    uint32_t seen = load_relaxed(spinning), spins = 0;
    bool patient = woken || futex_is_patient(lock);
    if (futex_spins(seen) ||
        !compare_exchange_relaxed(spinning, &seen, futex_spin_mark(patient)))
        return FUTEX_NOT_SPUN;
    bool acquired = patient ? futex_spin_patiently(lock, woken)
                            : futex_spin(lock, spin_limit(), &spins);
    store_relaxed(spinning, 0);
    return acquired ? FUTEX_ACQUIRED : FUTEX_IN_VAIN;
}

#endif
