/* SPDX-License-Identifier: MIT */
/*
 * Hemlock. D. Dice, A. Kogan, "Hemlock: compact and scalable mutual exclusion", SPAA
 * 2021.
 *
 * Idea: a queue without links. A waiter watches its predecessor's grant word; the
 * releaser writes there that the lock is passed on, and has the word back when the
 * successor has acknowledged it. So, other than in CLH, nothing changes owner.
 *
 *   tail, node, cell  as in clh.h: of a holder that came without waiting, the grant
 *                     word is the cell in the lock
 *   grant word  of a waiter: WAITING; GRANTED; LEFT (watch its predecessor instead);
 *               LEAVING and the fork generation, its successor is about to leave;
 *               RETRY, that one was the last and is gone
 *
 * In the paper a thread has one grant word for all locks, whose addresses it writes
 * there, and that is its name in the tail. But a mutex may be released by another
 * thread, and its holder may wait for it once more, or exit: one name would stand in a
 * queue twice, or vanish. Here a word belongs to a stay in the lock: it lies in the
 * waiter, which the holder keeps and the lock names, so that any thread can release.
 *
 * I1. Free is tail == cell. Each grant word is watched by one thread at most, the one
 *     whose exchange of the tail returned it, or took its place by a LEFT.
 * I2. A word becomes GRANTED or LEFT only from WAITING, by its owner, after it found
 *     another last in the queue; RETRY makes it look at the tail again. So somebody
 *     watches, who acknowledges GRANTED, or takes LEFT over and gives that waiter back.
 * I3. Only who has made a word LEAVING changes it from that, and its owner keeps the
 *     waiter until then. In a child, LEAVING of its parent's threads counts as RETRY.
 *
 * A word that is set (release) pairs with the successor's look (acquire); the numbers
 * and the tail as in clh.h. But an exchange by which somebody leaves the tail (release)
 * pairs with that of the one it leaves there (acquire), which then sees that its word
 * was LEAVING. An acknowledgement tells nothing but itself.
 *
 * Timed lock: Hasp's own. A waiter announces itself on the word that it watches, so
 * that it is not granted meanwhile; then it takes itself out of the tail, or tells its
 * successor where to watch. Proof: by I3 nothing is granted to one who leaves. Waiting
 * for a LEAVING neighbour is waiting for the one behind it, at last for the thread that
 * is last in the queue, which waits for nobody.
 */
#ifndef HASP_LOCKS_ALGORITHMS_HEMLOCK_H
#define HASP_LOCKS_ALGORITHMS_HEMLOCK_H

#include "locks/algorithms/clh.h"
#include "locks/algorithms/lock_defaults.h"

enum { HEMLOCK_RETRY = WAITER_WOKEN + 1, HEMLOCK_LEAVING };

static inline uint32_t hemlock_leaving(void)
{
    return HEMLOCK_LEAVING | fork_generation() << 8;
}

/* Nobody watches the waiter's word any more; one may still have to say so. */
static inline void hemlock_give(struct waiter *self, uint32_t until_not)
{
    struct spinner spinner = {0, 0};
    while (load_relaxed(&self->cell) == until_not)
        spinner_spin(&spinner, NULL);
    waiter_give(self);
}

/* Takes the waiter out of the queue, if it is last, by putting `before` there (true);
 * else tells its successor. */
static inline bool hemlock_pass(struct clh *clh, struct waiter *self, uint32_t word,
                                uint32_t before)
{
    struct spinner spinner = {0, 0};
    while (true) {
        uint32_t tail = clh_name(self->link.id), seen = WAITER_WAITING;
        if (compare_exchange_acq_rel(&clh->tail, &tail, before))
            return true;
        if (compare_exchange_release(&self->cell, &seen, word))
            return false;
        if (seen == hemlock_leaving())
            spinner_spin(&spinner, NULL);
        else /* RETRY: acquire, so that the next look at the tail sees who is gone */
            compare_exchange_acquire(&self->cell, &seen, WAITER_WAITING);
    }
}

/* Timed out; false when the turn has come, or where to wait has changed. */
static inline bool hemlock_leave(struct clh *clh, struct waiter *self, uint32_t before)
{
    struct spinner spinner = {0, 0};
    struct waiter *other = clh_named(before);
    uint32_t seen = WAITER_WAITING, leaving = hemlock_leaving();
    while (other && !compare_exchange_relaxed(&other->cell, &seen, leaving)) {
        if (seen == WAITER_GRANTED || seen == WAITER_LEFT)
            return false;
        if (seen == leaving) { /* somebody who was behind it before */
            spinner_spin(&spinner, NULL);
            seen = WAITER_WAITING;
        }
    }
    store_relaxed(&self->previous, before);
    bool last = hemlock_pass(clh, self, WAITER_LEFT, before);
    if (other)
        store_release(&other->cell, last ? HEMLOCK_RETRY : WAITER_WAITING);
    if (last)
        hemlock_give(self, leaving);
    return true;
}

/* clh_settle, but for who may still have to say that it is gone. */
static inline void hemlock_settle(struct clh *clh, struct waiter *self)
{
    uint32_t tail = clh_name(self->link.id);
    store_relaxed(&clh->node, 0);
    if (compare_exchange_acquire(&clh->tail, &tail, clh_number(clh) + CLH_NUMBER))
        hemlock_give(self, hemlock_leaving());
    else
        store_relaxed(&clh->node, self->link.id);
}

static __attribute__((noinline, unused)) bool
hemlock_wait(struct lock *lock, const struct deadline *deadline)
{
    fork_repair_if_due(lock, clh_forget);
    struct clh *clh = clh_of(lock);
    struct waiter *self = waiter_take();
    struct spinner spinner = {0, 0};
    uint32_t before = clh_swing(lock, self->link.id);
    while (true) {
        struct waiter *other = clh_named(before);
        uint32_t seen = load_acquire(other ? &other->cell : &clh->cell);
        if (!other && seen == before)
            break;
        if (other && seen == WAITER_GRANTED) {
            store_relaxed(&other->cell, WAITER_WAITING);
            break;
        }
        if (other && seen == WAITER_LEFT) {
            before = load_relaxed(&other->previous);
            waiter_give(other);
        } else if (!spinner_spin(&spinner, deadline) &&
                   hemlock_leave(clh, self, before)) {
            return false;
        }
    }
    hemlock_settle(clh, self);
    return true;
}

static inline void hemlock_before_release(struct lock *lock)
{
    clh_before_release(lock);
}

static inline bool hemlock_fast(struct lock *lock)
{
    return clh_fast(lock);
}

static inline bool hemlock_trylock(struct lock *lock)
{
    struct clh *clh = clh_of(lock);
    return load_relaxed(&clh->tail) == clh_number(clh) && clh_fast(lock);
}

DEFAULT_LOCK(hemlock)

static __attribute__((noinline, unused)) void hemlock_unlock_queued(struct clh *clh)
{
    struct waiter *self = waiter_at(load_relaxed(&clh->node));
    store_relaxed(&clh->node, 0); /* before the release */
    bool last = hemlock_pass(clh, self, WAITER_GRANTED, clh_number(clh));
    release_window();
    hemlock_give(self, last ? hemlock_leaving() : (uint32_t)WAITER_GRANTED);
}

static inline void hemlock_unlock(struct lock *lock)
{
    struct clh *clh = clh_of(lock);
    if (unlikely(load_relaxed(&clh->node) != 0)) {
        hemlock_unlock_queued(clh);
    } else {
        store_release(&clh->cell, clh_number(clh) + CLH_NUMBER);
        release_window();
    }
}

DEFAULT_DESTROY(hemlock)

#endif
