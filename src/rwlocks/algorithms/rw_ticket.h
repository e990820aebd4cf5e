/* SPDX-License-Identifier: MIT */
/*
 * Fair ticket lock for readers and writers. J. Mellor-Crummey, M. Scott, "Scalable
 * reader-writer synchronization for shared-memory multiprocessors", PPoPP 1991 (their
 * simple fair lock, here with one number for each thread, and waiters that sleep).
 *
 * Idea: every thread draws a number. A reader enters when its number is being read, and
 * at once lets the next number read; a writer enters when all earlier threads have
 * left.
 *
 *   word   bit 0: threads may sleep. Above it, in 21 bits each: `left`, the number of
 *          threads that have left; `reading`, the number that may read; `next`, the
 *          number that the next arrival draws
 *
 * I1. A thread that has drawn number n enters to read when `reading` is n, to write
 *     when `left` is n. `left` follows `reading`; they are equal while a writer holds
 *     the lock, and while it is free.
 * I2. The word changes by compare-and-exchange, so that no number carries over into the
 *     next; only `next`, at its top, is drawn by fetch-and-add.
 * I3. A thread that draws a number only if it may enter with it (trylock) needs one
 *     exchange.
 * I4. A waiter sleeps at the place of its number (sleepers.h) after it has set the
 *     bit. The bit is cleared by a release after which no number is drawn and not left,
 *     so that nobody waits.
 *
 * Timed lock: a drawn number cannot be given back, so a thread with a deadline draws
 * none, but repeats its trylock. It may be overtaken without bound, therefore, while
 * other threads wait without a deadline, or keep coming.
 * Fork: in the child, numbers of waiting threads of the parent are withdrawn.
 */
#ifndef HASP_RWLOCKS_ALGORITHMS_RW_TICKET_H
#define HASP_RWLOCKS_ALGORITHMS_RW_TICKET_H

#include "locks/waiting/policies.h"
#include "rwlocks/rwlock.h"
#include "rwlocks/sleepers.h"

#define RW_TICKET_ASLEEP ((uint64_t)1)
enum { RW_TICKET_LEFT = 1, RW_TICKET_READING = 22, RW_TICKET_NEXT = 43 }; /* shifts */
enum { RW_TICKET_NUMBERS = (1 << 21) - 1 };

static inline uint32_t rw_ticket_field(uint64_t word, unsigned shift)
{
    return (uint32_t)(word >> shift) & RW_TICKET_NUMBERS;
}

static inline uint32_t rw_ticket_after(uint32_t number)
{
    return (number + 1) & RW_TICKET_NUMBERS;
}

/* Returns the word with another number in the field. */
static inline uint64_t rw_ticket_with(uint64_t word, unsigned shift, uint32_t number)
{
    return (word & ~((uint64_t)RW_TICKET_NUMBERS << shift)) | (uint64_t)number << shift;
}

static inline uint64_t rw_ticket_incremented(uint64_t word, unsigned shift)
{
    return rw_ticket_with(word, shift, rw_ticket_after(rw_ticket_field(word, shift)));
}

static inline enum rwlock_use rw_ticket_use(const struct rwlock *lock)
{
    uint64_t word = load_relaxed(&lock->word);
    bool read = rw_ticket_field(word, RW_TICKET_LEFT) !=
                rw_ticket_field(word, RW_TICKET_READING);
    return load_relaxed(&lock->writer) ? RWLOCK_WRITTEN
           : read                      ? RWLOCK_READ
                                       : RWLOCK_FREE;
}

static inline bool rw_ticket_read_trylock(struct rwlock *lock)
{
    uint64_t word = load_relaxed(&lock->word);
    while (rw_ticket_field(word, RW_TICKET_NEXT) ==
           rw_ticket_field(word, RW_TICKET_READING)) {
        uint64_t entered = rw_ticket_incremented(
            rw_ticket_incremented(word, RW_TICKET_READING), RW_TICKET_NEXT);
        if (compare_exchange_acquire(&lock->word, &word, entered))
            return true;
    }
    return false;
}

static inline bool rw_ticket_write_trylock(struct rwlock *lock)
{
    uint64_t word = load_relaxed(&lock->word);
    while (rw_ticket_field(word, RW_TICKET_NEXT) ==
           rw_ticket_field(word, RW_TICKET_LEFT))
        if (compare_exchange_acquire(&lock->word, &word,
                                     rw_ticket_incremented(word, RW_TICKET_NEXT)))
            return true;
    return false;
}

static inline bool rw_ticket_read_fast(struct rwlock *lock)
{
    return !unlikely(is_forked_child()) && rw_ticket_read_trylock(lock);
}

static inline bool rw_ticket_write_fast(struct rwlock *lock)
{
    return !unlikely(is_forked_child()) && rw_ticket_write_trylock(lock);
}

/* Draws a number, and waits until it is in the field. */
static inline void rw_ticket_wait(struct rwlock *lock, unsigned field)
{
    uint64_t word = fetch_add_acquire(&lock->word, (uint64_t)1 << RW_TICKET_NEXT);
    const uint32_t number = rw_ticket_field(word, RW_TICKET_NEXT);
    uint32_t spins = spin_limit();
    while (rw_ticket_field(word, field) != number) {
        if (!sleepers_spin_first(&spins)) {
            struct atomic_u32 *place = sleepers_place(lock, number);
            uint32_t seen = load_acquire(place);
            word = fetch_or_acq_rel(&lock->word, RW_TICKET_ASLEEP);
            if (rw_ticket_field(word, field) != number)
                (void)park(place, seen, NULL);
        }
        word = load_acquire(&lock->word);
    }
}

/* Increments a field; wakes the thread whose number it is. Clears the bit of sleepers
 * if nobody waits any more. */
static inline void rw_ticket_advance(struct rwlock *lock, unsigned field, bool releases)
{
    uint64_t word = load_relaxed(&lock->word), after;
    do {
        after = rw_ticket_incremented(word, field);
        if (releases && rw_ticket_field(after, RW_TICKET_LEFT) ==
                            rw_ticket_field(after, RW_TICKET_NEXT))
            after &= ~RW_TICKET_ASLEEP;
    } while (!compare_exchange_release(&lock->word, &word, after));
    release_window();
    if (unlikely(word & RW_TICKET_ASLEEP))
        sleepers_wake(sleepers_place(lock, rw_ticket_field(after, field)));
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
    rw_ticket_wait(lock, RW_TICKET_READING);
    rw_ticket_advance(lock, RW_TICKET_READING, false);
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
    rw_ticket_wait(lock, RW_TICKET_LEFT);
    return true;
}

static inline void rw_ticket_read_unlock(struct rwlock *lock)
{
    rw_ticket_advance(lock, RW_TICKET_LEFT, true);
}

/* The thread with the next number enters, to read or to write. */
static inline void rw_ticket_write_unlock(struct rwlock *lock)
{
    uint64_t word = load_relaxed(&lock->word), after;
    do {
        after = rw_ticket_incremented(rw_ticket_incremented(word, RW_TICKET_LEFT),
                                      RW_TICKET_READING);
        if (rw_ticket_field(after, RW_TICKET_LEFT) ==
            rw_ticket_field(after, RW_TICKET_NEXT))
            after &= ~RW_TICKET_ASLEEP;
    } while (!compare_exchange_release(&lock->word, &word, after));
    release_window();
    if (unlikely(word & RW_TICKET_ASLEEP))
        sleepers_wake(sleepers_place(lock, rw_ticket_field(after, RW_TICKET_LEFT)));
}

static inline void rw_ticket_forget(struct rwlock *lock)
{
    uint64_t word = load_relaxed(&lock->word) & ~RW_TICKET_ASLEEP;
    uint32_t next = rw_ticket_field(word, RW_TICKET_READING);
    if (load_relaxed(&lock->writer))
        next = rw_ticket_after(next);
    store_relaxed(&lock->word, rw_ticket_with(word, RW_TICKET_NEXT, next));
}

static inline void rw_ticket_destroy(struct rwlock *lock)
{
    (void)lock;
}

#endif
