/* SPDX-License-Identifier: MIT */
/*
 * MUTEXEE: a futex mutex that spins first and avoids wake-ups. B. Falsafi, R.
 * Guerraoui, J. Picorel, V. Trigonakis, "Unlocking energy", USENIX ATC 2016.
 *
 * Idea: sleeping and waking cost more energy and time than a short spin, so waiters
 * spin for a while; and a releaser does not wake a sleeper if a spinner will take the
 * lock. The paper's releaser finds that out by watching the lock after its release,
 * which is not allowed for a pthread mutex (its last user may have unmapped it). Here
 * spinners count themselves in the word, so the release itself sees them. The length of
 * the spin is calibrated, instead of 8000 cycles. Where the paper bounds starvation by
 * a time-out of the sleep, a wake-up is skipped at most HANDOVER_LIMIT times in a row,
 * and a sleeper that was woken in vain too often is granted the lock.
 *
 * The bits of state[0] are those of barging.h, with the invariants B1 to B4:
 *
 *   HELD       set while held
 *   SLEEPERS   threads may be asleep on the word
 *   IMPATIENT  set by one sleeper while HELD: the next release grants the lock to it
 *   GRANTED    with HELD, after such a release
 *   bits 4..   the number of spinning threads
 *   state[1]   wake-ups skipped in a row
 *
 * I1. state[1] is read and written by the holder only.
 *
 * Spinners take a lock that threads return to at once as soon as they can, as in the
 * paper; those of futex.h measure whether to leave it to its users. 8 threads that pass
 * such a lock on take 2.3 times (1.4 to 4.0) as long as with glibc's mutex (`hasp
 * compare --threads 8 --runs 7` on two CPUs, OCaml's counter of
 * docs/studies/advice/unseen2.toml); futex takes 0.99 times.
 */
#ifndef HASP_LOCKS_ALGORITHMS_MUTEXEE_H
#define HASP_LOCKS_ALGORITHMS_MUTEXEE_H

#include "locks/algorithms/barging.h"
#include "locks/algorithms/lock_defaults.h"
#include "locks/memory/fork_repair.h"

/* The number of spinners is not limited. */
enum { MUTEXEE_SPINNERS = 1 << 24 };

/* Number of times that a sleeper may be woken in vain. */
enum { MUTEXEE_PATIENCE = MODEL_CHECKED ? 1 : 8 };

static inline void mutexee_forget(struct lock *lock, bool held)
{
    (void)held;
    barging_forget(&lock->state[0]);
}

DEFAULT_BEFORE_RELEASE(mutexee)

static inline bool mutexee_fast(struct lock *lock)
{
    return barging_fast(&lock->state[0]);
}

static inline bool mutexee_trylock(struct lock *lock, uint32_t spinners)
{
    (void)spinners;
    return barging_trylock(&lock->state[0]);
}

static __attribute__((noinline, unused)) bool
mutexee_wait(struct lock *lock, uint32_t spinners, bool spin,
             const struct deadline *deadline)
{
    fork_repair_if_due(lock, mutexee_forget);
    struct atomic_u32 *word = &lock->state[0];
    return (spin && barging_spin(word, spinners, 0)) ||
           barging_wait(word, SPIN_THEN_PARK, spinners, MUTEXEE_PATIENCE, deadline);
}

static inline bool mutexee_timedlock(struct lock *lock, uint32_t spinners,
                                     const struct deadline *deadline)
{
    return barging_trylock(&lock->state[0]) ||
           mutexee_wait(lock, spinners, true, deadline);
}

static inline void mutexee_lock(struct lock *lock, uint32_t spinners)
{
    mutexee_timedlock(lock, spinners, NULL);
}

/* Called if the word shows more than HELD. */
static __attribute__((noinline, unused)) void mutexee_unlock_wanted(struct lock *lock)
{
    struct atomic_u32 *word = &lock->state[0], *skipped = &lock->state[1];
    uint32_t seen = load_relaxed(word), count = load_relaxed(skipped);
    bool skips = seen >= BARGING_SPINNER && seen & BARGING_SLEEPERS;
    bool insist = skips && count >= HANDOVER_LIMIT;
    if (skips)
        store_relaxed(skipped, insist ? 0 : count + 1);
    barging_release(word, SPIN_THEN_PARK, insist);
}

static inline void mutexee_unlock(struct lock *lock, uint32_t spinners)
{
    (void)spinners;
    if (unlikely(!release_if(&lock->state[0], BARGING_HELD, 0)))
        mutexee_unlock_wanted(lock);
}

static inline void mutexee_adopt(struct lock *lock, struct waiter *waiter)
{
    barging_adopt(&lock->state[0], waiter);
}

/* After mutexee_adopt: the thread may have slept among others. */
static inline void mutexee_relock(struct lock *lock, uint32_t spinners)
{
    mutexee_wait(lock, spinners, false, NULL);
}

DEFAULT_DESTROY(mutexee)

#endif
