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
 * The state and the invariants are those of cohort.h; the global and the local locks
 * are ticket locks (ticket.h).
 *
 * Timed lock: a thread with a deadline draws a global number only, and gives it up as
 * in ticket.h; so local numbers are never given up.
 */
#ifndef HASP_LOCKS_ALGORITHMS_HTICKET_H
#define HASP_LOCKS_ALGORITHMS_HTICKET_H

#include "locks/algorithms/cohort.h"
#include "locks/algorithms/ticket_backoff.h"

COHORT_LEVEL(cohort_ticket_backoff, ticket_backoff, ticket_backoff_forget,
             tickets_queued, (lock), (lock, deadline))

COHORT(hticket, cohort_ticket, cohort_ticket_backoff)

#endif
