/* SPDX-License-Identifier: MIT */
#include "locks/waiting/waiter.h"

#include "locks/waiting/abandoned_nodes.h"

struct pool waiter_pool;
struct atomic_u32 abandoned_cells[ABANDONED_CELLS]
    __attribute__((aligned(CACHE_LINE)));

struct waiter *waiter_take(void)
{
    struct waiter *waiter = (struct waiter *)pool_take(&waiter_pool);
    store_relaxed(&waiter->cell, WAITER_WAITING);
    store_relaxed(&waiter->next, 0);
    store_relaxed(&waiter->previous, 0);
    store_relaxed(&waiter->asleep, 0);
    waiter->may_change = 0;
    return waiter;
}

void waiter_give(struct waiter *waiter)
{
    pool_give(&waiter_pool, (struct pool_slot *)waiter);
}

uint32_t waiter_count(void)
{
    return load_relaxed(&waiter_pool.carved);
}
