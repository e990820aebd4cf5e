/* SPDX-License-Identifier: MIT */
/*
 * Reciprocating lock. D. Dice, A. Kogan, "Reciprocating locks", PPoPP 2025 (arXiv
 * 2501.02380). The form in which a holder needs no memory outside the lock is Hasp's
 * own, modelled on K42's MCS lock (mcs.h).
 *
 * Idea: arrivals push themselves on a stack. A holder with no waiter left to admit
 * detaches the whole stack, which becomes the next segment, and admits it from the top:
 * late arrivals first within a segment, but segment after segment.
 *
 *   arrivals  0 free; TAIL_HELD held, no arrivals; DETACHED held, no arrivals since a
 *             segment was detached; otherwise the id of the last arrival
 *   next      while held: id of the waiter to admit next, 0 if the segment is used up
 *
 * I1. The lock is free exactly when arrivals == 0. If arrivals is 0 or TAIL_HELD, next
 *     is 0.
 * I2. The link of a waiter, to the arrival before it, is read only by its own thread
 *     once it is granted, or by the holder after the waiter has left. Waiters below it
 *     in its segment cannot leave the segment meanwhile, because they are admitted
 *     after it.
 * I3. Only the holder detaches the stack, and only when next == 0. So waiters on the
 *     stack are admitted after the detached ones, and a waiter on the stack below
 *     another one stays there until then.
 *
 * A grant (release) pairs with wait_for_grant (acquire); the exchange that detaches
 * (acquire) with the exchanges that push (release); release_if of arrivals with
 * acquire_if or with the exchange of the next arrival.
 *
 * Proof: the bypass bound follows from I3. A waiter is overtaken only by threads that
 * push themselves on top of it before its segment is detached. Each of them waits in
 * the same segment, so none overtakes it twice.
 *
 * Timed lock: a waiter on top of the stack removes itself by exchanging arrivals from
 * itself to its link; by I2 and I3 the link is the waiter below it, which is still
 * there. Any other waiter only marks itself as left, and the holder that meets it skips
 * it along its link; abandoned_nodes.h bounds the number of such waiters. A thread that
 * pushed itself on a free lock sets the same mark: it holds the lock, and its waiter is
 * at the bottom of those pushed since.
 */
#ifndef HASP_LOCKS_ALGORITHMS_RECIPROCATING_H
#define HASP_LOCKS_ALGORITHMS_RECIPROCATING_H

#include "locks/algorithms/lock_defaults.h"
#include "locks/memory/fork_repair.h"
#include "locks/waiting/abandoned_nodes.h"

#define DETACHED (TAIL_HELD - 1) /* never the id of a waiter */

struct reciprocating {
    struct atomic_u32 arrivals, next;
};

static inline struct reciprocating *reciprocating_of(struct lock *lock)
{
    return (struct reciprocating *)lock->state;
}

static inline void reciprocating_forget(struct lock *lock, bool held)
{
    struct reciprocating *own = reciprocating_of(lock);
    uint32_t arrivals = load_relaxed(&own->arrivals);
    if (arrivals == 0 || arrivals == TAIL_HELD)
        return; /* none of the parent's threads is queued */
    store_relaxed(&own->next, 0);
    store_relaxed(&own->arrivals, held ? TAIL_HELD : 0);
}

DEFAULT_BEFORE_RELEASE(reciprocating)

static inline bool reciprocating_fast(struct lock *lock)
{
    return acquire_if(&reciprocating_of(lock)->arrivals, 0, TAIL_HELD);
}

static inline bool reciprocating_trylock(struct lock *lock)
{
    return load_relaxed(&reciprocating_of(lock)->arrivals) == 0 &&
           reciprocating_fast(lock);
}

/* In a waiter that has left: 1 if it is counted as abandoned. */
static inline struct atomic_u32 *reciprocating_timed_out(struct waiter *waiter)
{
    return &waiter->more[0];
}

/* Called if the lock was free when `self` was pushed. */
static inline void reciprocating_settle(struct reciprocating *own, struct waiter *self)
{
    uint32_t top = self->link.id;
    if (compare_exchange_relaxed(&own->arrivals, &top, TAIL_HELD)) {
        waiter_give(self);
        return;
    }
    /* A later holder reads this; the releases in between order it. */
    self->may_change = true;
    store_relaxed(reciprocating_timed_out(self), 0);
    store_relaxed(&self->cell, WAITER_LEFT);
}

/* Called on a time-out. Returns false if the lock was granted first. */
static inline bool reciprocating_leave(struct lock *lock, struct waiter *self,
                                       uint32_t before)
{
    struct reciprocating *own = reciprocating_of(lock);
    uint32_t top = self->link.id;
    if (compare_exchange_relaxed(&own->arrivals, &top, before)) {
        waiter_give(self);
        return true;
    }
    store_relaxed(reciprocating_timed_out(self), 1);
    return abandon(lock, self);
}

static __attribute__((noinline, unused)) bool
reciprocating_wait(struct lock *lock, const struct deadline *deadline)
{
    fork_repair_if_due(lock, reciprocating_forget);
    enum queue_space space =
        await_queue_space(lock, reciprocating_trylock, SPIN, deadline);
    if (unlikely(space != QUEUE_HAS_SPACE))
        return space == QUEUE_ACQUIRED;
    struct reciprocating *own = reciprocating_of(lock);
    struct waiter *self = waiter_take();
    self->may_change = deadline != NULL;
    /* Release: the thread that detaches the segment sees the waiter. */
    uint32_t before = exchange_acq_rel(&own->arrivals, self->link.id);
    if (!before) {
        reciprocating_settle(own, self);
        return true;
    }
    store_relaxed(&self->next, before >= DETACHED ? 0 : before);
    if (wait_for_grant(&self->cell, &self->asleep, SPIN, false, deadline) ==
            WAITER_WAITING &&
        reciprocating_leave(lock, self, before))
        return false;
    store_relaxed(&own->next, load_relaxed(&self->next));
    waiter_give(self);
    return true;
}

DEFAULT_LOCK(reciprocating)

static __attribute__((noinline, unused)) void
reciprocating_unlock_queued(struct lock *lock)
{
    struct reciprocating *own = reciprocating_of(lock);
    uint32_t next = load_relaxed(&own->next);
    do {
        if (!next) {
            store_relaxed(&own->next, 0);
            uint32_t seen = load_relaxed(&own->arrivals);
            if (seen >= DETACHED && release_if(&own->arrivals, seen, 0))
                return;
            next = exchange_acquire(&own->arrivals, DETACHED);
            if (next >= DETACHED) { /* they have removed themselves */
                next = 0;
                continue;
            }
        }
        struct waiter *head = waiter_at(next);
        if (grant(&head->cell, head->may_change))
            return;
        (void)load_acquire(&head->cell); /* the leaver's stores before its mark */
        next = load_relaxed(&head->next);
        if (load_relaxed(reciprocating_timed_out(head)))
            give_abandoned(lock, head);
        else
            waiter_give(head);
    } while (true);
}

static inline void reciprocating_unlock(struct lock *lock)
{
    struct reciprocating *own = reciprocating_of(lock);
    if (unlikely(!release_if(&own->arrivals, TAIL_HELD, 0)))
        reciprocating_unlock_queued(lock);
}

DEFAULT_DESTROY(reciprocating)

#endif
