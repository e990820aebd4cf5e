/* SPDX-License-Identifier: MIT */
/*
 * The waiter of futex.h that spins: eager or patient (futex_patience.h), or persistent.
 *
 * If threads arrive at about the time at which others release, those that arrive take
 * the lock each time, by spinning, and each sleeper that a release wakes finds it
 * taken. So a sleeper that was woken in vain becomes persistent: it takes the place of
 * the waiter that spins, for longer than usual. If it has to sleep again, it keeps the
 * place, so nobody spins: threads that arrive sleep at once, as with glibc's mutex, and
 * the sleepers are woken in turn.
 */
#ifndef HASP_LOCKS_ALGORITHMS_FUTEX_SPIN_H
#define HASP_LOCKS_ALGORITHMS_FUTEX_SPIN_H

#include "locks/algorithms/futex_patience.h"
#include "locks/waiting/policies.h"

enum {
    FUTEX_WAKES = HANDOVER_LIMIT / 32 + 1,      /* with this one, it is persistent */
    FUTEX_PERSISTENCE = HANDOVER_LIMIT / 4 + 1, /* in spin_limit() */
    FUTEX_LOOK = 7,                             /* spins between two looks */
};

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

/* The same for a sleeper that was woken in vain. It has the line in a writable state
 * when it sees the release, or a thread that arrives then would be first. */
static inline bool futex_spin_persistently(struct lock *lock)
{
    for (uint32_t left = FUTEX_PERSISTENCE * spin_limit(); left;) {
        prefetch_for_write(&lock->word);
        if (load_relaxed(&lock->word) == 0 && acquire_if(&lock->word, 0, 2))
            return true;
        uint32_t pause = left > FUTEX_LOOK ? FUTEX_LOOK : 0;
        pause_for(pause);
        left -= pause;
        left -= relax_at_most(left);
    }
    return false;
}

enum futex_spun { FUTEX_NOT_SPUN, FUTEX_IN_VAIN, FUTEX_ACQUIRED };

/* One waiter of a lock spins for as long as sleeping would cost, the others sleep at
 * once: it takes the lock without a wake-up, and more spinners would only disturb the
 * holder and each other. */
static inline enum futex_spun futex_spin_alone(struct lock *lock)
{
    struct atomic_u32 *spinning = futex_spinning(lock);
    uint32_t seen = load_relaxed(spinning), spins = 0;
    bool patient = futex_is_patient(lock);
    if (futex_spins(seen) ||
        !compare_exchange_relaxed(spinning, &seen, futex_spin_mark(patient)))
        return FUTEX_NOT_SPUN;
    bool acquired = patient ? futex_spin_patiently(lock, false)
                            : futex_spin(lock, spin_limit(), &spins);
    store_relaxed(spinning, 0);
    return acquired ? FUTEX_ACQUIRED : FUTEX_IN_VAIN;
}

/* A thread that sleeps on the word. */
struct futex_sleeper {
    uint32_t wakes; /* so far */
    uint32_t kept;  /* what it wrote to state[0] to keep the place, 0: nothing */
};

/* The sleeper was woken: it spins if the lock is used in turn, or if it has been woken
 * in vain before, unless another waiter spins. */
static inline enum futex_spun futex_spin_woken(struct lock *lock,
                                               struct futex_sleeper *self)
{
    struct atomic_u32 *spinning = futex_spinning(lock);
    uint32_t seen = load_relaxed(spinning);
    bool patient = futex_is_patient(lock);
    if ((!patient && ++self->wakes < FUTEX_WAKES) ||
        (futex_spins(seen) && (!self->kept || seen != self->kept)) ||
        !compare_exchange_relaxed(spinning, &seen, futex_spin_mark(patient)))
        return FUTEX_NOT_SPUN;
    bool acquired = patient ? futex_spin_patiently(lock, true)
                            : futex_spin_persistently(lock);
    self->kept = acquired || patient ? 0 : futex_mark(FUTEX_KEPT);
    store_relaxed(spinning, self->kept);
    return acquired ? FUTEX_ACQUIRED : FUTEX_IN_VAIN;
}

/* The sleeper has acquired the lock or given up. */
static inline void futex_sleeper_leaves(struct lock *lock, struct futex_sleeper *self)
{
    if (self->kept)
        compare_exchange_relaxed(futex_spinning(lock), &self->kept, 0);
}

#endif
