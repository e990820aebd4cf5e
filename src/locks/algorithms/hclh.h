/* SPDX-License-Identifier: MIT */
/*
 * HCLH: hierarchical CLH queue lock. V. Luchangco, D. Nussbaum, N. Shavit, "A
 * hierarchical CLH queue lock", Euro-Par 2006.
 *
 * Idea: a thread queues in its NUMA node's queue. The first one there, the master,
 * waits for others to join and then splices the whole local queue into the global one,
 * by one exchange of the global tail. Each thread waits on its predecessor's cell,
 * whichever queue that was in, so the lock stays in a node for the length of the batch.
 *
 * The global queue is that of clh.h. The master resets the local tail when it splices,
 * so the next arrival finds an empty queue and knows that it is the master; in the
 * paper it finds a mark on its predecessor, which must then not be reused too early.
 * The master does not wait for a fixed time. It waits until the last waiter of the
 * global queue changes, because another master has spliced; that delays no thread.
 *
 *   state[0..1]  the global queue's (clh.h)
 *   state[3]  directory of the local queues (side_memory.h)
 *   local tail  in the node's side block: id of the last waiter not yet spliced, 0 none
 *
 * I1. A waiter has one predecessor, and is the predecessor of at most one other. An
 *     exchange of either tail returns its id to one thread as a predecessor, because
 *     the exchange by which the master resets the local tail only ends the batch.
 * I2. A local queue that is not empty has a master, which will splice it: the waiter
 *     that found no predecessor there. It waits only for threads of the global queue.
 * I3. A holder's waiter has been spliced, so no local tail names it. After a thread has
 *     been spliced, only waiters are touched outside the mutex.
 *
 * An arrival's exchange of a tail (acquire and release) makes the waiter that it
 * returns visible, and publishes its own; the master's exchange (acquire) lets its
 * exchange of the global tail publish the last waiter.
 *
 * Timed lock: a thread with a deadline is a batch of its own in the global queue and
 * leaves that as in clh.h; so local queues have no gaps.
 */
#ifndef HASP_LOCKS_ALGORITHMS_HCLH_H
#define HASP_LOCKS_ALGORITHMS_HCLH_H

#include "locks/algorithms/clh.h"
#include "locks/algorithms/lock_defaults.h"
#include "locks/memory/side_memory.h"

static inline struct atomic_u32 *hclh_directory(struct lock *lock)
{
    return &lock->state[3];
}

/* Live threads pass through here before they enter a local queue. */
static inline void hclh_forget(struct lock *lock, bool held)
{
    for (uint32_t i = 0; i < SIDE_BLOCKS_MAX; i++) {
        struct side_block *block = side_memory_find(hclh_directory(lock), i);
        if (block)
            store_relaxed(&block->words[0], 0);
    }
    clh_forget(lock, held);
}

DEFAULT_BEFORE_RELEASE(hclh)

static inline bool hclh_fast(struct lock *lock)
{
    return clh_fast(lock);
}

static inline enum acquisition hclh_trylock(struct lock *lock)
{
    if (unlikely(load_relaxed(&lock->mode)))
        fork_repair_if_due(lock, hclh_forget); /* it may have to walk through the
                                                * queue */
    return clh_trylock(lock, SPIN);
}

/* Queues in the node's queue, and through it in the global one. Returns the name to
 * wait for. */
static inline uint32_t hclh_enqueue(struct lock *lock, uint32_t self)
{
    struct side_block *block = side_memory_get_unless_scarce(
        hclh_directory(lock), current_cohort() % SIDE_BLOCKS_MAX);
    if (unlikely(!block))
        return clh_swing(lock, self);
    struct atomic_u32 *tail = &block->words[0];
    uint32_t before = exchange_acq_rel(tail, self);
    if (before)
        return clh_name(before);
    struct spinner spinner = {0, 0};
    uint32_t last = clh_last(lock);
    while (last && clh_last(lock) == last)
        spinner_spin(&spinner, NULL);
    return clh_swing(lock, exchange_acquire(tail, 0));
}

static __attribute__((noinline, unused)) enum acquisition
hclh_acquire(struct lock *lock, const struct deadline *deadline)
{
    fork_repair_if_due(lock, hclh_forget);
    if (deadline)
        return clh_acquire(lock, SPIN, deadline);
    struct waiter *self = clh_waiter(lock);
    uint32_t before = hclh_enqueue(lock, self->link.id);
    return clh_wait_behind(lock, self, before, SPIN, NULL);
}

static inline void hclh_hand_over(struct lock *lock, struct waiter *node)
{
    held_node_release(lock, node, hclh_forget);
    clh_leave_holding(lock, SPIN, node);
}

static inline void hclh_release(struct lock *lock)
{
    clh_release(lock, SPIN);
}

static inline void hclh_destroy(struct lock *lock)
{
    clh_destroy(lock);
    side_memory_free(hclh_directory(lock));
}

#endif
