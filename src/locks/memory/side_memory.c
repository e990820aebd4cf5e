/* SPDX-License-Identifier: MIT */
#include "locks/memory/side_memory.h"

struct pool part_pool;

struct part *part_take(void)
{
    struct part *part = (struct part *)pool_take(&part_pool);
    for (int i = 0; i < PART_WORDS; i++)
        if (load_relaxed(&part->words[i]))
            store_relaxed(&part->words[i], 0);
    return part;
}

void part_give(struct part *part)
{
    pool_give(&part_pool, (struct pool_slot *)part);
}

struct part *part_make(struct atomic_u32 *cell)
{
    uint32_t id = 0;
    while (!id) {
        struct part *fresh = part_take();
        /* Release: whoever reads the id sees zeroed words. */
        if (compare_exchange_release(cell, &id, fresh->link.id))
            return fresh;
        part_give(fresh);
        id = load_acquire(cell); /* the exchange failed relaxed */
    }
    return part_at(id);
}

struct part *parts_look(struct atomic_u32 *directory, uint32_t index)
{
    uint32_t id = load_acquire(directory);
    id = id ? load_acquire(&part_at(id)->words[index]) : 0;
    return id ? part_at(id) : NULL;
}

struct part *parts_get_unless_scarce(struct atomic_u32 *directory, uint32_t index)
{
    struct part *part = parts_look(directory, index);
    return likely(part) || parts_scarce() ? part : parts_get(directory, index);
}

void parts_give_back_all(struct atomic_u32 *directory)
{
    uint32_t id = exchange_relaxed(directory, 0);
    struct part *list = part_at(id);
    for (int i = 0; i < PARTS_ALL; i++)
        if ((id = load_relaxed(&list->words[i])) != 0)
            part_give(part_at(id));
    part_give(list);
}

uint32_t part_count(void)
{
    return load_relaxed(&part_pool.carved);
}

bool parts_scarce(void)
{
    return part_count() > POOL_CHUNKS * POOL_CHUNK / 4 * 3;
}
