/* SPDX-License-Identifier: MIT */
/*
 * How a thread waits for auto.h once the bias has ended: it sleeps on the word while
 * the lock is open, and queues otherwise.
 */
#ifndef HASP_LOCKS_ALGORITHMS_AUTO_WAITING_H
#define HASP_LOCKS_ALGORITHMS_AUTO_WAITING_H

#include "locks/algorithms/auto_standby.h"
#include "locks/algorithms/auto_unqueued.h"

static inline bool auto_try(struct lock *lock)
{
    return futex_try(lock);
}

/* A forked child: the queue, and a demand, belong to the parent. A lock that had been
 * granted, but not yet taken, becomes free. */
static inline void auto_forget(struct lock *lock, bool held)
{
    (void)held;
    bool granted = load_relaxed(auto_demand_of(lock)) & AUTO_GRANTED;
    uint32_t seen = load_relaxed(&lock->word);
    while ((granted && seen) || seen == AUTO_DEMAND)
        if (compare_exchange_relaxed(&lock->word, &seen, granted ? 0 : AUTO_SLEEPERS))
            break;
    store_relaxed(auto_demand_of(lock), 0);
    store_relaxed(auto_tail(lock), 0);
}

enum auto_outcome { AUTO_ACQUIRED, AUTO_TIMED_OUT, AUTO_MOVED };

/* The caller is first in the queue. */
static inline enum auto_outcome auto_first(struct lock *lock, struct waiter *self,
                                           uint32_t held,
                                           const struct deadline *deadline)
{
    store_relaxed(&self->asleep, 0);
    bool acquired = auto_compete(lock, self, held, deadline);
    if (acquired)
        auto_adapt(lock);
    if (acquired && auto_policy(lock) == AUTO_OPEN)
        auto_queue_dissolve(lock, self);
    else
        auto_queue_leave(lock, self);
    return acquired ? AUTO_ACQUIRED : AUTO_TIMED_OUT;
}

/* Returns AUTO_MOVED if the caller has become a sleeper of the word. */
static inline enum auto_outcome auto_queue(struct lock *lock, uint32_t held,
                                           const struct deadline *deadline)
{
    fork_repair_if_due(lock, auto_forget);
    enum queue_space space =
        await_queue_space(lock, auto_try, SPIN_THEN_PARK, deadline);
    if (unlikely(space != QUEUE_HAS_SPACE))
        return space == QUEUE_ACQUIRED ? AUTO_ACQUIRED : AUTO_TIMED_OUT;
    struct waiter *self = waiter_take();
    self->may_change = true;
    enum auto_place place = auto_queue_enter(lock, self, deadline);
    if (place == AUTO_FIRST)
        return auto_first(lock, self, held, deadline);
    if (place == AUTO_LATE)
        return AUTO_TIMED_OUT;
    self->epoch += 1u << 8; /* a late requeue moves no later user */
    waiter_give(self);
    return AUTO_MOVED;
}

/* The caller sleeps, or has slept, on the word. It queues unless the lock is open. */
static inline bool auto_wait_asleep(struct lock *lock, const struct deadline *deadline)
{
    enum auto_outcome outcome;
    do {
        bool acquired = false;
        fence_seq_cst(); /* as in auto_sleep: a release may have woken the caller */
        bool in_time = auto_sleep_while_open(lock, &acquired, deadline);
        if (acquired || auto_claim(lock)) {
            auto_adapt(lock);
            return true;
        }
        outcome = in_time ? auto_queue(lock, AUTO_SLEEPERS, deadline) : AUTO_TIMED_OUT;
    } while (outcome == AUTO_MOVED);
    return outcome == AUTO_ACQUIRED;
}

#endif
