/* SPDX-License-Identifier: MIT */
/*
 * Dissemination barrier. D. Hensgen, R. Finkel, U. Manber, "Two algorithms for barrier
 * synchronization", International Journal of Parallel Programming 1988; J.
 * Mellor-Crummey, M. Scott, TOCS 1991.
 *
 * Idea: in round r, each thread tells the one 2^r positions after it that it has
 * arrived, and waits for the one 2^r positions before it. After log2(n) rounds, each
 * has heard of all others, of most through others. No line is written by more than two
 * threads, and there is no counter.
 *
 *   claim     of the position (positions.h)
 *   cells     in a position's block, one for each round: the phase announced
 *   partners  ids of the blocks that it tells
 *
 * D1. A partner's announcement of phase k + 1 may come before a slow thread has read
 *     that of phase k, so threads wait for a number or a later one (cells.h). That of
 *     phase k + 2 cannot: the slow thread has not arrived in phase k + 1.
 * D2. Each announcement (release) pairs with the load that sees it (acquire); what the
 *     announcing thread had heard before thereby reaches the other.
 *
 * Serial thread: the one at position 0.
 */
#ifndef HASP_BARRIERS_ALGORITHMS_DISSEMINATION_H
#define HASP_BARRIERS_ALGORITHMS_DISSEMINATION_H

#include "barriers/algorithms/positions.h"

static inline void dissemination_init(struct barrier *barrier)
{
    const uint32_t count = barrier->count;
    positions_init(barrier, count);
    if (barrier->central)
        return;
    struct barrier_block *root = barrier_block_at(barrier->block);
    for (uint32_t i = 0; i < count; i++) {
        struct barrier_block *block = position_block(root, count, i);
        for (uint32_t round = 0; 1u << round < count; round++) {
            uint32_t other = (i + (1u << round)) % count;
            store_relaxed(&block->words[POSITION_PARTNERS + round],
                          position_block(root, count, other)->link.id);
        }
    }
}

static inline void dissemination_destroy(struct barrier *barrier)
{
    positions_destroy(barrier, barrier->count);
}

static inline bool dissemination_wait(struct barrier *barrier)
{
    if (positions_are_lost(barrier, barrier->count))
        return central_wait(barrier);
    const struct position position = position_claim(barrier, barrier->count);
    struct atomic_u32 *words = position.block->words;
    const uint32_t phase = position_phase_end(&position);
    for (uint32_t round = 0; 1u << round < position.count; round++) {
        uint32_t partner = load_relaxed(&words[POSITION_PARTNERS + round]);
        cell_announce(&barrier_block_at(partner)->words[POSITION_CELLS + round], phase);
        cell_await(&words[POSITION_CELLS + round], phase, position.count);
    }
    position_leave(&position);
    return position.index == 0;
}

#endif
