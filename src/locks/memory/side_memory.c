/* SPDX-License-Identifier: MIT */
#include "locks/memory/side_memory.h"

struct pool side_pool;

struct side_block *side_block_take(void)
{
    struct side_block *block = (struct side_block *)pool_take(&side_pool);
    for (int i = 0; i < SIDE_BLOCK_WORDS; i++)
        if (load_relaxed(&block->words[i]))
            store_relaxed(&block->words[i], 0);
    return block;
}

void side_block_give(struct side_block *block)
{
    pool_give(&side_pool, (struct pool_slot *)block);
}

struct side_block *side_block_make(struct atomic_u32 *cell)
{
    uint32_t id = 0;
    while (!id) {
        struct side_block *fresh = side_block_take();
        /* Release: a thread that reads the id sees zeroed words. */
        if (compare_exchange_release(cell, &id, fresh->link.id))
            return fresh;
        side_block_give(fresh);
        id = load_acquire(cell); /* the exchange failed relaxed */
    }
    return side_block_at(id);
}

struct side_block *side_memory_find(struct atomic_u32 *directory, uint32_t index)
{
    uint32_t id = load_acquire(directory);
    id = id ? load_acquire(&side_block_at(id)->words[index]) : 0;
    return id ? side_block_at(id) : NULL;
}

struct side_block *side_memory_get_unless_scarce(struct atomic_u32 *directory,
                                                 uint32_t index)
{
    struct side_block *block = side_memory_find(directory, index);
    return likely(block) || side_memory_scarce() ? block
                                                 : side_memory_get(directory, index);
}

void side_memory_free_all(struct atomic_u32 *directory)
{
    uint32_t id = exchange_relaxed(directory, 0);
    struct side_block *list = side_block_at(id);
    for (int i = 0; i < SIDE_ENTRIES; i++)
        if ((id = load_relaxed(&list->words[i])) != 0)
            side_block_give(side_block_at(id));
    side_block_give(list);
}

uint32_t side_block_count(void)
{
    return load_relaxed(&side_pool.carved);
}

bool side_memory_scarce(void)
{
    return side_block_count() > POOL_CHUNKS * POOL_CHUNK / 4 * 3;
}
