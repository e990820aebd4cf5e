/* SPDX-License-Identifier: MIT */
/*
 * A latch: mutual exclusion by compare-and-set alone, in two words. What the locks are
 * made of that compete by compare-and-set for a single word in their papers: spinlock,
 * hbo, and the outer level of fissile and shfl.
 *
 * Why two words: an atomic operation on the very word that was just stored to has to
 * wait until the store has left the processor's store buffer, and to be started again.
 * That is a quarter of an uncontended pair of lock and unlock. So a release stores
 * elsewhere: what counts is whether the words are equal.
 *
 *   taken     how often the latch was taken, times 2
 *   released  the same when it is free; it is held while that is less. LATCH_KEPT on
 *             top: it is free, but only for whom it is kept
 *
 * L1. taken grows only by the compare-and-set of the new holder, from the value that
 *     it saw in released (acquire); released is stored by holders only (release). They
 *     pair. The compare-and-set needs no order: it succeeds only if nobody has taken
 *     the latch since that store.
 * L2. A thread that stops between its look at released and its compare-and-set finds
 *     taken changed when it goes on, unless exactly a multiple of 2^31 acquisitions
 *     came in between: at least ten seconds without a pause in which the latch is used.
 *     Ticket locks rely on the same.
 */
#ifndef HASP_LOCKS_ALGORITHMS_LATCH_H
#define HASP_LOCKS_ALGORITHMS_LATCH_H

#include "platform/platform.h"

enum { LATCH_KEPT = 1, LATCH_STEP = 2 };

struct latch {
    struct atomic_u32 taken, released;
};

/* One attempt, without a look at `taken` before. */
static inline bool latch_take(struct latch *latch)
{
    prefetch_for_write(&latch->taken); /* to read first would fetch the line twice */
    uint32_t seen = load_acquire(&latch->released);
    return acquire_if(&latch->taken, seen, seen + LATCH_STEP);
}

/* For everybody. */
static inline bool latch_is_free(struct latch *latch)
{
    return load_relaxed(&latch->taken) == load_relaxed(&latch->released);
}

/* Also if it is kept: by those for whom, or when nobody is left of them. */
static inline bool latch_take_kept(struct latch *latch)
{
    uint32_t seen = load_acquire(&latch->released) & ~(uint32_t)LATCH_KEPT;
    return load_relaxed(&latch->taken) == seen &&
           compare_exchange_relaxed(&latch->taken, &seen, seen + LATCH_STEP);
}

static inline bool latch_is_kept(struct latch *latch)
{
    uint32_t released = load_relaxed(&latch->released);
    return load_relaxed(&latch->taken) == (released ^ LATCH_KEPT);
}

/* Kept for nobody any more. */
static inline void latch_keep_no_more(struct latch *latch)
{
    uint32_t seen = load_relaxed(&latch->released);
    if (seen & LATCH_KEPT)
        (void)compare_exchange_relaxed(&latch->released, &seen, seen - LATCH_KEPT);
}

/* By the holder; `kept` LATCH_KEPT or 0. */
static inline void latch_release(struct latch *latch, uint32_t kept)
{
    uint32_t before = load_relaxed(&latch->released) & ~(uint32_t)LATCH_KEPT;
    store_release(&latch->released, (before + LATCH_STEP) | kept);
    release_window();
}

#endif
