/* SPDX-License-Identifier: MIT */
/*
 * Ticket lock with proportional backoff. J. Mellor-Crummey, M. Scott, "Algorithms for
 * scalable synchronization on shared-memory multiprocessors", TOCS 1991, section 2.2.
 *
 * Idea: a waiter pauses in proportion to the number of threads ahead of it, because it
 * cannot be served earlier.
 *
 *   next, serving, left  as in ticket.h
 *
 * I1. This lock differs from a ticket lock only in the time between two reads, on which
 *     no other thread's progress depends, so I1 to I3 of ticket.h hold unchanged.
 *
 * Timed lock: as in ticket.h.
 */
#ifndef HASP_LOCKS_ALGORITHMS_TICKET_BACKOFF_H
#define HASP_LOCKS_ALGORITHMS_TICKET_BACKOFF_H

#include "locks/algorithms/ticket.h"

/* Both relate to spin_limit(), the time of a sleep and wake-up. The pause for each
 * thread ahead except the last is this fraction of it, about a handover between
 * sockets. If at least as many threads are ahead as there are CPUs, the pause is at
 * most this multiple of spin_limit(). */
enum { HANDOVERS_PER_LIMIT = 8, BACKOFF_LIMITS = 4 };

/* Returns how many spins to pause with `ahead` threads ahead, at `each` spins for a
 * handover. With a thread ahead for each CPU, some of them wait for a CPU, so the
 * caller should soon yield its own. */
static inline uint32_t backoff_spins(uint32_t ahead, uint32_t each)
{
    if (ahead < 2)
        return 1;
    uint32_t spins = (ahead - 1) * each, most = BACKOFF_LIMITS * spin_limit();
    return spins < most || ahead < cpu_count() ? spins : most;
}

static inline void ticket_backoff_serve(struct lock *lock, uint32_t number)
{
    ticket_serve(lock, number);
}

static inline bool ticket_backoff_spin(struct lock *lock, uint32_t number,
                                       struct spinner *spinner,
                                       const struct deadline *deadline)
{
    uint32_t ahead = number - load_relaxed(&tickets_of(lock)->serving);
    uint32_t spins = backoff_spins(ahead, spin_limit() / HANDOVERS_PER_LIMIT + 1);
    return spinner_spin_many(spinner, spins, deadline);
}

DEFINE_TICKET_LOCK(ticket_backoff, tickets_served, 1, true)

static inline void ticket_backoff_destroy(struct lock *lock)
{
    tickets_destroy(lock);
}

#endif
