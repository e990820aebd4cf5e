/* SPDX-License-Identifier: MIT */
/*
 * Free lists are sharded by the id of the taking thread, so that a thread usually gets
 * its previous slot back, still in its cache, and needs no clean-up when it exits. A
 * slot is returned to the shard that it was taken from. Otherwise a thread that times
 * out repeatedly, and whose waiters other threads remove from the queue, would consume
 * new slots without end. R. K. Treiber, "Systems programming: coping with parallelism",
 * IBM RJ 5118, 1986.
 */
#include "locks/memory/pool.h"

static bool chunk_present(const struct pool *pool, uint32_t chunk)
{
    return __atomic_load_n(&pool->chunks[chunk], __ATOMIC_ACQUIRE) != NULL;
}

static struct pool_slot *chunk_make(uint32_t chunk)
{
    struct pool_slot *fresh = map_pages(POOL_CHUNK * sizeof *fresh);
    for (uint32_t i = 0; fresh && i < POOL_CHUNK; i++)
        fresh[i].link.id = chunk * POOL_CHUNK + i;
    return fresh;
}

/* Maps the chunks that are missing, all in one turn, because threads that make arrays
 * for many locks wait for each other here. Returns false if memory is exhausted. */
static bool chunks_ensure(struct pool *pool, uint32_t first, uint32_t last)
{
    while (first <= last && likely(chunk_present(pool, first)))
        first++;
    if (likely(first > last))
        return true;
    uint32_t now = fork_generation(), holder = 0;
    while (!compare_exchange_acquire(&pool->mapping, &holder, now))
        if (holder == now) { /* otherwise a thread of the parent held it: take over */
            holder = 0;
            yield();
        }
    for (; first <= last; first++) {
        if (!chunk_present(pool, first))
            __atomic_store_n(&pool->chunks[first], chunk_make(first), __ATOMIC_RELEASE);
        if (!chunk_present(pool, first))
            break;
    }
    store_release(&pool->mapping, 0);
    return first > last;
}

struct pool_slot *pool_carve(struct pool *pool, uint32_t count)
{
    uint32_t before = load_relaxed(&pool->carved);
    do {
        if (before + count >= POOL_CHUNKS * POOL_CHUNK)
            return NULL;
        if (!chunks_ensure(pool, (before + 1) / POOL_CHUNK,
                           (before + count) / POOL_CHUNK))
            return NULL;
    } while (!compare_exchange_relaxed(&pool->carved, &before, before + count));
    return pool_at(pool, before + 1);
}

static struct pool_slot *pop(struct pool *pool, struct pool_shard *shard)
{
    prefetch_for_write(&shard->head); /* a plain load would fetch the line a second
                                       * time */
    uint64_t head = load_acquire(&shard->head);
    while ((uint32_t)head) {
        struct pool_slot *slot = pool_at(pool, (uint32_t)head);
        /* May be stale by now; then the tag makes the exchange fail. */
        uint64_t after = (head >> 32) + 1;
        after = after << 32 | load_relaxed(&slot->link.free_next);
        /* Acquire, also on the retry: pairs with the release in pool_give. */
        if (compare_exchange_acquire(&shard->head, &head, after))
            return slot;
        head = load_acquire(&shard->head);
    }
    return NULL;
}

/* No slot is free: yields. Ends the process if all ids have been in use for longer than
 * POOL_PATIENCE_NS, because a program that keeps so many locks would hang. `*since` is
 * the time from which on all have been in use; the caller sets it to 0 at first. */
static void wait_for_slot(const struct pool *pool, uint64_t *since)
{
    uint64_t now = now_ns();
    if (!*since || load_relaxed(&pool->carved) + 1 < POOL_CHUNKS * POOL_CHUNK)
        *since = now;
    if (now - *since > (uint64_t)POOL_PATIENCE_NS)
        die("the program's locks use all million blocks of memory that their algorithm "
            "may have; choose one that needs none outside the lock (`hasp list`)");
    yield();
}

void pool_give(struct pool *pool, struct pool_slot *slot)
{
    struct pool_shard *shard = &pool->shards[slot->link.home];
    prefetch_for_write(&slot->link.free_next);
    prefetch_for_write(&shard->head);
    uint64_t head = load_relaxed(&shard->head);
    do
        store_relaxed(&slot->link.free_next, (uint32_t)head);
    while (!compare_exchange_release(&shard->head, &head,
                                     ((head >> 32) + 1) << 32 | slot->link.id));
}

/* Creates `ahead` slots more, for the same shard. */
static struct pool_slot *carve_for(struct pool *pool, uint32_t home, uint32_t ahead)
{
    struct pool_slot *first = pool_carve(pool, 1 + ahead);
    for (uint32_t i = 1; first && i <= ahead; i++) {
        struct pool_slot *slot = pool_at(pool, first->link.id + i);
        slot->link.home = home;
        pool_give(pool, slot);
    }
    return first;
}

struct pool_slot *pool_take_ahead(struct pool *pool, uint32_t ahead)
{
    uint32_t home = current_thread() % POOL_SHARDS;
    uint64_t since = 0;
    struct pool_slot *slot = pop(pool, &pool->shards[home]);
    while (unlikely(!slot) && !(slot = carve_for(pool, home, ahead)) &&
           !(slot = pool_carve(pool, 1))) {
        wait_for_slot(pool, &since);
        for (int i = 0; i < POOL_SHARDS && !slot; i++)
            slot = pop(pool, &pool->shards[i]);
    }
    slot->link.home = home;
    return slot;
}

struct pool_slot *pool_take(struct pool *pool)
{
    return pool_take_ahead(pool, 0);
}

void pool_give_here(struct pool *pool, struct pool_slot *slot)
{
    slot->link.home = current_thread() % POOL_SHARDS;
    pool_give(pool, slot);
}

void pool_keep(struct pool *pool, struct pool_slot *slot)
{
    (void)pool;
    (void)slot;
}

uint32_t pool_size(const struct pool *pool)
{
    return load_relaxed(&pool->carved);
}

struct pool_slot *pool_find(const struct pool *pool, uint32_t id)
{
    struct pool_slot *const *chunk = &pool->chunks[id / POOL_CHUNK];
    struct pool_slot *slots = __atomic_load_n(chunk, __ATOMIC_ACQUIRE);
    return slots ? &slots[id % POOL_CHUNK] : NULL;
}
