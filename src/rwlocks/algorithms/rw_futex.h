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
 *   word      bits 0 and 1 a writer holds it; bit 2 readers may sleep; bits 3 to 31
 *             readers that hold it; bit 32 writers may sleep; from bit 33 on, the
 *             number of writers that wait
 *   state[0]  `phase`: readers sleep on it; changes when they are woken
 *   state[1]  `turn`: writers sleep on it; changes when one is woken
 *
 * I1. The word changes by compare-and-exchange and fetch-and-add only, so an acquire
 *     that reads it pairs with the release of every earlier holder, reader or writer.
 * I2. A thread sleeps on the value of `phase` or `turn` that it read (acquire) before
 *     it saw the bit of its kind set. A thread that wakes clears the bit, then changes
 *     the value (release), and only then releases the word, provided that the bit is
 *     still clear. A sleeper that saw the bit before it was cleared therefore has the
 *     old value, and one that set it later makes the releaser start again.
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
#define RW_FUTEX_READERS ((uint64_t)0xfffffff8)
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

static inline bool rw_futex_write_fast(struct rwlock *lock)
{
    uint64_t free = 0;
    return compare_exchange_acquire(&lock->word, &free, RW_FUTEX_WRITER);
}

static inline bool rw_futex_write_trylock(struct rwlock *lock)
{
    uint64_t word = load_relaxed(&lock->word);
    while (!rw_futex_held(word) && !rw_futex_writers_wait(word))
        if (compare_exchange_acquire(&lock->word, &word, word + RW_FUTEX_WRITER))
            return true;
    return false;
}

/* The threads to wake after a release, by address alone. */
struct rw_futex_wake {
    bool readers, writer;
};

/* Clears those bits of `which` that are set in *word, and changes the value that these
 * threads sleep on (I2). Returns false if the word has changed; *word is new then. */
static inline bool rw_futex_prepare(struct rwlock *lock, uint64_t *word, uint64_t which,
                                    struct rw_futex_wake *wake)
{
    uint64_t set = *word & which;
    if (!compare_exchange_relaxed(&lock->word, word, *word & ~set))
        return false;
    *word &= ~set;
    if (set & RW_FUTEX_READERS_ASLEEP) {
        fetch_add_release(&lock->state[0], 1);
        wake->readers = true;
    }
    if (set & RW_FUTEX_WRITERS_ASLEEP) {
        fetch_add_release(&lock->state[1], 1);
        wake->writer = true;
    }
    return true;
}

static inline void rw_futex_wake(struct rwlock *lock, struct rw_futex_wake wake)
{
    if (wake.readers)
        unpark(&lock->state[0], INT32_MAX);
    if (wake.writer)
        unpark(&lock->state[1], 1);
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

/* Releases `amount` of the word, and wakes those that it keeps out no longer. A reader
 * does not let the readers in that wait for a writer to come first. */
static __attribute__((noinline, unused)) void
rw_futex_release_slowly(struct rwlock *lock, uint64_t amount)
{
    struct rw_futex_wake wake = {false, false};
    uint64_t word = load_relaxed(&lock->word);
    for (;;) {
        uint64_t left = word - amount, due = rw_futex_due(lock, left);
        if (amount == RW_FUTEX_READER && rw_futex_writers_wait(left))
            due &= RW_FUTEX_WRITERS_ASLEEP;
        if (word & due) {
            (void)rw_futex_prepare(lock, &word, due, &wake);
            continue;
        }
        if (compare_exchange_release(&lock->word, &word, left))
            break;
    }
    release_window();
    rw_futex_wake(lock, wake);
}

static inline void rw_futex_read_unlock(struct rwlock *lock)
{
    uint64_t word = load_relaxed(&lock->word);
    while (likely(!(word & RW_FUTEX_ASLEEP)))
        if (likely(
                compare_exchange_release(&lock->word, &word, word - RW_FUTEX_READER)))
            return;
    rw_futex_release_slowly(lock, RW_FUTEX_READER);
}

static inline void rw_futex_write_unlock(struct rwlock *lock)
{
    uint64_t word = RW_FUTEX_WRITER;
    if (unlikely(!compare_exchange_release(&lock->word, &word, 0)))
        rw_futex_release_slowly(lock, RW_FUTEX_WRITER);
}

/* Sleeps while `phase` is the current one. `patient`: until a writer releases the lock;
 * otherwise the reader is admitted after a while. Returns false if the deadline has
 * passed. */
static inline bool rw_futex_sleep_reader(struct rwlock *lock, uint32_t phase,
                                         bool patient, bool *admitted,
                                         const struct deadline *deadline)
{
    if (patient)
        return park(&lock->state[0], phase, deadline);
    const struct deadline end = deadline_after(RW_FUTEX_PATIENCE_NS);
    if (park(&lock->state[0], phase, &end))
        return true;
    *admitted = true;
    return true;
}

static inline bool rw_futex_read_wait(struct rwlock *lock,
                                      const struct deadline *deadline)
{
    const bool gated = rwlock_prefers_writers(lock);
    const uint32_t first = load_acquire(&lock->state[0]);
    uint32_t spins = spin_limit();
    for (bool admitted = false;;) {
        uint32_t phase = load_acquire(&lock->state[0]);
        uint64_t word = load_relaxed(&lock->word);
        admitted = admitted || (!gated && phase != first);
        bool written = (word & RW_FUTEX_WRITER) != 0;
        if (!written && (admitted || !rw_futex_writers_wait(word))) {
            if (compare_exchange_acquire(&lock->word, &word, word + RW_FUTEX_READER))
                return true;
        } else if (spins) {
            spins -= relax_at_most(spins);
        } else if (word & RW_FUTEX_READERS_ASLEEP ||
                   compare_exchange_relaxed(&lock->word, &word,
                                            word | RW_FUTEX_READERS_ASLEEP)) {
            if (!rw_futex_sleep_reader(lock, phase, gated || written || deadline,
                                       &admitted, deadline))
                return false;
        }
    }
}

/* A writer gives up: it no longer keeps the gate closed (I4). */
static inline void rw_futex_write_leave(struct rwlock *lock)
{
    struct rw_futex_wake wake = {false, false};
    uint64_t word = load_relaxed(&lock->word);
    for (;;) {
        uint64_t left = word - RW_FUTEX_WAITING;
        uint64_t due = rw_futex_writers_wait(left) ? 0 : RW_FUTEX_READERS_ASLEEP;
        if (word & due) {
            (void)rw_futex_prepare(lock, &word, due, &wake);
            continue;
        }
        wake.writer = rw_futex_writers_wait(left);
        if (wake.writer)
            fetch_add_release(&lock->state[1], 1);
        if (compare_exchange_relaxed(&lock->word, &word, left))
            break;
    }
    rw_futex_wake(lock, wake);
}

static inline bool rw_futex_write_wait(struct rwlock *lock,
                                       const struct deadline *deadline)
{
    uint64_t slept = 0;
    uint32_t spins = spin_limit();
    fetch_add_relaxed(&lock->word, RW_FUTEX_WAITING);
    for (;;) {
        uint32_t turn = load_acquire(&lock->state[1]);
        uint64_t word = load_relaxed(&lock->word);
        if (!rw_futex_held(word)) {
            uint64_t taken = word - RW_FUTEX_WAITING + RW_FUTEX_WRITER;
            if (rw_futex_writers_wait(taken))
                taken |= slept;
            if (compare_exchange_acquire(&lock->word, &word, taken))
                return true;
        } else if (spins) {
            spins -= relax_at_most(spins);
        } else if (word & RW_FUTEX_WRITERS_ASLEEP ||
                   compare_exchange_relaxed(&lock->word, &word,
                                            word | RW_FUTEX_WRITERS_ASLEEP)) {
            slept = RW_FUTEX_WRITERS_ASLEEP;
            if (!park(&lock->state[1], turn, deadline)) {
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
