/* SPDX-License-Identifier: MIT */
/*
 * Hemlock. D. Dice, A. Kogan, "Hemlock: compact and scalable mutual exclusion", SPAA
 * 2021.
 *
 * Idea: a queue without links. A waiter watches its predecessor's grant word; the
 * releaser announces the handover there, and regains the word when the successor has
 * acknowledged it. So, unlike in CLH, no node changes owner.
 *
 *   tail, cell  as in clh.h: for a holder that acquired without waiting, the grant word
 *               is the cell in the lock
 *   grant word  of a waiter: WAITING; GRANTED, or HANDED_OVER if the word stands; LEFT
 *               (watch its predecessor instead); LEAVING with the fork generation (its
 *               successor is about to leave); RETRY (that successor was the last in the
 *               queue and has left)
 *   next  of a node: 1 if the thread that watches it will not leave
 *
 * In the paper a thread has one grant word for all locks, in which it stores their
 * addresses, and which is its name in the tail. But a mutex may be released by another
 * thread, and its holder may wait for it again, or exit: one name would be in a queue
 * twice, or disappear. Here a word belongs to one acquisition: it is in the waiter,
 * which the holder keeps and any thread finds (held_nodes.h), so that any can release.
 *
 * I1. The lock is free exactly when tail == cell. Each grant word is watched by at most
 *     one thread: the one whose exchange of the tail returned it, or that reached it
 *     through a LEFT.
 * I2. A word becomes GRANTED, HANDED_OVER or LEFT only from WAITING, by its owner,
 *     after it found another thread last in the queue, or its `next` set; RETRY makes
 *     it read the tail again. So there is a watcher, which acknowledges the grant, or
 *     on LEFT continues with the predecessor and gives that waiter back.
 * I3. Only the thread that has set a word to LEAVING changes it from that, and its
 *     owner keeps the waiter until then. In a child, LEAVING of its parent's threads
 *     counts as RETRY.
 * I4. The word stands (shown_word.h) while a node hands over to a watcher that does not
 *     leave. Such a hand-over touches only the node. Others clear the word first.
 *
 * Setting a word (release) pairs with the successor's load (acquire); the numbers and
 * the tail are ordered as in clh.h. But an exchange by which a thread leaves the tail
 * (release) pairs with that of the thread whose name it stores there (acquire), which
 * then sees that its word was LEAVING; and setting `next` (release) passes that on to
 * the owner of the word (acquire). An acknowledgement (release) pairs with the load in
 * hemlock_give (acquire): the next user of the waiter clears `next` after it was set.
 *
 * Timed lock: Hasp's own. A waiter announces itself on the word that it watches, so
 * that it is not granted meanwhile; then it takes itself out of the tail, or redirects
 * its successor. Proof: by I3 no lock is granted to a thread that leaves. A thread that
 * finds LEAVING waits for its successor, which may itself wait for the next one, and so
 * on up to the last thread in the queue, which waits for none.
 */
#ifndef HASP_LOCKS_ALGORITHMS_HEMLOCK_H
#define HASP_LOCKS_ALGORITHMS_HEMLOCK_H

#include "locks/algorithms/clh.h"
#include "locks/algorithms/lock_defaults.h"

enum { HEMLOCK_RETRY = WAITER_HANDED_OVER + 1, HEMLOCK_LEAVING };

DEFAULT_BEFORE_RELEASE_BY(hemlock, clh_forget)

static inline uint32_t hemlock_leaving(void)
{
    return HEMLOCK_LEAVING | fork_generation() << 8;
}

/* No thread watches the waiter's word any more, but one may still have to change it
 * back. */
static inline void hemlock_give(struct waiter *self, uint32_t until_not)
{
    struct spinner spinner = {0, 0};
    while (load_acquire(&self->cell) == until_not)
        spinner_spin(&spinner, NULL);
    waiter_give(self);
}

/* If the waiter is last, takes it out of the queue by storing `before` in the tail, and
 * returns true; otherwise stores `word` for its successor. */
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
        else /* RETRY: acquire, so that the next read of the tail sees who has left */
            compare_exchange_acquire(&self->cell, &seen, WAITER_WAITING);
    }
}

static inline bool hemlock_is_granted(uint32_t word)
{
    return word == WAITER_GRANTED || word == WAITER_HANDED_OVER;
}

/* Called on a time-out. Returns false if the lock was granted, or if the word to watch
 * has changed. */
static inline bool hemlock_leave(struct clh *clh, struct waiter *self, uint32_t before)
{
    struct spinner spinner = {0, 0};
    struct waiter *other = clh_named(before);
    uint32_t seen = WAITER_WAITING, leaving = hemlock_leaving();
    while (other && !compare_exchange_relaxed(&other->cell, &seen, leaving)) {
        if (hemlock_is_granted(seen) || seen == WAITER_LEFT)
            return false;
        if (seen == leaving) { /* a thread that was behind it earlier */
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

/* The caller watches the word with that name from now on, and will not leave. */
static inline void hemlock_stay(uint32_t before)
{
    struct waiter *other = clh_named(before);
    if (other)
        store_release(&other->next, 1);
}

/* Returns the word of the waiter with that name; for a number, GRANTED once it is
 * released. */
static inline uint32_t hemlock_read(struct clh *clh, uint32_t before)
{
    struct waiter *other = clh_named(before);
    if (!other)
        return load_acquire(&clh->cell) == before ? WAITER_GRANTED : WAITER_WAITING;
    prefetch_for_write(&other->cell); /* for the acknowledgement */
    return load_acquire(&other->cell);
}

static __attribute__((noinline, unused)) enum acquisition
hemlock_acquire(struct lock *lock, const struct deadline *deadline)
{
    fork_repair_if_due(lock, clh_forget);
    struct clh *clh = clh_of(lock);
    struct waiter *self = waiter_take();
    held_node_prepare(lock, self);
    held_nodes_expect(lock, self);
    struct spinner spinner = {0, 0};
    uint32_t before = clh_swing(lock, self->link.id), seen;
    if (!deadline)
        hemlock_stay(before);
    while (!hemlock_is_granted(seen = hemlock_read(clh, before))) {
        if (seen == WAITER_LEFT) {
            struct waiter *other = clh_named(before);
            before = load_relaxed(&other->previous);
            waiter_give(other);
            if (!deadline)
                hemlock_stay(before);
        } else if (!spinner_spin(&spinner, deadline) &&
                   hemlock_leave(clh, self, before)) {
            held_nodes_cancel(lock);
            return NOT_ACQUIRED;
        }
    }
    struct waiter *other = clh_named(before);
    if (other)
        store_release(&other->cell, WAITER_WAITING);
    return clh_keep(lock, self, SPIN, seen == WAITER_HANDED_OVER);
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

static __attribute__((noinline, unused)) void hemlock_hand_over(struct lock *lock,
                                                                struct waiter *node)
{
    held_node_release(lock, node, clh_forget);
    struct clh *clh = clh_of(lock);
    prefetch_for_write(&node->cell);
    if (likely(load_acquire(&node->next)) &&
        likely(load_relaxed(&node->cell) == WAITER_WAITING)) {
        store_release(&node->cell, WAITER_HANDED_OVER);
        release_window();
        hemlock_give(node, WAITER_HANDED_OVER);
        return;
    }
    shown_word_clear(lock);
    bool last = hemlock_pass(clh, node, WAITER_GRANTED, clh_clear_node(clh));
    release_window();
    hemlock_give(node, last ? hemlock_leaving() : (uint32_t)WAITER_GRANTED);
}

static __attribute__((noinline, unused)) void hemlock_release_other(struct lock *lock)
{
    struct waiter *node = held_node_of_other(lock);
    if (node)
        hemlock_hand_over(lock, node);
}

/* Called when the word is cleared. */
static inline void hemlock_release(struct lock *lock)
{
    struct clh *clh = clh_of(lock);
    uint32_t cell = load_relaxed(&clh->cell);
    if (unlikely(cell & CLH_NODE)) {
        hemlock_release_other(lock);
    } else {
        store_release(&clh->cell, cell + CLH_NUMBER); /* nobody parks on it */
        release_window();
    }
}

DEFAULT_DESTROY(hemlock)

#endif
