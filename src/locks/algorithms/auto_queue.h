/* SPDX-License-Identifier: MIT */
/*
 * The queue of auto.h: an MCS queue of the threads that wait, in which the first one
 * keeps its node while it competes for the lock's word.
 *
 *   state[0]  tail: id of the last waiter, 0 if no thread waits
 *
 * Q1. A waiter that has exchanged the tail links itself behind the one it replaced. So
 *     a thread that finds another tail than its own node may wait for the link.
 * Q2. Only the first waiter leaves at the front. It grants the next one its place
 *     (release; pairs with wait_for_grant), and takes waiters that gave up out of the
 *     queue.
 */
#ifndef HASP_LOCKS_ALGORITHMS_AUTO_QUEUE_H
#define HASP_LOCKS_ALGORITHMS_AUTO_QUEUE_H

#include "locks/algorithms/auto_policy.h"
#include "locks/waiting/abandoned_nodes.h"

static inline struct atomic_u32 *auto_tail(struct lock *lock)
{
    return &lock->state[0];
}

/* Under AUTO_SPINNING: how often a waiter spins for as long as parking costs. */
enum { AUTO_LONG = HANDOVER_LIMIT / 4 + 1 };

static inline void auto_queue_spin(struct lock *lock, struct waiter *self)
{
    for (int i = 0; i < AUTO_LONG && auto_policy(lock) == AUTO_SPINNING; i++)
        for (uint32_t spins = spin_limit(); spins; spins -= relax_at_most(spins))
            if (!still_waiting(load_relaxed(&self->cell)))
                return;
}

/* Waits until the caller, whose node is `self`, is first. Returns false if the deadline
 * has passed; the node then belongs to the queue. */
static inline bool auto_queue_enter(struct lock *lock, struct waiter *self,
                                    const struct deadline *deadline)
{
    uint32_t before = exchange_acq_rel(auto_tail(lock), self->link.id);
    if (!before)
        return true;
    struct waiter *ahead = waiter_at(before);
    store_release(&ahead->next, self->link.id);
    bool hopeful = !auto_is_exclusive(lock) && !load_relaxed(&ahead->asleep);
    if (!deadline && auto_policy(lock) == AUTO_SPINNING)
        auto_queue_spin(lock, self);
    if (wait_for_grant(&self->cell, &self->asleep, SPIN_THEN_PARK, hopeful, deadline) !=
        WAITER_WAITING)
        return true;
    return !abandon(lock, self);
}

/* The first waiter leaves; the next one becomes first. */
static inline void auto_queue_leave(struct lock *lock, struct waiter *self)
{
    bool abandoned = false;
    while (true) {
        uint32_t next = load_acquire(&self->next), last = self->link.id;
        if (!next && !compare_exchange_release(auto_tail(lock), &last, 0))
            spin_until((next = load_acquire(&self->next)) != 0);
        if (abandoned)
            give_abandoned(lock, self);
        else
            waiter_give(self);
        if (!next)
            return;
        self = waiter_at(next);
        if (grant(&self->cell, true))
            return;
        abandoned = true;
    }
}

#endif
