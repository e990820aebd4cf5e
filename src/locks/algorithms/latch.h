/* SPDX-License-Identifier: MIT */
/*
 * A latch: mutual exclusion by compare-and-set, in two words. It replaces the single
 * word of published locks that compete by compare-and-set: spinlock, hbo, and the outer
 * level of fissile and shfl.
 *
 * Why two words: an atomic operation on a word that the same CPU has just stored to has
 * to wait until the store has left the store buffer, and is then restarted. That costs
 * a quarter of an uncontended lock and unlock. So a release stores to a second word,
 * and the latch is free when the two are equal.
 *
 *   taken     how often the latch was taken, times 2
 *   released  equal to `taken` when the latch is free, less while it is held.
 *             LATCH_KEPT added: free, but reserved
 *
 * L1. taken grows only by the compare-and-set of the new holder, from the value that it
 *     read in released (acquire); released is stored by holders only (release). These
 *     pair. The compare-and-set itself needs no order: it succeeds only if no thread
 *     has taken the latch since that store.
 * L2. A thread that is stopped between its read of released and its compare-and-set
 *     finds taken changed when it continues, unless exactly a multiple of 2^31
 *     acquisitions happened in between: at least ten seconds of uninterrupted use.
 *     Ticket locks rely on the same.
 */
#ifndef HASP_LOCKS_ALGORITHMS_LATCH_H
#define HASP_LOCKS_ALGORITHMS_LATCH_H

#include "platform/platform.h"

enum { LATCH_KEPT = 1, LATCH_STEP = 2 };

struct latch {
    struct atomic_u32 taken, released;
};

/* Makes one attempt without reading `taken` first. */
static inline bool latch_take(struct latch *latch)
{
    prefetch_for_write(&latch->taken); /* a plain load would fetch the line a second
                                        * time */
    uint32_t seen = load_acquire(&latch->released);
    return acquire_if(&latch->taken, seen, seen + LATCH_STEP);
}

/* Returns whether the latch is free and not kept. */
static inline bool latch_is_free(struct latch *latch)
{
    return load_relaxed(&latch->taken) == load_relaxed(&latch->released);
}

/* Takes a latch even if it is kept. Used by the thread for which it is kept, and by
 * others after that thread has left. */
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

/* Ends the reservation. */
static inline void latch_keep_no_more(struct latch *latch)
{
    uint32_t seen = load_relaxed(&latch->released);
    if (seen & LATCH_KEPT)
        (void)compare_exchange_relaxed(&latch->released, &seen, seen - LATCH_KEPT);
}

/* Called by the holder; `kept` is LATCH_KEPT or 0. */
static inline void latch_release(struct latch *latch, uint32_t kept)
{
    uint32_t before = load_relaxed(&latch->released) & ~(uint32_t)LATCH_KEPT;
    store_release(&latch->released, (before + LATCH_STEP) | kept);
    release_window();
}

#endif
