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
 * The rest of the state is that of hmcs.h.
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

COHORT_QUEUE(ahmcs, cohort_mcs, SPIN, true)

#endif
