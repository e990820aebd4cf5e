/* SPDX-License-Identifier: MIT */
/*
 * The test-and-set family: the lock is one word that any thread may take. The members
 * differ in how they test and how they wait. L. Rudolph, Z. Segall, "Dynamic
 * decentralized cache schemes for MIMD parallel processors", ISCA 1984
 * (test-and-test-and-set); T. Anderson, "The performance of spin lock alternatives for
 * shared-memory multiprocessors", TPDS 1990 (pauses); J. Mellor-Crummey, M. Scott,
 * "Algorithms for scalable synchronization on shared-memory multiprocessors", TOCS 1991
 * (bounded exponential backoff).
 *
 * Idea: an attempt is one test-and-set of the word. Reading until the word is free lets
 * waiters spin in their own caches. Pausing after a failed attempt, twice as long each
 * time, reduces the number of threads that compete at each release. No pause is longer
 * than a sleep and wake-up would take.
 *
 *   word  0 free, 1 held
 *
 * I1. Only the attempt of the new holder (acquire) changes the word from 0 to 1, and
 *     only the holder's store (release) changes it back to 0; these pair. An attempt
 *     that finds 1 changes nothing.
 *
 * A lock and unlock takes a fifth longer than with latch.h, whose atomic operation does
 * not access the word that the last release stored to. A test-and-set cannot avoid
 * that: it writes unconditionally, so the word that it writes must also be the one that
 * shows who holds the lock. (If a second word decided, the test-and-set could overwrite
 * what others have written since that word was read.)
 *
 * Waiters take a lock that threads return to at once as soon as they can, as published;
 * those of futex.h measure whether to leave it to its users. With ttas-backoff, 8
 * threads that pass such a lock on take 4.0 times (2.5 to 6.3) as long as with glibc's
 * mutex (`hasp compare --threads 8 --runs 7` on two CPUs, OCaml's counter of
 * docs/studies/advice/unseen2.toml); futex takes 0.99 times.
 *
 * Trylock: it reads first, and so does not write if the lock is held. The first attempt
 * of lock() is the same for all members.
 */
#ifndef HASP_LOCKS_ALGORITHMS_TAS_H
#define HASP_LOCKS_ALGORITHMS_TAS_H

#include "locks/algorithms/lock_defaults.h"
#include "locks/waiting/policies.h"

/* Each member tests and waits in a combination of these ways. */
enum tas {
    TAS_AGAIN = 0,
    TAS_READ_FIRST = 1, /* attempts only after a read found the lock free */
    TAS_BACK_OFF = 2,   /* pauses after a failed attempt */
};

static inline bool tas_fast(struct lock *lock)
{
    return !test_and_set_acquire(&lock->word);
}

static inline bool tas_trylock(struct lock *lock, int how)
{
    (void)how;
    return load_relaxed(&lock->word) == 0 && tas_fast(lock);
}

static inline bool tas_timedlock(struct lock *lock, int how,
                                 const struct deadline *deadline)
{
    if (tas_fast(lock))
        return true;
    struct spinner spinner = {0, 0};
    uint32_t pause = BACKOFF_LEAST;
    while (true) {
        uint32_t spins = 1;
        if (!(how & TAS_READ_FIRST) || load_relaxed(&lock->word) == 0) {
            if (tas_fast(lock))
                return true;
            if (how & TAS_BACK_OFF)
                spins = next_pause(&pause, spin_limit());
        }
        if (!spinner_spin_many(&spinner, spins, deadline))
            return false;
    }
}

static inline void tas_lock(struct lock *lock, int how)
{
    tas_timedlock(lock, how, NULL);
}

static inline void tas_unlock(struct lock *lock, int how)
{
    (void)how;
    store_release(&lock->word, 0);
    release_window();
}

static inline void tas_before_release(struct lock *lock)
{
    (void)lock; /* there is no queue to repair */
}

DEFAULT_DESTROY(tas)

#endif
