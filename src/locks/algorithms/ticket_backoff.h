/* SPDX-License-Identifier: MIT */
/*
 * Ticket lock with proportional backoff. J. Mellor-Crummey, M. Scott, "Algorithms for
 * scalable synchronization on shared-memory multiprocessors", TOCS 1991, section 2.2.
 *
 * Idea: the number tells how many are ahead, and so for how long there is no point in
 * looking: a waiter stays away in proportion.
 *
 *   next, serving, left  as in ticket.h
 *
 * I1. A ticket lock in all but the time between two looks, which no other thread's
 *     progress depends on: I1 to I3 of ticket.h hold as they stand.
 *
 * Timed lock: as in ticket.h.
 */
#ifndef HASP_LOCKS_ALGORITHMS_TICKET_BACKOFF_H
#define HASP_LOCKS_ALGORITHMS_TICKET_BACKOFF_H

#include "locks/algorithms/ticket.h"

/* Shares of spin_limit(), the time in which a thread sleeps and is woken: how long to
 * stay away for each one ahead but the last, about a hand-over between sockets; and how
 * many such limits in all. */
enum { HANDOVERS_PER_LIMIT = 8, BACKOFF_LIMITS = 4 };

static inline void ticket_backoff_serve(struct lock *lock, uint32_t number)
{
    ticket_serve(lock, number);
}

static inline bool ticket_backoff_spin(struct lock *lock, uint32_t number,
                                       struct spinner *spinner,
                                       const struct deadline *deadline)
{
    uint32_t ahead = number - load_relaxed(&tickets_of(lock)->serving);
    uint32_t spins = 1;
    if (ahead > BACKOFF_LIMITS * HANDOVERS_PER_LIMIT)
        spins = BACKOFF_LIMITS * spin_limit();
    else if (ahead > 1)
        spins = (ahead - 1) * (spin_limit() / HANDOVERS_PER_LIMIT + 1);
    return spinner_spin_many(spinner, spins, deadline);
}

DEFINE_TICKET_LOCK(ticket_backoff, tickets_served, 1)

static inline void ticket_backoff_destroy(struct lock *lock)
{
    tickets_destroy(lock);
}

#endif
