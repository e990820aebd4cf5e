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
 *   mode  while held: 1 + the node whose local lock the holder has, too; 0 none
 *   local  in the node's side block: a lock; only its state is used
 *   handovers  in the node's side block: 0 the next holder of the local lock has to
 *              take the global one; n > 0 it receives both, for the n-th time in a row
 *
 * I1. mode and handovers belong to the holder, which writes them after it has acquired
 *     the global lock and sets them to 0 before it releases that lock. So handovers !=
 *     0 implies that the global lock is held, and that the holder of the local lock is
 *     the holder.
 * I2. A thread that waits for a local lock never stops waiting. So if its holder sees a
 *     waiter, a release hands over to a live thread, and no handover has to be taken
 *     back.
 * I3. The local lock is released before the global one. Until the global lock is
 *     released, no other thread can acquire the lock and destroy it; after that, the
 *     releasing thread accesses neither the lock nor its side blocks. If the local
 *     release hands over both, it is the last access. Since mode identifies the
 *     holder's local lock, a thread on any node can unlock.
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
#include "locks/memory/side_memory.h"

struct cohort {
    const struct cohort_level *global, *local;
    void (*forget)(struct lock *, bool held); /* of the whole lock */
};

/* Overlays the words of a side block. */
struct cohort_node {
    struct lock local;
    char apart[64 - sizeof(struct lock)]; /* keeps it off the line that the local lock's
                                           * waiters watch */
    struct atomic_u32 handovers;
};

_Static_assert(sizeof(struct cohort_node) <= sizeof(((struct side_block *)0)->words),
               "fits into a side block");

static inline struct atomic_u32 *cohort_directory(struct lock *lock)
{
    return &lock->state[3];
}

static inline struct cohort_node *cohort_node_of(struct side_block *block)
{
    return (struct cohort_node *)(void *)block->words;
}

/* After a fork: every thread in a local lock belongs to the parent, because a live
 * thread passes through here before it enters one. */
static inline __attribute__((always_inline)) void
cohort_forget(struct lock *lock, bool held, const struct cohort *cohort)
{
    for (uint32_t i = 0; i < SIDE_BLOCKS_MAX; i++) {
        struct side_block *block = side_memory_find(cohort_directory(lock), i);
        if (!block)
            continue;
        struct cohort_node *node = cohort_node_of(block);
        store_relaxed(&node->handovers, 0);
        cohort->local->forget(&node->local, true);
        cohort->local->trylock(&node->local); /* it was held or free: held now ... */
        cohort->local->unlock(&node->local);  /* ... and now free, without waiters */
    }
    /* By I1, if mode is set, the global lock was held when the process forked, by the
     * forking thread or by another thread of the parent; so no thread has acquired it
     * since. */
    bool through = load_relaxed(&lock->mode) != 0;
    store_relaxed(&lock->mode, 0);
    cohort->global->forget(lock, held || through);
    if (through && !held)
        cohort->global->unlock(lock); /* it was being handed to a thread of the
                                       * parent */
}

static inline __attribute__((always_inline)) void
cohort_wait(struct lock *lock, const struct cohort *cohort)
{
    fork_repair_if_due(lock, cohort->forget);
    uint32_t index = current_node() % SIDE_BLOCKS_MAX;
    struct side_block *block =
        side_memory_get_unless_scarce(cohort_directory(lock), index);
    if (unlikely(!block)) {
        cohort->global->timedlock(lock, NULL);
        return;
    }
    struct cohort_node *node = cohort_node_of(block);
    cohort->local->timedlock(&node->local, NULL);
    if (load_relaxed(&node->handovers))
        return; /* the predecessor kept the global lock for this thread */
    cohort->global->timedlock(lock, NULL);
    store_relaxed(&lock->mode, (uint8_t)(index + 1));
}

static inline __attribute__((always_inline)) bool
cohort_timedlock(struct lock *lock, const struct cohort *cohort,
                 const struct deadline *deadline)
{
    if (cohort->global->fast(lock))
        return true;
    fork_repair_if_due(lock, cohort->forget);
    return cohort->global->timedlock(lock, deadline);
}

/* Called by a holder that also has its node's local lock. */
static inline __attribute__((always_inline)) void
cohort_unlock_both(struct lock *lock, uint32_t index, const struct cohort *cohort)
{
    struct cohort_node *node =
        cohort_node_of(side_memory_find(cohort_directory(lock), index));
    uint32_t handovers = load_relaxed(&node->handovers);
    if (cohort->local->queued(&node->local) && handovers < HANDOVER_LIMIT) {
        store_relaxed(&node->handovers, handovers + 1);
        cohort->local->unlock(&node->local);
        return;
    }
    store_relaxed(&node->handovers, 0);
    store_relaxed(&lock->mode, 0);
    cohort->local->unlock(&node->local);
    cohort->global->unlock(lock);
}

/* Defines a cohort lock's functions for locks.def. */
#define COHORT(name, global_level, local_level)                                        \
    static void name##_forget(struct lock *lock, bool held);                           \
    static const struct cohort name = {&global_level, &local_level, name##_forget};    \
    static __attribute__((unused)) void name##_forget(struct lock *lock, bool held)    \
    {                                                                                  \
        cohort_forget(lock, held, &name);                                              \
    }                                                                                  \
    static inline bool name##_fast(struct lock *lock)                                  \
    {                                                                                  \
        return global_level.fast(lock);                                                \
    }                                                                                  \
    static inline bool name##_trylock(struct lock *lock)                               \
    {                                                                                  \
        return global_level.trylock(lock);                                             \
    }                                                                                  \
    static inline void name##_lock(struct lock *lock)                                  \
    {                                                                                  \
        if (!name##_fast(lock))                                                        \
            cohort_wait(lock, &name);                                                  \
    }                                                                                  \
    static inline bool name##_timedlock(struct lock *lock,                             \
                                        const struct deadline *deadline)               \
    {                                                                                  \
        return cohort_timedlock(lock, &name, deadline);                                \
    }                                                                                  \
    static inline void name##_before_release(struct lock *lock)                        \
    {                                                                                  \
        fork_repair_by_holder(lock, name##_forget);                                    \
    }                                                                                  \
    static __attribute__((noinline, unused)) void name##_unlock_both(                  \
        struct lock *lock, uint32_t index)                                             \
    {                                                                                  \
        cohort_unlock_both(lock, index, &name);                                        \
    }                                                                                  \
    static inline void name##_unlock(struct lock *lock)                                \
    {                                                                                  \
        uint32_t way = load_relaxed(&lock->mode);                                      \
        if (likely(!way))                                                              \
            global_level.unlock(lock);                                                 \
        else                                                                           \
            name##_unlock_both(lock, way - 1);                                         \
    }                                                                                  \
    static inline void name##_destroy(struct lock *lock)                               \
    {                                                                                  \
        global_level.destroy(lock);                                                    \
        side_memory_free(cohort_directory(lock));                                      \
    }

/* A leader spins longer while the holder serves its own cohort: those handovers write
 * next to the global number, so frequent reads would only slow them down. */
static inline void leader_ticket_serve(struct lock *lock, uint32_t number)
{
    ticket_serve(lock, number);
}

static inline bool leader_ticket_spin(struct lock *lock, uint32_t number,
                                      struct spinner *spinner,
                                      const struct deadline *deadline)
{
    (void)number;
    uint32_t spins = 1, most = 2 * spin_limit();
    if (load_relaxed(&lock->mode))
        spins = 2 + spinner->since_yield / 2;
    spins = spins < most ? spins : most;
    return spinner_spin_many(spinner, spins, deadline);
}

DEFINE_TICKET_LOCK(leader_ticket, tickets_served, CLOCK_SPINS)

static inline void leader_ticket_destroy(struct lock *lock)
{
    tickets_destroy(lock);
}

COHORT_LEVEL(cohort_leader_ticket, leader_ticket, leader_ticket_forget, NULL, (lock),
             (lock, deadline))
COHORT_LEVEL(cohort_ticket, ticket, ticket_forget, tickets_queued, (lock),
             (lock, deadline))
COHORT_LEVEL(cohort_partitioned, partitioned, partitioned_forget, NULL, (lock),
             (lock, deadline))
COHORT(c_tkt_tkt, cohort_leader_ticket, cohort_ticket)
COHORT(c_ptl_tkt, cohort_partitioned, cohort_ticket)

#endif
