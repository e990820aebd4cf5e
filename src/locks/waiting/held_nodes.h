/* SPDX-License-Identifier: MIT */
/*
 * Held nodes: the queue nodes through which contended locks are held.
 *
 * A thread that was handed a lock keeps its waiter until it releases the lock. So the
 * hand-over from one waiter to the next touches their waiters only, as in the published
 * queue locks, and not the line of the lock, which arrivals exchange.
 *
 *   holds       of a waiter: the address of the lock that is held through it, else 0.
 *               Stored by the thread that has acquired, cleared before the hand-over
 *   held_nodes()   the calling thread's cache of such waiters: low half of the lock's
 *               address, id of the waiter. A thread may add an entry before it waits
 *
 * H1. At most one waiter holds a lock, unless the lock's memory was used for another
 *     lock while it was held.
 * H2. An entry of the cache is only a hint: the waiter itself confirms it. So entries
 *     may be lost (more than HELD_NODES locks held, or a held one waited for), or stale
 *     (another thread released the lock, or its memory was used anew).
 * H3. A release by a thread whose cache lacks the lock (another thread's, or an entry
 *     was lost) searches all waiters. What it reads happened before: the holder's store
 *     of `holds` precedes, by the program's own order, the call of the release, and
 *     each earlier hand-over cleared `holds` before its grant.
 *
 * A thread that acquires a lock without a waiter drops its own stale entries of that
 * lock, because a release trusts the cache without reading the lock. Fast paths need no
 * check for that: a thread with entries does not take them (current_thread_if_known()).
 */
#ifndef HASP_LOCKS_WAITING_HELD_NODES_H
#define HASP_LOCKS_WAITING_HELD_NODES_H

#include "locks/memory/fork_repair.h"
#include "locks/memory/shown_word.h"
#include "locks/waiting/waiter.h"

/* How a lock was acquired. */
enum acquisition {
    NOT_ACQUIRED = 0,
    ACQUIRED,             /* by the lock's own line: word and owner are to be stored */
    ACQUIRED_BY_NODE,     /* through a waiter that is in the cache: they stand */
    ACQUIRED_BY_HANDOVER, /* without a waiter, with word and owner already stored */
};

/* Returns the number of entries in the caller's cache. */
static inline uint32_t held_nodes_count(void)
{
    return load_relaxed(&held_nodes()->count);
}

/* The caller is about to wait with this waiter: adds its entry to the cache, which
 * would take time from all other waiters once the caller holds the lock. */
void held_nodes_expect(const struct lock *lock, struct waiter *waiter);

/* The caller has not acquired the lock after all: removes the entry. */
void held_nodes_cancel(const struct lock *lock);

/* The caller holds the lock through this waiter now. */
static inline void held_nodes_put(const struct lock *lock, struct waiter *waiter)
{
    held_nodes_expect(lock, waiter);
    store_relaxed(&waiter->holds, (uintptr_t)lock);
}

/* Returns the waiter through which the caller holds the lock, and removes it from the
 * cache, which has `count` entries; NULL if it is not there. */
struct waiter *held_nodes_take(const struct lock *lock, uint32_t count);

/* Returns the waiter through which any thread holds the lock, or NULL. Slow. */
struct waiter *held_nodes_search(const struct lock *lock);

/* The caller has acquired the lock without a waiter: drops stale entries. */
void held_nodes_drop(const struct lock *lock);

/* Returns whether the caller's cache shows that it holds the lock. */
bool held_nodes_have(const struct lock *lock);

/* Before the caller queues by this waiter. */
static inline void held_node_prepare(const struct lock *lock, struct waiter *waiter)
{
    waiter->generation = fork_generation();
    waiter->shows_owner = shown_word_needs_owner(lock);
}

/* The caller, which expected it, holds the lock by this waiter now, and the word
 * stands. */
static inline __attribute__((always_inline)) void
held_node_begin(struct lock *lock, struct waiter *waiter)
{
    if (unlikely(waiter->shows_owner))
        store_relaxed(&lock->owner, current_thread());
    store_relaxed(&waiter->holds, (uintptr_t)lock);
}

/* The same for a caller that did not expect it. */
static inline void held_node_keep(struct lock *lock, struct waiter *waiter)
{
    held_nodes_expect(lock, waiter);
    held_node_begin(lock, waiter);
}

/* Another thread holds the lock by a node, or the caller's cache has lost it; the word
 * is cleared. Returns the node, or NULL if no thread holds the lock. */
static inline struct waiter *held_node_of_other(struct lock *lock)
{
    shown_word_restore(lock);
    return held_nodes_search(lock);
}

/* The first step of a release by the holder that has this node. The repair comes first:
 * it finds the holder by `holds`. */
static inline __attribute__((always_inline)) void
held_node_release(struct lock *lock, struct waiter *node,
                  void (*forget)(struct lock *, bool held))
{
    if (unlikely(node->generation != fork_generation()))
        fork_repair_if_due(lock, forget);
    store_relaxed(&node->holds, 0);
    if (unlikely(node->shows_owner))
        store_relaxed(&lock->owner, OWNER_IN_NODE);
}

#endif
