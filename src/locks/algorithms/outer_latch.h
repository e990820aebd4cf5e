/* SPDX-License-Identifier: MIT */
/*
 * A latch in front of a queue. D. Dice, A. Kogan, "Fissile locks", arXiv 2020; S.
 * Kashyap et al., "Scalable and practical locking with shuffling", SOSP 2019.
 *
 * Idea: a thread that finds the latch free takes it with one compare-and-set and
 * releases it with one store. The others queue at an inner lock, and only the holder of
 * that, the alpha, waits for the latch. While a thread is queued, releases are counted;
 * once the count reaches a limit, each release keeps the latch for the alpha instead of
 * setting it free. The count restarts with each epoch. An epoch ends when a thread
 * acquires that queued during it; by then all threads that queued in the previous epoch
 * have acquired.
 *
 *   tail  of the inner lock, as in mcs.h: 0 if there is neither an alpha nor a queue
 *   next  of the inner lock, as in mcs.h
 *   taken, released  as in latch.h; LATCH_KEPT: free, but reserved for the alpha
 *   mode  bits 0-5 the number of releases in this epoch while a thread was queued; bits
 *         6-7 the number of the epoch
 *
 * I1. The latch provides mutual exclusion.
 * I2. mode is written by holders only. While a thread is queued, it grows with each
 *     release except the one in progress when the thread arrived. Threads that wait in
 *     order of arrival acquire in the epoch in which they queued, or in the next. After
 *     a waiter was overtaken in the queue, no bypass is allowed until all are in order
 *     again. So a queued thread is bypassed at the latch at most twice the limit, plus
 *     once.
 * I3. The latch is kept only if the tail was not 0. A thread that queues becomes the
 *     alpha or leaves; if all have left since then, the next thread that tries or
 *     queues takes the latch.
 */
#ifndef HASP_LOCKS_ALGORITHMS_OUTER_LATCH_H
#define HASP_LOCKS_ALGORITHMS_OUTER_LATCH_H

#include "locks/algorithms/cna.h"
#include "locks/algorithms/latch.h"
#include "locks/algorithms/lock_defaults.h"

enum {
    OUTER_LATCH_EPOCH = 1 << 6,
    OUTER_LATCH_COUNT = OUTER_LATCH_EPOCH - 1
}; /* in mode */

/* The state of the inner lock's holder, the alpha. */
struct outer_latch_alpha {
    uint32_t order;       /* cna.h */
    uint32_t mode;        /* fissile.h: before it queued */
    uint32_t picked;      /* fissile.h: the next alpha, if already chosen, or 0 */
    uint32_t seen, local; /* shfl.h */
    struct waiter *node;  /* NULL if it did not have to queue */
};

static inline struct latch *outer_latch_of(struct lock *lock)
{
    return (struct latch *)&lock->state[2];
}

/* Every queued thread belongs to the parent, because a live thread passes through here
 * before it queues. The latch may be in use. */
static inline void outer_latch_forget(struct lock *lock, bool held)
{
    (void)held;
    store_relaxed(&mcs_of(lock)->next, 0);
    store_relaxed(&mcs_of(lock)->tail, 0);
    latch_keep_no_more(outer_latch_of(lock));
}

DEFAULT_BEFORE_RELEASE(outer_latch)

static inline bool outer_latch_fast(struct lock *lock)
{
    return latch_take(outer_latch_of(lock));
}

/* The same, but reads before it writes. */
static inline bool outer_latch_look(struct lock *lock)
{
    struct latch *latch = outer_latch_of(lock);
    return latch_is_free(latch) && latch_take(latch);
}

static inline bool outer_latch_trylock(struct lock *lock)
{
    struct latch *latch = outer_latch_of(lock);
    if (likely(latch_is_free(latch)))
        return latch_take(latch);
    return latch_is_kept(latch) && load_relaxed(&mcs_of(lock)->tail) == 0 &&
           latch_take_kept(latch);
}

/* Returns whether the latch is kept: then the caller's next attempt will fail. */
static inline __attribute__((always_inline)) bool outer_latch_unlock(struct lock *lock,
                                                                     uint32_t bypasses)
{
    uint32_t kept = 0;
    if (unlikely(load_relaxed(&mcs_of(lock)->tail) != 0)) {
        uint32_t seen = load_relaxed(&lock->mode);
        if ((seen & OUTER_LATCH_COUNT) < bypasses)
            store_relaxed(&lock->mode, (uint8_t)(seen + 1));
        else
            kept = LATCH_KEPT;
    }
    latch_release(outer_latch_of(lock), kept);
    return kept != 0;
}

#endif
