/* SPDX-License-Identifier: MIT */
/*
 * Compact reader-writer lock in one word, whose waiters spin and then sleep. In the
 * manner of the Rust standard library's futex RwLock, 2022; the gate that gives writers
 * their turn follows B. Brandenburg, J. Anderson, "Spin-based reader-writer
 * synchronization for multiprocessor real-time systems", ECRTS 2009.
 *
 * Idea: the word has everything that decides who may enter: a count of readers, whether
 * a writer holds the lock, how many writers wait, and whether anybody sleeps. A writer
 * that waits closes a gate for readers that arrive later. The gate opens for those that
 * arrived before a writer's release, so that neither side overtakes without bound.
 *
 *   word   low half: bits 0 and 1 a writer holds the lock; bit 2 readers may sleep;
 *          bits 3 to 29 readers that hold it; bits 30 and 31 the phase, which changes
 *          when a writer's release wakes readers
 *          high half: bit 0 writers may sleep; from bit 1 on, the number of writers
 *          that wait
 *
 * I1. The word changes by compare-and-exchange and fetch-and-add only, so an acquire
 *     that reads it pairs with the release of every earlier holder, reader or writer.
 * I2. Readers sleep on the low half of the word, writers on the high half, on a value
 *     in which the bit of their kind is set and the lock is not available. A release
 *     clears the bits of those that it wakes in the exchange that releases, so a thread
 *     that saw the bit before does not fall asleep any more; if the half has its old
 *     value again, then with the bit, and a later release wakes it.
 * I3. Threads that are woken compete again: nobody is handed the lock, and a woken
 *     thread that no longer exists (fork) loses nothing.
 * I4. A writer that slept leaves the bit of sleeping writers set when it acquires the
 *     lock while others wait: its release wakes the next. One that gives up wakes the
 *     next, too, as it may have used up a wake-up, and the readers if it was the last.
 *
 * Overtaking: after a writer began to wait, each other reader enters at most once until
 * a writer has held the lock: those that arrived before a release of the lock by
 * another writer. Writers have no order among each other. Of the kind that prefers
 * writers, no reader enters while a writer waits.
 * Liveness: a reader that has waited for RW_FUTEX_PATIENCE_NS at the gate while no
 * writer holds the lock enters: the thread that a waiting writer waits for may itself
 * wait for this reader, which works with glibc's lock. Not of the kind that prefers
 * writers, where it does not with glibc's either.
 */
#ifndef HASP_RWLOCKS_ALGORITHMS_RW_FUTEX_H
#define HASP_RWLOCKS_ALGORITHMS_RW_FUTEX_H

#include "locks/waiting/policies.h"
#include "rwlocks/rwlock.h"

enum { RW_FUTEX_PATIENCE_NS = 20000000 };

#define RW_FUTEX_WRITER ((uint64_t)3)
#define RW_FUTEX_READERS_ASLEEP ((uint64_t)4)
#define RW_FUTEX_READER ((uint64_t)8)
#define RW_FUTEX_READERS ((uint64_t)0x3ffffff8)
#define RW_FUTEX_PHASE ((uint64_t)0xc0000000)
#define RW_FUTEX_NEXT_PHASE ((uint64_t)0x40000000)
#define RW_FUTEX_WRITERS_ASLEEP ((uint64_t)1 << 32)
#define RW_FUTEX_WAITING ((uint64_t)1 << 33)
#define RW_FUTEX_ASLEEP (RW_FUTEX_READERS_ASLEEP | RW_FUTEX_WRITERS_ASLEEP)

static inline bool rw_futex_writers_wait(uint64_t word)
{
    return word >= RW_FUTEX_WAITING;
}

static inline bool rw_futex_held(uint64_t word)
{
    return (word & (RW_FUTEX_WRITER | RW_FUTEX_READERS)) != 0;
}

static inline enum rwlock_use rw_futex_use(const struct rwlock *lock)
{
    uint64_t word = load_relaxed(&lock->word);
    return word & RW_FUTEX_WRITER ? RWLOCK_WRITTEN
           : rw_futex_held(word)  ? RWLOCK_READ
                                  : RWLOCK_FREE;
}

static inline bool rw_futex_read_trylock(struct rwlock *lock)
{
    uint64_t word = load_relaxed(&lock->word);
    while (!(word & RW_FUTEX_WRITER) && !rw_futex_writers_wait(word))
        if (compare_exchange_acquire(&lock->word, &word, word + RW_FUTEX_READER))
            return true;
    return false;
}

static inline bool rw_futex_read_fast(struct rwlock *lock)
{
    return rw_futex_read_trylock(lock);
}

static inline bool rw_futex_write_trylock(struct rwlock *lock)
{
    uint64_t word = load_relaxed(&lock->word);
    while (!rw_futex_held(word) && !rw_futex_writers_wait(word))
        if (compare_exchange_acquire(&lock->word, &word, word + RW_FUTEX_WRITER))
            return true;
    return false;
}

static inline bool rw_futex_write_fast(struct rwlock *lock)
{
    return rw_futex_write_trylock(lock);
}

/* The halves of the word, for sleeping only. */
static inline struct atomic_u32 *rw_futex_low(struct rwlock *lock)
{
    return (struct atomic_u32 *)(void *)&lock->word;
}

static inline struct atomic_u32 *rw_futex_high(struct rwlock *lock)
{
    return rw_futex_low(lock) + 1;
}

/* The threads that a word allows to enter after the caller has left it. */
static inline uint64_t rw_futex_due(const struct rwlock *lock, uint64_t word)
{
    if (rw_futex_held(word))
        return 0;
    if (!rw_futex_writers_wait(word))
        return RW_FUTEX_ASLEEP;
    return rwlock_prefers_writers(lock) ? RW_FUTEX_WRITERS_ASLEEP : RW_FUTEX_ASLEEP;
}

static inline uint64_t rw_futex_with_next_phase(uint64_t word)
{
    return (word & ~RW_FUTEX_PHASE) | ((word + RW_FUTEX_NEXT_PHASE) & RW_FUTEX_PHASE);
}

/* Wakes the threads whose bits were cleared, by address alone. */
static inline void rw_futex_wake(struct rwlock *lock, uint64_t cleared)
{
    if (cleared & RW_FUTEX_READERS_ASLEEP)
        unpark(rw_futex_low(lock), INT32_MAX);
    if (cleared & RW_FUTEX_WRITERS_ASLEEP)
        unpark(rw_futex_high(lock), 1);
}

/* Releases `amount` of the word, and wakes those that it keeps out no longer. A reader
 * does not let the readers in that wait for a writer to come first. */
static __attribute__((noinline, unused)) void
rw_futex_release_slowly(struct rwlock *lock, uint64_t amount)
{
    uint64_t word = load_relaxed(&lock->word), left, due;
    do {
        left = word - amount;
        due = word & rw_futex_due(lock, left);
        if (amount == RW_FUTEX_READER && rw_futex_writers_wait(left))
            due &= RW_FUTEX_WRITERS_ASLEEP;
        left &= ~due;
        if (amount == RW_FUTEX_WRITER && due & RW_FUTEX_READERS_ASLEEP)
            left = rw_futex_with_next_phase(left);
    } while (!compare_exchange_release(&lock->word, &word, left));
    release_window();
    rw_futex_wake(lock, due);
}

static inline void rw_futex_release(struct rwlock *lock, uint64_t amount)
{
    uint64_t word = load_relaxed(&lock->word);
    while (likely(!(word & RW_FUTEX_ASLEEP)))
        if (likely(compare_exchange_release(&lock->word, &word, word - amount)))
            return;
    rw_futex_release_slowly(lock, amount);
}

static inline void rw_futex_read_unlock(struct rwlock *lock)
{
    rw_futex_release(lock, RW_FUTEX_READER);
}

static inline void rw_futex_write_unlock(struct rwlock *lock)
{
    rw_futex_release(lock, RW_FUTEX_WRITER);
}

/* Sleeps while the low half has this value. `patient`: until a release wakes the
 * reader; otherwise it is admitted after a while. Returns false if the deadline has
 * passed. */
static inline bool rw_futex_sleep_reader(struct rwlock *lock, uint32_t low,
                                         bool patient, bool *admitted,
                                         const struct deadline *deadline)
{
    if (patient)
        return park(rw_futex_low(lock), low, deadline);
    const struct deadline end = deadline_after(RW_FUTEX_PATIENCE_NS);
    *admitted = !park(rw_futex_low(lock), low, &end);
    return true;
}

static inline bool rw_futex_read_wait(struct rwlock *lock,
                                      const struct deadline *deadline)
{
    const bool gated = rwlock_prefers_writers(lock);
    const uint64_t phase = load_relaxed(&lock->word) & RW_FUTEX_PHASE;
    uint32_t spins = spin_limit();
    for (bool admitted = false;;) {
        uint64_t word = load_relaxed(&lock->word);
        uint64_t asleep = word | RW_FUTEX_READERS_ASLEEP;
        admitted = admitted || (!gated && (word & RW_FUTEX_PHASE) != phase);
        bool written = (word & RW_FUTEX_WRITER) != 0;
        if (!written && (admitted || !rw_futex_writers_wait(word))) {
            if (compare_exchange_acquire(&lock->word, &word, word + RW_FUTEX_READER))
                return true;
        } else if (spins) {
            spins -= relax_at_most(spins);
        } else if (word == asleep ||
                   compare_exchange_relaxed(&lock->word, &word, asleep)) {
            if (!rw_futex_sleep_reader(lock, (uint32_t)asleep,
                                       gated || written || deadline, &admitted,
                                       deadline))
                return false;
        }
    }
}

/* A writer gives up: it no longer keeps the gate closed (I4). */
static inline void rw_futex_write_leave(struct rwlock *lock)
{
    uint64_t word = load_relaxed(&lock->word), left, woken;
    do {
        left = word - RW_FUTEX_WAITING;
        woken = rw_futex_writers_wait(left) ? RW_FUTEX_WRITERS_ASLEEP
                                            : word & RW_FUTEX_READERS_ASLEEP;
        left &= ~(woken & RW_FUTEX_READERS_ASLEEP);
    } while (!compare_exchange_relaxed(&lock->word, &word, left));
    rw_futex_wake(lock, woken);
}

static inline bool rw_futex_write_wait(struct rwlock *lock,
                                       const struct deadline *deadline)
{
    uint64_t slept = 0;
    uint32_t spins = spin_limit();
    fetch_add_relaxed(&lock->word, RW_FUTEX_WAITING);
    for (;;) {
        uint64_t word = load_relaxed(&lock->word);
        uint64_t asleep = word | RW_FUTEX_WRITERS_ASLEEP;
        if (!rw_futex_held(word)) {
            uint64_t taken = word - RW_FUTEX_WAITING + RW_FUTEX_WRITER;
            if (rw_futex_writers_wait(taken))
                taken |= slept;
            if (compare_exchange_acquire(&lock->word, &word, taken))
                return true;
        } else if (spins) {
            spins -= relax_at_most(spins);
        } else if (word == asleep ||
                   compare_exchange_relaxed(&lock->word, &word, asleep)) {
            slept = RW_FUTEX_WRITERS_ASLEEP;
            if (!park(rw_futex_high(lock), (uint32_t)(asleep >> 32), deadline)) {
                rw_futex_write_leave(lock);
                return false;
            }
        }
    }
}

static inline void rw_futex_forget(struct rwlock *lock)
{
    fetch_and_relaxed(&lock->word, RW_FUTEX_WRITER | RW_FUTEX_READERS);
}

static inline void rw_futex_destroy(struct rwlock *lock)
{
    (void)lock;
}

#endif
