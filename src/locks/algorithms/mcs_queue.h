/* SPDX-License-Identifier: MIT */
/*
 * The queue of mcs.h, and the lock that consists of it alone: without a word that it
 * shows, as a part of other locks.
 *
 * The holder's name, which the tail shows while no thread waits, is the id of its node,
 * or TAIL_HELD if it has none.
 *
 * A waiter links itself by a release store (mcs_splice), which pairs with the acquire
 * loads of the link in mcs_leave_by and mcs_unlink.
 */
#ifndef HASP_LOCKS_ALGORITHMS_MCS_QUEUE_H
#define HASP_LOCKS_ALGORITHMS_MCS_QUEUE_H

#include "locks/memory/fork_repair.h"
#include "locks/memory/shown_word.h"
#include "locks/waiting/abandoned_nodes.h"
#include "locks/waiting/held_nodes.h"

struct mcs {
    struct atomic_u32 tail, next;
};

#define MCS_NODE UINT32_MAX

static inline struct mcs *mcs_of(struct lock *lock)
{
    return (struct mcs *)lock->state;
}

/* Where a holder is found: its link, and its name in the tail. */
struct mcs_holder {
    struct atomic_u32 *next;
    uint32_t name;
};

/* `node` is NULL if the holder has none. */
static inline struct mcs_holder mcs_holder_of(struct mcs *mcs, struct waiter *node)
{
    return node ? (struct mcs_holder){&node->next, node->link.id}
                : (struct mcs_holder){&mcs->next, TAIL_HELD};
}

/* Called by the child of a fork. `node` is the one that holds, or NULL. If `next` says
 * that one does, but there is none, the lock was being acquired or released by a thread
 * of the parent: it becomes free. */
static inline void mcs_forget_except(struct lock *lock, bool held, struct waiter *node)
{
    struct mcs *mcs = mcs_of(lock);
    uint32_t tail = load_relaxed(&mcs->tail);
    if (tail == 0 || tail == TAIL_HELD)
        return; /* none of the parent's threads is queued */
    if (load_relaxed(&mcs->next) == MCS_NODE) {
        if (node) {
            store_relaxed(&node->next, 0);
            store_relaxed(&mcs->tail, node->link.id);
            return;
        }
        shown_word_clear(lock);
        held = false;
    }
    store_relaxed(&mcs->next, 0);
    store_release(&mcs->tail, held ? TAIL_HELD : 0); /* pairs with mcs_fast */
}

/* Returns the node by which the lock is held, after a fork. */
static inline struct waiter *mcs_search(struct lock *lock)
{
    bool by_node = load_relaxed(&mcs_of(lock)->next) == MCS_NODE;
    return by_node ? held_nodes_search(lock) : NULL;
}

static inline void mcs_forget(struct lock *lock, bool held)
{
    mcs_forget_except(lock, held, mcs_search(lock));
}

static inline bool mcs_fast(struct lock *lock)
{
    return acquire_if(&mcs_of(lock)->tail, 0, TAIL_HELD);
}

static inline bool mcs_try(struct lock *lock)
{
    return load_relaxed(&mcs_of(lock)->tail) == 0 && mcs_fast(lock);
}

/* Called by the holder: moves the links of `head`, the first waiter, to the holder.
 * This takes `head` out of the queue. */
static inline void mcs_unlink(struct mcs *mcs, struct mcs_holder holder,
                              struct waiter *head)
{
    uint32_t next = load_acquire(&head->next), tail = head->link.id;
    if (!next) {
        store_relaxed(holder.next, 0);
        /* Release: a thread that reads the name writes the link after the store
         * above. */
        if (compare_exchange_release(&mcs->tail, &tail, holder.name))
            return;
        spin_until((next = load_acquire(&head->next)) != 0);
    }
    store_relaxed(holder.next, next);
}

/* Appends a chain of waiters; returns the name of its predecessor, or 0 if the lock was
 * free. In that case the first waiter of the chain holds it now. */
static inline uint32_t mcs_splice(struct mcs *mcs, uint32_t first, uint32_t last)
{
    uint32_t before = exchange_acq_rel(&mcs->tail, last);
    if (before == TAIL_HELD)
        store_release(&mcs->next, first);
    else if (before)
        store_release(&waiter_at(before)->next, first);
    return before;
}

static inline uint32_t mcs_enqueue(struct mcs *mcs, struct waiter *waiter)
{
    return mcs_splice(mcs, waiter->link.id, waiter->link.id);
}

/* Waits behind `before`; returns false if the deadline passed first. */
static inline bool mcs_await(struct lock *lock, struct waiter *self, uint32_t before,
                             enum waiting waiting, const struct deadline *deadline)
{
    bool hopeful =
        may_park(waiting) && (before == TAIL_HELD || runs_soon(waiter_at(before)));
    return wait_for_grant(&self->cell, &self->asleep, waiting, hopeful, deadline) !=
               WAITER_WAITING ||
           !abandon(lock, self);
}

/* A node holds the lock from now on: `next` first, because a holder without a node
 * needs its own link no more. */
static inline void mcs_begin(struct lock *lock)
{
    store_relaxed(&mcs_of(lock)->next, MCS_NODE);
    shown_word_set(lock, OWNER_IN_NODE);
}

/* Chooses among the waiters (cna.h); NULL: in order of arrival. `order` is the holder's
 * state. */
struct mcs_policy {
    uint32_t (*pick)(struct mcs *, uint32_t *order, uint32_t next);
    /* Called if no waiter is linked: returns the first waiter of a second queue, which
     * has become the main one, or 0. */
    uint32_t (*refill)(struct mcs *, struct mcs_holder, uint32_t *order);
    void (*pass)(uint32_t order, struct waiter *head);
};

/* The caller, whose link is empty, sets the lock free; returns false if a waiter has
 * arrived, and the word is cleared. */
static inline bool mcs_set_free(struct lock *lock, struct mcs_holder holder,
                                bool stands)
{
    if (stands) { /* a node holds */
        shown_word_clear(lock);
        store_relaxed(&mcs_of(lock)->next, 0);
    }
    return release_if(&mcs_of(lock)->tail, holder.name, 0);
}

/* Prepares the lock's own cells for a hand-over to a node. */
static inline void mcs_show_node(struct lock *lock, bool shows)
{
    store_relaxed(&mcs_of(lock)->next, shows ? MCS_NODE : 0);
    if (shows)
        shown_word_restore(lock);
}

/* Hands the lock over, or sets it free. `node` is the holder's, or NULL. `shows`: the
 * lock shows its word, which is cleared by now if there is no node. `picked`: the
 * waiter that the policy has already chosen, or 0. */
static inline __attribute__((always_inline)) void
mcs_leave_by(struct lock *lock, struct waiter *node, bool shows,
             const struct mcs_policy *policy, uint32_t *order, uint32_t picked)
{
    struct mcs *mcs = mcs_of(lock);
    struct mcs_holder holder = mcs_holder_of(mcs, node);
    bool ready = node != NULL; /* for a grant: mcs_show_node() has been called */
    uint32_t next = picked ? picked : load_acquire(holder.next);
    while (true) {
        if (!next && policy)
            next = policy->refill(mcs, holder, order);
        if (!next) {
            if (mcs_set_free(lock, holder, shows && ready))
                break;
            ready = ready && !shows;
            spin_until((next = load_acquire(holder.next)) != 0);
        }
        if (!ready)
            mcs_show_node(lock, shows);
        ready = true;
        if (policy && !picked)
            next = policy->pick(mcs, order, next);
        picked = 0;
        struct waiter *head = waiter_at(next);
        /* A part of another lock: the caller goes on to its critical section. After the
         * grant, giving the node would wait until the head's line has come. */
        if (!shows && node && !head->may_change) {
            waiter_give(node);
            node = NULL;
        }
        if (policy)
            policy->pass(*order, head);
        if (grant(&head->cell, head->may_change))
            break;
        if (!node && shows)
            shown_word_clear(lock);
        ready = node != NULL;
        mcs_unlink(mcs, holder, head);
        give_abandoned(lock, head);
        next = load_acquire(holder.next);
    }
    if (node)
        waiter_give(node);
}

static inline __attribute__((always_inline)) void
mcs_leave(struct lock *lock, struct waiter *node, bool shows)
{
    mcs_leave_by(lock, node, shows, NULL, NULL, 0);
}

/* Waits in the queue without showing the word. Returns false if the deadline passed
 * first; otherwise `*node` is the node to leave with, or NULL. */
static __attribute__((noinline, unused)) bool mcs_enter(struct lock *lock,
                                                        enum waiting waiting,
                                                        const struct deadline *deadline,
                                                        struct waiter **node)
{
    *node = NULL;
    enum queue_space space = await_queue_space(lock, mcs_try, waiting, deadline);
    if (unlikely(space != QUEUE_HAS_SPACE))
        return space == QUEUE_ACQUIRED;
    struct waiter *self = waiter_take();
    self->may_change = may_park(waiting) || deadline;
    uint32_t before = mcs_enqueue(mcs_of(lock), self);
    if (before && !mcs_await(lock, self, before, waiting, deadline))
        return false;
    *node = self;
    return true;
}

#endif
