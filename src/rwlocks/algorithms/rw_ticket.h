/* SPDX-License-Identifier: MIT */
/*
 * Fair ticket lock for readers and writers. J. Mellor-Crummey, M. Scott, "Scalable
 * reader-writer synchronization for shared-memory multiprocessors", PPoPP 1991 (their
 * simple fair lock, here with one number for each thread).
 *
 * Idea: every thread draws a number. A reader enters when its number is being read, and
 * at once lets the next number read; a writer enters when all earlier threads have
 * left.
 *
 *   state[0]  the number that the next arrival draws
 *   word      low half: number of threads that have left; high half: the number that
 *             may read
 *
 * I1. A thread that has drawn number n enters to read when the high half is n, to write
 *     when the low half is n. The low half follows the high one; they are equal while a
 *     writer holds the lock, and while it is free.
 * I2. A writer releases both halves in one store: nobody else changes the word then.
 *     Readers leave by compare-and-exchange, so that the low half never carries over.
 * I3. A thread that draws a number only if it is that of a half (trylock) may enter.
 *
 * Timed lock: a drawn number cannot be given back, so a thread with a deadline draws
 * none, but repeats its trylock, and may be overtaken without bound.
 * Fork: in the child, numbers of waiting threads of the parent are withdrawn.
 */
#ifndef HASP_RWLOCKS_ALGORITHMS_RW_TICKET_H
#define HASP_RWLOCKS_ALGORITHMS_RW_TICKET_H

#include "locks/waiting/policies.h"
#include "rwlocks/rwlock.h"

static inline uint32_t rw_ticket_left(uint64_t word)
{
    return (uint32_t)word;
}

static inline uint32_t rw_ticket_reading(uint64_t word)
{
    return (uint32_t)(word >> 32);
}

static inline enum rwlock_use rw_ticket_use(const struct rwlock *lock)
{
    uint64_t word = load_relaxed(&lock->word);
    return load_relaxed(&lock->writer)                         ? RWLOCK_WRITTEN
           : rw_ticket_left(word) != rw_ticket_reading(word) ? RWLOCK_READ
                                                               : RWLOCK_FREE;
}

/* Draws the number if it is the next one. */
static inline bool rw_ticket_draw(struct rwlock *lock, uint32_t number)
{
    return compare_exchange_relaxed(&lock->state[0], &number, number + 1);
}

static inline void rw_ticket_let_read(struct rwlock *lock)
{
    fetch_add_relaxed(&lock->word, (uint64_t)1 << 32);
}

static inline bool rw_ticket_read_trylock(struct rwlock *lock)
{
    uint64_t word = load_acquire(&lock->word);
    while (load_relaxed(&lock->state[0]) == rw_ticket_reading(word)) {
        if (rw_ticket_draw(lock, rw_ticket_reading(word))) {
            rw_ticket_let_read(lock);
            return true;
        }
        word = load_acquire(&lock->word);
    }
    return false;
}

static inline bool rw_ticket_write_trylock(struct rwlock *lock)
{
    uint64_t word = load_acquire(&lock->word);
    return rw_ticket_draw(lock, rw_ticket_left(word));
}

static inline bool rw_ticket_read_fast(struct rwlock *lock)
{
    return !unlikely(is_forked_child()) && rw_ticket_read_trylock(lock);
}

static inline bool rw_ticket_write_fast(struct rwlock *lock)
{
    return !unlikely(is_forked_child()) && rw_ticket_write_trylock(lock);
}

static inline bool rw_ticket_read_wait(struct rwlock *lock,
                                       const struct deadline *deadline)
{
    struct spinner spinner = {0, 0};
    if (deadline) {
        while (!rw_ticket_read_trylock(lock))
            if (!spinner_spin(&spinner, deadline))
                return false;
        return true;
    }
    uint32_t number = fetch_add_relaxed(&lock->state[0], 1);
    while (rw_ticket_reading(load_acquire(&lock->word)) != number)
        (void)spinner_spin(&spinner, NULL);
    rw_ticket_let_read(lock);
    return true;
}

static inline bool rw_ticket_write_wait(struct rwlock *lock,
                                        const struct deadline *deadline)
{
    struct spinner spinner = {0, 0};
    if (deadline) {
        while (!rw_ticket_write_trylock(lock))
            if (!spinner_spin(&spinner, deadline))
                return false;
        return true;
    }
    uint32_t number = fetch_add_relaxed(&lock->state[0], 1);
    while (rw_ticket_left(load_acquire(&lock->word)) != number)
        (void)spinner_spin(&spinner, NULL);
    return true;
}

static inline void rw_ticket_read_unlock(struct rwlock *lock)
{
    uint64_t word = load_relaxed(&lock->word), left;
    do
        left = (word & (uint64_t)UINT32_MAX << 32) | (uint32_t)(word + 1);
    while (!compare_exchange_release(&lock->word, &word, left));
}

static inline void rw_ticket_write_unlock(struct rwlock *lock)
{
    uint64_t next = rw_ticket_left(load_relaxed(&lock->word)) + 1u;
    next &= UINT32_MAX;
    store_release(&lock->word, next << 32 | next);
    release_window();
}

static inline void rw_ticket_forget(struct rwlock *lock)
{
    uint32_t next = rw_ticket_reading(load_relaxed(&lock->word));
    store_relaxed(&lock->state[0], load_relaxed(&lock->writer) ? next + 1 : next);
}

static inline void rw_ticket_destroy(struct rwlock *lock)
{
    (void)lock;
}

#endif
