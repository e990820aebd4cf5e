/* SPDX-License-Identifier: MIT */
/*
 * Reader-writer spin lock by compare-and-set. T. David, R. Guerraoui, V. Trigonakis,
 * "Everything you always wanted to know about synchronization but were afraid to ask",
 * SOSP 2013 (their library SSYNC calls it rw_ttas).
 *
 * Idea: one word counts the readers, or has the bit of a writer. A thread reads it
 * until it may enter, and then tries one compare-and-set.
 *
 *   word      bit 0 a writer holds it; from bit 1 on, the number of readers
 *   state[0]  number of writers that wait; counted and obeyed only if the kind of the
 *             lock prefers writers
 *
 * I1. The word changes by atomic operations only, so an acquire that reads it pairs
 *     with the release of every earlier holder.
 *
 * Overtaking: without bound. Readers that overlap starve writers, unless the kind of
 * the lock prefers writers; then no reader enters while a writer waits.
 */
#ifndef HASP_RWLOCKS_ALGORITHMS_RW_TTAS_H
#define HASP_RWLOCKS_ALGORITHMS_RW_TTAS_H

#include "locks/waiting/policies.h"
#include "rwlocks/rwlock.h"

#define RW_TTAS_WRITER ((uint64_t)1)
#define RW_TTAS_READER ((uint64_t)2)

static inline enum rwlock_use rw_ttas_use(const struct rwlock *lock)
{
    uint64_t word = load_relaxed(&lock->word);
    return word & RW_TTAS_WRITER ? RWLOCK_WRITTEN : word ? RWLOCK_READ : RWLOCK_FREE;
}

static inline bool rw_ttas_open(struct rwlock *lock)
{
    return !rwlock_prefers_writers(lock) || load_relaxed(&lock->state[0]) == 0;
}

static inline bool rw_ttas_read_trylock(struct rwlock *lock)
{
    uint64_t word = load_relaxed(&lock->word);
    while (!(word & RW_TTAS_WRITER) && likely(rw_ttas_open(lock)))
        if (compare_exchange_acquire(&lock->word, &word, word + RW_TTAS_READER))
            return true;
    return false;
}

static inline bool rw_ttas_read_fast(struct rwlock *lock)
{
    return rw_ttas_read_trylock(lock);
}

static inline bool rw_ttas_write_fast(struct rwlock *lock)
{
    uint64_t free = 0;
    return compare_exchange_acquire(&lock->word, &free, RW_TTAS_WRITER);
}

static inline bool rw_ttas_write_trylock(struct rwlock *lock)
{
    return load_relaxed(&lock->word) == 0 && rw_ttas_write_fast(lock);
}

static inline bool rw_ttas_read_wait(struct rwlock *lock,
                                     const struct deadline *deadline)
{
    struct spinner spinner = {0, 0};
    while (!rw_ttas_read_trylock(lock))
        if (!spinner_spin(&spinner, deadline))
            return false;
    return true;
}

static inline bool rw_ttas_write_wait(struct rwlock *lock,
                                      const struct deadline *deadline)
{
    struct spinner spinner = {0, 0};
    bool counted = rwlock_prefers_writers(lock), acquired;
    if (counted)
        fetch_add_relaxed(&lock->state[0], 1);
    while (!(acquired = rw_ttas_write_trylock(lock)))
        if (!spinner_spin(&spinner, deadline))
            break;
    if (counted)
        fetch_add_relaxed(&lock->state[0], UINT32_MAX);
    return acquired;
}

static inline void rw_ttas_read_unlock(struct rwlock *lock)
{
    fetch_add_release(&lock->word, -RW_TTAS_READER);
}

static inline void rw_ttas_write_unlock(struct rwlock *lock)
{
    exchange_release(&lock->word, 0);
}

static inline void rw_ttas_forget(struct rwlock *lock)
{
    store_relaxed(&lock->state[0], 0);
}

static inline void rw_ttas_destroy(struct rwlock *lock)
{
    (void)lock;
}

#endif
