/* SPDX-License-Identifier: MIT */
/*
 * Pools of type-stable memory: a slot belongs to its pool for ever, so that a late
 * unpark() or a stale read of a slot is harmless. Slots have 32-bit ids, which lets a
 * lock store several links, and are one cache line transfer unit long.
 *
 * Taking and giving are uncontended unless two threads hash to the same shard. The only
 * allocation is an occasional page-sized chunk, and nothing is ever unmapped.
 */
#ifndef HASP_LOCKS_MEMORY_POOL_H
#define HASP_LOCKS_MEMORY_POOL_H

#include "platform/platform.h"

struct pool_link {
    uint32_t id;   /* never changes; 0 means no slot */
    uint32_t home; /* the shard that it was taken from and returns to */
    struct atomic_u32 free_next;
};

enum { POOL_PAYLOAD = CACHE_LINE - sizeof(struct pool_link) };

/* The unit of allocation. Each pool's own type has `link` at the same offset. */
struct pool_slot {
    unsigned char payload[POOL_PAYLOAD];
    struct pool_link link;
} __attribute__((aligned(CACHE_LINE)));

_Static_assert(sizeof(struct pool_slot) == CACHE_LINE, "one slot, one transfer unit");

enum { POOL_CHUNK = 64, POOL_CHUNKS = 16384, POOL_SHARDS = 256 };

#define POOL_PATIENCE_NS 5000000000

struct pool_shard {
    struct atomic_u64 head; /* {tag, id}: head of a Treiber stack; the tag prevents
                             * ABA */
} __attribute__((aligned(64)));

struct pool {
    struct pool_slot *chunks[POOL_CHUNKS];
    struct pool_shard shards[POOL_SHARDS];
    struct atomic_u32 carved;  /* slots created so far */
    struct atomic_u32 mapping; /* generation of the thread that is mapping a chunk, or
                                * 0 */
};

/* Returns a slot with undefined contents. If memory or ids are exhausted, it yields
 * until another thread gives a slot back; if all ids stay in use for POOL_PATIENCE_NS,
 * it ends the process with a message. Acquire: sees everything that the giver did
 * before. */
struct pool_slot *pool_take(struct pool *pool);

/* Does the same; if it has to create a slot, it creates `ahead` more for the next calls
 * of the same thread. */
struct pool_slot *pool_take_ahead(struct pool *pool, uint32_t ahead);

/* Gives the slot back. No queue may lead to it any more. */
void pool_give(struct pool *pool, struct pool_slot *slot);

/* Returns the first of `count` slots with consecutive ids that were never used before:
 * apart from their links they are zero. They are never given back. NULL if memory or
 * ids are exhausted. */
struct pool_slot *pool_carve(struct pool *pool, uint32_t count);

/* The same, but the caller's next pool_take() gets the slot, whoever took it before.
 * Only for slots that threads exchange one for one. */
void pool_give_here(struct pool *pool, struct pool_slot *slot);

/* Declares that the slot will never be given back, so that leak detection ignores
 * it. */
void pool_keep(struct pool *pool, struct pool_slot *slot);

/* For searching all slots: ids from 1 to pool_size() exist. pool_find() returns NULL
 * for a slot that the caller cannot have heard of. */
uint32_t pool_size(const struct pool *pool);
struct pool_slot *pool_find(const struct pool *pool, uint32_t id);

static inline struct pool_slot *pool_at(const struct pool *pool, uint32_t id)
{
    return &pool->chunks[id / POOL_CHUNK][id % POOL_CHUNK];
}

#endif
