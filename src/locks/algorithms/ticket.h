/* SPDX-License-Identifier: MIT */
/*
 * Ticket lock. D. Reed, R. Kanodia, "Synchronization with eventcounts and sequencers",
 * CACM 1979; J. Mellor-Crummey, M. Scott, "Algorithms for scalable synchronization on
 * shared-memory multiprocessors", TOCS 1991.
 *
 * Idea: a thread draws a number and waits until that number is served.
 *
 *   next     the number that the next arrival draws
 *   serving  the number being served
 *   left     id of the first token of a number that was given up, 0 if none
 *   mode     1 once a thread with a deadline may have drawn a number; until then a
 *            release that finds another number drawn leaves `word` as it is
 *
 * I1. next - serving is how many numbers are held, waited for or given up; the lock is
 *     free exactly when next == serving.
 * I2. Only the owner of the number being served writes `serving`: the lock's holder, or
 *     the one thread that has taken the token of that number. A token is either on the
 *     list or with the single thread that took the whole list in one exchange
 *     (retire_tokens).
 * I3. A waiter checks the list repeatedly, so a token that is put there after its
 *     number came up is found; if there is no waiter, the next arrival finds it.
 *
 * The store of `serving` (release) pairs with the loads of it (acquire) in
 * tickets_served, by waiters and by the fast path.
 *
 * Timed lock: the published lock cannot give a number up. Here the last number is taken
 * back, by exchanging next from it + 1 to it; the thread that does so has drawn it, so
 * no other thread has it, and if it was being served the lock is now free. Any other
 * number becomes a token on a list in the lock; a thread that waits or arrives while it
 * is being served passes it on. By I2 at most one thread does so, by I3 one will. While
 * about TOKENS_MOST tokens wait, timed waiters draw no number, but retry their trylock.
 */
#ifndef HASP_LOCKS_ALGORITHMS_TICKET_H
#define HASP_LOCKS_ALGORITHMS_TICKET_H

#include "locks/algorithms/tickets.h"

static inline void ticket_serve(struct lock *lock, uint32_t number)
{
    store_release(&tickets_of(lock)->serving, number);
    release_window();
}

static inline bool ticket_spin(struct lock *lock, uint32_t number,
                               struct spinner *spinner, const struct deadline *deadline)
{
    (void)lock, (void)number;
    return spinner_spin(spinner, deadline);
}

DEFINE_TICKET_LOCK(ticket, tickets_served, CLOCK_SPINS, false)

static inline void ticket_destroy(struct lock *lock)
{
    tickets_destroy(lock);
}

#endif
