/* SPDX-License-Identifier: MIT */
/*
 * The word of auto.h, and the demand of the first waiter.
 *
 *   word      0 free; 1 held; 2 held with possible sleepers on the word; 3 the same,
 *             and the first waiter demands the lock
 *   state[1]  demand: id of the first waiter, once it demands the lock; AUTO_GRANTED
 *             added by the release that grants it
 *
 * W1. A thread sleeps on the word only if it is 2 or 3. A release from there wakes one.
 *     A thread that may have been woken so either acquires with the value 2, or leaves
 *     2 or 3 behind before it waits elsewhere or gives up.
 * W2. Only the first waiter writes its id to `demand`, then 3 to the word (release). A
 *     release first changes 3 to 2 (acquire), and then looks for the id. A demand that
 *     comes later makes the word 3 again, so the release cannot miss it. Whoever
 *     changes `demand` first, the release to grant or the waiter to give up, decides.
 */
#ifndef HASP_LOCKS_ALGORITHMS_AUTO_WORD_H
#define HASP_LOCKS_ALGORITHMS_AUTO_WORD_H

#include "locks/waiting/policies.h"

enum { AUTO_HELD = 1, AUTO_SLEEPERS = 2, AUTO_DEMAND = 3 };
#define AUTO_GRANTED 0x80000000u

static inline struct atomic_u32 *auto_demand_of(struct lock *lock)
{
    return &lock->state[1];
}

/* Acquires the word if it is free; otherwise makes it 2 at least, so that a release
 * wakes a sleeper. Returns whether it has acquired. It does not read the word first:
 * the line would come to the caller twice. */
static inline bool auto_claim(struct lock *lock)
{
    uint32_t seen = 0;
    while (seen < AUTO_SLEEPERS)
        if (compare_exchange_acquire(&lock->word, &seen, AUTO_SLEEPERS))
            return seen == 0;
    return false;
}

/* Sleeps until a release, if the lock is held. Returns false if the deadline has
 * passed. `*acquired` is set once the caller holds the lock. */
static inline bool auto_sleep(struct lock *lock, bool *acquired,
                              const struct deadline *deadline)
{
    *acquired = auto_claim(lock);
    if (*acquired)
        return true;
    uint32_t seen = load_relaxed(&lock->word);
    bool in_time = seen < AUTO_SLEEPERS || park(&lock->word, seen, deadline);
    fence_seq_cst(); /* sees the release that woke it; an old 2 would hide it */
    return in_time;
}

static inline bool auto_await_grant(struct waiter *self,
                                    const struct deadline *deadline)
{
    return wait_for_grant(&self->cell, &self->asleep, SPIN_THEN_PARK, true, deadline) !=
           WAITER_WAITING;
}

/* Spins so many times, or until the waiter is granted something; returns its state
 * (acquire: pairs with the grant). The first pause is a short one: the others then
 * await the cell only, and not what was read before. */
static inline uint32_t auto_spin_for_grant(struct waiter *self, uint32_t spins)
{
    uint32_t state;
    spins -= spins ? relax_at_most(1) : 0;
    while (still_waiting(state = load_acquire(&self->cell)) && spins)
        spins -= relax_at_most(spins);
    return state;
}

/* The first waiter demands that the next release grants it the lock, and spins for so
 * long before it waits in the usual way. */
static inline bool auto_demand(struct lock *lock, struct waiter *self, uint32_t spins,
                               const struct deadline *deadline)
{
    struct atomic_u32 *demand = auto_demand_of(lock);
    store_relaxed(&self->cell, WAITER_WAITING);
    store_relaxed(&self->asleep, 0);
    store_release(demand, self->link.id); /* with the cell's new state */
    uint32_t seen = load_relaxed(&lock->word);
    while (!compare_exchange_acq_rel(&lock->word, &seen,
                                     seen ? AUTO_DEMAND : AUTO_SLEEPERS))
        continue;
    if (seen) {
        auto_spin_for_grant(self, spins);
        if (!auto_await_grant(self, deadline)) {
            uint32_t id = self->link.id;
            if (compare_exchange_relaxed(demand, &id, 0))
                return auto_claim(lock);
            auto_await_grant(self, NULL);
        }
        store_relaxed(&lock->word, AUTO_SLEEPERS);
    }
    store_relaxed(demand, 0);
    return true;
}

/* Grants the lock to the first waiter, unless it has taken its demand back. */
static inline bool auto_grant(struct lock *lock)
{
    struct atomic_u32 *demand = auto_demand_of(lock);
    uint32_t id = load_relaxed(demand);
    if (!id || !compare_exchange_acquire(demand, &id, id | AUTO_GRANTED))
        return false;
    grant(&waiter_at(id)->cell, true);
    return true;
}

#endif
