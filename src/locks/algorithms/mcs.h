/* SPDX-License-Identifier: MIT */
/*
 * MCS queue lock. J. Mellor-Crummey, M. Scott, "Algorithms for scalable synchronization
 * on shared-memory multiprocessors", TOCS 1991. Without contention a holder needs no
 * memory outside the lock: M. Auslander et al., US patent application 2003/0200457
 * (K42); M. Scott, "Shared-Memory Synchronization", 2013, section 4.3.1. Time-outs
 * after M. Scott, W. Scherer, "Scalable queue-based spin locks with timeout", PPoPP
 * 2001 (a leaving waiter marks its node, the releaser unlinks it).
 *
 * Idea: each waiter waits on its own cell, and keeps its node while it holds the lock.
 * A holder that did not wait has no node: its link is in the lock.
 *
 *   tail  0 free; TAIL_HELD held without waiters by a thread that has no node;
 *         otherwise the id of the last node, which may be the holder's
 *   next  MCS_NODE if the holder has a node; otherwise, while held: id of the first
 *         waiter, 0 if there is none or it has not linked itself yet
 *
 * I1. The lock is free exactly when tail == 0; next is then 0, too.
 * I2. The holder's link, `next` of its node or of the lock, is written by the holder,
 *     or by the one waiter whose exchange returned the holder's name: its id or
 *     TAIL_HELD.
 * I3. A waiter that has exchanged the tail always links itself, so a thread that saw
 *     another thread's tail may wait for the link.
 * I4. While a node holds, the word stands (shown_word.h). A hand-over from node to node
 *     touches only the two nodes.
 *
 * The grant of a cell (release) pairs with wait_for_grant (acquire); release_if of the
 * tail pairs with acquire_if or with the exchange of the next arrival.
 *
 * Timed lock: a leaving waiter marks its node, which stays in the queue until a release
 * reaches it; abandoned_nodes.h bounds the number of such nodes.
 */
#ifndef HASP_LOCKS_ALGORITHMS_MCS_H
#define HASP_LOCKS_ALGORITHMS_MCS_H

#include "locks/algorithms/lock_defaults.h"
#include "locks/algorithms/mcs_nodeless.h"
#include "locks/memory/shown_word.h"
#include "locks/waiting/held_nodes.h"

DEFAULT_BEFORE_RELEASE(mcs)

/* Returns a waiter for the calling thread, which expects to hold the lock by it. */
static inline struct waiter *mcs_waiter(struct lock *lock, enum waiting waiting,
                                        const struct deadline *deadline)
{
    struct waiter *self = waiter_take();
    self->may_change = may_park(waiting) || deadline;
    held_node_prepare(lock, self);
    held_nodes_expect(lock, self);
    return self;
}

/* Waits behind `before`, or begins if that is 0. */
static inline enum acquisition mcs_acquire_behind(struct lock *lock,
                                                  struct waiter *self, uint32_t before,
                                                  enum waiting waiting,
                                                  const struct deadline *deadline)
{
    if (!before) {
        mcs_begin(lock);
    } else if (!mcs_await(lock, self, before, waiting, deadline)) {
        held_nodes_cancel(lock);
        return NOT_ACQUIRED;
    }
    held_node_begin(lock, self);
    return ACQUIRED_BY_NODE;
}

static __attribute__((noinline, unused)) enum acquisition
mcs_acquire(struct lock *lock, enum waiting waiting, const struct deadline *deadline)
{
    fork_repair_if_due(lock, mcs_forget);
    enum queue_space space = await_queue_space(lock, mcs_try, waiting, deadline);
    if (unlikely(space != QUEUE_HAS_SPACE))
        return space == QUEUE_ACQUIRED ? ACQUIRED : NOT_ACQUIRED;
    struct waiter *self = mcs_waiter(lock, waiting, deadline);
    return mcs_acquire_behind(lock, self, mcs_enqueue(mcs_of(lock), self), waiting,
                              deadline);
}

static __attribute__((noinline, unused)) void mcs_hand_over(struct lock *lock,
                                                            enum waiting waiting,
                                                            struct waiter *node)
{
    (void)waiting;
    held_node_release(lock, node, mcs_forget);
    mcs_leave(lock, node, true);
}

static __attribute__((noinline, unused)) void mcs_release_queued(struct lock *lock,
                                                                 enum waiting waiting)
{
    struct waiter *node;
    if (load_relaxed(&mcs_of(lock)->next) != MCS_NODE)
        mcs_leave(lock, NULL, true);
    else if ((node = held_node_of_other(lock)) != NULL)
        mcs_hand_over(lock, waiting, node);
}

/* Called when the word is cleared. */
static inline void mcs_release(struct lock *lock, enum waiting waiting)
{
    if (unlikely(!release_if(&mcs_of(lock)->tail, TAIL_HELD, 0)))
        mcs_release_queued(lock, waiting);
}

/* The holder queues a thread that sleeps on a condition variable. */
static inline void mcs_adopt(struct lock *lock, struct waiter *waiter)
{
    fork_repair_if_due(lock, mcs_forget);
    waiter->may_change = true;
    held_node_prepare(lock, waiter);
    store_relaxed(&waiter->asleep, 1);
    store_relaxed(&waiter->next, 0);
    store_relaxed(&waiter->cell, WAITER_PARKED);
    mcs_enqueue(mcs_of(lock), waiter);
}

/* Called by the adopted thread once it has been granted the lock. */
static inline void mcs_adopted(struct lock *lock, struct waiter *waiter)
{
    held_node_keep(lock, waiter);
}

#endif
