/* SPDX-License-Identifier: MIT */
/*
 * CLH queue lock, with the holder's part in the lock. T. Craig, "Building FIFO and
 * priority-queueing spin locks from atomic swap", 1993; P. Magnusson, A. Landin, E.
 * Hagersten, "Queue locks on cache coherent multiprocessors", IPPS 1994; time-outs
 * after M. Scott, "Non-blocking timeout in scalable queue-based spin locks", PODC 2002
 * (a leaver hands its predecessor to its successor). The uncontended form is Hasp's
 * own: CLH needs a node even then, and a node would outlive the waiting.
 *
 * Idea: a waiter waits on its predecessor's cell and takes that cell over. The cell of
 * a holder that came without waiting is inside the lock.
 *
 *   tail  0 free; TAIL_HELD held, nobody waits; else id of the last waiter or of the
 *         holder's
 *   node  of the holder: id of the waiter whose cell it will grant, 0 the cell in the
 *         lock
 *   cell  WAITING; PARKED somebody sleeps on it; GRANTED
 *
 * I1. A free lock that nobody has left has tail == 0, node == 0, cell == WAITING.
 * I2. Exactly one thread has the predecessor that an exchange of the tail returned; it
 *     alone waits on that predecessor's cell, and it alone gives that waiter back.
 * I3. After LEFT_ONCE is set, a free lock may also look held: tail is a node that left,
 *     or a cell granted with nobody waiting. lock() walks through; trylock() has to,
 *     too.
 *
 * A grant (release) pairs with wait_for_turn (acquire).
 */
#ifndef HASP_LOCKS_CLH_H
#define HASP_LOCKS_CLH_H

#include "locks/ghosts.h"
#include "locks/waiting.h"

enum { CLH_LEFT_ONCE = 1 }; /* lock->mode: some waiter has timed out */

struct clh {
    struct atomic_u32 tail, node, cell;
};

static inline struct clh *clh_of(struct lock *lock)
{
    return (struct clh *)lock->state;
}

static inline void clh_forget(struct lock *lock, bool held)
{
    struct clh *clh = clh_of(lock);
    uint32_t tail = load_relaxed(&clh->tail);
    if (tail == 0 || tail == TAIL_HELD || tail == load_relaxed(&clh->node))
        return; /* no ghosts */
    store_relaxed(&clh->node, 0);
    store_relaxed(&clh->cell, WAITER_WAITING);
    store_release(&clh->tail, held ? TAIL_HELD : 0);
}

static inline void clh_before_release(struct lock *lock)
{
    ghosts_check_holder(lock, clh_forget);
}

static inline bool clh_fast(struct lock *lock)
{
    return acquire_if(&clh_of(lock)->tail, 0, TAIL_HELD);
}

/* The caller holds the lock through its waiter `self`: goes back to the form without a
 * node if nobody has queued behind it. */
static inline void clh_settle(struct clh *clh, struct waiter *self)
{
    uint32_t tail = self->link.id;
    store_relaxed(&clh->node, 0);
    /* Release: whoever reads TAIL_HELD waits on the cell in the lock as it is now. */
    if (compare_exchange_acq_rel(&clh->tail, &tail, TAIL_HELD))
        waiter_give(self);
    else
        store_relaxed(&clh->node, self->link.id);
}

/* Times out: out of the queue if last, else by telling the successor where to wait. */
static inline void clh_leave(struct lock *lock, struct waiter *self, uint32_t before)
{
    uint32_t tail = self->link.id;
    fetch_or_relaxed(&lock->mode, CLH_LEFT_ONCE);
    if (compare_exchange_acq_rel(&clh_of(lock)->tail, &tail, before)) {
        waiter_give(self);
        return;
    }
    store_relaxed(&self->previous, before);
    if (exchange_release(&self->cell, WAITER_LEFT) == WAITER_PARKED)
        unpark(&self->cell, 1);
}

static inline bool clh_wait_on(struct lock *lock, struct waiter *self, uint32_t before,
                               enum waiting waiting, const struct deadline *deadline)
{
    struct clh *clh = clh_of(lock);
    do {
        struct waiter *other = before == TAIL_HELD ? NULL : waiter_at(before);
        struct atomic_u32 *cell = other ? &other->cell : &clh->cell;
        bool hopeful = may_park(waiting) && !(other && load_relaxed(&other->asleep));
        uint32_t state = wait_for_turn(cell, &self->asleep, waiting, hopeful, deadline);
        if (state == WAITER_WAITING) {
            if ((state = load_acquire(cell)) != WAITER_GRANTED &&
                state != WAITER_LEFT) {
                clh_leave(lock, self, before);
                return false;
            }
        }
        if (state == WAITER_LEFT) {
            before = load_relaxed(&other->previous);
            waiter_give(other);
            continue;
        }
        if (other)
            waiter_give(other);
        else
            store_relaxed(&clh->cell, WAITER_WAITING);
        return true;
    } while (true);
}

/* Puts waiters that wait for each other, up to `last`, behind the queue; returns what
 * the first of them has to wait behind, 0 if the lock was free. */
static inline uint32_t clh_swing(struct lock *lock, uint32_t last)
{
    return exchange_acq_rel(&clh_of(lock)->tail, last);
}

/* What to wait behind, for one whose predecessor is a waiter. */
static inline uint32_t clh_behind(uint32_t waiter)
{
    return waiter;
}

/* Names the last one queued, 0 if there is none. That it stays the same means that
 * somebody holds the lock and nobody has queued: who left may stay the last (I3), but
 * then a release shows. */
static inline uint32_t clh_last(struct lock *lock)
{
    uint32_t tail = load_relaxed(&clh_of(lock)->tail);
    bool left = load_relaxed(&lock->mode) && !load_relaxed(&lock->word);
    return tail == TAIL_HELD || left ? 0 : tail;
}

static inline bool clh_wait_behind(struct lock *lock, struct waiter *self,
                                   uint32_t before, enum waiting waiting,
                                   const struct deadline *deadline)
{
    bool acquired = !before || clh_wait_on(lock, self, before, waiting, deadline);
    if (acquired)
        clh_settle(clh_of(lock), self);
    return acquired;
}

static __attribute__((noinline, unused)) bool
clh_wait(struct lock *lock, enum waiting waiting, const struct deadline *deadline)
{
    ghosts_check(lock, clh_forget);
    struct waiter *self = waiter_take();
    uint32_t before = clh_swing(lock, self->link.id);
    return clh_wait_behind(lock, self, before, waiting, deadline);
}

static inline bool clh_trylock(struct lock *lock, enum waiting waiting)
{
    if (load_relaxed(&clh_of(lock)->tail) == 0 && clh_fast(lock))
        return true;
    if (likely(!load_relaxed(&lock->mode)) || load_relaxed(&lock->word))
        return false;
    static const struct deadline long_ago = {CLOCK_MONOTONIC, {0, 0}};
    int token = wait_begin();
    bool acquired = clh_wait(lock, waiting, &long_ago);
    wait_end(token, NULL, NULL);
    return acquired;
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

static __attribute__((noinline, unused)) void clh_unlock_queued(struct lock *lock,
                                                                enum waiting waiting)
{
    struct clh *clh = clh_of(lock);
    uint32_t node = load_relaxed(&clh->node);
    if (node)
        store_relaxed(&clh->node, 0); /* before the release: I1 */
    if (release_if(&clh->tail, node ? node : TAIL_HELD, 0)) {
        if (node)
            waiter_give(waiter_at(node));
        return;
    }
    grant(node ? &waiter_at(node)->cell : &clh->cell, may_park(waiting));
}

static inline void clh_unlock(struct lock *lock, enum waiting waiting)
{
    if (unlikely(!release_if(&clh_of(lock)->tail, TAIL_HELD, 0)))
        clh_unlock_queued(lock, waiting);
}

/* Nobody uses the lock: what timed-out waiters left behind goes back to the pool. */
static inline void clh_destroy(struct lock *lock)
{
    if (unlikely(load_relaxed(&lock->mode)) && clh_trylock(lock, SPIN))
        clh_unlock(lock, SPIN);
}

#endif
