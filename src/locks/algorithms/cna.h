/* SPDX-License-Identifier: MIT */
/*
 * Compact NUMA-aware lock. D. Dice, A. Kogan, "Compact NUMA-aware locks", EuroSys 2019;
 * based on the queue of mcs.h (K42 form, time-outs).
 *
 * Idea: an MCS queue whose holder, on release, prefers the first waiter of its own
 * node. Waiters that it passes over move to a secondary queue, which returns to the
 * front when no waiter of the node is left, or after many such handovers. The paper
 * flushes the secondary queue at random. Here handovers are counted, and after the
 * limit all threads waiting at that moment are served in order of arrival, so that each
 * waiter is overtaken a bounded number of times.
 *
 *   tail  as in mcs.h
 *   next  as in mcs.h
 *   order  of the holder: bits 0-19 an id, bits 20-31 a number. If the number is
 *          CNA_IN_ORDER, no waiter is passed over until the waiter with that id has
 *          been served. Otherwise the id is that of the last waiter of the secondary
 *          queue, 0 if empty, whose `next` is the first; and the number counts how
 *          often a waiter was overtaken since all were last served in order.
 *
 * I1. While the secondary queue is not empty, the main queue is not empty either: tail
 *     is neither 0 nor TAIL_HELD. So a lock that is free or held without waiters looks
 *     as in mcs.h.
 * I2. Only the holder changes links, and only those of waiters that have a successor;
 *     the last waiter of the main queue stays there, and arrivals link themselves
 *     behind it.
 * I3. The secondary queue followed by the main queue contains all waiters in order of
 *     arrival. In the front part that is served in order, no waiter moves.
 * I4. Each handover that overtakes a waiter is counted. So a waiter is overtaken at
 *     most HANDOVER_LIMIT times before it is served, or becomes part of the front that
 *     is served in order.
 *
 * Timed lock: as in mcs.h, by a mark that the holder finds when it hands the lock over;
 * I1 to I4 hold whether or not a waiter has left. The end of the part that is served in
 * order is detected when its last waiter is reached, even if that waiter has left. The
 * bound of abandoned_nodes.h applies to both queues together.
 *
 * Trylock: as in mcs.h.
 */
#ifndef HASP_LOCKS_ALGORITHMS_CNA_H
#define HASP_LOCKS_ALGORITHMS_CNA_H

#include "locks/algorithms/lock_defaults.h"
#include "locks/algorithms/mcs.h"

enum { CNA_ID_BITS = 20, CNA_ID = (1 << CNA_ID_BITS) - 1, CNA_IN_ORDER = 0xfff };

_Static_assert((int)POOL_CHUNKS *(int)POOL_CHUNK <= 1 << CNA_ID_BITS, "20 bits");
_Static_assert((int)HANDOVER_LIMIT < (int)CNA_IN_ORDER, "as much can be counted");

/* In waiter.more. A releaser stores the order in the waiter of its successor. In a
 * queue behind an outer latch or word (outer_latch.h), the holder of the queue keeps it
 * to itself. */
enum { CNA_NODE, CNA_ORDER };

static inline uint32_t cna_order(uint32_t id, uint32_t number)
{
    return id | number << CNA_ID_BITS;
}

static inline void cna_forget(struct lock *lock, bool held)
{
    uint32_t tail = load_relaxed(&mcs_of(lock)->tail);
    if (tail != 0 && tail != TAIL_HELD)
        store_relaxed(&lock->state[2], 0);
    mcs_forget(lock, held);
}

DEFAULT_BEFORE_RELEASE(cna)

/* Puts the secondary queue, whose last waiter is `last`, in front of the main queue;
 * returns the first waiter of the result. */
static inline uint32_t cna_join(uint32_t last, uint32_t next)
{
    if (!last)
        return next;
    struct waiter *waiter = waiter_at(last);
    uint32_t first = load_relaxed(&waiter->next);
    store_relaxed(&waiter->next, next);
    return first;
}

/* Does the same as mcs_unlink, except that the secondary queue becomes the main queue
 * if the main queue is empty now. */
static inline void cna_unlink(struct mcs *mcs, struct atomic_u32 *order,
                              struct waiter *head)
{
    uint32_t seen = load_relaxed(order), number = seen >> CNA_ID_BITS;
    uint32_t last = number == CNA_IN_ORDER ? 0 : seen & CNA_ID;
    if (likely(!last) || load_relaxed(&head->next)) {
        mcs_unlink(mcs, mcs_holder_of(mcs, NULL), head);
        return;
    }
    uint32_t tail = head->link.id, first = cna_join(last, 0);
    store_relaxed(&mcs->next, first);
    /* Release: a thread that queues behind `last` links itself after the store
     * above. */
    if (compare_exchange_release(&mcs->tail, &tail, last)) {
        store_relaxed(order, cna_order(0, number));
        return;
    }
    store_relaxed(&waiter_at(last)->next, first);
    mcs_unlink(mcs, mcs_holder_of(mcs, NULL), head);
}

/* Returns true if the next waiter has to be served in order of arrival; stores it in
 * `*next`. */
static inline bool cna_in_order(struct mcs *mcs, struct atomic_u32 *order,
                                uint32_t *next)
{
    uint32_t seen = load_relaxed(order), id = seen & CNA_ID;
    uint32_t number = seen >> CNA_ID_BITS;
    if (likely(number < HANDOVER_LIMIT))
        return false;
    if (number != CNA_IN_ORDER) {
        *next = cna_join(id, *next);
        id = load_relaxed(&mcs->tail);
    }
    store_relaxed(order, *next == id ? 0 : cna_order(id, CNA_IN_ORDER));
    return true;
}

/* Returns the waiter to hand over to: the first waiter of the node that the caller runs
 * on. */
static inline uint32_t cna_pick(struct mcs *mcs, struct atomic_u32 *order,
                                uint32_t next)
{
    if (cna_in_order(mcs, order, &next))
        return next;
    uint32_t seen = load_relaxed(order), last = seen & CNA_ID;
    uint32_t number = seen >> CNA_ID_BITS, node = current_node();
    uint32_t passed = 0, at = next, after;
    struct waiter *waiter = waiter_at(at);
    while (load_relaxed(&waiter->more[CNA_NODE]) != node &&
           (after = load_acquire(&waiter->next)) != 0) {
        passed = at;
        waiter = waiter_at(at = after);
    }
    if (load_relaxed(&waiter->more[CNA_NODE]) != node) { /* there is none */
        next = cna_join(last, next);
        last = 0;
    } else if (passed) {
        uint32_t first = last ? load_relaxed(&waiter_at(last)->next) : next;
        if (last)
            store_relaxed(&waiter_at(last)->next, next);
        store_relaxed(&waiter_at(passed)->next, first);
        last = passed;
        next = at;
    }
    store_relaxed(order, cna_order(last, number + (last != 0)));
    return next;
}

/* Waits in the queue; returns false if the deadline has passed. */
static inline bool cna_enter(struct lock *lock, struct atomic_u32 *order,
                             enum waiting waiting, const struct deadline *deadline)
{
    enum queue_space space = await_queue_space(lock, mcs_try, waiting, deadline);
    if (unlikely(space != QUEUE_HAS_SPACE))
        return space == QUEUE_ACQUIRED;
    struct mcs *mcs = mcs_of(lock);
    struct waiter *self = waiter_take();
    self->may_change = may_park(waiting) || deadline;
    store_relaxed(&self->more[CNA_NODE], current_node());
    uint32_t before = mcs_enqueue(mcs, self);
    if (before) {
        bool hopeful = may_park(waiting) && (before == TAIL_HELD ||
                                             !load_relaxed(&waiter_at(before)->asleep));
        if (wait_for_grant(&self->cell, &self->asleep, waiting, hopeful, deadline) ==
                WAITER_WAITING &&
            abandon(lock, self))
            return false;
        store_relaxed(order, load_relaxed(&self->more[CNA_ORDER]));
    }
    cna_unlink(mcs, order, self);
    waiter_give(self);
    return true;
}

/* Hands the queue over to the waiter that `pick` chooses. */
static inline __attribute__((always_inline)) void
cna_leave(struct lock *lock, struct atomic_u32 *order,
          uint32_t (*pick)(struct mcs *, struct atomic_u32 *, uint32_t next))
{
    struct mcs *mcs = mcs_of(lock);
    do {
        uint32_t next;
        if (!(next = load_acquire(&mcs->next))) {
            if (release_if(&mcs->tail, TAIL_HELD, 0))
                return;
            spin_until((next = load_acquire(&mcs->next)) != 0);
        }
        struct waiter *head = waiter_at(pick(mcs, order, next));
        store_relaxed(&head->more[CNA_ORDER], load_relaxed(order));
        if (grant(&head->cell, head->may_change))
            return;
        cna_unlink(mcs, order, head);
        give_abandoned(lock, head);
    } while (true);
}

static inline bool cna_fast(struct lock *lock)
{
    return mcs_fast(lock);
}

static inline bool cna_trylock(struct lock *lock)
{
    return mcs_trylock(lock, SPIN);
}

static __attribute__((noinline, unused)) bool cna_wait(struct lock *lock,
                                                       const struct deadline *deadline)
{
    fork_repair_if_due(lock, cna_forget);
    return cna_enter(lock, &lock->state[2], SPIN, deadline);
}

DEFAULT_LOCK(cna)

static __attribute__((noinline, unused)) void cna_unlock_queued(struct lock *lock)
{
    cna_leave(lock, &lock->state[2], cna_pick);
}

static inline void cna_unlock(struct lock *lock)
{
    if (unlikely(!release_if(&mcs_of(lock)->tail, TAIL_HELD, 0)))
        cna_unlock_queued(lock);
}

DEFAULT_DESTROY(cna)

#endif
