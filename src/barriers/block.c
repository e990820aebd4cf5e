/* SPDX-License-Identifier: MIT */
#include "barriers/barrier.h"

struct pool barrier_pool;

struct barrier_block *barrier_block_take(void)
{
    struct barrier_block *block = (struct barrier_block *)pool_take(&barrier_pool);
    for (int i = 0; i < BARRIER_WORDS; i++)
        if (load_relaxed(&block->words[i]))
            store_relaxed(&block->words[i], 0);
    return block;
}

void barrier_block_give(struct barrier_block *block)
{
    pool_give(&barrier_pool, (struct pool_slot *)block);
}
