/* SPDX-License-Identifier: MIT */
/*
 * Hierarchical ticket lock: a cohort of ticket locks. D. Dice, V. Marathe, N. Shavit,
 * "Lock cohorting", PPoPP 2012; the backoff and the bound from T. David, R. Guerraoui,
 * V. Trigonakis, SOSP 2013.
 *
 *   state   the global ticket lock
 *   local   the ticket lock of a NUMA node; `both`: its next holder also has the global
 *           lock; in the lock study's library on a line of its own
 *   users   of the lock's body: the node of the holder
 */
#ifndef HASP_BENCH_PUBLISHED_HTICKET_H
#define HASP_BENCH_PUBLISHED_HTICKET_H

#include "bench/published/ticket.h"

enum { HTICKET_HANDOVERS = 128 };

struct published_local {
    struct published_ticket ticket;
    struct atomic_u32 both;
    uint32_t handovers; /* in a row */
    struct atomic_u32 both_apart PUBLISHED_NEXT_LINE;
} PUBLISHED_ALONE;

static inline struct atomic_u32 *published_local_both(struct published_local *local,
                                                      int how)
{
    return how & PUBLISHED_STUDY ? &local->both_apart : &local->both;
}

static inline struct published_local *published_local(struct lock *lock, uint32_t node)
{
    return (struct published_local *)published_body(
               lock, node_count() * sizeof(struct published_local)) +
           node;
}

static inline void published_hticket_lock(struct lock *lock, int how)
{
    uint32_t node = current_node();
    struct published_local *local = published_local(lock, node);
    published_ticket_acquire(&local->ticket, how);
    if (!load_relaxed(published_local_both(local, how)))
        published_ticket_acquire(published_ticket_of(lock), how);
    lock->users = node;
}

/* Takes both locks if they are free, as the lock study's library does. */
static inline bool published_hticket_trylock(struct lock *lock, int how)
{
    uint32_t node = current_node();
    struct published_local *local = published_local(lock, node);
    if (!published_ticket_try(&local->ticket))
        return false;
    if (!load_relaxed(published_local_both(local, how)) &&
        !published_ticket_try(published_ticket_of(lock))) {
        published_ticket_release(&local->ticket);
        return false;
    }
    lock->users = node;
    return true;
}

static inline void published_hticket_unlock(struct lock *lock, int how)
{
    struct published_local *local = published_local(lock, lock->users);
    if (published_ticket_queued(&local->ticket) &&
        local->handovers < HTICKET_HANDOVERS) {
        local->handovers++;
        store_relaxed(published_local_both(local, how), 1);
    } else {
        local->handovers = 0;
        store_relaxed(published_local_both(local, how), 0);
        published_ticket_release(published_ticket_of(lock));
    }
    published_ticket_release(&local->ticket);
}

#endif
