/* SPDX-License-Identifier: MIT */
/*
 * CLH queue lock, with the holder's state in the lock. T. Craig, "Building FIFO and
 * priority-queueing spin locks from atomic swap", 1993; P. Magnusson, A. Landin, E.
 * Hagersten, "Queue locks on cache coherent multiprocessors", IPPS 1994; time-outs
 * after M. Scott, "Non-blocking timeout in scalable queue-based spin locks", PODC 2002
 * (a leaver passes its predecessor to its successor). The uncontended form is Hasp's
 * own: CLH needs a node even without contention, and that node would outlive the wait.
 *
 * Idea: a waiter waits on its predecessor's cell and takes over that cell. A holder
 * that acquired without waiting has a number instead, and its cell is in the lock: it
 * releases by storing its number there. If waiters may park, that store would have to
 * be an exchange; a holder whose number is still last gives it back instead.
 *
 *   tail  the last arrival: an even number, or 2 * id + 1 of a waiter
 *   node  of the holder: id of the waiter whose cell it will grant, 0 if it has a
 *         number
 *   cell  the last number released, and PARKED: a thread may be asleep on it
 *
 * I1. As long as no waiter has left, the lock is free exactly when tail == cell. If its
 *     holder has a number, that number is cell + 2, because numbers are given only to
 *     holders and are released in order.
 * I2. The predecessor returned by an exchange of the tail belongs to exactly one
 *     thread. Only that thread waits on the predecessor's cell and gives that waiter
 *     back.
 * I3. After LEFT_ONCE is set, a free lock may also look held: tail names a waiter that
 *     has left, or one that was granted although no thread waits. lock() and trylock()
 *     have to follow such names.
 *
 * A grant (release) pairs with wait_for_grant (acquire), and the store of a number
 * (release) pairs with the loads of the cell in clh_fast and clh_wait_for_number. An
 * exchange of the tail that frees the lock pairs with that of the next arrival.
 * Arrivals publish their waiters by exchanging the tail, and every later exchange
 * continues that release. So the exchanges that only remove a waiter (clh_settle,
 * clh_leave) need no order: the name that they store was published before. Numbers are
 * stored in ascending order, so an old value of the cell is never mistaken for a new
 * one.
 */
#ifndef HASP_LOCKS_ALGORITHMS_CLH_H
#define HASP_LOCKS_ALGORITHMS_CLH_H

#include "locks/algorithms/clh_number.h"
#include "locks/algorithms/lock_defaults.h"
#include "locks/memory/fork_repair.h"

enum { CLH_LEFT_ONCE = 1 }; /* lock->mode: a waiter has timed out */
static inline void clh_forget(struct lock *lock, bool held)
{
    struct clh *clh = clh_of(lock);
    uint32_t tail = load_relaxed(&clh->tail), number = clh_number(clh);
    if (tail % 2 == 0 || tail / 2 == load_relaxed(&clh->node))
        return; /* none of the parent's threads is queued */
    store_relaxed(&clh->node, 0);
    store_relaxed(&clh->cell, number);
    store_relaxed(&clh->tail, held ? number + CLH_NUMBER : number);
}

DEFAULT_BEFORE_RELEASE(clh)

static inline bool clh_fast(struct lock *lock)
{
    struct clh *clh = clh_of(lock);
    prefetch_for_write(&clh->tail); /* a plain load would fetch the line a second
                                     * time */
    uint32_t number = load_acquire(&clh->cell) & ~(uint32_t)CLH_PARKED;
    return acquire_if(&clh->tail, number, number + CLH_NUMBER);
}

/* The caller holds the lock through its waiter `self`. If no thread has queued behind
 * it, the waiter is exchanged for a number. */
static inline void clh_settle(struct clh *clh, struct waiter *self)
{
    uint32_t tail = clh_name(self->link.id);
    store_relaxed(&clh->node, 0);
    if (compare_exchange_relaxed(&clh->tail, &tail, clh_number(clh) + CLH_NUMBER))
        waiter_give(self);
    else
        store_relaxed(&clh->node, self->link.id);
}

/* Leaves the queue: unlinks the waiter if it is last, otherwise redirects its
 * successor. */
static inline void clh_leave(struct lock *lock, struct waiter *self, uint32_t before)
{
    uint32_t tail = clh_name(self->link.id);
    fetch_or_relaxed(&lock->mode, CLH_LEFT_ONCE);
    if (compare_exchange_relaxed(&clh_of(lock)->tail, &tail, before)) {
        waiter_give(self);
        return;
    }
    store_relaxed(&self->previous, before);
    if (exchange_release(&self->cell, WAITER_LEFT) == WAITER_PARKED)
        unpark(&self->cell, 1);
}

/* Returns whether it may pay to spin behind this waiter; see runs_soon(). A hint: if it
 * is asleep, its `previous` names what it waits for. */
static inline bool clh_runs_soon(struct clh *clh, const struct waiter *waiter)
{
    if (!load_relaxed(&waiter->asleep))
        return true;
    uint32_t awaited = load_relaxed(&waiter->previous);
    struct waiter *other = clh_named(awaited);
    return other ? load_relaxed(&other->cell) == WAITER_GRANTED
                 : awaited == clh_number(clh);
}

static inline bool clh_wait_on(struct lock *lock, struct waiter *self, uint32_t before,
                               enum waiting waiting, const struct deadline *deadline)
{
    struct clh *clh = clh_of(lock);
    struct waiter *other;
    while ((other = clh_named(before)) != NULL) {
        bool hopeful = may_park(waiting) && clh_runs_soon(clh, other);
        if (may_park(waiting))
            store_relaxed(&self->previous, before); /* for clh_runs_soon */
        uint32_t state =
            wait_for_grant(&other->cell, &self->asleep, waiting, hopeful, deadline);
        if (state == WAITER_WAITING) {
            state = load_acquire(&other->cell);
            if (state != WAITER_GRANTED && state != WAITER_LEFT) {
                clh_leave(lock, self, before);
                return false;
            }
        }
        before = load_relaxed(&other->previous);
        waiter_give(other);
        if (state == WAITER_GRANTED)
            return true;
    }
    if (may_park(waiting))
        store_relaxed(&self->previous, before);
    if (clh_wait_for_number(clh, self, before, waiting, deadline))
        return true;
    clh_leave(lock, self, before);
    return false;
}

/* Appends a chain of waiters that ends with `last` (an id) to the queue; returns the
 * name that the first of them has to wait for. */
static inline uint32_t clh_swing(struct lock *lock, uint32_t last)
{
    return exchange_acq_rel(&clh_of(lock)->tail, clh_name(last));
}

/* Returns the name of the last waiter, 0 if there is none. If it stays the same, the
 * lock is held and no thread has queued. A waiter that left may stay last (I3), but
 * then a release is visible. */
static inline uint32_t clh_last(struct lock *lock)
{
    uint32_t tail = load_relaxed(&clh_of(lock)->tail);
    bool left = load_relaxed(&lock->mode) && !load_relaxed(&lock->word);
    return tail % 2 == 0 || left ? 0 : tail;
}

static inline bool clh_wait_behind(struct lock *lock, struct waiter *self,
                                   uint32_t before, enum waiting waiting,
                                   const struct deadline *deadline)
{
    bool acquired = clh_wait_on(lock, self, before, waiting, deadline);
    if (acquired) {
        if (may_park(waiting) && load_relaxed(&self->asleep))
            store_relaxed(&self->asleep, 0); /* the node stays in the queue */
        clh_settle(clh_of(lock), self);
    }
    return acquired;
}

static __attribute__((noinline, unused)) bool
clh_wait(struct lock *lock, enum waiting waiting, const struct deadline *deadline)
{
    fork_repair_if_due(lock, clh_forget);
    struct waiter *self = waiter_take();
    uint32_t before = clh_swing(lock, self->link.id);
    return clh_wait_behind(lock, self, before, waiting, deadline);
}

/* Called after clh_fast: follows the nodes that timed-out waiters left behind. */
static __attribute__((noinline, unused)) bool clh_retry(struct lock *lock,
                                                        enum waiting waiting)
{
    if (load_relaxed(&lock->word))
        return false;
    static const struct deadline long_ago = {CLOCK_MONOTONIC, {0, 0}};
    int token = wait_begin();
    bool acquired = clh_wait(lock, waiting, &long_ago);
    wait_end(token, NULL, NULL);
    return acquired;
}

static inline bool clh_trylock(struct lock *lock, enum waiting waiting)
{
    struct clh *clh = clh_of(lock);
    return (load_relaxed(&clh->tail) == clh_number(clh) && clh_fast(lock)) ||
           (unlikely(load_relaxed(&lock->mode) != 0) && clh_retry(lock, waiting));
}

static inline bool clh_timedlock(struct lock *lock, enum waiting waiting,
                                 const struct deadline *deadline)
{
    return clh_fast(lock) || clh_wait(lock, waiting, deadline);
}

static inline void clh_lock(struct lock *lock, enum waiting waiting)
{
    clh_timedlock(lock, waiting, NULL);
}

/* Called by a holder that has a node. */
static __attribute__((noinline, unused)) void clh_unlock_queued(struct lock *lock,
                                                                enum waiting waiting)
{
    struct clh *clh = clh_of(lock);
    struct waiter *self = waiter_at(load_relaxed(&clh->node));
    store_relaxed(&clh->node, 0); /* before the release */
    if (release_if(&clh->tail, clh_name(self->link.id), clh_number(clh)))
        waiter_give(self);
    else
        grant(&self->cell, may_park(waiting));
}

static inline void clh_unlock(struct lock *lock, enum waiting waiting)
{
    struct clh *clh = clh_of(lock);
    uint32_t mine = clh_number(clh) + CLH_NUMBER;
    if (unlikely(load_relaxed(&clh->node) != 0)) {
        clh_unlock_queued(lock, waiting);
    } else if (!may_park(waiting)) {
        store_release(&clh->cell, mine);
        release_window();
    } else if (unlikely(!release_if(&clh->tail, mine, mine - CLH_NUMBER))) {
        uint32_t before = exchange_release(&clh->cell, mine);
        release_window();
        if (unlikely(before & CLH_PARKED))
            unpark(&clh->cell, 1);
    }
}

/* Gives back the nodes that timed-out waiters left in the queue. No thread may use the
 * lock any more. */
static inline void clh_destroy(struct lock *lock)
{
    if (unlikely(load_relaxed(&lock->mode)) && clh_trylock(lock, SPIN))
        clh_unlock(lock, SPIN);
}

#endif
