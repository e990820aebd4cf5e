/* SPDX-License-Identifier: MIT */
/*
 * CLH queue lock. T. Craig, "Building FIFO and priority-queueing spin locks from atomic
 * swap", 1993; P. Magnusson, A. Landin, E. Hagersten, "Queue locks on cache coherent
 * multiprocessors", IPPS 1994; time-outs after M. Scott, "Non-blocking timeout in
 * scalable queue-based spin locks", PODC 2002 (a leaver passes its predecessor to its
 * successor). The uncontended form is Hasp's own: CLH needs a node even without
 * contention, and that node would outlive the wait.
 *
 * Idea: a waiter waits on its predecessor's cell, takes over that node, and keeps its
 * own while it holds the lock. A holder that acquired without waiting has a number
 * instead, and its cell is in the lock: it releases by storing its number there. If
 * waiters may park, that store would have to be an exchange; a holder whose number is
 * still last gives it back instead.
 *
 *   tail  the last arrival: a number, a multiple of 4, or 2 * id + 1 of a waiter
 *   cell  the number released last, and two flags: PARKED, a thread may sleep on the
 *         cell; NODE, the holder has a node instead of a number
 *   next  of a node: 1 if the thread that waits on it will not leave
 *
 * I1. As long as no waiter has left, the lock is free exactly when tail == cell. If its
 *     holder has a number, that number is cell + 4, because numbers are given only to
 *     holders and are released in order.
 * I2. The predecessor returned by an exchange of the tail belongs to exactly one
 *     thread. Only that thread waits on the predecessor's cell, writes its `next`, and
 *     gives that waiter back.
 * I3. After LEFT_ONCE is set, a free lock may also look held: tail names a waiter that
 *     has left, or one that was granted although no thread waits. lock() and trylock()
 *     have to follow such names.
 * I4. The word stands (shown_word.h) while a node hands over to a waiter that does not
 *     leave, as HANDED_OVER. In all other releases it is cleared first, and the next
 *     holder sets it again.
 *
 * A grant (release) pairs with wait_for_grant (acquire), and the store of a number
 * (release) pairs with the loads of the cell in clh_fast and clh_wait_for_number. An
 * exchange of the tail that frees the lock pairs with that of the next arrival.
 * Arrivals publish their waiters by exchanging the tail, and every later exchange
 * continues that release. So the exchange that only removes a waiter (clh_leave) needs
 * no order: the name that it stores was published before. Numbers are stored in
 * ascending order, so an old value of the cell is never mistaken for a new one.
 */
#ifndef HASP_LOCKS_ALGORITHMS_CLH_H
#define HASP_LOCKS_ALGORITHMS_CLH_H

#include "locks/algorithms/clh_number.h"
#include "locks/algorithms/lock_defaults.h"
#include "locks/waiting/held_nodes.h"

enum { CLH_LEFT_ONCE = 1 }; /* lock->mode: a waiter has timed out */

/* If no node holds although the cell says so, the lock was being acquired or released
 * by a thread of the parent: it becomes free. */
static inline void clh_forget(struct lock *lock, bool held)
{
    struct clh *clh = clh_of(lock);
    uint32_t number = clh_number(clh);
    if (load_relaxed(&clh->tail) % 2 == 0)
        return; /* none of the parent's threads is queued */
    if (load_relaxed(&clh->cell) & CLH_NODE) {
        struct waiter *node = held_nodes_search(lock);
        if (node) {
            store_relaxed(&node->next, 0);
            store_relaxed(&clh->tail, clh_name(node->link.id));
            return;
        }
        shown_word_clear(lock);
        held = false;
    }
    store_relaxed(&clh->cell, number);
    store_release(&clh->tail, held ? number + CLH_NUMBER : number);
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
    if (!other)
        return awaited == clh_number(clh);
    uint32_t state = load_relaxed(&other->cell);
    return state == WAITER_GRANTED || state == WAITER_HANDED_OVER;
}

/* Waits for the waiter `other`; returns the state of its cell, WAITING if the deadline
 * passed first. */
static inline uint32_t clh_wait_on(struct clh *clh, struct waiter *self,
                                   struct waiter *other, enum waiting waiting,
                                   const struct deadline *deadline)
{
    if (!deadline)
        store_relaxed(&other->next, 1);
    bool hopeful = may_park(waiting) && clh_runs_soon(clh, other);
    uint32_t state =
        wait_for_grant(&other->cell, &self->asleep, waiting, hopeful, deadline);
    if (state == WAITER_WAITING && !still_waiting(load_acquire(&other->cell)))
        state = load_relaxed(&other->cell);
    return state;
}

/* The caller holds the lock through its node. `stands`: as its predecessor did. */
static inline enum acquisition clh_keep(struct lock *lock, struct waiter *self,
                                        enum waiting waiting, bool stands)
{
    if (may_park(waiting) && load_relaxed(&self->asleep))
        store_relaxed(&self->asleep, 0); /* the node stays in the queue */
    if (!stands) {
        clh_set_node(clh_of(lock));
        shown_word_set(lock, OWNER_IN_NODE);
    }
    held_node_begin(lock, self);
    return ACQUIRED_BY_NODE;
}

/* The predecessor's waiter, which a holder has taken over; it gives it back only after
 * its own release, because that takes an atomic operation. NULL if there is none. */
static inline struct waiter **clh_taken_over(struct waiter *self)
{
    return &self->condition_next; /* not used while its thread holds */
}

/* The waiter will go to the caller's own shard of the pool, in exchange for the
 * caller's waiter, which the successor takes over: a transfer of that shard's line
 * less. */
static inline void clh_take_over(struct waiter *self, struct waiter *other)
{
    uint32_t home = self->link.home;
    self->link.home = other->link.home;
    other->link.home = home;
    *clh_taken_over(self) = other;
}

static inline enum acquisition clh_wait_behind(struct lock *lock, struct waiter *self,
                                               uint32_t before, enum waiting waiting,
                                               const struct deadline *deadline)
{
    struct waiter *other;
    while ((other = clh_named(before)) != NULL) {
        if (may_park(waiting))
            store_relaxed(&self->previous, before); /* for clh_runs_soon */
        uint32_t state = clh_wait_on(clh_of(lock), self, other, waiting, deadline);
        if (state == WAITER_WAITING)
            break;
        before = load_relaxed(&other->previous);
        if (state != WAITER_LEFT) {
            clh_take_over(self, other);
            return clh_keep(lock, self, waiting, state == WAITER_HANDED_OVER);
        }
        waiter_give(other);
    }
    if (may_park(waiting) && !other)
        store_relaxed(&self->previous, before);
    if (!other && clh_wait_for_number(clh_of(lock), self, before, waiting, deadline))
        return clh_keep(lock, self, waiting, false);
    held_nodes_cancel(lock);
    clh_leave(lock, self, before);
    return NOT_ACQUIRED;
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

/* Returns a waiter for the calling thread, which expects to hold the lock by it. */
static inline struct waiter *clh_waiter(struct lock *lock)
{
    struct waiter *self = waiter_take();
    held_node_prepare(lock, self);
    held_nodes_expect(lock, self);
    *clh_taken_over(self) = NULL;
    return self;
}

static __attribute__((noinline, unused)) enum acquisition
clh_acquire(struct lock *lock, enum waiting waiting, const struct deadline *deadline)
{
    fork_repair_if_due(lock, clh_forget);
    struct waiter *self = clh_waiter(lock);
    uint32_t before = clh_swing(lock, self->link.id);
    return clh_wait_behind(lock, self, before, waiting, deadline);
}

/* Called after clh_fast: follows the nodes that timed-out waiters left behind. */
static __attribute__((noinline, unused)) enum acquisition
clh_retry(struct lock *lock, enum waiting waiting)
{
    if (load_relaxed(&lock->word))
        return NOT_ACQUIRED;
    static const struct deadline long_ago = {CLOCK_MONOTONIC, {0, 0}};
    int token = wait_begin();
    enum acquisition how = clh_acquire(lock, waiting, &long_ago);
    wait_end(token, NULL, NULL);
    return how;
}

static inline enum acquisition clh_trylock(struct lock *lock, enum waiting waiting)
{
    struct clh *clh = clh_of(lock);
    if (load_relaxed(&clh->tail) == clh_number(clh) && clh_fast(lock))
        return ACQUIRED;
    return unlikely(load_relaxed(&lock->mode) != 0) ? clh_retry(lock, waiting)
                                                    : NOT_ACQUIRED;
}

/* Releases a lock that is held through a node. */
static inline void clh_leave_holding(struct lock *lock, enum waiting waiting,
                                     struct waiter *node)
{
    struct waiter *other = *clh_taken_over(node);
    prefetch_for_write(&node->cell);
    if (likely(load_relaxed(&node->next))) {
        grant_as(&node->cell, WAITER_HANDED_OVER, may_park(waiting));
    } else {
        struct clh *clh = clh_of(lock);
        shown_word_clear(lock);
        if (release_if(&clh->tail, clh_name(node->link.id), clh_clear_node(clh)))
            waiter_give(node);
        else
            grant(&node->cell, may_park(waiting));
    }
    if (other)
        waiter_give(other);
}

static __attribute__((noinline, unused)) void clh_hand_over(struct lock *lock,
                                                            enum waiting waiting,
                                                            struct waiter *node)
{
    held_node_release(lock, node, clh_forget);
    clh_leave_holding(lock, waiting, node);
}

static __attribute__((noinline, unused)) void clh_release_other(struct lock *lock,
                                                                enum waiting waiting)
{
    struct waiter *node = held_node_of_other(lock);
    if (node)
        clh_hand_over(lock, waiting, node);
}

/* Called when the word is cleared. */
static inline void clh_release(struct lock *lock, enum waiting waiting)
{
    struct clh *clh = clh_of(lock);
    uint32_t cell = load_relaxed(&clh->cell);
    uint32_t mine = (cell & ~(uint32_t)CLH_PARKED) + CLH_NUMBER;
    if (unlikely(cell & CLH_NODE)) {
        clh_release_other(lock, waiting);
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
    if (likely(!load_relaxed(&lock->mode)))
        return;
    enum acquisition how = clh_trylock(lock, SPIN);
    if (how == ACQUIRED_BY_NODE)
        clh_hand_over(lock, SPIN, held_nodes_take(lock, held_nodes_count()));
    else if (how == ACQUIRED)
        clh_release(lock, SPIN);
}

#endif
