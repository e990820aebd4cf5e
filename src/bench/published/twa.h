/* SPDX-License-Identifier: MIT */
/*
 * Ticket lock augmented with a waiting array. D. Dice, A. Kogan, "TWA: ticket locks
 * augmented with a waiting array", Euro-Par 2019: one array of 4,096 counters for all
 * locks, and one short-term waiter.
 *
 *   next, serving  as in ticket.h, on one line
 *   counter  of the array: a release increments that of the thread that is to change
 *            from long-term to short-term waiting
 */
#ifndef HASP_BENCH_PUBLISHED_TWA_H
#define HASP_BENCH_PUBLISHED_TWA_H

#include "bench/published/ticket.h"

enum { PUBLISHED_TWA_COUNTERS = 4096, PUBLISHED_TWA_SHORT_TERM = 1 };

static struct atomic_u64 published_twa_array[PUBLISHED_TWA_COUNTERS]
    __attribute__((aligned(4096)));

/* The factor puts consecutive numbers on different lines. */
static inline struct atomic_u64 *published_twa_counter(struct lock *lock,
                                                       uint32_t number)
{
    return &published_twa_array[((uint32_t)(uintptr_t)lock ^ (number * 127)) %
                                PUBLISHED_TWA_COUNTERS];
}

static inline void published_twa_wait_long(struct lock *lock, uint32_t mine)
{
    struct published_ticket *ticket = published_ticket_of(lock);
    struct atomic_u64 *counter = published_twa_counter(lock, mine);
    uint64_t seen = load_acquire(counter);
    while (mine - load_acquire(&ticket->serving) > PUBLISHED_TWA_SHORT_TERM) {
        uint64_t now;
        (void)relax_at_most(1); /* the loop below does not watch the line of the lock */
        spin_until((now = load_acquire(counter)) != seen);
        seen = now;
    }
}

static inline void published_twa_lock(struct lock *lock)
{
    struct published_ticket *ticket = published_ticket_of(lock);
    uint32_t mine = fetch_add_relaxed(&ticket->next, 1);
    uint32_t ahead = mine - load_acquire(&ticket->serving);
    if (!ahead)
        return;
    if (ahead > PUBLISHED_TWA_SHORT_TERM)
        published_twa_wait_long(lock, mine);
    spin_until(load_acquire(&ticket->serving) == mine);
}

static inline bool published_twa_trylock(struct lock *lock)
{
    return published_ticket_trylock(lock, PUBLISHED_PLAIN);
}

static inline void published_twa_unlock(struct lock *lock)
{
    struct published_ticket *ticket = published_ticket_of(lock);
    uint32_t served = load_relaxed(&ticket->serving) + 1;
    store_release(&ticket->serving, served);
    fetch_add_relaxed(published_twa_counter(lock, served + PUBLISHED_TWA_SHORT_TERM),
                      1);
}

#endif
