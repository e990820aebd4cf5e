/* SPDX-License-Identifier: MIT */
/*
 * Compact NUMA-aware lock. D. Dice, A. Kogan, "Compact NUMA-aware locks", EuroSys 2019;
 * based on the queue of mcs.h (nodes, time-outs).
 *
 * Idea: an MCS queue whose holder, on release, prefers the first waiter of its own
 * node. Waiters that it passes over move to a secondary queue, which returns to the
 * front when no waiter of the node is left, or after many such handovers. The paper
 * flushes the secondary queue at random, once in 65,536 handovers. Here handovers are
 * counted, and after the limit all threads waiting at that moment are served in order
 * of arrival, so that each waiter is overtaken a bounded number of times.
 *
 *   tail  as in mcs.h
 *   next  as in mcs.h
 *   order  of the holder, in its node: bits 0-19 an id, bits 20-31 a number. If the
 *          number is CNA_IN_ORDER, no waiter is passed over until the waiter with that
 *          id has been served. Otherwise the id is that of the last waiter of the
 *          secondary queue, 0 if empty, whose `next` is the first; and the number
 *          counts how often a waiter was overtaken since all were last served in order.
 *          A holder without a node has no secondary queue
 *
 * I1. If the main queue is empty at a release, the secondary queue becomes the main one
 *     before the tail could show that the lock is free.
 * I2. Only the holder changes links, and only those of waiters that have a successor;
 *     the last waiter of the main queue stays there, and arrivals link themselves
 *     behind it.
 * I3. The secondary queue followed by the main queue contains all waiters in order of
 *     arrival. In the front part that is served in order, no waiter moves.
 * I4. Each handover that overtakes a waiter is counted. So a waiter is overtaken at
 *     most CNA_LIMIT times before it is served, or becomes part of the front that is
 *     served in order.
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

/* With the limit, serving n waiters in order, at a handover between nodes each, costs
 * little against the handovers within nodes before it. */
enum {
    CNA_ID_BITS = 20,
    CNA_ID = (1 << CNA_ID_BITS) - 1,
    CNA_IN_ORDER = 0xfff,
    CNA_LIMIT = MODEL_CHECKED ? 1 : 4000,
};

_Static_assert((int)POOL_CHUNKS *(int)POOL_CHUNK <= 1 << CNA_ID_BITS, "20 bits");
_Static_assert((int)CNA_LIMIT < (int)CNA_IN_ORDER, "as much can be counted");

/* In waiter.more. A releaser stores the order in the waiter of its successor. */
enum { CNA_NODE, CNA_ORDER };

static inline uint32_t cna_order(uint32_t id, uint32_t number)
{
    return id | number << CNA_ID_BITS;
}

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

/* The main queue seems to be empty. */
static inline uint32_t cna_refill(struct mcs *mcs, struct mcs_holder holder,
                                  uint32_t *order)
{
    uint32_t seen = *order, number = seen >> CNA_ID_BITS;
    uint32_t last = number == CNA_IN_ORDER ? 0 : seen & CNA_ID;
    if (!last)
        return 0;
    uint32_t name = holder.name, first = cna_join(last, 0);
    /* Release: a thread that queues behind `last` links itself after the store of
     * cna_join. */
    if (compare_exchange_release(&mcs->tail, &name, last)) {
        *order = cna_order(0, number);
        return first;
    }
    store_relaxed(&waiter_at(last)->next, first);
    return 0;
}

/* Returns true if the next waiter has to be served in order of arrival; stores it in
 * `*next`. */
static inline bool cna_in_order(struct mcs *mcs, uint32_t *order, uint32_t *next)
{
    uint32_t id = *order & CNA_ID, number = *order >> CNA_ID_BITS;
    if (likely(number < CNA_LIMIT))
        return false;
    if (number != CNA_IN_ORDER) {
        *next = cna_join(id, *next);
        id = load_relaxed(&mcs->tail);
    }
    *order = *next == id ? 0 : cna_order(id, CNA_IN_ORDER);
    return true;
}

/* Returns the waiter to hand over to: the first waiter of the node that the caller runs
 * on. If there is none, it is the first waiter of all if `any`; otherwise returns 0. */
static inline uint32_t cna_choose(struct mcs *mcs, uint32_t *order, uint32_t next,
                                  bool any)
{
    if (cna_in_order(mcs, order, &next))
        return next;
    uint32_t last = *order & CNA_ID, number = *order >> CNA_ID_BITS;
    uint32_t node = current_cohort(), passed = 0, at = next, after = at;
    struct waiter *waiter = waiter_at(at);
    while (load_relaxed(&waiter->more[CNA_NODE]) != node &&
           (after = load_acquire(&waiter->next)) != 0) {
        passed = at;
        waiter = waiter_at(at = after);
    }
    if (!after && !any)
        return 0;
    if (!after) { /* there is none */
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
    *order = cna_order(last, number + (last != 0));
    return next;
}

static inline uint32_t cna_pick(struct mcs *mcs, uint32_t *order, uint32_t next)
{
    return cna_choose(mcs, order, next, true);
}

static inline void cna_pass(uint32_t order, struct waiter *head)
{
    store_relaxed(&head->more[CNA_ORDER], order);
}

/* Waits in the queue, behind an outer latch or word (outer_latch.h). Returns false if
 * the deadline has passed; otherwise `*node` is the caller's node, or NULL, and
 * `*order` its order. */
static inline bool cna_enter(struct lock *lock, uint32_t *order, struct waiter **node,
                             enum waiting waiting, const struct deadline *deadline)
{
    enum queue_space space = await_queue_space(lock, mcs_try, waiting, deadline);
    if (unlikely(space != QUEUE_HAS_SPACE))
        return space == QUEUE_ACQUIRED;
    struct waiter *self = waiter_take();
    self->may_change = may_park(waiting) || deadline;
    store_relaxed(&self->more[CNA_NODE], current_cohort());
    store_relaxed(&self->more[CNA_ORDER], 0);
    uint32_t before = mcs_enqueue(mcs_of(lock), self);
    if (before && !mcs_await(lock, self, before, waiting, deadline))
        return false;
    *order = load_relaxed(&self->more[CNA_ORDER]);
    *node = self;
    return true;
}

static const struct mcs_policy cna_policy = {cna_pick, cna_refill, cna_pass};

DEFAULT_BEFORE_RELEASE_BY(cna, mcs_forget)

static inline bool cna_fast(struct lock *lock)
{
    return mcs_fast(lock);
}

static inline bool cna_trylock(struct lock *lock)
{
    return mcs_try(lock);
}

static __attribute__((noinline, unused)) enum acquisition
cna_acquire(struct lock *lock, const struct deadline *deadline)
{
    fork_repair_if_due(lock, mcs_forget);
    enum queue_space space = await_queue_space(lock, mcs_try, SPIN, deadline);
    if (unlikely(space != QUEUE_HAS_SPACE))
        return space == QUEUE_ACQUIRED ? ACQUIRED : NOT_ACQUIRED;
    struct waiter *self = mcs_waiter(lock, SPIN, deadline);
    store_relaxed(&self->more[CNA_NODE], current_cohort());
    store_relaxed(&self->more[CNA_ORDER], 0);
    return mcs_acquire_behind(lock, self, mcs_enqueue(mcs_of(lock), self), SPIN,
                              deadline);
}

static __attribute__((noinline, unused)) void cna_hand_over(struct lock *lock,
                                                            struct waiter *node)
{
    /* A store to the holder's own node would fetch its line again, and delay the
     * grant. */
    uint32_t generation = node->generation;
    uint32_t order = load_relaxed(&node->more[CNA_ORDER]);
    held_node_release(lock, node, mcs_forget);
    if (unlikely(generation != fork_generation()))
        order = 0; /* the parent's waiters are gone */
    mcs_leave_by(lock, node, true, &cna_policy, &order, 0);
}

static __attribute__((noinline, unused)) void cna_release_queued(struct lock *lock)
{
    uint32_t order = 0;
    struct waiter *node = NULL;
    if (load_relaxed(&mcs_of(lock)->next) != MCS_NODE)
        mcs_leave_by(lock, NULL, true, &cna_policy, &order, 0);
    else if ((node = held_node_of_other(lock)) != NULL)
        cna_hand_over(lock, node);
}

static inline void cna_release(struct lock *lock)
{
    if (unlikely(!release_if(&mcs_of(lock)->tail, TAIL_HELD, 0)))
        cna_release_queued(lock);
}

DEFAULT_DESTROY(cna)

#endif
