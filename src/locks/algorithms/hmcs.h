/* SPDX-License-Identifier: MIT */
/*
 * HMCS: hierarchical MCS. M. Chabbi, M. Fagan, J. Mellor-Crummey, "High performance
 * locks for multi-level NUMA systems", PPoPP 2015.
 *
 * Idea: an MCS queue at each level. The head of a node's queue waits in the global
 * queue on behalf of the whole queue. A grant within the node carries the number of
 * handovers there, which shows the receiver that it holds both levels, and when to pass
 * the lock on to other nodes.
 *
 * The local queues are those of cohort_queue.h: the count that the paper puts into the
 * grant is `handovers`, next to it in the node. The global queue is the lock of mcs.h.
 * In the paper each NUMA node has a queue node there, which its next leader may use
 * again once the local queue is released, after the global lock. Here the global
 * release is the last access to the lock, so each leader brings a node, which its
 * cohort hands on with the lock.
 *
 *   state[0..1]  {tail, next} of the global queue (mcs.h)
 *   state[3]  directory of the local queues (side_memory.h)
 *   tail  of a local queue, in its side block: id of the last node, 0 empty
 *   handovers  of a node: how often the lock was handed over in the queue; 0: its
 *              thread has to take the global lock
 *   global  of a node that holds: id of the node by which its cohort is in the global
 *           queue; 0 if it is there itself, as a cohort of its own
 *
 * I1. The holder of the lock is the head of the global queue, with a node of its own or
 *     of its cohort, or without one (mcs.h). If its cohort has a node there, it is also
 *     the head of its local queue.
 * I2. The cohort's node is in no other hands: `global` of a node is written by its own
 *     thread, the leader, or before the grant that hands both over.
 *
 * Timed lock: a thread with a deadline waits in the global queue only, and leaves it as
 * in mcs.h; so the waiters of local queues never leave (cohort_queue.h).
 */
#ifndef HASP_LOCKS_ALGORITHMS_HMCS_H
#define HASP_LOCKS_ALGORITHMS_HMCS_H

#include "locks/algorithms/ahmcs.h"
#include "locks/algorithms/cohort_queue.h"
#include "locks/algorithms/mcs.h"

enum { HMCS_GLOBAL = COHORT_PLACE + 1 }; /* in waiter.more */

static inline struct waiter *hmcs_cohort_node(struct waiter *node)
{
    uint32_t id = load_relaxed(&node->more[HMCS_GLOBAL]);
    return id ? waiter_at(id) : NULL;
}

static inline void hmcs_forget(struct lock *lock, bool held)
{
    struct waiter *holder = mcs_search(lock);
    struct waiter *global = holder ? hmcs_cohort_node(holder) : NULL;
    cohort_queues_repair(lock, global ? holder : NULL);
    mcs_forget_except(lock, held, global ? global : holder);
}

DEFAULT_BEFORE_RELEASE(hmcs)

/* Acquires the global lock only. */
static inline enum acquisition hmcs_acquire_global(struct lock *lock,
                                                   const struct deadline *deadline)
{
    enum queue_space space = await_queue_space(lock, mcs_try, SPIN, deadline);
    if (unlikely(space != QUEUE_HAS_SPACE))
        return space == QUEUE_ACQUIRED ? ACQUIRED : NOT_ACQUIRED;
    struct waiter *self = mcs_waiter(lock, SPIN, deadline);
    store_relaxed(&self->more[HMCS_GLOBAL], 0);
    return mcs_acquire_behind(lock, self, mcs_enqueue(mcs_of(lock), self), SPIN,
                              deadline);
}

/* The head of a local queue acquires the global lock. */
static inline void hmcs_lead(struct lock *lock, struct waiter *self)
{
    struct waiter *global = waiter_take();
    store_relaxed(&self->more[HMCS_GLOBAL], global->link.id);
    uint32_t before = mcs_enqueue(mcs_of(lock), global);
    if (before)
        mcs_await(lock, global, before, SPIN, NULL);
    else
        mcs_begin(lock);
}

static __attribute__((noinline, unused)) enum acquisition
hmcs_acquire(struct lock *lock, bool adaptive, const struct deadline *deadline)
{
    fork_repair_if_due(lock, hmcs_forget);
    uint32_t index = current_cohort() % SIDE_BLOCKS_MAX;
    struct side_block *block = cohort_block_get(lock, index, deadline);
    if (!block)
        return hmcs_acquire_global(lock, deadline);
    struct cohort_queue_node *queue = cohort_queue_of(block);
    if (adaptive && ahmcs_skips(queue)) {
        enum acquisition acquired = hmcs_acquire_global(lock, NULL);
        ahmcs_skipped(queue);
        return acquired;
    }
    struct waiter *self = cohort_node_take(lock, block->link.id);
    held_nodes_expect(lock, self);
    if (!cohort_queue_wait(queue, self, SPIN))
        hmcs_lead(lock, self);
    held_node_begin(lock, self);
    return ACQUIRED_BY_NODE;
}

/* The holder releases the global lock that it has by its cohort. Returns its local
 * successor, or 0. */
static inline uint32_t hmcs_disband(struct lock *lock, bool adaptive,
                                    struct waiter *node, struct waiter *global,
                                    uint32_t next)
{
    if (!next) {
        if (adaptive)
            ahmcs_desert(cohort_queue_of(cohort_place(node)));
        next = cohort_queue_end(node);
    }
    mcs_leave(lock, global, true);
    return next;
}

static __attribute__((noinline, unused)) void
hmcs_hand_over(struct lock *lock, bool adaptive, struct waiter *node)
{
    held_node_release(lock, node, hmcs_forget);
    struct waiter *global = hmcs_cohort_node(node);
    if (!global) {
        mcs_leave(lock, node, true);
        return;
    }
    uint32_t next = load_acquire(&node->next);
    uint32_t handovers = load_relaxed(cohort_queue_handovers(node)) + 1;
    if (next && handovers <= HANDOVER_LIMIT) {
        store_relaxed(&waiter_at(next)->more[HMCS_GLOBAL], global->link.id);
    } else {
        next = hmcs_disband(lock, adaptive, node, global, next);
        handovers = 0;
    }
    if (next)
        cohort_queue_pass(next, handovers, SPIN);
    cohort_node_give(node);
}

static __attribute__((noinline, unused)) void hmcs_release_queued(struct lock *lock,
                                                                  bool adaptive)
{
    struct waiter *node;
    if (load_relaxed(&mcs_of(lock)->next) != MCS_NODE)
        mcs_leave(lock, NULL, true);
    else if ((node = held_node_of_other(lock)) != NULL)
        hmcs_hand_over(lock, adaptive, node);
}

/* Called when the word is cleared. */
static inline void hmcs_release(struct lock *lock, bool adaptive)
{
    if (unlikely(!release_if(&mcs_of(lock)->tail, TAIL_HELD, 0)))
        hmcs_release_queued(lock, adaptive);
}

static inline bool hmcs_trylock(struct lock *lock, bool adaptive)
{
    (void)adaptive;
    return mcs_try(lock);
}

/* Reads first if the caller has just waited (cohort_node_give()). */
static inline bool hmcs_fast(struct lock *lock)
{
    return current_thread_if_known() ? mcs_fast(lock) : mcs_try(lock);
}

static inline void hmcs_destroy(struct lock *lock)
{
    side_memory_free(cohort_directory(lock));
}

#endif
