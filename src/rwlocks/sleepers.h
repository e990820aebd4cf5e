/* SPDX-License-Identifier: MIT */
/*
 * Places where threads sleep that wait for a number of a lock to be due: a queue by
 * numbers has no node for each waiter that could be woken.
 *
 *   sleepers_places   counters of the process, hashed by lock and number
 *
 * A thread loads the counter (acquire), marks the word of the lock by an exchange that
 * finds that its number is not due, and parks on the counter. Who makes the number due,
 * by an exchange that finds the mark, increments the counter (release) and wakes its
 * sleepers. Proof that no thread sleeps too long: if the waker's exchange comes later
 * in the order of the word, the counter changes or the thread is woken; if it comes
 * first, the thread's own exchange finds its number due. The thread cannot have loaded
 * the incremented counter and still find its number not due, because of the orders.
 * Threads of other numbers that share the counter wake up for nothing.
 */
#ifndef HASP_RWLOCKS_SLEEPERS_H
#define HASP_RWLOCKS_SLEEPERS_H

#include "rwlocks/rwlock.h"

enum { SLEEPERS_PLACES = MODEL_CHECKED ? 2 : 1024 };

extern struct atomic_u32 sleepers_places[SLEEPERS_PLACES]
    __attribute__((visibility("hidden")));

static inline struct atomic_u32 *sleepers_place(const struct rwlock *lock,
                                                uint32_t number)
{
    uint32_t hash = (uint32_t)((uintptr_t)lock / sizeof(uint64_t)) + number * 127;
    return &sleepers_places[hash % SLEEPERS_PLACES];
}

static inline void sleepers_wake(struct atomic_u32 *place)
{
    fetch_add_release(place, 1);
    unpark(place, INT32_MAX);
}

/* Spins for as long as sleeping would cost: returns false afterwards. */
static inline bool sleepers_spin_first(uint32_t *spins)
{
    if (!*spins)
        return false;
    *spins -= relax_at_most(*spins);
    return true;
}

#endif
