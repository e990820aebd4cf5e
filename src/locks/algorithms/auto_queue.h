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
 * Q3. A first waiter that holds the lock may dissolve the queue: it takes the tail, and
 *     moves the waiters behind it, up to that one, to the sleepers of the word, which
 *     it makes 2 before (W1). A waiter moved so owns its node again, and changes its
 *     epoch before it gives it back.
 * Q4. A first waiter that holds the lock may keep its place meanwhile, and then grant
 *     the next one both, by HANDED_OVER (auto_leaders.h).
 */
#ifndef HASP_LOCKS_ALGORITHMS_AUTO_QUEUE_H
#define HASP_LOCKS_ALGORITHMS_AUTO_QUEUE_H

#include "locks/algorithms/auto_epochs.h"
#include "locks/algorithms/auto_word.h"
#include "locks/waiting/abandoned_nodes.h"

static inline struct atomic_u32 *auto_tail(struct lock *lock)
{
    return &lock->state[0];
}

/* How often a waiter that spins for long does so for as long as parking costs, and how
 * often one of a cohort does that: it should not sleep unless threads outnumber CPUs,
 * and then the policy changes. */
enum { AUTO_LONG = HANDOVER_LIMIT / 4 + 1, AUTO_LONGER = HANDOVER_LIMIT };

/* A waiter that spins and finds that this took so long has waited for a CPU. */
enum { AUTO_PREEMPTED_NS = HANDOVER_LIMIT * 16000 };

/* Returns for how long a waiter should spin before it looks at the policy again, which
 * takes the lock's line from those that use it. */
static inline uint32_t auto_long_spin_of(uint32_t policy)
{
    return policy == AUTO_SPINNING  ? spin_limit()
           : policy == AUTO_COHORTS ? AUTO_LONG * spin_limit()
                                    : 0;
}

static inline uint32_t auto_long_spin(struct lock *lock)
{
    return auto_long_spin_of(auto_policy(lock));
}

static inline void auto_queue_spin(struct lock *lock, struct waiter *self,
                                   uint32_t policy)
{
    auto_spin_for_grant(self, auto_long_spin_of(policy));
    /* A granted waiter does not read the policy: all others wait for it, and another
     * place may have the lock's line. */
    if (!still_waiting(load_relaxed(&self->cell)))
        return;
    int most = auto_policy(lock) == AUTO_COHORTS ? AUTO_LONGER : AUTO_LONG;
    for (int i = 1; i < most && still_waiting(load_relaxed(&self->cell)); i++)
        auto_spin_for_grant(self, auto_long_spin(lock));
}

enum auto_place { AUTO_FIRST, AUTO_LATE, AUTO_DISSOLVED, AUTO_HANDED };

/* In waiter.more of a node of this queue, once the lock is handed over: how often
 * cohorts have used it without counting that; the longest series (auto_leaders.h). */
enum { AUTO_UNCOUNTED, AUTO_SERIES };

/* Waits until the caller, whose node is `self`, is first, or the queue has been
 * dissolved. If it is late, the node belongs to the queue. The caller has just seen
 * this policy: once it has exchanged the tail, others may have the line. */
static inline enum auto_place auto_queue_enter(struct lock *lock, struct waiter *self,
                                               uint32_t policy,
                                               const struct deadline *deadline)
{
    uint32_t before = exchange_acq_rel(auto_tail(lock), self->link.id);
    if (!before)
        return AUTO_FIRST;
    struct waiter *ahead = waiter_at(before);
    store_release(&ahead->next, self->link.id);
    bool hopeful = policy != AUTO_EXCLUSIVE && !load_relaxed(&ahead->asleep);
    if (!deadline && auto_long_spin_of(policy))
        auto_queue_spin(lock, self, policy);
    uint32_t state =
        wait_for_grant(&self->cell, &self->asleep, SPIN_THEN_PARK, hopeful, deadline);
    if (state == WAITER_WAITING) {
        if (abandon(lock, self))
            return AUTO_LATE;
        state = load_relaxed(&self->cell); /* leave() has acquired it */
    }
    return state == WAITER_GRANTED       ? AUTO_FIRST
           : state == WAITER_HANDED_OVER ? AUTO_HANDED
                                         : AUTO_DISSOLVED;
}

static inline uint32_t auto_link_of(struct waiter *waiter)
{
    uint32_t next;
    spin_until((next = load_acquire(&waiter->next)) != 0);
    return next;
}

/* Returns false if the waiter has given up. Otherwise its thread may have returned, so
 * the requeue compares the cell, with an epoch. */
static inline bool auto_move_to_word(struct lock *lock, struct waiter *waiter)
{
    uint32_t moved = WAITER_REQUEUED | waiter->epoch; /* while it is still queued */
    uint32_t was = exchange_release(&waiter->cell, moved);
    if (was == WAITER_PARKED)
        requeue(&waiter->cell, moved, &lock->word);
    return was != WAITER_LEFT;
}

/* The first waiter of the queue with this tail holds the lock and leaves the queue: the
 * others become sleepers of the word. If they became first one after another, each
 * might have to wait for a CPU while the rest sleep. */
static __attribute__((noinline, unused)) void
auto_queue_dissolve(struct lock *lock, struct atomic_u32 *tail, struct waiter *self)
{
    uint32_t last = exchange_release(tail, 0); /* as in auto_queue_leave */
    uint32_t next = self->link.id == last ? 0 : auto_link_of(self);
    waiter_give(self);
    if (next)
        auto_claim(lock);
    while (next) {
        struct waiter *waiter = waiter_at(next);
        next = next == last ? 0 : auto_link_of(waiter);
        if (!auto_move_to_word(lock, waiter))
            give_abandoned(lock, waiter);
    }
}

/* The caller's waiter has been moved to the word. */
static inline void auto_give_moved(struct waiter *self)
{
    self->epoch += 1u << 8; /* a late requeue moves no later user */
    waiter_give(self);
}

/* The first waiter leaves; the next one becomes first, and receives the lock, too, if
 * `granted` is HANDED_OVER. Returns false if there is none. */
static inline bool auto_queue_pass(struct lock *lock, struct waiter *self,
                                   enum waiter_state granted, uint32_t uncounted)
{
    struct waiter *first = self; /* given back last: that takes time */
    uint32_t series = load_relaxed(&self->more[AUTO_SERIES]);
    bool passed = false;
    while (!passed) {
        uint32_t next = load_acquire(&self->next), last = self->link.id;
        if (!next && !compare_exchange_release(auto_tail(lock), &last, 0))
            next = auto_link_of(self);
        if (self != first)
            give_abandoned(lock, self);
        if (!next)
            break;
        self = waiter_at(next);
        store_relaxed(&self->more[AUTO_UNCOUNTED], uncounted);
        store_relaxed(&self->more[AUTO_SERIES], series);
        passed = grant_as(&self->cell, granted, true);
    }
    waiter_give(first);
    return passed;
}

static inline void auto_queue_leave(struct lock *lock, struct waiter *self)
{
    auto_queue_pass(lock, self, WAITER_GRANTED, 0);
}

#endif
