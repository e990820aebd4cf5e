/* SPDX-License-Identifier: MIT */
/*
 * ShflLock. S. Kashyap, I. Calciu, X. Cheng, C. Min, T. Kim, "Scalable and practical
 * locking with shuffling", SOSP 2019.
 *
 * Idea: a latch in front of a queue, whose first waiter, the shuffler, has nothing to
 * do until the latch comes free: meanwhile it moves waiters of its node to the front,
 * so that no holder has to look for its successor. In the paper the role of shuffler
 * also passes along the queue; here it is the first waiter's (the alpha of
 * outer_latch.h), which is always awake, and shuffles for those behind it.
 *
 *   tail  of the inner lock: 0 when nobody waits
 *   next  of the inner lock
 *   taken, released  of the latch, as in latch.h: it is kept for the shuffler
 *   mode  not used: while somebody is queued each release is for the shuffler
 *
 * I1. The latch keeps the invariants of outer_latch.h, with no bypasses but the one.
 * I2. Only the shuffler changes links, and of waiters that have a successor only; the
 *     last waiter keeps its place, and arrivals link themselves behind it.
 * I3. Waiters that were not moved are in the order of their arrival. Each move is
 *     counted (cna.h, order): a waiter is overtaken in the queue HANDOVER_LIMIT times
 *     at most, then all who wait are served in the order that they stand in.
 *
 * Timed lock: as in fissile.h.
 *
 * Trylock: takes the latch when it is free for all.
 */
#ifndef HASP_LOCKS_ALGORITHMS_SHFL_H
#define HASP_LOCKS_ALGORITHMS_SHFL_H

#include "locks/algorithms/lock_defaults.h"
#include "locks/algorithms/outer_latch.h"

static inline uint32_t shfl_pick(struct mcs *mcs, struct atomic_u32 *order,
                                 uint32_t next)
{
    cna_in_order(mcs, order, &next);
    return next;
}

/* Looks at one more waiter; true if there was one to look at. `seen` is the last that
 * was looked at, `local` the last of those in front that are of the shuffler's node. */
static inline bool shfl_examine(struct lock *lock, struct outer_latch_alpha *alpha)
{
    struct mcs *mcs = mcs_of(lock);
    if (load_relaxed(&alpha->order) >> CNA_ID_BITS >= HANDOVER_LIMIT)
        return false;
    struct atomic_u32 *link = alpha->seen ? &waiter_at(alpha->seen)->next : &mcs->next;
    uint32_t at = load_acquire(link), after;
    if (!at)
        return false;
    struct waiter *waiter = waiter_at(at);
    if (load_relaxed(&waiter->more[CNA_NODE]) != current_node()) {
        alpha->seen = at;
    } else if (alpha->seen == alpha->local) {
        alpha->seen = alpha->local = at;
    } else {
        if (!(after = load_acquire(&waiter->next)))
            return false;
        struct atomic_u32 *front =
            alpha->local ? &waiter_at(alpha->local)->next : &mcs->next;
        store_relaxed(link, after);
        store_relaxed(&waiter->next, load_relaxed(front));
        store_relaxed(front, at);
        alpha->local = at;
        store_relaxed(&alpha->order, load_relaxed(&alpha->order) + cna_order(0, 1));
    }
    return true;
}

static inline void shfl_spin(struct lock *lock, struct outer_latch_alpha *alpha)
{
    shfl_examine(lock, alpha);
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
    static const struct outer_latch kind = {0, shfl_pick, shfl_spin};
    return outer_latch_wait(lock, &kind, deadline);
}

DEFAULT_LOCK(shfl)

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
