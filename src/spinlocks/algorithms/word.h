/* SPDX-License-Identifier: MIT */
/*
 * Spin locks that compete for the word: test-and-set and its relatives. L. Rudolph, Z.
 * Segall, "Dynamic decentralized cache schemes for MIMD parallel processors", ISCA 1984
 * (test-and-test-and-set); T. Anderson, "The performance of spin lock alternatives for
 * shared-memory multiprocessors", TPDS 1990 (pauses).
 *
 * Idea: an attempt is one exchange of the word. Reading until the word is free lets
 * waiters spin in their own caches. Pausing after a failed attempt, twice as long each
 * time, reduces the number of threads that compete at each release. If a handover takes
 * far longer than one between running threads, the holder was preempted; a waiter then
 * yields its CPU, which the holder may need. With WORD_YIELD it yields as soon as it
 * has spun for as long as a sleep and wake-up would take.
 *
 *   word  SPINLOCK_FREE, or anything else while the lock is held
 *
 * W1. Only the exchange of the new holder (acquire) changes the word from FREE, and
 *     only the holder's store (release) changes it to FREE; these pair. An attempt that
 *     finds another value leaves the lock held: it stores HELD, which may replace a
 *     count of glibc's waiters, that nobody relies on, or SPINLOCK_SLEPT, whose threads
 *     sleep for a limited time only (park.h).
 *
 * Trylock: it reads first, and so does not write if the lock is held.
 */
#ifndef HASP_SPINLOCKS_ALGORITHMS_WORD_H
#define HASP_SPINLOCKS_ALGORITHMS_WORD_H

#include "locks/waiting/policies.h"
#include "spinlocks/spinlock.h"

/* Each member tests and waits in a combination of these ways. */
enum word_wait {
    WORD_AGAIN = 0,
    WORD_READ_FIRST = 1, /* attempts only after a read found the lock free */
    WORD_BACK_OFF = 2,   /* pauses after a failed attempt */
    WORD_YIELD = 4,      /* yields soon */
};

static inline void word_init(struct spinlock *lock, bool shared)
{
    (void)shared;
    store_relaxed(&lock->word, SPINLOCK_FREE);
}

static inline bool word_is_free(struct spinlock *lock)
{
    return load_relaxed(&lock->word) == SPINLOCK_FREE;
}

static inline bool word_take(struct spinlock *lock)
{
    return exchange_acquire(&lock->word, SPINLOCK_HELD) == SPINLOCK_FREE;
}

static inline bool word_trylock(struct spinlock *lock)
{
    return word_is_free(lock) && word_take(lock);
}

static inline void word_wait_yielding(struct spinlock *lock)
{
    uint32_t left = spin_limit();
    while (!word_trylock(lock)) {
        if (left)
            left -= relax_at_most(left);
        else {
            yield();
            (void)relax_at_most(1);
        }
    }
}

static __attribute__((noinline, unused)) void word_wait(struct spinlock *lock, int how)
{
    if (how & WORD_YIELD) {
        word_wait_yielding(lock);
        return;
    }
    struct spinner spinner = {0, 0};
    uint32_t pause = BACKOFF_LEAST;
    while (true) {
        uint32_t spins = 1;
        if (!(how & WORD_READ_FIRST) || word_is_free(lock)) {
            if (word_take(lock))
                return;
            if (how & WORD_BACK_OFF)
                spins = next_pause(&pause, spin_limit());
        }
        spinner_spin_many(&spinner, spins, NULL);
    }
}

static inline void word_lock(struct spinlock *lock, int how)
{
    if (unlikely(!word_take(lock)))
        word_wait(lock, how);
}

static inline void word_unlock(struct spinlock *lock)
{
    store_release(&lock->word, SPINLOCK_FREE);
    release_window();
}

#endif
