/* SPDX-License-Identifier: MIT */
/*
 * How auto.h is released if others want it, or if a node holds it: by a handover, which
 * leaves the word standing, within a cohort, or at the end of a series to the next
 * leader; or by the word.
 */
#ifndef HASP_LOCKS_ALGORITHMS_AUTO_RELEASE_H
#define HASP_LOCKS_ALGORITHMS_AUTO_RELEASE_H

#include "locks/algorithms/auto_leaders.h"

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

/* The holder releases the word, which stands for all uses by cohorts. */
static inline void auto_release_word(struct lock *lock)
{
    store_relaxed(&lock->owner, 0);
    if (!release_if(&lock->word, AUTO_HELD, 0))
        auto_unlock_wanted(lock);
}

/* The last holder of a series within a cohort releases the lock, or hands it to the
 * next leader. While sleepers of the word are owed a wake-up, that would not come.
 * `emptied`: the node was the last one of the queue, which has been emptied. */
static inline void auto_end_series(struct lock *lock, struct waiter *node,
                                   uint32_t uses, bool emptied)
{
    struct waiter *place = auto_place_of(node);
    bool crowded = load_relaxed(&node->more[AUTO_CROWDED]), stays = true, may = true;
    uint32_t next = 0;
    if (!place || crowded || auto_must_count(place, uses)) {
        auto_count_cohort(lock, uses, crowded);
        uses = 0;
        stays = auto_policy(lock) == AUTO_COHORTS;
        may = stays && !auto_is_owed_wakeup(lock);
        if (may)
            auto_begin_cohort(lock);
        if (place)
            store_relaxed(&place->more[AUTO_SERIES], auto_longest_series(lock));
    }
    if (stays && !emptied)
        next = auto_cohort_end(node);
    else if (!emptied)
        auto_queue_dissolve(lock, auto_cohort_tail(node), node);
    if (!place || !auto_lead_next(lock, place, may, uses)) {
        auto_count_cohort(lock, uses, false);
        auto_release_word(lock);
    }
    if (stays || emptied)
        auto_cohort_pass(node, next, 0, 0);
}

/* The holder of this node hands the lock over within its cohort, or releases it. A
 * thread that has joined the queue, but not linked itself yet, is awaited: a series
 * that ended would cost more than that, for as long as arrivals keep coming so late. */
static __attribute__((noinline, unused)) void auto_hand_over(struct lock *lock,
                                                             struct waiter *node)
{
    held_node_release(lock, node, auto_forget);
    uint32_t next = load_acquire(&node->next);
    uint32_t handovers = load_relaxed(auto_handovers(node)) + 1;
    uint32_t longest = load_relaxed(&node->more[AUTO_LONGEST]);
    bool lasts = handovers <= longest;
    if (lasts && !next)
        next = auto_cohort_end(node);
    if (lasts && next)
        auto_cohort_pass(node, next, handovers, longest);
    else
        auto_end_series(lock, node, handovers, lasts);
    if (handovers == AUTO_MIDDLE)
        store_relaxed(&held_nodes()->released, (uint32_t)now_ns());
    expect_wait(true); /* the next attempt reads the lock before it writes */
}

/* The lock is held by a node that is not in the caller's cache. */
static __attribute__((noinline, unused)) void auto_unlock_by_node(struct lock *lock)
{
    struct waiter *node = held_nodes_search(lock);
    if (node)
        auto_hand_over(lock, node);
}

#endif
