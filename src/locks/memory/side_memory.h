/* SPDX-License-Identifier: MIT */
/*
 * Side memory: memory of a lock outside its 40 bytes.
 *
 * A lock that needs more than its body (a queue for each NUMA node, an array of slots)
 * stores in one of its cells the id of a directory: a side block whose words are the
 * ids of other blocks. Blocks are created on first use, which should be the first
 * contention, so an idle mutex costs nothing. They belong to the lock until destroy
 * frees them.
 */
#ifndef HASP_LOCKS_MEMORY_SIDE_MEMORY_H
#define HASP_LOCKS_MEMORY_SIDE_MEMORY_H

#include "locks/memory/pool.h"
#include "platform/cohort_rule.h"

#include <stddef.h>

/* The words of a directory, in order: the ids of blocks, one per cohort or numbered
 * as the algorithm chooses; the slots of a partitioned lock, which may share the
 * directory with such blocks; the flags of such locks; the block of a wrapper
 * (gcr.h). */
enum {
    SIDE_BLOCKS_MAX = COHORTS_MAX,
    SIDE_SLOTS = MODEL_CHECKED ? 2 : 4,
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
               "a side block is a slot of its pool");
_Static_assert((int)SIDE_WRAPPER < (int)SIDE_BLOCK_WORDS,
               "a directory is one side block");

/* Flags: the slots are in use (partitioned.h, alock.h); LEAVERS: cohort.h. */
enum { SIDE_IN_USE = 1, SIDE_LEAVERS = 2 };

extern struct pool side_pool __attribute__((visibility("hidden")));

static inline struct side_block *side_block_at(uint32_t id)
{
    return (struct side_block *)pool_at(&side_pool, id);
}

/* Blocks that a thread creates for its next calls when it has to create one: while
 * many locks become contended for the first time, threads compete for the pool's
 * count. */
enum { SIDE_BLOCKS_AHEAD = 7 };

/* Returns a block of zeroed words. */
struct side_block *side_block_take(void);

void side_block_give(struct side_block *block);

/* Slow path of side_block_of(). */
struct side_block *side_block_make(struct atomic_u32 *cell);

/* Returns the block whose id is in `cell`. If there is none, creates one, on which all
 * threads then agree. Acquire: pairs with the release that published the block. */
static inline struct side_block *side_block_of(struct atomic_u32 *cell)
{
    uint32_t id = load_acquire(cell);
    return likely(id != 0) ? side_block_at(id) : side_block_make(cell);
}

/* Returns entry `index` (below SIDE_ENTRIES) of a directory; creates a missing
 * block. */
static inline struct side_block *side_memory_get(struct atomic_u32 *directory,
                                                 uint32_t index)
{
    return side_block_of(&side_block_of(directory)->words[index]);
}

/* Does the same, but returns NULL if the block is missing and memory is scarce. */
struct side_block *side_memory_get_unless_scarce(struct atomic_u32 *directory,
                                                 uint32_t index);

/* Does the same, but returns NULL if the block is missing. */
struct side_block *side_memory_find(struct atomic_u32 *directory, uint32_t index);

/* Arrays: array_slots() lines, each for three words of a lock. side_array_take()
 * returns the id of one whose words are 0, or 0 if memory is scarce. */
enum { SIDE_ARRAY_WORDS = 3 };
uint32_t side_array_take(void);
void side_array_give(uint32_t id);

/* Returns the words of an array's slot. The model checker has no consecutive blocks:
 * there, an array is one. */
static inline struct atomic_u32 *side_array_at(uint32_t id, uint32_t index)
{
    return MODEL_CHECKED ? &side_block_at(id)->words[(1 + index) * SIDE_ARRAY_WORDS]
                         : side_block_at(id + index)->words;
}

void side_memory_free_all(struct atomic_u32 *directory);

/* Frees the directory and its blocks. No thread may use the lock any more. */
static inline void side_memory_free(struct atomic_u32 *directory)
{
    if (unlikely(load_relaxed(directory) != 0)) /* the lock was contended */
        side_memory_free_all(directory);
}

/* Blocks created so far, for tests. */
uint32_t side_block_count(void);

/* Returns true if too many blocks are in use to create optional ones. */
bool side_memory_scarce(void);

#endif
