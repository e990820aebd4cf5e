/* SPDX-License-Identifier: MIT */
/*
 * Blocking ShflLock. S. Kashyap, I. Calciu, X. Cheng, C. Min, T. Kim, "Scalable and
 * practical locking with shuffling", SOSP 2019.
 *
 * Idea: the queue is that of shfl.h, but its waiters sleep, and running threads may
 * take the free word, so that no release waits for a wake-up. The first waiter, the
 * shuffler, is woken as soon as the one before it has acquired: one critical section
 * early. In the paper the shuffler wakes the waiters that it moves; since one waiter is
 * already awake, more would only compete for CPUs. The word works as in malthusian.h,
 * with the shuffler as its standby: the shuffler may sleep, too, and becomes impatient
 * if others overtake it often.
 *
 *   tail  of the inner lock, as in mcs.h
 *   next  of the inner lock, as in mcs.h
 *   word  bits HELD, SLEEPERS, IMPATIENT and GRANTED of barging.h
 *
 * I1. Only the shuffler becomes impatient; otherwise B1 to B4 of barging.h hold.
 * I2. The queue keeps I2 and I3 of shfl.h. Bypasses at the word are not bounded.
 *
 * Timed lock: queued waiters leave as in mcs.h; the one that waits at the word leaves
 * as in malthusian.h.
 *
 * Trylock: it takes the word if it is free.
 */
#ifndef HASP_LOCKS_ALGORITHMS_SHFL_PARK_H
#define HASP_LOCKS_ALGORITHMS_SHFL_PARK_H

#include "locks/algorithms/lock_defaults.h"
#include "locks/algorithms/malthusian.h"
#include "locks/algorithms/shfl.h"

static inline void shfl_park_before_release(struct lock *lock)
{
    fork_repair_by_holder(lock, malthusian_forget);
}

static inline bool shfl_park_fast(struct lock *lock)
{
    return malthusian_fast(lock);
}

static inline bool shfl_park_trylock(struct lock *lock)
{
    return malthusian_trylock(lock, SPIN_THEN_PARK);
}

static __attribute__((noinline, unused)) bool
shfl_park_wait(struct lock *lock, const struct deadline *deadline)
{
    fork_repair_if_due(lock, malthusian_forget);
    struct outer_latch_alpha alpha = {0};
    if (!mcs_fast(lock) &&
        !cna_enter(lock, &alpha.order, &alpha.node, SPIN_THEN_PARK, deadline))
        return false;
    for (int i = 0; i < HANDOVER_LIMIT && shfl_examine(lock, &alpha); i++)
        continue;
    struct atomic_u32 *word = malthusian_word(lock);
    bool acquired = malthusian_spin(word) ||
                    barging_wait(word, SPIN_THEN_PARK, 0,
                                 malthusian_patience(SPIN_THEN_PARK), deadline);
    /* The next waiter becomes the shuffler. */
    mcs_leave_by(lock, alpha.node, false, &shfl_policy, &alpha.order, 0);
    return acquired;
}

DEFAULT_LOCK(shfl_park)

static inline void shfl_park_unlock(struct lock *lock)
{
    malthusian_unlock(lock, SPIN_THEN_PARK);
}

static inline void shfl_park_adopt(struct lock *lock, struct waiter *waiter)
{
    malthusian_adopt(lock, waiter);
}

static inline void shfl_park_relock(struct lock *lock)
{
    malthusian_relock(lock, SPIN_THEN_PARK);
}

DEFAULT_DESTROY(shfl_park)

#endif
