/* SPDX-License-Identifier: MIT */
/* A pool for the runs under Relacy. A thread first reuses the slots that it returned
 * last, and returning a slot happens before it is taken again. */
#include "relacy/pool.h"

#include "locks/memory/side_memory.h"
#include "locks/waiting/waiter.h"

#include <string.h>

enum { POOLS = 2, SLOTS = 24, THREADS = 8 };

static struct pool_slot slots[POOLS][SLOTS + 1];
static struct held_nodes held[THREADS];
static uint32_t carved[POOLS], taken;
static uint32_t free_count[POOLS][THREADS], free_ids[POOLS][THREADS][SLOTS];

void pools_begin(void)
{
    waiter_pool.chunks[0] = slots[0];
    side_pool.chunks[0] = slots[1];
    for (unsigned pool = 0; pool < POOLS; pool++)
        for (uint32_t i = 0; i <= SLOTS; i++)
            slots[pool][i].link.id = i;
    memset(carved, 0, sizeof carved);
    memset(free_count, 0, sizeof free_count);
    memset(held, 0, sizeof held);
    taken = 0;
}

unsigned pools_taken(void)
{
    return taken;
}

struct pool_slot *pool_take(struct pool *pool)
{
    const unsigned index = pool == &side_pool, thread = current_thread() % THREADS;
    uint32_t id;
    if (free_count[index][thread])
        id = free_ids[index][thread][--free_count[index][thread]];
    else if (carved[index] < SLOTS)
        id = ++carved[index];
    else
        die("more slots are in use than the pool has");
    struct pool_slot *slot = &slots[index][id];
    slot->link.home = thread;
    taken++;
    (void)exchange_acquire(&slot->link.free_next, 0);
    return slot;
}

struct pool_slot *pool_take_ahead(struct pool *pool, uint32_t ahead)
{
    (void)ahead;
    return pool_take(pool);
}

void pool_give(struct pool *pool, struct pool_slot *slot)
{
    const unsigned index = pool == &side_pool, home = slot->link.home;
    (void)exchange_release(&slot->link.free_next, 0);
    free_ids[index][home][free_count[index][home]++] = slot->link.id;
    taken--;
}

uint32_t pool_size(const struct pool *pool)
{
    return carved[pool == &side_pool];
}

struct pool_slot *pool_find(const struct pool *pool, uint32_t id)
{
    return &slots[pool == &side_pool][id];
}

struct held_nodes *held_nodes_of(unsigned thread)
{
    return &held[thread % THREADS];
}

unsigned held_nodes_count(unsigned thread)
{
    return held[thread % THREADS].count.raw;
}

void pool_keep(struct pool *pool, struct pool_slot *slot)
{
    (void)pool, (void)slot;
    taken--;
}

void pool_give_here(struct pool *pool, struct pool_slot *slot)
{
    slot->link.home = current_thread() % THREADS;
    pool_give(pool, slot);
}
