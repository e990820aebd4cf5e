/* SPDX-License-Identifier: MIT */
/*
 * Cohort locks. D. Dice, V. Marathe, N. Shavit, "Lock cohorting: a general technique
 * for designing NUMA locks", PPoPP 2012; extended in ACM TOPC 1(2), 2015.
 *
 * Idea: a global lock and a local one for each NUMA node. A thread takes its node's
 * lock, then the global one, unless the local lock came with the global one: a holder
 * whose node has waiters keeps the global lock and passes them the local one, at most
 * HANDOVER_LIMIT times in a row. Any lock that a different thread may release can be
 * the global one, and any lock that shows its holder whether threads wait can be the
 * local one; the two are arguments here. This is the form whose local lock has no
 * nodes; cohort_queue.h is that of local queues.
 *
 * A thread that finds the lock free takes the global lock only, as a cohort of its own:
 * without contention there is no local lock, and no memory for it.
 *
 *   state[0..2]  the global lock's
 *   state[3]  directory of the local locks (side_memory.h)
 *   mode  while held: 1 if the holder has a local lock, too, and so a node
 *         (held_nodes.h), which names that lock's side block; 0 if it has none
 *   flag  in the directory: a thread with a deadline may have queued for the global
 *         lock
 *   local  in the node's side block: a lock; only its state is used
 *   handovers  in the local lock's state[3]: 0 the next holder of the local lock has to
 *              take the global one; n > 0 it receives both, for the n-th time in a row
 *
 * I1. mode is set by a leader after it has acquired the global lock. handovers is
 *     written by holders, and set to 0 by the one that releases the global lock, before
 *     it does. So handovers != 0 implies that the global lock is held, and that the
 *     holder of the local lock is the holder.
 * I2. A thread that waits for a local lock never stops waiting. So if its holder sees a
 *     waiter, a release hands over to a live thread, and no handover has to be taken
 *     back.
 * I3. The local lock is released before the global one. Until the global lock is
 *     released, no other thread can acquire the lock and destroy it; after that, the
 *     releasing thread accesses neither the lock nor its side blocks. If the local
 *     release hands over both, it is the last access. Since the node names the holder's
 *     local lock, a thread on any NUMA node can unlock.
 * I4. While a node holds, the word stands (shown_word.h): a handover between nodes
 *     touches their local lock only. It also stands, as does mode, while the global
 *     lock passes to a thread that cannot give up: another leader, or one that finds
 *     no memory for its local lock and clears both. Otherwise a thread that gives up
 *     could leave behind a free lock whose word is not 0. One with a deadline sets the
 *     flag before it queues (release), and a holder that finds a thread queued
 *     (acquire) reads it.
 *
 * Timed lock: a timed waiter waits only for the global lock, as a cohort of its own,
 * and uses that lock's time-out. Proof: by I2 the local level and its leader are not
 * affected, and a thread that leaves the global lock's queue has nothing to hand on.
 * (The paper's abortable forms let threads leave the local queue, too. Then a holder
 * may find its last waiter gone after it decided to keep the global lock.)
 *
 * Trylock: it tries the global lock, because the lock is free exactly when the global
 * one is.
 */
#ifndef HASP_LOCKS_ALGORITHMS_COHORT_H
#define HASP_LOCKS_ALGORITHMS_COHORT_H

#include "locks/algorithms/cohort_levels.h"
#include "locks/algorithms/partitioned.h"

struct cohort {
    const struct cohort_level *global, *local;
    void (*forget)(struct lock *, bool held); /* of the whole lock */
};

/* Overlays the words of a side block. */
struct cohort_node {
    struct lock local;
};

_Static_assert(sizeof(struct cohort_node) <= sizeof(((struct side_block *)0)->words),
               "fits into a side block");

static inline struct cohort_node *cohort_node_of(struct side_block *block)
{
    return (struct cohort_node *)(void *)block->words;
}

/* Next to the number being served, which changes with it. Ticket locks do not use
 * it. */
static inline struct atomic_u32 *cohort_handovers(struct cohort_node *node)
{
    return &node->local.state[3];
}

/* Every thread that waits for a local lock belongs to the parent, because a live thread
 * passes through here before it does. */
static inline __attribute__((always_inline)) void
cohort_forget(struct lock *lock, bool held, const struct cohort *cohort)
{
    struct waiter *holder = load_relaxed(&lock->mode) ? held_nodes_search(lock) : NULL;
    for (uint32_t i = 0; i < SIDE_BLOCKS_MAX; i++) {
        struct side_block *block = side_memory_find(cohort_directory(lock), i);
        if (!block)
            continue;
        struct cohort_node *node = cohort_node_of(block);
        store_relaxed(cohort_handovers(node), 0);
        cohort->local->forget(&node->local, true);
        cohort->local->trylock(&node->local); /* it was held or free: held now ... */
        if (!holder || cohort_place(holder) != block)
            cohort->local->unlock(&node->local); /* ... and now free, without waiters */
    }
    cohort_forget_global(lock, held, holder, cohort->global);
}

/* Sets the flag, for a thread with a deadline that is about to queue. Returns false if
 * there is no memory for it. */
static inline bool cohort_expect_leavers(struct lock *lock)
{
    struct atomic_u32 *directory = cohort_directory(lock);
    if (!load_relaxed(directory) && side_memory_scarce())
        return false;
    struct atomic_u32 *flag = &side_block_of(directory)->words[SIDE_FLAG];
    if (!(load_relaxed(flag) & SIDE_LEAVERS))
        fetch_or_relaxed(flag, SIDE_LEAVERS);
    return true;
}

/* Tries to acquire the global lock until the deadline, without queueing. */
static inline __attribute__((always_inline)) bool
cohort_poll(struct lock *lock, const struct cohort_level *global,
            const struct deadline *deadline)
{
    struct spinner spinner = {0, 0};
    while (!global->trylock(lock))
        if (!spinner_spin(&spinner, deadline))
            return false;
    return true;
}

/* Acquires the global lock only. */
static inline __attribute__((always_inline)) enum acquisition
cohort_acquire_alone(struct lock *lock, const struct cohort_level *global,
                     const struct deadline *deadline)
{
    bool queues = !deadline || cohort_expect_leavers(lock);
    if (!(queues ? global->timedlock(lock, deadline)
                 : cohort_poll(lock, global, deadline)))
        return NOT_ACQUIRED;
    if (load_relaxed(&lock->mode)) /* the word stands (I4) */
        cohort_disband(lock);
    return ACQUIRED;
}

/* Called by the holder: whether the global lock passes to a thread that cannot give
 * up. */
static inline __attribute__((always_inline)) bool
cohort_may_stand(struct lock *lock, const struct cohort_level *global)
{
    struct side_block *directory = side_block_at(load_relaxed(cohort_directory(lock)));
    return global->queued(lock) &&
           !(load_relaxed(&directory->words[SIDE_FLAG]) & SIDE_LEAVERS);
}

static inline __attribute__((always_inline)) enum acquisition
cohort_acquire(struct lock *lock, const struct cohort *cohort,
               const struct deadline *deadline)
{
    fork_repair_if_due(lock, cohort->forget);
    uint32_t index = current_cohort() % SIDE_BLOCKS_MAX;
    struct side_block *block = cohort_block_get(lock, index, deadline);
    if (!block)
        return cohort_acquire_alone(lock, cohort->global, deadline);
    struct cohort_node *node = cohort_node_of(block);
    struct waiter *self = cohort_node_take(lock, block->link.id);
    cohort->local->queue(&node->local);
    if (!load_relaxed(cohort_handovers(node))) {
        cohort->global->queue(lock);
        if (!load_relaxed(&lock->mode)) /* else the word stands (I4) */
            cohort_begin(lock);
    }
    held_node_keep(lock, self);
    return ACQUIRED_BY_NODE;
}

/* The holder of the node hands the lock over, or releases it. */
static inline __attribute__((always_inline)) void
cohort_hand_over(struct lock *lock, struct waiter *self, const struct cohort *cohort)
{
    held_node_release(lock, self, cohort->forget);
    struct cohort_node *node = cohort_node_of(cohort_place(self));
    uint32_t handovers = load_relaxed(cohort_handovers(node));
    if (cohort->local->queued(&node->local) && handovers < HANDOVER_LIMIT) {
        store_relaxed(cohort_handovers(node), handovers + 1);
        cohort->local->unlock(&node->local);
    } else {
        prefetch_for_write(&lock->word); /* it is read before it is written */
        store_relaxed(cohort_handovers(node), 0);
        if (!cohort_may_stand(lock, cohort->global))
            cohort_disband(lock);
        cohort->local->unlock(&node->local);
        cohort->global->unlock(lock);
    }
    cohort_node_give(self);
}

/* Defines a lock's functions for locks.def. */
#define COHORT(name, global_level, local_level)                                        \
    static void name##_forget(struct lock *lock, bool held);                           \
    static const struct cohort name = {&global_level, &local_level, name##_forget};    \
    COHORT_OPERATIONS(name, cohort, global_level)

COHORT_LEVEL(cohort_ticket, ticket, ticket_fast(lock), tickets_try(lock, &ticket_kind),
             ticket_queue(lock), ticket_forget, tickets_queued, (lock),
             (lock, deadline))
COHORT_LEVEL(cohort_partitioned, partitioned, tickets_try(lock, &partitioned_kind),
             tickets_try(lock, &partitioned_kind), partitioned_queue(lock),
             partitioned_forget, tickets_queued, (lock), (lock, deadline))

COHORT(c_tkt_tkt, cohort_ticket, cohort_ticket)
COHORT(c_ptl_tkt, cohort_partitioned, cohort_ticket)

#endif
