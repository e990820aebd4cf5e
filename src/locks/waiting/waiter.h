/* SPDX-License-Identifier: MIT */
/*
 * Waiters: the queue nodes of waiting threads.
 *
 * They come from a pool (pool.h), never from stacks or thread-local storage: a thread
 * can leave those by exiting, by cancellation, by longjmp and by fork.
 *
 * `cell` is the state of the waiter and the address that its thread sleeps on:
 *
 *   WAITING    queued and awake; becomes GRANTED by the granting thread, PARKED or LEFT
 *              by its own thread
 *   PARKED     queued and perhaps asleep; becomes GRANTED by the granting thread (which
 *              unparks it), LEFT by its own thread
 *   GRANTED    the lock was handed over to it
 *   HANDED_OVER  as GRANTED; and the lock's word stands (clh.h)
 *   LEFT       timed out; the next thread that encounters it unlinks it and gives it
 *              back
 *   SKIPPED    unlinked by the releaser; its thread has to queue again
 *   IN_CONDITION   asleep on a condition variable; becomes PARKED when a signalling
 *                  thread queues it on the lock, REQUEUED when it is moved to the
 *                  sleepers of the lock, WOKEN when it is woken. In the last two states
 *                  its thread has to acquire the lock itself
 *
 * The last three carry the waiter's epoch above their low byte. A requeue compares the
 * cell, so it cannot move another thread that has taken the same waiter in the
 * meantime.
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
    WAITER_HANDED_OVER,
};

struct waiter {
    struct atomic_u32 cell;
    struct atomic_u32 next;     /* id of the successor, 0 if unknown */
    struct atomic_u32 previous; /* id of the predecessor, for algorithms that need it */
    struct atomic_u32 asleep;   /* its thread is parked: a successor should not spin */
    uint32_t may_change;        /* may leave or park: grant by exchange, not by a
                                 * store */
    uint32_t ticket;
    uint16_t condition_spins; /* how long it was worth spinning there, for recent
                               * users */
    uint8_t condition_failures; /* spins there in a row that were in vain */
    uint8_t condition_patient;  /* waits patiently there (patience.h) */
    uint32_t epoch; /* of its waits on condition variables, shifted left by 8 */

    struct atomic_u32 more[8]; /* for the algorithm, in the line of the cell; undefined
                                * when taken */

    /* While waiting on a condition variable; guarded by its bucket. */
    struct waiter *condition_next, *condition_previous;
    const void *condition; /* address; NULL once unlinked */
    struct lock *lock;

    /* While its thread holds a lock through it (held_nodes.h); set by that thread. */
    struct atomic_u64 holds;  /* address of the lock; 0 in a waiter that holds none */
    struct atomic_u32 holder; /* the thread */
    uint32_t generation;      /* fork generation in which it queued */
    uint32_t shows_owner;     /* the lock's kind needs lock->owner */

    struct pool_link link;
} __attribute__((aligned(CACHE_LINE)));

_Static_assert(offsetof(struct waiter, link) == offsetof(struct pool_slot, link) &&
                   sizeof(struct waiter) == sizeof(struct pool_slot),
               "a waiter is a slot of its pool");

/* Returns a waiter with cell WAITING, no links, asleep 0, may_change 0. Never fails
 * (see pool.h). */
struct waiter *waiter_take(void);

/* Gives the waiter back. No queue may lead to it any more. */
void waiter_give(struct waiter *waiter);

/* Waiters created so far, for tests. */
uint32_t waiter_count(void);

extern struct pool waiter_pool __attribute__((visibility("hidden")));

static inline struct waiter *waiter_at(uint32_t id)
{
    return (struct waiter *)pool_at(&waiter_pool, id);
}

#endif
