/* SPDX-License-Identifier: MIT */
/*
 * How auto.h is released if others want it, or if a node holds it: within a cohort by a
 * handover, which leaves the word standing, and at the end of a series by the word.
 */
#ifndef HASP_LOCKS_ALGORITHMS_AUTO_RELEASE_H
#define HASP_LOCKS_ALGORITHMS_AUTO_RELEASE_H

#include "locks/algorithms/auto_waiting.h"

/* Releases a lock that others want. */
static __attribute__((noinline, unused)) void auto_unlock_wanted(struct lock *lock)
{
    fork_repair_if_due(lock, auto_forget);
    uint32_t seen = load_relaxed(&lock->word);
    bool all = auto_owes_wakeup(lock);
    while (true) {
        uint32_t wanted = seen == AUTO_DEMAND ? (uint32_t)AUTO_SLEEPERS : 0;
        if (!compare_exchange_acq_rel(&lock->word, &seen, wanted))
            continue;
        if (!wanted)
            break;
        if (auto_grant(lock)) {
            if (all)
                unpark(&lock->word, INT32_MAX);
            return;
        }
        seen = AUTO_SLEEPERS;
    }
    release_window();
    if (seen != AUTO_HELD)
        unpark(&lock->word, all ? INT32_MAX : 1);
}

/* The last holder of a series within a cohort releases the lock. */
static inline void auto_release_cohort(struct lock *lock, struct waiter *node,
                                       uint32_t handovers)
{
    uint32_t next = 0;
    auto_count_cohort(lock, handovers, load_relaxed(&node->more[AUTO_CROWDED]));
    bool stays = auto_policy(lock) == AUTO_COHORTS;
    if (stays)
        next = auto_cohort_end(lock, node);
    else
        auto_queue_dissolve(lock, auto_cohort_tail(lock, node), node);
    store_relaxed(&lock->owner, 0);
    if (!release_if(&lock->word, AUTO_HELD, 0))
        auto_unlock_wanted(lock);
    if (stays)
        auto_cohort_pass(node, next, 0);
}

/* The holder of this node hands the lock over within its cohort, or releases it. */
static __attribute__((noinline, unused)) void auto_hand_over(struct lock *lock,
                                                             struct waiter *node)
{
    held_node_release(lock, node, auto_forget);
    uint32_t next = load_acquire(&node->next);
    uint32_t handovers = load_relaxed(auto_handovers(node)) + 1;
    if (next && handovers <= load_relaxed(&node->more[AUTO_LONGEST]) &&
        !load_relaxed(&node->more[AUTO_CROWDED]))
        auto_cohort_pass(node, next, handovers);
    else
        auto_release_cohort(lock, node, handovers);
    if (handovers == AUTO_MIDDLE)
        store_relaxed(&held_nodes()->released, (uint32_t)now_ns());
    expect_wait(true); /* the next attempt reads the lock before it writes */
}

/* The caller has nodes. If it holds the lock by one of them, releases it by that, and
 * returns true. */
static __attribute__((noinline, unused)) bool auto_unlock_own_node(struct lock *lock)
{
    struct waiter *node = held_nodes_take(lock, held_nodes_count());
    if (node)
        auto_hand_over(lock, node);
    return node;
}

/* The lock is held by a node that is not in the caller's cache. */
static __attribute__((noinline, unused)) void auto_unlock_by_node(struct lock *lock)
{
    struct waiter *node = held_nodes_search(lock);
    if (node)
        auto_hand_over(lock, node);
}

#endif
