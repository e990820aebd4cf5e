/* SPDX-License-Identifier: MIT */
/*
 * A queue of the threads that wait with a deadline, for locks whose threads draw
 * numbers. A drawn number cannot be returned, so these threads queue at a mutex first,
 * and only its holder draws a number. If the holder gives up before its turn, it leaves
 * the number in the lock: the thread that reaches the number passes over it, unless
 * the next holder of the mutex takes it over before.
 *
 *   side  id of a side block with the mutex, from the first such wait on
 *
 * T1. At any time, at most one number is held by a waiting thread with a deadline or
 *     has been given up.
 * T2. The mutex is first come, first served. So each thread with a deadline that came
 *     earlier delays a thread by at most one number.
 * T3. A thread leaves the mutex before it returns, so nobody holds it when the lock is
 *     destroyed.
 */
#ifndef HASP_RWLOCKS_TIMED_QUEUE_H
#define HASP_RWLOCKS_TIMED_QUEUE_H

#include "rwlocks/algorithms/inner_mutex.h"

extern struct atomic_u64 timed_queue_found __attribute__((visibility("hidden")));
const struct lock_operations *timed_queue_find(void)
    __attribute__((visibility("hidden")));

static inline const struct lock_operations *timed_queue_operations(void)
{
    uint64_t found = load_relaxed(&timed_queue_found);
    return likely(found != 0) ? (const struct lock_operations *)(uintptr_t)found
                              : timed_queue_find();
}

/* Returns the mutex, which the caller then holds; NULL if the deadline has passed. */
static inline struct lock *timed_queue_enter(struct rwlock *lock,
                                             const struct deadline *deadline)
{
    struct lock *queue = inner_mutex_in(side_block_of(&lock->side));
    return timed_queue_operations()->timedlock(queue, deadline) ? queue : NULL;
}

static inline void timed_queue_leave(struct lock *queue)
{
    timed_queue_operations()->unlock(queue);
}

/* In a forked child: a thread of the parent may have held the mutex. */
static inline void timed_queue_forget(struct rwlock *lock)
{
    store_relaxed(&lock->side, 0);
}

static inline void timed_queue_destroy(struct rwlock *lock)
{
    uint32_t side = load_relaxed(&lock->side);
    if (likely(!side))
        return;
    struct side_block *block = side_block_at(side);
    store_relaxed(&lock->side, 0);
    timed_queue_operations()->destroy(inner_mutex_in(block));
    side_block_give(block);
}

#endif
