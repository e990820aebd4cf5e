/* SPDX-License-Identifier: MIT */
/*
 * Time-published MCS lock (MCS-TP). B. He, W. Scherer, M. Scott, "Preemption adaptivity
 * in time-published queue-based spin locks", HiPC 2005; based on the form of mcs.h.
 *
 * Idea: a spinning thread keeps publishing the time. A waiter whose time is old has
 * lost its CPU, and the releaser skips it instead of handing it the lock; when it runs
 * again, it finds that it was removed from the queue, and joins it anew. In the same
 * way, waiters detect that the holder has held the lock for long, and then yield their
 * CPUs. The paper's holder publishes the start of its critical section at each
 * acquisition; here the first waiter or the previous holder does that for it, so that
 * no thread reads the clock without contention.
 *
 *   tail, next  as in mcs.h
 *   since       while a thread waits: a time at which the holder already had the lock
 *   published   in a waiter: the time of its last check
 *
 * I1. A waiter is taken out of the queue by the holder only: it moves the links first,
 *     then exchanges the cell to SKIPPED. If the exchange finds LEFT, no thread uses
 *     the waiter any more; otherwise it belongs to its thread again, which acts on it
 *     after it has seen SKIPPED.
 * I2. The times only determine which thread gets the lock and which threads yield, so a
 *     wrong time costs speed, not correctness.
 *
 * The exchange to SKIPPED (release) pairs with the waiter's load (acquire); the rest is
 * as in mcs.h.
 *
 * Timed lock: as in mcs.h, a thread leaves by setting its cell to LEFT. If it finds
 * SKIPPED there, it is out of the queue already, and only gives its waiter back.
 */
#ifndef HASP_LOCKS_ALGORITHMS_MCS_TIMEPUB_H
#define HASP_LOCKS_ALGORITHMS_MCS_TIMEPUB_H

#include "locks/algorithms/lock_defaults.h"
#include "locks/algorithms/mcs.h"

/* Both are in microseconds. A running waiter publishes about ten times within the
 * first. A critical section longer than the second, a context switch, is worth a
 * yield. */
enum { MCS_TIMEPUB_SILENCE = 20, MCS_TIMEPUB_SECTION = 50 };

struct mcs_timepub {
    struct mcs mcs;
    struct atomic_u32 since;
};

static inline struct mcs_timepub *mcs_timepub_of(struct lock *lock)
{
    return (struct mcs_timepub *)lock->state;
}

static inline struct atomic_u32 *mcs_timepub_published(struct waiter *waiter)
{
    return &waiter->more[0];
}

/* The time wraps around in an hour; a preempted waiter may then seem to run. */
static inline uint32_t mcs_timepub_now(void)
{
    return (uint32_t)(ticks_to_ns(ticks()) / 1000);
}

static inline void mcs_timepub_before_release(struct lock *lock)
{
    mcs_before_release(lock);
}

static inline bool mcs_timepub_fast(struct lock *lock)
{
    return mcs_fast(lock);
}

static inline bool mcs_timepub_trylock(struct lock *lock)
{
    return mcs_trylock(lock, SPIN);
}

/* Returns true if `then` is more than `limit` ago. Clocks of two CPUs may differ a
 * little. */
static inline bool mcs_timepub_old(uint32_t now, uint32_t then, int32_t limit)
{
    return (int32_t)(now - then) > limit;
}

/* Waits, publishing the time, until the cell is not WAITING or the deadline has passed;
 * returns the cell's value. All waiters share `since`, so each looks at it only when
 * the time last seen there, or at which it began to wait, would be old. */
static inline uint32_t mcs_timepub_spin(struct lock *lock, struct waiter *self,
                                        uint32_t published,
                                        const struct deadline *deadline)
{
    struct atomic_u32 *since = &mcs_timepub_of(lock)->since;
    struct spinner spinner = {0, 0};
    uint32_t state, seen = published;
    while ((state = load_acquire(&self->cell)) == WAITER_WAITING) {
        uint32_t now = mcs_timepub_now();
        if (now != published)
            store_relaxed(mcs_timepub_published(self), published = now);
        if (mcs_timepub_old(now, seen, MCS_TIMEPUB_SECTION)) {
            seen = load_relaxed(since);
            if (mcs_timepub_old(now, seen, MCS_TIMEPUB_SECTION))
                yield();
        }
        if (!spinner_spin(&spinner, deadline))
            break;
    }
    return state;
}

static __attribute__((noinline, unused)) bool
mcs_timepub_wait(struct lock *lock, const struct deadline *deadline)
{
    fork_repair_if_due(lock, mcs_forget);
    enum queue_space space = await_queue_space(lock, mcs_try, SPIN, deadline);
    if (unlikely(space != QUEUE_HAS_SPACE))
        return space == QUEUE_ACQUIRED;
    struct mcs_timepub *timepub = mcs_timepub_of(lock);
    struct waiter *self = waiter_take();
    while (true) {
        uint32_t now = mcs_timepub_now();
        store_relaxed(mcs_timepub_published(self), now);
        uint32_t before = mcs_enqueue(&timepub->mcs, self);
        if (!before)
            break;
        if (before == TAIL_HELD)
            store_relaxed(&timepub->since, now);
        uint32_t state = mcs_timepub_spin(lock, self, now, deadline);
        bool in_time = state != WAITER_WAITING;
        if (!in_time) {
            if (abandon(lock, self))
                return false;
            state = load_relaxed(&self->cell); /* acquired by leave() */
        }
        if (state == WAITER_GRANTED)
            break;
        if (!in_time) {
            waiter_give(self);
            return false;
        }
        store_relaxed(&self->cell, WAITER_WAITING);
        store_relaxed(&self->next, 0);
    }
    mcs_settle(&timepub->mcs, self);
    return true;
}

DEFAULT_LOCK(mcs_timepub)

/* Takes the first waiter out of the queue; its thread will notice. */
static inline void mcs_timepub_skip(struct lock *lock, struct waiter *head)
{
    mcs_unlink(mcs_of(lock), mcs_holder_of(mcs_of(lock), NULL), head);
    if (exchange_acq_rel(&head->cell, WAITER_SKIPPED) == WAITER_LEFT)
        give_abandoned(lock, head);
}

static __attribute__((noinline, unused)) void
mcs_timepub_unlock_queued(struct lock *lock)
{
    struct mcs_timepub *timepub = mcs_timepub_of(lock);
    struct mcs *mcs = &timepub->mcs;
    uint32_t now = mcs_timepub_now();
    while (true) {
        uint32_t next;
        if (!(next = load_acquire(&mcs->next))) {
            if (release_if(&mcs->tail, TAIL_HELD, 0))
                return;
            spin_until((next = load_acquire(&mcs->next)) != 0);
        }
        struct waiter *head = waiter_at(next);
        if (mcs_timepub_old(now, load_relaxed(mcs_timepub_published(head)),
                            MCS_TIMEPUB_SILENCE)) {
            mcs_timepub_skip(lock, head);
            continue;
        }
        store_relaxed(&timepub->since, now);
        if (grant(&head->cell, true))
            return;
        mcs_unlink(mcs, mcs_holder_of(mcs, NULL), head);
        give_abandoned(lock, head);
    }
}

static inline void mcs_timepub_unlock(struct lock *lock)
{
    if (unlikely(!release_if(&mcs_of(lock)->tail, TAIL_HELD, 0)))
        mcs_timepub_unlock_queued(lock);
}

static inline void mcs_timepub_destroy(struct lock *lock)
{
    mcs_destroy(lock);
}

#endif
