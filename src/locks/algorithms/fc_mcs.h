/* SPDX-License-Identifier: MIT */
/*
 * FC-MCS: flat-combining MCS lock. D. Dice, V. Marathe, N. Shavit, "Flat-combining NUMA
 * locks", SPAA 2011; flat combining: D. Hendler, I. Incze, N. Shavit, M. Tzafrir, "Flat
 * combining and the synchronization-parallelism tradeoff", SPAA 2010.
 *
 * Idea: a thread publishes its request at its NUMA node. A combiner collects the
 * published requests into a chain of waiters and splices that into a global MCS queue,
 * by one exchange of its tail. Each thread waits on its own cell; the lock stays in a
 * NUMA node for the length of the chain.
 *
 * The global queue is that of mcs.h. In the paper each thread has a record in its
 * node's list, which a combiner scans. Here a request is the waiter itself, pushed on a
 * stack by one exchange; so a thread keeps no record for a lock that it does not wait
 * for. The first thread on an empty stack is the combiner. It collects until the last
 * waiter of the global queue has the lock, or another combiner has spliced; that delays
 * no thread.
 *
 *   state[0..1]  {tail, next} of the global queue (mcs.h)
 *   state[3]  directory of the nodes' side blocks (side_memory.h)
 *   requests  in the node's side block: id of the waiter that asked last, 0 none
 *   previous  of a waiter: id of the one that asked before it, 0 if not known yet, and
 *             for the combiner
 *
 * I1. The exchange that pushes a waiter returns the one below it. So each waiter on the
 *     stack is below one other at most, and only the first one is the combiner.
 * I2. A stack that is not empty has a combiner, which takes the whole stack; so as long
 *     as there are requests, a thread collects. It waits only for threads of the global
 *     queue.
 * I3. A thread touches its node's side block only until it waits in the global queue.
 *     So the block still exists.
 * I4. The combiner is the first of its chain. If it splices the chain behind a free
 *     lock, it has acquired it.
 *
 * The exchange that pushes a waiter (release) pairs with that of the combiner
 * (acquire). The links of the chain are published by the grants, which pass through the
 * combiner.
 *
 * Timed lock: a thread with a deadline publishes nothing; it queues as a chain of its
 * own and leaves the global queue as in mcs.h. So chains have no gaps.
 */
#ifndef HASP_LOCKS_ALGORITHMS_FC_MCS_H
#define HASP_LOCKS_ALGORITHMS_FC_MCS_H

#include "locks/algorithms/lock_defaults.h"
#include "locks/algorithms/mcs.h"
#include "locks/memory/side_memory.h"

static inline struct atomic_u32 *fc_mcs_directory(struct lock *lock)
{
    return &lock->state[3];
}

/* Live threads pass through here before they publish anything. */
static inline void fc_mcs_forget(struct lock *lock, bool held)
{
    for (uint32_t i = 0; i < SIDE_BLOCKS_MAX; i++) {
        struct side_block *block = side_memory_find(fc_mcs_directory(lock), i);
        if (block)
            store_relaxed(&block->words[0], 0);
    }
    mcs_forget(lock, held);
}

DEFAULT_BEFORE_RELEASE(fc_mcs)

/* Returns the requests of the NUMA node that the caller runs on, or NULL. */
static inline struct atomic_u32 *fc_mcs_requests(struct lock *lock)
{
    struct side_block *block = side_memory_get_unless_scarce(
        fc_mcs_directory(lock), current_cohort() % SIDE_BLOCKS_MAX);
    return block ? &block->words[0] : NULL;
}

/* Returns when the last waiter of the global queue has been granted the lock, or is no
 * longer the last one. The waiter may be another thread's by now; then the tail shows
 * that. */
static inline void fc_mcs_await_end(struct mcs *mcs)
{
    struct spinner spinner = {0, 0};
    uint32_t last = load_relaxed(&mcs->tail);
    if (!last || last == TAIL_HELD)
        return;
    struct atomic_u32 *cell = &waiter_at(last)->cell;
    while (still_waiting(load_relaxed(cell)) && load_relaxed(&mcs->tail) == last)
        spinner_spin(&spinner, NULL);
}

/* Called by the combiner. Returns true if it has acquired the lock. */
static inline bool fc_mcs_combine(struct lock *lock, struct atomic_u32 *requests,
                                  struct waiter *self)
{
    struct mcs *mcs = mcs_of(lock);
    fc_mcs_await_end(mcs);
    uint32_t last = exchange_acquire(requests, 0), at = last;
    while (at != self->link.id) {
        uint32_t below;
        spin_until((below = load_relaxed(&waiter_at(at)->previous)) != 0);
        store_relaxed(&waiter_at(below)->next, at);
        at = below;
    }
    if (mcs_splice(mcs, self->link.id, last))
        return false;
    mcs_begin(lock);
    return true;
}

static __attribute__((noinline, unused)) enum acquisition
fc_mcs_acquire(struct lock *lock, const struct deadline *deadline)
{
    fork_repair_if_due(lock, fc_mcs_forget);
    struct atomic_u32 *requests = deadline ? NULL : fc_mcs_requests(lock);
    if (!requests)
        return mcs_acquire(lock, SPIN, deadline);
    struct waiter *self = waiter_take();
    held_node_prepare(lock, self);
    uint32_t below = exchange_release(requests, self->link.id);
    store_relaxed(&self->previous, below);
    if (below || !fc_mcs_combine(lock, requests, self))
        wait_for_grant(&self->cell, &self->asleep, SPIN, false, NULL);
    held_node_keep(lock, self);
    return ACQUIRED_BY_NODE;
}

/* It reads first: a failed attempt leaves the line to those that read it, too. */
static inline bool fc_mcs_fast(struct lock *lock)
{
    return mcs_try(lock);
}

static inline bool fc_mcs_trylock(struct lock *lock)
{
    return mcs_trylock(lock, SPIN);
}

static inline void fc_mcs_hand_over(struct lock *lock, struct waiter *node)
{
    held_node_release(lock, node, fc_mcs_forget);
    mcs_leave(lock, node, true);
}

static inline void fc_mcs_release(struct lock *lock)
{
    mcs_release(lock, SPIN);
}

static inline void fc_mcs_destroy(struct lock *lock)
{
    side_memory_free(fc_mcs_directory(lock));
}

#endif
