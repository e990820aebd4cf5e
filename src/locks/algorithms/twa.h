/* SPDX-License-Identifier: MIT */
/*
 * Ticket lock augmented with a waiting array (TWA). D. Dice, A. Kogan, "TWA: ticket
 * locks augmented with a waiting array", Euro-Par 2019.
 *
 * Idea: only the next waiter watches the number being served. Waiters farther away
 * watch a counter in an array that all locks of the process share, hashed by lock and
 * number; a release increments the counter of the waiter that becomes the next one.
 *
 *   next, serving, left  as in ticket.h
 *
 * I1. A counter only indicates that `serving` should be read. So a collision costs one
 *     read, and a missing increment a delay.
 * I2. A far waiter reads its counter (acquire) before it reads `serving` and keeps
 *     away: if that read misses the store of a release, the release increments the
 *     counter afterwards.
 * I3. There is no far waiter if a release finds no number drawn beyond the one that it
 *     serves, or no thread has ever waited (generation 0): then it leaves the array
 *     alone. A far waiter may arrive right after that check; it is then the next but
 *     one, and watches `serving` itself for a while. All others are drawn long before
 *     the release that concerns them. In case that a releaser was preempted between its
 *     check and its store, a far waiter reads `serving` again after a time in which it
 *     should have been served.
 *
 * Timed lock: as in ticket.h. A far waiter checks for tokens when it reads `serving`.
 */
#ifndef HASP_LOCKS_ALGORITHMS_TWA_H
#define HASP_LOCKS_ALGORITHMS_TWA_H

#include "locks/algorithms/tickets.h"

enum {
    TWA_SLOTS = 4096,
    TWA_NEAR = 1,
    TWA_PATIENCE = CLOCK_SPINS * CLOCK_SPINS, /* spins between reads of `serving` */
};

static struct atomic_u32 twa_array[TWA_SLOTS] __attribute__((aligned(CACHE_LINE)));

/* Consecutive numbers are some cache lines apart. */
static inline struct atomic_u32 *twa_slot(struct lock *lock, uint32_t number)
{
    return &twa_array[((uint32_t)((uintptr_t)lock >> 3) + number * 127) % TWA_SLOTS];
}

/* Release: a thread that sees the new counter sees `serving`. Only the address of the
 * lock is used. */
static __attribute__((noinline, unused)) void twa_call(struct lock *lock,
                                                       uint32_t number)
{
    fetch_add_release(twa_slot(lock, number), 1);
}

static inline void twa_serve(struct lock *lock, uint32_t number)
{
    struct tickets *tickets = tickets_of(lock);
    bool far = load_relaxed(&lock->generation) &&
               load_relaxed(&tickets->next) - number > TWA_NEAR;
    store_release(&tickets->serving, number);
    release_window();
    if (unlikely(far))
        twa_call(lock, number + TWA_NEAR);
}

/* Returns how many spins a waiter with that many threads ahead watches its counter
 * before it reads `serving` again: more than the threads ahead need. If threads have
 * timed out, their tokens are only found by reading it. */
static inline uint32_t twa_patience(struct lock *lock, uint32_t ahead)
{
    if (load_relaxed(&lock->mode))
        return TWA_PATIENCE;
    uint32_t most = UINT32_MAX / 2 / ahead, spins = spin_limit();
    return ahead * (spins < most ? spins : most);
}

static inline bool twa_spin(struct lock *lock, uint32_t number, struct spinner *spinner,
                            const struct deadline *deadline)
{
    const struct atomic_u32 *serving = &tickets_of(lock)->serving;
    if (number - load_relaxed(serving) <= TWA_NEAR)
        return spinner_spin(spinner, deadline);
    struct atomic_u32 *slot = twa_slot(lock, number);
    uint32_t seen = load_acquire(slot); /* before the read of `serving`: I2 */
    uint32_t ahead = number - load_relaxed(serving);
    if (ahead <= TWA_NEAR)
        return true;
    if (ahead == TWA_NEAR + 1) { /* the release that concerns it may not see it: I3 */
        for (uint32_t left = CLOCK_SPINS; left;)
            if (!spinner_spin_within(spinner, &left, deadline))
                return false;
            else if (number - load_relaxed(serving) <= TWA_NEAR)
                return true;
    }
    uint32_t patience = twa_patience(lock, ahead);
    if (!spinner_spin_many(spinner, 2, deadline)) /* from here on, only the counter */
        return false;
    while (patience && load_relaxed(slot) == seen)
        if (!spinner_spin_within(spinner, &patience, deadline))
            return false;
    return true;
}

DEFINE_TICKET_LOCK(twa, tickets_served, 1, true)

static inline void twa_destroy(struct lock *lock)
{
    tickets_destroy(lock);
}

#endif
