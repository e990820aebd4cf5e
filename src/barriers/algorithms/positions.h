/* SPDX-License-Identifier: MIT */
/*
 * Positions: what barriers need whose threads are numbered (combining_tree.h,
 * dissemination.h, tournament.h). POSIX lets any thread arrive, and more threads than
 * the barrier counts may take turns. So a thread claims a position for each phase.
 *
 * Idea: a thread claims the position that it had the last time, at whatever barrier.
 * Threads that keep to their positions find them free, and in their own caches.
 * Otherwise the thread tries the next ones. If all are taken, the phase is complete,
 * and its threads are about to leave.
 *
 *   block      the first block: a directory, and the round for which threads wait
 *   claim      in each position's block: 2k free for phase k, 2k + 1 claimed for it
 *   cells, partners, parent, ...  of the algorithms
 *
 * S1. A position is claimed for phase k + 1 only after it was left in phase k, which is
 *     complete then. So every phase has all positions claimed once, and one thread at
 *     position 0. The claim (acquire) pairs with the leaving store (release): the
 *     counters of combining_tree.h are reset before it. The numbers in the cells of the
 *     other two only grow, and need no such order.
 * S2. A thread accesses its own and other positions' blocks only before it leaves its
 *     position. So once all positions are left, the blocks can be given back: destroy
 *     waits for that. It waits for threads that have been released and run, not for
 *     ones that have yet to arrive.
 * S3. In a forked child, the threads that had claimed positions do not exist. They
 *     count as arrived, as with glibc's barrier, but cannot do their part any more: in
 *     the child, the barrier becomes a central one (central.h) with as many arrivals.
 */
#ifndef HASP_BARRIERS_ALGORITHMS_POSITIONS_H
#define HASP_BARRIERS_ALGORITHMS_POSITIONS_H

#include "barriers/algorithms/central.h"
#include "locks/waiting/policies.h"

/* Ids in the first block, and in each of the blocks that it leads to if there are more
 * blocks than that. Barriers for more threads are central. */
enum {
    DIRECTORY_IDS = BARRIER_WORDS,
    POSITION_BLOCKS_MOST = DIRECTORY_IDS * DIRECTORY_IDS,
    POSITION_ROUNDS = 10, /* 2 to that many positions */
    POSITIONS_MOST = 512,
};

/* Words of a position's block. The block of a tree's node uses PARENT and those after
 * it. */
enum {
    POSITION_CLAIM,
    POSITION_CELLS,
    POSITION_PARTNERS = POSITION_CELLS + POSITION_ROUNDS,
    POSITION_PARENT = POSITION_PARTNERS + POSITION_ROUNDS,
    POSITION_ARRIVED,
    POSITION_CHILDREN,
    POSITION_END,
};
_Static_assert((int)POSITION_END <= (int)BARRIER_WORDS, "a position is one block");

/* What a thread needs of the barrier once it has arrived: it may be gone then. */
struct position {
    struct barrier_block *block, *root;
    uint32_t index, count, claim, base;
};

static inline uint32_t position_phase_end(const struct position *position)
{
    return (position->claim / 2 + 1) * CELL_STEP;
}

static inline struct barrier_block *position_block(struct barrier_block *root,
                                                   uint32_t blocks, uint32_t index)
{
    if (blocks > DIRECTORY_IDS) {
        root = barrier_block_at(load_relaxed(&root->words[index / DIRECTORY_IDS]));
        index %= DIRECTORY_IDS;
    }
    return barrier_block_at(load_relaxed(&root->words[index]));
}

static inline bool position_try(struct barrier_block *block, uint32_t *claim)
{
    *claim = load_relaxed(&block->words[POSITION_CLAIM]);
    return *claim % 2 == 0 &&
           compare_exchange_acquire(&block->words[POSITION_CLAIM], claim, *claim + 1);
}

/* Claims a position. `blocks`: of the barrier, positions first. */
static inline struct position position_claim(struct barrier *barrier, uint32_t blocks)
{
    struct position position = {.root = barrier_block_at(barrier->block),
                                .count = barrier->count,
                                .base = barrier->base};
    struct atomic_u16 *seat = &held_nodes()->seat;
    const uint32_t mine = load_relaxed(seat);
    struct spinner spinner = {0, 0};
    position.index = (mine ? mine - 1 : current_thread()) % position.count;
    for (uint32_t tried = 1;; tried++) {
        position.block = position_block(position.root, blocks, position.index);
        if (position_try(position.block, &position.claim))
            break;
        position.index = (position.index + 1) % position.count;
        if (tried % position.count == 0)
            spinner_spin(&spinner, NULL);
    }
    if (position.index + 1 != mine)
        store_relaxed(seat, (uint16_t)(position.index + 1));
    return position;
}

static inline void position_leave(const struct position *position)
{
    store_release(&position->block->words[POSITION_CLAIM], position->claim + 2);
}

/* Slow path of positions_are_lost(). */
void positions_turn_central(struct barrier *barrier, uint32_t blocks)
    __attribute__((visibility("hidden")));

/* Returns whether the barrier is a central one: for lack of blocks, or by S3. */
static inline bool positions_are_lost(struct barrier *barrier, uint32_t blocks)
{
    if (unlikely(is_forked_child()) &&
        load_acquire(&barrier->generation) != fork_generation())
        positions_turn_central(barrier, blocks);
    return unlikely(barrier->central != 0);
}

/* Takes as many blocks as the algorithm needs, or makes the barrier a central one if
 * there are too many positions. */
void positions_init(struct barrier *barrier, uint32_t blocks)
    __attribute__((visibility("hidden")));
void positions_destroy(struct barrier *barrier, uint32_t blocks)
    __attribute__((visibility("hidden")));

#endif
