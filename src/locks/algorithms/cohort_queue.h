/* SPDX-License-Identifier: MIT */
/*
 * Cohort locks (cohort.h) whose local level is an MCS queue of held nodes. D. Dice, V.
 * Marathe, N. Shavit, "Lock cohorting: a general technique for designing NUMA locks",
 * PPoPP 2012; J. Mellor-Crummey, M. Scott, TOCS 1991.
 *
 * Idea: a thread queues in its NUMA node's queue. The first one there, the leader,
 * acquires the global lock. A holder with a successor there hands it both: a grant,
 * which touches the nodes of the two threads only, and carries the number of such
 * handovers in a row. So the line of the lock is written by leaders only: by the one
 * that acquires, and by the last of its cohort, which releases.
 *
 *   state[0..2]  the global lock's
 *   state[3]  directory of the local queues (side_memory.h)
 *   mode  while held: 1 if the holder has a node, 0 if it has the global lock only
 *   tail  of a queue, in its side block: id of the last node, which may be the
 *         holder's; 0 empty
 *   handovers  of a node: how often the lock was handed over in the queue when its
 *              thread received it; 0: it receives the local level only
 *
 * I1. The first node of a queue is that of its leader, or that of the holder. Only the
 *     thread of the first node hands the queue over or empties it.
 * I2. Nobody leaves a local queue without having held the lock. So a holder that sees a
 *     successor hands over to a live thread, and no handover has to be taken back.
 * I3. mode and the word are written by a leader after it has acquired the global lock,
 *     and cleared by the holder that releases that lock, before it does. While a node
 *     holds, the word stands (shown_word.h).
 * I4. The release of the global lock is the last access to the lock and to its side
 *     blocks. A leader that is let in afterwards waits, so its node exists.
 *
 * Timed lock, trylock: as in cohort.h, at the global level only, as a cohort of its
 * own.
 */
#ifndef HASP_LOCKS_ALGORITHMS_COHORT_QUEUE_H
#define HASP_LOCKS_ALGORITHMS_COHORT_QUEUE_H

#include "locks/algorithms/cohort_levels.h"

/* Overlays the words of a side block. */
struct cohort_queue_node {
    struct atomic_u32 tail;
    char apart[60];                      /* the hints are read before the tail is
                                          * exchanged */
    struct atomic_u32 deserted, skipper; /* of adaptive locks */
};

_Static_assert(sizeof(struct cohort_queue_node) <=
                   sizeof(((struct side_block *)0)->words),
               "fits into a side block");

/* Next to the waiter's cell, so that a grant transfers both at once. */
static inline struct atomic_u32 *cohort_queue_handovers(struct waiter *waiter)
{
    return &waiter->previous;
}

static inline struct cohort_queue_node *cohort_queue_of(struct side_block *block)
{
    return (struct cohort_queue_node *)(void *)block->words;
}

/* Called by the child of a fork: empties the queues. `holder` is the node by which the
 * lock is held, or NULL. */
static inline void cohort_queues_repair(struct lock *lock, struct waiter *holder)
{
    for (uint32_t i = 0; i < SIDE_BLOCKS_MAX; i++) {
        struct side_block *block = side_memory_find(cohort_directory(lock), i);
        if (!block)
            continue;
        struct cohort_queue_node *queue = cohort_queue_of(block);
        bool holds = holder && cohort_place(holder) == block;
        store_relaxed(&queue->skipper, 0);
        store_relaxed(&queue->tail, holds ? holder->link.id : 0);
    }
    if (holder)
        store_relaxed(&holder->next, 0);
}

/* Waits at the local level; returns true if the lock was handed over with it. */
static inline __attribute__((always_inline)) bool
cohort_queue_wait(struct cohort_queue_node *queue, struct waiter *self,
                  enum waiting waiting)
{
    uint32_t before = exchange_acq_rel(&queue->tail, self->link.id);
    if (!before) {
        store_relaxed(cohort_queue_handovers(self), 0);
        return false;
    }
    bool hopeful = may_park(waiting) && runs_soon(waiter_at(before));
    store_release(&waiter_at(before)->next, self->link.id);
    wait_for_grant(&self->cell, &self->asleep, waiting, hopeful, NULL);
    return load_relaxed(cohort_queue_handovers(self)) != 0;
}

/* Empties the queue if the holder's node is the last one; otherwise returns its
 * successor. */
static inline uint32_t cohort_queue_end(struct waiter *node)
{
    uint32_t last = node->link.id;
    struct cohort_queue_node *queue = cohort_queue_of(cohort_place(node));
    if (compare_exchange_relaxed(&queue->tail, &last, 0)) /* the global lock releases */
        return 0;
    uint32_t next;
    spin_until((next = load_acquire(&node->next)) != 0);
    return next;
}

/* Hands the local level over; with the lock, unless `handovers` is 0. */
static inline void cohort_queue_pass(uint32_t next, uint32_t handovers,
                                     enum waiting waiting)
{
    struct waiter *head = waiter_at(next);
    store_relaxed(cohort_queue_handovers(head), handovers);
    grant(&head->cell, may_park(waiting));
}

/* The operations of a cohort lock. */

struct cohort_queue {
    const struct cohort_level *global;
    void (*forget)(struct lock *, bool held);
    enum waiting waiting; /* of the local level */
};

static inline __attribute__((always_inline)) void
cohort_queue_forget(struct lock *lock, bool held, const struct cohort_queue *cohort)
{
    struct waiter *holder = load_relaxed(&lock->mode) ? held_nodes_search(lock) : NULL;
    cohort_queues_repair(lock, holder);
    cohort_forget_global(lock, held, holder, cohort->global);
}

static inline __attribute__((always_inline)) enum acquisition
cohort_queue_acquire(struct lock *lock, const struct cohort_queue *cohort,
                     const struct deadline *deadline)
{
    fork_repair_if_due(lock, cohort->forget);
    uint32_t index = current_cohort() % SIDE_BLOCKS_MAX;
    struct side_block *block = cohort_block_get(lock, index, deadline);
    if (!block)
        return cohort->global->timedlock(lock, deadline) ? ACQUIRED : NOT_ACQUIRED;
    struct waiter *self = cohort_node_take(lock, block->link.id);
    self->may_change = may_park(cohort->waiting);
    held_nodes_expect(lock, self);
    if (!cohort_queue_wait(cohort_queue_of(block), self, cohort->waiting)) {
        cohort->global->queue(lock);
        cohort_begin(lock);
    }
    held_node_begin(lock, self);
    return ACQUIRED_BY_NODE;
}

/* The holder of the node hands the lock over, or releases it. */
static inline __attribute__((always_inline)) void
cohort_queue_hand_over(struct lock *lock, struct waiter *node,
                       const struct cohort_queue *cohort)
{
    held_node_release(lock, node, cohort->forget);
    uint32_t next = load_acquire(&node->next);
    uint32_t handovers = load_relaxed(cohort_queue_handovers(node)) + 1;
    if (!next || handovers > HANDOVER_LIMIT) {
        if (!next)
            next = cohort_queue_end(node);
        cohort_disband(lock);
        cohort->global->unlock(lock);
        handovers = 0;
    }
    if (next)
        cohort_queue_pass(next, handovers, cohort->waiting);
    cohort_node_give(node);
}

/* Defines a lock's functions for locks.def. */
#define COHORT_QUEUE(name, global_level, local_waiting)                                \
    static void name##_forget(struct lock *lock, bool held);                           \
    static const struct cohort_queue name = {&global_level, name##_forget,             \
                                             local_waiting};                           \
    COHORT_OPERATIONS(name, cohort_queue, global_level)

COHORT_QUEUE(c_bo_mcs, cohort_backoff, SPIN)
COHORT_QUEUE(c_bo_mcs_park, cohort_mutexee, SPIN_THEN_PARK)

/* The holder moves a thread that sleeps on a condition variable to the sleepers of the
 * global lock's word. */
static inline void c_bo_mcs_park_adopt(struct lock *lock, struct waiter *waiter)
{
    mutexee_adopt(lock, waiter);
}

/* Called by a thread that was adopted. Takes the global lock, as a cohort of its
 * own. */
static inline void c_bo_mcs_park_relock(struct lock *lock)
{
    fork_repair_if_due(lock,
                       /* Precedes mutexee's own repair, which would not repair the
                        * local queues. */
                       c_bo_mcs_park_forget);
    mutexee_relock(lock, MUTEXEE_SPINNERS);
}

#endif
