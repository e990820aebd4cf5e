/* SPDX-License-Identifier: MIT */
/*
 * HTicket: hierarchical ticket lock. T. David, R. Guerraoui, V. Trigonakis, "Everything
 * you always wanted to know about synchronization but were afraid to ask", SOSP 2013;
 * its backoff after J. Mellor-Crummey, M. Scott, "Algorithms for scalable
 * synchronization on shared-memory multiprocessors", TOCS 1991.
 *
 * Idea: the cohort of two ticket locks (cohort.h) whose waiters within a NUMA node keep
 * away from the cache line of the served number, for a time proportional to their
 * distance from it.
 *
 *   state[0..2]  {next, serving, left} of the global numbers (ticket.h)
 *   state[3]  directory of the local locks (side_memory.h)
 *   mode  while held: 1 if the holder has a local lock, too, and so a node; 0 if it has
 *         none
 *   local  in the node's side block: a lock with the numbers of the NUMA node
 *   handovers  in the local lock's state[3]: how often the lock was handed over in the
 *              NUMA node; 0: a thread whose local number is served has to draw a global
 *              one
 *
 * I1. The holder of the lock has the global number that is being served. If mode is not
 *     0, it also has that of a NUMA node.
 * I2. The invariants of cohort.h hold.
 *
 * Timed lock: a thread with a deadline draws a global number only, and gives it up as
 * in ticket.h; so local numbers are never given up.
 */
#ifndef HASP_LOCKS_ALGORITHMS_HTICKET_H
#define HASP_LOCKS_ALGORITHMS_HTICKET_H

#include "locks/algorithms/cohort.h"
#include "locks/algorithms/ticket_backoff.h"

/* The pause for each thread ahead except the last is this fraction of spin_limit(),
 * about two handovers within a NUMA node. */
enum { HTICKET_HANDOVERS_PER_LIMIT = 12 };

static inline void hticket_local_serve(struct lock *lock, uint32_t number)
{
    ticket_serve(lock, number);
}

static inline bool hticket_local_spin(struct lock *lock, uint32_t number,
                                      struct spinner *spinner,
                                      const struct deadline *deadline)
{
    uint32_t ahead = number - load_relaxed(&tickets_of(lock)->serving);
    uint32_t each = spin_limit() / HTICKET_HANDOVERS_PER_LIMIT + 1;
    uint32_t spins = backoff_spins(ahead, each);
    return spinner_spin_many(spinner, spins, deadline);
}

DEFINE_TICKET_LOCK(hticket_local, tickets_served, 1, true)

static inline void hticket_local_destroy(struct lock *lock)
{
    tickets_destroy(lock);
}

COHORT_LEVEL(cohort_hticket_local, hticket_local,
             tickets_try(lock, &hticket_local_kind),
             tickets_try(lock, &hticket_local_kind), hticket_local_queue(lock),
             hticket_local_forget, tickets_queued, (lock), (lock, deadline))

COHORT(hticket, cohort_ticket, cohort_hticket_local)

#endif
