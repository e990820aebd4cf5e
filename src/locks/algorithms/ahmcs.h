/* SPDX-License-Identifier: MIT */
/*
 * AHMCS: adaptive hierarchical MCS. M. Chabbi, J. Mellor-Crummey,
 * "Contention-conscious, locality-preserving locks", PPoPP 2016; the variant without
 * transactional memory.
 *
 * Idea: HMCS whose threads enter at the level that their node's contention is worth.
 * The local level is skipped after a release of it that saw nobody waiting there; a
 * thread that meets another one of its node skipping, too, turns back to the local
 * level. The paper keeps that memory in each thread; here it is in the node's part, so
 * that a thread keeps nothing of locks that it does not hold.
 *
 *   deserted  in the node's part: its local lock's last release saw nobody waiting
 *   skipper  in the node's part: a thread waits for the global lock without the local
 *            one
 *
 * The rest of the state is that of hmcs.h.
 *
 * I1. Both are hints, read and written without order: a wrong one costs time only,
 *     because a thread that skips is a cohort of its own, like any that finds the lock
 *     free.
 * I2. skipper is set to 0 by the holder of the lock, so its part is still there.
 *
 * Timed lock: as in hmcs.h, the local level is skipped.
 */
#ifndef HASP_LOCKS_ALGORITHMS_AHMCS_H
#define HASP_LOCKS_ALGORITHMS_AHMCS_H

#include "locks/algorithms/cohort.h"

COHORT(ahmcs, cohort_mcs, cohort_mcs, true)

#endif
