/* SPDX-License-Identifier: MIT */
/*
 * C-BO-MCS as in the lock study's library, LiTL: D. Dice, V. Marathe, N. Shavit, "Lock
 * cohorting", PPoPP 2012, with the queue of queue.h for each NUMA node, at most 100
 * handovers in a row, and the pauses of backoff.h at the global lock. A thread learns
 * from its node's lock, on a line of its own, whether it also has the global lock.
 *
 *   word    the global lock
 *   local   of each NUMA node: the queue's tail; both: its next holder also has the
 *           global lock
 *   users   of the lock's body: the NUMA node of the holder
 */
#ifndef HASP_BENCH_PUBLISHED_STUDY_COHORT_H
#define HASP_BENCH_PUBLISHED_STUDY_COHORT_H

#include "bench/published/backoff.h"
#include "bench/published/queue.h"

enum { PUBLISHED_STUDY_HANDOVERS = 100 };

struct published_study_local {
    struct atomic_u32 tail;
    struct atomic_u32 both PUBLISHED_NEXT_LINE;
    uint32_t handovers; /* in a row */
} PUBLISHED_ALONE;

struct published_study_cohort {
    struct published_study_local *locals;
    struct published_queued *nodes;
};

static inline struct published_study_cohort published_study_cohort_of(struct lock *lock)
{
    size_t locals = node_count() * sizeof(struct published_study_local);
    size_t nodes = published_threads() * sizeof(struct published_queued);
    char *body = published_body(lock, locals + nodes);
    return (struct published_study_cohort){(void *)body, (void *)(body + locals)};
}

/* Returns true if the holder of the node's lock also has the global lock. */
static inline bool published_study_cohort_has(struct published_study_local *local)
{
    if (!load_relaxed(&local->both))
        return false;
    store_relaxed(&local->both, 0);
    return true;
}

static inline void published_study_c_bo_mcs_lock(struct lock *lock, int how)
{
    const struct published_study_cohort own = published_study_cohort_of(lock);
    const uint32_t node = current_node();
    struct published_study_local *local = &own.locals[node];
    published_queue_lock(&local->tail, own.nodes, published_thread() + 1, how);
    if (!published_study_cohort_has(local))
        published_backoff_lock(lock);
    lock->users = node;
}

/* Takes both locks if they are free. */
static inline bool published_study_c_bo_mcs_trylock(struct lock *lock, int how)
{
    const struct published_study_cohort own = published_study_cohort_of(lock);
    const uint32_t node = current_node(), self = published_thread() + 1;
    struct published_study_local *local = &own.locals[node];
    if (!published_queue_trylock(&local->tail, own.nodes, self))
        return false;
    if (!published_study_cohort_has(local) && !published_backoff_trylock(lock)) {
        published_queue_unlock(&local->tail, own.nodes, self, how);
        return false;
    }
    lock->users = node;
    return true;
}

static inline void published_study_c_bo_mcs_unlock(struct lock *lock, int how)
{
    const struct published_study_cohort own = published_study_cohort_of(lock);
    const uint32_t self = published_thread() + 1;
    struct published_study_local *local = &own.locals[lock->users];
    const bool queued = load_relaxed(&local->tail) != self;
    if (queued && local->handovers < PUBLISHED_STUDY_HANDOVERS) {
        local->handovers++;
        store_relaxed(&local->both, 1);
        published_queue_unlock(&local->tail, own.nodes, self, how);
        return;
    }
    if (queued)
        local->handovers = 0;
    published_queue_unlock(&local->tail, own.nodes, self, how);
    published_backoff_unlock(lock);
}

#endif
