/* SPDX-License-Identifier: MIT */
/*
 * HTicket: hierarchical ticket lock. T. David, R. Guerraoui, V. Trigonakis, "Everything
 * you always wanted to know about synchronization but were afraid to ask", SOSP 2013;
 * its backoff after J. Mellor-Crummey, M. Scott, "Algorithms for scalable
 * synchronization on shared-memory multiprocessors", TOCS 1991.
 *
 * Idea: the cohort of two ticket locks (cohort.h) whose waiters keep away from the
 * cache line of the served number: within a node for a time proportional to their
 * distance from it; the node's leader, as in every cohort of ticket locks, for
 * increasing times while another node has the lock.
 *
 *   state[0..2]  {next, serving, left} of the global numbers (ticket.h)
 *   state[3]  directory of the local locks (side_memory.h)
 *   mode  while held: 1 + the node whose local lock the holder has, too; 0 none
 *   local  in the node's side block: a lock with the node's numbers
 *   handovers  in the node's side block: how often the lock was handed over in the
 *              node; 0: a thread whose local number is served has to draw a global one
 *
 * I1. The holder of the lock has the global number that is being served. If mode is not
 *     0, it also has that of the node.
 * I2. mode and handovers belong to the holder, which writes them after it has acquired
 *     the global lock and sets them to 0 before it releases that lock.
 * I3. The local lock is released before the global one, so nothing of the lock is
 *     touched after its release.
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

COHORT(hticket, cohort_leader_ticket, cohort_ticket_backoff)

#endif
