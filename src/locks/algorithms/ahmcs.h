/* SPDX-License-Identifier: MIT */
/*
 * AHMCS: adaptive hierarchical MCS. M. Chabbi, J. Mellor-Crummey,
 * "Contention-conscious, locality-preserving locks", PPoPP 2016; the variant without
 * transactional memory.
 *
 * Idea: HMCS whose threads enter at the level that suits the contention on their node.
 * The local level is skipped after it was released without waiters; a thread that finds
 * another thread of its node skipping it as well returns to the local level. The paper
 * keeps this state in each thread; here it is in the node's side block, so that a
 * thread keeps no state for locks that it does not hold.
 *
 *   deserted  in the node's side block: the last release of its local lock found no
 *             waiters
 *   skipper  in the node's side block: a thread waits for the global lock without the
 *            local lock
 *
 * The rest of the lock is hmcs.h.
 *
 * I1. Both are hints, read and written without order: a wrong one only costs time,
 *     because a thread that skips is a cohort of its own, like one that finds the lock
 *     free.
 * I2. skipper is set to 0 by the holder of the lock, so its side block still exists.
 *
 * Timed lock: as in hmcs.h, the local level is skipped.
 */
#ifndef HASP_LOCKS_ALGORITHMS_AHMCS_H
#define HASP_LOCKS_ALGORITHMS_AHMCS_H

#include "locks/algorithms/cohort_queue.h"

/* Returns true if the caller is to acquire only the global lock, because the local
 * level would not pay off: its last release found no waiters, and no other thread of
 * this NUMA node is skipping it now. Once it has the lock, it calls ahmcs_skipped(). */
static inline bool ahmcs_skips(struct cohort_queue_node *queue)
{
    if (!load_relaxed(&queue->deserted))
        return false;
    if (load_relaxed(&queue->skipper)) {
        store_relaxed(&queue->deserted, 0);
        return false;
    }
    store_relaxed(&queue->skipper, 1);
    return true;
}

static inline void ahmcs_skipped(struct cohort_queue_node *queue)
{
    store_relaxed(&queue->skipper, 0);
}

/* The local lock is about to be released without waiters. */
static inline void ahmcs_desert(struct cohort_queue_node *queue)
{
    store_relaxed(&queue->deserted, 1);
}

#endif
