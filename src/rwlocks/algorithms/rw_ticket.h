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
 *   word      bit 0: threads may sleep; bit 1: a number has been given up. From bit 4
 *             on, in 20 bits each: `left`, the number of threads that have left;
 *             `reading`, the number that may read; `next`, the number that the next
 *             arrival draws
 *   state[0]  the number that has been given up
 *   side      for timed_queue.h
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
 * I5. A thread gives up number n by one exchange. If `reading` is n, it passes over its
 *     number: as a reader that leaves at once, it increments `reading` and `left`.
 *     Otherwise a thread with an earlier number waits; it sets the bit, after it has
 *     stored n. The exchange that would make `reading` n finds the bit, passes over n,
 *     too, and clears it. Only the thread with the number before n makes that exchange,
 *     and the stored number is not replaced before (timed_queue.h, T1).
 *
 * Overtaking: threads enter in the order of their numbers, except as follows.
 * Timed lock: a thread with a deadline first waits for those with a deadline that came
 * earlier (T2). Each other thread overtakes it at most once for each of these, and once
 * more. A thread that takes over a number that was given up overtakes the threads that
 * came in between, once.
 * Fork: in the child, numbers of waiting threads of the parent are withdrawn.
 */
#ifndef HASP_RWLOCKS_ALGORITHMS_RW_TICKET_H
#define HASP_RWLOCKS_ALGORITHMS_RW_TICKET_H

#include "locks/waiting/policies.h"
#include "rwlocks/rwlock.h"
#include "rwlocks/sleepers.h"
#include "rwlocks/timed_queue.h"

#define RW_TICKET_ASLEEP ((uint64_t)1)
#define RW_TICKET_GIVEN_UP ((uint64_t)2)
enum { RW_TICKET_LEFT = 4, RW_TICKET_READING = 24, RW_TICKET_NEXT = 44 }; /* shifts */
enum { RW_TICKET_NUMBERS = (1 << 20) - 1 };

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

/* Waits until the number is in the field. Returns false if the deadline has passed. */
static inline bool rw_ticket_await(struct rwlock *lock, uint32_t number, unsigned field,
                                   const struct deadline *deadline)
{
    uint64_t word = load_acquire(&lock->word);
    uint32_t spins = spin_limit();
    while (rw_ticket_field(word, field) != number) {
        if (!sleepers_spin_first(&spins)) {
            struct atomic_u32 *place = sleepers_place(lock, number);
            uint32_t seen = load_acquire(place);
            word = fetch_or_acq_rel(&lock->word, RW_TICKET_ASLEEP);
            if (rw_ticket_field(word, field) != number && !park(place, seen, deadline))
                return false;
        }
        word = load_acquire(&lock->word);
    }
    return true;
}

/* Draws a number, and waits until it is in the field. */
static inline void rw_ticket_wait(struct rwlock *lock, unsigned field)
{
    uint64_t word = fetch_add_relaxed(&lock->word, (uint64_t)1 << RW_TICKET_NEXT);
    (void)rw_ticket_await(lock, rw_ticket_field(word, RW_TICKET_NEXT), field, NULL);
}

static inline uint64_t rw_ticket_passed_over(uint64_t word)
{
    return rw_ticket_incremented(rw_ticket_incremented(word, RW_TICKET_READING),
                                 RW_TICKET_LEFT);
}

/* Returns whether the number that has been given up is the one in `reading`. */
static inline bool rw_ticket_is_given_up(struct rwlock *lock, uint64_t word)
{
    if (likely(!(word & RW_TICKET_GIVEN_UP)))
        return false;
    (void)load_acquire(&lock->word); /* pairs with rw_ticket_give_up() */
    return load_relaxed(&lock->state[0]) == rw_ticket_field(word, RW_TICKET_READING);
}

/* Returns the word as it is to be stored: passes over the number in `reading` if it has
 * been given up, and clears the bit of sleepers if nobody waits any more. */
static inline uint64_t rw_ticket_settled(struct rwlock *lock, uint64_t word)
{
    if (rw_ticket_is_given_up(lock, word))
        word = rw_ticket_passed_over(word & ~RW_TICKET_GIVEN_UP);
    if (rw_ticket_field(word, RW_TICKET_LEFT) == rw_ticket_field(word, RW_TICKET_NEXT))
        word &= ~RW_TICKET_ASLEEP;
    return word;
}

/* The thread whose number is in `reading` has entered to read: lets the next one
 * read. */
static inline void rw_ticket_let_read(struct rwlock *lock)
{
    uint64_t word = load_relaxed(&lock->word), after;
    do
        after =
            rw_ticket_settled(lock, rw_ticket_incremented(word, RW_TICKET_READING));
    while (!compare_exchange_relaxed(&lock->word, &word, after));
    if (unlikely(word & RW_TICKET_ASLEEP))
        sleepers_wake(sleepers_place(lock, rw_ticket_field(after, RW_TICKET_READING)));
}

/* Takes over the number that has been given up, or draws one. */
static inline uint32_t rw_ticket_take_number(struct rwlock *lock)
{
    uint64_t word = load_relaxed(&lock->word), taken;
    do
        taken = word & RW_TICKET_GIVEN_UP ? word & ~RW_TICKET_GIVEN_UP
                                          : rw_ticket_incremented(word, RW_TICKET_NEXT);
    while (!compare_exchange_relaxed(&lock->word, &word, taken));
    return word & RW_TICKET_GIVEN_UP ? load_relaxed(&lock->state[0])
                                     : rw_ticket_field(word, RW_TICKET_NEXT);
}

static inline void rw_ticket_give_up(struct rwlock *lock, uint32_t number)
{
    uint64_t word = load_relaxed(&lock->word), after;
    bool passes;
    store_relaxed(&lock->state[0], number);
    do {
        passes = rw_ticket_field(word, RW_TICKET_READING) == number;
        after = passes ? rw_ticket_settled(lock, rw_ticket_passed_over(word))
                       : word | RW_TICKET_GIVEN_UP;
    } while (!compare_exchange_release(&lock->word, &word, after));
    if (passes && word & RW_TICKET_ASLEEP)
        sleepers_wake(sleepers_place(lock, rw_ticket_after(number)));
}

static __attribute__((noinline, unused)) bool
rw_ticket_timed_wait(struct rwlock *lock, unsigned field,
                     const struct deadline *deadline)
{
    struct lock *queue = timed_queue_enter(lock, deadline);
    if (!queue)
        return false;
    uint32_t number = rw_ticket_take_number(lock);
    bool came = rw_ticket_await(lock, number, field, deadline);
    if (!came)
        rw_ticket_give_up(lock, number);
    timed_queue_leave(queue);
    return came;
}

static inline bool rw_ticket_read_wait(struct rwlock *lock,
                                       const struct deadline *deadline)
{
    if (!deadline)
        rw_ticket_wait(lock, RW_TICKET_READING);
    else if (!rw_ticket_timed_wait(lock, RW_TICKET_READING, deadline))
        return false;
    rw_ticket_let_read(lock);
    return true;
}

static inline bool rw_ticket_write_wait(struct rwlock *lock,
                                        const struct deadline *deadline)
{
    if (deadline)
        return rw_ticket_timed_wait(lock, RW_TICKET_LEFT, deadline);
    rw_ticket_wait(lock, RW_TICKET_LEFT);
    return true;
}

static inline void rw_ticket_read_unlock(struct rwlock *lock)
{
    uint64_t word = load_relaxed(&lock->word), after;
    do {
        after = rw_ticket_incremented(word, RW_TICKET_LEFT);
        if (rw_ticket_field(after, RW_TICKET_LEFT) ==
            rw_ticket_field(after, RW_TICKET_NEXT))
            after &= ~RW_TICKET_ASLEEP;
    } while (!compare_exchange_release(&lock->word, &word, after));
    release_window();
    if (unlikely(word & RW_TICKET_ASLEEP))
        sleepers_wake(sleepers_place(lock, rw_ticket_field(after, RW_TICKET_LEFT)));
}

/* The thread with the next number enters, to read or to write. */
static inline void rw_ticket_write_unlock(struct rwlock *lock)
{
    uint64_t word = load_relaxed(&lock->word), after;
    do
        after = rw_ticket_settled(lock, rw_ticket_passed_over(word));
    while (!compare_exchange_release(&lock->word, &word, after));
    release_window();
    if (unlikely(word & RW_TICKET_ASLEEP))
        sleepers_wake(sleepers_place(lock, rw_ticket_field(after, RW_TICKET_LEFT)));
}

static inline void rw_ticket_forget(struct rwlock *lock)
{
    uint64_t word = load_relaxed(&lock->word);
    word &= ~(RW_TICKET_ASLEEP | RW_TICKET_GIVEN_UP);
    uint32_t next = rw_ticket_field(word, RW_TICKET_READING);
    if (load_relaxed(&lock->writer))
        next = rw_ticket_after(next);
    store_relaxed(&lock->word, rw_ticket_with(word, RW_TICKET_NEXT, next));
    timed_queue_forget(lock);
}

static inline void rw_ticket_destroy(struct rwlock *lock)
{
    timed_queue_destroy(lock);
}

#endif
