/* SPDX-License-Identifier: MIT */
/*
 * The cohorts of auto.h: a queue for each NUMA node, whose first thread, the leader,
 * waits for the lock as any other thread does. D. Dice, V. Marathe, N. Shavit, "Lock
 * cohorting: a general technique for designing NUMA locks", PPoPP 2012.
 *
 * A leader that has acquired the lock holds it by its node (held_nodes.h), and hands it
 * over to its successor in the queue: the word stands, and only the nodes of the two
 * threads are touched. The last holder of such a series hands the lock to another
 * leader, or releases it (auto_leaders.h); then its successor, if there is one, leads.
 * A leader that finds another policy leaves the queue first, so a queue that is no
 * longer wanted empties at once.
 *
 *   state[3]  directory of the queues (side_memory.h)
 *   words[0]  of a side block: the queue's tail, the id of its last node; 0 empty
 *   previous  of a node: how often cohorts had used the lock when its thread received
 *             it, since these uses were last counted; 0: it leads
 *
 * N1. The first node of a queue is that of its leader, or that of the holder. Only the
 *     thread of the first node hands the queue over or empties it.
 * N2. Threads with a deadline do not join. So nobody leaves a queue except at its
 *     front, and no handover has to be taken back.
 * N3. AUTO_BY_NODE is set by a leader after it has acquired the lock, and cleared by
 *     the holder of a node that releases it, before it does.
 *
 * The exchange of the tail pairs with that of the arrival before (acquire and release),
 * the link (release) with auto_link_of (acquire), a grant with wait_for_grant.
 */
#ifndef HASP_LOCKS_ALGORITHMS_AUTO_COHORTS_H
#define HASP_LOCKS_ALGORITHMS_AUTO_COHORTS_H

#include "locks/algorithms/auto_queue.h"
#include "locks/memory/side_memory.h"
#include "locks/waiting/held_nodes.h"

/* In waiter.more: the id of the queue's side block, as the lock's line may be in other
 * caches; whether the thread has noticed that threads outnumber CPUs; the longest
 * series; the id of the cohort's place among the leaders (auto_leaders.h), or 0. */
enum { AUTO_COHORT, AUTO_CROWDED, AUTO_LONGEST, AUTO_PLACE };

/* A series of handovers within a cohort lasts for that long, but has at least so many.
 * In the model checker, it has no middle. */
enum {
    AUTO_SERIES_NS = HANDOVER_LIMIT * 1000,
    AUTO_SERIES_MOST = 4 * HANDOVER_LIMIT,
    AUTO_MIDDLE = HANDOVER_LIMIT / 2,
};

/* Returns how many handovers the series that begins now may have. */
static inline uint32_t auto_longest_series(const struct lock *lock)
{
    uint64_t rate = load_relaxed(&auto_record_of(lock)->rate);
    uint64_t uses = rate * AUTO_SERIES_NS >> 20;
    return uses < HANDOVER_LIMIT     ? HANDOVER_LIMIT
           : uses < AUTO_SERIES_MOST ? (uint32_t)uses
                                     : AUTO_SERIES_MOST;
}

static inline struct atomic_u32 *auto_directory(struct lock *lock)
{
    return &lock->state[3];
}

static inline struct atomic_u32 *auto_handovers(struct waiter *node)
{
    return &node->previous; /* in the line of the cell */
}

/* Returns the node of the cohort's place among the leaders, or NULL. */
static inline struct waiter *auto_place_of(struct waiter *node)
{
    uint32_t id = load_relaxed(&node->more[AUTO_PLACE]);
    return id ? waiter_at(id) : NULL;
}

/* In a forked child: the queues belong to the parent, except for the node of the
 * holder, and its place. Returns whether the lock was being handed over by a node, to a
 * thread of the parent. */
static inline bool auto_forget_queues(struct lock *lock)
{
    bool by_node = auto_is_held_by_node(lock);
    struct waiter *holder = by_node ? held_nodes_search(lock) : NULL;
    struct waiter *place = holder ? auto_place_of(holder) : NULL;
    for (uint32_t i = 0; load_relaxed(auto_directory(lock)) && i < SIDE_BLOCKS_MAX;
         i++) {
        struct side_block *block = side_memory_find(auto_directory(lock), i);
        if (!block)
            continue;
        bool holds =
            holder && load_relaxed(&holder->more[AUTO_COHORT]) == block->link.id;
        store_relaxed(&block->words[0], holds ? holder->link.id : 0);
    }
    if (holder)
        store_relaxed(&holder->next, 0);
    if (place)
        store_relaxed(&place->next, 0);
    store_relaxed(auto_tail(lock), place ? place->link.id : 0);
    return by_node && !holder;
}

static inline struct atomic_u32 *auto_cohort_tail(struct waiter *node)
{
    return &side_block_at(load_relaxed(&node->more[AUTO_COHORT]))->words[0];
}

/* The first node's thread hands the queue over to this successor, with the lock after
 * so many handovers of at most `longest`, or without it if that is 0. */
static inline void auto_cohort_pass(struct waiter *node, uint32_t next,
                                    uint32_t handovers, uint32_t longest)
{
    if (next) {
        struct waiter *head = waiter_at(next);
        store_relaxed(auto_handovers(head), handovers);
        store_relaxed(&head->more[AUTO_LONGEST], longest);
        store_relaxed(&head->more[AUTO_PLACE], load_relaxed(&node->more[AUTO_PLACE]));
        grant_as(&head->cell, handovers ? WAITER_HANDED_OVER : WAITER_GRANTED, true);
    }
    waiter_give(node);
}

/* Empties the queue if this node is the last one; otherwise returns the next one. The
 * next thread to lead synchronises by the word. */
static inline uint32_t auto_cohort_end(struct waiter *node)
{
    uint32_t next = load_acquire(&node->next), last = node->link.id;
    if (!next && !compare_exchange_relaxed(auto_cohort_tail(node), &last, 0))
        next = auto_link_of(node);
    return next;
}

/* Waits in the queue until the caller is first there; returns its state. Once the
 * caller has the lock, the others wait for it, so it must not read the clock. */
static inline uint32_t auto_cohort_wait(struct lock *lock, struct waiter *self)
{
    bool crowded = false;
    uint32_t state = WAITER_WAITING;
    for (int i = 0; i < HANDOVER_LIMIT; i++) {
        uint64_t since = now_ns();
        state = auto_spin_for_grant(self, AUTO_LONG * spin_limit());
        if (!still_waiting(state))
            break;
        crowded = crowded || now_ns() - since > AUTO_PREEMPTED_NS;
        if (auto_policy(lock) != AUTO_COHORTS)
            break;
    }
    if (still_waiting(state))
        state = wait_for_grant(&self->cell, &self->asleep, SPIN_THEN_PARK, true, NULL);
    if (unlikely(crowded) && !MODEL_CHECKED) {
        store_relaxed(&self->more[AUTO_CROWDED], 1);
        store_relaxed(&self->more[AUTO_LONGEST], 0); /* the series ends */
    }
    return state;
}

/* The caller, which has released a lock in the middle of a series, is about to use this
 * one, usually the same. */
static inline void auto_note_return(struct lock *lock)
{
    uint32_t since = load_relaxed(&held_nodes()->released);
    store_relaxed(&held_nodes()->released, 0);
    store_relaxed(&auto_record_of(lock)->away, (uint32_t)now_ns() - since);
}

/* What became of a thread that tried to join a cohort: it is outside, as there is no
 * queue or the policy has changed; outside, and queued as a sleeper of the word; the
 * cohort's leader; the lock's holder. */
enum auto_member { AUTO_OUTSIDE, AUTO_SLEEPER, AUTO_LEADER, AUTO_HOLDER };

/* Joins the queue of the caller's NUMA node and waits until the caller is first there.
 * The node of a leader or holder, stored to `*node`, is in the caller's cache then. */
static inline enum auto_member auto_cohort_enter(struct lock *lock,
                                                 struct waiter **node)
{
    uint32_t index = current_cohort() % SIDE_BLOCKS_MAX;
    struct side_block *block =
        side_memory_get_unless_scarce(auto_directory(lock), index);
    if (!block)
        return AUTO_OUTSIDE;
    struct waiter *self = *node = waiter_take();
    self->may_change = true;
    held_node_prepare(lock, self);
    store_relaxed(&self->more[AUTO_COHORT], block->link.id);
    store_relaxed(&self->more[AUTO_CROWDED], 0);
    store_relaxed(auto_handovers(self), 0);
    held_nodes_expect(lock, self);
    uint32_t before = exchange_acq_rel(&block->words[0], self->link.id);
    if (!before)
        return AUTO_LEADER;
    store_release(&waiter_at(before)->next, self->link.id);
    uint32_t state = auto_cohort_wait(lock, self);
    if (state == WAITER_HANDED_OVER)
        return AUTO_HOLDER;
    if (state == WAITER_GRANTED && auto_policy(lock) == AUTO_COHORTS)
        return AUTO_LEADER;
    held_nodes_cancel(lock);
    if (state != WAITER_GRANTED) {
        auto_give_moved(self);
        return AUTO_SLEEPER;
    }
    auto_cohort_pass(self, auto_cohort_end(self), 0, 0);
    return AUTO_OUTSIDE;
}

#endif
