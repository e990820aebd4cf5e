/* SPDX-License-Identifier: MIT */
/*
 * Fissile lock. D. Dice, A. Kogan, "Fissile locks", arXiv 2020.
 *
 * Idea: a test-and-set lock under low contention, a NUMA-aware queue under high
 * contention: the latch and its alpha as in outer_latch.h, in front of the queue of
 * cna.h, whose alpha chooses the next one while it waits for the latch. In the paper
 * the alpha becomes impatient after some time; here releases are counted, so that the
 * number of bypasses is bounded.
 *
 *   tail  of the inner lock: 0 if no thread waits
 *   next  of the inner lock
 *   taken, released  of the latch, as in latch.h
 *   mode  number of releases in this epoch while a thread was queued, and the number of
 *         the epoch
 *
 * I1. The latch keeps the invariants of outer_latch.h, the queue those of cna.h.
 * I2. A queued thread is overtaken at the latch at most FISSILE_BYPASSES times in each
 *     of two epochs and once more, and CNA_LIMIT times in the queue.
 *
 * Timed lock: a queued thread leaves as in mcs.h. The alpha hands the queue over and
 * leaves. If the latch is already reserved for it, the next alpha takes the latch, or a
 * thread that finds the queue empty does.
 *
 * Trylock: it takes a free latch even if threads are queued; this counts as a bypass.
 */
#ifndef HASP_LOCKS_ALGORITHMS_FISSILE_H
#define HASP_LOCKS_ALGORITHMS_FISSILE_H

#include "locks/algorithms/lock_defaults.h"
#include "locks/algorithms/outer_latch.h"

/* With this limit, two epochs admit as many bypasses as the queue allows handovers
 * within a node. */
enum { FISSILE_BYPASSES = MODEL_CHECKED ? 1 : 32 };

_Static_assert((int)FISSILE_BYPASSES <= (int)OUTER_LATCH_COUNT, "counted in mode");

static inline bool fissile_fast(struct lock *lock)
{
    return current_thread_if_known() ? outer_latch_fast(lock) : outer_latch_look(lock);
}

static inline bool fissile_trylock(struct lock *lock)
{
    return outer_latch_trylock(lock);
}

/* Chooses the next alpha if a waiter is linked, and returns whether one is. `any`: even
 * if none of them is on the caller's node. */
static inline bool fissile_pick(struct lock *lock, struct outer_latch_alpha *alpha,
                                bool any)
{
    struct mcs *mcs = mcs_of(lock);
    uint32_t next = load_acquire(mcs_holder_of(mcs, alpha->node).next);
    if (next)
        alpha->picked = cna_choose(mcs, &alpha->order, next, any);
    return next != 0;
}

/* Called when the alpha holds the lock, and its order is final. */
static inline void fissile_begin(struct lock *lock,
                                 const struct outer_latch_alpha *alpha)
{
    uint32_t mode = load_relaxed(&lock->mode);
    if (alpha->order)
        mode = (mode & ~(uint32_t)OUTER_LATCH_COUNT) | FISSILE_BYPASSES;
    else if (((mode ^ alpha->mode) & ~(uint32_t)OUTER_LATCH_COUNT) == 0)
        mode = (mode & ~(uint32_t)OUTER_LATCH_COUNT) + OUTER_LATCH_EPOCH;
    store_relaxed(&lock->mode, (uint8_t)mode);
}

/* Called when the alpha holds the latch, before it hands the queue over: the next alpha
 * watches the line of the lock from then on. Returns whether the order was final. */
static inline bool fissile_settle(struct lock *lock, struct outer_latch_alpha *alpha)
{
    if (!alpha->picked)
        fissile_pick(lock, alpha, true);
    if (alpha->picked)
        fissile_begin(lock, alpha);
    shown_word_set(lock, current_thread());
    return alpha->picked != 0;
}

/* Looks for the next alpha, while there is time. */
static inline void fissile_spin(struct lock *lock, struct outer_latch_alpha *alpha)
{
    if (!alpha->picked && fissile_pick(lock, alpha, false))
        (void)relax_at_most(1); /* the next wait does not watch the lines read above */
}

static __attribute__((noinline, unused)) bool
fissile_wait(struct lock *lock, const struct deadline *deadline)
{
    fork_repair_if_due(lock, outer_latch_forget);
    struct outer_latch_alpha alpha = {.mode = load_relaxed(&lock->mode)};
    /* Read first: if a thread is queued, a failed attempt would fetch the line for
     * writing once more than the exchange that follows. */
    if (!mcs_try(lock) &&
        !cna_enter(lock, &alpha.order, &alpha.node, SPIN, deadline))
        return false;
    struct spinner spinner = {0, 0};
    bool acquired;
    do {
        fissile_spin(lock, &alpha);
        acquired = latch_take_kept(outer_latch_of(lock));
    } while (!acquired && spinner_spin(&spinner, deadline));
    bool settled = acquired && fissile_settle(lock, &alpha);
    mcs_leave_by(lock, alpha.node, false, &cna_policy, &alpha.order, alpha.picked);
    if (acquired && !settled)
        fissile_begin(lock, &alpha);
    return acquired;
}

static inline void fissile_unlock(struct lock *lock)
{
    /* The next first attempt reads before it writes (fissile_fast), and leaves the line
     * to the alpha. */
    if (unlikely(outer_latch_unlock(lock, FISSILE_BYPASSES)))
        expect_wait(true);
}

static inline void fissile_before_release(struct lock *lock)
{
    outer_latch_before_release(lock);
}

DEFAULT_DESTROY(fissile)

#endif
