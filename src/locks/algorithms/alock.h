/* SPDX-License-Identifier: MIT */
/*
 * Array lock. T. Anderson, "The performance of spin lock alternatives for shared-memory
 * multiprocessors", IEEE TPDS 1(1), 1990.
 *
 * Idea: each arrival draws the next slot of an array and waits there, on a cache line
 * of its own; the releaser marks the slot after its own.
 *
 *   next, serving, left, directory, slot, flag  as in partitioned.h
 *
 * I1. This is the partitioned ticket lock with so many slots that waiters rarely share
 *     one; I1 to I3 of partitioned.h hold unchanged. The published lock has flags in
 *     its slots and fails if there are more threads than slots. A lock with numbers
 *     does not.
 *
 * Timed lock: as in ticket.h.
 */
#ifndef HASP_LOCKS_ALGORITHMS_ALOCK_H
#define HASP_LOCKS_ALGORITHMS_ALOCK_H

#include "locks/algorithms/partitioned.h"

DEFINE_PARTITIONED_LOCK(alock, 0, ARRAY_SLOTS)

#endif
