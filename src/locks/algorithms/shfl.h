/* SPDX-License-Identifier: MIT */
/*
 * ShflLock. S. Kashyap, I. Calciu, X. Cheng, C. Min, T. Kim, "Scalable and practical
 * locking with shuffling", SOSP 2019.
 *
 * Idea: a latch in front of a queue. The first waiter, the shuffler, is idle until the
 * latch becomes free, so it uses that time to move waiters of its node to the front; no
 * holder has to search for its successor. In the paper the role of shuffler moves along
 * the queue. Here it stays with the first waiter (the alpha of outer_latch.h), which is
 * always awake, and which tells the next one how far it came.
 *
 *   tail  of the inner lock: 0 if no thread waits
 *   next  of the inner lock
 *   taken, released  of the latch, as in latch.h: it is kept for the shuffler
 *   mode  not used: while a thread is queued, each release keeps the latch for the
 *         shuffler
 *
 * I1. The latch keeps the invariants of outer_latch.h, and allows a single bypass.
 * I2. Only the shuffler changes links, and only those of waiters that have a successor;
 *     the last waiter stays last, and arrivals link themselves behind it.
 * I3. Waiters that were not moved are in order of arrival. Each waiter that moves is
 *     counted (cna.h, order): a waiter is overtaken in the queue at most CNA_LIMIT
 *     times, then all waiters are served in their order in the queue.
 *
 * Timed lock: as in fissile.h.
 *
 * Trylock: it takes the latch if it is free and not kept.
 */
#ifndef HASP_LOCKS_ALGORITHMS_SHFL_H
#define HASP_LOCKS_ALGORITHMS_SHFL_H

#include "locks/algorithms/lock_defaults.h"
#include "locks/algorithms/outer_latch.h"

static inline uint32_t shfl_pick(struct mcs *mcs, uint32_t *order, uint32_t next)
{
    cna_in_order(mcs, order, &next);
    return next;
}

/* In the shuffler's state (cna.h): the last waiter that was examined, and the last of
 * the waiters at the front that are of the shuffler's node; 0: none. */
enum { SHFL_ORDER, SHFL_SEEN, SHFL_LOCAL };

/* `head` becomes the shuffler. If it is on the same node, it continues with the next
 * waiter; otherwise it starts again. */
static inline void shfl_pass(uint32_t *state, struct waiter *head)
{
    bool continues = load_relaxed(&head->more[CNA_NODE]) == current_cohort();
    for (int i = SHFL_SEEN; i <= SHFL_LOCAL; i++)
        if (!continues || state[i] == head->link.id)
            state[i] = 0;
    for (int i = 0; i < CNA_STATE; i++)
        store_relaxed(&head->more[CNA_ORDER + i], state[i]);
}

static const struct mcs_policy shfl_policy = {shfl_pick, cna_refill, shfl_pass};

/* Examines one more waiter; returns false if there was none. One of the shuffler's node
 * moves to the front together with those of that node which follow it. */
static inline bool shfl_examine(struct lock *lock, struct outer_latch_alpha *alpha)
{
    struct mcs *mcs = mcs_of(lock);
    uint32_t node = current_cohort(), *seen = &alpha->state[SHFL_SEEN];
    uint32_t *local = &alpha->state[SHFL_LOCAL];
    uint32_t moves = alpha->state[SHFL_ORDER] >> CNA_ID_BITS;
    struct atomic_u32 *own = mcs_holder_of(mcs, alpha->node).next;
    struct atomic_u32 *link = *seen ? &waiter_at(*seen)->next : own;
    uint32_t at = load_acquire(link), after = at, last = 0, beyond;
    if (moves >= CNA_LIMIT || !at)
        return false;
    if (load_relaxed(&waiter_at(at)->more[CNA_NODE]) != node) {
        *seen = at;
        return true;
    }
    if (*seen == *local) {
        *seen = *local = at;
        return true;
    }
    while ((beyond = load_acquire(&waiter_at(after)->next)) != 0) {
        last = after;
        after = beyond;
        if (++moves >= CNA_LIMIT ||
            load_relaxed(&waiter_at(after)->more[CNA_NODE]) != node)
            break;
    }
    if (!last)
        return false;
    struct atomic_u32 *front = *local ? &waiter_at(*local)->next : own;
    store_relaxed(link, after);
    store_relaxed(&waiter_at(last)->next, load_relaxed(front));
    store_relaxed(front, at);
    *local = last;
    alpha->state[SHFL_ORDER] = cna_order(0, moves);
    return true;
}

/* Looks for a waiter of the shuffler's node unless there is one at the front, even if
 * the latch is released meanwhile: a handover to another node takes longer. */
static inline void shfl_spin(struct lock *lock, struct outer_latch_alpha *alpha)
{
    bool examined = false;
    while (!alpha->state[SHFL_LOCAL] && shfl_examine(lock, alpha))
        examined = true;
    if (examined)
        (void)relax_at_most(1); /* the next wait does not watch the lines read above */
}

static inline bool shfl_fast(struct lock *lock)
{
    return outer_latch_fast(lock);
}

static inline bool shfl_trylock(struct lock *lock)
{
    return outer_latch_trylock(lock);
}

static __attribute__((noinline, unused)) bool shfl_wait(struct lock *lock,
                                                        const struct deadline *deadline)
{
    static const struct outer_latch kind = {0, &shfl_policy, shfl_spin};
    return outer_latch_wait(lock, &kind, deadline);
}

static inline void shfl_unlock(struct lock *lock)
{
    outer_latch_unlock(lock, 0);
}

static inline void shfl_before_release(struct lock *lock)
{
    outer_latch_before_release(lock);
}

DEFAULT_DESTROY(shfl)

#endif
