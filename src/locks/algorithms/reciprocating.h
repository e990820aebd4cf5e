/* SPDX-License-Identifier: MIT */
/*
 * Reciprocating lock. D. Dice, A. Kogan, "Reciprocating locks", PPoPP 2025 (arXiv
 * 2501.02380). That a holder which did not wait needs no memory outside the lock is
 * Hasp's own, modelled on K42's MCS lock (mcs.h).
 *
 * Idea: arrivals push themselves on a stack. A holder with no waiter left to admit
 * detaches the whole stack, which becomes the next segment, and admits it from the top:
 * late arrivals first within a segment, but segment after segment.
 *
 *   arrivals  0 free; TAIL_HELD held, no arrivals; DETACHED held, no arrivals since a
 *             segment was detached; otherwise the id of the last arrival, which holds
 *             the lock if it found it free
 *   node      RECIPROCATING_NODE if the holder has a node, otherwise 0
 *   next  of a node: the arrival before it, 0 if there is none
 *   end   of a holder's node: a link with this value ends the segment. It is the id of
 *         the node under the segment, which was held when the segment was detached and
 *         may be used anew by now; a holder that found the lock free has its own
 *
 * I1. The lock is free exactly when arrivals == 0; node is then 0, too.
 * I2. The link of a waiter, to the arrival before it, is read only by its own thread
 *     once it is granted, or by the holder after the waiter has left. Waiters below it
 *     in its segment cannot leave the segment meanwhile, because they are admitted
 *     after it.
 * I3. Only the holder detaches the stack, and only when next == 0. So waiters on the
 *     stack are admitted after the detached ones, and a waiter on the stack below
 *     another one stays there until then.
 *
 * I4. While a node holds, the word stands (shown_word.h). A hand-over within a segment
 *     touches only the two nodes.
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
 * it along its link; abandoned_nodes.h bounds the number of such waiters.
 */
#ifndef HASP_LOCKS_ALGORITHMS_RECIPROCATING_H
#define HASP_LOCKS_ALGORITHMS_RECIPROCATING_H

#include "locks/algorithms/lock_defaults.h"
#include "locks/memory/fork_repair.h"
#include "locks/memory/shown_word.h"
#include "locks/waiting/abandoned_nodes.h"
#include "locks/waiting/held_nodes.h"

#define DETACHED (TAIL_HELD - 1) /* never the id of a waiter */

enum { RECIPROCATING_NODE = 1 };

struct reciprocating {
    struct atomic_u32 arrivals, node;
};

static inline struct reciprocating *reciprocating_of(struct lock *lock)
{
    return (struct reciprocating *)lock->state;
}

static inline struct atomic_u32 *reciprocating_end(struct waiter *node)
{
    return &node->more[0];
}

/* If no node holds although `node` says so, the lock was being acquired or released by
 * a thread of the parent: it becomes free. */
static inline void reciprocating_forget(struct lock *lock, bool held)
{
    struct reciprocating *own = reciprocating_of(lock);
    uint32_t arrivals = load_relaxed(&own->arrivals);
    if (arrivals == 0 || arrivals == TAIL_HELD)
        return; /* none of the parent's threads is queued */
    if (load_relaxed(&own->node)) {
        struct waiter *node = held_nodes_search(lock);
        if (node) {
            store_relaxed(&node->next, 0);
            store_relaxed(reciprocating_end(node), 0);
            store_relaxed(&own->arrivals, DETACHED);
            return;
        }
        shown_word_clear(lock);
        held = false;
    }
    store_relaxed(&own->node, 0);
    store_release(&own->arrivals, held ? TAIL_HELD : 0); /* pairs with the fast path */
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

/* Called on a time-out. Returns false if the lock was granted first. */
static inline bool reciprocating_leave(struct lock *lock, struct waiter *self,
                                       uint32_t before)
{
    uint32_t top = self->link.id;
    if (compare_exchange_relaxed(&reciprocating_of(lock)->arrivals, &top, before)) {
        waiter_give(self);
        return true;
    }
    return abandon(lock, self);
}

static __attribute__((noinline, unused)) enum acquisition
reciprocating_acquire(struct lock *lock, const struct deadline *deadline)
{
    fork_repair_if_due(lock, reciprocating_forget);
    enum queue_space space =
        await_queue_space(lock, reciprocating_trylock, SPIN, deadline);
    if (unlikely(space != QUEUE_HAS_SPACE))
        return space == QUEUE_ACQUIRED ? ACQUIRED : NOT_ACQUIRED;
    struct waiter *self = waiter_take();
    self->may_change = deadline != NULL;
    held_node_prepare(lock, self);
    held_nodes_expect(lock, self);
    store_relaxed(reciprocating_end(self), self->link.id);
    /* Release: the thread that detaches the segment sees the waiter. */
    uint32_t before =
        exchange_acq_rel(&reciprocating_of(lock)->arrivals, self->link.id);
    if (!before) {
        store_relaxed(&reciprocating_of(lock)->node, RECIPROCATING_NODE);
        shown_word_set(lock, OWNER_IN_NODE);
    } else {
        store_relaxed(&self->next, before >= DETACHED ? 0 : before);
        if (wait_for_grant(&self->cell, &self->asleep, SPIN, false, deadline) ==
                WAITER_WAITING &&
            reciprocating_leave(lock, self, before)) {
            held_nodes_cancel(lock);
            return NOT_ACQUIRED;
        }
    }
    held_node_begin(lock, self);
    return ACQUIRED_BY_NODE;
}

/* What a holder knows of the waiters. */
struct reciprocating_segment {
    uint32_t next; /* the waiter to admit next; 0 or `end`: there is none */
    uint32_t end;
    uint32_t none; /* what arrivals show if there are none */
};

/* `node` is NULL if the holder has none. */
static inline struct reciprocating_segment reciprocating_segment_of(struct waiter *node)
{
    if (!node)
        return (struct reciprocating_segment){0, 0, TAIL_HELD};
    uint32_t id = node->link.id, end = load_relaxed(reciprocating_end(node));
    return (struct reciprocating_segment){load_relaxed(&node->next), end,
                                          end == id ? id : DETACHED};
}

/* The segment is used up. Releases the lock and returns false if there are no arrivals,
 * otherwise detaches them. `*stands`: the word stands. */
static inline bool reciprocating_detach(struct lock *lock,
                                        struct reciprocating_segment *segment,
                                        bool *stands)
{
    struct reciprocating *own = reciprocating_of(lock);
    prefetch_for_write(&own->arrivals);
    if (load_relaxed(&own->arrivals) == segment->none) {
        if (*stands) {
            shown_word_clear(lock);
            store_relaxed(&own->node, 0);
            *stands = false;
        }
        if (release_if(&own->arrivals, segment->none, 0))
            return false;
    }
    segment->end = segment->none;
    segment->none = DETACHED;
    segment->next = exchange_acquire(&own->arrivals, DETACHED);
    return true;
}

static inline __attribute__((always_inline)) void
reciprocating_pass(struct lock *lock, struct waiter *node)
{
    struct reciprocating_segment segment = reciprocating_segment_of(node);
    bool stands = node != NULL;
    while (true) {
        if (!segment.next || segment.next == segment.end) {
            if (!reciprocating_detach(lock, &segment, &stands))
                break;
            continue; /* they may have removed themselves */
        }
        if (!stands) {
            store_relaxed(&reciprocating_of(lock)->node, RECIPROCATING_NODE);
            shown_word_restore(lock);
            stands = true;
        }
        struct waiter *head = waiter_at(segment.next);
        store_relaxed(reciprocating_end(head), segment.end);
        if (grant(&head->cell, head->may_change))
            break;
        (void)load_acquire(&head->cell); /* the leaver's stores before its mark */
        segment.next = load_relaxed(&head->next);
        give_abandoned(lock, head);
    }
    if (node)
        waiter_give(node);
}

static __attribute__((noinline, unused)) void
reciprocating_hand_over(struct lock *lock, struct waiter *node)
{
    held_node_release(lock, node, reciprocating_forget);
    reciprocating_pass(lock, node);
}

static __attribute__((noinline, unused)) void
reciprocating_release_queued(struct lock *lock)
{
    struct waiter *node;
    if (!load_relaxed(&reciprocating_of(lock)->node))
        reciprocating_pass(lock, NULL);
    else if ((node = held_node_of_other(lock)) != NULL)
        reciprocating_hand_over(lock, node);
}

/* Called when the word is cleared. */
static inline void reciprocating_release(struct lock *lock)
{
    if (unlikely(!release_if(&reciprocating_of(lock)->arrivals, TAIL_HELD, 0)))
        reciprocating_release_queued(lock);
}

DEFAULT_DESTROY(reciprocating)

#endif
