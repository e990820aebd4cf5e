/* SPDX-License-Identifier: MIT */
/*
 * HCLH: hierarchical CLH queue lock. V. Luchangco, D. Nussbaum, N. Shavit, "A
 * hierarchical CLH queue lock", Euro-Par 2006.
 *
 * Idea: a thread queues in its NUMA node's queue. The first one there, the master, lets
 * companions gather and then splices the whole local queue into the global one, by one
 * exchange of the global tail. Everybody waits on its predecessor's cell, whichever
 * queue that came from, so that the lock stays in a node for as long as the batch is.
 *
 * The global queue is that of clh.h, and what happens there is written there. Here the
 * master takes the local tail away when it splices, so that the next arrival finds an
 * empty queue and knows that it is the master; in the paper it reads that in a mark on
 * its predecessor, which must then not be used again before. And it gathers, not for a
 * given time, but while the same waiter is the last one of the global queue: as long as
 * that delays nobody, and until others were spliced.
 *
 *   state[0..2]  the global queue's (clh.h)
 *   state[3]  directory of the local queues (side_memory.h)
 *   local tail  in the node's part: id of the last waiter not yet spliced, 0 none
 *
 * I1. A waiter is behind one predecessor, and is that of one other at most: an exchange
 *     of either tail returns its id to one thread as a predecessor, for the exchange by
 *     which the master takes the local tail is only that of a last one.
 * I2. A local queue that is not empty has a master, who will splice it: the waiter that
 *     found no predecessor there. It waits for nobody but those of the global queue.
 * I3. A holder's waiter was spliced, so no local tail names it. Nothing outside the
 *     mutex but waiters is touched after a thread has been spliced.
 *
 * An exchange of a tail by an arrival (acquire and release) shows it the waiter that it
 * returns, and publishes its own; the master's (acquire) lets its exchange of the
 * global tail publish the last one's.
 *
 * Timed lock: a thread that may give up is a batch of its own in the global queue and
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

/* Live threads come through here before they enter a local queue. */
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

static inline bool hclh_trylock(struct lock *lock)
{
    if (unlikely(load_relaxed(&lock->mode)))
        fork_repair_if_due(lock, hclh_forget); /* it may have to go through the queue */
    return clh_trylock(lock, SPIN);
}

/* Queues in the node's queue, and with it in the global one; returns what to wait
 * behind. */
static inline uint32_t hclh_enqueue(struct lock *lock, uint32_t self)
{
    struct side_block *block = side_memory_get_unless_scarce(
        hclh_directory(lock), current_node() % SIDE_BLOCKS_MAX);
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

static __attribute__((noinline, unused)) void hclh_wait(struct lock *lock)
{
    fork_repair_if_due(lock, hclh_forget);
    struct waiter *self = waiter_take();
    uint32_t before = hclh_enqueue(lock, self->link.id);
    clh_wait_behind(lock, self, before, SPIN, NULL);
}

static inline void hclh_lock(struct lock *lock)
{
    if (!clh_fast(lock))
        hclh_wait(lock);
}

static inline bool hclh_timedlock(struct lock *lock, const struct deadline *deadline)
{
    if (clh_fast(lock))
        return true;
    fork_repair_if_due(lock, hclh_forget);
    return clh_timedlock(lock, SPIN, deadline);
}

static inline void hclh_unlock(struct lock *lock)
{
    clh_unlock(lock, SPIN);
}

static inline void hclh_destroy(struct lock *lock)
{
    clh_destroy(lock);
    side_memory_free(hclh_directory(lock));
}

#endif
