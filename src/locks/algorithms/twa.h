/* SPDX-License-Identifier: MIT */
/*
 * Ticket lock augmented with a waiting array (TWA). D. Dice, A. Kogan, "TWA: ticket
 * locks augmented with a waiting array", Euro-Par 2019.
 *
 * Idea: only the next waiter watches the number being served. Those farther away watch
 * a counter in an array that all locks of the process share, hashed by lock and number;
 * a release moves on the counter of the one that is to come near.
 *
 *   next, serving, left  as in ticket.h
 *
 * I1. A counter only says that it is time to look at `serving`. So a collision costs a
 *     look, and a counter that was not moved on a delay.
 * I2. A far waiter reads its counter (acquire) before it looks at `serving` and stays
 *     away: a release whose store that look missed moves the counter on afterwards.
 * I3. Nobody is far when a release finds no number drawn beyond the one that it
 *     serves, or that nobody has ever waited (generation 0): then the array is left
 *     alone. A far waiter may arrive right after that look; it looks for itself once in
 *     a while.
 *
 * Timed lock: as in ticket.h. A far waiter looks for tokens when it looks for itself.
 */
#ifndef HASP_LOCKS_ALGORITHMS_TWA_H
#define HASP_LOCKS_ALGORITHMS_TWA_H

#include "locks/algorithms/tickets.h"

enum {
    TWA_SLOTS = 4096,
    TWA_NEAR = 1,
    TWA_PATIENCE = CLOCK_SPINS * CLOCK_SPINS, /* turns without a look at `serving` */
};

static struct atomic_u32 twa_array[TWA_SLOTS] __attribute__((aligned(CACHE_LINE)));

/* Numbers in a row are some cache lines apart. */
static inline struct atomic_u32 *twa_slot(struct lock *lock, uint32_t number)
{
    return &twa_array[((uint32_t)((uintptr_t)lock >> 3) + number * 127) % TWA_SLOTS];
}

/* Release: whoever sees the counter moved sees `serving`. Of the lock only the address
 * is used. */
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
    uint32_t seen = load_acquire(slot); /* before the look at `serving`: I2 */
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
