/* SPDX-License-Identifier: MIT */
/*
 * Central barrier: one counter, one cell on which all wait. The sense-reversing
 * centralized barrier of J. Mellor-Crummey, M. Scott, "Algorithms for scalable
 * synchronization on shared-memory multiprocessors", TOCS 1991, with a sense of 31
 * bits.
 *
 * Idea: a thread counts itself in; the last one of a phase changes the sense, for which
 * the others wait. A sense of one bit would do for a fixed set of threads. With POSIX
 * any thread may arrive: while one is delayed, others can complete the next phase, and
 * the bit would be back at its old value.
 *
 *   arrivals  in the barrier: the number drawn tells phase and position, by division
 *   round     in the block: base plus two for each phase that is complete
 *
 * B1. Numbers are drawn in order (acq_rel), so that the last thread of a phase has seen
 *     all that the threads of it, and of earlier ones, did before they arrived.
 * B2. The last thread of each phase advances the round once, so that the round shows a
 *     phase as complete only if as many phases have all their arrivals. If the last
 *     thread of a phase is delayed, that of the next one may advance the round for it:
 *     its threads leave, which is right, since they all have arrived, and those of the
 *     next phase wait for the delayed thread.
 *
 * Fork: threads that waited count as arrived in the child, as with glibc's barrier.
 */
#ifndef HASP_BARRIERS_ALGORITHMS_CENTRAL_H
#define HASP_BARRIERS_ALGORITHMS_CENTRAL_H

#include "barriers/barrier.h"
#include "barriers/cells.h"

static inline void central_init(struct barrier *barrier)
{
    struct barrier_block *block = barrier_block_take();
    barrier->block = block->link.id;
    barrier->base = load_relaxed(&block->round);
}

static inline void central_destroy(struct barrier *barrier)
{
    barrier_block_give(barrier_block_at(barrier->block));
}

/* Returns true in one thread of each phase. */
static inline bool central_wait(struct barrier *barrier)
{
    prefetch_for_write(&barrier->arrivals);
    const uint32_t count = barrier->count, base = barrier->base;
    struct atomic_u32 *round = &barrier_block_at(barrier->block)->round;
    uint64_t number = fetch_add_acq_rel(&barrier->arrivals, 1);
    uint64_t phase = number / count;
    if (number % count == count - 1) {
        cell_advance(round);
        return true;
    }
    cell_await(round, base + ((uint32_t)phase + 1) * CELL_STEP, count);
    return false;
}

#endif
