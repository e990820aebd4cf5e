/* SPDX-License-Identifier: MIT */
/*
 * ShflLock. S. Kashyap, I. Calciu, X. Cheng, C. Min, T. Kim, "Scalable and practical
 * locking with shuffling", SOSP 2019.
 *
 * Idea: a latch in front of a queue. The first waiter, the shuffler, is idle until the
 * latch becomes free, so it uses that time to move waiters of its node to the front; no
 * holder has to search for its successor. In the paper the role of shuffler also moves
 * along the queue. Here it stays with the first waiter (the alpha of outer_latch.h),
 * which is always awake, and which shuffles on behalf of the others.
 *
 *   tail  of the inner lock: 0 if no thread waits
 *   next  of the inner lock
 *   taken, released  of the latch, as in latch.h: it is kept for the shuffler
 *   mode  not used: while a thread is queued, each release keeps the latch for the
 *         shuffler
 *
 * I1. The latch keeps the invariants of outer_latch.h, and allows a single bypass.
 * I2. Only the shuffler changes links, and only those of waiters that have a successor;
 *     the last waiter stays last, and arrivals link themselves behind it.
 * I3. Waiters that were not moved are in order of arrival. Each move is counted (cna.h,
 *     order): a waiter is overtaken in the queue at most CNA_LIMIT times, then all
 *     waiters are served in their order in the queue.
 *
 * Timed lock: as in fissile.h.
 *
 * Trylock: it takes the latch if it is free and not kept.
 */
#ifndef HASP_LOCKS_ALGORITHMS_SHFL_H
#define HASP_LOCKS_ALGORITHMS_SHFL_H

#include "locks/algorithms/lock_defaults.h"
#include "locks/algorithms/outer_latch.h"

static inline uint32_t shfl_pick(struct mcs *mcs, uint32_t *order, uint32_t next)
{
    cna_in_order(mcs, order, &next);
    return next;
}

static const struct mcs_policy shfl_policy = {shfl_pick, cna_refill, cna_pass};

/* Examines one more waiter; returns false if there was none. `seen` is the last waiter
 * that was examined, `local` the last of the waiters at the front that are of the
 * shuffler's node. */
static inline bool shfl_examine(struct lock *lock, struct outer_latch_alpha *alpha)
{
    struct mcs *mcs = mcs_of(lock);
    if (alpha->order >> CNA_ID_BITS >= CNA_LIMIT)
        return false;
    struct atomic_u32 *own = mcs_holder_of(mcs, alpha->node).next;
    struct atomic_u32 *link = alpha->seen ? &waiter_at(alpha->seen)->next : own;
    uint32_t at = load_acquire(link), after;
    if (!at)
        return false;
    struct waiter *waiter = waiter_at(at);
    if (load_relaxed(&waiter->more[CNA_NODE]) != current_cohort()) {
        alpha->seen = at;
    } else if (alpha->seen == alpha->local) {
        alpha->seen = alpha->local = at;
    } else {
        if (!(after = load_acquire(&waiter->next)))
            return false;
        struct atomic_u32 *front =
            alpha->local ? &waiter_at(alpha->local)->next : own;
        store_relaxed(link, after);
        store_relaxed(&waiter->next, load_relaxed(front));
        store_relaxed(front, at);
        alpha->local = at;
        alpha->order += cna_order(0, 1);
    }
    return true;
}

/* Examines waiters until the latch is released. */
static inline void shfl_spin(struct lock *lock, struct outer_latch_alpha *alpha)
{
    struct latch *latch = outer_latch_of(lock);
    uint32_t released = load_relaxed(&latch->released);
    while (shfl_examine(lock, alpha) && load_relaxed(&latch->released) == released)
        ;
    (void)relax_at_most(1); /* the next wait does not watch the lines read above */
}

static inline bool shfl_fast(struct lock *lock)
{
    return outer_latch_fast(lock);
}

static inline bool shfl_trylock(struct lock *lock)
{
    return outer_latch_trylock(lock);
}

static __attribute__((noinline, unused)) bool shfl_wait(struct lock *lock,
                                                        const struct deadline *deadline)
{
    fork_repair_if_due(lock, outer_latch_forget);
    struct outer_latch_alpha alpha = {0};
    if (!mcs_fast(lock) &&
        !cna_enter(lock, &alpha.order, &alpha.node, SPIN, deadline))
        return false;
    struct spinner spinner = {0, 0};
    bool acquired;
    do {
        acquired = latch_take_kept(outer_latch_of(lock));
        if (!acquired)
            shfl_spin(lock, &alpha);
    } while (!acquired && spinner_spin(&spinner, deadline));
    /* The next waiter watches the line of the lock from its grant on. If there is none
     * yet, leaving comes first, so that the next arrival finds an empty queue. */
    bool linked = load_relaxed(mcs_holder_of(mcs_of(lock), alpha.node).next) != 0;
    if (acquired && linked)
        shown_word_set(lock, current_thread());
    mcs_leave_by(lock, alpha.node, false, &shfl_policy, &alpha.order, 0);
    if (acquired && !linked)
        shown_word_set(lock, current_thread());
    return acquired;
}

static inline void shfl_unlock(struct lock *lock)
{
    outer_latch_unlock(lock, 0);
}

static inline void shfl_before_release(struct lock *lock)
{
    outer_latch_before_release(lock);
}

DEFAULT_DESTROY(shfl)

#endif
