/* SPDX-License-Identifier: MIT */
/*
 * FC-MCS: flat-combining MCS lock. D. Dice, V. Marathe, N. Shavit, "Flat-combining NUMA
 * locks", SPAA 2011; flat combining: D. Hendler, I. Incze, N. Shavit, M. Tzafrir, "Flat
 * combining and the synchronization-parallelism tradeoff", SPAA 2010.
 *
 * Idea: a thread publishes its request in a slot of its NUMA node. The thread that sets
 * the node's combiner flag collects the published requests into a chain of waiters and
 * splices that into a global MCS queue, by one exchange of its tail. Each thread waits
 * on its own cell; the lock stays in a node for the length of the chain.
 *
 * The global queue is that of mcs.h. Published requests are ids of waiters, so a thread
 * keeps no record for a lock that it does not wait for. A thread that finds all slots
 * in use forms a chain of its own. The combiner does not collect for a fixed time. It
 * collects until the last waiter of the global queue changes, because another thread
 * has spliced; that delays no thread.
 *
 *   state[0..1]  {tail, next} of the global queue (mcs.h)
 *   state[3]  directory of the nodes' side blocks (side_memory.h)
 *   combiner  in the node's side block: 1 while a thread collects
 *   slots  in the node's side block: id of a waiter that wants to be collected, 0 none
 *
 * I1. A slot changes from 0 to an id by the waiter's thread, and back to 0 by the
 *     combiner, which puts the waiter into its chain; so a waiter is in the global
 *     queue once.
 * I2. A thread whose request is in a slot tries to become the combiner; so as long as
 *     there are requests, a thread collects or is about to.
 * I3. A thread touches the node's side block only until its own request was collected
 *     and its own collecting is over, both before it returns from lock(). So the block
 *     still exists.
 * I4. A thread that splices a chain behind a free lock has acquired it for the first
 *     waiter of the chain, and grants it.
 *
 * The exchange that fills a slot (release) pairs with the combiner's load (acquire);
 * the operations on the combiner's flag pair with each other.
 *
 * Timed lock: a thread with a deadline publishes nothing; it queues as a chain of its
 * own and leaves the global queue as in mcs.h. So chains have no gaps.
 */
#ifndef HASP_LOCKS_ALGORITHMS_FC_MCS_H
#define HASP_LOCKS_ALGORITHMS_FC_MCS_H

#include "locks/algorithms/lock_defaults.h"
#include "locks/algorithms/mcs.h"
#include "locks/memory/side_memory.h"

enum {
    FC_MCS_SLOTS = HANDOVER_LIMIT < 16 ? HANDOVER_LIMIT + 1 : 16,
    FC_MCS_CHAIN = HANDOVER_LIMIT + 1, /* at most this many waiters */
};

/* Overlays the words of a side block. */
struct fc_mcs_node {
    struct atomic_u32 combiner;
    struct atomic_u32 slots[FC_MCS_SLOTS];
};

_Static_assert(sizeof(struct fc_mcs_node) <= sizeof(((struct side_block *)0)->words),
               "fits into a side block");

struct fc_mcs_chain {
    uint32_t first, last, length;
};

static inline struct atomic_u32 *fc_mcs_directory(struct lock *lock)
{
    return &lock->state[3];
}

/* Live threads pass through here before they publish anything. */
static inline void fc_mcs_forget(struct lock *lock, bool held)
{
    for (uint32_t i = 0; i < SIDE_BLOCKS_MAX; i++) {
        struct side_block *block = side_memory_find(fc_mcs_directory(lock), i);
        for (uint32_t word = 0; block && word <= FC_MCS_SLOTS; word++)
            store_relaxed(&block->words[word], 0);
    }
    mcs_forget(lock, held);
}

DEFAULT_BEFORE_RELEASE(fc_mcs)

/* Returns the slot that holds the request now, or NULL if all are in use. */
static inline struct atomic_u32 *fc_mcs_publish(struct fc_mcs_node *node, uint32_t id)
{
    uint32_t mine = current_thread();
    for (uint32_t i = 0; i < FC_MCS_SLOTS; i++) {
        struct atomic_u32 *slot = &node->slots[(mine + i) % FC_MCS_SLOTS];
        uint32_t empty = 0;
        if (load_relaxed(slot) == 0 && compare_exchange_release(slot, &empty, id))
            return slot;
    }
    return NULL;
}

static inline void fc_mcs_append(struct fc_mcs_chain *chain, uint32_t id)
{
    if (chain->length++)
        store_relaxed(&waiter_at(chain->last)->next, id); /* the splice publishes it */
    else
        chain->first = id;
    chain->last = id;
}

static inline void fc_mcs_collect(struct fc_mcs_node *node, struct fc_mcs_chain *chain)
{
    for (uint32_t i = 0; i < FC_MCS_SLOTS && chain->length < FC_MCS_CHAIN; i++) {
        uint32_t id = load_acquire(&node->slots[i]);
        if (id) {
            store_relaxed(&node->slots[i], 0);
            fc_mcs_append(chain, id);
        }
    }
}

static inline bool fc_mcs_waits(uint32_t tail)
{
    return tail != 0 && tail != TAIL_HELD;
}

/* Called by the combiner. */
static inline void fc_mcs_combine(struct mcs *mcs, struct fc_mcs_node *node)
{
    struct fc_mcs_chain chain = {0, 0, 0};
    struct spinner spinner = {0, 0};
    uint32_t last = load_relaxed(&mcs->tail);
    fc_mcs_collect(node, &chain);
    while (fc_mcs_waits(last) && load_relaxed(&mcs->tail) == last &&
           chain.length < FC_MCS_CHAIN) {
        spinner_spin(&spinner, NULL);
        fc_mcs_collect(node, &chain);
    }
    if (!chain.length)
        return;
    if (!mcs_splice(mcs, chain.first, chain.last))
        grant(&waiter_at(chain.first)->cell, false);
}

/* Waits until the request in the slot is in the global queue. */
static inline void fc_mcs_await(struct mcs *mcs, struct fc_mcs_node *node,
                                struct atomic_u32 *slot, uint32_t id)
{
    struct spinner spinner = {0, 0};
    while (load_relaxed(slot) == id) {
        uint32_t nobody = 0;
        if (load_relaxed(&node->combiner) == 0 &&
            compare_exchange_acquire(&node->combiner, &nobody, 1)) {
            if (load_relaxed(slot) == id)
                fc_mcs_combine(mcs, node);
            store_release(&node->combiner, 0);
        } else {
            spinner_spin(&spinner, NULL);
        }
    }
}

static __attribute__((noinline, unused)) void fc_mcs_wait(struct lock *lock)
{
    fork_repair_if_due(lock, fc_mcs_forget);
    struct mcs *mcs = mcs_of(lock);
    struct side_block *block = side_memory_get_unless_scarce(
        fc_mcs_directory(lock), current_node() % SIDE_BLOCKS_MAX);
    struct fc_mcs_node *node =
        block ? (struct fc_mcs_node *)(void *)block->words : NULL;
    struct waiter *self = waiter_take();
    uint32_t id = self->link.id;
    struct atomic_u32 *slot = node ? fc_mcs_publish(node, id) : NULL;
    bool acquired = false;
    if (slot)
        fc_mcs_await(mcs, node, slot, id);
    else
        acquired = !mcs_enqueue(mcs, self);
    if (!acquired)
        wait_for_grant(&self->cell, &self->asleep, SPIN, false, NULL);
    mcs_settle(mcs, self);
}

static inline bool fc_mcs_fast(struct lock *lock)
{
    return mcs_fast(lock);
}

static inline bool fc_mcs_trylock(struct lock *lock)
{
    return mcs_trylock(lock, SPIN);
}

static inline void fc_mcs_lock(struct lock *lock)
{
    if (!mcs_fast(lock))
        fc_mcs_wait(lock);
}

static inline bool fc_mcs_timedlock(struct lock *lock, const struct deadline *deadline)
{
    if (mcs_fast(lock))
        return true;
    fork_repair_if_due(lock, fc_mcs_forget);
    return mcs_timedlock(lock, SPIN, deadline);
}

static inline void fc_mcs_unlock(struct lock *lock)
{
    mcs_unlock(lock, SPIN);
}

static inline void fc_mcs_destroy(struct lock *lock)
{
    side_memory_free(fc_mcs_directory(lock));
}

#endif
