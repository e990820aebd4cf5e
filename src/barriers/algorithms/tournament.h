/* SPDX-License-Identifier: MIT */
/*
 * Tournament barrier. D. Hensgen, R. Finkel, U. Manber, "Two algorithms for barrier
 * synchronization", International Journal of Parallel Programming 1988; with the global
 * wake-up of J. Mellor-Crummey, M. Scott, TOCS 1991.
 *
 * Idea: threads meet in pairs. It is fixed who wins: the lower position. The loser
 * tells the winner that it has arrived, then waits for the end of the phase; the winner
 * goes on to the next round. The champion, at position 0, has then heard of all, and
 * announces the end.
 *
 *   claim  of the position (positions.h)
 *   cells  in a position's block, one for each round: the phase in which it was won
 *   round  of the first block: the end of the phase, for all losers
 *
 * T1. Each announcement (release) pairs with the winner's load (acquire), and the
 *     champion's advance of the round (release) with the losers' loads.
 * T2. A winner waits for the phase's own number, or a later one. A later one cannot
 *     come before it has read the cell: the phase is not complete.
 *
 * Serial thread: the champion.
 */
#ifndef HASP_BARRIERS_ALGORITHMS_TOURNAMENT_H
#define HASP_BARRIERS_ALGORITHMS_TOURNAMENT_H

#include "barriers/algorithms/positions.h"

static inline void tournament_init(struct barrier *barrier)
{
    const uint32_t count = barrier->count;
    positions_init(barrier, count);
    if (barrier->central)
        return;
    struct barrier_block *root = barrier_block_at(barrier->block);
    for (uint32_t i = 1; i < count; i++) {
        /* The round that the position loses is that of its lowest bit set. */
        uint32_t lost = i & -i;
        store_relaxed(&position_block(root, count, i)->words[POSITION_PARENT],
                      position_block(root, count, i - lost)->link.id);
    }
}

static inline void tournament_destroy(struct barrier *barrier)
{
    positions_destroy(barrier, barrier->count);
}

static inline bool tournament_wait(struct barrier *barrier)
{
    if (positions_are_lost(barrier, barrier->count))
        return central_wait(barrier);
    const struct position position = position_claim(barrier, barrier->count);
    struct atomic_u32 *words = position.block->words;
    const uint32_t phase = position_phase_end(&position), index = position.index;
    uint32_t round = 0;
    for (; !(index >> round & 1) && 1u << round < position.count; round++)
        if (index + (1u << round) < position.count)
            cell_await(&words[POSITION_CELLS + round], phase, position.count);
    if (index == 0) {
        cell_advance(&position.root->round);
    } else {
        uint32_t winner = load_relaxed(&words[POSITION_PARENT]);
        cell_announce(&barrier_block_at(winner)->words[POSITION_CELLS + round], phase);
        cell_await(&position.root->round, position.base + phase, position.count);
    }
    position_leave(&position);
    return index == 0;
}

#endif
