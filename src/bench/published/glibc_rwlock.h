/* SPDX-License-Identifier: MIT */
/*
 * The reader-writer lock of the C library on Linux (since glibc 2.25), of its default
 * kind, which prefers readers: the reference for reader-writer locks on simulated
 * machines. Written from the description at the head of its source.
 *
 * Idea: read phases and write phases take turns. In a read phase a reader needs only to
 * count itself; the last reader of a phase begins a write phase if a writer has claimed
 * the next one, and a writer that leaves begins a read phase if readers have come.
 *
 *   state[0]  `readers`: bit 0 write phase, bit 1 a writer has claimed the lock, from
 *             bit 3 on the number of readers
 *   state[1]  `phase`: 1 in a write phase; changes last, when the phase has begun.
 *             Readers wait for 0, the writer waits for 1
 *   state[2]  `claim`: 1 while a writer has claimed the lock; other writers wait on it
 *   writer    the thread that writes
 *
 * Bit 1 of `phase` and of `claim` says that somebody may sleep.
 */
#ifndef HASP_BENCH_PUBLISHED_GLIBC_RWLOCK_H
#define HASP_BENCH_PUBLISHED_GLIBC_RWLOCK_H

#include "bench/published/body.h"
#include "rwlocks/rwlock.h"

#include <errno.h>

enum {
    GLIBC_WRITE_PHASE = 1,
    GLIBC_CLAIMED = 2,
    GLIBC_READER = 8,
    GLIBC_ASLEEP = 2, /* in `phase` and `claim` */
};

static inline bool glibc_has_readers(uint32_t readers)
{
    return readers >= GLIBC_READER;
}

/* Sets the phase word, and wakes those that wait for this. */
static inline void glibc_begin_phase(struct rwlock *lock, uint32_t phase)
{
    if (exchange_relaxed(&lock->state[1], phase) & GLIBC_ASLEEP)
        unpark(&lock->state[1], INT32_MAX);
}

/* Waits until the phase word no longer is `phase`, which the word `readers` shows
 * first. */
static inline void glibc_wait_for_phase(struct rwlock *lock, uint32_t phase)
{
    for (bool begun = false;;) {
        uint32_t seen;
        while (((seen = load_relaxed(&lock->state[1])) & ~(uint32_t)GLIBC_ASLEEP) ==
               phase)
            if (seen & GLIBC_ASLEEP ||
                compare_exchange_relaxed(&lock->state[1], &seen, phase | GLIBC_ASLEEP))
                park(&lock->state[1], phase | GLIBC_ASLEEP, NULL);
        if (begun)
            return;
        begun = (load_acquire(&lock->state[0]) & GLIBC_WRITE_PHASE) != phase;
    }
}

static inline int glibc_read_lock(struct rwlock *lock)
{
    if (load_relaxed(&lock->writer) == current_thread())
        return EDEADLK;
    uint32_t readers = fetch_add_acquire(&lock->state[0], GLIBC_READER) + GLIBC_READER;
    if (!(readers & GLIBC_WRITE_PHASE))
        return 0;
    while (readers & GLIBC_WRITE_PHASE && !(readers & GLIBC_CLAIMED))
        if (compare_exchange_acquire(&lock->state[0], &readers,
                                     readers ^ GLIBC_WRITE_PHASE)) {
            glibc_begin_phase(lock, 0);
            return 0;
        }
    if (readers & GLIBC_WRITE_PHASE)
        glibc_wait_for_phase(lock, 1);
    return 0;
}

static inline void glibc_read_unlock(struct rwlock *lock)
{
    uint32_t readers = load_relaxed(&lock->state[0]), left;
    do {
        left = readers - GLIBC_READER;
        if (!glibc_has_readers(left) && left & GLIBC_CLAIMED)
            left |= GLIBC_WRITE_PHASE;
    } while (!compare_exchange_release(&lock->state[0], &readers, left));
    if (left & GLIBC_WRITE_PHASE)
        glibc_begin_phase(lock, 1);
}

/* Waits until no other writer has the claim, and takes it. Returns the readers' word,
 * and whether other writers may sleep. */
static inline uint32_t glibc_claim(struct rwlock *lock, bool *slept)
{
    uint32_t readers = fetch_or_acquire(&lock->state[0], GLIBC_CLAIMED);
    if (!(readers & GLIBC_CLAIMED))
        return readers;
    for (;;) {
        if (!(readers & GLIBC_CLAIMED)) {
            if (compare_exchange_acquire(&lock->state[0], &readers,
                                         readers | GLIBC_CLAIMED))
                return readers;
            continue;
        }
        uint32_t claim = load_relaxed(&lock->state[2]);
        if (claim == (1 | GLIBC_ASLEEP) ||
            (claim == 1 &&
             compare_exchange_relaxed(&lock->state[2], &claim, 1 | GLIBC_ASLEEP))) {
            *slept = true;
            park(&lock->state[2], 1 | GLIBC_ASLEEP, NULL);
        } else {
            relax();
        }
        readers = load_relaxed(&lock->state[0]);
    }
}

static inline int glibc_write_lock(struct rwlock *lock)
{
    if (load_relaxed(&lock->writer) == current_thread())
        return EDEADLK;
    bool slept = false;
    uint32_t readers = glibc_claim(lock, &slept);
    store_relaxed(&lock->state[2], slept ? 1 | GLIBC_ASLEEP : 1);
    readers |= GLIBC_CLAIMED;
    bool acquired = readers & GLIBC_WRITE_PHASE;
    while (!acquired && !(readers & GLIBC_WRITE_PHASE) && !glibc_has_readers(readers)) {
        acquired = compare_exchange_acquire(&lock->state[0], &readers,
                                            readers | GLIBC_WRITE_PHASE);
        if (acquired)
            store_relaxed(&lock->state[1], 1);
    }
    if (!acquired)
        glibc_wait_for_phase(lock, 0);
    store_relaxed(&lock->writer, current_thread());
    return 0;
}

static inline void glibc_write_unlock(struct rwlock *lock)
{
    store_relaxed(&lock->writer, 0);
    bool wakes = exchange_relaxed(&lock->state[2], 0) & GLIBC_ASLEEP;
    uint32_t readers = load_relaxed(&lock->state[0]), left;
    do {
        left = readers ^ GLIBC_CLAIMED;
        if (glibc_has_readers(left))
            left ^= GLIBC_WRITE_PHASE;
    } while (!compare_exchange_release(&lock->state[0], &readers, left));
    if (glibc_has_readers(left))
        glibc_begin_phase(lock, 0);
    if (wakes)
        unpark(&lock->state[2], 1);
}

#endif
