/* SPDX-License-Identifier: MIT */
#include "locks/memory/side_memory.h"

struct pool side_pool;

/* {tag, id} of an array that was given back: head of a Treiber stack, as in pool.c. */
static struct atomic_u64 free_arrays;

struct side_block *side_block_take(void)
{
    struct pool_slot *slot = pool_take_ahead(&side_pool, SIDE_BLOCKS_AHEAD);
    struct side_block *block = (struct side_block *)slot;
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

static uint32_t pop_array(void)
{
    uint64_t head = load_acquire(&free_arrays), after;
    do {
        if (!(uint32_t)head)
            return 0;
        after = load_relaxed(&side_block_at((uint32_t)head)->link.free_next);
        after |= ((head >> 32) + 1) << 32;
    } while (!compare_exchange_acquire(&free_arrays, &head, after));
    return (uint32_t)head;
}

uint32_t side_array_take(void)
{
    if (MODEL_CHECKED)
        return side_block_take()->link.id;
    uint32_t id = pop_array();
    if (id || side_memory_scarce())
        return id;
    struct pool_slot *fresh = pool_carve(&side_pool, array_slots());
    return fresh ? fresh->link.id : 0;
}

void side_array_give(uint32_t id)
{
    struct side_block *first = side_block_at(id);
    if (MODEL_CHECKED) {
        side_block_give(first);
        return;
    }
    for (uint32_t i = 0; i < array_slots(); i++)
        for (uint32_t word = 0; word < SIDE_ARRAY_WORDS; word++)
            store_relaxed(&side_array_at(id, i)[word], 0);
    uint64_t head = load_relaxed(&free_arrays);
    do
        store_relaxed(&first->link.free_next, (uint32_t)head);
    while (
        !compare_exchange_release(&free_arrays, &head, ((head >> 32) + 1) << 32 | id));
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
