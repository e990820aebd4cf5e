/* SPDX-License-Identifier: MIT */
/*
 * The leaders of auto.h's cohorts: how the lock passes from one cohort to another. M.
 * Chabbi, M. Fagan, J. Mellor-Crummey, "High performance locks for multi-level NUMA
 * systems", PPoPP 2015.
 *
 * A leader that finds the lock held queues with all others that wait for it
 * (auto_queue.h). Its cohort keeps that place while it has the lock; its last holder
 * hands the next waiter both the lock and the place. So the word stands, no thread
 * demands the lock, and its line is left to arrivals. The uses by cohorts are counted
 * there, and the policy may change, only once there are more of them than in the
 * longest series.
 *
 *   more[AUTO_PLACE]  of a cohort's node: id of the node of its place; 0 if it has none
 *   more[AUTO_UNCOUNTED], more[AUTO_SERIES]  of a place's node: the uses not counted
 *                     yet when its cohort received the lock; the longest series
 *
 * L1. While a cohort has a place, it is the first one. The place belongs to the holder:
 *     the leader stores it, and each handover within the cohort passes it on.
 * L2. AUTO_BY_NODE stands while the lock is handed over so. A receiver that is no
 *     leader clears it.
 */
#ifndef HASP_LOCKS_ALGORITHMS_AUTO_LEADERS_H
#define HASP_LOCKS_ALGORITHMS_AUTO_LEADERS_H

#include "locks/algorithms/auto_waiting.h"

/* A series begins with this node, by which the caller holds the lock. */
static inline void auto_begin_series(struct waiter *self, uint32_t place,
                                     uint32_t uncounted, uint32_t longest)
{
    store_relaxed(auto_handovers(self), uncounted);
    bool crowded = load_relaxed(&self->more[AUTO_CROWDED]);
    store_relaxed(&self->more[AUTO_LONGEST], crowded ? 0 : uncounted + longest);
    store_relaxed(&self->more[AUTO_PLACE], place);
}

/* The leader has acquired the word. */
static inline void auto_begin_by_word(struct lock *lock, struct waiter *self,
                                      struct waiter *place)
{
    uint32_t longest = auto_longest_series(lock);
    auto_begin_cohort(lock);
    auto_begin_series(self, place ? place->link.id : 0, 0, longest);
    if (place)
        store_relaxed(&place->more[AUTO_SERIES], longest);
    store_relaxed(&lock->owner, OWNER_IN_NODE);
}

/* The leader, whose node in the cohort is `self`, acquires the lock. */
static inline void auto_lead(struct lock *lock, struct waiter *self)
{
    struct waiter *place = waiter_take();
    place->may_change = true;
    enum auto_place entered = auto_queue_enter(lock, place, AUTO_COHORTS, NULL);
    if (entered == AUTO_HANDED) {
        auto_begin_series(self, place->link.id,
                          load_relaxed(&place->more[AUTO_UNCOUNTED]),
                          load_relaxed(&place->more[AUTO_SERIES]));
        return;
    }
    if (entered == AUTO_FIRST) {
        store_relaxed(&place->asleep, 0);
        auto_compete(lock, place, AUTO_HELD, NULL);
    } else {
        auto_give_moved(place);
        place = NULL;
        auto_wait_asleep(lock, false, NULL);
    }
    if (place && auto_policy(lock) != AUTO_COHORTS) {
        auto_adapt(lock);
        auto_leave_first(lock, place);
        place = NULL;
    }
    auto_begin_by_word(lock, self, place);
}

/* Returns whether so many uses should be counted before the next series. */
static inline bool auto_must_count(struct waiter *place, uint32_t uses)
{
    return uses > load_relaxed(&place->more[AUTO_SERIES]);
}

/* The holder leaves its cohort's place among the leaders, and the lock to the next one,
 * if that is allowed. Returns whether it has. */
static inline bool auto_lead_next(struct lock *lock, struct waiter *place, bool may,
                                  uint32_t uncounted)
{
    if (may)
        return auto_queue_pass(lock, place, WAITER_HANDED_OVER, uncounted);
    auto_leave_first(lock, place);
    return false;
}

#endif
