/* SPDX-License-Identifier: MIT */
/*
 * How a thread waits for auto.h once the bias has ended: it sleeps on the word while
 * the lock is open, and queues otherwise.
 */
#ifndef HASP_LOCKS_ALGORITHMS_AUTO_WAITING_H
#define HASP_LOCKS_ALGORITHMS_AUTO_WAITING_H

#include "locks/algorithms/auto_cohorts.h"
#include "locks/algorithms/auto_standby.h"
#include "locks/algorithms/auto_unqueued.h"

static inline bool auto_try(struct lock *lock)
{
    return futex_try(lock);
}

/* A forked child: the queues, and a demand, belong to the parent. A lock that had been
 * granted, or handed over, but not yet taken, becomes free. */
static inline void auto_forget(struct lock *lock, bool held)
{
    (void)held;
    bool granted = load_relaxed(auto_demand_of(lock)) & AUTO_GRANTED;
    if (auto_forget_queues(lock)) {
        auto_end_cohort(lock, 0);
        granted = true;
    }
    store_relaxed(auto_demand_of(lock), 0);
    uint32_t seen = load_relaxed(&lock->word);
    while ((granted && seen) || seen == AUTO_DEMAND)
        if (compare_exchange_release(&lock->word, &seen, granted ? 0 : AUTO_SLEEPERS))
            break; /* pairs with the acquisition by a new thread of the child */
}

enum auto_outcome { AUTO_ACQUIRED, AUTO_TIMED_OUT, AUTO_MOVED };

/* The first waiter, which holds the lock, leaves the queue. */
static inline void auto_leave_first(struct lock *lock, struct waiter *self)
{
    if (auto_policy(lock) == AUTO_OPEN)
        auto_queue_dissolve(lock, auto_tail(lock), self);
    else
        auto_queue_leave(lock, self);
}

/* A cohort has handed the lock to the caller, which is first in the queue, but not the
 * leader of another one. */
static __attribute__((noinline, unused)) enum auto_outcome
auto_accept(struct lock *lock, struct waiter *self)
{
    auto_end_cohort(lock, load_relaxed(&self->more[AUTO_UNCOUNTED]));
    auto_adapt(lock);
    auto_leave_first(lock, self);
    return AUTO_ACQUIRED;
}

/* The caller is first in the queue. */
static inline enum auto_outcome auto_first(struct lock *lock, struct waiter *self,
                                           uint32_t held,
                                           const struct deadline *deadline)
{
    store_relaxed(&self->asleep, 0);
    bool acquired = auto_compete(lock, self, held, deadline);
    if (!acquired) {
        auto_queue_leave(lock, self);
        return AUTO_TIMED_OUT;
    }
    auto_adapt(lock);
    auto_leave_first(lock, self);
    return AUTO_ACQUIRED;
}

/* There is space for the caller in the queue. */
static inline enum auto_outcome auto_queue_by(struct lock *lock, struct waiter *self,
                                              uint32_t held,
                                              const struct deadline *deadline)
{
    self->may_change = true;
    enum auto_place place = auto_queue_enter(lock, self, auto_policy(lock), deadline);
    if (place == AUTO_FIRST)
        return auto_first(lock, self, held, deadline);
    if (place == AUTO_HANDED)
        return auto_accept(lock, self);
    if (place == AUTO_LATE)
        return AUTO_TIMED_OUT;
    auto_give_moved(self);
    return AUTO_MOVED;
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
    if (auto_is_exclusive(lock) || auto_policy(lock) == AUTO_SHARED)
        auto_note_waiting(lock);
    return auto_queue_by(lock, waiter_take(), held, deadline);
}

/* The caller sleeps, or has slept, on the word. It queues unless the lock is open. If
 * `joins`, it returns AUTO_MOVED once it should wait among its cohort. */
static inline enum auto_outcome auto_wait_asleep(struct lock *lock, bool joins,
                                                 const struct deadline *deadline)
{
    enum auto_outcome outcome;
    do {
        bool acquired = false;
        fence_seq_cst(); /* as in auto_sleep: a release may have woken the caller */
        bool in_time = auto_sleep_while_open(lock, &acquired, deadline);
        if (acquired || auto_claim(lock)) {
            auto_adapt(lock);
            return AUTO_ACQUIRED;
        }
        if (joins && auto_policy(lock) == AUTO_COHORTS)
            return AUTO_MOVED;
        outcome = in_time ? auto_queue(lock, AUTO_SLEEPERS, deadline) : AUTO_TIMED_OUT;
    } while (outcome == AUTO_MOVED);
    return outcome;
}

#endif
