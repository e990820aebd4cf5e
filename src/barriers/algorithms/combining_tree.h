/* SPDX-License-Identifier: MIT */
/*
 * Combining tree barrier. P.-C. Yew, N.-F. Tzeng, D. Lawrie, "Distributing hot-spot
 * addressing in large-scale multiprocessors", IEEE Transactions on Computers 1987; J.
 * Mellor-Crummey, M. Scott, TOCS 1991.
 *
 * Idea: threads count themselves in at the leaves of a tree, few at each; the last one
 * at a node counts that node in at its parent. The last one at the root announces the
 * end of the phase, for which all others wait. No counter is contended by more than
 * TREE_FAN_IN threads.
 *
 *   claim     of the position (positions.h)
 *   parent    in a position's and a node's block: id of the node above, 0 at the root
 *   arrived   in a node's block: how many have counted themselves in
 *   children  how many there are
 *   round     of the first block: the end of the phase
 *
 * N1. The count (acq_rel) collects what all that arrived at the node did before. The
 *     last one resets it before it goes on, and no thread counts itself in again before
 *     the end of the phase, which is ordered after that.
 * N2. The advance of the round (release) pairs with the others' loads (acquire).
 *
 * Serial thread: the last one at the root.
 */
#ifndef HASP_BARRIERS_ALGORITHMS_COMBINING_TREE_H
#define HASP_BARRIERS_ALGORITHMS_COMBINING_TREE_H

#include "barriers/algorithms/positions.h"

enum { TREE_FAN_IN = 4 };

static inline uint32_t tree_level_nodes(uint32_t below)
{
    return (below + TREE_FAN_IN - 1) / TREE_FAN_IN;
}

/* Positions and nodes. */
static inline uint32_t tree_blocks(uint32_t count)
{
    uint32_t blocks = count, level = count;
    do
        blocks += level = tree_level_nodes(level);
    while (level > 1);
    return blocks;
}

static inline void combining_tree_init(struct barrier *barrier)
{
    const uint32_t blocks = tree_blocks(barrier->count);
    positions_init(barrier, blocks);
    if (barrier->central)
        return;
    struct barrier_block *root = barrier_block_at(barrier->block);
    uint32_t first = 0, level = barrier->count;
    do {
        uint32_t above = first + level;
        for (uint32_t i = 0; i < level; i++) {
            struct barrier_block *node =
                position_block(root, blocks, above + i / TREE_FAN_IN);
            store_relaxed(
                &position_block(root, blocks, first + i)->words[POSITION_PARENT],
                node->link.id);
            store_relaxed(&node->words[POSITION_CHILDREN], i % TREE_FAN_IN + 1);
        }
        first = above;
        level = tree_level_nodes(level);
    } while (level > 1);
}

static inline void combining_tree_destroy(struct barrier *barrier)
{
    positions_destroy(barrier, tree_blocks(barrier->count));
}

/* Returns whether the caller was the last one at the root. */
static inline bool tree_arrive(struct barrier_block *block)
{
    uint32_t parent;
    while ((parent = load_relaxed(&block->words[POSITION_PARENT])) != 0) {
        block = barrier_block_at(parent);
        struct atomic_u32 *words = block->words;
        prefetch_for_write(&words[POSITION_ARRIVED]);
        const uint32_t children = load_relaxed(&words[POSITION_CHILDREN]);
        if (fetch_add_acq_rel(&words[POSITION_ARRIVED], 1) + 1 != children)
            return false;
        store_relaxed(&words[POSITION_ARRIVED], 0);
    }
    return true;
}

static inline bool combining_tree_wait(struct barrier *barrier)
{
    const uint32_t blocks = tree_blocks(barrier->count);
    if (positions_are_lost(barrier, blocks))
        return central_wait(barrier);
    const struct position position = position_claim(barrier, blocks);
    bool last = tree_arrive(position.block);
    if (last)
        cell_advance(&position.root->round);
    else
        cell_await(&position.root->round, position.base + position_phase_end(&position),
                   position.count);
    position_leave(&position);
    return last;
}

#endif
