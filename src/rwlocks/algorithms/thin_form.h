/* SPDX-License-Identifier: MIT */
/*
 * The thin form of a reader-writer lock that needs memory outside: until its first
 * contention, the lock is one word. After D. Bacon, R. Konuru, C. Murthy, M. Serrano,
 * "Thin locks: featherweight synchronization for Java", PLDI 1998.
 *
 *   state[0]  bit 0: inflated: nobody enters by this word any more; bit 1: a writer may
 *             sleep until nobody is inside by it; bit 2: threads may sleep until the
 *             writer has left it; bit 31: a writer is inside by it; between them the
 *             readers inside by it. (Bits 0 to 2 are those of reader_gates.h.)
 *
 * F1. A thread enters by an exchange that does not find the lock inflated. A thread
 *     that has to wait, or whose exchange fails, inflates the lock; it stays so until
 *     it is destroyed. Only then does the lock use memory outside.
 * F2. Once the lock is inflated, readers and the writer only leave the word. A thread
 *     that enters the inflated lock has found by a load (acquire) that the writer has
 *     left; one that writes, that all readers have, too. The load pairs with the
 *     releases of those that left.
 * F3. So a writer that releases the lock while bit 31 is set entered by the word, and
 *     otherwise the inflated lock. A reader leaves by the word as long as that counts
 *     any reader: only the sum of the readers of both forms matters.
 */
#ifndef HASP_RWLOCKS_ALGORITHMS_THIN_FORM_H
#define HASP_RWLOCKS_ALGORITHMS_THIN_FORM_H

#include "locks/waiting/policies.h"
#include "rwlocks/sleepers.h"

enum { THIN_INFLATED = 1, THIN_AWAITED = 2, THIN_ASLEEP = 4, THIN_READER = 8 };
#define THIN_WRITER ((uint32_t)1 << 31)

enum thin_result {
    THIN_BARRED,  /* a thread that is inside by the word keeps the caller out */
    THIN_ENTERED, /* the caller holds the lock */
    THIN_USELESS, /* the lock is inflated, and no writer is inside by the word */
};

static inline struct atomic_u32 *thin_word(struct rwlock *lock)
{
    return &lock->state[0];
}

static inline enum thin_result thin_result_of_inflated(uint32_t word)
{
    return word & THIN_WRITER ? THIN_BARRED : THIN_USELESS;
}

/* Enters if nothing in `bars` is set. */
static inline enum thin_result thin_enter(struct rwlock *lock, uint32_t bars,
                                          uint32_t entrant)
{
    struct atomic_u32 *cell = thin_word(lock);
    uint32_t word = load_acquire(cell);
    if (likely(word & THIN_INFLATED))
        return thin_result_of_inflated(word);
    if (word & bars)
        return THIN_BARRED;
    if (likely(compare_exchange_acquire(cell, &word, word + entrant)))
        return THIN_ENTERED;
    return thin_result_of_inflated(fetch_or_acquire(cell, THIN_INFLATED));
}

static inline enum thin_result thin_read(struct rwlock *lock)
{
    return thin_enter(lock, THIN_WRITER, THIN_READER);
}

static inline enum thin_result thin_write(struct rwlock *lock)
{
    return thin_enter(lock, UINT32_MAX, THIN_WRITER);
}

/* The caller is going to wait: inflates the lock, unless `result`, of its attempt, is
 * that it need not. (A thread's first read, and any thread of a forked child, comes
 * here without having tried.) Returns whether the caller holds the lock. */
static inline bool thin_inflate_unless_entered(struct rwlock *lock,
                                               enum thin_result result)
{
    if (result == THIN_BARRED && !(load_relaxed(thin_word(lock)) & THIN_INFLATED))
        fetch_or_relaxed(thin_word(lock), THIN_INFLATED);
    return result == THIN_ENTERED;
}

/* The lock is inflated: waits until no writer is inside by the word. Returns false if
 * the deadline has passed. */
static inline bool thin_await_writer(struct rwlock *lock,
                                     const struct deadline *deadline)
{
    struct atomic_u32 *cell = thin_word(lock);
    uint32_t spins = spin_limit(), word;
    while (unlikely((word = load_acquire(cell)) & THIN_WRITER))
        if (!sleepers_spin_first(&spins) &&
            (word & THIN_ASLEEP ||
             compare_exchange_relaxed(cell, &word, word | THIN_ASLEEP)) &&
            !park(cell, word | THIN_ASLEEP, deadline))
            return false;
    return true;
}

/* A thread has left the word, which was `was`. Uses the lock's address alone. */
static inline void thin_wake(struct rwlock *lock, uint32_t was)
{
    release_window();
    if (unlikely(was & THIN_ASLEEP))
        unpark(thin_word(lock), INT32_MAX);
    if (unlikely(was & THIN_AWAITED))
        sleepers_wake(sleepers_place(lock, 0));
}

/* Releases the lock if the caller has to leave by the word. */
static inline bool thin_read_unlock(struct rwlock *lock)
{
    uint32_t word = load_relaxed(thin_word(lock));
    while (word >= THIN_READER)
        if (compare_exchange_release(thin_word(lock), &word, word - THIN_READER)) {
            thin_wake(lock, word);
            return true;
        }
    return false;
}

static inline bool thin_write_unlock(struct rwlock *lock)
{
    if (!(load_relaxed(thin_word(lock)) & THIN_WRITER))
        return false;
    thin_wake(lock, fetch_add_release(thin_word(lock), THIN_WRITER)); /* subtracts it */
    return true;
}

/* The holder of the writers' lock waits until nobody is inside by the word, or does so
 * no longer. */
static inline void thin_is_awaited(struct rwlock *lock, bool awaited)
{
    uint32_t word = load_relaxed(thin_word(lock));
    if (awaited && word != THIN_INFLATED)
        fetch_or_acq_rel(thin_word(lock), THIN_AWAITED);
    else if (!awaited && word & THIN_AWAITED)
        fetch_and_relaxed(thin_word(lock), ~(uint32_t)THIN_AWAITED);
}

/* In a forked child: the word counts those that are inside, in either form, except a
 * writer of the inflated one. */
static inline void thin_forget(struct rwlock *lock, uint32_t inside)
{
    store_relaxed(thin_word(lock),
                  (load_relaxed(thin_word(lock)) & THIN_INFLATED) | inside);
}

/* The lock is destroyed. A program may do so while it holds it, and unlock it then. */
static inline void thin_destroy(struct rwlock *lock)
{
    uint32_t word = load_relaxed(thin_word(lock));
    if (word)
        store_relaxed(thin_word(lock), word & ~(uint32_t)(THIN_READER - 1));
}

#endif
