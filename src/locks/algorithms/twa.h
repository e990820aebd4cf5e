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
 *     alone. A far waiter may arrive right after that check; it reads `serving` itself
 *     from time to time.
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

static inline bool twa_spin(struct lock *lock, uint32_t number, struct spinner *spinner,
                            const struct deadline *deadline)
{
    const struct atomic_u32 *serving = &tickets_of(lock)->serving;
    if (number - load_relaxed(serving) <= TWA_NEAR)
        return spinner_spin(spinner, deadline);
    struct atomic_u32 *slot = twa_slot(lock, number);
    uint32_t seen = load_acquire(slot); /* before the read of `serving`: I2 */
    uint32_t patience = TWA_PATIENCE;
    if (number - load_relaxed(serving) <= TWA_NEAR)
        return true;
    while (patience && load_relaxed(slot) == seen)
        if (!spinner_spin_within(spinner, &patience, deadline))
            return false;
    return true;
}

DEFINE_TICKET_LOCK(twa, tickets_served, 1)

static inline void twa_destroy(struct lock *lock)
{
    tickets_destroy(lock);
}

#endif
