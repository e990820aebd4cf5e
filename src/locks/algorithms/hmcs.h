/* SPDX-License-Identifier: MIT */
/*
 * HMCS: hierarchical MCS. M. Chabbi, M. Fagan, J. Mellor-Crummey, "High performance
 * locks for multi-level NUMA systems", PPoPP 2015.
 *
 * Idea: an MCS queue at each level. The head of a node's queue waits in the global
 * queue on behalf of the whole queue. A grant within the node carries the number of
 * handovers there, which shows the receiver that it holds both levels, and when to pass
 * the lock on to other nodes.
 *
 * This is the cohort of two MCS locks (cohort.h): the count that the paper puts into
 * the grant is `handovers`, next to the local queue's tail.
 *
 *   state[0..1]  {tail, next} of the global queue (mcs.h)
 *   state[3]  directory of the local locks (side_memory.h)
 *   mode  while held: 1 + the node whose local lock the holder has, too; 0 none
 *   local  in the node's side block: a lock with {tail, next} of the node's queue
 *   handovers  in the node's side block: how often the lock was handed over in the
 *              node; 0: a thread at its head has to take the global lock
 *
 * I1. The holder of the lock is the head of the global queue. If mode is not 0, it is
 *     also the head of that node's queue.
 * I2. mode and handovers belong to the holder, which writes them after it has acquired
 *     the global lock and sets them to 0 before it releases that lock.
 * I3. The local lock is released before the global one, so nothing of the lock is
 *     touched after its release.
 *
 * Timed lock: a thread with a deadline waits in the global queue only, and leaves it as
 * in mcs.h; so the waiters of local queues never leave (cohort.h).
 */
#ifndef HASP_LOCKS_ALGORITHMS_HMCS_H
#define HASP_LOCKS_ALGORITHMS_HMCS_H

#include "locks/algorithms/cohort.h"

COHORT(hmcs, cohort_mcs, cohort_mcs, false)

#endif
