/* SPDX-License-Identifier: MIT */
/*
 * Ticket lock, plain and with backoff proportional to the distance. J. Mellor-Crummey,
 * M. Scott, "Algorithms for scalable synchronization on shared-memory multiprocessors",
 * TOCS 1991; the times of the backoff and the prefetch for writing from T. David, R.
 * Guerraoui, V. Trigonakis, SOSP 2013 (figure 3).
 *
 *   next     the number that the next arrival draws
 *   serving  the number that holds the lock; on the same line
 */
#ifndef HASP_BENCH_PUBLISHED_TICKET_H
#define HASP_BENCH_PUBLISHED_TICKET_H

#include "bench/published/body.h"

struct published_ticket {
    struct atomic_u32 next, serving;
};

/* Pauses in cycles: for each thread ahead, and for the thread that is next. */
enum { TICKET_PAUSE = 512, TICKET_PAUSE_OF_NEXT = 128 };

/* In the lock study's library, a thread with more threads ahead yields its CPU. */
enum { TICKET_FAR = 20 };

static inline struct published_ticket *published_ticket_of(struct lock *lock)
{
    return (struct published_ticket *)lock->state;
}

static inline void published_ticket_wait(struct published_ticket *ticket, uint32_t mine,
                                         int how)
{
    for (;;) {
        if (how & PUBLISHED_PREFETCH)
            prefetch_for_write(&ticket->serving);
        uint32_t ahead = mine - load_acquire(&ticket->serving);
        if (!ahead)
            return;
        if (!(how & PUBLISHED_BACK_OFF))
            relax();
        else
            pause_cycles(ahead > 1 ? ahead * TICKET_PAUSE : TICKET_PAUSE_OF_NEXT);
        if (how & PUBLISHED_STUDY && how & PUBLISHED_BACK_OFF && ahead > TICKET_FAR)
            yield();
    }
}

static inline void published_ticket_acquire(struct published_ticket *ticket, int how)
{
    published_ticket_wait(ticket, fetch_add_relaxed(&ticket->next, 1), how);
}

static inline void published_ticket_release(struct published_ticket *ticket)
{
    store_release(&ticket->serving, load_relaxed(&ticket->serving) + 1);
}

/* Called by the holder: returns true if a thread waits. */
static inline bool published_ticket_queued(struct published_ticket *ticket)
{
    return load_relaxed(&ticket->next) - load_relaxed(&ticket->serving) > 1;
}

static inline void published_ticket_lock(struct lock *lock, int how)
{
    published_ticket_acquire(published_ticket_of(lock), how);
}

static inline bool published_ticket_try(struct published_ticket *ticket)
{
    uint32_t serving = load_relaxed(&ticket->serving);
    return acquire_if(&ticket->next, serving, serving + 1);
}

static inline bool published_ticket_trylock(struct lock *lock, int how)
{
    (void)how;
    return published_ticket_try(published_ticket_of(lock));
}

static inline void published_ticket_unlock(struct lock *lock, int how)
{
    if (how & PUBLISHED_PREFETCH)
        prefetch_for_write(&published_ticket_of(lock)->serving);
    published_ticket_release(published_ticket_of(lock));
}

#endif
