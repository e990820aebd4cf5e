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
 * This is the cohort of two MCS locks (cohort_queue.h): the count that the paper puts
 * into the grant is `handovers`, next to it in the node. The global queue is that of
 * mcs_queue.h, without nodes of holders.
 *
 *   state[0..1]  {tail, next} of the global queue (mcs_queue.h)
 *   state[3]  directory of the local queues (side_memory.h)
 *   mode  while held: 1 if the holder has a node, 0 if it has the global lock only
 *   tail  of a local queue, in its side block: id of the last node, 0 empty
 *   handovers  of a node: how often the lock was handed over in the queue; 0: its
 *              thread has to take the global lock
 *
 * I1. The holder of the lock is the head of the global queue. If it has a node, it is
 *     also the head of that node's queue.
 * I2. mode is written by a leader after it has acquired the global lock, and set to 0
 *     before that lock is released.
 *
 * Timed lock: a thread with a deadline waits in the global queue only, and leaves it as
 * in mcs.h; so the waiters of local queues never leave (cohort_queue.h).
 */
#ifndef HASP_LOCKS_ALGORITHMS_HMCS_H
#define HASP_LOCKS_ALGORITHMS_HMCS_H

#include "locks/algorithms/cohort_queue.h"

COHORT_QUEUE(hmcs, cohort_mcs, SPIN, false)

#endif
