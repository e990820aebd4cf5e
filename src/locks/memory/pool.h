/* SPDX-License-Identifier: MIT */
/*
 * Pools of type-stable memory: a slot is of its pool for ever, so a late unpark() or a
 * stale look at one does no harm. Slots have 32-bit ids, so that links fit into a lock
 * beside each other, and are one transfer unit long.
 *
 * Taking and giving are uncontended unless two threads hash to one shard; nothing is
 * allocated but a page-sized chunk now and then, and nothing is ever unmapped.
 */
#ifndef HASP_LOCKS_MEMORY_POOL_H
#define HASP_LOCKS_MEMORY_POOL_H

#include "platform/platform.h"

struct pool_link {
    uint32_t id;   /* never changes; 0 is nobody */
    uint32_t home; /* the shard that it was taken from and goes back to */
    struct atomic_u32 free_next;
};

enum { POOL_PAYLOAD = CACHE_LINE - sizeof(struct pool_link) };

/* What a pool is made of. Each pool's own type puts `link` at the same place. */
struct pool_slot {
    unsigned char payload[POOL_PAYLOAD];
    struct pool_link link;
} __attribute__((aligned(CACHE_LINE)));

_Static_assert(sizeof(struct pool_slot) == CACHE_LINE, "one slot, one transfer unit");

enum { POOL_CHUNK = 64, POOL_CHUNKS = 16384, POOL_SHARDS = 256 };

struct pool_shard {
    struct atomic_u64 head; /* {tag, id}: a Treiber stack, the tag is against ABA */
} __attribute__((aligned(64)));

struct pool {
    struct pool_slot *chunks[POOL_CHUNKS];
    struct pool_shard shards[POOL_SHARDS];
    struct atomic_u32 carved;  /* slots ever made */
    struct atomic_u32 mapping; /* generation of the thread that maps a chunk, or 0 */
};

/* Takes a slot with undefined payload. Never fails: when memory or ids are exhausted it
 * yields until another thread gives one back. Acquire: what the giver did before is
 * seen. */
struct pool_slot *pool_take(struct pool *pool);

/* Nobody may reach the slot through a queue any more. */
void pool_give(struct pool *pool, struct pool_slot *slot);

/* The slot will never come back, by design: who looks for leaks passes over it. */
void pool_keep(struct pool *pool, struct pool_slot *slot);

static inline struct pool_slot *pool_at(const struct pool *pool, uint32_t id)
{
    return &pool->chunks[id / POOL_CHUNK][id % POOL_CHUNK];
}

#endif
