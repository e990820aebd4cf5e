/* SPDX-License-Identifier: MIT */
/*
 * Phase-fair lock with tickets (PF-T). B. Brandenburg, J. Anderson, "Spin-based
 * reader-writer synchronization for multiprocessor real-time systems", Real-Time
 * Systems 46, 2010; first in ECRTS 2009. Here its waiters sleep after a while.
 *
 * Idea: phases of readers and of one writer alternate while both wait. A writer
 * announces itself in the word in which readers arrive; readers that arrive later wait
 * until the end of its phase, however many writers wait.
 *
 *   word      bit 0: a writer is present; bit 1: readers may sleep; bit 2: writers may
 *             sleep; bit 3: a writer's number has been given up. Above them, in 20 bits
 *             each: `wout`, the number of writers that have left; `win`, of writers
 *             that have arrived; `rin`, of readers that have arrived
 *   state[0]  bit 0: the writer that is present may sleep; above it `rout`, the number
 *             of readers that have left
 *   state[1]  the writer's number that has been given up
 *   side      for timed_queue.h
 *
 * I1. A writer whose turn it is has number wout. It sets the bit of presence and waits
 *     until rout equals the rin that it found: all readers that arrived before it have
 *     left, and those that arrived later wait.
 * I2. A writer's release clears the bit and increments wout in one exchange. A reader
 *     waits while the bit is set and wout is as it was when the reader arrived.
 * I3. A waiter sleeps at a place of sleepers.h after it has set the bit of its kind by
 *     an exchange that finds that it has to wait. A writer's release clears the bit of
 *     the readers, and wakes them; it clears the bit of the writers if none is left.
 * I4. The present writer sleeps on state[0]; a reader's release finds its bit in the
 *     old value, and wakes it by address.
 * I5. A writer that gives up in its turn releases the lock. One that gives up earlier
 *     sets a bit by an exchange that finds wout below its number, after it has stored
 *     the number. The release that would make wout that number finds the bit, passes
 *     over the number, too, and clears the bit.
 *
 * Overtaking: a reader waits for one writer only. A waiting writer is overtaken at most
 * once by each reader for each writer ahead of it, and once more. Writers with a
 * deadline wait for each other first (timed_queue.h); while one of them waits for its
 * turn, each other writer enters at most once.
 * Timed lock: a reader that gives up takes its arrival back in an exchange that finds
 * the same writer present (which does not count it). A writer that gives up leaves its
 * number to the next writer with a deadline, or to be passed over.
 * Kind that prefers writers: readers arrive only while no writer has.
 * Fork: in the child, those who arrived are set to those who hold the lock.
 */
#ifndef HASP_RWLOCKS_ALGORITHMS_PHASE_FAIR_H
#define HASP_RWLOCKS_ALGORITHMS_PHASE_FAIR_H

#include "locks/waiting/policies.h"
#include "rwlocks/read_holds.h"
#include "rwlocks/rwlock.h"
#include "rwlocks/sleepers.h"
#include "rwlocks/timed_queue.h"

#define PHASE_FAIR_PRESENT ((uint64_t)1)
#define PHASE_FAIR_READERS_ASLEEP ((uint64_t)2)
#define PHASE_FAIR_WRITERS_ASLEEP ((uint64_t)4)
#define PHASE_FAIR_GIVEN_UP ((uint64_t)8)
enum { PHASE_FAIR_WOUT = 4, PHASE_FAIR_WIN = 24, PHASE_FAIR_RIN = 44 }; /* shifts */
enum { PHASE_FAIR_NUMBERS = (1 << 20) - 1 };
#define PHASE_FAIR_READER ((uint64_t)1 << PHASE_FAIR_RIN)
enum { PHASE_FAIR_WAITED = 1, PHASE_FAIR_LEFT = 2 }; /* of state[0] */
enum { PHASE_FAIR_READERS_PLACE = 1 << 20 };         /* no number of a writer */

static inline uint32_t phase_fair_field(uint64_t word, unsigned shift)
{
    return (uint32_t)(word >> shift) & PHASE_FAIR_NUMBERS;
}

static inline uint64_t phase_fair_incremented(uint64_t word, unsigned shift)
{
    uint64_t number = (phase_fair_field(word, shift) + 1u) & PHASE_FAIR_NUMBERS;
    return (word & ~((uint64_t)PHASE_FAIR_NUMBERS << shift)) | number << shift;
}

static inline bool phase_fair_no_writers(uint64_t word)
{
    return phase_fair_field(word, PHASE_FAIR_WIN) ==
           phase_fair_field(word, PHASE_FAIR_WOUT);
}

/* Returns rout as it is compared with rin. */
static inline uint32_t phase_fair_rout(uint32_t left)
{
    return left / PHASE_FAIR_LEFT & PHASE_FAIR_NUMBERS;
}

static inline enum rwlock_use phase_fair_use(const struct rwlock *lock)
{
    uint32_t rin = phase_fair_field(load_relaxed(&lock->word), PHASE_FAIR_RIN);
    return load_relaxed(&lock->writer)                               ? RWLOCK_WRITTEN
           : rin != phase_fair_rout(load_relaxed(&lock->state[0])) ? RWLOCK_READ
                                                                     : RWLOCK_FREE;
}

static inline bool phase_fair_open(const struct rwlock *lock, uint64_t word)
{
    return !(word & PHASE_FAIR_PRESENT) &&
           (!rwlock_prefers_writers(lock) || phase_fair_no_writers(word));
}

static inline bool phase_fair_read_trylock(struct rwlock *lock)
{
    uint64_t word = load_relaxed(&lock->word);
    while (phase_fair_open(lock, word))
        if (compare_exchange_acquire(&lock->word, &word, word + PHASE_FAIR_READER))
            return true;
    return false;
}

static inline bool phase_fair_write_trylock(struct rwlock *lock)
{
    uint64_t word = load_relaxed(&lock->word);
    uint32_t rout = phase_fair_rout(load_acquire(&lock->state[0]));
    while (phase_fair_no_writers(word) &&
           phase_fair_field(word, PHASE_FAIR_RIN) == rout)
        if (compare_exchange_acquire(&lock->word, &word,
                                     phase_fair_incremented(word, PHASE_FAIR_WIN) |
                                         PHASE_FAIR_PRESENT))
            return true;
    return false;
}

static inline bool phase_fair_read_fast(struct rwlock *lock)
{
    return !unlikely(is_forked_child()) && phase_fair_read_trylock(lock);
}

static inline bool phase_fair_write_fast(struct rwlock *lock)
{
    return !unlikely(is_forked_child()) && phase_fair_write_trylock(lock);
}

/* Whether a reader that arrived when the word was `arrived` waits. */
static inline bool phase_fair_excludes(uint64_t word, uint64_t arrived)
{
    return arrived & word & PHASE_FAIR_PRESENT &&
           phase_fair_field(word, PHASE_FAIR_WOUT) ==
               phase_fair_field(arrived, PHASE_FAIR_WOUT);
}

/* Sleeps unless the reader's phase has begun, or for the kind that prefers writers,
 * unless readers may arrive. Returns false if the deadline has passed. */
static inline bool phase_fair_sleep_reader(struct rwlock *lock, uint64_t arrived,
                                           const struct deadline *deadline)
{
    struct atomic_u32 *place = sleepers_place(lock, PHASE_FAIR_READERS_PLACE);
    uint32_t seen = load_acquire(place);
    uint64_t word = load_relaxed(&lock->word);
    while (rwlock_prefers_writers(lock) ? !phase_fair_open(lock, word)
                                        : phase_fair_excludes(word, arrived))
        if (compare_exchange_acq_rel(&lock->word, &word,
                                     word | PHASE_FAIR_READERS_ASLEEP))
            return park(place, seen, deadline);
    return true;
}

/* A reader that has arrived gives up. Returns false if its phase has begun. */
static inline bool phase_fair_depart(struct rwlock *lock, uint64_t arrived)
{
    uint64_t word = load_relaxed(&lock->word);
    while (phase_fair_excludes(word, arrived))
        if (compare_exchange_relaxed(&lock->word, &word, word - PHASE_FAIR_READER))
            return true;
    return false;
}

static inline bool phase_fair_wait_to_arrive(struct rwlock *lock,
                                             const struct deadline *deadline)
{
    uint32_t spins = spin_limit();
    while (!phase_fair_read_trylock(lock))
        if (!sleepers_spin_first(&spins) &&
            !phase_fair_sleep_reader(lock, 0, deadline))
            return false;
    return true;
}

static inline bool phase_fair_read_wait(struct rwlock *lock,
                                        const struct deadline *deadline)
{
    if (rwlock_prefers_writers(lock))
        return phase_fair_wait_to_arrive(lock, deadline);
    const uint64_t arrived = fetch_add_relaxed(&lock->word, PHASE_FAIR_READER);
    uint32_t spins = spin_limit();
    while (phase_fair_excludes(load_acquire(&lock->word), arrived))
        if (!sleepers_spin_first(&spins) &&
            !phase_fair_sleep_reader(lock, arrived, deadline) &&
            phase_fair_depart(lock, arrived))
            return false;
    return true;
}

/* Draws a number; with a deadline, takes over the one that has been given up. */
static inline uint32_t phase_fair_draw(struct rwlock *lock, bool timed)
{
    uint64_t word = load_relaxed(&lock->word), drawn;
    do
        drawn = timed && word & PHASE_FAIR_GIVEN_UP
                    ? word & ~PHASE_FAIR_GIVEN_UP
                    : phase_fair_incremented(word, PHASE_FAIR_WIN);
    while (!compare_exchange_relaxed(&lock->word, &word, drawn));
    return timed && word & PHASE_FAIR_GIVEN_UP ? load_relaxed(&lock->state[1])
                                               : phase_fair_field(word, PHASE_FAIR_WIN);
}

/* Waits for the turn of the writer with this number. Returns false if the deadline has
 * passed. */
static inline bool phase_fair_wait_for_turn(struct rwlock *lock, uint32_t number,
                                            const struct deadline *deadline)
{
    uint32_t spins = spin_limit();
    uint64_t word;
    while (phase_fair_field(word = load_relaxed(&lock->word), PHASE_FAIR_WOUT) !=
           number) {
        if (sleepers_spin_first(&spins))
            continue;
        struct atomic_u32 *place = sleepers_place(lock, number);
        uint32_t seen = load_acquire(place);
        word = fetch_or_acq_rel(&lock->word, PHASE_FAIR_WRITERS_ASLEEP);
        if (phase_fair_field(word, PHASE_FAIR_WOUT) != number &&
            !park(place, seen, deadline))
            return false;
    }
    return true;
}

/* The writer is present: waits until the readers that came before it are gone. Returns
 * false if the deadline has passed. */
static inline bool phase_fair_expel(struct rwlock *lock, uint32_t came,
                                    const struct deadline *deadline)
{
    uint32_t spins = spin_limit(), left;
    bool in_time = true, gone;
    while (!(gone = phase_fair_rout(left = load_acquire(&lock->state[0])) == came) &&
           in_time) {
        if (sleepers_spin_first(&spins))
            continue;
        uint32_t waited = left | PHASE_FAIR_WAITED;
        if (left == waited ||
            compare_exchange_relaxed(&lock->state[0], &left, waited))
            in_time = park(&lock->state[0], waited, deadline);
    }
    if (left & PHASE_FAIR_WAITED)
        fetch_and_relaxed(&lock->state[0], ~(uint32_t)PHASE_FAIR_WAITED);
    return gone;
}

static inline void phase_fair_read_unlock(struct rwlock *lock)
{
    uint32_t left = fetch_add_release(&lock->state[0], PHASE_FAIR_LEFT);
    release_window();
    if (unlikely(left & PHASE_FAIR_WAITED))
        unpark(&lock->state[0], 1);
}

/* Returns whether the number that has been given up is the next writer's. */
static inline bool phase_fair_is_given_up(struct rwlock *lock, uint64_t word)
{
    if (likely(!(word & PHASE_FAIR_GIVEN_UP)))
        return false;
    (void)load_acquire(&lock->word); /* pairs with phase_fair_give_up() */
    return load_relaxed(&lock->state[1]) == phase_fair_field(word, PHASE_FAIR_WOUT);
}

/* Returns the word after the release by the writer whose turn it is. */
static inline uint64_t phase_fair_left(struct rwlock *lock, uint64_t word)
{
    uint64_t left = phase_fair_incremented(word, PHASE_FAIR_WOUT) &
                    ~(PHASE_FAIR_PRESENT | PHASE_FAIR_READERS_ASLEEP);
    if (phase_fair_is_given_up(lock, left))
        left = phase_fair_incremented(left, PHASE_FAIR_WOUT) & ~PHASE_FAIR_GIVEN_UP;
    return phase_fair_no_writers(left) ? left & ~PHASE_FAIR_WRITERS_ASLEEP : left;
}

static inline void phase_fair_write_unlock(struct rwlock *lock)
{
    uint64_t word = load_relaxed(&lock->word), left;
    do
        left = phase_fair_left(lock, word);
    while (!compare_exchange_release(&lock->word, &word, left));
    release_window();
    if (unlikely(word & PHASE_FAIR_WRITERS_ASLEEP))
        sleepers_wake(sleepers_place(lock, phase_fair_field(left, PHASE_FAIR_WOUT)));
    if (unlikely(word & PHASE_FAIR_READERS_ASLEEP))
        sleepers_wake(sleepers_place(lock, PHASE_FAIR_READERS_PLACE));
}

static inline void phase_fair_give_up(struct rwlock *lock, uint32_t number)
{
    uint64_t word = load_relaxed(&lock->word);
    store_relaxed(&lock->state[1], number);
    while (phase_fair_field(word, PHASE_FAIR_WOUT) != number)
        if (compare_exchange_release(&lock->word, &word, word | PHASE_FAIR_GIVEN_UP))
            return;
    phase_fair_write_unlock(lock);
}

/* Waits for the turn of the number, then for the readers. Returns false if the deadline
 * has passed. */
static inline bool phase_fair_write_with(struct rwlock *lock, uint32_t number,
                                         const struct deadline *deadline)
{
    if (!phase_fair_wait_for_turn(lock, number, deadline))
        return false;
    uint64_t word = fetch_or_acquire(&lock->word, PHASE_FAIR_PRESENT);
    return phase_fair_expel(lock, phase_fair_field(word, PHASE_FAIR_RIN), deadline);
}

static __attribute__((noinline, unused)) bool
phase_fair_timed_write(struct rwlock *lock, const struct deadline *deadline)
{
    struct lock *queue = timed_queue_enter(lock, deadline);
    if (!queue)
        return false;
    uint32_t number = phase_fair_draw(lock, true);
    bool came = phase_fair_write_with(lock, number, deadline);
    if (!came)
        phase_fair_give_up(lock, number);
    timed_queue_leave(queue);
    return came;
}

static inline bool phase_fair_write_wait(struct rwlock *lock,
                                         const struct deadline *deadline)
{
    return deadline ? phase_fair_timed_write(lock, deadline)
                    : phase_fair_write_with(lock, phase_fair_draw(lock, false), NULL);
}

static inline void phase_fair_forget(struct rwlock *lock)
{
    bool written = load_relaxed(&lock->writer) != 0;
    uint64_t inside = written ? 0 : read_holds_counted(lock);
    uint32_t rout = phase_fair_rout(load_relaxed(&lock->state[0]));
    uint64_t wout = phase_fair_field(load_relaxed(&lock->word), PHASE_FAIR_WOUT);
    uint64_t word = wout << PHASE_FAIR_WOUT | wout << PHASE_FAIR_WIN |
                    (rout + inside) << PHASE_FAIR_RIN;
    if (written)
        word = phase_fair_incremented(word, PHASE_FAIR_WIN) | PHASE_FAIR_PRESENT;
    store_relaxed(&lock->word, word);
    fetch_and_relaxed(&lock->state[0], ~(uint32_t)PHASE_FAIR_WAITED);
    timed_queue_forget(lock);
}

static inline void phase_fair_destroy(struct rwlock *lock)
{
    timed_queue_destroy(lock);
}

#endif
