/* SPDX-License-Identifier: MIT */
/*
 * The pool: free lists in shards, picked by the id of the thread that takes, so that a
 * thread finds its last waiter again, in its own cache, and needs no clean-up when it
 * exits. Whoever gives a waiter back returns it to that shard: a thread that times out
 * again and again, and whose waiters are taken out of the queue by others, would
 * otherwise need ever new ones. Each list is a Treiber stack whose head carries a tag
 * against ABA: {tag, id}.
 */
#include "locks/waiter.h"

enum { SHARDS = 256 };

struct shard {
    struct atomic_u64 head;
} __attribute__((aligned(64)));

struct waiter *waiter_chunks[WAITER_CHUNKS];
static struct shard shards[SHARDS];
static struct atomic_u32 carved = {1}; /* next id; 0 means none */
static struct atomic_u32 mapping; /* generation of the thread that maps a chunk, or 0 */

static bool chunk_present(uint32_t chunk)
{
    struct waiter **slot = &waiter_chunks[chunk];
    if (likely(__atomic_load_n(slot, __ATOMIC_ACQUIRE) != NULL))
        return true;
    uint32_t now = fork_generation(), holder = 0;
    while (!compare_exchange_acquire(&mapping, &holder, now))
        if (holder == now) { /* else it was the parent's: take it over */
            holder = 0;
            yield();
        }
    if (!*slot) {
        struct waiter *fresh = map_pages(WAITERS_PER_CHUNK * sizeof *fresh);
        for (uint32_t i = 0; fresh && i < WAITERS_PER_CHUNK; i++)
            fresh[i].id = chunk * WAITERS_PER_CHUNK + i;
        __atomic_store_n(slot, fresh, __ATOMIC_RELEASE);
    }
    store_release(&mapping, 0);
    return *slot != NULL;
}

/* A waiter that never existed before, or NULL when memory or ids are exhausted. */
static struct waiter *carve(void)
{
    uint32_t id = load_relaxed(&carved);
    do {
        if (id >= WAITER_CHUNKS * WAITERS_PER_CHUNK ||
            !chunk_present(id / WAITERS_PER_CHUNK))
            return NULL;
    } while (!compare_exchange_relaxed(&carved, &id, id + 1));
    return waiter_at(id);
}

static struct waiter *pop(struct shard *shard)
{
    uint64_t head = load_acquire(&shard->head);
    while ((uint32_t)head) {
        struct waiter *waiter = waiter_at((uint32_t)head);
        /* May be stale by now; the tag makes the exchange fail then. */
        uint64_t after = (head >> 32) + 1;
        after = after << 32 | load_relaxed(&waiter->free_next);
        /* Acquire, also on the retry: pairs with the release in waiter_give. */
        if (compare_exchange_acquire(&shard->head, &head, after))
            return waiter;
        head = load_acquire(&shard->head);
    }
    return NULL;
}

struct waiter *waiter_take(void)
{
    uint32_t home = current_thread() % SHARDS;
    struct waiter *waiter = pop(&shards[home]);
    while (unlikely(!waiter) && !(waiter = carve())) {
        yield();
        for (int i = 0; i < SHARDS && !waiter; i++)
            waiter = pop(&shards[i]);
    }
    store_relaxed(&waiter->cell, WAITER_WAITING);
    store_relaxed(&waiter->next, 0);
    store_relaxed(&waiter->previous, 0);
    store_relaxed(&waiter->asleep, 0);
    waiter->may_change = 0;
    waiter->home = home;
    return waiter;
}

void waiter_give(struct waiter *waiter)
{
    struct shard *shard = &shards[waiter->home];
    uint64_t head = load_relaxed(&shard->head);
    do
        store_relaxed(&waiter->free_next, (uint32_t)head);
    while (!compare_exchange_release(&shard->head, &head,
                                     ((head >> 32) + 1) << 32 | waiter->id));
}

uint32_t waiter_count(void)
{
    return load_relaxed(&carved) - 1;
}
