/* SPDX-License-Identifier: MIT */
/*
 * Waiters: what a thread leaves in a queue while it waits.
 *
 * They come from a pool (pool.h), never from stacks or thread-local storage: threads
 * exit, cancel, jump and fork away from those.
 *
 * `cell` is the waiter's state and the address it sleeps on:
 *
 *   WAITING    queued, awake         -> GRANTED by the granter, PARKED or LEFT by
 *              itself
 *   PARKED     queued, maybe asleep  -> GRANTED by the granter (who unparks), LEFT by
 *              itself
 *   GRANTED    its turn has come
 *   LEFT       timed out; whoever meets it next takes it out and gives it back
 *   SKIPPED    taken out of the queue by the releaser; its thread has to queue anew
 *   IN_CONDITION   asleep on a condition variable -> PARKED when a signaller queues it
 *              on the lock; REQUEUED when it was moved to the lock's sleepers, WOKEN
 *              when it was woken: then it has to take the lock itself
 *
 * The last three carry the waiter's epoch above their low byte. A requeue compares the
 * cell, so it cannot move another thread that has meanwhile got the same waiter.
 */
#ifndef HASP_LOCKS_WAITING_WAITER_H
#define HASP_LOCKS_WAITING_WAITER_H

#include "locks/lock.h"
#include "locks/memory/pool.h"

#include <stddef.h>

enum waiter_state {
    WAITER_WAITING,
    WAITER_PARKED,
    WAITER_GRANTED,
    WAITER_LEFT,
    WAITER_IN_CONDITION,
    WAITER_REQUEUED,
    WAITER_WOKEN,
    WAITER_SKIPPED,
};

struct waiter {
    struct atomic_u32 cell;
    struct atomic_u32 next;     /* id of the successor, 0 when unknown */
    struct atomic_u32 previous; /* id of the predecessor, where an algorithm needs it */
    struct atomic_u32 asleep;   /* its thread parked: a successor need not spin */
    uint32_t may_change;        /* may leave or park: grant by exchange, not by store */
    uint32_t ticket;
    uint32_t condition_spins; /* how long its last users found it worth to spin there */
    uint32_t epoch; /* of its stays on condition variables, shifted left by 8 */

    /* While on a condition variable; guarded by its bucket. */
    struct waiter *condition_next, *condition_previous;
    const void *condition; /* address; NULL once taken out */
    struct lock *lock;

    struct atomic_u32 more[13]; /* for the algorithm; undefined when taken */
    struct pool_link link;
} __attribute__((aligned(CACHE_LINE)));

_Static_assert(offsetof(struct waiter, link) == offsetof(struct pool_slot, link) &&
                   sizeof(struct waiter) == sizeof(struct pool_slot),
               "a waiter is a slot of its pool");

/* Takes a waiter with cell WAITING, no links, asleep 0, may_change 0. Never fails (see
 * pool.h). */
struct waiter *waiter_take(void);

/* Nobody may reach the waiter through a queue any more. */
void waiter_give(struct waiter *waiter);

/* Waiters ever carved out, for tests. */
uint32_t waiter_count(void);

extern struct pool waiter_pool __attribute__((visibility("hidden")));

static inline struct waiter *waiter_at(uint32_t id)
{
    return (struct waiter *)pool_at(&waiter_pool, id);
}

#endif
