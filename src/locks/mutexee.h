/* SPDX-License-Identifier: MIT */
/*
 * MUTEXEE: a futex mutex that spins first and avoids wake-ups. B. Falsafi, R.
 * Guerraoui, J. Picorel, V. Trigonakis, "Unlocking energy", USENIX ATC 2016.
 *
 * Idea: sleeping and waking cost more energy and time than a short spin, so waiters
 * spin for a while; and a releaser does not wake a sleeper when a spinner will take the
 * lock. The paper's releaser finds that out by watching the lock after its release,
 * which must not be done to a pthread mutex (its last user may have unmapped it). Here
 * spinners count themselves in the word, so the release itself learns of them. The spin
 * is calibrated instead of 8000 cycles.
 *
 * The bits of state[0]:
 *
 *   HELD      by its holder
 *   SLEEPERS  somebody may sleep on the word
 *   bits 2..  how many spin
 *
 * I1. HELD is set by a compare-and-exchange (acquire) of the new holder and cleared by
 *     the holder's (release); they pair.
 * I2. A thread sleeps only while it saw HELD and SLEEPERS set in one value of the word.
 * I3. A release that skips the wake-up saw a spinner in the same value. A spinner
 *     leaves that state only by an exchange that either takes the free lock or sees
 *     HELD, so somebody is always left to do the next release.
 * I4. A woken sleeper takes the lock with SLEEPERS set: others may sleep.
 */
#ifndef HASP_LOCKS_MUTEXEE_H
#define HASP_LOCKS_MUTEXEE_H

#include "locks/ghosts.h"
#include "locks/waiting.h"

enum { MUTEXEE_HELD = 1, MUTEXEE_SLEEPERS = 2, MUTEXEE_SPINNER = 4 };

/* Spinners of the parent are still counted. A live holder may come and go meanwhile,
 * and live spinners come through here first. */
static inline void mutexee_forget(struct lock *lock, bool held)
{
    (void)held;
    uint32_t seen = load_relaxed(&lock->state[0]);
    while (!compare_exchange_relaxed(&lock->state[0], &seen,
                                     (seen & MUTEXEE_HELD) | MUTEXEE_SLEEPERS))
        continue;
}

static inline bool mutexee_fast(struct lock *lock)
{
    return acquire_if(&lock->state[0], 0, MUTEXEE_HELD);
}

static inline bool mutexee_trylock(struct lock *lock)
{
    struct atomic_u32 *word = &lock->state[0];
    uint32_t seen = load_relaxed(word);
    if (seen == 0 && mutexee_fast(lock))
        return true;
    while (!(seen & MUTEXEE_HELD))
        if (compare_exchange_acquire(word, &seen, seen | MUTEXEE_HELD))
            return true;
    return false;
}

/* Spins, counted in the word. True: acquired; else the spinner is no longer counted,
 * and the word had HELD and SLEEPERS set. */
static inline bool mutexee_spin(struct atomic_u32 *word)
{
    uint32_t seen = fetch_add_relaxed(word, MUTEXEE_SPINNER) + MUTEXEE_SPINNER;
    for (uint32_t turns = spin_limit(); turns; turns--) {
        while (!(seen & MUTEXEE_HELD))
            if (compare_exchange_acquire(word, &seen,
                                         (seen - MUTEXEE_SPINNER) | MUTEXEE_HELD))
                return true;
        relax();
        seen = load_relaxed(word);
    }
    while (true) {
        bool held = seen & MUTEXEE_HELD;
        uint32_t after =
            (seen - MUTEXEE_SPINNER) | (held ? MUTEXEE_SLEEPERS : MUTEXEE_HELD);
        if (compare_exchange_acquire(word, &seen, after))
            return !held;
    }
}

/* Sleeps until it can take the lock, which it does with SLEEPERS set (I4). */
static inline bool mutexee_sleep(struct atomic_u32 *word,
                                 const struct deadline *deadline)
{
    uint32_t seen = load_relaxed(word);
    while (true) {
        uint32_t wanted = seen | MUTEXEE_HELD | MUTEXEE_SLEEPERS;
        if (seen != wanted) {
            bool held = seen & MUTEXEE_HELD;
            if (!compare_exchange_acquire(word, &seen, wanted))
                continue;
            if (!held)
                return true;
        }
        if (!park(word, wanted, deadline))
            return false;
        seen = load_relaxed(word);
    }
}

static __attribute__((noinline, unused)) bool
mutexee_wait(struct lock *lock, bool spin, const struct deadline *deadline)
{
    ghosts_check(lock, mutexee_forget);
    return (spin && mutexee_spin(&lock->state[0])) ||
           mutexee_sleep(&lock->state[0], deadline);
}

static inline bool mutexee_timedlock(struct lock *lock, const struct deadline *deadline)
{
    return mutexee_trylock(lock) || mutexee_wait(lock, true, deadline);
}

static inline void mutexee_lock(struct lock *lock)
{
    mutexee_timedlock(lock, NULL);
}

static inline void mutexee_unlock(struct lock *lock)
{
    struct atomic_u32 *word = &lock->state[0];
    if (likely(release_if(word, MUTEXEE_HELD, 0)))
        return;
    uint32_t seen = load_relaxed(word);
    while (true) {
        bool spinners = seen >= MUTEXEE_SPINNER;
        /* With spinners, SLEEPERS stays for them to pass on; else the woken one sets
         * it. */
        uint32_t after = spinners ? seen & ~(uint32_t)MUTEXEE_HELD : 0;
        if (compare_exchange_release(word, &seen, after)) {
            release_window();
            if (!spinners && (seen & MUTEXEE_SLEEPERS))
                unpark(word, 1);
            return;
        }
    }
}

/* The holder moves a thread asleep on a condition variable to the lock's sleepers. */
static inline void mutexee_adopt(struct lock *lock, struct waiter *waiter)
{
    fetch_or_relaxed(&lock->state[0], MUTEXEE_SLEEPERS);
    move_to_sleepers(waiter, &lock->state[0]);
}

/* After mutexee_adopt: it may have slept among others. */
static inline void mutexee_relock(struct lock *lock)
{
    mutexee_wait(lock, false, NULL);
}

static inline void mutexee_before_release(struct lock *lock)
{
    ghosts_check_holder(lock, mutexee_forget);
}

static inline void mutexee_destroy(struct lock *lock)
{
    (void)lock;
}

#endif
