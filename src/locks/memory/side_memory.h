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
    PARTS_MAX = 23,
    PARTS_SLOTS = ARRAY_SLOTS < 4 ? ARRAY_SLOTS : 4,
    PARTS_ALL = PARTS_MAX + PARTS_SLOTS,
    PARTS_FLAG = PARTS_ALL,
    PARTS_WRAPPER,
    PART_WORDS = POOL_PAYLOAD / sizeof(struct atomic_u32),
};

struct part {
    struct atomic_u32 words[PART_WORDS];
    struct pool_link link;
} __attribute__((aligned(CACHE_LINE)));

_Static_assert(offsetof(struct part, link) == offsetof(struct pool_slot, link) &&
                   sizeof(struct part) == sizeof(struct pool_slot),
               "a part is a slot of its pool");
_Static_assert((int)PARTS_WRAPPER < (int)PART_WORDS, "a directory is one part");

extern struct pool part_pool __attribute__((visibility("hidden")));

static inline struct part *part_at(uint32_t id)
{
    return (struct part *)pool_at(&part_pool, id);
}

/* A part of zeroed words. */
struct part *part_take(void);

void part_give(struct part *part);

/* For part_of(). */
struct part *part_make(struct atomic_u32 *cell);

/* The part that `cell` names; if none, a new one, which all threads then agree on.
 * Acquire: pairs with the release that published the part. */
static inline struct part *part_of(struct atomic_u32 *cell)
{
    uint32_t id = load_acquire(cell);
    return likely(id != 0) ? part_at(id) : part_make(cell);
}

/* The part number `index` (below PARTS_ALL) of a directory, made where it is missing.
 */
static inline struct part *parts_get(struct atomic_u32 *directory, uint32_t index)
{
    return part_of(&part_of(directory)->words[index]);
}

/* The same, or NULL where it is missing and there are too many parts (parts_scarce). */
struct part *parts_get_unless_scarce(struct atomic_u32 *directory, uint32_t index);

/* The same, or NULL where it is missing. */
struct part *parts_look(struct atomic_u32 *directory, uint32_t index);

void parts_give_back_all(struct atomic_u32 *directory);

/* Nobody uses the lock any more: the directory and its parts go back. */
static inline void parts_give_back(struct atomic_u32 *directory)
{
    if (unlikely(load_relaxed(directory) != 0)) /* a lock that was contended */
        parts_give_back_all(directory);
}

/* Parts ever carved out, for tests. */
uint32_t part_count(void);

/* So many are in use that a lock which can do without should. */
bool parts_scarce(void);

#endif
