/* SPDX-License-Identifier: MIT */
#include "barriers/algorithms/positions.h"

enum { GENERATION_CHANGES = UINT16_MAX }; /* never a generation */

static uint32_t directories(uint32_t blocks)
{
    return blocks > DIRECTORY_IDS ? (blocks + DIRECTORY_IDS - 1) / DIRECTORY_IDS : 0;
}

void positions_init(struct barrier *barrier, uint32_t blocks)
{
    store_relaxed(&barrier->generation, fork_generation());
    central_init(barrier);
    barrier->central = barrier->count > POSITIONS_MOST;
    if (barrier->central)
        return;
    struct barrier_block *root = barrier_block_at(barrier->block);
    for (uint32_t i = 0; i < directories(blocks); i++)
        store_relaxed(&root->words[i], barrier_block_take()->link.id);
    for (uint32_t i = 0; i < blocks; i++) {
        struct barrier_block *list = root;
        if (directories(blocks))
            list = barrier_block_at(load_relaxed(&root->words[i / DIRECTORY_IDS]));
        store_relaxed(&list->words[i % DIRECTORY_IDS], barrier_block_take()->link.id);
    }
}

void positions_destroy(struct barrier *barrier, uint32_t blocks)
{
    struct barrier_block *root = barrier_block_at(barrier->block);
    const bool lost = positions_are_lost(barrier, blocks);
    if (barrier->count > POSITIONS_MOST) {
        central_destroy(barrier);
        return;
    }
    struct spinner spinner = {0, 0};
    for (uint32_t i = 0; i < barrier->count && !lost; i++)
        while (load_acquire(&position_block(root, blocks, i)->words[POSITION_CLAIM]) %
               2)
            spinner_spin(&spinner, NULL);
    for (uint32_t i = 0; i < blocks; i++)
        barrier_block_give(position_block(root, blocks, i));
    for (uint32_t i = 0; i < directories(blocks); i++)
        barrier_block_give(barrier_block_at(load_relaxed(&root->words[i])));
    central_destroy(barrier);
}

/* Returns how many threads had arrived in the current phase. */
static uint32_t arrived(struct barrier *barrier, uint32_t blocks)
{
    struct barrier_block *root = barrier_block_at(barrier->block);
    uint32_t newest = 0, claimed = 0;
    for (uint32_t i = 0; i < barrier->count; i++) {
        uint32_t claim =
            load_relaxed(&position_block(root, blocks, i)->words[POSITION_CLAIM]);
        if (i == 0 || (int32_t)(claim - newest) > 0) {
            newest = claim;
            claimed = 0;
        }
        claimed += claim == newest && claim % 2;
    }
    return claimed % barrier->count; /* all: the phase is complete */
}

void positions_turn_central(struct barrier *barrier, uint32_t blocks)
{
    uint32_t seen = load_relaxed(&barrier->generation);
    if (seen != GENERATION_CHANGES &&
        compare_exchange_acquire(&barrier->generation, &seen, GENERATION_CHANGES)) {
        if (!barrier->central) {
            struct barrier_block *root = barrier_block_at(barrier->block);
            barrier->base = load_relaxed(&root->round) & ~(uint32_t)CELL_SLEEPERS;
            store_relaxed(&barrier->arrivals, arrived(barrier, blocks));
            barrier->central = true;
        }
        store_release(&barrier->generation, fork_generation()); /* to the load below */
    }
    spin_until(load_acquire(&barrier->generation) != GENERATION_CHANGES);
}
