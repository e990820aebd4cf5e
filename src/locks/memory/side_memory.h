/* SPDX-License-Identifier: MIT */
/*
 * Parts: memory of a lock outside its 40 bytes.
 *
 * A lock that needs more than its body (a queue for each NUMA node, an array of slots)
 * keeps in one of its cells the id of a directory, a part whose words are the ids of
 * other parts. Both come on first use, which is to be the first contention: an idle
 * mutex costs nothing. They stay with the lock until destroy gives them back.
 */
#ifndef HASP_LOCKS_MEMORY_SIDE_MEMORY_H
#define HASP_LOCKS_MEMORY_SIDE_MEMORY_H

#include "locks/memory/pool.h"

#include <stddef.h>

/* What the words of a directory name: parts for nodes, or whatever the algorithm
 * numbers; the slots of a partitioned lock, which may share the directory with nodes;
 * its flag; the part of a wrapper (gcr.h). */
enum {
    SIDE_BLOCKS_MAX = 23,
    SIDE_SLOTS = ARRAY_SLOTS < 4 ? ARRAY_SLOTS : 4,
    SIDE_ENTRIES = SIDE_BLOCKS_MAX + SIDE_SLOTS,
    SIDE_FLAG = SIDE_ENTRIES,
    SIDE_WRAPPER,
    SIDE_BLOCK_WORDS = POOL_PAYLOAD / sizeof(struct atomic_u32),
};

struct side_block {
    struct atomic_u32 words[SIDE_BLOCK_WORDS];
    struct pool_link link;
} __attribute__((aligned(CACHE_LINE)));

_Static_assert(offsetof(struct side_block, link) == offsetof(struct pool_slot, link) &&
                   sizeof(struct side_block) == sizeof(struct pool_slot),
               "a part is a slot of its pool");
_Static_assert((int)SIDE_WRAPPER < (int)SIDE_BLOCK_WORDS, "a directory is one part");

extern struct pool side_pool __attribute__((visibility("hidden")));

static inline struct side_block *side_block_at(uint32_t id)
{
    return (struct side_block *)pool_at(&side_pool, id);
}

/* A part of zeroed words. */
struct side_block *side_block_take(void);

void side_block_give(struct side_block *block);

/* For side_block_of(). */
struct side_block *side_block_make(struct atomic_u32 *cell);

/* The part that `cell` names; if none, a new one, which all threads then agree on.
 * Acquire: pairs with the release that published the part. */
static inline struct side_block *side_block_of(struct atomic_u32 *cell)
{
    uint32_t id = load_acquire(cell);
    return likely(id != 0) ? side_block_at(id) : side_block_make(cell);
}

/* Entry `index` (below SIDE_ENTRIES) of a directory; creates the block if missing. */
static inline struct side_block *side_memory_get(struct atomic_u32 *directory,
                                                 uint32_t index)
{
    return side_block_of(&side_block_of(directory)->words[index]);
}

/* The same, but NULL if the block is missing while side_memory_scarce(). */
struct side_block *side_memory_get_unless_scarce(struct atomic_u32 *directory,
                                                 uint32_t index);

/* The same, or NULL where it is missing. */
struct side_block *side_memory_find(struct atomic_u32 *directory, uint32_t index);

void side_memory_free_all(struct atomic_u32 *directory);

/* Nobody uses the lock any more: the directory and its parts go back. */
static inline void side_memory_free(struct atomic_u32 *directory)
{
    if (unlikely(load_relaxed(directory) != 0)) /* a lock that was contended */
        side_memory_free_all(directory);
}

/* Parts ever carved out, for tests. */
uint32_t side_block_count(void);

/* So many are in use that a lock which can do without should. */
bool side_memory_scarce(void);

#endif
