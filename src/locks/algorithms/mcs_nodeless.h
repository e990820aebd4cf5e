/* SPDX-License-Identifier: MIT */
/*
 * The lock of mcs_queue.h whose holder never has a node (K42; see mcs.h), for locks
 * that have no place for it. Each hand-over moves the holder's link to the lock.
 *
 *   tail  0 free; TAIL_HELD held, and no thread waits; otherwise the last waiter's id
 *   next  the id of the first waiter once it is linked, or 0
 *
 * The release of the tail in mcs_unlock pairs with the acquisition in mcs_fast.
 */
#ifndef HASP_LOCKS_ALGORITHMS_MCS_NODELESS_H
#define HASP_LOCKS_ALGORITHMS_MCS_NODELESS_H

#include "locks/algorithms/mcs_queue.h"

/* Takes the node of `head`, which has the lock, out of the queue: the holder's link is
 * in the lock from now on. */
static inline void mcs_settle(struct mcs *mcs, struct waiter *head)
{
    mcs_unlink(mcs, mcs_holder_of(mcs, NULL), head);
    waiter_give(head);
}

static inline bool mcs_trylock(struct lock *lock, enum waiting waiting)
{
    (void)waiting;
    return mcs_try(lock);
}

static inline bool mcs_timedlock(struct lock *lock, enum waiting waiting,
                                 const struct deadline *deadline)
{
    if (mcs_fast(lock))
        return true;
    fork_repair_if_due(lock, mcs_forget);
    struct waiter *node;
    if (!mcs_enter(lock, waiting, deadline, &node))
        return false;
    if (node)
        mcs_settle(mcs_of(lock), node);
    return true;
}

static __attribute__((noinline, unused)) void mcs_leave_nodeless(struct lock *lock)
{
    mcs_leave(lock, NULL, false);
}

static inline void mcs_unlock(struct lock *lock, enum waiting waiting)
{
    (void)waiting;
    if (unlikely(!release_if(&mcs_of(lock)->tail, TAIL_HELD, 0)))
        mcs_leave_nodeless(lock);
}

static inline void mcs_destroy(struct lock *lock)
{
    (void)lock;
}

#endif
