/* SPDX-License-Identifier: MIT */
/*
 * MCS queue lock, in the form in which a holder needs no memory outside the lock (K42).
 * J. Mellor-Crummey, M. Scott, "Algorithms for scalable synchronization on
 * shared-memory multiprocessors", TOCS 1991; M. Auslander et al., US patent application
 * 2003/0200457 (K42); M. Scott, "Shared-Memory Synchronization", 2013, section 4.3.1;
 * time-outs after M. Scott, W. Scherer, "Scalable queue-based spin locks with timeout",
 * PPoPP 2001 (a leaving waiter marks its node, the releaser unlinks it).
 *
 * Idea: each waiter waits on its own cell; the holder's node {tail, next} is in the
 * lock.
 *
 *   tail  0 free; TAIL_HELD held without waiters; otherwise the id of the last waiter
 *   next  while held: id of the first waiter, 0 if there is none or it has not linked
 *         itself yet
 *
 * I1. The lock is free exactly when tail == 0; next is then 0, too.
 * I2. `next` is written by the holder, or by the one waiter whose exchange returned
 *     TAIL_HELD.
 * I3. A waiter that has exchanged the tail always links itself, so a thread that saw
 *     another thread's tail may wait for the link.
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
#include "locks/memory/fork_repair.h"
#include "locks/waiting/abandoned_nodes.h"

struct mcs {
    struct atomic_u32 tail, next;
};

static inline struct mcs *mcs_of(struct lock *lock)
{
    return (struct mcs *)lock->state;
}

static inline void mcs_forget(struct lock *lock, bool held)
{
    struct mcs *mcs = mcs_of(lock);
    uint32_t tail = load_relaxed(&mcs->tail);
    if (tail == 0 || tail == TAIL_HELD)
        return; /* none of the parent's threads is queued */
    store_relaxed(&mcs->next, 0);
    store_relaxed(&mcs->tail, held ? TAIL_HELD : 0);
}

DEFAULT_BEFORE_RELEASE(mcs)

static inline bool mcs_fast(struct lock *lock)
{
    return acquire_if(&mcs_of(lock)->tail, 0, TAIL_HELD);
}

static inline bool mcs_try(struct lock *lock)
{
    return load_relaxed(&mcs_of(lock)->tail) == 0 && mcs_fast(lock);
}

static inline bool mcs_trylock(struct lock *lock, enum waiting waiting)
{
    (void)waiting;
    return mcs_try(lock);
}

/* Called by the holder: moves the links of `head`, the first waiter, into the lock.
 * This takes `head` out of the queue. */
static inline void mcs_unlink(struct mcs *mcs, struct waiter *head)
{
    uint32_t next = load_acquire(&head->next), tail = head->link.id;
    if (!next) {
        store_relaxed(&mcs->next, 0);
        /* Release: a thread that reads TAIL_HELD writes `next` after the store
         * above. */
        if (compare_exchange_release(&mcs->tail, &tail, TAIL_HELD))
            return;
        spin_until((next = load_acquire(&head->next)) != 0);
    }
    store_relaxed(&mcs->next, next);
}

/* Takes the node of `head`, which has the lock, out of the queue. */
static inline void mcs_settle(struct mcs *mcs, struct waiter *head)
{
    mcs_unlink(mcs, head);
    waiter_give(head);
}

/* Appends a chain of waiters; returns the id of its predecessor, or 0 if the lock was
 * free. In that case the first waiter of the chain holds it now. */
static inline uint32_t mcs_splice(struct mcs *mcs, uint32_t first, uint32_t last)
{
    uint32_t before = exchange_acq_rel(&mcs->tail, last);
    if (before == TAIL_HELD)
        store_release(&mcs->next, first);
    else if (before)
        store_release(&waiter_at(before)->next, first);
    return before;
}

static inline uint32_t mcs_enqueue(struct mcs *mcs, struct waiter *waiter)
{
    return mcs_splice(mcs, waiter->link.id, waiter->link.id);
}

static __attribute__((noinline, unused)) bool
mcs_wait(struct lock *lock, enum waiting waiting, const struct deadline *deadline)
{
    fork_repair_if_due(lock, mcs_forget);
    enum queue_space space = await_queue_space(lock, mcs_try, waiting, deadline);
    if (unlikely(space != QUEUE_HAS_SPACE))
        return space == QUEUE_ACQUIRED;
    struct mcs *mcs = mcs_of(lock);
    struct waiter *self = waiter_take();
    self->may_change = may_park(waiting) || deadline;
    uint32_t before = mcs_enqueue(mcs, self);
    bool acquired = true;
    if (before) {
        bool hopeful = may_park(waiting) &&
                       (before == TAIL_HELD || runs_soon(waiter_at(before)));
        if (wait_for_grant(&self->cell, &self->asleep, waiting, hopeful, deadline) ==
            WAITER_WAITING)
            acquired = !abandon(lock, self);
    }
    if (acquired)
        mcs_settle(mcs, self);
    return acquired;
}

static inline bool mcs_timedlock(struct lock *lock, enum waiting waiting,
                                 const struct deadline *deadline)
{
    return mcs_fast(lock) || mcs_wait(lock, waiting, deadline);
}

static inline void mcs_lock(struct lock *lock, enum waiting waiting)
{
    mcs_timedlock(lock, waiting, NULL);
}

static __attribute__((noinline, unused)) void mcs_unlock_queued(struct lock *lock)
{
    struct mcs *mcs = mcs_of(lock);
    do {
        uint32_t next;
        if (!(next = load_acquire(&mcs->next))) {
            /* The release is the store of TAIL_HELD by this thread's mcs_settle, or by
             * mcs_unlink for a waiter that left. An exchange continues a release
             * sequence. */
            uint32_t tail = TAIL_HELD;
            if (compare_exchange_relaxed(&mcs->tail, &tail, 0))
                return;
            spin_until((next = load_acquire(&mcs->next)) != 0);
        }
        struct waiter *head = waiter_at(next);
        if (grant(&head->cell, head->may_change))
            return;
        mcs_unlink(mcs, head);
        give_abandoned(lock, head);
    } while (true);
}

static inline void mcs_unlock(struct lock *lock, enum waiting waiting)
{
    (void)waiting;
    if (unlikely(!release_if(&mcs_of(lock)->tail, TAIL_HELD, 0)))
        mcs_unlock_queued(lock);
}

/* The holder queues a thread that sleeps on a condition variable. */
static inline void mcs_adopt(struct lock *lock, struct waiter *waiter)
{
    fork_repair_if_due(lock, mcs_forget);
    waiter->may_change = true;
    store_relaxed(&waiter->asleep, 1);
    store_relaxed(&waiter->next, 0);
    store_relaxed(&waiter->cell, WAITER_PARKED);
    mcs_enqueue(mcs_of(lock), waiter);
}

/* Called by the adopted thread once it has been granted the lock. */
static inline void mcs_adopted(struct lock *lock, struct waiter *waiter)
{
    mcs_settle(mcs_of(lock), waiter);
}

DEFAULT_DESTROY(mcs)

#endif
